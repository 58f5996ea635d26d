/* Guards, numbers, inflected words, glossaries and case, each by hand. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "document/casing.h"
#include "document/glossary.h"
#include "document/guard.h"
#include "document/inflect.h"
#include "document/money.h"
#include "document/number.h"

/* ---- guards ------------------------------------------------------------------------------------- */

/* The guards of a text as it should be cut: kinds A(ddress) C(ode) H(older) S(ign) F(oreign) N(umber) R(esults),
 * "H:{name}". */
static void expect_guards(const char *text, const char *const *wanted)
{
    ganz_guards g = {0};
    size_t i = 0;
    assert_true(ganz_guards_find(&g, text, 0, strlen(text), true));
    for (; wanted[i]; i++) {
        const char kind = i < g.count ? "ACHSFNR"[g.items[i].kind] : '-';
        const size_t bytes = i < g.count ? g.items[i].end - g.items[i].begin : 0;
        const char *const found = text + (i < g.count ? g.items[i].begin : 0);
        if (kind != wanted[i][0] || bytes != strlen(wanted[i] + 2) || memcmp(found, wanted[i] + 2, bytes) != 0)
            fail_msg("%s: guard %zu is %c:%.*s, not %s", text, i, kind, (int)bytes, found, wanted[i]);
    }
    if (g.count != i)
        fail_msg("%s: guard too many: %.*s", text, (int)(g.items[i].end - g.items[i].begin), text + g.items[i].begin);
    free(g.items);
}
#define GUARDS(text, ...) expect_guards(text, (const char *const[]){__VA_ARGS__, NULL})
#define NO_GUARDS(text) expect_guards(text, (const char *const[]){NULL})

static void addresses(void **state)
{
    (void)state;
    GUARDS("See https://www.example.org/a?b=1&c=2.", "A:https://www.example.org/a?b=1&c=2");
    GUARDS("(http://example.org/wiki/A_(b))", "A:http://example.org/wiki/A_(b)");
    GUARDS("Visit www.example.org, please!", "A:www.example.org");
    GUARDS("Write to jane.doe@mail.example.org.", "A:jane.doe@mail.example.org");
    GUARDS("Open C:\\Users\\Public and \\\\server\\share.", "A:C:\\Users\\Public", "A:\\\\server\\share");
    GUARDS("C:\\Program Files\\App\\run.exe failed", "A:C:\\Program Files\\App\\run.exe");
    GUARDS("Edit /etc/fstab, ~/.bashrc or ../x.", "A:/etc/fstab", "A:~/.bashrc", "A:../x");
    GUARDS("Run setup.exe from example.com/downloads.", "A:setup.exe", "A:example.com/downloads");
    NO_GUARDS("He and/or she drove at 9 km/h. Yes.No. The end.Next one");
    NO_GUARDS("a / b, e.g. i.e. U.S. Dr. A.B.");
}

static void streets(void **state)
{
    (void)state;
    GUARDS("12 High Street, 221B Baker St, 350 Fifth Ave.", "A:12 High Street", "A:221B Baker St", "A:350 Fifth Ave");
    GUARDS("Goethestr. 3a, Rosenweg 7, Lange Strasse 12", "A:Goethestr. 3a", "A:Rosenweg 7", "A:Lange Strasse 12");
    NO_GUARDS("5 Street, Street 5, High Street, auf dem Weg 5, Tabellenplatz 3, im Hinweg 2, im Heimweg 3 Leute");
    GUARDS("In 2008 Wall Street fell", "N:2008");
    GUARDS("On Oct. 19 Wall Street fell", "N:19");
    NO_GUARDS(
        "On 3 May Park Lane, on May 3 Hyde Park Square, 3 Federal Court rulings, 2 USB Drive bays, 7 Best Street Foods");
    NO_GUARDS("Die Stra\xC3\x9F"
              "e 7, Bundesstra\xC3\x9F"
              "e 7, in der Langen Stra\xC3\x9F"
              "e 3 km weiter");
    GUARDS("Rosenweg\xC2\xA0"
           "7, 12\xC2\xA0High Street",
           "A:Rosenweg\xC2\xA0"
           "7",
           "A:12\xC2\xA0High Street");
    GUARDS("7 May Street, 7 Earls Court, Lange Strasse 3 in Bonn", "A:7 May Street", "A:7 Earls Court",
           "A:Lange Strasse 3");
}

static void mixed_fractions(void **state)
{
    (void)state;
    GUARDS("1 1/2 cups, 2-3/4 cups", "C:1 1/2", "C:2-3/4");
    GUARDS("1\xC2\xA0"
           "1/2 cups",
           "C:1\xC2\xA0"
           "1/2");
    NO_GUARDS("1/2 cup, 1 1/2x, 1 1/7");
    GUARDS("75 m\xC2\xB2 or 5 km\xC2\xB2", "N:75", "F:m\xC2\xB2", "F:km\xC2\xB2");
}

static void lines_to_write_on(void **state)
{
    (void)state;
    GUARDS("Name: ______ Date: _____.", "S:______", "S:_____");
    GUARDS("Index ........ 9", "S:........");
    NO_GUARDS("Wait... what.... __init__ a.....");
}

static void holders(void **state)
{
    (void)state;
    GUARDS("%s of %1$d, %-5.2f%%, %(name)s, %@ and %1", "H:%s", "H:%1$d", "H:%-5.2f", "H:%%", "H:%(name)s", "H:%@",
           "H:%1");
    GUARDS("{name} {0} {{team}} {{ a.b }} ${x} #{y} %{z} $HOME", "H:{name}", "H:{0}", "H:{{team}}", "H:{{ a.b }}",
           "H:${x}", "H:#{y}", "H:%{z}", "H:$HOME");
    GUARDS("Hi {{ user.firstName | titlecase }}, {{#if a}} {{ n + 1 }}", "H:{{ user.firstName | titlecase }}",
           "H:{{#if a}}", "H:{{ n + 1 }}");
    NO_GUARDS("a {set of words} here");
    GUARDS("See $t(common.title), $x() $y (z)", "H:$t(common.title)", "H:$x", "H:$y");
    GUARDS("{0,choice,0#no files|1#one file|1<{0} files} here", "H:{0,choice,0#no files|1#one file|1<{0} files}");
    GUARDS("{n, plural, one {# file} other {# files}} found", "H:{n, plural, one {# file} other {# files}}");
    GUARDS("Copy <file> &amp; &#39;", "H:<file>", "H:&amp;", "H:&#39;");
    GUARDS("Hi <%= user %>, {% if x > 1 %} <?php a ?>\\nBye\\tNow", "H:<%= user %>", "H:{% if x > 1 %}", "H:<?php a ?>",
           "H:\\n", "H:\\t");
    NO_GUARDS("5% sure, 5 % of it, {some words here}, a $5 bill, x < y > z, AT&T; R&D");
}

static void code_and_signs(void **state)
{
    (void)state;
    GUARDS("Use `x + 1`, ``a`b``, some_name, f(), std::map, --all=1.", "C:`x + 1`", "C:``a`b``", "C:some_name", "C:f()",
           "C:std::map", "C:--all=1");
    GUARDS("-v, --version prints [-o FILE] or -x", "C:-v", "C:--version", "C:-o", "C:-x");
    NO_GUARDS("a well-a b, - a, x -a. -ab -5");
    NO_GUARDS("-I know. -A man? -I am here");
    GUARDS("@anna likes #release :smile: 2.0.1", "C:@anna", "C:#release", "C::smile:", "C:2.0.1");
    GUARDS("Hi \xF0\x9F\x98\x80! 1\xEF\xB8\x8F\xE2\x83\xA3", "S:\xF0\x9F\x98\x80", "S:1\xEF\xB8\x8F\xE2\x83\xA3");
    GUARDS("\xD0\x94\xD0\xB0 \xD0\xB8 \xD0\xBD\xD0\xB5\xD1\x82 mean yes and no",
           "F:\xD0\x94\xD0\xB0 \xD0\xB8 \xD0\xBD\xD0\xB5\xD1\x82");
    NO_GUARDS("na\xC3\xAFve caf\xC3\xA9 \xC5\x81\xC3\xB3\x64\xC5\xBA \xE1\xBA\x9E \xE2\x80\x93 "
              "\xE2\x80\x9Equoted\xE2\x80\x9C \xE2\x82\xAC");
    GUARDS("add py3.10、py3.9. Go", "C:py3.10、py3.9");
    GUARDS("Python 3.10、3.9、3.8", "C:3.10、3.9、3.8");
    GUARDS("On 3/4/2024, 2024-03-04 or 4-3-24 :-) :) <3!", "C:3/4/2024", "C:2024-03-04", "C:4-3-24", "S::-)", "S::)",
           "S:<3");
    NO_GUARDS("(note:) x:P 3/4 and 1/2/ 2-2-2-2 a\\name");
    NO_GUARDS("a - b -- c; it's 10:30; #1 @ home");
}

/* Letters and digits in turn, of which models lose some. */
static void serials(void **state)
{
    (void)state;
    GUARDS("VIN 1HGCM82633A004352, 9fceb02d0ae598e9, 0x80070057.", "C:1HGCM82633A004352", "C:9fceb02d0ae598e9",
           "C:0x80070057");
    GUARDS("Use WELCOME10 or 4fT9xQ for 0xDEADBEEF", "C:WELCOME10", "C:0xDEADBEEF");
    GUARDS("On 12/31, 24/7, the 6'2\" man", "C:12/31", "C:24/7", "C:6'2\"");
    NO_GUARDS("mp3, 3x8, 1st, 0x, 9fceb02d_a, 9fceb02d0\xC3\xA4; 3/4 11/12, 5' tall, '90s");
}

/* What models have hardly met; the signs that they know are theirs. */
static void rare_signs(void **state)
{
    (void)state;
    GUARDS("© 2024 ¥300, −5 °C, x ≤ 5, 3 ‰, 6′ 2″", "S:©", "N:2024", "S:¥", "N:300", "S:−", "S:≤", "S:‰", "S:′", "S:″");
    GUARDS("A note¹, 85 m², ₹5 ± 1", "S:¹", "N:85", "F:m²", "S:₹", "S:±");
    GUARDS("CO₂ and H₂SO₄, Ca²⁺ x²y, H₂O.", "F:CO₂", "F:H₂SO₄", "S:²⁺", "F:x²y", "F:H₂O");
    GUARDS("½ cup, 1½ hours, ⅓", "C:½", "C:1½", "C:⅓");
    GUARDS("The A380, 221B, LH1234 and G20; a^2 + b^2 = 10^-6.", "C:A380", "C:221B", "C:LH1234", "C:G20", "C:a^2",
           "C:b^2", "C:10^-6");
    GUARDS("It lost ~1,000 pts.", "S:~", "N:1,000");
    GUARDS("the water^1 and 10^6-fold", "C:10^6");
    GUARDS("The file foo~ has ~500 lines.", "S:~", "N:500");
    GUARDS("5 CO\xE2\x82\x82\xE7\x9A\x84\xE6\x95\xB0", "F:CO\xE2\x82\x82", "F:\xE7\x9A\x84\xE6\x95\xB0");
    NO_GUARDS("19TH CENTURY, 1990S, 80S, 21ST, 90ER, 11P.M. in capitals");
    NO_GUARDS("MP3, B2B, 10AM, 12PM, 20s, 21st, 5G, 9h, 5p.m., 27d, 800x, a ~ b ^ c");
    NO_GUARDS("Windows® and Front™, 5 °C, § 5, 3 × 4, $5, €5, £4 … – “a” «b» ‘c’");
}

static void guarded_results(void **state)
{
    (void)state;
    GUARDS("He won 6-3 6-1.", "R:6-3 6-1");
    GUARDS("He won 6-3, 3-6, 7-6 (7-4), 7-6(4); 6-2", "R:6-3, 3-6, 7-6 (7-4), 7-6(4); 6-2");
    GUARDS("Er gewann 6:3, 21-15.", "R:6:3, 21-15");
    NO_GUARDS("Er gewann um 6:30, 7:15 Uhr.");
    NO_GUARDS("He won 6-3.");
    NO_GUARDS("Read 3-5, 8-10.");
    NO_GUARDS("The match is on pages 3-5, 8-10");
    NO_GUARDS("The match took 3-5, 8-10 minutes");
    NO_GUARDS("The match 6-3rd 6-1x");
}

static void guarded_numbers(void **state)
{
    (void)state;
    GUARDS("In 1984, 13 of 1,234.5 or 3.5 cost $99.", "N:1984", "N:13", "N:1,234.5", "N:3.5", "N:99");
    GUARDS("It is $5m, \xE2\x82\xAC"
           "7 million, 8 Mio. \xE2\x82\xAC and 9 thousand, $3 mobile",
           "N:5", "N:7", "N:8");
    GUARDS("In the 1600s, its 250th and 1,000th, 800m, 5km, 10MB or 0.19secs, 60mph.", "N:1600", "N:250", "N:1,000",
           "N:800", "N:5", "C:10MB", "N:0.19", "N:60");
    NO_GUARDS("2 of 12 in the 50s, A3, at 5.30 pm or 10:45, 3rd");
}

/* Long words of one part: what looks to the end of one from each place in it takes minutes. */
static void guards_are_quick(void **state)
{
    (void)state;
    enum { BYTES = 300000 };
    static const char *const parts[] = {"`",  "a.",  "A.b", "1.", "1.2",     "1'",
                                        "1-", "(1/", "{a,", "%(", "C:\\a\\", "a\xE3\x80\x81"};
    static char text[BYTES + 16];
    for (size_t i = 0; i < GANZ_COUNT(parts); i++) {
        const size_t length = strlen(parts[i]);
        size_t bytes = 0;
        for (; bytes < BYTES; bytes += length) memcpy(text + bytes, parts[i], length);
        memcpy(text + bytes, "1a", 2);
        ganz_guards g = {0};
        const clock_t begin = clock();
        assert_true(ganz_guards_find(&g, text, 0, bytes + 2, true));
        const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (seconds > 5) fail_msg("%zu bytes of \"%s\" took %.1f s", bytes, parts[i], seconds);
        free(g.items);
    }
}

/* ---- numbers ------------------------------------------------------------------------------------ */

static void expect_number(const char *number, const char *from, const char *to, const char *wanted)
{
    ganz_text out = {0};
    assert_true(ganz_amount_write(&out, number, strlen(number), ganz_language_of(from), ganz_language_of(to)));
    if (out.bytes != strlen(wanted) || memcmp(out.text, wanted, out.bytes) != 0)
        fail_msg("%s becomes %.*s, not %s", number, (int)out.bytes, out.text, wanted);
    ganz_text_free(&out);
}

static void numbers_follow_the_language(void **state)
{
    (void)state;
    expect_number("3.5", "en", "de", "3,5");
    expect_number("1,234,567.89", "en", "de", "1.234.567,89");
    expect_number("3,5", "de", "en", "3.5");
    expect_number("1984", "en", "de", "1984");
    expect_number("1,23,4", "en", "de", "1,23,4"); /* no number of English */
    expect_number("1.234.567", "en", "de", "1.234.567");
    expect_number("1600s", "en", "de", "1600er");
    expect_number("1990er", "de", "en", "1990s");
    expect_number("1,000th", "en", "de", "1.000.");
    expect_number("1.5km", "en", "de", "1,5km");
    expect_number("500m", "en", "de", "500m"); /* metres, for all that anybody knows */
    expect_number("500m euros", "en", "de", "500 Mio. Euro");
    expect_number("2.5bn euro", "en", "de", "2,5 Mrd. Euro");
    expect_number("40k pounds", "en", "de", "40 Tsd. Pfund");
    expect_number("500m Euro", "de", "en", "500 million euros");
    expect_number("250th", "en", "fr", "250th");
    expect_number("3.5", "en", "fr", "3.5"); /* nobody has said how */
    expect_number("$1,299.99", "en", "de", "1.299,99 $");
    expect_number("$150m", "en", "de", "150 Mio. $");
    expect_number("US$1.2bn", "en", "de", "1,2 Mrd. US$");
    expect_number("EUR 4,500", "en", "de", "4.500 EUR");
    expect_number("$300 million", "en", "de", "300 Mio. $");
    expect_number("12 Mio. \xE2\x82\xAC", "de", "en",
                  "\xE2\x82\xAC"
                  "12 million");
    expect_number("2,5 Milliarden EUR", "de", "en", "EUR 2.5 billion");
    expect_number("3 Billionen $", "de", "en", "$3 trillion");
    expect_number("4.500 CHF", "de", "en", "CHF 4,500");
    expect_number("$5 millionaires", "en", "de", "$5 millionaires");
    assert_true(ganz_same_digits("1,234.5", 7, "1.234,5", 7));
    assert_true(ganz_same_digits("14", 2, "14.000", 6));
    assert_false(ganz_same_digits("14", 2, "140", 3));
    assert_false(ganz_same_digits("14000", 5, "14", 2));
    assert_false(ganz_same_digits("1984", 4, "1948", 4));
}

/* ---- inflection --------------------------------------------------------------------------------- */

static size_t inflected(const char *term, const char *text)
{
    return ganz_inflected_length(term, strlen(term), text, strlen(text), 0);
}

static void endings_are_taken_off(void **state)
{
    (void)state;
    assert_int_equal(inflected("Haus", "Haus steht"), 4);
    assert_int_equal(inflected("Haus", "Hauses."), 6);
    assert_int_equal(inflected("Haus", "H\xC3\xA4usern"), 8);
    assert_int_equal(inflected("neue Regel", "neuen Regeln, die"), 12);
    assert_int_equal(inflected("Speicher", "speichern"), 9);
    assert_int_equal(inflected("Haus", "Hausboot"), 0);
    assert_int_equal(inflected("neue Regel", "neuen"), 0);
    assert_int_equal(inflected("Ei", "Eis"), 0); /* too short to lose anything */
}

/* ---- glossaries --------------------------------------------------------------------------------- */

static void expect_term(const ganz_glossary *g, const char *text, const char *target, size_t wanted)
{
    size_t length = 0;
    const ganz_term *const t = ganz_glossary_find(g, text, strlen(text), 0, &length);
    if (!target) assert_null(t);
    else assert_non_null(t);
    if (!t) return;
    assert_int_equal(t->target_bytes, strlen(target));
    assert_memory_equal(t->target, target, t->target_bytes);
    assert_int_equal(length, wanted);
}

static void terms_are_found(void **state)
{
    (void)state;
    static const char file[] =
        "\xEF\xBB\xBF# a comment\n\nprinter\tDrucker\r\nprinter driver\tDruckertreiber\tnote\nGanz\nIT\tEDV\n\xC3\xBC"
        "ber box\tKiste\n";
    ganz_glossary *g;
    ganz_error err;
    assert_int_equal(ganz_glossary_parse(&g, file, sizeof file - 1, "file", &err), GANZ_OK);
    assert_int_equal(ganz_glossary_size(g), 5);
    expect_term(g, "printer is", "Drucker", 7);
    expect_term(g, "Printers", "Drucker", 8);
    expect_term(g, "PRINTER's", "Drucker", 9);
    expect_term(g, "printer drivers", "Druckertreiber", 15); /* the longest */
    expect_term(g, "printer  driver", "Drucker", 7);
    expect_term(g, "printerless", NULL, 0);
    expect_term(g, "Ganz and", "Ganz", 4);
    expect_term(g, "ganz", NULL, 0); /* a capital stands for itself */
    expect_term(g, "it", NULL, 0);
    expect_term(g, "IT", "EDV", 2);
    expect_term(g,
                "\xC3\x9C"
                "ber Box",
                "Kiste", 9);
    ganz_glossary_close(&g);
    assert_int_equal(ganz_glossary_parse(&g, "a\tb\n\xFF\n", 6, "file", &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "file:2: not UTF-8");
    assert_null(g);
    assert_int_equal(ganz_glossary_open(&g, "/nonexistent", &err), GANZ_EIO);
}

/* ---- case --------------------------------------------------------------------------------------- */

static ganz_letters letters(const char *text)
{
    ganz_guards g = {0};
    assert_true(ganz_guards_find(&g, text, 0, strlen(text), true));
    const ganz_letters found = ganz_letters_of(text, 0, strlen(text), &g);
    free(g.items);
    return found;
}

static void case_is_seen(void **state)
{
    (void)state;
    assert_int_equal(letters("DO NOT OPEN THE DOOR!"), GANZ_LETTERS_UPPER);
    assert_int_equal(letters("STOP"), GANZ_LETTERS_UPPER);
    assert_int_equal(letters("READ {name} AT https://example.org NOW"), GANZ_LETTERS_UPPER);
    assert_int_equal(letters("the door is open"), GANZ_LETTERS_LOWER);
    assert_int_equal(letters("The NATO summit"), GANZ_LETTERS_MIXED);
    assert_int_equal(letters("USA"), GANZ_LETTERS_MIXED);
    assert_int_equal(letters("house"), GANZ_LETTERS_MIXED);
    assert_int_equal(letters(""), GANZ_LETTERS_MIXED);
}

static void expect_word(const char *text, const char *word, ganz_recase wanted)
{
    const size_t at = (size_t)(strstr(text, word) - text);
    assert_int_equal(ganz_recase_word(letters(text), ganz_language_of("en"), text, at, at + strlen(word), at == 0),
                     wanted);
}

static void words_get_ordinary_case(void **state)
{
    (void)state;
    static const char shout[] = "THE BBC SAYS I SAW LONDON IN THE UNITED STATES WITH 3D TV";
    expect_word(shout, "THE", GANZ_RECASE_FIRST);
    expect_word(shout, "BBC", GANZ_RECASE_UPPER);
    expect_word(shout, "SAYS", GANZ_RECASE_LOWER);
    expect_word(shout, "LONDON", GANZ_RECASE_FIRST);
    expect_word(shout, "STATES", GANZ_RECASE_FIRST);
    expect_word(shout, "3D", GANZ_RECASE_KEEP);
    expect_word("THE ISBN OF IT", "ISBN", GANZ_RECASE_UPPER);
    expect_word("i think i saw london", "london", GANZ_RECASE_FIRST);
    expect_word("i think i saw london", "saw", GANZ_RECASE_KEEP);
    assert_int_equal(ganz_recase_character(GANZ_RECASE_LOWER, 0xC4, 0), 0xE4);
    assert_int_equal(ganz_recase_character(GANZ_RECASE_FIRST, 'x', 0), 'X');
    assert_int_equal(ganz_recase_character(GANZ_RECASE_FIRST, 'X', 1), 'x');
}

static void expect_recased(ganz_letters how, const char *text, const char *wanted)
{
    ganz_text out = {0};
    size_t moved[64];
    static const size_t keep[] = {4, 6};
    assert_true(ganz_recase_translation(how, ganz_language_of("de"), text, strlen(text), keep, 1, &out, moved));
    assert_int_equal(out.bytes, strlen(wanted));
    assert_memory_equal(out.text, wanted, out.bytes);
    assert_int_equal(moved[strlen(text)], out.bytes);
    ganz_text_free(&out);
}

static void translations_get_their_case_back(void **state)
{
    (void)state;
    expect_recased(GANZ_LETTERS_UPPER,
                   "Die %s-Stra\xC3\x9F"
                   "e",
                   "DIE %s-STRASSE");
    expect_recased(GANZ_LETTERS_LOWER, "Die gut", "die gut");
    expect_recased(GANZ_LETTERS_LOWER, "Haus ab", "Haus ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(streets),
        cmocka_unit_test(mixed_fractions),
        cmocka_unit_test(lines_to_write_on),
        cmocka_unit_test(holders),
        cmocka_unit_test(code_and_signs),
        cmocka_unit_test(serials),
        cmocka_unit_test(rare_signs),
        cmocka_unit_test(guarded_results),
        cmocka_unit_test(guarded_numbers),
        cmocka_unit_test(guards_are_quick),
        cmocka_unit_test(numbers_follow_the_language),
        cmocka_unit_test(endings_are_taken_off),
        cmocka_unit_test(terms_are_found),
        cmocka_unit_test(case_is_seen),
        cmocka_unit_test(words_get_ordinary_case),
        cmocka_unit_test(translations_get_their_case_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
