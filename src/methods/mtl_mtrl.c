/* mtl-mtrl - task relationships: models that vary together, as a covariance of tasks
 * says that is learnt with them (Zhang, Yeung 2010).
 *
 *   min over W, b, Omega   sum_i L_i + ridge/2 ||W||^2 + lambda/2 tr(W Omega^-1 W')
 *   Omega p.s.d., tr(Omega) = 1
 *
 * For given W the best Omega is (W'W)^(1/2) / tr((W'W)^(1/2)) and leaves
 * lambda/2 ||W||_*^2, so this is the problem of mtl.h with the penalty
 *   P(W) = ridge/2 ||W||^2 + lambda/2 ||W||_*^2,
 * a function of the singular values, like the trace norm. docs/methods/mtl-mtrl.md */
#include "methods/mtl.h"
#include "methods/registry.h"

#include <math.h>

static const bb_option table[] = {
    BB_MTL_ROWS("penalty lambda/2 tr(W Omega^-1 W'), Omega learnt"),
    {.name = "ridge",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(bb_mtl_options, ridge),
     .fallback = "0",
     .least = 0.0,
     .most = 1e12,
     .argument = "RIDGE",
     .help = "weight of an own penalty RIDGE/2 ||w||^2 of every task"},
};

/* With k values above t, t = lambda (their sum) / (a + lambda k). */
double bb_mtrl_level(size_t count, const double *ascending, double a, double lambda) {
    double sum = 0.0, level = 0.0;
    for (size_t k = 1; k <= count; k++) {
        const double size = ascending[count - k];
        if (!(size >= level)) break;
        sum += size;
        level = lambda * sum / (a + lambda * (double)k);
    }
    return level;
}

/* P*(G) = min over t of sum max(0, g_k - t)^2 / (2 ridge) + t^2 / (2 lambda): the
 * conjugate of a sum is the least sum of conjugates. */
double bb_mtrl_conjugate(size_t count, const double *ascending, double ridge,
                         double lambda) {
    const double t = bb_mtrl_level(count, ascending, ridge, lambda);
    double above = 0.0;
    for (size_t k = 0; k < count && ridge > 0.0; k++)
        above += pow(fmax(0.0, ascending[k] - t), 2.0);
    return t * t / (2.0 * lambda) + (ridge > 0.0 ? above / (2.0 * ridge) : 0.0);
}

const bb_method bb_method_mtl_mtrl = {
    .name = "mtl-mtrl",
    .summary = "non-private: models and the covariance of tasks, to a certified "
               "optimum (Zhang, Yeung 2010)",
    .variant = BB_MTL_MTRL,
    .options = {table, sizeof table / sizeof *table},
    BB_MTL_METHOD,
};
