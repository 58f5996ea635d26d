/* Statistics of rounding: the operands of an integer model while it translates. */
#ifndef GANZ_TRAIN_OPERANDS_H
#define GANZ_TRAIN_OPERANDS_H

#include "model/model.h"
#include "nn/audit.h"
#include "translate/histogram.h"

typedef enum ganz_operand_kind { GANZ_OPERAND_INPUT, GANZ_OPERAND_QKV, GANZ_OPERAND_U } ganz_operand_kind;

typedef struct ganz_operand_stats {
    char name[48]; /* "enc.0.self.q.x", "enc.0.self.pair.u" */
    ganz_operand_kind kind;
    bool integer;   /* false: its product stayed float, and nothing below is known */
    int bits, most; /* largest code */
    double scale;
    int64_t values, clipped;
    double largest;       /* magnitude */
    double signal, noise; /* sums of squares: of values, of their errors by rounding and clipping */
} ganz_operand_stats;

typedef struct ganz_operands {
    ganz_operand_stats *list;   /* (count) by place of their scales */
    ganz_histogram *magnitudes; /* (count) */
    int count;
    ganz_audit audit;
    long long lines;
    ganz_model *model;
    ganz_instrument instrument; /* sees operands, and then the audit does */
} ganz_operands;

/* Opens an integer model and has it translate the first lines of a text, greedily, on one processor. */
ganz_status ganz_operands_open(ganz_operands *operands, const char *model, const char *text, int lines,
                               ganz_error *err);
void ganz_operands_close(ganz_operands *operands);

/* Scale with which the largest magnitude seen is the largest code. */
double ganz_operand_max_scale(const ganz_operand_stats *s);
/* Signal-to-noise ratio in decibels; NaN: nothing was seen, or nothing was lost. */
double ganz_operand_snr(const ganz_operand_stats *s);
double ganz_operand_clip_rate(const ganz_operand_stats *s); /* 0 to 1 */

#endif
