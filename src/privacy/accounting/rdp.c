#include "privacy/accounting/rdp.h"

#include <assert.h>
#include <math.h>

/* Below this sigma amplification is worth nothing and the grid would be long. */
#define SIGMA_MIN 0.05
/* e^-SPAN is nothing beside a sum that has e^0 in it. */
#define SPAN 72.0
#define TAIL 12.0 /* sqrt(2 SPAN) */
/* Relative error of the quadrature: rounding errors of its nodes, all of one sign. */
#define QUADRATURE_MARGIN 0x1p-42
#define LOG_SQRT_2PI      0.91893853320467274178

static double round_up(double x, double magnitude) {
    return x + magnitude * 0x1p-49;
}

/* ---- sums in log space ---- */

typedef struct log_sum {
    double top, scaled; /* the sum is scaled * e^top */
} log_sum;

static const log_sum EMPTY = {.top = -INFINITY};

static void log_add(log_sum *sum, double term) {
    if (term <= sum->top) {
        if (term > sum->top - SPAN) sum->scaled += exp(term - sum->top);
        return;
    }
    sum->scaled = sum->scaled * exp(sum->top - term) + 1.0;
    sum->top = term;
}

static double log_total(const log_sum *sum) {
    return sum->top == -INFINITY ? sum->top : sum->top + log(sum->scaled);
}

static double log_add_two(double a, double b) {
    const double high = fmax(a, b), low = fmin(a, b);
    return high == -INFINITY ? high : high + log1p(exp(low - high));
}

/* log(1 + e^x) */
static double log_one_plus(double x) {
    return x > 40.0 ? x : log1p(exp(x));
}

/* ---- quadrature over t ~ N(0, 1) ---- */

/* An expectation E[g(t)] over one grid: log g, and the size of the numbers in it, whose
 * rounding is log g's absolute error. */
typedef struct moment {
    double (*log_g)(const struct moment *m, double t, double *size);
    double q, sigma, order;
    double log_q;
} moment;

typedef struct grid_sum {
    log_sum sum;
    double size; /* of the largest term */
} grid_sum;

static void grid_add(const moment *m, double low, double high, double step,
                     grid_sum *total) {
    const double count = ceil((high - low) / step);
    for (double k = 0.0; k <= count; k += 1.0) {
        const double t = low + k * step;
        double size = 0.0;
        const double term = m->log_g(m, t, &size) - t * t / 2.0;
        if (term > total->sum.top) total->size = size + t * t / 2.0;
        log_add(&total->sum, term);
    }
}

/* log E[g], rounded up, by the trapezoid rule, which converges like e^(-2 pi d / step)
 * with the half width d of the strip where g is analytic. g is interesting between
 * -left and `middle`; from `middle` on it is e^(order t / sigma), so that the integrand
 * rises to its bump at order / sigma: what lies between may be left out. */
static double log_expectation(const moment *m, double left, double middle, double right,
                              double step) {
    const double bump = m->order / m->sigma;
    grid_sum total = {.sum = EMPTY};
    if (middle + TAIL < bump - TAIL) {
        grid_add(m, -left, middle + TAIL, step, &total);
        grid_add(m, bump - TAIL, bump + right, step, &total);
    } else {
        grid_add(m, -left, bump + right, step, &total);
    }
    const double value = log_total(&total.sum) + log(step) - LOG_SQRT_2PI;
    return value + QUADRATURE_MARGIN + total.size * 0x1p-50;
}

/* ---- Poisson sampling ---- */

/* log(e^y - 1 - y) */
static double log_exp_rest(double y) {
    if (fabs(y) < 0.5) {
        double term = y * y / 2.0, sum = 0.0;
        for (int k = 3; k < 20; k++) {
            sum += term;
            term *= y / k;
        }
        return log(sum);
    }
    return y > 1.0 ? y + log1p(-(1.0 + y) * exp(-y)) : log(expm1(y) - y);
}

/* (1 + u) log(1 + u) - u >= 0, with L = log(1 + u) */
static double entropy_rest(double u, double L) {
    if (fabs(u) >= 0.25) return (1.0 + u) * L - u;
    double power = u * u, sum = 0.0;
    for (int k = 2; k < 28; k++) {
        sum += power / ((double)k * (k - 1));
        power *= -u;
    }
    return sum;
}

/* log((1 + u)^a - 1 - a u) without cancellation: with b = a - 1 and L = log(1 + u),
 *     (1 + u)^a - 1 - a u = (1 + u) (e^(b L) - 1 - b L) + b ((1 + u) L - u),
 * and neither term is negative. */
static double poisson_log_g(const moment *m, double t, double *size) {
    const double b = m->order - 1.0, half = 0.5 / (m->sigma * m->sigma);
    const double v = t / m->sigma - half;
    if (v > 300.0) { /* u = q e^v, larger than any number it is compared with */
        const double L = m->log_q + v;
        *size = m->order * (fabs(t) / m->sigma + half - m->log_q);
        return L + log_add_two(log_exp_rest(b * L), log(b) + log(L - 1.0));
    }
    const double u = m->q * expm1(v);
    const double L = u < -0.5 ? log((1.0 - m->q) + m->q * exp(v)) : log1p(u);
    *size = m->order * fmin(1.0, fabs(u)) * (fabs(t) / m->sigma + half - m->log_q);
    return log_add_two(L + log_exp_rest(b * L), log(b) + log(entropy_rest(u, L)));
}

double bb_rdp_gaussian(double mu, double order) {
    assert(mu >= 0.0 && order > 1.0);
    if (mu == 0.0) return 0.0;
    return order * mu * mu / 2.0 * (1.0 + 0x1p-50);
}

double bb_rdp_poisson(double q, double sigma, double order) {
    assert(q >= 0.0 && q <= 1.0 && sigma >= 0.0 && order > 1.0);
    if (q == 0.0 || isinf(sigma)) return 0.0;
    if (sigma == 0.0) return INFINITY;
    const double plain = bb_rdp_gaussian(1.0 / sigma, order);
    if (q == 1.0 || sigma < SIGMA_MIN || order > BB_RDP_ORDER_MAX) return plain;
    const moment m = {poisson_log_g, q, sigma, order, log(q)};
    /* u = e^40 at `middle`: there log g is linear; the nearest branch point, u = -1, is
     * pi sigma off the real line */
    const double middle = sigma * (40.0 - m.log_q) + 0.5 / sigma;
    const double excess =
        log_expectation(&m, TAIL, middle, TAIL, fmin(sigma / 2.5, 0.3));
    const double log_moment = log_one_plus(excess);
    return fmin(plain, round_up(log_moment, log_moment) / (order - 1.0));
}

/* ---- fixed-size samples ---- */

/* log |e^v - 1|^order */
static double ratio_log_g(const moment *m, double t, double *size) {
    const double half = 0.5 / (m->sigma * m->sigma), v = t / m->sigma - half;
    *size = m->order * (v > 1.0 ? fabs(t) / m->sigma + half : 1.0);
    if (v > 40.0) return m->order * v;
    return m->order * log(fabs(expm1(v)));
}

/* log B(l) = log E|e^v - 1|^l for even l. The integrand is entire, with bumps at
 * +-sqrt(l) where sigma is large; B(2) has a closed form. */
static double log_ratio_moment(double sigma, int l) {
    if (l == 2) return round_up(log(expm1(1.0 / (sigma * sigma))), 1.0);
    const moment m = {ratio_log_g, 1.0, sigma, (double)l, 0.0};
    const double wide = TAIL + sqrt((double)l);
    const double middle = 40.0 * sigma + 0.5 / sigma + wide;
    return log_expectation(&m, wide, middle, wide, 0.25);
}

/* log of min{4 sqrt(B(2 floor(j/2)) B(2 ceil(j/2))), 2 e^((j-1) RDP(j))}; B(2) expm1
 * overflows to infinity for tiny sigma, where the other branch is taken. */
static double fixed_factor(double sigma, int j, double even_below, double even_above) {
    const double plain = log(2.0) + 0.5 * j * (j - 1.0) / (sigma * sigma);
    return fmin(log(4.0) + 0.5 * (even_below + even_above), plain);
}

/* log of the bound's moments at the integer orders a and a + 1: (order - 1) RDP. The
 * factors of both are the same, so they are computed once. */
static void fixed_log_moments(double gamma, double sigma, int a, double *at,
                              double *after) {
    log_sum here = EMPTY, next = EMPTY;
    double even = log_ratio_moment(sigma, 2), above = even;
    double choose = a, choose_next = a + 1.0; /* C(a, j), C(a + 1, j) < 1e308 */
    for (int j = 2; j <= a + 1; j++) {
        choose *= (a - j + 1.0) / j;
        choose_next *= (a - j + 2.0) / j;
        if (j % 2 == 1)
            above = log_ratio_moment(sigma, j + 1);
        else
            even = above;
        const double factor = fixed_factor(sigma, j, even, above) + j * log(gamma);
        log_add(&here, factor + log(choose)); /* log 0 = -inf at j = a + 1 */
        log_add(&next, factor + log(choose_next));
    }
    /* what is multiplied and added in the exponents */
    const double size =
        16.0 + a * (4.0 - log(gamma)) + 0.5 * a * (a + 1.0) / (sigma * sigma);
    const double margin = QUADRATURE_MARGIN + size * 0x1p-50;
    *at = log_one_plus(log_total(&here) + margin);
    *after = log_one_plus(log_total(&next) + margin);
}

double bb_rdp_without_replacement(double gamma, double sigma, double order) {
    assert(gamma >= 0.0 && gamma <= 1.0 && sigma >= 0.0 && order > 1.0);
    if (gamma == 0.0 || isinf(sigma)) return 0.0;
    if (sigma == 0.0) return INFINITY;
    const double plain = bb_rdp_gaussian(1.0 / sigma, order);
    if (gamma == 1.0 || sigma < SIGMA_MIN || order > BB_RDP_FIXED_ORDER_MAX)
        return plain;
    const int a = (int)order;
    double at, after;
    fixed_log_moments(gamma, sigma, a, &at, &after);
    /* each end may be replaced by the unamplified curve, which is valid there */
    const double unit = 0.5 / (sigma * sigma) * (1.0 + 0x1p-50), share = order - a;
    at = a == 1 ? 0.0 : fmin(at, unit * a * (a - 1.0));
    after = fmin(after, unit * a * (a + 1.0));
    const double log_moment = at + share * (after - at);
    return fmin(plain, round_up(log_moment, after) / (order - 1.0));
}

/* ---- composition ---- */

static double event_rdp(const bb_rdp_event *event, double order) {
    assert(event->rounds >= 0.0);
    if (event->rounds == 0.0) return 0.0;
    if (event->sampling == BB_RDP_WITHOUT_REPLACEMENT)
        return event->rounds *
               bb_rdp_without_replacement(event->q, event->sigma, order);
    return event->rounds * bb_rdp_poisson(event->q, event->sigma, order);
}

double bb_rdp_compose(size_t count, const bb_rdp_event *events, double order) {
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) sum += event_rdp(events + k, order);
    return sum * (1.0 + 0x1p-52 * ((double)count + 2.0));
}
