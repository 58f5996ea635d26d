#!/bin/bash
# compare_text.sh DATA [GANZ]: learns vocabularies of 8,192 and 32,768 entries from DATA/newstest201{3,4}.{en,de}, once
# with ganz and once with t2t_text.py, encodes and decodes all four files with both, and compares every byte. The second
# vocabulary is also learned from a sample, where lines are left out. Then every character that Python's Unicode knows,
# alone and between letters and spaces. Takes some minutes, almost all of them in Python.
set -eu
DATA=$(realpath "$1")
HERE=$(cd "$(dirname "$0")" && pwd)
GANZ=$(realpath "${2:-$HERE/../../build/release/cli/ganz}")
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
cd "$DIR"
texts=()
for name in newstest2013 newstest2014; do texts+=("$DATA/$name.en" "$DATA/$name.de"); done

for how in "8192 0" "32768 1000000" "32768 100000"; do
  read -r size chars <<<"$how"
  python3 "$HERE/t2t_text.py" learn "$size" "$chars" python.vocab "${texts[@]}" 2>/dev/null
  "$GANZ" vocab -q --size "$size" --sample-chars "$chars" --out ganz.vocab "${texts[@]}"
  cmp python.vocab ganz.vocab
  echo "vocabulary, size $size, $chars characters of each file: $(wc -l <ganz.vocab) entries, equal"
  for text in "${texts[@]}"; do
    python3 "$HERE/t2t_text.py" encode python.vocab <"$text" >python.ids
    "$GANZ" encode --vocab ganz.vocab "$text" >ganz.ids
    cmp python.ids ganz.ids
    "$GANZ" decode --vocab ganz.vocab ganz.ids | cmp - "$text"
    python3 "$HERE/t2t_text.py" decode python.vocab <python.ids | cmp - "$text"
    echo "  $(basename "$text"): $(wc -l <ganz.ids) lines, $(wc -w <ganz.ids) ids, equal; decoded again, equal"
  done
done

python3 - >characters <<'END'
import sys, unicodedata
out = open(1, "w", encoding="utf-8", newline="\n")
for c in map(chr, range(sys.maxunicode + 1)):
    if c != "\n" and unicodedata.category(c) not in ("Cn", "Cs"):
        out.write("%s\na%sb %s 1%s%s \n" % (c, c, c, c, c))
END
python3 "$HERE/t2t_text.py" encode ganz.vocab <characters >python.ids
"$GANZ" encode --vocab ganz.vocab characters >ganz.ids
cmp python.ids ganz.ids
"$GANZ" decode --vocab ganz.vocab ganz.ids | cmp - characters
echo "every character of Unicode $(python3 -c 'import unicodedata as u; print(u.unidata_version)'): $(wc \
  -l <ganz.ids) lines, equal; decoded again, equal"
