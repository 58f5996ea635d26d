/* Beam search of one sentence: candidates in, next tokens out. */
#include "translate/search.h"

#include <math.h>
#include <string.h>

#include "ganz/vocab.h"

/* ---- length penalty ----------------------------------------------------------------------------- */

/* libm's pow may differ in the last bit between systems; these use + - * / only. */
static double natural_log(double x)
{
    int exponent;
    const double m = frexp(x, &exponent); /* exact */
    const double t = (m - 1) / (m + 1), square = t * t;
    double sum = 0;
    for (int n = 61; n >= 1; n -= 2) sum = sum * square + 1.0 / n;
    return 2 * t * sum + exponent * 0.69314718055994530942;
}

static double exponential(double x)
{
    const double whole = floor(x / 0.69314718055994530942 + 0.5);
    const double rest = x - whole * 0.69314718055994530942;
    double sum = 1;
    for (int n = 20; n >= 1; n--) sum = 1 + sum * rest / n;
    return ldexp(sum, (int)whole); /* exact */
}

float ganz_length_penalty(int length, const ganz_search_options *o)
{
    return (float)exponential(o->alpha * natural_log(o->by_length ? (double)length : (5.0 + length) / 6.0));
}

/* A hundred divisions: with many sentences a search would do little else. */
static float penalty_of(const ganz_beam *beam, int length)
{
    return beam->options.penalties ? beam->options.penalties[length] : ganz_length_penalty(length, &beam->options);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static bool take_list(ganz_hypothesis **list, ganz_arena *arena, int beam, int limit, bool keys)
{
    ganz_hypothesis *const h = ganz_arena_take(arena, (size_t)beam, sizeof *h);
    int32_t *const numbers = ganz_arena_take(arena, (size_t)beam * (size_t)limit * (keys ? 2 : 1), sizeof *numbers);
    if (!h || !numbers) return false;
    for (int i = 0; i < beam; i++) {
        int32_t *const own = numbers + (size_t)i * (size_t)limit * (keys ? 2 : 1);
        h[i] = (ganz_hypothesis){.tokens = own, .keys = keys ? own + limit : NULL};
    }
    *list = h;
    return true;
}

bool ganz_beam_start(ganz_beam *beam, ganz_arena *arena, const ganz_search_options *options, int vocab, int limit,
                     const int32_t *prefix, int prefix_count)
{
    GANZ_ASSERT(options->beam >= 1 && options->beam <= GANZ_BEAM_MOST && options->n_best <= options->beam);
    GANZ_ASSERT(limit >= 1 && prefix_count < limit);
    *beam = (ganz_beam){.options = *options, .vocab = vocab, .limit = limit, .alive = 1};
    beam->prefix = prefix;
    beam->prefix_count = prefix_count;
    return take_list(&beam->live, arena, options->beam, limit, true) &&
           take_list(&beam->next, arena, options->beam, limit, true) &&
           take_list(&beam->ended, arena, options->beam, limit, false);
}

size_t ganz_beam_bytes(const ganz_search_options *options, int limit)
{
    const size_t beam = (size_t)options->beam;
    const size_t lists = 3 * beam * sizeof(ganz_hypothesis) + 5 * beam * (size_t)limit * sizeof(int32_t);
    return lists + 6 * 3 * GANZ_ALIGN; /* six blocks, each rounded up and with its red zone */
}

/* ---- one step ----------------------------------------------------------------------------------- */

typedef struct choice {
    float score, log_prob;
    int parent;
    int32_t token;
} choice;

/* Ranks before: higher score; of equal ones the lower index in the flattened (alive, vocab) scores. */
static bool ranks_before(const choice *a, const choice *b)
{
    if (a->score != b->score) return a->score > b->score;
    return a->parent != b->parent ? a->parent < b->parent : a->token < b->token;
}

/* Puts one into a sorted list that keeps the best `room`; returns the new count. */
static int keep_choice(choice *list, int count, int room, const choice *one)
{
    if (count == room && !ranks_before(one, &list[count - 1])) return count;
    int at = count < room ? count : room - 1;
    for (; at > 0 && ranks_before(one, &list[at - 1]); at--) list[at] = list[at - 1];
    list[at] = *one;
    return count < room ? count + 1 : room;
}

static const float AVOIDED = 20; /* how much less likely, as a logarithm */

/* Never impossible, so that a hypothesis always has somewhere to go. What is forced stays as it is. */
static float burden(const ganz_beam *beam, int32_t token)
{
    const ganz_avoided *const a = &beam->options.avoided;
    if (beam->options.beam == 1 || beam->step < beam->prefix_count) return 0;
    for (int i = beam->step == 0 ? a->inside : 0; i < a->count; i++)
        if (a->tokens[i] == token) return AVOIDED;
    return 0;
}

static int best_choices(const ganz_beam *beam, const ganz_candidates *c, choice *best)
{
    const float penalty = penalty_of(beam, beam->step + 1);
    const int room = ganz_search_candidates(&beam->options);
    int count = 0;
    for (int i = 0; i < beam->alive; i++) {
        for (int j = 0; j < c->k; j++) {
            const int32_t token = c->index[i * c->k + j];
            const float log_prob = c->value[i * c->k + j] - c->logsumexp[i] - burden(beam, token);
            const float total = log_prob + beam->live[i].log_prob;
            const float score = total / penalty;
            /* In Tensor2Tensor the log-probability goes through the score and back. */
            const float kept = beam->options.by_length ? total : score * penalty;
            const choice one = {score, kept, i, token};
            GANZ_ASSERT(one.token >= 0 && one.token < beam->vocab);
            count = keep_choice(best, count, room, &one);
        }
    }
    return count;
}

/* The new one goes behind all that are as good: old results come first. */
static void end_hypothesis(ganz_beam *beam, const choice *c)
{
    const int room = beam->options.beam;
    if (beam->finished == room && !(c->score > beam->ended[room - 1].score)) return;
    int at = beam->finished < room ? beam->finished++ : room - 1;
    const ganz_hypothesis reuse = beam->ended[at];
    for (; at > 0 && c->score > beam->ended[at - 1].score; at--) beam->ended[at] = beam->ended[at - 1];
    const ganz_hypothesis *const parent = &beam->live[c->parent];
    memcpy(reuse.tokens, parent->tokens, (size_t)parent->length * sizeof *reuse.tokens);
    beam->ended[at] = (ganz_hypothesis){c->log_prob, c->score, parent->length, reuse.tokens, NULL};
}

static void continue_hypothesis(const ganz_beam *beam, const choice *c, int32_t key, ganz_hypothesis *h)
{
    const ganz_hypothesis *const parent = &beam->live[c->parent];
    const size_t n = (size_t)parent->length;
    h->log_prob = c->log_prob;
    h->score = c->score;
    h->length = parent->length + 1;
    memcpy(h->tokens, parent->tokens, n * sizeof *h->tokens);
    memcpy(h->keys, parent->keys, n * sizeof *h->keys);
    h->tokens[n] = c->token;
    h->keys[n] = key;
}

/* Enough have ended, and the best live one is no better as it stands. With length^alpha the true bound lies so far off
 * that hardly a search would end before its limit. */
static bool is_settled(const ganz_beam *beam)
{
    const int room = beam->options.beam;
    const float live = beam->live[0].log_prob / penalty_of(beam, beam->step);
    return beam->finished == room && beam->ended[room - 1].score >= live;
}

/* No live hypothesis can get better than this: its log-probability only falls, the penalty grows up to the limit's. */
static bool bound_is_met(const ganz_beam *beam)
{
    const int best = beam->options.n_best;
    if (beam->options.beam == 1) return beam->finished > 0;
    if (beam->options.by_length) return is_settled(beam);
    if (beam->finished < (best > 1 ? beam->options.beam : 1)) return false;
    const float bound = beam->live[0].log_prob / penalty_of(beam, beam->limit);
    return beam->ended[best > 1 ? beam->options.beam - 1 : 0].score > bound;
}

void ganz_beam_advance(ganz_beam *beam, const ganz_candidates *candidates)
{
    choice best[2 * GANZ_BEAM_MOST];
    GANZ_ASSERT(!beam->done);
    const int count = best_choices(beam, candidates, best);
    int alive = 0;
    /* Elsewhere an end mark counts only among the first `beam`. Of two candidates for each live hypothesis at least one
     * is no end mark, so that none has to end too early. */
    const bool early = beam->options.beam > 1 && beam->step < beam->options.least;
    const int may_end = early ? 0 : beam->options.by_length ? beam->options.beam : count;
    for (int i = 0; i < count; i++) {
        if (best[i].token == GANZ_EOS && i < may_end) end_hypothesis(beam, &best[i]);
        else if (best[i].token != GANZ_EOS && alive < beam->options.beam)
            continue_hypothesis(beam, &best[i], candidates->first_key + best[i].parent, &beam->next[alive++]);
    }
    ganz_hypothesis *const old = beam->live;
    beam->live = beam->next;
    beam->next = old;
    beam->alive = alive;
    beam->step++;
    beam->done = alive == 0 || beam->step == beam->limit || bound_is_met(beam);
}

int ganz_beam_results(const ganz_beam *beam, const ganz_hypothesis **results)
{
    *results = beam->finished > 0 ? beam->ended : beam->live;
    const int have = beam->finished > 0 ? beam->finished : beam->alive;
    return have < beam->options.n_best ? have : beam->options.n_best;
}
