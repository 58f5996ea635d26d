/* Attention by tensor cores (bf16, float sums): shared by forward and backward.
 *
 * A block is four warps. Sentences are short: one of at most 64 tokens is done at once, a head to a block, all scores
 * in registers, 16 queries to a warp; of one of at most 32 a block does two heads, with two warps each. Longer ones are
 * cut into tiles of 64 queries (or keys), and a block that has taken one goes over the other side tile by tile.
 *
 * Layout of mma.m16n8k16: of a 16 x 8 result a thread holds row lane / 4 (elements 0, 1) and lane / 4 + 8 (2, 3),
 * columns 2 (lane % 4) and the next. Two such results side by side are, packed to bf16, the left operand of the next
 * product. */
#ifndef GANZ_BACKEND_CUDA_ATTENTION_TILE_CUH
#define GANZ_BACKEND_CUDA_ATTENTION_TILE_CUH

#include "backend/cuda_attention.cuh"

enum { THREADS = 128, WARPS = THREADS / WARP, ROWS = 16, TILE = 64, GROUPS = TILE / ROWS, PAD = 8, LINE = TILE + PAD };

/* ---- tensor cores ------------------------------------------------------------------------------- */

static __device__ inline void mma(float d[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
static __device__ inline void load_matrix(uint32_t r[4], const bf16 *p)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}
static __device__ inline void load_matrix_transposed(uint32_t r[4], const bf16 *p)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

/* ---- tiles of shared memory --------------------------------------------------------------------- */

/* Starts copying rows of one head into a tile (lines of W + PAD); the rest of the last 16 rows becomes zero. */
template <int W>
static __device__ inline void copy_tile(bf16 *tile, const ganz_matrix &m, head_rows rows, int thread, int threads)
{
    constexpr int CHUNKS = W / 8;
    const bf16 *from = (const bf16 *)m.data + (size_t)rows.row * m.ld + rows.column;
    const int count = rows.count, padded = (count + ROWS - 1) / ROWS * ROWS;
#pragma unroll 4
    for (int i = thread; i < padded * CHUNKS; i += threads) {
        const int line = i / CHUNKS, chunk = i % CHUNKS;
        const uint32_t to = (uint32_t)__cvta_generic_to_shared(tile + line * (W + PAD) + 8 * chunk);
        const bf16 *source = from + (size_t)(line < count ? line : 0) * m.ld + 8 * chunk;
        const int bytes = line < count ? 16 : 0;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(source), "r"(bytes) : "memory");
    }
}
static __device__ inline void copies_done(void)
{
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    __syncthreads();
}

/* The left operand: 16 rows of a tile from `first` on. */
template <int W> static __device__ inline void left_tile(uint32_t a[W / 16][4], const bf16 *tile, int first)
{
    const int lane = threadIdx.x % WARP;
    const bf16 *at = tile + (first + lane % 16) * (W + PAD) + lane / 16 * 8;
#pragma unroll
    for (int s = 0; s < W / 16; s++) load_matrix(a[s], at + 16 * s);
}

/* The same straight from device memory; rows beyond `count` are zero. */
template <int W>
static __device__ inline void left_rows(uint32_t a[W / 16][4], const bf16 *from, int ld, int first, int count)
{
    const int lane = threadIdx.x % WARP, row = first + lane / 4, column = 2 * (lane % 4);
    const bf16 *upper = from + (size_t)row * ld + column, *lower = upper + (size_t)8 * ld;
#pragma unroll
    for (int s = 0; s < W / 16; s++) {
        a[s][0] = row < count ? *(const uint32_t *)(upper + 16 * s) : 0;
        a[s][1] = row + 8 < count ? *(const uint32_t *)(lower + 16 * s) : 0;
        a[s][2] = row < count ? *(const uint32_t *)(upper + 16 * s + 8) : 0;
        a[s][3] = row + 8 < count ? *(const uint32_t *)(lower + 16 * s + 8) : 0;
    }
}

/* Dot products of the 16 left rows with rows first .. first + 15 of a tile. */
template <int W>
static __device__ inline void dots(float s[2][4], const uint32_t a[W / 16][4], const bf16 *tile, int first)
{
    const int lane = threadIdx.x % WARP;
    const bf16 *at = tile + (first + lane % 8 + lane / 16 * 8) * (W + PAD) + lane / 8 % 2 * 8;
#pragma unroll
    for (int i = 0; i < 4; i++) s[0][i] = s[1][i] = 0;
#pragma unroll
    for (int k = 0; k < W / 16; k++) {
        uint32_t b[4];
        load_matrix(b, at + 16 * k);
        mma(s[0], a[k], b[0], b[1]);
        mma(s[1], a[k], b[2], b[3]);
    }
}

/* A 16 x 16 result as a left operand. */
static __device__ inline void pack(uint32_t a[4], const float w[2][4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) a[i] = pack2(w[i / 2][2 * (i % 2)], w[i / 2][2 * (i % 2) + 1]);
}

/* sum (16, W) += left (16, 16) times rows first .. first + 15 of a tile. */
template <int W>
static __device__ inline void mix(float sum[W / 8][4], const uint32_t a[4], const bf16 *tile, int first)
{
    const int lane = threadIdx.x % WARP;
    const bf16 *at = tile + (first + lane % 16) * (W + PAD) + lane / 16 * 8;
#pragma unroll
    for (int c = 0; c < W / 16; c++) {
        uint32_t b[4];
        load_matrix_transposed(b, at + 16 * c);
        mma(sum[2 * c], a, b[0], b[1]);
        mma(sum[2 * c + 1], a, b[2], b[3]);
    }
}

template <int W> static __device__ inline void clear(float sum[W / 8][4])
{
#pragma unroll
    for (int i = 0; i < W / 8; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) sum[i][e] = 0;
}

/* Writes 16 rows from number `first` of `to` on, those that it has, times `worth`; zero where `inside`, of the matrix's
 * shape as in ganz_code_out, has no bit. */
template <int W>
static __device__ inline void write_rows(const ganz_matrix *m, head_rows to, int first, const float sum[W / 8][4],
                                         float worth, const uint8_t *inside = NULL)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int row = first + lane / 4 + 8 * half;
        if (row >= to.count) continue;
        const int column = to.column + 2 * (lane % 4);
        const size_t at = (size_t)(to.row + row) * m->ld + column;
        const uint8_t *passes = inside != NULL ? inside + ((size_t)(to.row + row) * m->cols + column) / 4 : NULL;
#pragma unroll
        for (int i = 0; i < W / 8; i++) {
            const unsigned bits = passes != NULL ? passes[2 * i] >> lane % 2 * 2 : 3;
            const float x = bits & 1 ? sum[i][2 * half] * worth : 0, y = bits & 2 ? sum[i][2 * half + 1] * worth : 0;
            if (m->type == GANZ_BF16) *(uint32_t *)((bf16 *)m->data + at + 8 * i) = pack2(x, y);
            else *(float2 *)((float *)m->data + at + 8 * i) = make_float2(x, y);
        }
    }
}

/* Row and column of element e of half t inside a 16 x 16 result. */
static __device__ inline int row_of(int e) { return threadIdx.x % WARP / 4 + 8 * (e / 2); }
static __device__ inline int column_of(int t, int e) { return 8 * t + 2 * (threadIdx.x % 4) + e % 2; }

static __device__ inline float quad_sum(float v)
{
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    return v + __shfl_xor_sync(0xffffffffu, v, 2);
}

/* ---- sharing out -------------------------------------------------------------------------------- */

/* The part of a block that takes one head of a segment. */
typedef struct attention_unit {
    attention_place p;
    int number, warp, thread, threads; /* of the unit in its block; of this thread in the unit */
    int first;                         /* row of a tile where the unit's begin */
} attention_unit;

static __device__ inline bool is_whole(const attention_place &p) { return p.queries <= TILE && p.keys <= TILE; }
static __device__ inline bool is_short(const attention_place &p) { return p.queries <= TILE / 2 && p.keys <= TILE / 2; }

/* Of a short sentence the block of an even head also does the next one, whose own block has nothing to do. A unit
 * without a head has no queries and keys. */
static __device__ inline attention_unit unit_of(const ganz_attention_call &a, attention_place p)
{
    const int units = is_short(p) ? 2 : 1, threads = THREADS / units;
    attention_unit u = {
        p, (int)threadIdx.x / threads, (int)threadIdx.x % threads / WARP, (int)threadIdx.x % threads, threads, 0};
    u.first = u.number * (TILE / units);
    u.p.head += u.number;
    if (u.p.head >= a.heads) u.p.queries = u.p.keys = 0;
    return u;
}

/* ---- long sentences ----------------------------------------------------------------------------- */

/* Shared by a block that looks for its next tile. */
typedef struct tile_search {
    int of_warps[WARPS], segment, tile;
} tile_search;

static __device__ inline int long_tiles(const ganz_spans &see, int segment, bool keys)
{
    const int q = see.query_begin[segment + 1] - see.query_begin[segment];
    const int k = see.key_begin[segment + 1] - see.key_begin[segment];
    return q <= TILE && k <= TILE ? 0 : ((keys ? k : q) + TILE - 1) / TILE;
}

/* Item number `item` of all tiles of queries (or keys) of all heads of long sentences: its place, and its first row.
 * Returns false if there are not so many. All threads of a block ask together; shared memory they used before is free
 * then. */
static __device__ inline bool find_tile(const ganz_attention_call &a, bool keys, int item, tile_search *search,
                                        attention_place *p, int *base)
{
    const int segments = a.see.segments, wanted = item / a.heads, each = (segments + THREADS - 1) / THREADS;
    const int begin = min((int)threadIdx.x * each, segments), end = min(begin + each, segments);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int count = 0;
    for (int i = begin; i < end; i++) count += long_tiles(a.see, i, keys);
    int before = count;
    for (int offset = 1; offset < WARP; offset *= 2) {
        const int lower = __shfl_up_sync(0xffffffffu, before, offset);
        if (lane >= offset) before += lower;
    }
    __syncthreads();
    if (lane == WARP - 1) search->of_warps[warp] = before;
    if (threadIdx.x == 0) search->segment = -1;
    __syncthreads();
    before -= count;
    for (int i = 0; i < warp; i++) before += search->of_warps[i];
    if (wanted >= before && wanted < before + count) {
        int segment = begin, rest = wanted - before;
        for (int n; rest >= (n = long_tiles(a.see, segment, keys)); segment++) rest -= n;
        search->segment = segment;
        search->tile = rest;
    }
    __syncthreads();
    if (search->segment < 0) return false;
    *p = place_of(&a, search->segment * a.heads + item % a.heads);
    *base = TILE * search->tile;
    return true;
}

/* ---- dropout ------------------------------------------------------------------------------------ */

/* Which of the 16 x 64 pairs from (row, column) on are kept: bit 8 g + 4 t + e for element e of half t of group g. Rows
 * are queries or, with ROWS_ARE_KEYS, keys. */
template <bool ROWS_ARE_KEYS>
static __device__ inline uint32_t kept_bits(const ganz_attention_call &a, const attention_place &p, int row, int column)
{
    if (a.mask == NULL) return 0xffffffffu;
    const int rows = ROWS_ARE_KEYS ? p.keys : p.queries, columns = ROWS_ARE_KEYS ? p.queries : p.keys;
    const int32_t *row_slots = ROWS_ARE_KEYS ? a.key_slot + p.key : a.query_slot + p.query;
    const int32_t *column_slots = ROWS_ARE_KEYS ? a.query_slot + p.query : a.key_slot + p.key;
    const size_t row_step = ROWS_ARE_KEYS ? 1 : (size_t)a.mask_side,
                 column_step = ROWS_ARE_KEYS ? (size_t)a.mask_side : 1;
    const uint8_t *line[2];
    uint32_t bits = 0;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int at = row + row_of(2 * half);
        line[half] = a.mask + (at < rows ? row_step * (size_t)row_slots[at] : 0);
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        if (column + ROWS * g >= columns) break;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int at = column + ROWS * g + column_of(i / 2, i % 2);
            const size_t offset = at < columns ? column_step * (size_t)column_slots[at] : 0;
            bits |= (uint32_t)(line[0][offset] != 0) << (8 * g + 4 * (i / 2) + i % 2);
            bits |= (uint32_t)(line[1][offset] != 0) << (8 * g + 4 * (i / 2) + 2 + i % 2);
        }
    }
    return bits;
}
static __device__ inline float kept(uint32_t bits, int g, int t, int e)
{
    return (float)(bits >> (8 * g + 4 * t + e) & 1);
}

/* ---- supported matrices ------------------------------------------------------------------------- */

static inline bool sixteens(const ganz_matrix *m)
{
    return m->type == GANZ_BF16 && m->ld % 8 == 0 && (size_t)m->data % 16 == 0;
}
static inline bool pairs(const ganz_matrix *m)
{
    return ganz_cuda_floats(m) && m->ld % 2 == 0 && (size_t)m->data % (2 * ganz_type_bytes(m->type)) == 0;
}
static inline bool suits(const ganz_attention_call *a)
{
    return a->see.segments > 0 && (a->width == 32 || a->width == 64) && sixteens(&a->q.m) && sixteens(&a->k.m) &&
           sixteens(&a->v.m);
}
/* Blocks for long sentences, which come before one block for each head of each sentence: each takes tiles until there
 * are no more. Only the GPU knows how many there are. */
static inline int long_blocks(const ganz_cuda *c, const ganz_attention_call *a)
{
    return a->see.longest_query > TILE || a->see.longest_key > TILE ? 3 * c->processors : 0;
}

#endif
