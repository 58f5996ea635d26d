#!/bin/bash
# reproduce.sh RECIPE DATA OUT [ganz train options]: from text to the tables of docs/RESULTS.md. A step whose result is
# there is not done again and a run that was interrupted goes on, so the chain may be stopped and started at will.
#   RECIPE  base-quick, big-quick, small, ... (recipes/RECIPE.yaml)
#   DATA    NAME.en.xz and NAME.de.xz for each name of recipes/mixture-en-de.txt, newstest2013 and newstest2014 (.xz or
#           plain)
#   OUT     texts/, vocab.txt, corpus.safetensors, train/ (checkpoints, log.tsv, loss.svg), table/ (see
#           quantize_table.sh)
# Settings, by the environment: GANZ (the program), DEVICE (cuda), THREADS (all), VOCAB_SIZE (32768; 16384 for small),
# MIXTURE (recipes/mixture-en-de.txt), those of quantize_table.sh, and which steps to do:
#   CHAIN="text train make score"   a GPU is needed for train and make only
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 3 3 "${@:1:3}"
recipe=$1 data=$2 out=$3
shift 3
here=$(cd "$(dirname "$0")/.." && pwd)
export GANZ=${GANZ:-$here/build/release/cli/ganz} DEVICE=${DEVICE:-cuda} THREADS=${THREADS:-0}
size=${VOCAB_SIZE:-$([ "$recipe" = small ] && echo 16384 || echo 32768)}
mixture=${MIXTURE:-$here/recipes/mixture-en-de.txt}
mkdir -p "$out/texts"

say() { printf '== %s (%d s)\n' "$*" $SECONDS; }

# stem NAME: where a corpus lies; clock-phrases is ours
stem() { [ "$1" = clock-phrases ] && echo "$out/texts/$1" || echo "$data/$1"; }

text() {
  local set side name names both=()
  for set in newstest2013 newstest2014; do
    for side in en de; do
      [ -s "$out/texts/$set.$side" ] && continue
      if [ -e "$data/$set.$side.xz" ]; then xz -dc "$data/$set.$side.xz"; else cat "$data/$set.$side"; fi \
        >"$out/texts/$set.$side"
    done
  done
  if [ ! -s "$out/texts/clock-phrases.de.xz" ]; then
    "$here/tools/clock_phrases.sh" "$out/texts/clock-phrases"
    xz -f "$out/texts/clock-phrases.en" "$out/texts/clock-phrases.de"
  fi
  names=$(grep -v '^#' "$mixture" | cut -d' ' -f1)
  if [ ! -s "$out/vocab.txt" ]; then
    say "vocabulary of about $size"
    for name in $names; do both+=("$(stem "$name").en.xz" "$(stem "$name").de.xz"); done
    "$GANZ" vocab --size "$size" --out "$out/vocab.txt" "${both[@]}"
  fi
  if [ ! -s "$out/corpus.safetensors" ]; then
    say "corpus"
    grep -v '^#' "$mixture" | while read -r name weight; do
      echo "$(stem "$name").en.xz $(stem "$name").de.xz $weight"
    done >"$out/mixture.list"
    "$GANZ" prepare --vocab "$out/vocab.txt" --list "$out/mixture.list" --dedupe --max-length 256 --max-ratio 4 \
      --threads "$THREADS" --out "$out/corpus.safetensors"
  fi
}

train() {
  [ -e "$out/train.done" ] && return
  say "training $recipe"
  "$GANZ" train --recipe "$here/recipes/$recipe.yaml" --train "$out/corpus.safetensors" --vocab "$out/vocab.txt" \
    --valid-source "$out/texts/newstest2013.en" --valid-target "$out/texts/newstest2013.de" --source-language en \
    --target-language de --out "$out/train" --device "$DEVICE" --threads "$THREADS" --resume "$@"
  touch "$out/train.done"
}

table() {
  local model=$out/train/average.safetensors
  [ -e "$model" ] || model=$out/train/best.safetensors
  say "$1: $(basename "$model") and the integer models made of it"
  STEPS=$1 "$here/tools/quantize_table.sh" "$model" "$out/corpus.safetensors" "$out/texts" "$out/table"
}

for step in ${CHAIN:-text train make score}; do
  case $step in
  text) text ;;
  train) train "$@" ;;
  make | translate | score) table "$step" ;;
  *) echo "reproduce: no step named $step" >&2 && exit 2 ;;
  esac
done
say "done"
