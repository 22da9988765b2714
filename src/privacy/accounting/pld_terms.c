/* The sum over frequencies of pld.h, its end and its errors. */
#include "base/memory.h"
#include "privacy/accounting/pld_direction.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static const double most_frequencies = 0x1p22, most_exact = 1e8;

/* -- the end of the sum over frequencies -- */

/* A bound of |product of phi| from omega on. Of mixtures, and of the rounds that they
 * stand for, that of the added round alone. */
static double log_envelope(const bb_pld_direction *s, double omega) {
    const double added = -s->smooth * s->smooth * omega * omega / 2.0;
    double sum = 0.0;
    if (s->plan->mixed) return added;
    for (size_t f = 0; f < s->plan->count; f++) {
        const bb_pld_factor *x = &s->plan->factor[f];
        sum += x->times * log(bb_privacy_loss_envelope(&s->loss[x->loss], omega));
    }
    return sum + added;
}

/* What multiplies the density in the lower bound: smooth^2, and the margin for the
 * curvature of the bump (docs/privacy.md). */
static double bump(const bb_pld_direction *s) {
    return s->smooth * s->smooth * (1.0 + s->smooth);
}

/* The sum of 2 |terms| from the n-th on, of the upper and the lower bound: each doubling
 * of k by its own bound, with sum_{k = a}^{b - 1} 1 / k^2 <= 1 / (a - 1) - 1 / (b - 1).
 */
static double log_end(const bb_pld_direction *s, double n) {
    double sum = 0.0;
    for (double k = n; k < 0x1p200; k *= 2.0) {
        const double bound = exp(log_envelope(s, k * s->step));
        const double part =
            2.0 * bound *
            ((1.0 / (k - 1.0) - 1.0 / (2.0 * k - 1.0)) / (s->step * s->step) +
             bump(s) * k);
        sum += part;
        if (part <= sum * 1e-6 || sum < 1e-300) break;
    }
    return sum > 0.0 ? log(sum) : -INFINITY;
}

/* The work of n frequencies, in multiplications or so. */
static double work_of(const bb_pld_direction *s, double n, double most) {
    double work = 60.0 * n * (double)s->plan->count;
    for (size_t e = 0; e < s->plan->losses && work <= most; e++)
        work += bb_privacy_loss_work(&s->loss[e], n * s->step, n, s->fast, most - work);
    return work;
}

/* The fewest frequencies (by steps of an eighth) with which the end is small; whether
 * that is bearable. */
static bool choose_frequencies(bb_pld_direction *s, double log_delta, double epsilon) {
    double n = 4.0, moment = s->smooth * s->smooth * s->tilt * (s->tilt + 1.0) / 2.0;
    for (size_t e = 0; e < s->plan->losses; e++)
        s->log_moment_of[e] = s->loss[e].log_moment;
    for (size_t f = 0; f < s->plan->count; f++)
        moment += s->plan->factor[f].times *
                  bb_pld_factor_log_moment(&s->plan->factor[f], s->log_moment_of);
    /* the scale of bb_pld_direction_profile() */
    const double goal_end = log_delta - bb_pld_direction_small(s) - moment +
                            s->tilt * epsilon + log(BB_TWO_PI / s->step);
    while (n < most_frequencies && log_end(s, n) > goal_end) n = ceil(n * 1.125);
    s->frequencies = (size_t)n;
    s->end = exp(log_end(s, n));
    double left = s->plan->work_most - s->plan->work;
    if (s->smooth == 0.0) left = fmin(left, most_exact);
    const double work = work_of(s, n, left);
    if (n >= most_frequencies || work > left) return false;
    s->plan->work += work;
    return true;
}

/* -- the terms -- */

/* What the errors of all spectra may do to delta. */
#define BLUR_MOST  1e-4
#define BLUR_EXACT 1e-9

/* phi - 1 of a loss at the frequencies. */
typedef struct spectrum {
    size_t loss;
    double *re, *im;
} spectrum;

/* The product so far, at each frequency: the log of its size, its angle, and the logs of
 * one plus the relative errors: that of the product itself, and what it may be away from
 * that of the rounds which mixtures stand for; where nothing else is known, by how much
 * either may be larger. */
typedef struct product {
    double *size, *angle, *error, *away, *far, *far_away;
} product;

static bb_status fill_spectrum(bb_pld_direction *s, size_t loss, bb_fourier *fourier,
                               spectrum *out) {
    if (out->loss == loss) return BB_OK;
    out->loss = loss;
    const bb_status status =
        bb_privacy_loss_tilt(&s->loss[loss], s->tilt, (double)s->frequencies * s->step);
    if (!status)
        bb_privacy_loss_spectrum(&s->loss[loss], 0.0, s->step, s->frequencies, fourier,
                                 out->re, out->im);
    s->log_moment_of[loss] = s->loss[loss].log_moment;
    return status;
}

/* A mixture stands for rounds of several shares, whose mean it has, and which are above
 * the rounds themselves. */
typedef struct mixture {
    double share;          /* after the tilt */
    double first, second;  /* the moments of its losses over its own */
    double spread, widest; /* of the shares: the sum of squares, and of distances */
    double above, most; /* in the moment, relative: of all rounds, and of one at most */
} mixture;

/* M(c) over that of the mixture. */
static double over(const bb_pld_direction *s, size_t loss, double log_moment) {
    return exp(s->log_moment_of[loss] - log_moment);
}

/* In f(mu) moments are convex: they are above the lines through the losses before, or
 * after, and below the mixture. */
static mixture mixture_of(const bb_pld_direction *s, const bb_pld_factor *x) {
    const size_t a = x->loss, b = a + 1;
    const double *gap = s->plan->gap;
    const double log_moment = bb_pld_factor_log_moment(x, s->log_moment_of);
    mixture m = {.share = bb_pld_factor_share(x, s->log_moment_of),
                 .first = over(s, a, log_moment),
                 .second = over(s, b, log_moment),
                 .spread = x->spread,
                 .widest = sqrt(x->spread * x->times)};
    const double wrong = 0x1p-44 + 4.0 * (s->loss[a].error + s->loss[b].error);
    const double rise = m.second - m.first, noise = wrong * m.second;
    double before = rise, after = INFINITY; /* the distances per share */
    if (gap[a] > 0.0)
        before = rise - (m.first - over(s, a - 1, log_moment)) * (gap[b] / gap[a]) +
                 noise * (1.0 + gap[b] / gap[a]);
    if (b + 1 < s->plan->losses && gap[b + 1] > 0.0)
        after = (over(s, b + 1, log_moment) - m.second) * (gap[b] / gap[b + 1]) - rise +
                noise * (1.0 + gap[b] / gap[b + 1]);
    before = fmax(noise, fmin(before, rise));
    after = fmax(noise, after);
    m.most = fmin(before, after);
    m.above = x->times * (fmin(x->share * before, (1.0 - x->share) * after) + noise +
                          x->share * rise * 0x1p-39);
    return m;
}

/* Errors of a mixture's power at one frequency. Near: the product of 1 + a + b over its
 * rounds, b being what they are below the mixture, a what their shares are away, whose sum
 * is 0; |(1 + x) e^-x - 1| <= x^2 for |x| <= 1. Far: no more than the sizes can be, of
 * what has the size e^log_size and at most `most`, the mean of those of both losses. */
static void add_mixture_errors(product *p, size_t k, const mixture *m, double times,
                               double apart, double grows, double log_size,
                               double most) {
    const double size = exp(log_size), a = apart / size;
    const double a2 = m->spread * a * a, b = m->above * grows;
    const double far = times * (log(most) - log_size);
    const bool near = a <= 0.5;
    if (near)
        p->error[k] += a2;
    else
        p->far[k] += fmax(far, 0x1p-60);
    if (near && m->most * grows <= 0.25 * size)
        p->away[k] += a2 + 1.5 * b / size;
    else
        p->far_away[k] +=
            fmax(0x1p-60,
                 fmin(-times * log_size, times * (log(most + b / times) - log_size)));
}

/* *= phi^times; and the relative rounding errors. */
static void multiply(bb_pld_direction *s, product *p, const spectrum *a,
                     const spectrum *b, const bb_pld_factor *x) {
    const bb_privacy_loss *loss = &s->loss[a->loss];
    const bool mixed = x->share > 0.0;
    const mixture m = mixed ? mixture_of(s, x) : (mixture){0};
    const double c = s->tilt;
    const double slip = mixed ? fmax(loss->slip, loss[1].slip) : loss->slip;
    const double blur =
        loss->blur +
        (mixed ? loss[1].blur + 0x1p-48 + loss->error + loss[1].error : 0.0);
    for (size_t k = 0; k < s->frequencies; k++) {
        const double omega = (double)k * s->step;
        double re = a->re[k], im = a->im[k];
        if (mixed) {
            re += m.share * (b->re[k] - re);
            im += m.share * (b->im[k] - im);
        }
        /* near phi = 1, and away from it */
        const double more = re * (2.0 + re) + im * im;
        const double log_size = more > -0.5 ? fmin(0.0, 0.5 * log1p(more))
                                            : fmax(-1e3, log(hypot(1.0 + re, im)));
        const double size = fmax(exp(log_size), 1e-300);
        p->size[k] += x->times * log_size;
        p->angle[k] =
            remainder(p->angle[k] + x->times * atan2(im, 1.0 + re), BB_TWO_PI);
        p->error[k] += x->times * log1p((omega * slip + blur) / size);
        if (!mixed) continue;
        const double apart =
            hypot(m.second * (1.0 + b->re[k]) - m.first * (1.0 + a->re[k]),
                  m.second * b->im[k] - m.first * a->im[k]);
        const double grows = hypot(c, omega) * hypot(c + 1.0, omega) / (c * (c + 1.0));
        const double most = (1.0 - m.share) * hypot(1.0 + a->re[k], a->im[k]) +
                            m.share * hypot(1.0 + b->re[k], b->im[k]);
        add_mixture_errors(p, k, &m, x->times, apart, grows, log_size, most);
    }
}

static bb_status multiply_all(bb_pld_direction *s, product *p, double *work,
                              bb_fourier *fourier) {
    const size_t n = s->frequencies;
    spectrum a = {SIZE_MAX, work, work + n}, b = {SIZE_MAX, work + 2 * n, work + 3 * n};
    for (size_t f = 0; f < s->plan->count; f++) {
        const bb_pld_factor *x = &s->plan->factor[f];
        if (x->loss == b.loss) {
            const spectrum c = a;
            a = b;
            b = c;
        }
        bb_status status = fill_spectrum(s, x->loss, fourier, &a);
        if (!status && x->share > 0.0)
            status = fill_spectrum(s, x->loss + 1, fourier, &b);
        if (status) return status;
        multiply(s, p, &a, &b, x);
    }
    return BB_OK;
}

/* Rounds of all tasks were made one, a little above. */
static double raised(const bb_pld_direction *s) {
    double squares = 0.0;
    for (size_t e = 0; e < s->plan->losses && s->plan->raised > 0.0; e++)
        if (s->plan->loss[e].kind == BB_EVENT_ROUND && s->plan->loss[e].rate == 1.0)
            squares += s->plan->loss[e].absent * s->plan->loss[e].absent;
    return squares * s->plan->raised;
}

/* |x - y| <= |x| + |y| <= (3 |y| / |x| - 1) |x| if |y| may be larger. */
#define LOG_3 1.0986122886681098

/* From the product to the terms of both bounds, and their errors. */
static void settle(bb_pld_direction *s, const product *p) {
    const double half = s->smooth * s->smooth / 2.0, low = raised(s);
    s->wrong = s->wrong_below = s->turning = 0.0;
    for (size_t k = 0; k < s->frequencies; k++) {
        const double omega = (double)k * s->step;
        const double complex at = s->tilt + I * omega, kernel = at * (at + 1.0);
        const double size = p->size[k] - half * omega * omega + (k ? log(2.0) : 0.0) -
                            log(cabs(kernel));
        const double angle = p->angle[k] + half * omega * (2.0 * s->tilt + 1.0);
        const double complex less = 1.0 - bump(s) * kernel;
        const double far = p->far[k] > 0.0 ? p->far[k] + LOG_3 : 0.0;
        const double error = p->error[k] + far + 0x1p-46, reach = cabs(less);
        const double far_away = p->far_away[k] > 0.0 ? p->far_away[k] + LOG_3 : 0.0;
        const double away =
            p->error[k] + 0x1p-46 + p->away[k] + far_away + low * cabs(kernel);
        s->terms[k] =
            exp(size) * (cos(angle) + I * sin(angle)) * conj(kernel) / cabs(kernel);
        s->below[k] = s->terms[k] * less;
        s->wrong += error < 1.0 ? exp(size) * expm1(error) : exp(size + error);
        s->wrong_below +=
            reach * (away < 1.0 ? exp(size) * expm1(away) : exp(size + away));
        s->turning += exp(size) * (1.0 + reach) * 0x1p-51 * omega;
    }
}

static bb_status fill_terms(bb_pld_direction *s) {
    double *work = NULL;
    bb_fourier fourier = {0};
    const size_t n = s->frequencies;
    bb_status status = bb_allocate(&s->terms, n, sizeof *s->terms, "the accountant");
    if (!status) status = bb_allocate(&s->below, n, sizeof *s->below, "the accountant");
    if (!status) status = bb_allocate(&work, 10 * n, sizeof *work, "the accountant");
    if (!status) status = bb_fourier_open(&fourier, n);
    if (!status) {
        product p = {work,         work + n,     work + 2 * n,
                     work + 3 * n, work + 4 * n, work + 5 * n};
        status = multiply_all(s, &p, work + 6 * n, s->fast ? &fourier : NULL);
        if (!status) settle(s, &p);
    }
    free(work);
    bb_fourier_close(&fourier);
    s->log_moment = s->smooth * s->smooth * s->tilt * (s->tilt + 1.0) / 2.0;
    s->relative = 0x1p-46;
    for (size_t f = 0; f < s->plan->count && !status; f++) {
        const bb_pld_factor *x = &s->plan->factor[f];
        const bb_privacy_loss *loss = &s->loss[x->loss];
        s->log_moment += x->times * bb_pld_factor_log_moment(x, s->log_moment_of);
        s->relative += x->times * fmax(loss->error,
                                       x->share > 0.0 ? loss[1].error + 0x1p-50 : 0.0);
    }
    return status;
}

/* -- the profile -- */

static void profile_of_atoms(const bb_pld_direction *s, double epsilon, double *upper,
                             double *lower) {
    *upper = fmin(1.0, (s->infinite + s->lost) * (1.0 + 0x1p-30) +
                           bb_discrete_pld_delta(&s->above, BB_ABOVE, epsilon));
    *lower = s->infinite * (1.0 - 0x1p-30) +
             bb_discrete_pld_delta(&s->below_atoms, BB_BELOW, epsilon);
}

void bb_pld_direction_profile(const bb_pld_direction *s, double epsilon, double *upper,
                              double *lower) {
    double sum = 0.0, less = 0.0;
    if (!s->terms) {
        profile_of_atoms(s, epsilon, upper, lower);
        return;
    }
    for (size_t k = 0; k < s->frequencies; k++) {
        const double angle = (double)k * s->step * epsilon;
        const double re = cos(angle), im = sin(angle);
        sum += creal(s->terms[k]) * re + cimag(s->terms[k]) * im;
        less += creal(s->below[k]) * re + cimag(s->below[k]) * im;
    }
    const double scale =
        exp(s->log_moment - s->tilt * epsilon + log(s->step / BB_TWO_PI));
    const double relative =
        s->relative + 0x1p-50 * (fabs(s->log_moment) + s->tilt * epsilon);
    const double error = (s->turning * epsilon + s->end) * scale;
    const double most =
        sum * scale + error + s->wrong * scale + fabs(sum) * scale * relative;
    const double least =
        less * scale - error - s->wrong_below * scale - fabs(less) * scale * relative -
        exp(bb_pld_direction_log_aliases(s, BB_TWO_PI / s->step, epsilon));
    /* NAN: nothing is known */
    *upper = (s->infinite + s->lost) * (1.0 + 0x1p-30) + fmax(0.0, most);
    *upper = *upper <= 1.0 && !isnan(most) ? *upper : 1.0;
    *lower = s->infinite * (1.0 - 0x1p-30) + (least > 0.0 ? least : 0.0);
    *lower = isfinite(*lower) && isfinite(most) ? fmin(*lower, *upper) : 0.0;
}

bb_status bb_pld_direction_prepare(bb_pld_direction *s, double log_delta,
                                   double epsilon, double smooth) {
    free(s->terms);
    free(s->below);
    s->terms = s->below = NULL;
    s->smooth = smooth;
    const double excess = bb_pld_direction_set_period(s, log_delta, epsilon);
    const double blurred = s->plan->rounds * exp(excess);
    s->fast = blurred * BB_FOURIER_ERROR < (smooth > 0.0 ? BLUR_MOST : BLUR_EXACT);
    for (size_t e = 0; e < s->plan->losses; e++) s->loss[e].counted_reach = 0.0;
    for (size_t e = 0; e < s->plan->losses; e++)
        s->loss[e].coarse = smooth > 0.0 && blurred * BB_PRIVACY_LOSS_BLUR < BLUR_MOST;
    for (size_t e = 0; e < s->plan->losses; e++) {
        const bb_status status = bb_privacy_loss_tilt(&s->loss[e], s->tilt, 0.0);
        if (status) return status;
    }
    if (!choose_frequencies(s, log_delta, epsilon)) return BB_OK;
    return fill_terms(s);
}
