/* What else could have been had: the baselines of --compare, after the run. */
#include "base/memory.h"
#include "methods/registry.h"
#include "train/baseline.h"
#include "train/experiment.h"
#include "train/locals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fills a baseline's figures from its finished models, which are freed. */
static bb_status measure_baseline(const bb_experiment *e, bb_models *models,
                                  bb_baseline *figures, bb_assessed *test) {
    bb_status status =
        bb_assess(models, e->run.pub.loss, &e->population.test, &e->engine, test);
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
static bb_status run_baseline(const bb_experiment *e, const bb_run *run,
                              bb_baseline *figures, bb_assessed *test) {
    bb_result result = {0};
    bb_models models = {0};
    bb_status status = bb_run_train(run, &result);
    if (!status) status = bb_experiment_models(e, &result, &models);
    if (!status) status = measure_baseline(e, &models, figures, test);
    bb_result_free(&result);
    return status;
}

static bb_run without_noise(const bb_experiment *e) {
    bb_run run = e->run;
    run.mechanism = &bb_mechanism_none;
    run.ledger = NULL;
    run.observer.published = NULL;
    return run;
}

static bb_status compare_no_privacy(bb_experiment *e) {
    const bb_run run = without_noise(e);
    bb_assessed test = {0};
    const bb_status status = run_baseline(e, &run, &e->report.no_privacy, &test);
    bb_assessed_close(&test);
    return status;
}

/* stl's own run: nothing is asked of it but its defaults. */
static bb_run alone_run(const bb_experiment *e, const void *options) {
    bb_run run = without_noise(e);
    run.phases = 1;
    run.phase[0] = (bb_phase){.method = bb_method_find("stl"), .options = options};
    run.pub.sampling = BB_SAMPLING_ALL;
    run.pub.schedule = NULL;
    run.pub.batch = e->net ? bb_net_batch(e->net) : 0;
    return run;
}

/* One model for all: stl on the rows of all tasks together; every task then has it. */
static bb_status run_pooled(const bb_experiment *e, const bb_run *alone,
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
    bb_status status = bb_locals_open(&local, &one, &e->run.pub, e->net, &e->engine);
    run.local = local;
    if (!status) status = bb_run_train(&run, &result);
    const size_t length = e->run.pub.parameters;
    if (!status)
        status = bb_allocate(&all.first, data->tasks + 1, sizeof *all.first, "a model");
    if (!status) status = bb_allocate(&all.model, length, sizeof *all.model, "a model");
    if (!status) {
        memcpy(all.model, result.model, length * sizeof *all.model); /* first: all 0 */
        status = bb_experiment_models(e, &all, &models);
    }
    if (!status) status = measure_baseline(e, &models, figures, test);
    bb_result_free(&all);
    bb_result_free(&result);
    bb_locals_close(local, 1);
    return status;
}

/* Several outputs and networks: stl with its default options. */
static void compare_runs(bb_experiment *e, bb_scores *s) {
    const bb_method *method = bb_method_find("stl");
    void *options = NULL;
    bb_status status =
        bb_allocate((char **)&options, method->options_size, 1, "a method's options");
    if (!status) status = bb_options_default(method->options, options);
    const bb_run run = alone_run(e, options);
    if (status || run_baseline(e, &run, &e->report.stl, &s->alone))
        bb_experiment_leave_out(e, "the comparison with stl is");
    if (status || run_pooled(e, &run, &e->report.pooled, &s->pooled))
        bb_experiment_leave_out(e, "the comparison with one model for all is");
    free(options);
}

static bb_status compare_ridge(const bb_experiment *e, bool pooled,
                               bb_baseline *figures, bb_assessed *test) {
    const bb_baseline_rows rows = {&e->population.read_train,
                                   &e->population.read_test,
                                   e->run.pub.loss,
                                   e->resolved->request->options.split_seed,
                                   &e->engine,
                                   e->watch->stop};
    bb_status status = bb_baseline_ridge(&rows, pooled, figures, test);
    if (!status) status = bb_assessed_gain(&e->test, test, &figures->gain);
    figures->there = !status;
    return status;
}

static bb_status compare_mean(const bb_experiment *e, bool own, bb_baseline *figures,
                              bb_assessed *test) {
    const bb_baseline_rows rows = {.train = &e->population.read_train,
                                   .test = &e->population.read_test,
                                   .loss = e->run.pub.loss};
    return bb_baseline_mean(&rows, own, figures, test);
}

static void compare_linear(bb_experiment *e, bb_scores *s) {
    bb_report *r = &e->report;
    if (compare_ridge(e, false, &r->stl, &s->alone))
        bb_experiment_leave_out(e, "the comparison with stl is");
    if (compare_ridge(e, true, &r->pooled, &s->pooled))
        bb_experiment_leave_out(e, "the comparison with one model for all is");
    if (e->run.pub.loss == BB_LOSS_SQUARED &&
        (compare_mean(e, false, &r->mean, &s->mean) ||
         compare_mean(e, true, &r->own_mean, &s->own_mean)))
        bb_experiment_leave_out(e, "the comparison with means is");
}

bb_status bb_experiment_compare(bb_experiment *e) {
    bb_scores s = {0};
    bb_status status = BB_OK;
    if (!e->test.score) return BB_OK;
    bb_experiment_say(e, "comparing");
    if (e->resolved->compare_stl) {
        if (bb_resolved_is_solved(e->resolved))
            compare_linear(e, &s);
        else
            compare_runs(e, &s);
        status = bb_write_tasks(e, &s);
    }
    if (e->resolved->compare_no_privacy && compare_no_privacy(e))
        bb_experiment_leave_out(e, "the comparison with no-privacy is");
    bb_assessed_close(&s.alone);
    bb_assessed_close(&s.pooled);
    bb_assessed_close(&s.mean);
    bb_assessed_close(&s.own_mean);
    return status;
}
