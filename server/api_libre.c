/* The interface of LibreTranslate: /translate, /languages and what belongs to them. */
#include <stdio.h>
#include <string.h>

#include "call.h"

/* ---- languages ---------------------------------------------------------------------------------- */

static void put_targets(buffer *out, const model_set *set, const char *source)
{
    const char *codes[2 * MODELS_MOST];
    const int count = models_languages(set, codes);
    const char *comma = "";
    buffer_put(out, "[");
    for (int i = 0; i < count; i++) {
        if (strcmp(codes[i], source) != 0 && models_find(set, source, codes[i]).count == 0) continue;
        buffer_put(out, comma);
        json_put(out, codes[i]);
        comma = ",";
    }
    buffer_put(out, "]");
}

void run_languages(call *c)
{
    const char *codes[2 * MODELS_MOST];
    const int count = models_languages(c->set, codes);
    buffer_put(&c->out, "[");
    for (int i = 0; i < count; i++) {
        buffer_put(&c->out, i ? ",{\"code\":" : "{\"code\":");
        json_put(&c->out, codes[i]);
        buffer_put(&c->out, ",\"name\":");
        json_put(&c->out, language_name(codes[i]));
        buffer_put(&c->out, ",\"targets\":");
        put_targets(&c->out, c->set, codes[i]);
        buffer_put(&c->out, "}");
    }
    buffer_put(&c->out, "]");
    call_reply(c, 200);
}

/* ---- translate ---------------------------------------------------------------------------------- */

typedef struct wish {
    char source[LANGUAGE_BYTES], target[LANGUAGE_BYTES];
    bool automatic;
    detection detected;
    int alternatives;
    job job;
} wish;

/* A parameter that has to be there; NULL after a refusal. */
static const char *need(call *c, const char *name)
{
    const char *const text = params_text(&c->p, name);
    if (!text || !*text) call_fail(c, 400, "Invalid request: missing %s parameter", name);
    return text && *text ? text : NULL;
}

static bool read_languages(call *c, wish *w)
{
    const char *const source = need(c, "source"), *const target = source ? need(c, "target") : NULL;
    if (!target) return false;
    w->automatic = strcmp(source, "auto") == 0;
    if (!w->automatic && !call_language(source, w->source))
        return call_fail(c, 400, "%.32s is not supported", source), false;
    if (!call_language(target, w->target)) return call_fail(c, 400, "%.32s is not supported", target), false;
    return true;
}

static bool read_choices(call *c, wish *w)
{
    const char *const format = params_text(&c->p, "format");
    const long alternatives = params_number(&c->p, "alternatives", 0);
    if (format && *format && strcmp(format, "text") != 0 && strcmp(format, "html") != 0)
        return call_fail(c, 400, "%.32s format is not supported", format), false;
    if (alternatives < 0) return call_fail(c, 400, "Invalid request: alternatives parameter is not a number"), false;
    if (alternatives >= c->set->beam)
        return call_fail(c, 400, "Invalid request: alternatives parameter must be <= %d", c->set->beam - 1), false;
    const bool html = format && strcmp(format, "html") == 0;
    w->job = call_job(c);
    w->job.format = html ? "html" : "text";
    w->alternatives = (int)alternatives;
    w->job.alternatives = html ? 0 : (int)alternatives;
    return true;
}

/* Chooses the models; text in the target language already, as `auto` may find, stays as it is. */
static bool choose(call *c, wish *w, const call_texts *t)
{
    if (w->automatic) {
        w->detected = call_detect(c, t->texts[0].text, t->texts[0].bytes);
        for (int i = 1; i < t->count && w->detected.confidence < 1; i++)
            w->detected = call_detect(c, t->texts[i].text, t->texts[i].bytes);
        snprintf(w->source, sizeof w->source, "%s", w->detected.code);
    }
    w->job.chain = models_find(c->set, w->source, w->target);
    if (w->job.chain.count > 0 || (strcmp(w->source, w->target) == 0 && models_is_source(c->set, w->source)))
        return true;
    call_fail(c, 400, "%s is not supported", models_is_source(c->set, w->source) ? w->target : w->source);
    return false;
}

/* Copies texts that need no translation. */
static void copy_texts(call_texts *t)
{
    for (int i = 0; i < t->count; i++) t->texts[i].out = NULL;
}

static void put_result(buffer *out, const job_text *t)
{
    if (!t->out) json_put_text(out, t->text, t->bytes);
    else json_put_text(out, t->out[0].text ? t->out[0].text : "", t->out[0].bytes);
}

static bool is_new(const job_text *t, int k)
{
    for (int i = 0; i < k; i++)
        if (t->out[i].bytes == t->out[k].bytes && memcmp(t->out[i].text, t->out[k].text, t->out[k].bytes) == 0)
            return false;
    return t->out[k].bytes > 0;
}

static void put_alternatives(buffer *out, const job_text *t, int count)
{
    const char *comma = "";
    buffer_put(out, "[");
    for (int k = 1; k <= count && t->out; k++) {
        if (!is_new(t, k)) continue;
        buffer_put(out, comma);
        json_put_text(out, t->out[k].text, t->out[k].bytes);
        comma = ",";
    }
    buffer_put(out, "]");
}

static void put_detected(buffer *out, const detection *d)
{
    buffer_printf(out, "{\"confidence\":%.1f,\"language\":", d->confidence);
    json_put(out, d->code);
    buffer_put(out, "}");
}

typedef enum { PUT_RESULT, PUT_ALTERNATIVES, PUT_DETECTED } put_kind;

/* One value, or an array with one for each text where an array was sent. */
static void put_each(call *c, const wish *w, const call_texts *t, put_kind kind)
{
    buffer *const out = &c->out;
    if (t->array) buffer_put(out, "[");
    for (int i = 0; i < t->count; i++) {
        if (i > 0) buffer_put(out, ",");
        if (kind == PUT_RESULT) put_result(out, &t->texts[i]);
        else if (kind == PUT_ALTERNATIVES) put_alternatives(out, &t->texts[i], w->job.alternatives);
        else put_detected(out, &w->detected);
    }
    if (t->array) buffer_put(out, "]");
}

static void answer(call *c, const wish *w, const call_texts *t)
{
    buffer_put(&c->out, "{");
    if (w->alternatives > 0) {
        buffer_put(&c->out, "\"alternatives\":");
        put_each(c, w, t, PUT_ALTERNATIVES);
        buffer_put(&c->out, ",");
    }
    if (w->automatic) {
        buffer_put(&c->out, "\"detectedLanguage\":");
        put_each(c, w, t, PUT_DETECTED);
        buffer_put(&c->out, ",");
    }
    buffer_put(&c->out, "\"translatedText\":");
    put_each(c, w, t, PUT_RESULT);
    buffer_put(&c->out, "}");
    call_reply(c, 200);
}

void run_translate(call *c)
{
    wish w = {.automatic = false};
    call_texts t = {0};
    const json_value *const q = params_get(&c->p, "q");
    if (!q || (q->kind == JSON_TEXT && q->bytes == 0) || (q->kind == JSON_ARRAY && q->count == 0)) {
        call_fail(c, 400, "Invalid request: missing q parameter");
        return;
    }
    if (read_languages(c, &w) && read_choices(c, &w) && call_read_texts(c, q, 1 + w.job.alternatives, &t) &&
        choose(c, &w, &t)) {
        if (w.job.chain.count == 0) copy_texts(&t);
        if (w.job.chain.count == 0 || call_translate(c, &w.job, &t)) answer(c, &w, &t);
    }
    call_texts_free(&t);
}

void run_health(call *c)
{
    buffer_put(&c->out, "{\"status\":\"ok\"}");
    call_reply(c, 200);
}
