/* Open elements. Searches look at the innermost 256 only, so that deep nesting costs no more than linear time; the
 * standard lets browsers have such a limit too. */
#include <string.h>

#include "document/html_tree.h"

enum { SEARCH_DEPTH = 256 };

void ganz_html_tree_close(ganz_html_tree *tree)
{
    ganz_free(tree->open);
    *tree = (ganz_html_tree){0};
}

const ganz_html_open *ganz_html_innermost(const ganz_html_tree *tree)
{
    static const ganz_html_element root = {"", 0, 0};
    static const ganz_html_open page = {.element = &root, .number = -1, .translate = true};
    return tree->count > 0 ? &tree->open[tree->count - 1] : &page;
}

bool ganz_html_foreign(const ganz_html_tree *tree)
{
    const ganz_html_open *const top = ganz_html_innermost(tree);
    return top->foreign && !top->host;
}

static size_t search_end(const ganz_html_tree *tree)
{
    return tree->count > SEARCH_DEPTH ? tree->count - SEARCH_DEPTH : 0;
}

/* ---- start tags --------------------------------------------------------------------------------- */

/* Ends the outermost open element that a start tag of this group ends, with all inside of it. */
static void end_implied(ganz_html_tree *tree, ganz_html_group begun)
{
    const size_t stop = search_end(tree);
    size_t left = tree->count;
    for (size_t i = tree->count; i > stop; i--) {
        const ganz_html_open *const open = &tree->open[i - 1];
        if (open->foreign && !open->host) break;
        if (ganz_html_ends(begun, open->element)) left = i - 1;
        else if (ganz_html_shields(begun, open->element)) break;
    }
    tree->count = left;
}

static void leave_foreign(ganz_html_tree *tree)
{
    while (tree->count > 0 && ganz_html_foreign(tree)) tree->count--;
}

/* Elements of svg and math that hold HTML again. */
static bool is_host(const ganz_html_token *token)
{
    static const char *const names[] = {"foreignobject", "desc", "title", "annotation-xml", "mi", "mo", "mn", "ms",
                                        "mtext"};
    for (size_t i = 0; i < GANZ_COUNT(names); i++)
        if (ganz_html_is(ganz_html_name(token), token->name_bytes, names[i])) return true;
    return false;
}

static bool has_word(const char *text, size_t bytes, const char *word)
{
    for (size_t at = 0; at < bytes;) {
        size_t end = at;
        while (end < bytes && !ganz_html_space(text[end])) end++;
        if (ganz_html_is(text + at, end - at, word)) return true;
        at = end + 1;
    }
    return false;
}

static bool is_language(const ganz_html_attribute *a)
{
    return ganz_html_is(a->name, a->name_bytes, "lang") || ganz_html_is(a->name, a->name_bytes, "xml:lang");
}

/* lang="fr" on a part of the page: of whole pages it is often wrong. */
static bool is_foreign_text(const ganz_html_tree *tree, const ganz_html_token *token)
{
    const char *const name = ganz_html_name(token);
    ganz_html_attribute a;
    if (!tree->source || ganz_html_is(name, token->name_bytes, "html") || ganz_html_is(name, token->name_bytes, "body"))
        return false;
    for (size_t at = 0; ganz_html_attribute_next(token, &at, &a);)
        if (is_language(&a) && ganz_html_third_language(a.value, a.value_bytes, tree->source, tree->target))
            return true;
    return false;
}

/* translate="no", class="notranslate"; otherwise as it is. */
static bool told_to_translate(const ganz_html_token *token, bool translate)
{
    ganz_html_attribute a;
    bool told = translate, by_class = false;
    for (size_t at = 0; ganz_html_attribute_next(token, &at, &a);) {
        if (ganz_html_is(a.name, a.name_bytes, "class"))
            by_class = by_class || has_word(a.value, a.value_bytes, "notranslate");
        if (!ganz_html_is(a.name, a.name_bytes, "translate")) continue;
        if (ganz_html_is(a.value, a.value_bytes, "no")) told = false;
        if (a.value_bytes == 0 || ganz_html_is(a.value, a.value_bytes, "yes")) told = true;
    }
    return told && !by_class;
}

static ganz_html_open make_open(const ganz_html_tree *tree, const ganz_html_token *token)
{
    const bool foreign = ganz_html_foreign(tree);
    static const ganz_html_element xml = {"", 0, GANZ_HTML_INLINE};
    const ganz_html_open *const outer = ganz_html_innermost(tree);
    ganz_html_open open = {.element = foreign ? &xml : ganz_html_find(ganz_html_name(token), token->name_bytes)};
    const unsigned flags = open.element->flags;
    open.number = ganz_html_number(ganz_html_name(token), token->name_bytes);
    open.foreign = foreign || (flags & GANZ_HTML_FOREIGN);
    open.host = foreign && is_host(token);
    open.keeps = outer->keeps || (flags & GANZ_HTML_KEEPS);
    open.bare = outer->bare || (flags & GANZ_HTML_PLAIN) || open.element->group == GANZ_HTML_OPTION;
    const bool translate = outer->translate && !(flags & GANZ_HTML_OPAQUE) && !is_foreign_text(tree, token);
    open.translate = told_to_translate(token, translate) && !open.foreign;
    return open;
}

bool ganz_html_start(ganz_html_tree *tree, const ganz_html_token *token, ganz_html_open *opened, bool *stays)
{
    const ganz_html_element *const element = ganz_html_find(ganz_html_name(token), token->name_bytes);
    if (!tree->xml && (element->flags & GANZ_HTML_LEAVES)) leave_foreign(tree);
    if (!tree->xml && !ganz_html_foreign(tree)) {
        if (element->group != GANZ_HTML_NO_GROUP) end_implied(tree, (ganz_html_group)element->group);
        if (element->flags & GANZ_HTML_ENDS_P) end_implied(tree, GANZ_HTML_P);
    }
    *opened = make_open(tree, token);
    const bool whole = token->self_closing && (tree->xml || opened->foreign);
    *stays = !whole && !(opened->element->flags & GANZ_HTML_VOID);
    if (!*stays) return true;
    if (!ganz_grow((void **)&tree->open, &tree->capacity, tree->count + 1, sizeof *tree->open)) return false;
    tree->open[tree->count++] = *opened;
    return true;
}

/* ---- end tags ----------------------------------------------------------------------------------- */

/* The place of the element that the end tag ends, from 1; 0: none. *across: others than inline elements are open in it.
 */
static size_t find_ended(const ganz_html_tree *tree, int number, const ganz_html_element *ended, bool *across)
{
    const size_t stop = search_end(tree);
    *across = false;
    for (size_t i = tree->count; i > stop; i--) {
        const ganz_html_open *const open = &tree->open[i - 1];
        if (open->number == number) return i;
        if (!tree->xml && ganz_html_stops(open->element, ended)) return 0;
        *across = *across || !(open->element->flags & GANZ_HTML_INLINE);
    }
    return 0;
}

void ganz_html_end(ganz_html_tree *tree, const ganz_html_token *token)
{
    const ganz_html_element *const element = ganz_html_find(ganz_html_name(token), token->name_bytes);
    bool across;
    const size_t place = find_ended(tree, ganz_html_number(ganz_html_name(token), token->name_bytes), element, &across);
    if (place == 0) return;
    if (across && (element->flags & GANZ_HTML_FORMAT)) { /* <b><p>...</b>: the paragraph goes on */
        memmove(&tree->open[place - 1], &tree->open[place], (tree->count - place) * sizeof *tree->open);
        tree->count--;
    } else {
        tree->count = place - 1;
    }
}
