/* Means over seeds: of what runs reach, and of rounds where a figure is drawn over them. */
#include "base/json.h"
#include "experiments/study_inside.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_over_rounds(const json_t *figure) {
    const char *x = json_string_value(json_object_get(figure, "x"));
    return x && strcmp(x, "round") == 0;
}

static bool has_rounds(const bb_study *s) {
    const json_t *figures = json_object_get(s->definition, "figures");
    for (size_t k = 0; k < json_array_size(figures); k++)
        if (is_over_rounds(json_array_get(figures, k))) return true;
    return false;
}

json_t *bb_study_columns(const bb_study *s) {
    json_t *names = json_array(), *value;
    const char *name;
    json_object_foreach(s->groups.group[0].labels, name, value) {
        (void)value;
        if (names && json_array_append_new(names, json_string(name))) {
            json_decref(names);
            names = NULL;
        }
    }
    if (has_rounds(s) && names && json_array_append_new(names, json_string("round"))) {
        json_decref(names);
        names = NULL;
    }
    return names;
}

typedef struct spread {
    size_t count;
    double mean, squares, least, most;
} spread;

static void take(spread *x, double value) {
    const double off = value - x->mean;
    x->mean += off / (double)++x->count;
    x->squares += off * (value - x->mean);
    x->least = fmin(x->least, value);
    x->most = fmax(x->most, value);
}

/* Of the columns that bb_study_columns names; round 0: none. */
static json_t *values_of(const bb_study *s, size_t group, size_t round) {
    json_t *values = json_array(), *value;
    const char *name;
    json_object_foreach(s->groups.group[group].labels, name, value) {
        if (values && json_array_append(values, value)) {
            json_decref(values);
            values = NULL;
        }
    }
    if (has_rounds(s) && values &&
        json_array_append_new(values,
                              round ? json_integer((json_int_t)round) : json_null())) {
        json_decref(values);
        values = NULL;
    }
    return values;
}

/* What a group's runs claim, whole: an epsilon means nothing by itself. */
static json_t *promise_of(const bb_study *s, size_t group) {
    size_t k = 0;
    while (s->cell[k].group != group) k++;
    const json_t *r = s->cell[k].result;
    const json_t *epsilon = json_object_get(r, "claimed_epsilon"),
                 *delta = json_object_get(r, "claimed_delta"),
                 *broken = json_object_get(r, "true_delta_at_least");
    const char *adjacency = json_string_value(json_object_get(r, "adjacency")),
               *sampling = json_string_value(json_object_get(r, "sampling"));
    const bool chosen = bb_study_folds(s) && s->groups.group[group].candidates;
    char but[60] = "";
    if (!json_is_number(epsilon) || !json_is_number(delta) || !adjacency || !sampling)
        return json_null();
    if (json_is_number(broken))
        snprintf(but, sizeof but, "; not true: delta is at least %.3g",
                 json_number_value(broken));
    return json_sprintf(
        "epsilon %g, delta %.3g, %s, sampling %s%s%s", json_number_value(epsilon),
        json_number_value(delta), adjacency, sampling, but,
        chosen ? "; not private: settings were chosen on these data" : "");
}

/* Of all the group's runs; round 0: of their end. */
static json_t *mean_line(const bb_study *s, size_t group, size_t round,
                         const char *column) {
    spread x = {.least = INFINITY, .most = -INFINITY};
    for (size_t k = 0; k < s->cells; k++) {
        const json_t *from = s->cell[k].result;
        if (s->cell[k].group != group) continue;
        if (round) from = json_array_get(json_object_get(from, "rounds"), round - 1);
        const json_t *at = json_object_get(from, column);
        if (json_is_number(at)) take(&x, json_number_value(at));
    }
    const double variance = x.squares / ((double)x.count - 1.0);
    return json_pack("{s:o,s:s,s:I,s:o,s:o,s:o,s:o,s:o}", "labels",
                     values_of(s, group, round), "column", column, "count",
                     (json_int_t)x.count, "mean", bb_json_real(x.count ? x.mean : NAN),
                     "deviation", bb_json_real(x.count > 1 ? sqrt(variance) : NAN),
                     "least", bb_json_real(x.least), "most", bb_json_real(x.most),
                     "promise", promise_of(s, group));
}

/* The columns that figures draw, over rounds or not; of the end "test" if no figure does.
 */
static json_t *drawn_columns(const bb_study *s, bool over_rounds) {
    const json_t *figures = json_object_get(s->definition, "figures");
    json_t *columns = json_object();
    for (size_t k = 0; k < json_array_size(figures) && columns; k++) {
        const json_t *figure = json_array_get(figures, k);
        const char *y = json_string_value(json_object_get(figure, "y"));
        if (is_over_rounds(figure) == over_rounds)
            json_object_set_new(columns, y ? y : "test", json_true());
    }
    if (!over_rounds && json_object_size(columns) == 0)
        json_object_set_new(columns, "test", json_true());
    return columns;
}

static size_t rounds_of(const bb_study *s, size_t group) {
    size_t most = 0;
    for (size_t k = 0; k < s->cells; k++) {
        const size_t rounds =
            json_array_size(json_object_get(s->cell[k].result, "rounds"));
        if (s->cell[k].group == group && rounds > most) most = rounds;
    }
    return most;
}

static bool add_means(const bb_study *s, json_t *means, size_t group) {
    json_t *columns[2] = {drawn_columns(s, false), drawn_columns(s, true)}, *is;
    bool whole = columns[0] && columns[1];
    const char *name;
    json_object_foreach(columns[0], name, is) {
        (void)is;
        whole = whole && !json_array_append_new(means, mean_line(s, group, 0, name));
    }
    for (size_t t = 1; t <= rounds_of(s, group); t++)
        json_object_foreach(columns[1], name, is) {
            (void)is;
            whole =
                whole && !json_array_append_new(means, mean_line(s, group, t, name));
        }
    json_decref(columns[0]);
    json_decref(columns[1]);
    return whole;
}

json_t *bb_study_means(const bb_study *s) {
    json_t *means = json_array();
    bool whole = means != NULL;
    for (size_t g = 0; g < s->groups.count && whole; g++)
        whole = add_means(s, means, g);
    if (whole) return means;
    json_decref(means);
    return NULL;
}
