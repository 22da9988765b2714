/* The sum over frequencies of pld.h, its end and its errors. */
#include "base/memory.h"
#include "privacy/accounting/pld_cut.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static const double most_frequencies = 0x1p22;
/* Of all work, what a sum may take. */
#define EXACT_SHARE  0.3
#define SMOOTH_SHARE 0.5
#define CUT_SHARE    0.7

/* -- the end of the sum over frequencies -- */

/* Of a chain, by those of its losses. */
static double log_chain(const bb_pld_direction *s, bb_bound bound,
                        const double *envelope) {
    const bb_pld_chain *chain = &s->plan->chain[bound];
    double sum = 0.0;
    for (size_t f = 0; f < chain->count; f++) {
        const bb_pld_factor *x = &chain->factor[f];
        double size = envelope[x->loss];
        if (x->share > 0.0)
            size += bb_pld_factor_share(x, s->log_moment_of) *
                    (envelope[x->loss + 1] - size);
        sum += x->times * log(size);
    }
    return sum;
}

/* A bound of |product of phi| from omega on, of both chains. */
static double log_envelope(const bb_pld_direction *s, double omega) {
    const double added = -s->smooth * s->smooth * omega * omega / 2.0;
    if (s->smooth > 0.0 && s->plan->two) return added; /* is enough */
    for (size_t e = 0; e < s->plan->losses; e++)
        s->envelope_of[e] = bb_privacy_loss_envelope(&s->loss[e], omega);
    double sum = log_chain(s, BB_ABOVE, s->envelope_of);
    if (s->plan->two) sum = fmax(sum, log_chain(s, BB_BELOW, s->envelope_of));
    return sum + added;
}

/* What multiplies the density in the lower bound: smooth^2, and the margin for the
 * curvature of the bump (docs/accountant.md). */
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
    double work = 0.0;
    for (int k = 0; k < (s->plan->two ? BB_BOUNDS : 1); k++)
        work += 60.0 * n * (double)s->plan->chain[k].count;
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
    moment += bb_pld_chain_log_moment(&s->plan->chain[BB_ABOVE], s->log_moment_of);
    /* the scale of bb_pld_direction_profile() */
    const double goal_end = log_delta - bb_pld_direction_small(s) - moment +
                            s->tilt * epsilon + log(BB_TWO_PI / s->step);
    while (n < most_frequencies && log_end(s, n) > goal_end) n = ceil(n * 1.125);
    s->frequencies = (size_t)n;
    s->end = exp(log_end(s, n));
    double left = s->plan->work_most - s->plan->work;
    double share = s->smooth > 0.0 ? SMOOTH_SHARE : EXACT_SHARE;
    if (s->cut) share = CUT_SHARE;
    left = fmin(left, share * s->plan->work_most);
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

/* The product so far, at each frequency: the log of its size, its angle, and the log of
 * one plus its relative error. */
typedef struct product {
    double *size, *angle, *error;
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

/* Of a mixture with the next loss, whose share has the error of the moments: phi - 1 is
 * at most omega times the mean size of the loss, which is at most 2^49 times the slip. */
static double mixed_slip(const bb_privacy_loss *loss) {
    const double slips = loss->slip + loss[1].slip;
    return slips * (1.5 + 0x1p49 * (loss->error + loss[1].error));
}

/* *= phi^times; and the relative rounding errors. */
static void multiply(const bb_pld_direction *s, product *p, const spectrum *a,
                     const spectrum *b, const bb_pld_factor *x) {
    const bb_privacy_loss *loss = &s->loss[a->loss];
    const bool mixed = x->share > 0.0;
    const double share = bb_pld_factor_share(x, s->log_moment_of);
    const double slip = mixed ? mixed_slip(loss) : loss->slip;
    const double blur = loss->blur + (mixed ? loss[1].blur : 0.0);
    for (size_t k = 0; k < s->frequencies; k++) {
        const double omega = (double)k * s->step;
        double re = a->re[k], im = a->im[k];
        if (mixed) {
            re += share * (b->re[k] - re);
            im += share * (b->im[k] - im);
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
    }
}

/* The products of both chains, a loss at a time. */
static bb_status multiply_all(bb_pld_direction *s, product *p, double *work,
                              bb_fourier *fourier) {
    const size_t n = s->frequencies;
    const int chains = s->plan->two ? BB_BOUNDS : 1;
    size_t next[BB_BOUNDS] = {0};
    spectrum a = {SIZE_MAX, work, work + n}, b = {SIZE_MAX, work + 2 * n, work + 3 * n};
    for (size_t loss = 0; loss < s->plan->losses; loss++) {
        if (loss == b.loss) {
            const spectrum c = a;
            a = b;
            b = c;
        }
        bb_status status = fill_spectrum(s, loss, fourier, &a);
        for (int k = 0; k < chains && !status; k++) {
            const bb_pld_chain *chain = &s->plan->chain[k];
            const bb_pld_factor *x = &chain->factor[next[k]];
            for (; next[k] < chain->count && x->loss == loss; x++, next[k]++) {
                if (x->share > 0.0) status = fill_spectrum(s, loss + 1, fourier, &b);
                if (status) break;
                multiply(s, &p[k], &a, &b, x);
            }
        }
        if (status) return status;
    }
    return BB_OK;
}

/* log M of the chain below over that of the chain above. */
static double log_ratio(const bb_pld_direction *s) {
    const bb_pld_chain *chain = s->plan->chain;
    if (!s->plan->two) return 0.0;
    return bb_pld_chain_log_moment(&chain[BB_BELOW], s->log_moment_of) -
           bb_pld_chain_log_moment(&chain[BB_ABOVE], s->log_moment_of);
}

/* The k-th term of a product without the kernel's size, whose log and error it gives. */
static double complex term_at(const bb_pld_direction *s, const product *p, size_t k,
                              double *size, double *error) {
    const double omega = (double)k * s->step;
    const double half = s->smooth * s->smooth / 2.0;
    const double angle = p->angle[k] + half * omega * (2.0 * s->tilt + 1.0);
    const double complex at = s->tilt + I * omega, kernel = at * (at + 1.0);
    *size =
        p->size[k] - half * omega * omega + (k ? log(2.0) : 0.0) - log(cabs(kernel));
    *error = p->error[k] + 0x1p-46;
    return (cos(angle) + I * sin(angle)) * conj(kernel) / cabs(kernel);
}

static double wrong_by(double size, double error) {
    return error < 1.0 ? exp(size) * expm1(error) : exp(size + error);
}

/* From the products to the terms of both bounds, and their errors. */
static void settle(bb_pld_direction *s, const product *p) {
    const product *const low = s->plan->two ? &p[BB_BELOW] : &p[BB_ABOVE];
    const double ratio = log_ratio(s);
    s->wrong[BB_ABOVE] = s->wrong[BB_BELOW] = s->turning = 0.0;
    for (size_t k = 0; k < s->frequencies; k++) {
        const double omega = (double)k * s->step;
        const double complex at = s->tilt + I * omega;
        const double complex less = 1.0 - bump(s) * at * (at + 1.0);
        double size, error;
        const double complex term = term_at(s, &p[BB_ABOVE], k, &size, &error);
        s->terms[k] = exp(size) * term;
        s->wrong[BB_ABOVE] += wrong_by(size, error);
        s->turning += exp(size) * 0x1p-51 * omega;
        const double complex other = term_at(s, low, k, &size, &error);
        s->below[k] = exp(size + ratio) * other * less;
        s->wrong[BB_BELOW] += cabs(less) * wrong_by(size + ratio, error);
        s->turning += exp(size + ratio) * cabs(less) * 0x1p-51 * omega;
    }
}

/* Relative, of its moment. */
static double error_of(const bb_pld_direction *s, const bb_pld_chain *chain) {
    double sum = 0.0;
    for (size_t f = 0; f < chain->count; f++) {
        const bb_pld_factor *x = &chain->factor[f];
        const bb_privacy_loss *loss = &s->loss[x->loss];
        const double logs =
            fabs(s->log_moment_of[x->loss]) +
            (x->share > 0.0 ? fabs(s->log_moment_of[x->loss + 1]) : 0.0);
        sum += x->times * (0x1p-50 * logs +
                           fmax(loss->error, x->share > 0.0 ? loss[1].error : 0.0));
    }
    return sum;
}

static bb_status fill_terms(bb_pld_direction *s) {
    double *work = NULL;
    bb_fourier fourier = {0};
    const size_t n = s->frequencies;
    const bb_pld_chain *chain = &s->plan->chain[BB_ABOVE];
    bb_status status = bb_allocate(&s->terms, n, sizeof *s->terms, "the accountant");
    if (!status) status = bb_allocate(&s->below, n, sizeof *s->below, "the accountant");
    if (!status) status = bb_allocate(&work, 10 * n, sizeof *work, "the accountant");
    if (!status) status = bb_fourier_open(&fourier, n);
    if (!status) {
        product p[BB_BOUNDS] = {{work, work + n, work + 2 * n},
                                {work + 3 * n, work + 4 * n, work + 5 * n}};
        status = multiply_all(s, p, work + 6 * n, s->fast ? &fourier : NULL);
        if (!status) settle(s, p);
    }
    free(work);
    bb_fourier_close(&fourier);
    s->log_moment = s->smooth * s->smooth * s->tilt * (s->tilt + 1.0) / 2.0 +
                    bb_pld_chain_log_moment(chain, s->log_moment_of);
    s->relative = 0x1p-46;
    for (int k = 0; k < BB_BOUNDS && !status; k++)
        s->relative = fmax(s->relative, 0x1p-46 + error_of(s, &s->plan->chain[k]));
    return status;
}

/* -- the profile -- */

/* By the chain below, what is below truth. */
static double below_truth(const bb_pld_direction *s, double delta) {
    return fmax(0.0, delta * exp(-s->plan->excess) - s->plan->spare);
}

static void profile_of_atoms(const bb_pld_direction *s, double epsilon, double *upper,
                             double *lower) {
    *upper = fmin(1.0, (s->infinite + s->lost) * (1.0 + 0x1p-30) +
                           bb_discrete_pld_delta(&s->above, BB_ABOVE, epsilon));
    *lower =
        below_truth(s, s->infinite * (1.0 - 0x1p-30) +
                           bb_discrete_pld_delta(&s->below_atoms, BB_BELOW, epsilon));
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
        sum * scale + error + s->wrong[BB_ABOVE] * scale + fabs(sum) * scale * relative;
    const double least =
        less * scale - error - s->wrong[BB_BELOW] * scale -
        fabs(less) * scale * relative -
        exp(bb_pld_direction_log_aliases(s, BB_TWO_PI / s->step, epsilon));
    /* NAN: nothing is known */
    *upper = (s->infinite + s->lost) * (1.0 + 0x1p-30) + fmax(0.0, most) +
             bb_pld_beyond(s, BB_ABOVE, epsilon);
    *upper = *upper <= 1.0 && !isnan(most) ? *upper : 1.0;
    *lower =
        below_truth(s, s->infinite * (1.0 - 0x1p-30) + (least > 0.0 ? least : 0.0) +
                           bb_pld_beyond(s, BB_BELOW, epsilon));
    *lower = isfinite(*lower) && isfinite(most) ? fmin(*lower, *upper) : 0.0;
}

double bb_pld_direction_apart(const bb_pld_direction *s, double epsilon) {
    double above = 0.0, below = 0.0;
    if (!s->terms || !s->plan->two) return 0.0;
    for (size_t k = 0; k < s->frequencies; k++) {
        const double omega = (double)k * s->step;
        const double complex at = s->tilt + I * omega;
        const double complex turn = cos(omega * epsilon) - I * sin(omega * epsilon);
        above += creal(s->terms[k] * turn);
        below += creal(s->below[k] / (1.0 - bump(s) * at * (at + 1.0)) * turn);
    }
    return above > below && below > 0.0 ? log(above / below) : 0.0;
}

bb_status bb_pld_direction_prepare(bb_pld_direction *s, double log_delta,
                                   double epsilon, double smooth) {
    bb_status status = BB_OK;
    free(s->terms);
    free(s->below);
    s->terms = s->below = NULL;
    s->smooth = smooth;
    s->sure_tilt = 0.0;
    const double excess = bb_pld_direction_set_period(s, log_delta, epsilon);
    const double blurred = s->plan->rounds * exp(excess);
    s->fast = blurred * BB_FOURIER_ERROR < (smooth > 0.0 ? BLUR_MOST : BLUR_EXACT);
    for (size_t e = 0; e < s->plan->losses; e++) s->loss[e].counted_reach = 0.0;
    for (size_t e = 0; e < s->plan->losses; e++)
        s->loss[e].coarse = smooth > 0.0 && blurred * BB_PRIVACY_LOSS_BLUR < BLUR_MOST;
    for (size_t e = 0; e < s->plan->losses && !status; e++)
        status = bb_privacy_loss_tilt(&s->loss[e], s->tilt, 0.0);
    if (status || !choose_frequencies(s, log_delta, epsilon)) return status;
    if (s->cut) bb_pld_direction_make_sure(s, epsilon);
    return fill_terms(s);
}
