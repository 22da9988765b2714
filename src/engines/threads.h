/* threads.h - one process, several threads over tasks (OpenMP). */
#ifndef BB_ENGINES_THREADS_H
#define BB_ENGINES_THREADS_H

#include "core/run.h"

/* An engine of this many threads; 0 takes as many as the machine has processors. */
bb_engine bb_engine_threads(size_t threads);

#endif
