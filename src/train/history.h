/* scales.tsv: the learned scales over a run, one line at each line of the log while they learn. */
#ifndef GANZ_TRAIN_HISTORY_H
#define GANZ_TRAIN_HISTORY_H

#include "nn/net.h"

/* Adds a line: step number, phase, and z of every operand. A file that is not there begins with the names. */
ganz_status ganz_history_add(const char *path, const ganz_net *net, const ganz_weights *weights, int64_t step,
                             int phase, ganz_error *err);
/* Cuts off lines after `step`: a run goes on from a checkpoint; 0: all, names too. Nothing to do when
 * there is no file. */
ganz_status ganz_history_keep(const char *path, int64_t step, ganz_error *err);
/* Draws them. Nothing is drawn when there is no file. */
ganz_status ganz_history_plot(const char *path, const char *svg_path, const ganz_net *net, ganz_error *err);

#endif
