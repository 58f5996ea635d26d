/* Attention over segments by plain float arithmetic: FP32 and TF32, heads of at most 64 columns. A block has 16 queries
 * (or keys) of one head of one segment, four to a warp, and goes over the other side in tiles of shared memory: first a
 * lane for each row of a tile and dot products along it, then a lane for each column and sums. */
#include <string.h>

#include "backend/cuda_attention.cuh"

enum { THREADS = 128, WARPS = THREADS / WARP, EACH = 4, BLOCK = WARPS * EACH, TILE = 64, WIDEST = 64, GAP = 4 };

/* ---- tiles of shared memory --------------------------------------------------------------------- */

/* Copies rows of one head into a tile, `line` floats apart; rows beyond them, up to `rows`, become zero. */
static __device__ inline void stage(float *tile, int line, const ganz_matrix &m, head_rows from, int width, int rows)
{
    const int fours = width / 4;
    for (int i = threadIdx.x; i < rows * fours; i += THREADS) {
        const int r = i / fours, c = 4 * (i - r * fours);
        const size_t at = (size_t)(from.row + r) * m.ld + from.column + c;
        float4 v = make_float4(0, 0, 0, 0);
        if (r < from.count)
            v = m.type == GANZ_BF16 ? load4((const bf16 *)m.data + at) : load4((const float *)m.data + at);
        *(float4 *)(tile + r * line + c) = v;
    }
}

/* Dot products of one row with the four of this warp. */
static __device__ inline void dots(float to[EACH], const float *mine, int line, const float *row, int width)
{
    float4 sum[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) sum[k] = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int i = 0; i < width; i += 4) {
        const float4 r = *(const float4 *)(row + i);
#pragma unroll
        for (int k = 0; k < EACH; k++) sum[k] = sum[k] + *(const float4 *)(mine + k * line + i) * r;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) to[k] = total4(sum[k]);
}

/* Sums of rows, each with a weight: this lane's two columns of the warp's four results. */
typedef struct column_sums {
    float of[EACH][2];
} column_sums;

static __device__ inline void clear(column_sums *s)
{
#pragma unroll
    for (int k = 0; k < EACH; k++) s->of[k][0] = s->of[k][1] = 0;
}

/* Adds rows [0, count) of a tile; weights: four lines of `apart` floats. */
static __device__ inline void add_rows(column_sums *s, const float *weights, int apart, const float *tile, int width,
                                       int count)
{
    const int line = width + GAP;
    const int lane = threadIdx.x % WARP;
    const bool first = lane < width, second = lane + WARP < width;
#pragma unroll 4
    for (int j = 0; j < count; j++) {
        const float x = first ? tile[j * line + lane] : 0, y = second ? tile[j * line + lane + WARP] : 0;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const float w = weights[k * apart + j];
            s->of[k][0] += w * x;
            s->of[k][1] += w * y;
        }
    }
}

static __device__ inline void put1(const ganz_matrix &m, int row, int column, float v)
{
    const size_t at = (size_t)row * m.ld + column;
    if (m.type == GANZ_BF16) store1((bf16 *)m.data + at, v);
    else store1((float *)m.data + at, v);
}

/* Rows row .. row + 3 of a segment, whose rows are `to`. */
static __device__ inline void write(const ganz_matrix &m, const column_sums &s, head_rows to, int row, int width,
                                    float worth)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (row + k >= to.count) continue;
        if (lane < width) put1(m, to.row + row + k, to.column + lane, s.of[k][0] * worth);
        if (lane + WARP < width) put1(m, to.row + row + k, to.column + lane + WARP, s.of[k][1] * worth);
    }
}

static __device__ inline float keep(const ganz_attention_call &a, int query_row, int key_row)
{
    if (a.mask == NULL) return 1.0f;
    return (float)a.mask[(size_t)a.query_slot[query_row] * a.mask_side + a.key_slot[key_row]];
}

/* ---- forward ------------------------------------------------------------------------------------ */

/* Scores of one query become U, rounded and dropped; keys it does not see, up to `end`, zero. */
static __device__ inline void soften(const ganz_attention_call &a, const attention_place &p, const attention_numbers &n,
                                     int query, int end, float *u)
{
    const int lane = threadIdx.x % WARP, count = a.see.causal ? min(query + 1, p.keys) : p.keys;
    float most = -INFINITY, sum = 0;
    for (int j = lane; j < count; j += WARP) most = fmaxf(most, u[j]);
    most = warp_max(most);
    for (int j = lane; j < count; j += WARP) {
        u[j] = expf(u[j] - most);
        sum += u[j];
    }
    sum = warp_sum(sum);
    const float inverse = sum > 0 ? 1.0f / sum : 0.0f;
    for (int j = lane; j < end; j += WARP)
        u[j] = j < count ? u_code(&a, &n, u[j] * inverse) * keep(a, p.query + query, p.key + j) : 0.0f;
    const size_t at = (size_t)(p.query + query) * a.heads + p.head;
    if (lane == 0 && a.stats != NULL) {
        a.stats[2 * at] = most;
        a.stats[2 * at + 1] = sum;
    }
    if (lane == 0 && a.u_largest != NULL) raise(a.u_largest, inverse);
}

/* Queries base .. base + 15. Shared memory: queries (BLOCK, line), tile (TILE, line), U (BLOCK, longest). */
static __device__ inline void attend(const ganz_attention_call &a, const attention_place &p, int base, int longest,
                                     float *shared)
{
    const attention_numbers n = numbers_of(&a);
    const int lane = threadIdx.x % WARP, part = EACH * (threadIdx.x / WARP), mine = base + part;
    const int width = a.width, line = width + GAP, column = p.head * width;
    const int end = a.see.causal ? min(p.keys, base + BLOCK) : p.keys; /* of the block */
    float *q = shared, *tile = q + BLOCK * line, *u = tile + TILE * line + (size_t)part * longest;
    stage(q, line, a.q.m, head_rows{p.query + base, column, p.queries - base}, width, BLOCK);
    for (int first = 0; first < end; first += TILE) {
        const int count = min(TILE, end - first);
        __syncthreads();
        stage(tile, line, a.k.m, head_rows{p.key + first, column, count}, width, count);
        __syncthreads();
        for (int j = lane; j < count; j += WARP) {
            float s[EACH];
            dots(s, q + part * line, line, tile + j * line, width);
#pragma unroll
            for (int k = 0; k < EACH; k++) u[k * longest + first + j] = s[k] * n.factor;
        }
    }
    __syncwarp();
    for (int k = 0; k < EACH && mine + k < p.queries; k++) soften(a, p, n, mine + k, end, u + k * longest);
    column_sums out;
    clear(&out);
    for (int first = 0; first < end; first += TILE) {
        const int count = min(TILE, end - first);
        __syncthreads();
        stage(tile, line, a.v.m, head_rows{p.key + first, column, count}, width, count);
        __syncthreads();
        add_rows(&out, u + first, longest, tile, width, count);
    }
    write(a.out, out, head_rows{p.query, column, p.queries}, mine, width, n.u_scale * n.v_scale * n.keep_scale);
}

static __global__ void __launch_bounds__(THREADS) attend_kernel(const ganz_attention_call a, int longest)
{
    extern __shared__ __align__(16) float shared[];
    const attention_place p = place_of(&a, blockIdx.x);
    for (int base = BLOCK * blockIdx.y; base < p.queries; base += BLOCK * gridDim.y) {
        __syncthreads();
        attend(a, p, base, longest, shared);
    }
}

/* ---- backward ----------------------------------------------------------------------------------- */

/* Queries base .. base + 15. delta: (queries, heads) sum over keys of U times its gradient. Returns this thread's part
 * of the gradient of U's scale. Shared memory: queries and gradients (BLOCK, line), tiles of k and v (TILE, line), U
 * and its gradient (BLOCK, longest). */
static __device__ inline float query_grads(const ganz_attention_call &a, const attention_place &p, int base,
                                           int longest, float *delta, float *shared)
{
    const attention_numbers n = numbers_of(&a);
    const int lane = threadIdx.x % WARP, part = EACH * (threadIdx.x / WARP), mine = base + part;
    const int width = a.width, line = width + GAP, column = p.head * width;
    const int end = a.see.causal ? min(p.keys, base + BLOCK) : p.keys;
    float *q = shared, *g = q + BLOCK * line, *k_tile = g + BLOCK * line, *v_tile = k_tile + TILE * line;
    float *u = v_tile + TILE * line + (size_t)part * longest, *du = u + (size_t)BLOCK * longest, z_sum = 0;
    float most[EACH], inverse[EACH], together[EACH];
    stage(q, line, a.q.m, head_rows{p.query + base, column, p.queries - base}, width, BLOCK);
    stage(g, line, a.out_grad, head_rows{p.query + base, column, p.queries - base}, width, BLOCK);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        most[k] = inverse[k] = together[k] = 0;
        if (mine + k >= p.queries) continue;
        const size_t at = (size_t)(p.query + mine + k) * a.heads + p.head;
        most[k] = a.stats[2 * at];
        inverse[k] = a.stats[2 * at + 1] > 0 ? 1.0f / a.stats[2 * at + 1] : 0.0f;
    }
    for (int first = 0; first < end; first += TILE) {
        const int count = min(TILE, end - first);
        __syncthreads();
        stage(k_tile, line, a.k.m, head_rows{p.key + first, column, count}, width, count);
        stage(v_tile, line, a.v.m, head_rows{p.key + first, column, count}, width, count);
        __syncthreads();
        for (int j = lane; j < count; j += WARP) {
            float s[EACH], d[EACH];
            dots(s, q + part * line, line, k_tile + j * line, width);
            dots(d, g + part * line, line, v_tile + j * line, width);
#pragma unroll
            for (int k = 0; k < EACH; k++) {
                const int query = mine + k, key = first + j;
                const bool sees = query < p.queries && (!a.see.causal || key <= query);
                float value = 0, back = 0;
                if (sees) {
                    value = expf(s[k] * n.factor - most[k]) * inverse[k];
                    back = d[k] * n.v_scale * keep(a, p.query + query, p.key + key) * n.keep_scale;
                    back = u_grad(&a, &n, value, back, &z_sum);
                }
                u[k * longest + key] = value;
                du[k * longest + key] = back;
                together[k] += value * back;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        together[k] = warp_sum(together[k]);
        for (int j = lane; j < end; j += WARP)
            du[k * longest + j] = u[k * longest + j] * (du[k * longest + j] - together[k]);
        if (lane == 0 && mine + k < p.queries) delta[(size_t)(p.query + mine + k) * a.heads + p.head] = together[k];
    }
    __syncwarp();
    column_sums sums;
    clear(&sums);
    for (int first = 0; first < end; first += TILE) {
        const int count = min(TILE, end - first);
        if (end > TILE) { /* else it is still there */
            __syncthreads();
            stage(k_tile, line, a.k.m, head_rows{p.key + first, column, count}, width, count);
            __syncthreads();
        }
        add_rows(&sums, du + first, longest, k_tile, width, count);
    }
    write(a.q_grad, sums, head_rows{p.query, column, p.queries}, mine, width, a.inv_root * n.k_scale);
    return z_sum;
}

/* z: (blocks) sums for the scale of U, or NULL. */
static __global__ void __launch_bounds__(THREADS)
    query_kernel(const ganz_attention_call a, int longest, float *delta, float *z)
{
    extern __shared__ __align__(16) float shared[];
    __shared__ float room[WARP];
    const attention_place p = place_of(&a, blockIdx.x);
    float z_sum = 0;
    for (int base = BLOCK * blockIdx.y; base < p.queries; base += BLOCK * gridDim.y) {
        __syncthreads();
        z_sum += query_grads(a, p, base, longest, delta, shared);
    }
    if (z == NULL) return;
    z_sum = block_sum(z_sum, room);
    if (threadIdx.x == 0) z[blockIdx.y * gridDim.x + blockIdx.x] = z_sum * *a.u_scale * GANZ_LN2;
}

/* Keys base .. base + 15. Shared memory: keys and values (BLOCK, line), tiles of q and the gradient of out (TILE,
 * line), U and the gradient of the scores (BLOCK, TILE). */
static __device__ inline void key_grads(const ganz_attention_call &a, const attention_place &p, int base,
                                        const float *delta, float *shared)
{
    const attention_numbers n = numbers_of(&a);
    const int lane = threadIdx.x % WARP, part = EACH * (threadIdx.x / WARP), mine = base + part;
    const int width = a.width, line = width + GAP, column = p.head * width;
    float *k_rows = shared, *v_rows = k_rows + BLOCK * line, *q = v_rows + BLOCK * line, *g = q + TILE * line;
    float *u = g + TILE * line + part * TILE, *ds = u + BLOCK * TILE, unused = 0;
    column_sums k_sum, v_sum;
    clear(&k_sum);
    clear(&v_sum);
    stage(k_rows, line, a.k.m, head_rows{p.key + base, column, p.keys - base}, width, BLOCK);
    stage(v_rows, line, a.v.m, head_rows{p.key + base, column, p.keys - base}, width, BLOCK);
    for (int first = a.see.causal ? base / TILE * TILE : 0; first < p.queries; first += TILE) {
        const int count = min(TILE, p.queries - first);
        __syncthreads();
        stage(q, line, a.q.m, head_rows{p.query + first, column, count}, width, count);
        stage(g, line, a.out_grad, head_rows{p.query + first, column, count}, width, count);
        __syncthreads();
        for (int i = lane; i < count; i += WARP) {
            const int query = first + i;
            const size_t at = (size_t)(p.query + query) * a.heads + p.head;
            const float most = a.stats[2 * at], sum = a.stats[2 * at + 1], inverse = sum > 0 ? 1.0f / sum : 0.0f;
            float s[EACH], d[EACH];
            dots(s, k_rows + part * line, line, q + i * line, width);
            dots(d, v_rows + part * line, line, g + i * line, width);
#pragma unroll
            for (int k = 0; k < EACH; k++) {
                const int key = mine + k;
                float made = 0, back = 0;
                if (key < p.keys && (!a.see.causal || key <= query)) {
                    const float value = expf(s[k] * n.factor - most) * inverse,
                                kept = keep(a, p.query + query, p.key + key);
                    back = u_grad(&a, &n, value, d[k] * n.v_scale * kept * n.keep_scale, &unused);
                    back = value * (back - delta[at]);
                    made = u_code(&a, &n, value) * kept;
                }
                u[k * TILE + i] = made;
                ds[k * TILE + i] = back;
            }
        }
        __syncwarp();
        add_rows(&k_sum, ds, TILE, q, width, count);
        add_rows(&v_sum, u, TILE, g, width, count);
    }
    write(a.k_grad, k_sum, head_rows{p.key, column, p.keys}, mine, width, a.inv_root * n.q_scale);
    write(a.v_grad, v_sum, head_rows{p.key, column, p.keys}, mine, width, n.u_scale * n.keep_scale);
}

static __global__ void __launch_bounds__(THREADS) key_kernel(const ganz_attention_call a, const float *delta)
{
    extern __shared__ __align__(16) float shared[];
    const attention_place p = place_of(&a, blockIdx.x);
    for (int base = BLOCK * blockIdx.y; base < p.keys; base += BLOCK * gridDim.y) {
        __syncthreads();
        key_grads(a, p, base, delta, shared);
    }
}

/* ---- calls -------------------------------------------------------------------------------------- */

static int longest_of(const ganz_attention_call *a) { return (int)ganz_round_up((size_t)a->see.longest_key, 4); }

static size_t room_of(const ganz_attention_call *a, int blocks, int tiles, int lines)
{
    const size_t line = (size_t)a->width + GAP;
    return ((size_t)(blocks * BLOCK + tiles * TILE) * line + (size_t)lines * BLOCK) * sizeof(float);
}

/* The largest of the three kernels must fit. */
static bool suits(const ganz_cuda *c, const ganz_attention_call *a)
{
    return a->see.segments > 0 && a->width <= WIDEST &&
           room_of(a, 2, 2, 2 * longest_of(a)) + 1024 <= (size_t)c->shared_bytes;
}

static void allow_shared(const void *kernel, size_t bytes)
{
    if (bytes > 48 * 1024) (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

/* Up to four blocks share a sentence: more would mostly find nothing to do. */
static dim3 grid_of(const ganz_attention_call *a, int longest)
{
    const int tiles = ganz_cuda_min(ganz_cuda_blocks(longest, BLOCK), 4);
    return dim3(a->see.segments * a->heads, tiles > 0 ? tiles : 1);
}

bool ganz_cuda_attention_plain(ganz_cuda *c, const ganz_attention_call *call)
{
    if (!suits(c, call)) return false;
    const size_t bytes = room_of(call, 1, 1, longest_of(call));
    allow_shared((const void *)attend_kernel, bytes);
    attend_kernel<<<grid_of(call, call->see.longest_query), THREADS, bytes, c->stream>>>(*call, longest_of(call));
    ganz_cuda_launched(c, "attention");
    return true;
}

bool ganz_cuda_attention_grad_plain(ganz_cuda *c, const ganz_attention_call *call)
{
    if (!suits(c, call)) return false;
    const dim3 blocks = grid_of(call, call->see.longest_query);
    const bool want_z = call->u_scale != NULL && call->u_z_grad != NULL;
    const size_t room = (size_t)call->see.queries * (size_t)call->heads, many = (size_t)blocks.x * blocks.y;
    float *delta = (float *)ganz_cuda_scratch(c, (room + many) * sizeof *delta), *z = want_z ? delta + room : NULL;
    if (delta == NULL) return true;
    const size_t query_bytes = room_of(call, 2, 2, 2 * longest_of(call)), key_bytes = room_of(call, 2, 2, 2 * TILE);
    allow_shared((const void *)query_kernel, query_bytes);
    allow_shared((const void *)key_kernel, key_bytes);
    query_kernel<<<blocks, THREADS, query_bytes, c->stream>>>(*call, longest_of(call), delta, z);
    key_kernel<<<grid_of(call, call->see.longest_key), THREADS, key_bytes, c->stream>>>(*call, delta);
    ganz_cuda_launched(c, "attention gradient");
    if (want_z) ganz_cuda_add_total(c, z, (int)many, 1.0f, call->u_z_grad);
    return true;
}
