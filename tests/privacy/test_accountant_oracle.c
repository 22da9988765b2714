/* Reference values: a peer's library, mpmath with 60 digits, and an independent program
 * for the published algorithms. Published numbers must not be below truth, and within
 * 1e-9 of it. */
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/schedule.h"
#include "table.h"
#include "test.h"

#include <jansson.h>

enum { STEPS = 256 };

static void open_table(table *t, const char *name) {
    char path[4096];
    if (!shared_path(path, sizeof path, name)) skip();
    assert_true(table_open(t, path));
}

/* Truth is a double nearest to the true value: half a unit in the last place is not a
 * violation. */
static void assert_safe(double value, double truth) {
    assert_true(value >= truth * (1.0 - 0x1p-53));
    assert_relative(value, truth, 1e-9);
}

static void gaussian_sigma(void **state) {
    (void)state;
    table t;
    open_table(&t, "oracle/dp/analytic_gaussian.csv");
    while (table_next(&t)) {
        const double mu = bb_gdp_mu(table_real(&t, "epsilon"), table_real(&t, "delta"));
        assert_safe(1.0 / mu, table_real(&t, "sigma_mpmath60"));
    }
    assert_true(table_complete(&t, 15));
    table_close(&t);
}

static void gaussian_epsilon(void **state) {
    (void)state;
    table t;
    open_table(&t, "oracle/dp/analytic_gaussian_eps.csv");
    while (table_next(&t)) {
        const double mu = 1.0 / table_real(&t, "sigma");
        const double epsilon = bb_gdp_epsilon(mu, table_real(&t, "delta"));
        assert_safe(epsilon, table_real(&t, "epsilon_mpmath60"));
        /* and the way back */
        if (epsilon > 0.0)
            assert_relative(bb_gdp_delta(mu, epsilon), table_real(&t, "delta"), 1e-9);
    }
    assert_true(table_complete(&t, 15));
    table_close(&t);
}

static void zcdp(void **state) {
    (void)state;
    table t;
    open_table(&t, "oracle/dp/zcdp_gdp.csv");
    while (table_next(&t)) {
        const double mu = sqrt(2.0 * table_real(&t, "param"));
        const double epsilon = bb_gdp_epsilon(mu, table_real(&t, "delta"));
        const double truth = table_real(&t, "eps_gdp_exact");
        assert_true(epsilon >= truth * (1.0 - 1e-13)); /* mu is rounded here */
        assert_relative(epsilon, truth, 1e-9);
    }
    assert_true(table_complete(&t, 15));
    table_close(&t);
}

static void kov_rows(void **state) {
    (void)state;
    table t;
    open_table(&t, "oracle/dp/kov_heterogeneous.csv");
    while (table_next(&t)) {
        double epsilon[STEPS], delta[STEPS];
        const size_t steps = table_list(&t, "eps_list", epsilon, STEPS);
        assert_int_equal(steps, (size_t)table_real(&t, "k"));
        assert_int_equal(steps, table_list(&t, "delta_list", delta, STEPS));
        const double slack = bb_kov_slack(steps, delta, table_real(&t, "delta_total"));
        /* the reference subtracts in double precision and keeps fewer digits */
        assert_close(slack, table_real(&t, "delta_tilde"), 1e-15);
        const double bound = bb_kov_epsilon(steps, epsilon, slack);
        assert_relative(bound, table_real(&t, "epsilon_thm35"), 1e-9);
        assert_true(bound >= table_real(&t, "epsilon_thm35") * (1.0 - 1e-11));
        const char *optimal = table_text(&t, "epsilon_exact_optimal");
        if (*optimal) assert_true(bound >= strtod(optimal, NULL));
    }
    assert_true(table_complete(&t, 15));
    table_close(&t);
}

/* Theorem 3.3 is the exact optimum for equal steps: the bound stays above it. */
static void kov_above_optimum(void **state) {
    (void)state;
    table t;
    open_table(&t, "oracle/dp/kov_homogeneous.csv");
    while (table_next(&t)) {
        double epsilon[STEPS], delta[STEPS];
        const size_t steps = (size_t)table_real(&t, "k");
        assert_in_range(steps, 1, STEPS);
        for (size_t k = 0; k < steps; k++) {
            epsilon[k] = table_real(&t, "eps0");
            delta[k] = table_real(&t, "delta0");
        }
        const double slack = bb_kov_slack(steps, delta, table_real(&t, "delta_total"));
        const double bound = bb_kov_epsilon(steps, epsilon, slack);
        assert_true(bound >= table_real(&t, "epsilon_thm33_dp_accounting"));
    }
    assert_true(table_complete(&t, 15));
    table_close(&t);
}

static double number(const json_t *row, const char *name) {
    const json_t *value = json_object_get(row, name);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static size_t numbers(const json_t *row, const char *name, double *out) {
    const json_t *list = json_object_get(row, name);
    const size_t count = json_array_size(list);
    assert_in_range(count, 1, STEPS);
    for (size_t k = 0; k < count; k++)
        out[k] = json_number_value(json_array_get(list, k));
    return count;
}

static void check_allocation(const json_t *row) {
    double expected[STEPS], weight[STEPS], epsilon[STEPS];
    char schedule[64];
    const size_t steps = numbers(row, "eps_t", expected);
    const char *kind = json_string_value(json_object_get(row, "kind"));
    snprintf(schedule, sizeof schedule, "%s:%.17g",
             strcmp(kind, "Q") == 0 ? "geometric" : "power", number(row, "par"));
    assert_ok(bb_schedule(schedule, steps, weight));
    assert_ok(bb_kov_allocate(steps, weight, number(row, "eps"), number(row, "delta"),
                              epsilon));
    for (size_t k = 0; k < steps; k++) assert_relative(epsilon[k], expected[k], 1e-9);
    const double whole = bb_kov_epsilon(steps, epsilon, number(row, "delta"));
    assert_true(whole <= number(row, "eps"));
    assert_relative(whole, number(row, "CB"), 1e-12);
}

/* Noise of the Gaussian mechanism with mu_t proportional to a_t. */
static void check_noise(const json_t *row) {
    double expected[STEPS], weight[STEPS], square = 0.0;
    char schedule[64];
    const size_t steps = numbers(row, "s_t", expected);
    snprintf(schedule, sizeof schedule, "power:%.17g", number(row, "par"));
    assert_ok(bb_schedule(schedule, steps, weight));
    for (size_t k = 0; k < steps; k++) square += weight[k] * weight[k];
    const double mu = bb_gdp_mu(number(row, "eps"), number(row, "delta"));
    for (size_t k = 0; k < steps; k++)
        assert_relative(number(row, "sens") * sqrt(square) / (mu * weight[k]),
                        expected[k], 1e-9);
}

static void published_algorithms(void **state) {
    (void)state;
    char path[4096];
    if (!shared_path(path, sizeof path, "oracle/mpmtl/privacy.json")) skip();
    json_error_t error;
    json_t *json = json_load_file(path, 0, &error);
    assert_non_null(json);
    size_t k;
    json_t *row;
    json_array_foreach(json_object_get(json, "composition_bound"), k, row) {
        double epsilon[STEPS];
        const size_t steps = numbers(row, "eps", epsilon);
        assert_relative(bb_kov_epsilon(steps, epsilon, number(row, "delta")),
                        number(row, "CB"), 1e-12);
    }
    assert_int_equal(k, 6);
    json_array_foreach(json_object_get(json, "allocation"), k, row)
        check_allocation(row);
    assert_int_equal(k, 7);
    json_array_foreach(json_object_get(json, "gdp_mu"), k, row) {
        const double mu = bb_gdp_mu(number(row, "eps"), number(row, "delta"));
        assert_relative(mu, number(row, "mu"), 1e-9);
    }
    assert_int_equal(k, 12);
    json_array_foreach(json_object_get(json, "gauss_sigma"), k, row) check_noise(row);
    assert_int_equal(k, 2);
    json_decref(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian_sigma),
        cmocka_unit_test(gaussian_epsilon),
        cmocka_unit_test(zcdp),
        cmocka_unit_test(kov_rows),
        cmocka_unit_test(kov_above_optimum),
        cmocka_unit_test(published_algorithms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
