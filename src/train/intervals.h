/* intervals.h - how far a prediction may be off: what a task keeps for that beside its
 * model, and no other task sees (--intervals).
 *
 * Kept as models of one output whose columns are: `freedom', degrees of it; then, for
 * each direction k in which the task's model is uncertain, `k` (its intercept) and `k x`
 * for every column x, a model of its own; the intercept is the noise's variance. With s_k
 * what direction k makes of a row, the target's predictive variance is noise + sum s_k^2,
 * and its distribution Student's t with that freedom. */
#ifndef BB_TRAIN_INTERVALS_H
#define BB_TRAIN_INTERVALS_H

#include "train/population.h"

#define BB_INTERVALS_FILE "intervals.csv"

/* Whether the request may ask for them: BB_EUSAGE for a method that has none. */
BB_MUST_CHECK bb_status bb_intervals_check(const bb_train_request *request);
/* From what the method said of every task (bb_run.spread of mp-mixed); where that is NAN,
 * a task's intervals are not known. */
BB_MUST_CHECK bb_status bb_intervals_models(const bb_population *population,
                                            const double *spread, bb_models *out);

/* Half the width of the interval around the prediction of each row, NAN where it is not
 * known (a task that `kept` has not). rows: as the models see them, which have `features`
 * columns. level in (0, 1). BB_EDATA if `kept` is of other columns. */
BB_MUST_CHECK bb_status bb_intervals_half(const bb_models *kept, size_t features,
                                          const bb_dataset *rows, double level,
                                          double *half);

#endif
