/* Attention over segments by tensor cores, forward: softmax needs its sum before U can be rounded, so scores of long
 * sentences are made twice. */
#include "backend/cuda_attention_tile.cuh"

/* write_rows to codes; two threads share four columns, and so a byte of `inside`. */
template <int W>
static __device__ inline void write_codes(const ganz_code_out &to, head_rows rows, int first, const float sum[W / 8][4],
                                          float worth)
{
    const int lane = threadIdx.x % WARP, at = rows.column + 2 * (lane % 4);
    const code_range r = range_of(to.scale, to.p, true);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int row = first + lane / 4 + 8 * half;
#pragma unroll
        for (int i = 0; i < W / 8; i++) {
            const float x = __fmul_rn(sum[i][2 * half] * worth, r.inv),
                        y = __fmul_rn(sum[i][2 * half + 1] * worth, r.inv);
            const unsigned bits = (unsigned)is_inside(x, r) | (unsigned)is_inside(y, r) << 1;
            const unsigned next = __shfl_xor_sync(0xffffffffu, bits, 1);
            if (row >= rows.count) continue;
            const size_t line = (size_t)(rows.row + row);
            *(uint32_t *)((bf16 *)to.m.data + line * to.m.ld + at + 8 * i) = pack2(code_of(x, r), code_of(y, r));
            if (to.inside != NULL && lane % 2 == 0)
                to.inside[line * (to.m.cols / 4) + (at + 8 * i) / 4] = (uint8_t)(bits | next << 2);
        }
    }
}

/* Scores of 16 queries with 16 keys; -infinity for keys that are not seen. */
template <int W>
static __device__ inline void scores(float s[2][4], const uint32_t q[W / 16][4], const bf16 *keys, int tile_key,
                                     int query, int key, int limit, bool causal, float factor)
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

/* Largest score and sum of two rows, for the softmax; each of the four threads that share them gathers a part. */
typedef struct row_sums {
    float most[2], sum[2], inverse[2];
} row_sums;

/* Adds the scores of 16 keys. */
static __device__ inline void gather(const float s[2][4], row_sums *r)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float top = fmaxf(fmaxf(s[0][2 * half], s[0][2 * half + 1]), fmaxf(s[1][2 * half], s[1][2 * half + 1]));
        if (top > r->most[half]) {
            r->sum[half] *= __expf(r->most[half] - top);
            r->most[half] = top;
        }
        const float most = r->most[half];
        if (most == -INFINITY) continue;
#pragma unroll
        for (int t = 0; t < 2; t++) r->sum[half] += __expf(s[t][2 * half] - most) + __expf(s[t][2 * half + 1] - most);
    }
}

/* Joins the parts, and keeps them for the backward. */
static __device__ inline void join(const ganz_attention_call &a, const attention_place &p, int query, row_sums *r)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float most = r->most[half], sum = r->sum[half];
#pragma unroll
        for (int offset = 1; offset <= 2; offset *= 2) {
            const float other = __shfl_xor_sync(0xffffffffu, most, offset),
                        more = __shfl_xor_sync(0xffffffffu, sum, offset);
            const float top = fmaxf(most, other);
            sum = (sum > 0 ? sum * __expf(most - top) : 0.0f) + (more > 0 ? more * __expf(other - top) : 0.0f);
            most = top;
        }
        r->most[half] = most;
        r->sum[half] = sum;
        r->inverse[half] = sum > 0 ? 1.0f / sum : 0.0f;
        const int row = query + row_of(2 * half);
        if (threadIdx.x % 4 != 0 || row >= p.queries) continue;
        const size_t at = (size_t)(p.query + row) * a.heads + p.head;
        if (a.stats != NULL) *(float2 *)(a.stats + 2 * at) = make_float2(most, sum);
        if (a.u_largest != NULL) raise(a.u_largest, r->inverse[half]);
    }
}

/* out += U v over 16 keys, from their scores. */
template <int W>
static __device__ inline void take_values(float out[W / 8][4], float s[2][4], const ganz_attention_call &a,
                                          const attention_numbers &n, const row_sums &r, uint32_t keep, int g,
                                          const bf16 *values, int first)
{
    uint32_t left[4];
#pragma unroll
    for (int t = 0; t < 2; t++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const float u = s[t][e] > -INFINITY ? __expf(s[t][e] - r.most[e / 2]) * r.inverse[e / 2] : 0.0f;
            s[t][e] = u_code(&a, &n, u) * kept(keep, g, t, e);
        }
    pack(left, s);
    mix<W>(out, left, values, first);
}

template <int W>
static __device__ inline void write_out(const ganz_attention_call &a, const attention_place &p,
                                        const attention_numbers &n, int mine, const float out[W / 8][4])
{
    const float worth = n.u_scale * n.v_scale * n.keep_scale;
    if (a.codes.m.data != NULL) write_codes<W>(a.codes, head_rows{p.query, p.head * W, p.queries}, mine, out, worth);
    else write_rows<W>(&a.out, head_rows{p.query, p.head * W, p.queries}, mine, out, worth);
}

static __device__ inline int reach_of(const ganz_attention_call &a, const attention_place &p, int mine)
{
    return mine >= p.queries ? 0 : a.see.causal ? min(p.keys, mine + ROWS) : p.keys;
}

/* A sentence of at most 64 tokens: all scores of a query are with one warp. */
template <int W>
static __device__ inline void attend_whole(const ganz_attention_call &a, const attention_place &block, bf16 *k_tile,
                                           bf16 *v_tile)
{
    const attention_unit u = unit_of(a, block);
    const attention_place &p = u.p;
    const attention_numbers n = numbers_of(&a);
    const int mine = ROWS * u.warp, reach = reach_of(a, p, mine), column = p.head * W;
    k_tile += u.first * (W + PAD);
    v_tile += u.first * (W + PAD);
    copy_tile<W>(k_tile, a.k.m, head_rows{p.key, column, p.keys}, u.thread, u.threads);
    copy_tile<W>(v_tile, a.v.m, head_rows{p.key, column, p.keys}, u.thread, u.threads);
    uint32_t q[W / 16][4];
    left_rows<W>(q, (const bf16 *)a.q.m.data + (size_t)p.query * a.q.m.ld + column, a.q.m.ld, mine, p.queries);
    const uint32_t keep = kept_bits<false>(a, p, mine, 0);
    copies_done();
    if (mine >= p.queries) return;
    row_sums r = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
    float s[GROUPS][2][4], out[W / 8][4];
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        if (ROWS * g < reach) {
            scores<W>(s[g], q, k_tile, ROWS * g, mine, ROWS * g, p.keys, a.see.causal, n.factor);
            gather(s[g], &r);
        }
    join(a, p, mine, &r);
    clear<W>(out);
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        if (ROWS * g < reach) take_values<W>(out, s[g], a, n, r, keep, g, v_tile, ROWS * g);
    write_out<W>(a, p, n, mine, out);
}

/* 64 queries of a long one. */
template <int W>
static __device__ inline void attend_tile(const ganz_attention_call &a, const attention_place &p, int base,
                                          bf16 *k_tile, bf16 *v_tile)
{
    const attention_numbers n = numbers_of(&a);
    const int mine = base + ROWS * (threadIdx.x / WARP), reach = reach_of(a, p, mine), column = p.head * W;
    const int end = a.see.causal ? min(p.keys, base + TILE) : p.keys; /* of the block */
    uint32_t q[W / 16][4];
    left_rows<W>(q, (const bf16 *)a.q.m.data + (size_t)p.query * a.q.m.ld + column, a.q.m.ld, mine, p.queries);
    row_sums r = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
    float s[2][4], out[W / 8][4];
    for (int tile = 0; tile < end; tile += TILE) {
        __syncthreads();
        copy_tile<W>(k_tile, a.k.m, head_rows{p.key + tile, column, min(TILE, p.keys - tile)}, threadIdx.x, THREADS);
        copies_done();
        for (int g = 0; g < GROUPS && tile + ROWS * g < reach; g++) {
            scores<W>(s, q, k_tile, ROWS * g, mine, tile + ROWS * g, p.keys, a.see.causal, n.factor);
            gather(s, &r);
        }
    }
    join(a, p, mine, &r);
    clear<W>(out);
    for (int tile = 0; tile < end; tile += TILE) {
        __syncthreads();
        copy_tile<W>(k_tile, a.k.m, head_rows{p.key + tile, column, min(TILE, p.keys - tile)}, threadIdx.x, THREADS);
        copy_tile<W>(v_tile, a.v.m, head_rows{p.key + tile, column, min(TILE, p.keys - tile)}, threadIdx.x, THREADS);
        const uint32_t keep = kept_bits<false>(a, p, mine, tile);
        copies_done();
        for (int g = 0; g < GROUPS && tile + ROWS * g < reach; g++) {
            scores<W>(s, q, k_tile, ROWS * g, mine, tile + ROWS * g, p.keys, a.see.causal, n.factor);
            take_values<W>(out, s, a, n, r, keep, g, v_tile, ROWS * g);
        }
    }
    write_out<W>(a, p, n, mine, out);
}

template <int W>
static __global__ void __launch_bounds__(THREADS) attend_kernel(const ganz_attention_call a, int for_long)
{
    __shared__ __align__(16) bf16 k_tile[TILE * (W + PAD)], v_tile[TILE * (W + PAD)];
    __shared__ tile_search search;
    const int block = blockIdx.x;
    attention_place p;
    int base;
    if (block < for_long) {
        for (int item = block; find_tile(a, false, item, &search, &p, &base); item += for_long)
            attend_tile<W>(a, p, base, k_tile, v_tile);
        return;
    }
    p = place_of(&a, block - for_long);
    if (is_whole(p) && (!is_short(p) || p.head % 2 == 0)) attend_whole<W>(a, p, k_tile, v_tile);
}

bool ganz_cuda_attention_tensor(ganz_cuda *c, const ganz_attention_call *call)
{
    const ganz_matrix *codes = &call->codes.m;
    if (!suits(call) || !pairs(&call->out)) return false;
    if (codes->data != NULL && (codes->type != GANZ_BF16 || !pairs(codes))) return false;
    const int for_long = long_blocks(c, call), blocks = for_long + call->see.segments * call->heads;
    if (call->width == 64) attend_kernel<64><<<blocks, THREADS, 0, c->stream>>>(*call, for_long);
    else attend_kernel<32><<<blocks, THREADS, 0, c->stream>>>(*call, for_long);
    ganz_cuda_launched(c, "attention");
    return true;
}
