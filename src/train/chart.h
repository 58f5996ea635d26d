/* Line charts as SVG: two vertical axes, round ticks, a legend. */
#ifndef GANZ_TRAIN_CHART_H
#define GANZ_TRAIN_CHART_H

#include "base/base.h"

typedef struct ganz_series {
    const char *label;   /* NULL: not in the legend */
    const char *color;   /* "#rrggbb" */
    const double *x, *y; /* (count), points that are not finite are left out */
    int count;
    bool right;   /* belongs to the right axis */
    bool dots;    /* a dot on each point */
    double width; /* of the line; 0: none */
} ganz_series;

/* A dashed line from top to bottom with a word beside it. */
typedef struct ganz_mark {
    double x;
    char label[24];
} ganz_mark;

typedef struct ganz_chart {
    const char *title, *x_label, *left_label, *right_label; /* right_label NULL: no right axis */
    const ganz_series *series;
    int count;
    const ganz_mark *marks;
    int mark_count;
} ganz_chart;

/* Replaces the file whole. A chart without points has its axes only. */
ganz_status ganz_chart_write(const ganz_chart *chart, const char *path, ganz_error *err);

/* Round tick marks over [low, high], at most `most`: *first, *step; returns how many. */
int ganz_chart_ticks(double low, double high, int most, double *first, double *step);

#endif
