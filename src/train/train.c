/* The run itself: resolved, prepared, charged, trained, kept, evaluated, compared. */
#include "train/train.h"

#include "base/memory.h"
#include "linalg/linalg.h"
#include "train/effects.h"
#include "train/experiment.h"
#include "train/intervals.h"
#include "train/run_statement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bb_experiment_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bb_experiment_say(const bb_experiment *e, const char *what) {
    if (e->watch->say) e->watch->say(e->watch->self, what);
}

void bb_experiment_warn(const bb_experiment *e, const char *text) {
    if (e->watch->warn) e->watch->warn(e->watch->self, text);
}

/* What a run does after it has paid may fail: its figures are left out then. */
void bb_experiment_leave_out(const bb_experiment *e, const char *what) {
    char text[600];
    snprintf(text, sizeof text, "%s left out: %s", what, bb_last_error());
    bb_experiment_warn(e, text);
}

static bool is_stopped(const bb_experiment *e) {
    return e->watch->stop && *e->watch->stop;
}

bb_status bb_experiment_not_stopped(const bb_experiment *e) {
    return is_stopped(e) ? bb_fail(BB_EINTERRUPTED, "interrupted") : BB_OK;
}

static bool is_charged(const bb_experiment *e) {
    return e->ledger && bb_ledger_reserved(e->ledger);
}

/* Where rank 0 was lost, nobody knows how far it was. */
static bb_status say_what_may_be_left(const bb_experiment *e) {
    const bb_train_options *o = &e->resolved->request->options;
    const char *kept = o->resume ? o->resume : o->checkpoint;
    char before[400], going_on[600] = "";
    snprintf(before, sizeof before, "%s", bb_last_error());
    if (kept)
        snprintf(going_on, sizeof going_on, "; if %s is there, go on with it: --resume",
                 kept);
    return bb_fail(BB_EINTERRUPTED,
                   "%s; it may have left a temporary directory%s%s%s%s", before,
                   going_on, o->ledger ? "; ledger " : "", o->ledger ? o->ledger : "",
                   o->ledger ? " keeps the charge, if there was one" : "");
}

/* An interrupted run says what it leaves behind: at most its charge. */
static bb_status say_what_is_charged(const bb_experiment *e) {
    const bb_public *pub = &e->run.pub;
    char before[400], sampling[BB_SAMPLING_TEXT], written[600];
    if (e->resolved->request->charged) return BB_EINTERRUPTED;
    snprintf(before, sizeof before, "%s", bb_last_error());
    bb_kept_says(&e->kept, is_charged(e), written, sizeof written);
    if (!is_charged(e))
        return bb_fail(BB_EINTERRUPTED, "%s; %s, nothing was charged", before, written);
    bb_run_sampling(pub, sampling, sizeof sampling);
    return bb_fail(BB_EINTERRUPTED,
                   "%s; %s; ledger %s keeps the charge of (epsilon = %.6g, delta = "
                   "%.6g), adjacency %s, sampling: %s",
                   before, written, e->resolved->request->options.ledger, pub->epsilon,
                   pub->delta, bb_adjacency_name(pub->adjacency), sampling);
}

/* Nor is a run lost for which the machine had no room. */
static bb_status say_what_is_kept(const bb_experiment *e, bb_status status) {
    char before[600], written[600];
    snprintf(before, sizeof before, "%s", bb_last_error());
    if (!bb_kept_says(&e->kept, is_charged(e), written, sizeof written)) return status;
    return bb_fail(status, "%s; %s", before, written);
}

static bb_status published(void *self, const bb_release *release, size_t tasks) {
    bb_experiment *e = self;
    return bb_experiment_is_open(e) ? BB_OK
                                    : bb_rundir_release(&e->dir, release, tasks);
}

static void progress(void *self, uint32_t round, uint32_t rounds) {
    const bb_experiment *e = self;
    if (e->watch->progress) e->watch->progress(e->watch->self, round, rounds);
}

static void at_home(void *self, const char *method, uint32_t done, uint32_t tasks) {
    const bb_experiment *e = self;
    if (e->watch->at_home) e->watch->at_home(e->watch->self, method, done, tasks);
}

static void passed(void *self, size_t from, size_t to) {
    const bb_experiment *e = self;
    const bb_dataset *rows = &e->population.prepared;
    bb_dataset_passed(rows, rows->first[from], rows->first[to]);
    bb_locals_passed(&e->room, e->local, from, to);
}

static bool is_first(const bb_experiment *e) {
    return bb_ranks_number(e->dealt.ranks) == 0;
}

static bool in_memory(const bb_experiment *e) {
    return e->resolved->request->in_memory;
}

static bool is_kept(const bb_experiment *e) {
    const bb_train_options *o = &e->resolved->request->options;
    return o->checkpoint || o->resume;
}

/* So that it survives its process, if that is asked for. */
static bb_status open_kept(bb_experiment *e, const char data[BB_HASH_TEXT]) {
    if (!is_kept(e)) return BB_OK;
    e->run.keeper = &e->kept.keeper;
    return bb_kept_open(&e->kept, e->resolved->request, e->source->path, data,
                        bb_ranks_count(e->dealt.ranks), &e->dir);
}

/* The place for the run, its file to go on from, and the ledger. */
static bb_status open_place(bb_experiment *e, const char data[BB_HASH_TEXT]) {
    const bb_train_options *o = &e->resolved->request->options;
    bb_status status =
        in_memory(e) ? bb_rundir_keep(&e->dir)
                     : bb_rundir_begin_again(&e->dir, o->output, o->force,
                                             bb_kept_temporary(e->resolved->request));
    if (!status) status = open_kept(e, data);
    if (!status)
        status =
            bb_resolve_ledger(o, e->run.pub.tasks, e->run.pub.adjacency, &e->ledger);
    if (!status && e->ledger && !in_memory(e))
        status = bb_ledger_name_run(e->ledger, o->output);
    if (!status) status = bb_kept_charge_once(&e->kept, e->ledger);
    e->run.ledger = e->ledger;
    return status;
}

/* Of a number in models.csv, with what divides it from the next one. */
enum { MOST_DIGITS = 25 };

/* Where memory is bounded, what the disk has no room for ends a run before it has paid:
 * the copy of the models as people read them, and its file. */
static bb_status take_room(bb_experiment *e) {
    const bb_dataset *own = &e->population.prepared;
    const size_t memory = e->run.memory, each = own->features + 1;
    const size_t tasks = e->run.pub.tasks;
    if (!memory || !bb_resolved_is_solved(e->resolved)) return BB_OK;
    const size_t copy = own->tasks * each * sizeof(double);
    bb_status status = copy > memory / 8 ? bb_map_scratch(&e->held, copy) : BB_OK;
    if (status || !is_first(e) || in_memory(e)) return status;
    size_t names = 0;
    for (size_t i = 0; i < own->tasks; i++) names += strlen(own->task_name[i]);
    if (own->tasks) names = names / own->tasks + 1;
    const size_t limits =
        e->run.pub.loss == BB_LOSS_SQUARED ? names + 2 * MOST_DIGITS : 0;
    return bb_rundir_take_room(&e->dir, tasks * (names + each * MOST_DIGITS + limits));
}

static bb_status give_room(bb_experiment *e) {
    bb_map_close(&e->held);
    return is_first(e) && !in_memory(e) ? bb_rundir_give_room(&e->dir) : BB_OK;
}

/* The last before the charge: the tasks' problems, and what rank 0 has. */
static bb_status open_run(bb_experiment *e) {
    const double start = bb_experiment_now();
    bb_experiment_say(e, "preparing");
    char data[BB_HASH_TEXT] = "";
    bb_status status = bb_experiment_open_tasks(e);
    if (is_kept(e))
        status = bb_kept_fingerprint(&e->population, &e->dealt, status, data);
    if (!status && is_first(e)) status = open_place(e, data);
    if (!status) status = take_room(e);
    e->report.seconds_solve = bb_experiment_now() - start;
    return status ? status : bb_experiment_not_stopped(e);
}

void bb_experiment_observe(bb_experiment *e) {
    e->run.observer = (bb_observer){.self = e,
                                    .published = published,
                                    .progress = progress,
                                    .at_home = at_home,
                                    .passed = passed,
                                    .keeps = bb_experiment_keeps,
                                    .stop = e->watch->stop};
}

static bb_status train(bb_experiment *e) {
    const double start = bb_experiment_now();
    const bb_deal deal = {e->dealt.first};
    bb_experiment_observe(e);
    if (e->resolved->request->options.trace) bb_experiment_trace(e);
    bb_status status = bb_run_train_ranks(&e->run, e->dealt.ranks, &deal, &e->result);
    if (!status) status = bb_ranks_agree(e->dealt.ranks, bb_kept_release(&e->kept));
    e->run.observer.traced = NULL; /* baselines are not */
    e->report.seconds_solve += bb_experiment_now() - start;
    return status;
}

static void warn_of_failed_tasks(const bb_experiment *e) {
    char text[160];
    if (!e->result.failed) return;
    snprintf(
        text, sizeof text,
        "the solvers of %zu task%s failed, or their models are not finite: they keep "
        "the zero model (only the operator may know)",
        e->result.failed, bb_plural((double)e->result.failed));
    bb_experiment_warn(e, text);
}

/* The run is complete, whatever its ledger says of it. */
void bb_experiment_mark_done(const bb_experiment *e) {
    if (e->ledger && bb_ledger_finish(e->ledger))
        bb_experiment_warn(e, bb_last_error());
}

bb_status bb_experiment_fill_report(bb_experiment *e) {
    bb_report *r = &e->report;
    r->request = e->resolved->request;
    r->tasks = bb_dealt_tasks(&e->dealt, e->population.train.tasks);
    r->features = e->population.steps.features;
    r->rows = e->population.train.rows + e->population.test.rows;
    r->threads = e->engine.workers;
    r->outcome = e->result.outcome;
    r->note = e->result.note;
    r->rounds = e->result.rounds;
    r->sampled = e->result.asked != NULL;
    for (size_t i = 0; r->sampled && i < r->tasks; i++)
        r->never_picked += !e->result.asked[i];
    memcpy(r->billboard_sha256, e->result.billboard_sha256, BB_HASH_TEXT);
    return bb_dealt_sum(&e->dealt, BB_OK, &r->rows);
}

/* What is needed while it runs only: the data above all. */
void bb_experiment_close_work(bb_experiment *e) {
    bb_population *p = &e->population;
    bb_kept_close(&e->kept, is_charged(e));
    if (e->ledger) bb_ledger_close(e->ledger);
    bb_experiment_close_tasks(e);
    bb_map_close(&e->held);
    bb_result_free(&e->result);
    bb_assessed_close(&e->test);
    bb_models_free(&e->own);
    free(e->lines.at);
    bb_dealt_close(&e->dealt);
    bb_net_close(e->net);
    free(e->start);
    e->ledger = NULL;
    e->net = NULL;
    e->start = NULL;
    e->lines = (bb_message){NULL, 0};
    e->run.ledger = NULL;
    e->run.keeper = NULL;
    bb_population_close_rows(p);
}

static bb_status make_statement(bb_experiment *e) {
    const bb_status status = bb_run_statement(
        &e->run, &e->result, bb_experiment_ledger_name(e), &e->report.statement);
    e->report.statement.method = e->resolved->request->name;
    e->report.statement.silos = e->resolved->roster ? e->resolved->roster->silos : 0;
    e->report.statement.data_ranges = e->population.data_ranges;
    e->report.statement.data_options =
        e->resolved->request->options.tuned_on_data || e->population.data_levels;
    return status;
}

static bb_status make_models(bb_experiment *e) {
    bb_models *own = e->dealt.ranks ? &e->own : &e->models;
    bb_status status =
        bb_experiment_gather(e, bb_experiment_models(e, &e->result, own));
    if (status || !is_first(e)) return status;
    if (e->resolved->request->options.report_effects && e->result.effects) {
        e->report.effects = bb_effects_json(e->result.effects, &e->population.steps);
        if (!e->report.effects) return bb_fail(BB_ENOMEM, "no memory for the effects");
    }
    if (e->spread && bb_intervals_models(&e->population, e->spread, &e->kept_spread))
        bb_experiment_leave_out(e, "intervals are");
    status = bb_models_hash(&e->models, e->report.models_sha256);
    return status ? status : bb_experiment_shared(e, &e->shared);
}

/* Everything that others may see, then the models. */
static bb_status write_parts(const bb_experiment *e) {
    const bb_status status = bb_write_public(e);
    return status ? status : bb_write_models(e);
}

/* What the run has paid for. */
bb_status bb_experiment_keep(bb_experiment *e) {
    warn_of_failed_tasks(e);
    bb_status status = give_room(e);
    status = bb_ranks_agree(e->dealt.ranks, status);
    if (!status) status = make_models(e);
    if (!status && is_first(e)) status = make_statement(e);
    if (!status && is_first(e) && !in_memory(e)) status = write_parts(e);
    if (!status && e->trace) status = bb_write_trace(e);
    return bb_ranks_agree(e->dealt.ranks, status);
}

bb_status bb_ended_by_data(bb_status status) {
    if (status != BB_EDATA && status != BB_ENUMERIC) return status;
    return bb_fail_context(status, "ended by the data before anything was charged or "
                                   "published (epsilon does not cover that it did)");
}

/* What was made before the charge ended the run, if it was private data, is outside
 * epsilon: say so. */
static bb_status say_why(const bb_experiment *e, bb_status status) {
    const bb_resolved *c = e->resolved;
    const bool first = !c->request->charged && bb_mechanism_is_noisy(c->run.mechanism);
    return first ? bb_ended_by_data(status) : status;
}

/* The directory in place, if there is to be one. */
static bb_status put_in_place(bb_experiment *e) {
    e->dir.note = e->result.note;
    if (in_memory(e)) return BB_OK;
    const bb_status status = bb_write_report(e);
    return status ? status : bb_rundir_commit(&e->dir);
}

static bb_status prepare(bb_experiment *e) {
    bb_status status = bb_experiment_prepare(e);
    if (!status) status = open_run(e);
    return bb_ranks_agree(e->dealt.ranks, status);
}

static bb_status run(bb_experiment *e, double start) {
    bb_status status = prepare(e);
    if (status) return say_why(e, status);
    status = train(e);
    if (!status) status = bb_experiment_keep(e);
    if (!status) status = bb_experiment_fill_report(e);
    if (status) return status;
    bb_experiment_evaluate(e);
    e->report.seconds_total = bb_experiment_now() - start;
    if (!is_first(e)) return BB_OK;
    status = put_in_place(e);
    if (status) return status;
    bb_experiment_mark_done(e);
    bb_kept_remove(&e->kept);
    return BB_OK;
}

/* Rank 0 has to look at all rows. */
static bb_status open_all_rows(bb_experiment *e) {
    if (!e->dealt.ranks) return BB_OK;
    bb_experiment_close_tasks(e);
    bb_population_close(&e->population);
    bb_dealt_close(&e->dealt);
    e->dealt.ranks = NULL;
    bb_status status = bb_population_open(&e->population, e->resolved, e->source,
                                          e->test_source, &e->dealt);
    e->run.pub.cluster = e->population.cluster;
    return status ? status : bb_experiment_open_tasks(e);
}

static bb_status compare(bb_experiment *e, double start) {
    if (!e->resolved->compare_stl && !e->resolved->compare_no_privacy) return BB_OK;
    bb_status status = open_all_rows(e);
    if (!status) status = bb_experiment_compare(e);
    e->report.seconds_total = bb_experiment_now() - start;
    if (!status && !in_memory(e)) status = bb_write_report(e);
    if (status) bb_fail_context(status, "the run is in place, without comparisons");
    return status;
}

/* -- a run that is kept -- */

/* They are public: what is wrong with them is not the data's doing. */
static bb_status check_ranges(const char *scale) {
    bb_ranges ranges = {0};
    const bb_status status = bb_ranges_read(&ranges, scale);
    bb_ranges_free(&ranges);
    return status;
}

/* Before anything is read. */
static bb_status check(bb_training *t, const bb_train_request *request,
                       const bb_ranks *ranks) {
    const bb_train_options *o = &request->options;
    bb_status status = bb_linalg_ready();
    if (!status) status = bb_resolve(request, &t->resolved);
    if (!status && ranks && (o->trace || o->first_tasks || o->graph || o->intervals))
        status = bb_fail(BB_EUSAGE, "--trace, --first-tasks, --graph and --intervals "
                                    "need all rows in one process");
    if (!status && o->scale) status = check_ranges(o->scale);
    if (status || bb_ranks_number(ranks)) return status;
    if (!request->in_memory) status = bb_rundir_check(o->output, o->force);
    if (status && o->resume)
        bb_fail_context(status, "%s: its run has ended well, or another has its place",
                        o->resume);
    return status ? status : bb_kept_check(request);
}

static bb_status start(bb_training *t, const bb_train_request *request,
                       bb_ranks *ranks) {
    const double begun = bb_experiment_now();
    bb_status status = bb_ranks_agree(ranks, check(t, request, ranks));
    if (status) return status;
    status = run(&t->e, begun);
    if (status == BB_EINTERRUPTED)
        status =
            is_first(&t->e) ? say_what_is_charged(&t->e) : say_what_may_be_left(&t->e);
    if (status == BB_EIO || status == BB_ENOMEM)
        status = say_what_is_kept(&t->e, status);
    return status || !is_first(&t->e) ? status : compare(&t->e, begun);
}

bb_status bb_training_open(bb_training **out, const bb_train_request *request,
                           const bb_source *data, const bb_source *test,
                           const bb_watch *watch, bb_ranks *ranks) {
    bb_training *t = NULL;
    bb_status status = bb_allocate(&t, 1, sizeof *t, "a run");
    if (status) return status;
    if (ranks) ranks->stop = watch->stop;
    t->e = (bb_experiment){.watch = watch,
                           .resolved = &t->resolved,
                           .source = data,
                           .test_source = test,
                           .dealt = {.ranks = ranks}};
    status = start(t, request, ranks);
    bb_experiment_close_work(&t->e);
    if (!request->in_memory) bb_rundir_close(&t->e.dir); /* gives the place up */
    t->e.watch = &t->watch;
    if (ranks) ranks->stop = NULL;
    if (!status && bb_ranks_number(ranks)) *out = NULL;
    if (status || bb_ranks_number(ranks))
        bb_training_close(t);
    else
        *out = t;
    return status;
}

bb_status bb_training_check(const bb_train_request *request, const bb_source *data,
                            const bb_watch *watch, size_t *tasks) {
    bb_training *t = NULL;
    bb_status status = bb_allocate(&t, 1, sizeof *t, "a run");
    if (status) return status;
    t->e = (bb_experiment){.watch = watch, .resolved = &t->resolved, .source = data};
    status = check(t, request, NULL);
    if (!status) {
        status = prepare(&t->e);
        if (!status) status = bb_run_try(&t->e.run);
        status = say_why(&t->e, status);
    }
    if (!status) *tasks = t->e.run.pub.tasks;
    bb_experiment_close_work(&t->e);
    bb_training_close(t);
    return status;
}

void bb_training_close(bb_training *t) {
    if (!t) return;
    bb_rundir_close(&t->e.dir);
    if (t->e.ledger) bb_ledger_close(t->e.ledger);
    bb_models_free(&t->e.models);
    bb_models_free(&t->e.shared);
    bb_models_free(&t->e.kept_spread);
    bb_population_close(&t->e.population);
    free(t->e.held_out);
    free(t->e.tasks_csv);
    json_decref(t->e.trace);
    json_decref(t->e.record);
    json_decref(t->e.report.effects);
    free(t);
}

const bb_report *bb_training_report(const bb_training *t) {
    return &t->e.report;
}

json_t *bb_training_json(const bb_training *t) {
    return bb_experiment_json(&t->e);
}

bb_trained bb_training_trained(const bb_training *t) {
    bb_trained trained = {.options = t->resolved.request->options,
                          .loss = t->e.run.pub.loss,
                          .models = t->e.models,
                          .steps = t->e.population.open,
                          .shared = t->e.shared,
                          .intervals = t->e.kept_spread,
                          .levels = t->e.population.levels};
    return trained;
}

static bb_status save(bb_experiment *e, const bb_rundir *memory, const char *path,
                      bool force) {
    bb_status status = bb_rundir_begin(&e->dir, path, force);
    if (!status) status = bb_rundir_copy(&e->dir, memory);
    if (!status) status = write_parts(e);
    if (!status && e->tasks_csv)
        status = bb_rundir_text(&e->dir, "operator/tasks.csv", e->tasks_csv);
    if (!status && e->trace) status = bb_write_trace(e);
    if (!status) status = bb_write_report(e);
    return status ? status : bb_rundir_commit(&e->dir);
}

bb_status bb_training_save(const bb_training *t, const char *path, bool force) {
    bb_experiment e = t->e;
    if (!in_memory(&e))
        return bb_fail(BB_EUSAGE, "%s: this run is in %s already: copy that", path,
                       e.resolved->request->options.output);
    e.dir = (bb_rundir){0};
    bb_status status = bb_rundir_check(path, force);
    if (!status) status = save(&e, &t->e.dir, path, force);
    bb_rundir_close(&e.dir);
    if (!status) bb_experiment_mark_done(&e);
    return status;
}

bb_status bb_train_run(const bb_train_request *request, const char *path,
                       const bb_watch *watch, bb_report *report) {
    const bb_source data = {.path = path};
    bb_training *training = NULL;
    const bb_status status =
        bb_training_open(&training, request, &data, NULL, watch, NULL);
    if (!status) *report = *bb_training_report(training);
    if (!status) report->effects = NULL; /* goes with the run */
    bb_training_close(training);
    return status;
}
