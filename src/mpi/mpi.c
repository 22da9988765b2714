#include "mpi/mpi.h"

#include "base/memory.h"
#include "base/part.h"
#include "mpi/peers.h"

#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* clang-format off */
#define MPI_NAMES(use)                                                                 \
    use(Abort) use(Comm_rank) use(Comm_set_errhandler) use(Comm_size) use(Error_string) \
    use(Finalize) use(Ialltoall) use(Init_thread) use(Irecv) use(Isend) use(Testall)
/* clang-format on */

/* Open MPI's handles are addresses of things of its own; theirs are looked up, too. */
typedef struct library {
#define MEMBER(name) __typeof__(MPI_##name) *(name);
    MPI_NAMES(MEMBER)
#undef MEMBER
    void *world, *byte, *errors_return;
} library;

/* The requests of one exchange. */
enum { LARGEST = 1 << 30, TAG = 1 };
typedef struct requests {
    MPI_Request *at;
    size_t count, room;
} requests;

/* Seconds between two looks at who is still there. */
static const double look_every = 0.1;

static library mpi;
static bb_ranks joined;
static bb_peers peers;
static bool told_to_end; /* while rank 0 was there: it says so itself */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bb_status broken(int code, const char *deed) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    joined.broken = true;
    mpi.Error_string(code, text, &length);
    return bb_fail(BB_EIO, "rank %zu cannot %s: %s", joined.number, deed, text);
}

/* Lets others work: processors may be fewer than ranks, and rounds longer than a second. */
static void pause_since(double start) {
    const struct timespec moment = {0, 200000};
    if (now() - start < 2e-3)
        sched_yield();
    else
        nanosleep(&moment, NULL);
}

/* Whether all requests are done. */
static bb_status test(requests *all, int *done) {
    const int code = mpi.Testall((int)all->count, all->at, done, MPI_STATUSES_IGNORE);
    return code ? broken(code, "speak with the others") : BB_OK;
}

/* A rank that has ended has said all that it will ever say. */
static bb_status end_without(size_t lost, requests *all, int *done) {
    const bb_status status = test(all, done);
    if (status || *done) return status;
    joined.broken = true;
    if (!told_to_end && bb_peers_succeeds(&peers, joined.number)) joined.speaks = true;
    return bb_fail(BB_EINTERRUPTED, "rank %zu was lost", lost);
}

static bb_status give_up(void) {
    joined.broken = true;
    return bb_fail(BB_EINTERRUPTED, "interrupted");
}

static bb_status wait_for(requests *all) {
    const double start = now();
    double stopped = 0.0, looked = start;
    int done = 0;
    for (;;) {
        bb_status status = test(all, &done);
        if (status || done) return status;
        const double moment = now();
        if (joined.stop && *joined.stop && stopped == 0.0) {
            stopped = moment;
            told_to_end = told_to_end || bb_peers_lost(&peers) != 0;
        }
        if (moment - looked > look_every) {
            const size_t lost = bb_peers_lost(&peers);
            if (lost < peers.count) status = end_without(lost, all, &done);
            if (status || done) return status;
            looked = moment;
        }
        if (stopped > 0.0 && moment - stopped > joined.patience) return give_up();
        pause_since(start);
    }
}

static bb_status add_request(requests *all, MPI_Request **out) {
    const bb_status status = bb_grow(&all->at, &all->room, all->count + 1,
                                     sizeof *all->at, "what ranks say");
    if (!status) *out = &all->at[all->count++];
    return status;
}

/* In pieces whose length is an int. */
static bb_status post(requests *all, bool sends, int rank, const bb_message *piece) {
    char *at = piece->at;
    for (size_t left = piece->length; left;) {
        const size_t n = left < LARGEST ? left : LARGEST;
        MPI_Request *request;
        const bb_status status = add_request(all, &request);
        if (status) return status;
        const int code = sends ? mpi.Isend(at, (int)n, (MPI_Datatype)mpi.byte, rank,
                                           TAG, (MPI_Comm)mpi.world, request)
                               : mpi.Irecv(at, (int)n, (MPI_Datatype)mpi.byte, rank,
                                           TAG, (MPI_Comm)mpi.world, request);
        if (code) return broken(code, sends ? "send" : "receive");
        at += n;
        left -= n;
    }
    return BB_OK;
}

/* length[r] (to whom) becomes length[count + r] (from whom). */
static bb_status exchange_lengths(uint64_t *length, requests *all) {
    MPI_Request *request;
    const bb_status status = add_request(all, &request);
    if (status) return status;
    const int code =
        mpi.Ialltoall(length, 8, (MPI_Datatype)mpi.byte, length + joined.count, 8,
                      (MPI_Datatype)mpi.byte, (MPI_Comm)mpi.world, request);
    return code ? broken(code, "speak with the others") : wait_for(all);
}

static bb_status exchange_pieces(const uint64_t *length, const bb_message *send,
                                 bb_message *receive, requests *all) {
    bb_status status = BB_OK;
    for (size_t r = 0; r < joined.count && !status; r++) {
        receive[r].length = (size_t)length[joined.count + r];
        if (receive[r].length)
            status =
                bb_allocate(&receive[r].at, receive[r].length, 1, "what ranks say");
        if (!status) status = post(all, false, (int)r, &receive[r]);
    }
    for (size_t r = 0; r < joined.count && !status; r++)
        if (r != joined.number) status = post(all, true, (int)r, &send[r]);
    return status ? status : wait_for(all);
}

static bb_status exchange(bb_ranks *ranks, const bb_message *send,
                          bb_message *receive) {
    requests all = {0};
    uint64_t *length = NULL;
    bb_status status =
        bb_allocate(&length, 2 * ranks->count, sizeof *length, "what ranks say");
    for (size_t r = 0; r < ranks->count && !status; r++)
        length[r] = r == ranks->number ? 0 : send[r].length;
    if (!status) status = exchange_lengths(length, &all);
    all.count = 0;
    if (!status) status = exchange_pieces(length, send, receive, &all);
    for (size_t r = 0; r < ranks->count && status; r++) {
        /* what is still on its way may be written there */
        if (!all.count) free(receive[r].at);
        receive[r] = (bb_message){NULL, 0};
    }
    ranks->broken = status != BB_OK;
    free(length);
    if (!status) free(all.at);
    return status;
}

static bb_status load(void) {
#define NAME(name) "MPI_" #name,
    static const char *const names[] = {MPI_NAMES(NAME) "ompi_mpi_comm_world",
                                        "ompi_mpi_byte", "ompi_mpi_errors_return",
                                        NULL};
    static const bb_part part = {"several ranks", BB_MPI_LIBRARY, "libopenmpi3", names};
    return bb_part_load(&part, &mpi);
}

static bb_status check_launcher(int count) {
    const size_t started = bb_mpi_started();
    if ((size_t)count == started) return BB_OK;
    return bb_fail(BB_EIO,
                   "%zu ranks were started, but Open MPI knows of %d: with srun, give "
                   "--mpi=pmix",
                   started, count);
}

bb_status bb_mpi_join(bb_ranks **out) {
    int rank = 0, count = 1, level = 0;
    *out = NULL;
    if (bb_mpi_started() == 1) return BB_OK;
    bb_status status = load();
    if (status) return status;
    if (mpi.Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level))
        return bb_fail(BB_EIO, "Open MPI cannot be started");
    mpi.Comm_set_errhandler((MPI_Comm)mpi.world, (MPI_Errhandler)mpi.errors_return);
    mpi.Comm_rank((MPI_Comm)mpi.world, &rank);
    mpi.Comm_size((MPI_Comm)mpi.world, &count);
    joined = (bb_ranks){.number = (size_t)rank,
                        .count = (size_t)count,
                        .patience = 0.3,
                        .speaks = rank == 0,
                        .exchange = exchange};
    status = check_launcher(count);
    if (!status) status = bb_peers_open(&peers, &joined);
    if (status)
        mpi.Finalize();
    else
        *out = &joined;
    return status;
}

void bb_mpi_leave(bb_ranks *ranks, int code) {
    if (!ranks) return;
    if (bb_ranks_agree(ranks, BB_OK)) mpi.Abort((MPI_Comm)mpi.world, code);
    mpi.Finalize();
    bb_peers_close(&peers);
}
