/* Files that say what the places of a run have agreed on, and what a silo agrees to. */
#include "api/call.h"
#include "api/place.h"
#include "api/tables.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "data/names.h"
#include "train/keys.h"
#include "train/rundir.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- a silo's policy -- */

typedef struct policy_options {
    double most_epsilon, most_delta; /* NAN: not said */
    uint64_t fewest_tasks, fewest_silos;
    char *methods, *adjacencies;
    bool allow_open;
    char *ledger, *population, *ledger_kind;
    double budget_epsilon, budget_delta; /* NAN: not said */
    char *curators, *helpers;
} policy_options;

#define AT(field) offsetof(policy_options, field)
/* clang-format off */
static const bb_option row[] = {
    {"most-epsilon", BB_OPTION_AUTO, AT(most_epsilon), "auto", 1e-6, 1e6, NULL, "EPSILON", "the most of one run; must be said"},
    {"most-delta", BB_OPTION_AUTO, AT(most_delta), "auto", 0.0, 1.0, NULL, "DELTA", "the most of one run; must be said"},
    {"fewest-tasks", BB_OPTION_COUNT, AT(fewest_tasks), "0", 0.0, 0x1p40, NULL, "M", "that the plan names; 0: no limit"},
    {"fewest-silos", BB_OPTION_COUNT, AT(fewest_silos), "0", 0.0, 0x1p31, NULL, "N", "that the plan asks for in every round; 0: no limit"},
    {"methods", BB_OPTION_TEXT, AT(methods), NULL, 0.0, 0.0, NULL, "METHODS", "that may share something, separated by commas (default: all)"},
    {"adjacencies", BB_OPTION_TEXT, AT(adjacencies), NULL, 0.0, 0.0, NULL, "WHICH", "separated by commas (default: all)"},
    {"allow-open", BB_OPTION_FLAG, AT(allow_open), "false", 0.0, 0.0, NULL, NULL, "also runs without noise, seeded, or with ranges, levels or options from data, which are not private"},
    {"curators", BB_OPTION_TEXT, AT(curators), NULL, 0.0, 0.0, NULL, "KEYS", "public keys of those that may ask, separated by commas (default: the roster's)"},
    {"helpers", BB_OPTION_TEXT, AT(helpers), NULL, 0.0, 0.0, NULL, "KEYS", "public keys of helpers, separated by commas: runs must have two doors, the second of which one of these keeps (default: one door will do)"},
    {"ledger", BB_OPTION_TEXT, AT(ledger), NULL, 0.0, 0.0, NULL, "FILE", "this silo's own, charged with the first round"},
    {"population", BB_OPTION_TEXT, AT(population), NULL, 0.0, 0.0, NULL, "NAME", "that a new ledger is for"},
    {"ledger-kind", BB_OPTION_TEXT, AT(ledger_kind), NULL, 0.0, 0.0, NULL, "KIND", "of a new ledger"},
    {"budget-epsilon", BB_OPTION_AUTO, AT(budget_epsilon), "auto", 1e-6, 1e6, NULL, "E", "a new ledger's budget"},
    {"budget-delta", BB_OPTION_AUTO, AT(budget_delta), "auto", 0.0, 1.0, NULL, "D", "a new ledger's budget"},
};
/* clang-format on */
static const bb_options table = {row, sizeof row / sizeof *row};

static bb_status read_policy(const char *path, policy_options *p) {
    json_t *json = NULL;
    bb_status status = bb_options_default(table, p);
    if (!status) status = bb_json_read_file(&json, path);
    if (!status) status = bb_options_set_json(table, p, path, json);
    if (!status && (isnan(p->most_epsilon) || isnan(p->most_delta)))
        status = bb_fail(BB_EUSAGE, "%s: expected \"%s\": what a run may spend", path,
                         isnan(p->most_epsilon) ? "most-epsilon" : "most-delta");
    if (!status && !p->ledger &&
        (p->population || p->ledger_kind || !isnan(p->budget_epsilon) ||
         !isnan(p->budget_delta)))
        status = bb_fail(BB_EUSAGE, "%s: says what a ledger is like, but no \"ledger\"",
                         path);
    json_decref(json);
    return status;
}

static billboard_experimental_policy policy_of(const policy_options *p) {
    return (billboard_experimental_policy){.struct_size =
                                               sizeof(billboard_experimental_policy),
                                           .most_epsilon = p->most_epsilon,
                                           .most_delta = p->most_delta,
                                           .fewest_tasks = p->fewest_tasks,
                                           .fewest_silos = (uint32_t)p->fewest_silos,
                                           .methods = p->methods,
                                           .allow_open = p->allow_open,
                                           .adjacencies = p->adjacencies,
                                           .curators = p->curators,
                                           .helpers = p->helpers};
}

billboard_status billboard_experimental_policy_read(const char *path,
                                                    billboard_answer **answer) {
    static const char function[] = "billboard_experimental_policy_read";
    policy_options p = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = bb_call_given(answer, function, "answer");
    if (!status) status = read_policy(path, &p);
    const billboard_experimental_policy own = policy_of(&p);
    if (!status) status = bb_api_policy_check(&own);
    if (!status) status = bb_answer_open(answer, bb_options_json(table, &p));
    bb_options_free(table, &p);
    return bb_call_end(&call, status);
}

/* -- what all have agreed on -- */

struct billboard_experimental_agreement {
    json_t *json; /* the file, whose texts the roster has */
    billboard_job *job;
    billboard_experimental_roster roster;
    const char **task, **feature, **silo;
    uint32_t *cluster;
    policy_options policy;
    billboard_experimental_identity identity;
};

static bb_status expected(const char *path, const char *name, const char *what) {
    return bb_fail(BB_EUSAGE, "%s: \"%s\": expected %s", path, name, what);
}

/* Blanks at the ends of tasks' names are none of them, as in a table's cells. */
static bb_status trim_names(json_t *list) {
    size_t k;
    json_t *name;
    json_array_foreach(list, k, name) {
        const char *text = json_string_value(name);
        size_t length = json_string_length(name);
        if (!text) continue;
        bb_trim(&text, &length);
        if (length == json_string_length(name)) continue;
        char *bare = strndup(text, length);
        const bool set = bare && !json_string_setn(name, bare, length);
        free(bare);
        if (!set) return bb_fail(BB_ENOMEM, "no memory for an agreement");
    }
    return BB_OK;
}

/* A list of texts, none of them twice; `name` is there, or the list is NULL. */
static bb_status take_texts(const char *path, const json_t *json, const char *name,
                            const char ***list, size_t *count) {
    const json_t *given = json_object_get(json, name);
    *count = json_array_size(given);
    if (!*count) return expected(path, name, "a list of names");
    bb_names names = {0};
    bb_status status = bb_allocate(list, *count, sizeof **list, "an agreement");
    for (size_t k = 0; k < *count && !status; k++) {
        const char *const text = json_string_value(json_array_get(given, k));
        size_t at = k;
        (*list)[k] = text;
        if (text && *text)
            status = bb_names_add(&names, text, strlen(text), &at);
        else
            status = expected(path, name, "a list of names, none empty");
        if (!status && at != k)
            status = bb_fail(BB_EUSAGE, "%s: \"%s\": \"%s\" is there twice", path, name,
                             text);
    }
    bb_names_free(&names);
    return status;
}

static bb_status take_clusters(billboard_experimental_agreement *a, const char *path) {
    const json_t *given = json_object_get(a->json, "clusters");
    if (!given) return BB_OK;
    if (!json_is_array(given) || json_array_size(given) != a->roster.tasks)
        return expected(path, "clusters", "a number from 0 for each task");
    const bb_status status =
        bb_allocate(&a->cluster, a->roster.tasks, sizeof *a->cluster, "an agreement");
    for (size_t k = 0; k < a->roster.tasks && !status; k++) {
        const json_t *number = json_array_get(given, k);
        const json_int_t value = json_integer_value(number);
        if (!json_is_integer(number) || value < 0 || value > INT32_MAX)
            return expected(path, "clusters", "a number from 0 for each task");
        a->cluster[k] = (uint32_t)value;
    }
    a->roster.cluster = a->cluster;
    return status;
}

static bb_status take_silos(billboard_experimental_agreement *a, const char *path) {
    const json_t *fewest = json_object_get(a->json, "fewest-silos");
    size_t silos;
    const bb_status status = take_texts(path, a->json, "silos", &a->silo, &silos);
    if (status) return status;
    if (fewest && (!json_is_integer(fewest) || json_integer_value(fewest) < 1 ||
                   json_integer_value(fewest) > (json_int_t)silos))
        return bb_fail(BB_EUSAGE,
                       "%s: \"fewest-silos\": expected a number from 1 to %zu", path,
                       silos);
    a->roster.silos = (uint32_t)silos;
    a->roster.silo_name = a->silo;
    a->roster.fewest_silos = (uint32_t)json_integer_value(fewest);
    return BB_OK;
}

static bb_status check_members(const json_t *json, const char *path) {
    static const char *const known[] = {"options", "tasks",        "features",
                                        "silos",   "fewest-silos", "clusters"};
    const char *name;
    const json_t *value;
    if (!json_is_object(json))
        return bb_fail(BB_EUSAGE, "%s: expected a JSON object", path);
    json_object_foreach((json_t *)(uintptr_t)json, name, value) {
        bool is = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is = is || strcmp(name, known[k]) == 0;
        if (!is)
            return bb_fail(BB_EUSAGE,
                           "%s: \"%s\": expected options, tasks, features, silos, "
                           "fewest-silos or clusters",
                           path, name);
    }
    if (!json_is_object(json_object_get(json, "options")))
        return expected(path, "options", "an object: those of the run");
    return BB_OK;
}

static bb_status read_agreement(billboard_experimental_agreement *a, const char *path) {
    a->roster.struct_size = sizeof a->roster;
    bb_status status = bb_json_read_file(&a->json, path);
    if (!status) status = check_members(a->json, path);
    if (!status) status = trim_names(json_object_get(a->json, "tasks"));
    if (!status)
        status = take_texts(path, a->json, "tasks", &a->task, &a->roster.tasks);
    if (!status)
        status =
            take_texts(path, a->json, "features", &a->feature, &a->roster.features);
    a->roster.task_name = a->task;
    a->roster.feature_name = a->feature;
    const json_t *options = json_object_get(a->json, "options");
    a->roster.target_name = json_string_value(json_object_get(options, "target"));
    if (!status) status = take_silos(a, path);
    if (!status) status = take_clusters(a, path);
    return status;
}

static bb_status open_agreement(const char *path,
                                billboard_experimental_agreement **out) {
    billboard_experimental_agreement *a = NULL;
    bb_status status = bb_allocate(&a, 1, sizeof *a, "an agreement");
    if (status || !a) return status;
    *out = a;
    return read_agreement(a, path);
}

billboard_status
billboard_experimental_agreement_read(const char *path,
                                      billboard_experimental_agreement **agreement) {
    static const char function[] = "billboard_experimental_agreement_read";
    billboard_experimental_agreement *a = NULL;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = bb_call_given(agreement, function, "agreement");
    if (!status) status = open_agreement(path, &a);
    billboard_status ended = bb_call_end(&call, status);
    if (!ended && a) ended = billboard_job_new(&a->job);
    if (!ended && a) ended = billboard_job_set(a->job, "config", path);
    if (ended)
        billboard_experimental_agreement_free(a);
    else
        *agreement = a;
    return ended;
}

void billboard_experimental_agreement_free(billboard_experimental_agreement *a) {
    if (!a) return;
    billboard_job_free(a->job);
    bb_options_free(table, &a->policy);
    bb_identity_close(&a->identity.own);
    free(a->task);
    free(a->feature);
    free(a->silo);
    free(a->cluster);
    json_decref(a->json);
    free(a);
}

billboard_job *
billboard_experimental_agreement_job(billboard_experimental_agreement *a) {
    return a->job;
}

const billboard_experimental_roster *
billboard_experimental_agreement_roster(const billboard_experimental_agreement *a) {
    return &a->roster;
}

uint32_t
billboard_experimental_agreement_doors(const billboard_experimental_agreement *a) {
    bb_train_request request = {0};
    const bb_status status = bb_job_resolve(a->job, &request);
    const uint32_t doors = status ? 1 : (uint32_t)request.options.doors;
    bb_train_request_free(&request);
    return doors;
}

static bool is_of(const billboard_experimental_agreement *a, const json_t *stored,
                  const json_t *options) {
    return json_equal(json_object_get(stored, "options"), options) &&
           (size_t)json_integer_value(json_object_get(stored, "tasks")) ==
               a->roster.tasks;
}

billboard_status
billboard_experimental_agreement_made(const billboard_experimental_agreement *a,
                                      const char *path, int *made) {
    static const char function[] = "billboard_experimental_agreement_made";
    bb_train_request request = {0};
    json_t *stored = NULL, *options = NULL;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = bb_call_given(made, function, "made");
    if (!status && access(path, F_OK)) status = bb_file_check_folder(path);
    if (!status) status = bb_job_resolve(a->job, &request);
    if (!status) options = bb_train_json(&request, true);
    if (!status && !options) status = bb_fail(BB_ENOMEM, "no memory for options");
    if (!status)
        *made = !bb_rundir_read(path, "public/options.json", &stored) &&
                is_of(a, stored, options);
    json_decref(stored);
    json_decref(options);
    bb_train_request_free(&request);
    return bb_call_end(&call, status);
}

const char *
billboard_experimental_agreement_silo(const billboard_experimental_agreement *a,
                                      uint32_t number) {
    return number >= 1 && number <= a->roster.silos ? a->silo[number - 1] : NULL;
}

billboard_status
billboard_experimental_agreement_identify(billboard_experimental_agreement *a,
                                          uint32_t number, const char *key,
                                          const char *roster) {
    static const char function[] = "billboard_experimental_agreement_identify";
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(key, function, "key");
    if (!status) status = bb_call_given(roster, function, "roster");
    const uint32_t helpers = billboard_experimental_agreement_doors(a) - 1;
    if (!status && number > a->roster.silos + helpers)
        status = bb_fail(BB_EUSAGE, "silo number %u of %u", number, a->roster.silos);
    bb_identity_close(&a->identity.own);
    a->roster.identity = NULL;
    if (!status)
        status = bb_identity_open(&a->identity.own, key, roster, a->roster.silos,
                                  a->silo, number);
    if (!status) a->roster.identity = &a->identity;
    return bb_call_end(&call, status);
}

/* -- both -- */

static billboard_status set_budget(billboard_job *job, const char *name, double value) {
    char text[32];
    if (isnan(value)) return BILLBOARD_OK;
    snprintf(text, sizeof text, "%.17g", value);
    return billboard_job_set(job, name, text);
}

static billboard_status set_ledger(billboard_job *job, const policy_options *p) {
    billboard_status status = BILLBOARD_OK;
    if (p->ledger) status = billboard_job_set(job, "ledger", p->ledger);
    if (!status && p->population)
        status = billboard_job_set(job, "population", p->population);
    if (!status && p->ledger_kind)
        status = billboard_job_set(job, "ledger-kind", p->ledger_kind);
    if (!status) status = set_budget(job, "budget-epsilon", p->budget_epsilon);
    return status ? status : set_budget(job, "budget-delta", p->budget_delta);
}

billboard_status
billboard_experimental_agreement_policy(billboard_experimental_agreement *a,
                                        const char *path,
                                        billboard_experimental_policy *policy) {
    static const char function[] = "billboard_experimental_agreement_policy";
    const policy_options *p = &a->policy;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    bb_options_free(table, &a->policy);
    a->policy = (policy_options){0};
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = read_policy(path, &a->policy);
    const billboard_experimental_policy own = policy_of(p);
    if (!status)
        status =
            bb_call_give(policy, &own, sizeof own, "billboard_experimental_policy");
    const billboard_status ledger = status ? BILLBOARD_OK : set_ledger(a->job, p);
    const billboard_status ended = bb_call_end(&call, status);
    return ended ? ended : ledger;
}
