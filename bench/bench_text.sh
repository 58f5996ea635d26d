#!/bin/bash
# bench_text.sh TEXT [GANZ]: learning and applying a vocabulary of 32,768 entries, ganz beside SentencePiece (BPE).
# Both learn from the first 6 million characters of TEXT, both encode all of it, one after the other in the same run, on
# one core, three times; the best is printed. SentencePiece: spm_train and spm_encode of the Debian package
# sentencepiece. Without them only the lines of ganz appear.
set -eu
TEXT=$(realpath "${1:?usage: bench_text.sh TEXT [GANZ]}")
GANZ=$(realpath "${2:-$(dirname "$0")/../build/release/cli/ganz}")
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
cd "$DIR"
RUNS=3 SIZE=32768
pin=$(command -v taskset >/dev/null && echo "taskset -c 0" || true)

# seconds COMMAND...: processor time of the fastest of RUNS runs
seconds() {
  local TIMEFORMAT='%U %S' i
  for ((i = 0; i < RUNS; i++)); do
    { time "$@" >out 2>err; } 2>&1 || { cat err >&2; exit 1; }
  done | awk '{t = $1 + $2; if (NR == 1 || t < best) best = t} END {printf "%.2f", best}'
}
# row WHAT PROGRAM SECONDS BYTES
row() { awk -v w="$1" -v p="$2" -v s="$3" \
  -v b="$4" 'BEGIN {printf "%s\t%s\t%.2f\t%.1f\n", w, p, s, b / 1e6 / (s > 0 ? s : 0.01)}'; }

case "$TEXT" in *.gz) zcat "$TEXT" ;; *.xz) xz -dc "$TEXT" ;; *.zst) zstd -qdc "$TEXT" ;; *) cat "$TEXT" ;; esac >text
head -c 6150000 text | sed '$d' >sample
learn_bytes=$(stat -c %s sample) text_bytes=$(stat -c %s text)
echo "# learn from $(LC_ALL=C.UTF-8 wc -m <sample) characters, encode $text_bytes bytes, $(wc \
  -l <text) lines; processor seconds, best of $RUNS"
printf 'work\tprogram\tseconds\tMB/s\n'

row "learn $SIZE" "ganz vocab" "$(seconds $pin "$GANZ" vocab -q --size $SIZE --sample-chars 0 --out v.txt sample)" \
  "$learn_bytes"
row encode "ganz encode" "$(seconds $pin "$GANZ" encode --vocab v.txt text)" "$text_bytes"
if command -v spm_train >/dev/null && command -v spm_encode >/dev/null; then
  RUNS=1 # half a minute each
  row "learn $SIZE" "spm_train" \
    "$(seconds $pin spm_train --input=sample --model_prefix=spm --vocab_size=$SIZE --model_type=bpe --num_threads=1)" \
      "$learn_bytes"
  RUNS=3
  row encode "spm_encode" "$(seconds $pin spm_encode --model=spm.model --output_format=id text)" "$text_bytes"
fi
