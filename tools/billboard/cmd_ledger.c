#include "base/json.h"
#include "cmd_inside.h"
#include "privacy/ledger/ledger.h"

#include <stdlib.h>

typedef struct request {
    const char *path;
    bool json;
} request;

/* Everything a ledger says, read before anything is printed. */
typedef struct contents {
    bb_ledger_terms terms;
    double epsilon, delta; /* spent */
    double limit, total;   /* in the currency of kinds gdp and rdp */
    bb_ledger_entry *entry;
    size_t entries;
} contents;

/* Sums are rounded up, and may pass a full budget by a hair. */
static double left_of(double budget, double spent) {
    return spent < budget ? budget - spent : 0.0;
}

/* The currency beside (epsilon, delta), as a key and in words; NULL for kind sum. */
static const char *currency_key(const contents *c) {
    static const char *const key[] = {NULL, NULL, "mu_squared", "rdp"};
    return key[c->terms.kind];
}

static const char *currency(const contents *c) {
    return c->terms.kind == BB_LEDGER_GDP ? "mu^2" : "RDP";
}

static double left(const contents *c) {
    return c->total < c->limit ? c->limit - c->total : 0.0;
}

/* Adds an amount in the ledger's own currency, if it has one. */
static json_t *priced(const contents *c, json_t *object, double amount) {
    if (!currency_key(c) || !object) return object;
    if (!json_object_set_new(object, currency_key(c), bb_json_real(amount)))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *entry_json(const contents *c, const bb_ledger_entry *e) {
    json_t *json =
        json_pack("{s:I,s:s,s:s,s:f,s:f,s:s,s:o}", "id", (json_int_t)e->id, "time",
                  e->time, "description", e->description, "epsilon", e->epsilon,
                  "delta", e->delta, "state", bb_ledger_state_name(e->state),
                  "directory", *e->directory ? json_string(e->directory) : json_null());
    return priced(c, json, e->cost);
}

static json_t *left_json(const contents *c) {
    if (currency_key(c)) return priced(c, json_object(), left(c));
    return json_pack("{s:f,s:f}", "epsilon", left_of(c->terms.epsilon, c->epsilon),
                     "delta", left_of(c->terms.delta, c->delta));
}

static bb_status print_json(const contents *c, const cmd_output *output) {
    json_t *entries = json_array();
    for (size_t i = 0; i < c->entries; i++)
        cmd_append(&entries, entry_json(c, &c->entry[i]));
    json_t *all = json_pack(
        "{s:s,s:I,s:s,s:s,s:o,s:o,s:o,s:o,s:o}", "population", c->terms.population,
        "tasks", (json_int_t)c->terms.tasks, "adjacency",
        bb_adjacency_name(c->terms.adjacency), "kind",
        bb_ledger_kind_name(c->terms.kind), "order",
        c->terms.kind == BB_LEDGER_RDP ? json_real(c->terms.order) : json_null(),
        "budget",
        priced(c,
               json_pack("{s:f,s:f}", "epsilon", c->terms.epsilon, "delta",
                         c->terms.delta),
               c->limit),
        "spent",
        priced(c, json_pack("{s:f,s:f}", "epsilon", c->epsilon, "delta", c->delta),
               c->total),
        "left", left_json(c), "entries", entries);
    const bb_status status = cmd_output_json(output, all);
    json_decref(all);
    return status;
}

static void print_amount(const contents *c, double amount, FILE *stream) {
    if (currency_key(c)) fprintf(stream, " %s %.6g", currency(c), amount);
}

static void print_pair(const contents *c, const char *title, double epsilon,
                       double delta, double amount, FILE *stream) {
    fprintf(stream, "%-11s epsilon %-10.6g delta %-*.6g", title, epsilon,
            currency_key(c) ? 10 : 0, delta);
    print_amount(c, amount, stream);
    fputc('\n', stream);
}

static void print_text(const contents *c, FILE *stream) {
    fprintf(stream, "population  %s: %zu tasks, %s\n", c->terms.population,
            c->terms.tasks, bb_adjacency_name(c->terms.adjacency));
    fprintf(stream, "kind        %s", bb_ledger_kind_name(c->terms.kind));
    if (c->terms.kind == BB_LEDGER_RDP)
        fprintf(stream, ", order %.15g", c->terms.order);
    fputc('\n', stream);
    print_pair(c, "budget", c->terms.epsilon, c->terms.delta, c->limit, stream);
    print_pair(c, "spent", c->epsilon, c->delta, c->total, stream);
    if (currency_key(c))
        fprintf(stream, "left        %s %.6g\n", currency(c), left(c));
    else
        print_pair(c, "left", left_of(c->terms.epsilon, c->epsilon),
                   left_of(c->terms.delta, c->delta), 0.0, stream);
    for (size_t i = 0; i < c->entries; i++) {
        const bb_ledger_entry *e = &c->entry[i];
        fprintf(stream, "%s%4lld  %s  %-7s  epsilon %-10.6g delta %-10.6g",
                i ? "" : "\n", e->id, e->time, bb_ledger_state_name(e->state),
                e->epsilon, e->delta);
        print_amount(c, e->cost, stream);
        fprintf(stream, " %s\n", e->description);
        if (*e->directory) fprintf(stream, "      %s\n", e->directory);
    }
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
        "Shows a population's privacy budget, and the runs that were charged to it: "
        "running; done; died, if its process ended before it was done; or unknown, if "
        "that cannot be seen from here. A run keeps its charge however it ends.",
        NULL,
        NULL,
        NULL};
    request r = {0};
    contents c = {0};
    bb_ledger *ledger = NULL;
    cmd_output output = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &r);
    bb_ledger_on_wait(cmd_say_waiting, NULL);
    bb_status status = cmd_output_open(&output);
    if (!status) status = bb_ledger_read(&ledger, r.path, &c.terms);
    if (!status) status = bb_ledger_spent(ledger, &c.epsilon, &c.delta);
    if (!status) status = bb_ledger_total(ledger, &c.limit, &c.total);
    if (!status) status = bb_ledger_entries(ledger, &c.entry, &c.entries);
    if (!status && r.json) status = print_json(&c, &output);
    if (!status && !r.json) print_text(&c, output.stream);
    bb_ledger_entries_free(c.entry, c.entries);
    if (ledger) bb_ledger_close(ledger);
    return cmd_output_close(&output, status);
}
