/* run_attack.h - an attack on a whole training run of any method, through the real loop
 * and the real door (bb_run_train).
 *
 * The attacker sees the releases and nothing else of the run, but knows everything that
 * the promise lets it know: the method and its options, the data of all tasks that are
 * no canaries, both data sets that each canary may have, and, of methods whose tasks
 * draw noise of their own, that noise (the promise for whole tasks does not rest on it;
 * such runs must be seeded). What a task shows depends on its own data, its own noise
 * and the billboard only (core/method.h), so the attacker replays every task against
 * its own copy of the billboard, canaries with either data set, and clips what they
 * show as the door does.
 *
 * A round's release is then R = sum of what the others show + sum over canaries of
 * (middle_i + s_i D_i / 2) + noise, s_i = +1 or -1, with everything known but the s_i
 * and the noise. The score is the linear estimate of s from all rounds with the least
 * mean square error, for noise of the standard deviation that the door announces:
 *   (I + G / 4)^-1 b / 2,  b_i = sum <D_i, R - E> / sd^2,  G_ij = sum <D_i, D_j> / sd^2
 * with E the expected release for s = 0. Of a selection with scores q(k) in the middle
 * and p_k proportional to exp(epsilon q(k) / 2) (McSherry, Talwar 2007), b_i grows by
 * the derivative of the log-likelihood of the winner, G by its Fisher information. */
#ifndef BB_AUDIT_RUN_ATTACK_H
#define BB_AUDIT_RUN_ATTACK_H

#include "core/run.h"

/* Trains `run` with the data of tasks 0 .. canaries-1 (at least one) chosen by the
 * coins: first[i] ? run->local[i] : other[i]; and fills score (canaries), which is high
 * where the run looks as if the coin had been true, all 0 if the run releases nothing.
 * Uses the run's observer. BB_EUSAGE: as bb_run_train, or a method with own noise is
 * not seeded. Memory: canaries x (numbers in a round's sums + canaries) doubles. */
BB_MUST_CHECK bb_status bb_run_attack(const bb_run *run, size_t canaries,
                                      const bb_local *other, const bool *first,
                                      double *score);

#endif
