/* mp-mixed without ranges. Common units and places: that models do not depend on the powers of
 * ten in which tasks bring their rows, that they help where these differ and where columns
 * stand far from zero, that few rows cannot err by factors, and that sizes decide whether
 * they are looked for. And levels that are far from zero. */
#include "core/plan.h"
#include "methods/mp_mixed.h"
#include "methods/registry.h"
#include "population.h"

#include <math.h>
#include <string.h>

enum { TASKS = 300, COLUMNS = 10, D = COLUMNS + 1, ROWS = 12, NEW_ROWS = 20 };
enum { PAIRS = 2 * D, UNITS = PAIRS + COLUMNS };

static const double turn = 6.283185307179586;

/* Columns of about 7, .1 and 2000, which lie on both sides of a power of ten, a target of
 * some tens that follows them alike in all tasks; the same raw rows are prepared in any
 * units. */
typedef struct world {
    double raw[TASKS][ROWS + NEW_ROWS][COLUMNS], target[TASKS][ROWS + NEW_ROWS];
} world;

static world *world_make(void) {
    static const double unit[3] = {7.0, 0.1, 2000.0}, slope[3] = {3, 120, .004};
    world *w = calloc(1, sizeof *w);
    bb_random random;
    assert_non_null(w);
    assert_ok(bb_random_open_stream(&random, 11, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < TASKS; i++)
        for (size_t j = 0; j < ROWS + NEW_ROWS; j++) {
            double y = 20.0 + 2.0 * bb_random_normal(&random);
            for (size_t k = 0; k < COLUMNS; k++) {
                w->raw[i][j][k] = unit[k % 3] * (0.2 + bb_random_uniform(&random));
                y += slope[k % 3] * w->raw[i][j][k];
            }
            w->target[i][j] = y;
        }
    bb_random_close(&random);
    return w;
}

/* As `magnitude' has it: the least power of ten that is no less, times ten to a power of
 * the task's. */
static double power(double most, int more) {
    return pow(10.0, ceil(log10(most)) + more);
}

/* Years, sums of money and answers of yes or no, whose effects on the target, heights of some
 * 170, are the same in all tasks. */
static world *world_far_from_zero(void) {
    static const double effect[3] = {0.3, 2e-4, 3.0};
    world *w = calloc(1, sizeof *w);
    bb_random random;
    assert_non_null(w);
    assert_ok(bb_random_open_stream(&random, 13, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < TASKS; i++)
        for (size_t j = 0; j < ROWS + NEW_ROWS; j++) {
            double y = 170.0 + 2.0 * bb_random_normal(&random);
            for (size_t k = 0; k < COLUMNS; k++) {
                const double is[3] = {1980.0 + floor(20.0 * bb_random_uniform(&random)),
                                      2e4 + 5e3 * bb_random_normal(&random),
                                      bb_random_uniform(&random) < 0.3};
                w->raw[i][j][k] = is[k % 3];
                y += effect[k % 3] * (is[k % 3] - (k % 3 == 0 ? 1990.0 : 0.0));
            }
            w->target[i][j] = y;
        }
    bb_random_close(&random);
    return w;
}

/* Slopes of each task's own, which the same noise hides, and no constant. */
static world *world_nothing_shared(void) {
    world *w = calloc(1, sizeof *w);
    bb_random random;
    assert_non_null(w);
    assert_ok(bb_random_open_stream(&random, 17, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < TASKS; i++) {
        double slope[COLUMNS];
        for (size_t k = 0; k < COLUMNS; k++) slope[k] = bb_random_normal(&random);
        for (size_t j = 0; j < ROWS + NEW_ROWS; j++) {
            double y = 2.0 * bb_random_normal(&random);
            for (size_t k = 0; k < COLUMNS; k++) {
                w->raw[i][j][k] = bb_random_normal(&random);
                y += slope[k] * w->raw[i][j][k];
            }
            w->target[i][j] = y;
        }
    }
    bb_random_close(&random);
    return w;
}

typedef struct prepared {
    population p;
    double factor[TASKS][COLUMNS], unit[TASKS];
} prepared;

/* more: by how many powers of ten units of tasks are larger than they need be, at most. */
static prepared *prepare(const world *w, int more) {
    prepared *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->p = population_empty(TASKS, ROWS, D, BB_LOSS_SQUARED, false);
    for (size_t i = 0; i < TASKS; i++) {
        double most = 0.0;
        r->p.first[i + 1] = (i + 1) * ROWS;
        for (size_t j = 0; j < ROWS; j++) most = fmax(most, w->target[i][j]);
        r->unit[i] = power(most, more * (int)(i % 3));
        for (size_t k = 0; k < COLUMNS; k++) {
            most = 0.0;
            for (size_t j = 0; j < ROWS; j++) most = fmax(most, w->raw[i][j][k]);
            if (most > 0.0)
                r->factor[i][k] = 1.0 / power(most, more * (int)((i + k) % 2));
        }
        for (size_t j = 0; j < ROWS; j++) {
            double *x = r->p.x + (i * ROWS + j) * D;
            for (size_t k = 0; k < D; k++)
                x[k] =
                    (k < COLUMNS ? w->raw[i][j][k] * r->factor[i][k] : 1.0) / sqrt(D);
            r->p.y[i * ROWS + j] = w->target[i][j] / r->unit[i];
        }
    }
    population_open_locals(&r->p);
    for (size_t i = 0; i < TASKS; i++) {
        r->p.local[i].own_factor = r->factor[i];
        r->p.local[i].own_unit = r->unit[i];
    }
    return r;
}

static void prepared_free(prepared *r) {
    population_close(&r->p);
    free(r);
}

typedef struct learned {
    double *at; /* tasks x NEW_ROWS: predictions in the target's own unit */
    double *deviation;
    double error, worst; /* mean square, largest */
    bb_result result;
} learned;

static learned learn(const world *w, const prepared *r, double epsilon, bool own_units,
                     size_t threads) {
    const size_t length = BB_MIXED_SPREAD_MATRIX + D * D;
    const bb_engine engine = bb_engine_threads(threads);
    learned l = {.at = calloc(TASKS * NEW_ROWS, sizeof *l.at),
                 .deviation = calloc(TASKS * NEW_ROWS, sizeof *l.deviation)};
    bb_run run = run_open(&r->p, &bb_method_mp_mixed, &bb_mechanism_gaussian, &engine);
    run.pub.epsilon = epsilon;
    run.pub.constant = true;
    run.pub.unranged = run.pub.own_units = own_units;
    run.pub.spread = true;
    run.spread = calloc(TASKS * length, sizeof *run.spread);
    assert_true(l.at && l.deviation && run.spread);
    assert_ok(bb_run_train(&run, &l.result));
    for (size_t i = 0; i < TASKS; i++)
        for (size_t j = 0; j < NEW_ROWS; j++) {
            const double *spread = run.spread + i * length;
            double x[D], Cx[D];
            for (size_t k = 0; k < D; k++)
                x[k] = (k < COLUMNS ? w->raw[i][ROWS + j][k] * r->factor[i][k] : 1.0) /
                       sqrt(D);
            const double z = bb_dot(D, x, l.result.model + i * D);
            bb_multiply(D, D, 1.0, spread + BB_MIXED_SPREAD_MATRIX, x, 0.0, Cx);
            const size_t at = i * NEW_ROWS + j;
            l.at[at] = z * r->unit[i];
            l.deviation[at] =
                r->unit[i] * sqrt(spread[BB_MIXED_SPREAD_NOISE] + bb_dot(D, x, Cx));
            const double miss = l.at[at] - w->target[i][ROWS + j];
            l.error += miss * miss / (TASKS * NEW_ROWS);
            l.worst = fmax(l.worst, fabs(miss));
        }
    free(run.spread);
    run_close(&run);
    return l;
}

static void learned_free(learned *l) {
    free(l->at);
    free(l->deviation);
    bb_result_free(&l->result);
}

/* Tasks that bring the same rows in other powers of ten publish the same, and predict the
 * same, as sure of it; and the same on any number of threads. */
static void powers_of_ten_do_not_matter(void **state) {
    (void)state;
    world *w = world_make();
    prepared *one = prepare(w, 0), *other = prepare(w, 2);
    learned a = learn(w, one, 3.0, true, 1), b = learn(w, other, 3.0, true, 3),
            c = learn(w, one, 3.0, true, 3);
    for (size_t k = 0; k < (size_t)TASKS * NEW_ROWS; k++) {
        assert_close(b.at[k], a.at[k], 1e-5 * (1.0 + fabs(a.at[k])));
        assert_close(b.deviation[k], a.deviation[k], 1e-5 * a.deviation[k]);
    }
    assert_string_equal(a.result.billboard_sha256, c.result.billboard_sha256);
    assert_memory_equal(a.at, c.at, (size_t)TASKS * NEW_ROWS * sizeof *a.at);
    learned_free(&a);
    learned_free(&b);
    learned_free(&c);
    prepared_free(one);
    prepared_free(other);
    free(w);
}

static void common_units_help(void **state) {
    (void)state;
    world *w = world_make();
    prepared *r = prepare(w, 0);
    learned own = learn(w, r, 2.0, false, 1), common = learn(w, r, 2.0, true, 1);
    print_message("mean square %.2f, in common units %.2f\n", own.error, common.error);
    assert_true(common.error < 0.7 * own.error);
    learned_free(&own);
    learned_free(&common);
    prepared_free(r);
    free(w);
}

/* Ten columns, of which years do not move in powers of ten, and twelve rows: what is foreseen
 * misses by little more than the target's noise, a variance of 4. */
static void places_help(void **state) {
    (void)state;
    world *w = world_far_from_zero();
    prepared *r = prepare(w, 0);
    learned own = learn(w, r, 3.0, false, 1), common = learn(w, r, 3.0, true, 1);
    print_message("mean square %.2f, from common places %.2f, at most %.1f\n",
                  own.error, common.error, common.worst);
    assert_true(common.error < 5.5 && common.error < 0.5 * own.error);
    assert_true(common.worst < 25.0);
    learned_free(&own);
    learned_free(&common);
    prepared_free(r);
    free(w);
}

/* Where places are found, and tasks are enough to vote on it, a constant may be as near to zero
 * as slopes are. */
static void a_level_that_all_have_may_be_zero(void **state) {
    (void)state;
    world *w = world_nothing_shared();
    prepared *r = prepare(w, 0);
    learned l = learn(w, r, 10.0, true, 1);
    print_message("mean square of a noise of 4 and ten slopes %.2f\n", l.error);
    assert_true(l.error < 9.5);
    learned_free(&l);
    prepared_free(r);
    free(w);
}

static bb_public unranged(size_t tasks) {
    return (bb_public){.tasks = tasks,
                       .features = D,
                       .constant = true,
                       .unranged = true,
                       .own_units = true,
                       .adjacency = BB_REPLACE_ONE,
                       .mu = 1.0};
}

/* Sizes decide whether units are looked for. */
static void little_budget_leaves_own_units(void **state) {
    (void)state;
    bb_public pub = unranged(TASKS);
    const bb_view view = {.method = &bb_method_mp_mixed, .pub = &pub};
    world *w = world_make();
    prepared *r = prepare(w, 0);
    learned own = learn(w, r, 0.15, false, 1), common = learn(w, r, 0.15, true, 1);
    assert_true(own.result.rounds > 0);
    assert_int_equal(own.result.rounds, common.result.rounds);
    pub.mu = 0.23; /* what all tasks share stands 3.3 times out of the noise */
    assert_true(bb_units_share(&view) > 0.0);
    pub.mu = 0.18; /* 2.6 */
    assert_true(bb_units_share(&view) == 0.0);
    learned_free(&own);
    learned_free(&common);
    prepared_free(r);
    free(w);
}

/* Two rows of targets of 10 +- .4, in hundreds, next to which columns say nothing: the mean
 * square of what is foreseen, over that of the mean of the two. */
static double far_from_zero(double epsilon, bool own_units) {
    enum { FEW = 2 };
    const bb_engine engine = bb_engine_threads(1);
    double error = 0.0, of_mean = 0.0, factor[COLUMNS];
    population p = population_empty(TASKS, FEW, D, BB_LOSS_SQUARED, false);
    bb_random random;
    bb_result result;
    assert_ok(bb_random_open_stream(&random, 12, BB_FOR_TEST, 0, 0));
    for (size_t i = 0; i < TASKS; i++) p.first[i + 1] = (i + 1) * FEW;
    for (size_t j = 0; j < TASKS * FEW; j++) {
        for (size_t k = 0; k < D; k++)
            p.x[j * D + k] =
                (k < COLUMNS ? 0.4 + 0.5 * bb_random_uniform(&random) : 1.0) / sqrt(D);
        p.y[j] = 0.1 + 0.004 * bb_random_normal(&random);
    }
    population_open_locals(&p);
    for (size_t k = 0; k < COLUMNS; k++) factor[k] = 1.0;
    for (size_t i = 0; i < TASKS; i++) {
        p.local[i].own_factor = factor;
        p.local[i].own_unit = 100.0;
    }
    bb_run run = run_open(&p, &bb_method_mp_mixed, &bb_mechanism_gaussian, &engine);
    run.pub.epsilon = epsilon;
    run.pub.constant = true;
    run.pub.unranged = run.pub.own_units = own_units;
    assert_ok(bb_run_train(&run, &result));
    for (size_t i = 0; i < TASKS; i++)
        for (size_t j = 0; j < NEW_ROWS; j++) {
            const double *y = p.y + i * FEW;
            double x[D];
            for (size_t k = 0; k < D; k++)
                x[k] = (k < COLUMNS ? 0.4 + 0.5 * bb_random_uniform(&random) : 1.0) /
                       sqrt(D);
            const double is = 0.1 + 0.004 * bb_random_normal(&random);
            error += pow(bb_dot(D, x, result.model + i * D) - is, 2.0);
            of_mean += pow(0.5 * (y[0] + y[1]) - is, 2.0);
        }
    bb_random_close(&random);
    bb_result_free(&result);
    run_close(&run);
    population_close(&p);
    return error / of_mean;
}

/* Where nobody has said what a target can be, zero is no level to be drawn to; where
 * somebody has, a task may be. */
static void a_level_far_from_zero_is_kept(void **state) {
    (void)state;
    const double alone = far_from_zero(0.01, true),
                 by_ranges = far_from_zero(0.01, false);
    const double unsure = far_from_zero(0.15, true);
    print_message("times the mean's square: alone %.2f, with a centre %.2f, by ranges "
                  "%.2f\n",
                  alone, unsure, by_ranges);
    assert_true(alone < 1.2 && unsure < 1.5 && by_ranges > 1.5 * alone);
    assert_true(far_from_zero(2.0, true) < 1.2);
}

/* Whatever a task's rows and units are, what it shows lies in the unit ball, and says
 * nothing of a column without numbers; of one row it shows how large the numbers are. Of
 * the noiseless sum of tasks alike become their deviation and their mean. */
static void what_is_shown_and_made_of_it(void **state) {
    (void)state;
    static const double size[] = {0.0, 1e-300, 25.0, 1e300};
    const bb_public pub = unranged(1000);
    const bb_view view = {.method = &bb_method_mp_mixed, .pub = &pub};
    const double deviation = 25.0 * sqrt(0.5);
    for (size_t s = 0; s < 4; s++) {
        double x[2 * D] = {0}, y[2] = {size[s] / 100.0, 2.0 * size[s] / 100.0};
        double factor[COLUMNS], vote[UNITS] = {0}, one[UNITS] = {0}, sum[UNITS];
        double unit[UNITS], place[PAIRS];
        x[0] = 2.0 * size[s] / (50.0 * sqrt(D));
        x[D] = 3.0 * size[s] / (50.0 * sqrt(D));
        for (size_t k = 0; k < COLUMNS; k++)
            factor[k] = size[s] > 0.0 ? 1.0 / 50.0 : 0.0;
        bb_local local = {
            .n = 2, .d = D, .x = x, .y = y, .own_factor = factor, .own_unit = 100.0};
        assert_int_equal(bb_units_length(&view, 1), UNITS);
        assert_int_equal(bb_units_length(&view, 2), UNITS + PAIRS);
        bb_units_show(&view, &local, vote);
        assert_true(bb_norm(UNITS, vote) <= 1.0 + 1e-12);
        assert_true(vote[2] == 0.0 && vote[3] == 0.0 && vote[PAIRS + 1] == 0.0);
        if (size[s] == 0.0) assert_true(bb_norm(UNITS, vote) == 0.0);
        const bb_release release = {.value = {sum}, .noise = {1.0}};
        for (size_t k = 0; k < UNITS; k++) sum[k] = 1000.0 * vote[k];
        bb_units_take(&view, &release, unit);
        memset(vote, 0, sizeof vote);
        bb_units_show_places(&view, unit, &local, vote);
        assert_true(bb_norm(PAIRS, vote) <= 1.0 + 1e-12);
        local.n = 1;
        bb_units_show(&view, &local, one);
        assert_true(bb_norm(UNITS, one) <= 1.0 + 1e-12);
        if (size[s] != 25.0) continue;
        assert_close(atan2(one[1], one[0]) / turn * 6.0, log10(2.0 * size[s]), 1e-12);
        assert_true(unit[PAIRS] == 1.0 && unit[PAIRS + 1] == 0.0);
        assert_close(unit[0], log10(deviation), 1e-12);
        assert_close(unit[1], 6.0, 1e-12);
        assert_close(unit[2 * COLUMNS], log10(deviation), 1e-12);
        assert_true(unit[3] == 0.0); /* nobody has numbers there */
        for (size_t k = 0; k < PAIRS; k++) sum[k] = 1000.0 * vote[k];
        bb_units_take_places(&view, &release, place);
        assert_close(place[0], 62.5 / (deviation * sqrt(10.0)), 1e-12);
        assert_close(place[1], 8.0, 1e-12);
        assert_close(place[2 * COLUMNS], 37.5 / (deviation * sqrt(10.0)), 1e-12);
        assert_true(place[3] == 0.0);
    }
}

/* Columns whose units differ by no more than noise does have one; those that differ by more
 * keep what was found. 25 deviations long, the sums tell a unit up to 6 / (2 pi 25) = .038
 * decades; a column in which noise has the word is left as it is, and so is the target.
 * Places are told the same way, on a circle of their own. */
static void much_the_same_unit_is_one(void **state) {
    (void)state;
    const bb_public pub = unranged(1000);
    const bb_view view = {.method = &bb_method_mp_mixed, .pub = &pub};
    for (size_t apart = 0; apart < 2; apart++) {
        double is[D], sum[UNITS] = {0}, unit[UNITS], place[PAIRS];
        const bb_release release = {.value = {sum}, .noise = {1.0}};
        for (size_t k = 0; k < D; k++) {
            is[k] = apart ? 0.8 * (double)(k % 3) - 1.3 : k % 2 ? -0.47 : -0.53;
            if (k == COLUMNS) is[k] = 0.0;
            sum[2 * k] = 25.0 * cos(turn * is[k] / 6.0);
            sum[2 * k + 1] = 25.0 * sin(turn * is[k] / 6.0);
        }
        bb_units_take(&view, &release, unit);
        for (size_t k = 0; k < COLUMNS; k++)
            assert_close(unit[2 * k], apart ? is[k] : -0.5, apart ? 0.01 : 1e-9);
        assert_close(unit[2 * COLUMNS], 0.0, 1e-9);
        bb_units_take_places(&view, &release, place);
        for (size_t k = 0; k < D; k++)
            assert_close(place[2 * k], unit[2 * k] * place[1] / 6.0, 1e-9);
        sum[0] = sum[1] = 1.0;
        bb_units_take(&view, &release, unit);
        assert_close(unit[0], 0.75, 1e-9);
        assert_true(unit[1] == 0.0);
        if (!apart) assert_close(unit[2], -0.5 + 0.03 / 9.0, 1e-9);
    }
}

/* A task of two rows in powers of ten of its own. */
static bb_local two_rows(const double *x, const double *y, const double *factor) {
    return (bb_local){.n = 2,
                      .d = D,
                      .length = D,
                      .outputs = 1,
                      .weight = 0.5,
                      .x = x,
                      .y = y,
                      .own_factor = factor,
                      .own_unit = 1.0};
}

/* All numbers that a task shows together fill the unit ball, and the target has more of it
 * than a column, so that its unit is told better. */
static void the_target_has_more_to_say(void **state) {
    (void)state;
    const bb_public pub = unranged(1000);
    const bb_view view = {.method = &bb_method_mp_mixed, .pub = &pub};
    double x[2 * D], y[2] = {1.0, 2.0}, factor[COLUMNS], vote[UNITS] = {0};
    for (size_t k = 0; k < 2 * D; k++) x[k] = 1.0 + (double)(k % 7);
    for (size_t k = 0; k < COLUMNS; k++) factor[k] = 1.0;
    const bb_local local = two_rows(x, y, factor);
    bb_units_show(&view, &local, vote);
    assert_close(bb_norm(UNITS, vote), 1.0, 1e-12);
    assert_close(bb_norm(2, vote + 2 * COLUMNS) / hypot(bb_norm(2, vote), vote[PAIRS]),
                 pow(COLUMNS, 0.125), 1e-12);
}

/* The unit is known up to a circle of six decades, and whether it is the likely one is told
 * beside it. A task of zeros needs to know: at a yes or no that is a slope, of a sum of money
 * it would be one that is wrong by 10^6. A column that has a range says nothing and leaves
 * the others its part. */
static void what_zeros_are_to_be_multiplied_by(void **state) {
    (void)state;
    static const double usual[3] = {0.5, 3e3, 0.5};
    const bb_public pub = unranged(1000);
    const bb_view view = {.method = &bb_method_mp_mixed, .pub = &pub};
    const bool ranged[COLUMNS] = {[2] = true};
    for (int told = 0; told < 2; told++) {
        double x[2 * D] = {0}, y[2] = {0.1, 0.3}, factor[COLUMNS], vote[UNITS] = {0};
        double sum[UNITS], unit[UNITS], *state_room, *work;
        for (size_t k = 0; k < COLUMNS; k++) factor[k] = 1.0;
        for (size_t k = 0; k < 3; k++) {
            factor[k] = ranged[k] ? 1.0 : 1.0 / pow(10.0, ceil(log10(2.0 * usual[k])));
            x[k] = usual[k] * factor[k] / sqrt(D);
            x[D + k] = 2.0 * x[k];
        }
        bb_local local = two_rows(x, y, factor);
        local.ranged = ranged;
        bb_units_show(&view, &local, vote);
        assert_true(bb_norm(2, vote + 4) == 0.0 && vote[PAIRS + 2] == 0.0);
        assert_true(vote[PAIRS] > 0.0 && vote[PAIRS + 1] < 0.0);
        const bb_release release = {.value = {sum}, .noise = {1.0}};
        for (size_t k = 0; k < UNITS; k++) sum[k] = 100.0 * vote[k];
        for (size_t k = PAIRS; k < UNITS && !told; k++) sum[k] = 0.5;
        bb_units_take(&view, &release, unit);
        const bb_units units = {.unit = unit, .state = bb_units_state(&view)};
        state_room = calloc(units.state, sizeof *state_room);
        work = calloc(bb_units_work(&units, &local), sizeof *work);
        assert_true(state_room && work);
        for (size_t k = 0; k < 3; k++)
            x[k] = x[D + k] = ranged[k] ? -1.0 / sqrt(D) : 0.0;
        x[COLUMNS] = x[D + COLUMNS] = 1.0 / sqrt(D);
        double model[D] = {0};
        for (size_t k = 0; k < 3; k++) factor[k] = 1.0;
        bb_local moved;
        const bb_task task = {
            .local = &local, .model = model, .state = state_room, .work = work};
        const bb_task own = bb_units_in(&view, &units, &task, &moved);
        for (size_t k = 0; k < 3; k++) own.model[k] = 1.0;
        bb_task back = task;
        bb_units_take_model(&view, &own, &back);
        assert_close(model[0], state_room[0] / state_room[D], 1e-9);
        assert_close(state_room[0],
                     told ? 1.0 / (usual[0] * sqrt(0.5) * sqrt(10.0)) : 0.0, 0.01);
        assert_true(model[1] == 0.0 && state_room[1] == 0.0);
        assert_close(moved.x[2], -1.0 / sqrt(D), 1e-15);
        assert_true(state_room[2] == 1.0);
        free(work);
        free(state_room);
    }
}

/* Money of about 3,000, which the circle does not tell from .003, and a task in which two sums
 * differ by two: by what its numbers are, not by what they differ by, its unit is that of the
 * others. */
static void two_rows_that_are_close_by_chance(void **state) {
    (void)state;
    const bb_public pub = unranged(1000);
    const bb_view view = {.method = &bb_method_mp_mixed, .pub = &pub};
    double x[2 * D] = {0}, y[2] = {0.1, 0.3}, factor[COLUMNS], unit[UNITS] = {0};
    double model[D] = {0}, scales[2 * (D + 1)] = {0}, work[64 * D];
    for (size_t k = 0; k < COLUMNS; k++) factor[k] = 1e-4;
    x[0] = 0.5880 / sqrt(D);
    x[D] = 0.5882 / sqrt(D);
    x[COLUMNS] = x[D + COLUMNS] = 1.0 / sqrt(D);
    unit[0] = 3.5 - 6.0;
    unit[1] = 6.0;
    const bb_local local = two_rows(x, y, factor);
    const bb_units units = {.unit = unit, .state = bb_units_state(&view)};
    const bb_task task = {
        .local = &local, .model = model, .state = scales, .work = work};
    bb_local moved;
    assert_int_equal(units.state, 2 * (D + 1));
    assert_true(bb_units_work(&units, &local) <= 64 * D);
    (void)bb_units_in(&view, &units, &task, &moved);
    assert_close(scales[0], 1.0, 1e-9); /* 10^4 in units of 10^(3.5 + .5) */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_ten_do_not_matter),
        cmocka_unit_test(common_units_help),
        cmocka_unit_test(places_help),
        cmocka_unit_test(a_level_that_all_have_may_be_zero),
        cmocka_unit_test(little_budget_leaves_own_units),
        cmocka_unit_test(a_level_far_from_zero_is_kept),
        cmocka_unit_test(what_is_shown_and_made_of_it),
        cmocka_unit_test(much_the_same_unit_is_one),
        cmocka_unit_test(the_target_has_more_to_say),
        cmocka_unit_test(what_zeros_are_to_be_multiplied_by),
        cmocka_unit_test(two_rows_that_are_close_by_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
