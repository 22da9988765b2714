/* billboard.h - personal models for many tasks (hospitals, schools, banks, phones),
 * trained jointly, so that nothing about one task leaks to the others.
 *
 * This is all there is to include, and it is written to be read from here to its end,
 * in the order of a user's work:
 *
 *    1  which Billboard this is
 *    2  errors
 *    3  answers: what is said about plans, ledgers, methods and runs
 *    4  what a plan costs, before any data are touched
 *    5  options and methods, by name
 *    6  data: from arrays, or from files
 *    7  jobs: training
 *    8  results: models, figures, the promise, run directories
 *    9  predictions for new rows
 *   10  ledgers
 *   11  audits
 *   12  experiments, pages and charts: what runs have reached, for people
 *   13  ranks: a run in several processes (experimental)
 *   14  experimental: one run in several places, each with its own rows
 *
 * In Billboard's sources docs/library.md has the same as a walk with programs that run.
 *
 * Rules that hold for every function here:
 *
 * Errors.     What can fail returns a billboard_status; 0 is success. Outputs are
 *             written only on success. billboard_error() says what was wrong, in one
 *             sentence, with options as the program's --NAME. Functions that return no
 *             status are never given NULL, but for those that end in _free.
 * Ownership.  What a function makes, through its last argument, belongs to the caller,
 *             who ends it with the function of that name that ends in _free; all of
 *             these take NULL. Arguments are borrowed during the call and copied where
 *             they are kept. A `const char *` that is returned belongs to the object
 *             that it was asked of, and is valid until that is freed or asked to
 *             change.
 * Threads.    Everything may be called from any thread, and objects may move between
 *             threads. Different objects may be used at the same time; one object only
 *             by functions that take it as const.
 * Process.    Billboard belongs to nobody's process: it sets no environment variable,
 *             no locale, no signal handler and prints nothing. OpenMP threads are its
 *             own. OpenBLAS, which a process has once, runs one thread while a call
 *             computes and has its number of threads back after it.
 *             billboard_own_process() is the exception, for programs that want it.
 * Structs.    Whatever has a member struct_size must have it set to the sizeof of the
 *             struct before it is given away: a program that was compiled with an older
 *             header goes on working with a newer library. Set the rest to 0 first.
 * Privacy.    Only a run that adds noise spends a privacy budget; the comment of each
 *             function says where there is a privacy cost. Everything else is either
 *             public to begin with, or for the eyes of whoever holds the data. */
#ifndef BILLBOARD_BILLBOARD_H
#define BILLBOARD_BILLBOARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <atomic>
extern "C" {
#else
#include <stdatomic.h>
#endif

/* What the library exports. */
#ifndef BILLBOARD_API
#if defined(__GNUC__)
#define BILLBOARD_API __attribute__((visibility("default")))
#else
#define BILLBOARD_API
#endif
#endif

/* The compiler warns where a status is not looked at. */
#if defined(__GNUC__)
#define BILLBOARD_CHECK __attribute__((warn_unused_result))
#else
#define BILLBOARD_CHECK
#endif

/* -- 1. Which Billboard this is ------------------------------------------------------
 *
 * The number of the binary interface. A library of the same number has all functions
 * that this header declares, with the same arguments; it is the number in the library's
 * file name, libbillboard.so.0. */
#define BILLBOARD_ABI 0

/* "0.1.0": of the library that is running. */
BILLBOARD_API const char *billboard_version(void);
/* BILLBOARD_ABI of the library that is running: equal to the macro, or the program was
 * compiled for another one. */
BILLBOARD_API int billboard_abi(void);

/* -- 2. Errors -----------------------------------------------------------------------
 *
 * The same numbers as the exit codes of the program `billboard` (docs/exit-codes.md).
 */
typedef enum billboard_status {
    BILLBOARD_OK = 0,
    BILLBOARD_FAILED = 1, /* malformed data, a file, memory, or numbers that overflow */
    BILLBOARD_USAGE = 2,  /* an argument or option that makes no sense, or several */
    BILLBOARD_BUDGET = 3, /* the privacy budget does not allow it: nothing published */
    BILLBOARD_INTERRUPTED = 130
} billboard_status;

/* What the last call on this thread that failed had to say: what, where, expected,
 * found. "" if none has failed. Valid until the next call on this thread that fails. */
BILLBOARD_API const char *billboard_error(void);

/* For a program, not for a library in somebody else's process: lets Billboard set this
 * process up. On recent Intel servers OpenBLAS, as Debian packages it, mistakes the
 * processor for an old one, and is five times slower. This makes it take the right
 * kernels (unless OPENBLAS_CORETYPE says otherwise, which this sets) and one thread for
 * good. Call it first in main, before threads are started or BLAS is used.
 * BILLBOARD_USAGE if the OpenBLAS found is the sequential one, which is not safe with
 * threads. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_own_process(void);

/* -- 3. Answers ----------------------------------------------------------------------
 *
 * What functions have to say is a tree of named numbers and texts: the JSON object that
 * the program prints with --json, whose names are a contract (they are added to, not
 * changed). A path names a place in it: names and numbers of list members, with dots
 * between them, as in "budget.epsilon" or "entries.0.state"; "" is the whole.
 *
 * An answer does not change after it was made: any number of threads may look at it. */
typedef struct billboard_answer billboard_answer;

/* The whole as JSON: UTF-8, indented, without a line end behind it. Numbers have 17
 * digits; what is not finite or not known is null. */
BILLBOARD_API const char *billboard_answer_json(const billboard_answer *answer);
/* The number (or 1 and 0 for true and false) at a path; NAN for null, and where there
 * is no number. */
BILLBOARD_API double billboard_answer_number(const billboard_answer *answer,
                                             const char *path);
/* The text at a path; NULL for null, and where there is none. */
BILLBOARD_API const char *billboard_answer_text(const billboard_answer *answer,
                                                const char *path);
/* How many members the list or object at a path has; 0 where there is none. */
BILLBOARD_API size_t billboard_answer_count(const billboard_answer *answer,
                                            const char *path);
BILLBOARD_API void billboard_answer_free(billboard_answer *answer);

/* -- 4. What a plan costs ------------------------------------------------------------
 *
 * A number that one thread, or a signal handler, sets while another looks at it. */
#ifdef __cplusplus
typedef std::atomic<int> billboard_flag;
#else
typedef atomic_int billboard_flag;
#endif

/* What takes long tells how far it is, and can be stopped. Every member may be NULL.
 * The functions are called on the thread that made the call, and may use Billboard
 * themselves, but not the objects of that call. */
typedef struct billboard_watch {
    size_t struct_size; /* sizeof (billboard_watch) */
    void *self;         /* given to the functions */
    /* `what` is done now, and of it `done` of `all` (both 0: it is not counted). */
    void (*progress)(void *self, const char *what, uint32_t done, uint32_t all);
    /* Something that should be known, in a sentence. For whoever holds the data: it may
     * tell about them. */
    void (*warn)(void *self, const char *text);
    /* Looked at all the time: not 0 ends the call with BILLBOARD_INTERRUPTED. For a
     * signal handler, for `progress`, or for another thread to set. */
    const billboard_flag *stop;
} billboard_watch;

/* Options have names and values, both texts, as on the command line without the dashes:
 * {"epsilon", "1"}. A flag, such as no-intercept, has the value "true", "false", or
 * NULL, which is true. */
typedef struct billboard_option {
    const char *name, *value;
} billboard_option;

/* Prices a plan, and finds the one of epsilon, delta, noise-multiplier and rounds that
 * is not given. The options are those of `billboard account` (docs/account.md; but for
 * json and plot, which are about printing):
 *
 *    const billboard_option plan[] = {
 *        {"rounds", "1000"}, {"sampling", "poisson:0.01"},
 *        {"tasks", "100000"}, {"epsilon", "1"}};
 *    billboard_answer *price;
 *    if (billboard_account(plan, 4, NULL, &price)) ...
 *    billboard_answer_number(price, "noise_multiplier");
 *
 * The answer: found, epsilon, delta, noise_multiplier (a list where rounds have several
 * blocks), rounds, accountant, statement (in words: whom it protects, and when it
 * holds) and more. Every number is on the safe side. BILLBOARD_USAGE: an unknown option
 * (the message names the nearest one), a value out of range, nothing or too much to be
 * found. BILLBOARD_BUDGET: no noise is enough, or not even one round fits. No privacy
 * cost: nothing is looked at but the plan. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_account(const billboard_option *option, size_t options,
                  const billboard_watch *watch, billboard_answer **price);

/* Says beforehand, from public sizes and a budget, what can be hoped for, and what the
 * theorems of the published algorithms advise. Options as `billboard advise` has them
 * (docs/advise.md); tasks and features must be given. The answer: hope {reach, least,
 * tasks, epsilon, alone_is_enough}, recommended {method, command, text}, theory
 * {algorithms: [{method, schedule, rounds, ...}], mean_regularised}. BILLBOARD_USAGE: a
 * size is missing, an unknown option, a value out of range. No privacy cost: no data are
 * looked at. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_advise(
    const billboard_option *option, size_t options, billboard_answer **advice);

/* -- 5. Options and methods, by name -------------------------------------------------
 *
 * The learning methods, or the one of this name (NULL: all): {methods: [{name, kind
 * ("alone": shares nothing; "open": shares everything in the clear; "private"), summary,
 * losses, follows, clustered, related, linear and networks (which models it trains),
 * options: as below}]}. BILLBOARD_USAGE: there is no such method. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_methods(const char *name, billboard_answer **methods);
/* The options of "train", "tune", "account", "advise", "convert", "synth", "experiment",
 * "audit" or "audit-method": {options:
 * [{name, type, default, choices, help, default_text, argument (what --help calls the
 * value), expects (in words)}]}. BILLBOARD_USAGE for any other name. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_options(const char *of, billboard_answer **options);

/* -- 6. Data -------------------------------------------------------------------------
 *
 * Rows of many tasks. A row belongs to one task, has numbers (features) and usually a
 * target. Tasks are known by name; which row comes where matters inside a task only. */
typedef struct billboard_data billboard_data;

typedef enum billboard_number {
    BILLBOARD_FLOAT64 = 0, /* double */
    BILLBOARD_FLOAT32 = 1  /* float */
} billboard_number;

/* Rows as a program has them. Either x, or row_start, column and value. */
typedef struct billboard_arrays {
    size_t struct_size; /* sizeof (billboard_arrays) */
    size_t rows, features;

    /* Whose each row is, `rows` of them: texts (not empty), or numbers, which are texts
     * of their decimal digits: exactly one of the two. */
    const char *const *task_name;
    const int64_t *task_number;

    /* Dense features, rows x features: x[r * features + k], or with columns_first (as
     * Fortran and R have matrices) x[k * rows + r]. */
    const void *x;
    billboard_number x_type;
    int columns_first;

    /* Sparse ones, compressed rows: row r has value[e] in column[e] (from 0, ascending)
     * for e from row_start[r] to row_start[r + 1] - 1, and 0 elsewhere. row_start has
     * rows + 1 members, the first is 0. The values have x_type. */
    const int64_t *row_start;
    const int32_t *column;
    const void *value;

    /* Targets, `rows` of them: numbers; 0 and 1 (or -1 and 1) with the logistic loss;
     * classes 0, 1, ... with softmax, whose names a job's option categories may have:
     * {"y": ["low", "mid", "high"]}. NULL where there are none, for predictions. */
    const void *y;
    billboard_number y_type;

    /* In place of y, lists of labels (loss multilabel): row r has label[e], from 0,
     * none twice, for e from label_start[r] to label_start[r + 1] - 1. */
    const int64_t *label_start;
    const int32_t *label;

    /* Names of the features, none twice; NULL: x1, x2, ... Of the target; NULL: y. */
    const char *const *feature_name;
    const char *target_name;
} billboard_arrays;

/* Copies the arrays, which may go away after the call. What is not finite is refused:
 * BILLBOARD_FAILED names the row, from 1. BILLBOARD_USAGE: arrays that contradict each
 * other. Memory: 8 bytes for every number. The same rows from arrays and from a file
 * give the same models, to the bit. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_data_from_arrays(const billboard_arrays *arrays, billboard_data **data);
/* A file: CSV, LIBSVM, MATLAB, NumPy, LEAF or IDX (docs/data-formats.md). It is not
 * looked at now, but by whatever uses the data, which says how it is to be read:
 * options as task, target, format. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_data_from_file(const char *path, billboard_data **data);
BILLBOARD_API void billboard_data_free(billboard_data *data);

/* What is in them: {tasks, rows, features, rows_per_task, sparse, target {kind, min,
 * max}, missing {features, targets, complete_rows, spelt}, columns (the features' names,
 * but not of sparse rows and images), constant_columns, binary_columns (0 and 1 alone),
 * row_numbers (columns that number the rows, from 0 or 1 on), classes, labels, image,
 * start (a command to begin with; null for arrays), texts, drafted, notes}.
 * missing.spelt: how missing values are written in a CSV file ("NA", "" for nothing, ...).
 * texts: the columns of a CSV file that are no numbers and that the options do not
 * speak of, [{column, levels}], levels null of more than 50; those are left out, and
 * the target, whose levels are classes, is among them if it has fewer; drafted: of which
 * draft-categories writes the levels. notes: what else is to be said, a text each: of
 * columns that are nearly numbers, or dates, which are not among texts, of texts that are
 * no level, of tasks of one row, of a task that is called as missing values are.
 * Options: task, target, features, ignore, format, labels, tasks, separator, missing,
 * categories, image, as a job has them; multilabel (targets are lists of labels);
 * ranges, a file for the columns' ranges, which are then looked up in the data: for
 * simulations only; draft-categories, a file for the levels of these texts, for a
 * person to leave in what is public (none to draft: no file, and a note). Looks at
 * everything, outside of any privacy: for whoever holds the data. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_info(const billboard_data *data, const billboard_option *option,
               size_t options, billboard_answer **info);
/* Writes the rows of one or more data sets to one file of Billboard's own format
 * (docs/data-formats.md), grouped by task, whole or not at all: `output` says where. Of CSV
 * files, and of NumPy files that are not packed, about `memory` bytes are in memory at a
 * time, beside what there is a task of. Further options: `float32`, and those of
 * billboard_info that say how files are read. The answer: tasks, rows, features, entries
 * (of sparse rows), bytes (of the file), dropped_rows, output and notes. It looks at rows and
 * shows none of them: no privacy cost, but the file is as private as its rows.
 * BILLBOARD_USAGE: levels of texts that are a draft, which the file could not say.
 * BILLBOARD_DATA: wrong rows, or data sets with different columns. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_convert(
    const billboard_data *const *data, size_t count, const billboard_option *option,
    size_t options, billboard_answer **made);

/* Writes a synthetic population as files, to try things on. `world` is low-rank,
 * group-sparse, outliers, anomaly, classes or multilabel; options are tasks, samples,
 * features, labels, seed, output (its name) and models (the file of the true ones). The
 * answer: {train, test (the files), train_rows, test_rows (of each task), ...}.
 * BILLBOARD_USAGE: sizes or names that make no sense. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_synth(const char *world, const billboard_option *option, size_t options,
                billboard_answer **files);

/* -- 7. Jobs -------------------------------------------------------------------------
 *
 * A job is what is to be done, as options of `billboard train` (its --help and
 * billboard_options("train") list them): method, loss, epsilon, rounds, train-fraction,
 * ledger, ... A method's own options are given as {"set", "rank=3"}, as often as
 * needed.
 *
 * Where anybody knows ranges of the columns and the target, the option `scale` says them:
 * the name of a file, or the JSON itself,
 *    {"target": [0, 100], "columns": {"age": [0, 120]}, "others": [0, 1]}
 * (`others`: of columns that are not named). Without, private linear models learn in units of
 * each task's own (the option standardize).
 *
 *    billboard_job *job;
 *    billboard_job_new(&job);
 *    billboard_job_set(job, "method", "mp-mixed");
 *    billboard_job_set(job, "epsilon", "1");
 *    billboard_job_run(job, data, NULL, NULL, &result);
 */
typedef struct billboard_job billboard_job;
typedef struct billboard_result billboard_result;

BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_job_new(billboard_job **job);
/* Sets an option; what is set again has its last value, but for set and phase, which
 * add up. BILLBOARD_USAGE: an unknown name (the message names the nearest one) or a bad
 * value; the job is as it was. Names and values that a method has are checked by the
 * run. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_job_set(billboard_job *job,
                                                                 const char *name,
                                                                 const char *value);
/* All options with the values that a run would take, defaults and config file included:
 * an object of names and values, the method's own under "set". BILLBOARD_USAGE as the
 * run would say, before any data. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_job_options(const billboard_job *job, billboard_answer **options);
/* Trains one model for each task of the data. `test` are rows to test on (NULL: those
 * that the options train-fraction or test say). `watch` may be NULL.
 *
 * With an option `output` the run directory is written, whole or not at all; without it
 * everything stays in memory. Several jobs may run at once, in several threads, and one
 * job several times: it is not changed.
 *
 * With an option `checkpoint`, a file, the run survives the process: after an interruption
 * or a crash a job with the option `resume`, that file, and no other option goes on with
 * it. `data` and `test` are the same again; `data` may be NULL if it was a file. The file
 * is private data, and gone when the run has ended well (docs/checkpoint.md).
 *
 * BILLBOARD_USAGE: options that make no sense, together or with the data;
 * BILLBOARD_FAILED: data that are malformed. Privacy cost: none without epsilon; else
 * the (epsilon, delta) of the job, for the whole run, charged to the ledger (option
 * `ledger`) before anything is published, and not given back if the run fails later:
 * BILLBOARD_BUDGET if there is not enough left. Without a ledger the promise is about
 * this run alone, and adding up runs is the caller's business. What a run returns is
 * for whoever holds all data; what others may see of it is the public half of a run
 * directory. With the option seed, noise can be computed again: for tests; such a run
 * is not private. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_job_run(
    const billboard_job *job, const billboard_data *data, const billboard_data *test,
    const billboard_watch *watch, billboard_result **result);
/* Looks for the setting of a job's options that learns best, by rows of every task that
 * are held out: five folds, with successive halving. Options (billboard_options("tune")):
 * methods, grid, random, seed, threads, output (a file for the answer's config), and
 * `data`, which must say whose the rows are: "public"; "not-private": what is found is
 * marked, and runs with it say that they are not private; or "private", below. What a job
 * says of output, ledger, seed, comparisons and test rows is left out (docs/tune.md). The
 * answer: metric ("nmse", "log_loss", "1-f1": less is better), best (a number), tried
 * [{method, flags [{name, value}], folds, loss, standard_error, losses, failure}], config
 * (what the option `config` takes as a file), from_private_data. BILLBOARD_USAGE: options
 * that make no sense, or no setting could be run. Looks at all rows, outside of any
 * privacy.
 *
 * With private data the search is inside the budget: the best of a random number of runs
 * (`runs` on average; `share` of each one's budget is for its score) is published as the
 * run directory `output`. The answer: best {method, flags, score, noise}, null if that
 * number was 0, which leaves no directory; runs, output, epsilon, delta, adjacency,
 * sampling, mu {alone, best_of, composed}. The watch is not told how many runs there are.
 * BILLBOARD_FAILED: data that do not suit one of the settings, before anything is charged.
 * Privacy cost: the job's (epsilon, delta), charged to its ledger before the first run. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_tune(const billboard_job *job, const billboard_data *data,
               const billboard_option *option, size_t options,
               const billboard_watch *watch, billboard_answer **best);
BILLBOARD_API void billboard_job_free(billboard_job *job);

/* -- 8. Results ----------------------------------------------------------------------
 *
 * What a run left, in memory or in a run directory (docs/run-directory.md). A result
 * does not change: any number of threads may use it at once. It keeps none of the data.
 */

/* Reads a run directory, or what was exported for one task. BILLBOARD_FAILED: it is
 * none, or one that was changed. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_result_load(const char *path, billboard_result **result);
/* Writes the run directory of a result that is in memory, whole or not at all;
 * `replace`: also over a run directory. BILLBOARD_USAGE: something is at `path`, or the
 * result has a directory already. Same seed, same bytes, whichever way the directory
 * was made. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_result_save(const billboard_result *result, const char *path, int replace);
BILLBOARD_API void billboard_result_free(billboard_result *result);

/* Everything that was found, as operator/run.json has it: method, rounds, privacy
 * {...}, train {nmse, rmse, auc, ...}, test {...}, billboard_sha256, options {...}; of
 * what was exported for one task the public part. Belongs to the result. */
BILLBOARD_API const billboard_answer *
billboard_result_answer(const billboard_result *result);
/* The same for people, some lines; of a result that was loaded its privacy statement.
 */
BILLBOARD_API const char *billboard_result_text(const billboard_result *result);

/* What was promised, and to whom. */
typedef struct billboard_privacy {
    size_t struct_size; /* sizeof (billboard_privacy); set by the caller */
    int is_private;     /* there is a promise, and it holds */
    /* The first promise, which is about a whole task unless `unit` says "instance": NAN
     * and NULL where there is none. No epsilon means anything without the others. */
    double epsilon, delta;
    const char *unit, *adjacency, *sampling, *mechanism;
    double noise_multiplier;
    const char *statement; /* all promises in words: show this */
} billboard_privacy;
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_result_privacy(const billboard_result *result, billboard_privacy *privacy);

/* The tasks that have models, in the order of their names (numbers in them by size). */
BILLBOARD_API size_t billboard_result_tasks(const billboard_result *result);
/* NULL if there are not so many. */
BILLBOARD_API const char *billboard_result_task(const billboard_result *result,
                                                size_t i);

/* A model. Linear ones of one output: weight[k] for feature k, and the intercept: their
 * sum is the prediction, but for limits (billboard_predict), or with the logistic loss its
 * log-odds, of a row as it is in the data (moved to where its ranges reach with the option
 * scale; divided by its norm first with standardize unit-rows). Of several outputs: weight[k * outputs + c].
 * Networks have `parameter` in place of weight. */
typedef struct billboard_model {
    size_t struct_size; /* sizeof (billboard_model); set by the caller */
    size_t features, outputs;
    const char *const *feature_name; /* features */
    const double *weight;            /* features x outputs; NULL for networks */
    double intercept;                /* of one output; else 0 */
    const float *parameter;          /* parameters; NULL for linear models */
    size_t parameters;
} billboard_model;
/* The model of a task; of NULL the one that all tasks share, which is public and good
 * for tasks that were not there. BILLBOARD_FAILED: no such task. BILLBOARD_USAGE: there
 * is no model that all share; or models of several outputs for sparse rows, which are
 * asked for predictions only. A task's model is its own: it may be given to that task,
 * and to others it is private data. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_result_model(
    const billboard_result *result, const char *task, billboard_model *model);

/* All models at once, without copying: those of task task_name[i] begin at
 * weight[i * features * outputs], intercept[i] (NULL of several outputs), or
 * parameter[i * parameters]. Everything belongs to the result. */
typedef struct billboard_models {
    size_t struct_size; /* sizeof (billboard_models); set by the caller */
    size_t tasks, features, outputs;
    const char *const *task_name;    /* tasks */
    const char *const *feature_name; /* features */
    const double *weight, *intercept;
    const float *parameter;
    size_t parameters;
} billboard_models;
/* Members and errors as of billboard_result_model; this is for whoever holds all. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_result_models(const billboard_result *result, billboard_models *models);

/* Makes the directory `to` for one task: its own model out of the run directory `run`,
 * and the public half. BILLBOARD_FAILED: no such task; BILLBOARD_USAGE: something is
 * there. No privacy cost: a task's own model is its own. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_export(const char *run,
                                                                const char *task,
                                                                const char *to);

/* -- 9. New rows ---------------------------------------------------------------------
 *
 * The tasks of new rows are found by name. Options are `unknown`, what becomes of rows
 * of tasks that have no model: "error" (default), "skip", or "shared", the model that
 * all share; `ignore`, columns to leave out; `task` and `target`, which a file calls
 * otherwise than the run's rows did, and the `separator` of its columns; `outputs`, see
 * billboard_values; `lines`, in the CSV the line of a file that each prediction is of, in a
 * first column (BILLBOARD_USAGE: the data have none); and `intervals`, a level in (0, 1):
 * half_width, and lower and upper in the CSV, for runs that were trained with it. */
typedef struct billboard_predictions billboard_predictions;

/* Predicts every row with its own task's model, numbers no farther than limits.csv has it
 * from what the task has seen (docs/run-directory.md). BILLBOARD_FAILED: a task without a
 * model, other features than in training. A row's prediction belongs to its task alone.
 */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_predict(const billboard_result *result, const billboard_data *data,
                  const billboard_option *option, size_t options,
                  billboard_predictions **predictions);

/* Row r of arrays is at r; rows of a file are in its order, without those that were
 * left out. */
typedef struct billboard_values {
    size_t struct_size; /* sizeof (billboard_values); set by the caller */
    size_t rows;
    /* squared loss: the prediction; logistic: the probability of the larger label;
     * softmax: that of the class. NAN: the row was left out. NULL with labels. */
    const double *value;
    const int64_t *classes; /* softmax: the likeliest; -1: left out. Else NULL */
    /* multilabel: row r has label[e] for e from label_start[r] to
     * label_start[r + 1] - 1. Else NULL */
    const int64_t *label_start;
    const int32_t *label;
    size_t skipped;      /* rows of tasks without a model that were left out */
    size_t shared;       /* or answered by the model that all share */
    size_t with_missing; /* rows of a file left out for a missing value */
    /* With the option `outputs` (true), what that is made of, rows x outputs: the
     * prediction itself; its log-odds with the logistic loss and, of every label, with
     * multilabel; softmax: the numbers whose exponentials the classes' probabilities are
     * proportional to. NAN: the row was left out. NULL without the option. */
    size_t outputs;
    const double *output;
    /* With the option `intervals`: value - half_width to value + half_width holds a new
     * row's target in that part of all cases. NAN: it is not known, for a task without
     * rows of its own, or the row was left out. NULL without the option. */
    const double *half_width;
    /* What else is to be said of the rows, a line each: which task without a model has the
     * name of one with a model but for blanks at its ends or its normal form of Unicode; how
     * many texts of a file are no level of their column. NULL: nothing. */
    const char *note;
} billboard_values;
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_predictions_values(
    const billboard_predictions *predictions, billboard_values *values);
/* As CSV with the columns task and prediction (or probability; class and probability;
 * labels), UTF-8; the text belongs to the predictions. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_predictions_csv(billboard_predictions *predictions, const char **csv);
/* The same to a file, whole or not at all. BILLBOARD_USAGE if it is one that was read.
 */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_predictions_write(billboard_predictions *predictions, const char *path);
BILLBOARD_API void billboard_predictions_free(billboard_predictions *predictions);

/* How good the models are on rows with targets: {test {rows, nmse, rmse, r2, auc, ...},
 * per_task, majority, rows_without_target, notes (as billboard_values.note), ...}. Errors as
 * billboard_predict; rows without a target are left out. Looks at the rows of all
 * tasks: for whoever holds them. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_evaluate(
    const billboard_result *result, const billboard_data *data,
    const billboard_option *option, size_t options, billboard_answer **figures);

/* -- 10. Ledgers ---------------------------------------------------------------------
 *
 * A ledger is a file that adds up what all runs on one population cost, so that they
 * stay within one budget. The option `ledger` of a job makes and charges it.
 *
 * What is in it: {population, tasks, also_tasks: [numbers of tasks that its runs may have
 * beside that], adjacency, sampling (in words: with which its sums hold), kind, budget
 * {epsilon, delta}, spent, left, entries: [{id, time, description, epsilon, delta, state
 * ("running", "done", "died", "unknown"), directory}]}. A run keeps its charge however it
 * ends.
 * BILLBOARD_FAILED: there is no ledger. `watch` hears if others have it locked. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_ledger(
    const char *path, const billboard_watch *watch, billboard_answer **ledger);
/* From now on runs of so many tasks may be charged to it, too: of the same tasks with some
 * more or fewer, each still the same person, school or ward (docs/privacy.md). What is spent
 * stays. BILLBOARD_USAGE: of no task; BILLBOARD_FAILED: there is no ledger. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_ledger_tasks(const char *path, size_t tasks, const billboard_watch *watch);
/* Takes that back, as after a typing mistake: from now on such runs are refused again. What
 * was charged stays. BILLBOARD_USAGE: the number was not added. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_ledger_not_tasks(
    const char *path, size_t tasks, const billboard_watch *watch);

/* -- 11. Audits ----------------------------------------------------------------------
 *
 * Tries to refute what Billboard promises, on populations that it makes up
 * (docs/audit.md). Options as `billboard audit` has them: without a method the door
 * alone is attacked (billboard_options("audit")), with one whole runs of it
 * ("audit-method", and method, loss, rounds, schedule, epsilon, delta, seed, mechanism
 * and set as a job has them). The answer: violated (a claim was refuted), epsilon
 * (claimed), epsilon_lower (what the runs have at least, with this confidence), delta,
 * confidence and what was seen. An audit that refutes is BILLBOARD_OK: it did its work.
 * BILLBOARD_USAGE: options that make no sense. No privacy cost: no data of anybody are
 * looked at. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_audit(const billboard_option *option, size_t options,
                const billboard_watch *watch, billboard_answer **verdict);

/* -- 12. Experiments, pages and charts ------------------------------------------------
 *
 * Runs an experiment: many runs, which differ in data, method, options and seed, on all
 * processors. `name` is one that is shipped, or the file of another (docs/experiment.md).
 * Options are those of billboard_options("experiment"); output must be given, a folder.
 * Cells that it has are not run again, so that an experiment that was interrupted or
 * killed goes on; its tables are the same bytes. The answer: {experiment, title, source,
 * preset, output, cells, failed, seconds, means: [{data, method, axes, column, count,
 * mean, deviation, least, most, promise}]}. `watch` is told of cells. BILLBOARD_USAGE: no
 * such experiment or preset, or options that make no sense in any of its runs. Privacy
 * cost: every run is seeded, a simulation on data that may be looked at. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experiment(const char *name, const billboard_option *option, size_t options,
                     const billboard_watch *watch, billboard_answer **summary);
/* The experiments that are shipped: {experiments: [{name, title, source, about, presets}]};
 * or, of a folder, what billboard_experiment has said of it, with `complete`, and nothing
 * is run. BILLBOARD_FAILED: it is no folder of an experiment. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experiments(const char *folder, billboard_answer **experiments);
/* Writes what runs have reached to the file `path`, whole or not at all. `form`: "html",
 * a page that needs nothing else, no network and no script; "markdown", "csv" or "latex",
 * a table with a line for each run. `run` are run directories; several are compared with
 * each other. One folder of billboard_experiment may be given instead: its figures and
 * means, and with the form "svg" the figures alone, as one picture. A page has figures of
 * the operator's half where that is there, which no epsilon covers, and then says so; and
 * what the ledger of a run has spent and left, if that file is where the run had it.
 * BILLBOARD_USAGE: no runs, or an unknown form. BILLBOARD_FAILED: no run directory, or one
 * that was changed. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_report(const char *const *run,
                                                                size_t runs,
                                                                const char *form,
                                                                const char *path);
/* Draws the curve of a price (the option `curve` of billboard_account: "epsilon",
 * "delta" or "rounds") as an SVG file, whole or not at all. BILLBOARD_USAGE: it has no
 * curve, or none with a point that can be drawn. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_account_draw(
    const billboard_answer *price, const char *curve, const char *path);

/* -- 13. Ranks -----------------------------------------------------------------------
 *
 * Experimental: may change in any version.
 *
 * One run in several processes, on one machine or many, which mpirun or srun starts
 * together (docs/scaling.md). Every process is a rank, from 0, and has the rows of some of
 * the tasks. Open MPI is loaded by billboard_ranks_join, in a process that is a rank, and
 * by nothing else. */
typedef struct billboard_ranks billboard_ranks;
/* How many processes were started together, as their launcher says in the environment; 1:
 * this one alone. Which of them this is. Nothing is joined yet. */
BILLBOARD_API uint32_t billboard_ranks_started(void);
BILLBOARD_API uint32_t billboard_ranks_number(void);
/* Joins the others, once in a process, which belongs to MPI from then on. *ranks is NULL in
 * a process alone. BILLBOARD_FAILED: there is no Open MPI, or srun has no connection to
 * it. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_ranks_join(billboard_ranks **ranks);
/* billboard_job_run, called by all ranks at once with the same job and data: the same run,
 * to the byte, as in one process. *result is NULL but on rank 0, which alone reports and
 * writes; `watch` is asked by every rank whether to stop, and hears on rank 0 only. All
 * ranks return the same, with the same billboard_error(). ranks NULL: billboard_job_run.
 */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_job_run_ranks(
    const billboard_job *job, const billboard_data *data, const billboard_data *test,
    const billboard_watch *watch, billboard_ranks *ranks, billboard_result **result);
/* Whether this rank is the one that says what became of the run: rank 0 (and a process
 * alone, NULL); where rank 0 was lost, the lowest of the others on its machine. */
BILLBOARD_API int billboard_ranks_speaks(const billboard_ranks *ranks);
/* The last that a rank does (NULL is allowed): waits for the others. After a failure that
 * cut it off from them it ends all of them, with this exit code, and does not return. */
BILLBOARD_API void billboard_ranks_leave(billboard_ranks *ranks, int exit_code);

#ifdef __cplusplus
}
#endif
#endif /* BILLBOARD_BILLBOARD_H */

/* -- 14. Experimental: one run in several places ---------------------------------------
 *
 * For programs that define BILLBOARD_EXPERIMENTAL before they include this header. What
 * is below may change or go in any version, without another BILLBOARD_ABI, and frames of
 * one version are not those of the next: use one version of Billboard in all places.
 *
 * Rows stay where they are. A *silo* has the rows of some tasks, trains their models and
 * keeps them; what leaves it are sums over its tasks of what the method shows, clipped.
 * A *curator* has no rows: it adds the sums up, adds the noise, publishes, and charges
 * the ledger. They make and take *frames*, which are bytes, and open no connection, read
 * no clock and start no conversation: carrying the frames is your program's part, over
 * pipes, TLS, MPI or a federated framework. Same job, same rows, same seed: the same
 * models and the same billboard, to the bit, as billboard_job_run with all rows in one
 * place. docs/library.md has a program that runs, docs/wire.md says what the frames say
 * and who is trusted with what. The curator is trusted with the sums before the noise.
 *
 *     curator: open;  for each silo: give, send ..., receive, take
 *              state COMPLETE: close_round;  state PUBLISHED: go_on;  and again until
 *              state DONE: result
 *     silo:    open;  receive, take;  state WORK: work;  give, send, gave;  and again
 *              until state DONE: result
 *
 * A frame may come twice or late: taking it again changes nothing. One that is damaged,
 * of another run, or out of order is refused with a message, and nothing changes. Every
 * function here is for one thread at a time by object, as everywhere. */
#if defined(BILLBOARD_EXPERIMENTAL) && !defined(BILLBOARD_EXPERIMENTAL_H)
#define BILLBOARD_EXPERIMENTAL_H

#ifdef __cplusplus
extern "C" {
#endif

/* A place's own key, and whose signatures it takes. */
typedef struct billboard_experimental_identity billboard_experimental_identity;

/* What all places have agreed on beforehand beside the options of the job: what one
 * process would find by looking at all rows. Public, and the same everywhere. */
typedef struct billboard_experimental_roster {
    size_t struct_size; /* sizeof (billboard_experimental_roster) */
    /* All tasks of the run: names as the rows have them, as texts or numbers (exactly
     * one of the two), in any order, none twice. Who takes part is public: take
     * pseudonyms. Their number is what the noise and delta are chosen for. */
    size_t tasks;
    const char *const *task_name;
    const int64_t *task_number;
    /* The public group of each task, from 0, for methods that need them: the option
     * `cluster` names the column of rows that says the same. Else NULL. */
    const uint32_t *cluster;
    /* The columns of the rows but for task, target and cluster, in this order for all;
     * NULL: x1, x2, ..., as arrays without names have them. */
    size_t features;
    const char *const *feature_name;
    uint32_t silos;        /* of the run: they are numbered 1 .. silos */
    uint32_t fewest_silos; /* that must join, and answer in every round; 0: all. A silo
                              that does not answer has shown zeros */
    /* Frames are signed, and what others have not signed is refused:
     * ..._agreement_identify. NULL: they are not, and who sent a frame is your program's to
     * know. The only member that is not the same everywhere. */
    const billboard_experimental_identity *identity;
    /* silos: what they are called, for messages of the curator's, which borrows them; NULL:
     * by their numbers. */
    const char *const *silo_name;
    /* What the target is called at all places: a silo whose option `target` is another name
     * is refused (BILLBOARD_USAGE). NULL: each may call it as it likes. */
    const char *target_name;
} billboard_experimental_roster;

/* What a silo agrees to, whoever asks; 0 and NULL: no limit. It is checked before a row
 * is looked at for the curator. A silo also makes the plan itself and refuses one with
 * less noise than epsilon asks for (that takes as long as billboard_account). */
typedef struct billboard_experimental_policy {
    size_t struct_size;              /* sizeof (billboard_experimental_policy) */
    double most_epsilon, most_delta; /* of one run; for several: the job's `ledger` */
    size_t fewest_tasks;             /* that the roster names */
    uint32_t fewest_silos;           /* of every round, by the curator's word */
    const char *methods; /* names with commas between them: those that may share
                            something */
    int allow_open; /* also runs without noise, with the option seed, or with ranges,
                            levels or options from data: for tests, with rows that may
                            be seen */
    const char *adjacencies; /* names with commas between them */
    const char *curators; /* public keys with commas between them: those that may ask.
                                A run that is not signed is refused then */
    const char
        *helpers; /* likewise: a run must have two doors then, the second of which
                                is kept by one of these */
} billboard_experimental_policy;

/* -- files that say so --
 *
 * What all have agreed on as JSON (docs/silos.md): {"options": {...}, "tasks": [...],
 * "features": [...], "silos": [names], "fewest-silos": N, "clusters": [...]}. With the option
 * `doors` of 2 there is a helper, too, which is carried as silo number silos + 1. */
typedef struct billboard_experimental_agreement billboard_experimental_agreement;

/* BILLBOARD_FAILED: it cannot be read, or is no JSON; BILLBOARD_USAGE: it is no
 * agreement: what is wrong is named. No privacy cost. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_agreement_read(
    const char *path, billboard_experimental_agreement **agreement);
/* Its job, to which a place adds what is its own: task, target, checkpoint, ledger, ...
 * It and the roster belong to the agreement. */
BILLBOARD_API billboard_job *
billboard_experimental_agreement_job(billboard_experimental_agreement *agreement);
BILLBOARD_API const billboard_experimental_roster *
billboard_experimental_agreement_roster(
    const billboard_experimental_agreement *agreement);
/* Silo `number`, from 1; NULL: there is none. */
BILLBOARD_API const char *
billboard_experimental_agreement_silo(const billboard_experimental_agreement *agreement,
                                      uint32_t number);
/* How many doors the job's run has, as its options are now: 2, or 1; 1 too for options that
 * no run can have, which opening a place says. */
BILLBOARD_API uint32_t billboard_experimental_agreement_doors(
    const billboard_experimental_agreement *agreement);
/* *made <- 1 if `path` is the run directory of a run with this agreement's tasks and, as its
 * job is now, its public options; 0 if it is of another, or none. BILLBOARD_FAILED: nothing is
 * there, and nothing can be made there. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_agreement_made(
    const billboard_experimental_agreement *agreement, const char *path, int *made);
BILLBOARD_API void
billboard_experimental_agreement_free(billboard_experimental_agreement *agreement);

/* Keys (Ed25519) are files that only their owner may read; a public key is "ed25519:" and 64
 * hexadecimal digits. A new one; its answer, and that of one that is there, is {public}.
 * BILLBOARD_USAGE: there is a file already, or others may read it; BILLBOARD_FAILED: it
 * cannot be written or read, or is no key. The private key is in no answer and no message. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_identity_new(const char *path, billboard_answer **answer);
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_identity_read(const char *path, billboard_answer **answer);
/* The roster of keys: who may speak for which silo, and who is the helper (its public key;
 * NULL: nobody), signed with the curator's `key`, the
 * same file in all places. BILLBOARD_USAGE: a silo is there twice, or a text is no key. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_keys_write(
    const char *path, const char *key, const char *helper, size_t silos,
    const char *const *name, const char *const *public_key);
/* {curator, helper (null: none), silos: [{name, public}]}. BILLBOARD_FAILED: it is not as
 * its curator has signed it, or cannot be read; BILLBOARD_USAGE: it is no roster. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_keys_read(const char *path, billboard_answer **answer);
/* From then on the agreement's roster has this place's identity: silo `number`, or 0 for
 * the curator, or silos + 1 for the helper. BILLBOARD_USAGE: the roster of keys lacks a
 * silo of the agreement, or the key is not that of the place. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_agreement_identify(billboard_experimental_agreement *agreement,
                                          uint32_t number, const char *key,
                                          const char *roster);

/* The same without an agreement, for a roster that a program fills itself: the run's silos by
 * name, in its order. roster.identity takes it; freed after the places that were opened with
 * it. Errors as ..._agreement_identify; BILLBOARD_FAILED also: a file cannot be read. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_identity_open(
    const char *key, const char *keys, uint32_t silos, const char *const *name,
    uint32_t number, billboard_experimental_identity **identity);
BILLBOARD_API void
billboard_experimental_identity_free(billboard_experimental_identity *identity);

/* A silo's policy as JSON (docs/silos.md): most-epsilon, most-delta, which must be there,
 * fewest-tasks, fewest-silos, methods, adjacencies, allow-open, curators, helpers, ledger,
 * population, ledger-kind, budget-epsilon and budget-delta. The answer has all of them,
 * null where nothing is said. Errors as ..._agreement_read. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_policy_read(const char *path, billboard_answer **answer);
/* The same for a silo that is about to be opened: the policy, whose texts belong to the
 * agreement, and the ledger among the options of its job. policy->struct_size is set. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_agreement_policy(
    billboard_experimental_agreement *agreement, const char *path,
    billboard_experimental_policy *policy);

/* Whether the policy of silo `number` allows the run, before a row is read. BILLBOARD_USAGE
 * says what it forbids, and then the first *size bytes of `refusal` are a frame that tells
 * the curator so; *size is 0 else. A silo asks it, too, and asks an offer about the rest: how
 * many silos, what noise. The job's checkpoint and ledger are looked at. */
enum { BILLBOARD_EXPERIMENTAL_REFUSAL = 512 };
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_policy_check(
    const billboard_job *job, const billboard_experimental_roster *roster,
    uint32_t number, const billboard_experimental_policy *policy, void *refusal,
    size_t *size);

typedef enum billboard_experimental_state {
    BILLBOARD_EXPERIMENTAL_WAITS = 0,     /* frames are to be taken or given */
    BILLBOARD_EXPERIMENTAL_WORK = 1,      /* silo: call ..._work */
    BILLBOARD_EXPERIMENTAL_COMPLETE = 2,  /* curator: all answered, ..._close_round */
    BILLBOARD_EXPERIMENTAL_PUBLISHED = 3, /* curator: a round is public, ..._go_on */
    BILLBOARD_EXPERIMENTAL_DONE = 4,      /* the result is there; a curator has given
                                             every silo that joined its last frame, or
                                             knows that it has its models */
    BILLBOARD_EXPERIMENTAL_FAILED = 5     /* it cannot go on, or the run was ended */
} billboard_experimental_state;

/* -- a silo -- */

typedef struct billboard_experimental_silo billboard_experimental_silo;

/* Silo `number` of the roster, with its tasks' rows. The job is that of all places but
 * for what is about files and this machine: task, target, format, train-fraction,
 * threads, ... Its option `ledger` is this silo's own, charged with the first round. `policy`
 * may be NULL, which forbids only runs that are not private. `watch` may be NULL; its
 * functions are called, and its flag is looked at, until the silo is freed.
 *
 * BILLBOARD_USAGE: options or a roster that make no sense, the policy forbids the run, or
 * an option is missing without which all rows would have to be looked at (classes,
 * clusters, image; features of a LIBSVM file): it is named. So are those that cannot be,
 * output and compare. BILLBOARD_FAILED: data that are malformed, a task that is not in
 * the roster, other columns. No privacy cost yet. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_silo_open(
    const billboard_job *job, const billboard_experimental_roster *roster,
    uint32_t number, const billboard_data *data,
    const billboard_experimental_policy *policy, const billboard_watch *watch,
    billboard_experimental_silo **silo);
/* For its operator, before it takes part: all that ..._policy_check and ..._silo_open look at,
 * the job's checkpoint among it, with their errors, and what the run would ask for. Nothing is
 * said, written or charged. {tasks (that have rows here), tasks_of_plan, rows, test_rows,
 * rows_left_out, features, methods, rounds, epsilon, delta (null where the run is not private),
 * adjacency, sampling, ledger, policy}; ledger: {file, new (there is none yet), charged (this
 * run was already), budget, spent}, null without one; budget and spent: {epsilon, delta};
 * policy: {most_epsilon, most_delta, fewest_tasks, fewest_silos}, 0 where it says nothing.
 * Makes the plan, which may take seconds. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_silo_look(
    const billboard_job *job, const billboard_experimental_roster *roster,
    uint32_t number, const billboard_data *data,
    const billboard_experimental_policy *policy, const billboard_watch *watch,
    billboard_answer **about);
BILLBOARD_API billboard_experimental_state
billboard_experimental_silo_state(const billboard_experimental_silo *silo);
/* Takes a frame of the curator's. BILLBOARD_FAILED: it is none for this silo now, or the
 * offer of another run, of which the message says what differs: nothing has changed. Or
 * its plan has less noise than its epsilon asks for; BILLBOARD_USAGE: the policy forbids
 * what is offered; BILLBOARD_BUDGET: the silo's ledger does: the silo has FAILED then.
 * Where the offer is refused, ..._give has a frame that tells the curator so.
 * BILLBOARD_INTERRUPTED: the curator has ended the run early, and the message says why.
 */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_silo_take(
    billboard_experimental_silo *silo, const void *frame, size_t size);
/* Trains for a round, or finishes: the only function that looks at rows. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_silo_work(billboard_experimental_silo *silo);
/* The frame for the curator, which belongs to the silo until the next call for it; NULL
 * and 0 if there is none. It is given again and again until ..._gave says that it has
 * left. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_silo_give(
    billboard_experimental_silo *silo, const void **frame, size_t *size);
BILLBOARD_API void billboard_experimental_silo_gave(billboard_experimental_silo *silo);
/* The next frame of ..._give tells the curator that this silo is there, and is to be given
 * whatever it is due: after a connection was lost. One that signs begins with it. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_silo_hello(billboard_experimental_silo *silo);
/* The next frame of ..._give tells the curator that this silo has stored its models, and
 * needs nothing any more. The curator answers with a frame of the same kind (docs/wire.md),
 * which ..._take takes. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_silo_leave(billboard_experimental_silo *silo);
/* Everything needed to go on in another process: PRIVATE bytes, which belong to the silo
 * until the next call. Store them before sending the frame that ..._give gave. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_silo_save(
    billboard_experimental_silo *silo, const void **bytes, size_t *size);
/* Into a silo that was just opened with the same arguments. BILLBOARD_FAILED: they are
 * not of it. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_silo_restore(
    billboard_experimental_silo *silo, const void *bytes, size_t size);
/* Writes the PRIVATE file of the option `checkpoint`, durably; a silo that is opened where
 * it is there goes on from it, and its ledger is not charged again. Before sending the
 * frame that ..._give gave. BILLBOARD_USAGE: there is no such option. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_silo_keep(billboard_experimental_silo *silo);
/* Removes that file: once the result is stored. What a ledger has charged is done in it from
 * then on, with billboard_result_save. */
BILLBOARD_API void
billboard_experimental_silo_forget(billboard_experimental_silo *silo);
/* In state DONE, once: the models of this silo's tasks and what they reach on its rows.
 * For this silo; of it only the promise and the shared model are public. Saved as a run
 * directory it has an empty billboard, which is the curator's to publish. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_silo_result(
    billboard_experimental_silo *silo, billboard_result **result);
BILLBOARD_API void billboard_experimental_silo_free(billboard_experimental_silo *silo);

/* -- the curator -- */

typedef struct billboard_experimental_curator billboard_experimental_curator;

/* Makes the plan of the run, without any data. The option `ledger` is the population's.
 * Errors as ..._silo_open. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_curator_open(
    const billboard_job *job, const billboard_experimental_roster *roster,
    const billboard_watch *watch, billboard_experimental_curator **curator);
BILLBOARD_API billboard_experimental_state
billboard_experimental_curator_state(const billboard_experimental_curator *curator);
/* Takes a frame of a silo's; BILLBOARD_FAILED: it is none for this curator now, or sums
 * that are more than the silo's tasks can show; BILLBOARD_USAGE: the silo refuses to take
 * part, and the message says why. Nothing has changed then; but if the curator is FAILED, it
 * was restored from older bytes than the newest, as the silo's answer shows. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_curator_take(
    billboard_experimental_curator *curator, const void *frame, size_t size);
/* In state COMPLETE, or, with roster.fewest_silos, when you have waited long enough. The
 * first time it ends the joining, and charges the whole plan: privacy cost, that of the
 * job. Later it adds the noise and publishes. BILLBOARD_BUDGET: the ledger refused,
 * nothing was published; BILLBOARD_USAGE: too few have answered, wait on. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_curator_close_round(billboard_experimental_curator *curator);
/* In state PUBLISHED: to the next round or the end. Whoever wants to survive a crash
 * stores ..._save before anybody learns of the round. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_curator_go_on(billboard_experimental_curator *curator);
/* The next frame for this silo, which belongs to the curator until the next call for it;
 * NULL and 0 if there is none that it was not given. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_curator_give(billboard_experimental_curator *curator,
                                    uint32_t silo, const void **frame, size_t *size);
/* A frame was lost, or the silo was restored: gives again whatever it needs. */
BILLBOARD_API void
billboard_experimental_curator_again(billboard_experimental_curator *curator,
                                     uint32_t silo);
/* 1: this silo has joined, and has not said that it has stored its models. */
BILLBOARD_API int
billboard_experimental_curator_waits_for(const billboard_experimental_curator *curator,
                                         uint32_t silo);
/* How far the run is, of which everything is public: {state ("joining", "rounds", "over",
 * "ended early"), charged, round (the last one asked), rounds (planned), published,
 * epsilon_spent, promise {private, epsilon, delta, adjacency, sampling, tasks}, silos [each
 * "away", "joined", "answered" (this round) or "left"], helper (the same of the second door's;
 * null: there is one door)}. epsilon_spent is what was charged:
 * 0, and promise.epsilon once all have joined; like it null where the run is not private. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_curator_progress(
    const billboard_experimental_curator *curator, billboard_answer **answer);
/* Ends the run before its end: ..._give has a frame for every silo that says why. What
 * was charged stays charged. `why` is the status that ended it: BILLBOARD_BUDGET,
 * BILLBOARD_INTERRUPTED (somebody wants so), BILLBOARD_USAGE (too few silos answer) or
 * BILLBOARD_FAILED. */
BILLBOARD_API void
billboard_experimental_curator_stop(billboard_experimental_curator *curator,
                                    billboard_status why);
/* Everything needed to go on in another process: public bytes, which belong to the
 * curator until the next call. Noise is never in them: a round that was not published is
 * asked for again. Go on from the newest ones only: older ones would publish a round a
 * second time, with other noise. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_curator_save(
    billboard_experimental_curator *curator, const void **bytes, size_t *size);
/* A curator opened with the same job and roster, which goes on from there and does not
 * charge again. Tell it ..._again for every silo whose frames were under way. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_curator_restore(
    const billboard_job *job, const billboard_experimental_roster *roster,
    const billboard_watch *watch, const void *bytes, size_t size,
    billboard_experimental_curator **curator);
/* The same in the file of the option `checkpoint`, as a silo's: after every
 * ..._close_round, before ..._go_on. A curator that is opened where it is there goes on
 * from it; tell it ..._again for every silo. */
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_curator_keep(billboard_experimental_curator *curator);
BILLBOARD_API void
billboard_experimental_curator_forget(billboard_experimental_curator *curator);
/* After the last ..._go_on, once: what is public of the run: the promise, the billboard,
 * the model that all share where there is one; no task's model. Saved as a run directory its
 * public half may be published. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_curator_result(
    billboard_experimental_curator *curator, billboard_result **result);
BILLBOARD_API void
billboard_experimental_curator_free(billboard_experimental_curator *curator);

/* -- the helper -- */

/* Keeps the second of two doors (docs/two-doors.md), so that nobody need trust the curator
 * alone. It has no rows, and sees no sum without the other door's noise. */
typedef struct billboard_experimental_helper billboard_experimental_helper;

/* The option `ledger` is the helper's own, charged with the first round; with the option
 * `checkpoint` it goes on where the file is. Errors as ..._silo_open; BILLBOARD_USAGE also: a
 * run with one door, or a roster without helper. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_helper_open(
    const billboard_job *job, const billboard_experimental_roster *roster,
    const billboard_watch *watch, billboard_experimental_helper **helper);
/* WAITS, DONE or FAILED. */
BILLBOARD_API billboard_experimental_state
billboard_experimental_helper_state(const billboard_experimental_helper *helper);
/* Rounds that it has answered. */
BILLBOARD_API uint32_t
billboard_experimental_helper_rounds(const billboard_experimental_helper *helper);
/* Takes a frame of the curator's, and answers it. Privacy cost: once, that of the job, when
 * the first round is answered. BILLBOARD_FAILED: no frame for this helper now; BILLBOARD_USAGE: a
 * round that it has answered already, with another question, or too few silos; nothing has
 * changed then. BILLBOARD_BUDGET: its ledger refuses; BILLBOARD_INTERRUPTED: the curator has
 * ended the run. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_helper_take(
    billboard_experimental_helper *helper, const void *frame, size_t size);
/* These as for a silo. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_helper_give(
    billboard_experimental_helper *helper, const void **frame, size_t *size);
BILLBOARD_API void
billboard_experimental_helper_gave(billboard_experimental_helper *helper);
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_helper_hello(billboard_experimental_helper *helper);
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_helper_leave(billboard_experimental_helper *helper);
BILLBOARD_API BILLBOARD_CHECK billboard_status
billboard_experimental_helper_keep(billboard_experimental_helper *helper);
/* Makes the folder `path` with operator/record.json alone (docs/run-directory.md), at its end.
 * BILLBOARD_USAGE: the run is not over, or something is there. */
BILLBOARD_API BILLBOARD_CHECK billboard_status billboard_experimental_helper_store(
    billboard_experimental_helper *helper, const char *path);
/* In state DONE: the run is over, and this run's key is not needed any more. */
BILLBOARD_API void
billboard_experimental_helper_forget(billboard_experimental_helper *helper);
BILLBOARD_API void
billboard_experimental_helper_free(billboard_experimental_helper *helper);

#ifdef __cplusplus
}
#endif
#endif /* BILLBOARD_EXPERIMENTAL */
