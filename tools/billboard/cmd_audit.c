/* `billboard audit`: tries to refute what the door promises. */
#include "cmd.h"
#include "progress.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 32, FIRST_KEY = 1000, JSON = FIRST_KEY + MOST_ROWS };

typedef struct request {
    const char *name[MOST_ROWS]; /* of the option with key FIRST_KEY + k */
    char help[MOST_ROWS][250];
    cmd_options given;
    bool json;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key == JSON)
        r->json = true;
    else if (key >= FIRST_KEY && key < FIRST_KEY + MOST_ROWS)
        cmd_options_add(&r->given, r->name[key - FIRST_KEY], text);
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "unexpected argument \"%s\"", text);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static void read_line(int argc, char **argv, const billboard_answer *table,
                      request *r) {
    struct argp_option option[MOST_ROWS + 2] = {0};
    const size_t rows = billboard_answer_count(table, "options");
    size_t n = 0;
    for (size_t k = 0; k < rows && k < MOST_ROWS; k++) {
        const char *choices = cmd_option_part(table, k, "choices");
        r->name[k] = cmd_option_part(table, k, "name");
        snprintf(r->help[k], sizeof r->help[k],
                 choices ? "%s: %s (default %s)" : "%s%s (default %s)",
                 cmd_option_part(table, k, "help"), choices ? choices : "",
                 cmd_option_part(table, k, "default_text"));
        option[n++] = (struct argp_option){.name = r->name[k],
                                           .key = FIRST_KEY + (int)k,
                                           .arg = cmd_option_part(table, k, "argument"),
                                           .doc = r->help[k]};
    }
    option[n] =
        (struct argp_option){.name = "json", .key = JSON, .doc = "the answer as JSON"};
    const struct argp argp = {option,
                              parse,
                              "",
                              "Runs the door many times on two neighbouring "
                              "populations and tries to refute its privacy claim. "
                              "With --method NAME, attacks whole training runs; see "
                              "`billboard audit --method stl --help'.",
                              NULL,
                              NULL,
                              NULL};
    argp_parse(&argp, argc, argv, 0, NULL, r);
}

static void print_noise(const billboard_answer *a, FILE *stream) {
    if (!billboard_answer_count(a, "noise")) return;
    fprintf(stream,
            "noise      %s: least is %.4g of the standard deviation due, in\n"
            "           %s\n",
            billboard_answer_number(a, "noise.enough") > 0.0 ? "as claimed"
                                                             : "too little",
            billboard_answer_number(a, "noise.ratio"),
            billboard_answer_text(a, "noise.where"));
}

static void print_text(const billboard_answer *a, const char *seed, FILE *stream) {
    const double rounds = billboard_answer_number(a, "rounds"),
                 blocks = billboard_answer_number(a, "blocks");
    char drawn[40]; /* at most 2^53 */
    snprintf(drawn, sizeof drawn, "%.0f", billboard_answer_number(a, "seed"));
    fprintf(stream,
            "claimed    epsilon %g at delta %g, %s, sampling: all; %s, form %s, "
            "%.0f round%s of %.0f block%s\n"
            "audited    %.0f runs in each world, seed %s\n"
            "found      epsilon at least %.4g, delta at least %.4g, confidence %g\n"
            "event      %s\n"
            "           %.0f of %.0f runs in world 0, %.0f in world 1\n",
            billboard_answer_number(a, "epsilon"), billboard_answer_number(a, "delta"),
            billboard_answer_text(a, "adjacency"),
            billboard_answer_text(a, "mechanism"), billboard_answer_text(a, "form"),
            rounds, rounds == 1.0 ? "" : "s", blocks, blocks == 1.0 ? "" : "s",
            billboard_answer_number(a, "trials"),
            seed && strcmp(seed, "0") != 0 ? seed : drawn,
            billboard_answer_number(a, "epsilon_lower"),
            billboard_answer_number(a, "delta_lower"),
            billboard_answer_number(a, "confidence"), billboard_answer_text(a, "event"),
            billboard_answer_number(a, "hits.0"),
            billboard_answer_number(a, "judged_trials"),
            billboard_answer_number(a, "hits.1"));
    print_noise(a, stream);
    fprintf(stream, "verdict    %s\n",
            billboard_answer_number(a, "violated") > 0.0 ? "violated" : "consistent");
}

/* An audit of a whole training run, not of the door alone? */
static bool is_run(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--method") == 0 || strncmp(argv[i], "--method=", 9) == 0)
            return true;
    return false;
}

billboard_status cmd_audit_ask(const cmd_options *given, billboard_answer **verdict) {
    progress bar = progress_open();
    const billboard_watch watch = {
        .struct_size = sizeof watch, .self = &bar, .progress = progress_watch};
    if (given->failed) return cmd_fail(BILLBOARD_FAILED, "no memory for the options");
    const billboard_status status =
        billboard_audit(given->option, given->count, &watch, verdict);
    progress_close(&bar);
    return status;
}

int cmd_audit_end(cmd_output *output, billboard_status status,
                  billboard_answer *verdict) {
    const bool violated = !status && billboard_answer_number(verdict, "violated") > 0.0;
    billboard_answer_free(verdict);
    const int code = cmd_close(output, status);
    return code == 0 && violated ? CMD_VIOLATED : code;
}

int cmd_audit(int argc, char **argv) {
    if (is_run(argc, argv)) return cmd_audit_run(argc, argv);
    request r = {0};
    cmd_output output = {0};
    billboard_answer *table = NULL, *verdict = NULL;
    billboard_status status = billboard_options("audit", &table);
    if (!status) read_line(argc, argv, table, &r);
    if (!status) status = cmd_open(&output);
    if (!status) status = cmd_audit_ask(&r.given, &verdict);
    if (!status && r.json)
        fprintf(output.stream, "%s\n", billboard_answer_json(verdict));
    else if (!status)
        print_text(verdict, cmd_options_last(&r.given, "seed"), output.stream);
    cmd_options_free(&r.given);
    billboard_answer_free(table);
    return cmd_audit_end(&output, status, verdict);
}
