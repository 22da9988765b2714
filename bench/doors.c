/* What two doors cost beside one, of a sum of a million numbers:
 *
 *   silo     draws a seed, seals it, and makes its sums a share: milliseconds in all
 *   helper   opens the seed, and adds the share's stream: nanoseconds a number and silo
 *   leader   adds a silo's share to the others': the same
 *   noise    of one door, once a round: nanoseconds a number
 *
 *   bench_doors [numbers]
 *
 * One thread, by the processor's time: medians, the least and the most of 41. */
#include "base/seal.h"
#include "core/share.h"
#include "privacy/noise/noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPEATS = 41 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void say(const char *what, double *time, double each, const char *unit) {
    qsort(time, REPEATS, sizeof *time, ascending);
    printf("%-8s %8.3f %s (%.3f to %.3f)\n", what, time[REPEATS / 2] / each, unit,
           time[0] / each, time[REPEATS - 1] / each);
}

static void must(bb_status status) {
    if (!status) return;
    fprintf(stderr, "bench_doors: %s: %s\n", bb_status_text(status), bb_last_error());
    exit(1);
}

int main(int argc, char **argv) {
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    const bb_ask ask = {1, {1, {{"update", BB_FORM_VECTOR, n, 1.0, 1.0}}}, {32}};
    const bb_frame frame = {.round = 1, .attempt = 1, .silo = 1};
    double silo[REPEATS], helper[REPEATS], leader[REPEATS], noise[REPEATS];
    uint8_t key[BB_SEAL_KEY], reader[BB_SEAL_KEY], context[BB_HASH_BYTES];
    uint8_t seed[BB_SEAL_SECRET], sealed[BB_SEAL_BYTES], opened[BB_SEAL_SECRET];
    bb_random random;
    int64_t *sum = calloc(n, sizeof *sum), *total = calloc(n, sizeof *total);
    if (!sum || !total) return 1;
    must(bb_seal_new(key, reader));
    must(bb_random_open_secure(&random));
    for (size_t k = 0; k < REPEATS; k++) {
        const double at_silo = now();
        must(bb_random_secret(seed, sizeof seed));
        must(bb_share_context(&frame, &ask, context));
        must(bb_seal(reader, context, seed, sealed));
        must(bb_share_mask(seed, context, &ask.layout, 1, 0, NULL, true, sum));
        const double at_helper = now();
        must(bb_share_context(&frame, &ask, context));
        must(bb_seal_open(key, context, sealed, opened));
        must(bb_share_mask(opened, context, &ask.layout, 1, 0, NULL, false, total));
        const double at_leader = now();
        for (size_t j = 0; j < n; j++)
            total[j] = (int64_t)((uint64_t)total[j] + (uint64_t)sum[j]);
        const double at_noise = now();
        bb_noise_gaussian(&random, 0x1p33, n, sum);
        const double end = now();
        must(bb_random_check(&random));
        silo[k] = at_helper - at_silo;
        helper[k] = at_leader - at_helper;
        leader[k] = at_noise - at_leader;
        noise[k] = end - at_noise;
    }
    printf("%zu numbers, one thread\n", n);
    say("silo", silo, 1e6, "ms");
    say("helper", helper, (double)n, "ns a number and silo");
    say("leader", leader, (double)n, "ns a number and silo");
    say("noise", noise, (double)n, "ns a number and round");
    bb_random_close(&random);
    free(sum);
    free(total);
    return 0;
}
