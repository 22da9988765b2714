/* fedper against a plain second writing: whose numbers move where, what is shown, and what
 * is left where nothing stood out of the noise. Its laws are here, and for whole runs in
 * tests/train/test_replay.c: those of tests/core are for linear models. */
#include "core/tape.h"
#include "learners/net.h"
#include "learners/sgd.h"
#include "methods/registry.h"
#include "population.h"

#include <string.h>

enum { TASKS = 9, SIDE = 3, FEATURES = SIDE * SIDE, ROUNDS = 5, STEPS = 3, MOST = 64 };
static const double rate = 0.2, server_rate = 0.8;

/* -- tasks with networks: the last one has no rows -- */

typedef struct world {
    population p;
    bb_net *net;
    size_t trunk, parameters;
    double start[MOST];
} world;

static void world_open(world *w, bb_loss loss, const char *layers, size_t changed) {
    *w = (world){.p = population_empty(TASKS, 10, FEATURES, loss, false)};
    population *p = &w->p;
    for (size_t i = 0; i < TASKS; i++) population_fill(p, i, i == changed ? 999 : 3);
    p->first[TASKS] = p->first[TASKS - 1];
    assert_ok(bb_net_open(&w->net, layers, (bb_image){SIDE, SIDE, 1}, 8, 2));
    w->trunk = bb_net_trunk(w->net);
    w->parameters = bb_net_parameters(w->net);
    assert_true(w->parameters <= MOST);
    assert_ok(bb_net_start(w->net, 1, w->start));
    p->net = w->net;
    population_open_locals(p);
}

static void world_close(world *w) {
    population_close(&w->p);
    bb_net_close(w->net);
}

static const char *layers_of(bb_loss loss) {
    return loss >= BB_LOSS_SOFTMAX ? "conv2x2,dense3,dense3" : "conv2x2,dense3,dense1";
}

static bb_run run_of(const world *w, const bb_method *method, const bb_engine *engine) {
    bb_run run = run_open(&w->p, method, &bb_mechanism_none, engine);
    run.pub.network = true;
    run.pub.trunk = w->trunk;
    run.pub.parameters = w->parameters;
    run.pub.start = w->start;
    if (method != &bb_method_fedper) return run;
    run.phase[0].rounds = ROUNDS;
    run_set(&run, "steps", "3");
    run_set(&run, "rate", "0.2");
    run_set(&run, "server-rate", "0.8");
    run_set(&run, "guard", "off");
    return run;
}

/* -- the second writing -- */

static bool picked[ROUNDS][TASKS];

static void train_and_note(const bb_view *view, bb_task *task) {
    picked[view->board->releases][task->id] = true;
    bb_method_fedper.train(view, task);
}

/* Steps over all rows, so nothing is drawn. */
static void go_down(const bb_local *local, uint64_t steps, double *model) {
    const bb_sgd sgd = {.steps = steps, .rate = rate};
    double *work = calloc(bb_sgd_work(local, &sgd), sizeof *work);
    assert_non_null(work);
    bb_local_descend(local, &sgd, &(bb_pull){0}, NULL, model, NULL, work);
    free(work);
}

/* shared: the network that all start from; own: TASKS networks, of which only the part
 * behind the trunk lasts. */
static void second(const world *w, double cohort, double *shared, double (*own)[MOST]) {
    const size_t trunk = w->trunk, size = w->parameters;
    memcpy(shared, w->start, size * sizeof *shared);
    for (size_t i = 0; i < TASKS; i++) memcpy(own[i], w->start, size * sizeof **own);
    for (size_t t = 0; t < ROUNDS; t++) {
        double sum[MOST] = {0};
        for (size_t i = 0; i + 1 < TASKS; i++) {
            if (!picked[t][i]) continue;
            memcpy(own[i], shared, trunk * sizeof **own);
            go_down(&w->p.local[i], STEPS, own[i]);
            for (size_t k = 0; k < trunk; k++) sum[k] += own[i][k] - shared[k];
        }
        for (size_t k = 0; k < trunk; k++) shared[k] += server_rate / cohort * sum[k];
    }
    for (size_t i = 0; i < TASKS; i++) memcpy(own[i], shared, trunk * sizeof **own);
}

static size_t shown;

static bb_status note_shown(void *self, const bb_release *release, size_t tasks) {
    (void)self, (void)tasks;
    shown = release->layout->block[0].length;
    return BB_OK;
}

static void compare(const world *w, bool sample) {
    const bb_engine engine = bb_engine_threads(2);
    double shared[MOST], own[TASKS][MOST];
    bb_method method = bb_method_fedper;
    method.train = train_and_note;
    bb_run run = run_of(w, &bb_method_fedper, &engine);
    bb_result result;
    run.phase[0].method = &method;
    run.observer.published = note_shown;
    run.pub.sampling = sample ? BB_SAMPLING_FIXED_VISIBLE : BB_SAMPLING_ALL;
    run.pub.cohort = 4;
    memset(picked, 0, sizeof picked);
    assert_ok(bb_run_train(&run, &result));
    assert_int_equal(shown, w->trunk);
    second(w, sample ? 4.0 : TASKS, shared, own);
    double moved = 0.0;
    for (size_t k = 0; k < w->parameters; k++) {
        assert_close(result.shared[k], shared[k], 1e-6);
        for (size_t i = 0; i < TASKS; i++)
            assert_close(result.model[result.first[i] + k], own[i][k], 1e-6);
        if (k < w->trunk) moved = fmax(moved, fabs(shared[k] - w->start[k]));
    }
    assert_true(moved > 1e-2);
    bb_result_free(&result);
    run_close(&run);
}

static void equal_to_the_second_writing(void **state) {
    (void)state;
    for (bb_loss loss = BB_LOSS_SQUARED; loss <= BB_LOSS_MULTILABEL; loss++) {
        world w;
        world_open(&w, loss, layers_of(loss), SIZE_MAX);
        compare(&w, false);
        compare(&w, true);
        world_close(&w);
    }
}

/* -- phases -- */

static bb_phase phase_like(const bb_run *run, uint32_t rounds) {
    bb_phase phase = run->phase[0];
    phase.rounds = rounds;
    return phase;
}

static void assert_near(const world *w, const bb_result *a, const bb_result *b) {
    for (size_t i = 0; i < TASKS; i++)
        for (size_t k = 0; k < w->parameters; k++)
            assert_close(a->model[a->first[i] + k], b->model[b->first[i] + k], 1e-5);
}

/* Its rounds in two phases are its rounds in one, also behind another method, of whose
 * models tasks keep the last layer. */
static void two_phases_are_one(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(1);
    world w;
    world_open(&w, BB_LOSS_SOFTMAX, layers_of(BB_LOSS_SOFTMAX), SIZE_MAX);
    bb_run run = run_of(&w, &bb_method_fedper, &engine);
    const bb_phase three = phase_like(&run, 3), two = phase_like(&run, 2);
    bb_run fedavg = run_of(&w, &bb_method_fedavg, &engine);
    fedavg.phase[0].rounds = 2;
    for (int after = 0; after < 2; after++) {
        bb_result one, both;
        bb_run a = after ? fedavg : run, b = a;
        a.phases = b.phases = (size_t)after;
        a.phase[a.phases++] = run.phase[0];
        b.phase[b.phases++] = three;
        b.phase[b.phases++] = two;
        assert_ok(bb_run_train(&a, &one));
        assert_ok(bb_run_train(&b, &both));
        assert_near(&w, &one, &both);
        bb_result_free(&one);
        bb_result_free(&both);
    }
    run_close(&run);
    run_close(&fedavg);
    world_close(&w);
}

/* -- the guard -- */

/* So much noise that it is seen: all have the public start, as the shared network, too. */
static void undetected_is_the_start(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(2);
    world w;
    world_open(&w, BB_LOSS_SOFTMAX, layers_of(BB_LOSS_SOFTMAX), SIZE_MAX);
    const size_t size = w.parameters * sizeof *w.start;
    for (int guarded = 0; guarded < 2; guarded++) {
        bb_run run = run_of(&w, &bb_method_fedper, &engine);
        bb_result result;
        run.mechanism = &bb_mechanism_gaussian;
        run.pub.epsilon = 1e-3;
        run.pub.delta = 1e-5;
        run_set(&run, "guard", guarded ? "auto" : "off");
        assert_ok(bb_run_train(&run, &result));
        assert_true((result.note != NULL) == guarded);
        assert_true((memcmp(result.shared, w.start, size) == 0) == guarded);
        for (size_t i = 0; i < TASKS; i++)
            assert_true((memcmp(result.model + result.first[i], w.start, size) == 0) ==
                        guarded);
        bb_result_free(&result);
        run_close(&run);
    }
    world_close(&w);
}

/* -- laws -- */

static bb_run noisy_run(const world *w, const bb_method *method,
                        const bb_engine *engine) {
    bb_run run = run_of(w, &bb_method_fedper, engine);
    run.phase[0].method = method;
    run.mechanism = &bb_mechanism_gaussian;
    run.pub.epsilon = 8.0;
    run.pub.delta = 1e-5;
    run.pub.batch = 4;
    return run;
}

static void threads_do_not_matter(void **state) {
    (void)state;
    world w;
    bb_result first = {0}, result;
    world_open(&w, BB_LOSS_MULTILABEL, layers_of(BB_LOSS_MULTILABEL), SIZE_MAX);
    for (size_t threads = 1; threads <= 2; threads++) {
        const bb_engine engine = bb_engine_threads(threads);
        bb_run run = noisy_run(&w, &bb_method_fedper, &engine);
        assert_ok(bb_run_train(&run, threads == 1 ? &first : &result));
        run_close(&run);
    }
    assert_string_equal(first.billboard_sha256, result.billboard_sha256);
    assert_memory_equal(first.model, result.model,
                        TASKS * w.parameters * sizeof *first.model);
    bb_result_free(&first);
    bb_result_free(&result);
    world_close(&w);
}

/* With the same releases nobody moves but the task whose rows are others. */
static void replay(void **state) {
    (void)state;
    const size_t changed = 4;
    const bb_engine engine = bb_engine_threads(1);
    const bb_method method = tape_method(&bb_method_fedper);
    world w[2];
    bb_result result[2];
    recording = (tape){0};
    for (int k = 0; k < 2; k++) {
        world_open(&w[k], BB_LOSS_SOFTMAX, layers_of(BB_LOSS_SOFTMAX),
                   k ? changed : SIZE_MAX);
        bb_run run = noisy_run(&w[k], &method, &engine);
        recording.playing = k;
        assert_ok(bb_run_train(&run, &result[k]));
        run_close(&run);
    }
    assert_true(recording.used > 0 && recording.read == recording.used);
    const size_t size = w->parameters * sizeof(double);
    for (size_t i = 0; i < TASKS; i++)
        assert_true((memcmp(result[0].model + result[0].first[i],
                            result[1].model + result[1].first[i], size) == 0) ==
                    (i != changed));
    free(recording.value);
    for (int k = 0; k < 2; k++) {
        bb_result_free(&result[k]);
        world_close(&w[k]);
    }
}

/* -- refusals -- */

static void needs_something_to_share(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(1);
    bb_result result;
    world w;
    world_open(&w, BB_LOSS_SOFTMAX, "pool2,dense3", SIZE_MAX);
    assert_int_equal(w.trunk, 0);
    bb_run run = run_of(&w, &bb_method_fedper, &engine);
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, "below its last layer");
    run.pub.network = false;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE,
                 "fedper is for networks: it cannot train a linear model");
    run_close(&run);
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_the_second_writing),
        cmocka_unit_test(two_phases_are_one),
        cmocka_unit_test(undetected_is_the_start),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(replay),
        cmocka_unit_test(needs_something_to_share),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
