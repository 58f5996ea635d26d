/* Corpora: opened by mapping, checked before use. */
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
    int64_t vocab_size, pairs, source_tokens, target_tokens;
    GANZ_TRY(ganz_container_get_int(c->file, "vocab_size", 2, INT32_MAX, &vocab_size, err));
    GANZ_TRY(ganz_container_get_int(c->file, "pairs", 0, INT32_MAX, &pairs, err));
    GANZ_TRY(ganz_container_get_int(c->file, "source_tokens", 0, INT64_MAX, &source_tokens, err));
    GANZ_TRY(ganz_container_get_int(c->file, "target_tokens", 0, INT64_MAX, &target_tokens, err));
    GANZ_TRY(ganz_container_get_text(c->file, "vocab_checksum", &text, err));
    char *end;
    c->vocab_checksum = strtoull(text, &end, 16);
    if (strlen(text) != 16 || *end) return damaged(c, "vocab_checksum is no checksum", err);
    c->vocab_size = (int)vocab_size;
    c->pairs = (uint32_t)pairs;
    c->source_tokens = (uint64_t)source_tokens;
    c->target_tokens = (uint64_t)target_tokens;
    return GANZ_OK;
}

/* Finds the tensors; *ids is how many ids there are. */
static ganz_status read_tensors(ganz_corpus *c, uint64_t *ids, ganz_error *err)
{
    const ganz_entry *e;
    c->id_bytes = c->vocab_size <= 65536 ? 2 : 4;
    const ganz_dtype id_type = c->id_bytes == 2 ? GANZ_DTYPE_U16 : GANZ_DTYPE_I32;
    const int64_t any = -1, pairs = c->pairs, marks = (int64_t)c->pairs + 1;
    GANZ_TRY(ganz_container_get(c->file, "ids", id_type, 1, &any, &e, err));
    c->ids = e->data;
    *ids = (uint64_t)e->dims[0];
    GANZ_TRY(ganz_container_get(c->file, "begin", GANZ_DTYPE_U64, 1, &marks, &e, err));
    c->begin = e->data;
    GANZ_TRY(ganz_container_get(c->file, "source_length", GANZ_DTYPE_U32, 1, &pairs, &e, err));
    c->source_length = e->data;
    GANZ_TRY(ganz_container_get(c->file, "group_weight", GANZ_DTYPE_F64, 1, &any, &e, err));
    c->group_weight = e->data;
    if (e->dims[0] >= INT32_MAX) return damaged(c, "too many groups", err);
    c->groups = (int)e->dims[0];
    const int64_t group_marks = e->dims[0] + 1;
    GANZ_TRY(ganz_container_get(c->file, "group_begin", GANZ_DTYPE_U64, 1, &group_marks, &e, err));
    c->group_begin = e->data;
    return GANZ_OK;
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
    uint64_t ids = 0;
    ganz_corpus *c = ganz_alloc(1, sizeof *c);
    if (!c) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    ganz_status status = ganz_container_open(&c->file, path, err);
    if (status == GANZ_OK) status = read_metadata(c, err);
    if (status == GANZ_OK) status = read_tensors(c, &ids, err);
    if (status == GANZ_OK) status = check_groups(c, err);
    if (status == GANZ_OK) status = check_pairs(c, ids, err);
    if (status != GANZ_OK) ganz_corpus_close(&c);
    *corpus = c;
    return status;
}

void ganz_corpus_close(ganz_corpus **it)
{
    ganz_corpus *const c = *it;
    *it = NULL;
    if (!c) return;
    ganz_container_close(&c->file);
    ganz_free(c);
}

ganz_status ganz_corpus_fits(const ganz_corpus *c, const ganz_vocab *vocab, ganz_error *err)
{
    const char *const name = ganz_container_name(c->file);
    if (ganz_vocab_size(vocab) != c->vocab_size)
        return ganz_fail(err, GANZ_EINVAL, "%s was made with a vocabulary of %d entries, this one has %d", name,
                         c->vocab_size, ganz_vocab_size(vocab));
    if (ganz_vocab_checksum(vocab) != c->vocab_checksum)
        return ganz_fail(err, GANZ_EINVAL, "%s was made with another vocabulary of the same size", name);
    return GANZ_OK;
}

/* True when all are in the vocabulary: one comparison for the whole run. */
static bool copy_ids(const ganz_corpus *c, uint64_t at, int32_t *out, uint32_t count)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t id =
            c->id_bytes == 2 ? ((const uint16_t *)c->ids)[at + i] : (uint32_t)((const int32_t *)c->ids)[at + i];
        out[i] = (int32_t)id;
        largest = id > largest ? id : largest;
    }
    return largest < (uint32_t)c->vocab_size;
}

bool ganz_corpus_ids(const ganz_corpus *c, uint32_t pair, int32_t *source, int32_t *target)
{
    const uint32_t n = ganz_corpus_source(c, pair);
    const bool source_good = copy_ids(c, c->begin[pair], source, n);
    return copy_ids(c, c->begin[pair] + n, target, ganz_corpus_target(c, pair)) && source_good;
}

void ganz_corpus_forget(const ganz_corpus *c) { ganz_map_forget(c->ids, (size_t)c->begin[c->pairs] * c->id_bytes); }
