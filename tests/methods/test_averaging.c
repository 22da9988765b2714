/* fedavg, fedprox, pmtl against a plain second writing of them; what the door sees of
 * them; who moves when only some are picked. */
#include "methods/quantile_clip.h"
#include "methods/registry.h"
#include "population.h"

#include <string.h>

enum { TASKS = 11, FEATURES = 4, MOST_ROUNDS = 32 };

static const bb_method *const methods[] = {&bb_method_fedavg, &bb_method_fedprox,
                                           &bb_method_pmtl};

/* Every fourth label is the other one, so that no task can be separated; the last task
 * has no rows. */
static population tasks_of(bb_loss loss, uint64_t seed) {
    population p = population_empty(TASKS, 12, FEATURES, loss, false);
    for (size_t i = 0; i < TASKS; i++) population_fill(&p, i, seed);
    for (size_t j = 0; j < p.first[TASKS]; j += 4) p.y[j] = -p.y[j];
    p.first[TASKS] = p.first[TASKS - 1];
    population_open_locals(&p);
    return p;
}

/* -- a run that tells who was asked, and what was released -- */

typedef struct diary {
    bool picked[MOST_ROUNDS][TASKS];
    double release[MOST_ROUNDS][FEATURES];
    double clip[MOST_ROUNDS], bits[MOST_ROUNDS]; /* where there are any */
} diary;

static diary seen;
static const bb_method *watched;

static void train_and_note(const bb_view *view, bb_task *task) {
    seen.picked[view->board->releases][task->id] = true;
    watched->train(view, task);
}

static bb_status note_release(void *self, const bb_release *release, size_t tasks) {
    (void)self, (void)tasks;
    const uint32_t t = release->round - 1;
    assert_int_equal(release->layout->block[0].form, BB_FORM_VECTOR);
    seen.clip[t] = release->layout->block[0].clip;
    if (release->layout->blocks > 1) seen.bits[t] = release->value[1][0];
    memcpy(seen.release[release->round - 1], release->value[0], sizeof seen.release[0]);
    return BB_OK;
}

static bb_result watch(const bb_run *asked) {
    bb_method method = *asked->phase[0].method;
    bb_run run = *asked;
    bb_result result;
    watched = asked->phase[0].method;
    method.train = train_and_note;
    run.phase[0].method = &method;
    run.observer.published = note_release;
    seen = (diary){0};
    assert_ok(bb_run_train(&run, &result));
    return result;
}

/* -- the second writing -- */

typedef struct recipe {
    const bb_method *method;
    size_t rounds, steps, finetune_steps;
    double rate, server_rate, penalty, finetune_penalty;
    bool exact;
    const char *finetune;
} recipe;

/* The second phase of a run that finetunes; one at a time. */
static struct {
    bb_phase phase;
    unsigned char options[512];
} after;

static void set_after(const char *name, const char *text) {
    assert_ok(
        bb_options_set(after.phase.method->options, after.options, "test", name, text));
}

static void set_number(bb_run *run, const char *name, double value) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    run_set(run, name, text);
}

static void finetune_after(bb_run *run, const recipe *r) {
    char text[40];
    after.phase = (bb_phase){.method = &bb_method_finetune, .options = after.options};
    assert_true(after.phase.method->options_size <= sizeof after.options);
    assert_ok(bb_options_default(after.phase.method->options, after.options));
    set_after("how", r->finetune);
    snprintf(text, sizeof text, "%.17g", r->finetune_penalty);
    set_after("penalty", text);
    snprintf(text, sizeof text, "%zu", r->finetune_steps);
    set_after("steps", text);
    snprintf(text, sizeof text, "%.17g", r->rate);
    set_after("rate", text);
    run->phase[run->phases++] = after.phase;
}

static bb_run run_of(const recipe *r, const population *p, const bb_engine *engine) {
    bb_run run = run_open(p, r->method, &bb_mechanism_none, engine);
    run.phase[0].rounds = (uint32_t)r->rounds;
    set_number(&run, "steps", (double)r->steps);
    set_number(&run, "rate", r->rate);
    set_number(&run, "server-rate", r->server_rate);
    run_set(&run, "guard", "off");
    run_set(&run, "clip", "1");
    if (strcmp(r->finetune, "none") != 0) finetune_after(&run, r);
    if (r->method == &bb_method_fedavg) return run;
    set_number(&run, r->method == &bb_method_pmtl ? "lambda" : "mu", r->penalty);
    run_set(&run, "local", r->exact ? "exact" : "steps");
    return run;
}

static double slope(bb_loss loss, double value, double y) {
    return loss == BB_LOSS_SQUARED ? value - y : -y / (1.0 + exp(y * value));
}

static void gradient(const population *p, size_t i, const double *w, double *g) {
    const double n = (double)(p->first[i + 1] - p->first[i]);
    memset(g, 0, FEATURES * sizeof *g);
    for (size_t j = p->first[i]; j < p->first[i + 1]; j++) {
        const double *x = p->x + j * FEATURES;
        const double u = slope(p->loss, bb_dot(FEATURES, x, w), p->y[j]) / n;
        for (size_t k = 0; k < FEATURES; k++) g[k] += u * x[k];
    }
}

static void go_down(const population *p, size_t i, size_t steps, double rate,
                    double penalty, const double *centre, double *w) {
    double g[FEATURES];
    const double length = rate / (p->local[i].lipschitz + penalty);
    for (size_t s = 0; s < steps; s++) {
        gradient(p, i, w, g);
        for (size_t k = 0; k < FEATURES; k++)
            w[k] -= length * (g[k] + penalty * (w[k] - centre[k]));
    }
}

static void minimum(const population *p, size_t i, double penalty, const double *centre,
                    double *w) {
    double work[1024], b;
    assert_true(bb_local_work(&p->local[i]) <= 1024);
    assert_ok(bb_local_ridge(&p->local[i], penalty, centre, w, &b, work));
}

static bool has_rows(const population *p, size_t i) {
    return p->first[i + 1] > p->first[i];
}

/* shared and own (TASKS models) after the rounds that the diary tells of. */
static void second(const recipe *r, const population *p, double cohort, double *shared,
                   double (*own)[FEATURES]) {
    const bool personal = r->method == &bb_method_pmtl;
    const double penalty = r->method == &bb_method_fedavg ? 0.0 : r->penalty;
    memset(shared, 0, FEATURES * sizeof *shared);
    memset(own, 0, TASKS * sizeof *own);
    for (size_t t = 0; t < r->rounds; t++) {
        double sum[FEATURES] = {0};
        for (size_t i = 0; i < TASKS; i++) {
            double start[FEATURES], w[FEATURES];
            if (!seen.picked[t][i] || !has_rows(p, i)) continue;
            memcpy(start, personal ? own[i] : shared, sizeof start);
            memcpy(w, start, sizeof w);
            if (r->exact && penalty > 0.0)
                minimum(p, i, penalty, shared, w);
            else
                go_down(p, i, r->steps, r->rate, penalty, shared, w);
            for (size_t k = 0; k < FEATURES; k++) sum[k] += w[k] - start[k];
            if (personal) memcpy(own[i], w, sizeof w);
        }
        for (size_t k = 0; k < FEATURES; k++)
            assert_close(seen.release[t][k], sum[k], 1e-9);
        bb_axpy(FEATURES, r->server_rate / cohort, sum, shared);
    }
}

static void fit(const recipe *r, const population *p, size_t i, const double *shared,
                double *w) {
    if (!has_rows(p, i) || r->method != &bb_method_pmtl)
        memcpy(w, shared, FEATURES * sizeof *w);
    if (!has_rows(p, i)) return;
    if (strcmp(r->finetune, "vanilla") == 0)
        go_down(p, i, r->finetune_steps, r->rate, 0.0, shared, w);
    if (strcmp(r->finetune, "mean") == 0) minimum(p, i, r->finetune_penalty, shared, w);
}

static void compare(const recipe *r, const population *p, bb_sampling sampling) {
    const bb_engine engine = bb_engine_threads(2);
    bb_run run = run_of(r, p, &engine);
    double shared[FEATURES], own[TASKS][FEATURES];
    run.pub.sampling = sampling;
    run.pub.rate = 0.3;
    run.pub.cohort = 4;
    const double cohort = sampling == BB_SAMPLING_ALL       ? TASKS
                          : sampling == BB_SAMPLING_POISSON ? 0.3 * TASKS
                                                            : 4.0;
    bb_result result = watch(&run);
    assert_true(isnan(result.outcome.objective) && isnan(result.outcome.gap));
    second(r, p, cohort, shared, own);
    assert_true(bb_norm(FEATURES, shared) > 0.01);
    for (size_t i = 0; i < TASKS; i++) {
        fit(r, p, i, shared, own[i]);
        for (size_t k = 0; k < FEATURES; k++)
            assert_close(result.model[i * FEATURES + k], own[i][k], 1e-9);
        assert_true(result.intercept[i] == 0.0);
    }
    bb_result_free(&result);
    run_close(&run);
}

static recipe recipe_of(const bb_method *method) {
    return (recipe){.method = method,
                    .rounds = 6,
                    .steps = 3,
                    .finetune_steps = 4,
                    .rate = 1.3,
                    .server_rate = 0.7,
                    .penalty = 0.08,
                    .finetune_penalty = 0.05,
                    .finetune = "none"};
}

static void equal_to_the_second_writing(void **state) {
    const char *const finetune[] = {"none", "vanilla", "mean"};
    (void)state;
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_LOGISTIC; loss++) {
        population p = tasks_of((bb_loss)loss, 5);
        for (size_t k = 0; k < 18; k++) {
            recipe r = recipe_of(methods[k % 3]);
            const bool keeps = r.method->keeps;
            r.finetune = finetune[k / 3 % 3];
            r.exact = k / 9;
            compare(&r, &p, BB_SAMPLING_ALL);
            compare(&r, &p, BB_SAMPLING_POISSON);
            compare(&r, &p,
                    keeps ? BB_SAMPLING_FIXED_VISIBLE : BB_SAMPLING_FIXED_HIDDEN);
        }
        population_close(&p);
    }
}

/* -- one task, and what finetuning does -- */

static void one_task_finds_its_minimum(void **state) {
    (void)state;
    for (size_t k = 0; k < 12; k++) {
        recipe r = recipe_of(methods[k % 3]);
        const bb_loss loss = k % 2 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
        const bb_engine engine = bb_engine_threads(1);
        population p = tasks_of(loss, 6);
        bb_result result;
        double g[FEATURES];
        r.rounds = 3000;
        r.server_rate = 1.0;
        r.exact = k / 6;
        bb_run run = run_of(&r, &p, &engine);
        run.pub.tasks = 1;
        assert_ok(bb_run_train(&run, &result));
        gradient(&p, 0, (double[FEATURES]){0}, g);
        assert_true(bb_norm(FEATURES, g) > 0.01);
        gradient(&p, 0, result.model, g);
        assert_true(bb_norm(FEATURES, g) < 1e-9);
        bb_result_free(&result);
        run_close(&run);
        population_close(&p);
    }
}

static bb_result finetuned(const population *p, const bb_method *method,
                           const char *how) {
    const bb_engine engine = bb_engine_threads(2);
    recipe r = recipe_of(method);
    bb_result result;
    r.finetune = how;
    bb_run run = run_of(&r, p, &engine);
    assert_ok(bb_run_train(&run, &result));
    run_close(&run);
    return result;
}

/* finetune=none of fedavg and fedprox is the shared model itself. */
static void finetuning_is_local(void **state) {
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        const bb_loss loss = k / 2 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
        population p = tasks_of(loss, 7);
        bb_result shared = finetuned(&p, methods[k % 2], "none");
        bb_result mean = finetuned(&p, methods[k % 2], "mean");
        bb_result vanilla = finetuned(&p, methods[k % 2], "vanilla");
        assert_string_equal(shared.billboard_sha256, mean.billboard_sha256);
        assert_string_equal(shared.billboard_sha256, vanilla.billboard_sha256);
        for (size_t i = 0; i < TASKS; i++) {
            const double *at = shared.model + i * FEATURES;
            double w[FEATURES], work[1024];
            assert_memory_equal(at, shared.model, sizeof w);
            memcpy(w, at, sizeof w);
            if (has_rows(&p, i)) minimum(&p, i, 0.05, at, w);
            assert_memory_equal(mean.model + i * FEATURES, w, sizeof w);
            const double before = bb_local_value(&p.local[i], at, 0.0, work);
            const double later =
                bb_local_value(&p.local[i], vanilla.model + i * FEATURES, 0.0, work);
            assert_true(has_rows(&p, i) ? later < before : later == before);
        }
        bb_result_free(&shared);
        bb_result_free(&mean);
        bb_result_free(&vanilla);
        population_close(&p);
    }
}

/* -- the clip -- */

static bb_status no_noise(void *self, bb_random *random, uint32_t round,
                          const bb_block *block, double pure, double *sum,
                          double *std) {
    (void)self, (void)random, (void)round, (void)block, (void)pure, (void)sum;
    *std = 0.0;
    return BB_OK;
}

/* In the first round a change is the model that pmtl keeps: what is shown is clipped,
 * what is kept is not. */
static void only_what_is_shown_is_clipped(void **state) {
    const bb_mechanism silent = {
        .name = "silent", .pricing = BB_PRICE_GAUSSIAN, .clips = true, .add = no_noise};
    const bb_engine engine = bb_engine_threads(2);
    const double clip = 1.5;
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED, 8);
    recipe r = recipe_of(&bb_method_pmtl);
    r.rounds = 1;
    r.exact = true;
    bb_run run = run_of(&r, &p, &engine);
    run.mechanism = &silent;
    run.pub.epsilon = 1.0;
    run.pub.delta = 1e-5;
    set_number(&run, "clip", clip);
    bb_result result = watch(&run);
    double sum[FEATURES] = {0}, w[FEATURES];
    size_t longer = 0;
    for (size_t i = 0; i + 1 < TASKS; i++) {
        minimum(&p, i, r.penalty, NULL, w);
        for (size_t k = 0; k < FEATURES; k++)
            assert_close(result.model[i * FEATURES + k], w[k], 1e-12);
        const double norm = bb_norm(FEATURES, w);
        longer += norm > clip;
        bb_axpy(FEATURES, norm > clip ? clip / norm : 1.0, w, sum);
    }
    assert_true(longer > 0 && longer < TASKS - 1); /* both kinds */
    for (size_t k = 0; k < FEATURES; k++)
        assert_close(seen.release[0][k], sum[k], 1e-12);
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

/* With clip=auto tasks say whether they are within the clip, and everybody moves it. A task
 * without rows says nothing. */
static void a_clip_is_found(void **state) {
    const bb_mechanism silent = {
        .name = "silent", .pricing = BB_PRICE_GAUSSIAN, .clips = true, .add = no_noise};
    const bb_engine engine = bb_engine_threads(2);
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED, 8);
    recipe r = recipe_of(&bb_method_pmtl);
    r.rounds = 3;
    r.exact = true;
    bb_run run = run_of(&r, &p, &engine);
    run.mechanism = &silent;
    run.pub.epsilon = 1.0;
    run.pub.delta = 1e-5;
    run_set(&run, "clip", "auto");
    bb_result result = watch(&run);
    double within = 0.0, w[FEATURES];
    for (size_t i = 0; i + 1 < TASKS; i++) {
        minimum(&p, i, r.penalty, NULL, w);
        within += bb_norm(FEATURES, w) <= 1.0 ? 0.5 : -0.5;
    }
    assert_true(within != 0.0);
    assert_close(seen.clip[0], 1.0, 0.0);
    assert_close(seen.bits[0], within, 1e-12);
    assert_close(seen.clip[1], exp(-within / TASKS), 1e-12);
    assert_close(seen.clip[2], seen.clip[1] * exp(-seen.bits[1] / TASKS), 1e-12);
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

/* From any scale to the median of nine norms; and noise alone moves nothing. */
static void a_clip_comes_to_the_median(void **state) {
    (void)state;
    for (int decade = -4; decade <= 4; decade++) {
        double clip = BB_QUANTILE_CLIP_FIRST;
        for (int t = 0; t < 300; t++) {
            double sum = 0.0;
            for (int i = 1; i <= 9; i++)
                sum += bb_quantile_clip_bit(i * pow(10.0, decade), clip);
            clip = bb_quantile_clip_next(clip, sum, 0.0, 9.0);
        }
        assert_true(clip > 4.5 * pow(10.0, decade) && clip < 5.5 * pow(10.0, decade));
    }
    assert_close(bb_quantile_clip_next(2.0, 300.0, 1e3, 9.0), 2.0, 2e-2);
    assert_close(bb_quantile_clip_next(2.0, 9.0, 0.0, 9.0), 2.0 * exp(-0.5), 1e-15);
    const bb_block block = {"changes", BB_FORM_VECTOR, 5, 3.0, 1.0};
    bb_layout layout = {1, {block}};
    bb_quantile_clip_ask(&layout);
    assert_int_equal(layout.blocks, 2);
    assert_close(layout.block[0].share + layout.block[1].share, 1.0, 1e-15);
    assert_close(layout.block[1].share, 0.01, 1e-15);
    assert_close(layout.block[1].clip, 0.5, 0.0);
}

/* -- cohorts -- */

/* Whoever was never picked keeps the zero model that pmtl starts from, and nobody else
 * does. */
static void who_is_never_picked_stays(void **state) {
    const bb_engine engine = bb_engine_threads(2);
    size_t picks = 0, stayed = 0;
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED, 9);
    recipe r = recipe_of(&bb_method_pmtl);
    r.rounds = 2;
    for (size_t k = 0; k < 200; k++) {
        bb_run run = run_of(&r, &p, &engine);
        run.seed = k;
        run.pub.sampling = k % 2 ? BB_SAMPLING_POISSON : BB_SAMPLING_FIXED_VISIBLE;
        run.pub.rate = 0.25;
        run.pub.cohort = 3;
        bb_result result = watch(&run);
        for (size_t t = 0; t < r.rounds; t++) {
            size_t cohort = 0;
            for (size_t i = 0; i < TASKS; i++) cohort += seen.picked[t][i];
            if (k % 2)
                picks += cohort;
            else
                assert_int_equal(cohort, 3);
        }
        for (size_t i = 0; i + 1 < TASKS; i++) {
            const bool moved = bb_norm(FEATURES, result.model + i * FEATURES) > 0.0;
            assert_true(moved == (seen.picked[0][i] || seen.picked[1][i]));
            stayed += !moved;
        }
        bb_result_free(&result);
        run_close(&run);
    }
    assert_true(stayed > 0);
    /* 2,200 draws with probability 1/4, seeds fixed: 550, deviation 20.3 */
    assert_true(picks > 448 && picks < 652);
    population_close(&p);
}

/* The shared model is server-rate / cohort times the sum of all releases. */
static void the_shared_model_follows_the_releases(void **state) {
    const bb_engine engine = bb_engine_threads(2);
    const struct {
        bb_sampling sampling;
        double cohort;
    } how[] = {{BB_SAMPLING_ALL, TASKS},
               {BB_SAMPLING_POISSON, 0.25 * TASKS},
               {BB_SAMPLING_FIXED_HIDDEN, 3.0}};
    (void)state;
    population p = tasks_of(BB_LOSS_LOGISTIC, 10);
    for (size_t k = 0; k < 6; k++) {
        const recipe r = recipe_of(methods[k % 2]);
        bb_run run = run_of(&r, &p, &engine);
        double sum[FEATURES] = {0};
        run.mechanism = &bb_mechanism_gaussian;
        run.pub.epsilon = 1.0;
        run.pub.delta = 1e-5;
        run.pub.sampling = how[k / 2].sampling;
        run.pub.rate = 0.25;
        run.pub.cohort = 3;
        bb_result result = watch(&run);
        for (size_t t = 0; t < r.rounds; t++)
            bb_axpy(FEATURES, 0.7 / how[k / 2].cohort, seen.release[t], sum);
        for (size_t i = 0; i < TASKS; i++)
            for (size_t j = 0; j < FEATURES; j++)
                assert_close(result.model[i * FEATURES + j], sum[j],
                             1e-12 * (1.0 + fabs(sum[j])));
        bb_result_free(&result);
        run_close(&run);
    }
    population_close(&p);
}

static void refuse(bb_run run, const char *words) {
    bb_result result;
    assert_fails(bb_run_train(&run, &result), BB_EUSAGE, words);
}

static void cohorts_are_checked(void **state) {
    const bb_engine engine = bb_engine_threads(1);
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED, 11);
    bb_run run = run_open(&p, &bb_method_pmtl, &bb_mechanism_none, &engine);
    run.pub.sampling = BB_SAMPLING_FIXED_HIDDEN;
    run.pub.cohort = 3;
    refuse(run, "visible"); /* a task's own model moves when it is picked */
    run.pub.sampling = BB_SAMPLING_FIXED_VISIBLE;
    run.pub.cohort = TASKS + 1;
    refuse(run, "12 tasks cannot be drawn from 11");
    run.pub.cohort = 0;
    refuse(run, "cannot be drawn");
    run.pub.sampling = BB_SAMPLING_POISSON;
    run.pub.rate = 1.5;
    refuse(run, "(0, 1]");
    run.pub.rate = NAN;
    refuse(run, "(0, 1]");
    run_close(&run);
    run = run_open(&p, &bb_method_mp_prior, &bb_mechanism_none, &engine);
    run.pub.sampling = BB_SAMPLING_POISSON;
    run.pub.rate = 0.5;
    refuse(run, "asks all tasks");
    run_close(&run);
    population_close(&p);
}

/* The length of steps over some rows is the option's: nobody reads the tasks' curvature. */
static void batches_need_no_curvature(void **state) {
    const bb_engine engine = bb_engine_threads(1);
    (void)state;
    population p = tasks_of(BB_LOSS_SQUARED, 12);
    recipe r = recipe_of(&bb_method_fedavg);
    r.finetune = "vanilla";
    bb_run run = run_of(&r, &p, &engine);
    assert_int_equal(run.phases, 2);
    for (size_t k = 0; k < run.phases; k++) {
        const bb_view view = {.method = run.phase[k].method,
                              .options = run.phase[k].options,
                              .pub = &run.pub};
        run.pub.batch = 0;
        assert_true(view.method->descends(&view));
        run.pub.batch = 5;
        assert_false(view.method->descends(&view));
    }
    /* and steps would say so */
    for (size_t i = 0; i < TASKS; i++) p.local[i].lipschitz = NAN;
    bb_result result = watch(&run);
    for (size_t k = 0; k < TASKS * FEATURES; k++)
        assert_true(isfinite(result.model[k]));
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_the_second_writing),
        cmocka_unit_test(one_task_finds_its_minimum),
        cmocka_unit_test(finetuning_is_local),
        cmocka_unit_test(only_what_is_shown_is_clipped),
        cmocka_unit_test(a_clip_is_found),
        cmocka_unit_test(a_clip_comes_to_the_median),
        cmocka_unit_test(who_is_never_picked_stays),
        cmocka_unit_test(the_shared_model_follows_the_releases),
        cmocka_unit_test(cohorts_are_checked),
        cmocka_unit_test(batches_need_no_curvature),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
