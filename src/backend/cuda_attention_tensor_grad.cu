/* Attention over segments by tensor cores, backward. U is made again from the largest scores and sums that the forward
 * kept. Where all scores of a head are in registers, they go to shared memory as bf16, and the gradients of k and v
 * come from there. Of a long sentence one kernel goes along its queries and one along its keys, so that no two blocks
 * ever add to one number. */
#include "backend/cuda_attention_tile.cuh"

/* Tiles of shared memory, each with room for the 64 x 64 of U too, whatever the width of a head. */
typedef struct grad_tiles {
    bf16 *k, *v, *q, *g; /* g: gradient of out */
} grad_tiles;
enum { TILE_ROOM = TILE * LINE, GRAD_BYTES = 4 * TILE_ROOM * (int)sizeof(bf16) };

static __device__ inline grad_tiles tiles_of(void *shared)
{
    bf16 *first = (bf16 *)shared;
    return grad_tiles{first, first + TILE_ROOM, first + 2 * TILE_ROOM, first + 3 * TILE_ROOM};
}

/* U, and the gradient of U, of one query and key, from their two dot products. */
static __device__ inline void make_pair(const ganz_attention_call &a, const attention_numbers &n, float *score,
                                        float *back, float most, float inverse, float keep, float *z)
{
    *score = __expf(*score * n.factor - most) * inverse;
    *back = u_grad(&a, &n, *score, *back * n.v_scale * keep * n.keep_scale, z);
}

/* Numbers that the forward kept of two rows of queries. */
typedef struct row_stats {
    float most[2], inverse[2];
} row_stats;

static __device__ inline float2 stats_at(const ganz_attention_call &a, const attention_place &p, int query)
{
    if (query >= p.queries) return make_float2(0, 0);
    const float2 s = *(const float2 *)(a.stats + 2 * ((size_t)(p.query + query) * a.heads + p.head));
    return make_float2(s.x, s.y > 0 ? 1.0f / s.y : 0.0f);
}
static __device__ inline row_stats stats_of(const ganz_attention_call &a, const attention_place &p, int mine)
{
    const float2 upper = stats_at(a, p, mine + row_of(0)), lower = stats_at(a, p, mine + row_of(2));
    return row_stats{{upper.x, lower.x}, {upper.y, lower.y}};
}

/* Dot products s and d of 16 queries with 16 keys become U and its gradient; delta gathers their products. */
static __device__ inline void make_pairs(float s[2][4], float d[2][4], const ganz_attention_call &a,
                                         const attention_place &p, const attention_numbers &n, const row_stats &r,
                                         int query, int key, uint32_t keep, int g, float delta[2], float *z)
{
#pragma unroll
    for (int t = 0; t < 2; t++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int i = query + row_of(e), j = key + column_of(t, e);
            if (i < p.queries && j < p.keys && (!a.see.causal || j <= i))
                make_pair(a, n, &s[t][e], &d[t][e], r.most[e / 2], r.inverse[e / 2], kept(keep, g, t, e), z);
            else s[t][e] = d[t][e] = 0;
            delta[e / 2] += s[t][e] * d[t][e];
        }
}

/* The gradient of the scores, and U as it was multiplied with v, both as left operands. */
static __device__ inline void pack_pairs(uint32_t ds[4], uint32_t u[4], const float s[2][4], const float d[2][4],
                                         const ganz_attention_call &a, const attention_numbers &n, const float delta[2],
                                         uint32_t keep, int g)
{
    float x[2][4], y[2][4];
#pragma unroll
    for (int t = 0; t < 2; t++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            x[t][e] = s[t][e] * (d[t][e] - delta[e / 2]);
            y[t][e] = u_code(&a, &n, s[t][e]) * kept(keep, g, t, e);
        }
    pack(ds, x);
    pack(u, y);
}

/* ---- sentences of at most 64 tokens ------------------------------------------------------------- */

/* A left operand into a tile of 64 x 64, and from there the left operand that is its transpose. */
static __device__ inline void put_group(bf16 *tile, int row, int column, const uint32_t a[4])
{
    const int lane = threadIdx.x % WARP;
    uint32_t *upper = (uint32_t *)(tile + (row + lane / 4) * LINE + column + 2 * (lane % 4)), *lower = upper + 4 * LINE;
    upper[0] = a[0];
    lower[0] = a[1];
    upper[4] = a[2];
    lower[4] = a[3];
}
static __device__ inline void get_transposed(uint32_t a[4], const bf16 *tile, int row, int column)
{
    const int lane = threadIdx.x % WARP;
    load_matrix_transposed(a, tile + (row + lane % 8 + lane / 16 * 8) * LINE + column + lane / 8 % 2 * 8);
}

/* Gradients of 16 keys and values, from U and the gradient of the scores in the tiles that held v and k. */
template <int W, bool CUT>
static __device__ inline void whole_keys(const ganz_attention_call &a, const attention_unit &unit,
                                         const attention_numbers &n, const grad_tiles &t, const bf16 *ds_tile,
                                         const bf16 *u_tile)
{
    const attention_place &p = unit.p;
    const int mine = ROWS * unit.warp, column = p.head * W;
    float k_sum[W / 8][4], v_sum[W / 8][4];
    if (mine >= p.keys) return;
    clear<W>(k_sum);
    clear<W>(v_sum);
    for (int row = a.see.causal ? mine : 0; row < p.queries; row += ROWS) {
        uint32_t ds[4], u[4];
        get_transposed(ds, ds_tile, row, mine);
        get_transposed(u, u_tile, row, mine);
        mix<W>(k_sum, ds, t.q, row);
        mix<W>(v_sum, u, t.g, row);
    }
    write_rows<W>(&a.k_grad, head_rows{p.key, column, p.keys}, mine, k_sum, a.inv_root * n.q_scale,
                  CUT ? a.k_inside : NULL);
    write_rows<W>(&a.v_grad, head_rows{p.key, column, p.keys}, mine, v_sum, n.u_scale * n.keep_scale,
                  CUT ? a.v_inside : NULL);
}

template <int W, bool CUT>
static __device__ inline float whole_grads(const ganz_attention_call &a, const attention_place &block,
                                           const grad_tiles &all)
{
    const attention_unit unit = unit_of(a, block);
    const attention_place &p = unit.p;
    const attention_numbers n = numbers_of(&a);
    const int mine = ROWS * unit.warp, column = p.head * W, skip = unit.first * (W + PAD);
    const int reach = mine >= p.queries ? 0 : a.see.causal ? min(p.keys, mine + ROWS) : p.keys;
    const grad_tiles t = {all.k + skip, all.v + skip, all.q + skip, all.g + skip};
    copy_tile<W>(t.q, a.q.m, head_rows{p.query, column, p.queries}, unit.thread, unit.threads);
    copy_tile<W>(t.k, a.k.m, head_rows{p.key, column, p.keys}, unit.thread, unit.threads);
    copy_tile<W>(t.g, a.out_grad, head_rows{p.query, column, p.queries}, unit.thread, unit.threads);
    copy_tile<W>(t.v, a.v.m, head_rows{p.key, column, p.keys}, unit.thread, unit.threads);
    const row_stats stats = stats_of(a, p, mine);
    const uint32_t keep = kept_bits<false>(a, p, mine, 0);
    uint32_t ds[GROUPS][4], u[GROUPS][4];
    float z = 0;
    copies_done();
    if (reach > 0) {
        uint32_t left[W / 16][4];
        float s[GROUPS][2][4], d[GROUPS][2][4], delta[2] = {0, 0};
        left_tile<W>(left, t.q, mine);
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            if (ROWS * g < reach) dots<W>(s[g], left, t.k, ROWS * g);
        left_tile<W>(left, t.g, mine);
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            if (ROWS * g < reach) {
                dots<W>(d[g], left, t.v, ROWS * g);
                make_pairs(s[g], d[g], a, p, n, stats, mine, ROWS * g, keep, g, delta, &z);
            }
        delta[0] = quad_sum(delta[0]);
        delta[1] = quad_sum(delta[1]);
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            if (ROWS * g < reach) pack_pairs(ds[g], u[g], s[g], d[g], a, n, delta, keep, g);
    }
    if (mine < p.queries) {
        float sum[W / 8][4];
        clear<W>(sum);
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            if (ROWS * g < reach) mix<W>(sum, ds[g], t.k, ROWS * g);
        write_rows<W>(&a.q_grad, head_rows{p.query, column, p.queries}, mine, sum, a.inv_root * n.k_scale,
                      CUT ? a.q_inside : NULL);
    }
    __syncthreads(); /* k and v are not needed any more */
    bf16 *ds_tile = all.k + unit.first * LINE, *u_tile = all.v + unit.first * LINE;
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        if (ROWS * g < reach) {
            put_group(ds_tile, mine, ROWS * g, ds[g]);
            put_group(u_tile, mine, ROWS * g, u[g]);
        }
    __syncthreads();
    whole_keys<W, CUT>(a, unit, n, t, ds_tile, u_tile);
    return z;
}

/* ---- long sentences ----------------------------------------------------------------------------- */

/* Along the keys for 64 queries: delta (sum over keys of U times its gradient), which the other kernel needs too, and
 * then the gradient of q. */
template <int W, bool CUT>
static __device__ inline float query_tile(const ganz_attention_call &a, const attention_place &p, int base,
                                          const grad_tiles &tiles, float *deltas)
{
    const attention_numbers n = numbers_of(&a);
    const int mine = base + ROWS * (threadIdx.x / WARP), column = p.head * W;
    const int end = a.see.causal ? min(p.keys, base + TILE) : p.keys; /* of the block */
    const int reach = mine >= p.queries ? 0 : a.see.causal ? min(p.keys, mine + ROWS) : p.keys;
    const row_stats stats = stats_of(a, p, mine);
    float delta[2] = {0, 0}, sum[W / 8][4], z = 0, unused = 0;
    clear<W>(sum);
    copy_tile<W>(tiles.q, a.q.m, head_rows{p.query + base, column, min(TILE, p.queries - base)}, threadIdx.x, THREADS);
    copy_tile<W>(tiles.g, a.out_grad, head_rows{p.query + base, column, min(TILE, p.queries - base)}, threadIdx.x,
                 THREADS);
    for (int turn = 0; turn < 2; turn++) {
        for (int tile = 0; tile < end; tile += TILE) {
            __syncthreads();
            copy_tile<W>(tiles.k, a.k.m, head_rows{p.key + tile, column, min(TILE, p.keys - tile)}, threadIdx.x,
                         THREADS);
            copy_tile<W>(tiles.v, a.v.m, head_rows{p.key + tile, column, min(TILE, p.keys - tile)}, threadIdx.x,
                         THREADS);
            const uint32_t keep = kept_bits<false>(a, p, mine, tile);
            copies_done();
            if (tile >= reach) continue;
            uint32_t q[W / 16][4], grad[W / 16][4];
            left_tile<W>(q, tiles.q, mine - base);
            left_tile<W>(grad, tiles.g, mine - base);
            for (int g = 0; g < GROUPS && tile + ROWS * g < reach; g++) {
                float s[2][4], d[2][4], part[2] = {0, 0};
                uint32_t ds[4], u[4];
                dots<W>(s, q, tiles.k, ROWS * g);
                dots<W>(d, grad, tiles.v, ROWS * g);
                make_pairs(s, d, a, p, n, stats, mine, tile + ROWS * g, keep, g, part, turn == 0 ? &z : &unused);
                if (turn == 0) {
                    delta[0] += part[0];
                    delta[1] += part[1];
                    continue;
                }
                pack_pairs(ds, u, s, d, a, n, delta, keep, g);
                mix<W>(sum, ds, tiles.k, ROWS * g);
            }
        }
        if (turn == 1) break;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int query = mine + row_of(2 * half);
            delta[half] = quad_sum(delta[half]);
            if (threadIdx.x % 4 == 0 && query < p.queries)
                deltas[(size_t)(p.query + query) * a.heads + p.head] = delta[half];
        }
    }
    write_rows<W>(&a.q_grad, head_rows{p.query, column, p.queries}, mine, sum, a.inv_root * n.k_scale,
                  CUT ? a.q_inside : NULL);
    return z;
}

/* Softmax and gradient sums of 64 queries, as columns. */
typedef struct column_stats {
    float most[TILE], inverse[TILE], delta[TILE];
} column_stats;

static __device__ inline void copy_stats(column_stats *to, const ganz_attention_call &a, const attention_place &p,
                                         int tile, const float *deltas)
{
    for (int i = threadIdx.x; i < TILE; i += THREADS) {
        const float2 s = stats_at(a, p, tile + i);
        to->most[i] = s.x;
        to->inverse[i] = s.y;
        to->delta[i] = tile + i < p.queries ? deltas[(size_t)(p.query + tile + i) * a.heads + p.head] : 0;
    }
}

/* The same for 16 keys (rows) and 16 queries (columns): left operands of the gradients of k and v. */
static __device__ inline void pack_transposed(uint32_t ds[4], uint32_t u[4], float s[2][4], float d[2][4],
                                              const ganz_attention_call &a, const attention_place &p,
                                              const attention_numbers &n, const column_stats *c, int key, int query,
                                              uint32_t keep, int g)
{
    float unused = 0;
#pragma unroll
    for (int t = 0; t < 2; t++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int at = ROWS * g + column_of(t, e), i = query + column_of(t, e), j = key + row_of(e);
            const float keeps = kept(keep, g, t, e);
            if (i < p.queries && j < p.keys && (!a.see.causal || j <= i))
                make_pair(a, n, &s[t][e], &d[t][e], c->most[at], c->inverse[at], keeps, &unused);
            else s[t][e] = d[t][e] = 0;
            const float made = s[t][e];
            s[t][e] = made * (d[t][e] - c->delta[at]);
            d[t][e] = u_code(&a, &n, made) * keeps;
        }
    pack(ds, s);
    pack(u, d);
}

/* Along the queries for 64 keys. */
template <int W, bool CUT>
static __device__ inline void key_tile(const ganz_attention_call &a, const attention_place &p, int base,
                                       const grad_tiles &tiles, column_stats *stats, const float *deltas)
{
    const attention_numbers n = numbers_of(&a);
    const int mine = base + ROWS * (threadIdx.x / WARP), column = p.head * W;
    float k_sum[W / 8][4], v_sum[W / 8][4];
    clear<W>(k_sum);
    clear<W>(v_sum);
    copy_tile<W>(tiles.k, a.k.m, head_rows{p.key + base, column, min(TILE, p.keys - base)}, threadIdx.x, THREADS);
    copy_tile<W>(tiles.v, a.v.m, head_rows{p.key + base, column, min(TILE, p.keys - base)}, threadIdx.x, THREADS);
    for (int tile = a.see.causal ? base : 0; tile < p.queries; tile += TILE) {
        __syncthreads();
        copy_tile<W>(tiles.q, a.q.m, head_rows{p.query + tile, column, min(TILE, p.queries - tile)}, threadIdx.x,
                     THREADS);
        copy_tile<W>(tiles.g, a.out_grad, head_rows{p.query + tile, column, min(TILE, p.queries - tile)}, threadIdx.x,
                     THREADS);
        copy_stats(stats, a, p, tile, deltas);
        const uint32_t keep = kept_bits<true>(a, p, mine, tile);
        copies_done();
        if (mine >= p.keys) continue;
        uint32_t k[W / 16][4], v[W / 16][4];
        left_tile<W>(k, tiles.k, mine - base);
        left_tile<W>(v, tiles.v, mine - base);
        for (int g = 0; g < GROUPS && tile + ROWS * g < p.queries; g++) {
            float s[2][4], d[2][4];
            uint32_t ds[4], u[4];
            if (a.see.causal && tile + ROWS * (g + 1) <= mine) continue;
            dots<W>(s, k, tiles.q, ROWS * g);
            dots<W>(d, v, tiles.g, ROWS * g);
            pack_transposed(ds, u, s, d, a, p, n, stats, mine, tile + ROWS * g, keep, g);
            mix<W>(k_sum, ds, tiles.q, ROWS * g);
            mix<W>(v_sum, u, tiles.g, ROWS * g);
        }
    }
    write_rows<W>(&a.k_grad, head_rows{p.key, column, p.keys}, mine, k_sum, a.inv_root * n.q_scale,
                  CUT ? a.k_inside : NULL);
    write_rows<W>(&a.v_grad, head_rows{p.key, column, p.keys}, mine, v_sum, n.u_scale * n.keep_scale,
                  CUT ? a.v_inside : NULL);
}

/* ---- kernels ------------------------------------------------------------------------------------ */

/* Whole short sentences, and queries of long ones. deltas: (queries, heads); z_sums: (blocks) or NULL. CUT: gradients
 * are made zero where codes were clipped; an instance of its own, since asking at run time costs float training 2%. */
template <int W, bool CUT>
static __global__ void __launch_bounds__(THREADS, 4)
    grad_kernel(const ganz_attention_call a, int for_long, float *deltas, float *z_sums)
{
    extern __shared__ uint4 shared[];
    __shared__ float room[WARP];
    __shared__ tile_search search;
    const grad_tiles tiles = tiles_of(shared);
    const int block = blockIdx.x;
    attention_place p;
    float z = 0;
    if (block < for_long) {
        int base;
        for (int item = block; find_tile(a, false, item, &search, &p, &base); item += for_long)
            z += query_tile<W, CUT>(a, p, base, tiles, deltas);
    } else {
        p = place_of(&a, block - for_long);
        if (is_whole(p) && (!is_short(p) || p.head % 2 == 0)) z = whole_grads<W, CUT>(a, p, tiles);
    }
    if (z_sums == NULL) return;
    const float scale = a.u_scale != NULL ? *a.u_scale : 1.0f, total = block_sum(z, room);
    if (threadIdx.x == 0) z_sums[block] = total * scale * GANZ_LN2;
}

template <int W, bool CUT>
static __global__ void __launch_bounds__(THREADS, 3) key_kernel(const ganz_attention_call a, const float *deltas)
{
    extern __shared__ uint4 shared[];
    __shared__ column_stats stats;
    __shared__ tile_search search;
    attention_place p;
    int base;
    for (int item = blockIdx.x; find_tile(a, true, item, &search, &p, &base); item += gridDim.x)
        key_tile<W, CUT>(a, p, base, tiles_of(shared), &stats, deltas);
}

/* ---- calls -------------------------------------------------------------------------------------- */

template <int W, bool CUT>
static void run_grad(ganz_cuda *c, const ganz_attention_call *call, int blocks, float *deltas, float *z)
{
    const int for_long = long_blocks(c, call);
    grad_kernel<W, CUT><<<blocks, THREADS, GRAD_BYTES, c->stream>>>(*call, for_long, deltas, z);
    if (for_long > 0) key_kernel<W, CUT><<<for_long, THREADS, GRAD_BYTES, c->stream>>>(*call, deltas);
    ganz_cuda_launched(c, "attention gradient");
    if (z != NULL) ganz_cuda_add_total(c, z, blocks, 1.0f, call->u_z_grad);
}

/* The gradient of out may come in REAL; tensor cores take it in bf16. */
bool ganz_cuda_attention_grad_tensor(ganz_cuda *c, const ganz_attention_call *call)
{
    static_assert(GRAD_BYTES <= 48 * 1024, "more shared memory would have to be asked for");
    const bool convert = call->out_grad.type == GANZ_REAL;
    if (!suits(call) || !pairs(&call->q_grad) || !pairs(&call->k_grad) || !pairs(&call->v_grad)) return false;
    if (!convert && !sixteens(&call->out_grad)) return false;
    const int blocks = long_blocks(c, call) + call->see.segments * call->heads;
    const size_t z_bytes = ganz_round_up((size_t)blocks * sizeof(float), 256);
    const size_t delta_bytes = ganz_round_up((size_t)call->see.queries * (size_t)call->heads * sizeof(float), 256);
    const size_t grads = (size_t)call->out_grad.rows * (size_t)call->out_grad.cols;
    unsigned char *room =
        (unsigned char *)ganz_cuda_scratch(c, z_bytes + delta_bytes + (convert ? grads * sizeof(bf16) : 0));
    if (room == NULL) return true;
    ganz_attention_call made = *call;
    if (convert) {
        made.out_grad.type = GANZ_BF16;
        made.out_grad.ld = call->out_grad.cols;
        made.out_grad.data = room + z_bytes + delta_bytes;
        ganz_cuda_convert(c, &call->out_grad, GANZ_BF16, made.out_grad.data);
    }
    float *z = call->u_scale != NULL && call->u_z_grad != NULL ? (float *)room : NULL,
          *deltas = (float *)(room + z_bytes);
    const bool cut = call->q_inside != NULL || call->k_inside != NULL || call->v_inside != NULL;
    if (call->width == 64 && cut) run_grad<64, true>(c, &made, blocks, deltas, z);
    else if (call->width == 64) run_grad<64, false>(c, &made, blocks, deltas, z);
    else if (cut) run_grad<32, true>(c, &made, blocks, deltas, z);
    else run_grad<32, false>(c, &made, blocks, deltas, z);
    return true;
}
