#include "train/train.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "eval/assess.h"
#include "learners/net.h"
#include "linalg/linalg.h"
#include "methods/registry.h"
#include "train/baseline.h"
#include "train/handout.h"
#include "train/population.h"
#include "train/resolve.h"
#include "train/run_statement.h"
#include "train/rundir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_BATCH = 10 }; /* images of a step, where nobody says */

typedef struct experiment {
    bb_train_request *request;
    const bb_watch *watch;
    bb_resolved resolved;
    bb_population population;
    bb_engine engine;
    bb_net *net;   /* NULL: linear models */
    double *start; /* where networks start */
    uint64_t *key; /* tasks: see bb_run */
    bb_local *local;
    bb_ledger *ledger;
    bb_rundir dir;
    bb_run run;
    bb_result result;
    bb_models models; /* finished */
    bb_assessed test; /* on the test rows */
    bb_report report;
} experiment;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say(const experiment *e, const char *what) {
    if (e->watch->say) e->watch->say(e->watch->self, what);
}

static void warn(const experiment *e, const char *text) {
    if (e->watch->warn) e->watch->warn(e->watch->self, text);
}

/* What a run does after it has paid may fail: its figures are left out then. */
static void leave_out(const experiment *e, const char *what) {
    char text[600];
    snprintf(text, sizeof text, "%s left out: %s", what, bb_last_error());
    warn(e, text);
}

static bool is_stopped(const experiment *e) {
    return e->watch->stop && *e->watch->stop;
}

static bb_status not_stopped(const experiment *e) {
    return is_stopped(e) ? bb_fail(BB_EINTERRUPTED, "interrupted") : BB_OK;
}

/* An interrupted run says what it leaves behind: at most its charge. */
static bb_status say_what_is_charged(const experiment *e) {
    const bb_public *pub = &e->run.pub;
    char before[400], sampling[BB_SAMPLING_TEXT];
    snprintf(before, sizeof before, "%s", bb_last_error());
    if (!e->ledger || !bb_ledger_reserved(e->ledger))
        return bb_fail(BB_EINTERRUPTED, "%s; nothing was written, nothing was charged",
                       before);
    bb_run_sampling(pub, sampling, sizeof sampling);
    return bb_fail(BB_EINTERRUPTED,
                   "%s; nothing was written; ledger %s keeps the charge of (epsilon = "
                   "%.6g, delta = %.6g), adjacency %s, sampling: %s",
                   before, e->request->options.ledger, pub->epsilon, pub->delta,
                   bb_adjacency_name(pub->adjacency), sampling);
}

/* -- setting up -- */

/* Linear models of one output, for which there are exact solvers. */
static bool is_one_output(const experiment *e) {
    return bb_loss_is_solved(e->resolved.loss, e->net);
}

/* The network that --net describes, for the images that the rows are. */
static bb_status open_net(experiment *e) {
    const bb_train_options *o = &e->request->options;
    const bb_dataset *data = &e->population.prepared;
    const bb_image image = {data->height, data->width, data->channels};
    if (!o->net) return BB_OK;
    if (!image.height)
        return bb_fail(BB_EUSAGE,
                       "networks look at images: their shape is not in the data, give "
                       "--image HxWxC");
    bb_status status =
        bb_net_open(&e->net, o->net, image, o->batch ? (size_t)o->batch : DEFAULT_BATCH,
                    e->engine.workers);
    if (status) return status;
    const size_t outputs = bb_net_outputs(e->net), need = e->population.outputs;
    const bool fits =
        e->resolved.loss == BB_LOSS_SOFTMAX ? outputs >= need : outputs == need;
    if (!fits)
        return bb_fail(BB_EUSAGE,
                       "--net has %zu outputs, and the %s loss needs %zu here", outputs,
                       bb_loss_name(e->resolved.loss), need);
    e->population.outputs = outputs;
    status = bb_allocate(&e->start, bb_net_parameters(e->net), sizeof *e->start,
                         "the network");
    return status ? status : bb_net_start(e->net, o->start_seed, e->start);
}

static bb_status set_public(experiment *e) {
    const bb_train_options *o = &e->request->options;
    bb_public *pub = &e->run.pub;
    *pub = (bb_public){.tasks = e->population.prepared.tasks,
                       .features = e->population.prepared.features,
                       .outputs = e->population.outputs,
                       .network = e->net != NULL,
                       .start = e->start,
                       .batch = (size_t)o->batch,
                       .cluster = e->population.cluster,
                       .clusters = e->population.clusters,
                       .loss = e->resolved.loss,
                       .intercept = e->population.own_intercept && is_one_output(e),
                       .scale_sum = o->loss_scale == 1,
                       .adjacency = e->resolved.adjacency,
                       .sampling = e->resolved.sampling,
                       .rate = e->resolved.rate,
                       .cohort = e->resolved.cohort,
                       .epsilon = INFINITY,
                       .mu = INFINITY,
                       .schedule = o->schedule};
    pub->parameters = bb_model_parameters(pub->features, pub->outputs, e->net);
    if (e->net && !pub->batch) pub->batch = bb_net_batch(e->net);
    if (!e->resolved.noisy) return BB_OK;
    pub->epsilon = o->epsilon;
    const bb_status status = bb_delta_choose(o->delta, pub->tasks, &pub->delta);
    if (!status) pub->mu = bb_gdp_mu(pub->epsilon, pub->delta);
    return status;
}

static bb_status set_run(experiment *e) {
    const bb_dataset *data = &e->population.prepared;
    const bb_problem problem = {e->run.pub.loss, e->run.pub.intercept,
                                e->run.pub.scale_sum};
    bb_status status = bb_locals_open_outputs(
        &e->local, data, problem, e->population.outputs, e->net, &e->engine);
    e->run.local = e->local;
    if (!status) status = bb_allocate(&e->key, data->tasks, sizeof *e->key, "tasks");
    for (size_t i = 0; i < data->tasks && !status; i++)
        status = bb_random_key(data->task_name[i], &e->key[i]);
    e->run.key = e->key;
    return status;
}

/* -- evaluating -- */

/* Finished models from what a run made. */
static bb_status make_models(const experiment *e, const bb_result *result,
                             bb_models *out) {
    const bb_dataset *data = &e->population.prepared;
    const bb_train_options *o = &e->request->options;
    const bb_model_kind kind = {.loss = e->resolved.loss,
                                .outputs = e->population.outputs,
                                .net = o->net,
                                .image = {data->height, data->width, data->channels},
                                .parameters = e->net ? e->run.pub.parameters : 0};
    bb_models models = {0};
    bb_status status;
    if (is_one_output(e))
        return bb_population_models(&e->population, result->model, result->intercept,
                                    out);
    if (data->sparse_first)
        status = bb_models_open_compact(
            &models, data, &kind, e->run.pub.clusters > 1 ? e->run.pub.clusters : 1,
            result->shared, e->run.pub.cluster, e->local);
    else
        status = bb_models_open_kind(&models, data, &kind);
    for (size_t i = 0; i < data->tasks && !status; i++)
        bb_models_put(&models, i, result->model + result->first[i]);
    if (!status) *out = models;
    return status;
}

static bb_status keep_models(experiment *e) {
    const bb_status status = make_models(e, &e->result, &e->models);
    return status ? status : bb_models_hash(&e->models, e->report.models_sha256);
}

static bb_status assess(experiment *e) {
    const bb_population *p = &e->population;
    bb_assessed train = {0};
    bb_report *r = &e->report;
    bb_status status =
        bb_assess(&e->models, e->resolved.loss, &p->train, &e->engine, &train);
    if (!status)
        status =
            bb_assess(&e->models, e->resolved.loss, &p->test, &e->engine, &e->test);
    if (!status)
        status = bb_metrics_summary(e->test.tasks, e->test.figure, &r->per_task);
    if (!status)
        status = bb_metrics_majority(e->resolved.loss, p->outputs, &p->train, &p->test,
                                     &r->majority);
    if (!status) {
        r->train = train.metrics;
        r->test = e->test.metrics;
    }
    bb_assessed_close(&train);
    return status;
}

static bool is_zero(const bb_models *m) {
    if (!m->intercept) return false; /* of one output only: there alone it happens */
    for (size_t k = 0; k < m->tasks * m->features; k++)
        if (m->weight[k] != 0.0) return false;
    for (size_t i = 0; i < m->tasks; i++)
        if (m->intercept[i] != 0.0) return false;
    return true;
}

/* Worse than not learning at all: for the operator, who may see it. */
static void warn_of_results(experiment *e) {
    bb_report *r = &e->report;
    const bool tested = r->test.rows > 0;
    const bb_metrics *m = tested ? &r->test : &r->train;
    const char *rows = tested ? "test" : "training", *cause;
    const bool wild =
        m->nmse > 1e3 ||
        (m->rows && e->resolved.loss == BB_LOSS_SQUARED && !isfinite(m->rmse));
    if (wild)
        cause =
            "the method diverged: take a smaller rate, or columns of a smaller scale";
    else if (isfinite(r->outcome.gap) && !r->outcome.converged)
        cause = "the method stopped before its tolerance: give it more rounds";
    else if (e->resolved.noisy)
        cause =
            "too much noise for so few tasks or so many rounds, or columns of a wrong "
            "scale (--scale)";
    else
        cause = "columns of a wrong scale (--scale), or too weak a penalty";
    if (m->nmse > 1.0 || wild)
        snprintf(r->warning, sizeof r->warning,
                 "on %s rows the models are worse than always saying the mean (nMSE "
                 "%.3g); likely %s",
                 rows, m->nmse, cause);
    else if (m->auc < 0.5)
        snprintf(r->warning, sizeof r->warning,
                 "on %s rows the models rank worse than chance (AUC %.3g); likely %s",
                 rows, m->auc, cause);
    else if (is_zero(&e->models))
        snprintf(r->warning, sizeof r->warning, "all models are zero; likely %s",
                 cause);
    if (r->warning[0]) warn(e, r->warning);
}

static void evaluate(experiment *e) {
    bb_report *r = &e->report;
    say(e, "evaluating");
    r->train = r->test = bb_no_metrics();
    r->per_task = (bb_summary){0, NAN, NAN, NAN};
    if (assess(e))
        leave_out(e, "what the models reach is");
    else
        warn_of_results(e);
}

/* Fills a baseline's figures from its finished models, which are freed. */
static bb_status measure_baseline(const experiment *e, bb_models *models,
                                  bb_baseline *figures, bb_assessed *test) {
    bb_status status =
        bb_assess(models, e->resolved.loss, &e->population.test, &e->engine, test);
    if (!status) status = bb_assessed_check(test);
    bb_models_free(models);
    if (status) return status;
    figures->lambda = NAN;
    figures->test = test->metrics;
    status = bb_assessed_gain(&e->test, test, &figures->gain);
    figures->there = !status;
    return status;
}

/* The run again, as `run` says. */
static bb_status run_baseline(const experiment *e, const bb_run *run,
                              bb_baseline *figures, bb_assessed *test) {
    bb_result result = {0};
    bb_models models = {0};
    bb_status status = bb_run_train(run, &result);
    if (!status) status = make_models(e, &result, &models);
    if (!status) status = measure_baseline(e, &models, figures, test);
    bb_result_free(&result);
    return status;
}

static bb_run without_noise(const experiment *e) {
    bb_run run = e->run;
    run.mechanism = &bb_mechanism_none;
    run.ledger = NULL;
    run.pub.epsilon = run.pub.mu = INFINITY;
    run.pub.delta = 0.0;
    run.observer.published = NULL;
    return run;
}

static bb_status compare_no_privacy(experiment *e) {
    const bb_run run = without_noise(e);
    bb_assessed test = {0};
    const bb_status status = run_baseline(e, &run, &e->report.no_privacy, &test);
    bb_assessed_close(&test);
    return status;
}

/* stl's own run: nothing is asked of it but its defaults. */
static bb_run alone_run(const experiment *e, const void *options) {
    bb_run run = without_noise(e);
    run.phases = 1;
    run.phase[0] = (bb_phase){.method = bb_method_find("stl"), .options = options};
    run.pub.sampling = BB_SAMPLING_ALL;
    run.pub.schedule = NULL;
    run.pub.batch = e->net ? bb_net_batch(e->net) : 0;
    return run;
}

/* One model for all: stl on the rows of all tasks together; every task then has it. */
static bb_status run_pooled(const experiment *e, const bb_run *alone,
                            bb_baseline *figures, bb_assessed *test) {
    const bb_dataset *data = &e->population.prepared;
    size_t first[2];
    const bb_dataset one = bb_dataset_as_one(data, first);
    bb_run run = *alone;
    bb_local *local = NULL;
    bb_result result = {0}, all = {0};
    bb_models models = {0};
    if (data->sparse_first)
        return bb_fail(BB_EUSAGE, "one model for all has too many numbers for sparse "
                                  "rows of several outputs");
    run.pub.tasks = run.pub.clusters = 1;
    run.pub.cluster = NULL;
    bb_status status = bb_locals_open_outputs(
        &local, &one, (bb_problem){e->resolved.loss, false, e->run.pub.scale_sum},
        e->population.outputs, e->net, &e->engine);
    run.local = local;
    if (!status) status = bb_run_train(&run, &result);
    const size_t length = e->run.pub.parameters;
    if (!status)
        status = bb_allocate(&all.first, data->tasks + 1, sizeof *all.first, "a model");
    if (!status) status = bb_allocate(&all.model, length, sizeof *all.model, "a model");
    if (!status) {
        memcpy(all.model, result.model, length * sizeof *all.model); /* first: all 0 */
        status = make_models(e, &all, &models);
    }
    if (!status) status = measure_baseline(e, &models, figures, test);
    bb_result_free(&all);
    bb_result_free(&result);
    bb_locals_close(local, 1);
    return status;
}

/* What the baselines reach for each task, to be written and freed. */
typedef struct scores {
    bb_assessed alone, pooled, mean, own_mean;
} scores;

/* Several outputs and networks: stl with its default options. */
static void compare_runs(experiment *e, scores *s) {
    const bb_method *method = bb_method_find("stl");
    void *options = NULL;
    bb_status status =
        bb_allocate((char **)&options, method->options_size, 1, "a method's options");
    if (!status) status = bb_options_default(method->options, options);
    const bb_run run = alone_run(e, options);
    if (status || run_baseline(e, &run, &e->report.stl, &s->alone))
        leave_out(e, "the comparison with stl is");
    if (status || run_pooled(e, &run, &e->report.pooled, &s->pooled))
        leave_out(e, "the comparison with one model for all is");
    free(options);
}

static bb_status compare_ridge(const experiment *e, bool pooled, bb_baseline *figures,
                               bb_assessed *test) {
    const bb_baseline_rows rows = {&e->population.read_train,
                                   &e->population.read_test,
                                   e->resolved.loss,
                                   e->request->options.split_seed,
                                   &e->engine,
                                   e->watch->stop};
    bb_status status = bb_baseline_ridge(&rows, pooled, figures, test);
    if (!status) status = bb_assessed_gain(&e->test, test, &figures->gain);
    figures->there = !status;
    return status;
}

static bb_status compare_mean(const experiment *e, bool own, bb_baseline *figures,
                              bb_assessed *test) {
    const bb_baseline_rows rows = {.train = &e->population.read_train,
                                   .test = &e->population.read_test,
                                   .loss = e->resolved.loss};
    return bb_baseline_mean(&rows, own, figures, test);
}

static void compare_linear(experiment *e, scores *s) {
    bb_report *r = &e->report;
    if (compare_ridge(e, false, &r->stl, &s->alone))
        leave_out(e, "the comparison with stl is");
    if (compare_ridge(e, true, &r->pooled, &s->pooled))
        leave_out(e, "the comparison with one model for all is");
    if (e->resolved.loss == BB_LOSS_SQUARED &&
        (compare_mean(e, false, &r->mean, &s->mean) ||
         compare_mean(e, true, &r->own_mean, &s->own_mean)))
        leave_out(e, "the comparison with means is");
}

/* -- writing -- */

/* What a file says, for its name, which is never public. */
static int set_content(json_t *options, const char *name, json_t *content) {
    return json_object_set_new(options, name,
                               content ? json_incref(content) : json_null());
}

/* The same run again, with the same data: ranges and levels themselves for the names of
 * their files. */
static json_t *public_options(const experiment *e) {
    const bb_population *p = &e->population;
    json_t *options = bb_train_json(e->request, true);
    if (options && (set_content(options, "scale", p->ranges) ||
                    (p->levels && set_content(options, "categories", p->levels)))) {
        json_decref(options);
        options = NULL;
    }
    return json_pack("{s:s,s:s,s:I,s:I,s:o}", "program", "billboard", "version",
                     BB_VERSION, "tasks", (json_int_t)e->run.pub.tasks, "features",
                     (json_int_t)e->run.pub.features, "options", options);
}

/* The levels of texts, which are public, for whoever predicts. */
static bb_status write_categories(const experiment *e) {
    json_t *levels = e->population.levels;
    if (!levels) return BB_OK;
    return bb_rundir_json(&e->dir, "public/categories.json", json_incref(levels));
}

/* Only what passed through the door is a billboard; an open method's exchange is not. */
static bool is_open(const experiment *e) {
    bool open = false;
    for (size_t k = 0; k < e->run.phases; k++)
        open = open || e->run.phase[k].method->kind == BB_METHOD_OPEN;
    return open;
}

/* The model that all share is a function of the billboard, and good for tasks that were
 * not there. Not where it is many, or tasks have steps of their own, or nothing went
 * over a billboard. */
static bb_status write_shared(const experiment *e) {
    bb_models shared = {0};
    char *path = NULL;
    if (!e->result.shares || !is_one_output(e) || e->run.pub.clusters > 1 ||
        e->population.steps.mean || is_open(e))
        return BB_OK;
    bb_status status = bb_population_shared(&e->population, e->result.shared, &shared);
    if (!status) status = bb_rundir_name(&e->dir, "public/" BB_SHARED_FILE, &path);
    if (!status) status = bb_models_write(&shared, path);
    free(path);
    bb_models_free(&shared);
    return status;
}

static bb_status write_public(experiment *e) {
    char *statement = NULL;
    bb_status status =
        bb_rundir_json(&e->dir, "public/options.json", public_options(e));
    if (!status)
        status = bb_rundir_json(&e->dir, "public/privacy.json",
                                bb_statement_json(&e->report.statement));
    if (!status) status = bb_statement_text(&e->report.statement, &statement);
    if (!status) status = bb_rundir_text(&e->dir, "public/statement.txt", statement);
    if (!status) status = write_categories(e);
    if (!status) status = write_shared(e);
    free(statement);
    return status;
}

static bb_status write_report(const experiment *e) {
    json_t *run = bb_report_json(&e->report);
    if (json_object_set_new(run, "options", bb_train_json(e->request, false))) {
        json_decref(run);
        run = NULL;
    }
    return bb_rundir_json(&e->dir, "operator/run.json", run);
}

static bb_status write_models(const experiment *e) {
    char *folder = NULL;
    bb_status status = bb_rundir_name(&e->dir, "operator", &folder);
    if (!status)
        status =
            bb_handout_write(folder, &e->models, e->resolved.loss, &e->population.open);
    free(folder);
    return status;
}

/* -- the run -- */

/* The threads asked for, or as many as the data keep busy: threads that wait for rounds
 * of some microseconds only slow each other down. */
static bb_engine engine_for(const bb_dataset *data, uint64_t threads) {
    const size_t numbers_a_thread = (size_t)1 << 19;
    const size_t numbers =
        data->x ? data->rows * data->features : data->sparse_first[data->rows];
    const size_t useful = 1 + numbers / numbers_a_thread;
    bb_engine engine = bb_engine_threads((size_t)threads);
    if (threads == 0 && useful < engine.workers) engine = bb_engine_threads(useful);
    return engine;
}

/* To whoever holds the data, and into no file. */
static void warn_of_dropped_rows(const experiment *e) {
    char text[100];
    if (!e->population.dropped) return;
    snprintf(text, sizeof text, "%zu rows with a missing value were left out",
             e->population.dropped);
    e->watch->warn(e->watch->self, text);
}

/* Methods that share through the door are made for rows in the unit ball. */
static void warn_of_long_rows(const experiment *e) {
    char text[400];
    const size_t rows = e->run.phase[0].method->kind == BB_METHOD_PRIVATE && !e->net
                            ? bb_population_long_rows(&e->population)
                            : 0;
    if (!rows) return;
    snprintf(text, sizeof text,
             "%zu of %zu rows have a norm above 1, and %s expects rows in the unit "
             "ball: the privacy promise holds all the same, but the models may be "
             "poor; use public ranges (--scale FILE with --standardize none) or "
             "--standardize unit-rows",
             rows, e->population.prepared.rows, e->run.phase[0].method->name);
    warn(e, text);
}

static void warn_of_data_ranges(const experiment *e) {
    if (e->resolved.noisy && e->population.data_ranges)
        warn(e, "the ranges of --scale were taken from the data: this run is not "
                "private");
}

static bb_status prepare(experiment *e, const char *path) {
    const bb_train_options *o = &e->request->options;
    const double start = now();
    bb_status status = bb_resolve(e->request, &e->resolved);
    if (!status && !o->mechanism)
        status =
            bb_duplicate(&e->request->options.mechanism, e->resolved.mechanism->name,
                         strlen(e->resolved.mechanism->name));
    if (!status) status = bb_rundir_check(o->output, o->force);
    if (status) return status;
    say(e, "reading");
    status = bb_population_open(&e->population, o, e->resolved.loss,
                                e->resolved.constant, e->resolved.noisy, path);
    e->report.seconds_read = now() - start;
    e->run = (bb_run){.phases = e->request->phases,
                      .mechanism = e->resolved.mechanism,
                      .engine = &e->engine,
                      .seeded = e->resolved.seeded,
                      .seed = e->resolved.seed};
    memcpy(e->run.phase, e->request->phase, sizeof e->run.phase);
    if (!status) status = not_stopped(e);
    if (!status) e->engine = engine_for(&e->population.prepared, o->threads);
    if (!status) status = open_net(e);
    if (!status) status = set_public(e);
    if (!status && e->watch->warn) warn_of_dropped_rows(e);
    if (!status && e->watch->warn) warn_of_long_rows(e);
    if (!status) warn_of_data_ranges(e);
    if (!status && e->watch->warn)
        status = bb_run_warnings(&e->run, e->watch->warn, e->watch->self);
    return status;
}

static bb_status published(void *self, const bb_release *release, size_t tasks) {
    experiment *e = self;
    return is_open(e) ? BB_OK : bb_rundir_release(&e->dir, release, tasks);
}

static void progress(void *self, uint32_t round, uint32_t rounds) {
    const experiment *e = self;
    if (e->watch->progress) e->watch->progress(e->watch->self, round, rounds);
}

static void at_home(void *self, const char *method, uint32_t done, uint32_t tasks) {
    const experiment *e = self;
    if (e->watch->at_home) e->watch->at_home(e->watch->self, method, done, tasks);
}

/* The last before the charge: the tasks' problems, the place for the run, the ledger.
 */
static bb_status open_run(experiment *e) {
    const bb_train_options *o = &e->request->options;
    const double start = now();
    say(e, "preparing");
    bb_status status = set_run(e);
    if (!status) status = bb_rundir_begin(&e->dir, o->output, o->force);
    if (!status)
        status =
            bb_resolve_ledger(o, e->run.pub.tasks, e->run.pub.adjacency, &e->ledger);
    if (!status && e->ledger) status = bb_ledger_name_run(e->ledger, o->output);
    e->run.ledger = e->ledger;
    e->report.seconds_solve = now() - start;
    return status ? status : not_stopped(e);
}

static bb_status train(experiment *e) {
    const double start = now();
    e->run.observer = (bb_observer){e, published, progress, at_home, e->watch->stop};
    const bb_status status = bb_run_train(&e->run, &e->result);
    e->report.seconds_solve += now() - start;
    return status;
}

/* The statement is public: the ledger's name, without where it lies. */
static const char *ledger_name(const bb_train_options *o) {
    const char *slash = o->ledger ? strrchr(o->ledger, '/') : NULL;
    return slash ? slash + 1 : o->ledger;
}

static void warn_of_failed_tasks(const experiment *e) {
    char text[160];
    if (!e->result.failed) return;
    snprintf(text, sizeof text,
             "the solvers of %zu tasks failed: they keep the zero model (only the "
             "operator may know)",
             e->result.failed);
    warn(e, text);
}

/* A task's test score for people: RMSE, else AUC, accuracy or F1 as it is. */
static double for_people(const bb_assessed *a, const bb_dataset *test, size_t i) {
    if (!a->score) return NAN;
    const double rows = (double)(test->first[i + 1] - test->first[i]);
    return a->loss == BB_LOSS_SQUARED ? sqrt(a->score[i] / rows) : a->score[i];
}

static void write_number(FILE *stream, double value) {
    if (isnan(value))
        putc(',', stream);
    else
        fprintf(stream, ",%.6g", value);
}

/* operator/tasks.csv: a line a task. */
static bb_status write_tasks(const experiment *e, const scores *s) {
    static const char *const metric[] = {"rmse", "auc", "accuracy", "f1"};
    const bb_dataset *train = &e->population.train, *test = &e->population.test;
    const char *name = metric[e->resolved.loss];
    const bool squared = e->resolved.loss == BB_LOSS_SQUARED;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return bb_fail(BB_ENOMEM, "no memory for the tasks' figures");
    fprintf(stream, "task,train_rows,test_rows,%s,%s_alone,%s_pooled%s\n", name, name,
            name, squared ? ",rmse_mean" : "");
    for (size_t i = 0; i < test->tasks; i++) {
        bb_write_field(stream, test->task_name[i]);
        fprintf(stream, ",%zu,%zu", train->first[i + 1] - train->first[i],
                test->first[i + 1] - test->first[i]);
        write_number(stream, for_people(&e->test, test, i));
        write_number(stream, for_people(&s->alone, test, i));
        write_number(stream, for_people(&s->pooled, test, i));
        if (squared) write_number(stream, for_people(&s->own_mean, test, i));
        putc('\n', stream);
    }
    const bool whole = !ferror(stream);
    bb_status status = BB_OK;
    if (fclose(stream) || !whole)
        status = bb_fail(BB_ENOMEM, "no memory for the tasks' figures");
    if (!status) status = bb_rundir_text(&e->dir, "operator/tasks.csv", text);
    free(text);
    return status;
}

/* Baselines come last: nothing of them ends a run, Ctrl-C included. */
static bb_status compare(experiment *e) {
    scores s = {0};
    bb_status status = BB_OK;
    if (!e->test.score) return BB_OK;
    say(e, "comparing");
    if (e->resolved.compare_stl) {
        if (is_one_output(e))
            compare_linear(e, &s);
        else
            compare_runs(e, &s);
        status = write_tasks(e, &s);
    }
    if (e->resolved.compare_no_privacy && compare_no_privacy(e))
        leave_out(e, "the comparison with no-privacy is");
    bb_assessed_close(&s.alone);
    bb_assessed_close(&s.pooled);
    bb_assessed_close(&s.mean);
    bb_assessed_close(&s.own_mean);
    return status;
}

/* The run is complete, whatever its ledger says of it. */
static void mark_done(const experiment *e) {
    if (e->ledger && bb_ledger_finish(e->ledger)) warn(e, bb_last_error());
}

static void fill_report(experiment *e) {
    bb_report *r = &e->report;
    r->request = e->request;
    r->loss = e->resolved.loss;
    r->tasks = e->population.train.tasks;
    r->features = e->population.steps.features;
    r->rows = e->population.train.rows + e->population.test.rows;
    r->threads = e->engine.workers;
    r->mechanism = e->result.plan.lifted_rows ? "radial" : e->resolved.mechanism->name;
    r->outcome = e->result.outcome;
    r->note = e->result.note;
    r->rounds = e->result.rounds;
    r->sampled = e->result.asked != NULL;
    for (size_t i = 0; r->sampled && i < r->tasks; i++)
        r->never_picked += !e->result.asked[i];
    memcpy(r->billboard_sha256, e->result.billboard_sha256, BB_HASH_TEXT);
}

static void close_all(experiment *e) {
    bb_rundir_close(&e->dir);
    if (e->ledger) bb_ledger_close(e->ledger);
    bb_locals_close(e->local, e->population.prepared.tasks);
    bb_result_free(&e->result);
    bb_models_free(&e->models);
    bb_assessed_close(&e->test);
    bb_population_close(&e->population);
    bb_net_close(e->net);
    free(e->start);
    free(e->key);
}

/* Everything that others may see, then the models; the run has paid for them. */
static bb_status keep(experiment *e) {
    warn_of_failed_tasks(e);
    bb_status status = bb_run_statement(
        &e->run, &e->result, ledger_name(&e->request->options), &e->report.statement);
    e->report.statement.method = e->request->name;
    e->report.statement.data_ranges = e->population.data_ranges;
    if (!status) status = write_public(e);
    if (!status) status = keep_models(e);
    if (!status) status = write_models(e);
    return status;
}

/* What was made before the charge ended the run, if it was private data, is outside
 * epsilon: say so. */
static bb_status say_why(const experiment *e, bb_status status) {
    const bool by_data = status == BB_EDATA || status == BB_ENUMERIC;
    if (!by_data || !e->resolved.noisy) return status;
    return bb_fail_context(status, "ended by the data before anything was charged or "
                                   "published (epsilon does not cover that it did)");
}

bb_status bb_train_run(bb_train_request *request, const char *path,
                       const bb_watch *watch, bb_report *report) {
    const double start = now();
    experiment e = {.request = request, .watch = watch};
    bb_status status = bb_linalg_ready();
    if (!status) status = prepare(&e, path);
    if (!status) status = open_run(&e);
    if (status) status = say_why(&e, status);
    if (!status) status = train(&e);
    if (!status) status = keep(&e);
    if (!status) {
        fill_report(&e);
        evaluate(&e);
        e.report.seconds_total = now() - start;
        status = write_report(&e);
    }
    e.dir.note = e.result.note;
    if (!status) status = bb_rundir_commit(&e.dir);
    if (!status) mark_done(&e);
    if (status == BB_EINTERRUPTED) status = say_what_is_charged(&e);
    if (!status && (e.resolved.compare_stl || e.resolved.compare_no_privacy)) {
        status = compare(&e);
        e.report.seconds_total = now() - start;
        if (!status) status = write_report(&e);
        if (status) bb_fail_context(status, "the run is in place, without comparisons");
    }
    if (!status) *report = e.report;
    close_all(&e);
    return status;
}
