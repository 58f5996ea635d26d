/* Processes that talk over TCP, each with each, without MPI. Process 0 waits at an address that all know; the others
 * come there, say where they listen themselves, and get the list of all. Data have no frames: both ends know how much
 * comes. There is no password: it is for networks whose machines trust each other. */
#define _GNU_SOURCE /* POLLRDHUP */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ranks/ranks.h"

/* A machine that has vanished is noticed after IDLE + PROBES * INTERVAL seconds, on a busy link too. */
enum {
    WAIT_SECONDS = 60,
    HELLO_SECONDS = 5,
    IDLE = 5,
    INTERVAL = 2,
    PROBES = 3,
    PAUSE_MS = 100,
    LINGER_MS = 3000,
    MARK = 0x67616e7a
};

typedef struct address {
    struct sockaddr_storage where;
    socklen_t bytes;
} address;

/* What one process sends the other when they meet, and what process 0 sends about each. */
typedef struct hello {
    uint32_t mark; /* of this protocol, and of the order of bytes */
    int32_t rank, size;
    uint32_t port; /* where it listens, in the order of the network */
} hello;

typedef struct traffic {
    char *data;
    size_t left;
} traffic;

typedef struct sockets {
    ganz_ranks table; /* first */
    int listener;
    int *peer;           /* (size) -1: itself, or not met yet */
    address *addresses;  /* (size) */
    struct pollfd *poll; /* (size) */
    traffic *out, *in;   /* (size) */
} sockets;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static ganz_status fail_net(ganz_error *err, const char *what, const char *where)
{
    return ganz_fail(err, GANZ_EIO, "cannot %s %s: %s", what, where, strerror(errno));
}

/* ---- moving bytes ------------------------------------------------------------------------------- */

static ganz_status fail_peer(sockets *s, int rank, const char *why, ganz_error *err)
{
    s->table.broken = true;
    if (!s->table.host || !s->table.host[rank][0]) /* not yet */
        return ganz_fail(err, GANZ_EIO, "process %d has gone: %s", rank, why);
    return ganz_fail(err, GANZ_EIO, "process %d on %s has gone: %s", rank, s->table.host[rank], why);
}

static bool is_later(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

static ganz_status move_peer(sockets *s, int rank, short events, ganz_error *err)
{
    traffic *const out = &s->out[rank], *const in = &s->in[rank];
    if (events & (POLLOUT | POLLERR) && out->left > 0) {
        const ssize_t n = send(s->peer[rank], out->data, out->left, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && !is_later()) return fail_peer(s, rank, strerror(errno), err);
        out->data += n > 0 ? n : 0;
        out->left -= n > 0 ? (size_t)n : 0;
    }
    if (events & (POLLIN | POLLHUP | POLLERR) && in->left > 0) {
        const ssize_t n = recv(s->peer[rank], in->data, in->left, MSG_DONTWAIT);
        if (n == 0) return fail_peer(s, rank, "it has closed the connection", err);
        if (n < 0 && !is_later()) return fail_peer(s, rank, strerror(errno), err);
        in->data += n > 0 ? n : 0;
        in->left -= n > 0 ? (size_t)n : 0;
    }
    return GANZ_OK;
}

/* Until all of out is sent and all of in is there. */
static ganz_status move_all(sockets *s, ganz_error *err)
{
    const int size = s->table.size;
    for (;;) {
        bool left = false;
        for (int i = 0; i < size; i++) {
            const short wanted = (short)((s->out[i].left ? POLLOUT : 0) | (s->in[i].left ? POLLIN : 0));
            s->poll[i] = (struct pollfd){.fd = wanted ? s->peer[i] : -1, .events = wanted};
            left = left || wanted;
        }
        if (!left) return GANZ_OK;
        if (poll(s->poll, (nfds_t)size, -1) < 0 && errno != EINTR) return fail_net(err, "wait for", "the others");
        for (int i = 0; i < size; i++)
            if (s->poll[i].revents) GANZ_TRY(move_peer(s, i, s->poll[i].revents, err));
    }
}

static ganz_status exchange(ganz_ranks *r, const void *send_data, const size_t *send_at, void *recv_data,
                            const size_t *recv_at, ganz_error *err)
{
    sockets *const s = (sockets *)r;
    const int me = r->rank;
    for (int i = 0; i < r->size; i++) {
        s->out[i] = (traffic){(char *)(uintptr_t)send_data + send_at[i], send_at[i + 1] - send_at[i]};
        s->in[i] = (traffic){(char *)recv_data + recv_at[i], recv_at[i + 1] - recv_at[i]};
    }
    memcpy(s->in[me].data, s->out[me].data, s->in[me].left);
    s->out[me].left = s->in[me].left = 0;
    return move_all(s, err);
}

static ganz_status gather(ganz_ranks *r, void *all, const size_t *at, ganz_error *err)
{
    sockets *const s = (sockets *)r;
    const int me = r->rank;
    for (int i = 0; i < r->size; i++) {
        s->out[i] = (traffic){(char *)all + at[me], i == me ? 0 : at[me + 1] - at[me]};
        s->in[i] = (traffic){(char *)all + at[i], i == me ? 0 : at[i + 1] - at[i]};
    }
    return move_all(s, err);
}

/* Nothing comes unasked: what can be read is an end. */
static ganz_status alive(ganz_ranks *r, ganz_error *err)
{
    sockets *const s = (sockets *)r;
    for (int i = 0; i < r->size; i++) s->poll[i] = (struct pollfd){.fd = s->peer[i], .events = POLLRDHUP};
    if (poll(s->poll, (nfds_t)r->size, 0) <= 0) return GANZ_OK;
    for (int i = 0; i < r->size; i++)
        if (s->poll[i].revents & (POLLRDHUP | POLLHUP | POLLERR))
            return fail_peer(s, i, "it has closed the connection", err);
    return GANZ_OK;
}

/* ---- meeting ------------------------------------------------------------------------------------ */

static void set_option(int fd, int level, int name, int value)
{
    setsockopt(fd, level, name, &value, sizeof value); /* whatever is not known here stays as it is */
}

static void watch(int fd)
{
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, IDLE);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, INTERVAL);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000 * (IDLE + PROBES * INTERVAL));
}

/* Waits at most so long for each piece that is read or sent. */
static void limit(int fd, int seconds)
{
    const struct timeval time = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

static bool put(int fd, const void *data, size_t bytes)
{
    return send(fd, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static bool get(int fd, void *data, size_t bytes) { return recv(fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes; }

/* "HOST:PORT", the host perhaps in brackets. */
static ganz_status look_up(const char *meet, bool passive, struct addrinfo **found, ganz_error *err)
{
    char host[256];
    const char *const colon = strrchr(meet, ':');
    const bool brackets = meet[0] == '[' && colon && colon > meet + 1 && colon[-1] == ']';
    const size_t bytes = colon ? (size_t)(colon - meet) - 2 * brackets : 0;
    if (!colon || bytes == 0 || bytes >= sizeof host || !colon[1])
        return ganz_fail(err, GANZ_EINVAL, "GANZ_MEET is HOST:PORT, not %s", meet);
    memcpy(host, meet + brackets, bytes);
    host[bytes] = '\0';
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = passive ? AI_PASSIVE : 0};
    const int code = getaddrinfo(host, colon + 1, &hints, found);
    return code == 0 ? GANZ_OK : ganz_fail(err, GANZ_EIO, "cannot find %s: %s", meet, gai_strerror(code));
}

static ganz_status listen_at(sockets *s, const struct sockaddr *where, socklen_t bytes, const char *name,
                             ganz_error *err)
{
    s->listener = socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0) return fail_net(err, "make a socket for", name);
    set_option(s->listener, SOL_SOCKET, SO_REUSEADDR, 1);
    limit(s->listener, 1);
    if (bind(s->listener, where, bytes) != 0 || listen(s->listener, SOMAXCONN) != 0)
        return fail_net(err, "listen at", name);
    return GANZ_OK;
}

/* A connection that does not say hello as it should is not from one of ours. */
static int accept_one(sockets *s, int lowest, hello *from)
{
    const int fd = accept(s->listener, NULL, NULL);
    if (fd < 0) return -1;
    limit(fd, HELLO_SECONDS);
    const bool good = get(fd, from, sizeof *from) && from->mark == MARK && from->size == s->table.size &&
                      from->rank >= lowest && from->rank < s->table.size && s->peer[from->rank] < 0;
    if (good) return fd;
    close(fd);
    return -1;
}

/* All processes from number `lowest` on come to us. */
static ganz_status accept_all(sockets *s, int lowest, ganz_error *err)
{
    const double end = now() + WAIT_SECONDS;
    for (int missing = s->table.size - lowest; missing > 0;) {
        hello from;
        const int fd = accept_one(s, lowest, &from);
        if (fd < 0 && now() > end)
            return ganz_fail(err, GANZ_ETIMEOUT, "%d of %d processes did not come within %d seconds", missing,
                             s->table.size, WAIT_SECONDS);
        if (fd < 0) continue;
        s->peer[from.rank] = fd;
        address *const a = &s->addresses[from.rank];
        a->bytes = sizeof a->where;
        getpeername(fd, (struct sockaddr *)&a->where, &a->bytes);
        if (a->where.ss_family == AF_INET6) ((struct sockaddr_in6 *)&a->where)->sin6_port = (in_port_t)from.port;
        else ((struct sockaddr_in *)&a->where)->sin_port = (in_port_t)from.port;
        missing--;
    }
    return GANZ_OK;
}

/* A connection that knows who it is from. */
static bool call(sockets *s, const struct sockaddr *where, socklen_t bytes, int rank, uint32_t port)
{
    const hello own = {MARK, s->table.rank, s->table.size, port};
    const int fd = socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    limit(fd, WAIT_SECONDS);
    if (connect(fd, where, bytes) == 0 && put(fd, &own, sizeof own)) {
        s->peer[rank] = fd;
        return true;
    }
    close(fd);
    return false;
}

/* Process 0 may start later than we do. Our own listener is of the same family, at any port. */
static ganz_status call_first(sockets *s, const struct addrinfo *found, const char *meet, ganz_error *err)
{
    const double end = now() + WAIT_SECONDS;
    address own = {.bytes = found->ai_addrlen};
    own.where.ss_family = (sa_family_t)found->ai_family;
    GANZ_TRY(listen_at(s, (struct sockaddr *)&own.where, own.bytes, "any port", err));
    getsockname(s->listener, (struct sockaddr *)&own.where, &own.bytes);
    const uint32_t port = found->ai_family == AF_INET6 ? ((struct sockaddr_in6 *)&own.where)->sin6_port
                                                       : ((struct sockaddr_in *)&own.where)->sin_port;
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    while (!call(s, found->ai_addr, found->ai_addrlen, 0, port)) {
        if (now() > end) return fail_net(err, "reach process 0 at", meet);
        nanosleep(&pause, NULL);
    }
    return GANZ_OK;
}

static ganz_status meet_first(sockets *s, const struct addrinfo *found, const char *meet, ganz_error *err)
{
    const size_t bytes = (size_t)s->table.size * sizeof *s->addresses;
    if (s->table.rank == 0) {
        GANZ_TRY(listen_at(s, found->ai_addr, found->ai_addrlen, meet, err));
        GANZ_TRY(accept_all(s, 1, err));
        for (int i = 1; i < s->table.size; i++)
            if (!put(s->peer[i], s->addresses, bytes)) return fail_peer(s, i, "it does not listen", err);
        return GANZ_OK;
    }
    GANZ_TRY(call_first(s, found, meet, err));
    if (!get(s->peer[0], s->addresses, bytes)) return fail_peer(s, 0, "it sends no list of the others", err);
    for (int i = 1; i < s->table.rank; i++) {
        const address *const a = &s->addresses[i];
        if (a->bytes > sizeof a->where || !call(s, (const struct sockaddr *)&a->where, a->bytes, i, 0))
            return fail_peer(s, i, "it cannot be reached", err);
    }
    return accept_all(s, s->table.rank + 1, err);
}

/* Whoever notices first that a process is dead, and ends, must not be taken for the dead one: process 0 is left time to
 * notice by itself. */
static void linger(const sockets *s)
{
    struct pollfd first = {.fd = s->peer[0], .events = POLLRDHUP};
    if (s->table.broken && s->table.rank > 0 && first.fd >= 0) poll(&first, 1, LINGER_MS);
}

static void close_sockets(ganz_ranks *r)
{
    sockets *const s = (sockets *)r;
    if (s->peer) linger(s);
    for (int i = 0; s->peer && i < r->size; i++)
        if (s->peer[i] >= 0) close(s->peer[i]);
    if (s->listener >= 0) close(s->listener);
    ganz_free(s->peer);
    ganz_free(s->addresses);
    ganz_free(s->poll);
    ganz_free(s->out);
    ganz_free(s->in);
    ganz_free(s);
}

static bool take_memory(sockets *s)
{
    const size_t size = (size_t)s->table.size;
    s->peer = ganz_alloc(size, sizeof *s->peer);
    s->addresses = ganz_alloc(size, sizeof *s->addresses);
    s->poll = ganz_alloc(size, sizeof *s->poll);
    s->out = ganz_alloc(size, sizeof *s->out);
    s->in = ganz_alloc(size, sizeof *s->in);
    for (size_t i = 0; s->peer && i < size; i++) s->peer[i] = -1;
    return s->peer && s->addresses && s->poll && s->out && s->in;
}

ganz_status ganz_sockets_open(ganz_ranks **ranks, const ganz_place *place, ganz_error *err)
{
    struct addrinfo *found = NULL;
    GANZ_TRY(look_up(place->meet, place->rank == 0, &found, err));
    sockets *const s = ganz_alloc(1, sizeof *s);
    ganz_status status = GANZ_OK;
    if (s) {
        s->table = (ganz_ranks){.rank = place->rank, .size = place->size};
        s->table.exchange = exchange;
        s->table.gather = gather;
        s->table.alive = alive;
        s->table.close = close_sockets;
        s->listener = -1;
    }
    if (!s || !take_memory(s)) status = ganz_fail(err, GANZ_ENOMEM, "out of memory");
    if (status == GANZ_OK) status = meet_first(s, found, place->meet, err);
    freeaddrinfo(found);
    if (status != GANZ_OK) {
        if (s) close_sockets(&s->table);
        return status;
    }
    for (int i = 0; i < place->size; i++) {
        if (s->peer[i] < 0) continue;
        limit(s->peer[i], 0);
        watch(s->peer[i]);
    }
    *ranks = &s->table;
    return GANZ_OK;
}
