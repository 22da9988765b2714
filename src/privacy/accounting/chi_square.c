#include "privacy/accounting/chi_square.h"

#include <math.h>

void bb_chi_square(double freedom, double x, double *below, double *above) {
    const double a = freedom / 2.0, half = x / 2.0;
    *below = 0.0;
    *above = 1.0;
    if (half <= 0.0) return;
    if (isinf(half)) {
        *below = 1.0;
        *above = 0.0;
        return;
    }
    const double scale = exp(a * log(half) - half - lgamma(a));
    if (half < a + 1.0) {
        double term = 1.0 / a, sum = term;
        for (double n = 1.0; n < 1e6 && term > sum * 1e-17; n += 1.0)
            sum += term *= half / (a + n);
        *below = fmin(1.0, sum * scale);
        *above = 1.0 - *below;
        return;
    }
    double b = half + 1.0 - a, c = 1e300, d = 1.0 / b, value = d;
    for (double n = 1.0; n < 1e6; n += 1.0) {
        const double factor = -n * (n - a);
        b += 2.0;
        d = 1.0 / (factor * d + b);
        c = b + factor / c;
        value *= c * d;
        if (fabs(c * d - 1.0) < 1e-16) break;
    }
    *above = fmin(1.0, value * scale);
    *below = 1.0 - *above;
}

double bb_chi_square_quantile(double freedom, double above) {
    double low = 0.0, high = freedom + 1.0, below, tail;
    for (bb_chi_square(freedom, high, &below, &tail); tail > above;
         bb_chi_square(freedom, high, &below, &tail))
        high *= 2.0;
    for (int k = 0; k < 100 && high - low > 1e-15 * high; k++) {
        const double x = (low + high) / 2.0;
        bb_chi_square(freedom, x, &below, &tail);
        if (tail > above)
            low = x;
        else
            high = x;
    }
    return high;
}
