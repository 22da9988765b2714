#include "chart.h"

#include "base/file.h"
#include "cmd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WIDTH = 760,
    HEIGHT = 500,
    LEFT = 84,
    RIGHT = 730,
    TOP = 112,
    BOTTOM = 436,
    MOST_TICKS = 64,
    FEW_DECADES = 3,
    MOST_LABELS = 8,
    MOST_DECADES = 16
};

/* -- axes -- */

/* 1, 2 or 5 times a power of ten, at least `width`. */
static double nice(double width) {
    const double unit = pow(10.0, floor(log10(width)));
    return width <= unit       ? unit
           : width <= 2 * unit ? 2 * unit
           : width <= 5 * unit ? 5 * unit
                               : 10 * unit;
}

static bool can_draw(const chart_axis *axis, double value) {
    return isfinite(value) && (!axis->log || value > 0.0);
}

bool chart_range(chart_axis *axis, const double *value, size_t count) {
    double least = INFINITY, most = -INFINITY;
    for (size_t k = 0; k < count; k++) {
        if (!can_draw(axis, value[k])) continue;
        least = fmin(least, value[k]);
        most = fmax(most, value[k]);
    }
    if (!(least <= most)) return false;
    if (axis->log) {
        const double last = ceil(log10(most) - 1e-9);
        const double first = fmax(floor(log10(least) + 1e-9), last - MOST_DECADES);
        axis->least = pow(10.0, fmin(first, last - 1.0));
        axis->most = pow(10.0, last);
    } else {
        const double step = nice(fmax(most, 1e-300) / (MOST_LABELS - 2));
        axis->least = 0.0;
        axis->most = step * ceil(most / step - 1e-9);
        if (!(axis->most > 0.0)) axis->most = step;
    }
    return true;
}

/* Where a value is, 0 at the least and 1 at the most. */
static double place(const chart_axis *a, double value) {
    if (!a->log) return (value - a->least) / (a->most - a->least);
    return log(value / a->least) / log(a->most / a->least);
}

static double x_of(const chart *c, double value) {
    return LEFT + (RIGHT - LEFT) * place(&c->x, value);
}

static double y_of(const chart *c, double value) {
    return BOTTOM - (BOTTOM - TOP) * place(&c->y, value);
}

static void add_tick(const chart_axis *a, double value, double *tick, size_t *count) {
    const double at = place(a, value);
    if (at > -1e-6 && at < 1.0 + 1e-6 && *count < MOST_TICKS) tick[(*count)++] = value;
}

/* Round numbers: powers of ten where there are enough of them. */
static size_t ticks(const chart_axis *a, double *tick) {
    size_t count = 0;
    if (!a->log) {
        const double step = nice((a->most - a->least) / MOST_LABELS);
        for (int k = 0; k <= 2 * MOST_LABELS; k++)
            add_tick(a, step * (ceil(a->least / step - 1e-9) + k), tick, &count);
        return count;
    }
    const int first = (int)floor(log10(a->least) + 1e-9),
              last = (int)ceil(log10(a->most) - 1e-9);
    const int every = 1 + (last - first - 1) / MOST_LABELS;
    const bool few = log10(a->most / a->least) < FEW_DECADES;
    for (int k = first; k <= last; k++) {
        const double unit = pow(10.0, k);
        if (few || (last - k) % every == 0) add_tick(a, unit, tick, &count);
        if (few) add_tick(a, 2.0 * unit, tick, &count);
        if (few) add_tick(a, 5.0 * unit, tick, &count);
    }
    return count;
}

/* -- SVG -- */

static void escaped(FILE *f, const char *text) {
    for (; *text; text++) switch (*text) {
        case '&':
            fputs("&amp;", f);
            break;
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        default:
            fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
        }
}

static void number(FILE *f, double v, bool as_power) {
    const int power = v > 0.0 ? (int)floor(log10(v) + 1e-9) : 0;
    const double digits = v / pow(10.0, power);
    if (v == 0.0 || (!as_power && power >= -3 && power < 5)) {
        fprintf(f, "%.6g", v);
        return;
    }
    if (fabs(digits - 1.0) > 1e-6) fprintf(f, "%.3g·", digits);
    fprintf(f, "10<tspan class=\"s\" dy=\"-5\">%s%d</tspan>", power < 0 ? "−" : "",
            abs(power));
}

static void draw_axes(const chart *c, FILE *f) {
    double tick[MOST_TICKS];
    size_t count = ticks(&c->x, tick);
    const bool x_powers = c->x.log && (c->x.least < 1e-3 || c->x.most >= 1e5),
               y_powers = c->y.log && (c->y.least < 1e-3 || c->y.most >= 1e5);
    fputs("<g text-anchor=\"middle\">\n", f);
    for (size_t k = 0; k < count; k++) {
        const double x = x_of(c, tick[k]);
        fprintf(f, "<path class=\"g\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\">", x,
                TOP, BOTTOM, x, BOTTOM + 20);
        number(f, tick[k], x_powers);
        fputs("</text>\n", f);
    }
    fputs("</g>\n<g text-anchor=\"end\">\n", f);
    count = ticks(&c->y, tick);
    for (size_t k = 0; k < count; k++) {
        const double y = y_of(c, tick[k]);
        fprintf(f, "<path class=\"g\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\">",
                LEFT, y, RIGHT, LEFT - 9, y + 4.5);
        number(f, tick[k], y_powers);
        fputs("</text>\n", f);
    }
    fprintf(f, "</g>\n<path class=\"a\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM,
            RIGHT);
    fprintf(f, "<text class=\"l\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
            (LEFT + RIGHT) / 2, BOTTOM + 46);
    escaped(f, c->x.title);
    fprintf(f,
            "</text>\n<text class=\"l\" transform=\"translate(24 %d) rotate(-90)\" "
            "text-anchor=\"middle\">",
            (TOP + BOTTOM) / 2);
    escaped(f, c->y.title);
    fputs("</text>\n", f);
}

static bool drawn(const chart *c, const double *line, size_t k) {
    return can_draw(&c->x, c->at[k]) && can_draw(&c->y, line[k]);
}

static void draw_line(const chart *c, size_t which, FILE *f) {
    const double *line = c->line[which];
    bool on = false;
    fprintf(f, "<path class=\"c c%zu\" d=\"", which);
    for (size_t k = 0; k < c->points; k++) {
        const bool is = drawn(c, line, k);
        if (is)
            fprintf(f, "%s%.1f %.1f", on ? "L" : "M", x_of(c, c->at[k]),
                    y_of(c, line[k]));
        on = is;
    }
    fputs("\"/>\n", f);
}

/* Returns where the next entry of the legend begins. */
static int draw_legend(const chart *c, size_t which, int x, FILE *f) {
    size_t shown = 0;
    for (size_t k = 0; k < c->points; k++) shown += drawn(c, c->line[which], k);
    if (shown == 0) return x;
    fprintf(f, "<path class=\"c c%zu\" d=\"M%d %dh36\"/><text x=\"%d\" y=\"%d\">",
            which, x, TOP - 20, x + 44, TOP - 15);
    escaped(f, c->name[which]);
    fputs("</text>\n", f);
    return x + 190;
}

/* No CSS variables: not every program that shows SVG knows them. */
static const char style[] =
    "<style>\n"
    "text { font: 13px system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; "
    "fill: #1c2126 }\n"
    ".t { font-size: 18px; font-weight: 600 } .n { fill: #59636e }\n"
    ".l { font-size: 14px } .s { font-size: 10px }\n"
    ".p { fill: #ffffff } .g { stroke: #e3e7eb; fill: none }\n"
    ".a { stroke: #59636e; fill: none }\n"
    ".c { fill: none; stroke-width: 2.5; stroke-linejoin: round }\n"
    ".c0 { stroke: #0b5cad } .c1 { stroke: #b3480a; stroke-dasharray: 7 5 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e8ecf0 } .n { fill: #9ea9b4 } .p { fill: #15191e }\n"
    ".g { stroke: #2d343c } .a { stroke: #9ea9b4 }\n"
    ".c0 { stroke: #6db3f8 } .c1 { stroke: #f5a05c }\n"
    "}\n"
    "</style>\n";

static void draw(const chart *c, FILE *f) {
    int legend = LEFT;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"t d\">\n"
            "<title id=\"t\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    escaped(f, c->title);
    fputs("</title>\n<desc id=\"d\">", f);
    for (size_t k = 0; k < CHART_NOTES; k++) {
        escaped(f, c->note[k]);
        fputs(k + 1 < CHART_NOTES ? "; " : "</desc>\n", f);
    }
    fputs(style, f);
    fprintf(f,
            "<rect class=\"p\" width=\"%d\" height=\"%d\"/>\n<text class=\"t\" "
            "x=\"%d\" y=\"32\">",
            WIDTH, HEIGHT, LEFT);
    escaped(f, c->title);
    fputs("</text>\n", f);
    for (size_t k = 0; k < CHART_NOTES; k++) {
        fprintf(f, "<text class=\"n\" x=\"%d\" y=\"%zu\">", LEFT, 53 + 18 * k);
        escaped(f, c->note[k]);
        fputs("</text>\n", f);
    }
    draw_axes(c, f);
    fprintf(f,
            "<clipPath id=\"k\"><path d=\"M%d %dH%dV%dH%dz\"/></clipPath>\n"
            "<g clip-path=\"url(#k)\">\n",
            LEFT, TOP - 2, RIGHT + 2, BOTTOM + 2, LEFT);
    for (size_t k = 0; k < CHART_LINES; k++) draw_line(c, k, f);
    fputs("</g>\n", f);
    for (size_t k = 0; k < CHART_LINES; k++) legend = draw_legend(c, k, legend, f);
    fputs("</svg>\n", f);
}

billboard_status chart_write(const chart *c, const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) return cmd_fail(BILLBOARD_FAILED, "no memory for the chart");
    draw(c, f);
    const bool broken = ferror(f);
    const billboard_status status =
        fclose(f) || broken
            ? cmd_fail(BILLBOARD_FAILED, "no memory for the chart")
            : (billboard_status)bb_status_exit_code(bb_file_write(path, text, size));
    free(text);
    return status;
}
