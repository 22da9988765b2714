/* chart.h - a line chart as a standalone SVG file: no scripts, no fonts of its own,
 * readable on light and dark backgrounds and by screen readers. */
#ifndef BILLBOARD_CHART_H
#define BILLBOARD_CHART_H

#include <billboard/billboard.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct chart_axis {
    const char *title;
    bool log;
    double least, most; /* least < most; > 0 for a log axis */
} chart_axis;

enum { CHART_NOTES = 2, CHART_LINES = 2 };

/* Points that are not finite, or not positive on a log axis, interrupt a line. */
typedef struct chart {
    const char *title, *note[CHART_NOTES]; /* UTF-8; notes are one line each */
    chart_axis x, y;
    size_t points;
    const double *at;
    const char *name[CHART_LINES];
    const double *line[CHART_LINES]; /* one without a point that can be drawn is left
                                        out of the legend, too */
} chart;

/* The range that holds all finite values of a line, in round numbers. On a log axis
 * at most 16 decades, from above. False if there is none. */
bool chart_range(chart_axis *axis, const double *value, size_t count);

/* Writes the file whole or not at all. */
BILLBOARD_CHECK billboard_status chart_write(const chart *c, const char *path);

#endif
