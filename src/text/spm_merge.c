/* Segmentation by a BPE model: from characters on, the neighbours whose joined piece has the highest score are merged,
 * leftmost first, until none are left. A char model merges nothing. */
#include "text/spm.h"

/* A part of the text in a list from left to right. */
typedef struct part {
    uint32_t begin, end;
    int32_t before, behind; /* -1: none */
    bool whole;             /* the user's own piece: takes no part in merges */
} part;

/* Neighbours that could be merged. */
typedef struct pair {
    float score;
    int32_t left, right;
    uint32_t bytes; /* of both; differs once one of them has grown */
} pair;

/* A piece that is not to be used, and where it was put together: it is cut there again. */
typedef struct seam {
    int32_t piece;
    uint32_t left_bytes;
} seam;

typedef struct merger {
    const ganz_spm *spm;
    const char *text;
    part *parts;
    size_t count, capacity;
    pair *heap;
    size_t pairs, pair_capacity;
    seam *seams;
    size_t seam_count, seam_capacity;
    ganz_segments *out;
} merger;

/* ---- a heap of pairs ------------------------------------------------------------------------------ */

static bool comes_before(const pair *a, const pair *b)
{
    return a->score != b->score ? a->score > b->score : a->left < b->left;
}

static bool push(merger *m, pair p)
{
    if (!ganz_grow((void **)&m->heap, &m->pair_capacity, m->pairs + 1, sizeof *m->heap)) return false;
    size_t at = m->pairs++;
    for (; at > 0 && comes_before(&p, &m->heap[(at - 1) / 2]); at = (at - 1) / 2) m->heap[at] = m->heap[(at - 1) / 2];
    m->heap[at] = p;
    return true;
}

static pair pop(merger *m)
{
    const pair top = m->heap[0], last = m->heap[--m->pairs];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= m->pairs) break;
        if (child + 1 < m->pairs && comes_before(&m->heap[child + 1], &m->heap[child])) child++;
        if (!comes_before(&m->heap[child], &last)) break;
        m->heap[at] = m->heap[child];
        at = child;
    }
    m->heap[at] = last;
    return top;
}

/* ---- merging -------------------------------------------------------------------------------------- */

static int32_t piece_of(const merger *m, uint32_t begin, uint32_t end)
{
    return ganz_trie_find(&m->spm->trie, m->text + begin, end - begin);
}

static bool add_pair(merger *m, int32_t left, int32_t right)
{
    if (left < 0 || right < 0) return true;
    const part *const l = &m->parts[left], *const r = &m->parts[right];
    if (l->whole || r->whole) return true;
    const int32_t piece = piece_of(m, l->begin, r->end);
    if (piece < 0) return true;
    if (m->spm->pieces[piece].role == GANZ_SPM_UNUSED) {
        if (!ganz_grow((void **)&m->seams, &m->seam_capacity, m->seam_count + 1, sizeof *m->seams)) return false;
        m->seams[m->seam_count++] = (seam){piece, l->end - l->begin};
    }
    return push(m, (pair){m->spm->pieces[piece].score, left, right, r->end - l->begin});
}

static bool split(merger *m, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const size_t user = ganz_spm_user_piece(m->spm, m->text + at, bytes - at);
        const size_t step = user ? user : ganz_spm_character((unsigned char)m->text[at], bytes - at);
        if (!ganz_grow((void **)&m->parts, &m->capacity, m->count + 1, sizeof *m->parts)) return false;
        const int32_t number = (int32_t)m->count++;
        const bool last = at + step == bytes;
        m->parts[number] = (part){(uint32_t)at, (uint32_t)(at + step), number - 1, last ? -1 : number + 1, user > 0};
        at += step;
    }
    return true;
}

static bool merge(merger *m)
{
    for (size_t i = 1; i < m->count; i++)
        if (!add_pair(m, (int32_t)i - 1, (int32_t)i)) return false;
    while (m->pairs > 0) {
        const pair top = pop(m);
        part *const l = &m->parts[top.left], *const r = &m->parts[top.right];
        if (l->begin == l->end || r->begin == r->end || l->end - l->begin + (r->end - r->begin) != top.bytes) continue;
        l->end = r->end;
        r->begin = r->end; /* gone */
        l->behind = r->behind;
        if (r->behind >= 0) m->parts[r->behind].before = top.left;
        if (!add_pair(m, l->before, top.left) || !add_pair(m, top.left, l->behind)) return false;
    }
    return true;
}

/* ---- results -------------------------------------------------------------------------------------- */

static const seam *find_seam(const merger *m, int32_t piece)
{
    for (size_t i = m->seam_count; i > 0; i--)
        if (m->seams[i - 1].piece == piece) return &m->seams[i - 1];
    return NULL;
}

/* Both sides of a seam are shorter than the piece, so this ends; pieces are short, so it is not deep. */
static bool add_part(merger *m, uint32_t begin, uint32_t end)
{
    const int32_t piece = piece_of(m, begin, end);
    const seam *const s = piece >= 0 && m->spm->pieces[piece].role == GANZ_SPM_UNUSED ? find_seam(m, piece) : NULL;
    if (s) return add_part(m, begin, begin + s->left_bytes) && add_part(m, begin + s->left_bytes, end);
    if (!ganz_grow((void **)&m->out->list, &m->out->capacity, m->out->count + 1, sizeof *m->out->list)) return false;
    m->out->list[m->out->count++] = (ganz_segmented){begin, end, piece >= 0 ? piece : m->spm->unknown};
    return true;
}

bool ganz_spm_merge(const ganz_spm *spm, const ganz_text *normal, ganz_segments *out)
{
    merger m = {.spm = spm, .text = normal->text, .out = out};
    out->count = 0;
    bool good = split(&m, normal->bytes) && (spm->type == GANZ_SPM_CHAR || merge(&m));
    for (int32_t i = 0; good && i >= 0; i = m.parts[i].behind) good = add_part(&m, m.parts[i].begin, m.parts[i].end);
    ganz_free(m.parts);
    ganz_free(m.heap);
    ganz_free(m.seams);
    return good;
}

void ganz_segments_free(ganz_segments *segments)
{
    ganz_free(segments->list);
    *segments = (ganz_segments){0};
}

ganz_status ganz_spm_segment(const ganz_spm *s, const ganz_text *normal, ganz_segments *out, ganz_error *err)
{
    out->count = 0;
    if (normal->bytes == 0) return GANZ_OK;
    const bool good = s->type == GANZ_SPM_UNIGRAM ? ganz_spm_unigram(s, normal, out) : ganz_spm_merge(s, normal, out);
    return good ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a line");
}
