#include "report/curves.h"

#include "report/charts.h"

#include <math.h>
#include <string.h>

/* How far apart results are before they get a logarithmic axis. */
#define FAR 5.0

enum {
    LEFT = 96,
    RIGHT = 700,
    TOP = 14,
    BOTTOM = 270,
    LONG = 16,
    LINE = 20,
    SAMPLE = 16,
    MANY = 20
};

static size_t named(const bb_curves *all) {
    size_t count = 0;
    for (size_t c = 0; c < all->curves; c++) count += all->curve[c].name != NULL;
    return count;
}

/* Names in a line of the legend: long ones must not touch, on a phone either. */
static size_t in_a_line(const bb_curves *all) {
    size_t longest = 0;
    for (size_t c = 0; c < all->curves; c++) {
        const size_t length = all->curve[c].name ? strlen(all->curve[c].name) : 0;
        if (length > longest) longest = length;
    }
    return longest > LONG ? 2 : 3;
}

int bb_curves_height(const bb_curves *all) {
    const size_t lines = (named(all) + in_a_line(all) - 1) / in_a_line(all);
    return BOTTOM + (int)bb_axis_room_below(&all->x) + (int)lines * LINE;
}

static bool cover(bb_plot *p, const bb_curves *all) {
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    for (size_t c = 0; c < all->curves; c++)
        for (size_t k = 0; k < all->curve[c].points; k++) {
            const bb_curve_point *at = &all->curve[c].point[k];
            x[0] = fmin(x[0], at->x);
            x[1] = fmax(x[1], at->x);
            y[0] = fmin(y[0], at->least);
            y[1] = fmax(y[1], at->most);
        }
    for (size_t k = 0; k < all->levels; k++)
        if (isfinite(all->level[k].value)) {
            y[0] = fmin(y[0], all->level[k].value);
            y[1] = fmax(y[1], all->level[k].value);
        }
    p->y.log = y[0] > 0.0 && y[1] > FAR * y[0];
    if (!bb_axis_cover(&p->y, y, 2, false) || !(x[0] <= x[1])) return false;
    if (!p->x.places) return bb_axis_cover(&p->x, x, 2, false);
    p->x.least = -0.5;
    p->x.most = (double)p->x.places - 0.5;
    return true;
}

static void draw_dot(const bb_plot *p, size_t which, const bb_drawn_curve *curve,
                     const bb_curve_point *at) {
    fprintf(p->to,
            "<circle class=\"dot d%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>",
            which, bb_plot_x(p, at->x), bb_plot_y(p, at->mean),
            curve->points > MANY ? 2 : 5);
    bb_svg_text(p->to, curve->name ? curve->name : "");
    fputs(curve->name ? ", " : "", p->to);
    bb_svg_text(p->to, p->x.title);
    fputs(" ", p->to);
    if (p->x.places)
        bb_svg_text(p->to, p->x.place[(size_t)at->x]);
    else
        fprintf(p->to, "%g", at->x);
    fprintf(p->to, ": %.4g", at->mean);
    if (at->runs > 1)
        fprintf(p->to, " (%.4g to %.4g, %zu runs)", at->least, at->most, at->runs);
    fputs("</title></circle>\n", p->to);
}

static void draw_curve(const bb_plot *p, size_t which, const bb_drawn_curve *curve) {
    bool on = false;
    bb_plot_series(p, curve->name);
    fprintf(p->to, "<path class=\"c c%zu\" d=\"", which);
    for (size_t k = 0; k < curve->points && curve->name; k++, on = true)
        fprintf(p->to, "%s%.1f %.1f", on ? "L" : "M", bb_plot_x(p, curve->point[k].x),
                bb_plot_y(p, curve->point[k].mean));
    fputs("\"/>\n", p->to);
    for (size_t k = 0; k < curve->points; k++) {
        const bb_curve_point *at = &curve->point[k];
        if (at->runs > 1)
            fprintf(p->to, "<path class=\"c thin c%zu\" d=\"M%.1f %.1fV%.1f\"/>", which,
                    bb_plot_x(p, at->x), bb_plot_y(p, at->least),
                    bb_plot_y(p, at->most));
        draw_dot(p, which, curve, at);
    }
    fputs("</g>\n", p->to);
}

/* Names of neighbours stand at different ends, and over all lines. */
static void draw_levels(const bb_plot *p, const bb_curves *all) {
    for (size_t k = 0; k < all->levels; k++)
        if (isfinite(all->level[k].value))
            fprintf(p->to, "<path class=\"level\" d=\"M%g %.1fH%g\"/>\n", p->left,
                    bb_plot_y(p, all->level[k].value), p->right);
    for (size_t k = 0; k < all->levels; k++) {
        if (!isfinite(all->level[k].value)) continue;
        fprintf(p->to, "<text class=\"n over\" x=\"%g\" y=\"%.1f\" text-anchor=\"%s\">",
                k % 2 ? p->left + 6.0 : p->right - 4.0,
                bb_plot_y(p, all->level[k].value) - 5.0, k % 2 ? "start" : "end");
        bb_svg_text(p->to, all->level[k].name);
        fputs("</text>\n", p->to);
    }
}

static void draw_legend(const bb_plot *p, const bb_curves *all) {
    const size_t names = in_a_line(all);
    const double wide = (double)(RIGHT - LEFT) / (double)names, first = LEFT + SAMPLE;
    const double top = BOTTOM + bb_axis_room_below(&p->x) + LINE / 2.0;
    size_t place = 0;
    fputs("<g class=\"legend\">", p->to);
    for (size_t c = 0; c < all->curves; c++) {
        if (!all->curve[c].name) continue;
        const double x = first + wide * (double)(place % names);
        const size_t line = place / names;
        const double y = top + LINE * (double)line;
        place++;
        const size_t which = c % BB_MOST_CURVES;
        fprintf(
            p->to,
            "<path class=\"c c%zu\" d=\"M%.1f %.1fH%.1f\"/><circle class=\"dot d%zu\" "
            "cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/><text x=\"%.1f\" y=\"%.1f\">",
            which, x - SAMPLE, y - 4.5, x + SAMPLE, which, x, y - 4.5, x + SAMPLE + 6.0,
            y);
        bb_svg_text(p->to, all->curve[c].name);
        fputs("</text>\n", p->to);
    }
    fputs("</g>\n", p->to);
}

bool bb_draw_curves(FILE *to, const bb_curves *all) {
    const bb_axis y = {.title = all->metric};
    bb_plot p = {all->x, y, LEFT, RIGHT, TOP, BOTTOM, to};
    if (!cover(&p, all)) return false;
    bb_chart_begin(to, BB_CHART_WIDTH, bb_curves_height(all), all->title, all->metric);
    bb_plot_axes(&p);
    draw_levels(&p, all);
    for (size_t c = 0; c < all->curves; c++)
        draw_curve(&p, c % BB_MOST_CURVES, &all->curve[c]);
    draw_legend(&p, all);
    fputs("</svg>\n", to);
    return true;
}
