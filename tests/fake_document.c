/* fake_document TRANSLATOR IN OUT [SEED]: translates a document without a model, for scripts that look at the result.
 * TRANSLATOR: identity, shout, reverse (with links that are right), twice, nothing. SEED: links that make no sense. */
#include <stdio.h>

#include "documents.h"
#include "reversed.h"

/* ---- files --------------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *bytes)
{
    FILE *const file = fopen(path, "rb");
    char *data = NULL;
    if (!file || fseek(file, 0, SEEK_END) != 0) return perror(path), NULL;
    *bytes = (size_t)ftell(file);
    rewind(file);
    data = malloc(*bytes + 1);
    if (!data || fread(data, 1, *bytes, file) != *bytes) perror(path);
    fclose(file);
    return data;
}

static int write_file(const char *path, const ganz_text *text)
{
    FILE *const file = fopen(path, "wb");
    if (!file) return perror(path), 1;
    const int good = fwrite(text->text, 1, text->bytes, file) == text->bytes;
    return fclose(file) == 0 && good ? 0 : 1;
}

static ganz_status translate(ganz_document *doc, const char *how, uint32_t seed, ganz_error *err)
{
    static const struct {
        const char *name;
        fake_translator *translate;
    } known[] = {{"identity", fake_identity}, {"shout", fake_shout}, {"twice", fake_twice}, {"nothing", fake_nothing}};
    if (strcmp(how, "reverse") == 0 && seed == 0) return fake_translate_reversed(doc, err);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, how) == 0) return fake_translate_linked(doc, known[i].translate, seed, err);
    return fake_translate_linked(doc, fake_reverse, seed, err);
}

int main(int argc, char **argv)
{
    ganz_document_options options;
    ganz_document *doc = NULL;
    ganz_error err = {0};
    ganz_text out = {0};
    size_t bytes;
    if (argc < 4) return fprintf(stderr, "fake_document TRANSLATOR IN OUT [SEED]\n"), 2;
    char *const data = read_file(argv[2], &bytes);
    if (!data) return 1;
    ganz_document_defaults(&options);
    options.path = argv[2];
    ganz_status status = ganz_document_open(&doc, data, bytes, &options, &err);
    if (status == GANZ_OK) status = translate(doc, argv[1], argc > 4 ? (uint32_t)atoi(argv[4]) : 0, &err);
    if (status == GANZ_OK) status = ganz_document_write(doc, &out, &err);
    if (status != GANZ_OK) fprintf(stderr, "%s: %s\n", argv[2], err.message);
    const int result = status == GANZ_OK ? write_file(argv[3], &out) : 1;
    ganz_document_close(&doc);
    ganz_text_free(&out);
    free(data);
    return result;
}
