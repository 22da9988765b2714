#include "privacy/accounting/pld_apart.h"

#include "privacy/accounting/pld_cut.h"
#include "privacy/accounting/pld_refine.h"

#include <math.h>

/* The least that single c promise of the rest below `loss`; the tilt is that c. */
static double least_promise(bb_pld_direction *s, const bb_goal *g, double loss) {
    double least = INFINITY;
    for (double c = 0.5; c < 100.0; c *= 2.0) {
        const double promise = bb_pld_direction_bound(s, g, c / loss);
        if (promise >= least) continue;
        least = promise;
        s->tilt = c / loss;
    }
    return least;
}

/* A cut for epsilons up to about *guess, which is `upper` itself where that is near. */
static void choose_cut(bb_pld_direction *s, double delta, double upper, bool near,
                       double *guess) {
    bb_pld_method *m = &s->plan->method;
    const bb_goal g = {log(delta), NAN};
    m->loss = bb_pld_cut_nearest(s, delta, near ? m->loss : upper);
    for (int k = 0; k < 3; k++) {
        const double promise = fmax(1e-9, least_promise(s, &g, m->loss));
        *guess = near ? upper : fmin(upper, promise);
        if (m->loss >= BB_PLD_CUT_AWAY * *guess) break;
        m->loss = 1.001 * BB_PLD_CUT_AWAY * *guess;
        bb_pld_cut_losses(s, m->loss);
    }
    m->tilt = s->tilt;
}

/* At m->loss, or a little beyond. */
static bb_status cut(bb_pld_direction *s, bb_direction other, double delta,
                     double guess) {
    bb_pld_method *m = &s->plan->method;
    bb_status status = BB_OK;
    m->loss = fmax(m->loss, 1.001 * BB_PLD_CUT_AWAY * guess);
    for (int k = 0; k < 8 && !status && !s->cut; k++) {
        status = bb_pld_cut_at(s, other, delta, m->loss);
        if (!s->cut) m->loss *= 1.3;
    }
    return status;
}

/* From a guess, which is raised if it is too low for the cut; whether *upper and *lower
 * are by terms. */
static bb_status refine(bb_pld_direction *s, double delta, double *first, double *upper,
                        double *lower, bool *useful) {
    const double log_delta = log(delta), saddle = s->tilt;
    double last = INFINITY, between = 0.0, guess = *first;
    for (int k = 0; k < 14 && s->cut; k++) {
        const bb_goal near = {log_delta, guess};
        const bb_status status = bb_pld_compute(s, saddle, near, delta, guess);
        const double before = guess;
        double up, down;
        if (status || !s->terms) return status;
        bb_pld_direction_profile(s, guess, &up, &down);
        if (up > delta && guess < *upper) { /* too low */
            *first = guess = fmin(*upper, 1.5 * guess);
            if (guess > s->cut_most) return BB_OK;
            continue;
        }
        guess = *upper = fmin(*upper, bb_pld_from_above(s, delta, guess));
        *useful = true;
        if (guess == 0.0) return BB_OK;
        *lower = fmax(*lower, bb_pld_from_below(s, delta, guess));
        const double gap = bb_pld_relative(*upper - *lower, *upper);
        between = fmax(between, bb_pld_apart_at(s, *upper));
        if (guess < 0.7 * before &&
            gap - bb_pld_relative(between, guess) > BB_PLD_ENOUGH)
            continue;
        if (gap > BB_PLD_HARDLY * last) between = *upper - *lower;
        last = gap;
        if (!bb_pld_go_on(s, *upper, gap, bb_pld_relative(between, *upper))) break;
    }
    return BB_OK;
}

static bb_direction other_of(bb_direction direction) {
    return direction == BB_WITH ? BB_WITHOUT : BB_WITH;
}

bb_status bb_pld_apart_epsilon(bb_pld_plan *plan, bb_direction direction, double delta,
                               double *upper, double *lower) {
    bb_pld_method *m = &plan->method;
    const bool again = m->cut == BB_PLD_CUT_USED;
    const double smooth = m->smooth;
    bool useful = false, low = true;
    double guess = *upper;
    bb_pld_direction s;
    m->cut = BB_PLD_CUT_USED;
    if (*upper == 0.0) return BB_OK;
    bb_status status = bb_pld_direction_open(&s, plan, direction, 0.0);
    if (status) return status;
    s.guesses = true;
    if (!again) m->smooth = 0.0;
    choose_cut(&s, delta, *upper, again, &guess);
    for (int k = 0; k < 4 && low && !useful && !status; k++) {
        const double before = guess;
        s.cut = false;
        s.tried = 0;
        status = cut(&s, other_of(direction), delta, guess);
        if (status || !s.cut) break;
        bb_pld_direction_look_near(&s, m->tilt);
        status = refine(&s, delta, &guess, upper, lower, &useful);
        low = guess > before;
    }
    m->tilt = s.tilt;
    if (!useful) {
        m->cut = BB_PLD_CUT_USELESS;
        m->smooth = smooth;
    }
    bb_pld_direction_close(&s);
    return status;
}

/* -- delta -- */

static bb_status refine_delta(bb_pld_direction *s, double epsilon, double *upper,
                              double *lower, bool *useful) {
    const double saddle = s->tilt, scale = fmax(epsilon, fmin(0.01, 0.03 / saddle));
    const double first = *upper;
    double last = INFINITY, between = 0.0;
    for (int k = 0; k < 12 && *upper > 0.0; k++) {
        const double before = *upper;
        const bb_goal near = {log(before), epsilon};
        const bb_status status = bb_pld_compute(s, saddle, near, before, scale);
        double up, down;
        if (status || !s->terms) return status;
        bb_pld_direction_profile(s, epsilon, &up, &down);
        *upper = fmin(before, up);
        *lower = fmax(*lower, down);
        *useful = true;
        if (*upper < 0.1 * first) return BB_OK; /* another cut */
        const double steep = 1.0 + s->tilt * epsilon;
        const double gap = (*upper - *lower) / *upper / steep;
        between = fmax(between, bb_pld_direction_apart(s, epsilon) / steep);
        if (gap > BB_PLD_HARDLY * last) between = gap;
        last = gap;
        if (!bb_pld_go_on(s, scale, gap, between)) break;
    }
    return BB_OK;
}

bb_status bb_pld_apart_delta(bb_pld_plan *plan, bb_direction direction, double epsilon,
                             double *upper, double *lower) {
    bb_pld_method *m = &plan->method;
    const bool again = m->cut == BB_PLD_CUT_USED;
    const double smooth = m->smooth;
    const bb_goal g = {NAN, epsilon};
    double before = INFINITY;
    bool useful = false;
    bb_status status = BB_OK;
    if (!again) m->smooth = 0.0;
    m->cut = BB_PLD_CUT_USED;
    while (!status && *upper<0.1 * before && * upper> 0.0) {
        bb_pld_direction s;
        status = bb_pld_direction_open(&s, plan, direction, 0.0);
        if (status) return status;
        s.guesses = true;
        before = *upper;
        m->loss = bb_pld_cut_nearest(&s, *upper, again ? m->loss : 4.0 * epsilon);
        status = cut(&s, other_of(direction), *upper, epsilon);
        if (!status && s.cut) {
            least_promise(&s, &g, m->loss);
            bb_pld_direction_look_near(&s, s.tilt);
            status = refine_delta(&s, epsilon, upper, lower, &useful);
        }
        bb_pld_direction_close(&s);
    }
    if (!useful) {
        m->cut = BB_PLD_CUT_USELESS;
        m->smooth = smooth;
    }
    return status;
}
