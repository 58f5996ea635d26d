/* The elements of HTML, and which of them end which: the parts of the standard's tree construction that decide where an
 * attribute like translate="no" stops to hold. */
#include <string.h>

#include "document/html_element.h"
#include "document/html_scan.h"

enum {
    I = GANZ_HTML_INLINE,
    V = GANZ_HTML_VOID,
    R = GANZ_HTML_RAW,
    T = GANZ_HTML_PLAIN,
    O = GANZ_HTML_OPAQUE,
    X = GANZ_HTML_FOREIGN,
    F = GANZ_HTML_FORMAT,
    S = GANZ_HTML_SCOPE,
    P = GANZ_HTML_ENDS_P,
    L = GANZ_HTML_LEAVES,
    K = GANZ_HTML_KEEPS
};

/* clang-format off */
static const ganz_html_element elements[] = { /* sorted by name */
    {"a", 0, I | F}, {"abbr", 0, I}, {"acronym", 0, I}, {"address", 0, P}, {"applet", 0, S}, {"area", 0, I | V},
    {"article", 0, P}, {"aside", 0, P}, {"audio", 0, 0}, {"b", 0, I | F | L}, {"base", 0, I | V},
    {"basefont", 0, I | V}, {"bdi", 0, I}, {"bdo", 0, I}, {"bgsound", 0, I | V}, {"big", 0, I | F | L},
    {"blockquote", 0, P | L}, {"body", 0, L}, {"br", 0, V | L}, {"button", 0, S}, {"canvas", 0, 0}, {"caption", 0, S},
    {"center", 0, P | L}, {"cite", 0, I}, {"code", 0, I | F | O | L}, {"col", 0, V}, {"colgroup", 0, 0},
    {"data", 0, I}, {"datalist", 0, 0}, {"dd", GANZ_HTML_TERM, P | L}, {"del", 0, I}, {"details", 0, P},
    {"dfn", 0, I}, {"dialog", 0, P}, {"dir", GANZ_HTML_LIST, P}, {"div", 0, P | L}, {"dl", GANZ_HTML_TERMS, P | L},
    {"dt", GANZ_HTML_TERM, P | L}, {"em", 0, I | F | L}, {"embed", 0, V | L}, {"fieldset", 0, P},
    {"figcaption", 0, P}, {"figure", 0, P}, {"font", 0, I | F}, {"footer", 0, P}, {"form", 0, P}, {"frame", 0, V},
    {"frameset", 0, 0}, {"h1", GANZ_HTML_HEADING, P | L}, {"h2", GANZ_HTML_HEADING, P | L},
    {"h3", GANZ_HTML_HEADING, P | L}, {"h4", GANZ_HTML_HEADING, P | L}, {"h5", GANZ_HTML_HEADING, P | L},
    {"h6", GANZ_HTML_HEADING, P | L}, {"head", 0, L}, {"header", 0, P}, {"hgroup", 0, P}, {"hr", 0, V | P | L},
    {"html", 0, S}, {"i", 0, I | F | L}, {"iframe", 0, R}, {"image", 0, I | V}, {"img", 0, I | V | L},
    {"input", 0, V}, {"ins", 0, I}, {"kbd", 0, I | O}, {"keygen", 0, V}, {"label", 0, 0}, {"legend", 0, 0},
    {"li", GANZ_HTML_LI, P | L}, {"link", 0, I | V}, {"listing", 0, P | L | O | K}, {"main", 0, P}, {"map", 0, I},
    {"mark", 0, I}, {"marquee", 0, S}, {"math", 0, I | O | X}, {"menu", GANZ_HTML_LIST, P | L},
    {"meta", 0, I | V | L}, {"meter", 0, 0}, {"nav", 0, P}, {"nobr", 0, I | F | L}, {"noembed", 0, R},
    {"noframes", 0, R}, {"noscript", 0, 0}, {"object", 0, S}, {"ol", GANZ_HTML_LIST, P | L},
    {"optgroup", GANZ_HTML_OPTIONS, 0}, {"option", GANZ_HTML_OPTION, 0}, {"output", 0, I}, {"p", GANZ_HTML_P, P | L},
    {"param", 0, V}, {"picture", 0, I}, {"plaintext", 0, R | P}, {"pre", 0, P | L | O | K}, {"progress", 0, 0},
    {"q", 0, I}, {"rb", GANZ_HTML_RUBY, I}, {"rp", GANZ_HTML_RUBY, I | O}, {"rt", GANZ_HTML_RUBY, I | O},
    {"rtc", GANZ_HTML_RUBY, I}, {"ruby", 0, I | L}, {"s", 0, I | F | L}, {"samp", 0, I | O}, {"script", 0, I | R},
    {"search", 0, P}, {"section", 0, P}, {"select", GANZ_HTML_SELECT, 0}, {"slot", 0, I}, {"small", 0, I | F | L},
    {"source", 0, I | V}, {"span", 0, I | L}, {"strike", 0, I | F | L}, {"strong", 0, I | F | L}, {"style", 0, I | R},
    {"sub", 0, I | L}, {"summary", 0, P}, {"sup", 0, I | L}, {"svg", 0, I | O | X},
    {"table", GANZ_HTML_TABLE, P | L | S}, {"tbody", GANZ_HTML_ROWS, 0}, {"td", GANZ_HTML_CELL, S},
    {"template", 0, S}, {"textarea", 0, T | K}, {"tfoot", GANZ_HTML_ROWS, 0}, {"th", GANZ_HTML_CELL, S},
    {"thead", GANZ_HTML_ROWS, 0}, {"time", 0, I}, {"title", 0, T}, {"tr", GANZ_HTML_ROW, 0}, {"track", 0, V},
    {"tt", 0, I | F | O | L}, {"u", 0, I | F | L}, {"ul", GANZ_HTML_LIST, P | L}, {"var", 0, I | O | L},
    {"video", 0, 0}, {"wbr", 0, I | V}, {"xmp", 0, P | R},
};
/* clang-format on */

static const ganz_html_element unknown = {"", 0, I}, custom = {"", 0, 0};

static int find_index(const char *name, size_t bytes)
{
    char lower[sizeof elements[0].name] = "";
    if (bytes >= sizeof lower) return -1;
    for (size_t i = 0; i < bytes; i++) lower[i] = ganz_ascii_lower(name[i]);
    int low = 0, high = (int)GANZ_COUNT(elements);
    while (low < high) {
        const int middle = (low + high) / 2, order = strcmp(elements[middle].name, lower);
        if (order == 0) return memchr(lower, '\0', bytes) ? -1 : middle;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

const ganz_html_element *ganz_html_find(const char *name, size_t bytes)
{
    const int index = find_index(name, bytes);
    if (index >= 0) return &elements[index];
    return memchr(name, '-', bytes) ? &custom : &unknown;
}

int ganz_html_number(const char *name, size_t bytes)
{
    const int index = find_index(name, bytes);
    if (index >= 0) return index;
    uint32_t hash = 2166136261u; /* FNV-1a: which of the unknown names is which */
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ (unsigned char)ganz_ascii_lower(name[i])) * 16777619u;
    return (int)(hash >> 2) + (int)GANZ_COUNT(elements);
}

bool ganz_html_stops(const ganz_html_element *inside, const ganz_html_element *ended)
{
    switch (ended->group) {
    case GANZ_HTML_CELL:
    case GANZ_HTML_ROW:
    case GANZ_HTML_ROWS:
    case GANZ_HTML_TABLE: return inside->group == GANZ_HTML_TABLE;
    default: break;
    }
    if ((ended->flags & I) && !(ended->flags & F)) return !(inside->flags & I);
    return (inside->flags & S) != 0;
}

bool ganz_html_ends(ganz_html_group begun, const ganz_html_element *open)
{
    switch (begun) {
    case GANZ_HTML_P:
    case GANZ_HTML_LI:
    case GANZ_HTML_TERM:
    case GANZ_HTML_HEADING:
    case GANZ_HTML_OPTION:
    case GANZ_HTML_CELL:
    case GANZ_HTML_RUBY: return open->group == begun;
    case GANZ_HTML_OPTIONS: return open->group == GANZ_HTML_OPTION || open->group == GANZ_HTML_OPTIONS;
    case GANZ_HTML_ROW: return open->group == GANZ_HTML_CELL || open->group == GANZ_HTML_ROW;
    case GANZ_HTML_ROWS: return open->group >= GANZ_HTML_CELL && open->group <= GANZ_HTML_ROWS;
    default: return false;
    }
}

bool ganz_html_shields(ganz_html_group begun, const ganz_html_element *between)
{
    switch (begun) {
    case GANZ_HTML_LI: return between->group == GANZ_HTML_LIST || (between->flags & S);
    case GANZ_HTML_TERM: return between->group == GANZ_HTML_TERMS || (between->flags & S);
    case GANZ_HTML_OPTION:
    case GANZ_HTML_OPTIONS: return between->group == GANZ_HTML_SELECT || (between->flags & S);
    case GANZ_HTML_CELL:
    case GANZ_HTML_ROW:
    case GANZ_HTML_ROWS: return between->group == GANZ_HTML_TABLE;
    case GANZ_HTML_P: return (between->flags & S) != 0;
    default: return true; /* headings, ruby: the innermost element only */
    }
}

bool ganz_html_third_language(const char *lang, size_t bytes, const char *source, const char *target)
{
    static const char *const none[] = {"und", "mul", "zxx", "mis"};
    char code[4] = "";
    size_t n = 0;
    for (; n < bytes && n < sizeof code && ganz_ascii_letter(lang[n]); n++) code[n] = ganz_ascii_lower(lang[n]);
    if (n < 2 || n == sizeof code || (n < bytes && lang[n] != '-') || *source == '\0' || *target == '\0') return false;
    for (size_t i = 0; i < GANZ_COUNT(none); i++)
        if (strcmp(code, none[i]) == 0) return false;
    if (strcmp(code, "ger") == 0) memcpy(code, "de", sizeof "de"); /* of three letters: eng, deu, too */
    return strncmp(code, source, 2) != 0 && strncmp(code, target, 2) != 0;
}
