/* ganz inspect: what is in a model, product by product, and what the products do with a text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "ganz/inspect.h"
#include "ganz/io.h"

/* clang-format off */
const cli_command cli_about_inspect = {
"inspect", "[OPTIONS] [MODEL]", "show what is in a model, product by product",
"Shows the configuration and every matrix product: its shape, the bits of its codes, the steps of both sides (as "
"powers\n"
"of 2) with the largest value they reach, and the largest sum that can occur. Sums have 32 bits, so it must be below\n"
"2^31. The left side is the input, the queries or the attention weights (whose codes are 0 or more), the right side\n"
"the weight, the keys or the values.\n"
"\n"
"--audit translates a text and shows what each product did: how often it ran in integers and in float, the share of\n"
"its input codes that were clipped, and the largest sum beside the largest possible one.\n"
"\n"
"--vocab prints the vocabulary within instead, as the file that ganz prepare and ganz encode take.\n"
"\n"
"The model is MODEL, a file or a pair of languages such as de-en, else what GANZ_MODEL names, else the default model,\n"
"en-de, which comes with the program.\n",
};
/* clang-format on */

enum { LINES = 64 /* translated together */ };

typedef struct job {
    const char *path, *audit_path;
    bool json, vocab, quiet;
    ganz_translator_options options;
    ganz_model *model;
    ganz_translator *translator; /* NULL without an audit */
    ganz_model_facts facts;
    long long file_bytes, lines;
    int checked; /* tensors whose checksum agrees */
} job;

/* What a product is and what it did. */
typedef struct row {
    ganz_product_facts facts;
    ganz_product_counts counts;
} row;

static row row_at(const job *j, int index)
{
    row r = {.counts = {0}};
    ganz_model_product(j->model, index, &r.facts);
    if (j->translator) ganz_translator_get_counters(j->translator, index, &r.counts);
    return r;
}

/* Products that are integer and those that are float: after an audit, by what they did. */
static void count_products(const job *j, int *integers, int *floats)
{
    *integers = *floats = 0;
    for (int i = 0; i < j->facts.products; i++) {
        const row r = row_at(j, i);
        const bool is_float = j->translator ? r.counts.float_runs > 0 : !r.facts.integer;
        const bool is_integer = j->translator ? r.counts.integer_runs > 0 && !is_float : r.facts.integer;
        *integers += is_integer;
        *floats += is_float;
    }
}

/* Bits of a magnitude: the smallest n with number < 2^n. */
static int bits_of(long long number)
{
    int bits = 0;
    for (; number > 0; number >>= 1) bits++;
    return bits;
}

/* ---- the audit ---------------------------------------------------------------------------------- */

typedef struct block {
    char *text;
    size_t bytes, capacity, begin[LINES + 1];
    int count;
} block;

static ganz_status fail(ganz_error *err, ganz_status status, const char *format, const char *name, long long number)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, format, name, number);
    return status;
}

static ganz_status read_block(ganz_lines *lines, block *b, ganz_error *err)
{
    b->bytes = 0;
    for (b->count = 0; b->count < LINES; b->count++) {
        const char *text;
        size_t bytes;
        const ganz_status status = ganz_lines_next(lines, &text, &bytes, err);
        if (status != GANZ_OK || !text) return status;
        if (!ganz_utf8_valid(text, bytes))
            return fail(err, GANZ_EINVAL, "%s:%lld: not UTF-8", ganz_lines_name(lines), ganz_lines_number(lines));
        if (b->bytes + bytes > b->capacity) {
            char *const grown = realloc(b->text, 2 * (b->bytes + bytes));
            if (!grown)
                return fail(err, GANZ_ENOMEM, "%s:%lld: out of memory", ganz_lines_name(lines),
                            ganz_lines_number(lines));
            b->text = grown;
            b->capacity = 2 * (b->bytes + bytes);
        }
        if (bytes > 0) memcpy(b->text + b->bytes, text, bytes);
        b->begin[b->count] = b->bytes;
        b->bytes += bytes;
        b->begin[b->count + 1] = b->bytes;
    }
    return GANZ_OK;
}

static ganz_status translate_block(job *j, const block *b, ganz_error *err)
{
    ganz_line lines[LINES];
    const ganz_result *results;
    for (int i = 0; i < b->count; i++)
        lines[i] = (ganz_line){.text = b->text + b->begin[i], .bytes = b->begin[i + 1] - b->begin[i]};
    j->lines += b->count;
    return ganz_translate(j->translator, lines, b->count, &results, err);
}

static ganz_status audit(job *j, ganz_error *err)
{
    ganz_lines *lines;
    ganz_status status = ganz_lines_open(&lines, j->audit_path, err);
    if (status != GANZ_OK) return status;
    block b = {0};
    cli_progress bar;
    cli_progress_start(&bar, "audit", "lines", 0, j->quiet);
    status = ganz_translator_open(&j->translator, j->model, &j->options, err);
    if (status == GANZ_OK) status = ganz_translator_enable_counters(j->translator, err);
    do {
        if (status == GANZ_OK) status = read_block(lines, &b, err);
        if (status == GANZ_OK && b.count > 0) status = translate_block(j, &b, err);
        cli_progress_show(&bar, j->lines);
    } while (status == GANZ_OK && b.count == LINES);
    cli_progress_end(&bar, j->lines);
    free(b.text);
    ganz_lines_close(&lines);
    return status;
}

/* ---- text --------------------------------------------------------------------------------------- */

/* 1234567 as "1,234,567"; `text` has room for 32 bytes. */
static const char *commas(long long number, char text[32])
{
    char digits[32];
    const int n = snprintf(digits, sizeof digits, "%lld", number);
    int at = 0;
    for (int i = 0; i < n; i++) {
        text[at++] = digits[i];
        if ((n - 1 - i) % 3 == 0 && i < n - 1) text[at++] = ',';
    }
    text[at] = '\0';
    return text;
}

/* A text of the file, which may hold anything: control characters, of two bytes too, stay out of the terminal. */
static void print_harmless(const char *text)
{
    unsigned char before = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; before = *c++) {
        const bool order = *c < 0x20 || *c == 0x7F || (before == 0xC2 && *c >= 0x80 && *c < 0xA0);
        putchar(!order ? *c : before == 0xC2 ? 0xBF : '?');
    }
}

static void print_fact(const char *label, const char *text)
{
    printf("  %-11s ", label);
    print_harmless(text);
    putchar('\n');
}

static void print_bits(const char *label, int bits)
{
    if (bits) printf("  %-11s codes of %d bit%s\n", label, bits, cli_s(bits));
    else printf("  %-11s float\n", label);
}

static void print_labels(const job *j)
{
    const ganz_vocab *const vocab = ganz_model_vocab(j->model);
    const char *label = ganz_vocab_label(vocab, 0);
    if (label) fputs("  labels     ", stdout);
    for (int i = 1; label; label = ganz_vocab_label(vocab, i++)) printf(" %s", label);
    if (ganz_vocab_label(vocab, 0)) putchar('\n');
}

static void print_facts(const job *j)
{
    const ganz_model_facts *const f = &j->facts;
    char number[32];
    printf("%s: %s bytes, %s\n", j->path, commas(j->file_bytes, number),
           j->checked ? "checksums agree" : "no checksums");
    printf("  network     %d + %d layers, width %d, feed-forward %d, %d heads\n", f->encoder_layers, f->decoder_layers,
           f->width, f->ffn, f->heads);
    printf("  parameters  %s\n", commas(f->parameters, number));
    printf("  vocabulary  %s entries", commas(f->vocabulary, number));
    if (f->source_vocabulary != f->vocabulary) printf(", %s of sources", commas(f->source_vocabulary, number));
    printf(" (%s)\n", ganz_vocab_kind_name(ganz_model_vocab(j->model)));
    print_labels(j);
    if (f->formality) print_fact("formality", "formal and informal, as it is told (ganz translate --formality)");
    if (f->search[0]) print_fact("search", f->search);
    printf("  lengths     input up to %d tokens, output up to %d\n", f->longest_input, f->longest_output);
    if (f->kind[0]) print_fact("kind", f->kind);
    if (f->source_language && f->target_language) {
        char pair[128];
        snprintf(pair, sizeof pair, "%s-%s", f->source_language, f->target_language);
        print_fact("pair", pair);
    } else if (f->source_language) print_fact("source", f->source_language);
    else if (f->target_language) print_fact("target", f->target_language);
    print_bits("weights", f->bits);
    if (f->bits > 0 && f->bits <= 4) print_fact("stored", "two weights in a byte");
    else if (f->bits > 0 && f->bits < 8)
        print_fact("stored", "each code in a byte, as kernels multiply them: the file is as large as one of 8 bits");
    if (f->bits) {
        print_bits("inputs", f->input_bits);
        print_bits("attention", f->attention_bits);
        print_bits("biases", f->bias_bits);
        if (f->row_scales) print_fact("steps", "one for each output of a weight; the table has the largest");
        if (f->column_scales)
            print_fact("columns", "of inputs have steps and zeros of their own; the table has the largest");
        if (f->float_lookup) print_fact("embedding", "looked up in float");
        if (f->exceptions[0]) print_fact("exceptions", f->exceptions);
    }
    if (f->dynamic_bits)
        printf("  inputs      float, rounded to %d bits row by row in dense products\n", f->dynamic_bits);
    if (f->command) print_fact("made by", f->command);
    if (f->origin) print_fact("origin", f->origin);
    if (f->licence) print_fact("licence", f->licence);
}

static void print_codes(const ganz_code_facts *c)
{
    printf(" %5d  2^%-7.2f %-9.4g", c->bits, log2(c->scale), c->scale * c->most);
}

static void print_product(const row *r)
{
    const ganz_product_facts *const f = &r->facts;
    char shape[48], number[32];
    if (f->kind == GANZ_PRODUCT_QK) snprintf(shape, sizeof shape, "keys x %d", f->depth);
    else snprintf(shape, sizeof shape, "%d x %d%s", f->out, f->depth, f->kind == GANZ_PRODUCT_UV ? " keys" : "");
    printf("%-17s %-15s", f->name, shape);
    if (f->integer) {
        print_codes(&f->left);
        print_codes(&f->right);
        printf(" %13s < 2^%d\n", commas(f->worst, number), bits_of(f->worst));
    } else {
        puts(" float");
    }
}

static void print_done(const row *r)
{
    const ganz_product_counts *const c = &r->counts;
    printf("%-17s %9lld %9lld", r->facts.name, c->integer_runs, c->float_runs);
    if (c->integer_runs > 0)
        printf(" %9.4f%% %14lld %4d of %-2d  %d x %d", c->codes ? 100.0 * (double)c->clipped / (double)c->codes : 0.0,
               c->largest, bits_of(c->largest), bits_of(r->facts.worst), r->facts.left.bits, r->facts.right.bits);
    putchar('\n');
}

/* The product that comes nearest to the end of 32 bits. */
static void print_proof(const job *j)
{
    row worst = row_at(j, 0);
    char number[32];
    for (int i = 1; i < j->facts.products; i++) {
        const row r = row_at(j, i);
        if (r.facts.worst > worst.facts.worst) worst = r;
    }
    const ganz_product_facts *const f = &worst.facts;
    if (f->integer)
        printf("No sum exceeds %d * %d * %d = %s < 2^%d (%s): 32 bits %s.\n", f->depth, f->left.most, f->right.most,
               commas(f->worst, number), bits_of(f->worst), f->name,
               f->worst < 1LL << 31 ? "hold them all" : "are too few");
}

static void print_totals(const job *j)
{
    ganz_product_counts sum = {0};
    char number[2][32];
    for (int i = 0; i < j->facts.products; i++) {
        const row r = row_at(j, i);
        sum.integer_runs += r.counts.integer_runs;
        sum.float_runs += r.counts.float_runs;
        sum.codes += r.counts.codes;
        sum.clipped += r.counts.clipped;
    }
    printf("%s line%s: %s products in integers, ", commas(j->lines, number[0]), cli_s(j->lines),
           commas(sum.integer_runs, number[1]));
    printf("%s in float; ", commas(sum.float_runs, number[0]));
    printf("%s of %s codes clipped.\n", commas(sum.clipped, number[0]), commas(sum.codes, number[1]));
}

/* How many products have which widths, the widest first: "75 of 8 x 8 bits, 18 of 8 x 4". */
static void print_widths(const job *j)
{
    int count[9][9] = {{0}}, kinds = 0;
    for (int i = 0; i < j->facts.products; i++) {
        const ganz_product_facts f = row_at(j, i).facts;
        if (f.integer) kinds += count[f.left.bits][f.right.bits]++ == 0;
    }
    if (kinds == 0) return;
    printf("Widths of left and right codes: ");
    for (int at = 80; at >= 0; at--)
        if (count[at / 9][at % 9])
            printf("%d of %d x %d bits%s", count[at / 9][at % 9], at / 9, at % 9, --kinds ? ", " : ".\n");
}

static void print_text(const job *j)
{
    int integers, floats;
    count_products(j, &integers, &floats);
    print_facts(j);
    printf("\n%d products: %d integer, %d float%s\n\n", j->facts.products, integers, floats,
           j->translator && integers + floats < j->facts.products ? ", the rest never ran" : "");
    if (j->translator)
        printf("%-17s %9s %9s %10s %14s %s\n", "product", "integer", "float", "clipped", "largest sum",
               "bits      widths");
    else
        printf("%-17s %-15s %5s  %-9s %-9s %5s  %-9s %-9s %s\n", "product", "out x depth", "left", "step", "range",
               "right", "step", "range", "largest possible sum");
    for (int i = 0; i < j->facts.products; i++) {
        const row r = row_at(j, i);
        (j->translator ? print_done : print_product)(&r);
    }
    putchar('\n');
    if (j->translator) print_totals(j);
    print_widths(j);
    print_proof(j);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void json_string(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') putchar('\\');
        if (*c < 0x20) printf("\\u%04x", *c);
        else putchar(*c);
    }
    putchar('"');
}

static void json_text(const char *key, const char *text)
{
    printf("\"%s\":", key);
    if (text) json_string(text);
    else fputs("null", stdout);
}

static void json_codes(const char *key, const ganz_code_facts *c)
{
    printf(",\"%s\":{\"bits\":%d,\"most\":%d,\"step\":%.9g,\"range\":%.9g}", key, c->bits, c->most, c->scale,
           c->scale * c->most);
}

static void json_product(const job *j, const row *r)
{
    static const char *const kinds[] = {
        [GANZ_PRODUCT_DENSE] = "dense", [GANZ_PRODUCT_QK] = "qk", [GANZ_PRODUCT_UV] = "uv"};
    const ganz_product_facts *const f = &r->facts;
    const ganz_product_counts *const c = &r->counts;
    printf("{\"name\":\"%s\",\"kind\":\"%s\",\"integer\":%s,\"out\":%d,\"depth\":%d", f->name, kinds[f->kind],
           f->integer ? "true" : "false", f->out, f->depth);
    if (f->integer) {
        json_codes("left", &f->left);
        json_codes("right", &f->right);
        printf(",\"worst_sum\":%lld,\"worst_bits\":%d", f->worst, bits_of(f->worst));
    }
    if (j->translator)
        printf(",\"integer_runs\":%lld,\"float_runs\":%lld,\"codes\":%lld,\"clipped\":%lld,\"largest_sum\":%lld,"
               "\"largest_bits\":%d",
               c->integer_runs, c->float_runs, c->codes, c->clipped, c->largest, bits_of(c->largest));
    putchar('}');
}

static void json_labels(const job *j)
{
    const char *label;
    fputs("\"labels\":[", stdout);
    for (int i = 0; (label = ganz_vocab_label(ganz_model_vocab(j->model), i)); i++) {
        if (i > 0) putchar(',');
        json_string(label);
    }
    fputs("],", stdout);
}

static void print_json(const job *j)
{
    const ganz_model_facts *const f = &j->facts;
    int integers, floats;
    count_products(j, &integers, &floats);
    putchar('{');
    json_text("file", j->path);
    printf(",\"bytes\":%lld,\"checksums\":%d,\"width\":%d,\"ffn\":%d,\"heads\":%d,"
           "\"encoder_layers\":%d,\"decoder_layers\":%d,"
           "\"vocabulary\":%d,\"longest_input\":%d,\"longest_output\":%d,\"parameters\":%lld,\"bits\":%d,"
           "\"input_bits\":%d,\"attention_bits\":%d,\"bias_bits\":%d,\"float_lookup\":%s,"
           "\"row_steps\":%s,\"dynamic_bits\":%d,",
           j->file_bytes, j->checked, f->width, f->ffn, f->heads, f->encoder_layers, f->decoder_layers, f->vocabulary,
           f->longest_input, f->longest_output, f->parameters, f->bits, f->input_bits, f->attention_bits, f->bias_bits,
           f->float_lookup ? "true" : "false", f->row_scales ? "true" : "false", f->dynamic_bits);
    if (f->kind[0]) json_text("kind", f->kind), putchar(',');
    json_text("tokenizer", ganz_vocab_kind_name(ganz_model_vocab(j->model)));
    putchar(',');
    json_labels(j);
    if (f->search[0]) json_text("search", f->search), putchar(',');
    if (f->exceptions[0]) json_text("exceptions", f->exceptions), putchar(',');
    printf("\"formality\":%s,", f->formality ? "true" : "false");
    json_text("source_language", f->source_language);
    putchar(',');
    json_text("target_language", f->target_language);
    putchar(',');
    json_text("command", f->command);
    putchar(',');
    json_text("origin", f->origin);
    putchar(',');
    json_text("licence", f->licence);
    printf(",\"integer_products\":%d,\"float_products\":%d,", integers, floats);
    if (j->translator) printf("\"audited_lines\":%lld,", j->lines);
    fputs("\"products\":[\n", stdout);
    for (int i = 0; i < f->products; i++) {
        const row r = row_at(j, i);
        json_product(j, &r);
        fputs(i + 1 < f->products ? ",\n" : "\n", stdout);
    }
    puts("]}");
}

static void print_vocab(const job *j)
{
    size_t bytes;
    const char *const text = ganz_vocab_file(ganz_model_vocab(j->model), &bytes);
    if (text) fwrite(text, 1, bytes, stdout);
    else
        fputs(
            "ganz inspect: the vocabulary is no text file; ganz prepare and ganz encode take the model itself as --vocab\n",
            stderr);
}

/* ---- the command -------------------------------------------------------------------------------- */

static int inspect(job *j)
{
    ganz_error err;
    struct stat info;
    ganz_status status = ganz_model_open(&j->model, j->path, &err);
    if (status == GANZ_OK) status = ganz_model_verify(j->path, &j->checked, &err);
    if (status == GANZ_OK) ganz_model_describe(j->model, &j->facts);
    if (status == GANZ_OK && j->audit_path) status = audit(j, &err);
    if (status == GANZ_OK) {
        if (stat(j->path, &info) == 0) j->file_bytes = (long long)info.st_size;
        (j->vocab ? print_vocab : j->json ? print_json : print_text)(j);
    }
    ganz_translator_close(&j->translator);
    ganz_model_close(&j->model);
    return status == GANZ_OK ? CLI_OK : cli_fail(&cli_about_inspect, &err);
}

int cli_run_inspect(int argc, char **argv)
{
    job j = {0};
    char path[CLI_PATH];
    ganz_translator_defaults(&j.options);
    long long beam = j.options.beam;
    const cli_option options[] = {
        {"audit", 'a', CLI_TEXT, &j.audit_path, "TEXT", "translate this text and show what the products did", 0, 0},
        {"beam", 'b', CLI_INT, &beam, "N", "of that translation; 0: as the model says, mostly 4", 0, 64},
        {"vocab", 'v', CLI_FLAG, &j.vocab, NULL, "print the vocabulary alone", 0, 0},
        {"json", 0, CLI_FLAG, &j.json, NULL, "JSON output, all digits", 0, 0},
        {"quiet", 'q', CLI_FLAG, &j.quiet, NULL, "no progress", 0, 0},
        {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0},
    };
    cli_list rest = {0};
    int code = cli_parse(&cli_about_inspect, options, argc, argv, &rest);
    if (code < 0 && beam != j.options.beam && !j.audit_path)
        code = cli_usage(&cli_about_inspect, "--beam goes with --audit, which translates");
    j.options.beam = (int)beam;
    if (code < 0 && j.vocab && (j.json || j.audit_path))
        code = cli_usage(&cli_about_inspect, "--vocab goes with nothing else");
    if (code < 0 && rest.count > 1)
        code = cli_usage(&cli_about_inspect, "one model at a time, not %s too", rest.items[1]);
    if (code < 0) j.path = cli_find_model(rest.count > 0 ? rest.items[0] : NULL, path);
    if (code < 0 && !j.path) code = cli_no_model(&cli_about_inspect, "name one");
    if (code < 0) code = inspect(&j);
    cli_list_free(&rest);
    return code;
}
