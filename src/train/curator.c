#include "train/curator.h"

#include "base/json.h"
#include "base/memory.h"
#include "train/place.h"
#include "train/place_kept.h"
#include "train/record.h"
#include "train/run_statement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bb_train_curator {
    bb_training *training; /* NULL: it was given away */
    bb_curator *core;
    json_t *promise; /* of which epsilon, NAN where it does not hold, is charged */
    double epsilon;
    uint32_t rounds, silos;
    bool two_doors;
    bool spent;          /* its public half was moved */
    bb_writer published; /* what is saved of it, from then on */
    bb_place_kept kept;
    bb_record record;
};

/* -- bytes of both, which are public -- */

/* Releases lie in the directory's memory, their index is JSON. */
static bb_status get_releases(bb_rundir *dir, bb_reader *reader) {
    const uint64_t size = bb_get_u64(reader);
    const uint8_t *at = bb_get(reader, size);
    const uint64_t length = bb_get_u64(reader);
    const uint8_t *text = bb_get(reader, length);
    json_t *releases = text ? json_loadb((const char *)text, length, 0, NULL) : NULL;
    if (!json_is_array(releases) || size % 8) {
        json_decref(releases);
        return bb_fail(BB_EDATA, "a saved curator without what it published");
    }
    json_decref(dir->releases);
    dir->releases = releases;
    dir->numbers = size / 8;
    if (fwrite(at, 1, size, dir->billboard) != size || fflush(dir->billboard))
        return bb_fail(BB_ENOMEM, "no memory for the billboard");
    return BB_OK;
}

static bb_status put_releases(const bb_rundir *dir, bb_writer *bytes) {
    char *releases = bb_json_text(dir->releases, 0);
    if (!releases) return bb_fail(BB_ENOMEM, "no memory for a saved curator");
    bb_put_u64(bytes, dir->size);
    bb_put_bytes(bytes, dir->bytes, dir->size);
    bb_put_text(bytes, releases);
    free(releases);
    return bytes->status;
}

bb_status bb_train_curator_save(const bb_train_curator *curator, bb_writer *bytes) {
    const bb_writer *published = &curator->published;
    bb_writer core = {0};
    bb_curator_save(curator->core, &core);
    const bb_status status = core.status;
    if (!status) bb_put_u64(bytes, core.length);
    if (!status) bb_put_bytes(bytes, core.at, core.length);
    bb_writer_close(&core);
    if (status) return status;
    for (uint32_t s = 0; s < curator->silos; s++)
        bb_put_u32(bytes, curator->record.answered[s]);
    if (curator->training) return put_releases(&curator->training->e.dir, bytes);
    bb_put_bytes(bytes, published->at, published->length);
    return bytes->status;
}

static bb_status restore(bb_train_curator *curator, const bb_curator_terms *terms,
                         bb_bytes saved) {
    bb_reader reader = bb_reader_of(saved);
    const uint64_t length = bb_get_u64(&reader);
    const uint8_t *core = bb_get(&reader, length);
    if (!core) return bb_fail(BB_EDATA, "no saved curator");
    bb_status status =
        bb_curator_restore(&curator->core, terms, (bb_bytes){core, length});
    for (uint32_t s = 0; s < curator->silos; s++)
        curator->record.answered[s] = bb_get_u32(&reader);
    if (!status) status = get_releases(&curator->training->e.dir, &reader);
    return status ? status : bb_read_all(&reader, "a saved curator");
}

/* -- a curator -- */

/* Kept apart from the run, which is given away at its end. Numbers of privacy only where they
 * hold. */
static bb_status note_promise(bb_train_curator *curator) {
    bb_experiment *e = &curator->training->e;
    const bb_public *pub = &e->run.pub;
    const bb_mechanism *mechanism = e->run.mechanism;
    char sampling[BB_SAMPLING_TEXT];
    curator->two_doors = pub->doors > 1;
    curator->rounds = bb_curator_plan(curator->core)->rounds;
    const bool holds = mechanism->pricing == BB_PRICE_GAUSSIAN && !e->run.seeded &&
                       isfinite(pub->epsilon);
    bb_run_sampling(pub, sampling, sizeof sampling);
    curator->epsilon = holds ? pub->epsilon : NAN;
    curator->promise = json_pack("{s:b,s:o,s:o,s:s,s:s,s:I}", "private", (int)holds,
                                 "epsilon", bb_json_real(curator->epsilon), "delta",
                                 bb_json_real(holds ? pub->delta : NAN), "adjacency",
                                 bb_adjacency_name(pub->adjacency), "sampling",
                                 sampling, "tasks", (json_int_t)pub->tasks);
    return curator->promise ? BB_OK : bb_fail(BB_ENOMEM, "no memory for a curator");
}

static bb_status open_core(bb_train_curator *curator, const bb_bytes *saved) {
    bb_experiment *e = &curator->training->e;
    const bb_curator_terms terms = {
        .run = &e->run,
        .silos = e->resolved->roster->silos,
        .fewest = e->resolved->roster->fewest,
        .silo_name = e->resolved->roster->silo_name,
        .task_name = (const char *const *)e->resolved->roster->task_name,
        .checkpoint = saved ? NULL : e->resolved->request->options.checkpoint,
        .sealed = true,
        .identity = e->resolved->roster->identity};
    bb_status status = bb_place_kept_open(
        &curator->kept, e->resolved->request->options.checkpoint, "curator", "");
    curator->silos = terms.silos;
    if (!status)
        status = bb_record_open(&curator->record, &curator->kept, curator->silos);
    if (status) return status;
    e->run.ledger = e->ledger;
    if (saved)
        status = restore(curator, &terms, *saved);
    else if (curator->kept.saved.length)
        status = restore(curator, &terms, curator->kept.saved);
    else
        status = bb_curator_open(&curator->core, &terms);
    if (status) return status;
    status = bb_place_kept_charge_once(
        &curator->kept, e->ledger, bb_curator_now(curator->core) == BB_CURATOR_DONE);
    if (status || saved || !e->ledger || bb_ledger_reserved(e->ledger)) return status;
    status = bb_place_warn_of_charge(e);
    if (status) return status;
    return bb_run_check_ledger(&e->run, bb_curator_plan(curator->core), e->ledger);
}

bb_status bb_train_curator_open(bb_train_curator **out, const bb_train_request *request,
                                const bb_roster *roster, const bb_watch *watch,
                                const bb_bytes *saved) {
    bb_train_curator *curator = NULL;
    bb_status status = bb_allocate(&curator, 1, sizeof *curator, "a curator");
    if (status) return status;
    status = bb_allocate(&curator->training, 1, sizeof *curator->training, "a curator");
    if (!status)
        status = bb_place_open(curator->training, request, roster, NULL, watch);
    if (!status) status = open_core(curator, saved);
    if (!status) status = note_promise(curator);
    if (status) bb_place_kept_close(&curator->kept); /* which stays as it was */
    if (status)
        bb_train_curator_close(curator);
    else
        *out = curator;
    return status;
}

void bb_train_curator_close(bb_train_curator *curator) {
    if (!curator) return;
    if (curator->core && bb_curator_is_stopped(curator->core))
        bb_place_kept_remove(&curator->kept);
    bb_curator_close(curator->core);
    bb_record_close(&curator->record);
    bb_place_kept_close(&curator->kept);
    bb_writer_close(&curator->published);
    json_decref(curator->promise);
    if (curator->training) bb_experiment_close_work(&curator->training->e);
    bb_training_close(curator->training);
    free(curator);
}

bb_curator *bb_train_curator_core(bb_train_curator *curator) {
    return curator->core;
}

/* They agree on the run and on what its frames mean: the promise is the same, and what tasks
 * learn at home may not be. */
static void warn_of_versions(const bb_train_curator *curator) {
    char text[200];
    for (uint32_t s = 1; s <= curator->silos; s++) {
        const char *theirs = bb_curator_program(curator->core, s);
        if (!theirs || strcmp(theirs, BB_VERSION) == 0) continue;
        snprintf(
            text, sizeof text,
            "silo %u has billboard %s, this is %s: its tasks may learn other models "
            "than this version would",
            s, theirs, BB_VERSION);
        bb_experiment_warn(&curator->training->e, text);
    }
}

/* Of tasks that a plan names, and that no place has: a name may be wrong, or a place away. To the
 * curator, who has heard who joined, and into no file: whether a task has rows is its own. */
static void warn_of_absence(const bb_train_curator *curator) {
    const bb_experiment *e = &curator->training->e;
    const size_t absent = bb_curator_absent(curator->core);
    char text[160];
    if (!absent) return;
    snprintf(text, sizeof text,
             "%zu of %zu task%s of the plan %s at no place that takes part: nothing is "
             "learned from %s",
             absent, e->run.pub.tasks, bb_plural((double)e->run.pub.tasks),
             absent == 1 ? "is" : "are", absent == 1 ? "it" : "them");
    e->watch->warn(e->watch->self, text);
}

bb_status bb_train_curator_close_round(bb_train_curator *curator) {
    bb_experiment *e = &curator->training->e;
    const bool began = bb_curator_began(curator->core);
    const bb_status status = bb_curator_close_round(curator->core);
    if (!status && !began) {
        warn_of_versions(curator);
        warn_of_absence(curator);
    }
    if (status || bb_curator_now(curator->core) != BB_CURATOR_PUBLISHED) return status;
    for (uint32_t s = 0; s < curator->silos; s++)
        curator->record.answered[s] +=
            bb_curator_member(curator->core, s + 1) == BB_MEMBER_ANSWERED;
    if (bb_experiment_is_open(e)) return BB_OK;
    return bb_rundir_release(&e->dir, bb_curator_release(curator->core),
                             e->run.pub.tasks);
}

bb_status bb_train_curator_keep(bb_train_curator *curator) {
    const bb_training *training = curator->training;
    bb_writer place = {0};
    bb_status status = bb_train_curator_save(curator, &place);
    if (!status) /* what was charged stays so when the result is given away */
        status =
            bb_place_kept_write(&curator->kept, training ? training->e.ledger : NULL,
                                (bb_bytes){place.at, place.length});
    bb_writer_close(&place);
    return status;
}

/* -- what is shown of it -- */

static const char *stage_of(const bb_curator *core) {
    switch (bb_curator_now(core)) {
    case BB_CURATOR_DONE:
        return "over";
    case BB_CURATOR_FAILED:
        return "ended early";
    default:
        return bb_curator_began(core) ? "rounds" : "joining";
    }
}

static const char *member_of(const bb_train_curator *curator, uint32_t place) {
    static const char *const name[] = {[BB_MEMBER_AWAY] = "away",
                                       [BB_MEMBER_JOINED] = "joined",
                                       [BB_MEMBER_ANSWERED] = "answered",
                                       [BB_MEMBER_LEFT] = "left"};
    return name[bb_curator_member(curator->core, place)];
}

/* NULL: there is one door. */
static const char *helper_of(const bb_train_curator *curator) {
    return curator->two_doors ? member_of(curator, curator->silos + 1) : NULL;
}

static json_t *members_of(const bb_train_curator *curator) {
    json_t *list = json_array();
    bool whole = list;
    for (uint32_t s = 1; s <= curator->silos && whole; s++)
        whole = !json_array_append_new(list, json_string(member_of(curator, s)));
    if (whole) return list;
    json_decref(list);
    return NULL;
}

bb_status bb_train_curator_progress(const bb_train_curator *curator, json_t **json) {
    const bb_curator *core = curator->core;
    const bool began = bb_curator_began(core);
    const double share = began && curator->rounds ? 1.0 : 0.0;
    *json =
        json_pack("{s:s,s:b,s:I,s:I,s:I,s:o,s:O,s:o,s:s?}", "state", stage_of(core),
                  "charged", (int)began, "round", (json_int_t)bb_curator_round(core),
                  "rounds", (json_int_t)curator->rounds, "published",
                  (json_int_t)bb_curator_published(core), "epsilon_spent",
                  bb_json_real(share * curator->epsilon), "promise", curator->promise,
                  "silos", members_of(curator), "helper", helper_of(curator));
    return *json ? BB_OK : bb_fail(BB_ENOMEM, "no memory for a curator's progress");
}

void bb_train_curator_forget(bb_train_curator *curator) {
    if (curator->training && bb_curator_now(curator->core) == BB_CURATOR_DONE)
        bb_experiment_mark_done(&curator->training->e);
    bb_place_kept_remove(&curator->kept);
}

bb_status bb_train_curator_result(bb_train_curator *curator, bb_training **out) {
    bb_training *training = curator->training;
    bb_status status = BB_OK;
    if (!training) return bb_fail(BB_EUSAGE, "this curator's result was given already");
    bb_result *result = &training->e.result;
    if (!curator->spent) {
        result->outcome = (bb_outcome){.objective = NAN, .gap = NAN};
        status = bb_curator_result(curator->core, result);
    }
    if (!status && !curator->spent)
        status = put_releases(&training->e.dir, &curator->published);
    if (status) return status;
    curator->spent = true;
    status = bb_record_write(&curator->record, &training->e, "curator",
                             bb_curator_name(curator->core), result->rounds);
    if (!status)
        status = bb_record_add_silos(&curator->record, &training->e, curator->core);
    if (!status) status = bb_place_end(training);
    if (status) return status;
    curator->training = NULL;
    *out = training;
    return BB_OK;
}
