/* Files of torch.save. The newer kind is a zip archive with a pickle and one member for each storage; the older is five
 * pickles end to end (magic number, version, machine, contents, keys), then all storages. A tensor is a note that
 * _rebuild_tensor_v2 was to be called with a storage, an offset, a shape and strides. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "document/zip.h"
#include "import/formats.h"
#include "import/pickle.h"

static const ganz_zip_limits limits = {(size_t)8 << 30, 65535, 1024};
enum { STORAGES = 16384, VISITS = 100000, DEPTH = 6, STEPS = 1000000000 };

static const char *const classes[] = {"collections OrderedDict",
                                      "torch._utils _rebuild_tensor_v2",
                                      "torch._utils _rebuild_parameter",
                                      "torch FloatStorage",
                                      "torch HalfStorage",
                                      "torch BFloat16Storage",
                                      "torch DoubleStorage",
                                      "torch LongStorage",
                                      "torch IntStorage",
                                      "torch ByteStorage",
                                      "torch BoolStorage",
                                      NULL};

typedef struct storage { /* of the older kind */
    char key[64];
    const unsigned char *data;
    size_t bytes;
} storage;

typedef struct job {
    const char *name;
    ganz_zip *zip;
    char prefix[256]; /* of the members of the archive, with its slash */
    storage *storages;
    size_t storage_count, storage_capacity;
    ganz_tensors *tensors;
    ganz_options *options;
    int visits;
    ganz_error *err;
} job;

static ganz_status broken(const job *j, const char *what)
{
    return ganz_fail(j->err, GANZ_EFORMAT, "%s: %s", j->name, what);
}

/* ---- storages ----------------------------------------------------------------------------------- */

static ganz_status find_in_zip(job *j, const char *key, const unsigned char **data, size_t *bytes)
{
    char member[512];
    ganz_error why;
    snprintf(member, sizeof member, "%sdata/%s", j->prefix, key);
    const int number = ganz_zip_find(j->zip, member);
    if (number < 0 || !ganz_zip_stored(j->zip, number)) return broken(j, "a tensor has no data, or packed ones");
    *bytes = ganz_zip_size(j->zip, number);
    if (ganz_zip_peek(j->zip, number, data, &why) == GANZ_OK) return GANZ_OK;
    return ganz_fail(j->err, why.status, "%s: %s", j->name, why.message);
}

/* Storages are found once, however many tensors share them: a checksum of an archive is worked out once. */
static ganz_status find_storage(job *j, const char *key, const unsigned char **data, size_t *bytes)
{
    for (size_t i = 0; i < j->storage_count; i++)
        if (strcmp(j->storages[i].key, key) == 0) {
            *data = j->storages[i].data;
            *bytes = j->storages[i].bytes;
            return GANZ_OK;
        }
    if (!j->zip) return broken(j, "a tensor has no data");
    GANZ_TRY(find_in_zip(j, key, data, bytes));
    if (j->storage_count >= STORAGES ||
        !ganz_grow((void **)&j->storages, &j->storage_capacity, j->storage_count + 1, sizeof *j->storages))
        return ganz_fail(j->err, GANZ_ELIMIT, "%s: too many tensors", j->name);
    storage *const s = &j->storages[j->storage_count++];
    *s = (storage){.data = *data, .bytes = *bytes};
    snprintf(s->key, sizeof s->key, "%s", key);
    return GANZ_OK;
}

static bool type_of(const ganz_pickle_node *class, ganz_dtype *type)
{
    static const struct {
        const char *name;
        ganz_dtype type;
    } types[] = {{"torch FloatStorage", GANZ_DTYPE_F32},     {"torch HalfStorage", GANZ_DTYPE_F16},
                 {"torch BFloat16Storage", GANZ_DTYPE_BF16}, {"torch DoubleStorage", GANZ_DTYPE_F64},
                 {"torch LongStorage", GANZ_DTYPE_I64},      {"torch IntStorage", GANZ_DTYPE_I32},
                 {"torch ByteStorage", GANZ_DTYPE_U8},       {"torch BoolStorage", GANZ_DTYPE_BOOL}};
    for (size_t i = 0; i < GANZ_COUNT(types); i++)
        if (ganz_pickle_is(class, types[i].name)) {
            *type = types[i].type;
            return true;
        }
    return false;
}

/* ---- tensors ------------------------------------------------------------------------------------ */

static const ganz_pickle_node *item(const ganz_pickle *p, const ganz_pickle_node *list, size_t i)
{
    static const ganz_pickle_node none = {.kind = GANZ_PICKLE_NONE, .callable = -1, .args = -1, .state = -1};
    return list->kind == GANZ_PICKLE_LIST && i < list->count ? &p->node[list->items[i]] : &none;
}

/* What was to be called: a tensor, or the parameter around one. NULL: something else. */
static const ganz_pickle_node *arguments_of_tensor(const ganz_pickle *p, const ganz_pickle_node *n)
{
    for (int layer = 0; layer < 2; layer++) {
        if (n->kind != GANZ_PICKLE_CALL) return NULL;
        const ganz_pickle_node *const callable = &p->node[n->callable], *const args = &p->node[n->args];
        if (ganz_pickle_is(callable, "torch._utils _rebuild_tensor_v2")) return args;
        if (!ganz_pickle_is(callable, "torch._utils _rebuild_parameter")) return NULL;
        n = item(p, args, 0);
    }
    return NULL;
}

/* Rows first, without gaps. */
static bool is_plain(const ganz_pickle *p, const ganz_pickle_node *strides, const ganz_foreign *t)
{
    int64_t expected = 1;
    if (strides->kind != GANZ_PICKLE_LIST || strides->count != (size_t)t->rank) return false;
    for (int i = t->rank - 1; i >= 0; i--) {
        const ganz_pickle_node *const stride = item(p, strides, (size_t)i);
        if (t->dims[i] != 1 && (stride->kind != GANZ_PICKLE_INT || stride->number != expected)) return false;
        if (__builtin_mul_overflow(expected, t->dims[i], &expected)) return false;
    }
    return true;
}

static ganz_status read_shape(const job *j, const ganz_pickle *p, const ganz_pickle_node *args, ganz_foreign *t)
{
    const ganz_pickle_node *const shape = item(p, args, 2);
    if (shape->kind != GANZ_PICKLE_LIST || shape->count > GANZ_FOREIGN_RANK) return broken(j, "a tensor has no shape");
    t->rank = (int)shape->count;
    for (int i = 0; i < t->rank; i++) {
        const ganz_pickle_node *const dim = item(p, shape, (size_t)i);
        if (dim->kind != GANZ_PICKLE_INT || dim->number < 0) return broken(j, "a tensor has an impossible shape");
        t->dims[i] = dim->number;
    }
    if (is_plain(p, item(p, args, 3), t)) return GANZ_OK;
    return ganz_fail(j->err, GANZ_EUNSUPPORTED, "%s: tensor %.60s does not lie in rows", j->name, t->name);
}

static ganz_status read_data(job *j, const ganz_pickle *p, const ganz_pickle_node *args, ganz_foreign *t)
{
    const ganz_pickle_node *const outside = item(p, args, 0), *const offset = item(p, args, 1);
    if (outside->kind != GANZ_PICKLE_OUTSIDE || offset->kind != GANZ_PICKLE_INT || offset->number < 0)
        return broken(j, "a tensor has no storage");
    const ganz_pickle_node *const id = &p->node[outside->args], *const key = item(p, id, 2);
    char name[64];
    size_t count, all = 0, first;
    if (!ganz_pickle_is(item(p, id, 0), "storage") || !type_of(item(p, id, 1), &t->dtype) ||
        key->kind != GANZ_PICKLE_TEXT || key->bytes >= sizeof name || memchr(key->text, '\0', key->bytes))
        return ganz_fail(j->err, GANZ_EUNSUPPORTED, "%s: tensor %.60s has a storage of an unknown kind", j->name,
                         t->name);
    memcpy(name, key->text, key->bytes);
    name[key->bytes] = '\0';
    GANZ_TRY(find_storage(j, name, &t->data, &all));
    const size_t width = ganz_dtype_bytes(t->dtype);
    if (!ganz_foreign_count(t, &count) || !ganz_mul_size(count, width, &t->bytes) ||
        !ganz_mul_size((size_t)offset->number, width, &first) || first > all || t->bytes > all - first)
        return ganz_fail(j->err, GANZ_EFORMAT, "%s: tensor %.60s reaches beyond its storage", j->name, t->name);
    t->data += first;
    return GANZ_OK;
}

/* What is no tensor is passed over. */
static ganz_status add_tensor(job *j, const ganz_pickle *p, const ganz_pickle_node *key, const ganz_pickle_node *value)
{
    const ganz_pickle_node *const args = arguments_of_tensor(p, value);
    char name[GANZ_FOREIGN_NAME + 1];
    if (!args || key->kind != GANZ_PICKLE_TEXT) return GANZ_OK;
    if (key->bytes > GANZ_FOREIGN_NAME || memchr(key->text, '\0', key->bytes))
        return broken(j, "a tensor has an impossible name");
    memcpy(name, key->text, key->bytes);
    name[key->bytes] = '\0';
    ganz_foreign t = {.name = name};
    GANZ_TRY(read_shape(j, p, args, &t));
    GANZ_TRY(read_data(j, p, args, &t));
    return ganz_tensors_add(j->tensors, &t, j->err);
}

/* ---- options ------------------------------------------------------------------------------------ */

static ganz_status add_option(job *j, const char *key, const ganz_pickle_node *value)
{
    char text[256];
    switch (value->kind) {
    case GANZ_PICKLE_BOOL: snprintf(text, sizeof text, "%s", value->number ? "true" : "false"); break;
    case GANZ_PICKLE_INT: snprintf(text, sizeof text, "%lld", (long long)value->number); break;
    case GANZ_PICKLE_REAL: snprintf(text, sizeof text, "%.17g", value->real); break;
    case GANZ_PICKLE_TEXT:
        if (value->bytes >= sizeof text || memchr(value->text, '\0', value->bytes)) return GANZ_OK;
        snprintf(text, sizeof text, "%.*s", (int)value->bytes, value->text);
        break;
    default: return GANZ_OK;
    }
    if (j->options->count >= GANZ_OPTIONS_MOST) return GANZ_OK;
    return ganz_options_add(j->options, key, text, j->err);
}

/* Texts and numbers of dictionaries, and of objects, whose state is one. */
static ganz_status add_options(job *j, const ganz_pickle *p, const char *before, const ganz_pickle_node *n, int depth)
{
    if (n->kind == GANZ_PICKLE_CALL && n->state >= 0) n = &p->node[n->state];
    if (n->kind != GANZ_PICKLE_DICT || depth > DEPTH) return add_option(j, before, n);
    for (size_t i = 0; i + 1 < n->count && j->visits < VISITS; i += 2) {
        const ganz_pickle_node *const key = &p->node[n->items[i]];
        char name[GANZ_OPTION_KEY];
        j->visits++;
        if (key->kind != GANZ_PICKLE_TEXT || key->bytes > 100 || strlen(before) > 150) continue;
        snprintf(name, sizeof name, "%s%s%.*s", before, *before ? "." : "", (int)key->bytes, key->text);
        GANZ_TRY(add_options(j, p, name, &p->node[n->items[i + 1]], depth + 1));
    }
    return GANZ_OK;
}

/* ---- files -------------------------------------------------------------------------------------- */

/* A checkpoint of a training program has its tensors one level down. */
static ganz_status add_contents(job *j, const ganz_pickle *p)
{
    const ganz_pickle_node *root = &p->node[p->root];
    if (root->kind != GANZ_PICKLE_DICT) return broken(j, "the pickle holds no dictionary");
    if (j->options) {
        static const char *const parts[] = {"args", "cfg"};
        for (size_t i = 0; i < GANZ_COUNT(parts); i++) {
            const ganz_pickle_node *const part = ganz_pickle_get(p, root, parts[i]);
            if (part) GANZ_TRY(add_options(j, p, parts[i], part, 0));
        }
        root = ganz_pickle_get(p, root, "model");
        if (!root || root->kind != GANZ_PICKLE_DICT) return broken(j, "the checkpoint has no \"model\"");
    }
    for (size_t i = 0; i + 1 < root->count; i += 2)
        GANZ_TRY(add_tensor(j, p, &p->node[root->items[i]], &p->node[root->items[i + 1]]));
    return j->tensors->count > 0 ? GANZ_OK : broken(j, "the pickle holds no tensors");
}

static ganz_status read_zip(job *j)
{
    static const char pickle[] = "data.pkl";
    int member = -1;
    for (int i = 0; i < ganz_zip_count(j->zip); i++) {
        const char *const name = ganz_zip_name(j->zip, i), *const slash = strrchr(name, '/');
        if (strcmp(slash ? slash + 1 : name, pickle) != 0) continue;
        snprintf(j->prefix, sizeof j->prefix, "%.*s", (int)(slash ? slash + 1 - name : 0), name);
        member = i;
    }
    const unsigned char *data;
    ganz_error why;
    if (member < 0 || !ganz_zip_stored(j->zip, member)) return broken(j, "the archive has no data.pkl");
    if (ganz_zip_peek(j->zip, member, &data, &why) != GANZ_OK)
        return ganz_fail(j->err, why.status, "%s: %s", j->name, why.message);
    ganz_pickle p;
    ganz_status status =
        ganz_pickle_read(&p, data, ganz_zip_size(j->zip, member), j->options ? NULL : classes, j->name, j->err);
    if (status == GANZ_OK) status = add_contents(j, &p);
    ganz_pickle_close(&p);
    return status;
}

/* Storages in the order of the keys: a count of elements and the elements, whose size the tensors that use them tell.
 */
static size_t width_of(const ganz_pickle *contents, const ganz_pickle_node *key)
{
    for (size_t i = 0; i < contents->count; i++) {
        const ganz_pickle_node *const n = &contents->node[i];
        ganz_dtype type;
        if (n->kind != GANZ_PICKLE_OUTSIDE) continue;
        const ganz_pickle_node *const id = &contents->node[n->args], *const other = item(contents, id, 2);
        if (other->kind != GANZ_PICKLE_TEXT || other->bytes != key->bytes ||
            memcmp(other->text, key->text, key->bytes) != 0)
            continue;
        return type_of(item(contents, id, 1), &type) ? ganz_dtype_bytes(type) : 0;
    }
    return 0;
}

static ganz_status read_storages(job *j, const ganz_pickle *contents, const ganz_pickle *keys, ganz_reader *r)
{
    const ganz_pickle_node *const list = &keys->node[keys->root];
    if (list->kind != GANZ_PICKLE_LIST || list->count > STORAGES) return broken(j, "the list of storages is damaged");
    if (contents->count > STEPS / (list->count + 1)) /* each key is looked for in all of them */
        return ganz_fail(j->err, GANZ_ELIMIT, "%s: %zu storages and %zu objects are too many", j->name, list->count,
                         contents->count);
    j->storages = ganz_alloc(list->count + 1, sizeof *j->storages);
    if (!j->storages) return ganz_fail(j->err, GANZ_ENOMEM, "%s: out of memory", j->name);
    for (size_t i = 0; i < list->count; i++) {
        const ganz_pickle_node *const key = item(keys, list, i);
        storage *const s = &j->storages[i];
        const uint64_t count = ganz_read_u64(r);
        if (key->kind != GANZ_PICKLE_TEXT || key->bytes >= sizeof s->key) return broken(j, "a storage has no key");
        const size_t width = width_of(contents, key);
        if (width == 0) return broken(j, "a storage is of an unknown kind");
        memcpy(s->key, key->text, key->bytes);
        if (count > r->bytes / width) return broken(j, "a storage is cut short");
        s->bytes = (size_t)count * width;
        s->data = ganz_read_bytes(r, s->bytes);
        if (!s->data) return broken(j, "a storage is cut short");
        j->storage_count = i + 1;
    }
    return GANZ_OK;
}

static ganz_status next_pickle(job *j, ganz_pickle *p, ganz_reader *r)
{
    const ganz_status status =
        ganz_pickle_read(p, r->data + r->at, r->bytes - r->at, j->options ? NULL : classes, j->name, j->err);
    if (status == GANZ_OK) r->at += p->end;
    return status;
}

/* The magic number of the older kind, as ten bytes; little endian, without the last, which is 0. */
static bool is_magic(const ganz_pickle *p)
{
    static const unsigned char magic[] = {0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19};
    const ganz_pickle_node *const n = &p->node[p->root];
    return n->kind == GANZ_PICKLE_INT && n->bytes == sizeof magic && memcmp(n->text, magic, sizeof magic) == 0;
}

static ganz_status read_older(job *j, ganz_reader *r)
{
    enum { MAGIC, VERSION, MACHINE, CONTENTS, KEYS, PICKLES };
    ganz_pickle p[PICKLES] = {{0}};
    ganz_status status = GANZ_OK;
    for (int i = 0; i < PICKLES && status == GANZ_OK; i++) {
        status = next_pickle(j, &p[i], r);
        if (i == MAGIC && status != GANZ_ENOMEM && (status != GANZ_OK || !is_magic(&p[i])))
            status = broken(j, "no file of torch.save");
    }
    if (status == GANZ_OK) status = read_storages(j, &p[CONTENTS], &p[KEYS], r);
    if (status == GANZ_OK) status = add_contents(j, &p[CONTENTS]);
    for (int i = 0; i < PICKLES; i++) ganz_pickle_close(&p[i]);
    return status;
}

ganz_status ganz_read_torch(ganz_tensors *tensors, ganz_options *options, const void *data, size_t bytes,
                            const char *name, ganz_error *err)
{
    job j = {.name = name, .tensors = tensors, .options = options, .err = err};
    ganz_reader r = ganz_reader_over(data, bytes);
    ganz_error why;
    ganz_status status;
    if (options) options->name = name;
    if (!ganz_zip_looks_like(data, bytes)) status = read_older(&j, &r);
    else if (ganz_zip_open(&j.zip, data, bytes, &limits, &why) == GANZ_OK) status = read_zip(&j);
    else status = ganz_fail(err, why.status, "%s: %s", name, why.message);
    ganz_zip_close(&j.zip);
    ganz_free(j.storages);
    return status;
}
