/* binomial.h - exact confidence limits for a probability (Clopper, Pearson 1934). */
#ifndef BB_AUDIT_BINOMIAL_H
#define BB_AUDIT_BINOMIAL_H

#include <stdint.h>

/* k of n independent trials hit. The probability of a hit is below bb_binomial_lower,
 * or above bb_binomial_upper, with probability at most alpha each, whatever it is:
 *     lower = the p with P(Bin(n, p) >= k) = alpha, 0 at k = 0,
 *     upper = the p with P(Bin(n, p) <= k) = alpha, 1 at k = n.
 * 1 <= n <= 2^52, k <= n, 1e-300 <= alpha <= 0.5. Relative error below 2e-11, to the
 * safe side: lower down, upper up. Time of order sqrt(n). */
double bb_binomial_lower(uint64_t k, uint64_t n, double alpha);
double bb_binomial_upper(uint64_t k, uint64_t n, double alpha);

#endif
