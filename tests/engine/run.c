/* run FILE [ISA...]: translates the sentences of an engine file (engine_file.h) with its model, on each ISA, in batches
 * of about 1, 7 and 64, on one thread and two, and compares every bit with what the file says. An ISA that is not there
 * is a failure. Made of the engine alone: no text, no model files, no BLAS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_file.h"
#include "kernel/kernel.h"
#include "translate/decode.h"

static ganz_error err;

static void need(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "run: %s: %s\n", what, err.message);
    exit(1);
}
#define OK(call) need((call) == GANZ_OK, #call)

typedef struct content {
    const unsigned char *data, *at, *end;
} content;

static content read_all(const char *path)
{
    FILE *const file = fopen(path, "rb");
    need(file && fseek(file, 0, SEEK_END) == 0, path);
    const long bytes = ftell(file);
    unsigned char *const data = bytes > 0 ? malloc((size_t)bytes) : NULL;
    need(data && fseek(file, 0, SEEK_SET) == 0 && fread(data, 1, (size_t)bytes, file) == (size_t)bytes, path);
    fclose(file);
    return (content){data, data, data + bytes};
}

static const void *take(content *c, size_t bytes)
{
    const unsigned char *const at = c->at;
    need(bytes <= (size_t)(c->end - at), "the file is too short");
    c->at += bytes;
    return at;
}

static void take_to(content *c, void *to, size_t bytes) { memcpy(to, take(c, bytes), bytes); }

static int take_int(content *c)
{
    int32_t number;
    take_to(c, &number, sizeof number);
    return number;
}

/* ---- the model ---------------------------------------------------------------------------------- */

static void read_weights(content *c, ganz_weights *w, ganz_net *net, ganz_backend *be)
{
    real scale;
    OK(ganz_weights_open_codes(w, net, be, &err));
    for (int i = 0; i < net->params.count; i++)
        if (w->value[i]) take_to(c, w->value[i], ganz_param_count(&net->params.list[i]) * sizeof(real));
    take_to(c, w->input_scale, (size_t)net->scales * sizeof(real));
    for (int i = 0; i < net->sites; i++) {
        const ganz_site *const site = &net->site[i];
        take_to(c, &scale, sizeof scale);
        ganz_weights_pack(w, site, take(c, (size_t)site->out * (size_t)site->in), &scale);
    }
}

/* ---- sentences ---------------------------------------------------------------------------------- */

typedef struct expectation {
    int32_t *ids;
    int count;
    float score;
} expectation;

static int32_t *take_ids(content *c, int count)
{
    int32_t *const ids = malloc((size_t)(count + 1) * sizeof *ids);
    need(ids, "memory");
    take_to(c, ids, (size_t)count * sizeof *ids);
    return ids;
}

static void read_sentences(content *c, int count, ganz_sentence *sentences, expectation *expected)
{
    for (int i = 0; i < count; i++) {
        const int source = take_int(c);
        sentences[i] = (ganz_sentence){.ids = take_ids(c, source), .count = source};
        expected[i].count = take_int(c);
        take_to(c, &expected[i].score, sizeof expected[i].score);
        expected[i].ids = take_ids(c, expected[i].count);
    }
    need(c->at == c->end, "the file is too long");
}

static bool same(const ganz_found *found, const expectation *e)
{
    return found->count == e->count && memcmp(&found->score, &e->score, sizeof e->score) == 0 &&
           memcmp(found->ids, e->ids, (size_t)e->count * sizeof *e->ids) == 0;
}

/* Sentences that come out otherwise. */
static int compare(const engine_head *head, ganz_net *net, content weights, const ganz_sentence *sentences,
                   const expectation *expected, int batch_tokens, int threads)
{
    ganz_backend *be;
    ganz_weights w;
    ganz_decoder *decoder;
    const ganz_found *found;
    const int *counts;
    const ganz_decoder_options options = {.search = {.beam = head->beam, .n_best = 1, .alpha = 0.6},
                                          .batch_tokens = batch_tokens,
                                          .max_input = ENGINE_MOST_INPUT,
                                          .max_length = ENGINE_MAX_LENGTH};
    int wrong = 0;
    OK(ganz_cpu_backend_open(&be, threads, &err));
    read_weights(&weights, &w, net, be);
    OK(ganz_decoder_open(&decoder, be, net, &w, &options, &err));
    OK(ganz_decoder_run(decoder, sentences, head->sentences, &found, &counts, &err));
    for (int i = 0; i < head->sentences; i++) wrong += !same(&found[i], &expected[i]);
    ganz_decoder_close(&decoder);
    ganz_weights_close(&w);
    be->close(be);
    return wrong;
}

static int run_isa(const char *isa, const engine_head *head, ganz_net *net, content weights,
                   const ganz_sentence *sentences, const expectation *expected)
{
    static const int batches[] = {1, 400, 3600};
    int wrong = 0, runs = 0;
    need(setenv("GANZ_FORCE_ISA", isa, 1) == 0, isa);
    for (size_t b = 0; b < GANZ_COUNT(batches); b++)
        for (int threads = 1; threads <= 2; threads++, runs++)
            wrong += compare(head, net, weights, sentences, expected, batches[b], threads);
    printf("%-10s %d bits, beam %d: %d sentences in %d ways, %d different\n", isa, head->scheme.rule.weight_bits,
           head->beam, head->sentences, runs, wrong);
    fflush(stdout);
    return wrong;
}

int main(int argc, char **argv)
{
    need(argc >= 3, "usage: run FILE ISA...");
    content c = read_all(argv[1]);
    engine_head head;
    ganz_net net;
    take_to(&c, &head, sizeof head);
    need(head.magic == ENGINE_MAGIC && head.sentences > 0, "not an engine file");
    OK(ganz_net_open(&net, &head.config, &err));
    ganz_net_set_scheme(&net, &head.scheme);
    ganz_net_set_states(&net, GANZ_WEIGHTS_CODES, GANZ_INPUTS_CODES);
    const content weights = c;
    ganz_backend *be;
    ganz_weights w;
    OK(ganz_cpu_backend_open(&be, 1, &err));
    read_weights(&c, &w, &net, be); /* to come to the sentences */
    ganz_weights_close(&w);
    be->close(be);
    ganz_sentence *const sentences = calloc((size_t)head.sentences, sizeof *sentences);
    expectation *const expected = calloc((size_t)head.sentences, sizeof *expected);
    need(sentences && expected, "memory");
    read_sentences(&c, head.sentences, sentences, expected);
    int wrong = 0;
    for (int i = 2; i < argc; i++) wrong += run_isa(argv[i], &head, &net, weights, sentences, expected);
    for (int i = 0; i < head.sentences; i++) {
        free((void *)(uintptr_t)sentences[i].ids);
        free(expected[i].ids);
    }
    free(sentences);
    free(expected);
    free((void *)(uintptr_t)c.data);
    ganz_net_close(&net);
    return wrong > 0;
}
