/* Tensor2Tensor's subwords, a kind of vocabulary: its file, text to ids by the longest entries, ids to text. */
#include <string.h>

#include "base/io.h"
#include "text/matcher.h"
#include "text/tokenizer.h"
#include "text/vocab.h"

/* Far above any real vocabulary (32,768 entries are 400 kB); bounds what a hostile file can make us allocate. */
enum { MAX_FILE = 16 << 20, MAX_ENTRY = 4096, MAX_MARK = 64 };

typedef struct subwords {
    ganz_vocab vocab;
    char *name;      /* for messages */
    ganz_text file;  /* 'entry'\n for each id */
    size_t *begin;   /* (size): where each entry starts in the file, behind its quote */
    uint32_t *bytes; /* (size) */
    size_t size, begin_capacity, bytes_capacity;
    ganz_matcher matcher;
    ganz_alphabet *alphabet;
    bool plain[128]; /* ASCII that needs no escape */
} subwords;

static const subwords *subwords_of(const ganz_vocab *vocab) { return (const subwords *)vocab; }

static const char part_name[] = "vocabulary";

static int list_parts(const ganz_vocab *vocab, ganz_vocab_part parts[GANZ_VOCAB_PARTS])
{
    const subwords *const v = subwords_of(vocab);
    parts[0] = (ganz_vocab_part){part_name, v->file.text, v->file.bytes};
    return 1;
}

static const char *entry_text(const subwords *v, size_t id) { return v->file.text + v->begin[id]; }

/* ---- marks -------------------------------------------------------------------------------------- */

bool ganz_is_mark(const char *name)
{
    const size_t bytes = strlen(name);
    if (bytes < 3 || bytes > MAX_MARK || name[0] != '<' || name[bytes - 1] != '>') return false;
    for (size_t i = 1; i + 1 < bytes; i++)
        if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9'))) return false;
    return true;
}

int ganz_vocab_mark(const ganz_vocab *vocab, const char *name)
{
    if (vocab->kind != &ganz_subwords || !ganz_is_mark(name)) return -1;
    char entry[MAX_MARK + 2];
    const size_t bytes = strlen(name) + 1;
    memcpy(entry, name, bytes - 1);
    entry[bytes - 1] = '_';
    const int32_t id = ganz_trie_find(&subwords_of(vocab)->matcher.trie, entry, bytes);
    return id > GANZ_EOS ? id : -1;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static ganz_status no_memory(const subwords *v, ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory for the vocabulary", v->name);
}

/* A line of the file: stripped, then without the quotes around it if it has a pair. */
static ganz_status add_line(subwords *v, const char *line, size_t bytes, ganz_error *err)
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
    if (v->size < GANZ_COUNT(reserved) && bytes == 5 && memcmp(line, reserved[v->size], bytes) == 0) {
        line = reserved[v->size]; /* older files leave the mark at the end of a word out */
        bytes = 6;
    }
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
static ganz_status check_alphabet(subwords *v, ganz_error *err)
{
    for (const char *c = GANZ_ESCAPE_CHARACTERS; *c; c++) {
        if (ganz_trie_find(&v->matcher.trie, c, 1) < 0)
            return ganz_fail(err, GANZ_EFORMAT, "%s: no vocabulary entry for the character %c", v->name, *c);
        ganz_alphabet_add(v->alphabet, *c);
    }
    for (size_t id = 0; id < v->size; id++) {
        const char *const entry = entry_text(v, id);
        for (size_t at = 0; at < v->bytes[id];) {
            int32_t code;
            const size_t step = ganz_next_character(entry + at, &code);
            if (!ganz_alphabet_has(v->alphabet, code) && ganz_trie_find(&v->matcher.trie, entry + at, step) < 0)
                return ganz_fail(err, GANZ_EFORMAT, "%s:%zu: U+%04X occurs here but is no vocabulary entry itself",
                                 v->name, id + 1, (unsigned)code);
            ganz_alphabet_add(v->alphabet, code);
            at += step;
        }
    }
    return GANZ_OK;
}

static ganz_status index_entries(subwords *v, ganz_error *err)
{
    if (v->size < 2) return ganz_fail(err, GANZ_EFORMAT, "%s: not a vocabulary (%zu lines)", v->name, v->size);
    ganz_trie_entry *const entries = ganz_alloc(v->size, sizeof *entries);
    if (!entries) return no_memory(v, err);
    for (size_t id = 0; id < v->size; id++)
        entries[id] = (ganz_trie_entry){entry_text(v, id), v->bytes[id], (int32_t)id};
    const ganz_status status = ganz_matcher_open(&v->matcher, entries, v->size, err);
    ganz_free(entries);
    GANZ_TRY(status);
    v->alphabet = ganz_alloc(1, sizeof *v->alphabet);
    if (!v->alphabet) return no_memory(v, err);
    GANZ_TRY(check_alphabet(v, err));
    for (int c = 0; c < 128; c++) v->plain[c] = c != '\\' && c != '_' && c != '\n' && ganz_alphabet_has(v->alphabet, c);
    return GANZ_OK;
}

static void close_subwords(ganz_vocab *vocab)
{
    subwords *const v = (subwords *)vocab;
    ganz_matcher_close(&v->matcher);
    ganz_text_free(&v->file);
    ganz_free(v->alphabet);
    ganz_free(v->begin);
    ganz_free(v->bytes);
    ganz_free(v->name);
    ganz_free(v);
}

static ganz_status start(subwords **out, const char *name, ganz_error *err)
{
    subwords *const v = ganz_alloc(1, sizeof *v);
    *out = v;
    if (v) v->vocab.kind = &ganz_subwords;
    if (v) v->name = ganz_strdup(name);
    if (v && v->name) return GANZ_OK;
    ganz_free(v);
    *out = NULL;
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory for the vocabulary", name);
}

/* The vocabulary if all went well so far, else nothing. */
static ganz_status finish(subwords *v, ganz_status status, ganz_vocab **vocab, ganz_error *err)
{
    if (status == GANZ_OK) status = index_entries(v, err);
    if (status == GANZ_OK) v->vocab.size[GANZ_SOURCE] = v->vocab.size[GANZ_TARGET] = (int)v->size;
    *vocab = status == GANZ_OK ? &v->vocab : NULL;
    if (status != GANZ_OK && v) close_subwords(&v->vocab);
    return status;
}

ganz_status ganz_vocab_parse(ganz_vocab **vocab, const char *text, size_t bytes, const char *name, ganz_error *err)
{
    subwords *v;
    *vocab = NULL;
    GANZ_TRY(start(&v, name, err));
    ganz_status status = GANZ_OK;
    for (size_t at = 0; at < bytes && status == GANZ_OK;) {
        const char *const newline = memchr(text + at, '\n', bytes - at);
        const size_t length = newline ? (size_t)(newline - text) - at : bytes - at;
        status = add_line(v, text + at, length, err);
        at += length + 1;
    }
    return finish(v, status, vocab, err);
}

static ganz_status load_subwords(ganz_vocab **vocab, const ganz_vocab_store *store, ganz_error *err)
{
    const char *text;
    size_t bytes;
    *vocab = NULL;
    GANZ_TRY(store->get(store->context, part_name, &text, &bytes, err));
    return ganz_vocab_parse(vocab, text, bytes, store->name, err);
}

static ganz_status read_lines(subwords *v, ganz_lines *lines, ganz_error *err)
{
    for (;;) {
        const char *line;
        size_t bytes;
        GANZ_TRY(ganz_lines_next(lines, &line, &bytes, err));
        if (!line) return GANZ_OK;
        GANZ_TRY(add_line(v, line, bytes, err));
    }
}

ganz_status ganz_subwords_open(ganz_vocab **vocab, const char *path, ganz_error *err)
{
    *vocab = NULL;
    subwords *v;
    ganz_lines *lines;
    GANZ_TRY(ganz_lines_open(&lines, path, err));
    ganz_status status = start(&v, ganz_lines_name(lines), err);
    if (status == GANZ_OK) status = finish(v, read_lines(v, lines, err), vocab, err);
    ganz_lines_close(&lines);
    return status;
}

/* ---- text to ids -------------------------------------------------------------------------------- */

static bool needs_escape(const subwords *v, const char *token, size_t bytes)
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

/* The ids of one token; `escaped` is scratch. */
static bool encode_token(const subwords *v, const char *token, size_t bytes, ganz_text *escaped, ganz_ids *out)
{
    if (!needs_escape(v, token, bytes)) return ganz_matcher_cut(&v->matcher, token, bytes, out);
    escaped->bytes = 0;
    return ganz_escape(escaped, token, bytes, v->alphabet) &&
           ganz_matcher_cut(&v->matcher, escaped->text, escaped->bytes, out);
}

static bool add_places(ganz_places *places, size_t begin, size_t count)
{
    if (!places) return true;
    if (!ganz_grow((void **)&places->begin, &places->capacity, places->count + count, sizeof *places->begin))
        return false;
    for (size_t i = 0; i < count; i++) places->begin[places->count++] = begin;
    return true;
}

static ganz_status encode(const ganz_vocab *vocab, const ganz_passage *passage, ganz_ids *out, ganz_places *places,
                          ganz_error *err)
{
    const subwords *const v = subwords_of(vocab);
    const size_t before = out->count, first = places ? places->count : 0;
    ganz_text escaped = {0};
    ganz_tokenizer tokens = {passage->text, passage->bytes, 0};
    const char *token;
    size_t length;
    bool good = true;
    while (good && ganz_tokenizer_next(&tokens, &token, &length)) {
        const size_t ids = out->count;
        good = encode_token(v, token, length, &escaped, out) &&
               add_places(places, (size_t)(token - passage->text), out->count - ids);
    }
    ganz_text_free(&escaped);
    if (good) return GANZ_OK;
    out->count = before;
    if (places) places->count = first;
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

static ganz_status decode(const ganz_vocab *vocab, const ganz_id_span *ids, ganz_text *out, size_t *begin,
                          ganz_error *err)
{
    const subwords *const v = subwords_of(vocab);
    const size_t before = out->bytes;
    decoding d = {.begin = begin};
    bool good = true;
    for (size_t i = 0; good && i < ids->count; i++) {
        const int32_t id = ids->ids[i];
        d.seen = i + 1;
        if (id < 0 || (size_t)id >= v->size) continue;
        good = add_entry(&d, entry_text(v, (size_t)id), v->bytes[id], out);
    }
    good = good && end_token(&d, out);
    ganz_text_free(&d.joined);
    ganz_text_free(&d.token);
    if (good) return GANZ_OK;
    out->bytes = before;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for the text of a line");
}

const ganz_vocab_kind ganz_subwords = {
    .name = "subwords",
    .load = load_subwords,
    .parts = list_parts,
    .encode = encode,
    .decode = decode,
    .close = close_subwords,
};
