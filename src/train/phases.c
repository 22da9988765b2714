#include "train/phases.h"

#include "base/memory.h"
#include "base/number.h"
#include "methods/registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *bb_train_phase_options(const bb_phase *phase) {
    return (void *)(uintptr_t)phase->options;
}

bb_status bb_train_add_phase(bb_train_request *r, const char *name) {
    void *options = NULL;
    const bb_method *method = bb_method_find(name);
    if (!method)
        return bb_fail(BB_EUSAGE, "unknown method \"%s\" (see `billboard methods')",
                       name);
    if (r->phases == BB_MOST_PHASES)
        return bb_fail(BB_EUSAGE, "a run has at most %d phases", BB_MOST_PHASES);
    bb_status status =
        bb_allocate((char **)&options, method->options_size, 1, "a method's options");
    if (status) return status;
    r->phase[r->phases++] = (bb_phase){.method = method, .options = options};
    return bb_options_default(method->options, options);
}

/* One key=value of a phase: rounds, share, or the method's own. */
static bb_status set_one(bb_phase *phase, char *pair) {
    char *equals = strchr(pair, '=');
    uint64_t rounds;
    if (!equals)
        return bb_fail(BB_EUSAGE, "phase %s: expected key=value, found \"%s\"",
                       phase->method->name, pair);
    *equals = '\0';
    const char *value = equals + 1;
    if (strcmp(pair, "rounds") == 0) {
        if (!bb_number_count(value, &rounds) || rounds > 1000000 ||
            phase->method->kind == BB_METHOD_ALONE)
            return bb_fail(BB_EUSAGE,
                           "phase %s: rounds expects a whole number up to 1000000, for "
                           "a method that shows something, got \"%s\"",
                           phase->method->name, value);
        phase->rounds = (uint32_t)rounds;
        return BB_OK;
    }
    if (strcmp(pair, "share") == 0) {
        if (!bb_number_real(value, &phase->share) || !(phase->share > 0.0) ||
            !(phase->share < 1.0) || phase->method->kind == BB_METHOD_ALONE)
            return bb_fail(
                BB_EUSAGE,
                "phase %s: share expects a part of the budget in (0, 1), for "
                "a method that shows something, got \"%s\"",
                phase->method->name, value);
        return BB_OK;
    }
    return bb_options_set(phase->method->options, bb_train_phase_options(phase),
                          phase->method->name, pair, value);
}

/* Appends a phase: `method`, then what the comma-separated text says. */
static bb_status add(bb_train_request *r, const char *method, char *text) {
    bb_status status = bb_train_add_phase(r, method);
    if (status) return status;
    bb_phase *phase = &r->phase[r->phases - 1];
    while (!status && text) {
        char *comma = strchr(text, ',');
        if (comma) *comma = '\0';
        status = set_one(phase, text);
        text = comma ? comma + 1 : NULL;
    }
    return status;
}

static bb_status add_phases(bb_train_request *r) {
    char *copy = NULL;
    const char *text = r->options.phase;
    if (!text) return BB_OK;
    bb_status status = bb_duplicate(&copy, text, strlen(text));
    for (char *at = copy; !status && at;) {
        char *end = strchr(at, ';');
        if (end) *end = '\0';
        char *comma = strchr(at, ',');
        if (comma) *comma = '\0';
        status = add(r, at, comma ? comma + 1 : NULL);
        at = end ? end + 1 : NULL;
    }
    free(copy);
    return status;
}

/* Whether tasks can vote on how they fit at home, where they would fit around a shared model
 * anyway: exact noise if any, for whole tasks only, and all of them. */
static bool can_vote(const bb_train_request *r) {
    const bb_train_options *o = &r->options;
    const char *mechanism = o->mechanism;
    bool can = o->loss == BB_LOSS_SQUARED && !o->net;
    if (o->sampling && strcmp(o->sampling, "all") != 0) return false;
    if (mechanism && strcmp(mechanism, bb_mechanism_gaussian.name) != 0 &&
        strcmp(mechanism, bb_mechanism_none.name) != 0)
        return false;
    for (size_t k = 0; k < r->phases; k++)
        if (bb_method_is_for_rows(r->phase[k].method, r->phase[k].options)) can = false;
    return can;
}

/* The last method that shows something says how its models are finetuned. */
static bb_status choose_finetuning(bb_train_request *r) {
    const bb_method *last = r->phase[0].method;
    const char *how = NULL;
    for (size_t k = 0; k < r->phases; k++)
        if (k == 0 || r->phase[k].method->kind != BB_METHOD_ALONE)
            last = r->phase[k].method;
    if (!last->finetune_solved ||
        bb_loss_is_solved((bb_loss)r->options.loss, r->options.net != NULL))
        how = last->finetune;
    if (how && can_vote(r)) how = bb_method_vote.name;
    for (size_t k = 0; k < r->phases; k++)
        if (r->phase[k].method->follows) how = NULL;
    if (!how) how = "none";
    return bb_duplicate(&r->options.finetune, how, strlen(how));
}

/* `vote' and what it says about that phase; else how to finetune. */
static bool is_vote(const char *finetune) {
    const size_t length = strcspn(finetune, ",");
    return strncmp(finetune, bb_method_vote.name, length) == 0 &&
           bb_method_vote.name[length] == '\0';
}

static bb_status add_finetuning(bb_train_request *r) {
    char *copy = NULL;
    bb_status status = r->options.finetune ? BB_OK : choose_finetuning(r);
    const char *how = r->options.finetune;
    if (status || strcmp(how, "none") == 0) return status;
    const size_t size = strlen(how) + 5;
    status = bb_allocate(&copy, size, 1, "the phases");
    if (!status && is_vote(how)) {
        const char *comma = strchr(how, ',');
        snprintf(copy, size, "%s", comma ? comma + 1 : "");
        status = add(r, bb_method_vote.name, comma ? copy : NULL);
    } else if (!status) {
        snprintf(copy, size, "how=%s", how);
        status = add(r, "finetune", copy);
    }
    free(copy);
    return status;
}

/* Private methods have the door's noise if nobody says otherwise. */
static bb_status choose_mechanism(bb_train_request *r) {
    const bb_mechanism *chosen = &bb_mechanism_none;
    if (r->options.mechanism) return BB_OK;
    for (size_t k = 0; k < r->phases; k++)
        if (r->phase[k].method->kind == BB_METHOD_PRIVATE)
            chosen = &bb_mechanism_gaussian;
    return bb_duplicate(&r->options.mechanism, chosen->name, strlen(chosen->name));
}

bb_status bb_train_phases(bb_train_request *r) {
    bb_status status = add_phases(r);
    if (!status) status = add_finetuning(r);
    if (!status) status = choose_mechanism(r);
    if (!status) bb_run_name(r->phases, r->phase, r->name);
    return status;
}
