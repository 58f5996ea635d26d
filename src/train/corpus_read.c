/* Reading a corpus: what tells where pairs lie is copied and checked, ids are read from the file as they are needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "text/vocab.h"
#include "train/corpus.h"

static ganz_status damaged(const ganz_corpus *c, const char *why, ganz_error *err)
{
    return ganz_fail(err, GANZ_EFORMAT, "%s: not a sound corpus: %s", ganz_container_name(c->file), why);
}

static ganz_status read_metadata(ganz_corpus *c, ganz_error *err)
{
    const char *const name = ganz_container_name(c->file);
    const char *const format = ganz_container_text(c->file, "format");
    if (!format || strcmp(format, "ganz corpus") != 0)
        return ganz_fail(err, GANZ_EFORMAT, "%s: not a corpus of ganz prepare", name);
    const char *text;
    GANZ_TRY(ganz_container_get_text(c->file, "version", &text, err));
    if (strcmp(text, "1") != 0)
        return ganz_fail(err, GANZ_EVERSION, "%s: corpus version %.20s, this build knows 1", name, text);
    int64_t vocab_size, source_size, pairs, source_tokens, target_tokens;
    GANZ_TRY(ganz_container_get_int(c->file, "vocab_size", 2, INT32_MAX, &vocab_size, err));
    source_size = vocab_size;
    if (ganz_container_text(c->file, "source_vocab_size"))
        GANZ_TRY(ganz_container_get_int(c->file, "source_vocab_size", 2, INT32_MAX, &source_size, err));
    GANZ_TRY(ganz_container_get_int(c->file, "pairs", 0, INT32_MAX, &pairs, err));
    GANZ_TRY(ganz_container_get_int(c->file, "source_tokens", 0, INT64_MAX, &source_tokens, err));
    GANZ_TRY(ganz_container_get_int(c->file, "target_tokens", 0, INT64_MAX, &target_tokens, err));
    GANZ_TRY(ganz_container_get_text(c->file, "vocab_checksum", &text, err));
    char *end;
    c->vocab_checksum = strtoull(text, &end, 16);
    if (strlen(text) != 16 || *end) return damaged(c, "vocab_checksum is no checksum", err);
    c->formal_mark = ganz_container_text(c->file, "formal_mark");
    c->informal_mark = ganz_container_text(c->file, "informal_mark");
    c->vocab_size = (int)vocab_size;
    c->source_vocab_size = (int)source_size;
    c->pairs = (uint32_t)pairs;
    c->source_tokens = (uint64_t)source_tokens;
    c->target_tokens = (uint64_t)target_tokens;
    return GANZ_OK;
}

/* A tensor in memory; the caller frees *copy. */
static ganz_status copy_tensor(const ganz_corpus *c, const ganz_entry *e, void **copy, ganz_error *err)
{
    *copy = ganz_alloc(e->bytes, 1);
    if (!*copy) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", ganz_container_name(c->file));
    return ganz_container_load(c->file, e, *copy, err);
}

static ganz_status read_groups(ganz_corpus *c, ganz_error *err)
{
    const ganz_entry *e;
    const int64_t any = -1;
    GANZ_TRY(ganz_container_get(c->file, "group_weight", GANZ_DTYPE_F64, 1, &any, &e, err));
    if (e->dims[0] >= INT32_MAX) return damaged(c, "too many groups", err);
    c->groups = (int)e->dims[0];
    GANZ_TRY(copy_tensor(c, e, (void **)&c->group_weight, err));
    const int64_t marks = e->dims[0] + 1;
    GANZ_TRY(ganz_container_get(c->file, "group_begin", GANZ_DTYPE_U64, 1, &marks, &e, err));
    return copy_tensor(c, e, (void **)&c->group_begin, err);
}

/* Finds the tensors; all but the ids are copied. */
static ganz_status read_tensors(ganz_corpus *c, ganz_error *err)
{
    const ganz_entry *e;
    c->id_bytes = c->vocab_size <= 65536 && c->source_vocab_size <= 65536 ? 2 : 4;
    const ganz_dtype id_type = c->id_bytes == 2 ? GANZ_DTYPE_U16 : GANZ_DTYPE_I32;
    const int64_t any = -1, pairs = c->pairs, marks = (int64_t)c->pairs + 1;
    GANZ_TRY(ganz_container_get(c->file, "ids", id_type, 1, &any, &c->ids, err));
    GANZ_TRY(ganz_container_get(c->file, "begin", GANZ_DTYPE_U64, 1, &marks, &e, err));
    GANZ_TRY(copy_tensor(c, e, (void **)&c->begin, err));
    GANZ_TRY(ganz_container_get(c->file, "source_length", GANZ_DTYPE_U32, 1, &pairs, &e, err));
    GANZ_TRY(copy_tensor(c, e, (void **)&c->source_length, err));
    GANZ_TRY(read_groups(c, err));
    return ganz_container_summed(c->file) ? ganz_container_load(c->file, c->ids, NULL, err) : GANZ_OK;
}

static ganz_status check_groups(const ganz_corpus *c, ganz_error *err)
{
    for (int g = 0; g < c->groups; g++) {
        if (!(c->group_weight[g] > 0 && c->group_weight[g] <= GANZ_MAX_WEIGHT))
            return damaged(c, "an impossible weight", err);
        if (c->group_begin[g] > c->group_begin[g + 1]) return damaged(c, "groups out of order", err);
    }
    if (c->group_begin[0] != 0 || c->group_begin[c->groups] != c->pairs)
        return damaged(c, "groups that are not all pairs", err);
    return GANZ_OK;
}

static ganz_status check_pairs(const ganz_corpus *c, uint64_t ids, ganz_error *err)
{
    uint64_t source = 0;
    if (c->begin[0] != 0) return damaged(c, "the first pair does not begin at 0", err);
    for (uint32_t i = 0; i < c->pairs; i++) {
        const uint64_t begin = c->begin[i], end = c->begin[i + 1];
        if (end < begin || end > ids || end - begin > INT32_MAX) return damaged(c, "pairs out of order", err);
        if (c->source_length[i] == 0 || c->source_length[i] >= end - begin) return damaged(c, "an empty side", err);
        source += c->source_length[i];
    }
    const uint64_t target = c->begin[c->pairs] - source;
    return source == c->source_tokens && target == c->target_tokens ? GANZ_OK : damaged(c, "wrong counts", err);
}

ganz_status ganz_corpus_open(ganz_corpus **corpus, const char *path, ganz_error *err)
{
    *corpus = NULL;
    ganz_corpus *c = ganz_alloc(1, sizeof *c);
    if (!c) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    ganz_status status = ganz_container_open(&c->file, path, err);
    if (status == GANZ_OK) status = read_metadata(c, err);
    if (status == GANZ_OK) status = read_tensors(c, err);
    if (status == GANZ_OK) status = check_groups(c, err);
    if (status == GANZ_OK) status = check_pairs(c, (uint64_t)c->ids->dims[0], err);
    if (status != GANZ_OK) ganz_corpus_close(&c);
    *corpus = c;
    return status;
}

void ganz_corpus_close(ganz_corpus **it)
{
    ganz_corpus *const c = *it;
    *it = NULL;
    if (!c) return;
    ganz_free(c->group_weight);
    ganz_free(c->group_begin);
    ganz_free(c->source_length);
    ganz_free(c->begin);
    ganz_container_close(&c->file);
    ganz_free(c);
}

ganz_status ganz_corpus_fits(const ganz_corpus *c, const ganz_vocab *vocab, ganz_error *err)
{
    const char *const name = ganz_container_name(c->file);
    if (ganz_vocab_size(vocab) != c->vocab_size)
        return ganz_fail(err, GANZ_EINVAL, "%s was made with a vocabulary of %d entries, this one has %d", name,
                         c->vocab_size, ganz_vocab_size(vocab));
    if (ganz_vocab_checksum(vocab) != c->vocab_checksum ||
        ganz_vocab_side_size(vocab, GANZ_SOURCE) != c->source_vocab_size)
        return ganz_fail(err, GANZ_EINVAL, "%s was made with another vocabulary of the same size", name);
    return GANZ_OK;
}

/* Ids of two bytes, read in pieces and widened. */
static ganz_status read_narrow(const ganz_corpus *c, uint64_t at, int32_t *out, uint32_t count, ganz_error *err)
{
    uint16_t piece[1024];
    for (uint32_t done = 0; done < count;) {
        const uint32_t left = count - done, n = left < GANZ_COUNT(piece) ? left : (uint32_t)GANZ_COUNT(piece);
        GANZ_TRY(ganz_container_read(c->file, c->ids, (at + done) * sizeof *piece, piece, n * sizeof *piece, err));
        for (uint32_t i = 0; i < n; i++) out[done + i] = piece[i];
        done += n;
    }
    return GANZ_OK;
}

static ganz_status read_ids(const ganz_corpus *c, uint64_t at, int32_t *out, uint32_t count, ganz_error *err)
{
    if (c->id_bytes == 2) return read_narrow(c, at, out, count, err);
    return ganz_container_read(c->file, c->ids, at * sizeof *out, out, count * sizeof *out, err);
}

/* One comparison for the whole run. */
static bool in_vocabulary(int size, const int32_t *ids, uint32_t count)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++) largest = (uint32_t)ids[i] > largest ? (uint32_t)ids[i] : largest;
    return largest < (uint32_t)size;
}

ganz_status ganz_corpus_ids(const ganz_corpus *c, uint32_t pair, int32_t *source, int32_t *target, ganz_error *err)
{
    const uint32_t n = ganz_corpus_source(c, pair), m = ganz_corpus_target(c, pair);
    GANZ_TRY(read_ids(c, c->begin[pair], source, n, err));
    GANZ_TRY(read_ids(c, c->begin[pair] + n, target, m, err));
    if (in_vocabulary(c->source_vocab_size, source, n) && in_vocabulary(c->vocab_size, target, m)) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s: pair %u has an id outside the vocabulary", ganz_container_name(c->file),
                     pair);
}
