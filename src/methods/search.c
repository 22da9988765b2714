#include "methods/search.h"

#include "linalg/linalg.h"

#include <math.h>

static void shrink(size_t d, double sd, double *g) {
    const double norm = bb_norm(d, g), square = norm * norm;
    const double excess = fmax(0.0, (double)d - 2.0) * sd * sd;
    double factor = square > excess ? 1.0 - excess / square : 0.0;
    if (factor * norm > 1.0) factor = 1.0 / norm;
    bb_scale(d, factor, g);
}

double bb_search_move(const bb_search *at, const bb_release *release, size_t d,
                      double tasks, double step, double momentum, double *work) {
    const double before = release->round - 1.0;
    const double kept = fmin(momentum, before / (before + 3.0));
    double *g = work;
    for (size_t k = 0; k < d; k++) g[k] = release->value[0][k] / tasks;
    bb_axpy(d, 1.0, g, at->sum);
    const double length = bb_norm(d, at->sum);
    shrink(d, release->noise[0] / tasks, g);
    for (size_t k = 0; k < d; k++) {
        at->velocity[k] = kept * at->velocity[k] + step * g[k];
        at->centre[k] += at->velocity[k];
    }
    return length * length;
}
