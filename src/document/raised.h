/* Raised and lowered text: the 2 of "65 m²" and of "H₂O", the mark of a note. A model sees one word where such text
 * touches another, and the format of a part would spread over all of it; so that the part is carried as it is, or,
 * where letters follow it, the whole word with it. One rule for all formats. */
#ifndef GANZ_DOCUMENT_RAISED_H
#define GANZ_DOCUMENT_RAISED_H

#include "base/base.h"

enum { GANZ_RAISED_BYTES = 24 /* longer text is more than a part of a word */ };

/* True if the text is at most one word, so that it belongs to the word it touches. */
bool ganz_raised_is_part(const char *text, size_t bytes);

/* The end of an English ordinal, which Word raises by itself: "th" of "19th". It is plain text to the model, for other
 * languages have no such thing to raise, and "19" with "th" carried along is no number of theirs. */
bool ganz_raised_is_ordinal(const char *text, size_t bytes);

/* Bytes of the letters and digits at the end of a text, and at its beginning: the rest of a word around such a part. */
size_t ganz_raised_word_before(const char *text, size_t bytes);
size_t ganz_raised_word_after(const char *text, size_t bytes);

#endif
