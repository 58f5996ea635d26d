/* The page as it is sent: index.html with its slots, {{name}}, filled. A slot is one of the table below or else a text
 * in the visitor's language, from strings.LANGUAGE.json. Without JavaScript the page is a form, answered by the same
 * page. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ganz/io.h"
#include "page.h"
#include "server_parts.h"

typedef struct view {
    call *c;
    buffer page, words; /* index.html, and the file of strings, which the tree is made of */
    json_tree tree;
    const json_value *strings;
    char source[LANGUAGE_BYTES], target[LANGUAGE_BYTES]; /* or "auto" */
    const char *text;
    size_t bytes;
    ganz_text translation;
    const char *problem; /* or NULL */
} view;

/* ---- slots -------------------------------------------------------------------------------------- */

static void put_escaped(buffer *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char *const mark = strchr("&<>\"'", text[i]);
        if (text[i] && mark) buffer_printf(out, "&#%d;", *mark);
        else buffer_add(out, &text[i], 1);
    }
}

static void put_plain(buffer *out, const char *text) { put_escaped(out, text, strlen(text)); }

static const char *string_of(const view *v, const char *name)
{
    const json_value *const text = json_member(v->strings, name);
    return text && text->kind == JSON_TEXT ? text->text : "";
}

/* The name of a language in the visitor's language. */
static const char *name_of(const view *v, const char *code)
{
    char key[LANGUAGE_BYTES + 8];
    snprintf(key, sizeof key, "name_%s", code);
    const char *const name = string_of(v, key);
    return *name ? name : language_name(code);
}

static void put_option(const view *v, buffer *out, const char *code, const char *chosen)
{
    buffer_put(out, "<option value=\"");
    put_plain(out, code);
    buffer_put(out, strcmp(code, chosen) == 0 ? "\" selected>" : "\">");
    put_plain(out, strcmp(code, "auto") == 0 ? string_of(v, "detect") : name_of(v, code));
    buffer_put(out, "</option>");
}

static void put_sources(const view *v, buffer *out)
{
    const char *codes[2 * MODELS_MOST];
    const int count = models_languages(v->c->set, codes);
    int sources = 0;
    for (int i = 0; i < count; i++) {
        if (!models_is_source(v->c->set, codes[i])) continue;
        put_option(v, out, codes[i], v->source);
        sources++;
    }
    if (sources > 1) put_option(v, out, "auto", v->source);
}

static void put_targets(const view *v, buffer *out)
{
    const char *codes[2 * MODELS_MOST];
    const int count = models_languages(v->c->set, codes);
    for (int i = 0; i < count; i++)
        if (models_is_target(v->c->set, codes[i])) put_option(v, out, codes[i], v->target);
}

/* Pairs that can be translated: "en-de de-en". */
static void put_pairs(const view *v, buffer *out)
{
    const char *codes[2 * MODELS_MOST], *space = "";
    const int count = models_languages(v->c->set, codes);
    for (int i = 0; i < count * count; i++) {
        const char *const from = codes[i / count], *const to = codes[i % count];
        if (from == to || models_find(v->c->set, from, to).count == 0) continue;
        buffer_printf(out, "%s%s-%s", space, from, to);
        space = " ";
    }
}

/* Pairs of them that can be formal or informal. */
static void put_forms(const view *v, buffer *out)
{
    const char *codes[2 * MODELS_MOST], *space = "";
    const int count = models_languages(v->c->set, codes);
    for (int i = 0; i < count * count; i++) {
        const char *const from = codes[i / count], *const to = codes[i % count];
        const model_chain chain = models_find(v->c->set, from, to);
        if (from == to || !chain_knows_formality(&chain)) continue;
        buffer_printf(out, "%s%s-%s", space, from, to);
        space = " ";
    }
}

/* The choice of a form of address, hidden where no model knows any. */
static void put_form_hidden(const view *v, buffer *out)
{
    bool known = false;
    for (int i = 0; i < v->c->set->count; i++) known |= v->c->set->models[i].facts.formality;
    buffer_put(out, known ? "" : "hidden");
}

static void put_form_options(const view *v, buffer *out)
{
    static const char *const values[] = {"default", "prefer_more", "prefer_less"}, *const names[] = {"auto", "formal",
                                                                                                     "informal"};
    const char *const asked = params_text(&v->c->p, "formality");
    for (int i = 0; i < 3; i++) {
        char name[24];
        snprintf(name, sizeof name, "form_%s", names[i]);
        buffer_printf(out, "<option value=\"%s\"%s>", values[i],
                      asked && strcmp(asked, values[i]) == 0 ? " selected" : "");
        put_plain(out, string_of(v, name));
        buffer_put(out, "</option>");
    }
}

static const char *host_of(const view *v)
{
    const char *const host = http_find_header(http_head_of(v->c->x), "host");
    return host && *host ? host : "127.0.0.1";
}

/* Where the text stays: "this machine" only for a visitor who sits at it. */
static void put_place(const view *v, buffer *out)
{
    const char *const host = host_of(v), *const text = string_of(v, "place_host"), *const mark = strstr(text, "{host}");
    if (strncmp(host, "127.", 4) == 0 || strncmp(host, "localhost", 9) == 0 || strncmp(host, "[::1]", 5) == 0 ||
        !mark) {
        buffer_put(out, string_of(v, "place_here"));
        return;
    }
    buffer_add(out, text, (size_t)(mark - text));
    put_escaped(out, host, server_host_bytes(host));
    buffer_put(out, mark + strlen("{host}"));
}

static void put_text(const view *v, buffer *out) { put_escaped(out, v->text, v->bytes); }
static void put_problem(const view *v, buffer *out) { buffer_put(out, v->problem ? v->problem : ""); }
static void put_version(const view *v, buffer *out) { (void)v, put_plain(out, ganz_version()); }
static void put_scheme(const view *v, buffer *out) { buffer_put(out, call_scheme(v->c)); }
static void put_host(const view *v, buffer *out) { put_plain(out, host_of(v)); }
static void put_keyed(const view *v, buffer *out)
{
    buffer_put(out, v->c->server->options.keys_path ? "keyed" : "open");
}
static void put_translation(const view *v, buffer *out)
{
    if (v->translation.text) put_escaped(out, v->translation.text, v->translation.bytes);
}

static const struct {
    const char *name;
    void (*put)(const view *v, buffer *out);
} slots[] = {
    {"sources", put_sources},
    {"targets", put_targets},
    {"pairs", put_pairs},
    {"place", put_place},
    {"text", put_text},
    {"problem", put_problem},
    {"version", put_version},
    {"scheme", put_scheme},
    {"host", put_host},
    {"translation", put_translation},
    {"keyed", put_keyed},
    {"forms", put_forms},
    {"form_hidden", put_form_hidden},
    {"form_options", put_form_options},
};

static void put_slot(const view *v, buffer *out, const char *name)
{
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        if (strcmp(slots[i].name, name) == 0) {
            slots[i].put(v, out);
            return;
        }
    buffer_put(out, string_of(v, name));
}

static void put_page(const view *v, buffer *out, const char *page)
{
    for (const char *slot; (slot = strstr(page, "{{")); page = slot) {
        char name[40];
        const size_t bytes = strcspn(slot + 2, "}");
        buffer_add(out, page, (size_t)(slot - page));
        snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : 0), slot + 2);
        put_slot(v, out, name);
        slot += 2 + bytes + strspn(slot + 2 + bytes, "}");
    }
    buffer_put(out, page);
}

/* ---- languages of the visitor ------------------------------------------------------------------- */

/* German or English: what the address says, else the first of them that the browser names. */
static const char *language_of(const call *c)
{
    const char *const asked = params_text(&c->p, "lang");
    const char *const named = http_find_header(http_head_of(c->x), "accept-language");
    for (const char *at = asked ? asked : named; at && *at; at += strcspn(at, ","), at += strspn(at, ", ")) {
        if (strncmp(at, "de", 2) == 0 && !isalpha((unsigned char)at[2])) return "de";
        if (strncmp(at, "en", 2) == 0 && !isalpha((unsigned char)at[2])) return "en";
    }
    return "en";
}

/* Languages that were asked for, else those of a model: one from English if there is one. */
static void choose_languages(view *v)
{
    const char *const from = params_text(&v->c->p, "source"), *const to = params_text(&v->c->p, "target");
    const server_model *usual = &v->c->set->models[0];
    for (int i = v->c->set->count - 1; i >= 0; i--)
        if (strcmp(v->c->set->models[i].source, "en") == 0) usual = &v->c->set->models[i];
    if (!from || !call_language(from, v->source)) snprintf(v->source, sizeof v->source, "%s", usual->source);
    if (!to || !call_language(to, v->target)) snprintf(v->target, sizeof v->target, "%s", usual->target);
}

/* ---- replies ------------------------------------------------------------------------------------ */

/* Reads page and strings; false after a refusal. To be closed either way. */
static bool open_view(view *v, call *c)
{
    char name[24];
    *v = (view){.c = c, .text = ""};
    snprintf(name, sizeof name, "strings.%s.json", language_of(c));
    page_read(c, "index.html", &v->page);
    page_read(c, name, &v->words);
    if (v->words.data && !v->words.failed) v->strings = json_read(&v->tree, v->words.data, v->words.bytes);
    choose_languages(v);
    if (v->strings && v->page.data && !v->page.failed) return true;
    call_fail(c, 503, "out of memory");
    return false;
}

static void close_view(view *v)
{
    json_free(&v->tree);
    buffer_free(&v->page);
    buffer_free(&v->words);
    ganz_text_free(&v->translation);
}

static void send(const view *v, int status)
{
    put_page(v, &v->c->out, v->page.data);
    http_add_header(v->c->x, "Vary", "Accept-Language");
    page_send(v->c, status, "index.html");
}

void run_page(call *c)
{
    view v;
    if (open_view(&v, c)) send(&v, 200);
    close_view(&v);
}

static int fail_form(view *v, int status, const char *problem)
{
    v->problem = string_of(v, problem);
    return status;
}

/* A form that the models do not know is passed over: the choice stays when languages change. */
static ganz_formality form_asked(const view *v, const model_chain *chain)
{
    const char *const asked = params_text(&v->c->p, "formality");
    if (!asked || !chain_knows_formality(chain)) return GANZ_FORMALITY_AUTO;
    if (strcmp(asked, "prefer_more") == 0) return GANZ_FORMALITY_FORMAL;
    return strcmp(asked, "prefer_less") == 0 ? GANZ_FORMALITY_INFORMAL : GANZ_FORMALITY_AUTO;
}

/* Text that is in the target language already is its own translation. */
static bool copy_text(view *v)
{
    v->translation.text = malloc(v->bytes + 1);
    if (!v->translation.text) return false;
    memcpy(v->translation.text, v->text, v->bytes);
    v->translation.bytes = v->translation.capacity = v->bytes;
    return true;
}

static int translate_form(view *v)
{
    call *const c = v->c;
    job j = call_job(c);
    job_text text = {.text = v->text, .bytes = v->bytes, .out = &v->translation};
    ganz_error err;
    const bool automatic = strcmp(v->source, "auto") == 0;
    const detection found = automatic ? call_detect(c, v->text, v->bytes) : (detection){.confidence = 0};
    const char *const source = automatic ? found.code : v->source;
    const size_t characters = count_characters(v->text, v->bytes);
    j.chain = models_find(c->set, source, v->target);
    const bool stays = j.chain.count == 0 && strcmp(source, v->target) == 0 && models_is_source(c->set, source);
    if (j.chain.count == 0 && !stays) return fail_form(v, 400, "problem_pair");
    j.formality = form_asked(v, &j.chain);
    if (characters > (size_t)server_characters(c->server)) return fail_form(v, 400, "problem_long");
    server_count_characters(c->server, characters);
    if (stays) return copy_text(v) ? 200 : fail_form(v, 503, "problem_busy");
    if (v->bytes == 0 || job_run(&j, &text, 1, &err) == GANZ_OK) return 200;
    return err.status == GANZ_EINVAL ? fail_form(v, 400, "problem_text") : fail_form(v, 503, "problem_busy");
}

/* A view with the text of the form. */
static bool open_form(view *v, call *c)
{
    const json_value *const text = params_get(&c->p, "q");
    if (!open_view(v, c)) return false;
    if (text && text->kind == JSON_TEXT) v->text = text->text, v->bytes = text->bytes;
    return true;
}

void page_refuse(call *c, int status, const char *problem)
{
    view v;
    if (open_form(&v, c)) send(&v, fail_form(&v, status, problem));
    close_view(&v);
}

void run_form(call *c)
{
    view v;
    if (open_form(&v, c)) send(&v, translate_form(&v));
    close_view(&v);
}
