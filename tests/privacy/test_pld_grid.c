/* Many different rounds that hardly ever matter, against a grid of losses: other code,
 * another method (an FFT of the whole distribution), the same truth. */
#include "privacy/accounting/account.h"
#include "rounds.h"
#include "test.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#define REACH 26.0 /* losses from -1 to that; what is above is infinite */

/* a <- sum_k a_k e^(-+ 2 pi i j k / n), n a power of 2. */
static void transform(double complex *a, size_t n, double sign) {
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n / 2;
        for (; j & bit; bit /= 2) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        const double complex swap = a[i];
        a[i] = a[j];
        a[j] = swap;
    }
    for (size_t half = 1; half < n; half *= 2) {
        const double complex turn = cexp(sign * I * acos(-1.0) / (double)half);
        for (size_t from = 0; from < n; from += 2 * half) {
            double complex w = 1.0;
            for (size_t k = from; k < from + half; k++) {
                const double complex high = a[k + half] * w;
                a[k + half] = a[k] - high;
                a[k] += high;
                w *= turn;
            }
        }
    }
}

static double below(double x) {
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* P and Q of a round's observations below t, P the mixture. */
static double p_below(double q, double mu, double t) {
    return (1.0 - q) * below(t) + q * below(t - mu);
}

/* The observation of that loss. */
static double place(double q, double mu, double loss) {
    if (loss <= log1p(-q)) return -INFINITY;
    return log1p(expm1(loss) / q) / mu + mu / 2.0;
}

/* One round on a grid of n losses j h, from -n_low h on (cyclic): each cell's masses of P
 * and Q to its ends. Returns the mass beyond. */
static double lay(double complex *a, size_t n, double h, double q, double mu) {
    const size_t low = (size_t)ceil(1.0 / h);
    double before = -INFINITY;
    for (size_t j = 0; j < n; j++) a[j] = 0.0;
    for (size_t j = 0; j + 1 < n; j++) {
        const double from = ((double)j - (double)low) * h, to = from + h;
        const double next = place(q, mu, to);
        /* of tails, for the difference */
        const double p = before > 0.0 ? (1.0 - q) * (below(-before) - below(-next)) +
                                            q * (below(mu - before) - below(mu - next))
                                      : p_below(q, mu, next) - p_below(q, mu, before);
        const double other =
            before > 0.0 ? below(-before) - below(-next) : below(next) - below(before);
        /* p = x + y, other = x e^-from + y e^-to */
        const double y =
            fmin(p, fmax(0.0, (p * exp(-from) - other) / (exp(-from) - exp(-to))));
        a[(j + n - low) % n] += p - y;
        a[(j + 1 + n - low) % n] += y;
        before = next;
    }
    return (1.0 - q) * below(-before) + q * below(mu - before);
}

/* epsilon at delta of all rounds, by n losses: from above, by an error of h^2 or h. */
static double grid_epsilon(const bb_event *event, size_t count, size_t n,
                           double delta) {
    const double h = (REACH + 1.0) / (double)n;
    const size_t low = (size_t)ceil(1.0 / h);
    double complex *all = test_malloc(n * sizeof *all),
                   *one = test_malloc(n * sizeof *one);
    double infinite = 0.0, mass = 0.0, ratio = 0.0;
    for (size_t j = 0; j < n; j++) all[j] = 1.0;
    for (size_t t = 0; t < count; t++) {
        infinite += lay(one, n, h, event[t].rate, event[t].absent);
        transform(one, n, -1.0);
        for (size_t j = 0; j < n; j++) all[j] *= one[j];
    }
    transform(all, n, 1.0);
    size_t j = n - low;
    double epsilon = 0.0;
    for (mass = infinite; j-- > 0;) {
        /* delta(x) = mass - e^x ratio for x in [j h, (j + 1) h] */
        if (mass - exp((double)j * h) * ratio > delta) {
            epsilon = log((mass - delta) / ratio);
            break;
        }
        const double p = creal(all[j]) / (double)n;
        mass += p;
        ratio += p * exp(-(double)j * h);
    }
    test_free(all);
    test_free(one);
    return epsilon;
}

static void rare(void **state) {
    (void)state;
    static const struct {
        double q, top, power;
    } plan[] = {{1e-4, 2.0, 1.0}, {1e-3, 2.0, 0.3}};
    enum { ROUNDS = 560 };
    for (size_t k = 0; k < sizeof plan / sizeof *plan; k++) {
        bb_event *event = power_rounds(ROUNDS, BB_SAMPLING_POISSON, plan[k].q,
                                       plan[k].top, plan[k].power);
        const double coarse = grid_epsilon(event, ROUNDS, 1 << 13, 1e-6),
                     fine = grid_epsilon(event, ROUNDS, 1 << 14, 1e-6);
        bb_answer answer;
        assert_true(coarse >= fine * (1.0 - 1e-9));
        assert_relative(coarse, fine, 2e-3);
        epsilon_of(BB_ADD_REMOVE, ROUNDS, event, &answer);
        assert_true(answer.lower <= fine);
        assert_true(answer.upper >= fine - 2.0 * (coarse - fine));
        assert_true(answer.upper - answer.lower <= 1e-3 * answer.upper);
        test_free(event);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
