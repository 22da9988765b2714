/* best_of.h - what the best of a random number of runs costs.
 *
 * K runs are made, K drawn from the Poisson law of this mean and told to nobody, and only
 * one of them is published, whichever is best by what the run itself makes public. If
 * every run is mu-GDP, the whole is Renyi private (Papernot and Steinke 2022, theorem 6):
 *
 *     eps'(a) = a mu^2 / 2 + mean * d + log(mean) / (a - 1)
 *
 * for every order a > 1 and d = delta(e; mu) (Balle, Wang 2018) with e^e <= 1 + 1/(a - 1).
 * Nothing here depends on data; results are rounded to the safe side. */
#ifndef BB_PRIVACY_BEST_OF_H
#define BB_PRIVACY_BEST_OF_H

/* epsilon at delta of the best of K runs, each mu-GDP. mean >= 1, mu >= 0, 0 < delta < 1. */
double bb_best_of_epsilon(double mean, double mu, double delta);
/* The largest mu with bb_best_of_epsilon(...) <= epsilon; 0: there is none. */
double bb_best_of_mu(double mean, double epsilon, double delta);
/* The Renyi divergence of the whole at one order, for a ledger that counts in it. */
double bb_best_of_rdp(double mean, double mu, double order);

#endif
