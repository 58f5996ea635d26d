#!/bin/bash
# run.sh SCRIPT: runs one test of the program in an empty folder. $GANZ is the program, $HERE this folder.
# A script uses the helpers below and ends with 0 when all was as it should be.
HERE=$(cd "$(dirname "$0")" && pwd)
export HERE
export GANZ_CONFIG= # no files of defaults, unless a test makes one
DIR=$(mktemp -d) || exit 1
trap '[ "$BASHPID" = $$ ] && rm -rf "$DIR"' EXIT # a child that is stopped before it becomes a program has this trap too
cd "$DIR" || exit 1

fail() { echo "FAILED: $*" >&2; exit 1; }
# equal WHAT EXPECTED ACTUAL
equal() { [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"; }
# refuses CODE PATTERN COMMAND...: exits with CODE, one sentence on stderr that matches, nothing on stdout
refuses() {
  local code=$1 pattern=$2 status
  shift 2
  "$@" >refuses.out 2>refuses.err </dev/null
  status=$?
  [ $status = "$code" ] || fail "$* exits with $status, not $code: $(cat refuses.err)"
  [ "$(wc -l <refuses.err)" = 1 ] || fail "$* says more or less than one line: $(cat refuses.err)"
  grep -qE -- "$pattern" refuses.err || fail "$* says: $(cat refuses.err)"
  [ -s refuses.out ] && fail "$* wrote to standard output"
  rm -f refuses.out refuses.err
}
# small_corpus: text.en and .de, the first of it as valid.en and .de, vocab and corpus
small_corpus() {
  head -n 120 "$HERE/../data/tatoeba.en" >text.en
  head -n 120 "$HERE/../data/tatoeba.de" >text.de
  head -n 20 text.en >valid.en
  head -n 20 text.de >valid.de
  $GANZ vocab -q --size 300 --out vocab text.en text.de || fail "no vocabulary"
  $GANZ prepare -q --vocab vocab --source text.en --target text.de --out corpus >/dev/null || fail "no corpus"
}
# documented TABLE: its columns are in docs/FORMAT.md
documented() {
  local column
  for column in $(head -n 1 "$1"); do
    grep -qF "\`$column\`" "$HERE/../../docs/FORMAT.md" || fail "docs/FORMAT.md does not know column $column of $1"
  done
}
. "$1"
