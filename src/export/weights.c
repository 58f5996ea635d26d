/* Codes row by row out of packed weights; values where they lie. */
#include "export/weights.h"

#include "backend/cpu_backend.h"

int8_t *ganz_site_codes(const ganz_model *model, const ganz_site *site)
{
    const ganz_weights *const w = &model->weights;
    const ganz_kernel *const kernel = &ganz_cpu_of(w->be)->kernel;
    int8_t *const codes = ganz_alloc((size_t)site->out, (size_t)site->in);
    for (int i = 0; codes && i < site->out; i++)
        ganz_unpack_row(kernel, w->packed[site->place], i, codes + (size_t)i * (size_t)site->in);
    return codes;
}

/* Steps of columns are folded into weights: inputs are multiplied by them, and weights divided. */
void ganz_site_row(const ganz_model *model, const ganz_site *site, const int8_t *codes, int row, float *values)
{
    const ganz_weights *const w = &model->weights;
    const size_t n = (size_t)site->in;
    const float step = (float)ganz_site_scales(w, site)[site->rule.per_row ? row : 0];
    const real *const columns = site->rule.columns ? w->column_step + site->col : NULL;
    for (size_t i = 0; i < n; i++)
        values[i] = (float)codes[(size_t)row * n + i] * step / (columns ? (float)columns[i] : 1);
}

const float *ganz_model_values(const ganz_model *model, int param)
{
    const ganz_weights *const w = &model->weights;
    return w->master ? w->master + w->params->list[param].offset : w->value[param];
}
