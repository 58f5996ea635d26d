/* A small model with random parameters, for tests of files and of translation. */
#ifndef GANZ_TESTS_TINY_H
#define GANZ_TESTS_TINY_H

#include <stdlib.h>
#include <string.h>

#include "ganz/vocab.h"
#include "model/model.h"

/* Escapes, reserved entries, letters, and some words. */
static inline ganz_vocab *tiny_vocab(void)
{
    static const char *const words[] = {"the_", "cat_", "dog_", "sat_", "on_", "mat_",
                                        "in_",  "er_",  "th",   "ing_", ", _", "._"};
    static const char letters[] = "\\_u;0123456789<>EOSpad., abcefghijklmnoqrstvwxyzTCD";
    char text[4096] = "'<pad>_'\n'<EOS>_'\n";
    size_t at = strlen(text);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) at += (size_t)sprintf(text + at, "'%s'\n", words[i]);
    for (const char *c = letters; *c; c++) at += (size_t)sprintf(text + at, "'%c'\n", *c);
    ganz_vocab *vocab = NULL;
    ganz_error err;
    if (ganz_vocab_parse(&vocab, text, at, "tiny", &err) != GANZ_OK) fprintf(stderr, "%s\n", err.message);
    return vocab;
}

static inline ganz_model_info tiny_info(const ganz_vocab *vocab)
{
    const ganz_config config = {.width = 32,
                                .ffn = 48,
                                .heads = 4,
                                .encoder_layers = 2,
                                .decoder_layers = 2,
                                .vocab = ganz_vocab_size(vocab),
                                .max_positions = 64};
    return (ganz_model_info){
        .config = config, .source_language = "en", .target_language = "de", .command = "tiny \"model\""};
}

/* Fresh parameters say the last token over and over. Larger kernels let the layers speak, a larger embedding (it is
 * also the output) makes something likely. */
static inline void tiny_sharpen(const ganz_net *net, real *block)
{
    for (int i = 0; i < net->params.count; i++) {
        const ganz_param *const p = &net->params.list[i];
        const real times = p->kind == GANZ_WEIGHT ? 4 : p->kind == GANZ_EMBEDDING ? 2 : 1;
        for (size_t k = 0; k < ganz_param_count(p); k++) block[p->offset + k] *= times;
    }
}

/* Writes a model file; false with a message on standard error. The parameters depend on the seed alone. */
static inline bool save_tiny(const char *path, uint64_t seed, const ganz_model_info *info, const ganz_vocab *vocab)
{
    ganz_net net;
    ganz_error err = {0};
    ganz_status status = ganz_net_open(&net, &info->config, &err);
    real *const block = calloc(net.params.block, sizeof *block);
    ganz_params_init(&net.params, seed, block);
    tiny_sharpen(&net, block);
    if (status == GANZ_OK) status = ganz_model_save(path, info, &net, vocab, block, &err);
    if (status != GANZ_OK) fprintf(stderr, "%s\n", err.message);
    free(block);
    ganz_net_close(&net);
    return status == GANZ_OK;
}

static inline bool write_tiny_pair(const char *path, uint64_t seed, const char *source, const char *target)
{
    ganz_vocab *vocab = tiny_vocab();
    ganz_model_info info = tiny_info(vocab);
    info.source_language = source;
    info.target_language = target;
    const bool saved = save_tiny(path, seed, &info, vocab);
    ganz_vocab_close(&vocab);
    return saved;
}

static inline bool write_tiny(const char *path, uint64_t seed) { return write_tiny_pair(path, seed, "en", "de"); }

#endif
