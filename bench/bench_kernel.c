/* Speed of the kernels, as TSV on stdout. GANZ_FORCE_ISA picks the ISA.
 *
 *   bench_kernel [--bits B] [--weight-bits B] [--spread S] [--uniform] [--quick] [--rows-only] [--shape KxN]
 *
 * gemm  shape by number of rows: GOP/s (2 * m * n * k) with the float epilogue, on one copy of the weights
 *       (hot) and going round copies of 96 MB together (cold); GB/s of weights; share of the core's peak, which
 *       is the same instructions on registers alone.
 * row   nanoseconds for one call.
 * read  GB/s of reading 96 MB.
 * Weights are normal, the largest S standard deviations and code 2^(B-1) - 1; --uniform takes any code. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/rng.h"
#include "bench_peak.h"
#include "kernel/kernel.h"

typedef struct settings {
    int p;         /* largest input code */
    int weight;    /* largest weight; at most 7: two in a byte */
    double spread; /* largest weight in standard deviations */
    bool uniform, quick, rows_only;
    int k, n; /* the only shape, or 0 */
} settings;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* As the engine has it. */
static void *take(size_t bytes)
{
    void *const block = ganz_alloc_large(bytes);
    if (!block) {
        fprintf(stderr, "bench_kernel: no memory\n");
        exit(1);
    }
    memset(block, 0, bytes);
    return block;
}

static void fill_weights(const settings *s, int8_t *w, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double x = s->uniform ? (double)ganz_random_below(1, 2, i, (uint32_t)(2 * s->weight + 1)) - s->weight
                                    : ganz_random_normal(1, 2, i) * s->weight / s->spread;
        w[i] = (int8_t)fmax(-s->weight, fmin(s->weight, nearbyint(x)));
    }
}

/* One product's weights, packed `copies` times, and room for its input and result. */
typedef struct job {
    const ganz_kernel *kernel;
    int m, n, k, copies;
    ganz_packed *w;
    int8_t *a;
    float *out;
    void *scratch;
} job;

static void multiply(const job *j, int copy)
{
    const ganz_epilogue e = {.scale = 1e-4f, .out = j->out, .out_stride = (size_t)j->n};
    ganz_gemm(j->kernel, &(ganz_gemm_call){&j->w[copy], j->a, (size_t)j->k, j->m, &e}, 0, j->n, j->scratch);
}

/* Best of several batches, seconds for one product. */
static double time_job(const job *j, int copies, bool quick)
{
    double best = 1e9;
    const double work = 2.0 * j->m * j->n * j->k;
    const int calls = (int)fmax(copies > 1 ? copies : 1, (quick ? 1e9 : 4e9) / work);
    int copy = 0;
    for (int batch = 0; batch < (quick ? 3 : 5); batch++) {
        const double start = now();
        for (int i = 0; i < calls; i++, copy = (copy + 1) % copies) multiply(j, copy);
        best = fmin(best, (now() - start) / calls);
    }
    return best;
}

static void print_job(const job *j, const char *cache, double seconds, double peak)
{
    const double rate = 2e-9 * j->m * j->n * j->k / seconds;
    printf("gemm\t%s\t%s\t%s\t%d\t%dx%d\t%.1f\t%.1f\t", j->kernel->gemm.name, j->w[0].route.name, cache, j->m, j->k,
           j->n, rate, 1e-9 * j->n * j->k / seconds);
    if (peak > 0.0) printf("%.0f%%\n", 100.0 * rate / peak);
    else printf("-\n");
    fflush(stdout);
}

static void bench_shape(const settings *s, const ganz_kernel *kernel, int k, int n)
{
    static const int rows[] = {1, 4, 8, 32, 128, 512};
    job j = {.kernel = kernel, .n = n, .k = k};
    const size_t bytes = ganz_pack_bytes(kernel, n, k, s->weight <= GANZ_NIBBLE_MAX);
    j.copies = s->quick ? 1 : 1 + (int)(96000000 / bytes);
    int8_t *const codes = take((size_t)n * (size_t)k);
    fill_weights(s, codes, (size_t)n * (size_t)k);
    j.w = take((size_t)j.copies * sizeof *j.w);
    char *const block = take(ganz_round_up(bytes, GANZ_ALIGN) * (size_t)j.copies);
    double pack = now();
    for (int i = 0; i < j.copies; i++)
        ganz_pack(kernel, &j.w[i], block + ganz_round_up(bytes, GANZ_ALIGN) * (size_t)i,
                  &(ganz_unpacked){codes, n, k, -s->p, s->p, s->weight <= GANZ_NIBBLE_MAX, NULL});
    pack = (now() - pack) / j.copies;
    printf("pack\t%s\t%s\t-\t-\t%dx%d\t%.2f ms\t%.2f\t%u fixes\n", kernel->gemm.name, j.w[0].route.name, k, n,
           1e3 * pack, 1e-9 * n * k / pack, (unsigned)j.w[0].fix_at[(n + kernel->gemm.nr - 1) / kernel->gemm.nr]);
    j.a = take((size_t)512 * (size_t)k);
    j.out = take((size_t)512 * (size_t)n * sizeof(float));
    j.scratch = take(ganz_gemm_scratch(kernel, k));
    for (int i = 0; i < 512 * k; i++)
        j.a[i] = (int8_t)((int)ganz_random_below(1, 3, (uint64_t)i, (uint32_t)(2 * s->p + 1)) - s->p);
    const double peak = bench_peak(j.w[0].route.name);
    for (size_t i = 0; i < GANZ_COUNT(rows); i++) {
        j.m = rows[i];
        print_job(&j, "hot", time_job(&j, 1, s->quick), peak);
        if (j.m <= 32 && j.copies > 1) print_job(&j, "cold", time_job(&j, j.copies, s->quick), peak);
    }
    ganz_free(codes);
    ganz_free(j.w);
    ganz_free(block);
    ganz_free(j.a);
    ganz_free(j.out);
    ganz_free(j.scratch);
}

/* ---- rows --------------------------------------------------------------------------------------- */

enum { WIDE = 32000, DEEP = 512, HEAD = 64, KEYS = 32 };
typedef struct row_data {
    float x[WIDE], gain[DEEP], bias[DEEP], y[WIDE];
    int8_t codes[3][DEEP], keys[KEYS * DEEP];
    uint8_t u[KEYS];
    int32_t sums[4 * DEEP];
    const int8_t *list[KEYS];
} row_data;

static void row_norm(const ganz_rows *r, row_data *d)
{
    const ganz_codes outs[3] = {{d->codes[0], 20.0f, 127}, {d->codes[1], 21.0f, 127}, {d->codes[2], 22.0f, 127}};
    r->norm(&(ganz_norm_layout){DEEP, 1e-6f, d->gain, d->bias}, d->x, NULL, outs, 3);
}
static void row_norm_both(const ganz_rows *r, row_data *d)
{
    const ganz_codes outs[3] = {{d->codes[0], 20.0f, 127}, {d->codes[1], 21.0f, 127}, {d->codes[2], 22.0f, 127}};
    r->norm(&(ganz_norm_layout){DEEP, 1e-6f, d->gain, d->bias}, d->x, d->y, outs, 3);
}
static void row_norm_float(const ganz_rows *r, row_data *d)
{
    r->norm(&(ganz_norm_layout){DEEP, 1e-6f, d->gain, d->bias}, d->x, d->y, NULL, 0);
}
static void row_quantize(const ganz_rows *r, row_data *d) { r->quantize(d->x, DEEP, 30.0f, 127, d->codes[0]); }
static void row_softmax(const ganz_rows *r, row_data *d)
{
    r->softmax_codes(d->sums, KEYS, 1e-4f, &(ganz_unsigned_codes){d->u, 255.0f, 255}, d->y);
}
static void row_exp_sum(const ganz_rows *r, row_data *d) { r->exp_sum(d->x, WIDE, &d->y[0], &d->y[1]); }
static void row_top_8(const ganz_rows *r, row_data *d) { r->top_k(d->x, WIDE, 8, d->y, d->sums); }
static void row_dot(const ganz_rows *r, row_data *d) { r->dot_rows(d->keys, HEAD, d->list, HEAD, KEYS, d->sums); }
static void row_weighted(const ganz_rows *r, row_data *d)
{
    r->weighted_rows(d->u, d->list, HEAD, KEYS, HEAD, d->sums);
}
static void row_activated(const ganz_rows *r, row_data *d, ganz_activation activation)
{
    const ganz_epilogue e = {
        .scale = 1e-3f, .bias = d->bias, .activation = activation, .codes = d->codes[0], .inv = 9.0f, .p = 127};
    r->epilogue(&e, d->sums, DEEP, (ganz_block){0, 1, 0, DEEP});
}
static void row_relu(const ganz_rows *r, row_data *d) { row_activated(r, d, GANZ_ACTIVATION_RELU); }
static void row_swish(const ganz_rows *r, row_data *d) { row_activated(r, d, GANZ_ACTIVATION_SWISH); }
static void row_gelu(const ganz_rows *r, row_data *d) { row_activated(r, d, GANZ_ACTIVATION_GELU); }

static void bench_rows(const ganz_kernel *kernel)
{
    static const struct {
        const char *name;
        void (*call)(const ganz_rows *, row_data *);
    } entries[] = {
        {"norm 512, 3 codes", row_norm},
        {"norm 512, float", row_norm_float},
        {"norm 512, float and 3 codes", row_norm_both},
        {"quantize 512", row_quantize},
        {"softmax_codes 32", row_softmax},
        {"exp_sum 32000", row_exp_sum},
        {"top_k 8 of 32000", row_top_8},
        {"dot_rows 64 x 32", row_dot},
        {"weighted_rows 64 x 32", row_weighted},
        {"epilogue 512, bias relu codes", row_relu},
        {"epilogue 512, bias swish codes", row_swish},
        {"epilogue 512, bias gelu codes", row_gelu},
    };
    row_data *const d = take(sizeof *d);
    for (int i = 0; i < WIDE; i++) d->x[i] = (float)ganz_random_normal(1, 5, (uint64_t)i) * 3.0f;
    for (int i = 0; i < DEEP; i++) d->gain[i] = 1.0f, d->bias[i] = 0.1f, d->sums[i] = i * 77 % 4001 - 2000;
    for (int i = 0; i < KEYS * DEEP; i++) d->keys[i] = (int8_t)(i * 31 % 255 - 127);
    for (int i = 0; i < KEYS; i++) d->list[i] = d->keys + i * DEEP, d->u[i] = (uint8_t)(i * 8);
    for (size_t e = 0; e < GANZ_COUNT(entries); e++) {
        double best = 1e9;
        int calls = 10;
        for (int batch = 0; batch < 12; batch++) {
            const double start = now();
            for (int i = 0; i < calls; i++) entries[e].call(&kernel->rows, d);
            const double seconds = now() - start;
            if (seconds / calls < best) best = seconds / calls;
            if (seconds < 2e-3) calls *= 2;
        }
        printf("row\t%s\t%s\t%.0f ns\n", ganz_cpu_isa_name(kernel->flags), entries[e].name, 1e9 * best);
    }
    ganz_free(d);
}

/* What memory gives a core that only reads: the measure of products of one row. */
static void bench_read(void)
{
    const size_t words = 96000000 / sizeof(uint64_t);
    uint64_t *const data = take(words * sizeof *data), sum = 0;
    double best = 1e9;
    for (int batch = 0; batch < 5; batch++) {
        const double start = now();
        for (size_t i = 0; i < words; i++) sum += data[i];
        best = fmin(best, now() - start);
        data[batch] = sum; /* so that it is needed */
    }
    printf("read\t-\t-\tcold\t-\t-\t-\t%.1f\t-\n", 1e-9 * (double)(words * sizeof *data) / best);
    ganz_free(data);
}

static bool parse(settings *s, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick")) s->quick = true;
        else if (!strcmp(argv[i], "--uniform")) s->uniform = true;
        else if (!strcmp(argv[i], "--rows-only")) s->rows_only = true;
        else if (!strcmp(argv[i], "--bits") && i + 1 < argc) s->p = (1 << (atoi(argv[++i]) - 1)) - 1;
        else if (!strcmp(argv[i], "--weight-bits") && i + 1 < argc) s->weight = (1 << (atoi(argv[++i]) - 1)) - 1;
        else if (!strcmp(argv[i], "--spread") && i + 1 < argc) s->spread = atof(argv[++i]);
        else if (!strcmp(argv[i], "--shape") && i + 1 < argc && sscanf(argv[i + 1], "%dx%d", &s->k, &s->n) == 2) i++;
        else return false;
    }
    if (s->weight == 0) s->weight = s->p;
    return s->weight >= 1 && s->weight <= 127 && s->p >= 1 && s->p <= 127 && s->spread > 0.0 && s->k >= 0 &&
           s->k <= GANZ_DEPTH_MAX && (s->k == 0 || s->n >= 1);
}

int main(int argc, char **argv)
{
    static const int shapes[][2] = {{512, 512},   {512, 2048},  {2048, 512}, {512, 32000},
                                    {1024, 1024}, {1024, 4096}, {4096, 1024}};
    settings s = {.p = 127, .spread = 8.0};
    unsigned flags;
    ganz_error err;
    if (!parse(&s, argc, argv)) {
        fprintf(
            stderr,
            "usage: bench_kernel [--bits 2..8] [--weight-bits 2..8] [--spread S] [--uniform] [--quick] [--rows-only] [--shape KxN]\n");
        return 2;
    }
    if (ganz_cpu_choose(&flags, &err) != GANZ_OK) {
        fprintf(stderr, "bench_kernel: %s\n", err.message);
        return 1;
    }
    ganz_kernel kernel;
    ganz_kernel_init(&kernel, flags);
    printf("what\tisa\troute\tweights\trows\tdepth x columns\tGOP/s\tGB/s\tof peak\n");
    if (s.k) {
        bench_shape(&s, &kernel, s.k, s.n);
        return 0;
    }
    bench_rows(&kernel);
    if (!s.quick) bench_read();
    for (size_t i = 0; !s.rows_only && i < GANZ_COUNT(shapes); i++)
        bench_shape(&s, &kernel, shapes[i][0], shapes[i][1]);
    return 0;
}
