/* What inspection says of a model: the products and their count, their scales, the proof that sums fit, and the counts
 * of an audit. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "ganz/inspect.h"
#include "folder.h"
#include "model/model.h"
#include "model_parts.h"
#include "tiny.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

typedef struct opened {
    model_parts parts;
    unsigned char *file;
    size_t bytes;
    ganz_model *model;
    ganz_model_facts facts;
} opened;

/* Layers as given, width 8 with 2 heads. `change` sees the parts before they are joined. */
static opened open_parts(int encoder, int decoder, int bits, void (*change)(model_parts *m))
{
    opened o = {.model = NULL};
    ganz_vocab *vocab = tiny_vocab();
    const ganz_config config = {.width = 8,
                                .ffn = 10,
                                .heads = 2,
                                .encoder_layers = encoder,
                                .decoder_layers = decoder,
                                .vocab = ganz_vocab_size(vocab),
                                .max_positions = 32};
    size_t bytes, header;
    char words[4096] = "";
    const char *const text = ganz_vocab_file(vocab, &bytes);
    memcpy(words, text, bytes);
    ganz_vocab_close(&vocab);
    parts_make(&o.parts, &config, bits, words);
    parts_fill(&o.parts, bits);
    parts_set(&o.parts, "source_language", "en");
    if (change) change(&o.parts);
    o.file = parts_join(&o.parts, &o.bytes, &header);
    ganz_error err;
    if (ganz_model_parse(&o.model, o.file, o.bytes, "it", &err) != GANZ_OK) fail_msg("%s", err.message);
    ganz_model_describe(o.model, &o.facts);
    return o;
}

static void close_parts(opened *o)
{
    ganz_model_close(&o->model);
    free(o->file);
    parts_free(&o->parts);
}

static float scale_in(const model_parts *m, const char *name, const char *ending)
{
    char whole[80];
    float scale;
    snprintf(whole, sizeof whole, "%s%s", name, ending);
    memcpy(&scale, parts_find(m, whole)->data, sizeof scale);
    return scale;
}

/* ---- products ----------------------------------------------------------------------------------- */

/* 97 dense products and 36 in attention for six and six layers; 6 and 2, or 10 and 4, a layer, and the logits. */
static void counts_of_layers(void **state)
{
    (void)state;
    const int layers[][2] = {{6, 6}, {1, 1}, {3, 2}, {1, 7}};
    for (size_t i = 0; i < GANZ_COUNT(layers); i++) {
        const int encoder = layers[i][0], decoder = layers[i][1];
        opened o = open_parts(encoder, decoder, i % 2 ? 0 : 8, NULL);
        int kinds[3] = {0};
        for (int p = 0; p < o.facts.products; p++) {
            ganz_product_facts f;
            ganz_model_product(o.model, p, &f);
            kinds[f.kind]++;
            assert_int_equal(f.integer, i % 2 == 0);
        }
        assert_int_equal(kinds[GANZ_PRODUCT_DENSE], 6 * encoder + 10 * decoder + 1);
        assert_int_equal(kinds[GANZ_PRODUCT_QK], encoder + 2 * decoder);
        assert_int_equal(kinds[GANZ_PRODUCT_UV], encoder + 2 * decoder);
        assert_int_equal(o.facts.integer_products, i % 2 ? 0 : o.facts.products);
        if (i == 0) assert_int_equal(o.facts.products, 133);
        close_parts(&o);
    }
}

/* Every product has a name of its own, and its scales are those in the file. */
static void scales_of_the_file(void **state)
{
    (void)state;
    opened o = open_parts(2, 1, 6, NULL);
    char names[64][40] = {{0}};
    for (int p = 0; p < o.facts.products; p++) {
        ganz_product_facts f;
        ganz_model_product(o.model, p, &f);
        for (int k = 0; k < p; k++) assert_string_not_equal(names[k], f.name);
        strcpy(names[p], f.name);
        assert_int_equal(f.right.bits, 6);
        assert_int_equal(f.right.most, 31);
        assert_int_equal(f.left.most, f.kind == GANZ_PRODUCT_UV ? 63 : 31);
        assert_true(f.worst == (long long)f.depth * f.left.most * f.right.most && f.worst < 1LL << 31);
        char pair[40];
        snprintf(pair, sizeof pair, "%.*s.pair", (int)strlen(f.name) - 3, f.name);
        const bool logits = strcmp(f.name, "logits") == 0;
        switch (f.kind) {
        case GANZ_PRODUCT_DENSE: {
            char weight[48];
            snprintf(weight, sizeof weight, "%s", logits ? "embedding" : f.name);
            if (!logits) strcat(weight, ".weight");
            const part *const w = parts_find(&o.parts, weight);
            assert_int_equal(f.out, w->dims[0]);
            assert_int_equal(f.depth, w->dims[1]);
            assert_true(f.left.scale == (double)scale_in(&o.parts, f.name, ".x.step"));
            assert_true(f.right.scale == (double)scale_in(&o.parts, weight, ".step"));
            break;
        }
        case GANZ_PRODUCT_QK:
            assert_int_equal(f.depth, 4);
            assert_true(f.left.scale == (double)scale_in(&o.parts, pair, ".q.step"));
            assert_true(f.right.scale == (double)scale_in(&o.parts, pair, ".k.step"));
            break;
        case GANZ_PRODUCT_UV:
            assert_int_equal(f.depth, strstr(f.name, "dec.0.self") ? 2 * 32 + 50 : 32);
            assert_true(f.left.scale == (double)scale_in(&o.parts, pair, ".u.step"));
            assert_true(f.right.scale == (double)scale_in(&o.parts, pair, ".v.step"));
        }
    }
    assert_string_equal(names[0], "enc.0.self.q");
    assert_string_equal(names[3], "enc.0.self.qk");
    assert_string_equal(names[o.facts.products - 1], "logits");
    close_parts(&o);
}

static void facts_of_the_model(void **state)
{
    (void)state;
    opened o = open_parts(2, 1, 8, NULL);
    assert_int_equal(o.facts.width, 8);
    assert_int_equal(o.facts.ffn, 10);
    assert_int_equal(o.facts.heads, 2);
    assert_int_equal(o.facts.encoder_layers, 2);
    assert_int_equal(o.facts.decoder_layers, 1);
    assert_int_equal(o.facts.vocabulary, 65);
    assert_int_equal(o.facts.longest_input, 32);
    assert_int_equal(o.facts.longest_output, 2 * 32 + 50);
    assert_int_equal(o.facts.bits, 8);
    assert_string_equal(o.facts.source_language, "en");
    assert_null(o.facts.target_language);
    long long parameters = 0; /* all numbers of the file that are neither scales nor the vocabulary */
    for (int i = 0; i < o.parts.count; i++) {
        const part *const p = &o.parts.list[i];
        if (strstr(p->name, ".step") || strcmp(p->dtype, "U8") == 0) continue;
        parameters += (long long)(strcmp(p->dtype, "F32") == 0 ? p->bytes / 4 : p->bytes);
    }
    assert_int_equal(o.facts.parameters, parameters);
    close_parts(&o);
}

/* ---- audits ------------------------------------------------------------------------------------- */

static const ganz_line lines[] = {
    {.text = "the cat sat on the mat", .bytes = 22}, {.text = ""}, {.text = "dog", .bytes = 3}};

static ganz_translator *audited(const opened *o, bool count)
{
    ganz_translator *translator;
    const ganz_result *results;
    OK(ganz_translator_open(&translator, o->model, NULL, NULL));
    if (count) OK(ganz_translator_enable_counters(translator, NULL));
    OK(ganz_translate(translator, lines, 3, &results, NULL));
    return translator;
}

/* All 133 in integers, none in float; the other way round for a float model. Sums stay below the worst case. */
static void integers_only(void **state)
{
    (void)state;
    for (int bits = 0; bits <= 8; bits += 8) {
        opened o = open_parts(6, 6, bits, NULL);
        ganz_translator *translator = audited(&o, true);
        int integers = 0, floats = 0;
        for (int p = 0; p < o.facts.products; p++) {
            ganz_product_facts f;
            ganz_product_counts c;
            ganz_model_product(o.model, p, &f);
            ganz_translator_get_counters(translator, p, &c);
            integers += c.integer_runs > 0 && c.float_runs == 0;
            floats += c.float_runs > 0 && c.integer_runs == 0;
            if (!bits) continue;
            assert_true(c.largest > 0 && c.largest <= f.worst);
            assert_true(c.codes > 0 && c.clipped >= 0 && c.clipped <= c.codes);
        }
        assert_int_equal(integers, bits ? 133 : 0);
        assert_int_equal(floats, bits ? 0 : 133);
        ganz_translator_close(&translator);
        close_parts(&o);
    }
}

/* Counting changes no translation; not counting counts nothing; counting again starts at 0. */
static void counting(void **state)
{
    (void)state;
    opened o = open_parts(1, 2, 8, NULL);
    ganz_translator *plain = audited(&o, false), *counted = audited(&o, true);
    const ganz_result *a, *b;
    OK(ganz_translate(plain, lines, 3, &a, NULL));
    OK(ganz_translate(counted, lines, 3, &b, NULL));
    for (int i = 0; i < 3; i++) {
        assert_string_equal(a[i].best[0].text, b[i].best[0].text);
        assert_memory_equal(&a[i].best[0].score, &b[i].best[0].score, sizeof a[i].best[0].score);
    }
    ganz_product_counts twice, once, none;
    ganz_translator_get_counters(counted, 0, &twice);
    OK(ganz_translator_enable_counters(counted, NULL));
    OK(ganz_translate(counted, lines, 3, &b, NULL));
    ganz_translator_get_counters(counted, 0, &once);
    ganz_translator_get_counters(plain, 0, &none);
    assert_int_equal(twice.integer_runs, 2 * once.integer_runs);
    assert_int_equal(twice.codes, 2 * once.codes);
    assert_int_equal(once.codes % 8, 0); /* rows of width 8 */
    assert_int_equal(none.integer_runs + none.codes, 0);
    ganz_translator_close(&plain);
    ganz_translator_close(&counted);
    close_parts(&o);
}

/* A scale far too small: everything but zero is clipped; far too large: nothing is, and all codes are 0. */
static void set_scales(model_parts *m, const char *ending, float scale)
{
    for (int i = 0; i < m->count; i++) {
        const char *const at = strstr(m->list[i].name, ending);
        if (at && strcmp(at, ending) == 0) memcpy(m->list[i].data, &scale, sizeof scale);
    }
}
static void small_scales(model_parts *m) { set_scales(m, ".x.step", 0x1p-40f); }
static void large_scales(model_parts *m) { set_scales(m, ".x.step", 0x1p40f); }

static void clipping(void **state)
{
    (void)state;
    opened small = open_parts(1, 1, 8, small_scales), large = open_parts(1, 1, 8, large_scales);
    ganz_translator *clipped = audited(&small, true), *zero = audited(&large, true);
    for (int p = 0; p < small.facts.products; p++) {
        ganz_product_facts f;
        ganz_product_counts c;
        ganz_model_product(small.model, p, &f);
        if (f.kind != GANZ_PRODUCT_DENSE) continue;
        ganz_translator_get_counters(clipped, p, &c);
        if (strstr(f.name, ".q") || strstr(f.name, "ffn.in")) /* after a norm: hardly a number is exactly 0 */
            assert_true(c.clipped > c.codes * 9 / 10);
        ganz_translator_get_counters(zero, p, &c);
        assert_int_equal(c.clipped, 0);
        assert_int_equal(c.largest, 0);
        assert_true(c.integer_runs > 0);
    }
    ganz_translator_close(&clipped);
    ganz_translator_close(&zero);
    close_parts(&small);
    close_parts(&large);
}

static void no_memory(void **state)
{
    (void)state;
    opened o = open_parts(1, 1, 8, NULL);
    ganz_translator *translator = audited(&o, false);
    ganz_product_counts counts;
    const ganz_result *results;
    for (long n = 1; n <= 2; n++) {
        ganz_alloc_fail_at(n);
        const ganz_status status = ganz_translator_enable_counters(translator, NULL);
        ganz_alloc_fail_at(0);
        assert_int_equal(status, GANZ_ENOMEM);
        OK(ganz_translate(translator, lines, 3, &results, NULL));
        ganz_translator_get_counters(translator, 0, &counts);
        assert_int_equal(counts.integer_runs, 0);
    }
    ganz_translator_close(&translator);
    close_parts(&o);
}

static void float_attention(model_parts *m) { parts_set(m, "attention", "float"); }

/* Dense products in integers, those of attention in float, and the audit says just that. */
static void dense_only(void **state)
{
    (void)state;
    opened o = open_parts(6, 6, 8, float_attention);
    ganz_translator *translator = audited(&o, true);
    assert_int_equal(o.facts.integer_products, 97);
    assert_int_equal(o.facts.attention_bits, 0);
    for (int p = 0; p < o.facts.products; p++) {
        ganz_product_facts f;
        ganz_product_counts c;
        ganz_model_product(o.model, p, &f);
        ganz_translator_get_counters(translator, p, &c);
        assert_int_equal(f.integer, f.kind == GANZ_PRODUCT_DENSE);
        assert_true(f.integer ? c.integer_runs > 0 && c.float_runs == 0 : c.integer_runs == 0 && c.float_runs > 0);
    }
    ganz_translator_close(&translator);
    close_parts(&o);
}

/* ---- checksums ---------------------------------------------------------------------------------- */

static void checksums(void **state)
{
    (void)state;
    int checked;
    ganz_error err;
    assert_true(write_tiny("m", 1));
    OK(ganz_model_verify("m", &checked, &err));
    assert_true(checked > 60);
    FILE *file = fopen("m", "r+b");
    fseek(file, -3000, SEEK_END); /* a bit of some weight */
    const int byte = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(byte ^ 1, file);
    fclose(file);
    assert_int_equal(ganz_model_verify("m", &checked, &err), GANZ_EFORMAT);
    assert_non_null(strstr(err.message, "checksum"));
    opened o = open_parts(1, 1, 8, NULL); /* made by hand: without checksums */
    file = fopen("n", "wb");
    assert_int_equal(fwrite(o.file, 1, o.bytes, file), o.bytes);
    fclose(file);
    OK(ganz_model_verify("n", &checked, &err));
    assert_int_equal(checked, 0);
    close_parts(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_layers), cmocka_unit_test(scales_of_the_file), cmocka_unit_test(facts_of_the_model),
        cmocka_unit_test(integers_only),    cmocka_unit_test(counting),           cmocka_unit_test(clipping),
        cmocka_unit_test(no_memory),        cmocka_unit_test(dense_only),         IN_FOLDER(checksums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
