/* Which model and options translations come from, as one number: equal numbers, equal translations. */
#include "translate/origin.h"

#include <string.h>

#include "base/io.h"

enum { MODEL_BYTES = 4 << 20 };

static ganz_status model_sum(const char *path, uint64_t *sum, ganz_error *err)
{
    int fd;
    GANZ_TRY(ganz_file_open(&fd, path, err));
    uint64_t bytes = 0;
    ganz_status status = ganz_file_size(fd, path, &bytes, err);
    const size_t count = bytes < MODEL_BYTES ? (size_t)bytes : MODEL_BYTES;
    void *const data = ganz_alloc(count, 1);
    if (!data) status = ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    if (status == GANZ_OK) status = ganz_file_read(fd, path, 0, data, count, err);
    if (status == GANZ_OK) *sum = ganz_checksum(data, count) ^ bytes; /* its head has all sums */
    ganz_free(data);
    ganz_file_close(&fd);
    return status;
}

static uint64_t text_sum(const char *text) { return text ? ganz_checksum(text, strlen(text)) : 0; }

static uint64_t options_sum(const ganz_translator_options *o, uint64_t model)
{
    uint64_t facts[13] = {model,
                          (uint64_t)o->beam,
                          (uint64_t)o->max_input,
                          (uint64_t)o->max_length,
                          text_sum(o->device),
                          text_sum(o->precision),
                          text_sum(o->split),
                          (uint64_t)o->sample_top,
                          o->seed};
    memcpy(&facts[9], &o->alpha, sizeof facts[9]);
    memcpy(&facts[10], &o->sample, sizeof facts[10]);
    memcpy(&facts[12], &o->least_length, sizeof facts[12]);
    facts[11] = text_sum(o->label) ^ (uint64_t)o->formality;
    return ganz_checksum(facts, sizeof facts);
}

ganz_status ganz_origin_of(const char *model_path, const ganz_translator_options *options, uint64_t *origin,
                           ganz_error *err)
{
    uint64_t model = 0;
    GANZ_TRY(model_sum(model_path, &model, err));
    *origin = options_sum(options, model);
    return GANZ_OK;
}

ganz_status ganz_part_origin(const char *model_path, const ganz_translator_options *options, unsigned long long *origin,
                             ganz_error *err)
{
    uint64_t sum;
    GANZ_TRY(ganz_origin_of(model_path, options, &sum, err));
    *origin = sum;
    return GANZ_OK;
}
