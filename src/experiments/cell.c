#include "experiments/cell.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "experiments/similarity.h"
#include "experiments/world.h"
#include "train/resolve.h"
#include "train/train.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bb_status no_memory(void) {
    return bb_fail(BB_ENOMEM, "no memory for a cell");
}

/* -- options -- */

/* The flags of a run; own their texts. */
typedef struct flags {
    bb_train_flag *flag;
    size_t count, room;
} flags;

static void close_flags(flags *f) {
    for (size_t k = 0; k < f->count; k++) {
        free((void *)(uintptr_t)f->flag[k].name);
        free((void *)(uintptr_t)f->flag[k].text);
    }
    free(f->flag);
    *f = (flags){0};
}

/* Takes the text over. */
static bb_status add_flag(flags *f, const char *name, char *text) {
    char *own = NULL;
    bb_status status = text ? bb_grow(&f->flag, &f->room, f->count + 1, sizeof *f->flag,
                                      "the options of a cell")
                            : no_memory();
    if (!status) status = bb_duplicate(&own, name, strlen(name));
    if (status) {
        free(text);
    } else {
        assert(f->flag); /* bb_grow */
        f->flag[f->count++] = (bb_train_flag){own, text};
    }
    return status;
}

/* A text as it is, anything else as JSON has it. */
static char *text_of(const json_t *value) {
    const char *text = json_string_value(value);
    char *copy = NULL;
    if (!text) return bb_json_text(value, 0);
    return bb_duplicate(&copy, text, strlen(text)) ? NULL : copy;
}

static bb_status add_set(flags *f, const json_t *set) {
    const char *name;
    const json_t *value;
    bb_status status = BB_OK;
    json_object_foreach((json_t *)(uintptr_t)set, name, value) {
        char *text = status ? NULL : text_of(value), *pair = NULL;
        if (status) break;
        const size_t size = strlen(name) + (text ? strlen(text) : 0) + 2;
        if (text) status = bb_allocate(&pair, size, 1, "an option of a cell");
        if (pair) snprintf(pair, size, "%s=%s", name, text);
        free(text);
        if (!status) status = add_flag(f, "set", pair);
    }
    return status;
}

static bb_status add_options(flags *f, const json_t *options) {
    const char *name;
    const json_t *value;
    bb_status status = BB_OK;
    json_object_foreach((json_t *)(uintptr_t)options, name, value) {
        if (status) break;
        status = strcmp(name, "set") == 0 ? add_set(f, value)
                                          : add_flag(f, name, text_of(value));
    }
    return status;
}

static bb_status add_number(flags *f, const char *name, uint64_t number) {
    char text[24], *copy = NULL;
    snprintf(text, sizeof text, "%" PRIu64, number);
    const bb_status status = bb_duplicate(&copy, text, strlen(text));
    return status ? status : add_flag(f, name, copy);
}

static uint64_t seed_of(const json_t *cell) {
    return (uint64_t)json_integer_value(json_object_get(cell, "seed"));
}

/* Options of a run that a cell sets itself, or that would leave something behind. */
static bb_status refuse_own(const json_t *options) {
    static const char *const own[] = {"seed",   "threads", "output", "ledger",
                                      "config", "resume",  "force",  "checkpoint"};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        if (json_object_get(options, own[k]))
            return bb_fail(BB_EUSAGE,
                           "the cells of an experiment have no --%s of their "
                           "own",
                           own[k]);
    return BB_OK;
}

static const char *file_of(const json_t *cell) {
    return json_string_value(json_object_get(json_object_get(cell, "data"), "file"));
}

static bb_status read_request(const json_t *cell, bb_train_request *request) {
    const json_t *options = json_object_get(cell, "options");
    flags f = {0};
    bb_status status = refuse_own(options);
    if (!status) status = add_options(&f, options);
    if (!status) status = add_number(&f, "threads", 1);
    if (!status && seed_of(cell)) status = add_number(&f, "seed", seed_of(cell));
    if (!status && file_of(cell) && !json_object_get(options, "split-seed"))
        status = add_number(&f, "split-seed", seed_of(cell));
    if (!status) status = bb_train_resolve(request, f.flag, f.count);
    const json_int_t fold = json_integer_value(json_object_get(cell, "fold"));
    if (!status) {
        request->in_memory = true;
        request->held_out = fold > 0;
        request->fold = fold > 0 ? (unsigned)(fold - 1) : 0;
    }
    close_flags(&f);
    return status;
}

/* -- data -- */

static bb_status find_file(const bb_cell_place *place, const char *file, char **path) {
    if (*file == '/') return bb_duplicate(path, file, strlen(file));
    if (!place->folder)
        return bb_fail(BB_EUSAGE, "%s: in which folder? give --data DIR", file);
    const bb_status status = bb_file_join(path, place->folder, file);
    if (!status && access(*path, R_OK))
        return bb_fail(BB_EUSAGE,
                       "%s: there is no such file: --data DIR names the "
                       "folder of data sets (docs/experiment.md)",
                       *path);
    return status;
}

bb_status bb_cell_check(const json_t *cell, const bb_cell_place *place,
                        json_t **options) {
    const json_t *data = json_object_get(cell, "data");
    bb_train_request request = {0};
    bb_resolved resolved;
    bb_cell_world world;
    char *path = NULL;
    bb_status status = read_request(cell, &request);
    if (!status) status = bb_resolve(&request, &resolved);
    if (!status && !data)
        status = bb_fail(BB_EUSAGE, "an experiment of runs needs \"data\"");
    if (!status && file_of(cell))
        status = find_file(place, file_of(cell), &path);
    else if (!status)
        status = bb_cell_world_read(data, seed_of(cell), &world);
    if (!status && !(*options = bb_train_json(&request, false))) status = no_memory();
    free(path);
    bb_train_request_free(&request);
    return status;
}

/* -- running -- */

static double number_at(const json_t *json, const char *one, const char *two,
                        const char *three) {
    const json_t *at = json_object_get(json, one);
    if (two) at = json_object_get(at, two);
    if (three) at = json_object_get(at, three);
    return json_is_number(at) ? json_number_value(at) : NAN;
}

/* The run's figures in the one metric of its loss. */
static bb_status add_figures(json_t *answer, bb_loss loss) {
    const char *metric = bb_loss_metric(loss);
    const json_t *compare = json_object_get(answer, "compare");
    json_t *figures = json_pack(
        "{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "metric", metric, "test_value",
        bb_json_real(number_at(answer, "test", metric, NULL)), "train_value",
        bb_json_real(number_at(answer, "train", metric, NULL)), "alone",
        bb_json_real(number_at(compare, "stl", "test", metric)), "pooled",
        bb_json_real(number_at(compare, "pooled", "test", metric)), "mixed",
        bb_json_real(number_at(compare, "mixed", "test", metric)), "no_privacy",
        bb_json_real(number_at(compare, "no-privacy", "test", metric)));
    const bool failed = !figures || json_object_update(answer, figures);
    json_decref(figures);
    return failed ? no_memory() : BB_OK;
}

/* truth: the models that made the data; or NULL. */
static bb_status train(const bb_train_request *request, const bb_source *data,
                       const bb_source *test, const double *truth,
                       const bb_cell_place *place, json_t **answer) {
    const bb_watch watch = {.stop = place->stop};
    bb_training *training = NULL;
    bb_status status = bb_training_open(&training, request, data, test, &watch, NULL);
    if (status) return status;
    json_t *json = bb_training_json(training);
    status = json ? add_figures(json, (bb_loss)request->options.loss) : no_memory();
    if (!status && truth) {
        const bb_trained trained = bb_training_trained(training);
        if (json_object_set_new(json, "similarity",
                                bb_similarity_json(&trained.models, truth)))
            status = no_memory();
    }
    bb_training_close(training);
    if (status)
        json_decref(json);
    else
        *answer = json;
    return status;
}

static bb_status train_on_file(const bb_train_request *request,
                               const bb_cell_place *place, const char *file,
                               json_t **answer) {
    char *path = NULL;
    bb_status status = find_file(place, file, &path);
    const bb_source data = {.path = path};
    if (!status) status = train(request, &data, NULL, NULL, place, answer);
    free(path);
    return status;
}

static bb_status train_on_world(const bb_train_request *request,
                                const bb_cell_place *place, const json_t *cell,
                                json_t **answer) {
    bb_cell_world world;
    bb_dataset rows = {0}, tests = {0};
    double *truth = NULL;
    bb_status status =
        bb_cell_world_read(json_object_get(cell, "data"), seed_of(cell), &world);
    if (!status) status = bb_cell_world_draw(&world, &rows, &tests, &truth);
    const bb_source data = {.rows = &rows}, test = {.rows = &tests};
    if (!status) status = train(request, &data, &test, truth, place, answer);
    bb_dataset_free(&rows);
    bb_dataset_free(&tests);
    free(truth);
    return status;
}

bb_status bb_cell_train(const json_t *cell, const bb_cell_place *place,
                        json_t **answer) {
    bb_train_request request = {0};
    const char *file = file_of(cell);
    bb_status status = read_request(cell, &request);
    if (!status && file) status = train_on_file(&request, place, file, answer);
    if (!status && !file) status = train_on_world(&request, place, cell, answer);
    bb_train_request_free(&request);
    return status;
}
