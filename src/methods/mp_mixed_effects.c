/* Fixed effects by one step of generalised least squares from the centre, with a
 * sandwich of released sums for their errors (Liang and Zeger 1986); variance components
 * by equating quadratic forms to what they expect (Henderson 1953). What one task shows
 * is in mp_mixed_summary.c. */
#include "methods/mp_mixed_effects.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Of a round's mu^2. */
static const double score_share = 0.5, moment_share = 0.6;
/* The fixed effects are asked for where the noise of the mean information matrix, whose
 * eigenvalues are in [0, 1), has at most this norm; a direction is resolved if its
 * eigenvalue is this many times that norm. */
static const double most_noise = 0.2, stands_out = 3.0;
/* A feature is resolved if unresolved directions have at most this part of it. */
static const double most_lost = 0.01;

/* -- the board -- */

enum {
    AT_KNOWN,
    AT_FIXED,
    AT_VALUE,
    AT_ERROR = AT_VALUE + BB_COMPONENTS,
    SCALARS = AT_ERROR + BB_COMPONENTS
};

/* Behind the scalars: centre and error (bb_effects_length); then, while fixed effects
 * are on their way, the step (d) and the inverse of the information (d x d). */
static double *centre_at(double *at) {
    return at + SCALARS;
}

static double *error_at(double *at, size_t d) {
    return at + SCALARS + d;
}

static double *step_at(double *at, size_t d) {
    return at + SCALARS + 2 * d;
}

static double *inverse_at(double *at, size_t d) {
    return at + SCALARS + 3 * d;
}

size_t bb_effects_length(size_t d) {
    return SCALARS + 2 * d;
}

bb_effects bb_effects_read(const double *at, size_t d) {
    const bool known = at[AT_KNOWN] > 0.0;
    bb_effects e = {.d = d,
                    .fixed = at[AT_FIXED] > 0.0,
                    .known = known,
                    .centre = at + SCALARS,
                    .error = at + SCALARS + d};
    for (int k = 0; k < BB_COMPONENTS; k++) {
        const bool told = known && at[AT_ERROR + k] >= 0.0;
        e.value[k] = told ? at[AT_VALUE + k] : NAN;
        e.value_error[k] = told ? at[AT_ERROR + k] : NAN;
    }
    return e;
}

size_t bb_mixed_effects_board(const bb_view *view, double share) {
    const size_t d = view->pub->features;
    if (!(share > 0.0)) return 0;
    return bb_effects_length(d) +
           (bb_mixed_effects_rounds(view, share) > 1 ? d + d * d : 0);
}

/* -- the plan -- */

/* The clip of a deviation: what tasks differ by moves a prediction by at most about 0.8
 * of half the target's range. */
static double score_clip(size_t d) {
    return 0.8 * sqrt((double)d);
}

/* Eigenvalues are below 1. */
static double information_clip(size_t d) {
    return sqrt((double)d);
}

static double matrix_edge(double diagonal_noise, size_t d) {
    return diagonal_noise * sqrt(2.0 * (double)d);
}

uint32_t bb_mixed_effects_rounds(const bb_view *view, double share) {
    const bb_public *pub = view->pub;
    const size_t d = pub->features;
    if (!(share > 0.0)) return 0;
    if (!isfinite(pub->mu)) return 2;
    const double mu = pub->mu * sqrt(share / 2.0 * (1.0 - score_share));
    const double noise =
        bb_form_sensitivity(BB_FORM_PSD, pub->adjacency) / mu * information_clip(d);
    return matrix_edge(noise, d) / (double)pub->tasks <= most_noise ? 2 : 1;
}

void bb_mixed_effects_layout(const bb_view *view, double share, uint32_t round,
                             bb_layout *out) {
    const size_t d = view->pub->features;
    const bool fixed = bb_mixed_effects_rounds(view, share) > 1;
    if (fixed && round == 0)
        *out = (bb_layout){
            2,
            {{"scores", BB_FORM_VECTOR, d, score_clip(d), score_share},
             {"information", BB_FORM_PSD, d, information_clip(d), 1.0 - score_share}}};
    else
        *out = (bb_layout){
            fixed ? 2 : 1,
            {{"moments", BB_FORM_VECTOR, BB_MOMENTS, BB_MOMENTS_CLIP,
              fixed ? moment_share : 1.0},
             {"spread", BB_FORM_OUTER, d, score_clip(d), 1.0 - moment_share}}};
}

/* -- fixed effects -- */

/* inverse (d x d) <- that of the noisy sum of information where it is resolved, 0
 * elsewhere; error_k <- -1 where feature k is not. work: d x d, d, and bb_eigen_work. */
static bb_status invert(const bb_release *release, size_t d, double *inverse,
                        double *error, double *work) {
    double *basis = work, *value = basis + d * d;
    const double edge = matrix_edge(release->noise[1], d);
    memcpy(basis, release->value[1], d * d * sizeof *basis);
    const bb_status status = bb_eigen(d, basis, value, value + d);
    if (status) return status;
    memset(inverse, 0, d * d * sizeof *inverse);
    memset(error, 0, d * sizeof *error);
    for (size_t j = 0; j < d; j++) {
        const double *u = basis + j * d;
        const bool resolved = value[j] > stands_out * edge && value[j] > 0.0;
        for (size_t k = 0; k < d; k++) {
            if (resolved)
                bb_axpy(d, u[k] / value[j], u, inverse + k * d);
            else
                error[k] += u[k] * u[k];
        }
    }
    for (size_t k = 0; k < d; k++) error[k] = error[k] > most_lost ? -1.0 : 0.0;
    return BB_OK;
}

/* The step from the centre, and of the errors' squares what the noise of both sums is
 * to blame for: that of the scores, and that of the information times the step, whose
 * covariance is s^2/2 (|step|^2 I + step step'). */
static bb_status digest_scores(const bb_release *release, size_t d,
                               const double *centre, double *at, double *work) {
    double *inverse = inverse_at(at, d), *step = step_at(at, d),
           *error = error_at(at, d);
    const bb_status status = invert(release, d, inverse, error, work);
    if (status) return status;
    bb_multiply(d, d, 1.0, inverse, release->value[0], 0.0, step);
    const double s = release->noise[0], t = release->noise[1];
    const double square = bb_dot(d, step, step);
    for (size_t k = 0; k < d; k++) {
        const double *row = inverse + k * d;
        const double along = bb_dot(d, row, step), length = bb_dot(d, row, row);
        centre_at(at)[k] = centre[k] + step[k];
        if (error[k] >= 0.0)
            error[k] = s * s * length + 0.5 * t * t * (square * length + along * along);
    }
    at[AT_FIXED] = 1.0;
    return BB_OK;
}

/* The sampling spread between tasks is what the products of their scores say. */
static void digest_spread(const bb_public *pub, const double *spread, double *at,
                          double *work) {
    const size_t d = pub->features;
    const double m = (double)pub->tasks,
                 few = m > (double)d ? m / (m - (double)d) : 1.0;
    double *inverse = inverse_at(at, d), *error = error_at(at, d);
    for (size_t k = 0; k < d; k++) {
        const double *row = inverse + k * d;
        if (error[k] < 0.0) continue;
        bb_multiply(d, d, 1.0, spread, row, 0.0, work);
        error[k] = sqrt(error[k] + few * fmax(0.0, bb_dot(d, row, work)));
    }
}

/* -- variance components -- */

enum { UNKNOWNS = 3 }; /* intercept, slope, residual */

/* forms = K theta, as far as the noise lets it be known. */
typedef struct equations {
    double K[UNKNOWNS][UNKNOWNS], form[UNKNOWNS];
    double noise_of_K[UNKNOWNS][UNKNOWNS]; /* standard deviations */
    double covariance[UNKNOWNS][UNKNOWNS]; /* of the forms: spread over tasks, noise */
} equations;

/* From the noisy sums of products; noise: their standard deviation, which variances get
 * on top, so that it does not make errors too small. A covariance, as such a matrix must
 * be: no correlation is above .5, with which it is one whatever they are. */
static void spread_over_tasks(equations *e, const double *product, double tasks,
                              double noise) {
    for (size_t a = 0; a < UNKNOWNS; a++)
        for (size_t b = a; b < UNKNOWNS; b++, product++)
            e->covariance[a][b] = e->covariance[b][a] =
                *product / BB_MOMENT_SQUARE - e->form[a] * e->form[b] / tasks;
    for (size_t a = 0; a < UNKNOWNS; a++)
        e->covariance[a][a] = fmax(0.0, e->covariance[a][a]) + noise;
    for (size_t a = 0; a < UNKNOWNS; a++)
        for (size_t b = 0; b < UNKNOWNS; b++) {
            const double most = 0.5 * sqrt(e->covariance[a][a] * e->covariance[b][b]);
            if (a != b)
                e->covariance[a][b] = fmax(-most, fmin(most, e->covariance[a][b]));
        }
}

static equations equations_of(const bb_release *release, size_t d, double tasks) {
    const double *at = release->value[0], c = BB_MOMENT_COEFFICIENT;
    const double s = release->noise[0] / c, others = d > 1 ? (double)d - 1.0 : 1.0;
    const double both = at[BB_MOMENT_OF_BOTH] / c;
    equations e = {
        .form = {at[BB_MOMENT_INTERCEPT], at[BB_MOMENT_SLOPE], at[BB_MOMENT_RESIDUAL]},
        .K = {{at[BB_MOMENT_OF_INTERCEPT] / c, both, at[BB_MOMENT_INTERCEPT_NOISE] / c},
              {both / others, at[BB_MOMENT_OF_SLOPE] / c,
               at[BB_MOMENT_SLOPE_NOISE] / c},
              {at[BB_MOMENT_RESIDUAL_INTERCEPT] / c,
               at[BB_MOMENT_RESIDUAL_SLOPE] / c * others,
               at[BB_MOMENT_RESIDUAL_NOISE] / c}},
        .noise_of_K = {{s, s, s}, {s / others, s, s}, {s, s * others, s}}};
    spread_over_tasks(&e, at + BB_MOMENT_SQUARES, tasks,
                      release->noise[0] / BB_MOMENT_SQUARE);
    for (size_t a = 0; a < UNKNOWNS; a++)
        e.covariance[a][a] += release->noise[0] * release->noise[0];
    return e;
}

/* Models of a constant alone have no slopes: theirs is 0. */
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
    const double shared =
        e->noise_of_K[0][1] * theta[1] * e->noise_of_K[1][0] * theta[0];
    e->covariance[0][1] += shared;
    e->covariance[1][0] += shared;
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

static void digest_moments(const bb_public *pub, const bb_release *release,
                           double *at) {
    static const bb_component place[UNKNOWNS] = {
        BB_COMPONENT_INTERCEPT, BB_COMPONENT_SLOPE, BB_COMPONENT_RESIDUAL};
    equations e = equations_of(release, pub->features, (double)pub->tasks);
    double inverse[UNKNOWNS][UNKNOWNS], theta[UNKNOWNS] = {0};
    if (pub->features == 1) without_slopes(&e);
    for (int k = 0; k < BB_COMPONENTS; k++) at[AT_ERROR + k] = -1.0;
    if (!invert_small(&e, inverse)) return;
    for (size_t a = 0; a < UNKNOWNS; a++) {
        for (size_t b = 0; b < UNKNOWNS; b++) theta[a] += inverse[a][b] * e.form[b];
        theta[a] = fmax(0.0, theta[a]);
    }
    add_noise_of_K(&e, theta);
    for (size_t a = 0; a < UNKNOWNS; a++) {
        const double unit[UNKNOWNS] = {a == 0, a == 1, a == 2};
        at[AT_VALUE + place[a]] = theta[a];
        at[AT_ERROR + place[a]] = sqrt(variance_of(&e, inverse, unit));
    }
    const double all = theta[0] + theta[2];
    if (!(all > 0.0)) return;
    const double slope[UNKNOWNS] = {theta[2] / (all * all), 0.0,
                                    -theta[0] / (all * all)};
    at[AT_VALUE + BB_COMPONENT_ICC] = theta[0] / all;
    at[AT_ERROR + BB_COMPONENT_ICC] = sqrt(variance_of(&e, inverse, slope));
}

/* -- answers -- */

size_t bb_mixed_effects_digest_length(const bb_view *view) {
    const size_t d = view->pub->features;
    return d * d + d + bb_eigen_work(d) / sizeof(double) + 8;
}

bb_status bb_mixed_effects_digest(const bb_view *view, double share, uint32_t round,
                                  const bb_release *release, const double *centre,
                                  double *at, double *work) {
    const size_t d = view->pub->features;
    const bool fixed = bb_mixed_effects_rounds(view, share) > 1;
    if (fixed && round == 0) return digest_scores(release, d, centre, at, work);
    if (!fixed)
        for (size_t k = 0; k < d; k++) {
            centre_at(at)[k] = centre[k];
            error_at(at, d)[k] = -1.0;
        }
    if (fixed) digest_spread(view->pub, release->value[1], at, work);
    digest_moments(view->pub, release, at);
    at[AT_KNOWN] = 1.0;
    return BB_OK;
}
