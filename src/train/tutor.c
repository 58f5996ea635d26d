#include "train/tutor.h"

#include "base/io.h"
#include "model/model.h"

static ganz_status read_params(ganz_tutor *tutor, const ganz_container *file, ganz_error *err)
{
    const size_t count = tutor->net.params.block;
    ganz_backend *const be = tutor->weights.be;
    real *const block = ganz_alloc(count, sizeof *block);
    if (!block) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu parameters", count);
    const ganz_status status = ganz_model_read_params(file, &tutor->net, block, err);
    tutor->sum = ganz_checksum(block, count * sizeof *block);
    be->upload(be, tutor->weights.master, block, count * sizeof *block);
    ganz_free(block);
    return status == GANZ_OK ? ganz_weights_refresh(&tutor->weights, &tutor->net, err) : status;
}

static ganz_status open_parts(ganz_tutor *tutor, const ganz_container *file, ganz_backend *be, const ganz_vocab *vocab,
                              int positions, ganz_error *err)
{
    ganz_model_info info;
    bool same;
    GANZ_TRY(ganz_model_read_info(file, &info, err));
    GANZ_TRY(ganz_model_check_float(file, &info, err));
    GANZ_TRY(ganz_model_same_vocab(file, &info.config, vocab, &same, err));
    if (!same) return ganz_fail(err, GANZ_EINVAL, "%s cannot teach: it has another vocabulary", ganz_container_name(file));
    info.config.max_positions = positions;
    GANZ_TRY(ganz_net_open(&tutor->net, &info.config, err));
    GANZ_TRY(ganz_model_check_params(file, &tutor->net, err));
    GANZ_TRY(ganz_weights_open(&tutor->weights, &tutor->net, be, false, err));
    return read_params(tutor, file, err);
}

ganz_status ganz_tutor_open(ganz_tutor *tutor, const char *path, ganz_backend *be, const ganz_vocab *vocab, int positions,
                            ganz_error *err)
{
    ganz_container *file;
    *tutor = (ganz_tutor){0};
    GANZ_TRY(ganz_container_open(&file, path, err));
    const ganz_status status = open_parts(tutor, file, be, vocab, positions, err);
    ganz_container_close(&file);
    if (status != GANZ_OK) ganz_tutor_close(tutor);
    return status;
}

void ganz_tutor_close(ganz_tutor *tutor)
{
    if (tutor->weights.be) ganz_weights_close(&tutor->weights);
    ganz_net_close(&tutor->net);
    *tutor = (ganz_tutor){0};
}
