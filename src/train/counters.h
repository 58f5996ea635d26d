/* Counters of a run: every number that decides the next step, and none that comes from a clock. */
#ifndef GANZ_TRAIN_COUNTERS_H
#define GANZ_TRAIN_COUNTERS_H

#include <stdint.h>

typedef struct ganz_counters {
    int64_t step;                   /* steps made */
    int64_t first;                  /* step of the schedule that this run went on from */
    int64_t phase, phase_step;      /* row of the table of phases; steps made in it */
    int64_t updates, scale_updates; /* of the weights, slots that were taken over included; of the learned scales */
    int64_t tokens;                 /* target tokens seen */
    int64_t epoch, batch;           /* position of the next batch */
    int64_t log_lines;
    int64_t logged;    /* step of the last line about training */
    int64_t validated; /* step of the last validation */
    int64_t waited;    /* validations since the best one */
    int64_t best_step; /* 0: none yet */
    double best_bleu, best_loss;
    double loss, right, counted; /* sums since the last line of the log */
    double rate;                 /* of the last step, for that line */
} ganz_counters;

#endif
