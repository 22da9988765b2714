/* dealt_rows.h - inside the room: how rows go from rank to rank. */
#ifndef BB_TRAIN_DEALT_ROWS_H
#define BB_TRAIN_DEALT_ROWS_H

#include "core/wire.h"
#include "train/dealt.h"

/* Names one behind the other, each with a zero behind it; back: pointers to them where
 * they are, to be freed without them. BB_EIO: they are not there. */
void bb_put_names(bb_writer *out, size_t count, char *const *name);
BB_MUST_CHECK bb_status bb_get_names(bb_reader *in, size_t count, char ***name);

/* What the rows of all ranks are: everything but tasks and rows themselves, from the
 * lowest rank that has rows. like->feature_name is to be freed, and points, as its other
 * names do, into *kept, which is, too. BB_EDATA: a rank has other columns. */
BB_MUST_CHECK bb_status bb_share_shape(bb_ranks *ranks, bb_status status,
                                       const bb_dataset *rows, bb_dataset *like,
                                       bb_message *kept);
/* *rows: a rank's part becomes the rows of its own tasks. */
BB_MUST_CHECK bb_status bb_exchange_rows(const bb_dealt *dealt, bb_status status,
                                         const bb_dataset *like, bb_dataset *rows);
/* What came from each rank (its own part, too) -> the own tasks' rows. The own rows'
 * features stay in the memory that *rows has for them, which *out takes over. BB_EIO. */
BB_MUST_CHECK bb_status bb_join_rows(const bb_dealt *dealt, const bb_message *piece,
                                     const bb_message *x, const bb_dataset *like,
                                     bb_dataset *rows, bb_dataset *out);

#endif
