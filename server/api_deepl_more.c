/* DeepL's documents and glossaries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "glossaries.h"
#include "server_parts.h"

/* ---- documents ---------------------------------------------------------------------------------- */

void run_deepl_upload(call *c)
{
    call_pair pair;
    char id[FILE_ID], key[FILE_ID];
    int which;
    bool failed;
    const char *name = c->p.file_name, *source, *target;
    if (!c->p.file) {
        call_fail(c, 400, "Invalid file data.");
        return;
    }
    if (params_text(&c->p, "filename")) name = params_text(&c->p, "filename");
    if (!strchr(name, '.')) name = ""; /* a stream: what it is is seen from its bytes */
    if (!deepl_languages(c, &source, &target)) return;
    if (!call_choose_file(c, source, target, *name ? name : NULL, &pair)) return;
    if (pair.chain.count == 0) {
        call_fail(c, 400, "Source and target language are equal.");
        return;
    }
    file_order o = {.bytes = c->p.file, .count = c->p.file_bytes, .name = name, .set = c->set};
    o.job = call_job(c);
    o.job.chain = pair.chain;
    o.job.format = NULL;
    o.job.seconds = 0;
    if (!call_formality(c, &pair.chain, &o.job.formality)) return;
    o.job.glossary = deepl_glossary(c, &pair, 1, &which, &failed);
    if (failed) return;
    if (o.job.glossary) o.glossaries = c->server->glossaries;
    model_set_hold(c->set);
    if (!files_add(c->server->files, &o, id, key)) {
        http_add_header(c->x, "Retry-After", "10");
        call_fail(c, 503, "Too many documents; please retry later.");
        return;
    }
    server_count_characters(c->server, count_characters(c->p.file, c->p.file_bytes));
    buffer_printf(&c->out, "{\"document_id\":\"%s\",\"document_key\":\"%s\"}", id, key);
    call_reply(c, 200);
}

static void put_status(call *c, const char *id, const file_facts *f)
{
    static const char *const names[] = {"queued", "translating", "done", "error"};
    buffer_printf(&c->out, "{\"document_id\":\"%s\",\"status\":\"%s\"", id, names[f->state]);
    if (f->state == FILE_TRANSLATING)
        buffer_printf(&c->out, ",\"seconds_remaining\":%d",
                      f->done > 0 ? (int)(f->seconds * (double)(f->count - f->done) / (double)f->done) + 1 : 1);
    if (f->state == FILE_DONE) buffer_printf(&c->out, ",\"billed_characters\":%zu", f->characters);
    if (f->state == FILE_FAILED) {
        buffer_put(&c->out, ",\"error_message\":");
        json_put(&c->out, f->err.message);
    }
    buffer_put(&c->out, "}");
    call_reply(c, 200);
}

/* ID: how it is, after a moment, so that short documents are done at the first question. ID/result: the file. */
void run_deepl_document(call *c)
{
    char id[FILE_ID] = "";
    file_facts facts;
    const char *const key = params_text(&c->p, "document_key");
    const size_t bytes = strlen(c->rest);
    const bool result = bytes > FILE_ID - 1 && strcmp(c->rest + FILE_ID - 1, "/result") == 0;
    if (bytes == FILE_ID - 1 || result) memcpy(id, c->rest, FILE_ID - 1);
    if (!files_look(c->server->files, id, key ? key : "", &facts)) {
        call_fail(c, 404, "Document not found.");
    } else if (!result) {
        files_wait_a_moment(c->server->files, id, http_gone(c->x), 2, &facts);
        put_status(c, id, &facts);
    } else if (files_read(c->server->files, id, key, &c->out)) {
        call_send_file(c, facts.name);
    } else if (facts.state == FILE_FAILED) {
        call_fail_job(c, &facts.err);
    } else {
        call_fail(c, 503, "Document is not translated yet.");
    }
}

/* ---- glossaries --------------------------------------------------------------------------------- */

static void put_glossary(buffer *out, const glossary_facts *f)
{
    char made[64] = "";
    struct tm parts;
    if (gmtime_r(&f->made, &parts)) strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%S.000000+00:00", &parts);
    buffer_printf(out, "{\"glossary_id\":\"%s\",\"ready\":true,\"name\":", f->id);
    json_put(out, f->name);
    buffer_printf(out, ",\"source_lang\":\"%s\",\"target_lang\":\"%s\",\"creation_time\":\"%s\",\"entry_count\":%zu}",
                  f->source, f->target, made, f->entries);
}

static void list_glossaries(call *c)
{
    glossary_facts f;
    buffer_put(&c->out, "{\"glossaries\":[");
    for (int i = 0; glossaries_look(c->server->glossaries, NULL, i, &f); i++) {
        if (i > 0) buffer_put(&c->out, ",");
        put_glossary(&c->out, &f);
    }
    buffer_put(&c->out, "]}");
    call_reply(c, 200);
}

/* A field of CSV as it stands, in quotes or not; what ends it is passed over. */
static size_t put_field(buffer *tsv, const char *csv, size_t bytes, size_t at, bool wanted)
{
    const bool quoted = at < bytes && csv[at] == '"';
    at += quoted;
    while (at < bytes) {
        if (quoted && csv[at] == '"') {
            at++;
            if (at >= bytes || csv[at] != '"') break;
        } else if (!quoted && (csv[at] == ',' || csv[at] == '\n' || csv[at] == '\r')) {
            break;
        }
        if (wanted) buffer_add(tsv, csv[at] == '\t' || csv[at] == '\n' ? " " : csv + at, 1);
        at++;
    }
    return at;
}

/* The first two fields of each line of CSV, as lines with a tab. */
static void turn_csv(buffer *tsv, const char *csv, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        for (int field = 0; at <= bytes; field++) {
            if (field == 1) buffer_put(tsv, "\t");
            at = put_field(tsv, csv, bytes, at, field < 2);
            while (at < bytes && csv[at] != ',' && csv[at] != '\n') at++;
            if (at >= bytes || csv[at] == '\n') break;
            at++;
        }
        at++;
        buffer_put(tsv, "\n");
    }
}

enum { TERM_BYTES = 1024 }; /* as DeepL has it; a longer one, said again and again, would fill the memory */

/* Every line has a source and a target: a line of one word would mean something else to ganz_glossary_parse. */
static bool check_entries(call *c, const buffer *tsv)
{
    size_t lines = 0;
    for (const char *at = tsv->data, *const end = at + tsv->bytes; at && at < end;) {
        const char *const newline = memchr(at, '\n', (size_t)(end - at)), *const stop = newline ? newline : end;
        const char *const tab = memchr(at, '\t', (size_t)(stop - at));
        if (stop > at && (!tab || tab == at || tab + 1 == stop))
            return call_fail(c, 400, "Bad request. Reason: an entry is not a term and its translation."), false;
        if (stop > at && (tab - at > TERM_BYTES || stop - tab - 1 > TERM_BYTES))
            return call_fail(c, 400, "Bad request. Reason: a term has more than %d bytes.", TERM_BYTES), false;
        lines += stop > at;
        at = stop + 1;
    }
    if (lines == 0) return call_fail(c, 400, "Bad request. Reason: Parameter 'entries' is empty."), false;
    return true;
}

static bool read_glossary(call *c, glossary_facts *f, buffer *tsv)
{
    const char *const name = params_text(&c->p, "name"), *const format = params_text(&c->p, "entries_format");
    const char *const source = params_text(&c->p, "source_lang"), *const target = params_text(&c->p, "target_lang");
    const json_value *const entries = params_get(&c->p, "entries");
    if (!name || !*name || !entries || entries->kind != JSON_TEXT)
        return call_fail(c, 400, "Bad request. Reason: a name and entries are needed."), false;
    if (!source || !target || !call_language(source, f->source) || !call_language(target, f->target) ||
        models_find(c->set, f->source, f->target).count == 0)
        return call_fail(c, 400, "Bad request. Reason: Unsupported glossary source and target language pair."), false;
    snprintf(f->name, sizeof f->name, "%.*s", (int)cut_characters(name, sizeof f->name - 1), name);
    if (format && strcmp(format, "csv") == 0) turn_csv(tsv, entries->text, entries->bytes);
    else buffer_add(tsv, entries->text, entries->bytes);
    return tsv->failed ? call_fail(c, 503, "out of memory"), false : check_entries(c, tsv);
}

static void make_glossary(call *c)
{
    glossary_facts f = {.entries = 0};
    buffer tsv = {0};
    ganz_error err;
    if (read_glossary(c, &f, &tsv)) {
        const ganz_status status = glossaries_add(c->server->glossaries, &f, tsv.data, tsv.bytes, &err);
        if (status == GANZ_OK) {
            put_glossary(&c->out, &f);
            call_reply(c, 201);
        } else {
            call_fail_job(c, &err);
        }
    }
    buffer_free(&tsv);
}

void run_deepl_glossaries(call *c)
{
    if (http_head_of(c->x)->method == HTTP_POST) make_glossary(c);
    else list_glossaries(c);
}

/* ID, or ID/entries */
void run_deepl_glossary(call *c)
{
    char id[FILE_ID + 4] = "";
    glossary_facts f;
    const size_t length = strcspn(c->rest, "/");
    const bool entries = strcmp(c->rest + length, "/entries") == 0;
    const bool removes = http_head_of(c->x)->method == HTTP_DELETE;
    if (length < sizeof id && (entries || !c->rest[length])) memcpy(id, c->rest, length);
    if ((removes && entries) || !glossaries_look(c->server->glossaries, id, 0, &f)) {
        call_fail(c, 404, "Glossary not found.");
    } else if (removes) {
        glossaries_remove(c->server->glossaries, id);
        call_reply_as(c, 204, NULL);
    } else if (entries && glossaries_entries(c->server->glossaries, id, &c->out)) {
        call_reply_as(c, 200, "text/tab-separated-values; charset=utf-8");
    } else {
        put_glossary(&c->out, &f);
        call_reply(c, 200);
    }
}

void run_deepl_pairs(call *c)
{
    const char *codes[2 * MODELS_MOST];
    const int count = models_languages(c->set, codes);
    const char *comma = "";
    buffer_put(&c->out, "{\"supported_languages\":[");
    for (int i = 0; i < count * count; i++) {
        const char *const source = codes[i / count], *const target = codes[i % count];
        if (models_find(c->set, source, target).count == 0) continue;
        buffer_printf(&c->out, "%s{\"source_lang\":\"%s\",\"target_lang\":\"%s\"}", comma, source, target);
        comma = ",";
    }
    buffer_put(&c->out, "]}");
    call_reply(c, 200);
}
