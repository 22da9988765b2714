#include "train/outside.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAMED = 3 };

static bool is_outside(const bb_range *range, double value) {
    return value < range->low || value > range->high;
}

/* Of every column, and behind them of the target. */
static void count(const bb_preprocess *steps, const bb_dataset *train,
                  size_t *outside) {
    const size_t d = steps->features;
    for (size_t r = 0; r < train->rows; r++) {
        for (size_t k = 0; k < d && steps->range; k++)
            outside[k] += is_outside(&steps->range[k], train->x[r * d + k]);
        if (steps->has_target) outside[d] += is_outside(&steps->target, train->y[r]);
        if (r) bb_dataset_passed(train, r - 1, r);
    }
}

static void name_one(FILE *to, const bb_preprocess *steps, const bb_dataset *train,
                     size_t k, size_t outside) {
    const char *name = "the target";
    bb_range range = steps->target;
    if (steps->range && k < steps->features) {
        name = train->feature_name[k];
        range = steps->range[k];
    }
    fprintf(to, "%s: %zu of %zu values lie outside of [%g, %g], the public range", name,
            outside, train->rows, range.low, range.high);
}

bb_status bb_outside_words(const bb_preprocess *steps, const bb_dataset *train,
                           char **words) {
    const size_t columns = steps->features + 1;
    size_t *outside = NULL, size = 0, named = 0;
    char *text = NULL;
    *words = NULL;
    if ((!steps->range && !steps->has_target) || !train->x) return BB_OK;
    bb_status status = bb_allocate(&outside, columns, sizeof *outside, "ranges");
    FILE *to = status ? NULL : open_memstream(&text, &size);
    if (!status && !to) status = bb_fail(BB_ENOMEM, "no memory for a warning");
    if (!status) count(steps, train, outside);
    for (size_t k = 0; k < columns && !status; k++) {
        if (10 * outside[k] <= train->rows) continue;
        if (named && named < NAMED) fputs("; ", to);
        if (named++ < NAMED) name_one(to, steps, train, k, outside[k]);
    }
    if (named > NAMED) fprintf(to, "; so do many of %zu more columns", named - NAMED);
    if (to && fclose(to) && !status)
        status = bb_fail(BB_ENOMEM, "no memory for a warning");
    free(outside);
    if (status || !named)
        free(text);
    else
        *words = text;
    return status;
}
