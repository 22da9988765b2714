#include "train/place.h"

#include "base/memory.h"
#include "linalg/linalg.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one process would look for in all rows, or do with them. */
static bb_status check_options(const bb_resolved *c, const bb_roster *roster) {
    const bb_train_options *o = &c->request->options;
    const bb_loss loss = c->run.pub.loss;
    if (o->compare)
        return bb_fail(BB_EUSAGE, "--compare looks at the rows of all tasks, which no "
                                  "place of this run has: leave it out");
    if (o->output)
        return bb_fail(BB_EUSAGE, "--output: what a silo or a curator found is in "
                                  "memory, and saved from there: leave it out");
    if (o->resume)
        return bb_fail(BB_EUSAGE, "--resume is for runs in one process: a place whose "
                                  "--checkpoint is there goes on from it");
    if (!bb_loss_is_single(loss) && !o->classes &&
        (!o->net || loss == BB_LOSS_MULTILABEL))
        return bb_fail(BB_EUSAGE,
                       "every silo must be told how many classes or labels there are: "
                       "--classes N");
    if (o->net && !o->image)
        return bb_fail(BB_EUSAGE,
                       "every place must be told what images are: --image HxWxC");
    if (roster->target && o->target && strcmp(o->target, roster->target) != 0)
        return bb_fail(BB_EUSAGE,
                       "--target %s: the target that all places have agreed on is "
                       "\"%s\"; only where none is named each may call it otherwise",
                       o->target, roster->target);
    if (o->doors > 1 && !roster->identity)
        return bb_fail(BB_EUSAGE,
                       "two doors need keys at all places, and a roster that "
                       "names the helper: --key and --roster");
    if (o->graph) return bb_fail(BB_EUSAGE, "--graph needs all rows in one place");
    if (o->cluster && !o->clusters)
        return bb_fail(BB_EUSAGE,
                       "every place must be told how many clusters there are, numbered "
                       "from 0 in column \"%s\": --clusters N",
                       o->cluster);
    if ((o->cluster != NULL) == (roster->cluster != NULL)) return BB_OK;
    return bb_fail(BB_EUSAGE, o->cluster
                                  ? "--cluster: the roster must say the cluster of "
                                    "every task"
                                  : "the roster says clusters of tasks: name "
                                    "their column, --cluster COLUMN");
}

static bb_status check_clusters(const bb_resolved *c, const bb_roster *roster) {
    const size_t clusters = (size_t)c->request->options.clusters;
    for (size_t i = 0; roster->cluster && i < roster->tasks; i++)
        if (roster->cluster[i] >= clusters)
            return bb_fail(BB_EUSAGE,
                           "the roster: task %s is in cluster %u; --clusters says that "
                           "they are 0 to %zu",
                           roster->task_name[i], roster->cluster[i], clusters - 1);
    return BB_OK;
}

/* How rows are prepared, and what they call the target: it is not sent, but must be the same
 * everywhere. */
static bb_status agree(bb_experiment *e) {
    static const char *const how[] = {"none", "unit-rows", "task", "magnitude"};
    const bb_train_options *o = &e->resolved->request->options;
    json_t *json =
        json_pack("{s:s,s:O?,s:O?}", "standardize", how[o->standardize], "scale",
                  e->population.ranges, "categories", e->population.levels);
    const char *target = e->resolved->roster->target;
    bb_status status =
        !json || (target && json_object_set_new(json, "target", json_string(target)))
            ? bb_fail(BB_ENOMEM, "no memory for a roster")
            : BB_OK;
    if (!status) status = bb_roster_digest(e->resolved->roster, json, e->agreed);
    json_decref(json);
    e->run.agreed = e->agreed;
    return status;
}

bb_status bb_place_prepare(bb_training *t, const bb_train_request *request,
                           const bb_roster *roster, const bb_source *data,
                           const bb_watch *watch) {
    bb_experiment *e = &t->e;
    *e = (bb_experiment){.watch = watch, .resolved = &t->resolved, .source = data};
    bb_status status = bb_linalg_ready();
    if (!status) status = bb_resolve(request, &t->resolved);
    t->resolved.roster = roster;
    if (!status) status = check_options(&t->resolved, roster);
    if (!status) status = check_clusters(&t->resolved, roster);
    if (!status) status = bb_experiment_prepare(e);
    if (!status) status = agree(e);
    return status ? status : bb_rundir_keep(&e->dir);
}

bb_status bb_place_open(bb_training *t, const bb_train_request *request,
                        const bb_roster *roster, const bb_source *data,
                        const bb_watch *watch) {
    const bb_train_options *o = &request->options;
    bb_experiment *e = &t->e;
    bb_status status = bb_place_prepare(t, request, roster, data, watch);
    return status ? status
                  : bb_resolve_ledger(o, e->run.pub.tasks, e->run.pub.adjacency,
                                      &e->ledger);
}

/* It may be in another folder, and have counted much. */
static void warn_of_new_ledger(const bb_experiment *e) {
    const char *ledger = e->resolved->request->options.ledger;
    char text[PATH_MAX + 200], here[PATH_MAX] = "";
    const bool whole = *ledger == '/' || !getcwd(here, sizeof here);
    snprintf(text, sizeof text,
             "there is no ledger %s%s%s yet: it is begun when this run is charged",
             here, whole ? "" : "/", ledger);
    e->watch->warn(e->watch->self, text);
}

bb_status bb_place_warn_of_charge(const bb_experiment *e) {
    bb_ledger_entry *entry = NULL;
    size_t count = 0;
    char name[BB_RUN_NAME], text[400];
    if (!e->ledger || bb_ledger_reserved(e->ledger)) return BB_OK;
    if (bb_ledger_is_new(e->ledger)) warn_of_new_ledger(e);
    const bb_status status = bb_ledger_entries(e->ledger, &entry, &count);
    bb_run_name(e->run.phases, e->run.phase, name);
    for (size_t k = count; k-- > 0;) {
        const bb_ledger_entry *was = &entry[k];
        if (was->state == BB_LEDGER_DONE || strcmp(was->description, name) != 0 ||
            was->epsilon != e->run.pub.epsilon || was->delta != e->run.pub.delta)
            continue;
        snprintf(
            text, sizeof text,
            "entry %lld of the ledger, of %s, is such a run that has not ended "
            "(%s): it stays charged, and this one begins anew and will be charged "
            "beside it. If it is to go on with that one, stop it, and start it with "
            "the checkpoint of that one",
            was->id, was->time, bb_ledger_state_name(was->state));
        e->watch->warn(e->watch->self, text);
        break;
    }
    bb_ledger_entries_free(entry, count);
    return status;
}

bb_status bb_place_end(bb_training *t) {
    bb_experiment *e = &t->e;
    const bool rows = e->population.prepared.tasks > 0;
    bb_status status = bb_experiment_keep(e);
    if (!status) status = bb_experiment_fill_report(e);
    if (status) return status;
    e->dir.note = e->report.note;
    if (rows) {
        bb_experiment_evaluate(e);
    } else {
        e->report.tasks = e->run.pub.tasks;
        e->report.train = e->report.test = bb_no_metrics();
        e->report.per_task = (bb_summary){0, NAN, NAN, NAN};
    }
    bb_ledger *kept = NULL;
    if (e->resolved->request->options.checkpoint) {
        kept = e->ledger;
        e->ledger = NULL;
    }
    bb_experiment_mark_done(e);
    bb_experiment_close_work(e);
    e->ledger = kept;
    e->run.agreed = NULL;
    e->run.pub.cluster = NULL;
    e->watch = &t->watch;
    t->resolved.roster = NULL;
    return BB_OK;
}
