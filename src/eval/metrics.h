/* metrics.h - how good predictions are, over all rows and task by task.
 *
 * Rows are grouped by task: task i has rows first[i] .. first[i+1]-1, perhaps none. A
 * number without meaning is NAN: every metric without rows, nMSE and R2 when the
 * targets do not vary, AUC when no task has both classes. */
#ifndef BB_EVAL_METRICS_H
#define BB_EVAL_METRICS_H

#include "base/status.h"
#include "learners/local.h"

#include <stddef.h>

typedef struct bb_metrics {
    size_t rows, tasks;   /* scored */
    size_t without_rows;  /* tasks that have no row here, and are in no metric */
    size_t one_class;     /* logistic: tasks with rows of one class only: no AUC */
    double nmse;          /* SSE / (rows * variance of all their targets) */
    double rmse, r2;      /* squared loss; R2 = 1 - nMSE */
    double accuracy, auc; /* logistic: share of right signs; mean of the tasks' AUC */
} bb_metrics;

/* What the rows of many tasks were, and what was predicted of them: y_j and x_j.w + b.
 * With the logistic loss y is -1 or +1. */
typedef struct bb_scored {
    bb_loss loss;
    size_t tasks;
    const size_t *first;      /* tasks + 1 */
    const double *y;          /* first[tasks] */
    const double *prediction; /* first[tasks] */
} bb_scored;

/* Metrics of everything; BB_ENOMEM only. */
BB_MUST_CHECK bb_status bb_metrics_all(const bb_scored *scored, bb_metrics *out);

/* Each task's own figure, NAN where it has none: squared loss, its SSE over (its rows *
 * the variance of its targets); logistic, its AUC. BB_ENOMEM only. */
BB_MUST_CHECK bb_status bb_metrics_tasks(const bb_scored *scored, double *figure);

/* The least, the middle (mean of two for an even count) and the largest of the figures
 * that are numbers; all NAN if there are none. */
typedef struct bb_summary {
    size_t tasks;
    double least, median, most;
} bb_summary;
BB_MUST_CHECK bb_status bb_metrics_summary(size_t tasks, const double *figure,
                                           bb_summary *out);

/* Of the tasks that can be compared (with rows; logistic: with both classes), the share
 * for which `scored` is not worse than `baseline`, and the share for which it is
 * better: a smaller SSE, a larger AUC. A difference below 1e-9 of the figure is none.
 */
typedef struct bb_gain {
    size_t tasks;
    double not_worse, better;
} bb_gain;
BB_MUST_CHECK bb_status bb_metrics_gain(const bb_scored *scored,
                                        const double *baseline_prediction,
                                        bb_gain *out);

#endif
