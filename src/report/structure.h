/* structure.h - what a run has learned, as numbers to draw: the spectrum of the matrix
 * that it released, and where the tasks' models lie. */
#ifndef BB_REPORT_STRUCTURE_H
#define BB_REPORT_STRUCTURE_H

#include "report/reported.h"

/* Eigenvalues of the mean of all released symmetric matrices of one size, descending, as
 * a share of the largest that noise alone would have: s sqrt(2 p) for p x p noise of
 * standard deviation s on the diagonal and s/sqrt(2) off it (Wigner 1955). */
typedef struct bb_spectrum_seen {
    size_t count; /* 0: no such matrix was released, or it had no noise */
    size_t rounds;
    double *value; /* count */
} bb_spectrum_seen;
BB_MUST_CHECK bb_status bb_spectrum_see(const bb_reported *reported,
                                        bb_spectrum_seen *spectrum);
void bb_spectrum_forget(bb_spectrum_seen *spectrum);

/* The tasks' models (all columns and the intercept, each divided by its deviation over
 * tasks) in the plane of their first two principal components; and, where tasks are few,
 * the cosine between any two, in the order of the first component. */
enum { BB_MAP_MOST_FEATURES = 600, BB_MAP_MOST_CELLS = 60 };
typedef struct bb_model_map {
    size_t tasks;     /* 0: no linear models of one output, or too wide ones */
    double explained; /* the share of the variance that the plane has */
    double *x, *y;    /* tasks */
    size_t *order;    /* tasks, by x */
    double *cosine;   /* tasks x tasks in that order; NULL where tasks are many */
    char **name;      /* tasks */
} bb_model_map;
BB_MUST_CHECK bb_status bb_model_map_open(const bb_reported *reported,
                                          bb_model_map *map);
void bb_model_map_close(bb_model_map *map);

#endif
