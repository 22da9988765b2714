#include "base/json.h"
#include "cmd_inside.h"

#include <stdlib.h>

static billboard_status as_public(bb_status status) {
    return (billboard_status)bb_status_exit_code(status);
}

int cmd_failed(bb_status status) {
    return cmd_say_failure(as_public(status));
}

bb_status cmd_output_open(cmd_output *output) {
    return cmd_open(output) ? bb_fail(BB_ENOMEM, "no memory for the output") : BB_OK;
}

bb_status cmd_output_json(const cmd_output *output, const json_t *json) {
    char *text = json ? bb_json_text(json, 2) : NULL;
    if (!text) return bb_fail(BB_ENOMEM, "no memory for the output");
    fprintf(output->stream, "%s\n", text);
    free(text);
    return BB_OK;
}

void cmd_append(json_t **list, json_t *item) {
    if (json_array_append_new(*list, item)) {
        json_decref(*list);
        *list = NULL;
    }
}

int cmd_output_close(cmd_output *output, bb_status status) {
    return cmd_close(output, as_public(status));
}
