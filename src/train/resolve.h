/* resolve.h - what a request means: the rules of privacy and the combinations of options
 * that make sense, checked before any data is read. */
#ifndef BB_TRAIN_RESOLVE_H
#define BB_TRAIN_RESOLVE_H

#include "core/mechanism.h"
#include "privacy/ledger/ledger.h"
#include "train/options.h"

typedef struct bb_resolved {
    const bb_mechanism *mechanism;
    bool noisy; /* the mechanism adds noise: epsilon is given */
    bool seeded;
    uint64_t seed;
    bool compare_stl, compare_no_privacy;
    bb_loss loss;
    bb_adjacency adjacency;
    bb_sampling sampling;
    double rate;   /* poisson */
    size_t cohort; /* fixed */
    bool
        constant; /* rows get a constant column in place of the models' own intercept */
} bb_resolved;

/* BB_EUSAGE with one message: a private method without epsilon, epsilon for one that is
 * not, a mechanism that the method does not have, wishart-published without
 * --allow-broken-privacy, an unknown name in --compare, a ledger for a run that has no
 * price, a seed that is no number. */
BB_MUST_CHECK bb_status bb_resolve(const bb_train_request *request,
                                   bb_resolved *resolved);

/* Creates or joins the ledger that the request names; *ledger stays NULL without one.
 * Budget, population, kind and order may be left out for a ledger that exists. */
BB_MUST_CHECK bb_status bb_resolve_ledger(const bb_train_options *options, size_t tasks,
                                          bb_adjacency adjacency, bb_ledger **ledger);

#endif
