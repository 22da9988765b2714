#include "base/ranks.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bb_status unreachable(void) {
    return bb_fail(BB_EIO, "the other ranks cannot be reached");
}

bb_status bb_ranks_exchange(bb_ranks *ranks, const bb_message *send,
                            bb_message *receive) {
    if (ranks->broken) return unreachable();
    memset(receive, 0, ranks->count * sizeof *receive);
    return ranks->exchange(ranks, send, receive);
}

void bb_ranks_free(const bb_ranks *ranks, bb_message *receive) {
    for (size_t r = 0; receive && r < bb_ranks_count(ranks); r++) free(receive[r].at);
    free(receive);
}

/* What a rank that has failed tells the others; who has not sends nothing. */
typedef struct failure {
    bb_status status;
    char text[1020];
} failure;

/* Room for what goes to every rank, and for what comes from it. */
static bb_status open_pieces(const bb_ranks *ranks, bb_message **send,
                             bb_message **receive) {
    const bb_status status =
        bb_allocate(send, ranks->count, sizeof **send, "the ranks");
    return status ? status
                  : bb_allocate(receive, ranks->count, sizeof **receive, "the ranks");
}

/* The failure of the lowest rank that has one. */
static bb_status take_first(const bb_ranks *ranks, const bb_message *receive,
                            bb_status own) {
    for (size_t r = 0; r < ranks->count; r++) {
        if (r == ranks->number && own) return own;
        if (r == ranks->number || receive[r].length != sizeof(failure)) continue;
        const failure *first = receive[r].at;
        /* where the others found what it did not */
        if (first->status == BB_EIO && r)
            return bb_fail(BB_EIO, "rank %zu: %s", r, first->text);
        return bb_fail(first->status, "%s", first->text);
    }
    return BB_OK;
}

bb_status bb_ranks_agree(bb_ranks *ranks, bb_status status) {
    failure own = {.status = status};
    bb_message *send = NULL, *receive = NULL;
    if (!ranks) return status;
    if (ranks->broken) return status ? status : unreachable();
    bb_status exchanged = open_pieces(ranks, &send, &receive);
    if (status) {
        const char *text = bb_last_error();
        const size_t length = strlen(text);
        memcpy(own.text, text, length < sizeof own.text ? length : sizeof own.text - 1);
    }
    for (size_t r = 0; r < ranks->count && !exchanged && status; r++)
        send[r] = (bb_message){&own, sizeof own};
    if (exchanged)
        ranks->broken = true;
    else if (receive)
        exchanged = bb_ranks_exchange(ranks, send, receive);
    if (!exchanged && receive) exchanged = take_first(ranks, receive, status);
    bb_ranks_free(ranks, receive);
    free(send);
    return exchanged;
}

/* Everything in the order of ranks, as one block. */
static bb_status join(const bb_ranks *ranks, const bb_message *piece, bb_message *all) {
    size_t length = 0;
    char *to = NULL;
    for (size_t r = 0; r < ranks->count; r++) length += piece[r].length;
    const bb_status status = bb_allocate(&to, length, 1, "what ranks have");
    if (status) return status;
    *all = (bb_message){to, length};
    for (size_t r = 0; r < ranks->count; to += piece[r++].length)
        if (piece[r].length) memcpy(to, piece[r].at, piece[r].length);
    return BB_OK;
}

bb_status bb_ranks_gather(bb_ranks *ranks, bb_status status, const void *own,
                          size_t length, bb_message *all) {
    const bb_message mine = {(void *)(uintptr_t)own, length};
    const bb_ranks alone = {.count = 1};
    bb_message *send = NULL, *receive = NULL;
    *all = (bb_message){NULL, 0};
    if (!ranks) return status ? status : join(&alone, &mine, all);
    if (!status) status = open_pieces(ranks, &send, &receive);
    status = bb_ranks_agree(ranks, status);
    const bool ready = !status && send && receive;
    if (ready && ranks->number) send[0] = mine;
    if (ready) status = bb_ranks_exchange(ranks, send, receive);
    if (ready && !status && ranks->number == 0) {
        receive[0] = mine;
        status = join(ranks, receive, all);
        receive[0] = (bb_message){NULL, 0};
    }
    bb_ranks_free(ranks, receive);
    free(send);
    return status;
}

bb_status bb_ranks_share(bb_ranks *ranks, bb_status status, bb_message *piece) {
    bb_message *send = NULL, *receive = NULL;
    if (!ranks) return status;
    if (ranks->number) *piece = (bb_message){NULL, 0};
    if (!status) status = open_pieces(ranks, &send, &receive);
    status = bb_ranks_agree(ranks, status);
    const bool ready = !status && send && receive;
    for (size_t r = 1; r < ranks->count && ready && !ranks->number; r++)
        send[r] = *piece;
    if (ready) status = bb_ranks_exchange(ranks, send, receive);
    if (ready && !status && ranks->number) {
        *piece = receive[0];
        receive[0] = (bb_message){NULL, 0};
    }
    bb_ranks_free(ranks, receive);
    free(send);
    return status;
}

bb_status bb_ranks_gather_all(bb_ranks *ranks, bb_status status, const void *own,
                              size_t length, bb_message *all) {
    status = bb_ranks_gather(ranks, status, own, length, all);
    status = bb_ranks_share(ranks, status, all);
    if (status && all->at) {
        free(all->at);
        *all = (bb_message){NULL, 0};
    }
    return status;
}
