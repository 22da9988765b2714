/* ranges.h - public ranges of the target and the columns, in a JSON file:
 *     {"target": [0, 10], "columns": {"age": [0, 120], "dose": 5}, "note": "...",
 *      "source": "public"}
 * A single number c > 0 is the range [-c, c]. "others" is the range of all columns that
 * "columns" does not name, which may then be left out: {"others": [0, 255]};
 * "open" says that nobody knows theirs, nor that of a target without one. "source" is
 * "public", or "data" where they were taken from the rows. Other members are an error,
 * but "note".
 */
#ifndef BB_DATA_RANGES_H
#define BB_DATA_RANGES_H

#include "base/json.h"
#include "data/dataset.h"
#include "data/names.h"

#include <stdbool.h>

typedef struct bb_range {
    double low, high; /* finite, low <= high; of an open one -INFINITY, INFINITY */
} bb_range;

typedef struct bb_ranges {
    size_t count;
    char **name; /* count; one block */
    bb_range *column;
    bool has_target, has_others;
    bool from_data; /* source: data. A run with such ranges is not private */
    bb_range target, others;
} bb_ranges;

/* Reads a file, or what --scale may be in its place: the JSON text itself. BB_EDATA says
 * which member is wrong. */
BB_MUST_CHECK bb_status bb_ranges_read(bb_ranges *ranges, const char *path);
/* The same from a JSON value; `where` is for messages. */
BB_MUST_CHECK bb_status bb_ranges_parse(bb_ranges *ranges, const json_t *json,
                                        const char *where);
bool bb_range_is_open(bb_range range);
/* Whether some range may be open, as far as a file can be read. */
bool bb_ranges_are_open(const char *path);
/* Whether every name is that of a feature, or of `left_out`, columns that are none: "others"
 * would hide a misspelt one, and without it nothing is looked at, since its column lacks a
 * range then. BB_EDATA says which, and whose it may be; `where` is for messages. */
BB_MUST_CHECK bb_status bb_ranges_check_names(const bb_ranges *ranges,
                                              const char *where, size_t features,
                                              char *const *feature_name,
                                              const bb_names *left_out);
/* A new JSON object without a note, or NULL when out of memory. */
json_t *bb_ranges_json(const bb_ranges *ranges);

/* The least and largest value of every column and the target. Such ranges are not
 * public: they tell something about the rows, so a file of them is for simulations
 * only; from_data and bb_ranges_write's note say so. Missing values are passed over. */
BB_MUST_CHECK bb_status bb_ranges_from_data(bb_ranges *ranges, const bb_dataset *data);
BB_MUST_CHECK bb_status bb_ranges_write(const bb_ranges *ranges, const char *path);

/* Takes zeroed ranges, too. */
void bb_ranges_free(bb_ranges *ranges);

#endif
