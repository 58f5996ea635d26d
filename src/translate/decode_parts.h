/* The inside of a decoder, for the files it is made of: groups and steps (decode.c), and the candidates of a step
 * (decode_candidates.c). */
#ifndef GANZ_TRANSLATE_DECODE_PARTS_H
#define GANZ_TRANSLATE_DECODE_PARTS_H

#include "translate/decode.h"
#include "translate/repeat.h"

/* One sentence of the group at work. */
typedef struct ganz_lane {
    ganz_beam beam;
    int sentence;      /* place in the caller's list */
    int32_t first_row; /* of its source in the memory of the group */
    int source_rows;
    uint64_t stream; /* of random numbers */
} ganz_lane;

struct ganz_decoder {
    ganz_backend *be;
    const ganz_net *net;
    const ganz_weights *weights;
    ganz_decoder_options options;
    const ganz_instrument *instrument; /* NULL: none */
    int capacity;                      /* largest count of a group: sum of tokens + 25 */
    int most_lanes, most_rows, k;      /* of a group; candidates a row */
    int logit_rows;                    /* that exist at a time */
    bool repeats;                      /* the device records steps of few rows */
    bool ran[GANZ_REPEAT_ROWS + 1];    /* with so many rows */
    float *penalties;                  /* of lengths up to the longest output */
    ganz_lane *lanes;                  /* (most_lanes) live ones first */
    int live;
    ganz_arena beams;
    /* numbers that go to the device at each step, and candidates that come back */
    size_t numbers; /* capacity of the next two */
    int32_t *host_numbers, *device_numbers;
    int32_t *forced;             /* (most_rows) token a row must take, or -1 */
    float *value, *logsumexp;    /* (rows, k), (rows): of one step, one after another in a block */
    int32_t *index;              /* (rows, k) */
    float *row;                  /* (vocab) logits to draw from; NULL: not from all of them */
    real *raw_row;               /* (vocab) the same as they come from the device */
    unsigned char *device_found; /* candidates on the device, as in the block of `value` */
    /* memory of the network, for the largest group in the present edition of its states */
    int edition;
    void *key_block, *scratch_block;
    ganz_arena keys_memory, scratch, host_scratch;
    ganz_keys *keys;
    int tidy_at;     /* rows of keys in use at which they are looked through */
    int32_t *number; /* (most_key_rows) new number of a row; NULL: not in ordinary memory, nothing is looked through */
    /* results */
    ganz_found *found;
    int *counts;
    size_t *offsets, *order;
    size_t found_capacity, counts_capacity, offsets_capacity, order_capacity;
    int32_t *pool;
    size_t pool_used, pool_capacity;
};

static inline bool ganz_decoder_draws(const ganz_decoder *d) { return d->options.draw.temperature > 0; }

/* Whether tokens of a step are not just the best ones, but drawn or forced: then logits are looked at again. */
bool ganz_decoder_chooses(const ganz_decoder *d, int rows);
/* Logits and candidates of all rows, a part at a time, on the device; apart (where tokens are chosen): in ordinary
 * memory already, chosen tokens in the place of a row's first candidate. */
void ganz_decoder_find_candidates(ganz_decoder *d, ganz_pass *pass, const ganz_tensor *decoded, int rows, bool apart);
/* Candidates of all rows into ordinary memory, by one transfer. */
void ganz_decoder_fetch(ganz_decoder *d, int rows);

#endif
