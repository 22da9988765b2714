#include "train/options.h"

#include "base/json.h"
#include "base/memory.h"
#include "data/ranges.h"
#include "methods/registry.h"
#include "train/effects.h"
#include "train/kept.h"
#include "train/phases.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(bb_train_options, field)

enum { PRIVATE = false, PUBLIC = true };
enum { LEARNING = false, ONE_RUN = true };

/* clang-format off */
/* heading of --help that starts here, letter, whether others may know it, whether it is of
 * one run alone; then as in bb_option: name, kind, field, default, least, most, choices,
 * what --help calls the value, help */
#define ROWS(ROW) \
    ROW("Data:",     0,   PUBLIC,  LEARNING, "task", BB_OPTION_TEXT, AT(task), NULL, 0.0, 0.0, NULL, "COLUMN", "CSV: the column that names a row's task (default task)") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "target", BB_OPTION_TEXT, AT(target), NULL, 0.0, 0.0, NULL, "COLUMN", "CSV: the column to predict (default y)") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "features", BB_OPTION_TEXT, AT(features), NULL, 0.0, 0.0, NULL, "COLUMNS", "use these columns only, separated by commas (default: every other column); LIBSVM: how many there are") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "ignore", BB_OPTION_TEXT, AT(ignore), NULL, 0.0, 0.0, NULL, "COLUMNS", "leave these columns out, separated by commas, in quotes where a name has one") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "format", BB_OPTION_CHOICE, AT(format), "auto", 0.0, 0.0, "auto|csv|libsvm|mat|npy|leaf|idx|bb", "FORMAT", "the data's format; auto goes by the file's name") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "separator", BB_OPTION_TEXT, AT(separator), NULL, 0.0, 0.0, NULL, "CHARACTER", "CSV: what separates columns: \",\" (default), \";\" or tab") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "missing", BB_OPTION_TEXT, AT(missing), NULL, 0.0, 0.0, NULL, "HOW", "CSV: missing values: error (default); drop-rows leaves their rows out; indicator makes them 0 beside a column COLUMN_missing, of every column or of indicator:COLUMNS") \
    ROW(NULL,        0,   PRIVATE, LEARNING, "categories", BB_OPTION_TEXT, AT(categories), NULL, 0.0, 0.0, NULL, "FILE", "CSV: columns of text and their public levels, as JSON (docs/data-formats.md)") \
    ROW(NULL,        0,   PRIVATE, LEARNING, "labels", BB_OPTION_TEXT, AT(labels), NULL, 0.0, 0.0, NULL, "FILE", "IDX: the labels of DATA (default: its name with `labels' for `images')") \
    ROW(NULL,        0,   PRIVATE, LEARNING, "tasks", BB_OPTION_TEXT, AT(tasks), NULL, 0.0, 0.0, NULL, "FILE", "IDX: the task of each image of DATA, a line each (default: its name up to `images', then tasks.csv)") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "image", BB_OPTION_TEXT, AT(image), NULL, 0.0, 0.0, NULL, "HxWxC", "rows are images of this height, width and number of channels") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "classes", BB_OPTION_COUNT, AT(classes), "0", 0.0, 0x1p24, NULL, "N", "softmax, multilabel: how many classes or labels there are, numbered from 0; 0 counts them in the data, which a private run may not") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "cluster", BB_OPTION_TEXT, AT(cluster), NULL, 0.0, 0.0, NULL, "COLUMN", "a public column that groups tasks, the same number in all rows of a task; no feature") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "clusters", BB_OPTION_COUNT, AT(clusters), "0", 0.0, 0x1p24, NULL, "N", "how many groups --cluster tells, numbered from 0; 0 finds them in the data, which a private run may not") \
    ROW(NULL,        0,   PRIVATE, LEARNING, "graph", BB_OPTION_TEXT, AT(graph), NULL, 0.0, 0.0, NULL, "FILE", "public relations of tasks, as JSON: [[task, task, weight], ...], for pmtl-graph") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "train-fraction", BB_OPTION_REAL, AT(train_fraction), "1", 0.0, 1.0, NULL, "F", "of every task's n rows, max(1, round(F n)) train and the others test") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "split-seed", BB_OPTION_COUNT, AT(split_seed), "1", 0.0, 0x1p63, NULL, "S", "which rows train and which test") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "first-tasks", BB_OPTION_COUNT, AT(first_tasks), "0", 0.0, 0x1p40, NULL, "M", "leave all tasks out but the first M, in the order of their names; 0: all take part") \
    ROW(NULL,        0,   PRIVATE, LEARNING, "test", BB_OPTION_TEXT, AT(test), NULL, 0.0, 0.0, NULL, "FILE", "test rows, in place of a split") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "standardize", BB_OPTION_CHOICE, AT(standardize), "auto", 0.0, 0.0, "none|unit-rows|task|magnitude|auto", "HOW", "none; unit-rows: every row divided by its norm; task: every column by the task's own mean and deviation; magnitude: columns and target without a range by the task's own powers of ten; auto: magnitude where ranges are open, and for private linear models without --scale (of several outputs, for mp-centre), else none") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "scale", BB_OPTION_TEXT, AT(scale), NULL, 0.0, 0.0, NULL, "FILE", "public ranges or constants of columns and target (docs/data-formats.md)") \
    ROW("Learning:", 0,   PUBLIC,  LEARNING, "method", BB_OPTION_TEXT, AT(method), NULL, 0.0, 0.0, NULL, "METHOD", "how to learn: see `billboard methods'; auto (default): mp-mixed for numbers, mp-centre for classes") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "loss", BB_OPTION_CHOICE, AT(loss), "squared", 0.0, 0.0, "squared|logistic|softmax|multilabel", "LOSS", "squared; logistic for targets 0 and 1 or -1 and 1; softmax for classes; multilabel for lists of labels") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "net", BB_OPTION_TEXT, AT(net), NULL, 0.0, 0.0, NULL, "LAYERS", "models are networks: conv5x32,pool2,conv5x64,pool2,dense62 (docs/networks.md)") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "batch", BB_OPTION_COUNT, AT(batch), "0", 0.0, 65536.0, NULL, "B", "rows of a step of stochastic descent; 0: all, networks 10") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "start-seed", BB_OPTION_COUNT, AT(start_seed), "1", 0.0, 0x1p63, NULL, "S", "where networks start, public") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "loss-scale", BB_OPTION_CHOICE, AT(loss_scale), "mean", 0.0, 0.0, "mean|sum", "SCALE", "a task's loss is the mean or the sum over its rows") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "no-intercept", BB_OPTION_FLAG, AT(no_intercept), "false", 0.0, 0.0, NULL, NULL, "models without intercept") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "rounds", BB_OPTION_COUNT, AT(rounds), "0", 0.0, 1e6, NULL, "T", "rounds of the method; 0 takes the method's default") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "phase", BB_OPTION_TEXT, AT(phase), NULL, 0.0, 0.0, NULL, "PHASE", "METHOD,key=value,...: goes on with this method; rounds=T and share=S of the budget, else keys of the method; repeated, or separated by semicolons: one after the other") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "finetune", BB_OPTION_TEXT, AT(finetune), NULL, 0.0, 0.0, NULL, "HOW", "a last phase at home: none, vanilla, mean, kl or ewc, then ,key=value,... (default: the method's)") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "schedule", BB_OPTION_TEXT, AT(schedule), NULL, 0.0, 0.0, NULL, "SCHEDULE", "budget over rounds: uniform, power:A, geometric:Q or, for the mp-* methods of Liang et al., advised (default: the method's)") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "sampling", BB_OPTION_TEXT, AT(sampling), NULL, 0.0, 0.0, NULL, "WHO", "who takes part in a round: all (default), poisson:Q (each task with probability Q), or fixed:K tasks") \
    ROW("Privacy:",  0,   PUBLIC,  LEARNING, "epsilon", BB_OPTION_AUTO, AT(epsilon), "auto", 1e-6, 1e6, NULL, "EPSILON", "the privacy budget of the whole run; a private method needs it") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "delta", BB_OPTION_TEXT, AT(delta), NULL, 0.0, 0.0, NULL, "DELTA", "a number, or `paper' for 1/(m ln m); default: min(1e-5, 1/(10 m)) for m tasks") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "adjacency", BB_OPTION_CHOICE, AT(adjacency), "replace-one", 0.0, 0.0, "replace-one|add-remove", "WHICH", "what neighbouring populations are") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "mechanism", BB_OPTION_TEXT, AT(mechanism), NULL, 0.0, 0.0, NULL, "NAME", "gaussian (default of private methods); none: no noise, no privacy; wishart-published, lipschitz-published: as printed, not private as claimed") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "doors", BB_OPTION_COUNT, AT(doors), "1", 1.0, 2.0, NULL, "N", "2: two doors each add as much noise as epsilon asks for, so that in a run of several places nobody need trust one curator (docs/two-doors.md)") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "allow-broken-privacy", BB_OPTION_FLAG, AT(allow_broken_privacy), "false", 0.0, 0.0, NULL, NULL, "let published noise run that is not private; the statement says what is true") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "tuned-on-data", BB_OPTION_FLAG, AT(tuned_on_data), "false", 0.0, 0.0, NULL, NULL, "options were chosen by looking at these data, as `billboard tune --not-private' does: the run is not private, and says so") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "ledger", BB_OPTION_TEXT, AT(ledger), NULL, 0.0, 0.0, NULL, "FILE", "charge the run to this population's budget") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "population", BB_OPTION_TEXT, AT(population), NULL, 0.0, 0.0, NULL, "NAME", "the population that a new ledger is for") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "budget-epsilon", BB_OPTION_AUTO, AT(budget_epsilon), "auto", 1e-6, 1e6, NULL, "E", "a new ledger's budget") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "budget-delta", BB_OPTION_AUTO, AT(budget_delta), "auto", 0.0, 1.0, NULL, "D", "a new ledger's budget") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "ledger-kind", BB_OPTION_TEXT, AT(ledger_kind), NULL, 0.0, 0.0, NULL, "KIND", "what a new ledger adds up: sum (default) epsilon and delta; gdp mu^2, for Gaussian releases only; rdp Renyi divergence at one order") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "ledger-order", BB_OPTION_AUTO, AT(ledger_order), "auto", 1.0, 1e12, NULL, "A", "a new ledger's Renyi order, for kind rdp; auto suits its budget") \
    ROW(NULL,        0,   PUBLIC,  ONE_RUN,  "seed", BB_OPTION_TEXT, AT(seed), NULL, 0.0, 0.0, NULL, "S", "reproducible noise, for tests and simulations: the run is not private") \
    ROW("Running:",  0,   PRIVATE, ONE_RUN,  "threads", BB_OPTION_COUNT, AT(threads), "0", 0.0, 4096.0, NULL, "N", "threads; 0 takes as many as the data keep busy; results do not depend on it") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "memory", BB_OPTION_COUNT, AT(memory), "0", 0.0, 0x1p60, NULL, "BYTES", "keep rows and what tasks keep in temporary files (in TMPDIR, else /var/tmp) where they take more than about so many bytes; 0: in memory; results do not depend on it") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "checkpoint", BB_OPTION_TEXT, AT(checkpoint), NULL, 0.0, 0.0, NULL, "FILE", "keep the run in FILE, which is private data, so that it can go on when it is interrupted or killed") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "checkpoint-every", BB_OPTION_REAL, AT(checkpoint_every), "60", 0.0, 1e9, NULL, "SECONDS", "how often to write FILE, between rounds") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "resume", BB_OPTION_TEXT, AT(resume), NULL, 0.0, 0.0, NULL, "FILE", "go on with the run that --checkpoint FILE kept; DATA and all options are in it") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "compare", BB_OPTION_TEXT, AT(compare), NULL, 0.0, 0.0, NULL, "LIST", "for evaluation only, separated by commas: stl (every task alone, one model for all and a mixed model, chosen by looking at all tasks), no-privacy (the same method without noise)") \
    ROW(NULL,        0,   PRIVATE, LEARNING, "intervals", BB_OPTION_FLAG, AT(intervals), "false", 0.0, 0.0, NULL, NULL, "mp-mixed: each task also keeps how uncertain its model is, for `billboard predict --intervals'; costs nothing") \
    ROW(NULL,        0,   PUBLIC,  LEARNING, "report-effects", BB_OPTION_FLAG, AT(report_effects), "false", 0.0, 0.0, NULL, NULL, "mp-mixed: publish fixed effects and variance components with standard errors, for a fifth of the budget (--set effects=SHARE): RUN/public/effects.json") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "trace", BB_OPTION_FLAG, AT(trace), "false", 0.0, 0.0, NULL, NULL, "for simulations only: what the models reach after each round, in RUN/operator/trace.csv") \
    ROW(NULL,        'o', PRIVATE, ONE_RUN,  "output", BB_OPTION_TEXT, AT(output), NULL, 0.0, 0.0, NULL, "RUN", "the run directory to make (program: DATA.run, without DATA's ending)") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "force", BB_OPTION_FLAG, AT(force), "false", 0.0, 0.0, NULL, NULL, "replace RUN if it is a run directory") \
    ROW(NULL,        0,   PRIVATE, ONE_RUN,  "json", BB_OPTION_FLAG, AT(json), "false", 0.0, 0.0, NULL, NULL, "results on stdout as one JSON object") \
    ROW(NULL,        0,   PRIVATE, LEARNING, "config", BB_OPTION_TEXT, AT(config), NULL, 0.0, 0.0, NULL, "FILE", "options from a JSON file; flags override it")

#define OPTION(group, key, is_public, one_run, ...) {__VA_ARGS__},
#define ATTRIBUTE(group, key, is_public, one_run, ...) {group, key, is_public, one_run},
/* clang-format on */

static const bb_option option[] = {ROWS(OPTION)};
static const bb_train_row attribute[] = {ROWS(ATTRIBUTE)};
enum { COUNT = sizeof option / sizeof *option };

bb_options bb_train_table(void) {
    return (bb_options){option, COUNT};
}

const bb_train_row *bb_train_row_of(size_t row) {
    return &attribute[row];
}

bool bb_train_is_of_one_run(const char *name) {
    for (size_t k = 0; k < COUNT; k++)
        if (strcmp(option[k].name, name) == 0) return attribute[k].one_run;
    return false;
}

/* -- the method's own options -- */

/* What to take where nobody says: a method that needs no option. NULL, with the reason,
 * where there is none. */
static const char *choose_method(const bb_train_options *o) {
    const bb_loss loss = (bb_loss)o->loss;
    if (o->net || loss == BB_LOSS_MULTILABEL) {
        (void)bb_fail(BB_EUSAGE,
                      "which method? networks and multilabel targets have no "
                      "default one: give --method, fedavg for instance (see `billboard "
                      "methods')");
        return NULL;
    }
    return loss == BB_LOSS_SQUARED ? bb_method_mp_mixed.name : bb_method_mp_centre.name;
}

static bb_status find_method(bb_train_request *r) {
    char **name = &r->options.method;
    if (!*name || strcmp(*name, "auto") == 0) {
        const char *chosen = choose_method(&r->options);
        if (!chosen) return BB_EUSAGE;
        free(*name);
        *name = NULL;
        const bb_status status = bb_duplicate(name, chosen, strlen(chosen));
        if (status) return status;
    }
    return bb_train_add_phase(r, *name);
}

/* Descent on several outputs is left rows as they are, for which its rates are chosen. */
bool bb_train_wants_own_units(const bb_train_request *r) {
    const bool single = bb_loss_is_single((bb_loss)r->options.loss);
    bool any = false;
    if (r->options.net) return false;
    for (size_t k = 0; k < r->phases; k++) {
        const bb_phase *phase = &r->phase[k];
        if (bb_method_is_for_rows(phase->method, phase->options)) return false;
        any = any || (phase->method->kind == BB_METHOD_PRIVATE &&
                      (single || !phase->method->descends));
    }
    return any;
}

static void choose_units(bb_train_request *r) {
    bb_train_options *o = &r->options;
    if (o->standardize != BB_STANDARDIZE_AUTO) return;
    o->standardize = BB_STANDARDIZE_NONE;
    if (o->scale ? bb_ranges_are_open(o->scale) : bb_train_wants_own_units(r))
        o->standardize = BB_STANDARDIZE_MAGNITUDE;
}

/* Their share, unless `set` says another. */
static bb_status ask_for_effects(bb_train_request *r) {
    const bb_phase *first = &r->phase[0];
    if (!first->method->effects) return bb_effects_check(r);
    return bb_options_set(first->method->options, bb_train_phase_options(first),
                          first->method->name, "effects", "0.2");
}

static bb_status set_pair(bb_train_request *r, const char *pair) {
    const bb_phase *first = &r->phase[0];
    char *name = NULL;
    const char *equals = strchr(pair, '=');
    if (!equals) return bb_fail(BB_EUSAGE, "--set expects key=value, got \"%s\"", pair);
    bb_status status = bb_duplicate(&name, pair, (size_t)(equals - pair));
    if (!status)
        status = bb_options_set(first->method->options, bb_train_phase_options(first),
                                first->method->name, name, equals + 1);
    free(name);
    return status;
}

/* Several --phase are one text, separated by semicolons. */
static bb_status add_phase_text(bb_train_options *o, const char *text) {
    char *both = NULL;
    assert(text); /* --phase has a value */
    const size_t size = (o->phase ? strlen(o->phase) : 0) + strlen(text) + 2;
    const bb_status status = bb_allocate(&both, size, 1, "the phases");
    if (status) return status;
    snprintf(both, size, "%s%s%s", o->phase ? o->phase : "", o->phase ? ";" : "", text);
    free(o->phase);
    o->phase = both;
    return BB_OK;
}

static const char *last_text(const bb_train_flag *flag, size_t flags,
                             const char *name) {
    const char *text = NULL;
    for (size_t f = 0; f < flags; f++)
        if (strcmp(flag[f].name, name) == 0) text = flag[f].text;
    return text;
}

/* Options that are texts because not every value is a number, or an object, may be that
 * here. */
static bb_status value_to_text(json_t *config, const char *name) {
    const json_t *value = json_object_get(config, name);
    if (!json_is_number(value) && !json_is_object(value) && !json_is_array(value))
        return BB_OK;
    char *text = bb_json_text(value, 0);
    const bool failed = !text || json_object_set_new(config, name, json_string(text));
    free(text);
    return failed ? bb_fail(BB_ENOMEM, "no memory for option \"%s\"", name) : BB_OK;
}

bb_status bb_train_options_json(bb_train_options *o, const char *where, json_t *json) {
    static const char *const any[] = {"delta", "seed", "scale", "categories", "graph"};
    bb_status status = BB_OK;
    for (size_t k = 0; k < sizeof any / sizeof *any && !status; k++)
        status = value_to_text(json, any[k]);
    return status ? status : bb_options_set_json(bb_train_table(), o, where, json);
}

/* A run directory's public/options.json says more than the options. */
static void keep_options(json_t **config) {
    json_t *options = json_object_get(*config, "options");
    if (!json_is_object(options)) return;
    json_incref(options);
    json_decref(*config);
    *config = options;
}

/* Takes the member "set" out of the config file's object into *set. */
static bb_status read_config(bb_train_options *o, const char *path, json_t **set) {
    json_t *config = NULL;
    bb_status status = bb_json_read_file(&config, path);
    if (status) return status;
    keep_options(&config);
    if (json_is_object(config)) {
        *set = json_incref(json_object_get(config, "set"));
        json_object_del(config, "set");
    }
    if (json_object_get(config, "config"))
        status =
            bb_fail(BB_EUSAGE, "%s: a config file cannot name a config file", path);
    else if (json_object_get(config, "resume"))
        status = bb_fail(BB_EUSAGE, "%s: a config file cannot name a run to go on with",
                         path);
    if (!status) status = bb_train_options_json(o, path, config);
    json_decref(config);
    return status;
}

/* The options of the run that goes on. */
static bb_status read_resumed(bb_train_request *r, const char *path, json_t **set) {
    bb_status status = bb_kept_about(path, &r->resumed);
    if (status) return status;
    json_t *options = json_deep_copy(json_object_get(r->resumed, "options"));
    *set = json_incref(json_object_get(options, "set"));
    json_object_del(options, "set");
    status = options ? bb_train_options_json(&r->options, path, options)
                     : bb_fail(BB_ENOMEM, "no memory for the options");
    json_decref(options);
    return status;
}

/* What no result depends on. */
static bool is_free(const char *name) {
    static const char *const may_differ[] = {"threads", "memory", "json",
                                             "checkpoint-every"};
    for (size_t k = 0; k < sizeof may_differ / sizeof *may_differ; k++)
        if (strcmp(name, may_differ[k]) == 0) return true;
    return false;
}

/* Refuses the first option that is not as it was. */
static bb_status check_as_before(const json_t *before, const json_t *now,
                                 const char *path, const char *prefix) {
    const char *name;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)before, name, value) {
        const json_t *given = json_object_get(now, name);
        if (strcmp(name, "set") != 0 && !is_free(name) && !json_equal(value, given)) {
            char *was = bb_json_text(value, 0),
                 *is = given ? bb_json_text(given, 0) : NULL;
            const bb_status status =
                bb_fail(BB_EUSAGE, "%s: its run has %s%s %s, not %s: leave it out",
                        path, prefix, name, was ? was : "another", is ? is : "none");
            free(was);
            free(is);
            return status;
        }
    }
    return BB_OK;
}

/* Of the run's own options, or of the first method's, under "set". */
static bb_status check_resumed(const bb_train_request *r, bool of_method) {
    json_t *before = json_object_get(r->resumed, "options");
    json_t *now =
        of_method ? bb_options_json(r->phase[0].method->options, r->phase[0].options)
                  : bb_options_json(bb_train_table(), &r->options);
    const bb_status status =
        now ? check_as_before(of_method ? json_object_get(before, "set") : before, now,
                              r->options.resume, of_method ? "--set " : "--")
            : bb_fail(BB_ENOMEM, "no memory for the options");
    json_decref(now);
    return status;
}

/* What is there before the flags. */
static bb_status begin_options(bb_train_request *r, const bb_train_flag *flag,
                               size_t flags, json_t **set) {
    const char *config = last_text(flag, flags, "config");
    const char *resume = last_text(flag, flags, "resume");
    const bb_status status = bb_options_default(bb_train_table(), &r->options);
    if (status) return status;
    if (config && resume)
        return bb_fail(BB_EUSAGE, "--resume has all options: leave --config out");
    if (resume) return read_resumed(r, resume, set);
    return config ? read_config(&r->options, config, set) : BB_OK;
}

/* All but those of methods, in their order. */
static bb_status take_flags(bb_train_options *o, const bb_train_flag *flag,
                            size_t flags) {
    bb_status status = BB_OK;
    if (last_text(flag, flags, "phase")) {
        free(o->phase); /* what a config file says */
        o->phase = NULL;
    }
    for (size_t f = 0; f < flags && !status; f++)
        if (strcmp(flag[f].name, "phase") == 0)
            status = add_phase_text(o, flag[f].text);
        else if (strcmp(flag[f].name, "set") != 0)
            status = bb_options_set(bb_train_table(), o, "train", flag[f].name,
                                    flag[f].text);
    return status;
}

bb_status bb_train_resolve(bb_train_request *out, const bb_train_flag *flag,
                           size_t flags) {
    bb_train_request r = {0};
    json_t *set = NULL;
    bb_status status = begin_options(&r, flag, flags, &set);
    if (!status) status = take_flags(&r.options, flag, flags);
    if (!status && r.resumed) status = check_resumed(&r, false);
    if (!status) status = find_method(&r);
    if (!status && r.options.report_effects) status = ask_for_effects(&r);
    if (!status && set)
        status = bb_options_set_json(r.phase[0].method->options,
                                     bb_train_phase_options(&r.phase[0]),
                                     r.phase[0].method->name, set);
    for (size_t f = 0; f < flags && !status; f++)
        if (strcmp(flag[f].name, "set") == 0)
            status = set_pair(&r, flag[f].text ? flag[f].text : "");
    if (!status) r.phase[0].rounds = (uint32_t)r.options.rounds;
    if (!status && r.resumed) status = check_resumed(&r, true);
    if (!status) status = bb_train_phases(&r);
    if (!status) choose_units(&r);
    json_decref(set);
    if (status)
        bb_train_request_free(&r);
    else
        *out = r;
    return status;
}

void bb_train_request_free(bb_train_request *r) {
    for (size_t k = 0; k < r->phases; k++) {
        void *options = bb_train_phase_options(&r->phase[k]);
        if (options) bb_options_free(r->phase[k].method->options, options);
        free(options);
    }
    bb_options_free(bb_train_table(), &r->options);
    json_decref(r->resumed);
    *r = (bb_train_request){0};
}

json_t *bb_train_json(const bb_train_request *r, bool only_public) {
    json_t *object = bb_options_json(bb_train_table(), &r->options);
    for (size_t k = 0; object && k < COUNT; k++)
        if ((only_public && !attribute[k].is_public) ||
            strcmp(option[k].name, "config") == 0 ||
            strcmp(option[k].name, "resume") == 0)
            json_object_del(object, option[k].name);
    if (object && json_object_set_new(object, "set",
                                      bb_options_json(r->phase[0].method->options,
                                                      r->phase[0].options))) {
        json_decref(object);
        return NULL;
    }
    return object;
}
