#include "core/phases.h"

#include <math.h>
#include <string.h>

/* What a phase has of mu^2 where nobody says, of what is left by those that were told; < 0:
 * as much as others. */
static double own_part(const bb_run *run, const bb_phase *phase) {
    const bb_view view = {phase->method, phase->options, &run->pub, NULL, NULL};
    return phase->method->part ? phase->method->part(&view) : -1.0;
}

/* What each phase has of mu^2, all of it together (bb_run_check): the first of those
 * that say nothing has what the others leave. */
static void divide(const bb_run *run, double *share) {
    double told = 0.0, own = 0.0, others = 0.0;
    size_t without = 0, first = run->phases;
    for (size_t k = 0; k < run->phases; k++) told += run->phase[k].share;
    for (size_t k = 0; k < run->phases; k++) {
        const bb_phase *phase = &run->phase[k];
        share[k] = phase->share;
        if (phase->method->kind == BB_METHOD_ALONE || phase->share > 0.0) continue;
        share[k] = own_part(run, phase) * (1.0 - told);
        if (share[k] >= 0.0)
            own += share[k];
        else if (without++ == 0)
            first = k;
    }
    for (size_t k = 0; k < run->phases; k++) {
        if (share[k] < 0.0 && k != first)
            share[k] = (1.0 - told - own) / (double)without;
        if (k != first) others += share[k];
    }
    if (without) share[first] = 1.0 - others;
    for (size_t k = 0; k < run->phases && !without && others > 0.0; k++)
        share[k] /= others;
}

bb_run bb_run_priced(const bb_run *asked) {
    bb_run run = *asked;
    const bool noise = bb_mechanism_is_noisy(run.mechanism);
    run.pub.epsilon = noise ? run.pub.epsilon : INFINITY;
    run.pub.delta = noise ? run.pub.delta : 0.0;
    run.pub.mu = noise ? bb_gdp_mu(run.pub.epsilon, run.pub.delta) : INFINITY;
    run.pub.as_published = run.mechanism->pricing == BB_PRICE_PUBLISHED;
    if (!run.pub.outputs) run.pub.outputs = 1;
    if (!run.pub.clusters) run.pub.clusters = 1;
    if (!run.pub.parameters) run.pub.parameters = run.pub.features;
    return run;
}

bb_status bb_phases_open(bb_phases *phases, const bb_run *asked, const double *shared) {
    double share[BB_MOST_PHASES] = {0};
    *phases = (bb_phases){.count = 0};
    const bb_status status = bb_run_check(asked);
    if (status) return status;
    phases->run = bb_run_priced(asked);
    const bb_run *run = &phases->run;
    phases->count = run->phases;
    divide(run, share);
    for (size_t k = 0; k < phases->count; k++) {
        const bb_phase *phase = &run->phase[k];
        bb_public *pub = &phases->pub[k];
        *pub = run->pub;
        pub->phase = k;
        pub->rounds = phase->rounds;
        if (phases->count > 1)
            pub->mu = share[k] > 0.0 ? sqrt(share[k]) * pub->mu : 0.0;
        phases->starts[k] =
            k ? phases->starts[k - 1] || run->phase[k - 1].method->shared != NULL
              : run->pub.start != NULL;
        if (k) pub->start = phases->starts[k] ? shared : NULL;
        phases->part[k] =
            (bb_plan_part){.view = {phase->method, phase->options, pub, NULL, NULL},
                           .share = share[k]};
    }
    return BB_OK;
}

bb_status bb_phases_plan(bb_phases *phases) {
    return bb_plan_join(&phases->plan, &phases->run.pub, phases->count, phases->part,
                        phases->run.mechanism->pricing);
}

bb_status bb_phases_check(const bb_phases *phases) {
    const bb_plan *plan = &phases->plan;
    bb_plan_part part[BB_MOST_PHASES];
    bb_plan asked = {0};
    memcpy(part, phases->part, sizeof part);
    const bb_status status = bb_plan_ask(&asked, phases->count, part);
    if (status) return status;
    bool same = asked.rounds == plan->rounds && asked.forms == plan->forms &&
                asked.show_length == plan->show_length &&
                asked.sum_length == plan->sum_length &&
                asked.outer_length == plan->outer_length &&
                asked.lifted_rows == plan->lifted_rows;
    for (size_t k = 0; k < phases->count; k++)
        same = same && part[k].rounds == phases->part[k].rounds &&
               part[k].from == phases->part[k].from;
    bb_plan_free(&asked);
    if (same) return BB_OK;
    return bb_fail(BB_EDATA, "an offer whose plan is not what its methods ask for");
}

/* Machines round differently, and of many events the search for a budget ends where epsilon is
 * met that closely (account_calibrate.c). */
static const double passed_over = 1e-6;

/* An offered budget that buys no less noise than the one that is due. */
static bool is_at_most(double offered, double due) {
    return offered >= 0.0 && offered <= due * (1.0 + passed_over);
}

/* Both have these rounds. */
static bb_status compare_prices(const bb_plan *offered, const bb_plan *due) {
    const bool rows = due->instance != NULL;
    if (rows != (offered->instance != NULL) ||
        offered->lifted_rows != due->lifted_rows ||
        offered->instance_broken != due->instance_broken ||
        !is_at_most(offered->instance_epsilon, due->instance_epsilon) ||
        !is_at_most(offered->instance_delta, due->instance_delta))
        return bb_fail(BB_EDATA, "an offer that promises single rows less than its "
                                 "methods ask for");
    for (uint32_t t = 0; t < due->rounds; t++)
        if (!is_at_most(offered->mu[t], due->mu[t]) ||
            !is_at_most(offered->pure[t], due->pure[t]) ||
            (rows && !is_at_most(offered->instance[t], due->instance[t])))
            return bb_fail(BB_EDATA,
                           "an offer with less noise in round %u than its epsilon asks "
                           "for, as this silo's accountant counts",
                           t + 1);
    return BB_OK;
}

bb_status bb_phases_check_prices(bb_phases *phases) {
    bb_phases own;
    bb_status status = bb_phases_open(&own, &phases->run, NULL);
    if (!status) status = bb_phases_plan(&own);
    for (size_t k = 0; k < phases->count && !status; k++)
        if (own.part[k].rounds != phases->part[k].rounds ||
            own.part[k].from != phases->part[k].from ||
            !is_at_most(phases->pub[k].mu, own.pub[k].mu))
            status = bb_fail(BB_EDATA,
                             "an offer whose phase %zu is not what its share of the "
                             "budget asks for",
                             k + 1);
    if (!status) status = compare_prices(&phases->plan, &own.plan);
    bb_phases_close(&own);
    return status;
}

bb_ledger_charge bb_run_price(const bb_run *run, const bb_plan *plan) {
    return (bb_ledger_charge){.epsilon = run->pub.epsilon,
                              .delta = run->pub.delta,
                              .rounds = plan->rounds,
                              .mu = plan->mu,
                              .pure = plan->pure};
}

bb_status bb_run_check_ledger(const bb_run *run, const bb_plan *plan,
                              bb_ledger *ledger) {
    bb_phases own = {.count = 0};
    bb_status status = BB_OK;
    if (run->mechanism->pricing != BB_PRICE_GAUSSIAN)
        return BB_OK; /* it has no price */
    if (!plan) status = bb_phases_open(&own, run, NULL);
    if (!plan && !status) status = bb_phases_plan(&own);
    const bb_ledger_charge price = bb_run_price(run, plan ? plan : &own.plan);
    if (!status && price.rounds) status = bb_ledger_check(ledger, &price);
    bb_phases_close(&own);
    return status;
}

void bb_phases_close(bb_phases *phases) {
    bb_plan_free(&phases->plan);
    *phases = (bb_phases){0};
}

size_t bb_phases_most(const bb_phases *phases, size_t (*length)(const bb_view *view)) {
    size_t most = 0;
    for (size_t k = 0; k < phases->count; k++) {
        const size_t now = length(&phases->part[k].view);
        if (now > most) most = now;
    }
    return most;
}

static size_t board_length(const bb_view *view) {
    return view->method->board_length ? view->method->board_length(view) : 0;
}

size_t bb_phases_board(const bb_phases *phases) {
    return bb_phases_most(phases, board_length);
}
