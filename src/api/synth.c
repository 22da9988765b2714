#include "data/synth.h"

#include "api/call.h"
#include "api/tables.h"
#include "data/synth_labels.h"
#include "data/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct synth_options {
    uint64_t tasks, samples, features, labels, seed;
    char *output;
} synth_options;

/* clang-format off */
static const bb_option row[] = {
    {"tasks", BB_OPTION_COUNT, offsetof(synth_options, tasks), "320", 1.0, 1e7, NULL, "M", "tasks"},
    {"samples", BB_OPTION_COUNT, offsetof(synth_options, samples), "30", 1.0, 1e7, NULL, "N", "training rows of each task"},
    {"features", BB_OPTION_COUNT, offsetof(synth_options, features), "30", 1.0, 1e6, NULL, "D", "features"},
    {"labels", BB_OPTION_COUNT, offsetof(synth_options, labels), "10", 2.0, 1e6, NULL, "L", "classes or labels of such worlds"},
    {"seed", BB_OPTION_COUNT, offsetof(synth_options, seed), "1", 0.0, 0x1p63, NULL, "S", "which world"},
    {"output", BB_OPTION_TEXT, offsetof(synth_options, output), NULL, 0.0, 0.0, NULL, "FILE", "training rows to FILE.csv (multilabel: FILE.svm), nine times as many test rows to FILE.test.csv"},
};
/* clang-format on */

bb_table bb_synth_table(void) {
    return (bb_table){{row, sizeof row / sizeof *row}, sizeof(synth_options)};
}

/* The worlds, by name. */
static const struct {
    const char *name;
    bool labelled, lists; /* of bb_label_world */
    bb_world world;       /* of the others */
} known[] = {{"low-rank", false, false, BB_WORLD_LOW_RANK},
             {"group-sparse", false, false, BB_WORLD_GROUP_SPARSE},
             {"classes", true, false, BB_WORLD_LOW_RANK},
             {"multilabel", true, true, BB_WORLD_LOW_RANK}};
enum { WORLDS = sizeof known / sizeof *known };

static bb_status make(const synth_options *o, size_t kind, bb_dataset *train,
                      bb_dataset *test) {
    const bb_synth_options world = {known[kind].world, (size_t)o->tasks,
                                    (size_t)o->samples, (size_t)o->features, o->seed};
    const bb_label_world labelled = {.lists = known[kind].lists,
                                     .tasks = (size_t)o->tasks,
                                     .samples = (size_t)o->samples,
                                     .features = (size_t)o->features,
                                     .labels = (size_t)o->labels,
                                     .seed = o->seed};
    return known[kind].labelled ? bb_synth_labels(&labelled, train, test)
                                : bb_synth(&world, train, test, NULL);
}

static bb_status write_rows(const bb_dataset *data, const char *path) {
    return data->x ? bb_write_csv(data, path) : bb_write_libsvm(data, path);
}

/* Both files, or none. */
static bb_status write_both(const synth_options *o, size_t kind,
                            const char *test_path) {
    bb_dataset train = {0}, test = {0};
    bb_status status = make(o, kind, &train, &test);
    if (!status) status = write_rows(&test, test_path);
    if (!status) {
        status = write_rows(&train, o->output);
        if (status) remove(test_path);
    }
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    return status;
}

static bb_status find_world(const char *name, const synth_options *o, size_t *kind) {
    *kind = 0;
    while (*kind < WORLDS && strcmp(name, known[*kind].name) != 0) ++*kind;
    if (*kind == WORLDS)
        return bb_fail(BB_EUSAGE,
                       "synth knows low-rank, group-sparse, classes and multilabel, "
                       "got \"%s\"",
                       name);
    if (!o->output) return bb_fail(BB_EUSAGE, "where to? give --output FILE");
    const char *const dot = strrchr(o->output, '.');
    if (known[*kind].lists &&
        (!dot || (strcmp(dot, ".svm") != 0 && strcmp(dot, ".libsvm") != 0)))
        return bb_fail(BB_EUSAGE,
                       "a multilabel world is a LIBSVM file: --output expects a name "
                       "that ends in .svm or .libsvm, got \"%s\"",
                       o->output);
    return BB_OK;
}

static bb_status write_world(const char *name, const synth_options *o,
                             billboard_answer **out) {
    char *test = NULL;
    size_t kind = 0;
    bb_status status = find_world(name, o, &kind);
    if (!status) status = bb_synth_test_name(&test, o->output);
    if (!status) status = write_both(o, kind, test);
    if (!status)
        status = bb_answer_open(
            out,
            json_pack("{s:s,s:I,s:I,s:s,s:I,s:s,s:I}", "world", name, "tasks",
                      (json_int_t)o->tasks, "features", (json_int_t)o->features,
                      "train", o->output, "train_rows", (json_int_t)o->samples, "test",
                      test, "test_rows", BB_SYNTH_TEST * (json_int_t)o->samples));
    free(test);
    return status;
}

billboard_status billboard_synth(const char *world, const billboard_option *option,
                                 size_t options, billboard_answer **files) {
    static const char function[] = "billboard_synth";
    const bb_options table = bb_synth_table().options;
    synth_options o = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(world, function, "world");
    if (!status) status = bb_call_given(files, function, "files");
    if (!status) status = bb_options_default(table, &o);
    if (!status) status = bb_call_options(table, &o, "synth", option, options);
    if (!status) status = write_world(world, &o, files);
    bb_options_free(table, &o);
    return bb_call_end(&call, status);
}
