/* Parts of the network that decoding whole targets and decoding one token share. */
#ifndef GANZ_NN_NET_PARTS_H
#define GANZ_NN_NET_PARTS_H

#include "nn/ops.h"

/* The residual stream: x, and what the last layer wants added to it (the next norm adds it). Integer products add to x
 * themselves: then there is no delta. */
typedef struct ganz_stream {
    ganz_tensor *x, *delta;
    const ganz_tokens *tokens;
    int width, heads;
} ganz_stream;

ganz_stream ganz_net_start(ganz_pass *pass, const ganz_net *net, const ganz_tokens *tokens, bool source);
/* Adds delta to the stream and returns its norm, for the sites that read it. */
ganz_tensor *ganz_net_norm(ganz_pass *pass, ganz_stream *s, const ganz_norm_layer *norm,
                           const ganz_site *const *readers, int count);
/* One product, its result made the input of a pair; codes go to `into` where that is not NULL. */
ganz_tensor *ganz_net_operand(ganz_pass *pass, ganz_tensor *x, const ganz_site *site, const ganz_pair *pair,
                              const ganz_scale *scale, const ganz_matrix *into);
/* Memory for the delta that a layer's last product makes, to be taken before the scratch of the layer; NULL: none. */
ganz_tensor *ganz_net_delta(ganz_pass *pass, const ganz_stream *s, const ganz_site *last);
/* The last product of a layer: it becomes the stream's delta, or goes into x. */
void ganz_net_last(ganz_pass *pass, ganz_stream *s, ganz_tensor *x, const ganz_site *last, ganz_tensor *delta);
void ganz_net_heads(ganz_pass *pass, ganz_stream *s, const ganz_attention_layer *a, const ganz_attend *what,
                    ganz_tensor *delta);
void ganz_net_ffn(ganz_pass *pass, ganz_stream *s, const ganz_ffn_layer *f);

#endif
