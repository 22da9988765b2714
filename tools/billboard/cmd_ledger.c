#include "base/json.h"
#include "cmd.h"
#include "privacy/ledger.h"

#include <stdlib.h>

typedef struct request {
    const char *path;
    bool json;
} request;

/* Everything a ledger says, read before anything is printed. */
typedef struct contents {
    bb_ledger_terms terms;
    double epsilon, delta; /* spent */
    bb_ledger_entry *entry;
    size_t entries;
} contents;

static bb_status print_json(const contents *c, const cmd_output *output) {
    json_t *entries = json_array();
    for (size_t i = 0; i < c->entries; i++) {
        const bb_ledger_entry *e = &c->entry[i];
        cmd_append(&entries, json_pack("{s:I,s:s,s:s,s:f,s:f}", "id", (json_int_t)e->id,
                                       "time", e->time, "description", e->description,
                                       "epsilon", e->epsilon, "delta", e->delta));
    }
    json_t *all = json_pack(
        "{s:s,s:I,s:s,s:{s:f,s:f},s:{s:f,s:f},s:{s:f,s:f},s:o}", "population",
        c->terms.population, "tasks", (json_int_t)c->terms.tasks, "adjacency",
        bb_adjacency_name(c->terms.adjacency), "budget", "epsilon", c->terms.epsilon,
        "delta", c->terms.delta, "spent", "epsilon", c->epsilon, "delta", c->delta,
        "left", "epsilon", c->terms.epsilon - c->epsilon, "delta",
        c->terms.delta - c->delta, "entries", entries);
    const bb_status status = cmd_output_json(output, all);
    json_decref(all);
    return status;
}

static void print_text(const contents *c, FILE *stream) {
    fprintf(stream, "population  %s: %zu tasks, %s\n", c->terms.population,
            c->terms.tasks, bb_adjacency_name(c->terms.adjacency));
    fprintf(stream, "budget      epsilon %-10.6g delta %.6g\n", c->terms.epsilon,
            c->terms.delta);
    fprintf(stream, "spent       epsilon %-10.6g delta %.6g\n", c->epsilon, c->delta);
    fprintf(stream, "left        epsilon %-10.6g delta %.6g\n",
            c->terms.epsilon - c->epsilon, c->terms.delta - c->delta);
    for (size_t i = 0; i < c->entries; i++)
        fprintf(stream, "%s%4lld  %s  epsilon %-10.6g delta %-10.6g %s\n",
                i ? "" : "\n", c->entry[i].id, c->entry[i].time, c->entry[i].epsilon,
                c->entry[i].delta, c->entry[i].description);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key == 'j')
        r->json = true;
    else if (key == ARGP_KEY_ARG && !r->path)
        r->path = text;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "takes one FILE");
    else if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "which FILE?");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

int cmd_ledger(int argc, char **argv) {
    static const struct argp_option option[] = {
        {"json", 'j', NULL, 0, "as one JSON object", 0}, {0}};
    const struct argp argp = {
        option,
        parse,
        "FILE",
        "Shows a population's privacy budget, and the runs that were charged to it.",
        NULL,
        NULL,
        NULL};
    request r = {0};
    contents c = {0};
    bb_ledger *ledger = NULL;
    cmd_output output = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &r);
    bb_status status = cmd_output_open(&output);
    if (!status) status = bb_ledger_read(&ledger, r.path, &c.terms);
    if (!status) status = bb_ledger_spent(ledger, &c.epsilon, &c.delta);
    if (!status) status = bb_ledger_entries(ledger, &c.entry, &c.entries);
    if (!status && r.json) status = print_json(&c, &output);
    if (!status && !r.json) print_text(&c, output.stream);
    bb_ledger_entries_free(c.entry, c.entries);
    if (ledger) bb_ledger_close(ledger);
    return cmd_output_close(&output, status);
}
