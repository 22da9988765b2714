/* torture.h - runs something again and again while the n-th allocation, the n-th file
 * operation, or every byte beyond the n-th fails, until it succeeds.
 *
 * A test asks for it with the word TORTURE in bb_test(). Allocations are seen when the
 * project's own code or jansson makes them, not inside other shared libraries. Each
 * failure must come back as the right status; where the tests run under
 * AddressSanitizer, nothing may be left unfreed. */
#ifndef BB_TESTS_TORTURE_H
#define BB_TESTS_TORTURE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct bb_torture {
    /* What is tortured. It frees whatever it made, and asserts nothing. */
    bb_status (*attempt)(void *context);
    /* Called after every attempt, when nothing fails any more: assert here that outputs
     * and files are as they were, or complete. May be NULL. */
    void (*check)(void *context, bb_status status);
    void *context;
    /* Leaves jansson's allocations alone: its parser, not its other functions, stops
     * the process when one fails. For attempts that read JSON. */
    bool spare_json;
} bb_torture;

/* The n-th allocation fails, and then: the n-th and all later ones. Every attempt must
 * give BB_ENOMEM or, where it can do without, BB_OK. Returns how many allocations were
 * seen; a test asserts that there were some. */
size_t torture_memory(bb_torture torture);

/* The same for write, fsync, rename, mkdir, and fflush and fclose of a stream that was
 * written. Every attempt in which one failed must give BB_EIO. */
size_t torture_files(bb_torture torture);

/* A disk that is full after n bytes in a file, n = 0, 1, 2, ... and then in steps of an
 * eighth, by the process's file size limit: seen by every library. Every attempt must
 * give BB_EIO until one succeeds; returns how many failed. */
size_t torture_disk(bb_torture torture);

/* Arms the n-th allocation for code that is no single call; returns whether it was
 * reached when disarmed. */
void torture_arm_memory(size_t n);
bool torture_disarm(void);

#endif
