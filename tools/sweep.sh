#!/bin/bash
# sweep.sh BUILD [EVERY [KINDS [COMMANDS]]]: small commands, in each of which one request for memory or one call to the
# system about files fails, in turn: every one, or one of EVERY. Each must end with one sentence, and each file must be the
# old or the new one. A run of training must afterwards go on to the same bytes. All of it takes an hour; the test
# `cli_sweep` takes a sample. BUILD is a build without sanitizers; KINDS is of memory, disk and map; COMMANDS of those below.
# FIRST (environment) is the first call that fails, LIMIT the number of calls tried for each command and kind.
set -u
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 1 4 "$@"
build=$(realpath "$1") every=${2:-1} kinds=${3:-memory disk map}
commands=${4:-vocab prepare translate translate-float document average calibrate quantize train}
root=$(cd "$(dirname "$0")/.." && pwd)
ganz=$build/cli/ganz
[ -e "$build/tests/libfaults.so" ] || { echo "sweep.sh: $build has no tests/libfaults.so" >&2; exit 2; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# ---- what the commands work with
head -n 60 "$root/tests/data/tatoeba.en" >text.en
head -n 60 "$root/tests/data/tatoeba.de" >text.de
head -n 3 text.en >few
printf '<p>The <b>cat</b> sat.</p>\n' >page.html
cp "$root/tests/golden/integer/int8.safetensors" int8 || exit 1
for seed in 1 2 3; do "$build/tests/make_model" float$seed $seed || exit 1; done
"$ganz" vocab -q --size 200 --out vocab text.en text.de || exit 1
"$ganz" prepare -q --vocab vocab --source text.en --target text.de --out corpus >log || exit 1
tiny=(--recipe tiny --encoder-layers 1 --decoder-layers 1 --width 16 --heads 2 --ffn 16 --rows 8 --slots 32 --save-every 1
  --train corpus --vocab vocab)
"$ganz" train -q -j 1 "${tiny[@]}" --steps 1 --out trained || exit 1

# words_of COMMAND: as users type it; `output` and `old` are the file it replaces and what lies there before
words_of() {
  output= old=
  case $1 in
    vocab) output=vocab old=few words=(vocab -q --size 200 --out out/vocab text.en text.de) ;;
    prepare) output=corpus old=few words=(prepare -q --vocab vocab --source text.en --target text.de --out out/corpus) ;;
    translate) output=lines old=few words=(translate -q --format lines -m int8 --max-length 8 -o out/lines few) ;;
    translate-float) output=lines old=few words=(translate -q --format lines -m float1 --max-length 8 -o out/lines few) ;;
    document) output=page.html old=page.html words=(translate -q -m int8 --max-length 8 -o out/page.html page.html) ;;
    average) output=mean old=float3 words=(average --out out/mean float1 float2) ;;
    calibrate) output=int8 old=float3 words=(quantize -q --model float1 --calibrate few --out out/int8) ;;
    quantize)
      words=(quantize -q -j 1 --model trained/last.safetensors --train corpus --steps-per-phase 1 --measure-batches 1
        --save-every 1 --rows 8 --slots 32 --out out/run) ;;
    train) words=(train -q -j 1 "${tiny[@]}" --steps 2 --out out/run) ;;
    *) echo "sweep.sh: no command named $1" >&2; exit 2 ;;
  esac
}

findings=0
finding() { # WHAT
  findings=$((findings + 1))
  echo "FINDING: $command, $kind call $at of $calls: $1: $(head -c 300 err | tr '\n' '|')"
}

# fault N: runs the command, the N-th call of the kind fails. A command that hangs is killed after 20 seconds.
fault() {
  timeout -s KILL 20 env LD_PRELOAD="$build/tests/libfaults.so" FAULT_KIND="$calls_of_kind" FAULT_AT="$1" FAULT_COUNT=count \
    "$ganz" "${words[@]}" >stdout 2>err
}

# The file is the old or the new one, byte for byte, and nothing lies beside it.
check_file() {
  equal "out/$output" "new/$output" || { [ "$1" != 0 ] && equal "out/$output" "$old"; } || finding "another file after $1"
  [ "$(ls out)" = "$output" ] || finding "files left: $(ls out)"
}
equal() { cmp -s "$1" "$2"; }
# What a run left goes on, to the same bytes.
check_run() {
  local again=
  [ -e out/run/last.safetensors ] && again=--resume
  "$ganz" "${words[@]}" $again >log 2>err || finding "the run does not go on"
  equal out/run/last.safetensors new/run/last.safetensors || finding "the run goes on to something else"
}

check() { # N
  local status
  rm -rf out && mkdir out
  [ "$old" ] && cp "$old" "out/$output"
  fault "$1"
  status=$?
  if [ $status -gt 2 ] && [ $status != 127 ]; then finding "ends with $status" # 127: the loader's own sentence
  elif [ $status != 0 ] && [ "$(wc -l <err)" != 1 ]; then finding "says more or less than one line"
  elif [ $status = 0 ] && [ -s err ]; then finding "succeeds with a complaint"; fi
  if [ "$output" ]; then check_file $status; else check_run; fi
}

sweep() { # COMMAND KIND
  local tried=0
  command=$1 kind=$2 at=0 calls=0
  words_of "$command"
  calls_of_kind=$kind
  [ "$kind" = disk ] && calls_of_kind=open,read,write,sync,name
  rm -rf new out && mkdir out
  fault 0 || { finding "does not run at all"; return; }
  mv out new
  calls=$(cat count)
  [ "$kind" = map ] || [ "$calls" -gt 5 ] || finding "no calls are seen"
  for ((at = ${FIRST:-1}; at <= calls; at += every)); do
    check "$at"
    tried=$((tried + 1))
    [ "$tried" -ge "${LIMIT:-1000000}" ] && break
  done
  echo "$(date +%T) $command, $kind: $tried of $calls calls failed, $findings findings so far"
}

for one in $commands; do
  for kind in $kinds; do sweep "$one" "$kind"; done
done
[ "$findings" = 0 ]
