#include "privacy/accounting/pld_discrete.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

bb_status bb_discrete_pld_room(bb_discrete_pld *a) {
    bb_status status = bb_allocate(&a->ratio, BB_DISCRETE_PLD_MOST, sizeof *a->ratio,
                                   "the accountant");
    if (!status)
        status = bb_allocate(&a->mass, BB_DISCRETE_PLD_MOST, sizeof *a->mass,
                             "the accountant");
    return status;
}

void bb_discrete_pld_close(bb_discrete_pld *a) {
    free(a->ratio);
    free(a->mass);
    *a = (bb_discrete_pld){0};
}

double bb_discrete_pld_delta(const bb_discrete_pld *a, bb_bound bound, double epsilon) {
    if (epsilon > BB_DISCRETE_PLD_LARGEST) {
        if (bound == BB_BELOW) return 0.0;
        epsilon = BB_DISCRETE_PLD_LARGEST;
    }
    const double factor = exp(epsilon), sign = bound == BB_ABOVE ? 1.0 : -1.0;
    double sum = 0.0, mass = 0.0;
    for (size_t k = a->count; k-- > 0;) {
        const double gain = 1.0 - factor * a->ratio[k];
        if (gain <= 0.0) break;
        sum += a->mass[k] * gain;
        mass += a->mass[k];
    }
    const double wrong = a->error + 0x1p-52 * (double)a->count;
    return fmax(0.0, sum * (1.0 + sign * wrong) +
                         sign * mass * BB_DISCRETE_PLD_SLACK * (1.0 + epsilon));
}

double bb_discrete_pld_quantile(const bb_discrete_pld *a, double share) {
    double sum = 0.0;
    size_t k = 0;
    while (k + 1 < a->count && (sum += a->mass[k]) < share) k++;
    return a->count ? -log(fmax(a->ratio[k], 1e-300)) : 0.0;
}

/* -- cells -- */

bb_cells bb_cells_of(const bb_discrete_pld_plan *plan, double centre, double rounds) {
    const double others = plan->rounds / rounds, epsilon = plan->epsilon;
    return (bb_cells){.centre = centre,
                      .core = 0.5 * epsilon / sqrt(others),
                      .region = 2.0 * (epsilon + fabs(centre) * others) + plan->spread,
                      .fineness = plan->fineness,
                      .scale = epsilon,
                      .rise = fmax(plan->tilt, -log(plan->delta) / epsilon),
                      .most = 1.0 / plan->delta,
                      .least = pow(plan->fineness, 3.0) * epsilon * epsilon / others};
}

double bb_cells_width(const bb_cells *cells, double loss) {
    const double away = fabs(loss - cells->centre);
    if (away <= cells->region) return cells->fineness * fmax(cells->core, away);
    return cells->fineness * cells->region + 0.2 * (away - cells->region);
}

/* How much likelier a total above epsilon is with this loss: not above e^(rise loss),
 * whether the log of the profile is convex or concave, and 1 / delta. Where there is
 * enough loss, only cells as wide as the distance matter. */
double bb_cells_weight(const bb_cells *cells, double loss) {
    const double away = fabs(loss - cells->centre), near = cells->scale / away;
    const double up = fmax(0.0, loss - cells->centre);
    return fmin(exp(cells->rise * up), cells->most) * fmin(1.0, near * near);
}
