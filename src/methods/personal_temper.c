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

double bb_personal_doubted(double v) {
    return 1.0 / sqrt(1.0 + M_PI / 8.0 * v);
}

double bb_personal_softmax(size_t outputs, const double *z, double *p) {
    double most = z[0], sum = 0.0;
    for (size_t c = 1; c < outputs; c++) most = fmax(most, z[c]);
    for (size_t c = 0; c < outputs; c++) sum += p[c] = exp(z[c] - most);
    bb_scale(outputs, 1.0 / sum, p);
    return most + log(fmax(1.0, sum)); /* the largest one adds 1 */
}

/* q <- what a line says of a row. */
static void say(size_t outputs, const double *z, const double *along,
                const bb_personal_line *line, double *q) {
    for (size_t c = 0; c < outputs; c++)
        q[c] = line->slope * z[c] + (along ? line->level * along[c] : 0.0);
    bb_personal_softmax(outputs, q, q);
}

/* Newton's step towards the line that says p of z, on average over rows by cross-entropy, cut
 * where it is long. Its length. */
static double step(size_t n, size_t outputs, const double *z, const double *p,
                   const double *along, bool has_slope, bb_personal_line *line,
                   double *q) {
    double gs = of_slope * (line->slope - 1.0), gl = of_level * line->level;
    double ss = of_slope, sl = 0.0, ll = of_level;
    for (size_t j = 0; j < n; j++, z += outputs, p += outputs) {
        say(outputs, z, along, line, q);
        const double mean = bb_dot(outputs, q, z);
        const double usual = along ? bb_dot(outputs, q, along) : 0.0;
        for (size_t c = 0; c < outputs; c++) {
            const double beside = q[c] * (z[c] - mean);
            gs += (q[c] - p[c]) * z[c];
            ss += beside * z[c];
            if (!along) continue;
            gl += (q[c] - p[c]) * along[c];
            sl += beside * along[c];
            ll += q[c] * (along[c] - usual) * along[c];
        }
    }
    if (!has_slope) gs = sl = 0.0;
    const double det = ss * ll - sl * sl;
    const double s = (ll * gs - sl * gl) / det, l = (ss * gl - sl * gs) / det;
    const double longer =
        fmax(1.0, fmax(fabs(s) / most_of_slope, fabs(l) / most_of_level));
    line->slope -= s / longer;
    line->level -= l / longer;
    return (fabs(s) + fabs(l)) / longer;
}

static void descend(size_t n, size_t outputs, const double *z, const double *p,
                    const double *along, bool has_slope, bb_personal_line *line,
                    double *q) {
    line->level = 0.0;
    for (int k = 0; k < MOST_STEPS; k++)
        if (!(step(n, outputs, z, p, along, has_slope, line, q) >= still)) return;
}

bb_personal_line bb_personal_temper(size_t n, size_t outputs, const double *z,
                                    const double *p, const double *along, double *q) {
    bb_personal_line line = {.slope = 1.0};
    descend(n, outputs, z, p, along, true, &line, q);
    if (line.slope >= least_slope && line.slope <= 1.0) return line;
    if (isnan(line.slope)) return line;
    line.slope = fmin(1.0, fmax(least_slope, line.slope));
    descend(n, outputs, z, p, along, false, &line, q);
    return line;
}

/* -- two classes, as outputs -eta/2 and eta/2 -- */

size_t bb_personal_temper_two_work(size_t n) {
    return 4 * n;
}

/* Whether rows left out are foreseen better without doubt. */
static bool is_surer(const bb_local *local, const double *left, const double *v) {
    double saved = 0.0;
    for (size_t j = 0; j < local->n; j++) {
        const double margin = local->y[j] * left[j];
        saved += bb_logistic_loss(bb_personal_doubted(v[j]) * margin) -
                 bb_logistic_loss(margin);
    }
    return saved > 0.0;
}

void bb_personal_temper_two(bb_logistic_fits *fits, double weight, double *w,
                            const double *left, double *work) {
    static const double along[2] = {-0.5, 0.5};
    const size_t n = fits->local->n, d = fits->local->d;
    const bool has_level = fits->constant != 0.0;
    const double free = has_level ? bb_personal_free_deviation : 0.0, *eta;
    double *z = work, *p = z + 2 * n, q[2];
    if (bb_logistic_fits_doubt(fits, w, weight, free, &eta, z)) return;
    if (left && is_surer(fits->local, left, z)) return;
    for (size_t j = n; j-- > 0;) { /* z: n variances, which it takes the place of */
        const double doubted = bb_personal_doubted(z[j]) * eta[j];
        p[2 * j] = 1.0 / (1.0 + exp(doubted));
        p[2 * j + 1] = 1.0 - p[2 * j];
        z[2 * j] = -0.5 * eta[j];
        z[2 * j + 1] = 0.5 * eta[j];
    }
    const bb_personal_line line =
        bb_personal_temper(n, 2, z, p, has_level ? along : NULL, q);
    if (!isfinite(line.slope) || !isfinite(line.level)) return;
    bb_scale(d, line.slope, w);
    if (has_level) w[d - 1] += line.level / fits->constant;
}
