/* One task's candidates of mp-mixed: what its rows say of each, and their average. */
#include "base/memory.h"
#include "learners/rows.h"
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"
#include "methods/ridge_tuned.h"

#include <math.h>
#include <string.h>

/* -- under one covariance -- */

typedef struct room {
    double *centre, *root, *path;
} room;

static room room_of(const bb_local *local, double *work) {
    double *root = work + local->d;
    return (room){work, root, root + bb_mixed_covariance_room(local)};
}

size_t bb_mixed_fits_work(const bb_local *local) {
    const size_t path = bb_mixed_covariance_room(local) + bb_ridge_path_length(local);
    const size_t tuned = local->d + bb_ridge_tuned_work(local);
    return 2 * local->d + bb_larger(path, tuned);
}

static bb_status open_kind(const bb_mixed_board *mixed, const bb_local *local,
                           bb_mixed_kind kind, bb_ridge_path *path, const room *r) {
    const bb_covariance c = bb_mixed_covariance(mixed, local, kind, r->root);
    return bb_ridge_path_open(path, local, &c, r->path);
}

/* The penalties beside the task's loss. */
static void penalties_of(const bb_local *local, double *own) {
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++)
        own[l] = local->weight * bb_mixed_penalty[l];
}

static void look(const bb_local *local, const bb_ridge_path *path,
                 const bb_mixed_measure *m) {
    double own[BB_MIXED_PENALTIES];
    penalties_of(local, own);
    bb_ridge_path_weigh(path, BB_MIXED_PENALTIES, own, m->log_det, m->rest);
    if (local->n > local->d)
        bb_ridge_path_left_out(path, BB_MIXED_PENALTIES, own, m->left_out);
}

/* share (BB_MIXED_PENALTIES) <- the sums over noise levels of what evidence (BB_MIXED_CELLS,
 * overwritten) makes of each. */
static void sum_levels(double *evidence, double *share) {
    bb_mixed_shares(evidence, BB_MIXED_CELLS);
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        share[l] = 0.0;
        for (size_t k = 0; k < BB_MIXED_LEVELS; k++)
            share[l] += evidence[l * BB_MIXED_LEVELS + k];
    }
}

/* The path keeps the sum over penalties of their share times their deviation from the
 * centre. */
static void keep_deviations(const bb_local *local, const bb_ridge_path *path,
                            const double *share) {
    double own[BB_MIXED_PENALTIES];
    penalties_of(local, own);
    bb_ridge_path_keep(path, BB_MIXED_PENALTIES, own, share);
}

bb_status bb_mixed_deviation(const bb_mixed_board *mixed, const bb_local *local,
                             bb_mixed_kind kind, const double *centre, double *u,
                             double *work) {
    const room r = room_of(local, work);
    double evidence[BB_MIXED_CELLS], share[BB_MIXED_PENALTIES];
    double log_det[BB_MIXED_PENALTIES], rest[BB_MIXED_PENALTIES];
    double left_out[BB_MIXED_PENALTIES];
    const bb_mixed_measure m = {log_det, rest, left_out};
    bb_ridge_path path;
    memset(u, 0, mixed->d * sizeof *u);
    const bb_status status = open_kind(mixed, local, kind, &path, &r);
    if (status) return status;
    bb_ridge_path_centre(&path, centre);
    look(local, &path, &m);
    bb_mixed_weigh(mixed, local, kind, &m, evidence);
    sum_levels(evidence, share);
    keep_deviations(local, &path, share);
    bb_ridge_path_add(&path, u);
    return BB_OK;
}

/* -- measures -- */

static const double *centre_of(const bb_mixed_board *mixed, size_t group) {
    return group % 2 == 0 ? mixed->centre : NULL;
}

/* above (BB_MIXED_PENALTIES): of the group's kind. */
static void add_priors(const bb_mixed_board *mixed, const bb_local *local, size_t group,
                       const double *above, double *cell) {
    const double far = bb_mixed_log_far(mixed, local, group);
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        const double prior = far + bb_mixed_log_prior_above(mixed, group, above[l]);
        for (size_t k = 0; k < BB_MIXED_LEVELS; k++) *cell++ += prior;
    }
}

/* A kind has how far the centre moves the rows, and its measures: BB_MIXED_PENALTIES
 * numbers of the matrix, and of every side one or two times as many. */
static size_t kind_length(const bb_local *local) {
    const size_t each = local->n > local->d ? 2 : 1;
    return 1 + (1 + each * BB_MIXED_SIDES) * (size_t)BB_MIXED_PENALTIES;
}

/* Kinds that this task may have, whatever is found. */
static bool may_have(const bb_mixed_board *mixed, const bb_local *local, size_t kind) {
    if (!bb_mixed_suits(mixed, local, (bb_mixed_kind)kind)) return false;
    if (kind == BB_MIXED_OWN) return mixed->constant;
    return kind < BB_MIXED_ONCE || mixed->can_turn;
}

size_t bb_mixed_measures_length(const bb_mixed_board *mixed, const bb_local *local) {
    size_t kinds = 0;
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++)
        kinds += may_have(mixed, local, kind);
    return kinds * kind_length(local);
}

/* Where what was seen of a kind begins: with ||X centre||^2. */
static double *seen_of(const bb_mixed_board *mixed, const bb_local *local,
                       double *measures, size_t kind) {
    double *at = measures;
    for (size_t before = 0; before < kind; before++)
        if (may_have(mixed, local, before)) at += kind_length(local);
    return at;
}
static bb_mixed_measure measure_of(double *seen, size_t side) {
    double *const log_det = seen + 1, *rest = log_det + BB_MIXED_PENALTIES;
    rest += side * BB_MIXED_PENALTIES;
    return (bb_mixed_measure){log_det, rest,
                              rest + BB_MIXED_SIDES * (size_t)BB_MIXED_PENALTIES};
}

/* A path's measures around the centre, none and the centre twice; the first and the last
 * where one was found. */
static void look_from(const bb_mixed_board *mixed, const bb_local *local,
                      bb_ridge_path *path, double *seen, double *centre) {
    double squares[BB_MIXED_SIDES] = {0};
    for (size_t side = 0; side < BB_MIXED_SIDES; side++) {
        const double times = side == BB_MIXED_TWO ? 2.0 : 1.0;
        const bb_mixed_measure m = measure_of(seen, side);
        if (side != BB_MIXED_NONE && !mixed->found) continue;
        for (size_t k = 0; side != BB_MIXED_NONE && k < mixed->d; k++)
            centre[k] = times * mixed->centre[k];
        bb_ridge_path_centre(path, side == BB_MIXED_NONE ? NULL : centre);
        look(local, path, &m);
        squares[side] = path->squares;
    }
    seen[0] = 0.5 * squares[BB_MIXED_NONE] - squares[BB_MIXED_ONE] +
              0.5 * squares[BB_MIXED_TWO];
}

bb_status bb_mixed_look(const bb_mixed_board *mixed, const bb_local *local,
                        double *measures, double *work) {
    const room r = room_of(local, work);
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        bb_ridge_path path;
        if (!bb_mixed_can(mixed, local, (bb_mixed_kind)kind)) continue;
        const bb_status status =
            open_kind(mixed, local, (bb_mixed_kind)kind, &path, &r);
        if (status) return status;
        if (local->n > 0)
            look_from(mixed, local, &path, seen_of(mixed, local, measures, kind),
                      r.centre);
    }
    return BB_OK;
}

/* What a task's rows say for a group that it has. length (BB_MIXED_CELLS; NULL: only the
 * one that was found) <- how long the centre is, times the one on the billboard. */
static void weigh_group(const bb_mixed_board *mixed, const bb_local *local,
                        double *seen, size_t group, double *cell, double *length) {
    double log_det[BB_MIXED_PENALTIES];
    bb_mixed_measure side[BB_MIXED_SIDES];
    for (size_t k = 0; k < BB_MIXED_SIDES; k++) {
        side[k] = measure_of(seen, k);
        side[k].log_det = log_det;
    }
    for (size_t k = 0; length && k < BB_MIXED_CELLS; k++)
        length[k] = group % 2 == 0 ? 1.0 : 0.0;
    if (local->n == 0) return;
    bb_mixed_restrict(mixed, local, (bb_mixed_kind)(group / 2),
                      measure_of(seen, 0).log_det, log_det);
    bb_mixed_weigh(mixed, local, (bb_mixed_kind)(group / 2), &side[group % 2], cell);
    if (length && group % 2 == 0)
        bb_mixed_weigh_lengths(mixed, local, (bb_mixed_kind)(group / 2), side, seen[0],
                               cell, length);
}

void bb_mixed_evidence(const bb_mixed_board *mixed, const bb_local *local, double usual,
                       double *measures, double *evidence, double *length) {
    double above[2][BB_MIXED_PENALTIES];
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        above[0][l] = bb_mixed_decades_above(BB_MIXED_PLAIN, l, usual);
        above[1][l] = bb_mixed_decades_above(BB_MIXED_OWN, l, usual);
    }
    for (size_t group = 0; group < BB_MIXED_GROUPS; group++) {
        double *cell = evidence + group * BB_MIXED_CELLS;
        const bool is = bb_mixed_can(mixed, local, (bb_mixed_kind)(group / 2)) &&
                        bb_mixed_has(mixed, group);
        for (size_t k = 0; k < BB_MIXED_CELLS; k++) cell[k] = is ? 0.0 : -INFINITY;
        if (!is) continue;
        weigh_group(mixed, local, seen_of(mixed, local, measures, group / 2), group,
                    cell, length ? length + group * BB_MIXED_CELLS : NULL);
        add_priors(mixed, local, group, above[group / 2 == BB_MIXED_OWN], cell);
    }
}

/* share (BB_MIXED_PENALTIES) <- what fits around the centre (side 0) or around none (1) have
 * of a kind's candidates, by their parts of the average: a fit around s times the centre is
 * s times the one and 1 - s times the other. */
static void sum_sides(const bb_mixed_board *mixed, const double *part,
                      const double *length, size_t kind, size_t side, double *share) {
    memset(share, 0, BB_MIXED_PENALTIES * sizeof *share);
    for (size_t group = 2 * kind; group < 2 * kind + 2; group++) {
        const double *cell = part + group * BB_MIXED_CELLS;
        const double *s = length + group * BB_MIXED_CELLS;
        if (!bb_mixed_has(mixed, group)) continue;
        for (size_t k = 0; k < BB_MIXED_CELLS; k++)
            share[k / BB_MIXED_LEVELS] += (side == 0 ? s[k] : 1.0 - s[k]) * cell[k];
    }
}

/* A kind that has less than this of the average is as good as none. */
static const double least_part = 1e-9;

static bool is_heard(const double *share) {
    double all = 0.0;
    for (size_t l = 0; l < 2 * BB_MIXED_PENALTIES; l++) all += fabs(share[l]);
    return all > least_part;
}

/* w <- the average of all candidates, by their parts. */
static bb_status average(const bb_mixed_board *mixed, const bb_local *local,
                         const double *part, const double *length, double *w,
                         double *work) {
    const room r = room_of(local, work);
    memset(w, 0, local->d * sizeof *w);
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        double share[2 * BB_MIXED_PENALTIES], *zero = share + BB_MIXED_PENALTIES;
        bb_ridge_path path;
        if (!bb_mixed_can(mixed, local, (bb_mixed_kind)kind)) continue;
        sum_sides(mixed, part, length, kind, 0, share);
        sum_sides(mixed, part, length, kind, 1, zero);
        const double around = bb_sum(BB_MIXED_PENALTIES, share);
        if (around != 0.0) bb_axpy(local->d, around, mixed->centre, w);
        if (local->n == 0 || !is_heard(share)) continue;
        const bb_status status =
            open_kind(mixed, local, (bb_mixed_kind)kind, &path, &r);
        if (status) return status;
        for (size_t side = 0; side < 2; side++) {
            if (!bb_mixed_has(mixed, 2 * kind + side)) continue;
            bb_ridge_path_centre(&path, centre_of(mixed, side));
            keep_deviations(local, &path, share + side * BB_MIXED_PENALTIES);
        }
        bb_ridge_path_add(&path, w);
    }
    return BB_OK;
}

/* -- what a task would tune alone -- */

/* Without ranges nobody knows which scale models have, and evidence, which goes by that, is
 * no better than rows that are left out: these have a say, the larger the more there are, from
 * four on. With ranges a smaller one, and hardly any where rows are fewer than features. */
static const double most_tuned = 0.7, most_tuned_ranged = 0.3;
/* What is left to all else goes with a power of what the tuned model misses, this one with many
 * rows: where hardly anything is left to be explained, no other candidate may be as far off as it
 * often is. With ranges, where others are nearer, that begins where it misses less than a part. */
static const double most_power = 0.5, missed_ranged = 0.5;

static double tuned_share(const bb_mixed_board *mixed, const bb_local *local,
                          double missed) {
    const double n = (double)local->n, told = fmin(1.0, n / (double)local->d);
    const double most = mixed->unranged ? most_tuned : most_tuned_ranged * told * told;
    const double share = n < 4.0 ? 0.0 : most * (n - 2.0) / (n + 1.0);
    const double power = fmax(fmin(n, 4.0) / 20.0, most_power * (1.0 - 4.0 / n));
    const double left = mixed->unranged ? missed : fmin(1.0, missed / missed_ranged);
    return 1.0 - (1.0 - share) * pow(fmax(left, 1e-9), power);
}

static bool can_tune(const bb_mixed_board *mixed, const bb_local *local) {
    return mixed->constant && bb_ridge_tuned_fits(local);
}

bb_status bb_mixed_tune(const bb_mixed_board *mixed, const bb_local *local,
                        const double *scale, bb_mixed_tuned *tuned, double *work) {
    double *least = work, missed;
    tuned->share = 0.0;
    if (!can_tune(mixed, local)) return BB_OK;
    for (size_t k = 0; k + 1 < local->d; k++) {
        least[k] = bb_mixed_least_deviation(mixed, k);
        if (scale && scale[k] > 0.0) least[k] /= scale[k];
    }
    const bb_status status =
        bb_ridge_tuned(local, least, tuned->w, &missed, work + local->d);
    if (!status) tuned->share = tuned_share(mixed, local, missed);
    return status;
}

/* Takes the tuned model's share of what fits have that look at nothing on the billboard, and
 * leaves the others to add up to one. */
static void take_share(bb_mixed_tuned *tuned, double *part) {
    const double share = tuned->share;
    double taken = 0.0;
    for (size_t kind = 0; share > 0.0 && kind < BB_MIXED_ONCE; kind++) {
        double *cell = part + (2 * kind + 1) * BB_MIXED_CELLS;
        for (size_t k = 0; k < BB_MIXED_CELLS; k++) {
            taken += share * cell[k];
            cell[k] -= share * cell[k];
        }
    }
    tuned->share = taken;
    if (taken > 0.0) bb_scale(BB_MIXED_FITS, 1.0 / (1.0 - taken), part);
}

bb_status bb_mixed_average(const bb_mixed_board *mixed, const bb_local *local,
                           double usual, double *measures, bb_mixed_tuned *tuned,
                           double *w, double *work) {
    double *score = work, *length = score + BB_MIXED_FITS;
    double odds[BB_MIXED_GROUPS * BB_MIXED_PENALTIES];
    bb_mixed_odds(mixed, odds);
    bb_mixed_evidence(mixed, local, usual, measures, score, length);
    for (size_t k = 0; k < BB_MIXED_FITS; k++) score[k] += odds[k / BB_MIXED_LEVELS];
    bb_mixed_shares(score, BB_MIXED_FITS);
    take_share(tuned, score);
    return average(mixed, local, score, length, w, length + BB_MIXED_FITS);
}

void bb_mixed_add_tuned(const bb_local *local, const bb_mixed_tuned *tuned, double *w) {
    if (!(tuned->share > 0.0)) return;
    bb_scale(local->d, 1.0 - tuned->share, w);
    bb_axpy(local->d, tuned->share, tuned->w, w);
}

/* -- where nothing is published -- */

/* What all tasks know then, and which votes there were: none. */
static bb_mixed_board empty_board(const bb_local *local, bool ranged) {
    static const double no_odds[BB_MIXED_GROUPS], no_penalty[BB_MIXED_PENALTIES];
    return (bb_mixed_board){.d = local->d,
                            .constant = true,
                            .unranged = !ranged,
                            .group = no_odds,
                            .penalty = no_penalty};
}

size_t bb_mixed_alone_work(const bb_local *local) {
    const bb_mixed_board mixed = empty_board(local, true);
    return bb_mixed_measures_length(&mixed, local) + 2 * BB_MIXED_FITS +
           bb_mixed_fits_work(local);
}

bb_status bb_mixed_alone(const bb_local *local, bool ranged, double *w, double *work) {
    const bb_mixed_board mixed = empty_board(local, ranged);
    double *measures = work;
    work += bb_mixed_measures_length(&mixed, local);
    const double usual = bb_mixed_usual(&mixed, local, work);
    bb_mixed_tuned tuned = {.w = work};
    work += local->d;
    bb_status status = bb_mixed_look(&mixed, local, measures, work);
    if (!status) status = bb_mixed_tune(&mixed, local, NULL, &tuned, work);
    if (!status)
        status = bb_mixed_average(&mixed, local, usual, measures, &tuned, w, work);
    if (!status) bb_mixed_add_tuned(local, &tuned, w);
    return status;
}
