#include "account.h"
#include "progress.h"

#include <string.h>

enum { MOST_ROWS = 32, FIRST_KEY = 1000, PLOT = FIRST_KEY + MOST_ROWS, JSON };

/* What only this program has: how the answer is shown. */
static const struct argp_option shown[] = {
    {"plot", PLOT, "FILE.svg", 0, "draw the --curve", 4},
    {"json", JSON, NULL, 0, "as one JSON object", 4}};

typedef struct request {
    struct argp_option option[2 * MOST_ROWS];
    const char *name[MOST_ROWS]; /* of the option with key FIRST_KEY + k */
    cmd_options given;
    const char *plot;
    bool json;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key == PLOT)
        r->plot = text;
    else if (key == JSON)
        r->json = true;
    else if (key >= FIRST_KEY && key < FIRST_KEY + MOST_ROWS)
        cmd_options_add(&r->given, r->name[key - FIRST_KEY], text);
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "takes options only, got \"%s\"", text);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* Headings of --help, and the option that each is put before. */
static const struct {
    const char *first, *title;
} groups[] = {{"noise-multiplier", "Rounds of Gaussian noise:"},
              {"selection", "What else is published:"},
              {"tasks", "The promise, and how it is counted:"},
              {"curve", "Output:"}};
enum { GROUPS = sizeof groups / sizeof *groups };

static void read_line(int argc, char **argv, const billboard_answer *table,
                      request *r) {
    const size_t rows = billboard_answer_count(table, "options");
    size_t n = 0, group = 0;
    for (size_t k = 0; k < rows && k < MOST_ROWS; k++) {
        r->name[k] = cmd_option_part(table, k, "name");
        if (group < GROUPS && strcmp(groups[group].first, r->name[k]) == 0) {
            r->option[n++] = (struct argp_option){.doc = groups[group].title,
                                                  .group = (int)group + 1};
            group++;
        }
        r->option[n++] =
            (struct argp_option){.name = r->name[k],
                                 .key = FIRST_KEY + (int)k,
                                 .arg = cmd_option_part(table, k, "argument"),
                                 .doc = cmd_option_part(table, k, "help"),
                                 .group = (int)group};
    }
    memcpy(r->option + n, shown, sizeof shown);
    const struct argp argp = {
        r->option,
        parse,
        "",
        "Prices a plan: finds the one of epsilon, delta, noise and rounds that is not "
        "given. No data are needed.\vExample: billboard account --rounds 1000 "
        "--sampling poisson:0.01 --tasks 100000 --epsilon 1",
        NULL,
        NULL,
        NULL};
    argp_parse(&argp, argc, argv, 0, NULL, r);
}

static billboard_status answer(const request *r, progress *bar,
                               const cmd_output *output) {
    const billboard_watch watch = {
        .struct_size = sizeof watch, .self = bar, .progress = progress_watch};
    const char *curve = cmd_options_last(&r->given, "curve");
    const bool draws = curve && strcmp(curve, "none") != 0;
    billboard_answer *price = NULL;
    if (r->plot && !draws)
        return cmd_fail(BILLBOARD_USAGE, "account: --plot draws a curve: give --curve");
    billboard_status status =
        billboard_account(r->given.option, r->given.count, &watch, &price);
    progress_close(bar);
    if (!status && r->json)
        fprintf(output->stream, "%s\n", billboard_answer_json(price));
    else if (!status)
        account_say_text(price, curve, output->stream);
    if (!status && r->plot) status = billboard_account_draw(price, curve, r->plot);
    billboard_answer_free(price);
    return status;
}

int cmd_account(int argc, char **argv) {
    request r = {0};
    cmd_output output = {0};
    billboard_answer *table = NULL;
    progress bar = progress_open();
    billboard_status status = billboard_options("account", &table);
    if (!status) read_line(argc, argv, table, &r);
    if (!status && r.given.failed)
        status = cmd_fail(BILLBOARD_FAILED, "no memory for the options");
    if (!status) status = cmd_open(&output);
    if (!status) status = answer(&r, &bar, &output);
    cmd_options_free(&r.given);
    billboard_answer_free(table);
    return cmd_close(&output, status);
}
