/* Corpora and batches: packing as Tensor2Tensor packs, every pair once an epoch, the same from any position. */
#include "test.h"

#include <math.h>

#include "base/io.h"
#include "base/rng.h"
#include "folder.h"
#include "train/batch.h"
#include "train/plan.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

/* ---- corpora to test with ----------------------------------------------------------------------- */

/* Pair i begins with its number in both sides (two ids, base 90), so that a batch tells which pairs it holds;
 * the rest is filled up to the length, the last id is the end mark. */
enum { NUMBER = 90, FIRST = 10, SMALLEST = 3 };

static void make_side(int32_t *ids, int length, int pair)
{
    for (int i = 0; i < length; i++) ids[i] = 5;
    ids[0] = FIRST + pair / NUMBER;
    if (length > 2) ids[1] = FIRST + pair % NUMBER;
    ids[length - 1] = GANZ_EOS;
}

static int pair_number(const int32_t *ids) { return (ids[0] - FIRST) * NUMBER + ids[1] - FIRST; }

typedef struct shape {
    int source, target;
} shape;

static ganz_corpus *make_corpus(const char *path, const shape *shapes, int count, int groups, const double *weights)
{
    ganz_corpus_writer *w;
    ganz_error err;
    int32_t source[512], target[512];
    OK(ganz_corpus_writer_open(&w, path, &(ganz_corpus_vocab){{100, 100}, 42}, &err));
    for (int i = 0, g = 0; i < count; i++) {
        if (g < groups && i == (long long)count * g / groups) OK(ganz_corpus_writer_group(w, weights[g++], &err));
        make_side(source, shapes[i].source, i);
        make_side(target, shapes[i].target, i);
        OK(ganz_corpus_writer_add(w, source, (size_t)shapes[i].source, target, (size_t)shapes[i].target, &err));
    }
    OK(ganz_corpus_writer_finish(&w, &err));
    ganz_corpus *c;
    OK(ganz_corpus_open(&c, path, &err));
    assert_int_equal(c->pairs, count);
    return c;
}

static const double one[] = {1.0};

/* Lengths between SMALLEST and 60, a few longer ones. */
static ganz_corpus *make_random(const char *path, int count, int groups, const double *weights)
{
    shape *const shapes = calloc((size_t)count, sizeof *shapes);
    for (int i = 0; i < count; i++) {
        const uint64_t at = (uint64_t)i * 2;
        shapes[i].source = SMALLEST + (int)ganz_random_below(11, 1, at, i % 50 == 7 ? 300 : 58);
        shapes[i].target = SMALLEST + (int)ganz_random_below(11, 1, at + 1, 58);
    }
    ganz_corpus *const c = make_corpus(path, shapes, count, groups, weights);
    free(shapes);
    return c;
}

static ganz_loader *make_loader(const ganz_corpus *c, bool packed, uint64_t seed)
{
    ganz_loader_options o;
    ganz_error err;
    ganz_loader *l;
    ganz_loader_defaults(&o);
    o.packed = packed;
    o.seed = seed;
    o.rows = 4;
    o.slots = 64;
    o.tokens = 256;
    o.max_length = 64;
    o.window = 100;
    OK(ganz_loader_open(&l, c, &o, &err));
    return l;
}

/* A number for all that is in a batch. */
static uint64_t batch_hash(const ganz_batch *b)
{
    const size_t s = (size_t)b->source_rows * 4, t = (size_t)b->target_rows * 4, n = (size_t)(b->segments + 1) * 4;
    const uint64_t parts[] = {
        (uint64_t)b->source_rows,          (uint64_t)b->target_rows,          (uint64_t)b->segments,
        (uint64_t)b->packed_rows,          ganz_checksum(b->source_ids, s),   ganz_checksum(b->target_in, t),
        ganz_checksum(b->target_out, t),   ganz_checksum(b->source_row, s),   ganz_checksum(b->source_slot, s),
        ganz_checksum(b->target_row, t),   ganz_checksum(b->target_slot, t),  ganz_checksum(b->source_position, s),
        ganz_checksum(b->source_begin, n), ganz_checksum(b->target_begin, n), ganz_checksum(b->target_position, t),
    };
    return ganz_checksum(parts, sizeof parts);
}

/* ---- the file ----------------------------------------------------------------------------------- */

static void ids_come_back(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        const int vocab = wide ? 70000 : 65536;
        const int32_t a[] = {2, vocab - 1, 1}, b[] = {7, 1}, c[] = {300, 300, 300, 300, 1};
        ganz_corpus_writer *w;
        ganz_corpus *corpus;
        ganz_error err;
        const ganz_corpus_vocab about = {{vocab, vocab}, UINT64_C(0xFEDCBA9876543210)};
        OK(ganz_corpus_writer_open(&w, "c", &about, &err));
        OK(ganz_corpus_writer_group(w, 2.5, &err));
        OK(ganz_corpus_writer_add(w, a, 3, b, 2, &err));
        OK(ganz_corpus_writer_add(w, b, 2, c, 5, &err));
        OK(ganz_corpus_writer_group(w, 1, &err));
        assert_int_equal(ganz_corpus_writer_add(w, (int32_t[]){vocab, 1}, 2, b, 2, &err), GANZ_EINVAL);
        assert_int_equal(ganz_corpus_writer_add(w, (int32_t[]){-1, 1}, 2, b, 2, &err), GANZ_EINVAL);
        assert_int_equal(ganz_corpus_writer_group(w, 0, &err), GANZ_EINVAL);
        assert_int_equal(ganz_corpus_writer_group(w, NAN, &err), GANZ_EINVAL);
        OK(ganz_corpus_writer_finish(&w, &err));
        OK(ganz_corpus_open(&corpus, "c", &err));
        assert_int_equal(corpus->pairs, 2);
        assert_int_equal(corpus->vocab_size, vocab);
        assert_true(corpus->vocab_checksum == UINT64_C(0xFEDCBA9876543210));
        assert_int_equal(corpus->source_tokens, 5);
        assert_int_equal(corpus->target_tokens, 7);
        assert_int_equal(corpus->groups, 2);
        assert_int_equal(corpus->group_begin[1], 2);
        assert_true(corpus->group_weight[0] == 2.5);
        int32_t source[8], target[8];
        OK(ganz_corpus_ids(corpus, 0, source, target, &err));
        assert_memory_equal(source, a, sizeof a);
        assert_memory_equal(target, b, sizeof b);
        assert_int_equal(ganz_corpus_source(corpus, 1), 2);
        assert_int_equal(ganz_corpus_target(corpus, 1), 5);
        OK(ganz_corpus_ids(corpus, 1, source, target, &err));
        assert_memory_equal(target, c, sizeof c);
        ganz_corpus_close(&corpus);
    }
}

static ganz_vocab *make_vocab(const char *third)
{
    char text[200];
    ganz_vocab *v;
    ganz_error err;
    const int n = snprintf(text, sizeof text,
                           "'<pad>_'\n'<EOS>_'\n'%s'\n'\\'\n'_'\n'u'\n';'\n'0'\n'1'\n'2'\n'3'\n'4'\n"
                           "'5'\n'6'\n'7'\n'8'\n'9'\n'<'\n'p'\n'a'\n'd'\n'>'\n'E'\n'O'\n'S'\n",
                           third);
    OK(ganz_vocab_parse(&v, text, (size_t)n, "v", &err));
    return v;
}

static void other_vocabularies_are_refused(void **state)
{
    (void)state;
    ganz_vocab *const right = make_vocab("u_"), *const wrong = make_vocab("0_");
    size_t bytes;
    const char *const text = ganz_vocab_file(right, &bytes);
    ganz_error err;
    for (int extra = 0; extra < 2; extra++) {
        ganz_corpus_writer *w;
        ganz_corpus *c;
        const int size = ganz_vocab_size(right) + extra;
        const ganz_corpus_vocab about = {{size, size}, ganz_checksum(text, bytes)};
        OK(ganz_corpus_writer_open(&w, "c", &about, &err));
        OK(ganz_corpus_writer_finish(&w, &err));
        OK(ganz_corpus_open(&c, "c", &err));
        if (extra == 0) {
            OK(ganz_corpus_fits(c, right, &err));
            assert_int_equal(ganz_corpus_fits(c, wrong, &err), GANZ_EINVAL);
            assert_string_equal(err.message, "c was made with another vocabulary of the same size");
        } else {
            assert_int_equal(ganz_corpus_fits(c, right, &err), GANZ_EINVAL);
            assert_string_equal(err.message, "c was made with a vocabulary of 26 entries, this one has 25");
        }
        ganz_corpus_close(&c);
    }
    ganz_vocab *gone = right, *gone_too = wrong;
    ganz_vocab_close(&gone);
    ganz_vocab_close(&gone_too);
}

/* A sound container whose contents are not a sound corpus. */
typedef struct forged {
    const char *version;
    int vocab;
    uint64_t begin[3], group_begin[2];
    uint32_t source[2];
    double weight;
    long source_tokens;
    ganz_status status;
    const char *sentence;
} forged;

static void forge(const forged *f)
{
    ganz_writer *w;
    ganz_error err;
    const uint16_t ids[8] = {5, 1, 6, 1, 7, 1, 8, 1};
    OK(ganz_writer_open(&w, "forged", false, &err));
    OK(ganz_writer_text(w, "format", "ganz corpus", &err));
    OK(ganz_writer_text(w, "version", f->version, &err));
    OK(ganz_writer_int(w, "vocab_size", f->vocab, &err));
    OK(ganz_writer_text(w, "vocab_checksum", "000000000000002a", &err));
    OK(ganz_writer_int(w, "pairs", 2, &err));
    OK(ganz_writer_int(w, "source_tokens", f->source_tokens, &err));
    OK(ganz_writer_int(w, "target_tokens", 4, &err));
    OK(ganz_writer_declare(w, "begin", GANZ_DTYPE_U64, 1, (int64_t[]){3}, &err));
    OK(ganz_writer_declare(w, "group_begin", GANZ_DTYPE_U64, 1, (int64_t[]){2}, &err));
    OK(ganz_writer_declare(w, "group_weight", GANZ_DTYPE_F64, 1, (int64_t[]){1}, &err));
    OK(ganz_writer_declare(w, "source_length", GANZ_DTYPE_U32, 1, (int64_t[]){2}, &err));
    OK(ganz_writer_declare(w, "ids", GANZ_DTYPE_U16, 1, (int64_t[]){8}, &err));
    OK(ganz_writer_write(w, f->begin, sizeof f->begin, &err));
    OK(ganz_writer_write(w, f->group_begin, sizeof f->group_begin, &err));
    OK(ganz_writer_write(w, &f->weight, sizeof f->weight, &err));
    OK(ganz_writer_write(w, f->source, sizeof f->source, &err));
    OK(ganz_writer_write(w, ids, sizeof ids, &err));
    OK(ganz_writer_finish(&w, &err));
}

static void unsound_corpora_are_refused(void **state)
{
    (void)state;
    static const forged cases[] = {
        {"1", 9, {0, 4, 8}, {0, 2}, {2, 2}, 1, 4, GANZ_OK, ""},
        {"2", 9, {0, 4, 8}, {0, 2}, {2, 2}, 1, 4, GANZ_EVERSION, "corpus version 2"},
        {"1", 1, {0, 4, 8}, {0, 2}, {2, 2}, 1, 4, GANZ_EFORMAT, "vocab_size"},
        {"1", 70000, {0, 4, 8}, {0, 2}, {2, 2}, 1, 4, GANZ_EFORMAT, "dtype U16, expected I32"},
        {"1", 9, {1, 4, 8}, {0, 2}, {2, 2}, 1, 4, GANZ_EFORMAT, "does not begin at 0"},
        {"1", 9, {0, 9, 8}, {0, 2}, {2, 2}, 1, 4, GANZ_EFORMAT, "out of order"},
        {"1", 9, {0, 4, 9}, {0, 2}, {2, 2}, 1, 4, GANZ_EFORMAT, "out of order"},
        {"1", 9, {0, UINT64_MAX, 8}, {0, 2}, {2, 2}, 1, 4, GANZ_EFORMAT, "out of order"},
        {"1", 9, {0, 4, 8}, {0, 2}, {0, 2}, 1, 2, GANZ_EFORMAT, "empty side"},
        {"1", 9, {0, 4, 8}, {0, 2}, {4, 2}, 1, 6, GANZ_EFORMAT, "empty side"},
        {"1", 9, {0, 4, 8}, {0, 2}, {1, 2}, 1, 4, GANZ_EFORMAT, "wrong counts"},
        {"1", 9, {0, 4, 8}, {0, 2}, {2, 2}, 0, 4, GANZ_EFORMAT, "weight"},
        {"1", 9, {0, 4, 8}, {0, 2}, {2, 2}, 1e9, 4, GANZ_EFORMAT, "weight"},
        {"1", 9, {0, 4, 8}, {0, 1}, {2, 2}, 1, 4, GANZ_EFORMAT, "not all pairs"},
        {"1", 9, {0, 4, 8}, {1, 2}, {2, 2}, 1, 4, GANZ_EFORMAT, "not all pairs"},
        {"1", 9, {0, 4, 8}, {3, 2}, {2, 2}, 1, 4, GANZ_EFORMAT, "groups out of order"},
    };
    ganz_corpus *c;
    ganz_error err = {0};
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        forge(&cases[i]);
        const ganz_status status = ganz_corpus_open(&c, "forged", &err);
        if (status != cases[i].status || (status != GANZ_OK && !strstr(err.message, cases[i].sentence)))
            fail_msg("case %zu: %s", i, err.message);
        ganz_corpus_close(&c);
    }
    ganz_writer *w;
    OK(ganz_writer_open(&w, "model", false, &err));
    OK(ganz_writer_finish(&w, &err));
    assert_int_equal(ganz_corpus_open(&c, "model", &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "model: not a corpus of ganz prepare");

    forged outside = cases[0]; /* ids are checked when they are used */
    outside.vocab = 8;
    forge(&outside);
    OK(ganz_corpus_open(&c, "forged", &err));
    ganz_loader_options o;
    ganz_loader_defaults(&o);
    ganz_loader *l;
    ganz_batch batch;
    OK(ganz_loader_open(&l, c, &o, &err));
    assert_int_equal(ganz_loader_next(l, &batch, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "forged: pair 1 has an id outside the vocabulary");
    ganz_loader_close(&l);
    ganz_corpus_close(&c);
}

/* Writes the byte over all of the file behind its header, in place. */
static void overwrite(const char *path, unsigned char byte)
{
    size_t bytes;
    unsigned char *const file = (unsigned char *)read_whole(path, &bytes);
    assert_non_null(file);
    const size_t header = 8 + file[0] + 256u * file[1];
    memset(file + header, byte, bytes - header);
    FILE *const again = fopen(path, "r+b");
    assert_int_equal(fwrite(file, 1, bytes, again), bytes);
    fclose(again);
    free(file);
}

/* Bytes of 1 are ids outside the vocabulary of 100; of 0 they are inside, but every length would be another. */
static void a_corpus_may_be_overwritten_while_it_is_read(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        ganz_corpus *c = make_random("c", 500, 1, one);
        ganz_loader *l = make_loader(c, i % 2 == 0, 1);
        ganz_batch batch;
        ganz_error err;
        OK(ganz_loader_next(l, &batch, &err));
        overwrite("c", i < 2 ? 1 : 0);
        const ganz_status status = ganz_loader_next(l, &batch, &err);
        assert_int_equal(status, i < 2 ? GANZ_EFORMAT : GANZ_OK);
        if (i < 2) assert_non_null(strstr(err.message, "has an id outside the vocabulary"));
        const ganz_position far = {7, 0};
        OK(ganz_loader_seek(l, far, &err)); /* another epoch is planned from lengths that were checked */
        ganz_loader_close(&l);
        ganz_corpus_close(&c);
    }
}

static void a_corpus_may_be_cut_short_while_it_is_read(void **state)
{
    (void)state;
    ganz_corpus *c = make_random("c", 500, 1, one);
    ganz_loader *l = make_loader(c, true, 1);
    ganz_batch batch;
    ganz_error err;
    assert_int_equal(truncate("c", 100), 0);
    assert_int_equal(ganz_loader_next(l, &batch, &err), GANZ_EIO);
    assert_string_equal(err.message, "cannot read c: it was cut short while it was in use");
    ganz_loader_close(&l);
    ganz_corpus_close(&c);
}

/* Each turned bit of the data is found when the corpus is opened. */
static void damaged_data_is_refused(void **state)
{
    (void)state;
    const shape shapes[] = {{3, 4}, {4, 3}};
    ganz_corpus *c = make_corpus("c", shapes, 2, 1, one);
    ganz_corpus_close(&c);
    size_t bytes;
    ganz_error err;
    unsigned char *const file = (unsigned char *)read_whole("c", &bytes);
    for (size_t at = 8 + file[0] + 256u * file[1]; at < bytes; at++) {
        file[at] ^= 1;
        FILE *const damaged = fopen("d", "wb");
        assert_int_equal(fwrite(file, 1, bytes, damaged), bytes);
        fclose(damaged);
        file[at] ^= 1;
        assert_int_equal(ganz_corpus_open(&c, "d", &err), GANZ_EFORMAT);
        assert_non_null(strstr(err.message, "is damaged (the checksum differs)"));
    }
    free(file);
}

static void seen_knows_what_it_saw(void **state)
{
    (void)state;
    ganz_seen seen = {0};
    bool before;
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 5000; i++) {
            assert_true(ganz_seen_add(&seen, i * UINT64_C(0x9E3779B97F4A7C15) + (i % 2 ? 0 : i), &before));
            assert_int_equal(before, round);
        }
    }
    assert_int_equal(seen.count, 5000);
    ganz_seen_free(&seen);
}

/* ---- packing ------------------------------------------------------------------------------------ */

/* The test vector of Tensor2Tensor's packing: length 8, 2 open rows. */
static void packing_is_first_fit_over_open_rows(void **state)
{
    (void)state;
    const shape shapes[] = {{3, 4}, {4, 3}, {2, 2}, {6, 6}, {1, 1}, {9, 2}, {2, 3}};
    const uint32_t order[] = {0, 1, 2, 3, 4, 5, 6};
    const uint32_t packed[] = {0, 1, 4, 2, 3, 5, 6}, begin[] = {0, 3, 5, 6, 7};
    ganz_corpus *c = make_corpus("v", shapes, 7, 1, one);
    ganz_plan plan;
    ganz_error err;
    OK(ganz_plan_pack(&(ganz_pair_list){c, order, 7}, 8, 2, &plan, &err));
    assert_int_equal(plan.units, 4);
    assert_int_equal(plan.count, 7);
    assert_memory_equal(plan.pairs, packed, sizeof packed);
    assert_memory_equal(plan.begin, begin, sizeof begin);
    ganz_plan_drop_long(c, 8, &plan); /* the row of the long pair goes */
    const uint32_t rest[] = {0, 1, 4, 2, 3, 6}, rest_begin[] = {0, 3, 5, 6};
    assert_int_equal(plan.units, 3);
    assert_int_equal(plan.dropped, 1);
    assert_memory_equal(plan.pairs, rest, sizeof rest);
    assert_memory_equal(plan.begin, rest_begin, sizeof rest_begin);
    ganz_plan_free(&plan);
    ganz_corpus_close(&c);
}

/* Two pairs in one row, all fields by hand. */
static void a_packed_batch_by_hand(void **state)
{
    (void)state;
    const shape shapes[] = {{3, 4}, {3, 3}};
    ganz_corpus *c = make_corpus("h", shapes, 2, 1, one);
    ganz_loader_options o;
    ganz_loader *l;
    ganz_batch b;
    ganz_error err;
    ganz_loader_defaults(&o);
    o.slots = 8;
    for (int zero = 0; zero < 2; zero++) {
        o.zero_segment_start = zero;
        o.seed = 0;
        do { /* until the first pair is first */
            OK(ganz_loader_open(&l, c, &o, &err));
            OK(ganz_loader_next(l, &b, &err));
            if (pair_number(b.source_ids) == 0) break;
            ganz_loader_close(&l);
        } while (++o.seed < 100);
        assert_int_equal(b.source_rows, 6);
        assert_int_equal(b.target_rows, 7);
        assert_int_equal(b.segments, 2);
        assert_int_equal(b.packed_rows, 1);
#define SAME(array, ...) \
    assert_memory_equal(b.array, ((const int32_t[]){__VA_ARGS__}), sizeof((const int32_t[]){__VA_ARGS__}))
        SAME(source_ids, 10, 10, 1, 10, 11, 1);
        SAME(target_out, 10, 10, 5, 1, 10, 11, 1);
        SAME(target_in, -1, 10, 10, 5, zero ? -1 : 1, 10, 11);
        SAME(source_position, 0, 1, 2, 0, 1, 2);
        SAME(target_position, 0, 1, 2, 3, 0, 1, 2);
        SAME(source_row, 0, 0, 0, 0, 0, 0);
        SAME(source_slot, 0, 1, 2, 3, 4, 5);
        SAME(target_slot, 0, 1, 2, 3, 4, 5, 6);
        SAME(source_begin, 0, 3, 6);
        SAME(target_begin, 0, 4, 7);
        ganz_loader_close(&l);
    }
    ganz_corpus_close(&c);
}

/* ---- an epoch ----------------------------------------------------------------------------------- */

/* What must hold in every batch, found from the fields alone. Counts each pair it holds. */
static void check_batch(const ganz_batch *b, bool packed, int *seen)
{
    int source_slots = 0, target_slots = 0, row = -1;
    assert_int_equal(b->source_begin[0], 0);
    assert_int_equal(b->source_begin[b->segments], b->source_rows);
    assert_int_equal(b->target_begin[b->segments], b->target_rows);
    for (int s = 0; s < b->segments; s++) {
        const int from = b->source_begin[s], to = b->source_begin[s + 1];
        const int target_from = b->target_begin[s], target_to = b->target_begin[s + 1];
        assert_true(from < to && target_from < target_to);
        if (b->source_row[from] != row) {
            assert_int_equal(b->source_row[from], ++row);
            source_slots = target_slots = 0;
        }
        for (int i = from; i < to; i++) {
            assert_int_equal(b->source_position[i], i - from);
            assert_int_equal(b->source_row[i], row);
            assert_int_equal(b->source_slot[i], source_slots++);
        }
        for (int i = target_from; i < target_to; i++) {
            const int before = i > target_from ? b->target_out[i - 1] : target_slots == 0 ? -1 : GANZ_EOS;
            assert_int_equal(b->target_position[i], i - target_from);
            assert_int_equal(b->target_row[i], row);
            assert_int_equal(b->target_slot[i], target_slots++);
            assert_int_equal(b->target_in[i], before);
        }
        assert_true(source_slots <= 64 && target_slots <= 64);
        assert_int_equal(b->source_ids[to - 1], GANZ_EOS);
        assert_int_equal(b->target_out[target_to - 1], GANZ_EOS);
        assert_int_equal(pair_number(b->source_ids + from), pair_number(b->target_out + target_from));
        seen[pair_number(b->source_ids + from)]++;
    }
    assert_int_equal(row + 1, b->packed_rows);
    if (packed) assert_true(b->packed_rows <= 4);
    if (!packed) assert_true(b->source_rows <= 256 && b->target_rows <= 256);
}

enum { PAIRS = 1500 };

static void every_pair_once_an_epoch(void **state)
{
    (void)state;
    ganz_corpus *c = make_random("e", PAIRS, 1, one);
    for (int packed = 0; packed < 2; packed++) {
        ganz_loader *l = make_loader(c, packed, 3);
        ganz_batch b;
        ganz_error err;
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            int seen[PAIRS] = {0}, dropped = 0;
            long tokens = 0;
            int fewest = 1 << 30;
            while (ganz_loader_position(l).epoch == epoch) {
                OK(ganz_loader_next(l, &b, &err));
                check_batch(&b, packed, seen);
                tokens += b.source_rows + b.target_rows;
                if (b.packed_rows < fewest) fewest = b.packed_rows;
            }
            for (uint32_t i = 0; i < PAIRS; i++) {
                const bool fits = ganz_corpus_source(c, i) <= 64 && ganz_corpus_target(c, i) <= 64;
                assert_int_equal(seen[i], fits);
                dropped += !fits;
            }
            assert_true(dropped > 10);
            assert_int_equal(ganz_loader_epoch_dropped(l), dropped);
            const double rows = (double)ganz_loader_epoch_batches(l) * 4;
            if (packed) assert_true(fewest >= 3);                       /* no small last batch */
            if (packed) assert_true((double)tokens > 0.6 * rows * 128); /* rows are well filled */
        }
        ganz_loader_close(&l);
    }
    ganz_corpus_close(&c);
}

static void sentences_of_a_batch_are_of_similar_length(void **state)
{
    (void)state;
    ganz_corpus *c = make_random("s", PAIRS, 1, one);
    ganz_loader *l = make_loader(c, false, 3);
    ganz_batch b;
    ganz_error err;
    double sum = 0, square = 0, within = 0;
    long n = 0;
    while (ganz_loader_position(l).epoch == 0) {
        OK(ganz_loader_next(l, &b, &err));
        double mean = 0;
        for (int s = 0; s < 2 * b.segments; s++) {
            const int source = b.source_begin[s / 2 + 1] - b.source_begin[s / 2];
            const int target = b.target_begin[s / 2 + 1] - b.target_begin[s / 2];
            const double longer = source > target ? source : target;
            if (s % 2 == 0) mean += longer / b.segments;
        }
        for (int s = 0; s < b.segments; s++) {
            const int source = b.source_begin[s + 1] - b.source_begin[s],
                      target = b.target_begin[s + 1] - b.target_begin[s];
            const double longer = source > target ? source : target;
            sum += longer;
            square += longer * longer;
            within += (longer - mean) * (longer - mean);
            n++;
        }
    }
    const double variance = square / (double)n - sum / (double)n * (sum / (double)n);
    assert_true(within / (double)n < variance / 10);
    ganz_loader_close(&l);
    ganz_corpus_close(&c);
}

static void order_depends_on_seed_and_epoch_alone(void **state)
{
    (void)state;
    ganz_corpus *c = make_random("o", PAIRS, 1, one);
    for (int packed = 0; packed < 2; packed++) {
        ganz_loader *a = make_loader(c, packed, 3), *again = make_loader(c, packed, 3),
                    *other = make_loader(c, packed, 4);
        ganz_error err;
        ganz_batch b;
        int different = 0;
        uint64_t first[3] = {0};
        for (int i = 0; i < 900; i++) {
            const ganz_position at = ganz_loader_position(a);
            OK(ganz_loader_next(a, &b, &err));
            const uint64_t hash = batch_hash(&b);
            OK(ganz_loader_next(again, &b, &err));
            assert_true(batch_hash(&b) == hash);
            OK(ganz_loader_next(other, &b, &err));
            different += batch_hash(&b) != hash;
            if (at.batch == 0 && at.epoch < 3) first[at.epoch] = hash;
        }
        assert_true(different > 890);
        assert_true(first[0] && first[1] && first[2]);
        assert_true(first[0] != first[1] && first[1] != first[2]);
        ganz_loader_close(&a);
        ganz_loader_close(&again);
        ganz_loader_close(&other);
    }
    ganz_corpus_close(&c);
}

static void any_position_goes_on_as_before(void **state)
{
    (void)state;
    const double weights[] = {2, 0.5, 1.25};
    ganz_corpus *c = make_random("p", 600, 3, weights);
    for (int packed = 0; packed < 2; packed++) {
        enum { STEPS = 300 };
        ganz_loader *l = make_loader(c, packed, 9);
        ganz_error err;
        ganz_batch b;
        uint64_t straight[STEPS];
        ganz_position at[STEPS];
        for (int i = 0; i < STEPS; i++) {
            at[i] = ganz_loader_position(l);
            OK(ganz_loader_next(l, &b, &err));
            straight[i] = batch_hash(&b);
        }
        assert_true(at[STEPS - 1].epoch >= 2);
        for (int i = STEPS - 1; i >= 0; i -= i % 7 + 1) { /* backwards, in the same loader and in a new one */
            ganz_loader *fresh = i % 50 == 0 ? make_loader(c, packed, 9) : NULL;
            ganz_loader *const use = fresh ? fresh : l;
            OK(ganz_loader_seek(use, at[i], &err));
            for (int k = i; k < i + 3 && k < STEPS; k++) {
                OK(ganz_loader_next(use, &b, &err));
                assert_true(batch_hash(&b) == straight[k]);
            }
            ganz_loader_close(&fresh);
        }
        const ganz_position beyond = {1, UINT64_C(1) << 40}, far = {UINT64_MAX, 0};
        assert_int_equal(ganz_loader_seek(l, beyond, &err), GANZ_EINVAL);
        assert_int_equal(ganz_loader_seek(l, far, &err), GANZ_ELIMIT);
        OK(ganz_loader_seek(l, at[5], &err)); /* and still usable */
        OK(ganz_loader_next(l, &b, &err));
        assert_true(batch_hash(&b) == straight[5]);
        ganz_loader_close(&l);
    }
    ganz_corpus_close(&c);
}

static void weights_are_met(void **state)
{
    (void)state;
    const double weights[] = {6, 0.5, 1, 2.25};
    enum { COUNT = 2000, EPOCHS = 8 };
    ganz_corpus *c = make_random("w", COUNT, 4, weights);
    static int total[COUNT];
    memset(total, 0, sizeof total);
    uint32_t halves[EPOCHS];
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        uint32_t *pairs, count;
        ganz_error err;
        int now[COUNT] = {0};
        OK(ganz_plan_shuffle(c, 5, epoch, &pairs, &count, &err));
        for (uint32_t i = 0; i < count; i++) now[pairs[i]]++;
        halves[epoch] = 0;
        for (int i = 0; i < COUNT; i++) {
            const double w = weights[i / 500];
            assert_true(now[i] == (int)floor(w) || now[i] == (int)ceil(w));
            total[i] += now[i];
            if (i / 500 == 1) halves[epoch] += (uint32_t)now[i];
        }
        assert_true(halves[epoch] > 200 && halves[epoch] < 300); /* about half, and not the same half */
        if (epoch > 0) assert_int_equal(halves[epoch] + halves[epoch - 1], 500);
        ganz_free(pairs);
    }
    for (int i = 0; i < COUNT; i++) assert_true(total[i] == weights[i / 500] * EPOCHS);
    ganz_corpus_close(&c);
}

static void loaders_refuse_nonsense(void **state)
{
    (void)state;
    const shape shapes[] = {{9, 9}};
    ganz_corpus *c = make_corpus("r", shapes, 1, 1, one);
    ganz_loader_options o;
    ganz_loader *l;
    ganz_error err;
    ganz_loader_defaults(&o);
    o.slots = 8; /* nothing fits */
    assert_int_equal(ganz_loader_open(&l, c, &o, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "r: epoch 0 has no pair that fits into a batch");
    assert_null(l);
    ganz_corpus *none = make_corpus("e", shapes, 0, 1, one);
    assert_int_equal(ganz_loader_open(&l, none, &o, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "e: the corpus has no pairs");
    ganz_corpus_close(&none);
    o.rows = 0;
    assert_int_equal(ganz_loader_open(&l, c, &o, &err), GANZ_EINVAL);
    o.rows = 1 << 20;
    o.slots = 1 << 20;
    assert_int_equal(ganz_loader_open(&l, c, &o, &err), GANZ_ELIMIT);
    o.packed = false;
    o.window = 0;
    assert_int_equal(ganz_loader_open(&l, c, &o, &err), GANZ_EINVAL);
    ganz_corpus_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(ids_come_back),
        IN_FOLDER(other_vocabularies_are_refused),
        IN_FOLDER(unsound_corpora_are_refused),
        IN_FOLDER(a_corpus_may_be_overwritten_while_it_is_read),
        IN_FOLDER(a_corpus_may_be_cut_short_while_it_is_read),
        IN_FOLDER(damaged_data_is_refused),
        cmocka_unit_test(seen_knows_what_it_saw),
        IN_FOLDER(packing_is_first_fit_over_open_rows),
        IN_FOLDER(a_packed_batch_by_hand),
        IN_FOLDER(every_pair_once_an_epoch),
        IN_FOLDER(sentences_of_a_batch_are_of_similar_length),
        IN_FOLDER(order_depends_on_seed_and_epoch_alone),
        IN_FOLDER(any_position_goes_on_as_before),
        IN_FOLDER(weights_are_met),
        IN_FOLDER(loaders_refuse_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
