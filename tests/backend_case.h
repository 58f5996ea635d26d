/* Two devices side by side: every array exists on both, and what both computed is compared.
 *
 * No test framework: the machine with the GPU may have none. Outputs start as NaN, so that what was not written cannot
 * pass; columns beyond a matrix must stay as they were. */
#ifndef TESTS_BACKEND_CASE_H
#define TESTS_BACKEND_CASE_H

#include "backend/backend.h"

typedef struct two {
    void *cpu, *gpu;
} two;

typedef struct mats {
    ganz_matrix cpu, gpu; /* REAL on the CPU; of any type on the GPU, holding the same numbers */
    bool part;            /* columns of another matrix: what lies between its rows is that one's */
} mats;

typedef struct bench_of_two {
    ganz_backend *cpu, *gpu;
    ganz_precision precision;
    const char *name; /* of the case that runs */
    int checks, failures;
    bool verbose; /* a line for each case */
    double worst; /* of the case: largest error over tolerance */
    double nearest;
    char nearest_case[160]; /* the case that came nearest to its tolerance */
} bench_of_two;

extern bench_of_two both;

/* Begins a case: frees the arrays of the one before. The name is printf-like. */
void begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void end_of_cases(void);

/* bytes of `data`, or NaN everywhere when data is NULL. */
two bytes_of(const void *data, size_t bytes);
two ints_of(const int32_t *data, int count);
two random_reals(size_t count, double scale);
two equal_reals(size_t count, double value);
two nan_reals(size_t count);
two random_mask(size_t count, double keep);
int random_below(int n);

/* ld > cols leaves columns between the rows. type: of the GPU's. */
mats random_matrix(int rows, int cols, int ld, ganz_type type, double scale);
mats nan_matrix(int rows, int cols, int ld, ganz_type type);
mats no_matrix(void);
/* Columns [col, col + cols) of a matrix. */
mats columns_of(mats m, int col, int cols);
/* Whole numbers within [-p, p]. */
mats code_matrix(int rows, int cols, ganz_type type, int p);

/* What a GPU writes as codes in passing, the CPU rounds in a call of its own, forwards and backwards. */
typedef struct coded {
    mats codes, grad;         /* grad: of the values the codes stand for */
    two scale, inside, bytes; /* inside and bytes: on the GPU only */
    int p;
} coded;
coded coded_of(int rows, int cols, double scale, int p);
ganz_code_out code_out_of(const coded *k); /* for the GPU */
/* codes of x; x_grad (+)= grad where nothing was clipped: both on the CPU. */
void round_on_cpu(const coded *k, const ganz_matrix *x);
void round_back_on_cpu(const coded *k, const ganz_matrix *x, const ganz_matrix *x_grad, bool add);

/* Codes of a matrix, a byte each; and whether bytes of the GPU are the codes of a matrix there. */
two bytes_of_codes(mats m);
void same_as_bytes(const char *what, const ganz_matrix *gpu, const void *bytes);

/* ||gpu - cpu|| <= tolerance * ||cpu||; tolerance 0: equal. */
void same_reals(const char *what, two t, size_t count, double tolerance);
void same_matrix(const char *what, mats m, double tolerance);
void same_bytes(const char *what, two t, size_t bytes);
void same_doubles(const char *what, two t, size_t count, double tolerance);
void expect(const char *what, bool good, double got, double wanted);
void expect_no_failure(void);

/* A snapshot of GPU memory, for «twice the same bytes». */
void *snapshot(const void *gpu, size_t bytes);
void restore(void *gpu, const void *copy, size_t bytes);
void expect_same_snapshot(const char *what, const void *a, const void *b, size_t bytes);

/* The product type of the GPU, and what its products and other sums may differ by. */
ganz_type product(void);
double product_tolerance(void);
bool rounds_operands(void);
double row_tolerance(ganz_type type);

void rows_cases(void);
void product_cases(void);
void attention_cases(void);
void parameter_cases(void);
void code_cases(void);

#endif
