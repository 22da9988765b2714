/* Settings that are chosen: each group with the candidate that is best on seeds that no
 * table reports, or on held-out training rows of those that are reported. In a simulation
 * only: no budget pays for it. */
#include "base/memory.h"
#include "experiments/study_inside.h"
#include "train/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seeds that nobody reports: these and the next. */
enum { FIRST_SEED = 1000001, USUAL_SEEDS = 2 };

bool bb_study_folds(const bb_study *s) {
    const json_t *tune = json_object_get(s->definition, "tune");
    return json_is_true(json_object_get(tune, "folds"));
}

static size_t seeds_of(const bb_study *s) {
    const json_t *tune = json_object_get(s->definition, "tune");
    const json_int_t seeds = json_integer_value(json_object_get(tune, "seeds"));
    return seeds > 0 ? (size_t)seeds : USUAL_SEEDS;
}

/* Cells of one candidate: seed by seed and fold by fold. */
static size_t trials_of(const bb_study *s) {
    return seeds_of(s) * (bb_study_folds(s) ? BB_TUNE_FOLDS : 1);
}

static bool less_is_better(const json_t *result) {
    const char *metric = json_string_value(json_object_get(result, "metric"));
    return metric && strcmp(metric, "nmse") == 0;
}

/* What the candidate reaches, the larger the better; a cell that failed is the worst. */
static double value_of(const bb_wanted *cell, size_t trials) {
    double sum = 0.0;
    for (size_t k = 0; k < trials; k++) {
        const json_t *at = json_object_get(cell[k].result, "test");
        const double value = json_is_number(at) ? json_number_value(at) : NAN;
        sum += less_is_better(cell[k].result) ? -value : value;
    }
    return isnan(sum) ? -INFINITY : sum;
}

static size_t candidates_of(const bb_study *s, size_t group) {
    return json_array_size(s->groups.group[group].candidates);
}

static bb_status want_all(const bb_study *s, bb_wanted *cell) {
    const bool folds = bb_study_folds(s);
    const size_t trials = trials_of(s);
    bb_status status = BB_OK;
    size_t n = 0;
    for (size_t g = 0; g < s->groups.count; g++)
        for (size_t c = 0; c < candidates_of(s, g); c++)
            for (size_t k = 0; k < trials && !status; k++, n++) {
                cell[n] = (bb_wanted){.group = g, .candidate = c};
                cell[n].seed = folds ? 1 + k / BB_TUNE_FOLDS : FIRST_SEED + k;
                cell[n].fold = folds ? 1 + (unsigned)(k % BB_TUNE_FOLDS) : 0;
                status = bb_study_want(s, &cell[n]);
            }
    return status;
}

/* The first of the best, group by group; -INFINITY everywhere: the first. */
static void choose(bb_study *s, const bb_wanted *cell) {
    const size_t trials = trials_of(s);
    for (size_t g = 0; g < s->groups.count; g++) {
        double best = -INFINITY;
        for (size_t c = 0; c < candidates_of(s, g); c++, cell += trials) {
            const double value = value_of(cell, trials);
            if (value > best) s->chosen[g] = c;
            best = fmax(best, value);
        }
    }
}

bb_status bb_study_tune(bb_study *s) {
    bb_wanted *cell = NULL;
    size_t cells = 0;
    for (size_t g = 0; g < s->groups.count; g++)
        cells += candidates_of(s, g) * trials_of(s);
    if (cells == 0) return BB_OK;
    s->all += cells;
    bb_status status =
        bb_allocate(&cell, cells, sizeof *cell, "the cells of an experiment");
    if (!status) status = want_all(s, cell);
    if (!status) status = bb_study_cells(s, cell, cells);
    if (!status) choose(s, cell);
    bb_wanted_close(cell, cells);
    return status;
}
