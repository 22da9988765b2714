#include "methods/personal_temper.h"

#include "linalg/linalg.h"
#include "methods/personal_average.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 30 };
/* Penalties of a slope's distance from 1 and of a level's from 0, which count where rows do not
 * tell them apart: then the level moves. */
static const double of_slope = 1e-3, of_level = 1e-6;
static const double most_of_slope = 0.5, most_of_level = 1.0; /* of a step */
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

/* What may change of a line. */
typedef struct freedom {
    bool slope, level;
} freedom;

/* gradient (1 + outputs) and hessian += those of one row's cross-entropy; q: outputs. */
static void add_row(size_t outputs, const double *z, const double *p,
                    const double *line, double *gradient, double *hessian, double *q) {
    const size_t count = outputs + 1;
    for (size_t c = 0; c < outputs; c++) q[c] = line[0] * z[c] + line[c + 1];
    bb_personal_softmax(outputs, q, q);
    const double mean = bb_dot(outputs, q, z);
    for (size_t c = 0; c < outputs; c++) {
        double *row = hessian + (c + 1) * count;
        const double beside = q[c] * (z[c] - mean);
        gradient[0] += (q[c] - p[c]) * z[c];
        gradient[c + 1] += q[c] - p[c];
        hessian[0] += beside * z[c];
        hessian[c + 1] += beside;
        row[0] += beside;
        row[c + 1] += q[c];
        bb_axpy(outputs, -q[c], q, row + 1);
    }
}

/* A number that stays where it is. */
static void hold(size_t count, size_t k, double *gradient, double *hessian) {
    gradient[k] = 0.0;
    for (size_t a = 0; a < count; a++)
        hessian[k * count + a] = hessian[a * count + k] = 0.0;
    hessian[k * count + k] = 1.0;
}

/* Newton's step towards the best line, cut where it is long. Its length; NaN: none. */
static double step(size_t n, size_t outputs, const double *z, const double *p,
                   freedom may, double *line, double *work) {
    const size_t count = outputs + 1;
    double *hessian = work, *by = hessian + count * count, *q = by + count;
    double longer = 1.0, length = 0.0;
    memset(work, 0, (count * count + count) * sizeof *work);
    for (size_t j = 0; j < n; j++)
        add_row(outputs, z + j * outputs, p + j * outputs, line, by, hessian, q);
    for (size_t k = 0; k < count; k++) {
        by[k] += k ? of_level * line[k] : of_slope * (line[0] - 1.0);
        hessian[k * count + k] += k ? of_level : of_slope;
        if (!(k ? may.level : may.slope)) hold(count, k, by, hessian);
    }
    if (bb_cholesky(count, hessian)) return NAN;
    bb_cholesky_solve(count, hessian, by);
    for (size_t k = 0; k < count; k++)
        longer = fmax(longer, fabs(by[k]) / (k ? most_of_level : most_of_slope));
    for (size_t k = 0; k < count; k++) {
        line[k] -= by[k] / longer;
        length += fabs(by[k]) / longer;
    }
    return length;
}

static void descend(size_t n, size_t outputs, const double *z, const double *p,
                    freedom may, double *line, double *work) {
    double length = INFINITY;
    memset(line + 1, 0, outputs * sizeof *line);
    for (int k = 0; k < MOST_STEPS && length > still; k++)
        length = step(n, outputs, z, p, may, line, work);
    if (isnan(length)) line[0] = NAN;
}

size_t bb_personal_temper_work(size_t outputs) {
    return (outputs + 1) * (outputs + 1) + 2 * outputs + 1;
}

void bb_personal_temper(size_t n, size_t outputs, const double *z, const double *p,
                        bool has_level, double *line, double *work) {
    line[0] = 1.0;
    descend(n, outputs, z, p, (freedom){true, has_level}, line, work);
    if (isnan(line[0]) || (line[0] >= least_slope && line[0] <= 1.0)) return;
    line[0] = fmin(1.0, fmax(least_slope, line[0]));
    descend(n, outputs, z, p, (freedom){false, has_level}, line, work);
}

/* -- two classes, as outputs -eta/2 and eta/2 -- */

size_t bb_personal_temper_two_work(size_t n) {
    return 4 * n + 3 + bb_personal_temper_work(2);
}

void bb_personal_temper_two(bb_logistic_fits *fits, double weight, double *w,
                            double *work) {
    const size_t n = fits->local->n, d = fits->local->d;
    const bool has_level = fits->constant != 0.0;
    const double free = has_level ? bb_personal_free_deviation : 0.0, *eta;
    double *z = work, *p = z + 2 * n, *line = p + 2 * n;
    if (bb_logistic_fits_doubt(fits, w, weight, free, &eta, z)) return;
    for (size_t j = n; j-- > 0;) { /* z: n variances, which it takes the place of */
        const double doubted = bb_personal_doubted(z[j]) * eta[j];
        p[2 * j] = 1.0 / (1.0 + exp(doubted));
        p[2 * j + 1] = 1.0 - p[2 * j];
        z[2 * j] = -0.5 * eta[j];
        z[2 * j + 1] = 0.5 * eta[j];
    }
    bb_personal_temper(n, 2, z, p, has_level, line, line + 3);
    if (!isfinite(line[0]) || !isfinite(line[2] - line[1])) return;
    bb_scale(d, line[0], w);
    if (has_level) w[d - 1] += (line[2] - line[1]) / fits->constant;
}
