/* run_ranks_result.c - what a run of several ranks has made, where it belongs. */
#include "base/memory.h"
#include "core/run_ranks_inside.h"

#include <stdlib.h>
#include <string.h>

/* Rank 0: what finish said of every task, added up in their order. */
static bb_status add_up(const bb_ranks_talk *t, const bb_message *all,
                        bb_result *result) {
    const size_t tasks = t->run->pub.tasks;
    const bb_silo_task *task = all->at;
    bb_status status = BB_OK;
    if (result->asked) {
        free(result->asked); /* of the own tasks */
        result->asked = NULL;
        status = bb_allocate(&result->asked, tasks, sizeof(bool), "the models");
    }
    result->outcome = (bb_outcome){.converged = true};
    result->failed = 0;
    for (size_t i = 0; i < tasks && !status; i++) {
        result->outcome.objective += task[i].objective;
        result->outcome.gap += task[i].gap;
        result->failed += task[i].failed;
        if (result->asked) result->asked[i] = task[i].asked;
    }
    return status ? status : bb_curator_result(t->curator, result);
}

static bb_status share_model(const bb_ranks_talk *t, bb_status status,
                             bb_result *result) {
    const bb_public *pub = &t->run->pub;
    const size_t p = pub->parameters ? pub->parameters : pub->features;
    const size_t length = (pub->clusters ? pub->clusters : 1) * p * sizeof(double);
    bb_message shared = {result->shared, length};
    bb_message shares = {&result->shares, sizeof result->shares};
    status = bb_ranks_share(t->ranks, status, &shared);
    status = bb_ranks_share(t->ranks, status, &shares);
    if (t->ranks->number == 0) return status;
    result->shared = shared.at;
    if (!status) memcpy(&result->shares, shares.at, sizeof result->shares);
    free(shares.at);
    return status;
}

bb_status bb_ranks_collect(const bb_ranks_talk *t, bb_status status,
                           bb_result *result) {
    const size_t tasks = bb_ranks_tasks(t, t->ranks->number);
    bb_silo_task *own = NULL;
    bb_message all;
    if (!status && t->silo) bb_silo_models(t->silo, result);
    if (!status) status = bb_allocate(&own, tasks, sizeof *own, "the models");
    for (size_t k = 0; k < tasks && !status; k++) {
        own[k] = bb_silo_result(t->silo, k);
        own[k].model = NULL; /* it stays */
    }
    status = bb_ranks_gather(t->ranks, status, own, tasks * sizeof *own, &all);
    if (!status && t->ranks->number == 0) status = add_up(t, &all, result);
    free(all.at);
    free(own);
    return share_model(t, status, result);
}
