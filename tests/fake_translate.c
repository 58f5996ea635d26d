/* fake_translate FORMAT TRANSLATOR [FILE]: a document through a translator without a model (identity, umlauts, shout,
 * reverse, twice, nothing; turned: reverse, with links that say so) to standard output. tools/check_structure.py and
 * tools/office_check.sh compare what comes out. */
#include <stdio.h>

#include "reversed.h"
#include "skeletons.h"

static const struct {
    const char *name;
    fake_translator *translate;
} translators[] = {{"identity", fake_identity}, {"umlauts", fake_umlauts}, {"shout", fake_shout},
                   {"reverse", fake_reverse},   {"twice", fake_twice},     {"nothing", fake_nothing}};

static void read_all(FILE *file, ganz_text *text)
{
    char part[65536];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) fake_add(text, part, n);
}

static fake_translator *find_translator(const char *name)
{
    for (size_t i = 0; i < GANZ_COUNT(translators); i++)
        if (strcmp(translators[i].name, name) == 0) return translators[i].translate;
    return NULL;
}

static ganz_status turned_document(ganz_text *out, const ganz_format *format, const ganz_text *in, ganz_error *err)
{
    ganz_document *doc;
    ganz_document_options options;
    ganz_document_defaults(&options);
    ganz_status status = ganz_document_open_as(&doc, format, in->text ? in->text : "", in->bytes, &options, err);
    if (status == GANZ_OK) status = fake_translate_reversed(doc, err);
    if (status == GANZ_OK) status = ganz_document_write(doc, out, err);
    ganz_document_close(&doc);
    return status;
}

int main(int argc, char **argv)
{
    const ganz_format *const format = argc > 2 ? ganz_format_named(argv[1]) : NULL;
    fake_translator *const translate = argc > 2 ? find_translator(argv[2]) : NULL;
    const bool turned = argc > 2 && strcmp(argv[2], "turned") == 0;
    FILE *const file = argc > 3 ? fopen(argv[3], "rb") : stdin;
    ganz_text in = {0}, out = {0};
    ganz_error err = {0};
    if (!format || (!translate && !turned))
        return fprintf(stderr, "usage: fake_translate FORMAT TRANSLATOR [FILE]\n"), 2;
    if (!file) return perror(argv[3]), 1;
    read_all(file, &in);
    if (file != stdin) fclose(file);
    const ganz_status status =
        turned ? turned_document(&out, format, &in, &err)
               : fake_document(&out, format, in.text ? in.text : "", in.bytes, true, translate, &err);
    if (status != GANZ_OK) fprintf(stderr, "fake_translate: %s\n", err.message);
    else fwrite(out.text ? out.text : "", 1, out.bytes, stdout);
    free(in.text);
    ganz_text_free(&out);
    return status == GANZ_OK ? 0 : 1;
}
