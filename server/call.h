/* One request on its way through the routes. */
#ifndef GANZ_SERVER_CALL_H
#define GANZ_SERVER_CALL_H

#include "http.h"
#include "job.h"
#include "params.h"
#include "server.h"

typedef struct call call;
typedef struct route {
    unsigned methods; /* bits 1 << http_method */
    const char *path; /* ends in "*": all that begin with it */
    void (*run)(call *c);
    long long most; /* bytes of a body; 0: the usual */
    unsigned flags;
} route;
enum {
    ROUTE_DEEPL = 1, /* errors are {"message": ...} */
    ROUTE_OPEN = 2,  /* needs no key */
    ROUTE_PAGE = 4,  /* part of the page: no parameters are read */
    ROUTE_SMALL = 8  /* answered even when the server has no room for more translations */
};

struct call {
    server *server;
    http_exchange *x;
    const route *route;
    const char *rest; /* of the path, where the route's ends in "*" */
    model_set *set;
    params p;
    uint64_t client;
    buffer out;
    long segments;
};

enum { TEXTS_MOST = 1024 };

/* Replies. Each is the last thing that a call does with its exchange. */
void call_reply(call *c, int status); /* c->out, as JSON */
void call_reply_as(call *c, int status, const char *type);
void call_fail(call *c, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void call_fail_job(call *c, const ganz_error *err);

/* A job for this call's client; the chain is still to be chosen. */
job call_job(const call *c);
/* A language code as models have it: small letters, without a region; false: too long. */
bool call_language(const char *text, char code[LANGUAGE_BYTES]);

/* What a route needs to know about the server. */
long server_characters(const server *s);
const server_options *server_options_of(const server *s);

/* Texts of a value: one text or an array of texts, at most TEXTS_MOST; false after a refusal. */
typedef struct call_texts {
    job_text *texts;
    ganz_text *out; /* (count * results) */
    int count, results;
    bool array;
    size_t characters;
} call_texts;
bool call_read_texts(call *c, const json_value *value, int results, call_texts *t);
void call_texts_free(call_texts *t);
/* Translates all; false after a refusal. */
bool call_translate(call *c, const job *j, call_texts *t);

typedef struct detection {
    char code[LANGUAGE_BYTES];
    double confidence; /* 0 to 100 */
} detection;
/* Which of the source languages the texts are in. */
detection call_detect(const call *c, const char *text, size_t bytes);

/* Routes; the table is in routes.c. */
void run_translate(call *c);
void run_languages(call *c);
void run_health(call *c);
void run_page(call *c);
void run_ganz_translate(call *c);

/* Units of UTF-16 in some UTF-8. */
size_t count_units(const char *text, size_t bytes);
size_t count_characters(const char *text, size_t bytes);

#endif
