/* membership.h - what many runs say of one task's data: membership attacks judged by
 * their ROC curve and by the epsilon that they prove.
 *
 * Before each run a fair coin chooses one of two data sets for the target; a score that
 * is high where the run looks as if the coin had shown `first` is compared with the
 * coin. Under (epsilon, delta)-DP every test has P(E | first) <= e^epsilon P(E | other)
 * + delta, and the same the other way (Wasserman, Zhou 2010; Kairouz, Oh, Viswanath
 * 2015), so true-positive rates lie below a known curve of false-positive rates. */
#ifndef BB_AUDIT_MEMBERSHIP_H
#define BB_AUDIT_MEMBERSHIP_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { BB_MEMBERSHIP_RATES = 3 };
extern const double bb_membership_rate[BB_MEMBERSHIP_RATES]; /* 0.001, 0.01, 0.1 */

typedef struct bb_membership {
    double auc;                        /* area under the ROC curve; ties count one half;
                                          NAN if all coins fell alike */
    double found[BB_MEMBERSHIP_RATES]; /* true-positive rate where the false-positive
                                          rate is at most bb_membership_rate */
    double epsilon;                    /* a lower bound at `delta`, see below */
} bb_membership;

/* Judges the scores of `runs` >= 2 independent runs. epsilon: the threshold and its
 * side that look best on the first half of the runs are judged on the second half, by
 * Clopper-Pearson limits of both rates: it is above the true epsilon with probability
 * at most 1 - confidence. auc and found are plain figures of all runs, without a
 * confidence. Scores must not be NaN. */
BB_MUST_CHECK bb_status bb_membership_judge(size_t runs, const double *score,
                                            const bool *first, double delta,
                                            double confidence, bb_membership *out);

/* The largest area under the ROC curve of any attack on an (epsilon, delta)-DP run:
 * delta + (1 - delta) (e^epsilon + delta) / (1 + e^epsilon), the area under
 * min(delta + e^epsilon x, 1 - e^-epsilon (1 - delta - x)). */
double bb_membership_auc_limit(double epsilon, double delta);

#endif
