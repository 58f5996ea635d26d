#!/bin/bash
# ablations.sh OUT: what each ingredient of the English to German model gives, as the table in docs/RESULTS.md has it, and the
# model of freely licensed text alone. OUT is the folder of tools/models.sh with its corpora, lists and the teacher
# tuned-en-de; runs of equal length begin with random numbers, each without one thing, and are scored by float
# translations. A run that is done is not done again, one that was interrupted goes on.
#   OUT/ablations/NAME[-last]/   the runs: full, no-teacher, no-translated, no-parliament, no-last, free
#   OUT/ablations/table.tsv      their BLEU on newstest2013 and on TESTS, and everyday sentences that are right
# Settings, by the environment: GANZ, DEVICE (cuda), THREADS (all), STEPS (2000), LAST_STEPS (350), FREE_STEPS (3800), SHAPE
# (options of ganz train: the network of the model that ships), ROWS (64), TESTS (stems of test sets with .en and .de), ONLY (names)
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 1 1 "$@"
here=$(cd "$(dirname "$0")/.." && pwd)
GANZ=$(realpath "${GANZ:-$here/build/release/cli/ganz}") DEVICE=${DEVICE:-cuda} THREADS=${THREADS:-0} ROWS=${ROWS:-64}
STEPS=${STEPS:-2000} LAST_STEPS=${LAST_STEPS:-350} FREE_STEPS=${FREE_STEPS:-3800}
SHAPE=${SHAPE:---width 512 --ffn 2048 --heads 8 --encoder-layers 6 --decoder-layers 2}
ONLY=${ONLY:-full no-teacher no-translated no-parliament no-last free}
cd "$1" # names in lists are relative to here
mkdir -p ablations

say() { printf '== %s (%d s)\n' "$*" $SECONDS; }

corpus() { # NAME, the list from standard input
  [ -e "ablations/$1.st" ] && { cat >/dev/null; return; }
  cat >"ablations/$1.list"
  "$GANZ" prepare -q --vocab vocab.txt --list "ablations/$1.list" --dedupe --drop-identical --max-length 200 --max-ratio 4 \
    --insert "$here/recipes/inserts.txt" --formality "$here/recipes/formality-en-de.txt" --threads "$THREADS" \
    --out "ablations/$1.st"
}

# free LIST: its lines whose texts recipes/mixture-en-de-free.txt names; with a second word, with the weights of that file
free() {
  awk -v own="${2:-}" '
    FNR == NR { if (!/^#/ && NF) { name = $1; sub(/^ding-words$/, "ding-en", name); sub(/^ding-phrases$/, "phrases-en", name)
      $1 = ""; rest[name] = $0 } next }
    { name = $1; sub(/.*\//, "", name); sub(/\.en(\.xz)?$/, "", name)
      if (name in rest) print own == "" ? $0 : $1 " " $2 rest[name] }' "$here/recipes/mixture-en-de-free.txt" "$1"
}

train() { # NAME CORPUS STEPS OPTIONS...
  local name=ablations/$1 text=$2 count=$3
  shift 3
  [ ! -e "$name/done" ] || return 0
  say "training $name, $count steps"
  "$GANZ" train -q --train "$text" --device "$DEVICE" --threads "$THREADS" --rows "$ROWS" --source-language en \
    --target-language de --seed 1 --average-decay 0.999 --valid-source text/newstest2013.en \
    --valid-target text/newstest2013.de --validate-every 0 --bleu-sentences 0 --save-every 0 --steps "$count" \
    --optimizer adafactor --decay-start 4000 --out "$name" --resume "$@"
  touch "$name/done"
}

# both NAME CORPUS LAST-CORPUS STEPS OPTIONS...: a run from random numbers and its last pass
both() {
  local name=$1 text=$2 news=$3 count=$4
  shift 4
  # shellcheck disable=SC2086 # options are words
  train "$name" "$text" "$count" $SHAPE --vocab vocab.txt --learning-rate 1 --warmup 400 --cooldown 0.4 "$@"
  [ -z "$news" ] || train "$name-last" "$news" "$LAST_STEPS" --model "ablations/$name/average.safetensors" \
    --learning-rate 0.3 --warmup 50 --cooldown 1 "$@"
}

# scored NAME: its line of the table
scored() {
  local model=ablations/$1/average.safetensors hyp=ablations/$1.hyp stem line
  [ -e "$model" ] || model=ablations/$1/last.safetensors
  line=$1
  for stem in text/newstest2013 ${TESTS:-}; do
    "$GANZ" translate -q --format lines --device "$DEVICE" --model "$model" --threads "$THREADS" -o "$hyp" "$stem.en"
    line+=$'\t'$("$GANZ" score --ref "$stem.de" --hyp "$hyp" | sed -n '1s/^[^=]*= *\([0-9.]*\).*/\1/p')
  done
  "$here/tools/everyday.py" --sentences >ablations/everyday.en
  "$GANZ" translate -q --format lines --device "$DEVICE" --model "$model" --threads "$THREADS" -o "$hyp" ablations/everyday.en
  printf '%s\t%s\n' "$line" "$("$here/tools/everyday.py" "$hyp" | awk '$1 == "all" { print $2 }')"
}

low="--dropout 0.05 --dropout-relu 0.05 --dropout-attention 0.05 --teacher tuned-en-de/average.safetensors"
alone="--label-smoothing 0.1 --dropout 0.1 --dropout-relu 0.1 --dropout-attention 0.1"
{ printf 'name\tnewstest2013'; for stem in ${TESTS:-}; do printf '\t%s' "${stem##*/}"; done; printf '\teveryday\n'; } >ablations/table.new
for name in $ONLY; do
  # shellcheck disable=SC2086 # options are words
  case $name in
  full) both full en-de.st en-de-last.st "$STEPS" $low ;;
  no-teacher) both no-teacher en-de.st en-de-last.st "$STEPS" $alone ;;
  no-translated)
    grep -v '^from-german/' en-de-last.list | corpus real-last
    both no-translated en-de-real.st ablations/real-last.st "$STEPS" $low ;;
  no-parliament)
    grep -v europarl en-de.list | corpus no-parliament
    grep -v europarl en-de-last.list | corpus no-parliament-last
    both no-parliament ablations/no-parliament.st ablations/no-parliament-last.st "$STEPS" $low ;;
  no-last) both no-last en-de.st "" $((STEPS + LAST_STEPS)) $low ;;
  free)
    free en-de.list own | corpus free
    free en-de-last.list | corpus free-last
    both free ablations/free.st ablations/free-last.st "$FREE_STEPS" $alone ;;
  *) echo "ablations.sh: no run is called $name" >&2; exit 2 ;;
  esac
  [ "$name" = no-last ] || name=$name-last
  scored "$name" >>ablations/table.new
done
mv ablations/table.new ablations/table.tsv
cat ablations/table.tsv
