/* Zip archives in memory: what office documents and books are packed in. Nothing is ever unpacked to a disk.
 *
 *   | record 0 | record 1 | ... | directory | end |        a record: header, data, and a descriptor where the flags say
 * so
 *
 * A member is read by its number in the directory. A changed one gets new data; all others keep their bytes as they are
 * packed, their order, dates and attributes. */
#ifndef GANZ_DOCUMENT_ZIP_H
#define GANZ_DOCUMENT_ZIP_H

#include "base/base.h"

typedef struct ganz_zip_limits {
    size_t unpacked; /* bytes that all members read may have together */
    int members;
    int ratio; /* unpacked to packed size of a member, once it is over 1 MiB */
} ganz_zip_limits;

/* 64 MiB, 2,000 members, 256 to one. */
extern const ganz_zip_limits ganz_zip_default_limits;

typedef struct ganz_zip ganz_zip;

/* True for bytes that begin as a zip archive does. */
bool ganz_zip_looks_like(const void *data, size_t bytes);

/* Reads the directory and checks that every record is where it says, once, and overlaps no other. The bytes are
 * borrowed until the end. limits NULL: the defaults. */
ganz_status ganz_zip_open(ganz_zip **zip, const void *data, size_t bytes, const ganz_zip_limits *limits,
                          ganz_error *err);
void ganz_zip_close(ganz_zip **zip);

int ganz_zip_count(const ganz_zip *zip);
/* Terminated; belongs to the archive. No control characters, no "..", no leading "/". */
const char *ganz_zip_name(const ganz_zip *zip, int member);
/* -1: no member is called that. */
int ganz_zip_find(const ganz_zip *zip, const char *name);
/* Unpacked size as the directory says it; stored says that the member is not compressed. */
size_t ganz_zip_size(const ganz_zip *zip, int member);
bool ganz_zip_stored(const ganz_zip *zip, int member);

/* How many bytes a member unpacks to, counted against the limits: to be asked before memory is made for them. */
ganz_status ganz_zip_claim(ganz_zip *zip, int member, size_t *bytes, ganz_error *err);
/* Unpacks a member into out, which has room for its bytes and a zero, and compares its checksum. */
ganz_status ganz_zip_read(const ganz_zip *zip, int member, char *out, ganz_error *err);

/* The bytes of a stored member where they lie in the archive, compared with their checksum. */
ganz_status ganz_zip_peek(const ganz_zip *zip, int member, const unsigned char **data, ganz_error *err);

/* Gives a member new contents; they are packed now, as the old ones were, and need not stay. */
ganz_status ganz_zip_replace(ganz_zip *zip, int member, const void *data, size_t bytes, ganz_error *err);

/* The archive with what was replaced, else byte for byte as it was. The bytes are the caller's (ganz_free). */
ganz_status ganz_zip_write(const ganz_zip *zip, unsigned char **data, size_t *bytes, ganz_error *err);

#endif
