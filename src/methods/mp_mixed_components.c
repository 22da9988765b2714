/* Variance components of a private mixed model: quadratic forms that tasks show are equated
 * to what they expect (Henderson 1953). Forms of slopes and residuals are of rows around
 * the task's own mean and know nothing of intercepts; the level's is the only one that does
 * (the between and within forms of Swamy and Arora 1972). */
#include "methods/mp_mixed_effects.h"

#include <math.h>
#include <string.h>

enum { UNKNOWNS = 3 }; /* intercept, slope, residual */
/* What slopes may have of another variance's form, beside it, without being looked for. */
static const double most_hidden = 0.1;

/* forms = K theta, as far as the noise lets it be known. */
typedef struct equations {
    double K[UNKNOWNS][UNKNOWNS], form[UNKNOWNS];
    double noise_of_K[UNKNOWNS][UNKNOWNS]; /* standard deviations */
    double covariance[UNKNOWNS][UNKNOWNS]; /* of the forms: spread over tasks, noise */
} equations;

/* What a form is shown times. */
static double shown(size_t form, double others) {
    return form == 1 ? others : 1.0;
}

/* From the noisy sums of products; their noise's standard deviation is put on top of
 * variances, so that it does not make errors too small. A covariance, as such a matrix must
 * be: no correlation is above .5, with which it is one whatever they are. Then that of the
 * forms' own noise. */
static void spread_over_tasks(equations *e, const double *product, double tasks,
                              double others, double noise) {
    for (size_t a = 0; a < UNKNOWNS; a++)
        for (size_t b = a; b < UNKNOWNS; b++, product++) {
            const double both = shown(a, others) * shown(b, others);
            e->covariance[a][b] = e->covariance[b][a] =
                *product / (BB_MOMENT_SQUARE * both) - e->form[a] * e->form[b] / tasks;
        }
    for (size_t a = 0; a < UNKNOWNS; a++) {
        const double one = shown(a, others);
        e->covariance[a][a] =
            fmax(0.0, e->covariance[a][a]) + noise / (BB_MOMENT_SQUARE * one * one);
    }
    for (size_t a = 0; a < UNKNOWNS; a++)
        for (size_t b = 0; b < UNKNOWNS; b++) {
            const double most = 0.5 * sqrt(e->covariance[a][a] * e->covariance[b][b]);
            if (a != b)
                e->covariance[a][b] = fmax(-most, fmin(most, e->covariance[a][b]));
        }
    for (size_t a = 0; a < UNKNOWNS; a++) {
        const double own = noise / shown(a, others);
        e->covariance[a][a] += own * own;
    }
}

static equations equations_of(const bb_release *release, size_t d, double tasks) {
    const double *at = release->value[0], c = BB_MOMENT_COEFFICIENT;
    const double noise = release->noise[0], s = noise / c;
    const double others = d > 1 ? (double)d - 1.0 : 1.0;
    equations e = {
        .form = {at[BB_MOMENT_INTERCEPT], at[BB_MOMENT_SLOPE] / others,
                 at[BB_MOMENT_RESIDUAL]},
        .K = {{at[BB_MOMENT_OF_INTERCEPT] / c, others * at[BB_MOMENT_OF_BOTH] / c,
               at[BB_MOMENT_INTERCEPT_NOISE] / c},
              {0.0, at[BB_MOMENT_OF_SLOPE] / c,
               at[BB_MOMENT_SLOPE_NOISE] / (c * others)},
              {0.0, others * at[BB_MOMENT_RESIDUAL_SLOPE] / c,
               at[BB_MOMENT_RESIDUAL_NOISE] / c}},
        .noise_of_K = {{s, others * s, s}, {0.0, s, s / others}, {0.0, others * s, s}}};
    spread_over_tasks(&e, at + BB_MOMENT_SQUARES, tasks, others, noise);
    return e;
}

/* Whether columns may vary within tasks: no equation has slopes in it, nor so much noise
 * that they could matter. */
static bool may_have_slopes(const equations *e) {
    for (size_t a = 0; a < UNKNOWNS; a++) {
        const double noise = 2.0 * e->noise_of_K[a][1];
        if (e->K[a][1] > noise || (a != 1 && noise > most_hidden * e->K[a][a]))
            return true;
    }
    return false;
}

/* Models of a constant alone, or of columns that vary between tasks only, have none. */
static void without_slopes(equations *e) {
    for (size_t a = 0; a < UNKNOWNS; a++) {
        e->K[1][a] = e->K[a][1] = a == 1;
        e->noise_of_K[1][a] = e->noise_of_K[a][1] = 0.0;
        e->covariance[1][a] = e->covariance[a][1] = 0.0;
    }
    e->form[1] = 0.0;
}

/* Cofactors; false where the noise hides what the equations are. */
static bool invert_small(const equations *e, double inverse[UNKNOWNS][UNKNOWNS]) {
    double determinant = 0.0;
    for (size_t a = 0; a < UNKNOWNS; a++) {
        if (!(e->K[a][a] > 2.0 * e->noise_of_K[a][a])) return false;
        for (size_t b = 0; b < UNKNOWNS; b++) {
            const double *up = e->K[(b + 1) % 3], *down = e->K[(b + 2) % 3];
            const size_t left = (a + 1) % 3, right = (a + 2) % 3;
            inverse[a][b] = up[left] * down[right] - up[right] * down[left];
        }
        determinant += a == 0
                           ? e->K[0][0] * inverse[0][0] + e->K[1][0] * inverse[0][1] +
                                 e->K[2][0] * inverse[0][2]
                           : 0.0;
    }
    for (size_t a = 0; a < UNKNOWNS; a++)
        for (size_t b = 0; b < UNKNOWNS; b++) inverse[a][b] /= determinant;
    return determinant > 0.0;
}

/* What the noise of the coefficients does to the forms. */
static void add_noise_of_K(equations *e, const double theta[UNKNOWNS]) {
    for (size_t a = 0; a < UNKNOWNS; a++)
        for (size_t b = 0; b < UNKNOWNS; b++) {
            const double moved = e->noise_of_K[a][b] * theta[b];
            e->covariance[a][a] += moved * moved;
        }
}

/* g' K^-1 covariance K^-1' g: the variance of g'theta. */
static double variance_of(const equations *e, double inverse[UNKNOWNS][UNKNOWNS],
                          const double g[UNKNOWNS]) {
    double along[UNKNOWNS] = {0}, sum = 0.0;
    for (size_t a = 0; a < UNKNOWNS; a++)
        for (size_t b = 0; b < UNKNOWNS; b++) along[b] += g[a] * inverse[a][b];
    for (size_t a = 0; a < UNKNOWNS; a++)
        for (size_t b = 0; b < UNKNOWNS; b++)
            sum += along[a] * e->covariance[a][b] * along[b];
    return fmax(0.0, sum);
}

void bb_mixed_components(const bb_release *release, size_t d, double tasks,
                         double value[BB_COMPONENTS], double error[BB_COMPONENTS]) {
    static const bb_component place[UNKNOWNS] = {
        BB_COMPONENT_INTERCEPT, BB_COMPONENT_SLOPE, BB_COMPONENT_RESIDUAL};
    equations e = equations_of(release, d, tasks);
    double inverse[UNKNOWNS][UNKNOWNS], theta[UNKNOWNS] = {0};
    const bool slopes = d > 1 && may_have_slopes(&e);
    if (!slopes) without_slopes(&e);
    for (int k = 0; k < BB_COMPONENTS; k++) error[k] = -1.0;
    if (!invert_small(&e, inverse)) return;
    for (size_t a = 0; a < UNKNOWNS; a++) {
        for (size_t b = 0; b < UNKNOWNS; b++) theta[a] += inverse[a][b] * e.form[b];
        theta[a] = fmax(0.0, theta[a]);
    }
    add_noise_of_K(&e, theta);
    for (size_t a = 0; a < UNKNOWNS; a++) {
        const double unit[UNKNOWNS] = {a == 0, a == 1, a == 2};
        value[place[a]] = theta[a];
        error[place[a]] = sqrt(variance_of(&e, inverse, unit));
    }
    if (d > 1 && !slopes) error[BB_COMPONENT_SLOPE] = -1.0;
    const double all = theta[0] + theta[2];
    if (!(all > 0.0)) return;
    const double slope[UNKNOWNS] = {theta[2] / (all * all), 0.0,
                                    -theta[0] / (all * all)};
    value[BB_COMPONENT_ICC] = theta[0] / all;
    error[BB_COMPONENT_ICC] = sqrt(variance_of(&e, inverse, slope));
}
