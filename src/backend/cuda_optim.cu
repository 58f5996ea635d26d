/* Updates of all tensors at once. Adafactor needs sums over rows, columns and whole tensors: matrices are cut into
 * tiles, each tile leaves partial sums, and small kernels between the passes add them in their order. */
#include <string.h>

#include "backend/cuda_common.cuh"

enum {
    TILE_ROWS = 32,
    TILE_COLS = 256,
    THREADS = 256,
    LANES = TILE_COLS / 4,    /* threads side by side, four columns each */
    LINES = THREADS / LANES,  /* threads one below the other */
    EACH = TILE_ROWS / LINES, /* rows of one thread */
    SLOT_COLS = WARP,         /* columns of one block of column slots */
    SLOT_ROWS = THREADS,      /* rows of one block of row slots */
    PIECE = 16384,
    KIND_ADAFACTOR = 2,
    KIND_ADAM = 3
};

#define TINY 1e-30f
#define LEAST_SCALE 1e-3

typedef struct tensor {
    float *value, *grad, *slots;
    int rows, cols, matrix;
    int tile, tiles;  /* first of its tiles among all, and how many */
    int64_t row_part; /* in the sums: (column tiles, rows) */
    int64_t col_part; /* in the sums: (row tiles, cols) */
} tensor;

/* Where all sums lie, in elements. */
typedef struct sums_layout {
    int64_t old, update, item; /* (tiles), (tiles), (count, 2): mean of vr, rate */
} sums_layout;

typedef enum work_kind { WORK_TILE, WORK_ROWS, WORK_COLS } work_kind;

typedef struct work {
    int item, kind, row, col;
} work;

static __host__ __device__ inline int tiles_down(const tensor *t) { return (t->rows + TILE_ROWS - 1) / TILE_ROWS; }
static __host__ __device__ inline int tiles_across(const tensor *t) { return (t->cols + TILE_COLS - 1) / TILE_COLS; }

/* ---- tiles -------------------------------------------------------------------------------------- */

/* The part of a tile that one thread holds: four columns of every LINES-th row. */
typedef struct spot {
    int column, line, count; /* first column; first row within the tile; columns that exist, 0 to 4 */
    bool whole;              /* four aligned columns */
} spot;

static __device__ inline spot spot_of(const tensor *t, const work *w)
{
    spot s;
    s.column = w->col + 4 * (threadIdx.x % LANES);
    s.line = threadIdx.x / LANES;
    s.count = max(0, min(4, t->cols - s.column));
    s.whole = s.count == 4 && t->cols % 4 == 0 && ((size_t)t->value | (size_t)t->grad) % 16 == 0;
    return s;
}

static __device__ inline float4 get(const float *p, spot s)
{
    if (s.whole) return load4(p);
    return make_float4(s.count > 0 ? p[0] : 0, s.count > 1 ? p[1] : 0, s.count > 2 ? p[2] : 0, s.count > 3 ? p[3] : 0);
}
static __device__ inline void put(float *p, spot s, float4 v)
{
    if (s.whole) {
        store4(p, v);
        return;
    }
    if (s.count > 0) p[0] = v.x;
    if (s.count > 1) p[1] = v.y;
    if (s.count > 2) p[2] = v.z;
    if (s.count > 3) p[3] = v.w;
}

/* Sums of g^2 + TINY along rows and columns, and of the old values' squares. */
static __global__ void __launch_bounds__(THREADS)
    squares_kernel(const tensor *tensors, const work *works, float *sums, sums_layout at)
{
    __shared__ __align__(16) float down[LINES][TILE_COLS + 4];
    __shared__ float along[TILE_ROWS][LANES / WARP], room[WARP];
    const work w = works[blockIdx.x];
    const tensor t = tensors[w.item];
    const spot s = spot_of(&t, &w);
    float4 columns = make_float4(0, 0, 0, 0);
    float old = 0, line_sum[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int row = w.row + s.line + i * LINES;
        line_sum[i] = 0;
        if (row >= t.rows || s.count == 0) continue;
        const size_t place = (size_t)row * t.cols + s.column;
        const float4 g = get(t.grad + place, s), v = get(t.value + place, s);
        const float4 square = make_float4(g.x * g.x + TINY, g.y * g.y + TINY, g.z * g.z + TINY, g.w * g.w + TINY);
        columns = columns + square;
        line_sum[i] =
            square.x + (s.count > 1 ? square.y : 0) + (s.count > 2 ? square.z : 0) + (s.count > 3 ? square.w : 0);
        old += total4(v * v);
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const float sum = warp_sum(line_sum[i]);
        if (threadIdx.x % WARP == 0) along[s.line + i * LINES][threadIdx.x % LANES / WARP] = sum;
    }
    store4(&down[s.line][4 * (threadIdx.x % LANES)], columns);
    old = block_sum(old, room); /* also the barrier for the two above */
    if (threadIdx.x == 0) sums[at.old + t.tile + w.row / TILE_ROWS * tiles_across(&t) + w.col / TILE_COLS] = old;
    const int column = w.col + threadIdx.x, row = w.row + threadIdx.x;
    if (column < t.cols) {
        float sum = 0;
        for (int i = 0; i < LINES; i++) sum += down[i][threadIdx.x];
        sums[t.col_part + (int64_t)(w.row / TILE_ROWS) * t.cols + column] = sum;
    }
    if (threadIdx.x < TILE_ROWS && row < t.rows) {
        float sum = 0;
        for (int i = 0; i < LANES / WARP; i++) sum += along[threadIdx.x][i];
        sums[t.row_part + (int64_t)(w.col / TILE_COLS) * t.rows + row] = sum;
    }
}

/* vr and vc from the partial sums. */
static __device__ inline void decayed(float *slot, float decay, float mean)
{
    *slot = decay * *slot + (1 - decay) * mean;
}

static __global__ void __launch_bounds__(THREADS)
    slots_kernel(const tensor *tensors, const work *works, const float *sums, float decay)
{
    __shared__ float room[THREADS / WARP][SLOT_COLS];
    const work w = works[blockIdx.x];
    const tensor t = tensors[w.item];
    float sum = 0;
    if (w.kind == WORK_ROWS) {
        const int row = w.row + threadIdx.x;
        if (row >= t.rows) return;
        for (int i = 0; i < tiles_across(&t); i++) sum += sums[t.row_part + (int64_t)i * t.rows + row];
        decayed(&t.slots[row], decay, sum / t.cols);
        return;
    }
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, column = w.col + lane;
    if (column < t.cols)
        for (int i = warp; i < tiles_down(&t); i += THREADS / WARP)
            sum += sums[t.col_part + (int64_t)i * t.cols + column];
    room[warp][lane] = sum;
    __syncthreads();
    if (warp != 0 || column >= t.cols) return;
    sum = 0;
    for (int i = 0; i < THREADS / WARP; i++) sum += room[i][lane];
    decayed(&t.slots[t.rows + column], decay, sum / t.rows);
}

static __global__ void __launch_bounds__(THREADS) means_kernel(const tensor *tensors, float *sums, sums_layout at)
{
    __shared__ float room[WARP];
    const tensor t = tensors[blockIdx.x];
    float sum = 0;
    if (!t.matrix) return;
    for (int i = threadIdx.x; i < t.rows; i += THREADS) sum += t.slots[i];
    sum = block_sum(sum, room);
    if (threadIdx.x == 0) sums[at.item + 2 * blockIdx.x] = sum / t.rows;
}

/* The factors of X = g * row * column, from the slots: 1 / sqrt(vr / mean) in shared memory, 1 / sqrt(vc) in registers.
 */
static __device__ inline float4 factors_of(const tensor *t, const work *w, spot s, float mean, float *row_factor)
{
    if (threadIdx.x < TILE_ROWS) {
        const int row = w->row + threadIdx.x;
        row_factor[threadIdx.x] = row < t->rows ? 1.0f / sqrtf(t->slots[row] / mean) : 0.0f;
    }
    const float *vc = t->slots + t->rows + s.column;
    float f[4];
#pragma unroll
    for (int i = 0; i < 4; i++) f[i] = i < s.count ? 1.0f / sqrtf(vc[i]) : 0.0f;
    __syncthreads();
    return make_float4(f[0], f[1], f[2], f[3]);
}

static __global__ void __launch_bounds__(THREADS)
    update_squares_kernel(const tensor *tensors, const work *works, float *sums, sums_layout at)
{
    __shared__ float row_factor[TILE_ROWS], room[WARP];
    const work w = works[blockIdx.x];
    const tensor t = tensors[w.item];
    const spot s = spot_of(&t, &w);
    const float4 columns = factors_of(&t, &w, s, sums[at.item + 2 * w.item], row_factor);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int line = s.line + i * LINES;
        if (w.row + line >= t.rows || s.count == 0) continue;
        const float4 x = get(t.grad + (size_t)(w.row + line) * t.cols + s.column, s) * row_factor[line] * columns;
        sum += total4(x * x);
    }
    sum = block_sum(sum, room);
    if (threadIdx.x == 0) sums[at.update + t.tile + w.row / TILE_ROWS * tiles_across(&t) + w.col / TILE_COLS] = sum;
}

/* rate * max(RMS of the old values, 1e-3) / max(1, RMS of the update) */
static __device__ inline float clipped_rate(double rate, float update, float old, double count)
{
    return (float)(rate * fmax(sqrt((double)old / count), LEAST_SCALE) / fmax(1.0, sqrt((double)update / count)));
}

static __global__ void __launch_bounds__(THREADS)
    rates_kernel(const tensor *tensors, float *sums, sums_layout at, double rate)
{
    __shared__ float room[WARP];
    const tensor t = tensors[blockIdx.x];
    float update = 0, old = 0;
    if (!t.matrix) return;
    for (int i = threadIdx.x; i < t.tiles; i += THREADS) {
        update += sums[at.update + t.tile + i];
        old += sums[at.old + t.tile + i];
    }
    update = block_sum(update, room);
    old = block_sum(old, room);
    if (threadIdx.x == 0) sums[at.item + 2 * blockIdx.x + 1] = clipped_rate(rate, update, old, (double)t.rows * t.cols);
}

static __global__ void __launch_bounds__(THREADS)
    apply_kernel(const tensor *tensors, const work *works, const float *sums, sums_layout at)
{
    __shared__ float row_factor[TILE_ROWS];
    const work w = works[blockIdx.x];
    const tensor t = tensors[w.item];
    const spot s = spot_of(&t, &w);
    const float4 columns = factors_of(&t, &w, s, sums[at.item + 2 * w.item], row_factor);
    const float rate = -sums[at.item + 2 * w.item + 1];
    if (s.count == 0) return;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int line = s.line + i * LINES;
        if (w.row + line >= t.rows) continue;
        const size_t place = (size_t)(w.row + line) * t.cols + s.column;
        const float4 x = get(t.grad + place, s) * row_factor[line] * columns;
        put(t.value + place, s, get(t.value + place, s) + x * rate);
        put(t.grad + place, s, make_float4(0, 0, 0, 0));
    }
}

/* Vectors are short: one block does all of one. */
static __global__ void __launch_bounds__(THREADS) vectors_kernel(const tensor *tensors, float decay, double rate)
{
    __shared__ float room[WARP];
    const tensor t = tensors[blockIdx.x];
    if (t.matrix) return;
    const int count = t.rows * t.cols;
    float update = 0, old = 0;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const float g = t.grad[i];
        decayed(&t.slots[i], decay, g * g + TINY);
        const float x = g / sqrtf(t.slots[i]);
        update += x * x;
        old += t.value[i] * t.value[i];
    }
    update = block_sum(update, room);
    old = block_sum(old, room);
    const float step = clipped_rate(rate, update, old, count);
    for (int i = threadIdx.x; i < count; i += THREADS) {
        t.value[i] -= step * (t.grad[i] / sqrtf(t.slots[i]));
        t.grad[i] = 0;
    }
}

/* ---- lists -------------------------------------------------------------------------------------- */

static void fill_adafactor(const void *list, const ganz_cuda_layout *layout, void *items, void *pieces)
{
    const tensor *tensors = (const tensor *)list;
    work *to = (work *)pieces;
    memcpy(items, list, layout->item_bytes * (size_t)layout->count);
    for (int i = 0; i < layout->count; i++) /* tiles first: most kernels take only them */
        for (int row = 0; tensors[i].matrix && row < tensors[i].rows; row += TILE_ROWS)
            for (int col = 0; col < tensors[i].cols; col += TILE_COLS) *to++ = work{i, WORK_TILE, row, col};
    for (int i = 0; i < layout->count; i++) {
        if (!tensors[i].matrix) continue;
        for (int row = 0; row < tensors[i].rows; row += SLOT_ROWS) *to++ = work{i, WORK_ROWS, row, 0};
        for (int col = 0; col < tensors[i].cols; col += SLOT_COLS) *to++ = work{i, WORK_COLS, 0, col};
    }
}

static void fill_adam(const void *list, const ganz_cuda_layout *layout, void *items, void *pieces)
{
    const tensor *tensors = (const tensor *)list;
    work *to = (work *)pieces;
    memcpy(items, list, layout->item_bytes * (size_t)layout->count);
    for (int i = 0; i < layout->count; i++)
        for (int part = 0; part < tensors[i].tiles; part++) *to++ = work{i, WORK_TILE, part, 0};
}

/* The callers' list as it is used. layout->extra: how many of the pieces are tiles. */
static tensor *tensors_of(const ganz_update_call *call, int kind, ganz_cuda_layout *layout)
{
    tensor *list = (tensor *)ganz_alloc((size_t)call->count, sizeof *list);
    int64_t sums = 0;
    memset(layout, 0, sizeof *layout);
    for (int i = 0; list != NULL && i < call->count; i++) {
        const ganz_update_item *item = &call->items[i];
        tensor *t = &list[i];
        t->value = item->value;
        t->grad = item->grad;
        t->slots = item->slots;
        t->rows = item->rows;
        t->cols = item->cols;
        t->matrix = item->matrix;
        t->tile = layout->extra;
        if (kind == KIND_ADAM) {
            t->tiles = ganz_cuda_blocks((int64_t)t->rows * t->cols, PIECE);
        } else if (t->matrix) {
            t->tiles = tiles_down(t) * tiles_across(t);
            t->row_part = sums;
            t->col_part = sums + (int64_t)tiles_across(t) * t->rows;
            sums = t->col_part + (int64_t)tiles_down(t) * t->cols;
            layout->pieces_count += ganz_cuda_blocks(t->rows, SLOT_ROWS) + ganz_cuda_blocks(t->cols, SLOT_COLS);
        }
        layout->extra += t->tiles;
    }
    layout->pieces_count += layout->extra;
    layout->kind = kind;
    layout->count = call->count;
    layout->item_bytes = sizeof(tensor);
    layout->piece_bytes = sizeof(work);
    layout->sums_count = (size_t)(sums + 2 * (int64_t)layout->extra + 2 * (int64_t)call->count);
    layout->fill = kind == KIND_ADAM ? fill_adam : fill_adafactor;
    return list;
}

static ganz_cuda_plan *plan_of(ganz_cuda *c, const ganz_update_call *call, int kind, sums_layout *at)
{
    ganz_cuda_layout layout;
    tensor *list = tensors_of(call, kind, &layout);
    if (list == NULL) {
        ganz_cuda_fail(c, "update", "out of memory");
        return NULL;
    }
    const size_t bytes = (size_t)call->count * sizeof *list;
    ganz_cuda_plan *plan = ganz_cuda_find_plan(c, kind, list, bytes);
    if (plan == NULL) plan = ganz_cuda_make_plan(c, list, bytes, &layout);
    ganz_free(list);
    at->item = (int64_t)layout.sums_count - 2 * (int64_t)call->count;
    at->update = at->item - layout.extra;
    at->old = at->update - layout.extra;
    return plan;
}

/* ---- calls -------------------------------------------------------------------------------------- */

void ganz_cuda_adafactor(ganz_backend *be, const ganz_update_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    sums_layout at;
    if (call->count == 0) return;
    ganz_cuda_plan *plan = plan_of(c, call, KIND_ADAFACTOR, &at);
    if (plan == NULL) return;
    const tensor *tensors = (const tensor *)plan->items;
    const work *works = (const work *)plan->pieces;
    const int tiles = plan->extra, slots = plan->pieces_count - tiles;
    const float decay = (float)call->decay;
    vectors_kernel<<<call->count, THREADS, 0, c->stream>>>(tensors, decay, call->rate);
    if (tiles > 0) {
        squares_kernel<<<tiles, THREADS, 0, c->stream>>>(tensors, works, plan->sums, at);
        slots_kernel<<<slots, THREADS, 0, c->stream>>>(tensors, works + tiles, plan->sums, decay);
        means_kernel<<<call->count, THREADS, 0, c->stream>>>(tensors, plan->sums, at);
        update_squares_kernel<<<tiles, THREADS, 0, c->stream>>>(tensors, works, plan->sums, at);
        rates_kernel<<<call->count, THREADS, 0, c->stream>>>(tensors, plan->sums, at, call->rate);
        apply_kernel<<<tiles, THREADS, 0, c->stream>>>(tensors, works, plan->sums, at);
    }
    ganz_cuda_launched(c, "adafactor");
}

typedef struct adam_numbers {
    float beta1, beta2, epsilon, rate, unbias;
} adam_numbers;

static __global__ void __launch_bounds__(THREADS) adam_kernel(const tensor *tensors, const work *works, adam_numbers n)
{
    const work w = works[blockIdx.x];
    const tensor t = tensors[w.item];
    const int64_t count = (int64_t)t.rows * t.cols, begin = (int64_t)w.row * PIECE, end = min(begin + PIECE, count);
    float *m = t.slots, *v = t.slots + count;
#pragma unroll 4
    for (int64_t i = begin + threadIdx.x; i < end; i += THREADS) {
        const float g = t.grad[i];
        m[i] = n.beta1 * m[i] + (1 - n.beta1) * g;
        v[i] = n.beta2 * v[i] + (1 - n.beta2) * g * g;
        t.value[i] -= n.rate * m[i] / (sqrtf(v[i] * n.unbias) + n.epsilon);
        t.grad[i] = 0;
    }
}

void ganz_cuda_adam(ganz_backend *be, const ganz_update_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    sums_layout at;
    if (call->count == 0) return;
    ganz_cuda_plan *plan = plan_of(c, call, KIND_ADAM, &at);
    if (plan == NULL || plan->extra == 0) return;
    adam_numbers n;
    n.beta1 = (float)call->beta1;
    n.beta2 = (float)call->beta2;
    n.epsilon = (float)call->epsilon;
    n.rate = (float)(call->rate / (1 - pow(call->beta1, (double)call->step)));
    n.unbias = (float)(1 / (1 - pow(call->beta2, (double)call->step)));
    adam_kernel<<<plan->extra, THREADS, 0, c->stream>>>((const tensor *)plan->items, (const work *)plan->pieces, n);
    ganz_cuda_launched(c, "adam");
}
