/* Membership attacks: their figures, that their bounds hold, and whole runs. False
 * alarms: each statistical test fails with probability below 1e-9 over the choice of
 * its seed, or as it says. */
#include "attacked.h"
#include "audit/canary.h"
#include "audit/membership.h"

/* -- the curve
 * -------------------------------------------------------------------------------- */

static void test_curve(void **state) {
    static const double score[] = {9, 8, 8, 7, 6, 5, 4, 4, 3, 2};
    static const bool first[] = {1, 1, 0, 1, 0, 1, 0, 1, 0, 0};
    bb_membership m;
    (void)state;
    assert_ok(bb_membership_judge(10, score, first, 0.0, 0.95, &m));
    /* of 25 pairs 5 + 4.5 + 4 + 3 + 2.5 are in order */
    assert_close(m.auc, 19.0 / 25.0, 1e-15);
    assert_close(m.found[0], 0.2, 1e-15); /* 9 is above every other */
    assert_close(m.found[2], 0.2, 1e-15);
    assert_true(m.epsilon == 0.0); /* five runs prove nothing */
    const double flat[4] = {1, 1, 1, 1};
    assert_ok(bb_membership_judge(4, flat, first, 0.0, 0.95, &m));
    assert_close(m.auc, 0.5, 1e-15);
    assert_true(m.found[2] == 0.0);
}

/* The limit against the area under the curve, by the trapezoid rule. */
static void test_auc_limit(void **state) {
    static const double epsilon[] = {0.0, 0.1, 1.0, 5.0}, delta[] = {0.0, 1e-5, 0.3};
    enum { STEPS = 200000 };
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            const double e = exp(epsilon[i]), d = delta[k];
            double area = 0.0;
            for (int s = 0; s < STEPS; s++) {
                const double x = (s + 0.5) / STEPS;
                area += fmin(1.0, fmin(d + e * x, 1.0 - fmax(0.0, 1.0 - d - x) / e));
            }
            assert_close(bb_membership_auc_limit(epsilon[i], d), area / STEPS, 1e-6);
        }
    assert_close(bb_membership_auc_limit(INFINITY, 0.0), 1.0, 1e-15);
}

/* -- bounds hold: the coin by randomised response of known epsilon
 * ------------------------------------------------------------------------------- */

/* How many of REPEATS bounds at `delta` are above the truth; *mean gets their mean.
 * With probability `leak` a run shows its coin for all to see. */
enum { REPEATS = 500, RUNS = 400 };

static size_t respond(double epsilon, double leak, double delta, double confidence,
                      double *mean) {
    const double q = 1.0 / (1.0 + exp(-epsilon));
    double score[RUNS];
    bool first[RUNS];
    size_t wrong = 0;
    bb_random random;
    *mean = 0.0;
    assert_ok(bb_random_open_stream(&random, 5, BB_FOR_TEST, 0, 0));
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        bb_membership m;
        for (size_t k = 0; k < RUNS; k++) {
            first[k] = bb_random_bits(&random) & 1;
            const bool leaks = bb_random_uniform(&random) < leak;
            const bool right = leaks || bb_random_uniform(&random) < q;
            /* how sure other answers look says nothing, but invites choosing */
            score[k] = (first[k] == right ? 1.0 : -1.0) *
                       (leaks ? 1.0 : bb_random_uniform(&random));
        }
        assert_ok(bb_membership_judge(RUNS, score, first, delta, confidence, &m));
        wrong += m.epsilon > epsilon;
        *mean += m.epsilon / REPEATS;
    }
    bb_random_close(&random);
    return wrong;
}

/* P(Bin(500, 0.05) >= 61) and P(Bin(500, 0.4) >= 271) are below 1e-9. A threshold
 * chosen on the runs that judge it would be wrong 300 times with confidence 0.6. */
static void test_bounds_hold(void **state) {
    double mean;
    (void)state;
    assert_true(respond(0.0, 0.0, 0.0, 0.95, &mean) < 61);
    assert_true(respond(0.0, 0.0, 0.0, 0.6, &mean) < 271);
    assert_true(respond(1.0, 0.0, 0.0, 0.6, &mean) < 271);
    assert_true(respond(1.0, 0.0, 0.0, 0.95, &mean) < 61);
    assert_true(mean > 0.15 && mean < 1.0);
    assert_true(respond(0.0, 0.2, 0.2, 0.95, &mean) < 61);
    assert_true(respond(0.0, 0.2, 0.0, 0.95, &mean) >= 61); /* delta counts */
}

/* -- whole runs
 * ------------------------------------------------------------------------------- */

static attacked *open_one(const char *method, const bb_mechanism *mechanism,
                          double epsilon) {
    const bb_audit_world_options world = {
        .tasks = 8, .canaries = 1, .rows = 6, .features = 4, .seed = 1};
    attacked *a = attacked_open(bb_method_find(method), mechanism, epsilon, world);
    if (strcmp(method, "mp-lowrank") == 0) attacked_set(a, "clip", "0.99");
    return a;
}

static bb_membership attack(attacked *a, size_t runs, double confidence) {
    bb_membership m;
    attacked_often(a, runs, 1000);
    assert_ok(bb_membership_judge(runs, a->score, a->first, 1e-5, confidence, &m));
    return m;
}

/* Without noise the target is always found, by a replay of the very run: what it says of
 * the coin is then certain, also where methods act by how many rounds there are. */
static void test_no_noise(void **state) {
    static const char *const method[] = {"mp-lowrank", "mp-prior", "mtl-l21"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        attacked *a = open_one(method[k], &bb_mechanism_none, INFINITY);
        a->run.phase[0].rounds = k == 1 ? 0 : 3;
        const bb_membership m = attack(a, 100, 0.95);
        assert_true(m.auc == 1.0 && m.found[0] == 1.0);
        assert_true(m.epsilon > 1.5);
        for (size_t i = 0; i < 100; i++)
            assert_close(a->score[i], a->first[i] ? 1.0 : -1.0, 1e-3);
        attacked_close(a);
    }
}

/* The best attack on mu-GDP has the area Phi(mu / sqrt 2) (Dong, Roth, Su 2019), and
 * the target moves what it shows by nearly the whole sensitivity: what is replayed over
 * many rounds must find nearly all of it, and not more. Of n runs of either kind the
 * area's standard deviation is at most 0.5 / sqrt(n): 0.11 is 6.6 of them. */
static void test_nearly_optimal(void **state) {
    static const char *const method[] = {"mp-lowrank", "mp-prior"};
    const double mu = bb_gdp_mu(6.0, 1e-5);
    const double best = exp(bb_log_normal_cdf(mu / sqrt(2.0)));
    (void)state;
    for (int k = 0; k < 2; k++) {
        attacked *a = open_one(method[k], &bb_mechanism_gaussian, 6.0);
        const bb_membership m = attack(a, 2000, 0.95);
        assert_true(m.auc > best - 0.11 && m.auc < best + 0.11);
        assert_true(m.auc < bb_membership_auc_limit(6.0, 1e-5));
        attacked_close(a);
    }
}

/* A run that spends ten times the claim is found; an honest one is not, with confidence
 * 1 - 1e-10, so the false-alarm rate is 1e-10. */
static void test_wrong_claim(void **state) {
    const double claim = 1.0, confidence = 1.0 - 1e-10;
    (void)state;
    attacked *a = open_one("mp-lowrank", &bb_mechanism_gaussian, claim);
    a->run.phase[0].rounds = 2;
    const bb_membership honest = attack(a, 2000, confidence);
    assert_true(honest.epsilon <= claim);
    /* Hoeffding (1963) for 900 runs of either kind, at 1e-10: 0.113 */
    assert_true(honest.auc <= bb_membership_auc_limit(claim, 1e-5) + 0.113);
    a->run.pub.epsilon = 10.0 * claim;
    const bb_membership wrong = attack(a, 2000, confidence);
    assert_true(wrong.epsilon > claim);
    assert_true(wrong.auc > bb_membership_auc_limit(claim, 1e-5) + 0.113);
    attacked_close(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve),          cmocka_unit_test(test_auc_limit),
        cmocka_unit_test(test_bounds_hold),    cmocka_unit_test(test_no_noise),
        cmocka_unit_test(test_nearly_optimal), cmocka_unit_test(test_wrong_claim),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
