#include "methods/personal_temper.h"

#include "linalg/linalg.h"
#include "methods/personal_average.h"

#include <math.h>

enum { MOST_STEPS = 30 };
/* Penalties of a slope's distance from 1 and of a level's from 0, which count where rows do not
 * tell them apart: then the level moves. */
static const double of_slope = 1e-3, of_level = 1e-6;
static const double most_of_slope = 0.5, most_of_level = 2.0; /* of a step */
static const double still = 1e-9, least_slope = 0.01;

static double sigmoid(double eta) {
    return 1.0 / (1.0 + exp(-eta));
}

/* Newton's step from here to the slope and level that say p (n) of eta, on average over
 * rows by cross-entropy, cut where it is long. Its length. */
static double step(size_t n, const double *eta, const double *p, bool has_level,
                   double *slope, double *level) {
    double gs = of_slope * (*slope - 1.0), gl = of_level * *level;
    double ss = of_slope, sl = 0.0, ll = of_level;
    for (size_t j = 0; j < n; j++) {
        const double q = sigmoid(*slope * eta[j] + *level), bend = q * (1.0 - q);
        gs += (q - p[j]) * eta[j];
        ss += bend * eta[j] * eta[j];
        if (!has_level) continue;
        gl += q - p[j];
        sl += bend * eta[j];
        ll += bend;
    }
    const double det = ss * ll - sl * sl;
    double s = (ll * gs - sl * gl) / det, l = (ss * gl - sl * gs) / det;
    const double longer = fmax(fabs(s) / most_of_slope, fabs(l) / most_of_level);
    s /= fmax(1.0, longer);
    l /= fmax(1.0, longer);
    *slope -= s;
    *level -= l;
    return fabs(s) + fabs(l);
}

void bb_personal_temper(bb_logistic_fits *fits, double weight, double *w, double *p) {
    const size_t n = fits->local->n, d = fits->local->d;
    const bool has_level = fits->constant != 0.0;
    const double free = has_level ? bb_personal_free_deviation : 0.0, *eta;
    double slope = 1.0, level = 0.0;
    if (bb_logistic_fits_doubt(fits, w, weight, free, &eta, p)) return;
    for (size_t j = 0; j < n; j++)
        p[j] = sigmoid(eta[j] / sqrt(1.0 + M_PI / 8.0 * p[j]));
    for (int k = 0; k < MOST_STEPS; k++)
        if (step(n, eta, p, has_level, &slope, &level) < still) break;
    if (!isfinite(slope) || !isfinite(level)) return;
    bb_scale(d, fmin(1.0, fmax(least_slope, slope)), w);
    if (has_level) w[d - 1] += level / fits->constant;
}
