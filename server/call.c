/* What all routes share: replies and their errors, texts of a request, translating them. */
#include "call.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ganz/io.h"
#include "server_parts.h"

/* ---- replies ------------------------------------------------------------------------------------ */

void call_reply_as(call *c, int status, const char *type) { http_reply(c->x, status, type, &c->out); }

void call_reply(call *c, int status)
{
    buffer_put(&c->out, "\n");
    call_reply_as(c, status, "application/json");
}

void call_fail(call *c, int status, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (size_t bytes = strlen(text); !ganz_utf8_valid(text, bytes); bytes--)
        text[bytes - 1] = '\0'; /* cut at a byte */
    c->out.bytes = 0;
    buffer_put(&c->out, c->route->flags & ROUTE_DEEPL ? "{\"message\":" : "{\"error\":");
    json_put(&c->out, text);
    buffer_put(&c->out, "}");
    call_reply(c, status);
}

void call_fail_job(call *c, const ganz_error *err)
{
    switch (err->status) {
    case GANZ_EINVAL:
    case GANZ_EFORMAT:
    case GANZ_EVERSION:
    case GANZ_EUNSUPPORTED:
    case GANZ_ELIMIT: call_fail(c, 400, "Invalid request: %s", err->message); break;
    case GANZ_ETIMEOUT: call_fail(c, 504, "the translation takes longer than this server waits"); break;
    case GANZ_EBUSY:
    case GANZ_ESTOPPED:
    case GANZ_ENOMEM:
        http_add_header(c->x, "Retry-After", "1");
        call_fail(c, 503, "no room for this request now");
        break;
    default: call_fail(c, 500, "%s", err->message);
    }
}

const char *call_scheme(const call *c)
{
    const char *const told = http_find_last_header(http_head_of(c->x), "x-forwarded-proto");
    const bool believed = c->server->options.trust_proxy && http_is_local(c->x);
    return believed && told && strcasecmp(told, "https") == 0 ? "https" : "http";
}

/* ---- texts -------------------------------------------------------------------------------------- */

size_t count_characters(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

size_t cut_characters(const char *text, size_t most)
{
    size_t bytes = strlen(text);
    if (bytes <= most) return bytes;
    for (bytes = most; bytes > 0 && ((unsigned char)text[bytes] & 0xc0) == 0x80;) bytes--;
    return bytes;
}

size_t count_units(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        count += (c & 0xc0) != 0x80;
        count += c >= 0xf0;
    }
    return count;
}

bool call_language(const char *text, char code[LANGUAGE_BYTES])
{
    const size_t bytes = strcspn(text, "-_");
    if (bytes == 0 || bytes >= LANGUAGE_BYTES) return false;
    for (size_t i = 0; i < bytes; i++) {
        if (!isalpha((unsigned char)text[i])) return false;
        code[i] = (char)tolower((unsigned char)text[i]);
    }
    code[bytes] = '\0';
    return true;
}

static void add_text(call_texts *t, const json_value *v)
{
    t->texts[t->count] =
        (job_text){.text = v->text, .bytes = v->bytes, .out = t->out + (size_t)t->count * (size_t)t->results};
    t->count++;
    t->characters += count_characters(v->text, v->bytes);
}

bool call_read_texts(call *c, const json_value *value, int results, call_texts *t)
{
    *t = (call_texts){.results = results, .array = value->kind == JSON_ARRAY};
    const int count = t->array ? value->count : 1;
    if (count > TEXTS_MOST) return call_fail(c, 400, "Invalid request: more than %d texts", TEXTS_MOST), false;
    t->texts = calloc((size_t)count + 1, sizeof *t->texts);
    t->out = calloc((size_t)count * (size_t)results + 1, sizeof *t->out);
    if (!t->texts || !t->out) return call_fail(c, 503, "out of memory"), false;
    for (const json_value *v = t->array ? value->first : value; v; v = t->array ? v->next : NULL) {
        if (v->kind != JSON_TEXT) return call_fail(c, 400, "Invalid request: a text is not a string"), false;
        add_text(t, v);
    }
    const long most = server_characters(c->server);
    if (t->characters > (size_t)most)
        return call_fail(c, 400, "Invalid request: request (%zu) exceeds text limit (%ld)", t->characters, most), false;
    return true;
}

void call_texts_free(call_texts *t)
{
    for (int i = 0; i < t->count * t->results && t->out; i++) ganz_text_free(&t->out[i]);
    free(t->texts);
    free(t->out);
    free(t->pairs);
    *t = (call_texts){0};
}

/* ---- languages ---------------------------------------------------------------------------------- */

/* The first text of a value, or of an array of them, that says something about its language. */
static detection detect_value(const call *c, const json_value *v)
{
    detection d = {.confidence = 0};
    const json_value *t = v && v->kind == JSON_ARRAY ? v->first : v;
    for (; t; t = v->kind == JSON_ARRAY ? t->next : NULL) {
        d = t->kind == JSON_TEXT ? call_detect(c, t->text, t->bytes) : call_detect(c, "", 0);
        if (d.confidence > 0) return d;
    }
    return *d.code ? d : call_detect(c, "", 0);
}

/* The languages that a request names. */
static bool read_languages(call *c, const char *source, const char *target, call_pair *p)
{
    *p = (call_pair){.automatic = !source || strcmp(source, "auto") == 0};
    if (!p->automatic && !call_language(source, p->source))
        return call_fail(c, 400, "%.32s is not supported", source), false;
    if (!call_language(target, p->target)) return call_fail(c, 400, "%.32s is not supported", target), false;
    return true;
}

/* A few words that could be of the language they are asked for in, or of another one, are of the other: wrongly taken
 * for the first they would not be translated at all. */
static void doubt(const call *c, call_pair *p)
{
    detection *const d = &p->detected;
    if (d->sure || strcmp(d->code, p->target) != 0 || !*d->next) return;
    if (models_find(c->set, d->next, p->target).count > 0) snprintf(d->code, sizeof d->code, "%s", d->next);
}

static bool find_models(call *c, call_pair *p)
{
    if (p->automatic) doubt(c, p);
    if (p->automatic) snprintf(p->source, sizeof p->source, "%s", p->detected.code);
    p->chain = models_find(c->set, p->source, p->target);
    if (p->chain.count > 0) return true;
    if (strcmp(p->source, p->target) == 0 && models_is_source(c->set, p->source)) return true;
    call_fail(c, 400, "%s is not supported", models_is_source(c->set, p->source) ? p->target : p->source);
    return false;
}

bool call_choose(call *c, const char *source, const char *target, const json_value *sample, call_pair *p)
{
    if (!read_languages(c, source, target, p)) return false;
    if (p->automatic) p->detected = detect_value(c, sample);
    return find_models(c, p);
}

bool call_choose_file(call *c, const char *source, const char *target, const char *path, call_pair *p)
{
    if (!read_languages(c, source, target, p)) return false;
    if (p->automatic) p->detected = call_detect_file(c, path, p->target);
    return find_models(c, p);
}

/* A word or two may be of many languages: such a text goes with those that are sure, where these agree, but not so that
 * it would stay as it is for their sake. A text that says nothing goes with the first that says something. */
static void settle_languages(call_texts *t)
{
    detection first = {.confidence = 0}, sure = {.confidence = 0};
    bool agreed = true;
    for (int i = 0; i < t->count; i++) {
        const detection *const d = &t->pairs[i].detected;
        if (first.confidence <= 0) first = *d;
        if (!sure.sure) sure = *d;
        else if (d->sure && strcmp(d->code, sure.code) != 0) agreed = false;
    }
    for (int i = 0; i < t->count; i++) {
        detection *const d = &t->pairs[i].detected;
        if (d->confidence <= 0) *d = sure.sure ? sure : first;
        else if (!d->sure && sure.sure && agreed && strcmp(sure.code, t->pairs[i].target) != 0) *d = sure;
    }
}

bool call_choose_each(call *c, const char *source, const char *target, const char *format, call_texts *t)
{
    call_pair all;
    if (!read_languages(c, source, target, &all)) return false;
    t->pairs = calloc((size_t)t->count + 1, sizeof *t->pairs);
    if (!t->pairs) return call_fail(c, 503, "out of memory"), false;
    for (int i = 0; i < t->count; i++) {
        const job_text *const text = &t->texts[i];
        t->pairs[i] = all;
        if (all.automatic)
            t->pairs[i].detected = call_detect_text(c, text->text, text->bytes, text->format ? text->format : format);
    }
    settle_languages(t);
    for (int i = 0; i < t->count; i++)
        if (!find_models(c, &t->pairs[i])) return false;
    return true;
}

/* ---- translating -------------------------------------------------------------------------------- */

job call_job(const call *c)
{
    return (job){.client = c->client,
                 .seconds = c->server->options.seconds,
                 .gone = http_gone(c->x),
                 .format = "text",
                 .newlines = GANZ_NEWLINE_ENDS};
}

/* Texts that are in the target language already are their own translations. */
static bool copy_texts(call *c, const job_text *texts, int count)
{
    for (int i = 0; i < count; i++) {
        ganz_text *const out = &texts[i].out[0];
        out->text = malloc(texts[i].bytes + 1);
        if (!out->text) return call_fail(c, 503, "out of memory"), false;
        memcpy(out->text, texts[i].text, texts[i].bytes);
        out->bytes = out->capacity = texts[i].bytes;
    }
    return true;
}

static bool translate_group(call *c, const job *j, job_text *texts, int count)
{
    ganz_error err;
    if (j->chain.count == 0) return copy_texts(c, texts, count);
    if (job_run(j, texts, count, &err) == GANZ_OK) return true;
    call_fail_job(c, &err);
    return false;
}

/* The texts in the language of text `first`; none if an earlier text has that language. */
static int gather_group(const call_texts *t, int first, job_text *group)
{
    int count = 0;
    for (int i = 0; i < t->count; i++) {
        if (strcmp(t->pairs[i].source, t->pairs[first].source) != 0) continue;
        if (i < first) return 0;
        group[count++] = t->texts[i];
    }
    return count;
}

/* Texts of one language go through its models together, one language after another in the time of the request. */
static bool translate_each(call *c, const job *j, const call_texts *t)
{
    job part = *j;
    job_text *const group = calloc((size_t)t->count + 1, sizeof *group);
    bool fine = group;
    if (!group) call_fail(c, 503, "out of memory");
    part.end = job_end(j);
    for (int i = 0; i < t->count && fine; i++) {
        const int count = gather_group(t, i, group);
        const bool glossed = !*t->glossary_source || strcmp(t->glossary_source, t->pairs[i].source) == 0;
        part.chain = t->pairs[i].chain;
        part.glossary = glossed ? j->glossary : NULL;
        part.formality = chain_knows_formality(&part.chain) ? j->formality : GANZ_FORMALITY_AUTO;
        fine = count == 0 || translate_group(c, &part, group, count);
    }
    free(group);
    return fine;
}

bool call_translate(call *c, const job *j, call_texts *t)
{
    server_count_characters(c->server, t->characters);
    return t->pairs ? translate_each(c, j, t) : translate_group(c, j, t->texts, t->count);
}

/* `known`: some of the models know it; `all`: all of them. */
static bool read_formality(call *c, bool known, bool all, ganz_formality *found)
{
    static const struct {
        const char *name;
        ganz_formality formality;
        bool insists;
    } values[] = {{"", GANZ_FORMALITY_AUTO, false},
                  {"default", GANZ_FORMALITY_AUTO, false},
                  {"auto", GANZ_FORMALITY_AUTO, false},
                  {"more", GANZ_FORMALITY_FORMAL, true},
                  {"formal", GANZ_FORMALITY_FORMAL, true},
                  {"less", GANZ_FORMALITY_INFORMAL, true},
                  {"informal", GANZ_FORMALITY_INFORMAL, true},
                  {"prefer_more", GANZ_FORMALITY_FORMAL, false},
                  {"prefer_less", GANZ_FORMALITY_INFORMAL, false}};
    const char *const asked = params_text(&c->p, "formality");
    *found = GANZ_FORMALITY_AUTO;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (strcmp(asked ? asked : "", values[i].name) != 0) continue;
        if (values[i].insists && !all)
            return call_fail(c, 400, "'formality' is not supported for given 'target_lang'."), false;
        if (known) *found = values[i].formality;
        return true;
    }
    return call_fail(c, 400, "Bad request. Reason: Value for 'formality' not supported."), false;
}

bool call_formality(call *c, const model_chain *chain, ganz_formality *found)
{
    const bool known = chain_knows_formality(chain);
    return read_formality(c, known, known, found);
}

bool call_formality_each(call *c, const call_texts *t, ganz_formality *found)
{
    int knowing = 0, chains = 0;
    for (int i = 0; i < t->count; i++) {
        chains += t->pairs[i].chain.count > 0;
        knowing += chain_knows_formality(&t->pairs[i].chain);
    }
    if (chains == 0 && t->count > 0 && models_know_formality(c->set, t->pairs[0].target))
        return read_formality(c, true, true, found); /* nothing is translated, and nothing is wrong with the request */
    return read_formality(c, knowing > 0, knowing > 0 && knowing == chains, found);
}
