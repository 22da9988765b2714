/* The logistic loss of personal.h. */
#include "methods/personal.h"

#include "learners/rows.h"
#include "linalg/linalg.h"
#include "methods/personal_logistic.h"
#include "methods/personal_outputs.h"
#include "methods/personal_temper.h"
#include "methods/personal_units.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double usual_odds = 5.0; /* of a centre */
static const bb_personal_usual usual = {-0.6, 0.7, 1.0};
/* Where so many rows are there for each feature, a centre that noisy directions led to wins
 * little, and it loses much by being longer than it is worth: models are farther from it,
 * and it is tried at this part of its length, too. */
static const size_t many = 4;
static const bb_personal_usual usual_of_many = {-0.6, 0.7, 0.5};
static const double shorter = 0.3;

size_t bb_personal_work(const bb_local *local) {
    if (local->loss == BB_LOSS_SQUARED) return bb_personal_squared_work(local);
    if (local->loss == BB_LOSS_SOFTMAX) return bb_personal_outputs_work(local);
    return 2 * local->d + local->n + bb_personal_temper_two_work(local->n) +
           bb_logistic_fits_work(local) + bb_own_units_work(local);
}

/* Rows x' = R'x under a covariance, R its root to a power: their models w' are w = R w'. */
typedef struct turned {
    const bb_covariance *told;
    double power;
    double scale; /* that leaves the trace of R R' at d */
    double *room; /* d */
} turned;

static double root_of(const turned *as, size_t a) {
    return as->scale * pow(as->told->root[a], as->power);
}

static turned to_power(const bb_covariance *told, double power, size_t d,
                       double *room) {
    turned as = {told, power, 1.0, room};
    double trace = 0.0;
    for (size_t a = 0; a < d; a++) trace += pow(root_of(&as, a), 2.0);
    as.scale = sqrt((double)d / trace);
    return as;
}

static void turn_back(const turned *as, size_t d, double *w) {
    if (!as) return;
    for (size_t a = 0; a < d; a++) w[a] *= root_of(as, a);
    if (!as->told->basis) return;
    bb_multiply_transposed(d, d, 1.0, as->told->basis, w, 0.0, as->room);
    memcpy(w, as->room, d * sizeof *w);
}

/* The fits of a task and their average. */
typedef struct averaged {
    bb_logistic_fits fits;
    double
        by_left_out; /* a share: rows left out have a say, and are averaged behind models */
    double size;     /* of the rows */
    const turned *as;           /* under which covariance they are, or NULL */
    const bb_in_own_units *own; /* in which units, or NULL */
    size_t kinds;               /* 1, 2 or 4 */
    bb_logistic_kind kind[4];
    double most[4];
    bool over[4]; /* weaker penalties are not tried */
    const bb_personal_usual *usual;
    bb_personal_average average;
    const double *odds; /* by cells: what tasks have voted, or NULL */
    double *evidence;   /* by cells: what rows say, or NULL */
    size_t cell[4];     /* where those of a kind begin, or BB_CELLS */
} averaged;

/* Around one or two centres (NULL: 0); the constant, if there is one, as it is and free. */
static void set_kinds(averaged *all, size_t centres, const double *const *centre,
                      bool freed) {
    all->kinds = 0;
    for (size_t c = 0; c < centres; c++)
        for (int free = 0; free < (freed ? 2 : 1); free++)
            all->kind[all->kinds++] = (bb_logistic_kind){
                .centre = centre[c], .free = free ? bb_personal_free_deviation : 0.0};
    for (size_t k = 0; k < all->kinds; k++) {
        all->most[k] = -INFINITY;
        all->over[k] = false;
        all->cell[k] = BB_CELLS;
    }
}

/* The kinds that were set have cells from `first' on. */
static void set_cells(averaged *all, size_t first) {
    for (size_t k = 0; k < all->kinds; k++)
        all->cell[k] = first + k * BB_PERSONAL_PENALTIES;
    for (size_t k = 0; all->evidence && k < all->kinds; k++)
        for (size_t l = 0; l < BB_PERSONAL_PENALTIES; l++)
            all->evidence[all->cell[k] + l] = -DBL_MAX; /* as it stays if not tried */
}

/* The model in fits.w, and Laplace's approximation of its log evidence: less what it
 * minimises, and half the log det of the matrix. */
static void add_fit(averaged *all, size_t k, size_t l, double objective,
                    double log_det) {
    bb_logistic_fits *fits = &all->fits;
    turn_back(all->as, fits->local->d, fits->w);
    if (all->own) bb_own_units_back(all->own, fits->w);
    double score = -objective - 0.5 * log_det;
    if (all->cell[k] != BB_CELLS) {
        if (all->evidence) all->evidence[all->cell[k] + l] = score;
        if (all->odds) score += all->odds[all->cell[k] + l];
    }
    all->over[k] =
        !bb_personal_average_add(&all->average, all->usual, all->kind[k].centre != NULL,
                                 l, fits->w, score, &all->most[k]);
}

static bb_status add_single(averaged *all, size_t k, size_t l) {
    bb_logistic_fits *fits = &all->fits;
    const double weight = all->size * bb_personal_penalty(l);
    double log_det;
    bb_status status =
        bb_logistic_fits_next(fits, weight, all->kind[k].centre, all->kind[k].free);
    if (!status) status = bb_logistic_fits_log_det(fits, &log_det);
    if (status) return status;
    double objective = fits->loss + 0.5 * weight * fits->square;
    if (all->by_left_out > 0.0) {
        const double share = all->by_left_out;
        log_det *= 1.0 - share;
        objective += share * (bb_logistic_fits_left_out(fits) - objective);
    }
    add_fit(all, k, l, objective, log_det);
    return BB_OK;
}

/* From the strongest penalty on, one fit after the other. */
static bb_status add_singles(averaged *all) {
    for (size_t k = 0; k < all->kinds; k++)
        for (size_t l = 0; l < BB_PERSONAL_PENALTIES && !all->over[k]; l++) {
            const bb_status status = add_single(all, k, l);
            if (status) return status;
        }
    return BB_OK;
}

/* From the strongest penalty on, eight fits at a time. */
static bb_status add_eights(averaged *all) {
    const size_t kinds = all->kinds, step = BB_EIGHT / kinds;
    double weight[BB_EIGHT];
    for (size_t first = 0; first < BB_PERSONAL_PENALTIES; first += step) {
        for (size_t n = 0; n < BB_EIGHT; n++)
            weight[n] = all->size * bb_personal_penalty(first + n / kinds);
        const bool eight = bb_logistic_fits_eight(&all->fits, kinds, all->kind, weight);
        for (size_t n = 0; n < BB_EIGHT; n++) {
            const size_t k = n % kinds, l = first + n / kinds;
            bb_status status = BB_OK;
            if (l >= BB_PERSONAL_PENALTIES || all->over[k]) continue;
            if (eight) {
                bb_logistic_fits_take(&all->fits, &all->kind[k], weight[n], n);
                add_fit(all, k, l, all->fits.objective[n], all->fits.log_det[n]);
            } else {
                status = add_single(all, k, l);
            }
            if (status) return status;
        }
    }
    return BB_OK;
}

static bb_status add_fits(averaged *all) {
    return all->fits.by_eight ? add_eights(all) : add_singles(all);
}

/* The same around zero in units of the task's own. sum: d. */
static bb_status add_own_units(averaged *all, const bb_local *local, bb_own_units units,
                               double *sum, double *work) {
    const double *const zero = NULL, constant = all->fits.constant;
    double *rest = work + bb_own_units_work(local);
    bb_in_own_units own;
    if (!bb_own_units_fit(local, constant, units)) return BB_OK;
    bb_own_units_open(&own, local, constant, units, NULL, work);
    bb_logistic_fits_open(&all->fits, &own.local, rest);
    all->own = &own;
    all->size = bb_personal_size(&own.local, true, sum);
    set_kinds(all, 1, &zero, true);
    const bb_status status = add_fits(all);
    all->own = NULL;
    return status;
}

/* What is voted on: around zero and a centre (NULL: none). */
static bb_status add_known(averaged *all, const double *centre) {
    const double *const around[] = {NULL, centre};
    const bool constant = all->fits.constant != 0.0;
    set_kinds(all, centre ? 2 : 1, around, constant);
    if (constant) set_cells(all, BB_CELLS_AROUND_ZERO);
    return add_fits(all);
}

/* room (d) <- a part of the centre. */
static const double *part_of(const averaged *all, const double *centre, double part,
                             double *room) {
    const size_t d = all->fits.local->d;
    memcpy(room, centre, d * sizeof *room);
    bb_scale(d, part, room);
    return room;
}

/* The constant around a centre may be less free, and the centre too long (few rows are often
 * separable, and these go on for ever in directions that are right already), where tasks tell.
 * room: d. */
static bb_status add_less_free(averaged *all, const double *centre, double *room) {
    const double *const around[] = {centre, part_of(all, centre, 0.5, room)};
    set_kinds(all, 2, around, false);
    all->kind[0].free = all->kind[1].free = bb_personal_less_free;
    set_cells(all, BB_CELLS_LESS_FREE);
    return add_fits(all);
}

/* Around a part of the centre. room: d. */
static bb_status add_short(averaged *all, const double *centre, double *room) {
    const double *const around = part_of(all, centre, shorter, room);
    set_kinds(all, 1, &around, all->fits.constant != 0.0);
    return add_fits(all);
}

/* doubted: whether the centre is tried at two lengths, of which each has half the odds. evidence
 * (NULL: none): what tasks vote on, and nothing else is made. */
static bb_status average(const bb_local *local, const bb_personal_public *known,
                         double odds, bool doubted, double *evidence, double *model,
                         double *work) {
    const double *centre = known->centre;
    const size_t d = local->d, n = local->n;
    double *mean = work + d, *sure = mean + d + n;
    double *own = sure + bb_personal_temper_two_work(n);
    double *rest = own + bb_own_units_work(local), voted[BB_CELLS];
    averaged all = {.usual = doubted ? &usual_of_many : &usual, .evidence = evidence};
    bb_logistic_fits_open(&all.fits, local, rest);
    if (!all.fits.by_rows && !all.fits.by_eight)
        all.by_left_out = bb_personal_by_left_out(local);
    const bool left_out = all.by_left_out > 0.0;
    all.average = bb_personal_average_open(mean, left_out ? d + n : d,
                                           doubted ? 0.5 * odds : odds);
    const bool constant = all.fits.constant != 0.0;
    all.size = bb_personal_size(local, constant, work);
    const double size = all.size;
    if (known->odds) {
        bb_personal_hear(all.usual, all.average.odds, known->centre != NULL,
                         known->odds, voted);
        all.odds = voted;
    }
    bb_status status = add_known(&all, centre);
    if (centre && constant && (evidence || known->odds) && !status)
        status = add_less_free(&all, centre, work);
    if (evidence) return status;
    if (centre && doubted && !status) status = add_short(&all, centre, work);
    for (int units = 0; units < BB_OWN_UNITS && !status; units++)
        status = add_own_units(&all, local, (bb_own_units)units, work, own);
    if (!status) bb_personal_average_close(&all.average);
    if (status) return status;
    memcpy(model, mean, d * sizeof *model);
    if (bb_own_units_fit(local, all.fits.constant, BB_OWN_DEVIATIONS))
        bb_logistic_fits_open(&all.fits, local, rest); /* as it came */
    bb_personal_temper_two(&all.fits, size * pow(10.0, all.average.decades), model,
                           left_out ? mean + d : NULL, sure);
    return BB_OK;
}

void bb_personal_label_cells(const bb_personal_public *known, bool *is) {
    for (size_t k = 0; k < BB_PERSONAL_LABEL_CELLS; k++)
        is[k] = k < BB_CELLS_AROUND || known->centre;
}

static bb_status any_loss(const bb_local *local, const bb_personal_public *known,
                          double odds, bool doubted, double *model, double *work) {
    const double *centre = known->centre;
    if (local->n == 0) {
        for (size_t k = 0; k < local->length; k++) model[k] = centre ? centre[k] : 0.0;
        return BB_OK;
    }
    if (local->loss == BB_LOSS_SQUARED)
        return bb_personal_squared(local, known, model, work);
    if (local->loss == BB_LOSS_SOFTMAX)
        return bb_personal_outputs(local, known, odds, model, work);
    return average(local, known, odds, doubted, NULL, model, work);
}

bb_status bb_personal_model(const bb_local *local, const bb_personal_public *known,
                            double *model, double *work) {
    return any_loss(local, known, usual_odds, false, model, work);
}

bb_status bb_personal_around(const bb_local *local, const bb_personal_public *known,
                             double odds, double *model, double *work) {
    const bool doubted = !known->odds && local->n >= many * local->d;
    return any_loss(local, known, odds, doubted, model, work);
}

bb_status bb_personal_label_evidence(const bb_local *local,
                                     const bb_personal_public *known, double *evidence,
                                     double *work) {
    for (size_t k = 0; k < BB_PERSONAL_LABEL_CELLS; k++) evidence[k] = -INFINITY;
    if (local->n == 0) return BB_OK;
    if (local->loss == BB_LOSS_SOFTMAX)
        return bb_personal_outputs_evidence(local, known, evidence, work);
    return average(local, known, usual_odds, false, evidence, NULL, work);
}

/* -- under a covariance -- */

/* out (n x d) <- the rows under the covariance. */
static void turn_rows(const bb_local *local, const turned *as, double *out) {
    const bb_rows rows = bb_rows_of(local);
    const size_t d = local->d;
    for (size_t j = 0; j < local->n; j++) {
        double *x = out + j * d;
        bb_rows_copy(&rows, j, NULL, x);
        if (as->told->basis) {
            bb_multiply(d, d, 1.0, as->told->basis, x, 0.0, as->room);
            memcpy(x, as->room, d * sizeof *x);
        }
        for (size_t a = 0; a < d; a++) x[a] *= root_of(as, a);
    }
}

/* How sharply a covariance is taken: as it is, twice, four times. Few labels cannot tell that
 * a direction is worth so much: half. */
static const double powers[] = {1.0, 2.0, 4.0}, few_powers[] = {0.5};

static size_t under_logistic_work(const bb_local *local) {
    const size_t n = local->n, d = local->d;
    return n * d + d + bb_logistic_fits_work(local);
}

static bb_status under_logistic(const bb_local *local, const bb_covariance *told,
                                double *model, double *work) {
    const size_t n = local->n, d = local->d;
    double *x = work, *room = x + n * d, *rest = room + d;
    bb_local flat = *local;
    const double *const zero = NULL;
    averaged all = {.usual = &usual,
                    .average = bb_personal_average_open(model, d, 1.0)};
    bb_logistic_fits_open(&all.fits, local, rest);
    const bool constant = all.fits.constant != 0.0;
    all.size = bb_personal_size(local, constant, room);
    set_kinds(&all, 1, &zero, constant);
    bb_status status = add_fits(&all);
    const double *power = n > d ? powers : few_powers;
    const size_t count = n > d ? sizeof powers / sizeof *powers : 1;
    for (size_t k = 0; told && k < count && !status; k++) {
        const turned as = to_power(told, power[k], d, room);
        turn_rows(local, &as, x);
        flat.x = x;
        flat.sparse_first = NULL;
        flat.sparse_column = NULL;
        flat.sparse_value = NULL;
        bb_logistic_fits_open(&all.fits, &flat, rest);
        all.as = &as;
        set_kinds(&all, 1, &zero, false);
        status = add_fits(&all);
    }
    if (!status) bb_personal_average_close(&all.average);
    return status;
}

size_t bb_personal_under_work(const bb_local *local) {
    return local->loss == BB_LOSS_SQUARED ? bb_personal_squared_work(local)
                                          : under_logistic_work(local);
}

bb_status bb_personal_under(const bb_local *local, const bb_personal_public *known,
                            double *model, double *work) {
    memset(model, 0, local->d * sizeof *model);
    if (local->n == 0) return BB_OK;
    if (local->loss != BB_LOSS_SQUARED)
        return under_logistic(local, known->told, model, work);
    return bb_personal_squared(local, known, model, work);
}
