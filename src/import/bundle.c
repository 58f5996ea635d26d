/* Checkpoints of TensorFlow. The index is a table as leveldb has them: blocks of keys and values, the keys with what
 * they share with the one before left out, and at the end the place of a block that lists the blocks. Each value is a
 * protobuf message about a tensor: type, shape, and where its bytes are in which of the data files. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "import/formats.h"

enum { FOOTER = 48, TRAILER = 5 /* behind each block: how it is packed, and a checksum */, KEY = GANZ_FOREIGN_NAME };
enum { HALF = 19, FLOAT = 1, DOUBLE = 2, INT32 = 3, INT64 = 9, BFLOAT = 14 }; /* TensorFlow's numbers of types */

typedef struct job {
    const ganz_bundle *bundle;
    ganz_tensors *tensors;
    const char *name;
    uint32_t crc[256]; /* of one byte, by CRC-32C */
    uint64_t left;     /* bytes of data that no tensor has yet */
    ganz_error *err;
} job;

static ganz_status broken(const job *j, const char *what)
{
    return ganz_fail(j->err, GANZ_EFORMAT, "%s: no index of a checkpoint: %s", j->name, what);
}

/* ---- numbers of variable length ----------------------------------------------------------------- */

/* Seven bits a byte, the low ones first. */
static uint64_t take_number(ganz_reader *r)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        const unsigned char *const byte = ganz_read_bytes(r, 1);
        if (!byte) return 0;
        value |= (uint64_t)(*byte & 127) << shift;
        if (*byte < 128) return value;
    }
    r->failed = true;
    return 0;
}

static uint64_t take_fixed(ganz_reader *r, size_t bytes)
{
    const unsigned char *const at = ganz_read_bytes(r, bytes);
    uint64_t value = 0;
    for (size_t i = 0; at && i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static ganz_reader take_message(ganz_reader *r)
{
    const uint64_t bytes = take_number(r);
    const void *const at = bytes <= r->bytes ? ganz_read_bytes(r, (size_t)bytes) : NULL;
    if (!at) r->failed = true;
    return ganz_reader_over(at ? at : r->data, at ? (size_t)bytes : 0);
}

/* The number of the next field of a message, 0 at its end; *kind says how its value is kept. */
static unsigned take_field(ganz_reader *r, unsigned *kind)
{
    if (r->failed || r->at == r->bytes) return 0;
    const uint64_t tag = take_number(r);
    *kind = tag & 7;
    if (tag >> 3 == 0 || tag >> 3 > 1000) r->failed = true;
    return r->failed ? 0 : (unsigned)(tag >> 3);
}

static void pass_field(ganz_reader *r, unsigned kind)
{
    if (kind == 0) (void)take_number(r);
    else if (kind == 1) (void)take_fixed(r, 8);
    else if (kind == 2) (void)take_message(r);
    else if (kind == 5) (void)take_fixed(r, 4);
    else r->failed = true;
}

/* ---- entries ------------------------------------------------------------------------------------ */

typedef struct entry {
    ganz_foreign tensor;
    uint64_t type, shard, offset, bytes;
    uint32_t checksum;
    bool summed, sliced;
} entry;

static void read_dimension(ganz_reader *r, entry *e)
{
    unsigned kind, field;
    if (e->tensor.rank == GANZ_FOREIGN_RANK) {
        r->failed = true;
        return;
    }
    int64_t *const size = &e->tensor.dims[e->tensor.rank++];
    *size = 0;
    while ((field = take_field(r, &kind)) != 0) {
        if (field == 1 && kind == 0) *size = (int64_t)take_number(r);
        else pass_field(r, kind);
    }
    if (*size < 0) r->failed = true;
}

static void read_shape(ganz_reader *r, entry *e)
{
    unsigned kind, field;
    while ((field = take_field(r, &kind)) != 0) {
        if (field != 2 || kind != 2) {
            pass_field(r, kind);
            continue;
        }
        ganz_reader dimension = take_message(r);
        read_dimension(&dimension, e);
        r->failed = r->failed || dimension.failed;
    }
}

static bool read_entry(ganz_reader r, entry *e)
{
    unsigned kind, field;
    while ((field = take_field(&r, &kind)) != 0) {
        if (field == 1 && kind == 0) e->type = take_number(&r);
        else if (field == 2 && kind == 2) {
            ganz_reader shape = take_message(&r);
            read_shape(&shape, e);
            r.failed = r.failed || shape.failed;
        } else if (field == 3 && kind == 0) e->shard = take_number(&r);
        else if (field == 4 && kind == 0) e->offset = take_number(&r);
        else if (field == 5 && kind == 0) e->bytes = take_number(&r);
        else if (field == 6 && kind == 5) {
            e->checksum = (uint32_t)take_fixed(&r, 4);
            e->summed = true;
        } else {
            e->sliced = e->sliced || field == 7;
            pass_field(&r, kind);
        }
    }
    return !r.failed;
}

static bool type_of(uint64_t type, ganz_dtype *dtype)
{
    static const struct {
        uint64_t theirs;
        ganz_dtype ours;
    } types[] = {{FLOAT, GANZ_DTYPE_F32}, {HALF, GANZ_DTYPE_F16},  {DOUBLE, GANZ_DTYPE_F64},
                 {INT32, GANZ_DTYPE_I32}, {INT64, GANZ_DTYPE_I64}, {BFLOAT, GANZ_DTYPE_BF16}};
    for (size_t i = 0; i < GANZ_COUNT(types); i++)
        if (types[i].theirs == type) {
            *dtype = types[i].ours;
            return true;
        }
    return false;
}

/* ---- checksums ---------------------------------------------------------------------------------- */

static void make_crc(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++) c = (c >> 1) ^ (c & 1 ? 0x82F63B78u : 0);
        table[i] = c;
    }
}

/* As TensorFlow keeps it: turned and shifted, so that sums of sums are no constants. */
static uint32_t checksum_of(const job *j, const unsigned char *data, size_t bytes)
{
    uint32_t c = ~0u;
    for (size_t i = 0; i < bytes; i++) c = j->crc[(c ^ data[i]) & 255] ^ (c >> 8);
    c = ~c;
    return ((c >> 15) | (c << 17)) + 0xA282EAD8u;
}

/* ---- tensors ------------------------------------------------------------------------------------ */

/* Tensors of other types, texts for instance, are passed over. */
static ganz_status add_tensor(job *j, char *key, ganz_reader value)
{
    entry e = {.tensor = {.name = key}};
    if (!read_entry(value, &e)) return broken(j, "an entry is damaged");
    if (!type_of(e.type, &e.tensor.dtype)) return GANZ_OK;
    if (e.sliced) return ganz_fail(j->err, GANZ_EUNSUPPORTED, "%s: %.80s is kept in slices", j->name, key);
    if (e.shard >= (uint64_t)j->bundle->shards) return broken(j, "a tensor is in a file that is not there");
    const ganz_bytes *const file = &j->bundle->shard[e.shard];
    if (e.offset > file->bytes || e.bytes > file->bytes - e.offset)
        return ganz_fail(j->err, GANZ_EFORMAT, "%s: the bytes of %.80s are not there", j->name, key);
    if (e.bytes > j->left) return broken(j, "tensors overlap"); /* else each could sum up all of a file */
    j->left -= e.bytes;
    e.tensor.data = file->data + e.offset;
    e.tensor.bytes = (size_t)e.bytes;
    if (e.summed && checksum_of(j, e.tensor.data, e.tensor.bytes) != e.checksum)
        return ganz_fail(j->err, GANZ_EFORMAT, "%s: the bytes of %.80s are damaged", j->name, key);
    return ganz_tensors_add(j->tensors, &e.tensor, j->err);
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* The entries of a block, less the list of its places to begin at. */
static ganz_status open_block(const job *j, uint64_t offset, uint64_t bytes, ganz_reader *block)
{
    const ganz_bytes *const index = &j->bundle->index;
    if (bytes < 4 || offset > index->bytes || bytes > index->bytes - offset || index->bytes - offset - bytes < TRAILER)
        return broken(j, "a block is beyond its end");
    const unsigned char *const data = index->data + offset;
    if (data[bytes] != 0) return ganz_fail(j->err, GANZ_EUNSUPPORTED, "%s: the index is compressed", j->name);
    ganz_reader last = ganz_reader_over(data + bytes - 4, 4);
    const uint64_t restarts = take_fixed(&last, 4);
    if (restarts > (bytes - 4) / 4) return broken(j, "a block has no end");
    *block = ganz_reader_over(data, (size_t)(bytes - 4 - 4 * restarts));
    return GANZ_OK;
}

/* The next key, which may share its beginning with the one before, and its value; false at the end of the block. */
static bool next_entry(ganz_reader *block, char key[KEY], size_t *length, ganz_reader *value)
{
    if (block->failed || block->at == block->bytes) return false;
    const uint64_t shared = take_number(block), own = take_number(block), bytes = take_number(block);
    if (shared > *length || own >= KEY - shared || own > block->bytes || bytes > block->bytes) block->failed = true;
    const char *const text = block->failed ? NULL : ganz_read_bytes(block, (size_t)own);
    const void *const data = text ? ganz_read_bytes(block, (size_t)bytes) : NULL;
    if (!data || memchr(text, '\0', (size_t)own)) {
        block->failed = true;
        return false;
    }
    memcpy(key + shared, text, (size_t)own);
    *length = (size_t)(shared + own);
    key[*length] = '\0';
    *value = ganz_reader_over(data, (size_t)bytes);
    return true;
}

/* The entry without a name is about the whole. */
static ganz_status read_block(job *j, uint64_t offset, uint64_t bytes)
{
    ganz_reader block, value;
    char key[KEY];
    size_t length = 0;
    GANZ_TRY(open_block(j, offset, bytes, &block));
    while (next_entry(&block, key, &length, &value))
        if (length > 0) GANZ_TRY(add_tensor(j, key, value));
    return block.failed ? broken(j, "a block is damaged") : GANZ_OK;
}

/* Blocks lie one behind the other: so each is read once, however many places there are. */
static ganz_status read_index(job *j)
{
    static const unsigned char magic[8] = {0x57, 0xFB, 0x80, 0x8B, 0x24, 0x75, 0x47, 0xDB};
    const ganz_bytes *const index = &j->bundle->index;
    if (index->bytes < FOOTER || memcmp(index->data + index->bytes - 8, magic, 8) != 0)
        return broken(j, "its end is missing");
    ganz_reader footer = ganz_reader_over(index->data + index->bytes - FOOTER, FOOTER - 8), list, place;
    (void)take_number(&footer), (void)take_number(&footer); /* a block about blocks, which is empty */
    const uint64_t offset = take_number(&footer), bytes = take_number(&footer);
    if (footer.failed) return broken(j, "its end is damaged");
    GANZ_TRY(open_block(j, offset, bytes, &list));
    char key[KEY];
    size_t length = 0;
    uint64_t end = 0;
    while (next_entry(&list, key, &length, &place)) {
        const uint64_t at = take_number(&place), size = take_number(&place);
        if (place.failed || at < end) return broken(j, "a place is damaged");
        GANZ_TRY(read_block(j, at, size));
        end = at + size;
    }
    return list.failed ? broken(j, "its list of blocks is damaged") : GANZ_OK;
}

ganz_status ganz_read_bundle(ganz_tensors *tensors, const ganz_bundle *bundle, const char *name, ganz_error *err)
{
    job j = {.bundle = bundle, .tensors = tensors, .name = name, .err = err};
    make_crc(j.crc);
    for (int i = 0; i < bundle->shards; i++) j.left += bundle->shard[i].bytes;
    return read_index(&j);
}
