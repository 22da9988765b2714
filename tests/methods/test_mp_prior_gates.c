/* The thresholds of mp-prior's public half: what is published where nothing can be
 * gained, what stands out of the noise, and which priors are then offered. Each is tried
 * just below and just above. */
#include "core/plan.h"
#include "methods/mp_prior.h"
#include "methods/registry.h"
#include "test.h"

enum { D = 8 };

typedef struct board {
    double centre, mean_kept, directions, reliability;
    double vote[BB_PRIOR_MOST_CANDIDATES], mean[D], variance[D], basis[D * D];
    double work[8 * D * D + 64 * D + 512];
} board;

static bb_prior_draft prior_of(board *b) {
    *b = (board){0};
    return (bb_prior_draft){.d = D,
                            .centre = &b->centre,
                            .mean_kept = &b->mean_kept,
                            .directions = &b->directions,
                            .reliability = &b->reliability,
                            .vote = b->vote,
                            .mean = b->mean,
                            .variance = b->variance,
                            .basis = b->basis};
}

/* Rounds that a run of m tasks plans at this gate. */
static uint32_t planned(double gate, size_t tasks, double mu, bb_adjacency adjacency) {
    char options[256] = {0}, text[32];
    const bb_options table = bb_method_mp_prior.options;
    snprintf(text, sizeof text, "%.17g", gate);
    assert_ok(bb_options_default(table, options));
    assert_ok(bb_options_set(table, options, "mp-prior", "mean-gate", text));
    assert_ok(bb_options_set(table, options, "mp-prior", "vote", "false"));
    const bb_public pub = {.tasks = tasks,
                           .features = D,
                           .adjacency = adjacency,
                           .epsilon = 1.0,
                           .delta = 1e-5,
                           .mu = mu};
    const bb_view view = {
        .method = &bb_method_mp_prior, .options = options, .pub = &pub};
    bb_plan plan = {0};
    assert_ok(bb_method_mp_prior.plan(&view, &plan));
    const uint32_t rounds = plan.rounds;
    bb_plan_free(&plan);
    return rounds;
}

/* The mean is asked for where p * noise * sqrt(2 p) <= gate * m, p = d + 1, noise that
 * of a share of the budget: m is where that turns. */
static size_t least_tasks(double gate, double mu, bb_adjacency adjacency) {
    size_t low = 1, high = 1 << 24;
    assert_int_equal(planned(gate, low, mu, adjacency), 2);
    assert_int_equal(planned(gate, high, mu, adjacency), 3);
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (planned(gate, middle, mu, adjacency) == 3)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void the_mean_is_asked_for_above_a_number_of_tasks(void **state) {
    (void)state;
    const double share = 0.3, p = D + 1.0; /* the share that docs/methods has */
    for (int r = 0; r < 2; r++) {
        const bb_adjacency adjacency = r ? BB_ADD_REMOVE : BB_REPLACE_ONE;
        const double noise = (r ? 1.0 : sqrt(2.0)) / (0.05 * sqrt(share));
        const double bound = p * noise * sqrt(2.0 * p) / 0.8;
        assert_close((double)least_tasks(0.8, 0.05, adjacency), bound, 1.0);
        assert_close((double)least_tasks(0.4, 0.05, adjacency), 2.0 * bound, 2.0);
    }
    assert_int_equal(planned(0.0, 1 << 30, 40.0, BB_REPLACE_ONE), 2); /* never */
}

/* G = I, c = t e_1: with ridge r the mean is t / (1 + r) e_1 and its gain, at noise s,
 * is to be twice its own noise. */
static bool mean_is_kept(double t, double s) {
    board b;
    const bb_prior_draft prior = prior_of(&b);
    double sum[(D + 1) * (D + 1)] = {0};
    for (size_t i = 0; i < D; i++) sum[i * (D + 1) + i] = 1.0;
    sum[D] = sum[D * (D + 1)] = t;
    assert_ok(bb_prior_mean(&prior, sum, s, b.work));
    assert_close(b.mean[0], t / (1.0 + 0.3 * s * sqrt(2.0 * D)), 1e-12);
    return b.mean_kept > 0.0;
}

static void a_mean_is_kept_if_its_gain_is_twice_its_noise(void **state) {
    (void)state;
    const double s = 0.05, r = 0.3 * s * sqrt(2.0 * D);
    double low = 1e-6, high = 10.0;
    assert_false(mean_is_kept(low, s));
    assert_true(mean_is_kept(high, s));
    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (low + high);
        if (mean_is_kept(middle, s))
            high = middle;
        else
            low = middle;
    }
    const double u = high / (1.0 + r), gain = u * (2.0 * high - u);
    assert_relative(gain, 2.0 * s * sqrt(2.0 * u * u + u * u * u * u), 1e-9);
}

static double found(int pattern, double x, double s, double *variance) {
    board b;
    const bb_prior_draft prior = prior_of(&b);
    double sum[D * D] = {0};
    const size_t step = pattern == BB_PRIOR_LOW_RANK ? D + 1 : 1;
    for (size_t j = 0; j < D; j++) sum[j * step] = 3.0; /* the bulk */
    sum[2 * step] += x;
    assert_ok(bb_prior_covariance(&prior, pattern, sum, s, b.work));
    if (variance) *variance = 0.0;
    for (size_t j = 0; j < D && variance; j++)
        *variance = fmax(*variance, b.variance[j]);
    return b.directions;
}

static void a_direction_stands_out_of_the_noise(void **state) {
    (void)state;
    const double s = 0.1, edge = s * sqrt(2.0 * D), single = 2.5 * s;
    double variance;
    assert_true(found(BB_PRIOR_LOW_RANK, 0.9 * edge * (1.0 - 1e-6), s, NULL) == 0.0);
    assert_true(found(BB_PRIOR_LOW_RANK, 0.9 * edge * (1.0 + 1e-6), s, &variance) ==
                1.0);
    assert_true(variance > 1.0);
    assert_true(found(BB_PRIOR_GROUP_SPARSE, 0.9 * single * (1 - 1e-6), s, NULL) ==
                0.0);
    assert_true(found(BB_PRIOR_GROUP_SPARSE, 0.9 * single * (1 + 1e-6), s, NULL) ==
                1.0);
}

static size_t offered(double kept, double directions, double reliability,
                      bool automatic) {
    board b;
    const bb_prior prior = {.mean_kept = &b.mean_kept,
                            .directions = &b.directions,
                            .reliability = &b.reliability};
    bb_prior_candidate candidate[BB_PRIOR_MOST_CANDIDATES];
    b.mean_kept = kept;
    b.directions = directions;
    b.reliability = reliability;
    return bb_prior_candidates(&prior, automatic, candidate);
}

static void candidates_by_reliability(void **state) {
    (void)state;
    assert_int_equal(offered(0, 0, 0.0, true), 1);
    assert_int_equal(offered(1, 0, 0.0, true), 8);
    assert_int_equal(offered(0, 1, 0.5999, true), 1); /* the plain prior only */
    assert_int_equal(offered(0, 1, 0.6001, true), 9); /* and two powers of four */
    assert_int_equal(offered(0, 1, 0.9499, true), 9);
    assert_int_equal(offered(0, 1, 0.9501, true), 11); /* and the strongest */
    assert_int_equal(offered(0, 1, 0.9501, false), 9);
    assert_int_equal(offered(1, 1, 0.5999, true), 9);
    assert_int_equal(offered(1, 1, 0.6001, true), 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_asked_for_above_a_number_of_tasks),
        cmocka_unit_test(a_mean_is_kept_if_its_gain_is_twice_its_noise),
        cmocka_unit_test(a_direction_stands_out_of_the_noise),
        cmocka_unit_test(candidates_by_reliability),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
