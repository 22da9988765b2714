/* preprocess.h - what is done to rows before learning, none of which needs sharing.
 *
 * In this order:
 *   1. scale: with public ranges [l, h] of the columns, x <- 2 (x - l)/(h - l) - 1, moved
 *      to [-reach, reach] where it is not there (0 where l = h); the target likewise
 *      where that is asked for. Columns whose range is open stay. Where another column says
 *      that a number is missing (encode.h) it becomes 0, the middle of its range;
 *   2. constant: one more column "(intercept)" of ones at the end;
 *   3. rows, one of:
 *      none: with ranges every row is divided by sqrt(width), so that it lies in the unit
 *        ball, but for networks; without, nothing;
 *      unit-rows: every row is divided by its own 2-norm (a zero row stays);
 *      task: every column, but for the constant, is standardised by the mean and standard
 *        deviation (n - 1) of the task's own training rows, with ranges at least a
 *        twentieth of half the range; a column that is constant in them, or made so by
 *        the range, becomes 0;
 *      magnitude: every column without a range, but for the constant, and such a target
 *        where targets are scaled, is divided by the least power of ten that is no less
 *        than any number of it in the task's own training rows (of zeros alone by 0, or
 *        1 for common units), then every row by sqrt(width): powers of ten are coarse
 *        enough to be the same for most tasks.
 *        Numbers closer together than 1e-4 of their size are first reduced by their mean.
 *        Sparse rows are divided by their norm, as by unit-rows.
 * 1, 2 and the first two of 3 are public and happen again at prediction; what task and
 * magnitude measure is a task's own, and folded into its model, as the target's range is.
 */
#ifndef BB_DATA_PREPROCESS_H
#define BB_DATA_PREPROCESS_H

#include "data/names.h"
#include "data/ranges.h"

#define BB_CONSTANT_NAME "(intercept)"

typedef enum bb_standardize {
    BB_STANDARDIZE_NONE,
    BB_STANDARDIZE_UNIT_ROWS,
    BB_STANDARDIZE_TASK,
    BB_STANDARDIZE_MAGNITUDE,
    BB_STANDARDIZE_AUTO /* not yet chosen: no rows are prepared by it */
} bb_standardize;

typedef enum bb_rows_kind {
    BB_ROWS_PLAIN,
    BB_ROWS_BALL, /* divided by sqrt(width) */
    BB_ROWS_UNIT  /* divided by their own norm */
} bb_rows_kind;

typedef struct bb_preprocess_options {
    bb_standardize standardize;
    bool constant;
    const bb_ranges *scale;   /* NULL: no ranges */
    const char *scale_source; /* where they come from, for messages */
    bool scale_target; /* squared loss: map the target, too, if its range is given */
    size_t binary; /* so many last features have the range [0, 1] unless `scale` names
                          them; bb_preprocess_open takes it from the data */
    bool
        indicators; /* columns of these that are called so say where others are missing */
    bool units;     /* `magnitude': tasks find units in common, and binary columns need
                   none: without `scale`, too, they have the range [-1, 1], and stay */
    bool network;   /* rows are for networks: none leaves them in [-1, 1] */
    double reach;   /* at least 1; 0: 1 */
    size_t threads; /* that look at tasks; 0: as many as there are processors */
} bb_preprocess_options;

typedef struct bb_preprocess {
    size_t features, width; /* columns before and after */
    char **name;            /* width; one block */
    bb_range *range;        /* features, or NULL */
    size_t *told; /* features, or NULL: the column that says where this one, which
                               has a range, is missing; 0: none */
    double reach; /* numbers farther than so many half ranges from the middle of their
                     range are moved there; at least 1 */
    bool has_target; /* the target is mapped */
    bb_range target;
    bool constant;
    bb_rows_kind rows;
    bool folded;  /* for models of bb_preprocess_fold_columns: of ranges and rows only
                     what moves numbers is left */
    size_t tasks; /* that have own steps, x <- factor (x - mean), or none */
    double *mean, *factor;              /* tasks x features, or NULL: zero, one */
    double *target_unit;                /* tasks, powers of ten, or NULL */
    bb_map mean_at, factor_at, unit_at; /* where they are, if not in memory */
    size_t threads;                     /* as in the options */
} bb_preprocess;

/* Whether rows stay what they are. */
bool bb_preprocess_is_plain(const bb_preprocess *p);
/* Whether every task has steps of its own, which nobody else knows. */
bool bb_preprocess_is_own(const bb_preprocess *p);
/* Whether column k has a range. */
bool bb_preprocess_has_range(const bb_preprocess *p, size_t k);
/* Whether that is [0, 1]. */
bool bb_preprocess_is_zero_one(const bb_preprocess *p, size_t k);
/* Whether another column says of the number in column k of a row that it is missing. */
bool bb_preprocess_is_missing(const bb_preprocess *p, const double *x, size_t k);
/* By what its range multiplies column k; 0: the range has no length. */
double bb_preprocess_stretch(const bb_preprocess *p, size_t k);
/* What is taken off then: the middle of the range, in halves of it. The same of the target, 0
 * without a range. */
double bb_preprocess_shift(const bb_preprocess *p, size_t k);
double bb_preprocess_target_shift(const bb_preprocess *p);
/* How many of the target's units are one unit of what task i learns. */
double bb_preprocess_target_unit(const bb_preprocess *p, size_t i);
/* A prediction z of what task i learns, in the target's own unit. */
double bb_preprocess_target(const bb_preprocess *p, size_t i, double z);
/* A pass over own steps has come behind task i: bb_map_passed. */
void bb_preprocess_passed(const bb_preprocess *p, size_t i);

/* Decides everything, own steps by the rows of `train`. BB_EDATA: a column has no range;
 * BB_EUSAGE: sparse data with ranges or z-scores, which would fill its zeros. */
BB_MUST_CHECK bb_status bb_preprocess_open(bb_preprocess *p,
                                           const bb_preprocess_options *options,
                                           const bb_dataset *train);

/* names, zeroed and to be freed, <- the features' in their order. */
BB_MUST_CHECK bb_status bb_preprocess_names(const bb_preprocess *p, bb_names *names);
/* The public steps only, for rows with the given features. */
BB_MUST_CHECK bb_status bb_preprocess_open_public(bb_preprocess *p,
                                                  const bb_preprocess_options *options,
                                                  size_t features,
                                                  char *const *feature_name);

/* The rows of `data` (same features, and with own steps the same tasks as in training)
 * as learning sees them. `target` chooses whether targets are mapped (training rows) or
 * stay in their own unit (test rows, whose predictions come from folded models). */
BB_MUST_CHECK bb_status bb_preprocess_apply(const bb_preprocess *p,
                                            const bb_dataset *data, bool target,
                                            bb_dataset *out);

/* Turns the model (w: width, b) that task i learned into one for rows after the public
 * steps, predicting targets in their own unit: undoes own steps and the target's map. */
void bb_preprocess_fold(const bb_preprocess *p, size_t i, double *w, double *b);
/* The same of several outputs, which have no target to map: W (width x outputs, row-major).
 * Own means need the constant column, whose outputs take them up. */
void bb_preprocess_fold_outputs(const bb_preprocess *p, size_t i, size_t outputs,
                                double *W);

/* After bb_preprocess_fold, where bb_preprocess_can_fold: makes it a model for the columns
 * as they are in the data, but for values outside their range, which are moved to its
 * border; the constant column is 1. That is what `folded` steps do to rows. */
bool bb_preprocess_can_fold(const bb_preprocess *p);
void bb_preprocess_fold_columns(const bb_preprocess *p, double *w, double *b);

/* The public steps as a new JSON object, NULL when out of memory:
 *     {"scale": RANGES or null, "missing": {COLUMN: THE ONE THAT SAYS SO}, "constant": BOOL,
 * "rows": "plain", "unit-ball" or "unit-norm", "folded": BOOL} and back, for rows with the
 * given features ("missing" may not be there, nor "folded": false). What was parsed has no own steps and maps no target, as folded
 * models need it. BB_EDATA if `json` is no such object; `where` is for messages. */
json_t *bb_preprocess_json(const bb_preprocess *p);
BB_MUST_CHECK bb_status bb_preprocess_parse(bb_preprocess *p, const json_t *json,
                                            const char *where, size_t features,
                                            char *const *feature_name);

/* Takes a zeroed one, too. */
void bb_preprocess_free(bb_preprocess *p);

#endif
