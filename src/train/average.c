/* The mean of several models. */
#include <string.h>

#include "ganz/train.h"
#include "base/surroundings.h"
#include "train/checkpoint.h"

/* The first model gives shape, vocabulary, texts and the notes about its training; shape and vocabulary of the others
 * must be the same. */
typedef struct mean {
    ganz_container *file; /* of the first: its texts are borrowed */
    ganz_model_info info;
    ganz_vocab *vocab;
    ganz_net net;
    real *block;  /* (params.block) of one model */
    double *sums; /* (params.block) */
} mean;

static ganz_status open_first(mean *m, const char *path, ganz_error *err)
{
    GANZ_TRY(ganz_container_open(&m->file, path, err));
    GANZ_TRY(ganz_model_read_info(m->file, &m->info, err));
    GANZ_TRY(ganz_model_read_vocab(m->file, &m->info.config, &m->vocab, err));
    GANZ_TRY(ganz_net_open(&m->net, &m->info.config, err));
    m->block = ganz_alloc(m->net.params.block, sizeof *m->block);
    m->sums = ganz_alloc(m->net.params.block, sizeof *m->sums);
    if (!m->block || !m->sums) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    return GANZ_OK;
}

static ganz_status check_same(const mean *m, const ganz_container *file, ganz_error *err)
{
    ganz_model_info info;
    bool same;
    GANZ_TRY(ganz_model_read_info(file, &info, err));
    GANZ_TRY(ganz_model_check_float(file, &info, err));
    if (!ganz_config_same(&info.config, &m->info.config) || info.config.max_positions != m->info.config.max_positions)
        return ganz_fail(err, GANZ_EINVAL, "%s and %s are models of different shapes", ganz_container_name(m->file),
                         ganz_container_name(file));
    GANZ_TRY(ganz_model_same_vocab(file, &info.config, m->vocab, &same, err));
    if (same) return GANZ_OK;
    return ganz_fail(err, GANZ_EINVAL, "%s and %s have different vocabularies", ganz_container_name(m->file),
                     ganz_container_name(file));
}

static ganz_status add_model(mean *m, const char *path, ganz_error *err)
{
    ganz_container *file;
    ganz_status status;
    GANZ_TRY(ganz_container_open(&file, path, err));
    GANZ_CHECK(check_same(m, file, err));
    GANZ_CHECK(ganz_model_read_params(file, &m->net, m->block, err));
    for (size_t i = 0; i < m->net.params.block; i++) m->sums[i] += m->block[i];
out:
    ganz_container_close(&file);
    return status;
}

static ganz_status save(const mean *m, const char *path, ganz_error *err)
{
    ganz_writer *writer;
    ganz_status status;
    GANZ_TRY(ganz_writer_open(&writer, path, true, err));
    GANZ_CHECK(ganz_checkpoint_note_origin(writer, m->file, err));
    GANZ_CHECK(ganz_model_declare(writer, &m->info, &m->net, m->vocab, err));
    GANZ_CHECK(ganz_model_write(writer, &m->net, m->vocab, m->block, err));
    status = ganz_writer_finish(&writer, err);
out:
    ganz_writer_abandon(&writer);
    return status;
}

ganz_status ganz_average_models(const char *const *paths, int count, const char *out, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    mean m = {0};
    ganz_status status;
    if (count < 1) return ganz_fail(err, GANZ_EINVAL, "no models to average");
    GANZ_CHECK(open_first(&m, paths[0], err));
    for (int i = 0; i < count; i++) GANZ_CHECK(add_model(&m, paths[i], err));
    for (size_t i = 0; i < m.net.params.block; i++) m.block[i] = (real)(m.sums[i] / count);
    GANZ_CHECK(save(&m, out, err));
out:
    ganz_free(m.block);
    ganz_free(m.sums);
    ganz_net_close(&m.net);
    ganz_vocab_close(&m.vocab);
    ganz_container_close(&m.file);
    return status;
}
