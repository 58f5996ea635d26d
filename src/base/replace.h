/* A file that takes the place of another when it is whole, or leaves no trace. */
#ifndef GANZ_BASE_REPLACE_H
#define GANZ_BASE_REPLACE_H

#include "base/base.h"

typedef struct ganz_replacement {
    char *path;      /* the name it will have; symbolic links are followed */
    char *temporary; /* the one beside it that it may have for a moment before */
    bool named;      /* it has the temporary name now */
    int fd;          /* readable and writable */
} ganz_replacement;

/* New files have the mode that the process gives to new files; one that replaces another has the mode of that, and its
 * owner where that is allowed. `name` is what the user called it, for messages. */
ganz_status ganz_replacement_open(ganz_replacement *file, const char *name, ganz_error *err);
/* Syncs the file, gives it its name and syncs the folder. */
ganz_status ganz_replacement_finish(ganz_replacement *file, const char *name, ganz_error *err);
/* Ends it in any case; without a finish before, nothing stays. Zeroes with fd -1 are nothing to do. */
void ganz_replacement_close(ganz_replacement *file);

#endif
