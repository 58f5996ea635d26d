/* The seam between HTTP and what is served by it.
 *
 * One thread reads and writes all connections; a head that is whole is shown to `head`, which may refuse it before its
 * body is read; a request that is whole goes to one of the threads that run `request`. */
#ifndef GANZ_SERVER_HTTP_H
#define GANZ_SERVER_HTTP_H

#include <stdint.h>

#include "ganz/ganz.h"
#include "http_parse.h"

typedef struct http_server http_server;
/* One request and its reply. */
typedef struct http_exchange http_exchange;

typedef struct http_options {
    const int *sockets; /* (socket_count) that listen; they become the server's */
    int socket_count;
    int threads;         /* that run `request` */
    int quick_threads;   /* more of them, for what http_be_quick names */
    int max_connections; /* at once; more get 503 and are closed */
    int max_per_client;  /* of them from one address that is not this machine's */
    /* Shown a head, in the thread of all connections: it must not wait. Returns the most bytes its body may have;
     * or -1 after http_reply, which refuses it. */
    long long (*head)(void *context, http_exchange *x);
    /* Answers a request by http_reply, in a thread that may wait. */
    void (*request)(void *context, http_exchange *x);
    /* Answers a request whose head was taken and that is refused after all, by http_reply, in the thread of all
     * connections; false: it does not, and a sentence in JSON does. */
    bool (*refused)(void *context, http_exchange *x, int status);
    /* Called once for each exchange whose head was taken, in the thread of all connections, when it is over. */
    void (*finished)(void *context, http_exchange *x);
    void *context;
} http_options;

ganz_status http_open(http_server **server, const http_options *options, ganz_error *err);
/* Serves until http_stop, then answers what was accepted, for so many seconds at most. */
ganz_status http_run(http_server *server, double drain_seconds, ganz_error *err);
/* May be called from a signal handler and from any thread. */
void http_stop(http_server *server);
void http_close(http_server **server);

const http_head *http_head_of(const http_exchange *x);
/* The body, which the handler may change; terminated. */
char *http_body(http_exchange *x, size_t *bytes);
/* Set once the client has gone: nobody waits for the reply. */
const ganz_flag *http_gone(const http_exchange *x);
/* A number for the client: of its address, or where that says nothing (this machine) of its connection. */
uint64_t http_client(const http_exchange *x);
/* Whether the client is on this machine. */
bool http_is_local(const http_exchange *x);
/* The client's address, "127.0.0.1"; "" where it has none. */
const char *http_address(const http_exchange *x);
/* Called in `head`: the request does not wait behind others. It must not take long. */
void http_be_quick(http_exchange *x);
/* Room for something of the caller's, NULL at first. */
void **http_user(http_exchange *x);

/* Adds a header to the reply that will be made. */
void http_add_header(http_exchange *x, const char *name, const char *value);
/* The reply: its body is taken over and emptied. Once for each exchange. */
void http_reply(http_exchange *x, int status, const char *type, buffer *body);
int http_status_of(const http_exchange *x, size_t *bytes_in, size_t *bytes_out); /* of its reply, 0: none yet */

typedef struct http_stats {
    int connections, waiting, running;
    long long accepted, refused; /* connections */
} http_stats;
void http_get_stats(http_server *server, http_stats *stats);

#endif
