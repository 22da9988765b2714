/* selections.h - the price of many equal selections, each chosen after looking at the
 * outputs of those before it; private to this room. */
#ifndef BB_PRIVACY_SELECTIONS_H
#define BB_PRIVACY_SELECTIONS_H

#include "privacy/accounting/account.h"

#include <stdbool.h>

/* Whether the account is from 2 to 100 selections of one epsilon, and nothing else. */
bool bb_selections_know(const bb_account *account);
/* As in account.h, epsilon > 0 and 0 < delta < 1. Both bounds are of the best that
 * mechanisms of bounded range can do when each may depend on the outputs before it (Dong,
 * Durfee, Rogers 2020, adaptive composition), within some 10^-3 of epsilon. BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_selections_epsilon(const bb_event *event, double delta,
                                              double *upper, double *lower);
BB_MUST_CHECK bb_status bb_selections_delta(const bb_event *event, double epsilon,
                                            double *upper, double *lower);

#endif
