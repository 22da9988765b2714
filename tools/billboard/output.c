#include "base/json.h"
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cmd_failed(bb_status status) {
    const char *message = bb_last_error();
    fprintf(stderr, "billboard: %s\n", *message ? message : bb_status_text(status));
    return bb_status_exit_code(status);
}

bb_status cmd_output_open(cmd_output *output) {
    *output = (cmd_output){0};
    output->stream = open_memstream(&output->text, &output->size);
    return output->stream ? BB_OK : bb_fail(BB_ENOMEM, "no memory for the output");
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
    if (output->stream) {
        const bool broken = ferror(output->stream);
        if ((fclose(output->stream) || broken) && !status)
            status = bb_fail(BB_ENOMEM, "no memory for the output");
    }
    if (!status && output->size) {
        fwrite(output->text, 1, output->size, stdout);
        if (fflush(stdout) || ferror(stdout))
            status = bb_fail(BB_EIO, "standard output: cannot be written: %s",
                             strerror(errno));
    }
    free(output->text);
    *output = (cmd_output){0};
    return status ? cmd_failed(status) : 0;
}
