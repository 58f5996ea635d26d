/* A vocabulary from token counts, by Tensor2Tensor's rule: build for a threshold, search the threshold. */
#ifndef GANZ_TEXT_LEARN_H
#define GANZ_TEXT_LEARN_H

#include "text/suffixes.h"

/* Appends the vocabulary's file to *file (NULL: only counts) and sets *size. min_count >= 1; the tokens hold no
 * newline. */
ganz_status ganz_learn_build(const ganz_suffixes *s, int64_t min_count, ganz_text *file, size_t *size, ganz_error *err);

/* The threshold in [1, 1000] whose vocabulary comes closest to the target, by bisection. Where that is more than 2%
 * off, and unless how->nearest, the next larger vocabulary loses its rarest entries instead. `progress` may be NULL. */
ganz_status ganz_learn_search(const ganz_suffixes *s, const ganz_vocab_learning *how, ganz_vocab_progress *progress,
                              ganz_text *file, ganz_error *err);

#endif
