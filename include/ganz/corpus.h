/* Parallel text to a training corpus: encoded once, then read piece by piece by every training run. */
#ifndef GANZ_CORPUS_H
#define GANZ_CORPUS_H

#include <stdbool.h>

#include "ganz/vocab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies of pairs that can be added, to teach text that corpora seldom hold. */
typedef enum ganz_copy_kind {
    GANZ_COPY_UPPER,    /* both sides in capitals */
    GANZ_COPY_LOWER,    /* the source in small letters */
    GANZ_COPY_TITLE,    /* the source with a capital at the beginning of each word */
    GANZ_COPY_BARE,     /* both sides without the mark that ends their sentence; where both have one */
    GANZ_COPY_JOINED,   /* with the next pair of the files behind it; where both sides end a sentence */
    GANZ_COPY_INSERTED, /* with the same line of a file before or behind both sides: emoji, names, other scripts */
    GANZ_COPY_QUOTES,   /* the source with straight quotes for its curly ones, or else curly for straight ones */
    GANZ_COPY_INITIAL,  /* both sides with a capital as their first letter; where one of them has a small one */
    GANZ_COPY_KINDS
} ganz_copy_kind;

/* "upper", "lower", "title", "bare", "joined", "inserted", "quotes", "initial" */
GANZ_API const char *ganz_copy_name(ganz_copy_kind kind);

/* One pair of files, line by line translations of each other; plain or compressed, "-" is standard input. */
typedef struct ganz_corpus_input {
    const char *source, *target;
    double weight;   /* how often each of its pairs comes in an epoch, on average: 1, 6, 0.5; over 0, to 1000 */
    const char *tag; /* a mark of the vocabulary (ganz_vocab_mark) to put before each source; NULL: none */
    double copies[GANZ_COPY_KINDS]; /* share of the pairs that get a copy of each kind, 0 to 1 */
    double formality; /* share of pairs with a clear form of address that get its mark before the source, 0 to 1 */
} ganz_corpus_input;

typedef enum ganz_invalid {
    GANZ_INVALID_ERROR,  /* text that is not UTF-8 ends the work */
    GANZ_INVALID_DROP,   /* the pair is dropped */
    GANZ_INVALID_REPLACE /* each invalid part becomes U+FFFD */
} ganz_invalid;

typedef struct ganz_prepare_options {
    int min_length, max_length; /* tokens of each side with its end mark; a max_length of 0 is no limit */
    double max_ratio;           /* of the longer side to the shorter, in tokens; 0 is no limit */
    bool dedupe;                /* drop a pair whose two texts came before */
    bool drop_identical;        /* drop a pair whose target is its source */
    ganz_invalid invalid;
    const char *insert_from; /* file whose lines GANZ_COPY_INSERTED takes; NULL: no such copies */
    const char *formality;   /* file of words of address (docs/FORMALITY.md); NULL: no marks of formality */
    uint64_t seed;           /* which pairs get copies and marks of formality */
    int threads;             /* 0: one for each core; the file is the same for any number */
    const ganz_flag *stop;   /* looked at after each block of lines; or NULL */
    /* Called now and then with the pairs read so far. May be NULL. */
    void (*progress)(void *context, long long pairs);
    void *context;
} ganz_prepare_options;

/* Each pair that is read is counted once more: under the first reason to drop it, or as kept. */
typedef struct ganz_prepare_counts {
    long long read, invalid, empty, identical, too_short, too_long, ratio, duplicate, kept;
    long long repaired;                     /* kept pairs with replaced parts */
    long long copies;                       /* of kept pairs */
    long long formal, informal;             /* kept pairs whose target is plainly so; counted where marks are given */
    long long marked;                       /* kept pairs and copies with a mark of formality */
    long long source_tokens, target_tokens; /* kept and of copies; end marks and tags included */
} ganz_prepare_counts;

/* Only pairs with an empty side are dropped. */
GANZ_API void ganz_prepare_defaults(ganz_prepare_options *options);

/* Reads the inputs in order, strips both sides, cleans, encodes, and writes a corpus file. counts has a
 * place for each input. On failure no file appears. */
GANZ_API ganz_status ganz_corpus_prepare(const char *path, const ganz_vocab *vocab, const ganz_corpus_input *inputs,
                                         int count, const ganz_prepare_options *options, ganz_prepare_counts *counts,
                                         ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
