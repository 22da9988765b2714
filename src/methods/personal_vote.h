/* personal_vote.h - the tasks' vote on how they fit at home: which of the candidates of
 * personal_squared.h their rows believe in, as one noisy sum. Few rows cannot tell
 * penalties apart; those of hundreds of tasks can. docs/methods/finetune.md */
#ifndef BB_METHODS_PERSONAL_VOTE_H
#define BB_METHODS_PERSONAL_VOTE_H

#include "core/method.h"
#include "methods/personal_squared.h"

extern const double bb_vote_share; /* what it has of mu^2 */
/* Around a centre, where it is worth more. */
extern const double bb_vote_around_share;
/* What a sum counts for at most, in log odds: so many tasks' whole votes, and so many of the
 * noise's deviations. */
typedef struct bb_vote_trust {
    double tasks, noise;
} bb_vote_trust;
extern const bb_vote_trust bb_vote_usual, bb_vote_around;
/* Whether public sizes say that a vote of `cells' numbers with the Gaussian budget mu is
 * heard: all tasks of one mind stand out of its noise. */
bool bb_vote_is_heard(const bb_public *pub, double mu, size_t cells);
/* Appends its round to a plan that has one round too many, `at', of no weight: that moves
 * to the end, and has this share of mu^2. */
void bb_vote_plan(bb_plan *plan, uint32_t at, double share);
/* The block that it is. */
bb_layout bb_vote_layout(size_t cells);

/* vote (cells) <- the task's log evidences (-INFINITY: no candidate), those far below the
 * best cut, around their mean, divided by `unit', in the unit ball; 0 for no candidate. */
void bb_vote_show(size_t cells, const double *evidence, double unit, double *vote);
/* odds (cells) <- log odds from the noisy sum of all tasks, shrunk by its noise (James and
 * Stein 1961), at most 0. is (cells): what is a candidate; others have odds 0. */
void bb_vote_take(size_t cells, const bool *is, const double *sum, double noise,
                  bb_vote_trust trust, size_t tasks, double *odds);

/* Both for the fits at home. vote (BB_PERSONAL_CELLS, zeroed): stays 0 without rows, and
 * where fits fail. work: bb_personal_squared_work doubles. */
void bb_vote_show_fits(const bb_local *local, const bb_personal_public *known,
                       double *vote, double *work);
void bb_vote_take_fits(const bb_public *pub, const bb_personal_public *known,
                       const bb_release *release, bb_vote_trust trust, double *odds);

#endif
