#include "privacy/accounting/pld_plan.h"

#include "base/memory.h"
#include "privacy/accounting/pld_shares.h"

#include <math.h>
#include <stdlib.h>

/* From so many different events on there may be only so many families. */
enum { FAMILIES_FREE = 256, FAMILIES_MOST = 16 };
/* What may be given up of delta for the shares of the chain below. */
#define SPARE 1e-6

void bb_pld_plan_close(bb_pld_plan *plan) {
    free(plan->loss);
    free(plan->gap);
    free(plan->apart);
    for (int k = 0; k < BB_BOUNDS; k++) free(plan->chain[k].factor);
    *plan = (bb_pld_plan){0};
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
 * rounding: from above, and in *low from below. `absent` becomes mu, and `replace` mu and how far back. Returns how many
 * there are. */
static size_t gather(const bb_account *account, bb_event *event, double *low) {
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
        *low = sqrt(squares) * (1.0 - wrong);
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

static bool is_of(const bb_event *loss, const bb_event *event) {
    bb_event once = *event;
    once.rounds = loss->rounds;
    return compare(loss, &once) == 0;
}

/* A loss costs nothing nowhere, whatever was found. */
#define TOLL_LEAST 0.1

/* What a plan of fewer losses has found instead, between each two of its own: what mixtures
 * do there falls with the cube of the distance. */
static void correct_tolls(const bb_event *event, size_t count,
                          const bb_pld_plan *coarser, double *toll) {
    const double least = TOLL_LEAST / cbrt((double)coarser->losses);
    for (size_t e = 1, loss = 0; e < count; loss++) {
        const size_t first = e;
        double sum = 0.0;
        for (bool ends = false; e < count && !ends; e++) {
            sum += toll[e];
            ends = loss + 1 < coarser->losses &&
                   is_of(&coarser->loss[loss + 1], &event[e]);
        }
        const double found = cbrt(coarser->apart[loss]) + least;
        for (size_t k = first; k < e && sum > 0.0; k++) toll[k] *= found / sum;
    }
}

/* All events of a family have a loss that is not above, and the one after it. */
static bb_status choose_losses(bb_pld_plan *plan, const bb_event *event, size_t count,
                               size_t allowed, const bb_pld_plan *coarser) {
    double *price = NULL, low = 0.0, high = 0.0, top = 0.0;
    const bb_status status =
        bb_allocate(&price, count + 1, sizeof *price, "the accountant");
    if (status) return status;
    for (size_t e = 0; e < count; e++) top = fmax(top, event[e].absent);
    for (size_t e = 1; e < count; e++)
        if (goes_on(event, e)) price[e] = toll(&event[e - 1], &event[e], top);
    if (coarser) correct_tolls(event, count, coarser, price);
    for (size_t e = 1; e < count; e++) high += price[e];
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
            plan->gap[e] = bb_pld_gap(is_mirror(plan, &plan->loss[e]),
                                      plan->loss[e - 1].absent, plan->loss[e].absent);
}

/* Where rounds have several shares, how many have the second loss is not above (in the
 * sense of stochastic order) that number if each had the chance 1 - the geometric mean of
 * 1 - share, and not below it with that of share (docs/accountant.md). That is close to
 * the mean where the parts are: cells hold parts that are. */
enum { CELLS = 4 };
static const double cell_ends[CELLS] = {0.5, 0.2, 0.05, -1.0};

typedef struct cell {
    double times, sum; /* of logs of parts */
} cell;

static void add_part(cell *cells, double part, double times) {
    int k = 0;
    while (part <= cell_ends[k]) k++;
    cells[k].times += times;
    cells[k].sum += times * log(part);
}

/* Covers the rounding of a geometric mean. */
#define MEAN_MARGIN 0x1p-40

static void add_cells(bb_pld_chain *chain, bb_bound bound, size_t loss,
                      const cell *cells) {
    for (int k = 0; k < CELLS; k++) {
        if (cells[k].times == 0.0) continue;
        const double part = exp(cells[k].sum / cells[k].times) * (1.0 - MEAN_MARGIN);
        const double share = bound == BB_ABOVE ? 1.0 - part : part;
        chain->factor[chain->count++] = (bb_pld_factor){loss, share, cells[k].times};
    }
}

/* The rounds between one loss and the next, from event e on; returns the first event
 * after them. */
static size_t add_mixtures(bb_pld_plan *plan, size_t loss, const bb_event *event,
                           size_t count, size_t e, double spare) {
    const bool mirror = is_mirror(plan, &event[e]);
    const bb_pld_shares s =
        bb_pld_shares_of(mirror, &plan->loss[loss], &plan->loss[loss + 1], spare);
    cell cells[BB_BOUNDS][CELLS] = {0};
    for (; e < count && !is_of(&plan->loss[loss + 1], &event[e]); e++) {
        const double mu = event[e].absent, times = event[e].rounds;
        const double above = bb_pld_share(&s, BB_ABOVE, mu);
        add_part(cells[BB_ABOVE], 1.0 - above, times);
        add_part(cells[BB_BELOW], fmin(above, bb_pld_share(&s, BB_BELOW, mu)), times);
        plan->spare += times * s.spare;
        plan->excess += times * s.excess;
    }
    for (int k = 0; k < BB_BOUNDS; k++)
        add_cells(&plan->chain[k], (bb_bound)k, loss, cells[k]);
    plan->mixed = plan->two = true;
    return e;
}

static void add_factor(bb_pld_plan *plan, size_t loss, double times) {
    for (int k = 0; k < BB_BOUNDS; k++)
        plan->chain[k].factor[plan->chain[k].count++] =
            (bb_pld_factor){loss, 0.0, times};
}

/* The Gaussian round of mu `low` instead of the one there is, which is above. */
static void lower_gaussian(bb_pld_plan *plan, double low) {
    bb_pld_chain *chain = &plan->chain[BB_BELOW];
    size_t kept = 0;
    for (size_t f = 0; f < chain->count; f++)
        if (plan->loss[chain->factor[f].loss].kind != BB_EVENT_ROUND ||
            plan->loss[chain->factor[f].loss].rate < 1.0)
            chain->factor[kept++] = chain->factor[f];
    chain->factor[kept] = (bb_pld_factor){plan->losses, 0.0, 1.0};
    chain->count = kept + 1;
    plan->loss[plan->losses++] = bb_event_gaussian(low, 1.0);
    plan->two = true;
}

static void choose_factors(bb_pld_plan *plan, const bb_event *event, size_t count,
                           double delta) {
    const double spare = SPARE * delta / plan->rounds;
    size_t e = 0;
    for (size_t loss = 0; loss < plan->losses; loss++) {
        add_factor(plan, loss, event[e++].rounds);
        if (e < count && goes_on(event, e) && !is_of(&plan->loss[loss + 1], &event[e]))
            e = add_mixtures(plan, loss, event, count, e, spare);
    }
    /* of a composition: at least 1 + the sum of such */
    plan->spare = expm1(plan->spare) * (1.0 + 0x1p-20);
    plan->excess *= 1.0 + 0x1p-20;
}

/* Losses without a closed form take long. */
static bb_status check(const bb_event *event, size_t count) {
    size_t families = 0;
    if (count <= FAMILIES_FREE) return BB_OK;
    for (size_t e = 0; e < count; e++)
        families += !goes_on(event, e) && (event[e].kind == BB_EVENT_ROUND ||
                                           event[e].kind == BB_EVENT_WISHART);
    if (families <= FAMILIES_MOST) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "more than %d different events may have at most %d different "
                   "sampling rates, got %zu: round rates up until they are that few",
                   FAMILIES_FREE, FAMILIES_MOST, families);
}

static bb_status make_room(bb_pld_plan *plan, size_t n, bb_event **event) {
    bb_status status = bb_allocate(event, n, sizeof **event, "the accountant");
    if (!status)
        status = bb_allocate(&plan->loss, n, sizeof *plan->loss, "the accountant");
    if (!status)
        status = bb_allocate(&plan->gap, n, sizeof *plan->gap, "the accountant");
    if (!status)
        status = bb_allocate(&plan->apart, n, sizeof *plan->apart, "the accountant");
    for (int k = 0; k < BB_BOUNDS && !status; k++)
        status = bb_allocate(&plan->chain[k].factor, 2 * n,
                             sizeof *plan->chain[k].factor, "the accountant");
    return status;
}

bb_status bb_pld_plan_open(bb_pld_plan *out, const bb_account *account, size_t most,
                           double delta, const bb_pld_plan *coarser) {
    bb_pld_plan plan = {.adjacency = account->adjacency, .other_most = INFINITY};
    const bool many = account->count > BB_PLD_PLAN_MOST;
    bb_event *event = NULL;
    double low = 0.0;
    size_t count = 0;
    bb_status status = make_room(&plan, account->count + 3, &event);
    if (status) goto done;
    if (many)
        count = gather(account, event, &low);
    else
        for (size_t e = 0; e < account->count; e++)
            if (account->event[e].rounds > 0.0) event[count++] = account->event[e];
    for (size_t e = 0; e < count; e++) plan.rounds += event[e].rounds;
    plan.different = count;
    if (many) {
        status = check(event, count);
        if (!status) status = choose_losses(&plan, event, count, most, coarser);
        if (status) goto done;
        choose_gaps(&plan);
        choose_factors(&plan, event, count, delta);
        if (low > 0.0) lower_gaussian(&plan, low);
    } else {
        for (size_t e = 0; e < count; e++) {
            add_loss(&plan, &event[e]);
            add_factor(&plan, e, event[e].rounds);
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
