/* study_inside.h - inside the room: an experiment between its first cell and its last. */
#ifndef BB_EXPERIMENTS_STUDY_INSIDE_H
#define BB_EXPERIMENTS_STUDY_INSIDE_H

#include "experiments/groups.h"
#include "experiments/registry.h"
#include "experiments/study.h"

#include <stdbool.h>

/* One cell that is wanted, and what it gave. */
typedef struct bb_wanted {
    size_t group, candidate;
    uint64_t seed;
    unsigned
        fold;     /* 1 ..: of the seed's training rows this fold is held out; 0: none */
    char *key;    /* what it does, as one line of JSON, and by which version */
    json_t *cell; /* the same */
    json_t *result; /* {COLUMN: value, "rounds": [...]} or {"error"}; NULL: not yet */
} bb_wanted;

typedef struct bb_study {
    const bb_study_request *request;
    const bb_study_watch *watch;
    json_t *definition;
    bb_groups groups;
    size_t *chosen;  /* of each group: its candidate */
    bb_wanted *cell; /* group by group, seed by seed */
    size_t cells;
    bb_registry *registry;
    size_t done, all; /* of all cells, those of tuning included */
} bb_study;

/* Runs what the registry does not have. BB_EINTERRUPTED. */
BB_MUST_CHECK bb_status bb_study_cells(bb_study *study, bb_wanted *cell, size_t cells);
/* Sets study->chosen: by cells of other seeds or, where the definition asks for folds, as
 * papers do, by held-out training rows of the seeds that are reported. */
BB_MUST_CHECK bb_status bb_study_tune(bb_study *study);
/* The definition asks for folds: settings are chosen by looking at the same data. */
bool bb_study_folds(const bb_study *study);
/* cell: group, candidate, seed and fold are given. */
BB_MUST_CHECK bb_status bb_study_want(const bb_study *study, bb_wanted *cell);
void bb_wanted_close(bb_wanted *cell, size_t cells);

/* The names of the columns that say which group a line is of; NULL: out of memory. */
json_t *bb_study_columns(const bb_study *study);
/* [{labels, column, count, mean, deviation, least, most, promise}]; NULL: out of memory. */
json_t *bb_study_means(const bb_study *study);
/* What the definition wants compared: [{labels, column, axis, from, to, count: [n, n],
 * p}]; */
BB_MUST_CHECK bb_status bb_study_compare(const bb_study *study, json_t **comparisons);
/* Writes the tables. *means: what means.csv has. */
BB_MUST_CHECK bb_status bb_study_write(const bb_study *study, json_t **means);

#endif
