#include "cmd_inside.h"
#include "data/synth.h"
#include "data/synth_labels.h"
#include "data/write.h"

#include <stdlib.h>
#include <string.h>

typedef struct synth_options {
    uint64_t tasks, samples, features, labels, seed;
    char *output;
} synth_options;

/* clang-format off */
static const bb_option table[] = {
    {"tasks", BB_OPTION_COUNT, offsetof(synth_options, tasks), "320", 1.0, 1e7, NULL, "M", "tasks"},
    {"samples", BB_OPTION_COUNT, offsetof(synth_options, samples), "30", 1.0, 1e7, NULL, "N", "training rows of each task"},
    {"features", BB_OPTION_COUNT, offsetof(synth_options, features), "30", 1.0, 1e6, NULL, "D", "features"},
    {"labels", BB_OPTION_COUNT, offsetof(synth_options, labels), "10", 2.0, 1e6, NULL, "L", "classes or labels of such worlds"},
    {"seed", BB_OPTION_COUNT, offsetof(synth_options, seed), "1", 0.0, 0x1p63, NULL, "S", "which world"},
    {"output", BB_OPTION_TEXT, offsetof(synth_options, output), NULL, 0.0, 0.0, NULL, "FILE", "training rows to FILE.csv (multilabel: FILE.svm), nine times as many test rows to FILE.test.csv"},
};
/* clang-format on */
enum { ROWS = sizeof table / sizeof *table, FIRST_KEY = 1000 };
static const bb_options all = {table, ROWS};

typedef struct request {
    synth_options options;
    const char *kind;
    bb_status status;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key == 'o') key = FIRST_KEY + ROWS - 1;
    if (key >= FIRST_KEY && key < FIRST_KEY + ROWS) {
        if (!r->status)
            r->status = bb_options_set(all, &r->options, "synth",
                                       table[key - FIRST_KEY].name, text);
        return 0;
    }
    if (key == ARGP_KEY_ARG && r->kind) argp_error(state, "takes one world");
    if (key == ARGP_KEY_ARG) {
        r->kind = text;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state,
                   "which world: low-rank, group-sparse, classes or multilabel?");
    return ARGP_ERR_UNKNOWN;
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

static bb_status write_world(const request *r, FILE *stream) {
    const synth_options *o = &r->options;
    char *test = NULL;
    size_t kind = 0;
    while (kind < WORLDS && strcmp(r->kind, known[kind].name) != 0) kind++;
    if (kind == WORLDS)
        return bb_fail(BB_EUSAGE,
                       "synth knows low-rank, group-sparse, classes and multilabel, "
                       "got \"%s\"",
                       r->kind);
    if (!o->output) return bb_fail(BB_EUSAGE, "where to? give --output FILE");
    const char *const dot = strrchr(o->output, '.');
    if (known[kind].lists &&
        (!dot || (strcmp(dot, ".svm") != 0 && strcmp(dot, ".libsvm") != 0)))
        return bb_fail(BB_EUSAGE,
                       "a multilabel world is a LIBSVM file: --output expects a name "
                       "that ends in .svm or .libsvm, got \"%s\"",
                       o->output);
    bb_status status = bb_synth_test_name(&test, o->output);
    if (!status) status = write_both(o, kind, test);
    if (!status)
        fprintf(stream,
                "%s world: %zu tasks, %zu features; %zu rows each in %s, %zu in %s\n",
                r->kind, (size_t)o->tasks, (size_t)o->features, (size_t)o->samples,
                o->output, (size_t)(BB_SYNTH_TEST * o->samples), test);
    free(test);
    return status;
}

int cmd_synth(int argc, char **argv) {
    struct argp_option option[ROWS + 1] = {0};
    char help[ROWS][200];
    for (size_t k = 0; k < ROWS; k++) {
        snprintf(help[k], sizeof help[k], table[k].fallback ? "%s (default %s)" : "%s",
                 table[k].help, table[k].fallback);
        option[k] = (struct argp_option){.name = table[k].name,
                                         .key = FIRST_KEY + (int)k,
                                         .arg = table[k].argument,
                                         .doc = help[k]};
    }
    option[ROWS - 1].key = 'o';
    const struct argp argp = {option,
                              parse,
                              "low-rank|group-sparse|classes|multilabel",
                              "Writes a synthetic population: many small regressions "
                              "or classifications whose models share a pattern.",
                              NULL,
                              NULL,
                              NULL};
    request r = {0};
    cmd_output output = {0};
    bb_status status = bb_options_default(all, &r.options);
    if (!status) argp_parse(&argp, argc, argv, 0, NULL, &r);
    if (!status) status = r.status;
    if (!status) status = cmd_output_open(&output);
    if (!status) status = write_world(&r, output.stream);
    bb_options_free(all, &r.options);
    return cmd_output_close(&output, status);
}
