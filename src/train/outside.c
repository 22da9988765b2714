#include "train/outside.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAMED = 3 };

static bool is_outside(const bb_range *range, double value) {
    return value < range->low || value > range->high;
}

/* Of a column's numbers, or the target's. */
typedef struct tally {
    size_t outside, missing; /* which are no numbers, and outside of nothing */
} tally;

static void count_one(tally *of, const bb_preprocess *steps, const double *x,
                      size_t k) {
    const bool missing = bb_preprocess_is_missing(steps, x, k);
    of->missing += missing;
    of->outside += !missing && is_outside(&steps->range[k], x[k]);
}

/* Of every column, and behind them of the target. */
static void count(const bb_preprocess *steps, const bb_dataset *train, tally *of) {
    const size_t d = steps->features;
    for (size_t r = 0; r < train->rows; r++) {
        for (size_t k = 0; k < d && steps->range; k++)
            count_one(&of[k], steps, train->x + r * d, k);
        if (steps->has_target) of[d].outside += is_outside(&steps->target, train->y[r]);
        if (r) bb_dataset_passed(train, r - 1, r);
    }
}

static void name_one(FILE *to, const bb_preprocess *steps, const bb_dataset *train,
                     size_t k, const tally *of) {
    const char *name = "the target";
    bb_range range = steps->target;
    if (steps->range && k < steps->features) {
        name = train->feature_name[k];
        range = steps->range[k];
    }
    const size_t values = train->rows - of->missing;
    fprintf(to, "%s: %zu of %zu value%s lie%s outside of [%g, %g], the public range",
            name, of->outside, values, bb_plural((double)values),
            of->outside == 1 ? "s" : "", range.low, range.high);
}

bb_status bb_outside_words(const bb_preprocess *steps, const bb_dataset *train,
                           char **words) {
    const size_t columns = steps->features + 1;
    tally *of = NULL;
    size_t size = 0, named = 0;
    char *text = NULL;
    *words = NULL;
    if ((!steps->range && !steps->has_target) || !train->x) return BB_OK;
    bb_status status = bb_allocate(&of, columns, sizeof *of, "ranges");
    FILE *to = status ? NULL : open_memstream(&text, &size);
    if (!status && !to) status = bb_fail(BB_ENOMEM, "no memory for a warning");
    if (!status) count(steps, train, of);
    for (size_t k = 0; k < columns && !status; k++) {
        if (10 * of[k].outside <= train->rows - of[k].missing) continue;
        if (named && named < NAMED) fputs("; ", to);
        if (named++ < NAMED) name_one(to, steps, train, k, &of[k]);
    }
    if (named > NAMED) fprintf(to, "; so do many of %zu more columns", named - NAMED);
    if (to && fclose(to) && !status)
        status = bb_fail(BB_ENOMEM, "no memory for a warning");
    free(of);
    if (status || !named)
        free(text);
    else
        *words = text;
    return status;
}
