/* billboard policy check: what a silo's policy allows, in words. */
#define BILLBOARD_EXPERIMENTAL
#include "cmd.h"

#include <math.h>
#include <string.h>

typedef struct request {
    const char *verb, *file;
    bool json;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    switch (key) {
    case 'j':
        r->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (r->file) argp_error(state, "takes one FILE");
        if (r->verb)
            r->file = text;
        else
            r->verb = text;
        return 0;
    case ARGP_KEY_END:
        if (!r->verb || strcmp(r->verb, "check") != 0 || !r->file)
            argp_error(state, "expected: check FILE");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char *or_all(const billboard_answer *a, const char *name) {
    const char *text = billboard_answer_text(a, name);
    return text ? text : "all";
}

static void print_count(const billboard_answer *a, const char *name, const char *what,
                        const char *where, FILE *to) {
    const double count = billboard_answer_number(a, name);
    if (count > 0.0)
        fprintf(to, "%s %.0f %s\n", what, count, where);
    else
        fprintf(to, "%s any number\n", what);
}

static void print(const billboard_answer *a, FILE *to) {
    const char *ledger = billboard_answer_text(a, "ledger");
    const char *curators = billboard_answer_text(a, "curators");
    const double epsilon = billboard_answer_number(a, "budget-epsilon"),
                 delta = billboard_answer_number(a, "budget-delta");
    fprintf(to, "one run may spend    ε %g, δ %g, towards adjacency: %s\n",
            billboard_answer_number(a, "most-epsilon"),
            billboard_answer_number(a, "most-delta"), or_all(a, "adjacencies"));
    fprintf(to, "methods              %s\n", or_all(a, "methods"));
    print_count(a, "fewest-tasks", "tasks, at least     ", "that the plan names", to);
    print_count(a, "fewest-silos", "silos, at least     ",
                "that the plan names, and asks for in every round", to);
    fprintf(to, "curators             %s\n",
            curators ? curators : "whoever the roster names, or the carrier reaches");
    const char *helpers = billboard_answer_text(a, "helpers");
    if (helpers) fprintf(to, "two doors, helped by %s\n", helpers);
    if (ledger && !isnan(epsilon) && !isnan(delta))
        fprintf(to, "all runs together    ε %g, δ %g, counted in %s\n", epsilon, delta,
                ledger);
    else if (ledger)
        fprintf(to, "all runs together    the budget of %s\n", ledger);
    else
        fputs("all runs together    no limit: there is no \"ledger\"\n", to);
    if (billboard_answer_number(a, "allow-open") > 0.0)
        fputs(
            "NOT PRIVATE: runs without noise, or with noise that anybody can draw, are "
            "allowed\n",
            to);
}

int cmd_policy(int argc, char **argv) {
    static const struct argp_option option[] = {
        {"json", 'j', NULL, 0, "all of it as one JSON object", 0}, {0}};
    const struct argp argp = {option,
                              parse,
                              "check FILE",
                              "Says what a silo with this policy agrees to, or what is "
                              "wrong with it.",
                              NULL,
                              NULL,
                              NULL};
    request r = {0};
    billboard_answer *answer = NULL;
    cmd_output output = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &r);
    billboard_status status = cmd_open(&output);
    if (!status) status = billboard_experimental_policy_read(r.file, &answer);
    if (!status && r.json)
        fprintf(output.stream, "%s\n", billboard_answer_json(answer));
    else if (!status)
        print(answer, output.stream);
    billboard_answer_free(answer);
    return cmd_close(&output, status);
}
