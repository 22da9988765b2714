/* curves.h - results over something that was varied: lines with error bars, a line each of
 * several methods, and levels that do not depend on it. */
#ifndef BB_REPORT_CURVES_H
#define BB_REPORT_CURVES_H

#include "report/plot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The mean of runs that differ in their seed only, and how far they spread. */
typedef struct bb_curve_point {
    double x, mean, least, most;
    size_t runs;
} bb_curve_point;
typedef struct bb_drawn_curve {
    const char *name; /* NULL: points alone, without a line and a name */
    size_t points;
    bb_curve_point *point; /* ascending x */
} bb_drawn_curve;
typedef struct bb_level {
    const char *name;
    double value; /* NAN: it is left out */
} bb_level;

enum { BB_MOST_CURVES = 8, BB_CHART_WIDTH = 720 };
typedef struct bb_curves {
    const char *title, *metric; /* metric: what y is */
    bb_axis x;                  /* title, log, places; its range is found */
    size_t curves, levels;
    const bb_drawn_curve
        *curve; /* more than BB_MOST_CURVES begin their colours again */
    const bb_level *level;
} bb_curves;

/* How high the picture is. */
int bb_curves_height(const bb_curves *curves);
/* False: there is nothing to draw. */
bool bb_draw_curves(FILE *to, const bb_curves *curves);

#endif
