#include "linalg/prox.h"

#include "base/memory.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double bb_soft(double value, double theta) {
    if (value > theta) return value - theta;
    if (value < -theta) return value + theta;
    return isnan(value) ? value : 0;
}

void bb_prox_l1(size_t n, double *w, double theta) {
    for (size_t k = 0; k < n; k++) w[k] = bb_soft(w[k], theta);
}

/* The factor that shortens a vector of this length by theta. */
static double shrink(double length, double theta) {
    if (length > theta) return 1 - theta / length;
    return isnan(length) ? length : 0;
}

bb_status bb_prox_l21(size_t m, size_t p, double *w, double theta) {
    double *factor = NULL;
    bb_status status = bb_allocate(&factor, p, sizeof *factor, "column norms");
    if (status) return status;
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < p; k++) factor[k] += w[i * p + k] * w[i * p + k];
    for (size_t k = 0; k < p; k++)
        if (!isfinite(factor[k])) status = BB_ENUMERIC;
    if (status) {
        status = bb_fail(status, "group threshold: the models are not finite");
        goto done;
    }
    for (size_t k = 0; k < p; k++) factor[k] = shrink(sqrt(factor[k]), theta);
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < p; k++) w[i * p + k] *= factor[k];
done:
    free(factor);
    return status;
}

/* W <- P W (P m x m) or W P (P p x p), through `copy` (m x p). */
static void project(size_t m, size_t p, const double *P, double *w, double *copy) {
    memcpy(copy, w, m * p * sizeof *w);
    if (m < p)
        bb_product(m, m, p, 1, P, copy, 0, w);
    else
        bb_product(m, p, p, 1, copy, P, 0, w);
}

bb_status bb_prox_trace(size_t m, size_t p, double *w, double theta) {
    const size_t n = m < p ? m : p;
    if (n == 0) return BB_OK;
    bb_arena arena = {0};
    bb_arena_need(&arena, 3 * n * n + n, sizeof(double));
    bb_arena_need(&arena, bb_eigen_work(n), 1);
    bb_arena_need(&arena, m, p * sizeof(double));
    bb_status status = bb_arena_open(&arena, "singular value threshold");
    if (status) return status;
    double *gram = bb_arena_take(&arena, 3 * n * n + n, sizeof(double));
    double *P = gram + n * n, *scratch = P + n * n, *value = scratch + n * n;
    void *work = bb_arena_take(&arena, bb_eigen_work(n), 1);
    double *copy = bb_arena_take(&arena, m, p * sizeof(double));
    if (m < p)
        bb_gram_rows(m, p, 1, w, gram);
    else
        bb_gram(m, p, 1, w, 0, gram);
    status = bb_eigen(n, gram, value, work);
    if (status) goto done;
    for (size_t k = 0; k < n; k++) value[k] = shrink(sqrt(fmax(0, value[k])), theta);
    bb_spectral(n, gram, value, P, scratch);
    project(m, p, P, w, copy);
done:
    bb_arena_close(&arena);
    return status;
}
