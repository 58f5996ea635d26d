/* ganz score: BLEU or chrF of one or more translations against a reference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "ganz/io.h"
#include "ganz/score.h"

/* clang-format off */
const cli_command cli_about_score = {
    "score",
    "--ref REF [--hyp HYP...] [OPTIONS]",
    "score translations against a reference (BLEU, chrF)",
    "Lines end at \\n alone. Files may be compressed (gzip, xz, zstd); - is standard input.\n"
    "Scores equal those of sacrebleu 2 (13a, intl, chrF2) and of t2t-bleu (t2t). With several hypotheses each is\n"
    "compared with the first by paired bootstrap resampling; p is the chance of such a difference between equals.\n",
};
/* clang-format on */

typedef struct options {
    const char *ref, *tok, *metric;
    cli_list hyps;
    bool lowercase, json, confidence, seeds;
    long long digits, bootstrap, seed;
} options;

/* A file being read. */
typedef struct side {
    ganz_lines *lines;
    const char *text; /* the line at hand, NULL at the end */
    size_t bytes;
} side;

typedef struct task {
    const options *options;
    ganz_score_settings settings;
    const char *const *names; /* (count) */
    side ref, *hyps;          /* hyps: (count) */
    ganz_scorer **scorers;    /* (count) */
    int count;
    int rows; /* of the output: hyps, and with --seeds the mean of those after the first */
    int resamples;
    ganz_resampled *resampled; /* (rows), filled when resamples > 0 */
    char mean_name[24];        /* of the last row with --seeds */
} task;

/* ---- reading ------------------------------------------------------------------------------------ */

static ganz_status refuse(ganz_error *err, ganz_status status)
{
    err->status = status;
    return status;
}

static ganz_status next_line(side *f, ganz_error *err)
{
    const ganz_status status = ganz_lines_next(f->lines, &f->text, &f->bytes, err);
    if (status != GANZ_OK || !f->text || ganz_utf8_valid(f->text, f->bytes)) return status;
    snprintf(err->message, sizeof err->message, "%s:%lld: not valid UTF-8", ganz_lines_name(f->lines),
             ganz_lines_number(f->lines));
    return refuse(err, GANZ_EFORMAT);
}

/* Reads both files to their ends to name their lengths. */
static ganz_status unequal(side *ref, side *hyp, ganz_error *err)
{
    while (ref->text)
        if (ganz_lines_next(ref->lines, &ref->text, &ref->bytes, err) != GANZ_OK) return err->status;
    while (hyp->text)
        if (ganz_lines_next(hyp->lines, &hyp->text, &hyp->bytes, err) != GANZ_OK) return err->status;
    snprintf(err->message, sizeof err->message, "%s has %lld line%s but %s has %lld", ganz_lines_name(ref->lines),
             ganz_lines_number(ref->lines), cli_s(ganz_lines_number(ref->lines)), ganz_lines_name(hyp->lines),
             ganz_lines_number(hyp->lines));
    return refuse(err, GANZ_EFORMAT);
}

/* All files side by side, so that none is held in memory. */
static ganz_status read_all(task *t, ganz_error *err)
{
    ganz_status status;
    for (;;) {
        if ((status = next_line(&t->ref, err)) != GANZ_OK) return status;
        for (int i = 0; i < t->count; i++) {
            side *const h = &t->hyps[i];
            if ((status = next_line(h, err)) != GANZ_OK) return status;
            if (!h->text != !t->ref.text) return unequal(&t->ref, h, err);
            if (!h->text) continue;
            status = ganz_scorer_add(t->scorers[i], h->text, h->bytes, t->ref.text, t->ref.bytes, err);
            if (status != GANZ_OK) return status;
        }
        if (!t->ref.text) break;
    }
    if (ganz_lines_number(t->ref.lines) > 0) return GANZ_OK;
    snprintf(err->message, sizeof err->message, "%s has no lines", ganz_lines_name(t->ref.lines));
    return refuse(err, GANZ_EFORMAT);
}

static ganz_status score_files(task *t, ganz_error *err)
{
    ganz_status status = ganz_lines_open(&t->ref.lines, t->options->ref, err);
    for (int i = 0; i < t->count && status == GANZ_OK; i++) {
        status = ganz_lines_open(&t->hyps[i].lines, t->names[i], err);
        if (status == GANZ_OK) status = ganz_scorer_open(&t->scorers[i], &t->settings, err);
    }
    if (status == GANZ_OK) status = read_all(t, err);
    if (status != GANZ_OK || t->resamples == 0) return status;
    const uint64_t seed = (uint64_t)t->options->seed;
    status = ganz_bootstrap(t->scorers, t->count, t->resamples, seed, t->resampled, err);
    if (status == GANZ_OK && t->options->seeds)
        status = ganz_bootstrap_mean(t->scorers, t->count, t->resamples, seed, &t->resampled[t->count], err);
    return status;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static const char *name_of(const task *t, int at)
{
    return at < t->count ? ganz_lines_name(t->hyps[at].lines) : t->mean_name;
}

/* That of a mean has nothing but the score. */
static ganz_score score_of(const task *t, int at)
{
    ganz_score mean = {0};
    if (at < t->count) return ganz_scorer_score(t->scorers[at]);
    for (int i = 1; i < t->count; i++) mean.score += ganz_scorer_score(t->scorers[i]).score;
    mean.score /= t->count - 1;
    return mean;
}

/* ---- text --------------------------------------------------------------------------------------- */

static void print_numbers(const task *t, int at)
{
    const ganz_score s = score_of(t, at);
    const int digits = (int)t->options->digits;
    printf(" = %.*f", digits, s.score);
    if (t->settings.metric == GANZ_BLEU && at < t->count) {
        for (int n = 0; n < s.orders; n++) printf("%c%.1f", n == 0 ? ' ' : '/', s.precisions[n]);
        printf(" (BP = %.3f ratio = %.3f hyp_len = %lld ref_len = %lld)", s.bp,
               s.ref_len > 0 ? (double)s.sys_len / (double)s.ref_len : 0.0, s.sys_len, s.ref_len);
    }
    if (t->resamples > 0) {
        const ganz_resampled *const r = &t->resampled[at];
        printf(" mean = %.*f 95%% = [%.*f, %.*f]", digits, r->mean, digits, r->low, digits, r->high);
        if (at > 0) printf(" p = %.4f", r->p);
    }
    putchar('\n');
}

static void print_text(const task *t, const char *signature)
{
    printf("%s|%s", ganz_metric_name(t->settings.metric), signature);
    if (t->count > 1) putchar('\n');
    for (int i = 0; i < t->rows; i++) {
        if (t->count > 1) fputs(name_of(t, i), stdout);
        print_numbers(t, i);
    }
}

/* ---- JSON --------------------------------------------------------------------------------------- */

/* The shortest digits that read back as the same number. */
static void print_real(double number)
{
    char digits[40];
    for (int n = 15; n <= 17; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, number);
        if (strtod(digits, NULL) == number) break;
    }
    fputs(digits, stdout);
}

static void print_reals(const char *key, const double *numbers, int count)
{
    printf(", \"%s\": [", key);
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(", ", stdout);
        print_real(numbers[i]);
    }
    putchar(']');
}

static void print_key_real(const char *key, double number)
{
    printf(", \"%s\": ", key);
    print_real(number);
}

/* A file name may be any bytes; JSON is UTF-8. */
static void print_string(const char *text)
{
    const bool valid = ganz_utf8_valid(text, strlen(text));
    putchar('"');
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s == '"' || *s == '\\') printf("\\%c", *s);
        else if (*s < 0x20 || *s == 0x7F) printf("\\u%04x", *s);
        else if (*s >= 0x80 && !valid) fputs("\\ufffd", stdout);
        else putchar(*s);
    }
    putchar('"');
}

static void print_details(const task *t, const ganz_score *s)
{
    print_reals("precisions", s->precisions, s->orders);
    if (t->settings.metric == GANZ_BLEU) print_key_real("bp", s->bp);
    else print_reals("recalls", s->recalls, s->orders);
    printf(", \"sys_len\": %lld, \"ref_len\": %lld", s->sys_len, s->ref_len);
}

static void print_object(const task *t, int at, const char *signature)
{
    const ganz_score s = score_of(t, at);
    putchar('{');
    if (t->count > 1) {
        fputs("\"name\": ", stdout);
        print_string(name_of(t, at));
        fputs(", ", stdout);
    }
    printf("\"metric\": \"%s\"", ganz_metric_name(t->settings.metric));
    print_key_real("score", s.score);
    if (at < t->count) print_details(t, &s);
    if (t->resamples > 0) {
        const ganz_resampled *const r = &t->resampled[at];
        const double interval[2] = {r->low, r->high};
        print_key_real("mean", r->mean);
        print_reals("interval", interval, 2);
        if (at > 0) print_key_real("p_value", r->p);
    }
    printf(", \"signature\": \"%s\"}", signature);
}

static void print_json(const task *t, const char *signature)
{
    if (t->count > 1) fputs("[\n", stdout);
    for (int i = 0; i < t->rows; i++) {
        print_object(t, i, signature);
        fputs(i + 1 < t->rows ? ",\n" : "\n", stdout);
    }
    if (t->count > 1) fputs("]\n", stdout);
}

/* ---- the command -------------------------------------------------------------------------------- */

static int run(const options *o)
{
    static const char *const standard_input[] = {"-"};
    const ganz_score_words words = strcmp(o->tok, "13a") == 0    ? GANZ_WORDS_13A
                                   : strcmp(o->tok, "intl") == 0 ? GANZ_WORDS_INTL
                                                                 : GANZ_WORDS_T2T;
    const bool named = o->hyps.count > 0;
    task t = {.options = o, .names = named ? o->hyps.items : standard_input, .count = named ? o->hyps.count : 1};
    t.settings = (ganz_score_settings){strcmp(o->metric, "chrf") == 0 ? GANZ_CHRF : GANZ_BLEU, words, o->lowercase};
    t.resamples = t.count > 1 || o->confidence ? (int)o->bootstrap : 0;
    t.rows = t.count + o->seeds;
    snprintf(t.mean_name, sizeof t.mean_name, "mean of %d", t.count - 1);
    t.hyps = calloc((size_t)t.count, sizeof *t.hyps);
    t.scorers = calloc((size_t)t.count, sizeof *t.scorers);
    t.resampled = calloc((size_t)t.rows, sizeof *t.resampled);
    ganz_error err = {.status = GANZ_ENOMEM, .message = "out of memory"};
    const ganz_status status = t.hyps && t.scorers && t.resampled ? score_files(&t, &err) : GANZ_ENOMEM;
    if (status == GANZ_OK) {
        char signature[GANZ_SIGNATURE_BYTES];
        ganz_score_signature(&t.settings, t.resamples, (uint64_t)o->seed, signature);
        (o->json ? print_json : print_text)(&t, signature);
    }
    ganz_lines_close(&t.ref.lines);
    for (int i = 0; t.hyps && i < t.count; i++) ganz_lines_close(&t.hyps[i].lines);
    for (int i = 0; t.scorers && i < t.count; i++) ganz_scorer_close(&t.scorers[i]);
    free(t.hyps);
    free(t.scorers);
    free(t.resampled);
    return status == GANZ_OK ? CLI_OK : cli_fail(&cli_about_score, &err);
}

static int check(const options *o, const cli_list *rest)
{
    if (rest->count > 0)
        return cli_usage(&cli_about_score, "unexpected word %s: hypotheses are named by --hyp", rest->items[0]);
    if (!o->ref) return cli_usage(&cli_about_score, "--ref is needed");
    if (o->tok && strcmp(o->metric, "chrf") == 0)
        return cli_usage(&cli_about_score, "--tok goes with --metric bleu: chrF counts characters");
    if (o->seeds && o->hyps.count < 2) return cli_usage(&cli_about_score, "--seeds needs two hypotheses at least");
    if ((o->confidence || o->seeds) && o->bootstrap == 0)
        return cli_usage(&cli_about_score, "--%s comes from resamples: --bootstrap must be over 0",
                         o->seeds ? "seeds" : "confidence");
    int dashes = (strcmp(o->ref, "-") == 0) + (o->hyps.count == 0);
    for (int i = 0; i < o->hyps.count; i++) dashes += strcmp(o->hyps.items[i], "-") == 0;
    if (dashes > 1) return cli_usage(&cli_about_score, "only one of the texts can come from standard input");
    return -1;
}

int cli_run_score(int argc, char **argv)
{
    options o = {.metric = "bleu", .digits = 2, .bootstrap = 1000, .seed = 12345};
    const cli_option table[] = {
        {"ref", 'r', CLI_TEXT, &o.ref, "FILE", "the reference translation", 0, 0},
        {"hyp", 'i', CLI_LIST, &o.hyps, "FILE...", "translations to score; standard input when absent", 0, 0},
        {"metric", 'm', CLI_CHOICE, &o.metric, "bleu|chrf", "what to compute", 0, 0},
        {"tok", 't', CLI_CHOICE, &o.tok, "13a|intl|t2t", "how BLEU finds words [13a]", 0, 0},
        {"lowercase", 'l', CLI_FLAG, &o.lowercase, NULL, "ignore case", 0, 0},
        {"digits", 'd', CLI_INT, &o.digits, "N", "decimals of scores in text output", 0, 15},
        {"json", 0, CLI_FLAG, &o.json, NULL, "JSON output, all digits", 0, 0},
        {"confidence", 0, CLI_FLAG, &o.confidence, NULL, "95% interval for a single hypothesis too", 0, 0},
        {"bootstrap", 'b', CLI_INT, &o.bootstrap, "N", "resamples to compare hypotheses; 0: none", 0, 1000000},
        {"seed", 's', CLI_INT, &o.seed, "N", "seed of the resampling", 0, 9e18},
        {"seeds", 0, CLI_FLAG, &o.seeds, NULL, "all after the first are runs of one system: their mean too", 0, 0},
        {0},
    };
    cli_list rest = {0};
    int code = cli_parse(&cli_about_score, table, argc, argv, &rest);
    if (code < 0) code = check(&o, &rest);
    if (!o.tok) o.tok = "13a";
    if (code < 0) code = run(&o);
    cli_list_free(&rest);
    cli_list_free(&o.hyps);
    return code;
}
