#include "mpi/peers.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a process is looked for: the machine as it has started (zeros: unknown), and the
 * name space of its processes' numbers, which containers have of their own. */
typedef struct place {
    char machine[40];
    uint64_t space;
    int64_t process;
} place;

static place here(void) {
    place p = {.process = getpid()};
    struct stat about;
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0) return p;
    const ssize_t got = read(file, p.machine, sizeof p.machine);
    close(file);
    if (got < 36 || stat("/proc/self/ns/pid", &about))
        memset(p.machine, 0, sizeof p.machine);
    else
        p.space = about.st_ino;
    return p;
}

static bool is_beside(const place *one, const place *other) {
    return one->machine[0] && one->space == other->space &&
           memcmp(one->machine, other->machine, sizeof one->machine) == 0;
}

bb_status bb_peers_open(bb_peers *peers, bb_ranks *ranks) {
    const place own = here();
    bb_peers made = {.count = ranks->count};
    bb_message all = {NULL, 0};
    bb_status status =
        bb_allocate(&made.process, ranks->count, sizeof *made.process, "the ranks");
    status = bb_ranks_gather_all(ranks, status, &own, sizeof own, &all);
    const place *const of = all.at;
    for (size_t r = 0; r < ranks->count && !status; r++)
        if (r != ranks->number && is_beside(&own, &of[r]))
            made.process[r] = (long)of[r].process;
    free(all.at);
    if (status)
        bb_peers_close(&made);
    else
        *peers = made;
    return status;
}

void bb_peers_close(bb_peers *peers) {
    free(peers->process);
    *peers = (bb_peers){0};
}

static bool has_ended(long process) {
    return process && kill((pid_t)process, 0) && errno == ESRCH;
}

size_t bb_peers_lost(const bb_peers *peers) {
    for (size_t r = 0; r < peers->count; r++)
        if (has_ended(peers->process[r])) return r;
    return peers->count;
}

bool bb_peers_succeeds(const bb_peers *peers, size_t own) {
    bool lowest = own > 0 && has_ended(peers->process[0]);
    for (size_t r = 1; r < peers->count; r++) {
        if (has_ended(peers->process[r])) return false;
        if (r < own && peers->process[r]) lowest = false;
    }
    return lowest;
}
