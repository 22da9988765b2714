/* Descent, outputs and Fisher information through a network: a stand-in with the
 * interface of net.h, of one layer, that handles 5 rows at once. */
#include "learners/net.h"
#include "learners/outputs_problem.h"

enum { BATCH = 5, FEATURES = 6 };

struct bb_net_lane {
    const double *w, *x[BATCH];
    double bend[BATCH * 64];
    size_t count;
};

struct bb_net {
    size_t inputs, outputs;
    bb_net_lane *lane;
};

size_t bb_net_inputs(const bb_net *net) {
    return net->inputs;
}

size_t bb_net_outputs(const bb_net *net) {
    return net->outputs;
}

size_t bb_net_parameters(const bb_net *net) {
    return (net->inputs + 1) * net->outputs;
}

size_t bb_net_batch(const bb_net *net) {
    (void)net;
    return BATCH;
}

bb_net_lane *bb_net_take(const bb_net *net) {
    assert_null(net->lane->w);
    net->lane->w = net->lane->bend; /* taken */
    return net->lane;
}

void bb_net_give(const bb_net *net, bb_net_lane *lane) {
    assert_ptr_equal(net->lane, lane);
    assert_non_null(lane->w);
    lane->w = NULL;
}

void bb_net_forward(const bb_net *net, bb_net_lane *lane, const double *w, size_t count,
                    const double *const *x, double *z) {
    const double *a = w + net->inputs * net->outputs;
    assert_true(count >= 1 && count <= BATCH);
    lane->count = count;
    lane->w = w;
    for (size_t r = 0; r < count; r++) {
        lane->x[r] = x[r];
        for (size_t c = 0; c < net->outputs; c++) {
            const double t = tanh(naive_dot(net->inputs, w + c * net->inputs, x[r]));
            z[r * net->outputs + c] = t + a[c];
            lane->bend[r * net->outputs + c] = 1 - t * t;
        }
    }
}

void bb_net_backward(const bb_net *net, bb_net_lane *lane, const double *dz,
                     double *g) {
    memset(g, 0, bb_net_parameters(net) * sizeof *g);
    for (size_t r = 0; r < lane->count; r++)
        for (size_t c = 0; c < net->outputs; c++) {
            const double at = dz[r * net->outputs + c];
            for (size_t k = 0; k < net->inputs; k++)
                g[c * net->inputs + k] +=
                    at * lane->bend[r * net->outputs + c] * lane->x[r][k];
            g[net->inputs * net->outputs + c] += at;
        }
}

static const bb_loss losses[] = {BB_LOSS_SQUARED, BB_LOSS_LOGISTIC, BB_LOSS_SOFTMAX,
                                 BB_LOSS_MULTILABEL};

static many with_net(bb_net *net, size_t n, int kind) {
    many m = many_new(n, FEATURES, kind < 2 ? 1 : 4, losses[kind], 3);
    net->inputs = FEATURES;
    net->outputs = m.outputs;
    m.net = net;
    m.parameters = bb_net_parameters(net);
    return m;
}

static void test_twin(void **state) {
    (void)state;
    const size_t batches[] = {0, 1, 5, 8, 40};
    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < 5; i++)
            for (int setting = 0; setting < 16; setting++) {
                bb_net_lane lane = {0};
                bb_net net = {.lane = &lane};
                many m = with_net(&net, 13, kind);
                bb_local local = many_open(&m, false, false, false);
                double *centre = naive_vector(m.parameters, 61);
                double *fisher = naive_vector(m.parameters, 62);
                double *teacher = naive_vector(m.parameters, 63);
                const bb_pull pull = {.penalty = setting & 1 ? 0.4 : 0,
                                      .centre = centre,
                                      .fisher = setting & 2 ? fisher : NULL,
                                      .kl = setting & 4 ? 0.3 : 0,
                                      .teacher = teacher};
                const bb_sgd sgd = {.epochs = 3,
                                    .batch = batches[i],
                                    .rate = 0.1,
                                    .momentum = setting & 8 ? 0.6 : 0};
                assert_close(many_compare(&m, &local, &sgd, &pull), 0, 1e-12);
                assert_null(lane.w);
                free(centre);
                free(fisher);
                free(teacher);
                bb_local_close(&local);
                many_free(&m);
            }
}

static void test_all_rows(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bb_net_lane lane = {0};
        bb_net net = {.lane = &lane};
        many m = with_net(&net, 13, kind);
        bb_local local = many_open(&m, false, false, true);
        assert_int_equal(local.length, 7 * m.outputs);
        assert_true(local.lipschitz == 0);
        const size_t size = m.parameters;
        double *w = naive_vector(size, 4), *work = sgd_work_for(&local, &(bb_sgd){0});
        double at[4], dz[4];
        double *fisher = naive_vector(size, 0), *expected = get(size, sizeof *expected);
        double *g = naive_vector(size, 0);
        bb_local_fisher(&local, w, 0, fisher, work);
        for (size_t j = 0; j < m.n; j++) {
            twin_outputs(&m, j, w, 0, at);
            (void)twin_loss(&m, j, at, dz);
            memset(g, 0, size * sizeof *g);
            twin_add_gradient(&m, j, w, at, dz, 1, g);
            for (size_t k = 0; k < size; k++) expected[k] += g[k] * g[k] / 13;
        }
        assert_close(naive_largest_difference(size, fisher, expected), 0, 1e-13);
        assert_null(lane.w);
        assert_true(bb_local_work(&local) >= bb_sgd_work(&local, &(bb_sgd){0}));
        free(w);
        free(work);
        free(fisher);
        free(expected);
        free(g);
        bb_local_close(&local);
        many_free(&m);
    }
}

static void test_what_does_not_fit(void **state) {
    (void)state;
    bb_net_lane lane = {0};
    bb_net net = {.lane = &lane};
    bb_local local;
    for (int kind = 0; kind < 3; kind++) {
        many m = with_net(&net, 4, kind);
        const size_t C = m.outputs;
        bb_rows rows = m.dense;
        assert_fails(bb_local_open_outputs(&local, m.sparse, m.loss, C, &net, true),
                     BB_EUSAGE, "dense");
        rows.d--;
        assert_fails(bb_local_open_outputs(&local, rows, m.loss, C, &net, true),
                     BB_EUSAGE, "6 features");
        rows.d++;
        net.outputs++;
        assert_fails(bb_local_open_outputs(&local, rows, m.loss, C, &net, true),
                     BB_EUSAGE, "outputs");
        net.outputs--;
        m.rows.x[3] = INFINITY;
        assert_fails(bb_local_open_outputs(&local, rows, m.loss, C, &net, true),
                     BB_ENUMERIC, "rows");
        m.y[1] = NAN;
        assert_int_equal(bb_local_open_outputs(&local, rows, m.loss, C, &net, true),
                         kind ? BB_EDATA : BB_ENUMERIC);
        m.y[1] = 0.5;
        if (kind == 1)
            assert_fails(bb_local_open_outputs(&local, rows, m.loss, C, &net, true),
                         BB_EDATA, "-1 or 1");
        many_free(&m);
    }
    assert_int_equal(bb_model_parameters(FEATURES, 4, &net), 7 * net.outputs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twin),
        cmocka_unit_test(test_all_rows),
        cmocka_unit_test(test_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, start_linalg, NULL);
}
