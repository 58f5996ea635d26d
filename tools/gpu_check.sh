#!/bin/bash
# gpu_check.sh [build|test|bench|sanitize|all] [DIR]: builds what the CUDA backend needs and nothing else, straight with
# nvcc and gcc (no cmake, no cmocka, none of the libraries that files and text need), runs test_cuda and times training
# steps. Logs go to $OUT (or DIR/logs). For machines with a GPU and little else.
set -u
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 0 2 "$@"
cd "$(dirname "$0")/.." || exit 1
what=${1:-all} dir=${2:-build/gpu}
logs=${OUT:-$dir/logs}
mkdir -p "$dir" "$logs"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
arch=${GANZ_CUDA_ARCH:-90}
cuda_lib=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/lib64

cc_flags="-std=c11 -O3 -g -ffp-contract=off -fno-trapping-math -fno-math-errno -D_XOPEN_SOURCE=700 -DGANZ_VERSION=\"gpu\" -Iinclude -Isrc -Itests -I$dir"

# OpenBLAS wherever it lies; without one, plain loops do for the tests.
find_blas() {
  local header library
  header=$(grep -l openblas_set_num_threads $(find /usr/include /usr/local/include /opt -name cblas.h 2>/dev/null) \
    2>/dev/null | head -1)
  library=$(find /usr/lib /usr/local/lib /opt -name 'libopenblas.so*' 2>/dev/null | head -1)
  if [ -n "$header" ] && [ -n "$library" ]; then
    blas="$library -Wl,-rpath,$(dirname "$library")"
    echo \
      'char cblas_sgemm(), openblas_set_num_threads(); int main(void) { return cblas_sgemm() + openblas_set_num_threads(); }' \
      | gcc -w -x c - -x none $blas -o "$dir/blas_there" 2>/dev/null &&
        { cc_flags="$cc_flags -I$(dirname "$header")"; return; }
  fi
  echo "gpu_check: no OpenBLAS here; plain loops stand in for it"
  cat >"$dir/cblas.h" <<'END'
typedef enum { CblasRowMajor = 101 } CBLAS_ORDER;
typedef enum { CblasNoTrans = 111, CblasTrans = 112 } CBLAS_TRANSPOSE;
void cblas_sgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
enum { OPENBLAS_SEQUENTIAL = 0 };
static inline int openblas_get_parallel(void) { return 1; }
static inline void openblas_set_num_threads(int threads) { (void)threads; }
END
  cat >"$dir/cblas.c" <<'END'
#include <stddef.h>
#include "cblas.h"
void cblas_sgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    (void)order;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += (double)a[ta == CblasTrans ? (size_t)l * lda + i : (size_t)i * lda + l] *
                       (double)b[tb == CblasTrans ? (size_t)j * ldb + l : (size_t)l * ldb + j];
            float *to = c + (size_t)i * ldc + j;
            *to = (float)(alpha * sum) + (beta == 0 ? 0 : beta * *to);
        }
}
END
  gcc -O3 -c "$dir/cblas.c" -o "$dir/own_cblas.o" || return 1
  blas=$dir/own_cblas.o
}

isa_flags() {
  case $1 in
    *_avx2.c) echo -mavx2 ;;
    *_avx_vnni.c) echo -mavx2 -mavxvnni ;;
    *_avx512_vnni.c) echo -mavx2 -mavx512f -mavx512bw -mavx512vl -mavx512vnni ;;
    *_amx.c) echo -mamx-tile -mamx-int8 ;;
  esac
}

# Integer translation has the CPU's bits: nothing is contracted there.
exact_flags() {
  case $1 in
    *cuda_codes_wide.cu) echo --fmad=false -gencode arch=compute_90a,code=sm_90a ;;
    *cuda_codes*.cu | *cuda_topk.cu) echo --fmad=false ;;
  esac
}

build() {
  local failed=0 jobs=() file object
  find_blas || return 1
  rm -f "$dir"/cuda_*.o
  for file in src/backend/cuda_*.cu; do
    object=$dir/$(basename "$file" .cu).o
    "$nvcc" -std=c++17 -O3 $(exact_flags "$file") -gencode "arch=compute_$arch,code=sm_$arch" -lineinfo -Xcompiler \
      -Wall,-Wextra,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics \
      -Iinclude -Isrc -c "$file" -o "$object" 2>"$object.log" &
    jobs+=($!)
  done
  local kernels nn
  kernels=$(ls src/kernel/*.c | grep -v neon)
  nn=$(ls src/nn/*.c)
  for file in src/base/{alloc,arena,error,rng,surroundings,thread}.c $kernels src/backend/cpu_*.c $nn tests/test_cuda.c \
    tests/backend_*.c \
              bench/bench_backend.c; do
    object=$dir/$(basename "$file" .c).o
    gcc $cc_flags $(isa_flags "$file") -c "$file" -o "$object" 2>"$object.log" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job" || failed=1; done
  if [ $failed = 1 ]; then cat "$dir"/*.o.log; echo "gpu_check: does not compile"; return 1; fi
  local shared="" network=""
  for file in src/base/{alloc,arena,error,rng,surroundings,thread}.c $kernels src/backend/cpu_*.c src/backend/cuda_*.cu; do
    file=$(basename "$file")
    shared="$shared $dir/${file%.*}.o"
  done
  for file in $nn; do network="$network $dir/$(basename "$file" .c).o"; done
  local links="-L$cuda_lib -lcudart_static -lpthread -ldl -lrt -lm -Wl,-rpath,$cuda_lib"
  gcc -o "$dir/test_cuda" "$dir/test_cuda.o" "$dir"/backend_*.o $shared $blas $links 2>"$dir/link.log" ||
    { head -20 "$dir/link.log"; return 1; }
  gcc -o "$dir/bench_backend" "$dir/bench_backend.o" $network $shared $blas $links || return 1
  echo "gpu_check: built"
}

run_tests() {
  local rc=0 precision
  for precision in fp32 tf32 bf16; do
    timeout 240 "$dir/test_cuda" --verbose $precision >"$logs/test_$precision.log" 2>&1
    local this=$?
    [ $this = 0 ] || { rc=1; echo "test_cuda $precision: status $this"; }
    grep -E 'FAILED|so far|skipped' "$logs/test_$precision.log" | head -40
  done
  return $rc
}

run_bench() {
  : >"$logs/bench.log"
  bench() { timeout 200 "$dir/bench_backend" "$@" 2>&1 | tee -a "$logs/bench.log"; }
  bench --model small --fake --profile
  bench --model base --fake --steps 10 --profile
  bench --model base --profile
  bench --model base --chunk 16384 --steps 30
  bench --model big --memory 100 --steps 10 --profile
  bench --model base --precision tf32 --steps 5
  bench --model base --precision fp32 --steps 3
}

status=0
case $what in
  build) build || status=1 ;;
  test) run_tests || status=1 ;;
  bench) run_bench || status=1 ;;
  sanitize) # memory errors and races, where compute-sanitizer works
    for tool in memcheck racecheck; do
      timeout 280 compute-sanitizer --tool $tool "$dir/test_cuda" bf16 >"$logs/$tool.log" 2>&1
      tail -3 "$logs/$tool.log"
    done ;;
  all) if build; then run_tests || status=1; run_bench || status=1; else status=1; fi ;;
  *) refuse "it is build, test, bench, sanitize or all, not $what" ;;
esac
exit $status
