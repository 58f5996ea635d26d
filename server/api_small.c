/* Small interfaces of extensions and tools: Immersive Translate, KISS Translator, DeepLX, MTranServer. They differ in
 * the names of things only. */
#include <stdio.h>
#include <string.h>

#include "call.h"

/* Languages are called "auto", "en", "zh-CN" or so; texts may hold tags where an extension put them. */
static bool translate(call *c, const char *source, const char *target, const json_value *texts, call_texts *t,
                      call_pair *pair)
{
    const char *const from = params_text(&c->p, source), *const to = params_text(&c->p, target);
    if (!texts || !to || !*to)
        return call_fail(c, 400, "Invalid request: missing %s parameter", to ? "text" : target), false;
    if (!call_choose(c, from && *from ? from : NULL, to, texts, pair)) return false;
    job j = call_job(c);
    j.chain = pair->chain;
    const char *const mark = texts->kind == JSON_TEXT ? strchr(texts->text, '<') : NULL;
    j.format = params_flag(&c->p, "html", false) || (mark && strchr(mark, '>')) ? "html" : "text";
    for (const json_value *v = texts->kind == JSON_ARRAY ? texts->first : NULL; v; v = v->next)
        if (v->kind == JSON_TEXT && strstr(v->text, "</")) j.format = "html";
    return call_read_texts(c, texts, 1, t) && call_translate(c, &j, t);
}

static void put_text(buffer *out, const job_text *t)
{
    json_put_text(out, t->out[0].text ? t->out[0].text : "", t->out[0].bytes);
}

/* {text_list, source_lang, target_lang}: {translations: [{detected_source_lang, text}]} */
void run_imme(call *c)
{
    call_texts t = {0};
    call_pair pair;
    if (translate(c, "source_lang", "target_lang", params_get(&c->p, "text_list"), &t, &pair)) {
        buffer_put(&c->out, "{\"translations\":[");
        for (int i = 0; i < t.count; i++) {
            buffer_printf(&c->out, "%s{\"detected_source_lang\":\"%s\",\"text\":", i ? "," : "", pair.source);
            put_text(&c->out, &t.texts[i]);
            buffer_put(&c->out, "}");
        }
        buffer_put(&c->out, "]}");
        call_reply(c, 200);
    }
    call_texts_free(&t);
}

/* {text, from, to}: {text, src, result}; {texts, from, to}: {translations: [{text, src}], results: [...]} */
void run_kiss(call *c)
{
    call_texts t = {0};
    call_pair pair;
    const json_value *const many = params_get(&c->p, "texts"), *const texts = many ? many : params_get(&c->p, "text");
    if (!translate(c, "from", "to", texts, &t, &pair)) {
        call_texts_free(&t);
        return;
    }
    buffer_put(&c->out, t.array ? "{\"translations\":[" : "");
    for (int i = 0; i < t.count; i++) {
        buffer_put(&c->out, i ? ",{\"text\":" : "{\"text\":");
        put_text(&c->out, &t.texts[i]);
        buffer_printf(&c->out, ",\"src\":\"%s\"", pair.source);
        if (!t.array) buffer_put(&c->out, ",\"result\":");
        if (!t.array) put_text(&c->out, &t.texts[i]);
        buffer_put(&c->out, "}");
    }
    for (int i = 0; i < t.count && t.array; i++) {
        buffer_put(&c->out, i ? "," : "],\"results\":[");
        put_text(&c->out, &t.texts[i]);
    }
    buffer_put(&c->out, t.array ? "]}" : "");
    call_reply(c, 200);
    call_texts_free(&t);
}

/* {text, source_lang, target_lang}: {code, id, data, alternatives, source_lang, target_lang, method} */
void run_deeplx(call *c)
{
    call_texts t = {0};
    call_pair pair;
    const json_value *const text = params_get(&c->p, "text");
    if (text && text->kind != JSON_TEXT) call_fail(c, 400, "Invalid request: text is not a string");
    else if (translate(c, "source_lang", "target_lang", text, &t, &pair)) {
        char source[LANGUAGE_BYTES], target[LANGUAGE_BYTES];
        call_upper(pair.source, source);
        call_upper(pair.target, target);
        buffer_printf(&c->out, "{\"code\":200,\"id\":%llu,\"data\":", (unsigned long long)(c->client % 1000000000));
        put_text(&c->out, &t.texts[0]);
        buffer_printf(&c->out,
                      ",\"alternatives\":[],\"source_lang\":\"%s\",\"target_lang\":\"%s\",\"method\":\"Free\"}", source,
                      target);
        call_reply(c, 200);
    }
    call_texts_free(&t);
}
