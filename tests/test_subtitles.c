/* Subtitles: cues, sentences that go over several of them, and lines that are wrapped. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "document/subtitles.h"
#include "hostile.h"
#include "skeletons.h"

static ganz_text translated(const ganz_format *format, const char *in, fake_translator *translate)
{
    ganz_text out = {0};
    ganz_error err = {0};
    if (fake_document(&out, format, in, strlen(in), true, translate, &err) != GANZ_OK)
        fail_msg("%s: %s", in, err.message);
    return out;
}

static void expect(const ganz_format *format, const char *in, fake_translator *translate, const char *wanted)
{
    ganz_text same = translated(format, in, fake_identity), out = translated(format, in, translate);
    assert_int_equal(strlen(in), same.bytes);
    assert_memory_equal(in, same.text, same.bytes);
    if (out.bytes != strlen(wanted) || memcmp(out.text, wanted, out.bytes) != 0)
        fail_msg("%s\nbecame\n%.*s\nnot\n%s", in, (int)out.bytes, out.text, wanted);
    ganz_text_free(&same);
    ganz_text_free(&out);
}

static void expect_skeleton(const ganz_format *format, const char *in, const char *wanted)
{
    const ganz_format_options options = {"en", "de", GANZ_BREAK_LINES, true};
    ganz_text out = {0};
    ganz_error err;
    assert_int_equal(GANZ_OK, show_skeleton(&out, format, in, strlen(in), &options, &err));
    if (out.bytes != strlen(wanted) || memcmp(out.text, wanted, out.bytes) != 0)
        fail_msg("%s\nis\n%.*s\nnot\n%s", in, (int)out.bytes, out.text, wanted);
    ganz_text_free(&out);
}

static const ganz_format *const srt = &ganz_format_srt, *const vtt = &ganz_format_vtt;
#define T1 "00:00:01,000 --> 00:00:03,000\n"
#define T2 "00:00:03,100 --> 00:00:05,000\n"
#define T9 "00:00:09,000 --> 00:00:10,000\n"

static void cues_are_blocks(void **state)
{
    (void)state;
    expect_skeleton(srt, "1\n" T1 "Hello.\n\n2\n" T2 "Two\nlines.\n", "1\n" T1 "{Hello.}\n\n2\n" T2 "{Two lines.}\n");
    expect_skeleton(srt, "1\n" T1 "- Hello.\n- You\nthere.\n", "1\n" T1 "{- Hello.}\n{- You there.}\n");
    expect_skeleton(srt, "1\n" T1 "{\\an8}A <i>red</i> cat <3.\n", "1\n" T1 "{[.{\\an8}]A [+<i>]red[-</i>] cat <3.}\n");
    expect_skeleton(srt, T1 "No number\n" T2 "No blank line.\n", T1 "{No number[/\n" T2 "]No blank line.}\n");
    expect_skeleton(vtt, "WEBVTT\nKind: x\n\nNOTE a\nb\n\nname\n00:01.000 --> 00:02.000 line:1\n<v Bob>A &amp; b.\n",
                    "WEBVTT\nKind: x\n\nNOTE a\nb\n\nname\n00:01.000 --> 00:02.000 line:1\n{[?<v Bob>]A & b.}\n");
}

/* A sentence goes on in the next cue if nothing ends it, a word follows soon, and neither shouts. */
static void cues_that_share_a_sentence_are_joined(void **state)
{
    (void)state;
    expect_skeleton(srt, "1\n" T1 "When I was\nyoung,\n\n2\n" T2 "I sang.\n",
                    "1\n" T1 "{When I was young,[/\n\n2\n" T2 "]I sang.}\n");
    expect_skeleton(srt, "1\n" T1 "I was young.\n\n2\n" T2 "I sang.\n",
                    "1\n" T1 "{I was young.}\n\n2\n" T2 "{I sang.}\n");
    expect_skeleton(srt, "1\n" T1 "I was young\n\n2\n" T9 "and sang.\n",
                    "1\n" T1 "{I was young}\n\n2\n" T9 "{and sang.}\n");
    expect_skeleton(srt, "1\n" T1 "CHAPTER ONE\n\n2\n" T2 "I sang.\n",
                    "1\n" T1 "{CHAPTER ONE}\n\n2\n" T2 "{I sang.}\n");
    expect_skeleton(srt, "1\n" T1 "I was <i>young\n\n2\n" T2 "and</i> sang.\n",
                    "1\n" T1 "{I was [?<i>]young}\n\n2\n" T2 "{and[?</i>] sang.}\n");
    expect_skeleton(srt, "1\n" T1 "I was young\n\n2\n" T2 "- Really?\n",
                    "1\n" T1 "{I was young}\n\n2\n" T2 "{- Really?}\n");
    expect_skeleton(srt, "1\n" T1 "[door slams]\nGo now.\nANN MAE: No.\n",
                    "1\n" T1 "{[door slams]}\n{Go now.}\n{ANN MAE: No.}\n");
    expect_skeleton(srt, "1\n" T1 "- [laughs]\nGo.\nNo.\n", "1\n" T1 "{- [laughs]}\n{Go. No.}\n");
    expect_skeleton(srt, "1\n" T1 "The song [see 3]\nwas short.\n", "1\n" T1 "{The song [see 3] was short.}\n");
    expect_skeleton(srt, "1\n" T1 "I was\nin ROME: a city.\n", "1\n" T1 "{I was in ROME: a city.}\n");
}

static void lines_are_wrapped(void **state)
{
    (void)state;
    expect(srt, "1\n" T1 "one two three\nfour five\n", fake_shout, "1\n" T1 "ONE TWO THREE FOUR FIVE\n");
    expect(srt, "1\r\n00:00:01,000 --> 00:00:03,000\r\nThese lines are so long that they\r\ndo not fit into one.\r\n",
           fake_shout,
           "1\r\n00:00:01,000 --> 00:00:03,000\r\nTHESE LINES ARE SO LONG THAT\r\nTHEY DO NOT FIT INTO ONE.\r\n");
    /* Rather behind a comma; tags do not count. */
    expect(srt, "1\n" T1 "<i>When all of this is over, we will</i>\nall go home together.\n", fake_shout,
           "1\n" T1 "<i>WHEN ALL OF THIS IS OVER,\nWE WILL</i> ALL GO HOME TOGETHER.\n");
    /* Never more than two lines, even if they are too long. */
    expect(srt,
           "1\n" T1
           "a one two three four five six seven eight nine ten one two three four five six seven eight nine ten\n",
           fake_shout,
           "1\n" T1
           "A ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN\nONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN\n");
    expect(srt, "1\n" T1 "- Hello there.\n- Good morning.\n", fake_shout, "1\n" T1 "- HELLO THERE.\n- GOOD MORNING.\n");
    expect(vtt, "WEBVTT\n\n00:01.000 --> 00:02.000\na &lt; b\n", fake_shout,
           "WEBVTT\n\n00:01.000 --> 00:02.000\nA &lt; B\n");
}

/* Cues stay apart, or their times would come twice. */
static void bilingual_subtitles(void **state)
{
    (void)state;
    static const char in[] = "1\n" T1 "When I was\nyoung,\n\n2\n" T2 "I sang.\n";
    static const char wanted[] = "1\n" T1 "When I was\nyoung,\nWHEN I WAS YOUNG,\n\n2\n" T2 "I sang.\nI SANG.\n";
    ganz_document *doc;
    ganz_document_options o;
    ganz_text out = {0};
    ganz_document_defaults(&o);
    o.bilingual = true;
    assert_int_equal(GANZ_OK, ganz_document_open_as(&doc, srt, in, sizeof in - 1, &o, NULL));
    assert_int_equal(GANZ_OK, fake_translate(doc, fake_shout, NULL));
    assert_int_equal(GANZ_OK, ganz_document_write(doc, &out, NULL));
    ganz_document_close(&doc);
    assert_int_equal(sizeof wanted - 1, out.bytes);
    assert_memory_equal(wanted, out.text, out.bytes);
    ganz_text_free(&out);
}

static void wrong_subtitles_are_refused(void **state)
{
    (void)state;
    ganz_document *doc;
    ganz_error err = {0};
    ganz_document_options o;
    ganz_document_defaults(&o);
    assert_int_equal(GANZ_EFORMAT, ganz_document_open_as(&doc, srt, "Hello\n", 6, &o, &err));
    assert_non_null(strstr(err.message, "no cue of a subtitle"));
    assert_int_equal(GANZ_EFORMAT, ganz_document_open_as(&doc, vtt, "Hello\n", 6, &o, &err));
    assert_non_null(strstr(err.message, "does not begin with WEBVTT"));
}

/* ---- a long file -------------------------------------------------------------------------------- */

enum { CUES = 2000 };

/* Cues of generated sentences, cut where they are long; each number, time and word of it is known. */
static char *long_file(void)
{
    static const char *const words[] = {"the", "house", "is",       "very",    "small", "and",  "we",
                                        "go",  "home",  "tomorrow", "because", "it",    "rains"};
    char *const text = malloc(CUES * 200), *at = text;
    unsigned seed = 1;
    for (int i = 0; i < CUES; i++) {
        at += sprintf(at, "%d\n%02d:%02d:%02d,%03d --> %02d:%02d:%02d,%03d\n", i + 1, i / 1200, i / 20 % 60, i % 20 * 3,
                      0, i / 1200, i / 20 % 60, i % 20 * 3 + 2, 500);
        const int count = 3 + i % 9;
        for (int k = 0; k < count; k++) {
            seed = seed * 1664525u + 1013904223u;
            at += sprintf(at, "%s%s", words[(seed >> 16) % 13], k + 1 < count ? k == 5 ? "\n" : " " : "");
        }
        at += sprintf(at, "%s\n\n", i % 3 == 2 ? "." : "");
    }
    return text;
}

typedef struct summary {
    size_t cues, words, longest, rows;
} summary;

/* Counts cues, their words, the longest line and the most lines of a cue. */
static summary summarise(const char *text, size_t bytes)
{
    const ganz_subtitles in = {text, bytes, false};
    summary s = {0};
    ganz_cue c = {0};
    for (size_t at = 0; ganz_next_cue(&in, &at, &c); s.cues++) {
        size_t rows = 0;
        for (size_t line = c.begin; line < c.end; rows++) {
            const ganz_subtitle_line l = ganz_subtitle_line_at(&in, line);
            if (l.end - l.begin > s.longest) s.longest = l.end - l.begin;
            line = l.next;
        }
        for (size_t i = c.begin; i < c.end; i++)
            s.words +=
                text[i] != ' ' && text[i] != '\n' && (i + 1 == c.end || text[i + 1] == ' ' || text[i + 1] == '\n');
        if (rows > s.rows) s.rows = rows;
    }
    return s;
}

static void two_thousand_cues(void **state)
{
    (void)state;
    char *const text = long_file();
    const summary before = summarise(text, strlen(text));
    assert_int_equal(CUES, before.cues);
    static fake_translator *const translators[] = {fake_identity, fake_shout, fake_reverse};
    for (size_t i = 0; i < GANZ_COUNT(translators); i++) {
        ganz_text out = translated(srt, text, translators[i]);
        const summary after = summarise(out.text, out.bytes);
        assert_int_equal(before.cues, after.cues); /* none is empty, none has come */
        assert_int_equal(before.words, after.words);
        assert_true(after.rows <= 2);
        if (i == 0) assert_memory_equal(text, out.text, strlen(text));
        if (i == 1) assert_true(after.longest <= 42);
        ganz_text_free(&out);
    }
    free(text);
}

static void long_files_are_quick(void **state)
{
    (void)state;
    expect_quick(srt, "1\n" T1, "a\n", "");
    expect_quick(srt, "1\n" T1 "x\n\n", T1 "a\n", "");
    expect_quick(srt, "1\n" T1, "<i>a ", "\n");
    expect_quick(vtt, "WEBVTT\n\n", "NOTE a\n\n", "");
    expect_quick(vtt, "WEBVTT\n\n00:01.000 --> 00:02.000\n", "&amp;<", "\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cues_are_blocks),
        cmocka_unit_test(cues_that_share_a_sentence_are_joined),
        cmocka_unit_test(lines_are_wrapped),
        cmocka_unit_test(bilingual_subtitles),
        cmocka_unit_test(wrong_subtitles_are_refused),
        cmocka_unit_test(two_thousand_cues),
        cmocka_unit_test(long_files_are_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
