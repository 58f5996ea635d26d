#!/bin/bash
# findings.sh PROGRAM TESTS: the findings that docs/RELIABILITY.md lists as mended, each shown by the smallest thing that a
# user can do. PROGRAM is a `ganz` without sanitizers of any version, TESTS the folder of tests of a present build
# (libfaults.so, libhost.so, make_model). Prints a line for each: its number and what happens.
set -u
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 2 2 "$@"
ganz=$(realpath "$1") tests=$(realpath "$2")
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
say() { printf '%s\t%s\n' "$1" "$2"; }

# ---- what the commands work with, made by this version
data=$root/tests/data
head -n 60 "$data/tatoeba.en" >text.en
head -n 60 "$data/tatoeba.de" >text.de
head -n 40 "$data/tatoeba.en" >forty
head -n 3 text.en >few
"$ganz" vocab -q --size 200 --out vocab text.en text.de || exit 1
"$ganz" prepare -q --vocab vocab --source text.en --target text.de --out corpus >log || exit 1
tiny=(-q -j 1 --recipe tiny --encoder-layers 1 --decoder-layers 1 --width 16 --heads 2 --ffn 16 --rows 8 --slots 32
  --train corpus --vocab vocab)
"$ganz" train "${tiny[@]}" --steps 2 --out one || exit 1
"$ganz" train "${tiny[@]}" --steps 2 --seed 2 --out two || exit 1
one=one/last.safetensors two=two/last.safetensors
"$ganz" quantize -q --model $one --calibrate few --out int8 || exit 1
lines=(translate -q)
"$ganz" translate --help | grep -q -- --format && lines=(translate -q --format lines)

# fault KIND N COMMAND...: the N-th call of the kind fails; `calls` gets the number of calls
fault() {
  local kind=$1 at=$2
  shift 2
  timeout -s KILL 20 env LD_PRELOAD="$tests/libfaults.so" FAULT_KIND="$kind" FAULT_AT="$at" FAULT_COUNT=calls "$@" >out 2>err
}
count() { fault "$1" 0 "${@:2}" || exit 1; cat calls; }
step_for() { echo $(($1 / ${TRIES:-300} + 1)); } # so that of many calls about TRIES are tried

# ---- 1: a request for memory that fails in a save
one_save() {
  local calls n step bad=0 mute=0 tried=0 status
  calls=$(count memory "$ganz" average --out mean $one $two)
  step=$(step_for "$calls")
  for ((n = 1; n <= calls; n += step, tried++)); do
    cp $one mean
    fault memory $n "$ganz" average --out mean $one $two
    status=$?
    [ $status = 0 ] && { cmp -s mean right || bad=$((bad + 1)); }
    [ $status != 0 ] && [ "$(wc -l <err)" != 1 ] && mute=$((mute + 1))
  done
  say 1 "$tried of $calls requests fail in a save: $bad times exit 0 with a file that is damaged or another, $mute times an end without one sentence"
}
"$ganz" average --out right $one $two || exit 1
one_save

# ---- 2: a request for memory that fails while a model is read
two_read() {
  local calls n step called=0 changed=0 tried=0
  "$ganz" inspect $one >right.txt
  calls=$(count memory "$ganz" inspect $one)
  step=$(step_for "$calls")
  for ((n = 1; n <= calls; n += step, tried++)); do
    if fault memory $n "$ganz" inspect $one; then cmp -s out right.txt || changed=$((changed + 1))
    else grep -q 'out of memory\|memory' err || called=$((called + 1)); fi
  done
  say 2 "$tried of $calls requests fail while reading: $called called something else than a shortage, $changed read otherwise with exit 0"
}
two_read

# ---- 3: a corpus that is overwritten or cut short while training reads it
three_corpus() { # WHAT COMMAND
  local status
  rm -rf run && cp corpus live
  "$ganz" train "${tiny[@]/corpus/live}" --steps 20000 --out run >log 2>err &
  local run=$!
  for ((i = 0; i < 100; i++)); do [ -s run/log.tsv ] && break; sleep 0.1; done
  sleep 0.5
  "${@:2}"
  for ((i = 0; i < 100; i++)); do kill -0 $run 2>/dev/null || break; sleep 0.1; done
  kill -KILL $run 2>/dev/null && { wait $run 2>/dev/null; say 3 "a corpus $1: training goes on for 10 s"; return; }
  wait $run 2>/dev/null
  status=$?
  say 3 "a corpus $1: ends with $status, $(head -c 150 err | head -n 1)"
}
overwrite() { head -c "$(stat -c %s live)" /dev/zero | tr '\0' '\377' | dd of=live conv=notrunc status=none; }
{ three_corpus "cut short" truncate -s 100 live; three_corpus overwritten overwrite; } 2>/dev/null

# ---- 4: what belongs to the program around
four_surroundings() {
  rm -f masks
  LD_PRELOAD=$tests/libhost.so HOST_MASK=$PWD/masks "$ganz" average --out mean $one $two
  say 4 "the mask of new files is changed $(cat masks 2>/dev/null | wc -l) times in a save"
  "$ganz" "${lines[@]}" -m int8 --max-length 20 forty >plain
  LD_PRELOAD=$tests/libhost.so HOST_ROUNDING=1 "$ganz" "${lines[@]}" -m int8 --max-length 20 forty >rounded
  say 4 "rounding upwards: $(diff plain rounded | grep -c '^<') of 40 translations differ"
  printf 'LC_NUMERIC\ndecimal_point ","\nthousands_sep "."\ngrouping 3;3\nEND LC_NUMERIC\n' >comma.src
  localedef --no-archive -c -i comma.src ./comma >log 2>&1
  LOCPATH=$PWD LD_PRELOAD=$tests/libhost.so HOST_LOCALE=comma "$ganz" train "${tiny[@]}" --dropout 0.25 --steps 1 --out comma.run 2>err
  say 4 "a decimal comma: train --dropout 0.25 ends with $? $(head -n 1 err)"
  cp $one mean && chmod 640 mean && "$ganz" average --out mean $one $two
  say 4 "a file of mode 640 that is replaced has mode $(stat -c %a mean)"
}
four_surroundings

# ---- 5: OpenBLAS in little memory
{ (ulimit -v 300000; timeout -s KILL 20 "$ganz" "${lines[@]}" -m $one few >out 2>err); } 2>/dev/null
say 5 "float translation in 300 MB ends with $? $(head -n 1 err | head -c 100)"

# ---- 6: what kills leave
six_kills() {
  local calls n left=0
  rm -rf kept && mkdir kept
  calls=$(count open,write,sync,name "$ganz" average --out kept/mean $one $two)
  for ((n = 1; n <= calls; n++)); do
    FAULT_HOW=kill fault open,write,sync,name $n "$ganz" average --out kept/mean $one $two
    "$ganz" average --out kept/mean $one $two
    left=$((left + $(ls kept | grep -vc '^mean$')))
    rm -f kept/mean.*
  done
  say 6 "a kill at each of $calls calls of a save, then a save that is left alone: files left $left times"
}
{ six_kills; } 2>/dev/null
six_syncs() {
  local record=$PWD/record
  rm -rf synced
  LD_PRELOAD=$tests/libfaults.so FAULT_RECORD=$record "$ganz" train "${tiny[@]}" --steps 2 --save-every 1 --log-every 1 --out synced || return
  python3 "$root/tools/power_cut.py" "$record" "$PWD" >cuts 2>&1
  say 6 "power cuts in a run: $(tail -n 1 cuts)"
}
six_syncs

# ---- 7: counters, lists, long entries, closed descriptors, terminals, fast arithmetic
# set_metadata KEY VALUE: a copy of a checkpoint, `forged`, with another value and sums that agree
set_metadata() {
  python3 - "$root/tools" $one "$@" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from hostile import load, save
header, data = load(sys.argv[2])
header["__metadata__"][sys.argv[3]] = sys.argv[4]
save("forged", header, data)
END
}
seven_counters() {
  set_metadata training.tokens 9223372036854775807
  rm -rf again && cp -r one again && cp forged again/last.safetensors
  timeout 20 "$ganz" train "${tiny[@]}" --steps 3 --out again --resume 2>err
  local status=$?
  say 7 "a counter of 2^63 - 1: ends with $status, the checkpoint has $(grep -ao 'training.tokens":"[^"]*"' again/last.safetensors | head -n 1) $(head -n 1 err | head -c 120)"
}
seven_counters
seven_lists() {
  local calls n mute=0 words=()
  for ((n = 0; n < 40; n++)); do words+=(few); done
  calls=$(count memory "$ganz" vocab -q --size 200 --out mean.vocab "${words[@]}")
  for ((n = 1; n <= calls && n <= 60; n++)); do
    fault memory $n "$ganz" vocab -q --size 200 --out mean.vocab "${words[@]}" || { [ -s err ] || mute=$((mute + 1)); }
  done
  say 7 "the first 60 failing requests of a command with 40 words: $mute ends without a sentence"
}
seven_lists
seven_entries() {
  local long
  long=$(head -c 4095 /dev/zero | tr '\0' 'a')
  { cat vocab; printf "'%sb'\n" "$long"; } >long.vocab
  for ((n = 0; n < 60; n++)); do printf '%s%s\n' "$long" "$long"; done >long.txt
  TIMEFORMAT=%U
  local usual slow
  usual=$({ time "$ganz" encode --vocab vocab long.txt >/dev/null; } 2>&1)
  slow=$({ time "$ganz" encode --vocab long.vocab long.txt >/dev/null; } 2>&1)
  say 7 "480 kB of one letter: $usual s, with an entry of 4,096 bytes $slow s"
}
seven_entries
"$ganz" encode --vocab vocab - <&- >out 2>err
say 7 "a closed standard input: ends with $? $(head -n 1 err)"
seven_terminal() {
  { cat vocab; for entry in '\033' '[' J K '\033[2J_'; do printf "'$entry'\n"; done; } >orders.vocab
  echo $(($(wc -l <orders.vocab) - 1)) >ids
  script -qec "'$ganz' decode --vocab orders.vocab ids" typed </dev/null >out 2>&1
  say 7 "a word of a vocabulary that clears the screen, at a terminal: $(grep -c $'\033\[2J' out) times ($(tr -d '\r\n' <out | cat -v | head -c 60))"
}
seven_terminal

# ---- 8: hardening
say 8 "bound at start: $(readelf -d -W "$ganz" | grep -c BIND_NOW), stack protector: $(readelf -s -W --dyn-syms "$ganz" | grep -c __stack_chk_fail | head -n 1), checked calls: $(readelf -s -W --dyn-syms "$ganz" | grep -c '_chk@'), landing pads: $(readelf -n -W "$ganz" | grep -c 'IBT')"
