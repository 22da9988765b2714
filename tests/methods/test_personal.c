/* A task's own fit at home: few rows, and the average over penalties against models and
 * losses by brute force. */
#include "linalg/linalg.h"
#include "methods/personal.h"
#include "population.h"

#include <math.h>
#include <string.h>

enum { FEATURES = 3, ROWS = 40 };

static population draw(size_t rows, double slope, uint64_t seed) {
    population p = population_empty(1, rows, FEATURES, BB_LOSS_LOGISTIC, false);
    bb_random random;
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 0, 0));
    for (size_t j = 0; j < rows; j++) {
        double *x = p.x + j * FEATURES, sum = 0.0;
        for (size_t k = 0; k < FEATURES; k++) {
            x[k] = 0.6 * bb_random_normal(&random);
            sum += slope * x[k];
        }
        p.y[j] = bb_random_uniform(&random) < 1.0 / (1.0 + exp(-sum)) ? 1.0 : -1.0;
    }
    bb_random_close(&random);
    population_open_locals(&p);
    return p;
}

static void keep(const population *p, const double *centre, double *model) {
    double work[4096];
    assert_true(bb_personal_work(&p->local[0]) <= 4096);
    assert_ok(bb_personal_model(&p->local[0], centre, model, work));
}

static void fit(const bb_local *local, double weight, const double *centre, double *w) {
    double work[4096];
    assert_true(bb_local_work(local) <= 4096);
    assert_ok(bb_personal_fit(local, weight, centre, w, work));
}

static const double centre[FEATURES] = {1.0, 1.5, 0.5};

static void few_rows(void **state) {
    (void)state;
    population p = draw(29, 1.0, 3);
    double kept[FEATURES], expected[FEATURES];
    keep(&p, NULL, kept);
    fit(&p.local[0], 3.0 / (M_PI * M_PI), NULL, expected);
    for (size_t k = 0; k < FEATURES; k++) assert_close(kept[k], expected[k], 1e-12);
    keep(&p, centre, kept);
    fit(&p.local[0], 1.0, centre, expected);
    for (size_t k = 0; k < FEATURES; k++) assert_close(kept[k], expected[k], 1e-12);
    population_close(&p);
}

static void no_rows(void **state) {
    (void)state;
    population p = draw(0, 1.0, 3);
    double kept[FEATURES];
    keep(&p, centre, kept);
    for (size_t k = 0; k < FEATURES; k++) assert_true(kept[k] == centre[k]);
    keep(&p, NULL, kept);
    for (size_t k = 0; k < FEATURES; k++) assert_true(kept[k] == 0.0);
    population_close(&p);
}

/* The losses of rows under models fitted without them, one after the other. */
static double left_out(const population *p, double weight, const double *around) {
    double sum = 0.0;
    for (size_t out = 0; out < ROWS; out++) {
        population rest = population_empty(1, ROWS - 1, FEATURES, p->loss, false);
        double w[FEATURES];
        for (size_t j = 0, to = 0; j < ROWS; j++)
            if (j != out) {
                memcpy(rest.x + to * FEATURES, p->x + j * FEATURES, sizeof w);
                rest.y[to++] = p->y[j];
            }
        population_open_locals(&rest);
        fit(&rest.local[0], weight, around, w);
        sum += log1p(exp(-p->y[out] * bb_dot(FEATURES, p->x + out * FEATURES, w)));
        population_close(&rest);
    }
    return sum;
}

/* The average of four fits, each with exp(-loss) of its own: the program's losses are
 * to first order, which moves the model by some thousandths. */
static void average_by_hand(const population *p, const double *around, double *model) {
    double total = 0.0, w[FEATURES];
    memset(model, 0, FEATURES * sizeof *model);
    for (int e = -1; e <= 2; e++) {
        const double weight = 3.0 / (M_PI * M_PI) * pow(10.0, e);
        const double share = exp(-left_out(p, weight, around));
        fit(&p->local[0], weight, around, w);
        bb_axpy(FEATURES, share, w, model);
        total += share;
    }
    bb_scale(FEATURES, 1.0 / total, model);
}

static void many_rows(void **state) {
    (void)state;
    population p = draw(ROWS, 1.5, 4);
    double kept[FEATURES], expected[FEATURES], one[FEATURES];
    keep(&p, NULL, kept);
    average_by_hand(&p, NULL, expected);
    fit(&p.local[0], 3.0 / (M_PI * M_PI), NULL, one);
    for (size_t k = 0; k < FEATURES; k++) assert_close(kept[k], expected[k], 0.02);
    assert_true(fabs(one[0] - expected[0]) > 0.04); /* a fixed penalty would not pass */
    keep(&p, centre, kept);
    average_by_hand(&p, centre, expected);
    for (size_t k = 0; k < FEATURES; k++) assert_close(kept[k], expected[k], 0.02);
    population_close(&p);
}

/* Rows that speak against the centre: the model is the one without it. */
static void refuses(void **state) {
    (void)state;
    population p = draw(ROWS, -3.0, 5);
    const double wrong[FEATURES] = {60.0, 60.0, 60.0};
    double kept[FEATURES], alone[FEATURES];
    keep(&p, NULL, alone);
    keep(&p, wrong, kept);
    for (size_t k = 0; k < FEATURES; k++) assert_true(kept[k] == alone[k]);
    population_close(&p);
}

int main(void) {
    if (bb_linalg_start()) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
