#!/bin/bash
# fuzz_campaign.sh FOLDER WORKERS SECONDS [GOAL]: all fuzz targets of FOLDER, spread over WORKERS processes, until each has
# had GOAL executions (10 million) or SECONDS are over. FOLDER/bin/fuzz_* are programs of `cmake --preset fuzz`,
# FOLDER/corpus/fuzz_*/ their inputs, which grow; FOLDER/lib, if it is there, the C library that they run with.
# FOLDER/counts gets a line for each turn (target, executions, seconds, exit status), so that a later call goes on;
# FOLDER/found gets the inputs that are findings, FOLDER/table.tsv the sums. At first each target has a turn, then always
# the one that is nearest its goal, so that as many as possible reach it.
set -u
folder=$(realpath "$1") workers=$2 goal=${4:-10000000}
until=$(($(date +%s) + $3))
first_turn=20 turn=45
cd "$folder" || exit 1
mkdir -p found log claims corpus work
touch counts
[ "$workers" = 0 ] || rm -f claims/* # of a call before
run=()
[ -d lib ] && run=("$folder/lib/ld-linux-x86-64.so.2" --library-path "$folder/lib")
# Addresses that are drawn from too large a range collide with those that AddressSanitizer of clang 14 counts on.
setarch "$(uname -m)" -R true 2>log/setarch && run=(setarch "$(uname -m)" -R ${run[@]+"${run[@]}"})
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=2:allocator_may_return_null=1:symbolize=0

# The sums of all turns: target, executions, seconds, findings.
table() {
  for program in bin/fuzz_*; do
    name=${program##*/}
    found=$(find found -name "$name-*" ! -name '*slow-unit-*' | wc -l)
    awk -v name="$name" -v found="$found" '$1 == name { runs += $2; seconds += $3 }
      END { printf "%s\t%d\t%d\t%d\n", name, runs, seconds, found }' counts
  done
}

# choose: the target of the next turn and its length, by the counts and by what other workers are at.
choose() {
  { table | sed 's/^/T\t/'; for claim in claims/*; do [ -e "$claim" ] && printf 'C\t%s\n' "$(cat "$claim")"; done; } |
    awk -F '\t' -v goal="$goal" -v turn=$turn -v first=$first_turn '
      $1 == "T" { order[++n] = $2; runs[$2] = $3; seconds[$2] = $4; found[$2] = $5 }
      $1 == "C" { claims[$2]++ }
      END {
        for (i = 1; i <= n; i++) {
          t = order[i]
          if (seconds[t] == 0 && !claims[t]) { print t, first; exit }
          if (seconds[t] == 0 || found[t] >= 5) continue
          rate = runs[t] / seconds[t] + 0.01
          left = (goal - runs[t]) / rate - claims[t] * turn
          if (left > 0 && (best == "" || left < least)) { best = t; least = left }
        }
        if (best != "") print best, turn
      }'
}

one_turn() { # WORKER TARGET SECONDS
  local began=$(date +%s) log=log/$1 status
  mkdir -p "corpus/$2" "work/$1"
  TMPDIR=$folder/work/$1 timeout -s KILL $(($3 + 120)) ${run[@]+"${run[@]}"} "bin/$2" -max_total_time="$3" -print_final_stats=1 \
    -timeout=30 -rss_limit_mb=3000 -entropic=0 -artifact_prefix="found/$2-" "corpus/$2" >"$log" 2>&1
  status=$?
  [ $status = 0 ] || cp "$log" "log/$2.failed.$(date +%s).$1"
  local executed=$(grep -a number_of_executed_units "$log" | tail -n 1 | awk '{print $2}')
  [ "$executed" ] || executed=$(grep -a '^#[0-9]' "$log" | tail -n 1 | sed 's/^#\([0-9]*\).*/\1/')
  local took=$(($(date +%s) - began))
  {
    flock 9
    echo "$2 ${executed:-0} $((took > 0 ? took : 1)) $status" >>counts
    rm -f "claims/$1"
  } 9>lock
}

worker() { # NUMBER
  local target seconds left
  while :; do
    left=$((until - $(date +%s)))
    [ $left -lt 3 ] && return
    {
      flock 9
      read -r target seconds < <(choose)
      [ "$target" ] && echo "$target" >"claims/$1"
    } 9>lock
    [ "$target" ] || { sleep 2; [ "$(ls claims)" ] || return; target=; continue; }
    one_turn "$1" "$target" $((seconds < left ? seconds : left))
    target=
  done
}

for ((i = 1; i <= workers; i++)); do worker $i & done
wait
table >table.tsv
