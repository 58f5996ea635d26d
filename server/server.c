/* A server: who is let in, which route a request takes, and the life of it all. */
#include "server.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_parts.h"
#include "server_parts.h"

enum {
    USUAL_CHARACTERS = 100000,
    USUAL_BODY = 1 << 20,
    USUAL_REQUESTS = 256,
    THREADS = 64,
    CONNECTIONS = 1024,
    CONNECTIONS_A_CLIENT = 32,
    REQUESTS_A_CLIENT = 16
};

void server_defaults(server_options *o)
{
    *o = (server_options){.beam = 4,
                          .port = 5000,
                          .max_characters = USUAL_CHARACTERS,
                          .seconds = 30,
                          .drain_seconds = 10,
                          .max_wait = 5,
                          .max_requests = USUAL_REQUESTS,
                          .sandbox = true};
}

long server_characters(const server *s) { return s->options.max_characters; }
const server_options *server_options_of(const server *s) { return &s->options; }

/* ---- who is let in ------------------------------------------------------------------------------ */

static void refuse(server *s, http_exchange *x, int status, const char *why)
{
    unsigned allowed;
    const char *rest;
    const route *const r = find_route(http_head_of(x), &allowed, &rest);
    buffer body = {0};
    server_add_cors(s, x);
    buffer_put(&body, r && r->flags & ROUTE_DEEPL ? "{\"message\":" : "{\"error\":");
    json_put(&body, why);
    buffer_put(&body, "}\n");
    http_reply(x, status, "application/json", &body);
}

static void answer_options(server *s, http_exchange *x)
{
    buffer nothing = {0};
    server_add_cors(s, x);
    http_add_header(x, "Allow", "GET, HEAD, POST, DELETE, OPTIONS");
    http_reply(x, 200, NULL, &nothing);
}

/* Seconds until a line that comes now is translated, judged by what waits. */
static double expected_wait(server *s)
{
    double most = 0;
    model_set *const set = models_hold(s->models);
    for (int i = 0; i < 2 * set->count; i++) {
        ganz_service_stats stats;
        ganz_service_get_stats(i % 2 ? set->models[i / 2].rich : set->models[i / 2].plain, &stats);
        const double each = stats.lines > 0 ? stats.work_seconds / (double)stats.lines : 0.05;
        const double wait = (double)stats.lines_waiting * each / (stats.workers > 0 ? stats.workers : 1);
        if (wait > most) most = wait;
    }
    model_set_release(set);
    return most;
}

/* The status that refuses one request more, or 0. */
static int check_room(server *s, const http_exchange *x, double *wait)
{
    int same = 0;
    *wait = expected_wait(s);
    pthread_mutex_lock(&s->lock);
    const bool full = s->guest_count >= s->options.max_requests || s->guest_count == REQUESTS_MOST;
    for (int i = 0; i < s->guest_count; i++) same += s->guests[i]->client == http_client(x);
    pthread_mutex_unlock(&s->lock);
    if (!http_is_local(x) && same >= REQUESTS_A_CLIENT) return 429;
    return full || *wait > s->options.max_wait ? 503 : 0;
}

static bool add_guest(server *s, http_exchange *x, const route *r, const char *rest)
{
    guest *const g = calloc(1, sizeof *g);
    if (!g || strlen(rest) >= sizeof g->rest) return free(g), false;
    *g = (guest){.client = http_client(x), .route = r, .began = http_seconds()};
    strcpy(g->rest, rest);
    *http_user(x) = g;
    pthread_mutex_lock(&s->lock);
    const bool room = s->guest_count < REQUESTS_MOST;
    if (room) s->guests[s->guest_count++] = g;
    pthread_mutex_unlock(&s->lock);
    if (!room) free(g);
    return room;
}

static long long on_head(void *context, http_exchange *x)
{
    server *const s = context;
    const http_head *const head = http_head_of(x);
    const char *why, *rest = "";
    unsigned allowed;
    double wait;
    const int wrong = server_check_origin(s, x, &why);
    if (wrong) return refuse(s, x, wrong, why), -1;
    if (head->method == HTTP_OPTIONS) return answer_options(s, x), -1;
    const route *const r = find_route(head, &allowed, &rest);
    if (!r && allowed) return refuse(s, x, 405, "this address has no such method"), -1;
    if (!r) return refuse(s, x, 404, "there is nothing at this address"), -1;
    const int full = r->flags & ROUTE_SMALL ? 0 : check_room(s, x, &wait);
    if (full) {
        char seconds[16];
        snprintf(seconds, sizeof seconds, "%d", wait < 1 ? 1 : wait > 60 ? 60 : (int)ceil(wait));
        http_add_header(x, "Retry-After", seconds);
        return refuse(s, x, full,
                      full == 429 ? "Slowdown: too many requests at once" : "no room for more requests now"),
               -1;
    }
    if (!add_guest(s, x, r, rest)) return refuse(s, x, 503, "no room for more requests now"), -1;
    return r->most ? r->most : USUAL_BODY;
}

static void on_finished(void *context, http_exchange *x)
{
    server *const s = context;
    guest *const g = *http_user(x);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->guest_count; i++)
        if (s->guests[i] == g) {
            s->guests[i] = s->guests[--s->guest_count];
            break;
        }
    pthread_mutex_unlock(&s->lock);
    free(g);
}

/* ---- requests ----------------------------------------------------------------------------------- */

static void on_request(void *context, http_exchange *x)
{
    server *const s = context;
    const guest *const g = *http_user(x);
    const http_head *const head = http_head_of(x);
    call c = {.server = s, .x = x, .route = g->route, .rest = g->rest, .client = http_client(x)};
    const char *why;
    size_t bytes;
    char *const body = http_body(x, &bytes);
    c.set = models_hold(s->models);
    server_add_cors(s, x);
    http_add_header(x, "X-Content-Type-Options", "nosniff");
    const bool page = c.route->flags & ROUTE_PAGE;
    if (page || params_read(&c.p, head->query, http_find_header(head, "content-type"), body, bytes, &why))
        c.route->run(&c);
    else call_fail(&c, 400, "%s", why);
    params_close(&c.p);
    buffer_free(&c.out);
    model_set_release(c.set);
}

/* ---- the life of a server ----------------------------------------------------------------------- */

static void say(const server *s, const char *format, const char *what)
{
    char text[768];
    snprintf(text, sizeof text, format, what);
    if (s->options.say) s->options.say(s->options.context, text);
}

static ganz_status open_parts(server *s, ganz_error *err)
{
    const models_options m = {s->options.models, s->options.model_count, s->options.beam, s->options.workers};
    int sockets[SOCKETS_MOST];
    char where[512];
    ganz_status status = models_open(&s->models, &m, err);
    if (status != GANZ_OK) return status;
    const int count = server_sockets(&s->options, sockets, where, err);
    if (count < 0) return err->status;
    s->any_host = s->options.unix_path;
    const http_options h = {.sockets = sockets,
                            .socket_count = count,
                            .threads = THREADS,
                            .max_connections = CONNECTIONS,
                            .max_per_client = CONNECTIONS_A_CLIENT,
                            .head = on_head,
                            .request = on_request,
                            .finished = on_finished,
                            .context = s};
    status = http_open(&s->http, &h, err);
    if (status == GANZ_OK) say(s, "listening on %s", where);
    return status;
}

ganz_status server_open(server **srv, const server_options *options, ganz_error *err)
{
    server *const s = *srv = calloc(1, sizeof *s);
    if (!s) {
        *err = (ganz_error){.status = GANZ_ENOMEM, .message = "out of memory for a server"};
        return GANZ_ENOMEM;
    }
    s->options = *options;
    pthread_mutex_init(&s->lock, NULL);
    const ganz_status status = open_parts(s, err);
    if (status != GANZ_OK) server_close(srv);
    return status;
}

ganz_status server_run(server *s, ganz_error *err) { return http_run(s->http, s->options.drain_seconds, err); }

void server_stop(server *s) { http_stop(s->http); }

ganz_status server_reload(server *s, ganz_error *err)
{
    const ganz_status status = models_reload(s->models, err);
    if (status == GANZ_OK) say(s, "%s", "the models are open anew");
    else say(s, "the models stay as they were: %s", err->message);
    return status;
}

void server_close(server **srv)
{
    server *const s = *srv;
    *srv = NULL;
    if (!s) return;
    http_close(&s->http);
    models_close(&s->models);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
