/* mp-prior against exact reference cases: noisy sums and final models, with the
 * reference's noise added by a mechanism that only this test has. */
#include "base/parallel.h"
#include "core/run.h"
#include "methods/registry.h"
#include "numbers.h"

#include <jansson.h>

#include <string.h>

typedef struct world {
    json_t *meta, *one; /* of all cases, of this one */
    numbers data, model, sum;
    size_t m, d;
    bb_local *local;
    double *x, *y, *last; /* rows; the last release */
} world;

static double number(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static double unit_noise(const json_t *noise, size_t i, size_t j) {
    const json_t *row = json_array_get(noise, i);
    return json_number_value(json_is_array(row) ? json_array_get(row, j) : row);
}

/* Adds noise std * the reference's unit draws. */
static bb_status inject(void *self, bb_random *random, uint32_t round,
                        const bb_block *block, double pure, double *sum, double *std) {
    world *w = self;
    const json_t *noise = json_object_get(w->one, "noise");
    const json_t *expected = json_object_get(w->one, "expected");
    const size_t n = block->length;
    (void)random, (void)round, (void)pure;
    if (block->form == BB_FORM_VECTOR && strcmp(block->name, "vote") == 0) {
        *std = 2.0 / number(expected, "mV");
        for (size_t i = 0; i < n; i++)
            sum[i] += *std * unit_noise(json_object_get(noise, "zV"), i, 0);
    } else if (block->form == BB_FORM_VECTOR) {
        *std = 5.0 / number(expected, "mL");
        sum[0] += *std * number(noise, "zL");
    } else if (block->form == BB_FORM_SQUARE) {
        *std = sqrt(2.0) / number(expected, "mS");
        for (size_t i = 0; i < n; i++)
            sum[i] += *std * unit_noise(json_object_get(noise, "ZS"), i, 0);
    } else {
        const bool gram = block->form == BB_FORM_PSD;
        const json_t *unit = json_object_get(noise, gram ? "ZG" : "ZS");
        *std = sqrt(2.0) / number(expected, gram ? "mG" : "mS");
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                sum[i * n + j] += *std * unit_noise(unit, i, j);
    }
    return BB_OK;
}

static bb_status keep(void *self, const bb_release *release, size_t tasks) {
    world *w = self;
    const bb_block *block = &release->layout->block[0];
    memcpy(w->last, release->value[0],
           bb_block_sum_length(block, tasks) * sizeof(double));
    return BB_OK;
}

/* Whose cases: shared ones, or those beside this test. */
typedef enum place { SHARED, BESIDE } place;

static const char *find(char *path, size_t size, place where, const char *name) {
    char inside[200];
    snprintf(inside, sizeof inside, "oracle/mpprior/%s", name);
    if (where == SHARED) return shared_path(path, size, inside);
    snprintf(path, size, "%s/tests/methods/reference/%s", BB_SOURCE_DIR, name);
    return path;
}

static numbers part(const char *name, place where, const char *suffix, int header) {
    char path[1024], file[200];
    snprintf(file, sizeof file, "%s_%s.csv", name, suffix);
    return numbers_open(find(path, sizeof path, where, file), header);
}

static void world_open(world *w, place where, const char *name) {
    char path[1024];
    if (!find(path, sizeof path, where, "meta.json")) skip();
    w->meta = json_load_file(path, 0, NULL);
    w->one = json_object_get(w->meta, name);
    assert_non_null(w->one);
    w->data = part(name, where, "data", where == SHARED);
    w->model = part(name, where, "W", 0);
    if (where == SHARED) w->sum = part(name, where, "S", 0);
    w->m = (size_t)number(w->one, "m");
    w->d = (size_t)number(w->one, "d");
    assert_int_equal(w->data.columns, w->d + 2);
    w->local = calloc(w->m, sizeof *w->local);
    w->x = calloc(w->data.rows * w->d, sizeof *w->x);
    w->y = calloc(w->data.rows, sizeof *w->y);
    w->last = calloc((w->d + 1) * (w->d + 1) + 64, sizeof *w->last);
    for (size_t j = 0; j < w->data.rows; j++) {
        w->y[j] = numbers_at(&w->data, j, 1);
        for (size_t k = 0; k < w->d; k++)
            w->x[j * w->d + k] = numbers_at(&w->data, j, 2 + k);
    }
    for (size_t i = 0, from = 0; i < w->m; i++) {
        size_t to = from;
        while (to < w->data.rows && (size_t)numbers_at(&w->data, to, 0) == i) to++;
        const bb_rows rows = {
            .n = to - from, .d = w->d, .x = w->x + from * w->d, .y = w->y + from};
        assert_ok(bb_local_open(&w->local[i], rows, BB_LOSS_SQUARED, false, false));
        from = to;
    }
}

static void world_close(world *w) {
    for (size_t i = 0; i < w->m; i++) bb_local_close(&w->local[i]);
    free(w->local);
    free(w->x);
    free(w->y);
    free(w->last);
    free(w->data.at);
    free(w->model.at);
    free(w->sum.at);
    json_decref(w->meta);
}

static void set_option(void *options, const char *name, double value) {
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
    assert_ok(
        bb_options_set(bb_method_mp_prior.options, options, "mp-prior", name, text));
}

/* The recipe of the shared cases: no vote, one penalty, odds of 100. */
static void without_vote(void *options) {
    const bb_options table = bb_method_mp_prior.options;
    set_option(options, "odds", 100.0);
    assert_ok(bb_options_set(table, options, "mp-prior", "combine", "geometric"));
    assert_ok(bb_options_set(table, options, "mp-prior", "vote", "false"));
}

/* Trains one case and compares the last release and the models. */
static void check_case(place where, const char *name, double tolerance) {
    world w = {0};
    char options[256] = {0};
    bb_result result = {0};
    world_open(&w, where, name);
    const json_t *expected = json_object_get(w.one, "expected");
    const json_t *lambda = json_object_get(w.one, "lambda_fixed");
    assert_true(bb_method_mp_prior.options_size <= sizeof options);
    assert_ok(bb_options_default(bb_method_mp_prior.options, options));
    set_option(options, "mean-gate", number(w.one, "gram_gate"));
    if (where == SHARED) without_vote(options);
    if (json_is_number(lambda))
        set_option(options, "lambda", json_number_value(lambda));
    if (strcmp(json_string_value(json_object_get(w.one, "mode")), "square") == 0)
        assert_ok(bb_options_set(bb_method_mp_prior.options, options, "mp-prior",
                                 "pattern", "group-sparse"));
    const bb_mechanism injected = {.name = "injected",
                                   .pricing = BB_PRICE_GAUSSIAN,
                                   .clips = true,
                                   .add = inject,
                                   .self = &w};
    const bb_engine engine = bb_engine_threads(2);
    const bb_run run = {.phases = 1,
                        .phase = {{.method = &bb_method_mp_prior, .options = options}},
                        .pub = {.tasks = w.m,
                                .features = w.d,
                                .adjacency = BB_REPLACE_ONE,
                                .epsilon = number(w.one, "eps"),
                                .delta = number(w.one, "delta")},
                        .mechanism = &injected,
                        .engine = &engine,
                        .observer = {.self = &w, .published = keep},
                        .local = w.local};
    assert_ok(bb_run_train(&run, &result));
    assert_relative(result.plan.mu[result.plan.rounds - 1],
                    number(expected, where == SHARED ? "mS" : "mV"), 1e-9);
    const json_t *vote = json_object_get(expected, "vote");
    for (size_t k = 0; k < w.sum.rows * w.sum.columns; k++)
        assert_close(w.last[k], w.sum.at[k], tolerance);
    for (size_t k = 0; k < json_array_size(vote); k++)
        assert_close(w.last[k], json_number_value(json_array_get(vote, k)), tolerance);
    for (size_t k = 0; k < w.m * w.d; k++)
        assert_close(result.model[k], w.model.at[k], tolerance);
    bb_result_free(&result);
    world_close(&w);
}

static void automatic_penalty_and_mean(void **state) {
    (void)state;
    check_case(SHARED, "lr_auto_mean", 1e-10);
}

static void given_penalty(void **state) {
    (void)state;
    check_case(SHARED, "lr_fixed", 1e-10);
}

static void nothing_detected_is_the_model_alone(void **state) {
    (void)state;
    check_case(SHARED, "lr_nothing", 1e-10);
}

static void single_features(void **state) {
    (void)state;
    check_case(SHARED, "diag_fixed", 1e-10);
}

static void a_vote_on_tasks_that_share_a_mean(void **state) {
    (void)state;
    check_case(BESIDE, "vote_mean", 1e-9);
}

static void a_vote_on_tasks_that_share_a_mean_and_directions(void **state) {
    (void)state;
    check_case(BESIDE, "vote_meanlr", 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automatic_penalty_and_mean),
        cmocka_unit_test(given_penalty),
        cmocka_unit_test(nothing_detected_is_the_model_alone),
        cmocka_unit_test(single_features),
        cmocka_unit_test(a_vote_on_tasks_that_share_a_mean),
        cmocka_unit_test(a_vote_on_tasks_that_share_a_mean_and_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
