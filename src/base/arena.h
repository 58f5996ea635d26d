/* Bump allocation in one block that the caller owns or that the arena took from the heap.
 *
 *   base                     used                      size
 *   | object | object | ...   |  free ................  |
 *                             ^ mark() ... rewind(mark)
 *
 * The block may be memory of a device: the arena only computes addresses. Under ASAN host blocks get red
 * zones between objects and what is rewound is poisoned. */
#ifndef GANZ_BASE_ARENA_H
#define GANZ_BASE_ARENA_H

#include "base/base.h"

typedef struct ganz_arena {
    unsigned char *base; /* aligned to GANZ_ALIGN */
    size_t size, used, peak;
    bool host;  /* memory this process can touch */
    bool owned; /* freed by ganz_arena_close */
} ganz_arena;

/* Takes `bytes` from the heap. */
ganz_status ganz_arena_open(ganz_arena *arena, size_t bytes, ganz_error *err);
/* Uses a block that outlives the arena; host says whether the CPU may touch it. */
void ganz_arena_over(ganz_arena *arena, void *block, size_t bytes, bool host);
void ganz_arena_close(ganz_arena *arena);

/* Aligned to GANZ_ALIGN, not zeroed; NULL when it does not fit or count * size overflows. */
void *ganz_arena_take(ganz_arena *arena, size_t count, size_t size);

static inline size_t ganz_arena_mark(const ganz_arena *arena) { return arena->used; }
void ganz_arena_rewind(ganz_arena *arena, size_t mark);

#endif
