/* Reading safetensors: the header is hostile until every line of it has been checked. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/io.h"
#include "base/surroundings.h"
#include "model/container.h"
#include "model/json.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "data is used as it lies in the file");

enum {
    PIECE_BYTES = 1 << 18, /* read at a time, where a tensor is summed up */
    SPARE_BYTES = 1 << 12  /* smaller tensors have memory of their own */
};

typedef struct pair {
    const char *key, *text;
} pair;

/* Memory that one tensor after another is read into: used memory comes without page faults. */
typedef struct spare {
    void *memory;
    size_t bytes;
    const ganz_entry *user; /* NULL: free */
} spare;

struct ganz_container {
    int fd;                    /* -1: over a block of the caller */
    char *name;                /* of the file */
    uint64_t data_begin;       /* behind the header */
    const unsigned char *data; /* of a block; else NULL */
    size_t data_bytes;
    spare *spare;               /* (1) */
    ganz_entry *entries;        /* (count), in the order of their data */
    const ganz_entry **by_name; /* (count), sorted */
    int count;
    size_t entry_capacity;
    char *texts; /* names, keys and values */
    pair *pairs; /* (pair_count), the metadata, sorted by key */
    size_t pair_count, pair_capacity;
    bool has_metadata;
    bool summed; /* it holds checksums of tensors */
    bool sound;  /* the header agrees with its checksum */
};

static const struct {
    const char *name;
    size_t bytes;
} dtypes[GANZ_DTYPE_COUNT] = {
    [GANZ_DTYPE_BOOL] = {"BOOL", 1}, [GANZ_DTYPE_U8] = {"U8", 1},   [GANZ_DTYPE_I8] = {"I8", 1},
    [GANZ_DTYPE_U16] = {"U16", 2},   [GANZ_DTYPE_I16] = {"I16", 2}, [GANZ_DTYPE_F16] = {"F16", 2},
    [GANZ_DTYPE_BF16] = {"BF16", 2}, [GANZ_DTYPE_U32] = {"U32", 4}, [GANZ_DTYPE_I32] = {"I32", 4},
    [GANZ_DTYPE_F32] = {"F32", 4},   [GANZ_DTYPE_U64] = {"U64", 8}, [GANZ_DTYPE_I64] = {"I64", 8},
    [GANZ_DTYPE_F64] = {"F64", 8},
};

const char *ganz_dtype_name(ganz_dtype dtype) { return dtypes[dtype].name; }
size_t ganz_dtype_bytes(ganz_dtype dtype) { return dtypes[dtype].bytes; }

/* ---- checking the header ------------------------------------------------------------------------ */

static ganz_status bad_tensor(const ganz_container *c, const char *tensor, const char *why, ganz_error *err)
{
    return ganz_fail(err, GANZ_EFORMAT, "%s: tensor %.80s: %s", c->name, tensor, why);
}

static ganz_status no_memory(const ganz_container *c, ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", c->name);
}

static ganz_status bad_json(const ganz_container *c, const ganz_json_reader *r, ganz_error *err)
{
    return ganz_fail(err, GANZ_EFORMAT, "%s: the header is not valid JSON: %s (byte %zu)", c->name, r->wrong,
                     (size_t)(r->at - r->begin));
}

/* For a value that is not what was asked for: no JSON, or JSON of another kind. */
static ganz_status refuse(const ganz_container *c, const ganz_json_reader *r, const char *tensor, const char *why,
                          ganz_error *err)
{
    return r->wrong ? bad_json(c, r, err) : bad_tensor(c, tensor, why, err);
}

static ganz_status read_dtype(const ganz_container *c, ganz_json_reader *r, ganz_entry *e, ganz_error *err)
{
    const char *text;
    if (!ganz_json_text(r, &text)) return refuse(c, r, e->name, "no dtype", err);
    for (int i = 0; i < GANZ_DTYPE_COUNT; i++) {
        if (strcmp(text, dtypes[i].name) == 0) {
            e->dtype = (ganz_dtype)i;
            return GANZ_OK;
        }
    }
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: tensor %.80s: unknown dtype %.20s", c->name, e->name, text);
}

static ganz_status read_shape(const ganz_container *c, ganz_json_reader *r, ganz_entry *e, ganz_error *err)
{
    if (!ganz_json_take(r, '[')) return refuse(c, r, e->name, "no shape", err);
    while (ganz_json_more(r, e->rank == 0, ']')) {
        if (e->rank == GANZ_CONTAINER_RANK)
            return ganz_fail(err, GANZ_ELIMIT, "%s: tensor %.80s: more than %d dimensions", c->name, e->name,
                             GANZ_CONTAINER_RANK);
        int64_t *const dim = &e->dims[e->rank++];
        if (!ganz_json_int(r, dim) || *dim < 0) return refuse(c, r, e->name, "a dimension is no whole number", err);
    }
    return r->wrong ? bad_json(c, r, err) : GANZ_OK;
}

static ganz_status read_offsets(const ganz_container *c, ganz_json_reader *r, const ganz_entry *e, int64_t offsets[2],
                                ganz_error *err)
{
    const bool read = ganz_json_take(r, '[') && ganz_json_int(r, &offsets[0]) && ganz_json_take(r, ',') &&
                      ganz_json_int(r, &offsets[1]) && ganz_json_take(r, ']');
    return read ? GANZ_OK : refuse(c, r, e->name, "no data_offsets", err);
}

/* What the shape asks for is what the offsets enclose, inside the file. */
static ganz_status place_tensor(const ganz_container *c, const int64_t offsets[2], ganz_entry *e, ganz_error *err)
{
    e->bytes = ganz_dtype_bytes(e->dtype);
    for (int i = 0; i < e->rank; i++)
        if (!ganz_mul_size(e->bytes, (size_t)e->dims[i], &e->bytes))
            return bad_tensor(c, e->name, "the shape is too large", err);
    const int64_t begin = offsets[0], end = offsets[1];
    if (begin < 0 || end < begin || (uint64_t)end > c->data_bytes)
        return bad_tensor(c, e->name, "its data lie outside the file, which may be cut short", err);
    if ((uint64_t)(end - begin) != e->bytes) return bad_tensor(c, e->name, "data_offsets do not fit the shape", err);
    e->begin = (uint64_t)begin;
    if (c->data) e->data = c->data + begin;
    return GANZ_OK;
}

/* Each of the three members once, in any order. */
static ganz_status read_members(const ganz_container *c, ganz_json_reader *r, ganz_entry *e, int64_t offsets[2],
                                ganz_error *err)
{
    static const char not_these[] = "not dtype, shape and data_offsets";
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    unsigned seen = 0;
    const char *key;
    for (bool first = true; ganz_json_more(r, first, '}'); first = false) {
        if (!ganz_json_key(r, &key)) return bad_json(c, r, err);
        unsigned member = 0;
        while (member < 3 && strcmp(key, keys[member]) != 0) member++;
        if (member == 3 || seen >> member & 1) return bad_tensor(c, e->name, not_these, err);
        seen |= 1u << member;
        if (member == 0) GANZ_TRY(read_dtype(c, r, e, err));
        else if (member == 1) GANZ_TRY(read_shape(c, r, e, err));
        else GANZ_TRY(read_offsets(c, r, e, offsets, err));
    }
    return !r->wrong && seen == 7 ? GANZ_OK : refuse(c, r, e->name, not_these, err);
}

static ganz_status read_tensor(ganz_container *c, ganz_json_reader *r, const char *name, ganz_error *err)
{
    if (c->count == GANZ_CONTAINER_TENSORS)
        return ganz_fail(err, GANZ_ELIMIT, "%s: more than %d tensors", c->name, GANZ_CONTAINER_TENSORS);
    if (!ganz_grow((void **)&c->entries, &c->entry_capacity, (size_t)c->count + 1, sizeof *c->entries))
        return no_memory(c, err);
    ganz_entry *const e = &c->entries[c->count++];
    *e = (ganz_entry){.name = name};
    if (!*name || strlen(name) > GANZ_CONTAINER_NAME)
        return ganz_fail(err, GANZ_ELIMIT, "%s: a tensor's name is empty or longer than %d bytes", c->name,
                         GANZ_CONTAINER_NAME);
    int64_t offsets[2];
    if (!ganz_json_take(r, '{')) return refuse(c, r, name, "not dtype, shape and data_offsets", err);
    GANZ_TRY(read_members(c, r, e, offsets, err));
    return place_tensor(c, offsets, e, err);
}

/* First of all, so that a damaged header is called that, wherever the damage is. A header without checksum passes. */
static ganz_status check_header(ganz_container *c, const char *text, size_t bytes, ganz_error *err)
{
    const size_t begin = sizeof GANZ_CONTAINER_SUM - 1, end = begin + 16;
    if (bytes < end || memcmp(text, GANZ_CONTAINER_SUM, begin) != 0) return GANZ_OK;
    char sum[17];
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)ganz_checksum(text + end, bytes - end));
    c->sound = memcmp(sum, text + begin, 16) == 0;
    return c->sound ? GANZ_OK
                    : ganz_fail(err, GANZ_EFORMAT, "%s: the header is damaged (the checksum differs)", c->name);
}

static bool tells_of_sum(const char *key)
{
    return strcmp(key, "xxh3") == 0 || strcmp(key, GANZ_CONTAINER_SUMMED) == 0;
}

static int order_by_key(const void *left, const void *right)
{
    return strcmp(((const pair *)left)->key, ((const pair *)right)->key);
}

static ganz_status add_pair(ganz_container *c, const char *key, const char *text, ganz_error *err)
{
    if (tells_of_sum(key) && !c->sound)
        return ganz_fail(err, GANZ_EFORMAT, "%s: the header is damaged (it does not begin with its checksum)", c->name);
    if (strncmp(key, "xxh3:", 5) == 0) c->summed = true;
    if (c->pair_count == GANZ_CONTAINER_PAIRS)
        return ganz_fail(err, GANZ_ELIMIT, "%s: more than %d metadata", c->name, GANZ_CONTAINER_PAIRS);
    if (!ganz_grow((void **)&c->pairs, &c->pair_capacity, c->pair_count + 1, sizeof *c->pairs))
        return no_memory(c, err);
    c->pairs[c->pair_count++] = (pair){key, text};
    return GANZ_OK;
}

static ganz_status sort_pairs(ganz_container *c, ganz_error *err)
{
    if (c->pair_count > 1) qsort(c->pairs, c->pair_count, sizeof *c->pairs, order_by_key);
    for (size_t i = 1; i < c->pair_count; i++)
        if (strcmp(c->pairs[i - 1].key, c->pairs[i].key) == 0)
            return ganz_fail(err, GANZ_EFORMAT, "%s: duplicate metadata %.80s", c->name, c->pairs[i].key);
    return GANZ_OK;
}

static ganz_status read_metadata(ganz_container *c, ganz_json_reader *r, ganz_error *err)
{
    if (c->has_metadata) return ganz_fail(err, GANZ_EFORMAT, "%s: duplicate __metadata__", c->name);
    c->has_metadata = true;
    if (!ganz_json_take(r, '{')) return ganz_fail(err, GANZ_EFORMAT, "%s: __metadata__ is no object", c->name);
    const char *key, *text;
    for (bool first = true; ganz_json_more(r, first, '}'); first = false) {
        if (!ganz_json_key(r, &key)) return bad_json(c, r, err);
        if (!ganz_json_text(r, &text))
            return r->wrong ? bad_json(c, r, err)
                            : ganz_fail(err, GANZ_EFORMAT, "%s: metadata %.80s is no string", c->name, key);
        GANZ_TRY(add_pair(c, key, text, err));
    }
    return r->wrong ? bad_json(c, r, err) : sort_pairs(c, err);
}

/* Empty tensors sort before the one that begins at the same place. */
static int order_by_data(const void *left, const void *right)
{
    const ganz_entry *const a = left, *const b = right;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* One block without gap or overlap: then no two tensors share a byte and no byte is out of sight. */
static ganz_status check_cover(const ganz_container *c, ganz_error *err)
{
    uint64_t at = 0;
    for (int i = 0; i < c->count; i++) {
        const ganz_entry *const e = &c->entries[i];
        if (e->begin != at) return bad_tensor(c, e->name, "a gap or an overlap before its data", err);
        at += e->bytes;
    }
    if (at != c->data_bytes)
        return ganz_fail(err, GANZ_EFORMAT, "%s: %zu bytes behind the last tensor", c->name,
                         c->data_bytes - (size_t)at);
    return GANZ_OK;
}

static int order_by_name(const void *left, const void *right)
{
    const ganz_entry *const *const a = left, *const *const b = right;
    return strcmp((*a)->name, (*b)->name);
}

static ganz_status index_names(ganz_container *c, ganz_error *err)
{
    const size_t n = (size_t)c->count;
    c->by_name = ganz_alloc(n, sizeof *c->by_name);
    if (!c->by_name) return no_memory(c, err);
    for (size_t i = 0; i < n; i++) c->by_name[i] = &c->entries[i];
    qsort(c->by_name, n, sizeof *c->by_name, order_by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(c->by_name[i - 1]->name, c->by_name[i]->name) == 0)
            return bad_tensor(c, c->by_name[i]->name, "a duplicate name", err);
    return GANZ_OK;
}

static ganz_status read_json(ganz_container *c, ganz_json_reader *r, ganz_error *err)
{
    const char *name;
    (void)ganz_json_take(r, '{'); /* seen before */
    for (bool first = true; ganz_json_more(r, first, '}'); first = false) {
        if (!ganz_json_key(r, &name)) return bad_json(c, r, err);
        if (strcmp(name, "__metadata__") == 0) GANZ_TRY(read_metadata(c, r, err));
        else GANZ_TRY(read_tensor(c, r, name, err));
    }
    (void)ganz_json_peek(r);
    if (!r->wrong && r->at < r->end) r->wrong = "something behind its end";
    return r->wrong ? bad_json(c, r, err) : GANZ_OK;
}

static ganz_status read_header(ganz_container *c, const char *text, size_t bytes, ganz_error *err)
{
    if (text[0] != '{') return ganz_fail(err, GANZ_EFORMAT, "%s: the header does not begin with {", c->name);
    GANZ_TRY(check_header(c, text, bytes, err));
    c->texts = ganz_alloc(bytes, 1);
    if (!c->texts) return no_memory(c, err);
    ganz_json_reader r = {.begin = text, .at = text, .end = text + bytes, .room = c->texts};
    GANZ_TRY(read_json(c, &r, err));
    if (c->count > 1) qsort(c->entries, (size_t)c->count, sizeof *c->entries, order_by_data);
    GANZ_TRY(check_cover(c, err));
    return index_names(c, err);
}

/* The number of bytes of the header, which is the first of the file. */
static ganz_status header_bytes_of(ganz_container *c, const unsigned char first[8], size_t file_bytes, size_t *bytes,
                                   ganz_error *err)
{
    ganz_reader r = ganz_reader_over(first, file_bytes < 8 ? file_bytes : 8);
    const uint64_t count = ganz_read_u64(&r);
    if (r.failed) return ganz_fail(err, GANZ_EFORMAT, "%s: too short for a safetensors file", c->name);
    if (count > GANZ_CONTAINER_HEADER || count > file_bytes - 8)
        return ganz_fail(err, GANZ_EFORMAT, "%s: not a safetensors file, or cut short", c->name);
    if (count == 0) return ganz_fail(err, GANZ_EFORMAT, "%s: the header is empty", c->name);
    *bytes = (size_t)count;
    c->data_begin = 8 + count;
    c->data_bytes = file_bytes - 8 - (size_t)count;
    return GANZ_OK;
}

static ganz_status read_block(ganz_container *c, const unsigned char *block, size_t bytes, ganz_error *err)
{
    size_t header = 0;
    GANZ_TRY(header_bytes_of(c, block, bytes, &header, err));
    c->data = block + c->data_begin;
    return read_header(c, (const char *)block + 8, header, err);
}

static ganz_status read_file(ganz_container *c, uint64_t file_bytes, ganz_error *err)
{
    unsigned char first[8] = {0};
    size_t bytes = 0;
    GANZ_TRY(ganz_file_read(c->fd, c->name, 0, first, file_bytes < 8 ? (size_t)file_bytes : 8, err));
    GANZ_TRY(header_bytes_of(c, first, (size_t)file_bytes, &bytes, err));
    char *const header = ganz_alloc(bytes, 1);
    if (!header) return no_memory(c, err);
    ganz_status status = ganz_file_read(c->fd, c->name, 8, header, bytes, err);
    if (status == GANZ_OK) status = read_header(c, header, bytes, err);
    ganz_free(header);
    return status;
}

/* Without anything in it. The caller ends it in any case. */
static ganz_status start(ganz_container **container, const char *name, ganz_error *err)
{
    ganz_container *const c = *container = ganz_alloc(1, sizeof *c);
    if (c) c->fd = -1;
    if (c) c->spare = ganz_alloc(1, sizeof *c->spare);
    if (c) c->name = ganz_strdup(name);
    return c && c->spare && c->name ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
}

ganz_status ganz_container_parse(ganz_container **container, const void *data, size_t bytes, const char *name,
                                 ganz_error *err)
{
    ganz_status status = start(container, name, err);
    if (status == GANZ_OK) status = read_block(*container, data, bytes, err);
    if (status != GANZ_OK) ganz_container_close(container);
    return status;
}

ganz_status ganz_container_open(ganz_container **container, const char *path, ganz_error *err)
{
    uint64_t bytes = 0;
    ganz_status status = start(container, path, err);
    if (status == GANZ_OK) status = ganz_file_open(&(*container)->fd, path, err);
    if (status == GANZ_OK) status = ganz_file_size((*container)->fd, path, &bytes, err);
    if (status == GANZ_OK) status = read_file(*container, bytes, err);
    if (status != GANZ_OK) ganz_container_close(container);
    return status;
}

void ganz_container_close(ganz_container **it)
{
    ganz_container *const c = *it;
    *it = NULL;
    if (!c) return;
    for (int i = 0; i < c->count; i++) ganz_container_forget(c, &c->entries[i]);
    if (c->spare) ganz_free(c->spare->memory);
    ganz_free(c->spare);
    ganz_free(c->pairs);
    ganz_free(c->texts);
    ganz_free(c->by_name);
    ganz_free(c->entries);
    ganz_free(c->name);
    ganz_file_close(&c->fd);
    ganz_free(c);
}

/* ---- tensors ------------------------------------------------------------------------------------ */

const char *ganz_container_name(const ganz_container *c) { return c->name; }
int ganz_container_count(const ganz_container *c) { return c->count; }

const ganz_entry *ganz_container_at(const ganz_container *c, int i)
{
    GANZ_ASSERT(i >= 0 && i < c->count);
    return &c->entries[i];
}

const ganz_entry *ganz_container_find(const ganz_container *c, const char *name)
{
    int low = 0, high = c->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const ganz_entry *const e = c->by_name[middle];
        const int order = strcmp(name, e->name);
        if (order == 0) return e;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

/* "(3, 4)"; a dimension of -1 is written "any". */
static void print_shape(char *text, size_t room, int rank, const int64_t *dims)
{
    size_t at = (size_t)snprintf(text, room, "(");
    for (int i = 0; i < rank && at < room; i++) {
        const char *const comma = i ? ", " : "";
        at += (size_t)(dims[i] < 0 ? snprintf(text + at, room - at, "%sany", comma)
                                   : snprintf(text + at, room - at, "%s%lld", comma, (long long)dims[i]));
    }
    if (at < room) snprintf(text + at, room - at, ")");
}

static bool same_shape(const ganz_entry *e, int rank, const int64_t *dims)
{
    if (e->rank != rank) return false;
    for (int i = 0; i < rank; i++)
        if (dims[i] >= 0 && dims[i] != e->dims[i]) return false;
    return true;
}

ganz_status ganz_container_get(const ganz_container *c, const char *name, ganz_dtype dtype, int rank,
                               const int64_t *dims, const ganz_entry **entry, ganz_error *err)
{
    *entry = NULL;
    const ganz_entry *const e = ganz_container_find(c, name);
    if (!e) return ganz_fail(err, GANZ_EFORMAT, "%s: there is no tensor %s", c->name, name);
    if (e->dtype != dtype)
        return ganz_fail(err, GANZ_EFORMAT, "%s: tensor %s has dtype %s, expected %s", c->name, name,
                         ganz_dtype_name(e->dtype), ganz_dtype_name(dtype));
    if (!same_shape(e, rank, dims)) {
        char found[96], expected[96];
        print_shape(found, sizeof found, e->rank, e->dims);
        print_shape(expected, sizeof expected, rank, dims);
        return ganz_fail(err, GANZ_EFORMAT, "%s: tensor %s has shape %s, expected %s", c->name, name, found, expected);
    }
    const uintptr_t place = c->data ? (uintptr_t)e->data : (uintptr_t)(c->data_begin + e->begin);
    if (place % ganz_dtype_bytes(dtype) != 0)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: tensor %s does not begin at a multiple of %zu bytes", c->name,
                         name, ganz_dtype_bytes(dtype));
    *entry = e;
    return GANZ_OK;
}

/* The entries of a container are const to others only. */
static ganz_entry *own_entry(const ganz_container *c, const ganz_entry *e) { return &c->entries[e - c->entries]; }

static void give_back(const ganz_container *c, const ganz_entry *e, void *memory)
{
    if (c->spare->user == e) c->spare->user = NULL;
    else ganz_free(memory);
}

void ganz_container_forget(const ganz_container *c, const ganz_entry *e)
{
    if (c->data || !e->data) return; /* a block of the caller is left alone */
    give_back(c, e, (void *)(uintptr_t)e->data);
    own_entry(c, e)->data = NULL;
}

/* Memory for a tensor: the spare one, which grows to the largest tensor, or else its own. */
static void *take_memory(const ganz_container *c, const ganz_entry *e)
{
    spare *const s = c->spare;
    if (s->user || e->bytes < SPARE_BYTES) return ganz_alloc_aligned(e->bytes);
    if (e->bytes > s->bytes) {
        ganz_free(s->memory);
        s->memory = ganz_alloc_aligned(e->bytes);
        s->bytes = s->memory ? e->bytes : 0;
    }
    if (s->memory) s->user = e;
    return s->memory;
}

bool ganz_container_summed(const ganz_container *c) { return c->summed; }

static ganz_status compare_with(const ganz_container *c, const ganz_entry *e, uint64_t found, ganz_error *err)
{
    char key[GANZ_CONTAINER_NAME + 8], sum[17];
    snprintf(key, sizeof key, "xxh3:%s", e->name);
    const char *const expected = ganz_container_text(c, key);
    if (!expected) return bad_tensor(c, e->name, "it has no checksum", err);
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)found);
    if (strcmp(sum, expected) == 0) return GANZ_OK;
    return bad_tensor(c, e->name, "its data is damaged (the checksum differs)", err);
}

ganz_status ganz_container_read(const ganz_container *c, const ganz_entry *e, uint64_t offset, void *data, size_t bytes,
                                ganz_error *err)
{
    GANZ_ASSERT(offset <= e->bytes && bytes <= e->bytes - offset);
    if (!c->data) return ganz_file_read(c->fd, c->name, c->data_begin + e->begin + offset, data, bytes, err);
    memcpy(data, (const unsigned char *)e->data + offset, bytes);
    return GANZ_OK;
}

static ganz_status sum_pieces(const ganz_container *c, const ganz_entry *e, void *data, XXH3_state_t *hash,
                              ganz_error *err)
{
    unsigned char *const piece = data ? NULL : ganz_alloc(PIECE_BYTES, 1);
    ganz_status status = data || piece ? GANZ_OK : no_memory(c, err);
    for (size_t at = 0; status == GANZ_OK && at < e->bytes; at += PIECE_BYTES) {
        const size_t n = e->bytes - at < PIECE_BYTES ? e->bytes - at : PIECE_BYTES;
        unsigned char *const to = data ? (unsigned char *)data + at : piece;
        status = ganz_container_read(c, e, at, to, n, err);
        if (status == GANZ_OK) XXH3_64bits_update(hash, to, n);
    }
    ganz_free(piece);
    return status;
}

ganz_status ganz_container_load(const ganz_container *c, const ganz_entry *e, void *data, ganz_error *err)
{
    XXH3_state_t *const hash = XXH3_createState();
    if (!hash) return no_memory(c, err);
    XXH3_64bits_reset(hash);
    ganz_status status = sum_pieces(c, e, data, hash, err);
    if (status == GANZ_OK && c->summed) status = compare_with(c, e, XXH3_64bits_digest(hash), err);
    XXH3_freeState(hash);
    return status;
}

static ganz_status compare_block(const ganz_container *c, const ganz_entry *e, ganz_error *err)
{
    return compare_with(c, e, ganz_checksum(e->data, e->bytes), err);
}

ganz_status ganz_container_check(const ganz_container *c, const ganz_entry *e, ganz_error *err)
{
    if (c->data) return c->summed ? compare_block(c, e, err) : GANZ_OK;
    if (e->data) return GANZ_OK;
    void *const memory = take_memory(c, e);
    if (!memory) return no_memory(c, err);
    const ganz_status status = ganz_container_load(c, e, memory, err);
    if (status == GANZ_OK) own_entry(c, e)->data = memory;
    else give_back(c, e, memory);
    return status;
}

ganz_status ganz_container_verify(const ganz_container *c, ganz_error *err)
{
    for (int i = 0; i < c->count; i++) {
        if (!c->summed) return compare_with(c, &c->entries[i], 0, err); /* says that there is no checksum */
        GANZ_TRY(c->data ? compare_block(c, &c->entries[i], err) : ganz_container_load(c, &c->entries[i], NULL, err));
    }
    return GANZ_OK;
}

/* ---- metadata ----------------------------------------------------------------------------------- */

const char *ganz_container_text(const ganz_container *c, const char *key)
{
    const pair wanted = {key, NULL};
    const pair *const found =
        c->pair_count ? bsearch(&wanted, c->pairs, c->pair_count, sizeof wanted, order_by_key) : NULL;
    return found ? found->text : NULL;
}

ganz_status ganz_container_get_text(const ganz_container *c, const char *key, const char **value, ganz_error *err)
{
    *value = ganz_container_text(c, key);
    return *value ? GANZ_OK : ganz_fail(err, GANZ_EFORMAT, "%s: there is no metadata %s", c->name, key);
}

static ganz_status bad_value(const ganz_container *c, const char *key, const char *text, const char *expected,
                             ganz_error *err)
{
    return ganz_fail(err, GANZ_EFORMAT, "%s: metadata %s is %.40s, expected %s", c->name, key, text, expected);
}

/* A digit, or a sign and more: strtoll and strtod would also take leading space. */
static bool starts_number(const char *text) { return *text == '-' || (*text >= '0' && *text <= '9'); }

ganz_status ganz_container_get_int(const ganz_container *c, const char *key, int64_t min, int64_t max, int64_t *value,
                                   ganz_error *err)
{
    const char *text;
    GANZ_TRY(ganz_container_get_text(c, key, &text, err));
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (!starts_number(text) || *end || errno) return bad_value(c, key, text, "a whole number", err);
    if (number < min || number > max)
        return ganz_fail(err, GANZ_EFORMAT, "%s: metadata %s is %lld, expected %lld to %lld", c->name, key, number,
                         (long long)min, (long long)max);
    *value = number;
    return GANZ_OK;
}

ganz_status ganz_container_get_real(const ganz_container *c, const char *key, double *value, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    const char *text;
    GANZ_TRY(ganz_container_get_text(c, key, &text, err));
    char *end;
    *value = strtod(text, &end);
    return starts_number(text) && !*end && isfinite(*value) ? GANZ_OK : bad_value(c, key, text, "a number", err);
}
