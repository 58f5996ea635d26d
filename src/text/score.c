/* Scorers: segments are counted as they come, and the score is made of the sums. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/surroundings.h"
#include "ganz/score.h"
#include "text/metric.h"

enum { MAX_SEGMENT = 1 << 30 };

void ganz_segment_free(ganz_segment *s)
{
    ganz_codepoints_free(&s->hyp);
    ganz_codepoints_free(&s->ref);
    ganz_codepoints_free(&s->scratch);
    ganz_ngrams_free(&s->ngrams);
    ganz_free(s->words);
    ganz_free(s->ids);
    *s = (ganz_segment){0};
}

ganz_status ganz_scorer_open(ganz_scorer **out, const ganz_score_settings *settings, ganz_error *err)
{
    *out = NULL;
    if ((unsigned)settings->metric > GANZ_CHRF || (unsigned)settings->words > GANZ_WORDS_T2T)
        return ganz_fail(err, GANZ_EINVAL, "no such metric or way to find words");
    ganz_scorer *const s = ganz_alloc(1, sizeof *s);
    if (!s) return ganz_fail(err, GANZ_ENOMEM, "out of memory for scores");
    s->settings = *settings;
    s->width = settings->metric == GANZ_BLEU ? GANZ_BLEU_COUNTS : GANZ_CHRF_COUNTS;
    *out = s;
    return GANZ_OK;
}

void ganz_scorer_close(ganz_scorer **scorer)
{
    ganz_scorer *const s = *scorer;
    *scorer = NULL;
    if (!s) return;
    ganz_segment_free(&s->segment);
    ganz_free(s->counts);
    ganz_free(s);
}

size_t ganz_scorer_segments(const ganz_scorer *scorer) { return scorer->segments; }

/* The text of one side, in lower case if that is asked for. */
static bool take_text(const ganz_scorer *s, ganz_codepoints *to, ganz_codepoints *scratch, const char *text,
                      size_t bytes)
{
    if (!s->settings.lowercase) return ganz_codepoints_decode(to, text, bytes);
    if (!ganz_codepoints_decode(scratch, text, bytes)) return false;
    ganz_codepoints_lower(scratch, to);
    return true;
}

ganz_status ganz_scorer_add(ganz_scorer *s, const char *hyp, size_t hyp_bytes, const char *ref, size_t ref_bytes,
                            ganz_error *err)
{
    ganz_segment *const g = &s->segment;
    const size_t width = (size_t)s->width;
    if (hyp_bytes > MAX_SEGMENT || ref_bytes > MAX_SEGMENT)
        return ganz_fail(err, GANZ_ELIMIT, "segment %zu is longer than 1 GiB", s->segments + 1);
    if (!take_text(s, &g->hyp, &g->scratch, hyp, hyp_bytes))
        return ganz_fail(err, GANZ_EINVAL, "hypothesis %zu is not valid UTF-8", s->segments + 1);
    if (!take_text(s, &g->ref, &g->scratch, ref, ref_bytes))
        return ganz_fail(err, GANZ_EINVAL, "reference %zu is not valid UTF-8", s->segments + 1);
    if (!ganz_grow((void **)&s->counts, &s->capacity, (s->segments + 1) * width, sizeof *s->counts))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for scores");
    int32_t *const counts = s->counts + s->segments * width;
    if (!(s->settings.metric == GANZ_BLEU ? ganz_bleu_count(g, s->settings.words, counts) : ganz_chrf_count(g, counts)))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for segment %zu", s->segments + 1);
    s->segments++;
    return GANZ_OK;
}

ganz_score ganz_score_of(const ganz_score_settings *settings, const int64_t *counts)
{
    return settings->metric == GANZ_BLEU ? ganz_bleu_of(counts, settings->words) : ganz_chrf_of(counts);
}

ganz_score ganz_scorer_score(const ganz_scorer *s)
{
    GANZ_PLAIN_NUMBERS;
    int64_t sums[GANZ_CHRF_COUNTS] = {0}; /* the wider of the two */
    for (size_t i = 0; i < s->segments; i++)
        for (int k = 0; k < s->width; k++) sums[k] += s->counts[i * (size_t)s->width + (size_t)k];
    return ganz_score_of(&s->settings, sums);
}

const char *ganz_metric_name(ganz_metric metric) { return metric == GANZ_CHRF ? "chrF2" : "BLEU"; }

void ganz_score_signature(const ganz_score_settings *settings, int resamples, uint64_t seed,
                          char out[GANZ_SIGNATURE_BYTES])
{
    static const char *const names[] = {[GANZ_WORDS_13A] = "13a", [GANZ_WORDS_INTL] = "intl", [GANZ_WORDS_T2T] = "t2t"};
    char sampling[64] = "", how[64] = "eff:yes|nc:6|nw:0|space:no";
    if (resamples > 0) snprintf(sampling, sizeof sampling, "bs:%d|seed:%" PRIu64 "|", resamples, seed);
    if (settings->metric == GANZ_BLEU) snprintf(how, sizeof how, "eff:no|tok:%s|smooth:exp", names[settings->words]);
    snprintf(out, GANZ_SIGNATURE_BYTES, "nrefs:1|%scase:%s|%s|version:ganz-%s", sampling,
             settings->lowercase ? "lc" : "mixed", how, ganz_version());
}

ganz_status ganz_score_texts(const char *const *hyps, const char *const *refs, size_t count,
                             const ganz_score_settings *settings, ganz_score *score, ganz_error *err)
{
    ganz_scorer *s;
    GANZ_TRY(ganz_scorer_open(&s, settings, err));
    ganz_status status = GANZ_OK;
    for (size_t i = 0; i < count && status == GANZ_OK; i++)
        status = ganz_scorer_add(s, hyps[i], strlen(hyps[i]), refs[i], strlen(refs[i]), err);
    if (status == GANZ_OK) *score = ganz_scorer_score(s);
    ganz_scorer_close(&s);
    return status;
}
