/* Translates each line of standard input: cc translate.c $(pkg-config --cflags --libs ganz) && ./a.out model < text */
#include <stdio.h>

#include <ganz/ganz.h>
#include <ganz/io.h>

int main(int argc, char **argv)
{
    ganz_model *model = NULL;
    ganz_translator *translator = NULL;
    ganz_lines *lines = NULL;
    ganz_error err = {.status = GANZ_EINVAL, .message = "usage: translate MODEL < TEXT"};

    ganz_status status = argc == 2 ? ganz_model_open(&model, argv[1], &err) : GANZ_EINVAL;
    if (status == GANZ_OK) status = ganz_translator_open(&translator, model, NULL, &err);
    if (status == GANZ_OK) status = ganz_lines_open(&lines, "-", &err);
    while (status == GANZ_OK) {
        ganz_line line = {.text = NULL};
        const ganz_result *results;
        status = ganz_lines_next(lines, &line.text, &line.bytes, &err);
        if (status != GANZ_OK || !line.text) break;
        status = ganz_translate(translator, &line, 1, &results, &err);
        if (status == GANZ_OK) puts(results[0].best[0].text);
    }
    if (status != GANZ_OK) fprintf(stderr, "%s\n", err.message);
    ganz_lines_close(&lines);
    ganz_translator_close(&translator);
    ganz_model_close(&model);
    return status != GANZ_OK;
}
