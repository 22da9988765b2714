/* What a run or an evaluation found, for people. */
#include "train/effects.h"
#include "train/report.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(bb_metrics, field)
/* What a line of a table shows of each loss. */
static const struct {
    const char *name[3]; /* NULL: no third one */
    size_t at[3];
} column[] = {{{"nMSE", "RMSE"}, {AT(nmse), AT(rmse)}},
              {{"AUC", "accuracy", "log loss"}, {AT(auc), AT(accuracy), AT(log_loss)}},
              {{"accuracy", "log loss"}, {AT(accuracy), AT(log_loss)}},
              {{"F1", "recall@5"}, {AT(f1), AT(recall_at_5)}}};

static void heading(FILE *stream, bb_loss loss) {
    fprintf(stream, "%-42s", "");
    for (int k = 0; k < 3 && column[loss].name[k]; k++)
        fprintf(stream, " %10s", column[loss].name[k]);
    fprintf(stream, " %8s", "rows");
}

static void print_number(FILE *stream, double value) {
    if (isnan(value))
        fprintf(stream, " %10s", "-");
    else
        fprintf(stream, fabs(value) < 1e5 ? " %10.4f" : " %10.3g", value);
}

static void cells(FILE *stream, bb_loss loss, const char *name, const bb_metrics *m) {
    fprintf(stream, "%-42s", name);
    for (int k = 0; k < 3 && column[loss].name[k]; k++) {
        double value;
        memcpy(&value, (const char *)m + column[loss].at[k], sizeof value);
        print_number(stream, value);
    }
    fprintf(stream, " %8zu", m->rows);
}

static void plain_line(FILE *stream, bb_loss loss, const char *name,
                       const bb_metrics *m) {
    cells(stream, loss, name, m);
    putc('\n', stream);
}

/* With the interval of the first figure. */
static void line_with_range(FILE *stream, bb_loss loss, const char *name,
                            const bb_metrics *m, const double range[2]) {
    cells(stream, loss, name, m);
    if (isfinite(range[0])) fprintf(stream, "  %.4f to %.4f", range[0], range[1]);
    putc('\n', stream);
}

static void majority_lines(FILE *stream, bb_loss loss, const bb_majority *m) {
    const char *const which =
        loss == BB_LOSS_MULTILABEL ? "5 commonest" : "commonest class";
    char line[64];
    if (!m->there) return;
    snprintf(line, sizeof line, "%s of training", which);
    plain_line(stream, loss, line, &m->pooled);
    snprintf(line, sizeof line, "each task's %s of training", which);
    plain_line(stream, loss, line, &m->own);
}

/* Who is protected, and from whom. */
static const char *protected_unit(const bb_guarantee *g) {
    if (g->one_door) return "a whole task, from whoever keeps one door";
    if (g->both_doors) return "a whole task, from whoever keeps neither door";
    return strcmp(g->unit, "task") == 0 ? "a whole task" : "one row";
}

static const char *doubt_of(const bb_statement *statement, size_t k) {
    if (bb_statement_holds(statement, k)) return "";
    return statement->guarantee[k].valid && statement->seeded ? "not private (seeded), "
                                                              : "claimed, not valid, ";
}

/* What the noise of the marked line is for: never epsilon alone. */
static void print_star(const bb_report *r, FILE *stream) {
    if (r->statement.alone) return;
    for (size_t k = 0; k < r->statement.count; k++) {
        const bb_guarantee *g = &r->statement.guarantee[k];
        fprintf(stream, "* %s%s: epsilon %g, delta %g, %s, sampling %s\n",
                doubt_of(&r->statement, k), protected_unit(g), g->epsilon, g->delta,
                bb_adjacency_name(g->adjacency), g->sampling);
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
    line_with_range(stream, bb_report_loss(r), line, &b->test, b->range);
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
    line_with_range(stream, bb_report_loss(r), line, &b->test, b->range);
}

static void print_table(const bb_report *r, FILE *stream) {
    /* the names of several phases are too long for a table */
    const char *name =
        strstr(r->request->name, " then ") ? "this run" : r->request->name;
    const double none[2] = {NAN, NAN};
    char line[64];
    if (!r->rows) return; /* a curator's */
    heading(stream, bb_report_loss(r));
    fputs(bb_report_is_compared(r) ? "  95 % over tasks\n" : "\n", stream);
    plain_line(stream, bb_report_loss(r), "training rows", &r->train);
    if (!r->test.rows) return;
    print_baseline(r, stream, "every task alone", &r->stl);
    if (r->own.there)
        line_with_range(stream, bb_report_loss(r),
                        "test rows: every task alone, own penalty", &r->own.test,
                        r->own.range);
    print_baseline(r, stream, "one model for all", &r->pooled);
    print_mixed(r, stream);
    if (r->statement.count && !r->statement.alone)
        snprintf(line, sizeof line, "test rows: %.30s, %s noise *", name,
                 bb_report_mechanism(r));
    else
        snprintf(line, sizeof line, "test rows: %.40s", name);
    line_with_range(stream, bb_report_loss(r), line, &r->test,
                    bb_report_is_compared(r) ? r->test_range : none);
    if (r->no_privacy.there) {
        snprintf(line, sizeof line, "test rows: %.40s, no privacy", name);
        line_with_range(stream, bb_report_loss(r), line, &r->no_privacy.test,
                        r->no_privacy.range);
    }
    majority_lines(stream, bb_report_loss(r), &r->majority);
    if (r->mean.there) {
        plain_line(stream, bb_report_loss(r), "mean of training", &r->mean.test);
        plain_line(stream, bb_report_loss(r), "each task's mean of training",
                   &r->own_mean.test);
    }
    if (bb_report_loss(r) == BB_LOSS_SQUARED && !isnan(r->test.auc))
        fprintf(
            stream,
            "targets are 0 or 1 (classes: --loss logistic); mean of the tasks' AUC: "
            "training %.4f, test %.4f\n",
            r->train.auc, r->test.auc);
    print_star(r, stream);
}

static void print_gain(const bb_report *r, FILE *stream, const char *name,
                       const bb_baseline *b) {
    const bb_gain *g = &b->gain;
    if (!b->there || !g->tasks) return;
    fprintf(stream, "compared with %s%s: %.1f %% of %zu task%s gain%s", name,
            g->by_log_loss ? ", by log loss" : "", 100.0 * g->better, g->tasks,
            bb_plural((double)g->tasks), g->tasks == 1 ? "s" : "");
    if (isfinite(g->better_range[0]))
        fprintf(stream, " (95 %%: %.1f to %.1f)", 100.0 * g->better_range[0],
                100.0 * g->better_range[1]);
    if (g->not_worse > g->better)
        fprintf(stream, ", %.1f %% are not worse", 100.0 * g->not_worse);
    if (isfinite(g->improvement))
        fprintf(stream, ";\n    %s: %+.4g",
                bb_report_loss(r) == BB_LOSS_SQUARED ? "part of the squared error saved"
                : g->by_log_loss                     ? "saved by a task on average"
                                                     : "mean difference of a task",
                g->improvement);
    if (isfinite(g->improvement) && isfinite(g->improvement_range[0]))
        fprintf(stream, " (95 %%: %+.4g to %+.4g)", g->improvement_range[0],
                g->improvement_range[1]);
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
    print_gain(r, stream, "every task alone, own penalty", &r->own);
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

/* A task's nMSE is of its own targets' variance, which a few rows do not tell. */
static bool tells_of_tasks(const bb_report *r) {
    enum { FEW_ROWS = 10 };
    return r->per_task.tasks && (bb_report_loss(r) != BB_LOSS_SQUARED ||
                                 r->test.rows >= FEW_ROWS * r->test.tasks);
}

static void print_tasks(const bb_report *r, FILE *stream) {
    if (tells_of_tasks(r))
        fprintf(
            stream, "one task's %s: least %.4g, median %.4g, most %.4g (%zu task%s)\n",
            column[bb_report_loss(r)].name[0], r->per_task.least, r->per_task.median,
            r->per_task.most, r->per_task.tasks, bb_plural((double)r->per_task.tasks));
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

static void print_hope(const bb_report *r, FILE *stream) {
    char text[BB_HOPE_TEXT];
    if (!r->foreseen) return;
    bb_hope_say(&r->hope, text);
    fprintf(stream, "beforehand: %s\n", text);
}

bb_status bb_report_text(const bb_report *r, FILE *stream) {
    char *statement = NULL;
    const bb_status status = bb_statement_text(&r->statement, &statement);
    if (status) return status;
    fprintf(stream, "%s, %s loss: %zu task%s, %zu feature%s, %zu row%s\n",
            r->request->name, bb_loss_name(bb_report_loss(r)), r->tasks,
            bb_plural((double)r->tasks), r->features, bb_plural((double)r->features),
            r->rows, bb_plural((double)r->rows));
    fprintf(stream, "%u round%s", r->rounds, bb_plural(r->rounds));
    if (r->seconds_total > 0.0)
        fprintf(stream, " in %.2f s (%.2f s with reading and evaluation)",
                r->seconds_solve, r->seconds_total);
    putc('\n', stream);
    if (r->request->options.standardize == BB_STANDARDIZE_MAGNITUDE)
        fprintf(stream,
                "%sin units that tasks found themselves: ranges that anybody knows "
                "(--scale) help where tasks are few or have few rows\n",
                r->request->options.scale ? "what has no range is " : "");
    if (r->outcome.lambda > 0.0)
        fprintf(stream, "lambda=auto was %.4g\n", r->outcome.lambda);
    if (isfinite(r->outcome.objective))
        fprintf(stream, "objective %.10g", r->outcome.objective);
    if (isfinite(r->outcome.objective) && isfinite(r->outcome.gap))
        fprintf(stream, ", certified gap %.3g%s", r->outcome.gap,
                r->outcome.converged ? "" : " (stopped before its tolerance)");
    if (isfinite(r->outcome.objective)) putc('\n', stream);
    if (r->rows) putc('\n', stream);
    print_table(r, stream);
    if (r->effects) bb_effects_text(r->effects, stream);
    print_hope(r, stream);
    if (r->note) fprintf(stream, "%s\n", r->note);
    print_tasks(r, stream);
    print_gains(r, stream);
    fprintf(stream, "\n%s", statement);
    free(statement);
    return BB_OK;
}
