#include "data/ranges.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void bb_ranges_free(bb_ranges *ranges) {
    free(ranges->name);
    free(ranges->column);
    *ranges = (bb_ranges){0};
}

bool bb_range_is_open(bb_range range) {
    return isinf(range.low);
}

bool bb_ranges_are_open(const char *path) {
    bb_ranges ranges = {0};
    const bool is_read = !bb_ranges_read(&ranges, path);
    const bool open = is_read && ranges.has_others && bb_range_is_open(ranges.others);
    bb_ranges_free(&ranges);
    return open;
}

static const bb_range open_range = {-INFINITY, INFINITY};
static const char open_text[] = "open";

static bb_status parse_range(bb_range *range, const json_t *json, const char *where,
                             const char *name) {
    char shown[BB_SHOWN_BYTES];
    const double c = json_number_value(json);
    if (json_is_number(json) && c > 0) {
        *range = (bb_range){-c, c};
        return BB_OK;
    }
    const json_t *const low = json_array_get(json, 0), *const high =
                                                           json_array_get(json, 1);
    *range = (bb_range){json_number_value(low), json_number_value(high)};
    if (json_array_size(json) == 2 && json_is_number(low) && json_is_number(high) &&
        range->low <= range->high)
        return BB_OK;
    return bb_fail(BB_EDATA,
                   "%s: %s: expected a range [low, high] with low <= high, or one "
                   "number > 0",
                   where, bb_shown(shown, name, strlen(name)));
}

static bb_status parse_columns(bb_ranges *ranges, const json_t *columns,
                               const char *where) {
    const size_t count = json_object_size(columns);
    bb_names names = {0};
    const char *name;
    const json_t *value;
    bb_status status =
        bb_allocate(&ranges->column, count, sizeof *ranges->column, "ranges");
    void *const object =
        (void *)(uintptr_t)columns; /* jansson's iterator wants it so */
    json_object_foreach((json_t *)object, name, value) {
        size_t index;
        if (!status) status = bb_names_add(&names, name, strlen(name), &index);
        if (!status) status = parse_range(&ranges->column[index], value, where, name);
    }
    if (!status) status = bb_names_list(&ranges->name, &names);
    ranges->count = names.count;
    bb_names_free(&names);
    return status;
}

static bb_status parse_others(bb_range *range, const json_t *others,
                              const char *where) {
    const char *text = json_string_value(others);
    if (!text) return parse_range(range, others, where, "others");
    *range = open_range;
    if (strcmp(text, open_text) == 0) return BB_OK;
    return bb_fail(BB_EDATA, "%s: \"others\": expected a range, or \"open\"", where);
}

static bb_status check_members(const json_t *json, const char *where) {
    char shown[BB_SHOWN_BYTES];
    const char *name;
    const json_t *value;
    if (!json_is_object(json))
        return bb_fail(BB_EDATA, "%s: expected a JSON object with \"columns\"", where);
    void *const object = (void *)(uintptr_t)json;
    json_object_foreach((json_t *)object, name, value) {
        if (strcmp(name, "target") != 0 && strcmp(name, "columns") != 0 &&
            strcmp(name, "others") != 0 && strcmp(name, "note") != 0 &&
            strcmp(name, "source") != 0)
            return bb_fail(BB_EDATA,
                           "%s: unknown member %s; expected \"target\", \"columns\", "
                           "\"others\", \"note\", \"source\"",
                           where, bb_shown(shown, name, strlen(name)));
    }
    const json_t *const columns = json_object_get(json, "columns");
    if (!columns && json_object_get(json, "others")) return BB_OK;
    if (!json_is_object(columns))
        return bb_fail(BB_EDATA, "%s: expected \"columns\": {name: [low, high], ...}",
                       where);
    return BB_OK;
}

static bb_status parse_source(bool *from_data, const json_t *source,
                              const char *where) {
    const char *text = source ? json_string_value(source) : "public";
    *from_data = text && strcmp(text, "data") == 0;
    if (*from_data || (text && strcmp(text, "public") == 0)) return BB_OK;
    return bb_fail(BB_EDATA, "%s: \"source\" is \"public\" or \"data\"", where);
}

bb_status bb_ranges_parse(bb_ranges *ranges, const json_t *json, const char *where) {
    bb_ranges r = {0};
    bb_status status = check_members(json, where);
    if (!status)
        status = parse_source(&r.from_data, json_object_get(json, "source"), where);
    if (status) return status;
    const json_t *const target = json_object_get(json, "target");
    r.has_target = target && !json_is_null(target);
    if (r.has_target) status = parse_range(&r.target, target, where, "target");
    if (!status && r.has_target && r.target.low == r.target.high)
        status = bb_fail(BB_EDATA,
                         "%s: target: a range of one value tells nothing apart", where);
    const json_t *const others = json_object_get(json, "others");
    r.has_others = others != NULL;
    if (!status && others) status = parse_others(&r.others, others, where);
    if (!status) status = parse_columns(&r, json_object_get(json, "columns"), where);
    if (status)
        bb_ranges_free(&r);
    else
        *ranges = r;
    return status;
}

bb_status bb_ranges_read(bb_ranges *ranges, const char *path) {
    json_t *json = NULL;
    const bool text = *path == '{';
    const char *where = text ? "scale" : path;
    bb_status status =
        text ? bb_json_parse(&json, path, where) : bb_json_read_file(&json, path);
    if (!status) status = bb_ranges_parse(ranges, json, where);
    json_decref(json);
    return status;
}

static bool is_there(const bb_names *names, const char *name) {
    return bb_names_find(names, name, strlen(name)) != SIZE_MAX;
}

static bb_status no_column(const bb_ranges *ranges, const char *where, const char *name,
                           const bb_names *columns) {
    char shown[BB_SHOWN_BYTES], all[400];
    bb_names named = {0}, rest = {0};
    size_t index;
    bb_status status = bb_names_add_all(&named, ranges->count, ranges->name);
    for (size_t k = 0; k < columns->count && !status; k++) {
        const char *const column = bb_names_at(columns, k);
        if (!is_there(&named, column))
            status = bb_names_add(&rest, column, strlen(column), &index);
    }
    bb_names_show(&rest, all, sizeof all);
    if (!status)
        status =
            bb_fail(BB_EDATA, "%s: the range of %s is of no feature; %s%s", where,
                    bb_shown(shown, name, strlen(name)),
                    rest.count ? "features without one are " : "all have theirs", all);
    bb_names_free(&rest);
    bb_names_free(&named);
    return status;
}

bb_status bb_ranges_check_names(const bb_ranges *ranges, const char *where,
                                size_t features, char *const *feature_name,
                                const bb_names *left_out) {
    bb_names columns = {0};
    if (!ranges->has_others) return BB_OK;
    bb_status status = bb_names_add_all(&columns, features, feature_name);
    for (size_t k = 0; k < ranges->count && !status; k++) {
        const char *const name = ranges->name[k];
        if (!is_there(&columns, name) && !is_there(left_out, name))
            status = no_column(ranges, where, name, &columns);
    }
    bb_names_free(&columns);
    return status;
}

static json_t *range_json(bb_range range) {
    if (bb_range_is_open(range)) return json_string(open_text);
    json_t *const pair = json_array();
    if (pair && !json_array_append_new(pair, bb_json_real(range.low)) &&
        !json_array_append_new(pair, bb_json_real(range.high)))
        return pair;
    json_decref(pair);
    return NULL;
}

json_t *bb_ranges_json(const bb_ranges *ranges) {
    json_t *const json = json_object();
    int failed = !json;
    if (!failed && ranges->has_target)
        failed = json_object_set_new(json, "target", range_json(ranges->target));
    if (!failed && ranges->has_others)
        failed = json_object_set_new(json, "others", range_json(ranges->others));
    if (!failed && ranges->from_data)
        failed = json_object_set_new(json, "source", json_string("data"));
    if (!failed) failed = json_object_set_new(json, "columns", json_object());
    json_t *const columns = failed ? NULL : json_object_get(json, "columns");
    for (size_t k = 0; !failed && k < ranges->count; k++)
        if (!bb_range_is_open(ranges->column[k]))
            failed = json_object_set_new(columns, ranges->name[k],
                                         range_json(ranges->column[k]));
    if (!failed) return json;
    json_decref(json);
    return NULL;
}

static void widen(bb_range *range, double value) {
    if (value < range->low) range->low = value;
    if (value > range->high) range->high = value;
}

static void widen_columns(bb_ranges *r, const bb_dataset *data) {
    const size_t d = data->features;
    if (data->x) {
        for (size_t e = 0; e < data->rows * d; e++)
            widen(&r->column[e % d], data->x[e]);
        return;
    }
    const size_t entries = data->sparse_first[data->rows];
    for (size_t e = 0; e < entries; e++)
        widen(&r->column[data->sparse_column[e]], data->sparse_value[e]);
}

bb_status bb_ranges_from_data(bb_ranges *ranges, const bb_dataset *data) {
    const bb_range none = {INFINITY, -INFINITY}, zero = {0, 0};
    bb_ranges r = {.count = data->features, .target = none, .from_data = true};
    bb_status status = bb_names_copy(&r.name, data->features, data->feature_name);
    if (!status) status = bb_allocate(&r.column, r.count, sizeof *r.column, "ranges");
    if (status) {
        bb_ranges_free(&r);
        return status;
    }
    /* a column without a number, and what a sparse row leaves out, is zero */
    for (size_t k = 0; k < r.count; k++) r.column[k] = data->x ? none : zero;
    widen_columns(&r, data);
    for (size_t k = 0; k < r.count; k++)
        if (r.column[k].low > r.column[k].high) r.column[k] = zero;
    for (size_t j = 0; j < data->rows; j++) widen(&r.target, data->y[j]);
    r.has_target = r.target.low <= r.target.high;
    *ranges = r;
    return BB_OK;
}

bb_status bb_ranges_write(const bb_ranges *ranges, const char *path) {
    static const char note[] =
        "These ranges were taken from the data, so they are not public: for "
        "simulations "
        "only. For a private run write down ranges that are known without the data.";
    json_t *json = bb_ranges_json(ranges);
    if (json && json_object_set_new(json, "note", json_string(note))) {
        json_decref(json);
        json = NULL;
    }
    const bb_status status = bb_json_write_file(path, json);
    json_decref(json);
    return status;
}
