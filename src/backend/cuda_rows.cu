/* Embedding, residual and layer norm, what surrounds a product, and sums over rows. */
#include <limits.h>

#include "backend/cuda_common.cuh"

enum { THREADS = 128, WARPS = THREADS / WARP, BATCH = 8, NORM_ROWS = 2, WIDEST_NORM = 4096, MOST_PARTS = 1024 };

static bool four_columns(ganz_cuda *c, const char *where, bool good)
{
    if (!good) ganz_cuda_fail(c, where, "the CUDA backend needs float matrices whose columns come in aligned fours");
    return good;
}

/* ---- sums over rows ----------------------------------------------------------------------------- */

static __global__ void add_columns_kernel(const float *partial, int count, int width, float *first, int split,
                                          float *second)
{
    __shared__ float room[WARP][WARP + 1];
    const int column = blockIdx.x * WARP + threadIdx.x;
    float sum = 0;
    if (column < width)
        for (int row = threadIdx.y; row < count; row += WARP) sum += partial[(size_t)row * width + column];
    room[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= width) return;
    float total = 0;
    for (int i = 0; i < WARP; i++) total += room[i][threadIdx.x];
    float *to = column < split ? first : second;
    if (to != NULL) to[column < split ? column : column - split] += total;
}

void ganz_cuda_add_columns(ganz_cuda *c, const float *partial, int count, int width, float *first, int split,
                           float *second)
{
    const dim3 threads(WARP, WARP);
    add_columns_kernel<<<ganz_cuda_blocks(width, WARP), threads, 0, c->stream>>>(partial, count, width, first, split,
                                                                                 second);
    ganz_cuda_launched(c, "sum over rows");
}

static __global__ void add_total_kernel(const float *partial, int count, float factor, float *to)
{
    __shared__ float room[WARP];
    float sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum += partial[i];
    sum = block_sum(sum, room);
    if (threadIdx.x == 0) *to += factor * sum;
}

void ganz_cuda_add_total(ganz_cuda *c, const float *partial, int count, float factor, float *to)
{
    add_total_kernel<<<1, 1024, 0, c->stream>>>(partial, count, factor, to);
    ganz_cuda_launched(c, "sum");
}

/* Rows of one part of a sum: at most MOST_PARTS parts, whole batches. */
static int part_rows(int rows)
{
    int each = 4 * BATCH;
    if (rows > each * MOST_PARTS) each = (int)ganz_round_up((size_t)ganz_cuda_blocks(rows, MOST_PARTS), BATCH);
    return each;
}

/* ---- embedding ---------------------------------------------------------------------------------- */

template <typename T> static __global__ void embed_kernel(const ganz_embed_call e)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= e.rows) return;
    const int id = e.ids[row];
    const bool known = id >= 1 && id < e.vocab;
    const float factor = e.table.scale != NULL ? e.table.scale[e.by_row && known ? id : 0] : 1.0f;
    const T *line = (const T *)e.table.m.data + (size_t)(known ? id : 0) * e.table.m.ld;
    const float *timing = e.timing + (size_t)e.positions[row] * e.cols;
#pragma unroll 4
    for (int i = lane; i < e.cols / 4; i += WARP) {
        float4 v = known ? load4(line + 4 * i) * factor * e.root : make_float4(0, 0, 0, 0);
        if (e.extra != NULL) v = v + load4(e.extra + 4 * i);
        v = v + load4(timing + 4 * i);
        store4(e.out + (size_t)row * e.cols + 4 * i, v * drop4(e.drop, row, e.cols, 4 * i));
    }
}

void ganz_cuda_embed(ganz_backend *be, const ganz_embed_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    if (!four_columns(c, "embed",
                      ganz_cuda_fours(&call->table.m) && ganz_cuda_floats(&call->table.m) && call->cols % 4 == 0))
        return;
    GANZ_CUDA_TYPE(call->table.m.type, T,
                   embed_kernel<T><<<ganz_cuda_blocks(call->rows, WARPS), THREADS, 0, c->stream>>>(*call));
    ganz_cuda_launched(c, "embed");
}

/* The gradient of the table is a sum over the tokens of each id. Tokens sorted by id are cut into groups of 32. An id
 * whose tokens all lie in one group is finished there. Of an id that goes on into the next group, the part of its
 * first group goes to `last`, each later part to `first`, and embed_join adds them up in order. */
static __device__ inline int sorted_id(const ganz_embed_call *e, int place)
{
    return place >= 0 && place < e->rows ? e->ids[e->by_id[place]] : INT_MIN;
}

static __device__ inline void add_to_table(const ganz_embed_call *e, int id, int column, float4 sum)
{
    if (id < 1 || id >= e->vocab || column >= e->cols) return;
    float *to = e->table_grad + (size_t)id * e->cols + column;
    store4(to, load4(to) + sum * e->root);
}

static __global__ void embed_groups(const ganz_embed_call e, float *first, float *last)
{
    const int group = blockIdx.x, lane = threadIdx.x % WARP, place = group * WARP + lane;
    const int column = 4 * ((blockIdx.y * WARPS + threadIdx.x / WARP) * WARP + lane);
    const int token = place < e.rows ? e.by_id[place] : -1;
    const int id = token >= 0 ? e.ids[token] : INT_MIN;
    const int before = sorted_id(&e, group * WARP - 1), after = sorted_id(&e, (group + 1) * WARP);
    bool here = before != __shfl_sync(0xffffffffu, id, 0); /* the run of tokens began in this group */
    float4 sum = make_float4(0, 0, 0, 0);
    for (int j0 = 0; j0 < WARP; j0 += BATCH) {
        float4 g[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            const int t = __shfl_sync(0xffffffffu, token, j0 + j);
            g[j] = make_float4(0, 0, 0, 0);
            if (t >= 0 && column < e.cols)
                g[j] = load4(e.out_grad + (size_t)t * e.cols + column) * drop4(e.drop, t, e.cols, column);
        }
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            const int at = j0 + j, mine = __shfl_sync(0xffffffffu, id, at);
            const int inside = __shfl_sync(0xffffffffu, id, (at + 1) % WARP), next = at + 1 < WARP ? inside : after;
            sum = sum + g[j];
            if (mine == INT_MIN || (next == mine && at + 1 < WARP)) continue;
            const size_t part = (size_t)group * e.cols + column;
            if (!here && column < e.cols) store4(first + part, sum);
            if (here && next == mine && column < e.cols) store4(last + part, sum);
            if (here && next != mine) add_to_table(&e, mine, column, sum);
            sum = make_float4(0, 0, 0, 0);
            here = true;
        }
    }
}

static __global__ void embed_join(const ganz_embed_call e, const float *first, const float *last)
{
    int group = blockIdx.x;
    const int column = 4 * (blockIdx.y * THREADS + threadIdx.x);
    const int id = sorted_id(&e, group * WARP + WARP - 1);
    if (column >= e.cols || id == INT_MIN || sorted_id(&e, (group + 1) * WARP) != id) return;
    if (sorted_id(&e, group * WARP) == id && sorted_id(&e, group * WARP - 1) == id) return; /* began earlier */
    float4 sum = load4(last + (size_t)group * e.cols + column);
    for (group++; sorted_id(&e, group * WARP) == id; group++)
        sum = sum + load4(first + (size_t)group * e.cols + column);
    add_to_table(&e, id, column, sum);
}

static __global__ void embed_extra(const ganz_embed_call e, int each, float *partial)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x);
    if (column >= e.cols) return;
    const int begin = blockIdx.y * each, end = min(begin + each, e.rows);
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
    for (int row = begin; row < end; row++)
        sum = sum + load4(e.out_grad + (size_t)row * e.cols + column) * drop4(e.drop, row, e.cols, column);
    store4(partial + (size_t)blockIdx.y * e.cols + column, sum);
}

void ganz_cuda_embed_grad(ganz_backend *be, const ganz_embed_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    if (!four_columns(c, "embed gradient", call->cols % 4 == 0)) return;
    const int groups = ganz_cuda_blocks(call->rows, WARP), each = part_rows(call->rows);
    const int parts = ganz_cuda_blocks(call->rows, each), wide = ganz_cuda_blocks(call->cols / 4, THREADS);
    const size_t room = (size_t)groups * (size_t)call->cols;
    float *first = (float *)ganz_cuda_scratch(c, (2 * room + (size_t)parts * call->cols) * sizeof(float));
    if (first == NULL) return;
    float *last = first + room, *partial = last + room;
    if (call->table_grad != NULL) {
        embed_groups<<<dim3(groups, wide), THREADS, 0, c->stream>>>(*call, first, last);
        embed_join<<<dim3(groups, wide), THREADS, 0, c->stream>>>(*call, first, last);
    }
    if (call->extra_grad != NULL) {
        embed_extra<<<dim3(wide, parts), THREADS, 0, c->stream>>>(*call, each, partial);
        ganz_cuda_add_columns(c, partial, parts, call->cols, call->extra_grad, call->cols, NULL);
    }
    ganz_cuda_launched(c, "embed gradient");
}

/* ---- residual and norm -------------------------------------------------------------------------- */

/* One warp for each row. A lane keeps its part of the row in shared memory, where no other lane looks. Returns mean and
 * 1 / deviation. */
template <typename D> static __device__ inline float2 sum_row(const ganz_norm_call &n, int row, float4 *mine)
{
    const int lane = threadIdx.x % WARP, fours = n.cols / 4;
    const float *x = n.x + (size_t)row * n.cols;
    const D *delta = (const D *)n.delta.data;
    float total = 0;
#pragma unroll 4
    for (int i = lane; i < fours; i += WARP) {
        float4 s = load4(x + 4 * i);
        if (delta != NULL) {
            s = s + load4(delta + (size_t)row * n.delta.ld + 4 * i) * drop4(n.drop, row, n.cols, 4 * i);
            store4(n.sum + (size_t)row * n.cols + 4 * i, s);
        }
        mine[i] = s;
        total += total4(s);
    }
    const float mean = warp_sum(total) / n.cols;
    float squares = 0;
    for (int i = lane; i < fours; i += WARP) {
        const float4 d = mine[i] - mean;
        squares += total4(d * d);
    }
    const float inverse = 1.0f / sqrtf(warp_sum(squares) / n.cols + n.eps);
    if (n.stats != NULL && lane == 0) {
        n.stats[2 * (size_t)row] = mean;
        n.stats[2 * (size_t)row + 1] = inverse;
    }
    return make_float2(mean, inverse);
}

template <typename D, typename Y> static __global__ void norm_kernel(const ganz_norm_call n)
{
    extern __shared__ float4 rows_of_warps[];
    const int row = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP, fours = n.cols / 4;
    if (row >= n.rows) return;
    float4 *mine = rows_of_warps + (size_t)(threadIdx.x / WARP) * fours;
    const float2 s = sum_row<D>(n, row, mine);
    Y *y = (Y *)n.y.data + (size_t)row * n.y.ld;
#pragma unroll 4
    for (int i = lane; i < fours; i += WARP)
        store4(y + 4 * i, (mine[i] - s.x) * s.y * load4(n.gain + 4 * i) + load4(n.bias + 4 * i));
}

/* The same to codes, each out with a scale of its own. */
template <typename D, typename C> static __global__ void norm_codes_kernel(const ganz_norm_call n)
{
    extern __shared__ float4 rows_of_warps[];
    const int row = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP, fours = n.cols / 4;
    if (row >= n.rows) return;
    float4 *mine = rows_of_warps + (size_t)(threadIdx.x / WARP) * fours;
    const float2 s = sum_row<D>(n, row, mine);
#pragma unroll 4
    for (int i = lane; i < fours; i += WARP)
        mine[i] = (mine[i] - s.x) * s.y * load4(n.gain + 4 * i) + load4(n.bias + 4 * i);
    for (int u = 0; u < GANZ_CODE_OUTS; u++) {
        if (n.codes[u].m.data == NULL) continue;
        const code_range r = range_of(n.codes[u].scale, n.codes[u].p, true);
        C *codes = (C *)n.codes[u].m.data + (size_t)row * n.codes[u].m.ld;
        uint8_t *inside = n.codes[u].inside + (size_t)row * fours;
#pragma unroll 4
        for (int i = lane; i < fours; i += WARP) {
            const float4 y = in_scales(mine[i], r);
            store4(codes + 4 * i, codes_of(y, r));
            inside[i] = (uint8_t)bits_inside(y, r);
        }
    }
}

static bool norm_fits(ganz_cuda *c, const ganz_norm_call *n, const char *where)
{
    bool good = n->cols % 4 == 0 && ganz_cuda_fours(&n->delta) && ganz_cuda_floats(&n->delta);
    for (int u = 0; u < GANZ_CODE_OUTS; u++)
        good = good && ganz_cuda_fours(&n->codes[u].m) && (n->codes[u].m.data == NULL || n->codes[u].inside != NULL);
    return four_columns(c, where, good);
}

static bool to_codes(const ganz_norm_call *n)
{
    for (int u = 0; u < GANZ_CODE_OUTS; u++)
        if (n->codes[u].m.data != NULL) return true;
    return false;
}

void ganz_cuda_norm(ganz_backend *be, const ganz_norm_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    if (!norm_fits(c, call, "norm") ||
        !four_columns(c, "norm", ganz_cuda_fours(&call->y) && ganz_cuda_floats(&call->y)))
        return;
    const size_t shared = (size_t)WARPS * (size_t)call->cols * sizeof(float);
    if (shared > 48 * 1024) {
        ganz_cuda_fail(c, "norm", "rows of more than 3072 columns are not supported on CUDA");
        return;
    }
    const int blocks = ganz_cuda_blocks(call->rows, WARPS);
    if (to_codes(call))
        GANZ_CUDA_TYPE(call->delta.type, D,
                       GANZ_CUDA_TYPE(c->table.product, C,
                                      norm_codes_kernel<D, C><<<blocks, THREADS, shared, c->stream>>>(*call)));
    else
        GANZ_CUDA_TYPE(
            call->delta.type, D,
            GANZ_CUDA_TYPE(call->y.type, Y, norm_kernel<D, Y><<<blocks, THREADS, shared, c->stream>>>(*call)));
    ganz_cuda_launched(c, "norm");
}

/* Gradients of y that came back by way of its codes, three at a time so that loads overlap. */
template <typename G> static __device__ inline float4 code_grads(const ganz_norm_call &n, int row, int column)
{
    float4 sum = make_float4(0, 0, 0, 0);
    for (int u = 0; u < GANZ_CODE_OUTS && n.code_grad[u].data != NULL; u += 3) {
        float4 g[3];
        unsigned bits[3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const ganz_matrix &m = n.code_grad[u + i];
            bits[i] = 0;
            if (m.data == NULL) continue;
            g[i] = load4((const G *)m.data + (size_t)row * m.ld + column);
            bits[i] = n.codes[u + i].inside[(size_t)row * (n.cols / 4) + column / 4];
        }
#pragma unroll
        for (int i = 0; i < 3; i++)
            if (bits[i] != 0) sum = sum + where(bits[i], g[i]);
    }
    return sum;
}

/* A block walks over its share of the rows, two at a time; a thread owns four columns, so that the sums of the
 * gradients of gain and bias stay in registers. partial: (blocks, 2 cols). */
template <typename D, typename Y, bool CODES>
static __global__ void __launch_bounds__(1024) norm_grad_kernel(const ganz_norm_call n, int each, float *partial)
{
    __shared__ float room[2][2 * NORM_ROWS][WARP];
    const int column = 4 * threadIdx.x, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const bool active = column < n.cols;
    const float *sum = n.delta.data != NULL ? n.sum : n.x;
    const float4 gain = active ? load4(n.gain + column) : make_float4(0, 0, 0, 0);
    float4 scale_sum = make_float4(0, 0, 0, 0), bias_sum = scale_sum;
    const int begin = blockIdx.x * each, end = min(begin + each, n.rows);
    int side = 0;
    for (int base = begin; base < end; base += NORM_ROWS, side ^= 1) {
        float4 hat[NORM_ROWS], g[NORM_ROWS], back[NORM_ROWS];
        float inverse[NORM_ROWS], part[2 * NORM_ROWS];
#pragma unroll
        for (int r = 0; r < NORM_ROWS; r++) {
            const int row = base + r;
            hat[r] = g[r] = back[r] = make_float4(0, 0, 0, 0);
            inverse[r] = 0;
            if (row >= end || !active) continue;
            const size_t at = (size_t)row * n.cols + column;
            const float mean = n.stats[2 * (size_t)row];
            inverse[r] = n.stats[2 * (size_t)row + 1];
            hat[r] = (load4(sum + at) - mean) * inverse[r];
            g[r] = CODES ? code_grads<Y>(n, row, column)
                         : load4((const Y *)n.y_grad.data + (size_t)row * n.y_grad.ld + column);
            if (n.sum_grad != NULL) back[r] = load4(n.sum_grad + at);
        }
#pragma unroll
        for (int r = 0; r < NORM_ROWS; r++) {
            scale_sum = scale_sum + g[r] * hat[r];
            bias_sum = bias_sum + g[r];
            g[r] = g[r] * gain;
            part[2 * r] = warp_sum(total4(g[r]));
            part[2 * r + 1] = warp_sum(total4(g[r] * hat[r]));
        }
        if (lane == 0)
            for (int i = 0; i < 2 * NORM_ROWS; i++) room[side][i][warp] = part[i];
        __syncthreads(); /* one barrier a turn is enough: the other side is written next */
#pragma unroll
        for (int r = 0; r < NORM_ROWS; r++) {
            const int row = base + r;
            float mean_g = 0, mean_gh = 0;
            for (int w = 0; w < warps; w++) {
                mean_g += room[side][2 * r][w];
                mean_gh += room[side][2 * r + 1][w];
            }
            if (row >= end || !active) continue;
            const float4 inner = (g[r] - mean_g / n.cols) + hat[r] * (-mean_gh / n.cols);
            const float4 d = inner * inverse[r] + back[r];
            store4(n.x_grad + (size_t)row * n.cols + column, d);
            if (n.delta_grad.data != NULL)
                store4((D *)n.delta_grad.data + (size_t)row * n.delta_grad.ld + column,
                       d * drop4(n.drop, row, n.cols, column));
        }
    }
    if (partial == NULL || !active) return;
    store4(partial + (size_t)blockIdx.x * 2 * n.cols + column, scale_sum);
    store4(partial + (size_t)blockIdx.x * 2 * n.cols + n.cols + column, bias_sum);
}

/* The uses that something came back to, first and without holes. */
static ganz_norm_call packed_uses(const ganz_norm_call *call)
{
    ganz_norm_call n = *call;
    int used = 0;
    for (int u = 0; u < GANZ_CODE_OUTS; u++) {
        if (call->code_grad[u].data == NULL) continue;
        n.codes[used] = call->codes[u];
        n.code_grad[used++] = call->code_grad[u];
    }
    for (; used < GANZ_CODE_OUTS; used++) n.code_grad[used].data = NULL;
    return n;
}

void ganz_cuda_norm_grad(ganz_backend *be, const ganz_norm_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    const bool good = norm_fits(c, call, "norm gradient") && call->cols <= WIDEST_NORM &&
                      ganz_cuda_fours(&call->y_grad) && ganz_cuda_floats(&call->y_grad) &&
                      ganz_cuda_fours(&call->delta_grad) && ganz_cuda_floats(&call->delta_grad);
    bool fours = good;
    for (int u = 0; u < GANZ_CODE_OUTS; u++)
        fours = fours && ganz_cuda_fours(&call->code_grad[u]) &&
                (call->code_grad[u].data == NULL || call->code_grad[u].type == c->table.product);
    if (!four_columns(c, "norm gradient", fours)) return;
    const int threads = (int)ganz_round_up((size_t)call->cols / 4, WARP);
    const int most = ganz_cuda_min(c->processors * 6, MOST_PARTS);
    const int each = (int)ganz_round_up((size_t)ganz_cuda_blocks(call->rows, most), NORM_ROWS);
    const int blocks = ganz_cuda_blocks(call->rows, each);
    float *partial = NULL;
    if (call->gain_grad != NULL || call->bias_grad != NULL) {
        partial = (float *)ganz_cuda_scratch(c, (size_t)blocks * 2 * (size_t)call->cols * sizeof(float));
        if (partial == NULL) return;
    }
    if (to_codes(call))
        GANZ_CUDA_TYPE(call->delta_grad.type, D,
                       GANZ_CUDA_TYPE(c->table.product, Y,
                                      norm_grad_kernel<D, Y, true>
                                      <<<blocks, threads, 0, c->stream>>>(packed_uses(call), each, partial)));
    else
        GANZ_CUDA_TYPE(call->delta_grad.type, D,
                       GANZ_CUDA_TYPE(call->y_grad.type, Y,
                                      norm_grad_kernel<D, Y, false>
                                      <<<blocks, threads, 0, c->stream>>>(*call, each, partial)));
    ganz_cuda_launched(c, "norm gradient");
    if (partial != NULL)
        ganz_cuda_add_columns(c, partial, blocks, 2 * call->cols, call->gain_grad, call->cols, call->bias_grad);
}

/* ---- around a product --------------------------------------------------------------------------- */

template <typename T> static __global__ void finish_kernel(const ganz_linear_call l)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x), base = blockIdx.y * BATCH;
    if (column >= l.out) return;
    const float4 bias = l.bias != NULL ? load4(l.bias + column) : make_float4(0, 0, 0, 0);
    T *y = (T *)l.y.data + (size_t)base * l.y.ld + column;
    float4 v[BATCH];
#pragma unroll
    for (int r = 0; r < BATCH; r++)
        if (base + r < l.rows) v[r] = load4(y + (size_t)r * l.y.ld);
#pragma unroll
    for (int r = 0; r < BATCH; r++) {
        if (base + r >= l.rows) continue;
        float4 s = v[r] + bias;
        if (l.relu) s = make_float4(fmaxf(s.x, 0), fmaxf(s.y, 0), fmaxf(s.z, 0), fmaxf(s.w, 0));
        store4(y + (size_t)r * l.y.ld, s * drop4(l.drop, base + r, l.out, column));
    }
}

void ganz_cuda_finish_rows(ganz_cuda *c, const ganz_linear_call *call)
{
    if (!four_columns(c, "linear", ganz_cuda_fours(&call->y) && ganz_cuda_floats(&call->y))) return;
    const dim3 blocks(ganz_cuda_blocks(call->out / 4, THREADS), ganz_cuda_blocks(call->rows, BATCH));
    GANZ_CUDA_TYPE(call->y.type, T, finish_kernel<T><<<blocks, THREADS, 0, c->stream>>>(*call));
    ganz_cuda_launched(c, "linear");
}

static __device__ inline float4 plus(float4 a, float4 b)
{
    return make_float4(__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y), __fadd_rn(a.z, b.z), __fadd_rn(a.w, b.w));
}
static __device__ inline float4 times(float4 a, float4 b)
{
    return make_float4(__fmul_rn(a.x, b.x), __fmul_rn(a.y, b.y), __fmul_rn(a.z, b.z), __fmul_rn(a.w, b.w));
}
/* What a unit of the sums of four columns is worth. */
static __device__ inline float4 worth_of(const ganz_linear_call *l, int column)
{
    const float x = l->x.scale != NULL ? *l->x.scale : 1.0f;
    if (l->w_by_row) return times(make_float4(x, x, x, x), load4(l->w.scale + column));
    const float all = __fmul_rn(x, l->w.scale != NULL ? *l->w.scale : 1.0f);
    return make_float4(all, all, all, all);
}
static __device__ inline unsigned above_zero(float4 v)
{
    return (unsigned)(v.x > 0) | (unsigned)(v.y > 0) << 1 | (unsigned)(v.z > 0) << 2 | (unsigned)(v.w > 0) << 3;
}

/* Each product and sum is rounded by itself, as where integers are multiplied. */
template <typename C>
static __global__ void finish_codes_kernel(const ganz_linear_call l, const float *sums, int first, int rows)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x), base = blockIdx.y * BATCH;
    if (column >= l.out) return;
    const float4 worth = worth_of(&l, column);
    const code_range r = range_of(l.codes.scale, l.codes.p, true);
    const float4 bias = l.bias != NULL ? load4(l.bias + column) : make_float4(0, 0, 0, 0);
    const int fours = l.out / 4;
    float4 v[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++)
        if (base + i < rows) v[i] = load4(sums + (size_t)(base + i) * l.out + column);
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
        const int row = first + base + i;
        if (base + i >= rows) continue;
        const float4 kept = drop4(l.drop, row, l.out, column);
        float4 s = plus(times(v[i], worth), bias);
        if (l.relu) s = make_float4(fmaxf(s.x, 0), fmaxf(s.y, 0), fmaxf(s.z, 0), fmaxf(s.w, 0));
        if (l.drop.mask != NULL) s = s * kept;
        const float4 y = in_scales(s, r);
        store4((C *)l.codes.m.data + (size_t)row * l.codes.m.ld + column, codes_of(y, r));
        if (l.codes.inside != NULL)
            l.codes.inside[(size_t)row * fours + column / 4] =
                (uint8_t)(bits_inside(y, r) & above_zero(l.relu ? s : kept));
    }
}

void ganz_cuda_finish_codes(ganz_cuda *c, const ganz_linear_call *call, const float *sums, int first, int rows)
{
    const bool good = ganz_cuda_fours(&call->codes.m) && ganz_cuda_floats(&call->codes.m) && call->out % 4 == 0;
    if (!four_columns(c, "linear", good)) return;
    const dim3 blocks(ganz_cuda_blocks(call->out / 4, THREADS), ganz_cuda_blocks(rows, BATCH));
    GANZ_CUDA_TYPE(call->codes.m.type, C,
                   finish_codes_kernel<C><<<blocks, THREADS, 0, c->stream>>>(*call, sums, first, rows));
    ganz_cuda_launched(c, "linear");
}

template <typename Y, typename G> static __global__ void back_kernel(const ganz_linear_call l, int each, float *partial)
{
    const int column = 4 * (blockIdx.x * THREADS + threadIdx.x);
    if (column >= l.out) return;
    const int begin = blockIdx.y * each, end = min(begin + each, l.rows);
    const float scale = l.drop.mask != NULL ? l.drop.scale : 1.0f;
    G *grad = (G *)l.y_grad.data + column;
    const Y *y = (const Y *)l.y.data + column;
    const uint8_t *inside = l.codes.inside != NULL ? l.codes.inside + column / 4 : NULL;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int base = begin; base < end; base += BATCH) {
        float4 g[BATCH], v[BATCH];
        unsigned bits[BATCH];
#pragma unroll
        for (int r = 0; r < BATCH; r++) {
            if (base + r >= end) continue;
            g[r] = load4(grad + (size_t)(base + r) * l.y_grad.ld);
            if (inside != NULL) bits[r] = inside[(size_t)(base + r) * (l.out / 4)];
            else if (l.relu) v[r] = load4(y + (size_t)(base + r) * l.y.ld);
        }
#pragma unroll
        for (int r = 0; r < BATCH; r++) {
            if (base + r >= end) continue;
            float4 d = g[r];
            if (inside != NULL) d = where(bits[r], d) * scale;
            else if (l.relu)
                d = make_float4(v[r].x > 0 ? d.x * scale : 0, v[r].y > 0 ? d.y * scale : 0,
                                v[r].z > 0 ? d.z * scale : 0, v[r].w > 0 ? d.w * scale : 0);
            else d = d * drop4(l.drop, base + r, l.out, column);
            if (l.relu || l.drop.mask != NULL || inside != NULL) store4(grad + (size_t)(base + r) * l.y_grad.ld, d);
            sum = sum + d;
        }
    }
    if (partial != NULL) store4(partial + (size_t)blockIdx.y * l.out + column, sum);
}

void ganz_cuda_back_rows(ganz_cuda *c, const ganz_linear_call *call)
{
    if (!call->relu && call->drop.mask == NULL && call->bias_grad == NULL) {
        if (call->codes.inside != NULL) ganz_cuda_zero_clipped(c, &call->y_grad, call->codes.inside);
        return;
    }
    const bool good =
        ganz_cuda_fours(&call->y_grad) && ganz_cuda_floats(&call->y_grad) &&
        (!call->relu || call->codes.inside != NULL || (ganz_cuda_fours(&call->y) && ganz_cuda_floats(&call->y)));
    if (!four_columns(c, "linear gradient", good)) return;
    const int each = part_rows(call->rows), parts = ganz_cuda_blocks(call->rows, each);
    float *partial = NULL;
    if (call->bias_grad != NULL) {
        partial = (float *)ganz_cuda_scratch(c, (size_t)parts * (size_t)call->out * sizeof(float));
        if (partial == NULL) return;
    }
    const dim3 blocks(ganz_cuda_blocks(call->out / 4, THREADS), parts);
    GANZ_CUDA_TYPE(call->y.type, Y,
                   GANZ_CUDA_TYPE(call->y_grad.type, G,
                                  back_kernel<Y, G><<<blocks, THREADS, 0, c->stream>>>(*call, each, partial)));
    ganz_cuda_launched(c, "linear gradient");
    if (partial != NULL) ganz_cuda_add_columns(c, partial, parts, call->out, call->bias_grad, call->out, NULL);
}

template <typename T>
static __global__ void scale_kernel(const ganz_matrix m, const float *factors, const float *factor)
{
    const int column = blockIdx.x * THREADS + threadIdx.x;
    if (column >= m.cols) return;
    const float by = factor != NULL ? __fmul_rn(*factor, factors[column]) : factors[column];
    for (int row = blockIdx.y; row < m.rows; row += gridDim.y) {
        T *x = (T *)m.data + (size_t)row * m.ld + column;
        store1(x, __fmul_rn(load1(x), by));
    }
}

void ganz_cuda_scale_columns(ganz_cuda *c, const ganz_matrix *m, const float *factors, const float *factor)
{
    const dim3 blocks(ganz_cuda_blocks(m->cols, THREADS), ganz_cuda_min(m->rows, 1024));
    GANZ_CUDA_TYPE(m->type, T, scale_kernel<T><<<blocks, THREADS, 0, c->stream>>>(*m, factors, factor));
    ganz_cuda_launched(c, "steps of rows");
}

template <typename F, typename T>
static __global__ void convert_kernel(const F *from, int rows, int cols, int ld, T *to)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (int64_t)rows * cols) return;
    store1(to + i, load1(from + (size_t)(i / cols) * ld + i % cols));
}

void ganz_cuda_convert(ganz_cuda *c, const ganz_matrix *from, ganz_type type, void *to)
{
    const int blocks = ganz_cuda_blocks((int64_t)from->rows * from->cols, THREADS);
    if (blocks == 0) return;
    GANZ_CUDA_TYPE(from->type, F,
                   GANZ_CUDA_TYPE(type, T,
                                  convert_kernel<F, T><<<blocks, THREADS, 0, c->stream>>>(
                                      (const F *)from->data, from->rows, from->cols, from->ld, (T *)to)));
    ganz_cuda_launched(c, "conversion");
}
