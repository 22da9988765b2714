#include "linalg/prox.h"

#include <math.h>

double bb_soft(double value, double theta) {
    if (value > theta) return value - theta;
    if (value < -theta) return value + theta;
    return isnan(value) ? value : 0;
}

void bb_prox_l1(size_t n, double *w, double theta) {
    for (size_t k = 0; k < n; k++) w[k] = bb_soft(w[k], theta);
}
