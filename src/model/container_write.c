/* Writing safetensors: room for the header first, then the data as it comes, then the header into its room; and before
 * the file gets its name it is read again and compared. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/io.h"
#include "base/surroundings.h"
#include "model/container.h"
#include "model/json.h"

enum { READ_BYTES = 1 << 18 }; /* at a time, when the file is read again */

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

typedef struct pair {
    char *key, *text;
} pair;

struct ganz_writer {
    ganz_output *out;
    char *path;
    bool checksums; /* they go into the metadata; they are made in any case */
    pair *pairs;    /* (pair_count), the metadata but for checksums */
    size_t pair_count, pair_capacity;
    size_t early; /* pairs that were known when the room was made; checksums come behind them */
    declared *tensors;
    size_t count, capacity;
    size_t reserved; /* bytes for metadata to come */
    bool started;    /* the room has been made, data may follow */
    size_t room;     /* of the header, spaces included */
    size_t at;       /* the tensor that gets the next bytes */
    XXH3_state_t *hash;
    ganz_writer_check *check; /* of whoever opened it; NULL: none */
    void *context;
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
    w->hash = XXH3_createState();
    if (!w->path || !w->hash) {
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
    for (size_t i = 0; i < w->pair_count; i++) {
        ganz_free(w->pairs[i].key);
        ganz_free(w->pairs[i].text);
    }
    ganz_free(w->pairs);
    for (size_t i = 0; i < w->count; i++) ganz_free(w->tensors[i].name);
    ganz_free(w->tensors);
    ganz_free(w->path);
    ganz_free(w);
}

/* ---- metadata ----------------------------------------------------------------------------------- */

static ganz_status add_pair(ganz_writer *w, const char *key, char *text, ganz_error *err)
{
    char *const name = ganz_strdup(key);
    if (!name || !ganz_grow((void **)&w->pairs, &w->pair_capacity, w->pair_count + 1, sizeof *w->pairs)) {
        ganz_free(name);
        ganz_free(text);
        return no_memory(w, err);
    }
    w->pairs[w->pair_count++] = (pair){name, text};
    return GANZ_OK;
}

ganz_status ganz_writer_text(ganz_writer *w, const char *key, const char *value, ganz_error *err)
{
    if (strcmp(key, GANZ_CONTAINER_SUMMED) == 0 || strncmp(key, "xxh3", 4) == 0)
        return ganz_fail(err, GANZ_EINVAL, "%s: metadata %s is for checksums", w->path, key);
    if (!ganz_utf8_valid(key, strlen(key)) || !ganz_utf8_valid(value, strlen(value)))
        return ganz_fail(err, GANZ_EINVAL, "%s: metadata %s is not UTF-8", w->path, key);
    char *const text = ganz_strdup(value);
    if (!text) return no_memory(w, err);
    for (size_t i = 0; i < w->pair_count; i++) {
        if (strcmp(w->pairs[i].key, key) != 0) continue;
        ganz_free(w->pairs[i].text);
        w->pairs[i].text = text;
        return GANZ_OK;
    }
    return add_pair(w, key, text, err);
}

ganz_status ganz_writer_int(ganz_writer *w, const char *key, int64_t value, ganz_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return ganz_writer_text(w, key, text, err);
}

ganz_status ganz_writer_real(ganz_writer *w, const char *key, double value, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    if (!isfinite(value)) return ganz_fail(err, GANZ_EINVAL, "%s: metadata %s is not finite", w->path, key);
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
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

/* "name":{"dtype":...,"shape":[...],"data_offsets":[...]}. With `widest` numbers that are not known yet are written as
 * long as any number can be. */
static void put_tensor(ganz_json_writer *to, const declared *t, bool widest)
{
    ganz_json_put_text(to, t->name, "");
    ganz_json_put(to, ":{\"dtype\":");
    ganz_json_put_text(to, ganz_dtype_name(t->dtype), "");
    ganz_json_put(to, ",\"shape\":[");
    for (int i = 0; i < t->rank; i++) {
        if (i > 0) ganz_json_put(to, ",");
        ganz_json_put_int(to, widest && t->open && i == 0 ? INT64_MAX : t->dims[i]);
    }
    ganz_json_put(to, "],\"data_offsets\":[");
    ganz_json_put_int(to, widest ? INT64_MAX : (int64_t)t->begin);
    ganz_json_put(to, ",");
    ganz_json_put_int(to, widest ? INT64_MAX : (int64_t)(t->begin + t->bytes));
    ganz_json_put(to, "]}");
}

static void put_pair(ganz_json_writer *to, const char *prefix, const char *key, const char *text)
{
    ganz_json_put(to, ",");
    ganz_json_put_text(to, prefix, key);
    ganz_json_put(to, ":");
    ganz_json_put_text(to, text, "");
}

static void put_checksums(ganz_json_writer *to, const ganz_writer *w)
{
    put_pair(to, GANZ_CONTAINER_SUMMED, "", "xxh3");
    for (size_t i = 0; w->checksums && i < w->count; i++) {
        char sum[17];
        snprintf(sum, sizeof sum, "%016" PRIx64, w->tensors[i].checksum);
        put_pair(to, "xxh3:", w->tensors[i].name, sum);
    }
}

/* The header without the spaces behind it; its own checksum is left 0. The caller frees header->data in any case. */
static ganz_status make_header(const ganz_writer *w, bool widest, ganz_json_writer *header, ganz_error *err)
{
    *header = (ganz_json_writer){0};
    ganz_json_put(header, GANZ_CONTAINER_SUM "0000000000000000\"");
    for (size_t i = 0; i < w->early; i++) put_pair(header, "", w->pairs[i].key, w->pairs[i].text);
    put_checksums(header, w);
    for (size_t i = w->early; i < w->pair_count; i++) put_pair(header, "", w->pairs[i].key, w->pairs[i].text);
    ganz_json_put(header, "}");
    for (size_t i = 0; i < w->count; i++) {
        ganz_json_put(header, ",");
        put_tensor(header, &w->tensors[i], widest);
    }
    ganz_json_put(header, "}");
    return header->failed ? no_memory(w, err) : GANZ_OK;
}

static int order_by_name(const void *left, const void *right)
{
    const char *const *const a = left, *const *const b = right;
    return strcmp(*a, *b);
}

static ganz_status check_names(const ganz_writer *w, ganz_error *err)
{
    const char **const names = ganz_alloc(w->count, sizeof *names);
    if (!names) return no_memory(w, err);
    for (size_t i = 0; i < w->count; i++) names[i] = w->tensors[i].name;
    qsort(names, w->count, sizeof *names, order_by_name);
    ganz_status status = GANZ_OK;
    for (size_t i = 1; i < w->count && status == GANZ_OK; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            status = ganz_fail(err, GANZ_EINVAL, "%s: tensor %s is declared twice", w->path, names[i]);
    ganz_free(names);
    return status;
}

/* Writes blanks where the header will be: its length and the places of the data are settled from here on. */
static ganz_status start(ganz_writer *w, ganz_error *err)
{
    GANZ_TRY(check_names(w, err));
    w->early = w->pair_count;
    ganz_json_writer header;
    const ganz_status made = make_header(w, true, &header, err);
    const size_t need = header.bytes + w->reserved;
    ganz_free(header.data);
    if (made != GANZ_OK) return made;
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

/* The first bytes of the file: the length, the header, spaces. The caller frees *block. */
static ganz_status frame_header(const ganz_writer *w, const ganz_json_writer *header, unsigned char **block,
                                ganz_error *err)
{
    *block = NULL;
    if (header->bytes > w->room)
        return ganz_fail(err, GANZ_ELIMIT, "%s: the header has outgrown the room reserved for it", w->path);
    unsigned char *const b = ganz_alloc(8 + w->room, 1);
    if (!b) return no_memory(w, err);
    for (int i = 0; i < 8; i++) b[i] = (unsigned char)((uint64_t)w->room >> 8 * i);
    memset(b + 8, ' ', w->room);
    memcpy(b + 8, header->data, header->bytes);
    sum_header((char *)b + 8, w->room);
    *block = b;
    return GANZ_OK;
}

static ganz_status complete_header(ganz_writer *w, unsigned char **block, ganz_error *err)
{
    ganz_json_writer header;
    ganz_status status = make_header(w, false, &header, err);
    if (status == GANZ_OK) status = frame_header(w, &header, block, err);
    ganz_free(header.data);
    return status == GANZ_OK ? ganz_output_patch(w->out, 0, *block, 8 + w->room, err) : status;
}

/* ---- reading again ------------------------------------------------------------------------------ */

static ganz_status unlike(const ganz_writer *w, const char *what, ganz_error *err)
{
    return ganz_fail(err, GANZ_EIO, "%s: %s was not written as it should be", w->path, what);
}

static bool same_tensor(const ganz_container *c, const declared *t)
{
    const ganz_entry *const e = ganz_container_find(c, t->name);
    if (!e || e->dtype != t->dtype || e->rank != t->rank || e->bytes != t->bytes) return false;
    return memcmp(e->dims, t->dims, (size_t)t->rank * sizeof *t->dims) == 0;
}

static ganz_status compare_meaning(const ganz_writer *w, const ganz_container *c, ganz_error *err)
{
    if ((size_t)ganz_container_count(c) != w->count) return unlike(w, "the list of tensors", err);
    for (size_t i = 0; i < w->count; i++)
        if (!same_tensor(c, &w->tensors[i])) return unlike(w, w->tensors[i].name, err);
    for (size_t i = 0; i < w->pair_count; i++) {
        const char *const text = ganz_container_text(c, w->pairs[i].key);
        if (!text || strcmp(text, w->pairs[i].text) != 0) return unlike(w, w->pairs[i].key, err);
    }
    return GANZ_OK;
}

/* What a reader will make of the file is what was asked for. */
static ganz_status check_meaning(const ganz_writer *w, ganz_error *err)
{
    ganz_contents contents;
    GANZ_TRY(ganz_output_contents(w->out, &contents, err));
    ganz_container *c;
    ganz_status status = ganz_container_parse(&c, contents.data, contents.bytes, w->path, err);
    if (status == GANZ_OK) status = compare_meaning(w, c, err);
    ganz_container_close(&c);
    if (status == GANZ_OK && w->check) status = w->check(w->context, contents.data, contents.bytes, err);
    ganz_contents_free(&contents);
    return status;
}

/* Leaves the hash of the bytes [offset, offset + bytes) of the file in w->hash. */
static ganz_status hash_again(const ganz_writer *w, uint64_t offset, uint64_t bytes, unsigned char *room,
                              ganz_error *err)
{
    XXH3_64bits_reset(w->hash);
    while (bytes > 0) {
        const size_t n = bytes < READ_BYTES ? (size_t)bytes : READ_BYTES;
        GANZ_TRY(ganz_output_read(w->out, offset, room, n, err));
        XXH3_64bits_update(w->hash, room, n);
        offset += n;
        bytes -= n;
    }
    return GANZ_OK;
}

/* Every byte is what went in: those of the header one by one, those of the data by their checksums. */
static ganz_status check_bytes(const ganz_writer *w, const unsigned char *block, unsigned char *room, ganz_error *err)
{
    const uint64_t data = 8 + w->room;
    GANZ_TRY(hash_again(w, 0, data, room, err));
    if (XXH3_64bits_digest(w->hash) != ganz_checksum(block, data)) return unlike(w, "the header", err);
    for (size_t i = 0; i < w->count; i++) {
        const declared *const t = &w->tensors[i];
        GANZ_TRY(hash_again(w, data + t->begin, t->bytes, room, err));
        if (XXH3_64bits_digest(w->hash) != t->checksum) return unlike(w, t->name, err);
    }
    return GANZ_OK;
}

static ganz_status read_again(const ganz_writer *w, const unsigned char *block, ganz_error *err)
{
    unsigned char *const room = ganz_alloc(READ_BYTES, 1);
    if (!room) return no_memory(w, err);
    ganz_status status = check_bytes(w, block, room, err);
    ganz_free(room);
    return status == GANZ_OK ? check_meaning(w, err) : status;
}

/* ---- the data ----------------------------------------------------------------------------------- */

static ganz_status begin_tensor(ganz_writer *w, ganz_error *err)
{
    if (w->at == w->count) return GANZ_OK;
    declared *const t = &w->tensors[w->at];
    t->begin = w->at ? w->tensors[w->at - 1].begin + w->tensors[w->at - 1].bytes : 0;
    if (t->begin % ganz_dtype_bytes(t->dtype) != 0)
        return ganz_fail(err, GANZ_EINVAL, "%s: tensor %s would not be aligned", w->path, t->name);
    XXH3_64bits_reset(w->hash);
    return GANZ_OK;
}

static ganz_status end_tensor(ganz_writer *w, ganz_error *err)
{
    declared *const t = &w->tensors[w->at];
    if (t->open && t->row > 0) t->dims[0] = (int64_t)(t->bytes / t->row);
    if (t->open && (t->row == 0 || t->bytes % t->row != 0))
        return ganz_fail(err, GANZ_EINVAL, "%s: tensor %s ends within a row", w->path, t->name);
    t->checksum = XXH3_64bits_digest(w->hash);
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
    XXH3_64bits_update(w->hash, data, bytes);
    return ganz_output_write(w->out, data, bytes, err);
}

ganz_status ganz_writer_next(ganz_writer *w, ganz_error *err)
{
    GANZ_TRY(settle(w, err));
    if (w->at == w->count || !w->tensors[w->at].open)
        return ganz_fail(err, GANZ_EINVAL, "%s: no tensor with an open dimension to end", w->path);
    return end_tensor(w, err);
}

void ganz_writer_set_check(ganz_writer *w, ganz_writer_check *check, void *context)
{
    w->check = check;
    w->context = context;
}

ganz_status ganz_writer_finish(ganz_writer **it, ganz_error *err)
{
    ganz_writer *const w = *it;
    ganz_status status = settle(w, err);
    if (status == GANZ_OK && w->at < w->count)
        status = ganz_fail(err, GANZ_EINVAL, "%s: tensor %s is not complete", w->path, w->tensors[w->at].name);
    unsigned char *block = NULL;
    if (status == GANZ_OK) status = complete_header(w, &block, err);
    if (status == GANZ_OK) status = read_again(w, block, err);
    ganz_free(block);
    if (status == GANZ_OK) status = ganz_output_finish(&w->out, err);
    ganz_writer_abandon(it);
    return status;
}
