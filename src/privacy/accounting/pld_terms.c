#include "base/memory.h"
#include "privacy/accounting/pld_direction.h"

#include <math.h>
#include <stdlib.h>

static const double most_frequencies = 0x1p24, most_work = 3e7;

/* -- the end of the sum over frequencies -- */

/* A bound of |product of phi| from omega on. */
static double log_envelope(const bb_pld_direction *s, double omega) {
    double sum = 0.0;
    for (size_t e = 0; e < s->count; e++)
        sum += s->times[e] * log(bb_privacy_loss_envelope(&s->law[e], omega));
    return sum;
}

/* The sum of 2 |terms| from the n-th on: each doubling of k by its own bound, with
 * sum_{k = a}^{b - 1} 1 / k^2 <= 1 / (a - 1) - 1 / (b - 1). */
static double log_end(const bb_pld_direction *s, double n) {
    double sum = 0.0;
    for (double k = n; k < 0x1p200; k *= 2.0) {
        const double bound = exp(log_envelope(s, k * s->step));
        const double part = 2.0 * bound / (s->step * s->step) *
                            (1.0 / (k - 1.0) - 1.0 / (2.0 * k - 1.0));
        sum += part;
        if (part < sum * 1e-6 || sum < 1e-300) break;
    }
    return sum > 0.0 ? log(sum) : -INFINITY;
}

/* Whether the work of n frequencies, in nodes, is not too much: each takes part in some
 * dozens of profiles, and each law has to be raised to its power. */
static bool is_bearable(const bb_pld_direction *s, double n) {
    double left = most_work / n - 600.0;
    for (size_t e = 0; e < s->count && left > 0.0; e++) {
        const size_t limit = (size_t)fmin(left, 0x1p22);
        const size_t nodes = bb_privacy_loss_nodes(&s->law[e], n * s->step, limit);
        if (nodes > BB_PRIVACY_LOSS_NODES_MOST) return false;
        left -= 100.0 + (double)nodes;
    }
    return left >= 0.0;
}

/* The fewest frequencies (by steps of a quarter) with which the end is small; whether
 * that is bearable. */
static bool choose_frequencies(bb_pld_direction *s, double log_delta, double epsilon) {
    double n = 4.0, moment = 0.0;
    for (size_t e = 0; e < s->count; e++) moment += s->times[e] * s->law[e].log_moment;
    /* the scale of bb_pld_direction_profile() */
    const double goal_end = log_delta - BB_PLD_DIRECTION_SMALL - moment +
                            s->tilt * epsilon + log(BB_TWO_PI / s->step);
    while (n < most_frequencies && log_end(s, n) > goal_end) n = ceil(n * 1.25);
    s->frequencies = (size_t)n;
    s->end = exp(log_end(s, n));
    return n < most_frequencies && is_bearable(s, n);
}

/* -- the terms -- */

/* terms[k] *= phi_e^times; and their relative rounding errors. */
static bb_status multiply(bb_pld_direction *s, size_t e, double *error, double *re,
                          double *im) {
    bb_privacy_loss *law = &s->law[e];
    const double times = s->times[e];
    const bb_status status =
        bb_privacy_loss_tilt(law, s->tilt, (double)s->frequencies * s->step);
    if (status) return status;
    bb_privacy_loss_spectrum(law, 0.0, s->step, s->frequencies, re, im);
    for (size_t k = 0; k < s->frequencies; k++) {
        const double omega = (double)k * s->step;
        /* near phi = 1, and away from it */
        const double more = re[k] * (2.0 + re[k]) + im[k] * im[k];
        const double log_size = more > -0.5
                                    ? fmin(0.0, 0.5 * log1p(more))
                                    : fmax(-1e3, log(hypot(1.0 + re[k], im[k])));
        const double angle = remainder(times * atan2(im[k], 1.0 + re[k]), BB_TWO_PI);
        error[k] += times * omega * law->slip / fmax(exp(log_size), 1e-30);
        s->terms[k] *= exp(times * log_size) * (cos(angle) + I * sin(angle));
    }
    return BB_OK;
}

static bb_status fill_terms(bb_pld_direction *s) {
    double *work = NULL;
    const size_t n = s->frequencies;
    bb_status status = bb_allocate(&s->terms, n, sizeof *s->terms, "the accountant");
    if (!status) status = bb_allocate(&work, 3 * n, sizeof *work, "the accountant");
    double *error = work;
    for (size_t k = 0; k < n && !status; k++) {
        const double complex at = s->tilt + I * ((double)k * s->step);
        s->terms[k] = (k ? 2.0 : 1.0) / (at * (at + 1.0));
        error[k] = 0x1p-48;
    }
    for (size_t e = 0; e < s->count && !status; e++)
        status = multiply(s, e, error, work + n, work + 2 * n);
    s->log_moment = 0.0;
    s->relative = 0x1p-46;
    for (size_t e = 0; e < s->count && !status; e++) {
        s->log_moment += s->times[e] * s->law[e].log_moment;
        s->relative += s->times[e] * s->law[e].error;
    }
    s->rounding = s->turning = 0.0;
    for (size_t k = 0; k < s->frequencies && !status; k++) {
        s->rounding += cabs(s->terms[k]) * error[k];
        s->turning += cabs(s->terms[k]) * 0x1p-51 * (double)k * s->step;
    }
    free(work);
    return status;
}

/* The same of the atoms. */
static void profile_of_atoms(const bb_pld_direction *s, double epsilon, double *upper,
                             double *lower) {
    *upper = fmin(1.0, (s->infinite + s->lost) * (1.0 + 0x1p-30) +
                           bb_discrete_pld_delta(&s->above, BB_ABOVE, epsilon));
    *lower = s->infinite * (1.0 - 0x1p-30) +
             bb_discrete_pld_delta(&s->below, BB_BELOW, epsilon);
}

void bb_pld_direction_profile(const bb_pld_direction *s, double epsilon, double *upper,
                              double *lower) {
    double sum = 0.0;
    if (!s->terms) {
        profile_of_atoms(s, epsilon, upper, lower);
        return;
    }
    for (size_t k = 0; k < s->frequencies; k++) {
        const double angle = (double)k * s->step * epsilon;
        sum += creal(s->terms[k]) * cos(angle) + cimag(s->terms[k]) * sin(angle);
    }
    const double log_scale =
        s->log_moment - s->tilt * epsilon + log(s->step / BB_TWO_PI);
    const double scale = exp(log_scale);
    const double error = (s->rounding + s->turning * epsilon + s->end) * scale;
    const double rounded =
        fabs(sum) * scale *
        (s->relative + 0x1p-50 * (fabs(s->log_moment) + s->tilt * epsilon));
    if (!isfinite(sum * scale + error)) { /* nothing is known */
        *upper = 1.0;
        *lower = s->infinite * (1.0 - 0x1p-30);
        return;
    }
    const double most = sum * scale + error + rounded;
    const double least =
        sum * scale - error - rounded -
        exp(bb_pld_direction_log_aliases(s, BB_TWO_PI / s->step, epsilon));
    *upper = fmin(1.0, (s->infinite + s->lost) * (1.0 + 0x1p-30) + fmax(0.0, most));
    *lower = fmax(0.0, s->infinite * (1.0 - 0x1p-30) + fmax(0.0, least));
}

bb_status bb_pld_direction_prepare(bb_pld_direction *s, double log_delta,
                                   double epsilon) {
    free(s->terms);
    s->terms = NULL;
    bb_pld_direction_set_period(s, log_delta, epsilon);
    for (size_t e = 0; e < s->count; e++) {
        const bb_status status = bb_privacy_loss_tilt(&s->law[e], s->tilt, 0.0);
        if (status) return status;
    }
    if (!choose_frequencies(s, log_delta, epsilon)) return BB_OK;
    return fill_terms(s);
}
