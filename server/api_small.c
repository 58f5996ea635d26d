/* Small interfaces of extensions and tools: Immersive Translate, KISS Translator, DeepLX, MTranServer. They differ in
 * the names of things only. */
#include <stdio.h>
#include <string.h>

#include "call.h"

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Whether a text has a tag that ends an element, </b> or <br/>: an extension put it there. "a < b" and "List<String>"
 * are plain text. */
static bool has_tags(const char *text)
{
    for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
        const bool ends = at[1] == '/';
        if (!is_letter(at[1 + ends])) continue;
        const size_t bytes = 1 + strcspn(at + 1, "<>");
        if (at[bytes] == '>' && (ends || at[bytes - 1] == '/')) return true;
    }
    return false;
}

typedef enum { TAGS_SEEN, TAGS_ASKED } tags_rule;

/* What the texts are: as the request says, else by their tags where the interface is for extensions. Each by itself:
 * plain text that was taken for HTML would come back with &lt; in it. */
static void find_formats(call *c, tags_rule rule, call_texts *t)
{
    const char *const tags = params_text(&c->p, "tag_handling");
    const bool html = params_flag(&c->p, "html", false) || (tags && (!strcmp(tags, "html") || !strcmp(tags, "xml")));
    const bool looks = rule == TAGS_SEEN && !html && !params_get(&c->p, "html");
    for (int i = 0; i < t->count; i++)
        t->texts[i].format = html || (looks && has_tags(t->texts[i].text)) ? "html" : "text";
}

/* Languages are called "auto", "en", "zh-CN" or so. */
static bool translate(call *c, const char *source, const char *target, const json_value *texts, tags_rule rule,
                      call_texts *t)
{
    const char *const from = params_text(&c->p, source), *const to = params_text(&c->p, target);
    if (!texts || !to || !*to)
        return call_fail(c, 400, "Invalid request: missing %s parameter", to ? "text" : target), false;
    if (!call_read_texts(c, texts, 1, t)) return false;
    find_formats(c, rule, t);
    const job j = call_job(c);
    return call_choose_each(c, from && *from ? from : NULL, to, j.format, t) && call_translate(c, &j, t);
}

static void put_text(buffer *out, const job_text *t)
{
    json_put_text(out, t->out[0].text ? t->out[0].text : "", t->out[0].bytes);
}

/* {text_list, source_lang, target_lang}: {translations: [{detected_source_lang, text}]} */
void run_imme(call *c)
{
    call_texts t = {0};
    if (translate(c, "source_lang", "target_lang", params_get(&c->p, "text_list"), TAGS_SEEN, &t)) {
        buffer_put(&c->out, "{\"translations\":[");
        for (int i = 0; i < t.count; i++) {
            buffer_printf(&c->out, "%s{\"detected_source_lang\":\"%s\",\"text\":", i ? "," : "", t.pairs[i].source);
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
    const json_value *const many = params_get(&c->p, "texts"), *const texts = many ? many : params_get(&c->p, "text");
    if (!translate(c, "from", "to", texts, TAGS_SEEN, &t)) {
        call_texts_free(&t);
        return;
    }
    buffer_put(&c->out, t.array ? "{\"translations\":[" : "");
    for (int i = 0; i < t.count; i++) {
        buffer_put(&c->out, i ? ",{\"text\":" : "{\"text\":");
        put_text(&c->out, &t.texts[i]);
        buffer_printf(&c->out, ",\"src\":\"%s\"", t.pairs[i].source);
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
    const json_value *const text = params_get(&c->p, "text");
    if (text && text->kind != JSON_TEXT) call_fail(c, 400, "Invalid request: text is not a string");
    else if (translate(c, "source_lang", "target_lang", text, TAGS_ASKED, &t)) {
        char source[LANGUAGE_BYTES], target[LANGUAGE_BYTES];
        call_upper(t.pairs[0].source, source);
        call_upper(t.pairs[0].target, target);
        buffer_printf(&c->out, "{\"code\":200,\"id\":%llu,\"data\":", (unsigned long long)(c->client % 1000000000));
        put_text(&c->out, &t.texts[0]);
        buffer_printf(&c->out,
                      ",\"alternatives\":[],\"source_lang\":\"%s\",\"target_lang\":\"%s\",\"method\":\"Free\"}", source,
                      target);
        call_reply(c, 200);
    }
    call_texts_free(&t);
}
