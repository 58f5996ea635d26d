#!/bin/bash
# gpu_results.sh DATA OUT: Base and Big from text to the tables of docs/RESULTS.md in one go, for a machine with a GPU
# and many cores that is lent for minutes: the GPU trains and learns while the processor calibrates and translates. Each
# step is one of reproduce.sh or quantize_table.sh, so what is there is not done again, and stopped runs go on.
#   DATA  as for reproduce.sh
#   OUT   base/ and big/ as reproduce.sh leaves them and chain.log in each, log (what was done when), failed (what was
#         not)
# Settings, by the environment: GANZ, DEVICE (cuda), THREADS (of translation; all), LINES (100, for calibration), and
#   BASE, BIG            recipes (base-quick, big-quick); BASE_TRAIN, BIG_TRAIN: options of ganz train beside them
#   BASE_LEARN, BIG_LEARN   of ganz quantize; LEARN_8, LEARN_6, LEARN_TAUGHT as for quantize_table.sh (-taught: by both
#                           models)
#   BASE_MEASURED, BIG_MEASURED   methods without learning, at 8 and 6 bits, besides kl; PHASE_3 as for
#                                 quantize_table.sh
#   LEARNED="base:8:learned-from-kl ..."   what is learned, in this order, JOBS (3) at a time on the GPU
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 2 2 "$@"
mkdir -p "$2/base" "$2/big"
data=$1 out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
export GANZ=${GANZ:-$here/build/release/cli/ganz} DEVICE=${DEVICE:-cuda} THREADS=${THREADS:-0} LINES=${LINES:-100}
export PHASE_3=${PHASE_3:-learned-from-kl} LOCK=$out/.lock
export LEARN_8=${LEARN_8:---rate-factor 0.05} LEARN_6=${LEARN_6:---rate-factor 0.2} \
  LEARN_TAUGHT=${LEARN_TAUGHT:---rate-factor 0.15}
export TEACHERS="$out/base/train/average.safetensors $out/big/train/average.safetensors"
BASE=${BASE:-base-quick} BIG=${BIG:-big-quick} JOBS=${JOBS:-3}
quick="--validate-every 0 --save-every 0 --bleu-sentences 0" # looks at the end alone
BASE_TRAIN=${BASE_TRAIN:-$quick --steps 11500 --dropout 0.2} BIG_TRAIN=${BIG_TRAIN:-$quick --steps 5000}
quick="$quick --measure-batches 30 --threads 3" # the other cores translate
BASE_LEARN=${BASE_LEARN:-$quick --steps-per-phase 300} BIG_LEARN=${BIG_LEARN:-$quick --steps-per-phase 200}
BASE_MEASURED=${BASE_MEASURED:-max max-per-row kl-per-row clip} BIG_MEASURED=${BIG_MEASURED:-max}
LEARNED=${LEARNED:-base:8:learned-from-kl base:6:learned-from-kl base:8:learned-taught-from-kl base:6:learned-taught-from-kl
  big:8:learned-from-kl big:6:learned-from-kl big:8:learned-taught-from-kl big:6:learned-taught-from-kl
  base:6:learned-taught-per-row-from-kl base:8:learned-taught-per-row-from-kl base:8:learned-power-of-two-from-kl
  base:8:learned-from-kl-from-corpus base:6:learned-from-kl-from-corpus}

say() { printf '[%s] %s (%d s)\n' "$(date +%T)" "$*" $SECONDS | tee -a "$out/log"; }

# chain STEPS MODEL [OPTIONS]: steps of reproduce.sh for base or big
chain() {
  local steps=$1 model=$2
  shift 2
  CHAIN=$steps "$here/tools/reproduce.sh" "$([ "$model" = base ] && echo "$BASE" ||
    echo "$BIG")" "$data" "$out/$model" "$@" \
    >>"$out/$model/chain.log" 2>&1 || { say "$model: $steps failed, see $out/$model/chain.log" && return 1; }
}

# measured MODEL METHODS: the float model translates on the GPU; then what needs none, what learning begins with first
measured() {
  METHODS=" " chain make "$1"
  say "$1: float"
  DETACH=yes METHODS=kl DEVICE=cpu chain make "$1"
  say "$1: kl"
  DETACH=yes METHODS=$2 DEVICE=cpu chain make "$1"
  say "$1: $2"
}

# learned MODEL:BITS:METHOD
learned() {
  local model bits method
  IFS=: read -r model bits method <<<"$1"
  if DETACH=yes BITS=$bits METHODS=$method LEARN=$([ "$model" = base ] && echo "$BASE_LEARN" ||
    echo "$BIG_LEARN") chain make "$model"
  then say "$1"; else echo "$1" >>"$out/failed"; fi
}

# pool: all that is to be learned, JOBS at a time; one that fails is noted and keeps no other from being learned
pool() {
  local one
  for one in $LEARNED; do
    [ "$(jobs -rp | wc -l)" -lt "$JOBS" ] || wait -n
    learned "$one" &
  done
  wait
}

rm -f "$out/failed"
chain text base
say "text"
ln -sfn ../base/texts "$out/big/texts"
ln -sf ../base/vocab.txt ../base/corpus.safetensors "$out/big/"
chain train base $BASE_TRAIN
say "base: trained"
measured base "$BASE_MEASURED" &
base=$!
chain train big $BIG_TRAIN
say "big: trained"
measured big "$BIG_MEASURED" &
big=$!
(pool)
wait $base
wait $big
chain translate base
chain translate big
say "translated"
chain score base
chain score big
say "done: $out/base/table/table.md, $out/big/table/table.md"
[ ! -e "$out/failed" ] || { say "not learned: $(tr '\n' ' ' <"$out/failed")" && exit 1; }
