#include "models/models.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

/* How a form writes a table: what stands before a line, between cells, and behind. */
static const struct {
    const char *before, *between, *after;
} line_of[BB_REPORT_FORMS] = {[BB_REPORT_MARKDOWN] = {"| ", " | ", " |\n"},
                              [BB_REPORT_CSV] = {"", ",", "\n"},
                              [BB_REPORT_LATEX] = {"", " & ", " \\\\\n"},
                              [BB_REPORT_SVG] = {"", "", ""}};

typedef struct table {
    FILE *to;
    bb_report_form form;
    size_t cell; /* of the line */
} table;

static void next(table *t) {
    fputs(t->cell++ ? line_of[t->form].between : line_of[t->form].before, t->to);
}

static void end(table *t) {
    fputs(line_of[t->form].after, t->to);
    t->cell = 0;
}

static void text_in_latex(FILE *to, const char *text) {
    for (; *text; text++) {
        if (strchr("&%$#_{}", *text)) putc('\\', to);
        if (*text == '\\')
            fputs("\\textbackslash{}", to);
        else if (*text == '~' || *text == '^')
            fprintf(to, "\\%c{}", *text);
        else
            putc(*text, to);
    }
}

static void text_in_markdown(FILE *to, const char *text) {
    for (; *text; text++) {
        if (strchr("|\\`*_<", *text)) putc('\\', to);
        putc(*text, to);
    }
}

static void text(table *t, const char *value) {
    next(t);
    if (t->form == BB_REPORT_LATEX)
        text_in_latex(t->to, value);
    else if (t->form == BB_REPORT_MARKDOWN)
        text_in_markdown(t->to, value);
    else
        bb_write_field(t->to, value);
}

static void number(table *t, double value) {
    next(t);
    if (isnan(value))
        fputs(t->form == BB_REPORT_CSV ? "" : "--", t->to);
    else
        fprintf(t->to, t->form == BB_REPORT_CSV ? "%.9g" : "%.4g", value);
}

static void heading(table *t) {
    static const char *const name[] = {"run",   "method",    "epsilon",
                                       "delta", "adjacency", "sampling",
                                       "valid", "metric",    "test"};
    static const char *const whom[] = {"alone", "pooled", "mixed", "no privacy",
                                       "trivial"};
    enum { NAMES = sizeof name / sizeof *name };
    if (t->form == BB_REPORT_LATEX)
        fprintf(t->to, "\\begin{tabular}{llrrllllrrrrrrrrr}\n\\hline\n");
    for (size_t k = 0; k < NAMES; k++) text(t, name[k]);
    for (size_t k = 0; k < BB_AGAINSTS; k++) text(t, whom[k]);
    text(t, "gain over alone");
    text(t, "from");
    text(t, "to");
    end(t);
    if (t->form == BB_REPORT_LATEX) fputs("\\hline\n", t->to);
    if (t->form != BB_REPORT_MARKDOWN) return;
    for (size_t k = 0; k < NAMES + BB_AGAINSTS + 3; k++) {
        next(t);
        fputs("---", t->to);
    }
    end(t);
}

static const char *or_dash(const char *value) {
    return value ? value : "-";
}

static void write_run(table *t, const bb_reported *run) {
    const json_t *promise =
        json_array_get(json_object_get(run->privacy, "guarantees"), 0);
    const bb_result_figures f = bb_reported_figures(run);
    const bb_figure *alone = &f.against[BB_AGAINST_ALONE];
    const bool valid = json_is_true(json_object_get(promise, "valid"));
    text(t, bb_report_name(run));
    text(t, or_dash(bb_reported_text(run->privacy, "method")));
    number(t, bb_reported_number(promise, "epsilon"));
    number(t, bb_reported_number(promise, "delta"));
    text(t, or_dash(bb_reported_text(promise, "adjacency")));
    text(t, or_dash(bb_reported_text(promise, "sampling")));
    text(t, valid ? "yes" : "no");
    text(t, f.title);
    number(t, f.test);
    for (bb_against whom = 0; whom < BB_AGAINSTS; whom++)
        number(t, f.against[whom].value);
    number(t, alone->gain);
    number(t, alone->gain_range[0]);
    number(t, alone->gain_range[1]);
    end(t);
}

void bb_report_table(FILE *to, bb_report_form form, size_t runs,
                     const bb_reported *run) {
    table t = {to, form, 0};
    heading(&t);
    for (size_t k = 0; k < runs; k++) write_run(&t, &run[k]);
    if (form == BB_REPORT_LATEX) fputs("\\hline\n\\end{tabular}\n", to);
}

/* -- an experiment -- */

static const char *const mean_column[] = {"column", "count", "mean",   "deviation",
                                          "least",  "most",  "promise"};
enum { MEAN_COLUMNS = sizeof mean_column / sizeof *mean_column };

static void begin_means(table *t, const json_t *columns) {
    const size_t labels = json_array_size(columns);
    if (t->form == BB_REPORT_LATEX) {
        fputs("\\begin{tabular}{", t->to);
        for (size_t k = 0; k < labels + MEAN_COLUMNS; k++) putc('l', t->to);
        fputs("}\n\\hline\n", t->to);
    }
    for (size_t k = 0; k < labels; k++)
        text(t, or_dash(json_string_value(json_array_get(columns, k))));
    for (size_t k = 0; k < MEAN_COLUMNS; k++) text(t, mean_column[k]);
    end(t);
    if (t->form == BB_REPORT_LATEX) fputs("\\hline\n", t->to);
    if (t->form != BB_REPORT_MARKDOWN) return;
    for (size_t k = 0; k < labels + MEAN_COLUMNS; k++) {
        next(t);
        fputs("---", t->to);
    }
    end(t);
}

static void value(table *t, const json_t *json) {
    if (json_is_string(json))
        text(t, json_string_value(json));
    else
        number(t, json_is_number(json) ? json_number_value(json) : NAN);
}

void bb_report_means(FILE *to, bb_report_form form, const json_t *results) {
    const json_t *means = json_object_get(results, "means");
    table t = {to, form, 0};
    begin_means(&t, json_object_get(results, "columns"));
    for (size_t k = 0; k < json_array_size(means); k++) {
        const json_t *row = json_array_get(means, k),
                     *labels = json_object_get(row, "labels");
        for (size_t c = 0; c < json_array_size(labels); c++)
            value(&t, json_array_get(labels, c));
        for (size_t c = 0; c < MEAN_COLUMNS; c++)
            value(&t, json_object_get(row, mean_column[c]));
        end(&t);
    }
    if (form == BB_REPORT_LATEX) fputs("\\hline\n\\end{tabular}\n", to);
}
