/* EPUB: the pages that the book's package names, and the table of contents of older books. */
#include <string.h>

#include "document/format.h"
#include "document/package.h"
#include "document/xhtml.h"
#include "document/xml_inline.h"

enum { CONTAINER = 1, PACKAGE, NCX, CIPHER };
enum { ROOT_FILE = 1, ITEM, LABEL, REFERENCE };

static const ganz_xml_space spaces[] = {
    {"urn:oasis:names:tc:opendocument:xmlns:container", CONTAINER},
    {"http://www.idpf.org/2007/opf", PACKAGE},
    {"http://www.daisy.org/z3986/2005/ncx/", NCX},
    {"http://www.w3.org/2001/04/xmlenc#", CIPHER},
    {NULL, 0},
};

static const ganz_xml_name names[] = {
    {CONTAINER, "rootfile", ROOT_FILE},
    {PACKAGE, "item", ITEM},
    {NCX, "text", LABEL},
    {CIPHER, "CipherReference", REFERENCE},
    {0, NULL, 0},
};

typedef struct book {
    ganz_package package;
    const ganz_format_options *options;
    bool *seen, *locked; /* (members) read before; encrypted */
} book;

/* ---- names -------------------------------------------------------------------------------------- */

enum { MOST_PATH = 1024 };

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static size_t last_slash(const char *path, size_t bytes)
{
    while (bytes > 0 && path[bytes - 1] != '/') bytes--;
    return bytes;
}

/* Appends a reference to the folder path[0..folder), without "%20", "../" and what follows "#". False: it is too long.
 */
static bool join_path(char *path, size_t folder, ganz_slice reference)
{
    size_t n = folder;
    for (size_t i = 0; i < reference.bytes && reference.at[i] != '#'; i++) {
        char c = reference.at[i];
        if (c == '%' && i + 2 < reference.bytes && hex_digit(reference.at[i + 1]) >= 0 &&
            hex_digit(reference.at[i + 2]) >= 0) {
            c = (char)(hex_digit(reference.at[i + 1]) * 16 + hex_digit(reference.at[i + 2]));
            i += 2;
        }
        if (n + 1 >= MOST_PATH) return false;
        path[n++] = c;
        if (n >= 3 && memcmp(path + n - 3, "../", 3) == 0) n = last_slash(path, n > 4 ? n - 4 : 0);
    }
    path[n] = '\0';
    return true;
}

/* ---- members ------------------------------------------------------------------------------------ */

static ganz_status open_tree(book *b, ganz_xml_tree *tree, int member, const char **text, size_t *bytes,
                             ganz_error *err)
{
    static const ganz_xml_dialect dialect = {.names = names, .options = {.spaces = spaces, .doctype = true}};
    tree->events = NULL;
    GANZ_TRY(ganz_package_load(&b->package, member, text, bytes, err));
    return ganz_xml_tree_open(tree, *text, *bytes, ganz_zip_name(b->package.zip, member), &dialect, err);
}

/* Members that are encrypted have their names in a list: fonts mostly, which are not read, or all pages of a book that
 * was sold with copy protection. */
static ganz_status read_ciphers(book *b, int list, ganz_error *err)
{
    const char *text;
    size_t bytes;
    ganz_xml_tree tree;
    const ganz_status status = open_tree(b, &tree, list, &text, &bytes, err);
    for (size_t i = 0; status == GANZ_OK && i < tree.count; i++) {
        ganz_slice uri;
        char path[MOST_PATH];
        if (!ganz_xml_starts(&tree, i, REFERENCE) || !ganz_xml_tree_attribute(&tree, i, "URI", &uri) ||
            !join_path(path, 0, uri))
            continue;
        const int member = ganz_zip_find(b->package.zip, path);
        if (member >= 0) b->locked[member] = true;
    }
    ganz_xml_tree_close(&tree);
    return status;
}

static ganz_status read_page(book *b, int member, ganz_error *err)
{
    const char *text;
    size_t bytes;
    if (b->locked[member])
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s is encrypted: a book with copy protection cannot be read",
                         ganz_zip_name(b->package.zip, member));
    GANZ_TRY(ganz_package_load(&b->package, member, &text, &bytes, err));
    ganz_package_begin(&b->package, member, text, bytes, NULL, NULL);
    return ganz_xhtml_read(b->package.skeleton, text, bytes, b->options, err);
}

static ganz_inline_kind kind_of_label(const ganz_inline *in, size_t event)
{
    (void)in;
    (void)event;
    return GANZ_INLINE_MARK;
}

static void read_labels(const ganz_inline *in)
{
    const ganz_xml_event *const e = in->tree->events;
    for (size_t i = 0; i < in->tree->count;) {
        ganz_xml_copy(in->skeleton, in->tree, e[i].begin, e[i].end);
        if (ganz_xml_starts(in->tree, i, LABEL) && !e[i].empty) {
            ganz_inline_block(in, i + 1, e[i].partner);
            i = e[i].partner;
        } else {
            i++;
        }
    }
}

static ganz_status read_contents(book *b, int member, ganz_error *err)
{
    static const ganz_inline_rules rules = {.kind = kind_of_label};
    static const ganz_block_style style = {.breaks = GANZ_BREAK_SENTENCES, .escape = ganz_xml_escape};
    const char *text;
    size_t bytes;
    ganz_xml_tree tree;
    const ganz_status status = open_tree(b, &tree, member, &text, &bytes, err);
    if (status == GANZ_OK) {
        const ganz_inline in = {.skeleton = b->package.skeleton, .tree = &tree, .rules = &rules, .style = &style};
        ganz_package_begin(&b->package, member, text, bytes, NULL, NULL);
        read_labels(&in);
    }
    ganz_xml_tree_close(&tree);
    return status;
}

/* ---- the package -------------------------------------------------------------------------------- */

static ganz_status read_item(book *b, const ganz_xml_tree *tree, size_t event, char *path, size_t folder,
                             ganz_error *err)
{
    ganz_slice href, type;
    if (!ganz_xml_tree_attribute(tree, event, "href", &href) ||
        !ganz_xml_tree_attribute(tree, event, "media-type", &type))
        return GANZ_OK;
    const bool page = ganz_slice_is(type, "application/xhtml+xml"),
               contents = ganz_slice_is(type, "application/x-dtbncx+xml");
    if ((!page && !contents) || !join_path(path, folder, href)) return GANZ_OK;
    const int member = ganz_zip_find(b->package.zip, path);
    if (member < 0 || b->seen[member]) return GANZ_OK;
    b->seen[member] = true;
    return page ? read_page(b, member, err) : read_contents(b, member, err);
}

static ganz_status read_items(book *b, int member, ganz_error *err)
{
    char path[MOST_PATH];
    const char *const name = ganz_zip_name(b->package.zip, member), *text;
    const size_t folder = last_slash(name, strlen(name));
    size_t bytes;
    ganz_xml_tree tree;
    if (folder >= MOST_PATH) return GANZ_OK;
    memcpy(path, name, folder);
    ganz_status status = open_tree(b, &tree, member, &text, &bytes, err);
    for (size_t i = 0; status == GANZ_OK && i < tree.count; i++)
        if (ganz_xml_starts(&tree, i, ITEM)) status = read_item(b, &tree, i, path, folder, err);
    ganz_xml_tree_close(&tree);
    return status;
}

/* The package, or packages, that the container names. */
static ganz_status read_roots(book *b, const ganz_xml_tree *tree, ganz_error *err)
{
    for (size_t i = 0; i < tree->count; i++) {
        ganz_slice full;
        char path[MOST_PATH];
        if (!ganz_xml_starts(tree, i, ROOT_FILE) || !ganz_xml_tree_attribute(tree, i, "full-path", &full) ||
            !join_path(path, 0, full))
            continue;
        const int member = ganz_zip_find(b->package.zip, path);
        if (member < 0 || b->seen[member]) continue;
        b->seen[member] = true;
        GANZ_TRY(read_items(b, member, err));
    }
    return ganz_skeleton_status(b->package.skeleton, err);
}

static ganz_status read_book(book *b, ganz_error *err)
{
    const char *text;
    size_t bytes;
    ganz_xml_tree tree;
    const int container = ganz_zip_find(b->package.zip, "META-INF/container.xml");
    const int ciphers = ganz_zip_find(b->package.zip, "META-INF/encryption.xml");
    if (container < 0) return ganz_fail(err, GANZ_EFORMAT, "this is no EPUB: META-INF/container.xml is missing");
    b->seen = ganz_alloc((size_t)ganz_zip_count(b->package.zip), sizeof *b->seen);
    b->locked = ganz_alloc((size_t)ganz_zip_count(b->package.zip), sizeof *b->locked);
    if (!b->seen || !b->locked) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a document");
    if (ciphers >= 0) GANZ_TRY(read_ciphers(b, ciphers, err));
    ganz_status status = open_tree(b, &tree, container, &text, &bytes, err);
    if (status == GANZ_OK) status = read_roots(b, &tree, err);
    ganz_xml_tree_close(&tree);
    return status;
}

static ganz_status read_epub(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                             ganz_error *err)
{
    book b = {.options = options};
    ganz_status status = ganz_package_open(&b.package, s, bytes, count, err);
    if (status == GANZ_OK) status = read_book(&b, err);
    ganz_free(b.seen);
    ganz_free(b.locked);
    ganz_package_close(&b.package);
    return status;
}

static bool is_epub(const char *bytes, size_t count) { return ganz_package_is(bytes, count, "application/epub+zip"); }

const ganz_format ganz_format_epub = {
    .name = "epub", .suffixes = "epub", .recognise = is_epub, .read = read_epub, .finish = ganz_package_finish};
