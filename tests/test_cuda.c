/* Every entry of the backend table, CUDA against the CPU, in FP32, TF32 and bf16. Needs a GPU; says so and is skipped
 * where there is none. test_cuda fp32|tf32|bf16 runs one precision; test_cuda codes runs integer translation alone;
 * test_cuda cpu runs the CPU with one thread against the CPU with several, which proves the cases themselves.
 * --verbose: a line for each case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend_case.h"
#include "base/thread.h"

enum { SKIPPED = 77 };

/* ---- memory ------------------------------------------------------------------------------------- */

static void memory(void)
{
    begin("memory: large and many small uploads, zero, copy");
    const size_t big = (size_t)50 << 20;
    unsigned char *data = malloc(big), *back = malloc(big);
    const two t = bytes_of(NULL, big);
    for (size_t i = 0; i < big; i++) data[i] = (unsigned char)(i * 2654435761u >> 13);
    both.gpu->upload(both.gpu, t.gpu, data, big);
    both.gpu->download(both.gpu, back, t.gpu, big);
    expect("large upload", memcmp(data, back, big) == 0, 1, 0);
    for (size_t i = 0; i < 5000; i++) { /* the caller's buffer is used again at once */
        uint32_t word[33];
        for (size_t j = 0; j < 33; j++) word[j] = (uint32_t)(i * 33 + j);
        both.gpu->upload(both.gpu, (char *)t.gpu + i * sizeof word, word, sizeof word);
    }
    both.gpu->copy(both.gpu, (char *)t.gpu + (big / 2), t.gpu, 5000 * 132);
    both.gpu->zero(both.gpu, t.gpu, 1000);
    both.gpu->download(both.gpu, back, t.gpu, big);
    bool good = true;
    for (uint32_t i = 0; i < 5000 * 33; i++) {
        uint32_t low, high;
        memcpy(&low, back + 4 * (size_t)i, sizeof low);
        memcpy(&high, back + big / 2 + 4 * (size_t)i, sizeof high);
        good = good && high == i && low == (i < 250 ? 0 : i);
    }
    expect("small uploads", good, 1, 0);
    expect_no_failure();
    free(data);
    free(back);
}

/* ---- twice the same bytes ----------------------------------------------------------------------- */

/* A layer's worth of backward, run twice from the same state. */
typedef struct repeated {
    ganz_linear_call linear;
    ganz_norm_call norm;
    ganz_attention_call attention;
    ganz_embed_call embed;
    ganz_update_call update;
    ganz_update_item item;
    two grads; /* everything that is added to or written */
    size_t bytes;
} repeated;

static void *run_once(const repeated *r, const void *start)
{
    restore(r->grads.gpu, start, r->bytes);
    both.gpu->linear_grad(both.gpu, &r->linear);
    both.gpu->norm_grad(both.gpu, &r->norm);
    both.gpu->attention(both.gpu, &r->attention);
    both.gpu->attention_grad(both.gpu, &r->attention);
    both.gpu->embed_grad(both.gpu, &r->embed);
    both.gpu->adafactor(both.gpu, &r->update);
    return snapshot(r->grads.gpu, r->bytes);
}

static void repeatable(void)
{
    enum { ROWS = 3000, D = 512, SEGMENTS = 100, VOCAB = 50 };
    static int32_t ids[ROWS], order[ROWS], begins[SEGMENTS + 1];
    begin("the same twice: %d rows", ROWS);
    for (int i = 0, n = 0; i < VOCAB; i++) /* token j has id j % VOCAB */
        for (int j = i; j < ROWS; j += VOCAB) order[n++] = j, ids[j] = i;
    for (int i = 0; i <= SEGMENTS; i++) begins[i] = i * (ROWS / SEGMENTS);
    const two id = ints_of(ids, ROWS), by_id = ints_of(order, ROWS), at = ints_of(begins, SEGMENTS + 1);
    const size_t plane = (size_t)ROWS * D, square = (size_t)D * D;
    /* In floats: w_grad, value and slots of an update, gain and bias, sum, stats; then matrices. */
    repeated r = {.bytes = (8 * plane + 4 * square + 16 * D + (size_t)ROWS * 32) * sizeof(real)};
    r.grads = random_reals(r.bytes / sizeof(real), 0.1);
    real *next = r.grads.gpu;
#define TAKE(n) (next += (n), next - (n))
    real *const w_grad = TAKE(square), *const value = TAKE(square), *const gain_grad = TAKE(D),
                *const bias_grad = TAKE(D);
    real *const table_grad = TAKE((size_t)VOCAB * D), *const x_grad = TAKE(plane),
                *const stats = TAKE((size_t)ROWS * 16);
    real *const slots = TAKE(2 * D), *const q_grads = TAKE(3 * plane), *const out = TAKE(plane),
                *const in_grad = TAKE(plane);
#undef TAKE
    const ganz_type p = product();
    const mats x = random_matrix(ROWS, D, D, p, 1), w = random_matrix(D, D, D, p, 0.1),
               g = random_matrix(ROWS, D, D, p, 1);
    const two sum = random_reals(plane, 1), norm_stats = equal_reals(2 * ROWS, 0.7), gain = random_reals(D, 1);
    const ganz_matrix made = {ROWS, D, D, p, NULL};
    r.linear = (ganz_linear_call){.rows = ROWS,
                                  .in = D,
                                  .out = D,
                                  .x.m = x.gpu,
                                  .w.m = w.gpu,
                                  .y_grad = g.gpu,
                                  .x_grad = made,
                                  .w_grad = w_grad,
                                  .bias_grad = bias_grad};
    r.linear.x_grad.data = in_grad;
    r.norm = (ganz_norm_call){.rows = ROWS,
                              .cols = D,
                              .x = sum.gpu,
                              .gain = gain.gpu,
                              .bias = gain.gpu,
                              .y_grad = g.gpu,
                              .x_grad = x_grad,
                              .gain_grad = gain_grad,
                              .bias_grad = bias_grad,
                              .stats = norm_stats.gpu};
    r.attention = (ganz_attention_call){.see = {.queries = ROWS,
                                                .keys = ROWS,
                                                .segments = SEGMENTS,
                                                .query_begin = at.gpu,
                                                .key_begin = at.gpu,
                                                .longest_query = 30,
                                                .longest_key = 30,
                                                .causal = true},
                                        .heads = 8,
                                        .width = 64,
                                        .q.m = x.gpu,
                                        .k.m = g.gpu,
                                        .v.m = x.gpu,
                                        .inv_root = (real)0.125,
                                        .out = made,
                                        .stats = stats,
                                        .out_grad = g.gpu,
                                        .q_grad = made,
                                        .k_grad = made,
                                        .v_grad = made};
    r.attention.out.data = out;
    r.attention.q_grad.data = q_grads;
    r.attention.k_grad.data = q_grads + plane;
    r.attention.v_grad.data = q_grads + 2 * plane;
    r.embed = (ganz_embed_call){.rows = ROWS,
                                .cols = D,
                                .vocab = VOCAB,
                                .ids = id.gpu,
                                .by_id = by_id.gpu,
                                .root = 2,
                                .out_grad = sum.gpu,
                                .table_grad = table_grad};
    r.item = (ganz_update_item){value, w_grad, slots, D, D, true};
    r.update = (ganz_update_call){.items = &r.item, .count = 1, .rate = 0.01, .decay = 0.5};
    const void *start = snapshot(r.grads.gpu, r.bytes), *first = run_once(&r, start);
    for (int i = 0; i < 3; i++) expect_same_snapshot("bytes", first, run_once(&r, start), r.bytes);
    expect("something was done", memcmp(start, first, r.bytes) != 0, 0, 1);
    expect_no_failure();
}

/* What the device refuses must come out at sync, and only there. */
static void refusals(void)
{
    ganz_error err;
    begin("refusals");
    const mats x = random_matrix(8, 6, 6, GANZ_REAL, 1); /* six columns: no fours */
    const two largest = equal_reals(1, 0);
    both.gpu->largest(both.gpu, &x.gpu, largest.gpu);
    expect("sync tells", both.gpu->sync(both.gpu, &err) == GANZ_ECUDA && strlen(err.message) > 20, 0, 1);
    expect("and forgets", both.gpu->sync(both.gpu, &err) == GANZ_OK, 0, 1);
    void *memory = NULL;
    expect("too much memory",
           both.gpu->alloc(both.gpu, &memory, (size_t)1 << 50, &err) == GANZ_ENOMEM && memory == NULL, 0, 1);
    expect_no_failure();
}

/* ---- main --------------------------------------------------------------------------------------- */

static const char *const names[] = {"fp32", "tf32", "bf16"};

static void all_cases(bool on_cpu)
{
    memory();
    rows_cases();
    product_cases();
    attention_cases();
    parameter_cases();
    repeatable();
    if (!on_cpu) refusals();
}

static ganz_status open_second(ganz_precision precision, bool on_cpu, ganz_error *err)
{
    return on_cpu ? ganz_device_open(&both.gpu, "cpu", names[precision], 1, err)
                  : ganz_cuda_backend_open(&both.gpu, 0, precision, err);
}

static int run_precision(ganz_precision precision, bool on_cpu, bool codes_only)
{
    ganz_error err;
    const ganz_status status = open_second(precision, on_cpu, &err);
    if (status == GANZ_EUNSUPPORTED) {
        printf("skipped: %s\n", err.message);
        return SKIPPED;
    }
    if (status != GANZ_OK) {
        printf("FAILED %s\n", err.message);
        return 1;
    }
    both.precision = precision;
    both.nearest = 0;
    if (!codes_only) all_cases(on_cpu);
    if (precision == GANZ_FP32) code_cases(); /* nothing in them depends on it */
    end_of_cases();
    printf("%s: %d checks so far, %d failed; nearest to its tolerance (%.2g of it): %s\n", both.gpu->name, both.checks,
           both.failures, both.nearest, both.nearest_case);
    both.gpu->close(both.gpu);
    return 0;
}

int main(int argc, char **argv)
{
    ganz_error err;
    int result = 0;
    if (ganz_cpu_backend_open(&both.cpu, ganz_cpu_count() > 1 ? ganz_cpu_count() : 2, &err) != GANZ_OK) {
        printf("FAILED %s\n", err.message);
        return 1;
    }
    const char *only = "";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--verbose") == 0) both.verbose = true;
        else only = argv[i];
    }
    if (strcmp(only, "cpu") == 0) result = run_precision(GANZ_FP32, true, false);
    if (strcmp(only, "cpu-bf16") == 0) result = run_precision(GANZ_BF16_PRODUCTS, true, false);
    if (strcmp(only, "codes") == 0) result = run_precision(GANZ_FP32, false, true);
    for (int i = GANZ_FP32; i <= GANZ_BF16_PRODUCTS && result == 0; i++)
        if (*only == 0 || strcmp(only, names[i]) == 0) result = run_precision((ganz_precision)i, false, false);
    both.cpu->close(both.cpu);
    if (result != 0) return result;
    printf("%d checks, %d failed\n", both.checks, both.failures);
    return both.failures > 0;
}
