#include "report/plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_TICKS = 64,
    FEW_DECADES = 3,
    MOST_LABELS = 8,
    MOST_DECADES = 10,
    MOST_UPRIGHT = 6
};

/* 1, 2 or 5 times a power of ten, at least `width`. */
static double nice(double width) {
    const double unit = pow(10.0, floor(log10(width)));
    if (width <= unit) return unit;
    if (width <= 2 * unit) return 2 * unit;
    if (width <= 5 * unit) return 5 * unit;
    return 10 * unit;
}

bool bb_axis_draws(const bb_axis *axis, double value) {
    return isfinite(value) && (!axis->log || value > 0.0);
}

static void cover_log(bb_axis *axis, double least, double most) {
    const double last = ceil(log10(most) - 1e-9);
    const double first = fmax(floor(log10(least) + 1e-9), last - MOST_DECADES);
    axis->least = pow(10.0, fmin(first, last - 1.0));
    axis->most = pow(10.0, last);
}

static void cover_linear(bb_axis *axis, double least, double most) {
    const double least_width = fmax(1e-3 * fmax(fabs(least), fabs(most)), 1e-300);
    const double step = nice(fmax(most - least, least_width) / (MOST_LABELS - 2));
    axis->least = step * floor(least / step + 1e-9);
    axis->most = step * ceil(most / step - 1e-9);
    if (!(axis->most > axis->least)) axis->most = axis->least + step;
}

bool bb_axis_cover(bb_axis *axis, const double *value, size_t count, bool from_zero) {
    double least = INFINITY, most = -INFINITY;
    for (size_t k = 0; k < count; k++) {
        if (!bb_axis_draws(axis, value[k])) continue;
        least = fmin(least, value[k]);
        most = fmax(most, value[k]);
    }
    if (!(least <= most)) return false;
    if (axis->log)
        cover_log(axis, least, most);
    else if (from_zero)
        cover_linear(axis, fmin(least, 0.0), fmax(most, 0.0));
    else
        cover_linear(axis, least, most);
    return true;
}

/* Where a value is, 0 at the least and 1 at the most; below the least of a log axis (a
 * training error of rounding alone): 0. */
static double place(const bb_axis *a, double value) {
    if (!a->log) return (value - a->least) / (a->most - a->least);
    return fmax(0.0, log(value / a->least) / log(a->most / a->least));
}

double bb_plot_x(const bb_plot *p, double value) {
    return p->left + (p->right - p->left) * place(&p->x, value);
}

double bb_plot_y(const bb_plot *p, double value) {
    return p->bottom - (p->bottom - p->top) * place(&p->y, value);
}

static void add_tick(const bb_axis *a, double value, double *tick, size_t *count) {
    const double at = place(a, value);
    if (at > -1e-6 && at < 1.0 + 1e-6 && *count < MOST_TICKS) tick[(*count)++] = value;
}

/* Round numbers: powers of ten where there are enough of them. */
static size_t ticks(const bb_axis *a, double *tick) {
    size_t count = 0;
    if (!a->log) {
        const double fine = nice((a->most - a->least) / MOST_LABELS);
        const double step = a->whole ? fmax(fine, 1.0) : fine;
        const double first = ceil(a->least / step - 1e-9);
        for (int k = 0; k <= 2 * MOST_LABELS; k++)
            add_tick(a, step * (first + k), tick, &count);
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

void bb_svg_text(FILE *to, const char *text) {
    for (; *text; text++) switch (*text) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
        }
}

/* For people, very large and small ones as a power of ten. */
static void write_number(FILE *to, double value, bool as_power) {
    const double size = fabs(value);
    const int power = size > 0.0 ? (int)floor(log10(size) + 1e-9) : 0;
    const double digits = value / pow(10.0, power);
    if (size < 1e-300 || (!as_power && power >= -3 && power < 5)) {
        fprintf(to, "%.6g", size < 1e-300 ? 0.0 : value);
        return;
    }
    if (fabs(digits - 1.0) > 1e-6) fprintf(to, "%.3g·", digits);
    fprintf(to, "10<tspan class=\"s\" dy=\"-5\">%s%d</tspan>", power < 0 ? "−" : "",
            abs(power));
}

static bool wants_powers(const bb_axis *a) {
    return a->log && (a->least < 1e-3 || a->most >= 1e5);
}

/* More names than this stand aslant. */
static bool is_aslant(const bb_axis *x) {
    return x->places > MOST_UPRIGHT;
}

/* How far below the plot its title is. */
static double title_below(const bb_axis *x) {
    return is_aslant(x) ? 106.0 : 46.0;
}

double bb_axis_room_below(const bb_axis *x) {
    return title_below(x) + 14.0;
}

static void draw_places(const bb_plot *p) {
    const bool aslant = is_aslant(&p->x);
    fprintf(p->to, "<g text-anchor=\"%s\">\n", aslant ? "end" : "middle");
    for (size_t k = 0; k < p->x.places; k++) {
        const double x = bb_plot_x(p, (double)k);
        fprintf(p->to,
                "<path class=\"g\" d=\"M%.1f %gV%g\"/><text "
                "transform=\"translate(%.1f %g)%s\">",
                x, p->top, p->bottom, x, p->bottom + (aslant ? 14 : 20),
                aslant ? " rotate(-45)" : "");
        bb_svg_text(p->to, p->x.place[k]);
        fputs("</text>\n", p->to);
    }
    fputs("</g>\n", p->to);
}

/* Says to charts.js, too, which numbers are where. */
static void begin_ticks(FILE *to, const char *about, const bb_axis *a, double from,
                        double end) {
    fprintf(to, "<g %s data-range=\"%g %g %.9g %.9g\"%s%s>\n", about, from, end,
            a->least, a->most, a->log ? " data-log=\"\"" : "",
            a->whole ? " data-whole=\"\"" : "");
}

static void draw_ticks_of_x(const bb_plot *p) {
    double tick[MOST_TICKS];
    if (p->x.places) {
        draw_places(p);
        return;
    }
    const size_t count = ticks(&p->x, tick);
    begin_ticks(p->to, "class=\"x\" text-anchor=\"middle\"", &p->x, p->left, p->right);
    for (size_t k = 0; k < count; k++) {
        const double x = bb_plot_x(p, tick[k]);
        fprintf(p->to,
                "<path class=\"g\" d=\"M%.1f %gV%g\"/><text x=\"%.1f\" y=\"%g\">", x,
                p->top, p->bottom, x, p->bottom + 20);
        write_number(p->to, fabs(tick[k]) < 1e-12 * p->x.most ? 0.0 : tick[k],
                     wants_powers(&p->x));
        fputs("</text>\n", p->to);
    }
    fputs("</g>\n", p->to);
}

static void draw_ticks_of_y(const bb_plot *p) {
    double tick[MOST_TICKS];
    const size_t count = ticks(&p->y, tick);
    begin_ticks(p->to, "class=\"y\" text-anchor=\"end\"", &p->y, p->bottom, p->top);
    for (size_t k = 0; k < count; k++) {
        const double y = bb_plot_y(p, tick[k]);
        fprintf(p->to,
                "<path class=\"g\" d=\"M%g %.1fH%g\"/><text x=\"%g\" y=\"%.1f\">",
                p->left, y, p->right, p->left - 9, y + 4.5);
        write_number(p->to, fabs(tick[k]) < 1e-12 * p->y.most ? 0.0 : tick[k],
                     wants_powers(&p->y));
        fputs("</text>\n", p->to);
    }
    fputs("</g>\n", p->to);
}

void bb_plot_axis_x(const bb_plot *p) {
    draw_ticks_of_x(p);
    fprintf(p->to,
            "<path class=\"a\" d=\"M%g %gH%g\"/>\n<text class=\"l x\" x=\"%g\" "
            "y=\"%g\" text-anchor=\"middle\">",
            p->left, p->bottom, p->right, (p->left + p->right) / 2,
            p->bottom + title_below(&p->x));
    bb_svg_text(p->to, p->x.title);
    fputs("</text>\n", p->to);
}

void bb_plot_axes(const bb_plot *p) {
    const double gap = p->left - 74.0;
    bb_plot_axis_x(p);
    draw_ticks_of_y(p);
    fprintf(p->to,
            "<path class=\"a\" d=\"M%g %gV%g\"/>\n<text class=\"l y\" "
            "transform=\"translate(%g %g) rotate(-90)\" text-anchor=\"middle\">",
            p->left, p->top, p->bottom, gap, (p->top + p->bottom) / 2);
    bb_svg_text(p->to, p->y.title);
    fputs("</text>\n", p->to);
}

void bb_plot_series(const bb_plot *p, const char *name) {
    fputs("<g class=\"series\"", p->to);
    if (name) {
        fputs(" data-name=\"", p->to);
        bb_svg_text(p->to, name);
        fputs("\"", p->to);
    }
    fputs(">", p->to);
}

void bb_plot_line(const bb_plot *p, const char *class, size_t count, const double *x,
                  const double *y) {
    bool on = false;
    fprintf(p->to, "<path class=\"%s\" d=\"", class);
    for (size_t k = 0; k < count; k++) {
        const bool is = bb_axis_draws(&p->x, x[k]) && bb_axis_draws(&p->y, y[k]);
        if (is)
            fprintf(p->to, "%s%.1f %.1f", on ? "L" : "M", bb_plot_x(p, x[k]),
                    bb_plot_y(p, y[k]));
        on = is;
    }
    fputs("\"/>\n", p->to);
}
