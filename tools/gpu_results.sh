#!/bin/bash
# gpu_results.sh DATA OUT: Base and Big from text to the tables of docs/RESULTS.md in one go, for a machine with a GPU and many
# cores that is lent for minutes: the GPU trains and learns while the processor calibrates and translates. Each step is one of
# reproduce.sh or quantize_table.sh, so what is there is not done again, and stopped runs go on.
#   DATA  as for reproduce.sh
#   OUT   base/ and big/ as reproduce.sh leaves them, log (what was done when)
# Settings, by the environment: GANZ, DEVICE (cuda), THREADS (of translation; all), LINES (100, for calibration), and
#   BASE, BIG            recipes (base-quick, big-quick); BASE_TRAIN, BIG_TRAIN: more options of ganz train, e.g. "--steps 3000"
#   BASE_LEARN, BIG_LEARN   of ganz quantize
#   MEASURED="kl max"    methods without learning
#   LEARNED="learned-from-kl"   methods with it, at BITS="8 6"
set -eu
[ $# = 2 ] || { sed -n '2,13p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2; }
data=$1 out=$2
here=$(cd "$(dirname "$0")/.." && pwd)
export GANZ=${GANZ:-$here/build/release/cli/ganz} DEVICE=${DEVICE:-cuda} THREADS=${THREADS:-0} LINES=${LINES:-100} BITS=${BITS:-8 6}
BASE=${BASE:-base-quick} BIG=${BIG:-big-quick} BASE_TRAIN=${BASE_TRAIN:-} BIG_TRAIN=${BIG_TRAIN:-}
quick="--validate-every 0 --save-every 0 --measure-batches 30 --steps-per-phase 200 --bleu-sentences 1000"
BASE_LEARN=${BASE_LEARN:-$quick} BIG_LEARN=${BIG_LEARN:-$quick}
MEASURED=${MEASURED:-kl max} LEARNED=${LEARNED:-learned-from-kl}
mkdir -p "$out/base" "$out/big"

say() { printf '[%s] %s (%d s)\n' "$(date +%T)" "$*" $SECONDS | tee -a "$out/log"; }

# chain STEPS FOLDER RECIPE [OPTIONS]
chain() {
  local steps=$1 folder=$2 recipe=$3
  shift 3
  CHAIN=$steps "$here/tools/reproduce.sh" "$recipe" "$data" "$out/$folder" "$@" >>"$out/$folder/chain.log" 2>&1
  say "$folder: $steps"
}

# table FOLDER RECIPE DEVICE METHODS LEARN: " " for METHODS translates with the float model alone
table() { METHODS=$4 DEVICE=$3 LEARN=$5 chain make "$1" "$2"; }

# measured FOLDER RECIPE: what needs no GPU, once the float translations are there
measured() {
  table "$1" "$2" "$DEVICE" " " ""
  table "$1" "$2" cpu "$MEASURED" ""
}

chain text base "$BASE"
ln -sfn ../base/texts "$out/big/texts"
ln -sf ../base/vocab.txt ../base/corpus.safetensors "$out/big/"
chain train big "$BIG" $BIG_TRAIN
measured big "$BIG" &
big=$!
chain train base "$BASE" $BASE_TRAIN
measured base "$BASE" &
base=$!
table base "$BASE" "$DEVICE" "$LEARNED" "$BASE_LEARN"
table big "$BIG" "$DEVICE" "$LEARNED" "$BIG_LEARN"
wait $base
wait $big
for folder in base big; do chain score $folder "$([ $folder = base ] && echo "$BASE" || echo "$BIG")"; done
say "done: $out/base/table/table.md, $out/big/table/table.md"
