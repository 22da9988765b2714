/* population.h - the rows of a run: training and test rows of the same tasks, as
 * methods see them and as finished models see them.
 *
 * Finished models predict targets in their own unit, and whatever is affine (ranges,
 * the unit ball, a task's means and deviations, a constant column) is folded into them:
 * linear ones of one output are for the columns as they are in the data, moved to where
 * ranges reach; with unit rows, which are not affine, and for other kinds of
 * models, for rows after the public steps. */
#ifndef BB_TRAIN_POPULATION_H
#define BB_TRAIN_POPULATION_H

#include "core/method.h"
#include "data/preprocess.h"
#include "data/read.h"
#include "models/models.h"
#include "train/dealt.h"
#include "train/resolve.h"
#include "train/source.h"

typedef struct bb_population {
    bb_preprocess steps;    /* all of them */
    bb_preprocess open;     /* the public ones that are not folded into models */
    bb_dataset train, test; /* after those; targets in their own unit, labels -1 and +1
                               with the logistic loss */
    bb_dataset prepared;    /* training rows as methods see them */
    bool prepared_is_train; /* the two are one */
    /* Whether what models reach in training is seen on the prepared rows
     * (bb_experiment_predict): train has targets and, unless baselines want them, no
     * features. */
    bool prepared_predict;
    bb_dataset read_train, read_test; /* as they were read, for baselines; empty without
                                         --compare */
    size_t outputs;                   /* classes or labels; 1 */
    size_t dropped;                   /* rows that were left out for a missing value */
    size_t tasks, single_rows;        /* that were read; that have one row only */
    /* For the operator: columns that are mostly out of range; NULL: none. */
    char *outside;
    bb_text_counts texts; /* that are no level of their column */
    uint32_t *
        cluster; /* tasks, of all ranks: their public group, from 0; NULL without --cluster */
    size_t clusters;
    bb_relations relations; /* of --graph; rank 0 without */
    json_t *edges;          /* likewise; NULL */
    json_t *ranges;         /* of --scale, as data/ranges.h has them; NULL without */
    json_t *levels;         /* of --categories; NULL without */
    bool data_ranges;       /* and they were taken from the data */
    bool data_levels;       /* levels likewise */
} bb_population;

/* How the request says that data are to be read. Borrows its texts. */
bb_read_options bb_population_format(const bb_train_options *options);
/* How a run reads its data. */
bb_read_options bb_population_reading(const bb_resolved *resolved);

/* Reads the data and the test rows (NULL: those of the file that the request names, if
 * any); splits and prepares. Data may be NULL where there is a roster: then there is no
 * row, and everything public is as if there were. In a run with noise sizes must not
 * depend on rows: BB_EUSAGE names the option that says what would have to be looked for.
 * With dealt->ranks all of them call it, and each gets the rows of its own tasks. */
BB_MUST_CHECK bb_status bb_population_open(bb_population *population,
                                           const bb_resolved *resolved,
                                           const bb_source *data, const bb_source *test,
                                           bb_dealt *dealt);
/* How many rows to learn from lie outside the unit ball, where methods that share
 * through the door expect them; the constant column does not count. Looks at all
 * tasks' rows, so it is for the operator of a simulation only. */
size_t bb_population_long_rows(const bb_population *population);

/* Frees the rows, and what only they need; bb_population_close does so, too. */
void bb_population_close_rows(bb_population *population);
/* Takes a zeroed one, too. */
void bb_population_close(bb_population *population);

/* The model (w: prepared.features, b) that own task i learned, as it is when finished:
 * without the constant column, which the intercept takes up where it is 1. */
void bb_population_fold(const bb_population *population, size_t i, double *w,
                        double *b);

/* Finished models of one linear output from what methods learned: weight tasks x
 * prepared.features, intercept tasks. */
BB_MUST_CHECK bb_status bb_population_models(const bb_population *population,
                                             const double *weight,
                                             const double *intercept, bb_models *out);

/* The same for the one model that all share (prepared.features), as that of a task
 * "shared"; not where tasks have own steps of preprocessing. */
BB_MUST_CHECK bb_status bb_population_shared(const bb_population *population,
                                             const double *shared, bb_models *out);

#endif
