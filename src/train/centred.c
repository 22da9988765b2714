#include "train/centred.h"

#include "base/memory.h"
#include "eval/metrics.h"
#include "linalg/linalg.h"
#include "train/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DECADES = 8, RATIOS = 2, MOST = DECADES };
static const double ratio[RATIOS] = {1.0, 0.1};

static double decade(size_t k) {
    return pow(10.0, (double)k - 2.0);
}

static size_t outputs_of(const bb_crossval *c) {
    return bb_loss_is_single(c->what.loss) ? 1 : c->what.outputs;
}

/* Some of the rows, their tasks' problems and their centre. Columns are those of the
 * design, but the ones come last, divided by sqrt(ratio). */
typedef struct part {
    double ratio;
    size_t outputs;
    bb_dataset rows;
    bb_local *local;
    double *centre; /* columns x outputs */
} part;

static void close_part(part *p) {
    if (p->local) bb_locals_close(p->local, NULL, p->rows.tasks);
    free(p->rows.x);
    free(p->rows.y);
    free(p->rows.first);
    free(p->centre);
}

/* The rows but those of the fold (none: all); tasks stay. */
static bb_status take_rows(part *p, const bb_crossval *c, const bb_design *design,
                           unsigned fold) {
    const size_t d = design->columns;
    bb_dataset *rows = &p->rows;
    *rows = (bb_dataset){
        .tasks = design->tasks, .features = d, .task_name = c->rows->task_name};
    bb_status status =
        bb_allocate(&rows->x, design->rows * d, sizeof *rows->x, "the mixed model");
    if (!status)
        status =
            bb_allocate(&rows->y, design->rows, sizeof *rows->y, "the mixed model");
    if (!status)
        status = bb_allocate(&rows->first, design->tasks + 1, sizeof *rows->first,
                             "the mixed model");
    for (size_t i = 0; i < design->tasks && !status; i++) {
        for (size_t j = design->first[i]; j < design->first[i + 1]; j++) {
            if (c->fold[j] == fold) continue;
            double *x = rows->x + rows->rows * d;
            memcpy(x, design->x + j * d + 1, (d - 1) * sizeof *x);
            x[d - 1] = 1.0 / sqrt(p->ratio);
            rows->y[rows->rows++] = c->rows->y[j];
        }
        rows->first[i + 1] = rows->rows;
    }
    return status;
}

/* The model of all rows: the ones' weight is free. */
static bb_status fit_centre(part *p, const bb_local *all, double penalty) {
    const bool single = bb_loss_is_single(all->loss);
    double *work = NULL, beside;
    bb_status status = bb_allocate(
        &work, single ? bb_local_work(all) : bb_local_ridge_outputs_work(all),
        sizeof *work, "the mixed model");
    if (status) return status;
    if (single) {
        status = bb_local_ridge(all, penalty, NULL, p->centre, &beside, work);
        if (!status) p->centre[p->rows.features - 1] += beside * sqrt(p->ratio);
    } else {
        bb_local_ridge_outputs(all, penalty, NULL, true, p->centre, work);
    }
    free(work);
    return status;
}

static bb_status find_centre(part *p, bb_loss loss, double penalty) {
    const size_t d = p->rows.features;
    bb_local all = {0};
    const bb_rows rows = {.n = p->rows.rows, .d = d, .x = p->rows.x, .y = p->rows.y};
    bb_status status =
        bb_allocate(&p->centre, d * p->outputs, sizeof *p->centre, "the mixed model");
    if (!status)
        status = bb_loss_is_single(loss)
                     ? bb_local_open(&all, rows, loss, true, true)
                     : bb_local_open_outputs(&all, rows, loss, p->outputs, NULL, true);
    if (status) return status;
    status = fit_centre(p, &all, penalty);
    bb_local_close(&all);
    return status;
}

static bb_status open_part(part *p, const bb_crossval *c, const bb_design *design,
                           unsigned fold, double centre) {
    const bb_public pub = {
        .loss = c->what.loss, .outputs = p->outputs, .scale_sum = true};
    bb_status status = take_rows(p, c, design, fold);
    if (!status) status = find_centre(p, c->what.loss, centre);
    if (!status)
        status =
            bb_locals_open(&p->local, NULL, &p->rows, &pub, NULL, false, c->engine);
    return status;
}

/* -- many fits at once: tasks x penalties -- */

typedef struct fits {
    const part *from;
    const bb_crossval *c; /* whose rows of the fold are judged */
    const bb_design *design;
    unsigned fold;
    size_t penalties;
    const double *penalty;
    double *error; /* tasks x penalties; NULL: the models are kept */
    double *model; /* tasks x columns x outputs */
    double *work;
    size_t work_length;
} fits;

/* W (columns x outputs, the ones last and as they are) <- task i's model: the centre for
 * a task without rows, and where the solver fails. */
static void fit(const part *p, size_t i, double penalty, double *W, double *work) {
    const size_t d = p->rows.features, outputs = p->outputs;
    const bb_local *local = &p->local[i];
    double beside;
    memcpy(W, p->centre, d * outputs * sizeof *W);
    if (local->n && !bb_loss_is_single(local->loss))
        bb_local_ridge_outputs(local, penalty, p->centre, false, W, work);
    else if (local->n && bb_local_ridge(local, penalty, p->centre, W, &beside, work))
        memcpy(W, p->centre, d * outputs * sizeof *W);
    bb_scale(outputs, 1.0 / sqrt(p->ratio), W + (d - 1) * outputs);
}

/* The log loss of row j; z: outputs */
static double judge(const fits *f, size_t j, const double *W, double *z) {
    const bb_learnt *what = &f->c->what;
    const size_t d = f->design->columns, outputs = f->from->outputs;
    const double *x = f->design->x + j * d + 1;
    memcpy(z, W + (d - 1) * outputs, outputs * sizeof *z);
    bb_multiply_transposed(d - 1, outputs, 1.0, W, x, 1.0, z);
    if (bb_loss_is_single(what->loss))
        return bb_row_loss(what->loss, f->c->rows->y[j], *z);
    bb_hits hits = {0};
    bb_hits_add(&hits, what->loss, outputs, f->c->rows, j, z);
    return hits.loss;
}

static void fit_one(void *context, size_t item, size_t worker) {
    const fits *f = context;
    const size_t i = item / f->penalties,
                 length = f->design->columns * f->from->outputs;
    double *W = f->work + worker * f->work_length, *z = W + length;
    if (f->c->stop && *f->c->stop) return;
    fit(f->from, i, f->penalty[item % f->penalties], W, z + f->from->outputs);
    if (!f->error) {
        memcpy(f->model + i * length, W, length * sizeof *W);
        return;
    }
    for (size_t j = f->design->first[i]; j < f->design->first[i + 1]; j++)
        if (f->c->fold[j] == f->fold) f->error[item] += judge(f, j, W, z);
}

static bb_status fit_all(fits *f) {
    const bb_engine *engine = f->c->engine;
    const bool single = bb_loss_is_single(f->c->what.loss);
    for (size_t i = 0; i < f->design->tasks; i++) {
        const bb_local *local = &f->from->local[i];
        const size_t need =
            single ? bb_local_work(local) : bb_local_ridge_outputs_work(local);
        if (need > f->work_length) f->work_length = need;
    }
    f->work_length += (f->design->columns + 1) * f->from->outputs;
    bb_status status = bb_allocate(&f->work, engine->workers * f->work_length,
                                   sizeof *f->work, "the mixed model");
    if (!status) engine->each(engine, f->design->tasks * f->penalties, fit_one, f);
    if (!status && f->c->stop && *f->c->stop)
        status = bb_fail(BB_EINTERRUPTED, "stopped before the end");
    free(f->work);
    return status;
}

/* error[k] += of the fold's rows, with penalty[k]. */
static bb_status add_fold(const bb_crossval *c, const bb_design *design, unsigned fold,
                          double centre, double of, size_t penalties,
                          const double *penalty, double *error) {
    part p = {.ratio = of, .outputs = outputs_of(c)};
    fits f = {.from = &p,
              .c = c,
              .design = design,
              .fold = fold,
              .penalties = penalties,
              .penalty = penalty};
    const size_t all = design->tasks * penalties;
    bb_status status = bb_allocate(&f.error, all, sizeof *f.error, "the mixed model");
    if (!status) status = open_part(&p, c, design, fold, centre);
    if (!status) status = fit_all(&f);
    for (size_t k = 0; k < all && !status; k++)
        error[k % penalties] += f.error[k]; /* always in one order */
    free(f.error);
    close_part(&p);
    return status;
}

static bb_status try_penalties(const bb_crossval *c, const bb_design *design,
                               double centre, double of, size_t penalties,
                               const double *penalty, bb_centred *best, double *least) {
    double error[MOST] = {0};
    bb_status status = BB_OK;
    for (unsigned fold = 0; fold < bb_crossval_count(c) && !status; fold++)
        status = add_fold(c, design, fold, centre, of, penalties, penalty, error);
    for (size_t k = 0; k < penalties && !status; k++)
        if (error[k] < *least) {
            *best = (bb_centred){penalty[k], of, false};
            *least = error[k];
        }
    return status;
}

static bb_status choose(const bb_crossval *c, const bb_design *design, double centre,
                        bb_centred *best) {
    double penalty[DECADES], least = INFINITY;
    bb_status status = BB_OK;
    *best = (bb_centred){1.0, 1.0, false};
    for (size_t k = 0; k < DECADES; k++) penalty[k] = decade(k);
    for (size_t k = 0; k < RATIOS && !status; k++)
        status =
            try_penalties(c, design, centre, ratio[k], DECADES, penalty, best, &least);
    if (status) return status;
    const double at = best->penalty, half[] = {at / sqrt(10.0), at * sqrt(10.0)};
    const bool edge = at == decade(0) || at == decade(DECADES - 1);
    if (!edge)
        status = try_penalties(c, design, centre, best->ratio, 2, half, best, &least);
    best->edge = edge;
    return status;
}

/* A task's W as a model of the features: weight (features x outputs), intercept. room:
 * columns + features */
static void fold(const bb_design *design, size_t outputs, const double *W,
                 double *weight, double *intercept, double *room) {
    const size_t d = design->columns;
    double *w = room, *of_features = room + d;
    for (size_t c = 0; c < outputs; c++) {
        w[0] = W[(d - 1) * outputs + c];
        for (size_t k = 1; k < d; k++) w[k] = W[(k - 1) * outputs + c];
        intercept[c] = bb_design_fold(design, w, of_features);
        for (size_t k = 0; k < design->features; k++)
            weight[k * outputs + c] = of_features[k];
    }
}

static bb_status finish(const bb_crossval *c, const bb_design *design, double centre,
                        const bb_centred *best, double *weight, double *intercept) {
    enum { NO_FOLD = 254 };
    const size_t outputs = outputs_of(c), length = design->columns * outputs;
    part p = {.ratio = best->ratio, .outputs = outputs};
    fits f = {.from = &p,
              .c = c,
              .design = design,
              .penalties = 1,
              .penalty = &best->penalty};
    double *room = NULL;
    bb_status status = bb_allocate(&f.model, design->tasks * length, sizeof *f.model,
                                   "the mixed model");
    if (!status)
        status = bb_allocate(&room, design->columns + design->features, sizeof *room,
                             "the mixed model");
    if (!status) status = open_part(&p, c, design, NO_FOLD, centre);
    if (!status) status = fit_all(&f);
    for (size_t i = 0; i < design->tasks && !status; i++)
        fold(design, outputs, f.model + i * length,
             weight + i * design->features * outputs, intercept + i * outputs, room);
    free(room);
    free(f.model);
    close_part(&p);
    return status;
}

bb_status bb_centred_fit(const bb_crossval *c, double centre, bb_centred *out,
                         double *weight, double *intercept) {
    bb_design design = {0};
    bb_centred best = {0};
    bb_status status = bb_design_open(&design, c->rows, false);
    if (!status) status = choose(c, &design, centre, &best);
    if (!status) status = finish(c, &design, centre, &best, weight, intercept);
    if (!status) *out = best;
    bb_design_close(&design);
    return status;
}
