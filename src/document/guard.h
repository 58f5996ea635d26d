/* Guards: the parts of a sentence that must come out of a translation as they are, or with what a glossary says.
 *
 *   Send {name} to https://example.org/a?b=1 before 15.30, not to info@example.org!
 *        ^^^^^^    ^^^^^^^^^^^^^^^^^^^^^^^^^        ^^^^^         ^^^^^^^^^^^^^^^^ */
#ifndef GANZ_DOCUMENT_GUARD_H
#define GANZ_DOCUMENT_GUARD_H

#include "base/base.h"

typedef enum ganz_guard_kind {
    GANZ_GUARD_ADDRESS, /* URL, e-mail address, path, file name */
    GANZ_GUARD_CODE,    /* `x + 1`, --option, some_name, a.b() */
    GANZ_GUARD_HOLDER,  /* a place for something: %s, {name}, ${x} */
    GANZ_GUARD_SIGN,    /* emoji, and signs that models do not know */
    GANZ_GUARD_SCRIPT,  /* words in another script */
    GANZ_GUARD_NUMBER,  /* its digits must stay, its points and commas follow the language */
    GANZ_GUARD_RESULTS, /* of a match, several in a row: their numbers must stay */
    GANZ_GUARD_OPAQUE,  /* a run of the block that is not translated */
    GANZ_GUARD_TERM,    /* of a glossary */
    GANZ_GUARD_LIST,    /* many guards with signs between them, as one */
    GANZ_GUARD_CLOCK    /* a time of day that the other language writes in another way */
} ganz_guard_kind;

typedef struct ganz_guard {
    ganz_guard_kind kind;
    size_t begin, end;            /* of the text it was found in */
    const struct ganz_run *run;   /* of an opaque word */
    const struct ganz_term *term; /* of a glossary */
} ganz_guard;

typedef struct ganz_guards {
    ganz_guard *items; /* rising, apart from each other */
    size_t count, capacity;
} ganz_guards;

/* Appends what of text [begin, end), valid UTF-8, is to be guarded; `latin`: letters of other scripts are foreign here.
 * The last four are not found here. False: memory is out. */
bool ganz_guards_find(ganz_guards *guards, const char *text, size_t begin, size_t end, bool latin);

/* True if a letter of the text is not in a guard: there is something to translate. */
bool ganz_guards_leave_words(const ganz_guards *guards, const char *text, size_t begin, size_t end);

#endif
