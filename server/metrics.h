/* Counters of a server. Labels come from fixed sets: no text, no address, no key. */
#ifndef GANZ_SERVER_METRICS_H
#define GANZ_SERVER_METRICS_H

#include <stddef.h>

#include "buffer.h"

enum { METRIC_ROUTES = 48, METRIC_CODES = 24, METRIC_BUCKETS = 12 };

/* One thread at a time. */
typedef struct metrics {
    unsigned long long requests[METRIC_ROUTES][METRIC_CODES];
    unsigned long long buckets[METRIC_BUCKETS]; /* of seconds, not cumulative; the last: longer */
    double seconds;
    unsigned long long refused_origin, refused_full, refused_client, refused_address;
    unsigned long long characters, bytes_in, bytes_out;
} metrics;

void metrics_add(metrics *m, size_t route, int code, double seconds);
/* Text of the counters; `name` gives the path of a route. */
void metrics_write(const metrics *m, const char *(*name)(size_t route), size_t routes, buffer *out);

#endif
