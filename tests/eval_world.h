/* world.h - small populations for the tests of this room. */
#ifndef BB_TESTS_EVAL_WORLD_H
#define BB_TESTS_EVAL_WORLD_H

#include "base/memory.h"
#include "base/random.h"
#include "data/dataset.h"
#include "data/names.h"
#include "test.h"

#include <stdbool.h>

/* Tasks of 0 to `most` rows (the first never empty); y = x.w_i + noise, or its sign. */
static inline bb_dataset world_make(uint64_t seed, size_t tasks, size_t d, size_t most,
                                    bool sparse, bool labels) {
    bb_dataset data = {.tasks = tasks, .features = d};
    bb_random random;
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 1, 0));
    assert_ok(bb_names_count(&data.task_name, tasks, "t"));
    assert_ok(bb_names_count(&data.feature_name, d, "x"));
    assert_ok(bb_duplicate(&data.target_name, "y", 1));
    assert_ok(bb_duplicate(&data.source, "world", 5));
    assert_ok(bb_allocate(&data.first, tasks + 1, sizeof *data.first, "test"));
    for (size_t i = 0; i < tasks; i++)
        data.first[i + 1] =
            data.first[i] + (size_t)bb_random_below(&random, most + 1) + (i == 0);
    const size_t n = data.rows = data.first[tasks];
    assert_ok(bb_allocate(&data.y, n, sizeof *data.y, "test"));
    assert_ok(bb_allocate(&data.line, n, sizeof *data.line, "test"));
    if (sparse) {
        assert_ok(bb_allocate(&data.sparse_first, n + 1, sizeof(size_t), "test"));
        assert_ok(bb_allocate(&data.sparse_column, n * d, sizeof(uint32_t), "test"));
        assert_ok(bb_allocate(&data.sparse_value, n * d, sizeof(double), "test"));
    } else {
        assert_ok(bb_allocate(&data.x, n * d, sizeof(double), "test"));
    }
    size_t used = 0;
    for (size_t i = 0; i < tasks; i++)
        for (size_t j = data.first[i]; j < data.first[i + 1]; j++) {
            double y = 0.3 * (double)(i % 5);
            for (size_t k = 0; k < d; k++) {
                const bool there = !sparse || bb_random_below(&random, 3) == 0;
                const double x = there ? bb_random_normal(&random) : 0.0;
                y += x * sin((double)(k + 1) + 0.1 * (double)i);
                if (!sparse) data.x[j * d + k] = x;
                if (!sparse || !there) continue;
                data.sparse_column[used] = (uint32_t)k;
                data.sparse_value[used++] = x;
            }
            if (sparse) data.sparse_first[j + 1] = used;
            y += 0.5 * bb_random_normal(&random);
            data.y[j] = !labels ? y : y > 0.0 ? 1.0 : -1.0;
            data.line[j] = (uint32_t)j + 2;
        }
    bb_random_close(&random);
    return data;
}

/* Entry k of row j, wherever it is kept. */
static inline double world_x(const bb_dataset *data, size_t j, size_t k) {
    if (data->x) return data->x[j * data->features + k];
    for (size_t p = data->sparse_first[j]; p < data->sparse_first[j + 1]; p++)
        if (data->sparse_column[p] == k) return data->sparse_value[p];
    return 0.0;
}

#endif
