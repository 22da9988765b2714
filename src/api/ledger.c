#include "privacy/ledger/ledger.h"

#include "api/job.h"
#include "base/json.h"

#include <stdlib.h>

/* Everything a ledger says, read before anything is printed. */
typedef struct contents {
    bb_ledger_terms terms;
    double epsilon, delta; /* spent */
    double limit, total;   /* in the currency of kinds gdp and rdp */
    size_t *added;         /* numbers of tasks beside that of the terms */
    size_t adds;
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

static json_t *ledger_json(const contents *c) {
    json_t *entries = json_array(), *added = json_array();
    for (size_t k = 0; k < c->adds; k++)
        bb_json_append(&added, json_integer((json_int_t)c->added[k]));
    for (size_t i = 0; i < c->entries; i++)
        bb_json_append(&entries, entry_json(c, &c->entry[i]));
    return json_pack(
        "{s:s,s:I,s:o,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o}", "population",
        c->terms.population, "tasks", (json_int_t)c->terms.tasks, "also_tasks", added,
        "adjacency", bb_adjacency_name(c->terms.adjacency), "sampling",
        bb_ledger_sampling(c->terms.kind), "kind", bb_ledger_kind_name(c->terms.kind),
        "order",
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
}

static bb_status read_ledger(const char *path, billboard_answer **out) {
    contents c = {0};
    bb_ledger *ledger = NULL;
    bb_status status = bb_ledger_read(&ledger, path, &c.terms);
    if (!status) status = bb_ledger_spent(ledger, &c.epsilon, &c.delta);
    if (!status) status = bb_ledger_total(ledger, &c.limit, &c.total);
    if (!status) status = bb_ledger_added_tasks(ledger, &c.added, &c.adds);
    if (!status) status = bb_ledger_entries(ledger, &c.entry, &c.entries);
    if (!status) status = bb_answer_open(out, ledger_json(&c));
    bb_ledger_entries_free(c.entry, c.entries);
    free(c.added);
    if (ledger) bb_ledger_close(ledger);
    return status;
}

billboard_status billboard_ledger(const char *path, const billboard_watch *watch,
                                  billboard_answer **ledger) {
    static const char function[] = "billboard_ledger";
    billboard_watch own;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = bb_call_given(ledger, function, "ledger");
    if (!status) status = bb_watch_take(&own, watch);
    bb_ledger_on_wait(bb_watch_waits, &own);
    if (!status) status = read_ledger(path, ledger);
    bb_ledger_on_wait(NULL, NULL);
    return bb_call_end(&call, status);
}

typedef bb_status change(bb_ledger *ledger, size_t tasks);

static billboard_status change_tasks(const char *path, size_t tasks,
                                     const billboard_watch *watch, change *how,
                                     const char *function) {
    bb_ledger *ledger = NULL;
    bb_ledger_terms terms;
    billboard_watch own;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = bb_watch_take(&own, watch);
    bb_ledger_on_wait(bb_watch_waits, &own);
    if (!status) status = bb_ledger_read(&ledger, path, &terms);
    if (!status) status = how(ledger, tasks);
    bb_ledger_close(ledger);
    bb_ledger_on_wait(NULL, NULL);
    return bb_call_end(&call, status);
}

billboard_status billboard_ledger_tasks(const char *path, size_t tasks,
                                        const billboard_watch *watch) {
    return change_tasks(path, tasks, watch, bb_ledger_add_tasks,
                        "billboard_ledger_tasks");
}

billboard_status billboard_ledger_not_tasks(const char *path, size_t tasks,
                                            const billboard_watch *watch) {
    return change_tasks(path, tasks, watch, bb_ledger_remove_tasks,
                        "billboard_ledger_not_tasks");
}
