/* Documents that are translated in the background, and their results until they are fetched. All in memory, bounded. */
#ifndef GANZ_SERVER_FILES_H
#define GANZ_SERVER_FILES_H

#include "job.h"

enum { FILE_ID = 33, FILE_NAME_BYTES = 256 };

typedef struct files files;

typedef enum file_state { FILE_QUEUED, FILE_TRANSLATING, FILE_DONE, FILE_FAILED } file_state;

typedef struct file_facts {
    file_state state;
    size_t done, count;         /* sentences */
    size_t characters;          /* of its bytes, as UTF-8 */
    double seconds;             /* since it came, or that it took */
    ganz_error err;             /* of one that failed */
    char name[FILE_NAME_BYTES]; /* of the result */
} file_facts;

typedef struct file_order {
    const char *bytes; /* copied */
    size_t count;
    const char *name;              /* of the file, "" if it has none */
    model_set *set;                /* held for it until it is done, by the call */
    job job;                       /* its chain is of the set; `gone`, `path` and `progress` are not used */
    struct glossaries *glossaries; /* of job.glossary, which is given back; or NULL */
} file_order;

ganz_status files_open(files **all, int threads, ganz_error *err);
/* Gives up what is not done. */
void files_close(files **all);

/* Takes an order in; false: no room. The set and the glossary are given back in the end either way. */
bool files_add(files *all, const file_order *order, char id[FILE_ID], char key[FILE_ID]);
/* What is known about it; false: nobody knows it. A key that is NULL is not compared. */
bool files_look(files *all, const char *id, const char *key, file_facts *facts);
/* Waits until it is done, or `gone` is set; false: it is not. */
bool files_wait(files *all, const char *id, const ganz_flag *gone, file_facts *facts);
/* The same for so many seconds at most, and not at all when many wait so. */
bool files_wait_a_moment(files *all, const char *id, const ganz_flag *gone, double seconds, file_facts *facts);
/* Forgets it, and gives up its translation; false: nobody knows it. */
bool files_remove(files *all, const char *id);
/* Copies the result; false: there is none. */
bool files_read(files *all, const char *id, const char *key, buffer *out);

/* 32 random hex digits; false: the system has none. */
bool make_id(char id[FILE_ID]);

#endif
