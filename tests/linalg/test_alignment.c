/* Results depend on the numbers alone: every function that reaches OpenBLAS or LAPACK
 * gives the same bytes wherever its arrays lie, with the kernels of whichever processor
 * OPENBLAS_CORETYPE names (CMakeLists.txt runs this program for several); and whoever
 * enters first starts the library. */
#include "linalg/linalg.h"
#include "linalg/naive.h"
#include "test.h"

#include <cblas.h>

#include <string.h>

enum { PLACES = 8, EXTRA = 3 };

/* Arrays that may each begin at any of the eight places in a line of 64 bytes. */
typedef struct place {
    size_t n, rows;
    double *base[4], *A, *B, *C, *work;
} place;

static double *array(size_t length, size_t at, double **base) {
    *base = aligned_alloc(64, (length + 2 * PLACES) / PLACES * PLACES * sizeof **base);
    if (!*base) abort();
    return *base + at % PLACES;
}

static place open_place(size_t n, size_t at) {
    const size_t rows = n + EXTRA, square = rows * rows;
    place p = {.n = n, .rows = rows};
    p.A = array(square, at, &p.base[0]);
    p.B = array(square, 3 * at, &p.base[1]);
    p.C = array(square, 5 * at, &p.base[2]);
    p.work =
        array(bb_eigen_work(rows) / sizeof(double) + 1 + square, 7 * at, &p.base[3]);
    for (size_t k = 0; k < square; k++) {
        uint64_t seed = k;
        p.A[k] = naive_random(&seed);
        p.B[k] = p.A[k] / 3;
        p.C[k] = p.A[k] * p.A[k];
    }
    return p;
}

static void close_place(place *p) {
    for (size_t k = 0; k < 4; k++) free(p->base[k]);
}

/* C <- A' A + I */
static void make_definite(place *p) {
    bb_gram(p->rows, p->n, 1, p->A, 0, p->C);
    for (size_t k = 0; k < p->n; k++) p->C[k * p->n + k] += 1;
}

static void gram(place *p) {
    bb_gram(p->rows, p->n, 0.7, p->A, 0.3, p->C);
}

static void gram_rows(place *p) {
    bb_gram_rows(p->rows, p->n, 0.7, p->A, p->C);
}

static void product(place *p) {
    bb_product(p->rows, p->n, p->rows, 0.7, p->A, p->B, 0.3, p->C);
}

static void product_narrow(place *p) {
    bb_product(p->rows, p->n, 3, 0.7, p->A, p->B, 0.3, p->C);
}

static void product_transposed(place *p) {
    bb_product_transposed(p->rows, p->n, p->rows, 0.7, p->A, p->B, 0.3, p->C);
}

static void cholesky(place *p) {
    make_definite(p);
    assert_ok(bb_cholesky(p->n, p->C));
}

static void cholesky_solve(place *p) {
    make_definite(p);
    assert_ok(bb_solve_spd(p->n, p->C, p->B));
    memcpy(p->C, p->B, p->n * sizeof *p->C);
}

static void cholesky_forms(place *p) {
    make_definite(p);
    assert_ok(bb_cholesky(p->n, p->C));
    bb_cholesky_forms(p->n, p->C, p->rows, p->B, p->C);
}

static void invert(place *p) {
    make_definite(p);
    assert_ok(bb_invert_spd(p->n, p->C, p->work));
}

static void eigen(place *p) {
    make_definite(p);
    assert_ok(bb_eigen(p->n, p->C, p->B, p->work));
    memcpy(p->C + p->n * p->n, p->B, p->n * sizeof *p->C);
}

static void eigenvalues(place *p) {
    make_definite(p);
    assert_ok(bb_eigenvalues(p->n, p->C, p->B, p->work));
    memcpy(p->C, p->B, p->n * sizeof *p->C);
}

static void spectral(place *p) {
    bb_spectral(p->n, p->n, p->A, p->B, p->C, p->work);
}

static void check(void (*function)(place *)) {
    for (size_t n = 1; n <= 150; n += n < 36 ? 1 : 19) {
        place first = open_place(n, 0);
        function(&first);
        for (size_t at = 1; at < PLACES; at++) {
            place p = open_place(n, at);
            function(&p);
            if (memcmp(first.C, p.C, first.rows * first.rows * sizeof *p.C) != 0)
                fail_msg("order %zu at place %zu, core %s: other bytes", n, at,
                         bb_linalg_core());
            close_place(&p);
        }
        close_place(&first);
    }
}

#define TEST(function)                                                                 \
    static void test_##function(void **state) {                                        \
        (void)state;                                                                   \
        check(function);                                                               \
    }
TEST(gram)
TEST(gram_rows)
TEST(product)
TEST(product_narrow)
TEST(product_transposed)
TEST(cholesky)
TEST(cholesky_solve)
TEST(cholesky_forms)
TEST(invert)
TEST(eigen)
TEST(eigenvalues)
TEST(spectral)

/* Must come first: nothing else has started the library. */
static void test_the_first_call_starts_it(void **state) {
    (void)state;
    enum { N = 100 }; /* smaller ones need no OpenBLAS */
    static double A[N * N], C[N * N];
    openblas_set_num_threads(2);
    bb_gram(N, N, 1, A, 0, C);
    assert_int_equal(openblas_get_num_threads(), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_call_starts_it),
        cmocka_unit_test(test_gram),
        cmocka_unit_test(test_gram_rows),
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_product_narrow),
        cmocka_unit_test(test_product_transposed),
        cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_cholesky_solve),
        cmocka_unit_test(test_cholesky_forms),
        cmocka_unit_test(test_invert),
        cmocka_unit_test(test_eigen),
        cmocka_unit_test(test_eigenvalues),
        cmocka_unit_test(test_spectral),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
