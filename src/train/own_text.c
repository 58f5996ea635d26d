/* Text of one language becomes a corpus: a float model translates it. Translations are kept line by line, as ids
 * (models of others may not have what cuts their target language) and text, each with a checksum of the model and of
 * the line it belongs to, so that work that was stopped goes on where it was. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/surroundings.h"
#include "ganz/io.h"
#include "ganz/quantize.h"
#include "model/model.h"
#include "text/vocab.h"
#include "train/corpus.h"
#include "train/folder.h"
#include "translate/decode.h"

enum { BLOCK = 64, LONGEST = 256, HELD_OUT = 20, MOST_HELD_OUT = 200, MARK = 17 /* 16 digits and a tab */ };

typedef struct job {
    const ganz_own_text *how;
    ganz_own_text_files *files;
    char kept[GANZ_OWN_TEXT_PATH]; /* name of the file of translations */
    FILE *cache;
    uint64_t model_sum;
    ganz_model *model;
    ganz_backend *be;
    ganz_decoder *decoder;
    int longest; /* source, in tokens with the end mark */
    ganz_lines *text;
    long long lines; /* of the text that are done */
    ganz_text block; /* lines to be translated, end to end */
    size_t begin[BLOCK + 1];
    int count;
    ganz_ids ids; /* of a block, or of a pair */
    size_t at[BLOCK];
    ganz_sentence sentence[BLOCK];
    int place[BLOCK]; /* of a line among the sentences; -1: it is too long, or empty */
    ganz_text out;
} job;

static ganz_status no_memory(ganz_error *err) { return ganz_fail(err, GANZ_ENOMEM, "out of memory for a text"); }

static ganz_status append(ganz_text *to, const char *text, size_t bytes, ganz_error *err)
{
    if (!ganz_grow((void **)&to->text, &to->capacity, to->bytes + bytes + 1, 1)) return no_memory(err);
    memcpy(to->text + to->bytes, text, bytes);
    to->bytes += bytes;
    return GANZ_OK;
}

/* ---- kept translations -------------------------------------------------------------------------- */

/* The mark of a line by this model. */
static void mark_of(const job *j, const char *text, size_t bytes, char mark[MARK + 1])
{
    snprintf(mark, MARK + 1, "%016llx\t", (unsigned long long)(ganz_checksum(text, bytes) ^ j->model_sum));
}

/* The model by the checksums in its header. */
static ganz_status sum_model(job *j, ganz_error *err)
{
    ganz_contents file;
    GANZ_TRY(ganz_contents_read(&file, j->how->model, err));
    j->model_sum = ganz_checksum(file.data, file.bytes < 1 << 20 ? file.bytes : 1 << 20) + (uint64_t)file.bytes;
    ganz_contents_free(&file);
    return GANZ_OK;
}

static bool enough(const job *j) { return j->how->most_lines > 0 && j->lines >= j->how->most_lines; }

/* Passes over the lines of the text that have a translation; *good: bytes of the file that belong to them. A line whose
 * translation is another's is the first of the block. */
static ganz_status skip_kept(job *j, unsigned long long *good, ganz_error *err)
{
    ganz_lines *kept;
    const char *was, *text;
    size_t was_bytes, bytes;
    char mark[MARK + 1];
    *good = 0;
    GANZ_TRY(ganz_lines_open(&kept, j->kept, err));
    ganz_status status = GANZ_OK;
    while (!enough(j)) {
        status = ganz_lines_next(kept, &was, &was_bytes, err);
        if (status != GANZ_OK || !was || !ganz_lines_whole(kept)) break;
        status = ganz_lines_next(j->text, &text, &bytes, err);
        if (status != GANZ_OK || !text) break;
        mark_of(j, text, bytes, mark);
        if (was_bytes < MARK || memcmp(was, mark, MARK) != 0) {
            status = append(&j->block, text, bytes, err);
            j->begin[++j->count] = j->block.bytes;
            break;
        }
        j->lines++;
        *good = ganz_lines_position(kept);
    }
    ganz_lines_close(&kept);
    return status;
}

static ganz_status open_cache(job *j, ganz_error *err)
{
    unsigned long long good = 0;
    j->cache = fopen(j->kept, "abe");
    if (!j->cache) return ganz_fail_errno(err, "write", j->kept);
    GANZ_TRY(ganz_folder_lock(fileno(j->cache), j->kept, err));
    GANZ_TRY(skip_kept(j, &good, err));
    return ftruncate(fileno(j->cache), (off_t)good) == 0 ? GANZ_OK : ganz_fail_errno(err, "shorten", j->kept);
}

/* ---- translating -------------------------------------------------------------------------------- */

/* Greedy: the teacher's probabilities teach, and they are asked for whichever words came before. */
static ganz_status open_decoder(job *j, ganz_error *err)
{
    GANZ_TRY(ganz_model_open(&j->model, j->how->model, err));
    if (j->model->info.integer) return ganz_fail(err, GANZ_EINVAL, "%s: an integer model already", j->how->model);
    const int positions = j->model->info.config.max_positions;
    j->longest = positions < LONGEST ? positions : LONGEST;
    const ganz_decoder_options o = {.search = {.beam = 1, .n_best = 1, .alpha = 0.6},
                                    .batch_tokens = GANZ_BATCH_TOKENS,
                                    .max_input = j->longest,
                                    .stop = j->how->stop};
    GANZ_TRY(ganz_cpu_backend_open(&j->be, j->how->threads > 0 ? j->how->threads : ganz_cpu_count(), err));
    return ganz_decoder_open(&j->decoder, j->be, &j->model->net, &j->model->weights, &o, err);
}

/* Ids of all lines of the block. */
static ganz_status encode_block(job *j, int *sentences, ganz_error *err)
{
    *sentences = 0;
    j->ids.count = 0;
    for (int i = 0; i < j->count; i++) {
        const size_t before = j->ids.count;
        GANZ_TRY(ganz_vocab_encode_sentence(j->model->vocab, GANZ_SOURCE, j->block.text + j->begin[i],
                                            j->begin[i + 1] - j->begin[i], &j->ids, err));
        const size_t count = j->ids.count - before;
        const bool fits = ganz_ids_before_end(j->ids.ids + before, count) > 0 && count <= (size_t)j->longest;
        j->place[i] = fits ? *sentences : -1;
        if (!fits) j->ids.count = before;
        if (!fits) continue;
        j->at[*sentences] = before;
        j->sentence[(*sentences)++] = (ganz_sentence){.count = (int)count};
    }
    for (int i = 0; i < *sentences; i++) j->sentence[i].ids = j->ids.ids + j->at[i];
    return GANZ_OK;
}

/* A line of the file: mark, tab, ids of the translation, tab, its text. Nothing behind the tabs: it was left out. */
static ganz_status keep(job *j, int i, const ganz_found *found, ganz_error *err)
{
    char mark[MARK + 1];
    mark_of(j, j->block.text + j->begin[i], j->begin[i + 1] - j->begin[i], mark);
    j->out.bytes = 0;
    bool written = fwrite(mark, 1, MARK, j->cache) == MARK;
    for (int k = 0; found && k < found->count; k++)
        written = fprintf(j->cache, k ? " %d" : "%d", (int)found->ids[k]) > 0 && written;
    if (found)
        GANZ_TRY(ganz_vocab_decode(j->model->vocab, GANZ_TARGET, found->ids, (size_t)found->count, &j->out, err));
    for (size_t k = 0; k < j->out.bytes; k++)
        if (j->out.text[k] == '\n') j->out.text[k] = ' ';
    written = fputc('\t', j->cache) != EOF && fwrite(j->out.text, 1, j->out.bytes, j->cache) == j->out.bytes &&
              fputc('\n', j->cache) != EOF && written;
    return written ? GANZ_OK : ganz_fail_errno(err, "write", j->kept);
}

static ganz_status translate_block(job *j, ganz_error *err)
{
    const ganz_found *found = NULL;
    const int *counts;
    int sentences;
    GANZ_TRY(encode_block(j, &sentences, err));
    if (sentences > 0) GANZ_TRY(ganz_decoder_run(j->decoder, j->sentence, sentences, &found, &counts, err));
    for (int i = 0; i < j->count; i++) GANZ_TRY(keep(j, i, j->place[i] < 0 ? NULL : &found[j->place[i]], err));
    if (fflush(j->cache) != 0) return ganz_fail_errno(err, "write", j->kept);
    j->lines += j->count;
    j->count = 0;
    j->block.bytes = 0;
    if (j->how->progress) j->how->progress(j->how->context, j->lines);
    return GANZ_OK;
}

/* One more line into the block; *more: there was one. */
static ganz_status take_line(job *j, bool *more, ganz_error *err)
{
    const char *text;
    size_t bytes;
    GANZ_TRY(ganz_lines_next(j->text, &text, &bytes, err));
    *more = text != NULL;
    if (!text) return GANZ_OK;
    if (!ganz_utf8_valid(text, bytes))
        return ganz_fail(err, GANZ_EINVAL, "%s: line %lld is not UTF-8", ganz_lines_name(j->text),
                         ganz_lines_number(j->text));
    GANZ_TRY(append(&j->block, text, bytes, err));
    j->begin[++j->count] = j->block.bytes;
    return GANZ_OK;
}

static ganz_status translate_all(job *j, ganz_error *err)
{
    const long long most = j->how->most_lines;
    bool more = true;
    GANZ_TRY(open_decoder(j, err));
    while (more) {
        while (more && j->count < BLOCK && (most == 0 || j->lines + j->count < most))
            GANZ_TRY(take_line(j, &more, err));
        if (j->count == 0) break;
        GANZ_TRY(translate_block(j, err));
    }
    return j->lines > 0 ? GANZ_OK : ganz_fail(err, GANZ_EINVAL, "%s has no lines", j->how->text);
}

/* ---- the corpus --------------------------------------------------------------------------------- */

typedef struct pairs {
    ganz_lines *kept;
    ganz_output *source, *target; /* of what is held out */
    ganz_corpus_writer *corpus;
    long long learned; /* pairs of the corpus */
} pairs;

/* Ids of a line of kept translations behind those that are there; *rest: its text. */
static ganz_status read_ids(job *j, const char *line, size_t bytes, const char **rest, ganz_error *err)
{
    const char *const at = line + MARK, *const tab = memchr(at, '\t', bytes - MARK);
    if (!tab) return ganz_fail(err, GANZ_EFORMAT, "%s is damaged: remove it", j->kept);
    *rest = tab + 1;
    const ganz_status status = ganz_ids_read(at, (size_t)(tab - at), ganz_vocab_size(j->model->vocab), &j->ids);
    if (status == GANZ_ENOMEM) return no_memory(err);
    return status == GANZ_OK ? GANZ_OK : ganz_fail(err, status, "%s is damaged: remove it", j->kept);
}

static ganz_status write_line(ganz_output *out, const char *text, size_t bytes, ganz_error *err)
{
    GANZ_TRY(ganz_output_write(out, text, bytes, err));
    return ganz_output_write(out, "\n", 1, err);
}

/* One line of the text and its translation: into the corpus or, held out, into the files for validation. */
static ganz_status take_pair(job *j, pairs *p, bool held_out, ganz_error *err)
{
    const char *source, *kept, *rest = NULL;
    size_t bytes, kept_bytes;
    GANZ_TRY(ganz_lines_next(j->text, &source, &bytes, err));
    GANZ_TRY(ganz_lines_next(p->kept, &kept, &kept_bytes, err));
    if (!source || !kept || kept_bytes < MARK)
        return ganz_fail(err, GANZ_EIO, "%s has changed in the meantime", j->kept);
    j->ids.count = 0;
    GANZ_TRY(
        ganz_vocab_encode_line(j->model->vocab, j->text, &(ganz_passage){source, bytes, GANZ_SOURCE}, &j->ids, err));
    const size_t count = j->ids.count;
    GANZ_TRY(read_ids(j, kept, kept_bytes, &rest, err));
    if (j->ids.count == count) return GANZ_OK; /* left out, or nothing was said */
    if (held_out) {
        GANZ_TRY(write_line(p->source, source, bytes, err));
        return write_line(p->target, rest, kept_bytes - (size_t)(rest - kept), err);
    }
    j->ids.ids[j->ids.count++] = GANZ_EOS;
    p->learned++;
    return ganz_corpus_writer_add(p->corpus, j->ids.ids, count, j->ids.ids + count, j->ids.count - count, err);
}

static ganz_status open_pairs(const job *j, pairs *p, ganz_error *err)
{
    const ganz_vocab *const vocab = j->model->vocab;
    GANZ_TRY(ganz_lines_open(&p->kept, j->kept, err));
    GANZ_TRY(ganz_output_open(&p->source, j->files->valid_source, err));
    GANZ_TRY(ganz_output_open(&p->target, j->files->valid_target, err));
    const ganz_corpus_vocab about = ganz_corpus_vocab_of(vocab);
    GANZ_TRY(ganz_corpus_writer_open(&p->corpus, j->files->corpus, &about, err));
    return ganz_corpus_writer_group(p->corpus, 1, err);
}

/* The last lines are for validation: what was never learned from. */
static ganz_status fill_pairs(job *j, pairs *p, ganz_error *err)
{
    const long long share = j->lines / HELD_OUT, held = share < MOST_HELD_OUT ? share : MOST_HELD_OUT;
    GANZ_TRY(open_pairs(j, p, err));
    for (long long i = 0; i < j->lines; i++) GANZ_TRY(take_pair(j, p, i >= j->lines - held, err));
    if (p->learned == 0) return ganz_fail(err, GANZ_EINVAL, "%s: the model makes nothing of its lines", j->how->text);
    j->files->lines = j->lines;
    j->files->held_out = held;
    GANZ_TRY(ganz_output_finish(&p->source, err));
    GANZ_TRY(ganz_output_finish(&p->target, err));
    return ganz_corpus_writer_finish(&p->corpus, err);
}

static ganz_status write_pairs(job *j, ganz_error *err)
{
    pairs p = {0};
    ganz_lines_close(&j->text);
    ganz_status status = ganz_lines_open(&j->text, j->how->text, err);
    if (status == GANZ_OK) status = fill_pairs(j, &p, err);
    ganz_lines_close(&p.kept);
    ganz_output_abandon(&p.source);
    ganz_output_abandon(&p.target);
    ganz_corpus_writer_abandon(&p.corpus);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static ganz_status name_files(job *j, ganz_error *err)
{
    ganz_own_text_files *const f = j->files;
    char *const names[] = {j->kept, f->valid_source, f->valid_target, f->corpus};
    static const char *const words[] = {"translated.tsv", "valid.source", "valid.target", "text.corpus"};
    for (size_t i = 0; i < GANZ_COUNT(words); i++)
        if (snprintf(names[i], GANZ_OWN_TEXT_PATH, "%s/%s", j->how->folder, words[i]) >= GANZ_OWN_TEXT_PATH)
            return ganz_fail(err, GANZ_ELIMIT, "%s: the name of the folder is too long", j->how->folder);
    return GANZ_OK;
}

static ganz_status run(job *j, ganz_error *err)
{
    const ganz_folder folder = {.path = j->how->folder};
    GANZ_TRY(name_files(j, err));
    GANZ_TRY(ganz_lines_open(&j->text, j->how->text, err));
    GANZ_TRY(sum_model(j, err));
    GANZ_TRY(ganz_folder_make(&folder, err));
    GANZ_TRY(open_cache(j, err));
    GANZ_TRY(translate_all(j, err));
    return write_pairs(j, err);
}

ganz_status ganz_own_text_prepare(const ganz_own_text *how, ganz_own_text_files *files, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    job *const j = ganz_alloc(1, sizeof *j);
    if (!j) return no_memory(err);
    *files = (ganz_own_text_files){0};
    j->how = how;
    j->files = files;
    const ganz_status status = run(j, err);
    if (j->cache) fclose(j->cache);
    ganz_decoder_close(&j->decoder);
    if (j->be) j->be->close(j->be);
    ganz_model_close(&j->model);
    ganz_lines_close(&j->text);
    ganz_text_free(&j->block);
    ganz_text_free(&j->out);
    ganz_ids_free(&j->ids);
    ganz_free(j);
    return status;
}
