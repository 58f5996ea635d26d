/* A plain harness for the kernels, without cmocka: it also runs under qemu and in builds of its own.
 *
 * Every entry runs twice on the same arguments, scalar and under test. The second time each argument lies
 * against an inaccessible page, once with its end and once with its beginning, so that one byte too far is
 * a crash; outputs also have marked bytes on their free side. */
#ifndef GANZ_TESTS_KERNEL_CHECK_H
#define GANZ_TESTS_KERNEL_CHECK_H

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "kernel/kernel.h"

enum { GUARDS = 10, GUARD_BYTES = 1 << 20 };

typedef struct check {
    const char *name; /* of the ISA */
    ganz_kernel scalar, kernel;
    bool at_end; /* where arguments lie now */
    unsigned char *guard[GUARDS];
    struct {
        unsigned char *data;
        size_t bytes;
    } out[GUARDS];
    uint64_t stream, counter;
    long failures, comparisons;
} check;

void check_open(check *c, const char *name, unsigned flags);
void check_close(check *c);

/* A failure is printed, the first twenty of a run. */
void check_fail(check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define CHECK(c, condition) \
    ((condition) ? (void)(c)->comparisons++ : check_fail(c, "%s:%d: %s", __FILE__, __LINE__, #condition))

/* A copy of an input in slot 0..GUARDS-1; an output of undefined bytes there. */
void *check_in(check *c, int slot, const void *data, size_t bytes);
void *check_out(check *c, int slot, size_t bytes);
/* That the output has these bytes, and nothing beside it was touched. */
void check_same(check *c, int slot, const void *expected, const char *what, int n);

uint32_t check_random(check *c);
float check_uniform(check *c); /* [-1, 1) */
int check_between(check *c, int low, int high);

/* Kinds of float rows: 0 ordinary, 1 large, 2 tiny, 3 halves of a step 0.5, 4 constant, 5 zeros of both signs. */
enum { FLOAT_KINDS = 6 };
void check_floats(check *c, float *x, int n, int kind);
/* Kinds of code rows in [low, high]: 0 any, 1 all high, 2 all low, 3 the two ends in turn, 4 small with a few
 * large ones, 5 zero. */
enum { CODE_KINDS = 6 };
void check_codes(check *c, int8_t *codes, int n, int low, int high, int kind);

void check_rows(check *c);  /* kernel_rows.c */
void check_gemm(check *c);  /* kernel_gemm.c */
void check_bf16(check *c);  /* kernel_bf16.c */
void check_facts(check *c); /* kernel_facts.c: fixed expectations from elsewhere */

#endif
