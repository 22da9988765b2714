/* What the ledger counts is on the safe side to the last bit, and on the disk. */
#include "ledgers.h"
#include "privacy/accounting/accountant.h"
#include "privacy/ledger/ledger_file.h"

#include <math.h>

/* Costs are never below the true ones, limits never above, not by one rounding error:
 * fma has the sign of what rounding took away. */
static void rounding_is_on_the_safe_side(void **state) {
    bb_ledger_terms terms = {.tasks = 100,
                             .adjacency = BB_REPLACE_ONE,
                             .epsilon = 1.0,
                             .delta = 1e-5,
                             .kind = BB_LEDGER_GDP};
    bb_ledger *ledger = fresh(file_of(state), &terms);
    size_t rounded_down = 0;
    for (int k = 1; k <= 500; k++) {
        const double mu = 0.37 + k * 1e-3 / 7.0;
        const bb_ledger_charge charge = {.rounds = 1, .mu = &mu};
        double cost;
        assert_ok(bb_ledger_cost(ledger, &charge, &cost));
        assert_true(fma(mu, mu, -cost) <= 0.0);
        assert_true(cost <= mu * mu * (1.0 + 1e-13));
        rounded_down += fma(mu, mu, -(mu * mu)) > 0.0;
        /* what was spent is shown by an epsilon at the true root, or above */
        const double root = sqrt(cost);
        const double above = fma(root, root, -cost) < 0.0 ? nextafter(root, 9.0) : root;
        assert_true(bb_ledger_epsilon(&terms, cost) >=
                    bb_gdp_epsilon(above, terms.delta));
    }
    assert_true(rounded_down > 100);
    bb_ledger_close(ledger);
    for (int k = 1; k <= 100; k++) {
        terms.epsilon = 0.1 + 0.05 * k;
        const double mu = bb_gdp_mu(terms.epsilon, terms.delta);
        double limit;
        assert_ok(bb_ledger_limit(&terms, &limit));
        assert_true(fma(mu, mu, -limit) >= 0.0);
    }
}

/* log(cosh((a - 1/2) e) / cosh(e / 2)) / (a - 1) in long double, and its rounding error. */
static void pure_costs_are_not_below(void **state) {
    (void)state;
    for (int k = 1; k <= 200; k++)
        for (int a = 1; a <= 20; a++) {
            const double epsilon = 0.013 * k, order = 1.0 + 0.9 * a;
            const long double e = epsilon, b = (long double)order - 1.0L;
            const long double true_cost =
                log1pl(2.0L * sinhl((b + 1.0L) * e / 2.0L) * sinhl(b * e / 2.0L) /
                       coshl(e / 2.0L)) /
                b;
            const double cost = bb_ledger_rdp_of_pure(epsilon, order);
            assert_true((long double)cost >= fminl(true_cost * (1.0L - 1e-18L), e));
            assert_true(cost <= epsilon);
        }
}

/* Every connection waits until a charge is on the disk before it says so. */
static void a_charge_is_on_the_disk(void **state) {
    const bb_ledger_terms terms = {.tasks = 100,
                                   .adjacency = BB_REPLACE_ONE,
                                   .epsilon = 1.0,
                                   .delta = 1e-5,
                                   .kind = BB_LEDGER_SUM};
    for (int joins = 0; joins < 2; joins++) {
        bb_ledger *ledger = NULL;
        sqlite3_stmt *query = NULL;
        if (joins)
            assert_ok(bb_ledger_open(&ledger, file_of(state), &terms));
        else
            ledger = fresh(file_of(state), &terms);
        assert_ok(bb_ledger_prepare(ledger, "PRAGMA synchronous", &query));
        assert_int_equal(sqlite3_step(query), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int(query, 0), 2); /* FULL */
        sqlite3_finalize(query);
        bb_ledger_close(ledger);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rounding_is_on_the_safe_side, begin, end),
        cmocka_unit_test(pure_costs_are_not_below),
        cmocka_unit_test_setup_teardown(a_charge_is_on_the_disk, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
