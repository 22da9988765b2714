/* What tasks vote on in mp-mixed, and what their noisy sums make of the odds. A vote has
 * few numbers, since the noise of each is the same. */
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"

#include <math.h>
#include <string.h>

static const double worst_odds =
    3.0;                          /* logarithm: how bad the worst may be said to be */
static const double trust = 40.0; /* tasks that a vote may count for */

double bb_mixed_log_sum(const double *x, size_t count) {
    double most = -INFINITY, sum = 0.0;
    for (size_t k = 0; k < count; k++) most = fmax(most, x[k]);
    if (most == -INFINITY) return most;
    for (size_t k = 0; k < count; k++) sum += exp(x[k] - most);
    return most + log(sum);
}

/* -- shapes over a grid -- */

/* A line, or a parabola, over `count` points: of length 1, orthogonal to each other and
 * to a constant. */
static double line(size_t count, size_t k) {
    const double n = (double)count, x = (double)k - 0.5 * (n - 1.0);
    return x / sqrt(n * (n * n - 1.0) / 12.0);
}

static double parabola(size_t count, size_t k) {
    const double n = (double)count, x = (double)k - 0.5 * (n - 1.0);
    return (x * x - (n * n - 1.0) / 12.0) /
           sqrt(n * (n * n - 1.0) * (n * n - 4.0) / 180.0);
}

static double shape_odds(const double *shape, size_t count, size_t k) {
    return shape[0] * line(count, k) + shape[1] * parabola(count, k);
}

double bb_mixed_odds(const bb_mixed_board *mixed, size_t fit) {
    const size_t group = fit / BB_MIXED_CELLS, cell = fit % BB_MIXED_CELLS;
    const double *side = mixed->shape + (group % 2 == 0 ? 0 : 2);
    return mixed->group[group] +
           shape_odds(side, BB_MIXED_PENALTIES, cell / BB_MIXED_LEVELS) +
           shape_odds(mixed->shape + 4, BB_MIXED_LEVELS, cell % BB_MIXED_LEVELS);
}

/* The line and the parabola in log odds over a grid; zeros without candidates. */
static void project(size_t count, const double *score, double *shape) {
    double most = -INFINITY;
    for (size_t k = 0; k < count; k++) most = fmax(most, score[k]);
    if (most == -INFINITY) return;
    for (size_t k = 0; k < count; k++) {
        const double odds = fmax(score[k] - most, -worst_odds);
        shape[0] += odds * line(count, k);
        shape[1] += odds * parabola(count, k);
    }
}

/* -- at home -- */

static void into_unit_ball(size_t count, double *vote) {
    const double norm = bb_norm(count, vote);
    if (norm > 1.0) bb_scale(count, 1.0 / norm, vote);
}

void bb_mixed_show_groups(const double *evidence, double *vote) {
    double score[BB_MIXED_GROUPS], most = -INFINITY, mean = 0.0, candidates = 0.0;
    for (size_t g = 0; g < BB_MIXED_GROUPS; g++) {
        score[g] = bb_mixed_log_sum(evidence + g * BB_MIXED_CELLS, BB_MIXED_CELLS);
        most = fmax(most, score[g]);
    }
    for (size_t g = 0; g < BB_MIXED_GROUPS; g++) {
        vote[g] = 0.0;
        if (score[g] == -INFINITY) continue;
        vote[g] = fmax(score[g] - most, -worst_odds);
        mean += vote[g];
        candidates++;
    }
    for (size_t g = 0; g < BB_MIXED_GROUPS; g++)
        if (score[g] != -INFINITY) vote[g] -= mean / candidates;
    into_unit_ball(BB_MIXED_GROUPS, vote);
}

/* What speaks for penalty l around the centre (side 0) or around zero (side 1). */
static double for_penalty(const bb_mixed_board *mixed, const double *evidence,
                          size_t side, size_t l) {
    double each[BB_MIXED_KINDS];
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        const size_t group = 2 * kind + side;
        const double *at = evidence + group * BB_MIXED_CELLS + l * BB_MIXED_LEVELS;
        each[kind] = mixed->group[group] + bb_mixed_log_sum(at, BB_MIXED_LEVELS);
    }
    return bb_mixed_log_sum(each, BB_MIXED_KINDS);
}

static double for_level(const bb_mixed_board *mixed, const double *evidence,
                        size_t level) {
    double each[BB_MIXED_GROUPS * BB_MIXED_PENALTIES];
    for (size_t k = 0; k < BB_MIXED_GROUPS * BB_MIXED_PENALTIES; k++)
        each[k] = mixed->group[k / BB_MIXED_PENALTIES] +
                  evidence[k * BB_MIXED_LEVELS + level];
    return bb_mixed_log_sum(each, BB_MIXED_GROUPS * BB_MIXED_PENALTIES);
}

void bb_mixed_show_shapes(const bb_mixed_board *mixed, const double *evidence,
                          double *vote) {
    double score[BB_MIXED_PENALTIES];
    memset(vote, 0, BB_MIXED_SHAPES * sizeof *vote);
    for (size_t side = 0; side < 2; side++) {
        for (size_t l = 0; l < BB_MIXED_PENALTIES; l++)
            score[l] = for_penalty(mixed, evidence, side, l);
        project(BB_MIXED_PENALTIES, score, vote + 2 * side);
    }
    for (size_t k = 0; k < BB_MIXED_LEVELS; k++)
        score[k] = for_level(mixed, evidence, k);
    project(BB_MIXED_LEVELS, score, vote + 4);
    into_unit_ball(BB_MIXED_SHAPES, vote);
}

/* -- answers -- */

/* What a sum counts for: its noise may decide about as much as one task, and no sum more
 * than `trust` tasks. squares: of the sum; free: of how many numbers. */
static double weight_of(double squares, double free, double noise, size_t tasks) {
    const double excess = free * noise * noise;
    if (squares <= excess) return 0.0;
    return (1.0 - excess / squares) *
           fmin(noise > 0.0 ? 1.0 / noise : INFINITY, trust / (double)tasks);
}

void bb_mixed_take_groups(const bb_release *release, size_t tasks, const bool *is,
                          double *odds) {
    const double *sum = release->value[0];
    double mean = 0.0, candidates = 0.0, squares = 0.0, most = -INFINITY;
    for (size_t g = 0; g < BB_MIXED_GROUPS; g++) {
        if (!is[g]) continue;
        mean += sum[g];
        candidates++;
    }
    mean /= candidates;
    for (size_t g = 0; g < BB_MIXED_GROUPS; g++)
        if (is[g]) squares += (sum[g] - mean) * (sum[g] - mean);
    const double weight =
        weight_of(squares, candidates - 1.0, release->noise[0], tasks);
    for (size_t g = 0; g < BB_MIXED_GROUPS; g++)
        if (is[g]) most = fmax(most, weight * (sum[g] - mean));
    for (size_t g = 0; g < BB_MIXED_GROUPS; g++)
        odds[g] = is[g] ? weight * (sum[g] - mean) - most : 0.0;
}

void bb_mixed_take_shapes(const bb_release *release, size_t tasks, double *odds) {
    const double *sum = release->value[0];
    const double weight = weight_of(bb_dot(BB_MIXED_SHAPES, sum, sum), BB_MIXED_SHAPES,
                                    release->noise[0], tasks);
    for (size_t k = 0; k < BB_MIXED_SHAPES; k++) odds[k] = weight * sum[k];
}
