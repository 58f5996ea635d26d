/* Segmentation by a unigram model: the pieces whose scores have the highest sum, by Viterbi's algorithm over bytes. */
#include "text/spm.h"

/* How a text up to some byte is best cut. */
typedef struct best_end {
    float score;
    int32_t begin; /* of the last piece, -1: no way here */
    int32_t piece;
} best_end;

/* Below the lowest score, so that unknown characters are a last resort. */
static const float unknown_penalty = 10.0f;

/* Candidates are sums in double, compared with the float that was kept: the rule of the library up to 0.2.1. Of equal
 * ones the first stays. */
static void offer(best_end *end, double score, int32_t begin, int32_t piece)
{
    if (end->begin >= 0 && !(score > (double)end->score)) return;
    *end = (best_end){(float)score, begin, piece};
}

static double score_of(const ganz_spm *s, int32_t piece, size_t bytes)
{
    const ganz_spm_piece *const p = &s->pieces[piece];
    if (p->role != GANZ_SPM_USER) return (double)p->score;
    const float whole = (float)bytes * s->highest;
    return (double)whole - 0.1;
}

/* All pieces that begin at a place; `ends` is that of this place. */
static void offer_pieces(const ganz_spm *s, const char *text, size_t left, int32_t begin, best_end *ends)
{
    const size_t character = ganz_spm_character((unsigned char)text[0], left);
    const float so_far = ends[0].score;
    bool single = false;
    uint32_t node = 0;
    for (size_t bytes = 1; bytes <= left; bytes++) {
        node = ganz_trie_child(&s->trie, node, (unsigned char)text[bytes - 1]);
        if (node == 0) break;
        const int32_t piece = s->trie.nodes[node].id;
        if (piece < 0 || s->pieces[piece].role == GANZ_SPM_UNUSED) continue;
        offer(&ends[bytes], score_of(s, piece, bytes) + (double)so_far, begin, piece);
        single = single || bytes == character;
    }
    if (single) return;
    const float score = s->lowest - unknown_penalty + so_far; /* this one is a float's sum */
    offer(&ends[character], (double)score, begin, s->unknown);
}

/* From the last piece back to the first; then in order. */
static bool collect(const best_end *ends, size_t bytes, ganz_segments *out)
{
    out->count = 0;
    for (size_t at = bytes; at > 0;) {
        if (!ganz_grow((void **)&out->list, &out->capacity, out->count + 1, sizeof *out->list)) return false;
        const best_end *const end = &ends[at];
        out->list[out->count++] = (ganz_segmented){(uint32_t)end->begin, (uint32_t)at, end->piece};
        at = (size_t)end->begin;
    }
    for (size_t i = 0; i < out->count / 2; i++) {
        const ganz_segmented other = out->list[i];
        out->list[i] = out->list[out->count - 1 - i];
        out->list[out->count - 1 - i] = other;
    }
    return true;
}

bool ganz_spm_unigram(const ganz_spm *s, const ganz_text *normal, ganz_segments *out)
{
    best_end *const ends = ganz_alloc(normal->bytes + 1, sizeof *ends);
    if (!ends) return false;
    for (size_t i = 1; i <= normal->bytes; i++) ends[i].begin = -1;
    for (size_t at = 0; at < normal->bytes;) {
        const size_t left = normal->bytes - at;
        offer_pieces(s, normal->text + at, left, (int32_t)at, ends + at);
        at += ganz_spm_character((unsigned char)normal->text[at], left);
    }
    const bool good = collect(ends, normal->bytes, out);
    ganz_free(ends);
    return good;
}
