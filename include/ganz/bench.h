/* Measuring translation on this machine. */
#ifndef GANZ_BENCH_H
#define GANZ_BENCH_H

#include <stdbool.h>

#include "ganz/ganz.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a model with random weights: shape "small", "base" or "big"; bits 2 to 8, or 0 for a float model. */
GANZ_API ganz_status ganz_random_model(const char *path, const char *shape, int vocab_size, int bits, ganz_error *err);

typedef struct ganz_translation_bench {
    int threads; /* a translator each; with `single`, one translator that has them all */
    int beam;
    int force_length;               /* every sentence takes exactly so many steps; 0: what the model wants */
    int batch_tokens;               /* as in ganz_translator_options; 0: what suits the device */
    bool single;                    /* one sentence at a time */
    const char *device, *precision; /* as in ganz_translator_options */
    const int *lengths;             /* (count) source tokens without end mark; the tokens are random */
    int count;
} ganz_translation_bench;

typedef struct ganz_translation_report {
    double load_seconds;   /* opening the model */
    double seconds;        /* of all sentences, after a few others */
    double cpu_seconds;    /* the same in CPU time of all threads: what other work on the machine changes least */
    long long tokens;      /* of the translations */
    double p50_ms, p99_ms; /* of a sentence; single only, else negative */
} ganz_translation_report;

GANZ_API ganz_status ganz_bench_translate(const char *model, const ganz_translation_bench *what,
                                          ganz_translation_report *report, ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
