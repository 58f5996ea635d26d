/* Processes that share a run. The first one leads: it alone decides and writes, and tells the others what all do
 * next. The others follow. Each holds the whole model and makes its share of the parts of every step. */
#ifndef GANZ_TRAIN_CREW_H
#define GANZ_TRAIN_CREW_H

#include "ranks/ranks.h"
#include "train/trainer.h"

typedef enum ganz_order {
    GANZ_ORDER_STEP,
    GANZ_ORDER_ENTER,
    GANZ_ORDER_VALIDATE,
    GANZ_ORDER_COMPARE,
    GANZ_ORDER_END
} ganz_order;

/* Whether this process leads, which one that is alone does too. */
bool ganz_crew_leads(const ganz_ranks *ranks);

/* All processes have opened their trainer, or have failed: refused is what one of them failed by, and settings,
 * corpora, models, texts or states that differ from those of the first. trainer may be NULL after a failure. */
ganz_status ganz_crew_meet(ganz_ranks *ranks, const ganz_trainer *trainer, ganz_status status, ganz_error *err);

/* The leader's word, before it does the same itself. A follower's call does nothing. */
ganz_status ganz_crew_order(ganz_ranks *ranks, ganz_order order, int row, double done, ganz_error *err);

/* Does what the leader says until it says that the run has ended, however that was: the leader tells. A failure is one
 * of the connection. */
ganz_status ganz_crew_follow(ganz_ranks *ranks, ganz_trainer *trainer, ganz_error *err);

/* Compares the parameters of all processes: they are equal unless a machine computes wrongly. */
ganz_status ganz_crew_compare(ganz_ranks *ranks, const ganz_trainer *trainer, ganz_error *err);

#endif
