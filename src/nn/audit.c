#include "nn/audit.h"

#include "nn/net.h"

ganz_status ganz_audit_open(ganz_audit *audit, const ganz_net *net, ganz_error *err)
{
    const size_t sites = (size_t)net->sites, pairs = (size_t)net->pairs;
    *audit = (ganz_audit){.site = ganz_alloc(sites + 2 * pairs, sizeof *audit->site),
                          .input = ganz_alloc((size_t)net->scales, sizeof *audit->input)};
    if (!audit->site || !audit->input) {
        ganz_audit_close(audit);
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for an audit of %d products", net->sites + 2 * net->pairs);
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
