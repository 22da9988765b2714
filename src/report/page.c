#include "report/page.h"

#include "base/json.h"
#include "report/charts.h"
#include "report/plot.h"
#include "report/report.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* chart.css, page.css, charts.js and page.js as they are in this folder, and Debian's d3
 * with its licences, or nothing (CMakeLists.txt). */
static const char chart_css[] = {
#include "report/chart.css.inc"
};
static const char page_css[] = {
#include "report/page.css.inc"
};
static const char page_js[] = {
#include "report/page.js.inc"
};
static const char charts_js[] = {
#include "report/charts.js.inc"
};
static const char d3_js[] = {
#include "report/d3.js.inc"
};
static const char d3_licences[] = {
#include "report/d3.txt.inc"
};

const char *bb_page_chart_css(void) {
    return chart_css;
}

void bb_page_number(FILE *to, double value) {
    if (isnan(value))
        fputs("–", to);
    else
        fprintf(to, "%.4g", value);
}

void bb_page_share(FILE *to, double value, bool sign) {
    if (isnan(value))
        fputs("–", to);
    else
        fprintf(to, sign ? "%+.1f %%" : "%.1f %%", 100.0 * value);
}

/* -- promise -- */

/* Why a run does not keep what it claims. */
static void write_why(FILE *to, const json_t *privacy, const json_t *g) {
    const double least = bb_reported_number(g, "true_delta_at_least");
    if (json_is_true(json_object_get(privacy, "seeded")))
        fputs(": its noise is seeded, for simulations", to);
    if (json_is_true(json_object_get(privacy, "ranges_from_data")))
        fputs(": its rows were scaled by ranges that were taken from them", to);
    if (json_is_true(json_object_get(privacy, "options_from_data")))
        fputs(": its options were chosen by looking at the data", to);
    if (!isnan(least)) fprintf(to, ": δ is at least %.3g", least);
    fputs(".", to);
}

static void write_guarantee(FILE *to, const json_t *privacy, const json_t *g) {
    const bool valid = json_is_true(json_object_get(g, "valid"));
    fputs("<p class=\"promise\"><strong>ε = ", to);
    bb_page_number(to, bb_reported_number(g, valid ? "epsilon" : "claimed_epsilon"));
    fputs("</strong>, δ = ", to);
    bb_page_number(to, bb_reported_number(g, valid ? "delta" : "claimed_delta"));
    fputs(" for a whole ", to);
    bb_svg_text(to, bb_reported_text(g, "unit"));
    fputs(" (adjacency ", to);
    bb_svg_text(to, bb_reported_text(g, "adjacency"));
    fputs(", sampling ", to);
    bb_svg_text(to, bb_reported_text(g, "sampling"));
    fputs(")", to);
    if (!valid) {
        fputs(". <strong class=\"bad\">This very run does not have it</strong>", to);
        write_why(to, privacy, g);
    }
    fputs("</p>\n", to);
}

static void write_paragraphs(FILE *to, const char *text) {
    while (text && *text) {
        const size_t length = strcspn(text, "\n");
        fputs("<p>", to);
        for (size_t k = 0; k < length; k++) {
            const char one[] = {text[k], '\0'};
            bb_svg_text(to, one);
        }
        fputs("</p>\n", to);
        text += length + (text[length] == '\n');
    }
}

static void write_promise(FILE *to, const bb_reported *run) {
    const json_t *list = json_object_get(run->privacy, "guarantees");
    size_t k;
    json_t *g;
    fputs("<section id=\"privacy\"><h2>What is promised</h2>\n", to);
    if (bb_report_is_alone(run))
        fputs("<p class=\"promise\">Nothing was published: every task learned alone, "
              "from its own rows</p>\n",
              to);
    else if (json_array_size(list) == 0)
        fputs("<p class=\"promise\"><strong class=\"bad\">This run is not private"
              "</strong></p>\n",
              to);
    json_array_foreach(list, k, g) {
        if (!bb_report_is_alone(run)) write_guarantee(to, run->privacy, g);
    }
    bb_page_budget(to, bb_reported_text(run->privacy, "ledger"));
    json_array_foreach(json_object_get(run->privacy, "warnings"), k, g) {
        fputs("<p class=\"bad\">", to);
        bb_svg_text(to, json_string_value(g) ? json_string_value(g) : "");
        fputs("</p>\n", to);
    }
    fputs("<details><summary>The whole statement</summary>\n", to);
    write_paragraphs(to, bb_reported_text(run->privacy, "statement"));
    fputs("</details></section>\n", to);
}

/* -- result -- */

static void write_range(FILE *to, const double range[2], bool sign) {
    if (isnan(range[0])) return;
    fputs(" <span class=\"n\">(", to);
    bb_page_share(to, range[0], sign);
    fputs(" to ", to);
    bb_page_share(to, range[1], sign);
    fputs(")</span>", to);
}

static void write_figure_range(FILE *to, const double range[2]) {
    if (isnan(range[0])) return;
    fputs(" <span class=\"n\">(", to);
    bb_page_number(to, range[0]);
    fputs(" to ", to);
    bb_page_number(to, range[1]);
    fputs(")</span>", to);
}

static void write_row(FILE *to, const char *name, const bb_figure *f) {
    if (isnan(f->value)) return;
    fputs("<tr><th scope=\"row\">", to);
    bb_svg_text(to, name);
    fputs("</th><td>", to);
    bb_page_number(to, f->value);
    write_figure_range(to, f->range);
    fputs("</td><td>", to);
    bb_page_share(to, f->gain, true);
    write_range(to, f->gain_range, true);
    fputs("</td><td>", to);
    bb_page_share(to, f->share, false);
    write_range(to, f->share_range, false);
    fputs("</td></tr>\n", to);
}

static void write_figures(FILE *to, const bb_result_figures *f, const char *method) {
    const bb_figure own = {.value = f->test,
                           .range = {f->test_range[0], f->test_range[1]},
                           .gain = NAN,
                           .gain_range = {NAN, NAN},
                           .share = NAN,
                           .share_range = {NAN, NAN}};
    fprintf(to,
            "<div class=\"wide\"><table class=\"figures\"><thead><tr><td></td><th "
            "scope=\"col\">%s on test "
            "rows</th><th scope=\"col\">%s</th><th scope=\"col\">tasks that gain</th>"
            "</tr></thead><tbody>\n",
            f->title,
            f->less_is_better ? "squared error that this run saves" : "this run gains");
    write_row(to, method, &own);
    for (bb_against whom = 0; whom < BB_AGAINSTS; whom++)
        write_row(to, bb_against_name(whom), &f->against[whom]);
    fputs("</tbody></table></div>\n", to);
}

static void write_note(FILE *to, const bb_reported *run, const char *name) {
    const char *text = bb_reported_text(run->run, name);
    if (!text) return;
    fputs("<p class=\"bad\">", to);
    bb_svg_text(to, text);
    fputs("</p>\n", to);
}

static void write_result(FILE *to, const bb_reported *run) {
    const bb_result_figures f = bb_reported_figures(run);
    const double tasks = bb_reported_number(run->run, "tasks"),
                 features = bb_reported_number(run->run, "features"),
                 rows = bb_reported_number(run->run, "rows");
    if (!run->run) return;
    fprintf(to,
            "<section id=\"result\"><h2>What came of it</h2>\n<p>%.0f task%s, %.0f "
            "feature%s, %.0f row%s. %s on the rows that were learned from: ",
            tasks, bb_plural(tasks), features, bb_plural(features), rows,
            bb_plural(rows), f.title);
    bb_page_number(to, f.train);
    fprintf(to, ". %s is better.</p>\n", f.less_is_better ? "Less" : "More");
    write_note(to, run, "warning");
    write_note(to, run, "note");
    if (isnan(f.test))
        fputs("<p>There were no test rows (<code>--train-fraction</code>, "
              "<code>--test</code>).</p>\n",
              to);
    else
        write_figures(to, &f, bb_reported_text(run->run, "method"));
    fputs("<figure>", to);
    if (bb_draw_gains(to, &f))
        fputs(
            "<figcaption>Dots left of zero: this run is worse. Lines are 95 % "
            "intervals over tasks. Whom it is compared with looked at all tasks' rows "
            "without privacy.</figcaption>",
            to);
    fputs("</figure></section>\n", to);
}

/* -- rounds and options -- */

static void add_column(const bb_table *t, bb_over_rounds *o, const char *name) {
    const size_t column = bb_table_column(t, name);
    if (column != SIZE_MAX) o->column[o->columns++] = column;
}

static void write_rounds(FILE *to, const bb_table *t, bb_over_rounds o, const char *one,
                         const char *other) {
    add_column(t, &o, one);
    if (*other) add_column(t, &o, other);
    fputs("<figure>", to);
    if (o.columns > 0 && bb_draw_rounds(to, t, &o) && *other)
        fputs("<figcaption>Test rows; dashed: training rows.</figcaption>", to);
    fputs("</figure>\n", to);
}

static void write_trace(FILE *to, const bb_reported *run) {
    const bb_table *t = &run->trace;
    const bb_result_figures f = bb_reported_figures(run);
    char test[40], train[40];
    if (t->rows < 2) return;
    snprintf(test, sizeof test, "test_%s", f.metric);
    snprintf(train, sizeof train, "train_%s", f.metric);
    fputs("<section id=\"rounds\"><h2>Round by round</h2>\n<p>ε so far is ", to);
    if (json_is_true(bb_json_at(run->privacy, "guarantees.0.valid"))) {
        fputs("for ", to);
        bb_report_promise(to, run);
        fputs(", as the whole run", to);
    } else {
        fputs("what the rounds would cost if this run had what it claims", to);
    }
    fputs(".</p><div class=\"grid\">\n", to);
    write_rounds(to, t, (bb_over_rounds){.title = "ε so far", .from_zero = true},
                 "epsilon", "");
    write_rounds(to, t, (bb_over_rounds){.title = f.title}, test, train);
    write_rounds(to, t, (bb_over_rounds){.title = "loss"}, "test_loss", "train_loss");
    write_rounds(to, t, (bb_over_rounds){.title = "noise over signal"},
                 "noise_over_signal", "");
    fputs("</div></section>\n", to);
}

static void write_value(FILE *to, const json_t *value) {
    if (json_is_string(value)) {
        bb_svg_text(to, json_string_value(value));
    } else if (json_is_integer(value)) {
        fprintf(to, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        fprintf(to, "%.10g", json_real_value(value));
    } else if (json_is_boolean(value)) {
        fputs(json_is_true(value) ? "yes" : "no", to);
    } else {
        char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(10));
        bb_svg_text(to, text ? text : "");
        free(text);
    }
}

static void write_option(FILE *to, const char *name, const json_t *value) {
    if (!value || json_is_null(value)) return;
    fputs("<tr><th scope=\"row\">", to);
    bb_svg_text(to, name);
    fputs("</th><td>", to);
    write_value(to, value);
    fputs("</td></tr>\n", to);
}

static void write_options(FILE *to, const bb_reported *run) {
    static const char *const about[] = {"version", "rounds", "billboard_sha256",
                                        "models_sha256"};
    json_t *options = json_object_get(run->options, "options"), *value;
    const char *name;
    fputs("<section id=\"options\"><h2>How it was run</h2>\n<details><summary>Options "
          "and fingerprints</summary><table class=\"options\"><tbody>\n",
          to);
    json_object_foreach(options, name, value) write_option(to, name, value);
    for (size_t k = 0; k < sizeof about / sizeof *about; k++)
        write_option(to, about[k], bb_json_at(run->run, about[k]));
    write_option(to, "ledger", json_object_get(run->privacy, "ledger"));
    write_option(to, "seconds", bb_json_at(run->run, "seconds.total"));
    fputs("</tbody></table></details></section>\n", to);
}

/* -- the page -- */

static void write_head(FILE *to, const char *title, bool operator_only) {
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>",
          to);
    bb_svg_text(to, title);
    fprintf(to, "</title>\n<style>\n%s%s</style></head><body>\n", chart_css, page_css);
    fputs("<header><h1>", to);
    bb_svg_text(to, title);
    fputs("</h1>\n", to);
    if (operator_only)
        fputs("<p class=\"operator\">For the one operator who holds all data: figures "
              "and models on this page are not covered by ε. Do not publish it.</p>\n",
              to);
    fputs("</header><main>\n", to);
}

static bb_status write_run(FILE *to, const bb_reported *run) {
    write_promise(to, run);
    write_result(to, run);
    bb_page_effects(to, run);
    bb_status status = bb_page_tasks(to, run);
    write_trace(to, run);
    if (!status) status = bb_page_structure(to, run);
    write_options(to, run);
    return status;
}

static void write_foot(FILE *to) {
    const bool answer = *d3_js != '\0';
    fprintf(to, "</main><footer>Billboard %s%s</footer>\n", BB_VERSION,
            answer ? "; charts with d3, whose licences are in the page's source" : "");
    if (answer)
        fprintf(to, "<script>/*\n%s*/\n%s</script>\n<script>\n%s</script>\n",
                d3_licences, d3_js, charts_js);
    fprintf(to, "<script>\n%s</script>\n</body></html>\n", page_js);
}

bb_status bb_report_page(FILE *to, size_t runs, const bb_reported *run) {
    bool operator_only = false;
    for (size_t k = 0; k < runs; k++) operator_only |= run[k].run != NULL;
    write_head(to, runs == 1 ? bb_report_name(run) : "Several runs", operator_only);
    const bb_status status =
        runs == 1 ? write_run(to, run) : bb_page_runs(to, runs, run);
    write_foot(to);
    return status;
}

bb_status bb_report_experiment_page(FILE *to, const json_t *results) {
    const char *title = json_string_value(bb_json_at(results, "definition.title"));
    write_head(to, title ? title : "An experiment", false);
    const bb_status status = bb_page_experiment(to, results);
    write_foot(to);
    return status;
}
