/* Whole files: LibreTranslate's /translate_file, and /ganz/document, which tells how far it is. */
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "server_parts.h"

/* ---- in ----------------------------------------------------------------------------------------- */

/* Hands the file of a request in; false after a refusal. */
static bool hand_in(call *c, char id[FILE_ID])
{
    const char *const source = params_text(&c->p, "source"), *const target = params_text(&c->p, "target");
    char key[FILE_ID];
    call_pair pair;
    if (!c->p.file) return call_fail(c, 400, "Invalid request: missing file parameter"), false;
    if (!target) return call_fail(c, 400, "Invalid request: missing target parameter"), false;
    if (!ganz_document_recognise(*c->p.file_name ? c->p.file_name : NULL, c->p.file, c->p.file_bytes))
        return call_fail(c, 400, "Invalid request: file format not supported"), false;
    if (!call_choose_file(c, source, target, *c->p.file_name ? c->p.file_name : NULL, &pair)) return false;
    if (pair.chain.count == 0) return call_fail(c, 400, "Invalid request: both languages are %s", pair.target), false;
    file_order o = {.bytes = c->p.file, .count = c->p.file_bytes, .name = c->p.file_name, .set = c->set};
    o.job = call_job(c);
    o.job.chain = pair.chain;
    o.job.format = NULL;
    o.job.seconds = 0;
    if (!call_formality(c, &pair.chain, &o.job.formality)) return false;
    model_set_hold(c->set);
    if (files_add(c->server->files, &o, id, key)) {
        server_count_characters(c->server, count_characters(c->p.file, c->p.file_bytes));
        return true;
    }
    http_add_header(c->x, "Retry-After", "10");
    call_fail(c, 503, "no room for more documents now");
    return false;
}

/* Names of files in headers: letters, digits and a few marks as they are, other bytes as %XX. */
static void put_escaped(buffer *out, const char *name)
{
    for (const char *p = name; *p; p++) {
        const bool plain =
            (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || strchr("-_.~", *p);
        if (plain) buffer_add(out, p, 1);
        else buffer_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
    }
}

void call_send_file(call *c, const char *name)
{
    buffer disposition = {0};
    buffer_put(&disposition, "attachment; filename*=UTF-8''");
    put_escaped(&disposition, name);
    if (!disposition.failed) http_add_header(c->x, "Content-Disposition", disposition.data);
    buffer_free(&disposition);
    http_add_header(c->x, "Cache-Control", "no-store");
    call_reply_as(c, 200, "application/octet-stream");
}

/* ---- LibreTranslate ----------------------------------------------------------------------------- */

void run_translate_file(call *c)
{
    char id[FILE_ID];
    file_facts facts;
    buffer url = {0};
    const char *const host = http_find_header(http_head_of(c->x), "host");
    if (!hand_in(c, id)) return;
    if (!files_wait(c->server->files, id, http_gone(c->x), &facts)) {
        files_remove(c->server->files, id); /* nobody else knows of it */
        call_fail(c, 503, "the translation of the file was given up");
        return;
    }
    if (facts.state == FILE_FAILED) {
        call_fail_job(c, &facts.err);
        return;
    }
    buffer_printf(&url, "%s://%.300s/download_file/%s.", call_scheme(c), host ? host : "localhost", id);
    put_escaped(&url, facts.name);
    buffer_put(&c->out, "{\"translatedFileUrl\":");
    json_put_text(&c->out, url.data ? url.data : "", url.bytes);
    buffer_put(&c->out, "}");
    c->out.failed |= url.failed;
    buffer_free(&url);
    call_reply(c, 200);
}

/* ID.NAME */
void run_download(call *c)
{
    char id[FILE_ID] = "";
    file_facts facts;
    if (strlen(c->rest) >= FILE_ID && c->rest[FILE_ID - 1] == '.') memcpy(id, c->rest, FILE_ID - 1);
    if (!files_look(c->server->files, id, NULL, &facts) || !files_read(c->server->files, id, NULL, &c->out))
        call_fail(c, 404, "there is no such file, or no longer");
    else call_send_file(c, facts.name);
}

/* ---- with progress ------------------------------------------------------------------------------ */

static void put_document(call *c, const char *id, const file_facts *f)
{
    static const char *const names[] = {"queued", "translating", "done", "error"};
    buffer_put(&c->out, "{\"id\":");
    json_put(&c->out, id);
    buffer_put(&c->out, ",\"name\":");
    json_put(&c->out, f->name);
    buffer_printf(&c->out, ",\"status\":\"%s\",\"done\":%zu,\"count\":%zu,\"seconds\":%.1f", names[f->state], f->done,
                  f->count, f->seconds);
    if (f->state == FILE_FAILED) {
        buffer_put(&c->out, ",\"error\":");
        json_put(&c->out, f->err.message);
    }
    buffer_put(&c->out, "}");
    call_reply(c, 200);
}

void run_ganz_upload(call *c)
{
    char id[FILE_ID];
    file_facts facts;
    if (!hand_in(c, id)) return;
    if (files_look(c->server->files, id, NULL, &facts)) put_document(c, id, &facts);
    else call_fail(c, 503, "no room for more documents now");
}

static void put_removed(call *c, const char *id)
{
    buffer_put(&c->out, "{\"id\":");
    json_put(&c->out, id);
    buffer_put(&c->out, ",\"status\":\"removed\"}");
    call_reply(c, 200);
}

/* ID, or ID/result */
void run_ganz_document(call *c)
{
    char id[FILE_ID] = "";
    file_facts facts;
    const bool result = strlen(c->rest) > FILE_ID - 1 && strcmp(c->rest + FILE_ID - 1, "/result") == 0;
    if (strlen(c->rest) == FILE_ID - 1 || result) memcpy(id, c->rest, FILE_ID - 1);
    const bool removes = http_head_of(c->x)->method == HTTP_DELETE;
    if (removes ? result || !files_remove(c->server->files, id) : !files_look(c->server->files, id, NULL, &facts))
        call_fail(c, 404, "there is no such document, or no longer");
    else if (removes) put_removed(c, id);
    else if (!result) put_document(c, id, &facts);
    else if (files_read(c->server->files, id, NULL, &c->out)) call_send_file(c, facts.name);
    else if (facts.state == FILE_FAILED) call_fail_job(c, &facts.err);
    else call_fail(c, 503, "the document is not translated yet");
}
