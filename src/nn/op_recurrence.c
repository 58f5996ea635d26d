/* The recurrence of decoders without self attention (SSRU), over whole sentences or one token at a time. It is not
 * recorded: networks with it do not train. */
#include "nn/ops.h"

void ganz_op_recur(ganz_pass *pass, ganz_stream *s, const ganz_recurrence *what)
{
    if (pass->failed) return;
    const int rows = what->value->m.rows, cols = what->value->m.cols;
    const bool kept = what->states.data != NULL;
    const ganz_matrix states = kept ? what->states : ganz_matrix_take(pass, rows, cols, GANZ_REAL);
    GANZ_ASSERT(!pass->tape && !s->delta);
    if (!pass->be->recur) pass->failed = true; /* those who open devices have said so in a sentence */
    if (pass->failed) return;
    const ganz_recur_call call = {.value = what->value->m,
                                  .gate = what->gate->m,
                                  .states = states,
                                  .first = kept ? what->new_row : 0,
                                  .positions = s->tokens->positions,
                                  .list_begin = kept ? what->see->list_begin : NULL,
                                  .list = kept ? what->see->list : NULL,
                                  .add = s->x->m};
    pass->be->recur(pass->be, &call);
}
