/* Any bytes as the texts that lie beside foreign models: options in JSON and YAML, vocabularies in four forms. */
#include "fuzz.h"
#include "import/options.h"
#include "import/words.h"

static void read_options(const char *text, size_t bytes)
{
    ganz_options a = {0}, b = {0};
    int number;
    double number_too;
    bool flag;
    (void)ganz_options_json(&a, text, bytes, "fuzz", NULL);
    (void)ganz_options_yaml(&b, text, bytes, "fuzz", NULL);
    (void)ganz_options_int(&a, "d_model", 1, &number, NULL);
    (void)ganz_options_real(&b, "normalize", 1, &number_too, NULL);
    (void)ganz_options_flag(&a, "scale_embedding", false, &flag, NULL);
    FUZZ_EXPECT(a.count <= GANZ_OPTIONS_MOST && b.count <= GANZ_OPTIONS_MOST);
    ganz_options_close(&a);
    ganz_options_close(&b);
}

static void check_words(ganz_words *w, ganz_status status)
{
    for (int i = 0; status == GANZ_OK && i < w->count && i < 100; i++)
        if (w->texts[i]) FUZZ_EXPECT(ganz_words_find(w, w->texts[i]) >= 0);
    ganz_words_close(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *const text = (const char *)data;
    ganz_words w = {0};
    read_options(text, bytes);
    check_words(&w, ganz_words_json(&w, text, bytes, "fuzz", NULL));
    check_words(&w, ganz_words_yaml(&w, text, bytes, "fuzz", NULL));
    check_words(&w, ganz_words_lines(&w, text, bytes, false, 0, "fuzz", NULL));
    check_words(&w, ganz_words_lines(&w, text, bytes, true, 4, "fuzz", NULL));
    return 0;
}
