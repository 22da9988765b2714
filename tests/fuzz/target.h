/* target.h - what the fuzz targets of the readers share. */
#ifndef BB_TESTS_FUZZ_TARGET_H
#define BB_TESTS_FUZZ_TARGET_H

#include "data/info.h"
#include "data/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void target_require(bool condition) {
    if (!condition) abort();
}

static inline void target_check_labels(const bb_dataset *data, size_t r) {
    const size_t begin = data->label_first[r], end = data->label_first[r + 1];
    target_require(isnan(data->y[r]) && begin <= end && (r > 0 || begin == 0));
    for (size_t k = begin; k < end; k++) {
        target_require(data->label[k] < data->labels);
        target_require(k == begin || data->label[k - 1] < data->label[k]);
    }
}

/* Everything that dataset.h promises. */
static inline void target_check(const bb_dataset *data, bool missing) {
    bb_info info;
    target_require(data->rows > 0 && data->features > 0 && data->tasks > 0);
    target_require(data->first[0] == 0 && data->first[data->tasks] == data->rows);
    for (size_t i = 0; i < data->tasks; i++)
        target_require(data->first[i] <= data->first[i + 1] && data->task_name[i]);
    for (size_t k = 0; k < data->features; k++)
        target_require(strlen(data->feature_name[k]) > 0);
    target_require(!data->label_first == !data->label &&
                   !data->label_first == !data->labels);
    for (size_t r = 0; r < data->rows; r++) {
        if (data->label_first)
            target_check_labels(data, r);
        else
            target_require(isfinite(data->y[r]) || (missing && isnan(data->y[r])));
        for (size_t k = 0; data->x && k < data->features; k++) {
            const double x = data->x[r * data->features + k];
            target_require(isfinite(x) || (missing && isnan(x)));
        }
        for (size_t e = data->x ? 0 : data->sparse_first[r];
             !data->x && e < data->sparse_first[r + 1]; e++) {
            target_require(data->sparse_column[e] < data->features);
            target_require(e == data->sparse_first[r] ||
                           data->sparse_column[e - 1] < data->sparse_column[e]);
        }
    }
    if (bb_info_open(&info, data) == BB_OK) bb_info_close(&info);
}

/* Reads the bytes as a file, with missing values kept if the last byte is odd. Was it
 * good? */
static inline bool target_read(const uint8_t *bytes, size_t size,
                               bb_read_options options) {
    char path[64];
    bb_dataset data = {0};
    FILE *const file = tmpfile();
    target_require(file && fwrite(bytes, 1, size, file) == size && !fflush(file));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    options.keep_missing = size && bytes[size - 1] % 2;
    const bool good = bb_read(path, &options, &data) == BB_OK;
    if (good) {
        target_check(&data, options.keep_missing);
        bb_dataset_free(&data);
    } else {
        target_require(strlen(bb_last_error()) > 0 && !data.task_name);
    }
    fclose(file);
    return good;
}

#endif
