/* Moments near 1, of which there may be so many that a rounding error of 1 is seen. */
#include "privacy/accounting/account.h"
#include "privacy/accounting/privacy_loss.h"
#include "test.h"

typedef struct row {
    bb_sampling sampling;
    bb_adjacency adjacency;
    bb_direction direction;
    double rate, absent, back, c, truth;
} row;

/* log M(c) by mpmath with 60 digits, as integrals of both densities of the pair. */
static const row rows[] = {
    {BB_SAMPLING_POISSON, BB_ADD_REMOVE, BB_WITH, 1e-6, 1.0, 1.0, 5.0,
     2.5774506045428336e-11},
    {BB_SAMPLING_POISSON, BB_ADD_REMOVE, BB_WITH, 1e-5, 2.0, 2.0, 0.5,
     2.00141708593751093e-9},
    {BB_SAMPLING_POISSON, BB_ADD_REMOVE, BB_WITHOUT, 1e-6, 1.0, 1.0, 5.0,
     2.57737398758984107e-11},
    {BB_SAMPLING_POISSON, BB_REPLACE_ONE, BB_WITH, 1e-6, 1.0, 1.0, 5.0,
     7.05118463968398506e-11},
    {BB_SAMPLING_POISSON, BB_REPLACE_ONE, BB_WITH, 0.3, 1e-6, 1e-6, 20.0,
     7.55999999999841116e-11},
    {BB_SAMPLING_FIXED_HIDDEN, BB_REPLACE_ONE, BB_WITH, 1e-6, 0.5, 0.5, 5.0,
     4.38685975808585006e-11},
    {BB_SAMPLING_FIXED_HIDDEN, BB_ADD_REMOVE, BB_WITH, 1e-6, 1.0, 0.5, 5.0,
     1.17223070406191141e-10},
    {BB_SAMPLING_FIXED_HIDDEN, BB_ADD_REMOVE, BB_WITHOUT, 1e-6, 1.0, 0.5, 5.0,
     1.17183089780815573e-10},
    {BB_SAMPLING_FIXED_HIDDEN, BB_ADD_REMOVE, BB_WITH, 0.01, 1e-5, 1e-5, 30.0,
     4.65007346250440372e-12},
    /* rare large losses */
    {BB_SAMPLING_POISSON, BB_ADD_REMOVE, BB_WITH, 2e-6, 20.0, 20.0, 0x1p-16,
     5.68076764722866978e-9},
    {BB_SAMPLING_POISSON, BB_ADD_REMOVE, BB_WITHOUT, 2e-6, 20.0, 20.0, 0x1p-16,
     3.05176086426188138e-11},
    {BB_SAMPLING_POISSON, BB_ADD_REMOVE, BB_WITHOUT, 1e-7, 3.0, 3.0, 2.0,
     1.81174703578465346e-10},
    {BB_SAMPLING_POISSON, BB_REPLACE_ONE, BB_WITH, 2e-6, 20.0, 20.0, 0x1p-16,
     5.7112852558712886e-9},
    {BB_SAMPLING_FIXED_HIDDEN, BB_ADD_REMOVE, BB_WITH, 1e-7, 5.0, 5.0, 0x1p-10,
     1.15311598414599572e-9},
    {BB_SAMPLING_FIXED_HIDDEN, BB_REPLACE_ONE, BB_WITH, 1e-6, 5.0, 5.0, 0x1p-8,
     1.52703651916583951e-7},
};

static bb_event event_of(const row *r, double rounds) {
    return bb_event_round(r->sampling, r->rate, r->absent, r->absent + r->back, rounds);
}

static void near_one(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        const bb_event event = event_of(r, 1.0);
        bb_privacy_loss loss;
        double work = 0.0;
        bb_privacy_loss_open(&loss, &event, r->adjacency, r->direction, 0.0);
        assert_relative(bb_privacy_loss_moment(&loss, r->c, &work), r->truth, 1e-10);
        assert_ok(bb_privacy_loss_tilt(&loss, r->c, 100.0));
        assert_true(fabs(loss.log_moment - r->truth) <= loss.error);
        assert_true(loss.error <= 2e-10 * r->truth);
        bb_privacy_loss_close(&loss);
    }
}

/* What is left out of large losses is between nothing and e^(c loss) of its mass for the
 * largest one that counts, and at least e^(c loss) of its mass where it begins. */
static void cut(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        const bb_event event = event_of(r, 1.0);
        bb_privacy_loss loss;
        double work = 0.0;
        bb_privacy_loss_open(&loss, &event, r->adjacency, r->direction,
                             1e-3 * r->truth);
        const double less = r->truth - bb_privacy_loss_moment(&loss, r->c, &work);
        const bb_curve *curve = &loss.curve[0];
        if (loss.lost == 0.0) {
            assert_close(less, 0.0, 1e-11 * r->truth);
            continue;
        }
        const bb_point end = bb_curve_point(curve, 0.0, curve->to);
        const bb_point far = bb_curve_point(curve, 0.0, curve->to + 12.0);
        assert_true(less >= loss.lost * exp(r->c * end.loss) - 1e-11 * r->truth);
        assert_true(less <= loss.lost * exp(r->c * far.loss) + 1e-11 * r->truth);
    }
}

/* So many rounds of a loss of this size are a Gaussian one, nearly. */
static void very_many(void **state) {
    (void)state;
    const bb_event event[] = {
        bb_event_round(BB_SAMPLING_POISSON, 0.01, 1e-4, 2e-4, 0x1p39),
        bb_event_round(BB_SAMPLING_POISSON, 0.01, 1e-4, 2e-4, 0x1p39)};
    const bb_account account = {BB_ADD_REMOVE, 2, event};
    const double gaussian = bb_gdp_epsilon(1e-6 * 0x1p20, 1e-6);
    bb_answer answer;
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_PLD, 1e-6, &answer));
    assert_true(answer.upper - answer.lower <= 1e-8 * answer.upper);
    assert_relative(answer.upper, gaussian, 1e-7);
}

/* Nor do mixtures of different rounds add what only rounds to 1 are wrong by. */
static void many_and_different(void **state) {
    (void)state;
    enum { DIFFERENT = 200 };
    bb_event event[DIFFERENT];
    double squares = 0.0;
    for (size_t k = 0; k < DIFFERENT; k++) {
        const double mu = 1e-6 * (1.0 + (double)k / DIFFERENT);
        event[k] = bb_event_round(BB_SAMPLING_POISSON, 0.1, mu, 2.0 * mu, 0x1p38);
        squares += 0x1p38 * 0.01 * mu * mu;
    }
    const bb_account account = {BB_ADD_REMOVE, DIFFERENT, event};
    bb_answer answer;
    assert_ok(bb_account_epsilon(&account, BB_ACCOUNTANT_PLD, 1e-6, &answer));
    assert_true(answer.upper - answer.lower <= 5e-4 * answer.upper);
    const double gaussian = bb_gdp_epsilon(sqrt(squares), 1e-6);
    assert_true(answer.lower <= gaussian * (1.0 + 1e-6));
    assert_true(answer.upper >= gaussian * (1.0 - 1e-6));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_one),
        cmocka_unit_test(cut),
        cmocka_unit_test(very_many),
        cmocka_unit_test(many_and_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
