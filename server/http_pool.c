/* Threads that take whole requests in the order they came, and hand them back to the loop with their replies. Two
 * queues, each with threads of its own: whoever asks for the server's health does not stand behind translations. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http_parts.h"

enum { STACK = 1 << 20 };

void http_wake(http_server *s)
{
    const char byte = 0;
    for (int tries = 0; tries < 10; tries++) /* a pipe that is full wakes the loop anyway */
        if (write(s->wake[1], &byte, 1) == 1 || errno == EAGAIN) return;
}

static http_exchange *take(http_queue *q)
{
    http_server *const s = q->server;
    while (!q->first && !s->ended) pthread_cond_wait(&q->changed, &s->lock);
    http_exchange *const x = q->first;
    if (!x) return NULL;
    q->first = x->next;
    if (!q->first) q->last = NULL;
    s->stats.waiting--;
    s->stats.running++;
    return x;
}

static void hand_back(http_server *s, http_exchange *x)
{
    x->next = s->done;
    s->done = x;
    s->stats.running--;
    http_wake(s);
}

static void *run(void *context)
{
    http_queue *const q = context;
    http_server *const s = q->server;
    pthread_mutex_lock(&s->lock);
    for (http_exchange *x; (x = take(q));) {
        pthread_mutex_unlock(&s->lock);
        if (!ganz_flag_is_set(&x->gone)) s->options.request(s->options.context, x);
        if (!x->status) http_fail(x, 500, "the request has no answer");
        pthread_mutex_lock(&s->lock);
        hand_back(s, x);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

void http_pool_add(http_server *s, http_exchange *x)
{
    http_queue *const q = x->quick && s->options.quick_threads > 0 ? &s->quick : &s->usual;
    pthread_mutex_lock(&s->lock);
    x->next = NULL;
    if (q->last) q->last->next = x;
    else q->first = x;
    q->last = x;
    s->stats.waiting++;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&s->lock);
}

http_exchange *http_pool_done(http_server *s)
{
    pthread_mutex_lock(&s->lock);
    http_exchange *const x = s->done;
    s->done = NULL;
    pthread_mutex_unlock(&s->lock);
    return x;
}

ganz_status http_pool_open(http_server *s, ganz_error *err)
{
    const int count = s->options.threads + s->options.quick_threads;
    pthread_attr_t attributes;
    s->usual.server = s->quick.server = s;
    s->threads = calloc((size_t)count, sizeof *s->threads);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    while (s->threads && s->thread_count < count &&
           pthread_create(&s->threads[s->thread_count], &attributes, run,
                          s->thread_count < s->options.threads ? &s->usual : &s->quick) == 0)
        s->thread_count++;
    pthread_attr_destroy(&attributes);
    if (s->threads && s->thread_count == count) return GANZ_OK;
    *err = (ganz_error){.status = GANZ_ENOMEM, .message = "out of memory for the threads of the server"};
    return GANZ_ENOMEM;
}

void http_pool_close(http_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    pthread_cond_broadcast(&s->usual.changed);
    pthread_cond_broadcast(&s->quick.changed);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < s->thread_count; i++) pthread_join(s->threads[i], NULL);
    free(s->threads);
}
