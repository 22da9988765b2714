#include "train/baseline.h"

#include "base/memory.h"
#include "linalg/linalg.h"
#include "models/limits.h"
#include "train/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rows of all tasks as those of one; borrows. */
static bb_dataset as_one(const bb_dataset *data, size_t first[2]) {
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

/* Takes the figures of what was assessed, if they are finite. */
static bb_status take(bb_status status, bb_baseline *figures, bb_assessed *test) {
    if (!status) status = bb_assessed_check(test);
    if (status) {
        bb_assessed_close(test);
        return status;
    }
    figures->there = true;
    figures->test = test->metrics;
    return BB_OK;
}

/* -- learning
 * ------------------------------------------------------------------------------ */

/* Ways of preparing rows that are tried. */
static const bb_ridge_columns alone[] = {BB_COLUMNS_STANDARDIZED, BB_COLUMNS_AS_READ,
                                         BB_COLUMNS_FROM_ZERO};
static const bb_ridge_columns for_all[] = {BB_COLUMNS_STANDARDIZED};
static const bb_ridge_columns for_all_sparse[] = {BB_COLUMNS_AS_READ};

static bb_status choose_ridge(const bb_crossval *c, bool pooled, bb_baseline *figures) {
    const bb_ridge_columns *one = c->rows->x ? for_all : for_all_sparse;
    bb_ridge best = {0};
    const bb_status status = bb_crossval_ridge(
        c, pooled ? 1 : sizeof alone / sizeof *alone, pooled ? one : alone, &best);
    figures->lambda = best.penalty;
    figures->columns = best.columns;
    figures->edge = best.edge;
    return status;
}

static bb_status choose(const bb_baseline_rows *rows, const bb_dataset *train,
                        bool pooled, bb_baseline *figures) {
    unsigned char *fold = NULL;
    bb_status status = bb_allocate(&fold, train->rows, 1, "the folds");
    if (!status) status = bb_crossval_folds(rows->train, rows->seed, pooled, fold);
    const bb_crossval c = {.rows = train,
                           .fold = fold,
                           .what = rows->what,
                           .seed = rows->seed,
                           .engine = rows->engine,
                           .stop = rows->stop};
    if (!status)
        status = rows->what.net ? bb_crossval_network(&c, &figures->recipe)
                                : choose_ridge(&c, pooled, figures);
    free(fold);
    return status;
}

/* Predictions no farther than what each task has seen of its target, as those of a run. */
static bb_status limit(const bb_baseline_rows *rows, const bb_dataset *train,
                       bool apart, const double *weight, const double *intercept,
                       double *prediction) {
    const bb_dataset *tasks = rows->train, *test = rows->test;
    double *fitted = NULL, *limits = NULL;
    bb_status status =
        bb_allocate(&fitted, tasks->rows, sizeof *fitted, "the predictions");
    if (!status)
        status = bb_allocate(&limits, tasks->tasks, 2 * sizeof *limits, "the limits");
    if (!status) {
        bb_predict_rows(train, train->features, weight, intercept, fitted);
        bb_limits_find(tasks, tasks->features, apart, fitted, limits);
        for (size_t i = 0; i < test->tasks; i++)
            for (size_t j = test->first[i]; j < test->first[i + 1]; j++)
                prediction[j] = bb_limited(limits, i, prediction[j]);
    }
    free(fitted);
    free(limits);
    return status;
}

bb_status bb_baseline_assess(const bb_baseline_rows *rows, const bb_dataset *train,
                             const bb_dataset *other, bool apart, const double *weight,
                             const double *intercept, bb_assessed *test) {
    double *prediction = NULL;
    bb_status status =
        bb_allocate(&prediction, other->rows, sizeof *prediction, "the predictions");
    if (!status) {
        bb_predict_rows(other, train->features, weight, intercept, prediction);
        if (rows->what.loss == BB_LOSS_SQUARED)
            status = limit(rows, train, apart, weight, intercept, prediction);
    }
    if (!status)
        status = bb_assess_predictions(rows->what.loss, rows->test, prediction, test);
    free(prediction);
    return status;
}

static bb_status assess_ridge(const bb_baseline_rows *rows, const bb_dataset *train,
                              const bb_dataset *other, bool apart,
                              const bb_baseline *chosen, bb_assessed *test) {
    double *weight = NULL, *intercept = NULL;
    bb_status status = bb_allocate(&weight, train->tasks * train->features,
                                   sizeof *weight, "the baselines");
    if (!status)
        status =
            bb_allocate(&intercept, train->tasks, sizeof *intercept, "the baselines");
    if (!status)
        status = bb_ridge_fit(train, rows->what.loss, chosen->columns, chosen->lambda,
                              rows->engine, weight, intercept);
    if (!status)
        status = bb_baseline_assess(rows, train, other, apart, weight, intercept, test);
    free(weight);
    free(intercept);
    return status;
}

/* Several outputs, and networks. */
static bb_status assess_trial(const bb_baseline_rows *rows, const bb_dataset *train,
                              const bb_dataset *other, const bb_baseline *chosen,
                              bb_assessed *test) {
    const bool net = rows->what.net;
    const bb_trial trial = {.kept = train,
                            .out = other,
                            .what = &rows->what,
                            .columns = chosen->columns,
                            .count = 1,
                            .value = net ? &chosen->recipe.rate : &chosen->lambda,
                            .stages = 1,
                            .epochs = net ? &chosen->recipe.epochs : NULL,
                            .seed = rows->seed,
                            .engine = rows->engine,
                            .stop = rows->stop};
    return bb_trial_assess(&trial, rows->test, test);
}

bb_status bb_baseline_learnt(const bb_baseline_rows *rows, bool pooled,
                             bb_baseline *figures, bb_assessed *test) {
    size_t first[2], test_first[2];
    bb_dataset train = *rows->train, other = *rows->test;
    bb_baseline chosen = {.lambda = NAN};
    if (pooled) {
        train = as_one(rows->train, first);
        other = as_one(rows->test, test_first);
    }
    bb_status status = choose(rows, &train, pooled, &chosen);
    if (!status)
        status = bb_loss_is_solved(rows->what.loss, rows->what.net)
                     ? assess_ridge(rows, &train, &other, !pooled, &chosen, test)
                     : assess_trial(rows, &train, &other, &chosen, test);
    status = take(status, &chosen, test);
    if (!status) *figures = chosen;
    return status;
}

/* -- mixed models
 * ------------------------------------------------------------------------------ */

bool bb_baseline_has_mixed(const bb_baseline_rows *rows) {
    const bool fits =
        bb_loss_is_single(rows->what.loss) ||
        (rows->what.loss == BB_LOSS_SOFTMAX && rows->train->x && rows->test->x);
    return !rows->what.net && fits && rows->train->features <= BB_MIXED_FEATURES;
}

static bb_status fit_centred(const bb_baseline_rows *rows, const bb_baseline *pooled,
                             bb_centred *out, double *weight, double *intercept) {
    const bool alike = pooled->there && pooled->columns == BB_COLUMNS_STANDARDIZED;
    unsigned char *fold = NULL;
    bb_status status = bb_allocate(&fold, rows->train->rows, 1, "the folds");
    if (!status) status = bb_crossval_folds(rows->train, rows->seed, false, fold);
    const bb_crossval c = {.rows = rows->train,
                           .fold = fold,
                           .what = rows->what,
                           .seed = rows->seed,
                           .engine = rows->engine,
                           .stop = rows->stop};
    if (!status)
        status =
            bb_centred_fit(&c, alike ? pooled->lambda : 1.0, out, weight, intercept);
    free(fold);
    return status;
}

static bb_status fit_mixed(const bb_baseline_rows *rows, const bb_baseline *pooled,
                           bb_baseline *figures, double *weight, double *intercept) {
    bb_status status;
    if (rows->what.loss == BB_LOSS_SQUARED)
        return bb_mixed_fit(rows->train, rows->engine, rows->stop, &figures->mixed,
                            NULL, weight, intercept);
    status = fit_centred(rows, pooled, &figures->centred, weight, intercept);
    figures->lambda = figures->centred.penalty;
    figures->columns = BB_COLUMNS_STANDARDIZED;
    figures->edge = figures->centred.edge;
    return status;
}

/* weight: tasks x features x classes, intercept: tasks x classes */
static bb_status assess_classes(const bb_baseline_rows *rows, const double *weight,
                                const double *intercept, bb_assessed *test) {
    const bb_dataset *data = rows->test;
    const size_t d = data->features, classes = rows->what.outputs;
    bb_hits *hits = NULL;
    double *z = NULL;
    bb_status status = bb_allocate(&hits, data->tasks, sizeof *hits, "the predictions");
    if (!status) status = bb_allocate(&z, classes, sizeof *z, "the predictions");
    for (size_t i = 0; i < data->tasks && !status; i++)
        for (size_t j = data->first[i]; j < data->first[i + 1]; j++) {
            memcpy(z, intercept + i * classes, classes * sizeof *z);
            bb_multiply_transposed(d, classes, 1.0, weight + i * d * classes,
                                   data->x + j * d, 1.0, z);
            bb_hits_add(&hits[i], rows->what.loss, classes, data, j, z);
        }
    if (!status) status = bb_assess_tallies(rows->what.loss, data->tasks, hits, test);
    free(hits);
    free(z);
    return status;
}

bb_status bb_baseline_mixed(const bb_baseline_rows *rows, const bb_baseline *pooled,
                            bb_baseline *figures, bb_assessed *test) {
    const bool single = bb_loss_is_single(rows->what.loss);
    const size_t m = rows->train->tasks, outputs = single ? 1 : rows->what.outputs;
    bb_baseline found = {.lambda = NAN};
    double *weight = NULL, *intercept = NULL;
    bb_status status = bb_allocate(&weight, m * rows->train->features * outputs,
                                   sizeof *weight, "the baselines");
    if (!status)
        status =
            bb_allocate(&intercept, m * outputs, sizeof *intercept, "the baselines");
    if (!status) status = fit_mixed(rows, pooled, &found, weight, intercept);
    if (!status)
        status = single ? bb_baseline_assess(rows, rows->train, rows->test, false,
                                             weight, intercept, test)
                        : assess_classes(rows, weight, intercept, test);
    free(weight);
    free(intercept);
    status = take(status, &found, test);
    if (!status) *figures = found;
    return status;
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
    if (!status)
        status = bb_assess_predictions(BB_LOSS_SQUARED, other, prediction, test);
    free(prediction);
    return take(status, figures, test);
}
