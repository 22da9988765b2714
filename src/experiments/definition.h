/* definition.h - what an experiment is: a JSON object, shipped or in a user's file.
 *
 *   title, source, about   texts for people
 *   run       "train" (default), or another runner (study.h)
 *   seeds     how many; 0: nothing is drawn
 *   options   of every cell, by name; the method's own under "set"
 *   data      {LABEL: {"world": KIND, "tasks", "samples", "features", "labels",
 *             "test-tasks"} or {"file": PATH}, with "options"}
 *   methods   {LABEL: options, "without": [AXIS, ...], "tune": {NAME: [VALUE, ...]}}
 *   sweep     {AXIS: [VALUE, ...] or {LABEL: options}}; NAME may be "set.lambda" or
 *             "data.tasks"
 *   keep      {COLUMN: path in the answer}, besides what is kept anyway
 *   trace     [COLUMN, ...]: what is kept of every round
 *   tune      {"seeds": N}: of other seeds than those reported
 *   figures   [{"title", "x", "y", "line", "only"}] (report/figures.h)
 *   compare   [{"column", "axis"}]: rank-sum tests of neighbours on an axis
 *   presets   {NAME: a patch of the above (RFC 7396)} */
#ifndef BB_EXPERIMENTS_DEFINITION_H
#define BB_EXPERIMENTS_DEFINITION_H

#include "base/status.h"

#include <jansson.h>

#include <stddef.h>

typedef struct bb_shipped {
    const char *name, *text;
} bb_shipped;
/* The k-th in the order of their names, or NULL. */
const bb_shipped *bb_shipped_at(size_t k);

/* Reads a shipped experiment, or the file of a name with a `/' or `.json', applies the
 * preset (NULL: "quick" where there is one) and checks what can be checked. The preset's
 * name, and "name", are added. BB_EUSAGE says what is not known. */
BB_MUST_CHECK bb_status bb_definition_read(const char *name, const char *preset,
                                           json_t **out);

/* target <- patch, members of objects one by one; null takes a member away (RFC 7396).
 * BB_ENOMEM. Both are objects. */
BB_MUST_CHECK bb_status bb_json_patch(json_t *target, const json_t *patch);
/* {"set": {"lambda": value}} of the name "set.lambda"; NULL: out of memory. */
json_t *bb_json_nest(const char *name, json_t *value);

#endif
