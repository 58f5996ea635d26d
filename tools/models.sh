#!/bin/bash
# models.sh DATA OUT: from text to the two models that ship, en-de and de-en, as docs/RESULTS.md describes. A step
# whose result is there is not done again and a run that was interrupted goes on, so the chain may be stopped and
# started at will.
#   DATA  train/NAME.{en,de}.xz for the names of recipes/mixture-en-de-models.txt, mono/NAME.LANGUAGE.xz for those of
#         recipes/mono-de.txt and mono-en.txt (what is missing is left out, and said), newstest2013.{en,de}
#   OUT   everything that is made, at last en-de.safetensors and de-en.safetensors
# Settings, by the environment: GANZ (the program), DEVICE (cuda; cpu takes weeks), THREADS (all), VOCAB (a vocabulary
# with the marks <bt>, <m1> and <m2>; the one of the model that ships), DING (/usr/share/trans/de-en of Debian's trans-de-en), STEPS
# (percent of the steps of each run: 100 is half an hour of an H200), MIXTURE, LAST and INSERTS (files of recipes/). Needs
# python3 with numpy, for tools/cut_layers.py.
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 2 2 "$@"
here=$(cd "$(dirname "$0")/.." && pwd)
data=$(cd "$1" && pwd) recipes=$here/recipes
mkdir -p "$2/text"
export GANZ=${GANZ:-$here/build/release/cli/ganz} THREADS=${THREADS:-0}
case $GANZ in /*) ;; *) GANZ=$PWD/$GANZ ;; esac
MIXTURE=$(realpath "${MIXTURE:-$recipes/mixture-en-de-models.txt}")
LAST=$(realpath "${LAST:-$recipes/mixture-en-de-last.txt}")
INSERTS=$(realpath "${INSERTS:-$recipes/inserts.txt}") DING=${DING:-/usr/share/trans/de-en} DEVICE=${DEVICE:-cuda}
[ -z "${VOCAB:-}" ] || VOCAB=$(realpath "$VOCAB")
cd "$2" # names in the models' metadata are relative to here

steps() { echo $(($1 * ${STEPS:-100} / 100 > 10 ? $1 * ${STEPS:-100} / 100 : 10)); }

. "$here/tools/model_texts.sh"

# weighted WEIGHT LIST: its lines with another weight
weighted() { awk -v w="$1" '{$3 = w} 1' "$2"; }
# turned LIST: its lines from real to made text, without a tag
turned() { awk '{t = $1; $1 = $2; $2 = t; sub(/ ?tag=[^ ]*/, "")} 1' "$1"; }

# ---- runs -------------------------------------------------------------------------------------------

base="--width 512 --ffn 2048 --heads 8 --encoder-layers 6 --decoder-layers 6"
small="--width 320 --ffn 1280 --heads 5 --encoder-layers 8 --decoder-layers 2"
back="--width 256 --ffn 2048 --heads 4 --encoder-layers 6 --decoder-layers 2"
schedule="--optimizer adafactor --learning-rate 1 --warmup 400 --decay-start 4000 --cooldown 0.4 --label-smoothing 0.1
  --dropout 0.1 --dropout-relu 0.1 --dropout-attention 0.1 --vocab vocab.txt"
low="--dropout 0.05 --dropout-relu 0.05 --dropout-attention 0.05"
taught="--optimizer adafactor --learning-rate 1 --warmup 300 --decay-start 4000 --cooldown 0.5 $low --vocab vocab.txt"
last="--learning-rate 0.3 --warmup 100 --cooldown 1"
again="--optimizer adafactor --learning-rate 0.6 --warmup 200 --decay-start 4000 --cooldown 0.5 --dropout 0.1
  --dropout-relu 0.1 --dropout-attention 0.1 --label-smoothing 0.1"

train() { # NAME CORPUS STEPS DIRECTION OPTIONS...
  local name=$1 corpus=$2 count from=${4%-*} to=${4#*-}
  count=$(steps "$3")
  shift 4
  [ -e "$name/done" ] && return
  say "training $name, $count steps"
  "$GANZ" train -q --train "$corpus.st" --device "$DEVICE" --threads "$THREADS" --rows 64 --source-language "$from" \
    --target-language "$to" --seed 1 --average-decay 0.999 --valid-source "text/newstest2013.$from" \
    --valid-target "text/newstest2013.$to" --validate-every 0 --bleu-sentences 0 --steps "$count" --out "$name" \
    --resume "$@"
  touch "$name/done"
}

kl() { # MODEL LANGUAGE OUT WIDTHS...
  [ -e "$3" ] || "$GANZ" quantize -q --model "$1" --method kl "${@:4}" --calibrate "text/newstest2013.$2" \
    --calibrate-lines 200 --threads "$THREADS" --out "$3"
}

integers() { # NAME CORPUS DIRECTION TEACHER STEPS LEARNING WIDTHS...: to NAME-int/best.safetensors
  local name=$1 corpus=$2 from=${3%-*} to=${3#*-} teacher=$4 count=$5 learning=$6
  shift 6
  [ -e "$name-int/done" ] && return
  say "integers of $name"
  kl "$name/average.safetensors" "$from" "$name-kl.safetensors" "$@"
  "$GANZ" quantize -q --model "$name/average.safetensors" --train "$corpus.st" "$@" --steps-of "$name-kl.safetensors" \
    --device "$DEVICE" --threads "$THREADS" --valid-source "text/newstest2013.$from" \
    --valid-target "text/newstest2013.$to" --teacher "$name/average.safetensors" "$teacher/average.safetensors" \
    --rows 64 $learning --keep learned \
    --steps-per-phase "$(steps "$count")" --measure-batches 30 --validate-every 0 --bleu-sentences 0 --out "$name-int"
  touch "$name-int/done"
}

# ---- the chain --------------------------------------------------------------------------------------

copies="upper=0.04 lower=0.04 bare=0.01 joined=0.02"
texts
mono de
mono en
# German of English news, by the model that ships: tagged sources for de-en
MORE="upper=0.02 lower=0.02" "$here/tools/back_translate.sh" "$here/models/en-de.safetensors" from-english text/mono.en
# a small model from German makes English of German text
{ list de-en "$MIXTURE"; cat from-english/list; } | corpus de-en
train back de-en 13257 de-en $back $schedule
kl back/average.safetensors de back8.safetensors --bits 8
MORE=$copies "$here/tools/back_translate.sh" back8.safetensors from-german text/mono.de
# large models, and their last pass on news and everyday text
train base-de-en de-en 11839 de-en $base $schedule
{ list de-en "$LAST"; cat from-english/list; } | corpus de-en-last
train tuned-de-en de-en-last 1414 de-en --model base-de-en/average.safetensors $last --dropout 0.1
{ list en-de "$MIXTURE"; cat from-german/list; } | corpus en-de
train base-en-de en-de 25460 en-de $base $schedule
{ list en-de "$LAST"; weighted 0.25 from-german/list; } | corpus en-de-last
# it goes on with the real text alone, in which set phrases weigh more
list en-de "$MIXTURE" | corpus en-de-real
train more-en-de en-de-real 7298 en-de --model base-en-de/average.safetensors $again
train tuned-en-de en-de-last 1686 en-de --model more-en-de/average.safetensors $last --dropout 0.1
# small models that learn from the large ones
{ list de-en "$MIXTURE"; turned from-german/list; cat from-english/list; } | corpus de-en-taught
train small-de-en de-en-taught 11216 de-en $small $taught --teacher tuned-de-en/average.safetensors
# en-de has all layers of the large model's encoder and the first and the last one of its decoder, and learns on from there
[ -e cut-en-de.safetensors ] || {
  "$here/tools/cut_layers.py" tuned-en-de/average.safetensors cut-en-de.new --decoder 0,5
  mv cut-en-de.new cut-en-de.safetensors
}
train small-en-de en-de 12881 en-de --model cut-en-de.safetensors --optimizer adafactor --learning-rate 0.8 \
  --warmup 200 --decay-start 4000 --cooldown 0.5 $low --teacher tuned-en-de/average.safetensors
{ list de-en "$LAST"; turned from-german/list >turned.list; weighted 0.25 turned.list; } | corpus de-en-small-last
train last-en-de en-de-last 2503 en-de --model small-en-de/average.safetensors \
  --teacher tuned-en-de/average.safetensors $last $low
train last-de-en de-en-small-last 2189 de-en --model small-de-en/average.safetensors \
  --teacher tuned-de-en/average.safetensors $last $low
# integers, taught by the float model and by the large one
integers last-en-de en-de-last en-de tuned-en-de 1500 "--phases joint --weight-range learned --rate-factor 0.4" \
  --bits 8 --weight-bits 4 --per-row
integers last-de-en de-en-small-last de-en tuned-de-en 150 "--rate-factor 0.1" --bits 8
for pair in en-de de-en; do
  cp "last-$pair-int/best.safetensors" "$pair.new" && mv "$pair.new" "$pair.safetensors"
  say "$pair.safetensors: $("$GANZ" inspect "$pair.safetensors" | grep products)"
done
