/* Reading safetensors: the header is hostile until every line of it has been checked. */
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "model/container.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "data is used as it lies in the file");

struct ganz_container {
    ganz_map map; /* empty when over a block of the caller */
    char *name;   /* of the file */
    const unsigned char *data;
    size_t data_bytes;
    ganz_entry *entries;        /* (count), in the order of their data */
    const ganz_entry **by_name; /* (count), sorted */
    int count;
    json_t *header;   /* owns the names and the metadata */
    json_t *metadata; /* inside the header, or NULL */
    bool summed;      /* it holds checksums of tensors */
    bool sound;       /* the header agrees with its checksum */
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

static ganz_status read_dtype(const ganz_container *c, const json_t *value, ganz_entry *e, ganz_error *err)
{
    const char *const text = json_string_value(value);
    if (!text) return bad_tensor(c, e->name, "no dtype", err);
    for (int i = 0; i < GANZ_DTYPE_COUNT; i++) {
        if (strcmp(text, dtypes[i].name) == 0) {
            e->dtype = (ganz_dtype)i;
            return GANZ_OK;
        }
    }
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: tensor %.80s: unknown dtype %.20s", c->name, e->name, text);
}

/* Fills rank and dims, and `bytes` with what the shape asks for. */
static ganz_status read_shape(const ganz_container *c, const json_t *value, ganz_entry *e, ganz_error *err)
{
    if (!json_is_array(value)) return bad_tensor(c, e->name, "no shape", err);
    if (json_array_size(value) > GANZ_CONTAINER_RANK)
        return ganz_fail(err, GANZ_ELIMIT, "%s: tensor %.80s: more than %d dimensions", c->name, e->name,
                         GANZ_CONTAINER_RANK);
    e->rank = (int)json_array_size(value);
    e->bytes = ganz_dtype_bytes(e->dtype);
    for (int i = 0; i < e->rank; i++) {
        const json_t *const dim = json_array_get(value, (size_t)i);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0)
            return bad_tensor(c, e->name, "a dimension is no whole number", err);
        e->dims[i] = json_integer_value(dim);
        if (!ganz_mul_size(e->bytes, (size_t)e->dims[i], &e->bytes))
            return bad_tensor(c, e->name, "the shape is too large", err);
    }
    return GANZ_OK;
}

static ganz_status read_offsets(const ganz_container *c, const json_t *value, ganz_entry *e, ganz_error *err)
{
    const json_t *const first = json_array_get(value, 0), *const last = json_array_get(value, 1);
    if (json_array_size(value) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return bad_tensor(c, e->name, "no data_offsets", err);
    const json_int_t begin = json_integer_value(first), end = json_integer_value(last);
    if (begin < 0 || end < begin || (uint64_t)end > c->data_bytes)
        return bad_tensor(c, e->name, "its data lie outside the file, which may be cut short", err);
    if ((uint64_t)(end - begin) != e->bytes) return bad_tensor(c, e->name, "data_offsets do not fit the shape", err);
    e->data = c->data + begin;
    return GANZ_OK;
}

static ganz_status read_tensor(const ganz_container *c, const char *name, const json_t *value, ganz_entry *e,
                               ganz_error *err)
{
    e->name = name;
    if (!*name || strlen(name) > GANZ_CONTAINER_NAME)
        return ganz_fail(err, GANZ_ELIMIT, "%s: a tensor's name is empty or longer than %d bytes", c->name,
                         GANZ_CONTAINER_NAME);
    if (!json_is_object(value) || json_object_size(value) != 3)
        return bad_tensor(c, name, "not dtype, shape and data_offsets", err);
    GANZ_TRY(read_dtype(c, json_object_get(value, "dtype"), e, err));
    GANZ_TRY(read_shape(c, json_object_get(value, "shape"), e, err));
    return read_offsets(c, json_object_get(value, "data_offsets"), e, err);
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

static ganz_status read_metadata(ganz_container *c, json_t *value, ganz_error *err)
{
    if (!json_is_object(value)) return ganz_fail(err, GANZ_EFORMAT, "%s: __metadata__ is no object", c->name);
    const char *key;
    json_t *text;
    json_object_foreach(value, key, text)
    {
        if (!json_is_string(text)) return ganz_fail(err, GANZ_EFORMAT, "%s: metadata %.80s is no string", c->name, key);
        if (tells_of_sum(key) && !c->sound)
            return ganz_fail(err, GANZ_EFORMAT, "%s: the header is damaged (it does not begin with its checksum)",
                             c->name);
        if (strncmp(key, "xxh3:", 5) == 0) c->summed = true;
    }
    c->metadata = value;
    return GANZ_OK;
}

/* Empty tensors sort before the one that begins at the same place. */
static int order_by_data(const void *left, const void *right)
{
    const ganz_entry *const a = left, *const b = right;
    if (a->data != b->data) return (const char *)a->data < (const char *)b->data ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* One block without gap or overlap: then no two tensors share a byte and no byte is out of sight. */
static ganz_status check_cover(const ganz_container *c, ganz_error *err)
{
    const unsigned char *at = c->data;
    for (int i = 0; i < c->count; i++) {
        const ganz_entry *const e = &c->entries[i];
        if (e->data != at) return bad_tensor(c, e->name, "a gap or an overlap before its data", err);
        at += e->bytes;
    }
    if (at != c->data + c->data_bytes)
        return ganz_fail(err, GANZ_EFORMAT, "%s: %zu bytes behind the last tensor", c->name,
                         (size_t)(c->data + c->data_bytes - at));
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
    if (!c->by_name) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", c->name);
    for (size_t i = 0; i < n; i++) c->by_name[i] = &c->entries[i];
    qsort(c->by_name, n, sizeof *c->by_name, order_by_name);
    return GANZ_OK;
}

/* A parsed value takes many times the two bytes that "1," takes here: count before parsing. */
static bool too_many_values(const char *text, size_t bytes)
{
    const size_t most = 12 * ((size_t)GANZ_CONTAINER_TENSORS + 1); /* commas of a tensor with 8 dimensions */
    size_t commas = 0;
    bool quoted = false;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted && text[i] == '\\') i++;
        if (!quoted && text[i] == ',' && ++commas > most) return true;
    }
    return false;
}

static ganz_status read_header(ganz_container *c, const char *text, size_t bytes, ganz_error *err)
{
    json_error_t json;
    if (text[0] != '{') return ganz_fail(err, GANZ_EFORMAT, "%s: the header does not begin with {", c->name);
    GANZ_TRY(check_header(c, text, bytes, err));
    if (too_many_values(text, bytes))
        return ganz_fail(err, GANZ_ELIMIT, "%s: more than %d tensors", c->name, GANZ_CONTAINER_TENSORS);
    c->header = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &json);
    if (!c->header)
        return ganz_fail(err, GANZ_EFORMAT, "%s: the header is not valid JSON: %s (byte %d)", c->name, json.text,
                         json.position);
    const size_t keys = json_object_size(c->header);
    if (keys > GANZ_CONTAINER_TENSORS + 1)
        return ganz_fail(err, GANZ_ELIMIT, "%s: more than %d tensors", c->name, GANZ_CONTAINER_TENSORS);
    c->entries = ganz_alloc(keys, sizeof *c->entries);
    if (!c->entries) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", c->name);
    const char *name;
    json_t *value;
    json_object_foreach(c->header, name, value)
    {
        if (strcmp(name, "__metadata__") == 0) GANZ_TRY(read_metadata(c, value, err));
        else GANZ_TRY(read_tensor(c, name, value, &c->entries[c->count++], err));
    }
    qsort(c->entries, (size_t)c->count, sizeof *c->entries, order_by_data);
    GANZ_TRY(check_cover(c, err));
    return index_names(c, err);
}

static ganz_status read_file(ganz_container *c, const unsigned char *file, size_t bytes, ganz_error *err)
{
    ganz_reader r = ganz_reader_over(file, bytes);
    const uint64_t header_bytes = ganz_read_u64(&r);
    if (r.failed) return ganz_fail(err, GANZ_EFORMAT, "%s: too short for a safetensors file", c->name);
    if (header_bytes > GANZ_CONTAINER_HEADER || header_bytes > bytes - 8)
        return ganz_fail(err, GANZ_EFORMAT, "%s: not a safetensors file, or cut short", c->name);
    if (header_bytes == 0) return ganz_fail(err, GANZ_EFORMAT, "%s: the header is empty", c->name);
    c->data = file + 8 + header_bytes;
    c->data_bytes = bytes - 8 - (size_t)header_bytes;
    return read_header(c, (const char *)file + 8, (size_t)header_bytes, err);
}

ganz_status ganz_container_parse(ganz_container **container, const void *data, size_t bytes, const char *name,
                                 ganz_error *err)
{
    *container = NULL;
    ganz_container *c = ganz_alloc(1, sizeof *c);
    if (c) c->name = ganz_strdup(name);
    ganz_status status = c && c->name ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
    if (status == GANZ_OK) status = read_file(c, data, bytes, err);
    if (status != GANZ_OK) ganz_container_close(&c);
    *container = c;
    return status;
}

ganz_status ganz_container_open(ganz_container **container, const char *path, ganz_error *err)
{
    *container = NULL;
    ganz_map map;
    GANZ_TRY(ganz_map_open(&map, path, err));
    const ganz_status status = ganz_container_parse(container, map.data, map.bytes, path, err);
    if (status == GANZ_OK) (*container)->map = map;
    else ganz_map_close(&map);
    return status;
}

void ganz_container_close(ganz_container **it)
{
    ganz_container *const c = *it;
    *it = NULL;
    if (!c) return;
    json_decref(c->header);
    ganz_free(c->by_name);
    ganz_free(c->entries);
    ganz_free(c->name);
    ganz_map_close(&c->map);
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
    if ((uintptr_t)e->data % ganz_dtype_bytes(dtype) != 0)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: tensor %s does not begin at a multiple of %zu bytes", c->name,
                         name, ganz_dtype_bytes(dtype));
    *entry = e;
    return GANZ_OK;
}

void ganz_container_forget(const ganz_container *c, const ganz_entry *e)
{
    if (c->map.data) ganz_map_forget(e->data, e->bytes); /* a block of the caller is left alone */
}

bool ganz_container_summed(const ganz_container *c) { return c->summed; }

static ganz_status compare_sum(const ganz_container *c, const ganz_entry *e, ganz_error *err)
{
    char key[GANZ_CONTAINER_NAME + 8], sum[17];
    snprintf(key, sizeof key, "xxh3:%s", e->name);
    const char *const expected = ganz_container_text(c, key);
    if (!expected) return bad_tensor(c, e->name, "it has no checksum", err);
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)ganz_checksum(e->data, e->bytes));
    if (strcmp(sum, expected) == 0) return GANZ_OK;
    return bad_tensor(c, e->name, "its data is damaged (the checksum differs)", err);
}

ganz_status ganz_container_check(const ganz_container *c, const ganz_entry *e, ganz_error *err)
{
    return c->summed ? compare_sum(c, e, err) : GANZ_OK;
}

ganz_status ganz_container_verify(const ganz_container *c, ganz_error *err)
{
    for (int i = 0; i < c->count; i++) GANZ_TRY(compare_sum(c, &c->entries[i], err));
    return GANZ_OK;
}

/* ---- metadata ----------------------------------------------------------------------------------- */

const char *ganz_container_text(const ganz_container *c, const char *key)
{
    return json_string_value(json_object_get(c->metadata, key));
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
    const char *text;
    GANZ_TRY(ganz_container_get_text(c, key, &text, err));
    /* The program around us may have set a locale with a decimal comma. */
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", c->name);
    const locale_t before = uselocale(plain);
    char *end;
    *value = strtod(text, &end);
    uselocale(before);
    freelocale(plain);
    return starts_number(text) && !*end && isfinite(*value) ? GANZ_OK : bad_value(c, key, text, "a number", err);
}
