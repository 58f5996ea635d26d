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
    ROUTE_DEEPL = 1,     /* errors are {"message": ...} */
    ROUTE_OPEN = 2,      /* needs no key */
    ROUTE_PAGE = 4,      /* part of the page: no parameters are read */
    ROUTE_SMALL = 8,     /* answered even when the server has no room for more translations */
    ROUTE_DOCUMENT = 16, /* brings a document, whose sentences leave room to others */
    ROUTE_WAITS = 32,    /* small, but its thread may wait a moment */
    ROUTE_FORM = 64      /* a visitor looks at the answer: a refusal is the page, too */
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

/* "http" or "https": how this server is reached. Behind a proxy that does TLS it is what the proxy says. */
const char *call_scheme(const call *c);
/* What a route needs to know about the server. */
long server_characters(const server *s);
const server_options *server_options_of(const server *s);
void server_count_characters(server *s, size_t characters);
unsigned long long server_character_count(server *s);

typedef struct detection {
    char code[LANGUAGE_BYTES];
    double confidence;         /* 0 to 100 */
    bool sure;                 /* enough to count against what other texts of the request say */
    char next[LANGUAGE_BYTES]; /* the second guess; "": there is none */
} detection;
/* Which of the source languages a text is in. */
detection call_detect(const call *c, const char *text, size_t bytes);
/* The same for a text of a format, whose marks do not count. */
detection call_detect_text(const call *c, const char *text, size_t bytes, const char *format);
/* The same for the file of the request, by its own first sentences. One that has none gets a language that leads to the
 * target. `path` is its name, or NULL. */
detection call_detect_file(const call *c, const char *path, const char *target);

/* The languages of a request and the models for them. */
typedef struct call_pair {
    char source[LANGUAGE_BYTES], target[LANGUAGE_BYTES];
    bool automatic; /* the source was looked for in the text */
    detection detected;
    model_chain chain; /* empty: both are the same language, and the text stays as it is */
} call_pair;
/* Chooses models; `source` may be NULL or "auto", and `sample` is then the text that tells, or an array whose first
 * text does. False after a refusal in LibreTranslate's words. */
bool call_choose(call *c, const char *source, const char *target, const json_value *sample, call_pair *p);
/* The same for the file of the request. */
bool call_choose_file(call *c, const char *source, const char *target, const char *path, call_pair *p);

/* Texts of a value: one text or an array of texts, at most TEXTS_MOST; false after a refusal. */
typedef struct call_texts {
    job_text *texts;
    ganz_text *out;   /* (count * results) */
    call_pair *pairs; /* (count) once they are chosen; NULL: all go where the job says */
    int count, results;
    bool array;
    size_t characters;
    char glossary_source[LANGUAGE_BYTES]; /* the job's glossary is for texts in this language; "": for all */
} call_texts;
bool call_read_texts(call *c, const json_value *value, int results, call_texts *t);
void call_texts_free(call_texts *t);
/* Chooses languages and models for each text by itself; `format` is that of texts that do not say theirs. */
bool call_choose_each(call *c, const char *source, const char *target, const char *format, call_texts *t);
/* Translates all; false after a refusal. */
bool call_translate(call *c, const job *j, call_texts *t);

/* The form of address that a request asks for, as programs of DeepL's or ours say it; *found AUTO where the models of
 * the chain do not know it and it is not insisted on. False after a refusal. */
bool call_formality(call *c, const model_chain *chain, ganz_formality *found);
/* The same for texts, each with its own chain. */
bool call_formality_each(call *c, const call_texts *t, ganz_formality *found);

/* Routes; the table is in routes.c. */
void run_translate(call *c);
void run_languages(call *c);
void run_detect(call *c);
void run_suggest(call *c);
void run_settings(call *c);
void run_health(call *c);
void run_version(call *c);
void run_metrics(call *c);
void run_spec(call *c);
void run_translate_file(call *c);
void run_download(call *c);
void run_page(call *c);
void run_form(call *c);
void run_page_file(call *c);
void run_ganz_translate(call *c);
void run_ganz_upload(call *c);
void run_ganz_document(call *c);
void run_deepl_translate(call *c);
void run_deepl_languages(call *c);
void run_deepl_usage(call *c);
void run_deepl_upload(call *c);
void run_deepl_document(call *c);
void run_deepl_glossaries(call *c);
void run_deepl_glossary(call *c);
void run_deepl_pairs(call *c);
void run_imme(call *c);
void run_kiss(call *c);
void run_deeplx(call *c);

/* EN of en. */
void call_upper(const char *code, char upper[LANGUAGE_BYTES]);
/* c->out as a file of that name. */
void call_send_file(call *c, const char *name);
/* Languages (*source NULL: not said) and glossary of a request to DeepL's interface; false, or *failed, after a
 * refusal. The glossary is that of the first pair that has one, pairs[*which], and is to be given back. */
bool deepl_languages(call *c, const char **source, const char **target);
const ganz_glossary *deepl_glossary(call *c, const call_pair *pairs, int count, int *which, bool *failed);

/* The longest beginning of a text that has at most so many bytes and ends with a whole character. */
size_t cut_characters(const char *text, size_t most);
/* Units of UTF-16 in some UTF-8. */
size_t count_units(const char *text, size_t bytes);
size_t count_characters(const char *text, size_t bytes);

#endif
