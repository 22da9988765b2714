#include "methods/personal_vote.h"

#include "linalg/linalg.h"

#include <math.h>

static const double share = 0.05; /* of mu^2 */
/* Logarithms: how much worse than the best a candidate may be said to be. */
static const double worst_odds = 3.0;
static const double trust = 40.0; /* what a sum may count for, in tasks' whole votes */

bool bb_vote_is_heard(const bb_public *pub, size_t cells) {
    const double noise =
        bb_form_sensitivity(BB_FORM_VECTOR, pub->adjacency) / (pub->mu * sqrt(share));
    return (double)pub->tasks > noise * sqrt((double)cells);
}

void bb_vote_plan(bb_plan *plan, uint32_t at) {
    double squares = 0.0;
    for (uint32_t t = 0; t < plan->rounds; t++)
        if (t != at) squares += plan->step[t].weight * plan->step[t].weight;
    for (uint32_t t = at; t + 1 < plan->rounds; t++) plan->step[t] = plan->step[t + 1];
    plan->step[plan->rounds - 1] =
        (bb_step){.weight = sqrt(squares * share / (1.0 - share))};
}

bb_layout bb_vote_layout(size_t cells) {
    return (bb_layout){1, {{"vote on fits", BB_FORM_VECTOR, cells, 1.0, 1.0}}};
}

void bb_vote_show(size_t cells, const double *evidence, double unit, double *vote) {
    double most = -INFINITY, sum = 0.0, count = 0.0;
    for (size_t k = 0; k < cells; k++) most = fmax(most, evidence[k]);
    for (size_t k = 0; k < cells; k++) {
        if (evidence[k] == -INFINITY) continue;
        sum += vote[k] = fmax(evidence[k] - most, -worst_odds) / unit;
        count++;
    }
    for (size_t k = 0; k < cells; k++)
        vote[k] = evidence[k] == -INFINITY ? 0.0 : vote[k] - sum / count;
    const double norm = bb_norm(cells, vote);
    if (norm > 1.0) bb_scale(cells, 1.0 / norm, vote);
}

void bb_vote_take(size_t cells, const bool *is, const double *sum, double noise,
                  size_t tasks, double *odds) {
    double mean = 0.0, count = 0.0, squares = 0.0, most = -INFINITY;
    for (size_t k = 0; k < cells; k++) {
        if (is[k]) mean += sum[k];
        count += is[k];
    }
    mean /= count;
    for (size_t k = 0; k < cells; k++)
        if (is[k]) squares += (sum[k] - mean) * (sum[k] - mean);
    const double excess = (count - 1.0) * noise * noise;
    const double most_weight = trust / (double)tasks;
    const double weight =
        squares > excess ? (1.0 - excess / squares) * fmin(most_weight, 1.0 / noise)
                         : 0.0;
    for (size_t k = 0; k < cells; k++) {
        odds[k] = is[k] ? weight * (sum[k] - mean) : 0.0;
        if (is[k]) most = fmax(most, odds[k]);
    }
    for (size_t k = 0; k < cells; k++)
        if (is[k]) odds[k] -= most;
}
