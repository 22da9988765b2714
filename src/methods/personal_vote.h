/* personal_vote.h - the tasks' vote on how they fit at home: which of the candidates of
 * personal_squared.h their rows believe in, as one noisy sum. Few rows cannot tell
 * penalties apart; those of hundreds of tasks can. docs/methods/finetune.md */
#ifndef BB_METHODS_PERSONAL_VOTE_H
#define BB_METHODS_PERSONAL_VOTE_H

#include "core/method.h"

/* Whether public sizes say that such a vote of `cells' numbers is heard: all tasks of one
 * mind stand out of its noise. */
bool bb_vote_is_heard(const bb_public *pub, size_t cells);
/* Appends its round to a plan that has one round too many, `at', of no weight: that moves
 * to the end, and has its part of mu^2. */
void bb_vote_plan(bb_plan *plan, uint32_t at);
/* The block that it is. */
bb_layout bb_vote_layout(size_t cells);

/* vote (cells) <- the task's log evidences (-INFINITY: no candidate), those far below the
 * best cut, around their mean, divided by `unit', in the unit ball; 0 for no candidate. */
void bb_vote_show(size_t cells, const double *evidence, double unit, double *vote);
/* odds (cells) <- log odds from the noisy sum of all tasks, shrunk by its noise (James and
 * Stein 1961), at most 0. is (cells): what is a candidate; others have odds 0. */
void bb_vote_take(size_t cells, const bool *is, const double *sum, double noise,
                  size_t tasks, double *odds);

#endif
