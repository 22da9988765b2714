#include "api/data.h"

#include "base/memory.h"
#include "data/builder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 24 };

static const char source[] = "arrays";

typedef billboard_arrays arrays;

/* -- what is given -- */

static bb_status wrong(const char *why) {
    return bb_fail(BB_EUSAGE, "billboard_arrays: %s", why);
}

static bb_status check_members(const arrays *a) {
    const bool dense = a->x != NULL, sparse = a->row_start != NULL;
    if (!a->rows) return wrong("there are no rows");
    if (!a->features || a->features > INT32_MAX)
        return bb_fail(BB_EUSAGE,
                       "billboard_arrays: expected features from 1 to %d, got %zu",
                       INT32_MAX, a->features);
    if (!a->task_name == !a->task_number)
        return wrong("whose are the rows? give task_name or task_number, and not both");
    if (dense == sparse) return wrong("give x, or row_start, column and value");
    if (sparse && a->row_start[a->rows] && !(a->column && a->value))
        return wrong("row_start needs column and value");
    if (sparse && a->columns_first) return wrong("columns_first is for x");
    if (a->y && a->label_start) return wrong("give y or lists of labels, and not both");
    if (a->label_start && a->label_start[a->rows] && !a->label)
        return wrong("label_start needs label");
    if ((unsigned)a->x_type > BILLBOARD_FLOAT32 ||
        (unsigned)a->y_type > BILLBOARD_FLOAT32)
        return wrong("x_type and y_type are BILLBOARD_FLOAT64 or BILLBOARD_FLOAT32");
    return BB_OK;
}

/* Where each row's entries begin: from 0, never down. */
static bb_status check_starts(const char *name, const int64_t *start, size_t rows) {
    if (!start) return BB_OK;
    if (start[0] != 0)
        return bb_fail(BB_EUSAGE, "billboard_arrays: %s[0] is %" PRId64 ", expected 0",
                       name, start[0]);
    for (size_t r = 0; r < rows; r++)
        if (start[r + 1] < start[r])
            return bb_fail(BB_EUSAGE,
                           "billboard_arrays: %s[%zu] is %" PRId64
                           ", less than the one before (%" PRId64 ")",
                           name, r + 1, start[r + 1], start[r]);
    return BB_OK;
}

static bb_status check(const arrays *a) {
    bb_status status = check_members(a);
    if (!status) status = check_starts("row_start", a->row_start, a->rows);
    if (!status) status = check_starts("label_start", a->label_start, a->rows);
    return status;
}

/* -- numbers -- */

static double number(const void *array, billboard_number type, size_t k) {
    return type == BILLBOARD_FLOAT32 ? (double)((const float *)array)[k]
                                     : ((const double *)array)[k];
}

/* `what`, and its number from 1 (0: it has none), are for the message. */
static bb_status take_number(const void *array, billboard_number type, size_t k,
                             const char *what, size_t which, size_t row, double *out) {
    char digits[NAME_BYTES] = "";
    *out = number(array, type, k);
    if (isfinite(*out)) return BB_OK;
    if (which) snprintf(digits, sizeof digits, " %zu", which);
    return bb_fail(BB_EDATA, "%s: row %zu: %s%s: expected a finite number, found %g",
                   source, row + 1, what, digits, *out);
}

/* -- rows -- */

static bb_status take_task(const arrays *a, size_t r, bb_builder *b, size_t *task) {
    char digits[NAME_BYTES];
    const char *name = digits;
    if (a->task_number)
        snprintf(digits, sizeof digits, "%" PRId64, a->task_number[r]);
    else
        name = a->task_name[r];
    if (!name || !*name || !bb_is_utf8(name, strlen(name)))
        return bb_fail(BB_EDATA,
                       "%s: row %zu: the task's name is %s: expected a text in UTF-8",
                       source, r + 1,
                       !name   ? "NULL"
                       : *name ? "not UTF-8"
                               : "empty");
    return bb_builder_task(b, name, strlen(name), task);
}

static bb_status take_dense(const arrays *a, size_t r, bb_builder *b) {
    double *x = NULL;
    bb_status status = bb_builder_row(b, &x);
    for (size_t k = 0; k < a->features && !status; k++) {
        const size_t at = a->columns_first ? k * a->rows + r : r * a->features + k;
        status = take_number(a->x, a->x_type, at, "feature", k + 1, r, &x[k]);
    }
    return status;
}

static bb_status take_sparse(const arrays *a, size_t r, bb_builder *b) {
    bb_status status = BB_OK;
    int64_t before = -1;
    for (int64_t e = a->row_start[r]; e < a->row_start[r + 1] && !status; e++) {
        const int32_t column = a->column[e];
        double value;
        if (column <= before || (size_t)column >= a->features)
            return bb_fail(
                BB_EDATA,
                "%s: row %zu: expected columns in ascending order, from 0 to "
                "%zu, found %" PRId32,
                source, r + 1, a->features - 1, column);
        status = take_number(a->value, a->x_type, (size_t)e, "feature",
                             (size_t)column + 1, r, &value);
        if (!status) status = bb_builder_entry(b, (uint32_t)column, value);
        before = column;
    }
    return status;
}

static bb_status take_labels(const arrays *a, size_t r, bb_builder *b) {
    bb_status status = BB_OK;
    for (int64_t e = a->label_start[r]; e < a->label_start[r + 1] && !status; e++) {
        const int32_t label = a->label[e];
        if (label < 0 || label >= BB_MOST_CLASSES)
            return bb_fail(BB_EDATA,
                           "%s: row %zu: expected a label from 0 to %d, found %" PRId32,
                           source, r + 1, BB_MOST_CLASSES - 1, label);
        status = bb_builder_label(b, (uint32_t)label);
    }
    return status;
}

static bb_status take_row(const arrays *a, size_t r, bb_builder *b) {
    size_t task = 0;
    double y = NAN;
    bb_status status = take_task(a, r, b, &task);
    if (!status) status = a->x ? take_dense(a, r, b) : take_sparse(a, r, b);
    if (!status && a->label_start) status = take_labels(a, r, b);
    if (!status && a->y) status = take_number(a->y, a->y_type, r, "target", 0, r, &y);
    return status ? status : bb_builder_commit(b, task, y, r + 1);
}

/* -- names -- */

static bb_status take_names(const arrays *a, bb_dataset *data) {
    bb_names names = {0};
    bb_status status = BB_OK;
    if (!a->feature_name) return bb_names_count(&data->feature_name, a->features, "x");
    for (size_t k = 0; k < a->features && !status; k++) {
        const char *name = a->feature_name[k];
        size_t at = k;
        if (!name || !*name || !bb_is_utf8(name, strlen(name)))
            status =
                bb_fail(BB_EUSAGE,
                        "billboard_arrays: feature_name[%zu] is NULL, empty or not "
                        "UTF-8",
                        k);
        else
            status = bb_names_add(&names, name, strlen(name), &at);
        if (!status && at != k)
            status = bb_fail(BB_EUSAGE,
                             "billboard_arrays: feature_name[%zu] is \"%s\", as "
                             "feature_name[%zu] is",
                             k, name, at);
    }
    if (!status) status = bb_names_list(&data->feature_name, &names);
    bb_names_free(&names);
    return status;
}

static bb_status take_target(const arrays *a, bb_dataset *data) {
    const char *name = a->target_name ? a->target_name : "y";
    if (!a->y && !a->label_start) return BB_OK;
    if (!bb_is_utf8(name, strlen(name))) return wrong("target_name is not UTF-8");
    return bb_duplicate(&data->target_name, name, strlen(name));
}

static bb_status take_rows(const arrays *a, bb_dataset *out) {
    bb_builder b = {.features = a->x ? a->features : 0,
                    .multilabel = a->label_start != NULL};
    bb_dataset data = {0};
    bb_status status = BB_OK;
    for (size_t r = 0; r < a->rows && !status; r++) status = take_row(a, r, &b);
    b.features = a->features;
    const size_t labels = a->label_start ? (size_t)b.most_label + 1 : 0;
    if (!status) status = bb_builder_finish(&b, &data);
    data.labels = labels;
    if (!status) status = take_names(a, &data);
    if (!status) status = take_target(a, &data);
    if (!status) status = bb_duplicate(&data.source, source, strlen(source));
    bb_builder_free(&b);
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}

/* -- the calls -- */

static bb_status open_arrays(const billboard_arrays *given, billboard_data **out) {
    arrays a;
    billboard_data *data = NULL;
    bb_status status = bb_call_given(out, "billboard_data_from_arrays", "data");
    if (!status) status = bb_call_struct(&a, sizeof a, given, "billboard_arrays");
    if (!status) status = check(&a);
    if (!status) status = bb_allocate(&data, 1, sizeof *data, "data");
    if (!status) status = take_rows(&a, &data->rows);
    if (status)
        free(data);
    else
        *out = data;
    return status;
}

billboard_status billboard_data_from_arrays(const billboard_arrays *given,
                                            billboard_data **out) {
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = open_arrays(given, out);
    return bb_call_end(&call, status);
}

static bb_status open_file(const char *path, billboard_data **out) {
    static const char function[] = "billboard_data_from_file";
    billboard_data *data = NULL;
    bb_status status = bb_call_given(path, function, "path");
    if (!status) status = bb_call_given(out, function, "data");
    if (!status) status = bb_allocate(&data, 1, sizeof *data, "data");
    if (!status) status = bb_duplicate(&data->path, path, strlen(path));
    if (status)
        free(data);
    else
        *out = data;
    return status;
}

billboard_status billboard_data_from_file(const char *path, billboard_data **out) {
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = open_file(path, out);
    return bb_call_end(&call, status);
}

void billboard_data_free(billboard_data *data) {
    if (!data) return;
    bb_dataset_free(&data->rows);
    free(data->path);
    free(data);
}
