#include "data/synth.h"

#include "api/call.h"
#include "api/tables.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/worlds.h"
#include "data/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct synth_options {
    uint64_t tasks, samples, features, labels, seed;
    char *output, *models;
} synth_options;

/* clang-format off */
static const bb_option row[] = {
    {"tasks", BB_OPTION_COUNT, offsetof(synth_options, tasks), "320", 1.0, 1e7, NULL, "M", "tasks"},
    {"samples", BB_OPTION_COUNT, offsetof(synth_options, samples), "30", 1.0, 1e7, NULL, "N", "training rows of each task"},
    {"features", BB_OPTION_COUNT, offsetof(synth_options, features), "30", 1.0, 1e6, NULL, "D", "features"},
    {"labels", BB_OPTION_COUNT, offsetof(synth_options, labels), "10", 2.0, 1e6, NULL, "L", "classes or labels of such worlds"},
    {"seed", BB_OPTION_COUNT, offsetof(synth_options, seed), "1", 0.0, 0x1p63, NULL, "S", "which world"},
    {"output", BB_OPTION_TEXT, offsetof(synth_options, output), NULL, 0.0, 0.0, NULL, "FILE", "training rows, as CSV (multilabel: LIBSVM); nine times as many test rows go beside them: world.test.csv for world.csv"},
    {"models", BB_OPTION_TEXT, offsetof(synth_options, models), NULL, 0.0, 0.0, NULL, "FILE", "the true models of low-rank, group-sparse, outliers and anomaly as CSV: task, x1, ..."},
};
/* clang-format on */

bb_option_table bb_synth_table(void) {
    return (bb_option_table){{row, sizeof row / sizeof *row}, sizeof(synth_options)};
}

static bb_status write_rows(const bb_dataset *data, const char *path) {
    return data->x ? bb_write_csv(data, path) : bb_write_libsvm(data, path);
}

static bb_status write_models(const synth_options *o, const bb_dataset *data,
                              const double *model) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return bb_fail(BB_ENOMEM, "no memory for the models");
    fputs("task", stream);
    for (size_t k = 0; k < data->features; k++)
        fprintf(stream, ",%s", data->feature_name[k]);
    for (size_t i = 0; i < data->tasks; i++) {
        fprintf(stream, "\n%s", data->task_name[i]);
        for (size_t k = 0; k < data->features; k++)
            fprintf(stream, ",%.17g", model[i * data->features + k]);
    }
    putc('\n', stream);
    const bool whole = !ferror(stream);
    bb_status status = BB_OK;
    if (fclose(stream) || !whole)
        status = bb_fail(BB_ENOMEM, "no memory for the models");
    if (!status) status = bb_file_write(o->models, text, size);
    free(text);
    return status;
}

/* All files, or none. */
static bb_status write_files(const synth_options *o, const char *name,
                             const char *test_path) {
    const bb_world_spec world = {name,
                                 (size_t)o->tasks,
                                 (size_t)o->samples,
                                 (size_t)o->features,
                                 (size_t)o->labels,
                                 o->seed};
    bb_dataset train = {0}, test = {0};
    double *model = NULL;
    bb_status status = BB_OK;
    if (o->models)
        status = bb_allocate(&model, (size_t)o->tasks,
                             (size_t)o->features * sizeof *model, "the models");
    if (!status) status = bb_world_draw(&world, &train, &test, model);
    if (!status) status = write_rows(&test, test_path);
    const bool tested = !status;
    if (!status && o->models) status = write_models(o, &train, model);
    const bool modelled = !status && o->models;
    if (!status) status = write_rows(&train, o->output);
    if (status && tested) remove(test_path);
    if (status && modelled) remove(o->models);
    bb_dataset_free(&train);
    bb_dataset_free(&test);
    free(model);
    return status;
}

static bb_status check_world(const char *name, const synth_options *o) {
    const bb_status status = bb_world_check(name);
    if (status) return status;
    if (o->models && !bb_world_has_models(name))
        return bb_fail(BB_EUSAGE,
                       "--models is for low-rank, group-sparse, outliers and anomaly");
    if (!o->output) return bb_fail(BB_EUSAGE, "where to? give --output FILE");
    const char *const dot = strrchr(o->output, '.');
    if (bb_world_has_lists(name) &&
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
    bb_status status = check_world(name, o);
    if (!status) status = bb_synth_test_name(&test, o->output);
    if (!status) status = write_files(o, name, test);
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
