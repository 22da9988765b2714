#include "train/run_statement.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of noise as published, the least delta that is true: of the steps that have noise. The
 * mp-* methods release whole matrices, or (outer_length 0) their diagonals only. Noise
 * by a Lipschitz constant of the rows vanishes where targets are fitted exactly, or
 * there are no rows: a population in which that is so for all tasks is told for certain
 * from one in which it is not for one task. */
static bb_status true_delta(const bb_run *run, const bb_plan *plan, double *delta) {
    double *pure = NULL;
    size_t steps = 0;
    if (run->mechanism->by_tasks) {
        *delta = 1.0;
        return BB_OK;
    }
    const bb_status status =
        bb_allocate(&pure, plan->rounds, sizeof *pure, "the privacy statement");
    if (status) return status;
    for (uint32_t t = 0; t < plan->rounds; t++)
        if (plan->step[t].weight > 0.0) pure[steps++] = plan->pure[t];
    *delta = plan->outer_length
                 ? bb_wishart_true_delta(steps, pure)
                 : bb_wishart_diagonal_delta(steps, pure, run->pub.features);
    free(pure);
    return BB_OK;
}

void bb_run_sampling(const bb_public *pub, char *text, size_t size) {
    switch (pub->sampling) {
    case BB_SAMPLING_ALL:
        snprintf(text, size, "all");
        break;
    case BB_SAMPLING_POISSON:
        snprintf(text, size, "poisson, every task with probability %.6g", pub->rate);
        break;
    default:
        snprintf(text, size, "fixed, %zu of %zu tasks, a %s cohort", pub->cohort,
                 pub->tasks,
                 pub->sampling == BB_SAMPLING_FIXED_HIDDEN ? "hidden" : "visible");
        break;
    }
}

static bb_guarantee of_tasks(const bb_run *run, const bb_result *result) {
    const bool published = run->mechanism->pricing == BB_PRICE_PUBLISHED;
    bb_guarantee g = {.unit = "task",
                      .epsilon = run->pub.epsilon,
                      .delta = run->pub.delta,
                      .adjacency = run->pub.adjacency,
                      .mechanism =
                          result->plan.lifted_rows ? "radial" : run->mechanism->name,
                      .accountant = bb_accountant_name(result->plan.accountant),
                      .rounds = result->rounds,
                      .noise_multiplier = result->noise_multiplier,
                      .valid = !published,
                      .true_delta_at_least = NAN,
                      .lifted_rows = result->plan.lifted_rows};
    bb_run_sampling(&run->pub, g.sampling, sizeof g.sampling);
    g.one_door = run->pub.doors > 1;
    g.hidden_cohort = run->pub.sampling == BB_SAMPLING_FIXED_HIDDEN;
    return g;
}

/* Noise that tasks add to their own steps protects single rows (replaced, not removed:
 * a task's number of rows is not hidden by it), and so does the door's where no row can
 * move far what a task shows. */
static bb_guarantee of_rows(const bb_result *result, const char *ledger) {
    const bool valid = !result->plan.instance_broken;
    const bool lifted = result->plan.lifted_rows > 0;
    return (bb_guarantee){.unit = "instance",
                          .epsilon = result->plan.instance_epsilon,
                          .delta = result->plan.instance_delta,
                          .adjacency = BB_REPLACE_ONE,
                          .sampling = "all",
                          .mechanism = lifted ? "radial" : "local noise",
                          .accountant = bb_accountant_name(BB_ACCOUNTANT_KOV),
                          .rounds = result->rounds,
                          .noise_multiplier = NAN,
                          .valid = valid,
                          .true_delta_at_least = NAN,
                          .note = valid && ledger
                                      ? "The ledger does not count this guarantee for "
                                        "rows: it is for this run only."
                                      : NULL};
}

/* Of the whole plan with the noise of both doors: mu is smaller by sqrt 2 (rounded up). */
static bb_status price_both(const bb_run *run, const bb_plan *plan, double *epsilon) {
    bb_plan both = *plan;
    both.mu = NULL;
    bb_status status = bb_allocate(&both.mu, plan->rounds + 1, sizeof *both.mu,
                                   "the rounds of two doors");
    if (status) return status;
    for (uint32_t t = 0; t < plan->rounds; t++)
        both.mu[t] = plan->mu[t] / sqrt(2.0) * (1.0 + 1e-12);
    status = bb_plan_spent(&both, &run->pub, plan->rounds, epsilon);
    free(both.mu);
    return status;
}

/* Whoever keeps neither door meets the noise of both; epsilon is rounded up, to six digits.
 * The promise is for a whole plan of Gaussian rounds, and of nothing else (check.c,
 * plan.c). */
static bb_status of_public(const bb_run *run, const bb_result *result,
                           bb_guarantee *g) {
    double epsilon = 0.0;
    *g = of_tasks(run, result);
    const bb_status status = price_both(run, &result->plan, &epsilon);
    if (status) return status;
    epsilon *= 1.0 + 1e-9;
    const double digits = pow(10.0, floor(log10(epsilon)) - 5.0);
    g->epsilon = fmin(g->epsilon, ceil(epsilon / digits) * digits);
    g->noise_multiplier *= sqrt(2.0);
    g->one_door = false;
    g->both_doors = true;
    return BB_OK;
}

bb_status bb_run_statement(const bb_run *run, const bb_result *result,
                           const char *ledger, bb_statement *statement) {
    bb_statement s = {.method = run->phase[0].method->name,
                      .tasks = run->pub.tasks,
                      .ledger = ledger,
                      .alone = result->plan.rounds == 0,
                      .seeded = run->seeded};
    bb_status status = BB_OK;
    if (bb_mechanism_is_noisy(run->mechanism)) {
        s.guarantee[s.count++] = of_tasks(run, result);
        if (run->pub.doors > 1)
            status = of_public(run, result, &s.guarantee[s.count++]);
        if (!status && run->mechanism->pricing == BB_PRICE_PUBLISHED)
            status =
                true_delta(run, &result->plan, &s.guarantee[0].true_delta_at_least);
        if (result->plan.instance_epsilon > 0.0)
            s.guarantee[s.count++] = of_rows(result, ledger);
    }
    if (!status) *statement = s;
    return status;
}

bb_status bb_run_warnings(const bb_run *run, void (*warn)(void *self, const char *text),
                          void *self) {
    bb_statement s = {.method = run->phase[0].method->name, .tasks = run->pub.tasks};
    if (!bb_mechanism_is_noisy(run->mechanism)) return BB_OK;
    s.guarantee[s.count++] = (bb_guarantee){.unit = "task", .delta = run->pub.delta};
    json_t *list = bb_statement_warnings(&s);
    if (!list) return bb_fail(BB_ENOMEM, "no memory for warnings");
    for (size_t k = 0; k < json_array_size(list); k++)
        warn(self, json_string_value(json_array_get(list, k)));
    json_decref(list);
    if (run->seeded)
        warn(self, "--seed makes the noise reproducible: this run is not private");
    return BB_OK;
}
