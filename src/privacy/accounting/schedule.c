#include "privacy/accounting/schedule.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

/* A round whose share of the budget is this much smaller than another's is a mistake,
 * and must not underflow to no budget at all. */
#define LEAST_WEIGHT 1e-30

/* log a_t up to a constant. */
typedef double (*log_weight)(double parameter, double t);

static double power(double a, double t) {
    return a * log(t);
}

static double geometric(double q, double t) {
    return -t * log(q);
}

/* The weights are monotone in t, so the largest is the first or the last. */
static bb_status fill(const char *text, log_weight law, double parameter, size_t rounds,
                      double *weight) {
    const double first = law(parameter, 1.0), last = law(parameter, (double)rounds);
    if (!(fabs(first - last) <= -log(LEAST_WEIGHT)))
        return bb_fail(
            BB_EUSAGE,
            "schedule %s over %zu rounds gives one round more than 1e30 times "
            "the weight of another",
            text, rounds);
    const double most = fmax(first, last);
    for (size_t t = 0; t < rounds; t++)
        weight[t] = exp(law(parameter, (double)(t + 1)) - most);
    return BB_OK;
}

bb_status bb_schedule(const char *text, size_t rounds, double *weight) {
    double parameter;
    if (rounds == 0) return bb_fail(BB_EUSAGE, "a schedule needs at least one round");
    if (strcmp(text, "uniform") == 0) return fill(text, power, 0.0, rounds, weight);
    if (strncmp(text, "power:", 6) == 0) {
        if (!bb_number_real(text + 6, &parameter))
            return bb_fail(BB_EUSAGE, "schedule power:A needs a number A, got \"%s\"",
                           text + 6);
        return fill(text, power, parameter, rounds, weight);
    }
    if (strncmp(text, "geometric:", 10) == 0) {
        if (!bb_number_real(text + 10, &parameter) || !(parameter > 0.0))
            return bb_fail(BB_EUSAGE,
                           "schedule geometric:Q needs a number Q > 0, got \"%s\"",
                           text + 10);
        return fill(text, geometric, parameter, rounds, weight);
    }
    return bb_fail(BB_EUSAGE,
                   "unknown schedule \"%s\": expected uniform, power:A (round t weighs "
                   "t^A) or geometric:Q (Q^-t, Q > 0)",
                   text);
}
