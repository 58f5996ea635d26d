#!/bin/bash
# everyday_pass.sh DATA OUT: a last pass on everyday text for a model that ships, on an ordinary processor: two cores take an
# hour. What comes out is two thirds of what it learned and a third of the model of before, which keeps news and nearly all
# of the phrases. A step whose result is there is not done again, and training goes on where it stopped.
#   DATA  as tools/models.sh takes it
#   OUT   everything that is made, at last DIRECTION.safetensors
# Settings, by the environment: GANZ, THREADS (all), DEVICE (cpu), PRECISION (auto; bf16 where there is AMX), DING, and
#   MODEL=models/de-en.safetensors   what to begin with, float or of 8 bits
#   DIRECTION=de-en MIXTURE=recipes/mixture-everyday.txt
#   OWN=60000          lines of news that the model itself translates
#   STEPS=900 ROWS=16 RATE=0.25
# Needs python3 with numpy, for tools/cut_layers.py.
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 2 2 "$@"
here=$(cd "$(dirname "$0")/.." && pwd)
data=$(cd "$1" && pwd) recipes=$here/recipes
mkdir -p "$2/text"
export GANZ THREADS=${THREADS:-0}
GANZ=$(realpath "${GANZ:-$here/build/release/cli/ganz}") MODEL=$(realpath "${MODEL:-$here/models/de-en.safetensors}")
MIXTURE=$(realpath "${MIXTURE:-$recipes/mixture-everyday.txt}") DIRECTION=${DIRECTION:-de-en} DEVICE=${DEVICE:-cpu}
PRECISION=${PRECISION:-auto}
OWN=${OWN:-60000} STEPS=${STEPS:-900} ROWS=${ROWS:-16} RATE=${RATE:-0.25}
INSERTS=$recipes/inserts.txt DING=${DING:-/usr/share/trans/de-en}
from=${DIRECTION%-*} to=${DIRECTION#*-}
cd "$2" # names in the model's metadata are relative to here
. "$here/tools/model_texts.sh"

[ -s vocab.txt ] || { "$GANZ" inspect --vocab "$MODEL" >vocab.new && mv vocab.new vocab.txt; }
texts
[ -s "text/own-news.$to" ] || {
  mono "$from"
  awk -v n="$OWN" 'length($0) > 2 && length($0) < 450 && k++ < n' "text/mono.$from" >"text/own-news.$from"
  say "translating $(wc -l <"text/own-news.$from") lines of news"
  "$GANZ" translate --format lines --model "$MODEL" --device "$DEVICE" --threads "$THREADS" -o own.new "text/own-news.$from"
  mv own.new "text/own-news.$to"
}
list "$DIRECTION" "$MIXTURE" | corpus "$DIRECTION-everyday"
[ -s before.safetensors ] || { "$here/tools/cut_layers.py" "$MODEL" before.new && mv before.new before.safetensors; }
[ -e run/done ] || {
  say "training, $STEPS steps"
  low="--dropout 0.05 --dropout-relu 0.05 --dropout-attention 0.05"
  # shellcheck disable=SC2086 # options are words
  "$GANZ" train --model before.safetensors --train "$DIRECTION-everyday.st" --valid-source "text/newstest2013.$from" \
    --valid-target "text/newstest2013.$to" --source-language "$from" --target-language "$to" --out run --resume \
    --device "$DEVICE" --precision "$PRECISION" --threads "$THREADS" --rows "$ROWS" --steps "$STEPS" \
    --optimizer adafactor --learning-rate "$RATE" --warmup 50 --decay-start 4000 --cooldown 1 $low \
    --average-decay 0.998 --seed 1 --validate-every 0 --bleu-sentences 0 --save-every 100
  touch run/done
}
say "integers"
"$GANZ" average --out mean.safetensors run/average.safetensors run/average.safetensors before.safetensors
"$GANZ" quantize --model mean.safetensors --method kl --per-row --bits 8 --calibrate "text/newstest2013.$from" \
  --calibrate-lines 200 --threads "$THREADS" --out "$DIRECTION.new"
mv "$DIRECTION.new" "$DIRECTION.safetensors"
say "$DIRECTION.safetensors: $("$GANZ" inspect "$DIRECTION.safetensors" | grep products)"
