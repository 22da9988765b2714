/* How uncertain tasks of mp-mixed say they are: intervals hold new targets as often as
 * they should, over many tasks, with few rows, and where nothing was published. */
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"
#include "methods/registry.h"
#include "population.h"

#include <math.h>
#include <stdlib.h>

enum { TASKS = 500, NEW_ROWS = 20, MOST_COLUMNS = 13, MOST_ROWS = 40 };

/* The quantiles of Student's t, .975, by tables. */
static double student(size_t freedom) {
    static const double table[MOST_ROWS + 2] = {
        0,      12.706, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
        2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098,
        2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555,
        2.0518, 2.0484, 2.0452, 2.0423, 2.0395, 2.0369, 2.0345, 2.0322, 2.0301,
        2.0281, 2.0262, 2.0244, 2.0227, 2.0211, 2.0195};
    return table[freedom];
}

typedef struct kind {
    size_t columns, least, most; /* and rows of a task */
    double epsilon, residual, deviation;
    bool unranged;
} kind;

/* Rows z / sqrt p, z in [-1, 1] with a last column of ones: those that train, behind them
 * NEW_ROWS of each task. */
static void fill(const kind *k, bb_random *random, population *p, double *x,
                 double *y) {
    double common[MOST_COLUMNS], own[MOST_COLUMNS];
    const size_t d = k->columns;
    size_t row = 0;
    for (size_t j = 0; j < d; j++) common[j] = 0.3 * bb_random_normal(random);
    for (size_t i = 0; i < TASKS; i++) {
        const size_t rows =
            k->least + (size_t)bb_random_below(random, k->most - k->least + 1);
        for (size_t j = 0; j < d; j++)
            own[j] = common[j] + k->deviation * bb_random_normal(random);
        p->first[i] = row;
        for (size_t r = 0; r < rows + NEW_ROWS; r++) {
            const size_t later = i * NEW_ROWS + r - rows;
            double *to = r < rows ? p->x + row * d : x + later * d;
            double target = k->residual * bb_random_normal(random);
            for (size_t j = 0; j < d; j++) {
                const double z =
                    j + 1 < d ? 2.0 * bb_random_uniform(random) - 1.0 : 1.0;
                target += own[j] * z;
                to[j] = z / sqrt((double)d);
            }
            if (r < rows)
                p->y[row++] = target;
            else
                y[later] = target;
        }
    }
    p->first[TASKS] = row;
}

static double coverage(const kind *k, uint64_t seed) {
    const size_t d = k->columns, length = BB_MIXED_SPREAD_MATRIX + d * d;
    population p = population_empty(TASKS, k->most, d, BB_LOSS_SQUARED, false);
    double *x = calloc(TASKS * NEW_ROWS * d, sizeof *x), Cx[MOST_COLUMNS], hits = 0.0;
    double *y = calloc(TASKS * NEW_ROWS, sizeof *y), factor[MOST_COLUMNS];
    const bb_engine engine = bb_engine_threads(1);
    bb_random random;
    bb_result result;
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 0, 0));
    fill(k, &random, &p, x, y);
    bb_random_close(&random);
    population_open_locals(&p);
    for (size_t j = 0; j < d; j++) factor[j] = 1.0;
    for (size_t i = 0; i < TASKS && k->unranged; i++) {
        p.local[i].own_factor = factor;
        p.local[i].own_unit = 1.0;
    }
    bb_run run = run_open(&p, &bb_method_mp_mixed, &bb_mechanism_gaussian, &engine);
    run.pub.epsilon = k->epsilon;
    run.pub.spread = true;
    run.pub.unranged = run.pub.own_units = run.pub.constant = k->unranged;
    run.spread = calloc(TASKS * length, sizeof *run.spread);
    assert_ok(bb_run_train(&run, &result));
    for (size_t j = 0; j < (size_t)TASKS * NEW_ROWS; j++) {
        const size_t i = j / NEW_ROWS;
        const double *own = run.spread + i * length, *row = x + j * d;
        const size_t freedom = (size_t)own[BB_MIXED_SPREAD_FREEDOM];
        assert_int_equal(freedom, p.first[i + 1] - p.first[i] + !k->unranged);
        bb_multiply(d, d, 1.0, own + BB_MIXED_SPREAD_MATRIX, row, 0.0, Cx);
        const double deviation = sqrt(own[BB_MIXED_SPREAD_NOISE] + bb_dot(d, row, Cx));
        hits += fabs(y[j] - bb_dot(d, row, result.model + i * d)) <
                student(freedom) * deviation;
    }
    bb_result_free(&result);
    free(run.spread);
    run_close(&run);
    population_close(&p);
    free(x);
    free(y);
    return hits / (TASKS * NEW_ROWS);
}

/* Over WORLDS worlds, and said. */
static double mean_coverage(const kind *k) {
    enum { WORLDS = 10 };
    double held = 0.0;
    for (uint64_t r = 0; r < WORLDS; r++) held += coverage(k, 150 + r) / WORLDS;
    print_message("epsilon %g, %zu columns, %zu to %zu rows, noise %g%s: %.4f\n",
                  k->epsilon, k->columns, k->least, k->most, k->residual,
                  k->unranged ? ", no ranges" : "", held);
    return held;
}

/* 5,000 tasks with 100,000 new rows each: within about a point of what they say. */
static void intervals_hold_what_they_say(void **state) {
    (void)state;
    static const kind all[] = {
        {5, 3, 3, 3.0, 0.15, 0.15, false},  {5, 8, 12, 3.0, 0.15, 0.15, false},
        {5, 3, 12, 1.0, 0.1, 0.1, false},   {5, 8, 12, 0.01, 0.15, 0.15, false},
        {8, 20, 40, 0.01, 0.1, 0.2, false}, {5, 3, 3, 0.01, 0.15, 0.15, false},
        {13, 8, 20, 3.0, 0.15, 0.1, false}}; /* the last with directions */
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        assert_close(mean_coverage(&all[k]), 0.95, 0.015);
}

/* Nothing is known of levels, and of noise. */
static void intervals_hold_without_ranges(void **state) {
    (void)state;
    static const kind all[] = {{5, 2, 4, 0.01, 0.15, 0.15, true},
                               {5, 3, 12, 1.0, 0.1, 0.1, true},
                               {5, 8, 12, 3.0, 0.15, 0.15, true},
                               {5, 1, 2, 0.01, 0.15, 0.15, true},
                               {8, 20, 40, 0.01, 0.1, 0.2, true}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        assert_true(mean_coverage(&all[k]) > 0.94);
}

/* With more noise than a task believes in, they are bold. */
static void where_beliefs_are_off_they_are_off(void **state) {
    (void)state;
    const kind noisy = {5, 3, 12, 0.01, 0.3, 0.1, false};
    const double held = mean_coverage(&noisy);
    assert_true(held > 0.905 && held < 0.94);
}

int main(void) {
    const struct CMUnitTest test[] = {
        cmocka_unit_test(intervals_hold_what_they_say),
        cmocka_unit_test(intervals_hold_without_ranges),
        cmocka_unit_test(where_beliefs_are_off_they_are_off)};
    return cmocka_run_group_tests(test, NULL, NULL);
}
