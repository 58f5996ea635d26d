/* Memory: zeroed and aligned blocks, arrays that grow by doubling, and allocations that fail on demand, for tests. */
#define _DEFAULT_SOURCE /* madvise */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"

#define LARGE_PAGE ((size_t)2 << 20)

static atomic_long fail_countdown; /* 0: off; 1: this request fails, and all after it */

void ganz_alloc_fail_at(long n) { atomic_store(&fail_countdown, n); }

static bool must_fail(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0) return false;
    const long left = atomic_load(&fail_countdown);
    if (left > 1) atomic_fetch_sub(&fail_countdown, 1);
    return left == 1;
}

void *ganz_alloc(size_t count, size_t size)
{
    if (must_fail()) return NULL;
    return calloc(count ? count : 1, size ? size : 1);
}

void *ganz_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (must_fail() || !ganz_mul_size(count, size, &bytes)) return NULL;
    return realloc(old, bytes ? bytes : 1);
}

void *ganz_alloc_aligned(size_t bytes)
{
    if (must_fail() || bytes > SIZE_MAX - GANZ_ALIGN) return NULL;
    return aligned_alloc(GANZ_ALIGN, ganz_round_up(bytes ? bytes : 1, GANZ_ALIGN));
}

void *ganz_alloc_large(size_t bytes)
{
    if (bytes < LARGE_PAGE) return ganz_alloc_aligned(bytes);
    if (must_fail() || bytes > SIZE_MAX - LARGE_PAGE) return NULL;
    const size_t whole = ganz_round_up(bytes ? bytes : 1, LARGE_PAGE);
    void *const memory = aligned_alloc(LARGE_PAGE, whole);
#ifdef MADV_HUGEPAGE
    if (memory) (void)madvise(memory, whole, MADV_HUGEPAGE); /* a wish: may be ignored */
#endif
    return memory;
}

char *ganz_strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *const copy = ganz_alloc(bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void ganz_free(void *memory) { free(memory); }

bool ganz_grow(void **array, size_t *capacity, size_t need, size_t element)
{
    if (need <= *capacity) return true;
    size_t more = *capacity < 16 ? 16 : *capacity;
    while (more < need) {
        if (!ganz_mul_size(more, 2, &more)) return false;
    }
    void *const grown = ganz_realloc(*array, more, element);
    if (!grown) return false;
    *array = grown;
    *capacity = more;
    return true;
}
