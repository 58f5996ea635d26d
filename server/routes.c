/* The table of routes. */
#include <string.h>

#include "server_parts.h"

#define METHOD(m) (1u << (m))
enum {
    GET = METHOD(HTTP_GET) | METHOD(HTTP_HEAD_METHOD),
    POST = METHOD(HTTP_POST),
    DELETE = METHOD(HTTP_DELETE),
    FILE_BODY = 10 * 1024 * 1024 + 65536, /* a file and what surrounds it in a form */
    DEEPL_BODY = 128 * 1024,
    FREE = ROUTE_OPEN | ROUTE_SMALL
};

static const route routes[] = {
    {GET, "/", run_page, 0, FREE},
    {POST, "/", run_form, 0, ROUTE_FORM},
    {GET, "/ganz/page/*", run_page_file, 0, FREE | ROUTE_PAGE},
    {POST, "/ganz/translate", run_ganz_translate, 0, 0},
    {POST, "/ganz/document", run_ganz_upload, FILE_BODY, ROUTE_DOCUMENT},
    {GET | DELETE, "/ganz/document/*", run_ganz_document, 0, FREE},
    {POST, "/translate", run_translate, 0, 0},
    {POST, "/detect", run_detect, 0, ROUTE_SMALL},
    {GET, "/languages", run_languages, 0, FREE},
    {POST, "/suggest", run_suggest, 0, ROUTE_SMALL},
    {POST, "/translate_file", run_translate_file, FILE_BODY, ROUTE_DOCUMENT},
    {GET, "/download_file/*", run_download, 0, FREE},
    {GET, "/frontend/settings", run_settings, 0, FREE},
    {GET, "/health", run_health, 0, FREE},
    {GET, "/version", run_version, 0, FREE},
    {GET, "/spec", run_spec, 0, FREE},
    {GET, "/metrics", run_metrics, 0, ROUTE_SMALL},
    {POST, "/v2/translate", run_deepl_translate, DEEPL_BODY, ROUTE_DEEPL},
    {GET | POST, "/v2/languages", run_deepl_languages, 0, ROUTE_DEEPL | ROUTE_SMALL},
    {GET | POST, "/v2/usage", run_deepl_usage, 0, ROUTE_DEEPL | ROUTE_SMALL},
    {POST, "/v2/document", run_deepl_upload, FILE_BODY, ROUTE_DEEPL | ROUTE_DOCUMENT},
    {GET | POST, "/v2/document/*", run_deepl_document, 0, ROUTE_DEEPL | ROUTE_SMALL | ROUTE_WAITS},
    {GET | POST, "/v2/glossaries", run_deepl_glossaries, 0, ROUTE_DEEPL | ROUTE_SMALL},
    {GET | DELETE, "/v2/glossaries/*", run_deepl_glossary, 0, ROUTE_DEEPL | ROUTE_SMALL},
    {GET, "/v2/glossary-language-pairs", run_deepl_pairs, 0, ROUTE_DEEPL | ROUTE_SMALL},
    {POST, "/imme", run_imme, 0, 0},
    {POST, "/kiss", run_kiss, 0, 0},
    {POST, "/deeplx", run_deeplx, 0, 0},
    {POST, "/translate/batch", run_kiss, 0, 0},
};
enum { ROUTES = sizeof routes / sizeof routes[0] };

const route *find_route(const http_head *head, unsigned *allowed, const char **rest)
{
    *allowed = 0;
    for (size_t i = 0; i < ROUTES; i++) {
        const route *const r = &routes[i];
        const size_t bytes = strlen(r->path) - 1;
        const bool open = r->path[bytes] == '*';
        if (open ? strncmp(head->path, r->path, bytes) != 0 : strcmp(head->path, r->path) != 0) continue;
        *rest = open ? head->path + bytes : "";
        *allowed |= r->methods;
        if (r->methods & METHOD(head->method)) return r;
    }
    return NULL;
}

void route_name_methods(unsigned methods, char text[64])
{
    static const struct {
        http_method method;
        const char *name;
    } names[] = {{HTTP_GET, "GET, "}, {HTTP_HEAD_METHOD, "HEAD, "}, {HTTP_POST, "POST, "}, {HTTP_DELETE, "DELETE, "}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (methods & METHOD(names[i].method)) strcat(text, names[i].name);
    strcat(text, "OPTIONS"); /* is answered at every address */
}

size_t route_number(const route *r, size_t *count)
{
    *count = ROUTES;
    return (size_t)(r - routes);
}

const char *route_path(size_t number) { return routes[number].path; }
