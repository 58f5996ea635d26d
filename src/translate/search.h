/* Beam search over one sentence, without a network: Tensor2Tensor's, or that of Marian and the programs after it.
 *
 * Whoever drives it asks the network for the best next tokens of every live hypothesis and hands them to
 * ganz_beam_advance, until the beam is done. All arithmetic is float32 in a fixed order and touches this sentence only,
 * so a result depends neither on batch mates nor on the machine.
 *
 * A hypothesis remembers, beside its tokens, the key row of each decoder input it is made of. Reordering a beam copies
 * these numbers; the key rows stay where they are. */
#ifndef GANZ_TRANSLATE_SEARCH_H
#define GANZ_TRANSLATE_SEARCH_H

#include "base/arena.h"
#include "nn/config.h"

enum { GANZ_BEAM_MOST = 64 };

/* Tokens that are taken only where nearly nothing else is possible. */
typedef struct ganz_avoided {
    const int32_t *tokens; /* (count) borrowed */
    int count, inside;     /* the first so many may well begin a result */
} ganz_avoided;

typedef struct ganz_search_options {
    int beam;             /* 1: greedy, the argmax of every step up to the first end mark */
    int n_best;           /* results wanted, at most beam; above 1 the search goes on until no result can change */
    double alpha;         /* exponent of the length penalty */
    bool by_length;       /* the penalty is length^alpha, and the search ends as other programs with this penalty do */
    int least;            /* tokens of a result, its end mark not counted: none ends before, unless the beam is 1 */
    ganz_avoided avoided; /* with a beam of more than 1 */
    const float *penalties; /* (longest limit + 1) by ganz_length_penalty, of lengths from 1 on; NULL: made each time */
} ganz_search_options;

/* Candidates that the driver has to bring for each live hypothesis, at most. */
static inline int ganz_search_candidates(const ganz_search_options *o) { return o->beam == 1 ? 1 : 2 * o->beam; }

/* Steps after which a sentence ends anyway: 2 L + 50, L source tokens with the end mark. */
static inline int ganz_search_limit(int source_tokens) { return 2 * source_tokens + 50; }

/* ((5 + length) / 6)^alpha, or length^alpha, the end mark counted. Made of + - * / in double and rounded once to float,
 * so that it is the same number on every machine. */
float ganz_length_penalty(int length, const ganz_search_options *options);

typedef struct ganz_hypothesis {
    float log_prob;  /* sum over its tokens, the end mark counted */
    float score;     /* log_prob / penalty */
    int length;      /* tokens, without start and end mark */
    int32_t *tokens; /* (limit) */
    int32_t *keys;   /* (limit) key row of the decoder input at each step so far; live hypotheses only */
} ganz_hypothesis;

typedef struct ganz_beam {
    ganz_search_options options;
    int vocab, limit, step;
    const int32_t *prefix; /* (prefix_count) tokens every result begins with */
    int prefix_count;
    int alive, finished;    /* of the lists below */
    ganz_hypothesis *live;  /* (beam) best first */
    ganz_hypothesis *next;  /* (beam) where the next live ones are put together */
    ganz_hypothesis *ended; /* (beam) best first */
    bool done;
} ganz_beam;

/* One live, empty hypothesis. Memory comes from the arena; false when that is full. `prefix` is borrowed and shorter
 * than limit. */
bool ganz_beam_start(ganz_beam *beam, ganz_arena *arena, const ganz_search_options *options, int vocab, int limit,
                     const int32_t *prefix, int prefix_count);
/* Upper bound of what ganz_beam_start takes. */
size_t ganz_beam_bytes(const ganz_search_options *options, int limit);

/* Decoder input of a live hypothesis: its last token, or the start. */
static inline int32_t ganz_beam_input(const ganz_beam *beam, int alive)
{
    const ganz_hypothesis *const h = &beam->live[alive];
    return h->length > 0 ? h->tokens[h->length - 1] : GANZ_START;
}

/* The token this step must take, or -1. The driver then brings just this one candidate. */
static inline int32_t ganz_beam_forced(const ganz_beam *beam)
{
    return beam->step < beam->prefix_count ? beam->prefix[beam->step] : -1;
}

/* What the network says about the live hypotheses of one sentence. */
typedef struct ganz_candidates {
    int k;                  /* candidates of each: as many as ganz_search_candidates, or vocab if that is fewer */
    const float *value;     /* (alive, k) logits */
    const int32_t *index;   /* (alive, k) tokens */
    const float *logsumexp; /* (alive) of all logits */
    int32_t first_key;      /* hypothesis i was given the key row first_key + i in this step */
} ganz_candidates;

/* One step. Ends with beam->done when the stop rule or the limit says so. */
void ganz_beam_advance(ganz_beam *beam, const ganz_candidates *candidates);

/* Results, best first, at most n_best: finished hypotheses if there is any, else the live ones (cut by the limit).
 * Returns how many. */
int ganz_beam_results(const ganz_beam *beam, const ganz_hypothesis **results);

#endif
