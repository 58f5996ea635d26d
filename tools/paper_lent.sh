#!/bin/bash
# paper_lent.sh COMMAND: tools/paper_lanes.sh on a machine that is lent for minutes, has no network, and is reached by calls of
# a few minutes that carry a folder there and some files back.
#   pack DATA OUT CARRY   here: what has to travel, into CARRY/1, CARRY/2, ... of PIECE MB, one for a call; translations that
#                         are in OUT already travel along
#   stage FOLDER          there: takes one of these folders in
#   start                 there: unpacks and compares all, begins the runs, which go on behind this call
#   wait SECONDS          there: waits, says how it goes, puts what is new since the last wait into BACK
#   take BACK OUT         here: unpacks that; then ONLY_TABLES=1 tools/paper_lanes.sh DATA OUT makes the tables
# The checkout has to be there, too. Look at what the first wait says before you send more: time is lent.
# Settings, by the environment: GANZ=build/release/cli/ganz, those of tools/paper_lanes.sh (UNTIL=1640 counts from the first
# stage), and
#   LENT=/tmp/ganz-paper   where all lies there
#   BACK=$LENT/back        MOST=14: MB of a file in it
#   PIECE=22               MB
#   HEAD=                  so many lines of the test sets alone, for a try
set -eu -o pipefail
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 1 4 "$@"
here=$(cd "$(dirname "$0")/.." && pwd)
GANZ=${GANZ:-$here/build/release/cli/ganz} LENT=${LENT:-/tmp/ganz-paper} PIECE=${PIECE:-22} MOST=${MOST:-14} HEAD=${HEAD:-}
BACK=${BACK:-$LENT/back}

# pack DATA OUT CARRY
pack() {
  local data=$1 out=$2 carry=$3 number=0 piece
  things=$(mktemp -d)
  trap 'rm -rf "$things"' EXIT
  mkdir -p "$things/bin" "$things/lib" "$things/out" "$carry"
  ln -s "$(realpath "$data")" "$things/data"
  cp "$GANZ" "$things/bin/ganz"
  ldd "$GANZ" | awk '$3 ~ /^\// && $1 !~ /^lib(c|m)\.so/ { print $3 }' | xargs -r cp -Lt "$things/lib"
  [ ! -d "$out" ] || (cd "$out" && find . -mindepth 2 -maxdepth 2 -name '*.hyp' -type f -print0 | xargs -0r cp --parents -t "$things/out")
  (cd "$things" && find -L . -maxdepth 4 -type f ! -name sums ! -path './data/synthetic/*' ! -name 'mono.*' -print0 | sort -z |
    xargs -0 sha256sum >"$things/sums")
  rm -rf "$carry"/[0-9]*
  (cd "$things" && sed 's/^[^ ]*  //' sums | tar -chf - -T - sums) | xz -T0 -6 --block-size=8MiB |
    split -d -b "${PIECE}M" - "$carry/piece."
  for piece in "$carry"/piece.*; do
    number=$((number + 1))
    mkdir "$carry/$number"
    mv "$piece" "$carry/$number/"
  done
  du -sm "$carry"/[0-9]*
}

# stage FOLDER
stage() {
  mkdir -p "$LENT/in"
  [ -e "$LENT/since" ] || date +%s >"$LENT/since"
  cp "$1"/piece.* "$LENT/in/"
  du -sm "$LENT/in"
}
held() { echo $(($(date +%s) - $(cat "$LENT/since"))); }

# start
start() {
  local file
  mkdir -p "$LENT"
  cp -r "$here/tools" "$here/scripts" "$here/recipes" "$LENT/"
  cd "$LENT"
  cat in/piece.* | xz -T0 -dc | tar -xf -
  sha256sum --quiet -c sums
  mkdir -p out/log
  touch fetched
  for file in data/*.en data/*.de; do
    [ -z "$HEAD" ] || { head -n "$HEAD" "$file" >"$file.head"; mv "$file.head" "$file"; }
  done
  LD_LIBRARY_PATH=$LENT/lib bin/ganz --version
  [ "${DEVICE:-cuda}" != cuda ] || { nvidia-smi -L; nvidia-cuda-mps-control -d; }
  setsid nohup "$LENT/tools/paper_lent.sh" chain >out/log/chain 2>&1 </dev/null &
  echo "started after $(held) s"
}

# chain: the runs; float models that are not those of the translations which came along are tried again without them
chain() {
  local code=0
  cd "$LENT"
  export GANZ=$LENT/bin/ganz LD_LIBRARY_PATH=$LENT/lib
  lanes
  if [ $code = 1 ] && grep -q 'are not those of the translations' out/log/lanes; then
    rm -f out/whole/*.before
    find out -name '*.hyp' ! -newer fetched -delete
    mv out/log/lanes out/log/lanes.first
    lanes
  fi
  touch finished
}
lanes() {
  code=0
  UNTIL=$((${UNTIL:-1640} - $(held))) tools/paper_lanes.sh data out || code=$?
  echo "ended with $code after $(held) s"
}

# audit MODEL...: which products ran in integers, of five lines
audit() {
  local model
  head -n 5 data/newstest2014.en >five.en
  for model; do
    [ ! -e "out/$model.safetensors" ] || [ -s "out/$model.audit" ] ||
      LD_LIBRARY_PATH=$LENT/lib timeout 30 bin/ganz inspect --audit five.en "out/$model.safetensors" >"out/$model.audit" 2>&1 || true
  done
}

# wait SECONDS
waits() {
  local end=$((SECONDS + $1))
  cd "$LENT"
  while [ $SECONDS -lt $end ] && [ ! -e finished ]; do sleep 1; done
  tail -n 5 out/log/chain
  tail -n 40 out/log/lanes || true
  find out -mindepth 2 -maxdepth 2 -name '*.log' -type f -mmin -0.5 -print -exec tail -qn 1 {} \; | cut -c1-300
  [ "${DEVICE:-cuda}" != cuda ] || nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv,noheader
  [ ! -e data/newstest2014.en ] || audit whole/paper-{8,6}-s1 few/ours-joint-{w4a8,4}-s1
  back
  echo "held $(held) s"
}

# back: what is new, translations in whole and logs as they are
back() {
  mkdir -p "$BACK"
  touch now
  find out -mindepth 2 -maxdepth 2 -name '*.hyp' -type f -newer fetched | sort >files
  find out -mindepth 2 -maxdepth 3 -type f \( -name 'log.tsv' -o -name '*.svg' -o -name '*.log' -o -name 'failed.tsv' -o \
    -name 'quant.txt' -o -name 'steps.tsv' -o -name '*.audit' -o -name 'jobs*' -o -path 'out/log/*' \) >>files
  tar -cf - -T files | xz -T0 -5 --block-size=8MiB | split -d -b "${MOST}M" - "$BACK/back.tar.xz."
  mv now fetched
  echo "$(grep -c '\.hyp$' files) translations"
}

# take BACK OUT
take() {
  mkdir -p "$2"
  cat "$1"/back.tar.xz.* | xz -dc | tar -C "$2" --strip-components=1 -xf -
  echo "$(find "$2" -mindepth 2 -maxdepth 2 -name '*.hyp' -type f | wc -l) translations"
}

case $1 in
pack) arguments 4 4 "$@"; pack "${@:2}" ;;
stage) arguments 2 2 "$@"; stage "$2" ;;
start) arguments 1 1 "$@"; start ;;
chain) arguments 1 1 "$@"; chain ;;
wait) arguments 2 2 "$@"; waits "$2" ;;
take) arguments 3 3 "$@"; take "${@:2}" ;;
*) refuse "there is no command $1" ;;
esac
