/* study.h - runs an experiment: all cells, on all cores, each once however often the
 * process dies, and the tables of what they gave.
 *
 * DIR/experiment.json  the definition, with its preset
 * DIR/cells.sqlite     what every cell gave, as it ends (registry.h)
 * DIR/cells.csv        a line a cell; DIR/rounds.csv: a line a round of each, if kept
 * DIR/means.csv        a line a group and column: mean, deviation, least and most
 * DIR/results.json     all of it with every option and the program's version
 *
 * The tables say nothing of time and place: the same experiment gives the same bytes for
 * any number of threads, whether it was interrupted or not. */
#ifndef BB_EXPERIMENTS_STUDY_H
#define BB_EXPERIMENTS_STUDY_H

#include "base/status.h"

#include <jansson.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* What cells may do besides training: "run" names it. */
typedef struct bb_runner {
    const char *name;
    /* {name: value} -> what it says. Called on several threads at once. */
    bb_status (*run)(const json_t *options, json_t **answer);
} bb_runner;

typedef struct bb_study_request {
    const char *name;   /* a shipped experiment, or a file */
    const char *output; /* DIR, which is made if it is not there */
    const char *preset; /* NULL: quick */
    const char *data;   /* folder of data sets; NULL: none */
    uint64_t seeds;     /* 0: as the definition says */
    size_t threads;     /* 0: as many as there are processors */
    const bb_runner *runner;
    size_t runners;
} bb_study_request;

typedef struct bb_study_watch {
    void *self;
    /* On the calling thread. */
    void (*progress)(void *self, const char *what, uint32_t done, uint32_t all);
    const atomic_int *stop;
} bb_study_watch;

/* *summary: {experiment, title, preset, output, cells, failed, seconds, means: [...]}. A
 * cell that fails has its message in the tables and is no failure of the experiment.
 * BB_EINTERRUPTED: the same call goes on where it ended. Privacy cost: none, every run is
 * seeded, a simulation. */
BB_MUST_CHECK bb_status bb_study_run(const bb_study_request *request,
                                     const bb_study_watch *watch, json_t **summary);
/* The same of a folder, without running anything; cells that are still missing count as
 * `missing`. */
BB_MUST_CHECK bb_status bb_study_state(const char *folder, json_t **summary);
/* {experiments: [{name, title, source, about, presets}]}; NULL: out of memory. */
json_t *bb_study_list(void);

#endif
