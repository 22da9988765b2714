#include "privacy/accounting/best_of.h"

#include "privacy/accounting/accountant.h"
#include "privacy/accounting/rdp.h"

#include <math.h>

/* Covers the rounding of a handful of operations. */
static const double up = 1.0 + 0x1p-40;

double bb_best_of_rdp(double mean, double mu, double order) {
    const double e = log1p(1.0 / (order - 1.0)) / up;
    if (mu == 0.0) return 0.0; /* nothing is published that depends on data */
    return up * (bb_rdp_gaussian(mu, order) + mean * bb_gdp_delta(mu, e) +
                 log(mean) / (order - 1.0));
}

static double epsilon_at(double mean, double mu, double delta, double log_excess) {
    const double order = 1.0 + exp(log_excess);
    return bb_rdp_to_epsilon(bb_best_of_rdp(mean, mu, order), order, delta);
}

/* Every order is valid: the search over them can only cost tightness. */
double bb_best_of_epsilon(double mean, double mu, double delta) {
    const double golden = 0.6180339887498949, step = 0.25;
    double best = INFINITY, at = 0.0;
    for (double x = -5.0; x <= 25.0; x += step) {
        const double epsilon = epsilon_at(mean, mu, delta, x);
        if (epsilon < best) at = x;
        best = fmin(best, epsilon);
    }
    double low = at - step, high = at + step;
    for (int k = 0; k < 40; k++) {
        const double left = high - golden * (high - low);
        const double right = low + golden * (high - low);
        const double a = epsilon_at(mean, mu, delta, left);
        const double b = epsilon_at(mean, mu, delta, right);
        best = fmin(best, fmin(a, b));
        if (a < b)
            high = right;
        else
            low = left;
    }
    return best;
}

double bb_best_of_mu(double mean, double epsilon, double delta) {
    double low = 0.0, high = bb_gdp_mu(epsilon, delta); /* one run costs that */
    for (int k = 0; k < 50; k++) {
        const double mu = 0.5 * (low + high);
        if (bb_best_of_epsilon(mean, mu, delta) <= epsilon)
            low = mu;
        else
            high = mu;
    }
    return low;
}
