#include "train/report.h"

#include "base/json.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bb_loss loss_of(const bb_report *r) {
    return (bb_loss)r->request->options.loss;
}

/* The noise of the run's promise. */
static const char *mechanism_of(const bb_report *r) {
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
    json_t *top =
        json_pack("{s:b,s:o,s:o,s:o,s:s,s:s,s:o}", "valid", valid, "epsilon",
                  bb_json_real(valid ? g->epsilon : NAN), "delta",
                  bb_json_real(valid ? g->delta : NAN), "adjacency",
                  text_or_null(any ? bb_adjacency_name(g->adjacency) : NULL),
                  "sampling", any ? g->sampling : "all", "mechanism", mechanism_of(r),
                  "noise_multiplier", bb_json_real(any ? g->noise_multiplier : NAN));
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
    return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o}", "tasks", (json_int_t)g->tasks,
                     "share_not_worse", bb_json_real(g->not_worse), "share_better",
                     bb_json_real(g->better), "share_better_interval",
                     range_json(g->better_range), "improvement",
                     bb_json_real(g->improvement), "improvement_interval",
                     range_json(g->improvement_range));
}

static json_t *mean_json(const bb_baseline *b) {
    if (!b->there) return json_null();
    return json_pack("{s:s,s:o,s:o}", "of", "training", "nmse",
                     bb_json_real(b->test.nmse), "rmse", bb_json_real(b->test.rmse));
}

static json_t *no_privacy_json(const bb_baseline *baseline) {
    if (!baseline->there) return json_null();
    return json_pack("{s:s,s:o,s:o}", "note",
                     "for evaluation only: the same method without noise or clipping",
                     "test", bb_metrics_json(&baseline->test), "share_not_worse",
                     bb_json_real(baseline->gain.not_worse));
}

static json_t *compare_json(const bb_report *r) {
    const bb_gain *gain = r->stl.there ? &r->stl.gain : NULL;
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:{s:s,s:o,s:o,s:o}}", "stl",
        learnt_json(&r->stl, "for evaluation only: every task alone, from its rows as "
                             "read; its penalty was chosen by pooled cross-validation, "
                             "which looks at all tasks' training rows"),
        "no-privacy", no_privacy_json(&r->no_privacy), "share_not_worse",
        bb_json_real(gain ? gain->not_worse : NAN), "share_better",
        bb_json_real(gain ? gain->better : NAN), "pooled",
        learnt_json(&r->pooled, "for evaluation only: one model for all, from the rows "
                                "of all tasks as read"),
        "mixed", mixed_json(&r->mixed), "mean", mean_json(&r->mean), "mean_task",
        mean_json(&r->own_mean), "gain", "interval",
        "95 %, percentiles of 1000 resamples of the tasks", "stl", gain_json(&r->stl),
        "pooled", gain_json(&r->pooled), "mixed", gain_json(&r->mixed));
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

json_t *bb_report_json(const bb_report *r) {
    const json_int_t rounds = (json_int_t)r->rounds;
    return json_pack(
        "{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:o,s:o,s:b,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:s,s:s,"
        "s:{s:f,s:f,s:f},s:{s:s,s:I},s:o,s:o,s:o,s:o,s:s?,s:s?}",
        "program", "billboard", "version", BB_VERSION, "method",
        r->request->phase[0].method->name, "loss", bb_loss_name(loss_of(r)), "tasks",
        (json_int_t)r->tasks, "features", (json_int_t)r->features, "rows",
        (json_int_t)r->rows, "objective", bb_json_real(r->outcome.objective), "gap",
        bb_json_real(r->outcome.gap), "converged", r->outcome.converged, "iterations",
        rounds, "rounds", rounds, "privacy", privacy_json(r), "train",
        bb_metrics_json(&r->train), "test", bb_metrics_json(&r->test), "per_task",
        bb_summary_json(&r->per_task, loss_of(r)), "compare", compare_json(r),
        "billboard_sha256", r->billboard_sha256, "models_sha256", r->models_sha256,
        "seconds", "read", r->seconds_read, "solve", r->seconds_solve, "total",
        r->seconds_total, "machine", "openblas_core", bb_linalg_core(), "threads",
        (json_int_t)r->threads, "majority",
        bb_majority_json(&r->majority, false, loss_of(r), "training"), "majority_task",
        bb_majority_json(&r->majority, true, loss_of(r), "training"), "phases",
        phases_json(r->request), "never_picked",
        r->sampled ? json_integer((json_int_t)r->never_picked) : json_null(), "note",
        r->note, "warning", r->warning[0] ? r->warning : NULL);
}

/* -- for people -- */

/* What a line of a table shows of each loss. */
static const struct {
    const char *name[2];
    size_t at[2];
} column[] = {
    {{"nMSE", "RMSE"}, {offsetof(bb_metrics, nmse), offsetof(bb_metrics, rmse)}},
    {{"AUC", "accuracy"}, {offsetof(bb_metrics, auc), offsetof(bb_metrics, accuracy)}},
    {{"accuracy", "log loss"},
     {offsetof(bb_metrics, accuracy), offsetof(bb_metrics, log_loss)}},
    {{"F1", "recall@5"},
     {offsetof(bb_metrics, f1), offsetof(bb_metrics, recall_at_5)}}};

void bb_metrics_heading(FILE *stream, bb_loss loss) {
    fprintf(stream, "%-42s %10s %10s %8s\n", "", column[loss].name[0],
            column[loss].name[1], "rows");
}

static void print_number(FILE *stream, double value) {
    if (isnan(value))
        fprintf(stream, " %10s", "-");
    else
        fprintf(stream, fabs(value) < 1e5 ? " %10.4f" : " %10.3g", value);
}

void bb_metrics_line(FILE *stream, bb_loss loss, const char *name,
                     const bb_metrics *m) {
    fprintf(stream, "%-42s", name);
    for (int k = 0; k < 2; k++) {
        double value;
        memcpy(&value, (const char *)m + column[loss].at[k], sizeof value);
        print_number(stream, value);
    }
    fprintf(stream, " %8zu\n", m->rows);
}

void bb_majority_lines(FILE *stream, bb_loss loss, const char *of,
                       const bb_majority *m) {
    const char *const which =
        loss == BB_LOSS_MULTILABEL ? "5 commonest" : "commonest class";
    char line[64];
    if (!m->there) return;
    snprintf(line, sizeof line, "%s of %s", which, of);
    bb_metrics_line(stream, loss, line, &m->pooled);
    snprintf(line, sizeof line, "each task's %s of %s", which, of);
    bb_metrics_line(stream, loss, line, &m->own);
}

/* What the noise of the marked line is for: never epsilon alone. */
static void print_star(const bb_report *r, FILE *stream) {
    for (size_t k = 0; k < r->statement.count; k++) {
        const bb_guarantee *g = &r->statement.guarantee[k];
        const char *doubt = bb_statement_holds(&r->statement, k) ? ""
                            : g->valid && r->statement.seeded ? "not private (seeded), "
                                                              : "claimed, not valid, ";
        fprintf(stream, "* %s%s: epsilon %g, delta %g, %s, sampling %s\n", doubt,
                strcmp(g->unit, "task") == 0 ? "a whole task" : "one row", g->epsilon,
                g->delta, bb_adjacency_name(g->adjacency), g->sampling);
    }
}

static void print_baseline(const bb_report *r, FILE *stream, const char *name,
                           const bb_baseline *b) {
    char line[64];
    if (!b->there) return;
    if (b->recipe.epochs)
        snprintf(line, sizeof line, "test rows: %s (%g x %u)", name, b->recipe.rate,
                 (unsigned)b->recipe.epochs);
    else
        snprintf(line, sizeof line, "test rows: %s (%.3g)", name, b->lambda);
    bb_metrics_line(stream, loss_of(r), line, &b->test);
}

static void print_mixed(const bb_report *r, FILE *stream) {
    static const char *const name[BB_MIXED_FORMS] = {
        "random intercept", "equal slopes", "independent slopes", "correlated slopes"};
    const bb_baseline *b = &r->mixed;
    char line[64];
    if (!b->there) return;
    if (isnan(b->lambda))
        snprintf(line, sizeof line, "test rows: mixed model, %s", name[b->mixed.form]);
    else
        snprintf(line, sizeof line, "test rows: mixed model, centred (%.3g)",
                 b->lambda);
    bb_metrics_line(stream, loss_of(r), line, &b->test);
}

static void print_table(const bb_report *r, FILE *stream) {
    /* the names of several phases are too long for a table */
    const char *name =
        strstr(r->request->name, " then ") ? "this run" : r->request->name;
    char line[64];
    if (!r->rows) return; /* a curator's */
    bb_metrics_heading(stream, loss_of(r));
    bb_metrics_line(stream, loss_of(r), "training rows", &r->train);
    if (!r->test.rows) return;
    print_baseline(r, stream, "every task alone", &r->stl);
    print_baseline(r, stream, "one model for all", &r->pooled);
    print_mixed(r, stream);
    if (r->statement.count)
        snprintf(line, sizeof line, "test rows: %.30s, %s noise *", name,
                 mechanism_of(r));
    else
        snprintf(line, sizeof line, "test rows: %.40s", name);
    bb_metrics_line(stream, loss_of(r), line, &r->test);
    if (r->no_privacy.there) {
        snprintf(line, sizeof line, "test rows: %.40s, no privacy", name);
        bb_metrics_line(stream, loss_of(r), line, &r->no_privacy.test);
    }
    bb_majority_lines(stream, loss_of(r), "training", &r->majority);
    if (r->mean.there) {
        bb_metrics_line(stream, loss_of(r), "mean of training", &r->mean.test);
        bb_metrics_line(stream, loss_of(r), "each task's mean of training",
                        &r->own_mean.test);
    }
    print_star(r, stream);
}

static void print_gain(const bb_report *r, FILE *stream, const char *name,
                       const bb_baseline *b) {
    const bb_gain *g = &b->gain;
    if (!b->there || !g->tasks) return;
    fprintf(stream, "compared with %s: %.1f %% of %zu tasks gain", name,
            100.0 * g->better, g->tasks);
    if (isfinite(g->better_range[0]))
        fprintf(stream, " (95 %%: %.1f to %.1f)", 100.0 * g->better_range[0],
                100.0 * g->better_range[1]);
    fprintf(stream, ", %.1f %% are not worse", 100.0 * g->not_worse);
    if (isfinite(g->improvement) && isfinite(g->improvement_range[0]))
        fprintf(stream, ";\n    %s: %+.4g (95 %%: %+.4g to %+.4g)",
                loss_of(r) == BB_LOSS_SQUARED ? "part of the squared error saved"
                                              : "mean difference of a task",
                g->improvement, g->improvement_range[0], g->improvement_range[1]);
    putc('\n', stream);
}

static void print_edge(FILE *stream, const char *name, const bb_baseline *b) {
    if (b->there && (b->edge || b->recipe.edge))
        fprintf(stream,
                "the %s of %s is the least or the largest that was\ntried: it may be "
                "better with another\n",
                b->recipe.edge ? "number of epochs" : "penalty", name);
}

static void print_gains(const bb_report *r, FILE *stream) {
    print_gain(r, stream, "every task alone", &r->stl);
    print_gain(r, stream, "one model for all", &r->pooled);
    print_gain(r, stream, "a mixed model", &r->mixed);
    if (r->stl.there && r->stl.recipe.epochs)
        fputs("these are for evaluation only: rates and epochs (in brackets) were "
              "chosen on a fifth of all\ntasks' training rows\n",
              stream);
    else if (r->stl.there)
        fputs("these are for evaluation only: from the rows as read; penalties (in "
              "brackets) were\nchosen by cross-validation over all tasks' training "
              "rows\n",
              stream);
    print_edge(stream, "every task alone", &r->stl);
    print_edge(stream, "one model for all", &r->pooled);
    print_edge(stream, "the mixed model", &r->mixed);
}

static void print_tasks(const bb_report *r, FILE *stream) {
    if (r->per_task.tasks)
        fprintf(stream,
                "one task's %s: least %.4g, median %.4g, most %.4g (%zu tasks)\n",
                column[loss_of(r)].name[0], r->per_task.least, r->per_task.median,
                r->per_task.most, r->per_task.tasks);
    if (r->test.rows && r->test.without_rows)
        fprintf(stream, "%zu task%s no test rows, in no test figure\n",
                r->test.without_rows, r->test.without_rows == 1 ? " has" : "s have");
    if (r->test.one_class)
        fprintf(stream, "%zu task%s test rows of one class only and no AUC\n",
                r->test.one_class, r->test.one_class == 1 ? " has" : "s have");
    if (r->never_picked && r->request->phase[0].method->keeps)
        fprintf(stream,
                "%zu task%s part in no round and kept the public start (only the "
                "operator may know)\n",
                r->never_picked, r->never_picked == 1 ? " took" : "s took");
}

bb_status bb_report_text(const bb_report *r, FILE *stream) {
    char *statement = NULL;
    const bb_status status = bb_statement_text(&r->statement, &statement);
    if (status) return status;
    fprintf(stream, "%s, %s loss: %zu tasks, %zu features, %zu rows\n",
            r->request->name, bb_loss_name(loss_of(r)), r->tasks, r->features, r->rows);
    fprintf(stream, "%u round%s", r->rounds, r->rounds == 1 ? "" : "s");
    if (r->seconds_total > 0.0)
        fprintf(stream, " in %.2f s (%.2f s with reading and evaluation)",
                r->seconds_solve, r->seconds_total);
    putc('\n', stream);
    if (isfinite(r->outcome.objective))
        fprintf(stream, "objective %.10g", r->outcome.objective);
    if (isfinite(r->outcome.objective) && isfinite(r->outcome.gap))
        fprintf(stream, ", certified gap %.3g%s", r->outcome.gap,
                r->outcome.converged ? "" : " (stopped before its tolerance)");
    if (isfinite(r->outcome.objective)) putc('\n', stream);
    if (r->rows) putc('\n', stream);
    print_table(r, stream);
    if (r->note) fprintf(stream, "%s\n", r->note);
    print_tasks(r, stream);
    print_gains(r, stream);
    fprintf(stream, "\n%s", statement);
    free(statement);
    return BB_OK;
}
