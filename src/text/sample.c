/* From text files to a vocabulary: the sample, its token counts, the search. */
#include "base/io.h"
#include "base/utf8.h"
#include "text/learn.h"
#include "text/tokenizer.h"

void ganz_vocab_learning_defaults(ganz_vocab_learning *how)
{
    *how = (ganz_vocab_learning){.target_size = 32768, .sample_chars = 1000000, .max_length = 200};
}

typedef struct sampling {
    const ganz_vocab_learning *how;
    ganz_counts counts;
    ganz_vocab_progress progress;
    ganz_text repaired;
} sampling;

/* Leaves a valid line as it is; turns another one into its repaired copy, or refuses it. */
static ganz_status make_valid(sampling *s, const ganz_lines *lines, const char **line, size_t *bytes, ganz_error *err)
{
    if (ganz_utf8_valid(*line, *bytes)) return GANZ_OK;
    const char *const name = ganz_lines_name(lines);
    const long long number = ganz_lines_number(lines);
    if (!s->how->replace_invalid) return ganz_fail(err, GANZ_EFORMAT, "%s:%lld: not UTF-8", name, number);
    if (!ganz_grow((void **)&s->repaired.text, &s->repaired.capacity, *bytes * 3, 1))
        return ganz_fail(err, GANZ_ENOMEM, "%s:%lld: out of memory", name, number);
    size_t replaced;
    *bytes = ganz_utf8_repair(*line, *bytes, s->repaired.text, &replaced);
    *line = s->repaired.text;
    return GANZ_OK;
}

static bool count_tokens(sampling *s, const char *line, size_t bytes)
{
    ganz_tokenizer tokens = {line, bytes, 0};
    const char *token;
    size_t length;
    while (ganz_tokenizer_next(&tokens, &token, &length))
        if (!ganz_counts_add(&s->counts, token, length, 1)) return false;
    s->progress.lines++;
    s->progress.characters += (long long)ganz_count_characters(line, bytes);
    s->progress.tokens = (long long)s->counts.size;
    return true;
}

/* Passes over `skip` lines, takes one, and so on; ends at the first line it would take when the budget is spent. */
static ganz_status take_lines(sampling *s, ganz_lines *lines, unsigned long long skip, ganz_error *err)
{
    unsigned long long passed = 0;
    const long long limit = s->progress.characters + s->how->sample_chars;
    for (;;) {
        const char *line;
        size_t bytes;
        GANZ_TRY(ganz_lines_next(lines, &line, &bytes, err));
        if (!line) return GANZ_OK;
        if (ganz_flag_is_set(s->how->stop)) return ganz_fail(err, GANZ_ESTOPPED, "stopped");
        if (passed < skip) {
            passed++;
            continue;
        }
        if (s->how->sample_chars > 0 && s->progress.characters >= limit) return GANZ_OK;
        passed = 0;
        GANZ_TRY(make_valid(s, lines, &line, &bytes, err));
        line = ganz_strip(line, &bytes);
        if (!count_tokens(s, line, bytes)) return ganz_fail(err, GANZ_ENOMEM, "out of memory to count tokens");
    }
}

static ganz_status take_file(sampling *s, const char *path, ganz_error *err)
{
    unsigned long long skip = 0;
    if (s->how->sample_chars > 0) {
        unsigned long long bytes;
        ganz_error why = {0};
        const ganz_status status = ganz_text_file_bytes(path, &bytes, &why);
        if (status == GANZ_EINVAL)
            return ganz_fail(err, status, "%s to sample by; sample 0 characters to take all of it", why.message);
        if (status != GANZ_OK) return ganz_fail(err, status, "%s", why.message);
        skip = bytes / (unsigned long long)s->how->sample_chars / 2;
    }
    ganz_lines *lines;
    GANZ_TRY(ganz_lines_open(&lines, path, err));
    const ganz_status status = take_lines(s, lines, skip, err);
    ganz_lines_close(&lines);
    GANZ_TRY(status);
    if (s->how->progress) s->how->progress(s->how->context, &s->progress);
    return GANZ_OK;
}

static ganz_status check(const ganz_vocab_learning *how, ganz_error *err)
{
    if (how->target_size < 1 || how->target_size > 1000000)
        return ganz_fail(err, GANZ_EINVAL, "a vocabulary has 1 to 1000000 entries, not %d", how->target_size);
    if (how->sample_chars < 0) return ganz_fail(err, GANZ_EINVAL, "cannot sample %lld characters", how->sample_chars);
    if (how->max_length < 2 || how->max_length > 1000)
        return ganz_fail(err, GANZ_EINVAL, "the length limit of an entry is 2 to 1000, not %d", how->max_length);
    for (int i = 0; i < how->mark_count; i++) {
        if (!ganz_is_mark(how->marks[i]) || strcmp(how->marks[i], "<pad>") == 0)
            return ganz_fail(err, GANZ_EINVAL, "a mark is small letters and digits between < and >, not %s",
                             how->marks[i]);
        for (int j = 0; j < i; j++)
            if (strcmp(how->marks[i], how->marks[j]) == 0)
                return ganz_fail(err, GANZ_EINVAL, "the mark %s comes twice", how->marks[i]);
    }
    return GANZ_OK;
}

/* Puts the marks behind the two entries that every vocabulary begins with, as Tensor2Tensor does with reserved tokens.
 */
static bool add_marks(const ganz_vocab_learning *how, const ganz_text *learned, ganz_text *file)
{
    const size_t head = sizeof "'<pad>_'\n'<EOS>_'\n" - 1;
    bool good = ganz_text_append(file, learned->text, head);
    for (int i = 0; good && i < how->mark_count; i++)
        good = ganz_text_append(file, "'", 1) && ganz_text_append(file, how->marks[i], strlen(how->marks[i])) &&
               ganz_text_append(file, "_'\n", 3);
    return good && ganz_text_append(file, learned->text + head, learned->bytes - head);
}

static ganz_status learn(sampling *s, ganz_vocab **vocab, ganz_error *err)
{
    if (s->counts.size == 0) return ganz_fail(err, GANZ_EINVAL, "no text to learn a vocabulary from");
    ganz_suffixes suffixes;
    ganz_text learned = {0}, file = {0};
    GANZ_TRY(ganz_suffixes_open(&suffixes, &s->counts, s->how->max_length - 1, err));
    ganz_status status = ganz_learn_search(&suffixes, s->how, &s->progress, &learned, err);
    ganz_suffixes_close(&suffixes);
    if (status == GANZ_OK && !add_marks(s->how, &learned, &file))
        status = ganz_fail(err, GANZ_ENOMEM, "out of memory for the vocabulary");
    if (status == GANZ_OK) status = ganz_vocab_parse(vocab, file.text, file.bytes, "the learned vocabulary", err);
    ganz_text_free(&learned);
    ganz_text_free(&file);
    return status;
}

ganz_status ganz_vocab_learn(ganz_vocab **vocab, const char *const *paths, int count, const ganz_vocab_learning *how,
                             ganz_error *err)
{
    *vocab = NULL;
    GANZ_TRY(check(how, err));
    sampling s = {.how = how};
    ganz_status status = GANZ_OK;
    for (int i = 0; i < count && status == GANZ_OK; i++) status = take_file(&s, paths[i], err);
    if (status == GANZ_OK) status = learn(&s, vocab, err);
    ganz_counts_free(&s.counts);
    ganz_text_free(&s.repaired);
    return status;
}
