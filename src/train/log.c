/* log.tsv: lines are appended with one write each, cut back to a checkpoint, read and drawn. */
#include "train/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "train/folder.h"
#include "train/phases.h"

enum { LINE_BYTES = 1024, NOTE_BYTES = 600, MARKS = 8, FIELDS = (int)(sizeof(ganz_log_record) / sizeof(double)) };

#define NUMBERS \
    "step\tepoch\ttokens\tseconds\trate\tloss\taccuracy\ttokens/s\tvalid_loss\tvalid_accuracy\tvalid_bleu\tphase"
static const char heading[] = NUMBERS "\tnote\n", old_heading[] = NUMBERS "\n";
#undef NUMBERS

/* The record as a row of numbers, in the order of the heading. */
static void to_fields(const ganz_log_record *r, double fields[FIELDS])
{
    const double row[FIELDS] = {r->step,     r->epoch, r->tokens,     r->seconds,        r->rate,       r->loss,
                                r->accuracy, r->speed, r->valid_loss, r->valid_accuracy, r->valid_bleu, r->phase};
    memcpy(fields, row, sizeof row);
}

static ganz_log_record from_fields(const double f[FIELDS])
{
    const ganz_log_record r = {f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11]};
    return r;
}

ganz_log_record ganz_log_blank(void)
{
    const double none[FIELDS] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    return from_fields(none);
}

static ganz_log_record parse_line(const char *line, const char *end)
{
    double fields[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        char text[32] = "";
        const char *const tab = line < end ? memchr(line, '\t', (size_t)(end - line)) : NULL;
        const size_t n = (size_t)((tab ? tab : end) - line);
        if (n < sizeof text) memcpy(text, line, n);
        fields[i] = text[0] ? strtod(text, NULL) : NAN;
        line = tab ? tab + 1 : end;
    }
    return from_fields(fields);
}

static bool begins(const ganz_contents *contents, const char *with, size_t bytes)
{
    return contents->bytes >= bytes && memcmp(contents->data, with, bytes) == 0;
}

/* Bytes of the heading and the first `keep` events (fewer when there are fewer), how many they are, and the last. */
static ganz_status measure(const ganz_contents *contents, const char *path, int64_t keep, ganz_log *log, off_t *bytes,
                           ganz_error *err)
{
    const char *const text = (const char *)contents->data, *const end = text + contents->bytes;
    const bool now = begins(contents, heading, sizeof heading - 1);
    log->old = !now;
    if (!now && !begins(contents, old_heading, sizeof old_heading - 1))
        return ganz_fail(err, GANZ_EFORMAT, "%s: not a log of ganz", path);
    const char *at = text + (now ? sizeof heading : sizeof old_heading) - 1;
    while (log->lines < keep) {
        const char *const newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (!newline) break;
        const ganz_log_record last = parse_line(at, newline);
        if (isfinite(last.seconds)) log->seconds = last.seconds;
        at = newline + 1;
        log->lines++;
    }
    *bytes = (off_t)(at - text);
    return GANZ_OK;
}

static ganz_status write_all(const ganz_log *log, const char *text, size_t bytes, ganz_error *err)
{
    while (bytes > 0) {
        const ssize_t n = write(log->file, text, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return ganz_fail_errno(err, "write", log->path);
        text += n;
        bytes -= (size_t)n;
    }
    return GANZ_OK;
}

/* A checkpoint counts lines: they are on the disk before it is. Some files cannot be synced and say EINVAL. */
static ganz_status sync_lines(const ganz_log *log, ganz_error *err)
{
    return fdatasync(log->file) == 0 || errno == EINVAL ? GANZ_OK : ganz_fail_errno(err, "write", log->path);
}

ganz_status ganz_log_keep(ganz_log *log, int64_t keep, ganz_error *err)
{
    ganz_contents contents;
    off_t bytes = 0;
    GANZ_TRY(ganz_contents_read(&contents, log->path, err));
    ganz_status status = GANZ_OK;
    if (contents.bytes > 0) status = measure(&contents, log->path, keep, log, &bytes, err);
    ganz_contents_free(&contents);
    GANZ_TRY(status);
    if (ftruncate(log->file, bytes) != 0) return ganz_fail_errno(err, "shorten", log->path);
    if (bytes == 0) GANZ_TRY(write_all(log, heading, sizeof heading - 1, err));
    GANZ_TRY(sync_lines(log, err));
    return ganz_sync_name(log->path, err);
}

ganz_status ganz_log_lock(ganz_log *log, const char *path, ganz_error *err)
{
    *log = (ganz_log){.file = -1, .path = ganz_strdup(path)};
    if (!log->path) return ganz_fail(err, GANZ_ENOMEM, "out of memory");
    log->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const ganz_status status =
        log->file < 0 ? ganz_fail_errno(err, "open", path) : ganz_folder_lock(log->file, path, err);
    if (status != GANZ_OK) ganz_log_close(log);
    return status;
}

ganz_status ganz_log_open(ganz_log *log, const char *path, int64_t keep, ganz_error *err)
{
    GANZ_TRY(ganz_log_lock(log, path, err));
    const ganz_status status = ganz_log_keep(log, keep, err);
    if (status != GANZ_OK) ganz_log_close(log);
    return status;
}

void ganz_log_close(ganz_log *log)
{
    if (log->file >= 0 && log->path) close(log->file);
    ganz_free(log->path);
    *log = (ganz_log){.file = -1};
}

ganz_status ganz_log_add(ganz_log *log, const ganz_log_record *record, const char *note, ganz_error *err)
{
    double fields[FIELDS];
    char line[LINE_BYTES];
    int n = 0;
    to_fields(record, fields);
    for (int i = 0; i < FIELDS; i++) {
        if (!isnan(fields[i]))
            n += snprintf(line + n, sizeof line - (size_t)n, i == 0 || i == 2 ? "%.12g" : "%.6g", fields[i]);
        if (i + 1 < FIELDS) line[n++] = '\t';
    }
    if (!log->old) n += snprintf(line + n, sizeof line - (size_t)n, "\t%.*s", NOTE_BYTES, note ? note : "");
    line[n++] = '\n';
    GANZ_TRY(write_all(log, line, (size_t)n, err));
    GANZ_TRY(sync_lines(log, err));
    log->lines++;
    return GANZ_OK;
}

ganz_status ganz_log_read(const char *path, ganz_log_record **records, int *count, ganz_error *err)
{
    ganz_contents contents;
    ganz_log counted = {0};
    off_t bytes = 0;
    *records = NULL;
    *count = 0;
    GANZ_TRY(ganz_contents_read(&contents, path, err));
    ganz_status status = measure(&contents, path, INT32_MAX, &counted, &bytes, err);
    if (status == GANZ_OK) {
        *records = ganz_alloc((size_t)counted.lines + 1, sizeof **records);
        if (!*records) status = ganz_fail(err, GANZ_ENOMEM, "out of memory for %s", path);
    }
    const char *at = (const char *)contents.data + (counted.old ? sizeof old_heading : sizeof heading) - 1;
    for (; status == GANZ_OK && *count < (int)counted.lines; (*count)++) {
        const char *const newline = memchr(at, '\n', contents.bytes - (size_t)(at - (const char *)contents.data));
        (*records)[*count] = parse_line(at, newline);
        at = newline + 1;
    }
    ganz_contents_free(&contents);
    return status;
}

/* ---- the picture -------------------------------------------------------------------------------- */

/* Columns of the chart: step, raw and smoothed training loss, validation loss, BLEU. */
typedef struct columns {
    double *step, *loss, *smooth, *valid, *bleu;
} columns;

/* A centred mean over about a fiftieth of the points from..to-1, which lie in one phase. Near the ends the window is
 * narrower on both sides, so that the line neither lags behind its points nor runs ahead of them. */
static void smooth(const double *loss, int from, int to, double *mean)
{
    const int wide = to - from < 20 ? 0 : 1 + (to - from) / 100;
    for (int i = from; i < to; i++) {
        int reach = i - from < to - 1 - i ? i - from : to - 1 - i, count = 0;
        double sum = 0;
        if (reach > wide) reach = wide;
        for (int j = i - reach; j <= i + reach; j++)
            if (isfinite(loss[j])) sum += loss[j], count++;
        mean[i] = isfinite(loss[i]) ? sum / count : NAN;
    }
}

static void fill_columns(const columns *c, const ganz_log_record *records, int count)
{
    for (int i = 0; i < count; i++) {
        c->step[i] = records[i].step;
        c->loss[i] = records[i].loss;
        c->valid[i] = records[i].valid_loss;
        c->bleu[i] = records[i].valid_bleu;
    }
    for (int from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count; to++)
            if (isfinite(records[to].phase) && records[to].phase != records[from].phase) break;
        smooth(c->loss, from, to, c->smooth);
    }
}

/* Takes the least of the numbers from all of them and returns it; NAN where there are none. */
static double above_least(double *values, int count)
{
    double least = NAN;
    for (int i = 0; i < count; i++) least = fmin(least, values[i]);
    for (int i = 0; i < count; i++) values[i] -= least;
    return least;
}

/* Events that lack a number leave no hole in its line. */
static ganz_series compact(const char *name, const char *color, double *x, double *y, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (!isfinite(y[i]) || !isfinite(x[i])) continue;
        x[n] = x[i];
        y[n++] = y[i];
    }
    const ganz_series s = {.label = name, .color = color, .x = x, .y = y, .count = n, .width = 2};
    return s;
}

int ganz_log_marks(const ganz_log_record *records, int count, ganz_mark *marks, int most)
{
    double phase = 0, before = 0;
    int n = 0;
    for (int i = 0; i < count && n < most; i++) {
        if (isfinite(records[i].phase) && records[i].phase != phase) {
            marks[n].x = n > 0 ? before : records[i].step;
            snprintf(marks[n].label, sizeof marks[n].label, "%s", ganz_phase_label(records[i].phase));
            phase = records[i].phase;
            n++;
        }
        before = records[i].step;
    }
    return n;
}

ganz_status ganz_log_plot(const char *log_path, const char *svg_path, const char *title, bool taught, ganz_error *err)
{
    ganz_log_record *records;
    int count;
    char valid_label[48] = "validation loss";
    GANZ_TRY(ganz_log_read(log_path, &records, &count, err));
    const size_t n = (size_t)count + 1;
    double *const block = ganz_alloc(n * 8, sizeof *block); /* five columns, and a copy of the steps for three */
    ganz_status status = block ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for %s", svg_path);
    if (block) {
        const columns c = {block, block + n, block + 2 * n, block + 3 * n, block + 4 * n};
        fill_columns(&c, records, count);
        const double least = taught ? above_least(c.valid, count) : NAN;
        if (isfinite(least)) snprintf(valid_label, sizeof valid_label, "validation loss above %.4f", least);
        for (int i = 5; i < 8; i++) memcpy(block + (size_t)i * n, c.step, sizeof(double) * (size_t)count);
        ganz_series series[] = {
            compact(taught ? "divergence from the teacher" : "training loss", "#c9d7e8", c.step, c.loss, count),
            compact("smoothed", "#1f5fa8", block + 5 * n, c.smooth, count),
            compact(valid_label, "#d1550a", block + 6 * n, c.valid, count),
            compact("validation BLEU", "#2a8a3e", block + 7 * n, c.bleu, count),
        };
        series[0].width = 1;
        series[2].dots = series[3].dots = true;
        series[3].right = true;
        ganz_mark marks[MARKS];
        const ganz_chart chart = {.title = title,
                                  .x_label = "step",
                                  .left_label = "nats per token",
                                  .right_label = series[3].count ? "BLEU" : NULL,
                                  .series = series,
                                  .count = series[3].count ? 4 : 3,
                                  .marks = marks,
                                  .mark_count = ganz_log_marks(records, count, marks, MARKS)};
        status = ganz_chart_write(&chart, svg_path, err);
    }
    ganz_free(block);
    ganz_free(records);
    return status;
}
