/* fingerprint.h - whether two data sets are the same, to the bit. */
#ifndef BB_DATA_FINGERPRINT_H
#define BB_DATA_FINGERPRINT_H

#include "base/hash.h"
#include "data/dataset.h"

/* Adds everything that a run sees of a data set: names, rows, targets. PRIVATE: whoever
 * guesses rows can check the guess by the hash. */
void bb_dataset_fingerprint(const bb_dataset *data, bb_hash *hash);

#endif
