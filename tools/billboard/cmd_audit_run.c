/* `billboard audit --method NAME ...`: attacks on whole training runs. */
#include "cmd.h"

#include <math.h>
#include <string.h>

/* What this command has in common with `billboard train`, by its names. */
static const char *const same[] = {"method",  "loss",  "rounds", "schedule",
                                   "epsilon", "delta", "seed",   "mechanism"};
enum { SAME = sizeof same / sizeof *same, MOST_ROWS = 32 };
enum {
    FIRST_KEY = 1000,
    SAME_KEY = FIRST_KEY + MOST_ROWS,
    JSON = SAME_KEY + SAME,
    SET_KEY = 's'
};

typedef struct request {
    const char *name[MOST_ROWS]; /* of the option with key FIRST_KEY + k */
    cmd_options given;
    bool json;
} request;

/* -- saying it -- */

static void print_guesses(const billboard_answer *a, FILE *stream) {
    const double tasks = billboard_answer_number(a, "tasks");
    if (strcmp(billboard_answer_text(a, "attack"), "canary") == 0)
        fprintf(stream,
                "audited    one run of %.0f task%s, %.0f of them canaries\n"
                "guessed    %.0f, right %.0f\n",
                tasks, cmd_plural(tasks), billboard_answer_number(a, "canaries"),
                billboard_answer_number(a, "guesses"),
                billboard_answer_number(a, "correct"));
    else
        fprintf(stream,
                "audited    %.0f runs of %.0f task%s, one of them the target\n"
                "guessed    AUC %.3f; true positives %.3f / %.3f / %.3f at false "
                "positives 0.001 / 0.01 / 0.1\n",
                billboard_answer_number(a, "runs"), tasks, cmd_plural(tasks),
                billboard_answer_number(a, "auc"),
                billboard_answer_number(a, "tpr_at_fpr.0.tpr"),
                billboard_answer_number(a, "tpr_at_fpr.1.tpr"),
                billboard_answer_number(a, "tpr_at_fpr.2.tpr"));
}

static void print_text(const billboard_answer *a, FILE *stream) {
    const bool claims = billboard_answer_number(a, "claims") > 0.0;
    const char *method = billboard_answer_text(a, "method"),
               *mechanism = billboard_answer_text(a, "mechanism");
    if (claims)
        fprintf(
            stream, "claimed    epsilon %g at delta %g, %s, sampling: all; %s, %s\n",
            billboard_answer_number(a, "epsilon"), billboard_answer_number(a, "delta"),
            billboard_answer_text(a, "adjacency"), method, mechanism);
    else
        fprintf(stream, "claimed    nothing; %s, %s\n", method, mechanism);
    print_guesses(a, stream);
    fprintf(stream,
            "found      epsilon at least %.4g at delta %g, %s, sampling: %s; "
            "confidence %g\n"
            "verdict    %s\n",
            billboard_answer_number(a, "epsilon_lower"),
            billboard_answer_number(a, "delta"), billboard_answer_text(a, "adjacency"),
            billboard_answer_text(a, "sampling"),
            billboard_answer_number(a, "confidence"),
            !claims                                        ? "no claim"
            : billboard_answer_number(a, "violated") > 0.0 ? "violated"
                                                           : "consistent");
}

/* -- the command line -- */

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key == JSON)
        r->json = true;
    else if (key == SET_KEY)
        cmd_options_add(&r->given, "set", text);
    else if (key >= SAME_KEY && key < SAME_KEY + SAME)
        cmd_options_add(&r->given, same[key - SAME_KEY], text);
    else if (key >= FIRST_KEY && key < FIRST_KEY + MOST_ROWS)
        cmd_options_add(&r->given, r->name[key - FIRST_KEY], text);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static size_t describe_own(const billboard_answer *table, request *r,
                           struct argp_option *option) {
    const size_t rows = billboard_answer_count(table, "options");
    for (size_t k = 0; k < rows && k < MOST_ROWS; k++) {
        r->name[k] = cmd_option_part(table, k, "name");
        option[k] = (struct argp_option){.name = r->name[k],
                                         .key = FIRST_KEY + (int)k,
                                         .arg = cmd_option_part(table, k, "argument"),
                                         .doc = cmd_option_part(table, k, "help")};
    }
    return rows;
}

static size_t describe_same(const billboard_answer *table, struct argp_option *option) {
    const size_t rows = billboard_answer_count(table, "options");
    size_t n = 0;
    for (int k = 0; k < SAME; k++)
        for (size_t row = 0; row < rows; row++)
            if (strcmp(cmd_option_part(table, row, "name"), same[k]) == 0)
                option[n++] =
                    (struct argp_option){.name = same[k],
                                         .key = SAME_KEY + k,
                                         .arg = cmd_option_part(table, row, "argument"),
                                         .doc = cmd_option_part(table, row, "help")};
    return n;
}

static billboard_status read_line(int argc, char **argv, billboard_answer *table[2],
                                  request *r) {
    struct argp_option option[MOST_ROWS + SAME + 3] = {0};
    billboard_status status = billboard_options("audit-method", &table[0]);
    if (!status) status = billboard_options("train", &table[1]);
    if (status) return status;
    size_t n = describe_own(table[0], r, option);
    n += describe_same(table[1], option + n);
    option[n++] = (struct argp_option){
        .name = "json", .key = JSON, .doc = "results on stdout as one JSON object"};
    option[n] = (struct argp_option){.name = "set",
                                     .key = SET_KEY,
                                     .arg = "KEY=VALUE",
                                     .doc = "an option of the method; may be repeated"};
    const struct argp argp = {
        option,
        parse,
        NULL,
        "Attacks whole training runs of a method on a synthetic population, knowing "
        "all but one task's (or the canaries') data, and says what epsilon the runs "
        "have at least.",
        NULL,
        NULL,
        NULL};
    argp_parse(&argp, argc, argv, 0, NULL, r);
    return BILLBOARD_OK;
}

int cmd_audit_run(int argc, char **argv) {
    request r = {0};
    cmd_output output = {0};
    billboard_answer *table[2] = {NULL, NULL}, *verdict = NULL;
    billboard_status status = read_line(argc, argv, table, &r);
    if (!status) status = cmd_audit_ask(&r.given, &verdict);
    if (!status) status = cmd_open(&output);
    if (!status && r.json)
        fprintf(output.stream, "%s\n", billboard_answer_json(verdict));
    else if (!status)
        print_text(verdict, output.stream);
    cmd_options_free(&r.given);
    billboard_answer_free(table[0]);
    billboard_answer_free(table[1]);
    return cmd_audit_end(&output, status, verdict);
}
