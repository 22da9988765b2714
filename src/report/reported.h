/* reported.h - a run directory as a report reads it: what is there. Only
 * public/privacy.json and public/options.json must be. */
#ifndef BB_REPORT_REPORTED_H
#define BB_REPORT_REPORTED_H

#include "base/status.h"
#include "report/table.h"

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct bb_reported {
    char *path;     /* as it was given */
    json_t *run;    /* operator/run.json; NULL without the operator's half, and so: */
    bb_table tasks; /* operator/tasks.csv; no rows: it is not there */
    bb_table trace; /* operator/trace.csv */
    json_t *privacy, *options, *index; /* public/ */
    json_t *effects;   /* public/effects.json; NULL: nobody asked for them */
    double *billboard; /* public/billboard.bin */
    size_t numbers;
} bb_reported;

/* BB_EDATA: no run directory, or one that was changed. */
BB_MUST_CHECK bb_status bb_reported_open(bb_reported *reported, const char *path);
/* Takes a zeroed one, too. */
void bb_reported_close(bb_reported *reported);

/* What is at a path in JSON (bb_json_at). */
double bb_reported_number(const json_t *json, const char *path); /* or NAN */
/* or NULL */
const char *bb_reported_text(const json_t *json, const char *path);

/* Whom the run is compared with, in the order of the page. */
typedef enum bb_against {
    BB_AGAINST_ALONE,
    BB_AGAINST_POOLED,
    BB_AGAINST_MIXED,
    BB_AGAINST_NO_PRIVACY,
    BB_AGAINST_MEAN, /* of all training rows, or their commonest class */
    BB_AGAINSTS
} bb_against;
/* "every task alone", ... */
const char *bb_against_name(bb_against whom);

/* A figure of models on the test rows, and what of it a run saves or adds; NAN: not
 * known. */
typedef struct bb_figure {
    double value, range[2];       /* the figure, with a 95 % interval over tasks */
    double gain, gain_range[2];   /* of the run over it, with a 95 % interval */
    double share, share_range[2]; /* of the tasks that gain */
} bb_figure;

/* A run's result in its own metric. */
typedef struct bb_result_figures {
    const char *metric, *title; /* "nmse", "nMSE" */
    bool less_is_better;
    double train, test, test_range[2];
    bb_figure against[BB_AGAINSTS];
} bb_result_figures;
bb_result_figures bb_reported_figures(const bb_reported *reported);

#endif
