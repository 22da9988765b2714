/* BLAS and LAPACK: the right kernels, Gram matrices, eigenvectors, Cholesky, and equal
 * results from many threads at once. */
#include "linalg/kernel.h"
#include "linalg/linalg.h"
#include "linalg/naive.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

void gotoblas_dynamic_init(void);
void gotoblas_dynamic_quit(void);

static int start(void **state) {
    (void)state;
    return bb_linalg_start() != BB_OK;
}

static void use_core(const char *core) {
    if (core)
        assert_int_equal(setenv("OPENBLAS_CORETYPE", core, 1), 0);
    else
        assert_int_equal(unsetenv("OPENBLAS_CORETYPE"), 0);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
}

/* OpenBLAS is made to take this processor for a Prescott, as it does by itself with
 * some. */
static void test_start_mends_the_core(void **state) {
    (void)state;
    const char *const *cores = bb_kernel_cores();
    if (!cores) skip();
    use_core("Prescott");
    assert_string_equal(bb_linalg_core(), "Prescott");
    assert_ok(bb_linalg_start());
    assert_string_equal(bb_linalg_core(), "Prescott"); /* the user's choice is kept */
    assert_int_equal(unsetenv("OPENBLAS_CORETYPE"), 0);
    assert_ok(bb_linalg_start());
    assert_string_equal(bb_linalg_core(), cores[0]);
    use_core(NULL);
    assert_ok(bb_linalg_start());
    bool known = false;
    for (; *cores; cores++) known = known || !strcmp(bb_linalg_core(), *cores);
    assert_true(known);
}

static void check_gram(size_t rows, size_t n) {
    double *A = naive_vector(rows * n, 7), *T = naive_transpose(rows, n, A);
    double *C = naive_vector(n * n, 8), *D = naive_vector(n * n, 0);
    double *K = naive_vector(rows * rows, 9), *L = naive_vector(rows * rows, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) C[i * n + k] = C[k * n + i];
    double *before = naive_vector(n * n, 0);
    memcpy(before, C, n * n * sizeof *C);
    naive_product(n, rows, n, T, A, D);
    bb_gram(rows, n, 2, A, -0.5, C);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            assert_close(C[i * n + k], 2 * D[i * n + k] - 0.5 * before[i * n + k],
                         1e-14 * (double)(rows + 1));
            assert_true(C[i * n + k] == C[k * n + i]);
        }
    naive_product(rows, n, rows, A, T, L);
    bb_gram_rows(rows, n, 1, A, K);
    assert_close(naive_largest_difference(rows * rows, K, L), 0,
                 1e-14 * (double)(n + 1));
    free(A);
    free(T);
    free(C);
    free(D);
    free(K);
    free(L);
    free(before);
}

static void test_gram(void **state) {
    (void)state;
    for (size_t n = 0; n < 12; n++)
        for (size_t rows = 0; rows < 12; rows++) check_gram(rows, n);
    check_gram(110, 28);
    check_gram(28, 110);
}

static void *room(size_t bytes) {
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) abort();
    return memory;
}

/* Residuals, orthogonality, order, and the values-only variant. */
static void check_eigen(size_t n, const double *A) {
    double *a = room(n * n * sizeof *a), *value = room(n * sizeof *value);
    double *only = room(n * sizeof *only), *image = room((n + 1) * sizeof *image);
    void *work = room(bb_eigen_work(n)), *small = room(bb_eigenvalues_work(n));
    double scale = 0;
    for (size_t k = 0; k < n * n; k++) scale = fmax(scale, fabs(A[k]));
    const double tolerance = 4e-15 * (double)(n + 4);
    memcpy(a, A, n * n * sizeof *a);
    assert_ok(bb_eigenvalues(n, a, only, small));
    memcpy(a, A, n * n * sizeof *a);
    assert_ok(bb_eigen(n, a, value, work));
    for (size_t k = 0; k < n; k++) {
        const double *u = a + k * n;
        if (k) assert_true(value[k] >= value[k - 1]);
        assert_close(value[k], only[k], tolerance * scale * (double)n);
        bb_multiply(n, n, 1, A, u, 0, image);
        for (size_t i = 0; i < n; i++)
            assert_close(image[i], value[k] * u[i], tolerance * scale);
        for (size_t i = 0; i <= k; i++)
            assert_close(bb_dot(n, u, a + i * n), i == k, tolerance);
    }
    free(a);
    free(value);
    free(only);
    free(image);
    free(work);
    free(small);
}

static double *symmetric(size_t n, uint64_t seed) {
    double *A = naive_vector(n * n, seed);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) A[i * n + k] = A[k * n + i];
    return A;
}

static void test_eigen_random(void **state) {
    (void)state;
    for (size_t n = 0; n <= 300; n += n < 70 ? 1 : 46) {
        double *A = symmetric(n, n);
        check_eigen(n, A);
        free(A);
    }
}

static void test_eigen_special(void **state) {
    (void)state;
    for (size_t n = 1; n <= 90; n += 29) {
        double *A = naive_vector(n * n, 0), *v = naive_vector(n, 3);
        memset(A, 0, n * n * sizeof *A);
        check_eigen(n, A); /* zero */
        for (size_t k = 0; k < n; k++) A[k * n + k] = 2;
        check_eigen(n, A); /* one eigenvalue n times */
        const double square = naive_dot(n, v, v);
        for (size_t i = 0; i < n; i++) /* a reflection: -1 once, 1 n-1 times */
            for (size_t k = 0; k < n; k++)
                A[i * n + k] = (i == k) - 2 * v[i] * v[k] / square;
        check_eigen(n, A);
        for (size_t k = 0; k < n * n; k++) A[k] *= 1e150;
        check_eigen(n, A);
        free(A);
        free(v);
    }
}

/* Of low rank, and with entries of many sizes: what is left beside them is rounding. */
static void test_eigen_graded(void **state) {
    (void)state;
    for (size_t n = 2; n <= 64; n += 31) {
        double *A = room(n * n * sizeof *A), *v = naive_vector(6 * n, 4);
        double *B = symmetric(n, 5);
        bb_gram(6, n, 1, v, 0, A);
        check_eigen(n, A);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++)
                A[i * n + k] = B[i * n + k] * pow(10, -0.5 * (double)(i + k));
        check_eigen(n, A);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++)
                A[i * n + k] = B[i * n + k] * pow(10, 0.5 * (double)(i + k));
        check_eigen(n, A);
        free(A);
        free(B);
        free(v);
    }
}

static void test_eigen_values_match_jacobi(void **state) {
    (void)state;
    const size_t n = 30;
    double *A = symmetric(n, 77), *B = symmetric(n, 77), value[30], plain[30];
    void *work = room(bb_eigen_work(n));
    assert_ok(bb_eigen(n, A, value, work));
    naive_eigenvalues(n, B, plain);
    for (size_t k = 0; k < n; k++) {
        double nearest = INFINITY;
        for (size_t i = 0; i < n; i++)
            nearest = fmin(nearest, fabs(value[k] - plain[i]));
        assert_close(nearest, 0, 1e-13);
    }
    free(A);
    free(B);
    free(work);
}

static void test_eigen_refuses_bad_numbers(void **state) {
    (void)state;
    double a[4] = {1, NAN, NAN, 1}, b[4] = {INFINITY, 0, 0, 1}, value[2];
    void *work = room(bb_eigen_work(2));
    assert_fails(bb_eigen(2, a, value, work), BB_ENUMERIC, "nan");
    assert_fails(bb_eigenvalues(2, b, value, work), BB_ENUMERIC, "inf");
    free(work);
}

static void test_cholesky(void **state) {
    (void)state;
    for (size_t n = 0; n <= 210; n += 7) {
        double *X = naive_vector((n + 3) * n, 21), *A = naive_vector(n * n, 0);
        double *x = naive_vector(n, 22), *b = naive_vector(n, 0);
        bb_gram(n + 3, n, 1, X, 0, A);
        for (size_t k = 0; k < n; k++) A[k * n + k] += 0.5;
        naive_product(n, n, 1, A, x, b);
        assert_ok(bb_solve_spd(n, A, b));
        assert_close(naive_largest_difference(n, x, b), 0, 1e-12);
        naive_product(n, n, 1, A, x, b);
        free(X);
        free(A);
        free(x);
        free(b);
    }
    double indefinite[4] = {1, 2, 2, 1}, bad[4] = {1, NAN, NAN, 1},
           large[1] = {INFINITY};
    double right[2] = {1, 1};
    assert_fails(bb_solve_spd(2, indefinite, right), BB_ENUMERIC,
                 "not positive definite");
    assert_fails(bb_solve_spd(2, bad, right), BB_ENUMERIC, "not positive definite");
    assert_fails(bb_solve_spd(1, large, right), BB_ENUMERIC, "not positive definite");
}

/* Only the upper triangle is read, and a matrix without an answer changes nothing. */
static void test_shifted(void **state) {
    (void)state;
    for (size_t n = 0; n <= BB_LINALG_SMALL; n++) {
        double *X = naive_vector((n + 3) * n, 23), *A = naive_vector(n * n, 0);
        double *x = naive_vector(n, 24), *b = naive_vector(n, 0);
        double *diagonal = naive_vector(n, 25);
        bb_gram(n + 3, n, 1, X, 0, A);
        for (size_t k = 0; k < n; k++)
            A[k * n + k] += diagonal[k] = pow(10, (double)(k % 9) - 1);
        naive_product(n, n, 1, A, x, b);
        for (size_t k = 0; k < n; k++) {
            A[k * n + k] -= diagonal[k];
            for (size_t j = 0; j < k; j++) A[k * n + j] = NAN;
        }
        assert_true(bb_solve_shifted(n, A, diagonal, b));
        assert_close(naive_largest_difference(n, x, b), 0, 1e-12);
        for (size_t bad = 0; bad < n; bad += n / 3 + 1) {
            const double kept = diagonal[bad];
            for (int way = 0; way < 2; way++) {
                diagonal[bad] = way ? INFINITY : -100;
                assert_false(bb_solve_shifted(n, A, diagonal, b));
            }
            diagonal[bad] = kept;
        }
        assert_close(naive_largest_difference(n, x, b), 0, 1e-12);
        free(X);
        free(A);
        free(x);
        free(b);
        free(diagonal);
    }
}

static void test_invert(void **state) {
    (void)state;
    for (size_t n = 0; n < 150; n += 13) {
        double *A = naive_vector(n * n, n), *B = naive_vector(n * n, 0);
        double *one = naive_vector(n * n, 0);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k <= i; k++)
                A[i * n + k] = A[k * n + i] += i == k ? (double)n : 0;
        memcpy(B, A, n * n * sizeof *B);
        void *work = room(bb_invert_work(n));
        assert_ok(bb_invert_spd(n, B, work));
        free(work);
        naive_product(n, n, n, A, B, one);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++) {
                assert_close(one[i * n + k], i == k, 1e-13);
                assert_true(B[i * n + k] == B[k * n + i]);
            }
        free(A);
        free(B);
        free(one);
    }
    double indefinite[4] = {1, 2, 2, 1};
    assert_fails(bb_invert_spd(2, indefinite, indefinite), BB_ENUMERIC,
                 "not positive definite");
}

/* U'B = C gives B back. */
static void test_whiten(void **state) {
    (void)state;
    enum { COLUMNS = 3 };
    for (size_t n = 0; n < 150; n += 13) {
        double *X = naive_vector((n + 3) * n, 31), *A = naive_vector(n * n, 0);
        double *B = naive_vector(n * COLUMNS, 32), *C = naive_vector(n * COLUMNS, 0);
        bb_gram(n + 3, n, 1, X, 0, A);
        for (size_t k = 0; k < n; k++) A[k * n + k] += 0.5;
        assert_ok(bb_cholesky(n, A));
        memset(C, 0, n * COLUMNS * sizeof *C);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                for (size_t k = 0; k < COLUMNS; k++)
                    C[i * COLUMNS + k] += A[j * n + i] * B[j * COLUMNS + k];
        bb_cholesky_whiten(n, A, COLUMNS, C);
        assert_close(naive_largest_difference(n * COLUMNS, B, C), 0, 1e-11);
        free(X);
        free(A);
        free(B);
        free(C);
    }
}

/* All rows at once, as one solution after the other has it. */
static void test_forms(void **state) {
    (void)state;
    for (size_t n = 0; n < 150; n += n < 70 ? 1 : 26)
        for (size_t count = 0; count < 70; count += 1 + count / 2) {
            double *X = naive_vector((n + 3) * n, 33), *A = naive_vector(n * n, 0);
            double *B = naive_vector(count * n, 34), *C = naive_vector(count * n, 34);
            double *form = naive_vector(count, 0);
            bb_gram(n + 3, n, 1, X, 0, A);
            for (size_t k = 0; k < n; k++) A[k * n + k] += 0.5;
            assert_ok(bb_cholesky(n, A));
            bb_cholesky_forms(n, A, count, B, form);
            for (size_t j = 0; j < count; j++) {
                double *b = C + j * n, *x = naive_vector(n, 0);
                memcpy(x, b, n * sizeof *x);
                bb_cholesky_solve(n, A, x);
                assert_close(form[j], bb_dot(n, x, b), 1e-12 * (1 + form[j]));
                free(x);
            }
            free(X);
            free(A);
            free(B);
            free(C);
            free(form);
        }
}

static void test_spectral(void **state) {
    (void)state;
    for (size_t n = 1; n < 40; n += 6) {
        double *A = symmetric(n, 31), *u = symmetric(n, 31),
               *value = naive_vector(n, 0);
        double *out = naive_vector(n * n, 5), *work = naive_vector(n * n, 0);
        void *eigen_work = room(bb_eigen_work(n));
        assert_ok(bb_eigen(n, u, value, eigen_work));
        bb_spectral(n, n, u, value, out, work); /* of both signs: A again */
        assert_close(naive_largest_difference(n * n, A, out), 0, 1e-13);
        for (size_t k = 0; k < n; k++) value[k] = 0;
        bb_spectral(n, n, u, value, out, work);
        for (size_t k = 0; k < n * n; k++) assert_true(out[k] == 0);
        value[0] = -3;
        bb_spectral(n, n, u, value, out, work);
        for (size_t k = 0; k < n * n; k++)
            assert_close(out[k], -3 * u[k / n] * u[k % n], 1e-14);
        free(A);
        free(u);
        free(value);
        free(out);
        free(work);
        free(eigen_work);
    }
}

enum { ORDER = 60, REPEATS = 60, THREADS = 4 };

typedef struct job {
    double vector[ORDER * ORDER], value[ORDER], solution[ORDER];
    bool equal;
} job;

static void compute(job *j) {
    double *X = naive_vector(2 * ORDER * ORDER, 55),
           *A = naive_vector(ORDER * ORDER, 0);
    void *work = room(bb_eigen_work(ORDER));
    bb_gram(2 * ORDER, ORDER, 1, X, 0, A);
    memcpy(j->vector, A, sizeof j->vector);
    bb_status status = bb_eigen(ORDER, j->vector, j->value, work);
    for (size_t k = 0; k < ORDER; k++) j->solution[k] = X[k];
    if (!status) status = bb_solve_spd(ORDER, A, j->solution);
    if (status) abort();
    free(X);
    free(A);
    free(work);
}

static void *repeat(void *argument) {
    job *first = argument, *again = room(sizeof *again);
    compute(first);
    first->equal = true;
    for (int r = 0; r < REPEATS; r++) {
        compute(again);
        first->equal =
            first->equal &&
            !memcmp(first->vector, again->vector, sizeof first->vector) &&
            !memcmp(first->value, again->value, sizeof first->value) &&
            !memcmp(first->solution, again->solution, sizeof first->solution);
    }
    free(again);
    return NULL;
}

/* A sequential OpenBLAS fails here. */
static void test_threads_give_the_same_bits(void **state) {
    (void)state;
    job *jobs = room(THREADS * sizeof *jobs), *alone = room(sizeof *alone);
    pthread_t thread[THREADS];
    compute(alone);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(thread + t, NULL, repeat, jobs + t), 0);
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++) {
        assert_true(jobs[t].equal);
        assert_memory_equal(jobs[t].vector, alone->vector, sizeof alone->vector);
        assert_memory_equal(jobs[t].solution, alone->solution, sizeof alone->solution);
    }
    free(jobs);
    free(alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_mends_the_core),
        cmocka_unit_test(test_gram),
        cmocka_unit_test(test_eigen_random),
        cmocka_unit_test(test_eigen_special),
        cmocka_unit_test(test_eigen_graded),
        cmocka_unit_test(test_eigen_values_match_jacobi),
        cmocka_unit_test(test_eigen_refuses_bad_numbers),
        cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_shifted),
        cmocka_unit_test(test_invert),
        cmocka_unit_test(test_whiten),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_spectral),
        cmocka_unit_test(test_threads_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
