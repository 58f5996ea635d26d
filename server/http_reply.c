/* An exchange as the caller sees it, and its reply: status line, headers and body in one buffer. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "http_parts.h"
#include "json.h"

const http_head *http_head_of(const http_exchange *x) { return &x->head; }
const ganz_flag *http_gone(const http_exchange *x) { return &x->gone; }
uint64_t http_client(const http_exchange *x) { return x->connection->client; }
bool http_is_local(const http_exchange *x) { return x->connection->local; }
const char *http_address(const http_exchange *x) { return x->connection->address; }
void **http_user(http_exchange *x) { return &x->user; }

void http_be_quick(http_exchange *x) { x->quick = true; }

char *http_body(http_exchange *x, size_t *bytes)
{
    static char nothing[1];
    *bytes = x->body.bytes;
    return x->body.data ? x->body.data : nothing;
}

int http_status_of(const http_exchange *x, size_t *bytes_in, size_t *bytes_out)
{
    *bytes_in = x->bytes_in;
    *bytes_out = x->out.bytes;
    return x->status;
}

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {201, "Created"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status) return reasons[i].reason;
    return "Unknown";
}

void http_add_header(http_exchange *x, const char *name, const char *value)
{
    buffer_put(&x->headers, name);
    buffer_put(&x->headers, ": ");
    buffer_put(&x->headers, value);
    buffer_put(&x->headers, "\r\n");
}

static void put_date(buffer *out)
{
    char text[64];
    const time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) && strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0)
        buffer_printf(out, "Date: %s\r\n", text);
}

/* A reply without its end, or without a header that guards it, would be believed: nothing goes out but that there is no
 * memory, where even that has room. The connection ends, because the buffer stays failed. */
static void give_up(http_exchange *x)
{
    static const char sorry[] =
        "HTTP/1.1 503 Service Unavailable\r\nServer: ganz\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    buffer *const out = &x->out;
    x->status = 503;
    x->last = out->failed = true;
    out->bytes = out->capacity >= sizeof sorry ? sizeof sorry - 1 : 0;
    if (out->bytes > 0) memcpy(out->data, sorry, sizeof sorry);
}

void http_reply(http_exchange *x, int status, const char *type, buffer *body)
{
    buffer *const out = &x->out;
    if (body->failed) {
        buffer_free(body);
        http_fail(x, 503, "out of memory");
        return;
    }
    if (ganz_flag_is_set(&x->server->stopped)) x->last = true;
    x->status = status;
    buffer_printf(out, "HTTP/1.1 %d %s\r\nServer: ganz\r\n", status, http_reason(status));
    put_date(out);
    if (type) buffer_printf(out, "Content-Type: %s\r\n", type);
    if (status != 204 && status != 304) buffer_printf(out, "Content-Length: %zu\r\n", body->bytes);
    buffer_put(out, x->last ? "Connection: close\r\n" : "Connection: keep-alive\r\n");
    buffer_add(out, x->headers.data, x->headers.bytes);
    buffer_put(out, "\r\n");
    if (!x->head_only) buffer_add(out, body->data, body->bytes);
    if (out->failed || x->headers.failed) give_up(x);
    buffer_free(body);
    buffer_free(&x->headers);
}

void http_fail(http_exchange *x, int status, const char *why)
{
    buffer body = {0};
    buffer_put(&body, "{\"error\":");
    json_put(&body, why);
    buffer_put(&body, "}\n");
    http_reply(x, status, "application/json", &body);
}
