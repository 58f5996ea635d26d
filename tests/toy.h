/* Toy languages, and runs over them: what the tests of training and of quantization share. */
#ifndef GANZ_TESTS_TOY_H
#define GANZ_TESTS_TOY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/rng.h"
#include "test.h"
#include "train/folder.h"
#include "train/log.h"
#include "train/trainer_state.h"

/* ---- toy languages ------------------------------------------------------------------------------ */

/* Words are single letters; single characters fill up the vocabulary as its format demands. */
static const char characters[] = "\\_u;0123456789abcdefghijklmnopqr<>EOS";
enum { WORDS = 18, VOCAB = 2 + WORDS + sizeof characters - 1, LONGEST = 12, PAIRS = 4000 };

static char dir[] = "/tmp/ganz_train_XXXXXX";

static inline const char *in_dir(const char *name)
{
    static char paths[64][256];
    static int next;
    char *const path = paths[next++ % 64];
    snprintf(path, 256, "%s/%s", dir, name);
    return path;
}

/* Sentence `index`: a few symbols and the end mark. */
static inline int make_source(uint64_t stream, uint64_t index, int32_t ids[LONGEST])
{
    const int n = 3 + (int)ganz_random_below(stream, 1, index, LONGEST - 4);
    for (int i = 0; i < n; i++) ids[i] = 2 + (int32_t)ganz_random_below(stream, 2 + index, (uint64_t)i, WORDS);
    ids[n] = GANZ_EOS;
    return n + 1;
}

static inline void make_target(const int32_t *source, int count, bool reverse, int32_t *target)
{
    for (int i = 0; i + 1 < count; i++) target[i] = source[reverse ? count - 2 - i : i];
    target[count - 1] = GANZ_EOS;
}

/* A vocabulary file of VOCAB entries, and its checksum. */
static inline uint64_t write_vocab(const char *path)
{
    char text[512] = "'<pad>_'\n'<EOS>_'\n";
    size_t n = strlen(text);
    for (int i = 0; i < WORDS; i++) n += (size_t)sprintf(text + n, "'%c_'\n", 'a' + i);
    for (const char *c = characters; *c; c++) n += (size_t)sprintf(text + n, "'%c'\n", *c);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(n, fwrite(text, 1, n, file));
    fclose(file);
    return ganz_checksum(text, n);
}

static inline void write_corpus(const char *path, uint64_t checksum, uint64_t stream, bool reverse)
{
    ganz_corpus_writer *writer;
    int32_t source[LONGEST], target[LONGEST];
    const ganz_corpus_vocab about = {{VOCAB, VOCAB}, checksum};
    assert_int_equal(GANZ_OK, ganz_corpus_writer_open(&writer, path, &about, NULL));
    assert_int_equal(GANZ_OK, ganz_corpus_writer_group(writer, 1, NULL));
    for (int i = 0; i < PAIRS; i++) {
        const size_t n = (size_t)make_source(stream, (uint64_t)i, source);
        make_target(source, (int)n, reverse, target);
        assert_int_equal(GANZ_OK, ganz_corpus_writer_add(writer, source, n, target, n, NULL));
    }
    assert_int_equal(GANZ_OK, ganz_corpus_writer_finish(&writer, NULL));
}

static inline int setup(void **state)
{
    (void)state;
    if (!mkdtemp(dir)) return -1;
    const uint64_t checksum = write_vocab(in_dir("vocab"));
    write_corpus(in_dir("copy"), checksum, 1, false);
    write_corpus(in_dir("reverse"), checksum, 1, true);
    write_corpus(in_dir("other"), checksum + 1, 1, false);
    FILE *const source = fopen(in_dir("valid.src"), "w"), *const target = fopen(in_dir("valid.tgt"), "w");
    for (int i = 0; i < 20; i++) {
        fputs("a b c d\n", source);
        fputs("d c b a\n", target);
    }
    fclose(source);
    fclose(target);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static inline ganz_train_options toy_options(const char *corpus)
{
    ganz_train_options o;
    ganz_train_defaults(&o);
    assert_int_equal(GANZ_OK, ganz_recipe_read(&o.recipe, "tiny", NULL));
    o.train = in_dir(corpus);
    o.vocab = in_dir("vocab");
    return o;
}

/* Share of tokens of unseen sentences that greedy search gets right, end marks counted. */
static inline double right_tokens(ganz_backend *be, const ganz_net *net, const ganz_weights *weights, bool reverse)
{
    enum { UNSEEN = 200 };
    static int32_t source[UNSEEN][LONGEST];
    ganz_sentence sentences[UNSEEN];
    const ganz_decoder_options o = {.search = {.beam = 1, .n_best = 1}, .batch_tokens = 1024, .max_input = LONGEST};
    ganz_decoder *decoder;
    const ganz_found *found;
    const int *counts;
    assert_int_equal(GANZ_OK, ganz_decoder_open(&decoder, be, net, weights, &o, NULL));
    for (int i = 0; i < UNSEEN; i++)
        sentences[i] = (ganz_sentence){.ids = source[i], .count = make_source(99, (uint64_t)i, source[i])};
    assert_int_equal(GANZ_OK, ganz_decoder_run(decoder, sentences, UNSEEN, &found, &counts, NULL));
    int right = 0, all = 0;
    for (int i = 0; i < UNSEEN; i++) {
        int32_t target[LONGEST];
        const int n = sentences[i].count;
        make_target(source[i], n, reverse, target);
        for (int j = 0; j < n; j++) {
            const int32_t got = j < found[i].count ? found[i].ids[j] : j == found[i].count ? GANZ_EOS : -1;
            right += got == target[j];
        }
        all += n;
    }
    ganz_decoder_close(&decoder);
    return (double)right / all;
}

/* ---- runs and their files ----------------------------------------------------------------------- */

static inline bool same_file(const char *a, const char *b)
{
    ganz_contents x, y;
    assert_int_equal(GANZ_OK, ganz_contents_read(&x, a, NULL));
    assert_int_equal(GANZ_OK, ganz_contents_read(&y, b, NULL));
    const bool same = x.bytes == y.bytes && memcmp(x.data, y.data, x.bytes) == 0;
    ganz_contents_free(&x);
    ganz_contents_free(&y);
    return same;
}

static inline bool same_in(const char *folder, const char *other, const char *name)
{
    char a[256], b[256];
    snprintf(a, sizeof a, "%s/%s", folder, name);
    snprintf(b, sizeof b, "%s/%s", other, name);
    return same_file(a, b);
}

/* Sets the stop flag when the run tells of a step, once. */
typedef struct stopper {
    long long at;
    ganz_flag flag;
} stopper;

static inline void stop_at(void *context, const ganz_train_progress *p)
{
    stopper *const s = context;
    if (s->at > 0 && p->step >= s->at) ganz_flag_set(&s->flag);
}

static inline void must_train(const ganz_train_options *o)
{
    ganz_error err;
    if (ganz_train(o, NULL, &err) != GANZ_OK) fail_msg("%s", err.message);
}

/* The log without its clocks. */
static inline void same_log(const char *a, const char *b)
{
    ganz_log_record *x, *y;
    int n, m;
    assert_int_equal(GANZ_OK, ganz_log_read(a, &x, &n, NULL));
    assert_int_equal(GANZ_OK, ganz_log_read(b, &y, &m, NULL));
    assert_int_equal(n, m);
    for (int i = 0; i < n; i++) {
        x[i].seconds = y[i].seconds = x[i].speed = y[i].speed = 0;
        assert_memory_equal(&x[i], &y[i], sizeof x[i]);
    }
    free(x);
    free(y);
}

#endif
