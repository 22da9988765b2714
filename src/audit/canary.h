/* canary.h - a lower bound on epsilon from one run with many canaries (Steinke, Nasr,
 * Jagielski 2023, "Privacy auditing with one (1) training run").
 *
 * Each of m canaries is a task for which a fair coin chose one of two known data sets.
 * Who sees only what the run published guesses some of the coins and abstains from the
 * others. If the run is (epsilon, delta)-DP for replacing one task's data, then of r
 * guesses at least v are right with probability at most (theorem 5.2)
 *   f(v) + 2 m delta max_{i = 1..v} (f(v - i) - f(v)) / i,
 *   f(v) = P[Binomial(r, e^epsilon / (1 + e^epsilon)) >= v],
 * whatever the guesses look at. The second term is never far below 2 m delta / v: no
 * number of right guesses proves anything with more confidence than that. */
#ifndef BB_AUDIT_CANARY_H
#define BB_AUDIT_CANARY_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* That probability, rounded up and at most 1; correct <= guesses <= canaries, epsilon
 * >= 0, 0 <= delta <= 1. Time: guesses. */
double bb_canary_p_value(size_t canaries, size_t guesses, size_t correct,
                         double epsilon, double delta);
/* The epsilon below which that probability is less than 1 - confidence: a lower bound
 * on the run's epsilon at `delta`, wrong with probability at most 1 - confidence; 0 if
 * there is none. 0.5 < confidence < 1. */
double bb_canary_epsilon(size_t canaries, size_t guesses, size_t correct, double delta,
                         double confidence);

typedef struct bb_canary_verdict {
    size_t guesses, correct;
    double epsilon; /* the lower bound */
} bb_canary_verdict;

/* Judges an attack: score[i] is above 0 where canary i looks as if its coin had shown
 * first[i] = true, and far from 0 where that is clear. The r clearest are guessed, for
 * r = all canaries, a half, a quarter, an eighth of them. The four bounds share 1 -
 * confidence equally, so the best of them, which is the verdict, holds with
 * `confidence`. Scores must not be NaN. */
BB_MUST_CHECK bb_status bb_canary_judge(size_t canaries, const double *score,
                                        const bool *first, double delta,
                                        double confidence, bb_canary_verdict *verdict);

#endif
