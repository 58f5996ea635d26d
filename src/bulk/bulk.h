/* Inside of bulk work: proofs as they are kept, and sums of what lies in files. */
#ifndef GANZ_BULK_BULK_H
#define GANZ_BULK_BULK_H

#include "base/base.h"
#include "ganz/bulk.h"

enum { GANZ_BULK_PATH = 4096, GANZ_BULK_PARTS = 1000000 /* most */ };

/* Bytes of a plain file. */
ganz_status ganz_bulk_bytes(const char *path, uint64_t *bytes, ganz_error *err);

/* What a proof says. */
typedef struct ganz_proof {
    ganz_part part;
    unsigned long long origin;       /* of ganz_part_origin */
    unsigned long long lines;        /* of the part, and of its translations */
    unsigned long long input_sum;    /* XXH3 of the lines */
    unsigned long long output_bytes; /* of the translations */
    unsigned long long output_sum;   /* XXH3 of them */
} ganz_proof;

/* Reads a proof; *found false: there is none, or it is not whole (a proof is written at once, so that only another
 * program's file is like that). */
ganz_status ganz_proof_read(ganz_proof *proof, const char *path, bool *found, ganz_error *err);
/* The same of a text in memory, terminated. */
bool ganz_proof_parse(ganz_proof *proof, const char *text);
ganz_status ganz_proof_write(const ganz_proof *proof, const char *path, ganz_error *err);

/* Checksum and lines of bytes [begin, end) of a file; a last line without a newline counts. */
ganz_status ganz_bulk_sum(const char *path, unsigned long long begin, unsigned long long end, unsigned long long *sum,
                          unsigned long long *lines, ganz_error *err);
/* Whether the file of a proven part has the bytes that its proof says; *same false too when it is absent. */
ganz_status ganz_proof_holds(const ganz_proof *proof, const char *path, bool *same, ganz_error *err);

#endif
