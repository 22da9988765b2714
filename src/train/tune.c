#include "train/tune.h"

#include "base/memory.h"
#include "linalg/linalg.h"
#include "train/population.h"
#include "train/resolve.h"

#include <locale.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *metric_of(bb_loss loss) {
    switch (loss) {
    case BB_LOSS_SQUARED:
        return "nmse";
    case BB_LOSS_MULTILABEL:
        return "1-f1";
    default:
        return "log_loss";
    }
}

static double loss_of(const bb_metrics *m, bb_loss loss) {
    double value = m->log_loss;
    if (loss == BB_LOSS_SQUARED) value = m->nmse;
    if (loss == BB_LOSS_MULTILABEL) value = 1.0 - m->f1;
    return isfinite(value) ? value : INFINITY;
}

/* -- requests -- */

static bb_status open_request(const bb_tune *t, size_t setting, bool whole,
                              bb_train_request *out) {
    const bb_setting *s = &t->settings->at[setting];
    bb_train_flag *flag = NULL;
    size_t flags = 0;
    bb_status status =
        bb_allocate(&flag, t->flags + s->flags, sizeof *flag, "flags of a run");
    if (status) return status;
    for (size_t f = 0; f < t->flags; f++)
        if (whole || !bb_train_is_of_one_run(t->flag[f].name))
            flag[flags++] = t->flag[f];
    for (size_t f = 0; f < s->flags; f++) flag[flags++] = s->flag[f];
    status = bb_train_resolve(out, flag, flags);
    free(flag);
    return status;
}

/* What a config file says of such options is left out, too. */
static bb_status leave_out(bb_train_request *r) {
    json_t *none = json_pack("{s:n,s:n,s:n,s:n,s:n}", "ledger", "checkpoint", "compare",
                             "output", "seed");
    const bb_status status =
        none ? bb_options_set_json(bb_train_table(), &r->options, "tune", none)
             : bb_fail(BB_ENOMEM, "no memory for the options");
    json_decref(none);
    r->options.threads = 1;
    r->options.trace = false;
    r->in_memory = true;
    r->held_out = true;
    return status;
}

bb_status bb_tune_whole(const bb_tune *t, size_t setting, bb_train_request *out) {
    return open_request(t, setting, true, out);
}

bb_status bb_tune_request(const bb_tune *t, size_t setting, const uint64_t *seed,
                          bb_train_request *out) {
    char number[24];
    bb_train_request r = {0};
    bb_status status = open_request(t, setting, false, &r);
    if (!status) status = leave_out(&r);
    if (seed) snprintf(number, sizeof number, "%llu", (unsigned long long)*seed);
    if (!status && seed)
        status = bb_options_set(bb_train_table(), &r.options, "tune", "seed", number);
    if (status)
        bb_train_request_free(&r);
    else
        *out = r;
    return status;
}

bb_status bb_tune_config(const bb_tune *t, size_t setting, bool from_data,
                         json_t **config) {
    bb_train_request r = {0};
    bb_status status = open_request(t, setting, false, &r);
    if (status) return status;
    r.options.tuned_on_data = r.options.tuned_on_data || from_data;
    json_t *all = bb_train_json(&r, false), *kept = json_object();
    const char *name;
    json_t *value;
    json_object_foreach(all, name, value) {
        if (!bb_train_is_of_one_run(name) && json_object_set(kept, name, value))
            status = BB_ENOMEM;
    }
    bb_train_request_free(&r);
    if (!all || !kept || status)
        status = bb_fail(BB_ENOMEM, "no memory for a configuration");
    json_decref(all);
    if (status)
        json_decref(kept);
    else
        *config = kept;
    return status;
}

bb_status bb_tune_check(const bb_tune *t, bb_tried *tried, size_t *setting,
                        size_t *count, bb_loss *loss) {
    bb_status status = BB_OK;
    *count = 0;
    for (size_t k = 0; k < t->settings->count; k++) {
        bb_train_request r = {0};
        bb_resolved resolved;
        tried[k] = (bb_tried){.mean = INFINITY};
        status = bb_tune_request(t, k, &t->seed, &r);
        if (!status) status = bb_resolve(&r, &resolved);
        if (!status) *loss = resolved.run.pub.loss;
        bb_train_request_free(&r);
        if (!status)
            setting[(*count)++] = k;
        else if (status == BB_EUSAGE)
            snprintf(tried[k].failure, sizeof tried->failure, "%s", bb_last_error());
        else
            return status;
    }
    return *count ? BB_OK : status;
}

/* -- rows -- */

bb_status bb_tune_rows_open(const bb_tune *t, size_t setting, bb_tune_rows *out) {
    const bb_source *data = t->data;
    bb_resolved resolved;
    bb_tune_rows r = {.source = *data};
    bb_status status = bb_tune_request(t, setting, &t->seed, &r.request);
    if (!status) status = bb_resolve(&r.request, &resolved);
    if (!status) r.as = bb_population_reading(&resolved);
    if (!status) status = bb_source_read(data, &r.as, &r.rows);
    if (status) {
        bb_train_request_free(&r.request);
        return status;
    }
    *out = r;
    if (data->path)
        out->source =
            (bb_source){.path = data->path, .rows = &out->rows, .as = &out->as};
    return BB_OK;
}

void bb_tune_rows_close(bb_tune_rows *rows) {
    bb_dataset_free(&rows->rows);
    bb_train_request_free(&rows->request);
}

/* -- runs -- */

/* How a run ended. */
typedef struct ended {
    bb_status status;
    char message[200];
} ended;

/* So many settings, on some more folds. */
typedef struct rung {
    const bb_tune *tune;
    const bb_source *data;
    const bb_watch *watch;
    bb_tried *tried;
    const size_t *setting; /* which of them */
    unsigned from, folds;
    bb_loss loss;
    ended *ended; /* runs: those of a setting behind each other */
    atomic_uint done;
    uint32_t all;
    locale_t locale; /* of the call: workers have it, too */
} rung;

static bb_status run_one(const rung *g, size_t setting, unsigned fold) {
    const bb_watch silent = {.stop = g->watch->stop};
    bb_train_request r = {0};
    bb_training *training = NULL;
    const uint64_t seed = g->tune->seed + fold;
    bb_status status = bb_tune_request(g->tune, setting, &seed, &r);
    r.fold = fold;
    if (!status) status = bb_training_open(&training, &r, g->data, NULL, &silent, NULL);
    if (!status)
        g->tried[setting].loss[fold] =
            loss_of(&bb_training_report(training)->test, g->loss);
    bb_training_close(training);
    bb_train_request_free(&r);
    return status;
}

static void run_item(void *context, size_t item, size_t worker) {
    rung *g = context;
    const unsigned folds = g->folds - g->from;
    const size_t setting = g->setting[item / folds];
    const unsigned fold = g->from + (unsigned)(item % folds);
    const locale_t before = uselocale(g->locale);
    ended *e = &g->ended[item];
    e->status = run_one(g, setting, fold);
    if (e->status) {
        g->tried[setting].loss[fold] = INFINITY;
        snprintf(e->message, sizeof e->message, "%s", bb_last_error());
    }
    const unsigned done = atomic_fetch_add(&g->done, 1) + 1;
    if (worker == 0 && g->watch->progress)
        g->watch->progress(g->watch->self, done, g->all);
    uselocale(before);
}

/* A setting that fails is out; a failure that is not the setting's ends all. */
static bb_status look_at(const rung *g, size_t items) {
    const unsigned folds = g->folds - g->from;
    for (size_t i = 0; i < items; i++) {
        const ended *e = &g->ended[i];
        bb_tried *t = &g->tried[g->setting[i / folds]];
        if (e->status && e->status != BB_EUSAGE && e->status != BB_ENUMERIC)
            return bb_fail(e->status, "%s", e->message);
        if (e->status) memcpy(t->failure, e->message, sizeof t->failure);
    }
    return BB_OK;
}

static void take_mean(bb_tried *tried, unsigned folds) {
    tried->folds = folds;
    tried->mean = 0.0;
    for (unsigned f = 0; f < folds; f++) tried->mean += tried->loss[f] / folds;
}

static bb_status climb(rung *g, size_t count, unsigned folds) {
    const bb_engine engine = bb_engine_threads(g->tune->at_once);
    g->from = g->folds;
    g->folds = folds;
    const size_t items = count * (folds - g->from);
    bb_status status = bb_allocate(&g->ended, items, sizeof *g->ended, "runs");
    if (status) return status;
    engine.each(&engine, items, run_item, g);
    status = look_at(g, items);
    free(g->ended);
    for (size_t k = 0; k < count; k++) take_mean(&g->tried[g->setting[k]], folds);
    return status;
}

/* The first `keep` of the settings become the best, in their order. */
static void select_best(const bb_tried *tried, size_t *setting, size_t count,
                        size_t keep) {
    for (size_t k = 0; k < keep; k++) {
        size_t best = k;
        for (size_t j = k + 1; j < count; j++)
            if (tried[setting[j]].mean < tried[setting[best]].mean) best = j;
        const size_t chosen = setting[best];
        memmove(setting + k + 1, setting + k, (best - k) * sizeof *setting);
        setting[k] = chosen;
    }
}

static size_t half(size_t count) {
    return (count + 1) / 2;
}

enum { FEW = 4 }; /* settings that are tried on all folds at once */

static uint32_t count_runs(size_t count) {
    size_t runs = 0;
    unsigned folds = 1;
    for (; folds <= 2 && count > FEW; folds++, count = half(count)) runs += count;
    return (uint32_t)(runs + count * (BB_TUNE_FOLDS + 1 - folds));
}

static bb_status halve(rung *g, size_t *setting, size_t count) {
    bb_status status = BB_OK;
    g->all = count_runs(count);
    for (unsigned folds = 1; folds <= 2 && count > FEW && !status; folds++) {
        status = climb(g, count, folds);
        select_best(g->tried, setting, count, half(count));
        count = half(count);
    }
    if (!status) status = climb(g, count, BB_TUNE_FOLDS);
    select_best(g->tried, setting, count, 1);
    return status;
}

bb_status bb_tune_run(const bb_tune *t, const bb_watch *watch, bb_tried *tried,
                      bb_tuned *tuned) {
    size_t *setting = NULL, count = 0;
    bb_tune_rows rows = {.source = *t->data};
    rung g = {.tune = t, .data = &rows.source, .watch = watch, .tried = tried};
    bb_status status = bb_linalg_ready();
    if (!status)
        status = bb_allocate(&setting, t->settings->count, sizeof *setting, "settings");
    if (!status) status = bb_tune_check(t, tried, setting, &count, &g.loss);
    g.setting = setting;
    g.locale = uselocale(NULL);
    /* where the first setting's rows cannot be read every run says so for itself */
    if (!status && t->data->path && bb_tune_rows_open(t, setting[0], &rows))
        rows.source = *t->data;
    if (!status) status = halve(&g, setting, count);
    if (!status) *tuned = (bb_tuned){setting[0], metric_of(g.loss)};
    free(setting);
    bb_tune_rows_close(&rows);
    if (status) return status;
    const bb_tried *best = &tried[tuned->best];
    if (best->mean < INFINITY) return BB_OK;
    return bb_fail(BB_EUSAGE, "tune: no setting gave a finite result%s%s",
                   *best->failure ? ": " : "", best->failure);
}
