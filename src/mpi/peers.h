/* peers.h - the other ranks as processes of this machine: whether they are still there,
 * which no launcher says in time. */
#ifndef BB_MPI_PEERS_H
#define BB_MPI_PEERS_H

#include "base/ranks.h"

/* Who the ranks are, so far as this process can look for them. */
typedef struct bb_peers {
    size_t count;
    long *process; /* count: 0 is this one, or on another machine, or unknown */
} bb_peers;

/* All ranks tell each other who they are. */
BB_MUST_CHECK bb_status bb_peers_open(bb_peers *peers, bb_ranks *ranks);
void bb_peers_close(bb_peers *peers);
/* Whether rank 0 has ended, no other has, and `own` is the lowest of those beside it. */
bool bb_peers_succeeds(const bb_peers *peers, size_t own);
/* The lowest rank that has ended, or `count`: those on other machines seem to be there. */
size_t bb_peers_lost(const bb_peers *peers);

#endif
