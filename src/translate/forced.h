/* One pass over a sentence and a translation that is known: encoder and decoder over all tokens at once. Rows are those
 * that a search has had one by one, to the bit. For alignments, and for records of products. */
#ifndef GANZ_TRANSLATE_FORCED_H
#define GANZ_TRANSLATE_FORCED_H

#include "nn/net.h"

typedef struct ganz_forced {
    const int32_t *source; /* (sources) end mark included */
    int sources;
    const int32_t *target; /* (rows - 1) what the decoder reads behind its start; more may follow */
    int rows;              /* steps */
} ganz_forced;

/* (rows, d) after the final norm; NULL where the pass has failed. */
ganz_tensor *ganz_forced_decode(ganz_pass *pass, const ganz_net *net, const ganz_forced *what);

#endif
