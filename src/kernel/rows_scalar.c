/* The definition of every float row. Eight lanes, so that vectors of four, eight and sixteen can follow. */
#include <math.h>

#include "kernel/kernel_isa.h"
#include "kernel/kernel_math.h"

static float sum_row(const float *x, int n)
{
    float lane[8] = {0};
    for (int i = 0; i < n; i++) lane[i & 7] += x[i];
    return join_lanes(lane);
}

static void norm(const ganz_norm_layout *layout, const float *x, float *y, const ganz_codes *outs, int count)
{
    const int n = layout->n;
    const float mean = sum_row(x, n) / (float)n;
    float lane[8] = {0};
    for (int i = 0; i < n; i++) {
        const float d = x[i] - mean;
        lane[i & 7] += d * d;
    }
    const float r = 1.0f / sqrtf(join_lanes(lane) / (float)n + layout->epsilon);
    for (int i = 0; i < n; i++) {
        const float v = ((x[i] - mean) * r) * layout->gain[i] + layout->bias[i];
        if (y) y[i] = v;
        for (int o = 0; o < count; o++)
            outs[o].codes[i] = (int8_t)code_of(v * outs[o].inv, -(float)outs[o].p, (float)outs[o].p);
    }
}

static void quantize(const float *x, int n, float inv, int p, int8_t *codes)
{
    for (int i = 0; i < n; i++) codes[i] = (int8_t)code_of(x[i] * inv, -(float)p, (float)p);
}

static void quantize_columns(const float *x, int n, const ganz_columns *columns, int p, int8_t *codes)
{
    for (int i = 0; i < n; i++) codes[i] = column_code(x[i], columns, i, p);
}

static void quantize_unsigned(const float *x, int n, float inv, int umax, uint8_t *codes)
{
    for (int i = 0; i < n; i++) codes[i] = (uint8_t)code_of(x[i] * inv, 0.0f, (float)umax);
}

static void exp_row(const float *x, int n, float *y)
{
    for (int i = 0; i < n; i++) y[i] = ganz_exact_exp(x[i]);
}

/* The sum with +0 makes one zero of two, so that the order of comparison does not show. */
static float max_row(const float *x, int n)
{
    float max = -INFINITY;
    for (int i = 0; i < n; i++) max = x[i] > max ? x[i] : max;
    return max + 0.0f;
}

static void softmax(const float *x, int n, float *y)
{
    const float max = max_row(x, n);
    for (int i = 0; i < n; i++) y[i] = ganz_exact_exp(x[i] - max);
    const float r = 1.0f / sum_row(y, n);
    for (int i = 0; i < n; i++) y[i] = y[i] * r;
}

static void softmax_scores(const int32_t *scores, int n, float scale, float *y)
{
    for (int i = 0; i < n; i++) y[i] = (float)scores[i] * scale;
    softmax(y, n, y);
}

static void softmax_codes(const int32_t *scores, int n, float scale, const ganz_unsigned_codes *out, float *work)
{
    softmax_scores(scores, n, scale, work);
    quantize_unsigned(work, n, out->inv, out->max, out->codes);
}

static void exp_sum(const float *x, int n, float *max, float *sum)
{
    const float m = max_row(x, n);
    float lane[8] = {0};
    for (int i = 0; i < n; i++) lane[i & 7] += ganz_exact_exp(x[i] - m);
    *max = m;
    *sum = join_lanes(lane);
}

static void top_k(const float *x, int n, int k, float *values, int32_t *indices)
{
    for (int i = 0; i < k; i++) top_insert(values, indices, i, x[i], i);
    for (int i = k; i < n; i++)
        if (x[i] > values[k - 1]) top_insert(values, indices, k - 1, x[i], i);
}

static void add(const float *a, const float *b, int n, float *y)
{
    for (int i = 0; i < n; i++) y[i] = a[i] + b[i];
}

static void scale_row(const float *x, int n, float factor, float *y)
{
    for (int i = 0; i < n; i++) y[i] = x[i] * factor;
}

static void embed(const ganz_embed_row *from, int n, float *y)
{
    for (int i = 0; i < n; i++) y[i] = embed_one(from, i);
}

static void epilogue(const ganz_epilogue *e, const int32_t *sums, size_t stride, ganz_block block)
{
    for (int r = 0; r < block.rows; r++)
        for (int c = 0; c < block.cols; c++)
            epilogue_one(e, sums[(size_t)r * stride + (size_t)c], (size_t)(block.row + r), (size_t)(block.col + c));
}

void ganz_kernel_init_rows_scalar(ganz_kernel *kernel)
{
    ganz_rows *const rows = &kernel->rows;
    rows->norm = norm;
    rows->quantize = quantize;
    rows->quantize_columns = quantize_columns;
    rows->quantize_unsigned = quantize_unsigned;
    rows->exp = exp_row;
    rows->softmax = softmax;
    rows->softmax_scores = softmax_scores;
    rows->softmax_codes = softmax_codes;
    rows->exp_sum = exp_sum;
    rows->top_k = top_k;
    rows->add = add;
    rows->scale = scale_row;
    rows->embed = embed;
    rows->epilogue = epilogue;
}
