#include "privacy/accounting/accountant.h"

#include "privacy/accounting/chi_square.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#define HALF_SQRT2   0.70710678118654752440
#define SQRT_HALF_PI 1.2533141373155002512
#define SQRT_2PI     2.5066282746310005024

/* From here on the tail is taken from a continued fraction; 48 terms give full
 * precision. */
#define TAIL_FROM 3.0
enum { TAIL_TERMS = 48 };

/* Every computation of delta below has a relative error under 2^-41 (the tests compare
 * it with 60-digit values); this factor puts the result above truth. */
#define DELTA_MARGIN (1.0 + 0x1p-40)

const char *bb_adjacency_name(bb_adjacency adjacency) {
    return adjacency == BB_ADD_REMOVE ? "add-remove" : "replace-one";
}

/* Mills' ratio R(t) = (1 - Phi(t)) / phi(t), t >= -1, and with it 1 - t R(t) = -R'(t).
 * Laplace: R = 1/(t + 1/(t + 2/(t + 3/...))) = c/(t c + 1) with c = t + 2/(t + 3/...),
 * so that 1 - t R = 1/(t c + 1) loses no digits. */
static double mills(double t, double *slope) {
    if (t < TAIL_FROM) {
        const double ratio = SQRT_HALF_PI * exp(t * t / 2.0) * erfc(t * HALF_SQRT2);
        if (slope) *slope = 1.0 - t * ratio;
        return ratio;
    }
    double c = t;
    for (int k = TAIL_TERMS; k >= 2; k--) c = t + k / c;
    const double s = 1.0 / (t * c + 1.0);
    if (slope) *slope = s;
    return c * s;
}

double bb_log_normal_cdf(double x) {
    if (x > 0.0) return log1p(-0.5 * erfc(x * HALF_SQRT2));
    if (x > -TAIL_FROM) return log(0.5 * erfc(-x * HALF_SQRT2));
    if (isinf(x)) return -INFINITY;
    return -x * x / 2.0 + log(mills(-x, NULL) / SQRT_2PI);
}

/* The integral of -R' over [t, t + width], width <= 1/2, by the 10-point Gauss-Legendre
 * rule: the integrand is analytic and the rule's error is far below 2^-53. */
static double mills_drop(double t, double width) {
    static const double node[] = {0.14887433898163121088, 0.43339539412924719080,
                                  0.67940956829902440623, 0.86506336668898451073,
                                  0.97390652851717172008};
    static const double weight[] = {0.29552422471475287017, 0.26926671930999635509,
                                    0.21908636251598204400, 0.14945134915058059315,
                                    0.06667134430868813759};
    const double half = width / 2.0;
    double sum = 0.0;
    for (size_t k = 0; k < sizeof node / sizeof *node; k++) {
        double left, right;
        mills(t + half - half * node[k], &left);
        mills(t + half + half * node[k], &right);
        sum += weight[k] * (left + right);
    }
    return half * sum;
}

/* With t = eps/mu - mu/2 and e^eps phi(t + mu) = phi(t),
 *     delta = Phi(-t) - phi(t) R(t + mu) = phi(t) (R(t) - R(t + mu)),
 * where nothing overflows. t is kept as high + low, since phi multiplies its error by
 * t; a small mu, where the difference would cancel, integrates R' instead. */
double bb_gdp_delta(double mu, double epsilon) {
    assert(mu >= 0.0 && epsilon >= 0.0);
    if (mu == 0.0 || (isinf(epsilon) && !isinf(mu))) return 0.0;
    if (isinf(mu)) return 1.0;
    const double ratio = epsilon / mu, high = ratio - mu / 2.0;
    if (high > 38.0) return DBL_MIN; /* phi(38) < DBL_MIN */
    if (high < -38.0) return 1.0;
    const double back = ratio - high,
                 low = (back - mu / 2.0) + fma(-ratio, mu, epsilon) / mu;
    const double square = high * high, rest = fma(high, high, -square);
    const double density =
        exp(-square / 2.0) * exp(-rest / 2.0 - high * low) / SQRT_2PI;
    double delta;
    if (mu <= 0.5)
        delta = density * mills_drop(high, mu);
    else if (high >= 0.0)
        delta = density * (mills(high, NULL) - mills(high + mu, NULL));
    else
        delta =
            0.5 * erfc((high + low) * HALF_SQRT2) - density * mills(high + mu, NULL);
    return fmin(1.0, delta * DELTA_MARGIN + DBL_MIN);
}

/* A condition that holds for small x and fails for large x. */
typedef struct bb_question {
    bool (*holds)(const struct bb_question *question, double x);
    double mu, epsilon, delta;
    size_t steps;
    const double *weight;
    double *epsilon_t;
} bb_question;

/* The neighbouring doubles between which the answer changes: it holds at *low (which is
 * 0 if it holds nowhere above), it fails at the returned value (INFINITY: nowhere). */
static double search(const bb_question *question, double *low) {
    double yes = 0.0, no = 1.0;
    while (question->holds(question, no)) {
        yes = no;
        no *= 2.0;
        if (isinf(no)) break;
    }
    while (yes == 0.0 && no > DBL_MIN) {
        if (question->holds(question, no / 2.0))
            yes = no / 2.0;
        else
            no /= 2.0;
    }
    while (!isinf(no)) {
        const double middle = yes + (no - yes) / 2.0;
        if (middle <= yes || middle >= no) break;
        if (question->holds(question, middle))
            yes = middle;
        else
            no = middle;
    }
    *low = yes;
    return no;
}

static bool epsilon_too_small(const bb_question *question, double epsilon) {
    return bb_gdp_delta(question->mu, epsilon) > question->delta;
}

double bb_gdp_epsilon(double mu, double delta) {
    assert(mu >= 0.0 && delta == delta);
    if (bb_gdp_delta(mu, 0.0) <= delta) return 0.0;
    if (delta <= 0.0) return INFINITY;
    const bb_question question = {.holds = epsilon_too_small, .mu = mu, .delta = delta};
    double low;
    return search(&question, &low);
}

static bool mu_allowed(const bb_question *question, double mu) {
    return bb_gdp_delta(mu, question->epsilon) <= question->delta;
}

double bb_gdp_mu(double epsilon, double delta) {
    assert(epsilon >= 0.0 && delta == delta);
    if (delta <= 0.0) return 0.0;
    if (delta >= 1.0) return INFINITY;
    const bb_question question = {
        .holds = mu_allowed, .epsilon = epsilon, .delta = delta};
    double mu;
    search(&question, &mu);
    return mu;
}

/* Adds x to *sum and what was lost to *lost (Neumaier 1974). */
static void add(double *sum, double *lost, double x) {
    const double total = *sum + x;
    *lost += fabs(*sum) >= fabs(x) ? (*sum - total) + x : (x - total) + *sum;
    *sum = total;
}

/* Compensated sums have a relative error of 2^-52 and some; the elementary functions
 * here, a few units in the last place. */
#define KOV_MARGIN (1.0 + 0x1p-48)

double bb_kov_epsilon(size_t steps, const double *epsilon_t, double delta) {
    return bb_kov_epsilon_repeated(steps, epsilon_t, NULL, delta);
}

double bb_kov_epsilon_repeated(size_t kinds, const double *epsilon_t,
                               const double *times, double delta) {
    if (delta < 0.0) return INFINITY;
    if (delta >= 1.0) return 0.0;
    double sum = 0.0, sum_lost = 0.0, square = 0.0, square_lost = 0.0;
    double mean = 0.0, mean_lost = 0.0;
    for (size_t t = 0; t < kinds; t++) {
        const double epsilon = epsilon_t[t], n = times ? times[t] : 1.0;
        const double all = n * epsilon;
        assert(epsilon >= 0.0);
        add(&sum, &sum_lost, all);
        sum_lost += fma(n, epsilon, -all);
        add(&square, &square_lost, all * epsilon);
        add(&mean, &mean_lost, all * tanh(epsilon / 2.0)); /* e(e^e-1)/(e^e+1) */
    }
    sum += sum_lost;
    /* the plain sum of exactly representable steps is exact: 4 runs of 0.25 cost 1 */
    const double plain = sum_lost == 0.0 ? sum : sum * KOV_MARGIN;
    if (delta == 0.0 || !isfinite(sum)) return plain;
    square += square_lost;
    mean += mean_lost;
    const double by_e = log(exp(1.0) + sqrt(square) / delta), by_delta = -log(delta);
    const double advanced = mean + sqrt(2.0 * square * fmin(by_e, by_delta));
    return fmin(plain, advanced * KOV_MARGIN);
}

double bb_kov_slack(size_t steps, const double *delta_t, double delta) {
    return bb_kov_slack_repeated(steps, delta_t, NULL, delta);
}

double bb_kov_slack_repeated(size_t kinds, const double *delta_t, const double *times,
                             double delta) {
    assert(delta >= 0.0 && delta < 1.0);
    double log_left = 0.0;
    for (size_t t = 0; t < kinds; t++) {
        assert(delta_t[t] >= 0.0 && delta_t[t] <= 1.0);
        if (delta_t[t] > 0.0) log_left += (times ? times[t] : 1.0) * log1p(-delta_t[t]);
    }
    if (log_left == 0.0) return delta;
    if (isinf(log_left)) return -1.0;
    const double all = log1p(-delta);
    /* each term has a relative error of at most steps + 2 units in the last place */
    const double error = 0x1p-52 * ((double)kinds + 4.0);
    return -expm1(all * (1.0 - error) - log_left * (1.0 + error));
}

static bool scale_allowed(const bb_question *question, double scale) {
    for (size_t t = 0; t < question->steps; t++)
        question->epsilon_t[t] = scale * question->weight[t];
    return bb_kov_epsilon(question->steps, question->epsilon_t, question->delta) <=
           question->epsilon;
}

static bool positive(double x) {
    return x > 0.0 && isfinite(x);
}

bb_status bb_kov_allocate(size_t steps, const double *weight, double epsilon,
                          double delta, double *epsilon_t) {
    if (steps == 0)
        return bb_fail(BB_EUSAGE,
                       "a budget needs at least one round to be spread over");
    if (!positive(epsilon))
        return bb_fail(BB_EUSAGE, "epsilon must be positive and finite, got %g",
                       epsilon);
    if (!(delta >= 0.0 && delta < 1.0))
        return bb_fail(BB_EUSAGE, "delta must be in [0, 1), got %g", delta);
    for (size_t t = 0; t < steps; t++)
        if (!positive(weight[t]))
            return bb_fail(
                BB_EUSAGE,
                "the budget's weight of round %zu must be positive and finite, "
                "got %g",
                t + 1, weight[t]);
    const bb_question question = {.holds = scale_allowed,
                                  .epsilon = epsilon,
                                  .delta = delta,
                                  .steps = steps,
                                  .weight = weight,
                                  .epsilon_t = epsilon_t};
    double scale;
    search(&question, &scale);
    scale_allowed(&question, scale);
    return BB_OK;
}

double bb_wishart_true_delta(size_t steps, const double *epsilon_t) {
    double sum = 0.0, lost = 0.0;
    for (size_t t = 0; t < steps; t++) add(&sum, &lost, epsilon_t[t]);
    return fmax(0.0, -expm1(-(sum + lost) * (1.0 - 0x1p-51)) * (1.0 - 0x1p-51));
}

double bb_wishart_diagonal_delta(size_t steps, const double *epsilon_t, size_t d) {
    double log_none = 0.0, below, above;
    for (size_t t = 0; t < steps; t++) {
        bb_chi_square((double)d + 1.0, 2.0 * epsilon_t[t], &below, &above);
        log_none += log1p(-below);
    }
    return fmax(0.0, -expm1(log_none) * (1.0 - 1e-10));
}

double bb_delta_default(size_t tasks) {
    assert(tasks >= 1);
    return fmin(1e-5, 1.0 / (10.0 * (double)tasks));
}

double bb_delta_paper(size_t tasks) {
    assert(tasks >= 2);
    return 1.0 / ((double)tasks * log((double)tasks));
}
