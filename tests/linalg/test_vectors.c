/* Vectors, matrix times vector and the logistic loss against their plain twins, and the
 * variants for different instruction sets against each other. */
#include "linalg/kernel.h"
#include "linalg/linalg.h"
#include "linalg/naive.h"
#include "test.h"

#include <float.h>
#include <string.h>

static void test_dot(void **state) {
    (void)state;
    for (size_t n = 0; n < 140; n++) {
        double *x = naive_vector(n, n + 1), *y = naive_vector(n, n + 1000);
        assert_close(bb_dot(n, x, y), naive_dot(n, x, y), 1e-15 * (double)(n + 1));
        assert_close(bb_norm(n, x), sqrt(naive_dot(n, x, x)), 1e-15 * (double)(n + 1));
        free(x);
        free(y);
    }
}

static void test_norm_does_not_overflow(void **state) {
    (void)state;
    const double large[3] = {3e200, 0, -4e200}, small[2] = {3e-200, 4e-200};
    const double infinite[2] = {1, -INFINITY}, bad[2] = {NAN, 1}, zero[2] = {0, 0};
    assert_relative(bb_norm(3, large), 5e200, 1e-15);
    assert_relative(bb_norm(2, small), 5e-200, 1e-15);
    assert_true(isinf(bb_norm(2, infinite)));
    assert_true(isnan(bb_norm(2, bad)));
    assert_close(bb_norm(2, zero), 0, 0);
}

static void test_axpy_and_scale(void **state) {
    (void)state;
    for (size_t n = 0; n < 70; n++) {
        double *x = naive_vector(n, 5), *y = naive_vector(n, 6),
               *z = naive_vector(n, 6);
        bb_axpy(n, 0.75, x, y);
        for (size_t k = 0; k < n; k++) assert_close(y[k], z[k] + 0.75 * x[k], 1e-15);
        bb_scale(n, -2, y);
        for (size_t k = 0; k < n; k++)
            assert_close(y[k], -2 * (z[k] + 0.75 * x[k]), 1e-15);
        free(x);
        free(y);
        free(z);
    }
}

static void check_products(size_t rows, size_t columns, double a, double b) {
    double *A = naive_vector(rows * columns, rows * 1000 + columns);
    double *T = naive_transpose(rows, columns, A);
    double *x = naive_vector(rows + columns, 3), *y = naive_vector(rows + columns, 4);
    double *Ax = naive_vector(rows + columns, 0),
           *keep = naive_vector(rows + columns, 4);
    const double tolerance = 2e-15 * (double)(rows + columns + 1);
    if (b == 0) /* must not be read */
        for (size_t k = 0; k < rows + columns; k++) y[k] = NAN;
    naive_product(rows, columns, 1, A, x, Ax);
    bb_multiply(rows, columns, a, A, x, b, y);
    for (size_t k = 0; k < rows; k++)
        assert_close(y[k], a * Ax[k] + b * keep[k], tolerance);
    if (b == 0)
        for (size_t k = 0; k < rows + columns; k++) y[k] = NAN;
    else
        memcpy(y, keep, (rows + columns) * sizeof *y);
    naive_product(columns, rows, 1, T, x, Ax);
    bb_multiply_transposed(rows, columns, a, A, x, b, y);
    for (size_t k = 0; k < columns; k++)
        assert_close(y[k], a * Ax[k] + b * keep[k], tolerance);
    if (b != 0) /* nothing is written behind the end */
        assert_memory_equal(y + columns, keep + columns, rows * sizeof *y);
    free(A);
    free(T);
    free(x);
    free(y);
    free(Ax);
    free(keep);
}

static void test_products(void **state) {
    (void)state;
    for (size_t rows = 0; rows < 14; rows++)
        for (size_t columns = 0; columns < 75; columns++) {
            check_products(rows, columns, 1, 0);
            check_products(rows, columns, -0.5, 1.5);
        }
    for (size_t columns = 254; columns < 270; columns++) {
        check_products(31, columns, 2, 0);
        check_products(30, columns, 2, -1);
    }
    check_products(203, 27, 1, 0);
    check_products(7, 1001, 1, 1);
}

static void check_logistic(double y, double p) {
    double derivative = p, same = p, curvature = 0;
    const double value = bb_logistic(1, &y, &derivative);
    const double again = bb_logistic_curved(1, &y, &same, &curvature);
    const long double z = (long double)y * p;
    const long double expected = z > 0 ? log1pl(expl(-z)) : -z + log1pl(expl(z));
    const long double q = 1 / (1 + expl(z));
    assert_relative(value, (double)expected, 6e-16);
    assert_relative(derivative, (double)(-y * q), 6e-16);
    assert_relative(curvature, (double)(q / (1 + expl(-z))), 2e-15);
    assert_true(again == value && same == derivative);
}

static void test_logistic(void **state) {
    (void)state;
    uint64_t seed = 17;
    for (int k = 0; k < 200000; k++) {
        const double p = (k % 2 ? 5 : 700) * naive_random(&seed);
        check_logistic(k % 3 ? 1 : -1, p);
    }
    check_logistic(1, 0);
    check_logistic(1, DBL_MIN);
    check_logistic(-1, 1e-17);
}

static void test_logistic_extremes(void **state) {
    (void)state;
    double y[4] = {1, 1, -1, 1}, p[4] = {1e300, -1e300, -DBL_MAX, 800}, c[4];
    const double value = bb_logistic_curved(4, y, p, c);
    assert_relative(value, 1e300, 1e-15);
    assert_close(p[0], 0, 1e-300);
    assert_close(p[1], -1, 0);
    assert_close(p[2], 0, 1e-300);
    for (int k = 0; k < 4; k++) assert_true(c[k] >= 0 && c[k] < 1e-300);
    double bad[1] = {NAN};
    assert_true(isnan(bb_logistic(1, y, bad)));
    assert_true(isnan(bad[0]));
}

static void test_logarithms(void **state) {
    (void)state;
    uint64_t seed = 18;
    for (size_t n = 0; n < 40; n++)
        for (int round = 0; round < 500; round++) {
            double x[40] = {0}, y[40] = {0}, sum = 0;
            for (size_t k = 0; k < n; k++)
                x[k] = ldexp(1 + naive_random(&seed), (int)(k * 60) % 2000 - 1000);
            memcpy(y, x, sizeof y);
            bb_log(n, y);
            for (size_t k = 0; k < n; k++)
                assert_close(y[k], log(x[k]), 3e-16 * fmax(1, fabs(log(x[k]))));
            for (size_t k = 0; k < n; k++)
                y[k] = x[k] = -350 * (1 + naive_random(&seed));
            const double found = bb_exp(n, y);
            for (size_t k = 0; k < n; k++) assert_relative(y[k], exp(x[k]), 5e-16);
            for (size_t k = 0; k < n; k++) sum += y[k];
            assert_close(found, sum, 1e-15 * (sum + 1e-300));
            sum = 0;
            for (size_t k = 0; k < n; k++) {
                const double u = naive_random(&seed);
                x[k] = y[k] = ldexp(1 + u, k % 2 ? (int)(40 * u) : (int)(1000 * u));
            }
            const double all = bb_log_plus(n, y);
            for (size_t k = 0; k < n; k++) assert_relative(y[k], log1p(x[k]), 9e-16);
            for (size_t k = 0; k < n; k++) sum += y[k];
            assert_relative(all, sum, 1e-14);
        }
    double few[3] = {0, 1, NAN};
    assert_true(isnan(bb_log_plus(3, few)));
    assert_true(few[0] == 0 && isnan(few[2]));
    assert_relative(few[1], log(2), 3e-16);
    double low[3] = {-709, -INFINITY, 0};
    assert_close(bb_exp(3, low), 1, 0);
    assert_true(low[0] == 0 && low[1] == 0 && low[2] == 1);
}

static void test_round_down(void **state) {
    (void)state;
    static const double special[] = {
        0.0,      -0.0,    1.0,         -1.0,        0x1p-60,
        -0x1p-60, 0.5,     -0.5,        1.5,         -1.5,
        0x1p50,   -0x1p50, 2 - 0x1p-52, 0x1p-52 - 2, 0x1.fffffffffffffp49,
        3.0};
    for (size_t n = 0; n < 70; n++) {
        double *v = naive_vector(n, 12), *w = naive_vector(n, 12);
        const double factor = n % 3 ? 1e6 / 3 : 1;
        double squares = 0;
        for (size_t k = 0; k < n && factor == 1; k++)
            v[k] = w[k] = special[(n + k) % 16];
        for (size_t k = 0; k < n; k++) w[k] = trunc(factor * w[k]);
        for (size_t k = 0; k < n; k++) squares += w[k] * w[k];
        assert_relative(bb_round_down(n, factor, v), squares, 1e-14);
        assert_memory_equal(v, w, n * sizeof *v);
        free(v);
        free(w);
    }
}

static void test_accelerated_step(void **state) {
    (void)state;
    for (size_t d = 0; d < 70; d++) {
        double *M = naive_vector(d * d, 21), *G = naive_vector(d * d, 22);
        double *w = naive_vector(d, 23), *previous = naive_vector(d, 24);
        double *c = naive_vector(d, 25), *work = naive_vector(2 * d, 26);
        double *old = naive_vector(d, 23), hat[70], z[70];
        for (size_t i = 0; i < d; i++)
            for (size_t k = 0; k < i; k++) {
                M[i * d + k] = M[k * d + i];
                G[i * d + k] = G[k * d + i];
            }
        for (size_t k = 0; k < d; k++) {
            hat[k] = naive_dot(d, M + k * d, old);
            z[k] = hat[k] + 0.7 * (hat[k] - previous[k]);
        }
        double *S = naive_vector(bb_strips_length(d), 0);
        bb_strips_pack(d, G, S);
        bb_accelerated_step(d, M, S, c, 0.7, 0.2, 0.1, w, previous, work);
        free(S);
        for (size_t k = 0; k < d; k++) {
            const double slope = naive_dot(d, G + k * d, z) - c[k] + 0.1 * z[k];
            assert_close(previous[k], hat[k], 1e-14 * (double)d);
            assert_close(w[k], z[k] - 0.2 * slope, 1e-14 * (double)(d * d));
        }
        free(M);
        free(G);
        free(w);
        free(previous);
        free(c);
        free(work);
        free(old);
    }
}

/* Twice the same matrix, with numbers in it that nobody may read. */
/* Moved sums are the sums of moved rows. */
static void test_strips_moved(void **state) {
    (void)state;
    for (size_t d = 1; d <= 40; d += 3) {
        const size_t n = d + 3, length = bb_strips_length(d);
        double *x = naive_vector(n * d, 1), *f = naive_vector(d, 2),
               *p = naive_vector(d, 3);
        double *G = naive_vector(d * d, 0), *S = naive_vector(length, 0);
        double *moved = naive_vector(length, 0), *work = naive_vector(d, 0);
        f[d - 1] = 1.0;
        p[d - 1] = 0.0;
        bb_gram(n, d, 1.0, x, 0.0, G);
        bb_strips_pack(d, G, S);
        bb_strips_move(d, S, f, p, moved, work);
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < d; k++)
                x[j * d + k] = f[k] * x[j * d + k] - p[k] * x[j * d + d - 1];
        bb_gram(n, d, 1.0, x, 0.0, G);
        bb_strips_pack(d, G, S);
        for (size_t k = 0; k < length; k++) assert_close(moved[k], S[k], 1e-10);
        free(x);
        free(f);
        free(p);
        free(G);
        free(S);
        free(moved);
        free(work);
    }
}

static void test_strips(void **state) {
    (void)state;
    for (size_t d = 0; d < 140; d += d < 70 ? 1 : 13) {
        const size_t length = bb_strips_length(d);
        double *G = naive_vector(d * d, 31), *again = naive_vector(d * d, 32);
        double *S = naive_vector(length, 0), *x = naive_vector(d, 33);
        double *c = naive_vector(d, 34), *y = naive_vector(d, 35);
        for (size_t i = 0; i < d; i++)
            for (size_t k = 0; k < i; k++) G[i * d + k] = G[k * d + i];
        assert_true(2 * length >= d * (d + 1));
        assert_true(2 * length <= d * (d + 8));
        bb_strips_pack(d, G, S);
        bb_strips_unpack(d, S, again);
        if (d) assert_memory_equal(G, again, d * d * sizeof *G);
        bb_strips_slope(d, S, x, c, y);
        for (size_t k = 0; k < d; k++)
            assert_close(y[k], naive_dot(d, G + k * d, x) - c[k], 1e-14 * (double)d);
        free(G);
        free(again);
        free(S);
        free(x);
        free(c);
        free(y);
    }
}

static void compare(const bb_kernel *one, const bb_kernel *other, size_t n, size_t d) {
    double *A = naive_vector(n * d, 8), *x = naive_vector(n + d, 9);
    double *y = naive_vector(2 * (n + d), 10), *z = naive_vector(2 * (n + d), 10);
    double *label = naive_vector(n, 11);
    for (size_t j = 0; j < n; j++) label[j] = label[j] > 0 ? 1 : -1;
    assert_true(one->dot(d, A, x) == other->dot(d, A, x));
    one->multiply(n, d, 0.7, A, x, 0.3, y);
    other->multiply(n, d, 0.7, A, x, 0.3, z);
    assert_memory_equal(y, z, 2 * (n + d) * sizeof *y);
    one->multiply_transposed(n, d, 0.7, A, x, 0.3, y);
    other->multiply_transposed(n, d, 0.7, A, x, 0.3, z);
    assert_memory_equal(y, z, 2 * (n + d) * sizeof *y);
    assert_true(one->logistic_curved(n, label, y, y + n + d) ==
                other->logistic_curved(n, label, z, z + n + d));
    assert_true(one->logistic(n, label, y) == other->logistic(n, label, z));
    one->axpy(d, 0.1, x, y);
    other->axpy(d, 0.1, x, z);
    assert_memory_equal(y, z, 2 * (n + d) * sizeof *y);
    assert_true(one->round_down(n, 1e5 / 3, y) == other->round_down(n, 1e5 / 3, z));
    assert_memory_equal(y, z, 2 * (n + d) * sizeof *y);
    free(A);
    free(x);
    free(y);
    free(z);
    free(label);
}

static void compare_steps(const bb_kernel *one, const bb_kernel *other, size_t d) {
    double *M = naive_vector(d * d, 14), *G = naive_vector(d * d, 15);
    double *x = naive_vector(3 * d, 16), *y = naive_vector(3 * d, 16), room[200];
    one->strips_slope(d, G, x, x + d, room);
    other->strips_slope(d, G, x, x + d, room + 100);
    assert_memory_equal(room, room + 100, d * sizeof *room);
    one->accelerated_step(d, M, G, x, 0.7, 0.2, 0.1, x + d, x + 2 * d, room);
    other->accelerated_step(d, M, G, y, 0.7, 0.2, 0.1, y + d, y + 2 * d, room);
    assert_memory_equal(x, y, 3 * d * sizeof *x);
    free(M);
    free(G);
    free(x);
    free(y);
}

static void compare_eigen(const bb_kernel *one, const bb_kernel *other, size_t n) {
    const size_t stride = (n + 7) / 8 * 8, size = n * stride;
    const bb_kernel *kernel[2] = {one, other};
    double *room[2], *made = naive_vector(n * n, 13);
    size_t order[2][BB_KERNEL_SMALL];
    for (int v = 0; v < 2; v++) {
        double *A = room[v] = calloc(2 * size + 3 * n + 2 * stride, sizeof *A);
        if (!A) abort();
        double *Z = A + size, *value = Z + size;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k <= i; k++)
                A[i * stride + k] = A[k * stride + i] = made[i * n + k];
        assert_true(
            kernel[v]->small_eigen(n, stride, A, value, Z, order[v], value + n));
    }
    assert_memory_equal(room[0] + size, room[1] + size, (size + n) * sizeof *made);
    assert_memory_equal(order[0], order[1], n * sizeof **order);
    free(room[0]);
    free(room[1]);
    free(made);
}

/* Also that a factor has both triangles. */
static void compare_cholesky(const bb_kernel *one, const bb_kernel *other, size_t n) {
    double *A = naive_vector(n * n, 17), *B = naive_vector(n * n, 17);
    double *x = naive_vector(n, 18), *y = naive_vector(n, 18), *z = naive_vector(n, 18);
    double *S = naive_vector(bb_strips_length(n), 0);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) A[i * n + k] = A[k * n + i];
        A[i * n + i] = (double)n;
    }
    memcpy(B, A, n * n * sizeof *A);
    bb_strips_pack(n, A, S);
    /* the first row as the diagonal */
    assert_true(one->small_shifted(n, false, A, A, x));
    assert_true(other->small_shifted(n, false, A, A, y));
    assert_true(other->small_shifted(n, true, S, A, z));
    assert_memory_equal(x, y, n * sizeof *x);
    assert_memory_equal(x, z, n * sizeof *x);
    assert_int_equal(one->small_cholesky(n, A), n);
    assert_int_equal(other->small_cholesky(n, B), n);
    assert_memory_equal(A, B, n * n * sizeof *A);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) assert_true(A[i * n + k] == A[k * n + i]);
    one->small_solve(n, A, x);
    other->small_solve(n, B, y);
    assert_memory_equal(x, y, n * sizeof *x);
    for (size_t count = 1; count <= n; count += 5) {
        one->small_forms(n, A, count, B, x);
        other->small_forms(n, A, count, B, y);
        assert_memory_equal(x, y, count * sizeof *x);
    }
    free(A);
    free(B);
    free(x);
    free(y);
    free(z);
    free(S);
}

static void compare_logarithms(const bb_kernel *one, const bb_kernel *other, size_t n) {
    double *x = naive_vector(n, 19), *y = naive_vector(n, 19);
    for (size_t k = 0; k < n; k++) x[k] = y[k] = -9 * fabs(x[k]);
    assert_true(one->exp_all(n, x) == other->exp_all(n, y));
    assert_memory_equal(x, y, n * sizeof *x);
    one->log_all(n, x);
    other->log_all(n, y);
    assert_memory_equal(x, y, n * sizeof *x);
    for (size_t k = 0; k < n; k++) x[k] = y[k] = fabs(x[k]);
    assert_true(one->log_plus_all(n, x) == other->log_plus_all(n, y));
    assert_memory_equal(x, y, n * sizeof *x);
    free(x);
    free(y);
}

/* The same models on every x86-64 processor, as far as these loops are concerned. */
/* Inverses, also those that end early. */
static void compare_inverses(const bb_kernel *one, const bb_kernel *other, size_t n) {
    const bb_kernel *kernel[2] = {one, other};
    for (size_t definite = 0; definite < 2 && n <= BB_KERNEL_SMALL; definite++) {
        double *A[2];
        for (int v = 0; v < 2; v++) {
            A[v] = naive_vector(n * n, 8);
            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < i; k++) A[v][i * n + k] = A[v][k * n + i];
            for (size_t k = 0; k < n; k++)
                if (definite || k != n / 2) A[v][k * n + k] = (double)n;
            A[v][n / 2 * n + n / 2] -= definite ? 0 : 1;
            assert_int_equal(kernel[v]->small_invert(n, A[v]), definite ? n : n / 2);
        }
        assert_memory_equal(A[0], A[1], n * n * sizeof **A);
        free(A[0]);
        free(A[1]);
    }
}

static void test_variants_give_the_same_bits(void **state) {
    (void)state;
    const bb_kernel *variant[2] = {bb_kernel_pick(), bb_kernel_pick()};
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) variant[1] = &bb_kernel_avx2;
#endif
    for (int v = 0; v < 2; v++)
        for (size_t n = 1; n < 70; n += 3)
            for (size_t d = 1; d < 80; d++)
                compare(variant[v], &bb_kernel_baseline, n, d);
    compare(variant[0], &bb_kernel_baseline, 33, 300);
    for (int v = 0; v < 2; v++)
        for (size_t n = 1; n <= BB_KERNEL_SMALL; n++) {
            compare_eigen(variant[v], &bb_kernel_baseline, n);
            compare_steps(variant[v], &bb_kernel_baseline, n);
            compare_cholesky(variant[v], &bb_kernel_baseline, n);
            if (n) compare_inverses(variant[v], &bb_kernel_baseline, n);
            compare_logarithms(variant[v], &bb_kernel_baseline, n);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_norm_does_not_overflow),
        cmocka_unit_test(test_axpy_and_scale),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_logarithms),
        cmocka_unit_test(test_round_down),
        cmocka_unit_test(test_strips),
        cmocka_unit_test(test_strips_moved),
        cmocka_unit_test(test_accelerated_step),
        cmocka_unit_test(test_logistic),
        cmocka_unit_test(test_logistic_extremes),
        cmocka_unit_test(test_variants_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
