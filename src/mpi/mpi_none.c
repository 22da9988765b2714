/* mpi_none.c - a build without Open MPI. */
#include "mpi/mpi.h"

bb_status bb_mpi_join(bb_ranks **out) {
    *out = NULL;
    if (bb_mpi_started() == 1) return BB_OK;
    return bb_fail(BB_EIO, "several ranks were started, but this build has no MPI: on "
                           "Debian, install libopenmpi-dev and build again");
}

void bb_mpi_leave(bb_ranks *ranks, int code) {
    (void)ranks;
    (void)code;
}
