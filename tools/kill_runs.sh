#!/bin/bash
# kill_runs.sh BUILD [KILLS [SEED]]: small runs of training are killed at random moments and go on, again and again, until
# they end; each must end with the bytes of a run that was never stopped, and leave nothing else. Ends after KILLS kills.
set -u
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 1 3 "$@"
build=$(realpath "$1") kills=${2:-500}
RANDOM=${3:-1}
root=$(cd "$(dirname "$0")/.." && pwd)
ganz=$build/cli/ganz
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
head -n 60 "$root/tests/data/tatoeba.en" >text.en
head -n 60 "$root/tests/data/tatoeba.de" >text.de
"$ganz" vocab -q --size 200 --out vocab text.en text.de || exit 1
"$ganz" prepare -q --vocab vocab --source text.en --target text.de --out corpus >log || exit 1
words=(train -q -j 1 --recipe tiny --encoder-layers 1 --decoder-layers 1 --width 16 --heads 2 --ffn 16 --rows 8 --slots 32
  --save-every 1 --log-every 1 --train ../corpus --vocab ../vocab --valid-source ../text.en --valid-target ../text.de
  --bleu-sentences 2 --validate-every 7 --steps 30 --out run)
mkdir whole
began=$(date +%s%N)
(cd whole && "$ganz" "${words[@]}") || exit 1
longest=$((($(date +%s%N) - began) / 1000000)) # milliseconds of a run that is left alone
killed=0 runs=0 wrong=0
while [ $killed -lt "$kills" ]; do
  rm -rf part && mkdir part && cd part || exit 1
  while :; do
    again=
    [ -e run/last.safetensors ] && again=--resume
    moment=$((RANDOM % longest + 1))
    "$ganz" "${words[@]}" $again 2>err &
    run=$!
    { sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"; kill -KILL $run; } 2>/dev/null &
    wait $run 2>/dev/null # not before its locks are gone
    status=$?
    wait
    [ $status = 0 ] && break
    [ $status = 137 ] || { echo "WRONG: a run ends with $status: $(cat err)"; wrong=$((wrong + 1)); break; }
    killed=$((killed + 1))
  done
  for file in last.safetensors best.safetensors; do
    cmp run/$file ../whole/run/$file || { echo "WRONG: another $file after $killed kills"; wrong=$((wrong + 1)); }
  done
  [ "$(ls run)" = "$(ls ../whole/run)" ] || { echo "WRONG: files left: $(ls run)"; wrong=$((wrong + 1)); }
  runs=$((runs + 1))
  cd ..
done
echo "$killed kills in $runs runs, $wrong wrong"
[ $wrong = 0 ]
