#include "data/info.h"

#include "api/job.h"
#include "api/tables.h"
#include "base/json.h"
#include "base/memory.h"
#include "data/encode.h"
#include "data/names.h"
#include "data/ranges.h"
#include "data/scan.h"
#include "data/task_names.h"
#include "train/population.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* How to read: the training options of the same names, which are all that is set of
 * them, and what is for looking only. */
typedef struct info_options {
    bb_train_options read;
    char *ranges, *levels;
    bool multilabel;
} info_options;

#define TEXT(name, field)                                                              \
    {                                                                                  \
        name, BB_OPTION_TEXT, offsetof(info_options, field), NULL, 0.0, 0.0, NULL,     \
            NULL, ""                                                                   \
    }

static const bb_option row[] = {
    TEXT("task", read.task),
    TEXT("target", read.target),
    TEXT("features", read.features),
    TEXT("ignore", read.ignore),
    {"format", BB_OPTION_CHOICE, offsetof(info_options, read.format), "auto", 0.0, 0.0,
     "auto|csv|libsvm|mat|npy|leaf|idx|bb", NULL, ""},
    TEXT("labels", read.labels),
    TEXT("tasks", read.tasks),
    TEXT("separator", read.separator),
    TEXT("missing", read.missing),
    TEXT("categories", read.categories),
    TEXT("image", read.image),
    TEXT("ranges", ranges),
    TEXT("draft-categories", levels),
    {"multilabel", BB_OPTION_FLAG, offsetof(info_options, multilabel), "false", 0.0,
     0.0, NULL, NULL, ""}};
static const bb_options table = {row, sizeof row / sizeof *row};

static bb_read_options format_of(const info_options *o) {
    bb_read_options format = bb_population_format(&o->read);
    format.multilabel = o->multilabel;
    format.keep_missing = true;
    format.target_optional = true;
    return format;
}

/* -- texts that nobody has spoken of -- */

/* What is to be said of them so that the rows can be read: levels of those that have few,
 * and the others left out. */
typedef struct draft {
    json_t *texts;             /* as bb_read_texts has them; NULL: none */
    json_t *levels;            /* those that have few */
    char *categories, *ignore; /* the options */
} draft;

static void close_draft(draft *d) {
    json_decref(d->texts);
    json_decref(d->levels);
    free(d->categories);
    free(d->ignore);
    *d = (draft){0};
}

/* ignored: columns that are left out already, or NULL. A column "source" is, too: so is called
 * what says that levels are a draft. */
static bb_status make_draft(draft *d, const char *ignored) {
    const char *name;
    json_t *list;
    d->levels = json_object();
    bb_status status = BB_OK;
    if (ignored) status = bb_duplicate(&d->ignore, ignored, strlen(ignored));
    json_object_foreach(d->texts, name, list) {
        if (json_is_array(list) && strcmp(name, "source") != 0) {
            json_object_set(d->levels, name, list);
            continue;
        }
        if (!status) status = bb_names_append(&d->ignore, name);
    }
    if (status || json_object_size(d->levels) == 0) return status;
    d->categories = bb_json_text(d->levels, 0);
    return d->categories ? BB_OK
                         : bb_fail(BB_ENOMEM, "no memory for the levels of texts");
}

/* The rows, and where columns of texts are all that is in the way, what to say of them. */
static bb_status read_rows(const bb_source *source, const info_options *o, draft *d,
                           bb_dataset *data) {
    bb_read_options format = format_of(o);
    bb_status status = bb_source_read(source, &format, data);
    if (status != BB_EDATA || !source->path || o->read.categories) return status;
    /* what is wrong in another way is told: of texts this command is what to do */
    status = bb_read_texts(source->path, &format, &d->texts);
    if (!status && json_object_size(d->texts)) status = make_draft(d, o->read.ignore);
    if (status) return status;
    if (json_object_size(d->texts)) {
        format.categories = d->categories;
        format.ignore = d->ignore;
    }
    status = bb_source_read(source, &format, data);
    if (status != BB_EDATA || !strstr(bb_last_error(), "no column is left"))
        return status;
    format = format_of(o); /* what is to be mended is all there is: of that it tells */
    return bb_source_read(source, &format, data);
}

/* Nothing, where there is nothing to draft: make_notes says so. */
static bb_status write_levels(const draft *d, const char *path) {
    if (!d->categories) return BB_OK;
    if (json_object_set_new(d->levels, "source", json_string("data")))
        return bb_fail(BB_ENOMEM, "no memory for the levels of texts");
    return bb_json_write_file(path, d->levels);
}

/* -- what is said -- */

static json_t *columns_json(const bb_dataset *data, size_t count,
                            const size_t *column) {
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++)
        bb_json_append(&list, json_string(data->feature_name[column[k]]));
    return list;
}

/* Of rows that have names: neither sparse ones nor images. */
static json_t *names_json(const bb_info *info, const bb_dataset *data) {
    json_t *list = json_array();
    for (size_t k = 0; data->x && !info->height && k < data->features; k++)
        bb_json_append(&list, json_string(data->feature_name[k]));
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

/* A list, since the path of an answer takes a name with a dot for two. */
static json_t *texts_json(const draft *d) {
    json_t *list = json_array(), *levels;
    const char *name;
    json_object_foreach(d->texts, name, levels) {
        if (json_is_object(levels)) continue;
        bb_json_append(&list, json_pack("{s:s,s:O}", "column", name, "levels", levels));
    }
    return list;
}

static json_t *drafted_json(const draft *d) {
    json_t *list = json_array(), *levels;
    const char *name;
    json_object_foreach(d->levels, name, levels)
        bb_json_append(&list, json_string(name));
    return list;
}

static json_t *spelt_json(unsigned spelt) {
    json_t *list = json_array();
    for (size_t k = 0; k < BB_SCAN_SPELLINGS; k++)
        if (spelt >> k & 1) bb_json_append(&list, json_string(bb_scan_spelling[k]));
    return list;
}

/* As the shell takes it for one word. */
static void put_word(FILE *to, const char *word) {
    if (bb_is_word(word)) {
        fputs(word, to);
        return;
    }
    putc('\'', to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            putc(*word, to);
    putc('\'', to);
}

/* Tables without ranges gain much by those that anybody knows, but what rows show is nobody's
 * knowledge yet. */
static bb_status add_binary_note(const bb_info *info, const bb_dataset *data,
                                 json_t **notes) {
    enum { SHOWN = 6 };
    const size_t count = info->binaries;
    json_t *columns = json_object();
    for (size_t k = 0; k < count && k < SHOWN; k++)
        json_object_set_new(columns, data->feature_name[info->binary[k]],
                            json_pack("[i,i]", 0, 1));
    json_t *ranges = json_pack("{s:o,s:s}", "columns", columns, "others", "open");
    char *scale = ranges ? bb_json_text(ranges, 0) : NULL, *note = NULL;
    bb_words words;
    bb_status status =
        scale ? bb_words_open(&words) : bb_fail(BB_ENOMEM, "no memory for a note");
    if (!status) {
        fprintf(words.stream,
                "%zu column%s 0 or 1 in all rows: where anybody may know that without "
                "them, say it, since tasks of few rows learn more then: --scale ",
                count, count == 1 ? " is" : "s are");
        put_word(words.stream, scale);
        if (count > SHOWN) fputs(", and so on", words.stream);
        status = bb_words_close(&words, &note);
    }
    if (!status) bb_json_append(notes, json_string(note));
    free(note);
    free(scale);
    json_decref(ranges);
    return status;
}

/* Names of rows, as R and pandas write them, are no feature unless somebody says so. */
static bool has_row_names(const bb_info *info, const info_options *o) {
    return info->numberings && info->numberings < info->features && !o->read.features;
}

static void add_row_names_notes(const bb_info *info, const bb_dataset *data,
                                json_t **notes) {
    for (size_t k = 0; k < info->numberings; k++)
        bb_json_append(notes,
                       json_sprintf("column \"%s\" numbers the rows, as names of rows "
                                    "do: no feature, so leave it out",
                                    data->feature_name[info->numbering[k]]));
}

static bb_status add_name_notes(const bb_dataset *data, json_t **notes) {
    json_t *list = NULL;
    const bb_status status = bb_task_names_say(data->tasks, data->task_name, &list);
    if (!status && json_array_extend(*notes, list)) {
        json_decref(*notes);
        *notes = NULL;
    }
    json_decref(list);
    return status;
}

/* Why there is no draft, where one was asked for. */
static json_t *no_draft(const draft *d) {
    return json_string(
        json_object_size(d->texts)
            ? "--draft-categories has written nothing: no column of texts "
              "has so few levels that they can be drafted"
            : "--draft-categories has written nothing: no column of texts "
              "is without levels");
}

static bb_status make_notes(const draft *d, const info_options *o, const bb_info *info,
                            const bb_dataset *data, json_t **out) {
    const char *name;
    json_t *list;
    bb_status status = bb_text_counts_say(&data->texts, out);
    if (status) return status;
    char text[BB_SINGLE_BYTES];
    if (bb_single_rows_say(data->tasks, bb_dataset_single_rows(data), text))
        bb_json_append(out, json_string(text));
    if (info->binaries && !info->height && info->target != BB_TARGET_LABELS)
        status = add_binary_note(info, data, out);
    if (has_row_names(info, o)) add_row_names_notes(info, data, out);
    if (!status) status = add_name_notes(data, out);
    json_object_foreach(d->texts, name, list) {
        json_t *note = json_object_get(list, "note");
        if (note) bb_json_append(out, json_incref(note));
    }
    if (o->levels && !d->categories) bb_json_append(out, no_draft(d));
    if (status) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

static json_t *info_json(const bb_info *info, const bb_dataset *data, const draft *d,
                         const char *start, json_t *notes) {
    return json_pack(
        "{s:I,s:I,s:I,s:{s:I,s:o,s:I},s:b,s:{s:s,s:o,s:o,s:I},s:{s:I,s:I,s:I,s:o},s:o,"
        "s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:o,s:o,s:o,s:o}",
        "tasks", (json_int_t)info->tasks, "rows", (json_int_t)info->rows, "features",
        (json_int_t)info->features, "rows_per_task", "min",
        (json_int_t)info->least_rows, "median", bb_json_real(info->median_rows), "max",
        (json_int_t)info->most_rows, "sparse", (int)info->sparse, "target", "kind",
        bb_target_text(info->target), "min", bb_json_real(info->least_target), "max",
        bb_json_real(info->most_target), "tasks_of_one_value",
        (json_int_t)info->one_class, "missing", "features",
        (json_int_t)info->missing_features, "targets",
        (json_int_t)info->missing_targets, "complete_rows",
        (json_int_t)info->complete_rows, "spelt", spelt_json(data->spelt), "columns",
        names_json(info, data), "constant_columns",
        columns_json(data, info->constants, info->constant), "binary_columns",
        columns_json(data, info->binaries, info->binary), "row_numbers",
        columns_json(data, info->numberings, info->numbering), "classes",
        classes_json(info), "labels", labels_json(info), "image", image_json(info),
        "start", start ? json_string(start) : json_null(), "dropped_rows",
        (json_int_t)data->dropped, "entries",
        info->sparse ? json_integer((json_int_t)info->entries) : json_null(), "texts",
        texts_json(d), "drafted", drafted_json(d), "notes", notes);
}

/* -- the command that the data can be trained with at once -- */

/* The loss that the targets ask for, and a private method for it where there is no
 * default one, with rows divided by their norm. names: of classes, if they have some. */
static void put_method(FILE *to, const bb_info *info, size_t names) {
    const bool binary =
        info->target == BB_TARGET_BINARY || info->target == BB_TARGET_SIGN;
    if (info->target == BB_TARGET_LABELS)
        fprintf(to, " --loss multilabel --classes %zu --method fedavg --batch 10",
                info->labels);
    else if (info->height && info->classes)
        fprintf(to,
                " --loss softmax --net conv5x16,pool2,dense%.0f --method fedavg "
                "--batch 10",
                info->most_target + 1.0);
    else if (names > 2)
        fprintf(to, " --loss softmax --classes %zu", names);
    else
        fputs(binary || names == 2 ? " --loss logistic" : "", to);
    if (!info->height && info->target == BB_TARGET_LABELS)
        fputs(" --standardize unit-rows", to);
}

static void put_option(FILE *to, const char *name, const char *value) {
    fprintf(to, " --%s ", name);
    put_word(to, value);
}

/* Options that say how to read, which training needs, too. */
static void put_options(FILE *to, const draft *d, const billboard_option *option,
                        size_t options) {
    static const char *const other[] = {"ranges", "multilabel", "draft-categories"};
    for (size_t k = 0; k < options; k++) {
        bool skipped =
            !option[k].value || (d->ignore && !strcmp(option[k].name, "ignore"));
        for (size_t i = 0; i < sizeof other / sizeof *other; i++)
            skipped = skipped || strcmp(option[k].name, other[i]) == 0;
        if (!skipped) put_option(to, option[k].name, option[k].value);
    }
}

/* What is in the way of training as these options are: texts, and missing values. */
static void put_remedies(FILE *to, const draft *d, const info_options *o,
                         const bb_info *info) {
    if (d->categories)
        put_option(to, "categories", o->levels ? o->levels : "categories.json");
    if (d->ignore) put_option(to, "ignore", d->ignore);
    if (o->read.missing || info->sparse || info->complete_rows == info->rows) return;
    const size_t targets = info->rows - info->missing_targets;
    const bool few = 2 * info->complete_rows < targets;
    put_option(to, "missing", few ? "indicator" : "drop-rows");
}

/* Of classes that have names, in the draft or in the option. */
static bb_status count_names(const draft *d, const info_options *o, size_t *count) {
    const bb_read_options format = format_of(o);
    json_t *given = NULL;
    const bb_status status =
        format.categories ? bb_levels_read(&given, format.categories) : BB_OK;
    *count = json_array_size(bb_levels_classes(given ? given : d->levels, &format));
    json_decref(given);
    return status;
}

/* `billboard train PATH` with them, a loss for the targets and a private method, ready for
 * the shell; NULL for a data set without targets, and for arrays. */
static bb_status make_start(const bb_info *info, const draft *d, const info_options *o,
                            const char *path, const billboard_option *option,
                            size_t options, char **out) {
    bb_words words;
    size_t names = 0;
    *out = NULL;
    if (!path || info->target == BB_TARGET_NONE) return BB_OK;
    bb_status status = count_names(d, o, &names);
    if (!status) status = bb_words_open(&words);
    if (status) return status;
    fputs("billboard train ", words.stream);
    put_word(words.stream, path);
    put_options(words.stream, d, option, options);
    put_remedies(words.stream, d, o, info);
    put_method(words.stream, info, names);
    fputs(" --epsilon 1 --train-fraction 0.7 --compare stl -o run", words.stream);
    return bb_words_close(&words, out);
}

/* The command leaves names of rows out. */
static bb_status leave_row_names(draft *d, const bb_info *info, const bb_dataset *data,
                                 const info_options *o) {
    bb_status status = BB_OK;
    if (!has_row_names(info, o)) return BB_OK;
    if (!d->ignore && o->read.ignore)
        status = bb_duplicate(&d->ignore, o->read.ignore, strlen(o->read.ignore));
    for (size_t k = 0; k < info->numberings && !status; k++)
        status = bb_names_append(&d->ignore, data->feature_name[info->numbering[k]]);
    return status;
}

/* -- the call -- */

static bb_status write_ranges(const bb_dataset *data, const char *path) {
    bb_ranges ranges = {0};
    bb_status status = bb_ranges_from_data(&ranges, data);
    if (!status) status = bb_ranges_write(&ranges, path);
    bb_ranges_free(&ranges);
    return status;
}

static bb_status inform(const billboard_data *given, const info_options *o,
                        const billboard_option *option, size_t options,
                        billboard_answer **out) {
    const bb_source source = bb_data_source(given);
    bb_dataset data = {0};
    bb_info info = {0};
    draft d = {0};
    char *start = NULL;
    json_t *notes = NULL;
    bb_status status = read_rows(&source, o, &d, &data);
    if (!status) status = bb_info_open(&info, &data);
    if (!status) status = leave_row_names(&d, &info, &data, o);
    if (!status)
        status = make_start(&info, &d, o, given->path, option, options, &start);
    if (!status && o->ranges) status = write_ranges(&data, o->ranges);
    if (!status && o->levels) status = write_levels(&d, o->levels);
    if (!status) status = make_notes(&d, o, &info, &data, &notes);
    if (!status)
        status = bb_answer_open(out, info_json(&info, &data, &d, start, notes));
    free(start);
    close_draft(&d);
    bb_info_close(&info);
    bb_dataset_free(&data);
    return status;
}

billboard_status billboard_info(const billboard_data *data,
                                const billboard_option *option, size_t options,
                                billboard_answer **info) {
    static const char function[] = "billboard_info";
    info_options o = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(data, function, "data");
    if (!status) status = bb_call_given(info, function, "info");
    if (!status) status = bb_options_default(table, &o);
    if (!status) status = bb_call_options(table, &o, "info", option, options);
    if (!status) status = inform(data, &o, option, options, info);
    bb_options_free(table, &o);
    return bb_call_end(&call, status);
}
