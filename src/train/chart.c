/* Line charts as SVG text. The margins are made as wide as their labels need before anything is drawn, so that no two
 * texts lie on each other. */
#include "train/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ganz/io.h"

/* The page in pixels. */
enum { PAGE_W = 880, PAGE_H = 500, EDGE = 22, TOP = 72, BOTTOM = 60, TICKS = 7, MARK_LINE = 14, MARK_LINES = 4 };

typedef struct axis {
    double low, high;
    double first, step; /* ticks */
    int ticks;
} axis;

typedef struct frame {
    double x, y, width, height;
} frame;

typedef struct page {
    ganz_output *out;
    ganz_error *err;
    axis x, left, right;
    frame frame;
} page;

#define PRINT(p, ...) GANZ_TRY(ganz_output_printf((p)->out, (p)->err, __VA_ARGS__))

int ganz_chart_ticks(double low, double high, int most, double *first, double *step)
{
    if (!(high > low)) high = low + 1;
    const double rough = (high - low) / most;
    const double unit = pow(10, floor(log10(rough)));
    const double ratio = rough / unit;
    *step = unit * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
    *first = ceil(low / *step - 1e-9) * *step;
    return (int)floor((high - *first) / *step + 1e-9) + 1;
}

/* ---- axes --------------------------------------------------------------------------------------- */

/* A number that can be drawn: there, and small enough that an axis around it has ticks that differ. No run writes
 * larger ones; a damaged log may have them. */
static bool drawable(double value) { return fabs(value) <= 1e12; }

/* Stretches an axis over the points of its series. */
static void reach(axis *a, const double *values, const double *others, int count)
{
    for (int i = 0; i < count; i++) {
        if (!drawable(values[i]) || !drawable(others[i])) continue;
        a->low = fmin(a->low, values[i]);
        a->high = fmax(a->high, values[i]);
    }
}

/* Leaves room beyond the outermost points, so that no line runs along the frame; none below zero, unless values lie
 * there. A single value gets an axis around it. */
static void settle(axis *a, double room)
{
    if (a->low > a->high) a->low = 0, a->high = 1;
    const bool positive = a->low >= 0;
    if (a->high - a->low < 1e-9 * (1 + fabs(a->high))) {
        a->low -= 0.5;
        a->high = fmax(a->high, a->low < 0 && positive ? 0.5 : a->high) + 0.5;
    }
    const double more = (a->high - a->low) * room;
    if (positive && a->low - more < 0) a->low = a->low <= more / 2 ? -more / 2 : 0;
    else a->low -= more;
    a->high += more;
}

static void set_ticks(axis *a, int most, bool whole)
{
    a->ticks = ganz_chart_ticks(a->low, a->high, most, &a->first, &a->step);
    if (!whole || a->step >= 1) return;
    a->step = 1;
    a->first = ceil(a->low);
    a->ticks = (int)(floor(a->high) - a->first) + 1;
}

static bool whole_numbers(const ganz_chart *chart)
{
    for (int i = 0; i < chart->count; i++)
        for (int j = 0; j < chart->series[i].count; j++) {
            const double x = chart->series[i].x[j];
            if (isfinite(x) && x != floor(x)) return false;
        }
    return true;
}

/* With as many decimals as the distance of two ticks has. */
static void tick_text(double value, double step, char text[32])
{
    const int decimals = (int)fmax(0, ceil(-log10(step) - 1e-9));
    if (fabs(value) < step * 1e-6) value = 0;
    if (value == 0) snprintf(text, 32, "0");
    else if (fabs(value) >= 1e6) snprintf(text, 32, "%gM", value / 1e6);
    else if (fabs(value) >= 1e4) snprintf(text, 32, "%gk", value / 1e3);
    else if (decimals <= 6) snprintf(text, 32, "%.*f", decimals, value);
    else snprintf(text, 32, "%.3g", value);
}

/* ---- layout ------------------------------------------------------------------------------------- */

/* An upper estimate of a text's width in pixels, in sans-serif fonts of 13 pixels. */
static double text_width(const char *text)
{
    double width = 0;
    for (; *text; text++) width += strchr("iljtfr.,: '", *text) ? 5 : strchr("mwMW", *text) ? 12 : 8.3;
    return width;
}

static double tick_width(const axis *a)
{
    double widest = 0;
    for (int i = 0; i < a->ticks; i++) {
        char text[32];
        tick_text(a->first + i * a->step, a->step, text);
        widest = fmax(widest, text_width(text));
    }
    return widest;
}

static double mark_width(const ganz_mark *m) { return 8 + text_width(m->label) * 11 / 13; }

static double place_x(const page *p, double x)
{
    return p->frame.x + p->frame.width * (x - p->x.low) / (p->x.high - p->x.low);
}

static double place_y(const page *p, const axis *a, double y)
{
    return p->frame.y + p->frame.height * (1 - (y - a->low) / (a->high - a->low));
}

static bool shows(const page *p, const ganz_mark *m) { return m->x >= p->x.low && m->x <= p->x.high; }

/* Marks from `first` on whose labels would run into each other; *last: the one after them. They are written on lines
 * of their own, the first at the top, so that no mark's line crosses a label. */
static int cluster(const page *p, const ganz_chart *chart, int first, int *last)
{
    double used = 0;
    int count = 0, i = first;
    for (; i < chart->mark_count && count < MARK_LINES; i++) {
        const ganz_mark *const m = &chart->marks[i];
        if (!shows(p, m)) continue;
        const double x = place_x(p, m->x);
        if (count > 0 && x >= used) break;
        used = fmax(used, x + mark_width(m));
        count++;
    }
    *last = i;
    return count;
}

static int mark_lines(const page *p, const ganz_chart *chart)
{
    int most = 0;
    for (int i = 0, next; i < chart->mark_count; i = next) {
        const int count = cluster(p, chart, i, &next);
        if (count > most) most = count;
    }
    return most;
}

/* Axes and margins of a chart. */
static void lay_out(page *p, const ganz_chart *chart)
{
    const double none = INFINITY;
    p->x = p->left = p->right = (axis){.low = none, .high = -none};
    for (int i = 0; i < chart->count; i++) {
        const ganz_series *const s = &chart->series[i];
        reach(&p->x, s->x, s->y, s->count);
        reach(s->right ? &p->right : &p->left, s->y, s->x, s->count);
    }
    settle(&p->x, 0.015);
    settle(&p->left, 0.04);
    settle(&p->right, 0.04);
    set_ticks(&p->x, TICKS + 1, whole_numbers(chart));
    set_ticks(&p->left, TICKS, false);
    set_ticks(&p->right, TICKS, false);
    const double left = EDGE + 18 + tick_width(&p->left);
    const double right = chart->right_label ? EDGE + 18 + tick_width(&p->right) : EDGE + 10;
    p->frame = (frame){.x = left, .width = PAGE_W - left - right};
    p->frame.y = TOP + MARK_LINE * mark_lines(p, chart);
    p->frame.height = PAGE_H - BOTTOM - p->frame.y;
}

/* ---- drawing ------------------------------------------------------------------------------------ */

/* Text of the file, with the characters of XML escaped. */
static ganz_status put_text(page *p, const char *text)
{
    for (; *text; text++) {
        const char *const escaped = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
        if (escaped) PRINT(p, "%s", escaped);
        else PRINT(p, "%c", *text);
    }
    return GANZ_OK;
}

static ganz_status label(page *p, double x, double y, const char *style, const char *text)
{
    PRINT(p, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    GANZ_TRY(put_text(p, text));
    PRINT(p, "</text>\n");
    return GANZ_OK;
}

static ganz_status draw_x_axis(page *p, const char *name)
{
    const double bottom = p->frame.y + p->frame.height;
    char text[32];
    for (int i = 0; i < p->x.ticks; i++) {
        const double value = p->x.first + i * p->x.step, x = place_x(p, value);
        PRINT(p, "<path d=\"M%.1f %.1f v5\" stroke=\"#444\"/>\n", x, bottom);
        tick_text(value, p->x.step, text);
        GANZ_TRY(label(p, x, bottom + 20, "text-anchor=\"middle\"", text));
    }
    return label(p, p->frame.x + p->frame.width / 2, PAGE_H - 14, "text-anchor=\"middle\"", name);
}

static ganz_status draw_y_axis(page *p, const axis *a, bool right, const char *name)
{
    char text[32], turned[96];
    const double edge = right ? p->frame.x + p->frame.width : p->frame.x;
    for (int i = 0; i < a->ticks; i++) {
        const double value = a->first + i * a->step, y = place_y(p, a, value);
        if (!right) PRINT(p, "<path d=\"M%.1f %.1f h%.1f\" stroke=\"#e4e4e4\"/>\n", edge, y, p->frame.width);
        PRINT(p, "<path d=\"M%.1f %.1f h%d\" stroke=\"#444\"/>\n", edge, y, right ? 5 : -5);
        tick_text(value, a->step, text);
        GANZ_TRY(label(p, edge + (right ? 9 : -9), y + 4, right ? "" : "text-anchor=\"end\"", text));
    }
    const double x = right ? PAGE_W - EDGE : EDGE, y = p->frame.y + p->frame.height / 2;
    snprintf(turned, sizeof turned, "text-anchor=\"middle\" transform=\"rotate(%d %.1f %.1f)\"", right ? 90 : -90, x,
             y);
    return label(p, x, y, turned, name);
}

static bool there(const ganz_series *s, int i)
{
    return i >= 0 && i < s->count && drawable(s->x[i]) && drawable(s->y[i]);
}

/* A line breaks where a point is missing. */
static ganz_status draw_line(page *p, const ganz_series *s)
{
    const axis *const a = s->right ? &p->right : &p->left;
    PRINT(p, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linejoin=\"round\" d=\"", s->color,
          s->width);
    for (int i = 0; i < s->count; i++)
        if (there(s, i))
            PRINT(p, "%c%.1f %.1f", there(s, i - 1) ? 'L' : 'M', place_x(p, s->x[i]), place_y(p, a, s->y[i]));
    PRINT(p, "\"/>\n");
    return GANZ_OK;
}

/* A point that no line leads to has a dot. */
static ganz_status draw_series(page *p, const ganz_series *s)
{
    const axis *const a = s->right ? &p->right : &p->left;
    if (s->width > 0) GANZ_TRY(draw_line(p, s));
    for (int i = 0; i < s->count; i++) {
        const bool alone = !there(s, i - 1) && !there(s, i + 1);
        if (there(s, i) && (s->dots || alone))
            PRINT(p, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", place_x(p, s->x[i]),
                  place_y(p, a, s->y[i]), s->color);
    }
    return GANZ_OK;
}

static ganz_status draw_legend(page *p, const ganz_chart *chart)
{
    double x = p->frame.x;
    for (int i = 0; i < chart->count; i++) {
        const ganz_series *const s = &chart->series[i];
        if (!s->label || s->count == 0) continue;
        PRINT(p, "<path d=\"M%.1f %d h22\" stroke=\"%s\" stroke-width=\"3\"/>\n", x, TOP - 26, s->color);
        GANZ_TRY(label(p, x + 28, TOP - 22, "", s->label));
        x += 46 + text_width(s->label);
    }
    return GANZ_OK;
}

/* A dashed line and its label above the frame, `line` text lines up. */
static ganz_status draw_mark(page *p, const ganz_mark *m, int line)
{
    const double x = place_x(p, m->x), up = MARK_LINE * (line + 1);
    PRINT(p, "<path d=\"M%.1f %.1f v%.1f\" stroke=\"#888\" stroke-dasharray=\"3 4\"/>\n", x, p->frame.y - up,
          p->frame.height + up);
    return label(p, x + 4, p->frame.y - up + 10, "font-size=\"11\" fill=\"#666\"", m->label);
}

static ganz_status draw_marks(page *p, const ganz_chart *chart)
{
    for (int i = 0, next; i < chart->mark_count; i = next)
        for (int line = cluster(p, chart, i, &next) - 1; i < next; i++)
            if (shows(p, &chart->marks[i])) GANZ_TRY(draw_mark(p, &chart->marks[i], line--));
    return GANZ_OK;
}

static ganz_status draw(page *p, const ganz_chart *chart)
{
    PRINT(p,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
          "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n",
          PAGE_W, PAGE_H, PAGE_W, PAGE_H);
    PRINT(p, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", PAGE_W, PAGE_H);
    GANZ_TRY(label(p, p->frame.x, 28, "font-size=\"17\" font-weight=\"bold\"", chart->title));
    GANZ_TRY(draw_x_axis(p, chart->x_label));
    GANZ_TRY(draw_y_axis(p, &p->left, false, chart->left_label));
    if (chart->right_label) GANZ_TRY(draw_y_axis(p, &p->right, true, chart->right_label));
    PRINT(p, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#444\"/>\n", p->frame.x,
          p->frame.y, p->frame.width, p->frame.height);
    GANZ_TRY(draw_marks(p, chart));
    for (int i = 0; i < chart->count; i++) GANZ_TRY(draw_series(p, &chart->series[i]));
    GANZ_TRY(draw_legend(p, chart));
    PRINT(p, "</svg>\n");
    return GANZ_OK;
}

ganz_status ganz_chart_write(const ganz_chart *chart, const char *path, ganz_error *err)
{
    page p = {.err = err};
    lay_out(&p, chart);
    GANZ_TRY(ganz_output_open(&p.out, path, err));
    const ganz_status status = draw(&p, chart);
    if (status == GANZ_OK) return ganz_output_finish(&p.out, err);
    ganz_output_abandon(&p.out);
    return status;
}
