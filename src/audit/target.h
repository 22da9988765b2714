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
 *              under add-remove, against zeros. In every second round the two change
 *              places (add-remove: it shows the second). Statistic 1 is the
 *              log-likelihood ratio of the releases, statistic 2 the norm of what is
 *              left of them; 3 compares how near a single number comes to what either
 *              world has without noise, 4 how little the noise changes from round to
 *              round.
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
    const bb_mechanism
        *mechanism; /* NULL: of the kind; a test may bring a broken one */
} bb_audit_spec;

/* BB_EUSAGE if the door does not take such a run. *epsilon gets what is claimed for
 * spec->delta: the Gaussian epsilon of the plan's mu, the selections' sum, or, for
 * Wishart noise, the epsilon that the papers claim. The target borrows spec. */
BB_MUST_CHECK bb_status bb_audit_target_make(bb_audit_target *target, double *epsilon,
                                             const bb_audit_spec *spec);

/* Is there as much noise as the claim needs? A claim rests on noise of a standard
 * deviation that follows from the plan's mu and from how far the pair is apart, for
 * every number and independently in every round. An attack sees missing noise only
 * where it makes an event likely enough; this measures it. */
typedef struct bb_audit_noise {
    size_t block, entry; /* where noise is missing most, from 0 */
    bool change;         /* or in the difference between two rounds */
    double ratio;  /* standard deviation measured there over the one that is due */
    double chance; /* of so little, if all is well; INFINITY: nothing measured */
    bool weak;
} bb_audit_noise;

/* Runs the door some thousand times. weak is wrong with probability `level` at most (the
 * chi^2 distribution, shared by all numbers). Mechanisms that are not Gaussian are not
 * measured. BB_EUSAGE as bb_audit_target_make. */
BB_MUST_CHECK bb_status bb_audit_noise_check(const bb_audit_spec *spec, uint64_t seed,
                                             double level, bb_audit_noise *out);

#endif
