#include "train/report.h"

#include "base/json.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bb_loss bb_report_loss(const bb_report *r) {
    return (bb_loss)r->request->options.loss;
}

const char *bb_report_mechanism(const bb_report *r) {
    return r->statement.count ? r->statement.guarantee[0].mechanism
                              : bb_mechanism_none.name;
}

/* -- JSON -- */

json_t *bb_metrics_json(const bb_metrics *m) {
    return json_pack(
        "{s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "rows",
        (json_int_t)m->rows, "tasks", (json_int_t)m->tasks, "tasks_without_rows",
        (json_int_t)m->without_rows, "tasks_of_one_class", (json_int_t)m->one_class,
        "nmse", bb_json_real(m->nmse), "rmse", bb_json_real(m->rmse), "r2",
        bb_json_real(m->r2), "auc", bb_json_real(m->auc), "accuracy",
        bb_json_real(m->accuracy), "log_loss", bb_json_real(m->log_loss), "precision",
        bb_json_real(m->precision), "recall", bb_json_real(m->recall), "f1",
        bb_json_real(m->f1), "recall_at_5", bb_json_real(m->recall_at_5));
}

json_t *bb_majority_json(const bb_majority *m, bool own, bb_loss loss, const char *of) {
    const bb_metrics *part = own ? &m->own : &m->pooled;
    const json_int_t rows = (json_int_t)part->rows;
    if (!m->there) return json_null();
    if (loss == BB_LOSS_MULTILABEL)
        return json_pack("{s:s,s:o,s:o,s:o,s:o,s:I}", "of", of, "precision",
                         bb_json_real(part->precision), "recall",
                         bb_json_real(part->recall), "f1", bb_json_real(part->f1),
                         "recall_at_5", bb_json_real(part->recall_at_5), "rows", rows);
    return json_pack("{s:s,s:o,s:o,s:o,s:I}", "of", of, "accuracy",
                     bb_json_real(part->accuracy), "auc", bb_json_real(part->auc),
                     "log_loss", bb_json_real(part->log_loss), "rows", rows);
}

json_t *bb_summary_json(const bb_summary *s, bb_loss loss) {
    return json_pack("{s:s,s:I,s:o,s:o,s:o}", "metric", bb_loss_metric(loss), "tasks",
                     (json_int_t)s->tasks, "min", bb_json_real(s->least), "median",
                     bb_json_real(s->median), "max", bb_json_real(s->most));
}

static json_t *text_or_null(const char *text) {
    return text ? json_string(text) : json_null();
}

/* The statement's object, with its first guarantee's figures on top. */
static json_t *privacy_json(const bb_report *r) {
    json_t *object = bb_statement_json(&r->statement);
    const bool any = r->statement.count > 0;
    const bb_guarantee *g = &r->statement.guarantee[0];
    const bool valid = any && bb_statement_holds(&r->statement, 0);
    json_t *top = json_pack("{s:b,s:o,s:o,s:o,s:s,s:s,s:o}", "valid", valid, "epsilon",
                            bb_json_real(valid ? g->epsilon : NAN), "delta",
                            bb_json_real(valid ? g->delta : NAN), "adjacency",
                            text_or_null(any ? bb_adjacency_name(g->adjacency) : NULL),
                            "sampling", any ? g->sampling : "all", "mechanism",
                            bb_report_mechanism(r), "noise_multiplier",
                            bb_json_real(any ? g->noise_multiplier : NAN));
    if (!object || json_object_update(object, top)) {
        json_decref(object);
        object = NULL;
    }
    json_decref(top);
    return object;
}

static const char *const columns_name[] = {"standardized", "as-read", "from-zero"};

static json_t *recipe_json(const bb_recipe *r) {
    if (!r->epochs) return json_null();
    return json_pack("{s:i,s:f,s:I,s:b}", "batch", BB_TRIAL_BATCH, "rate", r->rate,
                     "epochs", (json_int_t)r->epochs, "epochs_at_edge", r->edge);
}

static json_t *learnt_json(const bb_baseline *b, const char *note) {
    if (!b->there) return json_null();
    const bool chosen = !isnan(b->lambda);
    return json_pack("{s:o,s:o,s:o,s:o,s:s,s:o}", "recipe", recipe_json(&b->recipe),
                     "lambda", bb_json_real(b->lambda), "columns",
                     text_or_null(chosen ? columns_name[b->columns] : NULL),
                     "lambda_at_edge", chosen ? json_boolean(b->edge) : json_null(),
                     "note", note, "test", bb_metrics_json(&b->test));
}

/* Linear: by its likelihood; centred: by cross-validation. */
static json_t *mixed_json(const bb_baseline *b) {
    if (!b->there) return json_null();
    const bool linear = isnan(b->lambda);
    const bb_mixed *m = &b->mixed;
    return json_pack(
        "{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o}", "model",
        linear ? bb_mixed_form_name(m->form) : "centred", "residual_deviation",
        bb_json_real(linear ? m->residual : NAN), "intercept_deviation",
        bb_json_real(linear ? m->intercept : NAN), "icc",
        bb_json_real(linear ? m->icc : NAN), "lambda", bb_json_real(b->lambda),
        "intercept_ratio", bb_json_real(linear ? NAN : b->centred.ratio),
        "lambda_at_edge", linear ? json_null() : json_boolean(b->edge), "note",
        "for evaluation only: a mixed model, which looks at all tasks' training rows",
        "test", bb_metrics_json(&b->test));
}

static json_t *range_json(const double range[2]) {
    return json_pack("[o,o]", bb_json_real(range[0]), bb_json_real(range[1]));
}

static json_t *gain_json(const bb_baseline *b) {
    const bb_gain *g = &b->gain;
    if (!b->there) return json_null();
    return json_pack(
        "{s:I,s:b,s:o,s:o,s:o,s:o,s:o}", "tasks", (json_int_t)g->tasks, "by_log_loss",
        (int)g->by_log_loss, "share_not_worse", bb_json_real(g->not_worse),
        "share_better", bb_json_real(g->better), "share_better_interval",
        range_json(g->better_range), "improvement", bb_json_real(g->improvement),
        "improvement_interval", range_json(g->improvement_range));
}

static json_t *mean_json(const bb_baseline *b) {
    if (!b->there) return json_null();
    return json_pack("{s:s,s:o,s:o}", "of", "training", "nmse",
                     bb_json_real(b->test.nmse), "rmse", bb_json_real(b->test.rmse));
}

static json_t *own_json(const bb_baseline *baseline) {
    if (!baseline->there) return json_null();
    return json_pack("{s:s,s:o}", "note",
                     "for evaluation only: every task alone, its penalty chosen by its "
                     "own training rows",
                     "test", bb_metrics_json(&baseline->test));
}

static json_t *no_privacy_json(const bb_baseline *baseline) {
    if (!baseline->there) return json_null();
    return json_pack("{s:s,s:o,s:o}", "note",
                     "for evaluation only: the same method without noise or clipping",
                     "test", bb_metrics_json(&baseline->test), "share_not_worse",
                     bb_json_real(baseline->gain.not_worse));
}

static json_t *figure_json(const bb_baseline *b) {
    return b->there ? range_json(b->range) : json_null();
}

bool bb_report_is_compared(const bb_report *r) {
    return r->stl.there || r->pooled.there || r->mixed.there || r->no_privacy.there;
}

/* The loss's metric on the test rows, by itself. */
static json_t *intervals_json(const bb_report *r) {
    return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "metric",
                     bb_loss_metric(bb_report_loss(r)), "test",
                     bb_report_is_compared(r) ? range_json(r->test_range) : json_null(),
                     "stl", figure_json(&r->stl), "own", figure_json(&r->own), "pooled",
                     figure_json(&r->pooled), "mixed", figure_json(&r->mixed),
                     "no-privacy", figure_json(&r->no_privacy));
}

static json_t *compare_json(const bb_report *r) {
    const bb_gain *gain = r->stl.there ? &r->stl.gain : NULL;
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:{s:s,s:o,s:o,s:o,s:o}}", "stl",
        learnt_json(&r->stl, "for evaluation only: every task alone, from its rows as "
                             "read; its penalty was chosen by pooled cross-validation, "
                             "which looks at all tasks' training rows"),
        "own", own_json(&r->own), "no-privacy", no_privacy_json(&r->no_privacy),
        "share_not_worse", bb_json_real(gain ? gain->not_worse : NAN), "share_better",
        bb_json_real(gain ? gain->better : NAN), "pooled",
        learnt_json(&r->pooled, "for evaluation only: one model for all, from the rows "
                                "of all tasks as read"),
        "mixed", mixed_json(&r->mixed), "mean", mean_json(&r->mean), "mean_task",
        mean_json(&r->own_mean), "intervals", intervals_json(r), "gain", "interval",
        "95 %, of shares Wilson's, else percentiles of 1000 resamples of the tasks",
        "stl", gain_json(&r->stl), "own", gain_json(&r->own), "pooled",
        gain_json(&r->pooled), "mixed", gain_json(&r->mixed));
}

static json_t *phases_json(const bb_train_request *request) {
    json_t *list = json_array();
    for (size_t k = 0; k < request->phases && list; k++)
        if (json_array_append_new(list, json_string(request->phase[k].method->name))) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

static json_t *hope_json(const bb_report *r) {
    const bb_hope *h = &r->hope;
    char text[BB_HOPE_TEXT];
    if (!r->foreseen) return json_null();
    bb_hope_say(h, text);
    return json_pack("{s:o,s:o,s:o,s:o,s:b,s:s}", "reach", bb_json_real(h->reach),
                     "least", bb_json_real(h->least), "tasks", bb_json_real(h->tasks),
                     "epsilon", bb_json_real(h->epsilon), "alone_is_enough",
                     h->alone_is_enough, "text", text);
}

json_t *bb_report_json(const bb_report *r) {
    const json_int_t rounds = (json_int_t)r->rounds;
    return json_pack(
        "{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:o,s:o,s:b,s:o,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:s,"
        "s:s,"
        "s:{s:f,s:f,s:f},s:{s:s,s:I},s:o,s:o,s:o,s:o,s:o,s:O?,s:s?,s:s?}",
        "program", "billboard", "version", BB_VERSION, "method",
        r->request->phase[0].method->name, "loss", bb_loss_name(bb_report_loss(r)),
        "tasks", (json_int_t)r->tasks, "features", (json_int_t)r->features, "rows",
        (json_int_t)r->rows, "objective", bb_json_real(r->outcome.objective), "gap",
        bb_json_real(r->outcome.gap), "converged", r->outcome.converged, "lambda",
        bb_json_real(r->outcome.lambda > 0.0 ? r->outcome.lambda : NAN), "iterations",
        rounds, "rounds", rounds, "privacy", privacy_json(r), "train",
        bb_metrics_json(&r->train), "test", bb_metrics_json(&r->test), "per_task",
        bb_summary_json(&r->per_task, bb_report_loss(r)), "compare", compare_json(r),
        "billboard_sha256", r->billboard_sha256, "models_sha256", r->models_sha256,
        "seconds", "read", r->seconds_read, "solve", r->seconds_solve, "total",
        r->seconds_total, "machine", "openblas_core", bb_linalg_core(), "threads",
        (json_int_t)r->threads, "majority",
        bb_majority_json(&r->majority, false, bb_report_loss(r), "training"),
        "majority_task",
        bb_majority_json(&r->majority, true, bb_report_loss(r), "training"), "phases",
        phases_json(r->request), "never_picked",
        r->sampled ? json_integer((json_int_t)r->never_picked) : json_null(), "hope",
        hope_json(r), "effects", r->effects, "note", r->note, "warning",
        r->warning[0] ? r->warning : NULL);
}
