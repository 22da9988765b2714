#include "audit/door.h"

#include "linalg/linalg.h"
#include "privacy/accounting/accountant.h"

#include <stdlib.h>
#include <string.h>

static bb_status plan_rounds(const bb_view *view, bb_plan *plan) {
    const bb_layout *layout = view->options;
    const bool selection = layout->block[0].form == BB_FORM_SELECTION;
    bb_status status = bb_plan_rounds(plan, view->pub->rounds);
    for (uint32_t t = 0; !status && selection && t < plan->rounds; t++)
        plan->step[t] = (bb_step){.selection = 1.0 / plan->rounds};
    if (!status) bb_plan_room(plan, view->pub, layout);
    return status;
}

bb_status bb_audit_door_open(bb_audit_door *door, const bb_mechanism *mechanism,
                             const bb_public *pub, const bb_layout *layout) {
    *door = (bb_audit_door){
        .method = {.name = "audit", .kind = BB_METHOD_PRIVATE, .plan = plan_rounds},
        .engine = {.name = "audit", .workers = 1},
        .layout = *layout};
    door->run = (bb_run){.phases = 1,
                         .phase = {{.method = &door->method}},
                         .pub = *pub,
                         .mechanism = mechanism,
                         .engine = &door->engine,
                         .seeded = true};
    door->run.pub.mu = bb_gdp_mu(pub->epsilon, pub->delta);
    const bb_view view = {
        .method = &door->method, .options = &door->layout, .pub = &door->run.pub};
    bb_status status = bb_linalg_ready();
    if (!status) status = bb_plan_make(&door->plan, &view, mechanism->pricing);
    if (status) return status;
    bb_door_need(&door->run, &door->plan, &door->arena);
    bb_tally_need(&door->arena, mechanism, &door->plan, 1);
    status = bb_arena_open(&door->arena, "the audit's door");
    if (!status)
        status = bb_allocate(&door->shown, door->plan.show_length, sizeof *door->shown,
                             "the audit's door");
    return status;
}

void bb_audit_door_close(bb_audit_door *door) {
    if (door->door.pub) bb_door_close(&door->door);
    bb_arena_close(&door->arena);
    bb_plan_free(&door->plan);
    free(door->shown);
    *door = (bb_audit_door){0};
}

bb_status bb_audit_door_start(bb_audit_door *door, uint64_t seed) {
    if (door->door.pub) bb_door_close(&door->door);
    door->arena.used = 0;
    door->run.seed = seed;
    bb_status status = bb_door_open(&door->door, &door->run, &door->plan, &door->arena);
    if (!status) status = bb_door_charge(&door->door, &door->run);
    bb_tally_open(&door->tally, &door->arena, door->run.mechanism, &door->plan,
                  door->run.pub.tasks, 1);
    return status;
}

bb_status bb_audit_door_ask(bb_audit_door *door) {
    const bb_status status = bb_door_ask(&door->door, &door->layout);
    if (!status) bb_tally_begin(&door->tally, &door->door.ask);
    return status;
}

void bb_audit_door_show(bb_audit_door *door, size_t task, const double *const *block) {
    double *copy[BB_MOST_BLOCKS] = {NULL}, *next = door->shown;
    for (size_t b = 0; b < door->layout.blocks; b++) {
        const size_t n = bb_block_show_length(&door->layout.block[b]);
        memcpy(next, block[b], n * sizeof *next);
        copy[b] = next;
        next += n;
    }
    bb_tally_add(&door->tally, 0, task, NULL, copy);
}

bb_status bb_audit_door_publish(bb_audit_door *door, bb_release *release) {
    bb_tally_end(&door->tally);
    bb_door_add(&door->door, &door->tally);
    return bb_door_publish(&door->door, release);
}
