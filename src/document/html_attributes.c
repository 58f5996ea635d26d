/* Text in attributes: the list of the standard's translatable attributes, less those that hold code or names of files.
 */
#include "document/html_attributes.h"

#include <string.h>

static bool is_any(const char *text, size_t bytes, const char *const *words)
{
    for (; *words; words++)
        if (ganz_html_is(text, bytes, *words)) return true;
    return false;
}

static bool tag_is_any(const ganz_html_token *t, const char *const *words)
{
    return is_any(ganz_html_name(t), t->name_bytes, words);
}

/* True if an attribute of this name has one of these values. */
static bool has_value(const ganz_html_token *token, const char *name, const char *const *values)
{
    ganz_html_attribute a;
    for (size_t at = 0; ganz_html_attribute_next(token, &at, &a);)
        if (ganz_html_is(a.name, a.name_bytes, name) && is_any(a.value, a.value_bytes, values)) return true;
    return false;
}

/* Which attributes of a tag hold text that do not in others. */
typedef struct allowed {
    bool title, content, value, label, abbr;
} allowed;

static allowed allowed_in(const ganz_html_token *token)
{
    static const char *const meta[] = {"meta", NULL}, *const input[] = {"input", NULL},
                             *const cell[] = {"th", "td", NULL};
    static const char *const labelled[] = {"option", "optgroup", "track", NULL};
    static const char *const names[] = {"description",         "keywords",          "twitter:title",
                                        "twitter:description", "twitter:image:alt", NULL};
    static const char *const properties[] = {"og:title", "og:description", "og:image:alt", NULL};
    static const char *const sheets[] = {"link", "style", NULL}; /* titles are names of style sheets */
    static const char *const buttons[] = {"submit", "button", "reset", NULL};
    allowed a = {
        .title = !tag_is_any(token, sheets), .label = tag_is_any(token, labelled), .abbr = tag_is_any(token, cell)};
    if (tag_is_any(token, meta))
        a.content = has_value(token, "name", names) || has_value(token, "property", properties);
    if (tag_is_any(token, input)) a.value = has_value(token, "type", buttons);
    return a;
}

static bool is_blank(const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && ganz_html_space(text[at])) at++;
    return at == bytes;
}

static bool is_text(const ganz_html_attribute *a, const allowed *here)
{
    static const char *const everywhere[] = {"alt",     "placeholder",    "aria-label",       "aria-description",
                                             "summary", "aria-valuetext", "aria-placeholder", "aria-roledescription",
                                             NULL};
    if (is_blank(a->value, a->value_bytes)) return false;
    return is_any(a->name, a->name_bytes, everywhere) ||
           (here->title && ganz_html_is(a->name, a->name_bytes, "title")) ||
           (here->content && ganz_html_is(a->name, a->name_bytes, "content")) ||
           (here->value && ganz_html_is(a->name, a->name_bytes, "value")) ||
           (here->label && ganz_html_is(a->name, a->name_bytes, "label")) ||
           (here->abbr && ganz_html_is(a->name, a->name_bytes, "abbr"));
}

bool ganz_html_has_text(const ganz_html_token *token)
{
    const allowed here = allowed_in(token);
    ganz_html_attribute a;
    for (size_t at = 0; ganz_html_attribute_next(token, &at, &a);)
        if (is_text(&a, &here)) return true;
    return false;
}

void ganz_html_add_tag(ganz_skeleton *skeleton, const ganz_html_token *token, ganz_html_charset charset)
{
    const ganz_html_text_style style = {.charset = charset, .place = GANZ_ENTITY_ATTRIBUTE};
    ganz_block_style block = {.breaks = GANZ_BREAK_SENTENCES};
    const allowed here = allowed_in(token);
    const char *done = token->raw;
    ganz_html_attribute a;
    for (size_t at = 0; ganz_html_attribute_next(token, &at, &a);) {
        if (!is_text(&a, &here)) continue;
        ganz_skeleton_copy(skeleton, done, (size_t)(a.value - done));
        block.escape = ganz_html_escape(charset, a.quote ? a.quote : '=');
        block.between = a.quote ? " / " : "&#32;/&#32;";
        ganz_skeleton_begin(skeleton, &block);
        ganz_html_add_text(skeleton, a.value, a.value_bytes, &style);
        ganz_skeleton_end(skeleton);
        done = a.value + a.value_bytes;
    }
    ganz_skeleton_copy(skeleton, done, (size_t)(token->raw + token->bytes - done));
}
