/* What the files of the server know about it. */
#ifndef GANZ_SERVER_SERVER_PARTS_H
#define GANZ_SERVER_SERVER_PARTS_H

#include <pthread.h>

#include "admission.h"
#include "call.h"
#include "files.h"
#include "glossaries.h"
#include "keys.h"
#include "metrics.h"

enum { REQUESTS_MOST = 4096, SOCKETS_MOST = 16 };

/* A request that was let in and is not yet over. */
typedef struct guest {
    uint64_t client;
    const route *route;
    double began;
    bool alone;  /* there was no other when it came */
    bool whole;  /* its body is there */
    char rest[]; /* of the path */
} guest;

struct server {
    server_options options;
    models *models;
    http_server *http;
    bool any_host; /* no name of a host is wrong: a Unix socket */
    files *files;
    glossaries *glossaries;
    double began;
    pthread_mutex_t lock; /* of what follows */
    keys *keys;           /* NULL: nobody needs one */
    metrics metrics;
    admission admission;
    guest *guests[REQUESTS_MOST];
    int guest_count;
};

/* Sockets to listen on: those that the system's manager passes, else the one the options say. Returns how many, or -1.
 * `text` says where. */
int server_sockets(const server_options *o, int sockets[SOCKETS_MOST], char text[512], ganz_error *err);

/* The route of a head; NULL: none. *allowed: the methods that there are for its path. */
const route *find_route(const http_head *head, unsigned *allowed, const char **rest);

/* Names of methods, as Allow has them. */
void route_name_methods(unsigned methods, char text[64]);

size_t route_number(const route *r, size_t *count); /* of `count` routes */
const char *route_path(size_t number);

/* The length of a host without its port. */
size_t server_host_bytes(const char *host);
/* Whether Host and Origin are those of this server's own pages and programs; else the status that refuses, and *why. */
int server_check_origin(const server *s, const http_exchange *x, const char **why);
void server_add_cors(const server *s, http_exchange *x);

#endif
