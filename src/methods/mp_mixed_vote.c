/* What tasks vote on in mp-mixed, and what their noisy sums make of the odds. A vote has
 * few numbers, since the noise of each is the same. */
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"
#include "methods/personal_vote.h"

#include <math.h>

/* What a vote may make of a step between penalties, a logarithm. */
static const double worst_odds = 3.0;
/* Penalties are voted on by powers of ten, from the one of this index on: every second. */
enum { FIRST = 4, STRIDE = 2 };
/* What is believed of a sum before it is seen, of the most that it can be, and how far
 * tasks are that do not quite agree. */
static const double usual_sum = 0.5, unlike = 0.067;
/* Of the largest odds that any penalty has, what all that was voted on gives away again: tasks
 * may believe in what was not. */
static const double given_away = 0.5;
/* ln of Phi(z) / Phi(-z) is about this times z. */
static const double logit_of_normal = 1.7;

static double largest(const double *x, size_t count) {
    double most = -INFINITY;
    for (size_t k = 0; k < count; k++) most = x[k] > most ? x[k] : most;
    return most;
}

double bb_mixed_log_sum(const double *x, size_t count) {
    const double most = largest(x, count);
    double sum = 0.0, part[BB_MIXED_CELLS];
    if (most == -INFINITY) return most;
    for (size_t from = 0, size; from < count; from += size) {
        size = count - from < BB_MIXED_CELLS ? count - from : BB_MIXED_CELLS;
        for (size_t k = 0; k < size; k++) part[k] = x[from + k] - most;
        sum += bb_exp(size, part);
    }
    return most + log(sum);
}

void bb_mixed_shares(double *x, size_t count) {
    const double most = largest(x, count);
    for (size_t k = 0; k < count; k++) x[k] -= most;
    const double sum = bb_exp(count, x);
    for (size_t k = 0; k < count; k++) x[k] /= sum;
}

/* -- odds -- */

/* Own scores are in units that nobody else has. */
static bool is_voted(size_t kind) {
    return kind != BB_MIXED_OWN;
}

/* Whose penalties are voted on: around the centre (0), or around zero (1). */
static size_t side_of(const bb_mixed_board *mixed) {
    return mixed->found ? 0 : 1;
}

/* odds (BB_MIXED_PENALTIES) <- logarithms, of numbers that are one on average. */
static void penalty_odds(const double *rise, double *odds) {
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) {
        odds[l] = 0.0;
        for (size_t k = 0; k < BB_MIXED_STEPS; k++) {
            const double past = ((double)l - FIRST) / STRIDE - (double)k;
            odds[l] += rise[k] * fmin(1.0, fmax(0.0, past));
        }
    }
    const double all = bb_mixed_log_sum(odds, BB_MIXED_PENALTIES);
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++)
        odds[l] += log(BB_MIXED_PENALTIES) - all;
}

double bb_mixed_group_odds(const bb_mixed_board *mixed, size_t group) {
    return mixed->group[group] + bb_mixed_log_level(mixed, group);
}

void bb_mixed_odds(const bb_mixed_board *mixed, double *odds) {
    for (size_t group = 0; group < BB_MIXED_GROUPS; group++) {
        const size_t kind = group / 2;
        const bool voted = group % 2 == side_of(mixed) && is_voted(kind);
        const double all = bb_mixed_group_odds(mixed, group);
        for (size_t l = 0; l < BB_MIXED_PENALTIES; l++)
            *odds++ = voted ? all + mixed->penalty[l] : all;
    }
}

/* -- at home -- */

/* What a task's rows alone say for penalty l: priors are everybody's, and counted m times over
 * they would be all that is heard. */
static double for_penalty(const bb_mixed_board *mixed, const double *evidence,
                          double usual, size_t l) {
    double of[BB_MIXED_KINDS];
    for (size_t kind = 0; kind < BB_MIXED_KINDS; kind++) {
        const size_t group = 2 * kind + side_of(mixed);
        const double *at = evidence + group * BB_MIXED_CELLS + l * BB_MIXED_LEVELS;
        of[kind] = is_voted(kind) ? bb_mixed_log_sum(at, BB_MIXED_LEVELS) -
                                        bb_mixed_log_prior(mixed, group, l, usual)
                                  : -INFINITY;
    }
    return bb_mixed_log_sum(of, BB_MIXED_KINDS);
}

void bb_mixed_show_penalties(const bb_mixed_board *mixed, const double *evidence,
                             double usual, double *vote) {
    double before = for_penalty(mixed, evidence, usual, FIRST);
    for (size_t k = 0; k < BB_MIXED_STEPS; k++) {
        const double next =
            for_penalty(mixed, evidence, usual, FIRST + (k + 1) * STRIDE);
        vote[k] = fmin(1.0, fmax(-1.0, next - before)) / sqrt(BB_MIXED_STEPS);
        before = next;
    }
}

void bb_mixed_show_groups(const bb_mixed_board *mixed, const double *evidence,
                          double *vote) {
    double score[BB_MIXED_GROUPS], cell[BB_MIXED_CELLS];
    double odds[BB_MIXED_GROUPS * BB_MIXED_PENALTIES];
    bb_mixed_odds(mixed, odds);
    for (size_t g = 0; g < BB_MIXED_GROUPS; g++) {
        const double *of = odds + g * BB_MIXED_PENALTIES;
        for (size_t k = 0; k < BB_MIXED_CELLS; k++)
            cell[k] = evidence[g * BB_MIXED_CELLS + k] + of[k / BB_MIXED_LEVELS];
        score[g] =
            bb_mixed_log_sum(cell, BB_MIXED_CELLS) - bb_mixed_log_level(mixed, g);
    }
    bb_vote_show(BB_MIXED_GROUPS, score, 1.0, vote);
}

/* -- answers -- */

/* Log odds of a step upward are those of the normal probability that the sum without noise is
 * above zero. */
void bb_mixed_take_penalties(const bb_release *release, size_t tasks, double *penalty) {
    const double all = (double)tasks / sqrt(BB_MIXED_STEPS);
    const double noise = hypot(release->noise[0], unlike * all);
    const double square = usual_sum * all * usual_sum * all;
    const double told = square / (square + noise * noise);
    double rise[BB_MIXED_STEPS];
    for (size_t k = 0; k < BB_MIXED_STEPS; k++) {
        const double z = sqrt(told) * release->value[0][k] / noise;
        rise[k] = fmin(worst_odds, fmax(-worst_odds, logit_of_normal * z));
    }
    penalty_odds(rise, penalty);
    const double most = largest(penalty, BB_MIXED_PENALTIES);
    for (size_t l = 0; l < BB_MIXED_PENALTIES; l++) penalty[l] -= given_away * most;
}
