/* Scores of translations: corpus BLEU and chrF2, equal to sacrebleu 2.x and to Tensor2Tensor's t2t-bleu, and
 * paired bootstrap resampling between systems.
 *
 * Texts are compared as they stand, detokenised, one reference each. Character classes come from utf8proc
 * (Unicode 15 in version 2.8); the `regex` package behind sacrebleu's intl and Python itself may know another
 * version, which shows only in characters assigned between the two. */
#ifndef GANZ_SCORE_H
#define GANZ_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ganz/ganz.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ganz_metric {
    GANZ_BLEU, /* up to 4-grams of words, exponential smoothing, no effective order */
    GANZ_CHRF  /* chrF2: up to 6-grams of characters without white space, beta 2, effective order */
} ganz_metric;

/* How BLEU finds words. Lines are stripped of white space on the right first, but not for t2t. */
typedef enum ganz_score_words {
    GANZ_WORDS_13A,  /* mteval-v13a, sacrebleu's default: ASCII punctuation */
    GANZ_WORDS_INTL, /* mteval-v14 international: Unicode punctuation and symbols */
    GANZ_WORDS_T2T   /* t2t-bleu: like intl, but digits are Nd alone and a backslash is no punctuation. Its score
                        leaves out empty orders and smooths even when nothing matches. */
} ganz_score_words;

typedef struct ganz_score_settings {
    ganz_metric metric;
    ganz_score_words words; /* BLEU only */
    bool lowercase;         /* full Unicode lowercase, as Python's str.lower() */
} ganz_score_settings;

enum { GANZ_SCORE_ORDERS = 6 };

typedef struct ganz_score {
    double score;                         /* 0 to 100 */
    int orders;                           /* 4 (BLEU) or 6 (chrF) entries below */
    double precisions[GANZ_SCORE_ORDERS]; /* 0 to 100; for BLEU smoothed */
    double recalls[GANZ_SCORE_ORDERS];    /* 0 to 100; chrF only */
    double bp;                            /* brevity penalty; 1 for chrF */
    long long sys_len, ref_len;           /* words (BLEU) or characters (chrF) */
} ganz_score;

/* ---- one system: counts for each segment -------------------------------------------------------- */

typedef struct ganz_scorer ganz_scorer;

GANZ_API ganz_status ganz_scorer_open(ganz_scorer **scorer, const ganz_score_settings *settings, ganz_error *err);
GANZ_API void ganz_scorer_close(ganz_scorer **scorer);

/* Adds a segment. The texts may hold any valid UTF-8, newlines and NUL too; GANZ_EINVAL when they are not UTF-8. */
GANZ_API ganz_status ganz_scorer_add(ganz_scorer *scorer, const char *hyp, size_t hyp_bytes, const char *ref,
                                     size_t ref_bytes, ganz_error *err);
GANZ_API size_t ganz_scorer_segments(const ganz_scorer *scorer);

/* The score of all segments so far. */
GANZ_API ganz_score ganz_scorer_score(const ganz_scorer *scorer);

/* ---- several systems ---------------------------------------------------------------------------- */

typedef struct ganz_resampled {
    double mean;      /* of the resampled scores */
    double low, high; /* 95% interval: the middle 95% of the resampled scores */
    double p;         /* against the first system; 1 for the first itself */
} ganz_resampled;

/* Paired bootstrap (Koehn 2004) with sacrebleu's p-value: the share, with one added above and below, of resamples
 * whose absolute difference from the first system, less the mean absolute difference, is at least the real one.
 * sacrebleu asks for more than the real one, which makes a system differ significantly from itself; here equal
 * systems get 1. Systems must have the same settings and the same number of segments, at least one.
 * results[i] belongs to systems[i]; they depend on the counts, `resamples` and `seed` alone, and resample k draws
 * the same segments for every system. */
GANZ_API ganz_status ganz_bootstrap(ganz_scorer *const *systems, int count, int resamples, uint64_t seed,
                                    ganz_resampled *results, ganz_error *err);

/* The same for one system that was trained several times, with different seeds: systems[1] to systems[count - 1] are
 * its runs, at least one, and *result is that of the mean of their scores, in each resample and in truth, against
 * systems[0]. Resamples are those of ganz_bootstrap; with one run so is the result. */
GANZ_API ganz_status ganz_bootstrap_mean(ganz_scorer *const *systems, int count, int resamples, uint64_t seed,
                                         ganz_resampled *result, ganz_error *err);

/* ---- signature and the short way ---------------------------------------------------------------- */

enum { GANZ_SIGNATURE_BYTES = 160 };

/* "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:ganz-0.2.0"; with "bs:1000|seed:1|" after the first
 * field when resamples > 0. */
GANZ_API void ganz_score_signature(const ganz_score_settings *settings, int resamples, uint64_t seed,
                                   char out[GANZ_SIGNATURE_BYTES]);
/* "BLEU" or "chrF2" */
GANZ_API const char *ganz_metric_name(ganz_metric metric);

/* The score of terminated strings in memory. */
GANZ_API ganz_status ganz_score_texts(const char *const *hyps, const char *const *refs, size_t count,
                                      const ganz_score_settings *settings, ganz_score *score, ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
