/* read.h - data sets from files: CSV, LIBSVM, MATLAB, NumPy, LEAF, IDX, Billboard's own.
 *
 * A bad file gives BB_EDATA and one message that says where (file, line, column), what
 * was expected and what was found. A file that cannot be opened or read gives BB_EIO.
 */
#ifndef BB_DATA_READ_H
#define BB_DATA_READ_H

#include "base/json.h"
#include "data/dataset.h"

#include <stdbool.h>

typedef enum bb_format {
    BB_FORMAT_AUTO, /* by the name's extension, else by the first bytes */
    BB_FORMAT_CSV,
    BB_FORMAT_LIBSVM,
    BB_FORMAT_MAT,
    BB_FORMAT_NPY,
    BB_FORMAT_LEAF,
    BB_FORMAT_IDX,
    BB_FORMAT_BB
} bb_format;

/* Which columns are what. Every text may be NULL.
 *
 *  format   task             target           features         ignore
 *  CSV      column "task"    column "y"       all other ones   columns to leave out
 *  LIBSVM   always qid:      always first     how many         -
 *  MAT      always cells     cells "Y"        cells "X"        -
 *  NPY      0-based column   0-based column   all other ones   columns to leave out
 *  NPZ      array "task"     array "y"        array "X"        -
 *  LEAF     always users     always "y"       always "x"       -
 *  IDX      file `tasks`     file `labels`    the file itself  -
 *  BB       always its own   its name         sparse: how many -
 *
 * `features` and `ignore` are comma-separated lists of names where they mean columns.
 * Giving one where the table has a `-` or "always" is BB_EUSAGE, and so are `labels`
 * and `tasks` for any format but IDX; where they are NULL there, the names follow from
 * that of the images (docs/data-formats.md).
 *
 * With `multilabel` the target is a list of labels, whole numbers from 0, perhaps none:
 * "3,17,25" in LIBSVM, where it may be missing before qid:, and "3 17 25" or "3;17;25"
 * in CSV; BB_EUSAGE for other formats. Lists may be in any order, and twice is once.
 *
 * `image` says that rows are images, "28x28" or "28x28x1" (height, width, channels);
 * BB_EUSAGE if it is no shape, BB_EDATA if it is not that of as many numbers as rows
 * have. Without it only IDX files of 3 and 4 dimensions have a shape. */
typedef struct bb_read_options {
    bb_format format;
    const char *task, *target, *features, *ignore;
    const char *labels, *tasks;
    const char *separator;  /* CSV: "," (NULL), ";" or "tab" */
    const char *missing;    /* CSV, see encode.h: "error" (NULL), "drop-rows" or
                               "indicator" */
    const char *categories; /* CSV: a file, see encode.h */
    const char *classes;    /* what `categories` calls the target where `target` is
                               another name; NULL: the same */
    bool keep_missing;      /* missing numbers become NAN instead of an error */
    bool target_missing;    /* missing targets become NAN, features do not */
    bool target_ignored; /* CSV, LIBSVM, NPY: whatever the target is, it is passed over;
                             target_name is NULL, y all NAN */
    bool target_optional; /* CSV, LEAF, IDX: a file without targets is read, target_name
                             is NULL; CSV: unless `target` names one */
    bool
        for_run; /* rows for the models of a run, whose options these are: columns to leave
                     out need not be there, and messages name no option of training */
    bool public_shape; /* LIBSVM: BB_EUSAGE where `features` does not say how many
                             there are, which a private run must not find in rows */
    bool multilabel;   /* lists of labels as targets */
    size_t outputs;    /* multilabel: how many labels there are, at most
                             BB_MOST_CLASSES; 0: the largest that occurs + 1 */
    const char *image;
    size_t memory;  /* BB, what is made of its rows: see dataset.h */
    size_t threads; /* CSV, BB: so many read; 0: as many as there are processors */
    struct bb_slice *slice; /* CSV, NPY, BB: only these rows, perhaps none (slice.h) */
} bb_read_options;

/* The format of a file, whatever it is compressed by: what the options say, or its name,
 * or its first bytes. BB_EIO. */
BB_MUST_CHECK bb_status bb_read_format(const char *path, const bb_read_options *options,
                                       bb_format *format);
/* Reads a file into *out, which is written only on success. `options` may be NULL.
 * CSV, LIBSVM, LEAF and IDX may be compressed by gzip, whatever their name. */
BB_MUST_CHECK bb_status bb_read(const char *path, const bb_read_options *options,
                                bb_dataset *out);
/* Columns of texts that a CSV file has and the options do not speak of, {"city":
 * ["Bergen", "Oslo"], "name": null} with the levels in order, null where there are more
 * than 50; {} for other formats. Where nearly all of its cells are numbers, also with decimal
 * commas, or dates, it is {"note": what is to be said of it}. It looks at all rows: a draft
 * for a person who knows what is public. To be freed with json_decref. BB_EIO, BB_EDATA. */
BB_MUST_CHECK bb_status bb_read_texts(const char *path, const bb_read_options *options,
                                      json_t **texts);
/* What bb_read does for its option `image`, for rows that first lose a column. */
BB_MUST_CHECK bb_status bb_read_image(const char *image, bb_dataset *data);

#endif
