#include "cmd.h"

#include <math.h>
#include <string.h>

/* The names of the training options that this command has, too. */
static const char *const same[] = {"task",    "target",    "features", "ignore",
                                   "format",  "labels",    "tasks",    "separator",
                                   "missing", "categories"};
enum { SAME = sizeof same / sizeof *same, OPTIONS = SAME + 4 };

typedef struct request {
    cmd_options given; /* of those */
    const char *path, *output, *image, *levels;
    bool ranges, json, multilabel;
} request;

enum {
    MOST_NAMES = 10,
    MOST_SUGGESTED = 20, /* classes */
    JSON = 'j',
    RANGES = 'r',
    OUTPUT = 'o',
    MULTILABEL = 'm',
    IMAGE = 'i',
    LEVELS = 'l',
    FIRST_KEY = 1000
};

/* -- saying it -- */

static double number(const billboard_answer *a, const char *path) {
    return billboard_answer_number(a, path);
}

static void print_target(const billboard_answer *a, FILE *stream) {
    const char *kind = billboard_answer_text(a, "target.kind");
    const double labels = number(a, "labels.count"),
                 classes = number(a, "classes.count"),
                 one = number(a, "target.tasks_of_one_value");
    fprintf(stream, "target           %s", kind);
    if (!isnan(labels))
        fprintf(stream, ", 0 to %.0f, %.3g a row", labels - 1,
                number(a, "labels.mean_per_row"));
    else if (strcmp(kind, "none") != 0)
        fprintf(stream, ", from %g to %g; %.0f task%s one value only",
                number(a, "target.min"), number(a, "target.max"), one,
                one == 1 ? " has" : "s have");
    if (!isnan(classes))
        fprintf(stream, "\nclasses          %.0f, %.3g %% of rows in the largest",
                classes, 100 * number(a, "classes.majority_share"));
}

/* The first names of a list, behind what the line says. */
static void print_names(const billboard_answer *a, const char *list, FILE *stream) {
    const size_t names = billboard_answer_count(a, list);
    char path[40];
    for (size_t k = 0; k < names && k < MOST_NAMES; k++) {
        snprintf(path, sizeof path, "%s.%zu", list, k);
        fprintf(stream, "%s %s", k ? "," : ":", billboard_answer_text(a, path));
    }
    fputs(names > MOST_NAMES ? ", ...\n" : "\n", stream);
}

/* "city (12 levels), name (too many levels: left out)", of what `texts' has. */
static void print_texts(const billboard_answer *a, FILE *stream) {
    const size_t texts = billboard_answer_count(a, "texts");
    for (size_t k = 0; k < texts && k < MOST_NAMES; k++) {
        char path[60];
        snprintf(path, sizeof path, "texts.%zu.column", k);
        fprintf(stream, "%s%s", k ? ", " : "texts            ",
                billboard_answer_text(a, path));
        snprintf(path, sizeof path, "texts.%zu.levels", k);
        const size_t levels = billboard_answer_count(a, path);
        if (levels)
            fprintf(stream, " (%zu level%s)", levels, levels == 1 ? "" : "s");
        else
            fputs(" (too many levels: left out)", stream);
    }
    if (texts) fputs(texts > MOST_NAMES ? ", ...\n" : "\n", stream);
}

/* How missing values were. */
static void print_spelt(const billboard_answer *a, FILE *stream) {
    const size_t spelt = billboard_answer_count(a, "missing.spelt");
    for (size_t k = 0; k < spelt; k++) {
        char path[40];
        snprintf(path, sizeof path, "missing.spelt.%zu", k);
        const char *const text = billboard_answer_text(a, path);
        fputs(k ? ", " : "spelt            ", stream);
        fprintf(stream, *text ? "\"%s\"" : "empty%s", text);
    }
    if (spelt) putc('\n', stream);
}

static void print_text(const billboard_answer *a, FILE *stream) {
    fprintf(stream, "tasks            %.0f\n", number(a, "tasks"));
    fprintf(stream, "rows             %.0f\n", number(a, "rows"));
    fprintf(stream, "rows per task    least %.0f, median %g, most %.0f\n",
            number(a, "rows_per_task.min"), number(a, "rows_per_task.median"),
            number(a, "rows_per_task.max"));
    const bool sparse = number(a, "sparse") > 0.0;
    fprintf(stream, "features         %.0f", number(a, "features"));
    if (sparse) fprintf(stream, " (sparse: %.0f numbers)", number(a, "entries"));
    print_names(a, "columns", stream);
    if (billboard_answer_count(a, "image"))
        fprintf(stream, "image            %.0f x %.0f x %.0f\n", number(a, "image.0"),
                number(a, "image.1"), number(a, "image.2"));
    print_target(a, stream);
    const double complete = number(a, "missing.complete_rows");
    fprintf(
        stream,
        "\nmissing values   %.0f in features, %.0f in the target; %.0f row%s none\n",
        number(a, "missing.features"), number(a, "missing.targets"), complete,
        complete == 1.0 ? " has" : "s have");
    print_spelt(a, stream);
    const double dropped = number(a, "dropped_rows");
    if (dropped > 0.0)
        fprintf(stream, "left out         %.0f row%s with a missing value\n", dropped,
                dropped == 1.0 ? "" : "s");
    fprintf(stream, "constant columns %zu",
            billboard_answer_count(a, "constant_columns"));
    print_names(a, "constant_columns", stream);
    print_texts(a, stream);
    cmd_say_notes(a, "", stream);
}

/* Few whole numbers that do not begin at 0 may be classes, which have names then. */
static void print_classes(const billboard_answer *a, const request *r, FILE *stream) {
    enum { MOST_CLASSES = 10 };
    const double least = number(a, "target.min"), most = number(a, "target.max");
    const char *kind = billboard_answer_text(a, "target.kind");
    const char *given = cmd_options_last(&r->given, "target");
    const char *target = given ? given : "y";
    const int classes = (int)fmin(most - least + 1.0, MOST_CLASSES + 1);
    if (strcmp(kind, "integer") != 0 || least == 0.0 || classes > MOST_CLASSES ||
        cmd_options_last(&r->given, "categories"))
        return;
    fprintf(stream, "if the targets are classes: --categories '{\"%s\": [", target);
    for (int k = 0; k < classes; k++)
        fprintf(stream, "%s\"%.0f\"", k ? ", " : "", least + k);
    fputs(classes == 2 ? "]}' --loss logistic\n" : "]}' --loss softmax", stream);
    if (classes != 2) fprintf(stream, " --classes %d\n", classes);
}

static void print_start(const billboard_answer *a, const request *r, FILE *stream) {
    const char *start = billboard_answer_text(a, "start");
    const bool image = billboard_answer_count(a, "image") > 0;
    if (!start) return;
    const bool drafted =
        strstr(start, " --categories ") && !cmd_options_last(&r->given, "categories");
    if (drafted && !r->levels)
        fputs("\nto start with, this command again with --draft-categories "
              "categories.json, and\n",
              stream);
    else
        fputs("\nto start with:\n", stream);
    fprintf(stream, "  %s\n", start);
    if (image) return;
    const double classes = number(a, "target.max") + 1.0;
    if (billboard_answer_count(a, "classes") && classes <= MOST_SUGGESTED &&
        !strstr(start, "--loss"))
        fprintf(stream, "if the targets are classes: --loss softmax --classes %.0f\n",
                classes);
    print_classes(a, r, stream);
    fprintf(stream,
            "where ranges of the columns are publicly known: --scale ranges.json%s\n",
            strstr(start, "--standardize") ? " in place of --standardize unit-rows"
                                           : "");
}

/* In one order, whatever that of the command line is: the answer's command has it, too. */
static size_t options_of(const request *r, billboard_option option[OPTIONS]) {
    size_t n = 0;
    for (size_t k = 0; k < SAME; k++) {
        const char *given = cmd_options_last(&r->given, same[k]);
        if (given) option[n++] = (billboard_option){same[k], given};
    }
    if (r->image) option[n++] = (billboard_option){"image", r->image};
    if (r->multilabel) option[n++] = (billboard_option){"multilabel", NULL};
    if (r->levels) option[n++] = (billboard_option){"draft-categories", r->levels};
    if (r->ranges) option[n++] = (billboard_option){"ranges", r->output};
    return n;
}

static billboard_status ask(const request *r, billboard_answer **info) {
    billboard_option option[OPTIONS];
    billboard_data *data = NULL;
    if (r->output && !r->ranges)
        return cmd_fail(BILLBOARD_USAGE,
                        "--output is for the ranges: give --ranges, too");
    if (r->ranges && !r->output)
        return cmd_fail(BILLBOARD_USAGE, "ranges where to? give --output FILE");
    billboard_status status = billboard_data_from_file(r->path, &data);
    if (!status) status = billboard_info(data, option, options_of(r, option), info);
    billboard_data_free(data);
    return status;
}

static billboard_status inform(const request *r, const cmd_output *output) {
    billboard_answer *info = NULL;
    const billboard_status status = ask(r, &info);
    if (status) return status;
    if (r->json) {
        fprintf(output->stream, "%s\n", billboard_answer_json(info));
    } else {
        print_text(info, output->stream);
        print_start(info, r, output->stream);
    }
    if (r->levels && billboard_answer_count(info, "drafted"))
        fprintf(
            r->json ? stderr : output->stream,
            "%s: levels as the data have them, with which a run is not private; "
            "leave in what anybody can know, and then make its \"source\" \"public\"\n",
            r->levels);
    if (r->ranges)
        fprintf(r->json ? stderr : output->stream,
                "%s: ranges looked up in the data, so they are for simulations only; "
                "public ranges are written by hand\n",
                r->output);
    billboard_answer_free(info);
    return BILLBOARD_OK;
}

/* -- the command line -- */

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key >= FIRST_KEY && key < FIRST_KEY + SAME) {
        cmd_options_add(&r->given, same[key - FIRST_KEY], text);
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
    case LEVELS:
        r->levels = text;
        return 0;
    case OUTPUT:
        r->output = text;
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

/* The training options of the same names say what they are. */
static void describe(const billboard_answer *table, struct argp_option *option) {
    const size_t rows = billboard_answer_count(table, "options");
    for (size_t k = 0; k < SAME; k++)
        for (size_t row = 0; row < rows; row++)
            if (strcmp(cmd_option_part(table, row, "name"), same[k]) == 0)
                option[k] =
                    (struct argp_option){.name = same[k],
                                         .key = FIRST_KEY + (int)k,
                                         .arg = cmd_option_part(table, row, "argument"),
                                         .doc = cmd_option_part(table, row, "help")};
}

int cmd_info(int argc, char **argv) {
    struct argp_option option[SAME + 7] = {0};
    billboard_answer *table = NULL;
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
    option[SAME + 5] = (struct argp_option){
        .name = "draft-categories",
        .key = LEVELS,
        .arg = "FILE",
        .doc = "write the levels of columns of texts to FILE, for a "
               "person to leave in what is public: --categories"};
    const struct argp argp = {option, parse, "DATA", "Says what is in a data set.",
                              NULL,   NULL,  NULL};
    request r = {0};
    cmd_output output = {0};
    billboard_status status = billboard_options("train", &table);
    if (!status) {
        describe(table, option);
        argp_parse(&argp, argc, argv, 0, NULL, &r);
        status = cmd_open(&output);
    }
    if (!status && r.given.failed)
        status = cmd_fail(BILLBOARD_FAILED, "no memory for the options");
    if (!status) status = inform(&r, &output);
    billboard_answer_free(table);
    cmd_options_free(&r.given);
    return cmd_close(&output, status);
}
