/* What mp-mixed believes of a task's candidates before its rows speak: penalties, noise
 * levels, the covariance of each kind. */
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"
#include "methods/personal_units.h"

#include <math.h>
#include <string.h>

/* Penalties of the candidates beside the summed loss, and what the noise of a row's
 * target (a variance) is believed to be. */
const double bb_mixed_penalty[BB_MIXED_PENALTIES] = {
    1e-5, 3.16e-5, 1e-4, 3.16e-4, 1e-3, 3.16e-3, 1e-2, 3.16e-2,
    0.1,  0.316,   1.0,  3.16,    10.0, 31.6,    100.0};
static const double level[BB_MIXED_LEVELS] = {3e-7, 3e-5, 1e-3, 3e-2, 0.3};
/* Without ranges a target may vary by more than any level: were these believed then, what is
 * noise would be taken for slopes. */
static const double belief_ranged = 1.0, belief_unranged = 0.1;
static const double free_root = 10.0; /* standard deviation of the constant's weight */
/* Without ranges what few rows show of directions is rather the units that columns have got
 * than where models vary: a task of rows fewer than these, or than this part of features,
 * has none; nor do fewer tell slopes from a constant. */
static const size_t least_rows = 4;
static const double least_part = 0.3;
static const double centre_odds = 10.0; /* of one beyond doubt */
/* Logarithms: for a constant that is next to free; with ranges, of two rows at an end, against
 * all else. Without ranges, against one that is held, where there is such a kind; against a centre
 * that was found in units that tasks have or have not in common. */
static const double for_free = 2.0, against_far = 8.0;
static const double against_held = 3.0, against_common = 2.0, against_own = 4.0;
/* Alone: a penalty is around a usual one (bb_mixed_usual), hardly above ten times that or
 * below a hundredth of it, and the free constant is less likely by a factor e, which for_free,
 * left out of votes, more than makes good. Where rows were moved, columns and target vary by
 * thirds, and it is larger. */
static const double usual = 0.05, usual_moved = 1.0, decades_below = 2.0;
/* In units that tasks have in common: in units of a smaller one of its own a column would have a
 * slope that no prior holds where the next row is further away. */
static const double least_common = 0.03;
/* The variance, and the usual penalty, where rows are too few to tell. */
static const double usual_spread = 0.2;

double bb_mixed_noise(const bb_local *local, size_t k) {
    return level[k] + local->grain * local->grain / 12.0;
}

double bb_mixed_belief(const bb_mixed_board *mixed) {
    return mixed->unranged && !mixed->slopes ? belief_unranged : belief_ranged;
}

/* Whether a kind's constant is next to free. */
static bool is_free(size_t kind) {
    return kind == BB_MIXED_FREE || kind == BB_MIXED_OWN;
}

static bool is_restricted(const bb_mixed_board *mixed, const bb_local *local) {
    return mixed->slopes && mixed->unranged && mixed->constant && local->n > 0;
}

double bb_mixed_freedom(const bb_mixed_board *mixed, const bb_local *local,
                        bb_mixed_kind kind) {
    const size_t lost = is_restricted(mixed, local) && is_free(kind) ? 1 : 0;
    return (double)(local->n - lost) + bb_mixed_belief(mixed);
}

void bb_mixed_restrict(const bb_mixed_board *mixed, const bb_local *local,
                       bb_mixed_kind kind, const double *log_det, double *restricted) {
    memcpy(restricted, log_det, BB_MIXED_PENALTIES * sizeof *restricted);
    if (!is_free(kind) || !local->x || !is_restricted(mixed, local)) return;
    const double constant = free_root * local->x[local->d - 1];
    const double told = (double)local->n * constant * constant;
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++)
        restricted[l] -= log1p(told / bb_mixed_penalty[l]);
}

/* The variance of a task's rows around their mean, all features together. */
static double spread_of(const bb_local *local, double *work) {
    const size_t d = local->d;
    if (local->n < 3) return usual_spread;
    const double squares = bb_local_squares(local, d, work), n = (double)local->n;
    const double spread = (squares - bb_dot(d, work, work) / n) / n;
    return spread > 1e-12 ? spread : usual_spread;
}

/* The penalty that is usual for such rows: that part of the geometric mean of their variance
 * and of their features' square, the constant left out. Where ranges are too wide both
 * are small, and so is a model's penalty. Where features hardly change within a task the
 * variance alone is, and slopes that it would leave free err by factors. */
double bb_mixed_usual(const bb_mixed_board *mixed, const bb_local *local,
                      double *work) {
    const bool moved = mixed->unranged && mixed->units.state;
    const double part = moved ? usual_moved : usual;
    if (local->n < 3) return usual_spread;
    const double spread = spread_of(local, work);
    const double squares = bb_local_squares(local, local->d - 1, NULL);
    return part * sqrt(spread * fmax(spread, squares / (double)local->n));
}

double bb_mixed_least_deviation(const bb_mixed_board *mixed, size_t k) {
    const bool common = !mixed->unranged || bb_units_has(&mixed->units, k);
    return common ? least_common / sqrt((double)mixed->d) : 0.0;
}

/* Whether a task has rows enough for columns in units of its own. */
static bool has_own_scores(const bb_local *local) {
    return local->x && local->n > local->d;
}

bool bb_mixed_knows_slopes(const bb_mixed_board *mixed, const bb_local *local) {
    return !mixed->unranged || local->n >= least_rows;
}

bool bb_mixed_suits(const bb_mixed_board *mixed, const bb_local *local,
                    bb_mixed_kind kind) {
    if (kind == BB_MIXED_OWN) return has_own_scores(local);
    if (is_free(kind) || !mixed->unranged) return true;
    if (kind < BB_MIXED_ONCE) return !mixed->level || local->n >= least_rows;
    return local->n >= least_rows && (double)local->n >= least_part * (double)local->d;
}

bool bb_mixed_can(const bb_mixed_board *mixed, const bb_local *local,
                  bb_mixed_kind kind) {
    return bb_mixed_has(mixed, 2 * kind + 1) && bb_mixed_suits(mixed, local, kind);
}

size_t bb_mixed_covariance_room(const bb_local *local) {
    const size_t d = local->d;
    return has_own_scores(local) ? d + d * d : d;
}

/* Slopes are of columns in units of their deviation, and what is next to free is the
 * level at the rows' mean: no column's unit or place matters. */
static bb_covariance own_scores(const bb_mixed_board *mixed, const bb_local *local,
                                double *root) {
    const size_t n = local->n, d = local->d, last = d - 1;
    double *basis = root + d, *mean = basis + last * d;
    memset(root, 0, (d + d * d) * sizeof *root);
    for (size_t j = 0; j < n; j++) bb_axpy(d, 1.0 / (double)n, local->x + j * d, mean);
    for (size_t j = 0; j < n; j++)
        for (size_t a = 0; a < last; a++) {
            const double from = local->x[j * d + a] - mean[a];
            root[a] += from * from / (double)n;
        }
    for (size_t a = 0; a < last; a++) {
        const double deviation = sqrt(root[a]);
        const bool varies = bb_own_units_vary(local, deviation, mean[a]);
        const double least = bb_mixed_least_deviation(mixed, a);
        root[a] = varies ? 1.0 / (fmax(deviation, least) * sqrt((double)d)) : 0.0;
        basis[a * d + a] = 1.0;
        basis[a * d + last] = -mean[a] / mean[last];
        mean[a] = 0.0;
    }
    basis[last * d + last] = 1.0;
    root[last] = free_root;
    return (bb_covariance){basis, root};
}

bb_covariance bb_mixed_covariance(const bb_mixed_board *mixed, const bb_local *local,
                                  bb_mixed_kind kind, double *root) {
    const size_t d = mixed->d;
    if (kind == BB_MIXED_PLAIN) return (bb_covariance){NULL, NULL};
    if (kind == BB_MIXED_OWN) return own_scores(mixed, local, root);
    const double held = kind == BB_MIXED_HELD ? sqrt(spread_of(local, root)) : 1.0;
    for (size_t a = 0; a < d; a++) {
        root[a] = 1.0;
        if (kind == BB_MIXED_ONCE) root[a] = sqrt(mixed->variance[a]);
        if (kind == BB_MIXED_TWICE) root[a] = mixed->variance[a];
    }
    if (kind == BB_MIXED_FREE) root[d - 1] = free_root;
    if (kind == BB_MIXED_HELD) root[d - 1] = held;
    return (bb_covariance){kind < BB_MIXED_ONCE ? NULL : mixed->basis, root};
}

/* Decades by which penalty l is above the one that is usual for the kind. */
double bb_mixed_decades_above(size_t kind, size_t l, double own_usual) {
    return log10(bb_mixed_penalty[l] / (kind == BB_MIXED_OWN ? usual : own_usual));
}

/* A centre that stands far out is likelier than none, with any penalty; one that may be
 * noise is not, and around it penalties are as likely as they are alone. */
double bb_mixed_log_prior_above(const bb_mixed_board *mixed, size_t group,
                                double above) {
    const size_t kind = group / 2;
    const double far = above < 0.0 ? above / decades_below : above;
    if (group % 2 == 0)
        return mixed->sure * log(centre_odds) - 0.5 * far * far * (1.0 - mixed->sure);
    return (is_free(kind) ? -1.0 : 0.0) - 0.5 * far * far;
}

/* Zero, the middle of a range, is no level that a target is likely to have, and a few rows
 * cannot tell; less so in units that nobody has chosen, nor is a centre worth as much there. */
double bb_mixed_log_level(const bb_mixed_board *mixed, size_t group) {
    const size_t kind = group / 2;
    const bool around = group % 2 == 0;
    double odds = 0.0;
    if (mixed->unranged && around)
        odds -= mixed->units.unit ? against_common : against_own;
    if (!mixed->constant) return odds;
    if (is_free(kind))
        odds += around ? 0.0 : for_free;
    else if (mixed->unranged && kind < BB_MIXED_ONCE)
        odds -= against_held;
    return odds;
}

/* Two rows far from the middle are explained as well by slopes, which then err as far where the
 * next row is another, or around a centre that is not there yet. */
double bb_mixed_log_far(const bb_mixed_board *mixed, const bb_local *local,
                        size_t group) {
    const bool around = group % 2 == 0;
    if (mixed->unranged || !mixed->constant || local->n != 2) return 0.0;
    if (!around && is_free(group / 2)) return 0.0;
    const double there = mixed->sure * (1.0 - mixed->still);
    const double mean = 0.5 * (local->y[0] + local->y[1]);
    return -against_far * fmin(1.0, mean * mean) * (around ? 1.0 - there : 1.0);
}

double bb_mixed_log_prior(const bb_mixed_board *mixed, size_t group, size_t l,
                          double own_usual) {
    return bb_mixed_log_prior_above(mixed, group,
                                    bb_mixed_decades_above(group / 2, l, own_usual));
}
