/* Words of the other form of address, which the search for a translation with a mark keeps away from. A mark alone does
 * not do it: "Please sign and send it back" was "unterschreiben Sie" whatever was asked for. */
#ifndef GANZ_TRANSLATE_ADDRESS_H
#define GANZ_TRANSLATE_ADDRESS_H

#include "model/model.h"
#include "translate/search.h"

enum { GANZ_ADDRESS_WORDS = 8 };

/* Of one model. */
typedef struct ganz_address {
    int32_t ids[GANZ_ADDRESS_WORDS];
    int count, inside; /* the first so many are of the other form inside of a sentence only */
    int32_t mark;      /* that asks for another one */
} ganz_address;

/* Looks the words of a model up that was taught both forms; none: nobody knows them for its languages. */
ganz_status ganz_address_find(ganz_address *address, const ganz_model *model, ganz_error *err);

/* What is to be avoided in the translation of a sentence with a mark (-1: none). The ids are the address's. */
ganz_avoided ganz_address_avoided(const ganz_address *address, int32_t mark, const char *text, size_t bytes);

#endif
