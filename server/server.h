/* ganz serve: translation over HTTP. The program calls this; all else in this folder is the server's own. */
#ifndef GANZ_SERVER_SERVER_H
#define GANZ_SERVER_SERVER_H

#include "ganz/ganz.h"

typedef struct server_options {
    const char *const *models; /* (model_count) files */
    int model_count;
    int beam, workers;
    size_t remember;       /* bytes for each model; see ganz_service_options */
    const char *host;      /* address to listen on; NULL: 127.0.0.1 */
    int port;              /* 0: the system chooses one */
    const char *unix_path; /* of a Unix socket, in place of an address; or NULL */
    const char *const
        *hosts; /* (host_count) names that requests may call this server, beside localhost and addresses */
    int host_count;
    const char *cors;      /* an origin whose pages may ask, or "*"; NULL: only this server's own */
    const char *keys_path; /* file of API keys, one a line; NULL: nobody needs one */
    const char *web_root;  /* folder whose files stand in for the page; NULL: the page inside the program */
    long max_characters;   /* of a request; 0: the usual */
    double seconds;        /* for a request; 0: the usual */
    double drain_seconds;  /* for those under way at the end */
    double max_wait;       /* requests that would wait longer before their turn are refused */
    int max_requests;      /* at once; 0: the usual */
    bool metrics, log, sandbox;
    bool trust_proxy; /* who asks is the last of X-Forwarded-For, when it comes from this machine */
    void (*say)(void *context, const char *sentence); /* what a person should know: addresses, reloads, the end */
    void (*write_log)(void *context, const char *line, size_t bytes);
    void *context;
} server_options;

void server_defaults(server_options *options);

typedef struct server server;
/* Opens the models and the sockets. Options and their texts are borrowed until it is closed. */
ganz_status server_open(server **srv, const server_options *options, ganz_error *err);
/* Serves until it is stopped; what was accepted is answered. */
ganz_status server_run(server *srv, ganz_error *err);
/* From any thread. */
void server_stop(server *srv);
/* Opens the models anew and gives them to requests from then on. If that fails all stays as it was. */
ganz_status server_reload(server *srv, ganz_error *err);
void server_close(server **srv);

#endif
