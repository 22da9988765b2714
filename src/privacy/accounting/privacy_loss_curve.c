#include "privacy/accounting/privacy_loss.h"

#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178
#define SQRT_HALF    0.70710678118654752440
/* e^-FALL is nothing beside 1, a million rounds included */
#define FALL  54.0
#define REACH 10.4 /* sqrt(2 FALL) */
/* no strip reaches the branch points at +-i pi */
#define MOST_ANGLE 2.2

/* log(1 - q + q e^(mu t - mu^2/2)): the loss of one sampled shift. */
static double shift_loss(const bb_curve *curve, double t) {
    const double v = curve->mu * (t - curve->mu / 2.0);
    if (v > 300.0) return log(curve->q) + v;
    const double u = curve->q * expm1(v);
    return u < -0.5 ? log((1.0 - curve->q) + curve->q * exp(v)) : log1p(u);
}

static double shift_slope(const bb_curve *curve, double t) {
    const double v = curve->mu * (t - curve->mu / 2.0);
    return curve->mu / (1.0 + (1.0 - curve->q) / curve->q * exp(-v));
}

/* q + (1 - q) e^(-back t - back^2/2): Q of a hidden cohort over N(0,1). */
static double hidden_rest(const bb_curve *curve, double t) {
    return curve->q + (1.0 - curve->q) * exp(-curve->back * (t + curve->back / 2.0));
}

static double hidden_loss(const bb_curve *curve, double t) {
    const double v = curve->mu * (t - curve->mu / 2.0);
    if (v > 300.0) return log(curve->q / hidden_rest(curve, t)) + v;
    return log1p(curve->q * expm1(v) / hidden_rest(curve, t));
}

/* Two parts of the slope: mu P(the task was in | t), which rises, and back Q(it was not
 * | t), which falls. The slope is rise + fall (1 - e^-loss). */
static double hidden_rise(const bb_curve *curve, double t) {
    const double log_odds = -(curve->mu + curve->back) * t +
                            (curve->mu * curve->mu - curve->back * curve->back) / 2.0;
    return curve->mu / (1.0 + (1.0 - curve->q) / curve->q * exp(log_odds));
}

static double hidden_fall(const bb_curve *curve, double t) {
    return curve->back * (1.0 - curve->q / hidden_rest(curve, t));
}

/* dP/dQ - 1 of one sampled shift. */
static double shift_gain(const bb_curve *curve, double t) {
    return curve->q * expm1(curve->mu * (t - curve->mu / 2.0));
}

void bb_curve_gains(const bb_curve *curve, double t, double *ahead, double *back) {
    const double gain = shift_gain(curve, t);
    *ahead = *back = gain;
    if (curve->kind == BB_CURVE_MIXTURE || curve->kind == BB_CURVE_HIDDEN) *back = 0.0;
    if (curve->kind == BB_CURVE_MIRROR) *back = shift_gain(curve, -t);
    if (curve->back > 0.0) {
        *ahead /= hidden_rest(curve, t);
        *back /= hidden_rest(curve, t);
    }
}

double bb_curve_log_base(const bb_curve *curve, double t) {
    const double log_density = -t * t / 2.0 - LOG_SQRT_2PI;
    return curve->back > 0.0 ? log_density + log(hidden_rest(curve, t)) : log_density;
}

static double upper_tail(double x) {
    return 0.5 * erfc(x * SQRT_HALF);
}

void bb_curve_tails(const bb_curve *curve, double t, double *p, double *q) {
    const double rate = curve->q, mu = curve->mu;
    const double others = (1.0 - rate) * upper_tail(t + curve->back);
    *p = others + rate * upper_tail(t - mu);
    *q = others + rate * upper_tail(curve->kind == BB_CURVE_MIRROR ? t + mu : t);
}

static bb_point hidden_point(const bb_curve *curve, double c, double t) {
    const double loss = hidden_loss(curve, t), rest = log(hidden_rest(curve, t));
    const double slope = hidden_rise(curve, t) - hidden_fall(curve, t) * expm1(-loss);
    const bool plain = curve->kind == BB_CURVE_HIDDEN_PLAIN;
    const double power = plain ? -c : c + 1.0; /* of P / Q beside Q */
    return (bb_point){
        plain ? -loss : loss, -t * t / 2.0 - LOG_SQRT_2PI + rest + power * loss, slope,
        t * t / 2.0 + fabs(rest) + fabs(power * loss) * (1.0 + fabs(rest))};
}

/* log(e^t + a) */
static double log_add_exp(double t, double a) {
    return t > log(a) ? t + log1p(a * exp(-t)) : log(a) + log1p(exp(t) / a);
}

static bb_point wishart_point(const bb_curve *curve, double c, double t) {
    const double power = curve->freedom / 2.0 - 1.0, y = exp(t), k = curve->ratio;
    const double high = log_add_exp(t, k);
    const double loss = k / 2.0 - power * log1p(k / y);
    if (curve->kind == BB_CURVE_WISHART)
        return (bb_point){
            loss, (power + 1.0) * t - y / 2.0 - curve->log_norm + c * loss,
            power * k / (k + y), (power + 1.0) * fabs(t) + y / 2.0 + c * fabs(loss)};
    return (bb_point){-loss,
                      power * high + t - (k + y) / 2.0 - curve->log_norm - c * loss,
                      power * k / (k + y),
                      power * fabs(high) + fabs(t) + (k + y) / 2.0 + c * fabs(loss)};
}

bb_point bb_curve_point(const bb_curve *curve, double c, double t) {
    const double log_density = -t * t / 2.0 - LOG_SQRT_2PI;
    double loss, back, slope;
    switch (curve->kind) {
    case BB_CURVE_MIXTURE:
        loss = shift_loss(curve, t);
        return (bb_point){loss, log_density + (c + 1.0) * loss, shift_slope(curve, t),
                          t * t / 2.0 + (c + 1.0) * fabs(loss)};
    case BB_CURVE_PLAIN:
        loss = -shift_loss(curve, t);
        return (bb_point){loss, log_density + c * loss, shift_slope(curve, t),
                          t * t / 2.0 + c * fabs(loss)};
    case BB_CURVE_MIRROR:
        loss = shift_loss(curve, t);
        back = shift_loss(curve, -t);
        slope = shift_slope(curve, t) + shift_slope(curve, -t);
        return (bb_point){loss - back, log_density + (c + 1.0) * loss - c * back, slope,
                          t * t / 2.0 + (c + 1.0) * fabs(loss) + c * fabs(back)};
    case BB_CURVE_HIDDEN:
    case BB_CURVE_HIDDEN_PLAIN:
        return hidden_point(curve, c, t);
    case BB_CURVE_EVEN:
        return (bb_point){t, (c + 0.5) * t - curve->log_norm, 1.0, (c + 1.0) * fabs(t)};
    default:
        return wishart_point(curve, c, t);
    }
}

double bb_curve_work(const bb_curve *curve) {
    switch (curve->kind) {
    case BB_CURVE_MIXTURE:
    case BB_CURVE_PLAIN:
    case BB_CURVE_EVEN:
        return 200.0;
    default:
        return 400.0;
    }
}

double bb_curve_weight(const bb_curve *curve, double c, double t) {
    const double log_density = -t * t / 2.0 - LOG_SQRT_2PI;
    switch (curve->kind) {
    case BB_CURVE_MIXTURE:
        return log_density + (c + 1.0) * shift_loss(curve, t);
    case BB_CURVE_PLAIN:
        return log_density - c * shift_loss(curve, t);
    case BB_CURVE_MIRROR:
        return log_density + (c + 1.0) * shift_loss(curve, t) -
               c * shift_loss(curve, -t);
    case BB_CURVE_HIDDEN:
    case BB_CURVE_HIDDEN_PLAIN:
        return hidden_point(curve, c, t).log_weight;
    default:
        return wishart_point(curve, c, t).log_weight;
    }
}

/* The log density rises to one peak and falls: where it is below it by FALL. Without
 * the task the tilt, which only adds on the left, is left out of the peak. */
static double wishart_peak(const bb_curve *curve, double c) {
    double low = fmax(curve->from, -60.0), high = log(curve->freedom + 200.0) + 4.0;
    if (curve->kind == BB_CURVE_CENTRAL) c = 0.0;
    for (int k = 0; k < 100; k++) {
        const double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
        if (bb_curve_weight(curve, c, a) < bb_curve_weight(curve, c, b))
            low = a;
        else
            high = b;
    }
    return (low + high) / 2.0;
}

static void wishart_range(const bb_curve *curve, double c, double *from, double *to) {
    const double peak = wishart_peak(curve, c);
    const double floor = bb_curve_weight(curve, c, peak) - FALL;
    double step = 0.01;
    *from = *to = peak;
    while (bb_curve_weight(curve, c, *to) > floor) *to += step *= 1.2;
    if (curve->kind == BB_CURVE_CENTRAL) return;
    step = 0.01;
    while (bb_curve_weight(curve, c, *from) > floor) *from -= step *= 1.2;
}

/* From t on to where the log density is below `floor`, not before `least`. */
static double walk_right(const bb_curve *curve, double c, double t, double floor) {
    for (double step = 0.1; bb_curve_weight(curve, c, t) > floor; step *= 1.1)
        t += step;
    return t;
}

/* The end of a mixture's curve. The log density has a peak near 0, and perhaps another
 * one where t = (c + 1) slope(t), which the iteration reaches from the right. For
 * the mirrored pair its loss at -t, at least log(1 - q), adds to that. */
static double mixture_end(const bb_curve *curve, double c) {
    const bool mirror = curve->kind == BB_CURVE_MIRROR;
    const double extra = mirror ? c * shift_slope(curve, 0.0) : 0.0;
    const double floor = bb_curve_weight(curve, c, 0.0) - FALL - 2.0;
    double far = (c + 1.0) * curve->mu + extra, before = INFINITY;
    for (int k = 0; k < 60 && far != before; k++) {
        before = far;
        far = (c + 1.0) * shift_slope(curve, before) + extra;
    }
    const double height = (c + 1.0) * shift_loss(curve, far) - far * far / 2.0 -
                          (mirror ? c * log1p(-curve->q) : 0.0);
    if (far > REACH && height < floor) return walk_right(curve, c, 0.0, floor);
    const double top = fmax(floor + FALL, bb_curve_weight(curve, c, far));
    return fmax(REACH, walk_right(curve, c, far, top - FALL));
}

/* The same from mu/2 on: where the log density has a peak, t <= (c + 1) slope(t), and
 * the iteration ends at or beyond the last one. */
static double hidden_end(const bb_curve *curve, double c) {
    const double fall = hidden_fall(curve, curve->mu / 2.0);
    double far = fmin((c + 1.0) * (curve->mu + fall), curve->to), before = INFINITY;
    for (int k = 0; k < 60 && far < before; k++) {
        before = far;
        far = (c + 1.0) * (hidden_rise(curve, before) + fall);
    }
    far = fmax(curve->mu / 2.0, fmin(far, before));
    const double top = fmax(bb_curve_weight(curve, c, curve->mu / 2.0),
                            bb_curve_weight(curve, c, far));
    return walk_right(curve, c, far, top - FALL);
}

void bb_curve_range(const bb_curve *curve, double c, double *from, double *to) {
    switch (curve->kind) {
    case BB_CURVE_MIXTURE:
    case BB_CURVE_MIRROR: /* mu: the density of the loss has the slope below */
        *from = -REACH - curve->mu;
        *to = mixture_end(curve, c);
        break;
    case BB_CURVE_PLAIN: /* the peak is where -t = c slope, and the slope rises */
        *from = -c * shift_slope(curve, 0.0) - REACH - curve->mu;
        *to = REACH;
        break;
    case BB_CURVE_HIDDEN:
        *from = curve->mu / 2.0;
        *to = hidden_end(curve, c);
        break;
    case BB_CURVE_HIDDEN_PLAIN:
        *from = curve->mu / 2.0;
        *to = curve->mu / 2.0 + REACH;
        break;
    case BB_CURVE_EVEN:
        *from = -curve->mu;
        *to = curve->mu;
        break;
    default:
        wishart_range(curve, c, from, to);
        break;
    }
    if (curve->from > -INFINITY) *from = curve->from;
    *to = fmin(*to, curve->to);
}

double bb_curve_top(const bb_curve *curve, double c) {
    double top, other;
    switch (curve->kind) {
    case BB_CURVE_MIXTURE:
        top = 0.0;
        other = (c + 1.0) * curve->mu;
        break;
    case BB_CURVE_MIRROR:
        top = 0.0;
        other = (2.0 * c + 1.0) * curve->mu;
        break;
    case BB_CURVE_HIDDEN:
        top = (c + 1.0) * curve->mu;
        other = (c + 1.0) * (curve->mu + curve->back);
        break;
    case BB_CURVE_PLAIN:
    case BB_CURVE_HIDDEN_PLAIN:
        top = other = 0.0;
        break;
    default:
        top = wishart_peak(curve, c);
        other = fmax(curve->from, -60.0);
        break;
    }
    top = fmin(fmax(top, curve->from), curve->to);
    other = fmin(fmax(other, curve->from), curve->to);
    return fmax(bb_curve_weight(curve, c, top), bb_curve_weight(curve, c, other));
}

double bb_curve_slope(const bb_curve *curve, double from, double to) {
    switch (curve->kind) {
    case BB_CURVE_MIXTURE:
    case BB_CURVE_PLAIN:
        return shift_slope(curve, to);
    case BB_CURVE_MIRROR:
        return shift_slope(curve, to) + shift_slope(curve, -from);
    case BB_CURVE_HIDDEN:
    case BB_CURVE_HIDDEN_PLAIN:
        return hidden_rise(curve, to) +
               hidden_fall(curve, from) * exp(fmax(0.0, -hidden_loss(curve, from)));
    default:
        return bb_curve_point(curve, 0.0, from).slope;
    }
}

/* How much larger the tilted density can be at distance b from the real line. In
 * |1 - q + q e^(x + i a)| >= cos(a / 2) (1 - q + q e^x) lies all there is to know about
 * negative powers. */
static double growth_at(const bb_curve *curve, double c, double b) {
    const double angle = curve->mu > 0.0 ? b * (curve->mu + curve->back) : b;
    if (curve->kind == BB_CURVE_EVEN) return 0.0; /* entire */
    if (angle > MOST_ANGLE) return INFINITY;
    if (curve->kind == BB_CURVE_MIXTURE) return b * b / 2.0;
    const double turn = -log(cos(angle / 2.0));
    /* where c log(1 + u) is within FALL of its least, and so anywhere that counts, it
     * changes by less than 2 FALL (1 - cos a) */
    const double negative = fmin(c * turn, 2.0 * FALL * (1.0 - cos(angle)));
    switch (curve->kind) {
    case BB_CURVE_PLAIN:
    case BB_CURVE_MIRROR:
        return b * b / 2.0 + negative;
    case BB_CURVE_HIDDEN: /* of negative powers it has Q's alone */
        return b * b / 2.0 - c * log(cos(b * curve->back / 2.0));
    case BB_CURVE_HIDDEN_PLAIN:
        return b * b / 2.0 + c * turn;
    default: /* e^(-y (cos b) / 2) beside e^(-y / 2), y up to where the density is */
        return (curve->freedom / 2.0 * (1.0 + c) + 1.0) * turn +
               b * b / 4.0 * (curve->freedom + 60.0 + 16.0 * sqrt(curve->freedom));
    }
}

double bb_curve_strip(const bb_curve *curve, double c, double growth) {
    double low = 0.0, high = 10.0;
    for (int k = 0; k < 40; k++) {
        const double b = (low + high) / 2.0;
        if (growth_at(curve, c, b) <= growth)
            low = b;
        else
            high = b;
    }
    return low;
}
