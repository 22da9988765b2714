/* resolve.h - what a request means, before any data is read: the run as far as it is
 * known then, and what the texts of options say. */
#ifndef BB_TRAIN_RESOLVE_H
#define BB_TRAIN_RESOLVE_H

#include "core/mechanism.h"
#include "privacy/ledger/ledger.h"
#include "train/options.h"
#include "train/roster.h"

/* What everything after it reads, and nothing changes. */
typedef struct bb_resolved {
    const bb_train_request *request;
    bb_run run; /* its phases, mechanism and seed, and of pub what needs no data: loss,
                   network, batch, intercept, scale_sum, adjacency, sampling, rate,
                   cohort, epsilon, schedule */
    bool
        constant; /* rows get a constant column in place of the models' own intercept */
    bool compare_stl, compare_no_privacy;
    const bb_roster *roster; /* what was agreed on where a place has only its own tasks'
                                rows (place.h); NULL: all rows are here. Borrowed */
} bb_resolved;

/* Linear models of one output, for which there are exact solvers. */
bool bb_resolved_is_solved(const bb_resolved *resolved);

/* Reads the texts, asks core/check.c whether the run makes sense, and refuses what the
 * data cannot be prepared for: BB_EUSAGE with one message. Borrows the request. */
BB_MUST_CHECK bb_status bb_resolve(const bb_train_request *request,
                                   bb_resolved *resolved);

/* Opens the ledger that the request names; *ledger stays NULL without one.
 * Budget, population, kind and order may be left out for a ledger that exists. */
BB_MUST_CHECK bb_status bb_resolve_ledger(const bb_train_options *options, size_t tasks,
                                          bb_adjacency adjacency, bb_ledger **ledger);

#endif
