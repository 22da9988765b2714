/* assess.h - how good models of any kind are on rows. */
#ifndef BB_EVAL_ASSESS_H
#define BB_EVAL_ASSESS_H

#include "core/run.h"
#include "eval/metrics.h"
#include "models/models.h"

typedef struct bb_assessed {
    bb_loss loss;
    size_t tasks;
    bb_metrics metrics;
    double *figure;       /* tasks: for bb_metrics_summary; NAN where a task has none */
    double *score;        /* tasks: what two models are compared by, likewise */
    bool by_log_loss;     /* logistic, no task has an AUC: that is minus its log loss */
    bb_metric_part *part; /* tasks: what each adds to the metric */
} bb_assessed;

/* Metrics of the models on rows of the same tasks, whose targets fit the loss
 * (metrics.h); tasks are done by the engine's workers, with the same result for any
 * number of them. Errors of bb_models_outputs. */
BB_MUST_CHECK bb_status bb_assess(const bb_models *models, bb_loss loss,
                                  const bb_dataset *rows, const bb_engine *engine,
                                  bb_assessed *out);
/* The metrics alone, which keep nothing of a task. */
BB_MUST_CHECK bb_status bb_assess_metrics(const bb_models *models, bb_loss loss,
                                          const bb_dataset *rows,
                                          const bb_engine *engine, bb_metrics *out);
/* hits[i] (rows->tasks, zeroed) <- what task i's rows add up to; softmax and multilabel. */
BB_MUST_CHECK bb_status bb_assess_hits(const bb_models *models, bb_loss loss,
                                       const bb_dataset *rows, const bb_engine *engine,
                                       bb_hits *hits);
/* The same of predictions (rows->rows) that are made already; squared and logistic. */
BB_MUST_CHECK bb_status bb_assess_predictions(bb_loss loss, const bb_dataset *rows,
                                              const double *prediction,
                                              bb_assessed *out);
/* The same of rows that are counted already; softmax and multilabel. */
BB_MUST_CHECK bb_status bb_assess_tallies(bb_loss loss, size_t tasks,
                                          const bb_hits *hits, bb_assessed *out);
/* Takes a zeroed one, too. */
void bb_assessed_close(bb_assessed *assessed);

/* The gain of one over the other, on the same rows, with intervals. */
BB_MUST_CHECK bb_status bb_assessed_gain(const bb_assessed *ours,
                                         const bb_assessed *theirs, bb_gain *gain);
/* A 95 % interval of the loss's metric over tasks (bb_metrics_range). */
BB_MUST_CHECK bb_status bb_assessed_range(const bb_assessed *assessed, double range[2]);

#endif
