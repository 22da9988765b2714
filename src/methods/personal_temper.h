/* personal_temper.h - inside the fit at home: probabilities that are as sure as a task's rows
 * allow. An average of fits is as sure as if it were known to be right, which five to fifteen
 * rows do not make it. */
#ifndef BB_METHODS_PERSONAL_TEMPER_H
#define BB_METHODS_PERSONAL_TEMPER_H

#include "methods/personal_logistic.h"

/* What a prediction of variance v is multiplied by, for probabilities that are those of its
 * posterior predictive distribution, or nearly: 1 / sqrt(1 + pi v / 8) (MacKay 1992, The
 * evidence framework applied to classification networks; of several outputs, each by its own
 * variance, Gibbs 1997). */
double bb_personal_doubted(double v);

/* p (outputs) <- the probabilities of outputs z, which may be p; returns ln of the sum of
 * exp(z). */
double bb_personal_softmax(size_t outputs, const double *z, double *p);

/* Of a row's outputs z: slope * z + level * along. */
typedef struct bb_personal_line {
    double slope, level;
} bb_personal_line;

/* The line that is nearest to probabilities p by cross-entropy, on average over rows. z, p: n x
 * outputs; along, q: outputs. along NULL: no level. The slope is between 0 and 1, and the level
 * is the one beside it. NaN where numbers are too large. */
bb_personal_line bb_personal_temper(size_t n, size_t outputs, const double *z,
                                    const double *p, const double *along, double *q);

/* Two classes: w (d) <- slope * w, and another level for the constant if there is one, by what
 * the posterior predictive distribution says of the rows (by Laplace's approximation at w with
 * this penalty). The order of a task's predictions stays as it is. Where numbers are too large w
 * stays, and where rows that are left out are foreseen better so: left (n), what is foreseen of
 * them; NULL: nothing is. fits: open, of the task. work: bb_personal_temper_two_work doubles. */
size_t bb_personal_temper_two_work(size_t n);
void bb_personal_temper_two(bb_logistic_fits *fits, double weight, double *w,
                            const double *left, double *work);

#endif
