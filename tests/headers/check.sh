#!/bin/bash
# check.sh COMPILER ROOT: every header compiles alone; the public ones also as C++.
set -u
compiler=$1 root=$2 bad=0
cd "$root" || exit 1
while IFS= read -r header; do
  echo "#include \"$header\"" | "$compiler" -std=c11 -D_XOPEN_SOURCE=700 -Wall -Wextra -Werror -Iinclude -Isrc \
    -fsyntax-only -x c - \
    || { echo "headers: $header does not compile alone"; bad=1; }
done < <(find src include -name '*.h' | sort)
for header in include/ganz/*.h; do
  echo "#include \"$header\"" | "$compiler" -std=c++11 -Wall -Wextra -Werror -Iinclude -fsyntax-only -x c++ -I. - \
    || { echo "headers: $header is not C++"; bad=1; }
done
exit $bad
