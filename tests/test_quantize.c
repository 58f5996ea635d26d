/* Integer models in files: what quantization writes says what the rounded float network says, and no damaged file
 * opens. */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flip.h"
#include "folder.h"
#include "kernel/kernel.h"
#include "ganz/io.h"
#include "base/rng.h"
#include "ganz/quantize.h"
#include "tiny.h"
#include "translate/decode.h"
#include "translate/histogram.h"

#define OK(call) assert_int_equal((call), GANZ_OK)
#define TEXT GANZ_TESTS_DIR "/data/tatoeba.en"

static bool per_row; /* of what quantize makes */
static bool columns;

static void quantize(const char *from, const char *to, int bits, const char *target)
{
    ganz_calibration how;
    ganz_calibration_report report;
    ganz_calibration_defaults(&how);
    how.source = TEXT;
    how.target = target;
    how.most_lines = 60;
    how.bits = bits;
    how.per_row = per_row;
    how.columns = columns;
    if (columns) how.method = GANZ_METHOD_FIT;
    OK(ganz_calibrate(from, to, &how, &report, NULL));
    assert_int_equal(report.lines, 60);
    assert_int_equal(report.products, 6 * 2 + 10 * 2 + 1 + 2 * 6);
    assert_int_equal(report.scales, 33 + 4 * 6);
}

/* ---- the same translations ---------------------------------------------------------------------- */

enum { LINES = 500 };

static void encode_lines(const ganz_vocab *vocab, ganz_ids *ids, ganz_sentence *sentences)
{
    static size_t at[LINES + 1];
    ganz_lines *lines;
    const char *text;
    size_t bytes;
    OK(ganz_lines_open(&lines, TEXT, NULL));
    for (int i = 0; i < LINES; i++) {
        OK(ganz_lines_next(lines, &text, &bytes, NULL));
        at[i] = ids->count;
        OK(ganz_vocab_encode(vocab, GANZ_SOURCE, text, bytes, ids, NULL));
        if (ids->count > at[i] + 60) ids->count = at[i] + 60;
        assert_true(ganz_grow((void **)&ids->ids, &ids->capacity, ids->count + 1, sizeof *ids->ids));
        ids->ids[ids->count++] = GANZ_EOS;
    }
    at[LINES] = ids->count;
    for (int i = 0; i < LINES; i++)
        sentences[i] = (ganz_sentence){.ids = ids->ids + at[i], .count = (int)(at[i + 1] - at[i])};
    ganz_lines_close(&lines);
}

/* Translates with whatever states the model's net has. */
static void translate(const ganz_model *model, int beam, const ganz_sentence *sentences, ganz_ids *out, float *scores)
{
    const ganz_decoder_options options = {
        .search = {.beam = beam, .n_best = 1, .alpha = 0.6}, .batch_tokens = 900, .max_input = 64, .max_length = 24};
    ganz_backend *be;
    ganz_decoder *decoder;
    const ganz_found *found;
    const int *counts;
    OK(ganz_cpu_backend_open(&be, 1, NULL));
    OK(ganz_decoder_open(&decoder, be, &model->net, &model->weights, &options, NULL));
    OK(ganz_decoder_run(decoder, sentences, LINES, &found, &counts, NULL));
    for (int i = 0; i < LINES; i++) {
        scores[i] = found[i].score;
        assert_true(
            ganz_grow((void **)&out->ids, &out->capacity, out->count + (size_t)found[i].count + 1, sizeof *out->ids));
        memcpy(out->ids + out->count, found[i].ids, (size_t)found[i].count * sizeof *out->ids);
        out->count += (size_t)found[i].count;
        out->ids[out->count++] = GANZ_EOS;
    }
    ganz_decoder_close(&decoder);
    be->close(be);
}

static void integers_say_what_rounded_floats_say(void **state)
{
    (void)state;
    static ganz_sentence sentences[LINES];
    static float scores[2][LINES];
    ganz_ids source = {0};
    ganz_vocab *vocab = tiny_vocab();
    encode_lines(vocab, &source, sentences);
    for (int kind = 0; kind < 3; kind++) {
        const int bits = kind == 0 ? 6 : 8;
        ganz_model *codes, *rounded;
        per_row = kind == 2;
        ganz_ids said[2] = {{0}, {0}};
        assert_true(write_tiny("m", 5));
        quantize("m", "i", bits, NULL);
        OK(ganz_model_open(&codes, "i", NULL));
        assert_int_equal(codes->info.scheme.rule.weight_bits, bits);
        assert_true(codes->info.scheme.rule.per_row == per_row);
        assert_null(codes->weights.master);
        OK(ganz_model_open(&rounded, "m", NULL));
        ganz_scheme scheme = ganz_scheme_of_bits(bits);
        scheme.rule.per_row = per_row;
        ganz_net_set_scheme(&rounded->net, &scheme);
        ganz_net_set_states(&rounded->net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
        OK(ganz_weights_refresh(&rounded->weights, &rounded->net, NULL));
        memcpy(rounded->weights.input_scale, codes->weights.input_scale, (size_t)codes->net.scales * sizeof(real));
        for (int beam = 1; beam <= 4; beam += 3) {
            said[0].count = said[1].count = 0;
            translate(codes, beam, sentences, &said[0], scores[0]);
            translate(rounded, beam, sentences, &said[1], scores[1]);
            assert_int_equal(said[0].count, said[1].count);
            assert_memory_equal(said[0].ids, said[1].ids, said[0].count * sizeof *said[0].ids);
            assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
            assert_true(said[0].count > 2 * LINES);
        }
        ganz_ids_free(&said[0]);
        ganz_ids_free(&said[1]);
        ganz_model_close(&codes);
        ganz_model_close(&rounded);
    }
    per_row = false;
    ganz_ids_free(&source);
    ganz_vocab_close(&vocab);
}

/* A model keeps the processor it was packed for; whoever insists on another one is told. */
static void a_model_keeps_its_processor(void **state)
{
    (void)state;
    const ganz_decoder_options options = {
        .search = {.beam = 1, .n_best = 1, .alpha = 0.6}, .batch_tokens = 100, .max_input = 16};
    const ganz_line line = {.text = "the cat sat", .bytes = 11};
    ganz_model *m;
    ganz_translator *t;
    ganz_backend *be;
    ganz_decoder *decoder;
    const ganz_result *results;
    ganz_error err;
    char said[1000];
    if (ganz_cpu_detect() == 0) skip(); /* there is no other one */
    assert_true(write_tiny("m", 5));
    quantize("m", "i", 8, NULL);
    OK(ganz_model_open(&m, "i", NULL));
    OK(ganz_translator_open(&t, m, NULL, NULL));
    OK(ganz_translate(t, &line, 1, &results, NULL));
    snprintf(said, sizeof said, "%s %a", results[0].best[0].text, results[0].best[0].score);
    ganz_translator_close(&t);
    setenv("GANZ_FORCE_ISA", "scalar", 1);
    ganz_translator_options o;
    ganz_translator_defaults(&o);
    o.alignment = true;
    OK(ganz_translator_open(&t, m, &o, NULL));
    OK(ganz_translate(t, &line, 1, &results, NULL));
    char again[1000];
    snprintf(again, sizeof again, "%s %a", results[0].best[0].text, results[0].best[0].score);
    assert_string_equal(again, said);
    ganz_translator_close(&t);
    OK(ganz_cpu_backend_open(&be, 1, NULL));
    assert_int_equal(ganz_decoder_open(&decoder, be, &m->net, &m->weights, &options, &err), GANZ_EINVAL);
    assert_null(decoder);
    assert_non_null(strstr(err.message, "and scalar is asked for"));
    be->close(be);
    unsetenv("GANZ_FORCE_ISA");
    ganz_model_close(&m);
}

/* Scales are ranges over p: an independent look at one input, the first norm's output. */
static void scales_are_ranges(void **state)
{
    (void)state;
    ganz_model *eight, *six;
    assert_true(write_tiny("m", 5));
    quantize("m", "8", 8, TEXT);
    quantize("m", "6", 6, TEXT);
    OK(ganz_model_open(&eight, "8", NULL));
    OK(ganz_model_open(&six, "6", NULL));
    for (int i = 0; i < eight->net.pairs; i++) {
        const int u = eight->net.pair[i].u.place;
        assert_true(fabsf(eight->weights.input_scale[u] * 255 - 1) < 1e-6f);
        assert_true(fabsf(six->weights.input_scale[u] * 63 - 1) < 1e-6f);
    }
    const int first = eight->net.site[0].input.place; /* before it nothing but the table is rounded */
    const double ratio = (double)six->weights.input_scale[first] / (double)eight->weights.input_scale[first];
    assert_true(fabs(ratio / (127.0 / 31.0) - 1) < 0.05);
    const double range = 127 * (double)eight->weights.input_scale[first]; /* of a norm of 32 numbers */
    assert_true(range > 1.5 && range < sqrt(32.0));
    ganz_model_close(&eight);
    ganz_model_close(&six);
}

static void refusals(void **state)
{
    (void)state;
    ganz_calibration how;
    ganz_error err;
    ganz_calibration_defaults(&how);
    assert_true(write_tiny("m", 5));
    assert_int_equal(ganz_calibrate("m", "i", &how, NULL, &err), GANZ_EINVAL);
    how.source = TEXT;
    how.bits = 9;
    assert_int_equal(ganz_calibrate("m", "i", &how, NULL, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "bits must be 2 to 8, not 9");
    how.bits = 8;
    how.most_lines = 20;
    OK(ganz_calibrate("m", "i", &how, NULL, &err));
    assert_int_equal(ganz_calibrate("i", "j", &how, NULL, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "i: an integer model already");
    how.source = "/dev/null";
    assert_int_equal(ganz_calibrate("m", "j", &how, NULL, &err), GANZ_EINVAL);
    how.source = TEXT;
    how.target = "/dev/null";
    assert_int_equal(ganz_calibrate("m", "j", &how, NULL, &err), GANZ_EINVAL);
    assert_non_null(strstr(err.message, "/dev/null has fewer lines"));
    assert_int_equal(access("j", F_OK), -1);
}

/* ---- damaged files ------------------------------------------------------------------------------ */

typedef struct damage {
    const char *find, *put; /* in the header, of the same length */
    const char *tensor;     /* whose first bytes become these */
    unsigned char bytes[4];
    int count;
    int from;          /* number of the first of them */
    const char *words; /* of the sentence */
} damage;

static const damage damages[] = {
    {.tensor = "embedding", .bytes = {0x80}, .count = 1, .words = "tensor embedding holds codes of magnitude 128"},
    {.tensor = "dec.1.ffn.out.bias",
     .bytes = {0, 0x80},
     .count = 2,
     .words = "dec.1.ffn.out.bias holds codes of magnitude"},
    {.tensor = "enc.0.self.q.weight.step", .bytes = {0, 0, 0, 0}, .count = 4, .words = "holds 0, which is no step"},
    {.tensor = "enc.0.self.q.weight.step", .bytes = {0, 0, 0xC0, 0x7F}, .count = 4, .words = "which is no step"},
    {.tensor = "enc.1.ffn.in.bias.step",
     .bytes = {0, 0, 0x80, 0xBF},
     .count = 4,
     .words = "holds -1, which is no step"},
    {.tensor = "logits.x.step", .bytes = {0, 0, 0x80, 0x7F}, .count = 4, .words = "tensor logits.x.step holds inf"},
    {.tensor = "enc.0.self.pair.u.step", .bytes = {1, 0, 0, 0}, .count = 4, .words = "which is no step"},
    {.tensor = "dec.0.cross.pair.v.step", .bytes = {0, 0, 0, 0x80}, .count = 4, .words = "which is no step"},
    {.tensor = "dec.norm.scale",
     .bytes = {0, 0, 0xC0, 0x7F},
     .count = 4,
     .words = "dec.norm.scale holds numbers that are not"},
    {.tensor = "target_space",
     .bytes = {0, 0, 0x80, 0xFF},
     .count = 4,
     .words = "target_space holds numbers that are not"},
    {.find = "\"bits\":\"8\"", .put = "\"bits\":\"9\"", .words = "bits"},
    {.find = "\"bits\":\"8\"", .put = "\"bits\":\"1\"", .words = "bits"},
    {.find = "\"bits\":\"8\"", .put = "\"bitz\":\"8\"", .words = "bits"},
    {.find = "\"bits\":\"8\"", .put = "\"bits\":\"4\"", .words = "with 4 bits 7 is the most"},
    {.find = "\"vocab_size\":\"65\"",
     .put = "\"vocab_size\":\"64\"",
     .words = "the vocabulary has 65 entries, the model 64"},
    {.find = "\"encoder_layers\":\"2\"", .put = "\"encoder_layers\":\"3\"", .words = "no tensor enc.2."},
    {.find = "\"heads\":\"4\"", .put = "\"heads\":\"5\"", .words = "heads"},
    {.find = "\"weights\":\"codes\"", .put = "\"weights\":\"float\"", .words = "dtype I8, expected F32"},
    {.find = "\"dec.1.cross.k.weight\":",
     .put = "\"dec.1.cross.x.weight\":",
     .words = "no tensor dec.1.cross.k.weight"},
    {.find = "\"dec.1.cross.k.weight.step\":",
     .put = "\"dec.1.cross.x.weight.step\":",
     .words = "no tensor dec.1.cross.k.weight.step"},
    {.find = "\"enc.0.self.pair.u.step\":",
     .put = "\"enc.0.self.pair.w.step\":",
     .words = "no tensor enc.0.self.pair.u.step"},
    {.find = "\"enc.0.ffn.out.bias\":", .put = "\"enc.0.ffn.out.bigs\":", .words = "no tensor enc.0.ffn.out.bias"},
    {.find = "\"enc.0.ffn.out.x.step\":",
     .put = "\"enc.0.ffn.out.x.stem\":",
     .words = "no tensor enc.0.ffn.out.x.step"},
    {.find = "\"enc.norm.bias\":", .put = "\"enc.norm.bigs\":", .words = "no tensor enc.norm.bias"},
    {.find = "\"embedding\":{\"dtype\":\"I8\"",
     .put = "\"embedding\":{\"dtype\":\"U8\"",
     .words = "dtype U8, expected I8"},
    {.find = "\"enc.0.self.q.weight\":{\"dtype\":\"I8\",\"shape\":[32,32]",
     .put = "\"enc.0.self.q.weight\":{\"dtype\":\"I8\",\"shape\":[16,64]",
     .words = "has shape (16, 64), expected (32, 32)"},
};

/* Of a file with a scale for each output. */
static const damage row_damages[] = {
    {.tensor = "enc.0.self.q.weight.step",
     .bytes = {0, 0, 0, 0},
     .count = 4,
     .from = 31 * 4,
     .words = "holds 0, which is no step"},
    {.tensor = "embedding.step", .bytes = {0, 0, 0xC0, 0x7F}, .count = 4, .from = 64 * 4, .words = "which is no step"},
    {.tensor = "dec.1.ffn.in.weight.step",
     .bytes = {0, 0, 0x80, 0xBF},
     .count = 4,
     .from = 4,
     .words = "holds -1, which is no step"},
    {.find = "\"weight_steps\":\"rows\"",
     .put = "\"weight_steps\":\"cols\"",
     .words = "this build knows \"rows\" and \"one\""},
    {.find = "\"weight_steps\":\"rows\"", .put = "\"weight_stepz\":\"rows\"", .words = "has shape (65), expected (1)"},
    {.find = "\"enc.0.self.q.weight.step\":{\"dtype\":\"F32\",\"shape\":[32]",
     .put = "\"enc.0.self.q.weight.step\":{\"dtype\":\"F32\",\"shape\":[31]",
     .words = "enc.0.self.q.weight.step"},
    {.find = "\"dec.0.cross.v.weight.step\":",
     .put = "\"dec.0.cross.w.weight.step\":",
     .words = "no tensor dec.0.cross.v.weight.step"},
};

/* Two weights in a byte: a half of 0 is the code -8, which is none with 4 bits. */
static const damage nibble_damages[] = {
    {.tensor = "enc.0.self.q.weight", .bytes = {0x80}, .count = 1, .from = 7, .words = "holds codes of magnitude 8"},
    {.tensor = "embedding",
     .bytes = {0x08},
     .count = 1,
     .from = 0,
     .words = "tensor embedding holds codes of magnitude 8"},
    {.find = "\"enc.0.ffn.in.weight\":{\"dtype\":\"U8\",\"shape\":[48,16]",
     .put = "\"enc.0.ffn.in.weight\":{\"dtype\":\"U8\",\"shape\":[16,48]",
     .words = "has shape (16, 48), expected (48, 16)"},
    {.find = "\"enc.0.ffn.in.weight\":{\"dtype\":\"U8\"",
     .put = "\"enc.0.ffn.in.weight\":{\"dtype\":\"I8\"",
     .words = "enc.0.ffn.in.weight"},
};

static const damage column_damages[] = {
    {.tensor = "enc.0.ffn.out.x.steps", .bytes = {0}, .count = 4, .from = 4, .words = "holds 0, which is no step"},
    {.tensor = "enc.0.ffn.out.x.zeros", .bytes = {0, 0, 0, 0x3f}, .count = 4, .from = 0, .words = "not whole"},
    {.tensor = "dec.0.cross.k.x.zeros", .bytes = {0, 0, 0, 0x4c}, .count = 4, .from = 0, .words = "too large"},
    {.tensor = "dec.0.cross.k.x.zeros", .bytes = {0, 0, 0xc0, 0x7f}, .count = 4, .from = 0, .words = "too large"},
    {.find = "\"enc.0.self.q.x.zeros\":{", .put = "\"enc.0.self.q.x.zerox\":{", .words = "enc.0.self.q.x.zeros"},
    {.find = "columns=own", .put = "columns=two", .words = "no rule is \"columns=two\""},
};

static char *find(char *data, size_t bytes, const char *what)
{
    const size_t length = strlen(what);
    for (size_t i = 0; i + length <= bytes; i++)
        if (memcmp(data + i, what, length) == 0) return data + i;
    fail_msg("no %s in the header", what);
    return NULL;
}

static void apply(char *data, size_t bytes, const damage *d)
{
    if (d->find) {
        assert_int_equal(strlen(d->find), strlen(d->put));
        memcpy(find(data, bytes, d->find), d->put, strlen(d->put));
    }
    if (!d->tensor) return;
    ganz_container *file;
    OK(ganz_container_parse(&file, data, bytes, "m", NULL));
    const ganz_entry *const e = ganz_container_find(file, d->tensor);
    assert_non_null(e);
    const size_t at = (size_t)((const char *)e->data - data);
    ganz_container_close(&file);
    memcpy(data + at + d->from, d->bytes, (size_t)d->count);
}

/* The file "i" without its checksums, so that what is wrong with the numbers themselves comes to light. */
static char *read_unsummed(size_t *bytes)
{
    char *const data = read_whole("i", bytes);
    assert_non_null(data);
    unsum_header(data, *bytes);
    replace_all(data, *bytes, "\"xxh3:", "\"none:");
    return data;
}

static void refuse_damaged(const damage *list, size_t count)
{
    size_t bytes;
    ganz_model *model;
    ganz_error err;
    for (size_t i = 0; i < count; i++) {
        char *const data = read_unsummed(&bytes);
        if (i == 0) {
            OK(ganz_model_parse(&model, data, bytes, "m", &err));
            ganz_model_close(&model);
        }
        apply(data, bytes, &list[i]);
        if (ganz_model_parse(&model, data, bytes, "m", &err) == GANZ_OK) fail_msg("case %zu opens", i);
        assert_null(model);
        if (!strstr(err.message, list[i].words)) fail_msg("case %zu says: %s", i, err.message);
        free(data);
    }
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    assert_true(write_tiny("m", 5));
    quantize("m", "i", 8, NULL);
    refuse_damaged(damages, GANZ_COUNT(damages));
    per_row = true;
    quantize("m", "i", 8, NULL);
    refuse_damaged(row_damages, GANZ_COUNT(row_damages));
    per_row = false;
    quantize("m", "i", 4, NULL);
    refuse_damaged(nibble_damages, GANZ_COUNT(nibble_damages));
}

/* How far the scores of the integer model "i" are from those of the float model "m", on average. */
static double distance(const ganz_sentence *sentences)
{
    static float scores[2][LINES];
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        ganz_model *model;
        ganz_ids said = {0};
        OK(ganz_model_open(&model, i ? "i" : "m", NULL));
        translate(model, 1, sentences, &said, scores[i]);
        ganz_ids_free(&said);
        ganz_model_close(&model);
    }
    for (int i = 0; i < LINES; i++) sum += fabs((double)scores[0][i] - (double)scores[1][i]);
    return sum / LINES;
}

/* Codes of columns stand for what the float model has: it is as near as one with a step for each input. (Random
 * weights: where two paths part, they do not meet again, so distances are large in both.) */
static void columns_stay_near_the_float_model(void **state)
{
    (void)state;
    static ganz_sentence sentences[LINES];
    ganz_model *model;
    ganz_ids source = {0};
    ganz_vocab *vocab = tiny_vocab();
    encode_lines(vocab, &source, sentences);
    assert_true(write_tiny("m", 5));
    quantize("m", "i", 8, NULL);
    const double plain = distance(sentences);
    columns = true;
    quantize("m", "i", 8, NULL);

    assert_true(distance(sentences) < 1.25 * plain);
    OK(ganz_model_open(&model, "i", NULL));
    assert_true(ganz_net_find_site(&model->net, "enc.0.self.q")->rule.columns);
    assert_false(model->net.logits->rule.columns);
    ganz_model_close(&model);
    refuse_damaged(column_damages, GANZ_COUNT(column_damages));
    columns = false;
    ganz_ids_free(&source);
    ganz_vocab_close(&vocab);
}

static void turned_bits_are_refused(void **state)
{
    (void)state;
    assert_true(write_tiny("m", 5));
    quantize("m", "i", 6, NULL);
    refuses_every_flip("i");
    quantize("m", "i", 3, NULL);
    refuses_every_flip("i");
}

/* Bits of the header and of the data turned, ends cut: refused or harmless. */
static void bits_and_ends(void **state)
{
    (void)state;
    size_t bytes;
    ganz_model *model;
    ganz_error err;
    assert_true(write_tiny("m", 5));
    quantize("m", "i", 8, NULL);
    char *const data = read_unsummed(&bytes);
    for (size_t at = 0; at < bytes; at += at < 700 ? 3 : 131) {
        const int bit = (int)(at * 5 % 8);
        data[at] = (char)(data[at] ^ 1 << bit);
        if (ganz_model_parse(&model, data, bytes, "m", &err) == GANZ_OK) ganz_model_close(&model);
        data[at] = (char)(data[at] ^ 1 << bit);
    }
    for (size_t cut = 0; cut < bytes; cut += 997)
        assert_int_not_equal(ganz_model_parse(&model, data, cut, "m", &err), GANZ_OK);
    free(data);
}

static void no_memory(void **state)
{
    (void)state;
    ganz_model *model;
    ganz_error err;
    assert_true(write_tiny("m", 5));
    quantize("m", "i", 8, NULL);
    ganz_status status = GANZ_ENOMEM;
    for (long n = 1; status != GANZ_OK; n++) {
        ganz_alloc_fail_at(n);
        status = ganz_model_open(&model, "i", &err);
        ganz_alloc_fail_at(0);
        assert_true(status == GANZ_OK || status == GANZ_ENOMEM);
    }
    ganz_model_close(&model);
    ganz_calibration how;
    ganz_calibration_defaults(&how);
    how.source = TEXT;
    how.most_lines = 2;
    status = GANZ_ENOMEM;
    for (long n = 1; status != GANZ_OK; n += n < 60 ? 1 : 13) {
        ganz_alloc_fail_at(n);
        status = ganz_calibrate("m", "k", &how, NULL, &err);
        ganz_alloc_fail_at(0);
        assert_true(status == GANZ_OK || status == GANZ_ENOMEM);
        assert_int_equal(access("k", F_OK), status == GANZ_OK ? 0 : -1);
    }
}

/* ---- where to clip ------------------------------------------------------------------------------ */

/* Expectations from golden/make_kl.py. */
static void thresholds(void **state)
{
    (void)state;
    static const struct {
        int count, outliers;
        double outlier;
        int levels;
        double threshold;
    } cases[] = {{20000, 0, 0, 128, 9.5},     {20000, 0, 0, 32, 8.203125},  {20000, 3, 40, 128, 10.625},
                 {20000, 3, 40, 32, 8.21875}, {3000, 1, 25, 128, 8.703125}, {3000, 1, 25, 32, 7.09375}};
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        static ganz_histogram h;
        memset(&h, 0, sizeof h);
        real value = 1;
        const ganz_matrix one = {1, 1, 1, GANZ_REAL, &value};
        ganz_histogram_add(&h, &one);
        for (int j = 0; j < cases[i].count; j++) {
            value = (real)-log(1 - (j + 0.5) / cases[i].count) * (j % 2 ? 1 : -1);
            ganz_histogram_add(&h, &one);
        }
        value = (real)cases[i].outlier; /* zeros do not count */
        for (int j = 0; j < cases[i].outliers + 1; j++) {
            if (j == cases[i].outliers) value = 0;
            ganz_histogram_add(&h, &one);
        }
        assert_true(fabs(ganz_histogram_threshold(&h, cases[i].levels) / cases[i].threshold - 1) < 0.01);
    }
    static ganz_histogram none;
    assert_true(ganz_histogram_threshold(&none, 128) == 0);
}

/* ---- weights that lie far out ------------------------------------------------------------------- */

enum { WEIGHTS = 4000 };

/* What rounding to codes up to p does, number by number. */
static double squared_error(const real *x, double range, int p, bool power_of_two)
{
    const double scale = power_of_two ? exp2(ceil(log2(range / p) - 1e-9)) : range / p;
    double sum = 0;
    for (int i = 0; i < WEIGHTS; i++) {
        const double cut = fmin(fmax((double)x[i], -range), range), apart = rint(cut / scale) * scale - (double)x[i];
        sum += apart * apart;
    }
    return sum;
}

/* Never worse than the best of a hundred ranges tried one by one, but for the bins it counts in. */
static void ranges_of_weights_fit(void **state)
{
    (void)state;
    static real x[WEIGHTS];
    static const int widths[] = {1, 7, 31, 127};
    static const double outliers[] = {0, 6, 30};
    for (size_t k = 0; k < GANZ_COUNT(outliers); k++) {
        double largest = 0;
        for (int i = 0; i < WEIGHTS; i++) {
            x[i] = (real)(0.02 * ganz_random_normal(9, k, (uint64_t)i) * (i < 5 && outliers[k] > 0 ? outliers[k] : 1));
            largest = fmax(largest, fabs((double)x[i]));
        }
        for (size_t j = 0; j < 2 * GANZ_COUNT(widths); j++) {
            const int p = widths[j / 2];
            const bool power_of_two = j % 2;
            const double range = (double)ganz_trim_range(x, WEIGHTS, p, power_of_two),
                         error = squared_error(x, range, p, power_of_two);
            double least = squared_error(x, largest, p, power_of_two);
            for (int i = 1; i < 100; i++) least = fmin(least, squared_error(x, largest * i / 100, p, power_of_two));
            assert_true(range <= largest);
            if (p > 1 && error > 1.05 * least)
                fail_msg("p %d, outliers %g: %g where %g can be", p, outliers[k], error, least);
            if (p == 7 && !power_of_two) assert_true(range < 0.9 * largest);
        }
    }
    memset(x, 0, sizeof x);
    assert_true(ganz_trim_range(x, WEIGHTS, 127, false) == 0 && ganz_trim_range(x, WEIGHTS, 127, true) == 0);
    x[7] = -2;
    assert_true(fabs((double)ganz_trim_range(x, WEIGHTS, 127, false) - 2) < 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(integers_say_what_rounded_floats_say),
        IN_FOLDER(a_model_keeps_its_processor),
        IN_FOLDER(scales_are_ranges),
        IN_FOLDER(refusals),
        IN_FOLDER(damaged_files_are_refused),
        IN_FOLDER(columns_stay_near_the_float_model),
        IN_FOLDER(turned_bits_are_refused),
        IN_FOLDER(bits_and_ends),
        IN_FOLDER(no_memory),
        cmocka_unit_test(thresholds),
        cmocka_unit_test(ranges_of_weights_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
