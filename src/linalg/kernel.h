/* kernel.h - inside the room: the inner loops, compiled once for each instruction set.
 *
 * Sums run in eight lanes that are folded in a fixed order, and multiplications are
 * never fused into additions, so every variant gives the same bits. */
#ifndef BB_LINALG_KERNEL_H
#define BB_LINALG_KERNEL_H

#include "linalg/eight.h"

#include <stdbool.h>
#include <stddef.h>

enum { BB_KERNEL_LANES = 8, BB_KERNEL_SMALL = 64 };

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
    /* x <- ln x; ln(1 + x) and exp x, the sums of which are returned. */
    void (*log_all)(size_t n, double *x);
    double (*log_plus_all)(size_t n, double *x);
    double (*exp_all)(size_t n, double *x);
    /* kernel_small.h */
    void (*small_product)(size_t rows, size_t depth, size_t columns, double a,
                          const double *A, size_t down, size_t along, const double *B,
                          size_t from, size_t across, double b, bool upper, double *C);
    size_t (*small_cholesky)(size_t n, double *A);
    void (*small_solve)(size_t n, const double *U, double *b);
    void (*small_forms)(size_t n, const double *U, size_t count, const double *B,
                        double *form);
    bool (*small_shifted)(size_t n, bool strips, const double *A,
                          const double *diagonal, double *b);
    /* kernel_invert.h */
    size_t (*small_invert)(size_t n, double *A);
    /* v <- factor v, rounded toward zero, below 2^51; returns the sum of its squares. */
    double (*round_down)(size_t n, double factor, double *v);
    /* kernel_strips.h */
    void (*strips_slope)(size_t d, const double *S, const double *x, const double *c,
                         double *y);
    void (*accelerated_step)(size_t d, const double *M, const double *S,
                             const double *c, double beta, double step, double ridge,
                             double *w, double *previous, double *z);
    /* kernel_eigen.h */
    bool (*small_eigen)(size_t n, size_t stride, double *A, double *value, double *Z,
                        size_t *order, double *work);
    /* kernel_tridiagonal.h */
    void (*tridiagonal)(size_t n, size_t stride, double *A, double *factor,
                        double *diagonal, double *beside, double *work);
    void (*reflect)(bool back, size_t n, size_t stride, const double *V,
                    const double *factor, double *x);
    /* Of one or two times eight shifts, and of one or of BB_TRIDIAGONAL_SIDES sides. */
    void (*shifts_weigh)(size_t groups, size_t sides, size_t n, const double *diagonal,
                         const double *beside, const double *c, const double *shift,
                         double *log_det, double *form);
    void (*shifts_inverse)(size_t groups, size_t n, const double *diagonal,
                           const double *beside, const double *c, const double *shift,
                           double *explained, double *square, double *trace,
                           double *work);
    void (*shifts_average)(size_t groups, size_t sides, size_t n,
                           const double *diagonal, const double *beside,
                           const double *c, const double *shift, const double *share,
                           double *out, double *work);
    /* kernel_rows.h */
    void (*rows_turn)(size_t width, size_t n, size_t stride, const double *V,
                      const double *factor, double *X);
    void (*shifts_table)(size_t n, const double *diagonal, const double *beside,
                         const double *c, const double *shift, double *table);
    double (*rows_left_out)(size_t width, size_t n, const double *table,
                            const double *X, const double *y, double whole,
                            double weight, double least);
    /* kernel_eight.h, for eight.h */
    void (*eight_predict)(bb_eight *e);
    void (*eight_look)(bb_eight *e, const double *t);
    void (*eight_direction)(bb_eight *e);
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
