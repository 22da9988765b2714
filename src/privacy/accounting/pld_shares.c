#include "privacy/accounting/pld_shares.h"

#include "privacy/accounting/privacy_loss.h"

#include <math.h>

#define FAR         60.0
#define PANELS_MOST 64.0
/* Covers the rounding of a share, and of one by g, whose logarithm may be large. */
#define MARGIN       0x1p-40
#define BELOW_MARGIN 0x1p-30

typedef struct integrand {
    bool below, mirror;
    double reach, end; /* of g' */
} integrand;

/* log g', but for a constant: not below what it has to grow by. */
static double log_below(const integrand *f, double mu) {
    const double far = f->reach / mu;
    const double plain = -far * far / 2.0;
    return f->mirror ? plain + f->reach * log(mu) + mu * mu / 8.0 : plain;
}

static double slope_at(const integrand *f, double mu) {
    const double far = f->reach / mu;
    return f->mirror ? (far + mu / 2.0) * (far + mu / 2.0) / mu : far * far / mu;
}

static double value_at(const integrand *f, double mu) {
    if (f->below) return exp(log_below(f, mu) - log_below(f, f->end));
    return exp(-mu * mu / (f->mirror ? 2.0 : 8.0));
}

static double integral(const integrand *f, double panels, double a, double b) {
    double sum = 0.0;
    for (double p = 0.0; p < panels; p += 1.0) {
        const double half = (b - a) / panels / 2.0, middle = a + (2.0 * p + 1.0) * half;
        for (int k = 0; k < 2 * BB_GAUSS_HALF; k++) {
            const double x = k % 2 ? bb_gauss_at[k / 2] : -bb_gauss_at[k / 2];
            sum += half * bb_gauss_weight[k / 2] * value_at(f, middle + half * x);
        }
    }
    return sum;
}

/* By the rule for panels up to half of where f' = 1 / e. */
double bb_pld_gap(bool mirror, double a, double b) {
    const integrand f = {.mirror = mirror};
    b = fmin(b, fmax(a, FAR)); /* beyond, nothing is added */
    return integral(&f, ceil(2.0 * (b - a) / sqrt(mirror ? 2.0 : 8.0)), a, b);
}

/* -- below -- */

static double upper_tail(double x) {
    return exp(bb_log_normal_cdf(-x));
}

/* What is more likely than t to be seen in a round. */
static double tail(double q, double mu, double t) {
    return (1.0 - q) * upper_tail(t) + q * upper_tail(t - mu);
}

/* Where at most `mass` is beyond, and five deviations beside mu at least. */
static double cut(double q, double mu, double mass) {
    double low = mu + 5.0, high = mu + 40.0;
    if (tail(q, mu, low) <= mass) return low;
    for (int k = 0; k < 30; k++) {
        const double t = (low + high) / 2.0;
        if (tail(q, mu, t) <= mass)
            high = t;
        else
            low = t;
    }
    return high;
}

/* e^loss - 1 of an observation t of the whole pair. */
static double gain_at(const bb_event *event, bool mirror, double t) {
    const double mu = event->absent, q = event->rate;
    const double ahead = expm1(mu * t - mu * mu / 2.0);
    if (event->sampling == BB_SAMPLING_FIXED_VISIBLE) return ahead;
    if (!mirror) return q * ahead;
    const double back = expm1(-mu * t - mu * mu / 2.0);
    return q * (ahead - back) / (1.0 + q * back);
}

bb_pld_shares bb_pld_shares_of(bool mirror, const bb_event *a, const bb_event *b,
                               double spare) {
    bb_pld_shares s = {.mirror = mirror, .a = a->absent, .b = b->absent};
    const double q = b->rate, t = cut(q, s.b, spare);
    const double gain = gain_at(b, mirror, t);
    const bool visible = b->sampling == BB_SAMPLING_FIXED_VISIBLE;
    s.gap = bb_pld_gap(mirror, s.a, s.b);
    s.reach = log1p(visible ? gain : gain / q) * (1.0 + MARGIN);
    const integrand g = {.below = true, .mirror = mirror, .reach = s.reach, .end = s.b};
    s.panels = ceil(slope_at(&g, s.a) * (s.b - s.a) / 8.0) + 1.0;
    if (!(s.panels <= PANELS_MOST)) s.panels = INFINITY; /* shares of 0 */
    if (isinf(s.panels)) return s;
    s.weight = integral(&g, s.panels, s.a, s.b);
    /* beyond that loss, and on the other side (docs/accountant.md) */
    s.spare = 2.0 * tail(q, s.b, t) * (1.0 + MARGIN);
    s.excess = s.spare / gain;
    return s;
}

/* -- shares -- */

double bb_pld_share(const bb_pld_shares *s, bb_bound bound, double mu) {
    if (bound == BB_ABOVE) {
        const double part = bb_pld_gap(s->mirror, s->a, mu);
        return s->gap > 0.0 ? fmin(1.0, part / s->gap * (1.0 + MARGIN)) : 1.0;
    }
    if (isinf(s->panels)) return 0.0;
    const integrand g = {
        .below = true, .mirror = s->mirror, .reach = s->reach, .end = s->b};
    const double share = integral(&g, s->panels, s->a, mu) / s->weight;
    return fmin(1.0, fmax(0.0, share)) * (1.0 - BELOW_MARGIN);
}
