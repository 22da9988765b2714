#include "linalg/linalg.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Of the largest of the diagonal: rest that rounding explains. */
static const double negligible = 1e-15;

size_t bb_eigen_low_rank_work(size_t n, size_t rank) {
    return (n + rank * n + rank * rank) * sizeof(double) + bb_eigen_work(rank);
}

/* factor (rank x n, zeros where there is none) <- rows whose sum of outer products is a:
 * in each step that of the row with the most left (Higham 1990). left: n doubles. */
static void factorise(size_t n, size_t rank, const double *a, double *factor,
                      double *left) {
    double most = 0.0;
    memset(factor, 0, rank * n * sizeof *factor);
    for (size_t i = 0; i < n; i++) {
        left[i] = a[i * n + i];
        most = fmax(most, left[i]);
    }
    for (size_t k = 0; k < rank; k++) {
        double *row = factor + k * n;
        size_t pivot = 0;
        for (size_t i = 1; i < n; i++)
            if (left[i] > left[pivot]) pivot = i;
        if (!(left[pivot] > negligible * (double)n * most)) return;
        const double root = sqrt(left[pivot]);
        memcpy(row, a + pivot * n, n * sizeof *row);
        for (size_t j = 0; j < k; j++)
            bb_axpy(n, -factor[j * n + pivot], factor + j * n, row);
        bb_scale(n, 1.0 / root, row);
        for (size_t i = 0; i < n; i++) left[i] = fmax(0.0, left[i] - row[i] * row[i]);
        left[pivot] = 0.0;
    }
}

bb_status bb_eigen_low_rank(size_t n, size_t rank, const double *a, double *value,
                            double *vector, void *work) {
    double *factor = work, *left = factor + rank * n, *small = left + n;
    double *last = value + (n - rank);
    for (size_t k = 0; k < n * n; k++)
        if (!isfinite(a[k])) return bb_fail(BB_ENUMERIC, "eigenvalues: not finite");
    factorise(n, rank, a, factor, left);
    bb_gram_rows(rank, n, 1.0, factor, small);
    memset(value, 0, (n - rank) * sizeof *value);
    const bb_status status = bb_eigen(rank, small, last, small + rank * rank);
    if (status || !vector) return status;
    bb_product(rank, rank, n, 1.0, small, factor, 0.0, vector);
    for (size_t k = 0; k < rank; k++) {
        const bool there = last[k] > negligible * (double)n * last[rank - 1];
        bb_scale(n, there ? 1.0 / bb_norm(n, vector + k * n) : 0.0, vector + k * n);
    }
    return BB_OK;
}
