/* Reference values of a peer's library: truth where it is analytic, and elsewhere upper
 * bounds, which ours may not pass by more than 1e-3 (3e-4 for small epsilon) and is
 * often below. */
#include "privacy/accounting/pld.h"
#include "privacy/accounting/profile.h"
#include "table.h"
#include "test.h"

static void open_table(table *t, const char *name) {
    char path[4096];
    if (!shared_path(path, sizeof path, name)) skip();
    assert_true(table_open(t, path));
}

static double upper_of(bb_adjacency adjacency, const bb_event *event, double delta) {
    const bb_account account = {adjacency, 1, event};
    double upper, lower;
    assert_ok(bb_pld_epsilon(&account, delta, &upper, &lower));
    assert_true(lower <= upper);
    return upper;
}

static bb_event poisson_row(const table *t, double q) {
    const double z = table_real(t, "sigma");
    return bb_event_round(BB_SAMPLING_POISSON, q, 1.0 / z, 2.0 / z, table_real(t, "T"));
}

static void assert_safe(double value, double truth) {
    assert_true(value >= truth * (1.0 - 0x1p-52));
    assert_close(value, truth, 1e-9 * truth + 1e-300);
}

/* One round, 50 digits. */
static void one_round(void **state) {
    (void)state;
    table t;
    open_table(&t, "oracle/dp/subsampled_gaussian_profile_T1.csv");
    while (table_next(&t)) {
        const double q = table_real(&t, "q"), z = table_real(&t, "sigma");
        const double epsilon = table_real(&t, "epsilon");
        const bb_event poisson =
            bb_event_round(BB_SAMPLING_POISSON, q, 1.0 / z, 2.0 / z, 1.0);
        const bb_event hidden =
            bb_event_round(BB_SAMPLING_FIXED_HIDDEN, q, 1.0 / z, 2.0 / z, 1.0);
        double upper, lower;
        bb_profile(&poisson, BB_ADD_REMOVE, epsilon, &upper, &lower);
        assert_safe(upper, table_real(&t, "delta_remove"));
        assert_true(table_real(&t, "delta_add") <= upper && lower <= upper);
        bb_profile(&hidden, BB_REPLACE_ONE, epsilon, &upper, &lower);
        assert_safe(upper, table_real(&t, "delta_replace_wor_2sens"));
    }
    assert_true(table_complete(&t, 15));
    table_close(&t);
}

/* Every `stride`-th row of a table of Poisson samples: at most (1 + 1e-3) of the peer's
 * value, and for `least`, not far below it either. */
static void compare_poisson(const char *name, const char *column, size_t stride,
                            bb_adjacency adjacency, double least) {
    table t;
    size_t tested = 0;
    open_table(&t, name);
    while (table_next(&t)) {
        const double q = table_real(&t, "q"), peer = table_real(&t, column);
        const double delta = table_real(&t, "delta"), rounds = table_real(&t, "T");
        /* the peer's rounding errors */
        if (q >= 1.0 ||
            (strcmp(column, "epsilon") == 0 && delta < 2e-9 && rounds >= 1e4))
            continue;
        if (tested++ % stride) continue;
        const bb_event event = poisson_row(&t, q);
        const double upper = upper_of(adjacency, &event, delta);
        assert_true(upper <= peer * (1.0 + 1e-3) + 3e-4);
        /* grids of losses are too coarse for small epsilon */
        if (peer > 0.3) assert_true(upper >= peer * (1.0 - least));
    }
    assert_true(tested >= 30);
    table_close(&t);
}

static void poisson_remove_tilted(void **state) {
    (void)state;
    compare_poisson("oracle/dp/pld_poisson_remove_tilted.csv", "epsilon_tilted_fft", 9,
                    BB_ADD_REMOVE, 0.02);
}

static void poisson_add_remove(void **state) {
    (void)state;
    compare_poisson("oracle/dp/pld_poisson_addremove.csv", "epsilon", 23, BB_ADD_REMOVE,
                    0.02);
}

/* Every row with delta >= 1e-6, which all are upper bounds: ours is at most 1e-3 above,
 * however small epsilon is, and its own lower bound is that close, or 1e-6. */
static void poisson_all_rows(void **state) {
    (void)state;
    table t;
    size_t tested = 0;
    open_table(&t, "oracle/dp/pld_poisson_addremove.csv");
    while (table_next(&t)) {
        const double delta = table_real(&t, "delta"), peer = table_real(&t, "epsilon");
        if (delta < 1e-6) continue;
        const bb_event event = poisson_row(&t, table_real(&t, "q"));
        const bb_account account = {BB_ADD_REMOVE, 1, &event};
        double upper, lower;
        assert_ok(bb_pld_epsilon(&account, delta, &upper, &lower));
        assert_true(upper <= peer * (1.0 + 1e-3));
        assert_true(lower <= upper && lower >= upper * (1.0 - 1e-3) - 1e-6);
        tested++;
    }
    assert_true(table_complete(&t, 15) && tested >= 30);
    table_close(&t);
}

static void poisson_refined(void **state) {
    (void)state;
    compare_poisson("oracle/dp/pld_poisson_refined.csv", "eps_richardson", 1,
                    BB_ADD_REMOVE, 5e-3);
}

static void poisson_replace_one(void **state) {
    (void)state;
    compare_poisson("oracle/dp/pld_poisson_replaceone.csv", "epsilon", 9,
                    BB_REPLACE_ONE, 0.02);
}

static void fixed_size_hidden(void **state) {
    (void)state;
    table t;
    size_t tested = 0;
    open_table(&t, "oracle/dp/pld_wor_replaceone_profile.csv");
    while (table_next(&t)) {
        if (tested++ % 23) continue;
        const double z = table_real(&t, "sigma_over_clip"),
                     peer = table_real(&t, "epsilon");
        const bb_event event = bb_event_round(BB_SAMPLING_FIXED_HIDDEN,
                                              table_real(&t, "m") / table_real(&t, "n"),
                                              1.0 / z, 2.0 / z, table_real(&t, "T"));
        const double upper = upper_of(BB_REPLACE_ONE, &event, table_real(&t, "delta"));
        assert_true(upper <= peer * (1.0 + 1e-3) + 3e-4);
        if (peer > 0.3) assert_true(upper >= peer * 0.98);
    }
    assert_true(table_complete(&t, 15));
    table_close(&t);
}

static void all_tasks(void **state) {
    (void)state;
    table t;
    open_table(&t, "oracle/dp/pld_fft_tilted_check.csv");
    while (table_next(&t)) {
        const double z = table_real(&t, "sigma"), rounds = table_real(&t, "T");
        const bb_event half[] = {bb_event_gaussian(1.0 / z, rounds / 2.0),
                                 bb_event_gaussian(1.0 / z, rounds / 2.0)};
        const bb_account account = {BB_ADD_REMOVE, 2, half};
        const double truth = table_real(&t, "eps_truth");
        double upper, lower;
        assert_ok(bb_pld_epsilon(&account, table_real(&t, "delta"), &upper, &lower));
        assert_safe(upper, truth);
        assert_true(lower <= truth && lower >= truth * (1.0 - 1e-8));
    }
    assert_true(table_complete(&t, 15));
    table_close(&t);
}

/* One mechanism under its accountings: the visible cohort is above everything that a
 * hidden one may claim. */
static void one_mechanism(void **state) {
    (void)state;
    table t;
    open_table(&t, "oracle/dp/compare_sampling_n139_m14.csv");
    while (table_next(&t)) {
        const double q = table_real(&t, "m") / table_real(&t, "n");
        const double z = table_real(&t, "sigma_over_clip"),
                     rounds = table_real(&t, "T");
        const double delta = table_real(&t, "delta");
        const bb_event hidden =
            bb_event_round(BB_SAMPLING_FIXED_HIDDEN, q, 1.0 / z, 2.0 / z, rounds);
        bb_event visible = hidden;
        visible.sampling = BB_SAMPLING_FIXED_VISIBLE;
        const double secret = upper_of(BB_REPLACE_ONE, &hidden, delta);
        assert_relative(secret, table_real(&t, "wor_replace_pld_upper"), 1e-3);
        assert_true(secret >=
                    table_real(&t, "wor_replace_pld_lower_achievable") * 0.999);
        assert_true(upper_of(BB_REPLACE_ONE, &visible, delta) > secret);
    }
    assert_true(table_complete(&t, 40));
    table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_round),          cmocka_unit_test(poisson_remove_tilted),
        cmocka_unit_test(poisson_add_remove), cmocka_unit_test(poisson_all_rows),
        cmocka_unit_test(poisson_refined),    cmocka_unit_test(poisson_replace_one),
        cmocka_unit_test(fixed_size_hidden),  cmocka_unit_test(all_tasks),
        cmocka_unit_test(one_mechanism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
