/* Teachers: float models opened beside the trained one, of the same vocabulary. */
#include "train/tutor.h"

#include "base/io.h"
#include "model/model.h"
#include "train/shape.h"

static ganz_status read_params(ganz_tutor *tutor, const ganz_container *file, ganz_error *err)
{
    const size_t count = tutor->net.params.block;
    ganz_backend *const be = tutor->weights.be;
    real *const block = ganz_alloc(count, sizeof *block);
    if (!block) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %zu parameters", count);
    const ganz_status status = ganz_model_read_params(file, &tutor->net, block, err);
    tutor->sum = ganz_checksum(block, count * sizeof *block);
    ganz_soften_bans(&tutor->net, block);
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
    if (info.config.recurrent && !be->recur)
        return ganz_fail(err, GANZ_EUNSUPPORTED,
                         "%s cannot teach: models with recurrent decoders do so on the cpu only",
                         ganz_container_name(file));
    GANZ_TRY(ganz_model_same_vocab(file, &info.config, vocab, &same, err));
    if (!same)
        return ganz_fail(err, GANZ_EINVAL, "%s cannot teach: it has another vocabulary", ganz_container_name(file));
    info.config.max_positions = positions;
    GANZ_TRY(ganz_net_open(&tutor->net, &info.config, err));
    GANZ_TRY(ganz_model_check_params(file, &tutor->net, err));
    GANZ_TRY(ganz_weights_open(&tutor->weights, &tutor->net, be, false, err));
    return read_params(tutor, file, err);
}

static ganz_status open_one(ganz_tutor *tutor, const char *path, ganz_backend *be, const ganz_vocab *vocab,
                            int positions, ganz_error *err)
{
    ganz_container *file;
    GANZ_TRY(ganz_container_open(&file, path, err));
    const ganz_status status = open_parts(tutor, file, be, vocab, positions, err);
    ganz_container_close(&file);
    return status;
}

ganz_status ganz_tutors_open(ganz_tutors *tutors, const char *const *paths, int count, ganz_backend *be,
                             const ganz_vocab *vocab, int positions, ganz_error *err)
{
    ganz_status status = GANZ_OK;
    *tutors = (ganz_tutors){.all = ganz_alloc((size_t)count, sizeof *tutors->all)};
    if (!tutors->all) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %d teachers", count);
    while (status == GANZ_OK && tutors->count < count) {
        status = open_one(&tutors->all[tutors->count], paths[tutors->count], be, vocab, positions, err);
        tutors->count++;
    }
    if (status != GANZ_OK) ganz_tutors_close(tutors);
    return status;
}

void ganz_tutors_close(ganz_tutors *tutors)
{
    for (int i = 0; i < tutors->count; i++) {
        ganz_tutor *const tutor = &tutors->all[i];
        if (tutor->weights.be) ganz_weights_close(&tutor->weights);
        ganz_net_close(&tutor->net);
    }
    ganz_free(tutors->all);
    *tutors = (ganz_tutors){0};
}

uint64_t ganz_tutors_sum(const ganz_tutors *tutors)
{
    uint64_t sum = tutors->count > 0 ? tutors->all[0].sum : 0;
    for (int i = 1; i < tutors->count; i++) {
        const uint64_t both[2] = {sum, tutors->all[i].sum};
        sum = ganz_checksum(both, sizeof both);
    }
    return sum;
}
