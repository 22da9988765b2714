/* log M(c), by closed forms and by integrals along curves. */
#include "privacy/accounting/privacy_loss_walk.h"

#include <math.h>

enum { HALF_POINTS = BB_GAUSS_HALF, MOMENT_NODES = 1 << 15 };
/* What a closed form costs, in multiplications or so. */
#define CLOSED_WORK 200.0
/* Of the sizes of numbers that are added up for a moment near 1. */
#define NEAR_ONE_ERROR 0x1p-46

/* -- closed forms -- */

/* log((1 - r) + r e^x) */
static double log_mix(double r, double x) {
    if (r == 1.0) return x;
    return x > 300.0 ? x + log(r) : log1p(r * expm1(x));
}

/* log(sinh(x) / x), x > 0 */
static double log_sinhc(double x) {
    if (x < 1e-4) return x * x / 6.0;
    return x - log(2.0 * x) + log1p(-exp(-2.0 * x));
}

void bb_privacy_loss_tilt_closed(bb_privacy_loss *loss) {
    const double c = loss->tilt, e = loss->epsilon, shift = (c + 0.5) * e;
    loss->error = 0x1p-48;
    switch (loss->kind) {
    case BB_PRIVACY_LOSS_GAUSSIAN: /* of a very small log, as small an error */
        loss->log_moment =
            log_mix(loss->rate, loss->mu * loss->mu * c * (c + 1.0) / 2.0);
        loss->error = 0x1p-48 * fmin(1.0, fabs(loss->log_moment)) +
                      0x1p-50 * fabs(loss->log_moment);
        loss->atom = (1.0 - loss->rate) * exp(-loss->log_moment);
        loss->slip = 0x1p-49 * loss->mu * (loss->mu * (c + 1.0) + 1.0);
        break;
    case BB_PRIVACY_LOSS_SELECTION:
        loss->log_moment = log_sinhc(shift) - log_sinhc(e / 2.0);
        loss->error += 0x1p-50 * shift;
        loss->slip = 0x1p-48 * e * (1.0 + 1.0 / fmax(shift, 1e-4));
        loss->envelope[0] = (bb_envelope){0.0, (c + 0.5) / tanh(shift)};
        break;
    default: /* e^(s e) / (1 + e^-e) + e^-(s e) / (1 + e^e), times 1 - delta */
        loss->log_moment = log1p(-loss->infinite) + c * e - log1p(exp(-e)) +
                           log1p(exp(-(2.0 * c + 1.0) * e));
        loss->error += 0x1p-50 * (c + 1.0) * e;
        loss->slip = 0x1p-49 * e;
        loss->envelope[0] = (bb_envelope){1.0, 0.0};
        break;
    }
    loss->envelopes = 1;
}

/* -- moments near 1 -- */

/* Rounds of which there may be so many that the rounding error of 1 would be seen: with u
 * = dP/dQ - 1, whose mean under Q is 0, M(c) - 1 is the mean of (1 + u)^(c + 1) - 1 - (c +
 * 1) u, a sum of small numbers. */
#define NEAR_ONE 0x1p-20

static bool is_near_one(const bb_privacy_loss *loss, double log_moment) {
    return fabs(log_moment) < NEAR_ONE && loss->curve[0].kind <= BB_CURVE_HIDDEN_PLAIN;
}

/* e^x - 1 - x */
static double exp_rest(double x) {
    if (fabs(x) > 0.1) return expm1(x) - x;
    double term = x * x / 2.0, sum = 0.0;
    for (int k = 3; k < 14; term *= x / k++) sum += term;
    return sum;
}

/* log(1 + x) - x */
static double log_rest(double x) {
    if (fabs(x) > 0.05) return log1p(x) - x;
    double power = -x * x, sum = 0.0;
    for (int k = 2; k < 15; power *= -x, k++) sum += power / k;
    return sum;
}

static bool is_plain(const bb_curve *curve) {
    return curve->kind == BB_CURVE_PLAIN || curve->kind == BB_CURVE_HIDDEN_PLAIN;
}

/* What a node adds to the mean, beside its density, and the size of what it is of. */
static double rest_at(const bb_curve *curve, double c, double t, double *size) {
    double ahead, back, a, b, rest;
    bb_curve_gains(curve, t, &ahead, &back);
    const double power = is_plain(curve) ? 0.0 : c + 1.0;
    a = log_rest(ahead);
    b = log_rest(back);
    rest = exp_rest(power * log1p(ahead) - c * log1p(back));
    *size = rest + power * fabs(a) + c * fabs(b);
    return rest + power * a - c * b;
}

/* What is beyond the last node, at t, of that with mean 0, 1 + (c + 1) ahead - c back;
 * where Q is the mixture, there may be much of it, as P has nothing there. */
static double cut_off(const bb_curve *curve, double c, double t) {
    double p, q;
    bb_curve_tails(curve, t, &p, &q);
    return is_plain(curve) ? -c * (p - q) : (c + 1.0) * p - c * q;
}

/* *log_moment, near 1, and *error, relative, better. */
static void improve(const bb_privacy_loss *loss, double c, double *log_moment,
                    double *error) {
    double sum = 0.0, sizes = 0.0;
    for (size_t k = 0; k < loss->curves; k++) {
        const bb_curve *curve = &loss->curve[k];
        bb_curve_walk w = bb_curve_walk_open(curve, c, 0.0, false);
        while (bb_curve_walk_next(&w)) {
            const double half = (w.to - w.from) / 2.0, middle = w.from + half;
            for (int j = 0; j < 2 * HALF_POINTS; j++) {
                const double t =
                    middle + half * (j % 2 ? -bb_gauss_at[j / 2] : bb_gauss_at[j / 2]);
                const double weight =
                    half * bb_gauss_weight[j / 2] * exp(bb_curve_log_base(curve, t));
                double size;
                sum += weight * rest_at(curve, c, t, &size);
                sizes += weight * size;
            }
        }
        const double less = cut_off(curve, c, w.end);
        sum -= less;
        sizes += fabs(less);
    }
    if (!isfinite(sizes)) return;
    *error = NEAR_ONE_ERROR * sizes;
    *log_moment = log1p(sum);
}

/* -- integrals -- */

/* e^top *sum += the tilted mass of the curve; whether its nodes are not too many. */
static bool add_mass(const bb_curve *curve, double c, double *top, long double *sum,
                     double *work) {
    const double far = 600.0; /* *sum shall not overflow */
    bb_curve_walk w = bb_curve_walk_open(curve, c, 0.0, false);
    for (int panels = 0; bb_curve_walk_next(&w); panels++) {
        const double half = (w.to - w.from) / 2.0, middle = w.from + half;
        double log_weight[2 * HALF_POINTS], high = *top + far;
        long double mass = 0.0L;
        if (panels >= MOMENT_NODES / (2 * HALF_POINTS)) return false;
        *work += bb_curve_work(curve) * HALF_POINTS;
        for (int k = 0; k < HALF_POINTS; k++) {
            const double x = half * bb_gauss_at[k];
            log_weight[k] = bb_curve_weight(curve, c, middle - x);
            log_weight[HALF_POINTS + k] = bb_curve_weight(curve, c, middle + x);
            high = fmax(high, fmax(log_weight[k], log_weight[HALF_POINTS + k]));
        }
        if (high > *top + far) {
            *sum *= exp(*top - high);
            *top = high;
        }
        for (int k = 0; k < HALF_POINTS; k++)
            mass += bb_gauss_weight[k] * (exp(log_weight[k] - *top) +
                                          exp(log_weight[HALF_POINTS + k] - *top));
        *sum += half * mass;
    }
    return true;
}

double bb_privacy_loss_moment(const bb_privacy_loss *loss, double c, double *work) {
    *work += CLOSED_WORK;
    if (loss->kind != BB_PRIVACY_LOSS_CURVES) {
        bb_privacy_loss tilted = *loss;
        tilted.tilt = c;
        bb_privacy_loss_tilt_closed(&tilted);
        return tilted.log_moment;
    }
    double top = bb_curve_top(&loss->curve[0], c);
    if (loss->loss_atom > 0.0) top = fmax(top, log(loss->loss_atom));
    long double sum = loss->loss_atom * exp(-top);
    for (size_t k = 0; k < loss->curves; k++)
        if (!add_mass(&loss->curve[k], c, &top, &sum, work)) return INFINITY;
    double log_moment = (double)(top + logl(sum)), error;
    if (is_near_one(loss, log_moment)) improve(loss, c, &log_moment, &error);
    return log_moment;
}

void bb_privacy_loss_settle_moment(bb_privacy_loss *loss) {
    if (is_near_one(loss, loss->log_moment))
        improve(loss, loss->tilt, &loss->log_moment, &loss->error);
}
