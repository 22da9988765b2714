/* text_counts.h - how many texts of each column that has levels are none of them. That is
 * about private rows, so it is for the operator alone. */
#ifndef BB_DATA_TEXT_COUNTS_H
#define BB_DATA_TEXT_COUNTS_H

#include "base/json.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct bb_text_count {
    size_t levels;         /* that are named */
    size_t texts, unknown; /* that are there; that are no level among these */
    uint64_t other;        /* bb_names_hash of an unknown one */
    size_t differ;         /* not 0: not all unknown ones are the same */
} bb_text_count;

typedef struct bb_text_counts {
    size_t columns;
    char **name;          /* columns; one block */
    bb_text_count *count; /* columns */
} bb_text_counts;

/* to[k] <- to[k] + from[k]. */
void bb_text_counts_add(size_t columns, bb_text_count *to, const bb_text_count *from);
/* Adds those of other rows that were read with the same levels, or with none; *from becomes
 * empty. */
void bb_text_counts_join(bb_text_counts *to, bb_text_counts *from);
/* Takes zeroed ones, too. */
void bb_text_counts_close(bb_text_counts *counts);

/* What is to be said of them, a text for each column of which a text is no level, but where
 * one level is named and all others are one text: that is the one it differs from. To be
 * freed with json_decref; BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_text_counts_say(const bb_text_counts *counts, json_t **list);

#endif
