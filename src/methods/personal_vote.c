#include "methods/personal_vote.h"

#include "linalg/linalg.h"

#include <math.h>

const double bb_vote_share = 0.05, bb_vote_around_share = 0.1;
const bb_vote_trust bb_vote_usual = {40.0, 1.0}, bb_vote_around = {150.0, 1.5};
/* Logarithms: how much worse than the best a candidate may be said to be. */
static const double worst_odds = 3.0;
/* Log odds of fits that count as one. */
static const double unit_of_fits = 3.0;

bool bb_vote_is_heard(const bb_public *pub, double mu, size_t cells) {
    const double noise = bb_form_sensitivity(BB_FORM_VECTOR, pub->adjacency) / mu;
    return (double)pub->tasks > noise * sqrt((double)cells);
}

void bb_vote_plan(bb_plan *plan, uint32_t at, double share) {
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
                  bb_vote_trust trust, size_t tasks, double *odds) {
    double mean = 0.0, count = 0.0, squares = 0.0, best = -INFINITY;
    for (size_t k = 0; k < cells; k++) {
        if (is[k]) mean += sum[k];
        count += is[k];
    }
    mean /= count;
    for (size_t k = 0; k < cells; k++)
        if (is[k]) squares += (sum[k] - mean) * (sum[k] - mean);
    const double excess = (count - 1.0) * noise * noise;
    const double most = fmin(trust.tasks / (double)tasks, trust.noise / noise);
    const double weight = squares > excess ? (1.0 - excess / squares) * most : 0.0;
    for (size_t k = 0; k < cells; k++) {
        odds[k] = is[k] ? weight * (sum[k] - mean) : 0.0;
        if (is[k]) best = fmax(best, odds[k]);
    }
    for (size_t k = 0; k < cells; k++)
        if (is[k]) odds[k] -= best;
}

void bb_vote_show_fits(const bb_local *local, const bb_personal_public *known,
                       double *vote, double *work) {
    double evidence[BB_PERSONAL_CELLS];
    if (local->n > 0 && !bb_personal_squared_evidence(local, known, evidence, work))
        bb_vote_show(BB_PERSONAL_CELLS, evidence, unit_of_fits, vote);
}

void bb_vote_take_fits(const bb_public *pub, const bb_personal_public *known,
                       const bb_release *release, bb_vote_trust trust, double *odds) {
    bool is[BB_PERSONAL_CELLS];
    bb_personal_squared_cells(pub->features, known, is);
    bb_vote_take(BB_PERSONAL_CELLS, is, release->value[0], release->noise[0], trust,
                 pub->tasks, odds);
}
