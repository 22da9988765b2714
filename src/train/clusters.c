#include "train/clusters.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t find(const bb_dataset *data, const char *column) {
    size_t k = 0;
    while (k < data->features && strcmp(data->feature_name[k], column) != 0) k++;
    return k;
}

static double value_at(const bb_dataset *data, size_t row, size_t k) {
    if (data->x) return data->x[row * data->features + k];
    for (size_t e = data->sparse_first[row]; e < data->sparse_first[row + 1]; e++)
        if (data->sparse_column[e] == k) return data->sparse_value[e];
    return 0.0;
}

static void drop_dense(bb_dataset *data, size_t column) {
    const size_t d = data->features;
    double *to = data->x;
    for (size_t e = 0; e < data->rows * d; e++)
        if (e % d != column) *to++ = data->x[e];
}

static void drop_sparse(bb_dataset *data, size_t column) {
    size_t to = 0, from = 0;
    for (size_t r = 0; r < data->rows; r++) {
        const size_t end = data->sparse_first[r + 1];
        data->sparse_first[r] = to;
        for (; from < end; from++) {
            if (data->sparse_column[from] == column) continue;
            data->sparse_column[to] =
                data->sparse_column[from] - (data->sparse_column[from] > column);
            data->sparse_value[to++] = data->sparse_value[from];
        }
    }
    data->sparse_first[data->rows] = to;
}

static void drop(bb_dataset *data, size_t column) {
    if (data->x)
        drop_dense(data, column);
    else
        drop_sparse(data, column);
    /* the names lie behind their pointers, which may move up */
    memmove(data->feature_name + column, data->feature_name + column + 1,
            (data->features - column - 1) * sizeof *data->feature_name);
    data->features--;
    data->height = data->width = data->channels = 0;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* value (tasks) <- what the column says of each task. */
static bb_status read_values(const bb_dataset *data, size_t column, double *value) {
    char where[BB_WHERE_BYTES];
    for (size_t i = 0; i < data->tasks; i++)
        for (size_t r = data->first[i]; r < data->first[i + 1]; r++) {
            const double v = value_at(data, r, column);
            if (r == data->first[i]) value[i] = v;
            if (v == value[i]) continue;
            bb_dataset_where(data, r, where);
            return bb_fail(BB_EDATA,
                           "%s: the rows of task %s must be in one cluster: expected "
                           "%g in column \"%s\", found %g",
                           where, data->task_name[i], value[i],
                           data->feature_name[column], v);
        }
    return BB_OK;
}

/* Are the values numbers of as many clusters? */
static bb_status check_values(const bb_dataset *data, size_t column, size_t clusters,
                              const double *value) {
    char where[BB_WHERE_BYTES];
    for (size_t i = 0; i < data->tasks; i++) {
        if (value[i] >= 0.0 && value[i] < (double)clusters &&
            value[i] == floor(value[i]))
            continue;
        bb_dataset_where(data, data->first[i], where);
        return bb_fail(BB_EDATA,
                       "%s: expected a whole number from 0 to %zu in column \"%s\" "
                       "(--clusters), found %g",
                       where, clusters - 1, data->feature_name[column], value[i]);
    }
    return BB_OK;
}

/* Numbers the values by size; their count. */
static size_t number_values(size_t tasks, const double *value, double *sorted,
                            uint32_t *cluster) {
    size_t count = 0;
    memcpy(sorted, value, tasks * sizeof *sorted);
    qsort(sorted, tasks, sizeof *sorted, compare);
    for (size_t i = 0; i < tasks; i++)
        if (count == 0 || sorted[i] != sorted[count - 1]) sorted[count++] = sorted[i];
    for (size_t i = 0; i < tasks; i++)
        while (sorted[cluster[i]] < value[i]) cluster[i]++;
    return count;
}

/* all <- what the column says of the tasks of all ranks, in their order. */
static bb_status gather_values(const bb_dataset *data, size_t column, size_t known,
                               const bb_dealt *dealt, bb_message *all) {
    double *value = NULL;
    bb_status status =
        bb_allocate(&value, data->tasks, sizeof *value, "the tasks' clusters");
    if (!status) status = read_values(data, column, value);
    if (!status && known) status = check_values(data, column, known, value);
    status = bb_ranks_gather_all(dealt->ranks, status, value,
                                 data->tasks * sizeof *value, all);
    free(value);
    return status;
}

bb_status bb_clusters_take(bb_dataset *data, const char *column, size_t known,
                           const bb_dealt *dealt, uint32_t **cluster,
                           size_t *clusters) {
    const size_t k = find(data, column), tasks = bb_dealt_tasks(dealt, data->tasks);
    double *sorted = NULL;
    uint32_t *made = NULL;
    size_t count = known;
    bb_message all;
    if (k == data->features)
        return bb_fail(BB_EUSAGE, "%s: has no column \"%s\" that tells clusters",
                       data->source, column);
    bb_status status = gather_values(data, k, known, dealt, &all);
    const double *value = all.at;
    if (!status)
        status = bb_allocate(&sorted, tasks, sizeof *sorted, "the tasks' clusters");
    if (!status)
        status = bb_allocate(&made, tasks, sizeof *made, "the tasks' clusters");
    if (!status) status = bb_dataset_unmap(data);
    if (status) goto done;
    for (size_t i = 0; i < tasks && known; i++) made[i] = (uint32_t)value[i];
    if (!known) count = number_values(tasks, value, sorted, made);
    drop(data, k);
    *cluster = made;
    *clusters = count;
    made = NULL;
done:
    free(all.at);
    free(sorted);
    free(made);
    return status;
}

bb_status bb_clusters_drop(bb_dataset *data, const char *column) {
    const size_t k = find(data, column);
    const bb_status status = k < data->features ? bb_dataset_unmap(data) : BB_OK;
    if (!status && k < data->features) drop(data, k);
    return status;
}
