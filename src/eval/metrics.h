/* metrics.h - how good predictions are, over all rows and task by task.
 *
 * Rows are grouped by task: task i has rows first[i] .. first[i+1]-1, perhaps none. A
 * number without meaning is NAN: every metric without rows, nMSE and R2 when the
 * targets do not vary, AUC when no task has both classes, precision where nothing is
 * predicted, recall where there are no labels.
 *
 * Each loss has one metric that its tasks are summed up and compared by:
 *   squared nMSE, logistic AUC, softmax accuracy, multilabel F1. */
#ifndef BB_EVAL_METRICS_H
#define BB_EVAL_METRICS_H

#include "data/dataset.h"
#include "learners/local.h"

#include <math.h>
#include <stddef.h>

enum { BB_TOP_LABELS = 5 };

typedef struct bb_metrics {
    size_t rows, tasks;  /* scored */
    size_t without_rows; /* tasks that have no row here, and are in no metric */
    size_t one_class;    /* likewise: tasks with rows of one class only: no AUC */
    double nmse;         /* SSE / (rows * variance of all their targets) */
    double rmse, r2;     /* squared loss; R2 = 1 - nMSE */
    double accuracy;     /* logistic: share of right signs; softmax: of right classes */
    double auc;          /* logistic, and squared where every target is 0 or 1: mean of
                            the tasks' AUC */
    double log_loss;     /* mean over the rows of the loss of learners/local.h, s = 1,
                            of two or more classes 36.04 (no probability is nearer
                            to 0 than 2.2e-16) at most a row; all but squared */
    /* multilabel, of all labels of all rows together (micro averages); a label is
     * predicted where z > 0: */
    double precision, recall, f1; /* F1 = 2 TP / (2 TP + FP + FN) */
    double recall_at_5; /* share of the labels that are among their row's 5 largest z */
} bb_metrics;

/* Nothing counted, and every metric NAN. */
static inline bb_metrics bb_no_metrics(void) {
    return (bb_metrics){.nmse = NAN,
                        .rmse = NAN,
                        .r2 = NAN,
                        .accuracy = NAN,
                        .auc = NAN,
                        .log_loss = NAN,
                        .precision = NAN,
                        .recall = NAN,
                        .f1 = NAN,
                        .recall_at_5 = NAN};
}

/* -- one number a row: squared and logistic -- */

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
/* What a task adds to the loss's one metric, which is a ratio of sums over tasks:
 * value / weight (AUC: of tasks that have one; accuracy; F1), or value / (squares -
 * sum^2 / weight) with the squared loss. All 0 where a task adds nothing. */
typedef struct bb_metric_part {
    double weight, value;
    double sum, squares; /* of the targets, from some number near them */
} bb_metric_part;
double bb_metrics_of_parts(bb_loss loss, const bb_metric_part *sum);
/* score: of bb_metrics_scores. */
void bb_metrics_parts(const bb_scored *scored, const double *score,
                      bb_metric_part *part);

/* What tasks are compared by, NAN where they cannot be: SSE, or AUC. BB_ENOMEM only. */
BB_MUST_CHECK bb_status bb_metrics_scores(const bb_scored *scored, double *score);
/* Logistic: each task's log loss, NAN without rows. */
void bb_metrics_log_losses(const bb_scored *scored, double *loss);

/* -- several outputs: softmax and multilabel -- */

/* What one task's rows add up to. */
typedef struct bb_hits {
    size_t rows;
    size_t right;  /* softmax: rows of the right class; multilabel: labels predicted */
    size_t wrong;  /* multilabel: predicted, and not there */
    size_t missed; /* multilabel: there, and not predicted */
    size_t early;  /* multilabel: labels among the 5 largest outputs of their row */
    double loss;   /* sum over the rows */
} bb_hits;

/* Adds a row with the outputs z. Softmax: data->y[row] is a class, < outputs;
 * multilabel: the row's labels are < outputs. */
void bb_hits_add(bb_hits *hits, bb_loss loss, size_t outputs, const bb_dataset *data,
                 size_t row, const double *z);
bb_metric_part bb_hits_part(bb_loss loss, const bb_hits *hits);
bb_metrics bb_hits_metrics(bb_loss loss, size_t tasks, const bb_hits *hits);
/* A task's accuracy or F1, NAN without one: both its figure and its score. */
double bb_hits_figure(bb_loss loss, const bb_hits *hits);

/* -- over tasks -- */

/* The least, the middle (mean of two for an even count) and the largest of the figures
 * that are numbers; all NAN if there are none. */
typedef struct bb_summary {
    size_t tasks;
    double least, median, most;
} bb_summary;
BB_MUST_CHECK bb_status bb_metrics_summary(size_t tasks, const double *figure,
                                           bb_summary *out);

/* Of the tasks that can be compared (with rows; logistic: with both classes), the share
 * for which one is not worse than the other, and the share for which it is better: a
 * smaller SSE, a larger AUC, accuracy or F1. A difference below 1e-9 of the figure is
 * none, and so is an SSE of errors below 1e-6 of the deviation of all targets. */
typedef struct bb_gain {
    size_t tasks;
    bool
        by_log_loss; /* logistic, where no task has an AUC: a smaller log loss is better */
    double not_worse, better;
    double
        improvement; /* squared: the part of the SSE that is saved, NAN where there is
                           none to save; else the mean of the tasks' differences in AUC,
                           accuracy or F1, or what is saved of their log loss */
    double better_range[2], improvement_range[2]; /* bb_metrics_gain_range; else NAN */
} bb_gain;
/* Of scores over those of a baseline. part: bb_metrics_parts of either, for the deviation of
 * targets; NULL with other losses than the squared one. */
bb_gain bb_metrics_compare(bb_loss loss, size_t tasks, const double *score,
                           const double *baseline, const bb_metric_part *part);
/* The same with 95 % intervals of the two. Of the share Wilson's; NAN with fewer than two
 * tasks. Of the improvement percentiles of 1,000 resamples of the tasks (bootstrap), always
 * the same ones, farther out where tasks are few; NAN with fewer than five. BB_ENOMEM only. */
enum { BB_RESAMPLES = 1000 };
BB_MUST_CHECK bb_status bb_metrics_gain_range(bb_loss loss, size_t tasks,
                                              const double *score,
                                              const double *baseline,
                                              const bb_metric_part *part, bb_gain *out);
/* A 95 % interval of the metric by itself, from as many resamples of the tasks, the same
 * ones for the same number of tasks that count. NAN with fewer than five. BB_ENOMEM only.
 */
BB_MUST_CHECK bb_status bb_metrics_range(bb_loss loss, size_t tasks,
                                         const bb_metric_part *part, double range[2]);

/* -- without learning -- */

/* What predictions reach that do not look at rows: always the commonest class, or with
 * labels always the 5 commonest (fewer if there are not so many), of all training rows
 * (pooled), or of each task's own (a task without training rows: the pooled ones). The
 * first of equally common ones. */
typedef struct bb_majority {
    bool there; /* not with the squared loss */
    bb_metrics pooled, own;
} bb_majority;

/* Counts in `train`, scores on `test`: the same tasks, targets as in bb_hits_add, or
 * -1 and +1 with the logistic loss. Every metric that needs outputs is NAN. BB_ENOMEM
 * only. */
BB_MUST_CHECK bb_status bb_metrics_majority(bb_loss loss, size_t outputs,
                                            const bb_dataset *train,
                                            const bb_dataset *test, bb_majority *out);

#endif
