/* Attention over segments by tensor cores (bf16, float sums). Sentences are short, so a block is two warps and takes one
 * head of one segment: 16 queries (or keys) to a warp, the other side in tiles of shared memory. Nothing of size
 * queries x keys is ever stored: the forward goes over the keys twice (softmax needs its sum before U can be rounded), the
 * backward makes U again from what the forward kept, once along queries and once along keys, so that no two warps ever
 * add to one number.
 *
 * Layout of mma.m16n8k16: of a 16 x 8 result a thread holds row lane / 4 (elements 0, 1) and lane / 4 + 8 (2, 3), columns
 * 2 (lane % 4) and the next. Two such results side by side are, packed to bf16, the left operand of the next product. */
#include "backend/cuda_attention.cuh"

enum { THREADS = 64, ROWS = 16, BLOCK_ROWS = 32, TILE = 64, PAD = 8 };

/* ---- tensor cores ------------------------------------------------------------------------------- */

static __device__ inline void mma(float d[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
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
static __device__ inline void load_matrix_turned(uint32_t r[4], const bf16 *p)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

/* Starts copying rows [0, count) of one head into a tile; the rest of the last 16 rows becomes zero. */
template <int W> static __device__ inline void copy_tile(bf16 *tile, const bf16 *from, int ld, int count)
{
    constexpr int CHUNKS = W / 8;
    const int padded = (count + ROWS - 1) / ROWS * ROWS;
#pragma unroll 4
    for (int i = threadIdx.x; i < padded * CHUNKS; i += THREADS) {
        const int row = i / CHUNKS, chunk = i % CHUNKS;
        const uint32_t to = (uint32_t)__cvta_generic_to_shared(tile + row * (W + PAD) + 8 * chunk);
        const bf16 *source = from + (size_t)(row < count ? row : 0) * ld + 8 * chunk;
        const int bytes = row < count ? 16 : 0;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(source), "r"(bytes) : "memory");
    }
}
static __device__ inline void copies_done(void)
{
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    __syncthreads();
}

/* The left operand: 16 rows from `first` on, straight from device memory; rows beyond `count` are zero. */
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

/* sum (16, W) += weights (16, 16) times rows first .. first + 15 of a tile. */
template <int W>
static __device__ inline void mix(float sum[W / 8][4], const float w[2][4], const bf16 *tile, int first)
{
    const int lane = threadIdx.x % WARP;
    const bf16 *at = tile + (first + lane % 16) * (W + PAD) + lane / 16 * 8;
    const uint32_t a[4] = {pack2(w[0][0], w[0][1]), pack2(w[0][2], w[0][3]), pack2(w[1][0], w[1][1]),
                           pack2(w[1][2], w[1][3])};
#pragma unroll
    for (int c = 0; c < W / 16; c++) {
        uint32_t b[4];
        load_matrix_turned(b, at + 16 * c);
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

/* Writes 16 rows from `first` on (those below `count`), times `worth`. */
template <int W>
static __device__ inline void write_rows(const ganz_matrix *m, int row0, int column, int first, int count,
                                         const float sum[W / 8][4], float worth)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int row = first + lane / 4 + 8 * half;
        if (row >= count) continue;
        const size_t at = (size_t)(row0 + row) * m->ld + column + 2 * (lane % 4);
#pragma unroll
        for (int i = 0; i < W / 8; i++) {
            const float x = sum[i][2 * half] * worth, y = sum[i][2 * half + 1] * worth;
            if (m->type == GANZ_BF16) *(uint32_t *)((bf16 *)m->data + at + 8 * i) = pack2(x, y);
            else *(float2 *)((float *)m->data + at + 8 * i) = make_float2(x, y);
        }
    }
}

/* The same to codes; two threads share four columns, and so a byte of `inside`. */
template <int W>
static __device__ inline void write_codes(const ganz_code_out &to, int row0, int column, int first, int count,
                                          const float sum[W / 8][4], float worth)
{
    const int lane = threadIdx.x % WARP, at = column + 2 * (lane % 4);
    const code_range r = range_of(to.step, to.p, true);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int row = first + lane / 4 + 8 * half;
#pragma unroll
        for (int i = 0; i < W / 8; i++) {
            const float x = __fmul_rn(sum[i][2 * half] * worth, r.inv), y = __fmul_rn(sum[i][2 * half + 1] * worth, r.inv);
            const unsigned bits = (unsigned)is_inside(x, r) | (unsigned)is_inside(y, r) << 1;
            const unsigned next = __shfl_xor_sync(0xffffffffu, bits, 1);
            if (row >= count) continue;
            const size_t line = (size_t)(row0 + row);
            *(uint32_t *)((bf16 *)to.m.data + line * to.m.ld + at + 8 * i) = pack2(code_of(x, r), code_of(y, r));
            if (to.inside != NULL && lane % 2 == 0)
                to.inside[line * (to.m.cols / 4) + (at + 8 * i) / 4] = (uint8_t)(bits | next << 2);
        }
    }
}

/* Row and column of element e of half t inside a 16 x 16 result. */
static __device__ inline int row_of(int e) { return threadIdx.x % WARP / 4 + 8 * (e / 2); }
static __device__ inline int column_of(int t, int e) { return 8 * t + 2 * (threadIdx.x % 4) + e % 2; }

static __device__ inline void copy_slots(int *to, const ganz_attention_call *a, const int32_t *slots, int count)
{
    if (a->mask != NULL)
        for (int i = threadIdx.x; i < TILE; i += THREADS) to[i] = i < count ? slots[i] : 0;
}

static __device__ inline float kept(const ganz_attention_call *a, int query_slot, int key_slot)
{
    return a->mask == NULL ? 1.0f : (float)a->mask[(size_t)query_slot * a->mask_side + key_slot];
}

static __device__ inline float quad_sum(float v)
{
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    return v + __shfl_xor_sync(0xffffffffu, v, 2);
}

/* ---- forward ------------------------------------------------------------------------------------ */

/* Adds the scores of 16 keys to this thread's running maximum and sum of its two rows. */
static __device__ inline void gather(float s[2][4], float most[2], float sum[2])
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float top = fmaxf(fmaxf(s[0][2 * half], s[0][2 * half + 1]), fmaxf(s[1][2 * half], s[1][2 * half + 1]));
        if (top > most[half]) {
            sum[half] *= __expf(most[half] - top);
            most[half] = top;
        }
        if (most[half] == -INFINITY) continue;
#pragma unroll
        for (int t = 0; t < 2; t++) sum[half] += __expf(s[t][2 * half] - most[half]) + __expf(s[t][2 * half + 1] - most[half]);
    }
}

/* The same for the four threads that share a row. */
static __device__ inline void join(float *most, float *sum)
{
#pragma unroll
    for (int offset = 1; offset <= 2; offset *= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, *most, offset), more = __shfl_xor_sync(0xffffffffu, *sum, offset);
        const float top = fmaxf(*most, other);
        *sum = (*sum > 0 ? *sum * __expf(*most - top) : 0.0f) + (more > 0 ? more * __expf(other - top) : 0.0f);
        *most = top;
    }
}

/* Scores of 16 queries with 16 keys; what is not seen is -infinity. */
template <int W>
static __device__ inline void scores(float s[2][4], const uint32_t q[W / 16][4], const bf16 *keys, int tile_key, int query,
                                     int key, int limit, bool causal, float factor)
{
    dots<W>(s, q, keys, tile_key);
#pragma unroll
    for (int t = 0; t < 2; t++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int k = key + column_of(t, e);
            s[t][e] = k < limit && (!causal || k <= query + row_of(e)) ? s[t][e] * factor : -INFINITY;
        }
}

static __device__ inline void keep_stats(const ganz_attention_call *a, const attention_place *p, int query, float most,
                                         float sum, float inverse)
{
    if (threadIdx.x % 4 != 0 || query >= p->queries) return;
    const size_t at = (size_t)(p->query + query) * a->heads + p->head;
    if (a->stats != NULL) *(float2 *)(a->stats + 2 * at) = make_float2(most, sum);
    if (a->u_largest != NULL) raise(a->u_largest, inverse);
}

template <int W> static __global__ void __launch_bounds__(THREADS) attend_kernel(const ganz_attention_call a)
{
    __shared__ __align__(16) bf16 k_tile[TILE * (W + PAD)], v_tile[TILE * (W + PAD)];
    __shared__ int key_slots[TILE];
    const attention_place p = place_of(&a, blockIdx.x);
    const attention_numbers n = numbers_of(&a);
    const int column = p.head * W, warp = threadIdx.x / WARP;
    const bf16 *q_rows = (const bf16 *)a.q.m.data + (size_t)p.query * a.q.m.ld + column;
    const bf16 *k_rows = (const bf16 *)a.k.m.data + (size_t)p.key * a.k.m.ld + column;
    const bf16 *v_rows = (const bf16 *)a.v.m.data + (size_t)p.key * a.v.m.ld + column;
    const bool causal = a.see.causal, single = p.keys <= TILE;
    if (single) {
        copy_tile<W>(k_tile, k_rows, a.k.m.ld, p.keys);
        copy_tile<W>(v_tile, v_rows, a.v.m.ld, p.keys);
        copy_slots(key_slots, &a, a.key_slot + p.key, p.keys);
    }
    for (int base = 0; base < p.queries; base += BLOCK_ROWS) {
        const int mine = base + ROWS * warp; /* first query of this warp */
        const int end = causal ? min(p.keys, base + BLOCK_ROWS) : p.keys;
        const int reach = mine >= p.queries ? 0 : causal ? min(p.keys, mine + ROWS) : p.keys;
        uint32_t q[W / 16][4];
        left_rows<W>(q, q_rows, a.q.m.ld, mine, p.queries);
        if (single && base == 0) copies_done();
        float s[2][4], most[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0}, inverse[2], out[W / 8][4];
        for (int tile = 0; tile < end; tile += TILE) {
            if (!single) {
                __syncthreads();
                copy_tile<W>(k_tile, k_rows + (size_t)tile * a.k.m.ld, a.k.m.ld, min(TILE, p.keys - tile));
                copies_done();
            }
            for (int g = 0; g < TILE && tile + g < reach; g += ROWS) {
                scores<W>(s, q, k_tile, g, mine, tile + g, p.keys, causal, n.factor);
                gather(s, most, sum);
            }
        }
        int query_slot[2] = {0, 0};
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int query = mine + row_of(2 * half);
            join(&most[half], &sum[half]);
            inverse[half] = sum[half] > 0 ? 1.0f / sum[half] : 0.0f;
            keep_stats(&a, &p, query, most[half], sum[half], inverse[half]);
            if (a.mask != NULL && query < p.queries) query_slot[half] = a.query_slot[p.query + query];
        }
        clear<W>(out);
        for (int tile = 0; tile < end; tile += TILE) {
            if (!single) {
                __syncthreads();
                copy_tile<W>(k_tile, k_rows + (size_t)tile * a.k.m.ld, a.k.m.ld, min(TILE, p.keys - tile));
                copy_tile<W>(v_tile, v_rows + (size_t)tile * a.v.m.ld, a.v.m.ld, min(TILE, p.keys - tile));
                copy_slots(key_slots, &a, a.key_slot + p.key + tile, p.keys - tile);
                copies_done();
            }
            for (int g = 0; g < TILE && tile + g < reach; g += ROWS) {
                scores<W>(s, q, k_tile, g, mine, tile + g, p.keys, causal, n.factor);
#pragma unroll
                for (int t = 0; t < 2; t++)
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        const float u = s[t][e] > -INFINITY ? __expf(s[t][e] - most[e / 2]) * inverse[e / 2] : 0.0f;
                        s[t][e] = u_code(&a, &n, u) * kept(&a, query_slot[e / 2], a.mask ? key_slots[g + column_of(t, e)] : 0);
                    }
                mix<W>(out, s, v_tile, g);
            }
        }
        const float worth = n.u_step * n.v_step * n.keep_scale;
        if (a.codes.m.data != NULL) write_codes<W>(a.codes, p.query, column, mine, p.queries, out, worth);
        else write_rows<W>(&a.out, p.query, column, mine, p.queries, out, worth);
    }
}

/* ---- backward ----------------------------------------------------------------------------------- */

/* U, and the gradient of U, of one query and key, from their two dot products. */
typedef struct pair_grad {
    float u, du;
} pair_grad;

static __device__ inline pair_grad pair_of(const ganz_attention_call *a, const attention_numbers *n, float score, float back,
                                           float most, float inverse, float keep, float *z)
{
    pair_grad r;
    r.u = __expf(score * n->factor - most) * inverse;
    r.du = u_grad(a, n, r.u, back * n->v_step * keep * n->keep_scale, z);
    return r;
}

/* Shared memory of the backward: two tiles, and what is known of each query. */
typedef struct grad_room {
    bf16 *first, *second; /* (TILE, W + PAD): k, v; then q, gradient of out */
    int *slots;           /* (TILE) */
    float *most, *inverse, *delta; /* (longest query) */
} grad_room;

template <int W> static __device__ inline grad_room room_of(void *shared, int longest)
{
    grad_room r;
    r.first = (bf16 *)shared;
    r.second = r.first + TILE * (W + PAD);
    r.slots = (int *)(r.second + TILE * (W + PAD));
    r.most = (float *)(r.slots + TILE);
    r.inverse = r.most + longest;
    r.delta = r.inverse + longest;
    return r;
}

template <int W>
static __device__ inline void copy_two(const grad_room *r, const ganz_matrix *first, const ganz_matrix *second, int row,
                                       int column, int count)
{
    copy_tile<W>(r->first, (const bf16 *)first->data + (size_t)row * first->ld + column, first->ld, count);
    copy_tile<W>(r->second, (const bf16 *)second->data + (size_t)row * second->ld + column, second->ld, count);
}

/* Along the queries: delta (sum over keys of U times its gradient) for all, and the gradient of q. */
template <int W>
static __device__ inline float along_queries(const ganz_attention_call *a, const attention_place *p,
                                             const attention_numbers *n, const grad_room *r)
{
    const int column = p->head * W, warp = threadIdx.x / WARP;
    const bf16 *q_rows = (const bf16 *)a->q.m.data + (size_t)p->query * a->q.m.ld + column;
    const bf16 *g_rows = (const bf16 *)a->out_grad.data + (size_t)p->query * a->out_grad.ld + column;
    const bool causal = a->see.causal, single = p->keys <= TILE;
    float z = 0;
    if (single) {
        copy_two<W>(r, &a->k.m, &a->v.m, p->key, column, p->keys);
        copy_slots(r->slots, a, a->key_slot + p->key, p->keys);
    }
    for (int base = 0; base < p->queries; base += BLOCK_ROWS) {
        const int mine = base + ROWS * warp;
        const int end = causal ? min(p->keys, base + BLOCK_ROWS) : p->keys;
        const int reach = mine >= p->queries ? 0 : causal ? min(p->keys, mine + ROWS) : p->keys;
        uint32_t q[W / 16][4], grad[W / 16][4];
        left_rows<W>(q, q_rows, a->q.m.ld, mine, p->queries);
        left_rows<W>(grad, g_rows, a->out_grad.ld, mine, p->queries);
        float most[2] = {0, 0}, inverse[2] = {0, 0}, delta[2] = {0, 0}, sum[W / 8][4];
        int query_slot[2] = {0, 0};
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int query = mine + row_of(2 * half);
            if (query >= p->queries) continue;
            const float2 stats = *(const float2 *)(a->stats + 2 * ((size_t)(p->query + query) * a->heads + p->head));
            most[half] = stats.x;
            inverse[half] = stats.y > 0 ? 1.0f / stats.y : 0.0f;
            if (a->mask != NULL) query_slot[half] = a->query_slot[p->query + query];
        }
        if (single && base == 0) copies_done();
        clear<W>(sum);
#pragma unroll
        for (int turn = 0; turn < 2; turn++) { /* first delta, then the gradient that needs it */
            for (int tile = 0; tile < end; tile += TILE) {
                if (!single) {
                    __syncthreads();
                    copy_two<W>(r, &a->k.m, &a->v.m, p->key + tile, column, min(TILE, p->keys - tile));
                    copy_slots(r->slots, a, a->key_slot + p->key + tile, p->keys - tile);
                    copies_done();
                }
                for (int g = 0; g < TILE && tile + g < reach; g += ROWS) {
                    float s[2][4], d[2][4];
                    dots<W>(s, q, r->first, g);
                    dots<W>(d, grad, r->second, g);
#pragma unroll
                    for (int t = 0; t < 2; t++)
#pragma unroll
                        for (int e = 0; e < 4; e++) {
                            const int key = tile + g + column_of(t, e), query = mine + row_of(e);
                            const bool sees = key < p->keys && query < p->queries && (!causal || key <= query);
                            const float keep = kept(a, query_slot[e / 2], a->mask ? r->slots[g + column_of(t, e)] : 0);
                            pair_grad pair = {0, 0};
                            float z_part = 0;
                            if (sees) pair = pair_of(a, n, s[t][e], d[t][e], most[e / 2], inverse[e / 2], keep, &z_part);
                            if (turn == 0) {
                                delta[e / 2] += pair.u * pair.du;
                                z += z_part;
                            }
                            s[t][e] = pair.u * (pair.du - delta[e / 2]);
                        }
                    if (turn == 1) mix<W>(sum, s, r->first, g);
                }
            }
            if (turn == 1) break;
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int query = mine + row_of(2 * half);
                delta[half] = quad_sum(delta[half]);
                if (threadIdx.x % 4 != 0 || query >= p->queries) continue;
                r->most[query] = most[half];
                r->inverse[query] = inverse[half];
                r->delta[query] = delta[half];
            }
        }
        write_rows<W>(&a->q_grad, p->query, column, mine, p->queries, sum, a->scale * n->k_step);
    }
    return z;
}

/* Along the keys: the gradients of k and v. */
template <int W>
static __device__ inline void along_keys(const ganz_attention_call *a, const attention_place *p, const attention_numbers *n,
                                         const grad_room *r)
{
    const int column = p->head * W, warp = threadIdx.x / WARP;
    const bf16 *k_rows = (const bf16 *)a->k.m.data + (size_t)p->key * a->k.m.ld + column;
    const bf16 *v_rows = (const bf16 *)a->v.m.data + (size_t)p->key * a->v.m.ld + column;
    const bool causal = a->see.causal, single = p->queries <= TILE;
    float unused = 0;
    __syncthreads(); /* the tiles are free, and what is known of the queries is there */
    if (single) {
        copy_two<W>(r, &a->q.m, &a->out_grad, p->query, column, p->queries);
        copy_slots(r->slots, a, a->query_slot + p->query, p->queries);
    }
    for (int base = 0; base < p->keys; base += BLOCK_ROWS) {
        const int mine = base + ROWS * warp;
        uint32_t k[W / 16][4], v[W / 16][4];
        left_rows<W>(k, k_rows, a->k.m.ld, mine, p->keys);
        left_rows<W>(v, v_rows, a->v.m.ld, mine, p->keys);
        float k_sum[W / 8][4], v_sum[W / 8][4];
        int key_slot[2] = {0, 0};
#pragma unroll
        for (int half = 0; half < 2; half++)
            if (a->mask != NULL && mine + row_of(2 * half) < p->keys) key_slot[half] = a->key_slot[p->key + mine + row_of(2 * half)];
        if (single && base == 0) copies_done();
        clear<W>(k_sum);
        clear<W>(v_sum);
        for (int tile = causal ? base / TILE * TILE : 0; tile < p->queries; tile += TILE) {
            if (!single) {
                __syncthreads();
                copy_two<W>(r, &a->q.m, &a->out_grad, p->query + tile, column, min(TILE, p->queries - tile));
                copy_slots(r->slots, a, a->query_slot + p->query + tile, p->queries - tile);
                copies_done();
            }
            for (int g = 0; g < TILE && tile + g < p->queries; g += ROWS) {
                if (mine >= p->keys || (causal && tile + g + ROWS <= mine)) continue;
                float s[2][4], d[2][4];
                dots<W>(s, k, r->first, g);
                dots<W>(d, v, r->second, g);
#pragma unroll
                for (int t = 0; t < 2; t++)
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        const int key = mine + row_of(e), query = tile + g + column_of(t, e);
                        const bool sees = key < p->keys && query < p->queries && (!causal || key <= query);
                        const float keep = kept(a, a->mask ? r->slots[g + column_of(t, e)] : 0, key_slot[e / 2]);
                        pair_grad pair = {0, 0};
                        float delta = 0;
                        if (sees) {
                            pair = pair_of(a, n, s[t][e], d[t][e], r->most[query], r->inverse[query], keep, &unused);
                            delta = r->delta[query];
                        }
                        s[t][e] = pair.u * (pair.du - delta);
                        d[t][e] = u_code(a, n, pair.u) * keep;
                    }
                mix<W>(k_sum, s, r->first, g);
                mix<W>(v_sum, d, r->second, g);
            }
        }
        write_rows<W>(&a->k_grad, p->key, column, mine, p->keys, k_sum, a->scale * n->q_step);
        write_rows<W>(&a->v_grad, p->key, column, mine, p->keys, v_sum, n->u_step * n->keep_scale);
    }
}

template <int W>
static __global__ void __launch_bounds__(THREADS) grad_kernel(const ganz_attention_call a, int longest, float *z_sums)
{
    extern __shared__ uint4 shared[];
    __shared__ float room[WARP];
    const attention_place p = place_of(&a, blockIdx.x);
    const attention_numbers n = numbers_of(&a);
    const grad_room r = room_of<W>(shared, longest);
    const float z = along_queries<W>(&a, &p, &n, &r);
    along_keys<W>(&a, &p, &n, &r);
    if (z_sums == NULL) return;
    const float total = block_sum(z, room);
    if (threadIdx.x == 0) z_sums[blockIdx.x] = total * n.u_step * GANZ_LN2;
}

/* ---- calls -------------------------------------------------------------------------------------- */

static bool sixteens(const ganz_matrix *m) { return m->type == GANZ_BF16 && m->ld % 8 == 0 && (size_t)m->data % 16 == 0; }
static bool pairs(const ganz_matrix *m)
{
    return ganz_cuda_floats(m) && m->ld % 2 == 0 && (size_t)m->data % (2 * ganz_type_bytes(m->type)) == 0;
}
static bool suits(const ganz_attention_call *a)
{
    return a->see.segments > 0 && (a->width == 32 || a->width == 64) && sixteens(&a->q.m) && sixteens(&a->k.m) &&
           sixteens(&a->v.m);
}

bool ganz_cuda_attention_tensor(ganz_cuda *c, const ganz_attention_call *call)
{
    const ganz_matrix *codes = &call->codes.m;
    if (!suits(call) || !pairs(&call->out)) return false;
    if (codes->data != NULL && (codes->type != GANZ_BF16 || !pairs(codes))) return false;
    const int blocks = call->see.segments * call->heads;
    if (call->width == 64) attend_kernel<64><<<blocks, THREADS, 0, c->stream>>>(*call);
    else attend_kernel<32><<<blocks, THREADS, 0, c->stream>>>(*call);
    ganz_cuda_launched(c, "attention");
    return true;
}

static size_t grad_bytes(int width, int longest)
{
    return 2 * TILE * (size_t)(width + PAD) * sizeof(bf16) + TILE * sizeof(int) + 3 * (size_t)longest * sizeof(float);
}

template <int W> static void run_grad(ganz_cuda *c, const ganz_attention_call *call, float *z)
{
    const int blocks = call->see.segments * call->heads, longest = call->see.longest_query;
    const size_t bytes = grad_bytes(W, longest);
    if (bytes > 48 * 1024) (void)cudaFuncSetAttribute(grad_kernel<W>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    grad_kernel<W><<<blocks, THREADS, bytes, c->stream>>>(*call, longest, z);
    ganz_cuda_launched(c, "attention gradient");
    if (z != NULL) ganz_cuda_add_total(c, z, blocks, 1.0f, call->u_z_grad);
}

/* The gradient of out comes in REAL where the values were to be rounded; tensor cores take it in bf16. */
bool ganz_cuda_attention_grad_tensor(ganz_cuda *c, const ganz_attention_call *call)
{
    const bool convert = call->out_grad.type == GANZ_REAL;
    if (!suits(call) || !pairs(&call->q_grad) || !pairs(&call->k_grad) || !pairs(&call->v_grad)) return false;
    if (!convert && !sixteens(&call->out_grad)) return false;
    if (grad_bytes(call->width, call->see.longest_query) + 1024 > (size_t)c->shared_bytes) return false;
    const bool want_z = call->u_step != NULL && call->u_z_grad != NULL;
    const size_t z_bytes = ganz_round_up((size_t)call->see.segments * (size_t)call->heads * sizeof(float), 256);
    const size_t grads = (size_t)call->out_grad.rows * (size_t)call->out_grad.cols;
    unsigned char *room = (unsigned char *)ganz_cuda_scratch(c, z_bytes + (convert ? grads * sizeof(bf16) : 0));
    if (room == NULL) return true;
    ganz_attention_call made = *call;
    if (convert) {
        ganz_cuda_convert(c, &call->out_grad, GANZ_BF16, room + z_bytes);
        made.out_grad.type = GANZ_BF16;
        made.out_grad.ld = call->out_grad.cols;
        made.out_grad.data = room + z_bytes;
    }
    float *z = want_z ? (float *)room : NULL;
    if (call->width == 64) run_grad<64>(c, &made, z);
    else run_grad<32>(c, &made, z);
    return true;
}
