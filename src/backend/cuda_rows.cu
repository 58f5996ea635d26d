/* Embedding, residual and layer norm, and sums over rows. A warp or a block works on a row, four columns a thread. */
#include <limits.h>

#include "backend/cuda_common.cuh"

enum { THREADS = 128, WARPS = THREADS / WARP, BATCH = GANZ_CUDA_BATCH, NORM_ROWS = 2, WIDEST_NORM = 4096 };

/* ---- sums over rows ----------------------------------------------------------------------------- */

static __global__ void add_columns_kernel(const ganz_cuda_columns s)
{
    __shared__ float room[WARP][WARP + 1];
    const int column = blockIdx.x * WARP + threadIdx.x;
    float sum = 0;
    if (column < s.width)
#pragma unroll 16
        for (int row = threadIdx.y; row < s.count; row += WARP) sum += s.partial[(size_t)row * s.width + column];
    room[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= s.width) return;
    float total = 0;
    for (int i = 0; i < WARP; i++) total += room[i][threadIdx.x];
    const int part = column / s.each;
    float *to = part == 0 ? s.to[0] : part == 1 ? s.to[1] : s.to[2];
    if (to != NULL) to[column - part * s.each] += total;
}

void ganz_cuda_add_columns(ganz_cuda *c, const ganz_cuda_columns *sums)
{
    const dim3 threads(WARP, WARP);
    add_columns_kernel<<<ganz_cuda_blocks(sums->width, WARP), threads, 0, c->stream>>>(*sums);
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

/* ---- embedding ---------------------------------------------------------------------------------- */

template <typename T> static __global__ void embed_kernel(const ganz_embed_call e)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= e.rows) return;
    const int id = e.ids[row];
    const bool known = id >= 0 && id != e.start_id && id < e.vocab;
    const float factor = e.table.scale != NULL ? e.table.scale[e.by_row && known ? id : 0] : 1.0f;
    const T *line = (const T *)e.table.m.data + (size_t)(known ? id : 0) * e.table.m.ld;
    const float *timing = e.timing + (size_t)e.positions[row] * e.cols;
#pragma unroll 4
    for (int i = lane; i < e.cols / 4; i += WARP) {
        float4 v = make_float4(0, 0, 0, 0);
        if (known) v = load4(line + 4 * i) * factor * e.root;
        else if (e.start != NULL && id == e.start_id) v = load4(e.start + 4 * i) * e.root;
        if (e.extra != NULL) v = v + load4(e.extra + 4 * i);
        v = v + load4(timing + 4 * i);
        store4(e.out + (size_t)row * e.cols + 4 * i, v * drop4(e.drop, row, e.cols, 4 * i));
    }
}

void ganz_cuda_embed(ganz_backend *be, const ganz_embed_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    if (call->table.m.type == GANZ_REAL && call->table.scale == NULL && call->drop.mask == NULL) {
        ganz_cuda_embed_codes(be, call); /* with the CPU's bits, for integer models that look up values */
        return;
    }
    if (!ganz_cuda_four_columns(
            c, "embed", ganz_cuda_fours(&call->table.m) && ganz_cuda_floats(&call->table.m) && call->cols % 4 == 0))
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
    if (id < 0 || id >= e->vocab || column >= e->cols) return;
    float *line = e->table_grad != NULL ? e->table_grad + (size_t)id * e->cols : NULL;
    if (id == e->start_id) line = e->start_grad;
    if (line != NULL) store4(line + column, load4(line + column) + sum * e->root);
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
    if (!ganz_cuda_four_columns(c, "embed gradient", call->cols % 4 == 0)) return;
    const int groups = ganz_cuda_blocks(call->rows, WARP), each = ganz_cuda_part_rows(call->rows);
    const int parts = ganz_cuda_blocks(call->rows, each), wide = ganz_cuda_blocks(call->cols / 4, THREADS);
    const size_t room = (size_t)groups * (size_t)call->cols;
    float *first = (float *)ganz_cuda_scratch(c, (2 * room + (size_t)parts * call->cols) * sizeof(float));
    if (first == NULL) return;
    float *last = first + room, *partial = last + room;
    if (call->table_grad != NULL || call->start_grad != NULL) {
        embed_groups<<<dim3(groups, wide), THREADS, 0, c->stream>>>(*call, first, last);
        embed_join<<<dim3(groups, wide), THREADS, 0, c->stream>>>(*call, first, last);
    }
    if (call->extra_grad != NULL) {
        embed_extra<<<dim3(wide, parts), THREADS, 0, c->stream>>>(*call, each, partial);
        const ganz_cuda_columns sums = {partial, parts, call->cols, call->cols, {call->extra_grad}};
        ganz_cuda_add_columns(c, &sums);
    }
    ganz_cuda_launched(c, "embed gradient");
}

/* ---- residual and norm -------------------------------------------------------------------------- */

/* Readers of one launch: kernels take their arguments by value. More of them take further launches. */
enum { OUTS = 12 };
typedef struct norm_outs {
    int count;
    ganz_code_out out[OUTS];
    ganz_matrix grad[OUTS];
} norm_outs;

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

/* The same to codes, each out with a scale of its own or none, and to values where they are wanted too. */
template <typename D, typename C> static __global__ void norm_codes_kernel(const ganz_norm_call n, const norm_outs outs)
{
    extern __shared__ float4 rows_of_warps[];
    const int row = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP, fours = n.cols / 4;
    if (row >= n.rows) return;
    float4 *mine = rows_of_warps + (size_t)(threadIdx.x / WARP) * fours;
    const float2 s = sum_row<D>(n, row, mine);
#pragma unroll 4
    for (int i = lane; i < fours; i += WARP)
        mine[i] = (mine[i] - s.x) * s.y * load4(n.gain + 4 * i) + load4(n.bias + 4 * i);
    if (n.y.data != NULL)
        for (int i = lane; i < fours; i += WARP) store4((float *)n.y.data + (size_t)row * n.y.ld + 4 * i, mine[i]);
    for (int u = 0; u < outs.count; u++) {
        if (outs.out[u].scale == NULL) {
            C *copy = (C *)outs.out[u].m.data + (size_t)row * outs.out[u].m.ld;
            for (int i = lane; i < fours; i += WARP) store4(copy + 4 * i, mine[i]);
            continue;
        }
        const code_range r = range_of(outs.out[u].scale, outs.out[u].p, true);
        C *codes = (C *)outs.out[u].m.data + (size_t)row * outs.out[u].m.ld;
        uint8_t *inside = outs.out[u].inside + (size_t)row * fours;
        int8_t *bytes = outs.out[u].bytes != NULL ? outs.out[u].bytes + (size_t)row * outs.out[u].m.ld : NULL;
#pragma unroll 4
        for (int i = lane; i < fours; i += WARP) {
            const float4 y = in_scales(mine[i], r), code = codes_of(y, r);
            store4(codes + 4 * i, code);
            if (bytes != NULL) store4(bytes + 4 * i, code);
            inside[i] = (uint8_t)bits_inside(y, r);
        }
    }
}

/* The readers from number *next on that get codes, or that a gradient came back from; as many as one launch takes. */
static norm_outs some_outs(const ganz_norm_call *n, bool back, int *next)
{
    norm_outs some;
    some.count = 0;
    for (; *next < n->outs && some.count < OUTS; ++*next) {
        if (back ? n->code_grad == NULL || n->code_grad[*next].data == NULL : n->codes[*next].m.data == NULL) continue;
        some.out[some.count] = n->codes[*next];
        if (back) some.grad[some.count] = n->code_grad[*next];
        some.count++;
    }
    for (int i = some.count; i < OUTS; i++) some.grad[i].data = NULL;
    return some;
}

static bool norm_fits(ganz_cuda *c, const ganz_norm_call *n, const char *where)
{
    bool good = n->cols % 4 == 0 && ganz_cuda_fours(&n->delta) && ganz_cuda_floats(&n->delta);
    for (int u = 0; u < n->outs; u++)
        good = good && ganz_cuda_fours(&n->codes[u].m) &&
               (n->codes[u].m.data == NULL || n->codes[u].scale == NULL || n->codes[u].inside != NULL);
    return ganz_cuda_four_columns(c, where, good);
}

/* Codes for all readers, launch by launch: the first one adds delta, the last one writes the values, whose memory may
 * be that of the rows the others read. */
static void norm_to_codes(ganz_cuda *c, const ganz_norm_call *call, norm_outs outs, int next)
{
    const size_t shared = (size_t)WARPS * (size_t)call->cols * sizeof(float);
    const int blocks = ganz_cuda_blocks(call->rows, WARPS);
    ganz_norm_call n = *call;
    while (outs.count > 0) {
        const norm_outs more = some_outs(call, false, &next);
        if (more.count > 0) n.y.data = NULL;
        else n.y = call->y;
        GANZ_CUDA_TYPE(n.delta.type, D,
                       GANZ_CUDA_TYPE(c->table.product, C,
                                      norm_codes_kernel<D, C><<<blocks, THREADS, shared, c->stream>>>(n, outs)));
        if (n.delta.data != NULL) n.x = n.sum;
        n.delta.data = NULL;
        outs = more;
    }
}

void ganz_cuda_norm(ganz_backend *be, const ganz_norm_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    if (!norm_fits(c, call, "norm") ||
        !ganz_cuda_four_columns(c, "norm", ganz_cuda_fours(&call->y) && ganz_cuda_floats(&call->y)))
        return;
    const size_t shared = (size_t)WARPS * (size_t)call->cols * sizeof(float);
    if (shared > 48 * 1024) {
        ganz_cuda_fail(c, "norm", "rows of more than 3072 columns are not supported on CUDA");
        return;
    }
    int next = 0;
    const norm_outs outs = some_outs(call, false, &next);
    if (outs.count > 0 && call->y.data != NULL && call->y.type != GANZ_REAL) {
        ganz_cuda_fail(c, "norm", "values beside codes are written in REAL only");
        return;
    }
    if (outs.count > 0) norm_to_codes(c, call, outs, next);
    else
        GANZ_CUDA_TYPE(call->delta.type, D,
                       GANZ_CUDA_TYPE(call->y.type, Y,
                                      norm_kernel<D, Y>
                                      <<<ganz_cuda_blocks(call->rows, WARPS), THREADS, shared, c->stream>>>(*call)));
    ganz_cuda_launched(c, "norm");
}

/* Gradients of y that came back by way of its codes, of up to USES readers, three at a time so that loads overlap; with
 * three or one there is no loop, and those of several rows overlap too. */
template <typename G, int USES>
static __device__ inline float4 code_grads(const norm_outs &outs, int cols, int row, int column)
{
    constexpr int EACH = USES < 3 ? USES : 3;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int u = 0; u < USES && (USES == EACH || outs.grad[u].data != NULL); u += EACH) {
        float4 g[EACH];
        unsigned bits[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const ganz_matrix &m = outs.grad[u + i];
            bits[i] = 0;
            if (m.data == NULL) continue;
            g[i] = load4((const G *)m.data + (size_t)row * m.ld + column);
            const uint8_t *inside = outs.out[u + i].inside;
            bits[i] = inside != NULL ? inside[(size_t)row * (cols / 4) + column / 4] : 15;
        }
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (bits[i] != 0) sum = sum + where(bits[i], g[i]);
    }
    return sum;
}

/* sum (rows, cols) = before + the gradients of one launch's readers; before may be NULL, or sum itself. */
template <typename G>
static __global__ void add_code_grads(const norm_outs outs, int cols, const float *before, int before_ld, float *sum)
{
    const int row = blockIdx.x;
    for (int column = 4 * threadIdx.x; column < cols; column += 4 * blockDim.x) {
        float4 g = code_grads<G, OUTS>(outs, cols, row, column);
        if (before != NULL) g = load4(before + (size_t)row * before_ld + column) + g;
        store4(sum + (size_t)row * cols + column, g);
    }
}

/* A block walks over its share of the rows, two at a time; a thread owns four columns, so that the sums of the
 * gradients of gain, bias and delta stay in registers. partial: (blocks, 2 cols), or 3 with delta's. USES: readers that
 * codes went to, at most; 0: y has the gradient alone. */
template <typename D, typename Y, int USES, int MOST_THREADS>
static __global__ void __launch_bounds__(MOST_THREADS, MOST_THREADS < 1024 ? 3 : 1)
    norm_grad_kernel(const ganz_norm_call n, const norm_outs outs, int each, float *partial)
{
    __shared__ float room[2][2 * NORM_ROWS][WARP];
    const int column = 4 * threadIdx.x, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const bool active = column < n.cols;
    const float *sum = n.delta.data != NULL ? n.sum : n.x;
    const float4 gain = active ? load4(n.gain + column) : make_float4(0, 0, 0, 0);
    float4 scale_sum = make_float4(0, 0, 0, 0), bias_sum = scale_sum, delta_sum = scale_sum;
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
            if constexpr (USES > 0) g[r] = code_grads<Y, USES>(outs, n.cols, row, column);
            else g[r] = load4((const Y *)n.y_grad.data + (size_t)row * n.y_grad.ld + column);
            if (USES > 0 && n.y_grad.data != NULL)
                g[r] = g[r] + load4((const float *)n.y_grad.data + (size_t)row * n.y_grad.ld + column);
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
            if (n.delta_grad.data == NULL) continue;
            const float4 back_delta = d * drop4(n.drop, row, n.cols, column);
            store4((D *)n.delta_grad.data + (size_t)row * n.delta_grad.ld + column, back_delta);
            delta_sum = delta_sum + back_delta;
        }
    }
    if (partial == NULL || !active) return;
    float *to = partial + (size_t)blockIdx.x * (n.delta_sums != NULL ? 3 : 2) * n.cols + column;
    store4(to, scale_sum);
    store4(to + n.cols, bias_sum);
    if (n.delta_sums != NULL) store4(to + 2 * n.cols, delta_sum);
}

static bool norm_grad_fits(ganz_cuda *c, const ganz_norm_call *call)
{
    bool good = norm_fits(c, call, "norm gradient") && call->cols <= WIDEST_NORM && ganz_cuda_fours(&call->y_grad) &&
                ganz_cuda_floats(&call->y_grad) && ganz_cuda_fours(&call->delta_grad) &&
                ganz_cuda_floats(&call->delta_grad);
    for (int u = 0; call->code_grad != NULL && u < call->outs; u++)
        good = good && ganz_cuda_fours(&call->code_grad[u]) &&
               (call->code_grad[u].data == NULL || (call->code_grad[u].type == c->table.product &&
                                                    (call->y_grad.data == NULL || call->y_grad.type == GANZ_REAL)));
    return ganz_cuda_four_columns(c, "norm gradient", good);
}

/* Adds the gradients of all but the last launch's readers to y_grad, in memory of `room`; *outs are the last ones. */
static void gather_grads(ganz_cuda *c, ganz_norm_call *n, norm_outs *outs, int next, float *room)
{
    while (true) {
        const norm_outs more = some_outs(n, true, &next);
        if (more.count == 0) return;
        GANZ_CUDA_TYPE(c->table.product, G,
                       add_code_grads<G><<<n->rows, THREADS, 0, c->stream>>>(
                           *outs, n->cols, (const float *)n->y_grad.data, n->y_grad.ld, room));
        const ganz_matrix gathered = {n->rows, n->cols, n->cols, GANZ_REAL, room};
        n->y_grad = gathered;
        *outs = more;
    }
}

/* A share of the rows for each block, and the room for its sums. */
typedef struct norm_shares {
    int blocks, threads, each;
    float *partial;
} norm_shares;

template <int USES, int MOST_THREADS>
static void codes_back(ganz_cuda *c, const ganz_norm_call *n, const norm_outs *outs, const norm_shares *s)
{
    GANZ_CUDA_TYPE(n->delta_grad.type, D,
                   GANZ_CUDA_TYPE(c->table.product, Y,
                                  norm_grad_kernel<D, Y, USES, MOST_THREADS>
                                  <<<s->blocks, s->threads, 0, c->stream>>>(*n, *outs, s->each, s->partial)));
}

static void norm_back(ganz_cuda *c, const ganz_norm_call *n, const norm_outs *outs, const norm_shares *s)
{
    if (outs->count == 0 && n->y_grad.data != NULL)
        GANZ_CUDA_TYPE(n->delta_grad.type, D,
                       GANZ_CUDA_TYPE(n->y_grad.type, Y,
                                      norm_grad_kernel<D, Y, 0, 1024>
                                      <<<s->blocks, s->threads, 0, c->stream>>>(*n, *outs, s->each, s->partial)));
    else if (outs->count == 1 && s->threads <= 256) codes_back<1, 256>(c, n, outs, s);
    else if (outs->count > 0 && outs->count <= 3 && s->threads <= 256) codes_back<3, 256>(c, n, outs, s);
    else codes_back<OUTS, 1024>(c, n, outs, s);
    ganz_cuda_launched(c, "norm gradient");
}

void ganz_cuda_norm_grad(ganz_backend *be, const ganz_norm_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0 || !norm_grad_fits(c, call)) return;
    const int threads = (int)ganz_round_up((size_t)call->cols / 4, WARP);
    const int most = ganz_cuda_min(c->processors * 6, GANZ_CUDA_MOST_PARTS);
    const int each = (int)ganz_round_up((size_t)ganz_cuda_blocks(call->rows, most), NORM_ROWS);
    const int blocks = ganz_cuda_blocks(call->rows, each);
    const bool learns = call->gain_grad != NULL || call->bias_grad != NULL || call->delta_sums != NULL;
    const int wide = (call->delta_sums != NULL ? 3 : 2) * call->cols;
    const size_t partial_floats = learns ? (size_t)blocks * (size_t)wide : 0;
    const size_t gathered_floats = call->outs > OUTS ? (size_t)call->rows * (size_t)call->cols : 0;
    float *partial = NULL, *gathered = NULL;
    if (partial_floats + gathered_floats > 0) {
        gathered = (float *)ganz_cuda_scratch(c, (partial_floats + gathered_floats) * sizeof(float));
        if (gathered == NULL) return;
        if (learns) partial = gathered + gathered_floats;
    }
    ganz_norm_call n = *call;
    int next = 0;
    norm_outs outs = some_outs(call, true, &next);
    if (call->outs > OUTS) gather_grads(c, &n, &outs, next, gathered);
    const norm_shares shares = {blocks, threads, each, partial};
    norm_back(c, &n, &outs, &shares);
    const ganz_cuda_columns sums = {
        partial, blocks, wide, call->cols, {call->gain_grad, call->bias_grad, call->delta_sums}};
    if (partial != NULL) ganz_cuda_add_columns(c, &sums);
}
