/* Where a server listens: an address, a Unix socket, or what systemd has opened already. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server_parts.h"

enum { FIRST_PASSED = 3, BACKLOG = 512 };

static int fail(ganz_error *err, const char *what, const char *name, const char *why)
{
    *err = (ganz_error){.status = GANZ_EIO};
    snprintf(err->message, sizeof err->message, "cannot %s %.200s: %.100s", what, name, why);
    return -1;
}

/* Sockets passed by the protocol of systemd: LISTEN_PID is this process, LISTEN_FDS how many. */
static int passed_sockets(int sockets[SOCKETS_MOST])
{
    const char *const pid = getenv("LISTEN_PID"), *const count = getenv("LISTEN_FDS");
    if (!pid || !count || strtol(pid, NULL, 10) != (long)getpid()) return 0;
    const long passed = strtol(count, NULL, 10);
    int listening = 0;
    for (int i = 0; i < passed && i < SOCKETS_MOST; i++) {
        int yes = 0;
        socklen_t bytes = sizeof yes;
        if (getsockopt(FIRST_PASSED + i, SOL_SOCKET, SO_ACCEPTCONN, &yes, &bytes) == 0 && yes)
            sockets[listening++] = FIRST_PASSED + i;
    }
    return listening;
}

static int listen_unix(const char *path, ganz_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat old;
    if (strlen(path) >= sizeof address.sun_path) return fail(err, "listen on", path, "the name is too long");
    strcpy(address.sun_path, path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return fail(err, "listen on", path, strerror(errno));
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) {
        close(fd);
        return fail(err, "listen on", path, "another server listens there");
    }
    if (lstat(path, &old) == 0 && S_ISSOCK(old.st_mode)) unlink(path); /* of a server that was killed */
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 && listen(fd, BACKLOG) == 0) return fd;
    const int why = errno;
    close(fd);
    return fail(err, "listen on", path, strerror(why));
}

static int listen_at(const struct addrinfo *a)
{
    const int yes = 1;
    const int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) return fd;
    const int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* The host is an address: no name is looked up. */
static int listen_address(const char *host, int port, ganz_error *err)
{
    char service[16], where[256];
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (strcmp(host, "localhost") == 0) host = "127.0.0.1";
    snprintf(service, sizeof service, "%d", port);
    snprintf(where, sizeof where, "%.200s port %d", host, port);
    const int code = getaddrinfo(host, service, &hints, &found);
    if (code != 0) return fail(err, "listen on", where, "this is no address");
    const int fd = listen_at(found);
    const int why = errno;
    freeaddrinfo(found);
    return fd >= 0 ? fd : fail(err, "listen on", where, strerror(why));
}

/* "http://127.0.0.1:5000/", as the system has it. */
static void name_socket(int fd, char text[512])
{
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;
    char host[64] = "", port[16] = "";
    snprintf(text, 512, "a socket");
    if (getsockname(fd, (struct sockaddr *)&address, &bytes) != 0) return;
    if (address.ss_family == AF_UNIX) {
        snprintf(text, 512, "%.400s", ((const struct sockaddr_un *)&address)->sun_path);
        return;
    }
    if (getnameinfo((const struct sockaddr *)&address, bytes, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    const bool six = address.ss_family == AF_INET6;
    snprintf(text, 512, "http://%s%s%s:%s/", six ? "[" : "", host, six ? "]" : "", port);
}

int server_sockets(const server_options *o, int sockets[SOCKETS_MOST], char text[512], ganz_error *err)
{
    int count = passed_sockets(sockets);
    if (count == 0) {
        sockets[0] = o->unix_path ? listen_unix(o->unix_path, err)
                                  : listen_address(o->host ? o->host : "127.0.0.1", o->port, err);
        if (sockets[0] < 0) return -1;
        count = 1;
    }
    name_socket(sockets[0], text);
    return count;
}
