/* plot.h - what all charts of this room share: axes with round numbers, lines, and text
 * that SVG can hold. */
#ifndef BB_REPORT_PLOT_H
#define BB_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct bb_axis {
    const char *title;
    bool log, whole;    /* whole: numbers between are not of it: 1, 2, ... */
    double least, most; /* least < most; > 0 for a log axis */
    size_t places;      /* x: names at 0, 1, ... in place of numbers; 0: numbers */
    const char *const *place;
} bb_axis;
/* How far below a plot with this x axis the picture ends. */
double bb_axis_room_below(const bb_axis *x);

/* A rectangle in the coordinates of the SVG file, and what its sides mean. */
typedef struct bb_plot {
    bb_axis x, y;
    double left, right, top, bottom;
    FILE *to;
} bb_plot;

/* Is it finite, and positive on a log axis? */
bool bb_axis_draws(const bb_axis *axis, double value);
/* The range that holds all values that can be drawn, in round numbers; from 0 if
 * `from_zero` and the axis is linear. On a log axis at most 10 decades, from above. False
 * if there is none. */
bool bb_axis_cover(bb_axis *axis, const double *value, size_t count, bool from_zero);

double bb_plot_x(const bb_plot *plot, double value);
double bb_plot_y(const bb_plot *plot, double value);
/* Grid, numbers, both sides and both titles. */
void bb_plot_axes(const bb_plot *plot);
/* The x axis alone. */
void bb_plot_axis_x(const bb_plot *plot);
/* Begins a group of marks that belong together, for charts.js: those that have a <title>
 * ("where: value") are its points, or a path has them as data-points, "x y x y ...". NULL:
 * without a name. Whoever calls it ends it with </g>. */
void bb_plot_series(const bb_plot *plot, const char *name);
/* A line through points; those that cannot be drawn interrupt it. */
void bb_plot_line(const bb_plot *plot, const char *class, size_t count, const double *x,
                  const double *y);

/* Text as the content or an attribute of SVG and HTML. */
void bb_svg_text(FILE *to, const char *text);

#endif
