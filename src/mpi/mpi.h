/* mpi.h - ranks that mpirun or srun has started: Open MPI, loaded by a process that is one
 * of them, and by no other. */
#ifndef BB_MPI_MPI_H
#define BB_MPI_MPI_H

#include "base/ranks.h"

/* How many processes a launcher says that it has started together, of which this is one;
 * 1: none does. Looks at the environment only. */
size_t bb_mpi_started(void);
/* Which of them this is, from 0, before anything is joined. */
size_t bb_mpi_rank(void);

/* Joins them, once in a process: *out is NULL in a process alone, and else belongs to
 * this room. BB_EIO: Open MPI cannot be loaded, this build has none, or the launcher has
 * no connection to it (srun without --mpi=pmix). */
BB_MUST_CHECK bb_status bb_mpi_join(bb_ranks **out);
/* The process's last word to the others (NULL is allowed): waits for them, or, where they
 * cannot be reached any more, ends all of them with this exit code, and does not
 * return. */
void bb_mpi_leave(bb_ranks *ranks, int code);

#endif
