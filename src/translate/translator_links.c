/* Which words of a translation come from which of its source, and how sure the model is of each: places of tokens in
 * both texts, put together piece by piece. */
#include <string.h>

#include "translate/translator_parts.h"

enum { SOURCE, TARGET };

/* Room for the places of the tokens of one side. */
static ganz_status reserve_places(ganz_linker *l, int side, size_t count, ganz_error *err)
{
    if (!ganz_grow((void **)&l->begin[side], &l->begin_capacity[side], count, sizeof **l->begin) ||
        !ganz_grow((void **)&l->end[side], &l->end_capacity[side], count, sizeof **l->end))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for links of words");
    return GANZ_OK;
}

/* Where the source tokens are in the text of their piece. */
static ganz_status find_source(ganz_translator *t, const ganz_piece *p, ganz_error *err)
{
    ganz_linker *const l = &t->link;
    const size_t count = ganz_ids_before_end(t->ids.ids + p->ids, (size_t)p->count);
    const size_t first = (size_t)p->front; /* what is in front goes with the first token */
    const ganz_passage text = {p->text, p->bytes, GANZ_SOURCE};
    GANZ_TRY(reserve_places(l, SOURCE, count, err));
    l->ids.count = l->places.count = 0;
    GANZ_TRY(ganz_vocab_find_tokens(t->model->vocab, &text, &l->ids, &l->places, err));
    GANZ_ASSERT(l->places.count + first == count);
    for (size_t i = 0; i < first; i++) l->begin[SOURCE][i] = 0;
    if (count > first) memcpy(l->begin[SOURCE] + first, l->places.begin, (count - first) * sizeof **l->begin);
    ganz_token_ends(p->text, p->bytes, l->begin[SOURCE], l->end[SOURCE], count);
    return GANZ_OK;
}

/* Where the tokens of a translation are in its text. */
static ganz_status find_target(ganz_translator *t, const ganz_found *f, ganz_error *err)
{
    ganz_linker *const l = &t->link;
    const size_t count = (size_t)f->count;
    const ganz_id_span ids = {f->ids, count, GANZ_TARGET};
    GANZ_TRY(reserve_places(l, TARGET, count, err));
    l->text.bytes = 0;
    GANZ_TRY(ganz_vocab_decode_places(t->model->vocab, &ids, &l->text, l->begin[TARGET], err));
    ganz_token_ends(l->text.text, l->text.bytes, l->begin[TARGET], l->end[TARGET], count);
    return GANZ_OK;
}

/* A piece and its translation, which begin at these places of the line and of the result, and what is wanted. */
typedef struct linked {
    size_t source, target;
    bool links, scores;
} linked;

static void add_link(ganz_linker *l, const linked *at, size_t from, size_t to, bool weak)
{
    const ganz_link link = {at->source + l->begin[SOURCE][from], at->source + l->end[SOURCE][from],
                            at->target + l->begin[TARGET][to], at->target + l->end[TARGET][to], weak};
    if (link.source_begin < link.source_end && link.target_begin < link.target_end) l->links[l->count++] = link;
}

/* Pieces of one token follow each other and have the same place: their logarithms are added. */
static void add_scores(ganz_linker *l, size_t at, size_t count)
{
    const size_t *const begin = l->begin[TARGET], *const end = l->end[TARGET];
    for (size_t i = 0; i < count; i++) {
        if (begin[i] == end[i]) continue;
        const bool same = i > 0 && begin[i] == begin[i - 1] && end[i] == end[i - 1];
        if (!same) l->tokens[l->token_count++] = (ganz_token_score){at + begin[i], at + end[i], 0};
        l->tokens[l->token_count - 1].score += (double)l->score[i];
    }
}

/* True if a target token comes from the token that source id j is a part of. */
static bool is_said(const ganz_linker *l, size_t count, size_t j)
{
    for (size_t i = 0; i < count; i++)
        if (l->begin[SOURCE][l->from[i]] == l->begin[SOURCE][j]) return true;
    return false;
}

static ganz_status reserve_links(ganz_linker *l, size_t targets, size_t sources, ganz_error *err)
{
    if (!ganz_grow((void **)&l->from, &l->from_capacity, targets, sizeof *l->from) ||
        !ganz_grow((void **)&l->score, &l->score_capacity, targets, sizeof *l->score) ||
        !ganz_grow((void **)&l->to, &l->to_capacity, sources + 1, sizeof *l->to) ||
        !ganz_grow((void **)&l->links, &l->capacity, l->count + targets + sources, sizeof *l->links) ||
        !ganz_grow((void **)&l->tokens, &l->token_capacity, l->token_count + targets, sizeof *l->tokens))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for links of words");
    return GANZ_OK;
}

static ganz_status link_piece(ganz_translator *t, int number, const ganz_found *f, const linked *at, ganz_error *err)
{
    ganz_linker *const l = &t->link;
    const ganz_sentence *const s = &t->sentences[t->pieces[number].sentence];
    const size_t count = (size_t)f->count, sources = ganz_ids_before_end(s->ids, (size_t)s->count);
    GANZ_TRY(reserve_links(l, count, sources, err));
    const ganz_aligned out = {l->from, l->to, at->scores ? l->score : NULL};
    GANZ_TRY(ganz_aligner_run(l->aligner, s, f->ids, f->count, &out, err));
    GANZ_TRY(find_target(t, f, err));
    if (at->scores) add_scores(l, at->target, count);
    if (!at->links) return GANZ_OK;
    GANZ_TRY(find_source(t, &t->pieces[number], err));
    for (size_t i = 0; i < count; i++) add_link(l, at, (size_t)l->from[i], i, false);
    for (size_t j = 0; j < sources && count > 0; j++)
        if (!is_said(l, count, j)) add_link(l, at, j, (size_t)l->to[j], true);
    return GANZ_OK;
}

/* A copied word comes from itself. */
static ganz_status link_copy(ganz_linker *l, const ganz_piece *p, const linked *at, ganz_error *err)
{
    const size_t end = at->target + p->bytes;
    GANZ_TRY(reserve_links(l, 1, 0, err));
    if (at->links) l->links[l->count++] = (ganz_link){p->at, p->at + p->bytes, at->target, end, false};
    if (at->scores) l->tokens[l->token_count++] = (ganz_token_score){at->target, end, 0};
    return GANZ_OK;
}

/* Links and scores of result `rank` of a line, at the end of all. */
static ganz_status link_result(ganz_translator *t, int line, int rank, linked at, ganz_error *err)
{
    ganz_linker *const l = &t->link;
    ganz_translation *const result = ganz_translation_at(t, line, rank);
    const size_t before = l->count, tokens_before = l->token_count;
    for (int i = t->first_piece[line]; i < t->first_piece[line + 1]; i++) {
        const ganz_piece *const p = &t->pieces[i];
        at.source = p->at;
        if (p->sentence < 0) GANZ_TRY(link_copy(l, p, &at, err));
        else GANZ_TRY(link_piece(t, i, ganz_found_at(t, i, rank), &at, err));
        at.target += (p->sentence < 0 ? p->bytes : l->text.bytes) + 1; /* the translation and a space */
    }
    const size_t kept = ganz_links_sort(l->links + before, l->count - before);
    l->count = before + kept;
    result->link_count = (int)kept;
    result->token_count = (int)(l->token_count - tokens_before);
    return GANZ_OK;
}

/* Where the links and scores of each result are; they do not move any more. */
static void place_links(ganz_translator *t, int count)
{
    const ganz_link *link = t->link.links;
    const ganz_token_score *token = t->link.tokens;
    for (int i = 0; i < count; i++)
        for (int rank = 0; rank < t->results[i].count; rank++) {
            ganz_translation *const result = ganz_translation_at(t, i, rank);
            if (t->options.alignment) result->links = link;
            if (t->options.token_scores) result->tokens = token;
            link += result->link_count;
            token += result->token_count;
        }
}

ganz_status ganz_link_results(ganz_translator *t, int count, ganz_error *err)
{
    ganz_linker *const l = &t->link;
    l->count = l->token_count = 0;
    GANZ_TRY(reserve_links(l, 1, 0, err));
    for (int i = 0; i < count; i++) {
        const linked wanted = {.links = t->options.alignment && !t->lines[i].unlinked,
                               .scores = t->options.token_scores && !t->lines[i].unscored};
        for (int rank = 0; rank < t->results[i].count && (wanted.links || wanted.scores); rank++)
            GANZ_TRY(link_result(t, i, rank, wanted, err));
    }
    place_links(t, count);
    return GANZ_OK;
}

void ganz_linker_close(ganz_linker *l)
{
    ganz_aligner_close(&l->aligner);
    ganz_text_free(&l->text);
    for (int side = 0; side < 2; side++) {
        ganz_free(l->begin[side]);
        ganz_free(l->end[side]);
    }
    ganz_ids_free(&l->ids);
    ganz_places_free(&l->places);
    ganz_free(l->from);
    ganz_free(l->to);
    ganz_free(l->links);
    ganz_free(l->score);
    ganz_free(l->tokens);
    if (l->be) l->be->close(l->be);
}
