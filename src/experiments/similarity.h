/* similarity.h - how alike models are: to the true ones, and to one task's. */
#ifndef BB_EXPERIMENTS_SIMILARITY_H
#define BB_EXPERIMENTS_SIMILARITY_H

#include "models/models.h"

#include <jansson.h>

/* {to_truth, to_last, relations} of linear models with one output; truth (tasks x
 * features) are the models that made the data.
 *   to_truth   mean cosine between a task's model and its true one
 *   to_last    mean |cosine| between the last task's model and each other one's
 *   relations  mean |difference| of the cosines of any two tasks' models and of the true
 *              ones: how well the tasks' relations are known (0: wholly)
 * A model of zeros has cosine 0 to everything. Null where models are of another kind;
 * NULL: out of memory. */
json_t *bb_similarity_json(const bb_models *models, const double *truth);

#endif
