#!/bin/bash
# The rules of docs/ARCHITECTURE.md about includes: the rooms a room knows, and the public headers whose calls it makes or
# implements. Intrinsics, CUDA and printing have places of their own.
set -u
cd "$(dirname "$0")/.." || exit 1

declare -A may=(
  [base]="base"
  [text]="base text"
  [document]="base text document"
  [kernel]="base kernel"
  [backend]="base kernel backend"
  [nn]="base kernel backend nn"
  [model]="base text kernel backend nn model"
  [translate]="base text document kernel backend nn model translate"
  [bulk]="base bulk"
  [ranks]="base ranks"
  [train]="base text document kernel backend nn model translate ranks train"
  [import]="base text document kernel backend nn model import"
  [export]="base text document kernel backend nn model translate import export"
)
# Public headers, without "ganz/" and ".h".
declare -A public=(
  [base]="ganz io"
  [text]="detect ganz io score vocab"
  [document]="document ganz io vocab"
  [kernel]="ganz"
  [backend]="ganz"
  [nn]="ganz recipe"
  [model]="ganz io recipe vocab"
  [bulk]="bulk ganz io"
  [ranks]="ganz"
  [translate]="ganz bench bulk document inspect io quantize service vocab"
  [train]="ganz corpus io quantize recipe score train vocab"
  [import]="ganz import io vocab"
  [export]="export ganz io vocab"
)
bad=0
say() { echo "layers: $*"; bad=1; }

for folder in src/*/; do
  layer=$(basename "$folder")
  [ -n "${may[$layer]:-}" ] || say "$folder is a room without rules"
done
for layer in "${!may[@]}"; do
  while IFS=: read -r file line include; do
    [ -n "$file" ] || continue
    target=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
    room=${target%%/*}
    if [ "$room" = ganz ]; then
      header=$(basename "$target" .h)
      case " ${public[$layer]:-} " in *" $header "*) ;; *) say "$file:$line: $layer may not include $target" ;; esac
      continue
    fi
    case " ${may[$layer]} " in *" $room "*) ;; *) say "$file:$line: $layer may not include $target" ;; esac
  done < <(grep -rnE '^ *# *include "' "src/$layer" 2>/dev/null)
done

while IFS=: read -r file line include; do
  [ -n "$file" ] || continue
  target=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
  [ -e "cli/$target" ] && continue # the program's own
  case "$target" in ganz/* | server/server.h) ;; *) say "$file:$line: the program may not include $target" ;; esac
done < <(grep -rnE '^ *# *include "' cli)

while IFS=: read -r file line include; do
  [ -n "$file" ] || continue
  target=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
  [ -e "server/$target" ] && continue # the server's own
  case "$target" in ganz/*) ;; *) say "$file:$line: the server may not include $target" ;; esac
done < <(grep -rnE '^ *# *include "' server)

while IFS=: read -r file line include; do
  [ -n "$file" ] || continue
  target=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
  [ -e "python/$target" ] && continue # the module's own
  case "$target" in ganz/*) ;; *) say "$file:$line: the Python module may not include $target" ;; esac
done < <(grep -rnE '^ *# *include "' python)

while IFS= read -r hit; do say "intrinsics outside a kernel file of their own: $hit"; done \
  < <(grep -rlE '#include <(immintrin|arm_neon|x86intrin)\.h>' src cli |
    grep -vE '^src/kernel/.*_(avx2|vnni|amx|neon|avx512)\.(c|h)$')
while IFS= read -r hit; do say "CUDA outside backend/cuda_*: $hit"; done \
  < <(grep -rlE '#include <cu(da|blas)' src cli | grep -vE '^src/backend/cuda_')
while IFS= read -r hit; do say "the library prints or exits: $hit"; done \
  < <(grep -rnE '\b(printf|puts|putchar|exit|abort)\(' src --include='*.c' |
    grep -vE 'snprintf|ganz_output_printf|vsnprintf|src/base/error\.c')

[ $bad = 0 ] && echo "layers: clean"
exit $bad
