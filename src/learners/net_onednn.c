#include "learners/net_onednn.h"

#include "base/part.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

bb_onednn_table bb_onednn;

bb_status bb_onednn_load(void) {
#define NAME(name) "dnnl_" #name,
    static const char *const names[] = {BB_ONEDNN_FUNCTIONS(NAME) NULL};
    static const bb_part part = {"networks", BB_DNNL_LIBRARY, BB_DNNL_PACKAGE, names};
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool loaded;
    bb_status status = BB_OK;
    pthread_mutex_lock(&lock);
    if (!loaded) status = bb_part_load(&part, &bb_onednn);
    loaded = !status;
    pthread_mutex_unlock(&lock);
    return status;
}
