#include "train/centred.h"

#include "base/memory.h"
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

/* Some of the rows, their tasks' problems and their centre. */
typedef struct part {
    double ratio;
    bb_dataset rows; /* columns of the design, the ones divided by sqrt(ratio) */
    bb_local *local;
    double *centre; /* columns */
} part;

static void close_part(part *p) {
    if (p->local) bb_locals_close(p->local, p->rows.tasks);
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
            memcpy(rows->x + rows->rows * d, design->x + j * d, d * sizeof *rows->x);
            rows->x[rows->rows * d] /= sqrt(p->ratio);
            rows->y[rows->rows++] = c->rows->y[j];
        }
        rows->first[i + 1] = rows->rows;
    }
    return status;
}

/* The model of all rows: the ones' weight is free, beside the others. */
static bb_status find_centre(part *p, double penalty) {
    const size_t d = p->rows.features;
    double *work = NULL, free_part;
    bb_local all = {0};
    const bb_rows rows = {p->rows.rows, d,         p->rows.x, NULL, NULL,
                          NULL,         p->rows.y, NULL,      NULL};
    bb_status status = bb_allocate(&p->centre, d, sizeof *p->centre, "the mixed model");
    if (!status) status = bb_local_open(&all, rows, BB_LOSS_LOGISTIC, true, true);
    if (status) return status;
    status = bb_allocate(&work, bb_local_work(&all), sizeof *work, "the mixed model");
    if (!status)
        status = bb_local_ridge(&all, penalty, NULL, p->centre, &free_part, work);
    if (!status) p->centre[0] += free_part * sqrt(p->ratio);
    free(work);
    bb_local_close(&all);
    return status;
}

static bb_status open_part(part *p, const bb_crossval *c, const bb_design *design,
                           unsigned fold, double centre) {
    bb_status status = take_rows(p, c, design, fold);
    if (!status) status = find_centre(p, centre);
    if (!status)
        status = bb_locals_open(
            &p->local, &p->rows,
            &(bb_public){.loss = BB_LOSS_LOGISTIC, .scale_sum = true}, NULL, c->engine);
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
    double *model; /* tasks x columns */
    double *work;
    size_t work_length;
} fits;

/* A task without rows, and one whose solver fails, has the centre. */
static void fit(const part *p, size_t i, double penalty, double *w, double *work) {
    const size_t d = p->rows.features;
    double unused;
    if (!p->local[i].n ||
        bb_local_ridge(&p->local[i], penalty, p->centre, w, &unused, work))
        memcpy(w, p->centre, d * sizeof *w);
    w[0] /= sqrt(p->ratio);
}

static void fit_one(void *context, size_t item, size_t worker) {
    const fits *f = context;
    const size_t d = f->design->columns, i = item / f->penalties;
    double *w = f->work + worker * f->work_length;
    if (f->c->stop && *f->c->stop) return;
    fit(f->from, i, f->penalty[item % f->penalties], w, w + d);
    if (!f->error) {
        memcpy(f->model + i * d, w, d * sizeof *w);
        return;
    }
    for (size_t j = f->design->first[i]; j < f->design->first[i + 1]; j++)
        if (f->c->fold[j] == f->fold)
            f->error[item] += bb_row_loss(BB_LOSS_LOGISTIC, f->c->rows->y[j],
                                          bb_dot(d, f->design->x + j * d, w));
}

static bb_status fit_all(fits *f) {
    const bb_engine *engine = f->c->engine;
    for (size_t i = 0; i < f->design->tasks; i++)
        if (bb_local_work(&f->from->local[i]) > f->work_length)
            f->work_length = bb_local_work(&f->from->local[i]);
    f->work_length += f->design->columns;
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
    part p = {.ratio = of};
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

static bb_status finish(const bb_crossval *c, const bb_design *design, double centre,
                        const bb_centred *best, double *weight, double *intercept) {
    enum { NO_FOLD = 254 };
    const size_t d = design->columns;
    part p = {.ratio = best->ratio};
    fits f = {.from = &p,
              .c = c,
              .design = design,
              .penalties = 1,
              .penalty = &best->penalty};
    bb_status status =
        bb_allocate(&f.model, design->tasks * d, sizeof *f.model, "the mixed model");
    if (!status) status = open_part(&p, c, design, NO_FOLD, centre);
    if (!status) status = fit_all(&f);
    for (size_t i = 0; i < design->tasks && !status; i++)
        intercept[i] =
            bb_design_fold(design, f.model + i * d, weight + i * design->features);
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
