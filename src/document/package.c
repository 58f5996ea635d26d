/* Archives as documents: loading members, remembering which section is which member, and packing what has changed. */
#include "document/package.h"

#include <string.h>

#include "text/tokenizer.h"

typedef struct ganz_package_state {
    const char *bytes;
    size_t count;
    ganz_package_section *sections; /* (used) those of the skeleton but its first, which is empty */
    size_t used;
} ganz_package_state;

/* ---- reading ------------------------------------------------------------------------------------ */

ganz_status ganz_package_open(ganz_package *p, ganz_skeleton *skeleton, const char *bytes, size_t count,
                              ganz_error *err)
{
    *p = (ganz_package){.skeleton = skeleton};
    GANZ_TRY(ganz_zip_open(&p->zip, bytes, count, NULL, err));
    const size_t members = (size_t)ganz_zip_count(p->zip);
    p->state = ganz_skeleton_keep(skeleton, sizeof *p->state);
    ganz_package_section *const sections = ganz_skeleton_keep(skeleton, members * sizeof *sections);
    if (!p->state || !sections) return ganz_skeleton_status(skeleton, err);
    *p->state = (ganz_package_state){.bytes = bytes, .count = count, .sections = sections};
    ganz_skeleton_set_state(skeleton, p->state);
    return GANZ_OK;
}

void ganz_package_close(ganz_package *package) { ganz_zip_close(&package->zip); }

ganz_status ganz_package_load(ganz_package *p, int member, const char **text, size_t *bytes, ganz_error *err)
{
    GANZ_TRY(ganz_zip_claim(p->zip, member, bytes, err));
    char *const out = ganz_skeleton_keep(p->skeleton, *bytes + 1);
    if (!out) return ganz_skeleton_status(p->skeleton, err);
    *text = out;
    return ganz_zip_read(p->zip, member, out, err);
}

void ganz_package_begin(ganz_package *p, int member, const char *text, size_t bytes, ganz_polish *polish,
                        const void *data)
{
    if (p->state->used == (size_t)ganz_zip_count(p->zip)) {
        ganz_skeleton_fail(p->skeleton, GANZ_EINVAL, "a member of a document was read twice");
        return;
    }
    p->state->sections[p->state->used++] =
        (ganz_package_section){.member = member, .text = text, .bytes = bytes, .polish = polish, .data = data};
    ganz_skeleton_section(p->skeleton);
}

bool ganz_package_is(const char *bytes, size_t count, const char *mimetype)
{
    const size_t header = 30, name = 8, want = strlen(mimetype);
    return ganz_zip_looks_like(bytes, count) && count >= header + name + want &&
           memcmp(bytes + header, "mimetype", name) == 0 && memcmp(bytes + header + name, mimetype, want) == 0;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static ganz_status replace(ganz_zip *zip, const ganz_package_section *s, const ganz_text *text, ganz_error *err)
{
    const bool same = text->bytes == s->bytes && (s->bytes == 0 || memcmp(text->text, s->text, s->bytes) == 0);
    return same ? GANZ_OK : ganz_zip_replace(zip, s->member, text->text, text->bytes, err);
}

static ganz_status replace_section(ganz_zip *zip, const ganz_package_section *s, const ganz_text *written,
                                   ganz_error *err)
{
    if (!s->polish) return replace(zip, s, written, err);
    ganz_text polished = {0};
    ganz_status status = s->polish(s->data, written, &polished, err);
    if (status == GANZ_OK) status = replace(zip, s, &polished, err);
    ganz_text_free(&polished);
    return status;
}

static ganz_status pack(const ganz_zip *zip, ganz_text *out, ganz_error *err)
{
    unsigned char *data;
    size_t bytes;
    GANZ_TRY(ganz_zip_write(zip, &data, &bytes, err));
    const bool done = ganz_text_append(out, (const char *)data, bytes);
    ganz_free(data);
    return done ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
}

ganz_status ganz_package_finish(void *state, const ganz_text *sections, size_t count, ganz_text *out, ganz_error *err)
{
    const ganz_package_state *const s = state;
    ganz_zip *zip;
    GANZ_TRY(ganz_zip_open(&zip, s->bytes, s->count, NULL, err));
    ganz_status status = GANZ_OK;
    GANZ_ASSERT_ALWAYS(count == s->used + 1);
    for (size_t i = 0; i < s->used && status == GANZ_OK; i++)
        status = replace_section(zip, &s->sections[i], &sections[i + 1], err);
    if (status == GANZ_OK) status = pack(zip, out, err);
    ganz_zip_close(&zip);
    return status;
}
