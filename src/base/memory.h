/* memory.h - checked allocation, and an arena for everything a training run needs. */
#ifndef BB_BASE_MEMORY_H
#define BB_BASE_MEMORY_H

#include "base/status.h"

#include <stddef.h>

/* Allocates count * size zeroed bytes, aligned to 64, into *out; count = 0 gives a
 * valid pointer. BB_ENOMEM (also when the product overflows) leaves *out unchanged.
 * Free with free(). `what` names the thing in the message. */
BB_MUST_CHECK bb_status bb_allocate(void *out, size_t count, size_t size,
                                    const char *what);

/* Grows *array (NULL at first) so that it holds at least `need` items, at least
 * doubling *capacity. New items are not initialised. On failure nothing changes. */
BB_MUST_CHECK bb_status bb_grow(void *array, size_t *capacity, size_t need, size_t size,
                                const char *what);

/* A copy of a string, or of its first `length` bytes, to be freed with free(). */
BB_MUST_CHECK bb_status bb_duplicate(char **out, const char *text, size_t length);

/* The larger: room for what is done one after the other. */
static inline size_t bb_larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* One block of memory sized before the work begins; taking from it cannot fail. The
 * sizes are added up first with bb_arena_need, in the order in which they are taken. */
typedef struct bb_arena {
    char *base;
    size_t size, used;
} bb_arena;

/* Adds room for count items of `size` bytes; saturates at SIZE_MAX on overflow. */
void bb_arena_need(bb_arena *arena, size_t count, size_t size);
/* Allocates what was added up, zeroed. */
BB_MUST_CHECK bb_status bb_arena_open(bb_arena *arena, const char *what);
/* The next piece, aligned to 64 bytes. The room must have been added before opening. */
void *bb_arena_take(bb_arena *arena, size_t count, size_t size);
void bb_arena_close(bb_arena *arena);

#endif
