/* started.c - what launchers write into the environment of what they start. */
#include "mpi/mpi.h"

#include <stdlib.h>

static size_t number(const char *name) {
    const char *text = getenv(name);
    return text ? (size_t)strtoul(text, NULL, 10) : 0;
}

/* Open MPI's mpirun, and srun for the processes of a step (not for a batch script). */
size_t bb_mpi_started(void) {
    size_t count = number("OMPI_COMM_WORLD_SIZE");
    if (!count) count = number("SLURM_STEP_NUM_TASKS");
    return count ? count : 1;
}

size_t bb_mpi_rank(void) {
    const bool open_mpi = getenv("OMPI_COMM_WORLD_SIZE") != NULL;
    if (bb_mpi_started() == 1) return 0;
    return number(open_mpi ? "OMPI_COMM_WORLD_RANK" : "SLURM_PROCID");
}
