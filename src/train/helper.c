#include "train/helper.h"

#include "base/file.h"
#include "base/memory.h"
#include "train/place.h"
#include "train/place_kept.h"
#include "train/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct bb_train_helper {
    bb_training *training;
    bb_helper *core;
    bb_place_kept kept;
    bb_record record;
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
    if (!status) status = bb_record_open(&helper->record, &helper->kept, 0);
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
    bb_record_close(&helper->record);
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

static bb_status write_record(const bb_rundir *dir, json_t *record) {
    char *folder = NULL;
    bb_status status = bb_rundir_name(dir, "operator", &folder);
    if (!status && mkdir(folder, 0700))
        status = bb_fail(BB_EIO, "%s: cannot be created", folder);
    free(folder);
    return status ? status
                  : bb_rundir_json(dir, "operator/record.json", json_incref(record));
}

bb_status bb_train_helper_store(bb_train_helper *helper, const char *path) {
    bb_experiment *e = &helper->training->e;
    bb_rundir dir = {0};
    if (bb_helper_now(helper->core) != BB_HELPER_DONE)
        return bb_fail(BB_EUSAGE, "the run is not at its end");
    bb_status status =
        bb_record_write(&helper->record, e, "helper", bb_helper_name(helper->core),
                        bb_helper_rounds(helper->core));
    if (!status) status = bb_duplicate(&dir.path, path, strlen(path));
    if (!status) status = bb_directory_begin(&dir.temporary, path);
    if (!status) status = write_record(&dir, e->record);
    if (!status) status = bb_directory_commit(dir.temporary, dir.path);
    bb_rundir_close(&dir); /* which discards what is not in place */
    return status;
}

void bb_train_helper_forget(bb_train_helper *helper) {
    bb_experiment_mark_done(&helper->training->e);
    bb_place_kept_remove(&helper->kept);
}
