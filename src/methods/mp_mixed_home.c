/* One task's half of mp-mixed: where its own model lies, and the average of the models
 * that its own rows and the tasks' votes believe in. */
#include "base/memory.h"
#include "linalg/linalg.h"
#include "methods/mp_mixed.h"
#include "methods/mp_mixed_effects.h"

#include <math.h>
#include <string.h>

/* -- what a task keeps -- */

typedef struct home {
    double *direction; /* d */
    double *made;      /* 1 + the iteration that the direction is of; 0: of none */
    double *voted;     /* whether the measures are there, */
    double *usual;     /* and its usual penalty with them */
    double *measures; /* of all candidates, of which their evidences are made anew, in a
                          fifth of the room */
} home;

static home home_of(const bb_task *task, const bb_mixed_board *mixed) {
    const size_t d = mixed->d;
    double *at = task->state + mixed->units.state;
    return (home){at, at + d, at + d + 1, at + d + 2, at + d + 3};
}

size_t bb_mixed_kept_length(const bb_view *view, const bb_local *local) {
    const bb_mixed_board mixed = {.constant = view->pub->constant,
                                  .unranged = view->pub->unranged,
                                  .can_turn = bb_mixed_can_turn(view)};
    return bb_mixed_measures_length(&mixed, local);
}

size_t bb_mixed_state_length(const bb_view *view) {
    return bb_mixed_units_state(view) + view->pub->features + 3;
}

/* -- what is shown -- */

static void normalise(size_t d, double *u) {
    const double norm = bb_norm(d, u);
    bb_scale(d, norm > 1e-12 ? 1.0 / norm : 0.0, u);
}

/* From a centre (d) to the task's mean under a kind of covariance: with the penalties that its
 * rows believe in, since one for all is too strong for some, whose models then hardly leave
 * zero, and too weak for others. Of length one where rows are few, too: what they do not tell
 * is spread over all features. */
static void towards_own(const bb_mixed_board *mixed, bb_task *task, bb_mixed_kind kind,
                        const double *centre, double *u) {
    if (task->local->n == 0 ||
        bb_mixed_deviation(mixed, task->local, kind, centre, u, task->work))
        memset(u, 0, mixed->d * sizeof *u);
    normalise(mixed->d, u);
}

/* Whether the round asks for nothing that is not there already. */
static bool has_trained(const bb_mixed_board *mixed, const home *own) {
    return mixed->phase <= BB_MIXED_PLACES || mixed->phase == BB_MIXED_GROUP_VOTE ||
           (mixed->phase == BB_MIXED_DIRECTIONS &&
            *own->made == 1.0 + (double)mixed->iteration);
}

void bb_mixed_train(const bb_view *view, bb_task *given) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(given, &mixed);
    bb_local local;
    if (has_trained(&mixed, &own)) return;
    bb_task task = bb_units_in(view, &mixed.units, given, &local);
    switch (mixed.phase) {
    case BB_MIXED_CENTRE:
        towards_own(&mixed, &task, BB_MIXED_PLAIN, mixed.centre, own.direction);
        break;
    case BB_MIXED_DIRECTIONS:
        towards_own(&mixed, &task,
                    mixed.iteration && mixed.directions > 0.0 ? BB_MIXED_ONCE
                                                              : BB_MIXED_PLAIN,
                    mixed.found ? mixed.centre : NULL, own.direction);
        *own.made = 1.0 + (double)mixed.iteration;
        break;
    case BB_MIXED_PENALTY_VOTE:
        *own.usual = bb_mixed_usual(&mixed, task.local, task.work);
        *own.voted =
            bb_mixed_look(&mixed, task.local, own.measures, task.work) ? 0.0 : 1.0;
        break;
    case BB_MIXED_EFFECTS:
        bb_mixed_effects_train(&mixed.layout, mixed.centre, &task);
        break;
    default:
        break;
    }
}

/* In which units rows are does not matter any more, only where what was made of them is. */
void bb_mixed_show(const bb_view *view, const bb_task *given, double *const *block) {
    bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(given, &mixed);
    const bool votes = *own.voted > 0.0 && given->local->n > 0;
    bb_task task = *given;
    task.work += bb_units_work(&mixed.units, given->local);
    double *evidence = task.work;
    switch (mixed.phase) {
    case BB_MIXED_UNITS:
        bb_units_show(view, given->local, block[0]);
        break;
    case BB_MIXED_PLACES:
        bb_units_show_places(view, mixed.units.unit, given->local, block[0]);
        break;
    case BB_MIXED_GROUP_VOTE:
        if (!votes) break;
        bb_mixed_evidence(&mixed, task.local, *own.usual, own.measures, evidence,
                          evidence + BB_MIXED_FITS);
        bb_mixed_show_groups(&mixed, evidence, block[0]);
        break;
    case BB_MIXED_PENALTY_VOTE:
        if (!votes) break;
        mixed.slopes = bb_mixed_knows_slopes(&mixed, task.local);
        bb_mixed_evidence(&mixed, task.local, *own.usual, own.measures, evidence,
                          evidence + BB_MIXED_FITS);
        bb_mixed_show_penalties(&mixed, evidence, *own.usual, block[0]);
        break;
    case BB_MIXED_EFFECTS:
        bb_mixed_effects_show(&mixed.layout, mixed.radius, &task, block);
        break;
    default:
        memcpy(block[0], own.direction, mixed.d * sizeof **block);
    }
}

double bb_mixed_scores(const bb_mixed_board *mixed, const bb_task *task,
                       double *score) {
    const home own = home_of(task, mixed);
    bb_mixed_evidence(mixed, task->local, *own.usual, own.measures, score, NULL);
    for (size_t k = 0; k < BB_MIXED_FITS; k++)
        score[k] += bb_mixed_group_odds(mixed, k / BB_MIXED_CELLS);
    return bb_mixed_log_sum(score, BB_MIXED_FITS);
}

static bb_status finish(const bb_view *view, bb_mixed_tuned *tuned, bb_task *task) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const home own = home_of(task, &mixed);
    *task->intercept = 0.0;
    if (*own.voted == 0.0) {
        *own.usual = bb_mixed_usual(&mixed, task->local, task->work);
        const bb_status status =
            bb_mixed_look(&mixed, task->local, own.measures, task->work);
        if (status) return status;
    }
    return bb_mixed_average(&mixed, task->local, *own.usual, own.measures, tuned,
                            task->model, task->work);
}

bb_status bb_mixed_finish(const bb_view *view, bb_task *task) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    bb_local local;
    bb_task own = bb_units_in(view, &mixed.units, task, &local);
    bb_mixed_tuned tuned = {.w = own.work};
    own.work += mixed.d;
    bb_status status = bb_mixed_tune(
        &mixed, task->local, bb_units_scale(&mixed.units, task), &tuned, own.work);
    if (!status) status = finish(view, &tuned, &own);
    if (!status) bb_units_take_model(view, &own, task);
    if (!status) bb_mixed_add_tuned(task->local, &tuned, task->model);
    return status;
}

size_t bb_mixed_local_length(const bb_view *view, const bb_local *local) {
    const bb_units moved = {.state = bb_mixed_units_state(view)};
    const size_t fits = 2 * BB_MIXED_FITS + bb_mixed_fits_work(local);
    const size_t effects =
        bb_mixed_has_effects(view) ? bb_mixed_effects_local_length(local) : 0;
    const size_t spread = view->pub->spread ? bb_mixed_spread_work(local) : 0;
    return bb_units_work(&moved, local) + bb_larger(fits, bb_larger(effects, spread));
}
