/* Tokens and spans of one sentence pair, and the pass over them. */
#include "translate/forced.h"

#include <string.h>

static ganz_spans one_segment(const int32_t *queries, const int32_t *keys, bool causal)
{
    return (ganz_spans){.queries = queries[1],
                        .keys = keys[1],
                        .segments = 1,
                        .query_begin = queries,
                        .key_begin = keys,
                        .longest_query = queries[1],
                        .longest_key = keys[1],
                        .causal = causal};
}

ganz_tensor *ganz_forced_decode(ganz_pass *pass, const ganz_net *net, const ganz_forced *what)
{
    const int longest = what->rows > what->sources ? what->rows : what->sources;
    int32_t *const positions = ganz_arena_take(pass->device, (size_t)longest, sizeof *positions);
    int32_t *const shifted = ganz_arena_take(pass->device, (size_t)what->rows, sizeof *shifted);
    pass->failed = pass->failed || !positions || !shifted;
    if (pass->failed) return NULL;
    if (!pass->counts) {
        for (int i = 0; i < longest; i++) positions[i] = i;
        shifted[0] = GANZ_START;
        if (what->rows > 1) memcpy(shifted + 1, what->target, (size_t)(what->rows - 1) * sizeof *shifted);
    }
    const int32_t source_rows[2] = {0, what->sources}, target_rows[2] = {0, what->rows};
    const ganz_tokens in = {.rows = what->sources, .ids = what->source, .positions = positions};
    const ganz_tokens out = {.rows = what->rows, .ids = shifted, .positions = positions};
    const ganz_spans self = one_segment(source_rows, source_rows, false);
    const ganz_spans causal = one_segment(target_rows, target_rows, true);
    const ganz_spans cross = one_segment(target_rows, source_rows, false);
    ganz_tensor *const memory = ganz_net_encode(pass, net, &in, &self);
    return ganz_net_decode(pass, net, &out, &in, memory, &causal, &cross);
}
