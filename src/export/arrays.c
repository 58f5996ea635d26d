/* Walks over the products and norms of a network for the list, and makes numbers: codes times their steps, matrices
 * turned, rows in another order. */
#include "export/arrays.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "export/weights.h"

int ganz_row_of(const ganz_row_order *o, int theirs)
{
    if (o->ours) return theirs;
    if (theirs == o->pad) return GANZ_PAD;
    return theirs + 1 - (o->pad >= 0 && theirs > o->pad);
}

/* ---- the list ----------------------------------------------------------------------------------- */

static ganz_status add(ganz_arrays *a, const ganz_array *what)
{
    if (a->count == GANZ_ARRAYS_MOST) return ganz_fail(a->err, GANZ_ELIMIT, "the model has too many layers");
    if (!ganz_grow((void **)&a->list, &a->capacity, (size_t)a->count + 1, sizeof *a->list))
        return ganz_fail(a->err, GANZ_ENOMEM, "out of memory to export a model");
    a->list[a->count++] = *what;
    return GANZ_OK;
}

void ganz_arrays_close(ganz_arrays *a)
{
    ganz_free(a->list);
    a->list = NULL;
    a->count = 0;
    a->capacity = 0;
}

static ganz_status add_named(ganz_arrays *a, const char *parameter, ganz_array what)
{
    if (!ganz_naming_write(a->naming, parameter, what.name, sizeof what.name))
        return ganz_fail(a->err, GANZ_EUNSUPPORTED, "that format has no tensor for %s", parameter);
    return add(a, &what);
}

static ganz_status add_vector(ganz_arrays *a, const char *parameter, int param, int cols)
{
    return add_named(a, parameter, (ganz_array){.rank = a->vector_rank, .rows = 1, .cols = cols, .param = param});
}

/* What writes the state of a recurrence has no bias in any format. */
static ganz_status add_site(ganz_arrays *a, const ganz_site *s)
{
    char name[48];
    const bool turned = a->naming->turned;
    snprintf(name, sizeof name, "%s.weight", s->name);
    GANZ_TRY(add_named(a, name,
                       (ganz_array){.rank = 2,
                                    .rows = turned ? s->in : s->out,
                                    .cols = turned ? s->out : s->in,
                                    .param = s->weight,
                                    .turned = turned}));
    if (s->bias < 0 && strstr(s->name, ".rnn.")) return GANZ_OK;
    snprintf(name, sizeof name, "%s.bias", s->name);
    return add_vector(a, name, s->bias, s->out);
}

ganz_status ganz_arrays_layers(ganz_arrays *a)
{
    const ganz_net *const net = &a->model->net;
    for (int i = 0; i < net->sites; i++)
        if (&net->site[i] != net->logits) GANZ_TRY(add_site(a, &net->site[i]));
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        if (p->kind == GANZ_NORM_GAIN || p->kind == GANZ_NORM_BIAS) GANZ_TRY(add_vector(a, p->name, i, p->cols));
    }
    return GANZ_OK;
}

static ganz_status add_special(ganz_arrays *a, const char *name, ganz_array what)
{
    snprintf(what.name, sizeof what.name, "%s", name);
    return add(a, &what);
}

ganz_status ganz_arrays_table(ganz_arrays *a, const char *name, int param, const ganz_row_order *order)
{
    return add_special(a, name,
                       (ganz_array){.kind = GANZ_ARRAY_TABLE,
                                    .rank = 2,
                                    .rows = order->count,
                                    .cols = a->model->net.config.width,
                                    .param = param,
                                    .order = *order});
}

ganz_status ganz_arrays_logits_bias(ganz_arrays *a, const char *name, const ganz_row_order *order)
{
    return add_special(
        a, name,
        (ganz_array){.kind = GANZ_ARRAY_LOGITS_BIAS, .rank = 2, .rows = 1, .cols = order->count, .order = *order});
}

ganz_status ganz_arrays_positions(ganz_arrays *a, const char *name, int side, int rows)
{
    return add_special(
        a, name,
        (ganz_array){
            .kind = GANZ_ARRAY_POSITIONS, .rank = 2, .rows = rows, .cols = a->model->net.config.width, .side = side});
}

/* ---- numbers ------------------------------------------------------------------------------------ */

static ganz_status no_memory(const ganz_arrays *a)
{
    return ganz_fail(a->err, GANZ_ENOMEM, "out of memory to export a model");
}

static void copy(float *to, const real *from, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] = (float)from[i];
}

/* The site whose codes a parameter is, NULL: it is kept as values. */
static const ganz_site *coded_by(const ganz_arrays *a, int param)
{
    const ganz_net *const net = &a->model->net;
    const bool table = param == net->embedding;
    if (table && net->scheme.float_lookup) return NULL;
    for (int i = 0; i < net->sites; i++)
        if (net->site[i].weight == param && net->site[i].weights == GANZ_WEIGHTS_CODES) return &net->site[i];
    return NULL;
}

/* A parameter (rows, cols) as we keep it, whether in codes or not. */
static ganz_status read_param(const ganz_arrays *a, int param, float *values)
{
    const ganz_param *const p = &a->model->net.params.list[param];
    const ganz_site *const site = coded_by(a, param);
    if (!site) {
        copy(values, ganz_model_values(a->model, param), ganz_param_count(p));
        return GANZ_OK;
    }
    int8_t *const codes = ganz_site_codes(a->model, site);
    if (!codes) return no_memory(a);
    for (int i = 0; i < p->rows; i++) ganz_site_row(a->model, site, codes, i, values + (size_t)i * (size_t)p->cols);
    ganz_free(codes);
    return GANZ_OK;
}

static void turn(const float *from, float *to, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) to[c * rows + r] = from[r * cols + c];
}

/* Rows of a table; in the decoder's, padding has the vector that it begins with, or zeros. */
static void order_rows(const ganz_arrays *a, const ganz_array *what, const float *ours, float *theirs)
{
    const ganz_net *const net = &a->model->net;
    const size_t cols = (size_t)what->cols;
    for (int i = 0; i < what->rows; i++) {
        const int id = ganz_row_of(&what->order, i);
        float *const row = theirs + (size_t)i * cols;
        if (id != GANZ_PAD || what->param != net->embedding) memcpy(row, ours + (size_t)id * cols, cols * sizeof *row);
        else if (net->start >= 0) copy(row, ganz_model_values(a->model, net->start), cols);
        else memset(row, 0, cols * sizeof *row);
    }
}

/* Where padding keeps its place and number, as in our own models, it is banned here: it has lost its row. */
static void make_logits_bias(const ganz_arrays *a, const ganz_array *what, float *values)
{
    static const float banned = -1e9f;
    const int bias = a->model->net.logits->bias;
    const real *const ours = bias >= 0 ? ganz_model_values(a->model, bias) : NULL;
    for (int i = 0; i < what->cols; i++) {
        const int id = ganz_row_of(&what->order, i);
        const float value = ours ? (float)ours[id] : 0;
        values[i] = id == GANZ_PAD ? (what->order.ours ? banned : 0) : isfinite(value) ? value : banned;
    }
}

static void make_positions(const ganz_arrays *a, const ganz_array *what, float *values)
{
    const ganz_net *const net = &a->model->net;
    const size_t cols = (size_t)what->cols;
    const real *const space =
        what->side == 0 && net->target_space >= 0 ? ganz_model_values(a->model, net->target_space) : NULL;
    for (size_t i = 0; i < (size_t)what->rows * cols; i++)
        values[i] = (float)a->model->weights.timing[i] + (space ? (float)space[i % cols] : 0);
}

/* What has another order or direction there is made in memory of its own first. */
static ganz_status make_param(const ganz_arrays *a, const ganz_array *what, float *values)
{
    if (what->param < 0) return GANZ_OK; /* zeros */
    if (what->kind == GANZ_ARRAY_PARAM && !what->turned) return read_param(a, what->param, values);
    const ganz_param *const p = &a->model->net.params.list[what->param];
    float *const ours = ganz_alloc(ganz_param_count(p), sizeof *ours);
    if (!ours) return no_memory(a);
    const ganz_status status = read_param(a, what->param, ours);
    if (status == GANZ_OK && what->kind == GANZ_ARRAY_TABLE) order_rows(a, what, ours, values);
    else if (status == GANZ_OK) turn(ours, values, (size_t)p->rows, (size_t)p->cols);
    ganz_free(ours);
    return status;
}

ganz_status ganz_array_values(const ganz_arrays *a, const ganz_array *what, float **values)
{
    *values = ganz_alloc((size_t)what->rows * (size_t)what->cols, sizeof **values);
    if (!*values) return no_memory(a);
    ganz_status status = GANZ_OK;
    if (what->kind == GANZ_ARRAY_LOGITS_BIAS) make_logits_bias(a, what, *values);
    else if (what->kind == GANZ_ARRAY_POSITIONS) make_positions(a, what, *values);
    else status = make_param(a, what, *values);
    if (status == GANZ_OK) return GANZ_OK;
    ganz_free(*values);
    *values = NULL;
    return status;
}
