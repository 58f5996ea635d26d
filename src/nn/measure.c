/* A backend that accepts every call and does nothing, and measuring with it. */
#include "nn/measure.h"

/* ---- the backend -------------------------------------------------------------------------------- */

static ganz_status null_alloc(ganz_backend *be, void **memory, size_t bytes, ganz_error *err)
{
    (void)be;
    (void)bytes;
    (void)err;
    *memory = NULL;
    return GANZ_OK;
}
static ganz_status null_sync(ganz_backend *be, ganz_error *err)
{
    (void)be;
    (void)err;
    return GANZ_OK;
}
static void null_free(ganz_backend *be, void *memory)
{
    (void)be;
    (void)memory;
}
static void null_close(ganz_backend *be) { (void)be; }
static void null_copy(ganz_backend *be, void *to, const void *from, size_t bytes)
{
    (void)be;
    (void)to;
    (void)from;
    (void)bytes;
}
static void null_zero(ganz_backend *be, void *memory, size_t bytes)
{
    (void)be;
    (void)memory;
    (void)bytes;
}
static void null_mask(ganz_backend *be, uint8_t *mask, int64_t count, uint64_t seed, uint64_t stream, float keep)
{
    (void)be;
    (void)mask;
    (void)count;
    (void)seed;
    (void)stream;
    (void)keep;
}
static void null_largest(ganz_backend *be, const ganz_matrix *x, real *largest)
{
    (void)be;
    (void)x;
    (void)largest;
}
static void null_scales(ganz_backend *be, const real *z, real *scale, int count, bool power_of_two, real factor)
{
    (void)be;
    (void)z;
    (void)scale;
    (void)count;
    (void)power_of_two;
    (void)factor;
}
static void null_refresh(ganz_backend *be, const ganz_refresh_item *items, int count)
{
    (void)be;
    (void)items;
    (void)count;
}
static void null_average(ganz_backend *be, real *to, const real *from, size_t count, double keep)
{
    (void)be;
    (void)to;
    (void)from;
    (void)count;
    (void)keep;
}
static void null_add(ganz_backend *be, real *to, const real *from, size_t count)
{
    (void)be;
    (void)to;
    (void)from;
    (void)count;
}
static void null_add_rows(ganz_backend *be, double *to, const double *from, int rows, int cols)
{
    (void)be;
    (void)to;
    (void)from;
    (void)rows;
    (void)cols;
}

#define NULL_CALL(name, type)                                \
    static void null_##name(ganz_backend *be, const type *c) \
    {                                                        \
        (void)be;                                            \
        (void)c;                                             \
    }
NULL_CALL(embed, ganz_embed_call)
NULL_CALL(norm, ganz_norm_call)
NULL_CALL(linear, ganz_linear_call)
NULL_CALL(attention, ganz_attention_call)
NULL_CALL(loss, ganz_loss_call)
NULL_CALL(quantize, ganz_quantize_call)
NULL_CALL(update, ganz_update_call)
NULL_CALL(topk, ganz_topk_call)
NULL_CALL(recur, ganz_recur_call)

/* With the types and abilities of `like`. Entries that no pass calls stay empty. */
static ganz_backend null_backend(const ganz_backend *like)
{
    const ganz_backend null = {
        .name = "null",
        .product = like->product,
        .host = like->host,
        .makes_codes = like->makes_codes,
        .reads_bytes = like->reads_bytes,
        .close = null_close,
        .alloc = null_alloc,
        .free = null_free,
        .upload = null_copy,
        .download = null_copy,
        .copy = null_copy,
        .zero = null_zero,
        .sync = null_sync,
        .mask = null_mask,
        .embed = null_embed,
        .embed_grad = null_embed,
        .norm = null_norm,
        .norm_grad = null_norm,
        .linear = null_linear,
        .recur = null_recur,
        .linear_grad = null_linear,
        .attention = null_attention,
        .attention_grad = null_attention,
        .loss = null_loss,
        .quantize = null_quantize,
        .quantize_grad = null_quantize,
        .largest = null_largest,
        .scales = null_scales,
        .refresh = null_refresh,
        .adafactor = null_update,
        .adam = null_update,
        .topk = null_topk,
        .average = null_average,
        .add = null_add,
        .add_rows = null_add_rows,
        .embed_codes = null_embed,
        .norm_codes = null_norm,
        .linear_codes = null_linear,
        .attention_codes = null_attention,
    };
    return null;
}

/* ---- measuring ---------------------------------------------------------------------------------- */

enum { FIRST_HOST = 1 << 20, MOST_HOST = 1 << 30 };

ganz_arena ganz_counting_arena(void)
{
    static unsigned char nowhere[GANZ_ALIGN] __attribute__((aligned(GANZ_ALIGN)));
    ganz_arena arena;
    ganz_arena_over(&arena, nowhere, SIZE_MAX / 4, false);
    return arena;
}

/* Tensors and nodes are made, so the host's arena is real: as large as it must be for this. */
ganz_status ganz_measure(const ganz_backend *like, const ganz_weights *weights, ganz_dry_run *run, void *context,
                         ganz_memory *need, ganz_error *err)
{
    ganz_backend null = null_backend(like);
    for (size_t bytes = FIRST_HOST; bytes <= MOST_HOST; bytes *= 2) {
        ganz_arena host, device = ganz_counting_arena();
        GANZ_TRY(ganz_arena_open(&host, bytes, err));
        ganz_pass pass = {.be = &null, .weights = weights, .host = &host, .device = &device, .counts = true};
        run(context, &pass);
        *need = (ganz_memory){host.peak, device.peak};
        ganz_arena_close(&host);
        if (!pass.failed) return GANZ_OK;
    }
    return ganz_fail(err, GANZ_ENOMEM, "out of memory: a pass needs more than %d MiB for its notes", MOST_HOST >> 20);
}
