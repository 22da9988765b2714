#include "train/crossval.h"

#include "base/memory.h"
#include "base/random.h"
#include "data/preprocess.h"
#include "linalg/linalg.h"
#include "train/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEVER_HELD_OUT = 255, DECADES = 11, ONE = 4, MOST_PENALTIES = DECADES };
/* Above so many multiplications of a fit to all rows one fold decides. */
static const double much_work = 1e9;

/* 1e-4, 1e-3, ..., 1e6; the one that is ONE is 1. */
static double decade(size_t k) {
    return pow(10.0, (double)k - 4.0);
}

/* Rows of tasks that have no other, one after the other. */
static bb_status deal_singles(bb_random *random, const bb_dataset *data, uint64_t seed,
                              size_t *row, unsigned char *fold) {
    size_t count = 0;
    const bb_status status = bb_random_restart(random, seed, BB_FOR_FOLDS, 0, 1);
    for (size_t j = 0; j < data->rows; j++)
        if (fold[j] == NEVER_HELD_OUT) row[count++] = j;
    bb_random_shuffle(random, row, count);
    for (size_t k = 0; k < count; k++)
        fold[row[k]] = (unsigned char)(k % BB_CROSSVAL_FOLDS);
    return status;
}

bb_status bb_crossval_folds(const bb_dataset *data, uint64_t seed, bool singles,
                            unsigned char *fold) {
    size_t *order = NULL;
    bb_random random;
    bb_status status = bb_random_open_stream(&random, seed, BB_FOR_FOLDS, 0, 0);
    if (status) return status;
    status = bb_allocate(&order, data->rows, sizeof *order, "the folds");
    for (size_t i = 0; i < data->tasks && !status; i++) {
        const size_t from = data->first[i], n = data->first[i + 1] - from;
        for (size_t j = 0; j < n; j++) order[j] = j;
        uint64_t key;
        status = bb_random_key(data->task_name[i], &key);
        if (!status) status = bb_random_restart(&random, seed, BB_FOR_FOLDS, key, 0);
        if (status) break;
        bb_random_shuffle(&random, order, n);
        for (size_t j = 0; j < n; j++)
            fold[from + order[j]] = n < 2 ? (unsigned char)NEVER_HELD_OUT
                                          : (unsigned char)(j % BB_CROSSVAL_FOLDS);
    }
    if (!status && singles) status = deal_singles(&random, data, seed, order, fold);
    if (!status) status = bb_random_check(&random);
    free(order);
    bb_random_close(&random);
    return status;
}

/* -- rows as these models see them
 * ------------------------------------------------------------------------------ */

typedef struct prepared {
    bb_preprocess steps;
    bb_dataset data;
    bb_local *local;
    bool intercept; /* beside the weights */
} prepared;

static void close_prepared(prepared *p) {
    if (p->local) bb_locals_close(p->local, NULL, p->data.tasks);
    bb_dataset_free(&p->data);
    bb_preprocess_free(&p->steps);
}

/* The sum over the rows, not their mean: one penalty then suits tasks with few rows and
 * with many. */
static bb_status open_prepared(prepared *p, const bb_dataset *rows, bb_loss loss,
                               bb_ridge_columns columns, const bb_engine *engine) {
    const bb_preprocess_options options = {
        .standardize = columns == BB_COLUMNS_STANDARDIZED ? BB_STANDARDIZE_TASK
                                                          : BB_STANDARDIZE_NONE,
        .constant = columns == BB_COLUMNS_FROM_ZERO,
        .threads = engine->workers};
    *p = (prepared){.intercept = !options.constant};
    bb_status status = bb_preprocess_open(&p->steps, &options, rows);
    if (!status) status = bb_preprocess_apply(&p->steps, rows, true, &p->data);
    if (!status)
        status = bb_locals_open(
            &p->local, NULL, &p->data,
            &(bb_public){.loss = loss, .intercept = p->intercept, .scale_sum = true},
            NULL, false, engine);
    return status;
}

/* Task i's model for the rows as they were read; w: one more than features. Where all
 * labels are one, log odds of n + 1 to 1 take the place of certainty. Where the solver
 * fails (columns of wild scales, hardly a penalty) the model is its intercept. */
static void fit(const prepared *p, size_t i, double penalty, double *w, double *b,
                double *work) {
    const bb_local *local = &p->local[i];
    const size_t width = p->data.features;
    memset(w, 0, width * sizeof *w);
    *b = 0.0;
    if (!local->n) return;
    if (local->loss == BB_LOSS_LOGISTIC && p->intercept &&
        bb_local_one_class(local) != 0.0) {
        *b = bb_local_one_class(local) * log((double)local->n + 1.0);
        return;
    }
    if (bb_local_ridge(local, penalty, NULL, w, b, work)) {
        memset(w, 0, width * sizeof *w);
        *b = bb_local_intercept(local, w, work);
    }
    bb_preprocess_fold(&p->steps, i, w, b);
    if (!p->intercept) *b = w[width - 1];
}

/* -- many fits at once: tasks x penalties
 * ----------------------------------------------------------------------- */

typedef struct fits {
    const prepared *from;
    const bb_dataset *out; /* held-out rows, as read; NULL: keep the models */
    bb_loss loss;
    size_t penalties;
    const double *penalty;
    double *error; /* tasks x penalties */
    double *weight, *intercept;
    double *work; /* workers x work_length: a model, then the solver's */
    size_t work_length;
} fits;

double bb_row_loss(bb_loss loss, double y, double p) {
    return loss == BB_LOSS_SQUARED ? (y - p) * (y - p)
                                   : fmax(0.0, -y * p) + log1p(exp(-fabs(p)));
}

static double predict(const bb_dataset *data, size_t row, const double *w, double b) {
    const size_t d = data->features;
    if (data->x) return b + bb_dot(d, data->x + row * d, w);
    for (size_t e = data->sparse_first[row]; e < data->sparse_first[row + 1]; e++)
        b += data->sparse_value[e] * w[data->sparse_column[e]];
    return b;
}

static void fit_one(void *context, size_t item, size_t worker) {
    const fits *f = context;
    const prepared *p = f->from;
    const size_t i = item / f->penalties, k = item % f->penalties;
    const size_t d = p->steps.features;
    double *w = f->work + worker * f->work_length, b;
    fit(p, i, f->penalty[k], w, &b, w + d + 1);
    if (!f->out) {
        memcpy(f->weight + i * d, w, d * sizeof *w);
        f->intercept[i] = b;
        return;
    }
    for (size_t j = f->out->first[i]; j < f->out->first[i + 1]; j++)
        f->error[item] += bb_row_loss(f->loss, f->out->y[j], predict(f->out, j, w, b));
}

static bb_status fit_all(fits *f, const bb_engine *engine) {
    const size_t tasks = f->from->data.tasks, items = tasks * f->penalties;
    for (size_t i = 0; i < tasks; i++)
        if (bb_local_work(&f->from->local[i]) > f->work_length)
            f->work_length = bb_local_work(&f->from->local[i]);
    f->work_length += f->from->steps.features + 1;
    bb_status status = bb_allocate(&f->work, engine->workers * f->work_length,
                                   sizeof *f->work, "the baselines");
    if (!status) engine->each(engine, items, fit_one, f);
    free(f->work);
    return status;
}

bb_status bb_ridge_fit(const bb_dataset *rows, bb_loss loss, bb_ridge_columns columns,
                       double penalty, const bb_engine *engine, double *weight,
                       double *intercept) {
    prepared p;
    fits f = {.from = &p,
              .loss = loss,
              .penalties = 1,
              .penalty = &penalty,
              .weight = weight,
              .intercept = intercept};
    bb_status status = open_prepared(&p, rows, loss, columns, engine);
    if (!status) status = fit_all(&f, engine);
    close_prepared(&p);
    return status;
}

/* -- cross-validation
 * -------------------------------------------------------------------------------- */

static bb_status select_fold(const bb_dataset *rows, const unsigned char *fold,
                             unsigned number, bool out, bb_dataset *part) {
    unsigned char *keep = NULL;
    bb_status status = bb_allocate(&keep, rows->rows, 1, "a fold");
    for (size_t j = 0; !status && j < rows->rows; j++)
        keep[j] = (fold[j] == number) == out;
    if (!status) status = bb_dataset_select(rows, keep, part);
    free(keep);
    return status;
}

static bool is_solved(const bb_crossval *c) {
    return bb_loss_is_solved(c->what.loss, c->what.net);
}

/* error (tasks x penalties) grows by what the held-out rows say. */
static bb_status add_errors(const bb_crossval *c, const bb_dataset *kept,
                            const bb_dataset *out, bb_ridge_columns columns,
                            size_t penalties, const double *penalty, double *error) {
    prepared p = {0};
    fits f = {.from = &p,
              .out = out,
              .loss = c->what.loss,
              .penalties = penalties,
              .penalty = penalty,
              .error = error};
    bb_status status = open_prepared(&p, kept, c->what.loss, columns, c->engine);
    if (!status) status = fit_all(&f, c->engine);
    close_prepared(&p);
    return status;
}

static bb_status add_ridge(const bb_crossval *c, const bb_dataset *kept,
                           const bb_dataset *out, bb_ridge_columns columns,
                           size_t penalties, const double *penalty, bb_hits *hits) {
    const size_t all = kept->tasks * penalties;
    double *error = NULL;
    bb_status status = bb_allocate(&error, all, sizeof *error, "the baselines");
    if (!status) status = add_errors(c, kept, out, columns, penalties, penalty, error);
    for (size_t k = 0; !status && k < all; k++)
        hits[k % penalties].loss += error[k]; /* always in one order */
    free(error);
    return status;
}

static bb_status add_outputs(const bb_crossval *c, const bb_dataset *kept,
                             const bb_dataset *out, bb_ridge_columns columns,
                             size_t penalties, const double *penalty, bb_hits *hits) {
    const bb_trial trial = {.kept = kept,
                            .out = out,
                            .what = &c->what,
                            .columns = columns,
                            .count = penalties,
                            .value = penalty,
                            .stages = 1,
                            .engine = c->engine,
                            .stop = c->stop};
    return bb_trial_count(&trial, hits);
}

static bb_status add_fold(const bb_crossval *c, unsigned number,
                          bb_ridge_columns columns, size_t penalties,
                          const double *penalty, bb_hits *hits) {
    bb_dataset kept = {0}, out = {0};
    bb_status status = select_fold(c->rows, c->fold, number, false, &kept);
    if (!status) status = select_fold(c->rows, c->fold, number, true, &out);
    if (!status)
        status = is_solved(c)
                     ? add_ridge(c, &kept, &out, columns, penalties, penalty, hits)
                     : add_outputs(c, &kept, &out, columns, penalties, penalty, hits);
    bb_dataset_free(&kept);
    bb_dataset_free(&out);
    return status;
}

unsigned bb_crossval_count(const bb_crossval *c) {
    const bb_dataset *rows = c->rows;
    const double d = (double)rows->features, n = (double)rows->rows;
    const double entries = rows->x ? n * d : (double)rows->sparse_first[rows->rows];
    /* multiplications of a fit: by Gram matrices, or in some hundred passes */
    const bool much = is_solved(c)
                          ? rows->x && n * d * d > much_work
                          : 100.0 * entries * (double)c->what.outputs > much_work;
    return much ? 1 : BB_CROSSVAL_FOLDS;
}

static bb_held_out held_out_of(const bb_crossval *c, const bb_hits *hits) {
    const bb_loss loss = c->what.loss;
    return (bb_held_out){bb_loss_is_single(loss) ? hits->loss
                                                 : 1.0 - bb_hits_figure(loss, hits),
                         hits->loss};
}

static bool is_better(bb_held_out a, bb_held_out b) {
    return a.error < b.error || (a.error == b.error && a.loss < b.loss);
}

static const bb_held_out worst = {INFINITY, INFINITY};

bb_status bb_crossval_errors(const bb_crossval *c, bb_ridge_columns columns,
                             size_t penalties, const double *penalty,
                             bb_held_out *held_out) {
    const unsigned folds = bb_crossval_count(c);
    bb_hits *hits = NULL;
    bb_status status = bb_allocate(&hits, penalties, sizeof *hits, "the baselines");
    for (unsigned number = 0; number < folds && !status; number++)
        status = add_fold(c, number, columns, penalties, penalty, hits);
    for (size_t k = 0; k < penalties && !status; k++)
        held_out[k] = held_out_of(c, &hits[k]);
    free(hits);
    return status;
}

bb_status bb_crossval_tasks(const bb_crossval *c, bb_ridge_columns columns,
                            size_t penalties, const double *penalty, double *error) {
    bb_status status = BB_OK;
    memset(error, 0, c->rows->tasks * penalties * sizeof *error);
    for (unsigned number = 0; number < bb_crossval_count(c) && !status; number++) {
        bb_dataset kept = {0}, out = {0};
        status = select_fold(c->rows, c->fold, number, false, &kept);
        if (!status) status = select_fold(c->rows, c->fold, number, true, &out);
        if (!status)
            status = add_errors(c, &kept, &out, columns, penalties, penalty, error);
        bb_dataset_free(&kept);
        bb_dataset_free(&out);
    }
    return status;
}

static bb_status not_stopped(const bb_crossval *c) {
    return c->stop && *c->stop ? bb_fail(BB_EINTERRUPTED, "stopped before the end")
                               : BB_OK;
}

/* Tries penalties; the larger of two that are equal. */
static bb_status try_penalties(const bb_crossval *c, bb_ridge_columns columns,
                               size_t penalties, const double *penalty,
                               bb_ridge *best) {
    bb_held_out found[MOST_PENALTIES];
    bb_status status = not_stopped(c);
    if (!status) status = bb_crossval_errors(c, columns, penalties, penalty, found);
    for (size_t k = 0; k < penalties && !status; k++) {
        const bool tie = columns == best->columns && penalty[k] > best->penalty &&
                         !is_better(best->held_out, found[k]);
        if (tie || is_better(found[k], best->held_out))
            *best = (bb_ridge){columns, penalty[k], found[k], false};
    }
    return status;
}

/* The decades, for one way of preparing rows. Small penalties of several outputs take
 * long: they are tried where it is them that this way needs. */
static bb_status try_decades(const bb_crossval *c, bb_ridge_columns columns,
                             bb_ridge *best) {
    const size_t from = is_solved(c) ? 0 : ONE;
    bb_ridge own = {columns, 1.0, worst, false};
    double penalty[DECADES];
    for (size_t k = 0; k < DECADES; k++) penalty[k] = decade(k);
    bb_status status = try_penalties(c, columns, DECADES - from, penalty + from, &own);
    if (!status && from && own.penalty == decade(from))
        status = try_penalties(c, columns, from, penalty, &own);
    if (!status && is_better(own.held_out, best->held_out)) *best = own;
    return status;
}

bb_status bb_crossval_ridge(const bb_crossval *c, size_t forms,
                            const bb_ridge_columns *columns, bb_ridge *best) {
    bb_status status = BB_OK;
    *best = (bb_ridge){columns[0], 1.0, worst, false};
    for (size_t k = 0; k < forms && !status; k++)
        if (columns[k] != BB_COLUMNS_STANDARDIZED || c->rows->x)
            status = try_decades(c, columns[k], best);
    if (status) return status;
    const double least = decade(0), most = decade(DECADES - 1), at = best->penalty;
    const double half[] = {at / sqrt(10.0), at * sqrt(10.0)};
    const bool edge = at == least || at == most;
    if (!edge) status = try_penalties(c, best->columns, 2, half, best);
    best->edge = edge;
    return status;
}

bb_status bb_crossval_network(const bb_crossval *c, bb_recipe *best) {
    static const double rate[] = {0.03, 0.1};
    static const uint64_t epochs[] = {5, 10, 20, 40};
    enum { RATES = 2, STAGES = 4 };
    bb_hits hits[RATES * STAGES] = {0};
    bb_dataset kept = {0}, out = {0};
    const bb_trial trial = {.kept = &kept,
                            .out = &out,
                            .what = &c->what,
                            .count = RATES,
                            .value = rate,
                            .stages = STAGES,
                            .epochs = epochs,
                            .seed = c->seed,
                            .engine = c->engine,
                            .stop = c->stop};
    bb_status status = select_fold(c->rows, c->fold, 0, false, &kept);
    if (!status) status = select_fold(c->rows, c->fold, 0, true, &out);
    if (!status) status = bb_trial_count(&trial, hits);
    *best = (bb_recipe){rate[0], epochs[0], worst, false};
    for (size_t k = 0; k < RATES * STAGES && !status; k++) {
        const bb_held_out found = held_out_of(c, &hits[k]);
        if (is_better(found, best->held_out))
            *best = (bb_recipe){rate[k / STAGES], epochs[k % STAGES], found,
                                k % STAGES == STAGES - 1};
    }
    bb_dataset_free(&kept);
    bb_dataset_free(&out);
    return status;
}
