/* kernel.h - inside the room: the inner loops, compiled once for each instruction set.
 *
 * Sums run in eight lanes that are folded in a fixed order, and multiplications are
 * never fused into additions, so every variant gives the same bits. */
#ifndef BB_LINALG_KERNEL_H
#define BB_LINALG_KERNEL_H

#include <stddef.h>

typedef struct bb_kernel {
    double (*dot)(size_t n, const double *x, const double *y);
    void (*axpy)(size_t n, double a, const double *x, double *y);
    /* y <- a A x + b y, A rows x columns; y is not read if b = 0. */
    void (*multiply)(size_t rows, size_t columns, double a, const double *A,
                     const double *x, double b, double *y);
    /* y <- a A' x + b y, A rows x columns; y is not read if b = 0. */
    void (*multiply_transposed)(size_t rows, size_t columns, double a, const double *A,
                                const double *x, double b, double *y);
    double (*logistic)(size_t n, const double *y, double *p);
    double (*logistic_curved)(size_t n, const double *y, double *p, double *curvature);
} bb_kernel;

extern const bb_kernel bb_kernel_baseline;
extern const bb_kernel bb_kernel_avx2;
extern const bb_kernel bb_kernel_avx512;

/* The best kernels this processor can run, and the OpenBLAS cores that suit it: the one
 * to ask for comes first; NULL when OpenBLAS knows better. Cheap: a test of a few bits.
 */
const bb_kernel *bb_kernel_pick(void);
const char *const *bb_kernel_cores(void);

#endif
