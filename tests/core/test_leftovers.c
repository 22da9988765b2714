/* Work space is one per thread and serves one task after another: nothing that a task,
 * or a digest, left there may be read by the next. */
#include "laws.h"

#include <math.h>
#include <string.h>

/* The run's methods are called through a copy that fills the work space first. */
static const bb_method *poisoned;
static double poison;
static size_t most_local;

static size_t ask(size_t (*length)(const bb_view *), const bb_view *view) {
    return length ? length(view) : 0;
}

static void fill(double *work, size_t n) {
    for (size_t k = 0; k < n; k++) work[k] = poison;
}

static void fill_task(const bb_view *view, const bb_task *task) {
    fill(task->work, ask(poisoned->work_length, view) + most_local);
}

static void train(const bb_view *view, bb_task *task) {
    fill_task(view, task);
    if (poisoned->train) poisoned->train(view, task);
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    fill(work, ask(poisoned->digest_length, view));
    return poisoned->digest(view, release, draft, work);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    fill_task(view, task);
    return poisoned->finish(view, task);
}

/* More features than rows for most tasks, so that some keep no Gram matrix, and some
 * tasks have no rows at all. */
static population ragged(const law_case *c) {
    population p = population_empty(LAW_TASKS, 1, law_features(c), c->loss,
                                    !c->method->shared_intercept);
    for (size_t i = 0, rows = 0; i <= p.tasks; i++) {
        const size_t first = rows;
        rows += p.first[i + (i < p.tasks)] - p.first[i]; /* 1, 2 or 3 */
        if (i % 4 == 1) rows = first;                    /* none */
        p.first[i] = first;
    }
    for (size_t i = 0; i < p.tasks; i++) population_fill(&p, i, 61);
    population_open_locals(&p);
    return p;
}

static void find_most_local(const bb_run *run) {
    const bb_view view = {run->phase[0].method, run->phase[0].options, &run->pub, NULL,
                          NULL};
    most_local = 0;
    for (size_t i = 0; i < run->pub.tasks; i++) {
        const bb_local *local = &run->local[i];
        size_t n = bb_local_work(local);
        if (run->phase[0].method->local_length)
            n += run->phase[0].method->local_length(&view, local);
        if (n > most_local) most_local = n;
    }
}

static void check_population(const law_case *c, population p) {
    const double poisons[] = {NAN, 1e300, -3.0};
    const bb_engine engine = bb_engine_threads(1);
    bb_run run = law_run(c, &p, &engine);
    bb_method copy = *c->method;
    bb_result clean, result;
    law_train(c, &run, &clean);
    find_most_local(&run);
    poisoned = c->method;
    copy.train = train;
    if (copy.digest) copy.digest = digest;
    copy.finish = finish;
    run.phase[0].method = &copy;
    for (size_t k = 0; k < sizeof poisons / sizeof *poisons; k++) {
        poison = poisons[k];
        law_train(c, &run, &result);
        law_check(c, strcmp(clean.billboard_sha256, result.billboard_sha256) == 0);
        for (size_t i = 0; i < p.tasks; i++)
            law_check(c, law_same_models(&clean, &result, i, i));
        bb_result_free(&result);
    }
    bb_result_free(&clean);
    run_close(&run);
    population_close(&p);
}

static void law_leftovers(const law_case *c) {
    check_population(c, law_population(c, LAW_TASKS, SIZE_MAX));
    check_population(c, ragged(c));
}

static void test_leftovers(void **state) {
    (void)state;
    law_for_all(law_leftovers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_leftovers)};
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
