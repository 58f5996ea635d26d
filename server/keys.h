/* API keys: a file with one a line. */
#ifndef GANZ_SERVER_KEYS_H
#define GANZ_SERVER_KEYS_H

#include <stdint.h>

#include "ganz/ganz.h"

typedef struct keys keys;
/* Blank lines and those that begin with # are skipped; what follows a key behind white space is a remark. */
ganz_status keys_open(keys **all, const char *path, ganz_error *err);
void keys_close(keys **all);
/* Whether it is one of them; *client is a number for it. */
bool keys_know(const keys *all, const char *key, uint64_t *client);

#endif
