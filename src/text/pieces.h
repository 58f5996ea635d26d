/* A kind of vocabulary: pieces of SentencePiece models, numbered by lists of their own, as translation models of others
 * have them. Model files keep it as `tokenizer` "pieces" (docs/FORMAT.md).
 *
 * Text is cut by the model of its side; a list says which id each piece has, and what it does not have is unknown.
 * Without a SentencePiece model the words of a text, between white space, are its pieces. */
#ifndef GANZ_TEXT_PIECES_H
#define GANZ_TEXT_PIECES_H

#include "text/vocab.h"

/* Entries of one side in the order of their ids. Entry GANZ_PAD is padding (add one where the model has none), entry
 * GANZ_EOS the end mark, whatever they are called there: <pad>, </s> and <unk> are written for the three. */
typedef struct ganz_piece_list {
    const char *const *texts; /* (count) UTF-8 of at least one byte, terminated */
    int count;
    int unknown; /* id for what the list does not have: at least 2 */
} ganz_piece_list;

/* By side (GANZ_SOURCE, GANZ_TARGET). */
typedef struct ganz_pieces_from {
    const void *spm[2]; /* bytes of .spm files. Target NULL: as the source. Source NULL: words between white space */
    size_t spm_bytes[2];
    ganz_piece_list list[2]; /* source's count 0: one list for both, the target's */
} ganz_pieces_from;

/* Everything is copied; `name` is for messages. Entries must differ, must be UTF-8 and have at most 4,096 bytes. */
ganz_status ganz_pieces_open(ganz_vocab **vocab, const ganz_pieces_from *from, const char *name, ganz_error *err);
/* A SentencePiece model alone, for both sides: padding, the end mark, then its pieces in their order. */
ganz_status ganz_pieces_open_spm(ganz_vocab **vocab, const void *spm, size_t bytes, const char *name, ganz_error *err);

#endif
