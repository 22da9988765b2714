/* target.h - what `billboard audit --mechanism` attacks: the real door, with the worst
 * pair of contributions that a form and an adjacency allow. */
#ifndef BB_AUDIT_TARGET_H
#define BB_AUDIT_TARGET_H

#include "audit/attack.h"

typedef enum bb_audit_kind {
    BB_AUDIT_GAUSSIAN,
    BB_AUDIT_SELECTION,
    BB_AUDIT_WISHART_PUBLISHED
} bb_audit_kind;

/* The plan is the one that a run with this budget would get: every task takes part in
 * every round, and the blocks of a round share its budget equally. The adversary knows
 * what all other tasks show and the noise's distribution.
 *   gaussian   the changed task shows C u against -C u (vector, slot), K u against K v
 *              with u and v orthogonal (square, outer), C u u' against C v v' (psd);
 * under add-remove, against zeros. Statistic 1 is the log-likelihood ratio of the
 *              releases, statistic 2 the norm of what is left of them.
 *   selection  two candidates, the first one vote ahead; the changed task votes for the
 *              first or for the second (add-remove: for the second or not at all).
 *              Statistic 1 is how often the second one won.
 *   wishart-published  the changed task shows w, ||w|| = K, against zeros, a pair in
 *              either adjacency. Statistic 1 is the smallest 1 / (w' R^-1 w), R what is
 *              left of a release without the other tasks, K^2 at least if w is in it
 *              (square: R's entry). Statistic 2 is the trace. */
typedef struct bb_audit_spec {
    bb_audit_kind kind;
    bb_form form; /* selection: ignored; wishart-published: outer or square */
    bb_adjacency adjacency;
    size_t blocks; /* in a round, 1 .. BB_MOST_BLOCKS; selection: 1 */
    size_t length; /* of a block, at least 2; selection: ignored */
    uint32_t rounds;
    double epsilon, delta; /* budget of the plan */
} bb_audit_spec;

/* BB_EUSAGE if the door does not take such a run. *epsilon gets what is claimed for
 * spec->delta: the Gaussian epsilon of the plan's mu, the selections' sum, or, for
 * Wishart noise, the epsilon that the papers claim. The target borrows spec. */
BB_MUST_CHECK bb_status bb_audit_target_make(bb_audit_target *target, double *epsilon,
                                             const bb_audit_spec *spec);

#endif
