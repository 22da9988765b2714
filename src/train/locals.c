#include "train/locals.h"

#include "base/memory.h"

#include <stdlib.h>

static const char what[] = "the tasks' problems";

/* -- opening -- */

typedef struct opening {
    const bb_dataset *data;
    const bb_public *pub;
    const struct bb_net *net;
    bool curvature;
    bb_local *local;
    unsigned char *open; /* tasks */
    bb_locals_room *room;
    double *number; /* of all tasks */
    size_t *first;  /* tasks + 1: where a task's begin */
} opening;

static bb_rows rows_of(const opening *o, size_t i) {
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
    return rows;
}

static bb_status open_task(const opening *o, size_t i) {
    const bb_rows rows = rows_of(o, i);
    const bb_public *pub = o->pub;
    bb_local *local = &o->local[i];
    if (!bb_loss_is_solved(pub->loss, o->net))
        return bb_local_open_outputs(local, rows, pub->loss, pub->outputs, o->net,
                                     pub->scale_sum);
    double *room = o->number ? o->number + o->first[i] : NULL;
    bb_status status = bb_local_open_exact(local, rows, pub->loss, pub->intercept,
                                           pub->scale_sum, room, NULL);
    if (!status && o->curvature) status = bb_local_measure(local);
    if (status) bb_local_close(local);
    return status;
}

static void open_one(void *context, size_t i, size_t worker) {
    const opening *o = context;
    (void)worker;
    o->open[i] = !open_task(o, i);
    bb_dataset_passed(o->data, o->data->first[i], o->data->first[i + 1]);
    bb_locals_passed(o->room, o->local, i, i + 1);
}

void bb_locals_passed(const bb_locals_room *room, const bb_local *local, size_t from,
                      size_t to) {
    bb_map_passed(&room->local_at, local + from, local + to);
    if (room->number_at.at)
        bb_map_passed(&room->number_at, room->number + room->first[from],
                      room->number + room->first[to]);
}

/* What the problems compute of their rows, all in one place. */
static bb_status open_room(opening *o) {
    const size_t tasks = o->data->tasks;
    bb_locals_room *room = o->room;
    if (!bb_loss_is_solved(o->pub->loss, o->net)) return BB_OK;
    bb_status status = bb_allocate(&room->first, tasks + 1, sizeof *room->first, what);
    for (size_t i = 0; !status && i < tasks; i++)
        room->first[i + 1] = room->first[i] + bb_local_room(rows_of(o, i), o->pub->loss,
                                                            o->pub->intercept);
    if (!status)
        status = bb_map_block(&room->number_at, o->data->memory, &room->number,
                              room->first[tasks], sizeof *room->number, what);
    o->number = room->number;
    o->first = room->first;
    return status;
}

bb_status bb_locals_open(bb_local **out, bb_locals_room *room, const bb_dataset *data,
                         const bb_public *pub, const struct bb_net *net, bool curvature,
                         const bb_engine *engine) {
    bb_locals_room made = {0};
    opening o = {
        .data = data, .pub = pub, .net = net, .curvature = curvature, .room = &made};
    bb_status status = bb_map_block(&made.local_at, room ? data->memory : 0, &o.local,
                                    data->tasks, sizeof *o.local, what);
    if (!status && room) status = open_room(&o);
    if (!status) status = bb_allocate(&o.open, data->tasks, 1, what);
    if (!status) engine->each(engine, data->tasks, open_one, &o);
    /* messages belong to threads: what failed fails again here, to say why */
    for (size_t i = 0; !status && i < data->tasks; i++)
        if (!o.open[i]) {
            o.local[i] = (bb_local){0};
            status = open_task(&o, i);
            if (status) bb_fail_context(status, "task %s", data->task_name[i]);
            o.open[i] = !status;
        }
    for (size_t i = 0; status && o.local && o.open && i < data->tasks; i++)
        if (!o.open[i]) o.local[i] = (bb_local){0};
    free(o.open);
    if (status) {
        bb_locals_close(o.local, &made, data->tasks);
        return status;
    }
    *out = o.local;
    if (room) *room = made;
    return BB_OK;
}

void bb_locals_close(bb_local *local, bb_locals_room *room, size_t tasks) {
    bb_locals_room none = {0};
    if (!room) room = &none;
    for (size_t i = 0; local && !room->number && i < tasks; i++)
        bb_local_close(&local[i]);
    bb_map_release(&room->local_at, local);
    bb_map_release(&room->number_at, room->number);
    free(room->first);
    *room = none;
}
