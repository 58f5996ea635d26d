/* Float models to integer models. */
#ifndef GANZ_QUANTIZE_H
#define GANZ_QUANTIZE_H

#include <stdbool.h>

#include "ganz/ganz.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Quantization by measured ranges: the model, its weights rounded already, runs over some text; the largest magnitude of
 * each product's input becomes its largest code. Nothing is learned. */
typedef struct ganz_calibration {
    int bits;            /* of all codes: 2 to 8 */
    const char *source;  /* text file, one sentence a line; plain or compressed */
    const char *target;  /* its translation, line by line; NULL: what the model itself makes of the source */
    long long most_lines; /* 0: all */
    int beam;            /* of the model's own translations */
    int threads;
    const char *command; /* noted in the file, or NULL */
    /* Called now and then with the lines done; false stops with GANZ_ESTOPPED. May be NULL. */
    bool (*progress)(void *context, long long lines);
    void *context;
} ganz_calibration;

typedef struct ganz_calibration_report {
    long long lines;    /* measured */
    long long left_out; /* empty, or longer than the model takes */
    int products;       /* that are integer now: dense ones and those of attention */
    int steps;          /* of their inputs */
} ganz_calibration_report;

/* 8 bits, own translations with beam 1, one thread. */
GANZ_API void ganz_calibration_defaults(ganz_calibration *how);

/* Reads a float model, writes an integer one whole or not at all. */
GANZ_API ganz_status ganz_quantize_max(const char *model, const char *out, const ganz_calibration *how,
                                       ganz_calibration_report *report, ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
