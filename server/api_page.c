/* What the page asks for: sentences with all that is known about their translations. */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "ganz/io.h"

typedef struct sentence {
    const char *text; /* without white space at its ends */
    size_t bytes;
    size_t begin, end;  /* in UTF-16 units of the whole text */
    const char *before; /* the sentence before it, or NULL */
    size_t before_bytes;
    const char *opening; /* of the letter that it is in, or NULL */
    size_t opening_bytes;
    ganz_formality formality; /* that this asks for */
    bool plain;               /* the model sees it as it is: words of the translation can be linked to it */
    int place;                /* among the plain ones, or among the others */
} sentence;

typedef struct page_job {
    call *c;
    job job;
    sentence *sentences;
    int count, capacity, plain_count, other_count;
    bool positions; /* sentences are parts of one text */
    bool alignment, scores, words;
    int alternatives;
    const char *prefix;
    size_t prefix_bytes;
    const char *text;                   /* in which sentences are looked for */
    const json_value *before, *opening; /* of the line at hand, where the text is parts of another one, or NULL */
    size_t counted, units;              /* how far its units are counted */
    ganz_line *lines;
    ganz_text middle; /* the sentence in between of two models */
    call_texts others;
    buffer *answers; /* (count) translations as JSON */
    bool failed;
} page_job;

/* ---- sentences ---------------------------------------------------------------------------------- */

static void add_sentence(page_job *p, const char *text, size_t bytes)
{
    if (p->count == p->capacity) {
        const int capacity = p->capacity ? 2 * p->capacity : 16;
        sentence *const more = realloc(p->sentences, (size_t)capacity * sizeof *more);
        if (!more) {
            p->failed = true;
            return;
        }
        p->sentences = more;
        p->capacity = capacity;
    }
    p->sentences[p->count++] = (sentence){.text = text, .bytes = bytes};
}

/* What the page says for a line: true if it says anything. */
static bool take_context(const json_value *line, const char **text, size_t *bytes)
{
    if (!line) return false;
    *text = line->kind == JSON_TEXT && line->bytes > 0 ? line->text : NULL;
    *bytes = *text ? line->bytes : 0;
    return true;
}

/* Finds what is before a new sentence: by what the page says for its line, else by the sentence before it; and how its
 * letter opens, if the page says that. */
static void find_context(page_job *p, sentence *s, size_t begin)
{
    const sentence *const first = p->sentences;
    bool starts = s == first;
    for (size_t at = p->counted; at < begin; at++) {
        if (p->text[at] != '\n') continue;
        starts = true;
        if (p->before) p->before = p->before->next;
        if (p->opening) p->opening = p->opening->next;
    }
    if (!(starts && take_context(p->before, &s->before, &s->before_bytes)) && s > first) {
        s->before = s[-1].text;
        s->before_bytes = s[-1].bytes;
    }
    take_context(p->opening, &s->opening, &s->opening_bytes);
}

static void on_sentence(void *context, size_t begin, size_t end)
{
    page_job *const p = context;
    add_sentence(p, p->text + begin, end - begin);
    if (p->failed) return;
    sentence *const s = &p->sentences[p->count - 1];
    find_context(p, s, begin);
    s->begin = p->units + count_units(p->text + p->counted, begin - p->counted);
    s->end = s->begin + count_units(p->text + begin, end - begin);
    p->counted = end;
    p->units = s->end;
}

static void add_stripped(page_job *p, const char *text, size_t bytes)
{
    while (bytes > 0 && strchr(" \t\r\n", text[bytes - 1])) bytes--;
    while (bytes > 0 && strchr(" \t\r\n", *text)) text++, bytes--;
    add_sentence(p, text, bytes);
}

/* A part of the text as a document of its own; NULL: it cannot be one. */
static ganz_document *open_part(const page_job *p, const sentence *s, ganz_newlines newlines)
{
    ganz_error err;
    ganz_document *d;
    ganz_document_options o;
    ganz_document_defaults(&o);
    o.format = "text";
    o.newlines = newlines;
    o.source = p->job.chain.models[0]->source;
    o.target = p->job.chain.models[0]->target;
    o.before = s->before;
    o.before_bytes = s->before_bytes;
    o.opening = s->opening;
    o.opening_bytes = s->opening_bytes;
    return ganz_document_open(&d, s->text, s->bytes, &o, &err) == GANZ_OK ? d : NULL;
}

static ganz_document *open_sentence(const page_job *p, const sentence *s)
{
    return open_part(p, s, GANZ_NEWLINE_NEVER);
}

/* Whether the reader is addressed in some way somewhere in a part of the text. */
static bool asks_for_form(const page_job *p, const sentence *part)
{
    ganz_error err;
    ganz_segment s = {.text = ""};
    ganz_document *d = open_part(p, part, GANZ_NEWLINE_ENDS);
    bool asks = false;
    while (d && !asks && ganz_document_next(d, &s, &err) == GANZ_OK && s.text)
        asks = s.formality != GANZ_FORMALITY_AUTO;
    ganz_document_close(&d);
    return asks;
}

static bool opens_letter(const page_job *p, const sentence *s)
{
    const sentence below = {.text = "Yes.", .bytes = 4, .opening = s->text, .opening_bytes = s->bytes};
    return s->bytes > 0 && s->text[s->bytes - 1] == ',' && asks_for_form(p, &below);
}

/* How the letter opens that the whole text is, if it is one: a document finds that out, and here is which sentence it
 * is. */
static void find_opening(page_job *p, size_t bytes)
{
    const sentence whole = {.text = p->text, .bytes = bytes};
    int i = 0;
    while (i < p->count && !opens_letter(p, &p->sentences[i])) i++;
    if (i == p->count || !asks_for_form(p, &whole)) return;
    for (int below = i + 1; below < p->count; below++) {
        p->sentences[below].opening = p->sentences[i].text;
        p->sentences[below].opening_bytes = p->sentences[i].bytes;
    }
}

static bool read_sentences(page_job *p, const char *language)
{
    call *const c = p->c;
    const json_value *const text = params_get(&c->p, "text"), *const list = params_get(&c->p, "sentences");
    const json_value *const before = params_get(&c->p, "before"), *const opening = params_get(&c->p, "opening");
    p->opening = opening && opening->kind == JSON_ARRAY ? opening->first : NULL;
    if (list && list->kind == JSON_ARRAY) {
        for (const json_value *v = list->first; v; v = v->next) {
            if (v->kind != JSON_TEXT) return call_fail(c, 400, "Invalid request: a sentence is not a string"), false;
            add_stripped(p, v->text, v->bytes);
            if (p->failed || !p->opening) continue;
            take_context(p->opening, &p->sentences[p->count - 1].opening, &p->sentences[p->count - 1].opening_bytes);
            p->opening = p->opening->next;
        }
    } else if (text && text->kind == JSON_TEXT) {
        p->text = text->text;
        p->before = before && before->kind == JSON_ARRAY ? before->first : NULL;
        p->positions = true;
        const bool told = p->opening;
        ganz_each_sentence(text->text, text->bytes, language, GANZ_NEWLINE_ENDS, on_sentence, p);
        if (!told && !p->failed && p->job.chain.count > 0) find_opening(p, text->bytes);
    } else {
        return call_fail(c, 400, "Invalid request: missing text or sentences parameter"), false;
    }
    if (p->count > TEXTS_MOST) return call_fail(c, 400, "Invalid request: more than %d sentences", TEXTS_MOST), false;
    return p->failed ? call_fail(c, 503, "out of memory"), false : true;
}

/* Whether the model sees the sentence as it is, and nothing has to be put back into its translation. */
static bool is_plain(const page_job *p, sentence *s)
{
    ganz_error err;
    ganz_segment first = {0}, second = {.text = ""};
    ganz_document *d = open_sentence(p, s);
    if (!d) return false;
    const bool read = ganz_document_next(d, &first, &err) == GANZ_OK && first.text &&
                      ganz_document_next(d, &second, &err) == GANZ_OK && !second.text;
    if (read) s->formality = first.formality;
    const bool plain = read && !first.links && first.bytes == s->bytes && memcmp(first.text, s->text, s->bytes) == 0;
    ganz_document_close(&d);
    return plain;
}

/* ---- answers ------------------------------------------------------------------------------------ */

static void put_range(buffer *out, const char *text, size_t begin, size_t end)
{
    const size_t first = count_units(text, begin);
    buffer_printf(out, "%zu,%zu", first, first + count_units(text + begin, end - begin));
}

static void put_links(buffer *out, const sentence *s, const ganz_translation *t)
{
    buffer_put(out, ",\"links\":[");
    const char *comma = "";
    for (int i = 0; i < t->link_count; i++) {
        const ganz_link *const l = &t->links[i];
        if (l->weak || l->source_end > s->bytes || l->target_end > t->bytes) continue;
        buffer_printf(out, "%s[", comma);
        put_range(out, s->text, l->source_begin, l->source_end);
        buffer_put(out, ",");
        put_range(out, t->text, l->target_begin, l->target_end);
        buffer_put(out, "]");
        comma = ",";
    }
    buffer_put(out, "]");
}

static void put_words(buffer *out, const ganz_translation *t)
{
    buffer_put(out, ",\"words\":[");
    for (int i = 0; i < t->token_count; i++) {
        buffer_put(out, i ? ",[" : "[");
        put_range(out, t->text, t->tokens[i].begin, t->tokens[i].end);
        buffer_put(out, ",");
        json_put_number(out, t->tokens[i].score);
        buffer_put(out, "]");
    }
    buffer_put(out, "]");
}

/* A beginning that was asked for stays as it is, and so does what follows. */
static bool copy_text(const ganz_translation *t, ganz_text *text)
{
    *text = (ganz_text){.text = malloc(t->bytes + 1), .capacity = t->bytes + 1};
    if (!text->text) return false;
    memcpy(text->text, t->text, t->bytes);
    text->bytes = t->bytes;
    return true;
}

/* The text as it would be in a document, which may begin with a capital in place of a small letter. False: a document
 * would have asked again, because a number was lost, or would have other bytes, which move the words. */
static bool write_text(const page_job *p, const sentence *s, const ganz_translation *t, ganz_text *text)
{
    ganz_error err;
    ganz_segment segment = {0}, again = {0};
    if (p->prefix) return copy_text(t, text);
    ganz_document *d = open_sentence(p, s);
    const bool whole = d && ganz_document_next(d, &segment, &err) == GANZ_OK && segment.text &&
                       ganz_document_put(d, segment.number, t, &err) == GANZ_OK &&
                       ganz_document_next(d, &again, &err) == GANZ_OK && !again.text &&
                       ganz_document_write(d, text, &err) == GANZ_OK && text->bytes == t->bytes;
    ganz_document_close(&d);
    return whole;
}

static void put_translation(const page_job *p, buffer *out, const sentence *s, const ganz_translation *t,
                            const ganz_text *said)
{
    buffer_put(out, "{\"text\":");
    json_put_text(out, said->text, said->bytes);
    if (p->scores) {
        buffer_put(out, ",\"score\":");
        json_put_number(out, t->score);
    }
    if (p->alignment && t->links) put_links(out, s, t);
    if (p->words && t->tokens) put_words(out, t);
    buffer_put(out, "}");
}

/* Whether a translation has something to say that none before it says. */
static bool is_new(const ganz_text *out, int k)
{
    if (k > 0 && out[k].bytes == 0) return false;
    for (int i = 0; i < k; i++)
        if (out[i].bytes == out[k].bytes && memcmp(out[i].text, out[k].text, out[k].bytes) == 0) return false;
    return true;
}

static void add_other(page_job *p, sentence *s)
{
    s->plain = false;
    s->place = p->others.count++;
    p->others.texts[s->place] = (job_text){.text = s->text,
                                           .bytes = s->bytes,
                                           .before = s->before,
                                           .before_bytes = s->before_bytes,
                                           .opening = s->opening,
                                           .opening_bytes = s->opening_bytes,
                                           .out = p->others.out + (size_t)s->place * (size_t)p->others.results};
}

/* All translations of a plain sentence that differ as they are shown. One whose best is not what a document would have
 * is translated as a document is. */
static void put_result(page_job *p, sentence *s, const ganz_result *r, ganz_text *said, buffer *answer)
{
    for (int k = 0; k < r->count && k <= p->alternatives; k++) {
        const bool whole = write_text(p, s, &r->best[k], &said[k]);
        if (!whole && k == 0) {
            add_other(p, s);
            return;
        }
        if (!whole) ganz_text_free(&said[k]);
        if (!whole || !is_new(said, k)) continue;
        if (k > 0) buffer_put(answer, ",");
        put_translation(p, answer, s, &r->best[k], &said[k]);
    }
}

/* Results of the plain sentences, before they are gone. */
static void use_results(void *context, const ganz_result *results)
{
    page_job *const p = context;
    const int most = 1 + p->alternatives;
    ganz_text *const said = calloc((size_t)most, sizeof *said);
    for (int i = 0; i < p->count; i++) {
        sentence *const s = &p->sentences[i];
        if (!s->plain) continue;
        if (said) put_result(p, s, &results[s->place], said, &p->answers[i]);
        else p->answers[i].failed = true;
        for (int k = 0; k < most && said; k++) ganz_text_free(&said[k]);
    }
    free(said);
}

/* Links of a translation that the model was made to say: of as much as it said so. */
static void put_forced_links(buffer *out, const sentence *s, const ganz_text *text, const ganz_translation *forced)
{
    ganz_translation said = *forced;
    if (said.bytes < text->bytes || text->bytes == 0 || memcmp(said.text, text->text, text->bytes) != 0) return;
    said.bytes = text->bytes;
    put_links(out, s, &said);
}

/* Translations of the sentences that are not plain; `forced` has a result for each of them, or is NULL. */
static void use_others(void *context, const ganz_result *forced)
{
    page_job *const p = context;
    for (int i = 0; i < p->count; i++) {
        const sentence *const s = &p->sentences[i];
        buffer *const answer = &p->answers[i];
        if (s->plain) continue;
        const ganz_text *const out = p->others.texts[s->place].out;
        for (int k = 0; k <= p->alternatives; k++) {
            if (!is_new(out, k)) continue;
            buffer_put(answer, k ? ",{\"text\":" : "{\"text\":");
            json_put_text(answer, out[k].text ? out[k].text : "", out[k].bytes);
            if (forced) put_forced_links(answer, s, &out[k], &forced[s->place * (1 + p->alternatives) + k].best[0]);
            buffer_put(answer, "}");
        }
    }
}

static void put_answer(page_job *p, const call_pair *pair)
{
    buffer *const out = &p->c->out;
    buffer_put(out, "{\"source\":");
    json_put(out, pair->source);
    buffer_put(out, ",\"target\":");
    json_put(out, pair->target);
    if (pair->automatic) buffer_printf(out, ",\"confidence\":%.1f", pair->detected.confidence);
    buffer_put(out, ",\"sentences\":[");
    for (int i = 0; i < p->count; i++) {
        const sentence *const s = &p->sentences[i];
        buffer_put(out, i ? ",{\"source\":" : "{\"source\":");
        json_put_text(out, s->text, s->bytes);
        if (p->positions) buffer_printf(out, ",\"begin\":%zu,\"end\":%zu", s->begin, s->end);
        buffer_put(out, ",\"translations\":[");
        buffer_add(out, p->answers[i].data, p->answers[i].bytes);
        if (p->answers[i].failed) out->failed = true;
        buffer_put(out, "]}");
    }
    buffer_put(out, "]}");
    call_reply(p->c, 200);
}

/* ---- translating -------------------------------------------------------------------------------- */

static ganz_line line_of(const page_job *p, const sentence *s)
{
    return (ganz_line){.text = s->text,
                       .bytes = s->bytes,
                       .prefix = p->prefix,
                       .prefix_bytes = p->prefix_bytes,
                       .unlinked = !p->alignment,
                       .unscored = !p->words,
                       .n_best = p->alternatives > 0 ? 0 : 1,
                       .formality = p->job.formality ? p->job.formality : s->formality};
}

static bool sort_sentences(page_job *p)
{
    const size_t count = (size_t)p->count + 1, results = 1 + (size_t)p->alternatives;
    size_t characters = 0;
    p->lines = calloc(count, sizeof *p->lines);
    p->answers = calloc(count, sizeof *p->answers);
    p->others = (call_texts){.texts = calloc(count, sizeof *p->others.texts),
                             .out = calloc(count * results, sizeof *p->others.out),
                             .results = (int)results};
    if (!p->lines || !p->answers || !p->others.texts || !p->others.out)
        return call_fail(p->c, 503, "out of memory"), false;
    for (int i = 0; i < p->count; i++) {
        sentence *const s = &p->sentences[i];
        characters += count_characters(s->text, s->bytes);
        s->plain = p->job.chain.count == 1 && is_plain(p, s); /* and finds its formality */
        s->plain = s->plain || (p->job.chain.count > 0 && p->prefix);
        if (!s->plain) {
            add_other(p, s);
            continue;
        }
        s->place = p->plain_count++;
        p->lines[s->place] = line_of(p, s);
    }
    if (characters <= (size_t)server_characters(p->c->server)) {
        server_count_characters(p->c->server, characters);
        return true;
    }
    call_fail(p->c, 400, "Invalid request: request (%zu) exceeds text limit (%ld)", characters,
              server_characters(p->c->server));
    return false;
}

/* Words of sentences with addresses, placeholders and the like are linked by a second look: the model gets the sentence
 * as it is and has to say the translation that was put together. What cannot be said so has no links. */
static void answer_others(page_job *p)
{
    ganz_error err;
    const int results = 1 + p->alternatives, count = p->others.count * results;
    ganz_line *const lines = p->alignment && p->job.chain.count == 1 ? calloc((size_t)count, sizeof *lines) : NULL;
    for (int i = 0; i < count && lines; i++) {
        const job_text *const t = &p->others.texts[i / results];
        const ganz_text *const out = &t->out[i % results];
        const bool said = out->bytes > 0;
        lines[i] = (ganz_line){.text = said ? t->text : "",
                               .bytes = said ? t->bytes : 0,
                               .unscored = true,
                               .n_best = 1,
                               .formality = p->job.formality};
        if (said) lines[i].prefix = out->text, lines[i].prefix_bytes = out->bytes;
    }
    if (!lines || job_lines(&p->job, lines, count, use_others, p, &err) != GANZ_OK) use_others(p, NULL);
    free(lines);
}

/* A prefix is for the second of two models: what the first one says becomes its sentence. Links and scores would be
 * about that sentence, which nobody sees. */
static bool pass_first_model(page_job *p)
{
    ganz_error err;
    job first = p->job;
    if (!p->prefix || first.chain.count < 2) return true; /* without a prefix there may be no sentence at all */
    const sentence *const s = &p->sentences[0];
    job_text text = {.text = s->text, .bytes = s->bytes, .out = &p->middle};
    first.chain.count = 1;
    first.alternatives = 0;
    first.formality = GANZ_FORMALITY_AUTO;
    if (job_run(&first, &text, 1, &err) != GANZ_OK) return call_fail_job(p->c, &err), false;
    p->alignment = p->scores = p->words = false;
    p->lines[0] = line_of(p, s);
    p->lines[0].text = p->middle.text ? p->middle.text : "";
    p->lines[0].bytes = p->middle.bytes;
    return true;
}

static bool translate(page_job *p)
{
    ganz_error err;
    p->job.end = job_end(&p->job);
    p->job.alternatives = p->alternatives;
    p->job.newlines = GANZ_NEWLINE_NEVER;
    if (!pass_first_model(p)) return false;
    if (p->plain_count > 0 && job_lines(&p->job, p->lines, p->plain_count, use_results, p, &err) != GANZ_OK)
        return call_fail_job(p->c, &err), false;
    if (p->others.count > 0) {
        if (!call_translate(p->c, &p->job, &p->others)) return false;
        answer_others(p);
    }
    return true;
}

static bool read_choices(page_job *p)
{
    call *const c = p->c;
    const json_value *const prefix = params_get(&c->p, "prefix");
    const long alternatives = params_number(&c->p, "alternatives", 0);
    if (alternatives < 0 || alternatives >= c->set->beam)
        return call_fail(c, 400, "Invalid request: alternatives parameter must be <= %d", c->set->beam - 1), false;
    p->alternatives = (int)alternatives;
    p->alignment = params_flag(&c->p, "alignment", false);
    p->scores = params_flag(&c->p, "scores", false);
    p->words = params_flag(&c->p, "words", false);
    if (!prefix || prefix->kind != JSON_TEXT || prefix->bytes == 0) return true;
    p->prefix = prefix->text;
    p->prefix_bytes = prefix->bytes;
    return true;
}

static void free_job(page_job *p)
{
    for (int i = 0; i < p->count && p->answers; i++) buffer_free(&p->answers[i]);
    call_texts_free(&p->others);
    ganz_text_free(&p->middle);
    free(p->answers);
    free(p->lines);
    free(p->sentences);
}

/* Chooses the models, by the text or the first sentences where it has to be found out. */
static bool choose(page_job *p, call_pair *pair)
{
    call *const c = p->c;
    const char *const target = params_text(&c->p, "target");
    const json_value *const text = params_get(&c->p, "text"), *const list = params_get(&c->p, "sentences");
    if (!target || !*target) return call_fail(c, 400, "Invalid request: missing target parameter"), false;
    if (!call_choose(c, params_text(&c->p, "source"), target, list ? list : text, pair)) return false;
    p->job.chain = pair->chain;
    return call_formality(c, &pair->chain, &p->job.formality);
}

void run_ganz_translate(call *c)
{
    page_job p = {.c = c, .job = call_job(c)};
    call_pair pair;
    if (read_choices(&p) && choose(&p, &pair) && read_sentences(&p, pair.source)) {
        if (p.prefix && p.count != 1) call_fail(c, 400, "Invalid request: a prefix needs exactly one sentence");
        else if (sort_sentences(&p) && translate(&p)) put_answer(&p, &pair);
    }
    free_job(&p);
}
