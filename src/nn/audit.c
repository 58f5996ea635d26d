/* Counts of runs, sums and clipped codes: hooks that point the backend's counters at the entries of the audit. */
#include "nn/audit.h"

#include "nn/net.h"

static void see_input(void *context, int place, const ganz_matrix *x, ganz_quantize_call *call)
{
    const ganz_audit *const audit = context;
    if (!call) return;
    audit->input[place].codes += (int64_t)x->rows * x->cols;
    call->clipped = &audit->input[place].clipped;
}

static void see_linear(void *context, const ganz_site *site, ganz_linear_call *call)
{
    const ganz_audit *const audit = context;
    ganz_audit_product *const product = &audit->site[site->place];
    if (call->packed) call->largest = &product->largest;
    *(call->packed ? &product->integer_runs : &product->float_runs) += 1;
}

static void see_attention(void *context, const ganz_pair *pair, ganz_attention_call *call)
{
    const ganz_audit *const audit = context;
    ganz_audit_product *const qk = &audit->qk[pair->place], *const uv = &audit->uv[pair->place];
    ganz_audit_input *const u = &audit->input[pair->u.place];
    if (call->q.m.type != GANZ_S8) {
        qk->float_runs++;
        uv->float_runs++;
        return;
    }
    qk->integer_runs++;
    uv->integer_runs++;
    call->largest_qk = &qk->largest;
    call->largest_uv = &uv->largest;
    call->u_codes = &u->codes;
    call->u_clipped = &u->clipped;
}

ganz_status ganz_audit_open(ganz_audit *audit, const ganz_net *net, ganz_error *err)
{
    const size_t sites = (size_t)net->sites, pairs = (size_t)net->pairs;
    *audit = (ganz_audit){.site = ganz_alloc(sites + 2 * pairs, sizeof *audit->site),
                          .input = ganz_alloc((size_t)net->scales, sizeof *audit->input)};
    audit->instrument =
        (ganz_instrument){.input = see_input, .linear = see_linear, .attention = see_attention, .context = audit};
    if (!audit->site || !audit->input) {
        ganz_audit_close(audit);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for an audit of %d products", net->products);
    }
    audit->qk = audit->site + sites;
    audit->uv = audit->qk + pairs;
    return GANZ_OK;
}

void ganz_audit_close(ganz_audit *audit)
{
    ganz_free(audit->site);
    ganz_free(audit->input);
    *audit = (ganz_audit){0};
}
