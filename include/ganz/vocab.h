/* Vocabularies: text to ids and back, and learning one from text. Tensor2Tensor's subwords are the kind that is
 * learned; pieces of SentencePiece models are another. */
#ifndef GANZ_VOCAB_H
#define GANZ_VOCAB_H

#include <stdbool.h>

#include "ganz/ganz.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ids of every vocabulary: padding, the end mark, and the first that stands for text. */
enum { GANZ_PAD = 0, GANZ_EOS = 1, GANZ_FIRST_TEXT_ID = 2 };

/* The language a text is in. A vocabulary may treat the two differently; Tensor2Tensor's subwords do not. */
typedef enum ganz_side { GANZ_SOURCE, GANZ_TARGET } ganz_side;

/* Immutable once open: any number of threads may encode and decode with one. */
typedef struct ganz_vocab ganz_vocab;

/* Growing results, owned by the caller; start with zeroes, reuse freely. */
typedef struct ganz_ids {
    int32_t *ids;
    size_t count, capacity;
} ganz_ids;
typedef struct ganz_text {
    char *text; /* not terminated */
    size_t bytes, capacity;
} ganz_text;
GANZ_API void ganz_ids_free(ganz_ids *ids);
GANZ_API void ganz_text_free(ganz_text *text);

/* Reads a vocabulary file: one entry a line, in the order of the ids, in quotes as Tensor2Tensor writes it or without.
 * The first two are '<pad>_' and '<EOS>_'. Every character that occurs is an entry itself, and so is each of
 * \ _ u ; 0-9, so that any text can be encoded. Of two equal entries the later id is used. At most 16 MiB.
 * Or a SentencePiece model (unigram, BPE or char), recognised by its first bytes: padding and end mark, then its pieces
 * in their order. At most 64 MiB. */
GANZ_API ganz_status ganz_vocab_open(ganz_vocab **vocab, const char *path, ganz_error *err);
/* The same from memory; `name` is for messages. The text need not outlive the call. */
GANZ_API ganz_status ganz_vocab_parse(ganz_vocab **vocab, const char *text, size_t bytes, const char *name,
                                      ganz_error *err);
/* Either, or the vocabulary within a model file. */
GANZ_API ganz_status ganz_vocab_open_any(ganz_vocab **vocab, const char *path, ganz_error *err);
GANZ_API void ganz_vocab_close(ganz_vocab **vocab);

/* Entries; where the languages have lists of their own, those of the target. */
GANZ_API int ganz_vocab_size(const ganz_vocab *vocab);
/* Entries of one side: its ids are below. */
GANZ_API int ganz_vocab_side_size(const ganz_vocab *vocab, ganz_side side);
/* "subwords" or "pieces" */
GANZ_API const char *ganz_vocab_kind_name(const ganz_vocab *vocab);
/* The vocabulary as its file's text; lives as long as the vocabulary. NULL for a kind that is no text file. */
GANZ_API const char *ganz_vocab_file(const ganz_vocab *vocab, size_t *bytes);

/* The name of a label, by its number from 0: deu where >>deu<< in front of a source asks for that language. NULL: there
 * are no more. */
GANZ_API const char *ganz_vocab_label(const ganz_vocab *vocab, int number);

/* The id of a mark, an entry like '<bt>_' that no text is ever encoded to; `name` is <bt>. -1: there is none. */
GANZ_API int ganz_vocab_mark(const ganz_vocab *vocab, const char *name);

/* Appends the ids of a sentence as models read it: without white space at its ends, and with an end mark (but sources
 * of some imported models have none). A blank one gives the end mark alone. GANZ_EINVAL when the text is not UTF-8. */
GANZ_API ganz_status ganz_vocab_encode_sentence(const ganz_vocab *vocab, ganz_side side, const char *text, size_t bytes,
                                                ganz_ids *out, ganz_error *err);
/* Appends the ids of a text as it is, white space and all, without an end mark. GANZ_EINVAL when it is not UTF-8. */
GANZ_API ganz_status ganz_vocab_encode(const ganz_vocab *vocab, ganz_side side, const char *text, size_t bytes,
                                       ganz_ids *out, ganz_error *err);
/* Appends the text of some ids; ids out of range give nothing, as in Tensor2Tensor. */
GANZ_API ganz_status ganz_vocab_decode(const ganz_vocab *vocab, ganz_side side, const int32_t *ids, size_t count,
                                       ganz_text *out, ganz_error *err);

/* ---- learning ----------------------------------------------------------------------------------- */

/* What has been done so far: after each file, and after each vocabulary that was tried. */
typedef struct ganz_vocab_progress {
    long long lines, characters; /* taken as the sample */
    long long tokens;            /* different ones among them */
    int tried, min_count, size;  /* vocabularies tried; the last one's threshold and size; 0 while reading */
} ganz_vocab_progress;

typedef struct ganz_vocab_learning {
    int target_size;          /* 32768 */
    long long sample_chars;   /* of each file: 1000000; 0 takes all text */
    int max_length;           /* 200: the longest entry has one character less */
    bool nearest;             /* false: a size more than 2% off is cut to target_size, by the rarest entries that are no
                               * single characters; true: the nearest size that the search finds, as Tensor2Tensor */
    bool replace_invalid;     /* false: text that is not UTF-8 is an error; true: it becomes U+FFFD */
    const char *const *marks; /* (mark_count) entries to follow <EOS>, each <, small letters and digits, >; see
                               * ganz_vocab_mark */
    int mark_count;
    const ganz_flag *stop; /* looked at between lines, and between vocabularies that are tried; or NULL */
    void (*progress)(void *context, const ganz_vocab_progress *progress); /* or NULL */
    void *context;
} ganz_vocab_learning;

GANZ_API void ganz_vocab_learning_defaults(ganz_vocab_learning *how);

/* Learns a vocabulary as Tensor2Tensor does (but see `nearest`). From each file, in the order given, it takes every
 * (k+1)-th line until sample_chars characters are together, where k = floor(file bytes / sample_chars / 2). The bytes
 * of a compressed file are those of its text. Standard input and pipes have no size: they need sample_chars 0. */
GANZ_API ganz_status ganz_vocab_learn(ganz_vocab **vocab, const char *const *paths, int count,
                                      const ganz_vocab_learning *how, ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
