#include "methods/ridge_tuned.h"

#include "base/memory.h"
#include "learners/rows.h"
#include "linalg/linalg.h"
#include "methods/personal_units.h"

#include <math.h>
#include <string.h>

enum { LEAST_ROWS = 4, PENALTIES = 13 };
/* Decades, over the number of columns that vary. */
static const double most = 3.0, step = 0.5, usual = 0.3;
/* An error below this part of the targets' variance is rounding. */
static const double least_error = 1e-12;

static double constant_of(const bb_local *local) {
    return local->x && local->n > 0 ? local->x[local->d - 1] : 0.0;
}

bool bb_ridge_tuned_fits(const bb_local *local) {
    return local->n >= LEAST_ROWS &&
           bb_own_units_fit(local, constant_of(local), BB_OWN_DEVIATIONS);
}

size_t bb_ridge_tuned_work(const bb_local *local) {
    const bb_rows rows = bb_rows_of(local);
    if (!bb_ridge_tuned_fits(local)) return 0;
    return bb_own_units_work(local) + bb_local_room(rows, BB_LOSS_SQUARED, true) +
           bb_larger(
               bb_local_open_work(rows, BB_LOSS_SQUARED),
               bb_larger(bb_local_loo_work(local, PENALTIES), bb_local_work(local)));
}

static double decades(size_t l) {
    return most - step * (double)l;
}

/* The largest of those that are best. error: of rows left out, their mean square. */
static size_t best_of(const bb_local *local, const double *error) {
    const double n = (double)local->n;
    double least = INFINITY;
    size_t best = 0;
    for (size_t l = 0; l < PENALTIES; l++) {
        const double far = decades(l) - usual;
        const double found =
            n * log(error[l] + least_error * local->yy / n) + far * far;
        if (!(found < least)) continue;
        least = found;
        best = l;
    }
    return best;
}

bb_status bb_ridge_tuned(const bb_local *local, double *w, double *work) {
    double penalty[PENALTIES], error[PENALTIES], varying = 0.0, level;
    double *room = work + bb_own_units_work(local);
    bb_in_own_units own;
    bb_local alone;
    bb_own_units_open(&own, local, constant_of(local), BB_OWN_DEVIATIONS, work);
    const bb_rows rows = bb_rows_of(&own.local);
    const size_t length = bb_local_room(rows, BB_LOSS_SQUARED, true);
    double *rest = room + length;
    memset(room, 0, length * sizeof *room);
    bb_status status =
        bb_local_open_exact(&alone, rows, BB_LOSS_SQUARED, true, true, room, rest);
    if (status) return status;
    for (size_t k = 0; k + 1 < local->d; k++) varying += own.factor[k] > 0.0;
    for (size_t l = 0; l < PENALTIES; l++)
        penalty[l] = fmax(1.0, varying) * pow(10.0, decades(l));
    status = bb_local_loo(&alone, PENALTIES, penalty, error, rest);
    if (!status)
        status = bb_local_ridge(&alone, penalty[best_of(&alone, error)], NULL, w,
                                &level, rest);
    if (status) return status;
    w[local->d - 1] = level / own.constant;
    bb_own_units_back(&own, w);
    return BB_OK;
}
