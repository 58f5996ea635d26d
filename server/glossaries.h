/* Glossaries that clients have made: in memory, bounded, gone with the server. */
#ifndef GANZ_SERVER_GLOSSARIES_H
#define GANZ_SERVER_GLOSSARIES_H

#include <time.h>

#include "buffer.h"
#include "files.h"

typedef struct glossaries glossaries;

typedef struct glossary_facts {
    char id[FILE_ID + 4]; /* as a UUID */
    char name[128], source[LANGUAGE_BYTES], target[LANGUAGE_BYTES];
    time_t made;
    size_t entries;
} glossary_facts;

ganz_status glossaries_open(glossaries **all, ganz_error *err);
void glossaries_close(glossaries **all);

/* Makes one of lines "source TAB target"; facts->name and languages are given, the rest is filled in. GANZ_EBUSY: there
 * are too many. */
ganz_status glossaries_add(glossaries *all, glossary_facts *facts, const char *tsv, size_t bytes, ganz_error *err);
bool glossaries_remove(glossaries *all, const char *id);
/* The facts of one by its id, or where id is NULL by its number; false: there is none. */
bool glossaries_look(glossaries *all, const char *id, int number, glossary_facts *facts);
bool glossaries_entries(glossaries *all, const char *id, buffer *out);

/* For a job, to be given back; NULL: there is none of that id for these languages. */
const ganz_glossary *glossaries_hold(glossaries *all, const char *id, const char *source, const char *target);
void glossaries_release(glossaries *all, const ganz_glossary *glossary);

#endif
