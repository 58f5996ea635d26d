/* Documents: skeletons, sentences and marks, with translators that need no model. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "document/document.h"
#include "document/flow.h"
#include "documents.h"

/* A small markup of our own: <x> opens, </x> closes, <x/> is empty, <|> breaks, {..} is opaque, &a is an A. */
static void read_marks(ganz_skeleton *s, const char *t, size_t n)
{
    for (size_t i = 0; i < n;) {
        const char *const end = memchr(t + i, t[i] == '{' ? '}' : '>', n - i);
        const size_t length = end ? (size_t)(end - t) + 1 - i : n - i;
        if (t[i] == '<' && length > 2) {
            const ganz_mark_kind kind = t[i + 1] == '/'   ? GANZ_MARK_CLOSE
                                        : t[i + 1] == '|' ? GANZ_MARK_BREAK
                                                          : GANZ_MARK_OPEN;
            ganz_skeleton_mark(s, t[i + length - 2] == '/' ? GANZ_MARK_EMPTY : kind,
                               t[i + (kind == GANZ_MARK_CLOSE) + 1], t + i, length);
            i += length;
        } else if (t[i] == '{') {
            ganz_skeleton_opaque(s, t + i + 1, length - 2, t + i, length);
            i += length;
        } else if (t[i] == '&' && i + 1 < n) {
            ganz_skeleton_text(s, "A", 1, t + i, 2);
            i += 2;
        } else {
            ganz_skeleton_text(s, t + i, 1, t + i, 1);
            i++;
        }
    }
}

static ganz_status read_markup(ganz_skeleton *s, const char *bytes, size_t count, const ganz_format_options *options,
                               ganz_error *err)
{
    const ganz_block_style style = {.breaks = options->breaks};
    ganz_skeleton_copy(s, bytes, 0);
    ganz_skeleton_begin(s, &style);
    read_marks(s, bytes, count);
    ganz_skeleton_end(s);
    return ganz_skeleton_status(s, err);
}

static const ganz_format markup = {.name = "markup", .suffixes = "", .read = read_markup};

static ganz_text translated_linked(const ganz_format *format, const char *bytes, size_t count,
                                   fake_translator *translate, uint32_t seed)
{
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err;
    ganz_text out = {0};
    ganz_document_defaults(&o);
    assert_int_equal(ganz_document_open_as(&doc, format, bytes, count, &o, &err), GANZ_OK);
    assert_int_equal(fake_translate_linked(doc, translate, seed, &err), GANZ_OK);
    assert_int_equal(ganz_document_write(doc, &out, &err), GANZ_OK);
    ganz_document_close(&doc);
    return out;
}

static ganz_text translated(const ganz_format *format, const char *bytes, size_t count, fake_translator *translate)
{
    return translated_linked(format, bytes, count, translate, 0);
}

static void expect(const ganz_format *format, const char *in, fake_translator *translate, const char *wanted)
{
    ganz_text out = translated(format, in, strlen(in), translate);
    if (out.bytes != strlen(wanted) || memcmp(out.text ? out.text : "", wanted, out.bytes) != 0)
        fail_msg("%s became\n%.*s, not\n%s", in, (int)out.bytes, out.text, wanted);
    ganz_text_free(&out);
}

static void any_bytes_come_back(void **state)
{
    (void)state;
    static const char *const parts[] = {"Hello",        " ",        ". ",           "\n",   "\r\n", "\t", "<b>",
                                        "</b>",         "<i>",      "</i>",         "<e/>", "{x}",  "&a", "\xFF",
                                        "\xE2\x82\xAC", "\xE2\x82", "\0",           "? ",   "\n\n", "A",  "\x01",
                                        "Dr. ",         "<|>",      "\xEF\xBF\xBC", "3.5 "};
    for (uint32_t i = 0; i < 20000; i++) {
        char text[256];
        size_t bytes = 0;
        const uint32_t count = ganz_random_below(1, 1, i, 20);
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t at = ganz_random_below(2, i, k, GANZ_COUNT(parts));
            const size_t length = at == 16 ? 1 : strlen(parts[at]);
            memcpy(text + bytes, parts[at], length);
            bytes += length;
        }
        const ganz_format *const formats[] = {&markup, &ganz_format_text, &ganz_format_lines};
        for (size_t f = 0; f < GANZ_COUNT(formats); f++) {
            ganz_text out = translated(formats[f], text, bytes, fake_identity);
            assert_int_equal(out.bytes, bytes);
            if (bytes > 0) assert_memory_equal(out.text, text, bytes);
            ganz_text_free(&out);
        }
    }
}

static void gaps_are_kept(void **state)
{
    (void)state;
    expect(&ganz_format_text, "  hello world\t\r\n\n \n\tyes ", fake_shout, "  HELLO WORLD\t\r\n\n \n\tYES ");
    expect(&markup, "<b>hello</b>", fake_shout, "<b>HELLO</b>");
    expect(&markup, " <b>&a hello</b> ", fake_shout, " <b>A HELLO</b> ");
}

/* ---- marks and guards with translators that do what they want ----------------------------------- */

static size_t occurrences(const ganz_text *text, const char *what)
{
    size_t count = 0;
    const size_t bytes = strlen(what);
    for (size_t at = 0; at + bytes <= text->bytes; at++) count += memcmp(text->text + at, what, bytes) == 0;
    return count;
}

static void fake_noise(const char *text, size_t bytes, ganz_text *out)
{
    for (size_t i = 0; i < bytes; i++)
        fake_add(out, i % 7 == 3 ? " %s {name} X1 X2 https://a.example/b " : text + i,
                 i % 7 == 3 ? 37 : (unsigned char)text[i] < 0x80);
}
static void fake_first_word(const char *text, size_t bytes, ganz_text *out)
{
    const char *const space = memchr(text, ' ', bytes);
    fake_add(out, text, space ? (size_t)(space - text) : bytes);
    fake_add(out, "!", 1);
}
static void fake_wrong_year(const char *text, size_t bytes, ganz_text *out)
{
    (void)text, (void)bytes;
    fake_add(out, "Geboren 1948.", 13);
}
static fake_translator *const fakes[] = {fake_nothing, fake_twice, fake_shout,
                                         fake_reverse, fake_noise, fake_first_word};

/* A text with marks of all kinds, numbered; partner[n] is the opening mark of closing mark n, else -1; closed[n]: it is
 * one that is closed. */
typedef struct marked {
    char text[1024];
    int marks, partner[64];
    bool closed[64];
} marked;

static void make_marked(marked *m, uint32_t seed)
{
    static const char *const words[] = {
        "the", " ", "house", ". ", " is", "red", ", ", "A", "\n", "! ", "42.5 ", "%s", "http://a.example/b "};
    int open[64], depth = 0;
    *m = (marked){0};
    const uint32_t count = 1 + ganz_random_below(3, 1, seed, 30);
    for (uint32_t k = 0; k < count; k++) {
        char *const end = m->text + strlen(m->text);
        const uint32_t what = ganz_random_below(4, seed, k, 8);
        m->partner[m->marks] = -1;
        if (what == 0) {
            sprintf(end, "<%c%d>", 'a' + m->marks % 3, m->marks);
            open[depth++] = m->marks++;
        } else if (what == 1 && depth > 0) {
            m->partner[m->marks] = open[--depth];
            m->closed[open[depth]] = true;
            sprintf(end, "</%c%d>", 'a' + open[depth] % 3, m->marks++);
        } else if (what == 2) {
            sprintf(end, "<e%d/>", m->marks++);
        } else if (what == 3) {
            sprintf(end, "{o%d}", m->marks++);
        } else {
            strcpy(end, words[ganz_random_below(5, seed, k, GANZ_COUNT(words))]);
        }
    }
}

static void expect_once(const ganz_text *out, const marked *m)
{
    for (const char *at = strpbrk(m->text, "<{"); at; at = strpbrk(at + 1, "<{")) {
        char mark[32] = "";
        strncat(mark, at, strcspn(at, ">}") + 1);
        if (occurrences(out, mark) != 1)
            fail_msg("%s is not once in\n%.*s\nof\n%s", mark, (int)out->bytes, out->text, m->text);
    }
}

static void expect_nested(const ganz_text *out, const marked *m)
{
    int open[64], depth = 0;
    for (size_t at = 0; at + 2 < out->bytes; at++) {
        if (out->text[at] != '<' || out->text[at + 1] == 'e') continue;
        const bool closing = out->text[at + 1] == '/';
        const int number = atoi(out->text + at + 2 + closing);
        if (!closing && m->closed[number]) open[depth++] = number;
        if (!closing || (depth > 0 && open[depth - 1] == m->partner[number] && depth-- > 0)) continue;
        fail_msg("mark %d is not nested in\n%.*s\nof\n%s", number, (int)out->bytes, out->text, m->text);
    }
}

static void marks_survive(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        marked m;
        make_marked(&m, i);
        for (size_t f = 0; f < GANZ_COUNT(fakes); f++) {
            ganz_text out = translated_linked(&markup, m.text, strlen(m.text), fakes[f], i % 2 * (i + 1));
            fake_add(&out, "", 0);
            expect_once(&out, &m);
            expect_nested(&out, &m);
            ganz_text_free(&out);
        }
    }
}

/* ---- guards ------------------------------------------------------------------------------------- */

static const char *const guarded[] = {"https://www.example.org/a?b=1&c=%20d",
                                      "www.example.com",
                                      "jane.doe@example.org",
                                      "C:\\Users\\Public\\a.txt",
                                      "/usr/bin/env",
                                      "%s",
                                      "%1$d",
                                      "%-5.2f",
                                      "{name}",
                                      "{{team}}",
                                      "${HOME}",
                                      "{0}",
                                      "`x + 1`",
                                      "some_name",
                                      "--verbose",
                                      "\xF0\x9F\x8D\x95",
                                      "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
                                      "\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82",
                                      "\xE6\x9D\xB1\xE4\xBA\xAC",
                                      "2.0.1",
                                      "@jane",
                                      "printf()"};

/* Each guard comes out as often as it went in, whatever the translator does; and nothing stands in for it. */
static void guards_survive(void **state)
{
    (void)state;
    static const char *const words[] = {"Please", "send", "the", "file", "to", "now", "and", "wait", "for", "it,"};
    for (uint32_t i = 0; i < 20000; i++) {
        char text[1024] = "Well";
        const uint32_t count = 1 + ganz_random_below(6, 1, i, 12);
        size_t expected[GANZ_COUNT(guarded)] = {0};
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t what = ganz_random_below(7, i, k, 3 * GANZ_COUNT(guarded));
            if (what < GANZ_COUNT(guarded)) expected[what]++;
            strcat(strcat(text, " "), what < GANZ_COUNT(guarded) ? guarded[what] : words[what % GANZ_COUNT(words)]);
        }
        for (size_t f = 0; f < GANZ_COUNT(fakes); f++) {
            ganz_text out = translated_linked(&ganz_format_text, text, strlen(text), fakes[f], i % 2 * (i + 1));
            for (size_t g = 0; g < GANZ_COUNT(guarded); g++)
                if (expected[g] > 0 && occurrences(&out, guarded[g]) != expected[g])
                    fail_msg("%s is not %zu times in\n%.*s\nof\n%s (%zu)", guarded[g], expected[g], (int)out.bytes,
                             out.text, text, f);
            ganz_text_free(&out);
        }
    }
}

/* ---- by hand ------------------------------------------------------------------------------------ */

/* Words of a small dictionary, in their order; all others stay. With links from each word to itself. */
static const char *const dictionary[][2] = {{"the", "das"},    {"The", "Das"}, {"red", "rote"},
                                            {"house", "Haus"}, {"is", "ist"},  {"old", "alt"}};

static void translate_words(ganz_document *doc, bool swapped)
{
    ganz_segment s;
    ganz_error err;
    while (ganz_document_next(doc, &s, &err) == GANZ_OK && s.text) {
        ganz_text out = {0};
        ganz_link links[64];
        size_t begins[64], ends[64];
        int words = 0;
        for (size_t at = 0; at < s.bytes; at++) {
            begins[words] = at;
            while (at < s.bytes && s.text[at] != ' ') at++;
            ends[words++] = at;
        }
        if (swapped) words -= words % 2;
        for (int i = 0; i < words; i++) {
            const int from = swapped ? i ^ 1 : i;
            const char *word = s.text + begins[from];
            size_t bytes = ends[from] - begins[from];
            links[i] = (ganz_link){.source_begin = begins[from], .source_end = ends[from]};
            for (size_t k = 0; k < GANZ_COUNT(dictionary); k++)
                if (strlen(dictionary[k][0]) == bytes && memcmp(dictionary[k][0], word, bytes) == 0) {
                    word = dictionary[k][1];
                    bytes = strlen(word);
                    break;
                }
            if (i > 0) fake_add(&out, " ", 1);
            links[i].target_begin = out.bytes;
            fake_add(&out, word, bytes);
            links[i].target_end = out.bytes;
        }
        const ganz_translation t = {.text = out.text, .bytes = out.bytes, .links = links, .link_count = words};
        assert_int_equal(ganz_document_put(doc, s.number, &t, &err), GANZ_OK);
        free(out.text);
    }
}

static ganz_document *open_markup(const char *in)
{
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err;
    ganz_document_defaults(&o);
    assert_int_equal(ganz_document_open_as(&doc, &markup, in, strlen(in), &o, &err), GANZ_OK);
    return doc;
}

/* Closes the document, too. */
static void expect_written(ganz_document *doc, const char *in, const char *wanted)
{
    ganz_error err;
    ganz_text out = {0};
    assert_int_equal(ganz_document_write(doc, &out, &err), GANZ_OK);
    if (out.bytes != strlen(wanted) || memcmp(out.text, wanted, out.bytes) != 0)
        fail_msg("%s became %.*s, not %s", in, (int)out.bytes, out.text, wanted);
    ganz_text_free(&out);
    ganz_document_close(&doc);
}

static void expect_words(const char *in, bool swapped, const char *wanted)
{
    ganz_document *const doc = open_markup(in);
    translate_words(doc, swapped);
    expect_written(doc, in, wanted);
}

static void marks_follow_links(void **state)
{
    (void)state;
    expect_words("The <b>red</b> house", false, "Das <b>rote</b> Haus");
    expect_words("The <b>red house</b> is old", false, "Das <b>rote Haus</b> ist alt");
    expect_words("<b>The</b> red <i>house</i> is", true,
                 "Rote <b>Das</b> ist <i>Haus</i>"); /* pairs of words change places */
    expect_words("The red<e/> house is", true, "Rote<e/> Das ist Haus");
    expect_words("The <b>red <i>house</i></b> old", false, "Das <b>rote <i>Haus</i></b> alt");
    expect_words("The {red} house", false, "Das {red} Haus");
    expect_words("<b>The house.</b> The <i>red</i> house", false, "<b>Das house.</b> Das <i>rote</i> Haus");
    expect_words("The <b>house. The</b> red house", false, "Das <b>house. Das</b> rote Haus"); /* over two sentences */
    expect_words("The <|>red house", false, "Das<|>rote Haus");
    expect_words("The re<b>d</b> house", false, "Das <b>rote</b> Haus");
    expect_words("The &ahouse", false, "Das Ahouse");
}

static void marks_without_text(void **state)
{
    (void)state;
    /* What stood apart from both words still does; a row of marks stays one. */
    expect_words("The <e/> house", false, "Das <e/> Haus");
    expect_words("The <b></b> house", false, "Das <b></b> Haus");
    expect_words("The <b> </b> house", false, "Das <b></b> Haus");
    expect_words("The <b></b><e/> house is", false, "Das <b></b><e/> Haus ist");
    expect_words("The <b></b> <e/> house is", false, "Das <b></b> <e/> Haus ist");
    expect_words("The <b><i></i> <e/></b> house", false, "Das <b><i></i><e/></b> Haus");
    expect_words("The<b></b> house", false, "Das<b></b> Haus");
    expect_words("The <b></b>house", false, "Das <b></b>Haus");
    /* No word goes into a pair that had none. */
    expect_words("The re<b></b>d house", false, "Das rote<b></b> Haus");
    expect_words("The <b>re<i></i>d</b> house", false, "Das <b>rote<i></i></b> Haus");
}

/* A token of a model may be two signs with a space between them. */
static void expect_placed(const char *in, const ganz_translation *t, const char *wanted)
{
    ganz_document *const doc = open_markup(in);
    ganz_error err;
    ganz_segment s;
    assert_int_equal(ganz_document_next(doc, &s, &err), GANZ_OK);
    assert_int_equal(s.bytes, 8);
    assert_int_equal(ganz_document_put(doc, s.number, t, &err), GANZ_OK);
    expect_written(doc, in, wanted);
}

static void marks_inside_of_tokens(void **state)
{
    (void)state;
    const ganz_link words[] = {{0, 5, 0, 5, false}, {5, 8, 5, 8, false}};
    const ganz_link signs[] = {{0, 3, 0, 5, false}, {4, 5, 6, 7, false}, {5, 8, 7, 10, false}};
    expect_placed("Hello, <b></b>!",
                  &(ganz_translation){.text = "Hallo, !", .bytes = 8, .links = words, .link_count = 2},
                  "Hallo, <b></b>!");
    expect_placed("See <b>x/</b>).",
                  &(ganz_translation){.text = "Siehe x/).", .bytes = 10, .links = signs, .link_count = 3},
                  "Siehe <b>x/</b>).");
}

static void fake_padded(const char *text, size_t bytes, ganz_text *out)
{
    fake_add(out, "  ", 2);
    fake_shout(text, bytes, out);
    fake_add(out, " ", 1);
}

static void spaces_around_a_translation(void **state)
{
    (void)state;
    expect(&markup, "one two", fake_padded, "ONE TWO");
    expect(&markup, " <b>one</b> {x} two. ", fake_padded, " <b>ONE</b> {x} TWO. ");
}

/* ---- wrapping ----------------------------------------------------------------------------------- */

static void paragraphs_are_wrapped_again(void **state)
{
    (void)state;
    static const char in[] = "The first line of this text was ended by an editor where the\n"
                             "next word did not fit any more, and so was the second one of\n"
                             "it. This is the last.\n";
    static const char out[] = "THE FIRST LINE OF THIS TEXT WAS ENDED BY AN EDITOR WHERE THE\n"
                              "NEXT WORD DID NOT FIT ANY MORE, AND SO WAS THE SECOND ONE OF\n"
                              "IT. THIS IS THE LAST.\n";
    expect(&ganz_format_text, in, fake_shout, out);
    static const char twice[] = "A first line of this text was ended by an editor where the\r\n"
                                "  next word did not fit.\r\n";
    static const char twice_out[] = "A first line of this text was ended by an editor where the\r\n"
                                    "  next word did not fit. A first line of this text was\r\n"
                                    "  ended by an editor where the next word did not fit.\r\n";
    expect(&ganz_format_text, twice, fake_twice, twice_out);
    static const char quoted[] = "On Monday he wrote:\n"
                                 "> A first line of this text was ended by an editor where\n"
                                 "> the next word did not fit.\n"
                                 ">\n"
                                 ">> Really?\n";
    static const char quoted_out[] = "On Monday he wrote: On Monday he wrote:\n"
                                     "> A first line of this text was ended by an editor where\n"
                                     "> the next word did not fit. A first line of this text\n"
                                     "> was ended by an editor where the next word did not\n"
                                     "> fit.\n"
                                     ">\n"
                                     ">> Really? Really?\n";
    expect(&ganz_format_text, quoted, fake_twice, quoted_out);
    expect(&ganz_format_text, "one\ntwo\n\n- three\n> four\n", fake_shout, "ONE\nTWO\n\n- THREE\n> FOUR\n");
    expect(&ganz_format_text, "a table\twith cells\tof text\n", fake_twice,
           "a table a table\twith cells with cells\tof text of text\n");
}

static void code_is_kept(void **state)
{
    (void)state;
    static const char in[] =
        "Look at this:\n```c\nint x;\n\ny\n```\nand this:\n~~~\n```\n~~~\n```unclosed\nx(1);\nend\n";
    static const char out[] =
        "LOOK AT THIS:\n```c\nint x;\n\ny\n```\nAND THIS:\n~~~\n```\n~~~\n```UNCLOSED\nx(1);\nEND\n";
    expect(&ganz_format_text, in, fake_shout, out);
    static const char *const calls[] = {"print(\"Hello (you)\")  # says it",
                                        "os.exit(1)",
                                        "run_all(x)",
                                        "f2(a, 'b)')",
                                        "go()",
                                        "print(i)",
                                        "for i in range(10):",
                                        "if x == 5:",
                                        "class Foo(Bar):"};
    static const char *const words[][2] = {{"file(s)", "FILE(S)"},
                                           {"see(the end) now", "SEE(THE END) NOW"},
                                           {"Note(this one)", "NOTE(THIS ONE)"},
                                           {"open(it", "OPEN(IT"},
                                           {"if you can (or must):", "IF YOU CAN (OR MUST):"},
                                           {"for all:", "FOR ALL:"},
                                           {"for the person(s):", "FOR THE PERSON(S):"},
                                           {"class of risk(s):", "CLASS OF RISK(S):"},
                                           {"email(required)", "EMAIL(REQUIRED)"},
                                           {"answer(yes/no)", "ANSWER(YES/NO)"},
                                           {"e.g.(see above)", "E.G.(SEE ABOVE)"},
                                           {"lehrer(in)", "LEHRER(IN)"}};
    for (size_t i = 0; i < GANZ_COUNT(calls); i++) expect(&ganz_format_text, calls[i], fake_shout, calls[i]);
    for (size_t i = 0; i < GANZ_COUNT(words); i++) expect(&ganz_format_text, words[i][0], fake_shout, words[i][1]);
}

static bool in_code(const char *text) { return ganz_ends_in_code(text, strlen(text)); }

static void code_that_goes_on(void **state)
{
    (void)state;
    assert_true(in_code("a\n```\nb\n\n"));
    assert_true(in_code("a\n~~~c\nb\n\n"));
    assert_true(in_code("\xEF\xBB\xBF  ~~~\n```\n"));
    assert_true(in_code("```\na\n```\n~~~\nb\n"));
    assert_false(in_code(""));
    assert_false(in_code("a ```\n\n"));
    assert_false(in_code("```a```\n\n"));
    assert_false(in_code("~~~~~~~\n\n"));
    assert_false(in_code("~~~\n```\n~~~\n\n"));
    assert_false(in_code("~~~\r\na\r\n~~~\r\n"));
}

static void lines_of_equal_length(void **state)
{
    (void)state;
    ganz_flow flow = {0};
    ganz_text out = {0};
    const char text[] = "one two three four five six seven\nend";
    for (size_t i = 0; i < sizeof text - 1; i++)
        assert_true(ganz_flow_add(&flow, text[i] == ' ' ? GANZ_FLOW_SPACE : GANZ_FLOW_TEXT, text + i, 1));
    assert_true(ganz_flow_wrap(&flow, 20, 2, "|", &out));
    const char wanted[] = "one two three four|five six seven\nend";
    assert_int_equal(out.bytes, sizeof wanted - 1);
    assert_memory_equal(out.text, wanted, out.bytes);
    out.bytes = 0;
    assert_true(ganz_flow_wrap(&flow, 9, 0, "|", &out));
    const char narrow[] = "one two|three|four five|six seven\nend";
    assert_int_equal(out.bytes, sizeof narrow - 1);
    assert_memory_equal(out.text, narrow, out.bytes);
    ganz_text_free(&out);
    ganz_flow_free(&flow);
}

/* ---- the rest ----------------------------------------------------------------------------------- */

static void bilingual(void **state)
{
    (void)state;
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err;
    ganz_text out = {0};
    ganz_document_defaults(&o);
    o.bilingual = true;
    o.format = "text";
    assert_int_equal(ganz_document_open(&doc, "one two\n\n42\nthree", 17, &o, &err), GANZ_OK);
    assert_int_equal(fake_translate(doc, fake_shout, &err), GANZ_OK);
    assert_int_equal(ganz_document_write(doc, &out, &err), GANZ_OK);
    const char wanted[] = "one two\nONE TWO\n\n42\nthree\nTHREE";
    assert_int_equal(out.bytes, sizeof wanted - 1);
    assert_memory_equal(out.text, wanted, out.bytes);
    ganz_text_free(&out);
    ganz_document_close(&doc);
}

/* No tag comes between a text and its translation where none may stand. */
static void bilingual_texts_without_tags(void **state)
{
    (void)state;
    static const struct {
        const char *format, *in, *wanted;
    } cases[] = {
        {"html", "<title>my shop</title><p>my shop</p>", "<title>my shop / MY SHOP</title><p>my shop<br>MY SHOP</p>"},
        {"html", "<select><option>red<option>blue</select>", "<select><option>red / RED<option>blue / BLUE</select>"},
        {"html", "<textarea>red</textarea>", "<textarea>red\nRED</textarea>"},
        {"markdown", "A cat: ![a cat](c.png)", "A cat: ![a cat / A CAT](c.png)<br>A CAT: ![a cat / A CAT](c.png)"},
        {"markdown", "<title>my shop</title>", "<title>my shop / MY SHOP</title>"},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        ganz_document *doc;
        ganz_document_options o;
        ganz_error err;
        ganz_text out = {0};
        ganz_document_defaults(&o);
        o.bilingual = true;
        o.format = cases[i].format;
        assert_int_equal(ganz_document_open(&doc, cases[i].in, strlen(cases[i].in), &o, &err), GANZ_OK);
        assert_int_equal(fake_translate(doc, fake_shout, &err), GANZ_OK);
        assert_int_equal(ganz_document_write(doc, &out, &err), GANZ_OK);
        if (out.bytes != strlen(cases[i].wanted) || memcmp(out.text, cases[i].wanted, out.bytes) != 0)
            fail_msg("%s\nbecame\n%.*s", cases[i].in, (int)out.bytes, out.text);
        ganz_text_free(&out);
        ganz_document_close(&doc);
    }
}

/* A translation begins with a capital where its sentence does. */
static void fake_small(const char *text, size_t bytes, ganz_text *out)
{
    for (size_t i = 0; i < bytes; i++)
        fake_add(out, (char[]){(char)(text[i] | (text[i] >= 'A' && text[i] <= 'Z' ? 32 : 0))}, 1);
}

static void fake_shop(const char *text, size_t bytes, ganz_text *out)
{
    (void)text, (void)bytes;
    fake_add(out, "eBay", 4);
}

static void expect_capital(const char *in, const char *source, fake_translator *translate, const char *wanted)
{
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err;
    ganz_text out = {0};
    ganz_document_defaults(&o);
    o.format = "text";
    o.source = source;
    assert_int_equal(ganz_document_open(&doc, in, strlen(in), &o, &err), GANZ_OK);
    assert_int_equal(fake_translate(doc, translate, &err), GANZ_OK);
    assert_int_equal(ganz_document_write(doc, &out, &err), GANZ_OK);
    if (out.bytes != strlen(wanted) || memcmp(out.text, wanted, out.bytes) != 0)
        fail_msg("%s became %.*s", in, (int)out.bytes, out.text);
    ganz_text_free(&out);
    ganz_document_close(&doc);
}

static void capitals_at_the_beginning(void **state)
{
    (void)state;
    expect_capital("One Apple", "en", fake_small, "One apple");
    expect_capital("(One Apple)", "en", fake_small, "(One apple)");
    expect_capital("one Apple", "en", fake_small, "one apple");
    expect_capital("The Shop", "en", fake_shop, "eBay");
    expect_capital("Haus am See", "de", fake_small, "Haus am see");
    expect_capital("Das Haus ist alt.", "de", fake_small, "Das haus ist alt.");
}

static void numbers_are_mended(void **state)
{
    (void)state;
    expect(&ganz_format_text, "It cost 1,234.5 dollars in 1984.", fake_shout, "IT COST 1.234,5 DOLLARS IN 1984.");
    expect(&ganz_format_text, "Born in 1984.", fake_wrong_year, "Geboren 1984.");
    expect(&ganz_format_text, "It weighs 23.5 kilos.", fake_first_word, "It! 23,5");
}

/* Each request for memory may be the one that fails. */
static void memory_may_run_out(void **state)
{
    (void)state;
    static const char in[] =
        "The <b>red</b> house {x} is at https://example.org.\nDO NOT {name} ENTER THE 1,234.5 HOUSES! <|> a %s b";
    ganz_document_options o;
    ganz_error err;
    ganz_document_defaults(&o);
    o.bilingual = true;
    int failures = 0;
    for (long n = 1;; n++) {
        ganz_document *doc;
        ganz_text out = {0};
        ganz_alloc_fail_at(n);
        ganz_status status = ganz_document_open_as(&doc, &markup, in, sizeof in - 1, &o, &err);
        if (status == GANZ_OK) status = fake_translate_linked(doc, fake_twice, 5, &err);
        if (status == GANZ_OK) status = ganz_document_write(doc, &out, &err);
        ganz_alloc_fail_at(0);
        ganz_document_close(&doc);
        ganz_text_free(&out);
        if (status == GANZ_OK) break;
        assert_int_equal(status, GANZ_ENOMEM);
        failures++;
    }
    assert_true(failures > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(gaps_are_kept),
        cmocka_unit_test(marks_survive),
        cmocka_unit_test(guards_survive),
        cmocka_unit_test(marks_follow_links),
        cmocka_unit_test(marks_without_text),
        cmocka_unit_test(marks_inside_of_tokens),
        cmocka_unit_test(spaces_around_a_translation),
        cmocka_unit_test(paragraphs_are_wrapped_again),
        cmocka_unit_test(code_is_kept),
        cmocka_unit_test(code_that_goes_on),
        cmocka_unit_test(capitals_at_the_beginning),
        cmocka_unit_test(lines_of_equal_length),
        cmocka_unit_test(bilingual),
        cmocka_unit_test(bilingual_texts_without_tags),
        cmocka_unit_test(numbers_are_mended),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
