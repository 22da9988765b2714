/* scratch.h - a folder of a test's own, removed with the files a test knows of. */
#ifndef BB_TESTS_PRIVACY_SCRATCH_H
#define BB_TESTS_PRIVACY_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct scratch {
    char folder[64], file[96];
} scratch;

static inline int scratch_open(scratch *s) {
    snprintf(s->folder, sizeof s->folder, "/tmp/billboard-test-XXXXXX");
    if (!mkdtemp(s->folder)) return 0;
    snprintf(s->file, sizeof s->file, "%s/ledger", s->folder);
    return 1;
}

/* Removes a ledger with all of its files. */
static inline void scratch_clear(const char *file) {
    static const char *const end[] = {"", "-wal", "-shm", "-journal"};
    char path[128];
    for (size_t k = 0; k < sizeof end / sizeof *end; k++) {
        snprintf(path, sizeof path, "%s%s", file, end[k]);
        unlink(path);
    }
}

static inline void scratch_close(scratch *s) {
    scratch_clear(s->file);
    rmdir(s->folder);
}

#endif
