/* The phase in which tasks vote on how they fit at home: what it costs, what is shown, and
 * what tasks make of the answer. */
#include "methods/personal.h"
#include "methods/personal_vote.h"
#include "methods/registry.h"
#include "population.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/form.h"

#include <string.h>

enum { TASKS = 60, FEATURES = 4, ROUNDS = 2, MOST_WORK = 1 << 13 };
static bb_engine engine;

/* fedprox, then the vote; the last task has no rows. */
typedef struct trial {
    population p;
    bb_run run;
} trial;

static trial trial_open(const bb_mechanism *mechanism, double epsilon) {
    trial t = {.p = population_make_last_empty(TASKS, 6, FEATURES, BB_LOSS_SQUARED, 5)};
    t.run = run_open(&t.p, &bb_method_fedprox, mechanism, &engine);
    t.run.pub.epsilon = epsilon;
    t.run.phase[0].rounds = ROUNDS;
    run_set(&t.run, "guard", "off");
    run_set(&t.run, "clip", "1");
    t.run.phase[t.run.phases++] = (bb_phase){.method = &bb_method_vote};
    return t;
}

static void trial_close(trial *t) {
    run_close(&t->run);
    population_close(&t->p);
}

/* -- its price -- */

/* A tenth of mu^2, beside the rounds before it; the door's noise is what that buys. */
static void a_vote_has_a_part_of_the_budget(void **state) {
    trial t = trial_open(&bb_mechanism_gaussian, 20.0);
    const double mu = bb_gdp_mu(20.0, t.run.pub.delta);
    double squares = 0.0;
    bb_result r;
    (void)state;
    assert_ok(bb_run_train(&t.run, &r));
    assert_int_equal(r.plan.rounds, ROUNDS + 1);
    for (uint32_t k = 0; k < r.plan.rounds; k++) squares += r.plan.mu[k] * r.plan.mu[k];
    assert_relative(squares, mu * mu, 1e-10);
    assert_relative(r.plan.mu[ROUNDS], sqrt(0.1) * mu, 1e-10);
    bb_result_free(&r);
    /* of what is left by phases that were given a share */
    t.run.phase[2] = t.run.phase[1];
    t.run.phase[1] = t.run.phase[0];
    t.run.phase[1].share = 0.5;
    t.run.phases = 3;
    assert_ok(bb_run_train(&t.run, &r));
    assert_int_equal(r.plan.rounds, 2 * ROUNDS + 1);
    assert_relative(r.plan.mu[2 * ROUNDS], sqrt(0.05) * mu, 1e-10);
    assert_relative(r.plan.mu[ROUNDS], sqrt(0.5 / ROUNDS) * mu, 1e-10);
    bb_result_free(&r);
    /* or what it is given itself */
    t.run.phase[1] = t.run.phase[2];
    t.run.phase[1].share = 0.3;
    t.run.phases = 2;
    assert_ok(bb_run_train(&t.run, &r));
    assert_relative(r.plan.mu[ROUNDS], sqrt(0.3) * mu, 1e-10);
    bb_result_free(&r);
    trial_close(&t);
}

/* Where public sizes say that it is not heard there is no vote, and nothing is charged: what
 * is published is what it is without, and tasks fit by what their own rows say. */
static void an_unheard_vote_is_free(void **state) {
    trial t = trial_open(&bb_mechanism_gaussian, 0.2);
    double expected[FEATURES], work[MOST_WORK];
    bb_result with, without;
    (void)state;
    assert_ok(bb_run_train(&t.run, &with));
    t.run.phases = 1;
    assert_ok(bb_run_train(&t.run, &without));
    assert_int_equal(with.plan.rounds, ROUNDS);
    assert_memory_equal(with.plan.mu, without.plan.mu, ROUNDS * sizeof(double));
    assert_string_equal(with.billboard_sha256, without.billboard_sha256);
    const bb_personal_public known = {.centre = without.shared};
    assert_true(bb_personal_squared_work(&t.p.local[0]) <= MOST_WORK);
    assert_ok(bb_personal_squared(&t.p.local[0], &known, expected, work));
    for (size_t k = 0; k < FEATURES; k++)
        assert_close(with.model[k], expected[k], 1e-12);
    bb_result_free(&with);
    bb_result_free(&without);
    trial_close(&t);
}

/* -- what is shown, and what becomes of it -- */

typedef struct seen {
    double sum[BB_PERSONAL_CELLS], noise;
} seen;

static bb_status note(void *self, const bb_release *release, size_t tasks) {
    seen *s = self;
    (void)tasks;
    if (strcmp(release->layout->block[0].name, "vote on fits") != 0) return BB_OK;
    memcpy(s->sum, release->value[0], sizeof s->sum);
    s->noise = release->noise[0];
    return BB_OK;
}

/* The sum of what every task's rows say around the shared model, and every task's fit by the
 * odds that it leads to. */
static void tasks_fit_as_all_have_voted(void **state) {
    trial t = trial_open(&bb_mechanism_none, 0.0);
    seen s = {.noise = -1.0};
    double sum[BB_PERSONAL_CELLS] = {0}, odds[BB_PERSONAL_CELLS], work[MOST_WORK];
    double moved = 0.0;
    bb_result r;
    (void)state;
    t.run.observer = (bb_observer){.self = &s, .published = note};
    assert_ok(bb_run_train(&t.run, &r));
    bb_personal_public known = {.centre = r.shared};
    for (size_t i = 0; i < TASKS; i++) {
        double vote[BB_PERSONAL_CELLS] = {0};
        bb_vote_show_fits(&t.p.local[i], &known, vote, work);
        assert_true(bb_norm(BB_PERSONAL_CELLS, vote) <= 1.0 + 1e-12);
        bb_axpy(BB_PERSONAL_CELLS, 1.0, vote, sum);
    }
    assert_true(s.noise == 0.0 && bb_norm(BB_PERSONAL_CELLS, sum) > 1.0);
    for (size_t k = 0; k < BB_PERSONAL_CELLS; k++) assert_close(s.sum[k], sum[k], 1e-9);
    const bb_release release = {.value = {sum}};
    t.run.pub.features = FEATURES;
    bb_vote_take_fits(&t.run.pub, &known, &release, bb_vote_around, odds);
    for (size_t i = 0; i < TASKS; i++) {
        double by_vote[FEATURES], alone[FEATURES];
        const double *model = r.model + i * FEATURES;
        if (t.p.local[i].n == 0) { /* the shared model itself */
            assert_memory_equal(model, r.shared, sizeof by_vote);
            continue;
        }
        known.odds = odds;
        assert_ok(bb_personal_squared(&t.p.local[i], &known, by_vote, work));
        known.odds = NULL;
        assert_ok(bb_personal_squared(&t.p.local[i], &known, alone, work));
        for (size_t k = 0; k < FEATURES; k++) {
            assert_close(model[k], by_vote[k], 1e-9);
            moved = fmax(moved, fabs(by_vote[k] - alone[k]));
        }
    }
    assert_true(moved > 1e-3);
    bb_result_free(&r);
    trial_close(&t);
}

/* dp-mtrl's last round is such a vote, around what the public models say, where it is heard;
 * not where models are kept as they were published. */
static void dp_mtrl_votes(void **state) {
    static const struct {
        const char *keep, *calibration;
        double epsilon;
        uint32_t rounds;
    } all[] = {{"home", "task", 0.2, 1},
               {"home", "task", 20.0, 2},
               {"noisy", "task", 20.0, 1},
               {"home", "instance", 20.0, 1}};
    (void)state;
    population p = population_make(TASKS, 6, FEATURES, BB_LOSS_SQUARED, false, 5);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bb_run run = run_open(&p, &bb_method_dp_mtrl, &bb_mechanism_gaussian, &engine);
        bb_result r;
        run_set(&run, "keep", all[k].keep);
        run_set(&run, "calibration", all[k].calibration);
        run.pub.epsilon = all[k].epsilon;
        assert_ok(bb_run_train(&run, &r));
        assert_int_equal(r.plan.rounds, all[k].rounds);
        if (r.plan.rounds == 2)
            assert_relative(r.plan.mu[1], r.plan.mu[0] / 3.0, 1e-10);
        bb_result_free(&r);
        run_close(&run);
    }
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vote_has_a_part_of_the_budget),
        cmocka_unit_test(an_unheard_vote_is_free),
        cmocka_unit_test(tasks_fit_as_all_have_voted),
        cmocka_unit_test(dp_mtrl_votes),
    };
    if (bb_linalg_start()) return 1;
    engine = bb_engine_threads(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
