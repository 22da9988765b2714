/* readers.h - the readers behind bb_read, one file each. The options are never NULL. */
#ifndef BB_DATA_READERS_H
#define BB_DATA_READERS_H

#include "base/json.h"
#include "data/read.h"
#include "data/text.h"

/* The text is open, at its beginning; the caller closes it. */
BB_MUST_CHECK bb_status bb_read_csv(bb_text *text, const bb_read_options *options,
                                    bb_dataset *out);
/* What bb_read_texts does. */
BB_MUST_CHECK bb_status bb_csv_texts(bb_text *text, const bb_read_options *options,
                                     json_t **out);
BB_MUST_CHECK bb_status bb_read_libsvm(bb_text *text, const bb_read_options *options,
                                       bb_dataset *out);
BB_MUST_CHECK bb_status bb_read_leaf(bb_text *text, const bb_read_options *options,
                                     bb_dataset *out);
BB_MUST_CHECK bb_status bb_read_idx(bb_text *text, const bb_read_options *options,
                                    bb_dataset *out);
/* MATLAB v5 and v7.3 (HDF5). */
BB_MUST_CHECK bb_status bb_read_mat(const char *path, const bb_read_options *options,
                                    bb_dataset *out);
/* .npy and .npz, told apart by their first bytes. */
BB_MUST_CHECK bb_status bb_read_npy(const char *path, const bb_read_options *options,
                                    bb_dataset *out);
/* Billboard's own (bbfile.h). */
BB_MUST_CHECK bb_status bb_read_bbfile(const char *path, const bb_read_options *options,
                                       bb_dataset *out);
/* Part `number` of `count` of one (slice.h): whole tasks, from .. to - 1, with about as
 * many rows in each part. */
BB_MUST_CHECK bb_status bb_bbfile_cut(const char *path, const bb_read_options *options,
                                      size_t number, size_t count,
                                      struct bb_slice *slice);
/* Part `number` of `count` of a NumPy file (slice.h): its size and rows, or that it is
 * `whole`. */
BB_MUST_CHECK bb_status bb_numpy_cut(const char *path, const bb_read_options *options,
                                     size_t number, size_t count,
                                     struct bb_slice *slice);

#endif
