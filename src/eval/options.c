#include "eval/options.h"

#include "base/json.h"
#include "base/memory.h"
#include "methods/registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) .offset = offsetof(bb_train_options, field)
#define TEXT(option_name, field, word, text)                                           \
    {                                                                                  \
        .name = option_name, .kind = BB_OPTION_TEXT, AT(field), .argument = word,      \
        .help = text                                                                   \
    }
#define CHOICE(option_name, field, words, default_word, word, text)                    \
    {                                                                                  \
        .name = option_name, .kind = BB_OPTION_CHOICE, AT(field),                      \
        .fallback = default_word, .choices = words, .argument = word, .help = text     \
    }
#define NUMBER(option_name, option_kind, field, default_text, low, high, word, text)   \
    {                                                                                  \
        .name = option_name, .kind = option_kind, AT(field), .fallback = default_text, \
        .least = low, .most = high, .argument = word, .help = text                     \
    }
#define FLAG(option_name, field, text)                                                 \
    {                                                                                  \
        .name = option_name, .kind = BB_OPTION_FLAG, AT(field), .fallback = "false",   \
        .help = text                                                                   \
    }

/* clang-format off */
static const bb_option option[] = {
    TEXT("task", task, "COLUMN", "CSV: the column that names a row's task"),
    TEXT("target", target, "COLUMN", "CSV: the column to predict"),
    TEXT("features", features, "COLUMNS", "use these columns only, separated by commas (default: every other column)"),
    TEXT("ignore", ignore, "COLUMNS", "leave these columns out, separated by commas"),
    CHOICE("format", format, "auto|csv|libsvm|mat|npy", "auto", "FORMAT", "the data's format; auto goes by the file's name"),
    NUMBER("train-fraction", BB_OPTION_REAL, train_fraction, "1", 0.0, 1.0, "F", "of every task's n rows, max(1, round(F n)) train and the others test"),
    NUMBER("split-seed", BB_OPTION_COUNT, split_seed, "1", 0.0, 0x1p63, "S", "which rows train and which test"),
    TEXT("test", test, "FILE", "test rows, in place of a split"),
    CHOICE("standardize", standardize, "none|unit-rows|task", "none", "HOW", "none; unit-rows: every row divided by its norm; task: every column by the task's own mean and deviation"),
    TEXT("scale", scale, "FILE", "public ranges or constants of columns and target (docs/data-formats.md)"),
    TEXT("method", method, "METHOD", "how to learn: see `billboard methods'"),
    CHOICE("loss", loss, "squared|logistic", "squared", "LOSS", "squared, or logistic for targets 0 and 1 or -1 and 1"),
    CHOICE("loss-scale", loss_scale, "mean|sum", "mean", "SCALE", "a task's loss is the mean or the sum over its rows"),
    FLAG("no-intercept", no_intercept, "models without intercept"),
    NUMBER("rounds", BB_OPTION_COUNT, rounds, "0", 0.0, 1e6, "T", "rounds of the method; 0 takes the method's default"),
    TEXT("schedule", schedule, "SCHEDULE", "budget over rounds: uniform, power:A or geometric:Q (default: the method's)"),
    NUMBER("epsilon", BB_OPTION_AUTO, epsilon, "auto", 1e-6, 1e6, "EPSILON", "the privacy budget of the whole run; a private method needs it"),
    TEXT("delta", delta, "DELTA", "a number, or `paper' for 1/(m ln m); default: min(1e-5, 1/(10 m)) for m tasks"),
    CHOICE("adjacency", adjacency, "replace-one|add-remove", "replace-one", "WHICH", "what neighbouring populations are"),
    TEXT("mechanism", mechanism, "NAME", "gaussian (default of private methods); none: no noise, no privacy; wishart-published: as printed, not private as claimed"),
    FLAG("allow-broken-privacy", allow_broken_privacy, "let wishart-published run; the statement says what is true"),
    TEXT("ledger", ledger, "FILE", "charge the run to this population's budget"),
    TEXT("population", population, "NAME", "the population that a new ledger is for"),
    NUMBER("budget-epsilon", BB_OPTION_AUTO, budget_epsilon, "auto", 1e-6, 1e6, "E", "a new ledger's budget"),
    NUMBER("budget-delta", BB_OPTION_AUTO, budget_delta, "auto", 0.0, 1.0, "D", "a new ledger's budget"),
    TEXT("seed", seed, "S", "reproducible noise, for tests and simulations: the run is not private"),
    NUMBER("threads", BB_OPTION_COUNT, threads, "0", 0.0, 4096.0, "N", "threads; 0 takes all processors; results do not depend on it"),
    TEXT("compare", compare, "LIST", "for evaluation only, separated by commas: stl (every task alone, penalty by pooled cross-validation), no-privacy (the same method without noise)"),
    TEXT("output", output, "RUN", "the run directory to make"),
    FLAG("force", force, "replace RUN if it is a run directory"),
    FLAG("json", json, "results on stdout as one JSON object"),
    TEXT("config", config, "FILE", "options from a JSON file; flags override it"),
};

static const bb_train_row attribute[] = {
    {"Data:", 0, true}, {NULL, 0, true}, {NULL, 0, true}, {NULL, 0, true},
    {NULL, 0, false}, {NULL, 0, true}, {NULL, 0, true}, {NULL, 0, false},
    {NULL, 0, true}, {NULL, 0, false},
    {"Learning:", 0, true}, {NULL, 0, true}, {NULL, 0, true}, {NULL, 0, true},
    {NULL, 0, true}, {NULL, 0, true},
    {"Privacy:", 0, true}, {NULL, 0, true}, {NULL, 0, true}, {NULL, 0, true},
    {NULL, 0, true}, {NULL, 0, false}, {NULL, 0, false}, {NULL, 0, false},
    {NULL, 0, false}, {NULL, 0, true},
    {"Running:", 0, false}, {NULL, 0, false}, {NULL, 'o', false}, {NULL, 0, false},
    {NULL, 0, false}, {NULL, 0, false},
};
/* clang-format on */

enum { ROWS = sizeof option / sizeof *option };
_Static_assert(ROWS == sizeof attribute / sizeof *attribute, "one attribute a row");

bb_options bb_train_table(void) {
    return (bb_options){option, ROWS};
}

const bb_train_row *bb_train_row_of(size_t row) {
    return &attribute[row];
}

/* -- the method's own options
 * ---------------------------------------------------------- */

static bb_status find_method(bb_train_request *r) {
    const char *name = r->options.method;
    if (!name)
        return bb_fail(BB_EUSAGE,
                       "which method? give --method (see `billboard methods')");
    r->method = bb_method_find(name);
    if (!r->method)
        return bb_fail(BB_EUSAGE, "unknown method \"%s\" (see `billboard methods')",
                       name);
    bb_status status =
        bb_allocate(&r->method_options, r->method->options_size, 1, "a method's options");
    if (!status) status = bb_options_default(r->method->options, r->method_options);
    return status;
}

static bb_status set_pair(bb_train_request *r, const char *pair) {
    char *name = NULL;
    const char *equals = strchr(pair, '=');
    if (!equals)
        return bb_fail(BB_EUSAGE, "--set expects key=value, got \"%s\"", pair);
    bb_status status = bb_duplicate(&name, pair, (size_t)(equals - pair));
    if (!status)
        status = bb_options_set(r->method->options, r->method_options, r->method->name,
                                name, equals + 1);
    free(name);
    return status;
}

/* -- resolving
 * ------------------------------------------------------------------------- */

static const char *last_text(const bb_train_flag *flag, size_t flags, const char *name) {
    const char *text = NULL;
    for (size_t f = 0; f < flags; f++)
        if (strcmp(flag[f].name, name) == 0) text = flag[f].text;
    return text;
}

/* Takes the member "set" out of the config file's object into *set. */
static bb_status read_config(bb_train_options *o, const char *path, json_t **set) {
    json_t *config = NULL;
    bb_status status = bb_json_read_file(&config, path);
    if (status) return status;
    if (json_is_object(config)) {
        *set = json_incref(json_object_get(config, "set"));
        json_object_del(config, "set");
    }
    if (json_object_get(config, "config"))
        status = bb_fail(BB_EUSAGE, "%s: a config file cannot name a config file", path);
    if (!status) status = bb_options_set_json(bb_train_table(), o, path, config);
    json_decref(config);
    return status;
}

bb_status bb_train_resolve(bb_train_request *out, const bb_train_flag *flag,
                           size_t flags) {
    bb_train_request r = {0};
    json_t *set = NULL;
    const char *config = last_text(flag, flags, "config");
    bb_status status = bb_options_default(bb_train_table(), &r.options);
    if (!status && config) status = read_config(&r.options, config, &set);
    for (size_t f = 0; f < flags && !status; f++)
        if (strcmp(flag[f].name, "set") != 0)
            status = bb_options_set(bb_train_table(), &r.options, "train", flag[f].name,
                                    flag[f].text);
    if (!status) status = find_method(&r);
    if (!status && set)
        status = bb_options_set_json(r.method->options, r.method_options,
                                     r.method->name, set);
    for (size_t f = 0; f < flags && !status; f++)
        if (strcmp(flag[f].name, "set") == 0) status = set_pair(&r, flag[f].text);
    json_decref(set);
    if (status)
        bb_train_request_free(&r);
    else
        *out = r;
    return status;
}

void bb_train_request_free(bb_train_request *r) {
    if (r->method_options) bb_options_free(r->method->options, r->method_options);
    free(r->method_options);
    bb_options_free(bb_train_table(), &r->options);
    *r = (bb_train_request){0};
}

json_t *bb_train_json(const bb_train_request *r, bool only_public) {
    json_t *object = bb_options_json(bb_train_table(), &r->options);
    for (size_t k = 0; object && k < ROWS; k++)
        if ((only_public && !attribute[k].is_public) ||
            strcmp(option[k].name, "config") == 0)
            json_object_del(object, option[k].name);
    if (object &&
        json_object_set_new(object, "set",
                            bb_options_json(r->method->options, r->method_options))) {
        json_decref(object);
        return NULL;
    }
    return object;
}
