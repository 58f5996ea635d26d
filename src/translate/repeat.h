/* Decoder steps of few rows, which a device may record and run again: their calls cost more than their work. A record
 * holds for one number of rows, and for numbers of keys rounded up. */
#ifndef GANZ_TRANSLATE_REPEAT_H
#define GANZ_TRANSLATE_REPEAT_H

#include "nn/net.h"

enum { GANZ_REPEAT_ROWS = 64, GANZ_REPEAT_KEYS = 64, GANZ_REPEAT_KINDS = 1024 };

/* Whether a device can: keys of a recorded step go to rows that are numbered on the device, as only codes do that a
 * product of integers writes. */
static inline bool ganz_repeat_can(const ganz_backend *be, const ganz_net *net, const ganz_weights *weights)
{
    bool can = be->replay && weights->packed && net->config.max_positions < GANZ_REPEAT_KEYS * GANZ_REPEAT_KINDS;
    for (int i = 0; i < net->pairs; i++) can = can && net->pair[i].inputs == GANZ_INPUTS_CODES;
    for (int i = 0; i < net->decoder.count; i++) {
        const ganz_sublayer *const a = &net->decoder.sublayer[i];
        if (a->kind != GANZ_SELF_ATTENTION) continue;
        can = can && a->k->weights == GANZ_WEIGHTS_CODES && a->v->weights == GANZ_WEIGHTS_CODES;
    }
    return can;
}

/* Rounds the numbers of keys up. Returns the number of the record. */
static inline int ganz_repeat_number(ganz_spans *self, ganz_spans *cross)
{
    const int own = (self->longest_key + GANZ_REPEAT_KEYS - 1) / GANZ_REPEAT_KEYS,
              source = (cross->longest_key + GANZ_REPEAT_KEYS - 1) / GANZ_REPEAT_KEYS;
    self->longest_key = own * GANZ_REPEAT_KEYS;
    cross->longest_key = source * GANZ_REPEAT_KEYS;
    return self->queries + (GANZ_REPEAT_ROWS + 1) * (own + (GANZ_REPEAT_KINDS + 1) * source);
}

#endif
