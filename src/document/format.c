/* The table of formats, and which of them a file is. */
#include "document/format.h"

#include <string.h>

#include "document/package.h"
#include "ganz/document.h"

/* The order is that of recognising content: plain text last. */
static const ganz_format *const formats[] = {
    &ganz_format_docx, &ganz_format_pptx,       &ganz_format_odt,   &ganz_format_odp,
    &ganz_format_epub, &ganz_format_xliff,      &ganz_format_po,    &ganz_format_json,
    &ganz_format_arb,  &ganz_format_properties, &ganz_format_srt,   &ganz_format_vtt,
    &ganz_format_html, &ganz_format_markdown,   &ganz_format_lines, &ganz_format_text,
};

const char *ganz_document_formats(void)
{
    return "text lines html markdown docx pptx odt odp epub xliff po json arb properties srt vtt";
}

const ganz_format *ganz_format_named(const char *name)
{
    for (size_t i = 0; i < GANZ_COUNT(formats); i++)
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}

bool ganz_document_is_archive(const char *name)
{
    const ganz_format *const format = ganz_format_named(name);
    return format && format->finish == ganz_package_finish;
}

/* ---- by suffix ---------------------------------------------------------------------------------- */

static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c); }

static bool is_word(const char *word, size_t bytes, const char *lower_word, size_t lower_bytes)
{
    if (bytes != lower_bytes) return false;
    for (size_t i = 0; i < bytes; i++)
        if (lower(word[i]) != lower_word[i]) return false;
    return true;
}

static bool has_suffix(const ganz_format *format, const char *suffix)
{
    for (const char *s = format->suffixes; *s;) {
        const size_t bytes = strcspn(s, " ");
        if (is_word(suffix, strlen(suffix), s, bytes)) return true;
        s += bytes + (s[bytes] == ' ');
    }
    return false;
}

static const ganz_format *format_of_suffix(const char *path)
{
    if (!path) return NULL;
    const char *const slash = strrchr(path, '/'), *const dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < GANZ_COUNT(formats); i++)
        if (has_suffix(formats[i], dot + 1)) return formats[i];
    return NULL;
}

/* ---- by content --------------------------------------------------------------------------------- */

/* Text has no zero bytes near its beginning. */
static bool looks_like_text(const char *bytes, size_t count) { return !memchr(bytes, 0, count < 4096 ? count : 4096); }

const ganz_format *ganz_format_of(const char *path, const char *bytes, size_t count)
{
    const ganz_format *const named = format_of_suffix(path);
    if (named) return named;
    for (size_t i = 0; i < GANZ_COUNT(formats); i++)
        if (formats[i]->recognise && formats[i]->recognise(bytes, count)) return formats[i];
    return count == 0 || looks_like_text(bytes, count) ? &ganz_format_text : NULL;
}

const char *ganz_document_recognise(const char *path, const char *bytes, size_t count)
{
    const ganz_format *const format = bytes ? ganz_format_of(path, bytes, count) : format_of_suffix(path);
    return format ? format->name : NULL;
}
