/* linalg.h - the dense linear algebra Billboard needs: BLAS and LAPACK with sizes
 * checked, workspaces given by the caller, and one thread inside (parallelism is over
 * tasks).
 *
 * Matrices are row-major and contiguous. Symmetric matrices are stored in full, but for
 * those in strips. Results
 * depend on the numbers alone, never on where the arrays lie in memory. */
#ifndef BB_LINALG_LINALG_H
#define BB_LINALG_LINALG_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Makes OpenBLAS use the right kernels for this processor (as packaged it mistakes
 * recent Intel servers for a Prescott and runs five times slower) and one thread: those
 * that it has started, which spin at first, are ended. A program calls it at its start,
 * else the first function that needs OpenBLAS does. OPENBLAS_CORETYPE, where the user has
 * set it, is respected. BB_EUSAGE if the OpenBLAS found is the sequential one, which gives
 * wrong numbers in a program with threads. */
BB_MUST_CHECK bb_status bb_linalg_start(void);
/* Whether OpenBLAS can be used, which the functions below take for granted: what opens
 * something that will compute asks first (bb_local_open, bb_models_outputs, a door). Starts
 * it at the first call; cheap afterwards. Errors of bb_linalg_start. Any thread. */
BB_MUST_CHECK bb_status bb_linalg_ready(void);
/* For a library in a process that is somebody else's: OpenBLAS as it is, with the kernels
 * that it has, and one thread until as many bb_linalg_return as bb_linalg_borrow were
 * called, by any threads; then as many threads as before. No environment variable is
 * changed. BB_EUSAGE as bb_linalg_start; then there is nothing to return. */
BB_MUST_CHECK bb_status bb_linalg_borrow(void);
void bb_linalg_return(void);
/* The kernels in use, as OpenBLAS names them: "SkylakeX". */
const char *bb_linalg_core(void);

/* Vectors and matrix times vector: our own loops, the same bits on every x86-64. In the
 * two products y is not read when b = 0. */
double bb_dot(size_t n, const double *x, const double *y);
double bb_norm(size_t n, const double *x); /* ||x||_2 */
bool bb_all_finite(size_t n, const double *x);
void bb_axpy(size_t n, double a, const double *x, double *y); /* y += a x */
void bb_scale(size_t n, double a, double *x);                 /* x *= a */
/* v <- factor v, rounded toward zero to whole numbers; returns the sum of their squares.
 * All factor v_k are below 2^51 in size. */
double bb_round_down(size_t n, double factor, double *v);
/* y <- a A x + b y, A rows x columns. */
void bb_multiply(size_t rows, size_t columns, double a, const double *A,
                 const double *x, double b, double *y);
/* y <- a A' x + b y, A rows x columns, x of length rows. */
void bb_multiply_transposed(size_t rows, size_t columns, double a, const double *A,
                            const double *x, double b, double *y);
/* The logistic loss of n rows: returns sum_j log(1 + exp(-y_j p_j)) and replaces p_j by
 * the derivative -y_j / (1 + exp(y_j p_j)); within a few ulp, and without overflow.
 * `curved` also writes the n second derivatives. y_j in {-1, +1}. */
double bb_logistic(size_t n, const double *y, double *p);
double bb_logistic_curved(size_t n, const double *y, double *p, double *curvature);

/* x <- ln x of positive, normal, finite numbers, within 3e-16 max(1, |ln x|). */
void bb_log(size_t n, double *x);
/* x <- ln(1 + x) of finite numbers that are not negative, within 4 ulp; returns their sum. */
double bb_log_plus(size_t n, double *x);
/* x <- exp x of numbers that are not positive, within 2 ulp, 0 below -708; returns their
 * sum. */
double bb_exp(size_t n, double *x);

/* C <- a A' A + b C, A rows x n, C n x n, both triangles written. */
void bb_gram(size_t rows, size_t n, double a, const double *A, double b, double *C);
/* C <- a A A', A rows x n, C rows x rows, both triangles written. */
void bb_gram_rows(size_t rows, size_t n, double a, const double *A, double *C);
/* C (rows x columns) <- a A B + b C, A rows x depth, B depth x columns. */
void bb_product(size_t rows, size_t depth, size_t columns, double a, const double *A,
                const double *B, double b, double *C);
/* C (rows x columns) <- a A' B + b C, A depth x rows, B depth x columns. */
void bb_product_transposed(size_t rows, size_t depth, size_t columns, double a,
                           const double *A, const double *B, double b, double *C);

/* Eigenvalues, ascending, and eigenvectors of a symmetric matrix (up to order 64 our own
 * loops, the same bits on every x86-64; beyond LAPACK dsyevd).
 * a: n x n, destroyed: on return ROW k of `a` is the eigenvector of value[k].
 * work: bb_eigen_work(n) bytes, aligned to 8. Same input, same bytes. BB_ENUMERIC if it
 * does not converge or an entry is not finite. */
size_t bb_eigen_work(size_t n);
BB_MUST_CHECK bb_status bb_eigen(size_t n, double *a, double *value, void *work);
/* The same without eigenvectors: a is destroyed. work: bb_eigenvalues_work(n) bytes, of
 * which there are no more than bb_eigen_work(n). */
size_t bb_eigenvalues_work(size_t n);
BB_MUST_CHECK bb_status bb_eigenvalues(size_t n, double *a, double *value, void *work);

/* Cholesky: A (n x n, symmetric positive definite, finite) becomes its factor, which
 * bb_cholesky_solve uses: b becomes the solution of A x = b. BB_ENUMERIC if A is not
 * positive definite or not finite. */
BB_MUST_CHECK bb_status bb_cholesky(size_t n, double *A);
void bb_cholesky_solve(size_t n, const double *factor, double *b);
/* B (n x columns) <- U'^-1 B of the factor U: B'B is then what B'A^-1 B was. */
void bb_cholesky_whiten(size_t n, const double *factor, size_t columns, double *B);
/* form_j <- b_j' A^-1 b_j of the `count` rows b_j of B (count x n), which loses what it held. */
void bb_cholesky_forms(size_t n, const double *factor, size_t count, double *B,
                       double *form);
/* A becomes its inverse, both triangles; requirements and errors of bb_cholesky. work:
 * bb_invert_work(n) bytes, aligned to 8. */
size_t bb_invert_work(size_t n);
BB_MUST_CHECK bb_status bb_invert_spd(size_t n, double *A, void *work);
/* Both at once: solves A x = b, A and b are destroyed, b becomes x. */
BB_MUST_CHECK bb_status bb_solve_spd(size_t n, double *A, double *b);

/* b <- (A + diag(diagonal))^-1 b of a small matrix, n <= BB_LINALG_SMALL, symmetric, of which
 * the upper triangle is read. False, and b as it was, where that is not positive definite or
 * not finite. */
enum { BB_LINALG_SMALL = 64 };
bool bb_solve_shifted(size_t n, const double *A, const double *diagonal, double *b);

/* A symmetric matrix in strips of eight rows, every row from the first of its strip's own
 * eight columns on: bb_strips_length(n) numbers, few more than half of n x n, where one
 * matrix of many comes from memory again and again. pack reads what it keeps of A (n x n),
 * unpack writes all of it. O(n^2). */
size_t bb_strips_length(size_t n);
void bb_strips_pack(size_t n, const double *A, double *S);
void bb_strips_unpack(size_t n, const double *S, double *A);
/* out <- T S T' with T = diag(f) - p e', e the last unit vector, p 0 there: X'X of rows whose
 * columns are multiplied by f, with p times the last column taken off. Not in place. work:
 * n. */
void bb_strips_move(size_t n, const double *S, const double *f, const double *p,
                    double *out, double *work);
/* y <- S x - c, the slope of 1/2 x'Sx - c'x. Own loops, the same bits on every x86-64. */
void bb_strips_slope(size_t n, const double *S, const double *x, const double *c,
                     double *y);
/* A step of accelerated proximal gradients for that function: hat = M w (M d x d,
 * symmetric), z = hat + beta (hat - previous), previous <- hat,
 * w <- z - step (S z - c + ridge z). work: 2 d. */
void bb_accelerated_step(size_t d, const double *M, const double *S, const double *c,
                         double beta, double step, double ridge, double *w,
                         double *previous, double *work);
/* As bb_solve_shifted. */
bool bb_strips_solve(size_t n, const double *S, const double *diagonal, double *b);

/* out (n x n) <- sum_k f_k u_k u_k', u_k the rows of `vector` (count x n). work: count*n
 * doubles. */
void bb_spectral(size_t n, size_t count, const double *vector, const double *f,
                 double *out, double *work);

#endif
