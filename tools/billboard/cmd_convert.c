#include "cmd.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 24, FIRST_KEY = 1000 };

typedef struct request {
    const char *name[MOST_ROWS]; /* of the option with key FIRST_KEY + k */
    cmd_options given;
    char **path; /* into the arguments */
    size_t paths;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key == 'o') {
        cmd_options_add(&r->given, "output", text);
    } else if (key >= FIRST_KEY && key < FIRST_KEY + MOST_ROWS) {
        cmd_options_add(&r->given, r->name[key - FIRST_KEY], text);
    } else if (key == ARGP_KEY_ARGS) {
        r->path = state->argv + state->next;
        r->paths = (size_t)(state->argc - state->next);
    } else if (key == ARGP_KEY_NO_ARGS) {
        argp_error(state, "which DATA?");
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void read_line(int argc, char **argv, const billboard_answer *table,
                      request *r) {
    struct argp_option option[MOST_ROWS + 1] = {0};
    const size_t rows = billboard_answer_count(table, "options");
    for (size_t k = 0; k < rows && k < MOST_ROWS; k++) {
        r->name[k] = cmd_option_part(table, k, "name");
        option[k] = (struct argp_option){
            .name = r->name[k],
            .key = strcmp(r->name[k], "output") == 0 ? 'o' : FIRST_KEY + (int)k,
            .arg = cmd_option_part(table, k, "argument"),
            .doc = cmd_option_part(table, k, "help")};
    }
    const struct argp argp = {
        option,
        parse,
        "DATA...",
        "Writes rows of any format to one file that is grouped by "
        "task, to be trained with where it lies.",
        NULL,
        NULL,
        NULL};
    argp_parse(&argp, argc, argv, 0, NULL, r);
}

static billboard_status convert(const request *r, billboard_answer **made) {
    billboard_data **data = calloc(r->paths, sizeof(billboard_data *));
    billboard_status status =
        data ? BILLBOARD_OK : cmd_fail(BILLBOARD_FAILED, "no memory for the arguments");
    for (size_t s = 0; s < r->paths && !status; s++)
        status = billboard_data_from_file(r->path[s], &data[s]);
    if (!status)
        status = billboard_convert((const billboard_data *const *)data, r->paths,
                                   r->given.option, r->given.count, made);
    for (size_t s = 0; data && s < r->paths; s++) billboard_data_free(data[s]);
    free(data);
    return status;
}

static void print(const billboard_answer *a, FILE *stream) {
    const double tasks = billboard_answer_number(a, "tasks"),
                 rows = billboard_answer_number(a, "rows"),
                 features = billboard_answer_number(a, "features");
    fprintf(stream, "%s: %.0f task%s, %.0f row%s, %.0f feature%s, %.0f bytes\n",
            billboard_answer_text(a, "output"), tasks, cmd_plural(tasks), rows,
            cmd_plural(rows), features, cmd_plural(features),
            billboard_answer_number(a, "bytes"));
    const double dropped = billboard_answer_number(a, "dropped_rows");
    if (dropped > 0.0)
        fprintf(stream, "left out: %.0f row%s with a missing value\n", dropped,
                dropped == 1.0 ? "" : "s");
    cmd_say_notes(a, "", stream);
}

int cmd_convert(int argc, char **argv) {
    request r = {0};
    cmd_output output = {0};
    billboard_answer *table = NULL, *made = NULL;
    billboard_status status = billboard_options("convert", &table);
    if (!status) read_line(argc, argv, table, &r);
    if (!status && r.given.failed)
        status = cmd_fail(BILLBOARD_FAILED, "no memory for the options");
    if (!status) status = cmd_open(&output);
    if (!status) status = convert(&r, &made);
    if (!status) print(made, output.stream);
    billboard_answer_free(made);
    billboard_answer_free(table);
    cmd_options_free(&r.given);
    return cmd_close(&output, status);
}
