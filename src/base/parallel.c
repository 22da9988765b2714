#include "base/parallel.h"

#include <omp.h>

static void each(const bb_engine *engine, size_t items,
                 void (*fn)(void *, size_t, size_t), void *context) {
    if (engine->workers == 1) {
        for (size_t i = 0; i < items; i++) fn(context, i, 0);
        return;
    }
#pragma omp parallel for schedule(dynamic) num_threads((int)engine->workers)
    for (size_t i = 0; i < items; i++) fn(context, i, (size_t)omp_get_thread_num());
}

bb_engine bb_engine_threads(size_t threads) {
    const size_t workers = threads ? threads : (size_t)omp_get_num_procs();
    return (bb_engine){.name = "threads", .workers = workers, .each = each};
}
