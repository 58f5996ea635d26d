/* How the target of a pair addresses its reader, by a file of words: formal, informal, neither, or not clear. Pairs
 * that are clear get a mark before their source, so that a model learns to follow it. The file is described in
 * docs/FORMALITY.md; recipes/formality-en-de.txt is one. */
#ifndef GANZ_TRAIN_FORMALITY_H
#define GANZ_TRAIN_FORMALITY_H

#include "train/augment.h"

typedef enum ganz_form {
    GANZ_FORM_FORMAL,
    GANZ_FORM_INFORMAL,
    GANZ_FORM_NEUTRAL, /* nobody is addressed */
    GANZ_FORM_UNCLEAR  /* both forms, or words that may mean another person */
} ganz_form;

enum { GANZ_MARK_BYTES = 32 }; /* longest name of a mark, with its end */

/* Words of one language, each once, sorted by length, then bytes. */
typedef struct ganz_address_words {
    struct ganz_address_word *words;
    size_t count, capacity;
} ganz_address_words;

typedef struct ganz_formality_rules {
    char marks[2][GANZ_MARK_BYTES]; /* by GANZ_FORM_FORMAL and GANZ_FORM_INFORMAL */
    double neutral;                 /* share of neutral pairs that get one of the marks, either as likely */
    ganz_address_words source, target;
    ganz_text text; /* of the words */
} ganz_formality_rules;

/* Reads a file of at most 64 KiB; the caller frees. */
ganz_status ganz_formality_read(ganz_formality_rules *rules, const char *path, ganz_error *err);
void ganz_formality_free(ganz_formality_rules *rules);

/* The form of a pair. `lower` is room for the source in small letters. False when memory is out. */
bool ganz_formality_judge(const ganz_formality_rules *rules, const ganz_pair_text *pair, ganz_text *lower,
                          ganz_form *form);

/* Which mark (0 or 1) a pair of this form gets, or -1. `share` is that of pairs with a clear form; `copy` is 0 for the
 * pair itself and another number for each copy of it. */
int ganz_formality_draw(const ganz_formality_rules *rules, ganz_form form, double share, const ganz_draw *draw,
                        int copy);

#endif
