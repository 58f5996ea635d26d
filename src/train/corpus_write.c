/* Writing a corpus: ids go to the file as pairs come; offsets, lengths and groups follow at the end. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "text/vocab.h"
#include "train/corpus.h"

enum { CHUNK = 4096 };

/* The ids go to the file as they come; offsets and lengths wait in memory, 12 bytes a pair. */
struct ganz_corpus_writer {
    ganz_writer *file;
    char *path;
    int size[2]; /* entries of each side */
    size_t id_bytes;
    uint64_t ids;     /* written so far */
    uint64_t *begin;  /* (pairs) */
    uint32_t *source; /* (pairs) */
    size_t pairs, begin_capacity, source_capacity;
    uint64_t *group_begin; /* (groups) */
    double *group_weight;  /* (groups) */
    size_t groups, group_begin_capacity, group_weight_capacity;
    uint64_t source_tokens, target_tokens;
};

static ganz_status no_memory(const ganz_corpus_writer *w, ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory for %zu pairs", w->path, w->pairs + 1);
}

/* Everything that can be said before the first pair. */
static ganz_status declare(ganz_corpus_writer *w, const ganz_corpus_vocab *vocab, ganz_error *err)
{
    char sum[17];
    const int source = vocab->size[GANZ_SOURCE], target = vocab->size[GANZ_TARGET];
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)vocab->checksum);
    GANZ_TRY(ganz_writer_text(w->file, "format", "ganz corpus", err));
    GANZ_TRY(ganz_writer_text(w->file, "version", "1", err));
    GANZ_TRY(ganz_writer_int(w->file, "vocab_size", target, err));
    if (source != target) GANZ_TRY(ganz_writer_int(w->file, "source_vocab_size", source, err));
    GANZ_TRY(ganz_writer_text(w->file, "vocab_checksum", sum, err));
    ganz_writer_reserve(w->file, 160); /* three counts that are known last */
    const int64_t open = -1;
    GANZ_TRY(ganz_writer_declare(w->file, "ids", w->id_bytes == 2 ? GANZ_DTYPE_U16 : GANZ_DTYPE_I32, 1, &open, err));
    GANZ_TRY(ganz_writer_declare(w->file, "begin", GANZ_DTYPE_U64, 1, &open, err));
    GANZ_TRY(ganz_writer_declare(w->file, "group_begin", GANZ_DTYPE_U64, 1, &open, err));
    GANZ_TRY(ganz_writer_declare(w->file, "group_weight", GANZ_DTYPE_F64, 1, &open, err));
    return ganz_writer_declare(w->file, "source_length", GANZ_DTYPE_U32, 1, &open, err);
}

ganz_corpus_vocab ganz_corpus_vocab_of(const ganz_vocab *vocab)
{
    return (ganz_corpus_vocab){{ganz_vocab_side_size(vocab, GANZ_SOURCE), ganz_vocab_side_size(vocab, GANZ_TARGET)},
                               ganz_vocab_checksum(vocab)};
}

ganz_status ganz_corpus_writer_open(ganz_corpus_writer **writer, const char *path, const ganz_corpus_vocab *vocab,
                                    ganz_error *err)
{
    *writer = NULL;
    ganz_corpus_writer *w = ganz_alloc(1, sizeof *w);
    if (!w) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    memcpy(w->size, vocab->size, sizeof w->size);
    w->id_bytes = w->size[GANZ_SOURCE] <= 65536 && w->size[GANZ_TARGET] <= 65536 ? 2 : 4;
    w->path = ganz_strdup(path);
    ganz_status status = w->path ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    if (status == GANZ_OK) status = ganz_writer_open(&w->file, path, true, err);
    if (status == GANZ_OK) status = declare(w, vocab, err);
    if (status != GANZ_OK) ganz_corpus_writer_abandon(&w);
    *writer = w;
    return status;
}

ganz_status ganz_corpus_writer_marks(ganz_corpus_writer *w, const char *formal, const char *informal, ganz_error *err)
{
    GANZ_TRY(ganz_writer_text(w->file, "formal_mark", formal, err));
    return ganz_writer_text(w->file, "informal_mark", informal, err);
}

void ganz_corpus_writer_abandon(ganz_corpus_writer **it)
{
    ganz_corpus_writer *const w = *it;
    *it = NULL;
    if (!w) return;
    ganz_writer_abandon(&w->file);
    ganz_free(w->group_weight);
    ganz_free(w->group_begin);
    ganz_free(w->source);
    ganz_free(w->begin);
    ganz_free(w->path);
    ganz_free(w);
}

ganz_status ganz_corpus_writer_group(ganz_corpus_writer *w, double weight, ganz_error *err)
{
    if (!(weight > 0 && weight <= GANZ_MAX_WEIGHT))
        return ganz_fail(err, GANZ_EINVAL, "a weight must be over 0 and at most %g, not %g", GANZ_MAX_WEIGHT, weight);
    if (!ganz_grow((void **)&w->group_begin, &w->group_begin_capacity, w->groups + 1, sizeof *w->group_begin) ||
        !ganz_grow((void **)&w->group_weight, &w->group_weight_capacity, w->groups + 1, sizeof *w->group_weight))
        return no_memory(w, err);
    w->group_begin[w->groups] = w->pairs;
    w->group_weight[w->groups++] = weight;
    return GANZ_OK;
}

static ganz_status write_ids(ganz_corpus_writer *w, const int32_t *ids, size_t count, ganz_error *err)
{
    w->ids += count;
    if (w->id_bytes == 4) return ganz_writer_write(w->file, ids, count * sizeof *ids, err);
    uint16_t narrow[CHUNK];
    while (count > 0) {
        const size_t n = count < CHUNK ? count : CHUNK;
        for (size_t i = 0; i < n; i++) narrow[i] = (uint16_t)ids[i];
        GANZ_TRY(ganz_writer_write(w->file, narrow, n * sizeof *narrow, err));
        ids += n;
        count -= n;
    }
    return GANZ_OK;
}

static bool in_vocabulary(int size, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= size) return false;
    return true;
}

ganz_status ganz_corpus_writer_add(ganz_corpus_writer *w, const int32_t *source, size_t source_length,
                                   const int32_t *target, size_t target_length, ganz_error *err)
{
    GANZ_ASSERT(w->groups > 0 && source_length > 0 && target_length > 0);
    if (source_length > INT32_MAX || target_length > INT32_MAX || w->pairs >= INT32_MAX)
        return ganz_fail(err, GANZ_ELIMIT, "%s: too many pairs or tokens", w->path);
    if (!in_vocabulary(w->size[GANZ_SOURCE], source, source_length) ||
        !in_vocabulary(w->size[GANZ_TARGET], target, target_length))
        return ganz_fail(err, GANZ_EINVAL, "%s: pair %zu has an id outside the vocabulary", w->path, w->pairs);
    if (!ganz_grow((void **)&w->begin, &w->begin_capacity, w->pairs + 1, sizeof *w->begin) ||
        !ganz_grow((void **)&w->source, &w->source_capacity, w->pairs + 1, sizeof *w->source))
        return no_memory(w, err);
    w->begin[w->pairs] = w->ids;
    w->source[w->pairs++] = (uint32_t)source_length;
    w->source_tokens += source_length;
    w->target_tokens += target_length;
    GANZ_TRY(write_ids(w, source, source_length, err));
    return write_ids(w, target, target_length, err);
}

/* One tensor and, where it is a list of beginnings, the end of the last. */
static ganz_status write_tensor(ganz_corpus_writer *w, const void *data, size_t bytes, const uint64_t *end,
                                ganz_error *err)
{
    GANZ_TRY(ganz_writer_write(w->file, data, bytes, err));
    if (end) GANZ_TRY(ganz_writer_write(w->file, end, sizeof *end, err));
    return ganz_writer_next(w->file, err);
}

static ganz_status write_index(ganz_corpus_writer *w, ganz_error *err)
{
    const uint64_t ids = w->ids, pairs = w->pairs;
    static const int32_t pads[GANZ_ALIGN] = {0}; /* GANZ_PAD; then the next tensor is aligned */
    GANZ_TRY(write_ids(w, pads, (size_t)(ganz_round_up(ids, GANZ_ALIGN / w->id_bytes) - ids), err));
    GANZ_TRY(ganz_writer_next(w->file, err));
    GANZ_TRY(write_tensor(w, w->begin, w->pairs * sizeof *w->begin, &ids, err));
    GANZ_TRY(write_tensor(w, w->group_begin, w->groups * sizeof *w->group_begin, &pairs, err));
    GANZ_TRY(write_tensor(w, w->group_weight, w->groups * sizeof *w->group_weight, NULL, err));
    GANZ_TRY(write_tensor(w, w->source, w->pairs * sizeof *w->source, NULL, err));
    GANZ_TRY(ganz_writer_int(w->file, "pairs", (int64_t)w->pairs, err));
    GANZ_TRY(ganz_writer_int(w->file, "source_tokens", (int64_t)w->source_tokens, err));
    return ganz_writer_int(w->file, "target_tokens", (int64_t)w->target_tokens, err);
}

ganz_status ganz_corpus_writer_finish(ganz_corpus_writer **it, ganz_error *err)
{
    ganz_corpus_writer *const w = *it;
    ganz_status status = write_index(w, err);
    if (status == GANZ_OK) status = ganz_writer_finish(&w->file, err);
    ganz_corpus_writer_abandon(it);
    return status;
}
