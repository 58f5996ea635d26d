/* Cases of backend tests: arrays on both devices, filled alike and compared. */
#include "backend_case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { MOST_ARRAYS = 512 };

bench_of_two both;

static two arrays[MOST_ARRAYS];
static void *copies[MOST_ARRAYS];
static int arrays_used, copies_used;
static uint64_t random_place;
static char case_name[160];

static void give_up(const char *why)
{
    printf("%s: %s\n", case_name, why);
    exit(1);
}

static void finish_case(void)
{
    if (both.name != NULL && both.verbose) printf("  %-62s worst error / tolerance %.2g\n", case_name, both.worst);
    if (both.worst > both.nearest) {
        both.nearest = both.worst;
        snprintf(both.nearest_case, sizeof both.nearest_case, "%s", case_name);
    }
    fflush(stdout);
    for (int i = 0; i < arrays_used; i++) {
        both.cpu->free(both.cpu, arrays[i].cpu);
        both.gpu->free(both.gpu, arrays[i].gpu);
    }
    for (int i = 0; i < copies_used; i++) free(copies[i]);
    arrays_used = copies_used = 0;
    both.worst = 0;
}

void begin(const char *format, ...)
{
    va_list list;
    finish_case();
    va_start(list, format);
    vsnprintf(case_name, sizeof case_name, format, list);
    va_end(list);
    both.name = case_name;
}

void end_of_cases(void)
{
    finish_case();
    both.name = NULL;
}

/* ---- arrays ------------------------------------------------------------------------------------- */

static two take(size_t cpu_bytes, size_t gpu_bytes)
{
    ganz_error err;
    two t;
    if (arrays_used == MOST_ARRAYS) give_up("too many arrays in a case");
    if (both.cpu->alloc(both.cpu, &t.cpu, cpu_bytes, &err) != GANZ_OK) give_up(err.message);
    if (both.gpu->alloc(both.gpu, &t.gpu, gpu_bytes, &err) != GANZ_OK) give_up(err.message);
    arrays[arrays_used++] = t;
    return t;
}

static void *host(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) give_up("out of memory");
    return memory;
}

two bytes_of(const void *data, size_t bytes)
{
    two t = take(bytes, bytes);
    void *copy = host(bytes);
    if (data != NULL) memcpy(copy, data, bytes);
    else memset(copy, 0xff, bytes);
    both.cpu->upload(both.cpu, t.cpu, copy, bytes);
    both.gpu->upload(both.gpu, t.gpu, copy, bytes);
    free(copy);
    return t;
}

two ints_of(const int32_t *data, int count) { return bytes_of(data, (size_t)count * sizeof *data); }

two nan_reals(size_t count) { return bytes_of(NULL, count * sizeof(real)); }

static real *random_numbers(size_t count, double scale)
{
    real *numbers = host(count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) { /* four uniform numbers make one that is nearly normal */
        const ganz_random4 r = ganz_philox(7, 1, random_place++);
        const double sum = (double)r.v[0] + (double)r.v[1] + (double)r.v[2] + (double)r.v[3];
        numbers[i] = (real)(scale * (sum / 4294967296.0 - 2) * 1.7320508);
    }
    return numbers;
}

two random_reals(size_t count, double scale)
{
    real *numbers = random_numbers(count, scale);
    const two t = bytes_of(numbers, count * sizeof *numbers);
    free(numbers);
    return t;
}

two equal_reals(size_t count, double value)
{
    real *numbers = host(count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) numbers[i] = (real)value;
    const two t = bytes_of(numbers, count * sizeof *numbers);
    free(numbers);
    return t;
}

two random_mask(size_t count, double keep)
{
    uint8_t *mask = host(count);
    for (size_t i = 0; i < count; i++) mask[i] = ganz_random_uniform(7, 2, random_place++) < (float)keep;
    const two t = bytes_of(mask, count);
    free(mask);
    return t;
}

int random_below(int n) { return (int)ganz_random_below(7, 3, random_place++, (uint32_t)n); }

/* ---- matrices ----------------------------------------------------------------------------------- */

static uint16_t to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0xffff;
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static float from_bf16(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static mats matrix_of(real *numbers, int rows, int cols, int ld, ganz_type type)
{
    const size_t count = (size_t)rows * (size_t)ld, element = ganz_type_bytes(type);
    const two t = take(count * sizeof(real), count * element);
    if (type == GANZ_BF16) {
        uint16_t *halves = host(count * sizeof *halves);
        for (size_t i = 0; i < count; i++) {
            halves[i] = to_bf16(numbers[i]);
            if (!isnan(numbers[i])) numbers[i] = from_bf16(halves[i]);
        }
        both.gpu->upload(both.gpu, t.gpu, halves, count * element);
        free(halves);
    } else if (type == GANZ_REAL) {
        both.gpu->upload(both.gpu, t.gpu, numbers, count * element);
    } else { /* integer outputs start as -128 or 128, which no code is */
        unsigned char *marks = host(count * element);
        memset(marks, 0x80, count * element);
        both.gpu->upload(both.gpu, t.gpu, marks, count * element);
        free(marks);
    }
    both.cpu->upload(both.cpu, t.cpu, numbers, count * sizeof(real));
    free(numbers);
    return (mats){{rows, cols, ld, GANZ_REAL, t.cpu}, {rows, cols, ld, type, t.gpu}, false};
}

mats random_matrix(int rows, int cols, int ld, ganz_type type, double scale)
{
    return matrix_of(random_numbers((size_t)rows * (size_t)ld, scale), rows, cols, ld, type);
}

mats nan_matrix(int rows, int cols, int ld, ganz_type type)
{
    real *numbers = host((size_t)rows * (size_t)ld * sizeof *numbers);
    memset(numbers, 0xff, (size_t)rows * (size_t)ld * sizeof *numbers);
    return matrix_of(numbers, rows, cols, ld, type);
}

mats no_matrix(void) { return (mats){{0, 0, 0, GANZ_REAL, NULL}, {0, 0, 0, GANZ_REAL, NULL}, false}; }

mats columns_of(mats m, int col, int cols)
{
    m.cpu.data = (real *)m.cpu.data + col;
    m.gpu.data = (char *)m.gpu.data + (size_t)col * ganz_type_bytes(m.gpu.type);
    m.cpu.cols = m.gpu.cols = cols;
    m.part = true;
    return m;
}

mats code_matrix(int rows, int cols, ganz_type type, int p)
{
    real *numbers = host((size_t)rows * (size_t)cols * sizeof *numbers);
    for (size_t i = 0; i < (size_t)rows * (size_t)cols; i++) numbers[i] = (real)(random_below(2 * p + 1) - p);
    return matrix_of(numbers, rows, cols, cols, type);
}

/* ---- comparisons -------------------------------------------------------------------------------- */

static void judge(const char *what, double error, double tolerance)
{
    const bool good = error <= tolerance; /* false for NaN */
    both.checks++;
    if (tolerance > 0 && (error / tolerance > both.worst || isnan(error))) both.worst = error / tolerance;
    if (good) return;
    both.failures++;
    printf("FAILED %s: %s: error %.3g, allowed %.3g\n", case_name, what, error, tolerance);
}

/* Norm of the difference over the norm of b; NaN anywhere gives NaN. */
static double distance(const double *a, const double *b, size_t count)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    if (difference == 0) return 0;
    return size > 0 ? sqrt(difference / size) : sqrt(difference);
}

static double number_at(const void *data, ganz_type type, size_t i)
{
    switch (type) {
    case GANZ_BF16: return from_bf16(((const uint16_t *)data)[i]);
    case GANZ_S8: return ((const int8_t *)data)[i];
    case GANZ_U8: return ((const uint8_t *)data)[i];
    case GANZ_I32: return ((const int32_t *)data)[i];
    default: return (double)((const real *)data)[i];
    }
}

void same_matrix(const char *what, mats m, double tolerance)
{
    const size_t last = m.gpu.rows > 0 ? (size_t)(m.gpu.rows - 1) * (size_t)m.gpu.ld + (size_t)m.gpu.cols : 0;
    const size_t count = (size_t)m.gpu.rows * (size_t)m.gpu.cols, element = ganz_type_bytes(m.gpu.type);
    unsigned char *got = host(last * element);
    double *a = host(count * sizeof *a), *b = host(count * sizeof *b);
    size_t n = 0, strays = 0;
    both.gpu->download(both.gpu, got, m.gpu.data, last * element);
    for (size_t i = 0; i < last; i++) {
        if (i % (size_t)m.gpu.ld < (size_t)m.gpu.cols) {
            a[n] = number_at(got, m.gpu.type, i);
            b[n++] = (double)((const real *)m.cpu.data)[i];
        } else if (!m.part) { /* between the rows the GPU's numbers must be what the CPU's still are */
            const double x = number_at(got, m.gpu.type, i), y = (double)((const real *)m.cpu.data)[i];
            strays += !(x == y || (isnan(x) && isnan(y)));
        }
    }
    judge(what, distance(a, b, n), tolerance);
    if (strays > 0) judge("numbers between the rows", (double)strays, 0);
    free(got);
    free(a);
    free(b);
}

void same_reals(const char *what, two t, size_t count, double tolerance)
{
    const mats m = {
        {1, (int)count, (int)count, GANZ_REAL, t.cpu}, {1, (int)count, (int)count, GANZ_REAL, t.gpu}, false};
    same_matrix(what, m, tolerance);
}

void same_bytes(const char *what, two t, size_t bytes)
{
    unsigned char *got = host(bytes);
    size_t wrong = 0;
    both.gpu->download(both.gpu, got, t.gpu, bytes);
    for (size_t i = 0; i < bytes; i++) wrong += got[i] != ((const unsigned char *)t.cpu)[i];
    judge(what, (double)wrong, 0);
    free(got);
}

void same_doubles(const char *what, two t, size_t count, double tolerance)
{
    double *got = host(count * sizeof *got);
    both.gpu->download(both.gpu, got, t.gpu, count * sizeof *got);
    judge(what, distance(got, t.cpu, count), tolerance);
    free(got);
}

void expect(const char *what, bool good, double got, double wanted)
{
    both.checks++;
    if (good) return;
    both.failures++;
    printf("FAILED %s: %s: %.9g, not %.9g\n", case_name, what, got, wanted);
}

void expect_no_failure(void)
{
    ganz_error err;
    const bool good = both.gpu->sync(both.gpu, &err) == GANZ_OK;
    both.checks++;
    if (good) return;
    both.failures++;
    printf("FAILED %s: %s\n", case_name, err.message);
}

void *snapshot(const void *gpu, size_t bytes)
{
    void *copy = host(bytes);
    if (copies_used == MOST_ARRAYS) give_up("too many snapshots in a case");
    copies[copies_used++] = copy;
    both.gpu->download(both.gpu, copy, gpu, bytes);
    return copy;
}

void restore(void *gpu, const void *copy, size_t bytes) { both.gpu->upload(both.gpu, gpu, copy, bytes); }

void expect_same_snapshot(const char *what, const void *a, const void *b, size_t bytes)
{
    expect(what, memcmp(a, b, bytes) == 0, 1, 0);
}

/* ---- codes in passing --------------------------------------------------------------------------- */

coded coded_of(int rows, int cols, double scale, int p)
{
    return (coded){.codes = nan_matrix(rows, cols, cols, product()),
                   .grad = random_matrix(rows, cols, cols, product(), 1),
                   .scale = equal_reals(1, scale),
                   .inside = bytes_of(NULL, (size_t)rows * (size_t)cols / 4),
                   .bytes = bytes_of(NULL, (size_t)rows * (size_t)cols),
                   .p = p};
}

ganz_code_out code_out_of(const coded *k)
{
    int8_t *const bytes = both.gpu->reads_bytes ? k->bytes.gpu : NULL;
    return (ganz_code_out){k->codes.gpu, k->scale.gpu, k->p, k->inside.gpu, bytes, NULL};
}

two bytes_of_codes(mats m)
{
    const size_t count = (size_t)m.cpu.rows * (size_t)m.cpu.ld;
    int8_t *bytes = host(count);
    for (size_t i = 0; i < count; i++) bytes[i] = (int8_t)((const real *)m.cpu.data)[i];
    const two made = bytes_of(bytes, count);
    free(bytes);
    return made;
}

void same_as_bytes(const char *what, const ganz_matrix *gpu, const void *bytes)
{
    if (!bytes) return;
    const size_t count = (size_t)gpu->rows * (size_t)gpu->ld;
    const int8_t *own = snapshot(bytes, count);
    const void *codes = snapshot(gpu->data, count * ganz_type_bytes(gpu->type));
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits =
            gpu->type == GANZ_BF16 ? (uint32_t)((const uint16_t *)codes)[i] << 16 : ((const uint32_t *)codes)[i];
        float code;
        memcpy(&code, &bits, sizeof code);
        if (code != (float)own[i]) wrong++;
    }
    expect(what, wrong == 0, (double)wrong, 0);
}

void round_on_cpu(const coded *k, const ganz_matrix *x)
{
    const ganz_quantize_call call = {
        .x = *x, .codes = k->codes.cpu, .scale = k->scale.cpu, .p = k->p, .is_signed = true};
    both.cpu->quantize(both.cpu, &call);
}

void round_back_on_cpu(const coded *k, const ganz_matrix *x, const ganz_matrix *x_grad, bool add)
{
    const ganz_quantize_call call = {.x = *x,
                                     .codes = k->codes.cpu,
                                     .scale = k->scale.cpu,
                                     .p = k->p,
                                     .is_signed = true,
                                     .code_grad = k->grad.cpu,
                                     .x_grad = *x_grad,
                                     .x_grad_add = add};
    both.cpu->quantize_grad(both.cpu, &call);
}

/* ---- tolerances --------------------------------------------------------------------------------- */

ganz_type product(void) { return both.gpu->product; }

double product_tolerance(void)
{
    return both.precision == GANZ_FP32 ? 1e-5 : both.precision == GANZ_TF32 ? 2e-3 : 1e-2;
}

/* A CPU rounds numbers to bfloat16 on the way into a product, a GPU has them so on both sides. */
bool rounds_operands(void) { return both.precision == GANZ_BF16_PRODUCTS && both.gpu->host; }

double row_tolerance(ganz_type type) { return type == GANZ_BF16 ? 5e-3 : 1e-5; }
