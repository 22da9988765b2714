/* matrix_prox.h - proximal operators of matrices, by definition: what the optima of
 * methods are fixed points of. m x p, row-major, a task a row; in place. */
#ifndef BB_TESTS_MATRIX_PROX_H
#define BB_TESTS_MATRIX_PROX_H

#include "linalg/linalg.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static inline double matrix_shrink(double length, double theta) {
    return length > theta ? 1 - theta / length : 0;
}

/* R = sum over the p features of the norm of their column (Liu, Ji, Ye 2009). */
static inline void matrix_prox_l21(size_t m, size_t p, double *w, double theta) {
    for (size_t k = 0; k < p; k++) {
        double square = 0;
        for (size_t i = 0; i < m; i++) square += w[i * p + k] * w[i * p + k];
        for (size_t i = 0; i < m; i++)
            w[i * p + k] *= matrix_shrink(sqrt(square), theta);
    }
}

/* R = sum of singular values (Ji, Ye 2009), through the eigenproblem of W'W. */
static inline void matrix_prox_trace(size_t m, size_t p, double *w, double theta) {
    double *gram = calloc(3 * p * p + p + m * p, sizeof *gram);
    void *work = aligned_alloc(64, (bb_eigen_work(p) + 63) / 64 * 64);
    assert_non_null(gram);
    assert_non_null(work);
    double *P = gram + p * p, *scratch = P + p * p, *value = scratch + p * p;
    double *copy = value + p;
    for (size_t k = 0; k < m * p; k++) copy[k] = w[k];
    bb_gram(m, p, 1, w, 0, gram);
    assert_ok(bb_eigen(p, gram, value, work));
    for (size_t k = 0; k < p; k++)
        value[k] = matrix_shrink(sqrt(fmax(0, value[k])), theta);
    bb_spectral(p, p, gram, value, P, scratch);
    bb_product(m, p, p, 1, copy, P, 0, w);
    free(work);
    free(gram);
}

#endif
