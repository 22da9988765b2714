/* The accountant: milliseconds of typical questions, and its answers at small delta.
 *
 *   bench_account
 *
 * Prints lines `time NAME MILLISECONDS EPSILON` (the median of 51 single answers) and
 * `value NAME DELTA LOWER UPPER TRUTH`, TRUTH nan where only the interval is known.
 * bench/account.sh puts a peer's beside them. */
#include "privacy/accounting/account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPETITIONS = 51 };

typedef struct row {
    const char *name;
    bb_adjacency adjacency;
    bb_accountant accountant;
    bb_sampling sampling;
    double rate, sigma, rounds; /* sigma: noise over the clip */
} row;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(bb_status status) {
    if (!status) return;
    fprintf(stderr, "bench_account: %s: %s\n", bb_status_text(status), bb_last_error());
    exit(1);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bb_event event_of(const row *r, double sigma, double rounds) {
    return bb_event_round(r->sampling, r->rate, 1.0 / sigma, 2.0 / sigma, rounds);
}

static double epsilon(const row *r) {
    const bb_event event = event_of(r, r->sigma, r->rounds);
    const bb_account account = {r->adjacency, 1, &event};
    bb_answer answer;
    must(bb_account_epsilon(&account, r->accountant, 1e-5, &answer));
    return answer.upper;
}

/* epsilon 2 at delta 1e-5: the noise. */
static double calibrate(const row *r) {
    const bb_event event = event_of(r, 1.0, r->rounds);
    const bb_account account = {r->adjacency, 1, &event};
    bb_answer answer;
    double factor;
    must(bb_account_noise(&account, r->accountant, 2.0, 1e-5, &factor, &answer));
    return factor;
}

static void measure(const row *r, double (*what)(const row *)) {
    double seconds[REPETITIONS], value = 0.0;
    for (int k = 0; k < REPETITIONS; k++) {
        const double start = now();
        value = what(r);
        seconds[k] = now() - start;
    }
    qsort(seconds, REPETITIONS, sizeof *seconds, compare);
    printf("time %s %.4f %.12g\n", r->name, 1e3 * seconds[REPETITIONS / 2], value);
}

/* As two events, so that no closed form is taken. */
static void values(const row *r) {
    static const double delta[] = {1e-5, 1e-9, 1e-12, 1e-20};
    const bb_event half = event_of(r, r->sigma, r->rounds / 2.0);
    const bb_event event[] = {half, half};
    const bb_account account = {r->adjacency, 2, event};
    for (size_t k = 0; k < sizeof delta / sizeof *delta; k++) {
        bb_answer answer;
        must(bb_account_epsilon(&account, r->accountant, delta[k], &answer));
        const double truth =
            r->rate < 1.0 ? NAN : bb_gdp_epsilon(sqrt(r->rounds) / r->sigma, delta[k]);
        printf("value %s %g %.12g %.12g %.12g\n", r->name, delta[k], answer.lower,
               answer.upper, truth);
    }
}

int main(void) {
    const bb_sampling poisson = BB_SAMPLING_POISSON, hidden = BB_SAMPLING_FIXED_HIDDEN;
    const bb_accountant pld = BB_ACCOUNTANT_PLD;
    const row timed[] = {
        {"typical", BB_ADD_REMOVE, pld, poisson, 0.01, 1.0, 1e3},
        {"long", BB_ADD_REMOVE, pld, poisson, 0.01, 5.0, 1e5},
        {"replace-one", BB_REPLACE_ONE, pld, poisson, 0.01, 1.0, 1e3},
        {"fixed-size", BB_REPLACE_ONE, pld, hidden, 0.01, 2.0, 1e3},
        {"renyi", BB_ADD_REMOVE, BB_ACCOUNTANT_RDP, poisson, 0.01, 1.0, 1e3}};
    const row valued[] = {{"gaussian", BB_ADD_REMOVE, pld, poisson, 1.0, 50.0, 1e3},
                          {"typical", BB_ADD_REMOVE, pld, poisson, 0.01, 1.0, 1e3},
                          {"long", BB_ADD_REMOVE, pld, poisson, 0.01, 5.0, 1e5},
                          {"many", BB_ADD_REMOVE, pld, poisson, 0.01, 1.0, 1e5},
                          {"rare", BB_ADD_REMOVE, pld, poisson, 1e-5, 1.0, 1e5}};
    for (size_t k = 0; k < sizeof timed / sizeof *timed; k++)
        measure(&timed[k], epsilon);
    measure(&(row){"calibration", BB_ADD_REMOVE, pld, poisson, 0.01, 1.0, 1e3},
            calibrate);
    for (size_t k = 0; k < sizeof valued / sizeof *valued; k++) values(&valued[k]);
    return 0;
}
