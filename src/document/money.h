/* Amounts of money: $150m, EUR 4,500, 150 Mio. and the sign of the euro. Each language puts the currency at another
 * side, and models forget it, or what multiplies the number. */
#ifndef GANZ_DOCUMENT_MONEY_H
#define GANZ_DOCUMENT_MONEY_H

#include "document/language.h"
#include "ganz/vocab.h"

typedef struct ganz_amount {
    size_t begin, end;               /* of the text, with currency and multiplier, or a suffix: 800m */
    size_t digits, digits_end;       /* of the number in it */
    size_t currency, currency_bytes; /* as it is written; 0 bytes: there is none, and no multiplier either */
    int currency_row;                /* which one it is */
    int multiplier;                  /* 1: thousand, 2: million, ...; 0: none */
} ganz_amount;

/* The amount that the number at text[digits, digits_end) is in, within [begin, end). */
ganz_amount ganz_amount_around(const char *text, size_t begin, size_t end, size_t digits, size_t digits_end,
                               const ganz_language *source);

/* True if it has a currency and a multiplier, in any language. */
bool ganz_amount_is_multiplied(const char *text, size_t begin, size_t end, size_t digits, size_t digits_end);

typedef enum ganz_amount_telling {
    GANZ_AMOUNT_LOST,   /* the currency or the multiplier is not there */
    GANZ_AMOUNT_TOLD,   /* all is, as the language writes it or in words */
    GANZ_AMOUNT_FOREIGN /* all is, but as another language writes it: $45.00 in German */
} ganz_amount_telling;

/* How a translation tells an amount whose number is at [*begin, *end) in it. If it is not LOST, that is the
 * whole amount then. */
ganz_amount_telling ganz_amount_told(const ganz_amount *amount, const ganz_language *target, const char *translation,
                                     size_t bytes, size_t *begin, size_t *end);

/* Appends an amount as the target language writes it: $5 becomes 5 $, $1,000 1.000 $ and $150m 150 Mio. $; a number
 * alone as ganz_digits_write does, with a suffix as ganz_suffix_write does. False: memory is out. */
bool ganz_amount_write(ganz_text *out, const char *text, size_t bytes, const ganz_language *source,
                       const ganz_language *target);

#endif
