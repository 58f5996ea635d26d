/* Markdown: what the reader makes of it, and how translations are written. Expectations are CommonMark's and GitHub's
 * rules, by hand. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "document/format.h"
#include "document/markdown_escape.h"
#include "document/markdown_inline.h"
#include "hostile.h"
#include "skeletons.h"

static void expect_file(const char *file, const char *wanted)
{
    const ganz_format_options options = {.source_language = "en", .target_language = "de", .attributes = true};
    ganz_text shown = {0};
    ganz_error err;
    assert_int_equal(show_skeleton(&shown, &ganz_format_markdown, file, strlen(file), &options, &err), GANZ_OK);
    if (shown.bytes != strlen(wanted) || memcmp(shown.text ? shown.text : "", wanted, shown.bytes) != 0)
        fail_msg("%s\nbecame %.*s\nnot    %s", file, (int)shown.bytes, shown.text, wanted);
    ganz_text_free(&shown);
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static void paragraphs_are_joined(void **state)
{
    (void)state;
    expect_file("", "");
    expect_file("\n \n", "\n \n");
    expect_file("a\nb\n\nc", "{a b}\n\n{c}");
    expect_file("a\r\nb\r\n\r\nc\r\n", "{a b}\r\n\r\n{c}\r\n");
    expect_file("  a  b \n   c\n", "  {a  b c}\n");
    expect_file("\xEF\xBB\xBF"
                "a",
                "\xEF\xBB\xBF{a}");
}

static void headings_have_marks_around(void **state)
{
    (void)state;
    expect_file("# a", "# {a}");
    expect_file("###### a ##\n#b\n####### c", "###### {a} ##\n{#b ####### c}");
    expect_file("# a \\#\n## C#\n#\n", "# {a #}\n## {C#}\n#\n");
    expect_file("# a {#id .c}\n# b {c}", "# {a} {#id .c}\n# {b {c}}");
    expect_file("a\nb\n===\nc\n---\n", "{a b}\n===\n{c}\n---\n");
    expect_file("a {#b}\n---\n", "{a} {#b}\n---\n");
}

static void code_is_copied(void **state)
{
    (void)state;
    expect_file("a\n```c\n*b*\n```\nc", "{a}\n```c\n*b*\n```\n{c}");
    expect_file("~~~\na\n```\n~~~~\nb", "~~~\na\n```\n~~~~\n{b}");
    expect_file("``` a`b\n", "{``` a`b}\n");
    expect_file("    a\n\n\tb\nc", "    a\n\n\tb\n{c}");
    expect_file("a\n    b", "{a b}");
    expect_file("```\na", "```\na");
    expect_file("> ```\n> a\nb", "> ```\n> a\n{b}");
    expect_file("$$\nx\n$$\na", "$$\nx\n$$\n{a}");
    expect_file("$$\nx\n", "{$$ x}\n");
}

static void quotes_and_lists_hold_blocks(void **state)
{
    (void)state;
    expect_file("> a\n> b\nc\n\nd", "> {a b c}\n\n{d}");
    expect_file(">a\n>> b\n", ">{a}\n>> {b}\n");
    expect_file("> # a\n> - b\n>   c", "> # {a}\n> - {b c}");
    expect_file("- a\n  b\n- c\n\n  d\n\ne", "- {a b}\n- {c}\n\n  {d}\n\n{e}");
    expect_file("1. a\n2) b\n10. c", "1. {a}\n2) {b}\n10. {c}");
    expect_file("a\n2. b\n", "{a 2. b}\n");
    expect_file("a\n1. b\n", "{a}\n1. {b}\n");
    expect_file("-\n  a\n", "-\n  {a}\n");
    expect_file("-\n\n  a\n", "-\n\n  {a}\n");
    expect_file("-   a\n\n        b\n", "-   {a}\n\n        b\n");
    expect_file("- a\n\n      b\n", "- {a}\n\n      b\n");
    expect_file("- - a\n* b\n+ c", "- - {a}\n* {b}\n+ {c}");
    expect_file("-a\n*b", "{-a *b}");
    expect_file("- [ ] a\n- [x] b\n- [y] c", "- [ ] {a}\n- [x] {b}\n- {[y] c}");
    expect_file("-\ta\n\n\tb\n", "-\t{a}\n\n\t{b}\n");
    expect_file("> [!NOTE]\n> a", "> [!NOTE]\n> {a}");
    expect_file("a\n: b\n  c\n:   d\n\n    e\n", "{a}\n: {b c}\n:   {d}\n\n    {e}\n");
    expect_file("a\n\n: b\n:c\nd", "{a}\n\n: {b :c d}");
    expect_file("!!! note \"a b\"\n    c\n\n    d\ne", "!!! note \"{a b}\"\n    {c}\n\n    {d e}");
    expect_file("a\n???+ tip\n    b\n\nc", "{a}\n???+ tip\n    {b}\n\n{c}");
    expect_file("!!! a b\n!!!\n!!! c \"\n", "{!!! a b !!! !!! c \"}\n");
}

static void rules_and_directives_are_copied(void **state)
{
    (void)state;
    expect_file("a\n\n---\n* * *\n___\nb", "{a}\n\n---\n* * *\n___\n{b}");
    expect_file("---\na: b\n---\nc", "---\na: b\n---\n{c}");
    expect_file("+++\na = 1\n+++\nc", "+++\na = 1\n+++\n{c}");
    expect_file("---\na\n", "---\n{a}\n");
    expect_file("::: tip\na\n:::\n{: .b}\n{% c %}\n", "::: tip\n{a}\n:::\n{: .b}\n{% c %}\n");
}

static void tables_have_cells(void **state)
{
    (void)state;
    expect_file("| a | b |\n|---|:-:|\n| c \\| d | |\ne\n\nf", "| {a} | {b} |\n|---|:-:|\n| {c | d} | |\n{e}\n\n{f}");
    expect_file("a | b\n- | -\nc | d", "{a} | {b}\n- | -\n{c} | {d}");
    expect_file("x\na | b\n-|-\n", "{x}\n{a} | {b}\n-|-\n");
    expect_file("a | b\n---\n", "{a | b}\n---\n");
    expect_file("a\n|-|-|\n", "{a |-|-|}\n");
    expect_file("| a |\n|-|\n| b |\n> c", "| {a} |\n|-|\n| {b} |\n> {c}");
}

static void html_goes_to_its_reader(void **state)
{
    (void)state;
    expect_file("<div>\na <b>c</b>\n</div>\n\nd", "<div>{\na [+<b>]c[-</b>]\n}</div>\n\n{d}");
    expect_file("<div>\n\n*a*\n\n</div>", "<div>\n\n{[+*]a[-*]}\n\n</div>");
    expect_file("<!-- a\n\nb -->\nc", "<!-- a\n\nb -->\n{c}");
    expect_file("<script>\n\n*a*\n</script>\nb", "<script>\n\n*a*\n</script>\n{b}");
    expect_file("<a href=b>\nc\n</a>", "{[+<a href=b>]\nc\n[-</a>]}");
    expect_file("a\n<a href=b>\nc", "{a [?<a href=b>] c}");
    expect_file("> <div>\n> a\n", "> <div>\n> a\n");
    expect_file("<?php a ?>\n<!DOCTYPE b>\n", "<?php a ?>\n<!DOCTYPE b>\n");
}

static void definitions_are_copied(void **state)
{
    (void)state;
    expect_file("[a]: b\n[c]:\n  d\n  'e\n  f'\ng", "[a]: b\n[c]:\n  d\n  'e\n  f'\n{g}");
    expect_file("[a]: b c\n", "{[a]: b c}\n");
    expect_file("a\n[b]: c\n", "{a [b]: c}\n");
    expect_file("[^1]: A note\n    and more\n\n    b\n\nc[^1]", "[^1]: {A note and more}\n\n    {b}\n\n{c[.[^1]]}");
}

/* ---- inline ------------------------------------------------------------------------------------- */

static void emphasis_is_paired(void **state)
{
    (void)state;
    expect_file("*a* **b** _c_ __d__ ~~e~~", "{[+*]a[-*] [+**]b[-**] [+_]c[-_] [+__]d[-__] [+~~]e[-~~]}");
    expect_file("***a***", "{[+*][+**]a[-**][-*]}");
    expect_file("**a *b***", "{[+**]a [+*]b[-*][-**]}");
    expect_file("a_b_c 2 * 3 * 4 ** x", "{a_b_c 2 * 3 * 4 ** x}");
    expect_file("a*b*c", "{a[+*]b[-*]c}");
    expect_file("*a **b* c**", "{[+*]a [+*][+*]b[-*] c[-*][-*]}");
    expect_file("**a\nb**", "{[+**]a b[-**]}");
    expect_file("b ~~~a~~~", "{b ~~~a~~~}");
    expect_file("\\*a\\* \\b &amp; &lt;", "{*a* \\b & <}");
}

static void code_and_addresses_are_words(void **state)
{
    (void)state;
    expect_file("a `b *c*` ``d`e`` f`", "{a [=b *c*|`b *c*`] [=d`e|``d`e``] f`}");
    expect_file("> [a](b\n> \"c\")", "> {[+[]a[-](b\n> \"c\")]}");
    expect_file("*a `b*`", "{*a [=b*|`b*`]}");
    expect_file("<https://a.b/c_d> <e@f.g>", "{[=https://a.b/c_d|<https://a.b/c_d>] [=e@f.g|<e@f.g>]}");
    expect_file("See https://a.b/c_d_(e), or (www.f.g).",
                "{See [=https://a.b/c_d_(e)|https://a.b/c_d_(e)], or ([=www.f.g|www.f.g]).}");
    expect_file("$a_1$ and $$b$$ but $5 and $6", "{[=a_1|$a_1$] and [=b|$$b$$] but $5 and $6}");
    expect_file(":tada: 10:30:15 a:b:c", "{[=:tada:|:tada:] 10:30:15 a:b:c}");
    expect_file("{{ a_b }} and {% c %} d", "{[={{ a_b }}|{{ a_b }}] and [={% c %}|{% c %}] d}");
    expect_file("[[A page]] x", "{[=A page|[[A page]]] x}");
    expect_file("2<sup>10</sup> H<sub>2</sub>O", "{2[=|<sup>10</sup>] [=|H<sub>2</sub>O]}");
}

static void links_keep_their_targets(void **state)
{
    (void)state;
    expect_file("[a *b*](c \"d \\\" e\") f", "{[+[]a [+*]b[-*][-](c \"{d \" e}\")] f}");
    expect_file("[a](<b c> (d)) [](e)", "{[+[]a[-](<b c> ({d}))] [+[][-](e)]}");
    expect_file("[a](b\n\"c\")", "{[+[]a[-](b\n\"{c}\")]}");
    expect_file("[a][b] [b][] [b] [c]\n\n[B]: d", "{[+[]a[-][b]] [+[]b[-][]] [+[]b[-]] [c]}\n\n[B]: d");
    expect_file("[a [b](c) d](e)", "{[a [+[]b[-](c)] d](e)}");
    expect_file("[a](b c) [a] (b)", "{[a](b c) [a] (b)}");
    expect_file("[`a`](b)", "{[=a|[`a`](b)]}");
    expect_file("![a *b*](c 'd') ![e][f] ![f]\n\n[f]: g",
                "{[.![{a [+*]b[-*]}](c '{d}')] [.![{e}][f]] [.![f]]}\n\n[f]: g");
    expect_file("[![a](b)](c)", "{[+[][.![{a}](b)][-](c)]}");
    expect_file("*a [b*](c)", "{*a [+[]b*[-](c)]}");
}

static void html_inside_lines_is_marks(void **state)
{
    (void)state;
    expect_file("a <b>c</b> <img alt=\"d e\"> <!-- f -->g", "{a [+<b>]c[-</b>] [.<img alt=\"{d e}\">] [.<!-- f -->]g}");
    expect_file("a <kbd>b</kbd> <i translate=no>c</i>", "{a [=b|<kbd>b</kbd>] [=c|<i translate=no>c</i>]}");
    expect_file("a < b <c d= e", "{a < b <c d= e}");
}

static void breaks_end_blocks_or_are_inside(void **state)
{
    (void)state;
    expect_file("Name  \nStreet\\\nTown<br>End", "{Name}  \n{Street}\\\n{Town}<br>{End}");
    expect_file("a line  \nthat goes on", "{a line[/  \n]that goes on}");
    expect_file("> a line  \n> that goes on", "> {a line[/  \n> ]that goes on}");
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void expect_escape(ganz_escape_text *escape, const char *text, const char *wanted)
{
    ganz_text out = {0};
    assert_true(escape(&out, text, strlen(text)));
    if (out.bytes != strlen(wanted) || memcmp(out.text, wanted, out.bytes) != 0)
        fail_msg("%s became %.*s, not %s", text, (int)out.bytes, out.text, wanted);
    ganz_text_free(&out);
}

static void text_becomes_no_marks(void **state)
{
    (void)state;
    expect_escape(ganz_md_escape, "Plain text, with (signs): 5 + 3 = 8; a-b!",
                  "Plain text, with (signs): 5 + 3 = 8; a-b!");
    expect_escape(ganz_md_escape, "a * b snake_case *c* _d_", "a * b snake_case \\*c\\* \\_d\\_");
    expect_escape(ganz_md_escape, "[a](b) `c` ~d", "\\[a\\](b) \\`c\\` \\~d");
    expect_escape(ganz_md_escape, "a < b <c> </d", "a < b \\<c> \\</d");
    expect_escape(ganz_md_escape, "AT&T & &amp; &#1;", "AT&T & \\&amp; \\&#1;");
    expect_escape(ganz_md_escape, "# a #5 #", "\\# a #5 \\#");
    expect_escape(ganz_md_escape, "- a", "\\- a");
    expect_escape(ganz_md_escape, "-5 degrees", "-5 degrees");
    expect_escape(ganz_md_escape, "---", "\\---");
    expect_escape(ganz_md_escape, "1986. A year", "1986\\. A year");
    expect_escape(ganz_md_escape, "1986 was", "1986 was");
    expect_escape(ganz_md_escape, "> a", "\\> a");
    expect_escape(ganz_md_escape, "C:\\Users a\\*", "C:\\Users a\\\\\\*");
    expect_escape(ganz_md_escape, "$5", "$5");
    expect_escape(ganz_md_escape, "$a$", "\\$a\\$");
    expect_escape(ganz_md_escape, "a | b", "a | b");
    expect_escape(ganz_md_escape_cell, "a | b", "a \\| b");
    expect_escape(ganz_md_escape_title('"'), "a \"b\" 'c'", "a \\\"b\\\" 'c'");
    expect_escape(ganz_md_escape_title('('), "a (b)", "a \\(b\\)");
}

static void expect_translation(const char *file, fake_translator *translate, const char *wanted)
{
    ganz_text out = {0};
    ganz_error err;
    assert_int_equal(fake_document(&out, &ganz_format_markdown, file, strlen(file), true, translate, &err), GANZ_OK);
    if (out.bytes != strlen(wanted) || memcmp(out.text ? out.text : "", wanted, out.bytes) != 0)
        fail_msg("%s\nbecame %.*s\nnot    %s", file, (int)out.bytes, out.text, wanted);
    ganz_text_free(&out);
}

#define O "\xC3\xB6"
#define U "\xC3\xBC"

static void translations_keep_the_file(void **state)
{
    (void)state;
    expect_translation("# you *foo* ##\n", fake_umlauts, "# y" O U " *f" O O "* ##\n");
    expect_translation("> you\n> **foo** `foo`\n", fake_umlauts, "> y" O U " **f" O O "** `foo`\n");
    expect_translation("You foo. You\nfoo.\n", fake_umlauts, "Y" O U " f" O O ". Y" O U " f" O O ".\n");
    expect_translation("See foo [foo]\n\n[foo]: x", fake_umlauts,
                       "S\xC3\xAB\xC3\xAB f" O O " [f" O O "][foo]\n\n[foo]: x");
    expect_translation("See foo [Foo][]\n\n[foo]: x", fake_umlauts,
                       "S\xC3\xAB\xC3\xAB f" O O " [F" O O "][Foo]\n\n[foo]: x");
    expect_translation("| foo \\| b | c |\n|-|-|\n", fake_umlauts, "| f" O O " \\| b | c |\n|-|-|\n");
    expect_translation("you **foo**", fake_nothing, "");
}

static void any_bytes_come_back(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "Hello ", "world", ". ",      "*",      "**",         "_",       "`",      "``",    "[",     "]",
        "(",      ")",     "[a]",     "]: x",   "](y \"z\")", "![",      "\n",     "\n\n",  "  \n",  "\\",
        "\\\n",   "> ",    "- ",      "1. ",    "    ",       "\t",      "# ",     "===\n", "---\n", "```\n",
        "~~~\n",  "|",     "|-|-|\n", "<b>",    "</b>",       "<div>\n", "<!--",   "-->",   "&amp;", "$",
        "$$\n",   "{{",    "}}",      ":x:",    "http://a.b", "[^1]",    "[^1]: ", "~~",    "\xFF",  "\xC3\xA4",
        "\r\n",   "<br>",  "!",       "<code>", "</code>"};
    expect_any_bytes_come_back(&ganz_format_markdown, parts, GANZ_COUNT(parts));
}

static void hostile_files_take_linear_time(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "[",         "]",         "![",        "[a](b) ",   "![a](b", "*",     "*a ",        "a**b",     "_a ",
        "*a _b ~c ", "**a*b__c_", "~a~~b",     "`",         "> a\n",  ">",     "- ",         "<",        "<a b=\"",
        "<!--",      "<?",        "<!A",       "<![CDATA[", "](x (",  "[](((", "[a](x \"",   "[a]: b\n", "<code>",
        "$a ",       "$$",        "{{",        "{%",        ":a",     "|",     "a|b\n-|-\n", "<div>\n",  "$$\n",
        "a  \n",     "\\",        "http://a(", "[^",        "[[",     "# a\n", "\t"};
    for (size_t i = 0; i < GANZ_COUNT(parts); i++) expect_quick(&ganz_format_markdown, "", parts[i], "");
    expect_quick(&ganz_format_markdown, "", "`a``b```c````d", "");
    expect_quick(&ganz_format_markdown, "- - - - - - - - - - - - - - - - a\n", "\n", "b");
}

static void running_out_of_memory_is_said(void **state)
{
    (void)state;
    static const char file[] =
        "# a *b*\n\n> [c](d \"e\") `f` ![g](h)\n\n| i |\n|-|\n| j |\n\n<p>k <b>l</b>\n\n[m]: n\n";
    for (long n = 1; n < 400; n++) {
        ganz_text out = {0};
        ganz_error err = {0};
        ganz_alloc_fail_at(n);
        const ganz_status status =
            fake_document(&out, &ganz_format_markdown, file, sizeof file - 1, true, fake_identity, &err);
        ganz_alloc_fail_at(0);
        ganz_text_free(&out);
        if (status == GANZ_OK) return;
        assert_int_equal(status, GANZ_ENOMEM);
    }
    fail_msg("it never had enough memory");
}

/* Lines of links are no sentences; see row.h. */
static void rows_are_read_item_by_item(void **state)
{
    (void)state;
    expect_file("[Home](/) | [About](/a) \\| [Us](/u)", "{[+[]Home[-](/)]} | {[+[]About[-](/a)]} \\| {[+[]Us[-](/u)]}");
    expect_file("[Home](/) [About](/a)\n[Us](/u)", "{[+[]Home[-](/)]} {[+[]About[-](/a)]}\n{[+[]Us[-](/u)]}");
    expect_file("> [Home](/) \xC2\xBB\n> [A](/a) &raquo; B",
                "> {[+[]Home[-](/)]} \xC2\xBB\n> {[+[]A[-](/a)]} &raquo; {B}");
    expect_file("- [A](/) / [B](/a)", "- {[+[]A[-](/)]} / {[+[]B[-](/a)]}");
    expect_file("See [A](/) and [B](/a)", "{See [+[]A[-](/)] and [+[]B[-](/a)]}");
    expect_file("[A](/), and [B](/a)", "{[+[]A[-](/)], and [+[]B[-](/a)]}");
    expect_file("<b>A</b> <b>c</b>", "{[+<b>]A[-</b>] [+<b>]c[-</b>]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read_item_by_item),
        cmocka_unit_test(paragraphs_are_joined),
        cmocka_unit_test(headings_have_marks_around),
        cmocka_unit_test(code_is_copied),
        cmocka_unit_test(quotes_and_lists_hold_blocks),
        cmocka_unit_test(rules_and_directives_are_copied),
        cmocka_unit_test(tables_have_cells),
        cmocka_unit_test(html_goes_to_its_reader),
        cmocka_unit_test(definitions_are_copied),
        cmocka_unit_test(emphasis_is_paired),
        cmocka_unit_test(code_and_addresses_are_words),
        cmocka_unit_test(links_keep_their_targets),
        cmocka_unit_test(html_inside_lines_is_marks),
        cmocka_unit_test(breaks_end_blocks_or_are_inside),
        cmocka_unit_test(text_becomes_no_marks),
        cmocka_unit_test(translations_keep_the_file),
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(hostile_files_take_linear_time),
        cmocka_unit_test(running_out_of_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
