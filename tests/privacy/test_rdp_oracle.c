/* Reference values: high-precision quadrature, and a peer's library where it is right
 * (integer orders under Poisson sampling). */
#include "privacy/accounting/rdp.h"
#include "table.h"
#include "test.h"

static void open_table(table *t, const char *name) {
    char path[4096];
    if (!shared_path(path, sizeof path, name)) skip();
    assert_true(table_open(t, path));
}

static void fractional_orders(void **state) {
    (void)state;
    table t;
    open_table(&t, "oracle/dp/rdp_fractional_truth.csv");
    while (table_next(&t)) {
        const double rdp = bb_rdp_poisson(table_real(&t, "q"), table_real(&t, "sigma"),
                                          table_real(&t, "order"));
        const double truth = table_real(&t, "rdp_truth_quadrature");
        assert_relative(rdp, truth, 3e-12);
        assert_true(rdp >= truth * (1.0 - 0x1p-52));
    }
    assert_true(table_complete(&t, 15));
    table_close(&t);
}

static void integer_orders(void **state) {
    (void)state;
    table t;
    size_t tested = 0;
    open_table(&t, "oracle/dp/rdp_curve_poisson_addremove.csv");
    while (table_next(&t)) {
        const double order = table_real(&t, "order");
        const double peer = table_real(&t, "rdp_one_step");
        if (order != floor(order) || isinf(peer)) continue;
        const double rdp =
            bb_rdp_poisson(table_real(&t, "q"), table_real(&t, "sigma"), order);
        /* the peer sums all terms of a moment near 1: its error there is absolute */
        assert_close(rdp, peer, 1e-10 * peer + 1e-15 * order / (order - 1.0));
        tested++;
    }
    assert_true(table_complete(&t, 15));
    assert_true(tested >= 60);
    table_close(&t);
}

/* The peer's list of orders is finite and its conversion is ours: at its own order we
 * agree, over all orders we are at most as large. */
static void poisson_epsilon(void **state) {
    (void)state;
    table t;
    size_t tested = 0;
    open_table(&t, "oracle/dp/rdp_poisson_addremove.csv");
    while (table_next(&t)) {
        const double order = table_real(&t, "opt_order");
        const double peer = table_real(&t, "epsilon");
        if (order != floor(order) || order <= 1.0 || isinf(peer)) continue;
        const bb_rdp_event event = {BB_RDP_POISSON, table_real(&t, "q"),
                                    table_real(&t, "sigma"), table_real(&t, "T")};
        const double delta = table_real(&t, "delta");
        const double rdp = bb_rdp_compose(1, &event, order);
        if (peer > 0.0)
            assert_close(bb_rdp_to_epsilon(rdp, order, delta), peer,
                         1e-10 * peer + event.rounds * 1e-15 * order / (order - 1.0));
        if (tested++ % 4 == 0)
            assert_true(bb_rdp_epsilon(1, &event, delta, NULL) <=
                        peer * (1.0 + 1e-9) +
                            event.rounds * 1e-15 * order / (order - 1.0));
    }
    assert_true(table_complete(&t, 15));
    assert_true(tested >= 60);
    table_close(&t);
}

/* The peer is a bound from above only where its floating point holds: small orders,
 * where neither noise nor share is large. */
static void fixed_size(void **state) {
    (void)state;
    table t;
    size_t tested = 0;
    open_table(&t, "oracle/dp/rdp_curve_wor_replaceone.csv");
    while (table_next(&t)) {
        const double order = table_real(&t, "order"), sigma = table_real(&t, "sigma");
        const double gamma = table_real(&t, "m") / table_real(&t, "n");
        const double peer = table_real(&t, "rdp_one_step");
        if (order != floor(order) || isinf(peer)) continue;
        const double rdp = bb_rdp_without_replacement(gamma, sigma, order);
        assert_true(rdp <= order / (2.0 * sigma * sigma) * (1.0 + 1e-12));
        if (gamma > 0.1 || sigma > 2.0 || order > 16.0) continue;
        const double cap = order / (2.0 * sigma * sigma);
        assert_relative(rdp, fmin(peer, cap), 1e-9);
        tested++;
    }
    assert_true(table_complete(&t, 15));
    assert_true(tested >= 9);
    table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractional_orders),
        cmocka_unit_test(integer_orders),
        cmocka_unit_test(poisson_epsilon),
        cmocka_unit_test(fixed_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
