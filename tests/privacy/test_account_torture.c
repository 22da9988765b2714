/* The accountant without memory: a clean refusal at every allocation. */
#include "privacy/accounting/account.h"
#include "test.h"
#include "torture.h"

static bb_status epsilon(void *context) {
    const bb_event event[] = {bb_event_round(BB_SAMPLING_POISSON, 0.1, 0.5, 1.0, 20.0),
                              bb_event_selection(0.1, 1.0)};
    const bb_account account = {BB_ADD_REMOVE, 2, event};
    return bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, 1e-5, context);
}

static bb_status delta(void *context) {
    const bb_event event =
        bb_event_round(BB_SAMPLING_FIXED_HIDDEN, 0.1, 0.5, 1.0, 20.0);
    const bb_account account = {BB_REPLACE_ONE, 1, &event};
    return bb_account_delta(&account, BB_ACCOUNTANT_PLD, 0.5, context);
}

static bb_status steps(void *context) {
    const bb_event event[] = {bb_event_step(0.1, 1e-9, 5.0),
                              bb_event_step(0.2, 0.0, 2.0)};
    const bb_account account = {BB_REPLACE_ONE, 2, event};
    return bb_account_epsilon(&account, BB_ACCOUNTANT_KOV, 1e-5, context);
}

/* Failures leave the answer alone. */
static void untouched(void *context, bb_status status) {
    bb_answer *answer = context;
    assert_true((answer->upper == -1.0) == (status != BB_OK));
    answer->upper = -1.0;
}

static void without_memory(void **state) {
    (void)state;
    bb_status (*const attempts[])(void *) = {epsilon, delta, steps};
    for (size_t k = 0; k < 3; k++) {
        bb_answer answer = {.upper = -1.0};
        assert_true(torture_memory((bb_torture){.attempt = attempts[k],
                                                .check = untouched,
                                                .context = &answer}) >= 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
