/* safetensors: the one file format of ganz, for models, checkpoints and prepared corpora.
 *
 *   8 bytes      length of the header, little endian, below 100,000,000
 *   header       {"__metadata__":{"key":"text",...},"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...}
 *                followed by spaces, so that the data begin at a multiple of 64. The writer's first key is "xxh3", a
 *                checksum of all of the header behind its 16 digits
 *   data         the tensors one after another: no gap, no overlap, nothing behind the last
 *
 * All numbers in the data are little endian, rows first. Configuration lives in the metadata. */
#ifndef GANZ_MODEL_CONTAINER_H
#define GANZ_MODEL_CONTAINER_H

#include "base/base.h"

enum {
    GANZ_CONTAINER_RANK = 8,         /* most dimensions of a tensor */
    GANZ_CONTAINER_NAME = 512,       /* most bytes of a name */
    GANZ_CONTAINER_TENSORS = 65536,  /* most tensors of a file */
    GANZ_CONTAINER_PAIRS = 262144,   /* most metadata */
    GANZ_CONTAINER_HEADER = 99999999 /* most bytes of a header */
};

/* How a header begins that has a checksum. The second key, farther on, says that there is one: whatever damages the
 * first leaves the second. */
#define GANZ_CONTAINER_SUM "{\"__metadata__\":{\"xxh3\":\""
#define GANZ_CONTAINER_SUMMED "header_checksum"

typedef enum ganz_dtype {
    GANZ_DTYPE_BOOL,
    GANZ_DTYPE_U8,
    GANZ_DTYPE_I8,
    GANZ_DTYPE_U16,
    GANZ_DTYPE_I16,
    GANZ_DTYPE_F16,
    GANZ_DTYPE_BF16,
    GANZ_DTYPE_U32,
    GANZ_DTYPE_I32,
    GANZ_DTYPE_F32,
    GANZ_DTYPE_U64,
    GANZ_DTYPE_I64,
    GANZ_DTYPE_F64,
    GANZ_DTYPE_COUNT
} ganz_dtype;

const char *ganz_dtype_name(ganz_dtype dtype); /* "F32" */
size_t ganz_dtype_bytes(ganz_dtype dtype);     /* of one element */

/* ---- reading ------------------------------------------------------------------------------------ */

/* Threads may share one that they only ganz_container_read from. */
typedef struct ganz_container ganz_container;

typedef struct ganz_entry {
    const char *name;
    ganz_dtype dtype;
    int rank;
    int64_t dims[GANZ_CONTAINER_RANK]; /* (rank) */
    uint64_t begin;                    /* of its bytes, behind the header */
    size_t bytes;
    const void *data; /* of a file: NULL before ganz_container_check has read it; of a block always there */
} ganz_entry;

/* Reads and checks all of the header of a file, against its checksum too if it has one. Nothing is mapped: a file that
 * is cut short or overwritten later, or a disk that fails, is told in a sentence. */
ganz_status ganz_container_open(ganz_container **container, const char *path, ganz_error *err);
/* The same over a block that outlives the container; `name` is for messages. */
ganz_status ganz_container_parse(ganz_container **container, const void *data, size_t bytes, const char *name,
                                 ganz_error *err);
void ganz_container_close(ganz_container **container);
const char *ganz_container_name(const ganz_container *container);

/* The tensors in the order of their data, 0 <= i < count; and by name, NULL when there is none. */
int ganz_container_count(const ganz_container *container);
const ganz_entry *ganz_container_at(const ganz_container *container, int i);
const ganz_entry *ganz_container_find(const ganz_container *container, const char *name);

/* A tensor that must be there with this type and shape (a dimension of -1 may be anything) and whose data
 * is aligned for its type. The message of a refusal says what was found and what was expected. */
ganz_status ganz_container_get(const ganz_container *container, const char *name, ganz_dtype dtype, int rank,
                               const int64_t *dims, const ganz_entry **entry, ganz_error *err);

/* Numbers of a tensor into the caller's memory. The second reads and sums up the whole tensor and compares it with its
 * checksum, if there is one; `data` may be NULL. */
ganz_status ganz_container_read(const ganz_container *container, const ganz_entry *entry, uint64_t offset, void *data,
                                size_t bytes, ganz_error *err);
ganz_status ganz_container_load(const ganz_container *container, const ganz_entry *entry, void *data, ganz_error *err);

/* Gives up the data of a tensor of a file; ganz_container_check reads it again. */
void ganz_container_forget(const ganz_container *container, const ganz_entry *entry);

/* Metadata. The first gives NULL when the key is missing; the others refuse that, and text that is not such
 * a value. Texts live as long as the container. */
const char *ganz_container_text(const ganz_container *container, const char *key);
ganz_status ganz_container_get_text(const ganz_container *container, const char *key, const char **value,
                                    ganz_error *err);
ganz_status ganz_container_get_int(const ganz_container *container, const char *key, int64_t min, int64_t max,
                                   int64_t *value, ganz_error *err);
ganz_status ganz_container_get_real(const ganz_container *container, const char *key, double *value, ganz_error *err);

/* Reads a tensor (entry->data is there afterwards) and compares it with the checksum that the writer left: all tensors
 * of a file have one, or (in a file of another program) none has, and then there is nothing to compare. */
bool ganz_container_summed(const ganz_container *container);
ganz_status ganz_container_check(const ganz_container *container, const ganz_entry *entry, ganz_error *err);
/* The same of all tensors; a file without checksums is refused. */
ganz_status ganz_container_verify(const ganz_container *container, ganz_error *err);

/* ---- writing ------------------------------------------------------------------------------------ */

/* Declare all tensors, then write their data in the same order; the file appears under its name, whole,
 * when ganz_writer_finish succeeds, which reads it again first and compares all of it. Only regular files can be
 * written: the header is completed last. */
typedef struct ganz_writer ganz_writer;

/* checksums: leave one for each tensor in the metadata ("xxh3:NAME"). The header has one in any case. */
ganz_status ganz_writer_open(ganz_writer **writer, const char *path, bool checksums, ganz_error *err);

/* Metadata; a key given again replaces its value. The keys of checksums are the writer's own. After the first data only
 * what ganz_writer_reserve has made room for can be added: bytes of keys and values, and 6 more for each pair. */
ganz_status ganz_writer_text(ganz_writer *writer, const char *key, const char *value, ganz_error *err);
ganz_status ganz_writer_int(ganz_writer *writer, const char *key, int64_t value, ganz_error *err);
ganz_status ganz_writer_real(ganz_writer *writer, const char *key, double value, ganz_error *err);
void ganz_writer_reserve(ganz_writer *writer, size_t bytes);

/* dims[0] may be -1: as many rows as will be written until ganz_writer_next. Data is aligned only if each
 * tensor begins at a multiple of its element size, which is demanded here: declare wide types first. */
ganz_status ganz_writer_declare(ganz_writer *writer, const char *name, ganz_dtype dtype, int rank, const int64_t *dims,
                                ganz_error *err);
/* The next bytes of data, in pieces of any size that do not cross from one tensor into the next. */
ganz_status ganz_writer_write(ganz_writer *writer, const void *data, size_t bytes, ganz_error *err);
/* Ends a tensor whose first dimension is open. */
ganz_status ganz_writer_next(ganz_writer *writer, ganz_error *err);

/* Asked last, with the whole file, whether it may have its name; what it answers else is the answer of the finish. */
typedef ganz_status ganz_writer_check(void *context, const void *data, size_t bytes, ganz_error *err);
void ganz_writer_set_check(ganz_writer *writer, ganz_writer_check *check, void *context);

/* Ends the writer in any case; on failure nothing has been replaced. */
ganz_status ganz_writer_finish(ganz_writer **writer, ganz_error *err);
void ganz_writer_abandon(ganz_writer **writer);

#endif
