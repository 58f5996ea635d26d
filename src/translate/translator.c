/* The public calls: lines to ids, through the decoder, and back to lines. */
#include <math.h>
#include <string.h>

#include "document/sentences.h"
#include "base/surroundings.h"
#include "ganz/io.h"
#include "text/unicode.h"
#include "translate/front.h"
#include "translate/split.h"
#include "translate/translator_parts.h"

/* A sentence of more than a hundred tokens is longer than nearly all that a model has seen in training: the small
 * default model loses 23% of its BLEU on such sentences if they are not cut at clauses, and repeats itself. */
enum {
    LEAST_INPUT = 16, /* any one character fits */
    USUAL_INPUT = 96,
    USUAL_BEAM = 4,
    HOTTEST = 100,
    MOST_BATCH = 1 << 20,
    MOST_THREADS = 1024
};
static const double USUAL_ALPHA = 0.6, USUAL_LEAST = 0.5;

/* ---- open and close ----------------------------------------------------------------------------- */

void ganz_translator_defaults(ganz_translator_options *o)
{
    *o = (ganz_translator_options){
        .n_best = 1, .alpha = -1, .least_length = -1, .batch_tokens = GANZ_BATCH_TOKENS, .threads = 1};
}

void ganz_choose_search(ganz_translator_options *o, const ganz_model_search *s)
{
    if (o->beam == 0 && o->sample > 0) o->beam = 1;
    if (o->beam == 0) o->beam = s->beam > 0 ? s->beam : USUAL_BEAM;
    if (o->alpha == -1) o->alpha = s->has_alpha ? s->alpha : USUAL_ALPHA;
    if (o->least_length == -1) o->least_length = s->by_length ? 0 : USUAL_LEAST;
}

ganz_search_options ganz_search_of(const ganz_translator_options *o, const ganz_model_search *s)
{
    return (ganz_search_options){.beam = o->beam, .n_best = o->n_best, .alpha = o->alpha, .by_length = s->by_length};
}

static ganz_status check_options(ganz_translator_options *o, const ganz_model *model, ganz_error *err)
{
    const int longest = model->info.config.max_positions;
    ganz_choose_search(o, &model->info.search);
    if (o->beam < 1 || o->beam > GANZ_BEAM_MOST)
        return ganz_fail(err, GANZ_EINVAL, "beam must be 1 to %d, not %d", GANZ_BEAM_MOST, o->beam);
    if (o->n_best < 1 || o->n_best > o->beam)
        return ganz_fail(err, GANZ_EINVAL, "n-best must be 1 to the beam (%d), not %d", o->beam, o->n_best);
    if (!(o->alpha >= 0 && o->alpha <= 10))
        return ganz_fail(err, GANZ_EINVAL, "alpha must be 0 to 10, not %g", o->alpha);
    if (!(o->least_length >= 0 && o->least_length <= 1))
        return ganz_fail(err, GANZ_EINVAL, "the least length must be 0 to 1, not %g", o->least_length);
    if (!(o->sample >= 0 && o->sample <= HOTTEST))
        return ganz_fail(err, GANZ_EINVAL, "the temperature must be 0 to %d, not %g", HOTTEST, o->sample);
    if (o->sample_top < 0 || o->sample_top > GANZ_DRAW_MOST)
        return ganz_fail(err, GANZ_EINVAL, "tokens to draw from must be 0 to %d, not %d", GANZ_DRAW_MOST,
                         o->sample_top);
    if (o->sample > 0 && o->beam != 1)
        return ganz_fail(err, GANZ_EINVAL, "drawn translations have a beam of 1, not %d", o->beam);
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

/* Only integer products are the same on every device. */
static bool all_integer(const ganz_net *net)
{
    bool all = true;
    for (int i = 0; i < net->sites; i++) all = all && net->site[i].inputs == GANZ_INPUTS_CODES;
    for (int i = 0; i < net->pairs; i++) all = all && net->pair[i].inputs == GANZ_INPUTS_CODES;
    return all;
}

ganz_status ganz_translator_check_device(const ganz_model *m, const char *device, ganz_error *err)
{
    const bool elsewhere = device && strcmp(device, "cpu") != 0;
    if (elsewhere && m->info.integer && !all_integer(&m->net))
        return ganz_fail(err, GANZ_EUNSUPPORTED, "integer models with products in float translate on the cpu only");
    if (elsewhere && m->info.dynamic_bits)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "models whose rows are rounded one by one translate on the cpu only");
    if (elsewhere && m->weights.column_inv)
        return ganz_fail(err, GANZ_EUNSUPPORTED,
                         "models whose columns have steps of their own translate on the cpu only");
    if (elsewhere && m->info.config.recurrent)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "models with recurrent decoders translate on the cpu only");
    return GANZ_OK;
}

/* A device that does not share memory with the model has a copy of its weights. */
static ganz_status open_device(ganz_translator *t, ganz_error *err)
{
    const ganz_model *const m = t->model;
    const ganz_translator_options *const o = &t->options;
    GANZ_TRY(ganz_translator_check_device(m, o->device, err));
    GANZ_TRY(ganz_device_open(&t->be, o->device, o->precision, o->threads, err));
    if (t->be->host) ganz_cpu_backend_follow(t->be, m->be); /* whatever GANZ_FORCE_ISA says by now */
    if (t->be->host) return GANZ_OK;
    return ganz_copies_borrow(m->copies, o->device, t->be, &t->weights, err);
}

static ganz_status open_parts(ganz_translator *t, ganz_error *err)
{
    const ganz_model *const m = t->model;
    const ganz_translator_options *const o = &t->options;
    const ganz_decoder_options d = {.search = ganz_search_of(o, &m->info.search),
                                    .least_length = o->least_length,
                                    .draw = {o->sample, o->sample_top, o->seed},
                                    .batch_tokens = o->batch_tokens,
                                    .max_input = o->max_input,
                                    .max_length = o->max_length,
                                    .stop = o->stop};
    GANZ_TRY(ganz_front_label(m, o->label, &t->label, err));
    GANZ_TRY(ganz_front_mark(m, o->formality, &t->mark, err));
    GANZ_TRY(ganz_address_find(&t->address, m, err));
    GANZ_TRY(open_device(t, err));
    GANZ_TRY(ganz_decoder_open(&t->decoder, t->be, &m->net, t->be->host ? &m->weights : t->weights, &d, err));
    if (!o->alignment && !o->token_scores) return GANZ_OK;
    if (!t->be->host) GANZ_TRY(ganz_cpu_backend_open(&t->link.be, o->threads, err));
    if (!t->be->host) ganz_cpu_backend_follow(t->link.be, m->be);
    return ganz_aligner_open(&t->link.aligner, t->be->host ? t->be : t->link.be, &m->net, &m->weights, err);
}

ganz_status ganz_translator_open(ganz_translator **translator, const ganz_model *model,
                                 const ganz_translator_options *options, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
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
    ganz_linker_close(&t->link);
    ganz_copies_return(t->model->copies, t->be, t->weights);
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

/* The ids since `from` become those of a piece. */
static ganz_status add_piece(ganz_translator *t, size_t from, const ganz_piece *p, ganz_error *err)
{
    if (!ganz_grow((void **)&t->pieces, &t->pieces_capacity, t->piece_count + 1, sizeof *t->pieces))
        return no_memory(err);
    ganz_piece *const own = &t->pieces[t->piece_count++];
    *own = *p;
    own->ids = from;
    own->count = (int)(t->ids.count - from);
    return GANZ_OK;
}

/* The part of a line that is still to be cut. */
typedef struct rest {
    const char *text;
    size_t bytes;
    size_t at;   /* where it begins in the line */
    size_t room; /* bytes that may fit, judged by how many tokens the bytes before gave */
} rest;

static int front_of(const ganz_translator *t) { return (t->label >= 0) + (t->mark >= 0); }

/* Appends the ids of a sentence, behind the label and the mark if there are any. *count: those of the text alone. */
static ganz_status encode_piece(ganz_translator *t, const char *text, size_t bytes, size_t *count, ganz_error *err)
{
    if (!ganz_grow((void **)&t->ids.ids, &t->ids.capacity, t->ids.count + 2, sizeof *t->ids.ids)) return no_memory(err);
    if (t->label >= 0) t->ids.ids[t->ids.count++] = t->label;
    if (t->mark >= 0) t->ids.ids[t->ids.count++] = t->mark;
    const size_t before = t->ids.count;
    GANZ_TRY(ganz_vocab_encode_sentence(t->model->vocab, GANZ_SOURCE, text, bytes, &t->ids, err));
    *count = ganz_ids_before_end(t->ids.ids + before, t->ids.count - before);
    return GANZ_OK;
}

static bool is_one_character(const char *text, size_t bytes)
{
    int32_t code;
    return ganz_next_character(text, &code) >= bytes;
}

/* The beginning of the rest, as much as fits, becomes a piece, and the rest is what is behind it. A character that
 * alone has too many tokens, as some have that are written out, is copied. */
static ganz_status take_piece(ganz_translator *t, rest *r, ganz_error *err)
{
    const size_t most = (size_t)(t->options.max_input - 1 - front_of(t)), from = t->ids.count;
    for (;;) {
        const size_t taken = ganz_split_at(r->text, r->bytes, r->room);
        ganz_piece p = {.bytes = taken, .front = front_of(t)};
        p.text = ganz_strip(r->text, &p.bytes);
        p.at = r->at + (size_t)(p.text - r->text);
        p.avoided = ganz_address_avoided(&t->address, t->mark, p.text, p.bytes);
        t->ids.count = from;
        size_t ids = 0;
        GANZ_TRY(encode_piece(t, p.text, p.bytes, &ids, err));
        const size_t parts = (ids + most - 1) / most, equal = parts > 0 ? taken / parts * 9 / 8 : 0;
        if (ids > 0) r->room = taken * most / ids;          /* less than was taken if it was too much */
        if (ids > most && equal < r->room) r->room = equal; /* so that the last part is no scrap */
        const bool copied = ids > most && is_one_character(r->text, taken);
        if (ids > most && !copied) continue;
        if (copied) {
            p.sentence = -1;
            r->room = most; /* what follows is as other text */
        }
        if (copied || ids == 0) t->ids.count = from;
        if (ids > 0) GANZ_TRY(add_piece(t, from, &p, err));
        r->text += taken;
        r->at += taken;
        r->bytes -= taken;
        return GANZ_OK;
    }
}

static ganz_status add_prefix(ganz_translator *t, const ganz_line *line, ganz_piece *first, ganz_error *err)
{
    size_t bytes = line->prefix_bytes;
    const char *const text = ganz_strip(line->prefix, &bytes);
    first->prefix = t->ids.count;
    GANZ_TRY(ganz_vocab_encode(t->model->vocab, GANZ_TARGET, text, bytes, &t->ids, err));
    const size_t count = t->ids.count - first->prefix, limit = (size_t)ganz_decoder_limit(t->decoder, first->count);
    if (count >= limit)
        return ganz_fail(err, GANZ_EINVAL, "the prefix has %zu tokens, the translation may have %zu", count, limit);
    first->prefix_count = (int)count;
    return GANZ_OK;
}

/* Words beyond all measure are copied: translating them takes minutes and gives nothing. */
static ganz_status add_pieces(ganz_translator *t, rest *r, ganz_error *err)
{
    while (r->bytes > 0) {
        size_t length;
        const size_t before = ganz_long_word(r->text, r->bytes, &length);
        rest words = {r->text, before, r->at, r->room};
        while (words.bytes > 0) GANZ_TRY(take_piece(t, &words, err));
        const ganz_piece word = {.sentence = -1, .text = r->text + before, .bytes = length, .at = r->at + before};
        if (length > 0) GANZ_TRY(add_piece(t, t->ids.count, &word, err));
        *r = (rest){word.text + length, r->bytes - before - length, word.at + length, words.room};
    }
    return GANZ_OK;
}

/* What a line asks for, then what all lines do, then what a line would rather have. */
static ganz_formality formality_of(const ganz_translator *t, const ganz_line *line)
{
    const bool asked = line->formality == GANZ_FORMALITY_FORMAL || line->formality == GANZ_FORMALITY_INFORMAL;
    return asked || t->options.formality == GANZ_FORMALITY_AUTO ? line->formality : t->options.formality;
}

static ganz_status add_line(ganz_translator *t, const ganz_line *line, ganz_error *err)
{
    if (!ganz_utf8_valid(line->text, line->bytes)) return ganz_fail(err, GANZ_EINVAL, "the text is not UTF-8");
    if (line->prefix && !ganz_utf8_valid(line->prefix, line->prefix_bytes))
        return ganz_fail(err, GANZ_EINVAL, "the prefix is not UTF-8");
    if (line->n_best < 0) return ganz_fail(err, GANZ_EINVAL, "a line cannot have %d results", line->n_best);
    GANZ_TRY(ganz_front_mark(t->model, formality_of(t, line), &t->mark, err));
    const size_t first = t->piece_count;
    ganz_sentences walk = {.text = line->text,
                           .bytes = line->bytes,
                           .language = ganz_language_of(t->options.split),
                           .breaks = t->options.split ? GANZ_BREAK_SENTENCES : GANZ_BREAK_NOWHERE};
    size_t begin, end;
    while (ganz_sentences_next(&walk, &begin, &end)) {
        rest r = {line->text + begin, end - begin, begin, SIZE_MAX}; /* each anew: "1, 2, 3!" is dense */
        if (!line->prefix) GANZ_TRY(add_pieces(t, &r, err));
        while (r.bytes > 0) GANZ_TRY(take_piece(t, &r, err)); /* the beginning is the caller's: nothing is copied */
    }
    return line->prefix && t->piece_count > first ? add_prefix(t, line, &t->pieces[first], err) : GANZ_OK;
}

/* The pieces of a line as sentences for the decoder; the ids do not move any more. */
static void number_sentences(ganz_translator *t, int line)
{
    for (int i = t->first_piece[line]; i < t->first_piece[line + 1]; i++) {
        ganz_piece *const p = &t->pieces[i];
        if (p->sentence < 0) continue;
        p->sentence = t->sentence_count++;
        t->sentences[p->sentence] = (ganz_sentence){
            t->ids.ids + p->ids, p->count, t->ids.ids + p->prefix, p->prefix_count, t->lines[line].n_best, p->front,
            p->avoided};
    }
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
        if (status != GANZ_OK) return ganz_fail_line(err, status, i + 1, "%s", why.message);
        if (t->piece_count > INT32_MAX / GANZ_BEAM_MOST)
            return ganz_fail(err, GANZ_ELIMIT, "too much text for one call");
    }
    t->first_piece[count] = (int)t->piece_count;
    if (!ganz_grow((void **)&t->sentences, &t->sentences_capacity, t->piece_count, sizeof *t->sentences))
        return no_memory(err);
    t->sentence_count = 0;
    for (int i = 0; i < count; i++) number_sentences(t, i);
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
static ganz_status join_pieces(ganz_translator *t, int line, int rank, ganz_error *err)
{
    const size_t begin = t->text.bytes;
    const int first = t->first_piece[line], end = t->first_piece[line + 1];
    double score = 0;
    for (int i = first; i < end; i++) {
        const ganz_piece *const p = &t->pieces[i];
        if (i > first) GANZ_TRY(add_text(&t->text, " ", 1, err));
        if (p->sentence < 0) {
            GANZ_TRY(add_text(&t->text, p->text, p->bytes, err));
            continue;
        }
        const ganz_found *const f = ganz_found_at(t, i, rank);
        GANZ_TRY(ganz_vocab_decode(t->model->vocab, GANZ_TARGET, f->ids, (size_t)f->count, &t->text, err));
        score += f->score;
    }
    GANZ_TRY(add_text(&t->text, "", 1, err));
    *ganz_translation_at(t, line, rank) = (ganz_translation){.bytes = t->text.bytes - begin - 1, .score = score};
    for (size_t i = begin; i < t->text.bytes; i++)
        if (t->text.text[i] == '\n') t->text.text[i] = ' ';
    return GANZ_OK;
}

/* How many results a line has: as many as each of its pieces has. */
static int count_ranks(const ganz_translator *t, int line)
{
    int ranks = 0;
    for (int i = t->first_piece[line]; i < t->first_piece[line + 1]; i++) {
        const int sentence = t->pieces[i].sentence;
        if (sentence >= 0 && (ranks == 0 || t->found_counts[sentence] < ranks)) ranks = t->found_counts[sentence];
    }
    return ranks > 0 ? ranks : 1; /* one where nothing is translated */
}

static ganz_status make_results(ganz_translator *t, int count, ganz_error *err)
{
    const size_t n_best = (size_t)t->options.n_best, most = (size_t)count * n_best;
    t->text.bytes = 0;
    if (!ganz_grow((void **)&t->begin, &t->begin_capacity, most, sizeof *t->begin) ||
        !ganz_grow((void **)&t->translations, &t->translations_capacity, most, sizeof *t->translations) ||
        !ganz_grow((void **)&t->results, &t->results_capacity, (size_t)count, sizeof *t->results))
        return no_memory(err);
    for (int i = 0; i < count; i++) {
        const int ranks = count_ranks(t, i);
        for (int rank = 0; rank < ranks; rank++) {
            t->begin[(size_t)i * n_best + (size_t)rank] = t->text.bytes;
            GANZ_TRY(join_pieces(t, i, rank, err));
        }
        t->results[i] = (ganz_result){ganz_translation_at(t, i, 0), ranks};
    }
    for (int i = 0; i < count; i++) /* the text does not move any more */
        for (int rank = 0; rank < t->results[i].count; rank++)
            ganz_translation_at(t, i, rank)->text = t->text.text + t->begin[(size_t)i * n_best + (size_t)rank];
    return GANZ_OK;
}

/* ---- the call ----------------------------------------------------------------------------------- */

ganz_status ganz_translator_run(ganz_translator *t, const ganz_line *lines, int count, const ganz_result **results,
                                ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    *results = NULL;
    if (count < 0 || (count > 0 && !lines)) return ganz_fail(err, GANZ_EINVAL, "no lines to translate");
    t->lines = lines;
    GANZ_TRY(cut_lines(t, lines, count, err));
    GANZ_TRY(ganz_decoder_run(t->decoder, t->sentences, t->sentence_count, &t->found, &t->found_counts, err));
    GANZ_TRY(make_results(t, count, err));
    if (t->link.aligner) GANZ_TRY(ganz_link_results(t, count, err));
    *results = t->results;
    return GANZ_OK;
}

ganz_status ganz_translate(ganz_translator *t, const ganz_line *lines, int count, const ganz_result **results,
                           ganz_error *err)
{
    ganz_error why = {0};
    const ganz_status status = ganz_translator_run(t, lines, count, results, &why);
    if (status == GANZ_OK) return GANZ_OK;
    if (why.line > 0) return ganz_fail_line(err, status, why.line, "line %lld: %s", why.line, why.message);
    return ganz_fail(err, status, "%s", why.message);
}

long long ganz_translator_tokens(const ganz_translator *t)
{
    long long tokens = 0;
    for (size_t i = 0; i < t->piece_count; i++) tokens += t->pieces[i].count;
    return tokens;
}

/* ---- counting ----------------------------------------------------------------------------------- */

ganz_status ganz_translator_enable_counters(ganz_translator *t, ganz_error *err)
{
    if (!t->be->host) return ganz_fail(err, GANZ_EUNSUPPORTED, "sums and codes are counted on the cpu only");
    GANZ_TRY(ganz_decoder_set_instrument(t->decoder, NULL, err));
    ganz_audit_close(&t->audit);
    GANZ_TRY(ganz_audit_open(&t->audit, &t->model->net, err));
    return ganz_decoder_set_instrument(t->decoder, &t->audit.instrument, err);
}

void ganz_translator_get_counters(const ganz_translator *t, int product, ganz_product_counts *counts)
{
    const ganz_net *const net = &t->model->net;
    GANZ_ASSERT_ALWAYS(product >= 0 && product < net->products);
    *counts = (ganz_product_counts){0};
    if (t->audit.site) ganz_product_counted(&net->product[product], &t->audit, counts);
}
