#include "train/crossval.h"

#include "base/memory.h"
#include "base/random.h"
#include "models/models.h"

#include <math.h>
#include <stdlib.h>

enum { NEVER_HELD_OUT = 255 };

double bb_crossval_penalty(size_t k) {
    return pow(10.0, -5.0 + 0.5 * (double)k);
}

bb_status bb_crossval_folds(const bb_dataset *data, uint64_t seed,
                            unsigned char *fold) {
    size_t *order = NULL;
    bb_random random;
    bb_status status = bb_random_open_stream(&random, seed, BB_FOR_FOLDS, 0, 0);
    if (status) return status;
    status = bb_allocate(&order, data->rows, sizeof *order, "the folds");
    for (size_t i = 0; i < data->tasks && !status; i++) {
        const size_t from = data->first[i], n = data->first[i + 1] - from;
        for (size_t j = 0; j < n; j++) order[j] = j;
        status = bb_random_restart(&random, seed, BB_FOR_FOLDS,
                                   bb_random_key(data->task_name[i]), 0);
        if (status) break;
        bb_random_shuffle(&random, order, n);
        for (size_t j = 0; j < n; j++)
            fold[from + order[j]] = n < 2 ? (unsigned char)NEVER_HELD_OUT
                                          : (unsigned char)(j % BB_CROSSVAL_FOLDS);
    }
    free(order);
    bb_random_close(&random);
    return status;
}

/* One fold: the rows kept, the rows held out, and the models. */
typedef struct fold_data {
    bb_dataset kept, out;
    bb_local *local;
    double *weight, *intercept, *prediction;
} fold_data;

static bb_status open_fold(fold_data *f, const bb_dataset *data, bb_problem problem,
                           const bb_engine *engine, const unsigned char *fold,
                           unsigned number) {
    unsigned char *keep = NULL;
    bb_status status = bb_allocate(&keep, data->rows, 1, "a fold");
    for (size_t j = 0; !status && j < data->rows; j++) keep[j] = fold[j] != number;
    if (!status) status = bb_dataset_select(data, keep, &f->kept);
    for (size_t j = 0; !status && j < data->rows; j++) keep[j] = fold[j] == number;
    if (!status) status = bb_dataset_select(data, keep, &f->out);
    free(keep);
    problem.scale_sum = false;
    if (!status) status = bb_locals_open(&f->local, &f->kept, problem, engine);
    if (!status)
        status = bb_allocate(&f->weight, data->tasks * data->features, sizeof(double),
                             "a fold's models");
    if (!status)
        status =
            bb_allocate(&f->intercept, data->tasks, sizeof(double), "a fold's models");
    if (!status)
        status = bb_allocate(&f->prediction, f->out.rows, sizeof(double),
                             "a fold's predictions");
    return status;
}

static void close_fold(fold_data *f) {
    if (f->local) bb_locals_close(f->local, f->kept.tasks);
    bb_dataset_free(&f->kept);
    bb_dataset_free(&f->out);
    free(f->weight);
    free(f->intercept);
    free(f->prediction);
}

/* Summed error of the predictions, task by task and row by row, always in one order. */
static double error_of(const fold_data *f, bb_loss loss) {
    double sum = 0.0;
    for (size_t j = 0; j < f->out.rows; j++) {
        const double y = f->out.y[j], p = f->prediction[j];
        sum += loss == BB_LOSS_SQUARED ? (y - p) * (y - p)
                                       : fmax(0.0, -y * p) + log1p(exp(-fabs(p)));
    }
    return sum;
}

static bb_status try_penalties(fold_data *f, bb_loss loss, const bb_engine *engine,
                               double *error) {
    bb_status status = BB_OK;
    for (size_t k = 0; k < BB_CROSSVAL_PENALTIES && !status; k++) {
        status = bb_locals_ridge(f->local, f->kept.tasks, bb_crossval_penalty(k),
                                 engine, f->weight, f->intercept);
        if (status) return status;
        bb_predict_rows(&f->out, f->out.features, f->weight, f->intercept,
                        f->prediction);
        error[k] += error_of(f, loss);
    }
    return status;
}

bb_status bb_crossval_ridge(const bb_dataset *data, bb_problem problem,
                            const bb_engine *engine, uint64_t seed, double *lambda,
                            double *error) {
    double sum[BB_CROSSVAL_PENALTIES] = {0};
    unsigned char *fold = NULL;
    bb_status status = bb_allocate(&fold, data->rows, 1, "the folds");
    if (!status) status = bb_crossval_folds(data, seed, fold);
    for (unsigned number = 0; number < BB_CROSSVAL_FOLDS && !status; number++) {
        fold_data f = {0};
        status = open_fold(&f, data, problem, engine, fold, number);
        if (!status) status = try_penalties(&f, problem.loss, engine, sum);
        close_fold(&f);
    }
    free(fold);
    if (status) return status;
    size_t best = 0;
    for (size_t k = 0; k < BB_CROSSVAL_PENALTIES; k++) {
        if (sum[k] <= sum[best]) best = k;
        if (error) error[k] = sum[k];
    }
    *lambda = bb_crossval_penalty(best);
    return BB_OK;
}
