/* The law of the exact rounded Gaussian on many draws.
 *
 *   bench_noise_law [DRAWS [STD]]     1e9 and 94143178827.2 (1.37 * 2^36) grid steps
 *
 * Chi-square over 4096 cells of nearly equal probability, the means of x, x^2, x^3, x^4
 * and x^6, counts beyond 4, 5 and 6 standard deviations, and the sampler's tail by
 * itself from 5, 8 and 12 on (tests/privacy/noise_tail.h). Fresh randomness from the
 * operating system in every run, on two threads. Exit code 1 if any p-value is below
 * 1e-9. */
#include "privacy/noise_tail.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2, BATCH = 4096, REACH = 5, PER_UNIT = 1 << 14, CELLS = 4096 };
enum { BINS = 2 * REACH * PER_UNIT, MOMENTS = 5, TAILS = 3, TAIL_CELLS = 64 };

static const int power[MOMENTS] = {1, 2, 3, 4, 6};
static const double moment[MOMENTS] = {0, 1, 0, 3, 15};
static const double variance[MOMENTS] = {1, 2, 15, 96, 10170};
static const double tail_at[TAILS] = {4.0, 5.0, 6.0};
static const double tail_from[TAILS] = {5.0, 8.0, 12.0};

typedef struct worker {
    pthread_t thread;
    double std, draws, tail_draws;
    bool first;
    uint32_t bin[BINS];
    double sum[MOMENTS], beyond[TAILS], seconds;
    double tail[TAILS][TAIL_CELLS], tried[TAILS];
    int64_t value[BATCH];
    bb_random random;
} worker;

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double ceil_of(double deviations, double std) {
    return ceil(deviations * std);
}

/* Cut to 0 .. BINS-1; increasing in value. */
static size_t bin_of(double value, double per_step) {
    const double bin = floor(value * per_step) + BINS / 2;
    return bin < 0.0 ? 0 : bin >= BINS ? BINS - 1 : (size_t)bin;
}

/* -- drawing -- */

static void count(worker *w) {
    const double per_step = PER_UNIT / w->std;
    double sum[MOMENTS] = {0};
    for (size_t i = 0; i < BATCH; i++) {
        const double v = (double)w->value[i], x = v / w->std, xx = x * x;
        w->bin[bin_of(v, per_step)]++;
        sum[0] += x;
        sum[1] += xx;
        sum[2] += xx * x;
        sum[3] += xx * xx;
        sum[4] += xx * xx * xx;
        if (xx < 15.9) continue;
        for (size_t k = 0; k < TAILS; k++)
            w->beyond[k] += fabs(v) >= ceil_of(tail_at[k], w->std);
    }
    for (size_t k = 0; k < MOMENTS; k++) w->sum[k] += sum[k];
}

static void draw_tail(worker *w, size_t k) {
    const noise_tail tail = noise_tail_open(tail_from[k]);
    for (double kept = 0; kept < w->tail_draws; w->tried[k]++) {
        const int64_t v = noise_tail_draw(&tail, &w->random, 0x1p40);
        if (v == 0) continue;
        const double rank = noise_tail_rank(&tail, 0x1p40, v) * TAIL_CELLS;
        w->tail[k][rank < TAIL_CELLS ? (size_t)rank : TAIL_CELLS - 1]++;
        kept++;
    }
}

static void *work(void *argument) {
    worker *w = argument;
    const bool shows = w->first && isatty(STDERR_FILENO);
    if (bb_random_open_secure(&w->random)) exit(1);
    for (double done = 0; done < w->draws; done += BATCH) {
        memset(w->value, 0, sizeof w->value);
        const double start = now(CLOCK_THREAD_CPUTIME_ID);
        bb_noise_gaussian(&w->random, w->std, BATCH, w->value);
        w->seconds += now(CLOCK_THREAD_CPUTIME_ID) - start;
        count(w);
        if (shows && fmod(done, 4096.0 * BATCH) == 0.0)
            fprintf(stderr, "\r%3.0f %%", 100.0 * done / w->draws);
    }
    if (shows) fprintf(stderr, "\r     \r");
    for (size_t k = 0; k < TAILS; k++) draw_tail(w, k);
    bb_random_close(&w->random);
    return NULL;
}

/* -- p-values -- */

/* Two-sided. */
static double normal_p(double z) {
    return erfc(fabs(z) / M_SQRT2);
}

/* Two-sided, Wilson and Hilferty's approximation. */
static double chi_square_p(double chi_square, double freedom) {
    const double v = 2.0 / (9.0 * freedom);
    return normal_p((cbrt(chi_square / freedom) - (1.0 - v)) / sqrt(v));
}

/* Two-sided; terms from the count outward. */
static double poisson_p(double counted, double mean) {
    const double at = exp(counted * log(mean) - mean - lgamma(counted + 1.0));
    double up = 0.0, down = 0.0, term = at;
    for (double k = counted; k <= mean || term > 1e-17 * up; k++) {
        up += term;
        term *= mean / (k + 1.0);
    }
    term = at;
    for (double k = counted; k >= 0.0; k--) {
        down += term;
        term *= k / mean;
    }
    return fmin(1.0, 2.0 * fmin(up, down));
}

static double report(const char *name, double value, double truth, double p) {
    printf("%-34s %.9g (%.9g)  p = %.3g%s\n", name, value, truth, p,
           p < 1e-9 ? "  WRONG" : "");
    return p;
}

/* P(value < edge) for a rounded Gaussian; above 0, of the complement. */
static double side(double edge, double std) {
    return 0.5 * erfc(fabs((edge - 0.5) / std) / M_SQRT2);
}

static double between(double low, double high, double std) {
    if (low > 0.0) return side(low, std) - side(high, std);
    if (high <= 0.0) return side(high, std) - side(low, std);
    return 1.0 - side(low, std) - side(high, std);
}

/* The next integer that a double can hold, up (+1) or down (-1). */
static double next(double edge, double way) {
    const double beside = nextafter(edge, way * INFINITY), one = edge + way;
    return way * (one - beside) > 0.0 ? one : beside;
}

/* The least of those in bin b or beyond; only b = 1 .. BINS-1. */
static double edge_of(size_t b, double std) {
    const double per_step = PER_UNIT / std;
    double edge = ceil(((double)b - BINS / 2.0) / per_step);
    while (bin_of(edge, per_step) < b) edge = next(edge, 1.0);
    while (bin_of(next(edge, -1.0), per_step) >= b) edge = next(edge, -1.0);
    return edge;
}

/* -- the tests -- */

/* Bins are joined until they have a cell's probability. */
static double check_cells(const worker *w, double draws) {
    double chi_square = 0.0, low = -INFINITY, counted = 0.0, cells = 0.0;
    for (size_t b = 0; b < BINS; b++) {
        const bool last = b == BINS - 1;
        const double high = last ? INFINITY : edge_of(b + 1, w[0].std);
        const double p = between(low, high, w[0].std);
        for (size_t t = 0; t < THREADS; t++) counted += w[t].bin[b];
        if (!last && (p < 1.0 / CELLS || side(high, w[0].std) < 0.5 / CELLS)) continue;
        chi_square += (counted - draws * p) * (counted - draws * p) / (draws * p);
        cells++;
        low = high;
        counted = 0.0;
    }
    printf("%.0f cells\n", cells);
    return report("chi-square", chi_square, cells - 1.0,
                  chi_square_p(chi_square, cells - 1.0));
}

static double check_moments(const worker *w, double draws) {
    double least = 1.0;
    for (size_t k = 0; k < MOMENTS; k++) {
        double sum = 0.0;
        char name[64];
        for (size_t t = 0; t < THREADS; t++) sum += w[t].sum[k];
        const double z = (sum / draws - moment[k]) / sqrt(variance[k] / draws);
        snprintf(name, sizeof name, "mean of x^%d, z = %+.2f", power[k], z);
        least = fmin(least, report(name, sum / draws, moment[k], normal_p(z)));
    }
    return least;
}

static double check_counts(const worker *w, double draws) {
    double least = 1.0;
    for (size_t k = 0; k < TAILS; k++) {
        double counted = 0.0;
        char name[64];
        for (size_t t = 0; t < THREADS; t++) counted += w[t].beyond[k];
        const double mean = 2.0 * draws * side(ceil_of(tail_at[k], w[0].std), w[0].std);
        snprintf(name, sizeof name, "beyond %.0f", tail_at[k]);
        least = fmin(least, report(name, counted, mean, poisson_p(counted, mean)));
    }
    return least;
}

static double check_tail(const worker *w, size_t k) {
    const noise_tail tail = noise_tail_open(tail_from[k]);
    const double kept = THREADS * w[0].tail_draws, mean = kept / TAIL_CELLS;
    double tried = 0.0, chi_square = 0.0;
    char name[64];
    for (size_t t = 0; t < THREADS; t++) tried += w[t].tried[k];
    for (size_t c = 0; c < TAIL_CELLS; c++) {
        double counted = 0.0;
        for (size_t t = 0; t < THREADS; t++) counted += w[t].tail[k][c];
        chi_square += (counted - mean) * (counted - mean) / mean;
    }
    const double z =
        (kept / tried - tail.kept) / sqrt(tail.kept * (1.0 - tail.kept) / tried);
    snprintf(name, sizeof name, "tail from %.0f, kept of points", tail.from);
    const double p = report(name, kept / tried, tail.kept, normal_p(z));
    snprintf(name, sizeof name, "tail from %.0f, chi-square", tail.from);
    return fmin(p, report(name, chi_square, TAIL_CELLS - 1,
                          chi_square_p(chi_square, TAIL_CELLS - 1)));
}

int main(int count_of, char **argument) {
    const double asked = count_of > 1 ? strtod(argument[1], NULL) : 1e9;
    const double std = count_of > 2 ? strtod(argument[2], NULL) : 0x1.5eb851eb851ebp36;
    if (!(asked >= 1e6 && std >= BB_NOISE_LEAST_STD && std < BB_NOISE_MOST_STD)) {
        fprintf(stderr, "bench_noise_law [DRAWS >= 1e6 [2^20 <= STD < 2^54]]\n");
        return 2;
    }
    worker *w = calloc(THREADS, sizeof *w);
    if (!w) return 1;
    const double start = now(CLOCK_MONOTONIC);
    double seconds = 0.0, draws = 0.0, least = 1.0;
    for (size_t t = 0; t < THREADS; t++) {
        w[t].std = std;
        w[t].draws = ceil(asked / THREADS / BATCH) * BATCH;
        w[t].tail_draws = asked / 1000.0;
        w[t].first = t == 0;
        if (pthread_create(&w[t].thread, NULL, work, &w[t])) return 1;
    }
    for (size_t t = 0; t < THREADS; t++) {
        (void)pthread_join(w[t].thread, NULL);
        seconds += w[t].seconds;
        draws += w[t].draws;
    }
    printf("%.0f draws, std 2^%.2f: %.2f ns a sample on one core, %.1f s in all\n",
           draws, log2(std), 1e9 * seconds / draws, now(CLOCK_MONOTONIC) - start);
    printf("%-34s seen (expected)\n", "");
    least = fmin(least, check_cells(w, draws));
    least = fmin(least, check_moments(w, draws));
    least = fmin(least, check_counts(w, draws));
    for (size_t k = 0; k < TAILS; k++) least = fmin(least, check_tail(w, k));
    printf("least p = %.3g\n", least);
    free(w);
    return least < 1e-9;
}
