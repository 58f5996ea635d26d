/* Integer products of many rows on Hopper: its matrix units read both sides from shared memory, four warps at a time,
 * and are several times as fast as those that every GPU has.
 *
 * A block makes 128 x 128 numbers; each of its two groups of four warps 64 rows of them. A line of 128 codes is eight
 * pieces of 16, exchanged by its number as these units expect it. Needs the instructions of sm_90a: cuda.cmake compiles
 * this file for it too, and everywhere else the kernel is never launched. */
#include "backend/cuda_codes_product.cuh"

enum { DEEP = 128, PIECES = DEEP / PIECE, STAGES = 3, LEAST_ROWS = 200, ALIGN = 1024 };

/* As the tiles of cuda_codes_linear.cu, for the epilogue. */
struct wide_tile {
    static constexpr int ROWS = 128, COLS = 128, THREADS = 256, SPLIT = 1, SUMS_LD = COLS + 8, SUMS = ROWS * SUMS_LD;
    static constexpr int SIDE = ROWS * DEEP, STAGE = 2 * SIDE, BYTES = STAGE * STAGES + ALIGN;
};

/* ---- instructions ------------------------------------------------------------------------------- */

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/* Lines of 128 bytes, eight after another, exchanged by their number. */
static __device__ inline uint64_t describe(const int8_t *tile)
{
    const uint64_t at = (uint64_t)((uint32_t)__cvta_generic_to_shared(tile) & 0x3ffff) >> 4;
    return at | (uint64_t)1 << 16 | (uint64_t)(8 * DEEP >> 4) << 32 | (uint64_t)1 << 62;
}

/* d (64 x 128) += a (64 x 32) b (32 x 128), or = where `add` is 0. */
static __device__ inline void multiply_group(int32_t d[64], uint64_t a, uint64_t b, int add)
{
    asm volatile(
        "{.reg .pred p;\n"
        "setp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p;}\n"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
          "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
          "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
          "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]),
          "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]),
          "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
          "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]),
          "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
        : "l"(a), "l"(b), "r"(add));
}
/* ---- tiles -------------------------------------------------------------------------------------- */

/* One side of a stage: lines from `first` on, of `rows`, from `depth` on. */
typedef struct side {
    const int8_t *codes;
    int ld, rows, in, first;
} side;

static __device__ inline void copy_side(int8_t *to, const side &from, int depth)
{
#pragma unroll
    for (int i = threadIdx.x; i < wide_tile::ROWS * PIECES; i += wide_tile::THREADS) {
        const int piece = i % PIECES, line = i / PIECES, at = depth + piece * PIECE;
        const bool inside = from.first + line < from.rows && at < from.in;
        copy_piece(to + line * DEEP + (piece ^ (line & 7)) * PIECE,
                   inside ? from.codes + (size_t)(from.first + line) * from.ld + at : from.codes, inside);
    }
}

/* The sums of a thread into shared memory: of each eight columns two, of two rows. */
static __device__ inline void keep_sums(int32_t *room, const int32_t d[64])
{
    const int lane = threadIdx.x % WARP, row = threadIdx.x / WARP * 16 + lane / 4;
    int32_t *to = room + row * wide_tile::SUMS_LD + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 16; j++) {
        *(int2 *)(to + 8 * j) = make_int2(d[4 * j], d[4 * j + 1]);
        *(int2 *)(to + 8 * wide_tile::SUMS_LD + 8 * j) = make_int2(d[4 * j + 2], d[4 * j + 3]);
    }
}

#endif

template <typename ALL> static __global__ void __launch_bounds__(wide_tile::THREADS, 2) wide_kernel(const ALL all)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ int4 room[];
    const auto &p = all.list[blockIdx.z];
    const uint32_t start = (uint32_t)__cvta_generic_to_shared(room), over = start % ALIGN;
    int8_t *stages = (int8_t *)room + (over > 0 ? ALIGN - over : 0);
    const side inputs = {p.x, p.x_ld, p.rows, p.in, (int)blockIdx.y * wide_tile::ROWS};
    const side weights = {p.w, p.w_ld, p.out, p.in, (int)blockIdx.x * wide_tile::COLS};
    const int steps = (p.in + DEEP - 1) / DEEP, group = threadIdx.x / (4 * WARP);
    let_next_begin();
#pragma unroll 1
    for (int ahead = 0; ahead < STAGES - 1 && ahead < steps; ahead++)
        copy_side(stages + ahead * wide_tile::STAGE + wide_tile::SIDE, weights, ahead * DEEP);
    const four_columns f = columns_of(p, blockIdx.x * wide_tile::COLS + threadIdx.x % (wide_tile::COLS / 4) * 4);
    await_before();
#pragma unroll 1
    for (int ahead = 0; ahead < STAGES - 1; ahead++) {
        if (ahead < steps) copy_side(stages + ahead * wide_tile::STAGE, inputs, ahead * DEEP);
        close_group();
    }
    int32_t d[64];
#pragma unroll
    for (int i = 0; i < 64; i++) d[i] = 0;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const int next = step + STAGES - 1;
        await_groups<STAGES - 2>();
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* what was copied is read by other ways */
        __syncthreads(); /* all copies are there, and the stage before has been multiplied */
        if (next < steps) {
            copy_side(stages + next % STAGES * wide_tile::STAGE, inputs, next * DEEP);
            copy_side(stages + next % STAGES * wide_tile::STAGE + wide_tile::SIDE, weights, next * DEEP);
        }
        close_group();
        const int8_t *stage = stages + step % STAGES * wide_tile::STAGE;
        const uint64_t a = describe(stage + group * 64 * DEEP), b = describe(stage + wide_tile::SIDE);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < DEEP / 32; k++) multiply_group(d, a + 2 * k, b + 2 * k, 1);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    await_groups<0>();
    __syncthreads(); /* the tiles have been read */
    keep_sums((int32_t *)stages, d);
    __syncthreads();
    finish_tile<wide_tile>(p, f, (const int32_t *)stages);
#else
    (void)all;
    __trap();
#endif
}

/* Code for sm_90a runs on no later GPU. */
static bool is_hopper(const ganz_cuda *c)
{
    int major = 0;
    return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, c->device) == cudaSuccess && major == 9;
}

template <typename ALL> static bool multiply_wide(ganz_cuda *c, const ALL *all)
{
    const product *p = &all->list[0];
    if (p->rows < LEAST_ROWS || !is_hopper(c)) return false;
    const dim3 grid(ganz_cuda_blocks(p->out, wide_tile::COLS), ganz_cuda_blocks(p->rows, wide_tile::ROWS), all->count);
    (void)cudaFuncSetAttribute(wide_kernel<ALL>, cudaFuncAttributeMaxDynamicSharedMemorySize, wide_tile::BYTES);
    launch(c, {grid, wide_tile::THREADS, wide_tile::BYTES, runs_in_turn(all)}, wide_kernel<ALL>, *all);
    return true;
}

bool ganz_cuda_multiply_wide(ganz_cuda *c, const ganz_cuda_products *all) { return multiply_wide(c, all); }
bool ganz_cuda_multiply_wide(ganz_cuda *c, const ganz_cuda_lessons *all) { return multiply_wide(c, all); }
