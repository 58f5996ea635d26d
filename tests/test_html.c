/* HTML: the tokenizer, references, and what the reader makes of pages. Expectations are the standard's rules, by hand.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "document/format.h"
#include "document/html_entity.h"
#include "document/html_scan.h"
#include "documents.h"
#include "hostile.h"
#include "skeletons.h"

/* ---- references --------------------------------------------------------------------------------- */

static void expect_reference(const char *text, ganz_entity_place place, size_t length, int32_t code)
{
    int32_t found = 0;
    assert_int_equal(ganz_entity_decode(text, strlen(text), place, &found), length);
    if (length > 0) assert_int_equal(found, code);
}

static void references_are_characters(void **state)
{
    (void)state;
    expect_reference("&amp;", GANZ_ENTITY_TEXT, 5, '&');
    expect_reference("&auml;", GANZ_ENTITY_TEXT, 6, 0xE4);
    expect_reference("&Auml;x", GANZ_ENTITY_TEXT, 6, 0xC4);
    expect_reference("&hellip;", GANZ_ENTITY_TEXT, 8, 0x2026);
    expect_reference("&zwnj;", GANZ_ENTITY_TEXT, 6, 0x200C);
    expect_reference("&thetasym;", GANZ_ENTITY_TEXT, 10, 0x3D1);
    expect_reference("&AElig;", GANZ_ENTITY_TEXT, 7, 0xC6); /* first and last of the table */
    expect_reference("&#228;", GANZ_ENTITY_TEXT, 6, 0xE4);
    expect_reference("&#xe4;", GANZ_ENTITY_TEXT, 6, 0xE4);
    expect_reference("&#X1F600;", GANZ_ENTITY_TEXT, 9, 0x1F600);
    expect_reference("&#228 ", GANZ_ENTITY_TEXT, 5, 0xE4);
    expect_reference("&#150;", GANZ_ENTITY_TEXT, 6, 0x2013); /* windows-1252 */
    expect_reference("&#0;", GANZ_ENTITY_TEXT, 4, 0xFFFD);
    expect_reference("&#xD800;", GANZ_ENTITY_TEXT, 8, 0xFFFD);
    expect_reference("&#99999999999;", GANZ_ENTITY_TEXT, 14, 0xFFFD);
    expect_reference("&", GANZ_ENTITY_TEXT, 0, 0);
    expect_reference("& b", GANZ_ENTITY_TEXT, 0, 0);
    expect_reference("&#;", GANZ_ENTITY_TEXT, 0, 0);
    expect_reference("&#x;", GANZ_ENTITY_TEXT, 0, 0);
    expect_reference("&;", GANZ_ENTITY_TEXT, 0, 0);
}

static void references_may_lack_a_semicolon(void **state)
{
    (void)state;
    expect_reference("&copy 2020", GANZ_ENTITY_TEXT, 5, 0xA9);
    expect_reference("&copycat", GANZ_ENTITY_TEXT, 5, 0xA9);
    expect_reference("&notit;", GANZ_ENTITY_TEXT, 4, 0xAC); /* the standard's own example */
    expect_reference("&notin;", GANZ_ENTITY_TEXT, 7, 0x2209);
    expect_reference("&copy=1", GANZ_ENTITY_ATTRIBUTE, 0, 0);
    expect_reference("&copycat", GANZ_ENTITY_ATTRIBUTE, 0, 0);
    expect_reference("&copy \"", GANZ_ENTITY_ATTRIBUTE, 5, 0xA9);
    expect_reference("&alpha x", GANZ_ENTITY_TEXT, 0, 0);
    expect_reference("&copy x", GANZ_ENTITY_STRICT, 0, 0);
    expect_reference("&nvlArr;", GANZ_ENTITY_TEXT, 8, -1);
    expect_reference("&nonsense;", GANZ_ENTITY_STRICT, 10, -1);
}

/* ---- tokens ------------------------------------------------------------------------------------- */

/* Tokens as their kinds and bytes, "T" text, "S" start, "E" end, "C" comment, with "|" between. */
static void expect_tokens(const char *page, const char *wanted)
{
    ganz_text shown = {0};
    ganz_html_scan scan = ganz_html_scan_over(page, strlen(page));
    ganz_html_token token;
    while (ganz_html_next(&scan, &token)) {
        if (shown.bytes > 0) show(&shown, "|", 1);
        show(&shown, &"TSEC"[token.kind], 1);
        if (token.self_closing) show(&shown, "/", 1);
        show(&shown, token.raw, token.bytes);
    }
    if (shown.bytes != strlen(wanted) || memcmp(shown.text ? shown.text : "", wanted, shown.bytes) != 0)
        fail_msg("%s\nbecame %.*s\nnot    %s", page, (int)shown.bytes, shown.text, wanted);
    ganz_text_free(&shown);
}

static void tokens_are_the_standards(void **state)
{
    (void)state;
    expect_tokens("a<b>c</b>d", "Ta|S<b>|Tc|E</b>|Td");
    expect_tokens("<a href=\"x>y\" b='<' c=d>x", "S<a href=\"x>y\" b='<' c=d>|Tx");
    expect_tokens("<br/><br /><a href=/>x", "S/<br/>|S/<br />|S<a href=/>|Tx");
    expect_tokens("<a b = c d>x", "S<a b = c d>|Tx");
    expect_tokens("<a =x>y", "S<a =x>|Ty");
    expect_tokens("a < b <3 <>", "Ta < b <3 <>");
    expect_tokens("a</", "Ta</");
    expect_tokens("a</>b</ x>c", "Ta|C</>|Tb|C</ x>|Tc");
    expect_tokens("<!-- a > b --->c", "C<!-- a > b --->|Tc");
    expect_tokens("<!-->a<!--->b<!--c--!>d", "C<!-->|Ta|C<!--->|Tb|C<!--c--!>|Td");
    expect_tokens("<!doctype html><!x>a", "C<!doctype html>|C<!x>|Ta");
    expect_tokens("<?xml version=\"1.0\"?>a<?php if (a->b > 1) ?>b",
                  "C<?xml version=\"1.0\"?>|Ta|C<?php if (a->b > 1) ?>|Tb");
    expect_tokens("<?php a > b", "C<?php a >|T b");
    expect_tokens("a<% b > c %>d <% e", "Ta|C<% b > c %>|Td <% e");
    expect_tokens("<option <?= $a ?>>b", "S<option <?= $a ?>>|Tb");
    expect_tokens("<i a=<% b > c %>>d", "S<i a=<% b > c %>>|Td");
    expect_tokens("<i a=\"<?= $a[\"b\"] ?>\">c", "S<i a=\"<?= $a[\"b\"] ?>\">|Tc");
    expect_tokens("<i a=\"<?\" <% b>c", "S<i a=\"<?\" <% b>|Tc");
    expect_tokens("a<![CDATA[x>y]]>", "Ta|C<![CDATA[x>|Ty]]>");
    expect_tokens("a<b c=\"d", "Ta|C<b c=\"d");
    expect_tokens("a<!-- b", "Ta|C<!-- b");
}

static void expect_raw(const char *name, const char *text, size_t length)
{
    ganz_html_scan scan = ganz_html_scan_over(text, strlen(text));
    ganz_html_token token;
    ganz_html_raw_text(&scan, name, &token);
    assert_int_equal(token.bytes, length);
}

static void scripts_end_where_the_standard_says(void **state)
{
    (void)state;
    expect_raw("script", "a<b</scriptx></SCRIPT >x", 13);
    expect_raw("script", "<!-- <script> </script> --></script>", 27);
    expect_raw("script", "<!-- </script>", 5);
    expect_raw("script", "no end", 6);
    expect_raw("title", "a <b> </titles> </title>", 16);
    expect_raw("style", "</style", 7);
}

/* ---- pages -------------------------------------------------------------------------------------- */

static void expect_page(const char *page, bool attributes, const char *wanted)
{
    const ganz_format_options options = {"en", "de", GANZ_BREAK_LINES, attributes};
    ganz_text shown = {0};
    ganz_error err;
    assert_int_equal(show_skeleton(&shown, &ganz_format_html, page, strlen(page), &options, &err), GANZ_OK);
    if (shown.bytes != strlen(wanted) || memcmp(shown.text ? shown.text : "", wanted, shown.bytes) != 0)
        fail_msg("%s\nbecame %.*s\nnot    %s", page, (int)shown.bytes, shown.text, wanted);
    ganz_text_free(&shown);
}

static void inline_elements_are_marks(void **state)
{
    (void)state;
    expect_page("<p>Two <b>red</b> cats.</p>", true, "<p>{Two [+<b>]red[-</b>] cats.}</p>");
    expect_page("<b>x</b>", true, "{[+<b>]x[-</b>]}");
    expect_page("a <IMG SRC=x> b<wbr>c", true, "{a [.<IMG SRC=x>] b[.<wbr>]c}");
    expect_page("a <username> b", true, "{a [?<username>] b}");
    expect_page("a <x-box>b</x-box> c", true, "{a }<x-box>{b}</x-box>{ c}");
    expect_page("<div>a<p>b</p>c</div>", true, "<div>{a}<p>{b}</p>{c}</div>");
    expect_page("<a href=x><h2>b</h2></a>", true, "{[?<a href=x>]}<h2>{b}</h2></a>");
    expect_page("a<!-- b -->c", true, "{a[.<!-- b -->]c}");
    expect_page("<!-- b -->", true, "<!-- b -->");
    expect_page("a <script>b</script> c", true, "{a [.<script>b</script>] c}");
    expect_page("<nav><a>One</a> <a>Two</a></nav>", true, "<nav><a>{One}</a> <a>{Two}</a></nav>");
}

static void elements_without_space_are_apart(void **state)
{
    (void)state;
    expect_page("<span>Added</span><span>Gone</span>", true, "{[+<span>]Added[-</span>]}{[+<span>]Gone[-</span>]}");
    expect_page("<b>a</b><i>, b</i>", true, "{[+<b>]a[-</b>][+<i>], b[-</i>]}");
    expect_page("<b>a</b> <i>b</i>", true, "{[+<b>]a[-</b>] [+<i>]b[-</i>]}");
    expect_page("<b>W</b>ord", true, "{[+<b>]W[-</b>]ord}");
    expect_page("<a><b>W</b><i>ord</i></a>", true, "{[+<a>][+<b>]W[-</b>][+<i>]ord[-</i>][-</a>]}");
}

/* Items side by side are no sentence, whether white space or a sign stands between them. */
static void rows_are_read_item_by_item(void **state)
{
    (void)state;
    expect_page("<div><a href=/1>Home</a> <a href=/2>Shop</a>\n<a href=/3>Cart</a></div>", true,
                "<div>{[+<a href=/1>]Home[-</a>]} {[+<a href=/2>]Shop[-</a>]}\n{[+<a href=/3>]Cart[-</a>]}</div>");
    expect_page("<a>Home</a> | <a>About</a>", true, "{[+<a>]Home[-</a>]} | {[+<a>]About[-</a>]}");
    expect_page("<a>Home</a> &raquo; <b>About</b> &gt; Us", true,
                "{[+<a>]Home[-</a>]} &raquo; {[+<b>]About[-</b>]} &gt; {Us}");
    expect_page("<a>A</a> \xE2\x80\xBA <a>B</a>\xC2\xB7<a>C</a> \xE2\x80\xA2 <a>D</a>", true,
                "{[+<a>]A[-</a>]} \xE2\x80\xBA {[+<a>]B[-</a>]}\xC2\xB7{[+<a>]C[-</a>]} \xE2\x80\xA2 {[+<a>]D[-</a>]}");
    expect_page("<i>A</i> / <i>B</i>, <i>C</i>", true, "{[+<i>]A[-</i>]} / {[+<i>]B[-</i>]}, {[+<i>]C[-</i>]}");
    expect_page("me | <a>A</a> | you |", true, "{me} | {[+<a>]A[-</a>]} | {you} |");
    expect_page("<span>First name</span> <span>Last name</span>", true,
                "{[+<span>]First name[-</span>]} {[+<span>]Last name[-</span>]}");
    /* In an element of its own; with icons; with what is not translated. */
    expect_page("<p><small><a>A</a> | <a>B</a></small>", true,
                "<p>{[?<small>]}{[+<a>]A[-</a>]} | {[+<a>]B[-</a>]}</small>");
    expect_page("<a><img> A</a> <i></i> <!-- c --><a><svg><path/></svg>B</a>", true,
                "{[+<a>][.<img>] A[-</a>]} {[+<i>][-</i>]} <!-- c -->{[+<a>][=|<svg><path/></svg>]B[-</a>]}");
    expect_page("<a>A</a> | <code>b</code> | <a>C</a>", true,
                "{[+<a>]A[-</a>]} | {[=b|<code>b</code>]} | {[+<a>]C[-</a>]}");
}

static void sentences_are_no_rows(void **state)
{
    (void)state;
    expect_page("See <a>A</a> and <a>B</a>", true, "{See [+<a>]A[-</a>] and [+<a>]B[-</a>]}");
    expect_page("<b>Very</b> <i>important</i>", true, "{[+<b>]Very[-</b>] [+<i>]important[-</i>]}");
    expect_page("<b>Very</b> <b>important</b>", true, "{[+<b>]Very[-</b>] [+<b>]important[-</b>]}");
    expect_page("<a>The</a> <a>quick</a> fox", true, "{[+<a>]The[-</a>] [+<a>]quick[-</a>] fox}");
    expect_page("<span>The fox</span> <span>runs</span>", true, "{[+<span>]The fox[-</span>] [+<span>]runs[-</span>]}");
    expect_page("<h1><span>Hello</span> <span>World</span></h1>", true,
                "<h1>{[+<span>]Hello[-</span>] [+<span>]World[-</span>]}</h1>");
    expect_page("<b>A</b> / <i>B</i>", true, "{[+<b>]A[-</b>] / [+<i>]B[-</i>]}");
    expect_page("<a>A</a>, and <a>B</a>", true, "{[+<a>]A[-</a>], and [+<a>]B[-</a>]}");
    expect_page("<a>A <a>B</a>", true, "{[?<a>]A [+<a>]B[-</a>]}");
}

/* What a look ahead has seen is not looked at again. */
static void rows_are_found_quickly(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    static const char *const parts[] = {"<a>One</a>", "<a>One</a> ", "<b>A ", "x {% y %} <a>", "<a>A</a> | "};
    for (size_t i = 0; i < GANZ_COUNT(parts); i++) {
        const size_t bytes = strlen(parts[i]);
        char *const page = malloc(COUNT * bytes);
        ganz_status status;
        for (size_t k = 0; k < COUNT; k++) memcpy(page + k * bytes, parts[i], bytes);
        const clock_t begin = clock();
        assert_true(skeleton_is_whole(&ganz_format_html, page, COUNT * bytes, &status));
        assert_int_equal(status, GANZ_OK);
        assert_true(clock() - begin < 20 * CLOCKS_PER_SEC);
        free(page);
    }
}

static void raised_parts_stay_by_their_word(void **state)
{
    (void)state;
    expect_page("2<sup>30</sup> - 1", true, "{2[=|<sup>30</sup>] - 1}");
    expect_page("word<sup><a href=x>[1]</a></sup>.", true, "{word[=|<sup><a href=x>[1]</a></sup>].}");
    expect_page("H<sub>2</sub>O is C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>.", true,
                "{[=H2O|H<sub>2</sub>O] is [=C6H12O6|C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>].}");
    expect_page("a<sup>b c</sup> <sup>d</sup>", true, "{a[+<sup>]b c[-</sup>] [+<sup>]d[-</sup>]}");
    /* What is raised in an English ordinal is text like any other. */
    expect_page("the 19<sup>th</sup> day<sup>th2</sup>", true, "{the 19th day[=|<sup>th2</sup>]}");
    expect_page("a<sub>1</sub><b>x</b>", true, "{a[=|<sub>1</sub>][+<b>]x[-</b>]}");
}

static void templates_keep_their_order(void **state)
{
    (void)state;
    expect_page("<p>a {% if x %}b{% endif %} {{ c }} {% d</p>", true,
                "<p>{a }{% if x %}{b}{% endif %}{ {{ c }} {% d}</p>");
    expect_page("a <?php b ?> c <% d %> e", true, "{a [.<?php b ?>] c [.<% d %>] e}");
    /* What they write is a word. */
    expect_page("<p><?= $a ?>, b <%= c %>.</p><p translate=no><?= d ?></p>", true,
                "<p>{[=|<?= $a ?>], b [=|<%= c %>].}</p><p translate=no><?= d ?></p>");
    expect_page("a <?= b ?> c <?= d", true, "{a [=|<?= b ?>] c [.<?= d]}");
    expect_page("a <?= b> c", true, "{a [.<?= b>] c}");
    expect_page("<option <?= $a ?>>b", true, "<option <?= $a ?>>{b}");
    expect_page("<%-- a --%><p>b <?php echo $c; ?>", true, "<%-- a --%><p>{b [=|<?php echo $c; ?>]}");
}

static void malformed_pages_are_read_too(void **state)
{
    (void)state;
    expect_page("<p>a <b>b<p>c</b> d", true, "<p>{a [?<b>]b}<p>{c[?</b>] d}");
    expect_page("<b><i>a</b>b</i>", true, "{[+<b>][?<i>]a[-</b>]b[?</i>]}");
    expect_page("a </i> b </p> c", true, "{a [?</i>] b }</p>{ c}");
    expect_page("a <b c=\"", true, "{a [.<b c=\"]}");
    expect_page("<", true, "{<}");
    expect_page("", true, "");
    expect_page(" \n ", true, " \n ");
}

static void text_is_decoded(void **state)
{
    (void)state;
    expect_page("a &lt;b&gt; &auml; &foo; &nvlArr; &amp", true, "{a <b> \xC3\xA4 [=|&foo;] [=|&nvlArr;] &}");
    expect_page("a\n\n  b\nc", true, "{a b\nc}");
    expect_page("Donau&shy;dampf\xC2\xADschiff &shy;x", true, "{Donaudampfschiff x}");
    expect_page("<title>a < b &amp; c</title>d", true, "<title>{a < b & c}</title>{d}");
    expect_page("<textarea>a\n\n< b</textarea>", true, "<textarea>{a\n\n< b}</textarea>");
}

static void what_is_not_translated_is_carried(void **state)
{
    (void)state;
    expect_page("a <code>x &lt; 1</code> b", true, "{a [=x < 1|<code>x &lt; 1</code>] b}");
    expect_page("a <code><b>x</b> <code>y</code></code> b", true, "{a [=x y|<code><b>x</b> <code>y</code></code>] b}");
    expect_page("a <span translate=no>x <b>y</b></span> b", true, "{a [=x y|<span translate=no>x <b>y</b></span>] b}");
    expect_page("a <i class=\"u notranslate v\">x</i> b", true, "{a [=x|<i class=\"u notranslate v\">x</i>] b}");
    expect_page("a <i class=notranslated>x</i>", true, "{a [+<i class=notranslated>]x[-</i>]}");
    expect_page("<p translate=\"no\">a <b>x</b></p><p>b", true, "<p translate=\"no\">a <b>x</b></p><p>{b}");
    expect_page("<html lang=fr><p lang=fr-CA>a</p><p lang=en>b</p><p lang=DE>c", true,
                "<html lang=fr><p lang=fr-CA>a</p><p lang=en>{b}</p><p lang=DE>{c}");
    expect_page("<p lang=eng>a</p><p lang=deu>b</p><p lang=ger>c</p><p lang=fra>d</p><p lang=gsw-CH>e", true,
                "<p lang=eng>{a}</p><p lang=deu>{b}</p><p lang=ger>{c}</p><p lang=fra>d</p><p lang=gsw-CH>e");
    expect_page("a <i lang='it'>x y</i> b <i lang='und'>z</i>", true,
                "{a [=x y|<i lang='it'>x y</i>] b [+<i lang='und'>]z[-</i>]}");
    expect_page("<p translate=no>a<p>b", true, "<p translate=no>a<p>{b}");
    expect_page("<ul><li translate=no>a<li>b</ul>", true, "<ul><li translate=no>a<li>{b}</ul>");
    expect_page("<table><tr><td translate=no>a<td>b<tr><td>c</table>", true,
                "<table><tr><td translate=no>a<td>{b}<tr><td>{c}</table>");
    expect_page("<div translate=no>a <p translate=yes>b</p> c</div> d", true,
                "<div translate=no>a <p translate=yes>{b}</p> c</div>{ d}");
    expect_page("a <i translate=no>b <u translate=yes>c</u> d</i> e", true,
                "{a }<i translate=no>b {[+<u translate=yes>]c[-</u>]} d</i>{ e}");
    expect_page("a <code>b <div>c</div></code> d", true, "{a }<code>b <div>c</div></code>{ d}");
    expect_page("<p>a <code>b<p>c", true, "<p>{a }<code>b<p>{c}");
    expect_page("<p>a <code>b</p>c", true, "<p>{a }<code>b</p>{c}");
    expect_page("<pre>a <b>b</b>\n c</pre>d", true, "<pre>a <b>b</b>\n c</pre>{d}");
    expect_page("<pre translate=yes>a\n\nb</pre>", true, "<pre translate=yes>{a\n\nb}</pre>");
}

static void foreign_content_is_xml(void **state)
{
    (void)state;
    expect_page("a <svg><title>x</title><path/></svg> b", true, "{a [=|<svg><title>x</title><path/></svg>] b}");
    expect_page("a <svg><![CDATA[</svg>]]></svg> b", true, "{a [=|<svg><![CDATA[</svg>]]></svg>] b}");
    expect_page("a <svg><style><b></style></svg> b", true, "{a }<svg><style>{[?<b>][?</style>][?</svg>] b}");
    expect_page("a <svg><title>x</title><p/></svg> b", true, "{a }<svg><title>x</title><p/></svg>{ b}");
    expect_page("a <math><mi>x</mi></math> b", true, "{a [=|<math><mi>x</mi></math>] b}");
    expect_page("a <svg/> b", true, "{a [.<svg/>] b}");
    expect_page("<svg>a<p>b", true, "{}<svg>a<p>{b}");
}

static void breaks_may_be_inside_a_sentence(void **state)
{
    (void)state;
    expect_page("a line<br>that goes on", true, "{a line[/<br>]that goes on}");
    expect_page("one,<br/> <i>two", true, "{one,[/<br/>] [?<i>]two}");
    expect_page("One<br>Two<br><br>three", true, "{One}<br>{Two}<br><br>{three}");
    expect_page("It ends.<br>not", true, "{It ends.}<br>{not}");
    expect_page("gr\xC3\xB6\xC3\x9F<br>\xC3\xA4hnlich", true, "{gr\xC3\xB6\xC3\x9F[/<br>]\xC3\xA4hnlich}");
}

static void attributes_hold_text(void **state)
{
    (void)state;
    expect_page("a <img alt=\"A &amp; B\" src=x> b", true, "{a [.<img alt=\"{A & B}\" src=x>] b}");
    expect_page("a <img alt=\"A\" src=x> b", false, "{a [.<img alt=\"A\" src=x>] b}");
    expect_page("<a title='x' href=y>z</a>", true, "{[+<a title='{x}' href=y>]z[-</a>]}");
    expect_page("<img alt=Photo>", true, "<img alt={Photo}>");
    expect_page("<img alt=\" \" title>", true, "<img alt=\" \" title>");
    expect_page("<meta name=description content=\"About\"><meta name=x content=y>", true,
                "<meta name=description content=\"{About}\"><meta name=x content=y>");
    expect_page("<input type=submit value=Go><input type=text value=Go placeholder=Name>", true,
                "<input type=submit value={Go}><input type=text value=Go placeholder={Name}>");
    expect_page("<link title=x><style title=x></style>", true, "<link title=x><style title=x></style>");
    expect_page("<p translate=no title=x>a</p>", true, "<p translate=no title=x>a</p>");
}

static void other_character_sets_are_read(void **state)
{
    (void)state;
    expect_page("gr\xFC\xDF zu", true, "{gr\xC3\xBC\xC3\x9F zu}");
    expect_page("\xEF\xBB\xBF<p>a", true, "\xEF\xBB\xBF<p>{a}");
    ganz_skeleton *skeleton;
    ganz_error err;
    const ganz_format_options options = {"en", "de", GANZ_BREAK_LINES, true};
    assert_int_equal(ganz_skeleton_open(&skeleton, &err), GANZ_OK);
    assert_int_equal(ganz_format_html.read(skeleton, "\xFF\xFE<\0p", 5, &options, &err), GANZ_EFORMAT);
    ganz_skeleton_close(&skeleton);
}

static void xml_pages_have_empty_elements(void **state)
{
    (void)state;
    expect_page("<?xml version='1.0'?><p><a id='x'/>Text</p>", true, "<?xml version='1.0'?><p><a id='x'/>{Text}</p>");
    expect_page("<?xml version='1.0'?><title/><p>Text</p>", true, "<?xml version='1.0'?><title/><p>{Text}</p>");
    expect_page("<?xml version='1.0'?><script src='x'/><p>Text</p>", true,
                "<?xml version='1.0'?><script src='x'/><p>{Text}</p>");
}

static void pages_are_recognised(void **state)
{
    (void)state;
    static const char *const pages[] = {"<!DOCTYPE html>\n<p>",
                                        "<html>",
                                        "\xEF\xBB\xBF <!-- x --> <html lang=en>",
                                        "<?xml version='1.0'?><html>",
                                        "<!doctype HTML PUBLIC \"x\">",
                                        "<body class=x>",
                                        "<p>x</p>\n",
                                        "<ul><li>a<li>b</ul>"};
    static const char *const others[] = {
        "", "a", "<p>x</p>\n\n# y", "<b>x</b>", "<pre", "a <html>", "<?xml version='1.0'?><svg>", "< html>"};
    for (size_t i = 0; i < GANZ_COUNT(pages); i++) assert_true(ganz_format_html.recognise(pages[i], strlen(pages[i])));
    for (size_t i = 0; i < GANZ_COUNT(others); i++)
        assert_false(ganz_format_html.recognise(others[i], strlen(others[i])));
}

/* ---- from end to end ---------------------------------------------------------------------------- */

static void expect_translation(const char *page, fake_translator *translate, const char *wanted)
{
    ganz_text out = {0};
    ganz_error err;
    assert_int_equal(fake_document(&out, &ganz_format_html, page, strlen(page), true, translate, &err), GANZ_OK);
    if (out.bytes != strlen(wanted) || memcmp(out.text ? out.text : "", wanted, out.bytes) != 0)
        fail_msg("%s\nbecame %.*s\nnot    %s", page, (int)out.bytes, out.text, wanted);
    ganz_text_free(&out);
}

static void translations_are_escaped(void **state)
{
    (void)state;
    expect_translation("<p>a &lt; b &amp; \"c\"</p>", fake_shout, "<p>A &lt; B &amp; \"C\"</p>");
    expect_translation("<p>A &lt; B &amp; \"C&quot;</p>", fake_shout, "<p>A &lt; B &amp; \"C&quot;</p>");
    expect_translation("<img alt=\"say 'a' &quot;b&quot;\">", fake_shout, "<img alt=\"SAY 'A' &quot;B&quot;\">");
    expect_translation("<img alt='say &#39;a&#39; \"b\"'>", fake_shout, "<img alt='SAY &#39;A&#39; \"B\"'>");
    expect_translation("<img alt=say&#32;it>", fake_shout, "<img alt=SAY&#32;IT>");
    expect_translation("<p>gr\xFC\xDF dich</p>", fake_shout, "<p>GR&#252;&#223; DICH</p>");
    expect_translation("<p>a\n b</p>", fake_shout, "<p>A B</p>");
    expect_translation("<p>bad</p>", fake_umlauts,
                       "<p>b\xC3\xA4"
                       "d</p>");
    expect_translation("<html><p>bad</p>", fake_umlauts, "<html><p>b&#228;d</p>");
    expect_translation("<!doctype html><meta charset=utf-8><p>bad</p>", fake_umlauts,
                       "<!doctype html><meta charset=utf-8><p>b\xC3\xA4"
                       "d</p>");
    expect_translation("\xEF\xBB\xBF<html><p>bad</p>", fake_umlauts,
                       "\xEF\xBB\xBF<html><p>b\xC3\xA4"
                       "d</p>");
    expect_translation("<html><meta charset=shift_jis><p>bad \x82\x60</p>", fake_umlauts,
                       "<html><meta charset=shift_jis><p>b&#228;d \x82\x60</p>");
    expect_translation("<?xml version='1.0'?><html><p>bad</p></html>", fake_umlauts,
                       "<?xml version='1.0'?><html><p>b\xC3\xA4"
                       "d</p></html>");
}

static void any_bytes_come_back(void **state)
{
    (void)state;
    static const char *const parts[] = {"Hello ",   "world",
                                        ". ",       "<b>",
                                        "</b>",     "<i class=notranslate>",
                                        "</i>",     "<p>",
                                        "</p>",     "<br>",
                                        "<code>",   "</code>",
                                        "<svg>",    "</svg>",
                                        "<script>", "</script>",
                                        "<!--",     "-->",
                                        "&amp;",    "&shy;",
                                        "&x;",      "\xC2\xAD",
                                        "\xFF",     "<img alt=\"x y\">",
                                        "\n\n",     "<title>",
                                        "</title>", "<a translate=yes>",
                                        "</a>",     "<",
                                        ">",        "\"",
                                        "<li>",     "<table><td>",
                                        "</table>", "<pre>",
                                        "</pre>",   "<x",
                                        "='",       "<?php ",
                                        "?>",       "<![CDATA["};
    expect_any_bytes_come_back(&ganz_format_html, parts, GANZ_COUNT(parts));
}

static void hostile_pages_take_linear_time(void **state)
{
    (void)state;
    static const char *const parts[] = {"<",           "<b>",
                                        "</b>",        "<a b=\"",
                                        "<!--",        "<?php ",
                                        "<% ",         "<code>",
                                        "<code><p>",   "<svg>",
                                        "<svg><p>",    "<div>",
                                        "</div>",      "<ul><li>",
                                        "<table><td>", "&",
                                        "&#1",         "a&shy;",
                                        "a<br>b",      "<script><!--<script>",
                                        "<title>",     "<b translate=no><i translate=yes>",
                                        "<b><p></b>",  "<img alt=x>",
                                        "\n",          "x "};
    for (size_t i = 0; i < GANZ_COUNT(parts); i++) expect_quick(&ganz_format_html, "", parts[i], "");
    expect_quick(&ganz_format_html, "<a ", "title=x ", ">");
    expect_quick(&ganz_format_html, "<meta ", "content=x name=y ", ">");
}

static void running_out_of_memory_is_said(void **state)
{
    (void)state;
    static const char page[] = "<html><p>a <b>b</b> &amp; <code>c</code> <img alt=\"d &lt; e\"><ul><li>f<li>g</ul>";
    for (long n = 1; n < 400; n++) {
        ganz_text out = {0};
        ganz_error err = {0};
        ganz_alloc_fail_at(n);
        const ganz_status status =
            fake_document(&out, &ganz_format_html, page, sizeof page - 1, true, fake_identity, &err);
        ganz_alloc_fail_at(0);
        ganz_text_free(&out);
        if (status == GANZ_OK) return;
        assert_int_equal(status, GANZ_ENOMEM);
    }
    fail_msg("it never had enough memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read_item_by_item),
        cmocka_unit_test(sentences_are_no_rows),
        cmocka_unit_test(rows_are_found_quickly),
        cmocka_unit_test(references_are_characters),
        cmocka_unit_test(references_may_lack_a_semicolon),
        cmocka_unit_test(tokens_are_the_standards),
        cmocka_unit_test(scripts_end_where_the_standard_says),
        cmocka_unit_test(inline_elements_are_marks),
        cmocka_unit_test(elements_without_space_are_apart),
        cmocka_unit_test(raised_parts_stay_by_their_word),
        cmocka_unit_test(templates_keep_their_order),
        cmocka_unit_test(malformed_pages_are_read_too),
        cmocka_unit_test(text_is_decoded),
        cmocka_unit_test(what_is_not_translated_is_carried),
        cmocka_unit_test(foreign_content_is_xml),
        cmocka_unit_test(breaks_may_be_inside_a_sentence),
        cmocka_unit_test(attributes_hold_text),
        cmocka_unit_test(other_character_sets_are_read),
        cmocka_unit_test(xml_pages_have_empty_elements),
        cmocka_unit_test(pages_are_recognised),
        cmocka_unit_test(translations_are_escaped),
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(hostile_pages_take_linear_time),
        cmocka_unit_test(running_out_of_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
