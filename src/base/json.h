/* json.h - JSON files: written whole or not at all, read with a precise message.
 *
 * Numbers are written with 17 digits, so that every double is read back to the same
 * bits. JSON has no infinity and no NaN: such a value is null. */
#ifndef BB_BASE_JSON_H
#define BB_BASE_JSON_H

#include "base/status.h"

#include <jansson.h>

#include <stddef.h>

/* value as a new JSON real, or null when it is not finite; NULL when out of memory. */
json_t *bb_json_real(double value);

/* The text of any JSON value with 17 digits, members in the order of insertion,
 * indented by `indent` spaces (0: one line); to be freed with free(). NULL when out of
 * memory. */
char *bb_json_text(const json_t *json, size_t indent);

/* Writes json, indented, and a newline to `path`, whole or not at all (bb_file_write).
 * A NULL json is BB_ENOMEM, so that a failed construction needs no check of its own. */
BB_MUST_CHECK bb_status bb_json_write_file(const char *path, const json_t *json);

/* Reads one JSON value into *out, to be released with json_decref(). BB_EIO if the file
 * cannot be read; BB_EDATA with line and column if it is no JSON or an object has two
 * members of one name. */
BB_MUST_CHECK bb_status bb_json_read_file(json_t **out, const char *path);
/* Likewise of a text; where: what messages call it. */
BB_MUST_CHECK bb_status bb_json_parse(json_t **out, const char *text,
                                      const char *where);

/* What is at a path, names and numbers of list members with dots between them, as in
 * "privacy.guarantees.0.epsilon"; "" is the whole; NULL if nothing is there. */
const json_t *bb_json_at(const json_t *json, const char *path);

#endif
