/* report.h - what a run or an evaluation found, for machines and for people. */
#ifndef BB_TRAIN_REPORT_H
#define BB_TRAIN_REPORT_H

#include "base/hash.h"
#include "core/run.h"
#include "eval/metrics.h"
#include "methods/hope.h"
#include "privacy/statement.h"
#include "train/centred.h"
#include "train/mixed.h"
#include "train/options.h"

#include <stdio.h>

/* Somebody to compare with, on the test rows. For evaluation only. */
typedef struct bb_baseline {
    bool there;
    double lambda; /* the penalty that cross-validation chose; NAN: it did not */
    bb_ridge_columns columns; /* and what is done to rows before; likewise */
    bool edge;          /* the penalty is the least or the largest that was tried */
    bb_recipe recipe;   /* networks: how they descend; else 0 epochs */
    bb_mixed mixed;     /* of a mixed model, squared loss: what it found */
    bb_centred centred; /* with classes: likewise */
    bb_metrics test;
    double range[2]; /* 95 % of its metric over resampled tasks; NAN: none */
    bb_gain gain;    /* the run's over this baseline */
} bb_baseline;

/* Everything a training run found. Texts are borrowed from the request. */
typedef struct bb_report {
    const bb_train_request *request;
    size_t tasks, features, rows, threads;
    bb_statement statement;
    bb_outcome outcome;
    uint32_t rounds;
    bool sampled;        /* rounds were for some of the tasks */
    size_t never_picked; /* tasks that took part in none of them */
    bool foreseen;       /* before the run something was said of what it can reach: */
    bb_hope hope;
    json_t *effects;   /* public/effects.json; NULL: nobody asked. Owned by the run */
    const char *note;  /* what the billboard tells of the method's success, or NULL */
    char warning[600]; /* of results that cannot be meant; "": none */
    bb_metrics train, test;
    double test_range[2]; /* with a comparison: likewise */
    bb_summary per_task;  /* of the test rows' nMSE or AUC */
    bb_majority majority; /* of the training rows, on the test rows */
    bb_baseline stl, own, pooled, mixed, no_privacy; /* own: stl, tuned by itself */
    bb_baseline mean, own_mean; /* squared loss: of all training rows, of the task's */
    char billboard_sha256[BB_HASH_TEXT], models_sha256[BB_HASH_TEXT];
    double seconds_read, seconds_solve, seconds_total;
} bb_report;

bb_loss bb_report_loss(const bb_report *report);
/* The noise of the run's promise, by name. */
const char *bb_report_mechanism(const bb_report *report);
/* Whether there is somebody to compare with, and so test_range. */
bool bb_report_is_compared(const bb_report *report);

/* The object that --json prints and operator/run.json holds (docs/run-directory.md).
 * NULL: out of memory. */
json_t *bb_report_json(const bb_report *report);
/* The same for people: short tables, and the privacy statement. */
BB_MUST_CHECK bb_status bb_report_text(const bb_report *report, FILE *stream);

/* {rows, tasks, tasks_without_rows, tasks_of_one_class, nmse, rmse, r2, auc, accuracy,
 * log_loss, precision, recall, f1, recall_at_5}. */
json_t *bb_metrics_json(const bb_metrics *metrics);
/* {metric, tasks, min, median, max}. */
json_t *bb_summary_json(const bb_summary *summary, bb_loss loss);
/* {of, accuracy, auc, log_loss, rows}, or with labels {of, precision, recall, f1,
 * recall_at_5, rows}, of the pooled or the
 * tasks' own answer, which was counted in `of` ("training"); null where there is none.
 */
json_t *bb_majority_json(const bb_majority *majority, bool own, bb_loss loss,
                         const char *of);

#endif
