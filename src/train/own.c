/* Every task alone, tuned by itself: what it could do without the others' rows. */
#include "base/memory.h"
#include "train/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const bb_ridge_columns way[] = {BB_COLUMNS_STANDARDIZED, BB_COLUMNS_AS_READ,
                                       BB_COLUMNS_FROM_ZERO};
static const double penalty[] = {1e6, 1e5, 1e4,  1e3,  1e2, 1e1,
                                 1.0, 0.1, 1e-2, 1e-3, 1e-4};
enum { WAYS = sizeof way / sizeof *way, PENALTIES = sizeof penalty / sizeof *penalty };

/* Of the log loss a smaller penalty, or the next way, must save two nats on all held-out rows
 * together: less is chance where rows are few, and models that are sure of themselves. */
static double margin_of(bb_loss loss) {
    return loss == BB_LOSS_LOGISTIC ? 2.0 : 0.0;
}

/* What each task has chosen so far. */
typedef struct choice {
    size_t *number; /* tasks: way x PENALTIES + penalty */
    double *error;  /* tasks: of its held-out rows */
} choice;

static bb_status choose(const bb_crossval *c, double *error, const choice *best) {
    bb_status status = BB_OK;
    for (size_t i = 0; i < c->rows->tasks; i++) best->error[i] = INFINITY;
    for (size_t v = 0; v < WAYS && !status; v++) {
        if (way[v] == BB_COLUMNS_STANDARDIZED && !c->rows->x) continue;
        if (c->stop && *c->stop)
            return bb_fail(BB_EINTERRUPTED, "stopped before the end");
        status = bb_crossval_tasks(c, way[v], PENALTIES, penalty, error);
        for (size_t i = 0; i < c->rows->tasks && !status; i++)
            for (size_t k = 0; k < PENALTIES; k++) {
                const double found = error[i * PENALTIES + k];
                if (!(found < best->error[i] - margin_of(c->what.loss))) continue;
                best->error[i] = found;
                best->number[i] = v * PENALTIES + k;
            }
    }
    return status;
}

/* The models of all tasks, each with what it has chosen. weight: tasks x features. */
static bb_status fit(const bb_crossval *c, const choice *best, double *weight,
                     double *intercept) {
    const size_t m = c->rows->tasks, d = c->rows->features;
    double *w = NULL, *b = NULL;
    bb_status status = bb_allocate(&w, m * d, sizeof *w, "the baselines");
    if (!status) status = bb_allocate(&b, m, sizeof *b, "the baselines");
    for (size_t k = 0; k < WAYS * PENALTIES && !status; k++) {
        size_t takers = 0;
        for (size_t i = 0; i < m; i++) takers += best->number[i] == k;
        if (!takers) continue;
        status = bb_ridge_fit(c->rows, c->what.loss, way[k / PENALTIES],
                              penalty[k % PENALTIES], c->engine, w, b);
        for (size_t i = 0; i < m && !status; i++) {
            if (best->number[i] != k) continue;
            memcpy(weight + i * d, w + i * d, d * sizeof *w);
            intercept[i] = b[i];
        }
    }
    free(w);
    free(b);
    return status;
}

static bb_status learn(const bb_crossval *c, double *weight, double *intercept) {
    const size_t m = c->rows->tasks;
    choice best = {0};
    double *error = NULL;
    bb_status status =
        bb_allocate(&best.number, m, sizeof *best.number, "the baselines");
    if (!status)
        status = bb_allocate(&best.error, m, sizeof *best.error, "the baselines");
    if (!status)
        status = bb_allocate(&error, m * PENALTIES, sizeof *error, "the baselines");
    if (!status) status = choose(c, error, &best);
    if (!status) status = fit(c, &best, weight, intercept);
    free(error);
    free(best.error);
    free(best.number);
    return status;
}

bb_status bb_baseline_own(const bb_baseline_rows *rows, bb_baseline *figures,
                          bb_assessed *test) {
    const bb_dataset *train = rows->train;
    bb_baseline found = {.there = true, .lambda = NAN};
    unsigned char *fold = NULL;
    double *weight = NULL, *intercept = NULL;
    const bb_crossval c = {.rows = train,
                           .what = rows->what,
                           .seed = rows->seed,
                           .engine = rows->engine,
                           .stop = rows->stop};
    if (bb_crossval_count(&c) < BB_CROSSVAL_FOLDS) return BB_OK;
    bb_status status = bb_allocate(&fold, train->rows, 1, "the folds");
    if (!status) status = bb_crossval_folds(train, rows->seed, false, fold);
    if (!status)
        status = bb_allocate(&weight, train->tasks * train->features, sizeof *weight,
                             "the baselines");
    if (!status)
        status =
            bb_allocate(&intercept, train->tasks, sizeof *intercept, "the baselines");
    bb_crossval folded = c;
    folded.fold = fold;
    if (!status) status = learn(&folded, weight, intercept);
    if (!status)
        status =
            bb_baseline_assess(rows, train, rows->test, true, weight, intercept, test);
    if (!status) status = bb_assessed_check(test);
    if (status) bb_assessed_close(test);
    found.test = test->metrics;
    if (!status) *figures = found;
    free(intercept);
    free(weight);
    free(fold);
    return status;
}
