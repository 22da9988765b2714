/* worlds.h - synthetic populations by name: those of synth.h and of synth_labels.h. */
#ifndef BB_DATA_WORLDS_H
#define BB_DATA_WORLDS_H

#include "data/dataset.h"

typedef struct bb_world_spec {
    const char
        *name; /* low-rank, group-sparse, outliers, anomaly, classes, multilabel */
    size_t tasks, samples, features, labels; /* labels or classes: of such worlds */
    uint64_t seed;
} bb_world_spec;

/* BB_EUSAGE: there is no world of this name. */
BB_MUST_CHECK bb_status bb_world_check(const char *name);
/* Has it true models to tell? Have its rows lists of labels? Of a name that was checked.
 */
bool bb_world_has_models(const char *name);
bool bb_world_has_lists(const char *name);
/* Training and test rows; model (tasks x features), if not NULL, gets the true ones where
 * there are such. Errors of bb_world_check, bb_synth and bb_synth_labels. */
BB_MUST_CHECK bb_status bb_world_draw(const bb_world_spec *spec, bb_dataset *train,
                                      bb_dataset *test, double *model);

#endif
