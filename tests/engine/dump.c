/* dump MODEL TEXT LINES BEAM OUT: an engine file (engine_file.h) of an integer model, of the first lines of a text, and
 * of what the whole library makes of them on this processor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_backend.h"
#include "engine_file.h"
#include "ganz/io.h"
#include "model/model.h"
#include "text/tokenizer.h"
#include "translate/decode.h"

static ganz_error err;

static void need(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "dump: %s: %s\n", what, err.message);
    exit(1);
}
#define OK(call) need((call) == GANZ_OK, #call)

static void put(FILE *file, const void *data, size_t bytes) { need(fwrite(data, 1, bytes, file) == bytes, "write"); }
static void put_int(FILE *file, int32_t number) { put(file, &number, sizeof number); }

static void put_weights(FILE *file, ganz_model *m)
{
    const ganz_weights *const w = &m->weights;
    int8_t *const codes = ganz_alloc(GANZ_DEPTH_MAX, 1);
    need(codes, "memory");
    for (int i = 0; i < m->net.params.count; i++)
        if (w->value[i]) put(file, w->value[i], ganz_param_count(&m->net.params.list[i]) * sizeof(real));
    put(file, w->input_scale, (size_t)m->net.scales * sizeof(real));
    for (int i = 0; i < m->net.sites; i++) {
        const ganz_site *const site = &m->net.site[i];
        put(file, ganz_site_scales(w, site), sizeof(real));
        for (int row = 0; row < site->out; row++) {
            ganz_unpack_row(&ganz_cpu_of(m->be)->kernel, w->packed[site->place], row, codes);
            put(file, codes, (size_t)site->in);
        }
    }
    ganz_free(codes);
}

static void encode(const ganz_vocab *vocab, const char *path, int count, ganz_ids *ids, size_t *at)
{
    ganz_lines *lines;
    const char *text;
    size_t bytes;
    OK(ganz_lines_open(&lines, path, &err));
    for (int i = 0; i < count; i++) {
        OK(ganz_lines_next(lines, &text, &bytes, &err));
        need(text, "too few lines");
        at[i] = ids->count;
        OK(ganz_vocab_encode(vocab, GANZ_SOURCE, text, bytes, ids, &err));
        if (ids->count > at[i] + ENGINE_MOST_INPUT - 1) ids->count = at[i] + ENGINE_MOST_INPUT - 1;
        need(ganz_grow((void **)&ids->ids, &ids->capacity, ids->count + 1, sizeof *ids->ids), "memory");
        ids->ids[ids->count++] = GANZ_EOS;
    }
    at[count] = ids->count;
    ganz_lines_close(&lines);
}

static void put_sentences(FILE *file, const ganz_model *m, const char *text, int count, int beam)
{
    size_t *const at = ganz_alloc((size_t)count + 1, sizeof *at);
    ganz_sentence *const sentences = ganz_alloc((size_t)count, sizeof *sentences);
    ganz_ids ids = {0};
    need(at && sentences, "memory");
    encode(m->vocab, text, count, &ids, at);
    for (int i = 0; i < count; i++)
        sentences[i] = (ganz_sentence){.ids = ids.ids + at[i], .count = (int)(at[i + 1] - at[i])};
    const ganz_decoder_options options = {.search = {.beam = beam, .n_best = 1, .alpha = 0.6},
                                          .batch_tokens = GANZ_BATCH_TOKENS,
                                          .max_input = ENGINE_MOST_INPUT,
                                          .max_length = ENGINE_MAX_LENGTH};
    ganz_decoder *decoder;
    const ganz_found *found;
    const int *counts;
    OK(ganz_decoder_open(&decoder, m->be, &m->net, &m->weights, &options, &err));
    OK(ganz_decoder_run(decoder, sentences, count, &found, &counts, &err));
    for (int i = 0; i < count; i++) {
        put_int(file, sentences[i].count);
        put(file, sentences[i].ids, (size_t)sentences[i].count * sizeof *ids.ids);
        put_int(file, found[i].count);
        put(file, &found[i].score, sizeof found[i].score);
        put(file, found[i].ids, (size_t)found[i].count * sizeof *found[i].ids);
    }
    ganz_decoder_close(&decoder);
    ganz_ids_free(&ids);
    ganz_free(sentences);
    ganz_free(at);
}

int main(int argc, char **argv)
{
    need(argc == 6, "usage: dump MODEL TEXT LINES BEAM OUT");
    const int lines = atoi(argv[3]), beam = atoi(argv[4]);
    ganz_model *m;
    OK(ganz_model_open(&m, argv[1], &err));
    const ganz_scheme *const scheme = &m->info.scheme;
    need(m->info.integer && !scheme->float_attention && !scheme->rule.per_row && !scheme->float_lookup && lines > 0,
         "an integer model, its plain kind, and some lines are needed");
    FILE *const file = fopen(argv[5], "wb");
    need(file, argv[5]);
    const engine_head head = {ENGINE_MAGIC, m->net.config, *scheme, beam, lines};
    put(file, &head, sizeof head);
    put_weights(file, m);
    put_sentences(file, m, argv[2], lines, beam);
    need(fclose(file) == 0, "close");
    ganz_model_close(&m);
    return 0;
}
