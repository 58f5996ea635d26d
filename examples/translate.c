/* Translates each line of standard input: cc translate.c $(pkg-config --cflags --libs ganz) && ./a.out model < text */
#include <stdio.h>
#include <string.h>

#include <ganz/ganz.h>

int main(int argc, char **argv)
{
    ganz_model *model = NULL;
    ganz_translator *translator = NULL;
    ganz_error err = {GANZ_EINVAL, "usage: translate MODEL < TEXT"};
    char line[4096];

    if (argc != 2 || ganz_model_open(&model, argv[1], &err) != GANZ_OK ||
        ganz_translator_open(&translator, model, NULL, &err) != GANZ_OK) {
        fprintf(stderr, "%s\n", err.message);
        ganz_model_close(&model);
        return 1;
    }
    int failed = 0;
    while (!failed && fgets(line, sizeof line, stdin)) {
        const ganz_line one = {line, strcspn(line, "\n"), NULL, 0};
        const ganz_result *results;
        failed = ganz_translate(translator, &one, 1, &results, &err) != GANZ_OK;
        puts(failed ? err.message : results[0].best[0].text);
    }
    ganz_translator_close(&translator);
    ganz_model_close(&model);
    return failed;
}
