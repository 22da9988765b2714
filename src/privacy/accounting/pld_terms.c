#include "base/memory.h"
#include "privacy/accounting/pld_direction.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static const double most_frequencies = 0x1p24, most_work = 3e7, most_mixed = 1.5e8,
                    most_below = 7e8;

/* -- the end of the sum over frequencies -- */

/* A bound of |product of phi| from omega on. */
static double log_envelope(const bb_pld_direction *s, double omega) {
    double sum = 0.0, before = 1.0, after = NAN; /* of a loss and the one after it */
    size_t at = SIZE_MAX, next = SIZE_MAX;
    for (size_t f = 0; f < s->plan->count; f++) {
        const bb_pld_factor *x = &s->plan->factor[f];
        if (x->loss != at)
            before = x->loss == next
                         ? after
                         : bb_privacy_loss_envelope(&s->loss[x->loss], omega);
        at = x->loss;
        double bound = before;
        if (x->share > 0.0) {
            if (next != at + 1)
                after = bb_privacy_loss_envelope(&s->loss[at + 1], omega);
            next = at + 1;
            bound += bb_pld_factor_share(x, s->log_moment_of) * (after - before);
        }
        sum += x->times * log(bound);
    }
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
 * dozens of profiles, and each loss has to be raised to its power. */
static bool is_bearable(const bb_pld_direction *s, double n) {
    const bool mixed = s->plan->mixed;
    const double a_loss = mixed ? 30.0 : 100.0;
    const double most = !mixed                       ? most_work
                        : s->plan->bound == BB_ABOVE ? most_mixed
                                                     : most_below;
    double left = most / n - 600.0;
    if (mixed) left -= 10.0 * (double)s->plan->count;
    for (size_t e = 0; e < s->plan->losses && left > 0.0; e++) {
        const size_t limit = (size_t)fmin(left, 0x1p22);
        const size_t nodes = bb_privacy_loss_nodes(&s->loss[e], n * s->step, limit);
        if (nodes > BB_PRIVACY_LOSS_NODES_MOST) return false;
        left -= a_loss + (double)nodes;
    }
    return left >= 0.0;
}

/* The fewest frequencies (by steps of a quarter) with which the end is small; whether
 * that is bearable. */
static bool choose_frequencies(bb_pld_direction *s, double log_delta, double epsilon) {
    double n = 4.0, moment = 0.0;
    for (size_t e = 0; e < s->plan->losses; e++)
        s->log_moment_of[e] = s->loss[e].log_moment;
    for (size_t f = 0; f < s->plan->count; f++)
        moment += s->plan->factor[f].times *
                  bb_pld_factor_log_moment(&s->plan->factor[f], s->log_moment_of);
    /* the scale of bb_pld_direction_profile() */
    const double goal_end = log_delta - bb_pld_direction_small(s) - moment +
                            s->tilt * epsilon + log(BB_TWO_PI / s->step);
    while (n < most_frequencies && log_end(s, n) > goal_end) n = ceil(n * 1.25);
    s->frequencies = (size_t)n;
    s->end = exp(log_end(s, n));
    return n < most_frequencies && is_bearable(s, n);
}

/* -- the terms -- */

/* phi - 1 of a loss at the frequencies. */
typedef struct spectrum {
    size_t loss;
    double *re, *im;
} spectrum;

static bb_status fill_spectrum(bb_pld_direction *s, size_t loss, spectrum *out) {
    if (out->loss == loss) return BB_OK;
    out->loss = loss;
    const bb_status status =
        bb_privacy_loss_tilt(&s->loss[loss], s->tilt, (double)s->frequencies * s->step);
    if (!status)
        bb_privacy_loss_spectrum(&s->loss[loss], 0.0, s->step, s->frequencies, out->re,
                                 out->im);
    s->log_moment_of[loss] = s->loss[loss].log_moment;
    return status;
}

/* terms[k] *= phi^times; and their relative rounding errors. */
static void multiply(bb_pld_direction *s, const spectrum *x, double times,
                     double *error) {
    const double slip = s->loss[x->loss].slip;
    for (size_t k = 0; k < s->frequencies; k++) {
        const double omega = (double)k * s->step, re = x->re[k], im = x->im[k];
        /* near phi = 1, and away from it */
        const double more = re * (2.0 + re) + im * im;
        const double log_size = more > -0.5 ? fmin(0.0, 0.5 * log1p(more))
                                            : fmax(-1e3, log(hypot(1.0 + re, im)));
        const double angle = remainder(times * atan2(im, 1.0 + re), BB_TWO_PI);
        error[k] += times * omega * slip / fmax(exp(log_size), 1e-30);
        s->terms[k] *= exp(times * log_size) * (cos(angle) + I * sin(angle));
    }
}

/* The same of a mixture of two losses. Powers are by squaring: there are many factors,
 * and each of them is there only a few times. */
static void multiply_mixture(bb_pld_direction *s, const spectrum *a, const spectrum *b,
                             const bb_pld_factor *x, double *error) {
    const double share = bb_pld_factor_share(x, s->log_moment_of);
    const bb_privacy_loss *first = &s->loss[a->loss], *second = &s->loss[b->loss];
    const double slip = fmax(first->slip, second->slip);
    const double wrong = 0x1p-48 + first->error + second->error; /* the share's, too */
    for (size_t k = 0; k < s->frequencies; k++) {
        double re = 1.0 + a->re[k] + share * (b->re[k] - a->re[k]);
        double im = a->im[k] + share * (b->im[k] - a->im[k]);
        double tr = creal(s->terms[k]), ti = cimag(s->terms[k]);
        error[k] += x->times * ((double)k * s->step * slip + wrong) /
                    fmax(sqrt(re * re + im * im), 1e-30);
        for (double left = x->times; left > 0.0; left = floor(left / 2.0)) {
            if (fmod(left, 2.0) == 1.0) {
                const double t = tr * re - ti * im;
                ti = tr * im + ti * re;
                tr = t;
            }
            const double square = re * re - im * im;
            im = 2.0 * re * im;
            re = square;
        }
        s->terms[k] = tr + I * ti;
    }
}

static bb_status multiply_all(bb_pld_direction *s, double *error, double *work) {
    const size_t n = s->frequencies;
    spectrum a = {SIZE_MAX, work, work + n}, b = {SIZE_MAX, work + 2 * n, work + 3 * n};
    for (size_t f = 0; f < s->plan->count; f++) {
        const bb_pld_factor *x = &s->plan->factor[f];
        if (x->loss == b.loss) {
            const spectrum c = a;
            a = b;
            b = c;
        }
        bb_status status = fill_spectrum(s, x->loss, &a);
        if (!status && x->share > 0.0) status = fill_spectrum(s, x->loss + 1, &b);
        if (status) return status;
        if (x->share > 0.0)
            multiply_mixture(s, &a, &b, x, error);
        else
            multiply(s, &a, x->times, error);
    }
    return BB_OK;
}

static bb_status fill_terms(bb_pld_direction *s) {
    double *work = NULL;
    const size_t n = s->frequencies;
    bb_status status = bb_allocate(&s->terms, n, sizeof *s->terms, "the accountant");
    if (!status) status = bb_allocate(&work, 5 * n, sizeof *work, "the accountant");
    double *error = work;
    for (size_t k = 0; k < n && !status; k++) {
        const double complex at = s->tilt + I * ((double)k * s->step);
        s->terms[k] = (k ? 2.0 : 1.0) / (at * (at + 1.0));
        error[k] = 0x1p-48;
    }
    if (!status) status = multiply_all(s, error, work + n);
    s->log_moment = 0.0;
    s->relative = 0x1p-46;
    for (size_t f = 0; f < s->plan->count && !status; f++) {
        const bb_pld_factor *x = &s->plan->factor[f];
        const bb_privacy_loss *loss = &s->loss[x->loss];
        s->log_moment += x->times * bb_pld_factor_log_moment(x, s->log_moment_of);
        s->relative += x->times * fmax(loss->error,
                                       x->share > 0.0 ? loss[1].error + 0x1p-50 : 0.0);
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
    for (size_t e = 0; e < s->plan->losses; e++) {
        const bb_status status = bb_privacy_loss_tilt(&s->loss[e], s->tilt, 0.0);
        if (status) return status;
    }
    if (!choose_frequencies(s, log_delta, epsilon)) return BB_OK;
    return fill_terms(s);
}
