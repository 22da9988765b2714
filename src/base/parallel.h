/* parallel.h - the parallel loop: who works on which task. */
#ifndef BB_BASE_PARALLEL_H
#define BB_BASE_PARALLEL_H

#include <stddef.h>

/* How the participants of one process work: calls fn(context, item, worker) once for
 * every item 0 .. items-1, perhaps on several workers (0 .. workers-1) at once. */
typedef struct bb_engine {
    const char *name;
    size_t workers;
    void (*each)(const struct bb_engine *engine, size_t items,
                 void (*fn)(void *context, size_t item, size_t worker), void *context);
} bb_engine;

/* An engine of this many threads; 0 takes as many as the process may have processors. Those
 * beside the caller's are started when a loop has lasted some 0.1 ms, shared by all
 * engines of the process, asleep between loops, and there until it ends; where none can
 * be had the caller does all. Signals do not reach them; a fork's child has none, and
 * starts its own. A loop inside of a loop runs on one thread. Any thread may call. */
bb_engine bb_engine_threads(size_t threads);

#endif
