/* The ledgers that count mu^2 and Renyi divergence: limits against closed forms, what
 * has no price, and which terms make sense. */
#include "ledgers.h"
#include "privacy/ledger/ledger_file.h"

#include <math.h>
#include <string.h>

enum { MOST_RUNS = 4000 };

static const bb_ledger_terms gdp = {.population = "schools",
                                    .tasks = 139,
                                    .adjacency = BB_REPLACE_ONE,
                                    .epsilon = 1.0,
                                    .delta = 1e-5,
                                    .kind = BB_LEDGER_GDP};
static const bb_ledger_terms rdp = {.population = "schools",
                                    .tasks = 139,
                                    .adjacency = BB_REPLACE_ONE,
                                    .epsilon = 1.0,
                                    .delta = 1e-5,
                                    .kind = BB_LEDGER_RDP,
                                    .order = 20.0};

/* A run of one Gaussian round, whose own statement is (0.5, 1e-6). */
static bb_status reserve(bb_ledger *ledger, double mu) {
    const bb_ledger_charge charge = {
        .epsilon = 0.5, .delta = 1e-6, .rounds = 1, .mu = &mu};
    long long id;
    return bb_ledger_reserve(ledger, &charge, "run", &id);
}

/* How many such runs fit. */
static int fill(bb_ledger *ledger, double mu) {
    int runs = 0;
    bb_status status = BB_OK;
    while (runs < MOST_RUNS && !(status = reserve(ledger, mu))) runs++;
    assert_int_equal(status, BB_EBUDGET);
    return runs;
}

/* ---- limits ---- */

/* T runs at mu fit iff T mu^2 <= mu^2(E, D). */
static void gdp_closed_form(void **state) {
    const int parts[] = {1, 3, 10, 77};
    const double mu = bb_gdp_mu(gdp.epsilon, gdp.delta);
    double limit, total, epsilon, delta;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        bb_ledger *ledger = fresh(file_of(state), &gdp);
        assert_int_equal(fill(ledger, mu / sqrt(parts[k])), parts[k]);
        assert_ok(bb_ledger_total(ledger, &limit, &total));
        assert_relative(limit, mu * mu, 1e-14);
        assert_relative(total, limit, 1e-12);
        assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
        assert_relative(epsilon, gdp.epsilon, 1e-10);
        assert_true(delta == gdp.delta);
        bb_ledger_close(ledger);
    }
    bb_ledger *ledger = fresh(file_of(state), &gdp);
    assert_int_equal(fill(ledger, 0.03), (int)floor(mu * mu / (0.03 * 0.03)));
    bb_ledger_close(ledger);
}

/* T runs at mu fit iff T a mu^2 / 2 is within the budget at order a. */
static void rdp_closed_form(void **state) {
    const double a = rdp.order, D = rdp.delta;
    const double limit =
        rdp.epsilon - log(1.0 - 1.0 / a) + (log(D) + log(a)) / (a - 1.0);
    double found, total, epsilon, delta;
    bb_ledger *ledger = fresh(file_of(state), &rdp);
    assert_ok(bb_ledger_total(ledger, &found, &total));
    assert_relative(found, limit, 1e-13);
    assert_true(total == 0.0);
    assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
    assert_true(epsilon == 0.0 && delta == D);
    assert_int_equal(fill(ledger, sqrt(2.0 * limit / a / 12.0)), 12);
    assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
    assert_relative(epsilon, rdp.epsilon, 1e-10);
    bb_ledger_close(ledger);
    ledger = fresh(file_of(state), &rdp);
    assert_int_equal(fill(ledger, 0.03), (int)floor(limit / (a * 0.03 * 0.03 / 2.0)));
    bb_ledger_close(ledger);
}

/* Unlike sums of doubles, the total does not depend on the order; and crumbs below one
 * unit count. */
static void totals_are_exact(void **state) {
    double limit, up, down;
    bb_ledger *ledger = fresh(file_of(state), &gdp);
    for (int k = 1; k <= 60; k++) assert_ok(reserve(ledger, 0.03 / k));
    assert_ok(reserve(ledger, 1e-200));
    assert_ok(bb_ledger_total(ledger, &limit, &up));
    bb_ledger_close(ledger);
    ledger = fresh(file_of(state), &gdp);
    assert_ok(reserve(ledger, 1e-200));
    assert_ok(bb_ledger_total(ledger, &limit, &down));
    assert_true(down > 0.0);
    for (int k = 60; k >= 1; k--) assert_ok(reserve(ledger, 0.03 / k));
    assert_ok(bb_ledger_total(ledger, &limit, &down));
    assert_true(up == down);
    bb_ledger_close(ledger);
}

/* Many small runs of (0.1, 1e-6) in a budget of (1, 1e-5): ten as a sum. */
static void more_runs_than_a_sum(void **state) {
    const double mu = bb_gdp_mu(0.1, 1e-6);
    const bb_ledger_charge charge = {
        .epsilon = 0.1, .delta = 1e-6, .rounds = 1, .mu = &mu};
    bb_ledger_terms terms = gdp;
    int runs[4] = {0};
    long long id;
    for (bb_ledger_kind kind = BB_LEDGER_SUM; kind <= BB_LEDGER_RDP; kind++) {
        terms.kind = kind;
        bb_ledger *ledger = fresh(file_of(state), &terms);
        while (!bb_ledger_reserve(ledger, &charge, "run", &id)) runs[kind]++;
        bb_ledger_close(ledger);
    }
    assert_int_equal(runs[BB_LEDGER_SUM], 10);
    assert_int_equal(runs[BB_LEDGER_GDP], 94);
    assert_int_equal(runs[BB_LEDGER_RDP], 80);
}

/* ---- costs ---- */

/* Against the formula in 80 digits. */
static void pure_selections(void **state) {
    (void)state;
    const double known[][3] = {{1.0, 2.0, 0.73532566405551922471},
                               {0.01, 50.0, 0.0024041074887522142233},
                               {5.0, 1.1, 4.9576033664861238091},
                               {1e-6, 1000.0, 4.9999991674998051114e-10},
                               {1e-3, 1.0001, 5.0004995832083583533e-7},
                               {0.1, 20000.0, 0.099967778555924117661},
                               {700.0, 1.5, 700.0}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const double found = bb_ledger_rdp_of_pure(known[k][0], known[k][1]);
        assert_relative(found, known[k][2], 1e-13);
        assert_true(found >= known[k][2] && found <= known[k][0]);
    }
    assert_true(bb_ledger_rdp_of_pure(0.0, 3.0) == 0.0);
}

static double cost_of(const char *file, const bb_ledger_terms *terms,
                      const bb_ledger_charge *charge) {
    double limit, total;
    long long id;
    bb_ledger *ledger = fresh(file, terms);
    assert_ok(bb_ledger_reserve(ledger, charge, "run", &id));
    assert_ok(bb_ledger_total(ledger, &limit, &total));
    bb_ledger_close(ledger);
    return total;
}

/* The whole plan is reserved: all rounds and selections. */
static void whole_plans(void **state) {
    const double mu[] = {0.0, 0.02, 0.05}, pure[] = {0.3, 0.0, 0.01}, a = rdp.order;
    bb_ledger_charge charge = {.epsilon = 0.5, .rounds = 3, .mu = mu};
    assert_relative(cost_of(file_of(state), &gdp, &charge), 0.0029, 1e-14);
    assert_relative(cost_of(file_of(state), &rdp, &charge), a * 0.0029 / 2.0, 1e-14);
    charge.pure = pure;
    const double selections =
        bb_ledger_rdp_of_pure(0.3, a) + bb_ledger_rdp_of_pure(0.01, a);
    assert_relative(cost_of(file_of(state), &rdp, &charge),
                    a * 0.0029 / 2.0 + selections, 1e-14);
    charge.mu = NULL;
    assert_relative(cost_of(file_of(state), &rdp, &charge), selections, 1e-14);
}

static void what_has_no_price(void **state) {
    const double one = 0.01, none = 0.0, endless = INFINITY, wrong = NAN;
    const bb_ledger_charge selection = {
        .epsilon = 0.5, .rounds = 1, .mu = &one, .pure = &one};
    const bb_ledger_charge bad[] = {
        {.epsilon = 0.5},
        {.epsilon = 0.5, .rounds = 1, .mu = &none},
        {.epsilon = 0.5, .rounds = 1, .mu = &endless},
        {.epsilon = 0.5, .rounds = 1, .mu = &wrong},
        {.epsilon = 0.5, .rounds = 1, .mu = &one, .pure = &wrong},
        {.epsilon = 0.0, .rounds = 1, .mu = &one}};
    double limit, total;
    long long id = 77;
    for (int kind = 0; kind < 2; kind++) {
        bb_ledger *ledger = fresh(file_of(state), kind ? &rdp : &gdp);
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
            assert_fails(bb_ledger_reserve(ledger, &bad[k], "x", &id), BB_EUSAGE,
                         "cannot reserve");
        if (!kind)
            assert_fails(
                bb_ledger_reserve(ledger, &selection, "x", &id), BB_EUSAGE,
                "no price for private selections and radial noise: its kind is gdp");
        bb_ledger_close(ledger);
    }
    bb_ledger *ledger = fresh(file_of(state), &rdp);
    /* too much for any number is refused like anything else */
    assert_int_equal(reserve(ledger, 1e200), BB_EBUDGET);
    assert_ok(bb_ledger_total(ledger, &limit, &total));
    assert_true(total == 0.0);
    bb_ledger_close(ledger);
}

/* ---- orders ---- */

/* No order of a fine grid holds a Gaussian release 0.5 % larger in mu^2. */
static void default_order(void **state) {
    (void)state;
    const double budget[][2] = {{1.0, 1e-5}, {0.1, 1e-6},  {10.0, 1e-5},
                                {3.0, 0.2},  {1e-6, 1e-9}, {0x1p20, 1e-5}};
    for (size_t k = 0; k < sizeof budget / sizeof *budget; k++) {
        const double epsilon = budget[k][0], delta = budget[k][1];
        const double order = bb_ledger_order(epsilon, delta);
        double limit;
        assert_ok(bb_rdp_limit(&limit, epsilon, delta, order));
        const double most = limit / order;
        for (double x = -14.0; x < 30.0; x += 0.01)
            if (!bb_rdp_limit(&limit, epsilon, delta, 1.0 + exp(x)))
                assert_true(limit / (1.0 + exp(x)) < 1.005 * most);
    }
    assert_true(bb_ledger_order(1.0, 1e-5) == 18.0);
}

static void kinds_and_orders_are_kept(void **state) {
    const char *file = file_of(state);
    bb_ledger_terms asked = rdp, found;
    asked.order = 0.0;
    bb_ledger *ledger = fresh(file, &asked);
    assert_ok(reserve(ledger, 0.01));
    bb_ledger_close(ledger);
    assert_ok(bb_ledger_read(&ledger, file, &found));
    assert_int_equal(found.kind, BB_LEDGER_RDP);
    assert_true(found.order == bb_ledger_order(rdp.epsilon, rdp.delta));
    bb_ledger_entry *entry = NULL;
    size_t count = 0;
    assert_ok(bb_ledger_entries(ledger, &entry, &count));
    assert_int_equal(count, 1);
    assert_true(entry[0].epsilon == 0.5 && entry[0].delta == 1e-6);
    assert_relative(entry[0].cost, found.order * 1e-4 / 2.0, 1e-14);
    assert_string_equal(entry[0].description, "run");
    bb_ledger_entries_free(entry, count);
    bb_ledger_close(ledger);
    assert_fails(bb_ledger_open(&ledger, file, &gdp), BB_EUSAGE,
                 "is of kind rdp, not gdp");
    asked.order = 21.0;
    assert_fails(bb_ledger_open(&ledger, file, &asked), BB_EUSAGE,
                 "counts at Renyi order 18, not 21");
    asked.kind = BB_LEDGER_ANY; /* an order asks for kind rdp */
    assert_fails(bb_ledger_open(&ledger, file, &asked), BB_EUSAGE, "order 18, not 21");
    asked.order = 0.0;
    assert_ok(bb_ledger_open(&ledger, file, &asked));
    bb_ledger_close(ledger);
    ledger = fresh(file, &gdp);
    bb_ledger_close(ledger);
    asked.order = 18.0;
    assert_fails(bb_ledger_open(&ledger, file, &asked), BB_EUSAGE,
                 "is of kind gdp, not rdp");
    asked.kind = BB_LEDGER_SUM;
    asked.order = 0.0;
    assert_fails(bb_ledger_open(&ledger, file, &asked), BB_EUSAGE,
                 "is of kind gdp, not sum");
}

static void terms_without_sense(void **state) {
    bb_ledger *ledger = NULL;
    bb_ledger_kind kind;
    bb_ledger_terms wrong = gdp;
    scratch_clear(file_of(state));
    wrong.delta = 0.0;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &wrong), BB_EUSAGE,
                 "delta above 0");
    wrong = gdp;
    wrong.order = 20.0;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &wrong), BB_EUSAGE,
                 "kind gdp has no Renyi order");
    wrong = gdp;
    wrong.epsilon = 1e-12;
    wrong.delta = 1e-12;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &wrong), BB_EUSAGE,
                 "expected at least");
    const double order[] = {1.0, -3.0, INFINITY, NAN};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        wrong = rdp;
        wrong.order = order[k];
        assert_fails(bb_ledger_open(&ledger, file_of(state), &wrong), BB_EUSAGE,
                     "above 1 and finite");
    }
    wrong.order = 2.0;
    assert_fails(bb_ledger_open(&ledger, file_of(state), &wrong), BB_EUSAGE,
                 "choose a larger order");
    assert_int_equal(access(file_of(state), F_OK), -1);
    assert_fails(bb_ledger_kind_find("pld", &kind), BB_EUSAGE,
                 "depend on earlier results");
    assert_fails(bb_ledger_kind_find("any", &kind), BB_EUSAGE, "sum, gdp or rdp");
    assert_ok(bb_ledger_kind_find("gdp", &kind));
    assert_int_equal(kind, BB_LEDGER_GDP);
    assert_ok(bb_ledger_kind_find(NULL, &kind));
    assert_int_equal(kind, BB_LEDGER_ANY);
}

/* ---- other numbers of tasks ---- */

/* What is spent stays spent: runs of 139, 140 and 120 tasks in turn have the budget of one
 * ledger, no more, in each kind. */
static void runs_of_more_or_fewer_tasks_add_up(void **state) {
    const bb_ledger_terms sum = {.population = "schools",
                                 .tasks = 139,
                                 .epsilon = 5.0,
                                 .delta = 1e-5,
                                 .kind = BB_LEDGER_SUM};
    const bb_ledger_terms *const kind[] = {&sum, &gdp, &rdp};
    const size_t tasks[] = {139, 140, 120};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        bb_ledger_terms terms = *kind[k];
        bb_ledger *ledger = fresh(file_of(state), &terms);
        const int all = fill(ledger, 0.01);
        bb_ledger_close(ledger);
        ledger = fresh(file_of(state), &terms);
        assert_ok(bb_ledger_add_tasks(ledger, 140));
        assert_ok(bb_ledger_add_tasks(ledger, 120));
        bb_ledger_close(ledger);
        for (int run = 0; run <= all; run++) {
            terms.tasks = tasks[run % 3];
            assert_ok(bb_ledger_open(&ledger, file_of(state), &terms));
            assert_int_equal(reserve(ledger, 0.01), run < all ? BB_OK : BB_EBUDGET);
            bb_ledger_close(ledger);
        }
    }
}

static void other_numbers_of_tasks_have_to_be_named(void **state) {
    const char *file = file_of(state);
    bb_ledger_terms terms = rdp;
    size_t *added, count;
    bb_ledger *ledger = fresh(file, &rdp);
    assert_fails(bb_ledger_add_tasks(ledger, 0), BB_EUSAGE, "at least one task");
    assert_ok(bb_ledger_added_tasks(ledger, &added, &count));
    assert_int_equal(count, 0);
    assert_ok(bb_ledger_add_tasks(ledger, 139)); /* which it is for */
    assert_ok(bb_ledger_add_tasks(ledger, 200));
    assert_ok(bb_ledger_add_tasks(ledger, 150));
    assert_ok(bb_ledger_add_tasks(ledger, 200)); /* again */
    assert_ok(bb_ledger_added_tasks(ledger, &added, &count));
    assert_int_equal(count, 2);
    assert_true(added[0] == 150 && added[1] == 200);
    free(added);
    bb_ledger_close(ledger);
    terms.tasks = 151;
    assert_fails(bb_ledger_open(&ledger, file, &terms), BB_EUSAGE,
                 "139 tasks, this run has 151");
    for (size_t tasks = 139; tasks <= 150; tasks += 11) {
        terms.tasks = tasks;
        assert_ok(bb_ledger_open(&ledger, file, &terms));
        bb_ledger_close(ledger);
    }
    terms = rdp;
    terms.tasks = 150;
    terms.epsilon = 2.0; /* the other terms are what they were */
    assert_fails(bb_ledger_open(&ledger, file, &terms), BB_EUSAGE, "epsilon");
    assert_ok(bb_ledger_read(&ledger, file, &terms));
    assert_int_equal(terms.tasks, 139);
    bb_ledger_close(ledger);
    tamper(file, "DROP TABLE sizes; CREATE TABLE sizes(a TEXT)");
    assert_fails(bb_ledger_open(&ledger, file, &rdp), BB_EDATA, "damaged");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gdp_closed_form, begin, end),
        cmocka_unit_test_setup_teardown(rdp_closed_form, begin, end),
        cmocka_unit_test_setup_teardown(totals_are_exact, begin, end),
        cmocka_unit_test_setup_teardown(more_runs_than_a_sum, begin, end),
        cmocka_unit_test(pure_selections),
        cmocka_unit_test_setup_teardown(whole_plans, begin, end),
        cmocka_unit_test_setup_teardown(what_has_no_price, begin, end),
        cmocka_unit_test(default_order),
        cmocka_unit_test_setup_teardown(kinds_and_orders_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(terms_without_sense, begin, end),
        cmocka_unit_test_setup_teardown(runs_of_more_or_fewer_tasks_add_up, begin, end),
        cmocka_unit_test_setup_teardown(other_numbers_of_tasks_have_to_be_named, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
