/* job.h - inside the room: what a result is, and what makes one. */
#ifndef BB_API_JOB_H
#define BB_API_JOB_H

#include "api/call.h"
#include "api/data.h"
#include "train/train.h"

struct billboard_result {
    bb_train_request request; /* of a run; zero if it was loaded */
    bb_training *training;    /* NULL if it was loaded */
    char *run;                /* the directory that it was loaded from; or NULL */
    bb_trained trained;       /* a run's is borrowed from training, but for `ignore` */
    billboard_answer *answer;
    char *text;
};

/* The request that a run of this job has. */
BB_MUST_CHECK bb_status bb_job_resolve(const billboard_job *job,
                                       bb_train_request *request);
/* The flags that were set, in their order; borrowed. */
void bb_job_flags(const billboard_job *job, const bb_train_flag **flag, size_t *flags);
/* billboard_job_run inside a call; all ranks at once. */
BB_MUST_CHECK bb_status bb_job_run(const billboard_job *job, const billboard_data *data,
                                   const billboard_data *test,
                                   const billboard_watch *watch, bb_ranks *ranks,
                                   billboard_result **result);
/* Everything but request and training, from those. */
BB_MUST_CHECK bb_status bb_result_fill(billboard_result *result);
/* A caller's watch, as runs have it; borrowed. */
bb_watch bb_watching(billboard_watch *watch);
/* Tells a watch that a ledger is locked; for bb_ledger_on_wait. */
void bb_watch_waits(void *self, const char *path);

static inline bb_source bb_data_source(const billboard_data *data) {
    return (bb_source){.path = data->path, .rows = &data->rows};
}

#endif
