/* experiment.h - inside the room: one training run between its first line and its last.
 *
 * train.c is the run itself; prepare.c is what comes before the charge, evaluate.c what
 * the models reach, write.c the files that are left, compare.c the baselines after it.
 */
#ifndef BB_TRAIN_EXPERIMENT_H
#define BB_TRAIN_EXPERIMENT_H

#include "core/silo.h"
#include "eval/assess.h"
#include "learners/net.h"
#include "train/kept.h"
#include "train/locals.h"
#include "train/population.h"
#include "train/rundir.h"
#include "train/train.h"

typedef struct bb_experiment {
    const bb_watch *watch;
    const bb_resolved *resolved;
    bb_dealt dealt; /* which tasks are this rank's; all of them in one process */
    const bb_source *source,
        *test_source;         /* borrowed; NULL: no rows, those of --test */
    bb_population population; /* of the own tasks */
    bb_engine engine;
    bb_net *net;   /* NULL: linear models */
    double *start; /* where networks start */
    uint64_t *key; /* tasks: see bb_run */
    /* By what ranges multiply columns, and what they take off then, where tasks are told. */
    double *stretch;
    bool *ranged; /* whether columns have ranges, where others are open; where none is,
                      whether these are [0, 1] */
    bb_local *local;
    bb_locals_room room; /* of theirs */
    bb_map held;         /* room on the disk for the models */
    bb_ledger *ledger;
    bb_rundir dir; /* without a place: the billboard is kept in memory */
    bb_kept kept;  /* so that it survives its process, if it does */
    bb_run run;    /* the resolved one, with what the data say */
    bb_result result;
    double *folded;        /* workers x a model, for bb_experiment_keeps, or NULL */
    double *spread;        /* with --intervals: bb_run.spread, */
    bb_models kept_spread; /* and as it is written */
    bb_models own;         /* finished models of the own tasks; empty in one process */
    bb_models models;      /* of all tasks; rank 0 has them */
    bb_message lines;      /* of their file, if several ranks have made them */
    bb_models
        shared; /* the one that all share, for everybody; none where there is not */
    double *held_out; /* tasks: in [0, 1], less is better; of a request with held_out,
                         NULL where targets have no range */
    char *tasks_csv;  /* operator/tasks.csv; NULL without a comparison */
    json_t *trace;    /* an object for each round; NULL without --trace */
    double traced_from;
    json_t *record;   /* operator/record.json, of a place of several; else NULL */
    bb_assessed test; /* on the test rows */
    bb_report report;
    uint8_t agreed[BB_HASH_BYTES]; /* bb_run.agreed, of a place of several */
} bb_experiment;

/* A run that is kept. */
struct bb_training {
    bb_resolved resolved;
    bb_watch watch;          /* silent */
    char note[200];          /* of its statement, where it is not of one run alone */
    char told[BB_SILO_NOTE]; /* a silo's report.note, whose core is closed */
    bb_experiment e;
};

/* -- telling those who wait -- */

void bb_experiment_say(const bb_experiment *e, const char *what);
void bb_experiment_warn(const bb_experiment *e, const char *text);
/* What a run does after it has paid may fail: its figures are left out then. */
void bb_experiment_leave_out(const bb_experiment *e, const char *what);
/* BB_EINTERRUPTED if they asked for the end. */
BB_MUST_CHECK bb_status bb_experiment_not_stopped(const bb_experiment *e);
/* Seconds since some moment of the past. */
double bb_experiment_now(void);

/* -- before the charge -- */

/* Reads and prepares the rows (bb_population_open), and says what anybody should know
 * before a budget is spent. */
BB_MUST_CHECK bb_status bb_experiment_prepare(bb_experiment *e);
/* The tasks' problems and their keys. */
BB_MUST_CHECK bb_status bb_experiment_open_tasks(bb_experiment *e);
/* Gives all back that these took. */
void bb_experiment_close_tasks(bb_experiment *e);

/* -- the end of a run -- */

/* Lets the run tell what it reaches after each round: --trace. */
void bb_experiment_trace(bb_experiment *e);
/* Lets the run tell its watch how far it is, and be stopped. */
void bb_experiment_observe(bb_experiment *e);
/* What the run has paid for, from its result: statement and models, and the parts of the
 * run directory, if there is to be one. */
BB_MUST_CHECK bb_status bb_experiment_keep(bb_experiment *e);
BB_MUST_CHECK bb_status bb_experiment_fill_report(bb_experiment *e);
/* The run is complete, which its ledger notes, if it has charged it. */
void bb_experiment_mark_done(const bb_experiment *e);
/* Forgets what is needed while it runs only: the data above all. */
void bb_experiment_close_work(bb_experiment *e);

/* -- what models reach -- */

/* bb_observer.keeps: whether own task i's finished model has finite numbers. */
bool bb_experiment_keeps(void *self, size_t i, size_t worker, const double *model,
                         double intercept);
/* Finished models of the own tasks from what a run made. */
BB_MUST_CHECK bb_status bb_experiment_models(const bb_experiment *e,
                                             const bb_result *result, bb_models *out);
/* The model that all share, if it is good for tasks that were not there. */
BB_MUST_CHECK bb_status bb_experiment_shared(const bb_experiment *e, bb_models *out);
/* prediction (rows) <- in the target's own unit and within limits, of models of one output:
 * for population.train from what `result' has, for others from the finished models. */
BB_MUST_CHECK bb_status bb_experiment_predict(const bb_experiment *e,
                                              const bb_result *result,
                                              const bb_models *models,
                                              const bb_dataset *rows,
                                              double *prediction);
/* What such models reach on population.train. */
BB_MUST_CHECK bb_status bb_experiment_assess_train(const bb_experiment *e,
                                                   const bb_result *result,
                                                   const bb_models *models,
                                                   bb_metrics *out);
/* Fills the report's figures of training and test rows, or warns that they are missing.
 */
void bb_experiment_evaluate(bb_experiment *e);

/* -- several ranks: gather.c -- */

/* On rank 0 e->models and, for their file, e->lines, from every rank's e->own. */
BB_MUST_CHECK bb_status bb_experiment_gather(bb_experiment *e, bb_status status);
/* Assesses every rank's models on its own rows, one of e->population's data sets; rank 0
 * gets the figures, as if it had all rows, and their targets (bb_dataset_free). */
BB_MUST_CHECK bb_status bb_experiment_assess(bb_experiment *e, bb_status status,
                                             const bb_dataset *rows,
                                             bb_dataset *targets, bb_assessed *out);

/* -- the baselines, after the run -- */

/* What the baselines reach for each task. */
typedef struct bb_scores {
    bb_assessed alone, own, pooled, mixed, mean, own_mean;
} bb_scores;

/* Makes those that were asked for and writes what each task has of them. They come last:
 * one that fails, or Ctrl-C, leaves it out and no more. */
BB_MUST_CHECK bb_status bb_experiment_compare(bb_experiment *e);

/* -- the parts of the run directory -- */

/* Whether an open method takes part: its exchange is no billboard. */
bool bb_experiment_is_open(const bb_experiment *e);
/* The statement is public: the ledger's name, without where it lies. */
const char *bb_experiment_ledger_name(const bb_experiment *e);
BB_MUST_CHECK bb_status bb_write_public(const bb_experiment *e);
BB_MUST_CHECK bb_status bb_write_models(const bb_experiment *e);
BB_MUST_CHECK bb_status bb_write_report(const bb_experiment *e);
/* operator/tasks.csv: a line a task, kept in the experiment, too. */
BB_MUST_CHECK bb_status bb_write_tasks(bb_experiment *e, const bb_scores *scores);
/* operator/trace.csv: a line a round; nothing in memory. */
BB_MUST_CHECK bb_status bb_write_trace(const bb_experiment *e);
/* Report, as run.json has it; NULL: out of memory. */
json_t *bb_experiment_json(const bb_experiment *e);

#endif
