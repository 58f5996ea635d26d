/* Fills our parameters with their numbers. Biases of keys change nothing (they add the same to all scores of a query)
 * and are left out; those of values go through the output projection and become part of its bias. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import/draft.h"
#include "model/model.h"

typedef struct job {
    const ganz_draft *draft;
    const ganz_net *net;
    real *block;
    ganz_error *err;
} job;

static bool ends_in(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

static ganz_status no_memory(const job *j) { return ganz_fail(j->err, GANZ_ENOMEM, "out of memory for a model"); }

/* ---- columns that alternate --------------------------------------------------------------------- */

/* Columns 0 2 4 ... 1 3 5 ... of a row. */
static void turn_row(const float *from, float *to, int width)
{
    for (int i = 0; i < width / 2; i++) {
        to[i] = from[2 * i];
        to[width / 2 + i] = from[2 * i + 1];
    }
}

/* The stream of activations has its columns in another order: so do rows of what writes it, and columns of what reads
 * it. */
static ganz_status turn_columns(const job *j, const ganz_param *p, float *values)
{
    const int width = j->net->config.width;
    const bool writes = ends_in(p->name, ".o.weight") || ends_in(p->name, "ffn.out.weight");
    const bool inside =
        ends_in(p->name, ".q.bias") || ends_in(p->name, "ffn.in.bias") || ends_in(p->name, "logits.bias");
    if (inside) return GANZ_OK;
    float *const copy = ganz_alloc(ganz_param_count(p), sizeof *copy);
    if (!copy) return no_memory(j);
    memcpy(copy, values, ganz_param_count(p) * sizeof *copy);
    for (int r = 0; r < p->rows; r++) {
        const size_t cols = (size_t)p->cols;
        if (writes)
            memcpy(values + (size_t)r * cols, copy + (size_t)(r < width / 2 ? 2 * r : 2 * (r - width / 2) + 1) * cols,
                   cols * sizeof *copy);
        else turn_row(copy + (size_t)r * cols, values + (size_t)r * cols, width);
    }
    ganz_free(copy);
    return GANZ_OK;
}

/* ---- tables ------------------------------------------------------------------------------------- */

static const ganz_draft_side *side_of(const ganz_draft *d, bool source)
{
    return source && d->side[GANZ_DRAFT_SOURCE].entries > 0 ? &d->side[GANZ_DRAFT_SOURCE] : &d->side[GANZ_DRAFT_TARGET];
}

/* Their rows in our order. What was added has zeros. */
static ganz_status read_rows(const job *j, const ganz_view *view, const ganz_draft_side *side, int cols, float *values)
{
    int their_rows = 0;
    for (int i = 0; i < side->entries; i++)
        if (side->order[i] >= their_rows) their_rows = side->order[i] + 1;
    float *const theirs = ganz_alloc_large((size_t)their_rows * (size_t)cols * sizeof *theirs);
    if (!theirs) return no_memory(j);
    const int rows = cols == 1 ? 1 : their_rows;
    const ganz_status status = ganz_view_read(view, "a table", rows, cols == 1 ? their_rows : cols, theirs, j->err);
    for (int i = 0; i < side->entries && status == GANZ_OK; i++) {
        float *const row = values + (size_t)i * (size_t)cols;
        if (side->order[i] < 0) memset(row, 0, (size_t)cols * sizeof *row);
        else memcpy(row, theirs + (size_t)side->order[i] * (size_t)cols, (size_t)cols * sizeof *row);
    }
    ganz_free(theirs);
    return status;
}

/* Padding is never said: it has no part in the sum of all probabilities either. */
static ganz_status read_logits_bias(const job *j, float *values)
{
    const ganz_draft_side *const side = side_of(j->draft, false);
    if (j->draft->logits_bias.tensor) GANZ_TRY(read_rows(j, &j->draft->logits_bias, side, 1, values));
    else memset(values, 0, (size_t)side->entries * sizeof *values);
    values[0] = -INFINITY;
    return GANZ_OK;
}

static ganz_status read_start(const job *j, const ganz_param *p, float *values)
{
    const ganz_view *const table = &j->draft->table[GANZ_DRAFT_TARGET];
    int64_t rows = table->tensor->dims[0];
    float *const all = ganz_alloc_large((size_t)rows * (size_t)p->cols * sizeof *all);
    if (!all) return no_memory(j);
    const ganz_status status = ganz_view_read(table, p->name, (int)rows, p->cols, all, j->err);
    if (status == GANZ_OK)
        memcpy(values, all + (size_t)j->draft->start * (size_t)p->cols, (size_t)p->cols * sizeof *values);
    ganz_free(all);
    return status;
}

/* ---- layers ------------------------------------------------------------------------------------- */

static ganz_status missing(const job *j, const ganz_param *p)
{
    return ganz_fail(j->err, GANZ_EFORMAT, "%s: no tensor for %s", ganz_files_name(j->draft->files), p->name);
}

/* bias += weight (d, d) by v's bias */
static ganz_status add_value_bias(const job *j, const char *bias_name, int d, float *bias)
{
    char name[48];
    ganz_view weight, value;
    const int stem = (int)(strlen(bias_name) - strlen("o.bias"));
    snprintf(name, sizeof name, "%.*sv.bias", stem, bias_name);
    if (!ganz_draft_find(j->draft, name, &value)) return GANZ_OK;
    snprintf(name, sizeof name, "%.*so.weight", stem, bias_name);
    if (!ganz_draft_find(j->draft, name, &weight)) return GANZ_OK;
    float *const w = ganz_alloc((size_t)d * (size_t)d + (size_t)d, sizeof *w), *const v = w + (size_t)d * (size_t)d;
    if (!w) return no_memory(j);
    ganz_status status = ganz_view_read(&weight, name, d, d, w, j->err);
    if (status == GANZ_OK) status = ganz_view_read(&value, name, 1, d, v, j->err);
    for (int r = 0; r < d && status == GANZ_OK; r++) {
        double sum = (double)bias[r];
        for (int c = 0; c < d; c++) sum += (double)w[(size_t)r * (size_t)d + (size_t)c] * (double)v[c];
        bias[r] = (float)sum;
    }
    ganz_free(w);
    return status;
}

static ganz_status read_layer(const job *j, const ganz_param *p, float *values)
{
    ganz_view view;
    const bool found = ganz_draft_find(j->draft, p->name, &view);
    if (!found && p->kind != GANZ_BIAS) return missing(j, p);
    if (found) GANZ_TRY(ganz_view_read(&view, p->name, p->rows, p->cols, values, j->err));
    else memset(values, 0, ganz_param_count(p) * sizeof *values);
    return ends_in(p->name, ".o.bias") ? add_value_bias(j, p->name, p->cols, values) : GANZ_OK;
}

static ganz_status read_param(const job *j, const ganz_param *p, float *values)
{
    const ganz_draft *const d = j->draft;
    const int number = (int)(p - j->net->params.list);
    if (strcmp(p->name, "logits.bias") == 0) return read_logits_bias(j, values);
    if (strcmp(p->name, "start") == 0) return read_start(j, p, values);
    if (p->kind == GANZ_TABLE) return ganz_view_read(&d->target_space, p->name, p->rows, p->cols, values, j->err);
    if (p->kind != GANZ_EMBEDDING) return read_layer(j, p, values);
    const int which = number == j->net->embedding          ? GANZ_DRAFT_TARGET
                      : number == j->net->source_embedding ? GANZ_DRAFT_SOURCE
                                                           : GANZ_DRAFT_OUTPUT;
    return read_rows(j, &d->table[which], side_of(d, which == GANZ_DRAFT_SOURCE), p->cols, values);
}

static ganz_status build_param(const job *j, const ganz_param *p)
{
    float *const values = j->block + p->offset;
    GANZ_TRY(read_param(j, p, values));
    if (!ganz_model_may_hold(p, values))
        return ganz_fail(j->err, GANZ_EFORMAT, "%s: %s holds numbers that are not finite",
                         ganz_files_name(j->draft->files), p->name);
    return j->draft->turned_columns ? turn_columns(j, p, values) : GANZ_OK;
}

ganz_status ganz_draft_build(const ganz_draft *draft, const ganz_net *net, real *block, ganz_error *err)
{
    const job j = {draft, net, block, err};
    for (int i = 0; i < net->params.count; i++)
        if (net->params.list[i].kind != GANZ_SCALE) GANZ_TRY(build_param(&j, &net->params.list[i]));
    return GANZ_OK;
}
