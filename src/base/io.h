/* Files inside the library: pieces and whole contents, a bounded reader, checksums. Lines and outputs: ganz/io.h. */
#ifndef GANZ_BASE_IO_H
#define GANZ_BASE_IO_H

#include "base/base.h"
#include "ganz/io.h"

/* ---- a file read piece by piece ----------------------------------------------------------------- */

/* Regular files only. The caller closes *fd with ganz_file_close. */
ganz_status ganz_file_open(int *fd, const char *path, ganz_error *err);
/* All of these bytes, or a sentence: a file that was cut short in the meantime is no reason to die. `path` is for
 * messages. Threads may share a file. */
ganz_status ganz_file_read(int fd, const char *path, uint64_t offset, void *data, size_t bytes, ganz_error *err);
ganz_status ganz_file_size(int fd, const char *path, uint64_t *bytes, ganz_error *err);
void ganz_file_close(int *fd); /* -1: nothing to do; *fd is -1 afterwards */

/* Makes the name of a file or folder durable: syncs the folder that holds it. */
ganz_status ganz_sync_name(const char *path, ganz_error *err);

/* ---- a whole file ------------------------------------------------------------------------------- */

typedef struct ganz_contents {
    const unsigned char *data; /* NULL for an empty file */
    size_t bytes;
    bool copied; /* into memory; else mapped */
} ganz_contents;

/* Reads a regular file into memory; a zero follows its bytes. */
ganz_status ganz_contents_read(ganz_contents *contents, const char *path, ganz_error *err);
/* Maps an open file, which stays open, for those who know that nobody shortens it; `path` is for messages. */
ganz_status ganz_contents_map(ganz_contents *contents, int fd, const char *path, ganz_error *err);
void ganz_contents_free(ganz_contents *contents);

/* ---- reading numbers from untrusted blocks ------------------------------------------------------ */

typedef struct ganz_reader {
    const unsigned char *data;
    size_t bytes, at;
    bool failed; /* something was asked for beyond the end; all later reads give 0 */
} ganz_reader;

static inline ganz_reader ganz_reader_over(const void *data, size_t bytes)
{
    const ganz_reader r = {data, bytes, 0, false};
    return r;
}
uint64_t ganz_read_u64(ganz_reader *r);                    /* little endian */
const void *ganz_read_bytes(ganz_reader *r, size_t bytes); /* NULL when there are fewer */

/* ---- text ---------------------------------------------------------------------------------------- */

/* Bytes of text in a file, after decompression. GANZ_EINVAL for standard input and other things without a size. */
ganz_status ganz_text_file_bytes(const char *path, unsigned long long *bytes, ganz_error *err);

/* ---- outputs whose beginning is known last ------------------------------------------------------ */

/* True for an output whose written bytes can be overwritten: a plain regular file. */
bool ganz_output_patchable(const ganz_output *out);
/* Overwrites bytes already written at `offset` (patchable outputs only; the container's header). */
ganz_status ganz_output_patch(ganz_output *out, uint64_t offset, const void *data, size_t bytes, ganz_error *err);

/* What was written so far, read again from the file, for those who compare before the file gets its name (patchable
 * outputs only). The contents are the caller's to free. */
ganz_status ganz_output_read(ganz_output *out, uint64_t offset, void *data, size_t bytes, ganz_error *err);
ganz_status ganz_output_contents(ganz_output *out, ganz_contents *contents, ganz_error *err);

/* Lines of bytes [begin, end) of a plain file. */
ganz_status ganz_lines_open_range(ganz_lines **lines, const char *path, unsigned long long begin,
                                  unsigned long long end, ganz_error *err);

/* ---- checksums ---------------------------------------------------------------------------------- */

/* XXH3, 64 bits. */
uint64_t ganz_checksum(const void *data, size_t bytes);

#endif
