/* What the files of the HTTP server share. */
#ifndef GANZ_SERVER_HTTP_PARTS_H
#define GANZ_SERVER_HTTP_PARTS_H

#include <pthread.h>

#include "http.h"

typedef struct connection connection;

struct http_exchange {
    http_server *server;
    connection *connection;
    http_exchange *next; /* in a queue */
    http_head head;
    buffer body;
    ganz_flag gone;
    bool taken;     /* `head` took it: `finished` will be called */
    bool quick;     /* threads of its own run it */
    bool head_only; /* the reply has no body */
    bool last;      /* the connection is closed behind the reply */
    int status;
    buffer headers; /* of the reply, from http_add_header */
    buffer out;     /* the reply */
    size_t bytes_in;
    void *user;
};

/* Exchanges that wait for one of some threads; under the server's lock. */
typedef struct http_queue {
    http_server *server;
    pthread_cond_t changed;
    http_exchange *first, *last;
} http_queue;

typedef enum phase {
    PHASE_IDLE,    /* between requests */
    PHASE_HEAD,    /* a head has begun */
    PHASE_BODY,    /* a body is being read */
    PHASE_RUNNING, /* a thread has the exchange, or it waits for one */
    PHASE_WRITING, /* the reply is being written */
    PHASE_LINGER   /* all is written; what still comes is thrown away for a moment, so that the reply is not lost */
} phase;

struct connection {
    connection *next;
    int fd;
    phase phase;
    double deadline, body_began;
    char address[64];
    bool local;
    uint64_t client;
    buffer ahead;  /* bytes that are read and not yet taken */
    size_t looked; /* of them, for the end of a head */
    buffer head;   /* of the request under way */
    http_chunks chunks;
    unsigned long long most, body_left;
    size_t written;
    double write_limit;
    http_exchange x;
};

struct http_server {
    http_options options;
    int *sockets;
    int wake[2];       /* a pipe: a byte in it wakes the loop */
    ganz_flag stopped; /* no new connections */
    connection *connections;
    int connection_count;
    double accept_again; /* when to go on accepting after the system had no more descriptors */
    uint64_t numbers;
    pthread_t *threads;
    int thread_count;
    pthread_mutex_t lock; /* of what follows */
    http_queue usual, quick;
    http_exchange *done; /* that threads are through with */
    bool ended;
    http_stats stats;
};

double http_seconds(void);

/* Threads that run requests. */
ganz_status http_pool_open(http_server *s, ganz_error *err);
void http_pool_close(http_server *s);
void http_pool_add(http_server *s, http_exchange *x);
http_exchange *http_pool_done(http_server *s); /* all that are done, as a list */
void http_wake(http_server *s);

/* A reply of the server's own: {"error": why}. */
void http_fail(http_exchange *x, int status, const char *why);
/* "Bad Request" */
const char *http_reason(int status);

#endif
