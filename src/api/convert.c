#include "api/data.h"
#include "api/tables.h"
#include "base/memory.h"
#include "data/bbfile.h"
#include "data/encode.h"
#include "train/population.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct convert_options {
    bb_train_options read; /* those that say how files are read, and nothing else */
    char *output;
    bool single, multilabel;
    uint64_t memory;
} convert_options;

#define AT(field) offsetof(convert_options, field)
/* clang-format off */
static const bb_option row[] = {
    {"output", BB_OPTION_TEXT, AT(output), NULL, 0.0, 0.0, NULL, "FILE", "where to; a file there is replaced when the new one is complete"},
    {"float32", BB_OPTION_FLAG, AT(single), "false", 0.0, 0.0, NULL, NULL, "numbers of the features are rounded to 32 bits: half the size"},
    {"memory", BB_OPTION_COUNT, AT(memory), "268435456", 0x1p16, 0x1p60, NULL, "BYTES", "of a CSV or NumPy file, look at about so many bytes at once"},
    {"task", BB_OPTION_TEXT, AT(read.task), NULL, 0.0, 0.0, NULL, "COLUMN", "as for training (billboard train --help), and so are all below"},
    {"target", BB_OPTION_TEXT, AT(read.target), NULL, 0.0, 0.0, NULL, "COLUMN", "the column to predict"},
    {"features", BB_OPTION_TEXT, AT(read.features), NULL, 0.0, 0.0, NULL, "COLUMNS", "only these columns; LIBSVM: how many there are"},
    {"ignore", BB_OPTION_TEXT, AT(read.ignore), NULL, 0.0, 0.0, NULL, "COLUMNS", "leave these columns out"},
    {"format", BB_OPTION_CHOICE, AT(read.format), "auto", 0.0, 0.0, "auto|csv|libsvm|mat|npy|leaf|idx|bb", "FORMAT", "the data's format"},
    {"separator", BB_OPTION_TEXT, AT(read.separator), NULL, 0.0, 0.0, NULL, "CHARACTER", "CSV: what separates columns"},
    {"missing", BB_OPTION_TEXT, AT(read.missing), NULL, 0.0, 0.0, NULL, "HOW", "CSV: missing values"},
    {"categories", BB_OPTION_TEXT, AT(read.categories), NULL, 0.0, 0.0, NULL, "FILE", "CSV: columns of text and their levels"},
    {"labels", BB_OPTION_TEXT, AT(read.labels), NULL, 0.0, 0.0, NULL, "FILE", "IDX: the labels"},
    {"tasks", BB_OPTION_TEXT, AT(read.tasks), NULL, 0.0, 0.0, NULL, "FILE", "IDX: the tasks"},
    {"image", BB_OPTION_TEXT, AT(read.image), NULL, 0.0, 0.0, NULL, "HxWxC", "rows are images of this shape"},
    {"multilabel", BB_OPTION_FLAG, AT(multilabel), "false", 0.0, 0.0, NULL, NULL, "targets are lists of labels"},
    {"classes", BB_OPTION_COUNT, AT(read.classes), "0", 0.0, 0x1p24, NULL, "N", "how many labels there are; 0: the largest + 1"},
    {"threads", BB_OPTION_COUNT, AT(read.threads), "0", 0.0, 1024.0, NULL, "N", "so many read; 0: as many as there are processors"},
};
/* clang-format on */

bb_option_table bb_convert_table(void) {
    return (bb_option_table){{row, sizeof row / sizeof *row}, sizeof(convert_options)};
}

static bb_status take_sources(const billboard_data *const *data, size_t count,
                              bb_convert_source *source) {
    bb_status status = BB_OK;
    for (size_t s = 0; s < count && !status; s++) {
        status = bb_call_given(data[s], "billboard_convert", "data");
        if (!status) source[s] = (bb_convert_source){data[s]->path, &data[s]->rows};
    }
    return status;
}

static bb_status convert(const billboard_data *const *data, size_t count,
                         const convert_options *o, billboard_answer **out) {
    bb_convert_options options = {.read = bb_population_format(&o->read),
                                  .single = o->single,
                                  .memory = (size_t)o->memory};
    bb_convert_source *source = NULL;
    bb_converted made = {0};
    json_t *notes = NULL;
    options.read.multilabel = o->multilabel;
    options.read.target_optional = true;
    if (count == 0) return bb_fail(BB_EUSAGE, "which DATA is to be converted?");
    if (!o->output) return bb_fail(BB_EUSAGE, "where to? give --output FILE");
    /* the new file could not say that they are a draft */
    bb_status status = bb_levels_public(o->read.categories, "convert:");
    if (!status) status = bb_allocate(&source, count, sizeof *source, "the sources");
    if (!status) status = take_sources(data, count, source);
    if (!status) status = bb_convert(source, count, &options, o->output, &made);
    if (!status) status = bb_text_counts_say(&made.texts, &notes);
    if (!status)
        status = bb_answer_open(
            out,
            json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:s,s:o}", "tasks",
                      (json_int_t)made.tasks, "rows", (json_int_t)made.rows, "features",
                      (json_int_t)made.features, "entries", (json_int_t)made.entries,
                      "bytes", (json_int_t)made.bytes, "dropped_rows",
                      (json_int_t)made.dropped, "output", o->output, "notes", notes));
    bb_text_counts_close(&made.texts);
    free(source);
    return status;
}

billboard_status billboard_convert(const billboard_data *const *data, size_t count,
                                   const billboard_option *option, size_t options,
                                   billboard_answer **made) {
    static const char function[] = "billboard_convert";
    const bb_options table = bb_convert_table().options;
    convert_options o = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(data, function, "data");
    if (!status) status = bb_call_given(made, function, "made");
    if (!status) status = bb_options_default(table, &o);
    if (!status) status = bb_call_options(table, &o, "convert", option, options);
    if (!status) status = convert(data, count, &o, made);
    bb_options_free(table, &o);
    return bb_call_end(&call, status);
}
