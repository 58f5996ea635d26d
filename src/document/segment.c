#include "document/segment.h"

#include <string.h>

#include "text/tokenizer.h"
#include "text/unicode.h"

void ganz_sentence_part_free(ganz_sentence_part *p)
{
    ganz_text_free(&p->line);
    ganz_text_free(&p->target);
    ganz_free(p->inserts);
}

/* White space of any kind and length is one space for the model. */
bool ganz_sentence_line(ganz_sentence_part *p)
{
    bool space = false;
    p->line.bytes = 0;
    for (size_t i = p->first; i < p->last; i++) p->links |= p->block->runs[i].kind >= GANZ_RUN_MARK;
    for (size_t at = p->begin; at < p->end;) {
        int32_t code;
        const char *const text = p->block->text + at;
        const size_t step = ganz_next_character(text, &code);
        at += step;
        if (ganz_is_space(code) || code == 0xFFFC) {
            space = true;
            continue;
        }
        if (space && p->line.bytes > 0 && !ganz_text_append(&p->line, " ", 1)) return false;
        if (!ganz_text_append(&p->line, text, step)) return false;
        space = false;
    }
    return true;
}

/* Marks go to the place in the translation that they have in the sentence. */
static bool place_marks(ganz_sentence_part *p)
{
    const size_t length = p->end - p->begin, count = p->last - p->first;
    p->inserts = ganz_alloc(count, sizeof *p->inserts);
    if (!p->inserts) return false;
    for (size_t i = p->first; i < p->last; i++) {
        const ganz_run *const r = &p->block->runs[i];
        if (r->kind != GANZ_RUN_MARK && r->kind != GANZ_RUN_OPAQUE) continue;
        size_t at = (r->begin - p->begin) * p->target.bytes / length;
        while (at < p->target.bytes && p->target.text[at] != ' ') at++;
        p->inserts[p->insert_count++] = (ganz_insert){.at = at, .run = (int)i};
    }
    return true;
}

ganz_status ganz_sentence_put(ganz_sentence_part *p, const ganz_translation *t, ganz_error *err)
{
    p->target.bytes = p->insert_count = 0;
    ganz_free(p->inserts);
    p->inserts = NULL;
    p->translated = t->bytes != p->line.bytes || (t->bytes > 0 && memcmp(t->text, p->line.text, t->bytes) != 0);
    if (!p->translated) return GANZ_OK;
    if (!ganz_text_append(&p->target, t->text, t->bytes) || !place_marks(p))
        return ganz_fail(err, GANZ_ENOMEM, "out of memory for a translation");
    return GANZ_OK;
}
