/* Reads SentencePiece models: protobuf messages, of which four fields deep suffice; then tables are made. */
#include <float.h>
#include <string.h>

#include "text/spm.h"

/* Far above any real model (32,000 pieces are 800 kB); bounds what a hostile file can make us allocate. */
enum { MAX_FILE = 64 << 20, MAX_PIECES = 1 << 20, MAX_PIECE = 4096, MAX_REPLACEMENT = 255 };

/* ---- protobuf ----------------------------------------------------------------------------------- */

typedef struct message {
    const unsigned char *at, *end;
    bool failed;
} message;

typedef struct field {
    unsigned number, wire;
    uint64_t value;            /* of wires 0, 1 and 5 */
    const unsigned char *data; /* of wire 2 */
    size_t bytes;
} field;

static uint64_t read_varint(message *m)
{
    uint64_t value = 0;
    for (unsigned shift = 0; m->at < m->end && shift < 64; shift += 7) {
        const unsigned char byte = *m->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
    m->failed = true;
    return 0;
}

static uint64_t read_fixed(message *m, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(m->end - m->at) < bytes) return m->failed = true, 0;
    for (size_t i = 0; i < bytes; i++) value |= (uint64_t)m->at[i] << (8 * i);
    m->at += bytes;
    return value;
}

/* False at the end, and when the message is no message. */
static bool next_field(message *m, field *f)
{
    if (m->failed || m->at == m->end) return false;
    const uint64_t key = read_varint(m);
    *f = (field){.number = (unsigned)(key >> 3), .wire = key & 7};
    if (f->wire == 1) f->value = read_fixed(m, 8);
    else if (f->wire == 5) f->value = read_fixed(m, 4);
    else if (f->wire == 0 || f->wire == 2) f->value = read_varint(m);
    else m->failed = true;
    if (key >> 3 == 0 || key >> 32 != 0) m->failed = true;
    if (f->wire != 2 || m->failed) return !m->failed;
    if (f->value > (size_t)(m->end - m->at)) return m->failed = true, false;
    f->data = m->at;
    f->bytes = (size_t)f->value;
    m->at += f->bytes;
    return true;
}

static message message_of(const field *f) { return (message){f->data, f->data + f->bytes, f->wire != 2}; }

/* ---- the messages -------------------------------------------------------------------------------- */

static bool read_piece(ganz_spm *s, const field *outer)
{
    message m = message_of(outer);
    ganz_spm_piece p = {.role = GANZ_SPM_NORMAL};
    field f;
    while (next_field(&m, &f)) {
        const uint32_t bits = (uint32_t)f.value;
        if (f.number == 1 && f.wire == 2) p.text = (const char *)f.data, p.bytes = (uint32_t)f.bytes;
        if (f.number == 2 && f.wire == 5) memcpy(&p.score, &bits, sizeof p.score);
        if (f.number == 3 && f.wire == 0) p.role = (ganz_spm_role)(f.value <= GANZ_SPM_BYTE ? bits : 0);
    }
    /* A score that is no number compares with nothing. */
    if (m.failed || p.role < GANZ_SPM_NORMAL || p.bytes < 1 || p.bytes > MAX_PIECE || !(p.score - p.score == 0))
        return false;
    if (s->count == MAX_PIECES || memchr(p.text, '\0', p.bytes)) return false;
    s->pieces[s->count++] = p;
    return true;
}

static bool read_trainer(ganz_spm *s, const field *outer)
{
    message m = message_of(outer);
    field f;
    while (next_field(&m, &f)) {
        if (f.wire != 0) continue;
        if (f.number == 3) s->type = (ganz_spm_type)(f.value <= GANZ_SPM_CHAR ? f.value : 0);
        if (f.number == 24) s->space_behind = f.value != 0;
        if (f.number == 35) s->byte_fallback = f.value != 0;
    }
    return !m.failed;
}

/* Its strings end in NUL and are short, so that no text can grow without bound. */
static bool read_map(ganz_spm *s, const field *f)
{
    if (f->bytes == 0) return true;
    message m = message_of(f);
    const uint64_t bytes = read_fixed(&m, 4);
    if (m.failed || bytes % 4 != 0 || bytes == 0 || bytes >= f->bytes - 4) return false;
    s->units = f->data + 4;
    s->unit_count = (size_t)bytes / 4;
    s->replacements = (const char *)f->data + 4 + bytes;
    s->replacement_bytes = f->bytes - 4 - (size_t)bytes;
    if (s->replacements[s->replacement_bytes - 1] != '\0') return false;
    for (size_t at = 0; at < s->replacement_bytes;) {
        const size_t length = strlen(s->replacements + at);
        if (length > MAX_REPLACEMENT) return false;
        at += length + 1;
    }
    return true;
}

static bool read_normalizer(ganz_spm *s, const field *outer)
{
    message m = message_of(outer);
    field f;
    while (next_field(&m, &f)) {
        if (f.number == 2 && f.wire == 2 && !read_map(s, &f)) return false;
        if (f.wire != 0) continue;
        if (f.number == 3) s->dummy_prefix = f.value != 0;
        if (f.number == 4) s->squeeze = f.value != 0;
        if (f.number == 5) s->escape = f.value != 0;
    }
    return !m.failed;
}

static ganz_status read_model(ganz_spm *s, const char *name, ganz_error *err)
{
    message m = {(const unsigned char *)s->data, (const unsigned char *)s->data + s->bytes, false};
    field f;
    while (next_field(&m, &f)) {
        if (!ganz_grow((void **)&s->pieces, &s->capacity, s->count + 1, sizeof *s->pieces))
            return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory for the vocabulary", name);
        if (f.number == 1 && !read_piece(s, &f))
            return ganz_fail(err, GANZ_EFORMAT, "%s: piece %zu of the SentencePiece model is damaged", name, s->count);
        if (f.number == 2 && !read_trainer(s, &f))
            return ganz_fail(err, GANZ_EFORMAT, "%s: the settings of the SentencePiece model are damaged", name);
        if (f.number == 3 && !read_normalizer(s, &f))
            return ganz_fail(err, GANZ_EFORMAT, "%s: the character map of the SentencePiece model is damaged", name);
    }
    if (m.failed) return ganz_fail(err, GANZ_EFORMAT, "%s: not a SentencePiece model, or damaged", name);
    if (s->type != GANZ_SPM_UNIGRAM && s->type != GANZ_SPM_BPE && s->type != GANZ_SPM_CHAR)
        return ganz_fail(err, GANZ_EUNSUPPORTED,
                         "%s: a SentencePiece model of type %d; this build knows unigram (1), BPE (2) and char (4)",
                         name, (int)s->type);
    return GANZ_OK;
}

/* ---- tables -------------------------------------------------------------------------------------- */

static int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

static bool note_byte(ganz_spm *s, int32_t piece)
{
    const ganz_spm_piece *const p = &s->pieces[piece];
    if (p->bytes != 6 || memcmp(p->text, "<0x", 3) != 0 || p->text[5] != '>') return false;
    const int high = hex_digit(p->text[3]), low = hex_digit(p->text[4]);
    if (high < 0 || low < 0) return false;
    s->byte_pieces[high * 16 + low] = piece;
    return true;
}

static ganz_status find_specials(ganz_spm *s, const char *name, ganz_error *err)
{
    s->unknown = s->end = -1;
    s->lowest = FLT_MAX;
    s->highest = FLT_MIN; /* as the library has it, not the lowest float */
    for (int i = 0; i < 256; i++) s->byte_pieces[i] = -1;
    for (size_t i = 0; i < s->count; i++) {
        const ganz_spm_piece *const p = &s->pieces[i];
        if (p->role == GANZ_SPM_UNKNOWN && s->unknown >= 0)
            return ganz_fail(err, GANZ_EFORMAT, "%s: the SentencePiece model has two unknown pieces", name);
        if (p->role == GANZ_SPM_UNKNOWN) s->unknown = (int32_t)i;
        if (p->role == GANZ_SPM_CONTROL && p->bytes == 4 && memcmp(p->text, "</s>", 4) == 0) s->end = (int32_t)i;
        if (p->role == GANZ_SPM_BYTE && !note_byte(s, (int32_t)i))
            return ganz_fail(err, GANZ_EFORMAT, "%s: piece %zu stands for no byte", name, i);
        if (p->role != GANZ_SPM_NORMAL) continue;
        if (p->score < s->lowest) s->lowest = p->score;
        if (p->score > s->highest) s->highest = p->score;
    }
    if (s->unknown < 0) return ganz_fail(err, GANZ_EFORMAT, "%s: the SentencePiece model has no unknown piece", name);
    for (int i = 0; s->byte_fallback && i < 256; i++)
        if (s->byte_pieces[i] < 0)
            return ganz_fail(err, GANZ_EFORMAT, "%s: the SentencePiece model has no piece for the byte 0x%02X", name,
                             (unsigned)i);
    return GANZ_OK;
}

static bool is_text(ganz_spm_role role)
{
    return role == GANZ_SPM_NORMAL || role == GANZ_SPM_USER || role == GANZ_SPM_UNUSED;
}

/* A trie of pieces that text may become, or of the user's own alone. */
static ganz_status index_pieces(const ganz_spm *s, ganz_trie *trie, bool users, ganz_error *err)
{
    ganz_trie_entry *const entries = ganz_alloc(s->count, sizeof *entries);
    size_t count = 0;
    if (!entries) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a vocabulary");
    for (size_t i = 0; i < s->count; i++) {
        const ganz_spm_piece *const p = &s->pieces[i];
        if (users ? p->role == GANZ_SPM_USER : is_text(p->role))
            entries[count++] = (ganz_trie_entry){p->text, p->bytes, (int32_t)i};
    }
    const ganz_status status = ganz_trie_open(trie, entries, count, err);
    ganz_free(entries);
    return status;
}

size_t ganz_spm_user_piece(const ganz_spm *s, const char *text, size_t bytes)
{
    size_t longest = 0;
    uint32_t node = 0;
    for (size_t i = 0; i < bytes; i++) {
        node = ganz_trie_child(&s->users, node, (unsigned char)text[i]);
        if (node == 0) break;
        if (s->users.nodes[node].id >= 0) longest = i + 1;
    }
    return longest;
}

bool ganz_spm_recognise(const void *data, size_t bytes)
{
    const unsigned char *const start = data; /* a piece, which begins with its text */
    return bytes > 3 && start[0] == 0x0A && start[2] == 0x0A && start[1] > start[3];
}

ganz_status ganz_spm_open(ganz_spm **spm, const void *data, size_t bytes, const char *name, ganz_error *err)
{
    *spm = NULL;
    if (bytes > MAX_FILE)
        return ganz_fail(err, GANZ_ELIMIT, "%s: SentencePiece models have at most %d bytes", name, MAX_FILE);
    ganz_spm *s = ganz_alloc(1, sizeof *s);
    ganz_status status = GANZ_ENOMEM;
    if (s) s->data = ganz_alloc(bytes + 1, 1);
    if (!s || !s->data) ganz_fail(err, status, "%s: out of memory for the vocabulary", name);
    else status = GANZ_OK;
    if (status != GANZ_OK) goto out;
    if (bytes > 0) memcpy(s->data, data, bytes);
    s->bytes = bytes;
    s->type = GANZ_SPM_UNIGRAM;
    s->dummy_prefix = s->squeeze = s->escape = true;
    GANZ_CHECK(read_model(s, name, err));
    GANZ_CHECK(find_specials(s, name, err));
    GANZ_CHECK(index_pieces(s, &s->trie, false, err));
    GANZ_CHECK(index_pieces(s, &s->users, true, err));
    *spm = s;
    return GANZ_OK;
out:
    ganz_spm_close(&s);
    return status;
}

void ganz_spm_close(ganz_spm **spm)
{
    ganz_spm *const s = *spm;
    *spm = NULL;
    if (!s) return;
    ganz_trie_close(&s->trie);
    ganz_trie_close(&s->users);
    ganz_free(s->pieces);
    ganz_free(s->data);
    ganz_free(s);
}
