/* The door to text inside the library: what a kind of vocabulary must be able to do. The calls of ganz/vocab.h go
 * through it. Tensor2Tensor's subwords are one kind (subwords.c), pieces of SentencePiece models another (pieces.c).
 *
 * Another kind is one file with a ganz_vocab_kind, and a line in the table of vocab.c. It may have a tokenizer and a
 * list of entries for each language; it numbers GANZ_PAD and GANZ_EOS as every vocabulary does, whatever its own files
 * say. */
#ifndef GANZ_TEXT_VOCAB_H
#define GANZ_TEXT_VOCAB_H

#include "ganz/io.h"
#include "ganz/vocab.h"

/* Text of one of the two languages. */
typedef struct ganz_passage {
    const char *text;
    size_t bytes;
    ganz_side side;
} ganz_passage;

/* Ids of one of the two languages. */
typedef struct ganz_id_span {
    const int32_t *ids;
    size_t count;
    ganz_side side;
} ganz_id_span;

/* A growing list of byte offsets. Start with zeroes; freed by ganz_places_free. */
typedef struct ganz_places {
    size_t *begin;
    size_t count, capacity;
} ganz_places;
void ganz_places_free(ganz_places *places);

/* Appends ids from 0 to most - 1 that are written down as numbers with a space between two, and leaves room for one
 * more; no byte behind the text is looked at. GANZ_EFORMAT, with as many as were read, if it is anything else. */
ganz_status ganz_ids_read(const char *text, size_t bytes, int most, ganz_ids *out);

/* ---- kinds -------------------------------------------------------------------------------------- */

/* A block of bytes that a model file keeps under this name. */
typedef struct ganz_vocab_part {
    const char *name;
    const void *data;
    size_t bytes;
} ganz_vocab_part;
enum { GANZ_VOCAB_PARTS = 4 }; /* most of one kind */

/* Where a kind finds the parts it was saved as. */
typedef struct ganz_vocab_store {
    const char *name; /* for messages */
    bool (*has)(void *context, const char *part);
    ganz_status (*get)(void *context, const char *part, const char **data, size_t *bytes, ganz_error *err);
    void *context;
} ganz_vocab_store;

typedef struct ganz_vocab_kind {
    const char *name; /* in the metadata of model files */
    /* Opens a vocabulary from its parts, which need not outlive the call. */
    ganz_status (*load)(ganz_vocab **vocab, const ganz_vocab_store *store, ganz_error *err);
    /* Its parts, which live as long as it does; returns how many. */
    int (*parts)(const ganz_vocab *vocab, ganz_vocab_part parts[GANZ_VOCAB_PARTS]);
    /* Appends the ids of valid UTF-8, without an end mark. places (or NULL) gets, for each id, the offset in the text
     * of the token that it is a part of. On failure `out` is as before. */
    ganz_status (*encode)(const ganz_vocab *vocab, const ganz_passage *passage, ganz_ids *out, ganz_places *places,
                          ganz_error *err);
    /* Appends the text of ids. begin (count, or NULL) gets, for each id, the offset in `out` of the token that it is a
     * part of. On failure `out` is as before. */
    ganz_status (*decode)(const ganz_vocab *vocab, const ganz_id_span *ids, ganz_text *out, size_t *begin,
                          ganz_error *err);
    /* The name of a label by its number, NULL: there are no more; or NULL where there are none. */
    const char *(*label)(const ganz_vocab *vocab, size_t number);
    void (*close)(ganz_vocab *vocab);
} ganz_vocab_kind;

extern const ganz_vocab_kind ganz_subwords, ganz_pieces;
/* The vocabulary file of subwords. */
ganz_status ganz_subwords_open(ganz_vocab **vocab, const char *path, ganz_error *err);

/* The beginning of every kind's own structure. */
struct ganz_vocab {
    const ganz_vocab_kind *kind;
    int size[2];      /* entries of each side */
    bool bare_source; /* sentences of the source language get no end mark; the kinds leave it false */
};

/* The kind of a name; NULL: none. */
const ganz_vocab_kind *ganz_vocab_find_kind(const char *name);

/* ---- vocabularies ------------------------------------------------------------------------------- */

/* Checksum of all parts, by which corpora know their vocabulary. */
uint64_t ganz_vocab_checksum(const ganz_vocab *vocab);
/* Whether two vocabularies give every text the same ids: they have the same kind and the same parts, and both or none
 * have bare sources. */
bool ganz_vocab_equal(const ganz_vocab *a, const ganz_vocab *b);

/* ganz_vocab_encode_sentence for the line that was just read from `lines`, which an error names. */
ganz_status ganz_vocab_encode_line(const ganz_vocab *vocab, const ganz_lines *lines, const ganz_passage *passage,
                                   ganz_ids *out, ganz_error *err);
/* ganz_vocab_encode_sentence, with the offsets of its tokens in the text; the end mark has none. */
ganz_status ganz_vocab_find_tokens(const ganz_vocab *vocab, const ganz_passage *passage, ganz_ids *out,
                                   ganz_places *places, ganz_error *err);
/* How many ids of a sentence (one at least) stand for text: all but the end mark, which may be missing. */
size_t ganz_ids_before_end(const int32_t *ids, size_t count);
/* ganz_vocab_decode, with the offsets in `out` of the tokens that ids are part of. begin (count) or NULL. */
ganz_status ganz_vocab_decode_places(const ganz_vocab *vocab, const ganz_id_span *ids, ganz_text *out, size_t *begin,
                                     ganz_error *err);

#endif
