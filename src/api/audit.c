/* Audits of the door alone: is what it promises true? */
#include "api/audit.h"

#include "audit/target.h"
#include "base/parallel.h"
#include "privacy/accounting/accountant.h"

#include <math.h>
#include <string.h>

typedef struct audit_options {
    int mechanism, form, adjacency;
    uint64_t blocks, length, rounds, trials, seed, threads;
    double epsilon, delta, confidence;
} audit_options;

/* clang-format off */
static const bb_option table[] = {
    {"mechanism", BB_OPTION_CHOICE, offsetof(audit_options, mechanism), "gaussian", 0.0, 0.0, "gaussian|selection|wishart-published", "NAME", "what the door publishes"},
    {"form", BB_OPTION_CHOICE, offsetof(audit_options, form), "outer", 0.0, 0.0, "vector|slot|square|psd|outer", "FORM", "how a block is summed"},
    {"adjacency", BB_OPTION_CHOICE, offsetof(audit_options, adjacency), "replace-one", 0.0, 0.0, "replace-one|add-remove", "NAME", "which populations are neighbours"},
    {"blocks", BB_OPTION_COUNT, offsetof(audit_options, blocks), "1", 1.0, BB_MOST_BLOCKS, NULL, "N", "blocks in a round"},
    {"length", BB_OPTION_COUNT, offsetof(audit_options, length), "3", 2.0, 1000.0, NULL, "D", "numbers that a task shows in a block (psd: rows)"},
    {"rounds", BB_OPTION_COUNT, offsetof(audit_options, rounds), "1", 1.0, 1e6, NULL, "R", "rounds, which share the budget equally"},
    {"epsilon", BB_OPTION_REAL, offsetof(audit_options, epsilon), "1", 1e-6, 1e6, NULL, "EPSILON", "budget of the whole run"},
    {"delta", BB_OPTION_REAL, offsetof(audit_options, delta), "1e-5", 1e-30, 0.999, NULL, "DELTA", "the slack beside it"},
    {"trials", BB_OPTION_COUNT, offsetof(audit_options, trials), "100000", 2.0, 1e10, NULL, "N", "runs in each of the two worlds"},
    {"confidence", BB_OPTION_REAL, offsetof(audit_options, confidence), "0.999", 0.5, 1.0 - 1e-12, NULL, "C", "that the lower bounds hold"},
    {"seed", BB_OPTION_COUNT, offsetof(audit_options, seed), "0", 0.0, 0x1p63, NULL, "S", "of all randomness; 0: one from the operating system, which is reported"},
    {"threads", BB_OPTION_COUNT, offsetof(audit_options, threads), "0", 0.0, 1024.0, NULL, "T", "workers; 0: one for each processor. The result is the same"},
};
/* clang-format on */
static const bb_options all = {table, sizeof table / sizeof *table};

bb_option_table bb_audit_table(void) {
    return (bb_option_table){all, sizeof(audit_options)};
}

typedef struct request {
    audit_options options;
    bb_audit_spec spec;
    bb_audit_settings settings;
    bb_audit_result result;
    bb_audit_noise noise;
    bool violated;
} request;

/* The index-th of the words that a choice knows. */
static void choice_name(size_t row, int index, char *name, size_t size) {
    const char *at = table[row].choices;
    for (; index > 0; index--) at = strchr(at, '|') + 1;
    snprintf(name, size, "%.*s", (int)strcspn(at, "|"), at);
}

static bb_status draw_seed(uint64_t *seed) {
    bb_random random;
    if (*seed) return BB_OK;
    bb_status status = bb_random_open_secure(&random);
    if (status) return status;
    *seed = 1 + bb_random_below(&random, (uint64_t)1 << 53); /* exact in JSON */
    bb_random_close(&random);
    return BB_OK;
}

static bb_status tick(void *self, uint32_t done, uint32_t trials) {
    return bb_watch_progress(self, "round", done, trials);
}

static bb_status attack(request *r, billboard_watch *watch) {
    static const bb_form form[] = {BB_FORM_VECTOR, BB_FORM_SLOT, BB_FORM_SQUARE,
                                   BB_FORM_PSD, BB_FORM_OUTER};
    const audit_options *o = &r->options;
    const bb_engine engine = bb_engine_threads((size_t)o->threads);
    const double error = 1.0 - o->confidence;
    bb_audit_target target;
    r->spec = (bb_audit_spec){.kind = (bb_audit_kind)o->mechanism,
                              .form = form[o->form],
                              .adjacency = (bb_adjacency)o->adjacency,
                              .blocks = (size_t)o->blocks,
                              .length = (size_t)o->length,
                              .rounds = (uint32_t)o->rounds,
                              .epsilon = o->epsilon,
                              .delta = o->delta};
    r->settings = (bb_audit_settings){
        .delta = o->delta,
        .trials = o->trials,
        .confidence = 1.0 - error / 2.0, /* the rest for the noise */
        .seed = o->seed,
        .engine = &engine,
        .progress = tick,
        .progress_self = watch};
    bb_status status = draw_seed(&r->settings.seed);
    if (!status) status = bb_audit_target_make(&target, &r->settings.epsilon, &r->spec);
    if (!status) status = bb_audit_attack(&target, &r->settings, &r->result);
    if (!status)
        status =
            bb_audit_noise_check(&r->spec, r->settings.seed, error / 2.0, &r->noise);
    r->violated = !status && (r->result.violated || r->noise.weak);
    return status;
}

/* Where noise is missing most. */
static void noise_place(const bb_audit_noise *noise, char *text, size_t size) {
    if (noise->change)
        snprintf(text, size, "the change from round to round of block %zu",
                 noise->block + 1);
    else
        snprintf(text, size, "number %zu of block %zu", noise->entry + 1,
                 noise->block + 1);
}

/* {enough, ratio, where}, or null where nothing is measured. */
static json_t *noise_json(const bb_audit_noise *noise) {
    char place[80];
    if (isinf(noise->chance)) return json_null();
    noise_place(noise, place, sizeof place);
    return json_pack("{s:b,s:f,s:s}", "enough", (int)!noise->weak, "ratio",
                     noise->ratio, "where", place);
}

static json_t *verdict_json(const request *r) {
    const audit_options *o = &r->options;
    const bb_audit_settings *s = &r->settings;
    const bb_audit_result *a = &r->result;
    char mechanism[40], form[40] = "selection", event[120];
    choice_name(0, o->mechanism, mechanism, sizeof mechanism);
    if (o->mechanism != BB_AUDIT_SELECTION) choice_name(1, o->form, form, sizeof form);
    const char *adjacency = bb_adjacency_name(r->spec.adjacency);
    bb_audit_event_text(&a->event, event, sizeof event);
    return json_pack(
        "{s:s,s:s,s:s,s:s,s:I,s:I,s:f,s:f,s:I,s:f,s:I,s:f,s:f,s:s,s:o,s:b,s:[I,I],s:I}",
        "mechanism", mechanism, "form", form, "adjacency", adjacency, "sampling", "all",
        "blocks", (json_int_t)o->blocks, "rounds", (json_int_t)o->rounds, "epsilon",
        s->epsilon, "delta", s->delta, "trials", (json_int_t)s->trials, "confidence",
        o->confidence, "seed", (json_int_t)s->seed, "epsilon_lower", a->epsilon_lower,
        "delta_lower", a->delta_lower, "event", event, "noise", noise_json(&r->noise),
        "violated", (int)r->violated, "hits", (json_int_t)a->hits[0],
        (json_int_t)a->hits[1], "judged_trials", (json_int_t)a->trials);
}

bb_status bb_audit_door(const billboard_option *option, size_t options,
                        billboard_watch *watch, billboard_answer **verdict) {
    request r = {0};
    bb_status status = bb_options_default(all, &r.options);
    if (!status) status = bb_call_options(all, &r.options, "audit", option, options);
    if (!status) status = attack(&r, watch);
    if (!status) status = bb_answer_open(verdict, verdict_json(&r));
    bb_options_free(all, &r.options);
    return status;
}

static bool is_of_a_method(const billboard_option *option, size_t options) {
    for (size_t k = 0; k < options; k++)
        if (option[k].name && strcmp(option[k].name, "method") == 0) return true;
    return false;
}

billboard_status billboard_audit(const billboard_option *option, size_t options,
                                 const billboard_watch *watch,
                                 billboard_answer **verdict) {
    billboard_watch own;
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status) status = bb_call_given(verdict, "billboard_audit", "verdict");
    if (!status && options)
        status = bb_call_given(option, "billboard_audit", "the options");
    if (!status) status = bb_watch_take(&own, watch);
    if (!status)
        status = is_of_a_method(option, options)
                     ? bb_audit_method(option, options, &own, verdict)
                     : bb_audit_door(option, options, &own, verdict);
    return bb_call_end(&call, status);
}
