/* Bulk work: a large text is cut into parts, processes anywhere translate one part each, and the parts are joined
 * again. A part that is done has a proof beside it, a small file with checksums of its lines, of their translations,
 * and of the model and its options; joining believes proofs and bytes, not names.
 *
 * A part NUMBER of COUNT of an output STEM is the file STEM.part-NUMBER-of-COUNT, its proof has .proof behind that. */
#ifndef GANZ_BULK_H
#define GANZ_BULK_H

#include "ganz/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whole lines of a file. */
typedef struct ganz_part {
    long long number, count;        /* from 1; of how many */
    unsigned long long begin, end;  /* bytes of the file */
    unsigned long long input_bytes; /* of the whole file */
} ganz_part;

/* The lines whose first byte lies in share `number` of the bytes of a plain file, cut into `count` equal shares. Every
 * line is in exactly one part; a part may have none. Compressed files and pipes are GANZ_EINVAL. */
GANZ_API ganz_status ganz_part_find(ganz_part *part, const char *input, long long number, long long count,
                                    ganz_error *err);

/* The lines of a part, to be read with ganz_lines_next. GANZ_EFORMAT: the file has another size than it had. */
GANZ_API ganz_status ganz_lines_open_part(ganz_lines **lines, const char *input, const ganz_part *part,
                                          ganz_error *err);

/* Name of a part of an output, or of its proof (`suffix` "" or ".proof"). GANZ_ELIMIT: it does not fit. */
GANZ_API ganz_status ganz_part_name(const ganz_part *part, const char *stem, const char *suffix, char *name,
                                    size_t room, ganz_error *err);

/* How a part was made: the checksum of a model file and of the options that translations depend on. */
GANZ_API ganz_status ganz_part_origin(const char *model_path, const ganz_translator_options *options,
                                      unsigned long long *origin, ganz_error *err);

/* Writes the proof of a part whose translations lie in their file, one line for each line. Both are read again for it.
 * GANZ_EFORMAT: the numbers of lines differ. */
GANZ_API ganz_status ganz_part_prove(const ganz_part *part, const char *input, const char *stem,
                                     unsigned long long origin, ganz_error *err);

/* Whether a part is done: its proof is there, it is about this part, the lines that the input has there now, and this
 * origin, and its file has the bytes that it says. A proof of something else is GANZ_EFORMAT; one that is absent, or
 * whose file is absent or damaged, is not done. */
GANZ_API ganz_status ganz_part_check(const ganz_part *part, const char *input, const char *stem,
                                     unsigned long long origin, bool *done, ganz_error *err);

/* Whether another file, made from the same lines once more, has the bytes that the proof of a part says. */
GANZ_API ganz_status ganz_part_compare(const ganz_part *part, const char *stem, const char *path, bool *same,
                                       ganz_error *err);

typedef struct ganz_join_result {
    long long parts, lines;
    unsigned long long bytes;
    long long missing;      /* parts that have no proof, or not the bytes of their proof; nothing was written then */
    char missing_list[200]; /* their numbers, "3, 7-9, ..." */
} ganz_join_result;

/* Puts all parts of an output together in `out` (a path as for ganz_output_open). Their number is that of the proofs
 * that are there. `input`, unless NULL, is compared with the checksums of the lines, too. All proofs must have one
 * origin and one input. */
GANZ_API ganz_status ganz_parts_join(const char *stem, const char *input, const char *out, ganz_join_result *result,
                                     ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
