/* chrF2: matches of 1- to 6-grams of characters, white space left out. */
#include "text/metric.h"

enum { ORDERS = GANZ_CHRF_ORDERS };

static void drop_spaces(ganz_codepoints *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->count; i++)
        if (!ganz_is_space(text->at[i])) text->at[kept++] = text->at[i];
    text->count = kept;
}

bool ganz_chrf_count(ganz_segment *s, int32_t counts[GANZ_CHRF_COUNTS])
{
    int32_t matches[GANZ_NGRAM_ORDERS];
    drop_spaces(&s->hyp);
    drop_spaces(&s->ref);
    if (s->hyp.failed || s->ref.failed ||
        !ganz_ngram_matches(&s->ngrams, s->hyp.at, s->hyp.count, s->ref.at, s->ref.count, matches))
        return false;
    for (int n = 0; n < ORDERS; n++) {
        const int32_t in_ref = ganz_ngram_total(s->ref.count, n + 1);
        /* A hypothesis is not charged for an order that its reference is too short for. */
        counts[3 * n] = in_ref > 0 ? ganz_ngram_total(s->hyp.count, n + 1) : 0;
        counts[3 * n + 1] = in_ref;
        counts[3 * n + 2] = matches[n];
    }
    return true;
}

ganz_score ganz_chrf_of(const int64_t counts[GANZ_CHRF_COUNTS])
{
    const double factor = 4.0; /* beta = 2, squared: recall weighs more */
    ganz_score s = {.orders = ORDERS, .bp = 1.0, .sys_len = counts[0], .ref_len = counts[1]};
    double precision = 0.0, recall = 0.0;
    int orders = 0; /* those that both sides have */
    for (int n = 0; n < ORDERS; n++) {
        const double hyp = (double)counts[3 * n], ref = (double)counts[3 * n + 1], match = (double)counts[3 * n + 2];
        if (hyp > 0.0) s.precisions[n] = 100.0 * match / hyp;
        if (ref > 0.0) s.recalls[n] = 100.0 * match / ref;
        if (hyp > 0.0 && ref > 0.0) {
            precision += match / hyp;
            recall += match / ref;
            orders++;
        }
    }
    if (orders > 0) {
        precision /= orders;
        recall /= orders;
    }
    if (precision + recall > 0.0)
        s.score = 100.0 * ((1.0 + factor) * precision * recall / (factor * precision + recall));
    return s;
}
