#include "core/run.h"

#include "base/memory.h"
#include "core/curator.h"
#include "core/silo.h"

#include <stdlib.h>
#include <string.h>

uint64_t bb_run_key(const bb_run *run, size_t i) {
    return run->key ? run->key[i] : i;
}

/* What the curator has for the silo, and what the silo has for the curator. */
static bb_status exchange(bb_curator *curator, bb_silo *silo) {
    bb_bytes frame;
    bool given, news;
    bb_status status = BB_OK;
    while (!status) {
        status = bb_curator_give(curator, 1, &frame, &given);
        if (status || !given) return status;
        status = bb_silo_take(silo, frame, &news);
        if (!status && bb_silo_now(silo) == BB_SILO_WORK) status = bb_silo_work(silo);
        if (status || !bb_silo_give(silo, &frame)) continue;
        status = bb_curator_take(curator, frame, &news);
        bb_silo_gave(silo);
    }
    return status;
}

static bb_status published(const bb_run *run, const bb_curator *curator) {
    const bb_observer *observer = &run->observer;
    if (!observer->published) return BB_OK;
    return observer->published(observer->self, bb_curator_release(curator),
                               run->pub.tasks);
}

/* Both halves of the loop, until the silo has its models. */
static bb_status drive(const bb_run *run, bb_curator *curator, bb_silo *silo) {
    const bb_observer *observer = &run->observer;
    const uint32_t rounds = bb_curator_plan(curator)->rounds;
    for (;;) {
        bb_status status = exchange(curator, silo);
        if (!status && bb_silo_now(silo) == BB_SILO_DONE) return BB_OK;
        if (!status) status = bb_curator_close_round(curator);
        if (status) return status;
        if (bb_curator_now(curator) != BB_CURATOR_PUBLISHED) continue;
        const uint32_t round = bb_curator_round(curator);
        status = published(run, curator);
        if (!status) status = bb_curator_go_on(curator);
        if (status) return status;
        if (observer->progress) observer->progress(observer->self, round, rounds);
    }
}

static bb_status open_result(const bb_run *run, bb_result *result) {
    const size_t tasks = run->pub.tasks;
    bb_status status =
        bb_allocate(&result->first, tasks + 1, sizeof *result->first, "the models");
    for (size_t i = 0; i < tasks && !status; i++)
        result->first[i + 1] = result->first[i] + run->local[i].length;
    if (!status)
        status = bb_allocate(&result->model, result->first[tasks], sizeof(double),
                             "the models");
    if (!status)
        status = bb_allocate(&result->intercept, tasks, sizeof(double), "the models");
    if (!status && run->pub.sampling != BB_SAMPLING_ALL)
        status = bb_allocate(&result->asked, tasks, sizeof(bool), "the models");
    return status;
}

static bb_status collect(bb_curator *curator, const bb_silo *silo, const bb_run *run,
                         bb_result *result) {
    bb_outcome *outcome = &result->outcome;
    outcome->converged = true;
    for (size_t i = 0; i < run->pub.tasks; i++) {
        const bb_silo_task task = bb_silo_result(silo, i);
        memcpy(result->model + result->first[i], task.model,
               run->local[i].length * sizeof *result->model);
        result->intercept[i] = task.intercept;
        outcome->objective += task.objective;
        outcome->gap += task.gap;
        result->failed += task.failed;
        if (result->asked) result->asked[i] = task.asked;
    }
    return bb_curator_result(curator, result);
}

bb_status bb_run_train(const bb_run *run, bb_result *result) {
    const bb_silo_terms own = {.run = run, .number = 1, .tasks = run->pub.tasks};
    const bb_curator_terms all = {.run = run, .silos = 1};
    bb_curator *curator = NULL;
    bb_silo *silo = NULL;
    bb_result made = {0};
    bb_status status = bb_silo_open(&silo, &own);
    if (!status) status = bb_curator_open(&curator, &all);
    if (!status) status = open_result(run, &made);
    if (!status) status = drive(run, curator, silo);
    if (!status) status = collect(curator, silo, run, &made);
    bb_curator_close(curator);
    bb_silo_close(silo);
    if (status)
        bb_result_free(&made);
    else
        *result = made;
    return status;
}

void bb_result_free(bb_result *result) {
    free(result->first);
    free(result->model);
    free(result->intercept);
    free(result->shared);
    free(result->asked);
    bb_plan_free(&result->plan);
    *result = (bb_result){0};
}
