#include "methods/theory.h"

#include <assert.h>
#include <math.h>

/* -- model-protected multi-task learning -- */

/* Q_0 = 1 - mu/L, or with acceleration Q_0' = 1 - sqrt(mu/L). */
static double contraction(const bb_theory *t) {
    const double ratio = t->strong / t->smooth;
    return 1.0 - (t->accelerated ? sqrt(ratio) : ratio);
}

static bool is_sum(const bb_theory *t) {
    return t->composing == BB_COMPOSING_SUM;
}

double bb_theory_allocation(const bb_theory *t) {
    const double q = contraction(t);
    if (t->strong > 0.0 && t->accelerated) return pow(q, is_sum(t) ? 1.0 / 3 : 0.2);
    if (t->strong > 0.0) return pow(q, is_sum(t) ? 2.0 / 3 : 0.4);
    if (!t->accelerated) return 0.0;
    return is_sum(t) ? 2.0 / 3 : 0.4;
}

/* M_0 or M_0': what composition costs. */
static double composition(const bb_theory *t, double allocation) {
    const double convex = is_sum(t) ? allocation + 1.0 : 2.0 * allocation + 1.0;
    const double strong = 1.0 - (is_sum(t) ? allocation : allocation * allocation);
    const double spread = fabs(t->strong > 0.0 ? strong : convex);
    if (is_sum(t)) return 1.0 / (spread * t->epsilon);
    const double failing = t->composing == BB_COMPOSING_ADVANCED
                               ? log(1.0 / t->delta)
                               : log(M_E + t->epsilon / (M_SQRT2 * t->delta));
    return sqrt(failing + 2.0 * t->epsilon) / (sqrt(spread) * t->epsilon);
}

double bb_theory_cost(const bb_theory *t, double allocation) {
    const double d = fmax(t->features, 2.0);
    const double shape = t->group_sparse
                             ? t->rank * log(d) / t->tasks
                             : t->clip * t->rank * d * log(d) / sqrt(t->tasks);
    return shape * composition(t, allocation);
}

/* phi: the power of the bound, convex losses (equations 12, 14, 25, 27). */
static double power_of(const bb_theory *t, double alpha) {
    const double knee = t->accelerated ? 4.0 : 2.0;
    const double unit = t->accelerated ? 2.0 : 1.0;
    if (alpha < (is_sum(t) ? -1.0 : -0.5)) return unit / (knee - alpha);
    if (is_sum(t)) return alpha > knee ? unit / (alpha + 1.0) : unit / (knee + 1.0);
    if (alpha > knee) return 2.0 * unit / (2.0 * alpha + 1.0);
    return 2.0 * unit / (2.0 * knee + 1.0);
}

/* psi of equation 18, and the ratio whose power a round is worth. */
static double progress(double q, double other) {
    if (q < other) return q;
    return q < 1.0 ? other : other / q;
}

static double per_round(const bb_theory *t, double q) {
    const double q0 = contraction(t);
    return progress(q, t->accelerated ? q0 : q0 * q0);
}

/* What M is divided by before the power is taken. */
static double relief(const bb_theory *t, double allocation) {
    const double q0 = contraction(t);
    double root = allocation / 2.0 - (t->accelerated ? 2.0 : 1.0);
    if (t->strong > 0.0)
        root = (t->accelerated ? sqrt(q0) : q0) / sqrt(allocation) - 1.0;
    return root * root;
}

double bb_theory_bound(const bb_theory *t, double allocation) {
    const double m = bb_theory_cost(t, allocation) / relief(t, allocation);
    const double power = t->strong > 0.0
                             ? log(contraction(t)) / log(per_round(t, allocation))
                             : power_of(t, allocation);
    return pow(m, power);
}

double bb_theory_rounds(const bb_theory *t, double allocation) {
    const double m = relief(t, allocation) / bb_theory_cost(t, allocation);
    if (t->strong > 0.0)
        return fmax(1.0, round(log(m) / -log(per_round(t, allocation))));
    const double power = power_of(t, allocation) / (t->accelerated ? 2.0 : 1.0);
    return fmax(1.0, round(pow(m, power)));
}

double bb_theory_momentum(const bb_theory *t) {
    const double root = sqrt(t->strong / t->smooth);
    if (!t->accelerated) return 0.0;
    return (1.0 - root) / (1.0 + root);
}

int bb_theory_theorem(const bb_theory *t) {
    static const int first[BB_COMPOSINGS] = {7, 12, 2};
    assert(t->composing < BB_COMPOSINGS);
    return first[t->composing] + (t->strong > 0.0 ? 2 : 0) + (t->group_sparse ? 1 : 0);
}

int bb_theory_allocation_theorem(const bb_theory *t) {
    static const int which[BB_COMPOSINGS] = {11, 16, 6};
    assert(t->composing < BB_COMPOSINGS);
    return which[t->composing];
}

/* -- mean-regularised multi-task learning -- */

/* A constant c > 2 of Theorem 5; it is not said which. */
static const double free_constant = 3.0;

double bb_theory_mean_step(const bb_theory_mean *t) {
    const double p = t->rate;
    if (t->strong > 0.0) return free_constant / ((t->smooth - 2.0) / p + t->lambda * p);
    return 1.0 / (p * t->smooth + (p - 1.0 / p) * t->lambda);
}

double bb_theory_mean_rounds(const bb_theory_mean *t) {
    const double p = t->rate, noise = t->lambda * t->features * t->clip * t->clip;
    if (!(t->strong > 0.0)) return fmax(1.0, round(t->tasks / noise));
    const double gain =
        (free_constant * free_constant - 2.0 * free_constant) * (t->strong + t->lambda);
    const double loss = (t->smooth - 2.0) / (p * p) + t->lambda;
    return fmax(1.0, round(t->tasks * gain / (loss * noise)));
}

double bb_theory_mean_noise(double rounds, double epsilon, double delta) {
    return 4.0 * sqrt(rounds * log(1.0 / delta)) / epsilon;
}
