/* tune.h - which setting learns best, by rows of every task that are held out.
 *
 * Looks at all tasks' rows, so what it finds is as private as its data are: it is for
 * public data, or marks what is made of it (option tuned-on-data; docs/tune.md). */
#ifndef BB_TRAIN_TUNE_H
#define BB_TRAIN_TUNE_H

#include "train/settings.h"
#include "train/train.h"

enum { BB_TUNE_FOLDS = 5 };

/* What one setting reached. */
typedef struct bb_tried {
    unsigned folds; /* 0 .. folds - 1 were held out */
    double
        loss[BB_TUNE_FOLDS]; /* of each: bb_tuned.metric; INFINITY: no finite number */
    double mean;             /* over them */
    char failure[200];       /* why a run with it failed; "": none did */
} bb_tried;

typedef struct bb_tune {
    const bb_train_flag *flag; /* of every run; what runs write, charge, compare and
                                  print is left out */
    size_t flags;
    const bb_settings *settings;
    const bb_source *data;
    uint64_t seed;  /* of the noise, which all settings have alike */
    size_t at_once; /* so many runs, each with one thread; 0: as many as processors */
} bb_tune;

typedef struct bb_tuned {
    size_t best;        /* of the settings */
    const char *metric; /* what is compared, less is better: "nmse", "log_loss" or
                           "1-f1" */
} bb_tuned;

/* Successive halving (Jamieson and Talwalkar 2016) over folds: while there are more than
 * four settings, all are tried on one fold, and the better half is kept, twice at most;
 * those that are left are tried on all folds. A setting's rank is its mean loss among
 * those tried on as many; equal ones keep their order.
 * tried: settings; the best has the least mean on all folds. The same for any
 * number of runs at once. BB_EUSAGE: a setting makes no sense, before anything is read,
 * or none could be run; BB_EINTERRUPTED; errors of reading. */
BB_MUST_CHECK bb_status bb_tune_run(const bb_tune *tune, const bb_watch *watch,
                                    bb_tried *tried, bb_tuned *tuned);

/* The request of a setting with nothing left out. */
BB_MUST_CHECK bb_status bb_tune_whole(const bb_tune *tune, size_t setting,
                                      bb_train_request *out);
/* The request of a run with this setting, in memory, with one thread, the first fold held
 * out, and what is left out above left out; seed NULL: secure noise. */
BB_MUST_CHECK bb_status bb_tune_request(const bb_tune *tune, size_t setting,
                                        const uint64_t *seed, bb_train_request *out);
/* Before anything is read: setting[0 .. *count - 1] <- those that make sense; tried (all
 * of them) what is wrong with the others, which a method may not have. BB_EUSAGE if none
 * does. */
BB_MUST_CHECK bb_status bb_tune_check(const bb_tune *tune, bb_tried *tried,
                                      size_t *setting, size_t *count, bb_loss *loss);

/* The data, read once for all runs that read them as this setting does. Stays where it is;
 * tune is borrowed. Errors of reading; nothing is left to close then. */
typedef struct bb_tune_rows {
    bb_train_request request; /* whose texts `as` borrows */
    bb_read_options as;
    bb_dataset rows;
    bb_source source; /* for the runs */
} bb_tune_rows;
BB_MUST_CHECK bb_status bb_tune_rows_open(const bb_tune *tune, size_t setting,
                                          bb_tune_rows *out);
void bb_tune_rows_close(bb_tune_rows *rows);

/* The options of a setting for `train --config`, as a new object: all of them that have
 * to do with data, learning and privacy, and what is left out above not. `from_data`
 * marks them. */
BB_MUST_CHECK bb_status bb_tune_config(const bb_tune *tune, size_t setting,
                                       bool from_data, json_t **config);

#endif
