/* Pages of other sites must not use a server on this machine: the name in Host has to be this server's (a page that has
 * its own name point here gives that name), and an Origin has to be this server's own, an extension of the browser, or
 * one that was allowed. */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "server_parts.h"

size_t server_host_bytes(const char *host)
{
    if (host[0] == '[') return strchr(host, ']') ? (size_t)(strchr(host, ']') - host) + 1 : strlen(host);
    return strcspn(host, ":");
}

/* An address instead of a name: no other site can have it. */
static bool is_address(const char *host, size_t bytes)
{
    char text[64];
    struct in6_addr address;
    const bool six = bytes > 2 && host[0] == '[';
    if (six) host++, bytes -= 2;
    if (bytes >= sizeof text) return false;
    memcpy(text, host, bytes);
    text[bytes] = '\0';
    return inet_pton(six ? AF_INET6 : AF_INET, text, &address) == 1;
}

static bool is_own_host(const server *s, const char *host)
{
    const size_t bytes = server_host_bytes(host);
    if (s->any_host || is_address(host, bytes)) return true;
    if (bytes == 9 && strncasecmp(host, "localhost", 9) == 0) return true;
    if (bytes > 10 && strncasecmp(host + bytes - 10, ".localhost", 10) == 0) return true;
    for (int i = 0; i < s->options.host_count; i++)
        if (strlen(s->options.hosts[i]) == bytes && strncasecmp(host, s->options.hosts[i], bytes) == 0) return true;
    return false;
}

static bool is_extension(const char *origin)
{
    const char *const mark = strstr(origin, "-extension://");
    return mark && strcspn(origin, ":/") == (size_t)(mark - origin) + 10;
}

static bool is_allowed(const server *s, const char *origin)
{
    return is_extension(origin) ||
           (s->options.cors && (strcmp(s->options.cors, "*") == 0 || strcasecmp(s->options.cors, origin) == 0));
}

static bool is_own_origin(const char *origin, const char *host)
{
    const char *const mark = strstr(origin, "://");
    return mark && host && strcasecmp(mark + 3, host) == 0;
}

int server_check_origin(const server *s, const http_exchange *x, const char **why)
{
    const http_head *const head = http_head_of(x);
    const char *const host = http_find_header(head, "host"), *const origin = http_find_header(head, "origin");
    *why = "this server does not go by that name: see ganz serve --allow-host";
    if (host && !is_own_host(s, host)) return 403;
    *why = "pages of other sites may not use this server: see ganz serve --cors";
    return origin && !is_own_origin(origin, host) && !is_allowed(s, origin) ? 403 : 0;
}

void server_add_cors(const server *s, http_exchange *x)
{
    const char *const origin = http_find_header(http_head_of(x), "origin");
    if (!origin || !is_allowed(s, origin)) return;
    const bool all = s->options.cors && strcmp(s->options.cors, "*") == 0;
    http_add_header(x, "Access-Control-Allow-Origin", all ? "*" : origin);
    http_add_header(x, "Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS");
    http_add_header(x, "Access-Control-Allow-Headers", "Authorization, Content-Type");
    http_add_header(x, "Access-Control-Max-Age", "86400");
    if (!all) http_add_header(x, "Vary", "Origin");
}
