#include "methods/personal_outputs.h"

#include "linalg/linalg.h"
#include "methods/personal_average.h"
#include "methods/personal_temper.h"
#include "methods/personal_units.h"
#include "methods/personal_wide.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const bb_personal_usual usual = {-1.0, 0.5, 0.5};
/* Of sparse rows, which are too many columns to weigh penalties by. */
static const double sparse_weight = 1.0;
/* Fewer say nothing by those that are left out. */
static const size_t least_rows = 3;
/* Of a class that a model is certain not to see. */
static const double least_probability = 1e-12;

void bb_personal_outputs_fit(const bb_local *local, double weight, const double *centre,
                             double *w, double *work) {
    bb_local_ridge_outputs(local, weight * local->weight, centre, false, w, work);
}

static bool by_rows(const bb_local *local) {
    return local->n < local->d;
}

static size_t order_of(const bb_local *local) {
    return by_rows(local) ? local->n : local->d;
}

typedef struct room {
    bb_local as;      /* the task, its constant stretched */
    double constant;  /* what the last column is in all rows; 0: it is none */
    double *rows;     /* n x d: of `as` */
    double *centre;   /* length: of `as` */
    double *w;        /* length */
    double *z;        /* n x outputs: what w says of the rows */
    double *p;        /* n x outputs: probabilities */
    double *half;     /* n x d */
    double *matrix;   /* order x order */
    double *products; /* order x order: by rows, those of `as' with each other */
    double stretch;   /* of its constant when they were made; 0: they are not */
    double *rest;     /* of a fit, or max(n, d, outputs) */
} room;

static size_t rest_length(const bb_local *local) {
    const size_t fit = bb_local_ridge_outputs_work(local);
    const size_t outputs = bb_local_outputs_work(local);
    const size_t most = fit > outputs ? fit : outputs;
    size_t longer = local->n > local->d ? local->n : local->d;
    if (local->outputs > longer) longer = local->outputs;
    return most > longer ? most : longer;
}

static size_t room_length(const bb_local *local) {
    const size_t order = order_of(local);
    return 2 * local->length + 2 * local->n * local->outputs + 2 * local->n * local->d +
           2 * order * order + rest_length(local);
}

/* Of add_kinds. */
static size_t kinds_work(const bb_local *local) {
    const bb_local shape = bb_wide_shape(local);
    if (!bb_wide_fits(local)) return room_length(local);
    return room_length(&shape) + bb_wide_work(local) + shape.length + local->length;
}

size_t bb_personal_outputs_work(const bb_local *local) {
    if (!local->x) return rest_length(local);
    const size_t both =
        2 * local->length + kinds_work(local) + bb_own_units_work(local);
    const size_t tempering = room_length(local) + (local->n + 1) * local->outputs;
    return both > tempering ? both : tempering;
}

static room lay_out(const bb_local *local, double *work) {
    const size_t scores = local->n * local->outputs, order = order_of(local);
    const size_t n = local->n, d = local->d;
    room r = {.as = *local, .constant = local->x[d - 1], .rows = work};
    r.centre = r.rows + n * d;
    r.w = r.centre + local->length;
    r.z = r.w + local->length;
    r.p = r.z + scores;
    r.half = r.p + scores;
    r.matrix = r.half + n * d;
    r.products = r.matrix + order * order;
    r.rest = r.products + order * order;
    memcpy(r.rows, local->x, n * d * sizeof *r.rows);
    r.as.x = r.rows;
    for (size_t j = 1; j < n; j++)
        if (local->x[j * d + d - 1] != r.constant) r.constant = 0.0;
    return r;
}

/* p (of one row) <- the probabilities of its outputs z; returns -log of label's. */
static double softmax(size_t outputs, const double *z, size_t label, double *p) {
    const double own = z[label];
    return bb_personal_softmax(outputs, z, p) - own;
}

static size_t label_of(const bb_local *local, size_t j) {
    return (size_t)local->y[j];
}

/* matrix <- the factor of I + X D_c X'/weight (or X'D_c X), D_c output c's curvature; rest (n)
 * <- how much of each row's output c is its own doing. */
static bb_status look_at(const bb_local *local, double weight, size_t c,
                         const room *r) {
    const size_t n = local->n, d = local->d, outputs = local->outputs;
    const size_t order = order_of(local);
    double *root = r->rest;
    for (size_t j = 0; j < n; j++) {
        const double p = r->p[j * outputs + c];
        root[j] = sqrt(p * (1.0 - p) / weight);
    }
    for (size_t j = 0; j < n; j++)
        if (by_rows(local))
            for (size_t i = 0; i < n; i++)
                r->matrix[j * n + i] = root[j] * r->products[j * n + i] * root[i];
        else
            for (size_t k = 0; k < d; k++)
                r->half[j * d + k] = root[j] * local->x[j * d + k];
    if (!by_rows(local)) bb_gram(n, d, 1.0, r->half, 0.0, r->matrix);
    for (size_t k = 0; k < order; k++) r->matrix[k * order + k] += 1.0;
    const bb_status status = bb_cholesky(order, r->matrix);
    if (!status)
        bb_personal_leverages(by_rows(local), n, d, r->matrix, r->half, r->rest);
    return status;
}

/* The loss, and what is added to each half of the weights' distance, halved; minus. */
static double log_density(const bb_local *local, double weight, const double *centre,
                          const room *r) {
    double square = 0.0, sum = 0.0;
    for (size_t k = 0; k < local->length; k++) {
        const double away = r->w[k] - (centre ? centre[k] : 0.0);
        square += away * away;
    }
    for (size_t j = 0; j < local->n; j++)
        sum += softmax(local->outputs, r->z + j * local->outputs, label_of(local, j),
                       r->p + j * local->outputs);
    return -sum - 0.5 * weight * square;
}

/* r->z <- outputs by models without the row, to first order, and with the Hessian's
 * blocks of single outputs only (personal.c, left_out); log_det <- that of all blocks. */
static bb_status leave_out(const bb_local *local, double weight, const room *r,
                           double *log_det) {
    const size_t outputs = local->outputs, order = order_of(local);
    *log_det = 0.0;
    for (size_t c = 0; c < outputs; c++) {
        const bb_status status = look_at(local, weight, c, r);
        if (status) return status;
        for (size_t k = 0; k < order; k++)
            *log_det += 2.0 * log(r->matrix[k * order + k]);
        for (size_t j = 0; j < local->n; j++) {
            const double p = r->p[j * outputs + c], curvature = p * (1.0 - p);
            const double pull = r->rest[j];
            const double h = curvature > 0.0 ? pull / curvature : 0.0;
            const double slope = p - (label_of(local, j) == c ? 1.0 : 0.0);
            r->z[j * outputs + c] += h * slope / fmax(1.0 - pull, 1e-10);
        }
    }
    return BB_OK;
}

/* score <- minus the summed loss of rows by models without them; of a task with rows for
 * all features the mean of that and Laplace's log evidence, a block for each output but
 * one, since a constant added to all outputs changes nothing. */
static bb_status weigh(const bb_local *local, double weight, const double *centre,
                       const room *r, double *score) {
    const size_t n = local->n, outputs = local->outputs;
    double log_det, out = 0.0;
    bb_local_outputs(local, r->w, 0, n, r->z, r->rest);
    const double density = log_density(local, weight, centre, r);
    const bb_status status = leave_out(local, weight, r, &log_det);
    for (size_t j = 0; j < n && !status; j++)
        out -= softmax(outputs, r->z + j * outputs, label_of(local, j), r->rest);
    const double blocks = 1.0 - 1.0 / (double)outputs;
    *score = by_rows(local) ? out : 0.5 * (out + density - 0.5 * blocks * log_det);
    return status;
}

/* Makes the constant `stretch` times as long, and what the centre has for it shorter. By rows
 * their products follow, which all outputs share. */
static void stretch_constant(const bb_local *local, const double *centre,
                             double stretch, room *r) {
    const size_t n = local->n, d = local->d, last = (d - 1) * local->outputs;
    const double square = r->constant * r->constant * (stretch * stretch - 1.0);
    for (size_t j = 0; j < n && r->constant != 0.0; j++)
        r->rows[j * d + d - 1] = stretch * r->constant;
    r->as.lipschitz = local->lipschitz + fmax(0.0, square) * local->weight * (double)n;
    if (by_rows(local) && stretch != r->stretch)
        bb_gram_rows(n, d, 1.0, r->rows, r->products);
    r->stretch = stretch;
    if (!centre) return;
    memcpy(r->centre, centre, local->length * sizeof *centre);
    bb_scale(local->outputs, 1.0 / stretch, r->centre + last);
}

/* By how much, for a constant that stands for log odds of this standard deviation under this
 * penalty; 0: it is as it is. */
static double stretch_of(const room *r, double deviation, double weight) {
    return deviation > 0.0 ? sqrt(weight) * deviation / fabs(r->constant) : 1.0;
}

/* A task, perhaps in units of its own, and then in coordinates of its own. */
typedef struct seen {
    const bb_local *local;
    const bb_in_own_units *own; /* or NULL */
    const double *centre;       /* of these units and coordinates; NULL: 0 */
    const bb_wide *wide;        /* or NULL */
    const double *around;       /* the centre in all coordinates */
    double *model;              /* room for a model in all coordinates */
    const double *odds;         /* by cells: what tasks have voted, or NULL */
    double *evidence;           /* by cells: what rows say, or NULL */
} seen;

/* The model in all coordinates: w itself, or as->model, and then w is lost. */
static double *widen(const seen *as, double *w) {
    const bb_wide *wide = as->wide;
    if (!wide) return w;
    const size_t length = wide->features * wide->local.outputs;
    memset(as->model, 0, length * sizeof *as->model);
    if (as->centre) {
        memcpy(as->model, as->around, length * sizeof *as->model);
        bb_axpy(wide->local.length, -1.0, as->centre, w);
    }
    bb_wide_add(wide, w, as->model);
    return as->model;
}

/* The constant's log odds deviate by so much (0: it is as it is). cell: the first of these fits,
 * where there are any. */
static bb_status add_fits(const seen *as, double deviation, size_t cell, double size,
                          room *r, bb_personal_average *a) {
    const bb_local *local = as->local;
    const double *centre = as->centre;
    const size_t outputs = local->outputs, last = (local->d - 1) * outputs;
    const double *around = centre ? r->centre : NULL;
    double most = -INFINITY;
    for (size_t l = 0; as->evidence && l < BB_PERSONAL_PENALTIES; l++)
        as->evidence[cell + l] = -DBL_MAX; /* as it stays if not tried */
    for (size_t l = 0; l < BB_PERSONAL_PENALTIES; l++) {
        double score;
        const double weight = size * bb_personal_penalty(l);
        const double stretch = stretch_of(r, deviation, weight);
        stretch_constant(local, centre, stretch, r);
        bb_personal_outputs_fit(&r->as, weight, around, r->w, r->rest);
        const bb_status status = weigh(&r->as, weight, around, r, &score);
        if (status) return status;
        if (as->evidence) as->evidence[cell + l] = score;
        if (as->odds) score += as->odds[cell + l];
        bb_scale(outputs, stretch, r->w + last);
        double *model = widen(as, r->w);
        if (as->own) bb_own_units_back(as->own, model);
        if (!bb_personal_average_add(a, &usual, centre != NULL, l, model, score, &most))
            return BB_OK;
    }
    return BB_OK;
}

/* The same in coordinates of the rows. Returns what of `work' is left. */
static double *look_by_rows(seen *as, bb_wide *wide, double *work) {
    const bb_local *local = as->local;
    double *centre = work + bb_wide_work(local);
    bb_wide_open(wide, local, work);
    as->wide = wide;
    as->local = &wide->local;
    as->model = centre + wide->local.length;
    as->around = as->centre;
    if (as->around) {
        bb_wide_into(wide, as->around, centre);
        as->centre = centre;
    }
    return as->model + local->length;
}

/* Standard deviations of the constant's log odds: as it is and free, or less free. */
typedef struct kinds {
    double deviation[2];
    size_t count, cell; /* the first cell of the first */
} kinds;

/* *constant <- what the last column is; without one, as it is alone. */
static bb_status add_kinds(seen as, kinds which, double *constant,
                           bb_personal_average *a, double *work) {
    bb_wide wide;
    bb_status status = BB_OK;
    if (bb_wide_fits(as.local)) work = look_by_rows(&as, &wide, work);
    room r = lay_out(as.local, work);
    const bool has_constant = r.constant != 0.0;
    const double size = bb_personal_size(as.local, has_constant, r.rest);
    *constant = r.constant;
    for (size_t k = 0; k < which.count && !status; k++) {
        if (which.deviation[k] > 0.0 && !has_constant) break;
        status = add_fits(&as, which.deviation[k],
                          which.cell + k * BB_PERSONAL_PENALTIES, size, &r, a);
    }
    return status;
}

static kinds both_from(size_t cell) {
    return (kinds){{0.0, bb_personal_free_deviation}, 2, cell};
}

/* The constant less free, around a centre and half of it (personal.c). half: length. */
static bb_status add_less_free(seen as, double *constant, bb_personal_average *a,
                               double *half, double *work) {
    const size_t length = as.local->length;
    kinds which = {{bb_personal_less_free}, 1, BB_CELLS_LESS_FREE};
    bb_status status = add_kinds(as, which, constant, a, work);
    if (status) return status;
    memcpy(half, as.centre, length * sizeof *half);
    bb_scale(length, 0.5, half);
    as.centre = half;
    which.cell += BB_PERSONAL_PENALTIES;
    return add_kinds(as, which, constant, a, work);
}

/* The same around zero in units of the task's own. */
static bb_status add_own_units(const bb_local *local, double constant,
                               bb_own_units units, bb_personal_average *a,
                               double *work) {
    bb_in_own_units own;
    if (!bb_own_units_fit(local, constant, units)) return BB_OK;
    bb_own_units_open(&own, local, constant, units, NULL, work);
    const double *x = own.local.x;
    own.local.lipschitz = 0.5 * local->weight * bb_dot(local->n * local->d, x, x);
    const seen as = {.local = &own.local, .own = &own};
    return add_kinds(as, both_from(BB_CELLS_AROUND_ZERO), &constant, a,
                     work + bb_own_units_work(local));
}

/* target (n x outputs) <- the probabilities that doubts leave; r->z <- what the model says.
 * The constant's weights are as free as those that are. */
static bb_status doubt(const bb_local *local, double weight, const double *model,
                       room *r, double *target) {
    const size_t n = local->n, outputs = local->outputs;
    bb_local_outputs(local, model, 0, n, r->z, r->rest);
    for (size_t j = 0; j < n; j++)
        bb_personal_softmax(outputs, r->z + j * outputs, r->p + j * outputs);
    for (size_t k = 0; k < n * outputs; k++)
        r->p[k] = fmin(fmax(r->p[k], least_probability), 1.0 - least_probability);
    const double free = r->constant != 0.0 ? bb_personal_free_deviation : 0.0;
    stretch_constant(local, NULL, stretch_of(r, free, weight), r);
    for (size_t c = 0; c < outputs; c++) {
        const bb_status status = look_at(&r->as, weight, c, r);
        if (status) return status;
        for (size_t j = 0; j < n; j++) {
            const size_t at = j * outputs + c;
            const double bend = r->p[at] * (1.0 - r->p[at]);
            target[at] = bb_personal_doubted(r->rest[j] / bend) * r->z[at];
        }
    }
    for (size_t j = 0; j < n; j++)
        bb_personal_softmax(outputs, target + j * outputs, target + j * outputs);
    return BB_OK;
}

/* As sure as rows allow (personal_temper.h), by a slope alone, which leaves the likeliest class
 * what it is. */
static void temper(const bb_local *local, double decades, double *model, double *work) {
    const size_t n = local->n, outputs = local->outputs;
    room r = lay_out(local, work);
    double *target = r.rest + rest_length(local), *q = target + n * outputs;
    const double size = bb_personal_size(local, r.constant != 0.0, r.rest);
    if (doubt(local, size * pow(10.0, decades), model, &r, target)) return;
    const double slope = bb_personal_temper(n, outputs, r.z, target, NULL, q).slope;
    if (isfinite(slope)) bb_scale(local->length, slope, model);
}

/* What is voted on; voted: less free ones, too. */
static bb_status add_known(const bb_local *local, const bb_personal_public *known,
                           const double *odds, double *evidence, double *constant,
                           bb_personal_average *a, double *work) {
    const bool voted = odds || evidence;
    double *half = work, *rest = work + local->length;
    seen as = {.local = local, .odds = odds, .evidence = evidence};
    bb_status status =
        add_kinds(as, both_from(BB_CELLS_AROUND_ZERO), constant, a, rest);
    as.centre = known->centre;
    if (!status && as.centre)
        status = add_kinds(as, both_from(BB_CELLS_AROUND), constant, a, rest);
    if (!status && as.centre && voted)
        status = add_less_free(as, constant, a, half, rest);
    return status;
}

bb_status bb_personal_outputs(const bb_local *local, const bb_personal_public *known,
                              double odds, double *model, double *work) {
    double constant, voted[BB_CELLS];
    if (!local->x) {
        bb_personal_outputs_fit(local, sparse_weight, known->centre, model, work);
        return BB_OK;
    }
    bb_personal_average a = bb_personal_average_open(model, local->length, odds);
    if (known->odds)
        bb_personal_hear(&usual, odds, known->centre != NULL, known->odds, voted);
    bb_status status =
        add_known(local, known, known->odds ? voted : NULL, NULL, &constant, &a, work);
    for (int units = 0; known->unranged && units < BB_OWN_UNITS && !status; units++)
        status = add_own_units(local, constant, (bb_own_units)units, &a, work);
    if (!status) bb_personal_average_close(&a);
    if (!status) temper(local, a.decades, model, work);
    return status;
}

bb_status bb_personal_outputs_evidence(const bb_local *local,
                                       const bb_personal_public *known,
                                       double *evidence, double *work) {
    double constant, *model = work;
    if (!local->x || local->n < least_rows) return BB_OK;
    bb_personal_average a = bb_personal_average_open(model, local->length, 1.0);
    return add_known(local, known, NULL, evidence, &constant, &a, work + local->length);
}
