/* A server: who is let in, which route a request takes, and the life of it all. */
#include "server.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http_parts.h"
#include "page.h"
#include "sandbox.h"
#include "server_parts.h"

enum {
    USUAL_CHARACTERS = 100000,
    USUAL_BODY = 1 << 20,
    USUAL_REQUESTS = 80,
    THREADS = 64,
    QUICK_THREADS = 4,
    DOCUMENTS_AT_ONCE = 16, /* while they are being read, or waited for */
    CONNECTIONS = 1024,
    CONNECTIONS_A_CLIENT = 32,
    REQUESTS_A_CLIENT = 16,
    DOCUMENT_THREADS = 2,
    SLOW_MOST = 256 /* texts whose bodies are slow to come and that are not counted */
};
static const double BODY_PATIENCE = 0.5; /* seconds */

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

static void count_refusal(server *s, int status)
{
    pthread_mutex_lock(&s->lock);
    if (status == 503) s->metrics.refused_full++;
    else if (status == 429) s->metrics.refused_client++;
    else if (status == 403) s->metrics.refused_origin++;
    else s->metrics.refused_address++;
    pthread_mutex_unlock(&s->lock);
}

static void refuse(server *s, http_exchange *x, int status, const char *why)
{
    unsigned allowed;
    const char *rest;
    count_refusal(s, status);
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

static void refuse_method(server *s, http_exchange *x, unsigned allowed)
{
    char methods[64];
    route_name_methods(allowed, methods);
    http_add_header(x, "Allow", methods);
    refuse(s, x, 405, "this address has no such method");
}

/* The same for a form, whose text was not read. */
static void refuse_form(server *s, http_exchange *x, const route *r, int status)
{
    call c = {.server = s, .x = x, .route = r, .rest = "", .set = models_hold(s->models)};
    server_add_cors(s, x);
    http_add_header(x, "X-Content-Type-Options", "nosniff");
    page_refuse(&c, status, status == 413 ? "w_too_large" : "problem_busy");
    buffer_free(&c.out);
    model_set_release(c.set);
}

static void refuse_full(server *s, http_exchange *x, const route *r, int status)
{
    if (r->flags & ROUTE_FORM) {
        count_refusal(s, status);
        refuse_form(s, x, r, status);
    } else
        refuse(s, x, status, status == 429 ? "Slowdown: too many requests at once" : "no room for more requests now");
}

static bool on_refused(void *context, http_exchange *x, int status)
{
    const guest *const g = *http_user(x);
    const bool form = g->route->flags & ROUTE_FORM && status == 413;
    if (form) refuse_form(context, x, g->route, status);
    else server_add_cors(context, x);
    return form;
}

/* Seconds until a worker has done so many lines. */
static double work_before(double lines, const ganz_service_stats *t)
{
    const double each = t->line_seconds > 0 ? t->line_seconds : 0.05;
    return lines < t->workers ? 0 : (lines - t->workers + 1) * each / t->workers;
}

/* What a line that comes now finds inside. Lines of documents leave a worker to others and are not waited for. Requests
 * that are still being read have one line at least. */
static void find_waits(server *s, admission_load *l)
{
    model_set *const set = models_hold(s->models);
    for (int i = 0; i < set->count; i++) {
        ganz_service_stats t;
        ganz_service_get_stats(set->models[i].service, &t);
        const double lines = (double)(t.lines_inside - t.bulk_inside);
        l->wait = fmax(l->wait, work_before(fmax(lines, l->requests), &t));
        l->turn = fmax(l->turn, work_before(l->requests, &t));
    }
    model_set_release(set);
}

/* Who asks, as a number; *far: not this machine. Behind a proxy it is who the proxy says, the last of a list. */
static uint64_t find_client(const server *s, const http_exchange *x, bool *far)
{
    const char *const list = http_find_last_header(http_head_of(x), "x-forwarded-for"); /* others are the client's */
    *far = !http_is_local(x);
    if (!s->options.trust_proxy || *far || !list || !*list) return http_client(x);
    const char *const comma = strrchr(list, ',');
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *p = comma ? comma + 1 : list; *p; p++)
        if (*p != ' ') hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    *far = true;
    return UINT64_C(1) << 63 | hash >> 2;
}

/* Requests inside that translate texts, that bring documents, and that are of this client. Texts whose bodies are slow
 * to come take no room from others, up to a number: clients that never send theirs could keep all others out. */
static void count_guests(server *s, uint64_t client, int *texts, int *documents, int *same)
{
    const double now = http_seconds();
    int slow = 0;
    *texts = *documents = *same = 0;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->guest_count; i++) {
        const guest *const g = s->guests[i];
        *same += g->client == client;
        *documents += (g->route->flags & ROUTE_DOCUMENT) != 0;
        if (g->route->flags & (ROUTE_SMALL | ROUTE_DOCUMENT)) continue;
        if (g->whole || now - g->began < BODY_PATIENCE || ++slow > SLOW_MOST) ++*texts;
    }
    pthread_mutex_unlock(&s->lock);
}

/* The status that refuses one request more, or 0. *wait: seconds after which there may be room. */
static int check_room(server *s, const http_exchange *x, const route *r, double *wait)
{
    bool far;
    const uint64_t client = find_client(s, x, &far);
    int documents, same;
    admission_load l = {.max_requests = s->options.max_requests, .max_wait = s->options.max_wait};
    count_guests(s, client, &l.requests, &documents, &same);
    find_waits(s, &l);
    *wait = l.wait;
    if (far && same >= REQUESTS_A_CLIENT) return 429;
    if (r->flags & ROUTE_DOCUMENT) return documents < DOCUMENTS_AT_ONCE ? 0 : 503;
    pthread_mutex_lock(&s->lock);
    const bool admits = admission_admits(&s->admission, &l, http_seconds());
    pthread_mutex_unlock(&s->lock);
    return admits ? 0 : 503;
}

static bool add_guest(server *s, http_exchange *x, const route *r, const char *rest)
{
    bool far;
    guest *const g = calloc(1, sizeof *g + strlen(rest) + 1);
    if (!g) return false;
    *g = (guest){.client = find_client(s, x, &far), .route = r, .began = http_seconds()};
    strcpy(g->rest, rest);
    if ((r->flags & (ROUTE_SMALL | ROUTE_WAITS)) == ROUTE_SMALL) http_be_quick(x);
    *http_user(x) = g;
    pthread_mutex_lock(&s->lock);
    const bool room = s->guest_count < REQUESTS_MOST;
    g->alone = s->guest_count == 0;
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
    if (!r && allowed) return refuse_method(s, x, allowed), -1;
    if (!r) return refuse(s, x, 404, "there is nothing at this address"), -1;
    const int full = r->flags & ROUTE_SMALL ? 0 : check_room(s, x, r, &wait);
    if (full) {
        char seconds[16];
        snprintf(seconds, sizeof seconds, "%d", wait < 1 ? 1 : wait > 60 ? 60 : (int)ceil(wait));
        http_add_header(x, "Retry-After", seconds);
        refuse_full(s, x, r, full);
        return -1;
    }
    if (!add_guest(s, x, r, rest)) return refuse(s, x, 503, "no room for more requests now"), -1;
    return r->most ? r->most : USUAL_BODY;
}

/* One line of JSON for a request, without a word of what was in it. */
static void write_log(const server *s, const guest *g, const http_exchange *x, double seconds)
{
    char line[512], when[32] = "";
    size_t in, out;
    struct tm parts;
    const time_t now = time(NULL);
    const int status = http_status_of(x, &in, &out);
    if (!s->options.log || !s->options.write_log) return;
    if (gmtime_r(&now, &parts)) strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    const int bytes = snprintf(
        line, sizeof line, "{\"time\":\"%s\",\"route\":\"%s\",\"status\":%d,\"in\":%zu,\"out\":%zu,\"ms\":%.1f%s}\n",
        when, g->route->path, status, in, out, seconds * 1000, ganz_flag_is_set(http_gone(x)) ? ",\"gone\":true" : "");
    s->options.write_log(s->options.context, line, (size_t)bytes);
}

static void on_finished(void *context, http_exchange *x)
{
    server *const s = context;
    guest *const g = *http_user(x);
    const double seconds = http_seconds() - g->began;
    size_t in, out, count;
    const int status = http_status_of(x, &in, &out);
    write_log(s, g, x, seconds);
    pthread_mutex_lock(&s->lock);
    if (status && !ganz_flag_is_set(http_gone(x))) /* none: the client went away before its request was whole */
        metrics_add(&s->metrics, route_number(g->route, &count), status, seconds);
    if (g->alone && status == 200 && !(g->route->flags & (ROUTE_SMALL | ROUTE_DOCUMENT)))
        admission_note_alone(&s->admission, seconds);
    s->metrics.bytes_in += in;
    s->metrics.bytes_out += out;
    for (int i = 0; i < s->guest_count; i++)
        if (s->guests[i] == g) {
            s->guests[i] = s->guests[--s->guest_count];
            break;
        }
    pthread_mutex_unlock(&s->lock);
    free(g);
}

/* ---- what is counted ---------------------------------------------------------------------------- */

void server_count_characters(server *s, size_t characters)
{
    pthread_mutex_lock(&s->lock);
    s->metrics.characters += characters;
    pthread_mutex_unlock(&s->lock);
}

unsigned long long server_character_count(server *s)
{
    pthread_mutex_lock(&s->lock);
    const unsigned long long count = s->metrics.characters;
    pthread_mutex_unlock(&s->lock);
    return count;
}

/* What services count, all models of a name together, as the format wants it. */
static void put_services(call *c)
{
    static const char *const names[] = {"sentences_total", "batches_total",       "source_tokens_total",
                                        "queue_sentences", "queue_seconds_total", "translate_seconds_total"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (int i = 0; i < c->set->count; i++) {
            const server_model *const m = &c->set->models[i];
            ganz_service_stats t;
            ganz_service_get_stats(m->service, &t);
            const long long counts[] = {t.lines, t.batches, t.source_tokens, t.lines_waiting};
            const double seconds[] = {t.queue_seconds, t.work_seconds};
            buffer_printf(&c->out, "ganz_%s{pair=\"%s-%s\"} ", names[n], m->source, m->target);
            if (n < 4) buffer_printf(&c->out, "%lld\n", counts[n]);
            else buffer_printf(&c->out, "%.6f\n", seconds[n - 4]);
        }
    for (int i = 0; i < c->set->count; i++) {
        const server_model *const m = &c->set->models[i];
        buffer_printf(&c->out, "ganz_model_info{pair=\"%s-%s\",bits=\"%d\"} 1\n", m->source, m->target, m->facts.bits);
    }
}

void run_metrics(call *c)
{
    server *const s = c->server;
    size_t routes;
    http_stats h;
    if (!s->options.metrics) {
        call_fail(c, 404, "there is nothing at this address");
        return;
    }
    route_number(c->route, &routes);
    pthread_mutex_lock(&s->lock);
    const metrics m = s->metrics;
    pthread_mutex_unlock(&s->lock);
    metrics_write(&m, route_path, routes, &c->out);
    http_get_stats(s->http, &h);
    buffer_printf(&c->out, "ganz_connections %d\nganz_requests_waiting %d\nganz_requests_running %d\n", h.connections,
                  h.waiting, h.running);
    buffer_printf(&c->out, "ganz_uptime_seconds %.0f\n", http_seconds() - s->began);
    put_services(c);
    call_reply_as(c, 200, "text/plain; version=0.0.4; charset=utf-8");
}

/* ---- requests ----------------------------------------------------------------------------------- */

/* The key in a header: alone, or behind one of the schemes for keys. NULL: it is none, as the password for a proxy. */
static const char *key_of_header(const char *header)
{
    static const char *const schemes[] = {"DeepL-Auth-Key ", "Bearer "};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncasecmp(header, schemes[i], strlen(schemes[i])) == 0) return header + strlen(schemes[i]);
    return strchr(header, ' ') ? NULL : header;
}

/* The key of a request: a header, or a parameter; "" if there is none. */
static const char *key_of(const call *c)
{
    static const char *const names[] = {"api_key", "token", "auth_key"};
    const char *const header = http_find_header(http_head_of(c->x), "authorization");
    const char *key = header ? key_of_header(header) : NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !key; i++) key = params_text(&c->p, names[i]);
    return key ? key : "";
}

/* Whether the request may be answered; false after a refusal. */
static bool check_key(call *c)
{
    server *const s = c->server;
    const char *const key = key_of(c);
    if (c->route->flags & ROUTE_OPEN) return true;
    pthread_mutex_lock(&s->lock);
    const bool fine = !s->keys || keys_know(s->keys, key, &c->client);
    pthread_mutex_unlock(&s->lock);
    if (fine) return true;
    if (c->route->flags & ROUTE_DEEPL) call_fail(c, 403, "Authorization failed.");
    else if (c->route->flags & ROUTE_FORM) page_refuse(c, *key ? 403 : 400, *key ? "w_key_wrong" : "w_key_wanted");
    else if (*key) call_fail(c, 403, "Invalid API key");
    else call_fail(c, 400, "Invalid request: this server needs an API key; ask its owner for one");
    return false;
}

/* A body that was compressed would be read as text, and wrong. Called `identity` it is as it is. */
static bool is_compressed(const http_head *head)
{
    const char *const coding = http_find_header(head, "content-encoding");
    return coding && *coding && strcasecmp(coding, "identity") != 0;
}

static void note_whole(server *s, guest *g)
{
    pthread_mutex_lock(&s->lock);
    g->whole = true;
    pthread_mutex_unlock(&s->lock);
}

static void on_request(void *context, http_exchange *x)
{
    server *const s = context;
    const guest *const g = *http_user(x);
    const http_head *const head = http_head_of(x);
    call c = {.server = s, .x = x, .route = g->route, .rest = g->rest, .client = g->client};
    const char *why;
    size_t bytes;
    char *const body = http_body(x, &bytes);
    note_whole(s, *http_user(x));
    c.set = models_hold(s->models);
    server_add_cors(s, x);
    http_add_header(x, "X-Content-Type-Options", "nosniff");
    const bool page = c.route->flags & ROUTE_PAGE;
    if (is_compressed(head)) call_fail(&c, 415, "Invalid request: compressed bodies are not read here");
    else if (page || params_read(&c.p, head->query, http_find_header(head, "content-type"), body, bytes, &why))
        page || check_key(&c) ? c.route->run(&c) : (void)0;
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

static ganz_status open_http(server *s, const int *sockets, int count, ganz_error *err)
{
    const http_options h = {.sockets = sockets,
                            .socket_count = count,
                            .threads = THREADS,
                            .quick_threads = QUICK_THREADS,
                            .max_connections = CONNECTIONS,
                            .max_per_client = CONNECTIONS_A_CLIENT,
                            .head = on_head,
                            .request = on_request,
                            .refused = on_refused,
                            .finished = on_finished,
                            .context = s};
    return http_open(&s->http, &h, err);
}

static ganz_status open_models(server *s, ganz_error *err)
{
    const server_options *const o = &s->options;
    const models_options m = {o->models, o->model_count, o->beam, o->workers, o->remember};
    ganz_status status = o->keys_path ? keys_open(&s->keys, o->keys_path, err) : GANZ_OK;
    if (status == GANZ_OK) status = models_open(&s->models, &m, err);
    if (status == GANZ_OK) status = glossaries_open(&s->glossaries, err);
    return status == GANZ_OK ? files_open(&s->files, DOCUMENT_THREADS, err) : status;
}

/* Whether no browser of another machine, and so no other name of a host, can reach any of them. */
static bool are_unix_sockets(const int *sockets, int count)
{
    bool all = count > 0;
    for (int i = 0; i < count; i++) {
        struct sockaddr_storage address = {0};
        socklen_t bytes = sizeof address;
        all &= getsockname(sockets[i], (struct sockaddr *)&address, &bytes) == 0 && address.ss_family == AF_UNIX;
    }
    return all;
}

/* Sockets come first, because files are out of reach once the sandbox is closed, and that comes before all threads. */
static ganz_status open_parts(server *s, ganz_error *err)
{
    int sockets[SOCKETS_MOST];
    char where[512];
    const int count = server_sockets(&s->options, sockets, where, err);
    if (count < 0) return err->status;
    s->any_host = are_unix_sockets(sockets, count);
    if (s->options.sandbox) sandbox_memory();
    const bool no_files = s->options.sandbox && sandbox_files(&s->options);
    ganz_status status = open_models(s, err);
    if (status == GANZ_OK) status = open_http(s, sockets, count, err);
    if (!s->http)
        for (int i = 0; i < count; i++) close(sockets[i]);
    if (status != GANZ_OK) return status;
    const bool no_calls = s->options.sandbox && sandbox_calls();
    if (s->options.sandbox && !(no_files && no_calls))
        say(s, "%s", "this system has no Landlock or seccomp: running without a sandbox");
    say(s, "listening on %s", where);
    return GANZ_OK;
}

/* What is as large as documents is given back to the system when it is freed: left to itself, glibc keeps it once some
 * was freed. */
static void return_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

ganz_status server_open(server **srv, const server_options *options, ganz_error *err)
{
    server *const s = *srv = calloc(1, sizeof *s);
    if (!s) {
        *err = (ganz_error){.status = GANZ_ENOMEM, .message = "out of memory for a server"};
        return GANZ_ENOMEM;
    }
    return_memory();
    s->options = *options;
    s->began = http_seconds();
    pthread_mutex_init(&s->lock, NULL);
    const ganz_status status = open_parts(s, err);
    if (status != GANZ_OK) server_close(srv);
    return status;
}

ganz_status server_run(server *s, ganz_error *err) { return http_run(s->http, s->options.drain_seconds, err); }

void server_stop(server *s) { http_stop(s->http); }

static void replace_keys(server *s, keys *fresh)
{
    pthread_mutex_lock(&s->lock);
    keys *old = s->keys;
    s->keys = fresh;
    pthread_mutex_unlock(&s->lock);
    keys_close(&old);
}

/* All or nothing: keys are read before models are replaced, and taken after it. */
ganz_status server_reload(server *s, ganz_error *err)
{
    keys *fresh = NULL;
    ganz_status status = s->options.keys_path ? keys_open(&fresh, s->options.keys_path, err) : GANZ_OK;
    if (status == GANZ_OK) status = models_reload(s->models, err);
    if (status != GANZ_OK) {
        keys_close(&fresh);
        say(s, "the models stay as they were: %s", err->message);
        return status;
    }
    if (fresh) replace_keys(s, fresh);
    say(s, "%s", "the models are open anew");
    return GANZ_OK;
}

void server_close(server **srv)
{
    server *const s = *srv;
    *srv = NULL;
    if (!s) return;
    http_close(&s->http);
    files_close(&s->files);
    glossaries_close(&s->glossaries);
    models_close(&s->models);
    keys_close(&s->keys);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
