/* Integer models in files: scales first, as wide elements, then codes; those of weights of at most 4 bits two in a
 * byte. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "kernel/kernel.h"
#include "model/model.h"

/* ---- what a file holds -------------------------------------------------------------------------- */

typedef enum kept_as { KEPT_VALUES, KEPT_CODES, KEPT_SCALE, KEPT_BY_SITES } kept_as;

static const char lookup[] = "embedding.lookup"; /* beside the codes, where embeddings are looked up in float */

static kept_as kept(const ganz_net *net, const ganz_param *p)
{
    if (p->kind == GANZ_SCALE) return KEPT_SCALE;
    if (p->kind == GANZ_ROW_SCALES) return KEPT_BY_SITES;
    return ganz_param_is_coded(net, p) ? KEPT_CODES : KEPT_VALUES;
}

/* "NAME.step" of codes; of an input "SITE.x.step", where the registry has log2 of it as "SITE.x.z". */
static void scale_name(const ganz_param *p, char name[64])
{
    const int bytes = (int)strlen(p->name) - (p->kind == GANZ_SCALE ? 2 : 0);
    snprintf(name, 64, "%.*s.step", bytes, p->name);
}

/* Scales of a parameter that is kept as codes or as a scale. */
static int scales_of(const ganz_net *net, const ganz_param *p)
{
    const bool weight = p->kind == GANZ_WEIGHT || p->kind == GANZ_EMBEDDING;
    return weight && p->site >= 0 && net->site[p->site].rule.per_row ? p->rows : 1;
}

/* Weights that lie two in a byte. */
static bool is_halved(const ganz_net *net, const ganz_param *p)
{
    return p->kind != GANZ_BIAS && p->site >= 0 && ganz_site_nibbles(&net->site[p->site]);
}

/* Steps and zeros of the columns of an input, where its site has them. */
static bool has_columns(const ganz_site *site) { return site->rule.integer && site->rule.columns; }

static void column_name(const ganz_site *site, bool zeros, char name[64])
{
    snprintf(name, 64, "%s.x.%s", site->name, zeros ? "zeros" : "steps");
}

/* Bytes of a row of weights, two in each. */
static int64_t halved(int64_t cols) { return (cols + 1) / 2; }

/* ---- writing ------------------------------------------------------------------------------------ */

static ganz_status declare_codes(ganz_writer *w, const ganz_net *net, const ganz_param *p, ganz_error *err)
{
    int64_t dims[2];
    const int rank = ganz_model_shape(p, dims);
    if (!is_halved(net, p)) return ganz_writer_declare(w, p->name, GANZ_DTYPE_I8, rank, dims, err);
    dims[1] = halved(dims[1]);
    return ganz_writer_declare(w, p->name, GANZ_DTYPE_U8, rank, dims, err);
}

static ganz_status declare_columns(ganz_writer *w, const ganz_net *net, ganz_error *err)
{
    char name[64];
    for (int i = 0; i < 2 * net->sites; i++) {
        const ganz_site *const site = &net->site[i / 2];
        if (!has_columns(site)) continue;
        column_name(site, i % 2, name);
        GANZ_TRY(ganz_writer_declare(w, name, GANZ_DTYPE_F32, 1, (const int64_t[]){site->in}, err));
    }
    return GANZ_OK;
}

static ganz_status declare(ganz_writer *w, const ganz_net *net, const ganz_vocab *vocab, ganz_error *err)
{
    int64_t dims[2];
    char name[64];
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        const int rank = ganz_model_shape(p, dims);
        scale_name(p, name);
        if (kept(net, p) == KEPT_BY_SITES) continue;
        if (kept(net, p) == KEPT_VALUES) GANZ_TRY(ganz_writer_declare(w, p->name, GANZ_DTYPE_F32, rank, dims, err));
        else GANZ_TRY(ganz_writer_declare(w, name, GANZ_DTYPE_F32, 1, (const int64_t[]){scales_of(net, p)}, err));
    }
    GANZ_TRY(declare_columns(w, net, err));
    const int table = ganz_model_shape(&net->params.list[net->embedding], dims);
    if (net->scheme.float_lookup) GANZ_TRY(ganz_writer_declare(w, lookup, GANZ_DTYPE_F32, table, dims, err));
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        if (kept(net, p) == KEPT_CODES) GANZ_TRY(declare_codes(w, net, p, err));
    }
    return ganz_model_declare_vocab(w, vocab, err);
}

/* What is written, in ordinary memory; values come from the device one parameter at a time. */
typedef struct source {
    const ganz_net *net;
    const ganz_weights *weights;
    ganz_frozen_weights frozen;
    real *work; /* of the largest parameter */
} source;

static const real *scales_at(const source *s, const ganz_param *p)
{
    if (p->kind == GANZ_SCALE) return s->frozen.input_scale + (p - s->net->params.list) - s->net->first_scale;
    const ganz_site *const site = &s->net->site[p->site];
    if (p->kind == GANZ_BIAS) return s->frozen.bias_scale + site->place;
    return s->frozen.weight_scale + site->row;
}

/* Files hold float whatever `real` is. */
static ganz_status write_reals(ganz_writer *w, const real *values, size_t count, ganz_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const float value = (float)values[i];
        GANZ_TRY(ganz_writer_write(w, &value, sizeof value, err));
    }
    return GANZ_OK;
}

static ganz_status write_values(ganz_writer *w, const source *s, const ganz_param *p, ganz_error *err)
{
    ganz_backend *const be = s->weights->be;
    const size_t count = ganz_param_count(p);
    be->download(be, s->work, s->weights->master + p->offset, count * sizeof *s->work);
    return write_reals(w, s->work, count, err);
}

/* Two codes in a byte, each plus 8, the first in the lower half; at the end of an odd row the code 0. */
static ganz_status write_halved(ganz_writer *w, const ganz_param *p, const int8_t *codes, ganz_error *err)
{
    for (int row = 0; row < p->rows; row++, codes += p->cols)
        for (int i = 0; i < p->cols; i += 2) {
            const int second = i + 1 < p->cols ? codes[i + 1] : 0;
            const uint8_t both = (uint8_t)((codes[i] + 8) | (second + 8) << 4);
            GANZ_TRY(ganz_writer_write(w, &both, 1, err));
        }
    return GANZ_OK;
}

static ganz_status write_codes(ganz_writer *w, const source *s, const ganz_param *p, ganz_error *err)
{
    const int8_t *const codes = s->frozen.codes + p->offset;
    if (is_halved(s->net, p)) return write_halved(w, p, codes, err);
    return ganz_writer_write(w, codes, ganz_param_count(p), err);
}

static ganz_status write_columns(ganz_writer *w, const source *s, ganz_error *err)
{
    for (int i = 0; i < 2 * s->net->sites; i++) {
        const ganz_site *const site = &s->net->site[i / 2];
        const real *const from = i % 2 ? s->weights->column_zero : s->weights->column_step;
        if (has_columns(site)) GANZ_TRY(write_reals(w, from + site->col, (size_t)site->in, err));
    }
    return GANZ_OK;
}

static ganz_status write_data(ganz_writer *w, const source *s, const ganz_vocab *vocab, ganz_error *err)
{
    const ganz_net *const net = s->net;
    const ganz_param *const list = net->params.list;
    for (int i = 0; i < net->params.count; i++) {
        if (kept(net, &list[i]) == KEPT_BY_SITES) continue;
        if (kept(net, &list[i]) == KEPT_VALUES) GANZ_TRY(write_values(w, s, &list[i], err));
        else GANZ_TRY(write_reals(w, scales_at(s, &list[i]), (size_t)scales_of(net, &list[i]), err));
    }
    GANZ_TRY(write_columns(w, s, err));
    if (net->scheme.float_lookup) GANZ_TRY(write_values(w, s, &list[net->embedding], err));
    for (int i = 0; i < net->params.count; i++)
        if (kept(net, &list[i]) == KEPT_CODES) GANZ_TRY(write_codes(w, s, &list[i], err));
    return ganz_model_write_vocab(w, vocab, err);
}

static ganz_status open_source(source *s, ganz_error *err)
{
    size_t largest = 0;
    for (int i = 0; i < s->net->params.count; i++) {
        const size_t count = ganz_param_count(&s->net->params.list[i]);
        largest = count > largest ? count : largest;
    }
    s->work = ganz_alloc(largest, sizeof *s->work);
    if (!s->work) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the codes of a model");
    return ganz_frozen_open(&s->frozen, s->net, s->weights, err);
}

ganz_status ganz_model_save_codes(const char *path, const ganz_model_info *info, const ganz_net *net,
                                  const ganz_vocab *vocab, const ganz_weights *weights, ganz_error *err)
{
    ganz_writer *w = NULL;
    source s = {.net = net, .weights = weights};
    ganz_status status;
    GANZ_CHECK(open_source(&s, err));
    GANZ_CHECK(ganz_writer_open(&w, path, true, err));
    GANZ_CHECK(ganz_model_write_info(w, info, &net->scheme, err));
    GANZ_CHECK(declare(w, net, vocab, err));
    GANZ_CHECK(write_data(w, &s, vocab, err));
    status = ganz_writer_finish(&w, err);
out:
    if (w) ganz_writer_abandon(&w);
    ganz_frozen_close(&s.frozen);
    ganz_free(s.work);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* So that no product of scales leaves the range of float. */
static bool is_scale(float scale) { return scale >= 0x1p-64f && scale <= 0x1p64f; }

static ganz_status get_scales(const ganz_container *file, const ganz_param *p, int count, const float **scales,
                              ganz_error *err)
{
    const ganz_entry *e;
    char name[64];
    scale_name(p, name);
    GANZ_TRY(ganz_container_get(file, name, GANZ_DTYPE_F32, 1, (const int64_t[]){count}, &e, err));
    GANZ_TRY(ganz_container_check(file, e, err));
    *scales = e->data;
    int good = 0;
    while (good < count && is_scale((*scales)[good])) good++;
    if (good == count) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s: tensor %s holds %g, which is no step", ganz_container_name(file), name,
                     (double)(*scales)[good]);
}

static ganz_status get_tensor(const ganz_container *file, const ganz_param *p, const char *name, ganz_dtype type,
                              const ganz_entry **e, ganz_error *err)
{
    int64_t dims[2];
    const int rank = ganz_model_shape(p, dims);
    return ganz_container_get(file, name, type, rank, dims, e, err);
}

/* Codes of a parameter; files older than version 3 have all of them in bytes. */
static ganz_status get_codes_tensor(const ganz_container *file, const ganz_net *net, const ganz_param *p,
                                    const ganz_entry **e, ganz_error *err)
{
    int64_t dims[2];
    const int rank = ganz_model_shape(p, dims);
    const ganz_entry *const found = ganz_container_find(file, p->name);
    if (!is_halved(net, p) || !found || found->dtype != GANZ_DTYPE_U8)
        return ganz_container_get(file, p->name, GANZ_DTYPE_I8, rank, dims, e, err);
    dims[1] = halved(dims[1]);
    return ganz_container_get(file, p->name, GANZ_DTYPE_U8, rank, dims, e, err);
}

/* (in) numbers of a site's columns. */
static ganz_status get_columns(const ganz_container *file, const ganz_site *site, bool zeros, const float **values,
                               ganz_error *err)
{
    const ganz_entry *e;
    char name[64];
    column_name(site, zeros, name);
    GANZ_TRY(ganz_container_get(file, name, GANZ_DTYPE_F32, 1, (const int64_t[]){site->in}, &e, err));
    *values = e->data;
    return ganz_container_check(file, e, err);
}

/* Each step is one, and sums stay exact. */
static ganz_status read_columns(const ganz_container *file, const ganz_site *site, ganz_weights *w, ganz_error *err)
{
    const float *steps, *zeros;
    int good = 0;
    GANZ_TRY(get_columns(file, site, false, &steps, err));
    GANZ_TRY(get_columns(file, site, true, &zeros, err));
    while (good < site->in && is_scale(steps[good])) good++;
    if (good < site->in)
        return ganz_fail(err, GANZ_EFORMAT, "%s: tensor %s.x.steps holds %g, which is no step",
                         ganz_container_name(file), site->name, (double)steps[good]);
    if (!ganz_zeros_fit(zeros, site->in))
        return ganz_fail(err, GANZ_EFORMAT, "%s: tensor %s.x.zeros holds numbers that are not whole, or too large",
                         ganz_container_name(file), site->name);
    ganz_weights_set_columns(w, site, steps, zeros);
    return GANZ_OK;
}

ganz_status ganz_model_check_codes(const ganz_container *file, const ganz_net *net, ganz_error *err)
{
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        const ganz_entry *e;
        const float *scales;
        const kept_as as = kept(net, p);
        if (as == KEPT_VALUES) GANZ_TRY(get_tensor(file, p, p->name, GANZ_DTYPE_F32, &e, err));
        if (as == KEPT_CODES) GANZ_TRY(get_codes_tensor(file, net, p, &e, err));
        if (as == KEPT_CODES || as == KEPT_SCALE) GANZ_TRY(get_scales(file, p, scales_of(net, p), &scales, err));
    }
    const float *columns;
    for (int i = 0; i < 2 * net->sites; i++)
        if (has_columns(&net->site[i / 2])) GANZ_TRY(get_columns(file, &net->site[i / 2], i % 2, &columns, err));
    const ganz_entry *e;
    const ganz_param *const table = &net->params.list[net->embedding];
    return net->scheme.float_lookup ? get_tensor(file, table, lookup, GANZ_DTYPE_F32, &e, err) : GANZ_OK;
}

/* What reading the weights of a file needs. */
typedef struct reading {
    const ganz_container *file;
    const ganz_net *net;
    real *room;    /* for the scales of a weight */
    int8_t *plain; /* for the codes of a weight that lie two in a byte */
} reading;

/* The largest magnitude, 128 included. A block at a time and of unsigned bytes, so that it becomes vectors. */
static int largest_code(const int8_t *codes, size_t count)
{
    uint8_t low = 128, high = 128;
    for (size_t at = 0; at < count;) {
        const size_t end = count - at > 4096 ? at + 4096 : count;
        uint8_t least = 128, most = 128;
        for (; at < end; at++) {
            const uint8_t code = (uint8_t)((uint8_t)codes[at] ^ 128); /* plus 128 */
            least = code < least ? code : least;
            most = code > most ? code : most;
        }
        low = least < low ? least : low;
        high = most > high ? most : high;
    }
    return 128 - low > high - 128 ? 128 - low : high - 128;
}

/* Rows of two codes in a byte to plain ones. A code of -8, and something behind the last of an odd row, become too
 * large ones, which are refused as such. */
static void widen_rows(const ganz_param *p, const uint8_t *from, int8_t *to)
{
    for (int row = 0; row < p->rows; row++, to += p->cols, from += halved(p->cols)) {
        for (int i = 0; i < p->cols / 2; i++) {
            to[2 * i] = (int8_t)((from[i] & 15) - 8);
            to[2 * i + 1] = (int8_t)((from[i] >> 4) - 8);
        }
        if (p->cols % 2) to[p->cols - 1] = (int8_t)((from[p->cols / 2] & 15) - 8);
        if (p->cols % 2 && from[p->cols / 2] >> 4 != 8) to[0] = -8;
    }
}

static ganz_status get_codes(const reading *r, const ganz_param *p, int bits, const int8_t **codes, ganz_error *err)
{
    const ganz_container *const file = r->file;
    const ganz_entry *e;
    GANZ_TRY(get_codes_tensor(file, r->net, p, &e, err));
    GANZ_TRY(ganz_container_check(file, e, err));
    *codes = e->data;
    if (e->dtype == GANZ_DTYPE_U8) {
        widen_rows(p, e->data, r->plain);
        *codes = r->plain;
    }
    if (e->dtype == GANZ_DTYPE_U8) ganz_container_forget(r->file, e);
    const int largest = largest_code(*codes, ganz_param_count(p)), p_max = ganz_code_max(bits, true);
    if (largest <= p_max) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s: tensor %s holds codes of magnitude %d, with %d bits %d is the most",
                     ganz_container_name(file), p->name, largest, bits, p_max);
}

static ganz_status read_bias(const reading *r, const ganz_site *site, ganz_weights *w, ganz_error *err)
{
    const ganz_param *const bias = &w->params->list[site->bias];
    const int8_t *codes;
    const float *scale;
    GANZ_TRY(get_codes(r, bias, site->rule.bias_bits, &codes, err));
    GANZ_TRY(get_scales(r->file, bias, 1, &scale, err));
    for (int i = 0; i < site->out; i++) w->value[site->bias][i] = (real)codes[i] * (real)*scale;
    return GANZ_OK;
}

/* Weight and bias of a site. */
static ganz_status read_site(const reading *r, const ganz_site *site, ganz_weights *w, ganz_error *err)
{
    const ganz_param *const weight = &w->params->list[site->weight];
    const int count = ganz_site_scale_count(site);
    const int8_t *codes;
    const float *scales;
    GANZ_TRY(get_codes(r, weight, site->rule.weight_bits, &codes, err));
    GANZ_TRY(get_scales(r->file, weight, count, &scales, err));
    for (int i = 0; i < count; i++) r->room[i] = (real)scales[i];
    if (has_columns(site)) GANZ_TRY(read_columns(r->file, site, w, err));
    ganz_weights_pack(w, site, codes, r->room);
    if (codes != r->plain) ganz_container_forget(r->file, ganz_container_find(r->file, weight->name));
    return ganz_site_codes_bias(site) ? read_bias(r, site, w, err) : GANZ_OK;
}

static size_t largest_halved(const ganz_net *net)
{
    size_t most = 0;
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        const size_t count = ganz_param_count(p);
        if (kept(net, p) == KEPT_CODES && is_halved(net, p) && count > most) most = count;
    }
    return most;
}

static ganz_status read_sites(const ganz_container *file, const ganz_net *net, ganz_weights *w, ganz_error *err)
{
    const size_t most = largest_halved(net);
    const reading r = {file, net, ganz_alloc((size_t)net->rows, sizeof *r.room), ganz_alloc(most + 1, 1)};
    ganz_status status = r.room && r.plain ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for reading codes");
    for (int i = 0; status == GANZ_OK && i < net->sites; i++)
        if (net->site[i].rule.integer) status = read_site(&r, &net->site[i], w, err);
    ganz_free(r.room);
    ganz_free(r.plain);
    return status;
}

static ganz_status read_values(const ganz_container *file, const ganz_param *p, const char *name, real *to,
                               ganz_error *err)
{
    const ganz_entry *e;
    GANZ_TRY(get_tensor(file, p, name, GANZ_DTYPE_F32, &e, err));
    GANZ_TRY(ganz_container_check(file, e, err));
    if (!ganz_model_may_hold(p, e->data))
        return ganz_fail(err, GANZ_EFORMAT, "%s: tensor %s holds numbers that are not finite",
                         ganz_container_name(file), name);
    const float *const values = e->data;
    for (size_t i = 0; i < ganz_param_count(p); i++) to[i] = (real)values[i];
    ganz_container_forget(file, e);
    return GANZ_OK;
}

ganz_status ganz_model_read_codes(const ganz_container *file, const ganz_net *net, ganz_weights *w, ganz_error *err)
{
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        const float *scale;
        if (kept(net, p) == KEPT_VALUES) GANZ_TRY(read_values(file, p, p->name, w->value[i], err));
        if (kept(net, p) != KEPT_SCALE) continue;
        GANZ_TRY(get_scales(file, p, 1, &scale, err));
        w->input_scale[i - net->first_scale] = (real)*scale;
    }
    const int table = net->embedding;
    if (net->scheme.float_lookup) GANZ_TRY(read_values(file, &net->params.list[table], lookup, w->value[table], err));
    return read_sites(file, net, w, err);
}
