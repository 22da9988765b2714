#include "base/memory.h"
#include "linalg/kernel.h"
#include "linalg/linalg.h"

#include <cblas.h>

#include <assert.h>
#include <lapack.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* OpenBLAS exports these two without declaring them. */
void gotoblas_dynamic_init(void);
void gotoblas_dynamic_quit(void);

static int suits(const char *core, const char *const *list) {
    for (; *list; list++)
        if (!strcmp(core, *list)) return 1;
    return 0;
}

bb_status bb_linalg_start(void) {
    const char *const *cores = bb_kernel_cores();
    if (cores && !getenv("OPENBLAS_CORETYPE") &&
        !suits(openblas_get_corename(), cores)) {
        if (setenv("OPENBLAS_CORETYPE", cores[0], 1))
            return bb_fail(BB_ENOMEM, "no memory for an environment variable");
        gotoblas_dynamic_quit();
        gotoblas_dynamic_init();
    }
    openblas_set_num_threads(1);
    if (openblas_get_parallel() == OPENBLAS_SEQUENTIAL)
        return bb_fail(BB_EUSAGE,
                       "this OpenBLAS is the sequential one, which is not safe in a "
                       "program with threads; install libopenblas0-pthread");
    return BB_OK;
}

const char *bb_linalg_core(void) {
    return openblas_get_corename();
}

/* BLAS and LAPACK count in int. */
static int as_int(size_t n) {
    assert(n <= INT_MAX);
    return (int)n;
}

static void mirror(size_t n, double *C) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) C[k * n + i] = C[i * n + k];
}

void bb_gram(size_t rows, size_t n, double a, const double *A, double b, double *C) {
    if (n == 0) return;
    const int order = as_int(n);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, order, as_int(rows), a, A, order,
                b, C, order);
    mirror(n, C);
}

void bb_gram_rows(size_t rows, size_t n, double a, const double *A, double *C) {
    if (rows == 0) return;
    const int order = as_int(rows), depth = as_int(n);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, order, depth, a, A,
                depth ? depth : 1, 0, C, order);
    mirror(rows, C);
}

static void product(CBLAS_TRANSPOSE transpose, size_t rows, size_t depth,
                    size_t columns, double a, const double *A, const double *B,
                    double b, double *C) {
    if (rows == 0 || columns == 0) return;
    const size_t width = transpose == CblasNoTrans ? depth : rows;
    cblas_dgemm(CblasRowMajor, transpose, CblasNoTrans, as_int(rows), as_int(columns),
                as_int(depth), a, A, width ? as_int(width) : 1, B, as_int(columns), b,
                C, as_int(columns));
}

void bb_product(size_t rows, size_t depth, size_t columns, double a, const double *A,
                const double *B, double b, double *C) {
    product(CblasNoTrans, rows, depth, columns, a, A, B, b, C);
}

void bb_product_transposed(size_t rows, size_t depth, size_t columns, double a,
                           const double *A, const double *B, double b, double *C) {
    product(CblasTrans, rows, depth, columns, a, A, B, b, C);
}

static bb_status check_finite(size_t count, const double *a, const char *what) {
    for (size_t k = 0; k < count; k++)
        if (!isfinite(a[k]))
            return bb_fail(BB_ENUMERIC, "%s: the matrix has an entry %g", what, a[k]);
    return BB_OK;
}

static size_t eigen_doubles(size_t n) {
    return 1 + 6 * n + 2 * n * n;
}

size_t bb_eigen_work(size_t n) {
    return eigen_doubles(n) * sizeof(double) + (3 + 5 * n) * sizeof(lapack_int);
}

/* LAPACK's column-major view of a symmetric matrix is the matrix, and its eigenvectors,
 * which it writes into columns, are our rows. */
static bb_status eigen(const char *job, size_t n, double *a, double *value,
                       double *work, size_t doubles, size_t integers) {
    if (n == 0) return BB_OK;
    const bb_status status = check_finite(n * n, a, "eigenvalues");
    if (status) return status;
    const lapack_int order = as_int(n), room = as_int(doubles),
                     integer_room = as_int(integers);
    lapack_int info = 0;
    void *integer_work = work + doubles;
    LAPACK_dsyevd(job, "L", &order, a, &order, value, work, &room, integer_work,
                  &integer_room, &info);
    assert(info >= 0);
    if (info > 0)
        return bb_fail(BB_ENUMERIC, "eigenvalues of a %zu x %zu matrix do not converge",
                       n, n);
    return BB_OK;
}

bb_status bb_eigen(size_t n, double *a, double *value, void *work) {
    return eigen("V", n, a, value, work, eigen_doubles(n), 3 + 5 * n);
}

bb_status bb_eigenvalues(size_t n, double *a, double *value, void *work) {
    return eigen("N", n, a, value, work, 2 * n + 1, 1);
}

bb_status bb_cholesky(size_t n, double *A) {
    if (n == 0) return BB_OK;
    const lapack_int order = as_int(n);
    lapack_int info = 0;
    LAPACK_dpotrf("L", &order, A, &order, &info);
    assert(info >= 0);
    /* A NaN passes LAPACK's own test on some kernels. */
    for (size_t k = 0; k < n && !info; k++)
        if (!(A[k * n + k] > 0 && isfinite(A[k * n + k]))) info = (lapack_int)(k + 1);
    if (info)
        return bb_fail(BB_ENUMERIC,
                       "a %zu x %zu matrix is not positive definite (row %d)", n, n,
                       (int)info);
    return BB_OK;
}

void bb_cholesky_solve(size_t n, const double *L, double *b) {
    if (n == 0) return;
    const int order = as_int(n);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, order, L, order,
                b, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, order, L, order, b,
                1);
}

bb_status bb_invert_spd(size_t n, double *A) {
    const bb_status status = bb_cholesky(n, A);
    if (status || n == 0) return status;
    const lapack_int order = as_int(n);
    lapack_int info = 0;
    LAPACK_dpotri("L", &order, A, &order, &info);
    assert(info == 0);
    mirror(n, A);
    return BB_OK;
}

bb_status bb_solve_spd(size_t n, double *A, double *b) {
    const bb_status status = bb_cholesky(n, A);
    if (!status) bb_cholesky_solve(n, A, b);
    return status;
}

/* out <- a sum of |f_k| u_k u_k' over the k with f_k of the sign of a, + b out. */
static void spectral_part(size_t n, const double *vector, const double *f, double a,
                          double b, double *out, double *work) {
    size_t used = 0;
    for (size_t k = 0; k < n; k++) {
        if (!(f[k] * a > 0)) continue;
        const double root = sqrt(fabs(f[k]));
        for (size_t i = 0; i < n; i++) work[used * n + i] = root * vector[k * n + i];
        used++;
    }
    if (used || b == 0) bb_gram(used, n, a, work, b, out);
}

void bb_spectral(size_t n, const double *vector, const double *f, double *out,
                 double *work) {
    spectral_part(n, vector, f, 1, 0, out, work);
    spectral_part(n, vector, f, -1, 1, out, work);
}
