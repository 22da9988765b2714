/* The public half of mp-prior: noisy sums in, a prior for the models out. */
#include "linalg/linalg.h"
#include "methods/mp_prior.h"

#include <math.h>
#include <string.h>

/* A direction is detected if it stands out of the median by `stand_out` times the edge
 * of the noise's spectrum (per feature: of its standard deviation times 2.5). */
static const double stand_out = 0.9, feature_stand_out = 2.5;
static const double mean_ridge = 0.3; /* of the noise edge */
/* Below this reliability only the plain prior is offered to the tasks; above the second
 * one, and with automatic penalties, the strongest multiplier too. */
static const double reliable = 0.6, very_reliable = 0.95;

enum { SCALARS = 4 };

size_t bb_prior_board_length(const bb_view *view) {
    const size_t d = view->pub->features;
    return SCALARS + BB_PRIOR_MOST_CANDIDATES + 2 * d + d * d;
}

/* Where everything lies, for those who read and for digest, who writes. */
#define PLACES(n, at)                                                                  \
    .d = (n), .centre = (at), .mean_kept = (at) + 1, .directions = (at) + 2,           \
    .reliability = (at) + 3, .vote = (at) + SCALARS,                                   \
    .mean = (at) + SCALARS + BB_PRIOR_MOST_CANDIDATES,                                 \
    .variance = (at) + SCALARS + BB_PRIOR_MOST_CANDIDATES + (n),                       \
    .basis = (at) + SCALARS + BB_PRIOR_MOST_CANDIDATES + 2 * (n)

bb_prior bb_prior_read(const bb_view *view) {
    return (bb_prior){PLACES(view->pub->features, view->board->at)};
}

bb_prior_draft bb_prior_write(const bb_view *view, const bb_draft *draft) {
    return (bb_prior_draft){PLACES(view->pub->features, draft->at)};
}

size_t bb_prior_digest_length(const bb_view *view) {
    const size_t d = view->pub->features;
    return d * d + 4 * d + bb_eigen_work(d) / sizeof(double) + 8;
}

/* -- the mean model -- */

bb_status bb_prior_mean(const bb_prior_draft *prior, const double *sum, double s,
                        double *work) {
    const size_t d = prior->d, p = d + 1;
    double *u = work, *value = u + d * d, *c = value + d, *coefficient = c + d;
    double gain = 0.0;
    for (size_t i = 0; i < d; i++) {
        memcpy(u + i * d, sum + i * p, d * sizeof *u);
        c[i] = sum[i * p + d];
    }
    const bb_status status = bb_eigen(d, u, value, coefficient + d);
    if (status) return status;
    const double ridge = mean_ridge * s * sqrt(2.0 * (double)d);
    bb_multiply(d, d, 1.0, u, c, 0.0, coefficient);
    for (size_t j = 0; j < d; j++) {
        const double curvature = fmax(value[j], 0.0) + ridge;
        coefficient[j] = curvature > 0.0 ? coefficient[j] / curvature : 0.0;
    }
    bb_multiply_transposed(d, d, 1.0, u, coefficient, 0.0, prior->mean);
    for (size_t i = 0; i < d; i++)
        gain += prior->mean[i] * (2.0 * c[i] - bb_dot(d, sum + i * p, prior->mean));
    const double squares = bb_dot(d, prior->mean, prior->mean);
    const double noise = s * sqrt(2.0 * squares + squares * squares);
    *prior->mean_kept = gain > 2.0 * noise ? 1.0 : 0.0;
    return BB_OK;
}

/* -- the covariance of directions -- */

static double median(size_t n, const double *ascending) {
    return n % 2 ? ascending[n / 2] : 0.5 * (ascending[n / 2 - 1] + ascending[n / 2]);
}

static void sort_ascending(size_t n, double *v) {
    for (size_t i = 1; i < n; i++) {
        const double moved = v[i];
        size_t k = i;
        for (; k > 0 && v[k - 1] > moved; k--) v[k] = v[k - 1];
        v[k] = moved;
    }
}

/* What a noisy eigenvalue (or diagonal entry) lambda says: theta, its strength without
 * noise, and how reliable its direction is; both 0 if it does not stand out. */
typedef struct spike {
    double theta, reliability;
} spike;

static spike spike_of(double lambda, double bulk, double s, size_t d) {
    const double x = lambda - bulk, edge = s * sqrt(2.0 * (double)d);
    if (!(x > stand_out * edge && lambda > 0.0)) return (spike){0.0, 0.0};
    const double theta = 0.5 * (x + sqrt(fmax(0.0, x * x - edge * edge)));
    const double lost = edge * edge / (4.0 * theta * theta); /* s^2 d / (2 theta^2) */
    return (spike){theta, fmin(1.0, fmax(0.0, 1.0 - lost))};
}

static spike feature_spike(double value, double bulk, double s) {
    const double x = value - bulk;
    if (!(x > feature_stand_out * stand_out * s)) return (spike){0.0, 0.0};
    return (spike){x, fmin(1.0, fmax(0.0, 1.0 - 2.0 * s * s / (x * x)))};
}

static void fill_prior(const bb_prior_draft *prior, const spike *found, double bulk,
                       double s) {
    const size_t d = prior->d;
    double theta = 0.0, kept = 0.0, base = fmax(fmax(bulk, 0.5 * s), 1e-9);
    size_t k = 0;
    for (size_t j = 0; j < d; j++) {
        if (found[j].theta <= 0.0) continue;
        k++;
        theta += found[j].theta;
        kept += found[j].theta * found[j].reliability;
    }
    if (k > 0 && k < d) base += (theta - kept) / (double)(d - k);
    for (size_t j = 0; j < d; j++) prior->variance[j] = 1.0 + found[j].theta / base;
    *prior->directions = (double)k;
    *prior->reliability = k ? kept / theta : 0.0;
}

bb_status bb_prior_covariance(const bb_prior_draft *prior, int pattern,
                              const double *sum, double s, double *work) {
    const size_t d = prior->d;
    double *value = work;
    spike *found = (spike *)(void *)(work + d); /* d pairs of doubles */
    if (pattern == BB_PRIOR_LOW_RANK) {
        memcpy(prior->basis, sum, d * d * sizeof *sum);
        const bb_status status = bb_eigen(d, prior->basis, value, work + 3 * d);
        if (status) return status;
    } else {
        memcpy(value, sum, d * sizeof *sum);
        sort_ascending(d, value);
        for (size_t j = 0; j < d; j++) prior->basis[j * d + j] = 1.0;
    }
    const double bulk = median(d, value);
    for (size_t j = 0; j < d; j++)
        found[j] = pattern == BB_PRIOR_LOW_RANK ? spike_of(value[j], bulk, s, d)
                                                : feature_spike(sum[j], bulk, s);
    fill_prior(prior, found, bulk, s);
    return BB_OK;
}

/* -- the candidates -- */

size_t bb_prior_candidates(const bb_prior *prior, bool automatic,
                           bb_prior_candidate *candidate) {
    static const double with_prior[] = {1.0, 4.0, 20.0, 100.0, 500.0};
    static const double with_mean[] = {0.1, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5};
    const bool mean = *prior->mean_kept > 0.0, found = *prior->directions > 0.0;
    const size_t strong = automatic && *prior->reliability >= very_reliable ? 5 : 4;
    size_t n = 0;
    if (found && *prior->reliability < reliable && !mean) {
        candidate[n++] = (bb_prior_candidate){false, 1, 1.0};
        return n;
    }
    candidate[n++] = (bb_prior_candidate){false, 0, 1.0};
    for (size_t k = 0; mean && k < sizeof with_mean / sizeof *with_mean; k++)
        candidate[n++] = (bb_prior_candidate){true, 0, with_mean[k]};
    if (!found) return n;
    if (*prior->reliability < reliable) {
        candidate[n++] = (bb_prior_candidate){true, 1, 1.0};
        return n;
    }
    for (int power = 1; power <= 2; power++)
        for (size_t k = 0; k < strong; k++)
            candidate[n++] = (bb_prior_candidate){mean, power, with_prior[k]};
    return n;
}

/* -- the vote -- */

void bb_prior_vote(const bb_prior_draft *prior, size_t count, const double *sum,
                   double s, size_t tasks) {
    static const double strength = 40.0, most_odds = 100.0;
    const double squares = bb_dot(count, sum, sum), k = (double)count;
    const double shrink =
        squares > 0.0 ? fmax(0.0, 1.0 - (k - 1.0) * s * s / squares) : 0.0;
    const double scale = fmin(1.0 / s, strength / (double)tasks) * shrink;
    double most = -INFINITY;
    for (size_t j = 0; j < count; j++) most = fmax(most, sum[j] * scale);
    for (size_t j = 0; j < count; j++)
        prior->vote[j] = fmax(sum[j] * scale - most, -log(most_odds));
}
