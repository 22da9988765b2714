/* billboard identity: keys of places, and the roster of them. */
#define BILLBOARD_EXPERIMENTAL
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *verb, *file, *key, *helper;
    char **name; /* of silos, with their keys behind them */
    const char **public_key;
    size_t silos;
} request;

enum { KEY = 5000, HELPER };

/* NAME=KEY, which becomes two texts. */
static error_t take_silo(request *r, struct argp_state *state, char *text) {
    char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        argp_error(state, "\"%s\": expected SILO=KEY, its public key", text);
        return EINVAL;
    }
    *equals = '\0';
    r->name[r->silos] = text;
    r->public_key[r->silos++] = equals + 1;
    return 0;
}

static bool is(const char *verb, const char *name) {
    return strcmp(verb, name) == 0;
}

static void check(const request *r, const struct argp_state *state) {
    static const char *const known[] = {"new", "show", "roster", "check"};
    bool found = false;
    for (size_t k = 0; r->file && k < sizeof known / sizeof *known; k++)
        found = found || is(r->verb, known[k]);
    if (!found)
        argp_error(state, "expected: new, show, roster or check, and a FILE");
    else if (is(r->verb, "roster") && (!r->key || !r->silos))
        argp_error(state, "expected: roster FILE --key FILE SILO=KEY...");
    else if (!is(r->verb, "roster") && (r->key || r->helper))
        argp_error(state, "--key and --helper are for roster");
}

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    switch (key) {
    case KEY:
        r->key = text;
        return 0;
    case HELPER:
        r->helper = text;
        return 0;
    case ARGP_KEY_ARG:
        if (!r->verb)
            r->verb = text;
        else if (!r->file)
            r->file = text;
        else if (is(r->verb, "roster"))
            return take_silo(r, state, text);
        else
            argp_error(state, "\"%s\": expected one FILE", text);
        return 0;
    case ARGP_KEY_END:
        check(r, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_roster(const billboard_answer *a, FILE *to) {
    char at[48];
    fprintf(to, "%-20s %s\n", "the curator", billboard_answer_text(a, "curator"));
    if (billboard_answer_text(a, "helper"))
        fprintf(to, "%-20s %s\n", "the helper", billboard_answer_text(a, "helper"));
    for (size_t k = 0; k < billboard_answer_count(a, "silos"); k++) {
        snprintf(at, sizeof at, "silos.%zu.name", k);
        fprintf(to, "%-20s ", billboard_answer_text(a, at));
        snprintf(at, sizeof at, "silos.%zu.public", k);
        fprintf(to, "%s\n", billboard_answer_text(a, at));
    }
}

static billboard_status answer(const request *r, FILE *to) {
    billboard_answer *a = NULL;
    billboard_status status = BILLBOARD_OK;
    if (is(r->verb, "new")) status = billboard_experimental_identity_new(r->file, &a);
    if (is(r->verb, "show")) status = billboard_experimental_identity_read(r->file, &a);
    if (is(r->verb, "roster"))
        status = billboard_experimental_keys_write(r->file, r->key, r->helper, r->silos,
                                                   (const char *const *)r->name,
                                                   r->public_key);
    if (!status && !a) status = billboard_experimental_keys_read(r->file, &a);
    if (!status && billboard_answer_text(a, "public"))
        fprintf(to, "%s\n", billboard_answer_text(a, "public"));
    else if (!status)
        print_roster(a, to);
    billboard_answer_free(a);
    return status;
}

int cmd_identity(int argc, char **argv) {
    static const struct argp_option option[] = {
        {"key", KEY, "FILE", 0, "roster: the curator's private key, which signs it", 0},
        {"helper", HELPER, "KEY", 0,
         "roster: the public key of whoever keeps the second of two doors", 0},
        {0}};
    const struct argp argp = {
        option,
        parse,
        "new FILE\nshow FILE\nroster FILE SILO=KEY...\ncheck FILE",
        "Keys by which the places of a run know each other. `new' makes a private key "
        "that only you may read, and says the public one, as `show' does; `roster' "
        "writes down who has which, signed by the curator; `check' says who is in one.",
        NULL,
        NULL,
        NULL};
    request r = {0};
    cmd_output output = {0};
    r.name = calloc((size_t)argc, sizeof *r.name);
    r.public_key = calloc((size_t)argc, sizeof *r.public_key);
    billboard_status status =
        r.name && r.public_key ? BILLBOARD_OK : cmd_fail(BILLBOARD_FAILED, "no memory");
    if (!status) argp_parse(&argp, argc, argv, 0, NULL, &r);
    if (!status) status = cmd_open(&output);
    if (!status) status = answer(&r, output.stream);
    free(r.name);
    free(r.public_key);
    return cmd_close(&output, status);
}
