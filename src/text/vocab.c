/* The vocabulary: its file, text to ids, ids to text. */
#include "ganz/vocab.h"

#include <string.h>

#include "base/io.h"
#include "text/tokenizer.h"
#include "text/trie.h"

/* Far above any real vocabulary (32,768 entries are 400 kB); bounds what a hostile file can make us allocate. */
enum { MAX_FILE = 16 << 20, MAX_ENTRY = 4096 };

struct ganz_vocab {
    char *name;      /* for messages */
    ganz_text file;  /* 'entry'\n for each id */
    size_t *begin;   /* (size): where each entry starts in the file, behind its quote */
    uint32_t *bytes; /* (size) */
    size_t size, begin_capacity, bytes_capacity;
    ganz_trie trie;
    ganz_alphabet *alphabet;
    bool plain[128]; /* ASCII that needs no escape */
};

void ganz_ids_free(ganz_ids *ids)
{
    ganz_free(ids->ids);
    *ids = (ganz_ids){0};
}

void ganz_text_free(ganz_text *text)
{
    ganz_free(text->text);
    *text = (ganz_text){0};
}

int ganz_vocab_size(const ganz_vocab *v) { return (int)v->size; }

const char *ganz_vocab_file(const ganz_vocab *v, size_t *bytes)
{
    *bytes = v->file.bytes;
    return v->file.text;
}

static const char *entry_text(const ganz_vocab *v, size_t id) { return v->file.text + v->begin[id]; }

/* ---- reading ------------------------------------------------------------------------------------ */

static ganz_status no_memory(const ganz_vocab *v, ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory for the vocabulary", v->name);
}

/* A line of the file: stripped, then without the quotes around it if it has a pair. */
static ganz_status add_line(ganz_vocab *v, const char *line, size_t bytes, ganz_error *err)
{
    static const char *const reserved[] = {"<pad>_", "<EOS>_"};
    const size_t number = v->size + 1;
    if (!ganz_utf8_valid(line, bytes)) return ganz_fail(err, GANZ_EFORMAT, "%s:%zu: not UTF-8", v->name, number);
    line = ganz_strip(line, &bytes);
    const char first = bytes > 0 ? line[0] : '\0';
    if ((first == '\'' || first == '"') && line[bytes - 1] == first) {
        line++;
        bytes = bytes >= 2 ? bytes - 2 : 0;
    }
    if (bytes == 0) return ganz_fail(err, GANZ_EFORMAT, "%s:%zu: empty vocabulary entry", v->name, number);
    if (bytes > MAX_ENTRY || v->file.bytes + bytes > MAX_FILE)
        return ganz_fail(err, GANZ_ELIMIT, "%s:%zu: vocabulary too large (%d bytes in one entry, %d in all)", v->name,
                         number, MAX_ENTRY, MAX_FILE);
    if (v->size < GANZ_COUNT(reserved) && (bytes != 6 || memcmp(line, reserved[v->size], bytes) != 0))
        return ganz_fail(err, GANZ_EFORMAT, "%s:%zu: a vocabulary has '%s' here", v->name, number, reserved[v->size]);
    if (!ganz_grow((void **)&v->begin, &v->begin_capacity, number, sizeof *v->begin) ||
        !ganz_grow((void **)&v->bytes, &v->bytes_capacity, number, sizeof *v->bytes) ||
        !ganz_text_append(&v->file, "'", 1))
        return no_memory(v, err);
    v->begin[v->size] = v->file.bytes;
    v->bytes[v->size++] = (uint32_t)bytes;
    return ganz_text_append(&v->file, line, bytes) && ganz_text_append(&v->file, "'\n", 2) ? GANZ_OK
                                                                                           : no_memory(v, err);
}

/* Every character of the alphabet is an entry itself. Then no text can fail to be encoded. */
static ganz_status check_alphabet(ganz_vocab *v, ganz_error *err)
{
    for (const char *c = GANZ_ESCAPE_CHARACTERS; *c; c++) {
        if (ganz_trie_find(&v->trie, c, 1) < 0)
            return ganz_fail(err, GANZ_EFORMAT, "%s: no vocabulary entry for the character %c", v->name, *c);
        ganz_alphabet_add(v->alphabet, *c);
    }
    for (size_t id = 0; id < v->size; id++) {
        const char *const entry = entry_text(v, id);
        for (size_t at = 0; at < v->bytes[id];) {
            int32_t code;
            const size_t step = ganz_next_character(entry + at, &code);
            if (!ganz_alphabet_has(v->alphabet, code) && ganz_trie_find(&v->trie, entry + at, step) < 0)
                return ganz_fail(err, GANZ_EFORMAT, "%s:%zu: U+%04X occurs here but is no vocabulary entry itself",
                                 v->name, id + 1, (unsigned)code);
            ganz_alphabet_add(v->alphabet, code);
            at += step;
        }
    }
    return GANZ_OK;
}

static ganz_status index_entries(ganz_vocab *v, ganz_error *err)
{
    if (v->size < 2) return ganz_fail(err, GANZ_EFORMAT, "%s: not a vocabulary (%zu lines)", v->name, v->size);
    ganz_trie_entry *const entries = ganz_alloc(v->size, sizeof *entries);
    if (!entries) return no_memory(v, err);
    for (size_t id = 0; id < v->size; id++)
        entries[id] = (ganz_trie_entry){entry_text(v, id), v->bytes[id], (int32_t)id};
    const ganz_status status = ganz_trie_open(&v->trie, entries, v->size, err);
    ganz_free(entries);
    GANZ_TRY(status);
    v->alphabet = ganz_alloc(1, sizeof *v->alphabet);
    if (!v->alphabet) return no_memory(v, err);
    GANZ_TRY(check_alphabet(v, err));
    for (int c = 0; c < 128; c++) v->plain[c] = c != '\\' && c != '_' && c != '\n' && ganz_alphabet_has(v->alphabet, c);
    return GANZ_OK;
}

static ganz_status start(ganz_vocab **out, const char *name, ganz_error *err)
{
    *out = ganz_alloc(1, sizeof **out);
    if (*out) (*out)->name = ganz_strdup(name);
    if (*out && (*out)->name) return GANZ_OK;
    ganz_vocab_close(out);
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory for the vocabulary", name);
}

ganz_status ganz_vocab_parse(ganz_vocab **vocab, const char *text, size_t bytes, const char *name, ganz_error *err)
{
    GANZ_TRY(start(vocab, name, err));
    ganz_status status = GANZ_OK;
    for (size_t at = 0; at < bytes && status == GANZ_OK;) {
        const char *const newline = memchr(text + at, '\n', bytes - at);
        const size_t length = newline ? (size_t)(newline - text) - at : bytes - at;
        status = add_line(*vocab, text + at, length, err);
        at += length + 1;
    }
    if (status == GANZ_OK) status = index_entries(*vocab, err);
    if (status != GANZ_OK) ganz_vocab_close(vocab);
    return status;
}

ganz_status ganz_vocab_open(ganz_vocab **vocab, const char *path, ganz_error *err)
{
    *vocab = NULL;
    ganz_lines *lines;
    GANZ_TRY(ganz_lines_open(&lines, path, err));
    ganz_status status;
    GANZ_CHECK(start(vocab, ganz_lines_name(lines), err));
    for (;;) {
        const char *line;
        size_t bytes;
        GANZ_CHECK(ganz_lines_next(lines, &line, &bytes, err));
        if (!line) break;
        GANZ_CHECK(add_line(*vocab, line, bytes, err));
    }
    status = index_entries(*vocab, err);
out:
    ganz_lines_close(&lines);
    if (status != GANZ_OK) ganz_vocab_close(vocab);
    return status;
}

void ganz_vocab_close(ganz_vocab **vocab)
{
    ganz_vocab *const v = *vocab;
    *vocab = NULL;
    if (!v) return;
    ganz_trie_close(&v->trie);
    ganz_text_free(&v->file);
    ganz_free(v->alphabet);
    ganz_free(v->begin);
    ganz_free(v->bytes);
    ganz_free(v->name);
    ganz_free(v);
}

/* ---- text to ids -------------------------------------------------------------------------------- */

static bool needs_escape(const ganz_vocab *v, const char *token, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const unsigned char byte = (unsigned char)token[at];
        if (byte < 128) {
            if (!v->plain[byte]) return true;
            at++;
        } else {
            int32_t code;
            at += ganz_next_character(token + at, &code);
            if (!ganz_alphabet_has(v->alphabet, code)) return true;
        }
    }
    return false;
}

/* The longest entry, again and again, over the token and the underscore behind it. */
static bool add_ids(const ganz_vocab *v, const char *token, size_t bytes, ganz_ids *out)
{
    size_t at = 0;
    while (at <= bytes) {
        size_t length = 0;
        const int32_t id = ganz_trie_longest(&v->trie, token + at, bytes - at, &length);
        GANZ_ASSERT_ALWAYS(id >= 0);
        if (!ganz_grow((void **)&out->ids, &out->capacity, out->count + 1, sizeof *out->ids)) return false;
        out->ids[out->count++] = id;
        at += length;
    }
    return true;
}

ganz_status ganz_vocab_encode(const ganz_vocab *v, const char *text, size_t bytes, ganz_ids *out, ganz_error *err)
{
    if (!ganz_utf8_valid(text, bytes)) return ganz_fail(err, GANZ_EINVAL, "the text is not UTF-8");
    const size_t before = out->count;
    ganz_text escaped = {0};
    ganz_tokenizer tokens = {text, bytes, 0};
    const char *token;
    size_t length;
    bool good = true;
    while (good && ganz_tokenizer_next(&tokens, &token, &length)) {
        if (needs_escape(v, token, length)) {
            escaped.bytes = 0;
            good = ganz_escape(&escaped, token, length, v->alphabet);
            token = escaped.text;
            length = escaped.bytes;
        }
        good = good && add_ids(v, token, length, out);
    }
    ganz_text_free(&escaped);
    if (good) return GANZ_OK;
    out->count = before;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for the ids of a line");
}

/* ---- ids to text -------------------------------------------------------------------------------- */

/* The entries' text is one string that underscores cut into escaped tokens; `joined` holds it up to a cut. */
typedef struct decoding {
    ganz_text joined, token;
    bool after_alnum;
    size_t *begin;       /* of the token of each id; NULL: not wanted */
    size_t seen, placed; /* ids so far; of those, the ones whose token has ended */
} decoding;

static void place_ids(decoding *d, size_t begin)
{
    if (!d->begin) return;
    while (d->placed < d->seen) d->begin[d->placed++] = begin;
}

static bool end_token(decoding *d, ganz_text *out)
{
    if (d->joined.bytes == 0) return place_ids(d, out->bytes), true;
    d->token.bytes = 0;
    if (!ganz_unescape(&d->token, d->joined.text, d->joined.bytes)) return false;
    d->joined.bytes = 0;
    if (!ganz_tokenizer_join(out, d->token.text, d->token.bytes, &d->after_alnum)) return false;
    place_ids(d, out->bytes - d->token.bytes);
    return true;
}

static bool add_entry(decoding *d, const char *entry, size_t bytes, ganz_text *out)
{
    while (bytes > 0) {
        const char *const cut = memchr(entry, '_', bytes);
        const size_t length = cut ? (size_t)(cut - entry) : bytes;
        if (!ganz_text_append(&d->joined, entry, length)) return false;
        if (!cut) break;
        if (!end_token(d, out)) return false;
        entry += length + 1;
        bytes -= length + 1;
    }
    return true;
}

ganz_status ganz_vocab_decode(const ganz_vocab *v, const int32_t *ids, size_t count, ganz_text *out, ganz_error *err)
{
    return ganz_vocab_decode_places(v, ids, count, out, NULL, err);
}

ganz_status ganz_vocab_decode_places(const ganz_vocab *v, const int32_t *ids, size_t count, ganz_text *out,
                                     size_t *begin, ganz_error *err)
{
    const size_t before = out->bytes;
    decoding d = {.begin = begin};
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        d.seen = i + 1;
        if (ids[i] < 0 || (size_t)ids[i] >= v->size) continue;
        good = add_entry(&d, entry_text(v, (size_t)ids[i]), v->bytes[ids[i]], out);
    }
    good = good && end_token(&d, out);
    ganz_text_free(&d.joined);
    ganz_text_free(&d.token);
    if (good) return GANZ_OK;
    out->bytes = before;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for the text of a line");
}
