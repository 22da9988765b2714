/* rounds.h - lists of different rounds for the tests of the accountant pld. */
#ifndef BB_TEST_ROUNDS_H
#define BB_TEST_ROUNDS_H

#include "privacy/accounting/pld.h"
#include "test.h"

#include <math.h>

static inline bb_event round_of(bb_sampling sampling, double q, double mu) {
    return bb_event_round(sampling, q, mu,
                          sampling == BB_SAMPLING_POISSON ? 2.0 * mu : mu, 1.0);
}

/* `count` rounds with mu = top ((t + 1) / count)^power, all different. */
static inline bb_event *power_rounds(size_t count, bb_sampling sampling, double q,
                                     double top, double power) {
    bb_event *event = test_malloc(count * sizeof *event);
    for (size_t t = 0; t < count; t++)
        event[t] =
            round_of(sampling, q, top * pow(((double)t + 1.0) / (double)count, power));
    return event;
}

static inline void epsilon_of(bb_adjacency adjacency, size_t count,
                              const bb_event *event, bb_answer *answer) {
    const bb_account account = {adjacency, count, event};
    assert_ok(bb_pld_epsilon(&account, 1e-6, &answer->upper, &answer->lower));
    assert_true(answer->lower <= answer->upper);
}

#endif
