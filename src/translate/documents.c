/* A document through one translator, batch after batch. */
#include "base/base.h"
#include "ganz/document.h"

enum { BATCH = 256 /* sentences that are sorted by length together */ };

typedef struct batch {
    ganz_line lines[BATCH];
    size_t numbers[BATCH];
    int count;
} batch;

static ganz_status fill(batch *b, ganz_document *document, ganz_error *err)
{
    for (b->count = 0; b->count < BATCH; b->count++) {
        ganz_segment s;
        GANZ_TRY(ganz_document_next(document, &s, err));
        if (!s.text) break;
        b->lines[b->count] =
            (ganz_line){.text = s.text, .bytes = s.bytes, .unlinked = !s.links, .formality = s.formality};
        b->numbers[b->count] = s.number;
    }
    return GANZ_OK;
}

static ganz_status run(batch *b, ganz_translator *translator, ganz_document *document, ganz_error *err)
{
    for (;;) {
        const ganz_result *results;
        GANZ_TRY(fill(b, document, err));
        if (b->count == 0) return GANZ_OK;
        GANZ_TRY(ganz_translate(translator, b->lines, b->count, &results, err));
        for (int i = 0; i < b->count; i++)
            GANZ_TRY(ganz_document_put(document, b->numbers[i], &results[i].best[0], err));
    }
}

ganz_status ganz_translate_document(ganz_translator *translator, ganz_document *document, ganz_error *err)
{
    batch *const b = ganz_alloc(1, sizeof *b);
    if (!b) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    const ganz_status status = run(b, translator, document, err);
    ganz_free(b);
    return status;
}
