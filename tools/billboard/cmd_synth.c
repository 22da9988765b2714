#include "cmd.h"

#include <string.h>

enum { MOST_ROWS = 16, FIRST_KEY = 1000 };

typedef struct request {
    const char *name[MOST_ROWS]; /* of the option with key FIRST_KEY + k */
    cmd_options given;
    const char *kind;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key == 'o')
        cmd_options_add(&r->given, "output", text);
    else if (key >= FIRST_KEY && key < FIRST_KEY + MOST_ROWS)
        cmd_options_add(&r->given, r->name[key - FIRST_KEY], text);
    else if (key == ARGP_KEY_ARG && r->kind)
        argp_error(state, "takes one world");
    else if (key == ARGP_KEY_ARG)
        r->kind = text;
    else if (key == ARGP_KEY_NO_ARGS)
        argp_error(state,
                   "which world: low-rank, group-sparse, outliers, anomaly, classes or "
                   "multilabel?");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static void read_line(int argc, char **argv, const billboard_answer *table,
                      request *r) {
    struct argp_option option[MOST_ROWS + 1] = {0};
    char help[MOST_ROWS][200];
    const size_t rows = billboard_answer_count(table, "options");
    for (size_t k = 0; k < rows && k < MOST_ROWS; k++) {
        const char *fallback = cmd_option_part(table, k, "default_text");
        r->name[k] = cmd_option_part(table, k, "name");
        snprintf(help[k], sizeof help[k], fallback ? "%s (default %s)" : "%s",
                 cmd_option_part(table, k, "help"), fallback);
        option[k] = (struct argp_option){
            .name = r->name[k],
            .key = strcmp(r->name[k], "output") == 0 ? 'o' : FIRST_KEY + (int)k,
            .arg = cmd_option_part(table, k, "argument"),
            .doc = help[k]};
    }
    const struct argp argp = {
        option,
        parse,
        "low-rank|group-sparse|outliers|anomaly|classes|multilabel",
        "Writes a synthetic population: many small regressions "
        "or classifications whose models share a pattern.",
        NULL,
        NULL,
        NULL};
    argp_parse(&argp, argc, argv, 0, NULL, r);
}

static void print(const billboard_answer *a, FILE *stream) {
    const double tasks = billboard_answer_number(a, "tasks"),
                 features = billboard_answer_number(a, "features"),
                 rows = billboard_answer_number(a, "train_rows");
    fprintf(stream,
            "%s world: %.0f task%s, %.0f feature%s; %.0f row%s each in %s, %.0f in "
            "%s\n",
            billboard_answer_text(a, "world"), tasks, cmd_plural(tasks), features,
            cmd_plural(features), rows, cmd_plural(rows),
            billboard_answer_text(a, "train"), billboard_answer_number(a, "test_rows"),
            billboard_answer_text(a, "test"));
}

int cmd_synth(int argc, char **argv) {
    request r = {0};
    cmd_output output = {0};
    billboard_answer *table = NULL, *files = NULL;
    billboard_status status = billboard_options("synth", &table);
    if (!status) read_line(argc, argv, table, &r);
    if (!status && r.given.failed)
        status = cmd_fail(BILLBOARD_FAILED, "no memory for the options");
    if (!status) status = cmd_open(&output);
    if (!status)
        status = billboard_synth(r.kind, r.given.option, r.given.count, &files);
    if (!status) print(files, output.stream);
    billboard_answer_free(files);
    billboard_answer_free(table);
    cmd_options_free(&r.given);
    return cmd_close(&output, status);
}
