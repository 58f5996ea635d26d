#!/bin/bash
# kernel_neon.sh COMPILER OUTPUT KERNELS...: the kernels (files of src/) and their test for aarch64, one static program.
set -eu
compiler=$1 output=$2
shift 2
cd "$(dirname "$0")/.."
flags=(-std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wshadow -Werror -D_XOPEN_SOURCE=700 -DGANZ_VERSION='"test"' \
  -Iinclude -Isrc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=()
for file in "$@"; do [[ $file = kernel/i8_dot_neon.c || $file = kernel/i8_i8mm_neon.c ]] || files+=("src/$file"); done
"$compiler" "${flags[@]}" -march=armv8.2-a+dotprod -c src/kernel/i8_dot_neon.c -o "$work/dot.o"
"$compiler" "${flags[@]}" -march=armv8.2-a+dotprod+i8mm -c src/kernel/i8_i8mm_neon.c -o "$work/i8mm.o"
"$compiler" "${flags[@]}" -static -o "$output" "$work/dot.o" "$work/i8mm.o" \
  "${files[@]}" src/base/{alloc,error,surroundings}.c \
  tests/{test_kernel,kernel_rows,kernel_gemm,kernel_bf16,kernel_facts}.c -lm
