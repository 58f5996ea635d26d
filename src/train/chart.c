#include "train/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ganz/io.h"

/* The page in pixels; the frame is what the margins leave. */
enum { PAGE_W = 880, PAGE_H = 500, LEFT = 76, RIGHT = 76, TOP = 72, BOTTOM = 60, TICKS = 7 };
enum { FRAME_W = PAGE_W - LEFT - RIGHT, FRAME_H = PAGE_H - TOP - BOTTOM };

typedef struct axis {
    double low, high;
} axis;

typedef struct page {
    ganz_output *out;
    ganz_error *err;
    axis x, left, right;
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

/* Stretches an axis over the points of its series. */
static void reach(axis *a, const double *values, const double *others, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i]) || !isfinite(others[i])) continue;
        a->low = fmin(a->low, values[i]);
        a->high = fmax(a->high, values[i]);
    }
}

/* Room above and below, so that no line runs along the frame. */
static void settle(axis *a, double room)
{
    if (a->low > a->high) *a = (axis){0, 1};
    if (a->high - a->low < 1e-9 * (1 + fabs(a->high))) *a = (axis){a->low - 0.5, a->high + 0.5};
    const double more = (a->high - a->low) * room;
    a->low -= more;
    a->high += more;
}

static double place_x(const page *p, double x) { return LEFT + FRAME_W * (x - p->x.low) / (p->x.high - p->x.low); }
static double place_y(const axis *a, double y) { return TOP + FRAME_H * (1 - (y - a->low) / (a->high - a->low)); }

/* Text of the file with what XML needs escaped. */
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

static void tick_text(double value, double step, char text[32])
{
    if (fabs(value) < step * 1e-6) value = 0;
    if (fabs(value) >= 1e6) snprintf(text, 32, "%gM", value / 1e6);
    else if (fabs(value) >= 1e4) snprintf(text, 32, "%gk", value / 1e3);
    else snprintf(text, 32, "%.6g", value);
}

static ganz_status draw_x_axis(page *p, const char *name)
{
    double first, step;
    char text[32];
    const int n = ganz_chart_ticks(p->x.low, p->x.high, TICKS + 1, &first, &step);
    for (int i = 0; i < n; i++) {
        const double x = place_x(p, first + i * step);
        PRINT(p, "<path d=\"M%.1f %d v5\" stroke=\"#444\"/>\n", x, TOP + FRAME_H);
        tick_text(first + i * step, step, text);
        GANZ_TRY(label(p, x, TOP + FRAME_H + 20, "text-anchor=\"middle\"", text));
    }
    return label(p, LEFT + FRAME_W / 2.0, PAGE_H - 14, "text-anchor=\"middle\"", name);
}

static ganz_status draw_y_axis(page *p, const axis *a, bool right, const char *name)
{
    double first, step;
    char text[32], turned[96];
    const int edge = right ? LEFT + FRAME_W : LEFT;
    const int n = ganz_chart_ticks(a->low, a->high, TICKS, &first, &step);
    for (int i = 0; i < n; i++) {
        const double y = place_y(a, first + i * step);
        if (!right) PRINT(p, "<path d=\"M%d %.1f h%d\" stroke=\"#e4e4e4\"/>\n", LEFT, y, FRAME_W);
        PRINT(p, "<path d=\"M%d %.1f h%d\" stroke=\"#444\"/>\n", edge, y, right ? 5 : -5);
        tick_text(first + i * step, step, text);
        GANZ_TRY(label(p, edge + (right ? 9 : -9), y + 4, right ? "" : "text-anchor=\"end\"", text));
    }
    const int x = right ? PAGE_W - 16 : 22, y = TOP + FRAME_H / 2;
    snprintf(turned, sizeof turned, "text-anchor=\"middle\" transform=\"rotate(%d %d %d)\"", right ? 90 : -90, x, y);
    return label(p, x, y, turned, name);
}

/* A line breaks where a point is missing. */
static ganz_status draw_series(page *p, const ganz_series *s)
{
    const axis *const a = s->right ? &p->right : &p->left;
    if (s->width > 0) {
        PRINT(p, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linejoin=\"round\" d=\"", s->color,
              s->width);
        for (int i = 0, pen = 0; i < s->count; i++) {
            const bool there = isfinite(s->x[i]) && isfinite(s->y[i]);
            if (there) PRINT(p, "%c%.1f %.1f", pen ? 'L' : 'M', place_x(p, s->x[i]), place_y(a, s->y[i]));
            pen = there;
        }
        PRINT(p, "\"/>\n");
    }
    for (int i = 0; s->dots && i < s->count; i++)
        if (isfinite(s->x[i]) && isfinite(s->y[i]))
            PRINT(p, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", place_x(p, s->x[i]),
                  place_y(a, s->y[i]), s->color);
    return GANZ_OK;
}

static ganz_status draw_legend(page *p, const ganz_chart *chart)
{
    double x = LEFT;
    for (int i = 0; i < chart->count; i++) {
        const ganz_series *const s = &chart->series[i];
        if (!s->label) continue;
        PRINT(p, "<path d=\"M%.1f %d h22\" stroke=\"%s\" stroke-width=\"3\"/>\n", x, TOP - 18, s->color);
        GANZ_TRY(label(p, x + 28, TOP - 14, "", s->label));
        x += 52 + 7.2 * (double)strlen(s->label);
    }
    return GANZ_OK;
}

/* A label that would run into the one before it goes a line lower. */
static ganz_status draw_marks(page *p, const ganz_chart *chart)
{
    double used = 0;
    int line = 0;
    for (int i = 0; i < chart->mark_count; i++) {
        const ganz_mark *const m = &chart->marks[i];
        if (!(m->x >= p->x.low && m->x <= p->x.high)) continue;
        const double x = place_x(p, m->x);
        line = x < used ? line + 1 : 0;
        used = x + 10 + 6.5 * (double)strlen(m->label);
        PRINT(p, "<path d=\"M%.1f %d v%d\" stroke=\"#888\" stroke-dasharray=\"3 4\"/>\n", x, TOP, FRAME_H);
        GANZ_TRY(label(p, x + 4, TOP + 14 + 13 * line, "font-size=\"11\" fill=\"#666\"", m->label));
    }
    return GANZ_OK;
}

static ganz_status draw(page *p, const ganz_chart *chart)
{
    PRINT(p,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
          "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n",
          PAGE_W, PAGE_H, PAGE_W, PAGE_H);
    PRINT(p, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", PAGE_W, PAGE_H);
    GANZ_TRY(label(p, LEFT, 28, "font-size=\"17\" font-weight=\"bold\"", chart->title));
    GANZ_TRY(draw_x_axis(p, chart->x_label));
    GANZ_TRY(draw_y_axis(p, &p->left, false, chart->left_label));
    if (chart->right_label) GANZ_TRY(draw_y_axis(p, &p->right, true, chart->right_label));
    PRINT(p, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#444\"/>\n", LEFT, TOP, FRAME_W,
          FRAME_H);
    GANZ_TRY(draw_marks(p, chart));
    for (int i = 0; i < chart->count; i++) GANZ_TRY(draw_series(p, &chart->series[i]));
    GANZ_TRY(draw_legend(p, chart));
    PRINT(p, "</svg>\n");
    return GANZ_OK;
}

ganz_status ganz_chart_write(const ganz_chart *chart, const char *path, ganz_error *err)
{
    const axis empty = {INFINITY, -INFINITY};
    page p = {.err = err, .x = empty, .left = empty, .right = empty};
    for (int i = 0; i < chart->count; i++) {
        const ganz_series *const s = &chart->series[i];
        reach(&p.x, s->x, s->y, s->count);
        reach(s->right ? &p.right : &p.left, s->y, s->x, s->count);
    }
    settle(&p.x, 0);
    settle(&p.left, 0.04);
    settle(&p.right, 0.04);
    GANZ_TRY(ganz_output_open(&p.out, path, err));
    const ganz_status status = draw(&p, chart);
    if (status == GANZ_OK) return ganz_output_finish(&p.out, err);
    ganz_output_abandon(&p.out);
    return status;
}
