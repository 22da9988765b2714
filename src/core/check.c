/* check.c - the runs that make sense. */
#include "core/run.h"

#include <stdio.h>
#include <string.h>

/* Whether the method is for this loss, and for networks. */
static bb_status check_loss(const bb_method *method, bb_loss loss, bool network) {
    if (!(method->losses & (1U << loss)))
        return bb_fail(BB_EUSAGE, "method %s does not support the %s loss",
                       method->name, bb_loss_name(loss));
    if (network && !(method->losses & BB_SUPPORTS_NETWORKS))
        return bb_fail(BB_EUSAGE,
                       "method %s is for linear models: it cannot train a network",
                       method->name);
    if (!network && method->losses & BB_NETWORKS_ONLY)
        return bb_fail(BB_EUSAGE,
                       "method %s is for networks: it cannot train a linear model",
                       method->name);
    return BB_OK;
}

static bb_status check_method(const bb_run *run, const bb_method *method) {
    const bb_status status = check_loss(method, run->pub.loss, run->pub.network);
    if (status) return status;
    if (method->kind == BB_METHOD_OPEN && bb_mechanism_is_noisy(run->mechanism))
        return bb_fail(BB_EUSAGE,
                       "method %s exchanges everything in the clear and is never "
                       "private: it runs with mechanism none only",
                       method->name);
    return BB_OK;
}

/* A cohort of fixed size is hidden only from those whose models do not tell about it. */
static bb_status check_sampled(const bb_run *run, const bb_method *method) {
    if (run->pub.sampling == BB_SAMPLING_ALL || method->kind == BB_METHOD_ALONE)
        return BB_OK;
    if (!method->sampled)
        return bb_fail(BB_EUSAGE,
                       "method %s asks all tasks in every round: --sampling all is the "
                       "only one it has",
                       method->name);
    if (run->pub.sampling == BB_SAMPLING_FIXED_HIDDEN && method->keeps)
        return bb_fail(BB_EUSAGE,
                       "method %s moves a task's model only when it is picked, so a "
                       "cohort of fixed size is visible",
                       method->name);
    return BB_OK;
}

static bb_status check_rate(const bb_run *run) {
    const bb_public *pub = &run->pub;
    if (pub->sampling == BB_SAMPLING_ALL) return BB_OK;
    if (run->mechanism->pricing == BB_PRICE_PUBLISHED)
        return bb_fail(BB_EUSAGE, "mechanism %s has no price for a sample of the tasks",
                       run->mechanism->name);
    if (pub->sampling == BB_SAMPLING_POISSON && !(pub->rate > 0.0 && pub->rate <= 1.0))
        return bb_fail(BB_EUSAGE, "a sampling rate must be in (0, 1], got %g",
                       pub->rate);
    return BB_OK;
}

/* Two doors add Gaussian noise, each its own, to sums that neither sees. */
static bb_status check_doors(const bb_run *run) {
    if (run->pub.doors < 2) return BB_OK;
    if (run->mechanism->pricing != BB_PRICE_GAUSSIAN)
        return bb_fail(BB_EUSAGE, "two doors add Gaussian noise: mechanism %s has one",
                       run->mechanism->name);
    if (run->pub.sampling != BB_SAMPLING_ALL &&
        run->pub.sampling != BB_SAMPLING_POISSON)
        return bb_fail(BB_EUSAGE,
                       "two doors: who keeps the first one draws a sample of "
                       "fixed size, and need not draw it fairly: --sampling "
                       "all, or poisson:Q, of which silos tell nobody");
    return BB_OK;
}

static bb_status check_cohort(const bb_public *pub) {
    if (pub->sampling == BB_SAMPLING_ALL || pub->sampling == BB_SAMPLING_POISSON ||
        (pub->cohort >= 1 && pub->cohort <= pub->tasks))
        return BB_OK;
    return bb_fail(BB_EUSAGE, "a sample of %zu tasks cannot be drawn from %zu",
                   pub->cohort, pub->tasks);
}

/* Models that are one for each cluster cannot become one for all. */
static bb_status check_clusters(const bb_run *run) {
    const bb_method *clustered = NULL;
    for (size_t k = 0; k < run->phases && run->pub.clusters > 1; k++) {
        const bb_method *method = run->phase[k].method;
        if (method->clustered) clustered = method;
        if (clustered && method->shared && !method->clustered)
            return bb_fail(BB_EUSAGE,
                           "phase %zu, %s, has one shared model: it cannot go on from "
                           "those that %s has for each cluster",
                           k + 1, method->name, clustered->name);
    }
    return BB_OK;
}

static bb_status check_phases(const bb_run *run) {
    if (!run->phases || run->phases > BB_MOST_PHASES)
        return bb_fail(BB_EUSAGE,
                       "a run has at least one phase and at most %d phases, found %zu",
                       BB_MOST_PHASES, run->phases);
    if (run->phase[0].method->follows)
        return bb_fail(BB_EUSAGE,
                       "method %s goes on from the models of a phase before: it cannot "
                       "be the first one",
                       run->phase[0].method->name);
    return BB_OK;
}

/* Shares of the phases that publish something: at most 1 together, with something left
 * for those that name none. */
static bb_status check_shares(const bb_run *run) {
    double shares = 0.0;
    size_t without = run->phases; /* the first that names none */
    for (size_t k = 0; k < run->phases; k++) {
        const bb_phase *phase = &run->phase[k];
        if (phase->method->kind == BB_METHOD_ALONE) continue;
        if (!(phase->share >= 0.0))
            return bb_fail(BB_EUSAGE,
                           "phase %zu, %s: its share of the budget must be positive, "
                           "got %g",
                           k + 1, phase->method->name, phase->share);
        shares += phase->share;
        if (phase->share == 0.0 && without == run->phases) without = k;
    }
    if (without < run->phases && shares >= 1.0)
        return bb_fail(
            BB_EUSAGE,
            "phases have %g of the budget: nothing is left for phase %zu, %s", shares,
            without + 1, run->phase[without].method->name);
    if (shares > 1.0)
        return bb_fail(BB_EUSAGE, "the phases have %g of the budget, not at most 1",
                       shares);
    return BB_OK;
}

static bool takes_batch(const bb_public *pub, const bb_method *method) {
    const bool outputs = !bb_loss_is_solved(pub->loss, pub->network);
    return method->takes & BB_TAKES_BATCH ||
           (outputs && method->takes & BB_TAKES_BATCH_OF_OUTPUTS);
}

static bb_status check_wishes(const bb_run *run) {
    const bb_public *pub = &run->pub;
    bool schedule = false, batch = false, asks = false;
    for (size_t k = 0; k < run->phases; k++) {
        const bb_method *method = run->phase[k].method;
        const uint32_t rounds = run->phase[k].rounds;
        if (rounds && !(method->takes & BB_TAKES_ROUNDS))
            return bb_fail(BB_EUSAGE,
                           "method %s makes its own rounds, or none: rounds cannot be "
                           "chosen",
                           method->name);
        schedule = schedule || method->takes & BB_TAKES_SCHEDULE;
        batch = batch || takes_batch(pub, method);
        asks = asks || method->kind != BB_METHOD_ALONE;
    }
    if (pub->schedule && !schedule)
        return bb_fail(BB_EUSAGE,
                       "method %s spreads its budget by itself, or has none: the "
                       "schedule cannot be chosen",
                       run->phase[0].method->name);
    if (pub->batch && !batch)
        return bb_fail(BB_EUSAGE, "method %s makes no steps over batches of rows",
                       run->phase[0].method->name);
    if (pub->sampling != BB_SAMPLING_ALL && !asks)
        return bb_fail(BB_EUSAGE,
                       "method %s asks nobody in rounds: --sampling has no meaning",
                       run->phase[0].method->name);
    return BB_OK;
}

/* Methods that share something must agree on what rows are: with a constant column or
 * without. */
static bb_status check_intercepts(const bb_run *run) {
    const bb_phase *first = NULL;
    for (size_t k = 0; k < run->phases; k++) {
        const bb_phase *phase = run->phase + k;
        if (phase->method->kind == BB_METHOD_ALONE) continue;
        if (!first) first = phase;
        if (bb_method_shares_intercept(phase->method, phase->options) !=
            bb_method_shares_intercept(first->method, first->options))
            return bb_fail(BB_EUSAGE,
                           "methods %s and %s treat the intercept in different ways: "
                           "they cannot be phases of one run",
                           first->method->name, phase->method->name);
    }
    return BB_OK;
}

/* Noise is for what passes through the door, and needs a budget. */
static bb_status check_noise(const bb_run *run) {
    const char *name = run->phase[0].method->name;
    if (!bb_mechanism_is_noisy(run->mechanism)) return BB_OK;
    for (size_t k = 0; k < run->phases; k++)
        if (run->phase[k].method->kind == BB_METHOD_PRIVATE) {
            if (run->pub.epsilon > 0.0) return BB_OK;
            return bb_fail(BB_EUSAGE,
                           "method %s is private and needs --epsilon (or --mechanism "
                           "none, to see what it does without privacy)",
                           name);
        }
    return bb_fail(BB_EUSAGE,
                   "method %s shares nothing: mechanism %s does not apply to it", name,
                   run->mechanism->name);
}

/* Noise that is published to be the tasks' own is added by them, and only once. */
static bb_status check_noise_by_tasks(const bb_run *run) {
    const bb_mechanism *mechanism = run->mechanism;
    for (size_t k = 0; k < run->phases && bb_mechanism_is_noisy(mechanism); k++) {
        const bb_phase *phase = &run->phase[k];
        const bb_method *method = phase->method;
        const bool own =
            method->noise_by_tasks && method->noise_by_tasks(phase->options);
        if (method->kind == BB_METHOD_ALONE || own == mechanism->by_tasks) continue;
        return bb_fail(BB_EUSAGE,
                       own ? "method %s with these options leaves the noise to its "
                             "tasks, as published: --mechanism %s"
                           : "method %s with these options adds no noise at its tasks: "
                             "mechanism %s is for dp-aggr and dp-mtrl with --set "
                             "calibration=published",
                       method->name,
                       own ? bb_mechanism_lipschitz_published.name : mechanism->name);
    }
    return BB_OK;
}

bb_status bb_run_check_methods(const bb_run *run) {
    bb_status status = check_phases(run);
    if (!status) status = check_shares(run);
    for (size_t k = 0; k < run->phases && !status; k++) {
        status = check_method(run, run->phase[k].method);
        if (!status) status = check_sampled(run, run->phase[k].method);
    }
    if (!status) status = check_noise(run);
    if (!status) status = check_noise_by_tasks(run);
    if (!status) status = check_intercepts(run);
    if (!status) status = check_rate(run);
    if (!status) status = check_doors(run);
    return status ? status : check_wishes(run);
}

bb_status bb_run_check_price(const bb_run *run) {
    if (run->mechanism->pricing != BB_PRICE_GAUSSIAN)
        return bb_fail(BB_EUSAGE, "a run with mechanism %s has no price in a ledger",
                       run->mechanism->name);
    if (run->seeded)
        return bb_fail(BB_EUSAGE,
                       "a run with --seed is not private and has no price in a ledger");
    return BB_OK;
}

bb_status bb_run_check(const bb_run *run) {
    bb_status status = bb_run_check_methods(run);
    if (!status && run->ledger) status = bb_run_check_price(run);
    if (!status) status = check_clusters(run);
    return status ? status : check_cohort(&run->pub);
}

bb_status bb_run_check_tasks(const bb_run *run, size_t tasks) {
    bool clustered = false;
    for (size_t k = 0; k < run->phases; k++)
        clustered = clustered || run->phase[k].method->clustered ||
                    (run->phase[k].method->related && run->pub.relations);
    for (size_t i = 0; i < tasks && clustered; i++)
        if (run->local[i].touched)
            return bb_fail(BB_EUSAGE,
                           "clusters and relations are not for several outputs of "
                           "sparse rows");
    return BB_OK;
}

void bb_run_name(size_t phases, const bb_phase *phase, char name[BB_RUN_NAME]) {
    name[0] = '\0';
    for (size_t k = 0; k < phases; k++) {
        const size_t used = strlen(name);
        const bool later = used && phase[k].method->follows;
        if (phase[k].method->kind != BB_METHOD_ALONE && !later)
            snprintf(name + used, BB_RUN_NAME - used, "%s%s", used ? " then " : "",
                     phase[k].method->name);
    }
    if (!name[0]) snprintf(name, BB_RUN_NAME, "%s", phase[0].method->name);
}
