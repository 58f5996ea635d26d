/* Products of training whose operands and results are codes of at most eight bits: multiplied as bytes, with codes and
 * what gradients pass through made in the same kernel (cuda_codes_product.cuh). Sums are exact, as those of codes
 * in floats are below 2^24, so both ways give the same bits.
 *
 * Products of the same shape that follow each other, as those of queries, keys and values, run in one launch. */
#include <string.h>

#include "backend/cuda_codes_product.cuh"

/* ---- which calls -------------------------------------------------------------------------------- */

/* Lines of bytes that can be copied in pieces. */
static bool in_pieces(const int8_t *bytes, int ld) { return ld % PIECE == 0 && (size_t)bytes % PIECE == 0; }

static bool is_result(const ganz_matrix *m) { return ganz_cuda_fours(m) && ganz_cuda_floats(m); }

/* Smooth activations are left to the kernels that contract products and sums, as they always were. */
static bool takes(const ganz_linear_call *call)
{
    if (call->x_bytes == NULL || call->w_bytes == NULL || call->rows == 0) return false;
    if (call->codes.m.data == NULL) return false; /* logits: cuBLASLt has larger tiles */
    if (ganz_activation_is_smooth(call->activation) || call->x.scale == NULL || call->w.scale == NULL) return false;
    return call->in % PIECE == 0 && call->out % 4 == 0 && in_pieces(call->x_bytes, call->x.m.ld) &&
           in_pieces(call->w_bytes, call->w.m.ld) && is_result(&call->codes.m) && (size_t)call->codes.bytes % 4 == 0;
}

static lesson lesson_of(const ganz_linear_call *call)
{
    lesson p;
    memset((void *)&p, 0, sizeof p);
    p.x = call->x_bytes;
    p.w = call->w_bytes;
    p.rows = call->rows;
    p.in = call->in;
    p.out = call->out;
    p.x_ld = call->x.m.ld;
    p.w_ld = call->w.m.ld;
    p.x_scale = call->x.scale;
    p.w_scale = call->w.scale;
    p.bias = call->bias;
    p.by_row = call->w_by_row;
    p.activation = call->activation;
    p.code_scale = call->codes.scale;
    p.p = call->codes.p;
    p.drop = call->drop;
    p.to = call->codes.m;
    p.inside = call->codes.inside;
    p.bytes = call->codes.bytes;
    return p;
}

/* ---- waiting ------------------------------------------------------------------------------------ */

static bool same_shape(const lesson *a, const lesson *b)
{
    return a->rows == b->rows && a->in == b->in && a->out == b->out;
}

/* Whether p reads what q writes. */
static bool reads(const lesson *p, const lesson *q)
{
    return q->bytes != NULL && p->x >= q->bytes && p->x < q->bytes + (size_t)q->rows * (size_t)q->to.ld;
}

static bool fits(const ganz_cuda_lessons *all, const lesson *p)
{
    if (all->count == 0 || all->count == TOGETHER || !same_shape(p, &all->list[0])) return false;
    for (int i = 0; i < all->count; i++)
        if (reads(p, &all->list[i])) return false;
    return true;
}

bool ganz_cuda_linear_bytes(ganz_cuda *c, const ganz_linear_call *call)
{
    if (!takes(call)) return false;
    if (c->lessons == NULL) c->lessons = (ganz_cuda_lessons *)ganz_alloc(1, sizeof *c->lessons);
    if (c->lessons == NULL) return false;
    const lesson p = lesson_of(call);
    c->maxima_of.data = NULL;
    if (c->waits && !fits(c->lessons, &p)) ganz_cuda_flush(c);
    c->lessons->list[c->lessons->count++] = p;
    c->waits = true;
    return true;
}
