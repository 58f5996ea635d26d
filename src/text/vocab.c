/* Vocabularies of any kind: the public calls check and strip text, and hand it to the kind. */
#include "text/vocab.h"

#include <string.h>

#include "base/io.h"
#include "text/pieces.h"
#include "text/spm.h"
#include "text/unicode.h"

static const ganz_vocab_kind *const kinds[] = {&ganz_subwords, &ganz_pieces};

const ganz_vocab_kind *ganz_vocab_find_kind(const char *name)
{
    for (size_t i = 0; i < GANZ_COUNT(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

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

/* The number at *at, which moves behind it; -1: there is none below `most`. */
static int32_t take_id(const char **at, const char *end, int most)
{
    int64_t id = 0;
    const char *const begin = *at;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
        id = 10 * id + (**at - '0');
        if (id >= most) return -1;
    }
    return *at > begin ? (int32_t)id : -1;
}

ganz_status ganz_ids_read(const char *text, size_t bytes, int most, ganz_ids *out)
{
    const char *at = text, *const end = text + bytes;
    while (at < end) {
        const int32_t id = take_id(&at, end, most);
        if (id < 0) return GANZ_EFORMAT;
        if (!ganz_grow((void **)&out->ids, &out->capacity, out->count + 2, sizeof *out->ids)) return GANZ_ENOMEM;
        out->ids[out->count++] = id;
        if (at == end) break;
        if (*at++ != ' ' || at == end) return GANZ_EFORMAT;
    }
    return GANZ_OK;
}

void ganz_places_free(ganz_places *places)
{
    ganz_free(places->begin);
    *places = (ganz_places){0};
}

/* A file of SentencePiece is known by its beginning; pipes cannot be looked at twice and have text. */
ganz_status ganz_vocab_open(ganz_vocab **vocab, const char *path, ganz_error *err)
{
    ganz_contents contents;
    ganz_status status;
    *vocab = NULL;
    if (strcmp(path, "-") == 0 || ganz_contents_read(&contents, path, NULL) != GANZ_OK)
        return ganz_subwords_open(vocab, path, err);
    const bool pieces = ganz_spm_recognise(contents.data, contents.bytes);
    if (pieces) status = ganz_pieces_open_spm(vocab, contents.data, contents.bytes, path, err);
    ganz_contents_free(&contents);
    return pieces ? status : ganz_subwords_open(vocab, path, err);
}

void ganz_vocab_close(ganz_vocab **vocab)
{
    ganz_vocab *const v = *vocab;
    *vocab = NULL;
    if (v) v->kind->close(v);
}

/* ---- facts -------------------------------------------------------------------------------------- */

int ganz_vocab_size(const ganz_vocab *v) { return v->size[GANZ_TARGET]; }
int ganz_vocab_side_size(const ganz_vocab *v, ganz_side side) { return v->size[side]; }
const char *ganz_vocab_kind_name(const ganz_vocab *v) { return v->kind->name; }

const char *ganz_vocab_label(const ganz_vocab *v, int number)
{
    return v->kind->label && number >= 0 ? v->kind->label(v, (size_t)number) : NULL;
}

const char *ganz_vocab_file(const ganz_vocab *v, size_t *bytes)
{
    ganz_vocab_part parts[GANZ_VOCAB_PARTS];
    *bytes = 0;
    if (v->kind != &ganz_subwords) return NULL;
    v->kind->parts(v, parts);
    *bytes = parts[0].bytes;
    return parts[0].data;
}

/* That of a single part is the part's own, so that corpora made before there were kinds still fit. Bare sources have
 * other ids, and so another checksum. */
uint64_t ganz_vocab_checksum(const ganz_vocab *v)
{
    ganz_vocab_part parts[GANZ_VOCAB_PARTS];
    uint64_t sums[GANZ_VOCAB_PARTS];
    const int count = v->kind->parts(v, parts);
    for (int i = 0; i < count; i++) sums[i] = ganz_checksum(parts[i].data, parts[i].bytes);
    const uint64_t sum = count == 1 ? sums[0] : ganz_checksum(sums, (size_t)count * sizeof sums[0]);
    return v->bare_source ? ~sum : sum;
}

bool ganz_vocab_equal(const ganz_vocab *a, const ganz_vocab *b)
{
    ganz_vocab_part left[GANZ_VOCAB_PARTS], right[GANZ_VOCAB_PARTS];
    if (a->kind != b->kind || a->bare_source != b->bare_source) return false;
    const int count = a->kind->parts(a, left);
    if (b->kind->parts(b, right) != count) return false;
    for (int i = 0; i < count; i++)
        if (left[i].bytes != right[i].bytes || memcmp(left[i].data, right[i].data, left[i].bytes) != 0) return false;
    return true;
}

/* ---- text to ids -------------------------------------------------------------------------------- */

ganz_status ganz_vocab_encode(const ganz_vocab *v, ganz_side side, const char *text, size_t bytes, ganz_ids *out,
                              ganz_error *err)
{
    if (!ganz_utf8_valid(text, bytes)) return ganz_fail(err, GANZ_EINVAL, "the text is not UTF-8");
    return v->kind->encode(v, &(ganz_passage){text, bytes, side}, out, NULL, err);
}

size_t ganz_ids_before_end(const int32_t *ids, size_t count) { return count - (ids[count - 1] == GANZ_EOS); }

static bool add_end_mark(ganz_ids *out)
{
    if (!ganz_grow((void **)&out->ids, &out->capacity, out->count + 1, sizeof *out->ids)) return false;
    out->ids[out->count++] = GANZ_EOS;
    return true;
}

ganz_status ganz_vocab_find_tokens(const ganz_vocab *v, const ganz_passage *passage, ganz_ids *out, ganz_places *places,
                                   ganz_error *err)
{
    if (!ganz_utf8_valid(passage->text, passage->bytes)) return ganz_fail(err, GANZ_EINVAL, "the text is not UTF-8");
    ganz_passage sentence = *passage;
    sentence.text = ganz_strip(sentence.text, &sentence.bytes);
    const size_t before = out->count, first = places ? places->count : 0;
    const size_t cut = (size_t)(sentence.text - passage->text);
    GANZ_TRY(v->kind->encode(v, &sentence, out, places, err));
    for (size_t i = first; places && i < places->count; i++) places->begin[i] += cut;
    const bool ended = v->bare_source && passage->side == GANZ_SOURCE && out->count > before; /* as it is */
    if (ended || add_end_mark(out)) return GANZ_OK;
    out->count = before;
    if (places) places->count = first;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for the ids of a line");
}

ganz_status ganz_vocab_encode_sentence(const ganz_vocab *v, ganz_side side, const char *text, size_t bytes,
                                       ganz_ids *out, ganz_error *err)
{
    return ganz_vocab_find_tokens(v, &(ganz_passage){text, bytes, side}, out, NULL, err);
}

ganz_status ganz_vocab_encode_line(const ganz_vocab *v, const ganz_lines *lines, const ganz_passage *passage,
                                   ganz_ids *out, ganz_error *err)
{
    ganz_error why;
    const ganz_status status = ganz_vocab_find_tokens(v, passage, out, NULL, &why);
    if (status == GANZ_OK) return GANZ_OK;
    const char *const what = status == GANZ_EINVAL ? "not UTF-8" : why.message;
    return ganz_fail_line(err, status, ganz_lines_number(lines), "%s:%lld: %s", ganz_lines_name(lines),
                          ganz_lines_number(lines), what);
}

/* ---- ids to text -------------------------------------------------------------------------------- */

ganz_status ganz_vocab_decode_places(const ganz_vocab *v, const ganz_id_span *ids, ganz_text *out, size_t *begin,
                                     ganz_error *err)
{
    return v->kind->decode(v, ids, out, begin, err);
}

ganz_status ganz_vocab_decode(const ganz_vocab *v, ganz_side side, const int32_t *ids, size_t count, ganz_text *out,
                              ganz_error *err)
{
    return v->kind->decode(v, &(ganz_id_span){ids, count, side}, out, NULL, err);
}
