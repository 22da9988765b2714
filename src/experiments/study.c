#include "experiments/study.h"

#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/memory.h"
#include "experiments/cell.h"
#include "experiments/definition.h"
#include "experiments/study_inside.h"
#include "linalg/linalg.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USUAL_SEEDS = 3 };

static bb_status no_memory(void) {
    return bb_fail(BB_ENOMEM, "no memory for an experiment");
}

static size_t seeds_of(const bb_study *s) {
    const json_t *seeds = json_object_get(s->definition, "seeds");
    if (s->request->seeds) return (size_t)s->request->seeds;
    return seeds ? (size_t)json_integer_value(seeds) : USUAL_SEEDS;
}

/* -- before the first cell -- */

static bool is_known(const bb_study *s) {
    if (strcmp(s->groups.run, "train") == 0) return true;
    for (size_t k = 0; k < s->request->runners; k++)
        if (strcmp(s->request->runner[k].name, s->groups.run) == 0) return true;
    return false;
}

/* Every group's options make sense, before hours are spent on the others. */
static bb_status check(const bb_study *s) {
    const bb_cell_place place = {s->request->data, NULL};
    bb_status status = BB_OK;
    if (!is_known(s))
        return bb_fail(BB_EUSAGE, "%s: an experiment cannot run \"%s\"",
                       s->request->name, s->groups.run);
    for (size_t k = 0; k < s->cells && !status; k++) {
        json_t *options = NULL;
        const bool first = k == 0 || s->cell[k].group != s->cell[k - 1].group;
        if (!first || strcmp(s->groups.run, "train") != 0) continue;
        status = bb_cell_check(s->cell[k].cell, &place, &options);
        json_decref(options);
        if (!status) continue;
        char *labels = bb_json_text(s->groups.group[s->cell[k].group].labels, 0);
        bb_fail_context(status, "%s: %s", s->request->name, labels ? labels : "");
        free(labels);
    }
    return status;
}

/* The cells that are reported, each group's with its chosen candidate. */
static bb_status want_cells(bb_study *s) {
    const size_t seeds = seeds_of(s), each = seeds ? seeds : 1;
    bb_status status = BB_OK;
    bb_wanted_close(s->cell, s->cells);
    s->cells = 0;
    s->cell = NULL;
    status = bb_allocate(&s->cell, s->groups.count * each, sizeof *s->cell,
                         "the cells of an experiment");
    for (size_t g = 0; g < s->groups.count; g++)
        for (size_t k = 0; k < each && !status; k++) {
            bb_wanted *cell = &s->cell[s->cells++];
            *cell = (bb_wanted){.group = g, .candidate = s->chosen[g]};
            cell->seed = seeds ? k + 1 : 0;
            status = bb_study_want(s, cell);
        }
    return status;
}

static bb_status open_study(bb_study *s) {
    bb_status status =
        bb_definition_read(s->request->name, s->request->preset, &s->definition);
    if (!status) status = bb_groups_open(&s->groups, s->definition);
    if (!status)
        status = bb_allocate(&s->chosen, s->groups.count, sizeof *s->chosen,
                             "the cells of an experiment");
    if (!status) status = want_cells(s);
    if (!status) status = check(s);
    s->all = s->cells;
    return status;
}

static void close_study(bb_study *s) {
    bb_wanted_close(s->cell, s->cells);
    bb_groups_close(&s->groups);
    bb_registry_close(s->registry);
    json_decref(s->definition);
    free(s->chosen);
}

/* -- the folder -- */

static bb_status open_registry(const char *folder, bb_registry **registry) {
    char *path = NULL;
    bb_status status = bb_file_join(&path, folder, "cells.sqlite");
    if (!status) status = bb_registry_open(registry, path);
    free(path);
    return status;
}

/* Notes the definition; a folder of another experiment stays what it is. */
static bb_status note_definition(const bb_study *s) {
    const char *folder = s->request->output;
    const char *name = json_string_value(json_object_get(s->definition, "name"));
    json_t *before = NULL;
    char *path = NULL;
    bb_status status = bb_file_join(&path, folder, "experiment.json");
    if (!status && access(path, F_OK) == 0) status = bb_json_read_file(&before, path);
    const char *other = json_string_value(json_object_get(before, "name"));
    if (!status && other && strcmp(other, name) != 0)
        status = bb_fail(BB_EUSAGE, "%s has the experiment %s: give another folder",
                         folder, other);
    if (!status) status = bb_json_write_file(path, s->definition);
    json_decref(before);
    free(path);
    return status;
}

static bb_status open_folder(bb_study *s) {
    const char *folder = s->request->output;
    if (mkdir(folder, 0777) && errno != EEXIST)
        return bb_fail(BB_EIO, "cannot make the folder %s: %s", folder,
                       strerror(errno));
    const bb_status status = note_definition(s);
    return status ? status : open_registry(folder, &s->registry);
}

/* -- all of it -- */

static size_t count_failed(const bb_study *s) {
    size_t failed = 0;
    for (size_t k = 0; k < s->cells; k++)
        failed += json_object_get(s->cell[k].result, "error") != NULL;
    return failed;
}

static bb_status summarize(const bb_study *s, json_t *means, json_t **summary) {
    size_t cells = 0;
    double seconds = 0.0;
    const bb_status status = bb_registry_count(s->registry, &cells, &seconds);
    if (status) return status;
    *summary = json_pack("{s:O,s:O?,s:O?,s:O?,s:s,s:I,s:I,s:f,s:o,s:O}", "experiment",
                         json_object_get(s->definition, "name"), "title",
                         json_object_get(s->definition, "title"), "source",
                         json_object_get(s->definition, "source"), "preset",
                         json_object_get(s->definition, "preset"), "output",
                         s->request->output, "cells", (json_int_t)s->cells, "failed",
                         (json_int_t)count_failed(s), "seconds", seconds, "columns",
                         bb_study_columns(s), "means", means);
    return *summary ? BB_OK : no_memory();
}

static bb_status say_where(const bb_study *s, bb_status status) {
    size_t cells = 0;
    double seconds = 0.0;
    if (status != BB_EINTERRUPTED) return status;
    if (bb_registry_count(s->registry, &cells, &seconds)) return status;
    return bb_fail(
        status,
        "interrupted: %s keeps %zu cell%s, and the same command goes on with "
        "the others",
        s->request->output, cells, bb_plural((double)cells));
}

static bb_status run(bb_study *s, json_t **summary) {
    json_t *means = NULL;
    bb_status status = open_folder(s);
    if (!status) status = bb_study_tune(s);
    if (!status) status = want_cells(s);
    if (!status) status = bb_study_cells(s, s->cell, s->cells);
    if (status) return say_where(s, status);
    status = bb_study_write(s, &means);
    if (!status) status = summarize(s, means, summary);
    json_decref(means);
    return status;
}

bb_status bb_study_run(const bb_study_request *request, const bb_study_watch *watch,
                       json_t **summary) {
    bb_study s = {.request = request, .watch = watch};
    bb_lock lock = {0};
    bb_status status = bb_linalg_ready();
    if (!status) status = open_study(&s);
    if (!status)
        status = bb_lock_take(&lock, request->output,
                              "another process is at this experiment");
    if (!status) status = run(&s, summary);
    bb_lock_give(&lock);
    close_study(&s);
    return status;
}

bb_status bb_study_state(const char *folder, json_t **summary) {
    bb_registry *registry = NULL;
    json_t *definition = NULL, *results = NULL;
    char *path[2] = {NULL, NULL};
    size_t cells = 0;
    double seconds = 0.0;
    bb_status status = bb_file_join(&path[0], folder, "experiment.json");
    if (!status) status = bb_file_join(&path[1], folder, "results.json");
    if (!status) status = bb_json_read_file(&definition, path[0]);
    if (!status && access(path[1], F_OK) == 0)
        status = bb_json_read_file(&results, path[1]);
    if (!status) status = open_registry(folder, &registry);
    if (!status) status = bb_registry_count(registry, &cells, &seconds);
    if (!status) {
        *summary =
            json_pack("{s:O?,s:O?,s:O?,s:O?,s:s,s:I,s:b,s:f,s:O?,s:O?}", "experiment",
                      json_object_get(definition, "name"), "title",
                      json_object_get(definition, "title"), "source",
                      json_object_get(definition, "source"), "preset",
                      json_object_get(definition, "preset"), "output", folder, "cells",
                      (json_int_t)cells, "complete", results != NULL, "seconds",
                      seconds, "columns", json_object_get(results, "columns"), "means",
                      json_object_get(results, "means"));
        if (!*summary) status = no_memory();
    }
    bb_registry_close(registry);
    json_decref(definition);
    json_decref(results);
    for (size_t k = 0; k < 2; k++) free(path[k]);
    return status;
}

json_t *bb_study_list(void) {
    json_t *list = json_array();
    for (size_t k = 0; bb_shipped_at(k) && list; k++) {
        json_t *own = json_loads(bb_shipped_at(k)->text, 0, NULL),
               *presets = json_array();
        const char *name;
        json_t *patch;
        json_object_foreach(json_object_get(own, "presets"), name, patch) {
            (void)patch;
            json_array_append_new(presets, json_string(name));
        }
        json_array_append_new(
            list, json_pack("{s:s,s:O?,s:O?,s:O?,s:o}", "name", bb_shipped_at(k)->name,
                            "title", json_object_get(own, "title"), "source",
                            json_object_get(own, "source"), "about",
                            json_object_get(own, "about"), "presets", presets));
        json_decref(own);
    }
    return json_pack("{s:o}", "experiments", list);
}
