/* What processes of a run send each other, from others that mean no good: the calls of sockets are ours, and all that
 * comes from the network are the bytes of the input. The first three say how many processes there are, which is ours
 * and what it does. Every call ends, well or with a sentence; every connection is closed; settings that another process
 * sent can be written down. */
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

#include "fuzz.h"
#include "ganz/recipe.h"
#include "ranks/ranks.h"

enum { MOST_RANKS = 4, FIRST_FD = 1000, BLOCK = 90, VERSION_BYTES = 32, GREETING = VERSION_BYTES + GANZ_HOST_BYTES };

/* ---- a network ---------------------------------------------------------------------------------- */

static struct {
    const uint8_t *at, *end;
    long long seconds; /* its clock */
    int opened;        /* sockets that are open */
} net;

static unsigned take(void) { return net.at < net.end ? *net.at++ : 0; }

static int fake_socket(void) { return FIRST_FD + net.opened++; }

static int fail_with(int code)
{
    errno = code;
    return -1;
}

/* Behind the end of the input there is a world where everything works and nothing is said. */
static bool works(void) { return net.at == net.end || take() % 16 != 0; }

static int fake_accept(void)
{
    if (net.at == net.end || !works()) return fail_with(EAGAIN);
    return fake_socket();
}

static int fake_connect(void) { return works() ? 0 : fail_with(ECONNREFUSED); }

/* A greeting that begins with "v" has our version, whatever that is. */
static void set_version(char *data, size_t bytes)
{
    if (bytes != GREETING || data[0] != 'v') return;
    memset(data, 0, VERSION_BYTES);
    memcpy(data, ganz_version(), strlen(ganz_version()));
}

/* Whole pieces, as much as there is; or pieces of lengths that the input says, ends and failures between. */
static ssize_t fake_recv(void *data, size_t bytes, int flags)
{
    size_t count = (size_t)(net.end - net.at);
    if (!(flags & MSG_WAITALL)) {
        const unsigned how = take();
        if (how == 255) return fail_with(EAGAIN);
        if (how == 254) return fail_with(ECONNRESET);
        if (how < 64 && how < count) count = how;
        if (net.at < net.end && count > (size_t)(net.end - net.at)) count = (size_t)(net.end - net.at);
        if (net.at == net.end) return 0;
    }
    if (count > bytes) count = bytes;
    memcpy(data, net.at, count);
    net.at += count;
    set_version(data, count);
    return (ssize_t)count;
}

static ssize_t fake_send(const void *data, size_t bytes, int flags)
{
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; i++) sum += ((const uint8_t *)data)[i]; /* all of it can be read */
    if (!works()) return fail_with(sum == UINT32_MAX ? EAGAIN : EPIPE);
    if (!(flags & MSG_DONTWAIT) || net.at == net.end) return (ssize_t)bytes;
    const size_t most = 1 + take();
    return (ssize_t)(bytes < most ? bytes : most);
}

static int fake_poll(struct pollfd *list, nfds_t count)
{
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        const bool asks_for_end = list[i].events & POLLRDHUP;
        list[i].revents = list[i].fd < 0 || (asks_for_end && works()) ? 0 : list[i].events;
        if (list[i].revents && !works()) list[i].revents |= POLLERR;
        ready += list[i].revents != 0;
    }
    return ready;
}

static int fake_name(struct sockaddr *name, socklen_t *bytes)
{
    FUZZ_EXPECT(*bytes >= sizeof(struct sockaddr_in));
    const bool six = *bytes >= sizeof(struct sockaddr_in6) && take() & 1;
    name->sa_family = six ? AF_INET6 : AF_INET;
    *bytes = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    return 0;
}

static int fake_look_up(struct addrinfo **found)
{
    static struct sockaddr_in where = {.sin_family = AF_INET};
    static struct addrinfo info = {.ai_family = AF_INET, .ai_addrlen = sizeof where};
    info.ai_addr = (struct sockaddr *)&where;
    *found = &info;
    return works() ? 0 : EAI_NONAME;
}

static int fake_clock(struct timespec *now)
{
    *now = (struct timespec){.tv_sec = (time_t)(net.seconds += 7)};
    return 0;
}

/* Every argument is used, or compilers would miss those of the callers. */
#define USED(a, b, c) ((void)(a), (void)(b), (void)(c))
#define socket(family, type, protocol) (USED(family, type, protocol), fake_socket())
#define accept(fd, name, bytes) (USED(fd, name, bytes), fake_accept())
#define connect(fd, name, bytes) (USED(fd, name, bytes), fake_connect())
#define recv(fd, data, bytes, flags) ((void)(fd), fake_recv(data, bytes, flags))
#define send(fd, data, bytes, flags) ((void)(fd), fake_send(data, bytes, flags))
#define poll(list, count, time) fake_poll(list, count)
#define setsockopt(fd, level, name, value, bytes) (USED(fd, level, name), USED(value, bytes, 0))
#define bind(fd, name, bytes) (USED(fd, name, bytes), works() ? 0 : fail_with(EADDRINUSE))
#define listen(fd, count) ((void)(fd), 0)
#define getpeername(fd, name, bytes) ((void)(fd), fake_name(name, bytes))
#define getsockname(fd, name, bytes) ((void)(fd), fake_name(name, bytes))
#define getaddrinfo(host, port, hints, found) (USED(host, port, hints), fake_look_up(found))
#define freeaddrinfo(found) ((void)(found))
#define nanosleep(time, left) ((void)(time))
#define clock_gettime(which, now) fake_clock(now)
#define close(fd) ((void)(fd), (void)net.opened--)
#include "ranks/sockets.c"

/* ---- a run -------------------------------------------------------------------------------------- */

static void expect_sentence(ganz_status status, const ganz_error *err)
{
    if (status != GANZ_OK) FUZZ_EXPECT(err->message[0] && !strchr(err->message, '\n'));
}

static ganz_status exchange_blocks(ganz_ranks *ranks, ganz_error *err)
{
    char out[MOST_RANKS * BLOCK] = "", in[MOST_RANKS * BLOCK];
    size_t out_at[MOST_RANKS + 1] = {0}, in_at[MOST_RANKS + 1] = {0};
    for (int i = 0; i < ranks->size; i++) {
        const size_t bytes = take() % BLOCK;
        out_at[i + 1] = out_at[i] + bytes;
        in_at[i + 1] = in_at[i] + (i == ranks->rank ? bytes : take() % BLOCK);
    }
    return ranks->exchange(ranks, out, out_at, in, in_at, err);
}

static ganz_status gather_blocks(ganz_ranks *ranks, ganz_error *err)
{
    char own[BLOCK] = "", all[MOST_RANKS * BLOCK];
    return ganz_ranks_gather(ranks, own, all, take() % BLOCK, err);
}

/* What processes compare before they begin. */
static ganz_status compare_recipes(ganz_ranks *ranks, ganz_error *err)
{
    int count;
    ganz_recipe recipe = {0};
    char text[GANZ_VALUE_BYTES];
    const ganz_setting *const table = ganz_recipe_table(&count);
    GANZ_TRY(ganz_ranks_share(ranks, &recipe, offsetof(ganz_recipe, exceptions), err));
    memset(recipe.exceptions, (int)take(), sizeof recipe.exceptions);
    for (int i = 0; i < count; i++) {
        ganz_recipe_get(&recipe, &table[i], text);
        FUZZ_EXPECT(memchr(text, '\0', sizeof text));
    }
    return GANZ_OK;
}

static ganz_status work(ganz_ranks *ranks, unsigned what, ganz_error *err)
{
    switch (what % 5) {
    case 0: return exchange_blocks(ranks, err);
    case 1: return gather_blocks(ranks, err);
    case 2: return ganz_ranks_agree(ranks, what < 128 ? GANZ_OK : ganz_fail(err, GANZ_EINVAL, "a failure"), err);
    case 3: return ranks->alive(ranks, err);
    default: return compare_recipes(ranks, err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    net.at = data;
    net.end = data + size;
    const int count = 2 + (int)(take() % (MOST_RANKS - 1));
    const ganz_place place = {.size = count, .rank = (int)take() % count, .meet = "host:1"};
    const unsigned tasks = take();
    ganz_ranks *ranks;
    ganz_error err = {0};
    net.opened = 0;
    ganz_status status = ganz_ranks_open(&ranks, &place, &err);
    FUZZ_EXPECT((status == GANZ_OK) == (ranks != NULL));
    for (unsigned i = 0; status == GANZ_OK && i < 1 + tasks % 4; i++) status = work(ranks, tasks / 4 + take(), &err);
    expect_sentence(status, &err);
    ganz_ranks_close(&ranks);
    FUZZ_EXPECT(net.opened == 0);
    return 0;
}
