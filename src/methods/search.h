/* search.h - the public half of a search for a centre by unit directions, of mp-centre
 * and mp-mixed: every task shows the direction, of length one, in which it would move. */
#ifndef BB_METHODS_SEARCH_H
#define BB_METHODS_SEARCH_H

#include "core/method.h"

/* On the billboard, d numbers each, zero at first. */
typedef struct bb_search {
    double *centre, *velocity;
    double *sum;  /* of the averages as released */
    double *pace; /* by which steps are longer (0 stands for 1), and how long the last
                     answers were along the way before them */
} bb_search;

/* One round: the average of the directions, shrunk by its public noise and brought into the
 * unit ball, moves the centre by `step`, with at most this momentum. Where few coordinates
 * stand out it is shrunk each by each (a mixture of normals around zero, Stephens 2017), else
 * all alike (positive part, James and Stein 1961); the last one by itself where it is
 * `apart', a level that may be far longer than all else. Of several classes every `outputs'
 * numbers, what one feature says for each of them, sum to zero in all directions, so what
 * noise has put there is taken away first; else outputs is 1. Where most tasks lie behind the
 * last step half of it is taken back, and steps are half as long; where answers go on, far
 * or always the same way, they become longer by half. Returns ||sum||^2; where nothing is
 * shared, that over round * (noise / tasks)^2 is chi^2 with bb_search_freedom degrees of
 * freedom. work: d doubles. */
double bb_search_move(const bb_search *at, const bb_release *release, size_t d,
                      bool apart, size_t outputs, double tasks, double step,
                      double momentum, double *work);
/* How many of d numbers noise can move, where every `outputs' of them sum to zero; 1: all. */
double bb_search_freedom(size_t d, size_t outputs);

#endif
