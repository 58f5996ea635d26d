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

static bool read_texts(call *c, const wish *w, const json_value *q, call_texts *t)
{
    const char *const source = need(c, "source"), *const target = source ? need(c, "target") : NULL;
    return target && call_read_texts(c, q, 1 + w->job.alternatives, t) &&
           call_choose_each(c, source, target, w->job.format, t);
}

static void put_result(buffer *out, const job_text *t)
{
    json_put_text(out, t->out[0].text ? t->out[0].text : "", t->out[0].bytes);
}

static bool is_new(const job_text *t, int k)
{
    if (t->out[k].bytes == 0) return false;
    for (int i = 0; i < k; i++)
        if (t->out[i].bytes == t->out[k].bytes && memcmp(t->out[i].text, t->out[k].text, t->out[k].bytes) == 0)
            return false;
    return true;
}

static void put_alternatives(buffer *out, const job_text *t, int count)
{
    const char *comma = "";
    buffer_put(out, "[");
    for (int k = 1; k <= count; k++) {
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
        else put_detected(out, &t->pairs[i].detected);
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
    if (t->pairs[0].automatic) {
        buffer_put(&c->out, "\"detectedLanguage\":");
        put_each(c, w, t, PUT_DETECTED);
        buffer_put(&c->out, ",");
    }
    buffer_put(&c->out, "\"translatedText\":");
    put_each(c, w, t, PUT_RESULT);
    buffer_put(&c->out, "}");
    call_reply(c, 200);
}

static bool is_missing(const json_value *q)
{
    return !q || (q->kind == JSON_TEXT && q->bytes == 0) || (q->kind == JSON_ARRAY && q->count == 0);
}

static void translate(call *c)
{
    wish w = {.alternatives = 0};
    call_texts t = {0};
    const json_value *const q = params_get(&c->p, "q");
    if (is_missing(q)) {
        call_fail(c, 400, "Invalid request: missing q parameter");
        return;
    }
    if (read_choices(c, &w) && read_texts(c, &w, q, &t) && call_translate(c, &w.job, &t)) answer(c, &w, &t);
    call_texts_free(&t);
}

/* Other interfaces use the same address; their names for the text tell them apart. */
void run_translate(call *c)
{
    if (!params_get(&c->p, "q") && params_get(&c->p, "text_list")) run_imme(c);
    else if (!params_get(&c->p, "q") && params_get(&c->p, "text") && params_get(&c->p, "target_lang")) run_deeplx(c);
    else if (!params_get(&c->p, "q") && params_get(&c->p, "to")) run_kiss(c);
    else translate(c);
}

/* ---- what belongs to it ------------------------------------------------------------------------- */

void run_detect(call *c)
{
    const json_value *const q = params_get(&c->p, "q");
    if (is_missing(q) || q->kind != JSON_TEXT) {
        call_fail(c, 400, "Invalid request: missing q parameter");
        return;
    }
    ganz_guess guesses[3];
    const size_t count = ganz_detect(c->set->detector, q->text, q->bytes, guesses, 3);
    buffer_put(&c->out, "[");
    for (size_t i = 0; i < count; i++) {
        detection d = {.confidence = 100 * guesses[i].confidence};
        snprintf(d.code, sizeof d.code, "%s", guesses[i].language);
        if (i > 0) buffer_put(&c->out, ",");
        put_detected(&c->out, &d);
    }
    if (count == 0) buffer_put(&c->out, "{\"confidence\":0.0,\"language\":\"en\"}");
    buffer_put(&c->out, "]");
    call_reply(c, 200);
}

void run_suggest(call *c) { call_fail(c, 403, "Suggestions are disabled on this server."); }

/* The first pair, as the settings of the page begin with. */
static void put_side(buffer *out, const char *side, const char *code)
{
    buffer_printf(out, "\"%s\":{\"code\":", side);
    json_put(out, code);
    buffer_put(out, ",\"name\":");
    json_put(out, strcmp(code, "auto") == 0 ? "Auto Detect" : language_name(code));
    buffer_put(out, "}");
}

void run_settings(call *c)
{
    const server_options *const o = server_options_of(c->server);
    buffer_printf(&c->out,
                  "{\"apiKeys\":%s,\"charLimit\":%ld,\"filesTranslation\":true,\"frontendTimeout\":150,"
                  "\"keyRequired\":%s,\"language\":{",
                  o->keys_path ? "true" : "false", o->max_characters, o->keys_path ? "true" : "false");
    put_side(&c->out, "source", c->set->count > 1 ? "auto" : c->set->models[0].source);
    buffer_put(&c->out, ",");
    put_side(&c->out, "target", c->set->models[0].target);
    buffer_put(&c->out, "},\"suggestions\":false,\"supportedFilesFormat\":["
                        "\".txt\",\".html\",\".md\",\".docx\",\".pptx\",\".odt\",\".odp\",\".epub\",\".xlf\","
                        "\".po\",\".json\",\".arb\",\".properties\",\".srt\",\".vtt\"]}");
    call_reply(c, 200);
}

void run_health(call *c)
{
    buffer_put(&c->out, "{\"status\":\"ok\"}");
    call_reply(c, 200);
}

void run_version(call *c)
{
    buffer_put(&c->out, "{\"name\":\"ganz\",\"version\":");
    json_put(&c->out, ganz_version());
    buffer_put(&c->out, "}");
    call_reply(c, 200);
}
