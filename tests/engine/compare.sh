#!/bin/bash
# compare.sh DUMP LINES RUN... -- ISA...: the small models of tests/golden/integer on the first lines of a text, by the
# whole library here and by the program RUN (engine/run.c) on each ISA.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
dump=$1 lines=$2
shift 2
run=()
while [ "$1" != -- ]; do
  run+=("$1")
  shift
done
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while read -r model beam _; do
  "$dump" "$here/golden/integer/$model.safetensors" "$here/data/tatoeba.en" "$lines" "$beam" "$work/engine"
  "${run[@]}" "$work/engine" "$@"
done <"$here/golden/integer/sha256"
