/* A run before anything is charged: its rows, its sizes, its tasks' problems. */
#include "base/memory.h"
#include "base/parallel.h"
#include "data/columns.h"
#include "data/task_names.h"
#include "train/experiment.h"
#include "train/locals.h"
#include "train/run_statement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_BATCH = 10 }; /* images of a step, where nobody says */

/* The network that --net describes, for the images that the rows are. */
static bb_status open_net(bb_experiment *e) {
    const bb_train_options *o = &e->resolved->request->options;
    const bb_dataset *data = &e->population.prepared;
    const bb_image image = {data->height, data->width, data->channels};
    if (!o->net) return BB_OK;
    if (!image.height)
        return bb_fail(BB_EUSAGE,
                       "networks look at images: their shape is not in the data, give "
                       "--image HxWxC");
    bb_status status =
        bb_net_open(&e->net, o->net, image, o->batch ? (size_t)o->batch : DEFAULT_BATCH,
                    e->engine.workers);
    if (status) return status;
    const size_t outputs = bb_net_outputs(e->net), need = e->population.outputs;
    const bool fits =
        e->run.pub.loss == BB_LOSS_SOFTMAX ? outputs >= need : outputs == need;
    if (!fits)
        return bb_fail(BB_EUSAGE,
                       "--net has %zu outputs, and the %s loss needs %zu here", outputs,
                       bb_loss_name(e->run.pub.loss), need);
    e->population.outputs = outputs;
    status = bb_allocate(&e->start, bb_net_parameters(e->net), sizeof *e->start,
                         "the network");
    return status ? status : bb_net_start(e->net, o->start_seed, e->start);
}

/* What the data say about the run. */
static bb_status set_public(bb_experiment *e) {
    bb_public *pub = &e->run.pub;
    const bb_roster *roster = e->resolved->roster;
    pub->tasks = roster ? roster->tasks
                        : bb_dealt_tasks(&e->dealt, e->population.prepared.tasks);
    pub->features = e->population.prepared.features;
    pub->outputs = e->population.outputs;
    pub->cluster = roster ? roster->cluster : e->population.cluster;
    pub->clusters = roster ? (size_t)e->resolved->request->options.clusters
                           : e->population.clusters;
    pub->relations = e->population.relations.rank ? &e->population.relations : NULL;
    pub->start = e->start;
    pub->parameters = bb_model_parameters(pub->features, pub->outputs, e->net);
    if (e->net) pub->trunk = bb_net_trunk(e->net);
    if (e->net && !pub->batch) pub->batch = bb_net_batch(e->net);
    if (!bb_mechanism_is_noisy(e->run.mechanism)) return BB_OK;
    return bb_delta_choose(e->resolved->request->options.delta, pub->tasks,
                           &pub->delta);
}

/* Room for how uncertain every task will be of its model. */
static bb_status open_spread(bb_experiment *e) {
    if (!e->population.prepared.x)
        return bb_fail(BB_EUSAGE, "--intervals needs dense rows, and these are sparse");
    const bb_method *last = e->run.phase[e->run.phases - 1].method;
    const bb_view view = {.method = last, .pub = &e->run.pub};
    const bb_status status =
        bb_allocate(&e->spread, e->population.prepared.tasks,
                    last->spread_length(&view) * sizeof *e->spread, "intervals");
    e->run.spread = e->spread;
    e->run.pub.spread = !status;
    return status;
}

/* Room to see what finished models are in, where they are others than those learned. */
static bb_status open_folded(bb_experiment *e) {
    const bool solved = bb_resolved_is_solved(e->resolved);
    if (!solved && (e->net || !bb_preprocess_is_own(&e->population.steps)))
        return BB_OK;
    const size_t each =
        solved ? e->population.prepared.features : e->run.pub.parameters;
    return bb_allocate(&e->folded, e->engine.workers * each, sizeof *e->folded,
                       "the models");
}

/* Whether a phase reads the tasks' curvature. */
static bool descends(const bb_run *run) {
    for (size_t k = 0; k < run->phases; k++) {
        const bb_view view = {.method = run->phase[k].method,
                              .options = run->phase[k].options,
                              .pub = &run->pub};
        if (view.method->descends && view.method->descends(&view)) return true;
    }
    return false;
}

/* Tasks know in which units of their own their rows are. */
static bb_status lend_own_units(bb_experiment *e) {
    const bb_preprocess *steps = &e->population.steps;
    const size_t d = steps->features;
    bb_status status = BB_OK;
    if (steps->range) status = bb_allocate(&e->ranged, d, sizeof *e->ranged, "columns");
    for (size_t k = 0; e->ranged && k < d; k++)
        e->ranged[k] = bb_preprocess_has_range(steps, k);
    for (size_t i = 0; !status && i < e->population.prepared.tasks; i++) {
        if (steps->factor) e->local[i].own_factor = steps->factor + i * d;
        e->local[i].ranged = e->ranged;
        if (steps->target_unit) e->local[i].own_unit = steps->target_unit[i];
    }
    return status;
}

/* Which ranges nobody need doubt (methods/narrow.h). */
static bb_status lend_zero_one(bb_experiment *e) {
    const bb_preprocess *steps = &e->population.steps;
    if (!steps->features) return BB_OK;
    const bb_status status =
        bb_allocate(&e->ranged, steps->features, sizeof *e->ranged, "columns");
    if (status) return status;
    for (size_t k = 0; k < steps->features; k++)
        e->ranged[k] = bb_preprocess_is_zero_one(steps, k);
    for (size_t i = 0; i < e->population.prepared.tasks; i++)
        e->local[i].zero_one = e->ranged;
    return BB_OK;
}

/* With ranges a task looks at its columns as they were read, too. */
static bb_status lend_ranges(bb_experiment *e) {
    const bb_preprocess *steps = &e->population.steps;
    if (!steps->range || steps->rows != BB_ROWS_BALL || bb_preprocess_is_own(steps) ||
        !e->population.prepared.x)
        return BB_OK;
    const size_t d = steps->features;
    const bb_status status =
        bb_allocate(&e->stretch, 2 * d, sizeof *e->stretch, "columns");
    if (status) return status;
    for (size_t k = 0; k < d; k++) {
        e->stretch[k] = bb_preprocess_stretch(steps, k);
        e->stretch[d + k] = bb_preprocess_shift(steps, k);
    }
    for (size_t i = 0; i < e->population.prepared.tasks; i++) {
        e->local[i].own_factor = e->stretch;
        e->local[i].own_shift = e->stretch + d;
        e->local[i].target_shift = bb_preprocess_target_shift(steps);
    }
    return BB_OK;
}

void bb_experiment_close_tasks(bb_experiment *e) {
    bb_locals_close(e->local, &e->room, e->population.prepared.tasks);
    free(e->key);
    free(e->stretch);
    free(e->ranged);
    free(e->folded);
    free(e->spread);
    e->local = NULL;
    e->key = NULL;
    e->stretch = NULL;
    e->ranged = NULL;
    e->folded = NULL;
    e->spread = NULL;
    e->run.local = NULL;
    e->run.key = NULL;
    e->run.spread = NULL;
}

/* The unit of the last decimal place, the twelfth at most, that numbers are written with. */
static double grain_of(size_t n, const double *y) {
    static const double most = 1e12, rounding = 1e-9;
    double ten = 1.0;
    for (size_t j = 0; j < n; j++)
        for (; ten < most; ten *= 10.0) {
            const double places = y[j] * ten;
            if (fabs(places - round(places)) <= rounding * fabs(places)) break;
        }
    return 1.0 / ten;
}

static void lend_grains(bb_experiment *e) {
    const bb_dataset *train = &e->population.train;
    for (size_t i = 0; i < train->tasks; i++) {
        const size_t first = train->first[i], n = train->first[i + 1] - first;
        const double unit = bb_preprocess_target_unit(&e->population.steps, i);
        if (unit > 0.0) e->local[i].grain = grain_of(n, train->y + first) / unit;
    }
}

static bool has_one_output(bb_loss loss) {
    return loss == BB_LOSS_SQUARED || loss == BB_LOSS_LOGISTIC;
}

bb_status bb_experiment_open_tasks(bb_experiment *e) {
    const bb_dataset *data = &e->population.prepared;
    bb_status status = bb_locals_open(&e->local, &e->room, data, &e->run.pub, e->net,
                                      descends(&e->run), &e->engine);
    if (!status && e->run.pub.own_units) status = lend_own_units(e);
    if (!status && e->run.pub.ranged) status = lend_zero_one(e);
    if (!status && has_one_output(e->run.pub.loss)) status = lend_ranges(e);
    if (!status && e->run.pub.loss == BB_LOSS_SQUARED) lend_grains(e);
    e->run.local = e->local;
    if (!status) status = bb_allocate(&e->key, data->tasks, sizeof *e->key, "tasks");
    for (size_t i = 0; i < data->tasks && !status; i++)
        status = bb_random_key(data->task_name[i], &e->key[i]);
    e->run.key = e->key;
    if (!status) status = open_folded(e);
    if (!status && e->resolved->request->options.intervals) status = open_spread(e);
    return status;
}

/* The threads asked for, or as many as the data keep busy, by their numbers or by tasks: threads
 * that wait for rounds of some microseconds only slow each other down. */
static bb_engine engine_for(const bb_dataset *data, uint64_t threads) {
    const size_t numbers_a_thread = (size_t)1 << 19, tasks_a_thread = (size_t)1 << 9;
    const size_t numbers =
        data->x ? data->rows * data->features : data->sparse_first[data->rows];
    const size_t useful =
        1 + bb_larger(numbers / numbers_a_thread, (size_t)data->tasks / tasks_a_thread);
    bb_engine engine = bb_engine_threads((size_t)threads);
    if (threads == 0 && useful < engine.workers) engine = bb_engine_threads(useful);
    return engine;
}

/* What was seen of all ranks' rows. */
typedef struct seen {
    size_t dropped, rows, long_rows, tasks, single_rows;
} seen;

/* To whoever holds the data, and into no file. */
static void warn_of_dropped_rows(const bb_experiment *e, size_t dropped) {
    char text[100];
    if (!dropped) return;
    snprintf(text, sizeof text, "%zu row%s with a missing value %s left out", dropped,
             bb_plural((double)dropped), dropped == 1 ? "was" : "were");
    e->watch->warn(e->watch->self, text);
}

/* Likewise. */
static bb_status warn_of_texts(const bb_experiment *e) {
    json_t *list = NULL, *text;
    size_t k;
    const bb_status status = bb_text_counts_say(&e->population.texts, &list);
    json_array_foreach(list, k, text) bb_experiment_warn(e, json_string_value(text));
    json_decref(list);
    return status;
}

/* Likewise: whoever takes the wrong column for the tasks has nearly as many as rows. */
static void warn_of_single_rows(const bb_experiment *e, const seen *s) {
    char text[BB_SINGLE_BYTES];
    if (bb_single_rows_say(s->tasks, s->single_rows, text)) bb_experiment_warn(e, text);
}

/* Of all ranks' tasks. */
static bb_status warn_of_names(const bb_experiment *e) {
    const bb_dataset *own = &e->population.prepared;
    char *const *const name = e->dealt.ranks ? e->dealt.task_name : own->task_name;
    json_t *list = NULL, *text;
    size_t k;
    const bb_status status =
        bb_task_names_say(e->dealt.ranks ? e->dealt.tasks : own->tasks, name, &list);
    json_array_foreach(list, k, text) bb_experiment_warn(e, json_string_value(text));
    json_decref(list);
    return status;
}

/* Methods that share through the door are made for rows in the unit ball. */
static void warn_of_long_rows(const bb_experiment *e, size_t long_rows, size_t rows) {
    char text[400];
    const bool own = bb_train_wants_own_units(e->resolved->request);
    if (!long_rows) return;
    snprintf(text, sizeof text,
             "%zu of %zu row%s %s a norm above 1, and %s expects rows in the unit "
             "ball: the privacy promise holds all the same, but the models may be "
             "poor; use public ranges (--scale FILE) or, without any, --standardize %s",
             long_rows, rows, bb_plural((double)rows), long_rows == 1 ? "has" : "have",
             e->run.phase[0].method->name, own ? "auto" : "unit-rows");
    bb_experiment_warn(e, text);
}

/* Whoever has the rows may know it, and nobody else. */
static void warn_of_units(const bb_experiment *e) {
    char text[600];
    if (!e->population.outside) return;
    snprintf(text, sizeof text, "%s: are they in another unit?", e->population.outside);
    bb_experiment_warn(e, text);
}

/* Ranges of all columns may be in a file for several targets, but only "target" is one's. */
static void warn_of_target_range(const bb_experiment *e) {
    const json_t *ranges = e->population.ranges;
    const bb_read_options format = bb_population_reading(e->resolved);
    const char *target = bb_target_option(&format);
    char text[400];
    if (e->run.pub.loss != BB_LOSS_SQUARED || json_object_get(ranges, "target") ||
        !json_object_get(json_object_get(ranges, "columns"), target))
        return;
    snprintf(text, sizeof text,
             "the target has no range: that of \"%.100s\" among the columns is none of "
             "its; say it as \"target\"",
             target);
    bb_experiment_warn(e, text);
}

static void warn_of_data(const bb_experiment *e) {
    if (!bb_mechanism_is_noisy(e->run.mechanism)) return;
    if (e->population.data_ranges)
        bb_experiment_warn(
            e, "the ranges of --scale were taken from the data: this run is not "
               "private");
    if (e->population.data_levels)
        bb_experiment_warn(e, "the levels of --categories were taken from the data "
                              "(\"source\": \"data\"): this run is not private");
    if (e->resolved->request->options.tuned_on_data)
        bb_experiment_warn(e, "options were chosen by looking at the data "
                              "(--tuned-on-data): this run is not private");
}

/* Only one phase publishes, by what stands out of the noise of directions. */
static bool is_foreseen(const bb_experiment *e) {
    const bb_run *run = &e->run;
    size_t publishing = 0;
    for (size_t k = 0; k < run->phases; k++)
        publishing += run->phase[k].method->kind != BB_METHOD_ALONE;
    return bb_mechanism_is_noisy(run->mechanism) && publishing == 1 &&
           run->phase[0].method->foreseen;
}

/* What can be hoped for, before a budget is spent; rows: those that train, where they
 * are all here. */
static void foresee(bb_experiment *e, size_t rows) {
    const bb_public *pub = &e->run.pub;
    char sampling[BB_SAMPLING_TEXT], hope[BB_HOPE_TEXT], text[BB_HOPE_TEXT + 160];
    if (!is_foreseen(e)) return;
    e->report.hope = bb_hope_of(
        pub, rows && !e->resolved->roster ? (double)rows / (double)pub->tasks : NAN);
    e->report.foreseen = true;
    if (!bb_hope_is_poor(&e->report.hope)) return;
    bb_run_sampling(pub, sampling, sizeof sampling);
    bb_hope_say(&e->report.hope, hope);
    snprintf(
        text, sizeof text,
        "beforehand, for %zu task%s at epsilon %g, delta %g, %s, sampling %s%s: %s",
        pub->tasks, bb_plural((double)pub->tasks), pub->epsilon, pub->delta,
        bb_adjacency_name(pub->adjacency), sampling,
        pub->doors > 1 ? ", two doors" : "", hope);
    bb_experiment_warn(e, text);
}

static bb_status open_population(bb_experiment *e) {
    bb_status status = bb_population_open(&e->population, e->resolved, e->source,
                                          e->test_source, &e->dealt);
    e->run = e->resolved->run;
    e->run.engine = &e->engine;
    e->run.memory = (size_t)e->resolved->request->options.memory;
    if (!status) status = bb_experiment_not_stopped(e);
    if (!status)
        e->engine =
            engine_for(&e->population.prepared, e->resolved->request->options.threads);
    if (!status) status = open_net(e);
    if (!status) status = set_public(e);
    return bb_ranks_agree(e->dealt.ranks, status);
}

/* Off the grid ranks have whole chunks of tasks. How many chunks there are follows from
 * sizes that nobody knows before the rows are read: if it is not as usual, because what
 * tasks show is very large, they are dealt once more. */
static bb_status deal_again(bb_experiment *e) {
    size_t chunks = 0;
    if (!e->dealt.ranks || e->run.mechanism->grid) return BB_OK;
    const bb_status status = bb_run_chunks(&e->run, &chunks);
    if (status || chunks == e->dealt.chunks) return status;
    bb_population_close(&e->population);
    bb_net_close(e->net);
    free(e->start);
    e->net = NULL;
    e->start = NULL;
    bb_dealt_close(&e->dealt);
    e->dealt.chunks = chunks;
    return open_population(e);
}

/* Are all of them that are no level the same? Ranks without such a text do not tell. */
static bb_status sum_others(const bb_dealt *dealt, bb_text_count *own, bool any) {
    size_t least = any ? own->other : SIZE_MAX, most = any ? own->other : 0;
    bb_status status = bb_dealt_sum(dealt, BB_OK, &own->differ);
    status = bb_dealt_least(dealt, status, &least);
    status = bb_dealt_most(dealt, status, &most);
    own->differ += least < most;
    return status;
}

/* Of all ranks; those that have read nothing know of no column. */
static bb_status sum_texts(const bb_dealt *dealt, bb_text_counts *texts) {
    size_t columns = texts->columns;
    bb_status status = bb_dealt_most(dealt, BB_OK, &columns);
    for (size_t k = 0; k < columns && !status; k++) {
        bb_text_count count = {0}, *own = texts->columns ? &texts->count[k] : &count;
        status = bb_dealt_sum(dealt, status, &own->texts);
        const bool any = own->unknown;
        status = bb_dealt_sum(dealt, status, &own->unknown);
        if (!status) status = sum_others(dealt, own, any);
    }
    return status;
}

/* Who waits is told of all ranks' rows. */
static bb_status sum_up(bb_experiment *e, seen *s) {
    const bool looks = e->run.phase[0].method->kind == BB_METHOD_PRIVATE &&
                       !e->run.phase[0].method->long_rows && !e->net;
    *s = (seen){.dropped = e->population.dropped,
                .rows = e->population.prepared.rows,
                .long_rows = looks ? bb_population_long_rows(&e->population) : 0,
                .tasks = e->population.tasks,
                .single_rows = e->population.single_rows};
    size_t *const count[] = {&s->dropped, &s->rows, &s->long_rows, &s->tasks,
                             &s->single_rows};
    bb_status status = BB_OK;
    for (size_t k = 0; k < sizeof count / sizeof *count; k++)
        status = bb_dealt_sum(&e->dealt, status, count[k]);
    return status ? status : sum_texts(&e->dealt, &e->population.texts);
}

bb_status bb_experiment_prepare(bb_experiment *e) {
    const double start = bb_experiment_now();
    seen s;
    bb_experiment_say(e, "reading");
    e->dealt.grid = e->resolved->run.mechanism->grid;
    bb_status status = open_population(e);
    if (!status) status = deal_again(e);
    e->report.seconds_read = bb_experiment_now() - start;
    if (!status) status = sum_up(e, &s);
    if (status) return status;
    foresee(e, s.rows);
    if (!e->watch->warn) return BB_OK;
    warn_of_dropped_rows(e, s.dropped);
    warn_of_single_rows(e, &s);
    warn_of_units(e);
    warn_of_target_range(e);
    status = warn_of_names(e);
    if (!status) status = warn_of_texts(e);
    if (status) return status;
    warn_of_long_rows(e, s.long_rows, s.rows);
    warn_of_data(e);
    return bb_run_warnings(&e->run, e->watch->warn, e->watch->self);
}
