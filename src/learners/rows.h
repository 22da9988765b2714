/* rows.h - inside the room: products with the rows of one task, dense or sparse. */
#ifndef BB_LEARNERS_ROWS_H
#define BB_LEARNERS_ROWS_H

#include "learners/local.h"

/* The rows a local problem borrows. */
static inline bb_rows bb_rows_of(const bb_local *local) {
    return (bb_rows){.n = local->n,
                     .d = local->d,
                     .x = local->x,
                     .sparse_first = local->sparse_first,
                     .sparse_column = local->sparse_column,
                     .sparse_value = local->sparse_value,
                     .y = local->y,
                     .label_first = local->label_first,
                     .label = local->label};
}

static inline double bb_sum(size_t n, const double *v) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += v[j];
    return sum;
}

/* Entries stored: n d, or the non-zeros. */
size_t bb_rows_entries(const bb_rows *rows);
/* p (n) <- X w */
void bb_rows_multiply(const bb_rows *rows, const double *w, double *p);
/* g (d) <- X' u */
void bb_rows_combine(const bb_rows *rows, const double *u, double *g);

/* out (d) <- the sums of squares of the columns. */
void bb_rows_squares(const bb_rows *rows, double *out);
/* out (d) <- x_j - mean; mean may be NULL. */
void bb_rows_copy(const bb_rows *rows, size_t j, const double *mean, double *out);

/* G <- s sum_j f_j (x_j - mean)(x_j - mean)', d x d; mean and f may be NULL (0 and 1).
 * With `ones`, rows are (x_j, 1) and G is (d + 1) x (d + 1). block: bb_rows_block(rows)
 * doubles. */
size_t bb_rows_block(const bb_rows *rows);
void bb_rows_covariance(const bb_rows *rows, double s, const double *mean,
                        const double *f, bool ones, double *G, double *block);
/* K (n x n) <- X X'. scratch: d doubles. */
void bb_rows_kernel(const bb_rows *rows, double *K, double *scratch);
/* K <- (I - 11'/n) K (I - 11'/n), symmetric. scratch: n doubles. */
void bb_rows_centre(size_t n, double *K, double *scratch);

#endif
