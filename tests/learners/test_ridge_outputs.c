/* Ridge of several outputs: at the least value of its definition, whatever the rows. */
#include "learners/outputs_problem.h"

enum { ROWS = 40, D = 5, OUTPUTS = 4 };

/* The derivatives of the row that holds the free outputs, from its definition: every
 * class in equal parts, every label by halves. */
static void twin_hold(const many *m, const double *b, double *g) {
    long double p[64];
    if (m->loss == BB_LOSS_SOFTMAX) twin_law(m->outputs, b, p);
    for (size_t c = 0; c < m->outputs; c++)
        g[c] += m->loss == BB_LOSS_SOFTMAX
                    ? (double)p[c] - 1.0 / (double)m->outputs
                    : (double)(1 / (1 + expl(-(long double)b[c]))) - 0.5;
}

/* How long the gradient is at W, all d x outputs numbers. */
static double twin_slope(const many *m, double lambda, const double *centre,
                         bool free_last, const double *W) {
    double z[64], dz[64], *g = naive_vector(m->parameters, 0), sum = 0;
    const size_t penalised = m->parameters - (free_last ? m->outputs : 0);
    memset(g, 0, m->parameters * sizeof *g);
    for (size_t j = 0; j < m->n; j++) {
        twin_outputs(m, j, W, 0, z);
        (void)twin_loss(m, j, z, dz);
        twin_add_gradient(m, j, W, z, dz, 1, g);
    }
    for (size_t k = 0; k < penalised; k++)
        g[k] += lambda * (W[k] - (centre ? centre[k] : 0.0));
    if (free_last) twin_hold(m, W + penalised, g + penalised);
    for (size_t k = 0; k < m->parameters; k++) sum += g[k] * g[k];
    free(g);
    return sqrt(sum);
}

/* The model of one task, all d x outputs numbers; the caller frees. */
static double *learn_around(many *m, bool sparse, double lambda, const double *centre,
                            bool free_last) {
    bb_local local = many_open(m, sparse, false, true);
    double *work = naive_vector(bb_local_ridge_outputs_work(&local), 3);
    double *own = naive_vector(local.length, 4), *W = naive_vector(m->parameters, 0);
    memset(W, 0, m->parameters * sizeof *W);
    bb_local_ridge_outputs(&local, lambda, centre, free_last, own, work);
    for (size_t k = 0; k < local.length; k++) {
        const size_t row = k / m->outputs;
        W[(local.touched ? local.touched[row] : row) * m->outputs + k % m->outputs] =
            own[k];
    }
    free(work);
    free(own);
    bb_local_close(&local);
    return W;
}

static double *learn(many *m, bool sparse, double lambda, bool free_last) {
    return learn_around(m, sparse, lambda, NULL, free_last);
}

static void the_gradient_vanishes(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SOFTMAX; loss <= BB_LOSS_MULTILABEL; loss++)
        for (int kind = 0; kind < 4; kind++)
            for (double lambda = 1e-2; lambda < 200; lambda *= 100) {
                const bool sparse = kind & 1, free_last = kind & 2;
                many m = many_new(ROWS, D, OUTPUTS, (bb_loss)loss, 7);
                double *zero = calloc(m.parameters, sizeof *zero);
                double *W = learn(&m, sparse, lambda, free_last);
                assert_true(twin_slope(&m, lambda, NULL, free_last, W) <
                            1e-4 * twin_slope(&m, lambda, NULL, free_last, zero));
                free(W);
                free(zero);
                many_free(&m);
            }
}

/* So where columns differ a thousandfold in length, and all are far from zero. */
static void columns_of_any_length(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SOFTMAX; loss <= BB_LOSS_MULTILABEL; loss++) {
        many m = many_new(ROWS, D, OUTPUTS, (bb_loss)loss, 7);
        for (size_t k = 0; k < ROWS * D; k++)
            m.rows.x[k] = (m.rows.x[k] + 3.0) * pow(10.0, (double)(k % D) - 2.0);
        double *zero = calloc(m.parameters, sizeof *zero);
        double *W = learn(&m, false, 1e-2, false);
        assert_true(twin_slope(&m, 1e-2, NULL, false, W) <
                    2e-5 * twin_slope(&m, 1e-2, NULL, false, zero));
        free(W);
        free(zero);
        many_free(&m);
    }
}

/* Around a centre: the gradient vanishes there, far from it with a small penalty and close
 * with a large one. */
static void a_centre_pulls(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SOFTMAX; loss <= BB_LOSS_MULTILABEL; loss++)
        for (double lambda = 1e-2; lambda < 2e6; lambda *= 1e4) {
            many m = many_new(ROWS, D, OUTPUTS, (bb_loss)loss, 7);
            double *centre = naive_vector(m.parameters, 9);
            double *W = learn_around(&m, false, lambda, centre, false);
            assert_true(twin_slope(&m, lambda, centre, false, W) <
                        1e-4 * twin_slope(&m, lambda, centre, false, centre));
            const double moved = naive_largest_difference(m.parameters, W, centre);
            assert_true(lambda > 1e5 ? moved < 1e-4 : moved > 1e-3);
            free(W);
            free(centre);
            many_free(&m);
        }
}

/* Classes that no row has are unlikely, but not impossible, and W does not move for
 * them but through the others. */
static void unseen_classes_stay_finite(void **state) {
    (void)state;
    many m = many_new(ROWS, D, OUTPUTS, BB_LOSS_SOFTMAX, 5);
    for (size_t j = 0; j < m.n; j++) {
        m.y[j] = (double)(j % 2);
        m.rows.x[j * D + D - 1] = 1.0; /* the constant */
    }
    double *W = learn(&m, false, 1e-3, true), z[64];
    long double p[64], unseen = 0;
    for (size_t j = 0; j < m.n; j++) {
        twin_outputs(&m, j, W, 0, z);
        twin_law(OUTPUTS, z, p);
        unseen += (p[2] + p[3]) / ROWS;
    }
    /* two quarters of one row, beside ROWS others */
    assert_true(unseen > 0.1 / ROWS && unseen < 0.5 / ROWS);
    free(W);
    many_free(&m);
}

static void without_rows_nothing_is_learned(void **state) {
    (void)state;
    many m = many_new(1, D, OUTPUTS, BB_LOSS_SOFTMAX, 5);
    m.n = m.dense.n = m.sparse.n = 0;
    double *W = learn(&m, false, 1.0, true);
    for (size_t k = 0; k < m.parameters; k++) assert_true(W[k] == 0.0);
    free(W);
    many_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_vanishes),
        cmocka_unit_test(columns_of_any_length),
        cmocka_unit_test(a_centre_pulls),
        cmocka_unit_test(unseen_classes_stay_finite),
        cmocka_unit_test(without_rows_nothing_is_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
