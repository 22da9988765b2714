#include "api/call.h"
#include "base/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct billboard_answer {
    json_t *json;
    char *text; /* all of it */
};

bb_status bb_answer_open(billboard_answer **out, json_t *json) {
    billboard_answer *answer = NULL;
    char *text = json ? bb_json_text(json, 2) : NULL;
    const bb_status status = text ? bb_allocate(&answer, 1, sizeof *answer, "an answer")
                                  : bb_fail(BB_ENOMEM, "no memory for an answer");
    if (status || !answer) {
        free(text);
        json_decref(json);
        return status;
    }
    answer->json = json;
    answer->text = text;
    *out = answer;
    return BB_OK;
}

void billboard_answer_free(billboard_answer *answer) {
    if (!answer) return;
    json_decref(answer->json);
    free(answer->text);
    free(answer);
}

const char *billboard_answer_json(const billboard_answer *answer) {
    return answer->text;
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

static const json_t *find(const billboard_answer *answer, const char *path) {
    const json_t *at = answer->json;
    while (at && *path) {
        const size_t length = strcspn(path, ".");
        at = member(at, path, length);
        path += length + (path[length] == '.');
    }
    return at;
}

double billboard_answer_number(const billboard_answer *answer, const char *path) {
    const json_t *at = find(answer, path);
    if (json_is_boolean(at)) return json_is_true(at);
    return json_is_number(at) ? json_number_value(at) : NAN;
}

const char *billboard_answer_text(const billboard_answer *answer, const char *path) {
    return json_string_value(find(answer, path));
}

size_t billboard_answer_count(const billboard_answer *answer, const char *path) {
    const json_t *at = find(answer, path);
    return json_is_object(at) ? json_object_size(at) : json_array_size(at);
}
