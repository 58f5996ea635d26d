/* The corpus file: a container (model/container.h) with the metadata
 *
 *   format "ganz corpus", version "1", vocab_size, source_vocab_size if it differs,
 *   vocab_checksum (XXH3 of the vocabulary file, hexadecimal),
 *   pairs, source_tokens, target_tokens, and formal_mark and informal_mark (names of marks) if sources have them
 *
 * and the tensors
 *
 *   ids            (n) U16, or I32 when a vocabulary is larger than 65,536: source and target of each pair one
 *                  after the other, each with its end mark (sources of bare_source vocabularies have none); pads at
 *                  the end up to a multiple of 64 bytes
 *   begin          (pairs + 1) U64: where each pair begins in ids
 *   group_begin    (groups + 1) U64: the first pair of each group (one input of `ganz prepare`)
 *   group_weight   (groups) F64: how often a pair of the group comes in an epoch, on average
 *   source_length  (pairs) U32: ids of the source
 */
#ifndef GANZ_TRAIN_CORPUS_H
#define GANZ_TRAIN_CORPUS_H

#include "ganz/vocab.h"
#include "model/container.h"

#define GANZ_MAX_WEIGHT 1000.0

/* ---- reading ------------------------------------------------------------------------------------ */

typedef struct ganz_corpus {
    ganz_container *file;
    int vocab_size, source_vocab_size; /* entries; of sources, where they have a list of their own */
    uint64_t vocab_checksum;
    uint32_t pairs;
    uint64_t source_tokens, target_tokens;
    const char *formal_mark, *informal_mark; /* in front of sources, of the file; NULL: none */
    int groups;
    const ganz_entry *ids;   /* (n) of id_bytes each; they stay in the file */
    size_t id_bytes;         /* 2 or 4 */
    uint64_t *begin;         /* (pairs + 1); these four are copies, so that what was checked stays as it is */
    uint32_t *source_length; /* (pairs) */
    uint64_t *group_begin;   /* (groups + 1) */
    double *group_weight;    /* (groups) */
} ganz_corpus;

/* Opens a corpus, compares it with its checksums and checks it; only whether ids are in the vocabulary is left to be
 * checked when they are used. Whatever is done to the file afterwards is survived. */
ganz_status ganz_corpus_open(ganz_corpus **corpus, const char *path, ganz_error *err);
void ganz_corpus_close(ganz_corpus **corpus);

/* Refuses a corpus that was made with another vocabulary. */
ganz_status ganz_corpus_fits(const ganz_corpus *corpus, const ganz_vocab *vocab, ganz_error *err);

/* Tokens of the two sides of a pair. */
static inline uint32_t ganz_corpus_source(const ganz_corpus *c, uint32_t pair) { return c->source_length[pair]; }
static inline uint32_t ganz_corpus_target(const ganz_corpus *c, uint32_t pair)
{
    return (uint32_t)(c->begin[pair + 1] - c->begin[pair]) - c->source_length[pair];
}
/* Reads a pair's ids; refused when one is outside the vocabulary, or when the file cannot be read any more. */
ganz_status ganz_corpus_ids(const ganz_corpus *corpus, uint32_t pair, int32_t *source, int32_t *target,
                            ganz_error *err);

/* ---- writing, pair by pair ---------------------------------------------------------------------- */

typedef struct ganz_corpus_writer ganz_corpus_writer;

/* The vocabulary of a corpus. */
typedef struct ganz_corpus_vocab {
    int size[2]; /* entries of source and target */
    uint64_t checksum;
} ganz_corpus_vocab;
ganz_corpus_vocab ganz_corpus_vocab_of(const ganz_vocab *vocab);

ganz_status ganz_corpus_writer_open(ganz_corpus_writer **writer, const char *path, const ganz_corpus_vocab *vocab,
                                    ganz_error *err);
/* Notes the marks of formality, once, before the first pair. */
ganz_status ganz_corpus_writer_marks(ganz_corpus_writer *writer, const char *formal, const char *informal,
                                     ganz_error *err);
/* Begins a group; the first pair needs one. */
ganz_status ganz_corpus_writer_group(ganz_corpus_writer *writer, double weight, ganz_error *err);
/* Ids with their end marks; neither side may be empty. */
ganz_status ganz_corpus_writer_add(ganz_corpus_writer *writer, const int32_t *source, size_t source_length,
                                   const int32_t *target, size_t target_length, ganz_error *err);
ganz_status ganz_corpus_writer_finish(ganz_corpus_writer **writer, ganz_error *err);
void ganz_corpus_writer_abandon(ganz_corpus_writer **writer);

/* ---- texts seen before -------------------------------------------------------------------------- */

/* A set of 64-bit hashes; zeroes are an empty one. Two of ten million different texts have the same hash
 * with a probability of 3e-6. */
typedef struct ganz_seen {
    uint64_t *slots; /* (capacity), 0 is free */
    size_t capacity, count;
} ganz_seen;
/* Adds a hash; *before says whether it was there. False when memory is out. */
bool ganz_seen_add(ganz_seen *seen, uint64_t hash, bool *before);
void ganz_seen_free(ganz_seen *seen);

#endif
