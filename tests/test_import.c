/* Models of other programs: random MarianMT models in every format, with the greedy translations and log-probabilities
 * that transformers computed for them in double (tools/import_goldens.py); refusals; hostile files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "base/io.h"
#include "ganz/import.h"
#include "ganz/inspect.h"
#include "ganz/io.h"
#include "import/draft.h"
#include "import/formats.h"
#include "import/pickle.h"
#include "text/vocab.h"

enum { LONGEST = 12, LINES = 8 }; /* as in tools/import_goldens.py */

static const char *in_tests(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/import/%s", GANZ_TESTS_DIR, name);
    return path;
}

static char model_path[] = "import_test.safetensors";

/* ---- translations ------------------------------------------------------------------------------- */

/* score, source, translation: separated by tabs. */
static void expect_line(ganz_translator *t, char *line, double tolerance)
{
    char *const source = strchr(line, '\t') + 1, *const target = strchr(source, '\t') + 1;
    target[-1] = '\0';
    const ganz_line one = {.text = source, .bytes = strlen(source)};
    const ganz_result *results;
    assert_int_equal(ganz_translate(t, &one, 1, &results, NULL), GANZ_OK);
    assert_string_equal(results[0].best[0].text, target);
    assert_true(fabs(results[0].best[0].score - strtod(line, NULL)) < tolerance);
}

static void expect_translations(const char *path, const char *expected, double tolerance)
{
    ganz_model *model;
    ganz_translator *t;
    ganz_translator_options o;
    ganz_lines *lines;
    ganz_error err;
    const char *text;
    size_t bytes;
    int count = 0;
    if (ganz_model_open(&model, path, &err) != GANZ_OK) fail_msg("%s", err.message);
    ganz_translator_defaults(&o);
    o.beam = 1;
    o.alpha = 0;
    o.max_length = LONGEST;
    assert_int_equal(ganz_translator_open(&t, model, &o, NULL), GANZ_OK);
    assert_int_equal(ganz_lines_open(&lines, in_tests(expected), NULL), GANZ_OK);
    for (;; count++) {
        char line[512];
        assert_int_equal(ganz_lines_next(lines, &text, &bytes, NULL), GANZ_OK);
        if (!text) break;
        snprintf(line, sizeof line, "%.*s", (int)bytes, text);
        expect_line(t, line, tolerance);
    }
    assert_int_equal(count, LINES);
    ganz_lines_close(&lines);
    ganz_translator_close(&t);
    ganz_model_close(&model);
}

static void import(const char *name)
{
    ganz_error err;
    if (ganz_import(in_tests(name), model_path, NULL, NULL, &err) != GANZ_OK) fail_msg("%s: %s", name, err.message);
}

static void ties_of_transformers(void **state)
{
    static const char *const names[] = {"hf",       "hf-relu", "hf-two-tables", "hf-untied", "hf-shared-untied",
                                        "hf-start", "hf-half", "hf-bfloat"};
    (void)state;
    for (size_t i = 0; i < GANZ_COUNT(names); i++) {
        char expected[64];
        import(names[i]);
        snprintf(expected, sizeof expected, "%s/expected.tsv", names[i]);
        expect_translations(model_path, expected, 1e-4);
    }
    unlink(model_path);
}

static void all_formats_are_one_model(void **state)
{
    static const char *const names[] = {"torch", "torch-legacy", "ct2-float32"};
    (void)state;
    for (size_t i = 0; i < GANZ_COUNT(names); i++) {
        import(names[i]);
        expect_translations(model_path, "hf/expected.tsv", 1e-4);
    }
    unlink(model_path);
}

static ganz_contents contents_of(const char *path)
{
    ganz_contents contents;
    assert_int_equal(ganz_contents_read(&contents, path, NULL), GANZ_OK);
    return contents;
}

/* Sines and cosines in turn: columns are put into our order. CTranslate2 is the judge. */
static void alternating_positions(void **state)
{
    (void)state;
    import("ct2-alternating");
    expect_translations(model_path, "ct2-alternating/expected.tsv", 1e-4);
    unlink(model_path);
}

static void expect_ids(const ganz_vocab *v, ganz_side side, const char *text, int count, int last)
{
    ganz_ids ids = {0};
    assert_int_equal(ganz_vocab_encode_sentence(v, side, text, strlen(text), &ids, NULL), GANZ_OK);
    assert_int_equal(ids.count, count);
    assert_int_equal(ids.ids[count - 1], last);
    ganz_ids_free(&ids);
}

/* OpenNMT's models: the source has no end mark, for whom ever it is encoded. CTranslate2 is the judge. */
static void sources_without_an_end_mark(void **state)
{
    ganz_vocab *bare, *ended;
    (void)state;
    import("ct2-alternating");
    assert_int_equal(ganz_vocab_open_any(&ended, model_path, NULL), GANZ_OK);
    import("ct2-bare");
    expect_translations(model_path, "ct2-bare/expected.tsv", 1e-4);
    assert_int_equal(ganz_vocab_open_any(&bare, model_path, NULL), GANZ_OK);
    const int w2 = 4; /* behind padding, end mark, w0 and <s>, which is w1 in the other */
    expect_ids(ended, GANZ_SOURCE, "w0 w2 ", 3, GANZ_EOS);
    expect_ids(bare, GANZ_SOURCE, "w0 w2 ", 2, w2);
    expect_ids(bare, GANZ_TARGET, "w0 w2 ", 3, GANZ_EOS);
    expect_ids(bare, GANZ_SOURCE, " ", 1, GANZ_EOS);
    const uint64_t sum = ganz_vocab_checksum(bare);
    bare->bare_source = false;
    assert_true(ganz_vocab_checksum(bare) != sum);
    ganz_vocab_close(&ended);
    ganz_vocab_close(&bare);
    unlink(model_path);
}

/* The last token of a bare source is one like the others: words link to it. */
static void links_to_the_end_of_bare_sources(void **state)
{
    static const char text[] = "w13 w0";
    const ganz_line line = {.text = text, .bytes = sizeof text - 1};
    ganz_translator_options o;
    ganz_translator *t;
    ganz_model *model;
    const ganz_result *results;
    bool first = false, last = false;
    (void)state;
    import("ct2-bare");
    assert_int_equal(ganz_model_open(&model, model_path, NULL), GANZ_OK);
    ganz_translator_defaults(&o);
    o.beam = 1;
    o.max_length = LONGEST;
    o.alignment = true;
    assert_int_equal(ganz_translator_open(&t, model, &o, NULL), GANZ_OK);
    assert_int_equal(ganz_translate(t, &line, 1, &results, NULL), GANZ_OK);
    const ganz_translation *const best = &results[0].best[0];
    for (int i = 0; i < best->link_count; i++) {
        const ganz_link *const l = &best->links[i];
        first = first || (l->source_begin == 0 && l->source_end == 3);
        last = last || (l->source_begin == 4 && l->source_end == 6);
    }
    assert_true(first && last); /* each source word has a link, weak or not */
    ganz_translator_close(&t);
    ganz_model_close(&model);
    unlink(model_path);
}

/* Our own network in a checkpoint of TensorFlow; Pegasus of transformers is the judge. */
static void checkpoints_of_tensor2tensor(void **state)
{
    (void)state;
    import("t2t");
    expect_translations(model_path, "t2t/expected.tsv", 1e-4);
    import("t2t/model.ckpt-5.index");
    unlink(model_path);
}

static const ganz_entry *entry(const ganz_container *c, const char *name)
{
    const ganz_entry *const e = ganz_container_find(c, name);
    assert_non_null(e);
    return e;
}

/* The same numbers, but for positions and epsilon, which are in the metadata. */
static void expect_same_numbers(const char *a, const char *b, float tolerance)
{
    ganz_container *x, *y;
    ganz_contents first = contents_of(a), second = contents_of(b);
    assert_int_equal(ganz_container_parse(&x, first.data, first.bytes, a, NULL), GANZ_OK);
    assert_int_equal(ganz_container_parse(&y, second.data, second.bytes, b, NULL), GANZ_OK);
    assert_int_equal(ganz_container_count(x), ganz_container_count(y));
    for (int i = 0; i < ganz_container_count(x); i++) {
        const ganz_entry *const e = ganz_container_at(x, i), *const f = entry(y, e->name);
        assert_int_equal(e->bytes, f->bytes);
        if (e->dtype != GANZ_DTYPE_F32) continue;
        const float *const p = e->data, *const q = f->data;
        for (size_t k = 0; k < e->bytes / 4; k++) {
            if (p[k] == q[k]) continue; /* infinity too */
            if (!(fabsf(p[k] - q[k]) <= tolerance)) fail_msg("%s: %g, not %g", e->name, (double)q[k], (double)p[k]);
        }
    }
    ganz_container_close(&x);
    ganz_container_close(&y);
    ganz_contents_free(&first);
    ganz_contents_free(&second);
}

/* Float formats exactly; others within half a step of their rounding, which grows where biases are folded. Positions
 * and epsilon of Marian's own models are of other formulas, so that their translations may differ. */
static void numbers_are_the_same(void **state)
{
    static const struct {
        const char *name;
        float tolerance;
    } formats[] = {{"npz", 0},           {"npz-packed", 0},      {"bin", 0},
                   {"bin-codes", 0.05f}, {"ct2-float16", 2e-3f}, {"ct2-int16", 1e-3f},
                   {"ct2-int8", 0.05f},  {"hf-half", 2e-3f},     {"hf-bfloat", 0.02f}};
    (void)state;
    import("hf");
    assert_int_equal(rename(model_path, "import_hf.safetensors"), 0);
    for (size_t i = 0; i < GANZ_COUNT(formats); i++) {
        import(formats[i].name);
        expect_same_numbers("import_hf.safetensors", model_path, formats[i].tolerance);
    }
    unlink(model_path);
    unlink("import_hf.safetensors");
}

static void origin_is_noted(void **state)
{
    const ganz_import_options o = {
        .source_language = "xx", .licence = "CC0", .command = "caf\xE9 caf\xC3\xA9 \xE2\x82"};
    ganz_import_report r;
    ganz_model_facts f;
    ganz_model *model;
    (void)state;
    assert_int_equal(ganz_import(in_tests("hf"), model_path, &o, &r, NULL), GANZ_OK);
    assert_string_equal(r.family, "MarianMT of Hugging Face");
    assert_int_equal(r.target_entries, 17);
    assert_false(r.sentencepiece);
    assert_int_equal(ganz_model_open(&model, model_path, NULL), GANZ_OK);
    ganz_model_describe(model, &f);
    assert_string_equal(f.licence, "CC0");
    assert_string_equal(f.origin, "MarianMT of Hugging Face, hf");
    assert_string_equal(f.source_language, "xx");
    assert_string_equal(f.command, "caf? caf\xC3\xA9 ??"); /* a file's name, and one that was cut */
    ganz_model_close(&model);
    unlink(model_path);
}

/* ---- refusals ----------------------------------------------------------------------------------- */

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *const f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}

/* The folder hf with one change of its configuration. */
static void expect_refusal(const char *old, const char *now, const char *sentence)
{
    ganz_error err = {0};
    ganz_contents config = contents_of(in_tests("hf/config.json")), vocab = contents_of(in_tests("hf/vocab.json"));
    ganz_contents tensors = contents_of(in_tests("hf/model.safetensors"));
    char was[2048], text[4096];
    mkdir("import_refused", 0700);
    snprintf(was, sizeof was, "%.*s", (int)config.bytes, (const char *)config.data);
    const char *const at = strstr(was, old);
    assert_non_null(at);
    const int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - was), was, now, at + strlen(old));
    write_file("import_refused/config.json", text, (size_t)n);
    write_file("import_refused/vocab.json", vocab.data, vocab.bytes);
    write_file("import_refused/model.safetensors", tensors.data, tensors.bytes);
    assert_int_not_equal(ganz_import("import_refused", model_path, NULL, NULL, &err), GANZ_OK);
    if (!strstr(err.message, sentence)) fail_msg("%s", err.message);
    assert_int_not_equal(ganz_import("import_refused", model_path, NULL, NULL, NULL), GANZ_OK); /* without a sentence */
    assert_int_not_equal(access(model_path, F_OK), 0);
    ganz_contents_free(&config);
    ganz_contents_free(&vocab);
    ganz_contents_free(&tensors);
}

/* A model may lie where downloads lie. */
static void folders_are_seen_whole(void **state)
{
    enum { FILES = 5000 };
    char name[64];
    ganz_files *files;
    (void)state;
    mkdir("import_many", 0700);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "import_many/%d", i);
        write_file(name, "", 0);
    }
    assert_int_equal(ganz_files_open(&files, "import_many", NULL), GANZ_OK);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "import_many/%d", i);
        assert_true(ganz_files_have(files, strchr(name, '/') + 1));
        unlink(name);
    }
    ganz_files_close(&files);
    rmdir("import_many");
}

static void unsupported_keys_are_named(void **state)
{
    (void)state;
    expect_refusal("\"marian\"", "\"t5\"", "import_refused: config.json: model_type");
    expect_refusal("\"swish\"", "\"gelu_new\"", "activation_function");
    expect_refusal("\"decoder_attention_heads\": 2", "\"decoder_attention_heads\": 4", "decoder_attention_heads");
    expect_refusal("\"d_model\": 8", "\"d_model\": 16", "16");
    expect_refusal("\"d_model\": 8,", "", "d_model is missing");
    expect_refusal("\"encoder_layers\": 1", "\"encoder_layers\": 2", "enc.1");
    expect_refusal("\"num_beams\"", "\"normalize_before\": true, \"num_beams\"", "normalize_before");
    expect_refusal("\"eos_token_id\": 3", "\"eos_token_id\": 99", "99");
    unlink("import_refused/config.json");
    unlink("import_refused/vocab.json");
    unlink("import_refused/model.safetensors");
    rmdir("import_refused");
}

/* Whenever memory runs out, that is what is said, and no file is left. */
static void memory_can_run_out(void **state)
{
    static const char *const names[] = {"hf", "ct2-float32", "t2t", "npz-packed", "torch-legacy"};
    (void)state;
    for (size_t i = 0; i < GANZ_COUNT(names); i++) {
        ganz_status status = GANZ_ENOMEM;
        long n = 0;
        while (status != GANZ_OK) {
            ganz_error err = {0};
            ganz_alloc_fail_at(++n);
            status = ganz_import(in_tests(names[i]), model_path, NULL, NULL, &err);
            ganz_alloc_fail_at(0);
            if (status != GANZ_OK && (status != GANZ_ENOMEM || access(model_path, F_OK) == 0))
                fail_msg("%s: %s", names[i], err.message);
        }
        assert_true(n > 100);
        unlink(model_path);
    }
}

/* ---- hostile files ------------------------------------------------------------------------------ */

typedef ganz_status (*reader)(ganz_tensors *tensors, const void *data, size_t bytes, ganz_error *err);

static ganz_status read_ct2(ganz_tensors *t, const void *data, size_t bytes, ganz_error *err)
{
    ganz_ct2_file file;
    return ganz_read_ctranslate2(t, &file, data, bytes, "x", err);
}
static ganz_status read_torch(ganz_tensors *t, const void *data, size_t bytes, ganz_error *err)
{
    return ganz_read_torch(t, NULL, data, bytes, "x", err);
}
static ganz_status read_npz(ganz_tensors *t, const void *data, size_t bytes, ganz_error *err)
{
    return ganz_read_npz(t, data, bytes, "x", err);
}
static ganz_status read_bin(ganz_tensors *t, const void *data, size_t bytes, ganz_error *err)
{
    return ganz_read_marian(t, data, bytes, "x", err);
}

/* The index, with all of its data. */
static ganz_status read_index(ganz_tensors *t, const void *data, size_t bytes, ganz_error *err)
{
    ganz_contents contents = contents_of(in_tests("t2t/model.ckpt-5.data-00000-of-00001"));
    const ganz_bytes shard = {contents.data, contents.bytes};
    const ganz_bundle bundle = {{data, bytes}, &shard, 1};
    const ganz_status status = ganz_read_bundle(t, &bundle, "x", err);
    ganz_tensors_close(t);
    ganz_contents_free(&contents);
    return status;
}

static void cut_everywhere(reader read, const char *name)
{
    ganz_contents contents = contents_of(in_tests(name));
    for (size_t n = 0; n < contents.bytes; n += 1 + contents.bytes / 997) {
        ganz_tensors t = {0};
        ganz_error err = {0};
        unsigned char *const copy = malloc(n + 1); /* its own block: a read beyond its end is seen */
        if (n > 0) memcpy(copy, contents.data, n);
        assert_int_not_equal(read(&t, copy, n, &err), GANZ_OK);
        assert_true(err.message[0]);
        ganz_tensors_close(&t);
        free(copy);
    }
    ganz_contents_free(&contents);
}

static void cut_files_are_refused(void **state)
{
    (void)state;
    cut_everywhere(read_ct2, "ct2-int8/model.bin");
    cut_everywhere(read_torch, "torch/pytorch_model.bin");
    cut_everywhere(read_torch, "torch-legacy/pytorch_model.bin");
    cut_everywhere(read_npz, "npz/model.npz");
    cut_everywhere(read_bin, "bin/model.intgemm8.bin");
    cut_everywhere(read_index, "t2t/model.ckpt-5.index");
}

/* Bytes of a tensor that its checksum does not go with, fewer bytes, fewer files. */
static void damaged_checkpoints_are_refused(void **state)
{
    ganz_contents index = contents_of(in_tests("t2t/model.ckpt-5.index")),
                  data = contents_of(in_tests("t2t/model.ckpt-5.data-00000-of-00001"));
    unsigned char *const copy = malloc(data.bytes);
    memcpy(copy, data.data, data.bytes);
    copy[777] ^= 1;
    const ganz_bytes shards[] = {{data.data, data.bytes}, {copy, data.bytes}, {data.data, data.bytes - 1}};
    static const char *const sentences[] = {NULL, "are damaged", "are not there", "in a file that is not there"};
    (void)state;
    for (size_t i = 0; i < GANZ_COUNT(sentences); i++) {
        ganz_tensors t = {0};
        ganz_error err = {0};
        const ganz_bundle bundle = {{index.data, index.bytes}, &shards[i % 3], i < 3};
        assert_int_equal(ganz_read_bundle(&t, &bundle, "x", &err) == GANZ_OK, !sentences[i]);
        if (sentences[i]) assert_non_null(strstr(err.message, sentences[i]));
        ganz_tensors_close(&t);
    }
    free(copy);
    ganz_contents_free(&index);
    ganz_contents_free(&data);
}

/* A place in the list and what it is the place of can be few bytes, and a tensor's bytes many: were either read as
 * often as it is named, a small file would take hours. */
static void nothing_in_a_checkpoint_is_read_twice(void **state)
{
    enum { BLOCK = 6 + 4 + 5, PLACE = 3 + 1 + 2, LIST = 2 * PLACE + 4 + 5, END = 48 };
    static const unsigned char magic[8] = {0x57, 0xFB, 0x80, 0x8B, 0x24, 0x75, 0x47, 0xDB},
                               value[] = {0, 1, 2, 'a', 0x08, 23}, /* of a type that is passed over */
        tensor[] = {0x08, 1, 0x12, 4, 0x12, 2, 0x08, 1, 0x28, 4};  /* one float, of four bytes */
    unsigned char index[256] = {0}, data[4] = {0};
    const ganz_bytes shard = {data, sizeof data};
    ganz_bundle bundle = {{index, 2 * BLOCK + LIST + END}, &shard, 1};
    ganz_tensors t = {0};
    (void)state;
    memcpy(index, value, sizeof value);
    memcpy(index + BLOCK, value, sizeof value);
    unsigned char *const list = index + 2 * BLOCK, *const end = list + LIST;
    memcpy(list, (unsigned char[]){0, 1, 2, 'a', 0, BLOCK - 5, 0, 1, 2, 'b', BLOCK, BLOCK - 5}, 2 * PLACE);
    memcpy(end, (unsigned char[]){0, 0, 2 * BLOCK, LIST - 5}, 4);
    memcpy(end + END - 8, magic, sizeof magic);
    assert_int_equal(ganz_read_bundle(&t, &bundle, "x", NULL), GANZ_OK);
    list[PLACE + 4] = 0; /* the first again */
    assert_int_equal(ganz_read_bundle(&t, &bundle, "x", NULL), GANZ_EFORMAT);
    for (int second = 0; second < 2; second++) {
        enum { ENTRY = 4 + sizeof tensor };
        unsigned char *const at = index + 100;
        const unsigned bytes = ENTRY * (1 + (unsigned)second) + 4;
        memset(at, 0, 100);
        for (int i = 0; i <= second; i++) {
            memcpy(at + i * ENTRY, (unsigned char[]){0, 1, sizeof tensor, (unsigned char)('a' + i)}, 4);
            memcpy(at + i * ENTRY + 4, tensor, sizeof tensor);
        }
        memcpy(at + 60, (unsigned char[]){0, 1, 2, 'b', 100, (unsigned char)bytes}, PLACE);
        memcpy(at + 80, (unsigned char[]){0, 0, 0xA0, 1, PLACE + 4}, 5);
        memcpy(at + 80 + END - 8, magic, sizeof magic);
        bundle.index.bytes = 100 + 80 + END;
        assert_int_equal(ganz_read_bundle(&t, &bundle, "x", NULL), second ? GANZ_EFORMAT : GANZ_OK);
        ganz_tensors_close(&t);
    }
}

/* A file of 2 MB took half a minute, one of ten times as much five. */
static void storages_are_not_looked_for_without_end(void **state)
{
    enum { OBJECTS = 70000, KEYS = 16384 };
    static const unsigned char begin[] = {0x80, 2,   0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50,
                                          0x19, '.', 0x80, 2,  'M',  0xE9, 3,    '.',  0x80, 2,    '}',  '.'};
    unsigned char *const file = malloc(sizeof begin + 2 * OBJECTS + 3 * KEYS + 64), *at = file;
    ganz_tensors t = {0};
    ganz_error err = {0};
    (void)state;
    memcpy(at, begin, sizeof begin);
    at += sizeof begin;
    for (int i = 0; i < OBJECTS; i++) *at++ = 'N', *at++ = '0';
    memcpy(at, "}.](", 4);
    at += 4;
    for (int i = 0; i < KEYS; i++, at += 3) memcpy(at, "U\1a", 3);
    memcpy(at, "e.", 2);
    at += 2;
    assert_int_equal(read_torch(&t, file, (size_t)(at - file), &err), GANZ_ELIMIT);
    assert_non_null(strstr(err.message, "16384 storages and 70001 objects are too many"));
    ganz_tensors_close(&t);
    free(file);
}

static void pickles_call_nothing(void **state)
{
    static const char evil[] = "\x80\x02"
                               "cposix\nsystem\nX\x02\0\0\0id\x85R.";
    static const char *const allowed[] = {"collections OrderedDict", NULL};
    ganz_pickle p;
    ganz_error err = {0};
    (void)state;
    assert_int_equal(ganz_pickle_read(&p, evil, sizeof evil - 1, allowed, "x", &err), GANZ_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "posix system"));
    ganz_pickle_close(&p);
    assert_int_equal(ganz_pickle_read(&p, evil, sizeof evil - 1, NULL, "x", &err), GANZ_OK); /* a note, no call */
    assert_int_equal(p.node[p.root].kind, GANZ_PICKLE_CALL);
    ganz_pickle_close(&p);
}

/* The number that codes are to be divided by stands behind them. */
static void scales_of_codes_are_above_0(void **state)
{
    static const float numbers[] = {127, INFINITY, 0, -127, NAN};
    ganz_contents contents = contents_of(in_tests("bin-codes/model.intgemm8.bin"));
    unsigned char *const copy = malloc(contents.bytes);
    ganz_tensors t = {0};
    size_t place = 0;
    (void)state;
    memcpy(copy, contents.data, contents.bytes);
    assert_int_equal(read_bin(&t, copy, contents.bytes, NULL), GANZ_OK);
    for (int i = 0; i < t.count; i++)
        if (t.list[i].multiplier > 0) place = (size_t)(t.list[i].data - copy) + t.list[i].bytes;
    assert_true(place > 0);
    ganz_tensors_close(&t);
    for (size_t i = 0; i < GANZ_COUNT(numbers); i++) {
        ganz_error err = {0};
        memcpy(copy + place, &numbers[i], sizeof numbers[i]);
        assert_int_equal(read_bin(&t, copy, contents.bytes, &err), numbers[i] > 0 ? GANZ_OK : GANZ_EFORMAT);
        if (!(numbers[i] > 0)) assert_non_null(strstr(err.message, "has a scale that is not above 0"));
        ganz_tensors_close(&t);
    }
    free(copy);
    ganz_contents_free(&contents);
}

/* As of programs whose scales are called otherwise, or are lost. */
static void codes_without_a_scale_are_refused(void **state)
{
    static const ganz_dtype types[] = {GANZ_DTYPE_I8, GANZ_DTYPE_U8, GANZ_DTYPE_I16, GANZ_DTYPE_I32, GANZ_DTYPE_I64};
    static const unsigned char zeros[64] = {0};
    float values[6], half = 0.5f;
    ganz_error err = {0};
    ganz_foreign t = {.name = (char[]){"t"}, .rank = 2, .dims = {2, 3}, .data = zeros};
    const ganz_foreign scale = {
        .name = (char[]){"s"}, .dtype = GANZ_DTYPE_F32, .data = (const unsigned char *)&half, .bytes = sizeof half};
    ganz_view view = {.tensor = &t};
    (void)state;
    for (size_t i = 0; i < GANZ_COUNT(types); i++) {
        t.dtype = types[i];
        assert_int_equal(ganz_view_read(&view, "x", 2, 3, values, &err), GANZ_EUNSUPPORTED);
        assert_non_null(strstr(err.message, "without a scale"));
    }
    t.dtype = GANZ_DTYPE_I8;
    view.scale = &scale;
    assert_int_equal(ganz_view_read(&view, "x", 2, 3, values, NULL), GANZ_OK);
    view.scale = NULL;
    t.dtype = GANZ_DTYPE_F64;
    assert_int_equal(ganz_view_read(&view, "x", 2, 3, values, NULL), GANZ_OK);
}

/* A block of its own of what a shape with a 0 in it has, nothing: a read of the rest of the shape is seen. */
static void shapes_without_numbers_have_none(void **state)
{
    const float nothing_yet[] = {0, 0, 0, 0, 0, 0};
    unsigned char *const end = malloc(1);
    ganz_foreign t = {.name = (char[]){"t"}, .dtype = GANZ_DTYPE_F32, .rank = 4, .dims = {0, 5, 2, 3}, .data = end};
    const ganz_view view = {.tensor = &t};
    float values[6] = {0};
    ganz_error err;
    (void)state;
    assert_int_equal(ganz_view_read(&view, "x", 2, 3, values, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "tensor t has 4 dimensions where x needs 2 x 3 numbers");
    assert_memory_equal(values, nothing_yet, sizeof values);
    t = (ganz_foreign){.name = t.name, .rank = 4, .dims = {2, 1, 1, 3}, .data = (const unsigned char *)nothing_yet};
    t.dtype = GANZ_DTYPE_F32;
    assert_int_equal(ganz_view_read(&view, "x", 1, 3, values, NULL), GANZ_EFORMAT);
    t.dims[0] = 1;
    assert_int_equal(ganz_view_read(&view, "x", 1, 3, values, NULL), GANZ_OK);
    free(end);
}

static ganz_status positions_of(ganz_foreign t, int width, const float *numbers, size_t count)
{
    ganz_draft d = {.config.width = width};
    float *const copy = malloc(count * sizeof *copy + 1); /* its own block */
    memcpy(copy, numbers, count * sizeof *copy);
    t.name = (char[]){"t"};
    t.dtype = GANZ_DTYPE_F32;
    t.bytes = count * sizeof *copy;
    t.data = (const unsigned char *)copy;
    assert_int_equal(ganz_files_open(&d.files, in_tests("hf"), NULL), GANZ_OK);
    assert_int_equal(ganz_tensors_add(&d.tensors, &t, NULL), GANZ_OK);
    const ganz_status status = ganz_draft_positions(&d, "t", "none", NULL);
    ganz_files_close(&d.files);
    ganz_draft_close(&d);
    free(copy);
    return status;
}

static void tables_of_positions_are_matrices(void **state)
{
    static const float row[] = {0, 0, 1, 1}, odd[] = {0, 1, 5};
    (void)state;
    assert_int_equal(positions_of((ganz_foreign){.rank = 3, .dims = {1, 1, 4}}, 4, row, 4), GANZ_OK);
    assert_int_equal(positions_of((ganz_foreign){.rank = 3, .dims = {0, 9, 4}}, 4, row, 0), GANZ_EFORMAT);
    assert_int_equal(positions_of((ganz_foreign){.rank = 2, .dims = {1, 3}}, 3, odd, 3), GANZ_EFORMAT);
    assert_int_equal(positions_of((ganz_foreign){.rank = 2, .dims = {1, 0}}, 0, row, 0), GANZ_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ties_of_transformers),
        cmocka_unit_test(all_formats_are_one_model),
        cmocka_unit_test(numbers_are_the_same),
        cmocka_unit_test(alternating_positions),
        cmocka_unit_test(sources_without_an_end_mark),
        cmocka_unit_test(links_to_the_end_of_bare_sources),
        cmocka_unit_test(origin_is_noted),
        cmocka_unit_test(folders_are_seen_whole),
        cmocka_unit_test(memory_can_run_out),
        cmocka_unit_test(unsupported_keys_are_named),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(pickles_call_nothing),
        cmocka_unit_test(storages_are_not_looked_for_without_end),
        cmocka_unit_test(checkpoints_of_tensor2tensor),
        cmocka_unit_test(damaged_checkpoints_are_refused),
        cmocka_unit_test(nothing_in_a_checkpoint_is_read_twice),
        cmocka_unit_test(scales_of_codes_are_above_0),
        cmocka_unit_test(codes_without_a_scale_are_refused),
        cmocka_unit_test(shapes_without_numbers_have_none),
        cmocka_unit_test(tables_of_positions_are_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
