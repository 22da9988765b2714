#include "methods/personal_wide.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* A row of which less is new is one of those before. */
static const double least_part = 1e-14;

bool bb_wide_fits(const bb_local *local) {
    return local->x && local->n + 1 < local->d;
}

bb_local bb_wide_shape(const bb_local *local) {
    bb_local shape = *local;
    shape.d = local->n + 1;
    shape.length = shape.d * local->outputs;
    return shape;
}

size_t bb_wide_work(const bb_local *local) {
    const size_t n = local->n;
    return bb_wide_fits(local) ? n * (n + 1) + n * (local->d - 1) + n : 0;
}

/* Row j: what it has of those before, then what is new. Gram and Schmidt, twice, which is
 * enough. part: n. */
static void split_row(size_t j, size_t columns, double *basis, double *row,
                      double *part) {
    double *new = basis + j *columns;
    const double whole = bb_norm(columns, new);
    for (int pass = 0; pass < 2; pass++) {
        bb_multiply(j, columns, 1.0, basis, new, 0.0, part);
        bb_multiply_transposed(j, columns, -1.0, basis, part, 1.0, new);
        bb_axpy(j, 1.0, part, row);
    }
    const double left = bb_norm(columns, new);
    const bool is_old = isfinite(whole) && left <= least_part * whole;
    bb_scale(columns, is_old ? 0.0 : 1.0 / left, new);
    row[j] = is_old ? 0.0 : left;
}

void bb_wide_open(bb_wide *wide, const bb_local *local, double *work) {
    const size_t n = local->n, columns = local->d - 1;
    double *rows = work, *basis = rows + n * (n + 1), *part = basis + n * columns;
    memset(rows, 0, n * (n + 1) * sizeof *rows);
    for (size_t j = 0; j < n; j++) {
        const double *x = local->x + j * local->d;
        double *row = rows + j * (n + 1);
        memcpy(basis + j * columns, x, columns * sizeof *x);
        split_row(j, columns, basis, row, part);
        row[n] = x[columns];
    }
    *wide = (bb_wide){bb_wide_shape(local), basis, local->d};
    wide->local.x = rows;
}

void bb_wide_into(const bb_wide *wide, const double *w, double *v) {
    const size_t n = wide->local.n, outputs = wide->local.outputs;
    const size_t columns = wide->features - 1;
    bb_product(n, columns, outputs, 1.0, wide->basis, w, 0.0, v);
    memcpy(v + n * outputs, w + columns * outputs, outputs * sizeof *v);
}

void bb_wide_add(const bb_wide *wide, const double *v, double *w) {
    const size_t n = wide->local.n, outputs = wide->local.outputs;
    const size_t columns = wide->features - 1;
    bb_product_transposed(columns, n, outputs, 1.0, wide->basis, v, 1.0, w);
    bb_axpy(outputs, 1.0, v + n * outputs, w + columns * outputs);
}
