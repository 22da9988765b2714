#include "data/info.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *bb_target_text(bb_target_kind kind) {
    static const char *const text[] = {
        [BB_TARGET_NONE] = "none",           [BB_TARGET_BINARY] = "binary (0, 1)",
        [BB_TARGET_SIGN] = "binary (-1, 1)", [BB_TARGET_INTEGER] = "integer",
        [BB_TARGET_REAL] = "real",           [BB_TARGET_LABELS] = "labels"};
    return text[kind];
}

static int compare(const void *a, const void *b) {
    const size_t p = *(const size_t *)a, q = *(const size_t *)b;
    return (p > q) - (p < q);
}

static bb_status count_rows(bb_info *info, const bb_dataset *data) {
    const size_t m = data->tasks;
    size_t *rows = NULL;
    bb_status status = bb_allocate(&rows, m, sizeof *rows, "tasks");
    if (status || m == 0) goto done;
    for (size_t i = 0; i < m; i++) rows[i] = data->first[i + 1] - data->first[i];
    qsort(rows, m, sizeof *rows, compare);
    info->least_rows = rows[0];
    info->most_rows = rows[m - 1];
    const size_t below = rows[(m - 1) / 2], above = rows[m / 2];
    info->median_rows = ((double)below + (double)above) / 2;
done:
    free(rows);
    return status;
}

/* Rows in which nothing is missing, nor the target if `targets'. */
static size_t count_complete(const bb_dataset *data, bool targets) {
    size_t complete = 0;
    for (size_t r = 0; r < data->rows; r++) {
        bool missing = targets && isnan(data->y[r]);
        for (size_t k = 0; data->x && k < data->features && !missing; k++)
            missing = isnan(data->x[r * data->features + k]);
        complete += !missing;
    }
    return complete;
}

/* Does a task have one target value, and no other? */
static bool has_one_class(const bb_dataset *data, size_t task) {
    double seen = NAN;
    for (size_t r = data->first[task]; r < data->first[task + 1]; r++) {
        if (isnan(data->y[r])) continue;
        if (!isnan(seen) && data->y[r] != seen) return false;
        seen = data->y[r];
    }
    return !isnan(seen);
}

static void look_at_targets(bb_info *info, const bb_dataset *data) {
    size_t zeros = 0, minus = 0, ones = 0, whole = 0, count = 0;
    info->least_target = info->most_target = NAN;
    for (size_t r = 0; r < data->rows; r++) {
        const double y = data->y[r];
        if (isnan(y)) continue;
        count++;
        zeros += y == 0;
        minus += y == -1;
        ones += y == 1;
        whole += y == floor(y);
        info->least_target = fmin(info->least_target, y);
        info->most_target = fmax(info->most_target, y);
    }
    const bool single = data->target_name && !data->label_first;
    info->missing_targets = single ? data->rows - count : 0;
    for (size_t i = 0; i < data->tasks; i++) info->one_class += has_one_class(data, i);
    info->target = data->label_first       ? BB_TARGET_LABELS
                   : count == 0            ? BB_TARGET_NONE
                   : zeros + ones == count ? BB_TARGET_BINARY
                   : minus + ones == count ? BB_TARGET_SIGN
                   : whole == count        ? BB_TARGET_INTEGER
                                           : BB_TARGET_REAL;
}

/* How often every class occurs. */
static bb_status count_classes(bb_info *info, const bb_dataset *data) {
    if (info->target != BB_TARGET_INTEGER || info->least_target != 0 ||
        info->most_target >= (double)data->rows)
        return BB_OK;
    size_t *rows = NULL, most = 0, classes = 0;
    bb_status status =
        bb_allocate(&rows, (size_t)info->most_target + 1, sizeof *rows, "classes");
    if (status) return status;
    for (size_t r = 0; r < data->rows; r++) {
        if (isnan(data->y[r])) continue;
        const size_t n = ++rows[(size_t)data->y[r]];
        classes += n == 1;
        most = n > most ? n : most;
    }
    free(rows);
    if (classes <= 2) return BB_OK;
    info->classes = classes;
    info->majority = (double)most / (double)(data->rows - info->missing_targets);
    return BB_OK;
}

/* What is known of a column so far. */
typedef struct column {
    double value, least, most;
    size_t count;
    bool varies, other; /* than 0 or 1 */
} column;

static void see(bb_info *info, column *c, double value) {
    if (isnan(value)) {
        info->missing_features++;
        return;
    }
    if (c->count++ == 0) c->value = c->least = c->most = value;
    c->least = fmin(c->least, value);
    c->most = fmax(c->most, value);
    if (value != c->value) c->varies = true;
    if (value != 0 && value != 1) c->other = true;
}

/* As data frames of R and pandas call them: of a part of a table there may be gaps. */
static bool is_called_row_names(const char *name) {
    return strcmp(name, "rownames") == 0 || strcmp(name, "Unnamed: 0") == 0;
}

/* Has the column every number from 0, or 1, on once, as names of rows have? Fewer rows than
 * LEAST_NUMBERED may have so by chance. seen: a byte for each row. */
static bool numbers_rows(const bb_dataset *data, size_t k, const column *c,
                         unsigned char *seen) {
    enum { LEAST_NUMBERED = 10 };
    const size_t n = data->rows;
    if (is_called_row_names(data->feature_name[k])) return true;
    if (n < LEAST_NUMBERED || c->count < n || (c->least != 0 && c->least != 1) ||
        c->most - c->least != (double)(n - 1))
        return false;
    memset(seen, 0, n);
    for (size_t r = 0; r < n; r++) {
        const double at = data->x[r * data->features + k] - c->least;
        if (at != floor(at) || seen[(size_t)at]) return false;
        seen[(size_t)at] = 1;
    }
    return true;
}

static bb_status look_for_numberings(bb_info *info, const bb_dataset *data,
                                     const column *columns) {
    unsigned char *seen = NULL;
    if (!data->x) return BB_OK;
    bb_status status = bb_allocate(&seen, data->rows, sizeof *seen, "rows");
    if (!status)
        status = bb_allocate(&info->numbering, data->features, sizeof *info->numbering,
                             "columns");
    for (size_t k = 0; k < data->features && !status; k++)
        if (numbers_rows(data, k, &columns[k], seen))
            info->numbering[info->numberings++] = k;
    free(seen);
    return status;
}

static bb_status look_at_columns(bb_info *info, const bb_dataset *data) {
    const size_t d = data->features;
    column *columns = NULL;
    bb_status status = bb_allocate(&columns, d, sizeof *columns, "columns");
    if (!status)
        status = bb_allocate(&info->constant, d, sizeof *info->constant, "columns");
    if (!status)
        status = bb_allocate(&info->binary, d, sizeof *info->binary, "columns");
    if (status) goto done;
    if (data->x)
        for (size_t r = 0; r < data->rows; r++)
            for (size_t k = 0; k < d; k++) see(info, &columns[k], data->x[r * d + k]);
    else
        for (size_t e = 0; e < info->entries; e++)
            see(info, &columns[data->sparse_column[e]], data->sparse_value[e]);
    for (size_t k = 0; k < d; k++) {
        const bool with_zeros =
            !data->x && columns[k].count < data->rows && columns[k].value != 0;
        if (!columns[k].varies && !with_zeros) info->constant[info->constants++] = k;
        if (data->x && k + data->binary < d && columns[k].varies && !columns[k].other)
            info->binary[info->binaries++] = k;
    }
    status = look_for_numberings(info, data, columns);
done:
    free(columns);
    return status;
}

bb_status bb_info_open(bb_info *info, const bb_dataset *data) {
    bb_info made = {.tasks = data->tasks,
                    .rows = data->rows,
                    .features = data->features,
                    .sparse = !data->x,
                    .labels = data->labels,
                    .height = data->height,
                    .width = data->width,
                    .channels = data->channels};
    if (made.sparse) made.entries = data->sparse_first[data->rows];
    if (data->label_first) made.listed = data->label_first[data->rows];
    look_at_targets(&made, data);
    bb_status status = count_rows(&made, data);
    if (!status) status = look_at_columns(&made, data);
    made.complete_rows = data->rows;
    if (made.missing_features + made.missing_targets > 0)
        made.complete_rows = count_complete(data, made.missing_targets > 0);
    if (!status) status = count_classes(&made, data);
    if (status) {
        bb_info_close(&made);
        return status;
    }
    *info = made;
    return BB_OK;
}

void bb_info_close(bb_info *info) {
    free(info->constant);
    free(info->binary);
    free(info->numbering);
    *info = (bb_info){0};
}
