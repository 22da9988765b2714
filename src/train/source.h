/* source.h - where rows come from: a file, or memory. */
#ifndef BB_TRAIN_SOURCE_H
#define BB_TRAIN_SOURCE_H

#include "data/read.h"

typedef struct bb_source {
    const char *path;       /* NULL: */
    const bb_dataset *rows; /* these, borrowed */
    /* With a path: `rows` are what it gave when it was read with these options, and stand
     * for it where they are the same; NULL: it has not been read. */
    const bb_read_options *as;
} bb_source;

/* bb_read of a file, or a copy of what it gave before; a copy of rows in memory. Options that
 * say where in a file something is are BB_EUSAGE for rows in memory, unless they are of a run
 * whose models meet new rows (for_run): then they are about other data. */
BB_MUST_CHECK bb_status bb_source_read(const bb_source *source,
                                       const bb_read_options *options, bb_dataset *out);

#endif
