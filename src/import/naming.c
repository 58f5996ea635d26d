/* From our names of parameters to their tensors, and their numbers as floats in rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/draft.h"

/* ---- names -------------------------------------------------------------------------------------- */

/* A name of ours taken apart: "dec.3.cross.q.weight" is decoder, layer 3, "cross.q", weight. */
typedef struct place {
    int side, layer; /* layer -1: the norm behind the last */
    char what[64];
    bool norm, bias;
} place;

static bool take_apart(const char *name, place *p)
{
    *p = (place){.side = strncmp(name, "dec.", 4) == 0, .layer = -1};
    if (strncmp(name, "enc.", 4) != 0 && !p->side) return false;
    const char *at = name + 4;
    if (*at >= '0' && *at <= '9') {
        char *end;
        p->layer = (int)strtol(at, &end, 10);
        at = end + 1;
    }
    const char *const dot = strrchr(at, '.');
    if (!dot || (size_t)(dot - at) >= sizeof p->what) return false;
    memcpy(p->what, at, (size_t)(dot - at));
    p->bias = strcmp(dot + 1, "bias") == 0;
    const size_t n = strlen(p->what);
    p->norm = n >= 4 && strcmp(p->what + n - 4, "norm") == 0;
    return true;
}

static bool rule_fits(const ganz_name_rule *rule, const place *p)
{
    const char *ours = rule->ours;
    if (strncmp(ours, p->side ? "dec." : "enc.", 4) == 0) ours += 4;
    return strcmp(ours, p->what) == 0;
}

static void write_name(const ganz_naming *naming, const ganz_name_rule *rule, const place *p, char *name, size_t bytes)
{
    const char *const *const ends = p->norm ? naming->norm : naming->dense;
    size_t n = 0;
    name[0] = '\0';
    for (const char *at = rule->theirs; *at && n + 1 < bytes; at++) {
        char one[16] = {*at, '\0'};
        const char *piece = one;
        if (*at == '$') piece = naming->side[p->side];
        else if (*at == '@') piece = ends[p->bias];
        else if (*at == '#') snprintf(one, sizeof one, "%d", p->layer + naming->first_layer);
        const int written = snprintf(name + n, bytes - n, "%s", piece);
        n += written > 0 ? (size_t)written : 0;
    }
}

bool ganz_naming_write(const ganz_naming *naming, const char *parameter, char *name, size_t bytes)
{
    place p;
    if (!take_apart(parameter, &p)) return false;
    for (const ganz_name_rule *rule = naming->rules; rule->ours; rule++) {
        if (!rule_fits(rule, &p)) continue;
        write_name(naming, rule, &p, name, bytes);
        return true;
    }
    return false;
}

bool ganz_draft_find(const ganz_draft *d, const char *parameter, ganz_view *view)
{
    place p;
    if (!take_apart(parameter, &p)) return false;
    for (const ganz_name_rule *rule = d->naming->rules; rule->ours; rule++) {
        char name[GANZ_FOREIGN_NAME];
        if (!rule_fits(rule, &p)) continue;
        write_name(d->naming, rule, &p, name, sizeof name);
        if (!ganz_draft_view(d, name, view)) continue;
        view->part = rule->part;
        view->parts = rule->parts;
        view->turned = d->naming->turned && !p.norm && !p.bias && view->tensor->multiplier == 0;
        return true;
    }
    return false;
}

/* Scales belong to the data: a second name of a table has those of the first. */
static const ganz_foreign *scale_of(const ganz_draft *d, const ganz_foreign *t)
{
    char name[GANZ_FOREIGN_NAME + 16];
    for (int i = 0; i < d->tensors.count; i++) {
        if (d->tensors.list[i].data != t->data) continue;
        snprintf(name, sizeof name, "%s_scale", d->tensors.list[i].name);
        const ganz_foreign *const scale = ganz_tensors_find(&d->tensors, name);
        if (scale) return scale;
    }
    return NULL;
}

bool ganz_draft_view(const ganz_draft *d, const char *name, ganz_view *view)
{
    *view = (ganz_view){.tensor = ganz_tensors_find(&d->tensors, name)};
    if (!view->tensor) return false;
    const ganz_dtype type = view->tensor->dtype;
    if (view->tensor->multiplier == 0 && (type == GANZ_DTYPE_I8 || type == GANZ_DTYPE_I16))
        view->scale = scale_of(d, view->tensor);
    return true;
}

int ganz_draft_layers(const ganz_draft *d, const char *side)
{
    ganz_view view;
    char name[64];
    for (int layer = 0;; layer++) {
        snprintf(name, sizeof name, "%s.%d.ffn.in.weight", side, layer);
        if (layer > 1000 || !ganz_draft_find(d, name, &view)) return layer;
    }
}

int64_t ganz_draft_rows(const ganz_draft *d, const char *parameter)
{
    ganz_view view;
    if (!ganz_draft_find(d, parameter, &view) || view.tensor->rank != 2) return 0;
    return view.tensor->dims[view.turned ? 1 : 0];
}

void ganz_draft_set_biases(ganz_draft *d)
{
    ganz_view view;
    d->config.q_bias = ganz_draft_find(d, "enc.0.self.q.bias", &view);
    d->config.o_bias = ganz_draft_find(d, "enc.0.self.o.bias", &view) || ganz_draft_find(d, "enc.0.self.v.bias", &view);
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* Dimensions of 1 in front mean nothing. */
static void shape_of(const ganz_foreign *t, int64_t shape[2])
{
    shape[0] = t->rank > 1 ? t->dims[t->rank - 2] : 1;
    shape[1] = t->rank > 0 ? t->dims[t->rank - 1] : 1;
    for (int i = 0; i + 2 < t->rank; i++)
        if (t->dims[i] != 1) shape[0] = -1; /* no matrix */
}

static ganz_status wrong_shape(const ganz_foreign *t, const char *name, int rows, int cols, ganz_error *err)
{
    int64_t shape[2];
    shape_of(t, shape);
    if (shape[0] < 0)
        return ganz_fail(err, GANZ_EFORMAT, "tensor %.80s has %d dimensions where %s needs %d x %d numbers", t->name,
                         t->rank, name, rows, cols);
    return ganz_fail(err, GANZ_EFORMAT, "tensor %.80s has %lld x %lld numbers where %s needs %d x %d", t->name,
                     (long long)shape[0], (long long)shape[1], name, rows, cols);
}

/* A part of a vector is some of its columns. */
static bool has_shape(const ganz_view *v, int rows, int cols)
{
    int64_t shape[2];
    const int64_t parts = v->parts > 1 ? v->parts : 1;
    shape_of(v->tensor, shape);
    if (v->turned) return shape[0] == cols && shape[1] == rows;
    if (rows == 1 && parts > 1) return shape[0] == 1 && shape[1] == cols * parts;
    return (shape[0] == rows * parts && shape[1] == cols) || (rows == 1 && shape[0] == cols && shape[1] == 1);
}

/* First row of a view in the scales, which are one for each row of the tensor, or one. */
static ganz_status divide(const ganz_view *v, const char *name, int rows, int cols, float *values, ganz_error *err)
{
    const ganz_foreign *const scale = v->scale;
    size_t count = 1;
    const size_t first = (size_t)v->part * (size_t)rows, all = (size_t)rows * (size_t)(v->parts > 1 ? v->parts : 1);
    if (scale && (!ganz_foreign_count(scale, &count) || (count != 1 && count != all)))
        return ganz_fail(err, GANZ_EFORMAT, "tensor %.80s has not one scale for each row of %s", scale->name, name);
    for (int r = 0; r < rows; r++) {
        float by = (float)v->tensor->multiplier;
        if (scale) ganz_foreign_values(scale, count == 1 ? 0 : first + (size_t)r, 1, &by);
        if (!(by > 0))
            return ganz_fail(err, GANZ_EFORMAT, "tensor %.80s has a scale that is not above 0", v->tensor->name);
        for (int c = 0; c < cols; c++) values[(size_t)r * (size_t)cols + (size_t)c] /= by;
    }
    return GANZ_OK;
}

/* From (cols, rows) to (rows, cols), in blocks that stay in the cache. */
static void transpose(const float *from, float *to, size_t rows, size_t cols)
{
    enum { BLOCK = 32 };
    for (size_t r0 = 0; r0 < rows; r0 += BLOCK)
        for (size_t c0 = 0; c0 < cols; c0 += BLOCK)
            for (size_t r = r0; r < rows && r < r0 + BLOCK; r++)
                for (size_t c = c0; c < cols && c < c0 + BLOCK; c++) to[r * cols + c] = from[c * rows + r];
}

/* Whole numbers are codes, whose worth a scale says: without one they would pass for weights of up to 127. */
static bool has_worth(const ganz_view *v)
{
    const ganz_dtype type = v->tensor->dtype;
    const bool real_numbers =
        type == GANZ_DTYPE_F32 || type == GANZ_DTYPE_F16 || type == GANZ_DTYPE_BF16 || type == GANZ_DTYPE_F64;
    return real_numbers || v->scale || v->tensor->multiplier > 0;
}

ganz_status ganz_view_read(const ganz_view *v, const char *name, int rows, int cols, float *values, ganz_error *err)
{
    const size_t count = (size_t)rows * (size_t)cols;
    if (!has_shape(v, rows, cols)) return wrong_shape(v->tensor, name, rows, cols, err);
    if (!has_worth(v))
        return ganz_fail(err, GANZ_EUNSUPPORTED, "tensor %.80s holds codes of type %s without a scale", v->tensor->name,
                         ganz_dtype_name(v->tensor->dtype));
    if (v->turned) {
        float *const turned = ganz_alloc_large(count * sizeof *turned);
        if (!turned) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %s", name);
        ganz_foreign_values(v->tensor, 0, count, turned);
        transpose(turned, values, (size_t)rows, (size_t)cols);
        ganz_free(turned);
    } else ganz_foreign_values(v->tensor, (size_t)v->part * count, count, values);
    return v->scale || v->tensor->multiplier > 0 ? divide(v, name, rows, cols, values, err) : GANZ_OK;
}
