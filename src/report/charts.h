/* charts.h - the charts of a page, as SVG inside HTML: page.css has their colours, each
 * has a title and a description, and numbers stand beside them as text. None needs a
 * script. */
#ifndef BB_REPORT_CHARTS_H
#define BB_REPORT_CHARTS_H

#include "report/reported.h"
#include "report/structure.h"

#include <stdio.h>

/* What the run saves against others, with intervals; nothing is drawn where nothing was
 * compared: false. */
bool bb_draw_gains(FILE *to, const bb_result_figures *figures);

/* The tasks from the one that loses most to the one that gains most. gain: count,
 * ascending. */
void bb_draw_tasks(FILE *to, size_t count, const double *gain, const char *what);

/* One or two columns of a trace over its rows, the second one dashed; false where there
 * is nothing to draw. */
typedef struct bb_over_rounds {
    const char *title;
    bool from_zero;
    size_t columns, column[2];
} bb_over_rounds;
bool bb_draw_rounds(FILE *to, const bb_table *trace, const bb_over_rounds *what);

void bb_draw_spectrum(FILE *to, const bb_spectrum_seen *spectrum);
void bb_draw_map(FILE *to, const bb_model_map *map);
void bb_draw_cosines(FILE *to, const bb_model_map *map);

/* Begins a picture of this size; whoever calls it ends it with </svg>. */
void bb_chart_begin(FILE *to, int width, int height, const char *title,
                    const char *about);

#endif
