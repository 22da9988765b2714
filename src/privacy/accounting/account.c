#include "privacy/accounting/account.h"

#include "base/memory.h"
#include "privacy/accounting/pld.h"
#include "privacy/accounting/pld_plan.h"
#include "privacy/accounting/rdp.h"
#include "privacy/accounting/selections.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const char *bb_accountant_name(bb_accountant accountant) {
    static const char *const name[] = {"auto", "gdp", "pld", "rdp", "kov"};
    return name[accountant];
}

/* -- who can price what -- */

static bool is_gaussian(const bb_event *event) {
    return event->kind == BB_EVENT_ROUND && event->rate == 1.0;
}

static bool is_step(const bb_event *event) {
    return event->kind == BB_EVENT_STEP || event->kind == BB_EVENT_SELECTION;
}

static bool all_are(const bb_account *account, bool (*is)(const bb_event *)) {
    for (size_t e = 0; e < account->count; e++)
        if (!is(&account->event[e])) return false;
    return true;
}

static bb_status check(const bb_account *account, bb_accountant accountant) {
    for (size_t e = 0; e < account->count; e++) {
        const bb_status status = bb_event_check(&account->event[e]);
        if (status) return bb_fail_context(status, "event %zu", e + 1);
        if (account->event[e].kind == BB_EVENT_WISHART &&
            account->adjacency == BB_REPLACE_ONE && account->count > 1)
            return bb_fail(BB_EUSAGE,
                           "event %zu: Wishart noise under replace-one is priced by a "
                           "conversion of the whole, so with nothing beside it",
                           e + 1);
    }
    if (accountant == BB_ACCOUNTANT_GDP && !all_are(account, is_gaussian))
        return bb_fail(BB_EUSAGE,
                       "accountant gdp prices Gaussian rounds in which all tasks take "
                       "part, and nothing else: take pld");
    if (accountant == BB_ACCOUNTANT_KOV && !all_are(account, is_step))
        return bb_fail(
            BB_EUSAGE,
            "accountant kov prices (epsilon, delta) steps and selections, and "
            "nothing else: take pld");
    return BB_OK;
}

/* -- each accountant -- */

/* One question: epsilon at delta or delta at epsilon, the other one being NAN. */
typedef struct question {
    double epsilon, delta;
    bool upper_only;
} question;

static bool asks_epsilon(question q) {
    return isnan(q.epsilon);
}

/* Rounded up: mu of all rounds together. */
static double total_mu(const bb_account *account) {
    double squares = 0.0;
    for (size_t e = 0; e < account->count; e++) {
        const double mu = bb_event_mu(&account->event[e], account->adjacency);
        squares += account->event[e].rounds * mu * mu;
    }
    return sqrt(squares) * (1.0 + 0x1p-50 * (2.0 + (double)account->count));
}

static void ask_gdp(const bb_account *account, question q, bb_answer *answer) {
    const double mu = total_mu(account);
    *answer = (bb_answer){.accountant = BB_ACCOUNTANT_GDP, .order = NAN};
    answer->upper =
        asks_epsilon(q) ? bb_gdp_epsilon(mu, q.delta) : bb_gdp_delta(mu, q.epsilon);
    answer->lower = answer->upper * (1.0 - 1e-11);
}

static double rounds_of(const bb_account *account) {
    double total = 0.0;
    for (size_t e = 0; e < account->count; e++) total += account->event[e].rounds;
    return total;
}

/* The steps, one of each kind. */
typedef struct steps {
    size_t count;
    double *epsilon, *delta, *times;
} steps;

static bb_status steps_open(const bb_account *account, steps *out) {
    const size_t n = account->count;
    double *all = NULL;
    const bb_status status =
        bb_allocate(&all, 3 * n + 1, sizeof *all, "the accountant");
    if (status) return status;
    *out = (steps){n, all, all + n, all + 2 * n};
    for (size_t e = 0; e < n; e++) {
        out->epsilon[e] = account->event[e].epsilon;
        out->delta[e] = account->event[e].delta;
        out->times[e] = account->event[e].rounds;
    }
    return BB_OK;
}

static double kov_at(const steps *s, double total) {
    const double slack = bb_kov_slack_repeated(s->count, s->delta, s->times, total);
    return bb_kov_epsilon_repeated(s->count, s->epsilon, s->times, slack);
}

static bb_status ask_kov(const bb_account *account, question q, bb_answer *answer) {
    steps s;
    const bb_status status = steps_open(account, &s);
    if (status) return status;
    *answer = (bb_answer){.lower = NAN, .accountant = BB_ACCOUNTANT_KOV, .order = NAN};
    double low = 0.0, high = 1.0; /* of log10 delta / -300 */
    if (asks_epsilon(q)) {
        answer->upper = kov_at(&s, q.delta);
    } else if (kov_at(&s, 0.0) > q.epsilon) {
        for (int k = 0; k < 60; k++) {
            const double middle = (low + high) / 2.0;
            if (kov_at(&s, pow(10.0, -300.0 * middle)) <= q.epsilon)
                low = middle;
            else
                high = middle;
        }
        answer->upper = low > 0.0 ? pow(10.0, -300.0 * low) : 1.0;
    }
    free(s.epsilon);
    return BB_OK;
}

/* Poisson-sampled Gaussian rounds under add-remove have moments without quadrature
 * errors that add up (rdp.h). */
static bool has_moments(const bb_account *account) {
    for (size_t e = 0; e < account->count; e++) {
        const bb_event *event = &account->event[e];
        const bool poisson = event->kind == BB_EVENT_ROUND &&
                             event->sampling == BB_SAMPLING_POISSON &&
                             account->adjacency == BB_ADD_REMOVE;
        if (!is_gaussian(event) && !poisson) return false;
    }
    return account->count > 0;
}

static bb_status rdp_events(const bb_account *account, bb_rdp_event **out) {
    const bb_status status =
        bb_allocate(out, account->count, sizeof **out, "the accountant");
    for (size_t e = 0; e < account->count && !status; e++) {
        const bb_event *event = &account->event[e];
        const double mu = bb_event_mu(event, account->adjacency);
        (*out)[e] = (bb_rdp_event){BB_RDP_POISSON, event->rate, 1.0 / mu,
                                   mu > 0.0 ? event->rounds : 0.0};
    }
    return status;
}

static bb_status ask_rdp(const bb_account *account, question q, bb_answer *answer) {
    bb_rdp_event *events = NULL;
    double value = 0.0, order = NAN;
    bb_status status;
    if (has_moments(account) && account->count <= BB_PLD_PLAN_MOST) {
        status = rdp_events(account, &events);
        if (!status)
            value = asks_epsilon(q)
                        ? bb_rdp_epsilon(account->count, events, q.delta, &order)
                        : bb_rdp_delta(account->count, events, q.epsilon, &order);
        free(events);
    } else if (asks_epsilon(q)) {
        status = bb_pld_renyi_epsilon(account, q.delta, &value, &order);
    } else {
        status = bb_pld_renyi_delta(account, q.epsilon, &value, &order);
    }
    if (!status) *answer = (bb_answer){value, NAN, BB_ACCOUNTANT_RDP, order};
    return status;
}

static bb_status ask_pld(const bb_account *account, question q, bb_answer *answer) {
    const bool chosen = bb_selections_know(account);
    double upper, lower = NAN;
    bb_status status;
    if (chosen && asks_epsilon(q))
        status = bb_selections_epsilon(account->event, q.delta, &upper, &lower);
    else if (chosen)
        status = bb_selections_delta(account->event, q.epsilon, &upper, &lower);
    else if (asks_epsilon(q))
        status = bb_pld_epsilon(account, q.delta, &upper, q.upper_only ? NULL : &lower);
    else
        status = bb_pld_delta(account, q.epsilon, &upper, q.upper_only ? NULL : &lower);
    if (status) return status;
    if (lower == 0.0 && upper > 0.0) lower = NAN; /* it says nothing */
    *answer = (bb_answer){upper, lower, BB_ACCOUNTANT_PLD, NAN};
    return BB_OK;
}

/* Whether some mechanism has the pair of losses that is composed for the event. */
static bool is_attained(const bb_event *event, bb_adjacency adjacency, bool alone) {
    if (event->kind == BB_EVENT_SELECTION) return alone;
    if (event->kind != BB_EVENT_ROUND || event->rate == 1.0 || event->rate == 0.0)
        return true;
    /* contributions +C and -C; a hidden cohort's pair is of two tasks in one place */
    const bool opposite = event->replace >= 2.0 * event->absent * (1.0 - 0x1p-50);
    switch (event->sampling) {
    case BB_SAMPLING_FIXED_HIDDEN:
        return alone && !event->apart && (adjacency == BB_REPLACE_ONE || opposite);
    case BB_SAMPLING_POISSON:
        return adjacency == BB_ADD_REMOVE || opposite;
    default:
        return true;
    }
}

static bool all_attained(const bb_account *account) {
    const bool alone = rounds_of(account) == 1.0 || bb_selections_know(account);
    for (size_t e = 0; e < account->count; e++)
        if (account->event[e].rounds > 0.0 &&
            !is_attained(&account->event[e], account->adjacency, alone))
            return false;
    return true;
}

typedef bb_status (*asking)(const bb_account *, question, bb_answer *);

/* Under replace-one a sampled round is priced by the pair +-C, at which a replaced task
 * moves the sum by 2 C; if its forms allow less (`replace` < 2 `absent`), not to sample
 * may be cheaper. Both are valid; there is no lower bound, and less work for the second. */
static bb_status ask_both(const bb_account *account, question q, asking ask,
                          bb_answer *answer) {
    bb_event *plain = NULL;
    bool differs = false;
    bb_answer other = {0};
    bb_status status = ask(account, q, answer);
    if (status || account->adjacency != BB_REPLACE_ONE) return status;
    status = bb_allocate(&plain, account->count, sizeof *plain, "the accountant");
    for (size_t e = 0; e < account->count && !status; e++) {
        plain[e] = account->event[e];
        if (plain[e].kind != BB_EVENT_ROUND || plain[e].rate == 1.0 ||
            plain[e].sampling != BB_SAMPLING_POISSON ||
            plain[e].replace >= 1.99 * plain[e].absent)
            continue;
        plain[e].sampling = BB_SAMPLING_ALL;
        plain[e].rate = 1.0;
        differs = true;
    }
    const bb_account unsampled = {account->adjacency, account->count, plain};
    const question rough = {q.epsilon, q.delta, true};
    if (!status && differs) {
        status = ask(&unsampled, rough, &other);
        if (!status && other.upper < answer->upper) {
            answer->upper = other.upper;
            answer->order = other.order;
        }
        /* too much work: the first answer holds */
        if (status == BB_EUSAGE || status == BB_ENUMERIC) status = BB_OK;
    }
    free(plain);
    return status;
}

static bb_status ask_one(const bb_account *account, bb_accountant accountant,
                         question q, bb_answer *answer);

/* (epsilon, delta) under add-remove is (2 epsilon, (1 + e^epsilon) delta) under
 * replace-one: the least such for one Wishart event. */
static bb_status convert(const bb_account *account, bb_accountant accountant,
                         question q, bb_answer *answer) {
    const bb_account half = {BB_ADD_REMOVE, account->count, account->event};
    if (!asks_epsilon(q)) {
        const question at = {q.epsilon / 2.0, NAN, false};
        const bb_status status = ask_one(&half, accountant, at, answer);
        if (status) return status;
        answer->upper = fmin(1.0, (1.0 + exp(q.epsilon / 2.0)) * answer->upper);
        answer->lower = NAN;
        return BB_OK;
    }
    /* epsilon = 2 x with (1 + e^x) delta(x) <= delta: from below by what delta / (1 +
     * e^x) costs, until that is not more than x */
    double x = 0.0;
    for (int k = 0; k < 100; k++) {
        const question at = {NAN, q.delta / (1.0 + exp(x)), true};
        bb_status status = BB_OK;
        if (at.delta > 0.0)
            status = ask_one(&half, accountant, at, answer);
        else
            answer->upper = INFINITY;
        if (status) return status;
        if (answer->upper <= x || isinf(answer->upper)) break;
        x = answer->upper * (1.0 + 1e-6);
    }
    answer->upper = isinf(answer->upper) ? INFINITY : 2.0 * x;
    answer->lower = NAN;
    return BB_OK;
}

static bb_status ask_auto(const bb_account *account, question q, bb_answer *answer) {
    bb_answer other;
    if (all_are(account, is_gaussian)) {
        ask_gdp(account, q, answer);
        return BB_OK;
    }
    bb_status status = ask_both(account, q, ask_pld, answer);
    /* losses that only their Renyi moments can be had of */
    if (status == BB_ENUMERIC && has_moments(account))
        status = ask_rdp(account, q, answer);
    if (status || !all_are(account, is_step)) return status;
    status = ask_kov(account, q, &other);
    if (!status && other.upper < answer->upper) {
        other.lower = answer->lower;
        *answer = other;
    }
    return status;
}

static bb_status ask_one(const bb_account *account, bb_accountant accountant,
                         question q, bb_answer *answer) {
    if (account->adjacency == BB_REPLACE_ONE && account->count == 1 &&
        account->event[0].kind == BB_EVENT_WISHART)
        return convert(account, accountant, q, answer);
    switch (accountant) {
    case BB_ACCOUNTANT_AUTO:
        return ask_auto(account, q, answer);
    case BB_ACCOUNTANT_GDP:
        ask_gdp(account, q, answer);
        return BB_OK;
    case BB_ACCOUNTANT_PLD:
        return ask_both(account, q, ask_pld, answer);
    case BB_ACCOUNTANT_RDP:
        return ask_both(account, q, ask_rdp, answer);
    default:
        return ask_kov(account, q, answer);
    }
}

/* -- the questions -- */

/* At delta = 0 only sums of pure steps are valid. */
static bb_status pure_epsilon(const bb_account *account, bb_answer *answer) {
    double sum = 0.0;
    for (size_t e = 0; e < account->count; e++) {
        const bb_event *event = &account->event[e];
        if (event->rounds == 0.0) continue;
        sum += !is_step(event) || event->delta > 0.0 ? INFINITY
                                                     : event->rounds * event->epsilon;
    }
    *answer = (bb_answer){sum * (1.0 + 0x1p-48), NAN, BB_ACCOUNTANT_KOV, NAN};
    return BB_OK;
}

static bb_status epsilon_at(const bb_account *account, bb_accountant accountant,
                            double delta, bool upper_only, bb_answer *answer) {
    bb_status status = check(account, accountant);
    bb_answer found;
    if (status) return status;
    if (!(delta >= 0.0 && delta < 1.0))
        return bb_fail(BB_EUSAGE, "delta must be in [0, 1), got %g", delta);
    if (delta == 0.0)
        status = pure_epsilon(account, &found);
    else
        status =
            ask_one(account, accountant, (question){NAN, delta, upper_only}, &found);
    if (!status && !all_attained(account)) found.lower = NAN;
    if (!status) *answer = found;
    return status;
}

bb_status bb_account_epsilon(const bb_account *account, bb_accountant accountant,
                             double delta, bb_answer *answer) {
    return epsilon_at(account, accountant, delta, false, answer);
}

bb_status bb_account_upper(const bb_account *account, bb_accountant accountant,
                           double delta, bb_answer *answer) {
    const bb_status status = epsilon_at(account, accountant, delta, true, answer);
    if (!status) answer->lower = NAN;
    return status;
}

/* Below that a double is no exact bound, and no delta is 0 where epsilon is not pure. */
#define DELTA_LEAST 1e-300

static bb_status settle_small(const bb_account *account, double epsilon,
                              bb_answer *answer) {
    bb_answer pure;
    const bb_status status = pure_epsilon(account, &pure);
    if (status || pure.upper <= epsilon || answer->upper >= DELTA_LEAST) return status;
    answer->upper = fmax(answer->upper, DBL_MIN);
    answer->lower = NAN;
    return BB_OK;
}

bb_status bb_account_delta(const bb_account *account, bb_accountant accountant,
                           double epsilon, bb_answer *answer) {
    bb_status status = check(account, accountant);
    bb_answer found;
    if (status) return status;
    if (!(epsilon >= 0.0 && isfinite(epsilon)))
        return bb_fail(BB_EUSAGE, "epsilon must be finite and not negative, got %g",
                       epsilon);
    status = ask_one(account, accountant, (question){epsilon, NAN, false}, &found);
    if (!status) status = settle_small(account, epsilon, &found);
    if (!status && !all_attained(account)) found.lower = NAN;
    if (!status) *answer = found;
    return status;
}

/* -- adaptive -- */

static bb_status rdp_at(const bb_account *account, double order, double delta,
                        double *epsilon) {
    bb_rdp_event *events = NULL;
    if (!has_moments(account)) return bb_pld_renyi_at(account, order, delta, epsilon);
    const bb_status status = rdp_events(account, &events);
    if (!status)
        *epsilon = bb_rdp_to_epsilon(bb_rdp_compose(account->count, events, order),
                                     order, delta);
    free(events);
    return status;
}

bb_status bb_account_adaptive(const bb_account *account, bb_accountant accountant,
                              double order, double delta, bb_answer *answer) {
    if (accountant == BB_ACCOUNTANT_PLD || accountant == BB_ACCOUNTANT_KOV)
        return bb_fail(
            BB_EUSAGE,
            "accountant %s needs all rounds fixed beforehand: what is left of "
            "its budget after outputs were seen is not a valid budget; take "
            "gdp or rdp",
            bb_accountant_name(accountant));
    bb_status status = check(account, accountant);
    if (status) return status;
    if (!(delta > 0.0 && delta < 1.0))
        return bb_fail(BB_EUSAGE, "delta must be in (0, 1), got %g", delta);
    if (accountant == BB_ACCOUNTANT_GDP ||
        (accountant == BB_ACCOUNTANT_AUTO && all_are(account, is_gaussian))) {
        ask_gdp(account, (question){NAN, delta, false}, answer);
        return BB_OK;
    }
    if (!(order > 1.0 && isfinite(order)))
        return bb_fail(BB_EUSAGE,
                       "adaptive rounds are added up at one Renyi order, fixed "
                       "beforehand: it must be above 1, got %g",
                       order);
    bb_answer found = {0.0, NAN, BB_ACCOUNTANT_RDP, order};
    status = rdp_at(account, order, delta, &found.upper);
    if (!status) *answer = found;
    return status;
}
