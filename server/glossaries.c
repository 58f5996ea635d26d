/* A list under a lock. A glossary that a job holds outlives its removal from the list. */
#include "glossaries.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GLOSSARIES = 1000 };
static const size_t most_bytes = (size_t)32 << 20; /* of all, which take about six times that in memory */

typedef struct entry {
    struct entry *next;
    glossary_facts facts;
    ganz_glossary *glossary;
    buffer tsv;
    int holders;
    bool removed;
} entry;

struct glossaries {
    pthread_mutex_t lock;
    entry *first;
    int count;    /* of those not removed */
    size_t bytes; /* of those not freed */
};

static ganz_status fail(ganz_error *err, ganz_status status, const char *sentence)
{
    *err = (ganz_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s", sentence);
    return status;
}

static void free_entry(entry *e)
{
    ganz_glossary_close(&e->glossary);
    buffer_free(&e->tsv);
    free(e);
}

ganz_status glossaries_open(glossaries **all, ganz_error *err)
{
    *all = calloc(1, sizeof **all);
    if (!*all) return fail(err, GANZ_ENOMEM, "out of memory for glossaries");
    pthread_mutex_init(&(*all)->lock, NULL);
    return GANZ_OK;
}

void glossaries_close(glossaries **all)
{
    glossaries *const g = *all;
    *all = NULL;
    if (!g) return;
    while (g->first) {
        entry *const e = g->first;
        g->first = e->next;
        free_entry(e);
    }
    pthread_mutex_destroy(&g->lock);
    free(g);
}

/* Frees what is removed and held by nobody. */
static void sweep(glossaries *g)
{
    for (entry **at = &g->first; *at;) {
        entry *const e = *at;
        if (!e->removed || e->holders > 0) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        g->bytes -= e->tsv.bytes;
        free_entry(e);
    }
}

static entry *find(const glossaries *g, const char *id)
{
    for (entry *e = g->first; e; e = e->next)
        if (!e->removed && strcmp(e->facts.id, id) == 0) return e;
    return NULL;
}

/* 32 digits with hyphens, as clients expect. */
static bool make_uuid(char uuid[FILE_ID + 4])
{
    char id[FILE_ID];
    if (!make_id(id)) return false;
    snprintf(uuid, FILE_ID + 4, "%.8s-%.4s-%.4s-%.4s-%.12s", id, id + 8, id + 12, id + 16, id + 20);
    return true;
}

ganz_status glossaries_add(glossaries *g, glossary_facts *facts, const char *tsv, size_t bytes, ganz_error *err)
{
    entry *const e = calloc(1, sizeof *e);
    if (!e || !make_uuid(facts->id)) return free(e), fail(err, GANZ_ENOMEM, "out of memory for a glossary");
    ganz_status status = ganz_glossary_parse(&e->glossary, tsv, bytes, "the glossary", err);
    buffer_add(&e->tsv, tsv, bytes);
    if (status == GANZ_OK && e->tsv.failed) status = fail(err, GANZ_ENOMEM, "out of memory for a glossary");
    pthread_mutex_lock(&g->lock);
    if (status == GANZ_OK && g->count == MOST_GLOSSARIES)
        status = fail(err, GANZ_EBUSY, "there are too many glossaries");
    if (status == GANZ_OK && bytes > most_bytes - g->bytes)
        status = fail(err, GANZ_EBUSY, "there is no room for a glossary of this size");
    if (status == GANZ_OK) {
        facts->made = time(NULL);
        facts->entries = ganz_glossary_size(e->glossary);
        e->facts = *facts;
        e->next = g->first;
        g->first = e;
        g->count++;
        g->bytes += bytes;
    }
    pthread_mutex_unlock(&g->lock);
    if (status != GANZ_OK) free_entry(e);
    return status;
}

bool glossaries_remove(glossaries *g, const char *id)
{
    pthread_mutex_lock(&g->lock);
    entry *const e = find(g, id);
    if (e) e->removed = true;
    if (e) g->count--;
    sweep(g);
    pthread_mutex_unlock(&g->lock);
    return e;
}

bool glossaries_look(glossaries *g, const char *id, int number, glossary_facts *facts)
{
    pthread_mutex_lock(&g->lock);
    const entry *e = id ? find(g, id) : g->first;
    for (int i = 0; !id && e && (e->removed || i < number); e = e->next) i += !e->removed;
    if (e) *facts = e->facts;
    pthread_mutex_unlock(&g->lock);
    return e;
}

bool glossaries_entries(glossaries *g, const char *id, buffer *out)
{
    pthread_mutex_lock(&g->lock);
    const entry *const e = find(g, id);
    if (e) buffer_add(out, e->tsv.data, e->tsv.bytes);
    pthread_mutex_unlock(&g->lock);
    return e;
}

const ganz_glossary *glossaries_hold(glossaries *g, const char *id, const char *source, const char *target)
{
    pthread_mutex_lock(&g->lock);
    entry *const e = find(g, id);
    const bool fits = e && strcmp(e->facts.source, source) == 0 && strcmp(e->facts.target, target) == 0;
    if (fits) e->holders++;
    pthread_mutex_unlock(&g->lock);
    return fits ? e->glossary : NULL;
}

void glossaries_release(glossaries *g, const ganz_glossary *glossary)
{
    pthread_mutex_lock(&g->lock);
    for (entry *e = g->first; e; e = e->next)
        if (e->glossary == glossary) e->holders--;
    sweep(g);
    pthread_mutex_unlock(&g->lock);
}
