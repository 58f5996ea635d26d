/* Text files in and out: lines of plain or compressed files, and outputs that are whole or absent. */
#ifndef GANZ_IO_H
#define GANZ_IO_H

#include <stdbool.h>
#include <stddef.h>

#include "ganz/ganz.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- files inside a program --------------------------------------------------------------------- */

/* A program may hold files, models for instance, that are opened under the name "inside:NAME" where other files have
 * their path. It defines the table, which ends with a NULL; programs that do not have none. */
typedef struct ganz_inside {
    const char *name;
    const unsigned char *begin, *end;
} ganz_inside;
#define GANZ_INSIDE "inside:"
#if defined(__GNUC__)
extern const ganz_inside ganz_inside_files[] __attribute__((weak));
#else
extern const ganz_inside ganz_inside_files[];
#endif

/* ---- reading lines ------------------------------------------------------------------------------ */

typedef struct ganz_lines ganz_lines;

/* Opens a text file; "-" is standard input. gzip, xz and zstd are recognised by their first bytes. */
GANZ_API ganz_status ganz_lines_open(ganz_lines **lines, const char *path, ganz_error *err);
/* The lines of a text in memory, which is copied; `name` is for messages. */
GANZ_API ganz_status ganz_lines_open_text(ganz_lines **lines, const char *text, size_t bytes, const char *name,
                                          ganz_error *err);
GANZ_API void ganz_lines_close(ganz_lines **lines);

/* Next line without its "\n" (the only separator); a last line need not end in one.
 * *text lives until the next call. At the end of the file *text is NULL and the status GANZ_OK.
 * Bytes are not checked: they may be NUL or invalid UTF-8. A line over 64 MiB is GANZ_ELIMIT. */
GANZ_API ganz_status ganz_lines_next(ganz_lines *lines, const char **text, size_t *bytes, ganz_error *err);

/* Number of the line last returned, from 1; and the name for messages ("standard input" for "-"). */
GANZ_API long long ganz_lines_number(const ganz_lines *lines);
GANZ_API const char *ganz_lines_name(const ganz_lines *lines);

/* True if the line last returned ended in "\n". */
GANZ_API bool ganz_lines_whole(const ganz_lines *lines);

/* How far into the file the lines so far reach, in bytes as they lie there, compressed or not; compressed ones are
 * read some way ahead. */
GANZ_API unsigned long long ganz_lines_position(const ganz_lines *lines);

/* True if the next line, or the end of the file, can be had without waiting for its writer: a program that
 * answers line by line flushes its output when this says no. */
GANZ_API bool ganz_lines_ready(const ganz_lines *lines);

/* True if a whole string is valid UTF-8 (no surrogates, no overlong forms). */
GANZ_API bool ganz_utf8_valid(const char *text, size_t bytes);

/* Copies text to out with every maximal invalid part replaced by U+FFFD; out has room for 3 * bytes.
 * Returns the length written; *replaced counts the replacements. */
GANZ_API size_t ganz_utf8_repair(const char *text, size_t bytes, char *out, size_t *replaced);

/* ---- writing ------------------------------------------------------------------------------------ */

typedef struct ganz_output ganz_output;

/* Opens an output. "-" is standard output. A name ending in .gz, .xz or .zst is compressed.
 * A regular file appears under its name only when ganz_output_finish succeeds (temporary file beside
 * it, fsync, rename, fsync of the folder): until then an older file of that name stays as it was. Where the system
 * has files without a name (Linux, most file systems) the temporary one has none: nothing stays of a killed process.
 * Pipes and devices are written directly. On a terminal, control characters other than tabs and line breaks become
 * question marks. */
GANZ_API ganz_status ganz_output_open(ganz_output **out, const char *path, ganz_error *err);
GANZ_API ganz_status ganz_output_write(ganz_output *out, const void *data, size_t bytes, ganz_error *err);
GANZ_API ganz_status ganz_output_printf(ganz_output *out, ganz_error *err, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* Hands what is buffered to the system, for streams that are read while we write. */
GANZ_API ganz_status ganz_output_flush(ganz_output *out, ganz_error *err);
/* Makes the file final and closes it (also when it fails: then nothing has been replaced). */
GANZ_API ganz_status ganz_output_finish(ganz_output **out, ganz_error *err);
/* Closes without replacing anything; the temporary file is removed. */
GANZ_API void ganz_output_abandon(ganz_output **out);

#ifdef __cplusplus
}
#endif
#endif
