/* Systems with many shifts against what the eigenvalues of the matrix say: condition
 * numbers up to 1e16, matrices without full rank, zero, far from one; and the variants
 * for different instruction sets against each other. */
#include "linalg/kernel.h"
#include "linalg/linalg.h"
#include "linalg/naive.h"
#include "linalg/tridiagonal.h"
#include "test.h"

#include <float.h>
#include <string.h>

enum { SHIFTS = 21 };

/* A = V diag(value) V' with V from the eigenvectors of something random. */
static double *matrix(size_t n, const double *value, uint64_t seed) {
    double *V = naive_vector(n * n, seed), *A = naive_vector(n * n, 0);
    double *found = naive_vector(n, 0), *work = malloc(bb_eigen_work(n));
    assert_non_null(work);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) V[i * n + k] = V[k * n + i];
    assert_ok(bb_eigen(n, V, found, work));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            long double sum = 0;
            for (size_t e = 0; e < n; e++)
                sum += (long double)V[e * n + i] * value[e] * V[e * n + k];
            A[i * n + k] = (double)sum;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) A[i * n + k] = A[k * n + i];
    free(V);
    free(found);
    free(work);
    return A;
}

typedef struct problem {
    size_t n;
    double *A, *c, *value, *vector; /* eigenvectors are rows */
    double *room;
    bb_tridiagonal t;
    double largest;
} problem;

static problem open_problem(size_t n, double *A) {
    problem p = {.n = n, .A = A, .c = naive_vector(n, 77)};
    void *work = malloc(bb_eigen_work(n));
    assert_non_null(work);
    p.vector = naive_vector(n * n, 0);
    p.value = naive_vector(n, 0);
    memcpy(p.vector, A, n * n * sizeof *A);
    assert_ok(bb_eigen(n, p.vector, p.value, work));
    for (size_t k = 0; k < n; k++) p.largest = fmax(p.largest, p.value[k]);
    p.room = naive_vector(bb_tridiagonal_length(n), 1);
    assert_ok(bb_tridiagonal_open(&p.t, n, A, p.room));
    free(work);
    return p;
}

static void close_problem(problem *p) {
    free(p->A);
    free(p->c);
    free(p->value);
    free(p->vector);
    free(p->room);
}

/* Q T Q' is A, column by column. */
static void check_product(const problem *p) {
    const size_t n = p->n;
    double *x = naive_vector(n, 0), *y = naive_vector(n, 0);
    for (size_t k = 0; k < n; k++) {
        memset(x, 0, n * sizeof *x);
        x[k] = 1;
        bb_tridiagonal_into(&p->t, x);
        for (size_t i = 0; i < n; i++) {
            y[i] = p->t.diagonal[i] * x[i];
            if (i > 0) y[i] += p->t.beside[i - 1] * x[i - 1];
            if (i + 1 < n) y[i] += p->t.beside[i] * x[i + 1];
        }
        bb_tridiagonal_back(&p->t, y);
        for (size_t i = 0; i < n; i++)
            assert_close(y[i], p->A[i * n + k],
                         1e-15 * (double)(n + 4) * p->largest + DBL_MIN);
    }
    free(x);
    free(y);
}

/* Rounding of A moves what a shift sees by `blur` at most, relative. */
static void check_shifts(const problem *p) {
    const size_t n = p->n;
    double shift[SHIFTS], det[SHIFTS], sum[SHIFTS], share[SHIFTS];
    double found[3][SHIFTS];
    double *c = naive_vector(n, 0), *x = naive_vector(n, 0),
           *w = calloc(n + 1, sizeof *w);
    assert_non_null(w);
    const double unit = p->largest > 0 ? p->largest : 1;
    double worst = 0, size = 0;
    for (size_t l = 0; l < SHIFTS; l++) {
        shift[l] = unit * pow(10, 2 - 0.6 * (double)l);
        share[l] = shift[l] / unit * (l % 3 == 1 ? -1.5 : 1);
    }
    memcpy(c, p->c, n * sizeof *c);
    bb_tridiagonal_into(&p->t, c);
    bb_tridiagonal_weigh(&p->t, c, SHIFTS, shift, det, sum);
    bb_tridiagonal_inverse(&p->t, c, SHIFTS, shift, found[0], found[1], found[2]);
    bb_tridiagonal_average(&p->t, c, SHIFTS, shift, share, x);
    bb_tridiagonal_back(&p->t, x);
    for (size_t l = 0; l < SHIFTS; l++) {
        const double blur = 1e-15 * (double)(n + 9) * unit / shift[l] + 1e-13;
        double log_det = 0, explained = 0, square = 0, trace = 0;
        for (size_t e = 0; e < n; e++) {
            const double b = naive_dot(n, p->vector + e * n, p->c);
            const double g = fmax(p->value[e], 0);
            log_det += log1p(g / shift[l]);
            explained += b * b / (g + shift[l]);
            square += b / (g + shift[l]) * (b / (g + shift[l]));
            trace += 1 / (g + shift[l]);
            for (size_t k = 0; k < n; k++)
                w[k] += share[l] * b / (g + shift[l]) * p->vector[e * n + k];
        }
        assert_close(det[l], log_det, blur * (double)(n + 1));
        assert_relative(sum[l], explained, fmin(1, blur));
        assert_relative(found[0][l], explained, fmin(1, blur));
        if (isfinite(square)) assert_relative(found[1][l], square, fmin(1, 2 * blur));
        assert_relative(found[2][l], trace, fmin(1, blur));
        worst += fabs(share[l]) * blur * sqrt((double)n) / shift[l];
        size = fmax(size, log_det);
    }
    assert_true(naive_largest_difference(n, x, w) <= worst);
    free(c);
    free(x);
    free(w);
}

/* Four right sides at once are what each is by itself; what two have to do with each other
 * follows from their sum. */
static void check_sides(const problem *p) {
    const size_t n = p->n;
    const double unit = p->largest > 0 ? p->largest : 1;
    double shift[SHIFTS], det[SHIFTS], form[BB_TRIDIAGONAL_FORMS * SHIFTS];
    double own_det[SHIFTS], alone[SHIFTS], share[BB_TRIDIAGONAL_SIDES * SHIFTS];
    double *C = naive_vector(8 * n, 0), *c = naive_vector(n, 0);
    double *x = naive_vector(n, 0), *sum = calloc(n, sizeof *sum);
    assert_non_null(sum);
    for (size_t l = 0; l < SHIFTS; l++) shift[l] = unit * pow(10, 2 - 0.6 * (double)l);
    for (size_t k = 0; k < BB_TRIDIAGONAL_SIDES * SHIFTS; k++)
        share[k] = (k % 3 == 1 ? -1 : 1) / (double)(k + 1);
    for (size_t k = 0; k < 8 * n; k++)
        C[k] = k % 8 < BB_TRIDIAGONAL_SIDES ? cos((double)k) : 0;
    double *turned = naive_vector(8 * n, 0);
    memcpy(turned, C, 8 * n * sizeof *C);
    bb_tridiagonal_into_sides(&p->t, turned);
    bb_tridiagonal_weigh_sides(&p->t, turned, SHIFTS, shift, det, form);
    for (size_t s = 0; s < BB_TRIDIAGONAL_SIDES; s++) {
        for (size_t i = 0; i < n; i++) c[i] = C[8 * i + s];
        bb_tridiagonal_into(&p->t, c);
        for (size_t i = 0; i < n; i++) {
            assert_close(turned[8 * i + s], c[i], 1e-14 * (double)(n + 9));
            c[i] = turned[8 * i + s];
        }
        bb_tridiagonal_weigh(&p->t, c, SHIFTS, shift, own_det, alone);
        assert_memory_equal(det, own_det, sizeof det);
        assert_memory_equal(form + s * SHIFTS, alone, sizeof alone);
        bb_tridiagonal_average(&p->t, c, SHIFTS, shift, share + s * SHIFTS, x);
        for (size_t i = 0; i < n; i++) sum[i] += x[i];
        for (size_t r = 0; s >= 2 && r < 2; r++) {
            const double *both = form + (2 * s + r) * SHIFTS;
            for (size_t i = 0; i < n; i++) c[i] = turned[8 * i + s] + turned[8 * i + r];
            bb_tridiagonal_weigh(&p->t, c, SHIFTS, shift, own_det, alone);
            for (size_t l = 0; l < SHIFTS; l++)
                assert_close(2 * both[l],
                             alone[l] - form[s * SHIFTS + l] - form[r * SHIFTS + l],
                             1e-12 * (alone[l] + form[s * SHIFTS + l]));
        }
    }
    bb_tridiagonal_average_sides(&p->t, turned, SHIFTS, shift, share, x);
    const double smallest = shift[SHIFTS - 1];
    for (size_t i = 0; i < n; i++)
        assert_close(x[i], sum[i], 1e-13 * (double)(n + 9) / smallest);
    free(C);
    free(c);
    free(x);
    free(sum);
    free(turned);
}

static void check(size_t n, double *A) {
    problem p = open_problem(n, A);
    check_product(&p);
    if (n > 0) check_shifts(&p);
    if (n > 0) check_sides(&p);
    close_problem(&p);
}

static const size_t orders[] = {0,  1,  2,  3,  5,  7,  8,  9,   15,  16,
                                17, 20, 24, 31, 33, 64, 65, 100, 129, 200};

#define EACH_ORDER(n)                                                                  \
    for (size_t o = 0, n; o < sizeof orders / sizeof *orders && (n = orders[o], true); \
         o++)

static void test_conditions(void **state) {
    (void)state;
    EACH_ORDER(n) {
        for (double digits = 0; digits <= 16; digits += 4) {
            double *value = naive_vector(n, 0);
            for (size_t k = 0; k < n; k++)
                value[k] = pow(10, -digits * (double)k / (double)(n > 1 ? n - 1 : 1));
            check(n, matrix(n, value, n + 1));
            free(value);
        }
    }
}

static void test_rank(void **state) {
    (void)state;
    EACH_ORDER(n) {
        for (size_t rank = 0; rank < n; rank += 1 + n / 3) {
            double *value = naive_vector(n, 0);
            memset(value, 0, n * sizeof *value);
            for (size_t k = 0; k < rank; k++) value[k] = 1 + (double)k;
            check(n, matrix(n, value, n + 2));
            free(value);
        }
    }
}

static void test_special(void **state) {
    (void)state;
    EACH_ORDER(n) {
        double *diagonal = naive_vector(n * n, 0), *ones = naive_vector(n * n, 0);
        for (size_t k = 0; k < n * n; k++) {
            diagonal[k] = k % (n + 1) == 0 ? (double)(k % 7) : 0;
            ones[k] = 3;
        }
        check(n, diagonal);
        check(n, ones);
    }
}

/* Far from one, and with entries of very unlike sizes. */
static void test_scales(void **state) {
    (void)state;
    static const double scale[] = {1e-250, 1e-160, 1e-99, 1e99, 1e150};
    for (size_t s = 0; s < 5; s++)
        for (size_t n = 1; n < 40; n += 6) {
            double *root = naive_vector(n * n, n);
            double *A = naive_vector(n * n, 0);
            bb_gram(n, n, scale[s], root, 0, A);
            check(n, A);
            for (size_t k = 0; k < n * n; k++)
                root[k] *= pow(10, -9.0 * (double)(k % n) / (double)n);
            A = naive_vector(n * n, 0);
            bb_gram(n, n, scale[s], root, 0, A);
            check(n, A);
            free(root);
        }
}

/* Columns of 1, 10^2 .. of which rounding loses the small ones: a shift that it loses, too,
 * leaves a solution no longer than the true one by more than what was lost. */
static void test_lost_shift(void **state) {
    (void)state;
    enum { N = 8, ROWS = 6 };
    double X[ROWS * N], A[N * N] = {0}, c[N] = {0}, x[N], *room;
    const double shift = 1e-4, share = 1;
    double log_det, explained, square, trace, one_explained;
    bb_tridiagonal t;
    for (size_t j = 0; j < ROWS; j++)
        for (size_t k = 0; k < N; k++)
            X[j * N + k] = pow(10, (double)k) * (1 + cos((double)(3 * j + 7 * k * k)));
    for (size_t j = 0; j < ROWS; j++)
        for (size_t k = 0; k < N; k++) {
            c[k] += X[j * N + k];
            for (size_t l = 0; l < N; l++) A[k * N + l] += X[j * N + k] * X[j * N + l];
        }
    room = naive_vector(bb_tridiagonal_length(N), 0);
    assert_ok(bb_tridiagonal_open(&t, N, A, room));
    bb_tridiagonal_into(&t, c);
    bb_tridiagonal_average(&t, c, 1, &shift, &share, x);
    bb_tridiagonal_weigh(&t, c, 1, &shift, &log_det, &explained);
    bb_tridiagonal_inverse(&t, c, 1, &shift, &one_explained, &square, &trace);
    assert_true(bb_norm(N, x) < 10 && square < 100); /* the true one: below 1 */
    assert_true(explained >= 0 && explained < ROWS * 1.001);
    assert_true(fabs(explained - one_explained) < 1e-6 * explained);
    assert_true(isfinite(log_det) && trace > 0 && isfinite(trace));
    free(room);
}

static void test_not_finite(void **state) {
    (void)state;
    double A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, room[512];
    bb_tridiagonal t;
    assert_true(bb_tridiagonal_length(3) <= 512);
    A[4] = NAN;
    assert_int_equal(bb_tridiagonal_open(&t, 3, A, room), BB_ENUMERIC);
    A[4] = INFINITY;
    assert_int_equal(bb_tridiagonal_open(&t, 3, A, room), BB_ENUMERIC);
}

static void compare(const bb_kernel *one, const bb_kernel *other, size_t groups,
                    size_t sides, size_t n) {
    const size_t stride = (n + 7) / 8 * 8;
    const size_t all =
        n * stride + 5 * stride + 40 * n + 16 * (BB_TRIDIAGONAL_FORMS + 1);
    double *a = naive_vector(all, 0), *b = naive_vector(all, 0);
    const bb_kernel *kernel[2] = {one, other};
    double shift[16], share[BB_TRIDIAGONAL_SIDES * 16];
    for (size_t l = 0; l < 16; l++)
        for (size_t s = 0; s < sides; s++)
            shift[l] = share[s * 16 + l] = pow(10, -(double)l);
    for (int v = 0; v < 2; v++) {
        double *at = v ? b : a, *factor = at + n * stride, *diagonal = factor + stride;
        double *beside = diagonal + stride, *work = beside + stride;
        double *c = work + 2 * stride, *found = c + 8 * n;
        memset(at, 0, all * sizeof *at);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++)
                at[i * stride + k] = 1 / (double)(1 + i + k) + (i == k);
        kernel[v]->tridiagonal(n, stride, at, factor, diagonal, beside, work);
        memset(work, 0, 2 * stride * sizeof *work);
        for (size_t k = 0; k < n; k++) work[k] = 1 / (double)(k + 1);
        kernel[v]->reflect(false, n, stride, at, factor, work);
        for (size_t k = 0; k < 8 * n; k++) c[k] = work[k % n];
        kernel[v]->shifts_weigh(groups, sides, n, diagonal, beside, c, shift, found,
                                found + 16);
        kernel[v]->reflect(true, n, stride, at, factor, work);
        memset(at, 0, n * sizeof *at);
        kernel[v]->shifts_average(groups, sides, n, diagonal, beside, c, shift, share,
                                  at, found + 16 * (BB_TRIDIAGONAL_FORMS + 1));
    }
    assert_memory_equal(a, b, all * sizeof *a);
    free(a);
    free(b);
}

/* Rows left out, eight to thirty-two of them. */
static void compare_rows(const bb_kernel *one, const bb_kernel *other, size_t width,
                         size_t n) {
    const size_t stride = (n + 7) / 8 * 8;
    double *V = naive_vector(n * stride + 3 * n, 26);
    double *c = V + n * stride, *beside = c + n, *diagonal = beside + n;
    double *room[2], shift[8], left[2] = {0, 0};
    const bb_kernel *kernel[2] = {one, other};
    for (size_t l = 0; l < 8; l++) shift[l] = pow(10, -(double)l);
    for (size_t k = 0; k < n; k++) diagonal[k] = 2 + fabs(diagonal[k]);
    for (int v = 0; v < 2; v++) {
        room[v] = naive_vector(n * 32 + n * 24 + 32, 27);
        double *X = room[v], *table = X + n * 32, *y = table + n * 24;
        kernel[v]->rows_turn(width, n, stride, V, c, X);
        kernel[v]->shifts_table(n, diagonal, beside, c, shift, table);
        for (size_t l = 0; l < 8; l++)
            left[v] += kernel[v]->rows_left_out(width, n, table + l, X, y, 1, 0.1, 0.2);
    }
    assert_true(left[0] == left[1]);
    assert_memory_equal(room[0], room[1], (n * 56 + 32) * sizeof *V);
    free(V);
    free(room[0]);
    free(room[1]);
}

static void test_variants_give_the_same_bits(void **state) {
    (void)state;
    const bb_kernel *variant[2] = {bb_kernel_pick(), bb_kernel_pick()};
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) variant[1] = &bb_kernel_avx2;
#endif
    for (int v = 0; v < 2; v++)
        for (size_t n = 8; n < 80; n++)
            for (size_t groups = 1; groups <= 2; groups++)
                for (size_t s = 1; s <= BB_TRIDIAGONAL_SIDES; s += 3)
                    compare(variant[v], &bb_kernel_baseline, groups, s, n);
    for (int v = 0; v < 2; v++)
        for (size_t n = 1; n < 40; n++)
            for (size_t width = 1; width <= 4; width++)
                compare_rows(variant[v], &bb_kernel_baseline, width, n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_lost_shift),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_variants_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
