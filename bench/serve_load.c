/* Load for a server that speaks LibreTranslate's POST /translate: at a fixed rate, whatever becomes of the requests
 * before (latencies count from when a request was due), or from clients that each wait for their answer. One thread and
 * epoll, so that the load takes little of the processors that it shares with the server. Prints one line of JSON. */
#define _GNU_SOURCE /* getline, ppoll, strcasestr */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REPLY = 1 << 16, EVENTS = 256, MOST_CONNECTIONS = 4096, STATUSES = 600 };
static const char usage[] = "serve_load --port P --text FILE (--rate R | --clients N) [--seconds S] [--requests N]\n"
                            "           [--connections N] [--source en] [--target de]\n";

typedef struct options {
    int port, clients, connections;
    double rate, seconds;
    long long requests; /* after which it ends, if the time is not over; 0: any number */
    const char *text, *source, *target;
} options;

typedef struct connection {
    int fd;          /* -1: not open */
    bool busy;       /* a request is under way */
    double due;      /* when it should have been sent */
    int line;        /* of the texts */
    size_t sent;     /* of its request */
    char *reply;     /* (REPLY) */
    size_t received; /* of the reply */
} connection;

typedef struct load {
    options o;
    char **requests; /* (count) heads and bodies */
    int count;
    connection *connections;
    int epoll, open, busy;
    double begin, end;
    long long due; /* requests whose time has come, or that clients have begun */
    long long sent, broken, answers[STATUSES];
    double *good, *refused; /* seconds of the answers */
    size_t good_count, refused_count, capacity;
    uint64_t chance;
} load;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
    fprintf(stderr, "serve_load: %s\n", what);
    exit(1);
}

static void *need(void *memory)
{
    if (!memory) fail("out of memory");
    return memory;
}

/* ---- texts -------------------------------------------------------------------------------------- */

static char *make_request(const options *o, const char *line, size_t bytes)
{
    char *const body = need(malloc(2 * bytes + 256)), *const request = need(malloc(2 * bytes + 512));
    size_t at = (size_t)sprintf(body, "{\"source\":\"%s\",\"target\":\"%s\",\"q\":\"", o->source, o->target);
    for (size_t i = 0; i < bytes; i++) {
        if (line[i] == '"' || line[i] == '\\') body[at++] = '\\';
        body[at++] = line[i] == '\t' ? ' ' : line[i];
    }
    strcpy(body + at, "\"}");
    sprintf(request,
            "POST /translate HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
            "Content-Length: %zu\r\n\r\n%s",
            o->port, at + 2, body);
    free(body);
    return request;
}

static void read_texts(load *l)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t bytes;
    FILE *const file = fopen(l->o.text, "r");
    if (!file) fail("cannot read the texts");
    while ((bytes = getline(&line, &capacity, file)) > 0) {
        if (line[bytes - 1] == '\n') bytes--;
        if (bytes == 0) continue;
        l->requests = need(realloc(l->requests, ((size_t)l->count + 1) * sizeof *l->requests));
        l->requests[l->count++] = make_request(&l->o, line, (size_t)bytes);
    }
    free(line);
    fclose(file);
    if (l->count == 0) fail("there are no texts");
}

/* The same texts in the same order every time. */
static int draw_line(load *l)
{
    l->chance = l->chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((l->chance >> 33) % (uint64_t)l->count);
}

/* ---- connections -------------------------------------------------------------------------------- */

static void watch(const load *l, connection *c, uint32_t events, int how)
{
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (epoll_ctl(l->epoll, how, c->fd, &event) != 0) fail("epoll refuses a connection");
}

static bool connect_to(load *l, connection *c)
{
    const int yes = 1;
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)l->o.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) return false;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(c->fd, (const struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS) {
        close(c->fd);
        c->fd = -1;
        return false;
    }
    l->open++;
    watch(l, c, EPOLLIN, EPOLL_CTL_ADD);
    return true;
}

static void disconnect(load *l, connection *c)
{
    if (c->fd >= 0) {
        close(c->fd);
        l->open--;
    }
    c->fd = -1;
}

static void give_up(load *l, connection *c)
{
    disconnect(l, c);
    if (c->busy) {
        l->broken++;
        l->busy--;
    }
    c->busy = false;
}

static void go_on_sending(load *l, connection *c)
{
    const char *const request = l->requests[c->line];
    const size_t bytes = strlen(request);
    while (c->sent < bytes) {
        const ssize_t sent = send(c->fd, request + c->sent, bytes - c->sent, MSG_NOSIGNAL);
        if (sent > 0) {
            c->sent += (size_t)sent;
        } else if (errno == EAGAIN || errno == ENOTCONN) { /* the connection is still being made */
            watch(l, c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            return;
        } else {
            give_up(l, c);
            return;
        }
    }
    watch(l, c, EPOLLIN, EPOLL_CTL_MOD);
}

static void start(load *l, connection *c, double due)
{
    c->due = due;
    c->line = draw_line(l);
    c->sent = c->received = 0;
    c->busy = true;
    l->busy++;
    l->sent++;
    if (c->fd < 0 && !connect_to(l, c)) give_up(l, c);
    else go_on_sending(l, c);
}

/* ---- answers ------------------------------------------------------------------------------------ */

static void note(load *l, int status, double seconds)
{
    if (l->good_count + l->refused_count == l->capacity) {
        l->capacity = l->capacity ? 2 * l->capacity : 4096;
        l->good = need(realloc(l->good, l->capacity * sizeof *l->good));
        l->refused = need(realloc(l->refused, l->capacity * sizeof *l->refused));
    }
    l->answers[status >= 0 && status < STATUSES ? status : 0]++;
    if (status == 200) l->good[l->good_count++] = seconds;
    else l->refused[l->refused_count++] = seconds;
}

/* Whether the reply is whole; then *status is its, and *last says that the server closes. */
static bool is_whole(connection *c, int *status, bool *last)
{
    c->reply[c->received] = '\0';
    const char *const end = strstr(c->reply, "\r\n\r\n"), *const length = strcasestr(c->reply, "\ncontent-length:");
    if (!end || !length || length > end) return false;
    const char *const closes = strcasestr(c->reply, "\nconnection: close");
    *last = (closes && closes < end) || strncmp(c->reply, "HTTP/1.0", 8) == 0;
    *status = atoi(c->reply + 9);
    return c->received >= (size_t)(end + 4 - c->reply) + (size_t)atoll(length + 16);
}

static void receive(load *l, connection *c)
{
    int status;
    bool last;
    const ssize_t got = recv(c->fd, c->reply + c->received, REPLY - 1 - c->received, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0 || !c->busy) {
        give_up(l, c);
        return;
    }
    c->received += (size_t)got;
    if (!is_whole(c, &status, &last)) return;
    note(l, status, now() - c->due);
    c->busy = false;
    l->busy--;
    if (last) disconnect(l, c);
}

/* ---- the loop ----------------------------------------------------------------------------------- */

/* A connection without a request: an open one if there is one. NULL: all are busy. */
static connection *find_free(const load *l)
{
    connection *closed = NULL;
    for (int i = 0; i < l->o.connections; i++) {
        connection *const c = &l->connections[i];
        if (!c->busy && c->fd >= 0) return c;
        if (!c->busy && !closed) closed = c;
    }
    return closed;
}

/* Sends what is due; returns for how many seconds there is nothing to send. */
static double send_due(load *l)
{
    const double time = now();
    for (;;) {
        const double due = l->o.rate > 0 ? l->begin + (double)l->due / l->o.rate : time;
        if (due >= l->end || (l->o.requests > 0 && l->due >= l->o.requests)) return 0.1;
        if (due > time) return due - time;
        connection *const c = l->o.rate > 0 || l->busy < l->o.clients ? find_free(l) : NULL;
        if (!c) return 0.1;
        start(l, c, due);
        l->due++;
    }
}

static void run(load *l)
{
    struct epoll_event events[EVENTS];
    l->begin = now();
    l->end = l->begin + l->o.seconds;
    for (;;) {
        const double wait = send_due(l);
        const struct timespec pause = {.tv_nsec = (long)((wait < 0.1 ? wait : 0.1) * 1e9)};
        struct pollfd ready = {.fd = l->epoll, .events = POLLIN};
        const bool all = now() >= l->end || (l->o.requests > 0 && l->due >= l->o.requests);
        if (all && l->busy == 0) break;
        if (now() >= l->end + 60) break;
        ppoll(&ready, 1, &pause, NULL); /* epoll_wait knows whole milliseconds only */
        const int count = epoll_wait(l->epoll, events, EVENTS, 0);
        for (int i = 0; i < count; i++) {
            connection *const c = events[i].data.ptr;
            if (c->fd >= 0 && events[i].events & EPOLLOUT) go_on_sending(l, c);
            if (c->fd >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(l, c);
        }
    }
}

static int by_size(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double percentile(const double *sorted, size_t count, double share)
{
    const size_t at = (size_t)(share * (double)count);
    return count == 0 ? 0 : 1000 * sorted[at < count ? at : count - 1];
}

static void print(load *l)
{
    const double took = now() - l->begin;
    if (l->good_count > 0) qsort(l->good, l->good_count, sizeof *l->good, by_size);
    if (l->refused_count > 0) qsort(l->refused, l->refused_count, sizeof *l->refused, by_size);
    printf("{\"sent\":%lld,\"ok\":%zu,\"refused\":%lld,\"failed\":%lld,\"broken\":%lld,\"seconds\":%.3f,", l->sent,
           l->good_count, l->answers[503] + l->answers[429],
           (long long)l->refused_count - l->answers[503] - l->answers[429], l->broken + l->busy, took);
    printf("\"per_second\":%.1f,\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"refused_p99_ms\":%.2f}\n",
           (double)l->good_count / took, percentile(l->good, l->good_count, 0.5),
           percentile(l->good, l->good_count, 0.99), percentile(l->refused, l->refused_count, 0.99));
}

static options read_options(int argc, char **argv)
{
    options o = {.seconds = 5, .connections = 512, .source = "en", .target = "de"};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *const name = argv[i], *const value = argv[i + 1];
        if (strcmp(name, "--port") == 0) o.port = atoi(value);
        else if (strcmp(name, "--rate") == 0) o.rate = atof(value);
        else if (strcmp(name, "--clients") == 0) o.clients = atoi(value);
        else if (strcmp(name, "--connections") == 0) o.connections = atoi(value);
        else if (strcmp(name, "--seconds") == 0) o.seconds = atof(value);
        else if (strcmp(name, "--requests") == 0) o.requests = atoll(value);
        else if (strcmp(name, "--text") == 0) o.text = value;
        else if (strcmp(name, "--source") == 0) o.source = value;
        else if (strcmp(name, "--target") == 0) o.target = value;
        else fail(usage);
    }
    const bool good = o.port > 0 && o.text && (o.rate > 0) != (o.clients > 0) && o.connections > 0;
    if (!good || argc % 2 == 0 || o.connections > MOST_CONNECTIONS || o.clients > MOST_CONNECTIONS) fail(usage);
    if (o.clients > 0) o.connections = o.clients;
    return o;
}

int main(int argc, char **argv)
{
    load l = {.o = read_options(argc, argv), .epoll = epoll_create1(EPOLL_CLOEXEC)};
    if (l.epoll < 0) fail("there is no epoll");
    read_texts(&l);
    l.connections = need(calloc((size_t)l.o.connections, sizeof *l.connections));
    for (int i = 0; i < l.o.connections; i++) l.connections[i] = (connection){.fd = -1, .reply = need(malloc(REPLY))};
    run(&l);
    print(&l);
    return 0;
}
