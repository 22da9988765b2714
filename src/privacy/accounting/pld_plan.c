#include "privacy/accounting/pld_plan.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Between two losses shares are multiples of 1 / SHARES, on the side of the bound. */
enum { LAWS_ABOVE = 96, LAWS_BELOW = 320, LAWS_MOST = 512, SHARES = 256 };
enum { FAMILIES_MOST = 64 };
/* The share of the log of the moment that mixtures may be wrong by, about, and what the
 * square of a distance between losses does to it, p being some sixty. */
#define WRONG_ABOVE 1e-4
#define WRONG_BELOW 8e-4
#define DOES_ABOVE  (1.0 / 6.0)
#define DOES_BELOW  10.0

void bb_pld_plan_close(bb_pld_plan *plan) {
    free(plan->loss);
    free(plan->factor);
    *plan = (bb_pld_plan){0};
}

/* -- one mixture -- */

/* (f(mu) - f(a)) / (f(b) - f(a)), f the integral of e^(-(mu / scale)^2) */
static double share_above(double scale, double a, double b, double mu) {
    const double part = erf(mu / scale) - erf(a / scale);
    const double whole = erf(b / scale) - erf(a / scale);
    if (a / scale > 0.5) { /* the same by the other tail */
        const double rest = erfc(mu / scale) - erfc(b / scale);
        const double all = erfc(a / scale) - erfc(b / scale);
        return all > 1e-300 ? 1.0 - rest / all * (1.0 - 0x1p-30) : 1.0;
    }
    return whole > 1e-300 ? part / whole * (1.0 + 0x1p-30) : 1.0;
}

/* (mu^p - a^p) / (b^p - a^p), p = x^2 + 1. Where the test of b has its threshold z
 * deviations out in the other world, delta_b - delta_a is at most 2 (b - a) times the
 * normal density at z; that is `slack`, and where z is smaller, x is at most this. */
static double share_below(double slack, double a, double b, double mu) {
    const double z = sqrt(2.0 * fmax(0.0, log(0.8 * (b - a) / slack)));
    const double x = (z + b) * (b / a), p = x * x + 1.0;
    const double part = p * log(mu / a), whole = p * log(b / a);
    if (!(whole < 700.0))
        return isfinite(p) ? exp(part - whole) * (1.0 - 0x1p-30) : 0.0;
    return expm1(part) / expm1(whole) * (1.0 - 0x1p-30);
}

double bb_pld_plan_share(bool mirror, bb_bound bound, double slack, double a, double b,
                         double mu) {
    if (mu <= a) return 0.0;
    if (mu >= b) return 1.0;
    const double share = bound == BB_ABOVE
                             ? share_above(mirror ? sqrt(2.0) : sqrt(8.0), a, b, mu)
                             : share_below(slack, a, b, mu);
    const double steps = share * SHARES;
    const double rounded = bound == BB_ABOVE ? ceil(steps) : floor(steps);
    return fmin(1.0, fmax(0.0, rounded / SHARES));
}

/* -- the events in order -- */

static bool is_gaussian(const bb_event *event) {
    return event->kind == BB_EVENT_ROUND;
}

/* The mu of the pair that prices the round. */
static double mu_of(const bb_event *event, bb_adjacency adjacency) {
    if (event->sampling == BB_SAMPLING_POISSON && event->rate < 1.0)
        return event->absent;
    return bb_event_mu(event, adjacency);
}

/* A hidden cohort's pair under add-remove also has bb_event_back: that over mu, in
 * BACKS, is the same in a family. */
#define BACKS 0x1p20
static double backs_of(const bb_event *event) {
    if (!is_gaussian(event) || event->absent == 0.0) return 0.0;
    return rint(BACKS * (event->replace / event->absent - 1.0));
}

/* On the side of the bound. */
static double rounded_back(const bb_event *event, bb_bound bound) {
    const double backs = BACKS * (bb_event_back(event) / event->absent);
    return (bound == BB_ABOVE ? ceil(backs) : floor(backs)) / BACKS;
}

static bool has_back(const bb_event *event, bb_adjacency adjacency) {
    return adjacency == BB_ADD_REMOVE && event->sampling == BB_SAMPLING_FIXED_HIDDEN;
}

static int order(double x, double y) {
    return (x > y) - (x < y);
}

static bool same_family(const bb_event *x, const bb_event *y) {
    return is_gaussian(x) && is_gaussian(y) && x->sampling == y->sampling &&
           x->rate == y->rate && backs_of(x) == backs_of(y);
}

static int compare(const void *a, const void *b) {
    const bb_event *x = a, *y = b;
    int by = order(x->kind, y->kind);
    if (!by) by = order(x->sampling, y->sampling);
    if (!by) by = order(x->rate, y->rate);
    if (!by) by = order(backs_of(x), backs_of(y));
    if (!by) by = order(x->absent, y->absent);
    if (!by) by = order(x->epsilon, y->epsilon);
    if (!by) by = order(x->delta, y->delta);
    if (!by) by = order(x->freedom, y->freedom);
    if (!by) by = order(x->ratio, y->ratio);
    return by;
}

/* Each different event once; Gaussian rounds of all tasks are one, which is exact up to
 * rounding. `absent` becomes mu, and `replace` mu and how far back. Returns how many there are. */
static size_t gather(const bb_account *account, bb_bound bound, bb_event *event) {
    size_t n = 0, kept = 0;
    double squares = 0.0;
    for (size_t e = 0; e < account->count; e++) {
        bb_event x = account->event[e];
        const bool round = is_gaussian(&x);
        if (x.rounds == 0.0) continue;
        const bool two = round && x.absent > 0.0 && has_back(&x, account->adjacency);
        const double back = two ? rounded_back(&x, bound) : 0.0;
        x.absent = round ? mu_of(&x, account->adjacency) : 0.0;
        x.replace = x.absent * (1.0 + back);
        if (round && (x.rate == 0.0 || x.absent == 0.0)) continue;
        if (round && x.rate == 1.0)
            squares += x.rounds * x.absent * x.absent;
        else
            event[n++] = x;
    }
    const double wrong = 0x1p-50 * (2.0 + (double)account->count);
    const double mu = sqrt(squares) * (bound == BB_ABOVE ? 1.0 + wrong : 1.0 - wrong);
    if (mu > 0.0) event[n++] = bb_event_gaussian(mu, 1.0);
    qsort(event, n, sizeof *event, compare);
    for (size_t e = 0; e < n; e++) {
        if (kept && compare(&event[kept - 1], &event[e]) == 0)
            event[kept - 1].rounds += event[e].rounds;
        else
            event[kept++] = event[e];
    }
    return kept;
}

/* -- losses -- */

/* How much the rounds of an event matter. */
static double worth(const bb_event *event) {
    const double square = event->absent * event->absent;
    return event->rounds * (1.0 + 2.0 * square) * exp(fmin(square, 30.0));
}

/* What the distance from one round to the next costs: losses are spread evenly over the
 * sum of this, so that the sum of worth times distance squared is as small as so many
 * losses allow: the cube of the sum over their number squared. */
static double toll(const bb_event *a, const bb_event *b) {
    const double gap = b->absent - a->absent;
    return cbrt(gap * gap * fmax(worth(a), worth(b)));
}

/* Where the event before the `e`-th is one of the same family. */
static bool goes_on(const bb_event *event, size_t e) {
    return e > 0 && same_family(&event[e - 1], &event[e]);
}

static void add_loss(bb_pld_plan *plan, const bb_event *event) {
    plan->loss[plan->losses] = *event;
    plan->loss[plan->losses++].rounds = 1.0;
}

/* So many that the bound is good enough. */
static double enough_laws(const bb_event *event, size_t count, bb_bound bound,
                          double tolls) {
    const double does =
        bound == BB_ABOVE ? DOES_ABOVE / WRONG_ABOVE : DOES_BELOW / WRONG_BELOW;
    const double least = bound == BB_ABOVE ? LAWS_ABOVE : LAWS_BELOW;
    double all = 0.0;
    for (size_t e = 0; e < count; e++)
        all += worth(&event[e]) * event[e].absent * event[e].absent;
    if (!(all > 0.0)) return least;
    return fmin(LAWS_MOST, fmax(least, sqrt(does * pow(tolls, 3.0) / all)));
}

/* All events of a family have a loss that is not above, and the one after it. */
static void choose_laws(bb_pld_plan *plan, const bb_event *event, size_t count,
                        bb_bound bound) {
    double sum = 0.0, since = 0.0;
    for (size_t e = 1; e < count; e++)
        if (goes_on(event, e)) sum += toll(&event[e - 1], &event[e]);
    const double losses = enough_laws(event, count, bound, sum);
    for (size_t e = 0; e < count; e++) {
        const bool first = !goes_on(event, e);
        const bool last = e + 1 == count || !goes_on(event, e + 1);
        since = first ? 0.0 : since + toll(&event[e - 1], &event[e]);
        if (!first && !last && since * losses < sum) continue;
        add_loss(plan, &event[e]);
        since = 0.0;
    }
}

static void add_factor(bb_pld_plan *plan, size_t loss, double share, double times) {
    assert(plan->factor);
    bb_pld_factor *last = plan->count ? &plan->factor[plan->count - 1] : NULL;
    if (share == 1.0) {
        loss++;
        share = 0.0;
    }
    if (last && last->loss == loss && last->share == share)
        last->times += times;
    else
        plan->factor[plan->count++] = (bb_pld_factor){loss, share, times};
    plan->mixed = plan->mixed || share > 0.0;
}

static bool is_of(const bb_event *loss, const bb_event *event) {
    bb_event once = *event;
    once.rounds = loss->rounds;
    return compare(loss, &once) == 0;
}

static void choose_factors(bb_pld_plan *plan, const bb_event *event, size_t count,
                           bb_bound bound, double slack) {
    const bb_sampling with_two = plan->adjacency == BB_REPLACE_ONE
                                     ? BB_SAMPLING_POISSON
                                     : BB_SAMPLING_FIXED_HIDDEN;
    size_t loss = 0;
    for (size_t e = 0; e < count; e++) {
        if (e && !is_of(&plan->loss[loss], &event[e]) &&
            (!goes_on(event, e) || is_of(&plan->loss[loss + 1], &event[e])))
            loss++;
        double share = 0.0;
        if (!is_of(&plan->loss[loss], &event[e]))
            share = bb_pld_plan_share(event[e].sampling == with_two, bound,
                                      slack / event[e].rate, plan->loss[loss].absent,
                                      plan->loss[loss + 1].absent, event[e].absent);
        add_factor(plan, loss, share, event[e].rounds);
    }
}

/* Laws without a closed form take long. */
static bb_status check(const bb_event *event, size_t count) {
    size_t families = 0;
    for (size_t e = 0; e < count; e++)
        families += !goes_on(event, e) && (event[e].kind == BB_EVENT_ROUND ||
                                           event[e].kind == BB_EVENT_WISHART);
    if (families <= FAMILIES_MOST) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "more than %d different events may have at most %d different "
                   "sampling rates, got %zu: round rates up until they are that few",
                   BB_PLD_PLAN_MOST, FAMILIES_MOST, families);
}

bb_status bb_pld_plan_open(bb_pld_plan *out, const bb_account *account, bb_bound bound,
                           double slack) {
    const size_t n = account->count + 1;
    bb_pld_plan plan = {.adjacency = account->adjacency, .bound = bound};
    bb_event *event = NULL;
    bb_status status = bb_allocate(&event, n, sizeof *event, "the accountant");
    if (!status)
        status = bb_allocate(&plan.loss, n + 1, sizeof *plan.loss, "the accountant");
    if (!status)
        status = bb_allocate(&plan.factor, n, sizeof *plan.factor, "the accountant");
    if (status) goto done;
    size_t count = 0;
    if (account->count > BB_PLD_PLAN_MOST) {
        count = gather(account, bound, event);
    } else {
        for (size_t e = 0; e < account->count; e++)
            if (account->event[e].rounds > 0.0) event[count++] = account->event[e];
    }
    for (size_t e = 0; e < count; e++) plan.rounds += event[e].rounds;
    if (account->count > BB_PLD_PLAN_MOST && count > BB_PLD_PLAN_MOST) {
        status = check(event, count);
        if (status) goto done;
        choose_laws(&plan, event, count, bound);
        choose_factors(&plan, event, count, bound, slack / plan.rounds);
    } else {
        for (size_t e = 0; e < count; e++) {
            add_loss(&plan, &event[e]);
            plan.factor[plan.count++] = (bb_pld_factor){e, 0.0, event[e].rounds};
        }
    }
done:
    free(event);
    if (status)
        bb_pld_plan_close(&plan);
    else
        *out = plan;
    return status;
}
