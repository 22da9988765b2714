#include "base/json.h"

#include "base/file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2, LARGEST_INDENT = 31 };

json_t *bb_json_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

char *bb_json_text(const json_t *json, size_t indent) {
    if (indent > LARGEST_INDENT) indent = LARGEST_INDENT;
    return json_dumps(json, JSON_INDENT(indent) | JSON_ENCODE_ANY |
                                (size_t)JSON_REAL_PRECISION(17));
}

bb_status bb_json_write_file(const char *path, const json_t *json) {
    char *const text = json ? bb_json_text(json, INDENT) : NULL;
    if (!text) return bb_fail(BB_ENOMEM, "%s: no memory for its JSON text", path);
    const size_t length = strlen(text);
    text[length] = '\n'; /* in place of the final zero, which is not written */
    const bb_status status = bb_file_write(path, text, length + 1);
    free(text);
    return status;
}

/* What jansson has made, or what it found instead. */
static bb_status give(json_t **out, json_t *json, const json_error_t *error,
                      const char *where) {
    /* jansson says nothing, not even a code, when memory fails half-way */
    if (!json && error->line < 0)
        return bb_fail(BB_ENOMEM, "%s: no memory for its contents", where);
    if (!json)
        return bb_fail(BB_EDATA, "%s: line %d, column %d: not JSON: %s", where,
                       error->line, error->column, error->text);
    *out = json;
    return BB_OK;
}

/* The byte order mark that some editors write: three bytes, the first of which begins no
 * JSON. A pipe takes back one byte. */
static void pass_mark(FILE *file) {
    const int first = getc(file);
    if (first != 0xef) {
        ungetc(first, file);
        return;
    }
    (void)getc(file);
    (void)getc(file);
}

bb_status bb_json_read_file(json_t **out, const char *path) {
    json_error_t error;
    FILE *const file = fopen(path, "r");
    if (!file)
        return bb_fail(BB_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    pass_mark(file);
    json_t *const json =
        json_loadf(file, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    const int unreadable = ferror(file);
    fclose(file);
    if (!unreadable) return give(out, json, &error, path);
    json_decref(json);
    return bb_fail(BB_EIO, "%s: cannot be read", path);
}

bb_status bb_json_parse(json_t **out, const char *text, const char *where) {
    json_error_t error;
    json_t *const json =
        json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    return give(out, json, &error, where);
}

/* The member whose name, or number in a list, is the first `length` bytes. */
static const json_t *member(const json_t *json, const char *name, size_t length) {
    size_t index = 0;
    if (json_is_object(json)) return json_object_getn(json, name, length);
    if (!json_is_array(json) || length == 0 || length > 18) return NULL;
    for (size_t k = 0; k < length; k++) {
        if (name[k] < '0' || name[k] > '9') return NULL;
        index = 10 * index + (size_t)(name[k] - '0');
    }
    return json_array_get(json, index);
}

const json_t *bb_json_at(const json_t *json, const char *path) {
    while (json && *path) {
        const size_t length = strcspn(path, ".");
        json = member(json, path, length);
        path += length + (path[length] == '.');
    }
    return json;
}
