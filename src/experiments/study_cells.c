/* Cells: what is wanted, whoever runs it, and what is kept of it. */
#include "base/json.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "experiments/cell.h"
#include "experiments/commit.h"
#include "experiments/study_inside.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What every training run is asked: its promise whole, and its figures. */
static const struct {
    const char *column, *path;
} usual[] = {{"claimed_epsilon", "privacy.guarantees.0.claimed_epsilon"},
             {"claimed_delta", "privacy.guarantees.0.claimed_delta"},
             {"true_delta_at_least", "privacy.guarantees.0.true_delta_at_least"},
             {"adjacency", "privacy.guarantees.0.adjacency"},
             {"sampling", "privacy.guarantees.0.sampling"},
             {"mechanism", "privacy.mechanism"},
             {"noise_multiplier", "privacy.guarantees.0.noise_multiplier"},
             {"rounds_run", "rounds"},
             {"metric", "metric"},
             {"test", "test_value"},
             {"train", "train_value"},
             {"median_task", "per_task.median"},
             {"rmse", "test.rmse"},
             {"auc", "test.auc"},
             {"accuracy", "test.accuracy"},
             {"log_loss", "test.log_loss"},
             {"alone", "alone"},
             {"pooled", "pooled"},
             {"mixed", "mixed"},
             {"no_privacy", "no_privacy"}};
enum { USUAL = sizeof usual / sizeof *usual };

static bb_status no_memory(void) {
    return bb_fail(BB_ENOMEM, "no memory for the cells of an experiment");
}

static bool trains(const bb_study *s) {
    return strcmp(s->groups.run, "train") == 0;
}

static bool keep_one(json_t *result, const char *column, const json_t *answer,
                     const char *path) {
    const json_t *value = bb_json_at(answer, path);
    return !json_object_set_new(result, column,
                                value ? json_deep_copy(value) : json_null());
}

/* Of every round the columns that are asked for. */
static bool keep_rounds(json_t *result, const json_t *columns, const json_t *trace) {
    json_t *rounds = json_array();
    bool whole = rounds && !json_object_set_new(result, "rounds", rounds);
    for (size_t k = 0; k < json_array_size(trace) && whole; k++) {
        json_t *line = json_object();
        whole = !json_array_append_new(rounds, line) &&
                keep_one(line, "round", json_array_get(trace, k), "round");
        for (size_t c = 0; c < json_array_size(columns) && whole; c++) {
            const char *name = json_string_value(json_array_get(columns, c));
            whole = !name || keep_one(line, name, json_array_get(trace, k), name);
        }
    }
    return whole;
}

/* The columns that are kept of every answer, and what the definition adds. */
static bb_status keep(const bb_study *s, const json_t *answer, json_t **out) {
    const json_t *columns = json_object_get(s->definition, "trace");
    const char *column;
    json_t *path, *result = json_object();
    bool whole = result != NULL;
    for (size_t k = 0; k < USUAL && whole && trains(s); k++)
        whole = keep_one(result, usual[k].column, answer, usual[k].path);
    json_object_foreach(json_object_get(s->definition, "keep"), column, path) {
        const char *text = json_string_value(path);
        if (whole && text) whole = keep_one(result, column, answer, text);
    }
    if (whole && columns)
        whole = keep_rounds(result, columns, json_object_get(answer, "trace"));
    if (!whole) {
        json_decref(result);
        return no_memory();
    }
    *out = result;
    return BB_OK;
}

/* -- what is wanted -- */

/* Cells of folds say which, and those with settings that folds have chosen what they are:
 * not private. */
static json_t *what_of(const bb_study *s, const bb_wanted *cell) {
    const bb_group *group = &s->groups.group[cell->group];
    json_t *what = bb_group_cell(&s->groups, group, cell->candidate, cell->seed);
    json_t *options = json_object_get(what, "options");
    const bool marked = bb_study_folds(s) && group->candidates && trains(s);
    bool whole = what != NULL;
    if (whole && cell->fold)
        whole = !json_object_set_new(what, "fold", json_integer(cell->fold));
    if (whole && marked)
        whole = !json_object_set_new(options, "tuned-on-data", json_true());
    if (whole) return what;
    json_decref(what);
    return NULL;
}

bb_status bb_study_want(const bb_study *s, bb_wanted *cell) {
    json_t *what = what_of(s, cell);
    const json_t *keep = json_object_get(s->definition, "keep"),
                 *trace = json_object_get(s->definition, "trace");
    json_t *key = json_pack("{s:s,s:O?,s:O?,s:O?}", "version", BB_VERSION, "cell", what,
                            "keep", keep, "trace", trace);
    cell->cell = what;
    cell->key = key ? bb_json_text(key, 0) : NULL;
    json_decref(key);
    return what && cell->key ? BB_OK : no_memory();
}

void bb_wanted_close(bb_wanted *cell, size_t cells) {
    for (size_t k = 0; cell && k < cells; k++) {
        free(cell[k].key);
        json_decref(cell[k].cell);
        json_decref(cell[k].result);
    }
    free(cell);
}

/* -- running -- */

/* What the threads of one batch share. */
typedef struct batch {
    bb_study *study;
    bb_wanted *cell;
    size_t *missing; /* their places in `cell` */
    locale_t locale; /* of the caller: threads have the process's */
    atomic_size_t done;
    atomic_int failed; /* a bb_status that ends the experiment */
    char message[600]; /* of it; written by whoever sets it */
} batch;

/* Of the processor: a cell has one thread. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bb_status answer_of(const bb_study *s, const json_t *cell, json_t **answer) {
    const bb_cell_place place = {s->request->data, s->watch->stop};
    if (trains(s)) return bb_cell_train(cell, &place, answer);
    for (size_t k = 0; k < s->request->runners; k++)
        if (strcmp(s->request->runner[k].name, s->groups.run) == 0)
            return s->request->runner[k].run(json_object_get(cell, "options"), answer);
    return bb_fail(BB_EUSAGE, "an experiment cannot run \"%s\"", s->groups.run);
}

/* What a cell cannot help: no table should have it. */
static bool ends_all(bb_status status) {
    return status == BB_EINTERRUPTED || status == BB_ENOMEM || status == BB_EIO;
}

static bb_status run_cell(const bb_study *s, bb_wanted *wanted) {
    const double start = now();
    json_t *answer = NULL, *result = NULL;
    bb_status status = answer_of(s, wanted->cell, &answer);
    if (status && !ends_all(status)) {
        result = json_pack("{s:s}", "error", bb_last_error());
        status = result ? BB_OK : no_memory();
    } else if (!status)
        status = keep(s, answer, &result);
    json_decref(answer);
    if (!status && json_object_set_new(result, "commit", json_string(BB_COMMIT)))
        status = no_memory();
    char *text = status ? NULL : bb_json_text(result, 0);
    if (!status && !text) status = no_memory();
    if (!status)
        status = bb_registry_put(s->registry, wanted->key, text, now() - start);
    free(text);
    if (status)
        json_decref(result);
    else
        wanted->result = result;
    return status;
}

static void work(void *context, size_t item, size_t worker) {
    batch *b = context;
    bb_study *s = b->study;
    const locale_t before = uselocale(b->locale);
    bb_status status = BB_OK;
    int none = BB_OK;
    if (s->watch->stop && *s->watch->stop) status = BB_EINTERRUPTED;
    if (!status && atomic_load(&b->failed) == BB_OK)
        status = run_cell(s, &b->cell[b->missing[item]]);
    if (status && atomic_compare_exchange_strong(&b->failed, &none, (int)status))
        snprintf(b->message, sizeof b->message, "%s",
                 status == BB_EINTERRUPTED ? "interrupted" : bb_last_error());
    const size_t done = atomic_fetch_add(&b->done, 1) + 1;
    if (worker == 0 && s->watch->progress && !status)
        s->watch->progress(s->watch->self, "cell", (uint32_t)(s->done + done),
                           (uint32_t)s->all);
    uselocale(before);
}

/* What the registry has; the others' places in *missing. */
static bb_status look_up(bb_study *s, bb_wanted *cell, size_t cells, size_t *missing,
                         size_t *count) {
    bb_status status = BB_OK;
    for (size_t k = 0; k < cells && !status; k++) {
        char *text = NULL;
        status = bb_registry_get(s->registry, cell[k].key, &text);
        if (text) cell[k].result = json_loads(text, 0, NULL);
        if (text && !cell[k].result)
            status = bb_fail(BB_EDATA, "the registry of cells is damaged");
        if (!status && !text) missing[(*count)++] = k;
        free(text);
    }
    return status;
}

bb_status bb_study_cells(bb_study *s, bb_wanted *cell, size_t cells) {
    const bb_engine engine = bb_engine_threads(s->request->threads);
    batch b = {.study = s, .cell = cell, .locale = uselocale((locale_t)0)};
    size_t count = 0;
    bb_status status =
        bb_allocate(&b.missing, cells, sizeof *b.missing, "the cells of an experiment");
    if (!status) status = look_up(s, cell, cells, b.missing, &count);
    s->done += cells - count;
    if (!status) engine.each(&engine, count, work, &b);
    s->done += count;
    if (!status && atomic_load(&b.failed))
        status = bb_fail((bb_status)atomic_load(&b.failed), "%s", b.message);
    free(b.missing);
    return status;
}
