/* The table of routes. */
#include <string.h>

#include "server_parts.h"

#define METHOD(m) (1u << (m))
enum {
    GET = METHOD(HTTP_GET) | METHOD(HTTP_HEAD_METHOD),
    POST = METHOD(HTTP_POST),
};

static const route routes[] = {
    {GET, "/", run_page, 0, ROUTE_OPEN | ROUTE_PAGE | ROUTE_SMALL},
    {POST, "/translate", run_translate, 0, 0},
    {GET, "/languages", run_languages, 0, ROUTE_OPEN | ROUTE_SMALL},
    {GET, "/health", run_health, 0, ROUTE_OPEN | ROUTE_SMALL},
    {POST, "/ganz/translate", run_ganz_translate, 0, 0},
    {GET, "/ganz/page/*", run_page, 0, ROUTE_OPEN | ROUTE_PAGE | ROUTE_SMALL},
};

const route *find_route(const http_head *head, unsigned *allowed, const char **rest)
{
    *allowed = 0;
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
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
