/* figures.h - the figures of an experiment, out of its results.json (src/experiments). */
#ifndef BB_REPORT_FIGURES_H
#define BB_REPORT_FIGURES_H

#include "base/status.h"
#include "report/curves.h"

#include <jansson.h>

/* What each picture is given to. `panel` says of what it is where a figure has several:
 * "noise: valid, train-fraction: 0.3"; "" where there is one. */
typedef struct bb_figure_taker {
    void *self;
    void (*take)(void *self, const char *title, const char *panel,
                 const bb_curves *curves);
} bb_figure_taker;

/* A figure has a line for each value of its column `line` over its column `x`; runs that
 * have no x are levels. Every other column that varies makes panels, and what has no value
 * there is in all of them. BB_EDATA: the results name a column that they do not have. */
BB_MUST_CHECK bb_status bb_figures_draw(const json_t *results,
                                        const bb_figure_taker *taker);

/* A label as people read it: a text, a number, "-". Cut to `size` bytes. */
void bb_label_text(const json_t *value, char *text, size_t size);

#endif
