/* log.tsv: a heading and one line for each event of a run. The last column is a sentence, mostly empty. */
#ifndef GANZ_TRAIN_LOG_H
#define GANZ_TRAIN_LOG_H

#include "train/chart.h"

/* Numbers that an event does not have are NaN, and nothing in the file. */
typedef struct ganz_log_record {
    double step, epoch, tokens, seconds, rate;
    double loss, accuracy, speed;                  /* training, since the line before */
    double valid_loss, valid_accuracy, valid_bleu; /* validation */
    double phase;                                  /* of quantization */
} ganz_log_record;
ganz_log_record ganz_log_blank(void); /* all NaN */

typedef struct ganz_log {
    char *path;
    int file;
    int64_t lines;  /* events written */
    double seconds; /* of the last line kept when it was opened */
    bool old;       /* of a version that knew no notes: it gets none */
} ganz_log;

/* Opens a log for appending, and nothing more; one in use by another run is refused. It is this run's from here on. */
ganz_status ganz_log_lock(ganz_log *log, const char *path, ganz_error *err);
/* Its first `keep` events stay; later ones came after the checkpoint and are cut off. keep 0 starts anew. A file that
 * is no log is refused. */
ganz_status ganz_log_keep(ganz_log *log, int64_t keep, ganz_error *err);
/* Both. */
ganz_status ganz_log_open(ganz_log *log, const char *path, int64_t keep, ganz_error *err);
void ganz_log_close(ganz_log *log);

/* Each line is one write. note: of one line, or NULL; a long one is cut. */
ganz_status ganz_log_add(ganz_log *log, const ganz_log_record *record, const char *note, ganz_error *err);

/* All events of a file; the caller frees *records. */
ganz_status ganz_log_read(const char *path, ganz_log_record **records, int *count, ganz_error *err);

/* Where phases begin in a log, as marks of a chart; returns how many, at most `most`. */
int ganz_log_marks(const ganz_log_record *records, int count, ganz_mark *marks, int most);
/* Draws the losses and BLEU of a log, and the borders of its phases. The training loss of a run that is taught is the
 * divergence from its teacher, far below any validation loss, of which then only what it has above its least is
 * drawn. */
ganz_status ganz_log_plot(const char *log_path, const char *svg_path, const char *title, bool taught, ganz_error *err);

#endif
