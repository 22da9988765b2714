/* chart.h - a line chart as a standalone SVG file: no scripts, no fonts of its own,
 * readable on light and dark backgrounds and by screen readers. */
#ifndef BB_REPORT_CHART_H
#define BB_REPORT_CHART_H

#include "base/status.h"
#include "report/plot.h"

enum { BB_CHART_NOTES = 2, BB_CHART_LINES = 2 };

/* Points that are not finite, or not positive on a log axis, interrupt a line. */
typedef struct bb_chart {
    const char *title, *note[BB_CHART_NOTES]; /* UTF-8; notes are one line each */
    bb_axis x, y;
    size_t points;
    const double *at;
    const char *name[BB_CHART_LINES];
    const double *line[BB_CHART_LINES]; /* one without a point that can be drawn is left
                                           out of the legend, too */
} bb_chart;

/* Writes the file whole or not at all. */
BB_MUST_CHECK bb_status bb_chart_write(const bb_chart *c, const char *path);

#endif
