/* hope.h - what can be hoped for, from public sizes and the budget alone: whether what
 * tasks have in common can stand out of the noise. mp-mixed publishes by it, advise and
 * train speak by it. */
#ifndef BB_METHODS_HOPE_H
#define BB_METHODS_HOPE_H

#include "core/method.h"

/* m mu / (r sqrt p): how far a direction that all m tasks share stands out of the noise
 * of one round of unit vectors of p numbers that spends all of mu, with r the sensitivity
 * of such a sum; with two doors, whose noises add up, less by sqrt 2. Reads tasks, features
 * (the constant among them), adjacency and doors of pub. */
double bb_hope_reach(const bb_public *pub, double mu);

typedef struct bb_hope {
    bb_loss loss;
    double features;       /* p */
    double rows;           /* of a task, about; NAN: not known */
    double reach;          /* bb_hope_reach of the whole budget */
    double least;          /* below it nothing is to be gained */
    double tasks, epsilon; /* at which, all else equal, the reach is that; epsilon
                               INFINITY: never */
    bool alone_is_enough;  /* rows are known, and p / rows is below .01 */
} bb_hope;

/* Whether anything can be seen at all (squared loss): where not, mp-mixed publishes
 * nothing. */
bool bb_hope_is_open(const bb_public *pub, double mu);
/* Squared loss (mp-mixed) or logistic (mp-centre). Reads epsilon and delta of pub beside
 * what the reach needs. Privacy cost: none, but for rows, which only who holds the data
 * knows. */
bb_hope bb_hope_of(const bb_public *pub, double rows);

/* What that means, in words: at most BB_HOPE_TEXT bytes with the final zero. */
enum { BB_HOPE_TEXT = 512 };
void bb_hope_say(const bb_hope *hope, char text[BB_HOPE_TEXT]);
/* Of a run that has published nothing for want of it. */
extern const char bb_hope_gone[];
/* Whether somebody should read that before a budget is spent. */
bool bb_hope_is_poor(const bb_hope *hope);

#endif
