#include "cmd.h"

#include <stdlib.h>

enum { HTML = 1000, MARKDOWN, CSV, LATEX, SVG };

typedef struct request {
    const char **run; /* argc of them at most */
    size_t runs;
    const char *form, *output;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    static const char *const form[] = {"html", "markdown", "csv", "latex", "svg"};
    request *r = state->input;
    switch (key) {
    case 'o':
        r->output = text;
        return 0;
    case HTML:
    case MARKDOWN:
    case CSV:
    case LATEX:
    case SVG:
        r->form = form[key - HTML];
        return 0;
    case ARGP_KEY_ARG:
        r->run[r->runs++] = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which RUN?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static billboard_status write_report(const request *r, FILE *stream) {
    if (!r->output)
        return cmd_fail(BILLBOARD_USAGE, "the report where to? give --output FILE");
    const billboard_status status =
        billboard_report(r->run, r->runs, r->form, r->output);
    if (!status) fprintf(stream, "%s: written\n", r->output);
    return status;
}

int cmd_report(int argc, char **argv) {
    static const struct argp_option option[] = {
        {"output", 'o', "FILE", 0, "the file to write", 0},
        {"html", HTML, NULL, 0, "a page that needs nothing else (default)", 0},
        {"markdown", MARKDOWN, NULL, 0, "a table, a line for each run", 0},
        {"csv", CSV, NULL, 0, "the same for a spreadsheet", 0},
        {"latex", LATEX, NULL, 0, "the same for a paper", 0},
        {"svg", SVG, NULL, 0, "of an experiment: its figures alone, as a picture", 0},
        {0}};
    const struct argp argp = {option,
                              parse,
                              "RUN...\nEXPERIMENT",
                              "Writes what runs have promised and reached as one page "
                              "for a browser, or as a table. Several runs are compared "
                              "with each other. Of the folder of an experiment: its "
                              "figures, and what they were drawn of.",
                              NULL,
                              NULL,
                              NULL};
    request r = {.form = "html", .run = calloc((size_t)argc, sizeof *r.run)};
    cmd_output output = {0};
    billboard_status status =
        r.run ? BILLBOARD_OK : cmd_fail(BILLBOARD_FAILED, "no memory for the report");
    if (!status) {
        argp_parse(&argp, argc, argv, 0, NULL, &r);
        status = cmd_open(&output);
    }
    if (!status) status = write_report(&r, output.stream);
    free(r.run);
    return cmd_close(&output, status);
}
