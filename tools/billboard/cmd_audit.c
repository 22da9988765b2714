/* `billboard audit`: tries to refute what the door promises. */
#include "audit/target.h"
#include "base/json.h"
#include "base/parallel.h"
#include "cmd_inside.h"
#include "privacy/accounting/accountant.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct audit_options {
    int mechanism, form, adjacency;
    uint64_t blocks, length, rounds, trials, seed, threads;
    double epsilon, delta, confidence;
    bool json;
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
    {"json", BB_OPTION_FLAG, offsetof(audit_options, json), "false", 0.0, 0.0, NULL, NULL, "the answer as JSON"},
};
/* clang-format on */
enum { ROWS = sizeof table / sizeof *table, FIRST_KEY = 1000 };
static const bb_options all = {table, ROWS};

typedef struct request {
    audit_options options;
    bb_status status;
    bb_audit_spec spec;
    bb_audit_settings settings;
    bb_audit_result result;
    bb_audit_noise noise;
    bool violated;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key >= FIRST_KEY && key < FIRST_KEY + ROWS) {
        if (!r->status)
            r->status = bb_options_set(all, &r->options, "audit",
                                       table[key - FIRST_KEY].name, text);
        return 0;
    }
    if (key == ARGP_KEY_ARG) argp_error(state, "unexpected argument \"%s\"", text);
    return ARGP_ERR_UNKNOWN;
}

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

static bb_status attack(request *r) {
    static const bb_form form[] = {BB_FORM_VECTOR, BB_FORM_SLOT, BB_FORM_SQUARE,
                                   BB_FORM_PSD, BB_FORM_OUTER};
    const audit_options *o = &r->options;
    const bb_engine engine = bb_engine_threads((size_t)o->threads);
    const double error = 1.0 - o->confidence;
    bb_audit_target target;
    progress bar = progress_open();
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
        .progress = progress_round,
        .progress_self = &bar};
    bb_status status = draw_seed(&r->settings.seed);
    if (!status) status = bb_audit_target_make(&target, &r->settings.epsilon, &r->spec);
    if (!status) status = bb_audit_attack(&target, &r->settings, &r->result);
    progress_close(&bar);
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

static void print_noise(const bb_audit_noise *noise, FILE *stream) {
    char place[80];
    if (isinf(noise->chance)) return;
    noise_place(noise, place, sizeof place);
    fprintf(stream,
            "noise      %s: least is %.4g of the standard deviation due, in\n"
            "           %s\n",
            noise->weak ? "too little" : "as claimed", noise->ratio, place);
}

/* {enough, ratio, where}, or null where nothing is measured. */
static json_t *noise_json(const bb_audit_noise *noise) {
    char place[80];
    if (isinf(noise->chance)) return json_null();
    noise_place(noise, place, sizeof place);
    return json_pack("{s:b,s:f,s:s}", "enough", (int)!noise->weak, "ratio",
                     noise->ratio, "where", place);
}

static bb_status print(const request *r, const cmd_output *output) {
    const audit_options *o = &r->options;
    const bb_audit_settings *s = &r->settings;
    const bb_audit_result *a = &r->result;
    char mechanism[40], form[40] = "selection", event[120];
    choice_name(0, o->mechanism, mechanism, sizeof mechanism);
    if (o->mechanism != BB_AUDIT_SELECTION) choice_name(1, o->form, form, sizeof form);
    const char *adjacency = bb_adjacency_name(r->spec.adjacency);
    bb_audit_event_text(&a->event, event, sizeof event);
    if (!o->json) {
        fprintf(output->stream,
                "claimed    epsilon %g at delta %g, %s, sampling: all; %s, form %s, "
                "%llu round%s of %llu block%s\n"
                "audited    %llu runs in each world, seed %llu\n"
                "found      epsilon at least %.4g, delta at least %.4g, confidence %g\n"
                "event      %s\n"
                "           %llu of %llu runs in world 0, %llu in world 1\n",
                s->epsilon, s->delta, adjacency, mechanism, form,
                (unsigned long long)o->rounds, o->rounds == 1 ? "" : "s",
                (unsigned long long)o->blocks, o->blocks == 1 ? "" : "s",
                (unsigned long long)s->trials, (unsigned long long)s->seed,
                a->epsilon_lower, a->delta_lower, o->confidence, event,
                (unsigned long long)a->hits[0], (unsigned long long)a->trials,
                (unsigned long long)a->hits[1]);
        print_noise(&r->noise, output->stream);
        fprintf(output->stream, "verdict    %s\n",
                r->violated ? "violated" : "consistent");
        return BB_OK;
    }
    json_t *json = json_pack(
        "{s:s,s:s,s:s,s:s,s:I,s:I,s:f,s:f,s:I,s:f,s:I,s:f,s:f,s:s,s:o,s:b}",
        "mechanism", mechanism, "form", form, "adjacency", adjacency, "sampling", "all",
        "blocks", (json_int_t)o->blocks, "rounds", (json_int_t)o->rounds, "epsilon",
        s->epsilon, "delta", s->delta, "trials", (json_int_t)s->trials, "confidence",
        o->confidence, "seed", (json_int_t)s->seed, "epsilon_lower", a->epsilon_lower,
        "delta_lower", a->delta_lower, "event", event, "noise", noise_json(&r->noise),
        "violated", (int)r->violated);
    const bb_status status = cmd_output_json(output, json);
    json_decref(json);
    return status;
}

/* An audit of a whole training run, not of the door alone? */
static bool is_run(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--method") == 0 || strncmp(argv[i], "--method=", 9) == 0)
            return true;
    return false;
}

int cmd_audit(int argc, char **argv) {
    if (is_run(argc, argv)) return cmd_audit_run(argc, argv);
    struct argp_option option[ROWS + 1] = {0};
    char help[ROWS][250];
    for (size_t k = 0; k < ROWS; k++) {
        const bool says = table[k].kind != BB_OPTION_FLAG;
        snprintf(help[k], sizeof help[k],
                 says ? (table[k].choices ? "%s: %s (default %s)" : "%s%s (default %s)")
                      : "%s",
                 table[k].help, table[k].choices ? table[k].choices : "",
                 table[k].fallback);
        option[k] = (struct argp_option){.name = table[k].name,
                                         .key = FIRST_KEY + (int)k,
                                         .arg = table[k].argument,
                                         .doc = help[k]};
    }
    const struct argp argp = {option,
                              parse,
                              "",
                              "Runs the door many times on two neighbouring "
                              "populations and tries to refute its privacy claim. "
                              "With --method NAME, attacks whole training runs; see "
                              "`billboard audit --method stl --help'.",
                              NULL,
                              NULL,
                              NULL};
    request r = {0};
    cmd_output output = {0};
    bb_status status = bb_options_default(all, &r.options);
    if (!status) argp_parse(&argp, argc, argv, 0, NULL, &r);
    if (!status) status = r.status;
    if (!status) status = cmd_output_open(&output);
    if (!status) status = attack(&r);
    if (!status) status = print(&r, &output);
    bb_options_free(all, &r.options);
    const int code = cmd_output_close(&output, status);
    return code == 0 && r.violated ? CMD_VIOLATED : code;
}
