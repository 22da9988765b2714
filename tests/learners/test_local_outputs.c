/* Problems of several outputs: losses, divergences, outputs, Fisher information,
 * against definitions; what a task's own model is. */
#include "learners/outputs.h"
#include "learners/outputs_problem.h"

static const bb_loss losses[] = {BB_LOSS_SQUARED, BB_LOSS_LOGISTIC, BB_LOSS_SOFTMAX,
                                 BB_LOSS_MULTILABEL};
enum { LOSSES = 4, ROWS = 9, OUTPUTS = 5 };

static many any(size_t n, size_t d, int kind, uint64_t seed) {
    const size_t outputs = kind < 2 ? 1 : OUTPUTS;
    return many_new(n, d, outputs, losses[kind], seed);
}

static void test_losses(void **state) {
    (void)state;
    for (int kind = 0; kind < LOSSES; kind++)
        for (double size = 1; size < 1000; size *= 10) {
            many m = any(ROWS, 3, kind, 4);
            bb_local local = many_open(&m, false, false, false);
            const size_t C = m.outputs, count = 4, index[] = {7, 1, 8, 1};
            const bb_span span = {.index = index, .count = count};
            double *z = naive_vector(count * C, 12), *dz = naive_vector(count * C, 0);
            double *scratch = naive_vector(bb_outputs_scratch(&local, count), 0);
            double expected = 0;
            bb_scale(count * C, size, z);
            memcpy(dz, z, count * C * sizeof *z);
            const double value = bb_outputs_loss(&local, span, dz, scratch);
            for (size_t r = 0; r < count; r++) {
                double *at = z + r * C;
                expected += twin_loss(&m, index[r], at, NULL);
                for (size_t c = 0; c < C && size < 20; c++) {
                    const double keep = at[c], h = 1e-5;
                    at[c] = keep + h;
                    const double up = twin_loss(&m, index[r], at, NULL);
                    at[c] = keep - h;
                    const double down = twin_loss(&m, index[r], at, NULL);
                    at[c] = keep;
                    assert_close(dz[r * C + c], (up - down) / (2 * h), 1e-8);
                }
            }
            assert_relative(value, expected, 1e-13);
            free(z);
            free(dz);
            free(scratch);
            bb_local_close(&local);
            many_free(&m);
        }
}

/* A row that is almost certain has a loss below the rounding of one, and one far on the
 * wrong side a loss that exponentials cannot hold. */
static void test_losses_far_out(void **state) {
    (void)state;
    many m = many_new(1, 2, 3, BB_LOSS_SOFTMAX, 1);
    m.y[0] = 1;
    bb_local local = many_open(&m, false, false, false);
    double z[3] = {0, 50, 1}, scratch[1];
    const bb_span span = {.count = 1};
    assert_relative(bb_outputs_loss(&local, span, z, scratch), exp(-50) + exp(-49),
                    1e-14);
    double far[3] = {4e5, -3e5, 1e5};
    assert_close(bb_outputs_loss(&local, span, far, scratch), 7e5, 1e-9);
    assert_true(far[0] == 1 && far[1] == -1 && far[2] == 0);
    bb_local_close(&local);
    many_free(&m);
}

static void test_divergences(void **state) {
    (void)state;
    for (int kind = 0; kind < LOSSES; kind++) {
        many m = any(ROWS, 3, kind, 4);
        const size_t C = m.outputs, count = 3;
        double *z = naive_vector(count * C, 21), *t = naive_vector(count * C, 22);
        double *dz = naive_vector(count * C, 0), *twin = naive_vector(C, 0);
        double expected = 0;
        bb_scale(count * C, 4, z);
        memcpy(dz, t, count * C * sizeof *t);
        const double value = bb_outputs_divergence(m.loss, C, count, z, dz);
        for (size_t r = 0; r < count; r++) {
            expected += twin_divergence(&m, z + r * C, t + r * C);
            memset(twin, 0, C * sizeof *twin);
            twin_divergence_slope(&m, z + r * C, t + r * C, 1, twin);
            for (size_t c = 0; c < C; c++) {
                double *at = z + r * C + c, keep = *at, h = 1e-5;
                *at = keep + h;
                const double up = twin_divergence(&m, z + r * C, t + r * C);
                *at = keep - h;
                const double down = twin_divergence(&m, z + r * C, t + r * C);
                *at = keep;
                assert_close(dz[r * C + c], (up - down) / (2 * h), 1e-8);
                assert_close(dz[r * C + c], twin[c], 1e-14);
            }
        }
        assert_relative(value, expected, 1e-13);
        memcpy(dz, z, count * C * sizeof *z);
        assert_close(bb_outputs_divergence(m.loss, C, count, z, dz), 0, 0);
        for (size_t k = 0; k < count * C; k++) assert_close(dz[k], 0, 0);
        for (size_t k = 0; k < count * C; k++) dz[k] = -1e5 * z[k];
        assert_true(bb_outputs_divergence(m.loss, C, count, z, dz) > 0);
        for (size_t k = 0; k < count * C; k++) assert_true(isfinite(dz[k]));
        free(z);
        free(t);
        free(dz);
        free(twin);
        many_free(&m);
    }
}

/* 600 rows are more than one piece. */
static void test_all_rows(void **state) {
    (void)state;
    for (int setting = 0; setting < 4 * LOSSES; setting++) {
        const bool sparse = setting & 1, sum = setting & 2;
        many m = any(setting & 2 ? 11 : 600, 7, setting / 4, 4);
        bb_local local = many_open(&m, sparse, setting / 4 < 2, sum);
        const size_t C = m.outputs;
        double *W = naive_vector(m.d * C, 31), *own = many_gather(&local, W);
        double *work = sgd_work_for(&local, &(bb_sgd){.batch = sum ? 0 : 2}),
               dz[OUTPUTS], expected[OUTPUTS];
        const double b = local.intercept ? 0.4 : 0;
        double *fisher = naive_vector(local.length, 0);
        double *all = get(m.d * C, sizeof *all);
        bb_local_fisher(&local, own, b, fisher, work);
        for (size_t j = 0; j < m.n; j++) {
            twin_outputs(&m, j, W, b, expected);
            (void)twin_loss(&m, j, expected, dz);
            for (size_t k = 0; k < m.d; k++)
                for (size_t c = 0; c < C; c++) {
                    const double g = m.rows.x[j * m.d + k] * dz[c];
                    all[k * C + c] += g * g / (double)m.n;
                }
        }
        double *naive_fisher = many_gather(&local, all);
        for (size_t k = 0; k < local.length; k++)
            assert_close(fisher[k], naive_fisher[k], 1e-12);
        free(W);
        free(own);
        free(work);
        free(fisher);
        free(all);
        free(naive_fisher);
        bb_local_close(&local);
        many_free(&m);
    }
}

static void test_lipschitz(void **state) {
    (void)state;
    for (int setting = 0; setting < 8; setting++) {
        const bool sparse = setting & 1, sum = setting & 2, softmax = setting & 4;
        many m = many_new(12, 9, 3, softmax ? BB_LOSS_SOFTMAX : BB_LOSS_MULTILABEL, 2);
        bb_local local = many_open(&m, sparse, false, sum);
        double value[9], largest = 0;
        naive_singular_values(m.n, m.d, m.rows.x, value);
        for (size_t k = 0; k < m.d; k++) largest = fmax(largest, value[k] * value[k]);
        largest *= (softmax ? 0.5 : 0.25) * (sum ? 1 : 1 / (double)m.n);
        assert_true(local.lipschitz >= largest * (1 - 1e-13));
        assert_true(local.lipschitz <= largest * (1 + 1.01e-6));
        bb_local_close(&local);
        many_free(&m);
    }
}

/* Features 70000, 3 and 999999 of a million: three rows of W. */
static void test_own_model_of_sparse_rows(void **state) {
    (void)state;
    enum { FEATURES = 1000000, C = 2 };
    const size_t first[] = {2, 4, 4, 6};
    const uint32_t column[] = {8, 9, 70000, 999999, 3, 70000};
    const double value[] = {9, 9, 1, 2, 3, 4}, y[] = {0, 1, 1};
    const bb_rows rows = {.n = 3,
                          .d = FEATURES,
                          .sparse_first = first,
                          .sparse_column = column,
                          .sparse_value = value,
                          .y = y};
    bb_local local;
    assert_ok(bb_local_open_outputs(&local, rows, BB_LOSS_SOFTMAX, C, NULL, false));
    assert_int_equal(local.touched_count, 3);
    assert_int_equal(local.length, 6);
    assert_int_equal(local.outputs, 2);
    const uint32_t touched[] = {3, 70000, 999999}, place[] = {1, 2, 0, 1};
    assert_memory_equal(local.touched, touched, sizeof touched);
    assert_memory_equal(local.place, place, sizeof place);
    double *shared = get(FEATURES * C, sizeof *shared), own[6];
    for (size_t k = 0; k < FEATURES * C; k++) shared[k] = (double)k;
    bb_local_gather(&local, shared, own);
    const double expected[] = {6, 7, 140000, 140001, 1999998, 1999999};
    assert_memory_equal(own, expected, sizeof own);
    assert_true(bb_local_work(&local) >= bb_sgd_work(&local, &(bb_sgd){0}));
    bb_local_close(&local);
    assert_null(local.touched);
    free(shared);
}

static void test_lengths(void **state) {
    (void)state;
    many m = many_new(5, 4, 3, BB_LOSS_SOFTMAX, 1);
    bb_local local = many_open(&m, false, false, false);
    assert_int_equal(local.length, 12);
    assert_null(local.touched);
    double shared[12], own[12];
    for (int k = 0; k < 12; k++) shared[k] = k;
    bb_local_gather(&local, shared, own);
    assert_memory_equal(own, shared, sizeof own);
    bb_local_close(&local);
    many_free(&m);
    m = many_new(5, 4, 1, BB_LOSS_LOGISTIC, 1);
    local = many_open(&m, true, true, false);
    assert_int_equal(local.length, 4);
    assert_int_equal(local.outputs, 1);
    bb_local_close(&local);
    many_free(&m);
    assert_int_equal(bb_model_parameters(6, 1, NULL), 6);
    assert_int_equal(bb_model_parameters(6, 4, NULL), 24);
}

static bb_status try(bb_rows rows, bb_loss loss, size_t outputs) {
    bb_local local = {.n = 77};
    const bb_status status =
        bb_local_open_outputs(&local, rows, loss, outputs, NULL, false);
    assert_true(status ? local.n == 77 : local.n == rows.n);
    if (!status) bb_local_close(&local);
    return status;
}

static void test_what_does_not_fit(void **state) {
    (void)state;
    many m = many_new(4, 3, 3, BB_LOSS_SOFTMAX, 1);
    bb_rows rows = m.dense;
    assert_ok(try(rows, BB_LOSS_SOFTMAX, 3));
    assert_fails(try(rows, BB_LOSS_SOFTMAX, 0), BB_EUSAGE, "output");
    assert_fails(try(rows, BB_LOSS_SQUARED, 1), BB_EUSAGE, "network");
    assert_fails(try(rows, BB_LOSS_LOGISTIC, 2), BB_EUSAGE, "one output");
    const double bad[] = {-1, 0.5, 3, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        m.y[2] = bad[i];
        assert_fails(try(rows, BB_LOSS_SOFTMAX, 3), BB_EDATA, "row 2");
    }
    rows.y = NULL;
    assert_fails(try(rows, BB_LOSS_SOFTMAX, 3), BB_EUSAGE, "label");
    assert_ok(try(rows, BB_LOSS_MULTILABEL, 3));
    uint32_t labels[] = {0, 2, 1, 1};
    const size_t first[] = {0, 2, 3, 3, 4};
    rows.label = labels;
    rows.label_first = first;
    assert_ok(try(rows, BB_LOSS_MULTILABEL, 3));
    assert_fails(try(rows, BB_LOSS_MULTILABEL, 2), BB_EDATA, "row 0");
    labels[1] = 0;
    assert_fails(try(rows, BB_LOSS_MULTILABEL, 3), BB_EDATA, "ascending");
    labels[1] = 2;
    rows.label_first = NULL;
    assert_fails(try(rows, BB_LOSS_MULTILABEL, 3), BB_EUSAGE, "lists");
    many_free(&m);
}

static void test_huge_rows(void **state) {
    (void)state;
    const double bad[] = {1e200, INFINITY, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        many m = many_new(4, 3, 3, BB_LOSS_MULTILABEL, 1);
        m.rows.x[1] = bad[i];
        m.rows.value[8] = bad[i];
        assert_int_equal(try(m.dense, BB_LOSS_MULTILABEL, 3), BB_ENUMERIC);
        assert_int_equal(try(m.sparse, BB_LOSS_MULTILABEL, 3), BB_ENUMERIC);
        many_free(&m);
    }
}

static void test_no_rows(void **state) {
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        many m = many_new(0, 3, 2, BB_LOSS_SOFTMAX, 1);
        bb_local local = many_open(&m, sparse, false, false);
        assert_int_equal(local.length, sparse ? 0 : 6);
        double w[6] = {1, 2, 3, 4, 5, 6}, fisher[6] = {1, 1, 1, 1, 1, 1};
        double *work = sgd_work_for(&local, &(bb_sgd){0});
        bb_local_fisher(&local, w, 0, fisher, work);
        for (size_t k = 0; k < local.length; k++) assert_true(fisher[k] == 0);
        free(work);
        bb_local_close(&local);
        many_free(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_losses_far_out),
        cmocka_unit_test(test_divergences),
        cmocka_unit_test(test_all_rows),
        cmocka_unit_test(test_lipschitz),
        cmocka_unit_test(test_own_model_of_sparse_rows),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_huge_rows),
        cmocka_unit_test(test_no_rows),
    };
    return cmocka_run_group_tests(tests, start_linalg, NULL);
}
