/* Models with random weights, for measuring speed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/surroundings.h"
#include "ganz/bench.h"
#include "model/model.h"
#include "translate/decode.h"

enum { POSITIONS = 256, SEED = 1, CALIBRATION = 4, CALIBRATION_LENGTH = 20 };

static const struct {
    const char *name;
    ganz_config config;
} shapes[] = {
    {"small", {.width = 256, .ffn = 1024, .heads = 4, .encoder_layers = 6, .decoder_layers = 6}},
    {"base", {.width = 512, .ffn = 2048, .heads = 8, .encoder_layers = 6, .decoder_layers = 6}},
    {"big", {.width = 1024, .ffn = 4096, .heads = 16, .encoder_layers = 6, .decoder_layers = 6}},
};

/* Reserved entries, the characters every vocabulary has, then t0, t1, ... */
static ganz_status make_vocab(ganz_vocab **vocab, int size, ganz_error *err)
{
    static const char letters[] = "\\_u;0123456789<>EOSpadt";
    const size_t room = (size_t)size * 16 + 64;
    char *const text = ganz_alloc(room, 1);
    if (!text) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a vocabulary");
    size_t at = (size_t)snprintf(text, room, "'<pad>_'\n'<EOS>_'\n");
    int count = 2;
    for (const char *c = letters; *c; c++, count++) at += (size_t)snprintf(text + at, room - at, "'%c'\n", *c);
    for (; count < size; count++) at += (size_t)snprintf(text + at, room - at, "'t%d_'\n", count);
    const ganz_status status = ganz_vocab_parse(vocab, text, at, "random vocabulary", err);
    ganz_free(text);
    return status;
}

/* Weights as training leaves them, about: normal, not uniform as at the start. */
static void draw_weights(const ganz_params *params, real *block)
{
    ganz_params_init(params, SEED, block);
    for (int i = 0; i < params->count; i++) {
        const ganz_param *const p = &params->list[i];
        const double deviation = 1 / sqrt((double)p->cols);
        if (p->kind != GANZ_WEIGHT) continue;
        for (size_t j = 0; j < ganz_param_count(p); j++)
            block[p->offset + j] = (real)(ganz_random_normal(SEED, (uint64_t)i, j) * deviation);
    }
}

/* Ranges of the inputs from a few random sentences. */
static ganz_status measure(ganz_net *net, ganz_weights *weights, ganz_error *err)
{
    int32_t ids[CALIBRATION][CALIBRATION_LENGTH];
    ganz_sentence sentences[CALIBRATION];
    const ganz_decoder_options options = {.search = {.beam = 1, .n_best = 1, .alpha = 0.6},
                                          .batch_tokens = 256,
                                          .max_input = 64,
                                          .force_length = CALIBRATION_LENGTH};
    ganz_decoder *decoder;
    const ganz_found *found;
    const int *counts;
    for (int i = 0; i < CALIBRATION; i++) {
        for (int j = 0; j < CALIBRATION_LENGTH; j++)
            ids[i][j] =
                GANZ_FIRST_TEXT_ID + (int32_t)ganz_random_below(SEED, 1, (uint64_t)(i * CALIBRATION_LENGTH + j),
                                                                (uint32_t)net->config.vocab - GANZ_FIRST_TEXT_ID);
        sentences[i] = (ganz_sentence){.ids = ids[i], .count = CALIBRATION_LENGTH};
    }
    GANZ_TRY(ganz_decoder_open(&decoder, weights->be, net, weights, &options, err));
    const ganz_status status = ganz_decoder_run(decoder, sentences, CALIBRATION, &found, &counts, err);
    ganz_decoder_close(&decoder);
    return status;
}

static ganz_status write_codes(const char *path, const ganz_model_info *info, const ganz_vocab *vocab, ganz_net *net,
                               ganz_weights *weights, ganz_error *err)
{
    ganz_net_set_scheme(net, &info->scheme);
    ganz_net_set_states(net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_MEASURE);
    GANZ_TRY(ganz_weights_refresh(weights, net, err));
    GANZ_TRY(measure(net, weights, err));
    GANZ_TRY(ganz_weights_set_scales(weights, net, err));
    ganz_net_set_states(net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
    GANZ_TRY(ganz_weights_refresh(weights, net, err));
    return ganz_model_save_codes(path, info, net, vocab, weights, err);
}

static ganz_status write_random(const char *path, const ganz_model_info *info, const ganz_vocab *vocab, ganz_error *err)
{
    ganz_net net = {0};
    ganz_weights weights = {0};
    ganz_backend *be = NULL;
    ganz_status status;
    GANZ_CHECK(ganz_net_open(&net, &info->config, err));
    GANZ_CHECK(ganz_cpu_backend_open(&be, 1, err));
    GANZ_CHECK(ganz_weights_open(&weights, &net, be, false, err));
    draw_weights(&net.params, weights.master);
    status = info->integer ? write_codes(path, info, vocab, &net, &weights, err)
                           : ganz_model_save(path, info, &net, vocab, weights.master, err);
out:
    ganz_weights_close(&weights);
    if (be) be->close(be);
    ganz_net_close(&net);
    return status;
}

ganz_status ganz_random_model(const char *path, const char *shape, int vocab_size, int bits, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    size_t i = 0;
    while (i < GANZ_COUNT(shapes) && strcmp(shape, shapes[i].name) != 0) i++;
    if (i == GANZ_COUNT(shapes)) return ganz_fail(err, GANZ_EINVAL, "no shape is called %s: small, base or big", shape);
    if (bits != 0 && (bits < GANZ_BITS_LEAST || bits > GANZ_BITS_MOST))
        return ganz_fail(err, GANZ_EINVAL, "bits must be %d to %d, not %d", GANZ_BITS_LEAST, GANZ_BITS_MOST, bits);
    if (vocab_size < 64 || vocab_size > 1 << 20)
        return ganz_fail(err, GANZ_EINVAL, "the vocabulary must have 64 to %d entries, not %d", 1 << 20, vocab_size);
    ganz_vocab *vocab;
    ganz_model_info info = {.config = shapes[i].config, .integer = bits > 0, .command = "random"};
    if (bits > 0) info.scheme = ganz_scheme_of_bits(bits);
    info.config.vocab = vocab_size;
    info.config.max_positions = POSITIONS;
    GANZ_TRY(make_vocab(&vocab, vocab_size, err));
    const ganz_status status = write_random(path, &info, vocab, err);
    ganz_vocab_close(&vocab);
    return status;
}
