/* tridiagonal.h - (A + shift I) x = c for one symmetric positive semidefinite matrix and
 * many shifts: A = Q T Q' with T tridiagonal (Householder 1958; Golub and Van Loan 2013,
 * 8.3.1), once, in 4/3 n^3 multiplications; then every shift is a factorisation L D L'
 * of T + shift I, in O(n), and no eigenvalue is needed. Own loops for every n: the same
 * bits on every x86-64, wherever arrays lie. */
#ifndef BB_LINALG_TRIDIAGONAL_H
#define BB_LINALG_TRIDIAGONAL_H

#include "base/status.h"

#include <stddef.h>

typedef struct bb_tridiagonal {
    size_t n, stride;
    double *reflector; /* n x stride: Q = H_0 H_1 .., H_k = I - factor_k v_k v_k' */
    double *factor;    /* n */
    double *diagonal;  /* n: of T */
    double *beside;    /* n: its other diagonal, then 0 */
    double *work;
} bb_tridiagonal;

/* Doubles of room of a matrix, which the functions below work in, too. */
size_t bb_tridiagonal_length(size_t n);
/* Of these the first are the matrix; kept (bytes and all, anywhere), they become one again,
 * with a work of bb_tridiagonal_length - bb_tridiagonal_kept doubles. */
size_t bb_tridiagonal_kept(size_t n);
bb_tridiagonal bb_tridiagonal_again(size_t n, double *kept, double *work);
/* A (n x n, symmetric) is read once. BB_ENUMERIC if it is not finite. */
BB_MUST_CHECK bb_status bb_tridiagonal_open(bb_tridiagonal *t, size_t n,
                                            const double *A, double *room);
/* x (n) <- Q'x, and Q x. O(n^2). */
void bb_tridiagonal_into(const bb_tridiagonal *t, double *x);
void bb_tridiagonal_back(const bb_tridiagonal *t, double *x);

/* A shift below 8 n epsilon times the largest of T's diagonal, which rounding would lose,
 * counts as that much.
 * For `count` shifts > 0, c (n) = Q' times the right-hand side: log_det <- ln det(I +
 * A / shift), explained <- c'(T + shift I)^-1 c. O(n count). */
void bb_tridiagonal_weigh(const bb_tridiagonal *t, const double *c, size_t count,
                          const double *shift, double *log_det, double *explained);
/* The same with square <- ||(T + shift I)^-1 c||^2, trace <- that of (T + shift I)^-1, the
 * slope of the factorisation's log determinant, `count' numbers each. O(n count). */
void bb_tridiagonal_inverse(const bb_tridiagonal *t, const double *c, size_t count,
                            const double *shift, double *explained, double *square,
                            double *trace);
/* Rows left out, for `count` shifts > 0, each with its `whole' and `least': error (count)
 * gains the sum of squares of (y_j - x_j'(A + shift I)^-1 Q c) / max(whole - weight x_j'(A +
 * shift I)^-1 x_j, least) over `rows`
 * columns x_j of X (n x w, w the next multiple of 8; zeros behind them; destroyed), y alike. table:
 * bb_tridiagonal_table, which depends on n and count, for all rows. O(n^2 + n count) a row. */
enum { BB_TRIDIAGONAL_ROWS = 32 };
size_t bb_tridiagonal_table_length(size_t n, size_t count);
void bb_tridiagonal_table(const bb_tridiagonal *t, const double *c, size_t count,
                          const double *shift, double *table);
void bb_tridiagonal_left_out(const bb_tridiagonal *t, const double *table, size_t count,
                             size_t rows, double *X, const double *y,
                             const double *whole, double weight, const double *least,
                             double *error);
/* x (n) <- the sum of share (T + shift I)^-1 c. O(n count). */
void bb_tridiagonal_average(const bb_tridiagonal *t, const double *c, size_t count,
                            const double *shift, const double *share, double *x);

/* Four right sides at once, columns of C (n x 8, the others zero): C <- Q'C, O(n^2); then as
 * above, form (BB_TRIDIAGONAL_FORMS x count) <- c_a'(T + shift I)^-1 c_b for a, b = 00, 11,
 * 22, 33, 20, 21, 30, 31; and x <- the sum of (T + shift I)^-1 times the sum of sides by
 * share (BB_TRIDIAGONAL_SIDES x count). */
enum { BB_TRIDIAGONAL_SIDES = 4, BB_TRIDIAGONAL_FORMS = 8 };
void bb_tridiagonal_into_sides(const bb_tridiagonal *t, double *C);
void bb_tridiagonal_weigh_sides(const bb_tridiagonal *t, const double *C, size_t count,
                                const double *shift, double *log_det, double *form);
void bb_tridiagonal_average_sides(const bb_tridiagonal *t, const double *C,
                                  size_t count, const double *shift,
                                  const double *share, double *x);

#endif
