/* profile.h - compositions whose profile delta(epsilon) is known in closed form;
 * private to this room. */
#ifndef BB_PRIVACY_PROFILE_H
#define BB_PRIVACY_PROFILE_H

#include "privacy/accounting/event.h"

#include <stdbool.h>

/* Whether bb_profile knows this event: a Gaussian round any number of times if all
 * tasks take part or the cohort is visible, once under any sampling; Wishart noise once
 * under add-remove; one selection. */
bool bb_profile_knows(const bb_event *event, bb_adjacency adjacency);
/* delta at epsilon >= 0: never below truth, and a lower bound, both within 1e-9; of a
 * visible cohort over very many rounds as close as blocks of the binomial are.
 *
 * All tasks: bb_gdp_delta. Once, with rate q: q delta_mu(log(1 + (e^epsilon - 1) / q)),
 * for Poisson samples under add-remove (Balle, Barthe, Gaboardi 2018, theorem 8; the
 * other direction is smaller for epsilon >= 0, docs/privacy.md) and for hidden ones of
 * fixed size under replace-one (theorem 9 there). Poisson samples under replace-one and
 * hidden ones under add-remove: the pairs of docs/privacy.md. Visible cohorts: given how often a task was
 * picked the rounds are Gaussian, so sum_k P[Bin(T, q) = k] delta_{sqrt k mu}. Wishart:
 * the loss is monotone in the chi^2 of privacy_loss.h; to 1e-9 of the probabilities it is a
 * difference of. */
void bb_profile(const bb_event *event, bb_adjacency adjacency, double epsilon,
                double *upper, double *lower);
/* The other way round: the least epsilon at 0 < delta < 1, from both sides. */
void bb_profile_epsilon(const bb_event *event, bb_adjacency adjacency, double delta,
                        double *upper, double *lower);

#endif
