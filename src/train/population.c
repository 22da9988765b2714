#include "train/population.h"

#include "base/memory.h"
#include "data/encode.h"
#include "data/names.h"
#include "data/split.h"
#include "train/clusters.h"
#include "train/crossval.h"
#include "train/graph.h"
#include "train/outside.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bb_read_options bb_population_format(const bb_train_options *o) {
    return (bb_read_options){.format = (bb_format)o->format,
                             .task = o->task,
                             .target = o->target,
                             .features = o->features,
                             .ignore = o->ignore,
                             .separator = o->separator,
                             .missing = o->missing,
                             .categories = o->categories,
                             .labels = o->labels,
                             .tasks = o->tasks,
                             .image = o->image,
                             .memory = (size_t)o->memory,
                             .threads = (size_t)o->threads,
                             .multilabel = o->loss == BB_LOSS_MULTILABEL,
                             .outputs = (size_t)o->classes};
}

bb_read_options bb_population_reading(const bb_resolved *c) {
    bb_read_options format = bb_population_format(&c->request->options);
    format.public_shape = bb_mechanism_is_noisy(c->run.mechanism) || c->roster;
    /* a column that is no pixel is still there */
    if (c->request->options.cluster) format.image = NULL;
    return format;
}

/* Where a table's target is no class, its classes may have other names. */
static bb_status hint_at_names(bb_status status, const bb_train_options *o,
                               const bb_dataset *data) {
    char said[1000];
    if (status != BB_EDATA || !data->target_column || o->categories) return status;
    snprintf(said, sizeof said, "%s", bb_last_error());
    return bb_fail(status,
                   "%s; classes may have other names: --categories "
                   "'{\"%s\": [\"1\", \"2\"]}', say",
                   said, data->target_name);
}

/* Targets of the logistic loss, by all ranks. */
static bb_status take_labels(const bb_dealt *dealt, const bb_train_options *o,
                             bb_dataset *data) {
    size_t line[2] = {SIZE_MAX, SIZE_MAX};
    bb_status status = hint_at_names(bb_dataset_label_check(data, line), o, data);
    status = bb_dealt_least(dealt, status, &line[0]);
    status = bb_dealt_least(dealt, status, &line[1]);
    if (!status && dealt->ranks) status = bb_dataset_label_conflict(data, line);
    if (!status) bb_dataset_labels(data, data->y);
    return status;
}

/* How many classes or labels there are, in the rows of all ranks. */
static bb_status count_outputs(const bb_dealt *dealt, const bb_resolved *c,
                               bb_dataset *data, size_t *outputs) {
    const bb_loss loss = c->run.pub.loss;
    bb_status status = BB_OK;
    if (loss == BB_LOSS_MULTILABEL) *outputs = data->labels;
    if (loss == BB_LOSS_SOFTMAX)
        status = hint_at_names(bb_dataset_class_check(data, outputs),
                               &c->request->options, data);
    status = bb_dealt_most(dealt, status, outputs);
    if (!status && loss == BB_LOSS_MULTILABEL && !*outputs)
        status = bb_fail(BB_EDATA, "%s: no row has a label", data->source);
    if (data->label_first) data->labels = *outputs;
    return status;
}

/* Targets as the loss has them; outputs: of the rows that were read before, or 0. */
static bb_status read_rows(const bb_resolved *c, bb_dealt *dealt, size_t *outputs,
                           const bb_source *source, bool test, bb_dataset *out) {
    const bb_loss loss = c->run.pub.loss;
    bb_read_options format = bb_population_reading(c);
    bb_dataset data = {0};
    if (test) format.labels = format.tasks = NULL; /* those are the data's */
    if (dealt->ranks) format.memory = 0; /* what is read goes from rank to rank */
    if (*outputs)
        format.outputs = *outputs;
    else
        *outputs = format.outputs; /* --classes */
    bb_status status = bb_dealt_read(dealt, source, &format, &data);
    if (status) return status;
    if (loss == BB_LOSS_LOGISTIC)
        status = take_labels(dealt, &c->request->options, &data);
    if (bb_loss_is_single(loss))
        *outputs = 1;
    else
        status = count_outputs(dealt, c, &data, outputs);
    status = bb_dealt_exchange(dealt, status, &data);
    data.memory = (size_t)c->request->options.memory;
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}

/* Names of the same tasks are held once, by the training rows. */
static void lend_names(const bb_dataset *train, bb_dataset *other) {
    if (train->tasks != other->tasks || train->task_name == other->task_name) return;
    for (size_t i = 0; i < train->tasks; i++)
        if (strcmp(train->task_name[i], other->task_name[i]) != 0) return;
    free(other->task_name);
    other->task_name = train->task_name;
}

static void return_names(const bb_dataset *train, bb_dataset *other) {
    if (other->task_name == train->task_name) other->task_name = NULL;
}

/* No row, and the features that were agreed on. */
static bb_status read_nothing(const bb_resolved *c, size_t *outputs, bb_dataset *out) {
    const bb_train_options *o = &c->request->options;
    const bb_loss loss = c->run.pub.loss;
    const bb_roster *roster = c->roster;
    size_t none = 0;
    char source[] = "the roster", target[] = "y";
    const bb_dataset like = {.source = source,
                             .target_name = target,
                             .label_first = loss == BB_LOSS_MULTILABEL ? &none : NULL,
                             .labels = (size_t)o->classes};
    const bb_shape shape = {.features = roster->features,
                            .feature_name = roster->feature_name};
    bb_dataset data = {0};
    bb_status status = bb_dataset_open(&data, &like, shape);
    const bb_read_options format = bb_population_reading(c);
    if (!status)
        status = bb_encoding_binary(&format, roster->features, roster->feature_name,
                                    &data.binary);
    *outputs = (size_t)o->classes;
    if (!status && loss == BB_LOSS_SOFTMAX)
        status = bb_dataset_class_check(&data, outputs);
    if (bb_loss_is_single(loss)) *outputs = 1;
    if (!status && o->image) status = bb_read_image(o->image, &data);
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}

/* Rows of a part of the tasks, as all places have agreed: the roster's columns are the
 * pixels of images. */
static bb_status fit_rows(const bb_population *p, const bb_resolved *c,
                          bb_dataset *read) {
    const char *image = c->request->options.image;
    bb_status status =
        p->cluster ? bb_roster_check_clusters(c->roster, read, p->cluster) : BB_OK;
    if (!status) status = bb_roster_fit(c->roster, read);
    return !status && image ? bb_read_image(image, read) : status;
}

/* The shape of images whose column of clusters is gone. */
static bb_status shape(const bb_train_options *o, bb_dataset *data) {
    return o->cluster && o->image ? bb_read_image(o->image, data) : BB_OK;
}

/* Leaves out the rows of tasks that are not among those of `like`. */
static bb_status keep_tasks(const bb_dataset *like, bb_dataset *data) {
    bb_names names = {0};
    bb_dataset fewer = {0};
    unsigned char *keep = NULL;
    bb_status status = bb_allocate(&keep, data->rows, 1, "rows");
    if (!status) status = bb_names_add_all(&names, like->tasks, like->task_name);
    for (size_t i = 0; i < data->tasks && !status; i++)
        if (bb_names_find(&names, data->task_name[i], strlen(data->task_name[i])) !=
            SIZE_MAX)
            memset(keep + data->first[i], 1, data->first[i + 1] - data->first[i]);
    if (!status) status = bb_dataset_select(data, keep, &fewer);
    bb_names_free(&names);
    free(keep);
    if (status) return status;
    bb_dataset_free(data);
    *data = fewer;
    return BB_OK;
}

/* --first-tasks: as if there were no other. */
static bb_status take_first(const bb_train_options *o, bb_dataset *data) {
    bb_dataset like = *data;
    if (!o->first_tasks) return BB_OK;
    if (o->first_tasks > data->tasks)
        return bb_fail(BB_EUSAGE, "--first-tasks %" PRIu64 ": there %s %zu task%s",
                       o->first_tasks, data->tasks == 1 ? "is" : "are", data->tasks,
                       bb_plural((double)data->tasks));
    like.tasks = (size_t)o->first_tasks;
    const bb_status status = keep_tasks(&like, data);
    if (!status) data->tasks = (size_t)o->first_tasks; /* rows go by task */
    return status;
}

/* Test rows of their own, with the tasks and features of the training rows.
 */
static bb_status read_test(bb_population *p, const bb_resolved *c, bb_dealt *dealt,
                           const bb_source *source, const bb_dataset *train,
                           bb_dataset *test) {
    const bb_train_options *o = &c->request->options;
    bb_dataset data = {0};
    bb_status status = read_rows(c, dealt, &p->outputs, source, true, &data);
    p->dropped += data.dropped;
    bb_text_counts_join(&p->texts, &data.texts);
    if (!status && o->first_tasks) status = keep_tasks(train, &data);
    if (!status && o->cluster) status = bb_clusters_drop(&data, o->cluster);
    if (!status) status = shape(o, &data);
    if (!status)
        status = bb_dataset_match(&data, train->tasks, train->task_name,
                                  train->features, train->feature_name, test);
    bb_dataset_free(&data);
    return status;
}

/* The rows of one fold test, and the others train. */
static bb_status hold_out(const bb_train_request *request, bb_dataset *train,
                          bb_dataset *test) {
    bb_dataset rest = {0}, held = {0};
    unsigned char *fold = NULL;
    bb_status status = bb_allocate(&fold, train->rows, 1, "the folds");
    if (!status)
        status = bb_crossval_folds(train, request->options.split_seed, false, fold);
    for (size_t r = 0; r < train->rows && !status; r++)
        fold[r] = fold[r] == request->fold;
    if (!status) status = bb_dataset_select(train, fold, &held);
    for (size_t r = 0; r < train->rows && !status; r++) fold[r] = !fold[r];
    if (!status) status = bb_dataset_select(train, fold, &rest);
    free(fold);
    if (status) {
        bb_dataset_free(&held);
        return status;
    }
    bb_dataset_free(train);
    bb_dataset_free(test);
    *train = rest;
    *test = held;
    return BB_OK;
}

/* All rows train: they stay where they are. */
static bb_status take_all(bb_dataset *read, bb_dataset *train, bb_dataset *test) {
    unsigned char *none = NULL;
    bb_status status = bb_allocate(&none, read->rows, 1, "a split");
    if (!status) status = bb_dataset_select(read, none, test);
    free(none);
    if (status) return status;
    *train = *read;
    *read = (bb_dataset){0};
    return BB_OK;
}

static bb_status read_parts(bb_population *p, const bb_resolved *c, bb_dealt *dealt,
                            const bb_source *source, const bb_source *test_source,
                            bb_dataset *train, bb_dataset *test) {
    const bb_train_options *o = &c->request->options;
    const bb_source named = {.path = o->test};
    bb_dataset read = {0};
    bb_status status = source ? read_rows(c, dealt, &p->outputs, source, false, &read)
                              : read_nothing(c, &p->outputs, &read);
    if (source && !test_source && o->test) test_source = &named;
    const bool all_train = test_source != NULL;
    if (c->request->held_out) test_source = NULL;
    p->dropped = read.dropped;
    p->tasks = read.tasks;
    p->single_rows = status ? 0 : bb_dataset_single_rows(&read);
    bb_text_counts_join(&p->texts, &read.texts);
    if (!status) status = take_first(o, &read);
    if (!status && source && o->cluster)
        status = bb_clusters_take(&read, o->cluster, (size_t)o->clusters, dealt,
                                  &p->cluster, &p->clusters);
    if (!status && source && o->graph)
        status = bb_graph_read(o->graph, &read, &p->relations, &p->edges);
    if (!status && source && c->roster) status = fit_rows(p, c, &read);
    if (!status && source) status = shape(o, &read);
    if (!status && !test_source && (all_train || o->train_fraction >= 1.0))
        status = take_all(&read, train, test);
    else if (!status && !test_source)
        status = bb_split(&read, o->train_fraction, o->split_seed, train, test, NULL);
    if (!status && c->request->held_out) status = hold_out(c->request, train, test);
    status = bb_ranks_agree(dealt->ranks, status);
    if (!status && test_source) {
        *train = read;
        read = (bb_dataset){0};
        status = read_test(p, c, dealt, test_source, train, test);
    }
    bb_dataset_free(&read);
    return status;
}

/* Columns that are no features: their ranges may be there, as in a file for several runs. */
static bb_status name_left_out(const bb_resolved *c, bb_names *names) {
    const bb_read_options format = bb_population_reading(c);
    const char *const name[] = {format.task ? format.task : "task",
                                bb_target_option(&format), c->request->options.cluster};
    bb_status status = bb_names_parse(names, format.ignore, "--ignore");
    for (size_t k = 0; k < sizeof name / sizeof *name && !status; k++) {
        size_t index;
        if (name[k]) status = bb_names_add(names, name[k], strlen(name[k]), &index);
    }
    return status;
}

static bb_status read_ranges(bb_population *p, const bb_resolved *c,
                             const bb_dataset *train, const char *where,
                             bb_ranges *ranges) {
    bb_names left_out = {0};
    bb_status status = bb_ranges_read(ranges, c->request->options.scale);
    if (!status) status = name_left_out(c, &left_out);
    if (!status)
        status = bb_ranges_check_names(ranges, where, train->features,
                                       train->feature_name, &left_out);
    bb_names_free(&left_out);
    if (status) return status;
    p->data_ranges = ranges->from_data;
    p->ranges = bb_ranges_json(ranges);
    return p->ranges ? BB_OK : bb_fail(BB_ENOMEM, "no memory for ranges");
}

/* Where the methods bear it, a number outside of its range is taken as it is: a model is
 * a straight line, which does not end where somebody thought that numbers would. So far
 * outside it is more likely to be wrong. */
static double reach_of(const bb_resolved *c) {
    static const double far = 10; /* half ranges from the middle */
    const bb_run *run = &c->run;
    size_t k = 0;
    while (k < run->phases && run->phase[k].method->long_rows) k++;
    const int how = c->request->options.standardize;
    const bool alone = how == BB_STANDARDIZE_NONE || how == BB_STANDARDIZE_MAGNITUDE;
    return k == run->phases && alone ? far : 1;
}

static bb_status open_steps(bb_population *p, const bb_resolved *c,
                            const bb_dataset *train) {
    const bb_train_options *o = &c->request->options;
    static const bb_standardize how[] = {BB_STANDARDIZE_NONE, BB_STANDARDIZE_UNIT_ROWS,
                                         BB_STANDARDIZE_TASK, BB_STANDARDIZE_MAGNITUDE};
    bb_preprocess_options options = {
        .standardize = how[o->standardize],
        .constant = c->run.pub.constant,
        .scale_target = c->run.pub.loss == BB_LOSS_SQUARED,
        .units = c->run.pub.own_units && c->run.phase[0].method->common_units,
        .indicators = !c->roster || bb_encoding_indicates(o->missing),
        .network = c->run.pub.network,
        .reach = reach_of(c),
        .threads = (size_t)o->threads};
    bb_ranges ranges = {0};
    bb_status status = BB_OK;
    if (o->scale) {
        options.scale = &ranges;
        options.scale_source = *o->scale == '{' ? "scale" : o->scale;
        status = read_ranges(p, c, train, options.scale_source, &ranges);
    }
    if (!status) status = bb_preprocess_open(&p->steps, &options, train);
    bb_ranges_free(&ranges);
    if (status) return status;
    json_t *open = bb_preprocess_json(&p->steps);
    status = open ? bb_preprocess_parse(&p->open, open, "preprocessing",
                                        train->features, train->feature_name)
                  : bb_fail(BB_ENOMEM, "no memory for the preprocessing");
    json_decref(open);
    p->open.threads = options.threads;
    p->open.folded =
        !status && bb_resolved_is_solved(c) && bb_preprocess_can_fold(&p->open);
    return status;
}

/* Rows that no public step changes are taken over, unless baselines want them, too; of
 * those that methods see prepared there is no second copy where models are exact. */
static bb_status prepare(bb_population *p, bool keep, bool solved, bb_dataset *train,
                         const bb_dataset *test) {
    bb_status status = bb_preprocess_apply(&p->open, test, false, &p->test);
    p->prepared_is_train =
        !bb_preprocess_is_own(&p->steps) && !p->steps.has_target && !p->open.folded;
    if (!status && !p->prepared_is_train)
        status = bb_preprocess_apply(&p->steps, train, true, &p->prepared);
    p->prepared_predict = solved && !p->prepared_is_train;
    const bool is_bare = p->prepared_predict && !keep;
    if (!status && is_bare) bb_dataset_drop_features(train);
    if (!status && !keep && (is_bare || bb_preprocess_is_plain(&p->open))) {
        p->train = *train;
        *train = (bb_dataset){0};
    } else if (!status) {
        status = bb_preprocess_apply(&p->open, train, false, &p->train);
    }
    if (status) return status;
    if (p->prepared_is_train) p->prepared = p->train;
    lend_names(&p->train, &p->prepared);
    lend_names(&p->train, &p->test);
    return BB_OK;
}

/* Classes that have names are as many as models have. */
static bb_status check_classes(const bb_population *p, const bb_resolved *c) {
    const bb_read_options format = bb_population_reading(c);
    const size_t names = json_array_size(bb_levels_classes(p->levels, &format));
    const bb_loss loss = c->run.pub.loss;
    char ask[60] = "--loss logistic";
    if (names == 0 || (loss == BB_LOSS_LOGISTIC && names == 2) ||
        (loss == BB_LOSS_SOFTMAX && names == p->outputs))
        return BB_OK;
    if (names != 2) snprintf(ask, sizeof ask, "--loss softmax --classes %zu", names);
    return bb_fail(BB_EUSAGE, "--categories names %zu classes of target \"%s\": %s",
                   names, bb_target_option(&format), ask);
}

bb_status bb_population_open(bb_population *population, const bb_resolved *c,
                             const bb_source *data, const bb_source *test_source,
                             bb_dealt *dealt) {
    const bb_train_options *o = &c->request->options;
    bb_population p = {0};
    bb_dataset train = {0}, test = {0};
    bb_status status = o->categories ? bb_levels_read(&p.levels, o->categories) : BB_OK;
    p.data_levels = bb_levels_from_data(p.levels);
    status = bb_ranks_agree(dealt->ranks, status);
    if (!status) status = read_parts(&p, c, dealt, data, test_source, &train, &test);
    if (!status) status = check_classes(&p, c);
    if (!status) status = open_steps(&p, c, &train);
    if (!status) status = bb_outside_words(&p.steps, &train, &p.outside);
    const bool keep = o->compare && !dealt->ranks;
    if (!status) lend_names(&train, &test);
    if (!status) status = prepare(&p, keep, bb_resolved_is_solved(c), &train, &test);
    if (!status && keep) {
        p.read_train = train;
        p.read_test = test;
    } else {
        return_names(&train, &test);
        return_names(&p.train, &test); /* which took them over */
        bb_dataset_free(&train);
        bb_dataset_free(&test);
    }
    if (status)
        bb_population_close(&p);
    else
        *population = p;
    return status;
}

size_t bb_population_long_rows(const bb_population *p) {
    const bb_dataset *data = &p->prepared;
    const size_t features = p->steps.features;
    size_t count = 0;
    if (p->steps.rows != BB_ROWS_PLAIN) return 0;
    for (size_t r = 0; r < data->rows; r++) {
        double squares = 0.0;
        const size_t begin = data->x ? 0 : data->sparse_first[r];
        const size_t end = data->x ? features : data->sparse_first[r + 1];
        for (size_t e = begin; e < end; e++) {
            const double z =
                data->x ? data->x[r * data->features + e] : data->sparse_value[e];
            if (data->x || data->sparse_column[e] < features) squares += z * z;
        }
        count += squares > 1.0 + 1e-9;
        if (r) bb_dataset_passed(data, r - 1, r);
    }
    return count;
}

void bb_population_close_rows(bb_population *p) {
    return_names(&p->train, &p->test);
    return_names(&p->read_train, &p->read_test);
    if (!p->prepared_is_train) {
        return_names(&p->train, &p->prepared);
        bb_dataset_free(&p->prepared);
    }
    bb_dataset_free(&p->train);
    bb_dataset_free(&p->test);
    bb_dataset_free(&p->read_train);
    bb_dataset_free(&p->read_test);
    p->prepared = (bb_dataset){0};
}

void bb_population_close(bb_population *p) {
    bb_population_close_rows(p);
    bb_preprocess_free(&p->steps);
    bb_preprocess_free(&p->open);
    free(p->cluster);
    free(p->outside);
    bb_relations_close(&p->relations);
    json_decref(p->edges);
    json_decref(p->ranges);
    json_decref(p->levels);
    bb_text_counts_close(&p->texts);
    *p = (bb_population){0};
}

/* -- models -- */

/* Whether there is a constant column that is 1 in every row. */
static bool has_constant(const bb_preprocess *open) {
    return open->constant && open->rows != BB_ROWS_UNIT;
}

void bb_population_fold(const bb_population *p, size_t i, double *w, double *b) {
    bb_preprocess_fold(&p->steps, i, w, b);
    if (p->open.folded) bb_preprocess_fold_columns(&p->steps, w, b);
    if (has_constant(&p->open)) *b += w[p->prepared.features - 1];
}

/* Folds every model of `data`, which has the columns of the prepared rows. */
static bb_status fold_models(const bb_population *p, const bb_dataset *data,
                             const double *weight, const double *intercept,
                             bb_models *out) {
    const size_t width = p->prepared.features;
    bb_models m = {0};
    double *w = NULL;
    bb_status status = bb_models_open(&m, data);
    if (!status) status = bb_allocate(&w, width, sizeof *w, "a model");
    if (has_constant(&p->open) && !status) m.features = width - 1;
    for (size_t i = 0; i < m.tasks && !status; i++) {
        memcpy(w, weight + i * width, width * sizeof *w);
        m.intercept[i] = intercept ? intercept[i] : 0.0;
        bb_population_fold(p, i, w, &m.intercept[i]);
        memcpy(m.weight + i * m.features, w, m.features * sizeof *w);
        bb_preprocess_passed(&p->steps, i);
        bb_models_passed(&m, i);
    }
    free(w);
    if (status)
        bb_models_free(&m);
    else
        *out = m;
    return status;
}

bb_status bb_population_models(const bb_population *p, const double *weight,
                               const double *intercept, bb_models *out) {
    return fold_models(p, &p->prepared, weight, intercept, out);
}

bb_status bb_population_shared(const bb_population *p, const double *shared,
                               bb_models *out) {
    char name[] = "shared", *one[] = {name};
    bb_dataset data = p->prepared;
    data.tasks = 1;
    data.task_name = one;
    assert(!bb_preprocess_is_own(&p->steps));
    return fold_models(p, &data, shared, NULL, out);
}
