/* Pieces of SentencePiece models as a kind of vocabulary: text to ids through a model and a list, ids to text by
 * joining entries. Labels in front of a text, like >>deu<<, are entries of the list. */
#include "text/pieces.h"

#include <string.h>

#include "base/io.h"
#include "base/utf8.h"
#include "text/piece_list.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

static const char space_mark[] = "\xE2\x96\x81";

typedef struct pieces {
    ganz_vocab vocab;
    ganz_spm *spm[2];        /* target's NULL: the source's serves */
    ganz_listing listing[2]; /* the source's without entries: the target's serves */
    int32_t *ids[2];         /* (pieces of its model): id of each piece of each side */
    char **labels;           /* (label_count) deu, ... */
    size_t label_count;
} pieces;

static const pieces *pieces_of(const ganz_vocab *vocab) { return (const pieces *)vocab; }
static const ganz_spm *spm_of(const pieces *v, ganz_side side) { return v->spm[side] ? v->spm[side] : v->spm[0]; }
static const ganz_listing *listing_of(const pieces *v, ganz_side side)
{
    return v->listing[side].count > 0 ? &v->listing[side] : &v->listing[GANZ_TARGET];
}

static const char *const spm_part[] = {"source.spm", "target.spm"};
static const char *const list_part[] = {"pieces.source", "pieces"};

static int list_parts(const ganz_vocab *vocab, ganz_vocab_part parts[GANZ_VOCAB_PARTS])
{
    const pieces *const v = pieces_of(vocab);
    int count = 0;
    for (int side = 0; side < 2; side++) {
        const ganz_spm *const s = v->spm[side];
        const ganz_listing *const l = &v->listing[side];
        if (s) parts[count++] = (ganz_vocab_part){spm_part[side], s->data, s->bytes};
        if (l->count > 0) parts[count++] = (ganz_vocab_part){list_part[side], l->block, l->bytes};
    }
    return count;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static void close_pieces(ganz_vocab *vocab)
{
    pieces *const v = (pieces *)vocab;
    for (int side = 0; side < 2; side++) {
        ganz_spm_close(&v->spm[side]);
        ganz_listing_close(&v->listing[side]);
        ganz_free(v->ids[side]);
    }
    for (size_t i = 0; i < v->label_count; i++) ganz_free(v->labels[i]);
    ganz_free(v->labels);
    ganz_free(v);
}

static ganz_status no_memory(const char *name, ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory for the vocabulary", name);
}

/* Each piece of a side's model has one id. */
static ganz_status number_pieces(pieces *v, ganz_side side, const char *name, ganz_error *err)
{
    const ganz_spm *const s = spm_of(v, side);
    const ganz_listing *const l = listing_of(v, side);
    if (!s) return GANZ_OK;
    v->ids[side] = ganz_alloc(s->count + 1, sizeof *v->ids[side]);
    if (!v->ids[side]) return no_memory(name, err);
    for (size_t i = 0; i < s->count; i++) {
        const ganz_spm_piece *const p = &s->pieces[i];
        const ganz_entry_role role = p->role == GANZ_SPM_BYTE ? GANZ_ENTRY_BYTE : GANZ_ENTRY_TEXT;
        v->ids[side][i] = ganz_listing_find(l, p->text, p->bytes, role);
    }
    return GANZ_OK;
}

static ganz_status list_labels(pieces *v, const char *name, ganz_error *err)
{
    const ganz_listing *const l = listing_of(v, GANZ_SOURCE);
    size_t capacity = 0;
    for (size_t i = 0; i < l->count; i++) {
        const ganz_listed *const e = &l->entries[i];
        if (e->role != GANZ_ENTRY_LABEL) continue;
        if (!ganz_grow((void **)&v->labels, &capacity, v->label_count + 1, sizeof *v->labels))
            return no_memory(name, err);
        char *const label = ganz_strdup(e->text + 2);
        if (!label) return no_memory(name, err);
        label[e->bytes - 4] = '\0';
        v->labels[v->label_count++] = label;
    }
    return GANZ_OK;
}

/* The vocabulary if all went well so far, else nothing. */
static ganz_status finish(pieces *v, ganz_status status, const char *name, ganz_vocab **vocab, ganz_error *err)
{
    for (int side = 1; side >= 0 && status == GANZ_OK; side--)
        if (side == GANZ_TARGET || v->listing[side].block)
            status = ganz_listing_read(&v->listing[side], spm_of(v, (ganz_side)side), name, err);
    for (int side = 0; side < 2 && status == GANZ_OK; side++) {
        v->vocab.size[side] = (int)listing_of(v, (ganz_side)side)->count;
        status = number_pieces(v, (ganz_side)side, name, err);
    }
    if (status == GANZ_OK) status = list_labels(v, name, err);
    *vocab = status == GANZ_OK ? &v->vocab : NULL;
    if (status != GANZ_OK) close_pieces(&v->vocab);
    return status;
}

static pieces *start(void)
{
    pieces *const v = ganz_alloc(1, sizeof *v);
    if (v) v->vocab.kind = &ganz_pieces;
    return v;
}

static ganz_status take_parts(pieces *v, const ganz_pieces_from *from, const char *name, ganz_error *err)
{
    for (int side = 0; side < 2; side++) {
        if (from->spm[side]) GANZ_TRY(ganz_spm_open(&v->spm[side], from->spm[side], from->spm_bytes[side], name, err));
        if (side == GANZ_TARGET || from->list[side].count > 0)
            GANZ_TRY(ganz_listing_join(&v->listing[side], &from->list[side], name, err));
    }
    return GANZ_OK;
}

ganz_status ganz_pieces_open(ganz_vocab **vocab, const ganz_pieces_from *from, const char *name, ganz_error *err)
{
    pieces *const v = start();
    *vocab = NULL;
    return v ? finish(v, take_parts(v, from, name, err), name, vocab, err) : no_memory(name, err);
}

static ganz_status load_part(const ganz_vocab_store *store, const char *part, const char **data, size_t *bytes,
                             ganz_error *err)
{
    *data = NULL;
    return store->has(store->context, part) ? store->get(store->context, part, data, bytes, err) : GANZ_OK;
}

static ganz_status load_parts(pieces *v, const ganz_vocab_store *store, ganz_error *err)
{
    for (int side = 0; side < 2; side++) {
        const char *data;
        size_t bytes;
        GANZ_TRY(load_part(store, spm_part[side], &data, &bytes, err));
        if (data) GANZ_TRY(ganz_spm_open(&v->spm[side], data, bytes, store->name, err));
        if (side == GANZ_TARGET) GANZ_TRY(store->get(store->context, list_part[side], &data, &bytes, err));
        else GANZ_TRY(load_part(store, list_part[side], &data, &bytes, err));
        if (data) GANZ_TRY(ganz_listing_copy(&v->listing[side], data, bytes, store->name, err));
    }
    return GANZ_OK;
}

static ganz_status load(ganz_vocab **vocab, const ganz_vocab_store *store, ganz_error *err)
{
    pieces *const v = start();
    *vocab = NULL;
    return v ? finish(v, load_parts(v, store, err), store->name, vocab, err) : no_memory(store->name, err);
}

/* ---- a SentencePiece model alone ---------------------------------------------------------------- */

static bool is_pad(const ganz_spm_piece *p)
{
    return p->role == GANZ_SPM_CONTROL && p->bytes == 5 && memcmp(p->text, "<pad>", 5) == 0;
}

static bool list_spm(const ganz_spm *s, ganz_text *block)
{
    static const char first[] = "<pad>\0</s>";
    bool good = ganz_text_append(block, first, sizeof first);
    for (size_t i = 0; good && i < s->count; i++) {
        const ganz_spm_piece *const p = &s->pieces[i];
        if ((int32_t)i == s->end || is_pad(p)) continue;
        if ((int32_t)i == s->unknown) good = ganz_text_append(block, "<unk>", 6);
        else good = ganz_text_append(block, p->text, p->bytes) && ganz_text_append(block, "", 1);
    }
    return good;
}

ganz_status ganz_pieces_open_spm(ganz_vocab **vocab, const void *spm, size_t bytes, const char *name, ganz_error *err)
{
    pieces *const v = start();
    ganz_text block = {0};
    *vocab = NULL;
    if (!v) return no_memory(name, err);
    ganz_status status = ganz_spm_open(&v->spm[0], spm, bytes, name, err);
    if (status == GANZ_OK && !list_spm(v->spm[0], &block)) status = no_memory(name, err);
    if (status == GANZ_OK) status = ganz_listing_copy(&v->listing[GANZ_TARGET], block.text, block.bytes, name, err);
    ganz_text_free(&block);
    return finish(v, status, name, vocab, err);
}

/* ---- text to ids -------------------------------------------------------------------------------- */

/* Scripts that put no spaces between words: there every piece is a token. */
static bool is_unspaced(int32_t code)
{
    return (code >= 0x0E00 && code <= 0x0FFF) || (code >= 0x1000 && code <= 0x109F) ||
           (code >= 0x1780 && code <= 0x17FF) || (code >= 0x2E80 && code <= 0xA4CF) ||
           (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x20000 && code <= 0x3FFFF);
}

/* Whether a place in a text is inside of a token: between two letters, before or behind marks of theirs, or in a
 * character. */
static bool is_inside(const char *text, size_t bytes, size_t at)
{
    if (at == 0 || at >= bytes) return false;
    if (((unsigned char)text[at] & 0xC0) == 0x80) return true;
    size_t before = at - 1;
    while (before > 0 && ((unsigned char)text[before] & 0xC0) == 0x80) before--;
    int32_t left, right;
    ganz_next_character(text + before, &left);
    ganz_next_character(text + at, &right);
    if (ganz_is_combining(right)) return true;
    const bool left_word = ganz_is_alnum(left) || ganz_is_combining(left);
    return left_word && ganz_is_alnum(right) && !is_unspaced(left) && !is_unspaced(right);
}

/* Places of pieces become places of the tokens that they are part of. */
static void join_places(const char *text, size_t bytes, size_t *begin, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (begin[i] <= begin[i - 1] || is_inside(text, bytes, begin[i])) begin[i] = begin[i - 1];
}

/* Where ids and places go. */
typedef struct encoding {
    const pieces *v;
    const ganz_passage *passage;
    ganz_ids *out;
    ganz_places *places; /* or NULL */
} encoding;

static bool add_id(encoding *e, int32_t id, size_t place)
{
    ganz_ids *const out = e->out;
    ganz_places *const places = e->places;
    if (!ganz_grow((void **)&out->ids, &out->capacity, out->count + 1, sizeof *out->ids)) return false;
    if (places && !ganz_grow((void **)&places->begin, &places->capacity, places->count + 1, sizeof *places->begin))
        return false;
    out->ids[out->count++] = id;
    if (places) places->begin[places->count++] = place;
    return true;
}

/* The bytes of a label that the text begins with, 0: none; *id is the label's. */
static size_t find_label(const ganz_listing *l, const char *text, size_t bytes, int32_t *id)
{
    if (bytes < 5 || memcmp(text, ">>", 2) != 0) return 0;
    for (size_t i = 2; i + 1 < bytes && text[i] != ' '; i++) {
        if (text[i] != '<' || text[i + 1] != '<') continue;
        *id = ganz_listing_find(l, text, i + 2, GANZ_ENTRY_LABEL);
        return *id == l->unknown ? 0 : i + 2;
    }
    return 0;
}

static bool encode_words(encoding *e, const ganz_listing *l, size_t at)
{
    const char *const text = e->passage->text;
    const size_t bytes = e->passage->bytes;
    while (at < bytes) {
        size_t end = at;
        int32_t code;
        while (end < bytes && !ganz_is_space((ganz_next_character(text + end, &code), code)))
            end += ganz_next_character(text + end, &code);
        if (end > at && !add_id(e, ganz_listing_find(l, text + at, end - at, GANZ_ENTRY_TEXT), at)) return false;
        at = end < bytes ? end + ganz_next_character(text + end, &code) : end;
    }
    return true;
}

/* The original place of a part of the normalized text: that of its first letter. A space alone goes with what follows.
 */
static size_t place_of(const ganz_spm *s, const ganz_normal *n, const ganz_segmented *part)
{
    size_t at = part->begin;
    const size_t end = s->space_behind ? part->end : n->text.bytes;
    while (at + 3 < end && memcmp(n->text.text + at, space_mark, 3) == 0) at += 3;
    while (at + 1 < end && n->text.text[at] == ' ') at++;
    return n->origin[at];
}

static bool add_bytes(encoding *e, const ganz_spm *s, const ganz_normal *n, const ganz_segmented *part, size_t place)
{
    for (uint32_t i = part->begin; i < part->end; i++) {
        const int32_t piece = s->byte_pieces[(unsigned char)n->text.text[i]];
        if (!add_id(e, e->v->ids[e->passage->side][piece], place)) return false;
    }
    return true;
}

/* Neighbours that are unknown are one unknown piece, which the list may know all the same. */
static bool add_unknown(encoding *e, const ganz_normal *n, const ganz_segments *parts, size_t *i, size_t place)
{
    const int32_t unknown = parts->list[*i].piece;
    const uint32_t begin = parts->list[*i].begin;
    while (*i + 1 < parts->count && parts->list[*i + 1].piece == unknown) ++*i;
    const ganz_listing *const l = listing_of(e->v, e->passage->side);
    const size_t bytes = parts->list[*i].end - begin;
    return add_id(e, ganz_listing_find(l, n->text.text + begin, bytes, GANZ_ENTRY_TEXT), place);
}

static bool add_segments(encoding *e, const ganz_spm *s, const ganz_normal *n, const ganz_segments *parts, size_t cut)
{
    for (size_t i = 0; i < parts->count; i++) {
        const ganz_segmented *const part = &parts->list[i];
        const size_t place = cut + place_of(s, n, part);
        bool good;
        if (part->piece != s->unknown) good = add_id(e, e->v->ids[e->passage->side][part->piece], place);
        else if (s->byte_fallback) good = add_bytes(e, s, n, part, place);
        else good = add_unknown(e, n, parts, &i, place);
        if (!good) return false;
    }
    return true;
}

static ganz_status encode_pieces(encoding *e, const ganz_spm *s, size_t at, ganz_error *err)
{
    ganz_normal normal = {0};
    ganz_segments parts = {0};
    ganz_status status;
    GANZ_CHECK(ganz_spm_normalize(s, e->passage->text + at, e->passage->bytes - at, &normal, err));
    GANZ_CHECK(ganz_spm_segment(s, &normal.text, &parts, err));
    if (!add_segments(e, s, &normal, &parts, at))
        status = ganz_fail(err, GANZ_ENOMEM, "out of memory for the ids of a line");
out:
    ganz_normal_free(&normal);
    ganz_segments_free(&parts);
    return status;
}

static ganz_status encode(const ganz_vocab *vocab, const ganz_passage *passage, ganz_ids *out, ganz_places *places,
                          ganz_error *err)
{
    const pieces *const v = pieces_of(vocab);
    const ganz_listing *const l = listing_of(v, passage->side);
    const ganz_spm *const s = spm_of(v, passage->side);
    encoding e = {v, passage, out, places};
    const size_t before = out->count, first = places ? places->count : 0;
    ganz_status status = GANZ_OK;
    int32_t label;
    const size_t at = find_label(l, passage->text, passage->bytes, &label);
    bool good = at == 0 || add_id(&e, label, 0);
    if (good && s) status = encode_pieces(&e, s, at, err);
    if (good && !s) good = encode_words(&e, l, at);
    if (!good) status = ganz_fail(err, GANZ_ENOMEM, "out of memory for the ids of a line");
    if (status != GANZ_OK) out->count = before;
    if (status != GANZ_OK && places) places->count = first;
    if (places && places->count > first)
        join_places(passage->text, passage->bytes, places->begin + first, places->count - first);
    return status;
}

/* ---- ids to text -------------------------------------------------------------------------------- */

typedef struct decoding {
    ganz_text *out;
    size_t before; /* bytes of `out` at the start */
    ganz_text run; /* bytes of byte pieces that are not text yet */
    bool strip;    /* no space in front */
} decoding;

static bool add_text(decoding *d, const char *text, size_t bytes)
{
    while (d->strip && d->out->bytes == d->before && bytes > 0 && text[0] == ' ') text++, bytes--;
    return ganz_text_append(d->out, text, bytes);
}

/* Every byte that is no UTF-8 becomes U+FFFD, as in the sentencepiece library. */
static bool end_run(decoding *d)
{
    bool good = true;
    for (size_t at = 0; good && at < d->run.bytes;) {
        int32_t code;
        const int taken = ganz_utf8_decode(d->run.text + at, d->run.bytes - at, &code);
        good = taken > 0 ? add_text(d, d->run.text + at, (size_t)taken) : add_text(d, "\xEF\xBF\xBD", 3);
        at += taken > 0 ? (size_t)taken : 1;
    }
    d->run.bytes = 0;
    return good;
}

static bool add_entry(decoding *d, const ganz_listed *e)
{
    for (size_t at = 0; at < e->bytes;) {
        const char *const mark = strstr(e->text + at, space_mark);
        const size_t length = mark ? (size_t)(mark - e->text) - at : e->bytes - at;
        if (!add_text(d, e->text + at, length)) return false;
        if (!mark) break;
        if (!add_text(d, " ", 1)) return false;
        at += length + 3;
    }
    return true;
}

static int hex_value(char c) { return c <= '9' ? c - '0' : c - 'A' + 10; }

/* One id; words without a SentencePiece model are joined by spaces. */
static bool decode_id(decoding *d, const ganz_listed *e, bool words)
{
    if (e->role == GANZ_ENTRY_BYTE) {
        const char byte = (char)(hex_value(e->text[3]) * 16 + hex_value(e->text[4]));
        return ganz_text_append(&d->run, &byte, 1);
    }
    if (!end_run(d)) return false;
    if (e->role != GANZ_ENTRY_TEXT) return true;
    return (!words || add_text(d, " ", 1)) && add_entry(d, e);
}

/* Places of ids: behind the spaces that they begin with. */
static void finish_places(const decoding *d, size_t *begin, size_t count)
{
    const ganz_text *const out = d->out;
    for (size_t i = 0; i < count; i++) {
        while (begin[i] < out->bytes && out->text[begin[i]] == ' ') begin[i]++;
        if (begin[i] > out->bytes) begin[i] = out->bytes;
    }
    join_places(out->text, out->bytes, begin, count);
}

static ganz_status decode(const ganz_vocab *vocab, const ganz_id_span *ids, ganz_text *out, size_t *begin,
                          ganz_error *err)
{
    const pieces *const v = pieces_of(vocab);
    const ganz_listing *const l = listing_of(v, ids->side);
    const ganz_spm *const s = spm_of(v, ids->side);
    decoding d = {.out = out, .before = out->bytes, .strip = !s || s->dummy_prefix || s->squeeze};
    bool good = true;
    for (size_t i = 0; good && i < ids->count; i++) {
        const int32_t id = ids->ids[i];
        if (begin) begin[i] = out->bytes;
        if (id >= 0 && (size_t)id < l->count) good = decode_id(&d, &l->entries[id], !s);
    }
    good = good && end_run(&d);
    while (good && d.strip && out->bytes > d.before && out->text[out->bytes - 1] == ' ') out->bytes--;
    if (good && begin) finish_places(&d, begin, ids->count);
    ganz_text_free(&d.run);
    if (good) return GANZ_OK;
    out->bytes = d.before;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for the text of a line");
}

/* ---- labels ------------------------------------------------------------------------------------- */

static const char *label(const ganz_vocab *vocab, size_t number)
{
    const pieces *const v = pieces_of(vocab);
    return number < v->label_count ? v->labels[number] : NULL;
}

const ganz_vocab_kind ganz_pieces = {
    .name = "pieces",
    .load = load,
    .parts = list_parts,
    .encode = encode,
    .decode = decode,
    .label = label,
    .close = close_pieces,
};
