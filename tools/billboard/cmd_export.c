#include "cmd.h"

typedef struct request {
    const char *run, *task, *output;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    switch (key) {
    case 't':
        r->task = text;
        return 0;
    case 'o':
        r->output = text;
        return 0;
    case ARGP_KEY_ARG:
        if (r->run) argp_error(state, "takes one RUN");
        r->run = text;
        return 0;
    case ARGP_KEY_END:
        if (!r->run) argp_error(state, "which RUN?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static billboard_status export_task(const request *r, FILE *stream) {
    if (!r->task) return cmd_fail(BILLBOARD_USAGE, "whose model? give --task NAME");
    if (!r->output)
        return cmd_fail(BILLBOARD_USAGE, "the model where to? give --output DIR");
    const billboard_status status = billboard_export(r->run, r->task, r->output);
    if (!status)
        fprintf(stream, "%s: the model of task %s, for that task alone\n", r->output,
                r->task);
    return status;
}

int cmd_export(int argc, char **argv) {
    static const struct argp_option option[] = {
        {"task", 't', "NAME", 0, "the task whose model it is", 0},
        {"output", 'o', "DIR", 0, "the directory to make", 0},
        {0}};
    const struct argp argp = {
        option,
        parse,
        "RUN",
        "Makes a directory for one task: its own model out of RUN, "
        "and RUN's public half. `predict' and `evaluate' take it "
        "as they take RUN.",
        NULL,
        NULL,
        NULL};
    request r = {0};
    cmd_output output = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &r);
    billboard_status status = cmd_open(&output);
    if (!status) status = export_task(&r, output.stream);
    return cmd_close(&output, status);
}
