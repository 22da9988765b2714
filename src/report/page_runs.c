#include "base/memory.h"
#include "report/curves.h"
#include "report/page.h"
#include "report/plot.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one run adds to a chart. */
typedef struct entry {
    const bb_reported *run;
    const char *method;
    bb_result_figures figures;
    double tasks, features, rows; /* the population, as far as runs tell */
    double epsilon;               /* NAN: not private */
    double delta;
    const char *adjacency, *sampling; /* or "" */
    bool done;                        /* it is in a chart already */
} entry;

static const char *or_nothing(const char *text) {
    return text ? text : "";
}

static entry read_entry(const bb_reported *run) {
    const json_t *promise =
        json_array_get(json_object_get(run->privacy, "guarantees"), 0);
    return (entry){.run = run,
                   .method = or_nothing(bb_reported_text(run->run, "method")),
                   .figures = bb_reported_figures(run),
                   .tasks = bb_reported_number(run->run, "tasks"),
                   .features = bb_reported_number(run->run, "features"),
                   .rows = bb_reported_number(run->run, "rows"),
                   .epsilon = bb_reported_number(promise, "epsilon"),
                   .delta = bb_reported_number(promise, "delta"),
                   .adjacency = or_nothing(bb_reported_text(promise, "adjacency")),
                   .sampling = or_nothing(bb_reported_text(promise, "sampling"))};
}

static bool same(double a, double b) {
    return fabs(a - b) <= 1e-9 * fabs(a);
}

static bool same_population(const entry *a, const entry *b) {
    return same(a->tasks, b->tasks) && same(a->features, b->features) &&
           same(a->rows, b->rows) && strcmp(a->figures.metric, b->figures.metric) == 0;
}

static int by_place(const void *a, const void *b) {
    const entry *one = a, *other = b;
    const int method = strcmp(one->method, other->method);
    if (method) return method;
    if (one->epsilon < other->epsilon) return -1;
    return one->epsilon > other->epsilon;
}

/* -- charts -- */

/* The curves of one population. */
typedef struct drawing {
    bb_drawn_curve curve[BB_MOST_CURVES];
    size_t curves, points;
    bb_curve_point *point; /* as many as there are runs */
    bb_level level[BB_AGAINSTS];
    size_t levelled[BB_AGAINSTS]; /* runs in each mean */
    const entry *first;           /* that is drawn */
    bool terms_differ;            /* of those that are: delta, adjacency, sampling */
} drawing;

enum { AXIS = 256 };

/* Epsilon, and what it needs to mean something. */
static void name_axis(const drawing *d, char text[AXIS]) {
    const entry *e = d->first;
    if (d->terms_differ)
        snprintf(text, AXIS,
                 "ε of a whole task (δ, adjacency and sampling differ: see the table)");
    else
        snprintf(text, AXIS, "ε of a whole task (δ = %g, %s, sampling %s)", e->delta,
                 e->adjacency, e->sampling);
}

static bool same_terms(const entry *a, const entry *b) {
    return same(a->delta, b->delta) && strcmp(a->adjacency, b->adjacency) == 0 &&
           strcmp(a->sampling, b->sampling) == 0;
}

/* The curve that a run belongs to: the last one, as runs are sorted, or a new one; NULL:
 * no colour is left. */
static bb_drawn_curve *curve_of(drawing *d, const char *method) {
    if (d->curves > 0 && strcmp(d->curve[d->curves - 1].name, method) == 0)
        return &d->curve[d->curves - 1];
    if (d->curves == BB_MOST_CURVES) return NULL;
    d->curve[d->curves] = (bb_drawn_curve){method, 0, d->point + d->points};
    return &d->curve[d->curves++];
}

static void add_point(drawing *d, const entry *e) {
    bb_drawn_curve *curve = curve_of(d, e->method);
    const double value = e->figures.test;
    if (!curve) return;
    if (!d->first) d->first = e;
    d->terms_differ = d->terms_differ || !same_terms(d->first, e);
    if (curve->points == 0 || !same(curve->point[curve->points - 1].x, e->epsilon)) {
        curve->point[curve->points++] =
            (bb_curve_point){e->epsilon, 0.0, INFINITY, -INFINITY, 0};
        d->points++;
    }
    bb_curve_point *last = &curve->point[curve->points - 1];
    last->mean += (value - last->mean) / (double)++last->runs;
    last->least = fmin(last->least, value);
    last->most = fmax(last->most, value);
}

static void add_levels(drawing *d, const entry *e) {
    for (bb_against whom = 0; whom < BB_AGAINST_MEAN; whom++) {
        const double value = e->figures.against[whom].value;
        bb_level *level = &d->level[whom];
        if (isnan(value)) continue;
        if (d->levelled[whom] == 0) *level = (bb_level){bb_against_name(whom), 0.0};
        level->value += (value - level->value) / (double)++d->levelled[whom];
    }
}

/* Draws the population of the first run that is in no chart yet. entries are sorted. */
static void draw_population(FILE *to, size_t runs, entry *list, size_t first,
                            drawing *d) {
    char axis[AXIS];
    *d = (drawing){.point = d->point};
    for (bb_against whom = 0; whom < BB_AGAINSTS; whom++) d->level[whom].value = NAN;
    for (size_t k = first; k < runs; k++) {
        if (list[k].done || !same_population(&list[first], &list[k])) continue;
        list[k].done = true;
        add_levels(d, &list[k]);
        if (!isnan(list[k].epsilon) && !isnan(list[k].figures.test))
            add_point(d, &list[k]);
    }
    if (d->points == 0) return;
    name_axis(d, axis);
    fprintf(to, "<figure><h3>%.0f task%s, %.0f feature%s, %.0f row%s</h3>\n",
            list[first].tasks, bb_plural(list[first].tasks), list[first].features,
            bb_plural(list[first].features), list[first].rows,
            bb_plural(list[first].rows));
    const bb_curves curves = {.title = "Privacy and accuracy",
                              .metric = list[first].figures.title,
                              .x = {.title = axis, .log = true},
                              .curves = d->curves,
                              .curve = d->curve,
                              .levels = BB_AGAINSTS,
                              .level = d->level};
    (void)bb_draw_curves(to, &curves);
    fputs("<figcaption>Means of runs, bars from the least to the most; lines of others "
          "looked at all tasks' rows without privacy.</figcaption></figure>\n",
          to);
}

/* -- table -- */

static void write_cell(FILE *to, double value) {
    fputs("<td>", to);
    bb_page_number(to, value);
    fputs("</td>", to);
}

static void write_run(FILE *to, const entry *e) {
    fputs("<tr><th scope=\"row\">", to);
    bb_svg_text(to, bb_report_name(e->run));
    fputs("</th><td>", to);
    bb_svg_text(to, e->method);
    fputs("</td><td>", to);
    bb_report_promise(to, e->run);
    fprintf(to, "</td><td>%s</td>", e->figures.title);
    write_cell(to, e->figures.test);
    for (bb_against whom = 0; whom < BB_AGAINST_MEAN; whom++)
        write_cell(to, e->figures.against[whom].value);
    fputs("</tr>\n", to);
}

static const char *ledger_of(const entry *e) {
    return bb_reported_text(e->run->privacy, "ledger");
}

static bool is_first_of_ledger(const entry *list, size_t k) {
    const char *own = ledger_of(&list[k]);
    for (size_t j = 0; own && j < k; j++) {
        const char *other = ledger_of(&list[j]);
        if (other && strcmp(own, other) == 0) return false;
    }
    return own != NULL;
}

static void write_table(FILE *to, size_t runs, const entry *list) {
    fputs("<section id=\"runs\"><h2>Every run</h2>\n<div class=\"wide\"><table "
          "class=\"runs\"><thead>"
          "<tr><th scope=\"col\">run</th><th scope=\"col\">method</th><th "
          "scope=\"col\">protects</th><th scope=\"col\">metric</th><th "
          "scope=\"col\">this run</th>",
          to);
    for (bb_against whom = 0; whom < BB_AGAINST_MEAN; whom++)
        fprintf(to, "<th scope=\"col\">%s</th>", bb_against_name(whom));
    fputs("</tr></thead><tbody>\n", to);
    for (size_t k = 0; k < runs; k++) write_run(to, &list[k]);
    fputs(
        "</tbody></table></div>\n<p>Runs on the same population add up, in ε and in δ: "
        "what several of them promise together is in their ledger.</p>\n",
        to);
    for (size_t k = 0; k < runs; k++)
        if (is_first_of_ledger(list, k)) bb_page_budget(to, ledger_of(&list[k]));
    fputs("</section>\n", to);
}

static bool any_promise(size_t runs, const entry *list) {
    bool any = false;
    for (size_t k = 0; k < runs; k++) any = any || !isnan(list[k].epsilon);
    return any;
}

bb_status bb_page_runs(FILE *to, size_t runs, const bb_reported *run) {
    entry *list = NULL;
    drawing d = {0};
    bb_status status = bb_allocate(&list, runs, sizeof *list, "a report of runs");
    if (!status)
        status = bb_allocate(&d.point, runs, sizeof *d.point, "a report of runs");
    if (!status && list) {
        for (size_t k = 0; k < runs; k++) list[k] = read_entry(&run[k]);
        qsort(list, runs, sizeof *list, by_place);
        fputs("<section id=\"curves\"><h2>Privacy and accuracy</h2>\n", to);
        if (!any_promise(runs, list))
            fputs("<p>No run here keeps an ε (there is no noise, or it is seeded): "
                  "nothing is drawn over it.</p>\n",
                  to);
        for (size_t k = 0; k < runs; k++)
            if (!list[k].done) draw_population(to, runs, list, k, &d);
        fputs("</section>\n", to);
        write_table(to, runs, list);
    }
    free(d.point);
    free(list);
    return status;
}
