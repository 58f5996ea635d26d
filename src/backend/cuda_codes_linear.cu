/* Integer products on the GPU: int8 by int8 through the matrix units, sums in int32, and the float epilogue in the same
 * kernel.
 *
 * A block makes a tile of the result. Tiles of inputs and weights, 64 codes deep, come into shared memory by copies
 * that run ahead of the products; a line of 64 bytes is four pieces of 16, exchanged by its number so that neither
 * copies nor reads of eight lines meet in a bank. Sums are integers: any order gives the same. They go to shared memory
 * and from there through the epilogue in a short loop, each thread with columns of its own: written out for each number
 * that a thread holds, the epilogue took longer to be fetched than the product to be made.
 *
 * Products of the same inputs that follow each other (queries, keys, values) wait for the next call of another kind and
 * run in one launch. */
#include "backend/cuda_codes_product.cuh"

enum { DEEP = 64, PIECES = DEEP / PIECE, STAGES = 4, PLAIN_THREADS = 128, MOST_ROWS = 32768, LOGITS = 4096 };

/* ---- one number a thread ------------------------------------------------------------------------ */

/* For shapes that do not come in pieces of 16 codes; and the definition of the rest. */
static __global__ void plain_kernel(const product p)
{
    let_next_begin();
    await_before();
    const int col = blockIdx.x * PLAIN_THREADS + threadIdx.x, row = blockIdx.y;
    if (col >= p.out) return;
    const int8_t *x = p.x + (size_t)row * p.x_ld, *w = p.w + (size_t)col * p.w_ld;
    int32_t sum = 0;
    for (int i = 0; i < p.in; i++) sum += (int32_t)x[i] * (int32_t)w[i];
    put_one(p, finished(p, sum, scale_of(p, col), p.bias != NULL ? p.bias[col] : 0.0f), code_inv(p), row, col);
}

/* ---- instructions ------------------------------------------------------------------------------- */

#ifndef GANZ_CUDA_EMULATED
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
    static constexpr int INPUTS = ROWS * STEP, STAGE = (ROWS + COLS) * STEP;
    /* Sums in shared memory, a bit apart so that neither writers nor readers meet in a bank. */
    static constexpr int SUMS_LD = COLS + 4, SUMS = ROWS * SUMS_LD, SUMS_BYTES = SUMS * SPLIT * 4;
    static constexpr int BYTES = STAGE * STAGES > SUMS_BYTES ? STAGE *STAGES : SUMS_BYTES;
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

template <typename S> static __device__ inline void copy_inputs(const product &p, int8_t *stage, int depth)
{
    const side inputs = {p.x, p.x_ld, p.rows, p.in, (int)blockIdx.y * S::ROWS};
    copy_lines<S, S::ROWS>(stage, inputs, depth);
}

template <typename S> static __device__ inline void copy_weights(const product &p, int8_t *stage, int depth)
{
    const side weights = {p.w, p.w_ld, p.out, p.in, (int)blockIdx.x * S::COLS};
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

/* The sums of a warp into shared memory; row, col: of its first in the tile. */
template <typename S>
static __device__ inline void keep_sums(int32_t *room, int row, int col, const int32_t sums[][S::WIDE][4])
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < 2 * S::HIGH; i++) {
#pragma unroll
        for (int j = 0; j < S::WIDE; j += 4) {
            int32_t *to = room + (row + 8 * i + lane / 4) * S::SUMS_LD + col + j * 8 + lane % 4 * 8;
            const int k = i % 2 * 2;
            *(int4 *)to =
                make_int4(sums[i / 2][j][k], sums[i / 2][j][k + 1], sums[i / 2][j + 1][k], sums[i / 2][j + 1][k + 1]);
            *(int4 *)(to + 4) = make_int4(sums[i / 2][j + 2][k], sums[i / 2][j + 2][k + 1], sums[i / 2][j + 3][k],
                                          sums[i / 2][j + 3][k + 1]);
        }
    }
}

template <typename S, typename ALL> static __global__ void __launch_bounds__(S::THREADS) tile_kernel(const ALL all)
{
    extern __shared__ int4 room[];
    const auto &p = all.list[blockIdx.z];
    int8_t *stages = (int8_t *)room;
    const int warp = threadIdx.x / WARP, split = warp / (S::WARPS / S::SPLIT), place = warp % (S::WARPS / S::SPLIT);
    const int row = place / S::ACROSS * S::WARP_ROWS, col = place % S::ACROSS * S::WARP_COLS;
    const int steps = (p.in + S::STEP - 1) / S::STEP;
    int32_t sums[S::HIGH][S::WIDE][4];
#pragma unroll
    for (int i = 0; i < S::HIGH * S::WIDE * 4; i++) (&sums[0][0][0])[i] = 0;
    let_next_begin();
#pragma unroll 1
    for (int ahead = 0; ahead < STAGES - 1 && ahead < steps; ahead++)
        copy_weights<S>(p, stages + ahead * S::STAGE, ahead * S::STEP);
    const four_columns f = columns_of(p, blockIdx.x * S::COLS + threadIdx.x % (S::COLS / 4) * 4);
    await_before();
#pragma unroll 1
    for (int ahead = 0; ahead < STAGES - 1; ahead++) {
        if (ahead < steps) copy_inputs<S>(p, stages + ahead * S::STAGE, ahead * S::STEP);
        close_group();
    }
    for (int step = 0; step < steps; step++) {
        const int next = step + STAGES - 1;
        await_groups<STAGES - 2>();
        __syncthreads(); /* the copies of all threads are there, and the stage before has been read */
        if (next < steps) {
            copy_inputs<S>(p, stages + next % STAGES * S::STAGE, next * S::STEP);
            copy_weights<S>(p, stages + next % STAGES * S::STAGE, next * S::STEP);
        }
        close_group();
        const int8_t *stage = stages + step % STAGES * S::STAGE;
        multiply_stage<S>(stage + split * S::ROWS * DEEP + row * DEEP,
                          stage + S::INPUTS + split * S::COLS * DEEP + col * DEEP, sums);
    }
    await_groups<0>();
    __syncthreads(); /* the tiles have been read */
    keep_sums<S>((int32_t *)room + split * S::SUMS, row, col, sums);
    __syncthreads();
    finish_tile<S>(p, f, (const int32_t *)room);
}

/* ---- a launch ----------------------------------------------------------------------------------- */

typedef shape<128, 128, 64, 64, 1> large_tile;
typedef shape<64, 64, 32, 32, 1> middle_tile;
typedef shape<16, 32, 16, 32, 4> small_tile;
typedef shape<16, 32, 16, 32, 8> deep_tile;

template <typename S, typename ALL> static int64_t tiles_of(const ALL *all)
{
    const product *p = &all->list[0];
    return (int64_t)ganz_cuda_blocks(p->rows, S::ROWS) * ganz_cuda_blocks(p->out, S::COLS) * all->count;
}

template <typename S, typename ALL> static void multiply_tiles(ganz_cuda *c, const ALL *all)
{
    const product *p = &all->list[0];
    const dim3 grid(ganz_cuda_blocks(p->out, S::COLS), ganz_cuda_blocks(p->rows, S::ROWS), all->count);
    if (S::BYTES > 48 * 1024)
        (void)cudaFuncSetAttribute(tile_kernel<S, ALL>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::BYTES);
    launch(c, {grid, S::THREADS, S::BYTES, runs_in_turn(all)}, tile_kernel<S, ALL>, *all);
}

static bool in_pieces(const product *p)
{
    return p->in % PIECE == 0 && p->x_ld % PIECE == 0 && (size_t)p->x % PIECE == 0;
}

/* Large tiles need the least of shared memory's speed; smaller ones keep all processors busy. Few rows wait for weights
 * alone: the more warps ask for them, the better. */
static void multiply(ganz_cuda *c, const ganz_cuda_products *all)
{
    if (!in_pieces(&all->list[0])) {
        const dim3 grid(ganz_cuda_blocks(all->list[0].out, PLAIN_THREADS), all->list[0].rows);
        for (int i = 0; i < all->count; i++) launch(c, {grid, PLAIN_THREADS, 0}, plain_kernel, all->list[i]);
    } else if (all->list[0].rows <= deep_tile::ROWS && 2 * tiles_of<deep_tile>(all) < c->processors) {
        multiply_tiles<deep_tile>(c, all);
    } else if (all->list[0].rows <= small_tile::ROWS) {
        multiply_tiles<small_tile>(c, all);
    } else if (ganz_cuda_multiply_wide(c, all)) {
    } else if (all->list[0].rows > middle_tile::ROWS && tiles_of<large_tile>(all) >= c->processors) {
        multiply_tiles<large_tile>(c, all);
    } else if (2 * tiles_of<middle_tile>(all) >= c->processors) {
        multiply_tiles<middle_tile>(c, all);
    } else {
        multiply_tiles<small_tile>(c, all);
    }
    ganz_cuda_launched(c, "integer product");
}

void ganz_cuda_multiply_lessons(ganz_cuda *c, const ganz_cuda_lessons *all)
{
    if (ganz_cuda_multiply_wide(c, all)) {
    } else if (all->list[0].rows > middle_tile::ROWS && tiles_of<large_tile>(all) >= c->processors) {
        multiply_tiles<large_tile>(c, all);
    } else {
        multiply_tiles<middle_tile>(c, all);
    }
    ganz_cuda_launched(c, "integer product");
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
    p.code_first = call->codes.first;
    p.p = call->codes.p;
    const size_t values = (size_t)p.y | (size_t)p.y_ld * sizeof(float), codes = (size_t)p.codes | (size_t)p.codes_ld;
    p.wide = (p.y == NULL || values % 16 == 0) && (p.codes == NULL || codes % 4 == 0);
    p.maxima = NULL;
    return p;
}

/* ---- waiting ------------------------------------------------------------------------------------ */

void ganz_cuda_flush(ganz_cuda *c)
{
    ganz_cuda_products *all = c->waiting;
    ganz_cuda_lessons *lessons = c->lessons;
    if (all != NULL && all->count > 0) multiply(c, all);
    if (lessons != NULL && lessons->count > 0) ganz_cuda_multiply_lessons(c, lessons);
    if (all != NULL) all->count = 0;
    if (lessons != NULL) lessons->count = 0;
    c->waits = false;
}

void ganz_cuda_products_free(ganz_cuda *c)
{
    ganz_free(c->waiting);
    ganz_free(c->lessons);
    c->waiting = NULL;
    c->lessons = NULL;
}

/* Whether a product may run beside those that wait: same inputs and shape, and none reads what another writes. */
static bool fits(const ganz_cuda_products *all, const product *p)
{
    const product *first = &all->list[0];
    return all->count > 0 && all->count < TOGETHER && p->x == first->x && p->x_ld == first->x_ld &&
           p->rows == first->rows && p->in == first->in && p->out == first->out && !p->add && !first->add;
}

/* Starts those that wait, if this one does not fit; it then waits itself. */
static void await_more(ganz_cuda *c, const product *p)
{
    if (c->waiting == NULL) c->waiting = (ganz_cuda_products *)ganz_alloc(1, sizeof *c->waiting);
    if (c->waiting == NULL) {
        ganz_cuda_fail(c, "integer product", "out of memory");
        return;
    }
    if (c->waits && !fits(c->waiting, p)) ganz_cuda_flush(c);
    c->waiting->list[c->waiting->count++] = *p;
    c->waits = true;
}

/* ---- the call ----------------------------------------------------------------------------------- */

/* Of logits the candidates are looked for next: the largest of some columns show where. */
static void want_maxima(ganz_cuda *c, const ganz_linear_call *call, product *p)
{
    if (call->out < LOGITS || p->y == NULL || p->codes != NULL || p->add || !in_pieces(p)) return;
    const size_t count = (size_t)p->rows * (size_t)ganz_cuda_maxima_count(p->out);
    p->maxima = ganz_cuda_take_maxima(c, &call->y, count);
}

void ganz_cuda_linear_codes(ganz_backend *be, const ganz_linear_call *call)
{
    ganz_cuda *c = (ganz_cuda *)be; /* not ganz_cuda_of: products that wait may go on waiting */
    c->maxima_of.data = NULL;
    if (call->rows == 0) return;
    if (call->x.m.type != GANZ_S8 || call->largest != NULL || call->drop.mask != NULL || call->before.data != NULL) {
        ganz_cuda_fail(c, "integer product", "such a call is for the CPU only");
        return;
    }
    product p = product_of(call);
    want_maxima(c, call, &p);
    for (int first = 0; first < call->rows; first += MOST_ROWS) {
        product part = p;
        part.rows = ganz_cuda_min(MOST_ROWS, call->rows - first);
        part.x += (size_t)first * p.x_ld;
        if (p.y != NULL) part.y += (size_t)first * p.y_ld;
        if (p.codes != NULL) part.codes += (size_t)first * p.codes_ld;
        if (p.maxima != NULL) part.maxima += (size_t)first * ganz_cuda_maxima_count(p.out);
        await_more(c, &part);
    }
}
