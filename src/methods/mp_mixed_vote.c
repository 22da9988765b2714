/* What tasks vote on in mp-mixed, and what their noisy sums make of the odds. A vote has
 * few numbers, since the noise of each is the same. */
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"
#include "methods/personal_vote.h"

#include <math.h>
#include <string.h>

/* What a vote may make of a step between penalties, a logarithm. */
static const double worst_odds = 3.0;
/* Penalties are voted on by powers of ten, from the one of this index on: every second. */
enum { FIRST = 4, STRIDE = 2 };
/* What is believed of a sum before it is seen, of the most that it can be, and how far
 * tasks are that do not quite agree, of their number. */
static const double usual_sum = 0.5, unlike = 0.03;
/* ln of Phi(z) / Phi(-z) is about this times z. */
static const double logit_of_normal = 1.7;

double bb_mixed_log_sum(const double *x, size_t count) {
    double most = -INFINITY, sum = 0.0, part[BB_MIXED_CELLS];
    for (size_t k = 0; k < count; k++) most = x[k] > most ? x[k] : most;
    if (most == -INFINITY) return most;
    for (size_t from = 0, size; from < count; from += size) {
        size = count - from < BB_MIXED_CELLS ? count - from : BB_MIXED_CELLS;
        for (size_t k = 0; k < size; k++) part[k] = x[from + k] - most;
        sum += bb_exp(size, part);
    }
    return most + log(sum);
}

/* -- odds of penalties -- */

/* The logarithm at penalty l, at most 0. */
static double penalty_odds(const double *rise, size_t l) {
    double here = 0.0, sum = 0.0, most = 0.0;
    for (size_t k = 0; k < BB_MIXED_STEPS; k++) {
        const double past = ((double)l - FIRST) / STRIDE - (double)k;
        here += rise[k] * fmin(1.0, fmax(0.0, past));
        sum += rise[k];
        most = fmax(most, sum);
    }
    return here - most;
}

/* Whose penalties are voted on: around the centre (0), or around zero (1). */
static size_t side_of(const bb_mixed_board *mixed) {
    return mixed->found ? 0 : 1;
}

double bb_mixed_group_odds(const bb_mixed_board *mixed, size_t group) {
    return mixed->group[group] + bb_mixed_log_unranged(mixed, group);
}

double bb_mixed_odds(const bb_mixed_board *mixed, size_t group, size_t l) {
    const double odds = bb_mixed_group_odds(mixed, group);
    if (group % 2 != side_of(mixed) || group / 2 == BB_MIXED_OWN) return odds;
    return odds + penalty_odds(mixed->rise, l);
}

/* -- at home -- */

void bb_mixed_show_groups(const double *evidence, double *vote) {
    double score[BB_MIXED_GROUPS];
    for (size_t g = 0; g < BB_MIXED_GROUPS; g++)
        score[g] = bb_mixed_log_sum(evidence + g * BB_MIXED_CELLS, BB_MIXED_CELLS);
    bb_vote_show(BB_MIXED_GROUPS, score, 1.0, vote);
}

/* What a task's rows alone say for penalty l around the centre (side 0) or around zero
 * (side 1): its prior is everybody's, and counted m times over it would be all that is
 * heard. */
static double for_penalty(const bb_mixed_board *mixed, const double *evidence,
                          double usual, size_t side, size_t l) {
    double each[BB_MIXED_KINDS];
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        const size_t group = 2 * kind + side;
        each[kind] = -INFINITY;
        if (kind == BB_MIXED_OWN) continue; /* in units of its own */
        const double *at = evidence + group * BB_MIXED_CELLS + l * BB_MIXED_LEVELS;
        each[kind] = mixed->group[group] + bb_mixed_log_sum(at, BB_MIXED_LEVELS) -
                     bb_mixed_log_prior(mixed, group, l, usual);
    }
    return bb_mixed_log_sum(each, BB_MIXED_KINDS);
}

void bb_mixed_show_penalties(const bb_mixed_board *mixed, const double *evidence,
                             double usual, double *vote) {
    const size_t side = side_of(mixed);
    double before = for_penalty(mixed, evidence, usual, side, FIRST);
    for (size_t k = 0; k < BB_MIXED_STEPS; k++) {
        const double next =
            for_penalty(mixed, evidence, usual, side, FIRST + (k + 1) * STRIDE);
        vote[k] = fmin(1.0, fmax(-1.0, next - before)) / sqrt(BB_MIXED_STEPS);
        before = next;
    }
}

/* -- answers -- */

void bb_mixed_take_penalties(const bb_release *release, size_t tasks, double *rise) {
    const double all = (double)tasks, usual = usual_sum * all / sqrt(BB_MIXED_STEPS);
    const double noise = hypot(release->noise[0], unlike * all);
    for (size_t k = 0; k < BB_MIXED_STEPS; k++) {
        const double z = release->value[0][k] * usual / (noise * hypot(noise, usual));
        rise[k] = fmin(worst_odds, fmax(-worst_odds, logit_of_normal * z));
    }
}
