/* pld.h - epsilon and delta of a composition from its privacy loss distribution, by the
 * Laplace transform of the profile instead of a grid of losses; private to this room
 * (account.h is the way in).
 *
 * With L the loss of the whole and M(s) = E_P[e^(s L); L < infinity] the product of the
 * events' moments, for every c > 0
 *
 *     delta(e) = P(L = infinity) + 1/(2 pi) int e^(-s e) M(s) / (s (s + 1)) d omega,
 *
 * s = c + i omega (the two-sided Laplace transform of (1 - e^(e - L))_+; Alghamdi et
 * al. 2023). The trapezoid rule with step 2 pi / A for this integral gives, by
 * Poisson's summation formula, exactly
 *
 *     sum over all integers k of e^(c k A) delta(e + k A)
 *
 * whose terms are non-negative: it is an *upper bound* of the term k = 0 for every A,
 * and the other terms are easily bounded from above, which gives the lower bound. No
 * grid of losses, no bias of order h^2: rounding, and the end of the sum over
 * frequencies, are all that is left, and both are added explicitly. The end is bounded
 * by the variation of each event's density of the loss (privacy_loss.h). Where too many
 * frequencies would be needed, one more Gaussian round of a small mu makes the sum end,
 *
 *     delta + mu(e) - (1 + mu) mu^2 density + mu(e) <= delta(e) <= delta + mu(e),
 *
 * where "+ mu" is with that round, mu <= 1, and the density is that of the loss
 * (docs/accountant.md); and where that does not help, both bounds come from lists of
 * losses (pld_discrete.h).
 *
 * c near the saddle point of the integrand is what tilting is to an FFT: delta = 1e-20
 * is as accurate as 1e-2. */
#ifndef BB_PRIVACY_PLD_H
#define BB_PRIVACY_PLD_H

#include "privacy/accounting/account.h"

/* As in account.h, events checked; the larger of the two directions. `lower` may be
 * NULL: it is not asked for. */
BB_MUST_CHECK bb_status bb_pld_epsilon(const bb_account *account, double delta,
                                       double *upper, double *lower);
BB_MUST_CHECK bb_status bb_pld_delta(const bb_account *account, double epsilon,
                                     double *upper, double *lower);

/* What the best single c alone says, which is Renyi accounting: log M(c) / c is the RDP
 * at order c + 1, and its conversion (Canonne, Kamath, Steinke 2020, proposition 12)
 * the peak of (1 - e^-L)_+ e^(-c L). epsilon at delta, and the order. */
BB_MUST_CHECK bb_status bb_pld_renyi_epsilon(const bb_account *account, double delta,
                                             double *epsilon, double *order);
BB_MUST_CHECK bb_status bb_pld_renyi_delta(const bb_account *account, double epsilon,
                                           double *delta, double *order);
/* The same at one order > 1; INFINITY where the moment is. */
BB_MUST_CHECK bb_status bb_pld_renyi_at(const bb_account *account, double order,
                                        double delta, double *epsilon);

#endif
