#include "data/encode.h"

#include "base/json.h"
#include "base/memory.h"
#include "data/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FEATURES = 100000 };

static const char indicator[] = "indicator";

bb_status bb_csv_separator(const char *option, char *separator) {
    *separator = ',';
    if (!option || strcmp(option, ",") == 0) return BB_OK;
    *separator = ';';
    if (strcmp(option, ";") == 0) return BB_OK;
    *separator = '\t';
    if (strcmp(option, "tab") == 0 || strcmp(option, "\t") == 0) return BB_OK;
    return bb_fail(BB_EUSAGE, "--separator expects \",\", \";\" or tab, got \"%s\"",
                   option);
}

/* -- texts
 * ----------------------------------------------------------------------------- */

static bb_status bad_levels(const char *file, const char *column) {
    char shown[BB_SHOWN_BYTES];
    return bb_fail(BB_EDATA,
                   "%s: column %s: expected a list of different texts, its levels",
                   file, bb_shown(shown, column, strlen(column)));
}

static bb_status take_levels(bb_levels *levels, const char *file, const char *column,
                             const json_t *list) {
    const size_t count = json_array_size(list);
    bb_status status = count ? BB_OK : bad_levels(file, column);
    if (!status)
        status =
            bb_allocate(&levels->number, count, sizeof *levels->number, "the levels");
    for (size_t k = 0; k < count && !status; k++) {
        const char *level = json_string_value(json_array_get(list, k));
        size_t index;
        if (!level) return bad_levels(file, column);
        status = bb_names_add(&levels->name, level, strlen(level), &index);
        if (!status && index != k) status = bad_levels(file, column);
        if (!status) (void)bb_scan_cell(level, strlen(level), &levels->number[k]);
    }
    return status;
}

static void free_levels(bb_levels *levels) {
    bb_names_free(&levels->name);
    free(levels->number);
}

size_t bb_levels_find(const bb_levels *levels, const char *text, size_t length) {
    double number;
    const size_t found = bb_names_find(&levels->name, text, length);
    if (found != SIZE_MAX || bb_scan_cell(text, length, &number) != BB_CELL_NUMBER)
        return found;
    for (size_t k = 0; k < levels->name.count; k++)
        if (levels->number[k] == number) return k;
    return SIZE_MAX;
}

/* Columns that are left out need no levels, and may have some; so has a target that rows to
 * predict need not have. */
static bb_status take_category(bb_encoding *e, const bb_read_options *o,
                               const bb_names *header, bb_columns *columns,
                               const char *name, const json_t *list) {
    const size_t column = bb_names_find(header, name, strlen(name));
    char shown[BB_SHOWN_BYTES];
    if (column == SIZE_MAX && (o->target_ignored || o->target_optional) &&
        strcmp(name, bb_target_option(o)) == 0)
        return BB_OK;
    if (column == SIZE_MAX)
        return bb_fail(BB_EDATA, "%s: the data have no column %s", o->categories,
                       bb_shown(shown, name, strlen(name)));
    if (column == columns->task || (column == columns->target && o->multilabel))
        return bb_fail(BB_EDATA, "%s: column %s is %s", o->categories,
                       bb_shown(shown, name, strlen(name)),
                       column == columns->task ? "the task" : "for lists of labels");
    if (column == columns->target)
        return take_levels(&e->classes, o->categories, name, list);
    if (columns->role[column] != BB_ROLE_FEATURE) return BB_OK;
    columns->role[column] = BB_ROLE_LEVELS;
    bb_category *c = &e->category[e->categories++];
    c->column = column;
    return take_levels(&c->level, o->categories, name, list);
}

bb_status bb_levels_read(json_t **out, const char *categories) {
    json_t *json = NULL;
    bb_status status = *categories == '{'
                           ? bb_json_parse(&json, categories, "categories")
                           : bb_json_read_file(&json, categories);
    if (!status && !json_is_object(json))
        status = bb_fail(BB_EDATA,
                         "%s: expected a JSON object with the levels of each column",
                         categories);
    if (status)
        json_decref(json);
    else
        *out = json;
    return status;
}

bool bb_levels_from_data(const json_t *levels) {
    const char *source = json_string_value(json_object_get(levels, "source"));
    return source && strcmp(source, "data") == 0;
}

const json_t *bb_levels_classes(const json_t *levels, const bb_read_options *options) {
    const json_t *list = json_object_get(levels, bb_target_option(options));
    return json_is_array(list) ? list : NULL;
}

bb_status bb_levels_only_classes(const char *categories,
                                 const bb_read_options *options) {
    const char *const target = bb_target_option(options), *name;
    char shown[BB_SHOWN_BYTES];
    json_t *levels = NULL, *list;
    bb_levels classes = {0};
    if (!categories) return BB_OK;
    bb_status status = bb_levels_read(&levels, categories);
    if (!status) json_object_foreach(levels, name, list) {
            if (strcmp(name, "source") == 0 && json_is_string(list)) continue;
            status =
                strcmp(name, target) == 0
                    ? take_levels(&classes, "categories", name, list)
                    : bb_fail(BB_EUSAGE,
                              "--categories of column %s is for files: of arrays it "
                              "has the classes of \"%s\" alone",
                              bb_shown(shown, name, strlen(name)), target);
            if (status) break;
        }
    free_levels(&classes);
    json_decref(levels);
    return status;
}

bb_status bb_levels_public(const char *categories, const char *what) {
    json_t *levels = NULL;
    if (!categories) return BB_OK;
    bb_status status = bb_levels_read(&levels, categories);
    if (!status && bb_levels_from_data(levels))
        status = bb_fail(BB_EUSAGE,
                         "%s needs public levels of texts: those of %s were taken from "
                         "the data; make their \"source\" \"public\" when they are",
                         what, categories);
    json_decref(levels);
    return status;
}

static bb_status open_categories(bb_encoding *e, const bb_read_options *o,
                                 const bb_names *header, bb_columns *columns) {
    json_t *json = NULL, *list;
    const char *name;
    bb_status status = bb_levels_read(&json, o->categories);
    if (status) return status;
    status = bb_allocate(&e->category, json_object_size(json) + 1, sizeof *e->category,
                         "the levels");
    if (!status) json_object_foreach(json, name, list) {
            if (strcmp(name, "source") == 0 && json_is_string(list)) continue;
            const bool renamed = o->classes && strcmp(name, o->classes) == 0;
            status = take_category(e, o, header, columns,
                                   renamed ? bb_target_option(o) : name, list);
            if (status) break;
        }
    json_decref(json);
    return status;
}

/* -- missing values
 * ------------------------------------------------------------------------ */

static bool is_feature(const bb_columns *columns, size_t column) {
    return columns->role[column] == BB_ROLE_FEATURE ||
           columns->role[column] == BB_ROLE_LEVELS;
}

/* Marks the columns that have an indicator: all, or those of a list. */
static bb_status open_indicators(bb_encoding *e, const char *list,
                                 const bb_names *header, const bb_columns *columns) {
    bb_names names = {0};
    bb_status status =
        bb_allocate(&e->indicator, columns->count, sizeof *e->indicator, "the columns");
    for (size_t k = 0; k < columns->count && !status && !list; k++)
        e->indicator[k] = is_feature(columns, k);
    if (!status && list) status = bb_names_parse(&names, list, "--missing indicator");
    for (size_t k = 0; k < names.count && !status; k++) {
        const char *name = bb_names_at(&names, k);
        const size_t column = bb_names_find(header, name, strlen(name));
        char shown[BB_SHOWN_BYTES];
        if (column == SIZE_MAX || !is_feature(columns, column))
            status = bb_fail(BB_EDATA, "--missing indicator: %s is no feature's column",
                             bb_shown(shown, name, strlen(name)));
        else
            e->indicator[column] = 1;
    }
    bb_names_free(&names);
    return status;
}

bool bb_encoding_indicates(const char *missing) {
    const size_t word = sizeof indicator - 1;
    return missing && strncmp(missing, indicator, word) == 0 &&
           (!missing[word] || missing[word] == ':');
}

/* The columns that `indicator:' names; NULL: all. */
static const char *list_of(const char *missing) {
    const size_t word = sizeof indicator - 1;
    return missing[word] ? missing + word + 1 : NULL;
}

static bb_status open_missing(bb_encoding *e, const char *how, const bb_names *header,
                              const bb_columns *columns) {
    if (!how || strcmp(how, "error") == 0) return BB_OK;
    e->drop = strcmp(how, "drop-rows") == 0;
    if (e->drop) return BB_OK;
    if (bb_encoding_indicates(how))
        return open_indicators(e, list_of(how), header, columns);
    return bb_fail(
        BB_EUSAGE,
        "--missing expects error, drop-rows, indicator or indicator:COLUMNS, "
        "got \"%s\"",
        how);
}

/* -- the features
 * -------------------------------------------------------------------------- */

/* Adds "NAMEwordtail"; names must differ. */
static bb_status add_feature(bb_names *all, const char *path, const char *name,
                             const char *word, const char *tail) {
    const size_t size = strlen(name) + strlen(word) + strlen(tail) + 1;
    char *text = NULL, shown[BB_SHOWN_BYTES];
    size_t index;
    if (all->count == MOST_FEATURES)
        return bb_fail(BB_EDATA, "%s: more than %d features", path, MOST_FEATURES);
    bb_status status = bb_allocate(&text, size, 1, "a feature's name");
    if (status) return status;
    snprintf(text, size, "%s%s%s", name, word, tail);
    const size_t before = all->count;
    status = bb_names_add(all, text, size - 1, &index);
    if (!status && all->count == before)
        status = bb_fail(BB_EDATA,
                         "%s: two features have the name %s: give a column another "
                         "name, or leave it out (--ignore)",
                         path, bb_shown(shown, text, size - 1));
    free(text);
    return status;
}

/* Adds "NAME_missing", or "NAME_missing_2", "NAME_missing_3", ... where a feature is called
 * so already: a column of the file says what was missing in its own way. */
static bb_status add_indicator(bb_names *all, const char *path, const char *name) {
    enum { ROOM = sizeof "_missing_18446744073709551615" };
    const size_t size = strlen(name) + ROOM;
    char *text = NULL, number[ROOM] = "";
    bb_status status = bb_allocate(&text, size, 1, "a feature's name");
    if (status) return status;
    size_t k = 1;
    do {
        if (k > 1) snprintf(number, sizeof number, "_%zu", k);
        snprintf(text, size, "%s_missing%s", name, number);
        k++;
    } while (bb_names_find(all, text, strlen(text)) != SIZE_MAX);
    free(text);
    return add_feature(all, path, name, "_missing", number);
}

size_t bb_encoding_tells_of(const char *name) {
    static const char end[] = "_missing";
    const char *last = NULL;
    for (const char *at = name; (at = strstr(at, end)) != NULL; at++) last = at;
    if (!last) return 0;
    const char *number = last + sizeof end - 1;
    const bool is = !*number || (*number == '_' && number[1] &&
                                 !number[1 + strspn(number + 1, "0123456789")]);
    return is ? (size_t)(last - name) : 0;
}

static bb_status name_levels(bb_encoding *e, bb_names *all, const char *path,
                             const bb_names *header) {
    bb_status status = BB_OK;
    for (size_t c = 0; c < e->categories && !status; c++) {
        bb_category *category = &e->category[c];
        category->first = all->count;
        for (size_t k = 0; k < category->level.name.count && !status; k++)
            status = add_feature(all, path, bb_names_at(header, category->column), "=",
                                 bb_names_at(&category->level.name, k));
    }
    return status;
}

static bb_status name_features(bb_encoding *e, const char *path, const bb_names *header,
                               bb_columns *columns) {
    bb_names all = {0};
    bb_status status = BB_OK;
    for (size_t k = 0; k < columns->count && !status; k++)
        if (columns->role[k] == BB_ROLE_FEATURE)
            status = add_feature(&all, path, bb_names_at(header, k), "", "");
    const size_t numbers = all.count;
    if (!status) status = name_levels(e, &all, path, header);
    for (size_t k = 0; k < columns->count && !status && e->indicator; k++) {
        if (!e->indicator[k]) continue;
        e->indicator[k] = all.count + 1;
        status = add_indicator(&all, path, bb_names_at(header, k));
    }
    if (!status) {
        free(columns->feature_name);
        columns->feature_name = NULL;
        status = bb_names_list(&columns->feature_name, &all);
        columns->features = all.count;
        e->binary = all.count - numbers;
    }
    bb_names_free(&all);
    return status;
}

/* -- features of which nothing else is known
 * ------------------------------------------------ */

static bb_status find_level(const bb_names *features, const char *text,
                            const char *level, bool *is) {
    const size_t size = strlen(text) + strlen(level) + 2;
    char *name = NULL;
    const bb_status status = bb_allocate(&name, size, 1, "a feature's name");
    if (status) return status;
    snprintf(name, size, "%s=%s", text, level);
    *is = bb_names_find(features, name, size - 1) != SIZE_MAX;
    free(name);
    return BB_OK;
}

/* How many features are levels, and of how many texts. */
static bb_status count_levels(const char *categories, const bb_names *features,
                              size_t *levels, size_t *texts) {
    json_t *json = NULL, *list, *level;
    const char *text;
    size_t k;
    bb_status status = bb_levels_read(&json, categories);
    if (!status) json_object_foreach(json, text, list) {
            const size_t before = *levels;
            json_array_foreach(list, k, level) {
                bool is = false;
                if (!status && json_is_string(level))
                    status = find_level(features, text, json_string_value(level), &is);
                *levels += is;
            }
            *texts += *levels > before;
        }
    json_decref(json);
    return status;
}

/* Of all columns (list is NULL) numbers are what is there twice, with its indicator; that of a
 * column of clusters is there alone. */
static bb_status count_indicators(const char *list, size_t features, size_t levels,
                                  size_t texts, size_t *indicators) {
    bb_names names = {0};
    const bb_status status = bb_names_parse(&names, list, "--missing indicator");
    const size_t rest = features > levels + texts ? features - levels - texts : 0;
    *indicators = list ? names.count : texts + rest - rest / 2;
    bb_names_free(&names);
    return status;
}

bb_status bb_encoding_binary(const bb_read_options *options, size_t count,
                             char *const *feature, size_t *binary) {
    const char *how = options->missing;
    size_t levels = 0, texts = 0, indicators = 0;
    bb_names names = {0};
    bb_status status = bb_names_add_all(&names, count, feature);
    if (!status && options->categories)
        status = count_levels(options->categories, &names, &levels, &texts);
    if (!status && bb_encoding_indicates(how))
        status = count_indicators(list_of(how), count, levels, texts, &indicators);
    if (!status) *binary = levels + indicators < count ? levels + indicators : count;
    bb_names_free(&names);
    return status;
}

bb_status bb_encoding_open(bb_encoding *out, const char *path, const bb_names *header,
                           const bb_read_options *options, bb_columns *columns) {
    bb_encoding e = {0};
    bb_status status = BB_OK;
    if (options->categories) status = open_categories(&e, options, header, columns);
    if (!status) status = open_missing(&e, options->missing, header, columns);
    if (!status && (e.categories || e.indicator))
        status = name_features(&e, path, header, columns);
    if (status)
        bb_encoding_close(&e);
    else
        *out = e;
    return status;
}

void bb_encoding_close(bb_encoding *e) {
    for (size_t c = 0; c < e->categories; c++) free_levels(&e->category[c].level);
    free_levels(&e->classes);
    free(e->category);
    free(e->indicator);
    *e = (bb_encoding){0};
}

/* -- a row
 * ----------------------------------------------------------------------------- */

void bb_encoding_begin(const bb_encoding *e, const bb_columns *columns, double *x) {
    for (size_t k = columns->features - e->binary; k < columns->features; k++) x[k] = 0;
}

const bb_category *bb_encoding_category(const bb_encoding *e, size_t column) {
    for (size_t c = 0; c < e->categories; c++)
        if (e->category[c].column == column) return &e->category[c];
    return NULL;
}

bool bb_encoding_level(const bb_encoding *e, size_t column, const char *text,
                       size_t length, double *x) {
    const bb_category *c = bb_encoding_category(e, column);
    const size_t level = bb_levels_find(&c->level, text, length);
    if (level != SIZE_MAX) x[c->first + level] = 1;
    return level != SIZE_MAX;
}

bool bb_encoding_missing(const bb_encoding *e, size_t column, double *x) {
    if (!e->indicator || !e->indicator[column]) return false;
    x[e->indicator[column] - 1] = 1;
    return true;
}
