/* Audits of whole training runs of a method. */
#include "api/audit.h"
#include "audit/canary.h"
#include "audit/membership.h"
#include "audit/run_attack.h"
#include "audit/world.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "privacy/statement.h"
#include "train/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPPOSITE_ROWS = 20 };
typedef enum attack_kind { CANARY, MEMBERSHIP } attack_kind;

typedef struct audit_options {
    int attack;
    uint64_t tasks, features, rows, canaries, trials, threads;
    double confidence, run_epsilon; /* NaN: as claimed */
} audit_options;

/* clang-format off */
static const bb_option table[] = {
    {"attack", BB_OPTION_CHOICE, offsetof(audit_options, attack), "canary", 0.0, 0.0, "canary|membership", "ATTACK", "canary (default): many tasks' data are guessed from one run; membership: one task's from many runs"},
    {"tasks", BB_OPTION_COUNT, offsetof(audit_options, tasks), "0", 0.0, 1e6, NULL, "M", "tasks of the synthetic population; 0: 400, membership 50"},
    {"features", BB_OPTION_COUNT, offsetof(audit_options, features), "0", 0.0, 1e5, NULL, "D", "features; 0: 100, or as many as tasks where models are shown as they are; membership 10"},
    {"rows", BB_OPTION_COUNT, offsetof(audit_options, rows), "0", 0.0, 1e6, NULL, "N", "rows of each task; 0: as many as features, or 20 where models are shown as they are"},
    {"canaries", BB_OPTION_COUNT, offsetof(audit_options, canaries), "0", 0.0, 1e6, NULL, "N", "canary: tasks whose data are guessed; 0: as many as can be told apart"},
    {"trials", BB_OPTION_COUNT, offsetof(audit_options, trials), "1000", 2.0, 1e9, NULL, "R", "membership: runs (default 1000)"},
    {"confidence", BB_OPTION_REAL, offsetof(audit_options, confidence), "0.95", 0.51, 1.0 - 1e-12, NULL, "C", "of the lower bound on epsilon (default 0.95)"},
    {"run-epsilon", BB_OPTION_AUTO, offsetof(audit_options, run_epsilon), "auto", 1e-6, 1e9, NULL, "EPSILON", "the budget that the runs really spend, to see a wrong claim found; auto: what is claimed"},
    {"threads", BB_OPTION_COUNT, offsetof(audit_options, threads), "1", 0.0, 1e4, NULL, "T", "threads that the runs work with (default 1); 0: as many as the machine has"},
};
/* clang-format on */
static const bb_options own = {table, sizeof table / sizeof *table};

bb_option_table bb_audit_method_table(void) {
    return (bb_option_table){own, sizeof(audit_options)};
}

/* What audits have in common with training, by its names; and "set". */
static const char *const same[] = {"method", "loss", "rounds",    "schedule", "epsilon",
                                   "delta",  "seed", "mechanism", "set"};

/* Everything of one audit. */
typedef struct audit {
    audit_options options;
    bb_train_flag *flag; /* in common with train */
    size_t flags, room;
    bb_train_request request;
    bool claims; /* the method with the mechanism promises something */
    double epsilon, delta;
    bb_audit_pair pair;
    bb_audit_world world;
    bb_engine engine;
    bb_random luck; /* coins and seeds */
    bool lucky;
    bb_run run;
    size_t attacks; /* canaries, or runs */
    bool *first;    /* attacks: the coins */
    double *score;  /* attacks */
    double lower;   /* the bound on epsilon */
    bb_canary_verdict canary;
    bb_membership membership;
} audit;

/* -- setting up -- */

static bb_status choose_mechanism(audit *a) {
    const bb_train_options *o = &a->request.options;
    const bool private = a->run.phase[0].method->kind == BB_METHOD_PRIVATE;
    a->run.mechanism = bb_mechanism_find(o->mechanism);
    if (!a->run.mechanism)
        return bb_fail(BB_EUSAGE,
                       "unknown mechanism \"%s\"; known are gaussian, none, "
                       "wishart-published",
                       o->mechanism);
    const bool noisy = bb_mechanism_is_noisy(a->run.mechanism);
    a->claims = private && noisy;
    if (noisy && isnan(o->epsilon))
        return bb_fail(BB_EUSAGE, "which claim is audited? give --epsilon");
    if (noisy && !private)
        return bb_fail(BB_EUSAGE, "method %s is not private: mechanism none only",
                       a->run.phase[0].method->name);
    return BB_OK;
}

/* The seed given, or the operating system's: of the coins, the population, and, where
 * the run must be seeded, the run. */
static bb_status open_luck(audit *a) {
    const char *text = a->request.options.seed;
    if (text && !bb_number_count(text, &a->run.seed))
        return bb_fail(BB_EUSAGE, "--seed expects a whole number, got \"%s\"", text);
    const bb_status status =
        text ? bb_random_open_stream(&a->luck, a->run.seed, BB_FOR_TEST, 0, 0)
             : bb_random_open_secure(&a->luck);
    if (status) return status;
    a->lucky = true;
    a->run.seeded = text || a->run.phase[0].method->own_noise;
    if (!text) a->run.seed = bb_random_bits(&a->luck);
    return BB_OK;
}

/* The canaries' two data sets, by what the method's rounds show: models as they are,
 * whole products of models, or squares of entries at most. */
static bb_status choose_pair(audit *a) {
    const bb_public *pub = &a->run.pub;
    const bool noisy = bb_mechanism_is_noisy(a->run.mechanism);
    bb_public priced = *pub;
    bb_plan plan = {0};
    priced.mu = noisy ? bb_gdp_mu(pub->epsilon, pub->delta) : INFINITY;
    const bb_view view = {a->run.phase[0].method, a->run.phase[0].options, &priced,
                          NULL, NULL};
    const bb_status status = bb_plan_make(&plan, &view, a->run.mechanism->pricing);
    a->pair = BB_AUDIT_PAIR_OPPOSITE;
    if (plan.forms & 1U << BB_FORM_OUTER)
        a->pair = BB_AUDIT_PAIR_RANDOM;
    else if (plan.forms & 1U << BB_FORM_SQUARE || !plan.forms)
        a->pair = BB_AUDIT_PAIR_ENTRIES;
    bb_plan_free(&plan);
    return status;
}

/* Where every canary has a feature of its own, as many features as tasks; rows enough
 * for every method to learn them. */
static void set_sizes(audit *a, bool features_given) {
    const bool opposite = a->pair == BB_AUDIT_PAIR_OPPOSITE;
    if (opposite && !features_given && a->options.attack == CANARY)
        a->options.features = a->options.tasks;
    a->run.pub.features = (size_t)a->options.features;
    if (!a->options.rows)
        a->options.rows = opposite ? OPPOSITE_ROWS : a->options.features;
}

static bb_status set_public(audit *a) {
    const bool given = a->options.features > 0;
    const bb_train_options *o = &a->request.options;
    const bool many = a->options.attack == MEMBERSHIP;
    bb_public *pub = &a->run.pub;
    if (!a->options.tasks) a->options.tasks = many ? 50 : 400;
    if (!a->options.features) a->options.features = many ? 10 : 100;
    *pub = (bb_public){.tasks = (size_t)a->options.tasks,
                       .features = (size_t)a->options.features,
                       .loss = o->loss == 0 ? BB_LOSS_SQUARED : BB_LOSS_LOGISTIC,
                       .intercept = !bb_method_shares_intercept(
                           a->run.phase[0].method, a->run.phase[0].options),
                       .adjacency = BB_REPLACE_ONE,
                       .epsilon = INFINITY,
                       .rounds = (uint32_t)o->rounds,
                       .schedule = o->schedule};
    bb_status status = bb_delta_choose(o->delta, pub->tasks, &a->delta);
    a->epsilon = a->claims ? o->epsilon : NAN;
    if (a->claims) {
        pub->epsilon =
            isnan(a->options.run_epsilon) ? o->epsilon : a->options.run_epsilon;
        pub->delta = a->delta;
    }
    if (!status) status = choose_pair(a);
    if (!status) set_sizes(a, given);
    return status;
}

static bb_status open_world(audit *a) {
    const bb_public *pub = &a->run.pub;
    bb_audit_world_options world = {.tasks = pub->tasks,
                                    .canaries = (size_t)a->options.canaries,
                                    .rows = (size_t)a->options.rows,
                                    .features = pub->features,
                                    .loss = pub->loss,
                                    .intercept = pub->intercept,
                                    .pair = a->pair,
                                    .seed = bb_random_bits(&a->luck)};
    bb_status status = BB_OK;
    if (a->options.attack == MEMBERSHIP) {
        if (world.canaries)
            return bb_fail(BB_EUSAGE, "--canaries is for --attack canary");
        world.canaries = 1;
    } else if (!world.canaries) {
        const size_t apart = a->pair == BB_AUDIT_PAIR_RANDOM     ? pub->tasks
                             : a->pair == BB_AUDIT_PAIR_OPPOSITE ? pub->features
                                                                 : pub->features / 2;
        world.canaries = apart < pub->tasks ? apart : pub->tasks;
    }
    if (!status) status = bb_audit_world_open(&a->world, &world);
    a->run.local = a->world.local;
    return status;
}

static bb_status open_audit(audit *a) {
    a->run.phases = 1;
    a->run.phase[0] = a->request.phase[0];
    a->engine = bb_engine_threads((size_t)a->options.threads);
    a->run.engine = &a->engine;
    bb_status status = choose_mechanism(a);
    if (!status) status = open_luck(a);
    if (!status) status = set_public(a);
    if (!status) status = open_world(a);
    if (status) return status;
    a->attacks =
        a->options.attack == CANARY ? a->world.canaries : (size_t)a->options.trials;
    status = bb_allocate(&a->first, a->attacks, sizeof *a->first, "the coins");
    if (!status)
        status = bb_allocate(&a->score, a->attacks, sizeof *a->score, "the scores");
    for (size_t k = 0; k < a->attacks && !status; k++)
        a->first[k] = bb_random_bits(&a->luck) >> 63;
    return status;
}

static void close_audit(audit *a) {
    if (a->lucky) bb_random_close(&a->luck);
    bb_audit_world_close(&a->world);
    bb_train_request_free(&a->request);
    free(a->flag);
    free(a->first);
    free(a->score);
}

/* -- the attacks -- */

static bb_status attack(audit *a, billboard_watch *watch) {
    const double confidence = a->options.confidence;
    bb_status status = BB_OK;
    if (a->options.attack == CANARY) {
        status = bb_run_attack(&a->run, a->attacks, a->world.other, a->first, a->score);
        if (!status)
            status = bb_canary_judge(a->attacks, a->score, a->first, a->delta,
                                     confidence, &a->canary);
        a->lower = a->canary.epsilon;
        return status;
    }
    for (size_t k = 0; k < a->attacks && !status; k++) {
        bb_run run = a->run;
        run.seed += k;
        status = bb_run_attack(&run, 1, a->world.other, &a->first[k], &a->score[k]);
        if (!status)
            status = bb_watch_progress(watch, "round", (uint32_t)(k + 1),
                                       (uint32_t)a->attacks);
    }
    if (!status)
        status = bb_membership_judge(a->attacks, a->score, a->first, a->delta,
                                     confidence, &a->membership);
    a->lower = a->membership.epsilon;
    return status;
}

/* -- saying it -- */

static json_t *common_json(const audit *a) {
    const bb_public *pub = &a->run.pub;
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:f,s:I,s:I,s:I}", "attack",
                     a->options.attack == CANARY ? "canary" : "membership", "method",
                     a->run.phase[0].method->name, "loss",
                     pub->loss == BB_LOSS_SQUARED ? "squared" : "logistic", "unit",
                     "task", "adjacency", bb_adjacency_name(pub->adjacency), "sampling",
                     "all", "mechanism", a->run.mechanism->name, "epsilon",
                     bb_json_real(a->epsilon), "delta", a->delta, "tasks",
                     (json_int_t)pub->tasks, "features", (json_int_t)pub->features,
                     "rows", (json_int_t)a->options.rows);
}

static json_t *found_json(const bb_membership *m) {
    json_t *list = json_array();
    for (int k = 0; k < BB_MEMBERSHIP_RATES; k++)
        bb_json_append(&list, json_pack("{s:f,s:o}", "fpr", bb_membership_rate[k],
                                        "tpr", bb_json_real(m->found[k])));
    return list;
}

static json_t *figures_json(const audit *a) {
    const bb_membership *m = &a->membership;
    if (a->options.attack == CANARY)
        return json_pack("{s:I,s:I,s:I}", "canaries", (json_int_t)a->world.canaries,
                         "guesses", (json_int_t)a->canary.guesses, "correct",
                         (json_int_t)a->canary.correct);
    return json_pack(
        "{s:I,s:o,s:o,s:o}", "runs", (json_int_t)a->attacks, "auc",
        bb_json_real(m->auc), "auc_limit",
        bb_json_real(a->claims ? bb_membership_auc_limit(a->epsilon, a->delta) : NAN),
        "tpr_at_fpr", found_json(m));
}

static bool is_violated(const audit *a) {
    return a->claims && a->lower > a->epsilon;
}

static json_t *verdict_json(const audit *a) {
    json_t *json = common_json(a), *figures = figures_json(a);
    json_t *end = json_pack("{s:f,s:f,s:b,s:b}", "confidence", a->options.confidence,
                            "epsilon_lower", a->lower, "violated", is_violated(a),
                            "claims", a->claims);
    if (!json || json_object_update(json, figures) || json_object_update(json, end)) {
        json_decref(json);
        json = NULL;
    }
    json_decref(figures);
    json_decref(end);
    return json;
}

/* -- the call -- */

static bb_status take(audit *a, const billboard_option *option) {
    bb_status status = bb_call_given(option->name, "audit", "an option's name");
    for (size_t k = 0; k < sizeof same / sizeof *same && !status; k++) {
        if (strcmp(option->name, same[k]) != 0) continue;
        status =
            bb_grow(&a->flag, &a->room, a->flags + 1, sizeof *a->flag, "the options");
        if (!status) a->flag[a->flags++] = (bb_train_flag){option->name, option->value};
        return status;
    }
    return status
               ? status
               : bb_options_set(own, &a->options, "audit", option->name, option->value);
}

bb_status bb_audit_method(const billboard_option *option, size_t options,
                          billboard_watch *watch, billboard_answer **verdict) {
    audit a = {0};
    bb_status status = bb_options_default(own, &a.options);
    for (size_t k = 0; k < options && !status; k++) status = take(&a, &option[k]);
    if (!status) status = bb_train_resolve(&a.request, a.flag, a.flags);
    if (!status) status = open_audit(&a);
    if (!status) status = attack(&a, watch);
    if (!status) status = bb_answer_open(verdict, verdict_json(&a));
    close_audit(&a);
    return status;
}
