#include "data/dataset.h"

#include "base/memory.h"
#include "data/names.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What lies in a map goes with it. */
static void release(const bb_dataset *data, void *block) {
    if (!bb_map_has(&data->file, block) && !bb_map_has(&data->scratch, block))
        free(block);
}

void bb_dataset_free(bb_dataset *data) {
    if (!data) return;
    free(data->task_name);
    free(data->feature_name);
    free(data->target_name);
    free(data->first);
    free(data->y);
    release(data, data->x);
    release(data, data->sparse_first);
    release(data, data->sparse_column);
    release(data, data->sparse_value);
    release(data, data->label_first);
    release(data, data->label);
    free(data->source);
    free(data->line);
    bb_text_counts_close(&data->texts);
    bb_map_close(&data->file);
    bb_map_close(&data->scratch);
    *data = (bb_dataset){0};
}

size_t bb_dataset_single_rows(const bb_dataset *data) {
    size_t count = 0;
    for (size_t i = 0; i < data->tasks; i++)
        count += data->first[i + 1] - data->first[i] == 1;
    return count;
}

bool bb_single_rows_say(size_t tasks, size_t single_rows, char text[BB_SINGLE_BYTES]) {
    snprintf(
        text, BB_SINGLE_BYTES,
        "%zu of %zu tasks %s one row only: is the column of tasks (--task) another "
        "one?",
        single_rows, tasks, single_rows == 1 ? "has" : "have");
    return tasks > 1 && 10 * single_rows >= 9 * tasks;
}

void bb_dataset_drop_features(bb_dataset *data) {
    bb_dataset rows = {.x = data->x,
                       .sparse_first = data->sparse_first,
                       .sparse_column = data->sparse_column,
                       .sparse_value = data->sparse_value,
                       .file = data->file,
                       .scratch = data->scratch};
    assert(!data->label_first); /* which may lie in the same file */
    bb_dataset_free(&rows);
    data->x = data->sparse_value = NULL;
    data->sparse_first = NULL;
    data->sparse_column = NULL;
    data->file = data->scratch = (bb_map){0};
}

bb_status bb_dataset_open_dense(bb_dataset *data) {
    const size_t width = data->features * sizeof *data->x;
    if (width && data->rows > SIZE_MAX / width)
        return bb_fail(BB_ENOMEM, "no memory for %zu rows", data->rows);
    return bb_map_block(&data->scratch, data->memory, &data->x,
                        data->rows * data->features, sizeof *data->x, "rows");
}

/* In memory, or both behind one temporary file. */
static bb_status open_entries(bb_dataset *data, size_t entries) {
    const size_t each = sizeof *data->sparse_value + sizeof *data->sparse_column;
    bb_status status;
    if (data->memory && entries > data->memory / 8 / each) {
        status = bb_map_block(&data->scratch, data->memory, &data->sparse_value,
                              entries, each, "rows");
        if (!status) data->sparse_column = (void *)(data->sparse_value + entries);
        return status;
    }
    status =
        bb_allocate(&data->sparse_column, entries, sizeof *data->sparse_column, "rows");
    if (status) return status;
    return bb_allocate(&data->sparse_value, entries, sizeof *data->sparse_value,
                       "rows");
}

/* Room for the rows: dense, or sparse with `entries` entries. */
static bb_status open_rows(bb_dataset *data, bool sparse, size_t entries) {
    if (!sparse) return bb_dataset_open_dense(data);
    const bb_status status = bb_allocate(&data->sparse_first, data->rows + 1,
                                         sizeof *data->sparse_first, "rows");
    return status ? status : open_entries(data, entries);
}

static bb_status open_labels(bb_dataset *data, size_t listed) {
    bb_status status = bb_allocate(&data->label_first, data->rows + 1,
                                   sizeof *data->label_first, "rows");
    if (!status)
        status = bb_allocate(&data->label, listed, sizeof *data->label, "rows");
    return status;
}

bb_status bb_dataset_open(bb_dataset *out, const bb_dataset *like, bb_shape shape) {
    bb_dataset copy = {.tasks = shape.tasks,
                       .rows = shape.rows,
                       .features = shape.features,
                       .labels = like->labels,
                       .has_lines = like->has_lines,
                       .memory = like->memory,
                       .target_column = like->target_column};
    if (shape.features <= like->features) copy.binary = like->binary;
    if (shape.features == like->features) {
        copy.height = like->height;
        copy.width = like->width;
        copy.channels = like->channels;
    }
    bb_status status = bb_names_copy(&copy.task_name, shape.tasks, shape.task_name);
    if (!status)
        status = bb_names_copy(&copy.feature_name, shape.features, shape.feature_name);
    if (!status)
        status = bb_duplicate(&copy.source, like->source, strlen(like->source));
    if (!status && like->target_name)
        status = bb_duplicate(&copy.target_name, like->target_name,
                              strlen(like->target_name));
    if (!status)
        status = bb_allocate(&copy.first, shape.tasks + 1, sizeof *copy.first, "tasks");
    if (!status) status = bb_allocate(&copy.y, shape.rows, sizeof *copy.y, "rows");
    if (!status)
        status = bb_allocate(&copy.line, shape.rows, sizeof *copy.line, "rows");
    if (!status && !shape.x)
        status = open_rows(&copy, like->sparse_first != NULL, shape.entries);
    if (!status && like->label_first) status = open_labels(&copy, shape.listed);
    if (!status && shape.x) copy.x = shape.x;
    if (status)
        bb_dataset_free(&copy);
    else
        *out = copy;
    return status;
}

static void passed(const bb_dataset *data, const void *from, const void *to) {
    bb_map_passed(&data->file, from, to);
    bb_map_passed(&data->scratch, from, to);
}

void bb_dataset_passed(const bb_dataset *data, size_t from, size_t to) {
    const size_t d = data->features;
    if (from == to) return;
    if (data->x) {
        passed(data, data->x + from * d, data->x + to * d);
        return;
    }
    const size_t begin = data->sparse_first[from], end = data->sparse_first[to];
    passed(data, data->sparse_value + begin, data->sparse_value + end);
    passed(data, data->sparse_column + begin, data->sparse_column + end);
}

static void copy_labels(const bb_dataset *data, size_t from, bb_dataset *copy,
                        size_t to) {
    const size_t begin = data->label_first[from],
                 n = data->label_first[from + 1] - begin, at = copy->label_first[to];
    copy->label_first[to + 1] = at + n;
    if (n) memcpy(copy->label + at, data->label + begin, n * sizeof *data->label);
}

/* Row `from` becomes the copy's row `to`; feature k of the copy is feature old[k], or k
 * if old is NULL. */
static void copy_row(const bb_dataset *data, size_t from, bb_dataset *copy, size_t to,
                     const size_t *old) {
    copy->y[to] = data->y[from];
    copy->line[to] = data->line[from];
    if (data->label_first) copy_labels(data, from, copy, to);
    if (data->x) {
        const double *const x = data->x + from * data->features;
        double *const z = copy->x + to * copy->features;
        for (size_t k = 0; k < copy->features; k++) z[k] = x[old ? old[k] : k];
        return;
    }
    const size_t begin = data->sparse_first[from],
                 n = data->sparse_first[from + 1] - begin, at = copy->sparse_first[to];
    copy->sparse_first[to + 1] = at + n;
    if (n == 0) return;
    memcpy(copy->sparse_column + at, data->sparse_column + begin,
           n * sizeof *data->sparse_column);
    memcpy(copy->sparse_value + at, data->sparse_value + begin,
           n * sizeof *data->sparse_value);
}

bb_status bb_dataset_select(const bb_dataset *data, const unsigned char *keep,
                            bb_dataset *out) {
    size_t rows = 0, entries = 0, listed = 0;
    for (size_t r = 0; r < data->rows; r++) {
        if (!keep[r]) continue;
        rows++;
        if (!data->x) entries += data->sparse_first[r + 1] - data->sparse_first[r];
        if (data->label_first)
            listed += data->label_first[r + 1] - data->label_first[r];
    }
    bb_dataset copy;
    const bb_shape shape = {.tasks = data->tasks,
                            .task_name = data->task_name,
                            .features = data->features,
                            .feature_name = data->feature_name,
                            .rows = rows,
                            .entries = entries,
                            .listed = listed};
    const bb_status status = bb_dataset_open(&copy, data, shape);
    if (status) return status;
    size_t to = 0;
    for (size_t i = 0; i < data->tasks; i++) {
        for (size_t r = data->first[i]; r < data->first[i + 1]; r++)
            if (keep[r]) copy_row(data, r, &copy, to++, NULL);
        bb_dataset_passed(data, data->first[i], data->first[i + 1]);
        bb_dataset_passed(&copy, copy.first[i], to);
        copy.first[i + 1] = to;
    }
    *out = copy;
    return BB_OK;
}

bb_status bb_dataset_unmap(bb_dataset *data) {
    bb_dataset own = {0};
    unsigned char *keep = NULL;
    if (!data->file.at) return BB_OK;
    bb_status status = bb_allocate(&keep, data->rows, 1, "rows");
    if (!status) {
        memset(keep, 1, data->rows);
        status = bb_dataset_select(data, keep, &own);
    }
    free(keep);
    if (status) return status;
    own.dropped = data->dropped;
    bb_dataset_free(data);
    *data = own;
    return BB_OK;
}

void bb_dataset_where(const bb_dataset *data, size_t row, char text[BB_WHERE_BYTES]) {
    if (data->has_lines) {
        snprintf(text, BB_WHERE_BYTES, "%s:%u", data->source, data->line[row]);
        return;
    }
    size_t i = 0;
    while (data->first[i + 1] <= row) i++;
    char shown[BB_SHOWN_BYTES];
    snprintf(text, BB_WHERE_BYTES, "%s: task %s, row %u", data->source,
             bb_shown(shown, data->task_name[i], strlen(data->task_name[i])),
             data->line[row]);
}

/* Does the first row that is no label appear earlier in the source than the second? */
static bool is_earlier(const bb_dataset *data, size_t row, size_t best) {
    return best == SIZE_MAX || data->line[row] < data->line[best];
}

static bb_status bad_target(const bb_dataset *data, size_t row, const char *loss,
                            const char *expected) {
    char where[BB_WHERE_BYTES], column[32] = "", name[BB_SHOWN_BYTES];
    bb_dataset_where(data, row, where);
    if (data->target_column)
        snprintf(column, sizeof column, ":%u", data->target_column);
    const char *const target = data->target_name ? data->target_name : "";
    return bb_fail(BB_EDATA, "%s%s (column %s): the %s loss expected %s, found %.17g",
                   where, column, bb_shown(name, target, strlen(target)), loss,
                   expected, data->y[row]);
}

bb_status bb_dataset_label_conflict(const bb_dataset *data, const size_t line[2]) {
    const bool zero_first = line[0] <= line[1];
    const size_t later = line[zero_first];
    if (later == SIZE_MAX) return BB_OK;
    for (size_t r = 0; r < data->rows; r++)
        if (data->line[r] == later && data->y[r] == (zero_first ? -1.0 : 0.0))
            return bad_target(data, r, "logistic",
                              zero_first ? "0 or 1 as before" : "-1 or 1 as before");
    return BB_OK;
}

bb_status bb_dataset_label_check(const bb_dataset *data, size_t line[2]) {
    size_t zero = SIZE_MAX, minus = SIZE_MAX, other = SIZE_MAX;
    for (size_t r = 0; r < data->rows; r++) {
        const double y = data->y[r];
        size_t *const seen = y == 0.0 ? &zero : y == -1.0 ? &minus : &other;
        if (y != 1.0 && is_earlier(data, r, *seen)) *seen = r;
    }
    const size_t met[2] = {zero == SIZE_MAX ? SIZE_MAX : data->line[zero],
                           minus == SIZE_MAX ? SIZE_MAX : data->line[minus]};
    if (line) memcpy(line, met, sizeof met);
    if (other != SIZE_MAX)
        return bad_target(data, other, "logistic", "0 or 1 (or -1 or 1)");
    return bb_dataset_label_conflict(data, met);
}

bb_status bb_dataset_class_check(const bb_dataset *data, size_t *classes) {
    const double end = (double)(*classes ? *classes : BB_MOST_CLASSES);
    double most = 1;
    size_t bad = SIZE_MAX;
    for (size_t r = 0; r < data->rows; r++) {
        const double y = data->y[r];
        if (!(y >= 0 && y < end && y == floor(y))) {
            if (is_earlier(data, r, bad)) bad = r;
        } else if (y > most) {
            most = y;
        }
    }
    if (bad != SIZE_MAX) {
        char expected[64];
        snprintf(expected, sizeof expected, "a whole number from 0 to %.0f", end - 1);
        return bad_target(data, bad, "softmax", expected);
    }
    if (*classes == 0) *classes = (size_t)most + 1;
    return BB_OK;
}

void bb_dataset_labels(const bb_dataset *data, double *label) {
    for (size_t r = 0; r < data->rows; r++) label[r] = data->y[r] > 0.0 ? 1.0 : -1.0;
}

/* The i-th, of which nobody knows anything, unless its name is written in another way. */
static bb_status fail_unknown(const bb_dataset *data, const bb_names *wanted,
                              size_t i) {
    const char *const name = data->task_name[i];
    char where[BB_WHERE_BYTES], shown[BB_SHOWN_BYTES], alike[BB_ALIKE_BYTES];
    bb_dataset_where(data, data->first[i], where);
    return bb_fail(BB_EDATA, "%s: task %s has no model%s", where,
                   bb_shown(shown, name, strlen(name)),
                   bb_names_alike(alike, wanted, name, "has one"));
}

bb_status bb_dataset_match_tasks(const bb_dataset *data, const bb_names *wanted,
                                 size_t *old) {
    for (size_t i = 0; i < wanted->count; i++) old[i] = SIZE_MAX;
    for (size_t i = 0; i < data->tasks; i++) {
        const char *const name = data->task_name[i];
        const size_t to = bb_names_find(wanted, name, strlen(name));
        if (to != SIZE_MAX) {
            old[to] = i;
        } else if (data->first[i] < data->first[i + 1]) {
            return fail_unknown(data, wanted, i);
        }
    }
    return BB_OK;
}

/* For each wanted feature its number in `data`; both must have the same features. */
static bb_status match_features(const bb_dataset *data, const bb_names *wanted,
                                size_t *old) {
    char shown[BB_SHOWN_BYTES];
    for (size_t k = 0; k < wanted->count; k++) old[k] = SIZE_MAX;
    for (size_t k = 0; k < data->features; k++) {
        const char *const name = data->feature_name[k];
        const size_t to = bb_names_find(wanted, name, strlen(name));
        if (to == SIZE_MAX)
            return bb_fail(BB_EDATA,
                           "%s: column %s is no feature of the model (leave it out "
                           "with --ignore)",
                           data->source, bb_shown(shown, name, strlen(name)));
        old[to] = k;
    }
    for (size_t k = 0; k < wanted->count; k++)
        if (old[k] == SIZE_MAX) {
            const char *const name = bb_names_at(wanted, k);
            return bb_fail(BB_EDATA, "%s: no column %s, which the model needs",
                           data->source, bb_shown(shown, name, strlen(name)));
        }
    return BB_OK;
}

/* Sparse features are numbered, and the last ones may be missing: their count may
 * differ, but the numbering is the same. */
static bb_status match_sparse(const bb_dataset *data, size_t features) {
    for (size_t r = 0; r < data->rows; r++) {
        const size_t end = data->sparse_first[r + 1];
        if (end == data->sparse_first[r] || data->sparse_column[end - 1] < features)
            continue;
        char where[BB_WHERE_BYTES];
        bb_dataset_where(data, r, where);
        return bb_fail(BB_EDATA, "%s: feature %u, but the model has %zu", where,
                       data->sparse_column[end - 1] + 1, features);
    }
    return BB_OK;
}

bb_status bb_dataset_match(const bb_dataset *data, size_t tasks, char *const *task_name,
                           size_t features, char *const *feature_name,
                           bb_dataset *out) {
    bb_names wanted_tasks = {0}, wanted_features = {0};
    const bb_shape shape = {.tasks = tasks,
                            .task_name = task_name,
                            .features = features,
                            .feature_name = feature_name,
                            .rows = data->rows,
                            .entries = data->x ? 0 : data->sparse_first[data->rows],
                            .listed =
                                data->label_first ? data->label_first[data->rows] : 0};
    bb_dataset copy;
    size_t *task = NULL, *feature = NULL;
    bb_status status = bb_names_add_all(&wanted_tasks, tasks, task_name);
    if (!status) status = bb_names_add_all(&wanted_features, features, feature_name);
    if (!status) status = bb_allocate(&task, tasks, sizeof *task, "tasks");
    if (!status) status = bb_allocate(&feature, features, sizeof *feature, "features");
    if (!status) status = bb_dataset_match_tasks(data, &wanted_tasks, task);
    if (!status)
        status = data->x ? match_features(data, &wanted_features, feature)
                         : match_sparse(data, features);
    if (!status) status = bb_dataset_open(&copy, data, shape);
    if (status) goto done;
    for (size_t k = 0; data->x && k < features; k++)
        if (feature[k] != k) copy.height = copy.width = copy.channels = 0;
    size_t to = 0;
    for (size_t i = 0; i < tasks; i++) {
        if (task[i] != SIZE_MAX)
            for (size_t r = data->first[task[i]]; r < data->first[task[i] + 1]; r++)
                copy_row(data, r, &copy, to++, feature);
        copy.first[i + 1] = to;
    }
    *out = copy;
done:
    bb_names_free(&wanted_tasks);
    bb_names_free(&wanted_features);
    free(task);
    free(feature);
    return status;
}
