/* Forms of address: what the German rules make of sentences, which pairs get marks, and files that are refused. */
#include "test.h"

#include "folder.h"
#include "ganz/corpus.h"
#include "train/corpus.h"
#include "train/formality.h"
#include "translate/address.h"

#define OK(call) assert_int_equal((call), GANZ_OK)
#define RULES GANZ_TESTS_DIR "/../recipes/formality-en-de.txt"

#define F GANZ_FORM_FORMAL
#define I GANZ_FORM_INFORMAL
#define N GANZ_FORM_NEUTRAL
#define U GANZ_FORM_UNCLEAR

static const struct {
    ganz_form form;
    const char *source, *target;
} cases[] = {
    /* a capital inside of a sentence */
    {F, "Do you have time?", "Haben Sie Zeit?"},
    {F, "Come in, please.", "Kommen Sie bitte herein."},
    {F, "I will help you.", "Ich werde Ihnen helfen."},
    {F, "Is that your umbrella?", "Ist das Ihr Regenschirm?"},
    {F, "Yes, you can.", "Ja, Sie können das."},
    {F, "She knows that you are here.", "Sie weiß, dass Sie hier sind."},
    /* the first word of a sentence has a capital in any case */
    {F, "You are right.", "Sie haben recht."},
    {N, "They are right.", "Sie haben recht."},
    {N, "She is right.", "Sie hat recht."},
    {U, "She told you.", "Sie hat es gesagt."},
    {U, "They like you.", "Sie mögen einen."},
    {F, "Your application was received.", "Ihre Bewerbung ist eingegangen."},
    {N, "Her application was received.", "Ihre Bewerbung ist eingegangen."},
    {U, "You lost it.", "Sie haben es verloren."},
    {U, "Your dog is nice.", "Ihr Hund ist nett."}, /* or: ihr, several people */
    /* quotation marks, dots, colons and dashes begin a sentence too */
    {N, "He said, \"They are late.\"", "Er sagte: „Sie kommen zu spät.“"},
    {N, "Anna: She sings.", "Anna: Sie singt."},
    {N, "It rains. They stay.", "Es regnet. Sie bleiben."},
    {N, "The women (they were three)", "Die Frauen (Sie waren zu dritt)"},
    {N, "Anna – she sings", "Anna – Sie singt"},
    {F, "He asked: \"Are you coming?\"", "Er fragte: „Kommen Sie mit?“"},
    /* the informal form, whatever the case */
    {I, "Do you have time?", "Hast du Zeit?"},
    {I, "You are right.", "Du hast recht."},
    {I, "I love you.", "Ich liebe dich."},
    {I, "Is that your dog?", "Ist das dein Hund?"},
    {I, "Dear Anna, thank you for your letter.", "Liebe Anna, danke für Deinen Brief."},
    {I, "I can hear you all.", "Ich kann euch alle hören."},
    {I, "You are all late.", "Ihr seid alle zu spät."},
    {I, "Where are you all?", "Wo seid ihr alle?"},
    /* ihr is also her and their */
    {N, "I gave her a book.", "Ich gab ihr ein Buch."},
    {N, "Their house is big.", "ihr Haus ist groß."},
    {U, "You all go now.", "Geht ihr jetzt."},
    /* both forms, or none */
    {U, "\"Do you know me?\" - \"Yes, I know you.\"", "„Kennen Sie mich?“ – „Ja, ich kenne dich.“"},
    {U, "You all have time?", "Habt Ihr Zeit?"}, /* the old capital */
    {N, "The house is big.", "Das Haus ist groß."},
    {U, "You never know.", "Man weiß nie."},
    {U, "WHERE ARE THEY", "WO SIND SIE"},
    {U, "Take this", "NIMM DEIN GELD"},
    {N, "Cirque du Soleil in Paris", "Cirque du Soleil in Paris"},
    {N, "They did it without haste.", "Das geschah ohne Hast."},
    {N, "Sieben Siege", "Sieben Siege"}, /* whole words only */
    {F, "YOU'RE welcome at your place", "Willkommen bei Ihnen"},
};

static ganz_form judge(const ganz_formality_rules *f, const char *source, const char *target)
{
    const ganz_pair_text p = {source, target, strlen(source), strlen(target)};
    ganz_text lower = {0};
    ganz_form form;
    assert_true(ganz_formality_judge(f, &p, &lower, &form));
    ganz_text_free(&lower);
    return form;
}

static void test_german(void **state)
{
    (void)state;
    ganz_formality_rules f;
    OK(ganz_formality_read(&f, RULES, NULL));
    assert_string_equal(f.marks[0], "<m1>");
    assert_string_equal(f.marks[1], "<m2>");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (judge(&f, cases[i].source, cases[i].target) != cases[i].form)
            fail_msg("%s | %s: not %d", cases[i].source, cases[i].target, cases[i].form);
    ganz_formality_free(&f);
}

static void write_text(const char *path, const char *text)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Another language brings words of its own, and need not say anything about sources. */
static void test_other_language(void **state)
{
    (void)state;
    ganz_formality_rules f;
    write_text("fr",
               "formal <b>\r\ninformal <a>\n\nformal-anywhere vous Vous votre vos\ninformal-anywhere tu Tu toi\n");
    OK(ganz_formality_read(&f, "fr", NULL));
    assert_string_equal(f.marks[0], "<b>");
    assert_true(f.neutral == 0);
    assert_int_equal(judge(&f, "x", "Avez-vous le temps ?"), F);
    assert_int_equal(judge(&f, "x", "Tu viens ?"), I);
    assert_int_equal(judge(&f, "x", "Tu viens avec vous ?"), U);
    assert_int_equal(judge(&f, "x", "Il pleut."), N);
    ganz_formality_free(&f);
}

static void test_refused(void **state)
{
    (void)state;
#define BOTH "formal <a>\ninformal <b>\n"
#define WORDS "formal-anywhere x\ninformal-anywhere y\n"
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "both marks are needed"},
        {"formal <a>\n" WORDS, "both marks are needed"},
        {"formal <a>\ninformal <a>\n" WORDS, "two marks"},
        {"formal <a>\nformal <b>\n", "rules:2: the mark of this form was given before"},
        {"formal a\n", "rules:1: a mark is small letters"},
        {"formal\n", "rules:1: one word"},
        {"formal <a> <b>\n", "rules:1: one word"},
        {"formal <aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>\n", "at most 31"},
        {BOTH "formal-anywhere x\n", "both forms need words"},
        {BOTH "formal-alone x\ninformal-anywhere y\n", "need \"you\" words"},
        {BOTH WORDS "neutral 1.5\n", "rules:5: the share"},
        {BOTH WORDS "neutral x\n", "rules:5: the share"},
        {BOTH WORDS "neutral 0\nneutral 0\n", "rules:6: the share of neutral pairs was given before"},
        {BOTH "formal-anywhere x-y\n", "rules:3: a word of address"},
        {BOTH "formal-nowhere x\n", "rules:3: a line begins with"},
        {BOTH "you \xFF\n", "rules:3: not valid UTF-8"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ganz_formality_rules f;
        ganz_error err = {0};
        write_text("rules", bad[i].text);
        assert_int_equal(ganz_formality_read(&f, "rules", &err), GANZ_EFORMAT);
        if (!strstr(err.message, bad[i].why)) fail_msg("%zu: %s", i, err.message);
    }
    ganz_formality_rules f;
    assert_int_equal(ganz_formality_read(&f, "nowhere", NULL), GANZ_EIO);
    FILE *const many = fopen("many", "wb");
    for (int i = 0; i < 1001; i++) fprintf(many, "you w%d\n", i);
    fclose(many);
    assert_int_equal(ganz_formality_read(&f, "many", NULL), GANZ_ELIMIT);
}

/* As many as the shares say, within five standard deviations; either mark for neutral pairs, none for unclear ones. */
static void test_draw(void **state)
{
    (void)state;
    enum { PAIRS = 20000 };
    const ganz_formality_rules f = {.neutral = 0.1};
    int formal = 0, copies = 0, either[2] = {0}, seeds = 0;
    for (int i = 0; i < PAIRS; i++) {
        const ganz_draw draw = {.seed = 1, .line = (uint64_t)i}, other = {.seed = 2, .line = (uint64_t)i};
        const int mark = ganz_formality_draw(&f, F, 0.5, &draw, 0), copy = ganz_formality_draw(&f, F, 0.5, &draw, 1);
        const int neutral = ganz_formality_draw(&f, N, 0.5, &draw, 0);
        assert_true(mark == -1 || mark == 0);
        assert_int_equal(ganz_formality_draw(&f, I, 0.5, &draw, 0), mark == 0 ? 1 : -1);
        assert_int_equal(ganz_formality_draw(&f, U, 1, &draw, 0), -1);
        assert_int_equal(ganz_formality_draw(&f, N, 0, &draw, 0), -1);
        assert_int_equal(ganz_formality_draw(&f, F, 1, &draw, 0), 0);
        formal += mark == 0;
        copies += mark == 0 && copy == 0;
        seeds += mark == 0 && ganz_formality_draw(&f, F, 0.5, &other, 0) == 0;
        if (neutral >= 0) either[neutral]++;
    }
    assert_true(formal > 9646 && formal < 10354);                                 /* 10000, 70.7 */
    assert_true(copies > 4693 && copies < 5307 && seeds > 4693 && seeds < 5307);  /* 5000, 61.2 */
    for (int i = 0; i < 2; i++) assert_true(either[i] > 845 && either[i] < 1155); /* 1000, 30.8 */
}

/* The mark of a form stands before the source of its pairs and copies, behind the tag; the corpus names the marks. */
static void test_corpus(void **state)
{
    (void)state;
    static const char vocab_text[] = "'<pad>_'\n'<EOS>_'\n'<m2>_'\n'<bt>_'\n'<m1>_'\n'_'\n";
    char text[4096];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", vocab_text);
    for (const char *c = "\\u;0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.?!<> "; *c; c++)
        n += (size_t)snprintf(text + n, sizeof text - n, "'%c'\n", *c);
    write_text("vocab", text);
    write_text("s", "Are you there?\nAre you there?\nIt rains.\nYou never know.\n");
    write_text("t", "Sind Sie da?\nBist du da?\nEs regnet.\nMan kann das nie wissen.\n");
    ganz_vocab *v;
    ganz_corpus *c;
    ganz_prepare_options o;
    ganz_prepare_counts counts;
    ganz_error err;
    ganz_prepare_defaults(&o);
    o.formality = RULES;
    const ganz_corpus_input in = {
        .source = "s", .target = "t", .weight = 1, .tag = "<bt>", .formality = 1, .copies = {[GANZ_COPY_UPPER] = 1}};
    assert_int_equal(ganz_vocab_open(&v, "vocab", &err), GANZ_OK);
    if (ganz_corpus_prepare("out", v, &in, 1, &o, &counts, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_int_equal(counts.formal, 1);
    assert_int_equal(counts.informal, 1);
    OK(ganz_corpus_open(&c, "out", &err));
    assert_string_equal(c->formal_mark, "<m1>");
    assert_string_equal(c->informal_mark, "<m2>");
    assert_int_equal(c->pairs, 8);
    const int bt = ganz_vocab_mark(v, "<bt>"), formal = ganz_vocab_mark(v, "<m1>"),
              informal = ganz_vocab_mark(v, "<m2>");
    for (uint32_t i = 0; i < 8; i++) {
        int32_t source[100], target[100];
        OK(ganz_corpus_ids(c, i, source, target, &err));
        assert_int_equal(source[0], bt);
        const bool marked = source[1] == formal || source[1] == informal;
        if (i < 4) assert_int_equal(source[1], i < 2 ? formal : informal);
        if (i >= 6) assert_false(marked);
    }
    ganz_corpus_close(&c);
    ganz_corpus_input wrong = in;
    wrong.formality = 1.5;
    assert_int_equal(ganz_corpus_prepare("no", v, &wrong, 1, &o, &counts, &err), GANZ_EINVAL);
    o.formality = NULL;
    assert_int_equal(ganz_corpus_prepare("no", v, &in, 1, &o, &counts, &err), GANZ_EINVAL);
    assert_non_null(strstr(err.message, "need a file of words of address"));
    ganz_vocab_close(&v);
}

/* Which German words the search for an informal translation keeps away from, by the English sentence. */
static void test_avoided(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int count, inside; /* of eight words, the first of which may always begin a sentence */
    } sentences[] = {
        {"Please sign here.", 8, 1},
        {"You can ask me.", 8, 1},
        {"Please sign pages 3 and 9 and send it back.", 8, 8}, /* "Sie" may be "it" at the beginning */
        {"They called you.", 8, 8},
        {"It's yours", 8, 8},
        {"It\xE2\x80\x99s yours", 8, 8},
        {"Tell \xE2\x80\x9Cher\xE2\x80\x9D", 0, 0},
        {"Note: they called you.", 0, 0}, /* and also behind the colon */
        {"She said \"they called you\"", 0, 0},
        {"It rains. Please come.", 0, 0},
        {"Please note: come at 8.", 8, 1},
        {"The German word Sie is polite.", 0, 0},
    };
    const ganz_address a = {.ids = {11, 12, 13, 14, 15, 16, 17, 18}, .count = 8, .inside = 1, .mark = 5};
    for (size_t i = 0; i < GANZ_COUNT(sentences); i++) {
        const ganz_avoided v = ganz_address_avoided(&a, 5, sentences[i].text, strlen(sentences[i].text));
        if (v.count != sentences[i].count || v.inside != sentences[i].inside)
            fail_msg("%s: %d words, %d inside", sentences[i].text, v.count, v.inside);
    }
    assert_int_equal(ganz_address_avoided(&a, 4, "You", 3).count, 0); /* the formal mark */
    assert_int_equal(ganz_address_avoided(&(ganz_address){.mark = -1}, -1, "You", 3).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_german), IN_FOLDER(test_other_language),
                                       IN_FOLDER(test_refused),       cmocka_unit_test(test_draw),
                                       IN_FOLDER(test_corpus),        cmocka_unit_test(test_avoided)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
