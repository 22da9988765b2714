#include "methods/ridge_tuned.h"

#include "base/memory.h"
#include "learners/rows.h"
#include "linalg/linalg.h"
#include "methods/personal_units.h"

#include <math.h>
#include <string.h>

enum { LEAST_ROWS = 2, LEAST_FOR_DEVIATIONS = 4, MOST_PENALTIES = 25 };

typedef enum way { DEVIATIONS, FROM_ZERO, WAYS } way;

/* Which penalties are tried, in decades over what rows have for the sum of their squares, from
 * the largest on, and what is believed of them; columns as read may be of any size. */
static const double most = 3.0, step = 0.5;
static const struct {
    size_t penalties;
    double usual, deviation;
    double against; /* twice the log odds */
} belief[WAYS] = {{13, 0.3, 1.0, 0.0}, {MOST_PENALTIES, -2.0, 3.0, 4.0}};
/* An error below this part of the targets' mean square is rounding. */
static const double least_error = 1e-12;

static double constant_of(const bb_local *local) {
    return local->x && local->n > 0 ? local->x[local->d - 1] : 0.0;
}

static bool can(const bb_local *local, way as) {
    if (!local->x || constant_of(local) == 0.0) return false;
    if (as == DEVIATIONS) return local->n >= LEAST_FOR_DEVIATIONS;
    return local->n >= LEAST_ROWS && local->own_factor;
}

bool bb_ridge_tuned_fits(const bb_local *local) {
    return can(local, DEVIATIONS) || can(local, FROM_ZERO);
}

size_t bb_ridge_tuned_work(const bb_local *local) {
    const bb_rows rows = bb_rows_of(local);
    if (!bb_ridge_tuned_fits(local)) return 0;
    return local->d + local->n + bb_own_units_work(local) +
           bb_local_room(rows, BB_LOSS_SQUARED, true) +
           bb_larger(bb_local_open_work(rows, BB_LOSS_SQUARED),
                     bb_larger(bb_local_loo_work(local, MOST_PENALTIES),
                               bb_local_work(local)));
}

/* What rows have for the sum of their squares, on average. */
static double size_of(const bb_rows *rows, bool constant) {
    double squares = 0.0;
    for (size_t j = 0; j < rows->n; j++)
        squares +=
            bb_dot(rows->d - !constant, rows->x + j * rows->d, rows->x + j * rows->d);
    return squares > 0.0 ? squares / (double)rows->n : 1.0;
}

static double decades(size_t l) {
    return most - step * (double)l;
}

/* The number of the best penalty, of those that are as good the largest; *score, *error: what
 * speaks against it, twice a log likelihood, and the mean square of rows left out. */
static size_t best_of(const bb_local *local, way as, const double *left_out,
                      double *score, double *error) {
    const double n = (double)local->n;
    size_t best = 0;
    *score = INFINITY;
    for (size_t l = 0; l < belief[as].penalties; l++) {
        const double far = (decades(l) - belief[as].usual) / belief[as].deviation;
        const double found = n * log(left_out[l] + least_error * local->yy / n) +
                             far * far + belief[as].against;
        if (!(found < *score)) continue;
        *score = found;
        best = l;
    }
    *error = left_out[best];
    return best;
}

/* y (n): room. */
static void open_rows(bb_in_own_units *own, const bb_local *local, way as,
                      const double *least, double *y, double *work) {
    const double constant = constant_of(local);
    if (as != FROM_ZERO) {
        bb_own_units_open(own, local, constant, BB_OWN_DEVIATIONS, least, work);
        return;
    }
    bb_as_read_open(own, local, constant, work);
    for (size_t j = 0; j < local->n; j++) y[j] = local->y[j] + local->target_shift;
    own->local.y = y;
}

static bb_status tune(const bb_local *local, way as, const double *least, double *w,
                      double *score, double *error, double *work) {
    double penalty[MOST_PENALTIES], left_out[MOST_PENALTIES], level = 0.0;
    double *y = work + bb_own_units_work(local), *room = y + local->n;
    const size_t last = local->d - 1, penalties = belief[as].penalties;
    bb_in_own_units own;
    bb_local alone;
    open_rows(&own, local, as, least, y, work);
    const bb_rows rows = bb_rows_of(&own.local);
    const double size = size_of(&rows, as == FROM_ZERO);
    const size_t length = bb_local_room(rows, BB_LOSS_SQUARED, true);
    double *rest = room + length;
    memset(room, 0, length * sizeof *room);
    bb_status status = bb_local_open_exact(&alone, rows, BB_LOSS_SQUARED,
                                           as != FROM_ZERO, true, room, rest);
    if (status) return status;
    for (size_t l = 0; l < MOST_PENALTIES; l++)
        penalty[l] = size * pow(10.0, decades(l));
    status = bb_local_loo(&alone, penalties, penalty, left_out, rest);
    if (status) return status;
    const size_t best = best_of(local, as, left_out, score, error);
    status = bb_local_ridge(&alone, penalty[best], NULL, w, &level, rest);
    if (status) return status;
    if (as == FROM_ZERO) level = w[last] - local->target_shift;
    w[last] = level / own.constant;
    bb_own_units_back(&own, w);
    return BB_OK;
}

/* The mean square by which the mean of the others misses a row. */
static double missed_by_mean(const bb_local *local) {
    const double n = (double)local->n, mean = bb_sum(local->n, local->y) / n;
    double squares = 0.0;
    for (size_t j = 0; j < local->n; j++) squares += pow(local->y[j] - mean, 2.0);
    return squares * n / ((n - 1.0) * (n - 1.0));
}

/* One way after the other: w is the average of those before, by `all' of their weights, which go
 * by the least score so far. */
bb_status bb_ridge_tuned(const bb_local *local, const double *least, double *w,
                         double *missed, double *work) {
    const double variance = missed_by_mean(local);
    double best = INFINITY, all = 0.0, error = 0.0, *model = work;
    bb_status status = BB_OK;
    memset(w, 0, local->d * sizeof *w);
    for (way as = DEVIATIONS; as < WAYS && !status; as++) {
        double score, left_out;
        if (!can(local, as)) continue;
        status = tune(local, as, least, model, &score, &left_out, work + local->d);
        if (status || !isfinite(score)) continue;
        const double lower = fmin(best, score);
        const double old = all > 0.0 ? all * exp(0.5 * (lower - best)) : 0.0;
        const double weight = exp(0.5 * (lower - score));
        const double part = weight / (old + weight);
        bb_scale(local->d, 1.0 - part, w);
        bb_axpy(local->d, part, model, w);
        error += part * (left_out - error);
        best = lower;
        all = old + weight;
    }
    *missed = variance > 0.0 ? fmin(1.0, error / variance) : 1.0;
    return status;
}
