/* steps.tsv: one line of learned scales at a time is appended, read back and drawn. */
#include "train/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "train/chart.h"
#include "train/folder.h"

/* ---- lines -------------------------------------------------------------------------------------- */

/* Text that grows; 0: no memory for more. */
typedef struct line {
    char *text;
    size_t bytes, capacity;
} line;

static bool append(line *l, const char *text)
{
    const size_t n = strlen(text);
    if (!ganz_grow((void **)&l->text, &l->capacity, l->bytes + n + 1, 1)) return false;
    memcpy(l->text + l->bytes, text, n + 1);
    l->bytes += n;
    return true;
}

static bool add_heading(line *l, const ganz_net *net)
{
    bool good = append(l, "step\tphase");
    for (int i = 0; i < net->scales && good; i++)
        good = append(l, "\t") && append(l, net->params.list[net->first_scale + i].name);
    return good && append(l, "\n");
}

static bool add_values(line *l, const real *z, int count, int64_t step, int phase)
{
    char text[48];
    snprintf(text, sizeof text, "%lld\t%d", (long long)step, phase);
    bool good = append(l, text);
    for (int i = 0; i < count && good; i++) {
        snprintf(text, sizeof text, "\t%.5f", (double)z[i]);
        good = append(l, text);
    }
    return good && append(l, "\n");
}

static ganz_status write_line(const char *path, const line *l, ganz_error *err)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) return ganz_fail_errno(err, "open", path);
    size_t at = 0;
    while (at < l->bytes) {
        const ssize_t n = write(file, l->text + at, l->bytes - at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        at += (size_t)n;
    }
    const ganz_status status = at == l->bytes ? GANZ_OK : ganz_fail_errno(err, "write", path);
    close(file);
    return status;
}

/* A file without a byte was left by a disk that was full, or by a power cut. */
static bool has_heading(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

ganz_status ganz_history_add(const char *path, const ganz_net *net, const ganz_weights *w, int64_t step, int phase,
                             ganz_error *err)
{
    line l = {0};
    const size_t count = (size_t)net->scales;
    real *const z = ganz_alloc(count, sizeof *z);
    if (z) w->be->download(w->be, z, w->master + net->params.list[net->first_scale].offset, count * sizeof *z);
    const bool good = z && (has_heading(path) || add_heading(&l, net)) && add_values(&l, z, net->scales, step, phase);
    const ganz_status status =
        good ? write_line(path, &l, err) : ganz_fail(err, GANZ_ENOMEM, "out of memory for %s", path);
    ganz_free(l.text);
    ganz_free(z);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* The line after this one; NULL: none that is whole. */
static const char *next_line(const ganz_contents *contents, const char *at)
{
    const char *const end = (const char *)contents->data + contents->bytes;
    const char *const newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    return newline ? newline + 1 : NULL;
}

ganz_status ganz_history_keep(const char *path, int64_t step, ganz_error *err)
{
    ganz_contents contents;
    if (!ganz_exists(path)) return GANZ_OK;
    if (step == 0) return unlink(path) == 0 ? GANZ_OK : ganz_fail_errno(err, "remove", path);
    GANZ_TRY(ganz_contents_read(&contents, path, err));
    const char *at = (const char *)contents.data, *next = at ? next_line(&contents, at) : NULL;
    if (next) at = next; /* the heading stays */
    while (next && (next = next_line(&contents, at)) && strtoll(at, NULL, 10) <= step) at = next;
    const off_t bytes = (off_t)(at - (const char *)contents.data);
    ganz_contents_free(&contents);
    return truncate(path, bytes) == 0 ? GANZ_OK : ganz_fail_errno(err, "shorten", path);
}

/* ---- the picture -------------------------------------------------------------------------------- */

static const char *color_of(const ganz_net *net, int place)
{
    const char *const name = net->params.list[net->first_scale + place].name;
    if (!strstr(name, ".pair.")) return "#1f5fa8";
    return strstr(name, ".u.z") ? "#2a8a3e" : "#d1550a";
}

/* Columns of all lines: y[place * lines + i]; x is the step. */
static int read_columns(const ganz_contents *contents, int count, int lines, double *x, double *y)
{
    const char *at = contents->data ? next_line(contents, (const char *)contents->data) : NULL;
    int n = 0;
    for (const char *next; at && n < lines && (next = next_line(contents, at)); at = next, n++) {
        char *end;
        x[n] = (double)strtoll(at, &end, 10);
        strtol(end, &end, 10);
        for (int i = 0; i < count; i++) y[(size_t)i * (size_t)lines + (size_t)n] = strtod(end, &end);
    }
    return n;
}

static ganz_status plot(const ganz_contents *contents, const char *svg_path, const ganz_net *net, ganz_error *err)
{
    int lines = 0;
    for (const char *at = (const char *)contents->data; at && (at = next_line(contents, at));) lines++;
    const size_t count = (size_t)net->scales, n = (size_t)lines;
    double *const block = ganz_alloc((count + 1) * n + 1, sizeof *block);
    ganz_series *const series = ganz_alloc(count, sizeof *series);
    ganz_status status = block && series ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for %s", svg_path);
    if (status == GANZ_OK) {
        const int points = read_columns(contents, net->scales, lines, block, block + n);
        const char *const labels[] = {"inputs of dense products", "q, k, v", "attention weights"};
        bool seen[3] = {false};
        for (int i = 0; i < net->scales; i++) {
            const char *const color = color_of(net, i);
            series[i] = (ganz_series){
                .color = color, .x = block, .y = block + n * (size_t)(i + 1), .count = points, .width = 0.7};
            const int kind = strcmp(color, "#1f5fa8") == 0 ? 0 : strcmp(color, "#d1550a") == 0 ? 1 : 2;
            if (!seen[kind]) series[i].label = labels[kind];
            seen[kind] = true;
        }
        const ganz_chart chart = {.title = "Learned steps",
                                  .x_label = "step",
                                  .left_label = "z = log2 of the step",
                                  .series = series,
                                  .count = net->scales};
        status = ganz_chart_write(&chart, svg_path, err);
    }
    ganz_free(block);
    ganz_free(series);
    return status;
}

ganz_status ganz_history_plot(const char *path, const char *svg_path, const ganz_net *net, ganz_error *err)
{
    ganz_contents contents;
    if (!ganz_exists(path)) return GANZ_OK;
    GANZ_TRY(ganz_contents_read(&contents, path, err));
    const ganz_status status = plot(&contents, svg_path, net, err);
    ganz_contents_free(&contents);
    return status;
}
