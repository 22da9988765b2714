#include "experiments/groups.h"

#include "base/memory.h"
#include "experiments/definition.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bb_status no_memory(void) {
    return bb_fail(BB_ENOMEM, "no memory for the cells of an experiment");
}

static void close_group(bb_group *g) {
    json_decref(g->labels);
    json_decref(g->data);
    json_decref(g->options);
    json_decref(g->candidates);
    *g = (bb_group){0};
}

void bb_groups_close(bb_groups *all) {
    for (size_t k = 0; k < all->count; k++) close_group(&all->group[k]);
    free(all->group);
    *all = (bb_groups){0};
}

static bb_status copy_group(const bb_group *from, bb_group *to) {
    const bb_group copy = {json_deep_copy(from->labels), json_deep_copy(from->data),
                           json_deep_copy(from->options),
                           json_deep_copy(from->candidates)};
    const bool whole = copy.labels && copy.options && (copy.data || !from->data) &&
                       (copy.candidates || !from->candidates);
    *to = copy;
    if (!whole) close_group(to);
    return whole ? BB_OK : no_memory();
}

/* Options, and under "data" what changes the data. */
static bb_status apply(bb_group *g, const json_t *patch) {
    const json_t *data = json_object_get(patch, "data");
    json_t *rest = json_copy((json_t *)(uintptr_t)patch);
    if (!rest) return no_memory();
    json_object_del(rest, "data");
    bb_status status = bb_json_patch(g->options, rest);
    if (!status && data && g->data) status = bb_json_patch(g->data, data);
    json_decref(rest);
    return status;
}

static bb_status apply_named(bb_group *g, const char *name, json_t *value) {
    json_t *patch = bb_json_nest(name, value);
    const bb_status status = patch ? apply(g, patch) : no_memory();
    json_decref(patch);
    return status;
}

static bb_status label(bb_group *g, const char *column, json_t *value) {
    return json_object_set_new(g->labels, column, value) ? no_memory() : BB_OK;
}

/* -- candidates -- */

/* *list: every member, with every value of the list of this name. */
static bb_status multiply(json_t **list, const char *name, const json_t *values) {
    json_t *product = json_array();
    bool whole = product != NULL;
    for (size_t k = 0; k < json_array_size(*list) && whole; k++)
        for (size_t v = 0; v < json_array_size(values) && whole; v++) {
            json_t *one = json_deep_copy(json_array_get(*list, k));
            whole = one && !json_object_set(one, name, json_array_get(values, v)) &&
                    !json_array_append(product, one);
            json_decref(one);
        }
    json_decref(*list);
    *list = product;
    return whole ? BB_OK : no_memory();
}

static bb_status list_candidates(bb_group *g, const json_t *tune) {
    const char *name;
    const json_t *values;
    bb_status status = BB_OK;
    g->candidates = json_pack("[{}]");
    if (!g->candidates) return no_memory();
    json_object_foreach((json_t *)(uintptr_t)tune, name, values) {
        if (!status && json_array_size(values) == 0)
            status = bb_fail(BB_EUSAGE, "\"tune\": \"%s\" has no list of values", name);
        if (!status) status = multiply(&g->candidates, name, values);
    }
    return status;
}

/* -- the product -- */

typedef struct maker {
    bb_groups *all;
    const json_t *sweep;
    const json_t *without; /* axes that the method has not */
} maker;

static bool is_without(const maker *m, const char *axis) {
    for (size_t k = 0; k < json_array_size(m->without); k++) {
        const char *name = json_string_value(json_array_get(m->without, k));
        if (name && strcmp(name, axis) == 0) return true;
    }
    return false;
}

static bb_status add(bb_groups *all, const bb_group *g) {
    bb_status status = bb_grow(&all->group, &all->room, all->count + 1,
                               sizeof *all->group, "the cells of an experiment");
    if (!status) status = copy_group(g, &all->group[all->count]);
    if (!status) all->count++;
    return status;
}

static bb_status cross(const maker *m, const bb_group *so_far, void *axis);

/* The group with one value of an axis, and all that follows. */
static bb_status with_value(const maker *m, const bb_group *so_far, void *axis,
                            json_t *value, const char *named) {
    const char *name = json_object_iter_key(axis);
    bb_group g;
    bb_status status = copy_group(so_far, &g);
    if (status) return status;
    status = label(&g, name, named ? json_string(named) : json_incref(value));
    if (!status) status = named ? apply(&g, value) : apply_named(&g, name, value);
    if (!status)
        status =
            cross(m, &g, json_object_iter_next((json_t *)(uintptr_t)m->sweep, axis));
    close_group(&g);
    return status;
}

static bb_status cross(const maker *m, const bb_group *so_far, void *axis) {
    if (!axis) return add(m->all, so_far);
    json_t *values = json_object_iter_value(axis);
    const char *named;
    json_t *value;
    bb_status status = BB_OK;
    if (is_without(m, json_object_iter_key(axis))) {
        json_t *none = json_pack("[n]");
        status = none ? with_value(m, so_far, axis, json_array_get(none, 0), NULL)
                      : no_memory();
        json_decref(none);
        return status;
    }
    for (size_t k = 0; k < json_array_size(values) && !status; k++)
        status = with_value(m, so_far, axis, json_array_get(values, k), NULL);
    json_object_foreach(values, named, value) {
        if (!status) status = with_value(m, so_far, axis, value, named);
    }
    return status;
}

/* Everything of one data set and one method; both may be missing. */
static bb_status make_method(maker *m, const bb_group *base, const char *name,
                             const json_t *method) {
    bb_group g;
    bb_status status = copy_group(base, &g);
    if (status) return status;
    json_t *own = method ? json_deep_copy(method) : json_object();
    m->without = json_object_get(method, "without");
    json_object_del(own, "without");
    json_object_del(own, "tune");
    if (name) status = label(&g, "method", json_string(name));
    if (!status) status = own ? apply(&g, own) : no_memory();
    if (!status && json_object_get(method, "tune"))
        status = list_candidates(&g, json_object_get(method, "tune"));
    if (!status) status = cross(m, &g, json_object_iter((json_t *)(uintptr_t)m->sweep));
    json_decref(own);
    close_group(&g);
    return status;
}

static bb_status make_data(maker *m, const json_t *definition, const char *name,
                           const json_t *data) {
    const json_t *methods = json_object_get(definition, "methods"), *method;
    const json_t *options = json_object_get(definition, "options");
    const char *label_of;
    bb_group g = {json_object(), data ? json_deep_copy(data) : NULL,
                  options ? json_deep_copy(options) : json_object(), NULL};
    bb_status status = g.labels && g.options ? BB_OK : no_memory();
    if (!status && name) status = label(&g, "data", json_string(name));
    if (!status && json_object_get(data, "options"))
        status = bb_json_patch(g.options, json_object_get(data, "options"));
    json_object_del(g.data, "options");
    if (!status && json_object_size(methods) == 0)
        status = make_method(m, &g, NULL, NULL);
    json_object_foreach((json_t *)(uintptr_t)methods, label_of, method) {
        if (!status) status = make_method(m, &g, label_of, method);
    }
    close_group(&g);
    return status;
}

bb_status bb_groups_open(bb_groups *out, const json_t *definition) {
    const char *run = json_string_value(json_object_get(definition, "run"));
    bb_groups all = {.run = run ? run : "train"};
    maker m = {.all = &all, .sweep = json_object_get(definition, "sweep")};
    const json_t *sets = json_object_get(definition, "data"), *data;
    const char *name;
    bb_status status = BB_OK;
    if (json_object_size(sets) == 0) status = make_data(&m, definition, NULL, NULL);
    json_object_foreach((json_t *)(uintptr_t)sets, name, data) {
        if (!status) status = make_data(&m, definition, name, data);
    }
    if (status)
        bb_groups_close(&all);
    else
        *out = all;
    return status;
}

json_t *bb_group_cell(const bb_groups *all, const bb_group *g, size_t candidate,
                      uint64_t seed) {
    bb_group own;
    const char *name;
    json_t *value;
    if (copy_group(g, &own)) return NULL;
    bb_status status = BB_OK;
    json_object_foreach(json_array_get(own.candidates, candidate), name, value) {
        if (!status) status = apply_named(&own, name, value);
    }
    json_t *cell =
        status ? NULL
               : json_pack("{s:s,s:O?,s:O,s:I}", "run", all->run, "data", own.data,
                           "options", own.options, "seed", (json_int_t)seed);
    close_group(&own);
    return cell;
}
