/* A task's own fit at home: few rows, and the average over penalties against models and
 * losses by brute force. */
#include "learners/outputs_problem.h"
#include "linalg/linalg.h"
#include "methods/personal.h"
#include "methods/personal_average.h"
#include "methods/personal_outputs.h"
#include "methods/personal_temper.h"
#include "methods/personal_units.h"
#include "methods/personal_vote.h"
#include "methods/personal_wide.h"
#include "population.h"

#include <math.h>
#include <string.h>

enum { FEATURES = 3, ROWS = 40, MOST_ROWS = 64 };

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
    assert_ok(bb_personal_model(
        &p->local[0], &(bb_personal_public){.centre = centre, .constant = true}, model,
        work));
}

static void fit(const bb_local *local, double weight, const double *centre, double *w) {
    double work[4096], b;
    assert_true(bb_local_work(local) <= 4096);
    assert_ok(bb_local_ridge(local, weight * local->weight, centre, w, &b, work));
}

static const double centre[FEATURES] = {1.0, 1.5, 0.5};

static const double short_centre[FEATURES] = {0.3, 0.45,
                                              0.15}; /* the centre, .3 of it */

/* What rows say of a fit around 0 or a centre, by hand: Laplace's evidence with an explicit
 * Hessian. */
static double evidence_by_hand(const bb_local *local, double weight,
                               const double *around, const double *w) {
    double H[FEATURES * FEATURES] = {0}, score = 0.0, log_det = 0.0;
    for (size_t k = 0; k < FEATURES; k++) H[k * FEATURES + k] = weight;
    for (size_t j = 0; j < local->n; j++) {
        const double *x = local->x + j * FEATURES, eta = bb_dot(FEATURES, x, w);
        const double p = 1.0 / (1.0 + exp(-eta));
        score -= log1p(exp(-local->y[j] * eta));
        for (size_t k = 0; k < FEATURES; k++)
            for (size_t l = 0; l < FEATURES; l++)
                H[k * FEATURES + l] += p * (1.0 - p) * x[k] * x[l];
    }
    for (size_t k = 0; k < FEATURES; k++) {
        const double moved = w[k] - (around ? around[k] : 0.0);
        score -= 0.5 * weight * moved * moved;
    }
    assert_ok(bb_cholesky(FEATURES, H));
    for (size_t k = 0; k < FEATURES; k++)
        log_det += 2.0 * log(H[k * FEATURES + k]) - log(weight);
    return score - 0.5 * log_det;
}

/* left <- what is foreseen of each row by one Newton step from w without it; returns their log
 * likelihood. */
static double left_out_by_hand(const bb_local *local, double weight, const double *w,
                               double *left) {
    double likelihood = 0.0;
    for (size_t out = 0; out < local->n; out++) {
        const double *at = local->x + out * FEATURES, y = local->y[out];
        double H[FEATURES * FEATURES] = {0}, gone[FEATURES];
        for (size_t k = 0; k < FEATURES; k++) H[k * FEATURES + k] = weight;
        for (size_t j = 0; j < local->n; j++) {
            const double *x = local->x + j * FEATURES, z = bb_dot(FEATURES, x, w);
            const double bend = 1.0 / (2.0 + exp(z) + exp(-z));
            for (size_t k = 0; k < FEATURES * FEATURES && j != out; k++)
                H[k] += bend * x[k / FEATURES] * x[k % FEATURES];
        }
        const double eta = bb_dot(FEATURES, at, w);
        assert_ok(bb_cholesky(FEATURES, H));
        memcpy(gone, at, sizeof gone);
        bb_cholesky_solve(FEATURES, H, gone);
        left[out] = eta - y / (1.0 + exp(y * eta)) * bb_dot(FEATURES, at, gone);
        likelihood -= log1p(exp(-y * left[out]));
    }
    return likelihood;
}

/* The mean square of the rows' distance from their mean. */
static double size_by_hand(const bb_local *local) {
    double sum[FEATURES] = {0}, size = 0.0;
    const double n = (double)local->n;
    for (size_t k = 0; k < local->n * FEATURES; k++)
        sum[k % FEATURES] += local->x[k] / n;
    for (size_t k = 0; k < local->n * FEATURES; k++)
        size += pow(local->x[k] - sum[k % FEATURES], 2.0) / n;
    return size;
}

/* The slope that makes w as sure as it can be under that penalty, by bisection. There is no
 * constant. */
static double slope_by_hand(const bb_local *local, double weight, const double *w,
                            const double *left) {
    double H[FEATURES * FEATURES] = {0}, p[MOST_ROWS], least = 0.01, most = 1.0,
                        saved = 0.0;
    assert_true(local->n <= MOST_ROWS);
    for (size_t k = 0; k < FEATURES; k++) H[k * FEATURES + k] = weight;
    for (size_t j = 0; j < local->n; j++) {
        const double *x = local->x + j * FEATURES, z = bb_dot(FEATURES, x, w);
        const double bend = 1.0 / (2.0 + exp(z) + exp(-z));
        for (size_t k = 0; k < FEATURES * FEATURES; k++)
            H[k] += bend * x[k / FEATURES] * x[k % FEATURES];
    }
    assert_ok(bb_cholesky(FEATURES, H));
    for (size_t j = 0; j < local->n; j++) {
        const double *x = local->x + j * FEATURES, z = bb_dot(FEATURES, x, w);
        double solved[FEATURES];
        memcpy(solved, x, sizeof solved);
        bb_cholesky_solve(FEATURES, H, solved);
        const double doubt = sqrt(1.0 + M_PI / 8.0 * bb_dot(FEATURES, x, solved));
        p[j] = 1.0 / (1.0 + exp(-z / doubt));
        saved += log1p(exp(-local->y[j] * left[j] / doubt)) -
                 log1p(exp(-local->y[j] * left[j]));
    }
    if (saved > 0.0) return 1.0;
    for (int step = 0; step < 60; step++) {
        const double slope = 0.5 * (least + most);
        double derivative = 1e-3 * (slope - 1.0);
        for (size_t j = 0; j < local->n; j++) {
            const double z = bb_dot(FEATURES, local->x + j * FEATURES, w);
            derivative += (1.0 / (1.0 + exp(-slope * z)) - p[j]) * z;
        }
        *(derivative > 0.0 ? &most : &least) = slope;
    }
    return least;
}

/* expected <- the average by hand, with its rows' doubts, over every penalty and `sides` of 0,
 * the centre and a shorter one, and the odds of each of the latter; distance: what is usual of
 * that from a centre, in decades of the penalty. There is no constant. */
static void average_by_hand(const bb_local *local, int sides, double odds,
                            double distance, double *expected) {
    const double *const side[] = {NULL, centre, short_centre};
    const double size = size_by_hand(local);
    const double n = (double)local->n, part = pow(1.0 - FEATURES / n, 2.0);
    double total = 0.0, decades = 0.0, w[FEATURES], left[MOST_ROWS],
           foreseen[MOST_ROWS] = {0};
    memset(expected, 0, FEATURES * sizeof *expected);
    for (int s = 0; s < sides; s++)
        for (int e = -3; e <= 3; e++) {
            const double weight = size * pow(10.0, e);
            fit(local, weight, side[s], w);
            const double far = side[s] ? e - distance : (e + 0.6) / 0.7;
            const double prior = -0.5 * far * far;
            const double evidence = evidence_by_hand(local, weight, side[s], w);
            const double of_left = left_out_by_hand(local, weight, w, left);
            const double share = (s ? odds : 1.0) *
                                 exp(prior + (1.0 - part) * evidence + part * of_left);
            bb_axpy(FEATURES, share, w, expected);
            bb_axpy(local->n, share, left, foreseen);
            decades += share * e;
            total += share;
        }
    bb_scale(FEATURES, 1.0 / total, expected);
    bb_scale(local->n, 1.0 / total, foreseen);
    const double weight = size * pow(10.0, decades / total);
    bb_scale(FEATURES, slope_by_hand(local, weight, expected, foreseen), expected);
}

/* The centre's odds are 5, or 40 where directions led to it: with many rows for a feature,
 * half of it as it is and half of it shorter. */
static void check_rows(size_t n, double slope) {
    population p = draw(n, slope, 3);
    const bb_local *local = &p.local[0];
    double kept[FEATURES], expected[FEATURES], w[FEATURES], work[4096];
    assert_ok(bb_personal_around(
        local, &(bb_personal_public){.centre = centre, .constant = true}, 40.0, kept,
        work));
    if (n >= 4 * FEATURES)
        average_by_hand(local, 3, 20.0, 0.5, expected);
    else
        average_by_hand(local, 2, 40.0, 1.0, expected);
    for (size_t k = 0; k < FEATURES; k++) assert_close(kept[k], expected[k], 1e-6);
    keep(&p, centre, kept);
    average_by_hand(local, 2, 5.0, 1.0, expected);
    for (size_t k = 0; k < FEATURES; k++) assert_close(kept[k], expected[k], 1e-6);
    fit(local, size_by_hand(local) * 0.1, centre, w);
    assert_true(fabs(w[0] - kept[0]) > 0.02); /* not one fixed penalty */
    population_close(&p);
}

static void by_evidence(void **state) {
    (void)state;
    check_rows(11, 1.0);
    check_rows(12, 1.0);
    check_rows(ROWS, 1.5);
    check_rows(MOST_ROWS, 30.0);
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

/* A centre that directions led to, and is longer than it is worth: the model is near that
 * around the right one. */
static void too_long(void **state) {
    (void)state;
    population p = draw(12, 1.0, 5);
    const double longer[FEATURES] = {1.0 / 0.3, 1.5 / 0.3, 0.5 / 0.3};
    double right[FEATURES], kept[FEATURES], work[4096];
    assert_ok(bb_personal_around(
        &p.local[0], &(bb_personal_public){.centre = centre, .constant = true}, 5.0,
        right, work));
    assert_ok(bb_personal_around(
        &p.local[0], &(bb_personal_public){.centre = longer, .constant = true}, 5.0,
        kept, work));
    for (size_t k = 0; k < FEATURES; k++) kept[k] -= right[k];
    assert_true(bb_norm(FEATURES, kept) < 0.5 * bb_norm(FEATURES, right));
    population_close(&p);
}

/* Rows that speak against the centre: the model is that without it. */
static void refuses(void **state) {
    (void)state;
    population p = draw(ROWS, -3.0, 5);
    const double wrong[FEATURES] = {60.0, 60.0, 60.0};
    double kept[FEATURES], alone[FEATURES];
    keep(&p, NULL, alone);
    keep(&p, wrong, kept);
    for (size_t k = 0; k < FEATURES; k++) assert_close(kept[k], alone[k], 0.05);
    population_close(&p);
}

/* Few rows, mostly of one class: a free constant takes that up, and the other weights are
 * those of the same rows without the constant's penalty, not of labels all alike. */
static void constant_is_free(void **state) {
    (void)state;
    enum { N = 60 };
    population p = population_empty(1, N, 2, BB_LOSS_LOGISTIC, false);
    double kept[2], work[4096];
    for (size_t j = 0; j < N; j++) {
        p.x[2 * j] = (j % 2 ? 0.1 : -0.1);
        p.x[2 * j + 1] = 0.01;
        p.y[j] = j < 6 ? 1.0 : -1.0;
    }
    population_open_locals(&p);
    assert_true(bb_personal_work(&p.local[0]) <= 4096);
    assert_ok(bb_personal_model(&p.local[0], &(bb_personal_public){.constant = true},
                                kept, work));
    /* log odds of 6 to 54, though the column is .01: with one penalty for all, weak enough
     * for it, the other weight would be as loose */
    assert_close(0.01 * kept[1], log(6.0 / 54.0), 0.3);
    population_close(&p);
}

static void keep_form(bb_rows rows, bool sparse, const double *around, double *model) {
    bb_local local = {0};
    assert_ok(bb_local_open(&local, rows, BB_LOSS_LOGISTIC, false, sparse));
    double *work = get(bb_personal_work(&local), sizeof *work);
    const bb_personal_public known = {.centre = around, .constant = true};
    assert_ok(bb_personal_model(&local, &known, model, work));
    free(work);
    bb_local_close(&local);
}

/* More features than rows, dense and sparse (which has no units of its own): columns of zeros in
 * front change nothing, and keep what the centre has there. (Rows so few that none is left out:
 * how far that goes is a matter of how many columns there are.) */
static void check_wide(size_t n, bool with_centre) {
    enum { D = 50, ZEROS = D - FEATURES, MOST = 9 };
    population p = draw(n, 1.0, 7);
    double x[MOST * D] = {0}, value[MOST * FEATURES], around[D];
    size_t first[MOST + 1];
    uint32_t column[MOST * FEATURES], narrow[MOST * FEATURES];
    for (size_t k = 0; k < D; k++) around[k] = k < ZEROS ? 3.0 : centre[k - ZEROS];
    for (size_t j = 0; j < n; j++) {
        p.x[j * FEATURES + FEATURES - 1] = 0.3;
        memcpy(x + j * D + ZEROS, p.x + j * FEATURES, FEATURES * sizeof *x);
        first[j] = j * FEATURES;
        for (size_t k = 0; k < FEATURES; k++) {
            narrow[first[j] + k] = (uint32_t)k;
            column[first[j] + k] = (uint32_t)(ZEROS + k);
            value[first[j] + k] = p.x[j * FEATURES + k];
        }
    }
    first[n] = n * FEATURES;
    const bb_rows form[2][2] = {{{.n = n, .d = FEATURES, .x = p.x, .y = p.y},
                                 {.n = n, .d = D, .x = x, .y = p.y}},
                                {{.n = n,
                                  .d = FEATURES,
                                  .sparse_first = first,
                                  .sparse_column = narrow,
                                  .sparse_value = value,
                                  .y = p.y},
                                 {.n = n,
                                  .d = D,
                                  .sparse_first = first,
                                  .sparse_column = column,
                                  .sparse_value = value,
                                  .y = p.y}}};
    for (size_t f = 0; f < 2; f++) {
        double kept[FEATURES], wide[D];
        keep_form(form[f][0], f == 1, with_centre ? centre : NULL, kept);
        keep_form(form[f][1], f == 1, with_centre ? around : NULL, wide);
        for (size_t k = 0; k < FEATURES; k++)
            assert_close(wide[ZEROS + k], kept[k], 1e-9);
    }
    population_close(&p);
}

static void wide_rows(void **state) {
    (void)state;
    check_wide(5, false);
    check_wide(5, true);
    check_wide(9, false);
    check_wide(9, true);
}

/* The squared loss: an average over penalties and sides, by the evidence of a twin that
 * sees the whole covariance of the targets, I + X P X' / penalty. constant: whether the last
 * column is one. */
static void add_squared(const population *p, const double *around, bool constant,
                        const double *P, double odds, double *model, double *total) {
    enum { N = 12 };
    const bb_local *local = &p->local[0];
    double mean = 0.0, variance = 0.0, size = 0.0, middle[FEATURES] = {0};
    for (size_t j = 0; j < N; j++) mean += p->y[j] / N;
    for (size_t j = 0; j < N; j++) variance += (p->y[j] - mean) * (p->y[j] - mean) / N;
    for (size_t j = 0; j < N; j++)
        bb_axpy(FEATURES, 1.0 / N, local->x + j * FEATURES, middle);
    for (size_t j = 0; j < N; j++)
        for (size_t k = 0; k < (size_t)FEATURES - constant; k++)
            size += pow(local->x[j * FEATURES + k] - middle[k], 2.0) / N;
    for (int e = -10; e <= 5; e++) {
        const double weight = size * pow(10.0, 0.5 * e), far = 0.5 * e + 1.3;
        double K[N * N], r[N], solved[N], w[FEATURES], log_det = 0.0, sum = 0.0;
        for (size_t j = 0; j < N; j++) {
            r[j] = p->y[j] -
                   (around ? bb_dot(FEATURES, local->x + j * FEATURES, around) : 0.0);
            for (size_t i = 0; i < N; i++) {
                const double *x = local->x + j * FEATURES, *z = local->x + i * FEATURES;
                K[j * N + i] = i == j ? 1.0 : 0.0;
                for (size_t k = 0; k < FEATURES; k++)
                    K[j * N + i] +=
                        x[k] * bb_dot(FEATURES, P + k * FEATURES, z) / weight;
            }
        }
        memcpy(solved, r, sizeof r);
        assert_ok(bb_cholesky(N, K));
        bb_cholesky_solve(N, K, solved);
        for (size_t j = 0; j < N; j++) log_det += 2.0 * log(K[j * N + j]);
        for (size_t k = 0; k < FEATURES; k++) {
            w[k] = around ? around[k] : 0.0;
            for (size_t j = 0; j < N; j++) {
                const double *x = local->x + j * FEATURES;
                w[k] += bb_dot(FEATURES, P + k * FEATURES, x) * solved[j] / weight;
            }
        }
        for (int part = 0; part < 4; part++) {
            const double prior = variance * pow(10.0, -part);
            sum +=
                sqrt(pow(10.0, -part)) *
                pow((bb_dot(N, r, solved) + prior) / (N * variance), -0.5 * (N + 1.0));
        }
        sum *= exp(-0.5 * log_det) * (around ? 2.0 : exp(-0.5 * far * far)) * odds;
        bb_axpy(FEATURES, sum, w, model);
        *total += sum;
    }
}

/* P <- I, and more in the direction v (of norm 1; NULL: in none). */
static void freer(const double *v, double *P) {
    for (size_t a = 0; a < FEATURES; a++)
        for (size_t b = 0; b < FEATURES; b++)
            P[a * FEATURES + b] = (a == b ? 1.0 : 0.0) + (v ? 99.0 * v[a] * v[b] : 0.0);
}

static void squared(void **state) {
    (void)state;
    population p = population_make(1, 12, FEATURES, BB_LOSS_SQUARED, false, 8);
    double kept[FEATURES], expected[FEATURES] = {0}, total = 0.0;
    assert_int_equal(p.first[1], 12);
    const double constant[FEATURES] = {0.0, 0.0, 1.0};
    double along[FEATURES], P[FEATURES * FEATURES];
    memcpy(along, centre, sizeof along);
    bb_scale(FEATURES, 1.0 / bb_norm(FEATURES, centre), along);
    for (int side = 0; side < 2; side++) {
        const double *around = side ? centre : NULL;
        freer(NULL, P);
        add_squared(&p, around, true, P, 1.0, expected, &total);
        freer(constant, P);
        add_squared(&p, around, true, P, exp(side ? -1.0 : 1.0), expected, &total);
        freer(along, P);
        add_squared(&p, around, true, P, 1.0, expected, &total);
    }
    keep(&p, centre, kept);
    for (size_t k = 0; k < FEATURES; k++)
        assert_close(kept[k], expected[k] / total, 1e-8);
    population_close(&p);
}

/* Under a covariance, and its square and fourth power, of the same trace; a direction each row
 * of the basis. */
static void squared_under(void **state) {
    (void)state;
    population p = population_make(1, 12, FEATURES, BB_LOSS_SQUARED, false, 8);
    const double basis[] = {0.6, 0.8, 0.0, -0.8, 0.6, 0.0, 0.0, 0.0, 1.0};
    const double root[] = {1.5, 0.8, sqrt(3.0 - 1.5 * 1.5 - 0.8 * 0.8)};
    const bb_covariance told = {basis, root};
    double kept[FEATURES], expected[FEATURES] = {0}, total = 0.0, work[4096];
    double P[FEATURES * FEATURES];
    freer(NULL, P);
    add_squared(&p, NULL, false, P, 1.0, expected, &total);
    for (int power = 2; power <= 8; power *= 2) {
        double trace = 0.0;
        for (size_t a = 0; a < FEATURES; a++) trace += pow(root[a], power) / FEATURES;
        for (size_t k = 0; k < (size_t)FEATURES * FEATURES; k++) P[k] = 0.0;
        for (size_t a = 0; a < FEATURES; a++)
            for (size_t k = 0; k < (size_t)FEATURES * FEATURES; k++)
                P[k] += pow(root[a], power) / trace *
                        basis[a * FEATURES + k / FEATURES] *
                        basis[a * FEATURES + k % FEATURES];
        add_squared(&p, NULL, false, P, 1.0, expected, &total);
    }
    assert_true(bb_personal_under_work(&p.local[0]) <= 4096);
    const bb_personal_public known = {.told = &told};
    assert_ok(bb_personal_under(&p.local[0], &known, kept, work));
    for (size_t k = 0; k < FEATURES; k++)
        assert_close(kept[k], expected[k] / total, 1e-8);
    population_close(&p);
}

/* Votes that leave one candidate: the exact minimum with its penalty, in units of the rows. */
static void one_by_vote(void **state) {
    (void)state;
    population p = population_make(1, 12, FEATURES, BB_LOSS_SQUARED, false, 8);
    double odds[BB_PERSONAL_CELLS], kept[FEATURES], expected[FEATURES], work[4096];
    const bb_personal_public known = {.odds = odds};
    const double size = bb_personal_size(&p.local[0], false, work);
    bool is[BB_PERSONAL_CELLS];
    bb_personal_squared_cells(FEATURES, &known, is);
    for (size_t k = 0; k < BB_PERSONAL_CELLS; k++) assert_true(is[k] == (k < 5));
    for (size_t chosen = 1; chosen < 4; chosen++) {
        for (size_t k = 0; k < BB_PERSONAL_CELLS; k++)
            odds[k] = k == chosen ? 0.0 : -1e4;
        assert_ok(bb_personal_under(&p.local[0], &known, kept, work));
        fit(&p.local[0], pow(10.0, (double)chosen - 2.0) * size, NULL, expected);
        for (size_t k = 0; k < FEATURES; k++) assert_close(kept[k], expected[k], 1e-8);
    }
    population_close(&p);
}

/* What a task shows is in the unit ball, whatever its rows say, and around 0. */
static void votes_are_bounded(void **state) {
    (void)state;
    double evidence[5] = {1e6, -INFINITY, -1e6, 3.0, -INFINITY}, vote[5];
    bb_vote_show(5, evidence, 3.0, vote);
    assert_true(bb_norm(5, vote) <= 1.0 + 1e-12);
    assert_close(vote[0] + vote[2] + vote[3], 0.0, 1e-12);
    assert_true(vote[0] > 0.0 && vote[1] == 0.0 && vote[4] == 0.0);
    assert_close(vote[2], vote[3], 1e-12); /* both are far below */
    evidence[2] = evidence[3] = evidence[0] - 0.3;
    bb_vote_show(5, evidence, 3.0, vote);
    assert_close(vote[0], 0.2 / 3.0,
                 1e-6); /* a task that hardly minds is hardly heard */
}

/* Sums within the noise say nothing; clear ones no more than forty tasks would. */
static void votes_are_shrunk(void **state) {
    (void)state;
    const bool is[4] = {true, true, true, false};
    double odds[4];
    bb_vote_take(4, is, (const double[]){9.0, -3.0, -6.0, 1e3}, 10.0, bb_vote_usual,
                 100, odds);
    for (size_t k = 0; k < 4; k++) assert_true(odds[k] == 0.0);
    bb_vote_take(4, is, (const double[]){40.0, -10.0, -30.0, 1e3}, 0.0, bb_vote_usual,
                 100, odds);
    assert_true(odds[0] == 0.0 && odds[3] == 0.0);
    assert_close(odds[1], -20.0, 1e-12);
    assert_close(odds[2], -28.0, 1e-12);
    bb_vote_take(4, is, (const double[]){40.0, -10.0, -30.0, 1e3}, 10.0, bb_vote_usual,
                 100, odds);
    assert_close(odds[2], -7.0 * (1.0 - 200.0 / 2600.0), 1e-12);
}

/* With two classes too: rows that vary in one direction, which the covariance says is the one
 * that matters, or does not. */
static void classes_under(void **state) {
    (void)state;
    const double basis[] = {0.6, 0.8, 0.0, -0.8, 0.6, 0.0, 0.0, 0.0, 1.0};
    const double even[] = {1.0, 1.0, 1.0}, sharp[] = {1.7, 0.2, 0.26};
    population p = draw(20, 2.0, 3);
    double alone[FEATURES], same[FEATURES], told[FEATURES], work[4096];
    assert_true(bb_personal_under_work(&p.local[0]) <= 4096);
    assert_ok(bb_personal_under(&p.local[0], &(bb_personal_public){0}, alone, work));
    const bb_covariance evenly = {basis, even}, sharply = {basis, sharp};
    const bb_personal_public one = {.told = &evenly}, other = {.told = &sharply};
    assert_ok(bb_personal_under(&p.local[0], &one, same, work));
    assert_ok(bb_personal_under(&p.local[0], &other, told, work));
    for (size_t k = 0; k < FEATURES; k++) assert_close(same[k], alone[k], 1e-6);
    const double across = bb_dot(FEATURES, basis + FEATURES, told);
    const double before = bb_dot(FEATURES, basis + FEATURES, alone);
    assert_true(fabs(across) < 0.7 * fabs(before));
    population_close(&p);
}

/* Two rows that say nothing but how high the target is: they are nearly believed, and a centre
 * that says otherwise is not. */
static void rows_are_a_level(void **state) {
    enum { N = 2 };
    const double x[N * FEATURES] = {0.3, -0.2, 0.5, -0.2, 0.3, 0.5}, y[N] = {0.4, 0.41};
    const double low[FEATURES] = {0.0, 0.0, -0.5}, no_vote[BB_PERSONAL_CELLS] = {0};
    const bb_rows rows = {.n = N, .d = FEATURES, .x = x, .y = y};
    double work[4096], w[FEATURES], off[2][2];
    (void)state;
    for (int around = 0; around < 2; around++)
        for (int unranged = 0; unranged < 2; unranged++) {
            bb_local local = {0};
            const bb_personal_public known = {.centre = around ? low : NULL,
                                              .constant = true,
                                              .unranged = unranged,
                                              .odds = no_vote};
            assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, false, false));
            assert_true(bb_personal_work(&local) <= 4096);
            assert_ok(bb_personal_model(&local, &known, w, work));
            off[around][unranged] = fabs(bb_dot(FEATURES, x, w) - y[0]);
            bb_local_close(&local);
        }
    assert_true(off[0][1] < 1.2e-4 && off[0][1] < 0.6 * off[0][0]);
    for (int unranged = 0; unranged < 2; unranged++)
        assert_true(off[1][unranged] < 1.2e-4);
}

/* Far from the middle of a range, around a centre that says nothing, two rows are a level
 * first, which another value of a column does not move. off: what the next row misses. */
static void two_rows_at_an_end(void **state) {
    enum { N = 2 };
    const double x[N * FEATURES] = {0.5, 0.5, 0.5, 0.5, 0.4, 0.5}, zero[FEATURES] = {0};
    const double next[FEATURES] = {-0.5, 0.5, 0.5}, no_vote[BB_PERSONAL_CELLS] = {0};
    double work[4096], w[FEATURES], off[2];
    (void)state;
    for (int far = 0; far < 2; far++) {
        const double level = far ? -0.85 : -0.1, y[N] = {level, level + 0.001};
        const bb_rows rows = {.n = N, .d = FEATURES, .x = x, .y = y};
        const bb_personal_public known = {
            .centre = zero, .constant = true, .odds = no_vote};
        bb_local local = {0};
        assert_ok(bb_local_open(&local, rows, BB_LOSS_SQUARED, false, false));
        assert_ok(bb_personal_model(&local, &known, w, work));
        off[far] = fabs(bb_dot(FEATURES, next, w) - level) / fabs(level);
        bb_local_close(&local);
    }
    print_message("off: %.3f of the level near the middle, %.3f at an end\n", off[0],
                  off[1]);
    assert_true(off[1] < 0.5 * off[0]);
}

/* How wide ranges are changes nothing: rows of a thousandth of the length
 * predict the same, also where they are written as sparse ones. */
static void any_scale(void **state) {
    enum { N = 12 };
    const double factor = 1e-3, constant = 0.5, no_vote[BB_PERSONAL_CELLS] = {0};
    const bb_personal_public known = {.constant = true, .odds = no_vote};
    (void)state;
    population p = population_make(1, N, FEATURES, BB_LOSS_SQUARED, false, 8);
    double short_rows[N * FEATURES], wide[FEATURES], narrow[FEATURES], work[4096];
    size_t first[N + 1];
    uint32_t column[N * FEATURES];
    for (size_t j = 0; j <= N; j++) first[j] = j * FEATURES;
    for (size_t k = 0; k < (size_t)N * FEATURES; k++) {
        column[k] = (uint32_t)(k % FEATURES);
        if (column[k] == FEATURES - 1) p.x[k] = constant;
        short_rows[k] = column[k] == FEATURES - 1 ? factor * constant : factor * p.x[k];
    }
    const bb_rows form[] = {{.n = N, .d = FEATURES, .x = p.x, .y = p.y},
                            {.n = N, .d = FEATURES, .x = short_rows, .y = p.y},
                            {.n = N,
                             .d = FEATURES,
                             .sparse_first = first,
                             .sparse_column = column,
                             .sparse_value = short_rows,
                             .y = p.y}};
    for (size_t f = 0; f < 3; f++) {
        bb_local local = {0};
        assert_ok(bb_local_open(&local, form[f], BB_LOSS_SQUARED, false, false));
        assert_true(bb_personal_work(&local) <= 4096);
        assert_ok(bb_personal_model(&local, &known, f ? narrow : wide, work));
        for (size_t k = 0; f && k < FEATURES; k++)
            assert_relative(factor * narrow[k], wide[k], 1e-9);
        bb_local_close(&local);
    }
    population_close(&p);
}

/* Three classes: what rows left out say of a fit, from the inverse of each output's own
 * block of the Hessian, and beside it, where rows suffice, the evidence by such blocks. */
static double score_of_classes(const many *m, const double *rows, double weight,
                               const double *W, const double *middle) {
    enum { D = 5, K = 3 };
    double moved[40 * K], score = 0.0, evidence = 0.0;
    assert_true(m->n <= 40 && m->d == D && m->outputs == K);
    for (size_t c = 0; c < K; c++) {
        double H[D * D] = {0};
        for (size_t k = 0; k < D; k++) H[k * D + k] = weight;
        for (int pass = 0; pass < 2; pass++) {
            if (pass == 1) assert_ok(bb_cholesky(D, H));
            for (size_t j = 0; j < m->n; j++) {
                const double *x = rows + j * D;
                double z[K] = {0}, total = 0.0, solved[D];
                for (size_t l = 0; l < K; l++) {
                    for (size_t k = 0; k < D; k++) z[l] += x[k] * W[k * K + l];
                    total += exp(z[l]);
                }
                const double p = exp(z[c]) / total, bend = p * (1.0 - p);
                if (pass == 0) {
                    for (size_t k = 0; k < D * D; k++)
                        H[k] += bend * x[k / D] * x[k % D];
                    continue;
                }
                if (m->y[j] == (double)c) evidence += log(p);
                memcpy(solved, x, sizeof solved);
                bb_cholesky_solve(D, H, solved);
                const double h = bb_dot(D, x, solved);
                moved[j * K + c] = z[c] + h * (p - (m->y[j] == (double)c ? 1.0 : 0.0)) /
                                              (1.0 - h * bend);
            }
        }
        for (size_t k = 0; k < D; k++) {
            const double away = W[k * K + c] - (middle ? middle[k * K + c] : 0.0);
            evidence -= 0.5 * weight * away * away +
                        (1.0 - 1.0 / K) * (log(H[k * D + k]) - 0.5 * log(weight));
        }
    }
    for (size_t j = 0; j < m->n; j++) {
        double total = 0.0;
        for (size_t c = 0; c < K; c++) total += exp(moved[j * K + c]);
        score += moved[j * K + (size_t)m->y[j]] - log(total);
    }
    return m->n < D ? score : 0.5 * (score + evidence);
}

/* Adds what a fit counts for, exp(score), to total, and that times its model to sum (behind it:
 * times log10 of its penalty). */
static void add_classes(const many *m, double size, double around, bool freed,
                        const double *middle, double *sum, double *total) {
    enum { D = 5, K = 3, LENGTH = D * K, LAST = LENGTH - K };
    double rows[40 * D], mid[LENGTH], w[LENGTH];
    const double weight = size * around;
    const double stretch = freed ? sqrt(weight) : 1.0; /* deviation 2, of a 2 */
    const double decades = log10(around);
    const double far = middle ? decades - 0.5 : (decades + 1.0) / 0.5;
    bb_rows view = m->dense;
    bb_local local = {0};
    memcpy(rows, m->dense.x, m->n * D * sizeof *rows);
    for (size_t j = 0; j < m->n; j++) rows[j * D + D - 1] *= stretch;
    for (size_t k = 0; middle && k < LENGTH; k++)
        mid[k] = middle[k] / (k < LAST ? 1.0 : stretch);
    view.x = rows;
    view.y = m->y;
    assert_ok(bb_local_open_outputs(&local, view, BB_LOSS_SOFTMAX, K, NULL, true));
    double *work = get(bb_local_ridge_outputs_work(&local), sizeof *work);
    bb_personal_outputs_fit(&local, weight, middle ? mid : NULL, w, work);
    const double share = exp(score_of_classes(m, rows, weight, w, middle ? mid : NULL) -
                             0.5 * far * far + (middle ? log(5.0) : 0.0));
    bb_scale(K, stretch, w + LAST);
    bb_axpy(LENGTH, share, w, sum);
    sum[LENGTH] += share * decades;
    *total += share;
    free(work);
    bb_local_close(&local);
}

/* The probabilities of a row's outputs by a model; z <- the outputs. */
static void say(const double *x, const double *W, double *z, double *p) {
    enum { D = 5, K = 3 };
    double total = 0.0;
    for (size_t c = 0; c < K; c++) {
        z[c] = 0.0;
        for (size_t k = 0; k < D; k++) z[c] += x[k] * W[k * K + c];
    }
    for (size_t c = 0; c < K; c++) total += exp(z[c]);
    for (size_t c = 0; c < K; c++) p[c] = exp(z[c]) / total;
}

/* The model that is kept is the average by a slope, and no other slope says better what doubts
 * make of the average: by every output's own block of the Hessian. */
static void check_doubts(const many *m, double weight, const double *average,
                         const double *kept) {
    enum { D = 5, K = 3, LENGTH = D * K };
    const double slope = kept[0] / average[0];
    double by_slope = 0.0, doubted[40 * K];
    assert_true(slope > 0.1 && slope < 1.0);
    for (size_t k = 0; k < LENGTH; k++) assert_close(kept[k], slope * average[k], 2e-4);
    for (size_t c = 0; c < K; c++) {
        double H[D * D] = {0};
        for (size_t k = 0; k < D; k++) H[k * D + k] = k + 1 < D ? weight : 1.0;
        for (int pass = 0; pass < 2; pass++) {
            if (pass == 1) assert_ok(bb_cholesky(D, H));
            for (size_t j = 0; j < m->n; j++) {
                const double *x = m->rows.x + j * D;
                double z[K], p[K], solved[D];
                say(x, average, z, p);
                for (size_t k = 0; k < D * D && pass == 0; k++)
                    H[k] += p[c] * (1.0 - p[c]) * x[k / D] * x[k % D];
                if (pass == 0) continue;
                memcpy(solved, x, sizeof solved);
                bb_cholesky_solve(D, H, solved);
                doubted[j * K + c] =
                    exp(z[c] / sqrt(1.0 + M_PI / 8.0 * bb_dot(D, x, solved)));
            }
        }
    }
    for (size_t j = 0; j < m->n; j++) {
        const double *target = doubted + j * K;
        double z[K], p[K], q[K];
        say(m->rows.x + j * D, average, z, p);
        say(m->rows.x + j * D, kept, p, q);
        for (size_t c = 0; c < K; c++) {
            const double off = q[c] - target[c] / (target[0] + target[1] + target[2]);
            by_slope += off * z[c];
        }
    }
    assert_close(by_slope, 1e-3 * (1.0 - slope), 2e-3);
}

static void check_classes(size_t n) {
    enum { D = 5, K = 3, LENGTH = D * K };
    static const double weights[] = {1000.0, 100.0, 10.0, 1.0, 0.1, 1e-2, 1e-3};
    many m = many_new(n, D, K, BB_LOSS_SOFTMAX, 11);
    double expected[LENGTH + 1] = {0}, kept[LENGTH], around[LENGTH], total = 0.0;
    double sum[D] = {0}, size = 0.0; /* the last one is a constant, 2 */
    for (size_t k = 0; k < n * D; k++) sum[k % D] += m.rows.x[k] / (double)n;
    for (size_t k = 0; k < n * D; k++)
        size += pow(m.rows.x[k] - sum[k % D], 2.0) / (double)n;
    bb_local local = many_open(&m, false, false, false);
    double *work = get(bb_personal_work(&local), sizeof *work);
    for (size_t k = 0; k < LENGTH; k++) around[k] = 0.3 * sin((double)k);
    for (int kind = 0; kind < 4; kind++)
        for (size_t l = 0; l < sizeof weights / sizeof *weights; l++)
            add_classes(&m, size, weights[l], kind % 2, kind / 2 ? around : NULL,
                        expected, &total);
    assert_ok(bb_personal_model(
        &local, &(bb_personal_public){.centre = around, .constant = true}, kept, work));
    bb_scale(LENGTH + 1, 1.0 / total, expected);
    check_doubts(&m, size * pow(10.0, expected[LENGTH]), expected, kept);
    free(work);
    bb_local_close(&local);
    many_free(&m);
}

static void classes(void **state) {
    (void)state;
    check_classes(3); /* in coordinates of the rows */
    check_classes(4); /* fewer rows than features */
    check_classes(40);
}

/* Of all rows at once, beside the inverse of the matrix of features: by features, and, which
 * comes to the same, by rows. */
static void leverages(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{1, 1},  {3, 7},   {40, 5},
                                      {5, 40}, {80, 70}, {70, 90}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s][0], d = sizes[s][1], most = n > d ? n : d;
        double *half = naive_vector(n * d, 40 + s), *room = naive_vector(most * n, 0);
        double *H = naive_vector(d * d, 0), *K = naive_vector(n * n, 0);
        double *by_features = naive_vector(n, 0), *by_rows = naive_vector(n, 0);
        bb_scale(n, 30.0, half); /* rows that are nearly all their own doing */
        bb_gram(n, d, 1.0, half, 0.0, H);
        bb_gram_rows(n, d, 1.0, half, K);
        for (size_t k = 0; k < d; k++) H[k * d + k] += 1.0;
        for (size_t j = 0; j < n; j++) K[j * n + j] += 1.0;
        assert_ok(bb_cholesky(d, H));
        assert_ok(bb_cholesky(n, K));
        bb_personal_leverages(true, n, d, K, room, by_rows);
        memcpy(room, half, n * d * sizeof *room);
        bb_personal_leverages(false, n, d, H, room, by_features);
        for (size_t j = 0; j < n; j++) {
            memcpy(room, half + j * d, d * sizeof *room);
            bb_cholesky_solve(d, H, room);
            const double pull = bb_dot(d, room, half + j * d);
            assert_close(by_features[j], pull, 1e-11);
            assert_close(by_rows[j], pull, 1e-11);
        }
        free(half);
        free(room);
        free(H);
        free(K);
        free(by_features);
        free(by_rows);
    }
}

/* More features than rows, of which one is there twice and one is zero: the same fit around a
 * centre in coordinates of the rows. */
static void wide_classes(void **state) {
    (void)state;
    enum { N = 9, D = 30, K = 4, LENGTH = D * K };
    many m = many_new(N, D, K, BB_LOSS_SOFTMAX, 12);
    memcpy(m.rows.x + 3 * D, m.rows.x + D, D * sizeof *m.rows.x);
    memset(m.rows.x + 5 * D, 0, D * sizeof *m.rows.x);
    for (size_t j = 0; j < N; j++) m.rows.x[j * D + D - 1] = 2.0;
    bb_local local = many_open(&m, false, false, true);
    double *work = get(bb_wide_work(&local), sizeof *work);
    double *fit = get(bb_local_ridge_outputs_work(&local), sizeof *fit);
    double around[LENGTH], plain[LENGTH], w[LENGTH], middle[LENGTH], v[LENGTH];
    bb_wide wide;
    assert_true(bb_wide_fits(&local));
    bb_wide_open(&wide, &local, work);
    assert_int_equal(wide.local.d, N + 1);
    assert_false(bb_wide_fits(&wide.local));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            assert_close(
                bb_dot(N + 1, wide.local.x + i * (N + 1), wide.local.x + j * (N + 1)),
                bb_dot(D, local.x + i * D, local.x + j * D), 1e-13);
    for (size_t k = 0; k < LENGTH; k++) around[k] = w[k] = 0.3 * cos((double)k);
    bb_local_ridge_outputs(&local, 0.1, around, false, plain, fit);
    bb_wide_into(&wide, around, middle);
    bb_local_ridge_outputs(&wide.local, 0.1, middle, false, v, fit);
    bb_axpy(wide.local.length, -1.0, middle, v);
    bb_wide_add(&wide, v, w);
    assert_close(naive_largest_difference(LENGTH, plain, w), 0.0, 1e-4);
    free(work);
    free(fit);
    bb_local_close(&local);
    many_free(&m);
}

/* Labels by coins, six rows and eight columns: no model is right, and one that is sure pays.
 * Who says one half pays ln 2 = .693. */
static void few_rows_are_not_sure(void **state) {
    (void)state;
    enum { D = 9, FEW = 6, MANY = 200, NEW = 20 };
    population p = population_empty(MANY, FEW, D, BB_LOSS_LOGISTIC, false);
    const bb_personal_public known = {.constant = true};
    bb_random random;
    double model[D], x[D], loss = 0.0;
    assert_ok(bb_random_open_stream(&random, 81, BB_FOR_TEST, 0, 0));
    for (size_t k = 0; k < p.first[MANY] * D; k++)
        p.x[k] = k % D == D - 1 ? 0.3 : 0.3 * bb_random_normal(&random);
    for (size_t j = 0; j < p.first[MANY]; j++)
        p.y[j] = bb_random_uniform(&random) < 0.5 ? 1.0 : -1.0;
    population_open_locals(&p);
    for (size_t i = 0; i < MANY; i++) {
        double *work = get(bb_personal_work(&p.local[i]), sizeof *work);
        assert_ok(bb_personal_model(&p.local[i], &known, model, work));
        for (size_t j = 0; j < NEW; j++) {
            for (size_t k = 0; k < D; k++)
                x[k] = k == D - 1 ? 0.3 : 0.3 * bb_random_normal(&random);
            const double z = bb_dot(D, x, model);
            loss +=
                log1p(exp(bb_random_uniform(&random) < 0.5 ? z : -z)) / (MANY * NEW);
        }
        free(work);
    }
    bb_random_close(&random);
    population_close(&p);
    print_message("log loss %.3f\n", loss);
    assert_true(loss < 0.78);
}

/* -- units of the task's own -- */

/* Column 0 is a year in powers of ten, which hardly changes and decides; the last one is the
 * constant. */
static population years(size_t rows, uint64_t seed) {
    population p = population_empty(1, rows, FEATURES, BB_LOSS_LOGISTIC, false);
    bb_random random;
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 0, 0));
    for (size_t j = 0; j < rows; j++) {
        double *x = p.x + j * FEATURES;
        const double late = bb_random_normal(&random);
        x[0] = 0.2 + 0.0005 * late;
        x[1] = 0.5 * bb_random_normal(&random);
        x[2] = 0.6;
        p.y[j] =
            bb_random_uniform(&random) < 1.0 / (1.0 + exp(-2.0 * late)) ? 1.0 : -1.0;
    }
    bb_random_close(&random);
    population_open_locals(&p);
    return p;
}

static size_t rows_right(const population *p, const double *model) {
    size_t right = 0;
    for (size_t j = 0; j < p->first[1]; j++)
        right += p->y[j] * bb_dot(FEATURES, p->x + j * FEATURES, model) > 0.0;
    return right;
}

/* Ranges, or powers of ten, of long numbers do not see the year: the task's deviations do. */
static void own_units_are_tried(void **state) {
    (void)state;
    population p = years(ROWS, 71), other = years(1000, 72);
    double model[FEATURES], work[4096];
    assert_true(bb_personal_work(&p.local[0]) <= 4096);
    for (int unranged = 0; unranged < 2; unranged++) {
        const bb_personal_public known = {.constant = true, .unranged = unranged};
        assert_ok(bb_personal_model(&p.local[0], &known, model, work));
        assert_true(rows_right(&other, model) > 750);
    }
    population_close(&p);
    population_close(&other);
}

/* So with several classes, without ranges: 0 and 1 by the year, 2 at random. */
static void own_units_of_classes(void **state) {
    (void)state;
    enum { K = 3, LENGTH = FEATURES * K };
    population two[] = {years(2 * ROWS, 76), years(1000, 77)};
    bb_local local[2];
    for (int part = 0; part < 2; part++) {
        population *p = &two[part];
        for (size_t j = 0; j < p->first[1]; j++)
            p->y[j] = j % 5 == 0 ? 2.0 : 0.5 * (p->y[j] + 1.0);
        const bb_rows rows = {.n = p->first[1], .d = FEATURES, .x = p->x, .y = p->y};
        assert_ok(
            bb_local_open_outputs(&local[part], rows, BB_LOSS_SOFTMAX, K, NULL, true));
    }
    double *work = get(bb_personal_work(&local[0]), sizeof *work);
    for (int unranged = 0; unranged < 2; unranged++) {
        const bb_personal_public known = {.constant = true, .unranged = unranged};
        double model[LENGTH], z[K];
        size_t right = 0, asked = 0;
        assert_ok(bb_personal_model(&local[0], &known, model, work));
        for (size_t j = 0; j < local[1].n; j++) {
            if (local[1].y[j] == 2.0) continue;
            memset(z, 0, sizeof z);
            for (size_t k = 0; k < FEATURES; k++)
                bb_axpy(K, local[1].x[j * FEATURES + k], model + k * K, z);
            right += (z[1] > z[0]) == (local[1].y[j] == 1.0);
            asked++;
        }
        if (unranged)
            assert_true(right > asked * 3 / 4);
        else
            assert_true(right < asked * 3 / 5);
    }
    free(work);
    for (int part = 0; part < 2; part++) {
        bb_local_close(&local[part]);
        population_close(&two[part]);
    }
}

/* However long a column is that was read, the fit is finite. */
static void own_units_of_any_length(void **state) {
    (void)state;
    population p = years(ROWS, 75);
    const double factor[FEATURES - 1] = {1e-300, 1e200};
    const bb_personal_public known = {.constant = true, .unranged = true};
    double model[FEATURES], work[4096];
    p.local[0].own_factor = factor;
    assert_ok(bb_personal_model(&p.local[0], &known, model, work));
    for (size_t k = 0; k < FEATURES; k++) assert_true(isfinite(model[k]));
    assert_true(rows_right(&p, model) > ROWS / 2);
    population_close(&p);
}

/* The same predictions of rows in both units. */
static void own_units_lead_back(void **state) {
    (void)state;
    population p = years(ROWS, 73);
    bb_local *local = &p.local[0];
    const double factor[FEATURES - 1] = {1e-4, 0.1}, w[FEATURES] = {0.7, -1.2, 2.0};
    double work[4096], back[FEATURES];
    assert_true(bb_own_units_work(local) <= 4096);
    assert_false(bb_own_units_fit(local, 0.6, BB_OWN_READ)); /* nobody knows how */
    local->own_factor = factor;
    for (int units = 0; units < BB_OWN_UNITS; units++) {
        bb_in_own_units own;
        assert_true(bb_own_units_fit(local, 0.6, (bb_own_units)units));
        bb_own_units_open(&own, local, 0.6, (bb_own_units)units, NULL, work);
        double squares[FEATURES] = {0};
        for (size_t j = 0; j < ROWS; j++)
            for (size_t k = 0; k < FEATURES; k++)
                squares[k] +=
                    own.local.x[j * FEATURES + k] * own.local.x[j * FEATURES + k];
        if (units == BB_OWN_DEVIATIONS)
            assert_true(fabs(squares[0] - ROWS) < 1e-6 &&
                        fabs(squares[1] - ROWS) < 1e-6);
        else
            assert_relative(squares[1], 100.0 * ROWS * 0.25, 0.7);
        memcpy(back, w, sizeof back);
        bb_own_units_back(&own, back);
        for (size_t j = 0; j < ROWS; j++)
            assert_close(bb_dot(FEATURES, own.local.x + j * FEATURES, w),
                         bb_dot(FEATURES, local->x + j * FEATURES, back), 1e-8);
    }
    population_close(&p);
}

/* Two rows have no deviation to speak of, nor have columns that do not vary. */
static void own_units_need_rows(void **state) {
    (void)state;
    population p = years(ROWS, 74);
    bb_local few = p.local[0];
    bb_in_own_units own;
    double work[4096], w[FEATURES] = {1.0, 1.0, 1.0};
    few.n = 2;
    assert_false(bb_own_units_fit(&few, 0.6, BB_OWN_DEVIATIONS));
    few.n = 3;
    assert_true(bb_own_units_fit(&few, 0.6, BB_OWN_DEVIATIONS));
    assert_false(bb_own_units_fit(&few, 0.0, BB_OWN_DEVIATIONS));
    for (size_t j = 0; j < 3; j++) p.x[j * FEATURES + 1] = 0.3;
    bb_own_units_open(&own, &few, 0.6, BB_OWN_DEVIATIONS, NULL, work);
    for (size_t j = 0; j < 3; j++) assert_true(own.local.x[j * FEATURES + 1] == 0.0);
    bb_own_units_back(&own, w);
    assert_true(w[1] == 0.0 && isfinite(w[2]));
    few.x = NULL;
    assert_false(bb_own_units_fit(&few, 0.6, BB_OWN_DEVIATIONS));
    assert_int_equal(bb_own_units_work(&few), 0);
    population_close(&p);
}

/* With a constant, whose log odds have a deviation of 2 beforehand: one slope for all columns,
 * and a level by which rows have as many events as their doubts say. Returns the slope. */
static double with_doubts(const double *w, double weight, bool one_sided) {
    const double one = 0.6;
    population p = years(12, 91);
    const bb_local *local = &p.local[0];
    double H[FEATURES * FEATURES] = {0}, kept[FEATURES], solved[FEATURES];
    double *work = get(bb_logistic_fits_work(local), sizeof *work);
    double *room = get(bb_personal_temper_two_work(12), sizeof *room), sum = 0.0;
    bb_logistic_fits fits;
    for (size_t j = 0; j < 12; j++)
        p.x[j * FEATURES] = one_sided ? 0.25 * (double)j : sin((double)j);
    bb_logistic_fits_open(&fits, local, work);
    memcpy(kept, w, sizeof kept);
    bb_personal_temper_two(&fits, weight, kept, NULL, room);
    const double slope = kept[0] / w[0];
    assert_relative(kept[1], slope * w[1], 1e-12);
    for (size_t k = 0; k < FEATURES; k++)
        H[k * FEATURES + k] = k + 1 < FEATURES ? weight : 0.25 * one * one;
    for (size_t j = 0; j < 12; j++) {
        const double *x = p.x + j * FEATURES, z = bb_dot(FEATURES, x, w);
        const double bend = 1.0 / (2.0 + exp(z) + exp(-z));
        for (size_t k = 0; k < FEATURES * FEATURES; k++)
            H[k] += bend * x[k / FEATURES] * x[k % FEATURES];
    }
    assert_ok(bb_cholesky(FEATURES, H));
    for (size_t j = 0; j < 12; j++) {
        const double *x = p.x + j * FEATURES;
        memcpy(solved, x, sizeof solved);
        bb_cholesky_solve(FEATURES, H, solved);
        const double doubt = sqrt(1.0 + M_PI / 8.0 * bb_dot(FEATURES, x, solved));
        sum += 1.0 / (1.0 + exp(-bb_dot(FEATURES, x, w) / doubt)) -
               1.0 / (1.0 + exp(-bb_dot(FEATURES, x, kept)));
    }
    assert_close(sum, 0.0, 1e-5);
    free(room);
    free(work);
    population_close(&p);
    return slope;
}

/* Of rows of one class those that are farthest are the least certain: where their doubts grow
 * faster than what is said of them, the best slope would turn ranks around, or be above 1. The
 * level is that beside the slope that is kept. */
static void a_level_of_doubts(void **state) {
    (void)state;
    const double some[FEATURES] = {2.0, -1.0, 4.0},
                 down[FEATURES] = {-0.2, 0.02, -10.0};
    const double up[FEATURES] = {0.5, 0.02, -8.0};
    const double slope = with_doubts(some, 0.3, false);
    assert_true(slope > 0.01 && slope < 1.0);
    assert_relative(with_doubts(down, 0.01, true), 0.01, 1e-9);
    assert_relative(with_doubts(up, 0.01, true), 1.0, 1e-9);
}

/* Where rows left out are foreseen better without doubts a model keeps its word. */
static void doubts_that_rows_refute(void **state) {
    (void)state;
    const double w[FEATURES] = {2.0, -1.0, 4.0};
    population p = years(12, 91);
    const bb_local *local = &p.local[0];
    double *work = get(bb_logistic_fits_work(local), sizeof *work);
    double *room = get(bb_personal_temper_two_work(12), sizeof *room);
    double doubted[FEATURES], kept[FEATURES], left[12];
    bb_logistic_fits fits;
    bb_logistic_fits_open(&fits, local, work);
    memcpy(doubted, w, sizeof doubted);
    bb_personal_temper_two(&fits, 1e-4, doubted, NULL, room);
    assert_true(doubted[0] < 0.9 * w[0]);
    for (int foreseen = 0; foreseen < 2; foreseen++) {
        for (size_t j = 0; j < 12; j++) left[j] = local->y[j] * (foreseen ? 2.0 : -1.0);
        memcpy(kept, w, sizeof kept);
        bb_personal_temper_two(&fits, 1e-4, kept, left, room);
        assert_memory_equal(kept, foreseen ? w : doubted, sizeof kept);
    }
    free(room);
    free(work);
    population_close(&p);
}

int main(void) {
    if (bb_linalg_start()) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_evidence),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(refuses),
        cmocka_unit_test(too_long),
        cmocka_unit_test(classes),
        cmocka_unit_test(leverages),
        cmocka_unit_test(wide_classes),
        cmocka_unit_test(few_rows_are_not_sure),
        cmocka_unit_test(a_level_of_doubts),
        cmocka_unit_test(doubts_that_rows_refute),
        cmocka_unit_test(constant_is_free),
        cmocka_unit_test(squared),
        cmocka_unit_test(rows_are_a_level),
        cmocka_unit_test(two_rows_at_an_end),
        cmocka_unit_test(any_scale),
        cmocka_unit_test(wide_rows),
        cmocka_unit_test(squared_under),
        cmocka_unit_test(classes_under),
        cmocka_unit_test(one_by_vote),
        cmocka_unit_test(votes_are_bounded),
        cmocka_unit_test(votes_are_shrunk),
        cmocka_unit_test(own_units_are_tried),
        cmocka_unit_test(own_units_of_classes),
        cmocka_unit_test(own_units_of_any_length),
        cmocka_unit_test(own_units_lead_back),
        cmocka_unit_test(own_units_need_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
