#include "linalg/kernel.h"
#include "linalg/linalg.h"

#include <string.h>

/* Where row i's strip begins. */
static size_t start_of(size_t i) {
    return i / BB_KERNEL_LANES * BB_KERNEL_LANES;
}

size_t bb_strips_length(size_t n) {
    size_t length = 0;
    for (size_t i = 0; i < n; i++) length += n - start_of(i);
    return length;
}

void bb_strips_pack(size_t n, const double *A, double *S) {
    for (size_t i = 0; i < n; i++) {
        const size_t from = start_of(i), count = n - from;
        memcpy(S, A + i * n + from, count * sizeof *S);
        S += count;
    }
}

void bb_strips_move(size_t n, const double *S, const double *f, const double *p,
                    double *out, double *work) {
    const double *row = S;
    double *last = work; /* column */
    for (size_t i = 0; i < n; i++) {
        row += n - start_of(i);
        last[i] = row[-1];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = start_of(i); k < n; k++)
            *out++ = f[i] * f[k] * *S++ - f[i] * p[k] * last[i] -
                     p[i] * (f[k] * last[k] - p[k] * last[n - 1]);
}

void bb_strips_unpack(size_t n, const double *S, double *A) {
    for (size_t i = 0; i < n; i++) {
        const size_t from = start_of(i), count = n - from;
        for (size_t k = 0; k < from; k++) A[i * n + k] = A[k * n + i];
        memcpy(A + i * n + from, S, count * sizeof *S);
        S += count;
    }
}

void bb_strips_slope(size_t n, const double *S, const double *x, const double *c,
                     double *y) {
    bb_kernel_pick()->strips_slope(n, S, x, c, y);
}

void bb_accelerated_step(size_t d, const double *M, const double *S, const double *c,
                         double beta, double step, double ridge, double *w,
                         double *previous, double *work) {
    bb_kernel_pick()->accelerated_step(d, M, S, c, beta, step, ridge, w, previous,
                                       work);
}

bool bb_strips_solve(size_t n, const double *S, const double *diagonal, double *b) {
    return bb_kernel_pick()->small_shifted(n, true, S, diagonal, b);
}
