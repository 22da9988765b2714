/* numbers.h - small numeric CSV files of reference values. */
#ifndef BB_TESTS_NUMBERS_H
#define BB_TESTS_NUMBERS_H

#include "test.h"

#include <string.h>

typedef struct numbers {
    size_t rows, columns;
    double *at; /* rows x columns */
} numbers;

/* Reads a file, skipping `header` lines; fails the test when it is malformed. */
static inline numbers numbers_open(const char *path, int header) {
    char *line = NULL;
    size_t room = 0, capacity = 0, count = 0;
    numbers out = {0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (getline(&line, &room, file) > 0) {
        if (header-- > 0) continue;
        size_t columns = 0;
        for (char *cell = line, *end; *cell && *cell != '\n';
             cell = end + (*end == ',')) {
            if (count == capacity) {
                capacity = capacity ? 2 * capacity : 256;
                out.at = realloc(out.at, capacity * sizeof *out.at);
                assert_non_null(out.at);
            }
            out.at[count++] = strtod(cell, &end);
            assert_true(end != cell);
            columns++;
        }
        assert_true(out.rows == 0 || columns == out.columns);
        out.columns = columns;
        out.rows++;
    }
    free(line);
    fclose(file);
    return out;
}

/* The same below the shared folder; skips the test when that is absent. */
static inline numbers numbers_read(const char *name, int header) {
    char path[1024];
    if (!shared_path(path, sizeof path, name)) skip();
    return numbers_open(path, header);
}

static inline double numbers_at(const numbers *n, size_t row, size_t column) {
    assert_true(row < n->rows && column < n->columns);
    return n->at[row * n->columns + column];
}

#endif
