/* Counters as text, in the format 0.0.4 of Prometheus. */
#include "metrics.h"

#include <string.h>

static const int codes[METRIC_CODES] = {200, 201, 204, 304, 400, 401, 403, 404, 405, 408, 413,
                                        414, 415, 417, 429, 431, 500, 501, 503, 504, 505};
static const double limits[METRIC_BUCKETS - 1] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

void metrics_add(metrics *m, size_t route, int code, double seconds)
{
    size_t i = 0, bucket = 0;
    while (i < METRIC_CODES - 1 && codes[i] != code) i++;
    while (bucket < METRIC_BUCKETS - 1 && seconds > limits[bucket]) bucket++;
    if (route < METRIC_ROUTES) m->requests[route][i]++;
    m->buckets[bucket]++;
    m->seconds += seconds;
}

/* Replies with a code to all routes of a name: one address has several, by method. */
static unsigned long long count_replies(const metrics *m, const char *(*name)(size_t route), size_t from, size_t routes,
                                        size_t code)
{
    unsigned long long sum = 0;
    for (size_t r = from; r < routes; r++)
        if (strcmp(name(r), name(from)) == 0) sum += m->requests[r][code];
    return sum;
}

static bool is_named_before(const char *(*name)(size_t route), size_t route)
{
    for (size_t r = 0; r < route; r++)
        if (strcmp(name(r), name(route)) == 0) return true;
    return false;
}

static void write_requests(const metrics *m, const char *(*name)(size_t route), size_t routes, buffer *out)
{
    buffer_put(out, "# HELP ganz_requests_total Requests that were answered.\n# TYPE ganz_requests_total counter\n");
    if (routes > METRIC_ROUTES) routes = METRIC_ROUTES;
    for (size_t r = 0; r < routes; r++) {
        if (is_named_before(name, r)) continue;
        for (size_t i = 0; i < METRIC_CODES; i++) {
            const unsigned long long count = count_replies(m, name, r, routes, i);
            if (count == 0) continue;
            buffer_printf(out, "ganz_requests_total{route=\"%s\",code=\"%d\"} %llu\n", name(r), codes[i], count);
        }
    }
}

static void write_histogram(const metrics *m, buffer *out)
{
    unsigned long long sum = 0;
    buffer_put(out, "# HELP ganz_request_seconds From the head of a request to its reply.\n"
                    "# TYPE ganz_request_seconds histogram\n");
    for (size_t i = 0; i < METRIC_BUCKETS - 1; i++) {
        sum += m->buckets[i];
        buffer_printf(out, "ganz_request_seconds_bucket{le=\"%g\"} %llu\n", limits[i], sum);
    }
    sum += m->buckets[METRIC_BUCKETS - 1];
    buffer_printf(out, "ganz_request_seconds_bucket{le=\"+Inf\"} %llu\n", sum);
    buffer_printf(out, "ganz_request_seconds_sum %.6f\nganz_request_seconds_count %llu\n", m->seconds, sum);
}

void metrics_write(const metrics *m, const char *(*name)(size_t route), size_t routes, buffer *out)
{
    write_requests(m, name, routes, out);
    write_histogram(m, out);
    buffer_put(out, "# HELP ganz_rejected_total Requests that were refused by their head.\n"
                    "# TYPE ganz_rejected_total counter\n");
    buffer_printf(out, "ganz_rejected_total{reason=\"origin\"} %llu\n", m->refused_origin);
    buffer_printf(out, "ganz_rejected_total{reason=\"full\"} %llu\n", m->refused_full);
    buffer_printf(out, "ganz_rejected_total{reason=\"client\"} %llu\n", m->refused_client);
    buffer_printf(out, "ganz_rejected_total{reason=\"address\"} %llu\n", m->refused_address);
    buffer_printf(out, "# TYPE ganz_characters_total counter\nganz_characters_total %llu\n", m->characters);
    buffer_printf(out, "# TYPE ganz_bytes_total counter\nganz_bytes_total{side=\"in\"} %llu\n", m->bytes_in);
    buffer_printf(out, "ganz_bytes_total{side=\"out\"} %llu\n", m->bytes_out);
}
