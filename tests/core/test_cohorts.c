/* Rounds for a sample of the tasks: who is drawn, what it costs, what is refused. */
#include "base/parallel.h"
#include "population.h"
#include "privacy/accounting/account.h"

#include <string.h>

enum { TASKS = 60, ROUNDS = 400, FEATURES = 2 };

/* A method whose tasks count how often they are asked, and show that number in the
 * first place; the board keeps the sums of ones. */
static size_t one(const bb_view *view) {
    (void)view;
    return 1;
}

static size_t board_length(const bb_view *view) {
    (void)view;
    return ROUNDS;
}

static void layout(const bb_view *view, bb_layout *out) {
    (void)view;
    *out = (bb_layout){1, {{"ones", BB_FORM_VECTOR, 1, 1.0, 1.0}}};
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    bb_layout blocks;
    const bb_status status = bb_plan_schedule(out, view->pub, 0, ROUNDS, "uniform");
    layout(view, &blocks);
    if (!status) bb_plan_room(out, view->pub, &blocks);
    return status;
}

static void train(const bb_view *view, bb_task *task) {
    (void)view;
    task->state[0] += 1.0;
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    (void)view, (void)task;
    block[0][0] = 1.0;
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    (void)view, (void)work;
    draft->at[view->board->releases] = release->value[0][0];
    return BB_OK;
}

/* The model: how often the task was asked, and the size of the i-th round. */
static bb_status finish(const bb_view *view, bb_task *task) {
    task->model[0] = task->state[0];
    task->model[1] = task->id < view->plan->rounds ? view->board->at[task->id] : 0.0;
    return BB_OK;
}

static const bb_method counting = {.name = "counting",
                                   .kind = BB_METHOD_PRIVATE,
                                   .losses = BB_SUPPORTS_SQUARED,
                                   .takes = BB_TAKES_ROUNDS | BB_TAKES_SCHEDULE,
                                   .sampled = true,
                                   .shared_intercept = true,
                                   .plan = plan,
                                   .board_length = board_length,
                                   .state_length = one,
                                   .layout = layout,
                                   .train = train,
                                   .show = show,
                                   .digest = digest,
                                   .finish = finish};

typedef struct trial {
    population p;
    bb_engine engine;
    bb_run run;
} trial;

static trial open_trial(const bb_method *method, const bb_mechanism *mechanism,
                        bb_sampling sampling, uint64_t seed) {
    trial t = {.p = population_make(TASKS, 3, FEATURES, BB_LOSS_SQUARED, false, 5)};
    t.engine = bb_engine_threads(2);
    t.run = (bb_run){.phases = 1,
                     .phase = {{.method = method}},
                     .pub = {.tasks = TASKS,
                             .features = FEATURES,
                             .loss = BB_LOSS_SQUARED,
                             .adjacency = BB_REPLACE_ONE,
                             .sampling = sampling,
                             .rate = 0.2,
                             .cohort = 12,
                             .epsilon = 2.0,
                             .delta = 1e-6},
                     .mechanism = mechanism,
                     .seeded = true,
                     .seed = seed,
                     .local = t.p.local};
    return t;
}

static bb_status run_trial(trial *t, bb_result *result) {
    t->run.engine = &t->engine;
    return bb_run_train(&t->run, result);
}

/* 400 rounds, 60 tasks: each number of times a task was asked is Bin(400, 0.2) by
 * either kind of sampling; false alarms below 1e-10 (6.8 standard deviations, 120
 * numbers). A round's size is exact for a fixed size, and Bin(60, 0.2) otherwise. */
static void who_is_drawn(void **state) {
    (void)state;
    for (int kind = BB_SAMPLING_POISSON; kind <= BB_SAMPLING_FIXED_HIDDEN; kind++) {
        trial t = open_trial(&counting, &bb_mechanism_none, (bb_sampling)kind,
                             (uint64_t)kind);
        bb_result result;
        double all = 0.0, squares = 0.0, different = 0.0;
        assert_ok(run_trial(&t, &result));
        for (size_t i = 0; i < TASKS; i++) {
            const double times = result.model[i * FEATURES];
            const double size = result.model[i * FEATURES + 1];
            assert_close(times, 80.0, 6.8 * 8.0);
            all += times;
            squares += (times - 80.0) * (times - 80.0) / 64.0;
            if (kind != BB_SAMPLING_POISSON) assert_true(size == 12.0);
            assert_close(size, 12.0, 6.8 * 3.1);
            different += size != result.model[1];
        }
        /* chi^2 of 59 or 60 degrees of freedom */
        assert_close(squares, 60.0, 6.8 * sqrt(120.0) + 20.0);
        if (kind == BB_SAMPLING_POISSON) {
            assert_close(all, 4800.0, 6.8 * 62.0);
            assert_true(different > 30.0);
        } else {
            assert_true(all == 4800.0);
        }
        bb_result_free(&result);
        population_close(&t.p);
    }
}

/* Cohorts follow the seed, not the number of threads. */
static void another_seed_another_cohort(void **state) {
    (void)state;
    double same[TASKS];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        trial t = open_trial(&counting, &bb_mechanism_none, BB_SAMPLING_POISSON,
                             seed == 3 ? 1 : seed);
        bb_result result;
        size_t equal = 0;
        t.engine = bb_engine_threads((size_t)seed);
        assert_ok(run_trial(&t, &result));
        for (size_t i = 0; i < TASKS; i++) {
            equal += seed > 1 && same[i] == result.model[i * FEATURES];
            if (seed == 1) same[i] = result.model[i * FEATURES];
        }
        if (seed == 2) assert_true(equal < TASKS / 2);
        if (seed == 3) assert_int_equal(equal, TASKS);
        bb_result_free(&result);
        population_close(&t.p);
    }
}

/* The plan's rounds cost what was asked for, by the accountant of that sampling. */
static void price(void **state) {
    (void)state;
    double unsampled = 0.0;
    for (int kind = BB_SAMPLING_ALL; kind <= BB_SAMPLING_FIXED_HIDDEN; kind++)
        for (int adjacency = BB_REPLACE_ONE; adjacency <= BB_ADD_REMOVE; adjacency++) {
            trial t =
                open_trial(&counting, &bb_mechanism_gaussian, (bb_sampling)kind, 1);
            bb_result result;
            bb_answer answer;
            t.run.pub.adjacency = (bb_adjacency)adjacency;
            t.run.phase[0].rounds = 30;
            t.run.pub.schedule = "power:1";
            assert_ok(run_trial(&t, &result));
            bb_event event[30];
            const double r = bb_form_sensitivity(BB_FORM_VECTOR, t.run.pub.adjacency);
            for (int k = 0; k < 30; k++)
                event[k] = bb_event_round(
                    (bb_sampling)kind, kind == BB_SAMPLING_ALL ? 1.0 : 0.2,
                    result.plan.mu[k] / r, 2.0 * result.plan.mu[k] / r, 1.0);
            const bb_account account = {t.run.pub.adjacency, 30, event};
            assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_PLD, 1e-6, &answer));
            assert_true(answer.upper <= 2.0 * (1.0 + 1e-7));
            assert_true(answer.upper > 2.0 * (1.0 - 1e-3));
            assert_relative(result.noise_multiplier, r / result.plan.mu[29], 1e-9);
            if (adjacency == BB_REPLACE_ONE) {
                if (kind == BB_SAMPLING_ALL) unsampled = result.noise_multiplier;
                /* a visible cohort only counts how often a task was in it */
                else
                    assert_true(result.noise_multiplier < unsampled);
            }
            bb_result_free(&result);
            population_close(&t.p);
        }
}

static void refused(bb_run *run, const char *words) {
    bb_result result;
    assert_fails(bb_run_train(run, &result), BB_EUSAGE, words);
}

/* A task takes part more rarely than delta; and an epsilon that no accountant needs. */
static void budgets_without_noise(void **state) {
    (void)state;
    trial t = open_trial(&counting, &bb_mechanism_gaussian, BB_SAMPLING_POISSON, 1);
    t.run.engine = &t.engine;
    t.run.pub.rate = 1e-9;
    refused(&t.run, "next to no noise");
    t.run.pub.rate = 0.2;
    t.run.pub.epsilon = 1e5;
    refused(&t.run, "at most 1000");
    population_close(&t.p);
}

static void refusals(void **state) {
    (void)state;
    bb_method method = counting;
    trial t = open_trial(&method, &bb_mechanism_none, BB_SAMPLING_POISSON, 1);
    t.run.engine = &t.engine;
    const double rates[] = {0.0, -0.1, 1.01, NAN};
    for (size_t k = 0; k < 4; k++) {
        t.run.pub.rate = rates[k];
        refused(&t.run, "sampling rate");
    }
    t.run.pub.rate = 0.2;
    t.run.mechanism = &bb_mechanism_wishart_published;
    refused(&t.run, "no price");
    t.run.mechanism = &bb_mechanism_none;
    t.run.pub.sampling = BB_SAMPLING_FIXED_HIDDEN;
    t.run.pub.cohort = TASKS + 1;
    refused(&t.run, "61 tasks cannot be drawn from 60");
    t.run.pub.cohort = 0;
    refused(&t.run, "0 tasks");
    t.run.pub.cohort = 12;
    method.keeps = true;
    refused(&t.run, "visible");
    method.sampled = false;
    refused(&t.run, "all tasks");
    population_close(&t.p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_drawn), cmocka_unit_test(another_seed_another_cohort),
        cmocka_unit_test(price),        cmocka_unit_test(budgets_without_noise),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
