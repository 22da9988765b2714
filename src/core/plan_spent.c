#include "base/memory.h"
#include "core/plan.h"

#include <math.h>
#include <stdlib.h>

/* What one round is to the accountant; of a sample of the tasks as it was priced. */
static size_t events_of(const bb_plan *plan, const bb_public *pub, uint32_t t,
                        bb_event *event) {
    const double r = bb_form_sensitivity(BB_FORM_VECTOR, pub->adjacency);
    const double rate = bb_cohort_size(pub) / (double)pub->tasks;
    size_t count = 0;
    if (plan->pure[t] > 0.0) event[count++] = bb_event_step(plan->pure[t], 0.0, 1.0);
    if (plan->mu[t] > 0.0 && pub->sampling == BB_SAMPLING_ALL)
        event[count++] = bb_event_gaussian(plan->mu[t], 1.0);
    else if (plan->mu[t] > 0.0)
        event[count++] = bb_event_round(pub->sampling, rate, plan->mu[t] / r,
                                        2.0 * plan->mu[t] / r, 1.0);
    return count;
}

bb_status bb_plan_spent(const bb_plan *plan, const bb_public *pub, uint32_t rounds,
                        double *epsilon) {
    bb_event *event = NULL;
    bb_answer answer = {.upper = INFINITY};
    size_t count = 0;
    bb_status status =
        bb_allocate(&event, 2 * (size_t)rounds + 1, sizeof *event, "the rounds so far");
    if (status) return status;
    if (isfinite(pub->epsilon)) {
        for (uint32_t t = 0; t < rounds; t++)
            count += events_of(plan, pub, t, event + count);
        const bb_account all = {pub->adjacency, count, event};
        status = bb_account_upper(&all, BB_ACCOUNTANT_AUTO, pub->delta, &answer);
    }
    free(event);
    if (!status) *epsilon = answer.upper;
    return status;
}
