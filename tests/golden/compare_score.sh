#!/bin/bash
# compare_score.sh DATA_DIR [GANZ]: scores damaged copies of DATA_DIR/newstest2014.de, and a text with every character
# of Unicode, with ganz and with sacrebleu (for t2t: t2t_bleu.py). Prints both lines; fails on any differing digit.
set -u
here=$(cd "$(dirname "$0")" && pwd)
ganz=${2:-$here/../../build/release/cli/ganz}
ref=${1:?usage: compare_score.sh DATA_DIR [GANZ]}/newstest2014.de
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
python3 "$here/make_score.py" damage "$ref" "$dir" && python3 "$here/make_score.py" unicode "$dir" || exit 1
compared=0 bad=0

# compare NAME OURS THEIRS
compare() {
  local ours=${2//version:ganz-*([0-9.])/version} theirs=${3//version:*([0-9.])/version}
  echo "$1"; echo "  ganz $ours"; echo "  ref  $theirs"
  compared=$((compared + 1))
  [ "$ours" = "$theirs" ] || { echo "  DIFFERENT"; bad=$((bad + 1)); }
}
shopt -s extglob

one() { # REF HYP
  local name=${2##*/} low ours theirs
  for low in "" --lowercase; do
    for tok in 13a intl; do
      ours=$("$ganz" score --ref "$1" --hyp "$2" --tok $tok $low --digits 15)
      theirs=$(python3 -m sacrebleu "$1" -i "$2" -m bleu -tok $tok ${low:+-lc} -w 15 -f text --force -q)
      compare "$name $tok $low" "$ours" "$theirs"
    done
    ours=$("$ganz" score --ref "$1" --hyp "$2" --metric chrf $low --digits 15)
    theirs=$(python3 -m sacrebleu "$1" -i "$2" -m chrf ${low:+--chrf-lowercase} -w 15 -f text -q)
    compare "$name chrf $low" "$ours" "$theirs"
    ours=$("$ganz" score --ref "$1" --hyp "$2" --tok t2t $low --digits 12)
    compare "$name t2t $low" "${ours#* = }" "$(python3 "$here/t2t_bleu.py" $low "$1" "$2")"
  done
}
for kind in drop swap marks empty case cut repeat strange; do one "$ref" "$dir/$kind"; done
for side in hyp low; do one "$dir/every.ref" "$dir/every.$side"; done
echo "$compared comparisons, $bad different"
[ $bad = 0 ]
