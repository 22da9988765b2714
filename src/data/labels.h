/* labels.h - lists of labels as targets: "3,17,25". */
#ifndef BB_DATA_LABELS_H
#define BB_DATA_LABELS_H

#include "data/builder.h"
#include "data/read.h"

enum { BB_LABELS_BYTES = 160 };
/* Adds the labels of a list, perhaps none, to the builder's next row. They are divided
 * by `separator` or by spaces, which also may be around it. `words` says what is wrong
 * with the list, "expected a label from 0 to 9, found ...", or is empty; the status
 * tells only of memory. */
BB_MUST_CHECK bb_status bb_labels_take(bb_builder *builder,
                                       const bb_read_options *options, const char *text,
                                       size_t length, char separator,
                                       char words[BB_LABELS_BYTES]);

/* bb_builder_finish, and where rows have lists the number of labels, from the options
 * or the rows. BB_EDATA if the options do not say and no row has one. */
BB_MUST_CHECK bb_status bb_labels_finish(bb_builder *builder,
                                         const bb_read_options *options,
                                         const char *path, bb_dataset *out);

#endif
