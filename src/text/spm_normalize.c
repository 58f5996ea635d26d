/* Normalization of SentencePiece models: at each place the longest entry of the character map is replaced, or one
 * character copied; spaces shrink, and become U+2581. */
#include <string.h>

#include "base/utf8.h"
#include "text/spm.h"
#include "text/tokenizer.h"

static const char space_mark[] = "\xE2\x96\x81";

enum { MAX_NORMAL = 1 << 30 };

void ganz_normal_free(ganz_normal *n)
{
    ganz_text_free(&n->text);
    ganz_free(n->origin);
    *n = (ganz_normal){0};
}

/* ---- the character map ---------------------------------------------------------------------------- */

static uint32_t unit_at(const ganz_spm *s, uint32_t at)
{
    const unsigned char *const u = s->units + 4 * (size_t)at;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }

/* The longest entry that begins a text: its bytes, 0: none; and its replacement. */
static size_t find_entry(const ganz_spm *s, const char *text, size_t bytes, const char **replacement)
{
    size_t longest = 0;
    if (!s->units) return 0;
    uint32_t at = offset_of(unit_at(s, 0));
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        at ^= c;
        if (at >= s->unit_count) break;
        const uint32_t unit = unit_at(s, at);
        if ((unit & 0x800000FFu) != c) break;
        at ^= offset_of(unit);
        if (at >= s->unit_count) break;
        if (!(unit & 0x100)) continue;
        const uint32_t place = unit_at(s, at) & 0x7FFFFFFFu;
        if (place >= s->replacement_bytes) break;
        longest = i + 1;
        *replacement = s->replacements + place;
    }
    return longest;
}

/* What the beginning of a text becomes; returns the bytes it takes of the text. */
static size_t normalize_prefix(const ganz_spm *s, const char *text, size_t bytes, const char **to, size_t *to_bytes)
{
    size_t taken = ganz_spm_user_piece(s, text, bytes);
    *to = text;
    *to_bytes = taken;
    if (taken > 0) return taken;
    taken = find_entry(s, text, bytes, to);
    if (taken > 0) return *to_bytes = strlen(*to), taken;
    int32_t code;
    taken = (size_t)ganz_utf8_decode(text, bytes, &code);
    *to_bytes = taken;
    if (taken > 0) return taken;
    *to = "\xEF\xBF\xBD";
    *to_bytes = 3;
    return 1;
}

/* ---- spaces --------------------------------------------------------------------------------------- */

static bool append(ganz_normal *n, const char *text, size_t bytes, size_t origin)
{
    if (!ganz_grow((void **)&n->origin, &n->capacity, n->text.bytes + bytes, sizeof *n->origin)) return false;
    for (size_t i = 0; i < bytes; i++) n->origin[n->text.bytes + i] = (uint32_t)origin;
    return ganz_text_append(&n->text, text, bytes);
}

static bool append_space(const ganz_spm *s, ganz_normal *n, size_t origin)
{
    return s->escape ? append(n, space_mark, 3, origin) : append(n, " ", 1, origin);
}

/* Appends, spaces as spaces are written. */
static bool append_escaped(const ganz_spm *s, ganz_normal *n, const char *text, size_t bytes, size_t origin)
{
    while (bytes > 0) {
        const char *const space = memchr(text, ' ', bytes);
        const size_t before = space ? (size_t)(space - text) : bytes;
        if (!append(n, text, before, origin)) return false;
        if (!space) break;
        if (!append_space(s, n, origin)) return false;
        text += before + 1;
        bytes -= before + 1;
    }
    return true;
}

static size_t skip_spaces(const ganz_spm *s, const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        const char *to;
        size_t to_bytes;
        const size_t taken = normalize_prefix(s, text + at, bytes - at, &to, &to_bytes);
        if (to_bytes != 1 || to[0] != ' ') break;
        at += taken;
    }
    return at;
}

static bool copy_text(const ganz_spm *s, const char *text, size_t bytes, size_t at, ganz_normal *n)
{
    bool after_space = s->squeeze;
    while (at < bytes) {
        const char *to;
        size_t to_bytes;
        const size_t taken = normalize_prefix(s, text + at, bytes - at, &to, &to_bytes);
        for (; after_space && to_bytes > 0 && to[0] == ' '; to_bytes--) to++;
        if (!append_escaped(s, n, to, to_bytes, at)) return false;
        if (to_bytes > 0) after_space = s->squeeze && to[to_bytes - 1] == ' ';
        if (n->text.bytes > MAX_NORMAL) return false;
        at += taken;
    }
    return true;
}

static void drop_last_spaces(const ganz_spm *s, ganz_text *text)
{
    const char *const space = s->escape ? space_mark : " ";
    const size_t bytes = s->escape ? 3 : 1;
    while (text->bytes >= bytes && memcmp(text->text + text->bytes - bytes, space, bytes) == 0) text->bytes -= bytes;
}

ganz_status ganz_spm_normalize(const ganz_spm *s, const char *text, size_t bytes, ganz_normal *n, ganz_error *err)
{
    n->text.bytes = 0;
    const size_t begin = s->squeeze ? skip_spaces(s, text, bytes) : 0;
    if (begin == bytes) return GANZ_OK;
    bool good = bytes < MAX_NORMAL;
    if (good && s->dummy_prefix && !s->space_behind) good = append_space(s, n, begin);
    good = good && copy_text(s, text, bytes, begin, n);
    if (s->squeeze) drop_last_spaces(s, &n->text);
    if (good && s->dummy_prefix && s->space_behind) good = append_space(s, n, bytes);
    return good ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a line");
}
