/* personal.h - one task's own model around a public centre, averaged over what its own
 * rows believe in: local, and free. Linear models of one output, a constant column in
 * place of an intercept, the squared and the logistic loss, or of classes. */
#ifndef BB_METHODS_PERSONAL_H
#define BB_METHODS_PERSONAL_H

#include "methods/personal_average.h"
#include "methods/personal_squared.h"

/* The model that the task keeps: the average of fits around known->centre, if there is one,
 * and around 0, with penalties from next to none to overwhelming, and with the weight of a
 * last constant column as it is or left nearly free. Each counts by its evidence (with labels
 * by Laplace's approximation of it and, of several classes or many rows of two, by what rows
 * left out say, too: Rad, Maleki 2020) and a belief about penalty and centre. Two classes,
 * and more where there are no ranges, are fitted in units of the task's own, too
 * (personal_units.h). Classes are as sure as rows allow (personal_temper.h). Without rows:
 * the centre, or zero. docs/methods/finetune.md. work: bb_personal_work doubles. BB_ENUMERIC. */
size_t bb_personal_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_personal_model(const bb_local *local,
                                          const bb_personal_public *known,
                                          double *model, double *work);
/* The same around a centre that noisy directions led to (search.h), with these odds of it
 * before rows are looked at, where there are labels: few of them hardly judge. The other
 * has odds 5. With two classes a task of many rows doubts its length, unless tasks have voted
 * (known->odds, by the cells below). */
BB_MUST_CHECK bb_status bb_personal_around(const bb_local *local,
                                           const bb_personal_public *known, double odds,
                                           double *model, double *work);

/* What tasks of classes with a constant vote on (personal_vote.h), by BB_CELLS_ of
 * personal_average.h. */
enum { BB_PERSONAL_LABEL_CELLS = BB_CELLS };
/* is (BB_PERSONAL_LABEL_CELLS) <- which of them tasks may have that know this. */
void bb_personal_label_cells(const bb_personal_public *known, bool *is);
/* evidence (BB_PERSONAL_LABEL_CELLS) <- what a task's rows alone say of each, a logarithm;
 * -INFINITY: no candidate of this task. work: bb_personal_work doubles. BB_ENUMERIC. */
BB_MUST_CHECK bb_status bb_personal_label_evidence(const bb_local *local,
                                                   const bb_personal_public *known,
                                                   double *evidence, double *work);

/* The same around 0, and if known->told is there under a public covariance whose trace is
 * d; known->centre is none. odds count with the squared loss alone. work:
 * bb_personal_under_work doubles. BB_ENUMERIC. */
size_t bb_personal_under_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_personal_under(const bb_local *local,
                                          const bb_personal_public *known,
                                          double *model, double *work);

#endif
