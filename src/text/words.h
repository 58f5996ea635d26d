/* Words as BLEU counts them. */
#ifndef GANZ_TEXT_WORDS_H
#define GANZ_TEXT_WORDS_H

#include "ganz/score.h"
#include "text/codepoints.h"

/* Cuts text into words: afterwards it holds them with white space between. `scratch` is overwritten.
 * Out of memory shows in text->failed. */
void ganz_words_split(ganz_score_words how, ganz_codepoints *text, ganz_codepoints *scratch);

#endif
