/* limits.h - how far a task's predictions go: near what it has seen of its target, since a
 * slope of a column that hardly varied in its rows says nothing of rows far away. */
#ifndef BB_MODELS_LIMITS_H
#define BB_MODELS_LIMITS_H

#include "models/models.h"

#define BB_LIMITS_FILE "limits.csv"

/* limit (rows->tasks x 2) <- the least and the largest prediction of each task, from its own
 * targets and what its model says of them: fitted (rows->rows), in the targets' unit. With n
 * rows, p = features, span = max y - min y > 0,
 *   q = (sum (y - fitted)^2 / (n - p - 1)) / (sum (y - mean)^2 / (n - 1))
 * within [1e-12, 1], or 1 where n <= p + 1, they are span (1 + (c / (n - 1))^2) / sqrt(q) below
 * min y and above max y, c = 6, or 3 with own_units, where nobody has said in which units columns
 * are: few rows say little of how far a target goes, and less then; one that columns explain
 * next to exactly goes as far as they do. Without span, or where that is not finite,
 * -INFINITY and INFINITY. Costs no privacy: a task's limits are of its own rows and model, and
 * for that task alone. */
void bb_limits_find(const bb_dataset *rows, size_t features, bool own_units,
                    const double *fitted, double *limit);
/* What is said where task i's model says z: limit as above, or NULL. What is not
 * finite stays: it is a failure, which is not to be hidden. */
double bb_limited(const double *limit, size_t i, double z);

/* limits.csv: the header task,low,high, and a row a task with 17 digits, nothing in place of
 * what is not finite. Reading adds them to models of the same tasks; BB_EDATA, with the place,
 * for anything else. */
BB_MUST_CHECK bb_status bb_limits_write(const bb_models *models, const char *path);
BB_MUST_CHECK bb_status bb_limits_read(bb_models *models, const char *path);

#endif
