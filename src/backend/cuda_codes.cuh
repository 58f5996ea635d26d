/* Shared by the files of integer translation on the GPU: the arithmetic of kernel/kernel_math.h, number by number, and
 * its sums of eight lanes. Files that include this are compiled without contraction of products and sums (cuda.cmake),
 * so that they give the bits of every CPU. */
#ifndef GANZ_BACKEND_CUDA_CODES_CUH
#define GANZ_BACKEND_CUDA_CODES_CUH

#include "backend/cuda_common.cuh"

extern "C" {
#include "kernel/kernel_math.h"
}

enum { LANES = 8, WEIGHT_STEP = 64 /* rows of packed weights are padded to so many codes */ };

/* Packed weights are codes (out, in) with rows of this many bytes, those beyond `in` zero. */
static __host__ __device__ inline int ganz_cuda_weight_ld(int in)
{
    return (in + WEIGHT_STEP - 1) / WEIGHT_STEP * WEIGHT_STEP;
}

/* ---- one kernel after another ------------------------------------------------------------------- */

/* Kernels of integer translation are short: each may be set up while the one before still runs. It has to call
 * await_before before it reads or writes what others do; weights and scales never change. */
static __device__ inline void let_next_begin(void)
{
#if !defined(GANZ_CUDA_IN_TURN) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
static __device__ inline void await_before(void)
{
#if !defined(GANZ_CUDA_IN_TURN) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

typedef struct launch_shape {
    dim3 grid;
    int threads;
    size_t shared;
    bool in_turn = false; /* starts when the one before has ended: it reads what others write from its beginning on */
} launch_shape;

template <typename... P, typename... A>
static void launch(ganz_cuda *c, const launch_shape &shape, void (*kernel)(P...), const A &...arguments)
{
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = shape.grid;
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared;
    config.stream = c->stream;
#ifndef GANZ_CUDA_IN_TURN
    config.attrs = &early;
    config.numAttrs = c->early && !shape.in_turn ? 1 : 0;
#endif
    (void)cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* ---- arithmetic --------------------------------------------------------------------------------- */

/* A thread's sum of the elements l, l + 8, ... of its row, l = threadIdx.x % 8; all eight threads get the whole: they
 * add ((0+4) + (2+6)) + ((1+5) + (3+7)). */
static __device__ inline float join_eight(float sum)
{
    sum = sum + __shfl_xor_sync(0xffffffffu, sum, 4);
    sum = sum + __shfl_xor_sync(0xffffffffu, sum, 2);
    return sum + __shfl_xor_sync(0xffffffffu, sum, 1);
}

/* Where element i of a row lies in shared memory, so that a lane reads four of its own at once: groups of 32, lane by
 * lane, and a bit apart, so that writers of rows meet in no bank. */
enum { GROUP = 32, GROUP_ROOM = GROUP + 4 };
static __device__ inline int place_of(int i) { return i / GROUP * GROUP_ROOM + i % LANES * 4 + i / LANES % 4; }

/* Codes of a value: clamp(rint(y * inv), -p, p). */
static __device__ inline int8_t signed_code(float y, float inv, int p)
{
    return (int8_t)code_of(y * inv, -(float)p, (float)p);
}

#endif
