#include "base/json.h"
#include "base/memory.h"
#include "report/charts.h"
#include "report/page.h"
#include "report/plot.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 25 }; /* at either end, where the page's script is not run */

/* A task, its row in the table, and what it gains over being alone. */
typedef struct gaining {
    size_t row;
    double gain;
} gaining;

static int by_gain(const void *a, const void *b) {
    const gaining *one = a, *other = b;
    if (one->gain < other->gain) return -1;
    if (one->gain > other->gain) return 1;
    return one->row < other->row ? -1 : one->row > other->row;
}

/* The tasks that can be compared, ascending. With an error, the share of the squared
 * error that is saved, at least -1 (twice the error); else the difference. */
static bb_status find_gains(const bb_table *t, bool less_is_better, gaining **out,
                            size_t *count) {
    gaining *list = NULL;
    size_t found = 0;
    const size_t own = 2, alone = 3; /* after train_rows and test_rows */
    const bb_status status = bb_allocate(&list, t->rows, sizeof *list, "gains");
    if (status || !list) return status;
    for (size_t i = 0; i < t->rows; i++) {
        const double here = t->value[i * t->columns + own],
                     there = t->value[i * t->columns + alone];
        const double saved = there > 0.0 ? 1.0 - (here / there) * (here / there) : 0.0;
        const double gain = less_is_better ? fmax(saved, -1.0) : here - there;
        if (isfinite(here) && isfinite(there)) list[found++] = (gaining){i, gain};
    }
    qsort(list, found, sizeof *list, by_gain);
    *out = list;
    *count = found;
    return BB_OK;
}

static void write_cells(FILE *to, const bb_table *t, const gaining *g) {
    fputs("<tr><th scope=\"row\">", to);
    bb_svg_text(to, t->name[g->row]);
    fputs("</th>", to);
    for (size_t k = 0; k < t->columns; k++) {
        fputs("<td>", to);
        bb_page_number(to, t->value[g->row * t->columns + k]);
        fputs("</td>", to);
    }
    fputs("<td>", to);
    bb_page_number(to, g->gain);
    fputs("</td></tr>\n", to);
}

static void write_table(FILE *to, const bb_table *t, size_t count, const gaining *g) {
    fputs(
        "<div id=\"tools\" hidden><label>Find a task <input id=\"find\" "
        "type=\"search\"></label> <button id=\"back\" type=\"button\">←</button> <span "
        "id=\"where\" aria-live=\"polite\"></span> <button id=\"on\" "
        "type=\"button\">→</button></div>\n<div class=\"wide\"><table id=\"tasks\">"
        "<thead><tr><th scope=\"col\">task</th>",
        to);
    for (size_t k = 0; k < t->columns; k++) {
        fputs("<th scope=\"col\">", to);
        for (const char *c = t->column[k]; *c; c++) fputc(*c == '_' ? ' ' : *c, to);
        fputs("</th>", to);
    }
    fputs("<th scope=\"col\">gain</th></tr></thead><tbody>\n", to);
    for (size_t k = 0; k < count; k++)
        if (k < SHOWN || k + SHOWN >= count) write_cells(to, t, &g[k]);
    fputs("</tbody></table></div>\n", to);
}

/* All rows, for the script; a text cannot end the element it is in. */
static bb_status write_json(FILE *to, const bb_table *t, size_t count,
                            const gaining *g) {
    json_t *rows = json_array();
    bool bad = !rows;
    for (size_t k = 0; k < count && !bad; k++) {
        json_t *row = json_array();
        bad |= json_array_append_new(row, json_string(t->name[g[k].row])) != 0;
        for (size_t c = 0; c < t->columns; c++)
            bad |= json_array_append_new(
                       row, bb_json_real(t->value[g[k].row * t->columns + c])) != 0;
        bad |= json_array_append_new(row, bb_json_real(g[k].gain)) != 0;
        bad |= json_array_append_new(rows, row) != 0;
    }
    char *text = bad ? NULL : json_dumps(rows, JSON_COMPACT | JSON_REAL_PRECISION(5));
    json_decref(rows);
    if (!text) return bb_fail(BB_ENOMEM, "no memory for the tasks' figures");
    fputs("<script type=\"application/json\" id=\"rows\">", to);
    for (const char *c = text; *c; c++)
        if (*c == '<')
            fputs("\\u003c", to);
        else
            fputc(*c, to);
    fputs("</script>\n", to);
    free(text);
    return BB_OK;
}

static void draw(FILE *to, const gaining *g, size_t count, bool less_is_better,
                 double *gain) {
    size_t losing = 0;
    for (size_t k = 0; k < count; k++) {
        gain[k] = g[k].gain;
        losing += g[k].gain < 0.0;
    }
    fprintf(
        to,
        "<section id=\"who\"><h2>Who gains and who loses</h2>\n<p>Against every task "
        "alone, %zu of %zu task%s lose%s and %zu gain%s or stay%s. A task's own test "
        "rows "
        "are few: much of what one task seems to gain or lose is chance.</p>\n"
        "<figure>",
        losing, count, bb_plural((double)count), losing == 1 ? "s" : "", count - losing,
        count - losing == 1 ? "s" : "", count - losing == 1 ? "s" : "");
    bb_draw_tasks(to, count, gain,
                  less_is_better ? "squared error saved" : "gain over alone");
    fputs("<figcaption>Each task's gain over what it reaches alone; the 2 % at either "
          "end may be cut off.</figcaption></figure>\n",
          to);
}

bb_status bb_page_tasks(FILE *to, const bb_reported *run) {
    const bb_table *t = &run->tasks;
    const bool less_is_better = bb_reported_figures(run).less_is_better;
    gaining *g = NULL;
    double *gain = NULL;
    size_t count = 0;
    if (t->rows == 0 || t->columns < 4) return BB_OK;
    bb_status status = find_gains(t, less_is_better, &g, &count);
    if (!status) status = bb_allocate(&gain, count, sizeof *gain, "gains");
    if (!status && count > 0) {
        draw(to, g, count, less_is_better, gain);
        write_table(to, t, count, g);
        status = write_json(to, t, count, g);
        fputs("</section>\n", to);
    }
    free(gain);
    free(g);
    return status;
}

/* -- structure -- */

static void write_spectrum(FILE *to, const bb_spectrum_seen *s) {
    size_t above = 0;
    for (size_t k = 0; k < s->count; k++) above += s->value[k] > 1.0;
    fputs("<figure>", to);
    bb_draw_spectrum(to, s);
    fprintf(to,
            "<figcaption>Eigenvalues of what was released (mean of %zu round%s), "
            "beside the range that noise alone would fill: %zu stand out.</figcaption>"
            "</figure>\n",
            s->rounds, bb_plural((double)s->rounds), above);
}

static void write_map(FILE *to, const bb_model_map *map) {
    fputs("<figure>", to);
    bb_draw_map(to, map);
    fprintf(
        to,
        "<figcaption>The tasks' models, columns alike in size, in the plane of their "
        "first two principal components (%.0f %% of the variance).</figcaption>"
        "</figure>\n",
        100.0 * map->explained);
    if (!map->cosine) return;
    fputs("<figure>", to);
    bb_draw_cosines(to, map);
    fputs("<figcaption>How alike two tasks' models are (cosine, around their mean), in "
          "the order of the first component.</figcaption></figure>\n",
          to);
}

bb_status bb_page_structure(FILE *to, const bb_reported *run) {
    bb_spectrum_seen spectrum = {0};
    bb_model_map map = {0};
    bb_status status = bb_spectrum_see(run, &spectrum);
    if (!status) status = bb_model_map_open(run, &map);
    if (!status && (spectrum.count || map.tasks)) {
        fputs("<section id=\"structure\"><h2>What was learned</h2>\n<div "
              "class=\"grid\">\n",
              to);
        if (spectrum.count) write_spectrum(to, &spectrum);
        if (map.tasks) write_map(to, &map);
        fputs("</div></section>\n", to);
    }
    bb_spectrum_forget(&spectrum);
    bb_model_map_close(&map);
    return status;
}
