/* The float rows where sixteen lanes pay: codes, exponentials, selection and the epilogue; not norms, whose time is one
 * chain of additions, which take longer beside wide registers. The same operations in the same order as rows_scalar.c:
 * row sums still have eight lanes, to which the halves of a register are added one after the other. As in rows_avx2.c,
 * max(x, y) and min(x, y) give y when x is NaN, and ends of rows go through masks. */
#include "kernel/codes_avx512.h"
#include "kernel/kernel_isa.h"
#include "kernel/kernel_math.h"

enum { LANES = 16 };

#define INLINE static inline __attribute__((always_inline))
#define EACH UNROLL for (int v = 0; v < vectors; v++)

INLINE __mmask16 first_lanes(int lanes) { return (__mmask16)((1u << lanes) - 1u); }

INLINE float join8(__m256 s)
{
    const __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
    const __m128 half = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

INLINE __m256 upper(__m512 x) { return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1)); }

/* ganz_exact_exp of 16 * vectors numbers, vectors (a constant) <= 4, step by step over all of them. */
INLINE void exp_vectors(__m512 x[4], int vectors)
{
    const __m512 magic = _mm512_set1_ps(GANZ_ROUND_MAGIC);
    __mmask16 valid[4];
    __m512 shifted[4], n[4], q[4];
    EACH valid[v] = _mm512_cmp_ps_mask(x[v], _mm512_set1_ps(GANZ_EXP_LOW), _CMP_GE_OQ);
    EACH x[v] = _mm512_min_ps(x[v], _mm512_set1_ps(GANZ_EXP_HIGH));
    EACH shifted[v] = _mm512_add_ps(_mm512_mul_ps(x[v], _mm512_set1_ps(GANZ_EXP_LOG2E)), magic);
    EACH n[v] = _mm512_sub_ps(shifted[v], magic);
    EACH x[v] = _mm512_sub_ps(x[v], _mm512_mul_ps(n[v], _mm512_set1_ps(GANZ_EXP_LN2_HIGH)));
    EACH x[v] = _mm512_sub_ps(x[v], _mm512_mul_ps(n[v], _mm512_set1_ps(GANZ_EXP_LN2_LOW)));
    EACH q[v] = _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps(GANZ_EXP_6), x[v]), _mm512_set1_ps(GANZ_EXP_5));
    EACH q[v] = _mm512_add_ps(_mm512_mul_ps(q[v], x[v]), _mm512_set1_ps(GANZ_EXP_4));
    EACH q[v] = _mm512_add_ps(_mm512_mul_ps(q[v], x[v]), _mm512_set1_ps(GANZ_EXP_3));
    EACH q[v] = _mm512_add_ps(_mm512_mul_ps(q[v], x[v]), _mm512_set1_ps(GANZ_EXP_2));
    EACH q[v] = _mm512_add_ps(_mm512_mul_ps(_mm512_mul_ps(q[v], x[v]), x[v]), x[v]);
    EACH
    {
        const __m512i power =
            _mm512_sub_epi32(_mm512_castps_si512(shifted[v]), _mm512_set1_epi32((int)(GANZ_ROUND_BITS - 127u)));
        const __m512 y = _mm512_add_ps(q[v], _mm512_set1_ps(1.0f));
        x[v] = _mm512_maskz_mov_ps(valid[v], _mm512_mul_ps(y, _mm512_castsi512_ps(_mm512_slli_epi32(power, 23))));
    }
}

/* ---- codes -------------------------------------------------------------------------------------- */

INLINE void codes_row(const float *x, int n, limits l, void *codes)
{
    uint8_t *const out = codes;
    int i = 0;
    for (; i + LANES <= n; i += LANES) _mm_storeu_si128((void *)(out + i), codes16(_mm512_loadu_ps(x + i), l));
    if (i == n) return;
    const __mmask16 mask = first_lanes(n - i);
    _mm_mask_storeu_epi8(out + i, mask, codes16(_mm512_maskz_loadu_ps(mask, x + i), l));
}

static void quantize(const float *x, int n, float inv, int p, int8_t *codes)
{
    codes_row(x, n, limits_of(inv, -p, p), codes);
}

static void quantize_unsigned(const float *x, int n, float inv, int umax, uint8_t *codes)
{
    codes_row(x, n, limits_of(inv, 0, umax), codes);
}

/* ---- softmax ------------------------------------------------------------------------------------ */

INLINE float max_row(const float *x, int n)
{
    const __m512 least = _mm512_set1_ps(-__builtin_inff());
    __m512 max = least, other = least;
    int i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        max = _mm512_max_ps(_mm512_loadu_ps(x + i), max);
        other = _mm512_max_ps(_mm512_loadu_ps(x + i + LANES), other);
    }
    for (; i < n; i += LANES) {
        const __mmask16 mask = n - i < LANES ? first_lanes(n - i) : (__mmask16)0xFFFF;
        max = _mm512_max_ps(_mm512_mask_mov_ps(least, mask, _mm512_maskz_loadu_ps(mask, x + i)), max);
    }
    max = _mm512_max_ps(max, other);
    const __m256 half = _mm256_max_ps(_mm512_castps512_ps256(max), upper(max));
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m))) + 0.0f;
}

/* Sum of e^(x - max), which is also left in y where y is not NULL. */
INLINE float exp_and_sum(const float *x, int n, float max, float *y)
{
    const __m512 shift = _mm512_set1_ps(max);
    __m256 sum = _mm256_setzero_ps();
    int i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        enum { vectors = 4 };
        __m512 e[vectors];
        EACH e[v] = _mm512_sub_ps(_mm512_loadu_ps(x + i + LANES * v), shift);
        exp_vectors(e, vectors);
        EACH sum = _mm256_add_ps(_mm256_add_ps(sum, _mm512_castps512_ps256(e[v])), upper(e[v]));
        if (y) EACH _mm512_storeu_ps(y + i + LANES * v, e[v]);
    }
    for (; i < n; i += LANES) {
        const __mmask16 mask = n - i < LANES ? first_lanes(n - i) : (__mmask16)0xFFFF;
        __m512 e[4] = {_mm512_sub_ps(_mm512_maskz_loadu_ps(mask, x + i), shift)};
        exp_vectors(e, 1);
        e[0] = _mm512_maskz_mov_ps(mask, e[0]);
        sum = _mm256_add_ps(_mm256_add_ps(sum, _mm512_castps512_ps256(e[0])), upper(e[0]));
        if (y) _mm512_mask_storeu_ps(y + i, mask, e[0]);
    }
    return join8(sum);
}

INLINE void scale_row(const float *x, int n, float factor, float *y)
{
    const __m512 f = _mm512_set1_ps(factor);
    for (int i = 0; i < n; i += LANES) {
        const __mmask16 mask = n - i < LANES ? first_lanes(n - i) : (__mmask16)0xFFFF;
        _mm512_mask_storeu_ps(y + i, mask, _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, x + i), f));
    }
}

INLINE void scale_scores(const int32_t *scores, int n, float scale, float *y)
{
    const __m512 f = _mm512_set1_ps(scale);
    for (int i = 0; i < n; i += LANES) {
        const __mmask16 mask = n - i < LANES ? first_lanes(n - i) : (__mmask16)0xFFFF;
        const __m512 x = _mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(mask, scores + i));
        _mm512_mask_storeu_ps(y + i, mask, _mm512_mul_ps(x, f));
    }
}

#include "kernel/rows_softmax.inc"

/* ---- selection ---------------------------------------------------------------------------------- */

/* Hardly any number of a long row beats the worst that is kept: 64 are refused with one test. */
static void top_k(const float *x, int n, int k, float *values, int32_t *indices)
{
    int i = 0;
    for (; i < k; i++) top_insert(values, indices, i, x[i], i);
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        const __m512 worst = _mm512_set1_ps(values[k - 1]);
        uint64_t better = 0;
        UNROLL
        for (int v = 0; v < 4; v++)
            better |= (uint64_t)_mm512_cmp_ps_mask(_mm512_loadu_ps(x + i + LANES * v), worst, _CMP_GT_OQ) << LANES * v;
        for (; better; better &= better - 1) {
            const int at = i + __builtin_ctzll(better);
            if (x[at] > values[k - 1]) top_insert(values, indices, k - 1, x[at], at);
        }
    }
    for (; i < n; i++)
        if (x[i] > values[k - 1]) top_insert(values, indices, k - 1, x[i], i);
}

/* ---- epilogue ----------------------------------------------------------------------------------- */

/* swish_of of 16 * vectors numbers. */
INLINE void swish_vectors(__m512 x[4], float slope, int vectors)
{
    __m512 e[4];
    EACH e[v] = _mm512_mul_ps(x[v], _mm512_set1_ps(-slope));
    exp_vectors(e, vectors);
    EACH x[v] = _mm512_div_ps(x[v], _mm512_add_ps(_mm512_set1_ps(1.0f), e[v]));
}

/* gelu_of of 16 * vectors numbers. */
INLINE void gelu_vectors(__m512 x[4], int vectors)
{
    const __m512 one = _mm512_set1_ps(1.0f);
    __m512 size[4], t[4], q[4], e[4];
    EACH size[v] = _mm512_abs_ps(x[v]);
    EACH t[v] = _mm512_div_ps(one, _mm512_add_ps(one, _mm512_mul_ps(size[v], _mm512_set1_ps(PHI_T))));
    EACH q[v] = _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps(PHI_5), t[v]), _mm512_set1_ps(PHI_4));
    EACH q[v] = _mm512_add_ps(_mm512_mul_ps(q[v], t[v]), _mm512_set1_ps(PHI_3));
    EACH q[v] = _mm512_add_ps(_mm512_mul_ps(q[v], t[v]), _mm512_set1_ps(PHI_2));
    EACH q[v] = _mm512_add_ps(_mm512_mul_ps(q[v], t[v]), _mm512_set1_ps(PHI_1));
    EACH e[v] = _mm512_mul_ps(_mm512_mul_ps(size[v], size[v]), _mm512_set1_ps(-0.5f));
    exp_vectors(e, vectors);
    EACH
    {
        const __m512 part = _mm512_mul_ps(x[v], _mm512_mul_ps(_mm512_mul_ps(q[v], t[v]), e[v]));
        const __mmask16 below = _mm512_cmp_ps_mask(x[v], _mm512_setzero_ps(), _CMP_LT_OQ);
        x[v] = _mm512_mask_mov_ps(_mm512_sub_ps(x[v], part), below, part);
    }
}

/* activation_of of 16 * vectors numbers; `activation` is a constant. */
INLINE void activate(__m512 x[4], ganz_activation activation, int vectors)
{
    switch (activation) {
    case GANZ_ACTIVATION_RELU: EACH x[v] = _mm512_max_ps(x[v], _mm512_setzero_ps()); break;
    case GANZ_ACTIVATION_SWISH: swish_vectors(x, SWISH_SLOPE, vectors); break;
    case GANZ_ACTIVATION_GELU: gelu_vectors(x, vectors); break;
    case GANZ_ACTIVATION_GELU_SIGMOID: swish_vectors(x, GELU_SLOPE, vectors); break;
    default: break;
    }
}

typedef struct place {
    size_t row, col;
} place;

/* `vectors` (1 or 2) times sixteen columns of one row. */
INLINE void epilogue_columns(const ganz_epilogue *e, limits l, const int32_t *sums, place at, int vectors,
                             ganz_activation activation)
{
    const size_t row = at.row, col = at.col;
    __m512i s[4];
    __m512 y[4];
    EACH s[v] = _mm512_loadu_si512((const void *)(sums + LANES * v));
    if (e->sums) EACH _mm512_storeu_si512((void *)(e->sums + row * e->sums_stride + col + LANES * v), s[v]);
    if (!e->out && !e->codes) return;
    if (e->scales) EACH y[v] = _mm512_mul_ps(_mm512_cvtepi32_ps(s[v]), _mm512_loadu_ps(e->scales + col + LANES * v));
    else EACH y[v] = _mm512_mul_ps(_mm512_cvtepi32_ps(s[v]), _mm512_set1_ps(e->scale));
    if (e->bias) EACH y[v] = _mm512_add_ps(y[v], _mm512_loadu_ps(e->bias + col + LANES * v));
    activate(y, activation, vectors);
    if (e->add) EACH y[v] = _mm512_add_ps(_mm512_loadu_ps(e->add + row * e->add_stride + col + LANES * v), y[v]);
    float *const out = e->out + row * e->out_stride + col;
    if (e->out && e->stream && (uintptr_t)out % sizeof y[0] == 0) EACH _mm512_stream_ps(out + LANES * v, y[v]);
    else if (e->out) EACH _mm512_storeu_ps(out + LANES * v, y[v]);
    if (e->codes) EACH _mm_storeu_si128((void *)(e->codes + row * e->codes_stride + col + LANES * v), codes16(y[v], l));
}

INLINE void epilogue_of(const ganz_epilogue *e, const int32_t *sums, size_t stride, ganz_block block,
                        ganz_activation activation)
{
    const limits l = limits_of(e->inv, -e->p, e->p);
    for (int r = 0; r < block.rows; r++) {
        const int32_t *const s = sums + (size_t)r * stride;
        const size_t row = (size_t)(block.row + r), col = (size_t)block.col;
        int c = 0;
        for (; c + 2 * LANES <= block.cols; c += 2 * LANES)
            epilogue_columns(e, l, s + c, (place){row, col + (size_t)c}, 2, activation);
        for (; c + LANES <= block.cols; c += LANES)
            epilogue_columns(e, l, s + c, (place){row, col + (size_t)c}, 1, activation);
        for (; c < block.cols; c++) epilogue_one(e, s[c], row, col + (size_t)c);
    }
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

void ganz_kernel_init_rows_avx512(ganz_kernel *kernel)
{
    ganz_rows *const rows = &kernel->rows;
    rows->quantize = quantize;
    rows->quantize_unsigned = quantize_unsigned;
    rows->softmax = softmax;
    rows->softmax_scores = softmax_scores;
    rows->softmax_codes = softmax_codes;
    rows->exp_sum = exp_sum;
    rows->top_k = top_k;
    rows->epilogue = epilogue;
}
