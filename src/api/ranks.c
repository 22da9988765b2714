#include "api/job.h"
#include "base/memory.h"
#include "mpi/mpi.h"

#include <stdlib.h>

struct billboard_ranks {
    bb_ranks *joined;
};

uint32_t billboard_ranks_started(void) {
    return (uint32_t)bb_mpi_started();
}

uint32_t billboard_ranks_number(void) {
    return (uint32_t)bb_mpi_rank();
}

static bb_status join(billboard_ranks **out) {
    billboard_ranks *ranks = NULL;
    if (bb_mpi_started() == 1) {
        *out = NULL;
        return BB_OK;
    }
    bb_status status = bb_allocate(&ranks, 1, sizeof *ranks, "the ranks");
    if (!status) status = bb_mpi_join(&ranks->joined);
    if (status)
        free(ranks);
    else
        *out = ranks;
    return status;
}

billboard_status billboard_ranks_join(billboard_ranks **ranks) {
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(ranks, "billboard_ranks_join", "ranks");
    if (!status) status = join(ranks);
    return bb_call_end(&call, status);
}

int billboard_ranks_speaks(const billboard_ranks *ranks) {
    return !ranks || ranks->joined->speaks;
}

billboard_status
billboard_job_run_ranks(const billboard_job *job, const billboard_data *data,
                        const billboard_data *test, const billboard_watch *watch,
                        billboard_ranks *ranks, billboard_result **result) {
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status)
        status =
            bb_job_run(job, data, test, watch, ranks ? ranks->joined : NULL, result);
    return bb_call_end(&call, status);
}

void billboard_ranks_leave(billboard_ranks *ranks, int exit_code) {
    if (!ranks) return;
    bb_mpi_leave(ranks->joined, exit_code);
    free(ranks);
}
