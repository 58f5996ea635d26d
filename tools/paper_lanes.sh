#!/bin/bash
# paper_lanes.sh DATA OUT: the runs on a Base from text of docs/PAPER.md, on a GPU and cores that are lent for minutes. Float
# models first; then tools/paper.sh in several lanes at once, each taking the next line of a list of jobs. Started again, it
# goes on where it stopped, also where nothing is left of OUT but the translations. Status 0: all is done; 3: time is up; 1:
# runs failed, and it gave up.
#   DATA  as tools/paper_data.sh leaves it
#   OUT   whole/ (phases of whole passes), short/ (one thing at a time), few/ (few bits), base/ (baselines), which share
#         their float models, each with its *.hyp; tables/ (those of tools/paper.sh for all but short/, which has its own);
#         log/, jobs (what is left)
# Settings, by the environment: GANZ, DEVICE=cuda, and
#   UNTIL=0            seconds after which nothing goes on; 0: no end
#   LANES=3            on the GPU; BESIDE=3: runs at a time that mostly need the CPU; THREADS=4 of each
#   FIRST=12000        steps of the paper's schedule; TAIL=2000: then as many at the rate of step 300,000 (FP32 of the paper's
#                      way), or cooling down (ours); LONGER=4827: float steps beside six phases (three passes)
#   SHORT=80           steps of a phase in short/; MINE=150 of our way in whole/; FEW_STEPS=600 in few/, five times
#   JOBS=              a list of lines "FOLDER NAME" by importance, FOLDER one of those above; none: that of this script.
#                      Baselines that are not in it are made beside it
#   GIVE_UP=3          so many failed runs end it: time is lent
#   ONLY_TABLES=0      1: only the tables, of the translations that are there
#   TRAIN, LEARN, LEARN_FEW   more options of all training, of learning, and of learning in few/
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 2 2 "$@"
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$2"
data=$(cd "$1" && pwd) out=$(cd "$2" && pwd)
export GANZ=${GANZ:-$here/build/release/cli/ganz} DEVICE=${DEVICE:-cuda} THREADS=${THREADS:-4} TABLES=0
UNTIL=${UNTIL:-0} LANES=${LANES:-3} BESIDE=${BESIDE:-3} GIVE_UP=${GIVE_UP:-3} JOBS=${JOBS:-} ONLY_TABLES=${ONLY_TABLES:-0}
FIRST=${FIRST:-12000} TAIL=${TAIL:-2000} LONGER=${LONGER:-4827} SHORT=${SHORT:-80} MINE=${MINE:-150} FEW_STEPS=${FEW_STEPS:-600}
TRAIN=${TRAIN:-} LEARN=${LEARN:-} LEARN_FEW=${LEARN_FEW:-}
case $GANZ in */*) GANZ=$(realpath "$GANZ") ;; esac
[ -z "$JOBS" ] || JOBS=$(realpath "$JOBS")
cd "$out"
mkdir -p whole short few base tables log

say() { printf '[%s] %s (%d s)\n' "$(date +%T)" "$*" $SECONDS | tee -a log/lanes >&2; }
left() { if [ "$UNTIL" = 0 ]; then echo 999999; else echo $((UNTIL - SECONDS)); fi; }

seldom="--validate-every 0 --save-every 0 --bleu-sentences"
export LINES=${LINES:-100} TRAIN_FIRST="--recipe paper-base $TRAIN $seldom 0 --steps $FIRST"
export TRAIN_PAPER="$seldom 0 --steps $((FIRST + TAIL)) --decay-start 300000"
cooldown=$(awk "BEGIN { print $TAIL / ($FIRST + $TAIL) }")
export TRAIN_OURS="$seldom 0 --steps $((FIRST + TAIL)) --cooldown $cooldown --average-decay 0.999"
export TRAIN_LONGER="$seldom 0 --steps $((FIRST + TAIL + LONGER)) --decay-start 300000"
paper="--recipe paper --decay-start 300000 $LEARN"

# floats: both float models, translated if FLOATS says so
floats() {
  local code=0
  LIMIT=$([ "$UNTIL" = 0 ] && echo 0 || left) ONLY='^nothing$' PAPER=$paper "$here/tools/paper.sh" "$data" whole \
    >>log/floats 2>&1 || code=$?
  case $code in 0) ;; 3) say "time is up"; exit 3 ;; *) say "no float models: $(tail -n 1 log/floats)"; exit 1 ;; esac
}

# one FOLDER NAME: a line of the plan; 3 when time is up
one() {
  local folder=$1 name=$2 code=0 phases=$SHORT
  export PHASE_3=0 PAPER="$paper" OURS TUNED FEW
  case $name in paper-* | paper+unseen-*) PHASE_3=1 ;; esac
  [ "$folder" = short ] || phases=$MINE
  OURS="--steps-per-phase $phases --measure-batches 30 $seldom 300 $LEARN"
  TUNED="$seldom 300 $LEARN" # a whole pass
  FEW="--steps-per-phase $FEW_STEPS --rows 32 --measure-batches 30 --rate-factor 1 $seldom 300 $LEARN_FEW"
  case $folder in
  whole) PAPER="$paper --save-every 0 --bleu-sentences 500" ;;
  short) PAPER="$paper --steps-per-phase $SHORT --measure-batches 30 $seldom 300" ;;
  esac
  [ "$(left)" -gt 10 ] || return 3
  LIMIT=$([ "$UNTIL" = 0 ] && echo 0 || left) ONLY="^${name//+/[+]}"$'\t' "$here/tools/paper.sh" "$data" "$folder" \
    >>"log/$folder-$name" 2>&1 || code=$?
  if cut -f1 "$folder/failed.tsv" 2>/dev/null | grep -qxF -- "$name"; then
    echo "$folder/$name" >>failed
    say "$folder/$name FAILED: $(tail -n 1 "$folder/$name.log")"
  elif [ $code = 0 ]; then say "$folder/$name"
  else
    [ $code = 3 ] || { echo "$folder/$name" >>failed; say "$folder/$name ended with $code: $(tail -n 1 "log/$folder-$name")"; }
  fi
  return $code
}
gives_up() { [ -e failed ] && [ "$(wc -l <failed)" -ge "$GIVE_UP" ]; }

# next LIST: its first line, which is taken from it
next() { (flock 9; head -n 1 "$1"; sed -i 1d "$1") 9>"$1.lock"; }

# lane LIST: works through it, beside other lanes
lane() {
  local folder name
  while read -r folder name < <(next "$1") && [ -n "$folder" ]; do
    ! gives_up || return 0
    case $folder in few | short) until [ -e calibrated ] || gives_up || [ "$(left)" -le 10 ]; do sleep 1; done ;; esac
    one "$folder" "$name" || [ $? != 3 ] || return 0
  done
}
lanes() { # COUNT LIST
  local count=$1
  for ((; count > 0; count--)); do lane "$2" & done
  wait
}

# Steps that learning begins with, then baselines: products in float beside integers run on the CPU alone.
beside() {
  local folder file
  printf 'base %s\n' kl-ours-6 kl-paper-6 rows-ours-6 rows-ours-4 kl-ours-8 rows-ours-5 w4a8-kl-per-row-ours >jobs.first
  lanes "$BESIDE" jobs.first
  for folder in whole short few; do
    for file in base/*.safetensors; do ln -sfn "../$file" "$folder/"; done
  done
  touch calibrated
  printf 'base %s\n' gnmt-ours-8 clip-tuned-ours-8 dynamic-ours-8 bhandare-ours-8 {rows-ours,base-max-ours}-8 \
    base-max-ours-{6,5,4} kl-ours-{5,4} kl-paper-8 {rows,base-max}-paper-{8,6} clip-ours-8 bhandare-paper-8 dynamic-paper-8 |
    grep -vxFf jobs.all >jobs.beside || true
  lanes "$BESIDE" jobs.beside
}

jobs_by_importance() {
  local seed name
  printf 'whole %s\n' paper-6-s1 paper-8-s1
  for seed in 1 2 3; do
    for name in paper ours paper+kl paper+adam paper+teacher paper+unseen joint paper+cooldown paper+average paper+rate \
      paper+fit ours-corpus ours-flat ours-max paper+order; do echo "short $name-6-s$seed"; done
    [ $seed != 1 ] || printf 'short %s\n' paper-8-s1 paper-power-8-s1
    echo "whole ours-8-s$seed"
  done
  printf 'few %s\n' ours-joint-{4,6,w4a8,5}-s1 ours-joint-4-s{2,3}
  printf 'whole %s\n' float-longer joint-6-s1 paper-6-s2 paper-8-s2
  printf 'short %s\n' paper-{,power-}8-s{2,3}
}

# tabled TO PATTERN FOLDER...: tables in TO, with translations of the folders whose names begin so
tabled() {
  local folder file to=$1 pattern=$2
  for folder in "${@:3}"; do
    for file in "$folder"/$pattern*.hyp; do [ ! -e "$file" ] || ln -sfn "../$file" "$to/"; done
  done
  touch "$to/float-paper.done" "$to/float-ours.done"
  TABLES=1 ONLY='^nothing$' DEVICE=cpu "$here/tools/paper.sh" "$data" "$to" >>log/tables 2>&1
  say "tables of $to"
}
tables() {
  tabled tables '' whole few base
  tabled short 'float-[op]' whole
}

[ "$ONLY_TABLES" = 0 ] || { tables; exit 0; }
rm -f failed jobs.first jobs.beside calibrated ./*/failed.tsv
say "float models"
# Float models made anew beside translations of before must be those of before: theirs are set aside and compared.
float_hyps=$(find whole -maxdepth 1 -name 'float-[op]*.hyp' -type f)
if [ -e whole/float-paper.done ] && [ -e whole/float-ours.done ]; then float_hyps=; fi
for file in $float_hyps; do mv "$file" "$file.before"; done
[ -n "$float_hyps" ] || export FLOATS=0 # nothing to compare: they are translated beside what is made of them
floats
for file in whole/float-[op]*.hyp.before; do
  [ -e "$file" ] || continue
  cmp -s "$file" "${file%.before}" || { say "these float models are not those of the translations: $file differs"; exit 1; }
  rm "$file"
done
for folder in short few base; do
  for file in whole/float-{paper,ours}*; do ln -sfn "../$file" "$folder/"; done
done
{ if [ -n "$JOBS" ]; then cat "$JOBS"; else jobs_by_importance; fi; } | tee jobs.all >"jobs"
say "$(wc -l <"jobs") jobs"
[ "${FLOATS:-1}" = 1 ] || FLOATS=1 floats &
beside &
lanes "$LANES" jobs
wait
! gives_up || { say "gave up after $(wc -l <failed) failed runs"; exit 1; }
if [ -s "jobs" ] || [ -s jobs.beside ] || [ "$(left)" -le 10 ]; then say "time is up"; exit 3; fi
FLOATS=1 floats # nothing, unless what was done beside the runs failed, which nobody waited for
say "all runs are done"
tables
