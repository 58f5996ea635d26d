/* Which of the server's source languages a text is in. */
#include <stdio.h>

#include "call.h"

/* Where the letters say nothing it is the first model's, with no confidence. */
detection call_detect(const call *c, const char *text, size_t bytes)
{
    detection d = {.confidence = 0};
    ganz_guess best;
    snprintf(d.code, sizeof d.code, "%s", c->set->models[0].source);
    if (ganz_detect(c->set->detector, text, bytes, &best, 1) == 0) return d;
    snprintf(d.code, sizeof d.code, "%s", best.language);
    d.confidence = 100 * best.confidence;
    return d;
}
