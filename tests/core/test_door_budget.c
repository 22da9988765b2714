/* The door refuses what the plan does not pay for, and charges the ledger first. */
#include "folder.h"
#include "opened_door.h"
#include "privacy/ledger/ledger.h"

/* -- one round
 * ------------------------------------------------------------------------------ */

static void refuses(const bb_layout *layout, const bb_mechanism *mechanism,
                    size_t tasks, double mu, double pure, bb_status code,
                    const char *words) {
    bb_release release;
    door d;
    door_prepare(&d, mechanism, tasks, 1, layout, mu, pure);
    door_open(&d);
    assert_fails(door_ask(&d, layout), code, words);
    assert_fails(door_publish(&d, &release), BB_EBUDGET, "published");
    door_close(&d);
}

static void refuses_blocks(bb_layout layout, bb_status code, const char *words) {
    refuses(&layout, &bb_mechanism_gaussian, 10, 0.5, 0.1, code, words);
}

static void test_bad_blocks(void **state) {
    (void)state;
    refuses_blocks(
        (bb_layout){
            2, {{"a", BB_FORM_OUTER, 2, 1.0, 0.5}, {"b", BB_FORM_OUTER, 2, 1.0, 0.5}}},
        BB_EUSAGE, "two outer blocks");
    refuses_blocks((bb_layout){2,
                               {{"a", BB_FORM_SELECTION, 2, 1.0, 0.5},
                                {"b", BB_FORM_SELECTION, 2, 1.0, 0.5}}},
                   BB_EBUDGET, "pays for one");
    refuses_blocks((bb_layout){2,
                               {{"a", BB_FORM_VECTOR, 2, 1.0, 0.5},
                                {"b", BB_FORM_VECTOR, 2, 1.0, 0.51}}},
                   BB_EBUDGET, "at most 1");
    refuses_blocks((bb_layout){1, {{"a", BB_FORM_VECTOR, 2, 1.0, 0.0}}}, BB_EBUDGET,
                   "positive");
    refuses_blocks((bb_layout){1, {{"a", BB_FORM_VECTOR, 2, 1.0, NAN}}}, BB_EBUDGET,
                   "positive");
    refuses_blocks((bb_layout){1, {{"a", BB_FORM_SELECTION, 257, 1.0, 1.0}}}, BB_EUSAGE,
                   "256");
    const double clips[] = {0.0, -1.0, INFINITY, NAN};
    for (size_t k = 0; k < 4; k++)
        refuses_blocks(door_layout(BB_FORM_VECTOR, 2, clips[k]), BB_EUSAGE, "clip");
}

static void test_no_budget(void **state) {
    (void)state;
    const bb_layout vector = door_layout(BB_FORM_VECTOR, 2, 1.0);
    const bb_layout selection = door_layout(BB_FORM_SELECTION, 2, 1.0);
    const bb_mechanism *gaussian = &bb_mechanism_gaussian;
    refuses(&vector, gaussian, 10, 0.0, 0.1, BB_EBUDGET, "no budget");
    refuses(&vector, gaussian, 10, NAN, 0.1, BB_EBUDGET, "no budget");
    refuses(&selection, gaussian, 10, 0.5, 0.0, BB_EBUDGET, "no budget");
    /* a published step pays for one block */
    const bb_layout two = {
        2, {{"a", BB_FORM_SQUARE, 2, 1.0, 0.5}, {"b", BB_FORM_SQUARE, 2, 1.0, 0.5}}};
    refuses(&two, &bb_mechanism_wishart_published, 10, 0.0, 0.1, BB_EBUDGET,
            "pays for one");
}

static void test_rounds_run_out(void **state) {
    (void)state;
    const bb_layout layout = door_layout(BB_FORM_VECTOR, 2, 1.0);
    bb_release release;
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 10, 2, &layout, 0.5, 0.0);
    door_open(&d);
    assert_fails(door_publish(&d, &release), BB_EBUDGET, "published");
    for (int t = 0; t < 2; t++) {
        assert_ok(door_ask(&d, &layout));
        assert_ok(door_publish(&d, &release));
        /* the same sum with fresh noise would be a second release */
        assert_fails(door_publish(&d, &release), BB_EBUDGET, "published");
    }
    assert_fails(door_ask(&d, &layout), BB_EBUDGET, "the plan has 2");
    door_close(&d);
}

static void test_layout_beyond_plan(void **state) {
    (void)state;
    const bb_layout planned = door_layout(BB_FORM_VECTOR, 4, 1.0);
    const bb_layout larger[] = {door_layout(BB_FORM_VECTOR, 5, 1.0),
                                door_layout(BB_FORM_OUTER, 2, 1.0),
                                door_layout(BB_FORM_SLOT, 1, 1.0),
                                {.blocks = 0},
                                {.blocks = BB_MOST_BLOCKS + 1}};
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 10, 5, &planned, 0.5, 0.0);
    door_open(&d);
    for (size_t k = 0; k < sizeof larger / sizeof *larger; k++)
        assert_fails(door_ask(&d, &larger[k]), BB_EBUDGET, "does not cover");
    assert_ok(door_ask(&d, &planned));
    door_close(&d);
}

/* -- the grid
 * ------------------------------------------------------------------------------- */

/* Over a wide sweep the door either finds a grid on which everything fits, or refuses.
 */
static void test_grid_fits(void **state) {
    (void)state;
    const bb_form forms[] = {BB_FORM_VECTOR, BB_FORM_SQUARE, BB_FORM_PSD,
                             BB_FORM_OUTER};
    size_t fitted = 0, refused = 0;
    for (size_t f = 0; f < 4; f++)
        for (double tasks = 1.0; tasks < 1e12; tasks *= 7.0)
            for (double mu = 1e-12; mu < 1e9; mu *= 31.0) {
                const bb_layout layout = door_layout(forms[f], 1, 1.0);
                const int scale = f == 1 || f == 3 ? 2 : 1;
                door d;
                door_prepare(&d, &bb_mechanism_gaussian, (size_t)tasks, 1, &layout, mu,
                             0.0);
                door_open(&d);
                if (door_ask(&d, &layout)) {
                    refused++;
                } else {
                    const double unit = ldexp(1.0, scale * d.door.ask.bits[0]);
                    fitted++;
                    assert_true(floor(tasks) * unit + 40.0 * d.door.std[0] < 0x1p63);
                    assert_true(d.door.std[0] * sqrt(0.5) >= 0x1p20);
                    assert_true(d.door.std[0] < 0x1p54);
                }
                door_close(&d);
            }
    assert_true(fitted > 500 && refused > 50);
}

static void test_grid_by_number_of_tasks(void **state) {
    (void)state;
    const bb_layout layout = door_layout(BB_FORM_OUTER, 1, 1.0);
    const size_t tasks[] = {1, 8000000, 9000000};
    const int bits[] = {20, 20, 19};
    for (size_t k = 0; k < 3; k++) {
        door d;
        door_prepare(&d, &bb_mechanism_gaussian, tasks[k], 1, &layout, 0.5, 0.0);
        door_open(&d);
        assert_ok(door_ask(&d, &layout));
        assert_int_equal(d.door.ask.bits[0], bits[k]);
        door_close(&d);
    }
    refuses(&layout, &bb_mechanism_gaussian, 10, 1e8, 0.0, BB_EUSAGE, "does not fit");
    refuses(&layout, &bb_mechanism_gaussian, 10, 1e-16, 0.0, BB_EUSAGE, "does not fit");
}

/* -- private selection
 * ------------------------------------------------------------------------ */

static size_t winner_of(const bb_mechanism *mechanism, double pure, uint64_t seed,
                        const double *score, size_t tasks) {
    const bb_layout layout = door_layout(BB_FORM_SELECTION, 3, 1.0);
    bb_release release;
    door d;
    door_prepare(&d, mechanism, tasks, 1, &layout, 0.0, pure);
    d.run.seed = seed;
    door_open(&d);
    assert_ok(door_ask(&d, &layout));
    for (size_t i = 0; i < tasks; i++) door_add(&d, 0, i, 3, score);
    assert_ok(door_publish(&d, &release));
    for (size_t k = 0; k < 3; k++)
        assert_true(release.value[0][k] == (k == release.winner[0] ? 1.0 : 0.0));
    door_close(&d);
    return release.winner[0];
}

static void test_selection(void **state) {
    (void)state;
    const double clear[] = {0.1, 0.9, 0.5}, wild[] = {7.0, -3.0, 1e300};
    const double same[] = {0.5, 0.5, 0.5};
    assert_int_equal(winner_of(&bb_mechanism_none, INFINITY, 1, clear, 20), 1);
    assert_int_equal(winner_of(&bb_mechanism_gaussian, 50.0, 1, clear, 20), 1);
    assert_int_equal(winner_of(&bb_mechanism_wishart_published, 50.0, 1, clear, 20), 1);
    /* scores are held in [0, 1]: 7 and 1e300 are equal, a negative one is 0 */
    size_t wins[3] = {0}, fair[3] = {0}, strong = 0;
    const size_t n = 3000;
    for (uint64_t seed = 0; seed < n; seed++) {
        wins[winner_of(&bb_mechanism_gaussian, 100.0, seed, wild, 1)]++;
        fair[winner_of(&bb_mechanism_gaussian, 1.0, seed, same, 4)]++;
        strong += winner_of(&bb_mechanism_gaussian, 1.0, seed, clear, 1) == 1;
    }
    const double error = 6.5 * sqrt(0.25 * (double)n); /* false alarm < 1e-10 each */
    assert_int_equal(wins[1], 0);
    assert_close((double)wins[0], 0.5 * (double)n, error);
    for (size_t k = 0; k < 3; k++)
        assert_close((double)fair[k], (double)n / 3.0, error);
    /* permute and flip: for scores s_1 <= s_2 <= s_3 with flips p_k = exp((s_k - s_3) /
     * 2) the best wins with probability 1 - sum of the others'; p = (e^-.4, 1, e^-.2)
     * here: P(best) = sum over orders of who comes first and accepts */
    const double p = exp(-0.4), q = exp(-0.2);
    const double best =
        (2.0 + (1.0 - p) + (1.0 - q) + 2.0 * (1.0 - p) * (1.0 - q)) / 6.0;
    assert_close((double)strong, best * (double)n, error);
}

/* -- the ledger
 * -------------------------------------------------------------------------------- */

static bb_ledger *new_ledger(const char *path, double epsilon, double delta) {
    const bb_ledger_terms terms = {
        .tasks = 10, .adjacency = BB_REPLACE_ONE, .epsilon = epsilon, .delta = delta};
    bb_ledger *ledger = NULL;
    assert_ok(bb_ledger_open(&ledger, path, &terms));
    return ledger;
}

static void spent(bb_ledger *ledger, double epsilon, double delta) {
    double e, d;
    assert_ok(bb_ledger_spent(ledger, &e, &d));
    assert_close(e, epsilon, 1e-12);
    assert_close(d, delta, 1e-15);
}

/* The whole plan is reserved before any round; a refusal changes nothing. */
static void test_ledger(void **state) {
    (void)state;
    const bb_layout layout = door_layout(BB_FORM_VECTOR, 2, 1.0);
    bb_ledger *ledger = new_ledger("ledger.db", 2.5, 1e-4);
    door d;
    for (int run = 1; run <= 2; run++) {
        door_prepare(&d, &bb_mechanism_gaussian, 10, 3, &layout, 0.5, 0.0);
        d.run.ledger = ledger;
        door_open(&d); /* epsilon 1, delta 1e-5 */
        spent(ledger, run, run * 1e-5);
        door_close(&d);
        spent(ledger, run, run * 1e-5); /* nothing comes back */
    }
    door_prepare(&d, &bb_mechanism_gaussian, 10, 3, &layout, 0.5, 0.0);
    d.run.ledger = ledger;
    bb_door_need(&d.run, &d.plan, &d.arena);
    assert_ok(bb_arena_open(&d.arena, "a test's door"));
    assert_ok(bb_door_open(&d.door, &d.run, &d.plan, &d.arena));
    assert_fails(bb_door_ask(&d.door, &layout), BB_EBUDGET, "not charged");
    assert_int_equal(bb_door_charge(&d.door, &d.run), BB_EBUDGET);
    assert_fails(bb_door_ask(&d.door, &layout), BB_EBUDGET, "not charged");
    spent(ledger, 2.0, 2e-5);
    /* what has no price cannot be charged */
    d.run.mechanism = &bb_mechanism_wishart_published;
    assert_fails(bb_door_charge(&d.door, &d.run), BB_EUSAGE, "price");
    spent(ledger, 2.0, 2e-5);
    door_close(&d);
    bb_ledger_close(ledger);
    assert_int_equal(unlink("ledger.db"), 0);
    unlink("ledger.db-wal");
    unlink("ledger.db-shm");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_blocks),
        cmocka_unit_test(test_no_budget),
        cmocka_unit_test(test_rounds_run_out),
        cmocka_unit_test(test_layout_beyond_plan),
        cmocka_unit_test(test_grid_fits),
        cmocka_unit_test(test_grid_by_number_of_tasks),
        cmocka_unit_test(test_selection),
        cmocka_unit_test_setup_teardown(test_ledger, folder_enter, folder_leave),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
