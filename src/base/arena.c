/* Arenas: memory taken from the front of one block and given back by rewinding. */
#include "base/arena.h"

#if defined(__SANITIZE_ADDRESS__)
#define GANZ_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GANZ_ASAN 1
#endif
#endif

#ifdef GANZ_ASAN
#include <sanitizer/asan_interface.h>
#define RED_ZONE ((size_t)GANZ_ALIGN)
static void poison(const ganz_arena *a, size_t from, size_t to)
{
    if (a->host && to > from) __asan_poison_memory_region(a->base + from, to - from);
}
static void unpoison(const ganz_arena *a, size_t from, size_t to)
{
    if (a->host && to > from) __asan_unpoison_memory_region(a->base + from, to - from);
}
#else
#define RED_ZONE ((size_t)0)
static void poison(const ganz_arena *a, size_t from, size_t to) { (void)a, (void)from, (void)to; }
static void unpoison(const ganz_arena *a, size_t from, size_t to) { (void)a, (void)from, (void)to; }
#endif

ganz_status ganz_arena_open(ganz_arena *arena, size_t bytes, ganz_error *err)
{
    void *const block = ganz_alloc_aligned(bytes);
    if (!block) return ganz_fail(err, GANZ_ENOMEM, "out of memory: %zu bytes of workspace", bytes);
    ganz_arena_over(arena, block, bytes, true);
    arena->owned = true;
    return GANZ_OK;
}

void ganz_arena_over(ganz_arena *arena, void *block, size_t bytes, bool host)
{
    GANZ_ASSERT((uintptr_t)block % GANZ_ALIGN == 0);
    *arena = (ganz_arena){.base = block, .size = bytes, .host = host};
    poison(arena, 0, bytes);
}

void ganz_arena_close(ganz_arena *arena)
{
    unpoison(arena, 0, arena->size);
    if (arena->owned) ganz_free(arena->base);
    *arena = (ganz_arena){0};
}

void *ganz_arena_take(ganz_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!ganz_mul_size(count, size, &bytes) || bytes > SIZE_MAX - 2 * GANZ_ALIGN) return NULL;
    const size_t step = ganz_round_up(bytes, GANZ_ALIGN) + RED_ZONE;
    if (step > arena->size - arena->used) return NULL;
    unsigned char *const taken = arena->base + arena->used;
    unpoison(arena, arena->used, arena->used + bytes);
    arena->used += step;
    if (arena->used > arena->peak) arena->peak = arena->used;
    return taken;
}

void ganz_arena_rewind(ganz_arena *arena, size_t mark)
{
    GANZ_ASSERT(mark <= arena->used);
    poison(arena, mark, arena->used);
    arena->used = mark;
}
