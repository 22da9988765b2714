#include "data/fingerprint.h"

#include <string.h>

/* Whether it is there, and what it says. */
static void add(bb_hash *hash, const void *at, size_t size) {
    const char there = at != NULL;
    bb_hash_add(hash, &there, 1);
    if (at) bb_hash_add(hash, at, size);
}

/* A length and the words of that many names, with their final zeros. */
static void add_names(bb_hash *hash, char *const *name, size_t count) {
    add(hash, &count, sizeof count);
    for (size_t k = 0; k < count; k++) add(hash, name[k], strlen(name[k]) + 1);
}

void bb_dataset_fingerprint(const bb_dataset *data, bb_hash *hash) {
    const size_t rows = data->rows, tasks = data->tasks, features = data->features;
    const size_t entries = data->sparse_first ? data->sparse_first[rows] : 0;
    const size_t labels = data->label_first ? data->label_first[rows] : 0;
    const size_t size[] = {rows,         features,    data->labels,
                           data->height, data->width, data->channels};
    add(hash, size, sizeof size);
    add_names(hash, data->task_name, tasks);
    add_names(hash, data->feature_name, features);
    add(hash, data->first, (tasks + 1) * sizeof *data->first);
    add(hash, data->y, rows * sizeof *data->y);
    add(hash, data->x, rows * features * sizeof *data->x);
    add(hash, data->sparse_first, (rows + 1) * sizeof *data->sparse_first);
    add(hash, data->sparse_column, entries * sizeof *data->sparse_column);
    add(hash, data->sparse_value, entries * sizeof *data->sparse_value);
    add(hash, data->label_first, (rows + 1) * sizeof *data->label_first);
    add(hash, data->label, labels * sizeof *data->label);
}
