#include "linalg/kernel.h"

#include "linalg/linalg.h"

#include <math.h>

double bb_dot(size_t n, const double *x, const double *y) {
    return bb_kernel_pick()->dot(n, x, y);
}

bool bb_all_finite(size_t n, const double *x) {
    for (size_t k = 0; k < n; k++)
        if (!isfinite(x[k])) return false;
    return true;
}

double bb_norm(size_t n, const double *x) {
    const double square = bb_dot(n, x, x);
    if (square > 1e-280 && square < 1e280) return sqrt(square);
    double largest = 0, sum = 0;
    for (size_t k = 0; k < n; k++) {
        if (isnan(x[k])) return x[k];
        largest = fmax(largest, fabs(x[k]));
    }
    if (largest == 0 || isinf(largest)) return largest;
    for (size_t k = 0; k < n; k++) sum += (x[k] / largest) * (x[k] / largest);
    return largest * sqrt(sum);
}

void bb_axpy(size_t n, double a, const double *x, double *y) {
    bb_kernel_pick()->axpy(n, a, x, y);
}

void bb_scale(size_t n, double a, double *x) {
    for (size_t k = 0; k < n; k++) x[k] *= a;
}

double bb_round_down(size_t n, double factor, double *v) {
    return bb_kernel_pick()->round_down(n, factor, v);
}

void bb_multiply(size_t rows, size_t columns, double a, const double *A,
                 const double *x, double b, double *y) {
    bb_kernel_pick()->multiply(rows, columns, a, A, x, b, y);
}

void bb_multiply_transposed(size_t rows, size_t columns, double a, const double *A,
                            const double *x, double b, double *y) {
    bb_kernel_pick()->multiply_transposed(rows, columns, a, A, x, b, y);
}

double bb_logistic(size_t n, const double *y, double *p) {
    return bb_kernel_pick()->logistic(n, y, p);
}

double bb_logistic_curved(size_t n, const double *y, double *p, double *curvature) {
    return bb_kernel_pick()->logistic_curved(n, y, p, curvature);
}

void bb_log(size_t n, double *x) {
    bb_kernel_pick()->log_all(n, x);
}

double bb_log_plus(size_t n, double *x) {
    return bb_kernel_pick()->log_plus_all(n, x);
}

double bb_exp(size_t n, double *x) {
    return bb_kernel_pick()->exp_all(n, x);
}

void bb_eight_predict(bb_eight *e) {
    bb_kernel_pick()->eight_predict(e);
}

void bb_eight_look(bb_eight *e, const double *t) {
    bb_kernel_pick()->eight_look(e, t);
}

void bb_eight_direction(bb_eight *e) {
    bb_kernel_pick()->eight_direction(e);
}

bool bb_solve_shifted(size_t n, const double *A, const double *diagonal, double *b) {
    return bb_kernel_pick()->small_shifted(n, false, A, diagonal, b);
}
