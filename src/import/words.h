/* The entries of a foreign vocabulary by their numbers, from any of the files they are kept in. */
#ifndef GANZ_IMPORT_WORDS_H
#define GANZ_IMPORT_WORDS_H

#include "base/base.h"

enum { GANZ_WORDS_MOST = 1 << 20 };

typedef struct ganz_words { /* starts as zeroes */
    char *block;
    const char **texts; /* (count) in the block; NULL: no entry has this number */
    int count;
    size_t capacity, used, room; /* used and room: bytes of the block, for copies */
} ganz_words;

/* {"entry": number, ...} or ["entry", ...]. `name` is for messages, here and below. */
ganz_status ganz_words_json(ganz_words *words, const char *data, size_t bytes, const char *name, ganz_error *err);
/* entry: number, in YAML whose texts are taken as they are. */
ganz_status ganz_words_yaml(ganz_words *words, const char *data, size_t bytes, const char *name, ganz_error *err);
/* One entry a line. counted: a number follows each, as in fairseq's dictionaries; first: number of the first line. */
ganz_status ganz_words_lines(ganz_words *words, const char *data, size_t bytes, bool counted, int first,
                             const char *name, ganz_error *err);
/* Gives a number a text that lives as long as the list. */
ganz_status ganz_words_set(ganz_words *words, int number, const char *text, const char *name, ganz_error *err);
/* The same with a copy, in room that is made beforehand for all texts with their ends. */
ganz_status ganz_words_reserve(ganz_words *words, size_t bytes, const char *name, ganz_error *err);
ganz_status ganz_words_copy(ganz_words *words, int number, const char *text, size_t bytes, const char *name,
                            ganz_error *err);
int ganz_words_find(const ganz_words *words, const char *text); /* -1: none */
void ganz_words_close(ganz_words *words);

#endif
