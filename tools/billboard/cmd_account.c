#include "account.h"
#include "progress.h"

#include <string.h>

enum { MOST_ROWS = 32, FIRST_KEY = 1000 };

typedef struct request {
    account_options options;
    bb_status status;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    const bb_options table = account_table();
    if (key >= FIRST_KEY && key < FIRST_KEY + (int)table.count) {
        if (!r->status)
            r->status = bb_options_set(table, &r->options, "account",
                                       table.row[key - FIRST_KEY].name, text);
        return 0;
    }
    if (key == ARGP_KEY_ARG) argp_error(state, "takes options only, got \"%s\"", text);
    return ARGP_ERR_UNKNOWN;
}

/* Headings of --help, and the option that each is put before. */
static const struct {
    const char *first, *title;
} groups[] = {{"noise-multiplier", "Rounds of Gaussian noise:"},
              {"selection", "What else is published:"},
              {"tasks", "The promise, and how it is counted:"},
              {"curve", "Output:"}};
enum { GROUPS = sizeof groups / sizeof *groups };

static void read_line(int argc, char **argv, request *r) {
    struct argp_option option[MOST_ROWS + GROUPS + 1] = {0};
    const bb_options table = account_table();
    size_t n = 0, group = 0;
    for (size_t k = 0; k < table.count && k < MOST_ROWS; k++) {
        const bb_option *row = &table.row[k];
        if (group < GROUPS && strcmp(groups[group].first, row->name) == 0) {
            option[n++] = (struct argp_option){.doc = groups[group].title,
                                               .group = (int)group + 1};
            group++;
        }
        option[n++] = (struct argp_option){.name = row->name,
                                           .key = FIRST_KEY + (int)k,
                                           .arg = row->argument,
                                           .doc = row->help,
                                           .group = (int)group};
    }
    const struct argp argp = {
        option,
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

static bb_status check_plot(const account_options *options) {
    if (!options->plot || options->curve != ACCOUNT_NOTHING) return BB_OK;
    return bb_fail(BB_EUSAGE, "account: --plot draws a curve: give --curve");
}

static void say_point(void *self, size_t point, size_t points) {
    char text[60];
    snprintf(text, sizeof text, "point %zu of %zu of the curve", point, points);
    progress_say(self, text);
}

static bb_status price_plan(const account_options *options, progress *bar,
                            const cmd_output *output) {
    account_plan plan = {0};
    account_price price = {0};
    account_curve curve = {0};
    bb_status status = check_plot(options);
    if (!status) status = account_plan_open(&plan, options);
    if (!status) {
        progress_say(bar, "pricing the plan");
        status = account_solve(options, &plan, &price);
    }
    if (!status)
        status = account_curve_open(options, &plan, &price, say_point, bar, &curve);
    progress_close(bar);
    if (!status)
        status = options->json
                     ? account_say_json(options, &plan, &price, &curve, output)
                     : account_say_text(options, &plan, &price, &curve, output->stream);
    if (!status && options->plot) status = account_draw(options, &plan, &price, &curve);
    account_curve_close(&curve);
    account_plan_close(&plan);
    return status;
}

int cmd_account(int argc, char **argv) {
    const bb_options table = account_table();
    request r = {0};
    cmd_output output = {0};
    progress bar = progress_open();
    bb_status status = bb_options_default(table, &r.options);
    if (!status) {
        read_line(argc, argv, &r);
        status = r.status;
    }
    if (!status) status = cmd_output_open(&output);
    if (!status) status = price_plan(&r.options, &bar, &output);
    bb_options_free(table, &r.options);
    return cmd_output_close(&output, status);
}
