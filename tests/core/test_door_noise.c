/* The door's noise: how much for each form and adjacency, and its shape. The bounds
 * are 6.5 standard errors: each has a false alarm below 1e-10, all of them below 1e-8,
 * and the seeds are fixed. */
#include "opened_door.h"

static const double errors = 6.5;

static double multiplier(bb_form form, bb_adjacency adjacency) {
    if (adjacency == BB_ADD_REMOVE) return 1.0;
    return form == BB_FORM_VECTOR || form == BB_FORM_SLOT ? 2.0 : sqrt(2.0);
}

/* -- how much
 * ------------------------------------------------------------------------------ */

static void check_multiplier(bb_form form, bb_adjacency adjacency, double mu,
                             double share) {
    const double clip = 3.0;
    const bool product = form == BB_FORM_SQUARE || form == BB_FORM_OUTER;
    const double unit = product ? clip * clip : clip;
    const bb_layout layout = {1, {{"block", form, 2, clip, share}}};
    const double z = multiplier(form, adjacency) / (mu * sqrt(share));
    bb_release release;
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 50, 1, &layout, mu, 0.0);
    d.run.pub.adjacency = adjacency;
    door_open(&d);
    assert_ok(door_ask(&d, &layout));
    assert_ok(door_publish(&d, &release));
    assert_relative(d.door.least_noise, z, 1e-8);
    assert_true(d.door.least_noise >= z); /* never less than paid for */
    assert_relative(release.noise[0], z * unit, 1e-8);
    door_close(&d);
}

static void test_multipliers(void **state) {
    (void)state;
    const bb_form forms[] = {BB_FORM_VECTOR, BB_FORM_SLOT, BB_FORM_SQUARE, BB_FORM_PSD,
                             BB_FORM_OUTER};
    for (size_t f = 0; f < 5; f++)
        for (int a = BB_REPLACE_ONE; a <= BB_ADD_REMOVE; a++) {
            check_multiplier(forms[f], (bb_adjacency)a, 0.25, 1.0);
            check_multiplier(forms[f], (bb_adjacency)a, 0.01, 0.3);
            check_multiplier(forms[f], (bb_adjacency)a, 40.0, 0.5);
        }
}

/* The smallest multiplier of all rounds and blocks is kept. */
static void test_least_of_rounds(void **state) {
    (void)state;
    const bb_layout layout = {
        2, {{"a", BB_FORM_VECTOR, 1, 1.0, 0.2}, {"b", BB_FORM_VECTOR, 1, 1.0, 0.8}}};
    bb_release release;
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 50, 3, &layout, 0.5, 0.0);
    d.plan.mu[1] = 0.7;
    door_open(&d);
    for (int t = 0; t < 3; t++) {
        assert_ok(door_ask(&d, &layout));
        assert_ok(door_publish(&d, &release));
    }
    assert_relative(d.door.least_noise, 2.0 / (0.7 * sqrt(0.8)), 1e-9);
    door_close(&d);
}

/* -- its shape
 * ------------------------------------------------------------------------------ */

static void check_flat(bb_form form) {
    enum { N = 20000 };
    const bb_layout layout = door_layout(form, form == BB_FORM_SLOT ? N / 2 : N, 2.0);
    double mean = 0.0, square = 0.0, neighbours = 0.0;
    bb_release release;
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 2, 1, &layout, 0.4, 0.0);
    door_open(&d);
    assert_ok(door_ask(&d, &layout));
    assert_ok(door_publish(&d, &release));
    for (size_t k = 0; k < N; k++) {
        const double v = release.value[0][k] / release.noise[0];
        mean += v / N;
        square += v * v / N;
        if (k) neighbours += v * release.value[0][k - 1] / release.noise[0] / N;
    }
    assert_close(mean, 0.0, errors / sqrt(N));
    assert_close(square, 1.0, errors * sqrt(2.0 / N));
    assert_close(neighbours, 0.0, errors / sqrt(N));
    door_close(&d);
}

static void test_flat_noise(void **state) {
    (void)state;
    check_flat(BB_FORM_VECTOR);
    check_flat(BB_FORM_SLOT);
    check_flat(BB_FORM_SQUARE);
}

/* Symmetric matrices: in the orthonormal basis (diagonal, sqrt 2 times off-diagonal)
 * the noise is spherical with the stated standard deviation. */
static void check_symmetric(bb_form form) {
    enum { R = 4000, D = 3, B = 6 };
    const bb_layout layout = door_layout(form, D, 2.0);
    double covariance[B][B] = {{0.0}};
    bb_release release;
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 2, R, &layout, 0.4, 0.0);
    door_open(&d);
    for (int t = 0; t < R; t++) {
        double v[B];
        size_t at = 0;
        assert_ok(door_ask(&d, &layout));
        assert_ok(door_publish(&d, &release));
        const double *S = release.value[0];
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j <= i; j++) {
                assert_true(S[i * D + j] == S[j * D + i]);
                v[at++] = S[i * D + j] * (i == j ? 1.0 : sqrt(2.0)) / release.noise[0];
            }
        for (size_t a = 0; a < B; a++)
            for (size_t b = 0; b < B; b++) covariance[a][b] += v[a] * v[b] / R;
    }
    for (size_t a = 0; a < B; a++)
        for (size_t b = 0; b < B; b++)
            assert_close(covariance[a][b], a == b ? 1.0 : 0.0,
                         errors * sqrt((a == b ? 2.0 : 1.0) / R));
    door_close(&d);
}

static void test_symmetric_noise(void **state) {
    (void)state;
    check_symmetric(BB_FORM_OUTER);
    check_symmetric(BB_FORM_PSD);
}

/* -- its independence
 * ----------------------------------------------------------------------- */

static double first_value(door *d, const bb_layout *layout, size_t block) {
    bb_release release;
    assert_ok(door_ask(d, layout));
    assert_ok(door_publish(d, &release));
    return release.value[block][0];
}

static void test_fresh_noise(void **state) {
    (void)state;
    const bb_layout layout = {
        2, {{"a", BB_FORM_VECTOR, 1, 1.0, 0.5}, {"b", BB_FORM_VECTOR, 1, 1.0, 0.5}}};
    double value[2][3];
    for (int seeded = 0; seeded < 2; seeded++) {
        for (int again = 0; again < 2; again++) {
            door d;
            door_prepare(&d, &bb_mechanism_gaussian, 5, 2, &layout, 0.5, 0.0);
            d.run.seeded = seeded != 0;
            door_open(&d);
            value[again][0] = first_value(&d, &layout, 0);
            value[again][1] = first_value(&d, &layout, 0);
            door_close(&d);
            assert_true(value[again][0] != value[again][1]); /* rounds differ */
        }
        /* the same seed gives the same noise, the secure generator never does */
        assert_int_equal(value[0][0] == value[1][0], seeded);
        assert_int_equal(value[0][1] == value[1][1], seeded);
    }
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 5, 2, &layout, 0.5, 0.0);
    door_open(&d);
    value[0][2] = first_value(&d, &layout, 1);
    assert_true(value[0][2] != value[1][0]); /* blocks differ */
    door_close(&d);
}

/* -- Wishart noise, as published
 * ------------------------------------------------------------ */

/* E ~ W_d(d + 1, K^2 / (2 epsilon) I): mean (d + 1) s I with s = K^2 / (2 epsilon),
 * standard deviations s sqrt(2 (d + 1)) on the diagonal, s sqrt(d + 1) off it; it
 * dominates 0. */
static void check_wishart(bb_form form) {
    enum { R = 3000, D = 3 };
    const double clip = 2.0, epsilon = 0.5, s = clip * clip / (2.0 * epsilon);
    const bb_layout layout = door_layout(form, D, clip);
    double diagonal = 0.0, off = 0.0, square = 0.0;
    bb_release release;
    door d;
    door_prepare(&d, &bb_mechanism_wishart_published, 2, R, &layout, 0.0, epsilon);
    door_open(&d);
    for (int t = 0; t < R; t++) {
        assert_ok(door_ask(&d, &layout));
        assert_ok(door_publish(&d, &release));
        assert_true(release.psd_noise);
        assert_relative(release.noise[0], s * sqrt(2.0 * (D + 1)), 1e-12);
        const double *S = release.value[0], x = S[0] / s - (D + 1);
        assert_true(S[0] > 0.0);
        diagonal += x / R;
        square += x * x / R;
        if (form == BB_FORM_SQUARE) continue;
        assert_true(S[1] == S[D] && S[0] * S[D + 1] > S[1] * S[1]);
        off += S[1] / s / R;
    }
    assert_close(diagonal, 0.0, errors * sqrt(2.0 * (D + 1) / R));
    assert_close(off, 0.0, errors * sqrt((D + 1.0) / R));
    /* chi-square k = d + 1: fourth central moment 12 k^2 + 48 k, so variance of the
     * square 8 k^2 + 48 k */
    assert_close(square, 2.0 * (D + 1),
                 errors * sqrt((8.0 * (D + 1) * (D + 1) + 48.0 * (D + 1)) / R));
    door_close(&d);
}

static void test_wishart(void **state) {
    (void)state;
    check_wishart(BB_FORM_OUTER);
    check_wishart(BB_FORM_SQUARE);
}

/* -- the errors of rounding are paid for */

/* Rounding a positive semi-definite matrix may move it by 2 steps a row out of the cone
 * that its sensitivity assumes; on a coarse grid that is much. */
static void test_psd_rounding(void **state) {
    (void)state;
    enum { LENGTH = 600 };
    const bb_layout layout = door_layout(BB_FORM_PSD, LENGTH, 1.0);
    const double mu = 3e-9;
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 50, 1, &layout, mu, 0.0);
    door_open(&d);
    assert_ok(door_ask(&d, &layout));
    const double unit = ldexp(1.0, d.door.ask.bits[0]);
    assert_true(2.0 * LENGTH > 1e-6 * unit); /* the grid is coarse enough to tell */
    assert_true(d.door.std[0] * mu >= (sqrt(2.0) * unit + 2.0 * LENGTH) * (1 - 1e-12));
    door_close(&d);
}

/* Radial noise: a task moves by two clips, and each of its rows may bring an error of
 * 2^-24 clip, and 2 sqrt(n) steps of rounding; all of it fits under pure * scale. */
static void test_radial_errors(void **state) {
    (void)state;
    enum { LENGTH = 50, ROWS = 40000 };
    const bb_layout layout = door_layout(BB_FORM_VECTOR, LENGTH, 1.0);
    const double pure = 0.7;
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 50, 1, &layout, 0.0, pure);
    d.plan.lifted_rows = ROWS;
    door_open(&d);
    assert_ok(door_ask(&d, &layout));
    const double unit = ldexp(1.0, d.door.ask.bits[0]);
    const double rounding = ROWS * 2.0 * sqrt(LENGTH), inexact = ROWS * 0x1p-24 * unit;
    assert_true(inexact > 1e-6 * unit && rounding > 1e-6 * unit);
    assert_true(pure * d.door.scale >=
                (2.0 * unit + rounding + inexact) * (1.0 - 1e-12));
    door_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multipliers),   cmocka_unit_test(test_least_of_rounds),
        cmocka_unit_test(test_flat_noise),    cmocka_unit_test(test_symmetric_noise),
        cmocka_unit_test(test_fresh_noise),   cmocka_unit_test(test_psd_rounding),
        cmocka_unit_test(test_radial_errors), cmocka_unit_test(test_wishart),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
