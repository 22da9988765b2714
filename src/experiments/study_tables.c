/* The tables of an experiment. They have figures and options, and no time and no place. */
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "experiments/cell.h"
#include "experiments/study_inside.h"
#include "models/models.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bb_status no_memory(void) {
    return bb_fail(BB_ENOMEM, "no memory for the tables of an experiment");
}

/* -- CSV -- */

static void write_value(FILE *to, const json_t *value) {
    if (json_is_string(value))
        bb_write_field(to, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(to, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(to, "%.9g", json_real_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "true" : "false", to);
    else if (json_is_object(value) || json_is_array(value)) {
        char *text = bb_json_text(value, 0);
        bb_write_field(to, text ? text : "");
        free(text);
    }
}

/* The members' names, or their values, each with a comma behind it. */
static void write_members(FILE *to, const json_t *object, bool names) {
    const char *name;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        if (strcmp(name, "rounds") == 0 && json_is_array(value)) continue;
        if (names)
            bb_write_field(to, name);
        else
            write_value(to, value);
        putc(',', to);
    }
}

static const json_t *labels_of(const bb_study *s, size_t k) {
    return s->groups.group[s->cell[k].group].labels;
}

/* The setting that was chosen; NULL where there was nothing to choose. */
static const json_t *tuned(const bb_study *s, size_t group) {
    const json_t *list = s->groups.group[group].candidates;
    return list ? json_array_get(list, s->chosen[group]) : NULL;
}

static const json_t *error_of(const bb_wanted *cell) {
    return json_object_get(cell->result, "error");
}

/* Any that did not fail: all have the same columns. */
static const json_t *one_result(const bb_study *s) {
    for (size_t k = 0; k < s->cells; k++)
        if (!error_of(&s->cell[k])) return s->cell[k].result;
    return NULL;
}

static void write_cells(const bb_study *s, FILE *to) {
    const json_t *columns = one_result(s);
    const char *name;
    const json_t *value;
    write_members(to, labels_of(s, 0), true);
    fputs("seed,tuned,", to);
    write_members(to, columns, true);
    fputs("error\n", to);
    for (size_t k = 0; k < s->cells; k++) {
        const bb_wanted *cell = &s->cell[k];
        write_members(to, labels_of(s, k), false);
        fprintf(to, "%llu,", (unsigned long long)cell->seed);
        write_value(to, tuned(s, cell->group));
        putc(',', to);
        json_object_foreach((json_t *)(uintptr_t)columns, name, value) {
            if (strcmp(name, "rounds") == 0 && json_is_array(value)) continue;
            write_value(to, json_object_get(cell->result, name));
            putc(',', to);
        }
        write_value(to, error_of(cell));
        putc('\n', to);
    }
}

static void write_rounds(const bb_study *s, FILE *to) {
    const json_t *columns = json_object_get(s->definition, "trace");
    write_members(to, labels_of(s, 0), true);
    fputs("seed,round", to);
    for (size_t c = 0; c < json_array_size(columns); c++) {
        const char *name = json_string_value(json_array_get(columns, c));
        putc(',', to);
        bb_write_field(to, name ? name : "");
    }
    putc('\n', to);
    for (size_t k = 0; k < s->cells; k++) {
        const json_t *rounds = json_object_get(s->cell[k].result, "rounds");
        for (size_t t = 0; t < json_array_size(rounds); t++) {
            const json_t *line = json_array_get(rounds, t);
            write_members(to, labels_of(s, k), false);
            fprintf(to, "%llu,", (unsigned long long)s->cell[k].seed);
            write_value(to, json_object_get(line, "round"));
            for (size_t c = 0; c < json_array_size(columns); c++) {
                const char *name = json_string_value(json_array_get(columns, c));
                putc(',', to);
                write_value(to, json_object_get(line, name ? name : ""));
            }
            putc('\n', to);
        }
    }
}

static void write_means(const bb_study *s, FILE *to, const json_t *means) {
    json_t *columns = bb_study_columns(s);
    for (size_t c = 0; c < json_array_size(columns); c++) {
        write_value(to, json_array_get(columns, c));
        putc(',', to);
    }
    json_decref(columns);
    fputs("column,count,mean,deviation,least,most,promise\n", to);
    for (size_t k = 0; k < json_array_size(means); k++) {
        const char *name, *before = "";
        json_t *value;
        json_object_foreach(json_array_get(means, k), name, value) {
            fputs(before, to);
            before = ",";
            if (!json_is_array(value)) {
                write_value(to, value);
                continue;
            }
            for (size_t c = 0; c < json_array_size(value); c++) {
                if (c) putc(',', to);
                write_value(to, json_array_get(value, c));
            }
        }
        putc('\n', to);
    }
}

/* -- JSON -- */

/* A group's cells, with all options as its first run resolved them. */
static bb_status group_json(const bb_study *s, size_t group, size_t *k, json_t **out) {
    const bb_cell_place place = {s->request->data, NULL};
    const bb_wanted *first = &s->cell[*k];
    json_t *options = NULL, *cells = json_array();
    bb_status status = BB_OK;
    if (strcmp(s->groups.run, "train") == 0)
        status = bb_cell_check(first->cell, &place, &options);
    else
        options = json_incref(json_object_get(first->cell, "options"));
    for (; *k < s->cells && s->cell[*k].group == group; ++*k) {
        json_t *one = json_pack("{s:I}", "seed", (json_int_t)s->cell[*k].seed);
        if (one) json_object_update(one, s->cell[*k].result);
        json_array_append_new(cells, one);
    }
    *out =
        json_pack("{s:O,s:O?,s:O?,s:O?,s:O}", "labels", s->groups.group[group].labels,
                  "data", json_object_get(first->cell, "data"), "tuned",
                  tuned(s, group), "options", options, "cells", cells);
    json_decref(options);
    json_decref(cells);
    return status || *out ? status : no_memory();
}

static bb_status results_json(const bb_study *s, json_t *means, json_t *comparisons,
                              json_t **out) {
    json_t *groups = json_array();
    bb_status status = groups ? BB_OK : no_memory();
    size_t k = 0;
    for (size_t g = 0; g < s->groups.count && !status; g++) {
        json_t *group = NULL;
        status = group_json(s, g, &k, &group);
        if (!status && json_array_append_new(groups, group)) status = no_memory();
    }
    *out = json_pack(
        "{s:s,s:s,s:O,s:s,s:O,s:o,s:O,s:O,s:O}", "program", "billboard", "version",
        BB_VERSION, "experiment", json_object_get(s->definition, "name"), "note",
        "Simulated: seeded runs on data that may be looked at, so nothing here is "
        "private. What a line promises would hold for the same runs with secure "
        "noise, unless it says that it is not true.",
        "definition", s->definition, "columns", bb_study_columns(s), "means", means,
        "comparisons", comparisons, "groups", groups);
    json_decref(groups);
    return status || *out ? status : no_memory();
}

/* -- files -- */

static bb_status put(const bb_study *s, const char *name, const char *text,
                     size_t size) {
    char *path = NULL;
    bb_status status = bb_file_join(&path, s->request->output, name);
    if (!status) status = bb_file_write(path, text, size);
    free(path);
    return status;
}

enum { CELLS, ROUNDS, MEANS, TABLES };

static bb_status write_table(const bb_study *s, int which, const json_t *means) {
    static const char *const name[TABLES] = {"cells.csv", "rounds.csv", "means.csv"};
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to) return no_memory();
    if (which == CELLS) write_cells(s, to);
    if (which == ROUNDS) write_rounds(s, to);
    if (which == MEANS) write_means(s, to, means);
    const bool broken = ferror(to);
    bb_status status = fclose(to) || broken ? no_memory() : BB_OK;
    if (!status) status = put(s, name[which], text, size);
    free(text);
    return status;
}

bb_status bb_study_write(const bb_study *s, json_t **out) {
    json_t *means = bb_study_means(s), *comparisons = NULL, *results = NULL;
    bb_status status = means ? write_table(s, CELLS, NULL) : no_memory();
    if (!status && json_object_get(s->definition, "trace"))
        status = write_table(s, ROUNDS, NULL);
    if (!status) status = write_table(s, MEANS, means);
    if (!status) status = bb_study_compare(s, &comparisons);
    if (!status) status = results_json(s, means, comparisons, &results);
    char *text = status ? NULL : bb_json_text(results, 1);
    if (!status && !text) status = no_memory();
    if (!status) status = put(s, "results.json", text, strlen(text));
    free(text);
    json_decref(results);
    json_decref(comparisons);
    if (status)
        json_decref(means);
    else
        *out = means;
    return status;
}
