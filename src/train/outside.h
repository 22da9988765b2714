/* outside.h - inside the room: columns most of whose numbers their public ranges do not have,
 * which are more likely in another unit than rare. */
#ifndef BB_TRAIN_OUTSIDE_H
#define BB_TRAIN_OUTSIDE_H

#include "data/preprocess.h"

/* *words <- which columns have more than one number in ten outside of its range, by name, and
 * how many; NULL: none has. Missing cells are no numbers. To be freed with free. `train` as it
 * was read. What it says is of the rows, and so for their operator only. */
BB_MUST_CHECK bb_status bb_outside_words(const bb_preprocess *steps,
                                         const bb_dataset *train, char **words);

#endif
