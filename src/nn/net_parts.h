/* Parts of the network that decoding whole targets and decoding one token share. */
#ifndef GANZ_NN_NET_PARTS_H
#define GANZ_NN_NET_PARTS_H

#include "nn/ops.h"

/* The residual stream: x, and what the last layer wants added to it (the next norm adds it). */
typedef struct ganz_stream {
    ganz_tensor *x, *delta;
    const ganz_tokens *tokens;
    int width, heads;
} ganz_stream;

ganz_stream ganz_net_start(ganz_pass *pass, const ganz_net *net, const ganz_tokens *tokens, bool source);
/* Adds delta to the stream and returns its norm, for inputs of state `next`. */
ganz_tensor *ganz_net_norm(ganz_pass *pass, ganz_stream *s, const ganz_norm_layer *norm, ganz_inputs_state next);
ganz_tensor *ganz_net_delta(ganz_pass *pass, const ganz_stream *s, const ganz_site *last);
void ganz_net_heads(ganz_pass *pass, const ganz_attention_layer *a, const ganz_attend *what, ganz_tensor *delta);
void ganz_net_ffn(ganz_pass *pass, ganz_stream *s, const ganz_ffn_layer *f);

#endif
