/* relations.h - public relations of tasks: which others' models pull a task's own.
 *
 * Weights a_kl = a_lk >= 0 make task k's centre w~_k = sum_l a_kl w_l / sum_l a_kl: the
 * penalty lambda/2 sum_k ||w_k - w~_k||^2 is tr(W Omega W') with the fixed Omega =
 * lambda/2 (I - P)'(I - P), P = D^-1 A (Hu, Wu, Smith 2023, eq. 1; the mean is A = 11').
 * P = D^-1/2 U S U' D^1/2 is what a task *shows* (its row of D^1/2 U |S|^1/2, times its
 * model) and, of the sum over tasks, *sees* (its row of D^-1/2 U sign(S) |S|^1/2): one
 * release of `rank` models serves all centres, and what few eigenvalues explain costs
 * little noise. A is public, and so is all of this. */
#ifndef BB_METHODS_RELATIONS_H
#define BB_METHODS_RELATIONS_H

#include "core/method.h"

/* Takes a's m x m weights (destroyed) apart. What is left out: eigenvalues of P below
 * 1e-9 in size. BB_EUSAGE for more than 4,000 tasks, or weights that are negative, not
 * finite or not symmetric; BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_relations_open(bb_relations *relations, size_t tasks,
                                          double *a);
/* Takes a zeroed one, too. */
void bb_relations_close(bb_relations *relations);

/* The largest norm of what a task shows of a model of norm 1, with the first `rank`
 * parts. */
double bb_relations_norm(const bb_relations *relations, size_t rank);

#endif
