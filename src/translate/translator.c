/* The public calls: lines to ids, through the decoder, and back to lines. */
#include <math.h>
#include <string.h>

#include "document/sentences.h"
#include "ganz/io.h"
#include "model/model.h"
#include "text/tokenizer.h"
#include "text/unicode.h"
#include "translate/align.h"
#include "translate/decode.h"
#include "translate/inspect.h"
#include "translate/split.h"

/* A sentence of more than a hundred tokens is longer than nearly all that a model has seen in training: the small
 * default model loses 23% of its BLEU on such sentences if they are not cut at clauses, and repeats itself. */
enum { LEAST_INPUT = 16 /* any one character fits */, USUAL_INPUT = 96, MOST_BATCH = 1 << 20, MOST_THREADS = 1024 };

/* A piece of a line: one sentence for the decoder. */
typedef struct piece {
    size_t ids, prefix; /* where they begin in the pool */
    int count, prefix_count;
    size_t at; /* where its text begins in the line */
} piece;

/* What is needed to link words; all of it grows. */
typedef struct linker {
    ganz_aligner *aligner;     /* NULL: no links are wanted */
    ganz_backend *be;          /* of the CPU, where the translator itself is elsewhere */
    ganz_text text;            /* of a piece */
    size_t *begin[2], *end[2]; /* (source, target tokens) their text */
    int32_t *from, *to;        /* (target tokens), (source tokens) see ganz_aligner_run */
    size_t begin_capacity[2], end_capacity[2], from_capacity, to_capacity;
    ganz_link *links; /* of all results */
    size_t count, capacity;
} linker;

struct ganz_translator {
    const ganz_model *model;
    ganz_translator_options options;
    ganz_backend *be;
    ganz_weights weights; /* on a GPU, a copy of the model's there; else nothing */
    ganz_decoder *decoder;
    ganz_audit audit;         /* empty: nothing is counted */
    ganz_ids ids;             /* of all pieces and prefixes of a call */
    piece *pieces;            /* of all lines */
    ganz_sentence *sentences; /* the same for the decoder */
    int *first_piece;         /* (lines + 1) */
    size_t piece_count, pieces_capacity, sentences_capacity, first_capacity;
    ganz_text text; /* of all results */
    size_t *begin;  /* (lines * n_best) where each begins */
    ganz_translation *translations;
    ganz_result *results;
    size_t begin_capacity, translations_capacity, results_capacity;
    linker link;
};

/* ---- open and close ----------------------------------------------------------------------------- */

void ganz_translator_defaults(ganz_translator_options *o)
{
    *o = (ganz_translator_options){
        .beam = 4, .n_best = 1, .alpha = 0.6, .batch_tokens = GANZ_BATCH_TOKENS, .threads = 1};
}

static ganz_status check_options(ganz_translator_options *o, const ganz_model *model, ganz_error *err)
{
    const int longest = model->info.config.max_positions;
    if (o->beam < 1 || o->beam > GANZ_BEAM_MOST)
        return ganz_fail(err, GANZ_EINVAL, "beam must be 1 to %d, not %d", GANZ_BEAM_MOST, o->beam);
    if (o->n_best < 1 || o->n_best > o->beam)
        return ganz_fail(err, GANZ_EINVAL, "n-best must be 1 to the beam (%d), not %d", o->beam, o->n_best);
    if (!(o->alpha >= 0 && o->alpha <= 10))
        return ganz_fail(err, GANZ_EINVAL, "alpha must be 0 to 10, not %g", o->alpha);
    if (o->batch_tokens < 1 || o->batch_tokens > MOST_BATCH)
        return ganz_fail(err, GANZ_EINVAL, "batch tokens must be 1 to %d, not %d", MOST_BATCH, o->batch_tokens);
    if (o->max_length < 0) return ganz_fail(err, GANZ_EINVAL, "the longest translation cannot be %d", o->max_length);
    if (o->threads < 1 || o->threads > MOST_THREADS)
        return ganz_fail(err, GANZ_EINVAL, "threads must be 1 to %d, not %d", MOST_THREADS, o->threads);
    if (o->max_input == 0) o->max_input = longest < USUAL_INPUT ? longest : USUAL_INPUT;
    if (o->max_input < LEAST_INPUT || o->max_input > longest)
        return ganz_fail(err, GANZ_EINVAL, "the longest input must be %d to %d tokens with this model, not %d",
                         LEAST_INPUT, longest, o->max_input);
    return GANZ_OK;
}

/* A device that does not share memory with the model gets a copy of its weights. */
static ganz_status open_device(ganz_translator *t, ganz_error *err)
{
    const ganz_model *const m = t->model;
    const ganz_translator_options *const o = &t->options;
    const bool elsewhere = o->device && strcmp(o->device, "cpu") != 0;
    if (elsewhere && m->info.bits) return ganz_fail(err, GANZ_EUNSUPPORTED, "integer models translate on the cpu only");
    if (elsewhere && m->info.dynamic_bits)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "models whose rows are rounded one by one translate on the cpu only");
    GANZ_TRY(ganz_device_open(&t->be, o->device, o->precision, o->threads, err));
    if (t->be->host) ganz_cpu_backend_follow(t->be, m->be); /* whatever GANZ_FORCE_ISA says by now */
    if (t->be->host) return GANZ_OK;
    GANZ_TRY(ganz_weights_open(&t->weights, &m->net, t->be, false, err));
    t->be->upload(t->be, t->weights.master, m->weights.master, m->net.params.block * sizeof(real));
    GANZ_TRY(ganz_weights_refresh(&t->weights, &m->net, err));
    return t->be->sync(t->be, err);
}

static ganz_status open_parts(ganz_translator *t, ganz_error *err)
{
    const ganz_model *const m = t->model;
    const ganz_translator_options *const o = &t->options;
    const ganz_decoder_options d = {.search = {.beam = o->beam, .n_best = o->n_best, .alpha = o->alpha},
                                    .batch_tokens = o->batch_tokens,
                                    .max_input = o->max_input,
                                    .max_length = o->max_length};
    GANZ_TRY(open_device(t, err));
    const ganz_weights *const weights = t->be->host ? &m->weights : &t->weights;
    GANZ_TRY(ganz_decoder_open(&t->decoder, t->be, &m->net, weights, &d, err));
    if (!o->alignment) return GANZ_OK;
    if (!t->be->host) GANZ_TRY(ganz_cpu_backend_open(&t->link.be, o->threads, err));
    return ganz_aligner_open(&t->link.aligner, t->be->host ? t->be : t->link.be, &m->net, &m->weights, err);
}

ganz_status ganz_translator_open(ganz_translator **translator, const ganz_model *model,
                                 const ganz_translator_options *options, ganz_error *err)
{
    *translator = NULL;
    ganz_translator_options o;
    ganz_translator_defaults(&o);
    if (options) o = *options;
    GANZ_TRY(check_options(&o, model, err));
    ganz_translator *t = ganz_alloc(1, sizeof *t);
    if (!t) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a translator");
    t->model = model;
    t->options = o;
    const ganz_status status = open_parts(t, err);
    if (status != GANZ_OK) ganz_translator_close(&t);
    *translator = t;
    return status;
}

void ganz_translator_close(ganz_translator **translator)
{
    ganz_translator *const t = *translator;
    *translator = NULL;
    if (!t) return;
    ganz_decoder_close(&t->decoder);
    ganz_audit_close(&t->audit);
    ganz_aligner_close(&t->link.aligner);
    ganz_text_free(&t->link.text);
    for (int side = 0; side < 2; side++) {
        ganz_free(t->link.begin[side]);
        ganz_free(t->link.end[side]);
    }
    ganz_free(t->link.from);
    ganz_free(t->link.to);
    ganz_free(t->link.links);
    ganz_weights_close(&t->weights);
    if (t->link.be) t->link.be->close(t->link.be);
    if (t->be) t->be->close(t->be);
    ganz_ids_free(&t->ids);
    ganz_text_free(&t->text);
    ganz_free(t->pieces);
    ganz_free(t->sentences);
    ganz_free(t->first_piece);
    ganz_free(t->begin);
    ganz_free(t->translations);
    ganz_free(t->results);
    ganz_free(t);
}

/* ---- lines to pieces ---------------------------------------------------------------------------- */

static ganz_status no_memory(ganz_error *err) { return ganz_fail(err, GANZ_ENOMEM, "out of memory for the text"); }

static ganz_status add_id(ganz_ids *ids, int32_t id, ganz_error *err)
{
    if (!ganz_grow((void **)&ids->ids, &ids->capacity, ids->count + 1, sizeof *ids->ids)) return no_memory(err);
    ids->ids[ids->count++] = id;
    return GANZ_OK;
}

/* The ids since `from`, and an end mark, become a piece. */
static ganz_status add_piece(ganz_translator *t, size_t from, size_t at, ganz_error *err)
{
    GANZ_TRY(add_id(&t->ids, GANZ_EOS, err));
    if (!ganz_grow((void **)&t->pieces, &t->pieces_capacity, t->piece_count + 1, sizeof *t->pieces))
        return no_memory(err);
    t->pieces[t->piece_count++] = (piece){.ids = from, .count = (int)(t->ids.count - from), .at = at};
    return GANZ_OK;
}

/* The beginning of the rest of a line, as much as fits, becomes a piece. *room: bytes that may fit, corrected by what
 * they gave. */
static ganz_status take_piece(ganz_translator *t, const ganz_line *line, const char *text, size_t bytes, size_t *room,
                              size_t *taken, ganz_error *err)
{
    const size_t most = (size_t)t->options.max_input - 1, from = t->ids.count;
    for (;;) {
        *taken = ganz_split_at(text, bytes, *room);
        size_t stripped = *taken;
        const char *const part = ganz_strip(text, &stripped);
        t->ids.count = from;
        GANZ_TRY(ganz_vocab_encode(t->model->vocab, part, stripped, &t->ids, err));
        const size_t ids = t->ids.count - from;
        const size_t parts = (ids + most - 1) / most, equal = parts > 0 ? *taken / parts * 9 / 8 : 0;
        if (ids > 0) *room = *taken * most / ids;       /* less than was taken if it was too much */
        if (ids > most && equal < *room) *room = equal; /* so that the last part is no scrap */
        if (ids <= most) return ids > 0 ? add_piece(t, from, (size_t)(part - line->text), err) : GANZ_OK;
    }
}

static ganz_status add_prefix(ganz_translator *t, const ganz_line *line, piece *first, ganz_error *err)
{
    size_t bytes = line->prefix_bytes;
    const char *const text = ganz_strip(line->prefix, &bytes);
    first->prefix = t->ids.count;
    GANZ_TRY(ganz_vocab_encode(t->model->vocab, text, bytes, &t->ids, err));
    const size_t count = t->ids.count - first->prefix, limit = (size_t)ganz_decoder_limit(t->decoder, first->count);
    if (count >= limit)
        return ganz_fail(err, GANZ_EINVAL, "the prefix has %zu tokens, the translation may have %zu", count, limit);
    first->prefix_count = (int)count;
    return GANZ_OK;
}

static ganz_status add_line(ganz_translator *t, const ganz_line *line, ganz_error *err)
{
    if (!ganz_utf8_valid(line->text, line->bytes)) return ganz_fail(err, GANZ_EINVAL, "the text is not UTF-8");
    if (line->prefix && !ganz_utf8_valid(line->prefix, line->prefix_bytes))
        return ganz_fail(err, GANZ_EINVAL, "the prefix is not UTF-8");
    const size_t first = t->piece_count;
    ganz_sentences walk = {.text = line->text,
                           .bytes = line->bytes,
                           .language = ganz_language_of(t->options.split),
                           .breaks = t->options.split ? GANZ_BREAK_SENTENCES : GANZ_BREAK_NOWHERE};
    size_t begin, end, room = SIZE_MAX;
    while (ganz_sentences_next(&walk, &begin, &end)) {
        while (begin < end) {
            size_t taken;
            GANZ_TRY(take_piece(t, line, line->text + begin, end - begin, &room, &taken, err));
            begin += taken;
        }
    }
    return line->prefix && t->piece_count > first ? add_prefix(t, line, &t->pieces[first], err) : GANZ_OK;
}

static ganz_status cut_lines(ganz_translator *t, const ganz_line *lines, int count, ganz_error *err)
{
    t->ids.count = t->piece_count = 0;
    if (!ganz_grow((void **)&t->first_piece, &t->first_capacity, (size_t)count + 1, sizeof *t->first_piece))
        return no_memory(err);
    for (int i = 0; i < count; i++) {
        ganz_error why;
        t->first_piece[i] = (int)t->piece_count;
        const ganz_status status = add_line(t, &lines[i], &why);
        if (status != GANZ_OK) return ganz_fail(err, status, "line %d: %s", i + 1, why.message);
        if (t->piece_count > INT32_MAX / GANZ_BEAM_MOST)
            return ganz_fail(err, GANZ_ELIMIT, "too much text for one call");
    }
    t->first_piece[count] = (int)t->piece_count;
    if (!ganz_grow((void **)&t->sentences, &t->sentences_capacity, t->piece_count, sizeof *t->sentences))
        return no_memory(err);
    for (size_t i = 0; i < t->piece_count; i++) {
        const piece *const p = &t->pieces[i];
        t->sentences[i] = (ganz_sentence){t->ids.ids + p->ids, p->count, t->ids.ids + p->prefix, p->prefix_count};
    }
    return GANZ_OK;
}

/* ---- ids to lines ------------------------------------------------------------------------------- */

static ganz_status add_text(ganz_text *text, const char *more, size_t bytes, ganz_error *err)
{
    if (!ganz_grow((void **)&text->text, &text->capacity, text->bytes + bytes, 1)) return no_memory(err);
    memcpy(text->text + text->bytes, more, bytes);
    text->bytes += bytes;
    return GANZ_OK;
}

/* Result `rank` of a line: its pieces' joined by spaces, on one line, terminated. */
static ganz_status join_pieces(ganz_translator *t, int first, int end, int rank, const ganz_found *found,
                               ganz_translation *result, ganz_error *err)
{
    const size_t begin = t->text.bytes;
    double score = 0;
    for (int i = first; i < end; i++) {
        const ganz_found *const f = &found[(size_t)i * (size_t)t->options.n_best + (size_t)rank];
        if (i > first) GANZ_TRY(add_text(&t->text, " ", 1, err));
        GANZ_TRY(ganz_vocab_decode(t->model->vocab, f->ids, (size_t)f->count, &t->text, err));
        score += f->score;
    }
    GANZ_TRY(add_text(&t->text, "", 1, err));
    result->bytes = t->text.bytes - begin - 1;
    result->score = score;
    for (size_t i = begin; i < t->text.bytes; i++)
        if (t->text.text[i] == '\n') t->text.text[i] = ' ';
    return GANZ_OK;
}

static ganz_status make_results(ganz_translator *t, int count, const ganz_found *found, const int *counts,
                                ganz_error *err)
{
    const size_t n_best = (size_t)t->options.n_best, most = (size_t)count * n_best;
    t->text.bytes = 0;
    if (!ganz_grow((void **)&t->begin, &t->begin_capacity, most, sizeof *t->begin) ||
        !ganz_grow((void **)&t->translations, &t->translations_capacity, most, sizeof *t->translations) ||
        !ganz_grow((void **)&t->results, &t->results_capacity, (size_t)count, sizeof *t->results))
        return no_memory(err);
    for (int i = 0; i < count; i++) {
        const int first = t->first_piece[i], end = t->first_piece[i + 1];
        int ranks = first < end ? counts[first] : 1;
        for (int j = first; j < end; j++) ranks = counts[j] < ranks ? counts[j] : ranks;
        for (int rank = 0; rank < ranks; rank++) {
            const size_t at = (size_t)i * n_best + (size_t)rank;
            t->begin[at] = t->text.bytes;
            t->translations[at] = (ganz_translation){0};
            GANZ_TRY(join_pieces(t, first, end, rank, found, &t->translations[at], err));
        }
        t->results[i] = (ganz_result){&t->translations[(size_t)i * n_best], ranks};
    }
    for (int i = 0; i < count; i++) /* the text does not move any more */
        for (int rank = 0; rank < t->results[i].count; rank++) {
            const size_t at = (size_t)i * n_best + (size_t)rank;
            t->translations[at].text = t->text.text + t->begin[at];
        }
    return GANZ_OK;
}

/* ---- links -------------------------------------------------------------------------------------- */

enum { SOURCE, TARGET };

/* Where the tokens of some ids are in their text. */
static ganz_status find_tokens(ganz_translator *t, int side, const int32_t *ids, size_t count, ganz_error *err)
{
    linker *const l = &t->link;
    if (!ganz_grow((void **)&l->begin[side], &l->begin_capacity[side], count, sizeof **l->begin) ||
        !ganz_grow((void **)&l->end[side], &l->end_capacity[side], count, sizeof **l->end))
        return no_memory(err);
    l->text.bytes = 0;
    GANZ_TRY(ganz_vocab_decode_places(t->model->vocab, ids, count, &l->text, l->begin[side], err));
    ganz_token_ends(l->text.text, l->text.bytes, l->begin[side], l->end[side], count);
    return GANZ_OK;
}

/* A piece and its translation, which begin at these places of the line and of the result. */
typedef struct linked {
    size_t source, target;
} linked;

static void add_link(linker *l, linked at, size_t from, size_t to, bool weak)
{
    const ganz_link link = {at.source + l->begin[SOURCE][from], at.source + l->end[SOURCE][from],
                            at.target + l->begin[TARGET][to], at.target + l->end[TARGET][to], weak};
    if (link.source_begin < link.source_end && link.target_begin < link.target_end) l->links[l->count++] = link;
}

/* True if a target token comes from the token that source id j is a part of. */
static bool is_said(const linker *l, size_t count, size_t j)
{
    for (size_t i = 0; i < count; i++)
        if (l->begin[SOURCE][l->from[i]] == l->begin[SOURCE][j]) return true;
    return false;
}

static ganz_status link_piece(ganz_translator *t, const ganz_sentence *s, const ganz_found *f, linked at,
                              ganz_error *err)
{
    linker *const l = &t->link;
    const size_t count = (size_t)f->count, sources = (size_t)s->count - 1; /* without the end mark */
    if (!ganz_grow((void **)&l->from, &l->from_capacity, count, sizeof *l->from) ||
        !ganz_grow((void **)&l->to, &l->to_capacity, sources + 1, sizeof *l->to) ||
        !ganz_grow((void **)&l->links, &l->capacity, l->count + count + sources, sizeof *l->links))
        return no_memory(err);
    GANZ_TRY(ganz_aligner_run(l->aligner, s, f->ids, f->count, l->from, l->to, err));
    GANZ_TRY(find_tokens(t, SOURCE, s->ids, sources, err));
    GANZ_TRY(find_tokens(t, TARGET, f->ids, count, err));
    for (size_t i = 0; i < count; i++) add_link(l, at, (size_t)l->from[i], i, false);
    for (size_t j = 0; j < sources && count > 0; j++)
        if (!is_said(l, count, j)) add_link(l, at, j, (size_t)l->to[j], true);
    return GANZ_OK;
}

/* Links of result `rank` of a line, at the end of all links. */
static ganz_status link_result(ganz_translator *t, int first, int end, int rank, const ganz_found *found,
                               ganz_translation *result, ganz_error *err)
{
    linker *const l = &t->link;
    const size_t before = l->count;
    size_t at = 0;
    for (int i = first; i < end; i++) {
        const ganz_found *const f = &found[(size_t)i * (size_t)t->options.n_best + (size_t)rank];
        GANZ_TRY(link_piece(t, &t->sentences[i], f, (linked){t->pieces[i].at, at}, err));
        at += l->text.bytes + 1; /* the translation and a space */
    }
    const size_t kept = ganz_links_sort(l->links + before, l->count - before);
    l->count = before + kept;
    result->link_count = (int)kept;
    return GANZ_OK;
}

static ganz_status link_results(ganz_translator *t, const ganz_line *lines, int count, const ganz_found *found,
                                ganz_error *err)
{
    linker *const l = &t->link;
    const size_t n_best = (size_t)t->options.n_best;
    l->count = 0;
    if (!ganz_grow((void **)&l->links, &l->capacity, 1, sizeof *l->links)) return no_memory(err);
    for (int i = 0; i < count; i++)
        for (int rank = 0; rank < t->results[i].count && !lines[i].unlinked; rank++)
            GANZ_TRY(link_result(t, t->first_piece[i], t->first_piece[i + 1], rank, found,
                                 &t->translations[(size_t)i * n_best + (size_t)rank], err));
    const ganz_link *next = l->links; /* they do not move any more */
    for (int i = 0; i < count; i++)
        for (int rank = 0; rank < t->results[i].count; rank++) {
            ganz_translation *const r = &t->translations[(size_t)i * n_best + (size_t)rank];
            r->links = next;
            next += r->link_count;
        }
    return GANZ_OK;
}

/* ---- the call ----------------------------------------------------------------------------------- */

ganz_status ganz_translate(ganz_translator *t, const ganz_line *lines, int count, const ganz_result **results,
                           ganz_error *err)
{
    *results = NULL;
    if (count < 0 || (count > 0 && !lines)) return ganz_fail(err, GANZ_EINVAL, "no lines to translate");
    const ganz_found *found;
    const int *counts;
    GANZ_TRY(cut_lines(t, lines, count, err));
    GANZ_TRY(ganz_decoder_run(t->decoder, t->sentences, (int)t->piece_count, &found, &counts, err));
    GANZ_TRY(make_results(t, count, found, counts, err));
    if (t->link.aligner) GANZ_TRY(link_results(t, lines, count, found, err));
    *results = t->results;
    return GANZ_OK;
}

/* ---- counting ----------------------------------------------------------------------------------- */

ganz_status ganz_translator_enable_counters(ganz_translator *t, ganz_error *err)
{
    ganz_audit_close(&t->audit);
    ganz_decoder_set_audit(t->decoder, NULL);
    GANZ_TRY(ganz_audit_open(&t->audit, &t->model->net, err));
    ganz_decoder_set_audit(t->decoder, &t->audit);
    return GANZ_OK;
}

void ganz_translator_get_counters(const ganz_translator *t, int product, ganz_product_counts *counts)
{
    const ganz_product p = ganz_product_at(&t->model->net, product);
    *counts = (ganz_product_counts){0};
    if (t->audit.site) ganz_product_counted(&p, &t->audit, counts);
}
