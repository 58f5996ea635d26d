#!/bin/bash
# fuzz_campaign.sh FOLDER WORKERS SECONDS [GOAL]: all fuzz targets of FOLDER, spread over WORKERS processes, until each has
# had GOAL executions (10 million) or SECONDS are over. FOLDER/bin/fuzz_* are programs of `cmake --preset fuzz`;
# FOLDER/fast/fuzz_*, if they are there, the same ones built for speed (preset fuzz-fast): seven turns of eight are theirs,
# six of them with short inputs. FOLDER/corpus/fuzz_*/ has inputs: each turn begins with some of them, and keeps findings only,
# because files cost more time than executions. FOLDER/lib, if it is there, has the C library that they run with. FOLDER/counts gets a line for each turn (target, executions, seconds, exit status, asan or
# fast), so that a later call goes on; FOLDER/found the inputs that are findings, FOLDER/table.tsv the sums (target,
# executions with AddressSanitizer, executions of fast programs, seconds, findings). At first each target has a turn, then
# always the one that is nearest its goal, so that as many as possible reach it.
set -u
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 3 4 "$@"
folder=$(realpath "$1") workers=$2 goal=${4:-10000000}
until=$(($(date +%s) + $3))
first_turn=8 turn=40 seeds=300 short=200
cd "$folder" || exit 1
mkdir -p found log claims work
touch counts
if [ "$workers" != 0 ]; then
  exec 8>busy
  flock -n 8 || { echo "another call is at work in $folder" >&2; exit 1; }
  rm -f claims/* # of a call before
fi
run=()
[ -d lib ] && run=("$folder/lib/ld-linux-x86-64.so.2" --library-path "$folder/lib")
# Addresses that are drawn from too large a range collide with those that AddressSanitizer of clang 14 counts on.
setarch "$(uname -m)" -R true 2>log/setarch && run=(setarch "$(uname -m)" -R ${run[@]+"${run[@]}"})
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=2:allocator_may_return_null=1:symbolize=0

# The sums of all turns.
table() {
  {
    for program in bin/fuzz_*; do echo "P ${program##*/}"; done
    find found -type f ! -name '*slow-unit-*' | sed -n 's/^found\/\(fuzz_[a-z0-9_]*\)-.*/F \1/p'
    sed 's/^/C /' counts
  } | awk '
    $1 == "P" { order[++n] = $2 }
    $1 == "F" { found[$2]++ }
    $1 == "C" { if ($6 == "fast") fast[$2] += $3; else asan[$2] += $3; seconds[$2] += $4 }
    END { for (i = 1; i <= n; i++) { t = order[i]; printf "%s\t%d\t%d\t%d\t%d\n", t, asan[t], fast[t], seconds[t], found[t] } }'
}

# choose: the target of the next turn, its program, length in seconds, most executions and longest input (0: any), by the
# counts, by what other workers are at and by how fast turns of the last programs were.
choose() {
  { table | sed 's/^/T /'; sed 's/^/C /' counts; cat claims/* 2>log/claims | sed 's/^/W /'; } |
    awk -v goal="$goal" -v turn=$turn -v first=$first_turn -v short=$short -v fast="$([ -d fast ] && echo 1)" '
      $1 == "T" { order[++n] = $2; runs[$2] = $3 + $4; found[$2] = $6 }
      $1 == "C" { turns[$2]++; if (!fast || $6 == "fast") { seconds[$2] += $4; executed[$2] += $3 } }
      $1 == "W" { claims[$2]++ }
      function print_turn(t, length_of_turn, number,   kind, most) {
        kind = fast && number % 8 != 1 ? "fast" : "asan"
        most = kind == "fast" && number % 8 != 5 ? short : 0
        print t, kind, length_of_turn, int(goal * 1.04 - runs[t]) + 1000, most
      }
      END {
        for (i = 1; i <= n; i++) {
          t = order[i]
          if (runs[t] >= goal || found[t] >= 5) continue
          if (seconds[t] == 0 && !claims[t]) { print_turn(t, first, turns[t]); exit }
          if (seconds[t] == 0) continue
          left = (goal - runs[t]) / (executed[t] / seconds[t] + 0.01) - claims[t] * turn
          if (left > 0 && (best == "" || left < least)) { best = t; least = left }
        }
        if (best != "") print_turn(best, turn, turns[best] + claims[best])
      }'
}

one_turn() { # WORKER TARGET KIND SECONDS EXECUTIONS LENGTH
  local began=$(date +%s) log=log/$1 status inputs=() program=bin/$2
  [ "$3" = fast ] && program=fast/$2
  find "corpus/$2" -type f | shuf -n $seeds | paste -sd, >"work/$1"
  [ -s "work/$1" ] && [ "$(wc -c <"work/$1")" -gt 1 ] && inputs+=(-seed_inputs="@work/$1")
  [ "$6" = 0 ] || inputs+=(-max_len="$6")
  timeout -s KILL $(($4 + 120)) ${run[@]+"${run[@]}"} "$program" -max_total_time="$4" -runs="$5" -print_final_stats=1 \
    -timeout=30 -rss_limit_mb=3000 -entropic=0 -reload=0 -artifact_prefix="found/$2-" ${inputs[@]+"${inputs[@]}"} >"$log" 2>&1
  status=$?
  [ $status = 0 ] || cp "$log" "log/$2.failed.$(date +%s).$1"
  local executed=$(grep -a number_of_executed_units "$log" | tail -n 1 | awk '{print $2}')
  [ "$executed" ] || executed=$(grep -a '^#[0-9]' "$log" | tail -n 1 | sed 's/^#\([0-9]*\).*/\1/')
  local took=$(($(date +%s) - began))
  {
    flock 9
    echo "$2 ${executed:-0} $((took > 0 ? took : 1)) $status $3" >>counts
    rm -f "claims/$1"
  } 9>lock
}

worker() { # NUMBER
  local target kind seconds executions length left
  while :; do
    left=$((until - $(date +%s)))
    [ $left -lt 3 ] && return
    {
      flock 9
      target=
      read -r target kind seconds executions length < <(choose)
      [ "$target" ] && echo "$target" >"claims/$1"
    } 9>lock
    [ "$target" ] || { sleep 2; [ "$(ls claims)" ] || return; continue; }
    one_turn "$1" "$target" "$kind" $((seconds < left ? seconds : left)) "$executions" "$length"
  done
}

for ((i = 1; i <= workers; i++)); do worker $i & done
wait
table >table.tsv
