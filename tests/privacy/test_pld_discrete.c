/* Lists of losses against closed forms: one below, one above, and close. */
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/pld_discrete.h"
#include "privacy/accounting/profile.h"
#include "test.h"

/* Both lists of one event, in one direction, at epsilon; what has infinite loss is not
 * in them. */
static void bounds_of(const bb_event *event, bb_adjacency adjacency,
                      bb_direction direction, double epsilon, double delta,
                      double fineness, double *upper, double *lower) {
    bb_privacy_loss law;
    bb_discrete_pld atoms = {0};
    double work = 0.0;
    bb_privacy_loss_open(&law, event, adjacency, direction, 1e-9 * delta);
    const bb_discrete_pld_plan plan = {.rounds = event->rounds,
                                       .tilt = -3.0 * log(delta) / epsilon,
                                       .epsilon = epsilon,
                                       .fineness = fineness,
                                       .delta = delta,
                                       .spread = 1.0};
    assert_ok(bb_discrete_pld_room(&atoms));
    bb_pld_factor factor = {0, 0.0, event->rounds};
    const bb_pld_chain chain = {1, &factor};
    assert_ok(bb_discrete_pld_compose(&atoms, BB_ABOVE, &chain, &law, plan, &work));
    assert_true(atoms.count <= BB_DISCRETE_PLD_MOST);
    const double missing = -expm1(event->rounds * log1p(-law.infinite - law.lost));
    *upper = missing + bb_discrete_pld_delta(&atoms, BB_ABOVE, epsilon);
    assert_ok(bb_discrete_pld_compose(&atoms, BB_BELOW, &chain, &law, plan, &work));
    *lower = -expm1(event->rounds * log1p(-law.infinite)) +
             bb_discrete_pld_delta(&atoms, BB_BELOW, epsilon);
    bb_discrete_pld_close(&atoms);
    bb_privacy_loss_close(&law);
}

/* least and most: what the bounds may not pass. */
static void assert_between(const bb_event *event, bb_adjacency adjacency,
                           double epsilon, double least, double truth, double most) {
    double upper, lower;
    bounds_of(event, adjacency, BB_WITH, epsilon, truth, 0.01, &upper, &lower);
    assert_true(upper >= truth * (1.0 - 1e-11) && lower <= truth * (1.0 + 1e-11));
    assert_true(upper <= most && lower >= least);
}

static void assert_around(const bb_event *event, bb_adjacency adjacency, double epsilon,
                          double truth, double gap) {
    assert_between(event, adjacency, epsilon, truth * (1.0 - gap), truth,
                   truth * (1.0 + gap));
}

/* Any number of Gaussian rounds, down to the smallest delta. */
static void gaussian(void **state) {
    (void)state;
    for (double rounds = 1.0; rounds < 3000.0; rounds *= 7.0)
        for (double mu = 0.1; mu < 7.0; mu *= 8.0)
            for (double delta = 1e-2; delta > 1e-60; delta *= delta) {
                const bb_event event = bb_event_gaussian(mu / sqrt(rounds), rounds);
                const double epsilon = bb_gdp_epsilon(mu, delta);
                assert_between(
                    &event, BB_REPLACE_ONE, epsilon, bb_gdp_delta(mu, epsilon * 1.06),
                    bb_gdp_delta(mu, epsilon), bb_gdp_delta(mu, epsilon * 0.94));
            }
}

/* Visible cohorts have a closed form for many rounds, the others for one. */
static void sampled(void **state) {
    (void)state;
    const bb_event event[] = {
        bb_event_round(BB_SAMPLING_FIXED_VISIBLE, 0.1, 0.3, 0.6, 40.0),
        bb_event_round(BB_SAMPLING_FIXED_VISIBLE, 1e-3, 1.0, 2.0, 100.0),
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 0.5, 1.0, 1.0),
        bb_event_round(BB_SAMPLING_POISSON, 1e-3, 1.0, 2.0, 1.0),
        bb_event_round(BB_SAMPLING_POISSON, 0.3, 0.5, 1.0, 1.0)};
    for (size_t k = 0; k < sizeof event / sizeof *event; k++)
        for (int adjacency = BB_REPLACE_ONE; adjacency <= BB_ADD_REMOVE; adjacency++)
            for (double epsilon = 0.01; epsilon < 3.0; epsilon *= 3.0) {
                double upper, lower;
                bb_profile(&event[k], (bb_adjacency)adjacency, epsilon, &upper, &lower);
                if (upper > 1e-200)
                    assert_around(&event[k], (bb_adjacency)adjacency, epsilon,
                                  lower + (upper - lower) / 2.0, 0.03);
            }
}

/* One selection: losses in [-e, e] with density e^(loss / 2) / (4 sinh(e / 2)). */
static void selection(void **state) {
    (void)state;
    for (double e = 1e-4; e < 3.0; e *= 10.0)
        for (double left = 0.8; left > 0.01; left /= 4.0) {
            const bb_event event = bb_event_selection(e, 1.0);
            const double x = e - left * e, s = sinh(left * e / 4.0);
            assert_around(&event, BB_REPLACE_ONE, x,
                          2.0 * exp(x / 2.0) * s * s / sinh(e / 2.0), 0.3);
        }
}

/* Steps: the sum over how many of them went up. */
static void steps(void **state) {
    (void)state;
    const double e = 0.05, bad = 1e-7, rounds = 60.0;
    const bb_event event = bb_event_step(e, bad, rounds);
    for (double x = 0.1; x < 3.0; x *= 1.7) {
        double truth = 0.0;
        for (double k = 0.0; k <= rounds; k++) {
            const double log_p = lgamma(rounds + 1.0) - lgamma(k + 1.0) -
                                 lgamma(rounds - k + 1.0) - k * log1p(exp(-e)) -
                                 (rounds - k) * log1p(exp(e));
            truth += exp(log_p) * fmax(0.0, -expm1(x - (2.0 * k - rounds) * e));
        }
        const double whole = exp(rounds * log1p(-bad));
        assert_around(&event, BB_REPLACE_ONE, x, 1.0 - whole + whole * truth, 0.02);
    }
}

/* The larger direction is the profile. */
static void wishart(void **state) {
    (void)state;
    const double freedom[] = {2.0, 3.0, 60.0};
    for (size_t k = 0; k < 3; k++)
        for (double epsilon = 0.02; epsilon < 1.0; epsilon *= 3.0) {
            const bb_event event = bb_event_wishart(freedom[k], 0.3, 1.0);
            double up, down, upper = 0.0, lower = 0.0, truth, other;
            bb_profile(&event, BB_ADD_REMOVE, epsilon, &truth, &other);
            for (int d = 0; d < 2; d++) {
                bounds_of(&event, BB_ADD_REMOVE, d ? BB_WITHOUT : BB_WITH, epsilon,
                          truth, 0.01, &up, &down);
                upper = fmax(upper, up);
                lower = fmax(lower, down);
            }
            assert_true(upper >= other && lower <= truth);
            assert_relative(upper, truth, 0.01);
            assert_relative(lower, truth, 0.01);
        }
}

/* Of one sampled round, at every real x. */
static double sampled_delta(double q, double mu, double x) {
    if (x <= log1p(-q)) return -expm1(x);
    const double inner = log1p(expm1(x) / q);
    if (inner >= 0.0) return q * bb_gdp_delta(mu, inner);
    return q * (-expm1(inner) + exp(inner) * bb_gdp_delta(mu, -inner));
}

/* Two sampled rounds: the integral over one of the profile of the other. */
static void two_rounds(void **state) {
    (void)state;
    const double rate[] = {1e-5, 1e-3, 0.2}, step = 1.0 / 2048.0;
    for (size_t k = 0; k < 3; k++)
        for (double mu = 0.5; mu < 5.0; mu *= 2.0)
            for (double epsilon = 1e-3; epsilon < 4.0; epsilon *= 6.0) {
                const double q = rate[k];
                const bb_event event =
                    bb_event_round(BB_SAMPLING_POISSON, q, mu, 2.0 * mu, 2.0);
                double truth = 0.0;
                for (double t = -12.0; t < mu + 16.0; t += step) {
                    const double tilted = expm1(mu * t - mu * mu / 2.0);
                    const double density = exp(-t * t / 2.0) / sqrt(2.0 * acos(-1.0));
                    truth += step * density * (1.0 + q * tilted) *
                             sampled_delta(q, mu, epsilon - log1p(q * tilted));
                }
                if (truth < 1e-9) continue;
                double upper, lower;
                bounds_of(&event, BB_ADD_REMOVE, BB_WITH, epsilon, truth, 0.01, &upper,
                          &lower);
                assert_true(upper >= truth * (1.0 - 1e-8));
                assert_true(lower <= truth * (1.0 + 1e-8));
                assert_true(upper <= truth * 1.01 && lower >= truth * 0.99);
            }
}

/* Rounds that hardly ever matter take short lists. */
static void work(void **state) {
    (void)state;
    const bb_event event = bb_event_round(BB_SAMPLING_POISSON, 1e-4, 2.0, 4.0, 100.0);
    bb_privacy_loss law;
    bb_discrete_pld atoms = {0};
    double work = 0.0;
    bb_privacy_loss_open(&law, &event, BB_ADD_REMOVE, BB_WITH, 1e-11);
    const bb_discrete_pld_plan plan = {.rounds = 100.0,
                                       .tilt = 4.0,
                                       .epsilon = 0.004,
                                       .fineness = 0.01,
                                       .delta = 1e-3};
    assert_ok(bb_discrete_pld_room(&atoms));
    assert_true(bb_discrete_pld_of_loss(&atoms, BB_ABOVE, &law, &plan));
    assert_true(atoms.count <= 1000);
    bb_pld_factor factor = {0, 0.0, event.rounds};
    const bb_pld_chain chain = {1, &factor};
    assert_ok(bb_discrete_pld_compose(&atoms, BB_ABOVE, &chain, &law, plan, &work));
    assert_true(atoms.count <= 1000);
    bb_discrete_pld_close(&atoms);
    bb_privacy_loss_close(&law);
}

/* A round so large that its cells are billions, few of them with mass, is not cut into
 * them. */
static void endless(void **state) {
    (void)state;
    const bb_event event = bb_event_gaussian(53029.0, 1.0);
    bb_privacy_loss loss;
    bb_discrete_pld atoms = {0};
    bb_privacy_loss_open(&loss, &event, BB_REPLACE_ONE, BB_WITH, 0.0);
    const bb_discrete_pld_plan plan = {
        .rounds = 100.0, .tilt = 1e-7, .epsilon = 0.07, .fineness = 0.05, .delta = 1.0};
    assert_ok(bb_discrete_pld_room(&atoms));
    assert_false(bb_discrete_pld_of_loss(&atoms, BB_ABOVE, &loss, &plan));
    assert_true(atoms.cells == 0);
    bb_discrete_pld_close(&atoms);
    bb_privacy_loss_close(&loss);
}

/* Above what a double can tell, from above what is largest, and nothing from below. */
static void beyond_doubles(void **state) {
    (void)state;
    double ratio[] = {1.0, 0x1p-600, 0.0}, mass[] = {0.5, 0.3, 0.2};
    const bb_discrete_pld list = {
        .count = 3, .ratio = ratio, .mass = mass, .error = 0.0, .rounds = 1.0};
    const double most = bb_discrete_pld_delta(&list, BB_ABOVE, BB_DISCRETE_PLD_LARGEST);
    assert_true(most >= 0.2);
    for (double epsilon = 700.0; epsilon < 1e300; epsilon *= 1e3) {
        assert_true(bb_discrete_pld_delta(&list, BB_ABOVE, epsilon) >= 0.2);
        assert_true(bb_discrete_pld_delta(&list, BB_BELOW, epsilon) == 0.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian),       cmocka_unit_test(sampled),
        cmocka_unit_test(selection),      cmocka_unit_test(steps),
        cmocka_unit_test(wishart),        cmocka_unit_test(two_rounds),
        cmocka_unit_test(work),           cmocka_unit_test(endless),
        cmocka_unit_test(beyond_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
