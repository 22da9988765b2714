#include "data/worlds.h"

#include "data/synth.h"
#include "data/synth_labels.h"

#include <string.h>

static const struct {
    const char *name;
    bool labelled, lists; /* of bb_label_world */
    bb_world world;       /* of the others */
} known[] = {{"low-rank", false, false, BB_WORLD_LOW_RANK},
             {"group-sparse", false, false, BB_WORLD_GROUP_SPARSE},
             {"outliers", false, false, BB_WORLD_OUTLIERS},
             {"anomaly", false, false, BB_WORLD_ANOMALY},
             {"classes", true, false, BB_WORLD_LOW_RANK},
             {"multilabel", true, true, BB_WORLD_LOW_RANK}};
enum { WORLDS = sizeof known / sizeof *known };

static size_t find(const char *name) {
    size_t k = 0;
    while (k < WORLDS && strcmp(known[k].name, name) != 0) k++;
    return k;
}

bb_status bb_world_check(const char *name) {
    if (find(name) < WORLDS) return BB_OK;
    return bb_fail(
        BB_EUSAGE,
        "a world is low-rank, group-sparse, outliers, anomaly, classes or multilabel, "
        "got \"%s\"",
        name);
}

bool bb_world_has_models(const char *name) {
    return !known[find(name)].labelled;
}

bool bb_world_has_lists(const char *name) {
    return known[find(name)].lists;
}

bb_status bb_world_draw(const bb_world_spec *s, bb_dataset *train, bb_dataset *test,
                        double *model) {
    const size_t k = find(s->name);
    const bb_status status = bb_world_check(s->name);
    if (status) return status;
    const bb_synth_options world = {known[k].world, s->tasks, s->samples, s->features,
                                    s->seed};
    const bb_label_world labelled = {.lists = known[k].lists,
                                     .tasks = s->tasks,
                                     .samples = s->samples,
                                     .features = s->features,
                                     .labels = s->labels,
                                     .seed = s->seed};
    return known[k].labelled ? bb_synth_labels(&labelled, train, test)
                             : bb_synth(&world, train, test, model);
}
