#!/bin/bash
# bulk_check.sh GANZ MODEL TEXT [OUT]: a large text by workers that are killed with -9 at random times, joined, and compared
# byte for byte with one run that nobody disturbs; how much memory the workers have over time. Plain TEXT, a sentence a line.
#   WORKERS  at a time (4);  THREADS  of each (1);  SINGLE  the device of the undisturbed run (cpu; cuda), with ALONE threads (0)
#   PAUSE  seconds between two kills at most (20);  PART  bytes of a part (256k);  SEED  of the kills (1)
# OUT gets bulk.txt (what is told), rss.tsv (second, process, KiB) and kills.tsv.
set -eu -o pipefail
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 3 4 "$@"
ganz=$(realpath "$1") model=$(realpath "$2") text=$(realpath "$3") out=$(realpath "${4:-.}")
work=$(mktemp -d) RANDOM=${SEED:-1} pids=()
clean() {
  for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null || true; done
  rm -rf "$work"
}
trap clean EXIT
say() { echo "$*" | tee -a "$out/bulk.txt"; }
: >"$out/bulk.txt"; : >"$out/rss.tsv"; : >"$out/kills.tsv"
words=(translate -q -m "$model" -b1)
start() {
  "$ganz" "${words[@]}" -j"${THREADS:-1}" --work "$work/parts" --part-bytes "${PART:-262144}" --claim-seconds 3 "$text" 2>>"$work/said" &
  pids[$1]=$!
}
lines=$(wc -l <"$text")
say "$lines lines, $(stat -c %s "$text") bytes, ${WORKERS:-4} workers of ${THREADS:-1} threads"

began=$SECONDS kills=0 begin_ns=$(date +%s%N)
for ((i = 0; i < ${WORKERS:-4}; i++)); do start $i; done
next=$((RANDOM % ${PAUSE:-20} + 1))
# Until a worker ends by itself, which it does when no part is left.
while :; do
  sleep 1
  now=$((SECONDS - began)) ended=
  for i in "${!pids[@]}"; do
    rss=$(awk '/^VmRSS/ { print $2 }' "/proc/${pids[$i]}/status" 2>/dev/null || true)
    if [ -n "$rss" ]; then echo "$now	${pids[$i]}	$rss" >>"$out/rss.tsv"; else ended=$i; fi
  done
  [ -z "$ended" ] || break
  [ $now -ge $next ] || continue
  victim=$((RANDOM % ${WORKERS:-4}))
  kill -9 "${pids[$victim]}" 2>/dev/null || break
  wait "${pids[$victim]}" 2>/dev/null || true
  echo "$now	${pids[$victim]}" >>"$out/kills.tsv"
  kills=$((kills + 1)) next=$((now + RANDOM % ${PAUSE:-20} + 1))
  start $victim
done
for p in "${pids[@]}"; do wait "$p" || { say "a worker ends with $?: $(tail -n 1 "$work/said")"; exit 1; }; done
pids=()
took=$(((10#$(date +%s%N) - begin_ns) / 1000000))
say "done after $((took / 1000)).$(printf %03d $((took % 1000))) s: $((lines * 1000 / took)) lines/s; $kills workers killed"
"$ganz" join -q --input "$text" -o "$work/joined" "$work/parts"
say "joined: $(wc -l <"$work/joined") lines, sha256 $(sha256sum <"$work/joined" | cut -c1-16), $(find "$work/parts" -name '*.proof' | wc -l) parts"
# A worker's memory in the first and in the last third of its life, for those that lived a while
awk '{ n[$2]++; rss[$2, n[$2]] = $3; if ($3 > top) top = $3 }
  END { for (p in n) { if (n[p] < 12) continue; a = b = 0; k = int(n[p] / 3)
      for (i = 1; i <= k; i++) { a += rss[p, i + 2]; b += rss[p, n[p] - i + 1] }
      if (b / a > grow) grow = b / a; lived++ }
    printf "memory: %.1f MiB at most; last third against first third of a life, the most of %d workers: %.3f\n", top / 1024, lived, grow }' \
  "$out/rss.tsv" | tee -a "$out/bulk.txt"

begin_ns=$(date +%s%N)
"$ganz" "${words[@]}" -j"${ALONE:-0}" --format lines --device "${SINGLE:-cpu}" -o "$work/single" "$text"
took=$(((10#$(date +%s%N) - begin_ns) / 1000000))
say "one run on ${SINGLE:-cpu}: $((took / 1000)).$(printf %03d $((took % 1000))) s, sha256 $(sha256sum <"$work/single" | cut -c1-16)"
if cmp -s "$work/joined" "$work/single"; then
  say "the joined file equals it byte for byte"
else
  say "DIFFERENT: $(cmp "$work/joined" "$work/single" 2>&1 | head -n 1)"
  exit 1
fi
