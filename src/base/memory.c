#include "base/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, PAGE = 4096, MANY = 1 << 20 };

static size_t rounded(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Whole pages that are given back read as zeros when they are touched, by the thread that
 * does, and those that nobody has touched yet need no other. */
static void clear(char *memory, size_t bytes) {
    const size_t before = (size_t)(-(uintptr_t)memory % PAGE);
    const size_t pages = bytes < MANY ? 0 : (bytes - before) / PAGE * PAGE;
    if (!pages || madvise(memory + before, pages, MADV_DONTNEED)) {
        memset(memory, 0, bytes);
        return;
    }
    memset(memory, 0, before);
    memset(memory + before + pages, 0, bytes - before - pages);
}

bb_status bb_allocate(void *out, size_t count, size_t size, const char *what) {
    if (size && count > (SIZE_MAX - ALIGNMENT) / size)
        return bb_fail(BB_ENOMEM,
                       "%zu times %zu bytes for %s is more than this machine "
                       "can address",
                       count, size, what);
    const size_t bytes = rounded(count && size ? count * size : 1);
    void *memory = aligned_alloc(ALIGNMENT, bytes);
    if (!memory) return bb_fail(BB_ENOMEM, "no memory for %s (%zu bytes)", what, bytes);
    clear(memory, bytes);
    memcpy(out, &memory, sizeof memory);
    return BB_OK; // cppcheck-suppress memleak
}

bb_status bb_grow(void *array, size_t *capacity, size_t need, size_t size,
                  const char *what) {
    if (need <= *capacity) return BB_OK;
    size_t room = *capacity < 8 ? 8 : *capacity;
    while (room < need) room = room > SIZE_MAX / 2 ? need : 2 * room;
    if (room > SIZE_MAX / size)
        return bb_fail(BB_ENOMEM,
                       "%zu times %zu bytes for %s is more than this machine "
                       "can address",
                       room, size, what);
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, room * size);
    if (!grown)
        return bb_fail(BB_ENOMEM, "no memory for %s (%zu bytes)", what, room * size);
    memcpy(array, &grown, sizeof grown);
    *capacity = room;
    return BB_OK;
}

bb_status bb_duplicate(char **out, const char *text, size_t length) {
    char *copy = malloc(length + 1);
    if (!copy) return bb_fail(BB_ENOMEM, "no memory for a text of %zu bytes", length);
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = copy;
    return BB_OK;
}

void bb_arena_need(bb_arena *arena, size_t count, size_t size) {
    assert(!arena->base);
    const int fits = !size || count <= SIZE_MAX / 4 / size;
    if (fits && arena->size <= SIZE_MAX / 2)
        arena->size += rounded(count * size);
    else
        arena->size = SIZE_MAX;
}

bb_status bb_arena_open(bb_arena *arena, const char *what) {
    arena->used = 0;
    return bb_allocate(&arena->base, arena->size, 1, what);
}

void *bb_arena_take(bb_arena *arena, size_t count, size_t size) {
    void *piece = arena->base + arena->used;
    arena->used += rounded(count * size);
    assert(arena->used <= arena->size);
    return piece;
}

void bb_arena_close(bb_arena *arena) {
    free(arena->base);
    *arena = (bb_arena){0};
}
