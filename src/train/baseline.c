#include "train/baseline.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

bb_dataset bb_dataset_as_one(const bb_dataset *data, size_t first[2]) {
    bb_dataset one = *data;
    first[0] = 0;
    first[1] = data->rows;
    one.tasks = 1;
    one.first = first;
    return one;
}

bb_status bb_assessed_check(const bb_assessed *a) {
    const bb_metrics *m = &a->metrics;
    const double error = a->loss == BB_LOSS_SQUARED ? m->rmse : m->log_loss;
    if (!m->rows || isfinite(error)) return BB_OK;
    return bb_fail(BB_ENUMERIC, "its predictions are not finite");
}

/* Assesses predictions, and takes their figures if they are finite. */
static bb_status take(const bb_baseline_rows *rows, const double *prediction,
                      bb_baseline *figures, bb_assessed *test) {
    bb_status status = bb_assess_predictions(rows->loss, rows->test, prediction, test);
    if (!status) status = bb_assessed_check(test);
    if (status) {
        bb_assessed_close(test);
        return status;
    }
    figures->there = true;
    figures->test = test->metrics;
    return BB_OK;
}

/* -- ridge
 * ------------------------------------------------------------------------------ */

/* Ways of preparing rows that are tried. */
static const bb_ridge_columns alone[] = {BB_COLUMNS_STANDARDIZED, BB_COLUMNS_AS_READ,
                                         BB_COLUMNS_FROM_ZERO};
static const bb_ridge_columns for_all[] = {BB_COLUMNS_STANDARDIZED};
static const bb_ridge_columns for_all_sparse[] = {BB_COLUMNS_AS_READ};

static bb_status choose(const bb_baseline_rows *rows, const bb_dataset *train,
                        bool pooled, bb_ridge *best) {
    unsigned char *fold = NULL;
    const bb_ridge_columns *one = train->x ? for_all : for_all_sparse;
    bb_status status = bb_allocate(&fold, train->rows, 1, "the folds");
    if (!status) status = bb_crossval_folds(rows->train, rows->seed, fold);
    if (!status)
        status = bb_crossval_ridge(
            train, fold, rows->loss, pooled ? 1 : sizeof alone / sizeof *alone,
            pooled ? one : alone, rows->engine, rows->stop, best);
    free(fold);
    return status;
}

static bb_status fit_and_predict(const bb_baseline_rows *rows, const bb_dataset *train,
                                 const bb_dataset *test, const bb_ridge *best,
                                 double *prediction) {
    const size_t d = train->features;
    double *weight = NULL, *intercept = NULL;
    bb_status status =
        bb_allocate(&weight, train->tasks * d, sizeof *weight, "the baselines");
    if (!status)
        status =
            bb_allocate(&intercept, train->tasks, sizeof *intercept, "the baselines");
    if (!status)
        status = bb_ridge_fit(train, rows->loss, best->columns, best->penalty,
                              rows->engine, weight, intercept);
    if (!status) bb_predict_rows(test, d, weight, intercept, prediction);
    free(weight);
    free(intercept);
    return status;
}

bb_status bb_baseline_ridge(const bb_baseline_rows *rows, bool pooled,
                            bb_baseline *figures, bb_assessed *test) {
    size_t first[2], test_first[2];
    bb_dataset train = *rows->train, other = *rows->test;
    bb_ridge best = {0};
    double *prediction = NULL;
    if (pooled) {
        train = bb_dataset_as_one(rows->train, first);
        other = bb_dataset_as_one(rows->test, test_first);
    }
    bb_status status = choose(rows, &train, pooled, &best);
    if (!status)
        status =
            bb_allocate(&prediction, other.rows, sizeof *prediction, "the predictions");
    if (!status) status = fit_and_predict(rows, &train, &other, &best, prediction);
    if (!status) status = take(rows, prediction, figures, test);
    free(prediction);
    if (status) return status;
    figures->lambda = best.penalty;
    figures->columns = best.columns;
    figures->edge = best.edge;
    return BB_OK;
}

/* -- without learning
 * --------------------------------------------------------------------- */

static double mean_of(const bb_dataset *train, size_t from, size_t to,
                      double fallback) {
    double sum = 0.0;
    for (size_t j = from; j < to; j++) sum += train->y[j];
    return to > from ? sum / (double)(to - from) : fallback;
}

bb_status bb_baseline_mean(const bb_baseline_rows *rows, bool own, bb_baseline *figures,
                           bb_assessed *test) {
    const bb_dataset *train = rows->train, *other = rows->test;
    const double all = mean_of(train, 0, train->rows, 0.0);
    double *prediction = NULL;
    bb_status status =
        bb_allocate(&prediction, other->rows, sizeof *prediction, "the predictions");
    for (size_t i = 0; i < other->tasks && !status; i++) {
        const double mean =
            own ? mean_of(train, train->first[i], train->first[i + 1], all) : all;
        for (size_t j = other->first[i]; j < other->first[i + 1]; j++)
            prediction[j] = mean;
    }
    if (!status) status = take(rows, prediction, figures, test);
    free(prediction);
    return status;
}
