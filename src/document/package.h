/* Documents that are zip archives of XML files: each file with text to translate is a section of the skeleton, all
 * other members are carried as they are packed. */
#ifndef GANZ_DOCUMENT_PACKAGE_H
#define GANZ_DOCUMENT_PACKAGE_H

#include "document/format.h"
#include "document/zip.h"

/* Makes the final text of a section, appended to out, of what was written for it. data: the reader's. */
typedef ganz_status ganz_polish(const void *data, const ganz_text *written, ganz_text *out, ganz_error *err);

typedef struct ganz_package_section {
    int member;
    const char *text; /* as it was */
    size_t bytes;
    ganz_polish *polish; /* NULL: the text is final as it is written */
    const void *data;
} ganz_package_section;

/* An archive while it is read. */
typedef struct ganz_package {
    ganz_zip *zip;
    ganz_skeleton *skeleton;
    struct ganz_package_state *state; /* what finishing needs; in memory of the skeleton */
} ganz_package;

/* Borrows all; to be closed also after a failure. */
ganz_status ganz_package_open(ganz_package *package, ganz_skeleton *skeleton, const char *bytes, size_t count,
                              ganz_error *err);
void ganz_package_close(ganz_package *package);

/* Text of a member, in memory of the skeleton. */
ganz_status ganz_package_load(ganz_package *package, int member, const char **text, size_t *bytes, ganz_error *err);

/* Begins the section of a member whose text was loaded; copies and blocks that follow are its new text. Once for each
 * member. polish may be NULL. */
void ganz_package_begin(ganz_package *package, int member, const char *text, size_t bytes, ganz_polish *polish,
                        const void *data);

/* ganz_format.finish of these formats. */
ganz_status ganz_package_finish(void *state, const ganz_text *sections, size_t count, ganz_text *out, ganz_error *err);

/* True if the archive has a stored member "mimetype" at its beginning with this text, or text that begins so. */
bool ganz_package_is(const char *bytes, size_t count, const char *mimetype);

#endif
