/* task_names.h - names of tasks that may not be what was meant. Which tasks there are is public,
 * so this costs no privacy. */
#ifndef BB_DATA_TASK_NAMES_H
#define BB_DATA_TASK_NAMES_H

#include "base/json.h"
#include "base/status.h"

#include <stddef.h>

/* What is to be said of them, a text each: a name that is a missing value, names that are the
 * same number, as "1" and "1.0" are, and names that differ in blanks at their ends (where one
 * follows the other: names are in their order). To be freed with json_decref; BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_task_names_say(size_t tasks, char *const *name,
                                          json_t **list);

#endif
