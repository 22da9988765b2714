#include "base/memory.h"
#include "data/preprocess.h"

#include <string.h>

static const char *const rows_text[] = {[BB_ROWS_PLAIN] = "plain",
                                        [BB_ROWS_BALL] = "unit-ball",
                                        [BB_ROWS_UNIT] = "unit-norm"};

static bool tell_missing(const bb_preprocess *p, json_t *json) {
    json_t *of = json_object();
    bool told = of != NULL;
    for (size_t k = 0; p->told && k < p->features && told; k++)
        if (p->told[k])
            told =
                !json_object_set_new(of, p->name[k], json_string(p->name[p->told[k]]));
    if (told && json_object_size(of)) return !json_object_set_new(json, "missing", of);
    json_decref(of);
    return told;
}

json_t *bb_preprocess_json(const bb_preprocess *p) {
    bb_ranges ranges = {.count = p->features,
                        .name = p->name,
                        .column = p->range,
                        .has_target = p->has_target,
                        .target = p->target};
    for (size_t k = 0; p->range && k < p->features && !ranges.has_others; k++)
        if (bb_range_is_open(p->range[k])) {
            ranges.has_others = true;
            ranges.others = p->range[k];
        }
    json_t *const json = json_object();
    if (json && tell_missing(p, json) &&
        !json_object_set_new(json, "scale",
                             p->range ? bb_ranges_json(&ranges) : json_null()) &&
        !json_object_set_new(json, "constant", json_boolean(p->constant)) &&
        !json_object_set_new(json, "rows", json_string(rows_text[p->rows])) &&
        !json_object_set_new(json, "folded", json_boolean(p->folded)) &&
        !json_object_set_new(json, "reach", json_real(p->reach)))
        return json;
    json_decref(json);
    return NULL;
}

static bb_status parse_rows(bb_rows_kind *rows, const json_t *json, const char *where) {
    const char *const text = json_string_value(json);
    for (int i = BB_ROWS_PLAIN; text && i <= BB_ROWS_UNIT; i++)
        if (strcmp(text, rows_text[i]) == 0) {
            *rows = (bb_rows_kind)i;
            return BB_OK;
        }
    return bb_fail(BB_EDATA,
                   "%s: \"rows\": expected \"plain\", \"unit-ball\" or \"unit-norm\"",
                   where);
}

/* Missing in what versions before it wrote: 1. */
static bb_status parse_reach(double *reach, const json_t *json, const char *where) {
    *reach = json ? json_number_value(json) : 1;
    if (*reach >= 1) return BB_OK;
    return bb_fail(BB_EDATA, "%s: \"reach\": expected a number of at least 1", where);
}

/* {COLUMN: the one that says where it is missing}, both features. */
static bb_status parse_missing(bb_preprocess *p, json_t *json, const char *where) {
    const char *name;
    json_t *by;
    bb_names names = {0};
    if (!json) return BB_OK;
    bb_status status = bb_preprocess_names(p, &names);
    if (!status)
        status = bb_allocate(&p->told, p->features, sizeof *p->told,
                             "columns of missing values");
    json_object_foreach(json, name, by) {
        const char *const text = json_is_string(by) ? json_string_value(by) : "";
        const size_t k = bb_names_find(&names, name, strlen(name));
        const size_t told = bb_names_find(&names, text, strlen(text));
        if (status) break;
        if (k == SIZE_MAX || told == SIZE_MAX)
            status =
                bb_fail(BB_EDATA, "%s: \"missing\": expected names of features", where);
        else
            p->told[k] = told;
    }
    bb_names_free(&names);
    return status;
}

bb_status bb_preprocess_parse(bb_preprocess *p, const json_t *json, const char *where,
                              size_t features, char *const *feature_name) {
    const json_t *const scale = json_object_get(json, "scale"), *const constant =
                                                                    json_object_get(
                                                                        json,
                                                                        "constant");
    bb_ranges ranges = {0};
    bb_preprocess made = {0};
    bb_rows_kind rows = BB_ROWS_PLAIN;
    bb_status status = parse_rows(&rows, json_object_get(json, "rows"), where);
    if (!status && !json_is_boolean(constant))
        status = bb_fail(BB_EDATA, "%s: \"constant\": expected true or false", where);
    if (!status && !scale)
        status = bb_fail(BB_EDATA, "%s: \"scale\": expected ranges or null", where);
    double reach = 1;
    if (!status) status = parse_reach(&reach, json_object_get(json, "reach"), where);
    const bool scaled = !status && !json_is_null(scale);
    if (scaled) status = bb_ranges_parse(&ranges, scale, where);
    const bb_preprocess_options options = {.constant = json_is_true(constant),
                                           .scale = scaled ? &ranges : NULL,
                                           .scale_source = where,
                                           .reach = reach};
    if (!status)
        status = bb_preprocess_open_public(&made, &options, features, feature_name);
    bb_ranges_free(&ranges);
    if (!status) status = parse_missing(&made, json_object_get(json, "missing"), where);
    if (status) {
        bb_preprocess_free(&made);
        return status;
    }
    made.rows = rows;
    made.folded = json_is_true(json_object_get(json, "folded"));
    if (made.folded && !bb_preprocess_can_fold(&made)) {
        bb_preprocess_free(&made);
        return bb_fail(BB_EDATA,
                       "%s: \"folded\": expected only with \"scale\" or \"rows\": "
                       "\"unit-ball\", and not with \"unit-norm\"",
                       where);
    }
    *p = made;
    return BB_OK;
}
