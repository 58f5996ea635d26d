/* BLEU and chrF from counts, and the counts of one segment. Public calls: ganz/score.h. */
#ifndef GANZ_TEXT_METRIC_H
#define GANZ_TEXT_METRIC_H

#include "ganz/score.h"
#include "text/codepoints.h"
#include "text/ngram.h"

enum {
    GANZ_BLEU_ORDERS = 4,
    GANZ_CHRF_ORDERS = 6,
    GANZ_BLEU_COUNTS = 2 + 2 * GANZ_BLEU_ORDERS, /* words of hyp, of ref, matches of each order, n-grams of each */
    GANZ_CHRF_COUNTS = 3 * GANZ_CHRF_ORDERS      /* for each order: n-grams of hyp, of ref, matches */
};

/* A word of the segment at hand. */
typedef struct ganz_word {
    const int32_t *at;
    size_t count;
    int32_t *id; /* where its number belongs */
} ganz_word;

/* Room for one segment; start with zeroes. */
typedef struct ganz_segment {
    ganz_codepoints hyp, ref, scratch;
    ganz_ngrams ngrams;
    ganz_word *words;
    int32_t *ids;
    size_t words_capacity, ids_capacity;
} ganz_segment;

void ganz_segment_free(ganz_segment *segment);

/* Counts of the texts in segment->hyp and ->ref, which are used up. False when memory is out. */
bool ganz_bleu_count(ganz_segment *segment, ganz_score_words words, int32_t counts[GANZ_BLEU_COUNTS]);
bool ganz_chrf_count(ganz_segment *segment, int32_t counts[GANZ_CHRF_COUNTS]);

/* The score of counts summed over segments. */
ganz_score ganz_bleu_of(const int64_t counts[GANZ_BLEU_COUNTS], ganz_score_words words);
ganz_score ganz_chrf_of(const int64_t counts[GANZ_CHRF_COUNTS]);

/* What one system has gathered. */
struct ganz_scorer {
    ganz_score_settings settings;
    int width;       /* counts of a segment */
    int32_t *counts; /* (segments, width) */
    size_t segments, capacity;
    ganz_segment segment;
};

/* ganz_bleu_of or ganz_chrf_of, by the settings. */
ganz_score ganz_score_of(const ganz_score_settings *settings, const int64_t *counts);

#endif
