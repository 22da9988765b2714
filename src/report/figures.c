#include "report/figures.h"

#include "base/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 80, PANEL = 240, MOST_COLUMNS = 16 };

void bb_label_text(const json_t *value, char *text, size_t size) {
    if (json_is_string(value))
        snprintf(text, size, "%s", json_string_value(value));
    else if (json_is_number(value))
        snprintf(text, size, "%g", json_number_value(value));
    else
        snprintf(text, size, "-");
}

/* A figure while it is drawn. */
typedef struct figure {
    const json_t *columns;
    const json_t **row; /* lines of the table of means that have its y */
    size_t rows;
    size_t x, line; /* columns; SIZE_MAX: it has none */
    size_t panel[MOST_COLUMNS], panels;
    const json_t *at[MOST_COLUMNS]; /* the panel: a value of each of those */
    bb_drawn_curve *curve;
    bb_curve_point *point; /* as many as there are rows */
    bb_level *level;
    char (*name)[LABEL]; /* of lines and levels; as many again for places */
    const char **place;
    bb_curves all;
} figure;

static const json_t *value_at(const json_t *row, size_t column) {
    return json_array_get(json_object_get(row, "labels"), column);
}

static size_t column_of(const json_t *columns, const char *name) {
    for (size_t k = 0; name && k < json_array_size(columns); k++)
        if (strcmp(json_string_value(json_array_get(columns, k)), name) == 0) return k;
    return SIZE_MAX;
}

/* The next value of a column after `before` (NULL: the first), in the order of rows; each
 * once. */
static const json_t *next_value(const figure *f, size_t column, const json_t *before) {
    bool found = !before;
    for (size_t k = 0; k < f->rows; k++) {
        const json_t *value = value_at(f->row[k], column);
        bool seen = json_is_null(value);
        for (size_t j = 0; j < k && !seen; j++)
            seen = json_equal(value_at(f->row[j], column), value);
        if (seen) continue;
        if (found) return value;
        found = json_equal(value, before);
    }
    return NULL;
}

/* Columns besides x and line that have several values. */
static void find_panels(figure *f) {
    const size_t columns = json_array_size(f->columns);
    for (size_t c = 0; c < columns && f->panels < MOST_COLUMNS; c++) {
        const json_t *first = next_value(f, c, NULL);
        if (c == f->x || c == f->line || !first) continue;
        if (next_value(f, c, first)) f->panel[f->panels++] = c;
    }
    for (size_t p = 0; p < f->panels; p++) f->at[p] = next_value(f, f->panel[p], NULL);
}

/* Counts the panels on, the last column first; false: that was the last one. */
static bool next_panel(figure *f) {
    for (size_t p = f->panels; p-- > 0;) {
        const json_t *next = next_value(f, f->panel[p], f->at[p]);
        f->at[p] = next ? next : next_value(f, f->panel[p], NULL);
        if (next) return true;
    }
    return false;
}

static bool is_here(const figure *f, const json_t *row) {
    for (size_t p = 0; p < f->panels; p++) {
        const json_t *value = value_at(row, f->panel[p]);
        if (!json_is_null(value) && !json_equal(value, f->at[p])) return false;
    }
    return true;
}

static double member(const json_t *row, const char *name) {
    const json_t *at = json_object_get(row, name);
    return json_is_number(at) ? json_number_value(at) : NAN;
}

/* -- places -- */

/* Names, unless every x is a number. */
static void find_places(figure *f) {
    bool numbers = true;
    size_t count = 0;
    for (size_t k = 0; k < f->rows; k++)
        numbers &= !json_is_string(value_at(f->row[k], f->x));
    for (const json_t *v = next_value(f, f->x, NULL); v && !numbers;
         v = next_value(f, f->x, v)) {
        char *name = f->name[f->rows + count];
        bb_label_text(v, name, LABEL);
        f->place[count++] = name;
    }
    f->all.x.place = f->place;
    f->all.x.places = count;
}

static double place_of(const figure *f, const json_t *value) {
    double place = 0.0;
    if (!f->all.x.places) return json_number_value(value);
    for (const json_t *v = next_value(f, f->x, NULL); v && !json_equal(v, value);
         v = next_value(f, f->x, v))
        place += 1.0;
    return place;
}

/* -- one picture -- */

static int by_x(const void *a, const void *b) {
    const bb_curve_point *one = a, *other = b;
    return (one->x > other->x) - (one->x < other->x);
}

/* A number alone does not say of what; options are named as they are given. */
static void name_line(const figure *f, const json_t *line, char name[LABEL]) {
    char value[LABEL];
    bb_label_text(line, value, sizeof value);
    const char *column = json_string_value(json_array_get(f->columns, f->line));
    const char *dot = column ? strchr(column, '.') : NULL;
    const char *own = dot ? dot + 1 : column;
    if (!own || !json_is_number(line))
        snprintf(name, LABEL, "%s", value);
    else
        snprintf(name, LABEL, "%.40s = %.30s", strcmp(own, "epsilon") == 0 ? "ε" : own,
                 value);
}

/* The points of one line, or its level. */
static void add_line(figure *f, const json_t *line, size_t *points, size_t number) {
    bb_drawn_curve *curve = &f->curve[f->all.curves];
    char *name = f->name[number];
    *curve = (bb_drawn_curve){NULL, 0, f->point + *points};
    name_line(f, line, name);
    for (size_t k = 0; k < f->rows; k++) {
        const json_t *row = f->row[k], *x = value_at(row, f->x);
        if (!is_here(f, row)) continue;
        if (f->line != SIZE_MAX && !json_equal(value_at(row, f->line), line)) continue;
        if (json_is_null(x)) {
            f->level[f->all.levels++] = (bb_level){name, member(row, "mean")};
            continue;
        }
        f->point[(*points)++] =
            (bb_curve_point){place_of(f, x), member(row, "mean"), member(row, "least"),
                             member(row, "most"), (size_t)member(row, "count")};
        curve->points++;
    }
    if (!curve->points) return;
    if (f->line != SIZE_MAX) curve->name = name;
    qsort(curve->point, curve->points, sizeof *curve->point, by_x);
    f->all.curves++;
}

static void fill(figure *f) {
    const json_t *none = json_array_get(f->columns, SIZE_MAX); /* NULL */
    size_t points = 0, number = 0;
    f->all.curves = f->all.levels = 0;
    f->all.curve = f->curve;
    f->all.level = f->level;
    if (f->line == SIZE_MAX) add_line(f, none, &points, number);
    for (const json_t *line = f->line == SIZE_MAX ? NULL : next_value(f, f->line, NULL);
         line; line = next_value(f, f->line, line))
        add_line(f, line, &points, number++);
}

static void name_panel(const figure *f, char text[PANEL]) {
    size_t used = 0;
    *text = '\0';
    for (size_t p = 0; p < f->panels && used < PANEL - 1; p++) {
        char value[LABEL];
        bb_label_text(f->at[p], value, sizeof value);
        const int more =
            snprintf(text + used, PANEL - used, "%s%s: %s", p ? ", " : "",
                     json_string_value(json_array_get(f->columns, f->panel[p])), value);
        used += more > 0 ? (size_t)more : 0;
    }
}

/* -- all of them -- */

/* Is it among the values that the figure wants of each column? */
static bool is_wanted(const figure *f, const json_t *row, const json_t *only) {
    const char *name;
    const json_t *values;
    json_object_foreach((json_t *)(uintptr_t)only, name, values) {
        const size_t column = column_of(f->columns, name);
        bool found = column == SIZE_MAX;
        for (size_t k = 0; k < json_array_size(values) && !found; k++)
            found = json_equal(value_at(row, column), json_array_get(values, k));
        if (!found) return false;
    }
    return true;
}

static bb_status open_figure(figure *f, const json_t *results, const char *y,
                             const json_t *only) {
    const json_t *means = json_object_get(results, "means");
    const size_t most = json_array_size(means) + 1;
    bb_status status = bb_allocate(&f->row, most, sizeof *f->row, "a figure");
    if (!status) status = bb_allocate(&f->curve, most, sizeof *f->curve, "a figure");
    if (!status) status = bb_allocate(&f->point, most, sizeof *f->point, "a figure");
    if (!status) status = bb_allocate(&f->level, most, sizeof *f->level, "a figure");
    if (!status) status = bb_allocate(&f->name, 2 * most, sizeof *f->name, "a figure");
    if (!status) status = bb_allocate(&f->place, most, sizeof *f->place, "a figure");
    for (size_t k = 0; k < json_array_size(means) && !status; k++) {
        const json_t *row = json_array_get(means, k);
        const char *column = json_string_value(json_object_get(row, "column"));
        if (column && strcmp(column, y) == 0 && !isnan(member(row, "mean")) &&
            is_wanted(f, row, only))
            f->row[f->rows++] = row;
    }
    return status;
}

static void close_figure(figure *f) {
    free(f->row);
    free(f->curve);
    free(f->point);
    free(f->level);
    free(f->name);
    free(f->place);
}

static const char *text_or(const json_t *about, const char *name, const char *other) {
    const char *text = json_string_value(json_object_get(about, name));
    return text ? text : other;
}

/* Does a group of runs stand behind a line of the table of means? */
static bool is_group_of(const figure *f, const json_t *row, const json_t *labels) {
    bool same = true;
    for (size_t c = 0; c < json_array_size(f->columns) && same; c++) {
        const char *column = json_string_value(json_array_get(f->columns, c));
        const json_t *value = json_object_get(labels, column); /* rounds: NULL */
        same = !value || json_equal(value, value_at(row, c));
    }
    return same;
}

/* What y is called in a panel: figures on test rows are in the loss's own metric. */
static const char *metric_of(const figure *f, const json_t *results, const char *y) {
    const json_t *groups = json_object_get(results, "groups");
    const char *metric = NULL;
    size_t k = 0, g = 0;
    while (k < f->rows && !is_here(f, f->row[k])) k++;
    while (k < f->rows && g < json_array_size(groups) &&
           !is_group_of(f, f->row[k], bb_json_at(json_array_get(groups, g), "labels")))
        g++;
    metric = json_string_value(bb_json_at(json_array_get(groups, g), "cells.0.metric"));
    if (strcmp(y, "test") != 0 || !metric) return y;
    if (strcmp(metric, "nmse") == 0) return "nMSE on test rows";
    if (strcmp(metric, "auc") == 0) return "AUC on test rows";
    if (strcmp(metric, "f1") == 0) return "F1 on test rows";
    return metric;
}

static bb_status draw_figure(const json_t *results, const json_t *about,
                             const bb_figure_taker *taker) {
    const json_t *columns = json_object_get(results, "columns");
    const char *x = text_or(about, "x", "epsilon"), *y = text_or(about, "y", "test"),
               *line = text_or(about, "line", NULL);
    figure f = {.columns = columns,
                .x = column_of(columns, x),
                .line = column_of(columns, line)};
    char panel[PANEL];
    if (f.x == SIZE_MAX || (line && f.line == SIZE_MAX))
        return bb_fail(BB_EDATA, "a figure is drawn over \"%s\", which no run has",
                       f.x == SIZE_MAX ? x : line);
    bb_status status = open_figure(&f, results, y, json_object_get(about, "only"));
    if (!status && f.rows) {
        f.all.title = text_or(about, "title", "");
        f.all.x.title =
            text_or(about, "x_title", strcmp(x, "epsilon") ? x : "ε of a whole task");
        find_panels(&f);
        find_places(&f);
        f.all.x.log =
            !f.all.x.places && (strcmp(x, "epsilon") == 0 ||
                                json_is_true(json_object_get(about, "log_x")));
        do {
            f.all.metric = text_or(about, "y_title", metric_of(&f, results, y));
            fill(&f);
            name_panel(&f, panel);
            if (f.all.curves) taker->take(taker->self, f.all.title, panel, &f.all);
        } while (next_panel(&f));
    }
    close_figure(&f);
    return status;
}

bb_status bb_figures_draw(const json_t *results, const bb_figure_taker *taker) {
    const json_t *figures =
        json_object_get(json_object_get(results, "definition"), "figures");
    bb_status status = BB_OK;
    for (size_t k = 0; k < json_array_size(figures) && !status; k++)
        status = draw_figure(results, json_array_get(figures, k), taker);
    return status;
}
