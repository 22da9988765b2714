/* registry.h - what the cells of an experiment gave, in a SQLite file: a process that is
 * killed loses the cells that it was at, and no other. */
#ifndef BB_EXPERIMENTS_REGISTRY_H
#define BB_EXPERIMENTS_REGISTRY_H

#include "base/status.h"

#include <stddef.h>

typedef struct bb_registry bb_registry;

/* Opens or makes the file. BB_EDATA: it is another file. Any number of threads may use
 * it then. */
BB_MUST_CHECK bb_status bb_registry_open(bb_registry **out, const char *path);
void bb_registry_close(bb_registry *registry); /* NULL is allowed */

/* The result of the cell with this key, to be freed with free(); NULL: not there. */
BB_MUST_CHECK bb_status bb_registry_get(bb_registry *registry, const char *key,
                                        char **result);
/* Keeps a result, whatever becomes of the process; one of the same key is replaced. */
BB_MUST_CHECK bb_status bb_registry_put(bb_registry *registry, const char *key,
                                        const char *result, double seconds);
/* How many there are, and how many seconds all of them took. */
BB_MUST_CHECK bb_status bb_registry_count(bb_registry *registry, size_t *cells,
                                          double *seconds);

#endif
