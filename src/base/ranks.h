/* ranks.h - the processes of one run, which were started together: what they tell each
 * other, whatever carries it (mpi/mpi.h).
 *
 * All of them call the same functions in the same order. Functions that take a status
 * are called on every rank, also after a failure: where any rank has failed, all of them
 * return the failure of the lowest one, with its message. NULL is a process alone: it
 * agrees with itself. */
#ifndef BB_BASE_RANKS_H
#define BB_BASE_RANKS_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes; whose, says the function. */
typedef struct bb_message {
    void *at;
    size_t length;
} bb_message;

typedef struct bb_ranks bb_ranks;
struct bb_ranks {
    size_t number, count; /* this process is 0 .. count - 1 */
    const atomic_int
        *stop;       /* may be NULL; non-zero: who waits gives up, with patience */
    double patience; /* seconds that who was asked to stop waits for the others */
    bool broken;     /* some exchange failed: the others cannot be reached any more */
    bool speaks; /* this rank says what happened: rank 0, or, where that was lost, the
                    lowest one beside it */
    /* send[r] (count, borrowed) goes to rank r, and receive[r] (count) becomes a block of
     * what came from there, to be freed; nothing is sent to oneself. BB_EIO,
     * BB_EINTERRUPTED, BB_ENOMEM: nothing was received, and ranks are `broken`. */
    bb_status (*exchange)(bb_ranks *ranks, const bb_message *send, bb_message *receive);
};

static inline size_t bb_ranks_number(const bb_ranks *ranks) {
    return ranks ? ranks->number : 0;
}

static inline size_t bb_ranks_count(const bb_ranks *ranks) {
    return ranks ? ranks->count : 1;
}

/* ranks->exchange; BB_EIO at once if they are broken. Not for one process alone. */
BB_MUST_CHECK bb_status bb_ranks_exchange(bb_ranks *ranks, const bb_message *send,
                                          bb_message *receive);
void bb_ranks_free(const bb_ranks *ranks, bb_message *receive);

/* BB_OK if every rank's status is. */
BB_MUST_CHECK bb_status bb_ranks_agree(bb_ranks *ranks, bb_status status);
/* *all <- on rank 0 what all ranks have, one behind the other in the order of ranks; a
 * block to be freed, without one elsewhere. */
BB_MUST_CHECK bb_status bb_ranks_gather(bb_ranks *ranks, bb_status status,
                                        const void *own, size_t length,
                                        bb_message *all);
/* *piece of rank 0, whose it stays, becomes everybody's: elsewhere a block to be freed.
 */
BB_MUST_CHECK bb_status bb_ranks_share(bb_ranks *ranks, bb_status status,
                                       bb_message *piece);
/* Both: *all is there on every rank, to be freed. */
BB_MUST_CHECK bb_status bb_ranks_gather_all(bb_ranks *ranks, bb_status status,
                                            const void *own, size_t length,
                                            bb_message *all);

#endif
