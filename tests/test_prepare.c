/* Parallel text to a corpus: what is kept, what is dropped and why, and the same bytes for any thread count. */
#include "test.h"

#include "base/io.h"
#include "folder.h"
#include "ganz/corpus.h"
#include "text/unicode.h"
#include "train/corpus.h"
#include "train/validate.h"

#define OK(call) assert_int_equal((call), GANZ_OK)
#define EN GANZ_TESTS_DIR "/data/tatoeba.en"
#define DE GANZ_TESTS_DIR "/data/tatoeba.de"

static ganz_vocab *open_vocab(void)
{
    ganz_vocab *v;
    ganz_error err;
    OK(ganz_vocab_open(&v, GANZ_TESTS_DIR "/golden/text/tatoeba.vocab", &err));
    return v;
}

static void write_file(const char *path, const char *text, size_t bytes)
{
    FILE *const f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}

/* Two files of lines, each pair written "source|target". */
static void write_pairs(const char *const *pairs, size_t count)
{
    FILE *const source = fopen("s", "wb"), *const target = fopen("t", "wb");
    for (size_t i = 0; i < count; i++) {
        const char *const bar = strchr(pairs[i], '|');
        fprintf(source, "%.*s\n", (int)(bar - pairs[i]), pairs[i]);
        fprintf(target, "%s\n", bar + 1);
    }
    fclose(source);
    fclose(target);
}

static ganz_status prepare(const ganz_prepare_options *o, ganz_prepare_counts *counts, ganz_error *err)
{
    const ganz_corpus_input input = {.source = "s", .target = "t", .weight = 1};
    ganz_vocab *v = open_vocab();
    const ganz_status status = ganz_corpus_prepare("out", v, &input, 1, o, counts, err);
    ganz_vocab_close(&v);
    return status;
}

static void expect_side(const ganz_vocab *v, const char *line, size_t bytes, const int32_t *ids, uint32_t count)
{
    ganz_ids expected = {0};
    const char *const text = ganz_strip(line, &bytes);
    OK(ganz_vocab_encode(v, GANZ_SOURCE, text, bytes, &expected, NULL));
    assert_int_equal(expected.count + 1, count);
    assert_memory_equal(ids, expected.ids, expected.count * sizeof *ids);
    assert_int_equal(ids[count - 1], GANZ_EOS);
    ganz_ids_free(&expected);
}

/* Validation reads a line as training and translation do, whatever white space is around it. */
static void validation_reads_lines_alike(void **state)
{
    (void)state;
    static const char source[] = " Tom likes Mary. \t\r\nTom.\n", target[] = "\xC2\xA0Tom mag Maria.  \n\tTom. \n";
    write_file("s", source, sizeof source - 1);
    write_file("t", target, sizeof target - 1);
    ganz_vocab *v = open_vocab();
    ganz_valid valid;
    ganz_error err;
    OK(ganz_valid_open(&valid, "s", "t", v, 100, 200, &err));
    static const char *const lines[2][2] = {{"Tom.", "Tom."}, {"Tom likes Mary.", "Tom mag Maria."}}; /* by length */
    for (int i = 0; i < 2; i++) {
        const ganz_valid_pair *const p = &valid.pairs[i];
        expect_side(v, lines[i][0], strlen(lines[i][0]), valid.sources.ids + p->source, (uint32_t)p->source_count);
        expect_side(v, lines[i][1], strlen(lines[i][1]), valid.targets.ids + p->target, (uint32_t)p->target_count);
    }
    ganz_valid_close(&valid);
    ganz_vocab_close(&v);
}

/* The line that is refused is named, in words and as a number. */
static void validation_names_bad_lines(void **state)
{
    (void)state;
    write_file("s", "Tom.\nb\xFFg\n", 10);
    write_file("t", "Tom.\nbad\n", 9);
    ganz_vocab *v = open_vocab();
    ganz_valid valid;
    ganz_error err = {0};
    assert_int_equal(ganz_valid_open(&valid, "s", "t", v, 100, 200, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "s:2: not UTF-8");
    assert_int_equal(err.line, 2);
    ganz_vocab_close(&v);
}

static void all_lines_become_ids(void **state)
{
    (void)state;
    ganz_vocab *v = open_vocab();
    const ganz_corpus_input inputs[] = {{.source = EN, .target = DE, .weight = 2.5},
                                        {.source = DE, .target = EN, .weight = 1}};
    ganz_prepare_options o;
    ganz_prepare_counts counts[2];
    ganz_error err;
    ganz_corpus *c;
    ganz_prepare_defaults(&o);
    OK(ganz_corpus_prepare("out", v, inputs, 2, &o, counts, &err));
    OK(ganz_corpus_open(&c, "out", &err));
    OK(ganz_corpus_fits(c, v, &err));
    assert_int_equal(counts[0].read, 1000);
    assert_int_equal(counts[0].kept, 1000);
    assert_int_equal(c->pairs, 2000);
    assert_int_equal(c->source_tokens, counts[0].source_tokens + counts[1].source_tokens);
    assert_int_equal(counts[0].source_tokens, counts[1].target_tokens);
    assert_int_equal(c->groups, 2);
    assert_int_equal(c->group_begin[1], 1000);
    assert_true(c->group_weight[0] == 2.5);
    for (uint32_t half = 0; half < 2; half++) {
        ganz_lines *source, *target;
        OK(ganz_lines_open(&source, inputs[half].source, &err));
        OK(ganz_lines_open(&target, inputs[half].target, &err));
        for (uint32_t i = 1000 * half; i < 1000 * (half + 1); i++) {
            int32_t ids[2][1000];
            const char *line;
            size_t bytes;
            OK(ganz_corpus_ids(c, i, ids[0], ids[1], &err));
            OK(ganz_lines_next(source, &line, &bytes, &err));
            expect_side(v, line, bytes, ids[0], ganz_corpus_source(c, i));
            OK(ganz_lines_next(target, &line, &bytes, &err));
            expect_side(v, line, bytes, ids[1], ganz_corpus_target(c, i));
        }
        ganz_lines_close(&source);
        ganz_lines_close(&target);
    }
    ganz_corpus_close(&c);
    ganz_vocab_close(&v);
}

static void each_reason_is_counted(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "Tom|Tom ist da.",                          /* kept */
        "  Tom \xC2\xA0|\xE3\x80\x80Tom ist da.\t", /* the same when stripped: duplicate */
        "Tom| ",                                    /* empty */
        "\x1F|Tom",                                 /* empty: Python strips it too */
        "|",                                        /* empty */
        "Mary|Mary",                                /* identical */
        " Mary|Mary ",                              /* identical */
        "Tom\xFF|Tom ist da.",                      /* invalid */
        "Tom|Tom ist \xC3",                         /* invalid */
        "Tom|Mary",                                 /* kept */
        "Tom|1 2 3 4 5 6 7 8",                      /* ratio over 3, not too long */
        "Tom|Tom ist da. 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0", /* too long */
        "Mary|Tom ist da.",                                                            /* kept */
    };
    ganz_prepare_options o;
    ganz_prepare_counts n;
    ganz_error err;
    ganz_corpus *c;
    write_pairs(pairs, GANZ_COUNT(pairs));
    ganz_prepare_defaults(&o);
    o.dedupe = o.drop_identical = true;
    o.max_ratio = 3;
    o.max_length = 25;
    o.invalid = GANZ_INVALID_DROP;
    OK(prepare(&o, &n, &err));
    assert_int_equal(n.read, 13);
    assert_int_equal(n.kept, 3);
    assert_int_equal(n.duplicate, 1);
    assert_int_equal(n.empty, 3);
    assert_int_equal(n.identical, 2);
    assert_int_equal(n.invalid, 2);
    assert_int_equal(n.ratio, 1);
    assert_int_equal(n.too_long, 1);
    assert_int_equal(n.too_short + n.repaired, 0);
    OK(ganz_corpus_open(&c, "out", &err));
    assert_int_equal(c->pairs, 3);
    ganz_corpus_close(&c);

    o.invalid = GANZ_INVALID_REPLACE; /* the two repaired ones are new texts */
    o.max_ratio = o.max_length = 0;
    OK(prepare(&o, &n, &err));
    assert_int_equal(n.kept, 7);
    assert_int_equal(n.repaired, 2);
    assert_int_equal(n.invalid, 0);
    ganz_prepare_defaults(&o); /* nothing but empty sides */
    o.invalid = GANZ_INVALID_REPLACE;
    OK(prepare(&o, &n, &err));
    assert_int_equal(n.kept, 10);
    assert_int_equal(n.empty, 3);
    o.min_length = 3; /* one token and the end mark are 2 */
    OK(prepare(&o, &n, &err));
    assert_int_equal(n.kept + n.too_short, 10);
    assert_true(n.too_short >= 4);
}

/* Pairs on both sides of the limits: exactly at them is kept. */
static void limits_are_exact(void **state)
{
    (void)state;
    ganz_vocab *v = open_vocab();
    ganz_ids ids = {0};
    OK(ganz_vocab_encode(v, GANZ_SOURCE, "Tom Mary", 8, &ids, NULL));
    const int shorter = (int)ids.count + 1;
    ids.count = 0;
    OK(ganz_vocab_encode(v, GANZ_SOURCE, "Tom Mary Tom Mary Tom", 21, &ids, NULL));
    const int longer = (int)ids.count + 1;
    ganz_ids_free(&ids);
    ganz_vocab_close(&v);
    assert_true(longer > shorter);
    static const char *const pairs[] = {"Tom Mary|Tom Mary Tom Mary Tom"};
    write_pairs(pairs, 1);
    ganz_prepare_options o;
    ganz_prepare_counts n;
    for (int over = 0; over < 2; over++) {
        ganz_prepare_defaults(&o);
        o.min_length = shorter + over;
        OK(prepare(&o, &n, NULL));
        assert_int_equal(n.too_short, over);
        ganz_prepare_defaults(&o);
        o.max_length = longer - over;
        OK(prepare(&o, &n, NULL));
        assert_int_equal(n.too_long, over);
        ganz_prepare_defaults(&o);
        o.max_ratio = (double)(longer - over * 0.5) / shorter;
        OK(prepare(&o, &n, NULL));
        assert_int_equal(n.ratio, over);
    }
}

/* More than two blocks of lines. */
static void write_many(int invalid_at)
{
    FILE *const source = fopen("s", "wb"), *const target = fopen("t", "wb");
    for (int i = 0; i < 40000; i++) {
        fprintf(source, "Tom has %d cats%s\n", i % 30011, i % 7 ? "" : " and one dog.");
        fprintf(target, "Tom hat %d Katzen.%s\n", i % 30011, i == invalid_at ? "\xE2\x82" : "");
    }
    fclose(source);
    fclose(target);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    write_many(-1);
    uint64_t first = 0;
    const int threads[] = {1, 2, 3, 7, 0};
    for (size_t i = 0; i < GANZ_COUNT(threads); i++) {
        ganz_prepare_options o;
        ganz_prepare_counts n;
        ganz_error err;
        ganz_contents contents;
        ganz_prepare_defaults(&o);
        o.threads = threads[i];
        o.dedupe = true;
        OK(prepare(&o, &n, &err));
        assert_int_equal(n.read, 40000);
        OK(ganz_contents_read(&contents, "out", &err));
        const uint64_t sum = ganz_checksum(contents.data, contents.bytes);
        ganz_contents_free(&contents);
        if (i == 0) first = sum;
        assert_true(sum == first);
        /* len of 40000 - len of {(i % 30011, i % 7 == 0)}, by Python */
        assert_int_equal(n.duplicate, 7135);
    }
}

static void bad_text_is_named(void **state)
{
    (void)state;
    ganz_prepare_options o;
    ganz_prepare_counts n;
    ganz_error err;
    ganz_prepare_defaults(&o);
    o.threads = 2;
    write_many(35000);
    assert_int_equal(prepare(&o, &n, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "t:35001: not valid UTF-8");
    write_file("s", "a\nb\nc\n", 6);
    write_file("t", "a\nb\n", 4);
    assert_int_equal(prepare(&o, &n, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "t has 2 lines, but s has more");
    write_file("s", "", 0);
    assert_int_equal(prepare(&o, &n, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "s has 0 lines, but t has more");
    assert_int_equal(unlink("t"), 0);
    assert_int_equal(prepare(&o, &n, &err), GANZ_EIO);
    assert_string_equal(err.message, "cannot open t: No such file or directory");
    assert_int_equal(system("test \"$(ls)\" = s"), 0); /* no output, whole or partial */
}

static void odd_lines_are_no_trouble(void **state)
{
    (void)state;
    ganz_prepare_options o;
    ganz_prepare_counts n;
    ganz_error err;
    ganz_prepare_defaults(&o);
    const size_t bytes = 10u << 20; /* one line of 10 MB, NUL bytes, a last line without an end */
    char *const line = malloc(bytes + 8);
    for (size_t i = 0; i < bytes; i++) line[i] = i % 6 == 5 ? ' ' : (char)('a' + i % 5);
    memcpy(line + bytes, "\na\0b\nTom", 8);
    write_file("s", line, bytes + 8);
    write_file("t", "Tom\nMary\nTom", 12);
    OK(prepare(&o, &n, &err));
    assert_int_equal(n.kept, 3);
    free(line);
    write_file("s", "", 0);
    write_file("t", "", 0);
    OK(prepare(&o, &n, &err)); /* an empty corpus is a corpus */
    assert_int_equal(n.read, 0);
}

typedef struct stopper {
    ganz_flag stop;
    long long seen;
} stopper;

static void stop_at_once(void *context, long long pairs)
{
    stopper *const s = context;
    s->seen = pairs;
    ganz_flag_set(&s->stop);
}

static void work_can_be_stopped(void **state)
{
    (void)state;
    write_many(-1);
    ganz_prepare_options o;
    ganz_prepare_counts n;
    ganz_error err;
    stopper s = {{0}, 0};
    ganz_prepare_defaults(&o);
    o.progress = stop_at_once;
    o.context = &s;
    o.stop = &s.stop;
    assert_int_equal(prepare(&o, &n, &err), GANZ_ESTOPPED);
    assert_true(s.seen > 0 && s.seen < 40000);
    assert_int_equal(system("test $(ls | wc -l) = 2"), 0);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    ganz_vocab *v = open_vocab();
    ganz_prepare_options o;
    ganz_prepare_counts n[2];
    ganz_error err;
    const ganz_corpus_input good = {.source = EN, .target = DE, .weight = 1}, zero = {.source = EN, .target = DE},
                            twice[] = {{.source = "-", .target = DE, .weight = 1},
                                       {.source = EN, .target = "-", .weight = 1}};
    ganz_prepare_defaults(&o);
    assert_int_equal(ganz_corpus_prepare("out", v, &good, 0, &o, n, &err), GANZ_EINVAL);
    assert_int_equal(ganz_corpus_prepare("out", v, &zero, 1, &o, n, &err), GANZ_EINVAL);
    assert_int_equal(ganz_corpus_prepare("out", v, twice, 2, &o, n, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "standard input can be only one of the files");
    o.max_ratio = 0.5;
    assert_int_equal(ganz_corpus_prepare("out", v, &good, 1, &o, n, &err), GANZ_EINVAL);
    ganz_prepare_defaults(&o);
    o.min_length = 5;
    o.max_length = 4;
    assert_int_equal(ganz_corpus_prepare("out", v, &good, 1, &o, n, &err), GANZ_EINVAL);
    ganz_prepare_defaults(&o);
    assert_int_equal(ganz_corpus_prepare("no/out", v, &good, 1, &o, n, &err), GANZ_EIO);
    assert_int_equal(ganz_corpus_prepare("out.gz", v, &good, 1, &o, n, &err), GANZ_EINVAL);
    ganz_vocab_close(&v);
    assert_int_equal(system("test -z \"$(ls)\""), 0);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const pairs[] = {"Tom|Tom ist da.", "Mary\xFF|Mary\xC3"};
    write_pairs(pairs, 2);
    ganz_vocab *v = open_vocab();
    const ganz_corpus_input input = {.source = "s", .target = "t", .weight = 1};
    ganz_prepare_options o;
    ganz_prepare_counts n;
    ganz_error err;
    ganz_prepare_defaults(&o);
    o.threads = 2;
    o.dedupe = true;
    o.invalid = GANZ_INVALID_REPLACE;
    long at = 0;
    ganz_status status;
    do {
        ganz_alloc_fail_at(++at);
        status = ganz_corpus_prepare("out", v, &input, 1, &o, &n, &err);
        ganz_alloc_fail_at(0);
        if (status != GANZ_OK) assert_int_equal(status, GANZ_ENOMEM);
        if (status != GANZ_OK) assert_int_equal(system("test $(ls | wc -l) = 2"), 0);
    } while (status != GANZ_OK && at < 500);
    assert_int_equal(status, GANZ_OK);
    assert_true(at > 20);
    ganz_vocab_close(&v);
}

/* Each side is held to its own list, in the writer and in what it wrote. */
static void lists_of_two_sizes(void **state)
{
    const int32_t low[] = {4, 1}, high[] = {8, 1};
    int32_t source[2], target[2];
    ganz_corpus_writer *w;
    ganz_corpus *c;
    (void)state;
    OK(ganz_corpus_writer_open(&w, "c", &(ganz_corpus_vocab){{9, 5}, 7}, NULL));
    OK(ganz_corpus_writer_group(w, 1, NULL));
    OK(ganz_corpus_writer_add(w, high, 2, low, 2, NULL));
    assert_int_equal(ganz_corpus_writer_add(w, low, 2, high, 2, NULL), GANZ_EINVAL);
    OK(ganz_corpus_writer_finish(&w, NULL));
    OK(ganz_corpus_open(&c, "c", NULL));
    OK(ganz_corpus_ids(c, 0, source, target, NULL));
    assert_memory_equal(source, high, sizeof high);
    c->source_vocab_size = 8;
    assert_int_equal(ganz_corpus_ids(c, 0, source, target, NULL), GANZ_EFORMAT);
    ganz_corpus_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(validation_reads_lines_alike),
        IN_FOLDER(validation_names_bad_lines),
        IN_FOLDER(all_lines_become_ids),
        IN_FOLDER(each_reason_is_counted),
        IN_FOLDER(limits_are_exact),
        IN_FOLDER(threads_do_not_matter),
        IN_FOLDER(bad_text_is_named),
        IN_FOLDER(odd_lines_are_no_trouble),
        IN_FOLDER(work_can_be_stopped),
        IN_FOLDER(lists_of_two_sizes),
        IN_FOLDER(nonsense_is_refused),
        IN_FOLDER(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
