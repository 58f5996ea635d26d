/* The float rows on NEON, eight lanes in two registers: the same operations in the same order as rows_scalar.c.
 * Ends of rows pass through eight floats of their own. */
#include <arm_neon.h>

#include "kernel/kernel_isa.h"
#include "kernel/kernel_math.h"

typedef struct f8 {
    float32x4_t low, high;
} f8;

static inline f8 load8(const float *x)
{
    const f8 v = {vld1q_f32(x), vld1q_f32(x + 4)};
    return v;
}

static inline void store8(float *y, f8 v)
{
    vst1q_f32(y, v.low);
    vst1q_f32(y + 4, v.high);
}

static inline f8 same8(float x)
{
    const f8 v = {vdupq_n_f32(x), vdupq_n_f32(x)};
    return v;
}

/* The first `lanes` of eight, then `fill`. */
static inline f8 load_some(const float *x, int lanes, float fill)
{
    float all[8] = {fill, fill, fill, fill, fill, fill, fill, fill};
    for (int i = 0; i < lanes; i++) all[i] = x[i];
    return load8(all);
}

static inline void store_some(float *y, f8 v, int lanes)
{
    float all[8];
    store8(all, v);
    for (int i = 0; i < lanes; i++) y[i] = all[i];
}

static inline f8 load_upto(const float *x, int lanes) { return lanes >= 8 ? load8(x) : load_some(x, lanes, 0.0f); }

static inline void store_upto(float *y, f8 v, int lanes)
{
    if (lanes >= 8) store8(y, v);
    else store_some(y, v, lanes);
}

static inline f8 add8(f8 a, f8 b)
{
    const f8 v = {vaddq_f32(a.low, b.low), vaddq_f32(a.high, b.high)};
    return v;
}

static inline f8 sub8(f8 a, f8 b)
{
    const f8 v = {vsubq_f32(a.low, b.low), vsubq_f32(a.high, b.high)};
    return v;
}

static inline f8 mul8(f8 a, f8 b)
{
    const f8 v = {vmulq_f32(a.low, b.low), vmulq_f32(a.high, b.high)};
    return v;
}

/* a > b ? a : b, b for NaN; vmaxq would keep the NaN. */
static inline float32x4_t larger(float32x4_t a, float32x4_t b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
static inline float32x4_t smaller(float32x4_t a, float32x4_t b) { return vbslq_f32(vcltq_f32(a, b), a, b); }

static inline f8 larger8(f8 a, f8 b)
{
    const f8 v = {larger(a.low, b.low), larger(a.high, b.high)};
    return v;
}

static inline float join8(f8 s)
{
    const float32x4_t quarter = vaddq_f32(s.low, s.high);
    const float32x2_t half = vadd_f32(vget_low_f32(quarter), vget_high_f32(quarter));
    return vget_lane_f32(half, 0) + vget_lane_f32(half, 1);
}

static inline float32x4_t exp4(float32x4_t x)
{
    const uint32x4_t valid = vcgeq_f32(x, vdupq_n_f32(GANZ_EXP_LOW));
    const float32x4_t magic = vdupq_n_f32(GANZ_ROUND_MAGIC);
    x = smaller(x, vdupq_n_f32(GANZ_EXP_HIGH));
    const float32x4_t shifted = vaddq_f32(vmulq_f32(x, vdupq_n_f32(GANZ_EXP_LOG2E)), magic);
    const float32x4_t n = vsubq_f32(shifted, magic);
    const float32x4_t r = vsubq_f32(vsubq_f32(x, vmulq_f32(n, vdupq_n_f32(GANZ_EXP_LN2_HIGH))),
                                    vmulq_f32(n, vdupq_n_f32(GANZ_EXP_LN2_LOW)));
    float32x4_t q = vdupq_n_f32(GANZ_EXP_6);
    q = vaddq_f32(vmulq_f32(q, r), vdupq_n_f32(GANZ_EXP_5));
    q = vaddq_f32(vmulq_f32(q, r), vdupq_n_f32(GANZ_EXP_4));
    q = vaddq_f32(vmulq_f32(q, r), vdupq_n_f32(GANZ_EXP_3));
    q = vaddq_f32(vmulq_f32(q, r), vdupq_n_f32(GANZ_EXP_2));
    const float32x4_t y = vaddq_f32(vaddq_f32(vmulq_f32(vmulq_f32(q, r), r), r), vdupq_n_f32(1.0f));
    const uint32x4_t power = vsubq_u32(vreinterpretq_u32_f32(shifted), vdupq_n_u32(GANZ_ROUND_BITS - 127u));
    const float32x4_t e = vmulq_f32(y, vreinterpretq_f32_u32(vshlq_n_u32(power, 23)));
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(e), valid));
}

static inline f8 exp8(f8 x)
{
    const f8 v = {exp4(x.low), exp4(x.high)};
    return v;
}

/* ---- codes -------------------------------------------------------------------------------------- */

typedef struct limits {
    float32x4_t inv, low, high;
} limits;

static inline limits limits_of(float inv, int low, int high)
{
    const limits l = {vdupq_n_f32(inv), vdupq_n_f32((float)low), vdupq_n_f32((float)high)};
    return l;
}

static inline int32x4_t codes4(float32x4_t x, limits l)
{
    return vcvtnq_s32_f32(smaller(larger(vmulq_f32(x, l.inv), l.low), l.high));
}

/* Eight bytes; the same bits for int8 and uint8. */
static inline uint8x8_t codes8(f8 x, limits l)
{
    const int16x8_t words = vcombine_s16(vmovn_s32(codes4(x.low, l)), vmovn_s32(codes4(x.high, l)));
    return vreinterpret_u8_s8(vmovn_s16(words));
}

static inline void store_codes(void *to, uint8x8_t codes, int lanes)
{
    uint8_t *const out = to;
    if (lanes >= 8) {
        vst1_u8(out, codes);
        return;
    }
    uint8_t all[8];
    vst1_u8(all, codes);
    for (int i = 0; i < lanes; i++) out[i] = all[i];
}

static inline void codes_row(const float *x, int n, limits l, void *codes)
{
    for (int i = 0; i < n; i += 8) store_codes((uint8_t *)codes + i, codes8(load_upto(x + i, n - i), l), n - i);
}

static void quantize(const float *x, int n, float inv, int p, int8_t *codes)
{
    codes_row(x, n, limits_of(inv, -p, p), codes);
}

static void quantize_columns(const float *x, int n, const ganz_columns *columns, int p, int8_t *codes)
{
    const limits l = limits_of(1, -p, p);
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        const float *const inv = columns->inv + i, *const zero = columns->zero + i;
        const f8 y = {vaddq_f32(vmulq_f32(vld1q_f32(x + i), vld1q_f32(inv)), vld1q_f32(zero)),
                      vaddq_f32(vmulq_f32(vld1q_f32(x + i + 4), vld1q_f32(inv + 4)), vld1q_f32(zero + 4))};
        store_codes(codes + i, codes8(y, l), 8);
    }
    for (; i < n; i++) codes[i] = column_code(x[i], columns, i, p);
}

static void quantize_unsigned(const float *x, int n, float inv, int umax, uint8_t *codes)
{
    codes_row(x, n, limits_of(inv, 0, umax), codes);
}

/* ---- norm --------------------------------------------------------------------------------------- */

static void norm(const ganz_norm_layout *layout, const float *x, float *y, const ganz_codes *outs, int count)
{
    const int n = layout->n;
    const float *const gain = layout->gain, *const bias = layout->bias;
    f8 sum = same8(0.0f);
    for (int i = 0; i < n; i += 8) sum = add8(sum, load_upto(x + i, n - i));
    const float mean = join8(sum) / (float)n;
    const f8 mean8 = same8(mean);
    sum = same8(0.0f);
    for (int i = 0; i < n; i += 8) {
        const f8 d = sub8(n - i >= 8 ? load8(x + i) : load_some(x + i, n - i, mean), mean8);
        sum = add8(sum, mul8(d, d));
    }
    const float32x2_t variance = vdup_n_f32(join8(sum) / (float)n + layout->epsilon);
    const f8 r = same8(1.0f / vget_lane_f32(vsqrt_f32(variance), 0));
    for (int i = 0; i < n; i += 8) {
        const int lanes = n - i;
        const f8 d = mul8(sub8(load_upto(x + i, lanes), mean8), r);
        const f8 v = add8(mul8(d, load_upto(gain + i, lanes)), load_upto(bias + i, lanes));
        if (y) store_upto(y + i, v, lanes);
        for (int o = 0; o < count; o++)
            store_codes(outs[o].codes + i, codes8(v, limits_of(outs[o].inv, -outs[o].p, outs[o].p)), lanes);
    }
}

/* ---- softmax ------------------------------------------------------------------------------------ */

static void exp_row(const float *x, int n, float *y)
{
    for (int i = 0; i < n; i += 8) store_upto(y + i, exp8(load_upto(x + i, n - i)), n - i);
}

static inline float max_row(const float *x, int n)
{
    const float least = -__builtin_inff();
    f8 max = same8(least);
    for (int i = 0; i < n; i += 8) max = larger8(n - i >= 8 ? load8(x + i) : load_some(x + i, n - i, least), max);
    const float32x4_t m = larger(max.low, max.high);
    const float32x2_t two = vget_low_f32(larger(m, vextq_f32(m, m, 2)));
    const float a = vget_lane_f32(two, 0), b = vget_lane_f32(two, 1);
    return (a > b ? a : b) + 0.0f;
}

/* Sum of e^(x - max), which is also left in y where y is not NULL. A missing lane adds e^-inf = 0. */
static inline float exp_and_sum(const float *x, int n, float max, float *y)
{
    const f8 shift = same8(max);
    f8 sum = same8(0.0f);
    for (int i = 0; i < n; i += 8) {
        const f8 e = exp8(sub8(n - i >= 8 ? load8(x + i) : load_some(x + i, n - i, -__builtin_inff()), shift));
        sum = add8(sum, e);
        if (y) store_upto(y + i, e, n - i);
    }
    return join8(sum);
}

static void scale_row(const float *x, int n, float factor, float *y)
{
    const f8 f = same8(factor);
    for (int i = 0; i < n; i += 8) store_upto(y + i, mul8(load_upto(x + i, n - i), f), n - i);
}

static inline void scale_scores(const int32_t *scores, int n, float scale, float *y)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) vst1q_f32(y + i, vmulq_f32(vcvtq_f32_s32(vld1q_s32(scores + i)), vdupq_n_f32(scale)));
    for (; i < n; i++) y[i] = (float)scores[i] * scale;
}

#include "kernel/rows_softmax.inc"

/* ---- selection ---------------------------------------------------------------------------------- */

/* Hardly any number of a long row beats the worst that is kept: 16 are refused with one test. */
static void top_k(const float *x, int n, int k, float *values, int32_t *indices)
{
    int i = 0;
    for (; i < k; i++) top_insert(values, indices, i, x[i], i);
    for (; i + 16 <= n; i += 16) {
        const float32x4_t worst = vdupq_n_f32(values[k - 1]);
        const uint32x4_t a = vorrq_u32(vcgtq_f32(vld1q_f32(x + i), worst), vcgtq_f32(vld1q_f32(x + i + 4), worst));
        const uint32x4_t b = vorrq_u32(vcgtq_f32(vld1q_f32(x + i + 8), worst), vcgtq_f32(vld1q_f32(x + i + 12), worst));
        if (!vmaxvq_u32(vorrq_u32(a, b))) continue;
        for (int at = i; at < i + 16; at++)
            if (x[at] > values[k - 1]) top_insert(values, indices, k - 1, x[at], at);
    }
    for (; i < n; i++)
        if (x[i] > values[k - 1]) top_insert(values, indices, k - 1, x[i], i);
}

/* ---- plain rows --------------------------------------------------------------------------------- */

static void add(const float *a, const float *b, int n, float *y)
{
    for (int i = 0; i < n; i += 8) store_upto(y + i, add8(load_upto(a + i, n - i), load_upto(b + i, n - i)), n - i);
}

static void embed(const ganz_embed_row *from, int n, float *y)
{
    const float *const first = from->first, *const second = from->second;
    for (int i = 0; i < n; i += 8) {
        const int lanes = n - i < 8 ? n - i : 8;
        int8_t all[8] = {0};
        memcpy(all, from->codes + i, (size_t)lanes);
        const int16x8_t words = vmovl_s8(vld1_s8(all));
        f8 v = {vcvtq_f32_s32(vmovl_s16(vget_low_s16(words))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(words)))};
        v = mul8(mul8(v, same8(from->scale)), same8(from->root));
        if (first) v = add8(v, load_upto(first + i, lanes));
        if (second) v = add8(v, load_upto(second + i, lanes));
        store_upto(y + i, v, lanes);
    }
}

/* ---- epilogue ----------------------------------------------------------------------------------- */

static inline float32x4_t swish4(float32x4_t x, float slope)
{
    const float32x4_t e = exp4(vmulq_f32(x, vdupq_n_f32(-slope)));
    return vdivq_f32(x, vaddq_f32(vdupq_n_f32(1.0f), e));
}

static inline float32x4_t gelu4(float32x4_t x)
{
    const float32x4_t one = vdupq_n_f32(1.0f), size = vabsq_f32(x);
    const float32x4_t t = vdivq_f32(one, vaddq_f32(one, vmulq_f32(size, vdupq_n_f32(PHI_T))));
    float32x4_t q = vdupq_n_f32(PHI_5);
    q = vaddq_f32(vmulq_f32(q, t), vdupq_n_f32(PHI_4));
    q = vaddq_f32(vmulq_f32(q, t), vdupq_n_f32(PHI_3));
    q = vaddq_f32(vmulq_f32(q, t), vdupq_n_f32(PHI_2));
    q = vaddq_f32(vmulq_f32(q, t), vdupq_n_f32(PHI_1));
    const float32x4_t e = exp4(vmulq_f32(vmulq_f32(size, size), vdupq_n_f32(-0.5f)));
    const float32x4_t part = vmulq_f32(x, vmulq_f32(vmulq_f32(q, t), e));
    return vbslq_f32(vcltq_f32(x, vdupq_n_f32(0.0f)), part, vsubq_f32(x, part));
}

/* activation_of of four numbers. */
static inline float32x4_t activate4(float32x4_t x, ganz_activation activation)
{
    switch (activation) {
    case GANZ_ACTIVATION_RELU: return larger(x, vdupq_n_f32(0.0f));
    case GANZ_ACTIVATION_SWISH: return swish4(x, SWISH_SLOPE);
    case GANZ_ACTIVATION_GELU: return gelu4(x);
    case GANZ_ACTIVATION_GELU_SIGMOID: return swish4(x, GELU_SLOPE);
    default: return x;
    }
}

/* Eight columns of one row. */
static inline void epilogue_columns(const ganz_epilogue *e, limits l, const int32_t *sums, size_t row, size_t col)
{
    const int32x4_t s0 = vld1q_s32(sums), s1 = vld1q_s32(sums + 4);
    if (e->sums) {
        vst1q_s32(e->sums + row * e->sums_stride + col, s0);
        vst1q_s32(e->sums + row * e->sums_stride + col + 4, s1);
    }
    if (!e->out && !e->codes) return;
    f8 y = {vcvtq_f32_s32(s0), vcvtq_f32_s32(s1)};
    y = mul8(y, e->scales ? load8(e->scales + col) : same8(e->scale));
    if (e->bias) y = add8(y, load8(e->bias + col));
    y.low = activate4(y.low, e->activation);
    y.high = activate4(y.high, e->activation);
    if (e->add) y = add8(load8(e->add + row * e->add_stride + col), y);
    if (e->out) store8(e->out + row * e->out_stride + col, y);
    if (e->codes) store_codes(e->codes + row * e->codes_stride + col, codes8(y, l), 8);
}

static void epilogue(const ganz_epilogue *e, const int32_t *sums, size_t stride, ganz_block block)
{
    const limits l = limits_of(e->inv, -e->p, e->p);
    for (int r = 0; r < block.rows; r++) {
        const int32_t *const s = sums + (size_t)r * stride;
        const size_t row = (size_t)(block.row + r), col = (size_t)block.col;
        int c = 0;
        for (; c + 8 <= block.cols; c += 8) epilogue_columns(e, l, s + c, row, col + (size_t)c);
        for (; c < block.cols; c++) epilogue_one(e, s[c], row, col + (size_t)c);
    }
}

void ganz_kernel_init_rows_neon(ganz_kernel *kernel)
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
