/* Runs of several phases: what each may spend, what passes from one to the next, what
 * is refused. */
#include "core/plan.h"
#include "folder.h"
#include "phase_runs.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/form.h"
#include "privacy/ledger/ledger.h"

#include <string.h>

enum { MOST_ROUNDS = 64 };

static void assert_same_results(const bb_result *a, const bb_result *b,
                                const bb_public *pub, double tolerance) {
    for (size_t k = 0; k < a->first[TASKS]; k++)
        assert_close(a->model[k], b->model[k], tolerance);
    for (size_t k = 0; k < pub->parameters; k++)
        assert_close(a->shared[k], b->shared[k], tolerance);
}

/* -- shares of the budget -- */

static double asked_mu[BB_MOST_PHASES], noise[MOST_ROUNDS];
static uint32_t released[MOST_ROUNDS];
static size_t releases;

static bb_status plan_and_note(const bb_view *view, bb_plan *out) {
    asked_mu[view->pub->phase] = view->pub->mu;
    return bb_method_fedavg.plan(view, out);
}

static bb_status note(void *self, const bb_release *release, size_t tasks) {
    (void)self, (void)tasks;
    noise[releases] = release->noise[0];
    released[releases++] = release->round;
    return BB_OK;
}

/* Every phase has its share of mu^2, by a schedule of its own; together they have all
 * of it; the door's noise is what the plan says. */
static void check_shares(const script *s, const double *share) {
    const double mu = bb_gdp_mu(s->run.pub.epsilon, s->run.pub.delta);
    const double r = bb_form_sensitivity(BB_FORM_VECTOR, s->run.pub.adjacency);
    double whole = 0.0;
    releases = 0;
    bb_result result = script_run(s);
    uint32_t t = 0;
    for (size_t k = 0; k < s->run.phases; k++) {
        const uint32_t rounds = s->run.phase[k].rounds;
        const double first = result.plan.mu[t];
        double squares = 0.0;
        if (share[k] == 0.0) continue;
        assert_relative(asked_mu[k], sqrt(share[k]) * mu, 1e-12);
        for (uint32_t own = 0; own < rounds; own++, t++) {
            assert_relative(result.plan.mu[t], first * (1.0 + own), 1e-12);
            assert_relative(noise[t], r / result.plan.mu[t], 1e-6);
            assert_int_equal(released[t], t + 1);
            squares += result.plan.mu[t] * result.plan.mu[t];
        }
        assert_relative(squares, share[k] * mu * mu, 1e-10);
        whole += squares;
    }
    assert_int_equal(result.plan.rounds, t);
    assert_int_equal(result.rounds, t);
    assert_int_equal(releases, t);
    assert_true(whole <= mu * mu);
    assert_true(bb_gdp_epsilon(sqrt(whole), s->run.pub.delta) <= s->run.pub.epsilon);
    bb_result_free(&result);
}

static void every_phase_has_its_share(void **state) {
    bb_method method = bb_method_fedavg;
    script s;
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    method.plan = plan_and_note;
    script_open(&s, &p, &method, &bb_mechanism_gaussian, 4);
    s.run.pub.schedule = "power:1";
    s.run.observer.published = note;
    then(&s, &method, 3, 0.3);
    then(&s, &bb_method_finetune, 0, 0.0);
    then(&s, &method, 2, 0.2);
    check_shares(&s, (const double[]){0.5, 0.3, 0.0, 0.2});
    run_close(&s.run);
    /* where the first shows nothing, the others share everything */
    script_open(&s, &p, &bb_method_stl, &bb_mechanism_gaussian, 0);
    s.run.pub.schedule = "power:1";
    s.run.observer.published = note;
    then(&s, &method, 3, 0.1);
    then(&s, &method, 4, 0.3);
    check_shares(&s, (const double[]){0.0, 0.25, 0.75});
    s.run.phases = 2;
    check_shares(&s, (const double[]){0.0, 1.0});
    run_close(&s.run);
    population_close(&p);
}

/* A sampled run has no mu^2 to share: weights are in the ratio of the shares' roots,
 * and the noise of the whole is found at once. */
static void sampled_phases_are_priced_together(void **state) {
    script s;
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    script_open(&s, &p, &bb_method_fedavg, &bb_mechanism_gaussian, 4);
    s.run.pub.sampling = BB_SAMPLING_POISSON;
    s.run.pub.rate = 0.3;
    bb_result one = script_run(&s);
    s.run.phase[0].rounds = 2;
    then(&s, &bb_method_pmtl, 2, 0.5);
    bb_result both = script_run(&s);
    for (uint32_t t = 0; t < 4; t++)
        assert_relative(both.plan.mu[t], one.plan.mu[t], 1e-9);
    s.run.phase[1].share = 0.2;
    bb_result_free(&both);
    both = script_run(&s);
    assert_relative(both.plan.mu[0] / both.plan.mu[3], 2.0, 1e-9);
    bb_result_free(&one);
    bb_result_free(&both);
    run_close(&s.run);
    population_close(&p);
}

/* -- the ledger -- */

static bb_status check_spent(void *ledger, const bb_release *release, size_t tasks) {
    double epsilon, delta;
    (void)release, (void)tasks;
    releases++;
    assert_ok(bb_ledger_spent(ledger, &epsilon, &delta));
    assert_true(epsilon == 1.0 && delta == 1e-5);
    return BB_OK;
}

static void the_ledger_is_charged_once(void **state) {
    const bb_ledger_terms terms = {
        .tasks = TASKS, .epsilon = 1.5, .delta = 1e-3, .adjacency = BB_REPLACE_ONE};
    script s;
    bb_result result = {.rounds = 77};
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    script_open(&s, &p, &bb_method_fedavg, &bb_mechanism_gaussian, 3);
    then(&s, &bb_method_pmtl, 2, 0.5);
    then(&s, &bb_method_finetune, 0, 0.0);
    assert_ok(bb_ledger_open(&s.run.ledger, "ledger.db", &terms));
    s.run.observer = (bb_observer){.self = s.run.ledger, .published = check_spent};
    s.run.seeded = false;
    releases = 0;
    bb_result first = script_run(&s);
    assert_int_equal(releases, 5);
    assert_fails(bb_run_train(&s.run, &result), BB_EBUDGET, "");
    assert_int_equal(releases, 5);
    assert_true(result.rounds == 77 && !result.model);
    assert_ok(check_spent(s.run.ledger, NULL, 0));
    bb_ledger_close(s.run.ledger);
    assert_int_equal(unlink("ledger.db"), 0);
    unlink("ledger.db-wal");
    unlink("ledger.db-shm");
    bb_result_free(&first);
    run_close(&s.run);
    population_close(&p);
}

/* -- what passes on -- */

static const bb_method *const sharing[] = {&bb_method_fedavg, &bb_method_fedprox,
                                           &bb_method_pmtl, &bb_method_ppsgd};

/* The second phase is a run from the first one's shared model. */
static void the_next_phase_starts_from_the_shared_model(void **state) {
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_MULTILABEL; loss++)
        for (size_t m = 0; m < 4; m++) {
            script s, first, second;
            population p = tasks_of((bb_loss)loss);
            script_open(&s, &p, &bb_method_fedavg, &bb_mechanism_none, 3);
            then(&s, sharing[m], 4, 0.5);
            bb_result both = script_run(&s);
            script_open(&first, &p, &bb_method_fedavg, &bb_mechanism_none, 3);
            bb_result before = script_run(&first);
            script_open(&second, &p, sharing[m], &bb_mechanism_none, 4);
            second.run.pub.start = before.shared;
            bb_result after = script_run(&second);
            assert_same_results(&both, &after, &s.run.pub, 1e-12);
            assert_int_equal(both.rounds, 7);
            assert_true(fabs(before.shared[0] - after.shared[0]) > 1e-4);
            bb_result_free(&both);
            bb_result_free(&before);
            bb_result_free(&after);
            run_close(&s.run);
            run_close(&first.run);
            run_close(&second.run);
            population_close(&p);
        }
}

/* Rounds in two phases of one method are its rounds in one: a task goes on from its own
 * model, and from the draws of the round that it is. */
static void two_phases_of_a_method_are_one(void **state) {
    const uint32_t cluster[TASKS] = {0, 1, 1, 0, 1, 0, 0, 1};
    const bb_method *const method[] = {&bb_method_fedavg, &bb_method_fedprox,
                                       &bb_method_pmtl, &bb_method_ppsgd,
                                       &bb_method_pmtl_clusters};
    (void)state;
    for (size_t m = 0; m < 5; m++)
        for (size_t batch = 0; batch <= 4; batch += 4) {
            script s;
            population p = tasks_of(BB_LOSS_LOGISTIC);
            script_open(&s, &p, method[m], &bb_mechanism_none, 7);
            s.run.pub.batch = batch;
            s.run.pub.cluster = method[m]->clustered ? cluster : NULL;
            s.run.pub.clusters = method[m]->clustered ? 2 : 1;
            bb_result one = script_run(&s);
            s.run.phase[0].rounds = 3;
            then(&s, method[m], 4, 0.5);
            bb_result both = script_run(&s);
            assert_same_results(&one, &both, &s.run.pub, 1e-12);
            assert_true(fabs(one.model[0]) > 1e-3);
            bb_result_free(&one);
            bb_result_free(&both);
            run_close(&s.run);
            population_close(&p);
        }
}

/* What comes last shows nothing, and nobody sees a difference. */
static void finetuning_shows_nothing(void **state) {
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    for (size_t m = 0; m < 4; m++) {
        script s;
        script_open(&s, &p, sharing[m], &bb_mechanism_gaussian, 5);
        bb_result plain = script_run(&s);
        then(&s, &bb_method_finetune, 0, 0.0);
        bb_result tuned = script_run(&s);
        assert_string_equal(plain.billboard_sha256, tuned.billboard_sha256);
        assert_int_equal(tuned.plan.rounds, 5);
        assert_memory_equal(plain.plan.mu, tuned.plan.mu, 5 * sizeof *plain.plan.mu);
        assert_memory_equal(plain.shared, tuned.shared, FEATURES * sizeof(double));
        for (size_t i = 0; i < TASKS; i++) {
            const size_t at = i * FEATURES;
            assert_true((memcmp(plain.model + at, tuned.model + at,
                                FEATURES * sizeof(double)) == 0) ==
                        (i == TASKS - 1)); /* it has no rows */
        }
        bb_result_free(&plain);
        bb_result_free(&tuned);
        run_close(&s.run);
    }
    population_close(&p);
}

/* -- methods that end early -- */

static bb_status stop_at_two(const bb_view *view, const bb_release *release,
                             bb_draft *draft, double *work) {
    draft->done = release->round == 2;
    return bb_method_fedavg.digest(view, release, draft, work);
}

static uint32_t rounds_told[MOST_ROUNDS];

static bb_status note_round(const bb_view *view, const bb_release *release,
                            bb_draft *draft, double *work) {
    rounds_told[view->board->releases] = release->round;
    return bb_method_fedavg.digest(view, release, draft, work);
}

/* A phase that converges early leaves its rounds unused; the next one's are where they
 * were planned, with their own price, and count from 1 for the method. */
static void converging_early_shifts_nothing(void **state) {
    bb_method early = bb_method_fedavg, later = bb_method_fedavg;
    script s;
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    early.digest = stop_at_two;
    later.digest = note_round;
    for (size_t k = 0; k < 2; k++) {
        script_open(&s, &p, &early, k ? &bb_mechanism_gaussian : &bb_mechanism_none, 6);
        s.run.observer.published = note;
        releases = 0;
        then(&s, &later, 3, 0.1);
        bb_result result = script_run(&s);
        assert_int_equal(result.rounds, 5);
        assert_int_equal(releases, 5);
        assert_int_equal(result.plan.rounds, 9);
        for (uint32_t t = 0; t < 5; t++)
            assert_int_equal(released[t], t < 2 ? t + 1 : t + 5);
        for (uint32_t t = 0; t < 3; t++) assert_int_equal(rounds_told[t], t + 1);
        for (uint32_t t = 0; k && t < 5; t++)
            assert_relative(noise[t], 2.0 / result.plan.mu[released[t] - 1], 1e-6);
        bb_result_free(&result);
        run_close(&s.run);
    }
    population_close(&p);
}

/* -- a task whose model fails -- */

static bool fails_again;

static bb_status fail_for_task_two(const bb_view *view, bb_task *task) {
    const bb_status status = bb_method_fedavg.finish(view, task);
    if (task->id == 2 && (view->pub->phase == 0 || fails_again)) task->model[0] = NAN;
    return status;
}

/* Failed tasks are those that failed in the end. */
static void a_failure_counts_in_the_last_phase(void **state) {
    bb_method method = bb_method_fedavg;
    script s;
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED);
    method.finish = fail_for_task_two;
    for (size_t k = 0; k < 2; k++) {
        fails_again = k;
        script_open(&s, &p, &method, &bb_mechanism_gaussian, 2);
        then(&s, &method, 2, 0.5);
        bb_result result = script_run(&s);
        assert_int_equal(result.failed, k);
        assert_true((result.model[2 * FEATURES] == 0.0) == (k == 1));
        bb_result_free(&result);
        run_close(&s.run);
    }
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_phase_has_its_share),
        cmocka_unit_test(sampled_phases_are_priced_together),
        cmocka_unit_test_setup_teardown(the_ledger_is_charged_once, folder_enter,
                                        folder_leave),
        cmocka_unit_test(the_next_phase_starts_from_the_shared_model),
        cmocka_unit_test(two_phases_of_a_method_are_one),
        cmocka_unit_test(finetuning_shows_nothing),
        cmocka_unit_test(converging_early_shifts_nothing),
        cmocka_unit_test(a_failure_counts_in_the_last_phase),
    };
    if (bb_linalg_start()) return 1;
    two = bb_engine_threads(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
