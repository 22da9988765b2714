/* graph.h - public relations of tasks, from a file. */
#ifndef BB_TRAIN_GRAPH_H
#define BB_TRAIN_GRAPH_H

#include "data/dataset.h"
#include "methods/relations.h"

#include <jansson.h>

/* `graph` is a file, or its JSON: an array of [task, task, weight], each pair at most
 * once, in either order; tasks are names, or numbers as the data have them. *edges <- the
 * JSON. BB_EUSAGE with the entry: a task that the data do not have, a weight that is no
 * number above 0; errors of bb_relations_open. */
BB_MUST_CHECK bb_status bb_graph_read(const char *graph, const bb_dataset *data,
                                      bb_relations *relations, json_t **edges);

#endif
