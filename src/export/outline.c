/* The questions about a model that all float folders ask. */
#include "export/outline.h"

#include "export/folder.h"

static ganz_row_order order_of(int rows, int shorter, ganz_padding padding)
{
    if (padding == GANZ_PADDING_NONE) return (ganz_row_order){.count = rows - 1, .pad = -1};
    return (ganz_row_order){.count = rows, .ours = padding == GANZ_PADDING_FIRST, .pad = shorter - 1};
}

ganz_status ganz_outline_model(ganz_outline *o, ganz_padding padding, const char *program)
{
    const ganz_net *const net = &o->model->net;
    const int source = net->params.list[net->source_embedding].rows, target = net->params.list[net->embedding].rows;
    const int shorter = source < target ? source : target;
    o->own_source = net->source_embedding != net->embedding;
    o->own_output = net->logits->weight != net->embedding;
    o->two_lists = ganz_export_two_lists(o->model->vocab);
    o->order[GANZ_SOURCE] = order_of(source, shorter, padding);
    o->order[GANZ_TARGET] = order_of(target, shorter, padding);
    if (o->model->info.dynamic_bits)
        return ganz_fail(o->err, GANZ_EUNSUPPORTED, "this float model emulates integers: export the one it is made of");
    if (!o->model->vocab->bare_source) return GANZ_OK;
    return ganz_fail(o->err, GANZ_EUNSUPPORTED,
                     "%s ends every source with a mark, which this model does not want: use --to ctranslate2", program);
}
