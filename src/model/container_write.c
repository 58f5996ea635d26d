/* Writing safetensors: room for the header first, then the data as it comes, then the header into its room. */
#include <inttypes.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/io.h"
#include "model/container.h"

typedef struct declared {
    char *name;
    ganz_dtype dtype;
    int rank;
    int64_t dims[GANZ_CONTAINER_RANK];
    bool open;         /* dims[0] is not known yet */
    uint64_t row;      /* bytes of one step of dims[0]; of all when closed */
    uint64_t expected; /* bytes, when closed */
    uint64_t begin, bytes;
    uint64_t checksum;
} declared;

struct ganz_writer {
    ganz_output *out;
    char *path;
    bool checksums;
    json_t *metadata;
    declared *tensors;
    size_t count, capacity;
    size_t reserved; /* bytes for metadata to come */
    bool started;    /* the room has been made, data may follow */
    size_t room;     /* of the header, spaces included */
    size_t at;       /* the tensor that gets the next bytes */
    XXH3_state_t *hash;
};

static ganz_status no_memory(const ganz_writer *w, ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", w->path);
}

static bool is_compressed(const char *path)
{
    const char *const dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".gz") == 0 || strcmp(dot, ".xz") == 0 || strcmp(dot, ".zst") == 0);
}

ganz_status ganz_writer_open(ganz_writer **writer, const char *path, bool checksums, ganz_error *err)
{
    *writer = NULL;
    if (is_compressed(path))
        return ganz_fail(err, GANZ_EINVAL, "cannot write %s: a safetensors file is not compressed", path);
    ganz_writer *w = ganz_alloc(1, sizeof *w);
    if (!w) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    ganz_status status = GANZ_OK;
    w->checksums = checksums;
    w->path = ganz_strdup(path);
    w->metadata = json_pack("{s:s}", "xxh3", "0000000000000000"); /* comes first in the header; see complete_header */
    w->hash = checksums ? XXH3_createState() : NULL;
    if (!w->path || !w->metadata || (checksums && !w->hash)) {
        status = ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    } else {
        status = ganz_output_open(&w->out, path, err);
        if (status == GANZ_OK && !ganz_output_patchable(w->out))
            status = ganz_fail(err, GANZ_EINVAL, "cannot write %s: not a regular file", path);
    }
    if (status != GANZ_OK) ganz_writer_abandon(&w);
    *writer = w;
    return status;
}

void ganz_writer_abandon(ganz_writer **it)
{
    ganz_writer *const w = *it;
    *it = NULL;
    if (!w) return;
    ganz_output_abandon(&w->out);
    XXH3_freeState(w->hash);
    json_decref(w->metadata);
    for (size_t i = 0; i < w->count; i++) ganz_free(w->tensors[i].name);
    ganz_free(w->tensors);
    ganz_free(w->path);
    ganz_free(w);
}

/* ---- metadata ----------------------------------------------------------------------------------- */

ganz_status ganz_writer_text(ganz_writer *w, const char *key, const char *value, ganz_error *err)
{
    if (strcmp(key, GANZ_CONTAINER_SUMMED) == 0 || strncmp(key, "xxh3", 4) == 0)
        return ganz_fail(err, GANZ_EINVAL, "%s: metadata %s is for checksums", w->path, key);
    if (!ganz_utf8_valid(key, strlen(key)) || !ganz_utf8_valid(value, strlen(value)))
        return ganz_fail(err, GANZ_EINVAL, "%s: metadata %s is not UTF-8", w->path, key);
    return json_object_set_new(w->metadata, key, json_string(value)) == 0 ? GANZ_OK : no_memory(w, err);
}

ganz_status ganz_writer_int(ganz_writer *w, const char *key, int64_t value, ganz_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return ganz_writer_text(w, key, text, err);
}

ganz_status ganz_writer_real(ganz_writer *w, const char *key, double value, ganz_error *err)
{
    if (!isfinite(value)) return ganz_fail(err, GANZ_EINVAL, "%s: metadata %s is not finite", w->path, key);
    /* The program around us may have set a locale with a decimal comma. */
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return no_memory(w, err);
    const locale_t before = uselocale(plain);
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    uselocale(before);
    freelocale(plain);
    return ganz_writer_text(w, key, text, err);
}

void ganz_writer_reserve(ganz_writer *w, size_t bytes)
{
    GANZ_ASSERT(!w->started);
    w->reserved += bytes;
}

/* ---- tensors ------------------------------------------------------------------------------------ */

static bool name_is_fit(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && n <= GANZ_CONTAINER_NAME && strcmp(name, "__metadata__") != 0 && ganz_utf8_valid(name, n);
}

/* Sizes of the dimensions that are known. */
static ganz_status measure(const ganz_writer *w, declared *t, ganz_error *err)
{
    size_t bytes = ganz_dtype_bytes(t->dtype);
    t->open = t->rank > 0 && t->dims[0] == -1;
    for (int i = t->open ? 1 : 0; i < t->rank; i++) {
        if (t->dims[i] < 0 || !ganz_mul_size(bytes, (size_t)t->dims[i], &bytes) || bytes > INT64_MAX)
            return ganz_fail(err, GANZ_EINVAL, "%s: tensor %s has an impossible shape", w->path, t->name);
    }
    t->row = bytes;
    t->expected = t->open ? 0 : bytes;
    return GANZ_OK;
}

ganz_status ganz_writer_declare(ganz_writer *w, const char *name, ganz_dtype dtype, int rank, const int64_t *dims,
                                ganz_error *err)
{
    GANZ_ASSERT(!w->started);
    if (!name_is_fit(name)) return ganz_fail(err, GANZ_EINVAL, "%s: a tensor cannot be named '%.80s'", w->path, name);
    if (rank < 0 || rank > GANZ_CONTAINER_RANK || w->count == GANZ_CONTAINER_TENSORS)
        return ganz_fail(err, GANZ_ELIMIT, "%s: tensor %s is one too many, or has too many dimensions", w->path, name);
    if (!ganz_grow((void **)&w->tensors, &w->capacity, w->count + 1, sizeof *w->tensors)) return no_memory(w, err);
    declared *const t = &w->tensors[w->count];
    *t = (declared){.name = ganz_strdup(name), .dtype = dtype, .rank = rank};
    if (!t->name) return no_memory(w, err);
    w->count++;
    for (int i = 0; i < rank; i++) t->dims[i] = dims[i];
    return measure(w, t, err);
}

/* ---- the header --------------------------------------------------------------------------------- */

/* {"dtype":...,"shape":[...],"data_offsets":[...]}; NULL when memory is out. With `widest` numbers that are
 * not known yet are written as long as any number can be. */
static json_t *describe(const declared *t, bool widest)
{
    const json_int_t wide = INT64_MAX;
    json_t *const shape = json_array();
    for (int i = 0; i < t->rank; i++)
        json_array_append_new(shape, json_integer(widest && t->open && i == 0 ? wide : t->dims[i]));
    const json_int_t begin = widest ? wide : (json_int_t)t->begin;
    const json_int_t end = widest ? wide : (json_int_t)(t->begin + t->bytes);
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", ganz_dtype_name(t->dtype), "shape", shape, "data_offsets", begin,
                     end);
}

static bool put_checksums(const ganz_writer *w)
{
    if (json_object_set_new(w->metadata, GANZ_CONTAINER_SUMMED, json_string("xxh3")) != 0) return false;
    for (size_t i = 0; w->checksums && i < w->count; i++) {
        char key[GANZ_CONTAINER_NAME + 8], sum[17];
        snprintf(key, sizeof key, "xxh3:%s", w->tensors[i].name);
        snprintf(sum, sizeof sum, "%016" PRIx64, w->tensors[i].checksum);
        if (json_object_set_new(w->metadata, key, json_string(sum)) != 0) return false;
    }
    return true;
}

/* *text is freed by free(). */
static ganz_status make_header(const ganz_writer *w, bool widest, char **text, ganz_error *err)
{
    json_t *const header = json_object();
    bool whole = header && put_checksums(w) && json_object_set(header, "__metadata__", w->metadata) == 0;
    ganz_status status = GANZ_OK;
    for (size_t i = 0; whole && i < w->count; i++) {
        const declared *const t = &w->tensors[i];
        if (json_object_get(header, t->name))
            status = ganz_fail(err, GANZ_EINVAL, "%s: tensor %s is declared twice", w->path, t->name);
        whole = status == GANZ_OK && json_object_set_new(header, t->name, describe(t, widest)) == 0;
    }
    *text = whole ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    if (status != GANZ_OK) return status;
    return *text ? GANZ_OK : no_memory(w, err);
}

/* Writes blanks where the header will be: its length and the places of the data are settled from here on. */
static ganz_status start(ganz_writer *w, ganz_error *err)
{
    char *text;
    GANZ_TRY(make_header(w, true, &text, err));
    const size_t need = strlen(text) + w->reserved;
    free(text);
    if (need > GANZ_CONTAINER_HEADER - GANZ_ALIGN)
        return ganz_fail(err, GANZ_ELIMIT, "%s: the header would have %zu bytes, too many", w->path, need);
    w->room = ganz_round_up(8 + need, GANZ_ALIGN) - 8;
    w->started = true;
    static const char blank[GANZ_ALIGN] = {0};
    for (size_t left = 8 + w->room; left > 0; left -= GANZ_ALIGN)
        GANZ_TRY(ganz_output_write(w->out, blank, GANZ_ALIGN, err));
    return GANZ_OK;
}

/* Into its place at the beginning, the checksum of all that follows it, spaces included. */
static void sum_header(char *text, size_t bytes)
{
    const size_t begin = sizeof GANZ_CONTAINER_SUM - 1, end = begin + 16;
    GANZ_ASSERT(bytes > end && memcmp(text, GANZ_CONTAINER_SUM, begin) == 0);
    char sum[17];
    snprintf(sum, sizeof sum, "%016" PRIx64, ganz_checksum(text + end, bytes - end));
    memcpy(text + begin, sum, 16);
}

static ganz_status complete_header(ganz_writer *w, ganz_error *err)
{
    char *text;
    GANZ_TRY(make_header(w, false, &text, err));
    const size_t need = strlen(text);
    unsigned char *const block = need <= w->room ? ganz_alloc(8 + w->room, 1) : NULL;
    ganz_status status = GANZ_OK;
    if (need > w->room) {
        status = ganz_fail(err, GANZ_ELIMIT, "%s: the header has outgrown the room reserved for it", w->path);
    } else if (!block) {
        status = no_memory(w, err);
    } else {
        for (int i = 0; i < 8; i++) block[i] = (unsigned char)((uint64_t)w->room >> 8 * i);
        memset(block + 8, ' ', w->room);
        memcpy(block + 8, text, need);
        sum_header((char *)block + 8, w->room);
        status = ganz_output_patch(w->out, 0, block, 8 + w->room, err);
    }
    ganz_free(block);
    free(text);
    return status;
}

/* ---- the data ----------------------------------------------------------------------------------- */

static ganz_status begin_tensor(ganz_writer *w, ganz_error *err)
{
    if (w->at == w->count) return GANZ_OK;
    declared *const t = &w->tensors[w->at];
    t->begin = w->at ? w->tensors[w->at - 1].begin + w->tensors[w->at - 1].bytes : 0;
    if (t->begin % ganz_dtype_bytes(t->dtype) != 0)
        return ganz_fail(err, GANZ_EINVAL, "%s: tensor %s would not be aligned", w->path, t->name);
    if (w->hash) XXH3_64bits_reset(w->hash);
    return GANZ_OK;
}

static ganz_status end_tensor(ganz_writer *w, ganz_error *err)
{
    declared *const t = &w->tensors[w->at];
    if (t->open && t->row > 0) t->dims[0] = (int64_t)(t->bytes / t->row);
    if (t->open && (t->row == 0 || t->bytes % t->row != 0))
        return ganz_fail(err, GANZ_EINVAL, "%s: tensor %s ends within a row", w->path, t->name);
    if (w->hash) t->checksum = XXH3_64bits_digest(w->hash);
    w->at++;
    return begin_tensor(w, err);
}

/* Starts when that is due, and passes over tensors that are full, empty ones among them. */
static ganz_status settle(ganz_writer *w, ganz_error *err)
{
    if (!w->started) {
        GANZ_TRY(start(w, err));
        GANZ_TRY(begin_tensor(w, err));
    }
    while (w->at < w->count && !w->tensors[w->at].open && w->tensors[w->at].bytes == w->tensors[w->at].expected)
        GANZ_TRY(end_tensor(w, err));
    return GANZ_OK;
}

ganz_status ganz_writer_write(ganz_writer *w, const void *data, size_t bytes, ganz_error *err)
{
    if (bytes == 0) return GANZ_OK;
    GANZ_TRY(settle(w, err));
    declared *const t = w->at < w->count ? &w->tensors[w->at] : NULL;
    if (!t || (!t->open && bytes > t->expected - t->bytes))
        return ganz_fail(err, GANZ_EINVAL, "%s: more data than was declared", w->path);
    t->bytes += bytes;
    if (w->hash) XXH3_64bits_update(w->hash, data, bytes);
    return ganz_output_write(w->out, data, bytes, err);
}

ganz_status ganz_writer_next(ganz_writer *w, ganz_error *err)
{
    GANZ_TRY(settle(w, err));
    if (w->at == w->count || !w->tensors[w->at].open)
        return ganz_fail(err, GANZ_EINVAL, "%s: no tensor with an open dimension to end", w->path);
    return end_tensor(w, err);
}

ganz_status ganz_writer_finish(ganz_writer **it, ganz_error *err)
{
    ganz_writer *const w = *it;
    ganz_status status = settle(w, err);
    if (status == GANZ_OK && w->at < w->count)
        status = ganz_fail(err, GANZ_EINVAL, "%s: tensor %s is not complete", w->path, w->tensors[w->at].name);
    if (status == GANZ_OK) status = complete_header(w, err);
    if (status == GANZ_OK) status = ganz_output_finish(&w->out, err);
    ganz_writer_abandon(it);
    return status;
}
