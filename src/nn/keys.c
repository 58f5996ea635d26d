/* Keys and values of the decoder's attentions, and states of its recurrences, kept between steps in one block for each
 * and read by row number. */
#include <string.h>

#include "nn/ops.h"

static size_t line_bytes(const ganz_net *net, const ganz_sublayer *a, const ganz_backend *be)
{
    if (a->kind == GANZ_RECURRENCE) return (size_t)net->config.width * sizeof(real);
    return 2 * (size_t)net->config.width * ganz_type_bytes(ganz_pair_kept_type(a->pair, be));
}

static size_t row_count(const ganz_sublayer *a, int capacity, int source_rows)
{
    return (size_t)(a->kind == GANZ_CROSS_ATTENTION ? source_rows : capacity);
}

ganz_keys *ganz_keys_take(ganz_pass *pass, const ganz_net *net, int capacity, int source_rows)
{
    ganz_keys *const keys = ganz_arena_take(pass->host, 1, sizeof *keys);
    void **const data = ganz_arena_take(pass->host, (size_t)net->decoder.count, sizeof *data);
    if (!keys || !data) return NULL;
    *keys = (ganz_keys){.be = pass->be, .capacity = capacity, .source_rows = source_rows, .data = data};
    for (int i = 0; i < net->decoder.count; i++) {
        const ganz_sublayer *const a = &net->decoder.sublayer[i];
        data[i] = NULL;
        if (a->kind == GANZ_FEED_FORWARD) continue;
        data[i] = ganz_arena_take(pass->device, row_count(a, capacity, source_rows), line_bytes(net, a, pass->be));
        if (!data[i]) return NULL;
    }
    return keys;
}

void ganz_keys_keep(ganz_keys *keys, const ganz_net *net, const int32_t *rows, int count)
{
    GANZ_ASSERT(keys->be->host && count <= keys->used);
    for (int i = 0; i < net->decoder.count; i++) {
        const ganz_sublayer *const a = &net->decoder.sublayer[i];
        if (a->kind == GANZ_FEED_FORWARD || a->kind == GANZ_CROSS_ATTENTION) continue;
        const size_t bytes = line_bytes(net, a, keys->be);
        unsigned char *const data = keys->data[i];
        for (int row = 0; row < count; row++)
            if (rows[row] != row) memcpy(data + (size_t)row * bytes, data + (size_t)rows[row] * bytes, bytes);
    }
    keys->used = count;
}

ganz_matrix ganz_keys_rows(const ganz_keys *keys, const ganz_sublayer *a, int sublayer, int rows)
{
    if (a->kind == GANZ_RECURRENCE)
        return (ganz_matrix){rows, a->value->out, a->value->out, GANZ_REAL, keys->data[sublayer]};
    const int line = 2 * a->q->out;
    return (ganz_matrix){rows, line, line, ganz_pair_kept_type(a->pair, keys->be), keys->data[sublayer]};
}
