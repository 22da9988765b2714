#include "methods/personal_units.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { LEAST_ROWS = 3 };
/* A deviation below this part of the mean is rounding. */
static const double rounding = 1e-6;
/* And below this part of half a range, or of the power of ten that a column is in, one number but
 * for its last digits, at most: what is next may be anywhere. */
static const double least_part = 1e-4;
/* Squares of longer columns than one over this would overflow. */
static const double least_factor = 1e-100;

bool bb_own_units_fit(const bb_local *local, double constant, bb_own_units units) {
    if (units == BB_OWN_READ && !local->own_factor) return false;
    return local->x && constant != 0.0 && local->n >= LEAST_ROWS;
}

size_t bb_own_units_work(const bb_local *local) {
    return local->x ? (local->n + 2) * local->d : 0;
}

bool bb_more_than_rounding(double deviation, double mean) {
    return deviation > rounding * fabs(mean);
}

bool bb_own_units_vary(const bb_local *local, double deviation, double mean) {
    if (!bb_more_than_rounding(deviation, mean)) return false;
    return !local->own_factor || deviation * sqrt((double)local->d) > least_part;
}

static double as_read(const bb_local *local, size_t k) {
    return 1.0 / fmax(local->own_factor[k], least_factor);
}

/* What the column is multiplied by, from its variance. */
static double factor_of(const bb_local *local, bb_own_units units, size_t k,
                        double variance, double mean, double least) {
    if (!bb_own_units_vary(local, sqrt(variance), mean)) return 0.0;
    if (units == BB_OWN_READ) return as_read(local, k);
    return 1.0 / fmax(least, sqrt(variance));
}

void bb_own_units_open(bb_in_own_units *own, const bb_local *local, double constant,
                       bb_own_units units, const double *least, double *work) {
    const size_t n = local->n, d = local->d, last = d - 1;
    double *mean = work, *factor = mean + d, *x = factor + d;
    memset(work, 0, 2 * d * sizeof *work);
    for (size_t j = 0; j < n; j++)
        bb_axpy(last, 1.0 / (double)n, local->x + j * d, mean);
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < last; k++) {
            x[j * d + k] = local->x[j * d + k] - mean[k];
            factor[k] += x[j * d + k] * x[j * d + k] / (double)n;
        }
    for (size_t k = 0; k < last; k++)
        factor[k] =
            factor_of(local, units, k, factor[k], mean[k], least ? least[k] : 0.0);
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < last; k++) x[j * d + k] *= factor[k];
        x[j * d + last] = constant;
    }
    *own = (bb_in_own_units){*local, mean, factor, constant};
    own->local.x = x;
}

/* A column of one value says here what the constant says, and elsewhere what nobody knows. */
static bool does_vary(const bb_local *local, size_t k) {
    const double first = local->n ? local->x[k] : 0.0;
    for (size_t j = 1; j < local->n; j++)
        if (local->x[j * local->d + k] != first) return true;
    return false;
}

void bb_as_read_open(bb_in_own_units *own, const bb_local *local, double constant,
                     double *work) {
    const size_t n = local->n, d = local->d, last = d - 1;
    double *mean = work, *factor = mean + d, *x = factor + d;
    memset(work, 0, 2 * d * sizeof *work);
    for (size_t k = 0; k < last; k++) {
        factor[k] = does_vary(local, k) ? as_read(local, k) : 0.0;
        mean[k] = local->own_shift ? -local->own_shift[k] / sqrt((double)d) : 0.0;
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < last; k++)
            x[j * d + k] = factor[k] * (local->x[j * d + k] - mean[k]);
        x[j * d + last] = 1.0;
    }
    *own = (bb_in_own_units){*local, mean, factor, constant};
    own->local.x = x;
}

void bb_own_units_back(const bb_in_own_units *own, double *w) {
    const size_t last = own->local.d - 1, outputs = own->local.outputs;
    for (size_t k = 0; k < last; k++)
        for (size_t c = 0; c < outputs; c++) {
            double *at = w + k * outputs + c;
            *at *= own->factor[k];
            w[last * outputs + c] -= *at * own->mean[k] / own->constant;
        }
}
