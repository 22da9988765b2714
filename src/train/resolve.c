#include "train/resolve.h"

#include "base/number.h"
#include "data/preprocess.h"

#include <math.h>
#include <string.h>

static bb_status choose_mechanism(const bb_train_request *r, bb_resolved *c) {
    bool can_be_private = false;
    for (size_t k = 0; k < r->phases; k++)
        can_be_private |= r->phase[k].method->kind == BB_METHOD_PRIVATE;
    const char *name = r->options.mechanism;
    if (!name) name = can_be_private ? "gaussian" : "none";
    c->mechanism = bb_mechanism_find(name);
    if (!c->mechanism)
        return bb_fail(BB_EUSAGE,
                       "unknown mechanism \"%s\"; known are gaussian, none, "
                       "wishart-published",
                       name);
    c->noisy = c->mechanism->pricing != BB_PRICE_NOTHING;
    if (c->noisy && !can_be_private)
        return bb_fail(BB_EUSAGE, "method %s %s: mechanism %s does not apply to it",
                       r->phase[0].method->name,
                       r->phase[0].method->kind == BB_METHOD_ALONE
                           ? "shares nothing"
                           : "exchanges everything in the clear",
                       name);
    if (c->mechanism->pricing == BB_PRICE_PUBLISHED && !r->options.allow_broken_privacy)
        return bb_fail(
            BB_EUSAGE,
            "mechanism %s is not private as its paper claims "
            "(docs/privacy.md); --allow-broken-privacy runs it all the same, "
            "and the statement says what is true",
            name);
    return BB_OK;
}

static bb_status check_epsilon(const bb_train_request *r, const bb_resolved *c) {
    const bool given = !isnan(r->options.epsilon);
    if (c->noisy && !given)
        return bb_fail(BB_EUSAGE,
                       "method %s is private and needs --epsilon (or --mechanism none, "
                       "to see what it does without privacy)",
                       r->phase[0].method->name);
    if (!c->noisy && (given || r->options.delta))
        return bb_fail(
            BB_EUSAGE, "%s %s adds no noise, so --%s has no meaning: leave it out",
            r->options.mechanism ? "mechanism" : "method",
            r->options.mechanism ? r->options.mechanism : r->phase[0].method->name,
            given ? "epsilon" : "delta");
    return BB_OK;
}

static bb_status check_loss(const bb_train_request *r, const bb_resolved *c) {
    const bb_train_options *o = &r->options;
    const bool one_output = bb_loss_is_solved(c->loss, o->net);
    if (!one_output && o->standardize == BB_STANDARDIZE_TASK)
        return bb_fail(BB_EUSAGE,
                       "--standardize task is for linear models of one output: use "
                       "--standardize unit-rows, or public ranges (--scale)");
    if (c->noisy && !bb_loss_is_single(c->loss) && !o->classes &&
        (!o->net || c->loss == BB_LOSS_MULTILABEL))
        return bb_fail(BB_EUSAGE,
                       "a private run must be told how many classes or labels there "
                       "are, which is public: --classes N");
    if (o->start_seed != 1 && !o->net)
        return bb_fail(BB_EUSAGE, "--start-seed says where networks start: give --net");
    if (o->classes && bb_loss_is_single(c->loss))
        return bb_fail(BB_EUSAGE, "--classes is for the softmax and multilabel losses");
    return BB_OK;
}

/* Whether rows get a constant column: where methods that share something want one (they
 * agree, core/check.c). Models of several outputs always have one, networks none. */
static bool wants_constant(const bb_train_request *r, bb_loss loss) {
    const bb_method *first = r->phase[0].method;
    for (size_t k = r->phases; k-- > 0;)
        if (r->phase[k].method->kind != BB_METHOD_ALONE) first = r->phase[k].method;
    if (r->options.net) return false;
    return !bb_loss_is_single(loss) || first->shared_intercept;
}

static bb_status check_clusters(const bb_train_request *r, const bb_resolved *c) {
    const bb_method *clustered = NULL;
    for (size_t k = 0; k < r->phases; k++)
        if (r->phase[k].method->clustered) clustered = r->phase[k].method;
    if (r->options.clusters && !r->options.cluster)
        return bb_fail(BB_EUSAGE, "--clusters says how many groups --cluster tells: "
                                  "give --cluster COLUMN");
    if (clustered && r->options.cluster && c->noisy && !r->options.clusters)
        return bb_fail(BB_EUSAGE,
                       "a private run must be told how many clusters there are, which "
                       "is public, numbered from 0 in column \"%s\": --clusters N",
                       r->options.cluster);
    if ((clustered != NULL) == (r->options.cluster != NULL)) return BB_OK;
    return clustered ? bb_fail(BB_EUSAGE,
                               "method %s needs the public column that groups tasks: "
                               "--cluster COLUMN",
                               clustered->name)
                     : bb_fail(BB_EUSAGE, "method %s has no use for --cluster",
                               r->phase[0].method->name);
}

/* The promise for single rows needs each prepared without looking at the others. */
static bb_status check_rows(const bb_train_request *r, const bb_resolved *c) {
    if (!c->noisy || r->options.standardize != BB_STANDARDIZE_TASK) return BB_OK;
    for (size_t k = 0; k < r->phases; k++) {
        const bb_method *m = r->phase[k].method;
        const void *options = r->phase[k].options;
        if (m->own_noise || (m->for_rows && m->for_rows(options)))
            return bb_fail(BB_EUSAGE,
                           "method %s protects single rows, but --standardize task "
                           "changes every row of a task with any one of them: use "
                           "--standardize unit-rows, or public ranges (--scale)",
                           m->name);
    }
    return BB_OK;
}

static bb_status check_seed(const bb_train_options *o, bb_resolved *c) {
    c->seeded = o->seed != NULL;
    if (c->seeded && !bb_number_count(o->seed, &c->seed))
        return bb_fail(BB_EUSAGE, "--seed expects a whole number, got \"%s\"", o->seed);
    return BB_OK;
}

static bb_status check_compare(const char *list, bb_resolved *c) {
    while (list && *list) {
        const size_t length = strcspn(list, ",");
        if (length == 3 && memcmp(list, "stl", 3) == 0)
            c->compare_stl = true;
        else if (length == 10 && memcmp(list, "no-privacy", 10) == 0)
            c->compare_no_privacy = true;
        else
            return bb_fail(BB_EUSAGE,
                           "--compare knows stl and no-privacy, got \"%.*s\"",
                           (int)length, list);
        list += length + (list[length] == ',');
    }
    return BB_OK;
}

/* A cohort of fixed size is hidden only from those whose models do not tell about it.
 */
static bb_status check_sampling(const bb_train_request *r, bb_resolved *c) {
    const char *text = r->options.sampling;
    uint64_t cohort;
    bool keeps = false;
    if (!text || strcmp(text, "all") == 0) return BB_OK;
    for (size_t k = 0; k < r->phases; k++) {
        const bb_method *method = r->phase[k].method;
        keeps = keeps || method->keeps;
        if (!method->sampled && method->kind != BB_METHOD_ALONE)
            return bb_fail(BB_EUSAGE,
                           "method %s asks all tasks in every round: --sampling "
                           "all is the only one it has",
                           method->name);
    }
    if (strncmp(text, "poisson:", 8) == 0 && bb_number_real(text + 8, &c->rate) &&
        c->rate > 0.0 && c->rate <= 1.0) {
        c->sampling = BB_SAMPLING_POISSON;
        return BB_OK;
    }
    if (strncmp(text, "fixed:", 6) == 0 && bb_number_count(text + 6, &cohort) &&
        cohort > 0) {
        c->sampling = keeps ? BB_SAMPLING_FIXED_VISIBLE : BB_SAMPLING_FIXED_HIDDEN;
        c->cohort = (size_t)cohort;
        return BB_OK;
    }
    return bb_fail(
        BB_EUSAGE,
        "--sampling expects all, poisson:Q with Q in (0, 1], or fixed:K with "
        "K > 0, got \"%s\"",
        text);
}

/* What core refuses, before data are read. */
static bb_status check_methods(const bb_train_request *r, const bb_resolved *c) {
    const bb_train_options *o = &r->options;
    bb_run run = {.phases = r->phases,
                  .mechanism = c->mechanism,
                  .seeded = c->seeded,
                  .pub = {.schedule = o->schedule,
                          .batch = (size_t)o->batch,
                          .sampling = c->sampling,
                          .loss = c->loss,
                          .network = o->net != NULL}};
    for (size_t k = 0; k < r->phases; k++) run.phase[k] = r->phase[k];
    const bb_status status = bb_run_check_methods(&run);
    return status || !o->ledger ? status : bb_run_check_price(&run);
}

static bb_status check_ledger(const bb_train_options *o) {
    bb_ledger_kind kind;
    const bool terms = !isnan(o->budget_epsilon) || !isnan(o->budget_delta) ||
                       !isnan(o->ledger_order) || o->population || o->ledger_kind;
    if (!o->ledger)
        return terms ? bb_fail(BB_EUSAGE, "a budget, population, kind or order needs a "
                                          "ledger: --ledger")
                     : BB_OK;
    return bb_ledger_kind_find(o->ledger_kind, &kind);
}

bb_status bb_resolve(const bb_train_request *request, bb_resolved *resolved) {
    const bb_train_options *o = &request->options;
    bb_resolved c = {.adjacency = o->adjacency == 0 ? BB_REPLACE_ONE : BB_ADD_REMOVE};
    bb_status status = choose_mechanism(request, &c);
    if (!status) status = check_seed(o, &c);
    c.loss = (bb_loss)o->loss;
    c.constant = wants_constant(request, c.loss);
    if (!status) status = check_sampling(request, &c);
    if (!status) status = check_methods(request, &c);
    if (!status) status = check_loss(request, &c);
    if (!status) status = check_clusters(request, &c);
    if (!status) status = check_epsilon(request, &c);
    if (!status) status = check_rows(request, &c);
    if (!status) status = check_compare(o->compare, &c);
    if (!status) status = check_ledger(o);
    if (!status && o->test && o->train_fraction < 1.0)
        status = bb_fail(BB_EUSAGE,
                         "--test names the test rows: --train-fraction has no meaning");
    if (!status && !(o->output && *o->output))
        status = bb_fail(BB_EUSAGE, "where to? give --output RUN");
    if (!status) *resolved = c;
    return status;
}

bb_status bb_resolve_ledger(const bb_train_options *o, size_t tasks,
                            bb_adjacency adjacency, bb_ledger **ledger) {
    bb_ledger_terms terms = {.population = o->population,
                             .tasks = tasks,
                             .adjacency = adjacency,
                             .epsilon = o->budget_epsilon,
                             .delta = o->budget_delta,
                             .order = isnan(o->ledger_order) ? 0.0 : o->ledger_order};
    if (!o->ledger) return BB_OK;
    const bb_status status = bb_ledger_kind_find(o->ledger_kind, &terms.kind);
    return status ? status : bb_ledger_open(ledger, o->ledger, &terms);
}
