#!/bin/bash
# fuzz_memory.sh FOLDER SECONDS [TARGET...]: fuzz targets (keys, zip, ...; none named: all) under MemorySanitizer, which ends a
# program that decides by bytes that were never written: SECONDS each, one after the other. Libraries that write into our
# memory (zlib, libyaml, liblzma, libzstd) are built with it too, from Debian's sources, which apt-get fetches; plain loops
# stand in for OpenBLAS. FOLDER keeps the libraries, the build, corpus/fuzz_TARGET (inputs to begin with, and those that are
# found), a log of each target and what is found; a later call goes on with them. Prints the executions of each target; ends
# with 1 when something was found. Needs clang.
set -eu -o pipefail
. "$(dirname "$0")/../scripts/arguments.sh"
. "$(dirname "$0")/bare_system.sh" # where the sources are
arguments 2 any "$@"
mkdir -p "$1"
folder=$(realpath "$1") seconds=$2 root=$(cd "$(dirname "$0")/.." && pwd)
shift 2
[ $# -gt 0 ] || set -- $(sed -n 's/^ganz_fuzz(fuzz_\([a-z0-9_]*\))$/\1/p' "$root/fuzz/CMakeLists.txt")
for target; do [ -e "$root/fuzz/fuzz_$target.c" ] || refuse "there is no fuzz target $target"; done
cd "$folder"

# fetch: the sources of the libraries, as Debian has them for the system that this is
fetch() {
  local own=(-o Dir::Etc::sourcelist="$PWD/apt.sources" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$PWD/lists")
  own+=(-o APT::Sandbox::User=root)
  . /etc/os-release
  mkdir -p lists/partial
  printf '%s\n' 'Types: deb-src' "URIs: $(bare_mirror)" "Suites: $VERSION_CODENAME" 'Components: main' \
    'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' >apt.sources
  apt-get "${own[@]}" -q update && apt-get "${own[@]}" -q source --download-only zlib libyaml xz-utils libzstd
  find . -maxdepth 1 -regex '.*\.orig\.tar\.\(gz\|xz\|bz2\)' -exec tar xf {} \;
}

# blas: what we call of OpenBLAS, in a library libopenblas.a
blas() {
  cat >blas.c <<'END'
#include <cblas.h>
int openblas_get_parallel(void) { return OPENBLAS_SEQUENTIAL; }
void openblas_set_num_threads(int threads) { (void)threads; }
void cblas_sgemm(const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE a_turned, const enum CBLAS_TRANSPOSE b_turned,
                 const int m, const int n, const int k, const float alpha, const float *a, const int lda, const float *b,
                 const int ldb, const float beta, float *c, const int ldc)
{
    const int a_row = a_turned == CblasNoTrans ? lda : 1, a_column = a_turned == CblasNoTrans ? 1 : lda;
    const int b_row = b_turned == CblasNoTrans ? ldb : 1, b_column = b_turned == CblasNoTrans ? 1 : ldb;
    if (order != CblasRowMajor) __builtin_trap();
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++) {
            double sum = 0;
            for (long l = 0; l < k; l++) sum += (double)a[i * a_row + l * a_column] * b[l * b_row + j * b_column];
            c[i * ldc + j] = (float)(alpha * sum) + (beta == 0 ? 0 : beta * c[i * ldc + j]);
        }
}
END
  # shellcheck disable=SC2046,SC2086
  $CC $CFLAGS $(pkg-config --cflags openblas) -c blas.c
  ar rcs libopenblas.a blas.o
}

libraries() {
  export CC=clang CFLAGS="-O1 -g1 -fsanitize=memory -fPIC"
  (cd zlib-*/ && ./configure --static && make libz.a)
  (cd libyaml-*/ && cmake -B made -DBUILD_TESTING=OFF && cmake --build made)
  # no CRC by carry-less products: it reads around the ends on purpose
  (cd xz-*/ && ./configure --disable-shared --disable-assembler --disable-clmul-crc --disable-xz --disable-xzdec \
    --disable-lzmadec --disable-lzmainfo --disable-scripts --disable-doc --disable-nls && make -C src/liblzma)
  make -C zstd-*/lib ZSTD_NO_ASM=1 libzstd.a
  blas
  mkdir -p lib
  cp libopenblas.a zlib-*/libz.a libyaml-*/made/libyaml.a xz-*/src/liblzma/.libs/liblzma.a zstd-*/lib/libzstd.a lib
}

build() {
  local launcher=''
  ! command -v ccache >/dev/null || launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache
  (cd "$root" && cmake --preset fuzz -B "$folder/build" -DGANZ_SANITIZE= -DGANZ_TESTS=OFF -DGANZ_PYTHON=OFF $launcher \
    -DGANZ_BLAS_LIBRARY="$folder/lib/libopenblas.a" \
    -DCMAKE_C_FLAGS="-O1 -fsanitize=memory -fno-omit-frame-pointer -DXXH_INLINE_ALL -Wno-unused-command-line-argument" \
    -DCMAKE_EXE_LINKER_FLAGS="-Wl,--whole-archive,$(ls "$folder"/lib/*.a | paste -sd,),--no-whole-archive")
  cmake --build build --target "${@/#/fuzz_}"
}

# log FUNCTION...: with what it prints in a file; in the background, where it ends with the first command that fails
log() {
  "$@" >"$1.log" 2>&1 &
  wait $! || { tail "$1.log" >&2; echo "fuzz_memory: $1 failed; $PWD/$1.log has it all" >&2; exit 1; }
}

mkdir -p src
[ -e src/lib/libzstd.a ] || { cd src; log fetch; log libraries; cd ..; }
ln -sfn src/lib lib
log build "$@"
bad=0
for target; do
  mkdir -p "corpus/fuzz_$target"
  status=0
  GANZ_FORCE_ISA=scalar "build/fuzz/fuzz_$target" -max_total_time="$seconds" -print_final_stats=1 -timeout=60 \
    -rss_limit_mb=3000 -artifact_prefix="found-$target-" "corpus/fuzz_$target" "$root/fuzz/corpus/fuzz_$target" \
    >"$target.log" 2>&1 || status=$?
  [ $status = 0 ] || { bad=1; echo "FINDING: $target, see $folder/$target.log"; }
  echo "$target $(sed -n 's/^stat::number_of_executed_units: //p' "$target.log") executions"
done
exit $bad
