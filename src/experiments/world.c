#include "experiments/world.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 10000000 };

static bb_status read_size(bb_cell_world *w, const char *name, const json_t *value) {
    const struct {
        const char *name;
        size_t *into;
    } size[] = {{"tasks", &w->world.tasks},
                {"samples", &w->world.samples},
                {"features", &w->world.features},
                {"labels", &w->world.labels},
                {"test-tasks", &w->test_tasks}};
    enum { SIZES = sizeof size / sizeof *size };
    const json_int_t number = json_integer_value(value);
    size_t k = 0;
    while (k < SIZES && strcmp(size[k].name, name) != 0) k++;
    if (k == SIZES) return bb_fail(BB_EUSAGE, "\"data\": a world has no \"%s\"", name);
    if (number < 1 || number > MOST)
        return bb_fail(BB_EUSAGE, "\"data\": \"%s\" must be a whole number in [1, %d]",
                       name, MOST);
    *size[k].into = (size_t)number;
    return BB_OK;
}

bb_status bb_cell_world_read(const json_t *data, uint64_t seed, bb_cell_world *out) {
    const char *kind = json_string_value(json_object_get(data, "world"));
    bb_cell_world w = {.world = {kind, 320, 30, 30, 10, seed}};
    const char *name;
    const json_t *value;
    if (!kind) return bb_fail(BB_EUSAGE, "\"data\" names a \"world\" or a \"file\"");
    bb_status status = bb_world_check(kind);
    json_object_foreach((json_t *)(uintptr_t)data, name, value) {
        if (!status && strcmp(name, "world") != 0) status = read_size(&w, name, value);
    }
    if (!status) *out = w;
    return status;
}

/* Test rows of the first tasks alone. */
static bb_status cut(size_t tasks, bb_dataset *test) {
    bb_dataset part = {0};
    unsigned char *keep = NULL;
    if (!tasks || tasks >= test->tasks) return BB_OK;
    bb_status status = bb_allocate(&keep, test->rows, 1, "test rows");
    if (!status) {
        memset(keep, 1, test->first[tasks]);
        status = bb_dataset_select(test, keep, &part);
    }
    free(keep);
    if (status) return status;
    bb_dataset_free(test);
    *test = part;
    return BB_OK;
}

bb_status bb_cell_world_draw(const bb_cell_world *w, bb_dataset *train,
                             bb_dataset *test, double **model) {
    double *truth = NULL;
    bb_status status = BB_OK;
    if (bb_world_has_models(w->world.name))
        status = bb_allocate(&truth, w->world.tasks, w->world.features * sizeof *truth,
                             "true models");
    if (!status) status = bb_world_draw(&w->world, train, test, truth);
    if (!status) status = cut(w->test_tasks, test);
    if (status)
        free(truth);
    else
        *model = truth;
    return status;
}
