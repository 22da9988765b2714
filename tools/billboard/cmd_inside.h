/* cmd_inside.h - for commands that still use the rooms of src, whose failures are a
 * bb_status. */
#ifndef BILLBOARD_CMD_INSIDE_H
#define BILLBOARD_CMD_INSIDE_H

#include "base/options.h"
#include "base/status.h"
#include "cmd.h"

#include <jansson.h>

int cmd_failed(bb_status status);
BB_MUST_CHECK bb_status cmd_output_open(cmd_output *output);
BB_MUST_CHECK bb_status cmd_output_json(const cmd_output *output, const json_t *json);
/* Appends to a list, which becomes NULL when memory runs out (and stays NULL). */
void cmd_append(json_t **list, json_t *item);
int cmd_output_close(cmd_output *output, bb_status status);

#endif
