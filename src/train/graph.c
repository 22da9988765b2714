#include "train/graph.h"

#include "base/json.h"
#include "base/memory.h"
#include "data/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The task's number; SIZE_MAX: there is none of this name. */
static size_t find_task(const bb_names *names, const json_t *json) {
    char number[32];
    const char *name = json_string_value(json);
    if (json_is_integer(json)) {
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(json));
        name = number;
    }
    return name ? bb_names_find(names, name, strlen(name)) : SIZE_MAX;
}

static bb_status add_edge(const char *path, const json_t *entry, size_t number,
                          const bb_names *names, double *a) {
    const size_t m = names->count;
    const size_t k = find_task(names, json_array_get(entry, 0)),
                 l = find_task(names, json_array_get(entry, 1));
    const double weight = json_number_value(json_array_get(entry, 2));
    if (json_array_size(entry) != 3)
        return bb_fail(BB_EUSAGE, "%s: entry %zu: expected [task, task, weight]", path,
                       number);
    if (k == SIZE_MAX || l == SIZE_MAX)
        return bb_fail(BB_EUSAGE, "%s: entry %zu: its %s task is not in the data", path,
                       number, k == SIZE_MAX ? "first" : "second");
    if (!(weight > 0.0 && isfinite(weight)))
        return bb_fail(BB_EUSAGE, "%s: entry %zu: the weight must be above 0", path,
                       number);
    if (a[k * m + l] != 0.0)
        return bb_fail(BB_EUSAGE, "%s: entry %zu: these tasks have a weight already",
                       path, number);
    a[k * m + l] = a[l * m + k] = weight;
    return BB_OK;
}

static bb_status read_json(const char *graph, json_t **json) {
    if (*graph != '[') return bb_json_read_file(json, graph);
    *json = json_loads(graph, 0, NULL);
    return *json ? BB_OK : bb_fail(BB_EUSAGE, "graph: expected JSON");
}

bb_status bb_graph_read(const char *graph, const bb_dataset *data,
                        bb_relations *relations, json_t **edges) {
    const char *path = *graph == '[' ? "graph" : graph;
    bb_names names = {0};
    json_t *json = NULL;
    double *a = NULL;
    bb_status status = read_json(graph, &json);
    if (!status && !json_is_array(json))
        status =
            bb_fail(BB_EUSAGE, "%s: expected an array of [task, task, weight]", path);
    if (!status) status = bb_names_add_all(&names, data->tasks, data->task_name);
    if (!status)
        status =
            bb_allocate(&a, data->tasks * data->tasks, sizeof *a, "relations of tasks");
    for (size_t e = 0; e < json_array_size(json) && !status; e++)
        status = add_edge(path, json_array_get(json, e), e + 1, &names, a);
    if (!status) status = bb_relations_open(relations, data->tasks, a);
    free(a);
    bb_names_free(&names);
    if (status)
        json_decref(json);
    else
        *edges = json;
    return status;
}
