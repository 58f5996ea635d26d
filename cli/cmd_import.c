/* ganz import: a model of another program becomes a model of ganz, and says one sentence as a check. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "ganz/import.h"
#include "ganz/inspect.h"

/* clang-format off */
const cli_command cli_about_import = {
"import", "FOLDER|FILE --out MODEL [OPTIONS]", "take over a model of another program",
"FOLDER or FILE is a folder of Hugging Face with a MarianMT model (OPUS-MT; model.safetensors or pytorch_model.bin), a\n"
"folder of CTranslate2, a package of Argos (.argosmodel), a Marian model (.npz, or .bin with integer codes) with its\n"
"vocabulary beside it, or a checkpoint of fairseq (.pt) with its dictionaries. What it is is found out by looking.\n"
"SentencePiece models are taken from the same folder: source.spm and target.spm, or sentencepiece.model.\n"
"\n"
"Prints what was found, then translates a sentence as a check. Origin and licence are noted in the model, as far as the\n"
"files tell; ganz inspect shows them. What ganz has no network for is refused. Nothing in the files is run.\n",
};
/* clang-format on */

typedef struct job {
    const char *from, *out, *sentence;
    ganz_import_options options;
    bool quiet;
} job;

/* One sentence of everyday life for each language that has one here. */
static const char *sentence_in(const char *language)
{
    static const char *const sentences[][2] = {
        {"en", "The train leaves at half past seven."},
        {"de", "Der Zug f\xC3\xA4hrt um halb acht ab."},
        {"fr", "Le train part \xC3\xA0 sept heures et demie."},
        {"es", "El tren sale a las siete y media."},
        {"pt", "O trem parte \xC3\xA0s sete e meia."},
        {"it", "Il treno parte alle sette e mezza."},
        {"nl", "De trein vertrekt om half acht."},
        {"ru", "\xD0\x9F\xD0\xBE\xD0\xB5\xD0\xB7\xD0\xB4 \xD0\xBE\xD1\x82\xD1\x85\xD0\xBE\xD0\xB4\xD0\xB8\xD1\x82 "
               "\xD0\xB2 \xD1\x81\xD0\xB5\xD0\xBC\xD1\x8C \xD1\x87\xD0\xB0\xD1\x81\xD0\xBE\xD0\xB2."},
        {"zh", "\xE4\xBB\x8A\xE5\xA4\xA9\xE5\xA4\xA9\xE6\xB0\x94\xE5\xBE\x88\xE5\xA5\xBD\xE3\x80\x82"},
    };
    for (size_t i = 0; language && i < sizeof sentences / sizeof sentences[0]; i++)
        if (strcmp(sentences[i][0], language) == 0) return sentences[i][1];
    return sentences[0][1];
}

static void print_labels(const ganz_model *model)
{
    const ganz_vocab *const vocab = ganz_model_vocab(model);
    for (int i = 0; ganz_vocab_label(vocab, i); i++)
        printf("%s%s", i == 0 ? "  languages   " : ", ", ganz_vocab_label(vocab, i));
    if (ganz_vocab_label(vocab, 0)) puts(" (asked for by >>NAME<< in front of a line)");
}

static void print_found(const ganz_import_report *r, const ganz_model *model)
{
    ganz_model_facts f;
    ganz_model_describe(model, &f);
    printf("%s\n", r->origin);
    printf("  shape       width %d, feed-forward %d, %d heads, %d and %d layers\n", f.width, f.ffn, f.heads,
           f.encoder_layers, f.decoder_layers);
    if (f.kind[0]) printf("  network     %s\n", f.kind);
    printf("  numbers     %lld in %d tensors\n", f.parameters, r->tensors);
    printf("  vocabulary  %d entries", r->target_entries);
    if (r->source_entries != r->target_entries) printf(", %d of the source", r->source_entries);
    puts(r->sentencepiece ? ", SentencePiece"
         : r->subwords    ? ", subwords"
                          : ", words between spaces: no SentencePiece model was found");
    print_labels(model);
    if (f.source_language && f.target_language)
        printf("  translates  %s to %s\n", f.source_language, f.target_language);
    printf("  licence     %s\n", f.licence ? f.licence : "not said by the files: ask those who made it");
}

static ganz_status translate_one(const job *j, const ganz_model *model, ganz_error *err)
{
    ganz_model_facts f;
    ganz_translator *translator;
    const ganz_result *results;
    ganz_model_describe(model, &f);
    const char *const text = j->sentence ? j->sentence : sentence_in(f.source_language);
    const ganz_line line = {.text = text, .bytes = strlen(text)};
    ganz_status status = ganz_translator_open(&translator, model, NULL, err);
    if (status != GANZ_OK) return status;
    status = ganz_translate(translator, &line, 1, &results, err);
    if (status == GANZ_OK && !j->quiet) printf("  check       %s -> %s\n", text, results[0].best[0].text);
    ganz_translator_close(&translator);
    return status;
}

/* The model comes to its place when it has translated a sentence: what does not must not replace one that does. */
static ganz_status check_model(void *context, const ganz_model *model, const ganz_import_report *report,
                               ganz_error *err)
{
    const job *const j = context;
    if (!j->quiet) print_found(report, model);
    return translate_one(j, model, err);
}

static int import(job *j)
{
    ganz_error err = {0};
    j->options.check = check_model;
    j->options.context = j;
    return ganz_import(j->from, j->out, &j->options, NULL, &err) == GANZ_OK ? CLI_OK
                                                                            : cli_fail(&cli_about_import, &err);
}

int cli_run_import(int argc, char **argv)
{
    job j = {0};
    char command[1024];
    const cli_option options[] = {
        {"out", 'o', CLI_TEXT, &j.out, "MODEL", "the model to write", 0, 0},
        {"from", 0, CLI_TEXT, &j.options.source_language, "LANG", "language it translates from, such as zh", 0, 0},
        {"to", 0, CLI_TEXT, &j.options.target_language, "LANG", "language it translates to", 0, 0},
        {"licence", 0, CLI_TEXT, &j.options.licence, "TEXT", "its licence, where the files do not say", 0, 0},
        {"sentence", 0, CLI_TEXT, &j.sentence, "TEXT", "sentence to translate as a check", 0, 0},
        {"quiet", 'q', CLI_FLAG, &j.quiet, NULL, "print nothing", 0, 0},
        {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0},
    };
    cli_list rest = {0};
    int code = cli_parse(&cli_about_import, options, argc, argv, &rest);
    if (code < 0 && rest.count != 1) code = cli_usage(&cli_about_import, "name one folder or file");
    if (code < 0 && !j.out) code = cli_usage(&cli_about_import, "give --out MODEL");
    if (code < 0) {
        cli_join_words(argc, argv, command, sizeof command);
        j.options.command = command;
        j.from = rest.items[0];
        code = import(&j);
    }
    cli_list_free(&rest);
    return code;
}
