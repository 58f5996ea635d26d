/* The loop over all connections: one thread, poll, a phase and a deadline for each connection. */
#define _GNU_SOURCE /* accept4, POLLRDHUP */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http_parts.h"

/* Seconds. A body gets one more for each 16 KiB, a reply one more for each 4 KiB, however slow its bytes come or go. */
static const double head_seconds = 10, idle_seconds = 30, body_seconds = 10, write_seconds = 30, linger_seconds = 1;
enum { READ_BYTES = 16384, BODY_RATE = 16384, WRITE_RATE = 4096, MOST_AT_ONCE = 1 << 30 };

double http_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- beginnings and ends ------------------------------------------------------------------------ */

static void end_exchange(http_server *s, connection *c)
{
    http_exchange *const x = &c->x;
    if (x->taken && s->options.finished) s->options.finished(s->options.context, x);
    buffer_free(&x->body);
    buffer_free(&x->headers);
    buffer_free(&x->out);
    buffer_free(&c->head);
    *x = (http_exchange){.server = s, .connection = c};
    c->looked = c->written = 0;
    c->chunks = (http_chunks){0};
}

static void set_phase(connection *c, phase next, double seconds)
{
    c->phase = next;
    c->deadline = http_seconds() + seconds;
}

static void close_connection(http_server *s, connection *c)
{
    for (connection **at = &s->connections; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    s->connection_count--;
    end_exchange(s, c);
    buffer_free(&c->ahead);
    close(c->fd);
    free(c);
}

/* Who it is: other machines by their address (of IPv6 the network), this one by the connection. */
static void name_client(http_server *s, connection *c, const struct sockaddr_storage *peer)
{
    c->client = ++s->numbers;
    c->local = true;
    if (peer->ss_family == AF_INET) {
        const struct sockaddr_in *const a = (const struct sockaddr_in *)peer;
        inet_ntop(AF_INET, &a->sin_addr, c->address, sizeof c->address);
        c->local = ntohl(a->sin_addr.s_addr) >> 24 == 127;
        if (!c->local) c->client = UINT64_C(1) << 63 | a->sin_addr.s_addr;
    } else if (peer->ss_family == AF_INET6) {
        const struct sockaddr_in6 *const a = (const struct sockaddr_in6 *)peer;
        uint64_t network;
        inet_ntop(AF_INET6, &a->sin6_addr, c->address, sizeof c->address);
        c->local = IN6_IS_ADDR_LOOPBACK(&a->sin6_addr);
        memcpy(&network, &a->sin6_addr, sizeof network);
        if (IN6_IS_ADDR_V4MAPPED(&a->sin6_addr)) {
            c->local = a->sin6_addr.s6_addr[12] == 127;
            memcpy(&network, &a->sin6_addr.s6_addr[8], sizeof network);
        }
        if (!c->local) c->client = UINT64_C(1) << 63 | network;
    }
}

static bool has_too_many(const http_server *s, const connection *c)
{
    int same = 0;
    for (const connection *o = s->connections; o; o = o->next) same += o->client == c->client;
    return s->connection_count >= s->options.max_connections || (!c->local && same >= s->options.max_per_client);
}

static void refuse_connection(int fd)
{
    static const char reply[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
                                "Content-Length: 36\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
                                "{\"error\":\"too many connections now\"}";
    if (send(fd, reply, sizeof reply - 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0) shutdown(fd, SHUT_WR);
    close(fd);
}

static void add_connection(http_server *s, int fd, const struct sockaddr_storage *peer)
{
    const int yes = 1;
    connection *const c = calloc(1, sizeof *c);
    if (c) name_client(s, c, peer);
    if (!c || has_too_many(s, c)) {
        pthread_mutex_lock(&s->lock);
        s->stats.refused++;
        pthread_mutex_unlock(&s->lock);
        refuse_connection(fd);
        free(c);
        return;
    }
    if (peer->ss_family != AF_UNIX) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    c->fd = fd;
    c->next = s->connections;
    s->connections = c;
    s->connection_count++;
    end_exchange(s, c);
    set_phase(c, PHASE_IDLE, idle_seconds);
    pthread_mutex_lock(&s->lock);
    s->stats.accepted++;
    pthread_mutex_unlock(&s->lock);
}

static void accept_all(http_server *s, int listener)
{
    for (;;) {
        struct sockaddr_storage peer = {.ss_family = AF_UNIX};
        socklen_t bytes = sizeof peer;
        const int fd = accept4(listener, (struct sockaddr *)&peer, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) add_connection(s, fd, &peer);
        else if (errno == EINTR || errno == ECONNABORTED) continue;
        else break;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK) s->accept_again = http_seconds() + 0.1; /* no descriptors left */
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* What was read beyond the request waits for the next turn of the loop. */
static void finish_writing(http_server *s, connection *c)
{
    const bool last = c->x.last || c->x.out.failed; /* whoever was promised more gets it, also when the server ends */
    end_exchange(s, c);
    if (last) {
        shutdown(c->fd, SHUT_WR);
        buffer_free(&c->ahead);
        set_phase(c, PHASE_LINGER, linger_seconds);
        return;
    }
    set_phase(c, PHASE_IDLE, idle_seconds);
}

static void go_on_writing(http_server *s, connection *c)
{
    const buffer *const out = &c->x.out;
    while (c->written < out->bytes) {
        const size_t rest = out->bytes - c->written;
        const ssize_t sent =
            send(c->fd, out->data + c->written, rest < MOST_AT_ONCE ? rest : MOST_AT_ONCE, MSG_NOSIGNAL);
        if (sent > 0) {
            c->written += (size_t)sent;
            const double stalled = http_seconds() + write_seconds;
            c->deadline = stalled < c->write_limit ? stalled : c->write_limit;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR) {
            close_connection(s, c);
            return;
        }
    }
    finish_writing(s, c);
}

static void begin_writing(http_server *s, connection *c)
{
    set_phase(c, PHASE_WRITING, write_seconds);
    c->write_limit = c->deadline + (double)(c->x.out.bytes / WRITE_RATE);
    go_on_writing(s, c);
}

static void refuse(http_server *s, connection *c, int status, const char *why)
{
    const http_options *const o = &s->options;
    c->x.last = true;
    if (!(c->x.taken && o->refused && o->refused(o->context, &c->x, status))) http_fail(&c->x, status, why);
    begin_writing(s, c);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static void drop_ahead(connection *c, size_t bytes)
{
    c->ahead.bytes -= bytes;
    memmove(c->ahead.data, c->ahead.data + bytes, c->ahead.bytes);
}

static const char *refusal(int status)
{
    if (status == 414) return "the address is too long";
    return status == 431 ? "the headers are too long" : "the head has a byte that has no place there";
}

/* False: the connection is through with reading, or is no more: a client that left does not take its refusal. */
static bool start_body(http_server *s, connection *c)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const http_head *const head = &c->x.head;
    const bool whole = !head->chunked && head->length <= c->ahead.bytes, last = c->x.last;
    c->x.last |= !whole; /* a refusal says so: the rest of the body would be read as the next request */
    const long long most = s->options.head(s->options.context, &c->x);
    if (most < 0) {
        if (whole) drop_ahead(c, (size_t)head->length);
        begin_writing(s, c);
        return false;
    }
    c->x.last = last;
    c->x.taken = true;
    c->most = (unsigned long long)most;
    if (head->length > c->most) {
        refuse(s, c, 413, "the request is too large");
        return false;
    }
    if (head->wants_continue && c->ahead.bytes == 0) send(c->fd, go_on, sizeof go_on - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    c->body_left = head->length;
    set_phase(c, PHASE_BODY, body_seconds);
    c->body_began = http_seconds();
    return true;
}

/* Takes a head from what was read; false: there is none yet, or the connection is through with reading. */
static bool take_head(http_server *s, connection *c)
{
    int status;
    const char *why;
    if (c->phase == PHASE_IDLE) set_phase(c, PHASE_HEAD, head_seconds);
    const size_t end = http_find_end(c->ahead.data, c->ahead.bytes, &c->looked, &status);
    if (status) return refuse(s, c, status, refusal(status)), false;
    if (end == 0) return false;
    buffer_add(&c->head, c->ahead.data, end);
    drop_ahead(c, end);
    if (c->head.failed) return refuse(s, c, 503, "out of memory"), false;
    status = http_parse_head(c->head.data, c->head.bytes, &c->x.head, &why);
    if (status) return refuse(s, c, status, why), false;
    c->x.bytes_in = end;
    c->x.last = !c->x.head.keep_alive;
    c->x.head_only = c->x.head.method == HTTP_HEAD_METHOD;
    return start_body(s, c);
}

/* Takes what was read of a body; true once it is whole. */
static bool take_body(http_server *s, connection *c)
{
    size_t used = 0;
    int status = 0;
    if (c->x.head.chunked) {
        status = http_add_chunks(&c->chunks, c->ahead.data, c->ahead.bytes, &used, &c->x.body, (size_t)c->most);
    } else {
        used = c->body_left < c->ahead.bytes ? (size_t)c->body_left : c->ahead.bytes;
        buffer_add(&c->x.body, c->ahead.data, used);
        c->body_left -= used;
        status = c->body_left == 0;
    }
    drop_ahead(c, used);
    c->x.bytes_in += used;
    c->deadline = c->body_began + body_seconds + (double)(c->x.body.bytes / BODY_RATE);
    if (c->x.body.failed) return refuse(s, c, 503, "out of memory"), false;
    if (status > 1)
        return refuse(s, c, status, status == 413 ? "the request is too large" : "the chunks of the body are wrong"),
               false;
    return status == 1;
}

/* Goes on with what was read, as far as it reaches. */
static void advance(http_server *s, connection *c)
{
    if (c->phase <= PHASE_HEAD && (c->ahead.bytes == 0 || !take_head(s, c))) return;
    if (c->phase != PHASE_BODY || !take_body(s, c)) return;
    c->phase = PHASE_RUNNING;
    http_pool_add(s, &c->x);
}

static void read_some(http_server *s, connection *c)
{
    static char waste[READ_BYTES];
    char *const room = c->phase == PHASE_LINGER ? waste : buffer_room(&c->ahead, READ_BYTES);
    const ssize_t got = room ? recv(c->fd, room, READ_BYTES, 0) : 0;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (got <= 0) {
        close_connection(s, c);
        return;
    }
    if (c->phase == PHASE_LINGER) return;
    c->ahead.bytes += (size_t)got;
    advance(s, c);
}

/* ---- the loop ----------------------------------------------------------------------------------- */

static short wanted_events(const connection *c)
{
    switch (c->phase) {
    case PHASE_RUNNING: return ganz_flag_is_set(&c->x.gone) ? 0 : POLLRDHUP;
    case PHASE_WRITING: return POLLOUT;
    default: return POLLIN;
    }
}

static void serve_events(http_server *s, connection *c, short events)
{
    if (c->phase == PHASE_RUNNING) ganz_flag_set(&c->x.gone);
    else if (c->phase == PHASE_WRITING) go_on_writing(s, c);
    else if (events) read_some(s, c);
}

static void check_deadline(http_server *s, connection *c, double now)
{
    if (c->phase == PHASE_RUNNING || c->deadline > now) return;
    if (c->phase == PHASE_HEAD || c->phase == PHASE_BODY) refuse(s, c, 408, "the request did not come in time");
    else close_connection(s, c);
}

static void take_done(http_server *s)
{
    for (http_exchange *x = http_pool_done(s), *next; x; x = next) {
        next = x->next;
        if (ganz_flag_is_set(&x->gone)) close_connection(s, x->connection);
        else begin_writing(s, x->connection);
    }
}

typedef struct polled {
    struct pollfd *fds;
    connection **of; /* of the descriptors behind the first ones */
    int count, capacity, first;
} polled;

static bool make_room(polled *p, int count)
{
    if (count <= p->capacity) return true;
    struct pollfd *const fds = realloc(p->fds, (size_t)count * sizeof *fds);
    if (fds) p->fds = fds;
    connection **const of = realloc(p->of, (size_t)count * sizeof *of);
    if (of) p->of = of;
    if (!fds || !of) return false;
    p->capacity = count;
    return true;
}

/* What to wait for. Returns for how many milliseconds. */
static int gather(http_server *s, polled *p)
{
    const double now = http_seconds();
    double until = now + 3600;
    p->count = 0;
    p->fds[p->count++] = (struct pollfd){.fd = s->wake[0], .events = POLLIN};
    const bool accepts = !ganz_flag_is_set(&s->stopped) && s->accept_again <= now;
    for (int i = 0; i < s->options.socket_count && accepts; i++)
        p->fds[p->count++] = (struct pollfd){.fd = s->sockets[i], .events = POLLIN};
    if (!accepts) until = now + 0.1;
    p->first = p->count;
    for (connection *c = s->connections; c; c = c->next) {
        p->of[p->count] = c;
        const short events = wanted_events(c);
        p->fds[p->count++] = (struct pollfd){.fd = events ? c->fd : -1, .events = events};
        if (c->phase != PHASE_RUNNING && c->deadline < until) until = c->deadline;
        if (c->phase == PHASE_IDLE && c->ahead.bytes > 0) until = now;
    }
    return until > now ? (int)((until - now) * 1000) + 1 : 0;
}

static void turn(http_server *s, polled *p)
{
    char bytes[256];
    while (read(s->wake[0], bytes, sizeof bytes) > 0) continue;
    for (int i = p->first; i < p->count; i++)
        if (p->fds[i].revents) serve_events(s, p->of[i], p->fds[i].revents);
    take_done(s);
    const double now = http_seconds();
    for (connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        if (c->phase == PHASE_IDLE && c->ahead.bytes > 0) advance(s, c);
        else check_deadline(s, c, now);
    }
    for (int i = 1; i < p->first; i++)
        if (p->fds[i].revents) accept_all(s, p->fds[i].fd);
    pthread_mutex_lock(&s->lock);
    s->stats.connections = s->connection_count;
    pthread_mutex_unlock(&s->lock);
}

/* Whether nothing is asked through a connection: not read, and not waiting to be read either. */
static bool is_idle(const connection *c)
{
    char byte;
    if (c->phase != PHASE_IDLE || c->ahead.bytes > 0) return false;
    return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

/* Connections that nothing is asked through are closed at the end; the others are answered first. */
static void close_idle(http_server *s)
{
    for (connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        if (is_idle(c)) close_connection(s, c);
    }
}

/* Whoever is in a queue is let in; the others are refused by the system, at once, instead of waiting for the end. What
 * systemd has passed stays open with systemd, and waits there for the next server. */
static void close_listeners(http_server *s)
{
    for (int i = 0; i < s->options.socket_count; i++) {
        accept_all(s, s->sockets[i]);
        close(s->sockets[i]);
    }
    s->options.socket_count = 0;
}

ganz_status http_run(http_server *s, double drain_seconds, ganz_error *err)
{
    polled p = {0};
    double end = 0;
    for (;;) {
        const bool stopping = ganz_flag_is_set(&s->stopped);
        if (stopping && end == 0) {
            close_listeners(s);
            end = http_seconds() + drain_seconds;
        }
        if (stopping) close_idle(s);
        if (stopping && (!s->connections || http_seconds() > end)) break;
        if (!make_room(&p, s->connection_count + s->options.socket_count + 1)) break;
        const int milliseconds = gather(s, &p);
        if (poll(p.fds, (nfds_t)p.count, milliseconds) < 0) {
            if (errno != EINTR) break;
            for (int i = 0; i < p.count; i++) p.fds[i].revents = 0;
        }
        turn(s, &p);
    }
    free(p.fds);
    free(p.of);
    if (ganz_flag_is_set(&s->stopped)) return GANZ_OK;
    *err = (ganz_error){.status = GANZ_ENOMEM, .message = "out of memory for the connections of the server"};
    return GANZ_ENOMEM;
}

void http_stop(http_server *s)
{
    ganz_flag_set(&s->stopped);
    http_wake(s);
}

/* ---- open and close ----------------------------------------------------------------------------- */

static bool set_nonblocking(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static bool open_sockets(http_server *s, const http_options *o)
{
    s->wake[0] = s->wake[1] = -1;
    s->sockets = calloc((size_t)o->socket_count + 1, sizeof *s->sockets);
    if (!s->sockets || pipe(s->wake) != 0) return false;
    bool fine = set_nonblocking(s->wake[0]) && set_nonblocking(s->wake[1]);
    for (int i = 0; i < o->socket_count; i++) fine = set_nonblocking(s->sockets[i] = o->sockets[i]) && fine;
    return fine;
}

ganz_status http_open(http_server **server, const http_options *options, ganz_error *err)
{
    http_server *const s = *server = calloc(1, sizeof *s);
    *err = (ganz_error){.status = GANZ_EIO, .message = "the system refuses to open the server"};
    if (!s) return err->status;
    s->options = *options;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->usual.changed, NULL);
    pthread_cond_init(&s->quick.changed, NULL);
    if (!open_sockets(s, options) || http_pool_open(s, err) != GANZ_OK) {
        http_close(server);
        return err->status;
    }
    return GANZ_OK;
}

void http_close(http_server **server)
{
    http_server *const s = *server;
    *server = NULL;
    if (!s) return;
    for (connection *c = s->connections; c; c = c->next) ganz_flag_set(&c->x.gone);
    http_pool_close(s);
    while (s->connections) close_connection(s, s->connections);
    for (int i = 0; s->sockets && i < s->options.socket_count; i++) close(s->sockets[i]);
    for (int i = 0; i < 2; i++)
        if (s->wake[i] >= 0) close(s->wake[i]);
    free(s->sockets);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->usual.changed);
    pthread_cond_destroy(&s->quick.changed);
    free(s);
}

void http_get_stats(http_server *s, http_stats *stats)
{
    pthread_mutex_lock(&s->lock);
    *stats = s->stats;
    pthread_mutex_unlock(&s->lock);
}
