#include "train/helper.h"

#include "base/memory.h"
#include "train/place.h"
#include "train/place_kept.h"

#include <stdlib.h>
#include <string.h>

struct bb_train_helper {
    bb_training *training;
    bb_helper *core;
    bb_place_kept kept;
};

static bb_status open_core(bb_train_helper *helper) {
    bb_experiment *e = &helper->training->e;
    const bb_roster *roster = e->resolved->roster;
    const bb_helper_terms terms = {.run = &e->run,
                                   .silos = roster->silos,
                                   .fewest = roster->fewest,
                                   .checkpoint =
                                       e->resolved->request->options.checkpoint,
                                   .identity = roster->identity};
    bb_status status = bb_place_kept_open(
        &helper->kept, e->resolved->request->options.checkpoint, "helper", "");
    e->run.ledger = e->ledger;
    if (!status) status = bb_helper_open(&helper->core, &terms);
    if (!status && helper->kept.saved.length)
        status = bb_helper_restore(helper->core, helper->kept.saved);
    if (!status)
        status = bb_place_kept_charge_once(
            &helper->kept, e->ledger, bb_helper_now(helper->core) == BB_HELPER_DONE);
    return status ? status : bb_place_warn_of_charge(e);
}

bb_status bb_train_helper_open(bb_train_helper **out, const bb_train_request *request,
                               const bb_roster *roster, const bb_watch *watch) {
    bb_train_helper *helper = NULL;
    bb_status status = bb_allocate(&helper, 1, sizeof *helper, "a helper");
    if (status) return status;
    status = bb_allocate(&helper->training, 1, sizeof *helper->training, "a helper");
    if (!status) status = bb_place_open(helper->training, request, roster, NULL, watch);
    if (!status) status = open_core(helper);
    if (status) bb_place_kept_close(&helper->kept); /* which stays as it was */
    if (status)
        bb_train_helper_close(helper);
    else
        *out = helper;
    return status;
}

void bb_train_helper_close(bb_train_helper *helper) {
    if (!helper) return;
    if (helper->core && bb_helper_is_out(helper->core))
        bb_place_kept_remove(&helper->kept);
    bb_helper_close(helper->core);
    bb_place_kept_close(&helper->kept);
    if (helper->training) bb_experiment_close_work(&helper->training->e);
    bb_training_close(helper->training);
    free(helper);
}

bb_helper *bb_train_helper_core(bb_train_helper *helper) {
    return helper->core;
}

bb_status bb_train_helper_keep(bb_train_helper *helper) {
    bb_writer place = {0};
    bb_helper_save(helper->core, &place);
    bb_status status = place.status;
    if (!status)
        status = bb_place_kept_write(&helper->kept, helper->training->e.ledger,
                                     (bb_bytes){place.at, place.length});
    if (place.at) explicit_bzero(place.at, place.length);
    bb_writer_close(&place);
    return status;
}

void bb_train_helper_forget(bb_train_helper *helper) {
    bb_experiment_mark_done(&helper->training->e);
    bb_place_kept_remove(&helper->kept);
}
