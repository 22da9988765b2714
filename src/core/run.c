#include "core/run.h"

#include "base/memory.h"
#include "core/curator.h"
#include "core/silo.h"

#include <stdlib.h>
#include <string.h>

uint64_t bb_run_key(const bb_run *run, size_t i) {
    return run->key ? run->key[i] : i;
}

/* The driver of one process. */
typedef struct driver {
    const bb_run *run;
    bb_curator *curator;
    bb_silo *silo;
    bb_writer kept_curator, kept_silo; /* as they were between two rounds */
    bool unsaved;                      /* which the keeper has not stored */
    bool copied;                       /* the keeper has a copy of it */
    uint32_t published;                /* the last round */
    bb_result preview;                 /* of a run that is traced */
} driver;

static bb_status save(driver *d) {
    const bb_keeper *keeper = d->run->keeper;
    d->unsaved = false;
    if (d->copied) return keeper->commit(keeper->self);
    return keeper->save(keeper->self,
                        (bb_bytes){d->kept_curator.at, d->kept_curator.length},
                        (bb_bytes){d->kept_silo.at, d->kept_silo.length});
}

static bb_status copy(driver *d) {
    const bb_keeper *keeper = d->run->keeper;
    bb_silo_stored stored[BB_SILO_STORED] = {{NULL, {NULL, 0}}};
    d->kept_curator.length = d->kept_silo.length = 0;
    d->unsaved = d->copied = false;
    bb_curator_save(d->curator, &d->kept_curator);
    bb_silo_save_stored(d->silo, &d->kept_silo, keeper->copy ? stored : NULL);
    for (size_t k = 0; k < BB_SILO_STORED; k++)
        d->copied = d->copied || stored[k].bytes.length;
    bb_status status =
        d->kept_curator.status ? d->kept_curator.status : d->kept_silo.status;
    if (!status && d->copied && keeper->copy)
        status = keeper->copy(keeper->self,
                              (bb_bytes){d->kept_curator.at, d->kept_curator.length},
                              (bb_bytes){d->kept_silo.at, d->kept_silo.length}, stored);
    d->unsaved = !status;
    return status;
}

/* Where the run could go on from, if somebody keeps it. */
static bb_status keep(driver *d, bool at_the_end) {
    const bb_keeper *keeper = d->run->keeper;
    if (!keeper) return BB_OK;
    const bb_keep how = keeper->due(keeper->self, at_the_end);
    if (how == BB_KEEP_NOTHING && !at_the_end) return BB_OK;
    const bb_status status = copy(d);
    return status || (how == BB_KEEP_COPY && !at_the_end) ? status : save(d);
}

/* For the operator of a simulation: where the run is after the last round. */
static bb_status trace(driver *d) {
    const bb_run *run = d->run;
    const bb_method *method = bb_silo_finishes(d->silo);
    bb_traced now = {.round = d->published, .models = &d->preview};
    bb_status status = BB_OK;
    if (!run->observer.traced || !method) return BB_OK;
    now.method = method->name;
    bb_curator_strengths(d->curator, &now.noise, &now.signal);
    if (!d->preview.first) status = bb_result_open(&d->preview, run, run->pub.tasks);
    if (!status)
        status = bb_plan_spent(bb_curator_plan(d->curator), &run->pub, now.round,
                               &now.epsilon);
    if (!status) status = bb_silo_preview(d->silo, &d->preview);
    return status ? status : run->observer.traced(run->observer.self, &now);
}

/* What the curator has for the silo, and what the silo has for the curator. */
static bb_status exchange(driver *d) {
    bb_bytes frame;
    bool given, news;
    bb_status status = BB_OK;
    while (!status) {
        status = bb_curator_give(d->curator, 1, &frame, &given);
        if (status || !given) return status;
        status = bb_silo_take(d->silo, frame, &news);
        const bool work = bb_silo_now(d->silo) == BB_SILO_WORK;
        if (!status && work) status = trace(d);
        if (!status && work) status = bb_silo_work(d->silo);
        if (status) return status;
        if (bb_silo_give(d->silo, &frame)) {
            status = bb_curator_take(d->curator, frame, &news);
            bb_silo_gave(d->silo);
        } else if (work) { /* a phase has ended */
            status = keep(d, false);
        }
    }
    return status;
}

/* What was published, and on to the next round. */
static bb_status go_on(driver *d) {
    const bb_observer *observer = &d->run->observer;
    const uint32_t round = d->published = bb_curator_round(d->curator);
    bb_status status = keep(d, false);
    if (!status && observer->published)
        status = observer->published(observer->self, bb_curator_release(d->curator),
                                     d->run->pub.tasks);
    if (!status) status = bb_curator_go_on(d->curator);
    if (!status && observer->progress)
        observer->progress(observer->self, round, bb_curator_plan(d->curator)->rounds);
    return status;
}

/* Both halves of the loop, until the silo has its models. */
static bb_status drive(driver *d) {
    bb_status status = BB_OK;
    while (!status) {
        if (bb_curator_now(d->curator) == BB_CURATOR_PUBLISHED) {
            status = go_on(d);
            continue;
        }
        status = exchange(d);
        if (!status && bb_silo_now(d->silo) == BB_SILO_DONE) return keep(d, true);
        if (!status) status = bb_curator_close_round(d->curator);
    }
    if (status != BB_EINTERRUPTED || !d->unsaved) return status;
    const bb_status kept = save(d);
    return kept ? bb_fail_context(kept, "interrupted, and not saved") : status;
}

static bb_status open_both(driver *d) {
    const bb_run *run = d->run;
    const bb_silo_terms own = {.run = run, .number = 1, .tasks = run->pub.tasks};
    const bb_curator_terms all = {.run = run, .silos = 1};
    const bool begun = run->keeper && run->keeper->curator.length;
    bb_status status = bb_silo_open(&d->silo, &own);
    if (!status && begun)
        status = bb_silo_restore(d->silo, run->keeper->silo, run->keeper->stored);
    if (!status)
        status = begun ? bb_curator_restore(&d->curator, &all, run->keeper->curator)
                       : bb_curator_open(&d->curator, &all);
    return status;
}

bb_status bb_run_try(const bb_run *run) {
    bb_run unpaid = *run;
    driver d = {.run = &unpaid};
    unpaid.ledger = NULL;
    unpaid.keeper = NULL;
    const bb_status status = open_both(&d);
    bb_curator_close(d.curator);
    bb_silo_close(d.silo);
    return status;
}

bb_status bb_result_open(bb_result *result, const bb_run *run, size_t tasks) {
    bb_status status =
        bb_allocate(&result->first, tasks + 1, sizeof *result->first, "the models");
    for (size_t i = 0; i < tasks && !status; i++)
        result->first[i + 1] = result->first[i] + run->local[i].length;
    if (!status)
        status = bb_map_block(&result->model_at, run->memory, &result->model,
                              result->first[tasks], sizeof(double), "the models");
    if (!status)
        status = bb_allocate(&result->intercept, tasks, sizeof(double), "the models");
    if (!status && run->pub.sampling != BB_SAMPLING_ALL)
        status = bb_allocate(&result->asked, tasks, sizeof(bool), "the models");
    return status;
}

bb_status bb_run_train(const bb_run *run, bb_result *result) {
    driver d = {.run = run};
    bb_result made = {0};
    bb_status status = open_both(&d);
    if (!status) status = bb_result_open(&made, run, run->pub.tasks);
    if (!status) status = drive(&d);
    if (!status) bb_silo_models(d.silo, &made);
    if (!status) status = bb_curator_result(d.curator, &made);
    bb_curator_close(d.curator);
    bb_silo_close(d.silo);
    bb_writer_close(&d.kept_curator);
    bb_writer_close(&d.kept_silo);
    bb_result_free(&d.preview);
    if (status)
        bb_result_free(&made);
    else
        *result = made;
    return status;
}

void bb_result_free(bb_result *result) {
    free(result->first);
    bb_map_release(&result->model_at, result->model);
    free(result->intercept);
    free(result->shared);
    free(result->effects);
    free(result->asked);
    bb_plan_free(&result->plan);
    *result = (bb_result){0};
}
