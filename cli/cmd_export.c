/* ganz export: what a model holds, or computes, in the formats of other programs; a row of a table for each. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "ganz/export.h"

/* clang-format off */
const cli_command cli_about_export = {
"export", "--to FORMAT [OPTIONS] DIR", "write a model or its products for other programs",
"DIR is a new or an empty folder. The formats:\n"
"\n"
"  ctranslate2  a folder that CTranslate2 translates with: any network but recurrent decoders, in float, or with the codes\n"
"          of weights and a scale for each row; inputs and attention are rounded, or not, as CTranslate2 does it.\n"
"  golden  every integer product of the network on the way to the translations of a text: operands, steps, sums and\n"
"          results as .npy files with an index, for those who build hardware or kernels and compare bit for bit.\n"
"          examples/replay_golden.py computes them all again with NumPy.\n"
"  hf      a folder of Hugging Face that transformers loads, in float: MarianMT, or Pegasus for networks with norms before\n"
"          their sublayers, as ours are; not recurrent decoders.\n"
"  npz     a folder of Marian, in float: model.npz, vocabularies, decoder.yml; also of recurrent decoders (SSRU), not of\n"
"          models with our own subwords.\n"
"  onnx    encoder.onnx and decoder.onnx, with each product's operands rounded by QuantizeLinear and DequantizeLinear as\n"
"          the model rounds them; tools/onnx_check.py runs them with ONNX Runtime.\n",
};
/* clang-format on */

/* What a format needs to know of the command line. */
typedef struct job {
    const char *to, *model_path, *text, *folder;
    long long lines, beam;
    bool quiet;
    ganz_model *model;
} job;

typedef struct format {
    const char *name;
    bool reads_text; /* --text, --lines and --beam mean something */
    ganz_status (*write)(const job *j, ganz_error *err);
} format;

static ganz_status write_golden(const job *j, ganz_error *err)
{
    const ganz_golden_options options = {.lines = (int)j->lines, .beam = (int)j->beam};
    ganz_golden_report r;
    const ganz_status status = ganz_export_golden(j->model, j->text ? j->text : "-", j->folder, &options, &r, err);
    if (status == GANZ_OK && !j->quiet)
        printf("%lld integer products of %d line%s, %.1f MB; %lld in float are not written\n", r.runs, r.lines,
               cli_s(r.lines), (double)r.bytes / 1e6, r.skipped);
    return status;
}

static ganz_status write_onnx(const job *j, ganz_error *err) { return ganz_export_onnx(j->model, j->folder, err); }

static ganz_status write_ctranslate2(const job *j, ganz_error *err)
{
    return ganz_export_ctranslate2(j->model, j->folder, err);
}

static ganz_status write_hf(const job *j, ganz_error *err) { return ganz_export_huggingface(j->model, j->folder, err); }

static ganz_status write_npz(const job *j, ganz_error *err) { return ganz_export_npz(j->model, j->folder, err); }

#define FORMATS "ctranslate2|golden|hf|npz|onnx" /* the names of the table, for the help */
static const format formats[] = {{"ctranslate2", false, write_ctranslate2},
                                 {"golden", true, write_golden},
                                 {"hf", false, write_hf},
                                 {"npz", false, write_npz},
                                 {"onnx", false, write_onnx},
                                 {0}};

static const format *find_format(const char *name)
{
    for (const format *f = formats; f->name; f++)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

static int export_model(job *j)
{
    ganz_error err = {0};
    ganz_status status = ganz_model_open(&j->model, j->model_path, &err);
    if (status == GANZ_OK) status = find_format(j->to)->write(j, &err);
    ganz_model_close(&j->model);
    return status == GANZ_OK ? CLI_OK : cli_fail(&cli_about_export, &err);
}

static int check(const job *j, const cli_list *rest)
{
    if (!j->to) return cli_usage(&cli_about_export, "give --to FORMAT, one of %s", FORMATS);
    if (rest->count != 1) return cli_usage(&cli_about_export, "name one folder to write to");
    if (!find_format(j->to)->reads_text && (j->text || j->lines || j->beam))
        return cli_usage(&cli_about_export, "--to %s reads no text", j->to);
    return -1;
}

int cli_run_export(int argc, char **argv)
{
    job j = {0};
    char path[CLI_PATH];
    const char *model = NULL;
    const cli_option options[] = {
        {"to", 't', CLI_CHOICE, &j.to, FORMATS, "format", 0, 0},
        {"model", 'm', CLI_TEXT, &model, "MODEL", "model: a file, or a pair of languages such as de-en", 0, 0},
        {"text", 'i', CLI_TEXT, &j.text, "FILE", "golden: text to translate; else standard input", 0, 0},
        {"lines", 'l', CLI_INT, &j.lines, "N", "golden: lines of the text, at most; 0: 4", 0, 99999},
        {"beam", 'b', CLI_INT, &j.beam, "N", "golden: of the translation; 0: as the model says, mostly 4", 0, 64},
        {"quiet", 'q', CLI_FLAG, &j.quiet, NULL, "print nothing", 0, 0},
        {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0},
    };
    cli_list rest = {0};
    int code = cli_parse(&cli_about_export, options, argc, argv, &rest);
    if (code < 0) code = check(&j, &rest);
    if (code < 0) j.model_path = cli_find_model(model, path);
    if (code < 0 && !j.model_path) code = cli_no_model(&cli_about_export, "give --model FILE");
    if (code < 0) {
        j.folder = rest.items[0];
        code = export_model(&j);
    }
    cli_list_free(&rest);
    return code;
}
