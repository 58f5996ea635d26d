/* What the splitter knows about a language. The lists are our own; words are in lower case, each between spaces. */
#ifndef GANZ_DOCUMENT_LANGUAGE_H
#define GANZ_DOCUMENT_LANGUAGE_H

#include "base/base.h"

enum { GANZ_LISTED_BYTES = 24 /* of the longest word that is looked up */ };

typedef struct ganz_language {
    const char *code;     /* "en" */
    const char *never;    /* abbreviations that no sentence ends with: "dr" */
    const char *numbered; /* those that are abbreviations before a number only: "p" */
    const char *doubtful; /* those that end a sentence only before one of ... */
    const char *starters; /* ... the words that sentences often begin with */
    const char *openers;  /* words in capitals that are hardly ever inside of a sentence: "Although" */
    const char *headings; /* words with which a heading begins: "chapter" 1. */
    const char *clock;    /* words before a number that is no ordinal: "um" 8. */
    bool ordinals;        /* a number with a dot may be an ordinal: "3. Mai" */
} ganz_language;

/* Of a code such as "en", "en-GB" or "de_DE"; never NULL: one with next to no lists for languages not written up yet.
 */
const ganz_language *ganz_language_of(const char *code);

/* True if the word (valid UTF-8) is in the list, whatever its case. */
bool ganz_listed(const char *list, const char *word, size_t bytes);

#endif
