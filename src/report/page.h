/* page.h - inside the room: the sections of a page that are not in page.c, each written where
 * there is something to say, and nothing where there is not. */
#ifndef BB_REPORT_PAGE_H
#define BB_REPORT_PAGE_H

#include "report/reported.h"

#include <stdio.h>

/* One run. */
/* What the ledger at this path has spent and left as the page is made; NULL: nothing. */
void bb_page_budget(FILE *to, const char *ledger);
void bb_page_effects(FILE *to, const bb_reported *run);
BB_MUST_CHECK bb_status bb_page_tasks(FILE *to, const bb_reported *run);
BB_MUST_CHECK bb_status bb_page_structure(FILE *to, const bb_reported *run);

/* Several: their results over epsilon, and a table. */
BB_MUST_CHECK bb_status bb_page_runs(FILE *to, size_t runs, const bb_reported *run);

/* An experiment, by its results.json: a page's sections; or its figures alone, as one SVG
 * picture. BB_EDATA: no results of an experiment, or none that can be drawn. */
BB_MUST_CHECK bb_status bb_page_experiment(FILE *to, const json_t *results);
BB_MUST_CHECK bb_status bb_page_figures(FILE *to, const json_t *results);

/* The style of charts, for pages and for pictures that stand alone. */
const char *bb_page_chart_css(void);

/* A figure for people: four digits, or a dash. */
void bb_page_number(FILE *to, double value);
/* In per cent, with a sign where it is a gain. */
void bb_page_share(FILE *to, double value, bool sign);

#endif
