#include "report/charts.h"

#include "report/plot.h"

#include <math.h>
#include <string.h>

/* How far apart results are before they get a logarithmic axis. */
#define FAR 5.0

enum {
    WIDTH = 720,
    LEFT = 96,
    RIGHT = 700,
    TOP = 14,
    ROW = 44,        /* of one comparison */
    HEIGHT = 330,    /* of a chart with two axes */
    BELOW = 60,      /* numbers and title of the x axis */
    MOST_DOTS = 800, /* of the strip of tasks */
    MANY = 500       /* dots that lie on each other */
};

void bb_chart_begin(FILE *to, int width, int height, const char *title,
                    const char *about) {
    fprintf(to, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", width, height);
    bb_svg_text(to, title);
    fputs(": ", to);
    bb_svg_text(to, about);
    fputs("\">\n", to);
}

static bb_plot plot_of(FILE *to, bb_axis x, bb_axis y) {
    return (bb_plot){x, y, LEFT, RIGHT, TOP, HEIGHT - BELOW, to};
}

/* -- gains -- */

static size_t gains_drawn(const bb_result_figures *f, double *value) {
    size_t count = 0;
    for (bb_against whom = 0; whom < BB_AGAINSTS; whom++) {
        const bb_figure *a = &f->against[whom];
        if (isnan(a->gain)) continue;
        value[count++] = a->gain;
        value[count++] = isnan(a->gain_range[0]) ? a->gain : a->gain_range[0];
        value[count++] = isnan(a->gain_range[1]) ? a->gain : a->gain_range[1];
    }
    return count;
}

static void draw_gain(const bb_plot *p, const bb_figure *f, const char *name,
                      double y) {
    const double x = bb_plot_x(p, f->gain);
    const char *class = f->gain < 0.0 ? "loss" : "gain";
    bb_plot_series(p, NULL);
    fprintf(p->to, "<text class=\"l\" x=\"%g\" y=\"%g\">", p->left - 200.0, y + 5.0);
    bb_svg_text(p->to, name);
    fprintf(p->to, "</text><path class=\"bar %s\" d=\"M%.1f %gH%.1f\"/>", class,
            bb_plot_x(p, 0.0), y, x);
    if (!isnan(f->gain_range[0]))
        fprintf(p->to, "<path class=\"whisker\" d=\"M%.1f %gH%.1f\"/>",
                bb_plot_x(p, f->gain_range[0]), y, bb_plot_x(p, f->gain_range[1]));
    fprintf(p->to, "<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%g\" r=\"5\"><title>",
            class, x, y);
    bb_svg_text(p->to, name);
    fprintf(p->to, ": %.4g", f->gain);
    if (!isnan(f->gain_range[0]))
        fprintf(p->to, " (%.4g to %.4g)", f->gain_range[0], f->gain_range[1]);
    fputs("</title></circle></g>\n", p->to);
}

bool bb_draw_gains(FILE *to, const bb_result_figures *f) {
    const char *title = f->less_is_better ? "part of the squared error that is saved"
                                          : "gain, mean over tasks";
    double value[3 * BB_AGAINSTS];
    bb_axis x = {.title = title}, y = {.title = ""};
    const size_t count = gains_drawn(f, value);
    if (count == 0 || !bb_axis_cover(&x, value, count, true)) return false;
    const int bottom = TOP + (int)(count / 3) * ROW;
    y.most = 1.0;
    const bb_plot p = {x, y, 230, RIGHT, TOP, bottom, to};
    double at = TOP + 0.5 * ROW;
    bb_chart_begin(to, WIDTH, bottom + BELOW, "What this run gains", title);
    bb_plot_axis_x(&p);
    fprintf(to, "<path class=\"zero\" d=\"M%.1f %dV%d\"/>\n", bb_plot_x(&p, 0.0), TOP,
            bottom);
    for (bb_against whom = 0; whom < BB_AGAINSTS; whom++) {
        if (isnan(f->against[whom].gain)) continue;
        draw_gain(&p, &f->against[whom], bb_against_name(whom), at);
        at += ROW;
    }
    fputs("</svg>\n", to);
    return true;
}

/* -- tasks -- */

/* The area between zero and the gains of tasks a to b - 1, at most MOST_DOTS of them. */
static void draw_area(const bb_plot *p, const char *class, size_t count,
                      const double *gain, size_t a, size_t b) {
    const size_t step = 1 + (count - 1) / MOST_DOTS;
    if (a >= b) return;
    fprintf(p->to, "<path class=\"%s\" d=\"M%.1f %.1f", class,
            bb_plot_x(p, (double)a / (double)count), bb_plot_y(p, 0.0));
    for (size_t k = a; k < b; k += step) {
        const double y = bb_plot_y(p, fmax(fmin(gain[k], p->y.most), p->y.least));
        fprintf(p->to, "L%.1f %.1fL%.1f %.1f", bb_plot_x(p, (double)k / (double)count),
                y, bb_plot_x(p, fmin((double)(k + step), (double)b) / (double)count),
                y);
    }
    fprintf(p->to, "L%.1f %.1fz\"/>\n", bb_plot_x(p, (double)b / (double)count),
            bb_plot_y(p, 0.0));
}

void bb_draw_tasks(FILE *to, size_t count, const double *gain, const char *what) {
    bb_axis x = {.title = "share of tasks, those that lose most first", .most = 1.0},
            y = {.title = what};
    size_t losing = 0;
    while (losing < count && gain[losing] < 0.0) losing++;
    /* one task in fifty at either end may be cut off: they would flatten all others */
    const size_t cut = count / 50;
    if (!bb_axis_cover(&y, gain + cut, count - 2 * cut, true)) return;
    const bb_plot p = plot_of(to, x, y);
    bb_chart_begin(to, WIDTH, HEIGHT, "Who gains and who loses", what);
    bb_plot_axes(&p);
    bb_plot_series(&p, NULL);
    draw_area(&p, "area loss", count, gain, 0, losing);
    draw_area(&p, "area gain", count, gain, losing, count);
    fputs("</g>", to);
    fprintf(to, "<path class=\"zero\" d=\"M%d %.1fH%d\"/>\n", LEFT, bb_plot_y(&p, 0.0),
            RIGHT);
    fputs("</svg>\n", to);
}

/* -- rounds -- */

static void cover_columns(bb_axis *y, const bb_table *t, const bb_over_rounds *o) {
    double least = INFINITY, most = -INFINITY;
    for (size_t c = 0; c < o->columns; c++)
        for (size_t k = 0; k < t->rows; k++) {
            const double value = t->value[k * t->columns + o->column[c]];
            if (!isfinite(value)) continue;
            least = fmin(least, value);
            most = fmax(most, value);
        }
    const double ends[] = {least, most};
    y->log = least > 0.0 && most > FAR * FAR * least;
    if (!bb_axis_cover(y, ends, 2, o->from_zero)) y->most = y->least;
}

static const char *rows_of(const char *column) {
    if (strncmp(column, "test_", 5) == 0) return "test rows";
    return strncmp(column, "train_", 6) == 0 ? "training rows" : NULL;
}

static void draw_column(const bb_plot *p, const bb_table *t, size_t column,
                        const char *class) {
    bool on = false;
    bb_plot_series(p, rows_of(t->column[column]));
    fprintf(p->to, "<path class=\"%s\" data-points=\"", class);
    for (size_t k = 0; k < t->rows; k++)
        fprintf(p->to, "%zu %.6g ", k + 1, t->value[k * t->columns + column]);
    fputs("\" d=\"", p->to);
    for (size_t k = 0; k < t->rows; k++) {
        const double value = t->value[k * t->columns + column];
        const bool is = bb_axis_draws(&p->y, value);
        if (is)
            fprintf(p->to, "%s%.1f %.1f", on ? "L" : "M", bb_plot_x(p, (double)k + 1.0),
                    bb_plot_y(p, value));
        on = is;
    }
    fputs("\"/></g>\n", p->to);
}

bool bb_draw_rounds(FILE *to, const bb_table *t, const bb_over_rounds *o) {
    static const char *const class[] = {"c c0", "c c1"};
    const double rounds[] = {0.0, (double)t->rows};
    const bb_axis x = {.title = "round", .whole = true}, y = {.title = o->title};
    bb_plot p = plot_of(to, x, y);
    cover_columns(&p.y, t, o);
    bb_axis_cover(&p.x, rounds, 2, true);
    p.x.most = rounds[1];
    if (!(p.y.most > p.y.least)) return false;
    bb_chart_begin(to, WIDTH, HEIGHT, "By round", o->title);
    bb_plot_axes(&p);
    for (size_t c = 0; c < o->columns && c < 2; c++)
        draw_column(&p, t, o->column[c], class[c]);
    fputs("</svg>\n", to);
    return true;
}

/* -- structure -- */

void bb_draw_spectrum(FILE *to, const bb_spectrum_seen *s) {
    bb_axis x = {.title = "eigenvalue", .whole = true},
            y = {.title = "largest by noise = 1"};
    const double ranks[] = {0.0, (double)s->count + 1.0}, edge[] = {-1.0, 1.0};
    if (!bb_axis_cover(&y, s->value, s->count, true)) return;
    y.least = fmin(y.least, edge[0]);
    y.most = fmax(y.most, edge[1]);
    bb_axis_cover(&y, (double[]){y.least, y.most}, 2, true);
    bb_axis_cover(&x, ranks, 2, true);
    x.most = ranks[1];
    const bb_plot p = plot_of(to, x, y);
    bb_chart_begin(to, WIDTH, HEIGHT, "Spectrum of what was released",
                   "eigenvalues beside the range that noise alone would fill");
    fprintf(to, "<path class=\"noise\" d=\"M%d %.1fH%dV%.1fH%dz\"/>\n", LEFT,
            bb_plot_y(&p, 1.0), RIGHT, bb_plot_y(&p, -1.0), LEFT);
    bb_plot_axes(&p);
    bb_plot_series(&p, NULL);
    for (size_t k = 0; k < s->count; k++)
        fprintf(to,
                "<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>"
                "eigenvalue %zu: %.4g</title></circle>\n",
                s->value[k] > 1.0 ? "gain" : "plain", bb_plot_x(&p, (double)k + 1.0),
                bb_plot_y(&p, s->value[k]), k + 1, s->value[k]);
    fputs("</g></svg>\n", to);
}

void bb_draw_map(FILE *to, const bb_model_map *map) {
    bb_axis x = {.title = "first component"}, y = {.title = "second component"};
    if (!bb_axis_cover(&x, map->x, map->tasks, false) ||
        !bb_axis_cover(&y, map->y, map->tasks, false))
        return;
    const bb_plot p = plot_of(to, x, y);
    bb_chart_begin(to, WIDTH, HEIGHT, "Where the models lie", "one dot a task");
    bb_plot_axes(&p);
    bb_plot_series(&p, NULL);
    fputs("<metadata>", to); /* a name a line: bb_svg_text writes no end of one */
    for (size_t i = 0; i < map->tasks; i++) {
        bb_svg_text(to, map->name[i]);
        fputs("\n", to);
    }
    fprintf(to, "</metadata><path class=\"dots%s\" data-points=\"",
            map->tasks > MANY ? " many" : "");
    for (size_t i = 0; i < map->tasks; i++)
        fprintf(to, "%.6g %.6g ", map->x[i], map->y[i]);
    fputs("\" d=\"", to);
    for (size_t i = 0; i < map->tasks; i++)
        fprintf(to, "M%.1f %.1fh0", bb_plot_x(&p, map->x[i]), bb_plot_y(&p, map->y[i]));
    fputs("\"/></g>\n</svg>\n", to);
}

void bb_draw_cosines(FILE *to, const bb_model_map *map) {
    const size_t m = map->tasks;
    const double side = 480.0 / (double)m;
    bb_chart_begin(to, 500, 500, "How alike tasks are",
                   "cosine between any two tasks' models");
    for (size_t i = 0; i < m; i++) {
        fputs("<g class=\"series\">", to);
        for (size_t j = 0; j < m; j++) {
            const double c = map->cosine[i * m + j];
            fprintf(to,
                    "<rect class=\"%s\" fill-opacity=\"%.2f\" x=\"%.2f\" y=\"%.2f\" "
                    "width=\"%.2f\" height=\"%.2f\"><title>",
                    c < 0.0 ? "cell loss" : "cell gain", fabs(c),
                    10.0 + (double)j * side, 10.0 + (double)i * side, side, side);
            bb_svg_text(to, map->name[map->order[i]]);
            fputs(", ", to);
            bb_svg_text(to, map->name[map->order[j]]);
            fprintf(to, ": %.2f</title></rect>\n", c);
        }
        fputs("</g>\n", to);
    }
    fputs("</svg>\n", to);
}
