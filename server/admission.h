/* Whether a server takes one more request. In calm it takes what it has room for, so that a burst waits a little in
 * place of being refused. Once that is too much it is overloaded, and then a request may wait no longer than requests
 * take that have the server to themselves: what is let in is answered about as fast as ever, and the rest is told at
 * once to come back. */
#ifndef GANZ_SERVER_ADMISSION_H
#define GANZ_SERVER_ADMISSION_H

#include <stdbool.h>

enum { ADMISSION_KEPT = 100 };

/* All zero at the beginning. One thread at a time. */
typedef struct admission {
    double alone[ADMISSION_KEPT]; /* seconds of the last requests that found nobody inside */
    int kept, next;
    bool overloaded;
    double since;            /* when it became so */
    double offered, refused; /* requests of about the last second */
    double counted;          /* when these were brought up to date */
    double last_refused;
} admission;

/* A server as a request finds it. */
typedef struct admission_load {
    int requests, max_requests; /* inside; that there is room for */
    double wait, max_wait;      /* seconds until all lines inside are done; most of them */
    double turn;                /* seconds until a line's turn, when one line of each request inside comes first */
} admission_load;

/* Whether the request may come in; `now` is a clock's in seconds and never goes back. */
bool admission_admits(admission *a, const admission_load *load, double now);
/* A request that had found nobody inside took so many seconds. */
void admission_note_alone(admission *a, double seconds);
/* Seconds that 95 of 100 requests alone do not exceed; 0: nobody knows yet. */
double admission_patience(const admission *a);

#endif
