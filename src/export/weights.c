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

const float *ganz_model_values(const ganz_model *model, int param)
{
    const ganz_weights *const w = &model->weights;
    return w->master ? w->master + w->params->list[param].offset : w->value[param];
}
