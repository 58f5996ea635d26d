/* The list of parameters: names, shapes, places in one block, and their first values by name and seed. */
#include "nn/param.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

enum { START = 64 }; /* parameters start at multiples of this, so that vectors of any width are aligned */

ganz_status ganz_params_add(ganz_params *params, const ganz_param *what, bool contiguous_with_previous, int *index,
                            ganz_error *err)
{
    size_t count, block;
    const size_t offset = contiguous_with_previous ? params->block : ganz_round_up(params->block, START);
    if (!ganz_mul_size((size_t)what->rows, (size_t)what->cols, &count) || !ganz_add_size(offset, count, &block))
        return ganz_fail(err, GANZ_ELIMIT, "%s: %d x %d is too large", what->name, what->rows, what->cols);
    void *list = params->list;
    if (!ganz_grow(&list, &params->capacity, (size_t)params->count + 1, sizeof *params->list))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for the list of parameters");
    params->list = list;
    params->list[params->count] = *what;
    params->list[params->count].offset = offset;
    params->block = block;
    *index = params->count++;
    return GANZ_OK;
}

void ganz_params_free(ganz_params *params)
{
    ganz_free(params->list);
    *params = (ganz_params){0};
}

size_t ganz_params_total(const ganz_params *params)
{
    size_t total = 0;
    for (int i = 0; i < params->count; i++)
        if (!ganz_param_is_scale(&params->list[i])) total += ganz_param_count(&params->list[i]);
    return total;
}

static void init_one(const ganz_param *p, uint64_t seed, uint64_t stream, real *value)
{
    const size_t count = ganz_param_count(p);
    const double bound = sqrt(6.0 / ((double)p->rows + p->cols));
    const double deviation = 1.0 / sqrt((double)p->cols);
    for (size_t i = 0; i < count; i++) {
        switch (p->kind) {
        case GANZ_WEIGHT:
        case GANZ_TABLE: value[i] = (real)((2.0 * ganz_random_uniform(seed, stream, i) - 1.0) * bound); break;
        case GANZ_EMBEDDING: value[i] = (real)(ganz_random_normal(seed, stream, i) * deviation); break;
        case GANZ_NORM_GAIN: value[i] = 1; break;
        case GANZ_VECTOR:
        case GANZ_BIAS:
        case GANZ_NORM_BIAS:
        case GANZ_SCALE:
        case GANZ_ROW_SCALES: value[i] = 0; break;
        }
    }
}

void ganz_params_init(const ganz_params *params, uint64_t seed, real *block)
{
    memset(block, 0, params->block * sizeof *block);
    for (int i = 0; i < params->count; i++)
        init_one(&params->list[i], seed, (uint64_t)i, block + params->list[i].offset);
}
