/* Guards and the default model: generated sentences with addresses, placeholders, code, pictures and numbers, of which
 * each must come out exactly once. GANZ_SENTENCES says how many (300). */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/rng.h"
#include "ganz/document.h"

static const char *const frames[] = {
    "Please send %s to %s before Friday.",
    "The file %s could not be found in %s.",
    "Open %s and click on %s to continue.",
    "We have received %s from %s, thank you very much!",
    "You can find more information at %s or ask %s.",
    "If %s is not set, the value of %s is used instead.",
    "%s has invited you to join %s.",
    "Do you really want to delete %s and %s?",
    "The command %s prints %s on the screen.",
    "My friend %s likes %s very much.",
    "It was not %s but %s that caused the problem.",
    "Contact %s (or %s) if you have any questions.",
    "%s: the connection to %s was lost",
    "In the beginning there was %s, and in the end there was only %s.",
    "I think that %s, which I bought yesterday, is better than %s.",
    "Because %s was closed, we had to use %s.",
    "The old man looked at %s and said that %s was the best he had ever seen.",
    "Copy %s to %s.",
    "PLEASE DO NOT TOUCH %s OR %s!",
    "when %s is ready, press %s and wait for a moment",
};

static const char *const values[] = {
    "https://www.example.org/a/b?c=1&d=2#e",
    "http://example.com",
    "www.example.net/shop",
    "jane.doe@example.org",
    "info+news@mail.example.de",
    "C:\\Users\\Public\\notes.txt",
    "C:\\Program Files\\App\\run.exe",
    "/usr/share/doc/readme.txt",
    "~/.config/app",
    "../lib/main.c",
    "%s",
    "%d",
    "%1$s",
    "%2$d",
    "%.2f",
    "%(name)s",
    "{name}",
    "{0}",
    "{{team}}",
    "{{ user.name }}",
    "${HOME}",
    "$PATH",
    "%{count}",
    "<%= order.id %>",
    "{% block x %}",
    "31/12/2024",
    "2024-03-04",
    "`x + 1`",
    "`git commit -m \"a b\"`",
    "max_value",
    "get_name()",
    "std::vector",
    "--verbose",
    "@anna",
    "#release",
    "\xF0\x9F\x98\x80",
    "\xF0\x9F\x8D\x95\xF0\x9F\x8D\x9D",
    "\xE2\x9D\xA4\xEF\xB8\x8F",
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
    "\xD0\x9C\xD0\xBE\xD1\x81\xD0\xBA\xD0\xB2\xD0\xB0",
    "\xE6\x9D\xB1\xE4\xBA\xAC",
    "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",
    "\xCE\xB1\xCE\xB2\xCE\xB3",
    "192.168.0.1",
    "3.14.15",
    "1984",
    "2047",
    "73921",
};

typedef struct made {
    char text[512];
    const char *first, *second;
} made;

static void make(made *m, uint32_t seed)
{
    m->first = values[ganz_random_below(1, 1, seed, GANZ_COUNT(values))];
    do m->second = values[ganz_random_below(1, 2, seed++, GANZ_COUNT(values))];
    while (strstr(m->first, m->second) || strstr(m->second, m->first));
    const char *frame = frames[ganz_random_below(1, 3, seed, GANZ_COUNT(frames))];
    const char *const one = strstr(frame, "%s"), *const two = strstr(one + 2, "%s");
    snprintf(m->text, sizeof m->text, "%.*s%s%.*s%s%s", (int)(one - frame), frame, m->first, (int)(two - one - 2),
             one + 2, m->second, two + 2);
}

static int occurrences(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) count++;
    return count;
}

static int expect_once(const char *out, const made *m, const char *what)
{
    if (occurrences(out, what) == 1) return 0;
    print_message("%s\n%s\n%s is there %d times\n", m->text, out, what, occurrences(out, what));
    return 1;
}

static void all_survive(void **state)
{
    (void)state;
    const char *const wanted = getenv("GANZ_SENTENCES");
    const size_t count = wanted ? (size_t)atol(wanted) : 300;
    made *const m = calloc(count, sizeof *m);
    char *const text = calloc(count, sizeof m->text);
    ganz_model *model;
    ganz_translator *translator;
    ganz_translator_options o;
    ganz_document *doc;
    ganz_error err;
    ganz_text out = {0};
    for (size_t i = 0; i < count; i++) {
        make(&m[i], (uint32_t)i * 7);
        strcat(strcat(text + (i ? strlen(text) : 0), m[i].text), "\n");
    }
    ganz_translator_defaults(&o);
    o.alignment = true;
    o.beam = 2;
    assert_int_equal(ganz_model_open(&model, GANZ_TESTS_DIR "/../models/en-de.safetensors", &err), GANZ_OK);
    assert_int_equal(ganz_translator_open(&translator, model, &o, &err), GANZ_OK);
    assert_int_equal(ganz_document_open(&doc, text, strlen(text), NULL, &err), GANZ_OK);
    assert_int_equal(ganz_translate_document(translator, doc, &err), GANZ_OK);
    assert_int_equal(ganz_document_write(doc, &out, &err), GANZ_OK);
    int lost = 0, same = 0;
    char *line = out.text;
    for (size_t i = 0; i < count; i++) {
        char *const end = memchr(line, '\n', out.bytes - (size_t)(line - out.text));
        assert_non_null(end);
        *end = '\0';
        lost += expect_once(line, &m[i], m[i].first) + expect_once(line, &m[i], m[i].second);
        same += strcmp(line, m[i].text) == 0;
        if (getenv("GANZ_SHOW")) print_message("%s\n%s\n\n", m[i].text, line);
        line = end + 1;
    }
    print_message("%zu sentences, %d lost, %d not translated\n", count, lost, same);
    assert_int_equal(lost, 0);
    assert_true(same * 10 < (int)count);
    ganz_text_free(&out);
    ganz_document_close(&doc);
    ganz_translator_close(&translator);
    ganz_model_close(&model);
    free(m);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
