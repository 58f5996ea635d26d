/* Included by every file: status and sentence, asserts, checked sizes, memory, `real`. */
#ifndef GANZ_BASE_BASE_H
#define GANZ_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ganz/ganz.h"

#ifdef __FAST_MATH__
#error "ganz promises bits: -ffast-math and -Ofast give others"
#endif

/* Training arithmetic is float; the gradient tests build the same code in double. */
#ifdef GANZ_F64
typedef double real;
#else
typedef float real;
#endif

#define GANZ_ALIGN 64 /* bytes; a cache line and the widest vector */
#define GANZ_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- errors ------------------------------------------------------------------------------------- */

/* Writes the sentence and returns the status: return ganz_fail(err, GANZ_EIO, "%s: %s", path, why); */
ganz_status ganz_fail(ganz_error *err, ganz_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The same about a line of a file or of a call, counted from 1; the sentence names it too where a person should see it.
 */
ganz_status ganz_fail_line(ganz_error *err, ganz_status status, long long line, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* The usual sentence for a failed system call on a file; reads errno. */
ganz_status ganz_fail_errno(ganz_error *err, const char *what, const char *path) __attribute__((cold));

#define GANZ_TRY(call)                                  \
    do {                                                \
        const ganz_status try_status_ = (call);         \
        if (try_status_ != GANZ_OK) return try_status_; \
    } while (0)

/* For functions with one exit: `status` and `out:` are the function's. */
#define GANZ_CHECK(call)                 \
    do {                                 \
        status = (call);                 \
        if (status != GANZ_OK) goto out; \
    } while (0)

/* Programmers' mistakes. Kept in release builds where GANZ_ASSERT_ALWAYS says so. */
void ganz_assert_failed(const char *condition, const char *file, int line) __attribute__((noreturn, cold));
#define GANZ_ASSERT_ALWAYS(c) ((c) ? (void)0 : ganz_assert_failed(#c, __FILE__, __LINE__))
#ifdef NDEBUG
#define GANZ_ASSERT(c) ((void)sizeof(c))
#else
#define GANZ_ASSERT(c) GANZ_ASSERT_ALWAYS(c)
#endif

/* ---- sizes -------------------------------------------------------------------------------------- */

/* False on overflow; *result is then unspecified. */
static inline bool ganz_mul_size(size_t a, size_t b, size_t *result) { return !__builtin_mul_overflow(a, b, result); }
static inline bool ganz_add_size(size_t a, size_t b, size_t *result) { return !__builtin_add_overflow(a, b, result); }

static inline size_t ganz_round_up(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

/* ---- memory ------------------------------------------------------------------------------------- */

/* All heap memory of the library comes from here, so that tests can let the n-th request fail.
 * NULL when there is none, or when count * size overflows. ganz_alloc is zeroed. */
void *ganz_alloc(size_t count, size_t size) __attribute__((malloc));
void *ganz_realloc(void *old, size_t count, size_t size);
void *ganz_alloc_aligned(size_t bytes); /* GANZ_ALIGN; not zeroed; freed by ganz_free */
/* The same for large, long-lived blocks that are read from end to end: on large pages where the system has them. */
void *ganz_alloc_large(size_t bytes);
char *ganz_strdup(const char *text);
void ganz_free(void *memory);

/* The n-th allocation from now fails (1 = the next), and all after it; 0 switches it off. Tests only. */
void ganz_alloc_fail_at(long n);

/* Makes room for one more element in a growing array; false when memory is out (array unchanged). */
bool ganz_grow(void **array, size_t *capacity, size_t need, size_t element);

#endif
