#!/bin/bash
# Says which C and CUDA files are laid out otherwise than .clang-format asks for; skipped where there is no
# clang-format 14, because other versions lay out some lines differently. --fix puts them right.
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
[ "${1:-}" = --fix ] || arguments 0 0 "$@"
cd "$(dirname "$0")/.."
for program in clang-format-14 clang-format ""; do
  [ -n "$program" ] || { echo "format: skipped, there is no clang-format 14"; exit 0; }
  "$program" --version 2>/dev/null | grep -q 'version 14\.' && break
done
mapfile -t files < <(find src server include cli python tests bench fuzz examples \
  \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) | LC_ALL=C sort)
if [ "${1:-}" = --fix ]; then
  "$program" -i "${files[@]}"
  exit
fi
bad=$("$program" --dry-run "${files[@]}" 2>&1 | sed -n 's/^\([^ :]*\):\([0-9]*\):.*warning:.*/\1:\2/p' | sort -u)
[ -z "$bad" ] || { echo "$bad" | sed 's/^/format: /'; echo "format: tools/check_format.sh --fix lays them out"; exit 1; }
echo "format: ${#files[@]} files clean"
