/* What is said beforehand is what happens: one predicate for both. */
#include "core/plan.h"
#include "methods/hope.h"
#include "methods/registry.h"
#include "privacy/accounting/accountant.h"
#include "test.h"

#include <math.h>
#include <string.h>

static bb_public sizes(size_t tasks, size_t features, double epsilon,
                       bb_adjacency adjacency) {
    bb_public pub = {.tasks = tasks,
                     .features = features,
                     .outputs = 1,
                     .parameters = features,
                     .clusters = 1,
                     .loss = BB_LOSS_SQUARED,
                     .adjacency = adjacency,
                     .epsilon = epsilon,
                     .delta = 1e-5};
    pub.mu = bb_gdp_mu(pub.epsilon, pub.delta);
    return pub;
}

static uint32_t rounds_of(const bb_public *pub) {
    const struct {
        bool directions, vote, more[62];
    } options = {.directions = true, .vote = true};
    const bb_view view = {
        .method = &bb_method_mp_mixed, .options = &options, .pub = pub};
    bb_plan plan = {0};
    assert_int_equal(bb_plan_make(&plan, &view, BB_PRICE_GAUSSIAN), BB_OK);
    const uint32_t rounds = plan.rounds;
    bb_plan_free(&plan);
    return rounds;
}

static void mp_mixed_publishes_where_there_is_hope(void **state) {
    (void)state;
    size_t open = 0, closed = 0;
    for (size_t tasks = 2; tasks < 20000; tasks = tasks * 3 / 2 + 1)
        for (size_t p = 1; p < 300; p = 2 * p + 1)
            for (double epsilon = 0.03; epsilon < 80.0; epsilon *= 1.7)
                for (int adjacency = 0; adjacency < 2; adjacency++) {
                    const bb_public pub =
                        sizes(tasks, p, epsilon, (bb_adjacency)adjacency);
                    const bb_hope hope = bb_hope_of(&pub, NAN);
                    const bool nothing = hope.reach < hope.least;
                    char text[BB_HOPE_TEXT];
                    bb_hope_say(&hope, text);
                    assert_int_equal(rounds_of(&pub) == 0, nothing);
                    assert_int_equal(strstr(text, "nothing will be published") != NULL,
                                     nothing);
                    assert_true(bb_hope_is_poor(&hope) || !nothing);
                    assert_null(strstr(text, "fewer than 1 "));
                    *(nothing ? &closed : &open) += 1;
                }
    assert_true(open > 100 && closed > 100);
}

/* The tasks and the epsilon that are asked for are the first that open the gate. */
static void what_it_takes_is_what_it_takes(void **state) {
    (void)state;
    const bb_public pub = sizes(139, 28, 0.1, BB_REPLACE_ONE);
    const bb_hope hope = bb_hope_of(&pub, NAN);
    bb_public more = sizes((size_t)hope.tasks, 28, 0.1, BB_REPLACE_ONE);
    assert_true(rounds_of(&more) > 0);
    more = sizes((size_t)hope.tasks - 1, 28, 0.1, BB_REPLACE_ONE);
    assert_int_equal(rounds_of(&more), 0);
    more = sizes(139, 28, hope.epsilon * 1.001, BB_REPLACE_ONE);
    assert_true(rounds_of(&more) > 0);
    more = sizes(139, 28, hope.epsilon * 0.999, BB_REPLACE_ONE);
    assert_int_equal(rounds_of(&more), 0);
}

static void enough_rows_need_nobody(void **state) {
    (void)state;
    const bb_public pub = sizes(10000, 5, 10.0, BB_REPLACE_ONE);
    char text[BB_HOPE_TEXT];
    bb_hope hope = bb_hope_of(&pub, 499.0);
    assert_false(hope.alone_is_enough || bb_hope_is_poor(&hope));
    hope = bb_hope_of(&pub, 501.0);
    assert_true(hope.alone_is_enough && bb_hope_is_poor(&hope));
    bb_hope_say(&hope, text);
    assert_non_null(strstr(text, "--method stl"));
}

/* Two noises are as much as one for half the budget's square. */
static void two_doors_are_harder_to_see_through(void **state) {
    (void)state;
    bb_public pub = sizes(1000, 10, 1.0, BB_REPLACE_ONE);
    pub.doors = 1;
    const bb_hope one = bb_hope_of(&pub, NAN);
    pub.doors = 2;
    const bb_hope two = bb_hope_of(&pub, NAN);
    assert_close(two.reach, one.reach / sqrt(2.0), 1e-9);
    assert_true(two.epsilon > one.epsilon);
    pub = sizes((size_t)two.tasks, 10, 1.0, BB_REPLACE_ONE);
    pub.doors = 2;
    assert_true(rounds_of(&pub) > 0);
    pub.tasks--;
    assert_int_equal(rounds_of(&pub), 0);
}

int main(void) {
    const struct CMUnitTest test[] = {
        cmocka_unit_test(mp_mixed_publishes_where_there_is_hope),
        cmocka_unit_test(what_it_takes_is_what_it_takes),
        cmocka_unit_test(enough_rows_need_nobody),
        cmocka_unit_test(two_doors_are_harder_to_see_through)};
    return cmocka_run_group_tests(test, NULL, NULL);
}
