/* Terms of a glossary, letters, amounts, times of day, and lists of what is not translated, with translators that need
 * no model.
 */
#include "test.h"

#include <string.h>

#include "base/base.h"
#include "documents.h"

static ganz_text translated(const ganz_document_options *o, const char *in, size_t bytes, fake_translator *translate)
{
    ganz_document *doc;
    ganz_error err;
    ganz_text out = {0};
    assert_int_equal(ganz_document_open(&doc, in, bytes, o, &err), GANZ_OK);
    assert_int_equal(fake_translate(doc, translate, &err), GANZ_OK);
    assert_int_equal(ganz_document_write(doc, &out, &err), GANZ_OK);
    ganz_document_close(&doc);
    return out;
}

static void expect_with(const ganz_document_options *o, const char *in, fake_translator *translate, const char *wanted)
{
    ganz_text out = translated(o, in, strlen(in), translate);
    if (out.bytes != strlen(wanted) || memcmp(out.text, wanted, out.bytes) != 0)
        fail_msg("%s became\n%.*s, not\n%s", in, (int)out.bytes, out.text, wanted);
    ganz_text_free(&out);
}

static ganz_document_options with_terms(const char *format, const ganz_glossary *g)
{
    ganz_document_options o;
    ganz_document_defaults(&o);
    o.format = format;
    o.glossary = g;
    return o;
}

static int occurrences(const ganz_text *text, const char *what)
{
    int count = 0;
    for (size_t at = 0; at + strlen(what) <= text->bytes; at++)
        count += memcmp(text->text + at, what, strlen(what)) == 0;
    return count;
}

/* ---- terms -------------------------------------------------------------------------------------- */

static const char terms[] = "house\tHaus\ncar\tWagen\nGanz\n";

static ganz_glossary *open_terms(void)
{
    ganz_glossary *g;
    ganz_error err;
    assert_int_equal(ganz_glossary_parse(&g, terms, sizeof terms - 1, "terms", &err), GANZ_OK);
    return g;
}

static void fake_german(const char *text, size_t bytes, ganz_text *out)
{
    (void)text, (void)bytes;
    fake_add(out, "Die H\xC3\xA4user sind alt.", 22);
}

/* What a glossary says holds with a translator that knows nothing, and inflected forms are left alone. */
static void glossary_holds(void **state)
{
    (void)state;
    static const char in[] = "The houses and the car of Ganz.";
    static fake_translator *const translators[] = {fake_german, fake_twice};
    ganz_glossary *g = open_terms();
    const ganz_document_options o = with_terms("text", g);
    for (size_t i = 0; i < GANZ_COUNT(translators); i++) {
        ganz_text out = translated(&o, in, sizeof in - 1, translators[i]);
        assert_true(occurrences(&out, "Wagen") > 0);
        assert_true(occurrences(&out, "Ganz") > 0);
        assert_true(occurrences(&out, "Haus") + occurrences(&out, "H\xC3\xA4user") > 0);
        ganz_text_free(&out);
    }
    ganz_glossary_close(&g);
}

static void expect_terms(const ganz_glossary *g, const char *in, fake_translator *translate, const char *wanted)
{
    const ganz_document_options o = with_terms("markdown", g);
    expect_with(&o, in, translate, wanted);
}

static void fake_the_x(const char *text, size_t bytes, ganz_text *out)
{
    (void)text, (void)bytes;
    fake_add(out, "the {x}", 7);
}

/* A sentence that is nothing but terms: a heading, a label, a cell of a table. */
static void terms_alone_hold(void **state)
{
    (void)state;
    static fake_translator *const translators[] = {fake_identity, fake_nothing};
    ganz_glossary *g = open_terms();
    for (size_t i = 0; i < GANZ_COUNT(translators); i++) {
        expect_terms(g, "# house\n", translators[i], "# Haus\n");
        expect_terms(g, "**car**\n", translators[i], "**Wagen**\n");
        expect_terms(g, "house **car**\n", translators[i], "Haus **Wagen**\n");
        expect_terms(g, "**car** house\n", translators[i], "**Wagen** Haus\n");
        expect_terms(g, "car {x}\n", translators[i], "Wagen {x}\n");
        expect_terms(g, "Ganz\n", translators[i], "Ganz\n");
        expect_terms(g, "Ganz {x}\n", translators[i], "Ganz {x}\n");
    }
    expect_terms(g, "house!\n", fake_identity, "Haus!\n");
    expect_terms(g, "house {x}\n", fake_the_x, "Haus {x}\n");
    expect_terms(g, "The car\n", fake_identity, "The Wagen\n");
    ganz_glossary_close(&g);
}

/* ---- letters ------------------------------------------------------------------------------------ */

static void expect(const char *from, const char *to, const char *in, fake_translator *translate, const char *wanted)
{
    ganz_document_options o = with_terms("text", NULL);
    o.source = from;
    o.target = to;
    expect_with(&o, in, translate, wanted);
}

static void letters_are_opened_and_closed(void **state)
{
    (void)state;
    static const char *const cases[][4] = {
        {"en", "de", "Dear Sir or Madam,", "Sehr geehrte Damen und Herren,"},
        {"en", "de", "Dear Ms. Jones:", "Sehr geehrte Frau Jones,"},
        {"en", "de", "Dear Anna-Lena M\xC3\xBCller,", "Hallo Anna-Lena M\xC3\xBCller,"},
        {"en", "de", "Dear customers,", "DEAR CUSTOMERS,"},
        {"en", "de", "Dear me!", "DEAR ME!"},
        {"en", "de", "Kind regards,",
         "Mit freundlichen Gr\xC3\xBC\xC3\x9F"
         "en"},
        {"en", "de", "Cheers!", "CHEERS!"},
        {"en", "de", "Love", "LOVE"},
        {"en", "de", "Thanks in advance.", "THANKS IN ADVANCE."},
        {"en", "fr", "Dear Anna,", "DEAR ANNA,"},
        {"de", "en", "Liebe Anna,", "Dear Anna,"},
        {"de", "en", "Lieber Herr von der Heide,", "Dear Mr von der Heide,"},
        {"de", "en", "Liebe Kunden,", "Dear customers,"},
        {"de", "en", "Liebe Genossen,", "LIEBE GENOSSEN,"},
        {"de", "en", "Liebe geht durch den Magen", "LIEBE GEHT DURCH DEN MAGEN"},
        {"de", "en", "Sehr geehrte Frau Dr. Brown,", "Dear Dr. Brown,"},
        {"de", "en",
         "viele gr\xC3\xBC\xC3\x9F"
         "e",
         "Best regards"},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++)
        expect(cases[i][0], cases[i][1], cases[i][2], fake_shout, cases[i][3]);
}

/* "how are you" is what a model makes of a small beginning, which German has behind the comma. */
static void fake_how(const char *text, size_t bytes, ganz_text *out)
{
    (void)text, (void)bytes;
    fake_add(out, "how are you?", 12);
}
static void letters_say_the_form(void **state)
{
    (void)state;
    static const struct {
        const char *text, *format, *source, *opening;
        ganz_formality formality;
    } cases[] = {
        {"Hi Sarah,\n\nare you there?", "text", "en", NULL, GANZ_FORMALITY_PREFER_INFORMAL},
        {"Dear Anna,\nare you there?", "text", "en", NULL, GANZ_FORMALITY_PREFER_INFORMAL},
        {"<p>Dear Ms. Jones,</p><p>are you there?</p>", "html", "en", NULL, GANZ_FORMALITY_PREFER_FORMAL},
        {"Dear Anna Jones,\nare you there?", "text", "en", NULL, GANZ_FORMALITY_PREFER_FORMAL},
        {"Dear customer,\nare you there?", "text", "en", NULL, GANZ_FORMALITY_PREFER_FORMAL},
        {"Dear colleagues,\nare you there?", "text", "en", NULL, GANZ_FORMALITY_AUTO},
        {"Hi Sarah!\nare you there?", "text", "en", NULL, GANZ_FORMALITY_AUTO},
        {"It is so.\nHi Sarah,\nare you there?", "text", "en", NULL, GANZ_FORMALITY_AUTO},
        {"So it is\nand more. Hi Sarah,\nare you there?", "text", "en", NULL, GANZ_FORMALITY_AUTO},
        {"3 May 2024\n\nSmith & Co.\n12 Main St.\nRe: Did you call? Or not.\n\nHi Sarah,\nare you there?", "text", "en",
         NULL, GANZ_FORMALITY_PREFER_INFORMAL},
        {"<p>Leeds, 3 May</p><p>Subject: your order.</p><p>Dear Ms Low,</p><p>are you there?</p>", "html", "en", NULL,
         GANZ_FORMALITY_PREFER_FORMAL},
        {"<p>Leeds, 3 May<br>Dear Ms Low,<br>Are you there?</p>", "html", "en", NULL, GANZ_FORMALITY_PREFER_FORMAL},
        {"<p>Dear Ms Low,<br>are you there?</p>", "html", "en", NULL, GANZ_FORMALITY_PREFER_FORMAL},
        {"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nHi Sarah,\nare you there?", "text", "en", NULL,
         GANZ_FORMALITY_AUTO},
        {"Hi Sarah,\nare you there?", "lines", "en", NULL, GANZ_FORMALITY_AUTO},
        {"Hi Sarah,\nbist du da?", "text", "de", NULL, GANZ_FORMALITY_AUTO},
        {"Are you there?", "text", "en", "Hi Sarah,", GANZ_FORMALITY_PREFER_INFORMAL},
        {"Dear Mr. Low,\nare you there?", "text", "en", "Hi Sarah,", GANZ_FORMALITY_PREFER_INFORMAL}};
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        ganz_document_options o = with_terms(cases[i].format, NULL);
        ganz_document *doc;
        ganz_segment s, last = {0};
        ganz_error err;
        o.source = cases[i].source;
        o.opening = cases[i].opening;
        o.opening_bytes = o.opening ? strlen(o.opening) : 0;
        assert_int_equal(ganz_document_open(&doc, cases[i].text, strlen(cases[i].text), &o, &err), GANZ_OK);
        while (ganz_document_next(doc, &s, &err) == GANZ_OK && s.text) last = s;
        if (last.formality != cases[i].formality) fail_msg("%s: form %d", cases[i].text, (int)last.formality);
        ganz_document_close(&doc);
    }
}

static void letters_begin_with_capitals(void **state)
{
    (void)state;
    expect("de", "en", "Liebe Anna,\n\nwie geht es dir?", fake_how, "Dear Anna,\n\nHow are you?");
    expect("de", "en", "Liebe Anna\nwie geht es dir?", fake_how, "Dear Anna\nhow are you?");
    expect("de", "en", "wie, du,\nwie geht es dir?", fake_how, "how are you?\nhow are you?");
    expect("en", "de", "Dear Anna,\nyou here?", fake_how, "Hallo Anna,\nhow are you?");
}

static void names_below_letters_stay(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"See you soon,\nMark", "Bis bald\nMark"},
        {"Best regards\n\nRose M. van der Hill\nHead of Sales", "Beste Gr\xC3\xBC\xC3\x9F"
                                                                "e\n\nRose M. van der Hill\nHEAD OF SALES"},
        {"Sincerely,\nThe Sales Team", "SINCERELY,\nTHE SALES TEAM"},
        {"Sincerely,\nwill", "SINCERELY,\nWILL"},
        {"Best\nOpen", "BEST\nOPEN"},
        {"All the best\nMark", "Alles Gute\nMark"},
        {"This is the best\nMark", "THIS IS THE BEST\nMARK"},
        {"Thanks!\nMark", "THANKS!\nMark"},
        {"This is all that I love\nMark", "THIS IS ALL THAT I LOVE\nMARK"},
        {"Call now\nMark", "CALL NOW\nMARK"},
        {"Thanks,\nMark my words!", "Danke\nMARK MY WORDS!"},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) expect("en", "de", cases[i][0], fake_shout, cases[i][1]);
    ganz_document_options o = with_terms("lines", NULL); /* each is alone */
    expect_with(&o, "See you soon,\nMark", fake_shout, "Bis bald\nMARK");
    o = with_terms("text", NULL);
    o.before = "See you soon,";
    o.before_bytes = strlen(o.before);
    expect_with(&o, "Mark", fake_shout, "Mark");
    ganz_glossary *g = open_terms(); /* who has one says how things are called */
    o = with_terms("text", g);
    expect_with(&o, "Kind regards,", fake_shout, "KIND REGARDS,");
    ganz_glossary_close(&g);
}

/* ---- money and times ---------------------------------------------------------------------------- */

/* Models that forget signs. */
static void fake_forgets(const char *text, size_t bytes, ganz_text *out)
{
    const bool named = bytes > 8 && memcmp(text, "It is X1", 8) == 0;
    fake_add(out, named ? "Es sind X1." : "Es sind 1.299,99.", named ? 11 : 17);
}
static void fake_forgets_euros(const char *text, size_t bytes, ganz_text *out)
{
    const bool named = bytes > 11 && memcmp(text, "Es kostet X1", 12) == 0;
    fake_add(out, named ? "It costs X1." : "It costs 1,299.99.", named ? 12 : 18);
}

static void fake_without_dollars(const char *text, size_t bytes, ganz_text *out)
{
    fake_add(out, "", 0);
    for (size_t i = 0; i < bytes; i++)
        if (text[i] != '$') fake_add(out, text + i, 1);
    fake_add(out, " ja", 3);
}

static void fake_no_millions(const char *text, size_t bytes, ganz_text *out)
{
    fake_add(out, "", 0);
    for (size_t i = 0; i < bytes; i++)
        if (text[i] != 'm') fake_add(out, text + i, 1);
    fake_add(out, " ja", 3);
}

/* "EUR 45" becomes "45" */
static void fake_no_euros(const char *text, size_t bytes, ganz_text *out)
{
    fake_add(out, "", 0);
    for (size_t i = 0; i < bytes; i++)
        if (bytes - i > 4 && memcmp(text + i, "EUR ", 4) == 0) i += 3;
        else fake_add(out, text + i, 1);
    fake_add(out, " ja", 3);
}

static void fake_ja(const char *text, size_t bytes, ganz_text *out)
{
    fake_add(out, text, bytes);
    fake_add(out, " ja", 3);
}
static void fake_shares(const char *text, size_t bytes, ganz_text *out)
{
    (void)text, (void)bytes;
    static const char shared[] = "15 und 17 Dollar oder 20 bis 30 \xE2\x82\xAC, nicht 18";
    fake_add(out, shared, sizeof shared - 1);
}
static void fake_far(const char *text, size_t bytes, ganz_text *out)
{
    const bool named = bytes > 3 && memcmp(text, "X1", 2) == 0;
    fake_add(out, named ? "X1, dann 75 $" : "80k, dann 75 $", named ? 13 : 14);
}

/* Forgets the last number or name, so that attempt after attempt fails. */
static void fake_forgets_last(const char *text, size_t bytes, ganz_text *out)
{
    size_t end = bytes;
    while (end > 0 && !(text[end - 1] >= '0' && text[end - 1] <= '9')) end--;
    size_t begin = end;
    while (begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != '$') begin--;
    fake_add(out, text, begin);
    fake_add(out, text + end, bytes - end);
    fake_add(out, " ja", 3);
}
/* What stands behind the amount begins with a stop. */
static void fake_stops(const char *text, size_t bytes, ganz_text *out)
{
    (void)text, (void)bytes;
    fake_add(out, ", ja.", 5);
}

/* Signs stand where the language has them; what is said in words, or once for two amounts, is left alone. */
static void currencies_are_placed(void **state)
{
    (void)state;
    expect("en", "de", "It is $45.00 or \xC2\xA3 1,500.", fake_ja, "It is 45,00 $ or 1.500 \xC2\xA3. ja");
    expect("de", "en", "Es sind 20 \xE2\x82\xAC und 1.500 EUR.", fake_ja,
           "Es sind \xE2\x82\xAC"
           "20 und 1,500 EUR. ja");
    expect("en", "de",
           "$15 and $17 or \xE2\x82\xAC"
           "20 to \xE2\x82\xAC"
           "30, not 18",
           fake_shares, "15 und 17 Dollar oder 20 bis 30 \xE2\x82\xAC, nicht 18");
    expect("en", "de", "In 3.5 the 1,500 of 12,345.6 are 1500.", fake_ja, "In 3.5 the 1.500 of 12.345,6 are 1500. ja");
    expect("en", "de", "$80k, then $75", fake_far, "80 Tsd. $, dann 75 $");
}

/* What is taken out before the last attempt is the whole amount, and no space comes before a stop. */
static void amounts_are_taken_out(void **state)
{
    (void)state;
    expect("en", "de", "Pay EUR 55 for b 77 or c 88 or d 99.", fake_forgets_last,
           "Pay 55 EUR for b or 77 c or 88 d. 99ja");
    expect("en", "de", "$55 is it.", fake_stops, "55 $, ja.");
}

static void currencies_are_kept(void **state)
{
    (void)state;
    expect("en", "de", "We saw 100 $HOME here.", fake_without_dollars, "We saw 100 $HOME here. ja");
    expect("en", "de", "The phone 15 $999 is here.", fake_without_dollars, "The phone 15 999 $ is here. ja");
    expect("en", "de", "Pay $100 million now.", fake_without_dollars, "Pay 100 Mio. $ now. ja");
    expect("en", "de", "It is $5m.", fake_identity, "It is $5m.");
    expect("en", "de",
           "It is \xE2\x82\xAC"
           "12m now, EUR 12 then.",
           fake_no_millions, "It is 12 Mio. \xE2\x82\xAC now, EUR 12 then. ja");
    expect("de", "en", "Es sind 12 Tsd. \xE2\x82\xAC.", fake_no_millions,
           "Es sind \xE2\x82\xAC"
           "12 thousand. ja");
    expect("en", "de", "USD 15 or EUR 45", fake_no_euros, "USD 15 or 45 EUR ja");
    expect("en", "de", "No. 7 is here, No. 8 too.", fake_no_millions, "No 7 is here, No. 8 too. ja");
    expect("en", "de", "It is $1,299.99.", fake_forgets, "Es sind 1.299,99 $.");
    expect("en", "de",
           "It is \xC2\xA3"
           "1,299.99.",
           fake_forgets, "Es sind 1.299,99 \xC2\xA3.");
    expect("en", "de", "It is 1,299.99.", fake_forgets, "Es sind 1.299,99.");
    expect("de", "en", "Es kostet 1.299,99 \xE2\x82\xAC.", fake_forgets_euros,
           "It costs \xE2\x82\xAC"
           "1,299.99.");
    expect("de", "en", "Es kostet 1.299,99$.", fake_forgets_euros, "It costs $1,299.99.");
    expect("en", "fr", "It is $1,299.99.", fake_forgets, "Es sind 1.299,99."); /* who knows how */
}

/* German counts hours to 24, English to 12. */
static void times_are_told(void **state)
{
    (void)state;
    static const char *const times[][2] = {
        {"Komm um 15.30 Uhr!", "Komm um 3:30 pm!"},
        {"Komm um 15:05 Uhr.", "Komm um 3:05 pm."},
        {"Komm um 20 Uhr.", "Komm um 8 pm."},
        {"Komm um 12.15 Uhr.", "Komm um 12:15 pm."},
        {"Komm um 0.30 Uhr.", "Komm um 12:30 am."},
        {"Komm um 24 Uhr.", "Komm um midnight."},
        {"Komm um 6.30 Uhr abends.", "Komm um 6:30 pm abends."},
        {"Heute Abend um 8.30 Uhr.", "Heute Abend um 8:30 pm."},
        {"Um 11.30 Uhr nachts.", "Um 11:30 pm nachts."},
        {"Um 12.30 Uhr nachts.", "Um 12:30 am nachts."},
        {"Morgens oder abends um 8.30 Uhr.", "Morgens oder abends um 8.30 Uhr."},
        {"Um 15 Uhr 30 und um 22 Uhr 45.", "Um 3:30 pm und um 10:45 pm."},
        {"Um 15 Uhr 300 Leute", "Um 3 pm 300 Leute"},
        {"Komm um 6.30 Uhr morgens.", "Komm um 6:30 am morgens."},
        {"Komm von 8 bis 18 Uhr.", "Komm von 8 am bis 6 pm."},
        {"Komm von 14 bis 16.30 Uhr.", "Komm von 2 bis 4:30 pm."},
        {"Offen 9–12.30 Uhr", "Offen 9 am–12:30 pm"},
        {"14 Uhr", "2 pm"},
        {"Komm um 8 Uhr.", "Komm um 8 Uhr."},
        {"Es war 6.24 Uhr, und Gewitter zogen herauf bis zum Montagabend.",
         "Es war 6:24 am, und Gewitter zogen herauf bis zum Montagabend."},
        {"Am Abend des Montags gegen 6.24 Uhr.", "Am Abend des Montags gegen 6:24 pm."},
        {"Der 20-Uhr-Zug kommt.", "Der 20-Uhr-Zug kommt."},
        {"Es sind 15 Uhren.", "Es sind 15 Uhren."},
        {"Komm um 25 Uhr.", "Komm um 25 Uhr."},
        {"Komm am 1.15 Uhr.", "Komm am 1:15 am."},
        {"Nummer 1.234.15 Uhr", "Nummer 1.234.15 Uhr"},
    };
    for (size_t i = 0; i < GANZ_COUNT(times); i++) {
        expect("de", "en", times[i][0], fake_identity, times[i][1]); /* "15.30 Uhr" is no English */
        expect("de", "fr", times[i][0], fake_identity, times[i][0]);
    }
}

/* What models make of times: the half of the day is put right, what is right stays. */
static const char *answer;
static void fake_answer(const char *text, size_t bytes, ganz_text *out)
{
    (void)text, (void)bytes;
    fake_add(out, answer, strlen(answer));
}

/* Numbers that what is behind them belongs to. */
static void suffixes_are_kept(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"She won the 800m here.", "Sie gewann hier die 80m.", "Sie gewann hier die 800m."},
        {"In the early 1600s it was so.", "In den 160er Jahren war es so.", "In den 1600er Jahren war es so."},
        {"It is its 250th year.", "Es ist das 25. Jahr.", "Es ist das 250. Jahr."},
        {"They lost 500m euros here.", "Sie verloren hier 50 Mio. Euro.", "Sie verloren hier 500 Mio. Euro."},
        {"The 800m is here.", "Die 80 Meter sind hier.", "Die 800 Meter sind hier."},
        {"The 800m is here.", "Die 800 Meter sind hier.", "Die 800 Meter sind hier."},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        answer = cases[i][1];
        expect("en", "de", cases[i][0], fake_answer, cases[i][2]);
    }
}

/* The first answer has a time that the sentence does not have. */
static void fake_uhr(const char *text, size_t bytes, ganz_text *out)
{
    const bool named = bytes > 5 && memcmp(text + bytes - 3, "X1.", 3) == 0;
    fake_add(out, named ? "Nach X1." : "Nach 10.00 Uhr.", named ? 8 : 15);
}
static void suffixes_are_no_times(void **state)
{
    (void)state;
    expect("en", "de", "After the 10,000m.", fake_uhr, "Nach 10.000m.");
}

/* Spans are not results, and results are not spans. */
static void spans_are_told(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"Cook for 8-10 minutes.", "8:10 Minuten kochen.", "8-10 Minuten kochen."},
        {"Cook it 8\xE2\x80\x93"
         "10 minutes, then 3-5.",
         "Koch es 8:10 Minuten, dann 3:5.",
         "Koch es 8\xE2\x80\x93"
         "10 Minuten, dann 3-5."},
        {"For ages 3-5.", "Ab 3:5 Jahren.", "Ab 3-5 Jahren."},
        {"They lost 1-3 at home.", "Sie verloren 1:3.", "Sie verloren 1:3."},
        {"The game takes 3-5 minutes.", "Das Spiel dauert 3:5 Minuten.", "Das Spiel dauert 3-5 Minuten."},
        {"It was 2-1 then.", "Es stand 2:1.", "Es stand 2:1."},
        {"It was 0-1 then.", "Es stand 0:1.", "Es stand 0:1."},
        {"It is 3-5 or 3:5.", "Es ist 3-5 oder 4:5.", "Es ist 3-5 oder 4:5."},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        answer = cases[i][1];
        expect("en", "de", cases[i][0], fake_answer, cases[i][2]);
    }
}

/* What models do to spaces, capitals and words that come again; not where the sentence does so itself. */
static void slips_are_mended(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"He said, \"yes\".", "Er sagte,  \"ja\".", "Er sagte, \"ja\"."},
        {"It  is so.", "Es  ist so.", "Es  ist so."},
        {"The school shooting.",
         "Die SchulSchie\xC3\x9F"
         "erei.",
         "Die Schulschie\xC3\x9F"
         "erei."},
        {"In southern areas.",
         "In S\xC3\xBC"
         "d\xC3\x84mtern.",
         "In S\xC3\xBC"
         "d\xC3\xA4mtern."},
        {"The YouTube video.", "Das YouTube-Video.", "Das YouTube-Video."},
        {"Use MoveNext here.", "MoveVorher hier.", "MoveVorher hier."},
        {"The Paypal account.", "Das PayPal-Konto.", "Das PayPal-Konto."},
        {"The teachers.", "Die LehrerInnen.", "Die LehrerInnen."},
        {"On the 11th, yes?", "Am 11. , ja ?", "Am 11., ja?"},
        {"In Washington, D.C.", "In Washington D.C. .", "In Washington D.C."},
        {"Well ...", "Nun ...", "Nun ..."},
        {"A result of things.", "Ein Ergebnis von von von Dingen.", "Ein Ergebnis von Dingen."},
        {"It is in Berlin.", "Es ist in in Berlin.", "Es ist in Berlin."},
        {"Those whom they know.", "Die, die die die kennen.", "Die, die die kennen."},
        {"A hard action.", "Ein hartes hartes hartes Vorgehen.", "Ein hartes Vorgehen."},
        {"The new new one.", "Das neue neue neue.", "Das neue neue neue."},
        {"It is as it is.", "Es ist ist so.", "Es ist ist so."},
        {"An inn.", "Im Inn in Innsbruck.", "Im Inn in Innsbruck."},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        answer = cases[i][1];
        expect("en", "de", cases[i][0], fake_answer, cases[i][2]);
    }
    answer = "Oui ! Le HautRhin.";
    expect("en", "fr", "Yes, the Upper Rhine!", fake_answer, "Oui ! Le HautRhin.");
    answer = "The AlterBridge is on on top .";
    expect("de", "en", "Die Alter Bridge ist oben.", fake_answer, "The AlterBridge is on top.");
}

static void expect_time(const char *in, const char *said, const char *wanted)
{
    answer = said;
    expect("de", "en", in, fake_answer, wanted);
}

static void results_and_halves(void **state)
{
    (void)state;
    static const char *const cases[][5] = {
        {"en", "de", "She won 6-3, 7-6 (7-4).", "Sie gewann X1.", "Sie gewann 6:3, 7:6 (7:4)."},
        {"en", "de", "She won 6-3, 6-1.", "6:3 und 6:1.", "6:3, 6:1."},
        {"de", "en", "Sie gewann 6:3, 6:1.", "She won 6:3, 6-1.", "She won 6-3, 6-1."},
        {"en", "de", "From 5:45 to 8:10.", "Von 17:45 bis 20:10.", "Von 5:45 bis 8:10."},
        {"en", "de", "From 9:30 to 5:30.", "Von 9:30 bis 17:30.", "Von 9:30 bis 17:30."},
        {"en", "de", "Come at 8:00 tonight.", "Komm um 20:00 Uhr.", "Komm um 20:00 Uhr."},
        {"de", "en", "Komm um 9 Uhr.", "Come at 9pm.", "Come at 9 o'clock."},
        {"de", "en", "Komm um 9 Uhr.", "Come at 9:00 p.m.", "Come at 9:00."},
        {"de", "en", "Beginn: 9 Uhr", "Start: 9 pm", "Start: 9 o'clock"},
        {"de", "en", "Komm um 9 Uhr abends.", "Come at 9 pm.", "Come at 9 pm."}};
    for (size_t i = 0; i < GANZ_COUNT(cases); i++) {
        answer = cases[i][3];
        expect(cases[i][0], cases[i][1], cases[i][2], fake_answer, cases[i][4]);
    }
}

static void times_are_mended(void **state)
{
    (void)state;
    static const char half[] = "Komm um 15.30 Uhr.";
    expect_time(half, "Come at 3:30.", "Come at 3:30 pm.");
    expect_time(half, "Come at 15.30 a.m.", "Come at 3:30 pm.");
    expect_time(half, "Come at 3.30 p.m. today.", "Come at 3.30 p.m. today.");
    expect_time(half, "Come at 15:30.", "Come at 15:30.");
    expect_time(half, "Come at 15.30 o'clock.", "Come at 3:30 pm.");
    expect_time(half, "Come with X1.", "Come with 3:30 pm.");
    expect_time("Komm um 20 Uhr.", "Come at 8.", "Come at 8 pm.");
    expect_time("Komm um 20 Uhr.", "Come at 20 a.m.", "Come at 8 pm.");
    expect_time("Komm um 0 Uhr.", "Come at midnight.", "Come at midnight.");
    expect_time("Zwischen 13 und 15 Uhr.", "Between 13 and 15.", "Between 1 and 3 pm.");
    expect_time("Etwa 8 kamen um 20 Uhr.", "About 8 came at 8pm.", "About 8 came at 8pm.");
    expect_time("Von 4 und 6, um 18 Uhr.", "Between 4 and 6, at 6.", "Between 4 and 6, at 6 pm.");
    expect_time("2:15 um 15 Uhr.", "2:15 at 3:00.", "2:15 at 3 pm.");
    expect_time("Am 18. Mai bis 18 Uhr.", "On May 18th until 18 p.m.", "On May 18th until 6 pm.");
    expect_time("Seit den 80ern: 8 bis 18 Uhr.", "Since the 80s: X1 to X2.", "Since the 80s: 8 am to 6 pm.");
    expect_time("Von 8 bis 18 Uhr.", "From 8 to 18 p.m.", "From 8 am to 6 pm.");
}

/* English times are counted to 24 in German: "9:15 AM" is no German. */
static void english_times_are_told(void **state)
{
    (void)state;
    static const char *const times[][2] = {
        {"Come at 9:15 AM.", "Come at 9:15 Uhr."},
        {"Come at 9.15pm!", "Come at 21:15 Uhr!"},
        {"Come at 12 p.m. today", "Come at 12 Uhr today"},
        {"Come at 12:05 a.m. today", "Come at 0:05 Uhr today"},
        {"Come until 12 a.m.", "Come until 24 Uhr."},
        {"Come at 12 a.m. or 12 p.m.", "Come at 0 Uhr or 12 Uhr."},
        {"Open 9am-5pm.", "Open 9–17 Uhr."},
        {"Open 9 a.m. to 12 a.m. daily", "Open 9 bis 24 Uhr daily"},
        {"11-2pm", "11–14 Uhr"},
        {"10:30-11 AM", "10:30–11 Uhr"},
        {"10–12 pm", "10–12 Uhr"},
        {"We come between 10 and 11 a.m. today", "We come between 10 und 11 Uhr today"},
        {"Sat 4 - 5 pm", "Sa 16–17 Uhr"},
        {"Room 4 - 5 pm talk", "Room 4 - 17 Uhr talk"},
        {"We saw 2 and 5 pm came", "We saw 2 and 17 Uhr came"},
        {"Come at 15:30 pm", "Come at 15:30 Uhr"},
        {"Come at 15:30", "Come at 15:30"},
        {"Come at 15 am", "Come at 15 am"},
        {"Come at 9:75 pm", "Come at 9:75 pm"},
        {"On 2024-10-5 pm", "On 2024-10-5 pm"},
        {"See 1.234.9 pm", "See 1.234.9 pm"},
        {"The 9 ams and 100 pm", "The 9 ams and 100 pm"},
        {"Come at 9 ", "Come at 9 "},
    };
    for (size_t i = 0; i < GANZ_COUNT(times); i++) {
        expect("en", "de", times[i][0], fake_identity, times[i][1]);
        expect("en", "fr", times[i][0], fake_identity, times[i][0]);
    }
}

static void expect_german_time(const char *in, const char *said, const char *wanted)
{
    answer = said;
    expect("en", "de", in, fake_answer, wanted);
}

static void english_times_are_mended(void **state)
{
    (void)state;
    static const char morning[] = "Come at 9:15 AM.", evening[] = "Come at 8 pm.";
    expect_german_time(morning, "Komm um 21:15 Uhr.", "Komm um 9:15 Uhr.");
    expect_german_time(morning, "Komm um 9.15 Uhr.", "Komm um 9.15 Uhr.");
    expect_german_time(morning, "Komm um 21 Uhr 15.", "Komm um 9:15 Uhr.");
    expect_german_time(morning, "Komm um 9:15 AM.", "Komm um 9:15 Uhr.");
    expect_german_time(morning, "Komm mit X1.", "Komm mit 9:15 Uhr.");
    expect_german_time(morning, "Komm um X1 Uhr.", "Komm um 9:15 Uhr.");
    expect_german_time(evening, "Komm um 8.", "Komm um 20 Uhr.");
    expect_german_time(evening, "Komm um acht.", "Komm um 20 Uhr.");
    expect_german_time(evening, "Komm um 8 Uhr abends.", "Komm um 8 Uhr abends.");
    expect_german_time(evening, "Komm heute Abend um acht.", "Komm heute Abend um acht.");
    expect_german_time("Come at 12 a.m.", "Komm um Mitternacht.", "Komm um Mitternacht.");
    expect_german_time("Come at 12 p.m.", "Komm mittags.", "Komm mittags.");
    expect_german_time("Come at 12 p.m.", "Komm um zw\xC3\xB6lf Uhr.", "Komm um zw\xC3\xB6lf Uhr.");
    expect_german_time("One at 8 a.m. and one at 8 p.m.", "Eine um 20 Uhr und eine um 8 Uhr.",
                       "Eine um 20 Uhr und eine um 8 Uhr.");
    expect_german_time("About 8 came at 8pm.", "Etwa 8 kamen um 8.", "Etwa 8 kamen um 20 Uhr.");
    expect_german_time("From 9am to 5pm.", "Von 9 bis 17 Uhr.", "Von 9 bis 17 Uhr.");
    expect_german_time("From 9am to 5pm.", "Von 9 Uhr bis 5 Uhr.", "Von 9 bis 17 Uhr.");
    expect_german_time("Between 9am and 5pm.", "Zwischen 21:00 und 17:00 Uhr.", "Zwischen 9 und 17:00 Uhr.");
}

/* ---- lists -------------------------------------------------------------------------------------- */

/* `count` items with commas between them, in a sentence: the line that a translator sees (NULL: any), and that all
 * come back. */
static void expect_list(const char *item, int count, const char *line)
{
    ganz_text in = {0};
    ganz_document *doc;
    ganz_segment s;
    ganz_error err;
    fake_add(&in, "We can use ", 11);
    for (int i = 0; i < count; i++) {
        if (i > 0) fake_add(&in, ", ", 2);
        fake_add(&in, item, strlen(item));
    }
    fake_add(&in, " here.", 6);
    assert_int_equal(ganz_document_open(&doc, in.text, in.bytes, NULL, &err), GANZ_OK);
    assert_int_equal(ganz_document_next(doc, &s, &err), GANZ_OK);
    if (line) assert_string_equal(s.text, line);
    ganz_document_close(&doc);
    ganz_text out = translated(NULL, in.text, in.bytes, fake_identity);
    assert_int_equal(out.bytes, in.bytes);
    assert_memory_equal(out.text, in.text, in.bytes);
    ganz_text_free(&out);
    out = translated(NULL, in.text, in.bytes, fake_shout);
    assert_int_equal(occurrences(&out, item), count);
    assert_int_equal(occurrences(&out, " HERE."), 1);
    ganz_text_free(&out);
    ganz_text_free(&in);
}

/* A list is one word to a translator, however long it is; numbers are none of it. */
static void lists_are_words(void **state)
{
    (void)state;
    expect_list("%s", 26, "We can use X1 here.");
    expect_list("{x}", 90, "We can use X1 here.");
    expect_list("%s", 4, "We can use %s, %s, %s, %s here.");
    expect_list("1984", 9, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glossary_holds),
        cmocka_unit_test(terms_alone_hold),
        cmocka_unit_test(currencies_are_kept),
        cmocka_unit_test(currencies_are_placed),
        cmocka_unit_test(amounts_are_taken_out),
        cmocka_unit_test(suffixes_are_kept),
        cmocka_unit_test(suffixes_are_no_times),
        cmocka_unit_test(spans_are_told),
        cmocka_unit_test(letters_are_opened_and_closed),
        cmocka_unit_test(names_below_letters_stay),
        cmocka_unit_test(letters_begin_with_capitals),
        cmocka_unit_test(letters_say_the_form),
        cmocka_unit_test(slips_are_mended),
        cmocka_unit_test(times_are_told),
        cmocka_unit_test(results_and_halves),
        cmocka_unit_test(times_are_mended),
        cmocka_unit_test(english_times_are_told),
        cmocka_unit_test(english_times_are_mended),
        cmocka_unit_test(lists_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
