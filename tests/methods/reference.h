/* reference.h - the population of the published algorithms' reference iterates. */
#ifndef BB_TESTS_REFERENCE_H
#define BB_TESTS_REFERENCE_H

#include "numbers.h"
#include "population.h"

#include <string.h>

static inline population reference_population(void) {
    numbers x = numbers_read("oracle/mpmtl/X_rows_task_major.csv", 0);
    numbers y = numbers_read("oracle/mpmtl/y_task_by_sample.csv", 0);
    if (!x.at || !y.at) abort();
    population p =
        population_empty(y.rows, y.columns, x.columns, BB_LOSS_SQUARED, false);
    for (size_t i = 0; i <= p.tasks; i++) p.first[i] = i * y.columns;
    memcpy(p.x, x.at, x.rows * x.columns * sizeof *p.x);
    memcpy(p.y, y.at, y.rows * y.columns * sizeof *p.y);
    population_open_locals(&p);
    free(x.at);
    free(y.at);
    return p;
}

#endif
