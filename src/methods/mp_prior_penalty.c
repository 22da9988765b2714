/* The ridge penalty of mp-prior: leave-one-out at home, a public centre. */
#include "methods/mp_prior.h"

#include <math.h>

/* What is believed of the exponents before looking: they are around -3.5, and tasks
 * scatter by 0.7 around their centre. The errors' likelihood is tempered, since the
 * leave-one-out errors of a few rows are noisy themselves. */
static const double least_exponent = -BB_PRIOR_EXPONENT_RANGE;
static const double exponent_step = BB_PRIOR_EXPONENT_RANGE / (BB_PRIOR_EXPONENTS - 1);
static const double usual_exponent = -3.5, scatter = 0.7, temperature = 0.15;
static const double tie = 1e-9;

static double exponent(size_t k) {
    return least_exponent + exponent_step * (double)k;
}

double bb_prior_grid(size_t k) {
    return pow(10.0, exponent(k));
}

void bb_prior_errors(const bb_local *local, double *error, double *work) {
    double lambda[BB_PRIOR_EXPONENTS];
    for (size_t k = 0; k < BB_PRIOR_EXPONENTS; k++) lambda[k] = bb_prior_grid(k);
    if (local->n == 0 || bb_local_loo(local, BB_PRIOR_EXPONENTS, lambda, error, work))
        for (size_t k = 0; k < BB_PRIOR_EXPONENTS; k++) error[k] = 1.0;
    for (size_t k = 0; k < BB_PRIOR_EXPONENTS; k++) error[k] = fmax(error[k], 1e-300);
}

double bb_prior_exponent(const double *error) {
    double least = INFINITY, sum = 0.0, count = 0.0;
    for (size_t k = 0; k < BB_PRIOR_EXPONENTS; k++) least = fmin(least, error[k]);
    for (size_t k = 0; k < BB_PRIOR_EXPONENTS; k++) {
        if (error[k] > least * (1.0 + tie)) continue;
        sum += exponent(k);
        count += 1.0;
    }
    return sum / count - 0.5 * least_exponent;
}

double bb_prior_centre(double sum, double noise, size_t tasks) {
    const double m = (double)tasks, sd = noise / m, weight = 1.0 / (1.0 + sd * sd);
    const double released = sum / m + 0.5 * least_exponent;
    const double mixed = weight * released + (1.0 - weight) * usual_exponent;
    return fmin(0.0, fmax(least_exponent, mixed));
}

double bb_prior_penalty(const double *error, double n, double centre, double *weight) {
    double most = -INFINITY, total = 0.0, mean = 0.0;
    for (size_t k = 0; k < BB_PRIOR_EXPONENTS; k++) {
        const double away = (exponent(k) - centre) / scatter;
        weight[k] = -temperature * n * log(error[k]) - 0.5 * away * away;
        most = fmax(most, weight[k]);
    }
    for (size_t k = 0; k < BB_PRIOR_EXPONENTS; k++) {
        weight[k] = exp(weight[k] - most);
        total += weight[k];
    }
    for (size_t k = 0; k < BB_PRIOR_EXPONENTS; k++) {
        weight[k] /= total;
        mean += weight[k] * exponent(k);
    }
    return pow(10.0, mean);
}
