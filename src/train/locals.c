#include "train/locals.h"

#include "base/memory.h"

#include <stdlib.h>

/* -- opening -- */

typedef struct opening {
    const bb_dataset *data;
    const bb_public *pub;
    const struct bb_net *net;
    bb_local *local;
    unsigned char *open; /* tasks */
} opening;

static bb_status open_task(const opening *o, size_t i) {
    const bb_dataset *data = o->data;
    const size_t from = data->first[i];
    bb_rows rows = {
        .n = data->first[i + 1] - from, .d = data->features, .y = data->y + from};
    if (data->x) {
        rows.x = data->x + from * data->features;
    } else {
        rows.sparse_first = data->sparse_first + from;
        rows.sparse_column = data->sparse_column;
        rows.sparse_value = data->sparse_value;
    }
    if (data->label_first) {
        rows.label_first = data->label_first + from;
        rows.label = data->label;
    }
    if (!bb_loss_is_solved(o->pub->loss, o->net))
        return bb_local_open_outputs(&o->local[i], rows, o->pub->loss, o->pub->outputs,
                                     o->net, o->pub->scale_sum);
    return bb_local_open(&o->local[i], rows, o->pub->loss, o->pub->intercept,
                         o->pub->scale_sum);
}

static void open_one(void *context, size_t i, size_t worker) {
    const opening *o = context;
    (void)worker;
    o->open[i] = !open_task(o, i);
}

bb_status bb_locals_open(bb_local **out, const bb_dataset *data, const bb_public *pub,
                         const struct bb_net *net, const bb_engine *engine) {
    opening o = {.data = data, .pub = pub, .net = net};
    bb_status status =
        bb_allocate(&o.local, data->tasks, sizeof *o.local, "the tasks' problems");
    if (!status) status = bb_allocate(&o.open, data->tasks, 1, "the tasks' problems");
    if (!status) engine->each(engine, data->tasks, open_one, &o);
    /* messages belong to threads: what failed fails again here, to say why */
    for (size_t i = 0; !status && i < data->tasks; i++)
        if (!o.open[i]) {
            o.local[i] = (bb_local){0};
            status = open_task(&o, i);
            if (status) bb_fail_context(status, "task %s", data->task_name[i]);
            o.open[i] = !status;
        }
    if (!status) {
        *out = o.local;
        o.local = NULL;
    }
    for (size_t i = 0; o.local && o.open && i < data->tasks; i++)
        if (o.open[i]) bb_local_close(&o.local[i]);
    free(o.local);
    free(o.open);
    return status;
}

void bb_locals_close(bb_local *local, size_t tasks) {
    for (size_t i = 0; local && i < tasks; i++) bb_local_close(&local[i]);
    free(local);
}
