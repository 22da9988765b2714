#include "privacy/accounting/group.h"

#include <math.h>

/* Covers the rounding of a few functions of arguments up to 1e3. */
static const double margin = 1e-12;

/* sum_{j < rows} exp(j epsilon), without infinity over infinity. */
static double powers(size_t rows, double epsilon) {
    if (epsilon * (double)rows < 1e-14) return (double)rows * (1.0 + 1e-13);
    return exp((double)(rows - 1) * epsilon) * expm1(-(double)rows * epsilon) /
           expm1(-epsilon);
}

void bb_group_rows(size_t rows, double epsilon, double delta, double *row_epsilon,
                   double *row_delta) {
    *row_epsilon = epsilon / (double)rows;
    if (fma((double)rows, *row_epsilon, -epsilon) > 0.0)
        *row_epsilon = nextafter(*row_epsilon, 0.0);
    *row_delta = delta / powers(rows, *row_epsilon) * (1.0 - margin);
}
