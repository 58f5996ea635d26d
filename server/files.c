/* A list of orders and a few threads. Results are kept for a quarter of an hour; when there is no room the oldest go.
 */
#define _GNU_SOURCE
#include "files.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "call.h"
#include "glossaries.h"

enum {
    MOST_FILES = 256,
    KEPT_SECONDS = 900,
    SWEEP_SECONDS = 30,
    MOST_WAITING = 16,
    STEM_BYTES = 180,
    SUFFIX_BYTES = 40
};
static const size_t most_bytes = (size_t)256 << 20;

typedef struct entry {
    struct entry *next;
    char id[FILE_ID], key[FILE_ID];
    char *path;
    file_order order; /* its bytes are a copy */
    file_facts facts;
    double began, ended;
    ganz_text result;
    ganz_flag gone; /* nobody wants it any more */
    bool removed;   /* nobody knows it any more, but it is being translated: its thread frees it */
} entry;

struct files {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    entry *first; /* newest first */
    int count;
    size_t bytes; /* of all originals and results */
    int waiting;  /* threads that wait a moment for a document */
    ganz_flag stopped;
    pthread_t *threads;
    int thread_count;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool make_id(char id[FILE_ID])
{
    unsigned char bytes[(FILE_ID - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* ---- entries ------------------------------------------------------------------------------------ */

/* Gives back all that an order needs while it is translated. */
static void end_order(entry *e)
{
    if (e->order.glossaries) glossaries_release(e->order.glossaries, e->order.job.glossary);
    model_set_release(e->order.set);
    free((char *)e->order.bytes);
    e->order = (file_order){0};
}

static void free_entry(files *f, entry *e)
{
    f->bytes -= e->order.count + e->result.bytes;
    f->count--;
    end_order(e);
    ganz_text_free(&e->result);
    free(e->path);
    free(e);
}

/* Takes an entry out of the list and frees it. */
static void drop_entry(files *f, entry *e)
{
    entry **at = &f->first;
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    free_entry(f, e);
}

static bool is_over(const entry *e) { return e->facts.state >= FILE_DONE; }

/* The last entry in the list that is over; NULL: none is. */
static entry *oldest(const files *f)
{
    entry *found = NULL;
    for (entry *e = f->first; e; e = e->next)
        if (is_over(e)) found = e;
    return found;
}

static void drop_old(files *f)
{
    const double before = now() - KEPT_SECONDS;
    for (entry *e = f->first, *next; e; e = next) {
        next = e->next;
        if (is_over(e) && e->ended <= before) drop_entry(f, e);
    }
}

static void make_room(files *f, size_t bytes)
{
    drop_old(f);
    for (entry *e; (e = oldest(f)) && (f->count >= MOST_FILES || f->bytes + bytes > most_bytes);) drop_entry(f, e);
}

/* Waits for a change, for so many seconds at most. */
static void wait_for_change(files *f, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&f->changed, &f->lock, &until);
}

static entry *find(const files *f, const char *id, const char *key)
{
    for (entry *e = f->first; e; e = e->next)
        if (!e->removed && strcmp(e->id, id) == 0) return !key || strcmp(e->key, key) == 0 ? e : NULL;
    return NULL;
}

/* ---- translating -------------------------------------------------------------------------------- */

typedef struct watched {
    files *files;
    entry *entry;
} watched;

static void on_progress(void *context, size_t done, size_t count)
{
    const watched *const w = context;
    pthread_mutex_lock(&w->files->lock);
    w->entry->facts.done = done;
    w->entry->facts.count = count;
    pthread_mutex_unlock(&w->files->lock);
}

static ganz_status translate(files *f, entry *e, ganz_error *err)
{
    watched w = {f, e};
    job j = e->order.job;
    job_text text = {.text = e->order.bytes, .bytes = e->order.count, .out = &e->result};
    j.gone = &e->gone;
    j.bulk = true;
    j.path = e->path;
    j.progress = on_progress;
    j.context = &w;
    return job_run(&j, &text, 1, err);
}

static entry *take(files *f)
{
    entry *found = NULL;
    for (;;) {
        for (entry *e = f->first; e; e = e->next)
            if (e->facts.state == FILE_QUEUED) found = e; /* the oldest */
        if (found || ganz_flag_is_set(&f->stopped)) return found;
        drop_old(f); /* also where nobody brings another one */
        wait_for_change(f, SWEEP_SECONDS);
    }
}

/* An entry that is being translated is freed by nobody else. */
static void *run(void *context)
{
    files *const f = context;
    pthread_mutex_lock(&f->lock);
    for (entry *e; (e = take(f)) && !ganz_flag_is_set(&f->stopped);) {
        e->facts.state = FILE_TRANSLATING;
        pthread_mutex_unlock(&f->lock);
        ganz_error err = {0};
        const ganz_status status = translate(f, e, &err);
        pthread_mutex_lock(&f->lock);
        e->facts.err = err;
        f->bytes -= e->order.count;
        f->bytes += e->result.bytes;
        end_order(e);
        e->ended = now();
        e->facts.seconds = e->ended - e->began;
        e->facts.state = status == GANZ_OK ? FILE_DONE : FILE_FAILED;
        if (e->removed) drop_entry(f, e);
        pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* ---- open and close ----------------------------------------------------------------------------- */

ganz_status files_open(files **all, int threads, ganz_error *err)
{
    files *const f = *all = calloc(1, sizeof *f);
    *err = (ganz_error){.status = GANZ_ENOMEM, .message = "out of memory for documents"};
    if (!f) return GANZ_ENOMEM;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    f->threads = calloc((size_t)threads, sizeof *f->threads);
    while (f->threads && f->thread_count < threads && pthread_create(&f->threads[f->thread_count], NULL, run, f) == 0)
        f->thread_count++;
    if (f->thread_count == threads) return GANZ_OK;
    files_close(all);
    return GANZ_ENOMEM;
}

void files_close(files **all)
{
    files *const f = *all;
    *all = NULL;
    if (!f) return;
    pthread_mutex_lock(&f->lock);
    ganz_flag_set(&f->stopped);
    for (entry *e = f->first; e; e = e->next) ganz_flag_set(&e->gone);
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    for (int i = 0; i < f->thread_count; i++) pthread_join(f->threads[i], NULL);
    while (f->first) drop_entry(f, f->first);
    free(f->threads);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
    free(f);
}

/* ---- in and out --------------------------------------------------------------------------------- */

/* "letter.docx" becomes "letter_de.docx"; a name that is too long ends behind a whole character. */
static void name_result(char name[FILE_NAME_BYTES], const char *original, const char *target)
{
    const char *const slash = strrchr(original, '/'), *const base = slash ? slash + 1 : original;
    const char *const dot = strrchr(base, '.');
    const char *const suffix = dot && dot > base ? dot : "", *const stem = *base ? base : "document";
    const size_t whole = strlen(stem) - strlen(suffix), most = cut_characters(stem, STEM_BYTES);
    snprintf(name, FILE_NAME_BYTES, "%.*s_%s%.*s", (int)(whole < most ? whole : most), stem, target,
             (int)cut_characters(suffix, SUFFIX_BYTES), suffix);
}

static entry *make_entry(const file_order *o)
{
    entry *const e = calloc(1, sizeof *e);
    char *const bytes = malloc(o->count + 1);
    if (e) e->path = *o->name ? strdup(o->name) : NULL;
    if (!e || !bytes || (*o->name && !e->path) || !make_id(e->id) || !make_id(e->key)) {
        if (e) free(e->path);
        free(e);
        free(bytes);
        return NULL;
    }
    memcpy(bytes, o->bytes, o->count);
    bytes[o->count] = '\0';
    e->order = *o;
    e->order.bytes = bytes;
    e->began = now();
    for (size_t i = 0; i < o->count; i++) e->facts.characters += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    name_result(e->facts.name, o->name, o->job.chain.models[o->job.chain.count - 1]->target);
    return e;
}

bool files_add(files *f, const file_order *order, char id[FILE_ID], char key[FILE_ID])
{
    entry *const e = make_entry(order);
    pthread_mutex_lock(&f->lock);
    make_room(f, order->count);
    const bool room = e && f->count < MOST_FILES && f->bytes + order->count <= most_bytes;
    if (room) {
        strcpy(id, e->id);
        strcpy(key, e->key);
        e->next = f->first;
        f->first = e;
        pthread_cond_broadcast(&f->changed);
    }
    if (e) { /* counted either way: freeing takes off again */
        f->count++;
        f->bytes += order->count;
    }
    if (e && !room) free_entry(f, e);
    pthread_mutex_unlock(&f->lock);
    if (!e && order->glossaries) glossaries_release(order->glossaries, order->job.glossary);
    if (!e) model_set_release(order->set);
    return room;
}

static void tell(const entry *e, file_facts *facts)
{
    *facts = e->facts;
    if (!is_over(e)) facts->seconds = now() - e->began;
}

bool files_look(files *f, const char *id, const char *key, file_facts *facts)
{
    pthread_mutex_lock(&f->lock);
    const entry *const e = find(f, id, key);
    if (e) tell(e, facts);
    pthread_mutex_unlock(&f->lock);
    return e;
}

static bool wait_until(files *f, const char *id, const ganz_flag *gone, double end, file_facts *facts)
{
    bool over = false;
    pthread_mutex_lock(&f->lock);
    for (entry *e; !ganz_flag_is_set(gone) && !ganz_flag_is_set(&f->stopped) && (e = find(f, id, NULL));) {
        over = is_over(e);
        tell(e, facts);
        if (over || now() > end) break;
        wait_for_change(f, 0.1);
    }
    pthread_mutex_unlock(&f->lock);
    return over;
}

bool files_wait(files *f, const char *id, const ganz_flag *gone, file_facts *facts)
{
    return wait_until(f, id, gone, 1e300, facts);
}

/* Patience is for few: each of those who wait has a thread that translations need as well. */
bool files_wait_a_moment(files *f, const char *id, const ganz_flag *gone, double seconds, file_facts *facts)
{
    pthread_mutex_lock(&f->lock);
    const bool patient = f->waiting < MOST_WAITING;
    f->waiting += patient;
    pthread_mutex_unlock(&f->lock);
    const bool over = wait_until(f, id, gone, patient ? now() + seconds : 0, facts);
    pthread_mutex_lock(&f->lock);
    f->waiting -= patient;
    pthread_mutex_unlock(&f->lock);
    return over;
}

bool files_remove(files *f, const char *id)
{
    pthread_mutex_lock(&f->lock);
    entry *const e = find(f, id, NULL);
    if (e && e->facts.state == FILE_TRANSLATING) {
        ganz_flag_set(&e->gone);
        e->removed = true;
    } else if (e) {
        drop_entry(f, e);
    }
    pthread_mutex_unlock(&f->lock);
    return e;
}

bool files_read(files *f, const char *id, const char *key, buffer *out)
{
    pthread_mutex_lock(&f->lock);
    const entry *const e = find(f, id, key);
    const bool done = e && e->facts.state == FILE_DONE;
    if (done) buffer_add(out, e->result.text, e->result.bytes);
    pthread_mutex_unlock(&f->lock);
    return done;
}
