/* ganz_quantize_report: the effects of rounding, as a table, as JSON, as a summary and as a picture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ganz/io.h"
#include "base/surroundings.h"
#include "ganz/quantize.h"
#include "train/chart.h"
#include "train/folder.h"
#include "train/operands.h"
#include "translate/inspect.h"

enum { WORST = 12 /* operands of the summary */ };

#define PRINT(...) GANZ_TRY(ganz_output_printf(out, err, __VA_ARGS__))

static const char *const kinds[] = {
    [GANZ_OPERAND_INPUT] = "input", [GANZ_OPERAND_QKV] = "attention", [GANZ_OPERAND_U] = "u"};

/* A file of the folder, written by a function. */
typedef ganz_status (*writer)(const ganz_operands *o, ganz_output *out, ganz_error *err);

static ganz_status name_file(char path[GANZ_PATH], const char *folder, const char *name, ganz_error *err)
{
    const int n = snprintf(path, GANZ_PATH, "%s/%s", folder, name);
    return n < GANZ_PATH ? GANZ_OK : ganz_fail(err, GANZ_ELIMIT, "%s: the name of the folder is too long", folder);
}

static ganz_status write_file(const ganz_operands *o, const char *folder, const char *name, writer write,
                              ganz_error *err)
{
    char path[GANZ_PATH];
    ganz_output *out;
    GANZ_TRY(name_file(path, folder, name, err));
    GANZ_TRY(ganz_output_open(&out, path, err));
    const ganz_status status = write(o, out, err);
    if (status == GANZ_OK) return ganz_output_finish(&out, err);
    ganz_output_abandon(&out);
    return status;
}

/* Magnitude that all but one of ten thousand values (zeros not counted) do not exceed: where a bin of them ends, which
 * may be behind the largest value. */
static double usual_largest(const ganz_histogram *h, double largest)
{
    double all = 0, below = 0;
    int i = 0;
    for (int j = 0; j < GANZ_HISTOGRAM_BINS; j++) all += (double)h->bin[j];
    for (; i < GANZ_HISTOGRAM_BINS && below < 0.9999 * all; i++) below += (double)h->bin[i];
    return fmin(h->range * i / GANZ_HISTOGRAM_BINS, largest);
}

/* Bits of a magnitude. */
static int bits_of(long long number)
{
    int bits = 0;
    for (; number > 0; number >>= 1) bits++;
    return bits;
}

/* ---- tables ------------------------------------------------------------------------------------- */

/* log2 of how much larger a scale is than the one that would clip nothing; NaN: nothing was seen. */
static double wider(const ganz_operand_stats *s)
{
    return s->largest > 0 ? log2(s->scale / ganz_operand_max_scale(s)) : NAN;
}

static ganz_status write_tsv(const ganz_operands *o, ganz_output *out, ganz_error *err)
{
    PRINT("operand\tkind\tbits\tstep\trange\tmax_step\tlog2_step_by_max\tlargest\tp9999\tvalues\tclip_rate\tsnr_db\n");
    for (int i = 0; i < o->count; i++) {
        const ganz_operand_stats *const s = &o->list[i];
        if (!s->integer) continue;
        PRINT("%s\t%s\t%d\t%.9g\t%.6g\t%.9g\t%.4f\t%.6g\t%.6g\t%lld\t%.6g\t%.2f\n", s->name, kinds[s->kind], s->bits,
              s->scale, s->scale * s->most, ganz_operand_max_scale(s), wider(s), s->largest,
              usual_largest(&o->magnitudes[i], s->largest), (long long)s->values, ganz_operand_clip_rate(s),
              ganz_operand_snr(s));
    }
    return GANZ_OK;
}

/* JSON has no NaN. */
static const char *number(double value, char text[32])
{
    snprintf(text, 32, isfinite(value) ? "%.9g" : "null", value);
    return text;
}

static ganz_status write_operands(const ganz_operands *o, ganz_output *out, ganz_error *err)
{
    char a[32], b[32];
    const char *comma = "";
    PRINT("\"operands\":[");
    for (int i = 0; i < o->count; i++) {
        const ganz_operand_stats *const s = &o->list[i];
        if (!s->integer) continue;
        PRINT("%s\n{\"name\":\"%s\",\"kind\":\"%s\",\"bits\":%d,\"step\":%.9g,\"range\":%.9g,\"max_step\":%.9g,", comma,
              s->name, kinds[s->kind], s->bits, s->scale, s->scale * s->most, ganz_operand_max_scale(s));
        PRINT("\"log2_step_by_max\":%s,\"largest\":%.9g,\"p9999\":%.9g,\"values\":%lld,\"clipped\":%lld,\"snr_db\":%s}",
              number(wider(s), a), s->largest, usual_largest(&o->magnitudes[i], s->largest), (long long)s->values,
              (long long)s->clipped, number(ganz_operand_snr(s), b));
        comma = ",";
    }
    PRINT("]");
    return GANZ_OK;
}

static ganz_status write_products(const ganz_operands *o, ganz_output *out, ganz_error *err)
{
    PRINT("\"products\":[");
    for (int i = 0; i < o->model->net.products; i++) {
        const ganz_product *const p = &o->model->net.product[i];
        ganz_product_facts facts;
        ganz_product_counts counts;
        ganz_model_product(o->model, i, &facts);
        ganz_product_counted(p, &o->audit, &counts);
        PRINT("%s\n{\"name\":\"%s\",\"integer\":%s,\"depth\":%d", i ? "," : "", facts.name,
              facts.integer ? "true" : "false", facts.depth);
        if (facts.integer)
            PRINT(",\"worst_sum\":%lld,\"worst_bits\":%d,\"largest_sum\":%lld,\"largest_bits\":%d", facts.worst,
                  bits_of(facts.worst), counts.largest, bits_of(counts.largest));
        PRINT("}");
    }
    PRINT("]");
    return GANZ_OK;
}

static ganz_status write_json(const ganz_operands *o, ganz_output *out, ganz_error *err)
{
    ganz_model_facts facts;
    ganz_model_describe(o->model, &facts);
    PRINT("{\"lines\":%lld,\"bits\":%d,\"products_total\":%d,\"integer_products\":%d,\n", o->lines, facts.bits,
          facts.products, facts.integer_products);
    GANZ_TRY(write_operands(o, out, err));
    PRINT(",\n");
    GANZ_TRY(write_products(o, out, err));
    PRINT("}\n");
    return GANZ_OK;
}

/* ---- summary ------------------------------------------------------------------------------------ */

static double rank_of(const ganz_operand_stats *s)
{
    const double snr = ganz_operand_snr(s);
    return s->integer && !isnan(snr) ? snr : INFINITY;
}

static int by_snr(const void *a, const void *b)
{
    const ganz_operand_stats *const x = *(const ganz_operand_stats *const *)a, *const y = *(
                                                                                   const ganz_operand_stats *const *)b;
    const double p = rank_of(x), q = rank_of(y);
    return p < q ? -1 : p > q ? 1 : x < y ? -1 : x > y;
}

static ganz_status write_worst(const ganz_operands *o, ganz_output *out, ganz_error *err)
{
    const ganz_operand_stats **const order = ganz_alloc((size_t)o->count, sizeof *order);
    if (!order) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the summary");
    for (int i = 0; i < o->count; i++) order[i] = &o->list[i];
    qsort(order, (size_t)o->count, sizeof *order, by_snr);
    ganz_status status = GANZ_OK;
    for (int i = 0; i < o->count && i < WORST && status == GANZ_OK; i++) {
        const ganz_operand_stats *const s = order[i];
        if (!s->integer || s->largest == 0) continue;
        status = ganz_output_printf(
            out, err, "  %-24s %5.1f dB  %8.4f%% clipped  range %-9.4g of %-9.4g seen  step 2^%+.2f by max\n", s->name,
            ganz_operand_snr(s), 100 * ganz_operand_clip_rate(s), s->scale * s->most, s->largest, wider(s));
    }
    ganz_free(order);
    return status;
}

static ganz_status write_sums(const ganz_operands *o, ganz_output *out, ganz_error *err)
{
    ganz_product_facts facts, worst = {0}, most = {0};
    long long largest = -1;
    for (int i = 0; i < o->model->net.products; i++) {
        const ganz_product *const p = &o->model->net.product[i];
        ganz_product_counts counts;
        ganz_model_product(o->model, i, &facts);
        if (!facts.integer) continue;
        ganz_product_counted(p, &o->audit, &counts);
        if (facts.worst > worst.worst) worst = facts;
        if (counts.largest > largest) {
            largest = counts.largest;
            most = facts;
        }
    }
    if (largest < 0) return GANZ_OK;
    PRINT("Sums: the largest seen is %lld, %d bits (%s). None can exceed %lld, %d bits (%s), so 31 bits %s.\n", largest,
          bits_of(largest), most.name, worst.worst, bits_of(worst.worst), worst.name,
          worst.worst < 1LL << 31 ? "hold them all" : "are too few");
    if (largest >= 1 << 24) PRINT("Sums of 2^24 and more occur: float emulation of them is not exact.\n");
    return GANZ_OK;
}

static ganz_status write_text(const ganz_operands *o, ganz_output *out, ganz_error *err)
{
    ganz_model_facts facts;
    ganz_model_describe(o->model, &facts);
    int narrower = 0, seen = 0;
    double signal = 0, clipped = 0, values = 0;
    for (int i = 0; i < o->count; i++) {
        const ganz_operand_stats *const s = &o->list[i];
        if (!s->integer || s->largest == 0) continue;
        seen++;
        narrower += wider(s) < 0;
        if (!isnan(ganz_operand_snr(s))) signal += ganz_operand_snr(s);
        clipped += (double)s->clipped;
        values += (double)s->values;
    }
    PRINT("%d of %d products in integers of %d bits; %d operands over %lld lines.\n", facts.integer_products,
          facts.products, facts.bits, seen, o->lines);
    PRINT("%d steps are smaller than their largest value asks for (they clip), "
          "%d are not; %.4f%% of all values are clipped.\n",
          narrower, seen - narrower, values > 0 ? 100 * clipped / values : 0);
    PRINT("Signal to noise: %.1f dB on average. The worst:\n", seen ? signal / seen : 0);
    GANZ_TRY(write_worst(o, out, err));
    return write_sums(o, out, err);
}

/* ---- picture ------------------------------------------------------------------------------------ */

static ganz_status draw(const ganz_operands *o, const char *folder, ganz_error *err)
{
    static const char *const labels[] = {"inputs of dense products", "q, k, v", "attention weights"};
    static const char *const colors[] = {"#1f5fa8", "#d1550a", "#2a8a3e"};
    char path[GANZ_PATH];
    const size_t n = (size_t)o->count;
    double ends[2] = {INFINITY, -INFINITY};
    ganz_series series[4] = {
        {.label = "clips nothing", .color = "#999999", .x = ends, .y = ends, .count = 2, .width = 1}};
    GANZ_TRY(name_file(path, folder, "quant.svg", err));
    double *const block = ganz_alloc(6 * n + 1, sizeof *block);
    if (!block) return ganz_fail(err, GANZ_ENOMEM, "out of memory for %s", path);
    for (int kind = 0; kind < 3; kind++) {
        double *const x = block + 2 * (size_t)kind * n, *const y = x + n;
        series[1 + kind] = (ganz_series){.label = labels[kind], .color = colors[kind], .x = x, .y = y, .dots = true};
        for (size_t i = 0; i < n; i++) {
            const ganz_operand_stats *const s = &o->list[i];
            if (!s->integer || s->largest == 0 || (int)s->kind != kind) continue;
            const int at = series[1 + kind].count++;
            x[at] = log2(ganz_operand_max_scale(s));
            y[at] = log2(s->scale);
            ends[0] = fmin(ends[0], fmin(x[at], y[at]));
            ends[1] = fmax(ends[1], fmax(x[at], y[at]));
        }
    }
    const ganz_chart chart = {.title = "Steps",
                              .x_label = "log2 of the step that clips nothing",
                              .left_label = "log2 of the step",
                              .series = series,
                              .count = 4};
    const ganz_status status = ganz_chart_write(&chart, path, err);
    ganz_free(block);
    return status;
}

ganz_status ganz_quantize_report(const char *model, const char *text, int lines, const char *folder, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    ganz_operands o;
    ganz_status status;
    if (lines < 1) return ganz_fail(err, GANZ_EINVAL, "a report needs at least one line");
    GANZ_TRY(ganz_operands_open(&o, model, text, lines, err));
    GANZ_CHECK(write_file(&o, folder, "quant.tsv", write_tsv, err));
    GANZ_CHECK(write_file(&o, folder, "quant.json", write_json, err));
    GANZ_CHECK(write_file(&o, folder, "quant.txt", write_text, err));
    status = draw(&o, folder, err);
out:
    ganz_operands_close(&o);
    return status;
}
