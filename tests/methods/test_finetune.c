/* finetune against plain loops: the twin of bb_local_descend, Fisher information and
 * exact minima by their definitions. */
#include "learners/outputs_problem.h"
#include "methods/registry.h"
#include "population.h"

#include <string.h>

enum { TASKS = 7, FEATURES = 4, ROUNDS = 3, STEPS = 6, MOST = 16 };

static const char *const ways[] = {"vanilla", "mean", "kl", "ewc"};
enum { VANILLA, MEAN, KL, EWC };

/* What is asked of a case, and the models before and after. */
typedef struct trial {
    population p;
    bool intercept;
    size_t batch;
    int how;
    double rate, penalty, momentum;
    bb_result before, after;
} trial;

static void set(const bb_phase *phase, const char *name, double value) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    assert_ok(bb_options_set(phase->method->options, (void *)(uintptr_t)phase->options,
                             "test", name, text));
}

/* With an intercept of their own tasks come from stl, and share nothing: w~ is 0. */
static void trial_run(trial *t) {
    const bb_engine engine = bb_engine_threads(2);
    unsigned char options[512] = {0};
    const bb_phase phase = {.method = &bb_method_finetune, .options = options};
    bb_run run = run_open(&t->p, t->intercept ? &bb_method_stl : &bb_method_fedavg,
                          &bb_mechanism_none, &engine);
    if (!t->intercept) run_set(&run, "guard", "off");
    if (!t->intercept) run.phase[0].rounds = ROUNDS;
    assert_ok(bb_run_train(&run, &t->before));
    assert_true(phase.method->options_size <= sizeof options);
    assert_ok(bb_options_default(phase.method->options, options));
    assert_ok(
        bb_options_set(phase.method->options, options, "test", "how", ways[t->how]));
    set(&phase, "penalty", t->penalty);
    set(&phase, "rate", t->rate);
    set(&phase, "momentum", t->momentum);
    set(&phase, "steps", STEPS);
    run.pub.batch = t->batch;
    run.phase[run.phases++] = phase;
    /* the first phase as before: it makes full steps or none */
    if (t->batch && !t->intercept) {
        bb_result_free(&t->before);
        run.phases = 1;
        assert_ok(bb_run_train(&run, &t->before));
        run.phases = 2;
    }
    assert_ok(bb_run_train(&run, &t->after));
    run_close(&run);
}

static void trial_close(trial *t) {
    bb_result_free(&t->before);
    bb_result_free(&t->after);
    population_close(&t->p);
}

/* Every fourth label is another one, so that no task can be separated; the last task
 * has no rows. */
static population tasks_of(bb_loss loss, bool intercept) {
    population p = population_empty(TASKS, 12, FEATURES, loss, intercept);
    for (size_t i = 0; i < TASKS; i++) population_fill(&p, i, 8);
    for (size_t j = 0; j < p.first[TASKS]; j += 4)
        p.y[j] = loss == BB_LOSS_SOFTMAX ? fmod(p.y[j] + 1.0, 3.0) : -p.y[j];
    p.first[TASKS] = p.first[TASKS - 1];
    population_open_locals(&p);
    return p;
}

/* Task i as the twin has it; borrowed. */
static many twin_of(const trial *t, size_t i) {
    const population *p = &t->p;
    return (many){.n = p->first[i + 1] - p->first[i],
                  .d = FEATURES,
                  .outputs = p->outputs,
                  .parameters = FEATURES * p->outputs,
                  .loss = p->loss,
                  .intercept = t->intercept,
                  .rows = {.x = p->x + p->first[i] * FEATURES},
                  .y = p->y + p->first[i]};
}

static void fisher_of(const many *m, const double *W, double b, double *fisher) {
    double z[64], dz[64];
    memset(fisher, 0, m->parameters * sizeof *fisher);
    for (size_t j = 0; j < m->n; j++) {
        twin_outputs(m, j, W, b, z);
        (void)twin_loss(m, j, z, dz);
        for (size_t k = 0; k < m->d; k++)
            for (size_t c = 0; c < m->outputs; c++) {
                const double g = m->rows.x[j * m->d + k] * dz[c];
                fisher[k * m->outputs + c] += g * g / (double)m->n;
            }
    }
}

/* The pull that the way of finetuning promises; fisher: room for its weights. Methods
 * with own intercepts share no model here: the task's own takes its place. */
static bb_pull pull_of(const trial *t, const many *m, size_t i, double *fisher) {
    const double *shared = t->before.shared;
    const double b = t->intercept ? t->before.intercept[i] : 0.0;
    assert_true(t->before.shares == !t->intercept);
    if (t->intercept) shared = t->before.model + t->before.first[i];
    if (t->how == VANILLA) return (bb_pull){0};
    if (t->how == KL)
        return (bb_pull){.kl = t->penalty, .teacher = shared, .teacher_intercept = b};
    if (t->how == MEAN) return (bb_pull){.penalty = t->penalty, .centre = shared};
    fisher_of(m, shared, b, fisher);
    return (bb_pull){.penalty = t->penalty, .centre = shared, .fisher = fisher};
}

/* mean has a solver for one output: there the gradient of its objective is zero. */
static void assert_minimum(const many *m, const bb_local *local, const bb_pull *pull,
                           const double *w, double b) {
    const double h = 1e-4;
    double moved[MOST];
    for (size_t k = 0; k < m->parameters; k++) {
        memcpy(moved, w, m->parameters * sizeof *moved);
        moved[k] = w[k] + h;
        const double above = twin_objective(m, local, pull, moved, b);
        moved[k] = w[k] - h;
        const double below = twin_objective(m, local, pull, moved, b);
        assert_close((above - below) / (2.0 * h), 0.0, 1e-8);
    }
}

static void check_task(const trial *t, size_t i) {
    const bb_local *local = &t->p.local[i];
    const many m = twin_of(t, i);
    double W[MOST], fisher[MOST], b = t->before.intercept[i];
    const double *w = t->after.model + t->after.first[i];
    assert_true(m.parameters <= MOST);
    memcpy(W, t->before.model + t->before.first[i], m.parameters * sizeof *W);
    if (m.n == 0) {
        assert_memory_equal(w, W, m.parameters * sizeof *W);
        return;
    }
    const bb_pull pull = pull_of(t, &m, i, fisher);
    const double before = twin_objective(&m, local, &pull, W, b);
    const double after = twin_objective(&m, local, &pull, w, t->after.intercept[i]);
    if (!t->batch && t->momentum == 0.0 && !(after < before))
        fail_msg("%s: objective %.17g, was %.17g", ways[t->how], after, before);
    if (t->how == MEAN && m.outputs == 1) {
        assert_minimum(&m, local, &pull, w, t->after.intercept[i]);
        return;
    }
    const bb_sgd sgd = {
        .steps = STEPS, .batch = t->batch, .rate = t->rate, .momentum = t->momentum};
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 7, BB_FOR_FINISH, 1, i));
    twin_descend(&m, local, &sgd, &pull, &random, W, &b);
    bb_random_close(&random);
    for (size_t k = 0; k < m.parameters; k++) assert_close(w[k], W[k], 1e-10);
    assert_close(t->after.intercept[i], b, 1e-10);
}

static void equal_to_the_twin(void **state) {
    const bb_loss losses[] = {BB_LOSS_SQUARED, BB_LOSS_LOGISTIC, BB_LOSS_SOFTMAX};
    (void)state;
    for (size_t k = 0; k < 3 * 4 * 2 * 2; k++) {
        trial t = {.how = (int)(k / 3 % 4),
                   .batch = k / 12 % 2 ? 5 : 0,
                   .intercept = k / 24,
                   .rate = k / 12 % 2 ? 0.3 : 0.9,
                   .penalty = 0.4,
                   .momentum = k / 12 % 2 ? 0.5 : 0.0};
        if (t.intercept && losses[k % 3] == BB_LOSS_SOFTMAX) continue;
        t.p = tasks_of(losses[k % 3], t.intercept);
        trial_run(&t);
        for (size_t i = 0; i < TASKS; i++) check_task(&t, i);
        trial_close(&t);
    }
}

/* The further a way pulls, the nearer to the shared model; no pull is vanilla. */
static void the_penalty_pulls(void **state) {
    (void)state;
    for (int how = MEAN; how <= EWC; how++) {
        double distance[3];
        for (size_t k = 0; k < 3; k++) {
            trial t = {
                .how = how, .rate = 1.0, .penalty = k == 0 ? 0.0 : 50.0 * (double)k};
            t.p = tasks_of(BB_LOSS_LOGISTIC, false);
            trial_run(&t);
            distance[k] = 0.0;
            for (size_t j = 0; j < TASKS * FEATURES; j++) {
                const double moved = t.after.model[j] - t.before.model[j];
                distance[k] += moved * moved;
            }
            if (k == 0) {
                trial vanilla = {.how = VANILLA, .rate = 1.0};
                vanilla.p = tasks_of(BB_LOSS_LOGISTIC, false);
                trial_run(&vanilla);
                assert_memory_equal(vanilla.after.model, t.after.model,
                                    TASKS * FEATURES * sizeof(double));
                trial_close(&vanilla);
            }
            trial_close(&t);
        }
        assert_true(distance[0] > 10.0 * distance[1]);
        assert_true(distance[1] > distance[2] && distance[2] > 0.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_the_twin),
        cmocka_unit_test(the_penalty_pulls),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
