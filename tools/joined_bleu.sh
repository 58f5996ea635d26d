#!/bin/bash
# joined_bleu.sh GANZ SOURCE REFERENCE [JOIN...]: what splitting text into sentences costs. Lines of the source are joined to
# lines of JOIN sentences (default 2 4 10 and all: paragraphs of 25 lines, one blank line apart); the score of their
# translation stands beside that of the same text given sentence by sentence.
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 3 any "$@"
ganz=$1 source=$2 reference=$3
shift 3
[ $# -gt 0 ] || set -- 2 4 10 all
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# join N: every N lines become one; "all": every 25
join() {
  local count=$1
  [ "$count" = all ] && count=25
  awk -v n="$count" '{printf "%s%s", (NR % n == 1 || n == 1) ? "" : " ", $0} NR % n == 0 {print ""} END {if (NR % n) print ""}'
}
bleu() { "$ganz" score --ref "$2" --hyp "$1" --digits 3 | sed -n 's/.* = \([0-9.]*\) [0-9.]*\/.*/\1/p'; }

"$ganz" translate -q --format lines "$source" >"$folder/split"
printf 'sentences a line\tsplit by hand\tsplit by ganz\tratio\n'
for count in "$@"; do
  join "$count" <"$reference" >"$folder/reference"
  join "$count" <"$folder/split" >"$folder/hand"
  if [ "$count" = all ]; then
    join "$count" <"$source" | sed 's/$/\n/' | "$ganz" translate -q | awk 'NF' >"$folder/joined"
  else
    join "$count" <"$source" | "$ganz" translate -q >"$folder/joined"
  fi
  hand=$(bleu "$folder/hand" "$folder/reference")
  joined=$(bleu "$folder/joined" "$folder/reference")
  awk -v c="$count" -v h="$hand" -v j="$joined" 'BEGIN {printf "%s\t%s\t%s\t%.4f\n", c, h, j, j / h}'
done
