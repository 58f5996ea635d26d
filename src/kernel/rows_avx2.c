/* The float rows, eight lanes in one register: the same operations in the same order as rows_scalar.c.
 *
 * max(x, y) and min(x, y) give y when x is NaN, as the comparisons of the definition do. Ends of rows go through
 * masked loads and stores, their missing lanes filled with numbers that change no result. */
#include <immintrin.h>

#include "kernel/kernel_isa.h"
#include "kernel/kernel_math.h"

static const int32_t mask_bits[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

/* The first `lanes` of eight. */
static inline __m256i lane_mask(int lanes) { return _mm256_loadu_si256((const void *)(mask_bits + 8 - lanes)); }

static inline float join8(__m256 s)
{
    const __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
    const __m128 half = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

static inline float join8_max(__m256 m)
{
    __m128 x = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x))) + 0.0f;
}

#define EACH UNROLL for (int v = 0; v < vectors; v++)

/* ganz_exact_exp of 8 * vectors numbers, vectors (a constant) <= 4. Step by step over all of them: one chain of so many
 * dependent operations after the other would keep the processor waiting. */
static inline __attribute__((always_inline)) void exp_vectors(__m256 x[4], int vectors)
{
    const __m256 magic = _mm256_set1_ps(GANZ_ROUND_MAGIC);
    __m256 valid[4], shifted[4], n[4], q[4];
    EACH valid[v] = _mm256_cmp_ps(x[v], _mm256_set1_ps(GANZ_EXP_LOW), _CMP_GE_OQ);
    EACH x[v] = _mm256_min_ps(x[v], _mm256_set1_ps(GANZ_EXP_HIGH));
    EACH shifted[v] = _mm256_add_ps(_mm256_mul_ps(x[v], _mm256_set1_ps(GANZ_EXP_LOG2E)), magic);
    EACH n[v] = _mm256_sub_ps(shifted[v], magic);
    EACH x[v] = _mm256_sub_ps(x[v], _mm256_mul_ps(n[v], _mm256_set1_ps(GANZ_EXP_LN2_HIGH)));
    EACH x[v] = _mm256_sub_ps(x[v], _mm256_mul_ps(n[v], _mm256_set1_ps(GANZ_EXP_LN2_LOW)));
    EACH q[v] = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(GANZ_EXP_6), x[v]), _mm256_set1_ps(GANZ_EXP_5));
    EACH q[v] = _mm256_add_ps(_mm256_mul_ps(q[v], x[v]), _mm256_set1_ps(GANZ_EXP_4));
    EACH q[v] = _mm256_add_ps(_mm256_mul_ps(q[v], x[v]), _mm256_set1_ps(GANZ_EXP_3));
    EACH q[v] = _mm256_add_ps(_mm256_mul_ps(q[v], x[v]), _mm256_set1_ps(GANZ_EXP_2));
    EACH q[v] = _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(q[v], x[v]), x[v]), x[v]);
    EACH
    {
        const __m256i power =
            _mm256_sub_epi32(_mm256_castps_si256(shifted[v]), _mm256_set1_epi32((int)(GANZ_ROUND_BITS - 127u)));
        const __m256 y = _mm256_add_ps(q[v], _mm256_set1_ps(1.0f));
        x[v] = _mm256_and_ps(_mm256_mul_ps(y, _mm256_castsi256_ps(_mm256_slli_epi32(power, 23))), valid[v]);
    }
}

static inline __m256 exp8(__m256 x)
{
    __m256 one[4] = {x};
    exp_vectors(one, 1);
    return one[0];
}

/* ---- codes -------------------------------------------------------------------------------------- */

typedef struct limits {
    __m256 inv, low, high;
} limits;

static inline limits limits_of(float inv, int low, int high)
{
    const limits l = {_mm256_set1_ps(inv), _mm256_set1_ps((float)low), _mm256_set1_ps((float)high)};
    return l;
}

static inline __m256i codes8(__m256 x, limits l)
{
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(_mm256_mul_ps(x, l.inv), l.low), l.high));
}

/* Eight int32 to bytes; nothing saturates, as codes are in range. */
static inline void store8(void *to, __m256i c, bool is_unsigned)
{
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1));
    _mm_storel_epi64(to, is_unsigned ? _mm_packus_epi16(words, words) : _mm_packs_epi16(words, words));
}

static inline void store32(void *to, const __m256i c[4], bool is_unsigned)
{
    const __m256i low = _mm256_packs_epi32(c[0], c[1]), high = _mm256_packs_epi32(c[2], c[3]);
    const __m256i mixed = is_unsigned ? _mm256_packus_epi16(low, high) : _mm256_packs_epi16(low, high);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256(to, _mm256_permutevar8x32_epi32(mixed, order));
}

static inline void store_some(void *to, __m256i c, int lanes, bool is_unsigned)
{
    uint8_t bytes[8], *const out = to;
    store8(bytes, c, is_unsigned);
    for (int i = 0; i < lanes; i++) out[i] = bytes[i];
}

static inline void codes_row(const float *x, int n, limits l, void *codes, bool is_unsigned)
{
    uint8_t *const out = codes;
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i c[4];
        UNROLL
        for (int v = 0; v < 4; v++) c[v] = codes8(_mm256_loadu_ps(x + i + 8 * v), l);
        store32(out + i, c, is_unsigned);
    }
    for (; i + 8 <= n; i += 8) store8(out + i, codes8(_mm256_loadu_ps(x + i), l), is_unsigned);
    if (i < n) store_some(out + i, codes8(_mm256_maskload_ps(x + i, lane_mask(n - i)), l), n - i, is_unsigned);
}

static void quantize(const float *x, int n, float inv, int p, int8_t *codes)
{
    codes_row(x, n, limits_of(inv, -p, p), codes, false);
}

static void quantize_columns(const float *x, int n, const ganz_columns *columns, int p, int8_t *codes)
{
    const limits l = limits_of(1, -p, p);
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(columns->inv + i));
        store8(codes + i, codes8(_mm256_add_ps(scaled, _mm256_loadu_ps(columns->zero + i)), l), false);
    }
    for (; i < n; i++) codes[i] = column_code(x[i], columns, i, p);
}

static void quantize_unsigned(const float *x, int n, float inv, int umax, uint8_t *codes)
{
    codes_row(x, n, limits_of(inv, 0, umax), codes, true);
}

/* ---- norm --------------------------------------------------------------------------------------- */

typedef struct moments {
    __m256 mean, r;
} moments;

static inline moments moments_of(const float *x, int n, float epsilon)
{
    const int whole = n & ~7;
    const __m256i mask = lane_mask(n - whole);
    __m256 sum = _mm256_setzero_ps();
    for (int i = 0; i < whole; i += 8) sum = _mm256_add_ps(sum, _mm256_loadu_ps(x + i));
    if (whole < n) sum = _mm256_add_ps(sum, _mm256_maskload_ps(x + whole, mask));
    const __m256 mean = _mm256_set1_ps(join8(sum) / (float)n);
    sum = _mm256_setzero_ps();
    for (int i = 0; i < whole; i += 8) {
        const __m256 d = _mm256_sub_ps(_mm256_loadu_ps(x + i), mean);
        sum = _mm256_add_ps(sum, _mm256_mul_ps(d, d));
    }
    if (whole < n) {
        const __m256 d = _mm256_sub_ps(_mm256_maskload_ps(x + whole, mask), mean);
        sum = _mm256_add_ps(sum, _mm256_and_ps(_mm256_mul_ps(d, d), _mm256_castsi256_ps(mask)));
    }
    const __m128 variance = _mm_set_ss(join8(sum) / (float)n + epsilon);
    const moments m = {mean, _mm256_set1_ps(1.0f / _mm_cvtss_f32(_mm_sqrt_ss(variance)))};
    return m;
}

static inline __m256 normed(__m256 x, moments m, __m256 gain, __m256 bias)
{
    return _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(_mm256_sub_ps(x, m.mean), m.r), gain), bias);
}

static void norm(const ganz_norm_layout *layout, const float *x, float *y, const ganz_codes *outs, int count)
{
    const int n = layout->n;
    const float *const gain = layout->gain, *const bias = layout->bias;
    const moments m = moments_of(x, n, layout->epsilon);
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256 v[4];
        UNROLL
        for (int q = 0; q < 4; q++) {
            const int at = i + 8 * q;
            v[q] = normed(_mm256_loadu_ps(x + at), m, _mm256_loadu_ps(gain + at), _mm256_loadu_ps(bias + at));
            if (y) _mm256_storeu_ps(y + at, v[q]);
        }
        for (int o = 0; o < count; o++) {
            const limits l = limits_of(outs[o].inv, -outs[o].p, outs[o].p);
            __m256i c[4];
            UNROLL
            for (int q = 0; q < 4; q++) c[q] = codes8(v[q], l);
            store32(outs[o].codes + i, c, false);
        }
    }
    for (; i < n; i += 8) {
        const int lanes = n - i < 8 ? n - i : 8;
        const __m256i mask = lane_mask(lanes);
        const __m256 v = normed(_mm256_maskload_ps(x + i, mask), m, _mm256_maskload_ps(gain + i, mask),
                                _mm256_maskload_ps(bias + i, mask));
        if (y) _mm256_maskstore_ps(y + i, mask, v);
        for (int o = 0; o < count; o++)
            store_some(outs[o].codes + i, codes8(v, limits_of(outs[o].inv, -outs[o].p, outs[o].p)), lanes, false);
    }
}

/* ---- softmax ------------------------------------------------------------------------------------ */

static void exp_row(const float *x, int n, float *y)
{
    int i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(y + i, exp8(_mm256_loadu_ps(x + i)));
    if (i == n) return;
    const __m256i mask = lane_mask(n - i);
    _mm256_maskstore_ps(y + i, mask, exp8(_mm256_maskload_ps(x + i, mask)));
}

static inline float max_row(const float *x, int n)
{
    const __m256 least = _mm256_set1_ps(-__builtin_inff());
    __m256 max = least, other = least;
    int i = 0;
    for (; i + 16 <= n; i += 16) {
        max = _mm256_max_ps(_mm256_loadu_ps(x + i), max);
        other = _mm256_max_ps(_mm256_loadu_ps(x + i + 8), other);
    }
    if (i + 8 <= n) {
        max = _mm256_max_ps(_mm256_loadu_ps(x + i), max);
        i += 8;
    }
    if (i < n) {
        const __m256i mask = lane_mask(n - i);
        const __m256 end = _mm256_maskload_ps(x + i, mask);
        other = _mm256_max_ps(_mm256_blendv_ps(least, end, _mm256_castsi256_ps(mask)), other);
    }
    return join8_max(_mm256_max_ps(max, other));
}

/* Sum of e^(x - max), which is also left in y where y is not NULL. */
static inline float exp_and_sum(const float *x, int n, float max, float *y)
{
    const __m256 shift = _mm256_set1_ps(max);
    __m256 sum = _mm256_setzero_ps();
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        enum { vectors = 4 };
        __m256 e[vectors];
        EACH e[v] = _mm256_sub_ps(_mm256_loadu_ps(x + i + 8 * v), shift);
        exp_vectors(e, vectors);
        EACH sum = _mm256_add_ps(sum, e[v]);
        if (y) EACH _mm256_storeu_ps(y + i + 8 * v, e[v]);
    }
    for (; i + 8 <= n; i += 8) {
        const __m256 e = exp8(_mm256_sub_ps(_mm256_loadu_ps(x + i), shift));
        sum = _mm256_add_ps(sum, e);
        if (y) _mm256_storeu_ps(y + i, e);
    }
    if (i < n) {
        const __m256i mask = lane_mask(n - i);
        const __m256 e = exp8(_mm256_sub_ps(_mm256_maskload_ps(x + i, mask), shift));
        sum = _mm256_add_ps(sum, _mm256_and_ps(e, _mm256_castsi256_ps(mask)));
        if (y) _mm256_maskstore_ps(y + i, mask, e);
    }
    return join8(sum);
}

static void scale_row(const float *x, int n, float factor, float *y)
{
    const __m256 f = _mm256_set1_ps(factor);
    int i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(y + i, _mm256_mul_ps(_mm256_loadu_ps(x + i), f));
    if (i == n) return;
    const __m256i mask = lane_mask(n - i);
    _mm256_maskstore_ps(y + i, mask, _mm256_mul_ps(_mm256_maskload_ps(x + i, mask), f));
}

static inline void scale_scores(const int32_t *scores, int n, float scale, float *y)
{
    const __m256 f = _mm256_set1_ps(scale);
    int i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_loadu_si256((const void *)(scores + i))), f));
    if (i == n) return;
    const __m256i mask = lane_mask(n - i);
    _mm256_maskstore_ps(y + i, mask, _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_maskload_epi32(scores + i, mask)), f));
}

#include "kernel/rows_softmax.inc"

/* ---- selection ---------------------------------------------------------------------------------- */

/* Hardly any number of a long row beats the worst that is kept: 32 are refused with one test. */
static void top_k(const float *x, int n, int k, float *values, int32_t *indices)
{
    int i = 0;
    for (; i < k; i++) top_insert(values, indices, i, x[i], i);
    for (; i + 32 <= n; i += 32) {
        const __m256 worst = _mm256_set1_ps(values[k - 1]);
        uint32_t better = 0;
        UNROLL
        for (int v = 0; v < 4; v++) {
            const __m256 above = _mm256_cmp_ps(_mm256_loadu_ps(x + i + 8 * v), worst, _CMP_GT_OQ);
            better |= (uint32_t)_mm256_movemask_ps(above) << (8 * v);
        }
        for (; better; better &= better - 1) {
            const int at = i + __builtin_ctz(better);
            if (x[at] > values[k - 1]) top_insert(values, indices, k - 1, x[at], at);
        }
    }
    for (; i < n; i++)
        if (x[i] > values[k - 1]) top_insert(values, indices, k - 1, x[i], i);
}

/* ---- plain rows --------------------------------------------------------------------------------- */

static void add(const float *a, const float *b, int n, float *y)
{
    int i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(y + i, _mm256_add_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i)));
    for (; i < n; i++) y[i] = a[i] + b[i];
}

static void embed(const ganz_embed_row *from, int n, float *y)
{
    const __m256 s = _mm256_set1_ps(from->scale), f = _mm256_set1_ps(from->root);
    const int8_t *const codes = from->codes;
    const float *const first = from->first, *const second = from->second;
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i c = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)(codes + i)));
        __m256 v = _mm256_mul_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(c), s), f);
        if (first) v = _mm256_add_ps(v, _mm256_loadu_ps(first + i));
        if (second) v = _mm256_add_ps(v, _mm256_loadu_ps(second + i));
        _mm256_storeu_ps(y + i, v);
    }
    for (; i < n; i++) y[i] = embed_one(from, i);
}

/* ---- epilogue ----------------------------------------------------------------------------------- */

/* swish_of of 8 * vectors numbers. */
static inline __attribute__((always_inline)) void swish_vectors(__m256 x[4], float slope, int vectors)
{
    __m256 e[4];
    EACH e[v] = _mm256_mul_ps(x[v], _mm256_set1_ps(-slope));
    exp_vectors(e, vectors);
    EACH x[v] = _mm256_div_ps(x[v], _mm256_add_ps(_mm256_set1_ps(1.0f), e[v]));
}

/* gelu_of of 8 * vectors numbers. */
static inline __attribute__((always_inline)) void gelu_vectors(__m256 x[4], int vectors)
{
    const __m256 one = _mm256_set1_ps(1.0f), sign = _mm256_set1_ps(-0.0f);
    __m256 size[4], t[4], q[4], e[4];
    EACH size[v] = _mm256_andnot_ps(sign, x[v]);
    EACH t[v] = _mm256_div_ps(one, _mm256_add_ps(one, _mm256_mul_ps(size[v], _mm256_set1_ps(PHI_T))));
    EACH q[v] = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(PHI_5), t[v]), _mm256_set1_ps(PHI_4));
    EACH q[v] = _mm256_add_ps(_mm256_mul_ps(q[v], t[v]), _mm256_set1_ps(PHI_3));
    EACH q[v] = _mm256_add_ps(_mm256_mul_ps(q[v], t[v]), _mm256_set1_ps(PHI_2));
    EACH q[v] = _mm256_add_ps(_mm256_mul_ps(q[v], t[v]), _mm256_set1_ps(PHI_1));
    EACH e[v] = _mm256_mul_ps(_mm256_mul_ps(size[v], size[v]), _mm256_set1_ps(-0.5f));
    exp_vectors(e, vectors);
    EACH
    {
        const __m256 part = _mm256_mul_ps(x[v], _mm256_mul_ps(_mm256_mul_ps(q[v], t[v]), e[v]));
        const __m256 below = _mm256_cmp_ps(x[v], _mm256_setzero_ps(), _CMP_LT_OQ);
        x[v] = _mm256_blendv_ps(_mm256_sub_ps(x[v], part), part, below);
    }
}

/* activation_of of 8 * vectors numbers; `activation` is a constant. */
static inline __attribute__((always_inline)) void activate(__m256 x[4], ganz_activation activation, int vectors)
{
    switch (activation) {
    case GANZ_ACTIVATION_RELU: EACH x[v] = _mm256_max_ps(x[v], _mm256_setzero_ps()); break;
    case GANZ_ACTIVATION_SWISH: swish_vectors(x, SWISH_SLOPE, vectors); break;
    case GANZ_ACTIVATION_GELU: gelu_vectors(x, vectors); break;
    case GANZ_ACTIVATION_GELU_SIGMOID: swish_vectors(x, GELU_SLOPE, vectors); break;
    default: break;
    }
}

typedef struct place {
    size_t row, col;
} place;

/* `vectors` times eight columns of one row; 1 and 4 are compiled, for each activation. */
static inline __attribute__((always_inline)) void epilogue_columns(const ganz_epilogue *e, limits l,
                                                                   const int32_t *sums, place at, int vectors,
                                                                   ganz_activation activation)
{
    const size_t row = at.row, col = at.col;
    __m256i s[4];
    __m256 y[4];
    EACH s[v] = _mm256_loadu_si256((const void *)(sums + 8 * v));
    if (e->sums) EACH _mm256_storeu_si256((void *)(e->sums + row * e->sums_stride + col + 8 * v), s[v]);
    if (!e->out && !e->codes) return;
    if (e->scales) EACH y[v] = _mm256_mul_ps(_mm256_cvtepi32_ps(s[v]), _mm256_loadu_ps(e->scales + col + 8 * v));
    else EACH y[v] = _mm256_mul_ps(_mm256_cvtepi32_ps(s[v]), _mm256_set1_ps(e->scale));
    if (e->bias) EACH y[v] = _mm256_add_ps(y[v], _mm256_loadu_ps(e->bias + col + 8 * v));
    activate(y, activation, vectors);
    if (e->add) EACH y[v] = _mm256_add_ps(_mm256_loadu_ps(e->add + row * e->add_stride + col + 8 * v), y[v]);
    float *const out = e->out + row * e->out_stride + col;
    if (e->out && e->stream) EACH _mm256_stream_ps(out + 8 * v, y[v]);
    else if (e->out) EACH _mm256_storeu_ps(out + 8 * v, y[v]);
    if (!e->codes) return;
    EACH s[v] = codes8(y[v], l);
    int8_t *const to = e->codes + row * e->codes_stride + col;
    if (vectors == 4) store32(to, s, false);
    else store8(to, s[0], false);
}

static inline __attribute__((always_inline)) void
epilogue_of(const ganz_epilogue *e, const int32_t *sums, size_t stride, ganz_block block, ganz_activation activation)
{
    const limits l = limits_of(e->inv, -e->p, e->p);
    for (int r = 0; r < block.rows; r++) {
        const int32_t *const s = sums + (size_t)r * stride;
        const size_t row = (size_t)(block.row + r), col = (size_t)block.col;
        int c = 0;
        for (; c + 32 <= block.cols; c += 32)
            epilogue_columns(e, l, s + c, (place){row, col + (size_t)c}, 4, activation);
        for (; c + 8 <= block.cols; c += 8) epilogue_columns(e, l, s + c, (place){row, col + (size_t)c}, 1, activation);
        for (; c < block.cols; c++) epilogue_one(e, s[c], row, col + (size_t)c);
    }
    if (e->stream) _mm_sfence(); /* other threads will read it */
}

/* A loop of its own for each activation: the inner one asks for none. */
static void epilogue(const ganz_epilogue *e, const int32_t *sums, size_t stride, ganz_block block)
{
#define CASE(name) \
    case name: epilogue_of(e, sums, stride, block, name); break;
    switch (e->activation) {
        CASE(GANZ_ACTIVATION_NONE)
        CASE(GANZ_ACTIVATION_RELU)
        CASE(GANZ_ACTIVATION_SWISH)
        CASE(GANZ_ACTIVATION_GELU)
        CASE(GANZ_ACTIVATION_GELU_SIGMOID)
    }
#undef CASE
}

void ganz_kernel_init_rows_avx2(ganz_kernel *kernel)
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
