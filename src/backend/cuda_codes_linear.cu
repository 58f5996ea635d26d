/* Integer products on the GPU: int8 by int8 through the matrix units, sums in int32, and the float epilogue in the same
 * kernel, while a sum is still in a register.
 *
 * A block makes a tile of the result. Tiles of inputs and weights, 64 codes deep, come into shared memory by copies
 * that run ahead of the products; a line of 64 bytes is four pieces of 16, exchanged by its number so that neither
 * copies nor reads of eight lines meet in a bank. Sums are integers: any order gives the same. */
#include "backend/cuda_codes.cuh"

enum { DEEP = 64, PIECE = 16, PIECES = DEEP / PIECE, STAGES = 4, PLAIN_THREADS = 128, MOST_ROWS = 32768 };

typedef struct product {
    const int8_t *x, *w; /* (rows, in), (out, in) */
    int rows, in, out, x_ld, w_ld;
    const float *x_scale, *w_scale, *bias;
    bool by_row, add;
    ganz_activation activation;
    float *y; /* NULL: only codes */
    int8_t *codes;
    const float *code_scale;
    int y_ld, codes_ld, p;
    bool wide; /* eight columns of a result may be moved at a time */
} product;

/* ---- epilogue ----------------------------------------------------------------------------------- */

/* What all numbers of a thread have in common. */
typedef struct finish {
    float scale, inv; /* scale: of inputs and, where there is one for all, weights */
} finish;

static __device__ inline finish finish_of(const product &p)
{
    finish f;
    f.scale = p.by_row ? *p.x_scale : *p.x_scale * *p.w_scale;
    f.inv = p.codes != NULL ? 1 / *p.code_scale : 0.0f;
    return f;
}

/* Apart from the rest, because it would stand there for each of a thread's numbers. */
static __device__ __noinline__ float smooth_of(ganz_activation activation, float y)
{
    return activation_of(activation, y);
}

/* The same steps in the same order as epilogue_one of kernel_math.h; was: what is added to. */
static __device__ inline float finished(const product &p, const finish &f, int32_t sum, int col, float was)
{
    float y = (float)sum * (p.by_row ? f.scale * p.w_scale[col] : f.scale);
    if (p.bias != NULL) y = y + p.bias[col];
    if (p.activation == GANZ_ACTIVATION_RELU) y = activation_of(GANZ_ACTIVATION_RELU, y);
    else if (p.activation != GANZ_ACTIVATION_NONE) y = smooth_of(p.activation, y);
    return p.add ? was + y : y;
}

static __device__ inline void put_one(const product &p, const finish &f, int32_t sum, int row, int col)
{
    float *y = p.y != NULL ? p.y + (size_t)row * p.y_ld + col : NULL;
    const float value = finished(p, f, sum, col, p.add ? *y : 0.0f);
    if (y != NULL) *y = value;
    if (p.codes != NULL) p.codes[(size_t)row * p.codes_ld + col] = signed_code(value, f.inv, p.p);
}

static __device__ inline void read_eight(const float *from, float to[8])
{
    const float4 low = load4(from), high = load4(from + 4);
    to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
    to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
}

static __device__ inline uint32_t four_bytes(const int8_t b[4])
{
    return (uint32_t)(uint8_t)b[0] | (uint32_t)(uint8_t)b[1] << 8 | (uint32_t)(uint8_t)b[2] << 16 |
           (uint32_t)(uint8_t)b[3] << 24;
}

/* Eight columns of a row, all inside the result. */
static __device__ inline void put_eight(const product &p, const finish &f, const int32_t sums[8], int row, int col)
{
    float *y = p.y != NULL ? p.y + (size_t)row * p.y_ld + col : NULL;
    float value[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (p.add) read_eight(y, value);
#pragma unroll
    for (int i = 0; i < 8; i++) value[i] = finished(p, f, sums[i], col + i, value[i]);
    if (y != NULL) {
        store4(y, make_float4(value[0], value[1], value[2], value[3]));
        store4(y + 4, make_float4(value[4], value[5], value[6], value[7]));
    }
    if (p.codes == NULL) return;
    int8_t codes[8];
#pragma unroll
    for (int i = 0; i < 8; i++) codes[i] = signed_code(value[i], f.inv, p.p);
    *(uint2 *)(p.codes + (size_t)row * p.codes_ld + col) = make_uint2(four_bytes(codes), four_bytes(codes + 4));
}

/* ---- one number a thread ------------------------------------------------------------------------ */

/* For shapes that do not come in pieces of 16 codes; and the definition of the rest. */
static __global__ void plain_kernel(const product p)
{
    const int col = blockIdx.x * PLAIN_THREADS + threadIdx.x, row = blockIdx.y;
    if (col >= p.out) return;
    const int8_t *x = p.x + (size_t)row * p.x_ld, *w = p.w + (size_t)col * p.w_ld;
    int32_t sum = 0;
    for (int i = 0; i < p.in; i++) sum += (int32_t)x[i] * (int32_t)w[i];
    put_one(p, finish_of(p), sum, row, col);
}

/* ---- instructions ------------------------------------------------------------------------------- */

#ifndef GANZ_CUDA_EMULATED
/* Copies 16 bytes to shared memory in the background, or zeros where `inside` is false. */
static __device__ inline void copy_piece(void *to, const void *from, bool inside)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(inside ? 16 : 0));
}
static __device__ inline void close_group(void) { asm volatile("cp.async.commit_group;" ::); }
/* Until at most `ahead` groups of this thread's copies are under way. */
template <int AHEAD> static __device__ inline void await_groups(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD));
}
/* Four matrices of eight lines of 16 bytes; thread t names line t % 8 of matrix t / 8, and gets the four bytes t % 4 of
 * line t / 4 of each. */
static __device__ inline void read_matrices(uint32_t to[4], const void *line)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(line);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at));
}
/* sums (16 x 8) += a (16 x 32) b (32 x 8) */
static __device__ inline void multiply_matrices(int32_t sums[4], const uint32_t a[4], const uint32_t b[2])
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

/* ---- tiles -------------------------------------------------------------------------------------- */

/* A block makes ROWS x COLS numbers; each of its warps WARP_ROWS x WARP_COLS of them, from every SPLIT-th of the
 * depth. */
template <int ROWS_, int COLS_, int WARP_ROWS_, int WARP_COLS_, int SPLIT_> struct shape {
    static constexpr int ROWS = ROWS_, COLS = COLS_, WARP_ROWS = WARP_ROWS_, WARP_COLS = WARP_COLS_, SPLIT = SPLIT_;
    static constexpr int ACROSS = COLS / WARP_COLS, WARPS = ROWS / WARP_ROWS * ACROSS * SPLIT, THREADS = WARPS * WARP;
    static constexpr int HIGH = WARP_ROWS / 16, WIDE = WARP_COLS / 8; /* matrices of sums of a warp */
    static constexpr int STEP = DEEP * SPLIT;                         /* codes of depth of a stage */
    static constexpr int INPUTS = ROWS * STEP, STAGE = (ROWS + COLS) * STEP, BYTES = STAGE * STAGES;
};

/* Where a piece of a line lies in a part of 64 codes. */
static __device__ inline int piece_at(int line, int piece)
{
    return line * DEEP + ((piece ^ (line >> 1) ^ (line >> 3)) & 3) * PIECE;
}

/* One side of a product: codes (rows, in), of which a block works on lines from `first` on. */
typedef struct side {
    const int8_t *codes;
    int ld, rows, in, first;
} side;

/* LINES lines, from `depth` on, into parts of 64 codes each. */
template <typename S, int LINES> static __device__ inline void copy_lines(int8_t *to, const side &from, int depth)
{
#pragma unroll
    for (int i = threadIdx.x; i < LINES * PIECES * S::SPLIT; i += S::THREADS) {
        const int piece = i % PIECES, line = i / PIECES % LINES, part = i / PIECES / LINES;
        const int at = depth + part * DEEP + piece * PIECE;
        const bool inside = from.first + line < from.rows && at < from.in;
        copy_piece(to + part * LINES * DEEP + piece_at(line, piece),
                   inside ? from.codes + (size_t)(from.first + line) * from.ld + at : from.codes, inside);
    }
}

template <typename S> static __device__ inline void copy_stage(const product &p, int8_t *stage, int depth)
{
    const side inputs = {p.x, p.x_ld, p.rows, p.in, (int)blockIdx.y * S::ROWS};
    const side weights = {p.w, p.w_ld, p.out, p.in, (int)blockIdx.x * S::COLS};
    copy_lines<S, S::ROWS>(stage, inputs, depth);
    copy_lines<S, S::COLS>(stage + S::INPUTS, weights, depth);
}

/* One stage of a warp. In a group of 32 columns, number 2 t + i of matrix j is column 8 t + 2 j + i, so that a thread
 * ends up with eight columns side by side. */
template <typename S>
static __device__ inline void multiply_stage(const int8_t *inputs, const int8_t *weights, int32_t sums[][S::WIDE][4])
{
    const int lane = threadIdx.x % WARP, line = lane % 8, matrix = lane / 8;
#pragma unroll
    for (int half = 0; half < DEEP / 32; half++) {
        uint32_t a[S::HIGH][4], b[S::WIDE][2];
#pragma unroll
        for (int i = 0; i < S::HIGH; i++)
            read_matrices(a[i], inputs + piece_at(16 * i + line + 8 * (matrix & 1), 2 * half + matrix / 2));
#pragma unroll
        for (int j = 0; j < S::WIDE; j += 2) {
            const int place = j % 4 + matrix / 2, column = j / 4 * 32 + line / 2 * 8 + place * 2 + line % 2;
            uint32_t both[4];
            read_matrices(both, weights + piece_at(column, 2 * half + matrix % 2));
            b[j][0] = both[0], b[j][1] = both[1], b[j + 1][0] = both[2], b[j + 1][1] = both[3];
        }
#pragma unroll
        for (int i = 0; i < S::HIGH; i++)
#pragma unroll
            for (int j = 0; j < S::WIDE; j++) multiply_matrices(sums[i][j], a[i], b[j]);
    }
}

/* Sums of the warps that share a tile go to the first of them. False: this is another one. */
template <typename S> static __device__ inline bool gather_sums(int32_t *room, int split, int32_t sums[][S::WIDE][4])
{
    if (S::SPLIT == 1) return true;
    constexpr int EACH = S::HIGH * S::WIDE * 4;
    int32_t *flat = &sums[0][0][0];
    const int place = threadIdx.x % (S::THREADS / S::SPLIT), stride = S::THREADS / S::SPLIT;
    __syncthreads(); /* the tiles have been read */
    if (split > 0)
#pragma unroll
        for (int i = 0; i < EACH; i++) room[((split - 1) * EACH + i) * stride + place] = flat[i];
    __syncthreads();
    if (split > 0) return false;
#pragma unroll
    for (int other = 0; other + 1 < S::SPLIT; other++)
#pragma unroll
        for (int i = 0; i < EACH; i++) flat[i] += room[(other * EACH + i) * stride + place];
    return true;
}

/* The sums of a warp through the epilogue; row, col: of its first. */
template <typename S>
static __device__ inline void put_sums(const product &p, int row, int col, const int32_t sums[][S::WIDE][4])
{
    const int lane = threadIdx.x % WARP;
    const finish f = finish_of(p);
#pragma unroll
    for (int i = 0; i < 2 * S::HIGH; i++) {
        const int at = row + 8 * i + lane / 4;
        if (at >= p.rows) continue;
#pragma unroll
        for (int j = 0; j < S::WIDE; j += 4) {
            const int first = col + j * 8 + lane % 4 * 8;
            int32_t eight[8];
#pragma unroll
            for (int k = 0; k < 8; k++) eight[k] = sums[i / 2][j + k / 2][i % 2 * 2 + k % 2];
            if (p.wide && first + 8 <= p.out) {
                put_eight(p, f, eight, at, first);
                continue;
            }
#pragma unroll
            for (int k = 0; k < 8; k++)
                if (first + k < p.out) put_one(p, f, eight[k], at, first + k);
        }
    }
}

template <typename S> static __global__ void __launch_bounds__(S::THREADS) tile_kernel(const product p)
{
    extern __shared__ int4 room[];
    int8_t *stages = (int8_t *)room;
    const int warp = threadIdx.x / WARP, split = warp / (S::WARPS / S::SPLIT), place = warp % (S::WARPS / S::SPLIT);
    const int row = place / S::ACROSS * S::WARP_ROWS, col = place % S::ACROSS * S::WARP_COLS;
    const int steps = (p.in + S::STEP - 1) / S::STEP;
    int32_t sums[S::HIGH][S::WIDE][4];
#pragma unroll
    for (int i = 0; i < S::HIGH * S::WIDE * 4; i++) (&sums[0][0][0])[i] = 0;
    for (int ahead = 0; ahead < STAGES - 1; ahead++) {
        if (ahead < steps) copy_stage<S>(p, stages + ahead * S::STAGE, ahead * S::STEP);
        close_group();
    }
    for (int step = 0; step < steps; step++) {
        const int next = step + STAGES - 1;
        await_groups<STAGES - 2>();
        __syncthreads(); /* the copies of all threads are there, and the stage before has been read */
        if (next < steps) copy_stage<S>(p, stages + next % STAGES * S::STAGE, next * S::STEP);
        close_group();
        const int8_t *stage = stages + step % STAGES * S::STAGE;
        multiply_stage<S>(stage + split * S::ROWS * DEEP + row * DEEP,
                          stage + S::INPUTS + split * S::COLS * DEEP + col * DEEP, sums);
    }
    await_groups<0>();
    if (gather_sums<S>((int32_t *)room, split, sums))
        put_sums<S>(p, blockIdx.y * S::ROWS + row, blockIdx.x * S::COLS + col, sums);
}

/* ---- the call ----------------------------------------------------------------------------------- */

typedef shape<128, 128, 64, 64, 1> large_tile;
typedef shape<64, 64, 32, 32, 1> middle_tile;
typedef shape<16, 32, 16, 32, 4> small_tile;

template <typename S> static int64_t tiles_of(const product *p)
{
    return (int64_t)ganz_cuda_blocks(p->rows, S::ROWS) * ganz_cuda_blocks(p->out, S::COLS);
}

template <typename S> static void multiply_tiles(ganz_cuda *c, const product *p)
{
    const dim3 grid(ganz_cuda_blocks(p->out, S::COLS), ganz_cuda_blocks(p->rows, S::ROWS));
    if (S::BYTES > 48 * 1024)
        (void)cudaFuncSetAttribute(tile_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::BYTES);
    tile_kernel<S><<<grid, S::THREADS, S::BYTES, c->stream>>>(*p);
}

/* Large tiles need the least of shared memory's speed; smaller ones keep all processors busy. */
static void multiply(ganz_cuda *c, const product *p)
{
    if (p->in % PIECE != 0 || p->x_ld % PIECE != 0 || (size_t)p->x % PIECE != 0) {
        const dim3 grid(ganz_cuda_blocks(p->out, PLAIN_THREADS), p->rows);
        plain_kernel<<<grid, PLAIN_THREADS, 0, c->stream>>>(*p);
    } else if (tiles_of<large_tile>(p) >= c->processors) {
        multiply_tiles<large_tile>(c, p);
    } else if (2 * tiles_of<middle_tile>(p) >= c->processors) {
        multiply_tiles<middle_tile>(c, p);
    } else {
        multiply_tiles<small_tile>(c, p);
    }
}

static product product_of(const ganz_linear_call *call)
{
    product p;
    p.x = (const int8_t *)call->x.m.data;
    p.w = (const int8_t *)call->packed;
    p.rows = call->rows;
    p.in = call->in;
    p.out = call->out;
    p.x_ld = call->x.m.ld;
    p.w_ld = ganz_cuda_weight_ld(call->in);
    p.x_scale = call->x.scale;
    p.w_scale = call->w.scale;
    p.bias = call->bias;
    p.by_row = call->w_by_row;
    p.add = call->add;
    p.activation = call->activation;
    p.y = (float *)call->y.data;
    p.y_ld = call->y.ld;
    p.codes = (int8_t *)call->codes.m.data;
    p.codes_ld = call->codes.m.ld;
    p.code_scale = call->codes.scale;
    p.p = call->codes.p;
    const size_t values = (size_t)p.y | (size_t)p.y_ld * sizeof(float), codes = (size_t)p.codes | (size_t)p.codes_ld;
    p.wide = (p.y == NULL || values % 16 == 0) && (p.codes == NULL || codes % 8 == 0);
    return p;
}

void ganz_cuda_linear_codes(ganz_backend *be, const ganz_linear_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    if (call->x.m.type != GANZ_S8 || call->largest != NULL || call->drop.mask != NULL || call->before.data != NULL) {
        ganz_cuda_fail(c, "integer product", "such a call is for the CPU only");
        return;
    }
    const product p = product_of(call);
    for (int first = 0; first < call->rows; first += MOST_ROWS) {
        product part = p;
        part.rows = ganz_cuda_min(MOST_ROWS, call->rows - first);
        part.x += (size_t)first * p.x_ld;
        if (p.y != NULL) part.y += (size_t)first * p.y_ld;
        if (p.codes != NULL) part.codes += (size_t)first * p.codes_ld;
        multiply(c, &part);
    }
    ganz_cuda_launched(c, "integer product");
}
