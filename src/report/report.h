/* report.h - what runs have reached, for people: one page of HTML that needs nothing
 * else, or a table for a text, a spreadsheet or a paper. */
#ifndef BB_REPORT_REPORT_H
#define BB_REPORT_REPORT_H

#include "report/reported.h"

#include <stdio.h>

/* html, markdown, csv, latex, svg. */
typedef enum bb_report_form {
    BB_REPORT_HTML,
    BB_REPORT_MARKDOWN,
    BB_REPORT_CSV,
    BB_REPORT_LATEX,
    BB_REPORT_SVG, /* the figures of an experiment */
    BB_REPORT_FORMS
} bb_report_form;
const char *bb_report_form_name(bb_report_form form);

/* Reads run directories, or the folder of one experiment (src/experiments), and writes
 * their report to `path`, whole or not at all. Several runs are compared with each other.
 * Looks at figures of the operator's half where it is there, which no epsilon covers; the
 * page says so. BB_EUSAGE: no runs, `path` is a run, or pictures of what is no experiment.
 * BB_EDATA: no run directory, or one that was changed; an experiment that is not complete. */
BB_MUST_CHECK bb_status bb_report_write(const char *const *run, size_t runs,
                                        bb_report_form form, const char *path);

/* -- inside the room -- */

BB_MUST_CHECK bb_status bb_report_page(FILE *to, size_t runs, const bb_reported *run);
BB_MUST_CHECK bb_status bb_report_experiment_page(FILE *to, const json_t *results);
void bb_report_means(FILE *to, bb_report_form form, const json_t *results);
void bb_report_table(FILE *to, bb_report_form form, size_t runs,
                     const bb_reported *run);

/* Nothing was published, whatever the budget was: every task learned alone. */
bool bb_report_is_alone(const bb_reported *run);
/* "epsilon 1, delta 1e-05, replace-one, sampling all", or that it is not private. */
void bb_report_promise(FILE *to, const bb_reported *run);
/* The last part of a run's path. */
const char *bb_report_name(const bb_reported *run);

#endif
