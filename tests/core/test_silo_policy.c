/* What a silo agrees to and what it refuses, of an honest curator and of one that lies
 * about its plan; and that it is told when a run ends early. */
#include "core/messages.h"
#include "silos.h"

static void test_runs(void **state) {
    (void)state;
    static const char *const one[] = {"mp-lowrank"}, *const others[] = {"stl",
                                                                        "fedprox"};
    law_world w;
    law_open(&w, &law_usual, 1);
    const struct {
        bb_silo_policy policy;
        const char *words;
    } refuses[] = {
        {{.most_epsilon = 1.0, .allow_open = true}, "allows epsilon 1"},
        {{.most_delta = 1e-9, .allow_open = true}, "allows delta"},
        {{.fewest_tasks = 100, .allow_open = true}, "asks for 100 tasks"},
        {{.method = one, .methods = 1, .allow_open = true}, "forbids method fedprox"},
        {{.method = one, .methods = 0, .allow_open = true}, "forbids method fedprox"},
        {{.most_epsilon = 9.0}, "seeded noise"}};
    const bb_silo_policy fits = {.most_epsilon = 2.0,
                                 .fewest_tasks = LAW_TASKS,
                                 .fewest_silos = 2,
                                 .method = others,
                                 .methods = 2};
    bb_silo *silo = NULL;
    bb_silo_terms terms = {
        .run = &w.run, .number = 1, .tasks = LAW_TASKS, .sealed = true};
    for (size_t k = 0; k < sizeof refuses / sizeof *refuses; k++) {
        terms.policy = &refuses[k].policy;
        assert_fails(bb_silo_open(&silo, &terms), BB_EUSAGE, refuses[k].words);
    }
    terms.policy = &fits;
    w.run.seeded = false;
    for (uint32_t count = 1; count <= 2; count++) {
        const bb_curator_terms offers = {.run = &w.run, .silos = count, .sealed = true};
        bb_curator *curator = NULL;
        bb_bytes frame;
        bool given, news;
        assert_ok(bb_curator_open(&curator, &offers));
        assert_ok(bb_curator_give(curator, 1, &frame, &given));
        assert_ok(bb_silo_open(&silo, &terms));
        if (count == 1)
            assert_fails(bb_silo_take(silo, frame, &news), BB_EUSAGE,
                         "asks for 2 silos, not 1");
        else
            assert_ok(bb_silo_take(silo, frame, &news));
        bb_silo_close(silo);
        bb_curator_close(curator);
    }
    law_close(&w);
}

/* -- another run than the one agreed to: which of its terms differs -- */

static void test_terms(void **state) {
    (void)state;
    static const uint8_t other_names[BB_HASH_BYTES] = {1};
    law_world w;
    law_open(&w, &law_usual, 1);
    bb_run other[7];
    const char *const words[7] = {"epsilon",    "delta",    "adjacency",     "seed",
                                  "the rounds", "schedule", "names of tasks"};
    for (size_t k = 0; k < 7; k++) other[k] = w.run;
    other[0].pub.epsilon = 1.9;
    other[1].pub.delta = 2e-5;
    other[2].pub.adjacency = BB_ADD_REMOVE;
    other[3].seed++;
    other[4].phase[0].rounds = 7;
    other[5].pub.schedule = "power:1";
    other[6].agreed = other_names;
    for (size_t k = 0; k < 7; k++) {
        const bb_silo_terms terms = {.run = &w.run, .number = 1, .tasks = LAW_TASKS};
        const bb_curator_terms offers = {.run = &other[k], .silos = 1};
        bb_silo *silo = NULL;
        bb_curator *curator = NULL;
        bb_bytes frame;
        bool given, news;
        assert_ok(bb_silo_open(&silo, &terms));
        assert_ok(bb_curator_open(&curator, &offers));
        assert_ok(bb_curator_give(curator, 1, &frame, &given));
        assert_fails(bb_silo_take(silo, frame, &news), BB_EDATA, words[k]);
        bb_curator_close(curator);
        bb_silo_close(silo);
    }
    law_close(&w);
}

/* -- a curator that lies about its plan -- */

/* What a silo says to an offer with the terms of `run` and the plan of `phases`. */
static bb_status offer(const bb_run *run, const bb_phases *phases) {
    static const bb_silo_policy policy = {.allow_open = true};
    static const bb_roll roll = {.silos = 1, .fewest = 1};
    const bb_silo_terms terms = {
        .run = run, .number = 1, .tasks = LAW_TASKS, .policy = &policy};
    bb_frame frame = {.kind = BB_FRAME_OFFER, .silo = 1};
    bb_writer made = {0}, payload = {0};
    bb_phases honest;
    bb_silo *silo = NULL;
    bb_hash hash;
    bool news;
    assert_ok(bb_phases_open(&honest, run, NULL));
    bb_put_terms(&payload, &honest);
    bb_phases_close(&honest);
    bb_put_plan(&payload, &roll, phases);
    bb_hash_open(&hash);
    bb_hash_add(&hash, payload.at, payload.length);
    bb_hash_digest(&hash, frame.run);
    bb_frame_begin(&made, &frame);
    bb_put_bytes(&made, payload.at, payload.length);
    bb_frame_end(&made, NULL);
    assert_ok(made.status);
    assert_ok(bb_silo_open(&silo, &terms));
    const bb_status status =
        bb_silo_take(silo, (bb_bytes){made.at, made.length}, &news);
    bb_frame said;
    bb_bytes answer;
    assert_true(bb_silo_give(silo, &answer));
    assert_ok(bb_frame_read(answer, false, &said));
    assert_int_equal(said.kind, status ? BB_FRAME_REFUSE : BB_FRAME_JOIN);
    bb_silo_close(silo);
    bb_writer_close(&made);
    bb_writer_close(&payload);
    return status;
}

typedef void lie(bb_phases *phases);

static void first_mu(bb_phases *phases) {
    phases->plan.mu[0] *= 1.0 + 1e-5;
}

static void last_mu(bb_phases *phases) {
    phases->plan.mu[phases->plan.rounds - 1] *= 2.0;
}

static void no_noise(bb_phases *phases) {
    phases->plan.mu[0] = INFINITY;
}

static void no_number(bb_phases *phases) {
    phases->plan.mu[0] = NAN;
}

static void pure(bb_phases *phases) {
    phases->plan.pure[0] += 0.01;
}

static void half_the_rows(bb_phases *phases) {
    phases->plan.lifted_rows /= 2;
}

static void instance(bb_phases *phases) {
    phases->plan.instance[0] *= 1.1;
}

static void instance_epsilon(bb_phases *phases) {
    phases->plan.instance_epsilon *= 1.1;
}

static void share(bb_phases *phases) {
    phases->pub[0].mu *= 1.1;
}

static void more_noise(bb_phases *phases) {
    phases->plan.mu[0] *= 0.9;
}

static bb_status lie_with(const bb_run *run, lie *change) {
    bb_phases phases;
    assert_ok(bb_phases_open(&phases, run, NULL));
    assert_ok(bb_phases_plan(&phases));
    if (change) change(&phases);
    const bb_status status = offer(run, &phases);
    bb_phases_close(&phases);
    return status;
}

static void refused(const bb_run *run, lie *change, const char *words) {
    assert_fails(lie_with(run, change), BB_EDATA, words);
}

static void test_lies(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    w.run.phase[0].rounds = 4;
    refused(&w.run, first_mu, "less noise in round 1");
    refused(&w.run, last_mu, "less noise in round 4");
    refused(&w.run, no_noise, "less noise in round 1");
    refused(&w.run, no_number, "less noise in round 1");
    refused(&w.run, pure, "less noise in round 1");
    refused(&w.run, share, "phase 1");
    assert_ok(lie_with(&w.run, more_noise));
    /* the plans of other runs: of more rounds, of a larger epsilon, of a larger delta */
    bb_run other[3] = {w.run, w.run, w.run};
    const char *const words[3] = {"not what its methods ask for", "phase 1", "phase 1"};
    other[0].phase[0].rounds = 8;
    other[1].pub.epsilon = 2.1;
    other[2].pub.delta = 1e-2;
    for (size_t k = 0; k < 3; k++) {
        bb_phases phases;
        assert_ok(bb_phases_open(&phases, &other[k], NULL));
        assert_ok(bb_phases_plan(&phases));
        assert_fails(offer(&w.run, &phases), BB_EDATA, words[k]);
        bb_phases_close(&phases);
    }
    law_close(&w);
}

/* Selections, noise that tasks add themselves, promises that are lifted from rows, and
 * samples of the tasks have prices, too. */
static void test_lies_of_all_kinds(void **state) {
    (void)state;
    const struct {
        law_case c;
        const char *option, *value;
        lie *change;
        const char *words;
    } all[] = {
        {{&bb_method_mp_lrsp, &bb_mechanism_gaussian, BB_LOSS_SQUARED, BB_SAMPLING_ALL},
         "clip",
         "auto",
         pure,
         "less noise in round 1"},
        {{&bb_method_mp_instance, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
          BB_SAMPLING_ALL},
         NULL,
         NULL,
         instance,
         "less noise in round 1"},
        {{&bb_method_mp_instance, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
          BB_SAMPLING_ALL},
         NULL,
         NULL,
         instance_epsilon,
         "promises single rows less"},
        {{&bb_method_dp_aggr, &bb_mechanism_gaussian, BB_LOSS_SQUARED, BB_SAMPLING_ALL},
         "calibration",
         "instance",
         half_the_rows,
         "not what its methods ask for"},
        {{&bb_method_pmtl, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
          BB_SAMPLING_POISSON},
         NULL,
         NULL,
         first_mu,
         "less noise in round 1"}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        law_world w;
        law_open(&w, &all[k].c, 1);
        if (all[k].option) run_set(&w.run, all[k].option, all[k].value);
        refused(&w.run, all[k].change, all[k].words);
        assert_ok(lie_with(&w.run, NULL));
        law_close(&w);
    }
}

/* What an honest curator offers is never refused. */
static void law_honest(const law_case *c) {
    law_world w;
    law_open(&w, c, 1);
    if (lie_with(&w.run, NULL)) fail_msg("%s: %s", c->method->name, bb_last_error());
    law_close(&w);
}

static void test_honest(void **state) {
    (void)state;
    law_for_all(law_honest);
}

/* -- the end of a run before its end -- */

static void test_stop(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    uint32_t where[LAW_TASKS] = {0};
    for (size_t i = 0; i < LAW_TASKS; i++) where[i] = (uint32_t)(i % 3);
    w.run.phase[0].rounds = 2;
    silos f;
    bb_bytes frame;
    bool given, news;
    silos_deal(&f, &w.run, 3, where);
    silos_open(&f);
    /* silo 1 has joined, silo 2 has an answer that is not sent, silo 3 knows nothing */
    for (uint32_t s = 0; s < 2; s++) {
        assert_ok(bb_curator_give(f.curator, s + 1, &frame, &given));
        assert_ok(bb_silo_take(f.silo[s], frame, &news));
    }
    bb_curator_stop(f.curator, BB_STOP_BUDGET);
    assert_int_equal(bb_curator_now(f.curator), BB_CURATOR_FAILED);
    assert_true(bb_silo_give(f.silo[0], &frame));
    assert_fails(bb_curator_take(f.curator, frame, &news), BB_EUSAGE, "no more frames");
    assert_fails(bb_curator_close_round(f.curator), BB_EUSAGE, "no round");
    for (uint32_t s = 0; s < 3; s++) {
        for (int again = 0; again < 2; again++) {
            assert_ok(bb_curator_give(f.curator, s + 1, &frame, &given));
            assert_true(given);
            assert_fails(bb_silo_take(f.silo[s], frame, &news), BB_EINTERRUPTED,
                         "after 0 rounds: the privacy budget does not allow it");
            assert_true(news == !again);
            assert_int_equal(bb_silo_now(f.silo[s]), BB_SILO_STOPPED);
            bb_curator_again(f.curator, s + 1);
        }
        assert_false(bb_silo_give(f.silo[s], &frame));
        assert_fails(bb_silo_work(f.silo[s]), BB_EINTERRUPTED, "privacy budget");
    }
    silos_close(&f);
    law_close(&w);
}

/* One that comes in the middle of a run, one for nobody, and one that comes too late. */
static void test_late_stop(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    w.run.phase[0].rounds = 2;
    for (uint32_t rounds = 1; rounds <= 2; rounds++) {
        const uint32_t where[LAW_TASKS] = {0};
        silos f;
        bb_bytes frame;
        bool given, news;
        silos_deal(&f, &w.run, 1, where);
        silos_open(&f);
        for (uint32_t k = 0; k <= rounds; k++) {
            assert_ok(bb_curator_give(f.curator, 1, &frame, &given));
            assert_ok(bb_silo_take(f.silo[0], frame, &news));
            if (k) assert_ok(bb_silo_work(f.silo[0]));
            assert_true(bb_silo_give(f.silo[0], &frame));
            assert_ok(bb_curator_take(f.curator, frame, &news));
            assert_ok(bb_curator_close_round(f.curator));
            if (k) assert_ok(bb_curator_go_on(f.curator));
        }
        bb_curator_stop(f.curator, BB_STOP_CANCELLED);
        assert_ok(bb_curator_give(f.curator, 1, &frame, &given));
        assert_true(given);
        const bb_status status = bb_silo_take(f.silo[0], frame, &news);
        if (rounds == 1) assert_int_equal(status, BB_EINTERRUPTED);
        if (rounds == 1) assert_non_null(strstr(bb_last_error(), "it was cancelled"));
        if (rounds == 2) assert_ok(status); /* the end itself */
        silos_close(&f);
    }
    law_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),      cmocka_unit_test(test_terms),
        cmocka_unit_test(test_lies),      cmocka_unit_test(test_lies_of_all_kinds),
        cmocka_unit_test(test_honest),    cmocka_unit_test(test_stop),
        cmocka_unit_test(test_late_stop),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
