/* tape.h - the billboard of one run, fed to another one. */
#ifndef BB_TESTS_TAPE_H
#define BB_TESTS_TAPE_H

#include "methods/registry.h"
#include "test.h"

/* The billboard of the first run is fed to a run on a neighbouring population, with the
 * same random streams. Then only the changed task may move. The tape is wound by copies
 * of methods whose digest keeps, or replaces, what the door released. */
typedef struct tape {
    double *value;
    size_t used, room, read;
    bool playing;
} tape;

static tape recording;

static inline double *tape_next(size_t n) {
    if (!recording.playing && recording.used + n > recording.room) {
        recording.room = 2 * (recording.used + n);
        recording.value =
            realloc(recording.value, recording.room * sizeof *recording.value);
        assert_non_null(recording.value);
    }
    size_t *at = recording.playing ? &recording.read : &recording.used;
    double *next = recording.value + *at;
    *at += n;
    return next;
}

static inline bb_status tape_digest(const bb_view *view, const bb_release *release,
                                    bb_draft *draft, double *work) {
    bb_release public = *release;
    for (size_t b = 0; b < release->layout->blocks; b++) {
        const bb_block *block = &release->layout->block[b];
        const size_t n = bb_block_sum_length(block, view->pub->tasks);
        double *kept = tape_next(n + 1);
        if (recording.playing) {
            public.value[b] = kept;
            public.winner[b] = (size_t)kept[n];
        } else {
            memcpy(kept, release->value[b], n * sizeof *kept);
            kept[n] = (double)release->winner[b];
        }
    }
    return bb_method_find(view->method->name)->digest(view, &public, draft, work);
}

/* The method as its copy on the tape. */
static inline bb_method tape_method(const bb_method *method) {
    bb_method copy = *method;
    if (copy.digest) copy.digest = tape_digest;
    return copy;
}

#endif
