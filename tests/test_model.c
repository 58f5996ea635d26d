/* Model files: what was saved comes back, and no damaged file opens. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "flip.h"
#include "folder.h"
#include "tiny.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

/* ---- round trip --------------------------------------------------------------------------------- */

static void round_trip(void **state)
{
    (void)state;
    ganz_error err;
    ganz_model *model;
    assert_true(write_tiny("m.safetensors", 7));
    OK(ganz_model_open(&model, "m.safetensors", &err));
    ganz_vocab *vocab = tiny_vocab();
    const ganz_model_info info = tiny_info(vocab);
    assert_memory_equal(&model->info.config, &info.config, sizeof info.config);
    assert_string_equal(model->info.source_language, "en");
    assert_string_equal(model->info.target_language, "de");
    assert_string_equal(model->info.command, "tiny \"model\"");
    size_t bytes, expected_bytes;
    const char *const text = ganz_vocab_file(model->vocab, &bytes), *const expected =
                                                                        ganz_vocab_file(vocab, &expected_bytes);
    assert_int_equal(bytes, expected_bytes);
    assert_memory_equal(text, expected, bytes);
    assert_int_equal(model->net.config.max_positions, 2 * 64 + 50);

    real *const block = calloc(model->net.params.block, sizeof *block);
    ganz_params_init(&model->net.params, 7, block);
    tiny_sharpen(&model->net, block);
    for (int i = 0; i < model->net.params.count; i++) {
        const ganz_param *const p = &model->net.params.list[i];
        for (size_t k = 0; k < ganz_param_count(p); k++)
            assert_true(model->weights.master[p->offset + k] == block[p->offset + k]);
    }
    free(block);
    ganz_vocab_close(&vocab);
    ganz_model_close(&model);
    assert_null(model);
    ganz_model_close(&model);
}

/* Saving what was opened gives the same bytes. */
static void same_bytes(void **state)
{
    (void)state;
    ganz_error err;
    ganz_model *model;
    assert_true(write_tiny("a", 3));
    OK(ganz_model_open(&model, "a", &err));
    OK(ganz_model_save("b", &model->info, &model->net, model->vocab, model->weights.master, &err));
    ganz_model_close(&model);
    assert_int_equal(system("cmp a b"), 0);
}

/* ---- damaged files ------------------------------------------------------------------------------ */

/* A model file taken apart, so that one thing of it can be changed. */
typedef struct change {
    const char *key, *value; /* metadata to set; value NULL: leave out */
    const char *tensor;      /* to drop, or to give another shape, or to spoil */
    bool drop, flat, integer;
    uint32_t spoil; /* bits of its third number; 0: none */
    const char *vocabulary;
} change;

static const char *const keys[] = {"format",     "version",       "weights",        "width",
                                   "ffn",        "heads",         "encoder_layers", "decoder_layers",
                                   "vocab_size", "max_positions", "formal_mark"};

static void copy_tensor(ganz_writer *w, const ganz_entry *e, const change *c, bool declare)
{
    const bool it = c->tensor && strcmp(e->name, c->tensor) == 0;
    const bool words = c->vocabulary && strcmp(e->name, "vocabulary") == 0;
    const size_t bytes = words ? strlen(c->vocabulary) : e->bytes;
    if (it && c->drop) return;
    if (declare) {
        const int64_t all[1] = {(int64_t)(bytes / ganz_dtype_bytes(e->dtype))};
        const ganz_dtype dtype = it && c->integer ? GANZ_DTYPE_I32 : e->dtype;
        const bool flat = (it && c->flat) || words;
        OK(ganz_writer_declare(w, e->name, dtype, flat ? 1 : e->rank, flat ? all : e->dims, NULL));
        return;
    }
    unsigned char *const data = malloc(bytes + 1);
    memcpy(data, words ? c->vocabulary : e->data, bytes);
    if (it && c->spoil) memcpy(data + 8, &c->spoil, 4);
    OK(ganz_writer_write(w, data, bytes, NULL));
    free(data);
}

static void write_changed(const char *from, const char *to, const change *c)
{
    ganz_container *file;
    ganz_writer *w;
    OK(ganz_container_open(&file, from, NULL));
    OK(ganz_writer_open(&w, to, false, NULL));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = ganz_container_text(file, keys[i]);
        if (c->key && strcmp(keys[i], c->key) == 0) value = c->value;
        if (value) OK(ganz_writer_text(w, keys[i], value, NULL));
    }
    for (int i = 0; i < ganz_container_count(file); i++)
        OK(ganz_container_check(file, ganz_container_at(file, i), NULL));
    for (int i = 0; i < ganz_container_count(file); i++) copy_tensor(w, ganz_container_at(file, i), c, true);
    for (int i = 0; i < ganz_container_count(file); i++) copy_tensor(w, ganz_container_at(file, i), c, false);
    OK(ganz_writer_finish(&w, NULL));
    ganz_container_close(&file);
}

static const struct {
    change change;
    ganz_status status;
    const char *words; /* of the sentence */
} damages[] = {
    {{.key = "format"}, GANZ_EFORMAT, "not a ganz model"},
    {{.key = "format", .value = "gguf"}, GANZ_EFORMAT, "not a ganz model"},
    {{.key = "version"}, GANZ_EFORMAT, "version"},
    {{.key = "version", .value = "4"}, GANZ_EVERSION, "version 4, this build knows version 3"},
    {{.key = "version", .value = "one"}, GANZ_EFORMAT, "version"},
    {{.key = "weights", .value = "ternary"}, GANZ_EUNSUPPORTED, "ternary"},
    {{.key = "width", .value = "-32"}, GANZ_EFORMAT, "width"},
    {{.key = "width", .value = "33"}, GANZ_EFORMAT, "width"},
    {{.key = "width", .value = "64"}, GANZ_EFORMAT, "tensor embedding has shape (65, 32), expected (65, 64)"},
    {{.key = "width", .value = "4294967328"}, GANZ_EFORMAT, "width"},
    {{.key = "heads", .value = "5"}, GANZ_EFORMAT, "heads"},
    {{.key = "ffn"}, GANZ_EFORMAT, "ffn"},
    {{.key = "ffn", .value = "65536"}, GANZ_EFORMAT, "tensor enc.0.ffn.in.weight has shape (48, 32)"},
    {{.key = "encoder_layers", .value = "3"}, GANZ_EFORMAT, "no tensor enc.2."},
    {{.key = "decoder_layers", .value = "1000000"}, GANZ_EFORMAT, "layers"},
    {{.key = "vocab_size", .value = "64"}, GANZ_EFORMAT, "the vocabulary has 65 entries, the model 64"},
    {{.key = "max_positions", .value = "0"}, GANZ_EFORMAT, "max_positions"},
    {{.key = "max_positions", .value = "1000000000"}, GANZ_EFORMAT, "max_positions"},
    {{.key = "formal_mark", .value = "<m1>"}, GANZ_EFORMAT, "its marks of formality are not two marks"},
    {{.tensor = "dec.1.cross.k.weight", .drop = true}, GANZ_EFORMAT, "no tensor dec.1.cross.k.weight"},
    {{.tensor = "vocabulary", .drop = true}, GANZ_EFORMAT, "no tensor vocabulary"},
    {{.tensor = "embedding", .flat = true}, GANZ_EFORMAT, "tensor embedding has shape"},
    {{.tensor = "enc.0.self.q.weight", .integer = true}, GANZ_EFORMAT, "dtype I32, expected F32"},
    {{.tensor = "enc.1.ffn.out.bias", .spoil = 0x7FC00000},
     GANZ_EFORMAT,
     "enc.1.ffn.out.bias holds numbers that are not"},
    {{.tensor = "embedding", .spoil = 0xFF800000}, GANZ_EFORMAT, "embedding holds numbers that are not finite"},
    {{.vocabulary = "'<pad>_'\n'<EOS>_'\n"}, GANZ_EFORMAT, NULL},
    {{.vocabulary = "'\xFF'\n"}, GANZ_EFORMAT, "UTF-8"},
};

static void damaged(void **state)
{
    (void)state;
    ganz_model *model;
    ganz_error err;
    assert_true(write_tiny("m", 1));
    write_changed("m", "same", &(change){0});
    OK(ganz_model_open(&model, "same", &err));
    ganz_model_close(&model);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        write_changed("m", "bad", &damages[i].change);
        err.message[0] = '\0';
        const ganz_status status = ganz_model_open(&model, "bad", &err);
        if (status != damages[i].status) fail_msg("case %zu: %s", i, err.message);
        assert_null(model);
        assert_memory_equal(err.message, "bad:", 4);
        if (damages[i].words && !strstr(err.message, damages[i].words)) fail_msg("case %zu says: %s", i, err.message);
    }
}

static void flipped(void **state)
{
    (void)state;
    assert_true(write_tiny("m", 1));
    refuses_every_flip("m");
}

static void truncated(void **state)
{
    (void)state;
    size_t bytes;
    ganz_model *model;
    ganz_error err;
    assert_true(write_tiny("m", 1));
    char *const data = read_whole("m", &bytes);
    assert_non_null(data);
    OK(ganz_model_parse(&model, data, bytes, "m", &err));
    ganz_model_close(&model);
    for (size_t cut = 0; cut < bytes; cut += cut < 200 ? 1 : 997)
        assert_int_not_equal(ganz_model_parse(&model, data, cut, "m", &err), GANZ_OK);
    free(data);
}

/* Every bit of the header turned: refused or harmless, never worse. */
static void header_bits(void **state)
{
    (void)state;
    size_t bytes;
    ganz_model *model;
    ganz_error err;
    assert_true(write_tiny("m", 1));
    char *const data = read_whole("m", &bytes);
    assert_non_null(data);
    uint64_t header;
    memcpy(&header, data, 8);
    for (size_t at = 0; at < 8 + header; at += at < 700 ? 1 : 23) {
        const int bit = (int)(at * 5 % 8);
        data[at] = (char)(data[at] ^ 1 << bit);
        if (ganz_model_parse(&model, data, bytes, "m", &err) == GANZ_OK) ganz_model_close(&model);
        assert_null(model);
        data[at] = (char)(data[at] ^ 1 << bit);
    }
    free(data);
}

static void no_memory(void **state)
{
    (void)state;
    ganz_model *model;
    ganz_error err;
    assert_true(write_tiny("m", 1));
    ganz_status status = GANZ_ENOMEM;
    for (long n = 1; status != GANZ_OK && n < 1000; n++) {
        ganz_alloc_fail_at(n);
        status = ganz_model_open(&model, "m", &err);
        ganz_alloc_fail_at(0);
        assert_true(status == GANZ_OK || status == GANZ_ENOMEM);
        if (status != GANZ_OK) assert_null(model);
    }
    OK(status);
    ganz_model_close(&model);
    assert_int_equal(ganz_model_open(&model, "nothing", &err), GANZ_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(round_trip), IN_FOLDER(same_bytes),  IN_FOLDER(damaged),   IN_FOLDER(flipped),
        IN_FOLDER(truncated),  IN_FOLDER(header_bits), IN_FOLDER(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
