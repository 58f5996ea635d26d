/* What detect.c knows about languages: their frequent trigrams. */
#ifndef GANZ_TEXT_PROFILES_H
#define GANZ_TEXT_PROFILES_H

#include "base/base.h"

typedef struct ganz_profile {
    const char *language; /* "en"; NULL ends a list */
    const char *text[2];  /* a number, 2 * -ln of how frequent the trigrams behind it are; trigrams; the next number */
} ganz_profile;

extern const ganz_profile ganz_profiles_latin[];
extern const ganz_profile ganz_profiles_other[];

#endif
