/* options.h - the options of a training run: one table drives the flags, the config
 * file, --help, and the resolved options that a run directory keeps. */
#ifndef BB_TRAIN_OPTIONS_H
#define BB_TRAIN_OPTIONS_H

#include "base/options.h"
#include "core/run.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bb_train_options {
    /* data */
    char *task, *target, *features, *ignore, *labels, *tasks, *test, *scale;
    char *cluster, *graph, *image, *separator, *missing, *categories;
    uint64_t classes, clusters;
    int format, standardize;
    double train_fraction;
    uint64_t split_seed, first_tasks;
    /* learning */
    char *method, *schedule, *phase, *finetune, *net;
    uint64_t batch, start_seed;
    int loss, loss_scale;
    bool no_intercept;
    uint64_t rounds;
    char *sampling; /* NULL: all */
    uint64_t doors; /* 1 or 2 */
    /* privacy */
    double epsilon; /* NaN: not given */
    char *delta;    /* NULL: the default; "paper"; or a number */
    int adjacency;
    char *mechanism;
    bool allow_broken_privacy, tuned_on_data;
    char *ledger, *population;
    double budget_epsilon, budget_delta; /* NaN: not given */
    char *ledger_kind;                   /* NULL: not given */
    double ledger_order;                 /* NaN: not given */
    char *seed;                          /* NULL: secure noise */
    /* running */
    uint64_t threads, memory;
    char *compare, *output, *config, *checkpoint, *resume;
    double checkpoint_every; /* seconds */
    bool force, json, trace, report_effects, intervals;
} bb_train_options;

/* Where an option belongs in --help; whether others may know it: options that name files
 * of the operator's machine or change nothing that is published are not public; and whether
 * it is of one run alone, what that writes, charges, compares and prints, and not of how to
 * learn: tuning has no such options. */
typedef struct bb_train_row {
    const char *group; /* starts a new group of --help when not NULL */
    char key;          /* one-letter flag, 0 for none */
    bool is_public, one_run;
} bb_train_row;

/* The table and, row by row, its attributes. */
bb_options bb_train_table(void);
const bb_train_row *bb_train_row_of(size_t row);
bool bb_train_is_of_one_run(
    const char *name); /* false: or there is none of this name */

/* Sets options from the members of a JSON object, in which ranges and levels may stand
 * themselves, in place of the names of their files. BB_EUSAGE, with `where`. */
BB_MUST_CHECK bb_status bb_train_options_json(bb_train_options *options,
                                              const char *where, json_t *json);

/* What --set, or the member "set" of a config file, gave to the method. */
typedef struct bb_train_request {
    bb_train_options options;
    size_t phases;
    bb_phase phase[BB_MOST_PHASES]; /* finetuning is the last; own their options */
    char name[BB_RUN_NAME];         /* of what shares something: bb_run_name */
    json_t *resumed; /* with the option resume: what its file says (train/kept.h) */
    bool in_memory;  /* no output is named, and none is needed; set by hand */
    bool held_out;   /* tuning, set by hand: of the rows to train on, those of this fold
                        test (bb_crossval_folds), and rows to test on are not looked at */
    unsigned fold;
    bool charged; /* tuning, set by hand: the search that it is a part of has paid */
} bb_train_request;

/* One flag of the command line: a text for an option, NULL for a flag without value;
 * name "set" carries "key=value" for the method. */
typedef struct bb_train_flag {
    const char *name, *text;
} bb_train_flag;

/* Resolves defaults, then the config file (which may have all options but `config` and
 * `resume`, and "set": {...}), then the flags in their order. BB_EUSAGE with one precise
 * message. With the flag `resume` the options are those of the run that goes on, and flags
 * that say otherwise are refused, but for those that change no result. */
BB_MUST_CHECK bb_status bb_train_resolve(bb_train_request *out,
                                         const bb_train_flag *flag, size_t flags);
void bb_train_request_free(bb_train_request *request);
/* Whether `standardize` auto means magnitude without ranges: tasks share linear models of
 * one output, which each may learn in units of its own, and no row of theirs is protected
 * from the task's others. */
bool bb_train_wants_own_units(const bb_train_request *request);

/* The resolved options as JSON with the method's own under "set"; only_public leaves
 * out the rows that are not. What comes back can be given as --config. NULL: out of
 * memory. */
json_t *bb_train_json(const bb_train_request *request, bool only_public);

#endif
