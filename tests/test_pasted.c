/* What people paste: mail, recipes, lists of pages, ornaments, addresses of houses, with translators that need no
 * model.
 */
#include "test.h"

#include <string.h>
#include <time.h>

#include "base/base.h"
#include "documents.h"

#define SHARP_S "\xC3\x9F"

static const char *answer;

static void fake_answer(const char *text, size_t bytes, ganz_text *out)
{
    (void)text, (void)bytes;
    fake_add(out, answer, strlen(answer));
}

/* A text of one language, what the model says of each of its sentences (NULL: the same in capitals), and what becomes
 * of it. */
typedef struct pasted {
    const char *from, *to, *in, *said, *wanted;
} pasted;

static void expect(const pasted *p)
{
    ganz_document *doc;
    ganz_document_options o;
    ganz_error err;
    ganz_text out = {0};
    ganz_document_defaults(&o);
    o.format = "text";
    o.source = p->from;
    o.target = p->to;
    answer = p->said;
    assert_int_equal(ganz_document_open(&doc, p->in, strlen(p->in), &o, &err), GANZ_OK);
    assert_int_equal(fake_translate(doc, p->said ? fake_answer : fake_shout, &err), GANZ_OK);
    assert_int_equal(ganz_document_write(doc, &out, &err), GANZ_OK);
    ganz_document_close(&doc);
    if (out.bytes != strlen(p->wanted) || memcmp(out.text, p->wanted, out.bytes) != 0)
        fail_msg("%s became\n%.*s, not\n%s", p->in, (int)out.bytes, out.text, p->wanted);
    ganz_text_free(&out);
}

static void expect_all(const pasted *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) expect(&cases[i]);
}
#define EXPECT(...)                                  \
    do {                                             \
        static const pasted cases[] = {__VA_ARGS__}; \
        expect_all(cases, GANZ_COUNT(cases));        \
    } while (0)

static void mail_is_quoted(void **state)
{
    (void)state;
    EXPECT({"en", "de", "On Mon, 4 Mar 2024 at 10:15, Tom Miller <tom@example.org> wrote:", "Nein",
            "Am Mo., 4. M\xC3\xA4rz 2024 um 10:15 Uhr schrieb Tom Miller <tom@example.org>:"},
           {"en", "de", "> On Tue, Mar 5, 2024 at 10:15 PM Rose Hill <r@x.com> wrote:", "Nein",
            "> Am Di., 5. M\xC3\xA4rz 2024 um 22:15 Uhr schrieb Rose Hill <r@x.com>:"},
           {"en", "de", "On May 5, 2024, at 12:05 AM, Mark wrote:", "Nein", "Am 5. Mai 2024 um 0:05 Uhr schrieb Mark:"},
           {"en", "de", "On 12/03/2024 10:15, Tom wrote:", "Nein", "Am 12/03/2024 um 10:15 Uhr schrieb Tom:"},
           {"en", "de",
            "On Tue, Mar 5, 2024 at 10:15\xE2\x80\xAFPM Rose Elizabeth Hill-Winterbottom <\r\nr@x.com> wrote:\r\n",
            "Nein",
            "Am Di., 5. M\xC3\xA4rz 2024 um 22:15 Uhr schrieb Rose Elizabeth\r\nHill-Winterbottom <r@x.com>:\r\n"},
           {"en", "de", "On Tue, 5 Mar 2024 at 10:15, Rose Elizabeth Hill\n<r@x.com> wrote:\n", "Nein",
            "Am Di., 5. M\xC3\xA4rz 2024 um 10:15 Uhr schrieb Rose\nElizabeth Hill <r@x.com>:\n"},
           {"en", "de", "On Monday he wrote:", "Am Montag schrieb er:", "Am Montag schrieb er:"},
           {"en", "de", "On 4 May at 10:15 the chairman wrote:", "Am 4. Mai:", "Am 4. Mai:"},
           {"en", "de", "On 4 May at 10:15 I wrote:", "Am 4. Mai:", "Am 4. Mai:"},
           {"en", "de", "On 4 May at 10:15, Low, Rose de via List wrote:", "Nein",
            "Am 4. Mai um 10:15 Uhr schrieb Low, Rose de via List:"},
           {"en", "de", "On 4 May at 10:15, the shop <s@x.com> wrote:", "Nein",
            "Am 4. Mai um 10:15 Uhr schrieb the shop <s@x.com>:"},
           {"de", "en", "Am 4. Mai um 10:15 Uhr schrieb die Zeitung:", "On 4 May, 10:15 am:", "On 4 May, 10:15 am:"},
           {"de", "en", "Er schrieb am 4. Mai um 10:15 Uhr:", "On 4 May, 10:15 am:", "On 4 May, 10:15 am:"},
           {"de", "en", "Am 4. Mai um 10:15 Uhr schrieb Tom :", "On 4 May, 10:15 am:", "On 4 May, 10:15 am:"},
           {"en", "de", "On 4 May at 10:15 wrote:", "Nein:", "Nein:"},
           {"en", "de", "On 4 May at 99:15 Tom wrote:", "99:15 Nein:", "99:15 Nein:"},
           {"de", "en", "Am Mo., 4. M\xC3\xA4rz 2024 um 10:15 Uhr schrieb Tom Schmidt <t@x.de>:", "No",
            "On Mon, 4 March 2024 at 10:15, Tom Schmidt <t@x.de> wrote:"},
           {"de", "en", "Am 12.03.2024 um 22:15 schrieb Tom:", "No", "On 12.03.2024 at 22:15, Tom wrote:"},
           {"de", "en", "Max Muster <m@x.de> schrieb am Di., 5. Mrz 2024, 10:15:", "No",
            "On Tue, 5 March 2024 at 10:15, Max Muster <m@x.de> wrote:"},
           {"de", "en", "Am Montag schrieb er mir:", "On Monday he wrote to me:", "On Monday he wrote to me:"},
           {"de", "en", "schrieb", "wrote", "wrote"});
}

static void mail_has_a_head(void **state)
{
    (void)state;
    EXPECT(
        {"en", "de", "To: Tom <tom@x.org>, Rose Hill <r@x.com>", NULL, "An: Tom <tom@x.org>, Rose Hill <r@x.com>"},
        {"en", "de", "Sent: Monday, March 4, 2024 10:15 PM", "Nein", "Gesendet: Mo., 4. M\xC3\xA4rz 2024 um 22:15 Uhr"},
        {"en", "de", "From: Berlin", "Ab: Berlin", "Ab: Berlin"},
        {"en", "de", "To: all of us, by a@x.org", "An: alle, a@x.org", "An: alle, a@x.org"},
        {"en", "de", "To: Rose a@x.org, b@x.org", "Nein", "An: Rose a@x.org, b@x.org"},
        {"de", "en", "Von: Sarah <s@x.de>", "Of", "From: Sarah <s@x.de>"},
        {"de", "en", "Gesendet: Montag, 4. M\xC3\xA4rz 2024 10:15", "Saturday", "Sent: Mon, 4 March 2024 at 10:15"},
        {"de", "en", "Datum: morgen", "Date: tomorrow", "Date: tomorrow"});
}

static void spans_go_on(void **state)
{
    (void)state;
    EXPECT({"en", "de", "See pages 3-5, 8-10 of the match report.", "Siehe Seiten 3-5, 8:10 des Berichts.",
            "Siehe Seiten 3-5, 8-10 des Berichts."},
           {"en", "de", "See pages 3-5, 8-10 and 12-14 of the match.", "Siehe Seiten 3-5, 8:10 und 12:14 im Spiel.",
            "Siehe Seiten 3-5, 8-10 und 12-14 im Spiel."},
           {"en", "de", "The final exam is on rows 3-5, 8-10.",
            "Die Pr\xC3\xBC"
            "fung: Zeilen 3-5, 8-10.",
            "Die Pr\xC3\xBC"
            "fung: Zeilen 3-5, 8-10."},
           {"de", "en", "Spiel 1:2, 3:4", "Match 1-2, 3-4", "Match 1-2, 3-4"},
           {"en", "de", "See pp. 8-10 of the match.", "Siehe S. 8:10 im Spiel.", "Siehe S. 8-10 im Spiel."},
           {"en", "de", "A meeting, 9-5.", "Ein Treffen, 9-5.", "Ein Treffen, 9-5."},
           {"en", "de", "Results: 3-1, 2-2, 0-0", "Ergebnisse: 3:1, 2:2, 0-0", "Ergebnisse: 3:1, 2:2, 0:0"},
           {"de", "en", "Ergebnisse: 3:1, 2:2, 0:0", "Results: 3:1, 2:2, 0-0", "Results: 3-1, 2-2, 0-0"});
}

/* A minus is no hyphen that may go. */
static void minus_stays(void **state)
{
    (void)state;
    EXPECT({"en", "de", "It was -5 degrees.", "Es waren 5 Grad.", "Es waren -5 Grad."},
           {"en", "de", "From -5 to 5 (-3).", "Von 5 bis 5 (3).", "Von -5 bis 5 (-3)."},
           {"en", "de", "At -5 or 5.", "Bei -5 oder 5.", "Bei -5 oder 5."},
           {"en", "de", "It is -$250.50.", "Es sind 250,50 $.", "Es sind -250,50 $."},
           {"de", "en", "Es sind -1.250,50 Euro.", "It is 1,250.50 euros.", "It is -1,250.50 euros."},
           {"en", "de", "It was -5.", "Es waren minus 5.", "Es waren minus 5."},
           {"en", "de", "An F-16 flew 3 -5 times.", "Eine F 16 flog 3 bis 5 Mal.", "Eine F 16 flog 3 bis 5 Mal."},
           {"en", "de", "It fell -5, not 15.", "Nicht 15, 15 fiel es.", "Nicht 15, 15 fiel es."});
}

/* Short names of days are names where hours or other days stand beside them. */
static void days_are_named(void **state)
{
    (void)state;
    EXPECT({"en", "de", "Open Mon-Fri.", "Auf Mo-Fr.", "Auf Mo-Fr."},
           {"en", "de", "Open Sat 4 pm.", "Auf Sa 16 Uhr.", "Auf Sa 16 Uhr."},
           {"en", "de", "Sat: 7 pm", NULL, "Sa: 19 Uhr"}, {"en", "de", "Open, Sun closed", NULL, "OPEN, So CLOSED"},
           {"en", "de", "The Sun-Times, Sun: a star", "Die Sun-Times, Sonne: ein Stern",
            "Die Sun-Times, Sonne: ein Stern"},
           {"de", "en", "Auf Di-Do.", "Open Di to Do.", "Open Tue to Thu."},
           {"de", "en", "So 10 Leute.", "So 10 people.", "So 10 people."},
           {"de", "en", "So: nun gut.", "So: well then.", "So: well then."});
}

/* Short words are those of the other language beside a number. */
static void words_are_short(void **state)
{
    (void)state;
    EXPECT({"de", "en", "2 EL Mehl, S. 45-67.", "2 EL flour, S. 45-67.", "2 tbsp flour, p. 45-67."},
           {"de", "en", "Der EL f\xC3\xA4hrt.", "The EL runs.", "The EL runs."},
           {"en", "de", "See p. 12.", "Siehe p. 12.", "Siehe S. 12."},
           {"en", "de", "At 5 p. m.", "Um 5 p. m.", "Um 5 p. m."});
}

/* A 9 am-noon is a span, and "min." no end of a sentence. */
static void noon_is_an_hour(void **state)
{
    (void)state;
    EXPECT({"en", "de", "Open 9am-noon.", NULL,
            "OPEN 9\xE2\x80\x93"
            "12 Uhr."},
           {"en", "de", "A 5 min. walk.", "5 Minuten. zu Fu\xC3\x9F.", "5 Minuten zu Fu\xC3\x9F."},
           {"en", "de", "It takes 5 minutes. Go.", NULL, "IT TAKES 5 MINUTES. GO."});
}

/* Hours that fall end in the afternoon. */
static void hours_fall(void **state)
{
    (void)state;
    EXPECT({"en", "de", "A meeting from 9-5.", "Ein Treffen von 9:5.",
            "Ein Treffen von 9\xE2\x80\x93"
            "17 Uhr."},
           {"en", "de", "Open 8:30-5:30.", "Auf: 8:30-5:30.",
            "Auf: 8:30\xE2\x80\x93"
            "17:30 Uhr."},
           {"en", "de", "It is 12:30-1:15, Sat 10-4.", "Es ist 12:30-1:15 Uhr, Sa 10-4 Uhr.",
            "Es ist 12:30\xE2\x80\x93"
            "13:15 Uhr, Sa 10\xE2\x80\x93"
            "16 Uhr."},
           {"en", "de", "They won 9-5 on Sunday.", "Sie siegten 9:5.", "Sie siegten 9:5."},
           {"en", "de", "Call between 9 and 5.", "Ruf zwischen 9 und 5 an.", "Ruf zwischen 9 und 17 Uhr an."},
           {"en", "de", "Between 10 and 5 years.", "Zwischen 10 und 5 Jahren.", "Zwischen 10 und 5 Jahren."},
           {"en", "de", "It fell from 12-6%.", "Es fiel von 12-6%.", "Es fiel von 12-6%."},
           {"en", "de", "Between 5 and 9 call.", "Zwischen 5 und 9.", "Zwischen 5 und 9."},
           {"en", "de", "A 9-5 job.", "Ein 9-5-Job.", "Ein 9-5-Job."},
           {"en", "de", "Luke 10:25-9:12", "Lukas 10:25-9:12", "Lukas 10:25-9:12"});
}

static void halves_are_said(void **state)
{
    (void)state;
    EXPECT({"de", "en", "Um 9 Uhr fr\xC3\xBCh.", "At 9pm.", "At 9 am."},
           {"de", "en", "Um 3 Uhr nachts rief er an.", "At 3 p.m. he called.", "At 3 am he called."},
           {"de", "en", "Von 9 Uhr morgens bis 5 Uhr.", "From 9 am to 5 pm.", "From 9 am to 5 pm."},
           {"de", "en", "Um 9 Uhr, nicht um 21 Uhr.", "At 9 am, not at 9 pm.", "At 9 am, not at 9 pm."});
}

/* Signs at both ends of a line are none of the sentence's. */
static void ornaments_stay(void **state)
{
    (void)state;
    EXPECT({"en", "de", "*** Warning ***\n", "Warnung", "*** Warnung ***\n"},
           {"en", "de", "> -----Original message-----\r\n", "Nachricht", "> -----Nachricht-----\r\n"},
           {"en", "de", "--- ---", "Nein", "--- ---"}, {"en", "de", "-----\n", "Nein", "-----\n"},
           {"en", "de", "Wait ---", "Warte ---", "Warte ---"});
}

/* Soft hyphens and spaces of no width are nothing that a model knows. */
static void unseen_signs_go(void **state)
{
    (void)state;
    EXPECT({"en", "de", "The com\xC2\xADpany.", NULL, "THE COMPANY."},
           {"en", "de", "He\xE2\x80\x8Bllo \xE2\x80\x8Bthere\xEF\xBB\xBF.", NULL, "HELLO THERE."});
}

static void numbers_are_whole(void **state)
{
    (void)state;
    EXPECT({"de", "en", "Es kostet 1.000.000 Euro.", "It costs 1,000.000 euros.", "It costs 1,000,000 euros."},
           {"en", "de", "It has 1,234,567 parts.", "Es hat 1.234,567 Teile.", "Es hat 1.234.567 Teile."});
}

static void placeholders_are_no_words(void **state)
{
    (void)state;
    EXPECT({"de", "en", "MwSt. 19 %", "VAT 19 %s", "VAT 19 %"},
           {"en", "de", "Delete %d files in %s", "%d-Dateien in %s-Ordnern", "%d Dateien in %s-Ordnern"});
}

static void houses_are_found(void **state)
{
    (void)state;
    EXPECT({"en", "de", "I live at 12 High Street.", "Ich wohne in X1.", "Ich wohne in 12 High Street."},
           {"de", "en", "Hauptstra" SHARP_S "e 12", "Main road 12", "Hauptstra" SHARP_S "e 12"});
}

/* Translators copy words without end: what looks to the end of one from each place in it takes minutes. */
static void endless_words_are_quick(void **state)
{
    (void)state;
    enum { BYTES = 200000 };
    static const char *const parts[] = {"aaB", "-(5a", "1-(1:2", "8:30-5:30("};
    static char in[BYTES + 64], said[BYTES + 64];
    for (size_t i = 0; i < GANZ_COUNT(parts); i++) {
        char *word = in + sprintf(in, "Look at ");
        for (; word < in + BYTES; word += strlen(parts[i])) strcpy(word, parts[i]);
        snprintf(said, sizeof said, "Schau %s", in + strlen("Look at "));
        const clock_t begin = clock();
        expect(&(pasted){"en", "de", in, said, said});
        const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (seconds > 5) fail_msg("%d bytes of \"%s\" took %.1f s", BYTES, parts[i], seconds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mail_is_quoted),
        cmocka_unit_test(mail_has_a_head),
        cmocka_unit_test(spans_go_on),
        cmocka_unit_test(hours_fall),
        cmocka_unit_test(minus_stays),
        cmocka_unit_test(days_are_named),
        cmocka_unit_test(noon_is_an_hour),
        cmocka_unit_test(words_are_short),
        cmocka_unit_test(halves_are_said),
        cmocka_unit_test(ornaments_stay),
        cmocka_unit_test(unseen_signs_go),
        cmocka_unit_test(numbers_are_whole),
        cmocka_unit_test(placeholders_are_no_words),
        cmocka_unit_test(houses_are_found),
        cmocka_unit_test(endless_words_are_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
