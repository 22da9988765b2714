/* Descent against the plain twin, exact optima, and what its contract promises beside;
 * sparse rows of several outputs are in test_sgd_sparse.c. */
#include "learners/outputs_problem.h"

static const bb_loss losses[] = {BB_LOSS_SQUARED, BB_LOSS_LOGISTIC, BB_LOSS_SOFTMAX,
                                 BB_LOSS_MULTILABEL};
static const bb_decay decays[] = {BB_DECAY_CONSTANT, BB_DECAY_LINEAR, BB_DECAY_INVERSE};
enum { LOSSES = 4 };

static many any(size_t n, size_t d, int kind, uint64_t seed) {
    return many_new(n, d, kind < 2 ? 1 : 4, losses[kind], seed);
}

typedef struct vectors {
    double *centre, *fisher, *teacher;
} vectors;

static vectors vectors_new(size_t size) {
    vectors v = {naive_vector(size, 61), naive_vector(size, 62),
                 naive_vector(size, 63)};
    for (size_t k = 0; k < size; k++) v.fisher[k] = fabs(v.fisher[k]);
    return v;
}

static void vectors_free(vectors *v) {
    free(v->centre);
    free(v->fisher);
    free(v->teacher);
}

/* Every part of the pull, in turn and together. */
static bb_pull pull_of(int kind, const vectors *v, bool intercept) {
    const bb_pull all = {.penalty = 0.7,
                         .centre = v->centre,
                         .fisher = v->fisher,
                         .kl = 0.6,
                         .teacher = v->teacher,
                         .teacher_intercept = intercept ? -0.8 : 0};
    const bb_pull pulls[] = {
        {0},
        {.penalty = 0.5},
        {.penalty = 0.5, .centre = v->centre},
        {.penalty = 0.5, .fisher = v->fisher},
        {.kl = 0.8, .teacher = v->teacher, .teacher_intercept = all.teacher_intercept},
        all};
    return pulls[kind];
}
enum { PULLS = 6 };

/* Batches: all rows, some, one, exactly n, more than n. */
static void test_twin(void **state) {
    (void)state;
    const size_t batches[] = {0, 4, 1, 10, 50};
    for (int kind = 0; kind < LOSSES; kind++)
        for (int setting = 0; setting < 8; setting++)
            for (int pull = 0; pull < PULLS; pull++)
                for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
                    many m = any(10, setting & 4 ? 14 : 5, kind, 7);
                    const bool intercept = kind < 2 && setting & 1;
                    bb_local local = many_open(&m, setting & 2, intercept, false);
                    vectors v = vectors_new(m.d * m.outputs);
                    const bb_pull p = pull_of(pull, &v, intercept);
                    const bb_sgd sgd = {.epochs = 3,
                                        .batch = batches[i],
                                        .rate = batches[i] ? 0.07 : 1,
                                        .momentum = pull % 2 ? 0.8 : 0,
                                        .decay = decays[(pull + (int)i) % 3]};
                    assert_close(many_compare(&m, &local, &sgd, &p), 0, 1e-12);
                    vectors_free(&v);
                    bb_local_close(&local);
                    many_free(&m);
                }
}

/* More rows than are looked at at once: 256, or 16 of many features. */
static void test_twin_in_pieces(void **state) {
    (void)state;
    const struct {
        size_t n, d;
        int pull;
    } large[] = {{600, 6, 5}, {900, 6, 2}, {60, 9000, 0}};
    for (int setting = 0; setting < 3 * 2 * LOSSES; setting++) {
        const bool all = setting & 1;
        const size_t n = large[setting % 3].n, d = large[setting % 3].d;
        many m = any(n, d, setting / 6, 8);
        for (size_t k = 0; k < n * d; k++) m.rows.x[k] /= sqrt((double)d);
        bb_local local = many_open(&m, false, false, all);
        vectors v = vectors_new(d * m.outputs);
        const bb_pull p = pull_of(large[setting % 3].pull, &v, false);
        const bb_sgd sgd = {
            .steps = 3, .batch = all ? 0 : n - 7, .rate = all ? 1 : 0.1};
        assert_close(many_compare(&m, &local, &sgd, &p), 0, 1e-11);
        vectors_free(&v);
        bb_local_close(&local);
        many_free(&m);
    }
}

/* One full step is the gradient of loss and pull: central differences. */
static void test_finite_differences(void **state) {
    (void)state;
    for (int kind = 0; kind < LOSSES; kind++)
        for (int pull = 0; pull < PULLS; pull++) {
            many m = any(9, 4, kind, 9);
            bb_local local = many_open(&m, false, kind == 1, pull & 1);
            const size_t size = local.length;
            vectors v = vectors_new(size);
            const bb_pull p = pull_of(pull, &v, kind == 1);
            const bb_sgd sgd = {.steps = 1, .batch = m.n, .rate = 1};
            double *w = naive_vector(size, 71), *moved = naive_vector(size, 71);
            double *work = sgd_work_for(&local, &sgd), b = local.intercept ? 0.2 : 0;
            double moved_b = b;
            bb_random random = many_random(1);
            bb_local_descend(&local, &sgd, &p, &random, moved,
                             local.intercept ? &moved_b : NULL, work);
            for (size_t k = 0; k <= size; k++) {
                double *at = k < size ? w + k : &b, keep = *at, h = 1e-5;
                if (k == size && !local.intercept) break;
                *at = keep + h;
                const double up = twin_objective(&m, &local, &p, w, b);
                *at = keep - h;
                const double down = twin_objective(&m, &local, &p, w, b);
                *at = keep;
                assert_close(keep - (k < size ? moved[k] : moved_b),
                             (up - down) / (2 * h), 1e-7);
            }
            bb_random_close(&random);
            free(w);
            free(moved);
            free(work);
            vectors_free(&v);
            bb_local_close(&local);
            many_free(&m);
        }
}

/* v <- beta v + g; w <- w - rate v on 1/2 w^2, by hand. */
static void test_momentum_by_hand(void **state) {
    (void)state;
    const double x[1] = {1}, y[1] = {0};
    const bb_rows rows = {.n = 1, .d = 1, .x = x, .y = y};
    bb_local local;
    assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, false, false));
    const bb_sgd sgd = {.steps = 3, .batch = 1, .rate = 0.5, .momentum = 0.25};
    double w = 1, *work = sgd_work_for(&local, &sgd);
    bb_random random = many_random(1);
    /* v: 1, 0.75, 0.3125; w: 0.5, 0.125, -0.03125 */
    bb_local_descend(&local, &sgd, &(bb_pull){0}, &random, &w, NULL, work);
    assert_close(w, -0.03125, 0);
    bb_random_close(&random);
    free(work);
    bb_local_close(&local);
}

static void descend(const bb_local *local, bb_sgd sgd, uint64_t seed, double *w) {
    double *work = sgd_work_for(local, &sgd);
    bb_random random = many_random(seed);
    for (size_t k = 0; k < local->length; k++) w[k] = 0.1;
    bb_local_descend(local, &sgd, &(bb_pull){.penalty = 0.1}, &random, w, NULL, work);
    bb_random_close(&random);
    free(work);
}

/* ceil(10 / 4) = 3 steps an epoch; the linear decay knows how many there are. */
static void test_steps_and_seeds(void **state) {
    (void)state;
    for (int kind = 0; kind < 2 * LOSSES; kind++) {
        many m = any(10, 4, kind / 2, 3);
        bb_local local = many_open(&m, kind & 1, false, false);
        const size_t bytes = local.length * sizeof(double);
        double *a = naive_vector(local.length, 0), *b = naive_vector(local.length, 0);
        const bb_sgd epochs = {
            .epochs = 3, .batch = 4, .rate = 0.1, .decay = BB_DECAY_LINEAR};
        bb_sgd steps = epochs;
        descend(&local, epochs, 1, a);
        descend(&local, epochs, 1, b);
        assert_memory_equal(a, b, bytes);
        descend(&local, epochs, 2, b);
        assert_true(memcmp(a, b, bytes) != 0);
        steps.epochs = 0;
        steps.steps = 9;
        descend(&local, steps, 1, b);
        assert_memory_equal(a, b, bytes);
        steps.steps = 8;
        descend(&local, steps, 1, b);
        assert_true(memcmp(a, b, bytes) != 0);
        steps = (bb_sgd){.epochs = 7, .rate = 1};
        descend(&local, steps, 1, a);
        steps = (bb_sgd){.steps = 7, .rate = 1};
        descend(&local, steps, 2, b);
        assert_memory_equal(a, b, bytes);
        free(a);
        free(b);
        bb_local_close(&local);
        many_free(&m);
    }
}

/* Full steps reach the optimum that the exact solver finds. */
static void test_optimum(void **state) {
    (void)state;
    for (int setting = 0; setting < 16; setting++) {
        const int kind = setting & 1;
        many m = any(30, 6, kind, 4);
        bb_local local = many_open(&m, setting & 2, setting & 4, setting & 8);
        const double lambda = 0.2 * (local.weight == 1 ? (double)m.n : 1);
        double *centre = naive_vector(m.d, 5), *w = naive_vector(m.d, 6), b = 0.3;
        double *exact = naive_vector(m.d, 0), exact_b;
        double *work = work_for(&local);
        assert_ok(bb_local_ridge(&local, lambda, centre, exact, &exact_b, work));
        free(work);
        const bb_sgd sgd = {.steps = 500, .rate = 1, .momentum = 0.5};
        work = sgd_work_for(&local, &sgd);
        bb_local_descend(&local, &sgd, &(bb_pull){.penalty = lambda, .centre = centre},
                         NULL, w, local.intercept ? &b : NULL, work);
        for (size_t k = 0; k < m.d; k++) assert_close(w[k], exact[k], 1e-8);
        if (local.intercept) assert_close(b, exact_b, 1e-8);
        free(centre);
        free(w);
        free(exact);
        free(work);
        bb_local_close(&local);
        many_free(&m);
    }
}

/* Of losses without an exact solver: the gradient vanishes. */
static void test_optimum_of_several_outputs(void **state) {
    (void)state;
    for (int setting = 0; setting < 4; setting++) {
        many m = any(30, 6, 2 + setting / 2, 4);
        bb_local local = many_open(&m, setting & 1, false, false);
        vectors v = vectors_new(m.d * m.outputs);
        bb_pull p = {
            .penalty = 0.2, .centre = v.centre, .kl = 0.1, .teacher = v.teacher};
        bb_sgd sgd = {.steps = 1500, .rate = 1};
        double *w = naive_vector(local.length, 6), *work = sgd_work_for(&local, &sgd);
        double *before = naive_vector(local.length, 0);
        bb_local_descend(&local, &sgd, &p, NULL, w, NULL, work);
        memcpy(before, w, local.length * sizeof *w);
        const double low = twin_objective(&m, &local, &p, w, 0);
        sgd.steps = 1;
        bb_local_descend(&local, &sgd, &p, NULL, w, NULL, work);
        assert_close(naive_largest_difference(local.length, w, before), 0, 1e-12);
        for (size_t k = 0; k < local.length; k++) {
            w[k] += 1e-3;
            assert_true(twin_objective(&m, &local, &p, w, 0) > low);
            w[k] -= 2e-3;
            assert_true(twin_objective(&m, &local, &p, w, 0) > low);
            w[k] += 1e-3;
        }
        vectors_free(&v);
        free(w);
        free(work);
        free(before);
        bb_local_close(&local);
        many_free(&m);
    }
}

static void test_no_rows(void **state) {
    (void)state;
    for (int setting = 0; setting < 4 * LOSSES; setting++) {
        many m = any(0, 3, setting / 4, 1);
        const bool intercept = setting < 8;
        bb_local local = many_open(&m, setting & 1, intercept, false);
        const bb_sgd sgd = {.epochs = 4, .batch = setting & 2 ? 2 : 0, .rate = 1};
        double *work = sgd_work_for(&local, &sgd), b = 0.5;
        double *w = naive_vector(12, 3), *same = naive_vector(12, 3);
        bb_local_descend(&local, &sgd, &(bb_pull){.penalty = 1}, NULL, w,
                         intercept ? &b : NULL, work);
        assert_memory_equal(w, same, 12 * sizeof *w);
        assert_true(b == 0.5);
        free(work);
        free(w);
        free(same);
        bb_local_close(&local);
        many_free(&m);
    }
}

/* Rows that do not move a model: no step has a length, and b is still the best one. */
static void test_constant_features(void **state) {
    (void)state;
    const double x[6] = {3, 0, 3, 0, 3, 0}, y[3] = {1, 2, 6};
    const bb_rows rows = {.n = 3, .d = 2, .x = x, .y = y};
    bb_local local;
    assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, true, false));
    const bb_sgd sgd = {.steps = 2, .rate = 1};
    double w[2] = {5, 7}, b = 0, *work = sgd_work_for(&local, &sgd);
    bb_local_descend(&local, &sgd, &(bb_pull){0}, NULL, w, &b, work);
    assert_true(w[0] == 5 && w[1] == 7);
    assert_close(b, 3 - 15, 1e-14);
    free(work);
    bb_local_close(&local);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twin),
        cmocka_unit_test(test_twin_in_pieces),
        cmocka_unit_test(test_finite_differences),
        cmocka_unit_test(test_momentum_by_hand),
        cmocka_unit_test(test_steps_and_seeds),
        cmocka_unit_test(test_optimum),
        cmocka_unit_test(test_optimum_of_several_outputs),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_constant_features),
    };
    return cmocka_run_group_tests(tests, start_linalg, NULL);
}
