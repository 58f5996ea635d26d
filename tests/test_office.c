/* Office documents, books and XLIFF: what is text, what is a mark, and where both are written. Archives are made here,
 * so that each case is one line of XML. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archives.h"
#include "document/package.h"
#include "reversed.h"
#include "skeletons.h"

#define WORD "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
#define DRAWING "http://schemas.openxmlformats.org/drawingml/2006/main"
#define OASIS "urn:oasis:names:tc:opendocument:xmlns:"

/* A kind of document: the members around the one that a case is about, and what stands around the case in it. */
typedef struct kind {
    const ganz_format *format;
    archive_member others[2];
    const char *member, *before, *after;
} kind;

static const char types[] = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
                            "<Override PartName=\"/word/document.xml\" ContentType=\"application/"
                            "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/>"
                            "<Override PartName=\"/ppt/slides/slide1.xml\" ContentType=\"application/"
                            "vnd.openxmlformats-officedocument.presentationml.slide+xml\"/></Types>";
static const char container[] = "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles>"
                                "<rootfile full-path=\"OEBPS/book.opf\"/></rootfiles></container>";
static const char book[] =
    "<package xmlns=\"http://www.idpf.org/2007/opf\"><manifest><item href=\"../OEBPS/page%201.xhtml\" "
    "media-type=\"application/xhtml+xml\"/><item href=\"x.css\" media-type=\"text/css\"/></manifest></package>";

#define MEMBER(name, text)          \
    {                               \
        name, text, sizeof text - 1 \
    }
static const kind docx = {&ganz_format_docx,
                          {MEMBER("[Content_Types].xml", types), MEMBER("word/media/a.png", "picture")},
                          "word/document.xml",
                          "<w:document xmlns:w=\"" WORD "\" xmlns:v=\"urn:schemas-microsoft-com:vml\"><w:body>",
                          "</w:body></w:document>"};
static const kind pptx = {
    &ganz_format_pptx,
    {MEMBER("[Content_Types].xml", types), MEMBER("x", "")},
    "ppt/slides/slide1.xml",
    "<p:sld xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" xmlns:a=\"" DRAWING "\">",
    "</p:sld>"};
static const kind odt = {&ganz_format_odt,
                         {MEMBER("mimetype", "application/vnd.oasis.opendocument.text"), MEMBER("styles.xml", "<s/>")},
                         "content.xml",
                         "<office:d xmlns:office=\"" OASIS "office:1.0\" xmlns:text=\"" OASIS
                         "text:1.0\" xmlns:draw=\"" OASIS "drawing:1.0\" xmlns:svg=\"" OASIS "svg-compatible:1.0\">",
                         "</office:d>"};
static const kind epub = {&ganz_format_epub,
                          {MEMBER("META-INF/container.xml", container), MEMBER("OEBPS/book.opf", book)},
                          "OEBPS/page 1.xhtml",
                          "<?xml version=\"1.0\"?><!DOCTYPE html><html xmlns=\"http://www.w3.org/1999/xhtml\"><body>",
                          "</body></html>"};

/* ---- cases -------------------------------------------------------------------------------------- */

typedef ganz_status translation(ganz_document *doc, ganz_error *err);
static ganz_status identity(ganz_document *doc, ganz_error *err) { return fake_translate(doc, fake_identity, err); }
static ganz_status shout(ganz_document *doc, ganz_error *err) { return fake_translate(doc, fake_shout, err); }
static ganz_status nothing(ganz_document *doc, ganz_error *err) { return fake_translate(doc, fake_nothing, err); }

/* Capitals, with a link for each word: what is carried comes back at its own word. */
static ganz_status shout_linked(ganz_document *doc, ganz_error *err)
{
    ganz_segment s;
    ganz_link links[64];
    ganz_status status;
    while ((status = ganz_document_next(doc, &s, err)) == GANZ_OK && s.text) {
        ganz_text out = {0};
        int count = 0;
        fake_shout(s.text, s.bytes, &out);
        for (size_t at = 0, end; at < s.bytes; at = end + 1) {
            for (end = at; end < s.bytes && s.text[end] != ' ';) end++;
            links[count++] = (ganz_link){at, end, at, end, false};
        }
        const ganz_translation t = {.text = out.text, .bytes = out.bytes, .links = links, .link_count = count};
        status = ganz_document_put(doc, s.number, &t, err);
        free(out.text);
        if (status != GANZ_OK) break;
    }
    return status;
}

static unsigned char *make(const kind *k, const char *body, size_t *bytes)
{
    char *const text = malloc(strlen(k->before) + strlen(body) + strlen(k->after) + 1);
    strcpy(text, k->before);
    strcat(text, body);
    strcat(text, k->after);
    const archive_member members[] = {k->others[0], k->others[1], {k->member, text, strlen(text)}};
    unsigned char *const archive = archive_make(members, 3, bytes);
    free(text);
    return archive;
}

static ganz_text translated(const ganz_format *format, const char *file, size_t bytes, translation *translate,
                            bool attributes)
{
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err = {0};
    ganz_text out = {0};
    ganz_document_defaults(&o);
    o.attributes = attributes;
    if (ganz_document_open_as(&doc, format, file, bytes, &o, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_int_equal(GANZ_OK, translate(doc, &err));
    assert_int_equal(GANZ_OK, ganz_document_write(doc, &out, &err));
    ganz_document_close(&doc);
    return out;
}

/* What stands between `before` and `after` in the member of a result; to be freed. */
static char *body_of(const kind *k, const ganz_text *out)
{
    ganz_zip *zip;
    size_t bytes;
    assert_int_equal(GANZ_OK, ganz_zip_open(&zip, out->text, out->bytes, NULL, NULL));
    const int member = ganz_zip_find(zip, k->member);
    assert_int_equal(GANZ_OK, ganz_zip_claim(zip, member, &bytes, NULL));
    char *const text = malloc(bytes + 1);
    assert_int_equal(GANZ_OK, ganz_zip_read(zip, member, text, NULL));
    ganz_zip_close(&zip);
    const size_t before = strlen(k->before), after = strlen(k->after);
    assert_memory_equal(k->before, text, before);
    assert_string_equal(k->after, text + bytes - after);
    memmove(text, text + before, bytes - before - after);
    text[bytes - before - after] = '\0';
    return text;
}

static void expect(const kind *k, const char *body, translation *translate, const char *wanted)
{
    size_t bytes;
    unsigned char *const file = make(k, body, &bytes);
    ganz_text same = translated(k->format, (const char *)file, bytes, identity, true);
    assert_int_equal(bytes, same.bytes);
    assert_memory_equal(file, same.text, bytes);
    ganz_text out = translated(k->format, (const char *)file, bytes, translate, true);
    char *const result = body_of(k, &out);
    if (strcmp(wanted, result) != 0) fail_msg("%s\nbecame\n%s\nnot\n%s", body, result, wanted);
    free(result);
    ganz_text_free(&out);
    ganz_text_free(&same);
    free(file);
}

/* ---- DOCX --------------------------------------------------------------------------------------- */

#define R(text) "<w:r><w:t>" text "</w:t></w:r>"
#define RP(text) "<w:r><w:t xml:space=\"preserve\">" text "</w:t></w:r>"
#define B(text) "<w:r><w:rPr><w:b/></w:rPr><w:t>" text "</w:t></w:r>"
#define BP(text) "<w:r><w:rPr><w:b/></w:rPr><w:t xml:space=\"preserve\">" text "</w:t></w:r>"
#define P(text) "<w:p>" text "</w:p>"

static void runs_are_marks(void **state)
{
    (void)state;
    expect(&docx, P(R("Hello world")), shout, P(R("HELLO WORLD")));
    /* A bold word stays bold where it goes. */
    expect(&docx, P(RP("Two ") B("red") RP(" cats")), fake_translate_reversed, P(RP("Cats ") B("red") RP(" Two")));
    /* One run that is not base follows another: base text comes between them when they part. The empty run was full. */
    expect(&docx,
           P(RP("One very long text ")
                 B("two") "<w:r><w:rPr><w:i/></w:rPr><w:t xml:space=\"preserve\"> three</w:t></w:r>"),
           fake_translate_reversed,
           P(RP("") "<w:r><w:rPr><w:i/></w:rPr><w:t xml:space=\"preserve\">Three</w:t></w:r>" RP(" ") B("two")
                 RP(" text long very One")));
    /* Words end up in runs even if all that is left of them stands before the first run. */
    expect(&docx, P(B("Red") RP(" Cats, Many Cats")), fake_translate_reversed,
           P(RP("Cats Many Cats, ") B("Red") RP("")));
}

static void runs_that_look_alike_are_joined(void **state)
{
    (void)state;
    expect(&docx,
           P("<w:r w:rsidR=\"1\"><w:t>He</w:t></w:r><w:proofErr w:type=\"spellStart\"/><w:r w:rsidR=\"2\"><w:t>llo "
             "you</w:t></w:r>"),
           shout, P("<w:r w:rsidR=\"1\"><w:t>HELLO YOU</w:t></w:r>"));
    expect(&docx, P(R("He") "<w:r><w:rPr><w:lang w:val=\"en-US\"/></w:rPr><w:t>llo you</w:t></w:r>"), shout,
           P(R("HELLO YOU")));
    /* A sentence that is not changed keeps its runs, and so do the gaps. */
    expect(&docx, P(R("N") R("O! One") RP(" cat.")), shout, P(R("N") R("O! ONE CAT.")));
}

static void tabs_and_breaks_end_sentences(void **state)
{
    (void)state;
    expect(&docx, P("<w:r><w:t>Name</w:t><w:tab/><w:t>John</w:t><w:br/><w:t>Street</w:t></w:r>"),
           fake_translate_reversed, P("<w:r><w:t>Name</w:t><w:tab/><w:t>John</w:t><w:br/><w:t>Street</w:t></w:r>"));
    expect(&docx, P("<w:r><w:t>first word</w:t><w:tab/><w:t>second word</w:t></w:r>"), shout,
           P("<w:r><w:t>FIRST WORD</w:t><w:tab/><w:t>SECOND WORD</w:t></w:r>"));
    /* A line break inside a sentence stays between its words. */
    expect(&docx, P("<w:r><w:t>one two</w:t><w:br/><w:t>three four</w:t></w:r>"), shout,
           P("<w:r><w:t>ONE TWO</w:t><w:br/><w:t>THREE FOUR</w:t></w:r>"));
}

static void links_and_fields(void **state)
{
    (void)state;
    expect(&docx, P(RP("A ") "<w:hyperlink r:id=\"x\">" R("small link") "</w:hyperlink>" RP(" here")),
           fake_translate_reversed,
           P(RP("Here ") "<w:hyperlink r:id=\"x\">" R("link small") "</w:hyperlink>" RP(" A")));
#define CHAR(kind) "<w:r><w:fldChar w:fldCharType=\"" kind "\"/></w:r>"
#define REF CHAR("begin") "<w:r><w:instrText>REF x</w:instrText></w:r>" CHAR("separate") R("3") CHAR("end")
    /* A number that Word makes itself is a word, and the field is whole wherever it goes. */
    expect(&docx, P(RP("See ") REF RP(" there")), fake_translate_reversed, P(RP("There ") REF RP(" See")));
#define LINK CHAR("begin") "<w:r><w:instrText>HYPERLINK \"a\"</w:instrText></w:r>" CHAR("separate")
    expect(&docx, P(RP("See ") LINK R("this page") CHAR("end") RP(" there")), shout,
           P(RP("SEE ") LINK R("THIS PAGE") CHAR("end") RP(" THERE")));
    /* What was deleted is not read. */
    expect(&docx, P(R("one") "<w:del><w:r><w:delText>two</w:delText></w:r></w:del>" RP(" three")), shout,
           P(R("ONE") "<w:del><w:r><w:delText>two</w:delText></w:r></w:del>" RP(" THREE")));
    expect(&docx, P(RP("one ") "<w:ins w:id=\"1\">" R("two") "</w:ins>" RP(" three")), shout,
           P(RP("ONE ") "<w:ins w:id=\"1\">" R("TWO") "</w:ins>" RP(" THREE")));
    expect(&docx, P("<w:sdt><w:sdtPr><w:t>no</w:t></w:sdtPr><w:sdtContent>" R("a control") "</w:sdtContent></w:sdt>"),
           shout, P("<w:sdt><w:sdtPr><w:t>no</w:t></w:sdtPr><w:sdtContent>" R("A CONTROL") "</w:sdtContent></w:sdt>"));
    expect(&docx, P("<w:bookmarkStart w:id=\"0\"/>" R("a heading") "<w:bookmarkEnd w:id=\"0\"/>"), shout,
           P("<w:bookmarkStart w:id=\"0\"/>" R("A HEADING") "<w:bookmarkEnd w:id=\"0\"/>"));
}

static void paragraphs_in_paragraphs(void **state)
{
    (void)state;
#define BOX(text) "<w:r><v:box><w:txbxContent>" P(R(text)) "</w:txbxContent></v:box></w:r>"
    expect(&docx, P(BOX("Some text")), shout, P(BOX("SOME TEXT")));
    expect(&docx, P(RP("before ") BOX("Some text") R("after")), shout, P(RP("BEFORE ") BOX("SOME TEXT") R("AFTER")));
    expect(&docx, P(BOX("First") R("text")), shout, P(BOX("FIRST") R("TEXT")));
    expect(&docx, P(R("text") BOX("last")), shout, P(R("TEXT") BOX("LAST")));
    expect(&docx, "<w:tbl><w:tr><w:tc>" P(R("a cell")) "</w:tc></w:tr></w:tbl>", shout,
           "<w:tbl><w:tr><w:tc>" P(R("A CELL")) "</w:tc></w:tr></w:tbl>");
}

/* "65 m" with a raised 2, H2O with a lowered one: the format is that of the digit wherever the word goes, and a word
 * with such runs inside is one that is not translated. */
static void raised_runs_stay_small(void **state)
{
    (void)state;
#define UP(text) "<w:r><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr><w:t>" text "</w:t></w:r>"
#define DOWN(text) "<w:r><w:rPr><w:vertAlign w:val=\"subscript\"/></w:rPr><w:t>" text "</w:t></w:r>"
    expect(&docx, P(R("a flat of 65 m") UP("2") RP(" here")), shout_linked, P(R("A FLAT OF 65 M") UP("2") RP(" HERE")));
    expect(&docx, P(R("a flat of 65 m") UP("2")), shout_linked, P(R("A FLAT OF 65 M") UP("2")));
    expect(&docx, P(R("x") UP("10")), shout_linked, P(R("X") UP("10")));
    expect(&docx, P(RP("some H") DOWN("2") R("O here")), shout_linked, P(RP("SOME H") DOWN("2") R("O HERE")));
    expect(&docx, P(R("H") DOWN("2") R("O is wet")), shout_linked, P(R("H") DOWN("2") R("O IS WET")));
    expect(&docx, P(RP("wet H") DOWN("2") R("O")), fake_translate_reversed, P(RP("H") DOWN("2") R("O wet")));
    expect(&docx, P(RP("some H") DOWN("2") R("SO") DOWN("4") RP(" is strong")), shout_linked,
           P(RP("SOME H") DOWN("2") R("SO") DOWN("4") RP(" IS STRONG")));
    expect(&docx, P(R("the 19") UP("th") RP(" day")), shout_linked, P(R("THE 19TH DAY")));
    /* Words in another format, and what touches no word or is more than one. */
    expect(&docx, P(RP("a very long text and ") B("m") UP("2")), shout_linked,
           P(RP("A VERY LONG TEXT AND ") B("M") UP("2")));
    expect(&docx, P(RP("a very long text and ") B("h") DOWN("2") B("o it") DOWN("4")), shout_linked,
           P(RP("A VERY LONG TEXT AND ") B("h") DOWN("2") B("o IT") DOWN("4")));
    expect(&docx, P(RP("see ") UP("note") RP(" here")), shout_linked, P(RP("SEE ") UP("NOTE") RP(" HERE")));
    expect(&docx, P(RP("word ") UP("a small note")), shout_linked, P(RP("WORD ") UP("A SMALL NOTE")));
    expect(&docx, P(RP("one ") "<w:r><w:rPr><w:vertAlign w:val=\"baseline\"/></w:rPr><w:t>two</w:t></w:r>"),
           shout_linked, P(RP("ONE ") "<w:r><w:rPr><w:vertAlign w:val=\"baseline\"/></w:rPr><w:t>TWO</w:t></w:r>"));
}

/* An empty translation leaves all that is not text. */
static void nothing_is_lost_with_the_text(void **state)
{
    (void)state;
    expect(&docx, P(R("one two") "<w:r><w:footnoteReference w:id=\"2\"/></w:r>" RP(" three")), nothing,
           P(R("") "<w:r><w:footnoteReference w:id=\"2\"/></w:r>" RP("")));
}

static void expect_bilingual(const kind *k, const char *before, const char *wanted)
{
    size_t bytes;
    unsigned char *const file = make(k, before, &bytes);
    ganz_document *doc;
    ganz_document_options o;
    ganz_text out = {0};
    ganz_document_defaults(&o);
    o.bilingual = true;
    assert_int_equal(GANZ_OK, ganz_document_open_as(&doc, k->format, (const char *)file, bytes, &o, NULL));
    assert_int_equal(GANZ_OK, shout(doc, NULL));
    assert_int_equal(GANZ_OK, ganz_document_write(doc, &out, NULL));
    char *const result = body_of(k, &out);
    assert_string_equal(wanted, result);
    ganz_document_close(&doc);
    ganz_text_free(&out);
    free(result);
    free(file);
}

/* Each paragraph with its translation behind it; notes have numbers and occur once. No tag stands in a title. */
static void bilingual_documents(void **state)
{
    (void)state;
    expect_bilingual(
        &docx, P(R("One two") "<w:r><w:footnoteReference w:id=\"2\"/></w:r>" RP(" three")) P(R("NO!")),
        P(R("One two") "<w:r><w:footnoteReference w:id=\"2\"/></w:r><w:r><w:t xml:space=\"preserve\"> three</w:t><w:br/>"
                       "<w:t xml:space=\"preserve\">ONE TWO THREE</w:t></w:r>") P(R("NO!")));
    expect_bilingual(&odt, "<svg:title>a cat</svg:title><text:p>a cat</text:p>",
                     "<svg:title>a cat / A CAT</svg:title><text:p>a cat<text:line-break/>A CAT</text:p>");
    expect_bilingual(&epub, "<title>a cat</title><p>a cat</p>", "<title>a cat / A CAT</title><p>a cat<br/>A CAT</p>");
}

/* ---- PPTX --------------------------------------------------------------------------------------- */

static void slides(void **state)
{
    (void)state;
    expect(&pptx,
           "<a:p><a:r><a:rPr lang=\"en-US\" dirty=\"0\"/><a:t>The ti</a:t></a:r><a:r><a:rPr "
           "lang=\"de\"/><a:t>tle</a:t></a:r><a:endParaRPr/></a:p>",
           shout, "<a:p><a:r><a:rPr lang=\"en-US\" dirty=\"0\"/><a:t>THE TITLE</a:t></a:r><a:endParaRPr/></a:p>");
    expect(&pptx, "<a:p><a:r><a:t>Page </a:t></a:r><a:fld type=\"slidenum\"><a:t>3</a:t></a:fld></a:p>", shout,
           "<a:p><a:r><a:t>PAGE </a:t></a:r><a:fld type=\"slidenum\"><a:t>3</a:t></a:fld></a:p>");
    expect(&pptx,
           "<a:p><a:r><a:t>One title.</a:t></a:r><a:br><a:rPr/></a:br><a:r><a:t>Another.</a:t></a:r></a:p><p:cNvPr "
           "id=\"1\" descr=\"a cat &amp; dog\"/>",
           shout,
           "<a:p><a:r><a:t>ONE TITLE.</a:t></a:r><a:br><a:rPr/></a:br><a:r><a:t>ANOTHER.</a:t></a:r></a:p><p:cNvPr "
           "id=\"1\" descr=\"A CAT &amp; DOG\"/>");
}

static void raised_runs_of_slides(void **state)
{
    (void)state;
#define A(text) "<a:r><a:rPr/><a:t>" text "</a:t></a:r>"
#define BASELINE(value, text) "<a:r><a:rPr baseline=\"" value "\"/><a:t>" text "</a:t></a:r>"
    expect(&pptx, "<a:p>" A("about 65 m") BASELINE("30000", "2") A(" of h") BASELINE("-25000", "2") A("o") "</a:p>",
           shout_linked,
           "<a:p>" A("ABOUT 65 M") BASELINE("30000", "2") A(" OF h") BASELINE("-25000", "2") A("o") "</a:p>");
    expect(&pptx, "<a:p>" A("one ") BASELINE("0", "two") "</a:p>", shout_linked,
           "<a:p>" A("ONE ") BASELINE("0", "TWO") "</a:p>");
}

/* ---- OpenDocument ------------------------------------------------------------------------------- */

static void open_documents(void **state)
{
    (void)state;
    expect(&odt, "<text:h>A head</text:h><text:p/><text:p>Two <text:span>red</text:span> cats</text:p>",
           fake_translate_reversed,
           "<text:h>Head A</text:h><text:p/><text:p>Cats <text:span>red</text:span> Two</text:p>");
    expect(&odt, "<text:p>one<text:s text:c=\"2\"/>two<text:tab/>three.<text:line-break/>Four</text:p>", shout,
           "<text:p>ONE TWO<text:tab/>THREE.<text:line-break/>FOUR</text:p>");
    expect(&odt,
           "<text:p>word<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>a "
           "note</text:p></text:note-body></text:note> end</text:p>",
           shout,
           "<text:p>WORD<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A "
           "NOTE</text:p></text:note-body></text:note> END</text:p>");
    expect(&odt,
           "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>page "
           "<text:page-number>3</text:page-number></text:p>",
           shout,
           "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>PAGE "
           "<text:page-number>3</text:page-number></text:p>");
    expect(&odt,
           "<text:p><draw:frame><draw:text-box><text:p>in a box</text:p></draw:text-box><svg:title>a "
           "cat</svg:title></draw:frame></text:p>",
           shout,
           "<text:p><draw:frame><draw:text-box><text:p>IN A BOX</text:p></draw:text-box><svg:title>A "
           "CAT</svg:title></draw:frame></text:p>");
}

static void raised_spans(void **state)
{
    (void)state;
#define STYLE(name, family, position)                             \
    "<style:style style:name=\"" name "\" style:family=\"" family \
    "\"><style:text-properties style:text-position=\"" position "\"/></style:style>"
#define STYLES                                                                                                \
    "<x xmlns:style=\"" OASIS "style:1.0\">" STYLE("T1", "text", "super 58%") STYLE("T2", "text", "-25% 58%") \
        STYLE("T3", "text", "0% 100%") STYLE("T4", "p", "sub 58%") "</x>"
#define T(number, text) "<text:span text:style-name=\"T" number "\">" text "</text:span>"
    expect(&odt, STYLES "<text:p>a flat of 65 m" T("1", "2") " here</text:p>", shout_linked,
           STYLES "<text:p>A FLAT OF 65 M" T("1", "2") " HERE</text:p>");
    expect(&odt, STYLES "<text:p>some h" T("2", "2") "o and h" T("2", "2") "so" T("2", "4") "</text:p>", shout_linked,
           STYLES "<text:p>SOME h" T("2", "2") "o AND h" T("2", "2") "so" T("2", "4") "</text:p>");
    expect(&odt, STYLES "<text:p>see " T("1", "note") " or " T("3", "a") "</text:p>", shout_linked,
           STYLES "<text:p>SEE " T("1", "NOTE") " OR " T("3", "A") "</text:p>");
    expect(&odt, STYLES "<text:p>one" T("3", "a") " two" T("4", "b") "</text:p>", nothing,
           STYLES "<text:p>" T("3", "") T("4", "") "</text:p>"); /* these are on the line */
    expect(&odt, STYLES "<text:p>the 19" T("1", "th") " day</text:p>", shout_linked,
           STYLES "<text:p>THE 19TH DAY</text:p>");
    expect(&odt, STYLES "<text:p>wet h" T("2", "2") "o</text:p>", fake_translate_reversed,
           STYLES "<text:p>h" T("2", "2") "o wet</text:p>");
}

/* ---- EPUB --------------------------------------------------------------------------------------- */

static void books(void **state)
{
    (void)state;
    expect(&epub, "<h1 id=\"a\"/><p>Two <b>red</b> cats &amp; a dog<br/>more</p>", shout,
           "<h1 id=\"a\"/><p>TWO <b>RED</b> CATS &amp; A DOG<br/>MORE</p>");
    expect(&epub, "<p xml:lang=\"fr\">le chat</p><p lang=\"en-US\">a <i xml:lang=\"la\">felis</i></p>", shout,
           "<p xml:lang=\"fr\">le chat</p><p lang=\"en-US\">A <i xml:lang=\"la\">felis</i></p>");
    expect(&epub, "<div>loose <a id=\"x\"/>text<div>a box</div>end</div><script/><p>after&nbsp;it</p>", shout,
           "<div>LOOSE <a id=\"x\"/>TEXT<div>A BOX</div>END</div><script/><p>AFTER IT</p>");
    expect(&epub,
           "<p translate=\"no\">keep</p><p>see <code>x = 1</code> here</p><pre>as is</pre><p><img alt=\"a cat\" "
           "src=\"c.png\"/></p>",
           shout,
           "<p translate=\"no\">keep</p><p>SEE <code>x = 1</code> HERE</p><pre>as is</pre><p><img alt=\"A CAT\" "
           "src=\"c.png\"/></p>");
    expect(&epub, "<p>about 65 m<sup>2</sup> of h<sub>2</sub>o</p>", shout_linked,
           "<p>ABOUT 65 M<sup>2</sup> OF h<sub>2</sub>o</p>");
    /* What is no XML is read as HTML. */
    expect(&epub, "<p>one<p>two &copy", shout, "<p>ONE<p>TWO &copy");
}

/* ---- XLIFF -------------------------------------------------------------------------------------- */

static void expect_xliff(const char *in, const char *wanted)
{
    ganz_text out = translated(&ganz_format_xliff, in, strlen(in), fake_translate_reversed, true);
    if (out.bytes != strlen(wanted) || memcmp(out.text, wanted, out.bytes) != 0)
        fail_msg("%s\nbecame\n%.*s\nnot\n%s", in, (int)out.bytes, out.text, wanted);
    ganz_text again = translated(&ganz_format_xliff, out.text, out.bytes, shout, true);
    assert_int_equal(out.bytes, again.bytes);
    assert_memory_equal(out.text, again.text, out.bytes);
    ganz_text_free(&again);
    ganz_text_free(&out);
}

#define X1(language, text) \
    "<xliff xmlns=\"urn:oasis:names:tc:xliff:document:1.2\"><file" language ">" text "</file></xliff>"
#define X2(text) "<xliff xmlns=\"urn:oasis:names:tc:xliff:document:2.0\" srcLang=\"en\" trgLang=\"de\">" text "</xliff>"
#define REVIEW "<target state=\"needs-review-translation\">"

static void xliff(void **state)
{
    (void)state;
    expect_xliff(X1("", "<trans-unit id=\"1\">\n <source>a <g id=\"1\">big</g> dog</source>\n</trans-unit>"),
                 X1(" target-language=\"de\"",
                    "<trans-unit id=\"1\">\n <source>a <g id=\"1\">big</g> dog</source>\n " REVIEW
                    "dog <g id=\"1\">big</g> a</target>\n</trans-unit>"));
    expect_xliff(X1(" target-language=\"fr\"",
                    "<trans-unit><source>a b</source><target xml:lang=\"fr\" state=\"new\" x='y'/></trans-unit>"),
                 X1(" target-language=\"fr\"", "<trans-unit><source>a b</source><target xml:lang=\"fr\" x='y' "
                                               "state=\"needs-review-translation\">b a</target></trans-unit>"));
    /* Where white space counts, newlines end sentences. */
    expect_xliff(X2("<unit xml:space=\"preserve\"><segment><source>a b\n c d</source></segment></unit>"),
                 X2("<unit xml:space=\"preserve\"><segment state=\"translated\"><source>a b\n c d</source><target>b "
                    "a\n d c</target></segment></unit>"));
#define KEPT                                                                                                 \
    "<trans-unit><source>a b</source><target>c</target></trans-unit><trans-unit translate=\"no\"><source>d " \
    "e</source></trans-unit>"                                                                                \
    "<trans-unit approved=\"yes\"><source>f g</source></trans-unit><trans-unit><source/></trans-unit>"
    expect_xliff(X1(" target-language=\"de\"", KEPT), X1(" target-language=\"de\"", KEPT));
    expect_xliff(
        X1(" target-language=\"de\"",
           "<trans-unit><source>a b</source><alt-trans><source>x</source><target>y</target></alt-trans></trans-unit>"),
        X1(" target-language=\"de\"",
           "<trans-unit><source>a b</source>" REVIEW
           "b a</target><alt-trans><source>x</source><target>y</target></alt-trans></trans-unit>"));
    expect_xliff(
        X2("<unit id=\"1\"><segment state=\"initial\"><source>a <pc id=\"1\">big</pc> dog</source></segment></unit>"),
        X2("<unit id=\"1\"><segment state=\"translated\"><source>a <pc id=\"1\">big</pc> dog</source><target>dog <pc "
           "id=\"1\">big</pc> a</target></segment></unit>"));
    /* A section of CDATA is text: parts of it come once, as text between tags has them. */
    expect_xliff(
        X1(" target-language=\"de\"", "<trans-unit><source><![CDATA[a & <b>big</b> dog]]></source></trans-unit>"),
        X1(" target-language=\"de\"",
           "<trans-unit><source><![CDATA[a & <b>big</b> dog]]></source><target "
           "state=\"needs-review-translation\">dog &lt;b&gt;big&lt;/b&gt; &amp; a</target></trans-unit>"));
    /* Escaped tags are tags, with their attributes; text as it stands in a page may speak of them. */
    expect_xliff(X2("<unit><segment><source>a &lt;a href=\"/x y\"&gt;big&lt;/a&gt; dog</source></segment></unit>"),
                 X2("<unit><segment state=\"translated\"><source>a &lt;a href=\"/x y\"&gt;big&lt;/a&gt; dog</source>"
                    "<target>dog &lt;a href=\"/x y\"&gt;big&lt;/a&gt; a</target></segment></unit>"));
    expect_xliff(X2("<unit id=\"1\" translate=\"no\"><segment><source>a b</source></segment></unit>"),
                 X2("<unit id=\"1\" translate=\"no\"><segment><source>a b</source></segment></unit>"));
}

/* Where `text` is the source of a unit: the block that it is. */
static void expect_source(const char *version, const char *text, const char *wanted)
{
    const ganz_format_options options = {.source_language = "en", .target_language = "de"};
    ganz_text shown = {0};
    ganz_error err = {0};
    char in[1024];
    const bool old = strcmp(version, "1.2") == 0;
    const char *const unit = old ? "trans-unit" : "segment";
    snprintf(
        in, sizeof in,
        "<xliff xmlns=\"urn:oasis:names:tc:xliff:document:%s\"><%s><source>%s</source><target></target></%s></xliff>",
        version, unit, text, unit);
    assert_int_equal(GANZ_OK, show_skeleton(&shown, &ganz_format_xliff, in, strlen(in), &options, &err));
    fake_add(&shown, "", 0);
    if (!strstr(shown.text, wanted)) fail_msg("%s\nis\n%s\nwithout\n%s", in, shown.text, wanted);
    ganz_text_free(&shown);
}

static void expect_code(const char *code, const char *sign)
{
    char text[256], wanted[256];
    snprintf(text, sizeof text, "a %s b", code);
    snprintf(wanted, sizeof wanted, "{a [%s%s] b}", sign, code);
    expect_source("1.2", text, wanted);
}

/* Codes that stand for a value are words of the sentence, those of formatting are marks. */
static void places_of_xliff(void **state)
{
    (void)state;
#define POINT "<x id=\"1\"/>"
#define HELD "<ph id=\"2\">%1</ph>"
    expect_source("1.2", "a " POINT " b " HELD, "{a [=|" POINT "] b [=|" HELD "]}");
    expect_source("2.0", "a " HELD "!", "{a [=|" HELD "]!}");
    expect_xliff(X1(" target-language=\"de\"", "<trans-unit><source>a " POINT " b " HELD " c</source></trans-unit>"),
                 X1(" target-language=\"de\"", "<trans-unit><source>a " POINT " b " HELD " c</source>" REVIEW "c " HELD
                                               " b " POINT " a</target></trans-unit>"));
    expect_xliff(X1(" target-language=\"de\"", "<trans-unit><source>a " POINT "b c</source></trans-unit>"),
                 X1(" target-language=\"de\"",
                    "<trans-unit><source>a " POINT "b c</source>" REVIEW "c " POINT "b a</target></trans-unit>"));
    static const char *const places[] = {"<x id=\"START_DATE\" equiv-text=\"{{ a }}\"/>",
                                         "<x id=\"1\" ctype=\"x-variable\"/>", "<ph id=\"1\">&lt;%= a %></ph>",
                                         "<ph id=\"1\"></ph>", "<x id=\"ICU\" equiv-text=\"{n, plural, other {b}}\"/>"};
    static const char *const marks[] = {"<x id=\"1\" ctype=\"lb\"/>",
                                        "<x id=\"1\" ctype=\"x-br\"/>",
                                        "<x id=\"1\" equiv-text=\"&lt;br/&gt;\"/>",
                                        "<x id=\"1\" equiv-text=\"\\n&#10;\"/>",
                                        "<x id=\"LINE_BREAK\"/>",
                                        "<x id=\"TAG_IMG_1\"/>",
                                        "<ph id=\"1\">&lt;/b></ph>",
                                        "<ph id=\"1\"><![CDATA[<b>]]></ph>",
                                        "<it id=\"1\" pos=\"open\">x</it>"};
    for (size_t i = 0; i < GANZ_COUNT(places); i++) expect_code(places[i], "=|");
    for (size_t i = 0; i < GANZ_COUNT(marks); i++) expect_code(marks[i], ".");
    expect_source("2.0", "a<ph id=\"1\" type=\"fmt\"/>b", "{a[.<ph id=\"1\" type=\"fmt\"/>]b}");
    expect_source("2.0", "a<ph id=\"1\" equiv=\"LINE_BREAK\"/>b", "{a[.<ph id=\"1\" equiv=\"LINE_BREAK\"/>]b}");
    expect_source("1.2", "<x id=\"START_TAG_B_1\"/>a<x id=\"CLOSE_TAG_B\"/>",
                  "{[+<x id=\"START_TAG_B_1\"/>]a[-<x id=\"CLOSE_TAG_B\"/>]}");
}

/* ---- what is wrong ------------------------------------------------------------------------------ */

static void wrong_documents_are_refused(void **state)
{
    (void)state;
    static const struct {
        const kind *k;
        const char *body, *says;
    } bad[] = {
        {&docx, "<w:p>", "word/document.xml: line 1, byte "},
        {&odt, "&nbsp;", "content.xml: line 1, byte "},
        {&pptx, "<a:p></a:q>", "ppt/slides/slide1.xml: line 1"},
    };
    for (size_t i = 0; i < GANZ_COUNT(bad); i++) {
        size_t bytes;
        unsigned char *const file = make(bad[i].k, bad[i].body, &bytes);
        ganz_document *doc;
        ganz_error err = {0};
        ganz_document_options o;
        ganz_document_defaults(&o);
        assert_int_equal(GANZ_EFORMAT,
                         ganz_document_open_as(&doc, bad[i].k->format, (const char *)file, bytes, &o, &err));
        if (!strstr(err.message, bad[i].says)) fail_msg("%s", err.message);
        free(file);
    }
}

/* Whichever request for memory is the first to fail: a sentence, and nothing is lost or written. */
static void memory_runs_out(void **state)
{
    (void)state;
    static const struct {
        const kind *k;
        const char *body;
    } cases[] = {
        {&docx, P(RP("One ") B("two") "<w:hyperlink>" R("three") "</w:hyperlink>" REF RP(" four")) P(BOX("Some text"))},
        {&odt, "<text:p>One "
               "<text:span>two</text:span><text:note><text:note-body><text:p>Three</text:p></text:note-body></"
               "text:note></text:p>"},
        {&epub, "<p>One <b>two</b> &amp; <img alt=\"three\"/></p>"},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        size_t bytes;
        unsigned char *const file = make(cases[i].k, cases[i].body, &bytes);
        ganz_status status = GANZ_ENOMEM;
        ganz_document_options o;
        ganz_document_defaults(&o);
        for (long n = 1; status == GANZ_ENOMEM; n++) {
            ganz_document *doc;
            ganz_error err = {0};
            ganz_text out = {0};
            ganz_alloc_fail_at(n);
            status = ganz_document_open_as(&doc, cases[i].k->format, (const char *)file, bytes, &o, &err);
            if (status == GANZ_OK) status = shout(doc, &err);
            if (status == GANZ_OK) status = ganz_document_write(doc, &out, &err);
            ganz_alloc_fail_at(0);
            ganz_document_close(&doc);
            ganz_text_free(&out);
            assert_true(status == GANZ_OK || err.message[0]);
            assert_true(n < 5000);
        }
        assert_int_equal(GANZ_OK, status);
        free(file);
    }
}

/* By their content, without a name. */
static void archives_are_told_apart(void **state)
{
    (void)state;
    static const kind *const kinds[] = {&docx, &pptx, &odt};
    for (size_t i = 0; i < GANZ_COUNT(kinds); i++) {
        size_t bytes;
        unsigned char *const file = make(kinds[i], "", &bytes);
        assert_string_equal(kinds[i]->format->name, ganz_document_recognise(NULL, (const char *)file, bytes));
        free(file);
    }
}

static void archives_by_name(void **state)
{
    (void)state;
    static const char *const archives[] = {"docx", "pptx", "odt", "odp", "epub"};
    static const char *const others[] = {"text", "html", "xliff", "po", "srt", "vtt", "nonsense", ""};
    for (size_t i = 0; i < GANZ_COUNT(archives); i++) assert_true(ganz_document_is_archive(archives[i]));
    for (size_t i = 0; i < GANZ_COUNT(others); i++) assert_false(ganz_document_is_archive(others[i]));
}

/* A paragraph of a million bytes in which each part is as nasty as can be: linear time, or minutes. */
static void long_paragraphs_are_quick(void **state)
{
    (void)state;
    static const struct {
        const kind *k;
        const char *before, *part, *after;
    } cases[] = {
        {&docx, "<w:p>" R("text"), "<w:r><w:rPr><w:b/></w:rPr><w:t>a</w:t></w:r>" R("b"), R("text") "</w:p>"},
        {&docx, "<w:p>" R("text"), "<w:bookmarkStart w:id=\"1\"/>", R("text") "</w:p>"},
        {&docx, "<w:p>" R("text"), CHAR("begin"), R("text") "</w:p>"},
        {&docx, "<w:p>" R("text"), "<w:hyperlink>" R("a") "</w:hyperlink>", "</w:p>"},
        {&docx, "<w:p>" R("text"), "<w:r><w:br/><w:tab/><w:noBreakHyphen/></w:r>", R("text") "</w:p>"},
        {&odt, "<text:p>", "<text:span>a</text:span><text:bookmark-start/>", "</text:p>"},
        {&odt, "<text:p>", "a<text:line-break/>", "</text:p>"},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        char *const body = malloc(1100000);
        size_t n = strlen(strcpy(body, cases[i].before)), bytes;
        for (const size_t part = strlen(cases[i].part); n < 1000000; n += part)
            memcpy(body + n, cases[i].part, part + 1);
        strcpy(body + n, cases[i].after);
        unsigned char *const file = make(cases[i].k, body, &bytes);
        ganz_skeleton *skeleton;
        const ganz_format_options options = {"en", "de", GANZ_BREAK_LINES, true};
        assert_int_equal(GANZ_OK, ganz_skeleton_open(&skeleton, NULL));
        const clock_t begin = clock();
        assert_int_equal(GANZ_OK, cases[i].k->format->read(skeleton, (const char *)file, bytes, &options, NULL));
        const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (seconds > 10) fail_msg("a million bytes of %s took %.1f s", cases[i].part, seconds);
        ganz_skeleton_close(&skeleton);
        free(file);
        free(body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_marks),
        cmocka_unit_test(runs_that_look_alike_are_joined),
        cmocka_unit_test(tabs_and_breaks_end_sentences),
        cmocka_unit_test(links_and_fields),
        cmocka_unit_test(paragraphs_in_paragraphs),
        cmocka_unit_test(nothing_is_lost_with_the_text),
        cmocka_unit_test(bilingual_documents),
        cmocka_unit_test(slides),
        cmocka_unit_test(raised_runs_of_slides),
        cmocka_unit_test(raised_runs_stay_small),
        cmocka_unit_test(raised_spans),
        cmocka_unit_test(open_documents),
        cmocka_unit_test(books),
        cmocka_unit_test(xliff),
        cmocka_unit_test(places_of_xliff),
        cmocka_unit_test(wrong_documents_are_refused),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(archives_are_told_apart),
        cmocka_unit_test(archives_by_name),
        cmocka_unit_test(long_paragraphs_are_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
