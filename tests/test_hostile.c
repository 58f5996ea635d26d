/* Model files that lie: each is refused with one sentence, whatever is wrong with it. Some hundred of them, from a
 * float model and from integer ones. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ganz/io.h"
#include "model/model.h"
#include "model_parts.h"
#include "tiny.h"

static int files; /* refused so far */

/* ---- a sound model ------------------------------------------------------------------------------ */

static model_parts sound(int bits)
{
    ganz_vocab *vocab = tiny_vocab();
    const ganz_config config = {.width = 12,
                                .ffn = 20,
                                .heads = 2,
                                .encoder_layers = 1,
                                .decoder_layers = 2,
                                .vocab = ganz_vocab_size(vocab),
                                .max_positions = 32};
    size_t bytes;
    model_parts m;
    char *const words = calloc(1, 4096);
    const char *const text = ganz_vocab_file(vocab, &bytes);
    memcpy(words, text, bytes);
    parts_make(&m, &config, bits, words);
    parts_fill(&m, bits);
    free(words);
    ganz_vocab_close(&vocab);
    return m;
}

/* ---- refusals ----------------------------------------------------------------------------------- */

static void refuses_bytes(const unsigned char *file, size_t bytes, const char *what, const char *name)
{
    ganz_model *model = NULL;
    ganz_error err = {0};
    if (ganz_model_parse(&model, file, bytes, "bad", &err) == GANZ_OK) fail_msg("%s %s opens", what, name);
    assert_null(model);
    if (memcmp(err.message, "bad:", 4) != 0 || strchr(err.message, '\n') || strlen(err.message) < 15)
        fail_msg("%s %s says: %s", what, name, err.message);
    files++;
}

static void refuses(const model_parts *m, const char *what, const char *name)
{
    size_t bytes, header;
    unsigned char *const file = parts_join(m, &bytes, &header);
    refuses_bytes(file, bytes, what, name);
    free(file);
}

static void translates(const model_parts *m)
{
    size_t bytes, header;
    unsigned char *const file = parts_join(m, &bytes, &header);
    ganz_model *model;
    ganz_translator *translator;
    ganz_error err;
    if (ganz_model_parse(&model, file, bytes, "good", &err) != GANZ_OK) fail_msg("%s", err.message);
    if (ganz_translator_open(&translator, model, NULL, &err) != GANZ_OK) fail_msg("%s", err.message);
    const ganz_line line = {.text = "the cat sat", .bytes = 11};
    const ganz_result *results;
    if (ganz_translate(translator, &line, 1, &results, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_true(isfinite(results[0].best[0].score));
    ganz_translator_close(&translator);
    ganz_model_close(&model);
    free(file);
}

/* ---- what can be wrong -------------------------------------------------------------------------- */

static void cut_short(const model_parts *m)
{
    size_t bytes, header;
    unsigned char *const file = parts_join(m, &bytes, &header);
    const size_t cuts[] = {0,
                           1,
                           7,
                           8,
                           9,
                           64,
                           header / 2,
                           header + 7,
                           header + 8,
                           header + 9,
                           (header + bytes) / 2,
                           bytes - 4096,
                           bytes - 64,
                           bytes - 1};
    for (size_t i = 0; i < GANZ_COUNT(cuts); i++) {
        unsigned char *const exact = aligned_alloc(64, cuts[i] / 64 * 64 + 64);
        memcpy(exact, file, cuts[i]);
        refuses_bytes(exact, cuts[i], "a file", "cut short");
        free(exact);
    }
    unsigned char *const more = aligned_alloc(64, bytes / 64 * 64 + 128);
    memset(more, 0, bytes + 64);
    memcpy(more, file, bytes);
    refuses_bytes(more, bytes + 1, "a file", "with one byte more");
    refuses_bytes(more, bytes + 64, "a file", "with 64 bytes more");
    free(more);
    free(file);
}

/* A bit of the header's length, and then characters that the header cannot do without. */
static void broken_header(const model_parts *m)
{
    static const char *const words[] = {"{\"__m",      "\"dtype\"",     "\"shape\"",      "\"data_offsets\"",
                                        "F32",         "\"format\"",    "\"ganz\"",       "\"weights\"",
                                        "\"version\"", "\"embedding\"", "\"vocabulary\"", "]}}"};
    size_t bytes, header;
    unsigned char *const file = parts_join(m, &bytes, &header);
    for (int bit = 0; bit < 64; bit++) {
        file[bit / 8] ^= (unsigned char)(1 << bit % 8);
        refuses_bytes(file, bytes, "a header", "of another length");
        file[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    file[8 + header - 1] = '\0';
    const char *const text = (const char *)file + 8;
    for (size_t i = 0; i < GANZ_COUNT(words); i++) {
        const char *const at = strstr(text, words[i]);
        assert_non_null(at);
        for (size_t k = 0; k < strlen(words[i]); k++) {
            unsigned char *const c = file + (at - (const char *)file) + k;
            *c ^= 1;
            refuses_bytes(file, bytes, "a header with another", words[i]);
            *c ^= 1;
        }
    }
    free(file);
}

static void wrong_metadata(model_parts *m, bool integers)
{
    static const char *const numbers[] = {"version",        "width",      "ffn",           "heads", "encoder_layers",
                                          "decoder_layers", "vocab_size", "max_positions", "bits"};
    static const char *const values[] = {
        "", "0", "-1", "x", " 2", "1.5", "0x10", "99999999999", "99999999999999999999999", NULL};
    static const struct {
        const char *key, *value;
    } others[] = {{"format", "gguf"},        {"format", NULL},
                  {"version", "4"},          {"weights", "ternary"},
                  {"weights", NULL},         {"weights", ""},
                  {"width", "24"},           {"width", "13"},
                  {"width", "8194"},         {"ffn", "21"},
                  {"ffn", "65537"},          {"heads", "5"},
                  {"heads", "24"},           {"encoder_layers", "2"},
                  {"encoder_layers", "64"},  {"encoder_layers", "65"},
                  {"decoder_layers", "3"},   {"decoder_layers", "65"},
                  {"vocab_size", "64"},      {"vocab_size", "66"},
                  {"vocab_size", "2000000"}, {"max_positions", "4097"}};
    for (size_t i = 0; i < GANZ_COUNT(numbers) - !integers; i++) {
        char before[160];
        for (int k = 0; k < m->metadata_count; k++)
            if (strcmp(m->metadata[k].key, numbers[i]) == 0) strcpy(before, m->metadata[k].value);
        for (size_t k = 0; k < GANZ_COUNT(values); k++) {
            parts_set(m, numbers[i], values[k]);
            refuses(m, "metadata", numbers[i]);
        }
        parts_set(m, numbers[i], before);
    }
    for (size_t i = 0; i < GANZ_COUNT(others); i++) {
        char before[160];
        for (int k = 0; k < m->metadata_count; k++)
            if (strcmp(m->metadata[k].key, others[i].key) == 0) strcpy(before, m->metadata[k].value);
        parts_set(m, others[i].key, others[i].value);
        refuses(m, "metadata", others[i].key);
        parts_set(m, others[i].key, before);
    }
}

/* Widths that may be missing: wrong ones are refused, others translate. */
static void other_widths(model_parts *m, bool integers)
{
    static const char *const wrong[] = {"", "1", "9", "-8", "x", "8 "};
    const char *const keys[] = {integers ? "input_bits" : "dynamic_bits", "attention_bits"};
    for (int i = 0; i < 1 + integers; i++) {
        for (size_t k = 0; k < GANZ_COUNT(wrong); k++) {
            parts_set(m, keys[i], wrong[k]);
            refuses(m, "metadata", keys[i]);
        }
        for (int bits = 2; bits <= 8; bits++) {
            parts_set_int(m, keys[i], bits);
            translates(m);
        }
        parts_set(m, keys[i], NULL);
    }
    if (!integers) return;
    parts_set(m, "attention", "double");
    refuses(m, "metadata", "attention");
    parts_set(m, "attention", "float");
    translates(m);
    parts_set(m, "attention", NULL);
    static const struct {
        const char *key, *value;
    } absent[] = {{"lookup", "double"}, {"lookup", "float"}, {"bias_bits", "32"}, {"bias_bits", "33"}};
    for (size_t i = 0; i < GANZ_COUNT(absent); i++) { /* words nobody knows, and tensors that are not there */
        parts_set(m, absent[i].key, absent[i].value);
        refuses(m, "metadata", absent[i].key);
        parts_set(m, absent[i].key, NULL);
    }
}

static void wrong_shapes(model_parts *m, part *p)
{
    const part before = *p;
    p->rank = before.rank + 1;
    p->dims[before.rank] = 1;
    refuses(m, "one dimension more for", p->name);
    p->rank = before.rank;
    p->dims[0] = before.dims[0] + 1;
    refuses(m, "a row more than it has bytes for", p->name);
    p->dims[0] = INT64_MAX;
    refuses(m, "more rows than can be counted for", p->name);
    if (before.rank == 2) {
        p->dims[0] = before.dims[1];
        p->dims[1] = before.dims[0];
        if (before.dims[0] != before.dims[1]) refuses(m, "rows and columns swapped in", p->name);
        p->dims[0] = before.dims[0] * before.dims[1];
        p->rank = 1;
        refuses(m, "one dimension less for", p->name);
    }
    *p = before;
}

static void wrong_tensors(model_parts *m)
{
    for (int i = 0; i < m->count; i++) {
        part *const p = &m->list[i];
        const part before = *p;
        if (strcmp(p->name, "vocabulary") != 0) wrong_shapes(m, p);
        p->name[strlen(p->name) - 1] ^= 1;
        refuses(m, "another name for", before.name);
        *p = before;
        strcpy(p->dtype, strcmp(p->dtype, "F32") == 0 ? "I32" : "BOOL");
        refuses(m, "another type for", p->name);
        strcpy(p->dtype, "F8_E4M3");
        refuses(m, "an unknown type for", p->name);
        *p = before;
        /* an earlier one of the same size under this name as well, or this one twice */
        snprintf(p->name, sizeof p->name, "%s", m->list[(i + 1) % m->count].name);
        refuses(m, "another tensor in the place of", before.name);
        *p = before;
        memmove(p, p + 1, sizeof *p * (size_t)(m->count - 1 - i));
        m->count--;
        refuses(m, "a file without", before.name);
        memmove(&m->list[i + 1], &m->list[i], sizeof *p * (size_t)(m->count - i));
        m->count++;
        m->list[i] = before;
    }
}

/* NaN, infinities; for scales also what is no step. */
static void wrong_numbers(model_parts *m)
{
    const float bad[] = {NAN, INFINITY, -INFINITY}, bad_scales[] = {0, -0.0f, -1, 1e-40f, 0x1p-70f, 0x1p70f, 3e38f};
    for (int i = 0; i < m->count; i++) {
        part *const p = &m->list[i];
        if (strcmp(p->dtype, "F32") != 0) continue;
        unsigned char *const last = p->data + p->bytes - 4;
        float before;
        memcpy(&before, last, 4);
        for (size_t k = 0; k < GANZ_COUNT(bad); k++) {
            memcpy(last, &bad[k], 4);
            refuses(m, "no finite number in", p->name);
        }
        for (size_t k = 0; strstr(p->name, ".step") && k < GANZ_COUNT(bad_scales); k++) {
            memcpy(last, &bad_scales[k], 4);
            refuses(m, "no step in", p->name);
        }
        memcpy(last, &before, 4);
    }
}

static void wrong_codes(model_parts *m, int bits)
{
    const int most = (1 << (bits - 1)) - 1, bad[] = {-128, -most - 1, bits < 8 ? most + 1 : -128};
    for (int i = 0; i < m->count; i++) {
        part *const p = &m->list[i];
        for (size_t k = 0; strcmp(p->dtype, "I8") == 0 && k < GANZ_COUNT(bad); k++) {
            unsigned char *const c = &p->data[k * (p->bytes - 1) / 2], before = *c;
            *c = (unsigned char)(int8_t)bad[k];
            refuses(m, "a code out of range in", p->name);
            *c = before;
        }
    }
}

static void wrong_vocabulary(model_parts *m)
{
    static const char *const texts[] = {"", "\n", "'<pad>_'\n'<EOS>_'\n", "'\xff'\n", "'<pad>_'\n", "no quotes at all"};
    part *const p = parts_find(m, "vocabulary");
    const part before = *p;
    for (size_t i = 0; i < GANZ_COUNT(texts); i++) {
        p->data = (unsigned char *)(uintptr_t)texts[i];
        p->bytes = strlen(texts[i]);
        p->dims[0] = (int64_t)p->bytes;
        refuses(m, "a vocabulary", texts[i]);
    }
    *p = before;
    static const char one_more[] = "'the_cat_'\n";
    p->data = malloc(before.bytes + sizeof one_more);
    memcpy(p->data, before.data, before.bytes);
    memcpy(p->data + before.bytes, one_more, sizeof one_more - 1);
    p->bytes += sizeof one_more - 1;
    p->dims[0] = (int64_t)p->bytes;
    refuses(m, "a vocabulary", "with one entry more");
    free(p->data);
    *p = before;
    const unsigned char letter = p->data[3];
    p->data[3] = 0xFF;
    refuses(m, "a vocabulary", "that is not UTF-8");
    p->data[3] = letter;
}

/* A checkpoint has more tensors and metadata: that is no damage. */
static void more_is_fine(model_parts *m)
{
    parts_set(m, "steps", "100");
    part *const p = parts_add(m, "optimizer.embedding", "U8", 1, 2, (const int64_t[]){3, 5});
    translates(m);
    parts_drop(m, p);
    parts_set(m, "steps", NULL);
}

static void all_damages(int bits)
{
    model_parts m = sound(bits);
    files = 0;
    translates(&m);
    cut_short(&m);
    broken_header(&m);
    wrong_metadata(&m, bits > 0);
    other_widths(&m, bits > 0);
    wrong_tensors(&m);
    wrong_numbers(&m);
    if (bits > 0) wrong_codes(&m, bits);
    wrong_vocabulary(&m);
    more_is_fine(&m);
    translates(&m); /* all was put back */
    print_message("%d damaged files refused\n", files);
    assert_true(files > 100);
    parts_free(&m);
}

static void float_model(void **state)
{
    (void)state;
    all_damages(0);
}

static void integer_model(void **state)
{
    (void)state;
    all_damages(8);
}

static void six_bits(void **state)
{
    (void)state;
    all_damages(6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_model),
        cmocka_unit_test(integer_model),
        cmocka_unit_test(six_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
