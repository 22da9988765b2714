/* run_statement.h - what a training run promises: its privacy statement, and the warnings
 * that are due before its budget is spent. */
#ifndef BB_TRAIN_RUN_STATEMENT_H
#define BB_TRAIN_RUN_STATEMENT_H

#include "core/run.h"
#include "privacy/statement.h"

/* Who takes part in a round, in words: "all", "poisson, every task with probability 0.1". */
enum { BB_SAMPLING_TEXT = 64 };
void bb_run_sampling(const bb_public *pub, char *text, size_t size);

/* Fills *statement from a finished run: no guarantee for a run without noise, a claim
 * with what is true for noise as published, a second guarantee for single rows where
 * the plan has one. Borrows names from the run, and `ledger`. */
BB_MUST_CHECK bb_status bb_run_statement(const bb_run *run, const bb_result *result,
                                         const char *ledger, bb_statement *statement);

/* Says what anybody should know beforehand: a large delta, few tasks, a seed. Needs no
 * more of the run than its method, mechanism, public things, and seed. */
BB_MUST_CHECK bb_status bb_run_warnings(const bb_run *run,
                                        void (*warn)(void *self, const char *text),
                                        void *self);

#endif
