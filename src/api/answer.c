#include "api/call.h"
#include "base/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

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

double billboard_answer_number(const billboard_answer *answer, const char *path) {
    const json_t *at = bb_json_at(answer->json, path);
    if (json_is_boolean(at)) return json_is_true(at);
    return json_is_number(at) ? json_number_value(at) : NAN;
}

const char *billboard_answer_text(const billboard_answer *answer, const char *path) {
    return json_string_value(bb_json_at(answer->json, path));
}

size_t billboard_answer_count(const billboard_answer *answer, const char *path) {
    const json_t *at = bb_json_at(answer->json, path);
    return json_is_object(at) ? json_object_size(at) : json_array_size(at);
}
