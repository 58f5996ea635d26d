/* An attempt to have a sentence translated: the line that the model sees, and what became of each guard in it.
 *
 *   text     Send {name} to https://example.org \U0001F600!
 *   line     Send {name} to X1!             the address has a stand-in, the picture is taken out
 *
 * If a guard does not come back exactly once, the next attempt shows it in another form; taken out it cannot be lost.
 */
#ifndef GANZ_DOCUMENT_ATTEMPT_H
#define GANZ_DOCUMENT_ATTEMPT_H

#include "document/casing.h"
#include "document/clock.h"
#include "document/glossary.h"
#include "document/guard.h"
#include "document/parts.h"

enum { GANZ_ITEMS = 64 /* guards of one sentence, lists of them counted once; one with more is not translated */ };
enum { GANZ_ATTEMPTS = 5 /* as it is, as the glossary has it, under a name, taken out; then without any guard */ };

/* What all sentences of a document share. */
typedef struct ganz_setting {
    const ganz_language *source, *target;
    bool latin;                    /* letters of other scripts are foreign in the source */
    const ganz_glossary *glossary; /* or NULL */
    const ganz_clock_way *clock;   /* or NULL */
} ganz_setting;

typedef enum ganz_form {
    GANZ_FORM_PLAIN, /* as it is in the text */
    GANZ_FORM_TERM,  /* already in the other language, as the glossary has it */
    GANZ_FORM_NAME,  /* X1 */
    GANZ_FORM_OUT    /* not in the line */
} ganz_form;

typedef struct ganz_item {
    ganz_guard guard;          /* of a number in an amount also the whole amount, once that is taken out */
    size_t digits, digits_end; /* of the number alone */
    ganz_form form;
    char name[8];                    /* its stand-in */
    size_t line_begin, line_end;     /* in the line */
    size_t target_begin, target_end; /* in the translation, where it came back */
    bool found;                      /* it did, exactly once */
    bool kept;                       /* and the translation's own way of writing it is right */
} ganz_item;

typedef struct ganz_attempt {
    ganz_text line;
    uint32_t *
        places; /* (line.bytes) byte of the sentence that each byte of the line comes from, from the sentence's begin */
    size_t place_capacity;
    ganz_item items[GANZ_ITEMS]; /* in the order of the text */
    size_t item_count;
    ganz_letters letters;
    bool words; /* outside of guards */
    int round;
} ganz_attempt;

typedef enum ganz_attempt_found {
    GANZ_ATTEMPT_WORDS,   /* there is something to translate */
    GANZ_ATTEMPT_NOTHING, /* there is not: no words outside of guards, or too many guards */
    GANZ_ATTEMPT_MEMORY   /* is out */
} ganz_attempt_found;

/* Finds the guards of a sentence and chooses their first forms. */
ganz_attempt_found ganz_attempt_begin(ganz_attempt *attempt, const ganz_setting *setting, const ganz_stretch *sentence);
void ganz_attempt_free(ganz_attempt *attempt);

/* Makes the line of the items' forms. False: memory is out. */
bool ganz_attempt_line(ganz_attempt *attempt, const ganz_setting *setting, const ganz_stretch *sentence);

/* True if links are needed to put back what is not in the line. */
bool ganz_attempt_needs_links(const ganz_attempt *attempt);

/* The byte of the block's text that byte `at` of the line comes from; and, for the end of a range, the one behind what
 * the byte before `at` comes from. */
size_t ganz_attempt_place(const ganz_attempt *attempt, const ganz_stretch *sentence, size_t at);
size_t ganz_attempt_place_end(const ganz_attempt *attempt, const ganz_stretch *sentence, size_t at);

/* Looks for the items in a translation of the line. True: each that was in the line came back exactly once; else those
 * that did not have another form for the next attempt. */
bool ganz_attempt_check(ganz_attempt *attempt, const ganz_setting *setting, const ganz_stretch *sentence,
                        const char *text, size_t bytes);

/* True if something else is written for it than it is in the text. */
bool ganz_guard_changes(const ganz_guard *guard);

/* What an item is in the line; NULL, 0: nothing. */
const char *ganz_item_shown(const ganz_item *item, const ganz_block *block, size_t *bytes);

/* Where the word that begins at a place of text [begin, end) ends if it is longer than any of a language: translators
 * copy it, and nobody looks for anything in it. Else, and inside of a word, the place itself. */
size_t ganz_behind_endless(const char *text, size_t begin, size_t end, size_t at);

#endif
