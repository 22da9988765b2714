/* Nanoseconds per sample of the exact rounded Gaussian, beside floating-point
 * Box-Muller from the same bits (which is not safe to publish) and the bits alone. */
#include "privacy/noise/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 1 << 16, REPEATS = 200 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void bits(bb_random *random, double std, int64_t *value) {
    (void)std;
    for (size_t i = 0; i < COUNT; i++) value[i] = (int64_t)bb_random_bits(random);
}

static void exact(bb_random *random, double std, int64_t *value) {
    for (size_t i = 0; i < COUNT; i++) value[i] = 0;
    bb_noise_gaussian(random, std, COUNT, value);
}

/* Nanoseconds of whole vectors of 10 or 1000 coordinates, for each coordinate. */
static void radial(bb_random *random, double scale, size_t n, int64_t *value) {
    for (size_t i = 0; i < COUNT; i++) value[i] = 0;
    for (size_t i = 0; i + n <= COUNT; i += n)
        bb_noise_radial(random, scale, n, value + i);
}

static void radial_10(bb_random *random, double scale, int64_t *value) {
    radial(random, scale, 10, value);
}

static void radial_1000(bb_random *random, double scale, int64_t *value) {
    radial(random, scale, 1000, value);
}

static void box_muller(bb_random *random, double std, int64_t *value) {
    for (size_t i = 0; i < COUNT; i += 2) {
        const double u = (double)((bb_random_bits(random) >> 11) + 1) * 0x1p-53;
        const double angle = 0x1p-52 * M_PI * (double)(bb_random_bits(random) >> 11);
        const double radius = std * sqrt(-2.0 * log(u));
        value[i] = llround(radius * cos(angle));
        value[i + 1] = llround(radius * sin(angle));
    }
}

static void measure(const char *name, double std,
                    void (*fill)(bb_random *, double, int64_t *)) {
    static bb_random random;
    static int64_t value[COUNT];
    int64_t all = 0;
    double best = INFINITY;
    if (bb_random_open_secure(&random)) exit(1);
    for (int k = 0; k < REPEATS; k++) {
        const double start = now();
        fill(&random, std, value);
        best = fmin(best, (now() - start) / COUNT);
        all ^= value[k];
    }
    printf("%-24s std 2^%-4.1f %7.2f ns/sample  (%llx)\n", name, log2(std), best,
           (unsigned long long)all & 15);
    bb_random_close(&random);
}

int main(void) {
    measure("64 bits", 1.0, bits);
    static const double std[] = {0x1.8p20, 0x1.8p24, 0x1.8p36,
                                 0x1.8p44, 0x1.8p50, 0x1.8p53};
    for (size_t k = 0; k < sizeof std / sizeof *std; k++)
        measure("rounded Gaussian", std[k], exact);
    measure("radial, 10 coordinates", 0x1p36, radial_10);
    measure("radial, 1000 coordinates", 0x1p36, radial_1000);
    measure("Box-Muller", 0x1.8p36, box_muller);
    return 0;
}
