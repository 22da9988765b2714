/* What a definition wants compared: "compare": [{"column", "axis"}] asks for every two
 * neighbours on the axis whether the later one's values are smaller, all else equal. */
#include "base/json.h"
#include "base/memory.h"
#include "experiments/rank_sum.h"
#include "experiments/study_inside.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bb_status no_memory(void) {
    return bb_fail(BB_ENOMEM, "no memory for the comparisons of an experiment");
}

static const json_t *labels_of(const bb_study *s, size_t group) {
    return s->groups.group[group].labels;
}

/* The same but for the axis, where both have something. */
static bool differ_on(const bb_study *s, const char *axis, size_t a, size_t b) {
    const char *name;
    const json_t *value;
    if (json_is_null(json_object_get(labels_of(s, a), axis))) return false;
    json_object_foreach((json_t *)(uintptr_t)labels_of(s, a), name, value) {
        const bool same = json_equal(value, json_object_get(labels_of(s, b), name));
        if ((strcmp(name, axis) == 0) == same) return false;
    }
    return true;
}

/* The next group on the axis; SIZE_MAX: this is the last. */
static size_t neighbour(const bb_study *s, const char *axis, size_t group) {
    for (size_t g = group + 1; g < s->groups.count; g++)
        if (differ_on(s, axis, group, g)) return g;
    return SIZE_MAX;
}

static size_t values_of(const bb_study *s, size_t group, const char *column,
                        double *value) {
    size_t count = 0;
    for (size_t k = 0; k < s->cells; k++) {
        const json_t *at = json_object_get(s->cell[k].result, column);
        if (s->cell[k].group == group && json_is_number(at))
            value[count++] = json_number_value(at);
    }
    return count;
}

static bb_status compare(const bb_study *s, const char *axis, const char *column,
                         size_t a, size_t b, double *room, json_t *list) {
    double p = NAN;
    const size_t n = values_of(s, a, column, room),
                 m = values_of(s, b, column, room + n);
    const bb_status status = bb_rank_sum(room, n, room + n, m, &p);
    if (status) return status;
    json_t *line = json_pack("{s:O,s:s,s:s,s:O,s:O,s:[I,I],s:o}", "labels",
                             labels_of(s, a), "column", column, "axis", axis, "from",
                             json_object_get(labels_of(s, a), axis), "to",
                             json_object_get(labels_of(s, b), axis), "count",
                             (json_int_t)n, (json_int_t)m, "p", bb_json_real(p));
    return json_array_append_new(list, line) ? no_memory() : BB_OK;
}

bb_status bb_study_compare(const bb_study *s, json_t **out) {
    const json_t *wanted = json_object_get(s->definition, "compare");
    json_t *list = json_array();
    double *room = NULL;
    bb_status status = list ? BB_OK : no_memory();
    if (!status) status = bb_allocate(&room, s->cells, sizeof *room, "values of cells");
    for (size_t k = 0; k < json_array_size(wanted); k++) {
        const json_t *one = json_array_get(wanted, k);
        const char *axis = json_string_value(json_object_get(one, "axis")),
                   *column = json_string_value(json_object_get(one, "column"));
        for (size_t g = 0; g < s->groups.count && axis && column && !status; g++) {
            const size_t next = neighbour(s, axis, g);
            if (next != SIZE_MAX)
                status = compare(s, axis, column, g, next, room, list);
        }
    }
    free(room);
    if (status)
        json_decref(list);
    else
        *out = list;
    return status;
}
