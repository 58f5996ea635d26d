#!/bin/bash
# bench_prepare.sh GANZ VOCAB SOURCE TARGET [ARGUMENT...]: pairs a second and peak memory of `ganz prepare` with one
# thread and with two. SOURCE and TARGET may be lists separated by commas; further arguments go to ganz prepare.
set -eu
[ $# -ge 4 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
ganz=$1 vocab=$2 sources=${3//,/ } targets=${4//,/ }
shift 4
out=$(mktemp)
trap 'rm -f "$out" "$out.table"' EXIT

printf 'threads\tpairs\tseconds\tpairs/s\tpeak MiB\n'
for threads in 1 2; do
  begin=$(date +%s.%N)
  # shellcheck disable=SC2086 # the lists are words
  "$ganz" prepare --vocab "$vocab" --source $sources --target $targets --out "$out" --threads $threads "$@" \
    >"$out.table" &
  pid=$! peak=0
  while now=$(awk '/^VmHWM/ {print $2}' /proc/$pid/status 2>/dev/null) && [ -n "$now" ]; do
    peak=$now
    sleep 0.05
  done
  wait $pid
  end=$(date +%s.%N)
  awk -v t=$threads -v b="$begin" -v e="$end" \
    -v k=$peak '/^pairs read/ {printf "%d\t%d\t%.2f\t%.0f\t%.0f\n", t, $3, e - b, $3 / (e - b), k / 1024}' "$out.table"
done
