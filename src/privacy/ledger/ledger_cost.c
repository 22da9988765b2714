/* What a plan costs in the currency of kinds gdp and rdp, and how much they hold. */
#include "privacy/ledger/amount.h"
#include "privacy/ledger/ledger_file.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Every double from here on is a whole number of units of an amount. */
#define LEAST_LIMIT 0x1p-47
/* More than the rounding errors of a cost, and of a round's shares at the door. */
#define MARGIN 0x1p-48

double bb_ledger_rdp_of_pure(double epsilon, double order) {
    const double b = order - 1.0;
    double log_moment; /* log cosh((a - 1/2) epsilon) - log cosh(epsilon / 2) */
    if (epsilon == 0.0) return 0.0;
    if (order * epsilon < 600.0)
        log_moment = log1p(2.0 * sinh(order * epsilon / 2.0) * sinh(b * epsilon / 2.0) /
                           cosh(epsilon / 2.0));
    else
        log_moment =
            b * epsilon + log1p(exp(-(order + b) * epsilon)) - log1p(exp(-epsilon));
    return fmin(epsilon, log_moment / b * (1.0 + MARGIN) + DBL_MIN);
}

double bb_ledger_order(double epsilon, double delta) {
    double best = 2.0, most = 0.0;
    for (int k = -6; k <= 12; k++)
        for (int n = 10; n < 100; n++) {
            const double scale = pow(10.0, abs(k));
            const double order = k < 0 ? (scale + n) / scale : 1.0 + n * scale;
            double limit;
            if (bb_rdp_limit(&limit, epsilon, delta, order)) continue;
            if (!(limit / order > most)) continue;
            most = limit / order;
            best = order;
        }
    return best;
}

bb_status bb_ledger_limit(const bb_ledger_terms *terms, double *limit) {
    double most = 0.0;
    if (!(terms->delta > 0.0))
        return bb_fail(BB_EUSAGE, "a ledger of kind %s needs a budget delta above 0",
                       bb_ledger_kind_name(terms->kind));
    if (terms->kind == BB_LEDGER_GDP) {
        const double mu = bb_gdp_mu(terms->epsilon, terms->delta);
        most = mu * mu * (1.0 - 0x1p-52);
    } else {
        const bb_status status =
            bb_rdp_limit(&most, terms->epsilon, terms->delta, terms->order);
        if (status) return status;
    }
    if (!(most >= LEAST_LIMIT && most < BB_LEDGER_MOST_COST))
        return bb_fail(BB_EUSAGE,
                       "the budget (%g, %g) is %g in a ledger of kind %s: expected at "
                       "least %.2g",
                       terms->epsilon, terms->delta, most,
                       bb_ledger_kind_name(terms->kind), LEAST_LIMIT);
    *limit = most;
    return BB_OK;
}

double bb_ledger_epsilon(const bb_ledger_terms *terms, double total) {
    if (terms->kind == BB_LEDGER_RDP)
        return bb_rdp_to_epsilon(total, terms->order, terms->delta);
    return bb_gdp_epsilon(sqrt(total) * (1.0 + 0x1p-52), terms->delta);
}

/* ---- a charge ---- */

static bb_status no_price(const bb_ledger *ledger, const char *what) {
    return bb_fail(BB_EUSAGE,
                   "ledger %s has no price for %s: its kind is %s, its adjacency %s",
                   ledger->path, what, bb_ledger_kind_name(ledger->terms.kind),
                   bb_adjacency_name(ledger->terms.adjacency));
}

static bb_status check_round(const bb_ledger *ledger, double mu, double pure) {
    if (!(mu >= 0.0 && isfinite(mu) && pure >= 0.0 && isfinite(pure)))
        return bb_fail(BB_EUSAGE,
                       "cannot reserve a round with mu = %g and pure epsilon = %g", mu,
                       pure);
    if (pure > 0.0 && ledger->terms.kind == BB_LEDGER_GDP)
        return no_price(ledger, "private selections and radial noise");
    return BB_OK;
}

static void add(bb_u128 *sum, double cost) {
    if (cost > 0.0) cost = cost * (1.0 + MARGIN) + DBL_MIN;
    *sum = bb_amount_add(
        *sum, bb_amount(fmin(cost, BB_LEDGER_MOST_COST), BB_AMOUNT_COST_BITS));
}

static bb_status add_round(const bb_ledger *ledger, double mu, double pure,
                           bb_u128 *sum) {
    const double order = ledger->terms.order;
    const bb_status status = check_round(ledger, mu, pure);
    if (status) return status;
    /* a square that underflows is not nothing */
    if (mu > 0.0) add(sum, DBL_MIN);
    if (ledger->terms.kind == BB_LEDGER_GDP) {
        add(sum, mu * mu);
    } else {
        add(sum, bb_rdp_gaussian(mu, order));
        add(sum, bb_ledger_rdp_of_pure(pure, order));
    }
    return BB_OK;
}

bb_status bb_ledger_cost(const bb_ledger *ledger, const bb_ledger_charge *charge,
                         double *cost) {
    bb_u128 sum = 0;
    bb_status status = BB_OK;
    for (size_t t = 0; t < charge->rounds && !status; t++)
        status = add_round(ledger, charge->mu ? charge->mu[t] : 0.0,
                           charge->pure ? charge->pure[t] : 0.0, &sum);
    if (status) return status;
    if (sum == 0)
        return bb_fail(BB_EUSAGE, "cannot reserve a plan without any release");
    *cost = fmin(bb_amount_real(sum, BB_AMOUNT_COST_BITS), BB_LEDGER_MOST_COST);
    return BB_OK;
}
