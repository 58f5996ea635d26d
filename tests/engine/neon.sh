#!/bin/bash
# neon.sh COMPILER OUTPUT FILES...: run.c and the engine it needs (files of src/) for aarch64, one static program.
set -eu
compiler=$1 output=$2
shift 2
cd "$(dirname "$0")/../.."
flags=(-std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wshadow -Werror -D_XOPEN_SOURCE=700 -DNDEBUG \
  -DGANZ_VERSION='"test"' -Iinclude -Isrc
  -Itests/engine)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=()
for file in "$@"; do [[ $file = kernel/i8_dot_neon.c || $file = kernel/i8_i8mm_neon.c ]] || files+=("src/$file"); done
"$compiler" "${flags[@]}" -march=armv8.2-a+dotprod -c src/kernel/i8_dot_neon.c -o "$work/dot.o"
"$compiler" "${flags[@]}" -march=armv8.2-a+dotprod+i8mm -c src/kernel/i8_i8mm_neon.c -o "$work/i8mm.o"
"$compiler" "${flags[@]}" -static -pthread -o "$output" "$work/dot.o" "$work/i8mm.o" \
  "${files[@]}" src/base/{alloc,arena,error,rng,surroundings,thread}.c src/translate/{decode,decode_candidates,draw,search}.c \
  tests/engine/run.c -lm
