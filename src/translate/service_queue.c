/* The queue of a service. Clients stand in a ring and take turns; the lines of a client go in order. A batch begins
 * with the line whose turn it is, so that every line gets there, and is filled up with lines of similar length. */
#include <stdlib.h>
#include <string.h>

#include "translate/service_parts.h"

enum { EXTRA_TOKENS = 26 }; /* what the decoder counts for a sentence beside its tokens, and the end mark */

/* ---- clients ------------------------------------------------------------------------------------ */

/* The client of this number, at the end of the ring (before the one whose turn it is) if it is new. */
static ganz_client *find_client(ganz_service *s, uint64_t id)
{
    ganz_client *c = s->turn, *last = NULL;
    if (c) do {
            if (c->id == id) return c;
            last = c;
            c = c->next;
        } while (c != s->turn);
    ganz_client *const new = ganz_alloc(1, sizeof *new);
    if (!new) return NULL;
    new->id = id;
    new->next = last ? last->next : new;
    if (last) last->next = new;
    else s->turn = new;
    return new;
}

static void remove_client(ganz_service *s, ganz_client *client)
{
    ganz_client *before = client;
    while (before->next != client) before = before->next;
    before->next = client->next;
    if (s->turn == client) s->turn = client->next == client ? NULL : client->next;
    ganz_free(client);
}

bool ganz_queue_add(ganz_service *s, ganz_request *r)
{
    ganz_client *const c = find_client(s, r->options.client);
    if (!c) return false;
    if (c->last) c->last->next = r;
    else c->first = r;
    c->last = r;
    r->client = c;
    s->stats.lines_waiting += r->waiting;
    return true;
}

void ganz_queue_remove(ganz_service *s, ganz_request *r)
{
    ganz_client *const c = r->client;
    if (!c) return;
    ganz_request *before = NULL;
    for (ganz_request *at = c->first; at != r; at = at->next) before = at;
    if (before) before->next = r->next;
    else c->first = r->next;
    if (c->last == r) c->last = before;
    r->client = NULL;
    r->next = NULL;
    s->stats.lines_waiting -= r->waiting;
    r->waiting = 0;
    if (!c->first) remove_client(s, c);
}

ganz_request *ganz_queue_late(ganz_service *s, double now)
{
    ganz_client *c = s->turn;
    if (c) do {
            for (ganz_request *r = c->first; r; r = r->next)
                if (r->deadline > 0 && r->deadline <= now) return r;
            c = c->next;
        } while (c != s->turn);
    return NULL;
}

/* ---- batches ------------------------------------------------------------------------------------ */

static int guess_tokens(const ganz_service *s, const ganz_line *line)
{
    const double tokens = (double)line->bytes / s->bytes_per_token;
    const int most = s->options.translator.batch_tokens;
    return tokens < most ? (int)tokens : most; /* more fill a batch as well */
}

/* The next line of a client that is not collected yet. False: there is none. */
static bool collect_line(const ganz_service *s, ganz_client *c, bool bulk, ganz_batch_line *out)
{
    for (; c->scan; c->scan = c->scan->next, c->scan_line = 0) {
        ganz_request *const r = c->scan;
        if (r->options.bulk && !bulk) continue;
        if (c->scan_line < r->first_waiting) c->scan_line = r->first_waiting;
        while (c->scan_line < r->count && r->taken[c->scan_line]) c->scan_line++;
        if (c->scan_line == r->count) continue;
        *out =
            (ganz_batch_line){.request = r, .line = c->scan_line, .tokens = guess_tokens(s, &r->lines[c->scan_line])};
        c->scan_line++;
        return true;
    }
    return false;
}

/* Waiting lines, one of each client in turn, up to so many tokens. */
static int collect(ganz_service *s, bool bulk, int most_tokens, ganz_batch_line *out)
{
    int count = 0, before = -1, tokens = 0;
    ganz_client *c = s->turn;
    if (!c) return 0;
    do {
        c->scan = c->first;
        c->scan_line = 0;
        c = c->next;
    } while (c != s->turn);
    while (count > before) { /* once around the ring */
        before = count;
        do {
            if (count == GANZ_SERVICE_WINDOW || tokens >= most_tokens) return count;
            if (collect_line(s, c, bulk, &out[count])) {
                out[count].order = count;
                tokens += out[count++].tokens + EXTRA_TOKENS;
            }
            c = c->next;
        } while (c != s->turn);
    }
    return count;
}

/* By their distance from the first line's length, which `tokens` holds now. */
static int by_distance(const void *left, const void *right)
{
    const ganz_batch_line *const a = left, *const b = right;
    const int x = abs(a->tokens), y = abs(b->tokens);
    return x != y ? (x > y) - (x < y) : (a->order > b->order) - (a->order < b->order);
}

static void sort_lines(ganz_batch_line *batch, int count)
{
    const int first = batch[0].tokens;
    for (int i = 1; i < count; i++) batch[i].tokens -= first;
    qsort(batch + 1, (size_t)count - 1, sizeof *batch, by_distance);
    for (int i = 1; i < count; i++) batch[i].tokens += first;
}

static void take_line(ganz_service *s, const ganz_batch_line *b, double now)
{
    ganz_request *const r = b->request;
    r->taken[b->line] = true;
    r->holders++;
    r->waiting--;
    s->stats.lines_waiting--;
    s->stats.queue_seconds += now - r->submitted;
    while (r->first_waiting < r->count && r->taken[r->first_waiting]) r->first_waiting++;
    if (r->waiting == 0) ganz_queue_remove(s, r);
}

/* Takes a line that is remembered, or that a worker has already. False: neither, or no memory to say so. */
static bool take_repeat(ganz_service *s, const ganz_batch_line *b, double now, ganz_request **done)
{
    ganz_request *const r = b->request;
    ganz_repeat *const same = ganz_repeats_find(s->repeats, &r->lines[b->line]);
    ganz_result result;
    void *block;
    if (!same) return false;
    if (!same->result.best) {
        if (!ganz_repeat_wait(same, r, b->line)) return false;
        take_line(s, b, now);
        return true;
    }
    if (!ganz_result_copy(&same->result, &result, &block)) return false;
    take_line(s, b, now);
    s->stats.repeated++;
    ganz_request_give(r, b->line, result, block, done);
    return true;
}

/* *taken: lines were, although perhaps none for the batch. */
static int take_some(ganz_service *s, ganz_batch_line batch[GANZ_SERVICE_WINDOW], bool *taken, ganz_request **done)
{
    const int workers = s->options.workers;
    const bool bulk = workers == 1 || s->bulk_workers < workers - 1;
    const int most = s->options.translator.batch_tokens;
    const int size = most - most / 16; /* a guess that is a little short must not make two batches */
    const int found = collect(s, bulk, size + size / 4, batch);
    if (found == 0) return 0;
    sort_lines(batch, found);
    const long long share = (s->stats.lines_waiting + s->idle - 1) / s->idle;
    const double now = ganz_service_now();
    int count = 0, tokens = 0;
    s->turn = batch[0].request->client->next;
    for (int i = 0; i < found && count < share; i++) {
        ganz_batch_line line = batch[i];
        if (take_repeat(s, &line, now, done)) continue;
        tokens += line.tokens + EXTRA_TOKENS;
        if (count > 0 && tokens > size) break;
        line.repeat = ganz_repeats_add(s->repeats, &line.request->lines[line.line]);
        take_line(s, &line, now);
        batch[count++] = line;
    }
    *taken = true;
    return count;
}

int ganz_queue_take(ganz_service *s, ganz_batch_line batch[GANZ_SERVICE_WINDOW], ganz_request **done)
{
    bool taken;
    int count;
    do {
        taken = false;
        count = take_some(s, batch, &taken, done);
    } while (taken && count == 0);
    return count;
}
