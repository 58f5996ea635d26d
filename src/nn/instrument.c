/* Shows the calls of a pass to its instruments, one after another; and the smallest of them, a watch. */
#include "nn/ops.h"

void ganz_see_input(const ganz_pass *pass, int place, const ganz_matrix *x, ganz_quantize_call *call)
{
    for (const ganz_instrument *i = pass->instrument; i; i = i->next)
        if (i->input) i->input(i->context, place, x, call);
}

void ganz_see_linear(const ganz_pass *pass, const ganz_site *site, ganz_linear_call *call)
{
    for (const ganz_instrument *i = pass->instrument; i; i = i->next)
        if (i->linear) i->linear(i->context, site, call);
}

void ganz_see_attention(const ganz_pass *pass, const ganz_pair *pair, ganz_attention_call *call)
{
    for (const ganz_instrument *i = pass->instrument; i; i = i->next)
        if (i->attention) i->attention(i->context, pair, call);
}

void ganz_see_linear_made(const ganz_pass *pass, const ganz_site *site, const ganz_linear_call *call)
{
    for (const ganz_instrument *i = pass->instrument; i; i = i->next)
        if (i->linear_made) i->linear_made(i->context, site, call);
}

void ganz_see_attention_made(const ganz_pass *pass, const ganz_pair *pair, const ganz_attention_call *call)
{
    for (const ganz_instrument *i = pass->instrument; i; i = i->next)
        if (i->attention_made) i->attention_made(i->context, pair, call);
}

static void watch_attention(void *context, const ganz_pair *pair, ganz_attention_call *call)
{
    const ganz_watch *const watch = context;
    if (pair == watch->pair) call->weights = watch->weights;
}

ganz_instrument ganz_watch_instrument(ganz_watch *watch)
{
    return (ganz_instrument){.attention = watch_attention, .context = watch};
}

bool ganz_inputs_are_seen(const ganz_pass *pass)
{
    for (const ganz_instrument *i = pass->instrument; i; i = i->next)
        if (i->input) return true;
    return false;
}
