#include "train/resolve.h"

#include "base/number.h"
#include "data/names.h"
#include "data/preprocess.h"
#include "train/effects.h"
#include "train/intervals.h"

#include <math.h>
#include <string.h>

bool bb_resolved_is_solved(const bb_resolved *c) {
    return bb_loss_is_solved(c->run.pub.loss, c->run.pub.network);
}

/* -- what texts say -- */

static bb_status read_mechanism(const bb_train_options *o, bb_resolved *c) {
    c->run.mechanism = bb_mechanism_find(o->mechanism);
    if (!c->run.mechanism)
        return bb_fail(BB_EUSAGE,
                       "unknown mechanism \"%s\"; known are gaussian, none, "
                       "wishart-published, lipschitz-published",
                       o->mechanism);
    if (c->run.mechanism->pricing == BB_PRICE_PUBLISHED && !o->allow_broken_privacy)
        return bb_fail(
            BB_EUSAGE,
            "mechanism %s is not private as its paper claims "
            "(docs/privacy.md); --allow-broken-privacy runs it all the same, "
            "and the statement says what is true",
            o->mechanism);
    return BB_OK;
}

static bb_status read_seed(const bb_train_options *o, bb_resolved *c) {
    c->run.seeded = o->seed != NULL;
    if (c->run.seeded && !bb_number_count(o->seed, &c->run.seed))
        return bb_fail(BB_EUSAGE, "--seed expects a whole number, got \"%s\"", o->seed);
    return BB_OK;
}

/* A cohort of fixed size is hidden only from those whose models do not tell about it.
 */
static bb_status read_sampling(const char *text, bb_resolved *c) {
    bb_public *pub = &c->run.pub;
    uint64_t cohort;
    bool keeps = false;
    if (!text || strcmp(text, "all") == 0) return BB_OK;
    for (size_t k = 0; k < c->run.phases; k++)
        keeps = keeps || c->run.phase[k].method->keeps;
    if (strncmp(text, "poisson:", 8) == 0 && bb_number_real(text + 8, &pub->rate) &&
        pub->rate > 0.0 && pub->rate <= 1.0) {
        pub->sampling = BB_SAMPLING_POISSON;
        return BB_OK;
    }
    if (strncmp(text, "fixed:", 6) == 0 && bb_number_count(text + 6, &cohort) &&
        cohort > 0) {
        pub->sampling = keeps ? BB_SAMPLING_FIXED_VISIBLE : BB_SAMPLING_FIXED_HIDDEN;
        pub->cohort = (size_t)cohort;
        return BB_OK;
    }
    return bb_fail(
        BB_EUSAGE,
        "--sampling expects all, poisson:Q with Q in (0, 1], or fixed:K with "
        "K > 0, got \"%s\"",
        text);
}

static bb_status read_compare(const char *list, bb_resolved *c) {
    while (list && *list) {
        const size_t whole = strcspn(list, ",");
        const char *word = list;
        size_t length = whole;
        bb_trim(&word, &length);
        if (length == 3 && memcmp(word, "stl", 3) == 0)
            c->compare_stl = true;
        else if (length == 10 && memcmp(word, "no-privacy", 10) == 0)
            c->compare_no_privacy = true;
        else
            return bb_fail(BB_EUSAGE,
                           "--compare knows stl and no-privacy, got \"%.*s\"",
                           (int)length, word);
        list += whole + (list[whole] == ',');
    }
    return BB_OK;
}

/* Whether rows get a constant column: where methods that share something want one (they
 * agree, core/check.c). Models of several outputs always have one, networks none. */
static bool wants_constant(const bb_run *run) {
    const bb_phase *first = run->phase;
    for (size_t k = run->phases; k-- > 0;)
        if (run->phase[k].method->kind != BB_METHOD_ALONE) first = run->phase + k;
    if (run->pub.network) return false;
    return !bb_loss_is_single(run->pub.loss) ||
           bb_method_shares_intercept(first->method, first->options);
}

static bb_status read_texts(const bb_train_options *o, bb_resolved *c) {
    bb_public *pub = &c->run.pub;
    *pub = (bb_public){.loss = (bb_loss)o->loss,
                       .network = o->net != NULL,
                       .batch = (size_t)o->batch,
                       .scale_sum = o->loss_scale == 1,
                       .adjacency = o->adjacency == 0 ? BB_REPLACE_ONE : BB_ADD_REMOVE,
                       .schedule = o->schedule,
                       .doors = (size_t)o->doors};
    bb_status status = read_mechanism(o, c);
    if (!status) status = read_seed(o, c);
    if (!status) status = read_sampling(o->sampling, c);
    if (!status) status = read_compare(o->compare, c);
    if (status) return status;
    c->constant = wants_constant(&c->run);
    pub->constant = !o->no_intercept && c->constant;
    pub->ranged = o->scale && o->standardize == BB_STANDARDIZE_NONE;
    pub->unranged = o->standardize == BB_STANDARDIZE_MAGNITUDE;
    pub->own_units = pub->unranged && c->run.phases == 1;
    pub->intercept = !o->no_intercept && !c->constant && bb_resolved_is_solved(c);
    pub->epsilon = bb_mechanism_is_noisy(c->run.mechanism) ? o->epsilon : INFINITY;
    return BB_OK;
}

/* -- what makes no sense, beside what core says -- */

static bb_status check_epsilon(const bb_train_options *o, const bb_run *run) {
    const bool given = !isnan(o->epsilon);
    bool can_be_private = false;
    if (bb_mechanism_is_noisy(run->mechanism) || (!given && !o->delta)) return BB_OK;
    for (size_t k = 0; k < run->phases; k++)
        can_be_private |= run->phase[k].method->kind == BB_METHOD_PRIVATE;
    return bb_fail(BB_EUSAGE,
                   "%s %s adds no noise, so --%s has no meaning: leave it out",
                   can_be_private ? "mechanism" : "method",
                   can_be_private ? run->mechanism->name : run->phase[0].method->name,
                   given ? "epsilon" : "delta");
}

/* How a task's rows are changed by all of its rows; NULL: they are not. */
static const char *own_steps(const bb_train_options *o) {
    if (o->standardize == BB_STANDARDIZE_TASK) return "task";
    if (o->standardize == BB_STANDARDIZE_MAGNITUDE) return "magnitude";
    return NULL;
}

static bb_status check_loss(const bb_train_options *o, const bb_resolved *c) {
    const bb_loss loss = c->run.pub.loss;
    const char *own = own_steps(o);
    if (o->net && own)
        return bb_fail(BB_EUSAGE,
                       "--standardize %s is for linear models: use --standardize "
                       "unit-rows, or public ranges (--scale)",
                       own);
    if (o->standardize == BB_STANDARDIZE_TASK && !bb_loss_is_single(loss) &&
        o->no_intercept)
        return bb_fail(BB_EUSAGE,
                       "--standardize task moves columns, which several outputs "
                       "without an intercept cannot take up: leave out "
                       "--no-intercept");
    const bool is_open = o->scale && bb_ranges_are_open(o->scale);
    if (o->scale && !is_open && o->standardize == BB_STANDARDIZE_MAGNITUDE)
        return bb_fail(BB_EUSAGE,
                       "--standardize magnitude is for columns without ranges: "
                       "leave out --scale, or --standardize");
    if (is_open && o->standardize != BB_STANDARDIZE_MAGNITUDE)
        return bb_fail(BB_EUSAGE,
                       "the ranges of --scale are open (\"others\": \"open\"), as only "
                       "--standardize magnitude can bear: leave out --standardize, or "
                       "give all ranges");
    if (bb_mechanism_is_noisy(c->run.mechanism) && !bb_loss_is_single(loss) &&
        !o->classes && (!o->net || loss == BB_LOSS_MULTILABEL))
        return bb_fail(BB_EUSAGE,
                       "a private run must be told how many classes or labels there "
                       "are, which is public: --classes N");
    if (o->start_seed != 1 && !o->net)
        return bb_fail(BB_EUSAGE, "--start-seed says where networks start: give --net");
    if (o->classes && bb_loss_is_single(loss))
        return bb_fail(BB_EUSAGE, "--classes is for the softmax and multilabel losses");
    return BB_OK;
}

static bb_status check_clusters(const bb_train_options *o, const bb_run *run) {
    const bb_method *clustered = NULL;
    for (size_t k = 0; k < run->phases; k++)
        if (run->phase[k].method->clustered) clustered = run->phase[k].method;
    if (o->clusters && !o->cluster)
        return bb_fail(BB_EUSAGE, "--clusters says how many groups --cluster tells: "
                                  "give --cluster COLUMN");
    if (clustered && o->cluster && bb_mechanism_is_noisy(run->mechanism) &&
        !o->clusters)
        return bb_fail(BB_EUSAGE,
                       "a private run must be told how many clusters there are, which "
                       "is public, numbered from 0 in column \"%s\": --clusters N",
                       o->cluster);
    if ((clustered != NULL) == (o->cluster != NULL)) return BB_OK;
    return clustered ? bb_fail(BB_EUSAGE,
                               "method %s needs the public column that groups tasks: "
                               "--cluster COLUMN",
                               clustered->name)
                     : bb_fail(BB_EUSAGE, "method %s has no use for --cluster",
                               run->phase[0].method->name);
}

static bb_status check_graph(const bb_train_options *o, const bb_run *run) {
    const bb_method *related = NULL;
    for (size_t k = 0; k < run->phases; k++)
        if (run->phase[k].method->related) related = run->phase[k].method;
    if ((related != NULL) == (o->graph != NULL)) return BB_OK;
    return related ? bb_fail(BB_EUSAGE,
                             "method %s needs the public relations of tasks: --graph "
                             "FILE",
                             related->name)
                   : bb_fail(BB_EUSAGE, "method %s has no use for --graph",
                             run->phase[0].method->name);
}

/* The promise for single rows needs each prepared without looking at the others. */
static bb_status check_rows(const bb_train_options *o, const bb_run *run) {
    if (!bb_mechanism_is_noisy(run->mechanism) || !own_steps(o)) return BB_OK;
    for (size_t k = 0; k < run->phases; k++) {
        const bb_method *m = run->phase[k].method;
        if (bb_method_is_for_rows(m, run->phase[k].options))
            return bb_fail(BB_EUSAGE,
                           "method %s protects single rows, but --standardize %s "
                           "changes every row of a task with any one of them: use "
                           "--standardize unit-rows, or public ranges (--scale)",
                           m->name, own_steps(o));
    }
    return BB_OK;
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

/* A trace looks at all rows after each round, and is kept in memory until the end. */
static bb_status check_trace(const bb_train_options *o, const bb_resolved *c) {
    if (o->trace && (o->checkpoint || o->resume))
        return bb_fail(BB_EUSAGE, "--trace is for runs that are not kept: leave "
                                  "--checkpoint out");
    if ((o->trace || o->first_tasks || o->intervals) && c->roster)
        return bb_fail(BB_EUSAGE, "--trace, --first-tasks and --intervals need all "
                                  "rows in one place");
    return BB_OK;
}

static bb_status check_files(const bb_train_request *request) {
    const bb_train_options *o = &request->options;
    if (o->test && o->train_fraction < 1.0)
        return bb_fail(BB_EUSAGE,
                       "--test names the test rows: --train-fraction has no meaning");
    if (!request->in_memory && !(o->output && *o->output))
        return bb_fail(BB_EUSAGE, "where to? give --output RUN");
    return BB_OK;
}

bb_status bb_resolve(const bb_train_request *request, bb_resolved *resolved) {
    const bb_train_options *o = &request->options;
    bb_resolved c = {.request = request, .run = {.phases = request->phases}};
    memcpy(c.run.phase, request->phase, sizeof c.run.phase);
    bb_status status = read_texts(o, &c);
    if (!status) status = bb_run_check_methods(&c.run);
    if (!status && o->ledger) status = bb_run_check_price(&c.run);
    if (!status) status = check_loss(o, &c);
    if (!status) status = check_clusters(o, &c.run);
    if (!status) status = check_graph(o, &c.run);
    if (!status) status = check_epsilon(o, &c.run);
    if (!status) status = check_rows(o, &c.run);
    if (!status) status = check_ledger(o);
    if (!status) status = check_trace(o, &c);
    if (!status) status = bb_effects_check(request);
    if (!status) status = bb_intervals_check(request);
    if (!status) status = check_files(request);
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
