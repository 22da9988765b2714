/* The rounds for effects (mp_mixed_effects.h): moments, which say what tasks differ by and
 * how long a deviation is, then the deviations themselves. */
#include "methods/mp_mixed_effects.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Of the second round's mu^2. */
static const double score_share = 0.35, information_share = 0.5;
/* The fixed effects are asked for where the noise of the mean information matrix, whose
 * eigenvalues are in [0, 1), has at most this norm. */
static const double most_noise = 0.2;
/* How many times the root of a deviation's mean square it may be long. */
static const double longest = 2.0;

/* -- the board -- */

enum {
    AT_KNOWN,
    AT_FIXED,
    AT_SIZE,           /* the means over tasks of the constant's u_k^2, */
    AT_SIZE_OF_SLOPES, /* of the others', */
    AT_SIZE_NOISE,     /* and the standard deviation of the noise in each */
    AT_VARIES_NOISE,   /* likewise of the columns' parts of tasks, below */
    AT_VALUE,
    AT_ERROR = AT_VALUE + BB_COMPONENTS,
    SCALARS = AT_ERROR + BB_COMPONENTS
};

/* Behind the scalars: centre, error, in which part of the tasks columns vary; then, with
 * fixed effects, three matrices. */
static double *matrix_at(double *at, size_t d, size_t which) {
    return at + SCALARS + 3 * d + which * d * d;
}

static size_t length_of(size_t d, bool fixed) {
    return SCALARS + 3 * d + (fixed ? 3 * d * d : 0);
}

bb_effects bb_effects_read(const double *at, size_t d) {
    const bool known = at[AT_KNOWN] > 0.0, fixed = at[AT_FIXED] > 0.0;
    bb_effects e = {.d = d,
                    .fixed = fixed,
                    .known = known,
                    .centre = at + SCALARS,
                    .error = at + SCALARS + d,
                    .varies = at + SCALARS + 2 * d,
                    .varies_noise = at[AT_VARIES_NOISE]};
    if (fixed) {
        e.noise = e.varies + d;
        e.spread = e.noise + d * d;
        e.lost = e.spread + d * d;
    }
    for (int k = 0; k < BB_COMPONENTS; k++) {
        const bool told = known && at[AT_ERROR + k] >= 0.0;
        e.value[k] = told ? at[AT_VALUE + k] : NAN;
        e.value_error[k] = told ? at[AT_ERROR + k] : NAN;
    }
    return e;
}

/* g' A g. */
static double square_form(size_t d, const double *A, const double *g) {
    double sum = 0.0;
    for (size_t k = 0; k < d; k++)
        if (g[k] != 0.0) sum += g[k] * bb_dot(d, A + k * d, g);
    return sum;
}

double bb_effects_lost(const bb_effects *e, const double *g) {
    return e->fixed ? square_form(e->d, e->lost, g) / bb_dot(e->d, g, g) : NAN;
}

double bb_effects_error(const bb_effects *e, const double *g) {
    if (!e->fixed || bb_effects_lost(e, g) > BB_EFFECTS_MOST_LOST) return NAN;
    return sqrt(square_form(e->d, e->noise, g) +
                fmax(0.0, square_form(e->d, e->spread, g)));
}

size_t bb_mixed_effects_board(const bb_view *view, double share) {
    if (!(share > 0.0)) return 0;
    return length_of(view->pub->features, bb_mixed_effects_rounds(view, share) > 1);
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

uint32_t bb_mixed_effects_rounds(const bb_view *view, double share) {
    const bb_public *pub = view->pub;
    const size_t d = pub->features;
    if (!(share > 0.0)) return 0;
    if (!isfinite(pub->mu)) return 2;
    const double mu = pub->mu * sqrt(share / 2.0 * information_share);
    const double noise =
        bb_form_sensitivity(BB_FORM_PSD, pub->adjacency) / mu * information_clip(d);
    return bb_mixed_edge(noise, d) / (double)pub->tasks <= most_noise ? 2 : 1;
}

void bb_mixed_effects_layout(const bb_view *view, uint32_t round, bb_layout *out) {
    const size_t d = view->pub->features;
    if (round == 0)
        *out = (bb_layout){
            1,
            {{"moments", BB_FORM_VECTOR, bb_mixed_moments(d), BB_MOMENTS_CLIP, 1.0}}};
    else
        *out = (bb_layout){
            3,
            {{"scores", BB_FORM_VECTOR, d, score_clip(d), score_share},
             {"information", BB_FORM_PSD, d, information_clip(d), information_share},
             {"spread", BB_FORM_OUTER, d, score_clip(d),
              1.0 - score_share - information_share}}};
}

double bb_mixed_effects_radius(const double *at, size_t d) {
    const double clip = score_clip(d);
    const double square = at[AT_SIZE] + at[AT_SIZE_OF_SLOPES] + at[AT_SIZE_NOISE];
    return fmax(1e-6, fmin(1.0, longest * sqrt(square) / clip)) * clip;
}

/* -- answers -- */

size_t bb_mixed_effects_digest_length(const bb_view *view) {
    const size_t d = view->pub->features;
    return d + d * d + bb_mixed_fixed_work(d);
}

static void digest_moments(const bb_view *view, const bb_release *release, double *at) {
    const size_t d = view->pub->features;
    const double p = (double)d, m = (double)view->pub->tasks;
    const double *value = release->value[0], noise = p * release->noise[0] / m;
    at[AT_SIZE] = fmax(noise, p * value[BB_MOMENT_SIZE] / m);
    at[AT_SIZE_OF_SLOPES] =
        p > 1.0 ? fmax(noise, p * value[BB_MOMENT_SIZE_OF_SLOPES] / m) : 0.0;
    at[AT_SIZE_NOISE] = noise;
    for (size_t k = 0; k + 1 < d; k++)
        at[SCALARS + 2 * d + k] =
            value[BB_MOMENT_VARIES + k] / (m * bb_mixed_varies(d));
    at[AT_VARIES_NOISE] = release->noise[0] / (m * bb_mixed_varies(d));
    bb_mixed_components(release, d, m, at + AT_VALUE, at + AT_ERROR);
}

static bb_status digest_deviations(const bb_view *view, const bb_release *release,
                                   const bb_mixed_end *end, double *at, double *work) {
    const size_t d = view->pub->features;
    const double shown = bb_mixed_effects_radius(at, d) / score_clip(d);
    double *score = work, *spread = work + d;
    for (size_t k = 0; k < d; k++) score[k] = shown * release->value[0][k];
    for (size_t k = 0; k < d * d; k++) spread[k] = shown * shown * release->value[2][k];
    const bb_mixed_sums sums = {.d = d,
                                .tasks = (double)view->pub->tasks,
                                .score = score,
                                .information = release->value[1],
                                .spread = spread,
                                .score_noise = shown * release->noise[0],
                                .information_noise = release->noise[1],
                                .spread_noise = shown * shown * release->noise[2],
                                .size = {at[AT_SIZE], at[AT_SIZE_OF_SLOPES]}};
    at[AT_FIXED] = 1.0;
    return bb_mixed_fixed(&sums, end, at + SCALARS, at + SCALARS + d,
                          matrix_at(at, d, 0), matrix_at(at, d, 1), matrix_at(at, d, 2),
                          spread + d * d);
}

bb_status bb_mixed_effects_digest(const bb_view *view, double share, uint32_t round,
                                  const bb_release *release, const bb_mixed_end *end,
                                  double *at, double *work) {
    const size_t d = view->pub->features;
    if (round == 0) {
        digest_moments(view, release, at);
        memcpy(at + SCALARS, end->centre, d * sizeof *at);
        for (size_t k = 0; k < d; k++) at[SCALARS + d + k] = -1.0;
        at[AT_KNOWN] = bb_mixed_effects_rounds(view, share) > 1 ? 0.0 : 1.0;
        return BB_OK;
    }
    const bb_status status = digest_deviations(view, release, end, at, work);
    if (!status) at[AT_KNOWN] = 1.0;
    return status;
}
