#include "linalg/kernel.h"
#include "linalg/linalg.h"

#include <cblas.h>

#include <assert.h>
#include <lapack.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Both are set by the first `enter'. */
static bool steady; /* results do not depend on where arrays lie */
static bb_status started;

/* OpenBLAS exports these without declaring them, the last one where it has threads. */
void gotoblas_dynamic_init(void);
void gotoblas_dynamic_quit(void);
int blas_thread_shutdown_(void) __attribute__((weak));

static int suits(const char *core, const char *const *list) {
    for (; *list; list++)
        if (!strcmp(core, *list)) return 1;
    return 0;
}

static bb_status check_threads(void) {
    if (openblas_get_parallel() != OPENBLAS_SEQUENTIAL) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "this OpenBLAS is the sequential one, which is not safe in a "
                   "program with threads; install libopenblas0-pthread");
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
    /* Those that it started when it was loaded wait for work with all their might. */
    if (blas_thread_shutdown_) (void)blas_thread_shutdown_();
    return check_threads();
}

/* -- of somebody else's process -- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t borrowers;
static int their_threads; /* before the first of them */

bb_status bb_linalg_borrow(void) {
    const bb_status status = check_threads();
    if (status) return status;
    pthread_mutex_lock(&lock);
    if (borrowers++ == 0) {
        their_threads = openblas_get_num_threads();
        if (their_threads != 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
    return BB_OK;
}

void bb_linalg_return(void) {
    pthread_mutex_lock(&lock);
    assert(borrowers);
    if (--borrowers == 0 && their_threads != 1) openblas_set_num_threads(their_threads);
    pthread_mutex_unlock(&lock);
}

static bool is_borrowed(void) {
    pthread_mutex_lock(&lock);
    const bool borrowed = borrowers > 0;
    pthread_mutex_unlock(&lock);
    return borrowed;
}

static bool is_steady(void) {
    static const char *const cores[] = {"Haswell", "Zen", NULL};
    return suits(openblas_get_corename(), cores);
}

/* Of one's own process, or of somebody else's. */
static bb_status start(void) {
    return is_borrowed() ? check_threads() : bb_linalg_start();
}

static void start_once(void) {
    started = start();
    steady = is_steady();
}

static void begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_once);
}

bb_status bb_linalg_ready(void) {
    begin();
    return started ? start() : BB_OK; /* messages belong to threads */
}

/* Every function that reaches OpenBLAS comes through here. */
static void enter(void) {
    begin();
    assert(!started); /* whoever opens what computes has asked whether it is ready */
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

/* Up to this order matrices are worked on by own loops: no call of OpenBLAS for each of
 * many small tasks. */
static bool is_small(size_t rows, size_t columns) {
    return rows <= BB_KERNEL_SMALL && columns <= BB_KERNEL_SMALL;
}

void bb_gram(size_t rows, size_t n, double a, const double *A, double b, double *C) {
    if (n == 0) return;
    if (is_small(n, n)) {
        bb_kernel_pick()->small_product(n, rows, n, a, A, 1, n, A, n, 1, b, true, C);
        mirror(n, C);
        return;
    }
    enter();
    const int order = as_int(n);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, order, as_int(rows), a, A, order,
                b, C, order);
    mirror(n, C);
}

void bb_gram_rows(size_t rows, size_t n, double a, const double *A, double *C) {
    if (rows == 0) return;
    if (is_small(rows, rows)) {
        bb_kernel_pick()->small_product(rows, n, rows, a, A, n, 1, A, 1, n, 0, true, C);
        mirror(rows, C);
        return;
    }
    enter();
    const int order = as_int(rows), depth = as_int(n);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, order, depth, a, A,
                depth ? depth : 1, 0, C, order);
    mirror(rows, C);
}

static void product(CBLAS_TRANSPOSE transpose, size_t rows, size_t depth,
                    size_t columns, double a, const double *A, const double *B,
                    double b, double *C) {
    if (rows == 0 || columns == 0) return;
    const bool turned = transpose != CblasNoTrans;
    const size_t width = turned ? rows : depth;
    if (is_small(rows, columns)) {
        bb_kernel_pick()->small_product(rows, depth, columns, a, A, turned ? 1 : depth,
                                        turned ? rows : 1, B, columns, 1, b, false, C);
        return;
    }
    enter();
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
    if (isfinite(bb_dot(count, a, a))) return BB_OK; /* their squares may not be */
    for (size_t k = 0; k < count; k++)
        if (!isfinite(a[k]))
            return bb_fail(BB_ENUMERIC, "%s: the matrix has an entry %g", what, a[k]);
    return BB_OK;
}

/* LAPACK's loops over vectors add in an order that depends on where their arrays lie,
 * with the kernels of some processors: it works on copies that always lie alike. */
enum { LINE = 64, SLACK = LINE / sizeof(double) };

/* The first double at or after `work` that begins a line of the cache. */
static double *aligned(void *work) {
    const size_t past = (uintptr_t)work % LINE;
    return (double *)work + (past ? LINE - past : 0) / sizeof(double);
}

/* -- eigenvalues -- */

static size_t vector_doubles(size_t n) {
    return 1 + 6 * n + 2 * n * n;
}

static size_t value_doubles(size_t n) {
    return 2 * n + 1;
}

/* Rows of own loops, in whole vectors. */
static size_t stride_of(size_t n) {
    return (n + BB_KERNEL_LANES - 1) / BB_KERNEL_LANES * BB_KERNEL_LANES;
}

/* Of small_eigen: this many matrices, and its work. */
static size_t small_doubles(size_t n, size_t matrices) {
    return n <= BB_KERNEL_SMALL ? (matrices * n + 2) * stride_of(n) + 2 * n : 0;
}

static size_t bytes_for(size_t doubles, size_t small, size_t integers) {
    const size_t most = doubles > small ? doubles : small;
    return (SLACK + most) * sizeof(double) + integers * sizeof(lapack_int);
}

size_t bb_eigen_work(size_t n) {
    return bytes_for(n * n + n + vector_doubles(n), small_doubles(n, 2), 3 + 5 * n);
}

size_t bb_eigenvalues_work(size_t n) {
    return bytes_for(n * n + n + value_doubles(n), small_doubles(n, 1), 2);
}

/* A power of two that brings the largest entry near one. */
static double scale_of(size_t count, const double *a) {
    double most = 0;
    int exponent;
    for (size_t k = 0; k < count; k++) most = fabs(a[k]) > most ? fabs(a[k]) : most;
    if (most == 0) return 1;
    (void)frexp(most, &exponent);
    return ldexp(1, exponent < -1000 ? 1000 : -exponent);
}

static bb_status no_convergence(size_t n) {
    return bb_fail(BB_ENUMERIC, "eigenvalues of a %zu x %zu matrix do not converge", n,
                   n);
}

/* By our own loops; the upper triangle counts. */
static bb_status eigen_small(bool vectors, size_t n, double *a, double *value,
                             void *work) {
    const size_t stride = stride_of(n);
    double *A = work, *Z = vectors ? A + n * stride : NULL;
    double *room = A + (vectors ? 2 : 1) * n * stride;
    const double scale = scale_of(n * n, a);
    size_t order[BB_KERNEL_SMALL];
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i; k < n; k++)
            A[i * stride + k] = A[k * stride + i] = scale * a[i * n + k];
        memset(A + i * stride + n, 0, (stride - n) * sizeof *A);
    }
    if (!bb_kernel_pick()->small_eigen(n, stride, A, value, Z, order, room))
        return no_convergence(n);
    for (size_t k = 0; k < n; k++) {
        value[k] /= scale;
        if (Z) memcpy(a + k * n, Z + order[k] * stride, n * sizeof *a);
    }
    return BB_OK;
}

/* LAPACK's column-major view of a symmetric matrix is the matrix, and its eigenvectors,
 * which it writes into columns, are our rows. */
static bb_status eigen(const char *job, size_t n, double *a, double *value, void *work,
                       size_t doubles, size_t integers) {
    if (n == 0) return BB_OK;
    const bb_status status = check_finite(n * n, a, "eigenvalues");
    if (status) return status;
    if (n <= BB_KERNEL_SMALL) return eigen_small(*job == 'V', n, a, value, work);
    enter();
    double *A = aligned(work), *found = A + n * n, *room = found + n;
    void *integer_room = room + doubles;
    const lapack_int order = as_int(n), length = as_int(doubles),
                     integer_length = as_int(integers);
    lapack_int info = 0;
    memcpy(A, a, n * n * sizeof *A);
    LAPACK_dsyevd(job, "L", &order, A, &order, found, room, &length, integer_room,
                  &integer_length, &info);
    assert(info >= 0);
    if (info > 0) return no_convergence(n);
    memcpy(a, A, n * n * sizeof *a);
    memcpy(value, found, n * sizeof *value);
    return BB_OK;
}

bb_status bb_eigen(size_t n, double *a, double *value, void *work) {
    return eigen("V", n, a, value, work, vector_doubles(n), 3 + 5 * n);
}

bb_status bb_eigenvalues(size_t n, double *a, double *value, void *work) {
    return eigen("N", n, a, value, work, value_doubles(n), 1);
}

/* -- Cholesky: A = U' U, U in the upper triangle --
 *
 * With the kernels of AVX2 LAPACK's loops over vectors do not mind where arrays lie
 * (tests/linalg/test_alignment.c). Elsewhere: inside blocks by our own loops, between
 * blocks by OpenBLAS's products and solves of whole matrices, which never mind. */
enum { BLOCK = 64 };

/* The n x n block at A, rows of length `stride`; *bad is the first row that fails. */
static bool factorise_block(size_t n, size_t stride, double *A, size_t *bad) {
    for (size_t k = 0; k < n; k++) {
        double *u = A + k * stride;
        *bad = k;
        if (!(u[k] > 0 && isfinite(u[k]))) return false;
        const double root = sqrt(u[k]);
        u[k] = root;
        bb_scale(n - k - 1, 1 / root, u + k + 1);
        for (size_t i = k + 1; i < n; i++)
            bb_axpy(n - i, -u[i], u + i, A + i * stride + i);
    }
    return true;
}

static bb_status not_positive(size_t n, size_t row) {
    return bb_fail(BB_ENUMERIC, "a %zu x %zu matrix is not positive definite (row %zu)",
                   n, n, row);
}

/* LAPACK's lower triangle, by columns, is our upper one. */
static bb_status factorise_whole(size_t n, double *A) {
    const lapack_int order = as_int(n);
    lapack_int info = 0;
    LAPACK_dpotrf("L", &order, A, &order, &info);
    assert(info >= 0);
    /* A NaN passes LAPACK's own test on some kernels. */
    for (size_t k = 0; k < n && !info; k++)
        if (!(A[k * n + k] > 0 && isfinite(A[k * n + k]))) info = (lapack_int)(k + 1);
    return info ? not_positive(n, (size_t)info) : BB_OK;
}

bb_status bb_cholesky(size_t n, double *A) {
    if (n <= BB_KERNEL_SMALL) {
        const size_t bad = bb_kernel_pick()->small_cholesky(n, A);
        return bad < n ? not_positive(n, bad + 1) : BB_OK;
    }
    enter();
    if (steady) return factorise_whole(n, A);
    const int stride = as_int(n);
    for (size_t from = 0, bad; from < n; from += BLOCK) {
        const size_t size = n - from < BLOCK ? n - from : BLOCK;
        const int height = as_int(size), left = as_int(n - from - size);
        double *corner = A + from * n + from, *beside = corner + size;
        if (!factorise_block(size, n, corner, &bad))
            return not_positive(n, from + bad + 1);
        if (left == 0) break;
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit,
                    height, left, 1, corner, stride, beside, stride);
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, left, height, -1, beside,
                    stride, 1, beside + size * n, stride);
    }
    return BB_OK;
}

void bb_cholesky_whiten(size_t n, const double *U, size_t columns, double *B) {
    if (n == 0 || columns == 0) return;
    enter();
    const int order = as_int(n), width = as_int(columns);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, order,
                width, 1, U, order, B, width);
}

void bb_cholesky_forms(size_t n, const double *U, size_t count, double *B,
                       double *form) {
    if (n <= BB_KERNEL_SMALL) {
        bb_kernel_pick()->small_forms(n, U, count, B, form);
        return;
    }
    enter();
    const int order = as_int(n);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit,
                as_int(count), order, 1, U, order, B, order);
    for (size_t j = 0; j < count; j++) form[j] = bb_dot(n, B + j * n, B + j * n);
}

void bb_cholesky_solve(size_t n, const double *U, double *b) {
    if (n <= BB_KERNEL_SMALL) {
        bb_kernel_pick()->small_solve(n, U, b);
        return;
    }
    enter();
    if (steady) {
        const int order = as_int(n);
        cblas_dtrsv(CblasRowMajor, CblasUpper, CblasTrans, CblasNonUnit, order, U,
                    order, b, 1);
        cblas_dtrsv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit, order, U,
                    order, b, 1);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        b[i] /= U[i * n + i];
        bb_axpy(n - i - 1, -b[i], U + i * n + i + 1, b + i + 1);
    }
    for (size_t i = n; i-- > 0;) {
        const double *u = U + i * n + i;
        b[i] = (b[i] - bb_dot(n - i - 1, u + 1, b + i + 1)) / *u;
    }
}

size_t bb_invert_work(size_t n) {
    return (SLACK + n * n) * sizeof(double);
}

bb_status bb_invert_spd(size_t n, double *A, void *work) {
    if (n <= BB_KERNEL_SMALL) {
        const size_t row = bb_kernel_pick()->small_invert(n, A);
        if (row < n) return not_positive(n, row);
        mirror(n, A);
        return BB_OK;
    }
    const bb_status status = bb_cholesky(n, A);
    if (status) return status;
    double *copy = aligned(work);
    const lapack_int order = as_int(n);
    lapack_int info = 0;
    memcpy(copy, A, n * n * sizeof *A);
    LAPACK_dpotri("L", &order, copy, &order, &info);
    assert(info == 0);
    memcpy(A, copy, n * n * sizeof *A);
    mirror(n, A);
    return BB_OK;
}

bb_status bb_solve_spd(size_t n, double *A, double *b) {
    const bb_status status = bb_cholesky(n, A);
    if (!status) bb_cholesky_solve(n, A, b);
    return status;
}

/* out <- a sum of |f_k| u_k u_k' over the k with f_k of the sign of a, + b out. */
static void spectral_part(size_t n, size_t count, const double *vector, const double *f,
                          double a, double b, double *out, double *work) {
    size_t used = 0;
    for (size_t k = 0; k < count; k++) {
        if (!(f[k] * a > 0)) continue;
        const double root = sqrt(fabs(f[k]));
        for (size_t i = 0; i < n; i++) work[used * n + i] = root * vector[k * n + i];
        used++;
    }
    if (used || b == 0) bb_gram(used, n, a, work, b, out);
}

void bb_spectral(size_t n, size_t count, const double *vector, const double *f,
                 double *out, double *work) {
    spectral_part(n, count, vector, f, 1, 0, out, work);
    spectral_part(n, count, vector, f, -1, 1, out, work);
}
