#include "base/json.h"
#include "cmd_inside.h"
#include "data/info.h"
#include "data/ranges.h"
#include "info_start.h"
#include "train/population.h"

#include <stdlib.h>
#include <string.h>

/* The names of the training options that this command has, too. */
static const char *const same[] = {"task",    "target",    "features", "ignore",
                                   "format",  "labels",    "tasks",    "separator",
                                   "missing", "categories"};
enum { SAME = sizeof same / sizeof *same };

typedef struct request {
    const char *given[SAME];  /* their texts; NULL: not given */
    bb_train_options options; /* those that say how to read, and --output */
    const char *path;
    bool ranges, json, multilabel;
    const char *image;
    bb_status status;
} request;

enum {
    MOST_NAMES = 10,
    JSON = 'j',
    RANGES = 'r',
    OUTPUT = 'o',
    MULTILABEL = 'm',
    IMAGE = 'i',
    FIRST_KEY = 1000
};

/* -- saying it -- */

static json_t *constants_json(const bb_info *info, const bb_dataset *data) {
    json_t *list = json_array();
    for (size_t k = 0; k < info->constants; k++)
        cmd_append(&list, json_string(data->feature_name[info->constant[k]]));
    return list;
}

/* What only some data sets have: null for the others. */
static json_t *classes_json(const bb_info *info) {
    if (info->classes == 0) return json_null();
    return json_pack("{s:I,s:o}", "count", (json_int_t)info->classes, "majority_share",
                     bb_json_real(info->majority));
}

static double mean_labels(const bb_info *info) {
    return (double)info->listed / (double)info->rows;
}

static json_t *labels_json(const bb_info *info) {
    if (info->target != BB_TARGET_LABELS) return json_null();
    return json_pack("{s:I,s:o}", "count", (json_int_t)info->labels, "mean_per_row",
                     bb_json_real(mean_labels(info)));
}

static json_t *image_json(const bb_info *info) {
    if (info->channels == 0) return json_null();
    return json_pack("[I,I,I]", (json_int_t)info->height, (json_int_t)info->width,
                     (json_int_t)info->channels);
}

static bb_status print_json(const bb_info *info, const bb_dataset *data,
                            const char *start, const cmd_output *output) {
    json_t *json = json_pack(
        "{s:I,s:I,s:I,s:{s:I,s:o,s:I},s:b,s:{s:s,s:o,s:o,s:I},s:{s:I,s:I},s:o,s:o,s:o,"
        "s:o,s:o,s:I}",
        "tasks", (json_int_t)info->tasks, "rows", (json_int_t)info->rows, "features",
        (json_int_t)info->features, "rows_per_task", "min",
        (json_int_t)info->least_rows, "median", bb_json_real(info->median_rows), "max",
        (json_int_t)info->most_rows, "sparse", (int)info->sparse, "target", "kind",
        bb_target_text(info->target), "min", bb_json_real(info->least_target), "max",
        bb_json_real(info->most_target), "tasks_of_one_value",
        (json_int_t)info->one_class, "missing", "features",
        (json_int_t)info->missing_features, "targets",
        (json_int_t)info->missing_targets, "constant_columns",
        constants_json(info, data), "classes", classes_json(info), "labels",
        labels_json(info), "image", image_json(info), "start",
        start ? json_string(start) : json_null(), "dropped_rows",
        (json_int_t)data->dropped);
    const bb_status status = cmd_output_json(output, json);
    json_decref(json);
    return status;
}

static void print_text(const bb_info *info, const bb_dataset *data, FILE *stream) {
    fprintf(stream, "tasks            %zu\n", info->tasks);
    fprintf(stream, "rows             %zu\n", info->rows);
    fprintf(stream, "rows per task    least %zu, median %g, most %zu\n",
            info->least_rows, info->median_rows, info->most_rows);
    fprintf(stream, "features         %zu%s", info->features,
            info->sparse ? " (sparse" : "\n");
    if (info->sparse) fprintf(stream, ": %zu numbers)\n", info->entries);
    if (info->channels)
        fprintf(stream, "image            %zu x %zu x %zu\n", info->height, info->width,
                info->channels);
    fprintf(stream, "target           %s", bb_target_text(info->target));
    if (info->target == BB_TARGET_LABELS)
        fprintf(stream, ", 0 to %zu, %.3g a row", info->labels - 1, mean_labels(info));
    else if (info->target != BB_TARGET_NONE)
        fprintf(stream, ", from %g to %g; %zu task%s one value only",
                info->least_target, info->most_target, info->one_class,
                info->one_class == 1 ? " has" : "s have");
    if (info->classes)
        fprintf(stream, "\nclasses          %zu, %.3g %% of rows in the largest",
                info->classes, 100 * info->majority);
    fprintf(stream, "\nmissing values   %zu in features, %zu in the target\n",
            info->missing_features, info->missing_targets);
    if (data->dropped)
        fprintf(stream, "left out         %zu rows with a missing value\n",
                data->dropped);
    fprintf(stream, "constant columns %zu", info->constants);
    for (size_t k = 0; k < info->constants && k < MOST_NAMES; k++)
        fprintf(stream, "%s %s", k ? "," : ":", data->feature_name[info->constant[k]]);
    fputs(info->constants > MOST_NAMES ? ", ...\n" : "\n", stream);
}

static void print_start(const bb_info *info, const char *start, FILE *stream) {
    if (!start) return;
    fprintf(stream, "\nto start with:\n  %s\n", start);
    if (info->classes && !info->height)
        fprintf(stream,
                "if the targets are classes: --loss softmax --classes %.0f --method "
                "fedavg --batch 10\n",
                info->most_target + 1.0);
    if (!info->height)
        fputs("where ranges of the columns are publicly known: --scale ranges.json in "
              "place of --standardize unit-rows\n",
              stream);
}

/* The flags that training needs to read the same, and the command. */
static bb_status command_of(const request *r, const bb_info *info, char **start) {
    info_flag flag[SAME + 1];
    for (size_t k = 0; k < SAME; k++) flag[k] = (info_flag){same[k], r->given[k]};
    flag[SAME] = (info_flag){"image", r->image};
    return info_start(info, r->path, flag, SAME + 1, start);
}

static bb_status write_ranges(const bb_dataset *data, const char *path, FILE *stream) {
    bb_ranges ranges = {0};
    if (!path) return bb_fail(BB_EUSAGE, "ranges where to? give --output FILE");
    bb_status status = bb_ranges_from_data(&ranges, data);
    if (!status) status = bb_ranges_write(&ranges, path);
    if (!status)
        fprintf(stream,
                "%s: ranges looked up in the data, so they are for simulations only; "
                "public ranges are written by hand\n",
                path);
    bb_ranges_free(&ranges);
    return status;
}

static bb_status inform(const request *r, const cmd_output *output) {
    bb_read_options format = bb_population_format(&r->options);
    bb_dataset data = {0};
    bb_info info = {0};
    char *start = NULL;
    format.keep_missing = format.target_optional = true;
    format.multilabel = r->multilabel;
    format.image = r->image;
    if (r->options.output && !r->ranges)
        return bb_fail(BB_EUSAGE, "--output is for the ranges: give --ranges, too");
    bb_status status = bb_read(r->path, &format, &data);
    if (!status) status = bb_info_open(&info, &data);
    if (!status) status = command_of(r, &info, &start);
    if (!status && r->json) {
        status = print_json(&info, &data, start, output);
    } else if (!status) {
        print_text(&info, &data, output->stream);
        print_start(&info, start, output->stream);
    }
    if (!status && r->ranges)
        status =
            write_ranges(&data, r->options.output, r->json ? stderr : output->stream);
    free(start);
    bb_info_close(&info);
    bb_dataset_free(&data);
    return status;
}

/* -- the command line -- */

static void set(request *r, const char *name, const char *text) {
    if (!r->status)
        r->status = bb_options_set(bb_train_table(), &r->options, "info", name, text);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key >= FIRST_KEY && key < FIRST_KEY + SAME) {
        r->given[key - FIRST_KEY] = text;
        set(r, same[key - FIRST_KEY], text);
        return 0;
    }
    switch (key) {
    case JSON:
        r->json = true;
        return 0;
    case RANGES:
        r->ranges = true;
        return 0;
    case MULTILABEL:
        r->multilabel = true;
        return 0;
    case IMAGE:
        r->image = text;
        return 0;
    case OUTPUT:
        set(r, "output", text);
        return 0;
    case ARGP_KEY_ARG:
        if (r->path) argp_error(state, "takes one DATA");
        r->path = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which DATA?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_info(int argc, char **argv) {
    struct argp_option option[SAME + 6] = {0};
    const bb_options table = bb_train_table();
    for (size_t k = 0; k < SAME; k++)
        for (size_t row = 0; row < table.count; row++)
            if (table.row[row].name && !strcmp(table.row[row].name, same[k]))
                option[k] = (struct argp_option){.name = same[k],
                                                 .key = FIRST_KEY + (int)k,
                                                 .arg = table.row[row].argument,
                                                 .doc = table.row[row].help};
    option[SAME] = (struct argp_option){
        .name = "ranges",
        .key = RANGES,
        .doc = "write the columns' ranges to FILE, for --scale in a simulation"};
    option[SAME + 1] = (struct argp_option){
        .name = "output", .key = OUTPUT, .arg = "FILE", .doc = "where --ranges go"};
    option[SAME + 2] =
        (struct argp_option){.name = "json", .key = JSON, .doc = "as one JSON object"};
    option[SAME + 3] = (struct argp_option){
        .name = "multilabel", .key = MULTILABEL, .doc = "targets are lists of labels"};
    option[SAME + 4] = (struct argp_option){.name = "image",
                                            .key = IMAGE,
                                            .arg = "HxWxC",
                                            .doc = "rows are images of this shape"};
    const struct argp argp = {option, parse, "DATA", "Says what is in a data set.",
                              NULL,   NULL,  NULL};
    request r = {0};
    cmd_output output = {0};
    bb_status status = bb_options_default(table, &r.options);
    if (!status) argp_parse(&argp, argc, argv, 0, NULL, &r);
    if (!status) status = r.status;
    if (!status) status = cmd_output_open(&output);
    if (!status) status = inform(&r, &output);
    bb_options_free(table, &r.options);
    return cmd_output_close(&output, status);
}
