#include "privacy/accounting/pld_plan.h"

#include "base/memory.h"
#include "privacy/accounting/privacy_loss.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { FAMILIES_MOST = 16 };
#define FAR 60.0

void bb_pld_plan_close(bb_pld_plan *plan) {
    free(plan->loss);
    free(plan->gap);
    free(plan->factor);
    *plan = (bb_pld_plan){0};
}

/* The integral of e^(-(mu / scale)^2), by the rule for panels up to half the scale. */
double bb_pld_plan_gap(bool mirror, double a, double b) {
    const double scale = mirror ? sqrt(2.0) : sqrt(8.0);
    b = fmin(b, fmax(a, FAR)); /* beyond, nothing is added */
    const double panels = ceil(2.0 * (b - a) / scale);
    double sum = 0.0;
    for (double p = 0.0; p < panels; p += 1.0) {
        const double half = (b - a) / panels / 2.0, middle = a + (2.0 * p + 1.0) * half;
        for (int k = 0; k < 2 * BB_GAUSS_HALF; k++) {
            const double x = k % 2 ? bb_gauss_at[k / 2] : -bb_gauss_at[k / 2];
            const double t = (middle + half * x) / scale;
            sum += half * bb_gauss_weight[k / 2] * exp(-t * t);
        }
    }
    return sum;
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

/* Up, which costs more: composed hidden cohorts have no lower bound. */
static double rounded_back(const bb_event *event) {
    return ceil(BACKS * (bb_event_back(event) / event->absent)) / BACKS;
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
 * rounding. `absent` becomes mu, and `replace` mu and how far back. Returns how many
 * there are. */
static size_t gather(bb_pld_plan *plan, const bb_account *account, bb_event *event) {
    size_t n = 0, kept = 0;
    double squares = 0.0;
    for (size_t e = 0; e < account->count; e++) {
        bb_event x = account->event[e];
        const bool round = is_gaussian(&x);
        if (x.rounds == 0.0) continue;
        const bool two = round && x.absent > 0.0 && has_back(&x, account->adjacency);
        const double back = two ? rounded_back(&x) : 0.0;
        x.absent = round ? mu_of(&x, account->adjacency) : 0.0;
        x.replace = x.absent * (1.0 + back);
        if (round && (x.rate == 0.0 || x.absent == 0.0)) continue;
        if (round && x.rate == 1.0)
            squares += x.rounds * x.absent * x.absent;
        else
            event[n++] = x;
    }
    const double wrong = 0x1p-50 * (2.0 + (double)account->count);
    if (squares > 0.0) {
        event[n++] = bb_event_gaussian(sqrt(squares) * (1.0 + wrong), 1.0);
        plan->raised = 4.0 * wrong;
    }
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

/* How much the rounds of an event matter: about, as far as their moment grows with mu at
 * the tilt that makes the largest, `top`, likely. */
static double worth(const bb_event *event, double top) {
    const double square = event->absent * event->absent;
    const double likely = 3.0 - log(fmax(event->rate, 1e-300));
    return event->rounds * (1.0 + 2.0 * square) *
           exp(square * fmin(1.0, likely / (top * top)));
}

/* What the distance from one round to the next costs: losses are spread evenly over the
 * sum of this, so that the sum of worth times distance squared is as small as so many
 * losses allow. */
static double toll(const bb_event *a, const bb_event *b, double top) {
    const double gap = b->absent - a->absent;
    return cbrt(gap * gap * fmax(worth(a, top), worth(b, top)));
}

/* Where the event before the `e`-th is one of the same family. */
static bool goes_on(const bb_event *event, size_t e) {
    return e > 0 && same_family(&event[e - 1], &event[e]);
}

static void add_loss(bb_pld_plan *plan, const bb_event *event) {
    plan->loss[plan->losses] = *event;
    plan->loss[plan->losses++].rounds = 1.0;
}

/* How many losses there are if those between two of them may cost `most`; into the plan,
 * if there is one. toll[e]: from the event before. */
static size_t place_losses(const bb_event *event, size_t count, const double *toll,
                           double most, bb_pld_plan *plan) {
    double since = 0.0;
    size_t losses = 0;
    for (size_t e = 0; e < count; e++) {
        const bool ends = e + 1 == count || !goes_on(event, e + 1);
        since += toll[e];
        if (goes_on(event, e) && !ends && since + toll[e + 1] <= most) continue;
        losses++;
        if (plan) add_loss(plan, &event[e]);
        since = 0.0;
    }
    return losses;
}

/* All events of a family have a loss that is not above, and the one after it. */
static bb_status choose_losses(bb_pld_plan *plan, const bb_event *event, size_t count,
                               size_t allowed) {
    double *price = NULL, low = 0.0, high = 0.0, top = 0.0;
    const bb_status status =
        bb_allocate(&price, count + 1, sizeof *price, "the accountant");
    if (status) return status;
    for (size_t e = 0; e < count; e++) top = fmax(top, event[e].absent);
    for (size_t e = 1; e < count; e++)
        if (goes_on(event, e)) high += price[e] = toll(&event[e - 1], &event[e], top);
    for (int k = 0; k < 40 && count > allowed; k++) {
        const double most = (low + high) / 2.0;
        if (place_losses(event, count, price, most, NULL) > allowed)
            low = most;
        else
            high = most;
    }
    place_losses(event, count, price, count > allowed ? high : -1.0, plan);
    free(price);
    return BB_OK;
}

static bool is_mirror(const bb_pld_plan *plan, const bb_event *event) {
    return event->sampling == (plan->adjacency == BB_REPLACE_ONE
                                   ? BB_SAMPLING_POISSON
                                   : BB_SAMPLING_FIXED_HIDDEN);
}

static void choose_gaps(bb_pld_plan *plan) {
    for (size_t e = 1; e < plan->losses; e++)
        if (goes_on(plan->loss, e))
            plan->gap[e] =
                bb_pld_plan_gap(is_mirror(plan, &plan->loss[e]),
                                plan->loss[e - 1].absent, plan->loss[e].absent);
}

static bool is_of(const bb_event *loss, const bb_event *event) {
    bb_event once = *event;
    once.rounds = loss->rounds;
    return compare(loss, &once) == 0;
}

/* Covers the rounding of a share and of a mean of shares. */
#define SHARE_MARGIN 0x1p-40

/* The share of the loss after it that the event has: the mixture is not below. */
static double share_of(const bb_pld_plan *plan, size_t loss, const bb_event *event) {
    const double whole = plan->gap[loss + 1];
    const double part =
        bb_pld_plan_gap(is_mirror(plan, event), plan->loss[loss].absent, event->absent);
    return whole > 0.0 ? fmin(1.0, part / whole) : 1.0;
}

/* The rounds between one loss and the next, from event e on: one factor; returns the
 * first event after them. */
static size_t add_mixture(bb_pld_plan *plan, size_t loss, const bb_event *event,
                          size_t count, size_t e) {
    double times = 0.0, sum = 0.0, squares = 0.0;
    for (; e < count && !is_of(&plan->loss[loss + 1], &event[e]); e++) {
        const double share = share_of(plan, loss, &event[e]);
        times += event[e].rounds;
        sum += event[e].rounds * share;
        squares += event[e].rounds * share * share;
    }
    const double share = fmin(1.0, sum / times * (1.0 + SHARE_MARGIN));
    const double spread =
        fmax(0.0, squares - sum * (sum / times)) + times * share * share * SHARE_MARGIN;
    plan->factor[plan->count++] = (bb_pld_factor){loss, share, spread, times};
    plan->mixed = true;
    return e;
}

static void choose_factors(bb_pld_plan *plan, const bb_event *event, size_t count) {
    size_t e = 0;
    for (size_t loss = 0; loss < plan->losses; loss++) {
        plan->factor[plan->count++] =
            (bb_pld_factor){loss, 0.0, 0.0, event[e++].rounds};
        if (e < count && goes_on(event, e) && !is_of(&plan->loss[loss + 1], &event[e]))
            e = add_mixture(plan, loss, event, count, e);
    }
}

/* Losses without a closed form take long. */
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

bb_status bb_pld_plan_open(bb_pld_plan *out, const bb_account *account, size_t most) {
    const size_t n = account->count + 2;
    bb_pld_plan plan = {.adjacency = account->adjacency};
    bb_event *event = NULL;
    size_t count = 0;
    bb_status status = bb_allocate(&event, n, sizeof *event, "the accountant");
    if (!status)
        status = bb_allocate(&plan.loss, n, sizeof *plan.loss, "the accountant");
    if (!status) status = bb_allocate(&plan.gap, n, sizeof *plan.gap, "the accountant");
    if (!status)
        status =
            bb_allocate(&plan.factor, 2 * n, sizeof *plan.factor, "the accountant");
    if (status) goto done;
    if (account->count > BB_PLD_PLAN_MOST) {
        count = gather(&plan, account, event);
    } else {
        for (size_t e = 0; e < account->count; e++)
            if (account->event[e].rounds > 0.0) event[count++] = account->event[e];
    }
    for (size_t e = 0; e < count; e++) plan.rounds += event[e].rounds;
    plan.different = count;
    if (account->count > BB_PLD_PLAN_MOST) {
        if (count > most) status = check(event, count);
        if (!status) status = choose_losses(&plan, event, count, most);
        if (status) goto done;
        choose_gaps(&plan);
        choose_factors(&plan, event, count);
    } else {
        for (size_t e = 0; e < count; e++) {
            add_loss(&plan, &event[e]);
            plan.factor[plan.count++] = (bb_pld_factor){e, 0.0, 0.0, event[e].rounds};
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
