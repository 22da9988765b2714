#include "audit/binomial.h"

#include <assert.h>
#include <math.h>

static const double most_terms = 1000.0;

/* x log(x / y) + y - x without cancellation where x is near y (Loader 2000, equation
 * 5.2), from the difference x - y; x > 0, y > 0. */
static double deviance(double x, double y, double difference) {
    const double v = difference / (x + y);
    if (fabs(v) >= 0.1) return x * log(x / y) - difference;
    double sum = difference * v, power = 2.0 * x * v;
    for (int j = 1; j < 100; j++) {
        power *= v * v;
        const double next = sum + power / (2 * j + 1);
        if (next == sum) break;
        sum = next;
    }
    return sum;
}

/* log n! - log(sqrt(2 pi n) (n / e)^n), n >= 1. */
static double stirling_error(double n) {
    if (n < 16.0) /* lgamma is accurate here */
        return lgamma(n + 1.0) - (n + 0.5) * log(n) + n - 0.5 * log(2.0 * acos(-1.0));
    const double s = 1.0 / (n * n);
    return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680)))) / n;
}

/* log P(Bin(n, p) = k), q = 1 - p, 1 <= k < n (Loader 2000). */
static double log_mass(double k, double n, double p, double q) {
    /* from the rarer outcome, or the difference of two large numbers loses digits */
    const double difference = k < n - k ? k - n * p : n * q - (n - k);
    return stirling_error(n) - stirling_error(k) - stirling_error(n - k) -
           deviance(k, n * p, difference) - deviance(n - k, n * q, -difference) +
           0.5 * log(n / (2.0 * acos(-1.0) * k * (n - k)));
}

/* P(Bin(n, p) >= k) over P(Bin(n, p) = k), term by term: exact for k near n. */
static double term_by_term(double k, double n, double p, double q) {
    double sum = 1.0, term = 1.0;
    for (double j = k; j < n && term > 1e-18 * sum; j++) {
        term *= (n - j) / (j + 1.0) * (p / q);
        sum += term;
    }
    return sum;
}

/* The continued fraction of I_p(a, b) over p^a q^b / (a B(a, b)) (NIST DLMF 8.17.22),
 * by Lentz's method; p below a / (a + b). */
static double fraction(double a, double b, double p) {
    const double tiny = 1e-300;
    double f = 1.0, c = 1.0, d = 1.0 / (1.0 - (a + b) * p / (a + 1.0));
    f = d;
    for (double m = 1.0; m < 1e9; m++) {
        double t = m * (b - m) * p / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / fmax(1.0 + t * d, tiny);
        c = fmax(1.0 + t / c, tiny);
        f *= d * c;
        t = -(a + m) * (a + b + m) * p / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / (1.0 + t * d);
        c = 1.0 + t / c;
        f *= d * c;
        if (fabs(d * c - 1.0) < 1e-16) break;
    }
    return f;
}

/* log(p / (1 - p)) of the lower limit, 1 <= k < n. The log of the tail P(Bin(n, p) >=
 * k) is concave in t = log(p / q), since cutting a log-concave distribution makes its
 * variance smaller: Newton's method comes from below after its first step. */
static double lower_logit(double k, double n, double alpha) {
    const double target = log(alpha);
    double t = log(k) - log(n - k);
    for (int step = 0; step < 200; step++) {
        const double p = 1.0 / (1.0 + exp(-t)), q = 1.0 / (1.0 + exp(t));
        const double ratio = n - k < most_terms ? term_by_term(k, n, p, q)
                                                : q * fraction(k, n - k + 1.0, p);
        const double log_tail = log_mass(k, n, p, q) + log(ratio);
        const double move = (target - log_tail) * ratio / (k * q);
        t += move;
        if (fabs(move) <= 1e-15 * (1.0 + fabs(t))) break;
    }
    return t;
}

static const double margin = 1e-11;

double bb_binomial_lower(uint64_t k, uint64_t n, double alpha) {
    assert(n >= 1 && k <= n && alpha >= 1e-300 && alpha <= 0.5);
    if (k == 0) return 0.0;
    if (k == n) return exp(log(alpha) / (double)n) * (1.0 - margin);
    const double t = lower_logit((double)k, (double)n, alpha);
    return (1.0 - margin) / (1.0 + exp(-t));
}

double bb_binomial_upper(uint64_t k, uint64_t n, double alpha) {
    assert(n >= 1 && k <= n && alpha >= 1e-300 && alpha <= 0.5);
    if (k == n) return 1.0;
    if (k == 0) return -expm1(log(alpha) / (double)n) * (1.0 + margin);
    const double t = lower_logit((double)(n - k), (double)n, alpha);
    return fmin(1.0, (1.0 + margin) / (1.0 + exp(t)));
}
