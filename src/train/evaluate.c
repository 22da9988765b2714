/* What a run's models reach, and what its figures warn of. */
#include "base/memory.h"
#include "data/names.h"
#include "learners/rows.h"
#include "linalg/linalg.h"
#include "models/limits.h"
#include "train/experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of several outputs, for rows as others see them. */
static bb_status put_models(const bb_experiment *e, const bb_result *result,
                            bb_models *models) {
    const bb_preprocess *steps = &e->population.steps;
    double *own = NULL;
    bb_status status = BB_OK;
    if (bb_preprocess_is_own(steps))
        status = bb_allocate(&own, e->run.pub.parameters, sizeof *own, "a model");
    for (size_t i = 0; i < models->tasks && !status; i++) {
        const double *model = result->model + result->first[i];
        if (own) {
            memcpy(own, model, e->run.pub.parameters * sizeof *own);
            bb_preprocess_fold_outputs(steps, i, models->outputs, own);
        }
        bb_models_put(models, i, own ? own : model);
        bb_preprocess_passed(steps, i);
    }
    free(own);
    return status;
}

static bool is_finite_single(size_t n, const double *w) {
    for (size_t k = 0; k < n; k++)
        if (!isfinite((float)w[k])) return false;
    return true;
}

bool bb_experiment_keeps(void *self, size_t i, size_t worker, const double *model,
                         double intercept) {
    const bb_experiment *e = self;
    const bb_population *p = &e->population;
    const size_t length = e->local[i].length;
    if (e->net) return is_finite_single(length, model);
    if (!e->folded) return true;
    double *own = e->folded + worker * length;
    memcpy(own, model, length * sizeof *own);
    if (bb_resolved_is_solved(e->resolved))
        bb_population_fold(p, i, own, &intercept);
    else
        bb_preprocess_fold_outputs(&p->steps, i, p->outputs, own);
    bb_preprocess_passed(&p->steps, i);
    return bb_all_finite(length, own) && isfinite(intercept);
}

/* How far predictions go: the tasks' own rows say, at home. */
static bb_status find_limits(const bb_experiment *e, const bb_result *result,
                             bb_models *models) {
    const bb_dataset *rows = &e->population.train;
    double *fitted = NULL, *limit = NULL;
    bb_status status = bb_allocate(&fitted, rows->rows, sizeof *fitted, "the limits");
    if (!status)
        status = bb_allocate(&limit, models->tasks, 2 * sizeof *limit, "the limits");
    if (!status && rows->rows)
        status = bb_experiment_predict(e, result, models, rows, fitted);
    if (!status) {
        const bb_preprocess *steps = &e->population.steps;
        /* what others know of a column with a range may be far from what few rows saw */
        const bool own_units =
            bb_preprocess_is_own(steps) && !e->resolved->request->options.scale;
        bb_limits_find(rows, steps->features, own_units, fitted, limit);
        models->limit = limit;
        limit = NULL;
    }
    free(fitted);
    free(limit);
    return status;
}

static bb_status solved_models(const bb_experiment *e, const bb_result *result,
                               bb_models *out) {
    bb_models models = {0};
    bb_status status =
        bb_population_models(&e->population, result->model, result->intercept, &models);
    if (!status && e->run.pub.loss == BB_LOSS_SQUARED)
        status = find_limits(e, result, &models);
    if (status)
        bb_models_free(&models);
    else
        *out = models;
    return status;
}

bb_status bb_experiment_models(const bb_experiment *e, const bb_result *result,
                               bb_models *out) {
    const bb_dataset *data = &e->population.prepared;
    const bb_train_options *o = &e->resolved->request->options;
    const bb_model_kind kind = {.loss = e->run.pub.loss,
                                .outputs = e->population.outputs,
                                .net = o->net,
                                .image = {data->height, data->width, data->channels},
                                .parameters = e->net ? e->run.pub.parameters : 0};
    const uint32_t *cluster = e->population.cluster;
    bb_models models = {0};
    bb_status status;
    if (cluster) cluster += bb_dealt_from(&e->dealt);
    if (bb_resolved_is_solved(e->resolved)) return solved_models(e, result, out);
    if (data->sparse_first)
        status = bb_models_open_compact(
            &models, data, &kind, e->run.pub.clusters > 1 ? e->run.pub.clusters : 1,
            result->shared, cluster, e->local);
    else
        status = bb_models_open_kind(&models, data, &kind);
    if (!status) status = put_models(e, result, &models);
    if (!status)
        *out = models;
    else
        bb_models_free(&models);
    return status;
}

typedef struct predicting {
    const bb_experiment *e;
    const bb_result *result;
    const double *limit; /* of the models */
    double *prediction;
} predicting;

/* By the model as it was learned, on the rows as it has seen them. */
static void predict_task(void *context, size_t i, size_t worker) {
    const predicting *p = context;
    const bb_experiment *e = p->e;
    const bb_rows rows = bb_rows_of(&e->local[i]);
    const double intercept = p->result->intercept[i];
    double *z = p->prediction + e->population.train.first[i];
    (void)worker;
    bb_rows_multiply(&rows, p->result->model + p->result->first[i], z);
    for (size_t j = 0; j < rows.n; j++)
        z[j] =
            bb_limited(p->limit, i,
                       bb_preprocess_target(&e->population.steps, i, z[j] + intercept));
    e->run.observer.passed(e->run.observer.self, i, i + 1);
}

bb_status bb_experiment_predict(const bb_experiment *e, const bb_result *result,
                                const bb_models *models, const bb_dataset *rows,
                                double *prediction) {
    predicting p = {e, result, models->limit, prediction};
    if (rows != &e->population.train || !e->population.prepared_predict)
        return bb_models_predict(models, rows, &e->engine, prediction);
    e->engine.each(&e->engine, rows->tasks, predict_task, &p);
    return BB_OK;
}

bb_status bb_experiment_assess_train(const bb_experiment *e, const bb_result *result,
                                     const bb_models *models, bb_metrics *out) {
    const bb_dataset *rows = &e->population.train;
    const bb_loss loss = e->run.pub.loss;
    double *prediction = NULL;
    if (!e->population.prepared_predict)
        return bb_assess_metrics(models, loss, rows, &e->engine, out);
    bb_status status =
        bb_allocate(&prediction, rows->rows, sizeof *prediction, "the predictions");
    if (!status) status = bb_experiment_predict(e, result, models, rows, prediction);
    if (!status) {
        const bb_scored scored = {loss, rows->tasks, rows->first, rows->y, prediction};
        status = bb_metrics_all(&scored, out);
    }
    free(prediction);
    return status;
}

/* What is known of all rows' targets and of models on them. */
static bb_status sum_up(bb_experiment *e, const bb_metrics *train,
                        const bb_dataset *train_rows, const bb_dataset *test_rows) {
    bb_report *r = &e->report;
    bb_status status = bb_metrics_summary(e->test.tasks, e->test.figure, &r->per_task);
    if (!status)
        status = bb_metrics_majority(e->run.pub.loss, e->population.outputs, train_rows,
                                     test_rows, &r->majority);
    if (status) return status;
    r->train = *train;
    r->test = e->test.metrics;
    return BB_OK;
}

static bb_status assess_alone(bb_experiment *e) {
    const bb_population *p = &e->population;
    const bb_loss loss = e->run.pub.loss;
    bb_metrics train = bb_no_metrics();
    bb_status status = bb_experiment_assess_train(e, &e->result, &e->models, &train);
    if (!status) status = bb_assess(&e->models, loss, &p->test, &e->engine, &e->test);
    return status ? status : sum_up(e, &train, &p->train, &p->test);
}

static bb_status assess_ranks(bb_experiment *e) {
    const bb_population *p = &e->population;
    bb_assessed train = {0};
    bb_dataset train_rows = {0}, test_rows = {0};
    bb_status status = bb_experiment_assess(e, BB_OK, &p->train, &train_rows, &train);
    status = bb_experiment_assess(e, status, &p->test, &test_rows, &e->test);
    if (!status && e->dealt.ranks->number == 0)
        status = sum_up(e, &train.metrics, &train_rows, &test_rows);
    bb_assessed_close(&train);
    bb_dataset_free(&train_rows);
    bb_dataset_free(&test_rows);
    return bb_ranks_agree(e->dealt.ranks, status);
}

static bool is_zero(const bb_models *m) {
    if (!m->intercept) return false; /* of one output only: there alone it happens */
    for (size_t k = 0; k < m->tasks * m->features; k++)
        if (m->weight[k] != 0.0) return false;
    for (size_t i = 0; i < m->tasks; i++)
        if (m->intercept[i] != 0.0) return false;
    return true;
}

/* Few tasks that most of the squared error comes from, and what it is without them. */
enum { FEW = 3 };
typedef struct apart {
    size_t count, task[FEW]; /* none: it comes from many */
    double share, nmse;
} apart;

static bool is_apart(const apart *a, size_t task) {
    for (size_t k = 0; k < a->count; k++)
        if (a->task[k] == task) return true;
    return false;
}

/* What tasks add together, but for some. */
static bb_metric_part sum_without(const bb_assessed *test, const apart *a) {
    bb_metric_part sum = {0};
    for (size_t i = 0; i < test->tasks; i++) {
        if (is_apart(a, i)) continue;
        sum.weight += test->part[i].weight;
        sum.value += test->part[i].value;
        sum.sum += test->part[i].sum;
        sum.squares += test->part[i].squares;
    }
    return sum;
}

/* The task with the largest error of those that are not yet there. */
static size_t worst_of_others(const bb_assessed *test, const apart *a) {
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < test->tasks; i++) {
        if (!(test->part[i].weight > 0.0) || is_apart(a, i)) continue;
        if (worst == SIZE_MAX || !(test->part[i].value <= test->part[worst].value))
            worst = i;
    }
    return worst;
}

/* Most: half of it where the others do well, else nearly all. */
static apart set_apart(const bb_assessed *test) {
    static const double most = 0.5, nearly_all = 0.9;
    apart a = {0};
    const double all = sum_without(test, &a).value;
    while (a.count < FEW && 4 * (a.count + 1) <= test->metrics.tasks) {
        a.task[a.count] = worst_of_others(test, &a);
        a.count++;
        const bb_metric_part rest = sum_without(test, &a);
        a.nmse = bb_metrics_of_parts(test->loss, &rest);
        a.share = isfinite(all) ? 1.0 - rest.value / all : isfinite(rest.value);
        if (a.share > (a.nmse <= 1.0 ? most : nearly_all)) return a;
    }
    return (apart){0};
}

static void say_apart(const bb_experiment *e, const apart *a, char *text, size_t size) {
    char *const *const name =
        e->dealt.ranks ? e->dealt.task_name : e->population.test.task_name;
    char names[FEW * (BB_SHOWN_BYTES + 5)], shown[BB_SHOWN_BYTES];
    for (size_t k = 0, used = 0; k < a->count; k++) {
        const char *const task = name[a->task[k]];
        const char *const before = k == 0 ? "" : k + 1 < a->count ? ", " : " and ";
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", before,
                                 bb_shown(shown, task, strlen(task)));
    }
    const bool one = a->count == 1;
    snprintf(
        text, size,
        "%.4g %% of the squared error is that of task%s %s, without which nMSE is "
        "%.3g: look at %s rows, where a column may be in another unit, or far from "
        "what was learned from",
        100.0 * a->share, one ? "" : "s", names, a->nmse, one ? "its" : "their");
}

/* Does a method make steps whose size can be given? */
static bool has_rate(const bb_experiment *e) {
    const bool solved = bb_resolved_is_solved(e->resolved);
    for (size_t p = 0; p < e->run.phases; p++) {
        const bb_method *const m = e->run.phase[p].method;
        for (size_t k = 0; k < m->options.count; k++)
            if (strcmp(m->options.row[k].name, "rate") == 0 &&
                !(m->kind == BB_METHOD_ALONE && solved))
                return true;
    }
    return false;
}

/* Of results that are worse than the mean by far, or a bit; likely. */
static const char *cause_of(const bb_experiment *e, bool wild) {
    if (wild && has_rate(e))
        return "the method diverged: take a smaller rate, or columns of a smaller "
               "scale";
    if (isfinite(e->report.outcome.gap) && !e->report.outcome.converged)
        return "the method stopped before its tolerance: give it more rounds";
    if (bb_mechanism_is_noisy(e->run.mechanism))
        return "too much noise for so few tasks or so many rounds, or columns of a "
               "wrong scale (--scale)";
    return "columns of a wrong scale (--scale), or too weak a penalty";
}

static bool is_wild(bb_loss loss, const bb_metrics *m) {
    return m->nmse > 1e3 || (m->rows && loss == BB_LOSS_SQUARED && !isfinite(m->rmse));
}

/* Whether models have diverged, of which limits leave little to be seen: on the rows that they
 * learned from (of several ranks, rank 0's). */
static bool limits_hide(const bb_experiment *e) {
    bb_models models = e->dealt.ranks ? e->own : e->models;
    bb_metrics m = bb_no_metrics();
    if (!models.limit) return false;
    models.limit = NULL;
    return !bb_experiment_assess_train(e, &e->result, &models, &m) &&
           is_wild(e->run.pub.loss, &m);
}

/* Below chance, and not by chance: of few tasks, or of a few rows each, half are. */
static bool ranks_badly(const bb_experiment *e, const bb_metrics *m, bool tested) {
    double range[2];
    const bool below = m->auc < 0.5;
    if (!below || !tested || e->run.pub.loss != BB_LOSS_LOGISTIC) return below;
    return bb_assessed_range(&e->test, range) == BB_OK && range[1] < 0.5;
}

/* Worse than not learning at all: for the operator, who may see it. */
static void warn_of_results(bb_experiment *e) {
    bb_report *r = &e->report;
    const bool tested = r->test.rows > 0;
    const bb_metrics *m = tested ? &r->test : &r->train;
    const char *rows = tested ? "test" : "training";
    const bool poor = m->nmse > 1.0 || is_wild(e->run.pub.loss, m);
    const bool wild = poor && (is_wild(e->run.pub.loss, m) || limits_hide(e));
    const char *const cause = cause_of(e, wild);
    const apart few = poor && tested ? set_apart(&e->test) : (apart){0};
    if (few.count) {
        char words[400];
        say_apart(e, &few, words, sizeof words);
        snprintf(r->warning, sizeof r->warning,
                 "on test rows the models are worse than always saying the mean (nMSE "
                 "%.3g): %s",
                 m->nmse, words);
    } else if (poor)
        snprintf(r->warning, sizeof r->warning,
                 "on %s rows the models are worse than always saying the mean (nMSE "
                 "%.3g); likely %s",
                 rows, m->nmse, cause);
    else if (ranks_badly(e, m, tested))
        snprintf(r->warning, sizeof r->warning,
                 "on %s rows the models rank worse than chance (AUC %.3g); likely %s",
                 rows, m->auc, cause);
    else if (is_zero(&e->models))
        snprintf(r->warning, sizeof r->warning, "all models are zero; likely %s",
                 cause);
    if (r->warning[0]) bb_experiment_warn(e, r->warning);
}

/* A task's error on the held-out rows: with the squared loss the root of their mean
 * squared error over half of the target's public range, else what is missing to an AUC,
 * accuracy or F1 of 1; at most 1, and 1/2 where it has none. */
static bb_status keep_held_out(bb_experiment *e) {
    const bb_dataset *rows = &e->population.test;
    const bb_preprocess *steps = &e->population.steps;
    const bool squared = e->run.pub.loss == BB_LOSS_SQUARED;
    const double half = 0.5 * (steps->target.high - steps->target.low);
    if (squared && !(steps->has_target && half > 0.0)) return BB_OK;
    const bb_status status =
        bb_allocate(&e->held_out, rows->tasks, sizeof *e->held_out, "scores");
    for (size_t i = 0; i < rows->tasks && !status; i++) {
        const double n = (double)(rows->first[i + 1] - rows->first[i]);
        const double error =
            squared ? sqrt(e->test.score[i] / n) / half : 1.0 - e->test.figure[i];
        e->held_out[i] = isnan(error) ? 0.5 : fmin(1.0, error);
    }
    return status;
}

void bb_experiment_evaluate(bb_experiment *e) {
    bb_report *r = &e->report;
    bb_experiment_say(e, "evaluating");
    r->train = r->test = bb_no_metrics();
    r->per_task = (bb_summary){0, NAN, NAN, NAN};
    if (e->dealt.ranks ? assess_ranks(e) : assess_alone(e))
        bb_experiment_leave_out(e, "what the models reach is");
    else if (e->resolved->request->held_out && keep_held_out(e))
        bb_experiment_leave_out(e, "scores of held-out rows are");
    else if (bb_ranks_number(e->dealt.ranks) == 0)
        warn_of_results(e);
}
