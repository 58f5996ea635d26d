/* DeepL's interface, version 2: texts, languages and usage. Documents and glossaries are in api_deepl_more.c. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "glossaries.h"
#include "server_parts.h"

void call_upper(const char *code, char upper[LANGUAGE_BYTES])
{
    size_t i = 0;
    for (; code[i] && i < LANGUAGE_BYTES - 1; i++) upper[i] = (char)toupper((unsigned char)code[i]);
    upper[i] = '\0';
}

/* ---- texts -------------------------------------------------------------------------------------- */

/* All values called `text`, each a string or an array of strings, as one array. */
static json_value *gather_texts(call *c)
{
    json_value *const list = json_add(&c->p.tree, NULL, JSON_ARRAY);
    for (const json_value *v = c->p.object->first; v && list; v = v->next) {
        if (strcmp(v->name, "text") != 0) continue;
        for (const json_value *t = v->kind == JSON_ARRAY ? v->first : v; t;
             t = v->kind == JSON_ARRAY ? t->next : NULL) {
            json_value *const copy = json_add(&c->p.tree, list, t->kind);
            if (!copy) return NULL;
            copy->text = t->text;
            copy->bytes = t->bytes;
        }
    }
    return list;
}

bool deepl_languages(call *c, const char **source, const char **target)
{
    char code[LANGUAGE_BYTES];
    *source = params_text(&c->p, "source_lang");
    *target = params_text(&c->p, "target_lang");
    if (!*target || !**target)
        return call_fail(c, 400, "Bad request. Reason: Value for 'target_lang' is missing."), false;
    if (!call_language(*target, code) || !models_is_target(c->set, code))
        return call_fail(c, 400, "Bad request. Reason: Value for 'target_lang' not supported."), false;
    if (*source && !**source) *source = NULL;
    if (*source && (!call_language(*source, code) || !models_is_source(c->set, code)))
        return call_fail(c, 400, "Bad request. Reason: Value for 'source_lang' not supported."), false;
    return true;
}

const ganz_glossary *deepl_glossary(call *c, const call_pair *pairs, int count, int *which, bool *failed)
{
    const char *const id = params_text(&c->p, "glossary_id");
    const ganz_glossary *found = NULL;
    *failed = false;
    if (!id || !*id) return NULL;
    for (int i = 0; i < count && !found; i++) {
        found = glossaries_hold(c->server->glossaries, id, pairs[i].source, pairs[i].target);
        *which = i;
    }
    *failed = !found;
    if (!found) call_fail(c, 404, "No glossary found for the given glossary id and languages.");
    return found;
}

static bool read_style(call *c, job *j)
{
    const char *const tags = params_text(&c->p, "tag_handling"), *split = params_text(&c->p, "split_sentences");
    const json_value *const number = params_get(&c->p, "split_sentences");
    if (number && number->kind == JSON_NUMBER) split = number->number == 0 ? "0" : "1";
    if (tags && *tags && strcmp(tags, "xml") != 0 && strcmp(tags, "html") != 0)
        return call_fail(c, 400, "Bad request. Reason: Value for 'tag_handling' not supported."), false;
    j->format = tags && *tags ? "html" : "text";
    if (split && strcmp(split, "0") == 0) j->newlines = GANZ_NEWLINE_NEVER;
    if (split && strcmp(split, "nonewlines") == 0) j->newlines = GANZ_NEWLINE_SPACE;
    return true;
}

/* ---- tags that are left alone ------------------------------------------------------------------- */

/* An attribute that keeps the text of an element as it is. It is put in before and taken out after, byte for byte. */
static const char keep[] = " translate=\"no\" data-ganz-keep=\"\"";

static bool is_ignored(const char *list, size_t list_bytes, const char *name, size_t bytes)
{
    for (size_t i = 0; i < list_bytes;) {
        while (i < list_bytes && (list[i] == ',' || list[i] == ' ')) i++;
        size_t end = i;
        while (end < list_bytes && list[end] != ',' && list[end] != ' ') end++;
        if (end - i == bytes && memcmp(list + i, name, bytes) == 0) return true;
        i = end;
    }
    return false;
}

/* Whether the element is in ignore_tags: an array, or names with commas in between. */
static bool is_ignored_tag(const json_value *tags, const char *name, size_t bytes)
{
    if (tags->kind == JSON_TEXT) return is_ignored(tags->text, tags->bytes, name, bytes);
    for (const json_value *v = tags->kind == JSON_ARRAY ? tags->first : NULL; v; v = v->next)
        if (v->kind == JSON_TEXT && is_ignored(v->text, v->bytes, name, bytes)) return true;
    return false;
}

/* Whether the tag whose name ends at `at` is an empty element: it has no text to leave alone, and none behind it is
 * its. */
static bool is_empty_element(const job_text *t, size_t at)
{
    char quote = 0;
    for (; at < t->bytes && (quote || t->text[at] != '>'); at++) {
        const char sign = t->text[at];
        if (quote) quote = sign == quote ? 0 : quote;
        else if (sign == '"' || sign == '\'') quote = sign;
    }
    return at < t->bytes && t->text[at - 1] == '/';
}

static void mark_ignored(const json_value *tags, const job_text *t, buffer *out)
{
    for (size_t i = 0; i < t->bytes; i++) {
        buffer_add(out, t->text + i, 1);
        if (t->text[i] != '<') continue;
        size_t end = i + 1;
        while (end < t->bytes && !strchr(" \t\r\n/>", t->text[end]) && t->text[end]) end++;
        if (end == i + 1 || !is_ignored_tag(tags, t->text + i + 1, end - i - 1) || is_empty_element(t, end)) continue;
        buffer_add(out, t->text + i + 1, end - i - 1);
        buffer_put(out, keep);
        i = end - 1;
    }
}

static void unmark_ignored(ganz_text *text)
{
    const size_t bytes = sizeof keep - 1;
    size_t to = 0;
    for (size_t i = 0; i < text->bytes;) {
        if (text->bytes - i >= bytes && memcmp(text->text + i, keep, bytes) == 0) i += bytes;
        else text->text[to++] = text->text[i++];
    }
    text->bytes = to;
}

/* Translates with the tags of ignore_tags left alone. */
static bool translate_around(call *c, const job *j, call_texts *t)
{
    const json_value *const tags = params_get(&c->p, "ignore_tags");
    if (!tags || strcmp(j->format, "html") != 0) return call_translate(c, j, t);
    buffer *const marked = calloc((size_t)t->count + 1, sizeof *marked);
    bool fine = marked;
    for (int i = 0; i < t->count && fine; i++) {
        mark_ignored(tags, &t->texts[i], &marked[i]);
        t->texts[i].text = marked[i].data ? marked[i].data : "";
        t->texts[i].bytes = marked[i].bytes;
        fine = !marked[i].failed;
    }
    if (!fine) call_fail(c, 503, "out of memory");
    fine = fine && call_translate(c, j, t);
    for (int i = 0; i < t->count && fine; i++) unmark_ignored(&t->out[i]);
    for (int i = 0; i < t->count && marked; i++) buffer_free(&marked[i]);
    free(marked);
    return fine;
}

/* ---- translate ---------------------------------------------------------------------------------- */

static void answer(call *c, const call_texts *t, const size_t *billed)
{
    buffer_put(&c->out, "{\"translations\":[");
    for (int i = 0; i < t->count; i++) {
        char source[LANGUAGE_BYTES];
        call_upper(t->pairs[i].source, source);
        buffer_printf(&c->out, "%s{\"detected_source_language\":\"%s\",\"text\":", i ? "," : "", source);
        json_put_text(&c->out, t->out[i].text ? t->out[i].text : "", t->out[i].bytes);
        buffer_printf(&c->out, ",\"billed_characters\":%zu}", billed[i]);
    }
    buffer_put(&c->out, "]}");
    call_reply(c, 200);
}

static void translate(call *c, job *j, call_texts *t)
{
    bool failed;
    int which = 0;
    size_t *const billed = calloc((size_t)t->count + 1, sizeof *billed);
    for (int i = 0; i < t->count && billed; i++) billed[i] = count_characters(t->texts[i].text, t->texts[i].bytes);
    j->glossary = deepl_glossary(c, t->pairs, t->count, &which, &failed);
    if (j->glossary) snprintf(t->glossary_source, sizeof t->glossary_source, "%s", t->pairs[which].source);
    if (!billed && !failed) call_fail(c, 503, "out of memory");
    else if (!failed && translate_around(c, j, t)) answer(c, t, billed);
    if (j->glossary) glossaries_release(c->server->glossaries, j->glossary);
    free(billed);
}

void run_deepl_translate(call *c)
{
    call_texts t = {0};
    const char *source, *target;
    job j = call_job(c);
    json_value *const texts = gather_texts(c);
    if (j.seconds > 9 || j.seconds == 0) j.seconds = 9; /* clients ask again after ten */
    if (!texts) {
        call_fail(c, 503, "out of memory");
    } else if (texts->count == 0) {
        call_fail(c, 400, "Bad request. Reason: Parameter 'text' not specified.");
    } else if (read_style(c, &j) && deepl_languages(c, &source, &target) && call_read_texts(c, texts, 1, &t) &&
               call_choose_each(c, source, target, j.format, &t) && call_formality_each(c, &t, &j.formality)) {
        translate(c, &j, &t);
    }
    call_texts_free(&t);
}

/* ---- languages and usage ------------------------------------------------------------------------ */

static void put_language(call *c, const char *code, const char *name, bool target, int *count)
{
    buffer_printf(&c->out, "%s{\"language\":\"%s\",\"name\":", (*count)++ ? "," : "", code);
    json_put(&c->out, name);
    if (target) {
        char model[LANGUAGE_BYTES];
        const bool known = call_language(code, model) && models_know_formality(c->set, model);
        buffer_printf(&c->out, ",\"supports_formality\":%s", known ? "true" : "false");
    }
    buffer_put(&c->out, "}");
}

void run_deepl_languages(call *c)
{
    const char *const type = params_text(&c->p, "type"), *codes[2 * MODELS_MOST];
    const bool target = type && strcmp(type, "target") == 0;
    const int all = models_languages(c->set, codes);
    int count = 0;
    buffer_put(&c->out, "[");
    for (int i = 0; i < all; i++) {
        char upper[LANGUAGE_BYTES];
        call_upper(codes[i], upper);
        if (target ? !models_is_target(c->set, codes[i]) : !models_is_source(c->set, codes[i])) continue;
        if (target && strcmp(codes[i], "en") == 0) { /* clients know English only with a region */
            put_language(c, "EN-GB", "English (British)", target, &count);
            put_language(c, "EN-US", "English (American)", target, &count);
        } else {
            put_language(c, upper, language_name(codes[i]), target, &count);
        }
    }
    buffer_put(&c->out, "]");
    call_reply(c, 200);
}

void run_deepl_usage(call *c)
{
    buffer_printf(&c->out, "{\"character_count\":%llu,\"character_limit\":1000000000000}",
                  server_character_count(c->server));
    call_reply(c, 200);
}
