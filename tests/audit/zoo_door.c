#include "zoo_door.h"

#include "privacy/accounting/accountant.h"

bb_status zoo_open(bool broken, const zoo_plan *plan, void **worker) {
    static const char *const name[BB_MOST_BLOCKS] = {"a", "b", "c", "d"};
    const bb_public pub = {.tasks = plan->tasks,
                           .adjacency = plan->adjacency,
                           .epsilon = 1.0,
                           .delta = 1e-5,
                           .rounds = plan->rounds};
    bb_layout layout = {.blocks = plan->blocks};
    zoo_cage *cage = NULL;
    for (size_t b = 0; b < plan->blocks; b++)
        layout.block[b] = (bb_block){name[b], plan->form, plan->length, plan->clip,
                                     1.0 / (double)plan->blocks};
    bb_status status = bb_allocate(&cage, 1, sizeof *cage, "the zoo");
    if (status) return status;
    *worker = cage;
    cage->broken = broken;
    status = bb_audit_door_open(&cage->door, &bb_mechanism_gaussian, &pub, &layout);
    for (uint32_t t = 0; !status && t < plan->rounds; t++) {
        cage->door.plan.mu[t] = plan->mu;
        cage->door.plan.pure[t] = plan->pure;
    }
    return status;
}

void zoo_close(void *worker) {
    if (worker) bb_audit_door_close(&((zoo_cage *)worker)->door);
    free(worker);
}

bb_status zoo_round(zoo_cage *cage, const double *v, size_t others, double w,
                    bb_release *release) {
    const double *const mine[BB_MOST_BLOCKS] = {v, v, v, v};
    const double *const theirs[BB_MOST_BLOCKS] = {&w, &w, &w, &w};
    bb_status status = bb_audit_door_ask(&cage->door);
    if (status) return status;
    if (v) bb_audit_door_show(&cage->door, 0, mine);
    for (size_t i = 0; i < others; i++) bb_audit_door_show(&cage->door, i + 1, theirs);
    return bb_audit_door_publish(&cage->door, release);
}

bb_status zoo_claim_of(const bb_event *event, bb_adjacency adjacency, double delta,
                       zoo_claim *claim) {
    const bb_account account = {adjacency, 1, event};
    bb_answer answer;
    const bb_status status =
        bb_account_epsilon(&account, BB_ACCOUNTANT_AUTO, delta, &answer);
    if (!status) *claim = (zoo_claim){answer.upper, delta};
    return status;
}
