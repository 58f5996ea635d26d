/* Drawing from the probabilities of logits: a number below their sum is drawn, and the sum walked up to it. Sums are of
 * doubles in the order of the tokens and exp is ours, so that the same logits give the same token on every machine. */
#include "translate/draw.h"

#include "base/exact.h"
#include "base/rng.h"

uint64_t ganz_draw_stream(const int32_t *ids, int count)
{
    uint64_t sum = (uint64_t)count;
    for (int i = 0; i < count; i++) {
        sum = (sum ^ (uint32_t)ids[i]) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 29;
    }
    return sum;
}

static double weight_of(const ganz_draw_options *o, float logit, float highest)
{
    return ganz_exact_exp((float)(((double)logit - highest) / o->temperature));
}

int ganz_draw_token(const ganz_draw_options *o, uint64_t stream, int step, const float *logit, int count)
{
    float highest = logit[0];
    double total = 0;
    for (int i = 1; i < count; i++) highest = logit[i] > highest ? logit[i] : highest;
    for (int i = 0; i < count; i++) total += weight_of(o, logit[i], highest);
    const double chance = (double)(ganz_random_u64(o->seed, stream, (uint64_t)step) >> 11) / 9007199254740992.0;
    double left = chance * total;
    int last = 0; /* of those with a weight, should rounding let the walk go past the end */
    for (int i = 0; i < count; i++) {
        const double weight = weight_of(o, logit[i], highest);
        if (weight > 0) last = i;
        if (left < weight) return i;
        left -= weight;
    }
    return last;
}
