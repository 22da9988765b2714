#include "audit/canary.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { SIZES = 4 /* numbers of guesses that are tried */, BISECTIONS = 60 };

/* log P[Binomial(n, q) = k], q = e^epsilon / (1 + e^epsilon). */
static double log_mass(size_t n, size_t k, double epsilon) {
    const double a = (double)n, b = (double)k;
    const double choose = lgamma(a + 1.0) - lgamma(b + 1.0) - lgamma(a - b + 1.0);
    /* log q = -log(1 + e^-epsilon), log(1 - q) = log q - epsilon */
    return choose - a * log1p(exp(-epsilon)) - (a - b) * epsilon;
}

double bb_canary_p_value(size_t canaries, size_t guesses, size_t correct,
                         double epsilon, double delta) {
    double above = 0.0, below = 0.0, most = 0.0;
    for (size_t k = guesses + 1; k-- > correct;)
        above += exp(log_mass(guesses, k, epsilon));
    for (size_t i = 1; i <= correct; i++) {
        below += exp(log_mass(guesses, correct - i, epsilon));
        most = fmax(most, below / (double)i);
    }
    /* the margin covers the rounding of lgamma, which grows like n log n */
    const double margin = 1.0 + 1e-15 * ((double)guesses + 64.0) * 32.0;
    return fmin(1.0, margin * (above + 2.0 * (double)canaries * delta * most));
}

double bb_canary_epsilon(size_t canaries, size_t guesses, size_t correct, double delta,
                         double confidence) {
    const double alpha = 1.0 - confidence;
    double low = 0.0, high = 1.0;
    if (bb_canary_p_value(canaries, guesses, correct, 0.0, delta) >= alpha) return 0.0;
    while (bb_canary_p_value(canaries, guesses, correct, high, delta) < alpha)
        high *= 2.0;
    for (int k = 0; k < BISECTIONS; k++) {
        const double middle = 0.5 * (low + high);
        if (bb_canary_p_value(canaries, guesses, correct, middle, delta) < alpha)
            low = middle;
        else
            high = middle;
    }
    return low;
}

typedef struct guess {
    double score;
    size_t canary;
} guess;

/* The clearest first; equal ones by number, which says nothing of the coins. */
static int compare(const void *left, const void *right) {
    const guess *a = left, *b = right;
    if (fabs(a->score) != fabs(b->score))
        return fabs(a->score) > fabs(b->score) ? -1 : 1;
    return a->canary < b->canary ? -1 : 1;
}

bb_status bb_canary_judge(size_t canaries, const double *score, const bool *first,
                          double delta, double confidence, bb_canary_verdict *verdict) {
    const double each = 1.0 - (1.0 - confidence) / (double)SIZES;
    bb_canary_verdict best = {.epsilon = -1.0};
    guess *order = NULL;
    const bb_status status =
        bb_allocate(&order, canaries, sizeof *order, "the guesses");
    if (status) return status;
    for (size_t i = 0; i < canaries; i++) order[i] = (guess){score[i], i};
    qsort(order, canaries, sizeof *order, compare);
    for (size_t s = 0; s < SIZES; s++) {
        bb_canary_verdict v = {.guesses = canaries >> s};
        for (size_t k = 0; k < v.guesses; k++)
            v.correct += (order[k].score > 0.0) == first[order[k].canary];
        v.epsilon = bb_canary_epsilon(canaries, v.guesses, v.correct, delta, each);
        if (v.epsilon > best.epsilon) best = v;
    }
    free(order);
    *verdict = best;
    return BB_OK;
}
