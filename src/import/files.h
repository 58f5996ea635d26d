/* Where a foreign model lies: a folder, a single file with its folder, or a zip archive. Files are found by name and
 * read; members of archives are unpacked into memory once. */
#ifndef GANZ_IMPORT_FILES_H
#define GANZ_IMPORT_FILES_H

#include "base/base.h"

typedef struct ganz_bytes {
    const unsigned char *data; /* never NULL */
    size_t bytes;
} ganz_bytes;

typedef struct ganz_files ganz_files;

/* A folder, or a file: then the folder is the one it lies in, or what an archive (.argosmodel, .zip) holds. */
ganz_status ganz_files_open(ganz_files **files, const char *path, ganz_error *err);
/* The same of an archive in memory, which outlives it; `name` is for messages. */
ganz_status ganz_files_parse(ganz_files **files, const void *data, size_t bytes, const char *name, ganz_error *err);
void ganz_files_close(ganz_files **files);

const char *ganz_files_name(const ganz_files *files); /* as it was given */
/* Name of the file that was given, without its folder; NULL: it was a folder or an archive. */
const char *ganz_files_given(const ganz_files *files);
/* Whether there is such a file. */
bool ganz_files_have(const ganz_files *files, const char *name);
/* The only file whose name ends so, or the first in the order of the alphabet; NULL: none. Belongs to `files`. */
const char *ganz_files_ending(const ganz_files *files, const char *ending);
/* The first whose name begins and ends so; NULL: none. */
const char *ganz_files_starting(const ganz_files *files, const char *beginning, const char *ending);
/* Bytes of a file, which live as long as `files`; its absence is a mistake. */
ganz_status ganz_files_get(ganz_files *files, const char *name, ganz_bytes *bytes, ganz_error *err);
/* From now on only what lies in this folder inside, or in its parent where that has no such file, is found. */
void ganz_files_enter(ganz_files *files, const char *folder);

#endif
