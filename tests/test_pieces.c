/* Pieces of SentencePiece models: ids and texts of the sentencepiece library (tests/golden/make_pieces.py), lists with
 * numbers of their own, labels, places, hostile files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "folder.h"
#include "tiny.h"

#include "base/io.h"
#include "ganz/io.h"
#include "text/pieces.h"
#include "text/spm.h"

static const char *const models[] = {"unigram", "marian", "bpe", "char", "bare", "suffix"};

static const char *golden(const char *name, const char *suffix)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/golden/pieces/%s.%s", GANZ_TESTS_DIR, name, suffix);
    return path;
}

static ganz_contents read_golden(const char *name)
{
    ganz_contents contents;
    assert_int_equal(ganz_contents_read(&contents, golden(name, "spm"), NULL), GANZ_OK);
    return contents;
}

static ganz_lines *open_lines(const char *name, const char *suffix)
{
    ganz_lines *lines;
    assert_int_equal(ganz_lines_open(&lines, golden(name, suffix), NULL), GANZ_OK);
    return lines;
}

static bool next_line(ganz_lines *lines, const char **text, size_t *bytes)
{
    assert_int_equal(ganz_lines_next(lines, text, bytes, NULL), GANZ_OK);
    return *text != NULL;
}

/* ---- the sentencepiece library ------------------------------------------------------------------ */

/* The numbers of a vocabulary that is a model alone: padding, end mark, the others in their order. */
static int32_t number_of(const ganz_spm *spm, int32_t piece)
{
    int32_t number = 2;
    if (piece == spm->end) return GANZ_EOS;
    for (int32_t i = 0; i < piece; i++) {
        const ganz_spm_piece *const p = &spm->pieces[i];
        const bool pad = p->role == GANZ_SPM_CONTROL && p->bytes == 5 && memcmp(p->text, "<pad>", 5) == 0;
        number += i != spm->end && !pad;
    }
    return number;
}

static void expect_ids(const ganz_spm *spm, const char *expected, const ganz_ids *found)
{
    size_t i = 0;
    for (char *at = (char *)(uintptr_t)expected; *at && *at != '\n'; i++) {
        const int32_t piece = (int32_t)strtol(at, &at, 10);
        assert_true(i < found->count);
        assert_int_equal(found->ids[i], number_of(spm, piece));
        while (*at == ' ') at++;
    }
    assert_int_equal(i, found->count);
}

static void trim(const char **text, size_t *bytes)
{
    while (*bytes > 0 && (*text)[0] == ' ') ++*text, --*bytes;
    while (*bytes > 0 && (*text)[*bytes - 1] == ' ') --*bytes;
}

static void expect_text(const char *expected, size_t bytes, const ganz_text *found)
{
    const char *text = found->text;
    size_t length = found->bytes;
    trim(&expected, &bytes);
    trim(&text, &length);
    assert_int_equal(length, bytes);
    if (bytes > 0) assert_memory_equal(text, expected, bytes);
}

static int compare_lines(const ganz_vocab *v, const ganz_spm *spm, const char *name)
{
    ganz_lines *lines = open_lines("lines", "txt"), *all_ids = open_lines(name, "ids");
    ganz_lines *texts = open_lines(name, "txt");
    ganz_ids ids = {0};
    ganz_text back = {0};
    const char *line, *expected;
    size_t bytes, expected_bytes;
    int count = 0;
    for (; next_line(lines, &line, &bytes); count++) {
        char copy[4096];
        ids.count = back.bytes = 0;
        assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, line, bytes, &ids, NULL), GANZ_OK);
        assert_true(next_line(all_ids, &expected, &expected_bytes) && expected_bytes < sizeof copy);
        memcpy(copy, expected, expected_bytes);
        copy[expected_bytes] = '\0';
        expect_ids(spm, copy, &ids);
        assert_int_equal(ganz_vocab_decode(v, GANZ_TARGET, ids.ids, ids.count, &back, NULL), GANZ_OK);
        assert_true(next_line(texts, &expected, &expected_bytes));
        expect_text(expected, expected_bytes, &back);
    }
    ganz_ids_free(&ids);
    ganz_text_free(&back);
    ganz_lines_close(&lines);
    ganz_lines_close(&all_ids);
    ganz_lines_close(&texts);
    return count;
}

static void lines_have_the_librarys_ids(void **state)
{
    (void)state;
    for (size_t i = 0; i < GANZ_COUNT(models); i++) {
        ganz_vocab *v;
        ganz_spm *spm;
        ganz_contents contents = read_golden(models[i]);
        assert_int_equal(ganz_vocab_open(&v, golden(models[i], "spm"), NULL), GANZ_OK);
        assert_int_equal(ganz_spm_open(&spm, contents.data, contents.bytes, "golden", NULL), GANZ_OK);
        assert_string_equal(ganz_vocab_kind_name(v), "pieces");
        assert_true(compare_lines(v, spm, models[i]) > 100);
        ganz_spm_close(&spm);
        ganz_vocab_close(&v);
        ganz_contents_free(&contents);
    }
}

/* ---- lists -------------------------------------------------------------------------------------- */

enum { LISTED = 300 };

/* Pieces of a model from the last to the first, every tenth left out, between entries that no model has. */
typedef struct reversed_list {
    char texts[LISTED][64];
    const char *pointers[LISTED];
    int count, unknown;
} reversed_list;

static void add(reversed_list *r, const char *text, size_t bytes)
{
    assert_true(r->count < LISTED && bytes < sizeof r->texts[0]);
    memcpy(r->texts[r->count], text, bytes);
    r->texts[r->count][bytes] = '\0';
    r->pointers[r->count] = r->texts[r->count];
    r->count++;
}

static void reverse_pieces(reversed_list *r, const ganz_spm *spm)
{
    static const char *const first[] = {"dummy", "EOS", ">>deu<<", ">>fr_FR<<", "\xE4\xB8\xAD\xE6\x96\x87\xE5\xAD\x97"};
    *r = (reversed_list){0};
    for (size_t i = 0; i < GANZ_COUNT(first); i++) add(r, first[i], strlen(first[i]));
    for (size_t i = spm->count; i > 0; i--) {
        const ganz_spm_piece *const p = &spm->pieces[i - 1];
        if (p->role == GANZ_SPM_NORMAL && i % 10 != 0) add(r, p->text, p->bytes);
    }
    r->unknown = r->count;
    add(r, "UNK", 3);
}

static int32_t id_in(const reversed_list *r, const ganz_spm_piece *p)
{
    for (int i = 0; i < r->count; i++)
        if (strlen(r->texts[i]) == p->bytes && memcmp(r->texts[i], p->text, p->bytes) == 0) return i;
    return r->unknown;
}

static ganz_vocab *open_reversed(reversed_list *r, ganz_contents *contents)
{
    ganz_vocab *v;
    ganz_spm *spm;
    ganz_error err;
    *contents = read_golden("unigram");
    assert_int_equal(ganz_spm_open(&spm, contents->data, contents->bytes, "golden", NULL), GANZ_OK);
    reverse_pieces(r, spm);
    ganz_spm_close(&spm);
    const ganz_pieces_from from = {
        .spm = {contents->data}, .spm_bytes = {contents->bytes}, .list = {{0}, {r->pointers, r->count, r->unknown}}};
    assert_int_equal(ganz_pieces_open(&v, &from, "list", &err), GANZ_OK);
    return v;
}

/* Golden ids, renumbered by the list. */
static void a_list_numbers_pieces(void **state)
{
    (void)state;
    reversed_list r;
    ganz_contents contents;
    ganz_vocab *v = open_reversed(&r, &contents);
    ganz_spm *spm;
    ganz_ids ids = {0};
    const char *line, *expected;
    size_t bytes, expected_bytes, unknown = 0;
    assert_int_equal(ganz_spm_open(&spm, contents.data, contents.bytes, "golden", NULL), GANZ_OK);
    assert_int_equal(ganz_vocab_size(v), r.count);
    ganz_lines *lines = open_lines("lines", "txt"), *all_ids = open_lines("unigram", "ids");
    while (next_line(lines, &line, &bytes) && next_line(all_ids, &expected, &expected_bytes)) {
        char copy[4096], *at = copy;
        memcpy(copy, expected, expected_bytes);
        copy[expected_bytes] = '\0';
        ids.count = 0;
        assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, line, bytes, &ids, NULL), GANZ_OK);
        for (size_t i = 0; i < ids.count; i++) {
            const int32_t piece = (int32_t)strtol(at, &at, 10), wanted = id_in(&r, &spm->pieces[piece]);
            const bool whole = piece == spm->unknown && ids.ids[i] == 4; /* three unknown characters that are listed */
            unknown += wanted == r.unknown;
            assert_true(whole || ids.ids[i] == wanted);
        }
        assert_true(*at == '\0');
    }
    assert_true(unknown > 20);
    ids.count = 0;
    static const char listed[] = "\xE4\xB8\xAD\xE6\x96\x87\xE5\xAD\x97";
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, listed, 9, &ids, NULL), GANZ_OK);
    assert_int_equal(ids.ids[ids.count - 1], 4);
    ganz_ids_free(&ids);
    ganz_lines_close(&lines);
    ganz_lines_close(&all_ids);
    ganz_spm_close(&spm);
    ganz_vocab_close(&v);
    ganz_contents_free(&contents);
}

static void labels_are_one_id_in_front(void **state)
{
    (void)state;
    reversed_list r;
    ganz_contents contents;
    ganz_vocab *v = open_reversed(&r, &contents);
    ganz_ids with = {0}, without = {0};
    assert_string_equal(ganz_vocab_label(v, 0), "deu");
    assert_string_equal(ganz_vocab_label(v, 1), "fr_FR");
    assert_null(ganz_vocab_label(v, 2));
    assert_null(ganz_vocab_label(v, -1));
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, ">>fr_FR<< the train", 19, &with, NULL), GANZ_OK);
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, "the train", 9, &without, NULL), GANZ_OK);
    assert_int_equal(with.count, without.count + 1);
    assert_int_equal(with.ids[0], 3);
    assert_memory_equal(with.ids + 1, without.ids, without.count * sizeof *with.ids);
    with.count = 0; /* no label of this model: text */
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, ">>xxx<< the train", 17, &with, NULL), GANZ_OK);
    assert_true(with.count > without.count + 1);
    ganz_ids_free(&with);
    ganz_ids_free(&without);
    ganz_vocab_close(&v);
    ganz_contents_free(&contents);
}

/* What a model file does: parts are kept under their names and read again. */
static int find_part(const ganz_vocab *v, const char *name, ganz_vocab_part *found)
{
    ganz_vocab_part parts[GANZ_VOCAB_PARTS];
    for (int i = v->kind->parts(v, parts); i > 0; i--)
        if (strcmp(parts[i - 1].name, name) == 0) return *found = parts[i - 1], 1;
    return 0;
}

static bool has_part(void *context, const char *part)
{
    ganz_vocab_part found;
    return find_part(context, part, &found);
}

static ganz_status get_part(void *context, const char *part, const char **data, size_t *bytes, ganz_error *err)
{
    ganz_vocab_part found;
    if (!find_part(context, part, &found)) return ganz_fail(err, GANZ_EFORMAT, "no %s", part);
    *data = found.data;
    *bytes = found.bytes;
    return GANZ_OK;
}

/* Two models, two lists: each side goes by its own. */
static void sides_are_kept(void **state)
{
    (void)state;
    static const char *const target[] = {"pad", "eos", "unk", "\xE2\x96\x81", "l", "o", "w", "ow"};
    reversed_list r;
    ganz_contents contents, other = read_golden("bpe");
    ganz_vocab *shared = open_reversed(&r, &contents), *v, *again;
    const ganz_pieces_from from = {.spm = {contents.data, other.data},
                                   .spm_bytes = {contents.bytes, other.bytes},
                                   .list = {{r.pointers, r.count, r.unknown}, {target, 8, 2}}};
    assert_int_equal(ganz_pieces_open(&v, &from, "two", NULL), GANZ_OK);
    const ganz_vocab_store store = {"again", has_part, get_part, v};
    assert_ptr_equal(ganz_vocab_find_kind("pieces"), v->kind);
    assert_int_equal(v->kind->load(&again, &store, NULL), GANZ_OK);
    assert_true(ganz_vocab_equal(v, again) && !ganz_vocab_equal(v, shared));
    assert_int_equal(ganz_vocab_side_size(again, GANZ_SOURCE), r.count);
    assert_int_equal(ganz_vocab_size(again), 8);
    ganz_ids ids = {0};
    ganz_text text = {0};
    assert_int_equal(ganz_vocab_encode_sentence(again, GANZ_TARGET, " low lowed", 10, &ids, NULL), GANZ_OK);
    assert_int_equal(ids.ids[ids.count - 1], GANZ_EOS);
    assert_int_equal(
        ganz_vocab_decode(again, GANZ_TARGET, (const int32_t[]){3, 4, 7, 3, 2, 7, 0, 99, -1}, 9, &text, NULL), GANZ_OK);
    assert_int_equal(text.bytes, 6);
    assert_memory_equal(text.text, "low ow", 6);
    ganz_ids_free(&ids);
    ganz_text_free(&text);
    ganz_vocab_close(&v);
    ganz_vocab_close(&again);
    ganz_vocab_close(&shared);
    ganz_contents_free(&contents);
    ganz_contents_free(&other);
}

static void words_need_no_model(void **state)
{
    (void)state;
    static const char *const list[] = {"<blank>", "</s>", "<unk>", "low@@", "er", "\xC3\xA4"};
    const ganz_pieces_from from = {.list = {{0}, {list, 6, 2}}};
    ganz_vocab *v;
    ganz_ids ids = {0};
    ganz_text text = {0};
    assert_int_equal(ganz_pieces_open(&v, &from, "words", NULL), GANZ_OK);
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, "low@@ er\t \xC3\xA4 x </s> ", 19, &ids, NULL), GANZ_OK);
    static const int32_t expected[] = {3, 4, 5, 2, 2};
    assert_int_equal(ids.count, 5);
    assert_memory_equal(ids.ids, expected, sizeof expected);
    assert_int_equal(ganz_vocab_decode(v, GANZ_TARGET, ids.ids, 3, &text, NULL), GANZ_OK);
    assert_int_equal(text.bytes, 11);
    assert_memory_equal(text.text, "low@@ er \xC3\xA4", 11);
    ganz_ids_free(&ids);
    ganz_text_free(&text);
    ganz_vocab_close(&v);
}

/* ---- places ------------------------------------------------------------------------------------- */

static void expect_places(const ganz_vocab *v, const char *text, const size_t *tokens, size_t count)
{
    ganz_ids ids = {0};
    ganz_places places = {0};
    const ganz_passage passage = {text, strlen(text), GANZ_SOURCE};
    assert_int_equal(ganz_vocab_find_tokens(v, &passage, &ids, &places, NULL), GANZ_OK);
    assert_int_equal(places.count + 1, ids.count);
    size_t seen = 0;
    for (size_t i = 0; i < places.count; i++) {
        if (i > 0 && places.begin[i] == places.begin[i - 1]) continue;
        assert_true(seen < count);
        assert_int_equal(places.begin[i], tokens[seen++]);
    }
    assert_int_equal(seen, count);
    ganz_ids_free(&ids);
    ganz_places_free(&places);
}

static void places_are_those_of_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        ganz_vocab *v;
        assert_int_equal(ganz_vocab_open(&v, golden(models[i], "spm"), NULL), GANZ_OK);
        expect_places(v, "lower  lowest, newest.", (const size_t[]){0, 7, 13, 15, 21}, 5);
        expect_places(v, " A\xCC\x88hnlich \xEF\xAC\x81n", (const size_t[]){1, 11}, 2); /* replaced by the map */
        ganz_ids ids = {0};
        ganz_text text = {0};
        size_t begin[64];
        assert_int_equal(ganz_vocab_encode(v, GANZ_TARGET, "lower lowest, x", 15, &ids, NULL), GANZ_OK);
        const ganz_id_span span = {ids.ids, ids.count, GANZ_TARGET};
        assert_int_equal(ganz_vocab_decode_places(v, &span, &text, begin, NULL), GANZ_OK);
        assert_int_equal(begin[0], 0);
        for (size_t k = 1; k < ids.count; k++)
            assert_true(begin[k] == begin[k - 1] || begin[k] == 6 || begin[k] == 12 || begin[k] == 14);
        assert_true(begin[ids.count - 1] >= 12);
        ganz_ids_free(&ids);
        ganz_text_free(&text);
        ganz_vocab_close(&v);
    }
}

/* ---- models ------------------------------------------------------------------------------------- */

#define OK(call) assert_int_equal((call), GANZ_OK)

/* A random model of words with labels, which asks for a search of its own and bans padding. */
static void write_labelled(const char *path)
{
    static const char *const list[] = {"<blank>", "</s>", "<unk>", ">>deu<<", ">>fra<<",
                                       "low",     "er",   "new",   "est",     "a"};
    const ganz_pieces_from from = {.list = {{0}, {list, 10, 2}}};
    ganz_vocab *vocab;
    ganz_net net;
    OK(ganz_pieces_open(&vocab, &from, "words", NULL));
    ganz_model_info info = tiny_info(vocab);
    info.config.logits_bias = true;
    info.search = (ganz_model_search){.beam = 2, .has_alpha = true, .alpha = 1, .by_length = true};
    OK(ganz_net_open(&net, &info.config, NULL));
    real *const block = calloc(net.params.block, sizeof *block);
    ganz_params_init(&net.params, 3, block);
    tiny_sharpen(&net, block);
    for (int i = 0; i < net.params.count; i++)
        if (strcmp(net.params.list[i].name, "logits.bias") == 0) block[net.params.list[i].offset] = -INFINITY;
    OK(ganz_model_save(path, &info, &net, vocab, block, NULL));
    free(block);
    ganz_net_close(&net);
    ganz_vocab_close(&vocab);
}

static double translate(const ganz_model *m, const char *label, const char *text, char out[256])
{
    ganz_translator_options o;
    ganz_translator *t;
    const ganz_result *r;
    ganz_translator_defaults(&o);
    o.label = label;
    o.alignment = true;
    OK(ganz_translator_open(&t, m, &o, NULL));
    OK(ganz_translate(t, &(ganz_line){.text = text, .bytes = strlen(text)}, 1, &r, NULL));
    snprintf(out, 256, "%s", r[0].best[0].text);
    const double score = r[0].best[0].score;
    ganz_translator_close(&t);
    return score;
}

static void models_have_labels_and_a_search(void **state)
{
    (void)state;
    char out[3][256];
    ganz_model *m;
    ganz_vocab *vocab;
    ganz_translator *t;
    ganz_error err;

    write_labelled("m");
    OK(ganz_model_open(&m, "m", &err));
    assert_true(m->info.search.beam == 2 && m->info.search.alpha == 1 && m->info.search.by_length);
    OK(ganz_vocab_open_any(&vocab, "m", NULL));
    assert_true(ganz_vocab_equal(vocab, m->vocab));
    const double asked = translate(m, "fra", "low er a", out[0]);
    const double written = translate(m, NULL, ">>fra<< low er a", out[1]);
    const double without = translate(m, NULL, "low er a", out[2]);
    assert_true(asked == written && asked != without);
    assert_string_equal(out[0], out[1]);
    assert_null(strstr(out[0], "<blank>"));
    ganz_translator_options o;
    ganz_translator_defaults(&o);
    o.label = "ita";
    assert_int_equal(ganz_translator_open(&t, m, &o, &err), GANZ_EINVAL);
    assert_non_null(strstr(err.message, "no label ita"));
    ganz_vocab_close(&vocab);
    ganz_model_close(&m);
}

/* One character that is written out has 33 tokens: where 15 fit it is copied, alone as well as in a sentence, and
 * the word behind it is one piece. */
static void characters_of_many_tokens_are_copied(void **state)
{
    (void)state;
    static const char *const texts[] = {"\xEF\xB7\xBA", "a \xEF\xB7\xBA\xEF\xB7\xBA train", "train",
                                        "\xEF\xB7\xBA train"};
    static const int times[] = {1, 2, 0, 1};
    ganz_model *m;
    ganz_vocab *vocab;
    ganz_ids ids = {0};
    char train[256] = "", expected[300];
    OK(ganz_vocab_open(&vocab, golden("fallback", "spm"), NULL));
    OK(ganz_vocab_encode(vocab, GANZ_SOURCE, texts[0], 3, &ids, NULL));
    assert_true(ids.count > 30);
    ganz_ids_free(&ids);
    const ganz_model_info info = tiny_info(vocab);
    assert_true(save_tiny("m", 3, &info, vocab));
    OK(ganz_model_open(&m, "m", NULL));
    ganz_translator_options o;
    ganz_translator_defaults(&o);
    o.max_input = 16;
    for (size_t i = 0; i < GANZ_COUNT(texts); i++) {
        ganz_translator *t;
        const ganz_result *r;
        int copied = 0;
        OK(ganz_translator_open(&t, m, &o, NULL));
        OK(ganz_translate(t, &(ganz_line){.text = texts[i], .bytes = strlen(texts[i])}, 1, &r, NULL));
        for (const char *at = r[0].best[0].text; (at = strstr(at, texts[0])); at++) copied++;
        assert_int_equal(times[i], copied);
        if (i == 2) snprintf(train, sizeof train, "%s", r[0].best[0].text);
        snprintf(expected, sizeof expected, "%s %s", texts[0], train);
        if (i == 3) assert_string_equal(expected, r[0].best[0].text);
        ganz_translator_close(&t);
    }
    ganz_model_close(&m);
    ganz_vocab_close(&vocab);
}

/* ---- hostile ------------------------------------------------------------------------------------ */

static void expect_refused(const char *const *list, int count, int unknown, const char *why)
{
    const ganz_pieces_from from = {.list = {{0}, {list, count, unknown}}};
    ganz_vocab *v;
    ganz_error err = {0};
    assert_int_not_equal(ganz_pieces_open(&v, &from, "list", &err), GANZ_OK);
    assert_null(v);
    assert_non_null(strstr(err.message, why));
}

static void wrong_lists_are_refused(void **state)
{
    (void)state;
    expect_refused((const char *const[]){"p", "e", "u", "a", "b", "a"}, 6, 2, "pieces 3 and 5 are the same");
    expect_refused((const char *const[]){"p", "e", "u", ""}, 4, 2, "piece 3 is empty");
    expect_refused((const char *const[]){"p", "e", "u", "\xFF"}, 4, 2, "not UTF-8");
    expect_refused((const char *const[]){"p", "e", "u", "a"}, 4, 1, "no id for unknown");
    expect_refused((const char *const[]){"p", "e", "u", "a"}, 4, 4, "no id for unknown");
    expect_refused((const char *const[]){"p", "e", "u", "</s>"}, 4, 2, "the same");
}

/* Every prefix of a model is refused, or is a smaller model; so is every file with one bit turned. */
static void damaged_models_are_safe(void **state)
{
    (void)state;
    ganz_contents contents = read_golden("marian");
    unsigned char *const copy = malloc(contents.bytes);
    assert_non_null(copy);
    int refused = 0;
    for (size_t i = 0; i < 2 * contents.bytes; i += 7) {
        memcpy(copy, contents.data, contents.bytes);
        const size_t bytes = i < contents.bytes ? i : contents.bytes;
        if (i >= contents.bytes) copy[i - contents.bytes] ^= (unsigned char)(1u << (i % 8));
        ganz_vocab *v;
        ganz_error err = {0};
        ganz_ids ids = {0};
        if (ganz_pieces_open_spm(&v, copy, bytes, "damaged", &err) != GANZ_OK) {
            refused++;
            assert_true(!v && err.message[0]);
            continue;
        }
        assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, "the lowest <sep> \xE4\xB8\xAD", 20, &ids, NULL), GANZ_OK);
        for (size_t k = 0; k < ids.count; k++) assert_in_range(ids.ids[k], 0, ganz_vocab_size(v) - 1);
        ganz_ids_free(&ids);
        ganz_vocab_close(&v);
    }
    assert_true(refused > 500);
    free(copy);
    ganz_contents_free(&contents);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    ganz_contents contents = read_golden("bpe");
    ganz_status status = GANZ_ENOMEM;
    for (long n = 1; status != GANZ_OK; n++) {
        ganz_vocab *v = NULL;
        ganz_ids ids = {0};
        ganz_text out = {0};
        ganz_error err = {0};
        ganz_alloc_fail_at(n);
        status = ganz_pieces_open_spm(&v, contents.data, contents.bytes, "small", &err);
        if (status == GANZ_OK) status = ganz_vocab_encode(v, GANZ_SOURCE, "low <sep> newest", 16, &ids, &err);
        if (status == GANZ_OK) status = ganz_vocab_decode(v, GANZ_TARGET, ids.ids, ids.count, &out, &err);
        ganz_alloc_fail_at(0);
        assert_true(status == GANZ_OK || (status == GANZ_ENOMEM && strstr(err.message, "out of memory")));
        if (status == GANZ_OK) assert_true(n > 8);
        ganz_vocab_close(&v);
        ganz_ids_free(&ids);
        ganz_text_free(&out);
    }
    ganz_contents_free(&contents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_the_librarys_ids),
        cmocka_unit_test(a_list_numbers_pieces),
        cmocka_unit_test(labels_are_one_id_in_front),
        cmocka_unit_test(sides_are_kept),
        cmocka_unit_test(words_need_no_model),
        cmocka_unit_test(places_are_those_of_tokens),
        cmocka_unit_test(wrong_lists_are_refused),
        cmocka_unit_test(damaged_models_are_safe),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test_setup_teardown(models_have_labels_and_a_search, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(characters_of_many_tokens_are_copied, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
