#include "base/memory.h"
#include "privacy/accounting/account.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static bb_status check_budget(double epsilon, double delta) {
    if (!(epsilon > 0.0 && isfinite(epsilon)))
        return bb_fail(BB_EUSAGE, "epsilon must be positive and finite, got %g",
                       epsilon);
    if (!(delta >= 0.0 && delta < 1.0))
        return bb_fail(BB_EUSAGE, "delta must be in [0, 1), got %g", delta);
    return BB_OK;
}

/* The events with `factor` times the noise. */
static void louder(const bb_account *account, double factor, bb_event *event) {
    for (size_t e = 0; e < account->count; e++) {
        event[e] = account->event[e];
        event[e].absent /= factor;
        event[e].replace /= factor;
        event[e].ratio /= factor;
    }
}

/* A search for the factor: log of the noise against log of epsilon over the budget. */
typedef struct search {
    const bb_account *account;
    bb_accountant accountant;
    double epsilon, delta;
    double least;   /* log factor */
    double refused; /* the highest log factor at which an answer was; or -INFINITY */
    int effort; /* so far: PRICE_EFFORT for both bounds, 1 for a rough one from above */
    bb_event *event;
} search;

/* Two directions take longer than one that is its own mirror image. */
enum { PRICE_EFFORT = 5, EFFORT_MOST = 45, EFFORT_MOST_OF_TWO = 35 };

/* Of so many different events bounds are not closer than that, and take long. */
enum { MANY = 64 };

static bool may_go_on(const search *s, int effort) {
    const bool two = s->account->adjacency == BB_ADD_REMOVE;
    return s->account->count <= MANY ||
           s->effort + effort <= (two ? EFFORT_MOST_OF_TWO : EFFORT_MOST);
}

static bb_status excess(search *s, double log_factor, double *out, bb_answer *answer) {
    const bb_account louder_account = {s->account->adjacency, s->account->count,
                                       s->event};
    s->effort++;
    louder(s->account, exp(log_factor), s->event);
    const bb_status status =
        bb_account_upper(&louder_account, s->accountant, s->delta, answer);
    if (!status) *out = log(answer->upper / s->epsilon);
    return status;
}

/* Too much work, or too little noise to count with: not what is wrong with the events. */
static bool is_refused(bb_status status) {
    return status == BB_EUSAGE || status == BB_ENUMERIC;
}

/* Levels nearer than that to a refused one are not looked for. */
#define NEAR_REFUSED 1e-3

/* A refused level says nothing about more or less noise: at *x, or as near to it as is not
 * refused on the way there from a level `from`, with more noise, that was not. */
static bb_status excess_near(search *s, double from, double *x, double *out,
                             bb_answer *answer) {
    bb_status status = excess(s, *x, out, answer);
    while (is_refused(status)) {
        s->refused = fmax(s->refused, *x);
        if (from - *x <= NEAR_REFUSED) break;
        *x = from + (*x - from) / 2.0;
        status = excess(s, *x, out, answer);
    }
    return status;
}

/* low: too little noise, high: enough. */
typedef struct bracket {
    double low, high, f_low, f_high;
    double slope;     /* as it was seen last; 0: not yet */
    bool on_high;     /* the last one was enough */
    bb_answer answer; /* at high */
} bracket;

static bb_status widen(search *s, bracket *b) {
    bb_answer answer;
    double step = 0.5;
    bb_status status = excess(s, b->high, &b->f_high, &b->answer);
    for (; is_refused(status) && step < 16.0; step *= 2.0)
        status = excess(s, b->high += step, &b->f_high, &b->answer);
    b->low = b->high;
    b->f_low = b->f_high;
    step = 0.5;
    while (!status && b->f_high > 0.0 && b->high < 120.0) {
        b->low = b->high;
        b->f_low = b->f_high;
        do {
            b->high = b->low + step;
            status = excess(s, b->high, &b->f_high, &b->answer);
            step *= 2.0;
        } while (is_refused(status) && b->low + step < 120.0);
    }
    if (!status && b->f_high > 0.0)
        return bb_fail(BB_EBUDGET,
                       "no noise is enough for epsilon %g at delta %g: the events "
                       "without noise of their own cost more",
                       s->epsilon, s->delta);
    step = 0.5;
    while (!status && b->f_low <= 0.0 && b->low > s->least) {
        b->high = b->low;
        b->f_high = b->f_low;
        b->low = fmax(s->least, b->low - step);
        status = excess_near(s, b->high, &b->low, &b->f_low, &answer);
        step = 2.0 * (b->high - b->low);
        if (!status && b->f_low <= 0.0) b->answer = answer;
        if (is_refused(status)) { /* what is enough is known, and nothing below it */
            b->low = b->high;
            return BB_OK;
        }
    }
    if (!status && b->f_low <= 0.0) b->high = b->low;
    return status;
}

/* How steep log epsilon falls; narrow brackets show the bounds' own errors. */
static double slope_of(const bracket *b) {
    const double width = b->high - b->low, slope = (b->f_high - b->f_low) / width;
    return width > 1e-6 && isfinite(slope) ? slope : b->slope;
}

/* Points just above and just below the secant's root, by turns; every third time it is
 * bisection, if that hardly helped. The bracket always holds. */
static bb_status narrow(search *s, bracket *b) {
    bb_status status = BB_OK;
    double before = INFINITY;
    const double near = s->account->count > MANY ? 1e-6 : 1e-9;
    for (int k = 0;
         k < 100 && !status && b->high - b->low > 1e-10 && !(b->f_high > -near) &&
         b->high - s->refused > NEAR_REFUSED && may_go_on(s, 2 * PRICE_EFFORT);
         k++) {
        const double width = b->high - b->low;
        const double aside = fmax(4e-11, width * fmin(0.25, width / 4.0));
        const bool useful = k % 3 != 2 || width < 0.1 * before;
        double x = (b->low + b->high) / 2.0, f;
        bb_answer answer;
        b->slope = slope_of(b);
        if (k % 3 == 2) before = width;
        if (useful && isfinite(b->f_low) && isfinite(b->f_high)) {
            x = b->low + width * b->f_low / (b->f_low - b->f_high) +
                (b->on_high ? -aside : aside);
            x = fmin(b->high - 1e-12, fmax(b->low + 1e-12, x));
        }
        /* only from above: below what is refused nothing more is looked for */
        if (x <= s->refused) x = (s->refused + b->high) / 2.0;
        status = excess_near(s, b->high, &x, &f, &answer);
        if (is_refused(status)) return BB_OK; /* likewise */
        if (status) break;
        b->on_high = f <= 0.0;
        if (f > 0.0) {
            b->low = x;
            b->f_low = f;
        } else {
            b->high = x;
            b->f_high = f;
            b->answer = answer;
        }
    }
    return status;
}

/* Both bounds at a level; NAN where it is refused. */
static bb_status price(search *s, double log_factor, bb_answer *answer) {
    const bb_account enough = {s->account->adjacency, s->account->count, s->event};
    s->effort += PRICE_EFFORT;
    louder(s->account, exp(log_factor), s->event);
    const bb_status status =
        bb_account_epsilon(&enough, s->accountant, s->delta, answer);
    if (!is_refused(status)) return status;
    answer->upper = answer->lower = NAN;
    return BB_OK;
}

/* Upper bounds of the search are made with less work than there is. Where that is seen, or
 * the search ended at what was refused, less noise does: epsilon grows as was seen. */
#define SEEN 2e-4
enum { POLISHED_MOST = 6 };

static bb_status polish(search *s, bracket *b) {
    double slope = fmin(-1.0, slope_of(b)), bad = -INFINITY; /* too little noise */
    bb_answer here;
    bb_status status = price(s, b->high, &here);
    if (status) return status;
    b->answer.lower = here.lower;
    if (here.upper < s->epsilon * (1.0 - SEEN)) b->answer = here;
    for (int k = 0; k < POLISHED_MOST && !status && may_go_on(s, PRICE_EFFORT); k++) {
        const double gap = log(s->epsilon / b->answer.upper);
        if (gap <= SEEN) break;
        double next = fmax(s->least, b->high + 0.95 * gap / slope);
        if (next <= bad) next = (bad + b->high) / 2.0;
        status = price(s, next, &here);
        if (status || isnan(here.upper) || next == b->high) break;
        slope = fmin(-1.0, log(here.upper / b->answer.upper) / (next - b->high));
        if (here.upper <= s->epsilon) {
            b->answer = here;
            b->high = next;
        } else {
            bad = next;
        }
    }
    return status;
}

bb_status bb_account_noise(const bb_account *account, bb_accountant accountant,
                           double epsilon, double delta, double *factor,
                           bb_answer *answer) {
    search s = {account, accountant, epsilon, delta, -120.0, -INFINITY, 0, NULL};
    bracket b = {0};
    bb_status status = check_budget(epsilon, delta);
    for (size_t e = 0; e < account->count && !status; e++) {
        status = bb_event_check(&account->event[e]);
        if (status) return bb_fail_context(status, "event %zu", e + 1);
    }
    if (!status)
        status =
            bb_allocate(&s.event, account->count, sizeof *s.event, "the accountant");
    if (status) return status;
    /* a first guess: as if everything were Gaussian, but no round's mu above 4, where
     * answers take long */
    double size = 0.0, largest = 0.0, nearest = 0.0;
    for (size_t e = 0; e < account->count; e++) {
        const double mu = bb_event_mu(&account->event[e], account->adjacency);
        size += account->event[e].rounds * pow(account->event[e].rate * mu, 2.0);
        if (account->event[e].rate < 1.0) largest = fmax(largest, mu);
        nearest =
            fmax(nearest, fmax(account->event[e].absent, account->event[e].ratio));
    }
    if (nearest > 0.0) s.least = log(nearest * BB_NOISE_LEAST) + 1e-9;
    b.high =
        size > 0.0 && delta > 0.0 ? log(sqrt(size) / bb_gdp_mu(epsilon, delta)) : 0.0;
    if (largest > 0.0) b.high = fmax(b.high, log(largest / 4.0));
    b.high = fmax(b.high, s.least);
    status = widen(&s, &b);
    if (!status) status = narrow(&s, &b);
    if (!status) status = polish(&s, &b);
    free(s.event);
    if (status) return status;
    *factor = exp(b.high);
    *answer = b.answer;
    return BB_OK;
}

static bb_account repeated(const bb_account *account, double times, bb_event *event) {
    for (size_t e = 0; e < account->count; e++) {
        event[e] = account->event[e];
        event[e].rounds *= times;
    }
    return (bb_account){account->adjacency, account->count, event};
}

bb_status bb_account_rounds(const bb_account *account, bb_accountant accountant,
                            double epsilon, double delta, double most, double *n,
                            bb_answer *answer) {
    bb_event *event = NULL;
    bb_answer tried, found = {0.0, 0.0, accountant, NAN};
    double low = 0.0, high = 1.0;
    bb_status status = check_budget(epsilon, delta);
    if (!status && !(most >= 1.0))
        status = bb_fail(BB_EUSAGE, "the most rounds must be at least 1, got %g", most);
    if (!status)
        status = bb_allocate(&event, account->count, sizeof *event, "the accountant");
    while (!status) {
        high = fmin(high, most);
        const bb_account all = repeated(account, high, event);
        status = bb_account_upper(&all, accountant, delta, &tried);
        if (status || tried.upper > epsilon) break;
        low = high;
        if (low == most) break;
        high *= 2.0;
    }
    while (!status && high - low > 1.0 && low < most) {
        const double middle = floor((low + high) / 2.0);
        const bb_account all = repeated(account, middle, event);
        status = bb_account_upper(&all, accountant, delta, &tried);
        if (status) break;
        if (tried.upper <= epsilon)
            low = middle;
        else
            high = middle;
    }
    if (!status && low > 0.0) { /* and the lower bound */
        const bb_account all = repeated(account, low, event);
        status = bb_account_epsilon(&all, accountant, delta, &found);
    }
    free(event);
    if (status) return status;
    *n = low;
    *answer = found;
    return BB_OK;
}
