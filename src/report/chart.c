#include "report/chart.h"

#include "base/file.h"

#include <stdlib.h>

enum { WIDTH = 760, HEIGHT = 500, LEFT = 84, RIGHT = 730, TOP = 112, BOTTOM = 436 };

/* Returns where the next entry of the legend begins. */
static int draw_legend(const bb_chart *c, size_t which, int x, FILE *f) {
    size_t shown = 0;
    for (size_t k = 0; k < c->points; k++)
        shown +=
            bb_axis_draws(&c->x, c->at[k]) && bb_axis_draws(&c->y, c->line[which][k]);
    if (shown == 0) return x;
    fprintf(f, "<path class=\"c c%zu\" d=\"M%d %dh36\"/><text x=\"%d\" y=\"%d\">",
            which, x, TOP - 20, x + 44, TOP - 15);
    bb_svg_text(f, c->name[which]);
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

static void draw(const bb_chart *c, FILE *f) {
    static const char *const class[] = {"c c0", "c c1"};
    const bb_plot plot = {c->x, c->y, LEFT, RIGHT, TOP, BOTTOM, f};
    int legend = LEFT;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"t d\">\n"
            "<title id=\"t\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    bb_svg_text(f, c->title);
    fputs("</title>\n<desc id=\"d\">", f);
    for (size_t k = 0; k < BB_CHART_NOTES; k++) {
        bb_svg_text(f, c->note[k]);
        fputs(k + 1 < BB_CHART_NOTES ? "; " : "</desc>\n", f);
    }
    fputs(style, f);
    fprintf(f,
            "<rect class=\"p\" width=\"%d\" height=\"%d\"/>\n<text class=\"t\" "
            "x=\"%d\" y=\"32\">",
            WIDTH, HEIGHT, LEFT);
    bb_svg_text(f, c->title);
    fputs("</text>\n", f);
    for (size_t k = 0; k < BB_CHART_NOTES; k++) {
        fprintf(f, "<text class=\"n\" x=\"%d\" y=\"%zu\">", LEFT, 53 + 18 * k);
        bb_svg_text(f, c->note[k]);
        fputs("</text>\n", f);
    }
    bb_plot_axes(&plot);
    fprintf(f,
            "<clipPath id=\"k\"><path d=\"M%d %dH%dV%dH%dz\"/></clipPath>\n"
            "<g clip-path=\"url(#k)\">\n",
            LEFT, TOP - 2, RIGHT + 2, BOTTOM + 2, LEFT);
    for (size_t k = 0; k < BB_CHART_LINES; k++)
        bb_plot_line(&plot, class[k], c -> points, c -> at, c -> line[k]);
    fputs("</g>\n", f);
    for (size_t k = 0; k < BB_CHART_LINES; k++) legend = draw_legend(c, k, legend, f);
    fputs("</svg>\n", f);
}

bb_status bb_chart_write(const bb_chart *c, const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) return bb_fail(BB_ENOMEM, "no memory for the chart");
    draw(c, f);
    const bool broken = ferror(f);
    const bb_status status = fclose(f) || broken
                                 ? bb_fail(BB_ENOMEM, "no memory for the chart")
                                 : bb_file_write(path, text, size);
    free(text);
    return status;
}
