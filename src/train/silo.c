#include "train/silo.h"

#include "base/json.h"
#include "base/memory.h"
#include "core/phases.h"
#include "train/place.h"
#include "train/place_kept.h"
#include "train/record.h"
#include "train/run_statement.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLACE_NAME = 24 };

struct bb_train_silo {
    bb_training *training; /* NULL: it was given away */
    bb_silo *core;
    bb_place_kept kept;
    bb_record record;
    char place[PLACE_NAME];
    bool looks; /* and writes nothing */
};

static void name_place(char text[PLACE_NAME], uint32_t number) {
    snprintf(text, PLACE_NAME, "silo %u", number);
}

/* The option checkpoint: a silo that goes on has its ledger's entry again. */
static bb_status keep(bb_train_silo *silo, uint32_t number) {
    bb_experiment *e = &silo->training->e;
    const char *path = e->resolved->request->options.checkpoint;
    char fingerprint[BB_HASH_TEXT];
    name_place(silo->place, number);
    bb_status status =
        bb_kept_fingerprint(&e->population, &e->dealt, BB_OK, fingerprint);
    if (!status && silo->looks)
        return bb_place_kept_look(&silo->kept, path, silo->place, fingerprint);
    if (!status)
        status = bb_place_kept_open(&silo->kept, path, silo->place, fingerprint);
    return status ? status : bb_record_open(&silo->record, &silo->kept, 0);
}

/* What core does not know of a run that is not private: what it was told of the data. */
static bb_status check_sources(const bb_experiment *e, const bb_silo_policy *policy) {
    const char *what = NULL;
    if (e->population.data_ranges) what = "ranges (scale)";
    if (e->population.data_levels) what = "levels (categories)";
    if (e->resolved->request->options.tuned_on_data) what = "options (tuned-on-data)";
    if (policy->allow_open || !what) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "this silo's policy forbids %s that were taken from the data", what);
}

static bb_status open_core(bb_train_silo *silo, uint32_t number,
                           const bb_silo_policy *policy) {
    bb_experiment *e = &silo->training->e;
    const bb_dataset *rows = &e->population.prepared;
    bb_silo_policy own = *policy;
    bb_silo_terms terms = {.run = &e->run,
                           .number = number,
                           .tasks = rows->tasks,
                           .sealed = true,
                           .policy = &own,
                           .identity = e->resolved->roster->identity};
    size_t *id = NULL;
    bb_status status = bb_roster_numbers(e->resolved->roster, rows, &id);
    own.ledger = e->ledger;
    terms.id = id;
    if (!status) status = check_sources(e, policy);
    if (!status) status = bb_experiment_open_tasks(e);
    if (!status) status = bb_result_open(&e->result, &e->run, rows->tasks);
    if (!status) status = keep(silo, number);
    terms.checkpoint = silo->kept.path;
    if (!status) status = bb_silo_open(&silo->core, &terms);
    free(id);
    if (!status && silo->kept.saved.length)
        status = bb_silo_restore(silo->core, silo->kept.saved, NULL);
    if (status || silo->looks) return status;
    status = bb_place_kept_charge_once(&silo->kept, e->ledger,
                                       bb_silo_now(silo->core) == BB_SILO_DONE);
    return status ? status : bb_place_warn_of_charge(e);
}

static bb_status open_silo(bb_train_silo **out, const bb_train_request *request,
                           const bb_roster *roster, uint32_t number,
                           const bb_source *data, const bb_silo_policy *policy,
                           const bb_watch *watch, bool looks) {
    bb_train_silo *silo = NULL;
    if (number < 1 || number > roster->silos)
        return bb_fail(BB_EUSAGE, "silo number %u of %u", number, roster->silos);
    bb_status status = bb_allocate(&silo, 1, sizeof *silo, "a silo");
    if (status) return status;
    silo->looks = looks;
    status = bb_allocate(&silo->training, 1, sizeof *silo->training, "a silo");
    if (!status) status = bb_place_open(silo->training, request, roster, data, watch);
    if (!status) bb_experiment_observe(&silo->training->e);
    if (!status) status = open_core(silo, number, policy);
    if (status) bb_place_kept_close(&silo->kept); /* which stays as it was */
    if (status)
        bb_train_silo_close(silo);
    else
        *out = silo;
    return status;
}

bb_status bb_train_silo_open(bb_train_silo **out, const bb_train_request *request,
                             const bb_roster *roster, uint32_t number,
                             const bb_source *data, const bb_silo_policy *policy,
                             const bb_watch *watch) {
    return open_silo(out, request, roster, number, data, policy, watch, false);
}

static void refuse(bb_writer *refusal, const bb_roster *roster, uint32_t number,
                   const char *why) {
    if (refusal) bb_silo_refuse(refusal, number, roster->identity, why);
}

/* What is looked at before any row, as it is now; *charged: a place that goes on was. */
static bb_status open_files(bb_experiment *e, uint32_t number, bool *charged) {
    const bb_train_options *o = &e->resolved->request->options;
    const bb_public *pub = &e->run.pub;
    char name[PLACE_NAME];
    name_place(name, number);
    const bb_status status =
        bb_resolve_ledger(o, pub->tasks, pub->adjacency, &e->ledger);
    return status ? status
                  : bb_place_kept_check(o->checkpoint, name, e->ledger, charged);
}

static bb_status check(bb_training *place, const bb_train_request *request,
                       const bb_roster *roster, uint32_t number,
                       const bb_silo_policy *policy, const bb_watch *watch,
                       bb_writer *refusal, bool *charged) {
    bb_experiment *e = &place->e;
    bb_status status = bb_place_prepare(place, request, roster, NULL, watch);
    if (!status) status = open_files(e, number, charged);
    if (status) return status;
    status = bb_silo_check_policy(&e->run, policy, roster->identity);
    if (!status) status = check_sources(e, policy);
    if (!status)
        status = bb_silo_check_silos(policy, roster->silos,
                                     roster->fewest ? roster->fewest : roster->silos);
    if (status) refuse(refusal, roster, number, bb_last_error());
    if (status || !e->ledger || *charged) return status;
    status = bb_run_check_ledger(&e->run, NULL, e->ledger);
    if (status == BB_EBUDGET) refuse(refusal, roster, number, BB_REFUSED_BY_LEDGER);
    return status;
}

bb_status bb_train_silo_check(const bb_train_request *request, const bb_roster *roster,
                              uint32_t number, const bb_silo_policy *policy,
                              const bb_watch *watch, bb_writer *refusal) {
    bb_training *place = NULL;
    bool charged;
    bb_status status = bb_allocate(&place, 1, sizeof *place, "a silo");
    if (status) return status;
    status = check(place, request, roster, number, policy, watch, refusal, &charged);
    bb_experiment_close_work(&place->e);
    bb_training_close(place);
    return status;
}

/* -- whoever only looks -- */

/* *rounds of the plan, which nobody has offered yet. */
static bb_status count_rounds(const bb_run *run, uint32_t *rounds) {
    bb_phases phases = {.count = 0};
    bb_status status = bb_phases_open(&phases, run, NULL);
    if (!status) status = bb_phases_plan(&phases);
    if (!status) *rounds = phases.plan.rounds;
    bb_phases_close(&phases);
    return status;
}

/* Whether the ledger lets it go on: one that says that the run is done does so at its end
 * only. */
static bb_status check_going_on(const bb_experiment *e, const bb_train_silo *silo) {
    if (!e->ledger || bb_silo_now(silo->core) == BB_SILO_DONE) return BB_OK;
    return bb_run_check_ledger(&e->run, NULL, e->ledger);
}

/* Null: there is none. */
static bb_status ledger_json(const bb_experiment *e, bool charged, json_t **json) {
    double epsilon, delta;
    *json = json_null();
    if (!e->ledger) return BB_OK;
    const bb_ledger_terms terms = bb_ledger_terms_of(e->ledger);
    const bb_status status = bb_ledger_spent(e->ledger, &epsilon, &delta);
    if (status) return status;
    *json = json_pack("{s:s,s:b,s:b,s:{s:f,s:f},s:{s:f,s:f}}", "file",
                      e->resolved->request->options.ledger, "new",
                      (int)bb_ledger_is_new(e->ledger), "charged", (int)charged,
                      "budget", "epsilon", terms.epsilon, "delta", terms.delta, "spent",
                      "epsilon", epsilon, "delta", delta);
    return *json ? BB_OK : bb_fail(BB_ENOMEM, "no memory for what a silo is");
}

/* Takes the ledger's part. */
static bb_status about_silo(const bb_train_silo *silo, const bb_silo_policy *policy,
                            json_t *ledger, json_t **about) {
    const bb_experiment *e = &silo->training->e;
    const bb_population *p = &e->population;
    const bb_public *pub = &e->run.pub;
    char name[BB_RUN_NAME], sampling[BB_SAMPLING_TEXT];
    uint32_t rounds = 0;
    const bb_status status = count_rounds(&e->run, &rounds);
    if (status) json_decref(ledger);
    if (status) return status;
    bb_run_name(e->run.phases, e->run.phase, name);
    bb_run_sampling(pub, sampling, sizeof sampling);
    *about = json_pack(
        "{s:I,s:I,s:I,s:I,s:I,s:I,s:s?,s:s,s:I,s:o,s:o,s:s,s:s,s:o,s:{s:o,s:o,s:I,s:I}"
        "}",
        "tasks", (json_int_t)p->prepared.tasks, "tasks_of_plan", (json_int_t)pub->tasks,
        "rows", (json_int_t)p->train.rows, "test_rows", (json_int_t)p->test.rows,
        "rows_left_out", (json_int_t)p->dropped, "features",
        (json_int_t)e->resolved->roster->features, "target", p->prepared.target_name,
        "methods", name, "rounds", (json_int_t)rounds, "epsilon",
        bb_json_real(pub->epsilon), "delta", bb_json_real(pub->delta), "adjacency",
        bb_adjacency_name(pub->adjacency), "sampling", sampling, "ledger", ledger,
        "policy", "most_epsilon", bb_json_real(policy->most_epsilon), "most_delta",
        bb_json_real(policy->most_delta), "fewest_tasks",
        (json_int_t)policy->fewest_tasks, "fewest_silos",
        (json_int_t)policy->fewest_silos);
    return *about ? BB_OK : bb_fail(BB_ENOMEM, "no memory for what a silo is");
}

bb_status bb_train_silo_look(const bb_train_request *request, const bb_roster *roster,
                             uint32_t number, const bb_source *data,
                             const bb_silo_policy *policy, const bb_watch *watch,
                             json_t **about) {
    bb_training *place = NULL;
    bb_train_silo *silo = NULL;
    json_t *ledger = NULL;
    bool charged;
    bb_status status = bb_allocate(&place, 1, sizeof *place, "a silo");
    if (status) return status;
    status = check(place, request, roster, number, policy, watch, NULL, &charged);
    if (!status && !charged) status = bb_place_warn_of_charge(&place->e);
    if (!status)
        status = open_silo(&silo, request, roster, number, data, policy, watch, true);
    if (!status && silo && charged) status = check_going_on(&place->e, silo);
    if (!status) status = ledger_json(&place->e, charged, &ledger);
    if (!status && silo) status = about_silo(silo, policy, ledger, about);
    bb_train_silo_close(silo);
    bb_experiment_close_work(&place->e);
    bb_training_close(place);
    return status;
}

void bb_train_silo_close(bb_train_silo *silo) {
    if (!silo) return;
    if (!silo->looks && silo->core && bb_silo_is_out(silo->core))
        bb_place_kept_remove(&silo->kept);
    bb_silo_close(silo->core);
    bb_record_close(&silo->record);
    bb_place_kept_close(&silo->kept);
    if (silo->training) bb_experiment_close_work(&silo->training->e);
    bb_training_close(silo->training);
    free(silo);
}

bb_silo *bb_train_silo_core(bb_train_silo *silo) {
    return silo->core;
}

bb_status bb_train_silo_keep(bb_train_silo *silo) {
    bb_writer place = {0};
    if (!silo->training)
        return bb_fail(BB_EUSAGE, "this silo's result was given already");
    bb_silo_save(silo->core, &place);
    bb_status status = place.status;
    if (!status)
        status = bb_place_kept_write(&silo->kept, silo->training->e.ledger,
                                     (bb_bytes){place.at, place.length});
    bb_writer_close(&place);
    return status;
}

void bb_train_silo_forget(bb_train_silo *silo) {
    if (silo->training && bb_silo_now(silo->core) == BB_SILO_DONE)
        bb_experiment_mark_done(&silo->training->e);
    bb_place_kept_remove(&silo->kept);
}

bb_status bb_train_silo_result(bb_train_silo *silo, bb_training **out) {
    bb_training *training = silo->training;
    if (!training) return bb_fail(BB_EUSAGE, "this silo's result was given already");
    if (bb_silo_now(silo->core) != BB_SILO_DONE)
        return bb_fail(BB_EUSAGE, "this silo's models are not there yet");
    bb_result *result = &training->e.result;
    bb_silo_models(silo->core, result);
    bb_status status = result->shared ? BB_OK : bb_silo_public(silo->core, result);
    if (!status && result->note && result->note != training->told) {
        snprintf(training->told, sizeof training->told, "%s", result->note);
        result->note = training->told;
    }
    if (!status)
        status = bb_record_write(&silo->record, &training->e, silo->place,
                                 bb_silo_name(silo->core), result->rounds);
    if (!status) status = bb_place_end(training);
    if (status) return status;
    silo->training = NULL;
    *out = training;
    return BB_OK;
}
