/* schedule.h - how a budget is spread over rounds: weights a_t, t = 1..T, of
 * section 4.5 of Liang et al. (2020): `uniform` 1, `power:A` t^A, `geometric:Q` Q^-t.
 */
#ifndef BB_PRIVACY_SCHEDULE_H
#define BB_PRIVACY_SCHEDULE_H

#include "base/status.h"

#include <stddef.h>

/* Fills weight[0..rounds-1], scaled so that the largest is 1; Q < 1 and A > 0 give
 * later rounds more, as the paper advises. BB_EUSAGE for an unknown schedule, a
 * parameter out of range (Q > 0), no rounds, or weights further apart than 1e30;
 * nothing is written then. */
BB_MUST_CHECK bb_status bb_schedule(const char *text, size_t rounds, double *weight);

#endif
