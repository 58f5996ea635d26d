/* Files of the page, with the headers that keep foreign code out. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "page.h"
#include "server_parts.h"

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".webmanifest", "application/manifest+json"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".json", "application/json"},
    };
    const char *const dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(dot, types[i][0]) == 0) return types[i][1];
    return "application/octet-stream";
}

/* A file of --web-root, for work on the page. Only names of files that are built in are looked for. */
static bool read_file(const char *folder, const char *name, buffer *out)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
    FILE *const file = fopen(path, "rb");
    for (size_t got = 1; file && got > 0;) {
        char bytes[4096];
        got = fread(bytes, 1, sizeof bytes, file);
        buffer_add(out, bytes, got);
    }
    return file && fclose(file) == 0;
}

/* FNV-1a: what changes with the content is all that is asked for. */
static void make_tag(const buffer *b, char tag[24])
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < b->bytes; i++) hash = (hash ^ (unsigned char)b->data[i]) * UINT64_C(1099511628211);
    snprintf(tag, 24, "\"%016llx\"", (unsigned long long)hash);
}

void page_send(call *c, int status, const char *name)
{
    char tag[24];
    const char *const known = http_find_header(http_head_of(c->x), "if-none-match");
    make_tag(&c->out, tag);
    http_add_header(c->x, "ETag", tag);
    http_add_header(c->x, "Cache-Control", "no-cache");
    http_add_header(c->x, "Referrer-Policy", "same-origin"); /* with none, a form would not say whose it is */
    http_add_header(c->x, "Cross-Origin-Opener-Policy", "same-origin");
    http_add_header(
        c->x, "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
    const bool same = status == 200 && known && strstr(known, tag);
    if (same) c->out.bytes = 0;
    call_reply_as(c, same ? 304 : status, type_of(name));
}

/* Appends a file that is built in. The tables' files are whole: only memory can run out. */
static void unpack(const page_file *f, buffer *out)
{
    z_stream s = {.next_in = (z_const Bytef *)f->data, .avail_in = (uInt)f->bytes, .avail_out = (uInt)f->whole};
    s.next_out = (Bytef *)buffer_room(out, f->whole);
    if (!s.next_out || inflateInit2(&s, MAX_WBITS + 16) != Z_OK) {
        out->failed = true;
        return;
    }
    if (inflate(&s, Z_FINISH) == Z_STREAM_END) {
        out->bytes += f->whole;
        out->data[out->bytes] = '\0';
    } else out->failed = true;
    inflateEnd(&s);
}

void run_spec(call *c)
{
    for (const page_file *f = page_files; f->name; f++)
        if (strcmp(f->name, "spec.json") == 0) unpack(f, &c->out);
    call_reply_as(c, 200, "application/json");
}

bool page_read(const call *c, const char *name, buffer *out)
{
    const char *const folder = c->server->options.web_root;
    const size_t before = out->bytes;
    for (const page_file *f = page_files; f->name; f++) {
        if (strcmp(f->name, name) != 0) continue;
        if (folder && read_file(folder, name, out)) return true;
        out->bytes = before;
        unpack(f, out);
        return true;
    }
    return false;
}

void run_page_file(call *c)
{
    if (page_read(c, c->rest, &c->out)) page_send(c, 200, c->rest);
    else call_fail(c, 404, "there is nothing at this address");
}
