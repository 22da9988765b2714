/* metrics_parts.h - what the files of metrics.h share. */
#ifndef BB_EVAL_METRICS_PARTS_H
#define BB_EVAL_METRICS_PARTS_H

#include "eval/metrics.h"

#include <float.h>
#include <math.h>

/* A sum whose rounding error is that of one addition (Neumaier 1974). */
typedef struct bb_careful {
    double sum, lost;
} bb_careful;

static inline void bb_careful_add(bb_careful *c, double x) {
    const double t = c->sum + x;
    c->lost += fabs(c->sum) >= fabs(x) ? (c->sum - t) + x : (x - t) + c->sum;
    c->sum = t;
}

static inline double bb_careful_total(const bb_careful *c) {
    return c->sum + c->lost;
}

/* What one row costs at most: no probability is taken to be nearer to 0 than 2.2e-16, as in
 * scikit-learn's log_loss; else one row far from all others would say nothing of the rest. */
static inline double bb_bounded_loss(double loss) {
    return fmin(loss, -log(DBL_EPSILON));
}

/* log(1 + exp(x)) without overflow. */
static inline double bb_softplus(double x) {
    return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}

#endif
