/* Lazy steps of several outputs with sparse rows against the plain twin, which pulls
 * every parameter at every step. */
#include "learners/outputs_problem.h"

static const bb_decay decays[] = {BB_DECAY_CONSTANT, BB_DECAY_LINEAR, BB_DECAY_INVERSE};

/* Keeps about one entry in eight, so that features are missed for many steps. */
static void thin(many *m, uint64_t seed) {
    size_t used = 7;
    for (size_t j = 0; j < m->n; j++) {
        m->rows.first[j] = used;
        for (size_t k = 0; k < m->d; k++) {
            double *x = m->rows.x + j * m->d + k;
            if (naive_random(&seed) < 0.75) *x = 0;
            if (*x == 0) continue;
            m->rows.column[used] = (uint32_t)k;
            m->rows.value[used++] = *x;
        }
    }
    m->rows.first[m->n] = used;
}

typedef struct setting {
    double rate, penalty, kl;
    bool centre, fisher;
    double momentum;
    size_t batch;
    uint64_t epochs;
} setting;

static double difference(bb_loss loss, bb_decay decay, const setting *s) {
    many m = many_new(23, 40, 3, loss, 5);
    thin(&m, 17);
    bb_local local = many_open(&m, true, false, false);
    assert_true(local.touched_count < m.d && local.touched_count > m.d / 2);
    const size_t size = m.d * m.outputs;
    double *centre = naive_vector(size, 61), *fisher = naive_vector(size, 62);
    double *teacher = naive_vector(size, 63);
    for (size_t k = 0; k < size; k++) fisher[k] = fabs(fisher[k]);
    const bb_pull pull = {.penalty = s->penalty,
                          .centre = s->centre ? centre : NULL,
                          .fisher = s->fisher ? fisher : NULL,
                          .kl = s->kl,
                          .teacher = teacher};
    const bb_sgd sgd = {.epochs = s->epochs,
                        .batch = s->batch,
                        .rate = s->rate,
                        .momentum = s->momentum,
                        .decay = decay};
    const double out = many_compare(&m, &local, &sgd, &pull);
    free(centre);
    free(fisher);
    free(teacher);
    bb_local_close(&local);
    many_free(&m);
    return out;
}

static void test_twin(void **state) {
    (void)state;
    const setting settings[] = {
        {.rate = 0.3, .batch = 2},
        {.rate = 0.3, .batch = 2, .penalty = 0.4},
        {.rate = 0.3, .batch = 1, .penalty = 0.4, .centre = true},
        {.rate = 0.3, .batch = 5, .penalty = 0.4, .centre = true, .kl = 0.5},
        {.rate = 0.3, .batch = 23, .penalty = 0.4, .centre = true},
        {.rate = 0.3, .batch = 2, .penalty = 0.4, .centre = true, .fisher = true},
        {.rate = 0.1, .batch = 2, .penalty = 0.4, .centre = true, .momentum = 0.7},
        {.rate = 1, .batch = 0, .penalty = 0.4, .centre = true, .kl = 0.5},
        {.rate = 1, .batch = 0, .momentum = 0.5},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (int k = 0; k < 6; k++) {
            setting s = settings[i];
            s.epochs = 6;
            assert_close(difference(k < 3 ? BB_LOSS_SOFTMAX : BB_LOSS_MULTILABEL,
                                    decays[k % 3], &s),
                         0, 1e-10);
        }
}

/* The product of the factors passes through zero, changes its sign at every step,
 * leaves the range of numbers, or grows. */
static void test_strong_pulls(void **state) {
    (void)state;
    const double penalties[] = {4, 6, 7.6, 8.2, 3.99999, 4 * (1 - 1e-12)};
    for (size_t i = 0; i < sizeof penalties / sizeof *penalties; i++)
        for (int k = 0; k < 3; k++) {
            const setting s = {.rate = 0.25,
                               .batch = 2,
                               .penalty = penalties[i],
                               .centre = true,
                               .epochs = penalties[i] > 8 ? 2 : 40};
            assert_close(difference(BB_LOSS_SOFTMAX, decays[k], &s), 0, 1e-10);
        }
    /* Linear decay of a pull that starts at a growing factor. */
    const setting s = {
        .rate = 0.25, .batch = 2, .penalty = 12, .centre = true, .epochs = 3};
    assert_close(difference(BB_LOSS_SOFTMAX, BB_DECAY_LINEAR, &s), 0, 1e-5);
}

/* A million features, of which four occur, and a work space that does not know of the
 * others. */
static void test_many_features(void **state) {
    (void)state;
    enum { FEATURES = 1000000, C = 3 };
    const size_t first[] = {0, 2, 4};
    const uint32_t column[] = {5, 999999, 5, 123456};
    const double value[] = {1, 2, -1, 0.5}, y[] = {2, 0};
    bb_rows rows = {.n = 2,
                    .d = FEATURES,
                    .sparse_first = first,
                    .sparse_column = column,
                    .sparse_value = value,
                    .y = y};
    const uint32_t small_column[] = {0, 2, 0, 1};
    bb_local large, small;
    assert_ok(bb_local_open_outputs(&large, rows, BB_LOSS_SOFTMAX, C, NULL, false));
    rows.d = 3;
    rows.sparse_column = small_column;
    assert_ok(bb_local_open_outputs(&small, rows, BB_LOSS_SOFTMAX, C, NULL, false));
    assert_int_equal(large.length, 9);
    assert_true(large.lipschitz == small.lipschitz);
    double a[9] = {0}, b[9] = {0};
    const bb_sgd sgd = {.epochs = 5, .batch = 1, .rate = 0.2};
    assert_int_equal(bb_sgd_work(&large, &sgd), bb_sgd_work(&small, &sgd));
    double *work = sgd_work_for(&large, &sgd);
    bb_random random = many_random(4), again = many_random(4);
    bb_local_descend(&large, &sgd, &(bb_pull){.penalty = 1}, &random, a, NULL, work);
    bb_local_descend(&small, &sgd, &(bb_pull){.penalty = 1}, &again, b, NULL, work);
    assert_memory_equal(a, b, sizeof a);
    assert_true(a[0] != 0);
    bb_random_close(&random);
    bb_random_close(&again);
    free(work);
    bb_local_close(&large);
    bb_local_close(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twin),
        cmocka_unit_test(test_strong_pulls),
        cmocka_unit_test(test_many_features),
    };
    return cmocka_run_group_tests(tests, start_linalg, NULL);
}
