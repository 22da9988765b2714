/* An experiment: its figures, and the table behind them; or its figures alone, as SVG. */
#include "report/figures.h"
#include "report/page.h"
#include "report/plot.h"

#include <math.h>
#include <string.h>

static const char *text_of(const json_t *results, const char *name) {
    const char *text = json_string_value(
        json_object_get(json_object_get(results, "definition"), name));
    return text ? text : "";
}

/* -- the page -- */

static void write_figure(void *self, const char *title, const char *panel,
                         const bb_curves *curves) {
    FILE *to = self;
    fputs("<figure><h3>", to);
    bb_svg_text(to, title);
    fputs("</h3>\n<p>", to);
    bb_svg_text(to, panel);
    fputs("</p>\n", to);
    (void)bb_draw_curves(to, curves);
    fputs("<figcaption>Means over seeds, bars from the least to the most.</figcaption>"
          "</figure>\n",
          to);
}

static void write_heading(FILE *to, const json_t *columns) {
    static const char *const own[] = {"figure", "runs", "mean",   "deviation",
                                      "least",  "most", "promise"};
    fputs("<section id=\"means\"><h2>The figures in numbers</h2>\n<div class=\"wide\">"
          "<table class=\"means\"><thead><tr>",
          to);
    for (size_t c = 0; c < json_array_size(columns); c++) {
        fputs("<th scope=\"col\">", to);
        bb_svg_text(to, json_string_value(json_array_get(columns, c)));
        fputs("</th>", to);
    }
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        fprintf(to, "<th scope=\"col\">%s</th>", own[k]);
    fputs("</tr></thead><tbody>\n", to);
}

static void write_number(FILE *to, const json_t *row, const char *name) {
    const json_t *at = json_object_get(row, name);
    fputs("<td>", to);
    bb_page_number(to, json_is_number(at) ? json_number_value(at) : NAN);
    fputs("</td>", to);
}

static void write_row(FILE *to, const json_t *row) {
    static const char *const number[] = {"count", "mean", "deviation", "least", "most"};
    static const char *const text[] = {"column", "promise"};
    const json_t *labels = json_object_get(row, "labels");
    char label[120];
    fputs("<tr>", to);
    for (size_t c = 0; c < json_array_size(labels); c++) {
        bb_label_text(json_array_get(labels, c), label, sizeof label);
        fputs(c ? "<td>" : "<th scope=\"row\">", to);
        bb_svg_text(to, label);
        fputs(c ? "</td>" : "</th>", to);
    }
    for (size_t k = 0; k < 2; k++) {
        const char *value = json_string_value(json_object_get(row, text[k]));
        if (k)
            for (size_t n = 0; n < sizeof number / sizeof *number; n++)
                write_number(to, row, number[n]);
        fputs("<td>", to);
        bb_svg_text(to, value ? value : "none");
        fputs("</td>", to);
    }
    fputs("</tr>\n", to);
}

bb_status bb_page_experiment(FILE *to, const json_t *results) {
    const bb_figure_taker taker = {to, write_figure};
    const json_t *means = json_object_get(results, "means");
    const char *source = text_of(results, "source");
    fputs("<section id=\"about\"><p>", to);
    bb_svg_text(to, text_of(results, "about"));
    fputs("</p>\n", to);
    if (*source && strcmp(source, "ours") != 0) {
        fputs("<p>After: ", to);
        bb_svg_text(to, source);
        fputs(".</p>\n", to);
    }
    fputs("<p class=\"n\">", to);
    const char *note = json_string_value(json_object_get(results, "note"));
    bb_svg_text(to, note ? note : "");
    fputs("</p></section>\n<section id=\"figures\"><h2>Figures</h2>\n", to);
    const bb_status status = bb_figures_draw(results, &taker);
    fputs("</section>\n", to);
    write_heading(to, json_object_get(results, "columns"));
    for (size_t k = 0; k < json_array_size(means); k++)
        write_row(to, json_array_get(means, k));
    fputs("</tbody></table></div></section>\n", to);
    return status;
}

/* -- the pictures alone -- */

enum { TITLE = 26, SUBTITLE = 20, GAP = 16 };

typedef struct column {
    FILE *to; /* NULL: only the height is wanted */
    int at;
} column;

static void put_line(column *c, const char *text, const char *class, int height) {
    c->at += height;
    if (!c->to) return;
    fprintf(c->to, "<text class=\"%s\" x=\"8\" y=\"%d\">", class, c->at - 6);
    bb_svg_text(c->to, text);
    fputs("</text>\n", c->to);
}

static void put_figure(void *self, const char *title, const char *panel,
                       const bb_curves *curves) {
    column *c = self;
    const int height = bb_curves_height(curves);
    put_line(c, title, "t", TITLE);
    if (*panel) put_line(c, panel, "n", SUBTITLE);
    if (c->to) {
        fprintf(c->to, "<svg x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\">\n", c->at,
                BB_CHART_WIDTH, height);
        (void)bb_draw_curves(c->to, curves);
        fputs("</svg>\n", c->to);
    }
    c->at += height + GAP;
}

bb_status bb_page_figures(FILE *to, const json_t *results) {
    column measured = {NULL, 0}, written = {to, 0};
    const bb_figure_taker measure = {&measured, put_figure},
                          write = {&written, put_figure};
    bb_status status = bb_figures_draw(results, &measure);
    if (!status && measured.at == 0)
        status = bb_fail(BB_EDATA, "the experiment has no figure that can be drawn");
    if (status) return status;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"",
            BB_CHART_WIDTH, measured.at, BB_CHART_WIDTH, measured.at);
    bb_svg_text(to, text_of(results, "title"));
    fprintf(to,
            "\">\n<style>\n%s</style>\n<rect class=\"paper\" width=\"%d\" "
            "height=\"%d\"/>\n",
            bb_page_chart_css(), BB_CHART_WIDTH, measured.at);
    status = bb_figures_draw(results, &write);
    fputs("</svg>\n", to);
    return status;
}
