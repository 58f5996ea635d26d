/* Networks of other kinds in files: float and integer models come back as they were, and translate as they did. */
#include "test.h"

#include <string.h>

#include "folder.h"
#include "ganz/quantize.h"
#include "model_parts.h"
#include "nn_case.h"
#include "tiny.h"
#include "train/tutor.h"
#include "translate/decode.h"

#define OK(call) assert_int_equal((call), GANZ_OK)
enum { SENTENCES = 5, LENGTH = 9 };

/* A model of kind `number` with random parameters, none of them at a constant; NULL: no such kind. */
static const char *write_kind(const char *path, int number)
{
    ganz_vocab *vocab = tiny_vocab();
    ganz_model_info info = tiny_info(vocab);
    const char *const name = nn_kind(number, &info.config);
    if (name) {
        nn_case c;
        nn_case_open(&c, &info.config, 1, &(nn_segment){0, 2, 2}, 1, 0);
        nn_case_init(&c, 7);
        tiny_sharpen(&c.net, c.weights.master);
        OK(ganz_model_save(path, &info, &c.net, vocab, c.weights.master, NULL));
        nn_case_close(&c);
    }
    ganz_vocab_close(&vocab);
    return name;
}

/* Ids and scores of a few sentences. */
typedef struct said {
    int32_t ids[SENTENCES][64];
    int count[SENTENCES];
    float score[SENTENCES];
} said;

static void translate(const ganz_model *m, said *out)
{
    const ganz_decoder_options options = {
        .search = {.beam = 3, .n_best = 1, .alpha = 0.6}, .batch_tokens = 90, .max_input = 64, .max_length = 20};
    int32_t ids[SENTENCES][LENGTH];
    ganz_sentence sentences[SENTENCES];
    ganz_decoder *d;
    const ganz_found *found;
    const int *counts;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < SENTENCES; i++) {
        for (int j = 0; j < LENGTH; j++) ids[i][j] = j + 1 < LENGTH ? 2 + (7 * i + 5 * j * j) % 50 : 1;
        sentences[i] = (ganz_sentence){.ids = ids[i], .count = LENGTH};
    }
    OK(ganz_decoder_open(&d, m->be, &m->net, &m->weights, &options, NULL));
    OK(ganz_decoder_run(d, sentences, SENTENCES, &found, &counts, NULL));
    for (int i = 0; i < SENTENCES; i++) {
        out->count[i] = found[i].count;
        out->score[i] = found[i].score;
        memcpy(out->ids[i], found[i].ids, (size_t)found[i].count * sizeof *found[i].ids);
    }
    ganz_decoder_close(&d);
}

/* Calibration makes integers of a network that does not train, and it links words. */
static void recurrent_models_become_integers(void **state)
{
    (void)state;
    ganz_calibration how;
    ganz_calibration_defaults(&how);
    FILE *const text = fopen("text", "w");
    for (int i = 0; i < 12; i++) fprintf(text, "the cat sat on the mat, the dog %d\n", i);
    fclose(text);
    assert_string_equal(write_kind("m", NN_TRAINED_KINDS), "ssru");
    how.source = "text";
    ganz_model *m;
    OK(ganz_calibrate("m", "int", &how, NULL, NULL));
    OK(ganz_model_open(&m, "int", NULL));
    assert_true(m->info.integer && m->info.config.recurrent);
    int integers = 0;
    for (int i = 0; i < m->net.sites; i++) integers += m->net.site[i].inputs == GANZ_INPUTS_CODES;
    assert_int_equal(integers, m->net.sites);
    ganz_translator *t;
    ganz_translator_options o;
    const ganz_result *r;
    ganz_translator_defaults(&o);
    o.alignment = true;
    o.max_length = 12;
    OK(ganz_translator_open(&t, m, &o, NULL));
    OK(ganz_translate(t, &(ganz_line){.text = "the cat sat", .bytes = 11}, 1, &r, NULL));
    assert_true(r[0].best[0].bytes == 0 || r[0].best[0].link_count > 0);
    ganz_translator_close(&t);
    ganz_model_close(&m);
}

/* Where a device has no recurrent units, a teacher with them is refused before the first step. */
static void recurrent_teachers_need_their_device(void **state)
{
    (void)state;
    const char *const paths[] = {"m"};
    ganz_vocab *vocab = tiny_vocab();
    ganz_backend *be;
    ganz_tutors tutors;
    ganz_error err;
    assert_string_equal(write_kind("m", NN_TRAINED_KINDS), "ssru");
    OK(ganz_cpu_backend_open(&be, 1, NULL));
    OK(ganz_tutors_open(&tutors, paths, 1, be, vocab, 64, NULL));
    ganz_tutors_close(&tutors);
    be->recur = NULL; /* as on a GPU */
    assert_int_equal(ganz_tutors_open(&tutors, paths, 1, be, vocab, 64, &err), GANZ_EUNSUPPORTED);
    assert_string_equal(err.message, "m cannot teach: models with recurrent decoders do so on the cpu only");
    be->close(be);
    ganz_vocab_close(&vocab);
}

static const char *version_of(const char *path, char version[8])
{
    ganz_container *file;
    OK(ganz_container_open(&file, path, NULL));
    snprintf(version, 8, "%s", ganz_container_text(file, "version"));
    ganz_container_close(&file);
    return version;
}

static void float_models_come_back(void **state)
{
    (void)state;
    char version[8];
    said before, after, previous = {0};
    for (int i = 0; write_kind("m", i); i++) {
        ganz_model *m, *again;
        assert_string_equal(version_of("m", version), i == 0 ? "1" : "2");
        OK(ganz_model_open(&m, "m", NULL));
        ganz_config want = m->info.config; /* but for the switches */
        nn_kind(i, &want);
        assert_true(ganz_config_same(&want, &m->info.config) && ganz_config_is_plain(&want) == (i == 0));
        OK(ganz_model_save("n", &m->info, &m->net, m->vocab, m->weights.master, NULL));
        OK(ganz_model_open(&again, "n", NULL));
        assert_memory_equal(m->weights.master, again->weights.master, m->net.params.block * sizeof(real));
        translate(m, &before);
        translate(again, &after);
        assert_memory_equal(&before, &after, sizeof before);
        assert_memory_not_equal(&before, &previous, sizeof before);
        previous = before;
        ganz_model_close(&again);
        ganz_model_close(&m);
    }
}

/* Rounded in float, as integers from memory's numbers, and as integers from a file: the same words and scores. */
static void integer_models_come_back(void **state)
{
    (void)state;
    char version[8];
    static const char *const exceptions[] = {"", "logits: weights=6; *.ffn.out: inputs=7 steps=rows"};
    for (int i = 0; write_kind("m", i / 2); i++) {
        ganz_model *m, *codes;
        said fake, integer;
        ganz_scheme scheme = ganz_scheme_of_bits(8);
        OK(ganz_scheme_parse(&scheme, exceptions[i % 2], NULL));
        OK(ganz_model_open(&m, "m", NULL));
        ganz_net_set_scheme(&m->net, &scheme);
        for (int k = 0; k < m->net.scales; k++) m->weights.largest[k] = 2 + (real)(k * 7 % 13) * 0.4f;
        OK(ganz_weights_set_scales(&m->weights, &m->net, NULL));
        ganz_net_set_states(&m->net, GANZ_WEIGHTS_FAKE, GANZ_INPUTS_FAKE);
        OK(ganz_weights_refresh(&m->weights, &m->net, NULL));
        OK(ganz_model_save_codes("i", &m->info, &m->net, m->vocab, &m->weights, NULL));
        assert_string_equal(version_of("i", version), i == 0 ? "1" : "2");
        OK(ganz_model_open(&codes, "i", NULL));
        assert_true(codes->info.integer && ganz_config_same(&codes->info.config, &m->info.config));
        translate(m, &fake);
        translate(codes, &integer);
        assert_memory_equal(&fake, &integer, sizeof fake);
        ganz_model_close(&codes);
        ganz_model_close(&m);
    }
}

static void other_words_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
        ganz_status status;
    } bad[] = {{"norm", "sandwich", GANZ_EUNSUPPORTED},
               {"activation", "tanh", GANZ_EUNSUPPORTED},
               {"positions", "learned", GANZ_EUNSUPPORTED},
               {"start", "token", GANZ_EUNSUPPORTED},
               {"output", "", GANZ_EUNSUPPORTED},
               {"logits_bias", "yes", GANZ_EUNSUPPORTED},
               {"target_space", "1", GANZ_EUNSUPPORTED},
               {"attention_bias", "q x", GANZ_EFORMAT},
               {"norm_epsilon", "0", GANZ_EFORMAT},
               {"norm_epsilon", "-1", GANZ_EFORMAT},
               {"norm_epsilon", "nan", GANZ_EFORMAT},
               {"norm_epsilon", "2", GANZ_EFORMAT},
               {"embedding_scale", "1e9", GANZ_EFORMAT},
               {"first_position", "17", GANZ_EFORMAT},
               {"first_position", "x", GANZ_EFORMAT},
               {"source_vocab_size", "9999999", GANZ_EFORMAT},
               /* switches that want tensors which are not there */
               {"norm", "post", GANZ_OK},
               {"attention_bias", "q", GANZ_EFORMAT},
               {"source_vocab_size", "12", GANZ_EFORMAT},
               {"output", "own", GANZ_EFORMAT},
               {"logits_bias", "true", GANZ_EFORMAT},
               {"start", "vector", GANZ_EFORMAT},
               {"activation", "gelu", GANZ_OK},
               {"target_space", "none", GANZ_OK}};
    ganz_vocab *vocab = tiny_vocab();
    size_t text_bytes;
    const char *const text = ganz_vocab_file(vocab, &text_bytes);
    char *const words = calloc(text_bytes + 1, 1);
    memcpy(words, text, text_bytes);
    const ganz_config config = tiny_info(vocab).config;
    for (size_t i = 0; i < GANZ_COUNT(bad); i++) {
        model_parts parts;
        size_t bytes, header;
        ganz_model *m;
        ganz_error err;
        parts_make(&parts, &config, 0, words);
        parts_fill(&parts, 0);
        parts_set(&parts, bad[i].key, bad[i].value);
        unsigned char *const file = parts_join(&parts, &bytes, &header);
        const ganz_status status = ganz_model_parse(&m, file, bytes, "parts", &err);
        if (status != bad[i].status)
            fail_msg("%s \"%s\": %d (%s)", bad[i].key, bad[i].value, status, status ? err.message : "");
        ganz_model_close(&m);
        free(file);
        parts_free(&parts);
    }
    free(words);
    ganz_vocab_close(&vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(float_models_come_back),           IN_FOLDER(integer_models_come_back),
        IN_FOLDER(recurrent_models_become_integers), IN_FOLDER(recurrent_teachers_need_their_device),
        cmocka_unit_test(other_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
